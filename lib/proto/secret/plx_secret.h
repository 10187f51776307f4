/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that a peer must not be able to guess: memory keys, queue pair numbers, first PSNs,
 * ids of connections and of messages, and what determines the slot of a peer's address in a table.
 * It generates no random bits: one secret of 128 bits comes from the system when an adapter is
 * created. Each purpose has its own key derived from it, so that values of one purpose reveal
 * nothing about those of another. It never stores the 128-bit secret.
 * Start with plx_secret_for(); docs/decisions/0024-secrets.md has the reasons.
 *
 * struct plx_prng of plx_base.h is for tests and injected faults: it is linear, and a few hundred
 * of its values reveal all others.
 */
#ifndef PLX_SECRET_H
#define PLX_SECRET_H

#include "plx_base.h"

/* ---- secrets and their purposes ---- */

/** 128 bits known only to this process. Tests and the simulator derive them from their seed. */
struct plx_secret {
	uint64_t word[2];
};

/* Each purpose has a key of its own. New ones are added at the end. */
enum plx_secret_purpose {
	PLX_SECRET_NONE,         /* not a purpose */
	PLX_SECRET_MEM,          /* lib/proto/mem: keys of memory */
	PLX_SECRET_NUMBERS,      /* the permutation that yields queue pair numbers */
	PLX_SECRET_DRAWS,        /* ... and its input, for one engine */
	PLX_SECRET_PLACES,       /* slots of queue pair numbers in an engine's table */
	PLX_SECRET_PSNS,         /* first PSNs, for one engine */
	PLX_SECRET_NET,          /* lib/proto/net: its root */
	PLX_SECRET_NEIGHBOURS,   /* ... slots of addresses in the table */
	PLX_SECRET_ECHOES,       /* ... ids and sequences of echo requests */
	PLX_SECRET_CM,           /* lib/proto/cm: its root */
	PLX_SECRET_COMM_IDS,     /* ... communication ids */
	PLX_SECRET_TRANSACTIONS, /* ... transaction ids */
	PLX_SECRET_TABLES,       /* ... slots of addresses and services in tables */
	PLX_SECRET_BOARD,        /* slots of addresses among the neighbours that engines share */
	PLX_SECRET_PURPOSES,
};

/**
 * Derive the key of one purpose. The key reveals neither the secret nor another key.
 *
 * @param of the secret of an adapter, or of a room
 * @param index distinguishes users of one purpose: an engine's index, else 0
 */
struct plx_secret plx_secret_for(const struct plx_secret *of, enum plx_secret_purpose purpose,
				 uint32_t index);

/**
 * SipHash-2-4 of words, each as eight bytes, lowest first (Aumasson and Bernstein, 2012). Without
 * the key, its values cannot be distinguished from random bits.
 * Cost: O(n)
 */
uint64_t plx_secret_hash(const struct plx_secret *key, const uint64_t *words, uint32_t n);

/** The SipHash of one word. */
uint64_t plx_secret_word(const struct plx_secret *key, uint64_t word);

/** Fill memory with zeros. The compiler cannot remove the stores, although nothing reads them. */
void plx_secret_wipe(void *memory, size_t bytes);

/* ---- permutations ---- */

enum {
	PLX_PERMUTE_ROUNDS = 6,     /* for 32 bits */
	PLX_PERMUTE_ROUNDS_24 = 10, /* for 24 bits: more, because a peer may see all their values */
};

/* Two words derived from the secret. */
struct plx_permute_round {
	uint64_t offset, factor;
};

/* A permutation of 32 bits: two cache lines, never written after init. */
struct plx_permutation {
	struct plx_permute_round round[PLX_PERMUTE_ROUNDS];
};

struct plx_permutation24 {
	struct plx_permute_round round[PLX_PERMUTE_ROUNDS_24];
};

void plx_permutation_init(struct plx_permutation *permutation, const struct plx_secret *key);
void plx_permutation24_init(struct plx_permutation24 *permutation, const struct plx_secret *key);

/**
 * A bijection on 32 bits.
 * Cost: O(1), the same steps for every argument
 */
uint32_t plx_permute(const struct plx_permutation *permutation, uint32_t plain);

/** The inverse of plx_permute(). */
uint32_t plx_permute_back(const struct plx_permutation *permutation, uint32_t permuted);

/** A bijection on 24 bits; higher bits are ignored. */
uint32_t plx_permute24(const struct plx_permutation24 *permutation, uint32_t plain);

/** The inverse of plx_permute24(). */
uint32_t plx_permute24_back(const struct plx_permutation24 *permutation, uint32_t permuted);

/* ---- queue pair numbers ---- */

/* Source of the numbers and first PSNs of an engine's queue pairs. */
struct plx_numbers {
	struct plx_permutation24 permutation; /* shared by all engines of an adapter */
	struct plx_secret draws, psns;
	uint64_t drawn, psns_drawn;
	uint64_t place_factor;
	uint32_t index, engine_bits;
};

/**
 * @param of      the secret of an adapter, the same for all its engines
 * @param index   of the engine, 0 .. engines - 1
 * @param engines 1 .. 2^16
 */
void plx_numbers_init(struct plx_numbers *numbers, const struct plx_secret *of, uint32_t index,
		      uint32_t engines);

/**
 * Draw a number of this engine, 2 .. 0xfffffe: 0 and 1 are the management queue pairs, all ones is
 * multicast. If it is in use, draw again.
 */
uint32_t plx_numbers_draw(struct plx_numbers *numbers);

/**
 * The engine that a number belongs to: for every number drawn the index of its engine, 0 ..
 * engines - 1; for others any value below the power of two that is not less than `engines`.
 * Cost: O(1), about 100 instructions
 */
uint32_t plx_numbers_engine(const struct plx_numbers *numbers, uint32_t qpn);

/** Draw the PSN of a queue pair's first packet. */
struct plx_psn plx_numbers_psn(struct plx_numbers *numbers);

/**
 * The slot of a number in a table of 2^bits slots (multiply-shift, Dietzfelbinger et al., 1997). A
 * peer sees numbers, never slots, and cannot know which two numbers share one.
 *
 * @param bits 1 .. 24
 * Cost: a multiplication and a shift
 */
static inline uint32_t
plx_numbers_place(uint64_t place_factor, uint32_t bits, uint32_t qpn)
{
	return (uint32_t)(qpn * place_factor >> (64 - bits));
}

#endif
