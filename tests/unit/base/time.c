/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time and counters: both stop at the top instead of wrapping.
 * Times are arguments, so nothing here reads a clock.
 * Start anywhere.
 */
#include "test.h"
#include "plx_base.h"

static const uint64_t edges[] = {
	0,
	1,
	2,
	PLX_USEC,
	PLX_MSEC,
	PLX_SEC,
	UINT32_MAX,
	UINT64_C(1) << 63,
	PLX_NEVER - PLX_SEC,
	PLX_NEVER - 2,
	PLX_NEVER - 1,
	PLX_NEVER,
};

static uint64_t
model_sum(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 u128;
	u128 sum = (u128)a + b;

	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

static void
adding_times_never_passes_the_end_of_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(edges); i++) {
		for (size_t j = 0; j < PLX_COUNT_OF(edges); j++)
			assert_true(plx_time_add(edges[i], edges[j]) ==
				    model_sum(edges[i], edges[j]));
	}
}

static void
the_earlier_time_wins_and_never_is_the_latest(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(edges); i++) {
		for (size_t j = 0; j < PLX_COUNT_OF(edges); j++)
			assert_true(plx_time_min(edges[i], edges[j]) == edges[i < j ? i : j]);
		assert_true(plx_time_min(edges[i], PLX_NEVER) == edges[i]);
	}
}

static void
units_are_nanoseconds(void **state)
{
	(void)state;
	assert_true(PLX_SEC == 1000 * PLX_MSEC && PLX_MSEC == 1000 * PLX_USEC);
	assert_int_equal(PLX_USEC, 1000);
}

static void
counters_add_and_then_saturate(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(edges); i++) {
		for (size_t j = 0; j < PLX_COUNT_OF(edges); j++) {
			uint64_t counter = edges[i];

			plx_count(&counter, edges[j]);
			assert_true(counter == model_sum(edges[i], edges[j]));
		}
	}
}

static void
a_saturated_counter_stays_at_the_top(void **state)
{
	uint64_t counter = UINT64_MAX - 1;

	(void)state;
	for (int i = 0; i < 5; i++)
		plx_count(&counter, 1);
	assert_true(counter == UINT64_MAX);
	plx_count(&counter, UINT64_MAX);
	assert_true(counter == UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adding_times_never_passes_the_end_of_time),
		cmocka_unit_test(the_earlier_time_wins_and_never_is_the_latest),
		cmocka_unit_test(units_are_nanoseconds),
		cmocka_unit_test(counters_add_and_then_saturate),
		cmocka_unit_test(a_saturated_counter_stays_at_the_top),
	};

	return cmocka_run_group_tests_name("base/time", tests, NULL, NULL);
}
