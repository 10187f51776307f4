/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SipHash, and the keys derived with it. It has no state.
 * Start with plx_secret_for().
 */
#include "plx_secret.h"

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
plx_secret_hash(const struct plx_secret *key, const uint64_t *words, uint32_t n)
{
	uint64_t v[4] = {
		key->word[0] ^ UINT64_C(0x736f6d6570736575),
		key->word[1] ^ UINT64_C(0x646f72616e646f6d),
		key->word[0] ^ UINT64_C(0x6c7967656e657261),
		key->word[1] ^ UINT64_C(0x7465646279746573),
	};

	for (uint32_t i = 0; i <= n; i++) {
		/* the message, then its length in bytes */
		uint64_t block = i < n ? words[i] : (uint64_t)n * 8 << 56;

		v[3] ^= block;
		sip_rounds(v, 2);
		v[0] ^= block;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t
plx_secret_word(const struct plx_secret *key, uint64_t word)
{
	return plx_secret_hash(key, &word, 1);
}

/*
 * The input is three words. Everything else drawn with a key has another length or another key, so
 * no input is used twice.
 */
struct plx_secret
plx_secret_for(const struct plx_secret *of, enum plx_secret_purpose purpose, uint32_t index)
{
	uint64_t words[3] = {(uint64_t)purpose, index, 0};
	struct plx_secret key;

	key.word[0] = plx_secret_hash(of, words, PLX_COUNT_OF(words));
	words[2] = 1;
	key.word[1] = plx_secret_hash(of, words, PLX_COUNT_OF(words));
	return key;
}

void
plx_secret_wipe(void *memory, size_t bytes)
{
	memset(memory, 0, bytes);
	/* Prevents the compiler from removing the stores. */
	__asm__ volatile("" : : "r"(memory) : "memory");
}
