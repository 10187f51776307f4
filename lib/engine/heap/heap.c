/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A cache line before each block records its origin, so that it is freed there. It never uses a
 * device, and never resizes an allocation. Start with plx_heap_alloc().
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_malloc.h>

#include "plx_heap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USE_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define USE_LIBC 1
#endif
#endif
#ifndef USE_LIBC
#define USE_LIBC 0
#endif

enum {
	/* [bytes] Smaller blocks share pages: thousands of queue pairs have several each. */
	PAGES_OF_ITS_OWN = 16 << 10,
};

enum origin {
	ORIGIN_DPDK = 1,
	ORIGIN_LIBC,
	ORIGIN_KERNEL,
};

/* The header before a block. */
struct label {
	size_t bytes; /* including the label */
	size_t taken; /* share of PLX_HEAP_QUEUES_MAX */
	enum origin origin;
} __attribute__((aligned(PLX_LINE_PAIR)));

static atomic_size_t queues;

static void *
from_libc(size_t bytes)
{
	void *memory = NULL;

	if (posix_memalign(&memory, PLX_LINE_PAIR, bytes) != 0)
		return NULL;
	return memset(memory, 0, bytes);
}

/* No transparent hugepages: writing to one slot would use 2 MiB. */
static void *
from_kernel(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE); /* a kernel without them returns an error */
	return memory;
}

static void *
label(struct label *block, size_t bytes, size_t taken, enum origin origin)
{
	if (block == NULL)
		return NULL;
	*block = (struct label){.bytes = bytes, .taken = taken, .origin = origin};
	return block + 1;
}

static void *
near(size_t bytes, size_t taken, int socket)
{
	void *memory;

	if (USE_LIBC)
		return label(from_libc(bytes), bytes, taken, ORIGIN_LIBC);
	memory = rte_zmalloc_socket("plx", bytes, PLX_LINE_PAIR, socket);
	return label(memory, bytes, taken, ORIGIN_DPDK);
}

static void *
ordinary(size_t bytes)
{
	if (bytes < PAGES_OF_ITS_OWN)
		return label(from_libc(bytes), bytes, 0, ORIGIN_LIBC);
	return label(from_kernel(bytes), bytes, 0, ORIGIN_KERNEL);
}

void *
plx_heap_alloc(size_t bytes, int socket)
{
	void *memory;

	bytes += sizeof(struct label);
	memory = near(bytes, 0, socket);
	return memory != NULL ? memory : ordinary(bytes);
}

void *
plx_heap_queue(size_t bytes, int socket)
{
	void *memory = NULL;

	bytes += sizeof(struct label);
	if (bytes >= PLX_HEAP_QUEUE_LARGE)
		return ordinary(bytes);
	if (atomic_fetch_add(&queues, bytes) + bytes <= PLX_HEAP_QUEUES_MAX)
		memory = near(bytes, bytes, socket);
	if (memory != NULL)
		return memory;
	atomic_fetch_sub(&queues, bytes);
	return ordinary(bytes);
}

void
plx_heap_free(void *memory)
{
	struct label *block = memory;

	if (memory == NULL)
		return;
	block--;
	atomic_fetch_sub(&queues, block->taken);
	if (block->origin == ORIGIN_KERNEL)
		munmap(block, block->bytes);
	else if (block->origin == ORIGIN_LIBC)
		free(block);
	else
		rte_free(block);
}

size_t
plx_heap_queues(void)
{
	return atomic_load(&queues);
}
