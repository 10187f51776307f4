/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statuses: numbers, names, classes, Win32 errors; dates and versions. Start with
 * numbers_are_those_of_windows().
 */
#include "wide.h"

#include "plx_rtl.h"

static void
numbers_are_those_of_windows(void **state)
{
	static const struct {
		NTSTATUS status;
		ULONG number;
		const char *name;
		ULONG error;
	} rows[] = {
		{STATUS_SUCCESS, 0, "STATUS_SUCCESS", 0},
		{STATUS_PENDING, 0x103, "STATUS_PENDING", 997},
		{STATUS_SOME_NOT_MAPPED, 0x107, "STATUS_SOME_NOT_MAPPED", 317},
		{STATUS_OBJECT_NAME_EXISTS, 0x40000000, "STATUS_OBJECT_NAME_EXISTS", 317},
		{STATUS_BUFFER_OVERFLOW, 0x80000005, "STATUS_BUFFER_OVERFLOW", 234},
		{STATUS_NO_MORE_FILES, 0x80000006, "STATUS_NO_MORE_FILES", 18},
		{STATUS_UNSUCCESSFUL, 0xc0000001, "STATUS_UNSUCCESSFUL", 31},
		{STATUS_INVALID_PARAMETER, 0xc000000d, "STATUS_INVALID_PARAMETER", 87},
		{STATUS_NO_SUCH_DEVICE, 0xc000000e, "STATUS_NO_SUCH_DEVICE", 2},
		{STATUS_END_OF_FILE, 0xc0000011, "STATUS_END_OF_FILE", 38},
		{STATUS_MORE_PROCESSING_REQUIRED, 0xc0000016, "STATUS_MORE_PROCESSING_REQUIRED",
		 234},
		{STATUS_ACCESS_DENIED, 0xc0000022, "STATUS_ACCESS_DENIED", 5},
		{STATUS_OBJECT_NAME_NOT_FOUND, 0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND", 2},
		{STATUS_INTEGER_OVERFLOW, 0xc0000095, "STATUS_INTEGER_OVERFLOW", 534},
		{STATUS_INSUFFICIENT_RESOURCES, 0xc000009a, "STATUS_INSUFFICIENT_RESOURCES", 1450},
		{STATUS_BAD_NETWORK_PATH, 0xc00000be, "STATUS_BAD_NETWORK_PATH", 53},
		{STATUS_NETWORK_NAME_DELETED, 0xc00000c9, "STATUS_NETWORK_NAME_DELETED", 64},
		{STATUS_NAME_TOO_LONG, 0xc0000106, "STATUS_NAME_TOO_LONG", 206},
		{STATUS_CANCELLED, 0xc0000120, "STATUS_CANCELLED", 995},
		{STATUS_IO_DEVICE_ERROR, 0xc0000185, "STATUS_IO_DEVICE_ERROR", 1117},
		{STATUS_CONNECTION_RESET, 0xc000020d, "STATUS_CONNECTION_RESET", 64},
		{STATUS_NOT_FOUND, 0xc0000225, "STATUS_NOT_FOUND", 1168},
		{STATUS_CONNECTION_REFUSED, 0xc0000236, "STATUS_CONNECTION_REFUSED", 1225},
		{STATUS_NETWORK_SESSION_EXPIRED, 0xc000035c, "STATUS_NETWORK_SESSION_EXPIRED", 317},
		{STATUS_DEVICE_INSUFFICIENT_RESOURCES, 0xc0000468,
		 "STATUS_DEVICE_INSUFFICIENT_RESOURCES", 317},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal((ULONG)rows[i].status, rows[i].number);
		assert_string_equal(plx_rtl_status_name(rows[i].status), rows[i].name);
		assert_int_equal(RtlNtStatusToDosError(rows[i].status), rows[i].error);
		assert_int_equal(RtlNtStatusToDosErrorNoTeb(rows[i].status), rows[i].error);
	}
	assert_string_equal(plx_rtl_status_name((int32_t)0xc0de0000), "an unknown status");
}

/* The same file that the names are made of, as rows of numbers and names. */
static const struct {
	ULONG number;
	const char *name;
} all[] = {
#include <status_names.inc>
};

static void
a_number_has_one_name_but_for_waits(void **state)
{
	static const char *const doubles[] = {"STATUS_WAIT_0", "STATUS_ABANDONED_WAIT_0"};
	size_t found = 0;

	(void)state;
	assert_true(COUNT_OF(all) > 400);
	for (size_t i = 1; i < COUNT_OF(all); i++) {
		assert_true(all[i].number >= all[i - 1].number);
		if (all[i].number > all[i - 1].number)
			continue;
		assert_true(found < COUNT_OF(doubles));
		assert_string_equal(all[i].name, doubles[found++]);
	}
	assert_int_equal(found, COUNT_OF(doubles));
}

static void
the_two_high_bits_are_the_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		ULONG class = all[i].number >> 30;

		assert_int_equal(NT_SUCCESS(all[i].number), class < 2);
		assert_int_equal(NT_INFORMATION(all[i].number), class == 1);
		assert_int_equal(NT_WARNING(all[i].number), class == 2);
		assert_int_equal(NT_ERROR(all[i].number), class == 3);
	}
}

/* ---- dates ---- */

#define UNITS_DAY 864000000000ll

static void
a_date_is_a_time_and_back(void **state)
{
	static const struct {
		LONGLONG time;
		TIME_FIELDS fields;
	} rows[] = {
		{0, {1601, 1, 1, 0, 0, 0, 0, 1}},
		{116444736000000000, {1970, 1, 1, 0, 0, 0, 0, 4}},
		{125911584000000000 + 31 * UNITS_DAY + 28 * UNITS_DAY - 10000,
		 {2000, 2, 28, 23, 59, 59, 999, 1}},
		{125911584000000000 + 59 * UNITS_DAY, {2000, 2, 29, 0, 0, 0, 0, 2}},
	};
	LARGE_INTEGER time;
	TIME_FIELDS fields;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		time.QuadPart = rows[i].time;
		RtlTimeToTimeFields(&time, &fields);
		assert_memory_equal(&fields, &rows[i].fields, sizeof(fields));
		time.QuadPart = -1;
		assert_true(RtlTimeFieldsToTime(&fields, &time));
		assert_true(time.QuadPart == rows[i].time);
	}
	for (LONGLONG day = 0; day < 200000; day++) {
		LARGE_INTEGER back;

		time.QuadPart = day * UNITS_DAY + 1234 * 10000;
		RtlTimeToTimeFields(&time, &fields);
		assert_true(RtlTimeFieldsToTime(&fields, &back) && back.QuadPart == time.QuadPart);
	}
}

static void
a_date_that_is_none_is_refused(void **state)
{
	TIME_FIELDS bad[] = {
		{1600, 12, 31, 0, 0, 0, 0, 0},  {2001, 2, 29, 0, 0, 0, 0, 0},
		{2001, 13, 1, 0, 0, 0, 0, 0},   {2001, 0, 1, 0, 0, 0, 0, 0},
		{2001, 1, 1, 24, 0, 0, 0, 0},   {2001, 1, 1, 0, 60, 0, 0, 0},
		{2001, 1, 1, 0, 0, 0, 1000, 0}, {1900, 2, 29, 0, 0, 0, 0, 0},
	};
	LARGE_INTEGER time;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(RtlTimeFieldsToTime(&bad[i], &time));
}

static void
seconds_are_counted_from_two_years(void **state)
{
	LARGE_INTEGER time = {.QuadPart = 0}, first;
	TIME_FIELDS fields;
	ULONG seconds = 7;

	(void)state;
	assert_false(RtlTimeToSecondsSince1970(&time, &seconds));
	assert_int_equal(seconds, 7);
	RtlSecondsSince1970ToTime(0, &first);
	RtlTimeToTimeFields(&first, &fields);
	assert_int_equal(fields.Year, 1970);
	assert_int_equal(fields.Month + fields.Day, 2);
	time.QuadPart = first.QuadPart - 1;
	assert_false(RtlTimeToSecondsSince1970(&time, &seconds));
	time.QuadPart = first.QuadPart + 19999999;
	assert_true(RtlTimeToSecondsSince1970(&time, &seconds));
	assert_int_equal(seconds, 1);
	RtlSecondsSince1970ToTime(UINT32_MAX, &time);
	assert_true(RtlTimeToSecondsSince1970(&time, &seconds));
	assert_int_equal(seconds, UINT32_MAX);
	time.QuadPart += 10000000;
	assert_false(RtlTimeToSecondsSince1970(&time, &seconds));
	RtlSecondsSince1980ToTime(59, &time);
	RtlTimeToTimeFields(&time, &fields);
	assert_int_equal(fields.Year, 1980);
	assert_int_equal(fields.Month + fields.Day, 2);
	assert_int_equal(fields.Second, 59);
	assert_true(RtlTimeToSecondsSince1980(&time, &seconds));
	assert_int_equal(seconds, 59);
}

static void
the_version_is_that_of_a_server(void **state)
{
	RTL_OSVERSIONINFOEXW version = {.dwOSVersionInfoSize = sizeof(version)};
	RTL_OSVERSIONINFOW wrong = {.dwOSVersionInfoSize = 7};

	(void)state;
	assert_int_equal(sizeof(RTL_OSVERSIONINFOW), 276);
	assert_int_equal(RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&version), STATUS_SUCCESS);
	assert_int_equal(version.dwMajorVersion, 10);
	assert_int_equal(version.wProductType, VER_NT_SERVER);
	assert_int_equal(RtlGetVersion(&wrong), STATUS_INVALID_PARAMETER);
	assert_true(RtlIsNtDdiVersionAvailable(NTDDI_WIN8));
	assert_false(RtlIsNtDdiVersionAvailable(0x0B000000));
}

static NTSTATUS
verify(ULONG types, UCHAR condition, RTL_OSVERSIONINFOEXW wanted)
{
	ULONGLONG conditions = 0;

	for (ULONG type = VER_MINORVERSION; type <= VER_PRODUCT_TYPE; type <<= 1)
		VER_SET_CONDITION(conditions, type, condition);
	wanted.dwOSVersionInfoSize = sizeof(wanted);
	return RtlVerifyVersionInfo(&wanted, types, conditions);
}

static void
a_version_is_compared_member_by_member(void **state)
{
	const RTL_OSVERSIONINFOEXW same = {.dwMajorVersion = 10, .dwBuildNumber = 20348};
	const RTL_OSVERSIONINFOEXW old = {.dwMajorVersion = 6, .dwMinorVersion = 3};
	const RTL_OSVERSIONINFOEXW next = {.dwMajorVersion = 10, .dwMinorVersion = 1};
	const RTL_OSVERSIONINFOEXW kind = {.wProductType = VER_NT_SERVER, .dwPlatformId = 2};
	const RTL_OSVERSIONINFOEXW suite = {.wSuiteMask = 2};
	const ULONG both = VER_MAJORVERSION | VER_MINORVERSION;

	(void)state;
	assert_int_equal(verify(both | VER_BUILDNUMBER, VER_EQUAL, same), STATUS_SUCCESS);
	assert_int_equal(verify(both, VER_GREATER, same), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(both, VER_LESS_EQUAL, same), STATUS_SUCCESS);
	/* 10.0 is above 6.3, whatever the minor versions are */
	assert_int_equal(verify(both, VER_GREATER_EQUAL, old), STATUS_SUCCESS);
	assert_int_equal(verify(both, VER_GREATER, old), STATUS_SUCCESS);
	assert_int_equal(verify(both, VER_LESS, old), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(VER_MINORVERSION, VER_GREATER, old), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(both, VER_GREATER_EQUAL, next), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(both, VER_LESS, next), STATUS_SUCCESS);
	assert_int_equal(verify(both, VER_EQUAL, next), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(VER_BUILDNUMBER, VER_LESS, same), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(VER_PRODUCT_TYPE | VER_PLATFORMID, VER_EQUAL, kind),
			 STATUS_SUCCESS);
	assert_int_equal(verify(VER_SUITENAME, VER_AND, suite), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(VER_SUITENAME, VER_OR, suite), STATUS_REVISION_MISMATCH);
	assert_int_equal(verify(VER_SUITENAME, VER_AND, same), STATUS_SUCCESS);
}

static void
a_wrong_question_about_the_version_is_refused(void **state)
{
	RTL_OSVERSIONINFOEXW wanted = {.dwOSVersionInfoSize = sizeof(RTL_OSVERSIONINFOW)};

	(void)state;
	assert_int_equal(VerSetConditionMask(0, VER_MAJORVERSION, VER_GREATER_EQUAL), 3 << 3);
	assert_int_equal(VerSetConditionMask(5, VER_MAJORVERSION, 0), 5);
	assert_int_equal(RtlVerifyVersionInfo(&wanted, VER_MAJORVERSION, 3 << 3),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(verify(0, VER_EQUAL, wanted), STATUS_INVALID_PARAMETER);
	assert_int_equal(verify(0x100, VER_EQUAL, wanted), STATUS_INVALID_PARAMETER);
	assert_int_equal(verify(VER_MAJORVERSION, VER_AND, wanted), STATUS_INVALID_PARAMETER);
	assert_int_equal(verify(VER_SUITENAME, VER_EQUAL, wanted), STATUS_INVALID_PARAMETER);
	assert_int_equal(verify(VER_MAJORVERSION, 0, wanted), STATUS_INVALID_PARAMETER);
}

static void
the_parts_of_the_version_agree(void **state)
{
	UNICODE_STRING pack = {7, 7, NULL};
	ULONG major = 7, minor = 7, build = 7;

	(void)state;
	assert_false(PsGetVersion(&major, &minor, &build, &pack));
	assert_int_equal(major, 10);
	assert_int_equal(minor, 0);
	assert_int_equal(build, 20348);
	assert_int_equal(pack.Length, 0);
	assert_false(PsGetVersion(NULL, NULL, NULL, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_windows),
		cmocka_unit_test(a_number_has_one_name_but_for_waits),
		cmocka_unit_test(the_two_high_bits_are_the_class),
		cmocka_unit_test(a_date_is_a_time_and_back),
		cmocka_unit_test(a_date_that_is_none_is_refused),
		cmocka_unit_test(seconds_are_counted_from_two_years),
		cmocka_unit_test(the_version_is_that_of_a_server),
		cmocka_unit_test(a_version_is_compared_member_by_member),
		cmocka_unit_test(a_wrong_question_about_the_version_is_refused),
		cmocka_unit_test(the_parts_of_the_version_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
