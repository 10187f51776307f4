/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of Microsoft's C library that know the size of what they write to, and local memory.
 */
#include "bench.h"

#include <errno.h>

static void
a_block_that_does_not_fit_is_not_copied(void **state)
{
	char to[4] = "abc";
	wchar_t wide[3] = L"ab";

	(void)state;
	assert_int_equal(memcpy_s(to, sizeof(to), "xy", 3), 0);
	assert_string_equal(to, "xy");
	assert_int_equal(memcpy_s(NULL, 0, NULL, 0), 0);
	assert_int_equal(memcpy_s(NULL, 4, "xy", 1), EINVAL);
	memset(to, 1, sizeof(to));
	assert_int_equal(memcpy_s(to, 3, "xyzw", 4), ERANGE);
	assert_memory_equal(to, "\0\0\0\1", 4);
	memset(to, 1, sizeof(to));
	assert_int_equal(memcpy_s(to, 3, NULL, 1), EINVAL);
	assert_memory_equal(to, "\0\0\0\1", 4);
	memcpy(to, "abc", 4);
	assert_int_equal(memmove_s(to + 1, 3, to, 3), 0);
	assert_memory_equal(to, "aabc", 4);
	assert_int_equal(memmove_s(to, 3, "xyzw", 4), ERANGE);
	assert_memory_equal(to, "aabc", 4);
	assert_int_equal(memmove_s(to, 4, NULL, 1), EINVAL);
	assert_int_equal(wmemcpy_s(wide, 3, L"xy", 3), 0);
	assert_true(wcscmp(wide, L"xy") == 0);
	assert_int_equal(wmemcpy_s(wide, 1, L"xy", 2), ERANGE);
	assert_true(wide[0] == 0 && wide[1] == L'y');
	assert_int_equal(wmemmove_s(wide, 3, L"xyzw", 4), ERANGE);
	assert_int_equal(wmemmove_s(wide + 1, 2, wide, 1), 0);
}

static void
an_append_takes_as_much_as_it_is_told(void **state)
{
	char text[8] = "ab";
	wchar_t wide[4] = L"a";

	(void)state;
	assert_int_equal(strncat_s(text, sizeof(text), "cdef", 2), 0);
	assert_string_equal(text, "abcd");
	assert_int_equal(strncat_s(text, sizeof(text), "ef", 100), 0);
	assert_string_equal(text, "abcdef");
	assert_int_equal(strncat_s(text, sizeof(text), "gh", 0), 0);
	assert_int_equal(strncat_s(text, sizeof(text), "ghij", _TRUNCATE), STRUNCATE);
	assert_string_equal(text, "abcdefg");
	assert_int_equal(strncat_s(text, sizeof(text), "h", 1), ERANGE);
	assert_string_equal(text, "");
	memset(text, 'x', sizeof(text));
	assert_int_equal(strncat_s(text, sizeof(text), "h", 1), EINVAL);
	assert_int_equal(text[0], 0);
	assert_int_equal(strncat_s(text, sizeof(text), NULL, 1), EINVAL);
	assert_int_equal(strncat_s(NULL, 1, "x", 1), EINVAL);
	assert_int_equal(strncat_s(NULL, 0, NULL, 0), 0);
	assert_int_equal(wcsncat_s(wide, 4, L"bcd", 2), 0);
	assert_true(wcscmp(wide, L"abc") == 0);
	assert_int_equal(wcsncat_s(wide, 4, L"d", 1), ERANGE);
	assert_int_equal(wide[0], 0);
	assert_int_equal(strncpy_s(text, 4, "abcdef", _TRUNCATE), STRUNCATE);
	assert_string_equal(text, "abc");
	assert_int_equal(strncpy_s(text, 4, "abc", _TRUNCATE), 0);
}

static void
a_length_has_a_bound_and_case_is_changed_in_place(void **state)
{
	char text[] = "aBc";
	wchar_t wide[] = L"aBc";

	(void)state;
	assert_int_equal(strnlen_s(NULL, 7), 0);
	assert_int_equal(strnlen_s("abc", 2), 2);
	assert_int_equal(wcsnlen_s(L"abc", 9), 3);
	assert_int_equal(_strupr_s(text, sizeof(text)), 0);
	assert_string_equal(text, "ABC");
	assert_int_equal(_strlwr_s(text, sizeof(text)), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(_strlwr_s(text, 3), EINVAL);
	assert_int_equal(text[0], 0);
	assert_int_equal(_wcsupr_s(wide, 4), 0);
	assert_true(wcscmp(wide, L"ABC") == 0);
	assert_int_equal(_wcslwr_s(NULL, 4), EINVAL);
}

static void
what_the_environment_has_is_copied_or_not_at_all(void **state)
{
	size_t need = 99;
	char to[4], *value = NULL;
	struct tm tm;
	time_t zero = 0;

	(void)state;
	assert_int_equal(setenv("PLX_SECURE", "abc", 1), 0);
	assert_int_equal(getenv_s(&need, NULL, 0, "PLX_SECURE"), 0);
	assert_int_equal(need, 4);
	assert_int_equal(getenv_s(&need, to, sizeof(to), "PLX_SECURE"), 0);
	assert_string_equal(to, "abc");
	assert_int_equal(getenv_s(&need, to, 3, "PLX_SECURE"), ERANGE);
	assert_int_equal(getenv_s(&need, to, 4, "PLX_NOT_THERE"), 0);
	assert_int_equal(need, 0);
	assert_int_equal(getenv_s(NULL, to, 4, "PLX_SECURE"), EINVAL);
	assert_int_equal(_dupenv_s(&value, &need, "PLX_SECURE"), 0);
	assert_string_equal(value, "abc");
	assert_int_equal(need, 4);
	free(value);
	assert_int_equal(_dupenv_s(&value, NULL, "PLX_NOT_THERE"), 0);
	assert_null(value);
	assert_int_equal(strerror_s(to, sizeof(to), ENOENT), 0);
	assert_int_equal(strlen(to), 3);
	assert_int_equal(gmtime_s(&tm, &zero), 0);
	assert_int_equal(tm.tm_year, 70);
	assert_int_equal(localtime_s(NULL, &zero), EINVAL);
}

static void
local_memory_is_the_process_heaps(void **state)
{
	unsigned char *memory = LocalAlloc(LPTR, 100);
	char foreign[64] = {0};

	(void)state;
	assert_non_null(memory);
	for (int i = 0; i < 100; i++)
		assert_int_equal(memory[i], 0);
	assert_int_equal(LocalSize(memory), 100);
	assert_int_equal(HeapSize(GetProcessHeap(), 0, memory), 100);
	assert_ptr_equal(LocalLock(memory), memory);
	SetLastError(1);
	assert_false(LocalUnlock(memory));
	assert_int_equal(GetLastError(), NO_ERROR);
	memory[99] = 7;
	memory = LocalReAlloc(memory, 200, LMEM_ZEROINIT | LMEM_MOVEABLE);
	assert_non_null(memory);
	assert_true(memory[99] == 7 && memory[100] == 0 && memory[199] == 0);
	assert_null(LocalFree(memory));
	assert_null(LocalFree(NULL));
	assert_null(LocalAlloc(0x8000, 1));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(LocalAlloc(LMEM_FIXED, SIZE_MAX));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_ptr_equal(LocalFree(foreign + 32), foreign + 32);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_int_equal(LocalSize(foreign + 32), 0);
	memory = GlobalAlloc(GHND, 8);
	assert_non_null(memory);
	assert_null(GlobalFree(memory));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_does_not_fit_is_not_copied),
		cmocka_unit_test(an_append_takes_as_much_as_it_is_told),
		cmocka_unit_test(a_length_has_a_bound_and_case_is_changed_in_place),
		cmocka_unit_test(what_the_environment_has_is_copied_or_not_at_all),
		cmocka_unit_test(local_memory_is_the_process_heaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
