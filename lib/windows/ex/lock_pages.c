/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locking: finding out that a buffer is there, and what its pages are. Nothing keeps the pages,
 * since a program's memory has no other address here. Start with MmProbeAndLockPages().
 */
#include "ex.h"

VOID
MmProbeAndLockPages(PMDL mdl, KPROCESSOR_MODE mode, LOCK_OPERATION operation)
{
	const CSHORT there = MDL_PAGES_LOCKED | MDL_SOURCE_IS_NONPAGED_POOL | MDL_PARTIAL;
	PVOID start = MmGetMdlVirtualAddress(mdl);
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(start, mdl->ByteCount);
	PPFN_NUMBER pfn = MmGetMdlPfnArray(mdl);

	(void)mode;
	plx_ke_require("MmProbeAndLockPages", DISPATCH_LEVEL);
	if (mdl->MdlFlags & there && plx_ke_checks())
		plx_wdk_stop("MmProbeAndLockPages was called for the MDL %p, which has its "
			     "pages already",
			     (void *)mdl);
	if (!memory_is_there(start, mdl->ByteCount, operation != IoReadAccess))
		ExRaiseAccessViolation();
	for (ULONG i = 0; i < pages; i++)
		pfn[i] = ((ULONG_PTR)mdl->StartVa >> PAGE_SHIFT) + i;
	mdl->Process = IoGetCurrentProcess();
	mdl->MdlFlags |= MDL_PAGES_LOCKED;
	if (operation != IoReadAccess)
		mdl->MdlFlags |= MDL_WRITE_OPERATION;
}

VOID
MmUnlockPages(PMDL mdl)
{
	plx_ke_require("MmUnlockPages", DISPATCH_LEVEL);
	if (!(mdl->MdlFlags & MDL_PAGES_LOCKED) && plx_ke_checks())
		plx_wdk_stop("MmUnlockPages was called for the MDL %p, whose pages are not "
			     "locked",
			     (void *)mdl);
	if (mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA)
		MmUnmapLockedPages(mdl->MappedSystemVa, mdl);
	mdl->MdlFlags &= (CSHORT) ~(MDL_PAGES_LOCKED | MDL_WRITE_OPERATION);
	mdl->Process = NULL;
}
