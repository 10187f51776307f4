/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spin locks: which of them a thread holds, and the plain ones. A plain lock is 1 while it is held.
 * Start with acquire().
 */
#include "ke.h"

/* ---- which are held ---- */

const volatile void *
ke_last_held(void)
{
	unsigned int last = ke_self.held < KE_HELD_MAX ? ke_self.held : KE_HELD_MAX;

	return ke_self.locks[last - 1];
}

/* Returns: its index; KE_HELD_MAX: it is not among those whose names are kept */
static unsigned int
find(const volatile void *lock)
{
	unsigned int i = ke_self.held < KE_HELD_MAX ? ke_self.held : KE_HELD_MAX;

	while (i > 0)
		if (ke_self.locks[--i] == lock)
			return i;
	return KE_HELD_MAX;
}

void
ke_spin_check(const char *call, const volatile void *lock)
{
	if (plx_ke_checks() && find(lock) < KE_HELD_MAX)
		plx_wdk_stop("%s: this thread holds the spin lock at %p already", call, lock);
}

void
ke_spin_acquired(const volatile void *lock)
{
	if (!plx_ke_checks())
		return;
	if (ke_self.held < KE_HELD_MAX)
		ke_self.locks[ke_self.held] = lock;
	ke_self.held++;
}

void
ke_spin_release(const char *call, const volatile void *lock)
{
	unsigned int i;

	if (!plx_ke_checks())
		return;
	i = find(lock);
	/* It may be one whose name was not kept: beyond the last, or NULL. */
	if (i == KE_HELD_MAX)
		i = find(NULL);
	if (i == KE_HELD_MAX && ke_self.held <= KE_HELD_MAX)
		plx_wdk_stop("%s: this thread does not hold the spin lock at %p", call, lock);
	ke_self.held--;
	for (; i < ke_self.held && i + 1 < KE_HELD_MAX; i++)
		ke_self.locks[i] = ke_self.locks[i + 1];
	if (ke_self.held >= KE_HELD_MAX && i < KE_HELD_MAX)
		ke_self.locks[i] = NULL;
}

/* ---- plain locks ---- */

static bool
try_acquire(PKSPIN_LOCK lock)
{
	ULONG_PTR free = 0;

	return __atomic_load_n(lock, __ATOMIC_RELAXED) == 0 &&
	       __atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void
acquire(const char *call, PKSPIN_LOCK lock)
{
	unsigned int turns = 0;

	ke_spin_check(call, lock);
	while (!try_acquire(lock))
		ke_relax(&turns);
	ke_spin_acquired(lock);
}

static void
release(const char *call, PKSPIN_LOCK lock)
{
	ke_spin_release(call, lock);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static KIRQL
acquire_raised(const char *call, PKSPIN_LOCK lock)
{
	KIRQL old = ke_raise_to_dispatch(call);

	acquire(call, lock);
	return old;
}

VOID
KeInitializeSpinLock(PKSPIN_LOCK lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

VOID
KeAcquireSpinLock(PKSPIN_LOCK lock, PKIRQL old)
{
	*old = acquire_raised("KeAcquireSpinLock", lock);
}

KIRQL
KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK lock)
{
	return acquire_raised("KeAcquireSpinLockRaiseToDpc", lock);
}

KIRQL
KeAcquireSpinLockForDpc(PKSPIN_LOCK lock)
{
	return acquire_raised("KeAcquireSpinLockForDpc", lock);
}

VOID
KeReleaseSpinLock(PKSPIN_LOCK lock, KIRQL irql)
{
	release("KeReleaseSpinLock", lock);
	ke_lower("KeReleaseSpinLock", irql);
}

VOID
KeReleaseSpinLockForDpc(PKSPIN_LOCK lock, KIRQL irql)
{
	release("KeReleaseSpinLockForDpc", lock);
	ke_lower("KeReleaseSpinLockForDpc", irql);
}

VOID
KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock)
{
	plx_ke_require_least("KeAcquireSpinLockAtDpcLevel", DISPATCH_LEVEL);
	acquire("KeAcquireSpinLockAtDpcLevel", lock);
}

VOID
KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK lock)
{
	plx_ke_require_least("KeReleaseSpinLockFromDpcLevel", DISPATCH_LEVEL);
	release("KeReleaseSpinLockFromDpcLevel", lock);
}

BOOLEAN
KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock)
{
	plx_ke_require_least("KeTryToAcquireSpinLockAtDpcLevel", DISPATCH_LEVEL);
	ke_spin_check("KeTryToAcquireSpinLockAtDpcLevel", lock);
	if (!try_acquire(lock))
		return FALSE;
	ke_spin_acquired(lock);
	return TRUE;
}

BOOLEAN
KeTestSpinLock(PKSPIN_LOCK lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) == 0;
}
