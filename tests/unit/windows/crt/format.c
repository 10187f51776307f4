/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats of Microsoft's printf and scanf against this system's, and what becomes of output that
 * cannot be had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <windows.h>

#include "format.h"

struct row {
	unsigned kind;
	const char *theirs, *ours;
};

static void
expect_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *got = format_translate(rows[i].theirs, rows[i].kind);

		assert_string_equal(got, rows[i].ours);
		free(got);
	}
}

static void
sizes_of_numbers_are_those_of_windows(void **state)
{
	const struct row rows[] = {
		{FORMAT_PRINT, "%d %u %x", "%d %u %x"},
		{FORMAT_PRINT, "%ld %lu %lX", "%d %u %X"},
		{FORMAT_PRINT, "%lld %hd %hhu", "%lld %hd %hhu"},
		{FORMAT_PRINT, "%I64d %I32u %Ix", "%lld %u %zx"},
		{FORMAT_PRINT, "%-09I64x|%+*.*ld", "%-09llx|%+*.*d"},
		{FORMAT_PRINT, "%zu %jd %td %wd", "%zu %jd %td %d"},
		{FORMAT_PRINT, "%lf %Lg %.3e %la", "%f %Lg %.3e %a"},
		{FORMAT_PRINT, "%p %Ip", "%p %p"},
		{FORMAT_SCAN, "%lf %Lf %f", "%lf %Lf %f"},
		{FORMAT_SCAN, "%ld %I64u %*5d %hx", "%d %llu %*5d %hx"},
		{FORMAT_SCAN, "%n %ln", "%n %n"},
	};

	(void)state;
	expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void
kinds_of_text_follow_size_and_format(void **state)
{
	const struct row rows[] = {
		{FORMAT_PRINT, "%s %S %c %C", "%s %ls %c %lc"},
		{FORMAT_PRINT, "%hs %hS %ls %ws %lc", "%s %s %ls %ls %lc"},
		{FORMAT_PRINT | FORMAT_WIDE, "%s %S %c %C", "%ls %s %lc %c"},
		{FORMAT_PRINT | FORMAT_WIDE, "%hs %hS %ls %lS %ws", "%s %s %ls %ls %ls"},
		{FORMAT_PRINT | FORMAT_WIDE, "%-10.4s|", "%-10.4ls|"},
		{FORMAT_SCAN, "%7s %[a-z] %l[^,]", "%7s %[a-z] %l[^,]"},
		{FORMAT_SCAN | FORMAT_WIDE, "%7s %[a-z] %h[^,] %S", "%7ls %l[a-z] %[^,] %s"},
		{FORMAT_SCAN, "%[]x] %[^]x]%d", "%[]x] %[^]x]%d"},
	};

	(void)state;
	expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void
what_is_no_conversion_is_text(void **state)
{
	const struct row rows[] = {
		{FORMAT_PRINT, "", ""},
		{FORMAT_PRINT, "100%", "100%%"},
		{FORMAT_PRINT, "%%d", "%%d"},
		{FORMAT_PRINT, "%%%d", "%%%d"},
		{FORMAT_PRINT, "%y %-5 %l %I64", "%%y %%-5 %%l %%I64"},
		{FORMAT_PRINT, "%n", "%%n"}, /* as Microsoft's, which writes to no memory */
		{FORMAT_PRINT, "%[a]", "%%[a]"},
		{FORMAT_SCAN, "%[abc", "%%[abc"},
		{FORMAT_SCAN, "%[]", "%%[]"},
		{FORMAT_SCAN, "%-5d", "%%-5d"},
	};

	(void)state;
	expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static int
printed(FILE *file, const char *format, ...)
{
	va_list args;
	int done;

	va_start(args, format);
	done = plx_win_vfprintf(file, format, args);
	va_end(args);
	return done;
}

static int
printed_wide(FILE *file, const wchar_t *format, ...)
{
	va_list args;
	int done;

	va_start(args, format);
	done = plx_win_vfwprintf(file, format, args);
	va_end(args);
	return done;
}

static int
held(wchar_t *to, size_t size, const wchar_t *format, ...)
{
	va_list args;
	int done;

	va_start(args, format);
	done = plx_win_vsnwprintf(to, size, format, args);
	va_end(args);
	return done;
}

static void
both_kinds_go_to_a_stream_of_either(void **state)
{
	for (int orientation = -1; orientation <= 1; orientation++) {
		const char *expected = &"wa \u00e9|\u4e2d z\n"[orientation <= 0];
		char text[64];
		FILE *file = tmpfile();
		size_t n;

		assert_non_null(file);
		fwide(file, orientation);
		if (orientation > 0) /* what was there first stays first */
			assert_int_equal(fputws(L"w", file), 1);
		assert_int_equal(printed(file, "%s %S|", "a", L"\u00e9"), 5);
		assert_int_equal(printed_wide(file, L"%s %c\n", L"\u4e2d", L'z'), 4);
		assert_int_equal(fflush(file), 0);
		n = (size_t)pread(fileno(file), text, sizeof(text), 0);
		assert_int_equal(n, strlen(expected));
		assert_memory_equal(text, expected, n);
		fclose(file);
	}
	(void)state;
}

static void
a_zero_is_a_character(void **state)
{
	FILE *file = tmpfile();
	char text[4];

	(void)state;
	assert_non_null(file);
	assert_int_equal(printed(file, "a%cb", 0), 3);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(pread(fileno(file), text, sizeof(text), 0), 3);
	assert_memory_equal(text, "a\0b", 3);
	fclose(file);
}

static void
output_that_cannot_be_had_is_an_error(void **state)
{
	FILE *file = fopen("/dev/null", "r");

	(void)state;
	assert_non_null(file);
	assert_int_equal(printed(file, "x"), -1);
	assert_int_equal(printed_wide(file, L"x"), -1);
	fclose(file);
}

static void
what_does_not_fit_is_cut_and_counted(void **state)
{
	wchar_t wide[4];

	(void)state;
	assert_int_equal(held(NULL, 0, L"%d", 12345), 5);
	assert_int_equal(held(wide, 4, L"%s", L"\u4e2d\u4e2d\u4e2d\u4e2d"), 4);
	assert_int_equal(wcscmp(wide, L"\u4e2d\u4e2d\u4e2d"), 0);
	assert_int_equal(held(wide, 4, L"ab"), 2);
	assert_int_equal(wcscmp(wide, L"ab"), 0);
}

static void
files_have_wide_names(void **state)
{
	char name[] = "/tmp/plx-\u00e9-XXXXXX";
	wchar_t *wide;
	int fd = mkstemp(name);
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	wide = format_widened(name);
	file = _wfopen(wide, L"w");
	assert_non_null(file);
	assert_int_equal(fputs("x", file), 1);
	file = _wfreopen(wide, L"r", file);
	assert_non_null(file);
	assert_int_equal(fgetc(file), 'x');
	fclose(file);
	unlink(name);
	errno = 0;
	assert_null(_wfopen(wide, L"r"));
	assert_int_equal(errno, ENOENT);
	free(wide);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_numbers_are_those_of_windows),
		cmocka_unit_test(kinds_of_text_follow_size_and_format),
		cmocka_unit_test(what_is_no_conversion_is_text),
		cmocka_unit_test(both_kinds_go_to_a_stream_of_either),
		cmocka_unit_test(a_zero_is_a_character),
		cmocka_unit_test(output_that_cannot_be_had_is_an_error),
		cmocka_unit_test(what_does_not_fit_is_cut_and_counted),
		cmocka_unit_test(files_have_wide_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
