/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Resources: owners, modes, who goes first. Start with an_owner_may_acquire_it_again().
 */
#include "ex_test.h"

static ERESOURCE resource;

/* What one thread asks for, and whether it got it. */
struct attempt {
	BOOLEAN (*acquire)(PERESOURCE resource, BOOLEAN wait);
	BOOLEAN got;
};

static void *
attempt(void *argument)
{
	struct attempt *attempt = argument;

	KeEnterCriticalRegion();
	attempt->got = attempt->acquire(&resource, FALSE);
	if (attempt->got)
		ExReleaseResourceLite(&resource);
	KeLeaveCriticalRegion();
	return NULL;
}

static BOOLEAN
another_gets(BOOLEAN (*acquire)(PERESOURCE resource, BOOLEAN wait))
{
	struct attempt result = {.acquire = acquire};

	ex_join(ex_run(attempt, &result));
	return result.got;
}

static int
setup(void **state)
{
	(void)state;
	ExInitializeResourceLite(&resource);
	KeEnterCriticalRegion();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	KeLeaveCriticalRegion();
	ExDeleteResourceLite(&resource);
	return 0;
}

static void
an_owner_may_acquire_it_again(void **state)
{
	(void)state;
	assert_true(ExAcquireResourceExclusiveLite(&resource, TRUE));
	assert_true(ExAcquireResourceExclusiveLite(&resource, FALSE));
	assert_true(ExAcquireResourceSharedLite(&resource, FALSE));
	assert_true(ExIsResourceAcquiredExclusiveLite(&resource));
	assert_int_equal(ExIsResourceAcquiredSharedLite(&resource), 3);
	assert_false(another_gets(ExAcquireResourceSharedLite));
	ExReleaseResourceLite(&resource);
	ExReleaseResourceLite(&resource);
	assert_false(another_gets(ExAcquireResourceSharedLite));
	ExReleaseResourceLite(&resource);
	assert_int_equal(ExIsResourceAcquiredLite(&resource), 0);
	assert_true(another_gets(ExAcquireResourceExclusiveLite));
}

static void
readers_share(void **state)
{
	(void)state;
	assert_true(ExAcquireResourceSharedLite(&resource, TRUE));
	assert_true(ExAcquireResourceSharedLite(&resource, TRUE));
	assert_int_equal(ExIsResourceAcquiredSharedLite(&resource), 2);
	assert_false(ExIsResourceAcquiredExclusiveLite(&resource));
	assert_true(another_gets(ExAcquireResourceSharedLite));
	assert_false(another_gets(ExAcquireResourceExclusiveLite));
	ExReleaseResourceLite(&resource);
	assert_false(another_gets(ExAcquireResourceExclusiveLite));
	ExReleaseResourceForThreadLite(&resource, ExGetCurrentResourceThread());
	assert_true(another_gets(ExAcquireResourceExclusiveLite));
}

static void
a_writer_becomes_a_reader(void **state)
{
	(void)state;
	ExAcquireResourceExclusiveLite(&resource, TRUE);
	ExAcquireResourceExclusiveLite(&resource, TRUE);
	ExConvertExclusiveToSharedLite(&resource);
	assert_int_equal(ExIsResourceAcquiredSharedLite(&resource), 2);
	assert_true(another_gets(ExAcquireResourceSharedLite));
	assert_false(another_gets(ExAcquireResourceExclusiveLite));
	ExReleaseResourceLite(&resource);
	ExReleaseResourceLite(&resource);
}

static void *
wait_to_write(void *argument)
{
	ExEnterCriticalRegionAndAcquireResourceExclusive(&resource);
	ExReleaseResourceAndLeaveCriticalRegion(&resource);
	return argument;
}

static void
readers_treat_a_waiting_writer_as_they_say(void **state)
{
	pthread_t writer;

	(void)state;
	ExAcquireResourceSharedLite(&resource, TRUE);
	writer = ex_run(wait_to_write, NULL);
	EX_WAIT_UNTIL(ExGetExclusiveWaiterCount(&resource) == 1);
	assert_false(another_gets(ExAcquireResourceSharedLite));
	assert_false(another_gets(ExAcquireSharedWaitForExclusive));
	assert_true(another_gets(ExAcquireSharedStarveExclusive));
	/* An owner's is another matter. */
	assert_true(ExAcquireResourceSharedLite(&resource, FALSE));
	assert_false(ExAcquireSharedWaitForExclusive(&resource, FALSE));
	ExReleaseResourceLite(&resource);
	ExReleaseResourceLite(&resource);
	ex_join(writer);
	assert_int_equal(ExGetExclusiveWaiterCount(&resource), 0);
	assert_int_equal(ExGetSharedWaiterCount(&resource), 0);
}

static int counter;

static void *
churn(void *argument)
{
	for (int i = 0; i < 2000; i++) {
		if (i % 4) {
			ExEnterCriticalRegionAndAcquireResourceShared(&resource);
			assert_true(counter >= 0);
		} else {
			ExEnterCriticalRegionAndAcquireResourceExclusive(&resource);
			counter++;
			if (i % 8)
				ExConvertExclusiveToSharedLite(&resource);
		}
		ExReleaseResourceAndLeaveCriticalRegion(&resource);
	}
	return argument;
}

static void
one_thread_writes(void **state)
{
	pthread_t threads[6];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(churn, NULL);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	assert_int_equal(counter, 6 * 500);
	assert_int_equal(ExReinitializeResourceLite(&resource), STATUS_SUCCESS);
	assert_true(another_gets(ExAcquireResourceExclusiveLite));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_owner_may_acquire_it_again, setup, teardown),
		cmocka_unit_test_setup_teardown(readers_share, setup, teardown),
		cmocka_unit_test_setup_teardown(a_writer_becomes_a_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(readers_treat_a_waiting_writer_as_they_say, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_thread_writes, setup, teardown),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
