/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages for secrets: excluded from core dumps, and wiped when freed. All other memory of an engine
 * comes from heap.c. Start with plx_guarded_alloc().
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plx_heap.h"
#include "plx_secret.h"

enum {
	WIPE_PAGES = 256, /* that the kernel is asked about at once */
};

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

/*
 * Wipe the pages that are resident. Of the others most were never touched, and a store would take
 * them only to free them; the rest is swapped out, where a store does not reach.
 */
static void
wipe_resident(uint8_t *memory, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char resident[WIPE_PAGES];

	while (bytes > 0) {
		size_t n = bytes < WIPE_PAGES * page ? bytes : WIPE_PAGES * page;

		if (mincore(memory, n, resident) != 0)
			memset(resident, 1, sizeof(resident));
		for (size_t at = 0; at < n; at += page)
			if (resident[at / page] & 1)
				plx_secret_wipe(memory + at, n - at < page ? n - at : page);
		memory += n;
		bytes -= n;
	}
}

void
plx_guarded_free(void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	wipe_resident(memory, bytes);
	(void)munmap(memory, bytes);
}
