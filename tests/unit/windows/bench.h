/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What tests of lib/windows share: an object with pending requests on a file with a port, threads,
 * and looks at a port. It keeps no state of its own. Start with struct bench.
 */
#ifndef PLX_TEST_WIN_BENCH_H
#define PLX_TEST_WIN_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <stdatomic.h>

#include <windows.h>
#include <ntstatus.h>

#include "plx_objects.h"

#define KEY     ((ULONG_PTR)0xfeedface)
#define STALE   0xcd  /* what client memory is filled with where we promise not to look */
#define A_WHILE 20    /* [ms] to see that something does not happen */
#define PATIENT 20000 /* [ms] to see that something does */

/* An object with overlapped methods, as a provider has it. */
struct bench {
	HANDLE file, port; /* the client's; port NULL: none yet */
	struct plx_pending_list list;
};

static inline struct bench
bench_open(bool with_port)
{
	struct bench bench = {.file = plx_file_create()};
	struct plx_file *file;

	assert_non_null(bench.file);
	file = plx_file_hold(bench.file);
	assert_non_null(file);
	plx_pending_list_init(&bench.list, file);
	plx_file_release(file);
	if (with_port) {
		bench.port = CreateIoCompletionPort(bench.file, NULL, KEY, 0);
		assert_non_null(bench.port);
	}
	return bench;
}

static inline void
bench_close(struct bench *bench)
{
	plx_pending_list_end(&bench->list, STATUS_CANCELLED);
	assert_true(CloseHandle(bench->file));
	if (bench->port)
		assert_true(CloseHandle(bench->port));
}

static inline HANDLE
new_event(BOOL manual)
{
	HANDLE event = CreateEventW(NULL, manual, FALSE, NULL);

	assert_non_null(event);
	assert_int_equal((uintptr_t)event % 16, 0);
	return event;
}

/* Is it set? What is automatic is not, afterwards. */
static inline bool
is_set(HANDLE event)
{
	DWORD result = WaitForSingleObject(event, 0);

	assert_true(result == WAIT_OBJECT_0 || result == WAIT_TIMEOUT);
	return result == WAIT_OBJECT_0;
}

static inline void
assert_port_empty(HANDLE port)
{
	OVERLAPPED *overlapped = (OVERLAPPED *)&overlapped;
	ULONG_PTR key;
	DWORD bytes;

	SetLastError(0);
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0));
	assert_null(overlapped);
	assert_int_equal(GetLastError(), WAIT_TIMEOUT);
}

/* The next packet is of that OVERLAPPED; error 0: it says success. */
static inline void
assert_packet(HANDLE port, const OVERLAPPED *wanted, DWORD error, DWORD wanted_bytes)
{
	OVERLAPPED *overlapped = NULL;
	ULONG_PTR key = 0;
	DWORD bytes = ~0u;
	BOOL good;

	SetLastError(0);
	good = GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0);
	assert_int_equal(good, error == 0);
	assert_int_equal(GetLastError(), error);
	assert_ptr_equal(overlapped, wanted);
	assert_true(key == KEY);
	assert_int_equal(bytes, wanted_bytes);
}

static inline pthread_t
start_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
	return thread;
}

static inline void
join_thread(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

#endif
