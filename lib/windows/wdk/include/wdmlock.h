/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex and Ke: locks whose waiters sleep. They are for IRQL APC_LEVEL and below. Push locks, the
 * calls with Unsafe in their names and those of resources need a region without APCs around them
 * (KeEnterCriticalRegion()). If the checks are on, a lock that is acquired again by its owner, or
 * released by who does not hold it, ends the process with a sentence.
 * Threads: every call from any thread. Tests: tests/unit/windows/ex/mutex.c,
 * tests/unit/windows/ex/push_lock.c, tests/unit/windows/ex/resource.c
 */
#ifndef PLX_WDK_WDMLOCK_H
#define PLX_WDK_WDMLOCK_H

#include "wdmwait.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- fast mutexes ---- */

/* Count is 1 while it is free. */
typedef struct _FAST_MUTEX {
	volatile LONG Count;
	PVOID volatile Owner;
	ULONG Contention;
	KEVENT Event;
	ULONG OldIrql;
} FAST_MUTEX, *PFAST_MUTEX;

VOID ExInitializeFastMutex(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExInitializeFastMutex);
/** It returns at APC_LEVEL. */
VOID ExAcquireFastMutex(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExAcquireFastMutex);
/** Returns: FALSE: another thread holds it */
BOOLEAN ExTryToAcquireFastMutex(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExTryToAcquireFastMutex);
VOID ExReleaseFastMutex(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExReleaseFastMutex);
/** The IRQL stays; the caller is at APC_LEVEL or in a region without APCs. */
VOID ExAcquireFastMutexUnsafe(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExAcquireFastMutexUnsafe);
VOID ExReleaseFastMutexUnsafe(PFAST_MUTEX FastMutex) PLX_WIN_NAME(ExReleaseFastMutexUnsafe);

/* ---- guarded mutexes: they enter a guarded region instead ---- */

typedef FAST_MUTEX KGUARDED_MUTEX, *PKGUARDED_MUTEX;

VOID KeInitializeGuardedMutex(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeInitializeGuardedMutex);
VOID KeAcquireGuardedMutex(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeAcquireGuardedMutex);
BOOLEAN KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeTryToAcquireGuardedMutex);
VOID KeReleaseGuardedMutex(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeReleaseGuardedMutex);
VOID KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeAcquireGuardedMutexUnsafe);
VOID KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX Mutex) PLX_WIN_NAME(KeReleaseGuardedMutexUnsafe);

/* ---- push locks: many readers or one writer ----
 *
 * Zero is a free lock. Not recursive in either mode; a reader that arrives while a writer waits
 * lets it go first.
 */

typedef ULONG_PTR EX_PUSH_LOCK, *PEX_PUSH_LOCK;

#define EX_DEFAULT_PUSH_LOCK_FLAGS 0x00000000

VOID ExInitializePushLock(PEX_PUSH_LOCK PushLock) PLX_WIN_NAME(ExInitializePushLock);
/** @param Flags EX_DEFAULT_PUSH_LOCK_FLAGS */
VOID ExAcquirePushLockExclusiveEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
	PLX_WIN_NAME(ExAcquirePushLockExclusiveEx);
VOID ExAcquirePushLockSharedEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
	PLX_WIN_NAME(ExAcquirePushLockSharedEx);
VOID ExReleasePushLockExclusiveEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
	PLX_WIN_NAME(ExReleasePushLockExclusiveEx);
VOID ExReleasePushLockSharedEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
	PLX_WIN_NAME(ExReleasePushLockSharedEx);

#define ExAcquirePushLockExclusive(Lock) \
	ExAcquirePushLockExclusiveEx((Lock), EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExAcquirePushLockShared(Lock) ExAcquirePushLockSharedEx((Lock), EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExReleasePushLockExclusive(Lock) \
	ExReleasePushLockExclusiveEx((Lock), EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExReleasePushLockShared(Lock) ExReleasePushLockSharedEx((Lock), EX_DEFAULT_PUSH_LOCK_FLAGS)

/* ---- resources: many readers or one writer, with owners ----
 *
 * An owner may acquire it again in the mode that it has; an exclusive owner also as a reader. One
 * that has been acquired n times is released n times. A resource is deleted when nobody holds it.
 */

typedef ULONG_PTR ERESOURCE_THREAD, *PERESOURCE_THREAD;

/* How often a thread has it. */
typedef struct _OWNER_ENTRY {
	ERESOURCE_THREAD OwnerThread;
	ULONG OwnerCount;
} OWNER_ENTRY, *POWNER_ENTRY;

/* The library's, all of it. */
typedef struct _ERESOURCE {
	ULONG_PTR lock[6];
	ULONG_PTR changed[8];
	POWNER_ENTRY readers; /* those with a count above 0 come first */
	ULONG readers_count, readers_room;
	OWNER_ENTRY writer;
	ULONG waiting_readers, waiting_writers;
	ULONG magic;
} ERESOURCE, *PERESOURCE;

/** Returns: STATUS_SUCCESS */
NTSTATUS ExInitializeResourceLite(PERESOURCE Resource) PLX_WIN_NAME(ExInitializeResourceLite);
/** Initialize one that nobody holds again. Returns: STATUS_SUCCESS */
NTSTATUS ExReinitializeResourceLite(PERESOURCE Resource) PLX_WIN_NAME(ExReinitializeResourceLite);
/** Returns: STATUS_SUCCESS */
NTSTATUS ExDeleteResourceLite(PERESOURCE Resource) PLX_WIN_NAME(ExDeleteResourceLite);
/** @param Wait FALSE: do not wait
 *  Returns: FALSE: it did not get it without waiting */
BOOLEAN ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait)
	PLX_WIN_NAME(ExAcquireResourceExclusiveLite);
/** A reader lets waiting writers go first, unless the thread owns it already. */
BOOLEAN ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait)
	PLX_WIN_NAME(ExAcquireResourceSharedLite);
/** It lets no waiting writer go first. */
BOOLEAN ExAcquireSharedStarveExclusive(PERESOURCE Resource, BOOLEAN Wait)
	PLX_WIN_NAME(ExAcquireSharedStarveExclusive);
/** It lets waiting writers go first, even if the thread is a reader already. */
BOOLEAN ExAcquireSharedWaitForExclusive(PERESOURCE Resource, BOOLEAN Wait)
	PLX_WIN_NAME(ExAcquireSharedWaitForExclusive);
VOID ExReleaseResourceLite(PERESOURCE Resource) PLX_WIN_NAME(ExReleaseResourceLite);
/** @param ResourceThreadId of ExGetCurrentResourceThread() in the thread that acquired it */
VOID ExReleaseResourceForThreadLite(PERESOURCE Resource, ERESOURCE_THREAD ResourceThreadId)
	PLX_WIN_NAME(ExReleaseResourceForThreadLite);
/** Make the exclusive owner a reader, who has acquired it as often. */
VOID ExConvertExclusiveToSharedLite(PERESOURCE Resource)
	PLX_WIN_NAME(ExConvertExclusiveToSharedLite);
BOOLEAN ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource)
	PLX_WIN_NAME(ExIsResourceAcquiredExclusiveLite);
/** Returns: how often the calling thread has acquired it, in either mode */
ULONG ExIsResourceAcquiredSharedLite(PERESOURCE Resource)
	PLX_WIN_NAME(ExIsResourceAcquiredSharedLite);
#define ExIsResourceAcquiredLite(Resource) ExIsResourceAcquiredSharedLite(Resource)
ULONG ExGetExclusiveWaiterCount(PERESOURCE Resource) PLX_WIN_NAME(ExGetExclusiveWaiterCount);
ULONG ExGetSharedWaiterCount(PERESOURCE Resource) PLX_WIN_NAME(ExGetSharedWaiterCount);
#define ExGetCurrentResourceThread() ((ERESOURCE_THREAD)KeGetCurrentThread())

/** These enter a critical region first, and leave it last.
 * Returns: the current thread, as a void pointer */
PVOID ExEnterCriticalRegionAndAcquireResourceExclusive(PERESOURCE Resource)
	PLX_WIN_NAME(ExEnterCriticalRegionAndAcquireResourceExclusive);
PVOID ExEnterCriticalRegionAndAcquireResourceShared(PERESOURCE Resource)
	PLX_WIN_NAME(ExEnterCriticalRegionAndAcquireResourceShared);
PVOID ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(PERESOURCE Resource)
	PLX_WIN_NAME(ExEnterCriticalRegionAndAcquireSharedWaitForExclusive);
VOID ExReleaseResourceAndLeaveCriticalRegion(PERESOURCE Resource)
	PLX_WIN_NAME(ExReleaseResourceAndLeaveCriticalRegion);

#ifdef __cplusplus
}
#endif

#endif
