/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory that plx_mem_alloc() has given, for whoever maps it for devices (lib/adapter/dma.c).
 * Start with plx_block_around().
 */
#ifndef PLX_BLOCKS_H
#define PLX_BLOCKS_H

#include "plx_base.h"

enum {
	PLX_BLOCK_HUGE = 2 << 20, /* [bytes] of a hugepage */
};

/* One allocation. */
struct plx_block {
	struct plx_list node;
	void *memory;
	size_t bytes; /* as mapped */
	bool huge;
	int fd;          /* a memfd, for hosts in other processes; -1: private memory */
	uint64_t serial; /* never used again; 0: private memory */

	/* of whoever maps it; under the lock */
	struct plx_list views; /* while there is one, it is not freed */
	void (*forget)(
		struct plx_block *block); /* called before it is freed; NULL: nothing to do */
};

/** Between both, no block begins or ends. Threads: any */
PLX_API void plx_blocks_lock(void);
PLX_API void plx_blocks_unlock(void);

/** Find the block that contains all of [memory, memory + length). Call with the lock.
 * Returns: NULL: other memory */
PLX_API struct plx_block *plx_block_around(const void *memory, size_t length);

#endif
