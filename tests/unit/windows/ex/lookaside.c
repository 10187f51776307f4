/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lookaside lists: entries come again, the driver's own functions, failures, threads. Start with
 * a_freed_entry_comes_again().
 */
#include "ex_test.h"

enum {
	TAG = 'L' | 'o' << 8 | 'o' << 16 | 'k' << 24,
};

static void
a_freed_entry_comes_again(void **state)
{
	NPAGED_LOOKASIDE_LIST list;
	PVOID first, second;

	(void)state;
	ExInitializeNPagedLookasideList(&list, NULL, NULL, POOL_NX_ALLOCATION, 40, TAG, 0);
	first = ExAllocateFromNPagedLookasideList(&list);
	second = ExAllocateFromNPagedLookasideList(&list);
	assert_ptr_not_equal(first, second);
	memset(first, 1, 40);
	ExFreeToNPagedLookasideList(&list, first);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 2);
	assert_ptr_equal(ExAllocateFromNPagedLookasideList(&list), first);
	memset(first, 1, 40);
	ExFreeToNPagedLookasideList(&list, first);
	ExFreeToNPagedLookasideList(&list, second);
	ExDeleteNPagedLookasideList(&list);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 0);
	assert_int_equal(plx_ex_pool_tag(TAG).allocations, 2);
}

static void
a_small_entry_is_as_large_as_the_list_needs(void **state)
{
	PAGED_LOOKASIDE_LIST list;
	PVOID entry;

	(void)state;
	ExInitializePagedLookasideList(&list, NULL, NULL, 0, 1, TAG, 0);
	entry = ExAllocateFromPagedLookasideList(&list);
	assert_non_null(entry);
	assert_int_equal(plx_ex_pool_tag(TAG).bytes, sizeof(SLIST_ENTRY));
	ExFreeToPagedLookasideList(&list, entry);
	ExDeletePagedLookasideList(&list);
	assert_int_equal(plx_ex_pool_tag(TAG).bytes, 0);
}

static void
a_list_keeps_so_many(void **state)
{
	static PVOID entries[300];
	NPAGED_LOOKASIDE_LIST list;

	(void)state;
	ExInitializeNPagedLookasideList(&list, NULL, NULL, 0, 64, TAG, 0);
	for (size_t i = 0; i < ARRAYSIZE(entries); i++)
		entries[i] = ExAllocateFromNPagedLookasideList(&list);
	for (size_t i = 0; i < ARRAYSIZE(entries); i++)
		ExFreeToNPagedLookasideList(&list, entries[i]);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 256);
	ExDeleteNPagedLookasideList(&list);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 0);
}

static int allocations, releases;
static char memory[2][64] __attribute__((aligned(16)));

static PVOID
allocate_ours(POOL_TYPE type, SIZE_T bytes, ULONG tag, PLOOKASIDE_LIST_EX list)
{
	assert_non_null(list);
	assert_int_equal(type, PagedPool);
	assert_int_equal(bytes, 64);
	assert_int_equal(tag, TAG);
	return allocations < 2 ? memory[allocations++] : NULL;
}

static void
release_ours(PVOID entry, PLOOKASIDE_LIST_EX list)
{
	assert_non_null(list);
	assert_true(entry == memory[0] || entry == memory[1]);
	releases++;
}

static void
a_driver_may_allocate_entries_itself(void **state)
{
	LOOKASIDE_LIST_EX list;
	PVOID entries[2];

	(void)state;
	assert_int_equal(ExInitializeLookasideListEx(&list, allocate_ours, release_ours, PagedPool,
						     0, 64, TAG, 0),
			 STATUS_SUCCESS);
	for (int round = 0; round < 2; round++) {
		allocations = releases = 0;
		for (size_t i = 0; i < 2; i++)
			entries[i] = ExAllocateFromLookasideListEx(&list);
		assert_null(ExAllocateFromLookasideListEx(&list));
		for (size_t i = 0; i < 2; i++)
			ExFreeToLookasideListEx(&list, entries[i]);
		assert_int_equal(releases, 0);
		ExFlushLookasideListEx(&list);
		assert_int_equal(releases, 2);
	}
	ExDeleteLookasideListEx(&list);
	assert_int_equal(releases, 2);
}

static void
wrong_arguments_are_refused(void **state)
{
	LOOKASIDE_LIST_EX list;

	(void)state;
	assert_int_equal(
		ExInitializeLookasideListEx(&list, NULL, NULL, (POOL_TYPE)16, 0, 64, TAG, 0),
		STATUS_INVALID_PARAMETER_4);
	assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, PagedPool, 3, 64, TAG, 0),
			 STATUS_INVALID_PARAMETER_5);
	assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, PagedPool, 4, 64, TAG, 0),
			 STATUS_INVALID_PARAMETER_5);
	assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, PagedPool, 0, 64, TAG, 1),
			 STATUS_INVALID_PARAMETER_8);
	assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, NonPagedPoolNx,
						     EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL, 64,
						     TAG, 0),
			 STATUS_SUCCESS);
	plx_ex_pool_fail(1);
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES, ExAllocateFromLookasideListEx(&list));
}

static NPAGED_LOOKASIDE_LIST shared;

static void *
churn(void *argument)
{
	for (int i = 0; i < 5000; i++) {
		ULONG64 *entry = ExAllocateFromNPagedLookasideList(&shared);

		entry[0] = entry[2] = (ULONG64)(uintptr_t)argument;
		sched_yield();
		assert_int_equal(entry[0], argument);
		assert_int_equal(entry[2], argument);
		ExFreeToNPagedLookasideList(&shared, entry);
	}
	return NULL;
}

static void
an_entry_is_one_threads_at_a_time(void **state)
{
	pthread_t threads[4];

	(void)state;
	ExInitializeNPagedLookasideList(&shared, NULL, NULL, 0, 64, TAG, 0);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(churn, &threads[i]);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	ExDeleteNPagedLookasideList(&shared);
	assert_int_equal(plx_ex_pool_tag(TAG).blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_freed_entry_comes_again),
		cmocka_unit_test(a_small_entry_is_as_large_as_the_list_needs),
		cmocka_unit_test(a_list_keeps_so_many),
		cmocka_unit_test(a_driver_may_allocate_entries_itself),
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(an_entry_is_one_threads_at_a_time),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
