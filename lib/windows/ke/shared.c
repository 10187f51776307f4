/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared spin locks: the count of readers, and a mark of the writer, who sets it before the last
 * readers have left, so that no others come. Start with acquire_exclusive().
 */
#include "ke.h"

#define WRITER ((ULONG)1 << 31)

static ULONG
load(PEX_SPIN_LOCK lock)
{
	return (ULONG)__atomic_load_n(lock, __ATOMIC_RELAXED);
}

static bool
replace(PEX_SPIN_LOCK lock, ULONG from, ULONG to)
{
	LONG expected = (LONG)from;

	return __atomic_compare_exchange_n(lock, &expected, (LONG)to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool
try_shared(PEX_SPIN_LOCK lock)
{
	ULONG now = load(lock);

	/* Only a writer makes it fail, not another reader. */
	while (!(now & WRITER)) {
		if (replace(lock, now, now + 1))
			return true;
		now = load(lock);
	}
	return false;
}

static void
acquire_shared(const char *call, PEX_SPIN_LOCK lock)
{
	unsigned int turns = 0;

	ke_spin_check(call, lock);
	while (!try_shared(lock))
		ke_relax(&turns);
	ke_spin_acquired(lock);
}

static void
acquire_exclusive(const char *call, PEX_SPIN_LOCK lock)
{
	unsigned int turns = 0;

	ke_spin_check(call, lock);
	for (;;) {
		ULONG now = load(lock);

		if (!(now & WRITER) && replace(lock, now, now | WRITER))
			break;
		ke_relax(&turns);
	}
	while ((ULONG)__atomic_load_n(lock, __ATOMIC_ACQUIRE) != WRITER)
		ke_relax(&turns);
	ke_spin_acquired(lock);
}

static void
release_shared(const char *call, PEX_SPIN_LOCK lock)
{
	ke_spin_release(call, lock);
	__atomic_fetch_sub(lock, 1, __ATOMIC_RELEASE);
}

static void
release_exclusive(const char *call, PEX_SPIN_LOCK lock)
{
	ke_spin_release(call, lock);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

KIRQL
ExAcquireSpinLockShared(PEX_SPIN_LOCK lock)
{
	KIRQL old = ke_raise_to_dispatch("ExAcquireSpinLockShared");

	acquire_shared("ExAcquireSpinLockShared", lock);
	return old;
}

VOID
ExReleaseSpinLockShared(PEX_SPIN_LOCK lock, KIRQL old)
{
	release_shared("ExReleaseSpinLockShared", lock);
	ke_lower("ExReleaseSpinLockShared", old);
}

VOID
ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExAcquireSpinLockSharedAtDpcLevel", DISPATCH_LEVEL);
	acquire_shared("ExAcquireSpinLockSharedAtDpcLevel", lock);
}

VOID
ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExReleaseSpinLockSharedFromDpcLevel", DISPATCH_LEVEL);
	release_shared("ExReleaseSpinLockSharedFromDpcLevel", lock);
}

KIRQL
ExAcquireSpinLockExclusive(PEX_SPIN_LOCK lock)
{
	KIRQL old = ke_raise_to_dispatch("ExAcquireSpinLockExclusive");

	acquire_exclusive("ExAcquireSpinLockExclusive", lock);
	return old;
}

VOID
ExReleaseSpinLockExclusive(PEX_SPIN_LOCK lock, KIRQL old)
{
	release_exclusive("ExReleaseSpinLockExclusive", lock);
	ke_lower("ExReleaseSpinLockExclusive", old);
}

VOID
ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExAcquireSpinLockExclusiveAtDpcLevel", DISPATCH_LEVEL);
	acquire_exclusive("ExAcquireSpinLockExclusiveAtDpcLevel", lock);
}

VOID
ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExReleaseSpinLockExclusiveFromDpcLevel", DISPATCH_LEVEL);
	release_exclusive("ExReleaseSpinLockExclusiveFromDpcLevel", lock);
}

LOGICAL
ExTryAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExTryAcquireSpinLockSharedAtDpcLevel", DISPATCH_LEVEL);
	ke_spin_check("ExTryAcquireSpinLockSharedAtDpcLevel", lock);
	if (!try_shared(lock))
		return FALSE;
	ke_spin_acquired(lock);
	return TRUE;
}

LOGICAL
ExTryAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExTryAcquireSpinLockExclusiveAtDpcLevel", DISPATCH_LEVEL);
	ke_spin_check("ExTryAcquireSpinLockExclusiveAtDpcLevel", lock);
	if (!replace(lock, 0, WRITER))
		return FALSE;
	ke_spin_acquired(lock);
	return TRUE;
}

LOGICAL
ExTryConvertSharedSpinLockExclusive(PEX_SPIN_LOCK lock)
{
	plx_ke_require_least("ExTryConvertSharedSpinLockExclusive", DISPATCH_LEVEL);
	return replace(lock, 1, WRITER);
}
