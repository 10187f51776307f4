/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counted strings: lengths, truncation, comparing, case, conversion to and from UTF-8, GUIDs.
 * Start with a_counted_string_is_as_long_as_its_text().
 */
#include "wide.h"

_Static_assert(sizeof(UNICODE_STRING) == 16 && offsetof(UNICODE_STRING, Buffer) == 8, "layout");
_Static_assert(sizeof(WCHAR) == 2, "drivers are compiled with -fshort-wchar");

DECLARE_CONST_UNICODE_STRING(declared, L"declared");

static void
a_counted_string_is_as_long_as_its_text(void **state)
{
	static WCHAR text[33000];
	UNICODE_STRING s;
	ANSI_STRING a;

	(void)state;
	RtlInitUnicodeString(&s, L"abc");
	assert_int_equal(s.Length, 6);
	assert_int_equal(s.MaximumLength, 8);
	RtlInitUnicodeString(&s, NULL);
	assert_null(s.Buffer);
	assert_int_equal(s.Length + s.MaximumLength, 0);
	assert_counted_equal(&declared, L"declared");
	assert_int_equal(declared.MaximumLength, 18);
	wmemset(text, L'a', 32766);
	assert_int_equal(RtlInitUnicodeStringEx(&s, text), STATUS_SUCCESS);
	assert_int_equal(s.Length, 65532);
	text[32766] = L'a';
	assert_int_equal(RtlInitUnicodeStringEx(&s, text), STATUS_NAME_TOO_LONG);
	RtlInitUnicodeString(&s, text);
	assert_int_equal(s.Length, 65532);
	assert_int_equal(s.MaximumLength, 65534);
	RtlInitAnsiString(&a, "abc");
	assert_int_equal(a.Length, 3);
	assert_int_equal(a.MaximumLength, 4);
}

static void
a_copy_is_truncated_and_an_append_is_not_made(void **state)
{
	const UNICODE_STRING from = RTL_CONSTANT_STRING(L"abcd");
	WCHAR buffer[5] = L"xxxx";
	UNICODE_STRING to = {0, 6, buffer}, none = {0};

	(void)state;
	RtlCopyUnicodeString(&to, &from);
	assert_counted_equal(&to, L"abc");
	assert_int_equal(buffer[3], L'x');
	to.MaximumLength = 10;
	RtlCopyUnicodeString(&to, &from);
	assert_wide_equal(buffer, L"abcd");
	assert_int_equal(RtlAppendUnicodeToString(&to, L"ef"), STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(RtlAppendUnicodeToString(&to, L"e"), STATUS_SUCCESS);
	assert_counted_equal(&to, L"abcde");
	to.Length = 2;
	assert_int_equal(RtlAppendUnicodeStringToString(&to, &from), STATUS_SUCCESS);
	assert_counted_equal(&to, L"aabcd");
	assert_int_equal(RtlAppendUnicodeToString(&to, NULL), STATUS_SUCCESS);
	RtlCopyUnicodeString(&to, NULL);
	assert_int_equal(to.Length, 0);
	RtlCopyUnicodeString(&none, &from);
	assert_int_equal(none.Length, 0);
	assert_int_equal(RtlAppendUnicodeStringToString(&none, &from), STATUS_BUFFER_TOO_SMALL);
}

static void
strings_are_compared_by_characters(void **state)
{
	static const struct {
		UNICODE_STRING a, b;
		int exact, any_case; /* signs */
		BOOLEAN prefix, suffix;
	} rows[] = {
		{RTL_CONSTANT_STRING(L"abc"), RTL_CONSTANT_STRING(L"abc"), 0, 0, TRUE, TRUE},
		{RTL_CONSTANT_STRING(L"abc"), RTL_CONSTANT_STRING(L"ABC"), 1, 0, TRUE, TRUE},
		{RTL_CONSTANT_STRING(L"ab"), RTL_CONSTANT_STRING(L"abc"), -1, -1, TRUE, FALSE},
		{RTL_CONSTANT_STRING(L"bc"), RTL_CONSTANT_STRING(L"aBC"), 1, 1, FALSE, TRUE},
		{RTL_CONSTANT_STRING(L""), RTL_CONSTANT_STRING(L"a"), -1, -1, TRUE, TRUE},
		{RTL_CONSTANT_STRING(L"a\0b"), RTL_CONSTANT_STRING(L"a\0c"), -1, -1, FALSE, FALSE},
		{RTL_CONSTANT_STRING(L"\u00e4"), RTL_CONSTANT_STRING(L"\u00c4"), 1, 0, TRUE, TRUE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		LONG exact = RtlCompareUnicodeString(&rows[i].a, &rows[i].b, FALSE);
		LONG any = RtlCompareUnicodeString(&rows[i].a, &rows[i].b, TRUE);

		assert_int_equal((exact > 0) - (exact < 0), rows[i].exact);
		assert_int_equal((any > 0) - (any < 0), rows[i].any_case);
		assert_int_equal(RtlEqualUnicodeString(&rows[i].a, &rows[i].b, TRUE), any == 0);
		assert_int_equal(RtlPrefixUnicodeString(&rows[i].a, &rows[i].b, TRUE),
				 rows[i].prefix);
		assert_int_equal(RtlSuffixUnicodeString(&rows[i].a, &rows[i].b, TRUE),
				 rows[i].suffix);
	}
}

static void
strings_of_bytes_know_the_case_of_ascii(void **state)
{
	const STRING a = RTL_CONSTANT_STRING("aBc\xe4"), b = RTL_CONSTANT_STRING("AbC\xe4");
	char buffer[3];
	STRING to = {0, sizeof(buffer), buffer};

	(void)state;
	assert_true(RtlEqualString(&a, &b, TRUE));
	assert_false(RtlEqualString(&a, &b, FALSE));
	assert_true(RtlCompareString(&a, &b, FALSE) > 0);
	RtlUpperString(&to, &a);
	assert_int_equal(to.Length, 3);
	assert_memory_equal(buffer, "ABC", 3);
}

static void
no_letter_becomes_one_of_ascii(void **state)
{
	UNICODE_STRING from = RTL_CONSTANT_STRING(L"a\u00df\u0131\u00ff"), to;
	WCHAR small[2];
	UNICODE_STRING little = {0, sizeof(small), small};

	(void)state;
	assert_int_equal(RtlUpcaseUnicodeString(&to, &from, TRUE), STATUS_SUCCESS);
	assert_counted_equal(&to, L"A\u00df\u0131\u0178");
	assert_int_equal(to.MaximumLength, 8);
	RtlFreeUnicodeString(&to);
	assert_null(to.Buffer);
	assert_int_equal(RtlUpcaseUnicodeString(&little, &from, FALSE), STATUS_BUFFER_OVERFLOW);
	assert_int_equal(RtlDowncaseUnicodeChar(0x212a), 0x212a); /* the sign of kelvin */
	assert_int_equal(RtlDowncaseUnicodeChar(0xc4), 0xe4);
	for (WCHAR c = 0x80; c != 0; c++)
		assert_true(RtlUpcaseUnicodeChar(c) >= 0x80 && RtlDowncaseUnicodeChar(c) >= 0x80);
}

static void
wide_text_is_converted_by_utf_8(void **state)
{
	const UNICODE_STRING wide = RTL_CONSTANT_STRING(L"a\u00e4\u20ac");
	ANSI_STRING ansi, little;
	UNICODE_STRING back;
	char buffer[4] = "zzz";

	(void)state;
	assert_int_equal(RtlUnicodeStringToAnsiSize(&wide), 7);
	assert_int_equal(RtlUnicodeStringToAnsiString(&ansi, &wide, TRUE), STATUS_SUCCESS);
	assert_int_equal(ansi.Length, 6);
	assert_string_equal(ansi.Buffer, "a\xc3\xa4\xe2\x82\xac");
	assert_int_equal(RtlAnsiStringToUnicodeSize(&ansi), 8);
	assert_int_equal(RtlAnsiStringToUnicodeString(&back, &ansi, TRUE), STATUS_SUCCESS);
	assert_true(RtlEqualUnicodeString(&wide, &back, FALSE));
	assert_int_equal(back.Buffer[3], 0);
	back.MaximumLength = 7;
	assert_int_equal(RtlAnsiStringToUnicodeString(&back, &ansi, FALSE), STATUS_BUFFER_OVERFLOW);
	RtlFreeUnicodeString(&back);
	/* what fits, without half a character */
	little = (ANSI_STRING){0, 3, buffer};
	assert_int_equal(RtlUnicodeStringToAnsiString(&little, &wide, FALSE),
			 STATUS_BUFFER_OVERFLOW);
	assert_string_equal(buffer, "a");
	little.MaximumLength = 0;
	assert_int_equal(RtlUnicodeStringToAnsiString(&little, &wide, FALSE),
			 STATUS_BUFFER_OVERFLOW);
	RtlFreeAnsiString(&ansi);
	assert_null(ansi.Buffer);
}

static void
what_is_not_valid_is_replaced_and_told(void **state)
{
	static const WCHAR lone[] = {'a', 0xd800, 'b'};
	char narrow[8];
	WCHAR wide[4];
	ULONG n = 0;

	(void)state;
	assert_int_equal(RtlUnicodeToUTF8N(narrow, 8, &n, lone, 6), STATUS_SOME_NOT_MAPPED);
	assert_int_equal(n, 5);
	assert_memory_equal(narrow, "a\xef\xbf\xbd\x62", 5);
	assert_int_equal(RtlUnicodeToUTF8N(narrow, 3, &n, lone, 6), STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(n, 1);
	assert_int_equal(RtlUnicodeToUTF8N(NULL, 0, &n, lone, 6), STATUS_SOME_NOT_MAPPED);
	assert_int_equal(n, 5);
	assert_int_equal(RtlUnicodeToUTF8N(narrow, 8, &n, lone, 5), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlUnicodeToUTF8N(narrow, 8, &n, NULL, 4), STATUS_INVALID_PARAMETER_4);
	assert_int_equal(RtlUTF8ToUnicodeN(wide, 8, &n, "\xc3", 1), STATUS_SOME_NOT_MAPPED);
	assert_int_equal(wide[0], 0xfffd);
	assert_int_equal(RtlUTF8ToUnicodeN(wide, 8, &n, "\xef\xbf\xbd", 3), STATUS_SUCCESS);
	assert_int_equal(RtlUTF8ToUnicodeN(wide, 2, &n, "\xf0\x9f\x98\x80", 4),
			 STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(n, 0);
}

static void
an_invalid_string_is_found(void **state)
{
	WCHAR text[4] = L"abc";
	const UNICODE_STRING bad[] = {
		{3, 8, text}, {4, 7, text}, {8, 6, text}, {0, 2, NULL}, {2, 2, NULL},
	};
	UNICODE_STRING good = {6, 8, text}, copy;
	ULONG hash;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(RtlValidateUnicodeString(0, &bad[i]), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlValidateUnicodeString(0, &good), STATUS_SUCCESS);
	assert_int_equal(RtlValidateUnicodeString(1, &good), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlDuplicateUnicodeString(1, &good, &copy), STATUS_SUCCESS);
	assert_wide_equal(copy.Buffer, L"abc");
	RtlFreeUnicodeString(&copy);
	assert_int_equal(RtlHashUnicodeString(&good, TRUE, HASH_STRING_ALGORITHM_X65599, &hash),
			 STATUS_SUCCESS);
	assert_int_equal(hash, (('A' * 65599u + 'B') * 65599u) + 'C');
	assert_int_equal(RtlHashUnicodeString(&good, TRUE, 2, &hash), STATUS_INVALID_PARAMETER);
}

static void
a_guid_is_a_text_and_back(void **state)
{
	const UNICODE_STRING text = RTL_CONSTANT_STRING(L"{00112233-4455-6677-8899-aAbBcCdDeEfF}");
	const UNICODE_STRING bad[] = {
		RTL_CONSTANT_STRING(L"00112233-4455-6677-8899-aabbccddeeff"),
		RTL_CONSTANT_STRING(L"{00112233-4455-6677-8899-aabbccddeef}"),
		RTL_CONSTANT_STRING(L"{00112233-4455-6677-8899-aabbccddeegf}"),
		RTL_CONSTANT_STRING(L"{00112233+4455-6677-8899-aabbccddeeff}"),
	};
	const UCHAR tail[] = {0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
	UNICODE_STRING back;
	GUID guid;

	(void)state;
	assert_int_equal(RtlGUIDFromString(&text, &guid), STATUS_SUCCESS);
	assert_int_equal(guid.Data1, 0x00112233);
	assert_int_equal(guid.Data2, 0x4455);
	assert_int_equal(guid.Data3, 0x6677);
	assert_memory_equal(guid.Data4, tail, 8);
	assert_int_equal(RtlStringFromGUID(&guid, &back), STATUS_SUCCESS);
	assert_counted_equal(&back, L"{00112233-4455-6677-8899-aabbccddeeff}");
	RtlFreeUnicodeString(&back);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(RtlGUIDFromString(&bad[i], &guid), STATUS_INVALID_PARAMETER);
}

static void
numbers_are_texts_and_back(void **state)
{
	static const struct {
		UNICODE_STRING text;
		const char *narrow;
		ULONG base, value;
	} rows[] = {
#define ROW(text, base, value) {RTL_CONSTANT_STRING(L##text), text, base, value}
		ROW("42", 10, 42),
		ROW("  -42", 0, (ULONG)-42),
		ROW("+0x1F", 0, 31),
		ROW("0b101", 0, 5),
		ROW("0o17", 0, 15),
		ROW("017", 0, 17),
		ROW("ffffffff", 16, MAXULONG),
		ROW("12z", 10, 12),
		ROW("zz", 10, 0),
		ROW("129", 8, 10),
		ROW("0x10", 16, 0),
	};
	UNICODE_STRING empty = RTL_CONSTANT_STRING(L"");
	DECLARE_UNICODE_STRING_SIZE(to, 4);
	ULONG value;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(RtlUnicodeStringToInteger(&rows[i].text, rows[i].base, &value),
				 STATUS_SUCCESS);
		assert_int_equal(value, rows[i].value);
		assert_int_equal(RtlCharToInteger(rows[i].narrow, rows[i].base, &value),
				 STATUS_SUCCESS);
		assert_int_equal(value, rows[i].value);
	}
	assert_int_equal(RtlCharToInteger("1", 7, &value), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlUnicodeStringToInteger(&empty, 10, &value), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlIntegerToUnicodeString(123, 0, &to), STATUS_SUCCESS);
	assert_counted_equal(&to, L"123");
	assert_int_equal(RtlIntegerToUnicodeString(0xabc, 16, &to), STATUS_SUCCESS);
	assert_counted_equal(&to, L"ABC");
	assert_int_equal(RtlIntegerToUnicodeString(1234, 10, &to), STATUS_BUFFER_OVERFLOW);
	assert_int_equal(RtlIntegerToUnicodeString(1, 3, &to), STATUS_INVALID_PARAMETER);
	assert_int_equal(RtlInt64ToUnicodeString(0, 2, &to), STATUS_SUCCESS);
	assert_counted_equal(&to, L"0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counted_string_is_as_long_as_its_text),
		cmocka_unit_test(a_copy_is_truncated_and_an_append_is_not_made),
		cmocka_unit_test(strings_are_compared_by_characters),
		cmocka_unit_test(strings_of_bytes_know_the_case_of_ascii),
		cmocka_unit_test(no_letter_becomes_one_of_ascii),
		cmocka_unit_test(wide_text_is_converted_by_utf_8),
		cmocka_unit_test(what_is_not_valid_is_replaced_and_told),
		cmocka_unit_test(an_invalid_string_is_found),
		cmocka_unit_test(a_guid_is_a_text_and_back),
		cmocka_unit_test(numbers_are_texts_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
