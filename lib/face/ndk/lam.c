/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logical addresses of memory, from MDLs. One process has one address space, so a page's logical
 * address is its address: building a mapping neither waits nor fails for want of resources. The
 * virtual addresses of MDLs are never accessed. Start with ndk_build_lam().
 */
#include <ntstatus.h>

#include "ndk.h"

_Static_assert(sizeof(NDK_LOGICAL_ADDRESS) == sizeof(uint64_t), "a logical address is a number");

/* Flags of an MDL that has page frame numbers. */
#define HAS_PAGES (MDL_PAGES_LOCKED | MDL_SOURCE_IS_NONPAGED_POOL | MDL_PARTIAL)

/* A walk along the pages of a chain of MDLs. */
struct walk {
	uint64_t next;  /* the virtual address that must follow */
	uint64_t pages; /* so far */
	uint64_t last;  /* the last page's frame number */
};

/* An MDL that begins inside a page begins in the last page of the one before.
 * @param page NULL, or where the addresses of all pages go
 * Returns: false: a page is missing, or is another */
static bool
walk_pages(struct walk *walk, MDL *mdl, uint64_t bytes, uint64_t *page)
{
	const PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl);
	uint64_t count = (BYTE_OFFSET(walk->next) + bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
	bool begun = walk->pages > 0 && BYTE_OFFSET(walk->next) != 0;

	if (!(mdl->MdlFlags & HAS_PAGES) || (begun && pfn[0] != walk->last))
		return false;
	for (uint64_t i = begun; i < count; i++) {
		if (pfn[i] == 0 || pfn[i] > UINT64_MAX >> PAGE_SHIFT)
			return false;
		if (page != NULL)
			page[walk->pages] = (uint64_t)pfn[i] << PAGE_SHIFT;
		walk->last = pfn[i];
		walk->pages++;
	}
	return true;
}

static bool
walk_chain(struct walk *walk, MDL *mdl, uint64_t length, uint64_t *page)
{
	walk->next = (uintptr_t)MmGetMdlVirtualAddress(mdl);
	for (; mdl != NULL && length > 0; mdl = mdl->Next) {
		uint64_t bytes = mdl->ByteCount < length ? mdl->ByteCount : length;

		if ((uintptr_t)MmGetMdlVirtualAddress(mdl) != walk->next)
			return false;
		if (bytes > 0 && !walk_pages(walk, mdl, bytes, page))
			return false;
		walk->next += bytes;
		length -= bytes;
	}
	return length == 0;
}

/* Are the pages where the virtual addresses are? */
static bool
is_plain(MDL *mdl, uint64_t length)
{
	for (; length > 0; mdl = mdl->Next) {
		uint64_t bytes = mdl->ByteCount < length ? mdl->ByteCount : length;
		uint64_t first = (uintptr_t)mdl->StartVa >> PAGE_SHIFT;
		uint64_t count = (mdl->ByteOffset + bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;

		for (uint64_t i = 0; bytes > 0 && i < count; i++)
			if (MmGetMdlPfnArray(mdl)[i] != first + i)
				return false;
		length -= bytes;
	}
	return true;
}

NTSTATUS
ndk_mdl_range(MDL *mdl, SIZE_T length, struct ndk_range *range)
{
	struct walk walk = {0};

	if (mdl == NULL || length == 0 ||
	    length - 1 > UINT64_MAX - (uintptr_t)MmGetMdlVirtualAddress(mdl) ||
	    !walk_chain(&walk, mdl, length, NULL))
		return STATUS_INVALID_PARAMETER;
	*range = (struct ndk_range){
		.va = MmGetMdlVirtualAddress(mdl),
		.pages = walk.pages,
		.plain = is_plain(mdl, length),
	};
	return STATUS_SUCCESS;
}

void
ndk_mdl_pages(MDL *mdl, SIZE_T length, uint64_t *page)
{
	struct walk walk = {0};

	(void)walk_chain(&walk, mdl, length, page);
}

NTSTATUS
ndk_build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length, NDK_FN_REQUEST_COMPLETION done,
	      PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam, ULONG *lam_bytes, ULONG *fbo)
{
	struct ndk_range range;
	NTSTATUS status;
	uint64_t bytes;
	ULONG given;

	(void)adapter, (void)done, (void)context;
	if (lam_bytes == NULL || fbo == NULL)
		return STATUS_INVALID_PARAMETER;
	status = ndk_mdl_range(mdl, length, &range);
	if (status != STATUS_SUCCESS)
		return status;
	bytes = offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) +
		range.pages * sizeof(NDK_LOGICAL_ADDRESS);
	if (bytes > MAXULONG)
		return STATUS_INVALID_PARAMETER;
	given = *lam_bytes;
	*lam_bytes = (ULONG)bytes;
	if (lam == NULL || given < bytes)
		return STATUS_BUFFER_TOO_SMALL;
	lam->AdapterContext = NULL;
	lam->AdapterPageCount = (ULONG)range.pages;
	ndk_mdl_pages(mdl, length, (uint64_t *)(void *)lam->AdapterPageArray);
	*fbo = BYTE_OFFSET(range.va);
	return STATUS_SUCCESS;
}

VOID
ndk_release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *lam)
{
	(void)adapter, (void)lam;
}
