/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locks in the program's memory: reader/writer locks, condition variables, waits on an address,
 * one-time initialization. "Is asleep" is known from the table of park.c.
 */
#include "bench.h"

#include <sched.h>

#include "park.h"

enum {
	THREADS = 4,
	ROUNDS = 5000,
	READERS = 3,
	MS_NS = 1000000,
	LONGEST_EXTRA = 5000, /* [ms] that a loaded machine may take longer */
};

static void
until_asleep(const volatile void *address, unsigned count)
{
	uint64_t end = win_deadline(PATIENT);

	while (win_parked(address) < count) {
		assert_true(win_deadline(0) < end);
		sched_yield();
	}
}

static void
until(const atomic_uint *value, unsigned wanted)
{
	uint64_t end = win_deadline(PATIENT);

	while (atomic_load(value) != wanted) {
		assert_true(win_deadline(0) < end);
		sched_yield();
	}
}

/* ---- reader/writer locks ---- */

static struct {
	SRWLOCK lock;
	CONDITION_VARIABLE condition;
	CRITICAL_SECTION section;
	unsigned plain,
		twin; /* of the lock: no atomics, so that ThreadSanitizer sees what it does */
	atomic_uint inside, done;
} with;

static void
fresh(void)
{
	memset(&with, 0, sizeof(with));
	InitializeSRWLock(&with.lock);
	InitializeConditionVariable(&with.condition);
	InitializeCriticalSection(&with.section);
}

static void *
counts(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		AcquireSRWLockExclusive(&with.lock);
		with.plain++;
		with.twin++;
		ReleaseSRWLockExclusive(&with.lock);
		AcquireSRWLockShared(&with.lock);
		if (with.plain != with.twin)
			abort();
		ReleaseSRWLockShared(&with.lock);
	}
	return argument;
}

static void
one_writer_or_many_readers_have_the_lock(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	fresh();
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(counts, NULL);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_int_equal(with.plain, THREADS * ROUNDS);
	assert_null(with.lock.Ptr);
}

static void
a_try_never_waits(void **state)
{
	SRWLOCK lock = SRWLOCK_INIT;

	(void)state;
	assert_true(TryAcquireSRWLockShared(&lock));
	assert_true(TryAcquireSRWLockShared(&lock));
	assert_false(TryAcquireSRWLockExclusive(&lock));
	ReleaseSRWLockShared(&lock);
	assert_false(TryAcquireSRWLockExclusive(&lock));
	ReleaseSRWLockShared(&lock);
	assert_true(TryAcquireSRWLockExclusive(&lock));
	assert_false(TryAcquireSRWLockExclusive(&lock));
	assert_false(TryAcquireSRWLockShared(&lock));
	ReleaseSRWLockExclusive(&lock);
	assert_null(lock.Ptr);
}

static void *
writes(void *argument)
{
	AcquireSRWLockExclusive(&with.lock);
	with.plain = 1;
	ReleaseSRWLockExclusive(&with.lock);
	return argument;
}

static void *
reads_what_was_written(void *argument)
{
	AcquireSRWLockShared(&with.lock);
	*(unsigned *)argument = with.plain;
	atomic_fetch_add(&with.inside, 1);
	until(&with.inside, READERS); /* all at once, or never */
	ReleaseSRWLockShared(&with.lock);
	return NULL;
}

static void
readers_that_come_behind_a_writer_let_it_go_first_and_then_go_together(void **state)
{
	unsigned seen[READERS] = {0};
	pthread_t writer, readers[READERS];

	(void)state;
	fresh();
	AcquireSRWLockShared(&with.lock);
	writer = start_thread(writes, NULL);
	until_asleep(&with.lock, 1);
	assert_false(TryAcquireSRWLockShared(&with.lock));
	for (int i = 0; i < READERS; i++)
		readers[i] = start_thread(reads_what_was_written, &seen[i]);
	until_asleep(&with.lock, 1 + READERS);
	ReleaseSRWLockShared(&with.lock);
	join_thread(writer);
	for (int i = 0; i < READERS; i++) {
		join_thread(readers[i]);
		assert_int_equal(seen[i], 1);
	}
	assert_null(with.lock.Ptr);
}

/* ---- condition variables ---- */

static void *
waits_its_turn(void *argument)
{
	unsigned mine = (unsigned)(uintptr_t)argument;

	EnterCriticalSection(&with.section);
	for (unsigned i = 0; i < ROUNDS / THREADS; i++) {
		while (with.plain % THREADS != mine)
			if (!SleepConditionVariableCS(&with.condition, &with.section, PATIENT))
				abort();
		with.plain++;
		WakeAllConditionVariable(&with.condition);
	}
	LeaveCriticalSection(&with.section);
	return NULL;
}

static void
no_wake_is_lost_between_threads_that_take_turns(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	fresh();
	for (uintptr_t i = 0; i < THREADS; i++)
		threads[i] = start_thread(waits_its_turn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_int_equal(with.plain, ROUNDS / THREADS * THREADS);
}

static void *
waits_for_a_wake(void *argument)
{
	ULONG shared = argument ? CONDITION_VARIABLE_LOCKMODE_SHARED : 0;

	if (shared)
		AcquireSRWLockShared(&with.lock);
	else
		AcquireSRWLockExclusive(&with.lock);
	if (!SleepConditionVariableSRW(&with.condition, &with.lock, INFINITE, shared))
		abort();
	atomic_fetch_add(&with.done, 1);
	if (shared)
		ReleaseSRWLockShared(&with.lock);
	else
		ReleaseSRWLockExclusive(&with.lock);
	return NULL;
}

static void
a_wake_lets_one_through_and_a_wake_of_all_the_rest(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	fresh();
	WakeConditionVariable(&with.condition); /* of nobody: forgotten */
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(waits_for_a_wake, i % 2 ? &with : NULL);
	until_asleep(&with.condition, THREADS);
	assert_int_equal(atomic_load(&with.done), 0);
	WakeConditionVariable(&with.condition);
	until(&with.done, 1);
	assert_int_equal(win_parked(&with.condition), THREADS - 1);
	WakeAllConditionVariable(&with.condition);
	until(&with.done, THREADS);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_null(with.lock.Ptr);
}

static void
a_wait_that_takes_too_long_has_the_lock_again(void **state)
{
	uint64_t begin, passed;

	(void)state;
	fresh();
	AcquireSRWLockExclusive(&with.lock);
	begin = win_deadline(0);
	assert_false(SleepConditionVariableSRW(&with.condition, &with.lock, A_WHILE, 0));
	assert_int_equal(GetLastError(), ERROR_TIMEOUT);
	passed = win_deadline(0) - begin;
	assert_true(passed >= (uint64_t)A_WHILE * MS_NS);
	assert_true(passed < (uint64_t)(A_WHILE + LONGEST_EXTRA) * MS_NS);
	assert_false(TryAcquireSRWLockShared(&with.lock));
	SetLastError(0);
	assert_false(SleepConditionVariableSRW(&with.condition, &with.lock, 0, 2));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(TryAcquireSRWLockShared(&with.lock));
	ReleaseSRWLockExclusive(&with.lock);
	EnterCriticalSection(&with.section);
	SetLastError(0);
	assert_false(SleepConditionVariableCS(&with.condition, &with.section, 0));
	assert_int_equal(GetLastError(), ERROR_TIMEOUT);
	LeaveCriticalSection(&with.section);
	DeleteCriticalSection(&with.section);
}

/* ---- addresses ---- */

static uint64_t value;
static atomic_uint arrived;

static void *
waits_at_the_value(void *order)
{
	uint64_t zero = 0;

	while (!__atomic_load_n(&value, __ATOMIC_ACQUIRE))
		if (!WaitOnAddress(&value, &zero, sizeof(value), INFINITE))
			abort();
	*(unsigned *)order = atomic_fetch_add(&arrived, 1) + 1;
	return NULL;
}

static void
a_wake_by_address_is_for_who_has_waited_longest(void **state)
{
	unsigned order[THREADS] = {0};
	pthread_t threads[THREADS];

	(void)state;
	value = 0;
	atomic_store(&arrived, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i] = start_thread(waits_at_the_value, &order[i]);
		until_asleep(&value, i + 1);
	}
	__atomic_store_n(&value, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i + 2 < THREADS; i++) {
		WakeByAddressSingle(&value);
		until(&arrived, i + 1);
		assert_int_equal(win_parked(&value), THREADS - 1 - i);
	}
	WakeByAddressAll(&value);
	for (unsigned i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	for (unsigned i = 0; i + 2 < THREADS; i++)
		assert_int_equal(order[i], i + 1);
	assert_int_equal(atomic_load(&arrived), THREADS);
	WakeByAddressSingle(&value);
	assert_int_equal(win_parked(&value), 0);
}

static void
a_wait_on_an_address_compares_as_many_bytes_as_it_is_told(void **state)
{
	uint64_t here = UINT64_C(0x1122334455667788), other;

	(void)state;
	for (SIZE_T bytes = 1; bytes <= 8; bytes *= 2) {
		memset(&other, 0xff, sizeof(other));
		memcpy(&other, &here, bytes); /* the same, as far as it is looked at */
		SetLastError(0);
		assert_false(WaitOnAddress(&here, &other, bytes, 1));
		assert_int_equal(GetLastError(), ERROR_TIMEOUT);
		assert_false(WaitOnAddress(&here, &other, bytes, 0));
		((unsigned char *)&other)[bytes - 1] ^= 1;
		assert_true(WaitOnAddress(&here, &other, bytes, INFINITE));
	}
	for (SIZE_T bytes = 0; bytes <= 9; bytes++) {
		if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
			continue;
		SetLastError(0);
		assert_false(WaitOnAddress(&here, &here, bytes, INFINITE));
		assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	}
	assert_false(WaitOnAddress(NULL, &here, 8, 0));
	assert_false(WaitOnAddress(&here, NULL, 8, 0));
}

static void *
plays(void *argument)
{
	uint32_t mine = argument ? 1 : 0, other = !mine;

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t *ball = (uint32_t *)&value;

		while (__atomic_load_n(ball, __ATOMIC_ACQUIRE) == other)
			WaitOnAddress(ball, &other, sizeof(*ball), INFINITE);
		__atomic_store_n(ball, other, __ATOMIC_RELEASE);
		WakeByAddressSingle(ball);
	}
	return NULL;
}

static void
a_ball_between_two_threads_is_never_lost(void **state)
{
	pthread_t one, two;

	(void)state;
	value = 0;
	one = start_thread(plays, NULL);
	two = start_thread(plays, &value);
	join_thread(one);
	join_thread(two);
}

/* ---- one-time initialization ---- */

static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static atomic_uint runs;
static unsigned made[4];

static BOOL CALLBACK
makes(PINIT_ONCE which, PVOID parameter, PVOID *context)
{
	assert_ptr_equal(which, &once);
	assert_ptr_equal(parameter, &runs);
	Sleep(A_WHILE / 2); /* so that the others have to wait */
	made[0] = atomic_fetch_add(&runs, 1) + 1;
	*context = made;
	return TRUE;
}

static void *
wants_it(void *argument)
{
	PVOID context = NULL;

	if (!InitOnceExecuteOnce(&once, makes, &runs, &context) || context != made || made[0] != 1)
		abort();
	return argument;
}

static void
what_is_once_runs_once_and_all_see_it(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	InitOnceInitialize(&once);
	atomic_store(&runs, 0);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start_thread(wants_it, NULL);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_int_equal(atomic_load(&runs), 1);
}

static BOOL CALLBACK
fails(PINIT_ONCE which, PVOID parameter, PVOID *context)
{
	(void)which;
	(void)context;
	atomic_fetch_add((atomic_uint *)parameter, 1);
	SetLastError(ERROR_BUSY);
	return FALSE;
}

static BOOL CALLBACK
gives_a_crooked_context(PINIT_ONCE which, PVOID parameter, PVOID *context)
{
	(void)which;
	(void)parameter;
	*context = (char *)made + 1;
	return TRUE;
}

static void
what_fails_once_is_tried_again(void **state)
{
	PVOID context = NULL;

	(void)state;
	InitOnceInitialize(&once);
	atomic_store(&runs, 0);
	assert_false(InitOnceExecuteOnce(&once, fails, &runs, NULL));
	assert_int_equal(GetLastError(), ERROR_BUSY);
	assert_false(InitOnceExecuteOnce(&once, fails, &runs, NULL));
	assert_int_equal(atomic_load(&runs), 2);
	assert_false(InitOnceExecuteOnce(&once, gives_a_crooked_context, NULL, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	atomic_store(&runs, 0);
	assert_true(InitOnceExecuteOnce(&once, makes, &runs, &context));
	assert_ptr_equal(context, made);
}

static void
the_first_of_a_race_to_complete_wins(void **state)
{
	BOOL pending = FALSE;
	PVOID context = NULL;

	(void)state;
	InitOnceInitialize(&once);
	assert_false(InitOnceBeginInitialize(&once, INIT_ONCE_CHECK_ONLY, &pending, NULL));
	assert_int_equal(GetLastError(), ERROR_GEN_FAILURE);
	assert_true(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC, &pending, NULL));
	assert_true(pending);
	assert_true(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC, &pending, NULL));
	assert_true(pending);
	assert_false(InitOnceBeginInitialize(&once, 0, &pending, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(InitOnceComplete(&once, 0, made));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_true(InitOnceComplete(&once, INIT_ONCE_ASYNC, made));
	assert_false(InitOnceComplete(&once, INIT_ONCE_ASYNC, &made[1]));
	assert_int_equal(GetLastError(), ERROR_GEN_FAILURE);
	assert_true(InitOnceBeginInitialize(&once, INIT_ONCE_CHECK_ONLY, &pending, &context));
	assert_false(pending);
	assert_ptr_equal(context, made);
}

static void
a_synchronous_begin_ends_by_complete(void **state)
{
	BOOL pending = FALSE;

	(void)state;
	InitOnceInitialize(&once);
	assert_false(InitOnceComplete(&once, 0, NULL));
	assert_int_equal(GetLastError(), ERROR_GEN_FAILURE);
	assert_true(InitOnceBeginInitialize(&once, 0, &pending, NULL));
	assert_true(pending);
	assert_false(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC, &pending, NULL));
	assert_false(InitOnceComplete(&once, INIT_ONCE_INIT_FAILED, made));
	assert_false(InitOnceComplete(&once, 0, (char *)made + 2));
	assert_true(InitOnceComplete(&once, INIT_ONCE_INIT_FAILED, NULL));
	assert_true(InitOnceBeginInitialize(&once, 0, &pending, NULL));
	assert_true(pending && InitOnceComplete(&once, 0, NULL));
	assert_true(InitOnceBeginInitialize(&once, 0, &pending, NULL) && !pending);
	assert_false(InitOnceBeginInitialize(&once, 8, &pending, NULL));
	assert_false(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC | INIT_ONCE_CHECK_ONLY,
					     &pending, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

/* ---- what is like its elder kin ---- */

static void
calls_that_take_flags_are_their_elder_kin(void **state)
{
	HANDLE handles[2];

	(void)state;
	handles[0] = CreateEventExW(
		NULL, NULL, CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET, EVENT_ALL_ACCESS);
	handles[1] = CreateEventExA(NULL, NULL, 0, EVENT_ALL_ACCESS);
	assert_true(is_set(handles[0]) && is_set(handles[0]) && !is_set(handles[1]));
	assert_int_equal(WaitForMultipleObjectsEx(2, handles, FALSE, 0, TRUE), WAIT_OBJECT_0);
	assert_int_equal(WaitForMultipleObjectsEx(2, handles, TRUE, 0, FALSE), WAIT_TIMEOUT);
	assert_null(CreateEventExW(NULL, NULL, 4, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CreateEventExW(NULL, L"name", 0, 0));
	assert_int_equal(GetLastError(), ERROR_NOT_SUPPORTED);
	assert_true(CloseHandle(handles[0]) && CloseHandle(handles[1]));
	assert_int_equal(SleepEx(1, TRUE), 0);
	assert_false(InitializeCriticalSectionEx(&with.section, 0, 1));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_true(
		InitializeCriticalSectionEx(&with.section, 4000, CRITICAL_SECTION_NO_DEBUG_INFO));
	assert_int_equal(SetCriticalSectionSpinCount(&with.section, 7), 0);
	assert_true(TryEnterCriticalSection(&with.section));
	LeaveCriticalSection(&with.section);
	DeleteCriticalSection(&with.section);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_writer_or_many_readers_have_the_lock),
		cmocka_unit_test(a_try_never_waits),
		cmocka_unit_test(
			readers_that_come_behind_a_writer_let_it_go_first_and_then_go_together),
		cmocka_unit_test(no_wake_is_lost_between_threads_that_take_turns),
		cmocka_unit_test(a_wake_lets_one_through_and_a_wake_of_all_the_rest),
		cmocka_unit_test(a_wait_that_takes_too_long_has_the_lock_again),
		cmocka_unit_test(a_wake_by_address_is_for_who_has_waited_longest),
		cmocka_unit_test(a_wait_on_an_address_compares_as_many_bytes_as_it_is_told),
		cmocka_unit_test(a_ball_between_two_threads_is_never_lost),
		cmocka_unit_test(what_is_once_runs_once_and_all_see_it),
		cmocka_unit_test(what_fails_once_is_tried_again),
		cmocka_unit_test(the_first_of_a_race_to_complete_wins),
		cmocka_unit_test(a_synchronous_begin_ends_by_complete),
		cmocka_unit_test(calls_that_take_flags_are_their_elder_kin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
