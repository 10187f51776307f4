/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The dispatcher: one lock, under which a signal looks for the waits that it ends, and a wait for
 * what it may consume. Who ends a wait consumes for the waiter, so that the waiter has nothing to
 * do when it wakes. The waiter gives up by itself, under the lock, if nobody has ended its wait.
 * Start with wait_for() and ke_signal().
 *
 * A thread that is woken may free the object. So it is woken last, by ke_unlock(), and under the
 * lock, since its own object goes by that lock.
 */
#include "ke.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wdmseh.h>

pthread_mutex_t ke_dispatcher_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static PKTHREAD woken; /* whose waits ended since it was locked */

/* ---- the lock ---- */

void
ke_lock_for_wait(void)
{
	if (ke_self.wait_follows)
		ke_self.wait_follows = false;
	else
		pthread_mutex_lock(&ke_dispatcher_lock);
}

void
ke_lock(void)
{
	if (ke_self.wait_follows && plx_ke_checks())
		plx_wdk_stop("a call with Wait = TRUE was not followed by a wait");
	ke_lock_for_wait();
}

void
ke_wake(void)
{
	while (woken != NULL) {
		PKTHREAD thread = woken;

		woken = thread->woken_next;
		atomic_store_explicit(&thread->asleep, 0, memory_order_release);
		syscall(SYS_futex, &thread->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

void
ke_unlock(void)
{
	ke_wake();
	pthread_mutex_unlock(&ke_dispatcher_lock);
}

void
ke_unlock_or_hold(BOOLEAN wait)
{
	if (wait)
		ke_self.wait_follows = true;
	else
		ke_unlock();
}

void
ke_require_signal(const char *call, BOOLEAN wait)
{
	plx_ke_require(call, wait ? APC_LEVEL : DISPATCH_LEVEL);
}

/* ---- states ---- */

void
ke_set_state(DISPATCHER_HEADER *object, LONG state)
{
	__atomic_store_n(&object->SignalState, state, __ATOMIC_RELEASE);
}

LONG
ke_state(const DISPATCHER_HEADER *object)
{
	return __atomic_load_n(&object->SignalState, __ATOMIC_ACQUIRE);
}

void
ke_header_init(DISPATCHER_HEADER *object, enum ke_type type, size_t bytes, LONG state)
{
	object->Type = (UCHAR)type;
	object->Signalling = 0;
	object->Size = (UCHAR)(bytes / sizeof(LONG));
	object->Inserted = 0;
	object->SignalState = state;
	ke_list_init(&object->WaitListHead);
}

void
ke_require_object(const char *call, const DISPATCHER_HEADER *object, enum ke_type one,
		  enum ke_type other)
{
	/* Zeros would be a notification event, of no size. */
	if ((object->Size == 0 || (object->Type != one && object->Type != other)) &&
	    plx_ke_checks())
		plx_wdk_stop("%s: the object at %p is of another kind, or not initialized", call,
			     (const void *)object);
}

static bool
is_signalled_for(const DISPATCHER_HEADER *object, PKTHREAD thread)
{
	return ke_state(object) > 0 ||
	       (object->Type == KE_MUTANT && ((const KMUTEX *)object)->OwnerThread == thread);
}

/* What a wait takes. Returns: STATUS_WAIT_0, STATUS_ABANDONED_WAIT_0 */
static NTSTATUS
consume(DISPATCHER_HEADER *object, PKTHREAD thread)
{
	switch (object->Type) {
	case KE_SYNCHRONIZATION_EVENT:
	case KE_SYNCHRONIZATION_TIMER:
		ke_set_state(object, 0);
		return STATUS_WAIT_0;
	case KE_SEMAPHORE:
		ke_set_state(object, ke_state(object) - 1);
		return STATUS_WAIT_0;
	case KE_MUTANT:
		return ke_mutex_acquire((PKMUTEX)object, thread);
	default:
		return STATUS_WAIT_0;
	}
}

static bool
is_waitable(const DISPATCHER_HEADER *object)
{
	switch (object->Type) {
	case KE_NOTIFICATION_EVENT:
	case KE_SYNCHRONIZATION_EVENT:
	case KE_MUTANT:
	case KE_SEMAPHORE:
	case KE_PROCESS:
	case KE_THREAD:
	case KE_NOTIFICATION_TIMER:
	case KE_SYNCHRONIZATION_TIMER:
		return object->Size != 0;
	default:
		return false;
	}
}

/* ---- what a wait may take ---- */

/* A wait as its arguments say. */
struct wait {
	PVOID const *objects;
	ULONG count;
	WAIT_TYPE type;
	PKTHREAD thread;
};

/* Take all or one, if it can be done now. Returns: STATUS_TIMEOUT: nothing was taken */
static NTSTATUS
take(const struct wait *wait)
{
	NTSTATUS status = STATUS_WAIT_0;

	for (ULONG i = 0; i < wait->count; i++) {
		bool is_signalled = is_signalled_for(wait->objects[i], wait->thread);

		if (wait->type == WaitAny && is_signalled)
			return consume(wait->objects[i], wait->thread) + (NTSTATUS)i;
		if (wait->type == WaitAll && !is_signalled)
			return STATUS_TIMEOUT;
	}
	if (wait->type == WaitAny)
		return STATUS_TIMEOUT;
	for (ULONG i = 0; i < wait->count; i++) {
		NTSTATUS one = consume(wait->objects[i], wait->thread);

		if (one != STATUS_WAIT_0 && status == STATUS_WAIT_0)
			status = one + (NTSTATUS)i;
	}
	return status;
}

static void
unlink_blocks(PKTHREAD thread)
{
	for (ULONG i = 0; i < thread->count; i++)
		ke_list_remove(&thread->blocks[i].WaitListEntry);
	thread->count = 0;
}

/* Returns: false: it waits for more */
static bool
end_wait(PKWAIT_BLOCK block)
{
	PKTHREAD thread = block->Thread;
	PVOID objects[MAXIMUM_WAIT_OBJECTS];
	struct wait wait = {objects, thread->count, thread->wait_type, thread};
	NTSTATUS status;

	if (wait.type == WaitAny) {
		status = consume(block->Object, thread) + block->WaitKey;
	} else {
		for (ULONG i = 0; i < wait.count; i++)
			objects[i] = thread->blocks[i].Object;
		status = take(&wait);
		if (status == STATUS_TIMEOUT)
			return false;
	}
	unlink_blocks(thread);
	thread->status = status;
	thread->woken_next = woken;
	woken = thread;
	return true;
}

void
ke_signal(DISPATCHER_HEADER *object)
{
	LIST_ENTRY *entry = object->WaitListHead.Flink;

	while (entry != &object->WaitListHead && ke_state(object) > 0) {
		LIST_ENTRY *next = entry->Flink;

		/* The end of a wait may remove several of the list. */
		if (end_wait(CONTAINING_RECORD(entry, KWAIT_BLOCK, WaitListEntry)))
			next = object->WaitListHead.Flink;
		entry = next;
	}
}

/* ---- waiting ---- */

static void
link_blocks(const struct wait *wait, PKWAIT_BLOCK blocks)
{
	PKTHREAD thread = wait->thread;

	thread->blocks = blocks;
	thread->count = wait->count;
	thread->wait_type = wait->type;
	for (ULONG i = 0; i < wait->count; i++) {
		DISPATCHER_HEADER *object = wait->objects[i];

		blocks[i] = (KWAIT_BLOCK){
			.WaitType = (UCHAR)wait->type,
			.WaitKey = (USHORT)i,
			.Thread = thread,
			.Object = object,
		};
		ke_list_insert(&object->WaitListHead, &blocks[i].WaitListEntry);
	}
	atomic_store_explicit(&thread->asleep, 1, memory_order_relaxed);
}

/* Until it is woken or the time has come. @param due NULL: it never comes */
static void
sleep_until(PKTHREAD thread, const struct ke_due *due)
{
	int operation = FUTEX_WAIT_BITSET_PRIVATE;
	struct timespec at;

	if (due != NULL) {
		at = ke_timespec(*due);
		if (due->clock == CLOCK_REALTIME)
			operation |= FUTEX_CLOCK_REALTIME;
	}
	while (atomic_load_explicit(&thread->asleep, memory_order_acquire) != 0)
		if (syscall(SYS_futex, &thread->asleep, operation, 1, due != NULL ? &at : NULL,
			    NULL, FUTEX_BITSET_MATCH_ANY) != 0 &&
		    errno == ETIMEDOUT)
			return;
}

/* After its sleep. Returns: how the wait has ended */
static NTSTATUS
get_up(PKTHREAD thread)
{
	NTSTATUS status;

	if (atomic_load_explicit(&thread->asleep, memory_order_acquire) == 0)
		return thread->status;
	pthread_mutex_lock(&ke_dispatcher_lock);
	/* Who ended the wait before has also released the lock, and woken it. */
	if (atomic_load_explicit(&thread->asleep, memory_order_relaxed) != 0) {
		unlink_blocks(thread);
		atomic_store_explicit(&thread->asleep, 0, memory_order_relaxed);
		thread->status = STATUS_TIMEOUT;
	}
	status = thread->status;
	pthread_mutex_unlock(&ke_dispatcher_lock);
	return status;
}

static void
check_objects(const char *call, const struct wait *wait)
{
	for (ULONG i = 0; i < wait->count; i++)
		if (plx_ke_checks() && !is_waitable(wait->objects[i]))
			plx_wdk_stop("%s: the object at %p is none to wait for, or is not "
				     "initialized",
				     call, wait->objects[i]);
}

/* A mutex can be acquired only so often. */
static bool
is_at_limit(const struct wait *wait)
{
	for (ULONG i = 0; i < wait->count; i++) {
		const KMUTEX *mutex = wait->objects[i];

		if (mutex->Header.Type == KE_MUTANT && mutex->OwnerThread == wait->thread &&
		    mutex->Header.SignalState == MINLONG)
			return true;
	}
	return false;
}

static NTSTATUS
wait_for(const char *call, const struct wait *wait, const LARGE_INTEGER *timeout,
	 PKWAIT_BLOCK blocks)
{
	struct ke_due due;
	NTSTATUS status;

	plx_ke_require_wait(call, timeout);
	ke_lock_for_wait();
	check_objects(call, wait);
	if (is_at_limit(wait)) {
		ke_unlock();
		ExRaiseStatus(STATUS_MUTANT_LIMIT_EXCEEDED);
	}
	status = take(wait);
	if (status != STATUS_TIMEOUT || (timeout != NULL && timeout->QuadPart == 0)) {
		ke_unlock();
		return status;
	}
	if (timeout != NULL)
		due = ke_due(timeout->QuadPart);
	link_blocks(wait, blocks);
	ke_unlock();
	sleep_until(wait->thread, timeout != NULL ? &due : NULL);
	return get_up(wait->thread);
}

NTSTATUS
KeWaitForSingleObject(PVOID object, KWAIT_REASON reason, KPROCESSOR_MODE mode, BOOLEAN alertable,
		      PLARGE_INTEGER timeout)
{
	struct wait wait = {&object, 1, WaitAny, ke_thread()};

	(void)reason, (void)mode, (void)alertable;
	return wait_for("KeWaitForSingleObject", &wait, timeout, wait.thread->own_blocks);
}

NTSTATUS
KeWaitForMultipleObjects(ULONG count, PVOID objects[], WAIT_TYPE type, KWAIT_REASON reason,
			 KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER timeout,
			 PKWAIT_BLOCK blocks)
{
	struct wait wait = {objects, count, type, ke_thread()};
	ULONG max = blocks != NULL ? MAXIMUM_WAIT_OBJECTS : THREAD_WAIT_OBJECTS;

	(void)reason, (void)mode, (void)alertable;
	/* Windows stops here, too: nothing could be returned. */
	if (count == 0 || count > max)
		plx_wdk_stop("KeWaitForMultipleObjects was called for %u objects; with %s it "
			     "waits for 1 to %u",
			     count, blocks != NULL ? "wait blocks" : "no wait blocks", max);
	return wait_for("KeWaitForMultipleObjects", &wait, timeout,
			blocks != NULL ? blocks : wait.thread->own_blocks);
}

NTSTATUS
KeDelayExecutionThread(KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER interval)
{
	struct ke_due due = ke_due(interval->QuadPart);
	struct timespec at = ke_timespec(due);

	(void)mode, (void)alertable;
	plx_ke_require("KeDelayExecutionThread", APC_LEVEL);
	/* It is not the wait that may follow a call with Wait = TRUE. */
	ke_lock();
	ke_unlock();
	if (interval->QuadPart == 0)
		sched_yield();
	else
		while (clock_nanosleep(due.clock, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
	return STATUS_SUCCESS;
}
