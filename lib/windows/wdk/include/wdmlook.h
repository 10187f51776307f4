/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: lookaside lists, which keep freed entries of one size for the next allocation. They keep up
 * to 256. A list is deleted after all of its entries have been freed to it. An entry that is freed
 * twice ends the process with a sentence, if the checks are on.
 * Threads: every call from any thread, but initialization and deletion. Tests:
 * tests/unit/windows/ex/lookaside.c
 */
#ifndef PLX_WDK_WDMLOOK_H
#define PLX_WDK_WDMLOOK_H

#include "wdmpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _LOOKASIDE_LIST_EX LOOKASIDE_LIST_EX, *PLOOKASIDE_LIST_EX;

typedef PVOID ALLOCATE_FUNCTION(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
typedef ALLOCATE_FUNCTION *PALLOCATE_FUNCTION;
typedef VOID FREE_FUNCTION(PVOID Buffer);
typedef FREE_FUNCTION *PFREE_FUNCTION;
typedef PVOID ALLOCATE_FUNCTION_EX(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
				   PLOOKASIDE_LIST_EX Lookaside);
typedef ALLOCATE_FUNCTION_EX *PALLOCATE_FUNCTION_EX;
typedef VOID FREE_FUNCTION_EX(PVOID Buffer, PLOOKASIDE_LIST_EX Lookaside);
typedef FREE_FUNCTION_EX *PFREE_FUNCTION_EX;

/* The depth, the type, the tag and the size are as in Windows; everything is the library's. */
typedef struct _GENERAL_LOOKASIDE {
	SLIST_HEADER ListHead;
	USHORT Depth;
	USHORT MaximumDepth;
	ULONG TotalAllocates;
	ULONG AllocateMisses;
	ULONG TotalFrees;
	ULONG FreeMisses;
	POOL_TYPE Type;
	ULONG Tag;
	ULONG Size;
	__extension__ union {
		PALLOCATE_FUNCTION_EX AllocateEx;
		PALLOCATE_FUNCTION Allocate;
	};
	__extension__ union {
		PFREE_FUNCTION_EX FreeEx;
		PFREE_FUNCTION Free;
	};
	ULONG is_ex;
} GENERAL_LOOKASIDE, *PGENERAL_LOOKASIDE;

typedef struct _NPAGED_LOOKASIDE_LIST {
	GENERAL_LOOKASIDE L;
} NPAGED_LOOKASIDE_LIST, *PNPAGED_LOOKASIDE_LIST;

typedef struct _PAGED_LOOKASIDE_LIST {
	GENERAL_LOOKASIDE L;
} PAGED_LOOKASIDE_LIST, *PPAGED_LOOKASIDE_LIST;

struct _LOOKASIDE_LIST_EX {
	GENERAL_LOOKASIDE L;
};

#define EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL 0x00000001UL
#define EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE 0x00000002UL

/**
 * Make an empty list. It is aligned to 16 bytes.
 *
 * @param Allocate NULL: ExAllocatePoolWithTag()
 * @param Free     NULL: ExFreePool()
 * @param Flags    0, POOL_NX_ALLOCATION, POOL_RAISE_IF_ALLOCATION_FAILURE
 * @param Size     of an entry; a smaller one than an SLIST_ENTRY gets that much
 * @param Depth    0
 */
VOID ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside, PALLOCATE_FUNCTION Allocate,
				     PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size, ULONG Tag,
				     USHORT Depth) PLX_WIN_NAME(ExInitializeNPagedLookasideList);
VOID ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside)
	PLX_WIN_NAME(ExDeleteNPagedLookasideList);
/** Returns: NULL: no memory. Its content is anything */
PVOID ExAllocateFromNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside)
	PLX_WIN_NAME(ExAllocateFromNPagedLookasideList);
VOID ExFreeToNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside, PVOID Entry)
	PLX_WIN_NAME(ExFreeToNPagedLookasideList);

VOID ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside, PALLOCATE_FUNCTION Allocate,
				    PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size, ULONG Tag,
				    USHORT Depth) PLX_WIN_NAME(ExInitializePagedLookasideList);
VOID ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside)
	PLX_WIN_NAME(ExDeletePagedLookasideList);
PVOID ExAllocateFromPagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside)
	PLX_WIN_NAME(ExAllocateFromPagedLookasideList);
VOID ExFreeToPagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside, PVOID Entry)
	PLX_WIN_NAME(ExFreeToPagedLookasideList);

/**
 * @param Flags 0 or one of EX_LOOKASIDE_LIST_EX_FLAGS_...
 * @param Depth 0
 * Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER_4 (a type with other bits than
 * POOL_NX_ALLOCATION), STATUS_INVALID_PARAMETER_5 (flags), STATUS_INVALID_PARAMETER_8 (depth)
 */
NTSTATUS ExInitializeLookasideListEx(PLOOKASIDE_LIST_EX Lookaside, PALLOCATE_FUNCTION_EX Allocate,
				     PFREE_FUNCTION_EX Free, POOL_TYPE PoolType, ULONG Flags,
				     SIZE_T Size, ULONG Tag, USHORT Depth)
	PLX_WIN_NAME(ExInitializeLookasideListEx);
VOID ExDeleteLookasideListEx(PLOOKASIDE_LIST_EX Lookaside) PLX_WIN_NAME(ExDeleteLookasideListEx);
/** Free the entries that the list keeps. */
VOID ExFlushLookasideListEx(PLOOKASIDE_LIST_EX Lookaside) PLX_WIN_NAME(ExFlushLookasideListEx);
PVOID ExAllocateFromLookasideListEx(PLOOKASIDE_LIST_EX Lookaside)
	PLX_WIN_NAME(ExAllocateFromLookasideListEx);
VOID ExFreeToLookasideListEx(PLOOKASIDE_LIST_EX Lookaside, PVOID Entry)
	PLX_WIN_NAME(ExFreeToLookasideListEx);

#ifdef __cplusplus
}
#endif

#endif
