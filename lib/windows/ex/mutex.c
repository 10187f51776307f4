/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fast mutexes and guarded mutexes: a count, and an event for who comes while it is not 1.
 * Start with mutex_acquire().
 */
#include "ex.h"

static void
mutex_init(PFAST_MUTEX mutex)
{
	*mutex = (FAST_MUTEX){.Count = 1};
	KeInitializeEvent(&mutex->Event, SynchronizationEvent, FALSE);
}

static void
own(PFAST_MUTEX mutex, PVOID owner)
{
	__atomic_store_n(&mutex->Owner, owner, __ATOMIC_RELAXED);
}

static void
mutex_acquire(PFAST_MUTEX mutex, const char *call)
{
	PVOID self = KeGetCurrentThread();

	if (plx_ke_checks() && __atomic_load_n(&mutex->Owner, __ATOMIC_RELAXED) == self)
		plx_wdk_stop("%s was called for %p by the thread that holds it", call,
			     (void *)mutex);
	/* Each release of one for which others wait sets the event once. */
	if (InterlockedDecrement(&mutex->Count) != 0) {
		__atomic_fetch_add(&mutex->Contention, 1, __ATOMIC_RELAXED);
		KeWaitForSingleObject(&mutex->Event, Executive, KernelMode, FALSE, NULL);
	}
	own(mutex, self);
}

static bool
mutex_try(PFAST_MUTEX mutex)
{
	if (InterlockedCompareExchange(&mutex->Count, 0, 1) != 1)
		return false;
	own(mutex, KeGetCurrentThread());
	return true;
}

static void
mutex_release(PFAST_MUTEX mutex, const char *call)
{
	if (plx_ke_checks() &&
	    __atomic_load_n(&mutex->Owner, __ATOMIC_RELAXED) != KeGetCurrentThread())
		plx_wdk_stop("%s was called for %p by a thread that does not hold it", call,
			     (void *)mutex);
	own(mutex, NULL);
	if (InterlockedIncrement(&mutex->Count) <= 0)
		KeSetEvent(&mutex->Event, 0, FALSE);
}

/* ---- fast mutexes ---- */

VOID
ExInitializeFastMutex(PFAST_MUTEX mutex)
{
	mutex_init(mutex);
}

VOID
ExAcquireFastMutex(PFAST_MUTEX mutex)
{
	KIRQL old;

	plx_ke_require("ExAcquireFastMutex", APC_LEVEL);
	KeRaiseIrql(APC_LEVEL, &old);
	mutex_acquire(mutex, "ExAcquireFastMutex");
	mutex->OldIrql = old;
}

BOOLEAN
ExTryToAcquireFastMutex(PFAST_MUTEX mutex)
{
	KIRQL old;

	plx_ke_require("ExTryToAcquireFastMutex", APC_LEVEL);
	KeRaiseIrql(APC_LEVEL, &old);
	if (!mutex_try(mutex)) {
		KeLowerIrql(old);
		return FALSE;
	}
	mutex->OldIrql = old;
	return TRUE;
}

VOID
ExReleaseFastMutex(PFAST_MUTEX mutex)
{
	KIRQL old = (KIRQL)mutex->OldIrql;

	plx_ke_require("ExReleaseFastMutex", APC_LEVEL);
	plx_ke_require_least("ExReleaseFastMutex", APC_LEVEL);
	mutex_release(mutex, "ExReleaseFastMutex");
	KeLowerIrql(old);
}

VOID
ExAcquireFastMutexUnsafe(PFAST_MUTEX mutex)
{
	held_require_region("ExAcquireFastMutexUnsafe");
	mutex_acquire(mutex, "ExAcquireFastMutexUnsafe");
}

VOID
ExReleaseFastMutexUnsafe(PFAST_MUTEX mutex)
{
	held_require_region("ExReleaseFastMutexUnsafe");
	mutex_release(mutex, "ExReleaseFastMutexUnsafe");
}

/* ---- guarded mutexes ---- */

VOID
KeInitializeGuardedMutex(PKGUARDED_MUTEX mutex)
{
	mutex_init(mutex);
}

VOID
KeAcquireGuardedMutex(PKGUARDED_MUTEX mutex)
{
	plx_ke_require("KeAcquireGuardedMutex", APC_LEVEL);
	KeEnterGuardedRegion();
	mutex_acquire(mutex, "KeAcquireGuardedMutex");
}

BOOLEAN
KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX mutex)
{
	plx_ke_require("KeTryToAcquireGuardedMutex", APC_LEVEL);
	KeEnterGuardedRegion();
	if (mutex_try(mutex))
		return TRUE;
	KeLeaveGuardedRegion();
	return FALSE;
}

VOID
KeReleaseGuardedMutex(PKGUARDED_MUTEX mutex)
{
	plx_ke_require("KeReleaseGuardedMutex", APC_LEVEL);
	mutex_release(mutex, "KeReleaseGuardedMutex");
	KeLeaveGuardedRegion();
}

VOID
KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX mutex)
{
	held_require_region("KeAcquireGuardedMutexUnsafe");
	mutex_acquire(mutex, "KeAcquireGuardedMutexUnsafe");
}

VOID
KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX mutex)
{
	held_require_region("KeReleaseGuardedMutexUnsafe");
	mutex_release(mutex, "KeReleaseGuardedMutexUnsafe");
}
