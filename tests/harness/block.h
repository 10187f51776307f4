/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allocates objects of the pure rooms, which live in their caller's memory. Release them with
 * free(). Start with test_block().
 */
#ifndef PLX_TEST_BLOCK_H
#define PLX_TEST_BLOCK_H

#include <stdlib.h>
#include <string.h>

#include "plx_base.h"

enum {
	TEST_POISON = 0xa5,
};

/** A poisoned block of exactly `bytes`, aligned to a cache line: memory that nobody has written
 * is garbage, not zero by luck. Asserts that `bytes` is not 0: an object returns 0 when its
 * configuration is invalid. */
static inline void *
test_block(size_t bytes)
{
	void *block = NULL;

	PLX_ASSERT(bytes > 0 && posix_memalign(&block, PLX_CACHE_LINE, bytes) == 0);
	memset(block, TEST_POISON, bytes);
	return block;
}

#endif
