/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report on what a driver left, by itself. Start with what_later_rooms_count_is_reported().
 */
#include "io_rig.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t things = 5;

static uint64_t
count_things(void)
{
	return things;
}

static void
what_later_rooms_count_is_reported(void **state)
{
	static const struct plx_io_watch watch = {"thing", count_things, true};
	struct plx_driver_report report = {.findings = 0};
	struct left before;

	(void)state;
	plx_io_watch(&watch);
	plx_io_watch(&watch);
	left_begin(&before);
	left_report(&before, &report);
	assert_int_equal(report.findings, 0);
	things = 7;
	left_report(&before, &report);
	assert_int_equal(report.findings, 1);
	assert_string_equal(report.finding[0].kind, "thing");
	assert_int_equal(report.finding[0].count, 2);
	assert_true(report.finding[0].runs);
	free(before.tags);
}

static void
pool_that_was_there_before_is_not_reported(void **state)
{
	PVOID old = ExAllocatePool2(POOL_FLAG_NON_PAGED, 100, 0x31676154), more, other;
	struct plx_driver_report report = {.findings = 0};
	struct left before;

	(void)state;
	left_begin(&before);
	more = ExAllocatePool2(POOL_FLAG_NON_PAGED, 20, 0x31676154);
	other = ExAllocatePool2(POOL_FLAG_PAGED, 3, 0x01020304);
	left_report(&before, &report);
	assert_int_equal(report.findings, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct plx_driver_finding *f = &report.finding[i];
		bool is_named = strncmp(f->name, "'Tag1' (0x31676154)", 19) == 0;

		assert_string_equal(f->kind, "pool block");
		assert_int_equal(f->count, 1);
		assert_int_equal(f->bytes, is_named ? 20 : 3);
		assert_false(f->runs);
		if (!is_named)
			assert_int_equal(strncmp(f->name, "'....' (0x01020304)", 19), 0);
	}
	ExFreePool(old);
	ExFreePool(more);
	ExFreePool(other);
	report.findings = 0;
	left_report(&before, &report);
	assert_int_equal(report.findings, 0);
	free(before.tags);
}

static void
the_last_of_many_findings_counts_the_rest(void **state)
{
	static struct plx_driver_report report;
	const struct plx_driver_finding *last = &report.finding[PLX_IO_FINDINGS_MAX - 1];
	char name[16];

	(void)state;
	for (int i = 0; i < PLX_IO_FINDINGS_MAX + 2; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		left_add(&report, "thing", name, 1, 0, i == PLX_IO_FINDINGS_MAX + 1);
	}
	left_add(&report, "thing", "none", 0, 0, true);
	assert_int_equal(report.findings, PLX_IO_FINDINGS_MAX);
	assert_string_equal(report.finding[PLX_IO_FINDINGS_MAX - 2].name, "n62");
	assert_string_equal(last->kind, "others");
	assert_int_equal(last->count, 3);
	assert_true(last->runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_that_was_there_before_is_not_reported),
		cmocka_unit_test(what_later_rooms_count_is_reported),
		cmocka_unit_test(the_last_of_many_findings_counts_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
