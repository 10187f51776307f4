/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats of the kernel, in narrow and in wide text, and what becomes of a text that does not fit.
 * Start with numbers_have_the_sizes_of_windows().
 */
#include "wide.h"

/* The same format, narrow and wide, and what both print. */
#define expect_both(expected, format, ...)                                                   \
	do {                                                                                 \
		char narrow_[200];                                                           \
		WCHAR wide_[200];                                                            \
                                                                                             \
		assert_int_equal(sprintf_s(narrow_, sizeof(narrow_), format, __VA_ARGS__),   \
				 strlen(expected));                                          \
		assert_string_equal(narrow_, expected);                                      \
		assert_int_equal(swprintf_s(wide_, COUNT_OF(wide_), L##format, __VA_ARGS__), \
				 strlen(expected));                                          \
		for (size_t i_ = 0; i_ <= strlen(expected); i_++)                            \
			assert_int_equal(wide_[i_], expected[i_]);                           \
	} while (0)

static void
numbers_have_the_sizes_of_windows(void **state)
{
	const LONG minus = -5;

	(void)state;
	expect_both("-5 5 fffffffb", "%d %u %x", minus, 5, minus);
	expect_both("-5 4294967291 FFFFFFFB", "%ld %lu %lX", minus, minus, minus);
	expect_both("-1 18446744073709551615", "%I64d %I64u", -1ll, -1ll);
	expect_both("-1 ffffffffffffffff", "%lld %llx", -1ll, -1ll);
	expect_both("-1 4294967295", "%I32d %I32u", -1, -1);
	expect_both("18446744073709551615 ffffffffffffffff", "%Iu %zx", (SIZE_T)-1, (SIZE_T)-1);
	expect_both("-1 65535 -1 ff", "%hd %hu %hhd %hhx", 0x1ffff, 0x1ffff, 0x1ff, 0x1ff);
	expect_both("00000000DEADBEEF", "%p", (void *)0xdeadbeef);
	expect_both("|    00000000DEADBEEF|", "|%20p|", (void *)0xdeadbeef);
	expect_both("0x1f 0X1F 037 0", "%#x %#X %#o %#x", 31, 31, 31, 0);
	expect_both("-9223372036854775808", "%I64d", (LONGLONG)(1ull << 63));
}

static void
fields_are_filled(void **state)
{
	(void)state;
	expect_both("|   42|42   |00042|+0042|", "|%5d|%-5d|%05d|%+05d|", 42, 42, 42, 42);
	expect_both("| 42|-0042|  007|", "|% d|%05d|%5.3d|", 42, -42, 7);
	expect_both("|   42|42   |", "|%*d|%*d|", 5, 42, -5, 42);
	expect_both("||0|", "|%.0d|%.*d|", 0, -1, 0);
	expect_both("|  abc|abc  |ab|", "|%5hs|%-5hs|%.2hs|", "abc", "abc", "abc");
	expect_both("|  abc|abc  |ab|", "|%5ws|%-5ls|%.*ws|", L"abc", L"abc", 2, L"abc");
	expect_both("0x002a", "0x%04x", 42);
	expect_both("1.50 +2.5e+00", "%.2f %+.1e", 1.5, 2.5);
	expect_both("100% %y", "%d%% %y", 100);
}

static void
text_is_of_the_kind_that_is_said(void **state)
{
	const UNICODE_STRING counted = RTL_CONSTANT_STRING(L"wi\0de");
	const ANSI_STRING ansi = RTL_CONSTANT_STRING("ansi");
	const UNICODE_STRING none = {0};
	char narrow[64];
	WCHAR wide[64];

	(void)state;
	assert_int_equal(sprintf_s(narrow, sizeof(narrow), "%s %S %c%C", "n", L"w", 'c', L'C'), 6);
	assert_string_equal(narrow, "n w cC");
	assert_int_equal(swprintf_s(wide, 64, L"%s %S %c%C", L"w", "n", L'c', 'C'), 6);
	assert_wide_equal(wide, L"w n cC");
	assert_int_equal(sprintf_s(narrow, sizeof(narrow), "%wZ|%Z|%hZ", &counted, &ansi, &ansi),
			 15);
	assert_memory_equal(narrow, "wi\0de|ansi|ansi", 16);
	assert_int_equal(swprintf_s(wide, 64, L"%wZ|%Z|%.3wZ", &counted, &ansi, &counted), 14);
	assert_memory_equal(wide, L"wi\0de|ansi|wi\0", 15 * sizeof(WCHAR));
	expect_both("(null) (null) (null)", "%hs %ws %wZ", (char *)NULL, (WCHAR *)NULL, &none);
	expect_both("(null)", "%wZ", (UNICODE_STRING *)NULL);
}

static void
text_of_the_other_kind_is_utf_8(void **state)
{
	char narrow[64];
	WCHAR wide[64];

	(void)state;
	assert_int_equal(sprintf_s(narrow, sizeof(narrow), "%ws", L"\u00e4\u20ac\U0001f600"), 9);
	assert_string_equal(narrow, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_int_equal(swprintf_s(wide, 64, L"%hs", narrow), 4);
	assert_wide_equal(wide, L"\u00e4\u20ac\U0001f600");
	/* Half a character: the text ends in the middle of it. */
	assert_int_equal(swprintf_s(wide, 64, L"%.1hs|", narrow), 2);
	assert_wide_equal(wide, L"\ufffd|");
	assert_int_equal(sprintf_s(narrow, sizeof(narrow), "%.1ws|", L"\U0001f600"), 4);
	assert_string_equal(narrow, "\xef\xbf\xbd|");
	/* A field counts characters of the result. */
	assert_int_equal(swprintf_s(wide, 64, L"|%3hs|", "\xc3\xa4"), 5);
	assert_wide_equal(wide, L"|  \u00e4|");
}

/* Results of the older functions, the bounded ones and those with a count, each with room for 4. */
static void
what_does_not_fit_is_told_in_three_ways(void **state)
{
	static const struct {
		const char *text;
		int old, bounded, counted_2, truncated;
	} rows[] = {
		{"abc", 3, 3, -1, 3}, {"abcd", 4, -1, -1, -1}, {"abcde", -1, -1, -1, -1},
		{"ab", 2, 2, 2, 2},   {"", 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *text = rows[i].text;
		char to[6] = "xxxxx";
		WCHAR wide[6] = L"xxxxx";

		assert_int_equal(_snprintf(to, 4, "%s", text), rows[i].old);
		assert_memory_equal(to, text, strlen(text) < 4 ? strlen(text) + 1 : 4);
		assert_int_equal(to[4], 'x');
		assert_int_equal(_snwprintf(wide, 4, L"%S", text), rows[i].old);
		assert_int_equal(wide[4], 'x');
		assert_int_equal(sprintf_s(to, 4, "%s", text), rows[i].bounded);
		assert_string_equal(to, rows[i].bounded < 0 ? "" : text);
		assert_int_equal(_snprintf_s(to, 4, 2, "%s", text), rows[i].counted_2);
		assert_int_equal(strncmp(to, text, 2), 0);
		assert_int_equal(strlen(to), strlen(text) < 2 ? strlen(text) : 2);
		assert_int_equal(_snwprintf_s(wide, 4, _TRUNCATE, L"%S", text), rows[i].truncated);
		assert_int_equal(wcslen(wide), strlen(text) < 3 ? strlen(text) : 3);
		assert_int_equal(swprintf(wide, 4, L"%S", text), rows[i].bounded);
		assert_int_equal(snprintf(to, 4, "%s", text), strlen(text));
		assert_int_equal(strlen(to), strlen(text) < 3 ? strlen(text) : 3);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_sizes_of_windows),
		cmocka_unit_test(fields_are_filled),
		cmocka_unit_test(text_is_of_the_kind_that_is_said),
		cmocka_unit_test(text_of_the_other_kind_is_utf_8),
		cmocka_unit_test(what_does_not_fit_is_told_in_three_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
