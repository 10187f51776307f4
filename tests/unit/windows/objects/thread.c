/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads, critical sections, and calls in place of packets.
 */
#include "bench.h"

#include <process.h>
#include <sched.h>
#include <stdatomic.h>

enum {
	THREADS = 4,
	ROUNDS = 20000,
	STILL_RUNNING = 259,
};

static DWORD WINAPI
returns_its_argument(LPVOID argument)
{
	return (DWORD)(uintptr_t)argument;
}

static unsigned __stdcall exits_from_below(void *argument)
{
	if (argument)
		ExitThread((DWORD)(uintptr_t)argument + 1);
	_endthreadex(7);
}

static DWORD WINAPI
leaves_by_pthread_exit(LPVOID argument)
{
	pthread_exit(argument);
}

static DWORD WINAPI
waits(LPVOID event)
{
	WaitForSingleObject(event, INFINITE);
	return GetCurrentThreadId();
}

static DWORD
code_of(HANDLE thread)
{
	DWORD code = ~0u;

	assert_true(GetExitCodeThread(thread, &code));
	return code;
}

/* Waits for its end. */
static DWORD
joined(HANDLE thread)
{
	DWORD code;

	assert_int_equal(WaitForSingleObject(thread, PATIENT), WAIT_OBJECT_0);
	code = code_of(thread);
	assert_true(CloseHandle(thread));
	return code;
}

static void
a_thread_has_a_code_and_an_id(void **state)
{
	HANDLE gate = new_event(TRUE);
	DWORD id = 0;
	HANDLE thread = CreateThread(NULL, 0, waits, gate, 0, &id);

	(void)state;
	assert_int_not_equal(id, 0);
	assert_int_not_equal(id, GetCurrentThreadId());
	assert_int_equal(GetCurrentThreadId(), GetCurrentThreadId());
	assert_int_equal(WaitForSingleObject(thread, A_WHILE), WAIT_TIMEOUT);
	assert_int_equal(code_of(thread), STILL_RUNNING);
	assert_int_equal(code_of(GetCurrentThread()), STILL_RUNNING);
	assert_true(SetEvent(gate));
	assert_int_equal(joined(thread), id);
	assert_true(CloseHandle(gate));
}

static void
a_thread_ends_in_every_way(void **state)
{
	unsigned id = 0;

	(void)state;
	assert_int_equal(
		joined(CreateThread(NULL, 1 << 20, returns_its_argument, (LPVOID)41, 0, NULL)), 41);
	assert_int_equal(
		joined((HANDLE)_beginthreadex(NULL, 0, exits_from_below, (void *)41, 0, &id)), 42);
	assert_int_not_equal(id, 0);
	assert_int_equal(joined((HANDLE)_beginthreadex(NULL, 1, exits_from_below, NULL, 0, NULL)),
			 7);
	assert_int_equal(joined(CreateThread(NULL, 0, leaves_by_pthread_exit, NULL, 0, NULL)), 0);
}

static void
a_thread_outlives_its_handle(void **state)
{
	HANDLE gate = new_event(FALSE);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(CloseHandle(CreateThread(NULL, 0, waits, gate, 0, NULL)));
	for (int i = 0; i < 100; i++) {
		assert_true(SetEvent(gate));
		while (is_set(gate) && SetEvent(gate))
			SwitchToThread();
	}
	assert_true(CloseHandle(gate));
}

/* As a C++ program's thread_local has it. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle;

static void
destroys_slowly(void *object)
{
	Sleep(30);
	atomic_store((atomic_int *)object, 1);
}

static atomic_int destroyed, gone;
static pthread_key_t last_of_all;

static DWORD WINAPI
has_a_thread_local(LPVOID how)
{
	pthread_setspecific(last_of_all, &gone);
	__cxa_thread_atexit_impl(destroys_slowly, &destroyed, &__dso_handle);
	if (how)
		ExitThread(5);
	return 5;
}

static void
a_thread_has_ended_when_it_is_said_to_have(void **state)
{
	(void)state;
	joined(CreateThread(NULL, 0, returns_its_argument, NULL, 0, NULL));
	/* made after that of this library, which therefore comes first */
	assert_int_equal(pthread_key_create(&last_of_all, destroys_slowly), 0);
	for (uintptr_t i = 0; i < 10; i++) {
		HANDLE thread;

		atomic_store(&destroyed, 0);
		atomic_store(&gone, 0);
		thread = CreateThread(NULL, 0, has_a_thread_local, (LPVOID)(i & 1), 0, NULL);
		assert_int_equal(WaitForSingleObject(thread, PATIENT), WAIT_OBJECT_0);
		/* what is thread_local is gone, and with the handle all the rest */
		assert_int_equal(atomic_load(&destroyed), 1);
		assert_int_equal(code_of(thread), 5);
		assert_true(CloseHandle(thread));
		assert_int_equal(atomic_load(&gone), 1);
	}
	assert_int_equal(pthread_key_delete(last_of_all), 0);
}

static void
what_cannot_be_had_is_refused(void **state)
{
	DWORD code;

	(void)state;
	assert_null(CreateThread(NULL, 0, NULL, NULL, 0, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CreateThread(NULL, 0, returns_its_argument, NULL, 4, NULL));
	assert_int_equal(GetLastError(), ERROR_NOT_SUPPORTED);
	assert_int_equal(_beginthreadex(NULL, 0, NULL, NULL, 0, NULL), 0);
	assert_false(GetExitCodeThread(NULL, &code));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_false(GetExitCodeThread(GetCurrentThread(), NULL));
	assert_int_equal(SetThreadAffinityMask(NULL, 1), 0);
	assert_int_equal(SetThreadAffinityMask(GetCurrentThread(), 0), 0);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static void
affinity_is_a_mask(void **state)
{
	HANDLE gate = new_event(TRUE), thread = CreateThread(NULL, 0, waits, gate, 0, NULL);
	DWORD_PTR before = SetThreadAffinityMask(GetCurrentThread(), 1);
	PROCESSOR_NUMBER number;
	cpu_set_t set;

	(void)state;
	assert_true(before & 1);
	GetCurrentProcessorNumberEx(&number);
	assert_int_equal(number.Group, 0);
	assert_int_equal(number.Number, 0);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 1);
	assert_int_equal(SetThreadAffinityMask(GetCurrentThread(), before), 1);
	assert_true(SetThreadAffinityMask(thread, 1) == before);
	assert_true(SetEvent(gate));
	assert_int_equal(WaitForSingleObject(thread, PATIENT), WAIT_OBJECT_0);
	assert_int_equal(SetThreadAffinityMask(thread, 1), 0);
	assert_true(CloseHandle(thread));
	assert_true(CloseHandle(gate));
}

/* ---- critical sections ---- */

static CRITICAL_SECTION section;
static unsigned guarded;

static DWORD WINAPI
counts(LPVOID argument)
{
	(void)argument;
	for (int i = 0; i < ROUNDS; i++) {
		EnterCriticalSection(&section);
		assert_true(TryEnterCriticalSection(&section));
		guarded++;
		LeaveCriticalSection(&section);
		LeaveCriticalSection(&section);
	}
	return 0;
}

static DWORD WINAPI
tries(LPVOID argument)
{
	(void)argument;
	return (DWORD)TryEnterCriticalSection(&section);
}

static void
a_critical_section_lets_one_thread_in_again_and_again(void **state)
{
	HANDLE threads[THREADS];

	(void)state;
	InitializeCriticalSection(&section);
	for (int i = 0; i < THREADS; i++)
		threads[i] = CreateThread(NULL, 0, counts, NULL, 0, NULL);
	assert_int_equal(WaitForMultipleObjects(THREADS, threads, TRUE, PATIENT), WAIT_OBJECT_0);
	for (int i = 0; i < THREADS; i++)
		assert_true(CloseHandle(threads[i]));
	assert_int_equal(guarded, THREADS * ROUNDS);
	EnterCriticalSection(&section);
	assert_int_equal(joined(CreateThread(NULL, 0, tries, NULL, 0, NULL)), FALSE);
	LeaveCriticalSection(&section);
	DeleteCriticalSection(&section);
	assert_true(InitializeCriticalSectionAndSpinCount(&section, 4000));
	assert_true(TryEnterCriticalSection(&section));
	LeaveCriticalSection(&section);
	DeleteCriticalSection(&section);
}

/* ---- calls in place of packets ---- */

struct call {
	OVERLAPPED overlapped;
	DWORD error, bytes;
	HANDLE called;
};

static VOID CALLBACK
on_end(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
	struct call *call = CONTAINING_RECORD(overlapped, struct call, overlapped);

	call->error = error;
	call->bytes = bytes;
	SetEvent(call->called);
}

static void
a_file_may_call_instead_of_queueing(void **state)
{
	struct bench one = bench_open(false), two = bench_open(false), taken = bench_open(true);
	struct bench *benches[2] = {&one, &two};
	struct call call = {.called = new_event(FALSE)};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(BindIoCompletionCallback(benches[i]->file, on_end, 0));
		assert_true(
			plx_pending_finish(plx_pending_begin(&benches[i]->list, &call.overlapped),
					   i ? STATUS_CANCELLED : STATUS_SUCCESS, 11));
		assert_int_equal(WaitForSingleObject(call.called, PATIENT), WAIT_OBJECT_0);
		assert_int_equal(call.error, i ? (DWORD)STATUS_CANCELLED : 0);
		assert_int_equal(call.bytes, 11);
	}
	assert_false(BindIoCompletionCallback(one.file, on_end, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(BindIoCompletionCallback(taken.file, on_end, 0));
	assert_false(BindIoCompletionCallback(one.file, NULL, 0));
	assert_false(BindIoCompletionCallback(one.file, on_end, 1));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(BindIoCompletionCallback(call.called, on_end, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	bench_close(&one);
	bench_close(&two);
	bench_close(&taken);
	assert_true(CloseHandle(call.called));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_a_code_and_an_id),
		cmocka_unit_test(a_thread_ends_in_every_way),
		cmocka_unit_test(a_thread_has_ended_when_it_is_said_to_have),
		cmocka_unit_test(a_thread_outlives_its_handle),
		cmocka_unit_test(what_cannot_be_had_is_refused),
		cmocka_unit_test(affinity_is_a_mask),
		cmocka_unit_test(a_critical_section_lets_one_thread_in_again_and_again),
		cmocka_unit_test(a_file_may_call_instead_of_queueing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
