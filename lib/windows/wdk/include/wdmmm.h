/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mm: memory descriptor lists, pages, and what is at an address.
 *
 * A process has one address space, so a system address is the address itself, a physical address is
 * the address, and a page frame number is an address divided by PAGE_SIZE. A page is 4 KiB,
 * whatever the machine's pages are. Limits of physical addresses are ignored. Locking pages finds
 * out that they are there, and does not keep them from being swapped out or unmapped.
 *
 * With POLLUX_SCATTER=1 in the environment the pages of MmAllocatePagesForMdl() do not follow each
 * other, as on Windows they need not; else they do.
 * Threads: every call from any thread. Tests: tests/unit/windows/wdk/mdl.c,
 * tests/unit/windows/ex/lock.c, tests/unit/windows/ex/pages.c
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
#define MDL_PARTIAL_HAS_BEEN_MAPPED 0x0020
#define MDL_IO_PAGE_READ            0x0040
#define MDL_WRITE_OPERATION         0x0080
#define MDL_IO_SPACE                0x0800
#define MDL_NETWORK_HEADER          0x1000
#define MDL_MAPPING_CAN_FAIL        0x2000

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
 * @param SecondaryBuffer TRUE: it goes to the end of the request's chain; FALSE: it is the chain
 * @param Irp             NULL, or the request whose buffer it describes
 * Returns: NULL: no memory
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
/** Move the start of a buffer, whose pages are locked or always there.
 * Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER_2 (more bytes than it has) */
NTSTATUS MmAdvanceMdl(PMDL Mdl, ULONG NumberOfBytes) PLX_WIN_NAME(MmAdvanceMdl);

/* ---- locked pages ---- */

typedef enum _LOCK_OPERATION {
	IoReadAccess,
	IoWriteAccess,
	IoModifyAccess,
} LOCK_OPERATION;

typedef enum _MEMORY_CACHING_TYPE {
	MmNonCached,
	MmCached,
	MmWriteCombined,
	MmHardwareCoherentCached,
	MmNonCachedUnordered,
	MmUSWCCached,
	MmMaximumCacheType,
	MmNotMapped = -1,
} MEMORY_CACHING_TYPE;

/**
 * Find out that all of a buffer is there, and writable unless it is IoReadAccess, and fill in its
 * page frame numbers.
 *
 * @param AccessMode either; there is one address space
 * Errors: raises STATUS_ACCESS_VIOLATION, and nothing has changed
 */
VOID MmProbeAndLockPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
			 LOCK_OPERATION Operation) PLX_WIN_NAME(MmProbeAndLockPages);
/** Undo it, and MmMapLockedPages() as well. */
VOID MmUnlockPages(PMDL MemoryDescriptorList) PLX_WIN_NAME(MmUnlockPages);
/**
 * Map pages so that they follow each other. Where they do already this is their own address.
 *
 * @param CacheType         makes no difference
 * @param RequestedAddress  NULL: anywhere, or the address that results anyway
 * @param BugCheckOnFailure TRUE: end the process with a sentence, rather than return NULL
 * @param Priority          makes no difference
 * Returns: NULL, or, for UserMode, raises STATUS_INSUFFICIENT_RESOURCES: no memory;
 * RequestedAddress; pages that do not follow each other and are not of MmAllocatePagesForMdl()
 */
PVOID MmMapLockedPagesSpecifyCache(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
				   MEMORY_CACHING_TYPE CacheType, PVOID RequestedAddress,
				   ULONG BugCheckOnFailure, ULONG Priority)
	PLX_WIN_NAME(MmMapLockedPagesSpecifyCache);
PVOID MmMapLockedPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode)
	PLX_WIN_NAME(MmMapLockedPages);
VOID MmUnmapLockedPages(PVOID BaseAddress, PMDL MemoryDescriptorList)
	PLX_WIN_NAME(MmUnmapLockedPages);
/** Undo the mapping of a part, before IoBuildPartialMdl() describes another one. */
VOID MmPrepareMdlForReuse(PMDL Mdl) PLX_WIN_NAME(MmPrepareMdlForReuse);
/** The address of the buffer of a complete MDL, whose pages it maps where they do not follow each
 * other.
 * Returns: NULL: the MDL has no pages yet; no memory */
PVOID MmGetSystemAddressForMdlSafe(PMDL Mdl, ULONG Priority)
	PLX_WIN_NAME(MmGetSystemAddressForMdlSafe);
/** The same, for drivers that expect no failure. */
#define MmGetSystemAddressForMdl(Mdl) MmGetSystemAddressForMdlSafe((Mdl), HighPagePriority)

/* ---- pages ---- */

#define MM_DONT_ZERO_ALLOCATION               0x00000001
#define MM_ALLOCATE_FROM_LOCAL_NODE_ONLY      0x00000002
#define MM_ALLOCATE_FULLY_REQUIRED            0x00000004
#define MM_ALLOCATE_NO_WAIT                   0x00000008
#define MM_ALLOCATE_PREFER_CONTIGUOUS         0x00000010
#define MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS 0x00000020
#define MM_ALLOCATE_FAST_LARGE_PAGES          0x00000040
#define MM_ALLOCATE_TRIM_IF_NECESSARY         0x00000080

/**
 * Allocate pages of zeros, locked, without an address: MmGetSystemAddressForMdlSafe() maps them.
 * MmFreePagesFromMdl() and then ExFreePool(), for the MDL, free them.
 *
 * @param SkipBytes  where contiguous chunks begin, with MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS: the
 *                   length of one, a power of two and at least a page; else ignored
 * @param TotalBytes below 4 GiB
 * Returns: all of the pages; NULL: no memory
 */
PMDL MmAllocatePagesForMdl(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
			   PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes)
	PLX_WIN_NAME(MmAllocatePagesForMdl);
/** @param Flags MM_...; those that are not said to matter above or below make no difference.
 *  MM_ALLOCATE_PREFER_CONTIGUOUS: the pages follow each other in any case */
PMDL MmAllocatePagesForMdlEx(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
			     PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes,
			     MEMORY_CACHING_TYPE CacheType, ULONG Flags)
	PLX_WIN_NAME(MmAllocatePagesForMdlEx);
/** The MDL is not mapped any more. */
VOID MmFreePagesFromMdl(PMDL MemoryDescriptorList) PLX_WIN_NAME(MmFreePagesFromMdl);

/** Returns: NULL: no memory. It begins a page, and its content is anything */
PVOID MmAllocateContiguousMemory(SIZE_T NumberOfBytes, PHYSICAL_ADDRESS HighestAcceptableAddress)
	PLX_WIN_NAME(MmAllocateContiguousMemory);
/** @param BoundaryAddressMultiple 0, or a power of two of which it crosses no multiple, at least
 *  NumberOfBytes */
PVOID MmAllocateContiguousMemorySpecifyCache(SIZE_T NumberOfBytes,
					     PHYSICAL_ADDRESS LowestAcceptableAddress,
					     PHYSICAL_ADDRESS HighestAcceptableAddress,
					     PHYSICAL_ADDRESS BoundaryAddressMultiple,
					     MEMORY_CACHING_TYPE CacheType)
	PLX_WIN_NAME(MmAllocateContiguousMemorySpecifyCache);
VOID MmFreeContiguousMemory(PVOID BaseAddress) PLX_WIN_NAME(MmFreeContiguousMemory);
VOID MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
					MEMORY_CACHING_TYPE CacheType)
	PLX_WIN_NAME(MmFreeContiguousMemorySpecifyCache);
/** The memory is cached as any other. */
PVOID MmAllocateNonCachedMemory(SIZE_T NumberOfBytes) PLX_WIN_NAME(MmAllocateNonCachedMemory);
VOID MmFreeNonCachedMemory(PVOID BaseAddress, SIZE_T NumberOfBytes)
	PLX_WIN_NAME(MmFreeNonCachedMemory);

/* ---- addresses ---- */

PHYSICAL_ADDRESS MmGetPhysicalAddress(PVOID BaseAddress) PLX_WIN_NAME(MmGetPhysicalAddress);
/** Returns: whether a read there succeeds, for as long as nobody unmaps it */
BOOLEAN MmIsAddressValid(PVOID VirtualAddress) PLX_WIN_NAME(MmIsAddressValid);
/**
 * Check where a buffer of a program lies. As on Windows this reads nothing: an access later may
 * raise STATUS_ACCESS_VIOLATION all the same.
 *
 * @param Length    0: nothing is checked
 * @param Alignment 1, 2, 4, 8 or 16
 * Errors: raises STATUS_DATATYPE_MISALIGNMENT; STATUS_ACCESS_VIOLATION (beyond the addresses of
 * programs)
 */
VOID ProbeForRead(const volatile VOID *Address, SIZE_T Length, ULONG Alignment)
	PLX_WIN_NAME(ProbeForRead);
/** The same, and that all of it may be written to at this moment. */
VOID ProbeForWrite(volatile VOID *Address, SIZE_T Length, ULONG Alignment)
	PLX_WIN_NAME(ProbeForWrite);

#ifdef __cplusplus
}
#endif

#endif
