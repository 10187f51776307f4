/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queued spin locks. The lock is a pointer to the last handle of the queue, and 0 if it is free.
 * Each handle waits for the one before it to clear the mark in its own Lock, and so they are served
 * in the order of arrival. Start with acquire().
 */
#include "ke.h"

/* In Lock: not served yet. A lock is aligned to more. */
#define WAITING ((ULONG_PTR)1)

static void
acquire(const char *call, PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
	PKSPIN_LOCK_QUEUE own = &handle->LockQueue;
	PKSPIN_LOCK_QUEUE before;
	unsigned int turns = 0;

	ke_spin_check(call, lock);
	own->Next = NULL;
	own->Lock = (PKSPIN_LOCK)((ULONG_PTR)lock | WAITING);
	before = (PKSPIN_LOCK_QUEUE)__atomic_exchange_n(lock, (ULONG_PTR)own, __ATOMIC_ACQ_REL);
	if (before == NULL) {
		own->Lock = lock;
	} else {
		__atomic_store_n(&before->Next, own, __ATOMIC_RELEASE);
		while ((ULONG_PTR)__atomic_load_n(&own->Lock, __ATOMIC_ACQUIRE) & WAITING)
			ke_relax(&turns);
	}
	ke_spin_acquired(lock);
}

static void
release(const char *call, PKLOCK_QUEUE_HANDLE handle)
{
	PKSPIN_LOCK_QUEUE own = &handle->LockQueue;
	PKSPIN_LOCK lock = own->Lock;
	PKSPIN_LOCK_QUEUE next = __atomic_load_n(&own->Next, __ATOMIC_ACQUIRE);
	ULONG_PTR last = (ULONG_PTR)own;
	unsigned int turns = 0;

	ke_spin_release(call, lock);
	if (next == NULL) {
		if (__atomic_compare_exchange_n(lock, &last, 0, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return;
		/* Another one is the last now, and about to say that it follows. */
		while ((next = __atomic_load_n(&own->Next, __ATOMIC_ACQUIRE)) == NULL)
			ke_relax(&turns);
	}
	__atomic_store_n(&next->Lock, lock, __ATOMIC_RELEASE);
}

static void
acquire_raised(const char *call, PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
	handle->OldIrql = ke_raise_to_dispatch(call);
	acquire(call, lock, handle);
}

static void
release_lowered(const char *call, PKLOCK_QUEUE_HANDLE handle)
{
	KIRQL old = handle->OldIrql;

	release(call, handle);
	ke_lower(call, old);
}

VOID
KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
	acquire_raised("KeAcquireInStackQueuedSpinLock", lock, handle);
}

VOID
KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE handle)
{
	release_lowered("KeReleaseInStackQueuedSpinLock", handle);
}

VOID
KeAcquireInStackQueuedSpinLockForDpc(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
	acquire_raised("KeAcquireInStackQueuedSpinLockForDpc", lock, handle);
}

VOID
KeReleaseInStackQueuedSpinLockForDpc(PKLOCK_QUEUE_HANDLE handle)
{
	release_lowered("KeReleaseInStackQueuedSpinLockForDpc", handle);
}

VOID
KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
	plx_ke_require_least("KeAcquireInStackQueuedSpinLockAtDpcLevel", DISPATCH_LEVEL);
	acquire("KeAcquireInStackQueuedSpinLockAtDpcLevel", lock, handle);
}

VOID
KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE handle)
{
	plx_ke_require_least("KeReleaseInStackQueuedSpinLockFromDpcLevel", DISPATCH_LEVEL);
	release("KeReleaseInStackQueuedSpinLockFromDpcLevel", handle);
}
