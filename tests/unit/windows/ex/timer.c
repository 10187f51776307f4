/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timers that the system allocates: once and with a period, cancelled, deleted in each way, also
 * from their own routine. Start with a_timer_expires_once_or_with_a_period().
 */
#include "ex_test.h"

enum {
	MS = 10000, /* in units of 100 ns */
	LONG_TIME = 60 * 1000 * MS,
};

static atomic_int expirations, deletions;
static atomic_int level;

static VOID
count(PEX_TIMER timer, PVOID context)
{
	(void)timer;
	atomic_store(&level, KeGetCurrentIrql());
	atomic_fetch_add((atomic_int *)context, 1);
}

static VOID
deleted(PVOID context)
{
	atomic_fetch_add((atomic_int *)context, 1);
}

static EXT_DELETE_PARAMETERS
with_routine(void)
{
	EXT_DELETE_PARAMETERS parameters;

	ExInitializeDeleteTimerParameters(&parameters);
	parameters.DeleteCallback = deleted;
	parameters.DeleteContext = &deletions;
	return parameters;
}

static int
start(void **state)
{
	(void)state;
	atomic_store(&expirations, 0);
	atomic_store(&deletions, 0);
	return 0;
}

static void
a_timer_expires_once_or_with_a_period(void **state)
{
	PEX_TIMER timer = ExAllocateTimer(count, &expirations, EX_TIMER_HIGH_RESOLUTION);
	EXT_SET_PARAMETERS parameters;

	(void)state;
	assert_non_null(timer);
	ExInitializeSetTimerParameters(&parameters);
	assert_false(ExSetTimer(timer, -MS, 0, &parameters));
	EX_WAIT_UNTIL(atomic_load(&expirations) == 1);
	assert_int_equal(atomic_load(&level), DISPATCH_LEVEL);
	assert_false(ExCancelTimer(timer, NULL));
	/* Half a millisecond, which Ke's timers do not know. */
	assert_false(ExSetTimer(timer, -MS, MS / 2, NULL));
	EX_WAIT_UNTIL(atomic_load(&expirations) >= 20);
	assert_true(ExCancelTimer(timer, NULL));
	assert_false(ExCancelTimer(timer, NULL));
	assert_false(ExDeleteTimer(timer, TRUE, TRUE, NULL));
}

static void
periods_count_from_when_it_was_due(void **state)
{
	PEX_TIMER timer = ExAllocateTimer(count, &expirations, 0);
	ULONGLONG begin = KeQueryInterruptTime();

	(void)state;
	assert_false(ExSetTimer(timer, -MS, MS, NULL));
	EX_WAIT_UNTIL(atomic_load(&expirations) >= 10);
	assert_true(KeQueryInterruptTime() - begin >= 9 * MS);
	assert_true(ExDeleteTimer(timer, TRUE, TRUE, NULL));
}

static void
a_timer_that_is_set_again_or_cancelled_was_set(void **state)
{
	PEX_TIMER timer = ExAllocateTimer(count, &expirations, EX_TIMER_NO_WAKE);

	(void)state;
	assert_false(ExSetTimer(timer, -LONG_TIME, 0, NULL));
	assert_true(ExSetTimer(timer, -LONG_TIME, 0, NULL));
	assert_true(ExCancelTimer(timer, NULL));
	assert_false(ExSetTimer(timer, -LONG_TIME, MS, NULL));
	assert_true(ExDeleteTimer(timer, TRUE, TRUE, NULL));
	assert_int_equal(atomic_load(&expirations), 0);
}

static void
a_thread_waits_for_a_timer(void **state)
{
	static const ULONG kinds[] = {0, EX_TIMER_NOTIFICATION};
	LARGE_INTEGER now = {.QuadPart = 0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		PEX_TIMER timer = ExAllocateTimer(NULL, NULL, kinds[i]);

		assert_false(ExSetTimer(timer, 0, 0, NULL));
		assert_int_equal(KeWaitForSingleObject(timer, Executive, KernelMode, FALSE, NULL),
				 STATUS_SUCCESS);
		assert_int_equal(KeWaitForSingleObject(timer, Executive, KernelMode, FALSE, &now),
				 kinds[i] ? STATUS_SUCCESS : STATUS_TIMEOUT);
		assert_false(ExDeleteTimer(timer, TRUE, TRUE, NULL));
	}
}

static void
wrong_attributes_make_no_timer(void **state)
{
	(void)state;
	assert_null(ExAllocateTimer(NULL, NULL, 1));
	assert_null(ExAllocateTimer(NULL, NULL, EX_TIMER_HIGH_RESOLUTION | EX_TIMER_NO_WAKE));
}

static void
a_deletion_without_cancelling_comes_after_the_last_expiration(void **state)
{
	static const LONGLONG periods[] = {0, MS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		EXT_DELETE_PARAMETERS parameters = with_routine();
		PEX_TIMER timer = ExAllocateTimer(count, &expirations, 0);

		start(NULL);
		assert_false(ExSetTimer(timer, -50 * MS, periods[i], NULL));
		assert_false(ExDeleteTimer(timer, FALSE, FALSE, &parameters));
		EX_WAIT_UNTIL(atomic_load(&deletions) == 1);
		assert_int_equal(atomic_load(&expirations), 1);
	}
}

static void
a_deletion_that_does_not_wait_tells_of_its_end(void **state)
{
	EXT_DELETE_PARAMETERS parameters = with_routine();
	PEX_TIMER timer = ExAllocateTimer(count, &expirations, 0);
	KIRQL old;

	(void)state;
	assert_false(ExSetTimer(timer, -LONG_TIME, 0, NULL));
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	assert_true(ExDeleteTimer(timer, TRUE, FALSE, &parameters));
	KeLowerIrql(old);
	EX_WAIT_UNTIL(atomic_load(&deletions) == 1);
	assert_int_equal(atomic_load(&expirations), 0);
}

static VOID
delete_itself(PEX_TIMER timer, PVOID context)
{
	EXT_DELETE_PARAMETERS parameters = with_routine();

	atomic_fetch_add((atomic_int *)context, 1);
	(void)ExDeleteTimer(timer, TRUE, FALSE, &parameters);
}

static void
a_routine_deletes_its_timer(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		PEX_TIMER timer = ExAllocateTimer(delete_itself, &expirations, 0);

		assert_non_null(timer);
		(void)ExSetTimer(timer, -1, i % 2 ? 1 : 0, NULL);
	}
	EX_WAIT_UNTIL(atomic_load(&deletions) == 100);
	/* One with a period may have expired again before it was deleted. */
	assert_in_range(atomic_load(&expirations), 100, 150);
}

/* The routine uses what is gone once the deletion has returned. */
static void
no_routine_runs_after_a_deletion_that_waited(void **state)
{
	KIRQL old;

	(void)state;
	for (int i = 0; i < 300; i++) {
		atomic_int *own = calloc(1, sizeof(*own));
		PEX_TIMER timer = ExAllocateTimer(count, own, 0);

		(void)ExSetTimer(timer, -1, 1 + i % 50, NULL);
		if (i % 3 == 0)
			EX_WAIT_UNTIL(atomic_load(own) > 0);
		KeRaiseIrql(i % 2 ? APC_LEVEL : PASSIVE_LEVEL, &old);
		assert_true(ExDeleteTimer(timer, TRUE, TRUE, NULL));
		KeLowerIrql(old);
		free(own);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_timer_expires_once_or_with_a_period, start),
		cmocka_unit_test_setup(periods_count_from_when_it_was_due, start),
		cmocka_unit_test_setup(a_timer_that_is_set_again_or_cancelled_was_set, start),
		cmocka_unit_test_setup(a_thread_waits_for_a_timer, start),
		cmocka_unit_test_setup(wrong_attributes_make_no_timer, start),
		cmocka_unit_test_setup(
			a_deletion_without_cancelling_comes_after_the_last_expiration, start),
		cmocka_unit_test_setup(a_deletion_that_does_not_wait_tells_of_its_end, start),
		cmocka_unit_test_setup(a_routine_deletes_its_timer, start),
		cmocka_unit_test_setup(no_routine_runs_after_a_deletion_that_waited, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
