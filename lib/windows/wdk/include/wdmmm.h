/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mm: memory descriptor lists.
 *
 * A process has one address space, so a system address is the address itself, and a page frame
 * number is an address divided by PAGE_SIZE. A page is 4 KiB, whatever the machine's pages are.
 */
#ifndef PLX_WDK_WDMMM_H
#define PLX_WDK_WDMMM_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PAGE_SIZE
#define PAGE_SIZE 0x1000
#endif
#define PAGE_SHIFT 12

#define BYTE_OFFSET(Va) ((ULONG)((ULONG_PTR)(Va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(Va)  ((PVOID)((ULONG_PTR)(Va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
#define BYTES_TO_PAGES(Size) \
	((ULONG)(((ULONG_PTR)(Size) >> PAGE_SHIFT) + (((Size) & (PAGE_SIZE - 1)) != 0)))
#define ROUND_TO_PAGES(Size) (((ULONG_PTR)(Size) + PAGE_SIZE - 1) & ~(ULONG_PTR)(PAGE_SIZE - 1))
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(Va, Size) \
	((ULONG)((BYTE_OFFSET(Va) + (ULONG_PTR)(Size) + (ULONG_PTR)(PAGE_SIZE - 1)) >> PAGE_SHIFT))

/* ---- memory descriptor lists ---- */

/* Describes a buffer that is contiguous at StartVa + ByteOffset; its page frame numbers follow the
 * struct. Next chains descriptions of further buffers. */
typedef struct _MDL {
	struct _MDL *Next;
	CSHORT Size;
	CSHORT MdlFlags;
	struct _EPROCESS *Process;
	PVOID MappedSystemVa;
	PVOID StartVa;
	ULONG ByteCount;
	ULONG ByteOffset;
} MDL, *PMDL;

#define MDL_MAPPED_TO_SYSTEM_VA     0x0001
#define MDL_PAGES_LOCKED            0x0002
#define MDL_SOURCE_IS_NONPAGED_POOL 0x0004
#define MDL_ALLOCATED_FIXED_SIZE    0x0008
#define MDL_PARTIAL                 0x0010
#define MDL_WRITE_OPERATION         0x0080

/* Priorities of mapping; here every mapping is there already. */
typedef enum _MM_PAGE_PRIORITY {
	LowPagePriority = 0,
	NormalPagePriority = 16,
	HighPagePriority = 32,
} MM_PAGE_PRIORITY;
#define MdlMappingNoWrite   0x80000000
#define MdlMappingNoExecute 0x40000000

#define MmGetMdlByteCount(Mdl)      ((Mdl)->ByteCount)
#define MmGetMdlByteOffset(Mdl)     ((Mdl)->ByteOffset)
#define MmGetMdlBaseVa(Mdl)         ((Mdl)->StartVa)
#define MmGetMdlVirtualAddress(Mdl) ((PVOID)((PCHAR)(Mdl)->StartVa + (Mdl)->ByteOffset))
#define MmGetMdlPfnArray(Mdl)       ((PPFN_NUMBER)(void *)((Mdl) + 1))

/** Bytes of an MDL for a buffer, with its page frame numbers. */
SIZE_T MmSizeOfMdl(PVOID Base, SIZE_T Length) PLX_WIN_NAME(MmSizeOfMdl);
/** Describe a buffer in an MDL of MmSizeOfMdl() bytes. It has no page frame numbers yet. */
VOID MmInitializeMdl(PMDL Mdl, PVOID BaseVa, SIZE_T Length) PLX_WIN_NAME(MmInitializeMdl);
/**
 * Allocate an MDL for a buffer, without page frame numbers.
 * @param SecondaryBuffer of an IRP; ignored without one
 * @param Irp             NULL: IRPs have no MDLs here
 * Returns: NULL: no memory, or an IRP was given
 */
PMDL IoAllocateMdl(PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer, BOOLEAN ChargeQuota,
		   PIRP Irp) PLX_WIN_NAME(IoAllocateMdl);
/** Free an MDL of IoAllocateMdl(), not the rest of its chain. */
VOID IoFreeMdl(PMDL Mdl) PLX_WIN_NAME(IoFreeMdl);
/** Fill in the page frame numbers of memory that is always there, as all memory is here. */
VOID MmBuildMdlForNonPagedPool(PMDL MemoryDescriptorList) PLX_WIN_NAME(MmBuildMdlForNonPagedPool);
/** Describe a part of a buffer whose MDL is complete.
 * @param Length 0: up to the end of the buffer */
VOID IoBuildPartialMdl(PMDL SourceMdl, PMDL TargetMdl, PVOID VirtualAddress, ULONG Length)
	PLX_WIN_NAME(IoBuildPartialMdl);
/** The address of the buffer of a complete MDL.
 * Returns: NULL: the MDL has no pages yet */
PVOID MmGetSystemAddressForMdlSafe(PMDL Mdl, ULONG Priority)
	PLX_WIN_NAME(MmGetSystemAddressForMdlSafe);

#ifdef __cplusplus
}
#endif

#endif
