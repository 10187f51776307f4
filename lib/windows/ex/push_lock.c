/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Push locks: slim locks of libpollux-win behind their rules. Start with slim().
 */
#include "ex.h"

#include <synchapi.h>

_Static_assert(sizeof(EX_PUSH_LOCK) == sizeof(SRWLOCK), "one is the other");

static PSRWLOCK
slim(PEX_PUSH_LOCK lock)
{
	return (PSRWLOCK)(void *)lock;
}

VOID
ExInitializePushLock(PEX_PUSH_LOCK lock)
{
	InitializeSRWLock(slim(lock));
}

VOID
ExAcquirePushLockExclusiveEx(PEX_PUSH_LOCK lock, ULONG flags)
{
	(void)flags;
	held_begin("ExAcquirePushLockExclusive", lock);
	AcquireSRWLockExclusive(slim(lock));
	held_add(lock, HELD_EXCLUSIVE);
}

VOID
ExAcquirePushLockSharedEx(PEX_PUSH_LOCK lock, ULONG flags)
{
	(void)flags;
	held_begin("ExAcquirePushLockShared", lock);
	AcquireSRWLockShared(slim(lock));
	held_add(lock, HELD_SHARED);
}

VOID
ExReleasePushLockExclusiveEx(PEX_PUSH_LOCK lock, ULONG flags)
{
	(void)flags;
	held_remove("ExReleasePushLockExclusive", lock, HELD_EXCLUSIVE);
	ReleaseSRWLockExclusive(slim(lock));
}

VOID
ExReleasePushLockSharedEx(PEX_PUSH_LOCK lock, ULONG flags)
{
	(void)flags;
	held_remove("ExReleasePushLockShared", lock, HELD_SHARED);
	ReleaseSRWLockShared(slim(lock));
}
