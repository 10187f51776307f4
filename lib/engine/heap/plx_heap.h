/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for the objects of an engine and their queues. DPDK's heap uses hugepages if possible, but
 * they are scarce. So large or numerous allocations come from ordinary memory, whose pages the
 * kernel allocates on first write. No device accesses this memory. Start with plx_heap_alloc().
 */
#ifndef PLX_HEAP_H
#define PLX_HEAP_H

#include "plx_base.h"

enum {
	/* [bytes] Queues of at least this size always use ordinary memory. */
	PLX_HEAP_QUEUE_LARGE = 128 << 10,
	/* [bytes] Maximum that smaller queues of a process use of DPDK's heap; the rest is for
	 * packets. */
	PLX_HEAP_QUEUES_MAX = 32 << 20,
};

/**
 * Allocate zeroed memory, aligned to a pair of cache lines, from DPDK's heap on a NUMA node (-1:
 * any), or ordinary memory if that heap is exhausted. Under a sanitizer it comes from the C
 * library, so that every overrun is detected.
 *
 * Threads: any
 * Returns: NULL if out of memory
 */
void *plx_heap_alloc(size_t bytes, int socket) PLX_MUST_CHECK;

/**
 * Allocate the entries of a queue: as plx_heap_alloc() if the queue is below PLX_HEAP_QUEUE_LARGE
 * and PLX_HEAP_QUEUES_MAX is not reached, else ordinary memory. The latter costs address space
 * only; each page costs memory and a page fault (about a microsecond) when an entry in it is first
 * used.
 */
void *plx_heap_queue(size_t bytes, int socket) PLX_MUST_CHECK;

/**
 * Free memory.
 * @param memory from either function, or NULL
 */
void plx_heap_free(void *memory);

/** [bytes] Memory that queues now use of DPDK's heap, at most PLX_HEAP_QUEUES_MAX. */
size_t plx_heap_queues(void);

/**
 * Allocate memory for secrets: zeroed, on pages of its own, which core dumps leave out.
 * Returns: NULL if out of memory
 * Threads: any
 */
void *plx_guarded_alloc(size_t bytes);

/**
 * Wipe and free memory.
 * @param memory may be NULL
 * @param bytes as allocated
 */
void plx_guarded_free(void *memory, size_t bytes);

#endif
