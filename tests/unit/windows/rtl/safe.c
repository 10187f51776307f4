/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Safe strings: tables of what fits, what is truncated, and what each flag makes of it.
 * Start with copies_are_truncated_and_ended().
 */
#include "wide.h"

#include <ntstrsafe.h>

enum {
	OK = STATUS_SUCCESS,
	FULL = STATUS_BUFFER_OVERFLOW,
	WRONG = STATUS_INVALID_PARAMETER,
};

static void
copies_are_truncated_and_ended(void **state)
{
	static const struct {
		size_t size;
		const char *from;
		size_t most;
		NTSTATUS status;
		const char *to;
	} rows[] = {
		{4, "abc", 9, OK, "abc"},
		{3, "abc", 9, FULL, "ab"},
		{1, "abc", 9, FULL, ""},
		{1, "", 9, OK, ""},
		{3, "abc", 2, OK, "ab"},
		{4, "abc", 0, OK, ""},
		{0, "abc", 9, WRONG, "old"},
		{(size_t)NTSTRSAFE_MAX_CCH + 1, "abc", 9, WRONG, "old"},
		{4, "abc", (size_t)NTSTRSAFE_MAX_CCH + 1, WRONG, "old"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char narrow[8] = "old";
		WCHAR wide[8] = L"old", from[8], expected[8];

		swprintf_s(from, 8, L"%S", rows[i].from);
		swprintf_s(expected, 8, L"%S", rows[i].to);
		assert_int_equal(
			RtlStringCchCopyNA(narrow, rows[i].size, rows[i].from, rows[i].most),
			rows[i].status);
		assert_string_equal(narrow, rows[i].to);
		assert_int_equal(RtlStringCbCopyNW(wide, 2 * rows[i].size, from, 2 * rows[i].most),
				 rows[i].status);
		assert_wide_equal(wide, expected);
	}
}

static void
texts_are_appended_to_what_is_there(void **state)
{
	WCHAR to[8] = L"ab", open[4] = L"wxy";
	char narrow[5] = "ab";

	(void)state;
	assert_int_equal(RtlStringCchCatW(to, 8, L"cd"), OK);
	assert_wide_equal(to, L"abcd");
	assert_int_equal(RtlStringCbCatNW(to, sizeof(to), L"efg", 2), OK);
	assert_wide_equal(to, L"abcde");
	assert_int_equal(RtlStringCbCatW(to, sizeof(to), L"fgh"), FULL);
	assert_wide_equal(to, L"abcdefg");
	assert_int_equal(RtlStringCchCatA(narrow, 5, "cde"), FULL);
	assert_string_equal(narrow, "abcd");
	/* no 0 within the size that is said */
	assert_int_equal(RtlStringCchCatW(open, 3, L"z"), WRONG);
	assert_wide_equal(open, L"wxy");
}

static void
an_odd_number_of_bytes_is_one_character_less(void **state)
{
	WCHAR to[4] = L"xxx", *end;
	size_t left;

	(void)state;
	assert_int_equal(RtlStringCbCopyExW(to, 5, L"a", &end, &left, 0), OK);
	assert_wide_equal(to, L"a");
	assert_ptr_equal(end, to + 1);
	assert_int_equal(left, 3);
	assert_int_equal(RtlStringCbCopyW(to, 5, L"ab"), FULL);
	assert_wide_equal(to, L"a");
	assert_int_equal(RtlStringCbCopyW(to, 1, L""), WRONG);
}

/* The buffer has 6 characters and holds "ab"; "cdef" does not fit behind it, "cd" does. */
static void
flags_say_what_is_left_of_a_failure(void **state)
{
	static const struct {
		int append;
		const char *from;
		ULONG flags;
		NTSTATUS status;
		const char *to; /* of all 6 */
		size_t used;
	} rows[] = {
		{1, "cd", 0, OK, "abcd\0y", 4},
		{1, "cd", STRSAFE_FILL_BYTE('z'), OK, "abcd\0z", 4},
		{1, "cdef", 0, FULL, "abcde\0", 5},
		{1, "cdef", STRSAFE_NO_TRUNCATION, FULL, "ab\0de\0", 2},
		{1, "cdef", STRSAFE_NULL_ON_FAILURE, FULL, "\0bcde\0", 0},
		{1, "cdef", STRSAFE_FAILURE_BYTE('z'), FULL, "zzzzz\0", 5},
		{1, "cdef", STRSAFE_FAILURE_BYTE(0), FULL, "\0\0\0\0\0\0", 0},
		{1, "cdef", STRSAFE_FAILURE_BYTE('z') | STRSAFE_NO_TRUNCATION, FULL, "zzzzz\0", 5},
		{0, "cdefgh", STRSAFE_NO_TRUNCATION, FULL, "\0defg\0", 0},
		{0, "cdefgh", STRSAFE_NULL_ON_FAILURE, FULL, "\0defg\0", 0},
		{0, NULL, STRSAFE_IGNORE_NULLS, OK, "\0b\0yyy", 0},
		{0, "c", 0x2000, WRONG, "ab\0yyy", 99},
		{0, NULL, 0, WRONG, "ab\0yyy", 99},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char to[6] = {'a', 'b', 0, 'y', 'y', 'y'}, *end = NULL;
		size_t left = 99;
		NTSTATUS status;

		status = rows[i].append ? RtlStringCchCatExA(to, 6, rows[i].from, &end, &left,
							     rows[i].flags)
					: RtlStringCbCopyExA(to, 6, rows[i].from, &end, &left,
							     rows[i].flags);
		assert_int_equal(status, rows[i].status);
		assert_memory_equal(to, rows[i].to, 6);
		assert_int_equal(left, rows[i].used == 99 ? 99 : 6 - rows[i].used);
		assert_ptr_equal(end, rows[i].used == 99 ? NULL : to + rows[i].used);
	}
}

static void
no_buffer_is_one_without_room_if_nulls_are_ignored(void **state)
{
	(void)state;
	assert_int_equal(RtlStringCchCopyExW(NULL, 0, L"", NULL, NULL, STRSAFE_IGNORE_NULLS), OK);
	assert_int_equal(RtlStringCchCopyExW(NULL, 0, L"a", NULL, NULL, STRSAFE_IGNORE_NULLS),
			 WRONG);
	assert_int_equal(RtlStringCchCopyExW(NULL, 1, L"", NULL, NULL, STRSAFE_IGNORE_NULLS),
			 WRONG);
	assert_int_equal(RtlStringCchCopyExW(NULL, 0, L"", NULL, NULL, 0), WRONG);
}

static void
lengths_are_bounded(void **state)
{
	size_t n = 9;

	(void)state;
	assert_int_equal(RtlStringCchLengthW(L"abc", 4, &n), OK);
	assert_int_equal(n, 3);
	assert_int_equal(RtlStringCbLengthW(L"abc", 8, &n), OK);
	assert_int_equal(n, 6);
	assert_int_equal(RtlStringCchLengthA("abc", 3, &n), WRONG);
	assert_int_equal(n, 0);
	assert_int_equal(RtlStringCchLengthA(NULL, 3, NULL), WRONG);
}

static void
formats_are_truncated_and_ended(void **state)
{
	WCHAR to[6], *end;
	size_t left;

	(void)state;
	assert_int_equal(RtlStringCchPrintfW(to, 6, L"%s-%d", L"ab", 12), OK);
	assert_wide_equal(to, L"ab-12");
	assert_int_equal(RtlStringCbPrintfW(to, sizeof(to), L"%s-%d", L"ab", 123), FULL);
	assert_wide_equal(to, L"ab-12");
	assert_int_equal(RtlStringCbPrintfExW(to, sizeof(to), &end, &left, 0, L"%d", 7), OK);
	assert_ptr_equal(end, to + 1);
	assert_int_equal(left, 10);
	assert_int_equal(RtlStringCbPrintfExW(to, sizeof(to), &end, &left, STRSAFE_NO_TRUNCATION,
					      L"%d", 1234567),
			 FULL);
	assert_wide_equal(to, L"");
	assert_int_equal(left, 12);
}

/* ---- counted strings, which need no 0 ---- */

static void
counted_strings_use_all_of_their_buffer(void **state)
{
	UNICODE_STRING from = RTL_CONSTANT_STRING(L"abcd"), rest, odd = {1, 2, from.Buffer};
	DECLARE_UNICODE_STRING_SIZE(to, 4);

	(void)state;
	assert_int_equal(RtlUnicodeStringCopy(&to, &from), OK);
	assert_counted_equal(&to, L"abcd");
	assert_int_equal(RtlUnicodeStringCopyString(&to, L"abcde"), FULL);
	assert_counted_equal(&to, L"abcd");
	assert_int_equal(RtlUnicodeStringCopyStringEx(&to, L"ab", &rest, 0), OK);
	assert_int_equal(rest.MaximumLength, 4);
	assert_int_equal(rest.Length, 0);
	assert_ptr_equal(rest.Buffer, to.Buffer + 2);
	assert_int_equal(RtlUnicodeStringCchCatN(&to, &from, 1), OK);
	assert_counted_equal(&to, L"aba");
	assert_int_equal(RtlUnicodeStringCatStringEx(&to, L"xy", NULL, STRSAFE_NO_TRUNCATION),
			 FULL);
	assert_counted_equal(&to, L"aba");
	assert_int_equal(RtlUnicodeStringCatString(&to, L"xy"), FULL);
	assert_counted_equal(&to, L"abax");
	assert_int_equal(RtlUnicodeStringCbCopyStringN(&to, L"pqr", 5), OK);
	assert_counted_equal(&to, L"pq");
	assert_int_equal(RtlUnicodeStringCopyEx(&to, &from, NULL, STRSAFE_ZERO_LENGTH_ON_FAILURE),
			 OK);
	to.MaximumLength = 6;
	assert_int_equal(RtlUnicodeStringCopyEx(&to, &from, NULL, STRSAFE_ZERO_LENGTH_ON_FAILURE),
			 WRONG); /* its length is over its maximum */
	to.Length = 0;
	assert_int_equal(RtlUnicodeStringCopyEx(&to, &from, NULL, STRSAFE_ZERO_LENGTH_ON_FAILURE),
			 FULL);
	assert_int_equal(to.Length, 0);
	assert_int_equal(RtlUnicodeStringCopy(&to, &odd), WRONG);
}

static void
counted_strings_are_formatted(void **state)
{
	UNICODE_STRING part = RTL_CONSTANT_STRING(L"Device");
	DECLARE_UNICODE_STRING_SIZE(to, 9);
	UNICODE_STRING rest, empty = {0};

	(void)state;
	assert_int_equal(RtlUnicodeStringPrintf(&to, L"\\%wZ%u", &part, 12), OK);
	assert_counted_equal(&to, L"\\Device12");
	assert_int_equal(RtlUnicodeStringPrintf(&to, L"\\%wZ%u", &part, 123), FULL);
	assert_counted_equal(&to, L"\\Device12");
	assert_int_equal(RtlUnicodeStringPrintfEx(&to, &rest, STRSAFE_FILL_BEHIND | 'z', L"%d", 5),
			 OK);
	assert_counted_equal(&to, L"5");
	assert_int_equal(rest.MaximumLength, 16);
	assert_int_equal(((char *)rest.Buffer)[15], 'z');
	assert_int_equal(RtlUnicodeStringPrintf(&empty, L"x"), FULL);
	assert_int_equal(RtlUnicodeStringPrintf(&empty, L""), OK);
}

static void
a_counted_string_is_made_of_a_text(void **state)
{
	static WCHAR text[32769];
	UNICODE_STRING s;

	(void)state;
	assert_int_equal(RtlUnicodeStringInit(&s, L"abc"), OK);
	assert_int_equal(s.Length, 6);
	assert_int_equal(s.MaximumLength, 8);
	wmemset(text, L'a', 32767);
	assert_int_equal(RtlUnicodeStringInit(&s, text), OK);
	assert_int_equal(s.Length, 65534);
	assert_int_equal(s.MaximumLength, 65534);
	text[32767] = L'a';
	assert_int_equal(RtlUnicodeStringInit(&s, text), WRONG);
	assert_int_equal(RtlUnicodeStringInit(&s, NULL), OK);
	assert_null(s.Buffer);
	assert_int_equal(RtlUnicodeStringInitEx(&s, NULL, STRSAFE_IGNORE_NULLS), OK);
	assert_int_equal(s.Buffer[0], 0);
	assert_int_equal(RtlUnicodeStringValidate(&s), OK);
	assert_int_equal(RtlUnicodeStringValidate(NULL), WRONG);
	assert_int_equal(RtlUnicodeStringValidateEx(NULL, STRSAFE_IGNORE_NULLS), OK);
}

static void
a_text_is_made_of_a_counted_string(void **state)
{
	WCHAR buffer[] = L"abcd", to[8], *end;
	UNICODE_STRING from = {6, 6, buffer}, none = {0, 0, NULL}, odd = {3, 6, buffer};
	size_t left;

	(void)state;
	assert_int_equal(RtlStringCbCopyUnicodeString(to, sizeof(to), &from), STATUS_SUCCESS);
	assert_wide_equal(to, L"abc");
	assert_int_equal(RtlStringCchCopyUnicodeString(to, 3, &from), STATUS_BUFFER_OVERFLOW);
	assert_wide_equal(to, L"ab");
	assert_int_equal(RtlStringCchCopyUnicodeString(to, 8, &none), STATUS_SUCCESS);
	assert_wide_equal(to, L"");
	assert_int_equal(RtlStringCchCopyUnicodeString(to, 8, &odd), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlStringCchCopyUnicodeString(to, 8, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlStringCchCopyUnicodeString(to, 0, &from), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlStringCbCopyUnicodeStringEx(to, sizeof(to), &from, &end, &left, 0),
			 STATUS_SUCCESS);
	assert_ptr_equal(end, to + 3);
	assert_int_equal(left, 5 * sizeof(WCHAR));
	assert_int_equal(
		RtlStringCchCopyUnicodeStringEx(to, 3, &from, NULL, NULL, STRSAFE_NULL_ON_FAILURE),
		STATUS_BUFFER_OVERFLOW);
	assert_wide_equal(to, L"");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_truncated_and_ended),
		cmocka_unit_test(texts_are_appended_to_what_is_there),
		cmocka_unit_test(an_odd_number_of_bytes_is_one_character_less),
		cmocka_unit_test(flags_say_what_is_left_of_a_failure),
		cmocka_unit_test(no_buffer_is_one_without_room_if_nulls_are_ignored),
		cmocka_unit_test(lengths_are_bounded),
		cmocka_unit_test(formats_are_truncated_and_ended),
		cmocka_unit_test(counted_strings_use_all_of_their_buffer),
		cmocka_unit_test(counted_strings_are_formatted),
		cmocka_unit_test(a_counted_string_is_made_of_a_text),
		cmocka_unit_test(a_text_is_made_of_a_counted_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
