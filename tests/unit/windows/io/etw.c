/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Providers of events without a listener. Start with an_event_is_written_to_nobody().
 */
#include "io_rig.h"

#include <evntprov.h>

static const GUID id = {0x504c5549, 1, 2, {3}};
static const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 2};

static VOID
never(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
      PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source, (void)code, (void)level, (void)any, (void)all, (void)filter, (void)context;
	fail_msg("no session enables it");
}

static void
an_event_is_written_to_nobody(void **state)
{
	EVENT_DATA_DESCRIPTOR data;
	REGHANDLE handle = 0, other = 0;

	(void)state;
	EventDataDescCreate(&data, &event, sizeof(event));
	assert_int_equal(data.Size, 16);
	assert_int_equal(EtwRegister(&id, never, NULL, &handle), STATUS_SUCCESS);
	assert_int_equal(EtwRegister(&id, NULL, NULL, &other), STATUS_SUCCESS);
	assert_true(handle != 0 && other != 0 && handle != other);
	assert_false(EtwProviderEnabled(handle, 2, 1));
	assert_false(EtwEventEnabled(handle, &event));
	assert_int_equal(EtwWrite(handle, &event, NULL, 1, &data), STATUS_SUCCESS);
	assert_int_equal(EtwWriteTransfer(handle, &event, &id, &id, 0, NULL), STATUS_SUCCESS);
	assert_int_equal(EtwWrite(handle, &event, NULL, MAX_EVENT_DATA_DESCRIPTORS + 1, &data),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(EtwUnregister(handle), STATUS_SUCCESS);
	assert_int_equal(EtwUnregister(handle), STATUS_INVALID_HANDLE);
	assert_int_equal(EtwWrite(handle, &event, NULL, 0, NULL), STATUS_INVALID_HANDLE);
	assert_int_equal(EtwWrite(other, &event, NULL, 0, NULL), STATUS_SUCCESS);
	assert_int_equal(EtwUnregister(other), STATUS_SUCCESS);
}

static void
a_wrong_registration_is_refused(void **state)
{
	REGHANDLE handle = 7;

	(void)state;
	assert_int_equal(EtwRegister(NULL, never, NULL, &handle), STATUS_INVALID_PARAMETER);
	assert_int_equal(EtwRegister(&id, never, NULL, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(handle, 7);
	assert_int_equal(EtwUnregister(0), STATUS_INVALID_HANDLE);
}

static void
a_registration_that_is_left_is_named(void **state)
{
	struct plx_driver_report report = {.findings = 0};
	struct left before;
	REGHANDLE handle;

	(void)state;
	left_begin(&before);
	assert_int_equal(EtwRegister(&id, NULL, NULL, &handle), STATUS_SUCCESS);
	left_report(&before, &report);
	assert_int_equal(report.findings, 1);
	assert_string_equal(report.finding[0].kind, "ETW registration");
	assert_int_equal(report.finding[0].count, 1);
	assert_int_equal(EtwUnregister(handle), STATUS_SUCCESS);
	report.findings = 0;
	left_report(&before, &report);
	assert_int_equal(report.findings, 0);
	free(before.tags);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_written_to_nobody),
		cmocka_unit_test(a_wrong_registration_is_refused),
		cmocka_unit_test(a_registration_that_is_left_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
