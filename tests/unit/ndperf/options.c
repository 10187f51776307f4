/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes, durations and addresses as people write them; and which rows a command line asks for.
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
	return options_parse(argc, argv, o, &why);
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
sizes_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"1", 1},
		    {"64", 64},
		    {"4K", 4096},
		    {"4k", 4096},
		    {"1M", 1 << 20},
		    {"1G", 1 << 30},
		    {"64KiB", 64 << 10},
		    {"0", 0},
		    {"4294967296", UINT64_C(1) << 32}};
	static const char *const bad[] = {"",   "K",   "-1",   "1T",  "1KB",        "1.5K",
					  " 1", "1 K", "0x10", "1KK", "9999999999G"};
	uint64_t bytes;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(good); i++) {
		assert_true(parse_bytes(good[i].text, &bytes));
		assert_int_equal(bytes, good[i].bytes);
	}
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_bytes(bad[i], &bytes));
}

static void
durations_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint32_t ms;
	} good[] = {{"2s", 2000}, {"2", 2000}, {"500ms", 500}, {"0.25s", 250}, {"3600s", 3600000}};
	static const char *const bad[] = {"", "s", "-1s", "2m", "3601s", "nan", "1e99"};
	uint32_t ms;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(good); i++) {
		assert_true(parse_duration_ms(good[i].text, &ms));
		assert_int_equal(ms, good[i].ms);
	}
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_duration_ms(bad[i], &ms));
}

static void
addresses_come_with_a_prefix(void **state)
{
	static const char *const bad[] = {"10.0.0.1",    "10.0.0.1/",
					  "10.0.0.1/0",  "10.0.0.1/33",
					  "10.0.0/8",    "fd77::1/129",
					  "fd77::1/64x", "/24",
					  "10.0.0.1/+8", "10.0.0.1/99999999999999999999"};
	struct plx_ip ip;
	uint8_t bits;
	char text[64];
	(void)state;
	assert_true(parse_address("10.77.0.1/24", &ip, &bits));
	assert_int_equal(ip.version, 4);
	assert_int_equal(bits, 24);
	assert_string_equal(ip_text(&ip, text, sizeof(text)), "10.77.0.1");
	assert_true(parse_address("fd77::1/64", &ip, &bits));
	assert_int_equal(ip.version, 6);
	assert_string_equal(ip_text(&ip, text, sizeof(text)), "fd77::1");
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_address(bad[i], &ip, &bits));
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
	};
	struct plx_why why;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(lines); i++) {
		uint32_t n = rows(lines[i]);
		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++) {
			assert_true(job_is_valid(&jobs[k], &why));
			/* silent ones must leave room for a batch, or a queue stands still */
			assert_true(jobs[k].signal - 1 + jobs[k].batch <= jobs[k].depth);
		}
	}
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
		cmocka_unit_test(sizes_are_read_as_people_write_them),
		cmocka_unit_test(durations_are_read_as_people_write_them),
		cmocka_unit_test(addresses_come_with_a_prefix),
		cmocka_unit_test(without_options_every_operation_and_test_has_its_rows),
		cmocka_unit_test(a_raw_row_stands_before_each_that_it_judges),
		cmocka_unit_test(every_row_that_comes_out_is_valid),
		cmocka_unit_test(the_source_of_a_read_is_not_rewritten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
