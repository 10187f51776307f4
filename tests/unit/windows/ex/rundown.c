/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rundown protection: users, the wait, races between them. Start with
 * nobody_acquires_what_is_run_down().
 */
#include "ex_test.h"

_Static_assert(sizeof(EX_RUNDOWN_REF) == 8, "as in Windows");

enum {
	TAG = 'R' | 'u' << 8 | 'n' << 16 | 'D' << 24,
	USERS = 3,
};

static EX_RUNDOWN_REF ref;

static void
nobody_acquires_what_is_run_down(void **state)
{
	(void)state;
	ExInitializeRundownProtection(&ref);
	assert_true(ExAcquireRundownProtection(&ref));
	assert_true(ExAcquireRundownProtectionEx(&ref, 3));
	ExReleaseRundownProtectionEx(&ref, 2);
	ExReleaseRundownProtectionEx(&ref, 2);
	ExWaitForRundownProtectionRelease(&ref);
	assert_false(ExAcquireRundownProtection(&ref));
	ExWaitForRundownProtectionRelease(&ref);
	ExRundownCompleted(&ref);
	assert_false(ExAcquireRundownProtectionEx(&ref, 2));
	ExReInitializeRundownProtection(&ref);
	assert_true(ExAcquireRundownProtection(&ref));
	ExReleaseRundownProtection(&ref);
}

static atomic_int waits_over;

static void *
wait_for_users(void *argument)
{
	ExWaitForRundownProtectionRelease(&ref);
	atomic_store(&waits_over, 1);
	return argument;
}

static void
the_wait_ends_with_the_last_user(void **state)
{
	pthread_t waiter;

	(void)state;
	ExInitializeRundownProtection(&ref);
	assert_true(ExAcquireRundownProtectionEx(&ref, 2));
	waiter = ex_run(wait_for_users, NULL);
	EX_WAIT_UNTIL(ReadULong64NoFence((ULONG64 *)(void *)&ref) & 1);
	assert_false(ExAcquireRundownProtection(&ref));
	ExReleaseRundownProtection(&ref);
	assert_int_equal(atomic_load(&waits_over), 0);
	ExReleaseRundownProtection(&ref);
	ex_join(waiter);
	assert_int_equal(atomic_load(&waits_over), 1);
	/* It stays so. */
	assert_false(ExAcquireRundownProtection(&ref));
	ExWaitForRundownProtectionRelease(&ref);
}

static atomic_int ready;
static int *object; /* what is protected: not there after the wait */

static void *
use_object(void *argument)
{
	atomic_fetch_add(&ready, 1);
	while (ExAcquireRundownProtection(&ref)) {
		assert_int_equal(*object, 42);
		ExReleaseRundownProtection(&ref);
	}
	return argument;
}

static void
no_user_is_left_after_the_wait(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		pthread_t threads[USERS];

		ExInitializeRundownProtection(&ref);
		atomic_store(&ready, 0);
		object = malloc(sizeof(*object));
		*object = 42;
		for (size_t i = 0; i < USERS; i++)
			threads[i] = ex_run(use_object, NULL);
		EX_WAIT_UNTIL(atomic_load(&ready) == USERS);
		ExWaitForRundownProtectionRelease(&ref);
		*object = 0;
		free(object);
		for (size_t i = 0; i < USERS; i++)
			ex_join(threads[i]);
	}
}

static void
one_that_processors_share_is_the_same(void **state)
{
	PEX_RUNDOWN_REF_CACHE_AWARE aware =
		ExAllocateCacheAwareRundownProtection(NonPagedPool, TAG);

	(void)state;
	assert_non_null(aware);
	assert_true(ExAcquireRundownProtectionCacheAware(aware));
	assert_true(ExAcquireRundownProtectionCacheAwareEx(aware, 2));
	ExReleaseRundownProtectionCacheAware(aware);
	ExReleaseRundownProtectionCacheAwareEx(aware, 2);
	ExWaitForRundownProtectionReleaseCacheAware(aware);
	ExRundownCompletedCacheAware(aware);
	assert_false(ExAcquireRundownProtectionCacheAware(aware));
	ExReInitializeRundownProtectionCacheAware(aware);
	assert_true(ExAcquireRundownProtectionCacheAware(aware));
	ExFreeCacheAwareRundownProtection(aware);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 0);
	aware = ExAllocatePoolWithTag(NonPagedPool, ExSizeOfRundownProtectionCacheAware(), TAG);
	ExInitializeRundownProtectionCacheAware(aware, ExSizeOfRundownProtectionCacheAware());
	assert_true(ExAcquireRundownProtectionCacheAware(aware));
	ExFreePool(aware);
	plx_ex_pool_fail(1);
	assert_null(ExAllocateCacheAwareRundownProtection(NonPagedPool, TAG));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_acquires_what_is_run_down),
		cmocka_unit_test(the_wait_ends_with_the_last_user),
		cmocka_unit_test(no_user_is_left_after_the_wait),
		cmocka_unit_test(one_that_processors_share_is_the_same),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
