/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events with handles and names, callback objects, and routines by name. Start with
 * an_event_is_set_by_its_handle().
 */
#include "io_rig.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static LARGE_INTEGER at_once = {.QuadPart = 0};

static OBJECT_ATTRIBUTES
named(UNICODE_STRING *text, PCWSTR name, ULONG attributes)
{
	OBJECT_ATTRIBUTES out;

	RtlInitUnicodeString(text, name);
	InitializeObjectAttributes(&out, text, attributes, NULL, NULL);
	return out;
}

/* ---- events ---- */

static void
an_event_is_set_by_its_handle(void **state)
{
	HANDLE handle;
	LONG before = 7;
	PVOID event;

	(void)state;
	assert_int_equal(
		ZwCreateEvent(&handle, EVENT_ALL_ACCESS, NULL, SynchronizationEvent, FALSE),
		STATUS_SUCCESS);
	assert_int_equal(ZwWaitForSingleObject(handle, FALSE, &at_once), STATUS_TIMEOUT);
	assert_int_equal(ZwSetEvent(handle, &before), STATUS_SUCCESS);
	assert_int_equal(before, 0);
	assert_int_equal(ZwSetEvent(handle, &before), STATUS_SUCCESS);
	assert_int_equal(before, 1);
	assert_int_equal(ZwWaitForSingleObject(handle, FALSE, &at_once), STATUS_SUCCESS);
	assert_int_equal(ZwWaitForSingleObject(handle, FALSE, &at_once), STATUS_TIMEOUT);
	assert_int_equal(ObReferenceObjectByHandle(handle, EVENT_MODIFY_STATE, *ExEventObjectType,
						   KernelMode, &event, NULL),
			 STATUS_SUCCESS);
	KeSetEvent(event, 0, FALSE);
	assert_int_equal(ZwResetEvent(handle, &before), STATUS_SUCCESS);
	assert_int_equal(before, 1);
	KeSetEvent(event, 0, FALSE);
	assert_int_equal(ZwClearEvent(handle), STATUS_SUCCESS);
	assert_int_equal(KeReadStateEvent(event), 0);
	ObDereferenceObject(event);
	assert_int_equal(ZwClose(handle), STATUS_SUCCESS);
	assert_int_equal(ZwSetEvent(handle, NULL), STATUS_INVALID_HANDLE);
}

static void
a_named_event_is_one_for_all_who_open_it(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES same = named(&text, L"\\BaseNamedObjects\\One", OBJ_OPENIF);
	HANDLE first, second, third;
	LONG before;

	(void)state;
	assert_int_equal(ZwCreateEvent(&first, EVENT_ALL_ACCESS, &same, NotificationEvent, FALSE),
			 STATUS_SUCCESS);
	assert_int_equal(ZwCreateEvent(&second, EVENT_ALL_ACCESS, &same, NotificationEvent, TRUE),
			 STATUS_OBJECT_NAME_EXISTS);
	same.Attributes = 0;
	assert_int_equal(ZwCreateEvent(&third, EVENT_ALL_ACCESS, &same, NotificationEvent, TRUE),
			 STATUS_OBJECT_NAME_COLLISION);
	assert_int_equal(ZwSetEvent(second, &before), STATUS_SUCCESS);
	assert_int_equal(before, 0);
	assert_int_equal(ZwWaitForSingleObject(first, FALSE, &at_once), STATUS_SUCCESS);
	same = named(&text, L"\\BASENAMEDOBJECTS\\one", OBJ_CASE_INSENSITIVE);
	assert_int_equal(ZwOpenEvent(&third, EVENT_ALL_ACCESS, &same), STATUS_SUCCESS);
	assert_int_equal(ZwClose(third), STATUS_SUCCESS);
	same.Attributes = 0;
	assert_int_equal(ZwOpenEvent(&third, EVENT_ALL_ACCESS, &same),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	/* its name goes with it */
	assert_int_equal(ZwClose(first), STATUS_SUCCESS);
	assert_int_equal(ZwClose(second), STATUS_SUCCESS);
	same = named(&text, L"\\BaseNamedObjects\\One", 0);
	assert_int_equal(ZwOpenEvent(&third, EVENT_ALL_ACCESS, &same),
			 STATUS_OBJECT_NAME_NOT_FOUND);
}

static void
an_io_event_is_signalled_and_held_by_its_handle(void **state)
{
	UNICODE_STRING text;
	HANDLE first, second, single;
	PKEVENT event, same;

	(void)state;
	RtlInitUnicodeString(&text, L"\\KernelObjects\\Mine");
	event = IoCreateNotificationEvent(&text, &first);
	assert_non_null(event);
	assert_int_equal(KeReadStateEvent(event), 1);
	same = IoCreateNotificationEvent(&text, &second);
	assert_ptr_equal(same, event);
	RtlInitUnicodeString(&text, L"\\KernelObjects\\Single");
	event = IoCreateSynchronizationEvent(&text, &single);
	assert_non_null(event);
	assert_int_equal(ZwWaitForSingleObject(single, FALSE, &at_once), STATUS_SUCCESS);
	assert_int_equal(KeReadStateEvent(event), 0);
	RtlInitUnicodeString(&text, L"no path");
	assert_null(IoCreateNotificationEvent(&text, &single));
	assert_int_equal(plx_ke_left().handles, 3);
	assert_int_equal(ZwClose(first), STATUS_SUCCESS);
	assert_int_equal(ZwClose(second), STATUS_SUCCESS);
	assert_int_equal(ZwClose(single), STATUS_SUCCESS);
}

static void
wrong_events_are_refused(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES bad = named(&text, L"\\Folder\\", 0);
	HANDLE handle, key;

	(void)state;
	assert_int_equal(ZwCreateEvent(&handle, 0, &bad, NotificationEvent, FALSE),
			 STATUS_OBJECT_NAME_INVALID);
	bad = named(&text, L"Name", 0);
	assert_int_equal(ZwCreateEvent(&handle, 0, &bad, NotificationEvent, FALSE),
			 STATUS_OBJECT_PATH_SYNTAX_BAD);
	assert_int_equal(ZwCreateEvent(&handle, 0, NULL, (EVENT_TYPE)2, FALSE),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(ZwOpenEvent(&handle, 0, NULL), STATUS_INVALID_PARAMETER);
	bad.Length = 1;
	assert_int_equal(ZwCreateEvent(&handle, 0, &bad, NotificationEvent, FALSE),
			 STATUS_INVALID_PARAMETER);
	bad = named(&text, L"\\Registry\\Machine\\System", 0);
	assert_int_equal(ZwCreateKey(&key, KEY_READ, &bad, 0, NULL, REG_OPTION_VOLATILE, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(ZwSetEvent(key, NULL), STATUS_OBJECT_TYPE_MISMATCH);
	assert_int_equal(ZwWaitForSingleObject(key, FALSE, &at_once), STATUS_OBJECT_TYPE_MISMATCH);
	bad = named(&text, L"\\Name", 0);
	bad.RootDirectory = key;
	assert_int_equal(ZwCreateEvent(&handle, 0, &bad, NotificationEvent, FALSE),
			 STATUS_OBJECT_TYPE_MISMATCH);
	assert_int_equal(ZwClose(key), STATUS_SUCCESS);
	assert_int_equal(plx_ke_left().handles, 0);
}

/* ---- callback objects ---- */

static struct {
	PVOID context, argument1, argument2;
} calls[8];
static unsigned int n_calls;

static CALLBACK_FUNCTION record, wait_inside;

static VOID
record(PVOID context, PVOID argument1, PVOID argument2)
{
	calls[n_calls].context = context;
	calls[n_calls].argument1 = argument1;
	calls[n_calls++].argument2 = argument2;
}

static void
a_notification_calls_all_in_their_order(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES name = named(&text, L"\\Callback\\Many", OBJ_CASE_INSENSITIVE);
	PVOID first, second, third;
	PCALLBACK_OBJECT object, same;
	int a, b, c;

	(void)state;
	n_calls = 0;
	assert_int_equal(ExCreateCallback(&object, &name, FALSE, TRUE),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, TRUE), STATUS_SUCCESS);
	assert_int_equal(ExCreateCallback(&same, &name, FALSE, FALSE), STATUS_SUCCESS);
	assert_ptr_equal(same, object);
	first = ExRegisterCallback(object, record, &a);
	second = ExRegisterCallback(object, record, &b);
	third = ExRegisterCallback(object, record, &c);
	assert_true(first != NULL && second != NULL && third != NULL);
	ExUnregisterCallback(second);
	ExNotifyCallback(object, &a, &b);
	assert_int_equal(n_calls, 2);
	assert_ptr_equal(calls[0].context, &a);
	assert_ptr_equal(calls[1].context, &c);
	assert_ptr_equal(calls[1].argument1, &a);
	assert_ptr_equal(calls[1].argument2, &b);
	ObDereferenceObject(same);
	ObDereferenceObject(object);
	/* registrations hold it */
	ExNotifyCallback(object, NULL, NULL);
	assert_int_equal(n_calls, 4);
	ExUnregisterCallback(first);
	ExUnregisterCallback(third);
	assert_int_equal(ExCreateCallback(&object, &name, FALSE, TRUE),
			 STATUS_OBJECT_NAME_NOT_FOUND);
}

static void
a_callback_object_for_one_takes_one(void **state)
{
	UNICODE_STRING text, none = {0, 0, NULL};
	OBJECT_ATTRIBUTES name = named(&text, L"\\Callback\\Single", 0);
	PCALLBACK_OBJECT object;
	HANDLE event;
	PVOID only;

	(void)state;
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, FALSE), STATUS_SUCCESS);
	only = ExRegisterCallback(object, record, NULL);
	assert_non_null(only);
	assert_null(ExRegisterCallback(object, record, NULL));
	assert_int_equal(ZwOpenEvent(&event, 0, &name), STATUS_OBJECT_TYPE_MISMATCH);
	ExUnregisterCallback(only);
	ObDereferenceObject(object);
	name.ObjectName = &none;
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, FALSE), STATUS_UNSUCCESSFUL);
}

static void
a_permanent_object_stays_until_it_is_temporary(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES name = named(&text, L"\\Callback\\Lasting", OBJ_PERMANENT);
	PCALLBACK_OBJECT object;
	HANDLE handle;

	(void)state;
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, FALSE), STATUS_SUCCESS);
	ObDereferenceObject(object);
	assert_int_equal(ExCreateCallback(&object, &name, FALSE, FALSE), STATUS_SUCCESS);
	assert_int_equal(ObOpenObjectByPointer(object, 0, NULL, 0, NULL, KernelMode, &handle),
			 STATUS_SUCCESS);
	assert_int_equal(ZwMakeTemporaryObject(handle), STATUS_SUCCESS);
	assert_int_equal(ZwMakeTemporaryObject(handle), STATUS_SUCCESS);
	assert_int_equal(ZwClose(handle), STATUS_SUCCESS);
	ObDereferenceObject(object);
	assert_int_equal(ExCreateCallback(&object, &name, FALSE, FALSE),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(ZwMakeTemporaryObject(handle), STATUS_INVALID_HANDLE);
}

/* A call that lasts until it is told to end. */
static struct {
	atomic_bool entered, may_end, has_ended;
} inside;

static VOID
wait_inside(PVOID context, PVOID argument1, PVOID argument2)
{
	(void)context, (void)argument1, (void)argument2;
	atomic_store(&inside.entered, true);
	while (!atomic_load(&inside.may_end))
		sched_yield();
	KeStallExecutionProcessor(1000);
	atomic_store(&inside.has_ended, true);
}

static void *
notify(void *object)
{
	ExNotifyCallback(object, NULL, NULL);
	return NULL;
}

static void
the_end_of_a_registration_waits_for_its_call(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES name = named(&text, L"\\Callback\\Busy", 0);
	PCALLBACK_OBJECT object;
	pthread_t thread;
	PVOID only;

	(void)state;
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, FALSE), STATUS_SUCCESS);
	only = ExRegisterCallback(object, wait_inside, NULL);
	assert_int_equal(pthread_create(&thread, NULL, notify, object), 0);
	while (!atomic_load(&inside.entered))
		sched_yield();
	atomic_store(&inside.may_end, true);
	ExUnregisterCallback(only);
	assert_true(atomic_load(&inside.has_ended));
	pthread_join(thread, NULL);
	ObDereferenceObject(object);
}

static void
what_is_left_is_named(void **state)
{
	UNICODE_STRING text;
	OBJECT_ATTRIBUTES name = named(&text, L"\\Callback\\Left", 0);
	struct plx_driver_report report = {.findings = 0};
	PCALLBACK_OBJECT object;
	struct left before;
	PVOID only;

	(void)state;
	left_begin(&before);
	assert_int_equal(ExCreateCallback(&object, &name, TRUE, FALSE), STATUS_SUCCESS);
	only = ExRegisterCallback(object, record, NULL);
	left_report(&before, &report);
	assert_int_equal(report.findings, 2);
	assert_string_equal(report.finding[0].kind, "callback object");
	assert_string_equal(report.finding[1].kind, "registered callback");
	assert_true(report.finding[1].runs);
	ExUnregisterCallback(only);
	ObDereferenceObject(object);
	report.findings = 0;
	left_report(&before, &report);
	assert_int_equal(report.findings, 0);
	free(before.tags);
}

/* ---- routines ---- */

static void
a_routine_is_found_by_its_name(void **state)
{
	UNICODE_STRING text;

	(void)state;
	RtlInitUnicodeString(&text, L"KeSetEvent");
	assert_ptr_equal(MmGetSystemRoutineAddress(&text), (PVOID)(ULONG_PTR)KeSetEvent);
	RtlInitUnicodeString(&text, L"keSetEvent");
	assert_null(MmGetSystemRoutineAddress(&text));
	RtlInitUnicodeString(&text, L"KeNoSuchRoutine");
	assert_null(MmGetSystemRoutineAddress(&text));
	RtlInitUnicodeString(&text, L"");
	assert_null(MmGetSystemRoutineAddress(&text));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_set_by_its_handle),
		cmocka_unit_test(a_named_event_is_one_for_all_who_open_it),
		cmocka_unit_test(an_io_event_is_signalled_and_held_by_its_handle),
		cmocka_unit_test(wrong_events_are_refused),
		cmocka_unit_test(a_notification_calls_all_in_their_order),
		cmocka_unit_test(a_callback_object_for_one_takes_one),
		cmocka_unit_test(a_permanent_object_stays_until_it_is_temporary),
		cmocka_unit_test(the_end_of_a_registration_waits_for_its_call),
		cmocka_unit_test(what_is_left_is_named),
		cmocka_unit_test(a_routine_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
