/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events and waits: what is let through by a signal, one of several, all of several, time.
 */
#include "bench.h"

enum {
	THREADS = 4,
	ROUNDS = 20000,
};

static void
a_manual_event_stays_set(void **state)
{
	HANDLE event = new_event(TRUE);

	(void)state;
	assert_false(is_set(event));
	assert_true(SetEvent(event));
	assert_true(SetEvent(event));
	assert_true(is_set(event));
	assert_true(is_set(event));
	assert_true(ResetEvent(event));
	assert_true(ResetEvent(event));
	assert_false(is_set(event));
	assert_true(CloseHandle(event));
	event = CreateEventA(NULL, TRUE, TRUE, NULL);
	assert_true(is_set(event));
	assert_true(CloseHandle(event));
}

static void
an_automatic_event_lets_one_through(void **state)
{
	HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL);

	(void)state;
	assert_true(is_set(event));
	assert_false(is_set(event));
	assert_true(SetEvent(event));
	assert_true(SetEvent(event));
	assert_int_equal(WaitForSingleObjectEx(event, INFINITE, TRUE), WAIT_OBJECT_0);
	assert_false(is_set(event));
	assert_true(CloseHandle(event));
}

static void
time_passes(void **state)
{
	HANDLE event = new_event(TRUE);
	ULONGLONG before = GetTickCount64();

	(void)state;
	assert_int_equal(WaitForSingleObject(event, A_WHILE), WAIT_TIMEOUT);
	assert_true(GetTickCount64() - before + 1 >= A_WHILE);
	before = GetTickCount64();
	Sleep(A_WHILE);
	assert_true(GetTickCount64() - before + 1 >= A_WHILE);
	Sleep(0);
	assert_true(CloseHandle(event));
}

static void
the_lowest_of_several_is_taken(void **state)
{
	HANDLE events[3] = {new_event(FALSE), new_event(FALSE), new_event(TRUE)};

	(void)state;
	assert_int_equal(WaitForMultipleObjects(3, events, FALSE, 0), WAIT_TIMEOUT);
	assert_true(SetEvent(events[2]));
	assert_int_equal(WaitForMultipleObjects(3, events, FALSE, INFINITE), WAIT_OBJECT_0 + 2);
	assert_true(SetEvent(events[1]));
	assert_int_equal(WaitForMultipleObjects(3, events, FALSE, INFINITE), WAIT_OBJECT_0 + 1);
	/* The automatic one was taken, and only it. */
	assert_int_equal(WaitForMultipleObjects(3, events, FALSE, INFINITE), WAIT_OBJECT_0 + 2);
	for (int i = 0; i < 3; i++)
		assert_true(CloseHandle(events[i]));
}

static void
all_of_several_are_taken_together_or_not_at_all(void **state)
{
	HANDLE events[3] = {new_event(FALSE), new_event(FALSE), new_event(TRUE)};

	(void)state;
	assert_true(SetEvent(events[0]));
	assert_true(SetEvent(events[2]));
	assert_int_equal(WaitForMultipleObjects(3, events, TRUE, A_WHILE), WAIT_TIMEOUT);
	assert_true(is_set(events[0]));
	assert_true(SetEvent(events[0]));
	assert_true(SetEvent(events[1]));
	assert_int_equal(WaitForMultipleObjects(3, events, TRUE, INFINITE), WAIT_OBJECT_0);
	assert_false(is_set(events[0]));
	assert_false(is_set(events[1]));
	assert_true(is_set(events[2]));
	for (int i = 0; i < 3; i++)
		assert_true(CloseHandle(events[i]));
}

static void
senseless_waits_are_refused(void **state)
{
	HANDLE event = new_event(TRUE), twice[2] = {event, event}, bad[2] = {event, NULL};
	HANDLE many[MAXIMUM_WAIT_OBJECTS + 1];

	(void)state;
	for (int i = 0; i <= MAXIMUM_WAIT_OBJECTS; i++)
		many[i] = event;
	assert_true(SetEvent(event));
	assert_int_equal(WaitForMultipleObjects(0, twice, FALSE, 0), WAIT_FAILED);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_int_equal(WaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS + 1, many, FALSE, 0),
			 WAIT_FAILED);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_int_equal(WaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, many, FALSE, 0),
			 WAIT_OBJECT_0);
	assert_int_equal(WaitForMultipleObjects(2, twice, TRUE, 0), WAIT_FAILED);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_int_equal(WaitForMultipleObjects(2, twice, FALSE, 0), WAIT_OBJECT_0);
	assert_int_equal(WaitForMultipleObjects(2, bad, FALSE, 0), WAIT_FAILED);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(CloseHandle(event));
}

struct crowd {
	HANDLE gate, back; /* automatic: one goes through and says so */
	atomic_uint through;
	atomic_bool over;
};

static void *
goes_through(void *argument)
{
	struct crowd *crowd = argument;

	for (;;) {
		assert_int_equal(WaitForSingleObject(crowd->gate, INFINITE), WAIT_OBJECT_0);
		if (atomic_load(&crowd->over))
			return NULL;
		atomic_fetch_add(&crowd->through, 1);
		assert_true(SetEvent(crowd->back));
	}
}

static void
each_signal_lets_exactly_one_of_many_through(void **state)
{
	struct crowd crowd = {.gate = new_event(FALSE), .back = new_event(FALSE)};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(goes_through, &crowd);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		assert_true(SetEvent(crowd.gate));
		assert_int_equal(WaitForSingleObject(crowd.back, PATIENT), WAIT_OBJECT_0);
		assert_int_equal(atomic_load(&crowd.through), i);
	}
	atomic_store(&crowd.over, true);
	for (int i = 0; i < THREADS; i++) {
		assert_true(SetEvent(crowd.gate));
		/* Until the one who was let through has left, the next signal would be lost. */
		while (is_set(crowd.gate) && SetEvent(crowd.gate))
			SwitchToThread();
	}
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_true(CloseHandle(crowd.gate));
	assert_true(CloseHandle(crowd.back));
}

struct pairing {
	HANDLE events[2];
	atomic_uint taken, started;
	atomic_bool over;
};

static void *
takes_both(void *argument)
{
	struct pairing *pairing = argument;
	/* In opposite orders, so that each may have what the other one wants. */
	unsigned first = atomic_fetch_add(&pairing->started, 1) % 2;
	HANDLE both[2] = {pairing->events[first], pairing->events[!first]};

	while (!atomic_load(&pairing->over))
		if (WaitForMultipleObjects(2, both, TRUE, A_WHILE) == WAIT_OBJECT_0)
			atomic_fetch_add(&pairing->taken, 1);
	return NULL;
}

static void
who_wants_all_gives_back_what_it_cannot_have(void **state)
{
	struct pairing pairing = {.events = {new_event(FALSE), new_event(FALSE)}};
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		threads[i] = start_thread(takes_both, &pairing);
	for (unsigned given = 1; given <= ROUNDS; given++) {
		ULONGLONG end = GetTickCount64() + PATIENT;

		assert_true(SetEvent(pairing.events[0]));
		assert_true(SetEvent(pairing.events[1]));
		while (atomic_load(&pairing.taken) != given && GetTickCount64() < end)
			SwitchToThread();
		assert_int_equal(atomic_load(&pairing.taken), given);
	}
	atomic_store(&pairing.over, true);
	for (int i = 0; i < 2; i++)
		join_thread(threads[i]);
	for (int i = 0; i < 2; i++)
		assert_true(CloseHandle(pairing.events[i]));
}

static void *
sets_later(void *event)
{
	Sleep(A_WHILE);
	SetEvent(event);
	return NULL;
}

static void
an_event_may_be_closed_while_somebody_waits(void **state)
{
	HANDLE event = new_event(FALSE), other = new_event(FALSE), both[2] = {event, other};
	pthread_t thread = start_thread(sets_later, other);

	(void)state;
	assert_int_equal(WaitForMultipleObjects(2, both, FALSE, PATIENT), WAIT_OBJECT_0 + 1);
	join_thread(thread);
	assert_true(CloseHandle(event));
	assert_true(CloseHandle(other));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manual_event_stays_set),
		cmocka_unit_test(an_automatic_event_lets_one_through),
		cmocka_unit_test(time_passes),
		cmocka_unit_test(the_lowest_of_several_is_taken),
		cmocka_unit_test(all_of_several_are_taken_together_or_not_at_all),
		cmocka_unit_test(senseless_waits_are_refused),
		cmocka_unit_test(each_signal_lets_exactly_one_of_many_through),
		cmocka_unit_test(who_wants_all_gives_back_what_it_cannot_have),
		cmocka_unit_test(an_event_may_be_closed_while_somebody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
