/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedule of an open loop: its rate, its order, and that a seed repeats it.
 * Start with a_fixed_schedule_is_even().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "schedule.h"

enum {
	MESSAGES = 100000,
};

#define START (UINT64_C(1) << 47)

static void
a_fixed_schedule_is_even(void **state)
{
	struct schedule schedule;
	(void)state;
	/* not a whole number of ticks: the fractions must not be lost */
	schedule_init(&schedule, START, 333.25, false, 1);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		assert_int_equal(schedule_next(&schedule), START + (uint64_t)((double)i * 333.25));
		assert_int_equal(schedule_take(&schedule), START + (uint64_t)((double)i * 333.25));
	}
}

static void
a_random_schedule_has_the_mean_and_the_spread_of_poisson(void **state)
{
	struct schedule schedule;
	double squares = 0, sum = 0;
	uint64_t last;
	(void)state;
	schedule_init(&schedule, START, 1000, true, 1);
	last = schedule_take(&schedule);
	assert_int_equal(last, START);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint64_t due = schedule_take(&schedule);
		assert_true(due >= last);
		sum += (double)(due - last);
		squares += (double)(due - last) * (double)(due - last);
		last = due;
	}
	/* mean and deviation are the same; of 100,000 a hundredth off is 3 deviations */
	assert_true(fabs(sum / MESSAGES - 1000) < 15);
	assert_true(fabs(sqrt(squares / MESSAGES - 1000 * 1000) - 1000) < 30);
}

static void
a_seed_repeats_its_schedule_and_another_does_not(void **state)
{
	struct schedule a, b, c;
	uint32_t same = 0;
	(void)state;
	schedule_init(&a, START, 1000, true, 1);
	schedule_init(&b, START, 1000, true, 1);
	schedule_init(&c, START, 1000, true, 2);
	(void)schedule_take(&a);
	(void)schedule_take(&b);
	(void)schedule_take(&c);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t due = schedule_take(&a);
		assert_int_equal(due, schedule_take(&b));
		same += due == schedule_take(&c);
	}
	assert_true(same < 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fixed_schedule_is_even),
		cmocka_unit_test(a_random_schedule_has_the_mean_and_the_spread_of_poisson),
		cmocka_unit_test(a_seed_repeats_its_schedule_and_another_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
