/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects and waits, without races: what each object does to each kind of wait, what a wait for
 * several takes, timeouts. Start with each_object_ends_each_wait_as_it_should().
 */
#include "ke_test.h"

#include <wdmseh.h>

_Static_assert(sizeof(DISPATCHER_HEADER) == 24, "16 bytes of list behind 8");
_Static_assert(offsetof(DISPATCHER_HEADER, SignalState) == 4, "the state");
_Static_assert(offsetof(DISPATCHER_HEADER, WaitListHead) == 8, "the list");
_Static_assert(sizeof(KEVENT) == 24 && sizeof(KSEMAPHORE) == 32, "events, semaphores");
_Static_assert(sizeof(KMUTEX) == 56 && sizeof(KTIMER) == 64, "mutexes, timers");
_Static_assert(sizeof(KWAIT_BLOCK) == 48 && sizeof(KDPC) == 64, "wait blocks, DPCs");

static NTSTATUS
poll(PVOID object)
{
	LARGE_INTEGER none = {.QuadPart = 0};

	return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &none);
}

static NTSTATUS
poll_all(ULONG n, PVOID objects[], WAIT_TYPE type)
{
	LARGE_INTEGER none = {.QuadPart = 0};

	return KeWaitForMultipleObjects(n, objects, type, Executive, KernelMode, FALSE, &none,
					NULL);
}

/* ---- one object ---- */

union any {
	DISPATCHER_HEADER header;
	KEVENT event;
	KSEMAPHORE semaphore;
	KMUTEX mutex;
	KTIMER timer;
};

static void
make_notification_event(union any *any)
{
	KeInitializeEvent(&any->event, NotificationEvent, FALSE);
}

static void
make_synchronization_event(union any *any)
{
	KeInitializeEvent(&any->event, SynchronizationEvent, FALSE);
}

static void
make_semaphore(union any *any)
{
	KeInitializeSemaphore(&any->semaphore, 0, 2);
}

static void
make_notification_timer(union any *any)
{
	KeInitializeTimer(&any->timer);
}

static void
make_synchronization_timer(union any *any)
{
	KeInitializeTimerEx(&any->timer, SynchronizationTimer);
}

static void
set_event(union any *any)
{
	KeSetEvent(&any->event, 0, FALSE);
}

static void
pulse_event(union any *any)
{
	KePulseEvent(&any->event, 0, FALSE);
}

static void
release_one(union any *any)
{
	KeReleaseSemaphore(&any->semaphore, 0, 1, FALSE);
}

static void
release_two(union any *any)
{
	KeReleaseSemaphore(&any->semaphore, 0, 2, FALSE);
}

static void
expire(union any *any)
{
	KeSetTimer(&any->timer, (LARGE_INTEGER){.QuadPart = 0}, NULL);
}

/* A signal, with nobody waiting or three threads: how many waits it ends, and what is left. */
static const struct row {
	const char *name;
	void (*make)(union any *any);
	void (*signal)(union any *any);
	LONG left_alone;  /* state after it without waiters */
	int ended;        /* of three waits */
	LONG left_waited; /* state after it with three */
} rows[] = {
	{"notification event", make_notification_event, set_event, 1, 3, 1},
	{"synchronization event", make_synchronization_event, set_event, 1, 1, 0},
	{"notification event, pulsed", make_notification_event, pulse_event, 0, 3, 0},
	{"synchronization event, pulsed", make_synchronization_event, pulse_event, 0, 1, 0},
	{"semaphore by 1", make_semaphore, release_one, 1, 1, 0},
	{"semaphore by 2", make_semaphore, release_two, 2, 2, 0},
	{"notification timer", make_notification_timer, expire, 1, 3, 1},
	{"synchronization timer", make_synchronization_timer, expire, 1, 1, 0},
};

/* How a waiter waits for the object: alone, or beside one that is signalled or never is. */
enum how {
	ALONE,
	ANY_OF,
	ALL_OF,
	HOWS,
};

struct waiter {
	union any *any;
	enum how how;
	atomic_int *ended;
	KEVENT never, always;
	NTSTATUS status;
};

static VOID
wait_as(PVOID context)
{
	struct waiter *waiter = context;
	PVOID any_of[] = {&waiter->never, waiter->any};
	PVOID all_of[] = {waiter->any, &waiter->always};
	LARGE_INTEGER limit = ke_in_ms(KE_LIMIT_MS);

	if (waiter->how == ALONE)
		waiter->status =
			KeWaitForSingleObject(waiter->any, Executive, KernelMode, FALSE, &limit);
	else
		waiter->status =
			KeWaitForMultipleObjects(2, waiter->how == ANY_OF ? any_of : all_of,
						 waiter->how == ANY_OF ? WaitAny : WaitAll,
						 Executive, KernelMode, FALSE, &limit, NULL);
	atomic_fetch_add(waiter->ended, 1);
}

static void
check_waited(const struct row *row, enum how how)
{
	struct waiter waiters[3];
	PKTHREAD threads[3];
	atomic_int ended = 0;
	union any any;

	row->make(&any);
	for (int i = 0; i < 3; i++) {
		waiters[i] = (struct waiter){.any = &any, .how = how, .ended = &ended};
		KeInitializeEvent(&waiters[i].never, NotificationEvent, FALSE);
		KeInitializeEvent(&waiters[i].always, NotificationEvent, TRUE);
		threads[i] = ke_run(wait_as, &waiters[i]);
		ke_wait_for_waiters(&any.header, i + 1);
	}
	row->signal(&any);
	assert_int_equal(any.header.SignalState, row->left_waited);
	/* In the order of arrival. */
	for (int i = 0; i < row->ended; i++)
		ke_wait(threads[i]);
	assert_int_equal(ended, row->ended);
	ke_wait_for_waiters(&any.header, 3 - row->ended);
	for (int left = 3 - row->ended; left > 0; left -= row->ended) {
		row->signal(&any);
		ke_wait_for_waiters(&any.header, left > row->ended ? left - row->ended : 0);
	}
	for (int i = 0; i < 3; i++) {
		ke_join(threads[i]);
		assert_int_equal(waiters[i].status, how == ANY_OF ? STATUS_WAIT_1 : STATUS_WAIT_0);
	}
}

static void
each_object_ends_each_wait_as_it_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(rows); i++) {
		union any any;

		rows[i].make(&any);
		assert_int_equal(poll(&any), STATUS_TIMEOUT);
		rows[i].signal(&any);
		assert_int_equal(any.header.SignalState, rows[i].left_alone);
		for (LONG n = 0; n < rows[i].left_alone; n++)
			assert_int_equal(poll(&any), STATUS_SUCCESS);
		/* What stays signalled is consumed by nobody. */
		assert_int_equal(poll(&any), rows[i].left_waited ? STATUS_SUCCESS : STATUS_TIMEOUT);
		for (enum how how = ALONE; how < HOWS; how++)
			check_waited(&rows[i], how);
	}
}

static void
calls_return_the_state_before(void **state)
{
	KEVENT event;
	KSEMAPHORE semaphore;

	(void)state;
	KeInitializeEvent(&event, NotificationEvent, FALSE);
	assert_int_equal(KeSetEvent(&event, 0, FALSE), 0);
	assert_int_not_equal(KeSetEvent(&event, 0, FALSE), 0);
	assert_int_not_equal(KeReadStateEvent(&event), 0);
	assert_int_not_equal(KeResetEvent(&event), 0);
	assert_int_equal(KeResetEvent(&event), 0);
	KeSetEvent(&event, 0, FALSE);
	assert_int_not_equal(KePulseEvent(&event, 0, FALSE), 0);
	KeSetEvent(&event, 0, FALSE);
	KeClearEvent(&event);
	assert_int_equal(KeReadStateEvent(&event), 0);
	KeInitializeSemaphore(&semaphore, 1, 5);
	assert_int_equal(KeReleaseSemaphore(&semaphore, 0, 3, FALSE), 1);
	assert_int_equal(KeReadStateSemaphore(&semaphore), 4);
}

static void
a_semaphore_beyond_its_limit_raises_and_stays(void **state)
{
	volatile NTSTATUS raised = STATUS_SUCCESS;
	KSEMAPHORE semaphore;

	(void)state;
	KeInitializeSemaphore(&semaphore, 1, MAXLONG);
	__try {
		KeReleaseSemaphore(&semaphore, 0, MAXLONG, FALSE);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		raised = GetExceptionCode();
	}
	assert_int_equal(raised, STATUS_SEMAPHORE_LIMIT_EXCEEDED);
	assert_int_equal(KeReadStateSemaphore(&semaphore), 1);
	/* and the lock is free */
	assert_int_equal(KeReleaseSemaphore(&semaphore, 0, MAXLONG - 1, FALSE), 1);
}

/* ---- several objects ---- */

static void
a_wait_for_any_takes_the_first_of_the_array_alone(void **state)
{
	KEVENT events[3];
	PVOID objects[] = {&events[0], &events[1], &events[2]};

	(void)state;
	for (int set = 0; set < 8; set++) {
		NTSTATUS expected = set & 1 ? 0 : set & 2 ? 1 : set & 4 ? 2 : STATUS_TIMEOUT;

		for (int i = 0; i < 3; i++)
			KeInitializeEvent(&events[i], SynchronizationEvent, set >> i & 1);
		assert_int_equal(poll_all(3, objects, WaitAny), expected);
		for (int i = 0; i < 3; i++)
			assert_int_equal(KeReadStateEvent(&events[i]),
					 (set >> i & 1) && i != expected);
	}
}

static void
a_wait_for_all_takes_all_or_none(void **state)
{
	KEVENT events[3];
	PVOID objects[] = {&events[0], &events[1], &events[2]};

	(void)state;
	for (int set = 0; set < 8; set++) {
		for (int i = 0; i < 3; i++)
			KeInitializeEvent(&events[i], SynchronizationEvent, set >> i & 1);
		assert_int_equal(poll_all(3, objects, WaitAll),
				 set == 7 ? STATUS_SUCCESS : STATUS_TIMEOUT);
		for (int i = 0; i < 3; i++)
			assert_int_equal(KeReadStateEvent(&events[i]), set == 7 ? 0 : set >> i & 1);
	}
}

static void
sixty_four_objects_can_be_waited_for(void **state)
{
	LARGE_INTEGER limit = ke_in_ms(KE_LIMIT_MS), little = ke_in_ms(1);
	KWAIT_BLOCK blocks[MAXIMUM_WAIT_OBJECTS];
	KEVENT events[MAXIMUM_WAIT_OBJECTS];
	PVOID objects[MAXIMUM_WAIT_OBJECTS];

	(void)state;
	for (ULONG i = 0; i < MAXIMUM_WAIT_OBJECTS; i++) {
		KeInitializeEvent(&events[i], SynchronizationEvent, FALSE);
		objects[i] = &events[i];
	}
	for (WAIT_TYPE type = WaitAll; type <= WaitAny; type++)
		assert_int_equal(KeWaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, objects, type,
							  Executive, KernelMode, FALSE, &little,
							  blocks),
				 STATUS_TIMEOUT);
	KeSetEvent(&events[63], 0, FALSE);
	assert_int_equal(KeWaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, objects, WaitAny, Executive,
						  KernelMode, FALSE, &limit, blocks),
			 STATUS_WAIT_63);
	for (ULONG i = 0; i < MAXIMUM_WAIT_OBJECTS; i++)
		KeSetEvent(&events[i], 0, FALSE);
	assert_int_equal(KeWaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, objects, WaitAll, Executive,
						  KernelMode, FALSE, &limit, blocks),
			 STATUS_SUCCESS);
	assert_int_equal(KeReadStateEvent(&events[0]) + KeReadStateEvent(&events[63]), 0);
}

struct both {
	KEVENT first, second;
	PKTHREAD thread;
	NTSTATUS status;
};

static VOID
wait_for_both(PVOID context)
{
	struct both *both = context;
	PVOID objects[] = {&both->first, &both->second};
	LARGE_INTEGER limit = ke_in_ms(KE_LIMIT_MS);

	both->status = KeWaitForMultipleObjects(2, objects, WaitAll, Executive, KernelMode, FALSE,
						&limit, NULL);
}

static void
a_waiter_for_all_lets_others_take_what_it_cannot_use(void **state)
{
	struct both both;

	(void)state;
	KeInitializeEvent(&both.first, SynchronizationEvent, FALSE);
	KeInitializeEvent(&both.second, SynchronizationEvent, FALSE);
	both.thread = ke_run(wait_for_both, &both);
	ke_wait_for_waiters(&both.first.Header, 1);
	KeSetEvent(&both.first, 0, FALSE);
	/* It is there for us, although another waits for it, too. */
	assert_int_equal(poll(&both.first), STATUS_SUCCESS);
	KeSetEvent(&both.second, 0, FALSE);
	assert_int_not_equal(KeReadStateEvent(&both.second), 0);
	KeSetEvent(&both.first, 0, FALSE);
	ke_join(both.thread);
	assert_int_equal(both.status, STATUS_SUCCESS);
	assert_int_equal(KeReadStateEvent(&both.first) + KeReadStateEvent(&both.second), 0);
}

/* ---- mutexes ---- */

static NTSTATUS
release(PKMUTEX mutex)
{
	volatile NTSTATUS raised = STATUS_SUCCESS;

	__try {
		KeReleaseMutex(mutex, FALSE);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		raised = GetExceptionCode();
	}
	return raised;
}

static VOID
fail_to_take(PVOID mutex)
{
	assert_int_equal(poll(mutex), STATUS_TIMEOUT);
	assert_int_equal(release(mutex), STATUS_MUTANT_NOT_OWNED);
}

static void
a_mutex_is_its_owners_as_often_as_it_was_taken(void **state)
{
	KMUTEX mutex;

	(void)state;
	KeInitializeMutex(&mutex, 0);
	assert_int_equal(KeReadStateMutex(&mutex), 1);
	assert_int_equal(release(&mutex), STATUS_MUTANT_NOT_OWNED);
	assert_false(KeAreApcsDisabled());
	ke_wait(&mutex);
	ke_wait(&mutex);
	assert_true(KeAreApcsDisabled());
	assert_int_equal(KeReadStateMutex(&mutex), -1);
	ke_join(ke_run(fail_to_take, &mutex));
	assert_int_equal(KeReleaseMutex(&mutex, FALSE), -1);
	ke_join(ke_run(fail_to_take, &mutex));
	assert_int_equal(KeReleaseMutex(&mutex, FALSE), 0);
	assert_int_equal(KeReadStateMutex(&mutex), 1);
	assert_false(KeAreApcsDisabled());
}

static void
a_mutex_can_be_taken_so_often_and_then_raises(void **state)
{
	volatile NTSTATUS raised = STATUS_SUCCESS;
	KMUTEX mutex;

	(void)state;
	KeInitializeMutex(&mutex, 0);
	ke_wait(&mutex);
	mutex.Header.SignalState = MINLONG;
	__try {
		poll(&mutex);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		raised = GetExceptionCode();
	}
	assert_int_equal(raised, STATUS_MUTANT_LIMIT_EXCEEDED);
	assert_int_equal(mutex.Header.SignalState, MINLONG);
	mutex.Header.SignalState = 0;
	KeReleaseMutex(&mutex, FALSE);
}

struct handover {
	KMUTEX mutex;
	KEVENT taken;
};

static VOID
take_and_release(PVOID context)
{
	struct handover *handover = context;

	ke_wait(&handover->mutex);
	assert_ptr_equal(handover->mutex.OwnerThread, KeGetCurrentThread());
	KeSetEvent(&handover->taken, 0, FALSE);
	KeReleaseMutex(&handover->mutex, FALSE);
}

static void
a_released_mutex_is_the_next_waiters(void **state)
{
	struct handover handover;
	PKTHREAD thread;

	(void)state;
	KeInitializeMutex(&handover.mutex, 0);
	KeInitializeEvent(&handover.taken, NotificationEvent, FALSE);
	ke_wait(&handover.mutex);
	thread = ke_run(take_and_release, &handover);
	ke_wait_for_waiters(&handover.mutex.Header, 1);
	assert_int_equal(KeReadStateEvent(&handover.taken), 0);
	KeReleaseMutex(&handover.mutex, FALSE);
	ke_wait(&handover.taken);
	ke_join(thread);
	assert_int_equal(KeReadStateMutex(&handover.mutex), 1);
}

/* ---- time ---- */

static void
a_timeout_ends_a_wait_and_not_before(void **state)
{
	static const LONGLONG times[] = {1, 10, 999, 10000, 123456};
	KEVENT event;

	(void)state;
	KeInitializeEvent(&event, NotificationEvent, FALSE);
	for (size_t i = 0; i < ARRAYSIZE(times); i++) {
		LARGE_INTEGER timeout = {.QuadPart = -times[i]}, now;
		ULONGLONG start = KeQueryUnbiasedInterruptTime();

		assert_int_equal(
			KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &timeout),
			STATUS_TIMEOUT);
		assert_true(KeQueryUnbiasedInterruptTime() - start >= (ULONGLONG)times[i]);
		assert_true(ke_list_is_empty(&event.Header.WaitListHead));
		/* as a time of day */
		KeQuerySystemTime(&now);
		timeout.QuadPart = now.QuadPart + times[i];
		assert_int_equal(
			KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &timeout),
			STATUS_TIMEOUT);
		KeQuerySystemTime(&now);
		assert_true(now.QuadPart >= timeout.QuadPart);
		timeout.QuadPart = -times[i];
		start = KeQueryUnbiasedInterruptTime();
		assert_int_equal(KeDelayExecutionThread(KernelMode, FALSE, &timeout),
				 STATUS_SUCCESS);
		assert_true(KeQueryUnbiasedInterruptTime() - start >= (ULONGLONG)times[i]);
	}
	/* long ago, and all the time there is */
	assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE,
					       &(LARGE_INTEGER){.QuadPart = 1}),
			 STATUS_TIMEOUT);
	KeSetEvent(&event, 0, FALSE);
	assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE,
					       &(LARGE_INTEGER){.QuadPart = INT64_MIN}),
			 STATUS_SUCCESS);
}

static VOID
wait_for_ever(PVOID event)
{
	static const LONGLONG times[] = {INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < ARRAYSIZE(times); i++) {
		LARGE_INTEGER timeout = {.QuadPart = times[i]};

		assert_int_equal(
			KeWaitForSingleObject(event, Executive, KernelMode, FALSE, &timeout),
			STATUS_SUCCESS);
	}
}

static void
the_longest_timeouts_do_not_end(void **state)
{
	PKTHREAD thread;
	KEVENT event;

	(void)state;
	KeInitializeEvent(&event, SynchronizationEvent, FALSE);
	thread = ke_run(wait_for_ever, &event);
	for (int i = 0; i < 2; i++) {
		ke_wait_for_waiters(&event.Header, 1);
		KeSetEvent(&event, 0, FALSE);
	}
	ke_join(thread);
}

/* ---- Wait = TRUE ---- */

struct pulse {
	KEVENT go, answer;
};

static VOID
pulse_the_answer(PVOID context)
{
	struct pulse *pulse = context;

	ke_wait(&pulse->go);
	KePulseEvent(&pulse->answer, 0, FALSE);
}

static void
nobody_comes_between_a_signal_and_the_wait_it_announces(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct pulse pulse;
		PKTHREAD thread;

		KeInitializeEvent(&pulse.go, NotificationEvent, FALSE);
		KeInitializeEvent(&pulse.answer, NotificationEvent, FALSE);
		thread = ke_run(pulse_the_answer, &pulse);
		ke_wait_for_waiters(&pulse.go.Header, 1);
		KeSetEvent(&pulse.go, 0, TRUE);
		/* A pulse that came before this wait would be lost. */
		ke_wait(&pulse.answer);
		ke_join(thread);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_object_ends_each_wait_as_it_should),
		cmocka_unit_test(calls_return_the_state_before),
		cmocka_unit_test(a_semaphore_beyond_its_limit_raises_and_stays),
		cmocka_unit_test(a_wait_for_any_takes_the_first_of_the_array_alone),
		cmocka_unit_test(a_wait_for_all_takes_all_or_none),
		cmocka_unit_test(sixty_four_objects_can_be_waited_for),
		cmocka_unit_test(a_waiter_for_all_lets_others_take_what_it_cannot_use),
		cmocka_unit_test(a_mutex_is_its_owners_as_often_as_it_was_taken),
		cmocka_unit_test(a_mutex_can_be_taken_so_often_and_then_raises),
		cmocka_unit_test(a_released_mutex_is_the_next_waiters),
		cmocka_unit_test(a_timeout_ends_a_wait_and_not_before),
		cmocka_unit_test(the_longest_timeouts_do_not_end),
		cmocka_unit_test(nobody_comes_between_a_signal_and_the_wait_it_announces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
