/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke and Ex: spin locks, plain, queued and shared. Zero is a free lock of each kind, and none has
 * to be ended. A lock is used in one of the three ways, always the same.
 *
 * A holder can be preempted here, so a thread that has spun for a while yields its processor. A
 * thread that acquires a lock which it holds, or releases one which it does not, ends the process
 * with a sentence, if the checks are on.
 * Threads: every call from any thread. Tests: tests/unit/windows/ke/spin.c
 */
#ifndef PLX_WDK_WDMSPIN_H
#define PLX_WDK_WDMSPIN_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plain ---- */

typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;

VOID KeInitializeSpinLock(PKSPIN_LOCK SpinLock) PLX_WIN_NAME(KeInitializeSpinLock);
/** At or below DISPATCH_LEVEL, at which it returns. @param OldIrql for KeReleaseSpinLock() */
VOID KeAcquireSpinLock(PKSPIN_LOCK SpinLock, PKIRQL OldIrql) PLX_WIN_NAME(KeAcquireSpinLock);
KIRQL KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock) PLX_WIN_NAME(KeAcquireSpinLockRaiseToDpc);
VOID KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql) PLX_WIN_NAME(KeReleaseSpinLock);
/** At DISPATCH_LEVEL or above. */
VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock) PLX_WIN_NAME(KeAcquireSpinLockAtDpcLevel);
VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
	PLX_WIN_NAME(KeReleaseSpinLockFromDpcLevel);
/** Returns: FALSE: another thread holds it */
BOOLEAN KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
	PLX_WIN_NAME(KeTryToAcquireSpinLockAtDpcLevel);
/** Returns: whether it is free */
BOOLEAN KeTestSpinLock(PKSPIN_LOCK SpinLock) PLX_WIN_NAME(KeTestSpinLock);
/** For DPCs that may be threaded, which are at DISPATCH_LEVEL or below. */
KIRQL KeAcquireSpinLockForDpc(PKSPIN_LOCK SpinLock) PLX_WIN_NAME(KeAcquireSpinLockForDpc);
VOID KeReleaseSpinLockForDpc(PKSPIN_LOCK SpinLock, KIRQL OldIrql)
	PLX_WIN_NAME(KeReleaseSpinLockForDpc);

/* ---- queued: in the order of arrival ----
 *
 * The handle is the caller's, usually on its stack, and stays until the lock is released.
 */

typedef struct _KSPIN_LOCK_QUEUE {
	struct _KSPIN_LOCK_QUEUE *volatile Next;
	PKSPIN_LOCK volatile Lock;
} KSPIN_LOCK_QUEUE, *PKSPIN_LOCK_QUEUE;

typedef struct _KLOCK_QUEUE_HANDLE {
	KSPIN_LOCK_QUEUE LockQueue;
	KIRQL OldIrql;
} KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;

VOID KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock, PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeAcquireInStackQueuedSpinLock);
VOID KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeReleaseInStackQueuedSpinLock);
VOID KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock, PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeAcquireInStackQueuedSpinLockAtDpcLevel);
VOID KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeReleaseInStackQueuedSpinLockFromDpcLevel);
VOID KeAcquireInStackQueuedSpinLockForDpc(PKSPIN_LOCK SpinLock, PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeAcquireInStackQueuedSpinLockForDpc);
VOID KeReleaseInStackQueuedSpinLockForDpc(PKLOCK_QUEUE_HANDLE LockHandle)
	PLX_WIN_NAME(KeReleaseInStackQueuedSpinLockForDpc);

/* ---- shared: many readers or one writer ----
 *
 * Not recursive in either mode. Readers that arrive while a writer waits let it go first.
 */

typedef volatile LONG EX_SPIN_LOCK, *PEX_SPIN_LOCK;

#define EX_SPIN_LOCK_INIT 0

/** Returns: the level before, for the release */
KIRQL ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock) PLX_WIN_NAME(ExAcquireSpinLockShared);
VOID ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
	PLX_WIN_NAME(ExReleaseSpinLockShared);
VOID ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExAcquireSpinLockSharedAtDpcLevel);
VOID ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExReleaseSpinLockSharedFromDpcLevel);
KIRQL ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock) PLX_WIN_NAME(ExAcquireSpinLockExclusive);
VOID ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
	PLX_WIN_NAME(ExReleaseSpinLockExclusive);
VOID ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExAcquireSpinLockExclusiveAtDpcLevel);
VOID ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExReleaseSpinLockExclusiveFromDpcLevel);
/** Returns: FALSE: a writer holds it or waits */
LOGICAL ExTryAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExTryAcquireSpinLockSharedAtDpcLevel);
/** Returns: FALSE: another thread holds it */
LOGICAL ExTryAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExTryAcquireSpinLockExclusiveAtDpcLevel);
/** Make the caller, who holds it shared, its writer.
 * Returns: FALSE: there are other readers or a writer waits, and it is held as before */
LOGICAL ExTryConvertSharedSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
	PLX_WIN_NAME(ExTryConvertSharedSpinLockExclusive);

#ifdef __cplusplus
}
#endif

#endif
