/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of the pool: what each of their arguments asks for. Start with by_type().
 */
#include "ex.h"

#define CALLER __builtin_return_address(0)

enum {
	NO_TAG = 'N' | 'o' << 8 | 'n' << 16 | 'e' << 24, /* as Windows counts what has none */
	QUOTA = 1,
	ZEROED = 2,
};

/* @param how QUOTA, ZEROED */
static PVOID
by_type(const char *call, const void *caller, ULONG type, SIZE_T bytes, ULONG tag, int how)
{
	bool raises = type & POOL_RAISE_IF_ALLOCATION_FAILURE ||
		      (how & QUOTA && !(type & POOL_QUOTA_FAIL_INSTEAD_OF_RAISE));

	return pool_allocate(&(struct pool_request){
		.call = call,
		.caller = caller,
		.bytes = bytes,
		.tag = tag,
		.is_paged = type & PagedPool,
		.alignment = type & NonPagedPoolCacheAligned ? POOL_LINE : 0,
		.is_zeroed = how & ZEROED || type & POOL_ZERO_ALLOCATION,
		.raises = raises,
	});
}

PVOID
ExAllocatePool(POOL_TYPE type, SIZE_T bytes)
{
	return by_type("ExAllocatePool", CALLER, type, bytes, NO_TAG, 0);
}

PVOID
ExAllocatePoolWithTag(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolWithTag", CALLER, type, bytes, tag, 0);
}

PVOID
ExAllocatePoolWithTagPriority(POOL_TYPE type, SIZE_T bytes, ULONG tag, EX_POOL_PRIORITY priority)
{
	(void)priority;
	return by_type("ExAllocatePoolWithTagPriority", CALLER, type, bytes, tag, 0);
}

PVOID
ExAllocatePoolWithQuota(POOL_TYPE type, SIZE_T bytes)
{
	return by_type("ExAllocatePoolWithQuota", CALLER, type, bytes, NO_TAG, QUOTA);
}

PVOID
ExAllocatePoolWithQuotaTag(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolWithQuotaTag", CALLER, type, bytes, tag, QUOTA);
}

PVOID
ExAllocatePoolZero(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolZero", CALLER, type, bytes, tag, ZEROED);
}

PVOID
ExAllocatePoolUninitialized(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolUninitialized", CALLER, type, bytes, tag, 0);
}

PVOID
ExAllocatePoolQuotaZero(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolQuotaZero", CALLER, type, bytes, tag, QUOTA | ZEROED);
}

PVOID
ExAllocatePoolQuotaUninitialized(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
	return by_type("ExAllocatePoolQuotaUninitialized", CALLER, type, bytes, tag, QUOTA);
}

PVOID
ExAllocatePoolPriorityZero(POOL_TYPE type, SIZE_T bytes, ULONG tag, EX_POOL_PRIORITY priority)
{
	(void)priority;
	return by_type("ExAllocatePoolPriorityZero", CALLER, type, bytes, tag, ZEROED);
}

PVOID
ExAllocatePoolPriorityUninitialized(POOL_TYPE type, SIZE_T bytes, ULONG tag,
				    EX_POOL_PRIORITY priority)
{
	(void)priority;
	return by_type("ExAllocatePoolPriorityUninitialized", CALLER, type, bytes, tag, 0);
}

/* Flags that a caller may not be without are refused if they are unknown. */
static bool
are_allowed(POOL_FLAGS flags, SIZE_T bytes, ULONG tag)
{
	const POOL_FLAGS kinds =
		POOL_FLAG_NON_PAGED | POOL_FLAG_NON_PAGED_EXECUTE | POOL_FLAG_PAGED;
	const POOL_FLAGS known = kinds | POOL_FLAG_USE_QUOTA | POOL_FLAG_UNINITIALIZED |
				 POOL_FLAG_SESSION | POOL_FLAG_CACHE_ALIGNED |
				 POOL_FLAG_RAISE_ON_FAILURE;
	POOL_FLAGS kind = flags & kinds;

	return kind != 0 && (kind & (kind - 1)) == 0 && bytes != 0 && tag != 0 &&
	       (flags & (POOL_FLAG_OPTIONAL_START - 1) & ~known) == 0;
}

static PVOID
by_flags(const char *call, const void *caller, POOL_FLAGS flags, SIZE_T bytes, ULONG tag)
{
	bool raises = flags & POOL_FLAG_RAISE_ON_FAILURE;

	if (!are_allowed(flags, bytes, tag)) {
		if (raises)
			ExRaiseStatus(STATUS_INVALID_PARAMETER);
		return NULL;
	}
	return pool_allocate(&(struct pool_request){
		.call = call,
		.caller = caller,
		.bytes = bytes,
		.tag = tag,
		.is_paged = flags & POOL_FLAG_PAGED,
		.alignment = flags & POOL_FLAG_CACHE_ALIGNED ? POOL_LINE : 0,
		.is_zeroed = !(flags & POOL_FLAG_UNINITIALIZED),
		.raises = raises,
	});
}

PVOID
ExAllocatePool2(POOL_FLAGS flags, SIZE_T bytes, ULONG tag)
{
	return by_flags("ExAllocatePool2", CALLER, flags, bytes, tag);
}

PVOID
ExAllocatePool3(POOL_FLAGS flags, SIZE_T bytes, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters,
		ULONG count)
{
	for (ULONG i = 0; i < count; i++) {
		if (parameters[i].Type == PoolExtendedParameterPriority ||
		    parameters[i].Type == PoolExtendedParameterNumaNode || parameters[i].Optional)
			continue;
		if (flags & POOL_FLAG_RAISE_ON_FAILURE)
			ExRaiseStatus(STATUS_INVALID_PARAMETER);
		return NULL;
	}
	return by_flags("ExAllocatePool3", CALLER, flags, bytes, tag);
}

VOID
ExFreePool(PVOID memory)
{
	pool_free("ExFreePool", memory, 0);
}

VOID
ExFreePoolWithTag(PVOID memory, ULONG tag)
{
	pool_free("ExFreePoolWithTag", memory, tag);
}

VOID
ExFreePool2(PVOID memory, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters, ULONG count)
{
	(void)parameters, (void)count;
	pool_free("ExFreePool2", memory, tag);
}
