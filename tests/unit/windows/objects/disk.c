/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of the system behind handles.
 */
#include "bench.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *
path_of(const char *name)
{
	static char path[2][128];
	static unsigned next;
	char *at = path[next++ % 2];

	snprintf(at, sizeof(path[0]), "%s/%s", folder, name);
	return at;
}

static HANDLE
opened(const char *name, DWORD access, DWORD creation)
{
	return CreateFileA(path_of(name), access, 0, NULL, creation, FILE_ATTRIBUTE_NORMAL, NULL);
}

static void
assert_refused(HANDLE handle, DWORD error)
{
	assert_ptr_equal(handle, INVALID_HANDLE_VALUE);
	assert_int_equal(GetLastError(), error);
}

static void
what_is_written_is_read_again(void **state)
{
	HANDLE file = opened("file", GENERIC_READ | GENERIC_WRITE, CREATE_NEW);
	LARGE_INTEGER at = {.QuadPart = 2}, now;
	OVERLAPPED overlapped = {.hEvent = NULL};
	char text[8] = "";
	DWORD done = 9;

	(void)state;
	assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
	assert_true(WriteFile(file, "abcdef", 6, &done, NULL) && done == 6);
	assert_true(GetFileSizeEx(file, &now) && now.QuadPart == 6);
	assert_true(SetFilePointerEx(file, at, &now, FILE_BEGIN) && now.QuadPart == 2);
	assert_true(ReadFile(file, text, 8, &done, NULL) && done == 4);
	assert_memory_equal(text, "cdef", 4);
	assert_true(ReadFile(file, text, 8, &done, NULL) && done == 0);
	overlapped.Offset = 1;
	assert_true(ReadFile(file, text, 2, &done, &overlapped) && done == 2);
	assert_memory_equal(text, "bc", 2);
	assert_int_equal(overlapped.InternalHigh, 2);
	overlapped.Offset = 6;
	assert_false(ReadFile(file, text, 2, &done, &overlapped));
	assert_int_equal(GetLastError(), ERROR_HANDLE_EOF);
	at.QuadPart = -1;
	assert_false(SetFilePointerEx(file, at, NULL, FILE_BEGIN));
	assert_int_equal(GetLastError(), ERROR_NEGATIVE_SEEK);
	assert_false(SetFilePointerEx(file, at, NULL, 3));
	at.QuadPart = 3;
	assert_true(SetFilePointerEx(file, at, NULL, FILE_BEGIN) && SetEndOfFile(file));
	assert_true(GetFileSizeEx(file, &now) && now.QuadPart == 3);
	assert_true(FlushFileBuffers(file));
	assert_int_equal(GetFileType(file), FILE_TYPE_DISK);
	assert_false(WriteFile(file, NULL, 1, &done, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(WriteFile(file, "x", 1, NULL, NULL));
	assert_true(CloseHandle(file));
	assert_false(ReadFile(file, text, 1, &done, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
}

static void
each_way_to_create_does_what_it_says(void **state)
{
	static const struct {
		DWORD creation;
		bool there;
		DWORD error; /* of the handle; NO_ERROR and ERROR_ALREADY_EXISTS: there is one */
		LONGLONG bytes;
	} rows[] = {
		{CREATE_NEW, false, NO_ERROR, 0},
		{CREATE_NEW, true, ERROR_FILE_EXISTS, 3},
		{CREATE_ALWAYS, false, NO_ERROR, 0},
		{CREATE_ALWAYS, true, ERROR_ALREADY_EXISTS, 0},
		{OPEN_EXISTING, false, ERROR_FILE_NOT_FOUND, 0},
		{OPEN_EXISTING, true, NO_ERROR, 3},
		{OPEN_ALWAYS, false, NO_ERROR, 0},
		{OPEN_ALWAYS, true, ERROR_ALREADY_EXISTS, 3},
		{TRUNCATE_EXISTING, false, ERROR_FILE_NOT_FOUND, 0},
		{TRUNCATE_EXISTING, true, NO_ERROR, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		LARGE_INTEGER bytes;
		HANDLE file;
		DWORD done;

		DeleteFileA(path_of("way"));
		if (rows[i].there) {
			file = opened("way", GENERIC_WRITE, CREATE_NEW);
			assert_true(WriteFile(file, "abc", 3, &done, NULL) && CloseHandle(file));
		}
		SetLastError(77);
		file = opened("way", GENERIC_READ | GENERIC_WRITE, rows[i].creation);
		assert_int_equal(GetLastError(), rows[i].error);
		if (rows[i].error && rows[i].error != ERROR_ALREADY_EXISTS) {
			assert_ptr_equal(file, INVALID_HANDLE_VALUE);
			continue;
		}
		assert_true(GetFileSizeEx(file, &bytes));
		assert_int_equal(bytes.QuadPart, rows[i].bytes);
		assert_true(CloseHandle(file));
	}
	assert_refused(opened("no/way", GENERIC_WRITE, CREATE_NEW), ERROR_PATH_NOT_FOUND);
	assert_refused(opened("way", GENERIC_READ, 6), ERROR_INVALID_PARAMETER);
	assert_refused(opened("way", GENERIC_READ, TRUNCATE_EXISTING), ERROR_INVALID_PARAMETER);
	assert_refused(CreateFileA(NULL, 0, 0, NULL, OPEN_EXISTING, 0, NULL), ERROR_PATH_NOT_FOUND);
	assert_refused(CreateFileA(path_of("way"), GENERIC_READ, 0, NULL, OPEN_EXISTING,
				   FILE_FLAG_OVERLAPPED, NULL),
		       ERROR_NOT_SUPPORTED);
	assert_refused(opened("", GENERIC_READ, OPEN_EXISTING), ERROR_ACCESS_DENIED);
}

static void
a_file_that_was_opened_to_be_read_is_not_written_to(void **state)
{
	HANDLE file = opened("way", GENERIC_READ, OPEN_ALWAYS);
	DWORD done = 9;

	(void)state;
	assert_false(WriteFile(file, "x", 1, &done, NULL));
	assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
	assert_int_equal(done, 0);
	assert_int_equal(WaitForSingleObject(file, 0), WAIT_FAILED);
	assert_true(CloseHandle(file));
}

static void
information_tells_one_file_from_another(void **state)
{
	HANDLE file = opened("first", GENERIC_WRITE, CREATE_NEW), same, other;
	BY_HANDLE_FILE_INFORMATION a, b, c;
	FILETIME now;
	DWORD done;

	(void)state;
	assert_true(WriteFile(file, "abc", 3, &done, NULL));
	assert_int_equal(link(path_of("first"), path_of("second")), 0);
	same = opened("second", 0, OPEN_EXISTING);
	other = opened("third", GENERIC_WRITE, CREATE_NEW);
	assert_true(GetFileInformationByHandle(file, &a) && GetFileInformationByHandle(same, &b) &&
		    GetFileInformationByHandle(other, &c));
	assert_true(a.nFileIndexLow == b.nFileIndexLow && a.nFileIndexHigh == b.nFileIndexHigh);
	assert_true(a.nFileIndexLow != c.nFileIndexLow || a.nFileIndexHigh != c.nFileIndexHigh);
	assert_int_equal(a.dwVolumeSerialNumber, c.dwVolumeSerialNumber);
	assert_true(a.nNumberOfLinks == 2 && c.nNumberOfLinks == 1);
	assert_true(a.nFileSizeLow == 3 && a.nFileSizeHigh == 0);
	assert_int_equal(a.dwFileAttributes, FILE_ATTRIBUTE_NORMAL);
	GetSystemTimeAsFileTime(&now);
	assert_true(now.dwHighDateTime - a.ftLastWriteTime.dwHighDateTime <= 1);
	assert_false(GetFileInformationByHandle(file, NULL));
	assert_true(CloseHandle(file) && CloseHandle(same) && CloseHandle(other));
	assert_false(GetFileInformationByHandle(file, &a));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
}

static void
attributes_say_what_a_path_leads_to(void **state)
{
	wchar_t wide[128];
	HANDLE file;

	(void)state;
	file = CreateFileA(path_of("fixed"), GENERIC_WRITE, 0, NULL, CREATE_NEW,
			   FILE_ATTRIBUTE_READONLY, NULL);
	assert_true(CloseHandle(file));
	assert_int_equal(GetFileAttributesA(path_of("fixed")), FILE_ATTRIBUTE_READONLY);
	assert_int_equal(GetFileAttributesA(folder), FILE_ATTRIBUTE_DIRECTORY);
	assert_int_equal(symlink(folder, path_of("link")), 0);
	assert_int_equal(GetFileAttributesA(path_of("link")),
			 FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT);
	swprintf(wide, 128, L"%hs/\xe4", folder);
	assert_int_equal(GetFileAttributesW(wide), INVALID_FILE_ATTRIBUTES);
	assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
	file = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
	assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
	assert_true(CloseHandle(file));
	assert_int_equal(GetFileAttributesW(wide), FILE_ATTRIBUTE_NORMAL);
	assert_int_equal(access(path_of("\xc3\xa4"), F_OK), 0);
	assert_true(DeleteFileW(wide));
	assert_false(DeleteFileW(wide));
	assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
	assert_int_equal(GetFileAttributesA(path_of("no/such")), INVALID_FILE_ATTRIBUTES);
	assert_int_equal(GetLastError(), ERROR_PATH_NOT_FOUND);
	file = CreateFileA(folder, GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
			   NULL);
	assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
	assert_true(CloseHandle(file));
}

static int
make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/plx-disk-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(each_way_to_create_does_what_it_says),
		cmocka_unit_test(a_file_that_was_opened_to_be_read_is_not_written_to),
		cmocka_unit_test(information_tells_one_file_from_another),
		cmocka_unit_test(attributes_say_what_a_path_leads_to),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
