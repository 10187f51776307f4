/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory descriptor lists: what a buffer's pages are. It never accesses the buffer. Start with
 * IoAllocateMdl(). Locking, mapping and pages without an address are in the room ex, since they
 * need the pool.
 */
#include <wdm.h>

#include <stdlib.h>

SIZE_T
MmSizeOfMdl(PVOID base, SIZE_T length)
{
	return sizeof(MDL) + ADDRESS_AND_SIZE_TO_SPAN_PAGES(base, length) * sizeof(PFN_NUMBER);
}

VOID
MmInitializeMdl(PMDL mdl, PVOID base, SIZE_T length)
{
	/* As in Windows, 16 bits must do; nothing reads them for a large buffer. */
	*mdl = (MDL){
		.Size = (CSHORT)MmSizeOfMdl(base, length),
		.StartVa = PAGE_ALIGN(base),
		.ByteOffset = BYTE_OFFSET(base),
		.ByteCount = (ULONG)length,
	};
}

PMDL
IoAllocateMdl(PVOID base, ULONG length, BOOLEAN secondary, BOOLEAN charge, PIRP irp)
{
	PMDL mdl = malloc(MmSizeOfMdl(base, length)), *end;

	(void)charge;
	if (mdl == NULL)
		return NULL;
	MmInitializeMdl(mdl, base, length);
	if (irp == NULL)
		return mdl;
	end = &irp->MdlAddress;
	while (secondary && *end != NULL)
		end = &(*end)->Next;
	*end = mdl;
	return mdl;
}

VOID
IoFreeMdl(PMDL mdl)
{
	free(mdl);
}

VOID
MmBuildMdlForNonPagedPool(PMDL mdl)
{
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(MmGetMdlVirtualAddress(mdl), mdl->ByteCount);
	PPFN_NUMBER pfn = MmGetMdlPfnArray(mdl);

	for (ULONG i = 0; i < pages; i++)
		pfn[i] = ((ULONG_PTR)mdl->StartVa >> PAGE_SHIFT) + i;
	mdl->MappedSystemVa = MmGetMdlVirtualAddress(mdl);
	mdl->MdlFlags |= MDL_SOURCE_IS_NONPAGED_POOL;
}

VOID
IoBuildPartialMdl(PMDL source, PMDL target, PVOID address, ULONG length)
{
	ULONG_PTR offset = (ULONG_PTR)address - (ULONG_PTR)MmGetMdlVirtualAddress(source);
	PPFN_NUMBER from = MmGetMdlPfnArray(source);
	PPFN_NUMBER to = MmGetMdlPfnArray(target);
	const CSHORT kept = MDL_SOURCE_IS_NONPAGED_POOL | MDL_WRITE_OPERATION;
	ULONG first, pages;

	if (length == 0)
		length = source->ByteCount - (ULONG)offset;
	first = (ULONG)(((ULONG_PTR)address - (ULONG_PTR)source->StartVa) >> PAGE_SHIFT);
	pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(address, length);
	target->StartVa = PAGE_ALIGN(address);
	target->ByteOffset = BYTE_OFFSET(address);
	target->ByteCount = length;
	target->MdlFlags |= MDL_PARTIAL | (source->MdlFlags & kept);
	/* What the source's mapping is may end before the part does. */
	if (target->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL)
		target->MappedSystemVa = (PCHAR)source->MappedSystemVa + offset;
	for (ULONG i = 0; i < pages; i++)
		to[i] = from[first + i];
}

NTSTATUS
MmAdvanceMdl(PMDL mdl, ULONG bytes)
{
	PPFN_NUMBER pfn = MmGetMdlPfnArray(mdl);
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(MmGetMdlVirtualAddress(mdl), mdl->ByteCount);
	ULONG passed = (mdl->ByteOffset + bytes) >> PAGE_SHIFT;

	if (bytes > mdl->ByteCount)
		return STATUS_INVALID_PARAMETER_2;
	if (passed < pages)
		memmove(pfn, pfn + passed, (pages - passed) * sizeof(*pfn));
	mdl->StartVa = (PCHAR)mdl->StartVa + ((ULONG_PTR)passed << PAGE_SHIFT);
	mdl->ByteOffset = BYTE_OFFSET(mdl->ByteOffset + bytes);
	mdl->ByteCount -= bytes;
	if (mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL))
		mdl->MappedSystemVa = (PCHAR)mdl->MappedSystemVa + bytes;
	return STATUS_SUCCESS;
}
