/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LoadLibrary and its kin on the loader of this system, and the environment in paths.
 */
#include "scene.h"

#include <plx_catalog.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 8,
	ROUNDS = 200,
};

static void
widen(const char *text, WCHAR *out)
{
	while ((*out++ = (WCHAR)*text++) != 0)
		;
}

static void
a_library_stays_until_it_was_freed_as_often_as_loaded(void **state)
{
	WCHAR wide[512];
	HMODULE a, b;

	(void)state;
	widen(scene_library("second"), wide);
	a = LoadLibraryA(scene_library("second"));
	b = LoadLibraryW(wide);
	assert_non_null(a);
	assert_ptr_equal(a, b);
	assert_string_equal(plx_library_error(), "");
	assert_int_equal(FreeLibrary(a), TRUE);
	assert_true(scene_is_loaded("second"));
	assert_int_equal(FreeLibrary(b), TRUE);
	assert_false(scene_is_loaded("second"));
	SetLastError(0);
	assert_int_equal(FreeLibrary(b), FALSE);
	assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
	assert_int_equal(FreeLibrary(NULL), FALSE);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
}

static void
expect_failure(const char *path, DWORD error)
{
	SetLastError(0);
	assert_null(LoadLibraryA(path));
	assert_int_equal(GetLastError(), error);
	assert_string_not_equal(plx_library_error(), "");
}

static void
each_failure_has_its_error(void **state)
{
	char path[256];

	(void)state;
	expect_failure("/nowhere/libx.so", ERROR_MOD_NOT_FOUND);
	assert_non_null(strstr(plx_library_error(), "/nowhere/libx.so"));
	expect_failure("libthat-nobody-has.so", ERROR_MOD_NOT_FOUND);
	scene_write("text.so", "this is no library, however long it is, and the loader sees that");
	snprintf(path, sizeof(path), "%s/text.so", scene_folder());
	expect_failure(path, ERROR_BAD_EXE_FORMAT);
	expect_failure(scene_folder(), ERROR_ACCESS_DENIED);
	expect_failure("", ERROR_INVALID_PARAMETER);
	assert_null(LoadLibraryW(NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(LoadLibraryExA(scene_library("second"), (HANDLE)&path, 0));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(LoadLibraryExA(scene_library("second"), NULL, LOAD_LIBRARY_AS_DATAFILE));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(scene_is_loaded("second"));
}

static void
flags_of_the_search_are_taken(void **state)
{
	HMODULE library =
		LoadLibraryExA(scene_library("second"), NULL, LOAD_WITH_ALTERED_SEARCH_PATH);

	(void)state;
	assert_non_null(library);
	FreeLibrary(library);
	library = LoadLibraryExA(scene_library("second"), NULL, DONT_RESOLVE_DLL_REFERENCES);
	assert_non_null(library);
	FreeLibrary(library);
}

static void
only_a_librarys_own_names_are_found(void **state)
{
	HMODULE second = LoadLibraryA(scene_library("second"));
	HMODULE mute = LoadLibraryA(scene_library("mute"));

	(void)state;
	assert_non_null(GetProcAddress(second, "DllGetClassObject"));
	assert_non_null(GetProcAddress(second, "DllCanUnloadNow"));
	SetLastError(0);
	assert_null(GetProcAddress(mute, "DllCanUnloadNow"));
	assert_int_equal(GetLastError(), ERROR_PROC_NOT_FOUND);
	/* it depends on libc, and does not export its names */
	assert_null(GetProcAddress(second, "malloc"));
	assert_int_equal(GetLastError(), ERROR_PROC_NOT_FOUND);
	/* an ordinal */
	assert_null(GetProcAddress(second, (LPCSTR)1));
	assert_int_equal(GetLastError(), ERROR_PROC_NOT_FOUND);
	assert_null(GetProcAddress(NULL, "x"));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_null(GetProcAddress((HMODULE)(void *)&second, "x"));
	assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
	FreeLibrary(mute);
	FreeLibrary(second);
}

static void
a_module_handle_does_not_count(void **state)
{
	HMODULE library = LoadLibraryA(scene_library("second"));

	(void)state;
	assert_ptr_equal(GetModuleHandleA(scene_library("second")), library);
	assert_int_equal(FreeLibrary(library), TRUE);
	assert_false(scene_is_loaded("second"));
	SetLastError(0);
	assert_null(GetModuleHandleA(scene_library("second")));
	assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
	assert_non_null(GetModuleHandleW(NULL));
	/* nobody has loaded it by LoadLibrary, so nobody frees it */
	assert_int_equal(FreeLibrary(GetModuleHandleW(NULL)), FALSE);
}

static void
expect_expansion(const char *from, const char *expected)
{
	WCHAR wide[256], out[256];
	char narrow[256];
	DWORD need = (DWORD)strlen(expected) + 1;

	widen(from, wide);
	memset(narrow, 'x', sizeof(narrow));
	assert_int_equal(ExpandEnvironmentStringsA(from, NULL, 0), need);
	assert_int_equal(ExpandEnvironmentStringsW(wide, NULL, 0), need);
	assert_int_equal(ExpandEnvironmentStringsA(from, narrow, need - 1), need);
	assert_int_equal(narrow[0], 'x');
	out[0] = L'x';
	assert_int_equal(ExpandEnvironmentStringsW(wide, out, need - 1), need);
	assert_int_equal(out[0], L'x');
	assert_int_equal(ExpandEnvironmentStringsA(from, narrow, need), need);
	assert_string_equal(narrow, expected);
	assert_int_equal(ExpandEnvironmentStringsW(wide, out, need), need);
	for (DWORD i = 0; i < need; i++)
		assert_int_equal(out[i], (WCHAR)expected[i]);
}

static void
names_between_percents_become_their_values(void **state)
{
	(void)state;
	setenv("SCENE_A", "one", 1);
	setenv("SCENE_EMPTY", "", 1);
	unsetenv("SCENE_NOT");
	expect_expansion("%SCENE_A%/x", "one/x");
	expect_expansion("a%SCENE_A%%SCENE_A%b", "aoneoneb");
	expect_expansion("<%SCENE_EMPTY%>", "<>");
	expect_expansion("%SCENE_NOT%/x", "%SCENE_NOT%/x");
	expect_expansion("50% of %SCENE_A%", "50% of one");
	expect_expansion("%%", "%%");
	expect_expansion("%", "%");
	expect_expansion("", "");
	SetLastError(0);
	assert_int_equal(ExpandEnvironmentStringsW(NULL, NULL, 0), 0);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static void
wide_values_keep_their_characters(void **state)
{
	WCHAR out[32];

	(void)state;
	setenv("SCENE_A", "\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e", 1);
	assert_int_equal(ExpandEnvironmentStringsW(L"\u00e4%SCENE_A%", out, 32), 5);
	assert_int_equal(wcscmp(out, L"\u00e4\u00e4\u20ac\U0001d11e"), 0);
	/* what is no UTF-8 is shown as such */
	setenv("SCENE_A", "\xff\xc3", 1);
	assert_int_equal(ExpandEnvironmentStringsW(L"%SCENE_A%", out, 32), 3);
	assert_int_equal(wcscmp(out, L"\ufffd\ufffd"), 0);
}

static void *
load_and_free(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		HMODULE library = LoadLibraryA(argument);

		if (!library || !GetProcAddress(library, "DllGetClassObject") ||
		    !FreeLibrary(library))
			return argument;
	}
	return NULL;
}

static void
threads_load_and_free_at_once(void **state)
{
	pthread_t threads[THREADS];
	char path[512];
	void *failed;

	(void)state;
	snprintf(path, sizeof(path), "%s", scene_library("second"));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, load_and_free, path), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_false(scene_is_loaded("second"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_library_stays_until_it_was_freed_as_often_as_loaded),
		SCENE_TEST(each_failure_has_its_error),
		SCENE_TEST(flags_of_the_search_are_taken),
		SCENE_TEST(only_a_librarys_own_names_are_found),
		SCENE_TEST(a_module_handle_does_not_count),
		SCENE_TEST(names_between_percents_become_their_values),
		SCENE_TEST(wide_values_keep_their_characters),
		SCENE_TEST(threads_load_and_free_at_once),
	};

	return scene_run("library", tests, sizeof(tests) / sizeof(tests[0]));
}
