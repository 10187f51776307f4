/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time and processors. Start with the_clocks_go_on_and_agree().
 */
#include "ke_test.h"

#include <unistd.h>

static void
the_clocks_go_on_and_agree(void **state)
{
	LARGE_INTEGER frequency, ticks, count, system;
	ULONG64 stamp, unbiased;
	time_t now;

	(void)state;
	count = KeQueryPerformanceCounter(&frequency);
	assert_int_equal(frequency.QuadPart, 10000000);
	KeStallExecutionProcessor(50);
	assert_true(KeQueryPerformanceCounter(NULL).QuadPart - count.QuadPart >= 500);
	now = time(NULL);
	KeQuerySystemTime(&system);
	/* 134774 days from 1601 to 1970; the two readings are a moment apart */
	assert_in_range(system.QuadPart / 10000000 - 134774LL * 86400, now, now + 60);
	KeQuerySystemTimePrecise(&count);
	assert_true(count.QuadPart >= system.QuadPart);
	/* each reading in a statement of its own: operands and arguments have no order */
	unbiased = KeQueryUnbiasedInterruptTime();
	assert_true(KeQueryInterruptTime() >= unbiased);
	assert_true(KeQueryInterruptTimePrecise(&stamp) >= stamp);
	count = KeQueryPerformanceCounter(NULL);
	unbiased = KeQueryUnbiasedInterruptTimePrecise(&stamp);
	assert_in_range(unbiased, count.QuadPart, KeQueryUnbiasedInterruptTime());
	assert_in_range(stamp, count.QuadPart, KeQueryPerformanceCounter(NULL).QuadPart);
	assert_int_equal(KeQueryTimeIncrement(), 156250);
	KeQueryTickCount(&ticks);
	assert_in_range(KeQueryInterruptTime() / KeQueryTimeIncrement() - (ULONGLONG)ticks.QuadPart,
			0, 64 * 60);
}

static void
local_time_differs_by_the_zone(void **state)
{
	LARGE_INTEGER system = {.QuadPart = 1000000000000}, local, back;

	(void)state;
	setenv("TZ", "PLX-5:30", 1);
	tzset();
	ExSystemTimeToLocalTime(&system, &local);
	assert_int_equal(local.QuadPart - system.QuadPart, (5 * 60 + 30) * 60 * 10000000LL);
	ExLocalTimeToSystemTime(&local, &back);
	assert_int_equal(back.QuadPart, system.QuadPart);
	unsetenv("TZ");
	tzset();
}

static void
processors_have_an_index_and_a_number(void **state)
{
	ULONG n = KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS), in_groups = 0;
	PROCESSOR_NUMBER number;
	KAFFINITY mask;

	(void)state;
	assert_int_equal(n, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(KeQueryMaximumProcessorCountEx(ALL_PROCESSOR_GROUPS) >= n);
	assert_true(KeQueryMaximumProcessorCount() >= KeQueryActiveProcessorCount(&mask));
	assert_int_equal(mask, KeQueryActiveProcessors());
	assert_int_equal(mask, KeQueryGroupAffinity(0));
	for (USHORT group = 0; group < KeQueryActiveGroupCount(); group++) {
		assert_int_equal(__builtin_popcountll(KeQueryGroupAffinity(group)),
				 KeQueryActiveProcessorCountEx(group));
		in_groups += KeQueryActiveProcessorCountEx(group);
	}
	assert_int_equal(in_groups, n);
	assert_true(KeQueryMaximumGroupCount() >= KeQueryActiveGroupCount());
	assert_int_equal(KeQueryGroupAffinity(KeQueryActiveGroupCount()), 0);
	assert_int_equal(KeQueryActiveProcessorCountEx(KeQueryActiveGroupCount()), 0);
	for (ULONG i = 0; i < n; i++) {
		assert_int_equal(KeGetProcessorNumberFromIndex(i, &number), STATUS_SUCCESS);
		assert_int_equal(number.Group * 64 + number.Number, i);
		assert_int_equal(KeGetProcessorIndexFromNumber(&number), i);
	}
	assert_int_equal(KeGetProcessorNumberFromIndex(n, &number), STATUS_INVALID_PARAMETER);
	number = (PROCESSOR_NUMBER){.Number = 64};
	assert_int_equal(KeGetProcessorIndexFromNumber(&number), INVALID_PROCESSOR_INDEX);
	assert_true(KeGetCurrentProcessorNumberEx(&number) < n);
	assert_true(number.Number < 64);
	assert_true(KeQueryHighestNodeNumber() < 1024);
}

static void
each_processor_is_in_one_node(void **state)
{
	ULONG in_nodes = 0, n = KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS);
	GROUP_AFFINITY affinity;
	PROCESSOR_NUMBER number;
	USHORT count;

	(void)state;
	for (USHORT node = 0; node <= KeQueryHighestNodeNumber(); node++) {
		KeQueryNodeActiveAffinity(node, &affinity, &count);
		assert_int_equal(__builtin_popcountll(affinity.Mask), count);
		assert_int_equal(affinity.Mask & ~KeQueryGroupAffinity(affinity.Group), 0);
		in_nodes += count;
	}
	/* a node of more than one group is described by its largest part */
	assert_in_range(in_nodes, 1, n);
	if (KeQueryActiveGroupCount() == 1)
		assert_int_equal(in_nodes, n);
	KeQueryNodeActiveAffinity((USHORT)(KeQueryHighestNodeNumber() + 1), &affinity, &count);
	assert_int_equal(affinity.Mask, 0);
	assert_int_equal(count, 0);
	/* on one processor, so that it does not move in between */
	KeQueryNodeActiveAffinity(KeGetCurrentNodeNumber(), &affinity, NULL);
	affinity.Mask &= ~affinity.Mask + 1;
	KeSetSystemGroupAffinityThread(&affinity, NULL);
	KeGetCurrentProcessorNumberEx(&number);
	KeQueryNodeActiveAffinity(KeGetCurrentNodeNumber(), &affinity, NULL);
	assert_int_equal(affinity.Group, number.Group);
	assert_int_equal(affinity.Mask >> number.Number & 1, 1);
	KeRevertToUserAffinityThread();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clocks_go_on_and_agree),
		cmocka_unit_test(local_time_differs_by_the_zone),
		cmocka_unit_test(each_processor_is_in_one_node),
		cmocka_unit_test(processors_have_an_index_and_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
