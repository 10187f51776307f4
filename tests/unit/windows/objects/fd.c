/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles as descriptors: readable when the handle is signalled, with poll() and with epoll.
 */
#include "bench.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static bool
readable(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN;
}

static void
an_event_is_readable_while_it_is_set(void **state)
{
	HANDLE manual = CreateEventW(NULL, TRUE, TRUE, NULL), automatic = new_event(FALSE);
	int fd = plx_handle_fd(manual), other = plx_handle_fd(automatic);

	(void)state;
	assert_true(fd >= 0 && other >= 0 && fd != other);
	assert_int_equal(plx_handle_fd(manual), fd);
	assert_true(readable(fd));
	assert_true(readable(fd));
	assert_true(ResetEvent(manual));
	assert_false(readable(fd));
	assert_true(SetEvent(manual));
	assert_true(is_set(manual));
	assert_true(readable(fd));
	assert_false(readable(other));
	for (int i = 0; i < 3; i++) {
		assert_true(SetEvent(automatic));
		assert_true(SetEvent(automatic));
		assert_true(readable(other));
		assert_true(is_set(automatic));
		assert_false(readable(other));
	}
	assert_true(CloseHandle(manual));
	assert_true(CloseHandle(automatic));
}

static void
a_port_is_readable_while_it_has_packets(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	OVERLAPPED *out;
	ULONG_PTR key;
	DWORD bytes;
	int fd;

	(void)state;
	assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
	fd = plx_handle_fd(port);
	assert_true(readable(fd));
	assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
	assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, 0));
	assert_true(readable(fd));
	assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, 0));
	assert_false(readable(fd));
	assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
	assert_true(readable(fd));
	assert_true(CloseHandle(port));
}

static void
a_file_counts_what_has_ended(void **state)
{
	struct bench bench = bench_open(false);
	OVERLAPPED overlapped = {0};
	eventfd_t count = 0;
	int fd = plx_handle_fd(bench.file);

	(void)state;
	assert_false(readable(fd));
	for (int i = 0; i < 3; i++)
		assert_true(plx_pending_finish(plx_pending_begin(&bench.list, &overlapped),
					       STATUS_SUCCESS, 0));
	assert_true(plx_pending_finish(plx_pending_begin_brief(&bench.list, &overlapped),
				       STATUS_SUCCESS, 0));
	assert_true(readable(fd));
	assert_int_equal(eventfd_read(fd, &count), 0);
	assert_int_equal(count, 4);
	assert_false(readable(fd));
	bench_close(&bench);
}

static DWORD WINAPI
returns(LPVOID argument)
{
	WaitForSingleObject(argument, INFINITE);
	return 0;
}

static void
a_thread_is_readable_when_it_has_ended(void **state)
{
	HANDLE gate = new_event(TRUE), thread = CreateThread(NULL, 0, returns, gate, 0, NULL);
	struct pollfd pollfd = {.fd = plx_handle_fd(thread), .events = POLLIN};

	(void)state;
	assert_int_equal(poll(&pollfd, 1, A_WHILE), 0);
	assert_true(SetEvent(gate));
	assert_int_equal(poll(&pollfd, 1, PATIENT), 1);
	assert_int_equal(WaitForSingleObject(thread, 0), WAIT_OBJECT_0);
	assert_true(CloseHandle(thread));
	assert_true(CloseHandle(gate));
}

/* ---- a loop of epoll that serves what other threads end ---- */

enum {
	ROUNDS = 20000,
};

static void *
posts(void *port)
{
	for (DWORD i = 0; i < ROUNDS; i++)
		assert_true(PostQueuedCompletionStatus(port, i, 0, NULL));
	return NULL;
}

static void
no_packet_is_missed_in_a_loop_of_epoll(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;
	DWORD next = 0, bytes;
	OVERLAPPED *out;
	ULONG_PTR key;

	(void)state;
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, plx_handle_fd(port), &event), 0);
	thread = start_thread(posts, port);
	while (next < ROUNDS) {
		assert_int_equal(epoll_wait(epoll, &event, 1, PATIENT), 1);
		while (GetQueuedCompletionStatus(port, &bytes, &key, &out, 0))
			assert_int_equal(bytes, next++);
	}
	join_thread(thread);
	assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
	close(epoll);
	assert_true(CloseHandle(port));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_readable_while_it_is_set),
		cmocka_unit_test(a_port_is_readable_while_it_has_packets),
		cmocka_unit_test(a_file_counts_what_has_ended),
		cmocka_unit_test(a_thread_is_readable_when_it_has_ended),
		cmocka_unit_test(no_packet_is_missed_in_a_loop_of_epoll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
