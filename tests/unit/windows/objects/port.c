/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion ports: making and associating them, order, time, closing, many threads, and what
 * GetLastError() says (rules 7 and 8 of overlapped requests).
 */
#include "bench.h"

#include "plx_crt.h"
#include "plx_rules.h"

enum {
	THREADS = 3,
	EACH = 20000,
};

static void
a_port_is_made_in_three_ways(void **state)
{
	HANDLE one = plx_file_create(), two = plx_file_create();
	HANDLE alone, both;

	(void)state;
	alone = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	assert_non_null(alone);
	both = CreateIoCompletionPort(one, NULL, KEY, 2);
	assert_non_null(both);
	assert_ptr_equal(CreateIoCompletionPort(two, alone, KEY, 0), alone);
	/* A file has one port for life. */
	assert_null(CreateIoCompletionPort(two, both, KEY, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CreateIoCompletionPort(two, NULL, KEY, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CreateIoCompletionPort(INVALID_HANDLE_VALUE, alone, KEY, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CreateIoCompletionPort(NULL, alone, KEY, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(CloseHandle(one));
	assert_true(CloseHandle(two));
	assert_true(CloseHandle(alone));
	assert_true(CloseHandle(both));
}

static void
posted_packets_come_in_order_and_whole(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	OVERLAPPED overlapped[3], *out;
	OVERLAPPED_ENTRY entries[4];
	ULONG_PTR key;
	ULONG removed;
	DWORD bytes;

	(void)state;
	assert_port_empty(port);
	for (DWORD i = 0; i < 3; i++)
		assert_true(PostQueuedCompletionStatus(port, i + 7, i, &overlapped[i]));
	assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
	assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, INFINITE));
	assert_ptr_equal(out, &overlapped[0]);
	assert_int_equal(bytes, 7);
	assert_true(GetQueuedCompletionStatusEx(port, entries, 4, &removed, INFINITE, FALSE));
	assert_int_equal(removed, 3);
	assert_ptr_equal(entries[0].lpOverlapped, &overlapped[1]);
	assert_ptr_equal(entries[1].lpOverlapped, &overlapped[2]);
	assert_int_equal(entries[1].dwNumberOfBytesTransferred, 9);
	assert_int_equal(entries[1].lpCompletionKey, 2);
	assert_int_equal(entries[1].Internal, 0);
	assert_null(entries[2].lpOverlapped);
	assert_false(GetQueuedCompletionStatusEx(port, entries, 4, &removed, 0, FALSE));
	assert_int_equal(removed, 0);
	assert_int_equal(GetLastError(), WAIT_TIMEOUT);
	assert_true(CloseHandle(port));
}

static void
senseless_questions_are_refused(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	OVERLAPPED_ENTRY entry;
	OVERLAPPED *out = (OVERLAPPED *)&out;
	ULONG_PTR key;
	ULONG removed;
	DWORD bytes;

	(void)state;
	assert_true(PostQueuedCompletionStatus(port, 1, 1, NULL));
	assert_false(GetQueuedCompletionStatus(port, NULL, &key, &out, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(GetQueuedCompletionStatus(port, &bytes, NULL, &out, 0));
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, NULL, 0));
	assert_false(GetQueuedCompletionStatusEx(port, NULL, 1, &removed, 0, FALSE));
	assert_false(GetQueuedCompletionStatusEx(port, &entry, 0, &removed, 0, FALSE));
	assert_false(GetQueuedCompletionStatusEx(port, &entry, 1, NULL, 0, FALSE));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(GetQueuedCompletionStatus(NULL, &bytes, &key, &out, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_null(out);
	/* The packet is still there. */
	assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, 0));
	assert_true(CloseHandle(port));
}

static void
rule_7_an_empty_port_says_so_in_time(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	OVERLAPPED *out = (OVERLAPPED *)&out;
	ULONGLONG before = GetTickCount64();
	ULONG_PTR key;
	DWORD bytes;

	(void)state;
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &out, A_WHILE));
	assert_int_equal(GetLastError(), WAIT_TIMEOUT);
	assert_null(out);
	assert_true(GetTickCount64() - before + 1 >= A_WHILE);
	assert_true(CloseHandle(port));
}

static void
rule_7_the_status_decides_what_is_said(void **state)
{
	static const struct {
		int32_t status;
		DWORD error;
	} cases[] = {
		{STATUS_SUCCESS, 0},
		{STATUS_TIMEOUT, 0},
		{STATUS_CANCELLED, ERROR_OPERATION_ABORTED},
		{STATUS_BUFFER_OVERFLOW, ERROR_MORE_DATA},
		{STATUS_CONNECTION_REFUSED, ERROR_CONNECTION_REFUSED},
		{STATUS_CONNECTION_DISCONNECTED, 64},
		{STATUS_IO_TIMEOUT, ERROR_SEM_TIMEOUT},
		{STATUS_DEVICE_REMOVED, ERROR_DEVICE_REMOVED},
	};
	struct bench bench = bench_open(true);

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
		OVERLAPPED overlapped = {0};
		struct plx_pending *pending = plx_pending_begin(&bench.list, &overlapped);

		assert_non_null(pending);
		assert_true(plx_pending_finish(pending, cases[i].status, i));
		assert_packet(bench.port, &overlapped, cases[i].error, (DWORD)i);
	}
	assert_port_empty(bench.port);
	bench_close(&bench);
}

static void
each_status_of_nd2_has_an_error(void **state)
{
	static const int32_t statuses[] = {
		STATUS_BUFFER_OVERFLOW,
		STATUS_DEVICE_BUSY,
		STATUS_NO_MORE_ENTRIES,
		STATUS_UNSUCCESSFUL,
		STATUS_ACCESS_VIOLATION,
		STATUS_INVALID_HANDLE,
		STATUS_INVALID_PARAMETER,
		STATUS_INVALID_DEVICE_REQUEST,
		STATUS_NO_MEMORY,
		STATUS_BUFFER_TOO_SMALL,
		STATUS_INVALID_PARAMETER_MIX,
		STATUS_DATA_OVERRUN,
		STATUS_DATA_ERROR,
		STATUS_SHARING_VIOLATION,
		STATUS_INSUFFICIENT_RESOURCES,
		STATUS_DEVICE_NOT_READY,
		STATUS_IO_TIMEOUT,
		STATUS_NOT_SUPPORTED,
		STATUS_BAD_NETWORK_NAME,
		STATUS_INTERNAL_ERROR,
		STATUS_INVALID_PARAMETER_1,
		STATUS_INVALID_PARAMETER_5,
		STATUS_INVALID_PARAMETER_10,
		STATUS_CANCELLED,
		STATUS_REMOTE_RESOURCES,
		STATUS_INVALID_ADDRESS,
		STATUS_INVALID_DEVICE_STATE,
		STATUS_INVALID_BUFFER_SIZE,
		STATUS_TOO_MANY_ADDRESSES,
		STATUS_ADDRESS_ALREADY_EXISTS,
		STATUS_CONNECTION_DISCONNECTED,
		STATUS_CONNECTION_REFUSED,
		STATUS_ADDRESS_ALREADY_ASSOCIATED,
		STATUS_ADDRESS_NOT_ASSOCIATED,
		STATUS_CONNECTION_INVALID,
		STATUS_CONNECTION_ACTIVE,
		STATUS_NETWORK_UNREACHABLE,
		STATUS_HOST_UNREACHABLE,
		STATUS_CONNECTION_ABORTED,
		STATUS_DEVICE_REMOVED,
	};
	const uint32_t unknown = win_error_of_status((int32_t)0xc0de0000);

	(void)state;
	assert_int_equal(win_error_of_status(0), ERROR_SUCCESS);
	assert_int_equal(win_error_of_status(STATUS_TIMEOUT), WAIT_TIMEOUT);
	assert_int_equal(win_error_of_status(STATUS_PENDING), ERROR_IO_PENDING);
	for (size_t i = 0; i < ARRAYSIZE(statuses); i++) {
		assert_int_not_equal(win_error_of_status(statuses[i]), 0);
		assert_int_not_equal(win_error_of_status(statuses[i]), unknown);
	}
}

static void
rule_8_only_what_ends_after_association_is_queued(void **state)
{
	struct bench bench = bench_open(false);
	OVERLAPPED early = {0}, late = {0};
	struct plx_pending *first = plx_pending_begin(&bench.list, &early);
	struct plx_pending *second = plx_pending_begin(&bench.list, &late);

	(void)state;
	assert_true(plx_pending_finish(first, 0, 0));
	bench.port = CreateIoCompletionPort(bench.file, NULL, KEY, 0);
	assert_non_null(bench.port);
	assert_port_empty(bench.port);
	assert_true(plx_pending_finish(second, 0, 5));
	assert_packet(bench.port, &late, 0, 5);
	assert_port_empty(bench.port);
	bench_close(&bench);
}

static void
rule_8_packets_for_a_closed_port_vanish(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED queued = {0}, late = {0}, cancelled = {0};
	struct plx_pending *first = plx_pending_begin(&bench.list, &queued);
	struct plx_pending *second = plx_pending_begin(&bench.list, &late);
	struct plx_pending *third = plx_pending_begin(&bench.list, &cancelled);
	HANDLE other;

	(void)state;
	assert_true(plx_pending_finish(first, 0, 0));
	assert_true(CloseHandle(bench.port));
	assert_true(plx_pending_finish(second, STATUS_CANCELLED, 0));
	assert_int_equal(late.Internal, (DWORD)STATUS_CANCELLED);
	assert_int_equal(plx_pending_cancel_all(&bench.list), 1);
	assert_false(plx_pending_finish(third, 0, 0));
	assert_int_equal(cancelled.Internal, (DWORD)STATUS_CANCELLED);
	/* The file stays with the port that it had. */
	other = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	assert_null(CreateIoCompletionPort(bench.file, other, KEY, 0));
	assert_true(CloseHandle(other));
	bench.port = NULL;
	bench_close(&bench);
}

struct waiting {
	HANDLE port;
	DWORD error;
	atomic_bool waits;
};

static void *
waits_for_ever(void *argument)
{
	struct waiting *waiting = argument;
	OVERLAPPED *out = (OVERLAPPED *)&out;
	ULONG_PTR key;
	DWORD bytes;

	atomic_store(&waiting->waits, true);
	if (!GetQueuedCompletionStatus(waiting->port, &bytes, &key, &out, INFINITE))
		waiting->error = out ? 0 : GetLastError();
	return NULL;
}

static void
closing_a_port_wakes_who_waits(void **state)
{
	struct waiting waiting[THREADS];
	pthread_t threads[THREADS];
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		waiting[i] = (struct waiting){.port = port};
		threads[i] = start_thread(waits_for_ever, &waiting[i]);
		while (!atomic_load(&waiting[i].waits))
			SwitchToThread();
	}
	Sleep(A_WHILE);
	assert_true(CloseHandle(port));
	for (int i = 0; i < THREADS; i++) {
		join_thread(threads[i]);
		assert_int_equal(waiting[i].error, ERROR_ABANDONED_WAIT_0);
	}
}

struct traffic {
	HANDLE port;
	atomic_uint sent, received;
	atomic_uchar seen[THREADS * EACH];
};

static void *
sends(void *argument)
{
	struct traffic *traffic = argument;

	for (int i = 0; i < EACH; i++) {
		unsigned n = atomic_fetch_add(&traffic->sent, 1);

		assert_true(PostQueuedCompletionStatus(traffic->port, n, KEY, NULL));
	}
	return NULL;
}

static void *
receives(void *argument)
{
	struct traffic *traffic = argument;
	OVERLAPPED *out;
	ULONG_PTR key;
	DWORD n;

	while (GetQueuedCompletionStatus(traffic->port, &n, &key, &out, INFINITE) && key == KEY) {
		atomic_fetch_add(&traffic->seen[n], 1);
		atomic_fetch_add(&traffic->received, 1);
	}
	return NULL;
}

static void
many_threads_get_each_packet_once(void **state)
{
	static struct traffic traffic;
	pthread_t senders[THREADS], receivers[THREADS];

	(void)state;
	traffic.port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	for (int i = 0; i < THREADS; i++)
		receivers[i] = start_thread(receives, &traffic);
	for (int i = 0; i < THREADS; i++)
		senders[i] = start_thread(sends, &traffic);
	for (int i = 0; i < THREADS; i++)
		join_thread(senders[i]);
	for (int i = 0; i < THREADS; i++)
		assert_true(PostQueuedCompletionStatus(traffic.port, 0, 0, NULL));
	for (int i = 0; i < THREADS; i++)
		join_thread(receivers[i]);
	assert_int_equal(traffic.received, THREADS * EACH);
	for (int i = 0; i < THREADS * EACH; i++)
		assert_int_equal(traffic.seen[i], 1);
	assert_true(CloseHandle(traffic.port));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_made_in_three_ways),
		cmocka_unit_test(posted_packets_come_in_order_and_whole),
		cmocka_unit_test(senseless_questions_are_refused),
		cmocka_unit_test(rule_7_an_empty_port_says_so_in_time),
		cmocka_unit_test(rule_7_the_status_decides_what_is_said),
		cmocka_unit_test(each_status_of_nd2_has_an_error),
		cmocka_unit_test(rule_8_only_what_ends_after_association_is_queued),
		cmocka_unit_test(rule_8_packets_for_a_closed_port_vanish),
		cmocka_unit_test(closing_a_port_wakes_who_waits),
		cmocka_unit_test(many_threads_get_each_packet_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
