/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keyed permutation that turns (slot, generation) into a key and back.
 * It never sees the table; what it may assume of its secret is in permute.c.
 * Start with plx_permute().
 */
#ifndef PLX_PERMUTE_H
#define PLX_PERMUTE_H

#include "plx_base.h"

#define PLX_PERMUTE_ROUNDS 6

/* Two words a round, drawn from the secret. Read by every check: two cache lines, never written
 * after init. */
struct plx_permutation {
	struct {
		uint64_t offset, factor;
	} round[PLX_PERMUTE_ROUNDS];
};

void plx_permutation_init(struct plx_permutation *permutation, const uint64_t secret[2]);

/** A bijection on 32 bits. Cost: O(1), the same steps for every argument */
uint32_t plx_permute(const struct plx_permutation *permutation, uint32_t plain);

/** The inverse of plx_permute(). */
uint32_t plx_permute_back(const struct plx_permutation *permutation, uint32_t key);

/** SipHash-2-4 of one 64-bit word (Aumasson and Bernstein, 2012); for the schedule above. */
uint64_t plx_siphash_word(const uint64_t secret[2], uint64_t word);

#endif
