/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rows a command line asks for.
 * What ndperf says to mistakes is tested from outside, by tests/system/usage.
 * Start with every_row_that_comes_out_is_valid().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "plx_base.h"
#include "options.h"

static struct job jobs[1024];

/* Parse, as from a command line of at most 15 words. */
static enum parsed
parse(struct options *o, const char *words)
{
	static char text[512];
	static struct plx_why why;
	static char name[] = "ndperf";
	char *argv[17] = {name};
	int argc = 1;
	strncpy(text, words, sizeof(text) - 1);
	for (char *word = strtok(text, " "); word != NULL && argc < 16; word = strtok(NULL, " "))
		argv[argc++] = word;
	return ndperf_options(argc, argv, o, &why);
}

static uint32_t
rows(const char *words)
{
	static struct options o;
	struct plx_why why;
	assert_int_equal(parse(&o, words), PARSED_RUN);
	return options_jobs(&o, jobs, PLX_COUNT_OF(jobs), &why);
}

static void
without_options_every_operation_and_test_has_its_rows(void **state)
{
	(void)state;
	/* latency 4, rate 4, bandwidth of three operations in two sizes */
	assert_int_equal(rows(""), 14);
	assert_int_equal(rows("--op atomic"), 4);
	assert_int_equal(rows("--op send --test rate --size all"), 31);
	assert_int_equal(jobs[30].size, 1 << 30);
}

static void
a_raw_row_stands_before_each_that_it_judges(void **state)
{
	(void)state;
	assert_int_equal(rows("--with-raw --op write --test bandwidth"), 4);
	assert_true(jobs[0].raw && !jobs[1].raw && jobs[2].raw && !jobs[3].raw);
	assert_int_equal(jobs[0].size, jobs[1].size);
	assert_int_equal(jobs[0].slots, jobs[1].slots);
	assert_int_equal(jobs[0].rewrite, jobs[1].rewrite);
	assert_int_equal(rows("--raw --op write --test bandwidth"), 2);
	assert_true(jobs[0].raw && jobs[1].raw);
}

static void
every_row_that_comes_out_is_valid(void **state)
{
	static const char *const lines[] = {
		"--op all --size all --check",
		"--op all --size all --depth 1 --batch 64 --signal 8192",
		"--op send --size 1,3,1G --depth 8192 --batch 64",
		"--op write --size 64K --working-set 1 --depth 100",
		"--op write --size 8 --working-set 4G",
		"--op send --test rate --qps 10000,1 --signal 8192 --batch 64,1",
		"--op send --test rate --qps 2 --flight 1",
	};
	struct plx_why why;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(lines); i++) {
		uint32_t n = rows(lines[i]);
		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++) {
			assert_true(job_is_valid(&jobs[k], &why));
			/* unsignaled ones must leave room for a batch, or a queue stalls */
			assert_true(jobs[k].signal - 1 + jobs[k].batch <= jobs[k].depth);
		}
	}
}

static void
each_number_of_queue_pairs_and_each_batch_has_its_row(void **state)
{
	(void)state;
	assert_int_equal(rows("--op write --test rate,latency --qps 1,10000 --batch 1,32"), 5);
	/* a round trip has one of each */
	assert_int_equal(jobs[0].test, TEST_LATENCY);
	assert_int_equal(jobs[0].qps, 1);
	assert_int_equal(jobs[1].qps, 1);
	assert_int_equal(jobs[1].batch, 1);
	assert_int_equal(jobs[2].batch, 32);
	assert_int_equal(jobs[4].qps, 10000);
	assert_int_equal(jobs[4].batch, 26);
	assert_int_equal(jobs[4].flight, FLIGHT);
}

static void
each_direction_has_its_row_of_rate_and_of_bandwidth(void **state)
{
	(void)state;
	assert_int_equal(rows("--op write --size 64 --direction one,both"), 5);
	assert_false(jobs[0].both); /* a round trip */
	assert_false(jobs[1].both);
	assert_true(jobs[2].both);
	assert_false(jobs[3].both);
	assert_true(jobs[4].both);
	assert_int_equal(rows("--op write --test rate --direction both"), 1);
	assert_true(jobs[0].both);
}

static void
an_open_loop_has_the_messages_of_a_rate_and_each_completes(void **state)
{
	(void)state;
	assert_int_equal(rows("--op write --open 5K --test latency --qps 1,2"), 2);
	assert_true(jobs[1].open && !jobs[1].is_random);
	assert_int_equal(jobs[1].rate, 5120);
	assert_int_equal(jobs[1].qps, 2);
	assert_int_equal(jobs[1].depth, 128);
	assert_int_equal(jobs[1].signal, 1);
	assert_int_equal(rows("--op write --open 5K --test rate,latency"), 2);
	assert_true(jobs[0].open && !jobs[1].open);
}

static void
the_rate_that_an_open_loop_is_a_part_of_is_measured_before(void **state)
{
	(void)state;
	assert_int_equal(
		rows("--op write --open 50% --test latency --qps 1,2 --schedule poisson --seed 7"),
		4);
	for (uint32_t i = 0; i < 4; i += 2) {
		assert_int_equal(jobs[i].test, TEST_RATE);
		assert_true(jobs[i].fill && !jobs[i].open);
		assert_int_equal(jobs[i].signal, 1);
		assert_int_equal(jobs[i + 1].test, TEST_LATENCY);
		assert_true(jobs[i + 1].open && jobs[i + 1].is_random);
		assert_int_equal(jobs[i + 1].percent, 50);
		assert_int_equal(jobs[i + 1].seed, 7);
		assert_int_equal(jobs[i].size, jobs[i + 1].size);
		assert_int_equal(jobs[i].qps, jobs[i + 1].qps);
		assert_int_equal(jobs[i].depth, jobs[i + 1].depth);
	}
}

static void
what_all_queue_pairs_have_in_flight_leaves_no_request_without_a_completion(void **state)
{
	(void)state;
	assert_int_equal(rows("--op write --test rate --qps 1000 --batch 8 --signal 12"), 1);
	assert_int_equal(jobs[0].signal, 8);
	assert_int_equal(rows("--op write --test rate --qps 2 --batch 8 --signal 12"), 1);
	assert_int_equal(jobs[0].signal, 12);
	assert_int_equal(rows("--op write --test rate --qps 2 --batch 8 --flight 1"), 1);
	assert_int_equal(jobs[0].flight, 8);
}

static void
the_source_of_a_read_is_not_rewritten(void **state)
{
	(void)state;
	assert_int_equal(rows("--op send,read --test rate"), 2);
	assert_true(jobs[0].rewrite);
	assert_false(jobs[1].rewrite);
	assert_int_equal(rows("--op send --test rate --rewrite no"), 1);
	assert_false(jobs[0].rewrite);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options_every_operation_and_test_has_its_rows),
		cmocka_unit_test(a_raw_row_stands_before_each_that_it_judges),
		cmocka_unit_test(every_row_that_comes_out_is_valid),
		cmocka_unit_test(each_number_of_queue_pairs_and_each_batch_has_its_row),
		cmocka_unit_test(each_direction_has_its_row_of_rate_and_of_bandwidth),
		cmocka_unit_test(an_open_loop_has_the_messages_of_a_rate_and_each_completes),
		cmocka_unit_test(the_rate_that_an_open_loop_is_a_part_of_is_measured_before),
		cmocka_unit_test(
			what_all_queue_pairs_have_in_flight_leaves_no_request_without_a_completion),
		cmocka_unit_test(the_source_of_a_read_is_not_rewritten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
