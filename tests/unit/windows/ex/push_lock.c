/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Push locks: readers and writers. Start with readers_share_and_writers_do_not().
 */
#include "ex_test.h"

_Static_assert(sizeof(EX_PUSH_LOCK) == 8, "as in Windows");

static EX_PUSH_LOCK lock;
static int values[2];
static atomic_int readers, together;

static void *
write_values(void *argument)
{
	for (int i = 0; i < 3000; i++) {
		KeEnterCriticalRegion();
		ExAcquirePushLockExclusive(&lock);
		values[0]++;
		values[1]++;
		ExReleasePushLockExclusive(&lock);
		KeLeaveCriticalRegion();
	}
	return argument;
}

static void *
read_values(void *argument)
{
	for (int i = 0; i < 3000; i++) {
		KeEnterCriticalRegion();
		ExAcquirePushLockShared(&lock);
		assert_int_equal(values[0], values[1]);
		ExReleasePushLockShared(&lock);
		KeLeaveCriticalRegion();
	}
	return argument;
}

/* Both readers are inside at once, or this does not end. */
static void *
meet(void *argument)
{
	KeEnterCriticalRegion();
	ExAcquirePushLockShared(&lock);
	atomic_fetch_add(&readers, 1);
	EX_WAIT_UNTIL(atomic_load(&readers) == 2);
	atomic_fetch_add(&together, 1);
	ExReleasePushLockShared(&lock);
	KeLeaveCriticalRegion();
	return argument;
}

static void
readers_share_and_writers_do_not(void **state)
{
	pthread_t threads[4];

	(void)state;
	ExInitializePushLock(&lock);
	for (size_t i = 0; i < 2; i++)
		threads[i] = ex_run(meet, NULL);
	for (size_t i = 0; i < 2; i++)
		ex_join(threads[i]);
	assert_int_equal(atomic_load(&together), 2);
	for (size_t i = 0; i < 4; i++)
		threads[i] = ex_run(i & 1 ? read_values : write_values, NULL);
	for (size_t i = 0; i < 4; i++)
		ex_join(threads[i]);
	assert_int_equal(values[0], 6000);
	assert_int_equal(lock, 0);
}

/* The checks keep 32 of them. */
static void
a_thread_may_hold_many(void **state)
{
	static EX_PUSH_LOCK locks[40];

	(void)state;
	KeEnterCriticalRegion();
	for (size_t i = 0; i < ARRAYSIZE(locks); i++)
		ExAcquirePushLockShared(&locks[i]);
	for (size_t i = 0; i < ARRAYSIZE(locks); i++)
		ExReleasePushLockShared(&locks[i]);
	for (size_t i = 0; i < ARRAYSIZE(locks); i++) {
		ExAcquirePushLockExclusive(&locks[i]);
		ExReleasePushLockExclusive(&locks[i]);
		assert_int_equal(locks[i], 0);
	}
	KeLeaveCriticalRegion();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_share_and_writers_do_not),
		cmocka_unit_test(a_thread_may_hold_many),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
