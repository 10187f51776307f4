/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timers: when they expire, what cancels them, what a second set does, periods, and what is left.
 * Races with the expiry are in race.c. Start with a_timer_expires_when_it_is_due().
 */
#include "ke_test.h"

static KDEFERRED_ROUTINE count, note_time;

static VOID
count(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)dpc, (void)argument1, (void)argument2;
	KeReleaseSemaphore(context, 0, 1, FALSE);
}

static VOID
note_time(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)dpc, (void)argument1, (void)argument2;
	assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
	*(ULONGLONG *)context = KeQueryUnbiasedInterruptTime();
}

static void
a_timer_expires_when_it_is_due(void **state)
{
	static const LONGLONG times[] = {0, 1, 7, 1000, 20000, 300000};

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(times); i++) {
		ULONGLONG start = KeQueryUnbiasedInterruptTime(), at = 0;
		KTIMER timer;
		KDPC dpc;

		KeInitializeTimer(&timer);
		KeInitializeDpc(&dpc, note_time, &at);
		assert_false(KeSetTimer(&timer, (LARGE_INTEGER){.QuadPart = -times[i]}, &dpc));
		ke_wait(&timer);
		KeFlushQueuedDpcs();
		assert_true(at - start >= (ULONGLONG)times[i]);
		assert_true(KeReadStateTimer(&timer));
		assert_false(KeCancelTimer(&timer));
	}
}

static void
an_absolute_time_is_the_time_of_day(void **state)
{
	LARGE_INTEGER due, now;
	KTIMER timer;

	(void)state;
	KeInitializeTimer(&timer);
	KeQuerySystemTime(&due);
	due.QuadPart += 20 * KE_MS;
	KeSetTimer(&timer, due, NULL);
	assert_false(KeReadStateTimer(&timer));
	ke_wait(&timer);
	KeQuerySystemTime(&now);
	assert_true(now.QuadPart >= due.QuadPart);
	/* what has passed expires at once */
	KeSetTimer(&timer, (LARGE_INTEGER){.QuadPart = 1}, NULL);
	assert_true(KeReadStateTimer(&timer));
}

static void
timers_expire_in_the_order_of_their_times(void **state)
{
	enum {
		N = 40
	};
	KTIMER timers[N], anchor;
	ULONGLONG at[N];
	KDPC dpcs[N];

	(void)state;
	KeInitializeTimer(&anchor);
	for (ULONG i = 0; i < N; i++) {
		KeInitializeTimer(&timers[i]);
		KeInitializeDpc(&dpcs[i], note_time, &at[i]);
	}
	/* 7 and 40 have no common divisor, so each time occurs once. */
	for (ULONG i = 0; i < N; i++)
		KeSetTimer(&timers[i], ke_in_ms(5 + i * 7 % N), &dpcs[i]);
	KeSetTimer(&anchor, ke_in_ms(10 + N), NULL);
	assert_true(plx_ke_left().timers > 0);
	for (ULONG i = 0; i < N; i++)
		ke_wait(&timers[i]);
	KeFlushQueuedDpcs();
	for (ULONG i = 0; i < N; i++)
		for (ULONG j = 0; j < N; j++)
			if (i * 7 % N + 1 < j * 7 % N)
				assert_true(at[i] <= at[j]);
	ke_wait(&anchor);
	assert_int_equal(plx_ke_left().timers, 0);
}

static void
a_second_set_replaces_the_first(void **state)
{
	KSEMAPHORE first, second;
	KDPC dpcs[2];
	KTIMER timer;

	(void)state;
	KeInitializeSemaphore(&first, 0, 10);
	KeInitializeSemaphore(&second, 0, 10);
	KeInitializeDpc(&dpcs[0], count, &first);
	KeInitializeDpc(&dpcs[1], count, &second);
	KeInitializeTimer(&timer);
	assert_false(KeSetTimer(&timer, ke_in_ms(3600000), &dpcs[0]));
	assert_int_equal(plx_ke_left().timers, 1);
	assert_true(KeSetTimer(&timer, ke_in_ms(1), &dpcs[1]));
	ke_wait(&timer);
	ke_wait(&second);
	assert_int_equal(KeReadStateSemaphore(&first), 0);
	/* A set resets it. */
	assert_false(KeSetTimer(&timer, ke_in_ms(3600000), NULL));
	assert_false(KeReadStateTimer(&timer));
	assert_true(KeCancelTimer(&timer));
	assert_false(KeReadStateTimer(&timer));
	assert_int_equal(plx_ke_left().timers, 0);
}

static void
a_period_repeats_until_it_is_cancelled(void **state)
{
	ULONGLONG start = KeQueryUnbiasedInterruptTime();
	KSEMAPHORE expiries;
	KTIMER timer;
	LONG after;
	KDPC dpc;

	(void)state;
	KeInitializeSemaphore(&expiries, 0, MAXLONG);
	KeInitializeDpc(&dpc, count, &expiries);
	KeInitializeTimerEx(&timer, SynchronizationTimer);
	assert_false(KeSetTimerEx(&timer, ke_in_ms(2), 3, &dpc));
	for (int i = 0; i < 10; i++)
		ke_wait(&expiries);
	/* 9 periods, of which each lasts, although one may be late. */
	assert_true(KeQueryUnbiasedInterruptTime() - start >= (2 + 9 * 3 - 3) * KE_MS);
	assert_int_equal(plx_ke_left().timers, 1);
	assert_true(KeCancelTimer(&timer));
	KeFlushQueuedDpcs();
	after = KeReadStateSemaphore(&expiries);
	assert_int_equal(plx_ke_left().timers, 0);
	/* Nothing is set again behind the cancellation. */
	assert_int_equal(ke_wait_ms(&expiries, 20) == STATUS_SUCCESS, after > 0);
	assert_int_equal(KeReadStateSemaphore(&expiries), after > 0 ? after - 1 : 0);
}

static void
a_tolerable_delay_is_no_delay_by_itself(void **state)
{
	ULONGLONG start = KeQueryUnbiasedInterruptTime();
	KTIMER timer;

	(void)state;
	KeInitializeTimer(&timer);
	KeSetCoalescableTimer(&timer, ke_in_ms(1), 0, 3600000, NULL);
	ke_wait(&timer);
	assert_true(KeQueryUnbiasedInterruptTime() - start >= KE_MS);
}

static KDEFERRED_ROUTINE free_all;

struct freed {
	KTIMER timer;
	KDPC dpc;
	KEVENT *done;
};

static VOID
free_all(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	KEVENT *done = ((struct freed *)context)->done;

	(void)dpc, (void)argument1, (void)argument2;
	free(context);
	KeSetEvent(done, 0, FALSE);
}

static void
a_dpc_may_free_its_timer_and_itself(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		struct freed *freed = malloc(sizeof(*freed));
		KEVENT done;

		assert_non_null(freed);
		KeInitializeEvent(&done, NotificationEvent, FALSE);
		freed->done = &done;
		KeInitializeTimer(&freed->timer);
		KeInitializeDpc(&freed->dpc, free_all, freed);
		KeSetTimer(&freed->timer, (LARGE_INTEGER){.QuadPart = -(i % 50)}, &freed->dpc);
		ke_wait(&done);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_expires_when_it_is_due),
		cmocka_unit_test(an_absolute_time_is_the_time_of_day),
		cmocka_unit_test(timers_expire_in_the_order_of_their_times),
		cmocka_unit_test(a_second_set_replaces_the_first),
		cmocka_unit_test(a_period_repeats_until_it_is_cancelled),
		cmocka_unit_test(a_tolerable_delay_is_no_delay_by_itself),
		cmocka_unit_test(a_dpc_may_free_its_timer_and_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
