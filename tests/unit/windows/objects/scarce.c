/* SPDX-License-Identifier: BSD-3-Clause
 *
 * No memory and no threads to be had: calls say so, and nothing has changed. The linker puts the
 * functions below in front of the library's own.
 */
#include "bench.h"

#include <process.h>

static bool scarce;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *argument);
int __real_eventfd(unsigned value, int flags);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *argument);
int __wrap_eventfd(unsigned value, int flags);

void *
__wrap_malloc(size_t bytes)
{
	return scarce ? NULL : __real_malloc(bytes);
}

void *
__wrap_calloc(size_t n, size_t bytes)
{
	return scarce ? NULL : __real_calloc(n, bytes);
}

void *
__wrap_realloc(void *memory, size_t bytes)
{
	return scarce ? NULL : __real_realloc(memory, bytes);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return scarce ? NULL : __real_aligned_alloc(alignment, bytes);
}

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		      void *argument)
{
	return scarce ? 11 : __real_pthread_create(thread, attributes, body, argument);
}

int
__wrap_eventfd(unsigned value, int flags)
{
	return scarce ? -1 : __real_eventfd(value, flags);
}

static void
a_request_without_memory_has_not_begun(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	OVERLAPPED overlapped = {.Internal = 77, .InternalHigh = 78, .hEvent = event};
	OVERLAPPED *out;
	ULONG_PTR key;
	DWORD bytes;

	(void)state;
	assert_true(SetEvent(event));
	scarce = true;
	assert_null(plx_pending_begin(&bench.list, &overlapped));
	assert_int_equal(plx_pending_refusal(), STATUS_INSUFFICIENT_RESOURCES);
	overlapped.hEvent = NULL;
	assert_null(plx_pending_begin(&bench.list, &overlapped));
	assert_false(PostQueuedCompletionStatus(bench.port, 0, 0, NULL));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	scarce = false;
	assert_int_equal(overlapped.Internal, 77);
	assert_int_equal(overlapped.InternalHigh, 78);
	assert_true(is_set(event));
	assert_false(GetQueuedCompletionStatus(bench.port, &bytes, &key, &out, 0));
	assert_int_equal(plx_pending_cancel_all(&bench.list), 0);
	assert_true(CloseHandle(event));
	assert_false(CloseHandle(event));
	bench_close(&bench);
}

static void
an_end_needs_no_memory(void **state)
{
	struct bench bench = bench_open(true);
	OVERLAPPED overlapped[2] = {0};
	struct plx_pending *one = plx_pending_begin(&bench.list, &overlapped[0]);
	struct plx_pending *two = plx_pending_begin(&bench.list, &overlapped[1]);

	(void)state;
	scarce = true;
	assert_true(plx_pending_finish(one, 0, 1));
	assert_int_equal(plx_pending_cancel_all(&bench.list), 1);
	assert_packet(bench.port, &overlapped[0], 0, 1);
	assert_packet(bench.port, &overlapped[1], ERROR_OPERATION_ABORTED, 0);
	scarce = false;
	assert_false(plx_pending_finish(two, 0, 1));
	bench_close(&bench);
}

static DWORD WINAPI
returns(LPVOID argument)
{
	(void)argument;
	return 0;
}

static void
handles_run_out_and_come_again(void **state)
{
	static HANDLE events[2000];
	size_t n = 0;

	(void)state;
	events[n++] = new_event(TRUE);
	scarce = true;
	while (n < ARRAYSIZE(events) && (events[n] = CreateEventW(NULL, TRUE, FALSE, NULL)))
		n++;
	assert_true(n < ARRAYSIZE(events));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_null(plx_file_create());
	assert_null(CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0));
	assert_null(CreateThread(NULL, 0, returns, NULL, 0, NULL));
	/* One that rests is better than none. */
	assert_true(CloseHandle(events[--n]));
	assert_ptr_equal(CreateEventW(NULL, TRUE, FALSE, NULL), events[n]);
	scarce = false;
	assert_non_null(events[n + 1] = CreateEventW(NULL, TRUE, FALSE, NULL));
	for (size_t i = 0; i < n + 2; i++)
		assert_true(CloseHandle(events[i]));
}

static VOID CALLBACK
never(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
	(void)error;
	(void)bytes;
	(void)overlapped;
	abort();
}

static void
threads_and_descriptors_may_be_refused(void **state)
{
	struct bench bench = bench_open(false);
	HANDLE event = new_event(TRUE);

	(void)state;
	scarce = true;
	assert_null(CreateThread(NULL, 0, returns, NULL, 0, NULL));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_int_equal(_beginthreadex(NULL, 0, returns, NULL, 0, NULL), 0);
	assert_false(BindIoCompletionCallback(bench.file, never, 0));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_int_equal(plx_handle_fd(event), -1);
	assert_int_equal(GetLastError(), ERROR_NO_SYSTEM_RESOURCES);
	scarce = false;
	assert_true(plx_handle_fd(event) >= 0);
	/* The file is still free for a port. */
	bench.port = CreateIoCompletionPort(bench.file, NULL, KEY, 0);
	assert_non_null(bench.port);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
memory_may_be_refused(void **state)
{
	void *block = HeapAlloc(GetProcessHeap(), 0, 16);

	(void)state;
	memset(block, STALE, 16);
	scarce = true;
	assert_null(HeapAlloc(GetProcessHeap(), 0, 1));
	assert_null(HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 1));
	assert_null(HeapReAlloc(GetProcessHeap(), 0, block, 4096));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_null(VirtualAlloc(NULL, 1, MEM_COMMIT, PAGE_READWRITE));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_null(plx_wide_strings(0, NULL));
	scarce = false;
	assert_int_equal(((unsigned char *)block)[15], STALE);
	assert_true(HeapFree(GetProcessHeap(), 0, block));
	/* More than there are addresses. */
	assert_null(VirtualAlloc(NULL, SIZE_MAX / 4, MEM_RESERVE, PAGE_READWRITE));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_without_memory_has_not_begun),
		cmocka_unit_test(an_end_needs_no_memory),
		cmocka_unit_test(handles_run_out_and_come_again),
		cmocka_unit_test(threads_and_descriptors_may_be_refused),
		cmocka_unit_test(memory_may_be_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
