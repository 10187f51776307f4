/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timers that the system allocates: a timer and a DPC of Ke, which the DPC sets again for each
 * period. One is freed when no DPC of it is queued or runs: by who waits for that, or by a work
 * item. Start with expired() and ExDeleteTimer().
 */
#include "ex.h"

enum {
	TIMER_TAG = 0x6d547845, /* "ExTm" in memory */
	ATTRIBUTES = EX_TIMER_HIGH_RESOLUTION | EX_TIMER_NO_WAKE | (LONG)EX_TIMER_NOTIFICATION,
};

struct _EX_TIMER {
	KTIMER timer; /* first: drivers wait for it */
	KDPC dpc;
	PEXT_CALLBACK callback;
	PVOID context;
	KSPIN_LOCK lock;  /* of what follows, and of setting and cancelling */
	LONGLONG period;  /* 0: none */
	LONGLONG due;     /* of what is set: as KeSetTimer() takes it, if it is absolute */
	ULONGLONG due_at; /* or the interrupt time, if it is relative */
	BOOLEAN is_deleted, is_freed;
	WORK_QUEUE_ITEM item;
	PKEVENT waiter;
	EXT_DELETE_PARAMETERS last;
};

/* The lock is held. Returns: whether it was set */
static BOOLEAN
set(PEX_TIMER t, LONGLONG due)
{
	t->due = due;
	t->due_at = KeQueryUnbiasedInterruptTime() + (ULONGLONG)(due < 0 ? -due : 0);
	return KeSetTimer(&t->timer, (LARGE_INTEGER){.QuadPart = due}, &t->dpc);
}

/* How long until an interrupt time, as KeSetTimer() takes it: at once if it has passed. */
static LONGLONG
until(ULONGLONG at)
{
	ULONGLONG now = KeQueryUnbiasedInterruptTime();

	return at > now ? -(LONGLONG)(at - now) : -1;
}

/* The lock is held. A timer that can be cancelled is set; it is set again as it was. */
static BOOLEAN
is_set(PEX_TIMER t)
{
	if (!KeCancelTimer(&t->timer))
		return FALSE;
	(void)KeSetTimer(&t->timer,
			 (LARGE_INTEGER){.QuadPart = t->due < 0 ? until(t->due_at) : t->due},
			 &t->dpc);
	return TRUE;
}

/* No DPC of it will be queued. */
static VOID
free_timer(PVOID timer)
{
	PEX_TIMER t = timer;
	EXT_DELETE_PARAMETERS last = t->last;
	PKEVENT waiter = t->waiter;

	KeFlushQueuedDpcs();
	ExFreePoolWithTag(t, TIMER_TAG);
	if (last.DeleteCallback)
		last.DeleteCallback(last.DeleteContext);
	if (waiter)
		(void)KeSetEvent(waiter, 0, FALSE);
}

static VOID
expired(PKDPC dpc, PVOID timer, PVOID a, PVOID b)
{
	PEX_TIMER t = timer;
	BOOLEAN is_last;
	KIRQL old;

	(void)dpc, (void)a, (void)b;
	KeAcquireSpinLock(&t->lock, &old);
	/* Periods count from when it was due, and those that have passed are left out. */
	if (t->period && !is_set(t)) {
		ULONGLONG now = KeQueryUnbiasedInterruptTime(), period = (ULONGLONG)t->period;
		ULONGLONG late = now > t->due_at && t->due < 0 ? now - t->due_at : 0;

		(void)set(t, -(LONGLONG)(period - late % period));
	}
	KeReleaseSpinLock(&t->lock, old);
	if (t->callback)
		t->callback(t, t->context);
	KeAcquireSpinLock(&t->lock, &old);
	is_last = t->is_deleted && !t->is_freed && !is_set(t);
	t->is_freed |= is_last;
	KeReleaseSpinLock(&t->lock, old);
	if (is_last)
		ExQueueWorkItem(&t->item, DelayedWorkQueue);
}

PEX_TIMER
ExAllocateTimer(PEXT_CALLBACK callback, PVOID context, ULONG attributes)
{
	const ULONG excluding = EX_TIMER_HIGH_RESOLUTION | EX_TIMER_NO_WAKE;
	PEX_TIMER t;

	plx_ke_require("ExAllocateTimer", DISPATCH_LEVEL);
	if (attributes & ~(ULONG)ATTRIBUTES || (attributes & excluding) == excluding)
		return NULL;
	t = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*t), TIMER_TAG);
	if (!t)
		return NULL;
	t->callback = callback;
	t->context = context;
	KeInitializeSpinLock(&t->lock);
	KeInitializeTimerEx(&t->timer, attributes & EX_TIMER_NOTIFICATION ? NotificationTimer
									  : SynchronizationTimer);
	KeInitializeDpc(&t->dpc, expired, t);
	ExInitializeWorkItem(&t->item, free_timer, t);
	return t;
}

BOOLEAN
ExSetTimer(PEX_TIMER t, LONGLONG due, LONGLONG period, PEXT_SET_PARAMETERS parameters)
{
	BOOLEAN was_set = FALSE;
	KIRQL old;

	plx_ke_require("ExSetTimer", DISPATCH_LEVEL);
	(void)parameters;
	KeAcquireSpinLock(&t->lock, &old);
	if (!t->is_deleted) {
		t->period = period;
		was_set = set(t, due);
	}
	KeReleaseSpinLock(&t->lock, old);
	return was_set;
}

/* The lock is held. A periodic timer is set until it is cancelled, also while its DPC is queued. */
static BOOLEAN
cancel(PEX_TIMER t)
{
	BOOLEAN was_set = (BOOLEAN)(KeCancelTimer(&t->timer) || t->period != 0);

	t->period = 0;
	return was_set;
}

BOOLEAN
ExCancelTimer(PEX_TIMER t, PEXT_CANCEL_PARAMETERS parameters)
{
	BOOLEAN was_set;
	KIRQL old;

	plx_ke_require("ExCancelTimer", DISPATCH_LEVEL);
	(void)parameters;
	KeAcquireSpinLock(&t->lock, &old);
	was_set = (BOOLEAN)(!t->is_deleted && cancel(t));
	KeReleaseSpinLock(&t->lock, old);
	return was_set;
}

BOOLEAN
ExDeleteTimer(PEX_TIMER t, BOOLEAN is_cancelled, BOOLEAN wait, PEXT_DELETE_PARAMETERS parameters)
{
	BOOLEAN was_set = FALSE, is_idle = FALSE;
	KEVENT done;
	KIRQL old;

	plx_ke_require("ExDeleteTimer", wait ? APC_LEVEL : DISPATCH_LEVEL);
	if (wait && !is_cancelled)
		plx_wdk_stop("ExDeleteTimer was called to wait for a timer without cancelling it");
	KeInitializeEvent(&done, NotificationEvent, FALSE);
	KeAcquireSpinLock(&t->lock, &old);
	if (!t->is_deleted) {
		t->is_deleted = TRUE;
		if (parameters)
			t->last = *parameters;
		was_set = (BOOLEAN)(is_cancelled && cancel(t));
		t->period = 0;
		is_idle = (BOOLEAN)!is_set(t);
		t->is_freed = is_idle;
		t->waiter = wait ? &done : NULL;
	}
	KeReleaseSpinLock(&t->lock, old);
	if (is_idle)
		ExQueueWorkItem(&t->item, DelayedWorkQueue);
	if (is_idle && wait)
		(void)KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
	return was_set;
}
