/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the engine's objects: DPDK's heap, which is hugepages where there are any; the C
 * library's under a sanitizer, which then sees every byte too many, and who gave memory to whom.
 * And pages for secrets. There are two functions for each.
 */
#include <rte_malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USE_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define USE_LIBC 1
#endif
#endif

#ifdef USE_LIBC

void *
engine_alloc(size_t bytes, int socket)
{
	void *memory = NULL;

	(void)socket;
	if (posix_memalign(&memory, PLX_CACHE_LINE, bytes) != 0)
		return NULL;
	return memset(memory, 0, bytes);
}

void
engine_free(void *memory)
{
	free(memory);
}

#else

void *
engine_alloc(size_t bytes, int socket)
{
	return rte_zmalloc_socket("plx_engine", bytes, PLX_CACHE_LINE, socket);
}

void
engine_free(void *memory)
{
	rte_free(memory);
}

#endif

void *
plx_guarded_alloc(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes, MADV_DONTDUMP) == 0)
		return memory;
	(void)munmap(memory, bytes);
	return NULL;
}

void
plx_guarded_free(void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	plx_secret_wipe(memory, bytes);
	(void)munmap(memory, bytes);
}
