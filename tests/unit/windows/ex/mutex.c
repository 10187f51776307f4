/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fast mutexes and guarded mutexes. Start with a_fast_mutex_raises_the_level().
 */
#include "ex_test.h"

_Static_assert(sizeof(FAST_MUTEX) == 56, "as in Windows");

static FAST_MUTEX fast;
static KGUARDED_MUTEX guarded;
static int counter;

static void *
try_both(void *argument)
{
	int *got = argument;

	if (ExTryToAcquireFastMutex(&fast)) {
		ExReleaseFastMutex(&fast);
		++*got;
	}
	if (KeTryToAcquireGuardedMutex(&guarded)) {
		KeReleaseGuardedMutex(&guarded);
		++*got;
	}
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	assert_false(KeAreAllApcsDisabled());
	return NULL;
}

static int
try_elsewhere(void)
{
	int got = 0;

	ex_join(ex_run(try_both, &got));
	return got;
}

static void
a_fast_mutex_raises_the_level(void **state)
{
	(void)state;
	ExInitializeFastMutex(&fast);
	KeInitializeGuardedMutex(&guarded);
	assert_int_equal(try_elsewhere(), 2);
	ExAcquireFastMutex(&fast);
	assert_int_equal(KeGetCurrentIrql(), APC_LEVEL);
	assert_int_equal(try_elsewhere(), 1);
	ExReleaseFastMutex(&fast);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	assert_true(ExTryToAcquireFastMutex(&fast));
	assert_int_equal(KeGetCurrentIrql(), APC_LEVEL);
	ExReleaseFastMutex(&fast);
	KeEnterCriticalRegion();
	ExAcquireFastMutexUnsafe(&fast);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	ExReleaseFastMutexUnsafe(&fast);
	KeLeaveCriticalRegion();
}

static void
a_guarded_mutex_enters_a_guarded_region(void **state)
{
	(void)state;
	KeAcquireGuardedMutex(&guarded);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	assert_true(KeAreAllApcsDisabled());
	assert_int_equal(try_elsewhere(), 1);
	KeReleaseGuardedMutex(&guarded);
	assert_false(KeAreAllApcsDisabled());
	KeEnterGuardedRegion();
	KeAcquireGuardedMutexUnsafe(&guarded);
	KeReleaseGuardedMutexUnsafe(&guarded);
	KeLeaveGuardedRegion();
	assert_int_equal(try_elsewhere(), 2);
}

static atomic_int entered;

static void *
enter(void *argument)
{
	ExAcquireFastMutex(&fast);
	atomic_store(&entered, 1);
	ExReleaseFastMutex(&fast);
	return argument;
}

static void
who_comes_while_it_is_held_waits(void **state)
{
	pthread_t waiter;

	(void)state;
	ExAcquireFastMutex(&fast);
	waiter = ex_run(enter, NULL);
	EX_WAIT_UNTIL(__atomic_load_n(&fast.Contention, __ATOMIC_RELAXED) == 1 ||
		      atomic_load(&entered));
	assert_int_equal(atomic_load(&entered), 0);
	ExReleaseFastMutex(&fast);
	EX_WAIT_UNTIL(atomic_load(&entered));
	ex_join(waiter);
	assert_int_equal(fast.Count, 1);
}

static void *
count(void *argument)
{
	for (int i = 0; i < 5000; i++) {
		if (i % 3 == 0 && ExTryToAcquireFastMutex(&fast)) {
			counter++;
			ExReleaseFastMutex(&fast);
			continue;
		}
		ExAcquireFastMutex(&fast);
		counter++;
		ExReleaseFastMutex(&fast);
	}
	return argument;
}

static void
one_thread_holds_it(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(count, NULL);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	assert_int_equal(counter, 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fast_mutex_raises_the_level),
		cmocka_unit_test(a_guarded_mutex_enters_a_guarded_region),
		cmocka_unit_test(who_comes_while_it_is_held_waits),
		cmocka_unit_test(one_thread_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
