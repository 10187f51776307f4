/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that a peer must not be able to guess: keys of memory, queue pair numbers, first PSNs,
 * ids of connections and of messages, and what decides where a peer's address lies in a table.
 * It owns no randomness: one secret of 128 bits comes from the system when an adapter is created,
 * and each purpose has a key of its own derived from it, so that no value of one purpose says
 * anything about another. It never stores that one secret.
 * Start with plx_secret_for(); docs/decisions/0024-secrets.md says why it is done like this.
 *
 * struct plx_prng of plx_base.h is for tests and for faults that are made on purpose: it is linear,
 * and a few hundred of its values give away all others.
 */
#ifndef PLX_SECRET_H
#define PLX_SECRET_H

#include "plx_base.h"

/* ---- secrets and what they are for ---- */

/** 128 bits that nobody else knows. Tests and the simulator make one of their seed. */
struct plx_secret {
	uint64_t word[2];
};

/* Each is the domain of a key of its own. New ones are added at the end. */
enum plx_secret_purpose {
	PLX_SECRET_NONE,         /* nobody's */
	PLX_SECRET_MEM,          /* lib/proto/mem: keys of memory */
	PLX_SECRET_NUMBERS,      /* the permutation that makes queue pair numbers */
	PLX_SECRET_DRAWS,        /* ... and what it is applied to, of one engine */
	PLX_SECRET_PLACES,       /* where an engine keeps which number */
	PLX_SECRET_PSNS,         /* first PSNs, of one engine */
	PLX_SECRET_NET,          /* lib/proto/net: its root */
	PLX_SECRET_NEIGHBOURS,   /* ... where an address lies in the table */
	PLX_SECRET_ECHOES,       /* ... ids and sequences of echo requests */
	PLX_SECRET_CM,           /* lib/proto/cm: its root */
	PLX_SECRET_COMM_IDS,     /* ... communication ids */
	PLX_SECRET_TRANSACTIONS, /* ... transaction ids */
	PLX_SECRET_TABLES,       /* ... where an address or a service lies in a table */
	PLX_SECRET_PURPOSES,
};

/**
 * The key of one purpose. Who knows it knows neither the secret it was made of nor another key.
 *
 * @param of the secret of an adapter, or of a room
 * @param index tells several users of one purpose apart: an engine's, else 0
 */
struct plx_secret plx_secret_for(const struct plx_secret *of, enum plx_secret_purpose purpose,
				 uint32_t index);

/** SipHash-2-4 of words, each as its eight bytes from the lowest on (Aumasson and Bernstein, 2012):
 * whoever does not know the key cannot tell it from random bits. Cost: O(n) */
uint64_t plx_secret_hash(const struct plx_secret *key, const uint64_t *words, uint32_t n);

/** The same of one word. */
uint64_t plx_secret_word(const struct plx_secret *key, uint64_t word);

/** Zeros, which no compiler leaves out because nobody reads them. */
void plx_secret_wipe(void *memory, size_t bytes);

/* ---- permutations ---- */

enum {
	PLX_PERMUTE_ROUNDS = 6,     /* on 32 bits */
	PLX_PERMUTE_ROUNDS_24 = 10, /* on 24: more, since all of their values may be seen */
};

/* Two words, drawn from the secret. */
struct plx_permute_round {
	uint64_t offset, factor;
};

/* Of 32 bits: two cache lines, never written after init. */
struct plx_permutation {
	struct plx_permute_round round[PLX_PERMUTE_ROUNDS];
};

struct plx_permutation24 {
	struct plx_permute_round round[PLX_PERMUTE_ROUNDS_24];
};

void plx_permutation_init(struct plx_permutation *permutation, const struct plx_secret *key);
void plx_permutation24_init(struct plx_permutation24 *permutation, const struct plx_secret *key);

/** A bijection on 32 bits. Cost: O(1), the same steps for every argument */
uint32_t plx_permute(const struct plx_permutation *permutation, uint32_t plain);

/** The inverse of plx_permute(). */
uint32_t plx_permute_back(const struct plx_permutation *permutation, uint32_t permuted);

/** A bijection on 24 bits; those above are ignored. */
uint32_t plx_permute24(const struct plx_permutation24 *permutation, uint32_t plain);

/** The inverse of plx_permute24(). */
uint32_t plx_permute24_back(const struct plx_permutation24 *permutation, uint32_t permuted);

/* ---- numbers of queue pairs ---- */

/* What an engine draws the numbers and first PSNs of its queue pairs from. */
struct plx_numbers {
	struct plx_permutation24 permutation; /* of all engines of an adapter */
	struct plx_secret draws, psns;
	uint64_t drawn, psns_drawn;
	uint64_t place_factor;
	uint32_t index, engine_bits;
};

/**
 * @param of      the secret of an adapter; its engines must be given the same
 * @param index   of the engine, 0 .. engines - 1
 * @param engines a power of two, 1 .. 2^16
 */
void plx_numbers_init(struct plx_numbers *numbers, const struct plx_secret *of, uint32_t index,
		      uint32_t engines);

/** A number of this engine's, 2 .. 0xfffffe: 0 and 1 are the management queue pairs', all ones is
 * multicast. It may be in use; then draw again. */
uint32_t plx_numbers_draw(struct plx_numbers *numbers);

/** Whose number it is: 0 .. engines - 1. For the way from one engine to another, not for each
 * packet. Cost: O(1), about 100 instructions */
uint32_t plx_numbers_engine(const struct plx_numbers *numbers, uint32_t qpn);

/** The PSN that a queue pair's first packet has. */
struct plx_psn plx_numbers_psn(struct plx_numbers *numbers);

/**
 * Where in a table of 2^bits places a number is looked for (multiply-shift, Dietzfelbinger et al.,
 * 1997). A peer sees numbers, never places, and cannot tell which two numbers share one.
 * @param bits 1 .. 24. Cost: a multiplication and a shift
 */
static inline uint32_t
plx_numbers_place(uint64_t place_factor, uint32_t bits, uint32_t qpn)
{
	return (uint32_t)(qpn * place_factor >> (64 - bits));
}

#endif
