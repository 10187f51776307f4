/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke: objects to wait for (events, semaphores, mutexes, timers, threads), and the waits.
 *
 * The objects are in the driver's memory, and none has to be ended: memory may be freed when nobody
 * waits and no timer is set. One lock covers them all, as it did in Windows, so that each signal is
 * consumed once, a wait for all takes all or none, and a timeout and a signal exclude each other.
 * Waiters are served in the order of arrival.
 *
 * Times are in units of 100 ns: negative ones are relative, and positive ones are system time,
 * whose changes they follow. Threads: every call from any thread. All but the waits at or below
 * DISPATCH_LEVEL. Tests: tests/unit/windows/ke/wait.c
 */
#ifndef PLX_WDK_WDMWAIT_H
#define PLX_WDK_WDMWAIT_H

#include "wdmdpc.h"
#include "wdmps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SignalState above 0 is signalled. A mutex that its owner has acquired n times has 1 - n. */
typedef struct _DISPATCHER_HEADER {
	__extension__ union {
		volatile LONG Lock;
		__extension__ struct {
			UCHAR Type;
			UCHAR Signalling;
			UCHAR Size;
			UCHAR Inserted; /* of a timer: which clock's queue has it; 0: none */
		};
	};
	LONG SignalState;
	LIST_ENTRY WaitListHead;
} DISPATCHER_HEADER, *PDISPATCHER_HEADER;

typedef struct _KWAIT_BLOCK {
	LIST_ENTRY WaitListEntry;
	UCHAR WaitType;
	volatile UCHAR BlockState;
	USHORT WaitKey; /* index of the object in the wait */
	PKTHREAD Thread;
	PVOID Object;
	PVOID SparePtr;
} KWAIT_BLOCK, *PKWAIT_BLOCK, *PRKWAIT_BLOCK;

#define THREAD_WAIT_OBJECTS 3

typedef enum _WAIT_TYPE {
	WaitAll,
	WaitAny,
} WAIT_TYPE;

/* What a wait is for. Only a debugger would read it. */
typedef enum _KWAIT_REASON {
	Executive,
	FreePage,
	PageIn,
	PoolAllocation,
	DelayExecution,
	Suspended,
	UserRequest,
	WrExecutive,
	WrFreePage,
	WrPageIn,
	WrPoolAllocation,
	WrDelayExecution,
	WrSuspended,
	WrUserRequest,
} KWAIT_REASON;

/* ---- waits ----
 *
 * At or below APC_LEVEL; at DISPATCH_LEVEL with a timeout of 0, which never waits. Neither mode nor
 * Alertable matters: nothing queues an APC here.
 */

/**
 * @param Object  an event, a semaphore, a mutex, a timer or a thread
 * @param Timeout NULL: no limit; 0: none; otherwise as above
 * Returns: STATUS_SUCCESS; STATUS_TIMEOUT; STATUS_ABANDONED_WAIT_0 (its last owner ended with it)
 * Errors: raises STATUS_MUTANT_LIMIT_EXCEEDED, if the mutex is owned MINLONG times
 */
NTSTATUS KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
			       BOOLEAN Alertable, PLARGE_INTEGER Timeout)
	PLX_WIN_NAME(KeWaitForSingleObject);
#define KeWaitForMutexObject KeWaitForSingleObject
/**
 * @param Count          1 to MAXIMUM_WAIT_OBJECTS
 * @param WaitType       WaitAny: the first signalled one of the array; WaitAll: all at once
 * @param WaitBlockArray Count blocks that stay until it returns; NULL: for THREAD_WAIT_OBJECTS at
 *                       most
 * Returns: STATUS_WAIT_0 + the object's index, for WaitAll STATUS_SUCCESS; the same from
 * STATUS_ABANDONED_WAIT_0 on, if that mutex was abandoned; STATUS_TIMEOUT
 */
NTSTATUS KeWaitForMultipleObjects(ULONG Count, PVOID Object[], WAIT_TYPE WaitType,
				  KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
				  BOOLEAN Alertable, PLARGE_INTEGER Timeout,
				  PKWAIT_BLOCK WaitBlockArray)
	PLX_WIN_NAME(KeWaitForMultipleObjects);
/** Returns: STATUS_SUCCESS, when the time has passed */
NTSTATUS KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
				PLARGE_INTEGER Interval) PLX_WIN_NAME(KeDelayExecutionThread);

/* Of the priority of those who are woken; ignored. */
#define EVENT_INCREMENT     1
#define SEMAPHORE_INCREMENT 1
#define MUTANT_INCREMENT    1

/* ---- events ---- */

/* A notification event stays set for everybody; a synchronization event releases one waiter. */
typedef enum _EVENT_TYPE {
	NotificationEvent,
	SynchronizationEvent,
} EVENT_TYPE;

typedef struct _KEVENT {
	DISPATCHER_HEADER Header;
} KEVENT, *PKEVENT, *PRKEVENT;

VOID KeInitializeEvent(PRKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
	PLX_WIN_NAME(KeInitializeEvent);
/**
 * @param Increment of the priority of those it wakes; ignored
 * @param Wait      TRUE: the caller's next call is a wait, and no thread's call comes between
 * Returns: the state before, not 0 if it was signalled
 */
LONG KeSetEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait) PLX_WIN_NAME(KeSetEvent);
/** Release those who wait now, all of them or one, and reset it.
 * Returns: the state before */
LONG KePulseEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait) PLX_WIN_NAME(KePulseEvent);
/** Returns: the state before */
LONG KeResetEvent(PRKEVENT Event) PLX_WIN_NAME(KeResetEvent);
VOID KeClearEvent(PRKEVENT Event) PLX_WIN_NAME(KeClearEvent);
LONG KeReadStateEvent(PRKEVENT Event) PLX_WIN_NAME(KeReadStateEvent);

/* ---- semaphores ---- */

typedef struct _KSEMAPHORE {
	DISPATCHER_HEADER Header;
	LONG Limit;
} KSEMAPHORE, *PKSEMAPHORE, *PRKSEMAPHORE;

VOID KeInitializeSemaphore(PRKSEMAPHORE Semaphore, LONG Count, LONG Limit)
	PLX_WIN_NAME(KeInitializeSemaphore);
/**
 * @param Increment  of the priority of those it wakes; ignored
 * @param Adjustment what is added to the count, above 0
 * @param Wait       as KeSetEvent()'s
 * Returns: the count before
 * Errors: raises STATUS_SEMAPHORE_LIMIT_EXCEEDED, and nothing has changed
 */
LONG KeReleaseSemaphore(PRKSEMAPHORE Semaphore, KPRIORITY Increment, LONG Adjustment, BOOLEAN Wait)
	PLX_WIN_NAME(KeReleaseSemaphore);
LONG KeReadStateSemaphore(PRKSEMAPHORE Semaphore) PLX_WIN_NAME(KeReadStateSemaphore);

/* ---- mutexes ---- */

typedef struct _KMUTANT {
	DISPATCHER_HEADER Header;
	LIST_ENTRY MutantListEntry;
	PKTHREAD OwnerThread;
	BOOLEAN Abandoned;
	UCHAR ApcDisable;
} KMUTANT, *PKMUTANT, *PRKMUTANT, KMUTEX, *PKMUTEX, *PRKMUTEX;

/** @param Level ignored, as in Windows */
VOID KeInitializeMutex(PRKMUTEX Mutex, ULONG Level) PLX_WIN_NAME(KeInitializeMutex);
/**
 * Release it once; it is free when it was released as often as acquired. A thread that ends as the
 * owner ends the process with a sentence, if the checks are on; otherwise the mutex is abandoned.
 * @param Wait as KeSetEvent()'s
 * Returns: the state before: 0: it is free now
 * Errors: raises STATUS_MUTANT_NOT_OWNED, STATUS_ABANDONED (it was abandoned, and is not acquired
 * since), and nothing has changed
 */
LONG KeReleaseMutex(PRKMUTEX Mutex, BOOLEAN Wait) PLX_WIN_NAME(KeReleaseMutex);
LONG KeReadStateMutex(PRKMUTEX Mutex) PLX_WIN_NAME(KeReadStateMutex);

/* ---- timers ---- */

/* A notification timer stays signalled until it is set again; a synchronization timer releases one
 * waiter each time. */
typedef enum _TIMER_TYPE {
	NotificationTimer,
	SynchronizationTimer,
} TIMER_TYPE;

typedef struct _KTIMER {
	DISPATCHER_HEADER Header;
	ULARGE_INTEGER DueTime; /* on its clock */
	LIST_ENTRY TimerListEntry;
	PKDPC Dpc;
	ULONG Processor;
	ULONG Period; /* ms; 0: it expires once */
} KTIMER, *PKTIMER, *PRKTIMER;

VOID KeInitializeTimer(PKTIMER Timer) PLX_WIN_NAME(KeInitializeTimer);
VOID KeInitializeTimerEx(PKTIMER Timer, TIMER_TYPE Type) PLX_WIN_NAME(KeInitializeTimerEx);
/**
 * Set a timer, or set it anew. It is not signalled until it expires.
 * @param DueTime as above; 0 and what has passed expire at once
 * @param Dpc     NULL, or queued when it expires
 * Returns: whether it was set already
 * Cost: one step for each timer that is set and due later
 */
BOOLEAN KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc) PLX_WIN_NAME(KeSetTimer);
/** @param Period 0, or ms from one expiry to the next, until it is cancelled or set again */
BOOLEAN KeSetTimerEx(PKTIMER Timer, LARGE_INTEGER DueTime, LONG Period, PKDPC Dpc)
	PLX_WIN_NAME(KeSetTimerEx);
/** @param TolerableDelay ms by which it may be late; it is not made late on purpose */
BOOLEAN KeSetCoalescableTimer(PKTIMER Timer, LARGE_INTEGER DueTime, ULONG Period,
			      ULONG TolerableDelay, PKDPC Dpc) PLX_WIN_NAME(KeSetCoalescableTimer);
/** Returns: whether it was set. FALSE: its DPC, if it has one, is queued, running or done */
BOOLEAN KeCancelTimer(PKTIMER Timer) PLX_WIN_NAME(KeCancelTimer);
BOOLEAN KeReadStateTimer(PKTIMER Timer) PLX_WIN_NAME(KeReadStateTimer);

#ifdef __cplusplus
}
#endif

#endif
