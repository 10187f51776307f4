/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What common/json.h adds to jansson. Start with any_bytes_become_a_string().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "plx_base.h"

static char *
written(json_t *json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	assert_non_null(to);
	assert_true(json_write(json, to));
	fclose(to);
	return text;
}

static void
any_bytes_become_a_string(void **state)
{
	static const struct {
		const char *bytes, *json;
	} texts[] = {
		{"", "[\n \"\"\n]\n"},
		{"a \"b\" \\ c\n", "[\n \"a \\\"b\\\" \\\\ c\\n\"\n]\n"},
		{"\xc3\xa9", "[\n \"\\u00E9\"\n]\n"},
		{"\xe9 \xff", "[\n \"\\u00E9 \\u00FF\"\n]\n"},
	};
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(texts); i++) {
		json_t *array = json_array();
		json_array_append_new(array, json_text(texts[i].bytes));
		char *text = written(array);
		assert_string_equal(text, texts[i].json);
		free(text);
	}
}

static void
numbers_have_nine_digits_or_those_behind_the_point(void **state)
{
	static const struct {
		double value;
		int digits;
		const char *json;
	} numbers[] = {
		{0, -1, "[\n 0\n]\n"},
		{1500, -1, "[\n 1500\n]\n"},
		{1.0 / 3, -1, "[\n 0.333333333\n]\n"},
		{12345678901.5, -1, "[\n 1.23456789e10\n]\n"},
		{42.1349, 2, "[\n 42.13\n]\n"},
		{41.996, 2, "[\n 42\n]\n"},
		{-0.25, 1, "[\n -0.3\n]\n"},
		{NAN, -1, "[\n null\n]\n"},
		{INFINITY, 1, "[\n null\n]\n"},
	};
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(numbers); i++) {
		json_t *array = json_array();
		json_array_append_new(array, json_number(numbers[i].value, numbers[i].digits));
		char *text = written(array);
		assert_string_equal(text, numbers[i].json);
		free(text);
	}
}

static void
what_cannot_be_written_is_noticed(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	(void)state;
	assert_non_null(full);
	assert_false(json_write(json_object(), full));
	fclose(full);
	assert_false(json_write(NULL, stdout));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_become_a_string),
		cmocka_unit_test(numbers_have_nine_digits_or_those_behind_the_point),
		cmocka_unit_test(what_cannot_be_written_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
