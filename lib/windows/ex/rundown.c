/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rundown protection: one word. While it is run down with users left, the word leads to the count
 * of them on the stack of who waits. Start with struct waiter.
 */
#include "ex.h"

enum {
	RUN_DOWN = 1, /* the word's lowest bit; a user counts 2 */
	USER = 2,
};

struct waiter {
	_Alignas(16) LONG64 users;
	KEVENT none_left;
};

struct _EX_RUNDOWN_REF_CACHE_AWARE {
	EX_RUNDOWN_REF ref;
	char line[POOL_LINE - sizeof(EX_RUNDOWN_REF)];
};

static ULONG_PTR
word_of(PEX_RUNDOWN_REF ref)
{
	return __atomic_load_n(&ref->Count, __ATOMIC_ACQUIRE);
}

static bool
swap(PEX_RUNDOWN_REF ref, ULONG_PTR *seen, ULONG_PTR word)
{
	return __atomic_compare_exchange_n(&ref->Count, seen, word, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

VOID
ExInitializeRundownProtection(PEX_RUNDOWN_REF ref)
{
	__atomic_store_n(&ref->Count, 0, __ATOMIC_RELEASE);
}

BOOLEAN
ExAcquireRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count)
{
	ULONG_PTR word = word_of(ref);

	while (!(word & RUN_DOWN))
		if (swap(ref, &word, word + USER * (ULONG_PTR)count))
			return TRUE;
	return FALSE;
}

BOOLEAN
ExAcquireRundownProtection(PEX_RUNDOWN_REF ref)
{
	return ExAcquireRundownProtectionEx(ref, 1);
}

static DECLSPEC_NORETURN void
refuse_release(PEX_RUNDOWN_REF ref)
{
	plx_wdk_stop("ExReleaseRundownProtection was called for %p more often than it was "
		     "acquired",
		     (void *)ref);
}

VOID
ExReleaseRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count)
{
	ULONG_PTR word = word_of(ref);
	struct waiter *waiter;
	LONG64 left;

	while (!(word & RUN_DOWN)) {
		if (word < USER * (ULONG_PTR)count && plx_ke_checks())
			refuse_release(ref);
		if (swap(ref, &word, word - USER * (ULONG_PTR)count))
			return;
	}
	waiter = (struct waiter *)(word - RUN_DOWN);
	if (waiter == NULL)
		refuse_release(ref);
	left = __atomic_sub_fetch(&waiter->users, (LONG64)count, __ATOMIC_ACQ_REL);
	if (left < 0)
		refuse_release(ref);
	/* The waiter goes on with the event, and its stack is gone. */
	if (left == 0)
		KeSetEvent(&waiter->none_left, 0, FALSE);
}

VOID
ExReleaseRundownProtection(PEX_RUNDOWN_REF ref)
{
	ExReleaseRundownProtectionEx(ref, 1);
}

VOID
ExRundownCompleted(PEX_RUNDOWN_REF ref)
{
	__atomic_store_n(&ref->Count, RUN_DOWN, __ATOMIC_RELEASE);
}

VOID
ExReInitializeRundownProtection(PEX_RUNDOWN_REF ref)
{
	if (plx_ke_checks() && word_of(ref) != RUN_DOWN)
		plx_wdk_stop("ExReInitializeRundownProtection was called for %p, which is not "
			     "run down",
			     (void *)ref);
	ExInitializeRundownProtection(ref);
}

VOID
ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF ref)
{
	struct waiter waiter;
	ULONG_PTR word = word_of(ref);

	plx_ke_require("ExWaitForRundownProtectionRelease", APC_LEVEL);
	KeInitializeEvent(&waiter.none_left, SynchronizationEvent, FALSE);
	do {
		if (word == RUN_DOWN)
			return;
		if (word & RUN_DOWN)
			plx_wdk_stop("ExWaitForRundownProtectionRelease was called for %p, "
				     "which another thread is running down",
				     (void *)ref);
		waiter.users = (LONG64)(word / USER);
	} while (!swap(ref, &word, word ? (ULONG_PTR)&waiter + RUN_DOWN : RUN_DOWN));
	if (word)
		KeWaitForSingleObject(&waiter.none_left, Executive, KernelMode, FALSE, NULL);
	ExRundownCompleted(ref);
}

/* ---- of one that processors share ---- */

PEX_RUNDOWN_REF_CACHE_AWARE
ExAllocateCacheAwareRundownProtection(POOL_TYPE type, ULONG tag)
{
	PEX_RUNDOWN_REF_CACHE_AWARE aware = pool_allocate(&(struct pool_request){
		.call = "ExAllocateCacheAwareRundownProtection",
		.caller = __builtin_return_address(0),
		.bytes = sizeof(*aware),
		.tag = tag,
		.is_paged = type & PagedPool,
		.alignment = POOL_LINE,
	});

	if (aware)
		ExInitializeRundownProtection(&aware->ref);
	return aware;
}

VOID
ExFreeCacheAwareRundownProtection(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	pool_free("ExFreeCacheAwareRundownProtection", aware, 0);
}

SIZE_T
ExSizeOfRundownProtectionCacheAware(VOID)
{
	return sizeof(struct _EX_RUNDOWN_REF_CACHE_AWARE);
}

VOID
ExInitializeRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware, SIZE_T size)
{
	if (plx_ke_checks() && size < sizeof(*aware))
		plx_wdk_stop("ExInitializeRundownProtectionCacheAware was called with %zu "
			     "bytes; it needs %zu",
			     size, sizeof(*aware));
	ExInitializeRundownProtection(&aware->ref);
}

BOOLEAN
ExAcquireRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	return ExAcquireRundownProtectionEx(&aware->ref, 1);
}

BOOLEAN
ExAcquireRundownProtectionCacheAwareEx(PEX_RUNDOWN_REF_CACHE_AWARE aware, ULONG count)
{
	return ExAcquireRundownProtectionEx(&aware->ref, count);
}

VOID
ExReleaseRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	ExReleaseRundownProtectionEx(&aware->ref, 1);
}

VOID
ExReleaseRundownProtectionCacheAwareEx(PEX_RUNDOWN_REF_CACHE_AWARE aware, ULONG count)
{
	ExReleaseRundownProtectionEx(&aware->ref, count);
}

VOID
ExWaitForRundownProtectionReleaseCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	ExWaitForRundownProtectionRelease(&aware->ref);
}

VOID
ExRundownCompletedCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	ExRundownCompleted(&aware->ref);
}

VOID
ExReInitializeRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE aware)
{
	ExReInitializeRundownProtection(&aware->ref);
}
