/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keyed permutations of 32 and 24 bits: balanced Feistel networks on two halves. They never store
 * the secret itself, only the words that SipHash derives from it for each round.
 * Start with plx_permute(); docs/memory.md says what it protects for memory keys, and what it does
 * not.
 *
 * A memory key has 32 bits, so its strength is limited: a guess hits with probability live / 2^32.
 * The permutation must ensure that values already seen do not improve the next guess. Four rounds
 * of random functions are indistinguishable from a random permutation to an observer of few values
 * (Luby and Rackoff, 1988; Patarin for more rounds and values). There are six here, ten for 24
 * bits, and each round function folds a full 64 x 64 multiplication by words known only to this
 * process.
 */
#include "plx_secret.h"

static void
rounds_init(struct plx_permute_round *round, unsigned rounds, const struct plx_secret *key)
{
	for (unsigned i = 0; i < rounds; i++) {
		round[i].offset = plx_secret_word(key, 2 * i);
		round[i].factor = plx_secret_word(key, 2 * i + 1) | 1;
	}
}

void
plx_permutation_init(struct plx_permutation *permutation, const struct plx_secret *key)
{
	rounds_init(permutation->round, PLX_PERMUTE_ROUNDS, key);
}

void
plx_permutation24_init(struct plx_permutation24 *permutation, const struct plx_secret *key)
{
	rounds_init(permutation->round, PLX_PERMUTE_ROUNDS_24, key);
}

/* The round function: half a value in, the same number of bits out; it need not be invertible. */
static inline uint32_t
scramble(const struct plx_permute_round *round, uint32_t half)
{
	__extension__ typedef unsigned __int128 plx_u128;
	plx_u128 product = (plx_u128)(round->offset ^ half) * round->factor;
	uint64_t fold = (uint64_t)product ^ (uint64_t)(product >> 64);

	fold ^= fold >> 32;
	return (uint32_t)(fold ^ fold >> 16);
}

static inline uint32_t
there(const struct plx_permute_round *round, unsigned rounds, unsigned bits, uint32_t plain)
{
	uint32_t mask = (1u << bits) - 1, left = plain >> bits & mask, right = plain & mask;

	for (unsigned i = 0; i < rounds; i++) {
		uint32_t next = left ^ (scramble(&round[i], right) & mask);

		left = right;
		right = next;
	}
	return left << bits | right;
}

static inline uint32_t
back(const struct plx_permute_round *round, unsigned rounds, unsigned bits, uint32_t permuted)
{
	uint32_t mask = (1u << bits) - 1, left = permuted >> bits & mask, right = permuted & mask;

	for (unsigned i = rounds; i-- > 0;) {
		uint32_t before = right ^ (scramble(&round[i], left) & mask);

		right = left;
		left = before;
	}
	return left << bits | right;
}

uint32_t
plx_permute(const struct plx_permutation *permutation, uint32_t plain)
{
	return there(permutation->round, PLX_PERMUTE_ROUNDS, 16, plain);
}

PLX_HOT uint32_t
plx_permute_back(const struct plx_permutation *permutation, uint32_t permuted)
{
	return back(permutation->round, PLX_PERMUTE_ROUNDS, 16, permuted);
}

uint32_t
plx_permute24(const struct plx_permutation24 *permutation, uint32_t plain)
{
	return there(permutation->round, PLX_PERMUTE_ROUNDS_24, 12, plain);
}

uint32_t
plx_permute24_back(const struct plx_permutation24 *permutation, uint32_t permuted)
{
	return back(permutation->round, PLX_PERMUTE_ROUNDS_24, 12, permuted);
}
