/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text: comparisons, messages, command lines.
 */
#include "bench.h"

#include <shellapi.h>
#include <stdio.h>
#include <unistd.h>
#include <winsock2.h>

static void
comparisons_know_case_and_null(void **state)
{
	(void)state;
	assert_int_equal(lstrlenW(L"abc"), 3);
	assert_int_equal(lstrlenW(NULL), 0);
	assert_int_equal(lstrlenA("\xc3\xa4"), 2);
	assert_int_equal(lstrcmpiW(L"ABC\xd6", L"abc\xf6"), 0);
	assert_int_equal(lstrcmpiW(L"abc", L"abd"), -1);
	assert_int_equal(lstrcmpiW(L"abcd", L"ABC"), 1);
	assert_int_equal(lstrcmpiW(NULL, L""), 0);
	assert_int_equal(lstrcmpiW(NULL, L"a"), -1);
	assert_true(lstrcmpW(L"ABC", L"abc") < 0);
	assert_int_equal(lstrcmpW(L"abc", L"abc"), 0);
	assert_int_equal(lstrcmpiA("\xc3\x96X", "\xc3\xb6x"), 0);
	assert_true(lstrcmpA("a", NULL) > 0);
}

static void
copies_give_their_destination(void **state)
{
	wchar_t wide[8];
	char text[8];

	(void)state;
	assert_ptr_equal(lstrcpyW(wide, L"ab"), wide);
	assert_ptr_equal(lstrcatW(wide, L"cd"), wide);
	assert_int_equal(lstrcmpW(wide, L"abcd"), 0);
	assert_ptr_equal(lstrcpynW(wide, L"abcdef", 4), wide);
	assert_int_equal(lstrcmpW(wide, L"abc"), 0);
	assert_null(lstrcpyW(wide, NULL));
	assert_null(lstrcpynW(wide, L"x", 0));
	assert_ptr_equal(lstrcpyA(text, "ab"), text);
	assert_ptr_equal(lstrcatA(text, "cd"), text);
	assert_string_equal(text, "abcd");
	assert_ptr_equal(lstrcpynA(text, "xyz", 2), text);
	assert_string_equal(text, "x");
}

/* ---- messages ---- */

static DWORD
from_list(DWORD flags, const wchar_t *definition, wchar_t *to, DWORD size, ...)
{
	va_list list;
	DWORD n;

	va_start(list, size);
	n = FormatMessageW(FORMAT_MESSAGE_FROM_STRING | flags, definition, 0, 0, to, size, &list);
	va_end(list);
	return n;
}

static DWORD
from_narrow_list(const char *definition, char *to, DWORD size, ...)
{
	va_list list;
	DWORD n;

	va_start(list, size);
	n = FormatMessageA(FORMAT_MESSAGE_FROM_STRING, definition, 0, 0, to, size, &list);
	va_end(list);
	return n;
}

static void
inserts_are_put_in_by_their_numbers(void **state)
{
	wchar_t to[128];
	char narrow[64];
	DWORD_PTR array[] = {(DWORD_PTR)L"one", 2, (DWORD_PTR) "three"};

	(void)state;
	assert_int_equal(from_list(0, L"%2 and %1: %3!04x!", to, 128, L"one", L"two", 0xab), 17);
	assert_true(wcscmp(to, L"two and one: 00ab") == 0);
	assert_int_equal(from_list(0, L"%1!*.*s!|%4!d!", to, 128, 5, 2, L"abc", -7), 8);
	assert_true(wcscmp(to, L"   ab|-7") == 0);
	assert_int_equal(from_list(0, L"%1!I64d! 100%%%!% .%n%tx%0never", to, 128, 1LL << 40), 25);
	assert_true(wcscmp(to, L"1099511627776 100%! .\r\n\tx") == 0);
	assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ARGUMENT_ARRAY,
					L"%1 %2!u! %3!S!", 0, 0, to, 128, (va_list *)array),
			 11);
	assert_true(wcscmp(to, L"one 2 three") == 0);
	assert_int_equal(from_list(FORMAT_MESSAGE_IGNORE_INSERTS, L"%1 %2!x!", to, 128), 8);
	assert_true(wcscmp(to, L"%1 %2!x!") == 0);
	assert_int_equal(
		from_narrow_list("%1, %2!S!, %3!hs!, %4!ws!", narrow, 64, "a", L"b", "c", L"d"),
		10);
	assert_string_equal(narrow, "a, b, c, d");
	assert_int_equal(from_narrow_list("\xc3\xa4%1", narrow, 64, "\xc3\xb6"), 4);
	assert_string_equal(narrow, "\xc3\xa4\xc3\xb6");
}

static void
lines_are_broken_where_they_are_told_to(void **state)
{
	wchar_t to[64];

	(void)state;
	assert_int_equal(from_list(0, L"a\r\nb\nc", to, 64), 7);
	assert_true(wcscmp(to, L"a\r\nb\r\nc") == 0);
	assert_int_equal(from_list(FORMAT_MESSAGE_MAX_WIDTH_MASK, L"a\r\nb\nc%nd", to, 64), 8);
	assert_true(wcscmp(to, L"a b c\r\nd") == 0);
	from_list(8, L"one two three four", to, 64);
	assert_true(wcscmp(to, L"one two\r\nthree\r\nfour") == 0);
}

static void
a_wrong_definition_or_a_small_buffer_is_refused(void **state)
{
	const struct {
		const wchar_t *definition;
		DWORD error;
	} wrong[] = {
		{L"%", ERROR_INVALID_PARAMETER},     {L"%1!d", ERROR_INVALID_PARAMETER},
		{L"%1!f!", ERROR_INVALID_PARAMETER}, {L"%1!n!", ERROR_INVALID_PARAMETER},
		{L"%1!!", ERROR_INVALID_PARAMETER},  {L"1234567", ERROR_INSUFFICIENT_BUFFER},
	};
	wchar_t to[7];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		SetLastError(0);
		assert_int_equal(from_list(0, wrong[i].definition, to, 7, 1LL), 0);
		assert_int_equal(GetLastError(), wrong[i].error);
	}
	assert_int_equal(from_list(0, L"123456", to, 7), 6);
	assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_STRING, L"%1", 0, 0, to, 7, NULL), 0);
	assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_STRING, NULL, 0, 0, to, 7, NULL), 0);
	assert_int_equal(FormatMessageW(0, NULL, 5, 0, to, 7, NULL), 0);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_HMODULE, NULL, 5, 0, to, 7, NULL), 0);
	assert_int_equal(GetLastError(), ERROR_RESOURCE_TYPE_NOT_FOUND);
}

static void
errors_have_a_text_in_english(void **state)
{
	const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
	wchar_t to[128], *made = NULL;
	char narrow[128], *narrow_made = NULL;
	DWORD n;

	(void)state;
	n = FormatMessageW(flags, NULL, ERROR_INVALID_HANDLE,
			   MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT), to, 128, NULL);
	assert_int_equal(n, wcslen(to));
	assert_true(wcscmp(to, L"The handle is invalid.\r\n") == 0);
	assert_true(FormatMessageW(flags | FORMAT_MESSAGE_MAX_WIDTH_MASK, NULL, (DWORD)E_HANDLE,
				   MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), to, 128, NULL));
	assert_true(wcscmp(to, L"The handle is invalid. ") == 0);
	assert_true(FormatMessageA(flags, NULL, WSAECONNREFUSED, 0, narrow, 128, NULL));
	assert_non_null(strstr(narrow, "connection was refused"));
	assert_true(FormatMessageA(flags, NULL, (DWORD)E_NOINTERFACE, 0, narrow, 128, NULL));
	assert_int_equal(FormatMessageW(flags, NULL, 54321, 0, to, 128, NULL), 0);
	assert_int_equal(GetLastError(), ERROR_MR_MID_NOT_FOUND);
	assert_int_equal(
		FormatMessageW(flags, NULL, 5, MAKELANGID(7, SUBLANG_DEFAULT), to, 128, NULL), 0);
	assert_int_equal(GetLastError(), ERROR_RESOURCE_LANG_NOT_FOUND);
	n = FormatMessageW(flags | FORMAT_MESSAGE_ALLOCATE_BUFFER, NULL, ERROR_TIMEOUT, 0,
			   (LPWSTR)(void *)&made, 100, NULL);
	assert_true(n && n == wcslen(made));
	assert_int_equal(LocalSize(made), 100 * sizeof(wchar_t));
	assert_null(LocalFree(made));
	n = FormatMessageA(flags | FORMAT_MESSAGE_ALLOCATE_BUFFER, NULL, ERROR_TIMEOUT, 0,
			   (LPSTR)(void *)&narrow_made, 0, NULL);
	assert_int_equal(LocalSize(narrow_made), n + 1);
	assert_null(LocalFree(narrow_made));
}

/* ---- command lines ---- */

static void
a_command_line_is_taken_apart_as_on_windows(void **state)
{
	static const struct {
		const wchar_t *line;
		const wchar_t *arguments[5];
	} rows[] = {
		{L"p a b", {L"p", L"a", L"b"}},
		{L"\"p q\" a", {L"p q", L"a"}},
		{L"p\\q\\ a", {L"p\\q\\", L"a"}},
		{L"p \"a b\" c", {L"p", L"a b", L"c"}},
		{L"p a\\\"b", {L"p", L"a\"b"}},
		{L"p \"a\\\\\" b", {L"p", L"a\\", L"b"}},
		{L"p a\\\\\\\"b", {L"p", L"a\\\"b"}},
		{L"p a\\\\b", {L"p", L"a\\\\b"}},
		{L"p \"a\"\"b\"", {L"p", L"a\"b"}},
		{L"p \"\" x", {L"p", L"", L"x"}},
		{L"p\t a  ", {L"p", L"a"}},
		{L" a", {L"", L"a"}},
		{L"\"p", {L"p"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int count = -1, wanted = 0;
		LPWSTR *list = CommandLineToArgvW(rows[i].line, &count);

		assert_non_null(list);
		while (rows[i].arguments[wanted])
			wanted++;
		assert_int_equal(count, wanted);
		for (int n = 0; n < count; n++)
			assert_int_equal(lstrcmpW(list[n], rows[i].arguments[n]), 0);
		assert_null(list[count]);
		assert_null(LocalFree(list));
	}
}

static void
an_empty_line_is_the_path_of_the_program(void **state)
{
	int count = 0;
	LPWSTR *list = CommandLineToArgvW(L"", &count);

	(void)state;
	assert_non_null(list);
	assert_int_equal(count, 1);
	assert_true(list[0][0] == L'/' && wcsstr(list[0], L"crt_text"));
	assert_null(LocalFree(list));
	assert_null(CommandLineToArgvW(NULL, &count));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(CommandLineToArgvW(L"x", NULL));
}

/* What main() was given, when it was started with this for its first argument. */
static const char *const odd[] = {"--odd", "a b",      "",   "c\"d",    "e\\",
				  "f \\",  "g\\\\\"h", "\t", "\xc3\xa4"};
enum {
	ODD = sizeof(odd) / sizeof(odd[0])
};

/* Returns: 0: the line gives back the arguments */
static int
looks_at_its_own_line(void)
{
	int count = 0;
	LPWSTR *list = CommandLineToArgvW(GetCommandLineW(), &count);

	if (!list || count != ODD + 1)
		return 1;
	for (int i = 0; i < ODD; i++) {
		char narrow[32];

		snprintf(narrow, sizeof(narrow), "%ls", L"");
		for (size_t n = 0; list[i + 1][n]; n++)
			narrow[n] = list[i + 1][n] == 0xe4 ? (char)0xc3 : (char)list[i + 1][n],
			narrow[n + 1] = '\0';
		if (list[i + 1][0] == 0xe4 ? odd[i][0] != (char)0xc3 : strcmp(narrow, odd[i]) != 0)
			return 2 + i;
	}
	LocalFree(list);
	return GetCommandLineW() == GetCommandLineW() && strstr(GetCommandLineA(), "--odd") ? 0
											    : 99;
}

static void
the_own_line_gives_back_the_arguments_of_main(void **state)
{
	char line[1024] = "exec /proc/$PPID/exe";

	(void)state;
	for (int i = 0; i < ODD; i++) {
		strcat(line, " '");
		strcat(line, odd[i]);
		strcat(line, "'");
	}
	assert_int_equal(system(line), 0);
}

int
main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons_know_case_and_null),
		cmocka_unit_test(copies_give_their_destination),
		cmocka_unit_test(inserts_are_put_in_by_their_numbers),
		cmocka_unit_test(lines_are_broken_where_they_are_told_to),
		cmocka_unit_test(a_wrong_definition_or_a_small_buffer_is_refused),
		cmocka_unit_test(errors_have_a_text_in_english),
		cmocka_unit_test(a_command_line_is_taken_apart_as_on_windows),
		cmocka_unit_test(an_empty_line_is_the_path_of_the_program),
		cmocka_unit_test(the_own_line_gives_back_the_arguments_of_main),
	};

	if (count > 1 && strcmp(arguments[1], "--odd") == 0)
		return looks_at_its_own_line();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
