/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keyed permutation behind keys: a balanced Feistel network on two halves of 16 bits.
 * It never stores the secret itself, only what SipHash makes of it for each round.
 * Start with plx_permute(); docs/memory.md says what this protects and what it does not.
 *
 * A key has 32 bits, so its strength ends at "a guess hits with probability live / 2^32". What the
 * permutation must add is that keys already seen do not make the next guess better. Four rounds of
 * random functions are indistinguishable from a random permutation to whoever sees few values
 * (Luby and Rackoff, 1988; Patarin for more rounds and values); there are six here, and each round
 * function folds a full 64 x 64 multiplication by words that only this process knows.
 */
#include "permute.h"

static inline uint64_t
rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void
sip_rounds(uint64_t v[4], unsigned rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t
plx_siphash_word(const uint64_t secret[2], uint64_t word)
{
	const uint64_t block[2] = {word, UINT64_C(8) << 56}; /* the message, then its length */
	uint64_t v[4] = {
		secret[0] ^ UINT64_C(0x736f6d6570736575),
		secret[1] ^ UINT64_C(0x646f72616e646f6d),
		secret[0] ^ UINT64_C(0x6c7967656e657261),
		secret[1] ^ UINT64_C(0x7465646279746573),
	};

	for (unsigned i = 0; i < PLX_COUNT_OF(block); i++) {
		v[3] ^= block[i];
		sip_rounds(v, 2);
		v[0] ^= block[i];
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void
plx_permutation_init(struct plx_permutation *permutation, const uint64_t secret[2])
{
	for (unsigned i = 0; i < PLX_PERMUTE_ROUNDS; i++) {
		permutation->round[i].offset = plx_siphash_word(secret, 2 * i);
		permutation->round[i].factor = plx_siphash_word(secret, 2 * i + 1) | 1;
	}
}

/* The round function: 16 bits in, 16 out; it need not be invertible. */
static inline uint32_t
scramble(const struct plx_permutation *permutation, unsigned round, uint32_t half)
{
	__extension__ typedef unsigned __int128 plx_u128;
	plx_u128 product = (plx_u128)(permutation->round[round].offset ^ half) *
			   permutation->round[round].factor;
	uint64_t fold = (uint64_t)product ^ (uint64_t)(product >> 64);

	fold ^= fold >> 32;
	return (uint32_t)(fold ^ fold >> 16) & 0xffff;
}

uint32_t
plx_permute(const struct plx_permutation *permutation, uint32_t plain)
{
	uint32_t left = plain >> 16, right = plain & 0xffff;

	for (unsigned i = 0; i < PLX_PERMUTE_ROUNDS; i++) {
		uint32_t next = left ^ scramble(permutation, i, right);

		left = right;
		right = next;
	}
	return left << 16 | right;
}

PLX_HOT uint32_t
plx_permute_back(const struct plx_permutation *permutation, uint32_t key)
{
	uint32_t left = key >> 16, right = key & 0xffff;

	for (unsigned i = PLX_PERMUTE_ROUNDS; i-- > 0;) {
		uint32_t before = right ^ scramble(permutation, i, left);

		right = left;
		left = before;
	}
	return left << 16 | right;
}
