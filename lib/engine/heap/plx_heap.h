/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the data path: where the objects of an engine and their queues lie. DPDK's heap is
 * hugepages where there are any, and there are few of them; what is large or many comes from
 * ordinary memory, of which the kernel gives a page when it is first written to. No device reads
 * what lies here. Start with plx_heap_alloc().
 */
#ifndef PLX_HEAP_H
#define PLX_HEAP_H

#include "plx_base.h"

enum {
	/* [bytes] A queue of at least this is ordinary memory, whatever is free. */
	PLX_HEAP_QUEUE_LARGE = 128 << 10,
	/* [bytes] Smaller queues of one process take this much of DPDK's heap, and no more: the
	 * rest is for packets. */
	PLX_HEAP_QUEUES_MAX = 32 << 20,
};

/**
 * Zeroed memory, aligned to a cache line, in DPDK's heap on a NUMA node (-1: any); ordinary memory
 * when DPDK has none left. Under a sanitizer it is the C library's, which then sees every byte too
 * many.
 *
 * Threads: any
 * Returns: NULL when there is none
 */
void *plx_heap_alloc(size_t bytes, int socket) PLX_MUST_CHECK;

/**
 * The same for the places of a queue: like plx_heap_alloc() while it is small and such queues do
 * not take too much of DPDK's heap yet. A large one costs its addresses; a page of it costs memory,
 * and a page fault (about a microsecond), when a place in it is first used.
 */
void *plx_heap_queue(size_t bytes, int socket) PLX_MUST_CHECK;

/** @param memory of either function, or NULL */
void plx_heap_free(void *memory);

/** [bytes] of queues that are in DPDK's heap now, of PLX_HEAP_QUEUES_MAX. */
size_t plx_heap_queues(void);

/**
 * Memory for what holds secrets: zeroed, on pages of its own that no core dump has.
 * Returns: NULL: there is none. Threads: any
 */
void *plx_guarded_alloc(size_t bytes);

/** Wiped, then given back. @param bytes as it was asked for; NULL is fine */
void plx_guarded_free(void *memory, size_t bytes);

#endif
