/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log of clean windows, with invented times. It never reads a clock. Start at main().
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "window.h"

enum {
	HZ = 1000000000, /* a tick is a nanosecond */
	MS = 1000000,
	US = 1000,
	START = 5 * MS,
};

/* Look every 10 us from `from` to `to`; each time one more is done. */
static uint64_t
walk(struct windows *log, uint64_t from, uint64_t to, uint64_t amount)
{
	for (uint64_t now = from; now < to; now += 10 * US)
		windows_look(log, now, amount++);
	return amount;
}

static void
median_of_an_even_pace_is_that_pace(void **state)
{
	struct windows log;
	struct windows_result result;

	(void)state;
	assert_true(windows_init(&log, START, 0.020, HZ));
	walk(&log, START - MS, START + 25 * MS, 0);
	assert_true(windows_judge(&log, NULL, false, HZ, &result));
	assert_int_equal(result.all, 21);
	assert_int_equal(result.clean, 21);
	assert_true(result.per_second > 99999 && result.per_second < 100001);
	assert_true(result.mean_clean > 99999 && result.mean_clean < 100001);
	assert_int_equal(result.amount, 21 * 100);
	windows_fini(&log);
}

/* Both ends send: a window has the work of both. */
static void
sums_have_the_amounts_of_both_logs(void **state)
{
	struct windows log[2];
	struct windows_result result;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(windows_init(&log[i], START, 0.020, HZ));
		walk(&log[i], START - MS, START + 25 * MS, 0);
	}
	assert_true(windows_judge(&log[0], &log[1], true, HZ, &result));
	assert_int_equal(result.amount, 2 * 21 * 100);
	assert_true(result.per_second > 199998 && result.per_second < 200002);
	assert_true(result.mean_clean > 199998 && result.mean_clean < 200002);
	assert_true(windows_judge(&log[0], &log[1], false, HZ, &result));
	assert_int_equal(result.amount, 21 * 100);
	windows_fini(&log[0]);
	windows_fini(&log[1]);
}

static void
warm_up_is_in_no_window(void **state)
{
	struct windows log;

	(void)state;
	assert_true(windows_init(&log, START, 0.002, HZ));
	/* a stop before the start spoils nothing */
	windows_look(&log, START - 3 * MS, 1000);
	windows_look(&log, START - MS, 2000);
	walk(&log, START - 20 * US, START + 3 * MS, 5000);
	assert_true(windows_is_clean(&log, 0));
	assert_int_equal(log.list[0].amount, 100);
	windows_fini(&log);
}

static void
window_with_a_stop_is_not_clean(void **state)
{
	struct windows log;
	struct windows_result result;
	uint64_t amount;

	(void)state;
	assert_true(windows_init(&log, START, 0.020, HZ));
	amount = walk(&log, START, START + 3 * MS + 500 * US, 0);
	walk(&log, START + 3 * MS + 540 * US, START + 25 * MS, amount);
	assert_true(windows_judge(&log, NULL, false, HZ, &result));
	assert_int_equal(result.clean, 20);
	assert_true(windows_is_clean(&log, 2));
	assert_false(windows_is_clean(&log, 3));
	assert_true(windows_is_clean(&log, 4));
	windows_fini(&log);
}

static void
gap_of_just_the_limit_is_no_stop(void **state)
{
	struct windows log;

	(void)state;
	assert_true(windows_init(&log, START, 0.002, HZ));
	windows_look(&log, START, 0);
	for (uint64_t now = START + 30 * US; now < START + 2 * MS; now += 30 * US)
		windows_look(&log, now, 0);
	assert_true(windows_is_clean(&log, 0));
	windows_fini(&log);
}

/* A loop whose turns each last `turn`, with a pause of `stop` at the end of every 50th, from the
 * warm-up on.
 * Returns: how many of twenty windows are clean */
static uint32_t
clean_with_turns_of(uint64_t turn, uint64_t stop)
{
	struct windows log;
	struct windows_result result;
	uint64_t n = 0;

	assert_true(windows_init(&log, START, 0.019, HZ));
	for (uint64_t now = START - 4 * MS; now < START + 25 * MS; now += turn) {
		windows_look(&log, now, n++);
		now += n % 50 == 0 ? stop : 0;
	}
	assert_true(windows_judge(&log, NULL, false, HZ, &result));
	windows_fini(&log);
	return result.clean;
}

/* On a slow machine hundreds of messages take longer than a stop, although nothing was stopped. */
static void
turn_that_is_long_by_itself_is_no_stop(void **state)
{
	(void)state;
	assert_int_equal(clean_with_turns_of(20 * US, 0), 20);
	assert_int_equal(clean_with_turns_of(90 * US, 0), 20);
	assert_int_equal(clean_with_turns_of(90 * US, 20 * US), 20);
	/* each stop spoils one window or two, and comes each 1 ms, or 4.5 */
	assert_int_equal(clean_with_turns_of(20 * US, 60 * US), 0);
	assert_in_range(clean_with_turns_of(90 * US, 60 * US), 10, 16);
}

static void
turn_of_a_good_part_of_a_window_is_a_stop(void **state)
{
	(void)state;
	assert_int_equal(clean_with_turns_of(220 * US, 0), 20);
	assert_int_equal(clean_with_turns_of(240 * US, 0), 0);
}

static void
long_stop_spoils_every_window_it_touches(void **state)
{
	struct windows log;

	(void)state;
	assert_true(windows_init(&log, START, 0.020, HZ));
	walk(&log, START, START + 2 * MS + 900 * US, 0);
	walk(&log, START + 6 * MS + 100 * US, START + 25 * MS, 290);
	for (uint32_t i = 0; i < 21; i++)
		assert_int_equal(windows_is_clean(&log, i), i < 2 || i > 6);
	windows_fini(&log);
}

static void
stop_of_either_thread_counts(void **state)
{
	struct windows a, b;
	struct windows_result result;

	(void)state;
	assert_true(windows_init(&a, START, 0.020, HZ));
	assert_true(windows_init(&b, START, 0.020, HZ));
	walk(&a, START, START + 25 * MS, 0);
	walk(&b, START, START + 4 * MS + 100 * US, 0);
	walk(&b, START + 4 * MS + 200 * US, START + 25 * MS, 0);
	assert_true(windows_judge(&a, &b, false, HZ, &result));
	assert_int_equal(result.clean, 20);
	windows_fini(&a);
	windows_fini(&b);
}

static void
rate_of_a_stopped_window_is_not_in_the_figures(void **state)
{
	struct windows log;
	struct windows_result result;

	(void)state;
	assert_true(windows_init(&log, START, 0.020, HZ));
	walk(&log, START, START + 5 * MS, 0);
	/* fifteen milliseconds of nothing, and a hundred times the work at once */
	windows_look(&log, START + 20 * MS, 50000);
	walk(&log, START + 20 * MS + 10 * US, START + 22 * MS, 50000);
	assert_true(windows_judge(&log, NULL, false, HZ, &result));
	assert_int_equal(result.clean, 4);
	assert_true(result.per_second > 99000 && result.per_second < 101000);
	assert_true(result.mean_clean > 99000 && result.mean_clean < 101000);
	assert_true(result.mean > 2000000);
	windows_fini(&log);
}

static void
thread_that_comes_late_was_stopped(void **state)
{
	struct windows log;

	(void)state;
	assert_true(windows_init(&log, START, 0.020, HZ));
	walk(&log, START + 3 * MS + 500 * US, START + 25 * MS, 0);
	for (uint32_t i = 0; i < 21; i++)
		assert_int_equal(windows_is_clean(&log, i), i > 3);
	windows_fini(&log);
}

static void
log_that_is_full_takes_no_more(void **state)
{
	struct windows log;

	(void)state;
	assert_true(windows_init(&log, START, 0.003, HZ));
	walk(&log, START, START + 50 * MS, 0);
	assert_int_equal(log.at, log.capacity);
	assert_int_equal(log.capacity, 4);
	windows_fini(&log);
}

static void
log_without_windows_says_nothing(void **state)
{
	struct windows log;
	struct windows_result result;

	(void)state;
	assert_true(windows_init(&log, START, 0.003, HZ));
	windows_look(&log, START - MS, 7);
	assert_true(windows_judge(&log, NULL, false, HZ, &result));
	assert_int_equal(result.all, 0);
	assert_true(result.per_second == 0 && result.mean == 0 && result.mean_clean == 0);
	windows_fini(&log);
}

/* Forty milliseconds in which all work is done in windows with a stop, every fourth of them; in
 * the others the thread polls without result. */
static void
judge_where_only_idle_windows_are_clean(struct windows_result *result)
{
	struct windows log;
	uint64_t amount = 0;

	assert_true(windows_init(&log, START, 0.040, HZ));
	for (uint64_t ms = 0; ms < 42; ms++) {
		for (uint64_t us = 0; us < 1000; us += 10) {
			bool is_stopped = ms % 4 == 0 && us >= 200 && us < 300;

			if (!is_stopped)
				windows_look(&log, START + ms * MS + us * US, amount);
			amount += ms % 4 == 0;
		}
	}
	assert_true(windows_judge(&log, NULL, false, HZ, result));
	windows_fini(&log);
}

static void
clean_windows_in_which_nothing_was_done_are_not_the_figure(void **state)
{
	struct windows_result result;
	char note[160];

	(void)state;
	judge_where_only_idle_windows_are_clean(&result);
	assert_int_equal(result.all, 41);
	assert_int_equal(result.clean, 30);
	assert_true(result.per_second < 1 && result.mean_clean < 1000);
	for (int is_median = 0; is_median <= 1; is_median++) {
		double figure = windows_figure(&result, is_median, note, sizeof note);

		assert_true(figure > 25000 && figure < 28000);
		assert_string_equal(note, "busy machine: the 30 clean windows of 41 show less "
					  "than all, so the mean of all is shown");
	}
}

/* Three halves of the work is done in fewer than half of the clean windows. */
static void
median_below_what_all_say_is_not_the_figure(void **state)
{
	struct windows_result result = {
		.all = 100,
		.clean = 50,
		.per_second = 0,
		.mean = 1000,
		.mean_clean = 1500,
		.amount = 100,
	};
	char note[160];

	(void)state;
	assert_true(windows_figure(&result, true, note, sizeof note) == 1000);
	assert_true(note[0]);
	assert_true(windows_figure(&result, false, note, sizeof note) == 1500);
	assert_false(note[0]);
}

/* A worker that is stopped for longer than the windows: its application polls without result in
 * every one of them, and the posted requests complete after the last. */
static void
windows_in_which_nothing_was_done_are_not_the_figure(void **state)
{
	struct windows_result result = {.all = 61, .clean = 15};
	char note[160];

	(void)state;
	for (int is_median = 0; is_median <= 1; is_median++) {
		assert_true(windows_figure(&result, is_median, note, sizeof note) < 1);
		assert_string_equal(note, "busy machine: nothing ended within the 61 windows, so "
					  "the mean of the whole time is shown");
	}
}

static void
figure_is_of_the_clean_windows_where_they_tell(void **state)
{
	struct windows_result result = {
		.all = 100,
		.clean = WINDOWS_CLEAN_MIN,
		.per_second = 901, /* below the mean of all by a little, as on any machine */
		.mean = 1000,
		.mean_clean = 1500,
		.amount = 100,
	};
	char note[160];

	(void)state;
	assert_true(windows_figure(&result, true, note, sizeof note) == 901);
	assert_false(note[0]);
	result.per_second = 899;
	assert_true(windows_figure(&result, true, note, sizeof note) == 1000);
	assert_true(note[0]);
	result.per_second = 2000;
	assert_true(windows_figure(&result, true, note, sizeof note) == 2000);
	assert_false(note[0]);
	result.clean--;
	assert_true(windows_figure(&result, true, note, sizeof note) == 1000);
	assert_string_equal(note, "busy machine: 9 of 100 windows clean, so the mean of all is "
				  "shown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_an_even_pace_is_that_pace),
		cmocka_unit_test(sums_have_the_amounts_of_both_logs),
		cmocka_unit_test(warm_up_is_in_no_window),
		cmocka_unit_test(window_with_a_stop_is_not_clean),
		cmocka_unit_test(gap_of_just_the_limit_is_no_stop),
		cmocka_unit_test(turn_that_is_long_by_itself_is_no_stop),
		cmocka_unit_test(turn_of_a_good_part_of_a_window_is_a_stop),
		cmocka_unit_test(long_stop_spoils_every_window_it_touches),
		cmocka_unit_test(stop_of_either_thread_counts),
		cmocka_unit_test(rate_of_a_stopped_window_is_not_in_the_figures),
		cmocka_unit_test(thread_that_comes_late_was_stopped),
		cmocka_unit_test(log_that_is_full_takes_no_more),
		cmocka_unit_test(log_without_windows_says_nothing),
		cmocka_unit_test(clean_windows_in_which_nothing_was_done_are_not_the_figure),
		cmocka_unit_test(windows_in_which_nothing_was_done_are_not_the_figure),
		cmocka_unit_test(median_below_what_all_say_is_not_the_figure),
		cmocka_unit_test(figure_is_of_the_clean_windows_where_they_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
