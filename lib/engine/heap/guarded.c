/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages for secrets: excluded from core dumps, and wiped when freed. All other memory of an engine
 * comes from heap.c. Start with plx_guarded_alloc().
 */
#include <sys/mman.h>

#include "plx_heap.h"
#include "plx_secret.h"

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
