/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that differ by position and by seed. Start with pattern_fill().
 */
#ifndef PLX_TEST_PATTERN_H
#define PLX_TEST_PATTERN_H

#include "test.h"

static inline uint8_t
pattern_byte(uint32_t i, uint8_t seed)
{
	return (uint8_t)((i * 2654435761u >> 13) + seed);
}

static inline void
pattern_fill(uint8_t *to, uint32_t bytes, uint8_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = pattern_byte(i, seed);
}

static inline void
pattern_assert(const uint8_t *at, uint32_t bytes, uint8_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (at[i] != pattern_byte(i, seed))
			fail_msg("byte %u of %u is %02x, not %02x", i, bytes, at[i],
				 pattern_byte(i, seed));
}

#endif
