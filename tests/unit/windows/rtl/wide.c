/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel's C run-time functions for text of 16-bit characters. Start with
 * text_is_measured_and_compared().
 */
#include "wide.h"

#include <errno.h>

static void
text_is_measured_and_compared(void **state)
{
	const WCHAR *s = L"hello";

	(void)state;
	assert_int_equal(wcslen(s), 5);
	assert_int_equal(wcsnlen(s, 3), 3);
	assert_true(wcscmp(s, L"hellp") < 0);
	assert_true(wcscmp(L"\uffff", L"a") > 0);
	assert_int_equal(wcsncmp(s, L"help", 3), 0);
	assert_int_equal(_wcsicmp(L"\u00c4BC", L"\u00e4bc"), 0);
	assert_true(_wcsnicmp(L"abX", L"aby", 3) < 0);
	assert_int_equal(_wcsnicmp(L"abX", L"aby", 2), 0);
	assert_ptr_equal(wcschr(s, L'l'), s + 2);
	assert_ptr_equal(wcschr(s, 0), s + 5);
	assert_ptr_equal(wcsrchr(s, L'l'), s + 3);
	assert_null(wcsrchr(s, L'x'));
	assert_ptr_equal(wcsstr(s, L"lo"), s + 3);
	assert_ptr_equal(wcsstr(s, L""), s);
	assert_null(wcsstr(s, L"lol"));
	assert_int_equal(wcsspn(s, L"leh"), 4);
	assert_int_equal(wcscspn(s, L"ol"), 2);
	assert_ptr_equal(wcspbrk(s, L"ol"), s + 2);
	assert_null(wcspbrk(s, L"x"));
}

static void
text_is_copied_within_bounds(void **state)
{
	WCHAR to[6], *rest;

	(void)state;
	assert_wide_equal(wcscpy(to, L"ab"), L"ab");
	assert_wide_equal(wcscat(to, L"c"), L"abc");
	assert_wide_equal(wcsncat(to, L"defg", 2), L"abcde");
	wcsncpy(to, L"x", 3);
	assert_memory_equal(to, L"x\0\0d", 8);
	assert_int_equal(wcscpy_s(to, 6, L"12345"), 0);
	assert_int_equal(wcscpy_s(to, 6, L"123456"), ERANGE);
	assert_wide_equal(to, L"");
	assert_int_equal(wcsncpy_s(to, 4, L"123456", _TRUNCATE), STRUNCATE);
	assert_wide_equal(to, L"123");
	assert_int_equal(wcscat_s(to, 6, L"45"), 0);
	assert_int_equal(wcscat_s(to, 6, L"6"), ERANGE);
	wcscpy(to, L",a,,b");
	assert_wide_equal(wcstok_s(to, L",", &rest), L"a");
	assert_wide_equal(wcstok_s(NULL, L",", &rest), L"b");
	assert_null(wcstok_s(NULL, L",", &rest));
	assert_int_equal(memcpy_s(to, 4, L"pqr", 6), ERANGE);
	assert_int_equal(to[0], 0);
	wcscpy(to, L"aBc");
	assert_wide_equal(_wcsupr(to), L"ABC");
	assert_wide_equal(_wcsrev(to), L"CBA");
}

static void
numbers_have_32_bits_where_a_long_has(void **state)
{
	static const WCHAR far[] = L"99999999999 x";
	WCHAR *end, to[12];
	char narrow[12];

	(void)state;
	assert_int_equal(wcstol(L" -0x10z", &end, 0), -16);
	assert_wide_equal(end, L"z");
	errno = 0;
	assert_int_equal(wcstol(far, &end, 10), INT32_MAX);
	assert_int_equal(errno, ERANGE);
	assert_ptr_equal(end, far + 11);
	assert_int_equal(wcstoul(L"-1", NULL, 10), UINT32_MAX);
	assert_int_equal(wcstoul(far, NULL, 10), UINT32_MAX);
	assert_true(_wcstoui64(far, NULL, 10) == 99999999999ull);
	assert_int_equal(_wtoi(L"-7x"), -7);
	assert_wide_equal(_itow(-255, to, 10), L"-255");
	assert_wide_equal(_itow(-1, to, 16), L"ffffffff");
	assert_int_equal(_itow_s(12, to, 2, 10), ERANGE);
	assert_wide_equal(to, L"");
	assert_int_equal(_itow_s(12, to, 3, 1), EINVAL);
	assert_int_equal(_ultow_s(35, to, 12, 36), 0);
	assert_wide_equal(to, L"z");
	assert_int_equal(_i64toa_s(INT64_MIN, narrow, 12, 36), ERANGE);
	assert_int_equal(_ultoa_s(MAXULONG, narrow, 12, 10), 0);
	assert_string_equal(narrow, "4294967295");
}

static void
wide_text_becomes_utf_8(void **state)
{
	char narrow[4];
	WCHAR wide[3];

	(void)state;
	assert_int_equal(wcstombs(NULL, L"a\u20ac", 0), 4);
	assert_int_equal(wcstombs(narrow, L"a\u20ac", 3), 1);
	assert_int_equal(wcstombs(narrow, L"a\u00e4", sizeof(narrow)), 3);
	assert_string_equal(narrow, "a\xc3\xa4");
	assert_int_equal(mbstowcs(wide, narrow, 3), 2);
	assert_wide_equal(wide, L"a\u00e4");
	assert_int_equal(mbstowcs(wide, "\xff", 3), (size_t)-1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_measured_and_compared),
		cmocka_unit_test(text_is_copied_within_bounds),
		cmocka_unit_test(numbers_have_32_bits_where_a_long_has),
		cmocka_unit_test(wide_text_becomes_utf_8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
