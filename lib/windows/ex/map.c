/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mapping: an address at which an MDL's pages follow each other. Start with map().
 */
#include "ex.h"

/* Returns: NULL: it cannot be mapped */
static PVOID
map(PMDL mdl)
{
	PVOID buffer = MmGetMdlVirtualAddress(mdl);
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(buffer, mdl->ByteCount);
	char *first = pages_map(MmGetMdlPfnArray(mdl), pages);

	return first ? first + mdl->ByteOffset : NULL;
}

static bool
has_pages(const MDL *mdl)
{
	return mdl->MdlFlags & (MDL_PAGES_LOCKED | MDL_PARTIAL);
}

PVOID
MmMapLockedPagesSpecifyCache(PMDL mdl, KPROCESSOR_MODE mode, MEMORY_CACHING_TYPE cache,
			     PVOID requested, ULONG must, ULONG priority)
{
	PVOID address;

	(void)cache, (void)priority;
	plx_ke_require("MmMapLockedPagesSpecifyCache",
		       mode == UserMode ? APC_LEVEL : DISPATCH_LEVEL);
	if (!has_pages(mdl) && plx_ke_checks())
		plx_wdk_stop("MmMapLockedPagesSpecifyCache was called for the MDL %p, whose "
			     "pages are not locked",
			     (void *)mdl);
	address = map(mdl);
	if (address && requested && PAGE_ALIGN(address) != PAGE_ALIGN(requested)) {
		pages_unmap(address);
		address = NULL;
	}
	if (address == NULL && mode == UserMode)
		ExRaiseStatus(STATUS_INSUFFICIENT_RESOURCES);
	if (address == NULL && must)
		plx_wdk_stop("MmMapLockedPagesSpecifyCache cannot map the MDL %p, and must not "
			     "fail",
			     (void *)mdl);
	/* A program's mapping is not the MDL's own. */
	if (address == NULL || mode == UserMode)
		return address;
	mdl->MappedSystemVa = address;
	mdl->MdlFlags |= MDL_MAPPED_TO_SYSTEM_VA;
	if (mdl->MdlFlags & MDL_PARTIAL)
		mdl->MdlFlags |= MDL_PARTIAL_HAS_BEEN_MAPPED;
	return address;
}

PVOID
MmMapLockedPages(PMDL mdl, KPROCESSOR_MODE mode)
{
	return MmMapLockedPagesSpecifyCache(mdl, mode, MmCached, NULL, TRUE, HighPagePriority);
}

VOID
MmUnmapLockedPages(PVOID address, PMDL mdl)
{
	plx_ke_require("MmUnmapLockedPages", DISPATCH_LEVEL);
	if (mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA && mdl->MappedSystemVa == address) {
		mdl->MdlFlags &= (CSHORT) ~(MDL_MAPPED_TO_SYSTEM_VA | MDL_PARTIAL_HAS_BEEN_MAPPED);
		mdl->MappedSystemVa = NULL;
	}
	pages_unmap(address);
}

VOID
MmPrepareMdlForReuse(PMDL mdl)
{
	if (mdl->MdlFlags & MDL_PARTIAL_HAS_BEEN_MAPPED)
		MmUnmapLockedPages(mdl->MappedSystemVa, mdl);
}

PVOID
MmGetSystemAddressForMdlSafe(PMDL mdl, ULONG priority)
{
	if (mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL))
		return mdl->MappedSystemVa;
	if (!has_pages(mdl))
		return NULL;
	return MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE, priority);
}
