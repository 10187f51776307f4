/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pending requests, rule by rule of how overlapped requests behave; the numbers are in the names.
 * A request is begun and ended here as a provider does it.
 */
#include "bench.h"
#include "thread.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "win_objects.h"

enum {
	MANY = 1000,
};

/* As a client has it that has set nothing but the event. */
static OVERLAPPED
garbage(HANDLE event)
{
	OVERLAPPED overlapped;

	memset(&overlapped, STALE, sizeof(overlapped));
	overlapped.hEvent = event;
	return overlapped;
}

static struct plx_pending *
begin(struct bench *bench, OVERLAPPED *overlapped)
{
	struct plx_pending *pending = plx_pending_begin(&bench->list, overlapped);

	assert_non_null(pending);
	return pending;
}

static void
rule_3_what_succeeds_at_once_is_told_by_event_and_not_by_packet(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);

	(void)state;
	plx_overlapped_settle(&overlapped, STATUS_SUCCESS);
	assert_int_equal(overlapped.Internal, 0);
	assert_int_equal(overlapped.InternalHigh, 0);
	assert_true(is_set(event));
	assert_port_empty(bench.port);
	/* And a failure by neither. */
	assert_true(ResetEvent(event));
	plx_overlapped_settle(&overlapped, STATUS_INVALID_PARAMETER);
	assert_int_equal(overlapped.Internal, (DWORD)STATUS_INVALID_PARAMETER);
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_INVALID_PARAMETER);
	assert_false(is_set(event));
	assert_port_empty(bench.port);
	/* An event that is none spoils nothing. */
	overlapped.hEvent = (HANDLE)(uintptr_t)0x10;
	SetLastError(1);
	plx_overlapped_settle(&overlapped, STATUS_SUCCESS);
	assert_int_equal(GetLastError(), 1);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
rule_4_a_beginning_resets_the_event_and_reads_nothing_else(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending;

	(void)state;
	assert_true(SetEvent(event));
	pending = begin(&bench, &overlapped);
	assert_false(is_set(event));
	assert_int_equal(overlapped.Internal, STATUS_PENDING);
	assert_int_equal(overlapped.InternalHigh, 0);
	assert_int_equal((overlapped.Offset & 0xff), STALE);
	assert_false(HasOverlappedIoCompleted(&overlapped));
	assert_int_equal(plx_overlapped_result(&overlapped, false), STATUS_PENDING);
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 0));
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
rule_4_the_event_is_held_while_it_is_pending(void **state)
{
	struct bench bench = bench_open(false);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending = begin(&bench, &overlapped);

	(void)state;
	assert_true(CloseHandle(event));
	assert_false(CloseHandle(event));
	overlapped.hEvent = (HANDLE)(uintptr_t)STALE; /* nor is it looked at again */
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 3));
	assert_int_equal(overlapped.InternalHigh, 3);
	bench_close(&bench);
}

static void
rule_4_an_event_that_is_none_is_refused(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED overlapped = garbage(bench.port), before = overlapped;

	(void)state;
	assert_null(plx_pending_begin(&bench.list, &overlapped));
	assert_int_equal(plx_pending_refusal(), STATUS_INVALID_HANDLE);
	overlapped.hEvent = before.hEvent = INVALID_HANDLE_VALUE;
	assert_null(plx_pending_begin(&bench.list, &overlapped));
	assert_int_equal(plx_pending_refusal(), STATUS_INVALID_HANDLE);
	assert_memory_equal(&overlapped, &before, sizeof(before));
	assert_int_equal(plx_pending_cancel_all(&bench.list), 0);
	bench_close(&bench);
}

static void
rule_5_an_end_stores_sets_and_queues(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(FALSE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending = begin(&bench, &overlapped);

	(void)state;
	assert_port_empty(bench.port);
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 4711));
	assert_true(HasOverlappedIoCompleted(&overlapped));
	assert_int_equal(overlapped.Internal, 0);
	assert_int_equal(overlapped.InternalHigh, 4711);
	assert_true(is_set(event));
	assert_false(is_set(event));
	assert_packet(bench.port, &overlapped, 0, 4711);
	assert_port_empty(bench.port);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
rule_5_the_packet_does_not_need_the_overlapped(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED *overlapped = calloc(1, sizeof(*overlapped)), *out;
	ULONG_PTR key;
	DWORD bytes;

	(void)state;
	assert_true(plx_pending_finish(begin(&bench, overlapped), STATUS_CANCELLED, 12));
	free(overlapped);
	assert_false(GetQueuedCompletionStatus(bench.port, &bytes, &key, &out, 0));
	assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
	assert_ptr_equal(out, overlapped);
	assert_int_equal(bytes, 12);
	bench_close(&bench);
}

static void
rule_6_bit_0_of_the_event_means_no_packet(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(FALSE), tagged = (HANDLE)((uintptr_t)event | 1);
	OVERLAPPED overlapped = garbage(tagged), bare = garbage((HANDLE)(uintptr_t)1);

	(void)state;
	assert_true(plx_pending_finish(begin(&bench, &overlapped), STATUS_SUCCESS, 0));
	assert_true(is_set(tagged));
	assert_port_empty(bench.port);
	/* Bit 1 is the client's, and says nothing. */
	overlapped = garbage((HANDLE)((uintptr_t)event | 2));
	assert_true(plx_pending_finish(begin(&bench, &overlapped), STATUS_SUCCESS, 0));
	assert_true(is_set(event));
	assert_packet(bench.port, &overlapped, 0, 0);
	/* A tag without an event. */
	assert_true(plx_pending_finish(begin(&bench, &bare), STATUS_SUCCESS, 0));
	assert_int_equal(bare.Internal, 0);
	assert_port_empty(bench.port);
	assert_true(CloseHandle(tagged));
	bench_close(&bench);
}

static void
rule_9_the_file_may_be_closed_before_the_object(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED overlapped = garbage(NULL);
	struct plx_pending *pending;

	(void)state;
	assert_true(CloseHandle(bench.file));
	assert_null(plx_file_hold(bench.file));
	pending = begin(&bench, &overlapped);
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 1));
	assert_packet(bench.port, &overlapped, 0, 1);
	plx_pending_list_end(&bench.list, STATUS_CANCELLED);
	assert_true(CloseHandle(bench.port));
}

static void
rule_10_the_end_of_a_list_ends_all_that_is_pending(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED *overlapped[3];
	struct plx_pending *pending[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		overlapped[i] = malloc(sizeof(*overlapped[i]));
		*overlapped[i] = garbage(NULL);
		pending[i] = begin(&bench, overlapped[i]);
	}
	plx_pending_list_end(&bench.list, STATUS_CONNECTION_ABORTED);
	memset(&bench.list, STALE, sizeof(bench.list));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(overlapped[i]->Internal, (DWORD)STATUS_CONNECTION_ABORTED);
		assert_packet(bench.port, overlapped[i], ERROR_CONNECTION_ABORTED, 0);
		free(overlapped[i]);
	}
	/* Who comes late with the real end touches neither. */
	for (int i = 0; i < 3; i++)
		assert_false(plx_pending_finish(pending[i], STATUS_SUCCESS, 1));
	assert_port_empty(bench.port);
	assert_true(CloseHandle(bench.file));
	assert_true(CloseHandle(bench.port));
}

static void
rule_10_two_requests_may_use_one_overlapped(void **state)
{
	struct bench one = bench_open(true), two = bench_open(false);
	HANDLE event = new_event(FALSE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *first, *second;

	(void)state;
	assert_ptr_equal(CreateIoCompletionPort(two.file, one.port, KEY, 0), one.port);
	first = begin(&one, &overlapped);
	second = begin(&two, &overlapped);
	assert_true(plx_pending_finish(first, STATUS_CANCELLED, 0));
	assert_true(is_set(event));
	assert_true(plx_pending_finish(second, STATUS_SUCCESS, 2));
	assert_true(is_set(event));
	assert_packet(one.port, &overlapped, ERROR_OPERATION_ABORTED, 0);
	assert_packet(one.port, &overlapped, 0, 2);
	assert_port_empty(one.port);
	assert_true(CloseHandle(event));
	bench_close(&two);
	bench_close(&one);
}

static void
rule_11_the_result_is_a_look_and_no_step(void **state)
{
	struct bench bench = bench_open(false);
	OVERLAPPED overlapped = garbage(NULL), zeroed = {0};
	DWORD bytes = 0;

	(void)state;
	assert_int_equal(plx_overlapped_result(&zeroed, true), STATUS_SUCCESS);
	assert_true(plx_pending_finish(begin(&bench, &overlapped), STATUS_IO_TIMEOUT, 9));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(plx_overlapped_result(&overlapped, i % 2), STATUS_IO_TIMEOUT);
		assert_false(GetOverlappedResult(bench.file, &overlapped, &bytes, TRUE));
		assert_int_equal(GetLastError(), ERROR_SEM_TIMEOUT);
		assert_int_equal(bytes, 9);
	}
	bench_close(&bench);
}

static void
windows_own_result_says_what_it_says_there(void **state)
{
	struct bench bench = bench_open(false);
	OVERLAPPED overlapped = garbage(NULL);
	struct plx_pending *pending = begin(&bench, &overlapped);
	DWORD bytes = 77;

	(void)state;
	assert_false(GetOverlappedResult(bench.file, &overlapped, &bytes, FALSE));
	assert_int_equal(GetLastError(), ERROR_IO_INCOMPLETE);
	assert_int_equal(bytes, 77);
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 8));
	assert_true(GetOverlappedResult(bench.file, &overlapped, &bytes, FALSE));
	assert_int_equal(bytes, 8);
	assert_false(GetOverlappedResult(bench.file, NULL, &bytes, FALSE));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(GetOverlappedResult(bench.file, &overlapped, NULL, FALSE));
	bench_close(&bench);
}

static void
rule_12_a_wait_goes_by_the_status_and_not_by_the_event(void **state)
{
	struct bench bench = bench_open(false);
	HANDLE event = new_event(FALSE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending;

	(void)state;
	/* The event is left set by an end that nobody waited for ... */
	assert_true(plx_pending_finish(begin(&bench, &overlapped), STATUS_IO_TIMEOUT, 0));
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_IO_TIMEOUT);
	/* ... and the next request is not taken for ended. */
	pending = begin(&bench, &overlapped);
	assert_int_equal(plx_overlapped_result(&overlapped, false), STATUS_PENDING);
	assert_false(is_set(event));
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 0));
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_SUCCESS);
	assert_true(is_set(event));
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
cancelling_ends_them_in_order_before_it_returns(void **state)
{
	static OVERLAPPED overlapped[MANY];
	static struct plx_pending *pending[MANY];
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		overlapped[i] = garbage(i == MANY - 1 ? event : NULL);
		pending[i] = begin(&bench, &overlapped[i]);
	}
	/* One from the middle has ended in time. */
	assert_true(plx_pending_finish(pending[MANY / 2], STATUS_SUCCESS, 1));
	assert_int_equal(plx_pending_cancel_all(&bench.list), MANY - 1);
	assert_true(is_set(event));
	assert_packet(bench.port, &overlapped[MANY / 2], 0, 1);
	for (int i = 0; i < MANY; i++) {
		if (i == MANY / 2)
			continue;
		assert_int_equal(overlapped[i].Internal, (DWORD)STATUS_CANCELLED);
		assert_packet(bench.port, &overlapped[i], ERROR_OPERATION_ABORTED, 0);
		assert_false(plx_pending_finish(pending[i], STATUS_SUCCESS, 1));
		assert_int_equal(overlapped[i].Internal, (DWORD)STATUS_CANCELLED);
	}
	assert_port_empty(bench.port);
	assert_int_equal(plx_pending_cancel_all(&bench.list), 0);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
what_is_abandoned_is_told_by_status_alone(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending = begin(&bench, &overlapped);

	(void)state;
	assert_true(plx_pending_abandon(pending, STATUS_DEVICE_BUSY));
	assert_int_equal(overlapped.Internal, (DWORD)STATUS_DEVICE_BUSY);
	assert_false(is_set(event));
	assert_port_empty(bench.port);
	assert_int_equal(plx_pending_cancel_all(&bench.list), 0);
	/* Unless it was cancelled, which is told. */
	pending = begin(&bench, &overlapped);
	assert_int_equal(plx_pending_cancel_all(&bench.list), 1);
	assert_false(plx_pending_abandon(pending, STATUS_DEVICE_BUSY));
	assert_int_equal(overlapped.Internal, (DWORD)STATUS_CANCELLED);
	assert_true(is_set(event));
	assert_packet(bench.port, &overlapped, ERROR_OPERATION_ABORTED, 0);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

/* What a call begins and finishes itself: told as any other, and nobody's to cancel. */
static void
a_brief_request_is_told_and_cannot_be_cancelled(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);
	struct plx_pending *pending;

	(void)state;
	assert_true(SetEvent(event));
	pending = plx_pending_begin_brief(&bench.list, &overlapped);
	assert_non_null(pending);
	assert_false(is_set(event));
	assert_int_equal(overlapped.Internal, STATUS_PENDING);
	assert_int_equal(plx_pending_cancel_all(&bench.list), 0);
	assert_int_equal(overlapped.Internal, STATUS_PENDING);
	assert_true(plx_pending_finish(pending, STATUS_IO_TIMEOUT, 7));
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_IO_TIMEOUT);
	assert_true(is_set(event));
	assert_packet(bench.port, &overlapped, ERROR_SEM_TIMEOUT, 7);
	assert_port_empty(bench.port);
	/* Without a packet, and not at all. */
	overlapped = garbage((HANDLE)((uintptr_t)event | 1));
	pending = plx_pending_begin_brief(&bench.list, &overlapped);
	assert_true(plx_pending_finish(pending, STATUS_SUCCESS, 0));
	assert_true(is_set(event));
	pending = plx_pending_begin_brief(&bench.list, &overlapped);
	assert_true(plx_pending_abandon(pending, STATUS_DEVICE_BUSY));
	assert_int_equal(overlapped.Internal, (DWORD)STATUS_DEVICE_BUSY);
	assert_false(is_set(event));
	assert_port_empty(bench.port);
	assert_true(CloseHandle(event));
	overlapped = garbage(event);
	assert_null(plx_pending_begin_brief(&bench.list, &overlapped));
	assert_int_equal(plx_pending_refusal(), STATUS_INVALID_HANDLE);
	bench_close(&bench);
}

/* ---- an end that is held ---- */

struct held_end {
	struct plx_pending *pending;
	OVERLAPPED *overlapped;
	atomic_int asks; /* the thread that wants the result */
	atomic_bool has_result;
};

static void *
finish_held(void *context)
{
	struct held_end *held = context;

	plx_pending_finish(held->pending, STATUS_SUCCESS, 7);
	return NULL;
}

static void *
want_result(void *context)
{
	struct held_end *held = context;

	atomic_store(&held->asks, (int)gettid());
	if (plx_overlapped_result(held->overlapped, true) == STATUS_SUCCESS)
		atomic_store(&held->has_result, true);
	return NULL;
}

/* Sixteen looks in a row find it asleep. */
static bool
comes_to_rest(int thread)
{
	ULONGLONG late = GetTickCount64() + PATIENT;
	int asleep = 0;

	while (asleep < 16 && GetTickCount64() < late) {
		asleep = thread_sleeps(thread) ? asleep + 1 : 0;
		Sleep(1);
	}
	return asleep == 16;
}

/* Its thread was preempted between the status and the event: here it wants a lock that we have. Who
 * wants the result meanwhile uses no core, which may be the one that thread needs. */
static void
a_result_whose_end_is_held_is_slept_for(void **state)
{
	struct bench bench = bench_open(false);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = garbage(event);
	struct held_end held = {.overlapped = &overlapped};
	struct win_object *object = win_object_hold(event, WIN_EVENT);
	pthread_t finishes, wants;

	(void)state;
	assert_non_null(object);
	assert_true(plx_handle_fd(event) >= 0); /* so that its signal is more than a bit */
	held.pending = begin(&bench, &overlapped);
	pthread_mutex_lock(&object->lock);
	finishes = start_thread(finish_held, &held);
	while (__atomic_load_n(&overlapped.Internal, __ATOMIC_ACQUIRE) == STATUS_PENDING)
		sched_yield();
	wants = start_thread(want_result, &held);
	while (atomic_load(&held.asks) == 0)
		sched_yield();
	assert_true(comes_to_rest(atomic_load(&held.asks)));
	assert_false(atomic_load(&held.has_result));
	pthread_mutex_unlock(&object->lock);
	join_thread(finishes);
	join_thread(wants);
	assert_true(atomic_load(&held.has_result));
	assert_true(is_set(event));
	win_object_release(object);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
the_modes_of_a_file_are_as_they_are(void **state)
{
	HANDLE file = plx_file_create(), event = new_event(TRUE);

	(void)state;
	assert_true(SetFileCompletionNotificationModes(file, FILE_SKIP_SET_EVENT_ON_HANDLE));
	assert_true(SetFileCompletionNotificationModes(file, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
	assert_false(SetFileCompletionNotificationModes(file, 0x80));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(SetFileCompletionNotificationModes(event, FILE_SKIP_SET_EVENT_ON_HANDLE));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(CloseHandle(file));
	assert_true(CloseHandle(event));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_3_what_succeeds_at_once_is_told_by_event_and_not_by_packet),
		cmocka_unit_test(rule_4_a_beginning_resets_the_event_and_reads_nothing_else),
		cmocka_unit_test(rule_4_the_event_is_held_while_it_is_pending),
		cmocka_unit_test(rule_4_an_event_that_is_none_is_refused),
		cmocka_unit_test(rule_5_an_end_stores_sets_and_queues),
		cmocka_unit_test(rule_5_the_packet_does_not_need_the_overlapped),
		cmocka_unit_test(rule_6_bit_0_of_the_event_means_no_packet),
		cmocka_unit_test(rule_9_the_file_may_be_closed_before_the_object),
		cmocka_unit_test(rule_10_the_end_of_a_list_ends_all_that_is_pending),
		cmocka_unit_test(rule_10_two_requests_may_use_one_overlapped),
		cmocka_unit_test(rule_11_the_result_is_a_look_and_no_step),
		cmocka_unit_test(windows_own_result_says_what_it_says_there),
		cmocka_unit_test(rule_12_a_wait_goes_by_the_status_and_not_by_the_event),
		cmocka_unit_test(cancelling_ends_them_in_order_before_it_returns),
		cmocka_unit_test(what_is_abandoned_is_told_by_status_alone),
		cmocka_unit_test(a_brief_request_is_told_and_cannot_be_cancelled),
		cmocka_unit_test(a_result_whose_end_is_held_is_slept_for),
		cmocka_unit_test(the_modes_of_a_file_are_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
