/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in network byte order, as they travel in messages and private data.
 * Start with number_put().
 */
#ifndef COMMON_NUMBERS_H
#define COMMON_NUMBERS_H

#include <stdint.h>

/** @param bytes [1 .. 8] of the number; the least significant ones are used */
static inline void
number_put(uint8_t *to, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static inline uint64_t
number_get(const uint8_t *from, uint32_t bytes)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

#endif
