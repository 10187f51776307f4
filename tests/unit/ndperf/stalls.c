/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What counts as a stall, which times it overlaps, and that the meter sees the time pass.
 * Start with a_long_gap_is_a_stall_and_a_short_one_is_not().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "clock.h"
#include "stalls.h"

static void
a_long_gap_is_a_stall_and_a_short_one_is_not(void **state)
{
	struct watch watch = {0};
	(void)state;
	stalls_look(&watch, 5000); /* nothing counts before the start */
	stalls_start(&watch, 100, 10000);
	stalls_look(&watch, 10100);
	assert_int_equal(watch.total.count, 0);
	stalls_look(&watch, 10201);
	stalls_look(&watch, 10202);
	stalls_look(&watch, 10402);
	assert_int_equal(watch.total.count, 2);
	assert_int_equal(watch.total.longest, 200);
	assert_int_equal(watch.total.lost, 301);
	assert_int_equal(watch.total.watched, 402);
}

static void
a_time_overlaps_the_stalls_it_touches(void **state)
{
	struct watch watch = {0};
	(void)state;
	assert_false(stalls_overlap(NULL, 1, 2));
	assert_false(stalls_overlap(&watch, 1, 2));
	stalls_start(&watch, 100, 1000);
	stalls_look(&watch, 2000);
	stalls_look(&watch, 2050);
	stalls_look(&watch, 3000);
	/* 1000 to 2000, and 2050 to 3000 */
	assert_false(stalls_overlap(&watch, 10, 999));
	assert_true(stalls_overlap(&watch, 10, 1000));
	assert_true(stalls_overlap(&watch, 1500, 1600));
	assert_true(stalls_overlap(&watch, 1990, 2010));
	assert_false(stalls_overlap(&watch, 2001, 2049));
	assert_true(stalls_overlap(&watch, 10, 5000));
	assert_true(stalls_overlap(&watch, 3000, 5000));
	assert_false(stalls_overlap(&watch, 3001, 5000));
}

static void
the_last_stalls_are_kept(void **state)
{
	struct watch watch = {0};
	(void)state;
	stalls_start(&watch, 100, 1000);
	for (uint64_t i = 1; i <= 3 * STALLS_KEPT; i++) {
		stalls_look(&watch, 1000 * i);
		stalls_look(&watch, 1000 * i + 50);
	}
	for (uint64_t i = 2 * STALLS_KEPT + 1; i < 3 * STALLS_KEPT; i++) {
		assert_true(stalls_overlap(&watch, 1000 * i + 60, 1000 * i + 70));
		assert_false(stalls_overlap(&watch, 1000 * i + 10, 1000 * i + 20));
	}
}

static void
the_meter_watches_for_its_time(void **state)
{
	const int core[] = {-1, -1};
	struct stalls sum = {0};
	(void)state;
	stalls_meter(core, 2, &sum);
	/* beside others it gets no time before its end, but then that is a stall */
	assert_true(sum.watched > 0);
	assert_true(sum.lost <= sum.watched);
	assert_true(sum.longest <= sum.lost);
	assert_true(stalls_per_second(&sum) >= 0);
	assert_true(stalls_per_second(&(struct stalls){0}) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_gap_is_a_stall_and_a_short_one_is_not),
		cmocka_unit_test(a_time_overlaps_the_stalls_it_touches),
		cmocka_unit_test(the_last_stalls_are_kept),
		cmocka_unit_test(the_meter_watches_for_its_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
