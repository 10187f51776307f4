/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pattern: a counter whose start depends on stream and message, stepped and mixed for each word
 * of eight bytes. It never allocates. Start with word_at().
 */
#include "pattern.h"

#include <string.h>

/* The mixing function of splitmix64: neighbouring inputs give unrelated outputs. */
static uint64_t
stirred(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t
start_of(uint32_t stream, uint64_t message)
{
	return stirred(message * UINT64_C(0x9e3779b97f4a7c15) + stream + 1);
}

/* It runs for every word of gigabytes, so it is simple enough for the compiler to vectorize. */
static uint64_t
word_at(uint64_t start, uint64_t index)
{
	uint64_t x = start + index * UINT64_C(0x9e3779b97f4a7c15);
	return x ^ (x >> 29);
}

void
pattern_write(void *to, uint32_t size, uint32_t stream, uint64_t message)
{
	uint64_t start = start_of(stream, message);
	uint8_t *at = to;
	uint32_t words = size / 8;
	for (uint32_t i = 0; i < words; i++) {
		uint64_t word = word_at(start, i);
		memcpy(at + (uint64_t)i * 8, &word, 8);
	}
	uint64_t last = word_at(start, words);
	memcpy(at + (uint64_t)words * 8, &last, size % 8);
}

uint32_t
pattern_check(const void *at, uint32_t size, uint32_t stream, uint64_t message)
{
	uint64_t start = start_of(stream, message);
	const uint8_t *bytes = at;
	uint64_t wrong = 0;
	uint32_t words = size / 8;
	for (uint32_t i = 0; i < words; i++) {
		uint64_t word;
		memcpy(&word, bytes + (uint64_t)i * 8, 8);
		wrong |= word ^ word_at(start, i);
	}
	uint64_t last = word_at(start, words);
	if (wrong == 0 && memcmp(bytes + (uint64_t)words * 8, &last, size % 8) == 0)
		return size;
	for (uint32_t i = 0; i < size; i++) {
		uint64_t word = word_at(start, i / 8);
		uint8_t byte;
		memcpy(&byte, (const uint8_t *)&word + i % 8, 1);
		if (bytes[i] != byte)
			return i;
	}
	return 0; /* wrong before, right now: it is being written to */
}
