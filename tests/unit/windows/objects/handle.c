/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles: what is one and what is none, tags, closing, and slots that are used again.
 */
#include "bench.h"

enum {
	MANY = 3000,
	ROUNDS = 100000,
};

static void
refused(HANDLE handle)
{
	SetLastError(0);
	assert_false(CloseHandle(handle));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	SetLastError(0);
	assert_false(SetEvent(handle));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_int_equal(WaitForSingleObject(handle, INFINITE), WAIT_FAILED);
	assert_int_equal(plx_handle_fd(handle), -1);
	assert_null(plx_file_hold(handle));
}

static void
garbage_is_no_handle(void **state)
{
	static long long here[8];
	long long *heap = calloc(8, sizeof(*heap));
	HANDLE event = new_event(TRUE);

	(void)state;
	refused(NULL);
	refused(INVALID_HANDLE_VALUE);
	refused((HANDLE)(uintptr_t)16);
	refused((HANDLE)(uintptr_t)0xdeadbeefcafe0000);
	refused(here);
	refused(heap);
	refused((char *)event + 16); /* into its slot */
	refused((char *)event - 16);
	assert_true(CloseHandle(event));
	free(heap);
}

static void
a_closed_handle_is_none(void **state)
{
	HANDLE event = new_event(TRUE);

	(void)state;
	assert_true(CloseHandle(event));
	refused(event);
	/* Nor is it soon one again: the slot goes to the end of the free list. */
	for (int i = 0; i < 32; i++) {
		HANDLE other = new_event(TRUE);

		assert_ptr_not_equal(other, event);
		assert_true(CloseHandle(other));
	}
	refused(event);
}

static void
the_low_two_bits_are_the_clients(void **state)
{
	HANDLE event = new_event(FALSE);

	(void)state;
	for (uintptr_t tag = 1; tag < 4; tag++) {
		HANDLE tagged = (HANDLE)((uintptr_t)event | tag);

		assert_true(SetEvent(tagged));
		assert_int_equal(WaitForSingleObject(tagged, 0), WAIT_OBJECT_0);
		assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
	}
	assert_true(CloseHandle((HANDLE)((uintptr_t)event | 1)));
	refused(event);
}

static void
a_handle_is_of_one_kind(void **state)
{
	HANDLE event = new_event(TRUE), file = plx_file_create();
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	OVERLAPPED *overlapped;
	ULONG_PTR key;
	DWORD bytes, code;

	(void)state;
	assert_false(SetEvent(file));
	assert_false(ResetEvent(port));
	assert_null(plx_file_hold(event));
	assert_null(CreateIoCompletionPort(event, port, 0, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_null(CreateIoCompletionPort(file, event, 0, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_false(GetQueuedCompletionStatus(file, &bytes, &key, &overlapped, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_false(PostQueuedCompletionStatus(event, 0, 0, NULL));
	assert_false(GetExitCodeThread(event, &code));
	/* Neither has a signal that could ever come. */
	assert_int_equal(WaitForSingleObject(file, INFINITE), WAIT_FAILED);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_int_equal(WaitForSingleObject(port, INFINITE), WAIT_FAILED);
	/* The refused ones have changed nothing. */
	assert_ptr_equal(CreateIoCompletionPort(file, port, 0, 0), port);
	assert_true(CloseHandle(event));
	assert_true(CloseHandle(file));
	assert_true(CloseHandle(port));
}

static void
there_may_be_thousands(void **state)
{
	static HANDLE events[MANY];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++)
			events[i] = CreateEventW(NULL, TRUE, i % 2, NULL);
		for (int i = 0; i < MANY; i++)
			assert_int_equal(is_set(events[i]), i % 2);
		for (int i = 0; i < MANY; i++)
			assert_true(CloseHandle(events[i]));
		for (int i = 0; i < MANY; i++)
			assert_false(CloseHandle(events[i]));
	}
}

static void
names_are_refused(void **state)
{
	(void)state;
	assert_null(CreateEventW(NULL, TRUE, FALSE, L"name"));
	assert_int_equal(GetLastError(), ERROR_NOT_SUPPORTED);
	assert_null(CreateEventA(NULL, TRUE, FALSE, "name"));
	assert_int_equal(GetLastError(), ERROR_NOT_SUPPORTED);
}

/* Handles that come and go, and one who uses them whether they are there or not. */
static HANDLE _Atomic shown;
static atomic_bool over;

static void *
uses(void *count)
{
	while (!atomic_load(&over)) {
		HANDLE handle = atomic_load(&shown);

		if (handle && SetEvent(handle) && WaitForSingleObject(handle, 0) == WAIT_OBJECT_0)
			atomic_fetch_add((atomic_uint *)count, 1);
	}
	return NULL;
}

static void
closing_while_others_use_it_is_safe(void **state)
{
	atomic_uint count = 0;
	pthread_t user;

	(void)state;
	atomic_store(&over, false);
	user = start_thread(uses, &count);
	for (int i = 0; i < ROUNDS || !atomic_load(&count); i++) {
		HANDLE event = new_event(TRUE);

		atomic_store(&shown, event);
		assert_true(CloseHandle(event));
	}
	atomic_store(&over, true);
	join_thread(user);
	assert_true(count > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(garbage_is_no_handle),
		cmocka_unit_test(a_closed_handle_is_none),
		cmocka_unit_test(the_low_two_bits_are_the_clients),
		cmocka_unit_test(a_handle_is_of_one_kind),
		cmocka_unit_test(there_may_be_thousands),
		cmocka_unit_test(names_are_refused),
		cmocka_unit_test(closing_while_others_use_it_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
