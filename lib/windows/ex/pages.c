/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages without an address: those of MmAllocatePagesForMdl(). All pages of an allocation are one
 * mapping of a file in memory. Scattered, each chunk of it is a mapping of its own, with a gap
 * behind it and in a random order; then a view is a further mapping of the file, in the order that
 * is asked for. Start with struct region.
 *
 * Locks: one, for the lists of allocations and views.
 */
#include "ex.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TAG_MDL = 'M' | 'd' << 8 | 'l' << 16 | ' ' << 24,
	TAG_PAGES = 'M' | 'm' << 8 | 'P' << 16 | 'g' << 24,
	TAG_VIEW = 'M' | 'm' << 8 | 'V' << 16 | 'w' << 24,
	TAG_CONTIGUOUS = 'M' | 'm' << 8 | 'C' << 16 | 'm' << 24,
	NOT_ASKED = 2,
};

/* An allocation. Of chunk i in memory, the chunk in the file is order[i]; between the chunks in
 * memory are gaps as long as they are, if it is scattered. */
struct region {
	struct region *next;
	char *base;
	SIZE_T bytes; /* of addresses */
	ULONG pages;  /* in the file */
	ULONG chunk;  /* pages that follow each other; all of them: it is not scattered */
	int file;
	struct tag_account *account;
	ULONG order[]; /* of a scattered one */
};

/* A mapping beside the one of the allocation. */
struct view {
	struct view *next;
	char *base;
	ULONG pages;
	struct tag_account *account;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static struct view *views;
static atomic_int scatters = NOT_ASKED;

void
plx_ex_pages_scatter(bool on)
{
	atomic_store(&scatters, on);
}

static bool
is_scattering(void)
{
	int on = atomic_load(&scatters);

	if (on == NOT_ASKED) {
		const char *wanted = secure_getenv("POLLUX_SCATTER");

		on = wanted != NULL && strcmp(wanted, "1") == 0;
		atomic_store(&scatters, on);
	}
	return on;
}

static SIZE_T
bytes_of(ULONG pages)
{
	return (SIZE_T)pages << PAGE_SHIFT;
}

static ULONG
chunks_of(const struct region *region)
{
	return (region->pages + region->chunk - 1) / region->chunk;
}

static bool
is_scattered(const struct region *region)
{
	return region->chunk < region->pages;
}

/* Bytes from one chunk to the next in memory. */
static SIZE_T
stride_of(const struct region *region)
{
	return 2 * bytes_of(region->chunk);
}

/* Where page i of the file is in memory. @param at chunk i of the file is chunk at[i] in memory */
static char *
page_at(const struct region *region, ULONG i, const ULONG *at)
{
	if (!is_scattered(region))
		return region->base + bytes_of(i);
	return region->base + at[i / region->chunk] * stride_of(region) +
	       bytes_of(i % region->chunk);
}

/* The page of the file that is at an address. Returns: false: none is */
static bool
page_in_file(const struct region *region, const char *address, ULONG *page)
{
	SIZE_T offset = (SIZE_T)(address - region->base);
	ULONG in_chunk;

	if (offset >= region->bytes)
		return false;
	*page = (ULONG)(offset >> PAGE_SHIFT);
	if (!is_scattered(region))
		return true;
	in_chunk = (ULONG)(offset % stride_of(region) >> PAGE_SHIFT);
	*page = region->order[offset / stride_of(region)] * region->chunk + in_chunk;
	return in_chunk < region->chunk && *page < region->pages;
}

/* Knuth's shuffle, with a generator that needs no seed: the order is to be bad, not secret. */
static void
shuffle(ULONG *order, ULONG n)
{
	static _Atomic uint64_t state = 1;

	for (ULONG i = 0; i < n; i++)
		order[i] = i;
	for (ULONG i = n; i > 1; i--) {
		uint64_t seed = atomic_fetch_add(&state, UINT64_C(0x9e3779b97f4a7c15));
		ULONG other = (ULONG)((seed ^ seed >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 33) % i;
		ULONG kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

static bool
map_chunks(struct region *region)
{
	for (ULONG i = 0; i < chunks_of(region); i++) {
		SIZE_T offset = bytes_of(region->order[i] * region->chunk);
		SIZE_T bytes = bytes_of(region->chunk);

		if (offset + bytes > bytes_of(region->pages))
			bytes = bytes_of(region->pages) - offset;
		if (mmap(region->base + i * stride_of(region), bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, region->file, (off_t)offset) == MAP_FAILED)
			return false;
	}
	return true;
}

static void
region_destroy(struct region *region)
{
	if (region->base)
		munmap(region->base, region->bytes);
	if (region->file >= 0)
		close(region->file);
	if (region->account)
		tag_sub(region->account, bytes_of(region->pages));
	free(region);
}

static bool
region_map(struct region *region)
{
	int flags = is_scattered(region) ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	int rights = is_scattered(region) ? PROT_NONE : PROT_READ | PROT_WRITE;
	void *base;

	region->bytes = is_scattered(region) ? chunks_of(region) * stride_of(region)
					     : bytes_of(region->pages);
	region->file = memfd_create("pollux-pages", MFD_CLOEXEC);
	if (region->file < 0 || ftruncate(region->file, (off_t)bytes_of(region->pages)))
		return false;
	base = mmap(NULL, region->bytes, rights, flags, is_scattered(region) ? -1 : region->file,
		    0);
	if (base == MAP_FAILED)
		return false;
	region->base = base;
	return !is_scattered(region) || map_chunks(region);
}

/* Returns: NULL: no memory */
static struct region *
region_create(ULONG pages, ULONG chunk)
{
	ULONG chunks = (pages + chunk - 1) / chunk;
	struct region *region;

	if (!is_scattering() || chunks > PLX_EX_SCATTER_MAX) {
		chunk = pages;
		chunks = 1;
	}
	region = malloc(sizeof(*region) + chunks * sizeof(region->order[0]));
	if (region == NULL)
		return NULL;
	*region = (struct region){.pages = pages, .chunk = chunk, .file = -1};
	shuffle(region->order, chunks);
	if (!region_map(region)) {
		region_destroy(region);
		return NULL;
	}
	region->account = tag_add(TAG_PAGES, bytes_of(pages));
	pthread_mutex_lock(&lock);
	region->next = regions;
	regions = region;
	pthread_mutex_unlock(&lock);
	return region;
}

/* The lock is held. Returns: NULL: no allocation has it */
static struct region *
region_of(PFN_NUMBER pfn)
{
	for (struct region *at = regions; at; at = at->next)
		if ((SIZE_T)((char *)(pfn << PAGE_SHIFT) - at->base) < at->bytes)
			return at;
	return NULL;
}

/* ---- views ---- */

/* The lock is held. */
static bool
view_fill(char *base, const PFN_NUMBER *pfn, ULONG count)
{
	for (ULONG i = 0; i < count; i++) {
		struct region *region = region_of(pfn[i]);
		ULONG page;

		if (region == NULL ||
		    !page_in_file(region, (const char *)(pfn[i] << PAGE_SHIFT), &page))
			return false;
		if (mmap(base + bytes_of(i), PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, region->file, (off_t)bytes_of(page)) == MAP_FAILED)
			return false;
	}
	return true;
}

static char *
view_create(const PFN_NUMBER *pfn, ULONG count)
{
	struct view *view = malloc(sizeof(*view));
	void *base = mmap(NULL, bytes_of(count), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool made;

	if (view == NULL || base == MAP_FAILED)
		goto failed;
	*view = (struct view){.base = base, .pages = count};
	pthread_mutex_lock(&lock);
	made = view_fill(base, pfn, count);
	if (made) {
		view->account = tag_add(TAG_VIEW, bytes_of(count));
		view->next = views;
		views = view;
	}
	pthread_mutex_unlock(&lock);
	if (made)
		return base;
failed:
	if (base != MAP_FAILED)
		munmap(base, bytes_of(count));
	free(view);
	return NULL;
}

char *
pages_map(const PFN_NUMBER *pfn, ULONG count)
{
	for (ULONG i = 1; i < count; i++)
		if (pfn[i] != pfn[0] + i)
			return view_create(pfn, count);
	return (char *)(pfn[0] << PAGE_SHIFT);
}

void
pages_unmap(const void *address)
{
	struct view **at = &views;
	struct view *view;

	pthread_mutex_lock(&lock);
	while (*at && (SIZE_T)((const char *)address - (*at)->base) >= bytes_of((*at)->pages))
		at = &(*at)->next;
	view = *at;
	if (view)
		*at = view->next;
	pthread_mutex_unlock(&lock);
	if (view == NULL)
		return;
	tag_sub(view->account, bytes_of(view->pages));
	munmap(view->base, bytes_of(view->pages));
	free(view);
}

/* ---- allocations ---- */

static void
describe(PMDL mdl, const struct region *region)
{
	PPFN_NUMBER pfn = MmGetMdlPfnArray(mdl);
	ULONG at[PLX_EX_SCATTER_MAX];

	for (ULONG i = 0; i < chunks_of(region); i++)
		at[region->order[i]] = i;
	MmInitializeMdl(mdl, NULL, bytes_of(region->pages));
	for (ULONG i = 0; i < region->pages; i++)
		pfn[i] = (ULONG_PTR)page_at(region, i, at) >> PAGE_SHIFT;
	mdl->MdlFlags |= MDL_PAGES_LOCKED;
}

/* Pages that have to follow each other; 0: these arguments are wrong. */
static ULONG
chunk_for(ULONG pages, SIZE_T skip, ULONG flags)
{
	if (flags & MM_ALLOCATE_PREFER_CONTIGUOUS)
		return pages;
	if (!(flags & MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS))
		return 1;
	if (skip == 0)
		return pages;
	if (skip < PAGE_SIZE || skip & (skip - 1))
		return 0;
	return skip < bytes_of(pages) ? (ULONG)(skip >> PAGE_SHIFT) : pages;
}

static PMDL
allocate(SIZE_T skip, SIZE_T bytes, ULONG flags, const char *call, const void *caller)
{
	ULONG pages = BYTES_TO_PAGES(bytes);
	ULONG chunk = bytes && bytes <= MAXULONG - PAGE_SIZE ? chunk_for(pages, skip, flags) : 0;
	struct region *region;
	PMDL mdl;

	plx_ke_require(call, DISPATCH_LEVEL);
	if (chunk == 0)
		return NULL;
	mdl = pool_allocate(&(struct pool_request){
		.call = call,
		.caller = caller,
		.bytes = MmSizeOfMdl(NULL, bytes_of(pages)),
		.tag = TAG_MDL,
	});
	region = mdl ? region_create(pages, chunk) : NULL;
	if (region) {
		describe(mdl, region);
		return mdl;
	}
	if (mdl)
		pool_free(call, mdl, TAG_MDL);
	return NULL;
}

PMDL
MmAllocatePagesForMdl(PHYSICAL_ADDRESS low, PHYSICAL_ADDRESS high, PHYSICAL_ADDRESS skip,
		      SIZE_T bytes)
{
	(void)low, (void)high, (void)skip;
	return allocate(0, bytes, 0, "MmAllocatePagesForMdl", __builtin_return_address(0));
}

PMDL
MmAllocatePagesForMdlEx(PHYSICAL_ADDRESS low, PHYSICAL_ADDRESS high, PHYSICAL_ADDRESS skip,
			SIZE_T bytes, MEMORY_CACHING_TYPE cache, ULONG flags)
{
	(void)low, (void)high, (void)cache;
	return allocate((SIZE_T)skip.QuadPart, bytes, flags, "MmAllocatePagesForMdlEx",
			__builtin_return_address(0));
}

VOID
MmFreePagesFromMdl(PMDL mdl)
{
	struct region **at = &regions;
	struct region *region;

	plx_ke_require("MmFreePagesFromMdl", APC_LEVEL);
	if (mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA && plx_ke_checks())
		plx_wdk_stop("MmFreePagesFromMdl was called for the MDL %p, which is mapped",
			     (void *)mdl);
	pthread_mutex_lock(&lock);
	region = mdl->MdlFlags & MDL_PAGES_LOCKED ? region_of(MmGetMdlPfnArray(mdl)[0]) : NULL;
	while (region && *at != region)
		at = &(*at)->next;
	if (region)
		*at = region->next;
	pthread_mutex_unlock(&lock);
	if (region == NULL)
		plx_wdk_stop("MmFreePagesFromMdl was called for the MDL %p, which has no pages "
			     "of MmAllocatePagesForMdl()",
			     (void *)mdl);
	region_destroy(region);
	mdl->MdlFlags &= (CSHORT)~MDL_PAGES_LOCKED;
	mdl->ByteCount = 0;
}

/* ---- contiguous memory ---- */

static PVOID
contiguous(SIZE_T bytes, SIZE_T boundary, const char *call, const void *caller)
{
	SIZE_T alignment = PAGE_SIZE;

	if (bytes == 0 || boundary & (boundary - 1) || (boundary && boundary < bytes))
		return NULL;
	/* Aligned to the next power of two it crosses no multiple of a greater one. */
	while (boundary && alignment < bytes)
		alignment *= 2;
	return pool_allocate(&(struct pool_request){
		.call = call,
		.caller = caller,
		.bytes = bytes,
		.alignment = alignment,
		.tag = TAG_CONTIGUOUS,
	});
}

PVOID
MmAllocateContiguousMemory(SIZE_T bytes, PHYSICAL_ADDRESS highest)
{
	(void)highest;
	return contiguous(bytes, 0, "MmAllocateContiguousMemory", __builtin_return_address(0));
}

PVOID
MmAllocateContiguousMemorySpecifyCache(SIZE_T bytes, PHYSICAL_ADDRESS lowest,
				       PHYSICAL_ADDRESS highest, PHYSICAL_ADDRESS boundary,
				       MEMORY_CACHING_TYPE cache)
{
	(void)lowest, (void)highest, (void)cache;
	return contiguous(bytes, (SIZE_T)boundary.QuadPart,
			  "MmAllocateContiguousMemorySpecifyCache", __builtin_return_address(0));
}

PVOID
MmAllocateNonCachedMemory(SIZE_T bytes)
{
	return contiguous(bytes, 0, "MmAllocateNonCachedMemory", __builtin_return_address(0));
}

VOID
MmFreeContiguousMemory(PVOID memory)
{
	pool_free("MmFreeContiguousMemory", memory, TAG_CONTIGUOUS);
}

VOID
MmFreeContiguousMemorySpecifyCache(PVOID memory, SIZE_T bytes, MEMORY_CACHING_TYPE cache)
{
	(void)bytes, (void)cache;
	pool_free("MmFreeContiguousMemorySpecifyCache", memory, TAG_CONTIGUOUS);
}

VOID
MmFreeNonCachedMemory(PVOID memory, SIZE_T bytes)
{
	(void)bytes;
	pool_free("MmFreeNonCachedMemory", memory, TAG_CONTIGUOUS);
}
