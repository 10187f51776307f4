/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory: the process heap, on top of malloc, and pages, on top of mmap.
 * A heap block has a header with its size and a magic number that identifies blocks.
 * Start with HeapAlloc() and VirtualAlloc().
 */
#include "plx_crt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	BLOCK_MAGIC = 0x504c5848, /* "PLXH" */
	GRANULARITY = 1 << 16,    /* what VirtualAlloc aligns to */
	LARGE_PAGE = 1 << 21,
	PAGE = 4096,
};

/* ---- the heap ---- */

struct block {
	size_t bytes;
	uint64_t magic;
};

_Static_assert(sizeof(struct block) == 16, "blocks are as aligned as malloc's");

static const char process_heap; /* its address is the handle */

HANDLE
GetProcessHeap(void)
{
	return (HANDLE)(uintptr_t)&process_heap;
}

/* Is it the handle of the only heap? */
static bool
is_heap(HANDLE heap)
{
	return heap == GetProcessHeap() || win_fail(ERROR_INVALID_HANDLE);
}

/* The header of a block, or NULL. */
static struct block *
block_of(HANDLE heap, void *memory)
{
	struct block *block = memory ? (struct block *)memory - 1 : NULL;

	if (!is_heap(heap))
		return NULL;
	if (block && block->magic == BLOCK_MAGIC)
		return block;
	win_fail(ERROR_INVALID_PARAMETER);
	return NULL;
}

LPVOID
HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes)
{
	struct block *block;

	if (!is_heap(heap))
		return NULL;
	block = bytes > SIZE_MAX - sizeof(*block) ? NULL
		: flags & HEAP_ZERO_MEMORY        ? calloc(1, sizeof(*block) + bytes)
						  : malloc(sizeof(*block) + bytes);
	if (!block) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	*block = (struct block){bytes, BLOCK_MAGIC};
	return block + 1;
}

LPVOID
HeapReAlloc(HANDLE heap, DWORD flags, LPVOID memory, SIZE_T bytes)
{
	struct block *block = block_of(heap, memory);
	size_t before;

	if (!block)
		return NULL;
	before = block->bytes;
	block = bytes > SIZE_MAX - sizeof(*block) ? NULL : realloc(block, sizeof(*block) + bytes);
	if (!block) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	block->bytes = bytes;
	if (flags & HEAP_ZERO_MEMORY && bytes > before)
		memset((char *)(block + 1) + before, 0, bytes - before);
	return block + 1;
}

SIZE_T
HeapSize(HANDLE heap, DWORD flags, LPCVOID memory)
{
	struct block *block = block_of(heap, (void *)(uintptr_t)memory);

	(void)flags;
	return block ? block->bytes : (SIZE_T)-1;
}

BOOL
HeapFree(HANDLE heap, DWORD flags, LPVOID memory)
{
	struct block *block;

	(void)flags;
	if (!memory)
		return is_heap(heap);
	block = block_of(heap, memory);
	if (!block)
		return FALSE;
	block->magic = 0;
	free(block);
	return TRUE;
}

/* ---- pages ---- */

/* Memory reserved in one piece, which is also released in one piece. */
struct piece {
	struct piece *next;
	char *at;
	size_t bytes;
	const struct plx_page_source *source; /* of `given`; NULL: the kernel */
	void *given;                          /* `at` is within it, aligned */
};

static _Atomic(const struct plx_page_source *) page_source;

void
plx_set_page_source(const struct plx_page_source *source)
{
	atomic_store(&page_source, source);
}

static struct piece *pieces;
static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns: false: unknown protection */
static bool
protection_of(DWORD protect, int *protection)
{
	switch (protect) {
	case PAGE_NOACCESS:
		*protection = PROT_NONE;
		return true;
	case PAGE_READONLY:
		*protection = PROT_READ;
		return true;
	case PAGE_READWRITE:
		*protection = PROT_READ | PROT_WRITE;
		return true;
	case PAGE_EXECUTE_READWRITE:
		*protection = PROT_READ | PROT_WRITE | PROT_EXEC;
		return true;
	default:
		return false;
	}
}

/* Map aligned memory: map more than needed and unmap the excess. */
static char *
map_aligned(size_t bytes, size_t alignment, int protection)
{
	char *at = mmap(NULL, bytes + alignment, protection,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *aligned;

	if (at == MAP_FAILED)
		return NULL;
	aligned = (char *)(((uintptr_t)at + alignment - 1) & ~(uintptr_t)(alignment - 1));
	if (aligned > at)
		munmap(at, (size_t)(aligned - at));
	munmap(aligned + bytes, alignment - (size_t)(aligned - at));
	return aligned;
}

/* Returns: false: there is no source, or it has none left */
static bool
take_from_source(struct piece *piece, size_t alignment)
{
	const struct plx_page_source *source = atomic_load(&page_source);

	piece->given = source ? source->alloc(piece->bytes + alignment) : NULL;
	if (!piece->given)
		return false;
	piece->source = source;
	piece->at =
		(char *)(((uintptr_t)piece->given + alignment - 1) & ~(uintptr_t)(alignment - 1));
	return true;
}

static bool
take_from_kernel(struct piece *piece, size_t alignment, DWORD type, int protection)
{
	piece->at =
		map_aligned(piece->bytes, alignment, type & MEM_COMMIT ? protection : PROT_NONE);
	if (piece->at && type & MEM_LARGE_PAGES)
		/* best effort; small pages work, too */
		madvise(piece->at, piece->bytes, MADV_HUGEPAGE);
	return piece->at != NULL;
}

static void *
reserve(size_t bytes, DWORD type, int protection)
{
	size_t alignment = type & MEM_LARGE_PAGES ? LARGE_PAGE : GRANULARITY;
	bool usual = type & MEM_COMMIT && protection == (PROT_READ | PROT_WRITE);
	struct piece *piece = calloc(1, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->bytes = bytes;
	if (!(usual && take_from_source(piece, alignment)) &&
	    !take_from_kernel(piece, alignment, type, protection)) {
		free(piece);
		return NULL;
	}
	pthread_mutex_lock(&pieces_lock);
	piece->next = pieces;
	pieces = piece;
	pthread_mutex_unlock(&pieces_lock);
	return piece->at;
}

/* Make reserved pages usable. */
static void *
commit(void *at, size_t bytes, int protection)
{
	char *from = (char *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1));
	char *to = (char *)(((uintptr_t)at + bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	struct piece *piece;
	bool done;

	pthread_mutex_lock(&pieces_lock);
	for (piece = pieces; piece; piece = piece->next)
		if (from >= piece->at && to <= piece->at + piece->bytes)
			break;
	done = piece && mprotect(from, (size_t)(to - from), protection) == 0;
	pthread_mutex_unlock(&pieces_lock);
	return done ? from : NULL;
}

LPVOID
VirtualAlloc(LPVOID at, SIZE_T bytes, DWORD type, DWORD protect)
{
	const DWORD known = MEM_COMMIT | MEM_RESERVE | MEM_LARGE_PAGES;
	size_t unit = type & MEM_LARGE_PAGES ? LARGE_PAGE : PAGE;
	void *memory;
	int protection;

	if (!bytes || bytes > SIZE_MAX / 2 || type & ~known ||
	    !(type & (MEM_COMMIT | MEM_RESERVE)) || !protection_of(protect, &protection)) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	/* A program can choose an address only within memory that it has reserved. */
	if (at && type & MEM_RESERVE) {
		win_fail(ERROR_INVALID_ADDRESS);
		return NULL;
	}
	memory = at ? commit(at, bytes, protection)
		    : reserve((bytes + unit - 1) & ~(unit - 1), type, protection);
	if (!memory)
		win_fail(at ? ERROR_INVALID_ADDRESS : ERROR_NOT_ENOUGH_MEMORY);
	return memory;
}

BOOL
VirtualFree(LPVOID at, SIZE_T bytes, DWORD type)
{
	struct piece **link, *piece;

	if (type != MEM_RELEASE || bytes)
		return win_fail(ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&pieces_lock);
	for (link = &pieces; *link && (*link)->at != at; link = &(*link)->next)
		;
	piece = *link;
	if (piece)
		*link = piece->next;
	pthread_mutex_unlock(&pieces_lock);
	if (!piece)
		return win_fail(ERROR_INVALID_ADDRESS);
	if (piece->source)
		piece->source->free(piece->given);
	else
		munmap(piece->at, piece->bytes);
	free(piece);
	return TRUE;
}
