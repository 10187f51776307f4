/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lookaside lists: a stack of freed entries, and counts. With the checks on, a kept entry has a
 * mark in its second word, by which one that is freed twice is known; what it held is overwritten,
 * and ASan refuses access to it. Start with entry_allocate().
 */
#include "ex.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum {
	DEPTH = 256, /* entries that a list keeps, as many as a list on Windows may */
	STALE = 0xdf,
};

struct kept {
	SLIST_ENTRY link;
};

_Static_assert(sizeof(struct kept) == 16, "a pointer, and a word that is free");

static ULONG64 *
mark_of(PVOID entry)
{
	return (ULONG64 *)entry + 1;
}

static ULONG64
mark_for(PVOID entry)
{
	return (ULONG64)(uintptr_t)entry ^ UINT64_C(0xc3a5c85c97cb3127);
}

static PVOID
default_allocate(GENERAL_LOOKASIDE *list, const char *call, const void *caller)
{
	return pool_allocate(&(struct pool_request){
		.call = call,
		.caller = caller,
		.bytes = list->Size,
		.tag = list->Tag,
		.is_paged = list->Type & PagedPool,
		.raises = list->Type & POOL_RAISE_IF_ALLOCATION_FAILURE,
	});
}

static void
require(const GENERAL_LOOKASIDE *list, const char *call)
{
	plx_ke_require(call, list->Type & PagedPool ? APC_LEVEL : DISPATCH_LEVEL);
}

static PVOID
entry_allocate(GENERAL_LOOKASIDE *list, const char *call, const void *caller)
{
	PSLIST_ENTRY entry;

	require(list, call);
	__atomic_fetch_add(&list->TotalAllocates, 1, __ATOMIC_RELAXED);
	entry = InterlockedPopEntrySList(&list->ListHead);
	if (entry) {
		ASAN_UNPOISON_MEMORY_REGION(entry, list->Size);
		*mark_of(entry) = 0;
		return entry;
	}
	__atomic_fetch_add(&list->AllocateMisses, 1, __ATOMIC_RELAXED);
	if (list->Allocate == NULL)
		return default_allocate(list, call, caller);
	if (list->is_ex)
		return list->AllocateEx(list->Type, list->Size, list->Tag,
					(PLOOKASIDE_LIST_EX)list);
	return list->Allocate(list->Type, list->Size, list->Tag);
}

static void
entry_release(GENERAL_LOOKASIDE *list, PVOID entry, const char *call)
{
	if (list->Free == NULL)
		pool_free(call, entry, list->Tag);
	else if (list->is_ex)
		list->FreeEx(entry, (PLOOKASIDE_LIST_EX)list);
	else
		list->Free(entry);
}

static void
entry_free(GENERAL_LOOKASIDE *list, PVOID entry, const char *call)
{
	require(list, call);
	__atomic_fetch_add(&list->TotalFrees, 1, __ATOMIC_RELAXED);
	if (plx_ke_checks() && *mark_of(entry) == mark_for(entry))
		plx_wdk_stop("%s was called for %p, which was freed before", call, entry);
	if (QueryDepthSList(&list->ListHead) >= list->Depth) {
		__atomic_fetch_add(&list->FreeMisses, 1, __ATOMIC_RELAXED);
		entry_release(list, entry, call);
		return;
	}
	if (plx_ke_checks()) {
		*mark_of(entry) = mark_for(entry);
		memset((struct kept *)entry + 1, STALE, list->Size - sizeof(struct kept));
		ASAN_POISON_MEMORY_REGION((struct kept *)entry + 1,
					  list->Size - sizeof(struct kept));
	}
	InterlockedPushEntrySList(&list->ListHead, entry);
}

static void
list_flush(GENERAL_LOOKASIDE *list, const char *call)
{
	PSLIST_ENTRY entry;

	require(list, call);
	while ((entry = InterlockedPopEntrySList(&list->ListHead))) {
		ASAN_UNPOISON_MEMORY_REGION(entry, list->Size);
		*mark_of(entry) = 0;
		entry_release(list, entry, call);
	}
}

static void
list_init(GENERAL_LOOKASIDE *list, ULONG type, SIZE_T size, ULONG tag)
{
	*list = (GENERAL_LOOKASIDE){
		.Depth = DEPTH,
		.MaximumDepth = DEPTH,
		.Type = (POOL_TYPE)type,
		.Tag = tag,
		.Size = (ULONG)(size < sizeof(struct kept) ? sizeof(struct kept) : size),
	};
	InitializeSListHead(&list->ListHead);
}

VOID
ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
				PFREE_FUNCTION release, ULONG flags, SIZE_T size, ULONG tag,
				USHORT depth)
{
	(void)depth;
	list_init(&list->L, NonPagedPool | flags, size, tag);
	list->L.Allocate = allocate;
	list->L.Free = release;
}

VOID
ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
			       PFREE_FUNCTION release, ULONG flags, SIZE_T size, ULONG tag,
			       USHORT depth)
{
	(void)depth;
	list_init(&list->L, PagedPool | flags, size, tag);
	list->L.Allocate = allocate;
	list->L.Free = release;
}

NTSTATUS
ExInitializeLookasideListEx(PLOOKASIDE_LIST_EX list, PALLOCATE_FUNCTION_EX allocate,
			    PFREE_FUNCTION_EX release, POOL_TYPE type, ULONG flags, SIZE_T size,
			    ULONG tag, USHORT depth)
{
	ULONG known =
		EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL | EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE;
	ULONG bits = 0;

	if (((ULONG)type & ~(ULONG)(PagedPool | NonPagedPoolCacheAligned | POOL_NX_ALLOCATION)))
		return STATUS_INVALID_PARAMETER_4;
	if (flags & ~known || flags == known)
		return STATUS_INVALID_PARAMETER_5;
	if (depth)
		return STATUS_INVALID_PARAMETER_8;
	if (flags & EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL)
		bits |= POOL_RAISE_IF_ALLOCATION_FAILURE;
	if (flags & EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE)
		bits |= POOL_QUOTA_FAIL_INSTEAD_OF_RAISE;
	list_init(&list->L, (ULONG)type | bits, size, tag);
	list->L.AllocateEx = allocate;
	list->L.FreeEx = release;
	list->L.is_ex = TRUE;
	return STATUS_SUCCESS;
}

#define CALLER __builtin_return_address(0)

PVOID
ExAllocateFromNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list)
{
	return entry_allocate(&list->L, "ExAllocateFromNPagedLookasideList", CALLER);
}

PVOID
ExAllocateFromPagedLookasideList(PPAGED_LOOKASIDE_LIST list)
{
	return entry_allocate(&list->L, "ExAllocateFromPagedLookasideList", CALLER);
}

PVOID
ExAllocateFromLookasideListEx(PLOOKASIDE_LIST_EX list)
{
	return entry_allocate(&list->L, "ExAllocateFromLookasideListEx", CALLER);
}

VOID
ExFreeToNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PVOID entry)
{
	entry_free(&list->L, entry, "ExFreeToNPagedLookasideList");
}

VOID
ExFreeToPagedLookasideList(PPAGED_LOOKASIDE_LIST list, PVOID entry)
{
	entry_free(&list->L, entry, "ExFreeToPagedLookasideList");
}

VOID
ExFreeToLookasideListEx(PLOOKASIDE_LIST_EX list, PVOID entry)
{
	entry_free(&list->L, entry, "ExFreeToLookasideListEx");
}

VOID
ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list)
{
	list_flush(&list->L, "ExDeleteNPagedLookasideList");
}

VOID
ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST list)
{
	list_flush(&list->L, "ExDeletePagedLookasideList");
}

VOID
ExDeleteLookasideListEx(PLOOKASIDE_LIST_EX list)
{
	list_flush(&list->L, "ExDeleteLookasideListEx");
}

VOID
ExFlushLookasideListEx(PLOOKASIDE_LIST_EX list)
{
	list_flush(&list->L, "ExFlushLookasideListEx");
}
