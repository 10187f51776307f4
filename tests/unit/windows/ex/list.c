/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked lists, stacks and sums. Start with a_list_has_two_ends().
 */
#include "ex_test.h"

static KSPIN_LOCK lock;

static void
a_list_has_two_ends(void **state)
{
	LIST_ENTRY head = {&head, &head}, a, b, c;

	(void)state;
	assert_null(ExInterlockedRemoveHeadList(&head, &lock));
	assert_null(ExInterlockedInsertHeadList(&head, &b, &lock));
	assert_ptr_equal(ExInterlockedInsertHeadList(&head, &a, &lock), &b);
	assert_ptr_equal(ExInterlockedInsertTailList(&head, &c, &lock), &b);
	assert_ptr_equal(head.Blink, &c);
	assert_ptr_equal(c.Blink, &b);
	assert_ptr_equal(ExInterlockedRemoveHeadList(&head, &lock), &a);
	assert_ptr_equal(ExInterlockedRemoveHeadList(&head, &lock), &b);
	assert_ptr_equal(ExInterlockedRemoveHeadList(&head, &lock), &c);
	assert_null(ExInterlockedInsertTailList(&head, &a, &lock));
	assert_ptr_equal(head.Flink, &a);
}

static void
a_single_list_is_a_stack(void **state)
{
	SINGLE_LIST_ENTRY head = {NULL}, a, b;

	(void)state;
	assert_null(ExInterlockedPopEntryList(&head, &lock));
	assert_null(ExInterlockedPushEntryList(&head, &a, &lock));
	assert_ptr_equal(ExInterlockedPushEntryList(&head, &b, &lock), &a);
	assert_ptr_equal(ExInterlockedPopEntryList(&head, &lock), &b);
	assert_ptr_equal(ExInterlockedPopEntryList(&head, &lock), &a);
}

static void
a_stack_counts_its_entries(void **state)
{
	SLIST_HEADER head;
	SLIST_ENTRY entries[3];

	(void)state;
	ExInitializeSListHead(&head);
	for (size_t i = 0; i < 3; i++)
		ExInterlockedPushEntrySList(&head, &entries[i], &lock);
	assert_int_equal(ExQueryDepthSList(&head), 3);
	assert_ptr_equal(ExInterlockedPopEntrySList(&head, &lock), &entries[2]);
	assert_ptr_equal(ExInterlockedFlushSList(&head), &entries[1]);
	assert_int_equal(ExQueryDepthSList(&head), 0);
}

static void
sums_return_what_was_there(void **state)
{
	LARGE_INTEGER large = {.QuadPart = 5}, increment = {.QuadPart = -7};
	LONG64 exchange = 9, comparand = -2;
	ULONG small = 0xffffffff;

	(void)state;
	assert_int_equal(ExInterlockedAddLargeInteger(&large, increment, &lock).QuadPart, 5);
	assert_int_equal(large.QuadPart, -2);
	assert_int_equal(ExInterlockedAddUlong(&small, 2, &lock), 0xffffffff);
	assert_int_equal(small, 1);
	assert_int_equal(
		ExInterlockedCompareExchange64(&large.QuadPart, &exchange, &comparand, &lock), -2);
	ExInterlockedAddLargeStatistic(&large, 0xffffffff);
	assert_int_equal(large.QuadPart, 0x100000008);
}

static void
any_level_is_allowed_and_stays(void **state)
{
	LIST_ENTRY head = {&head, &head}, a;
	KIRQL old;

	(void)state;
	ExInterlockedInsertHeadList(&head, &a, &lock);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	KeRaiseIrql(HIGH_LEVEL, &old);
	ExInterlockedRemoveHeadList(&head, &lock);
	assert_int_equal(KeGetCurrentIrql(), HIGH_LEVEL);
	KeLowerIrql(old);
}

static LIST_ENTRY shared = {&shared, &shared};
static LARGE_INTEGER sum;

static void *
move(void *argument)
{
	const LARGE_INTEGER one = {.QuadPart = 1};

	for (int i = 0; i < 5000; i++) {
		PLIST_ENTRY entry = ExInterlockedRemoveHeadList(&shared, &lock);

		ExInterlockedAddLargeInteger(&sum, one, &lock);
		if (entry && i & 1)
			ExInterlockedInsertTailList(&shared, entry, &lock);
		else if (entry)
			ExInterlockedInsertHeadList(&shared, entry, &lock);
	}
	return argument;
}

static void
threads_lose_no_entry(void **state)
{
	static LIST_ENTRY entries[3];
	pthread_t threads[4];
	int left = 0;

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(entries); i++)
		ExInterlockedInsertTailList(&shared, &entries[i], &lock);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(move, NULL);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	while (ExInterlockedRemoveHeadList(&shared, &lock))
		left++;
	assert_int_equal(left, ARRAYSIZE(entries));
	assert_int_equal(sum.QuadPart, 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_two_ends),
		cmocka_unit_test(a_single_list_is_a_stack),
		cmocka_unit_test(a_stack_counts_its_entries),
		cmocka_unit_test(sums_return_what_was_there),
		cmocka_unit_test(any_level_is_allowed_and_stays),
		cmocka_unit_test(threads_lose_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
