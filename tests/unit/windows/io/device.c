/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Devices, their names, open files, work items and timers, within one process. Start with
 * a_device_is_found_by_its_names().
 */
#include "io_rig.h"

#include <pthread.h>

#include <stdlib.h>
#include <wdmsec.h>

_Static_assert(offsetof(DRIVER_OBJECT, DriverUnload) == 104, "as in Windows");
_Static_assert(offsetof(DRIVER_OBJECT, MajorFunction) == 112, "as in Windows");
_Static_assert(sizeof(DRIVER_OBJECT) == 336, "as in Windows");
_Static_assert(offsetof(DEVICE_OBJECT, DeviceExtension) == 64, "as in Windows");
_Static_assert(offsetof(DEVICE_OBJECT, StackSize) == 76, "as in Windows");
_Static_assert(offsetof(FILE_OBJECT, FsContext) == 24, "as in Windows");
_Static_assert(CTL_CODE(FILE_DEVICE_UNKNOWN, 0x800, METHOD_BUFFERED, FILE_ANY_ACCESS) == 0x222000,
	       "a control code");
_Static_assert(CTL_CODE(0x8001, 0x801, METHOD_NEITHER, FILE_WRITE_ACCESS) == 0x8001a007,
	       "another one");

/* ---- files ---- */

static char told[16]; /* a letter for each request */
static NTSTATUS create_status;
static WCHAR file_name[32];

static NTSTATUS
keep_files(PDEVICE_OBJECT device, PIRP irp)
{
	PIO_STACK_LOCATION at = IoGetCurrentIrpStackLocation(irp);
	PFILE_OBJECT file = at->FileObject;
	NTSTATUS status = STATUS_SUCCESS;

	(void)device;
	assert_non_null(file);
	switch (at->MajorFunction) {
	case IRP_MJ_CREATE:
		strcat(told, "c");
		status = create_status;
		file->FsContext = told;
		memcpy(file_name, file->FileName.Buffer, file->FileName.Length);
		break;
	case IRP_MJ_CLEANUP:
		strcat(told, "u");
		break;
	case IRP_MJ_CLOSE:
		strcat(told, "x");
		assert_ptr_equal(file->FsContext, told);
		break;
	default:
		break;
	}
	return rig_complete(irp, status, 0);
}

static void
a_device_is_found_by_its_names(void **state)
{
	static const PCWSTR names[] = {L"\\Device\\Rig", L"\\DEVICE\\rig", L"\\DosDevices\\Rigged",
				       L"\\??\\Rigged", L"\\DosDevices\\Global\\Rigged"};
	PDEVICE_OBJECT device;
	PFILE_OBJECT file;
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", keep_files);
	assert_int_equal(
		IoCreateSymbolicLink(TEXT_OF(L"\\DosDevices\\Rigged"), TEXT_OF(L"\\Device\\Rig")),
		STATUS_SUCCESS);
	create_status = STATUS_SUCCESS;
	for (size_t i = 0; i < ARRAYSIZE(names); i++) {
		UNICODE_STRING name;

		*told = '\0';
		RtlInitUnicodeString(&name, names[i]);
		assert_int_equal(IoGetDeviceObjectPointer(&name, FILE_READ_DATA, &file, &device),
				 STATUS_SUCCESS);
		assert_ptr_equal(device, rig.device);
		assert_int_equal(device->ReferenceCount, 1);
		/* the handle is closed, the file is not */
		assert_string_equal(told, "cu");
		ObDereferenceObject(file);
		assert_string_equal(told, "cux");
		assert_int_equal(rig.device->ReferenceCount, 0);
	}
	assert_int_equal(IoDeleteSymbolicLink(TEXT_OF(L"\\??\\RIGGED")), STATUS_SUCCESS);
	assert_int_equal(IoDeleteSymbolicLink(TEXT_OF(L"\\??\\RIGGED")),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\??\\Rigged"), FILE_READ_DATA, &file, &device),
		STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(file_count(), 0);
	rig_close(&rig);
}

static void
the_rest_of_a_name_is_the_files(void **state)
{
	PDEVICE_OBJECT device;
	PFILE_OBJECT file;
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", keep_files);
	memset(file_name, 0, sizeof(file_name));
	*told = '\0';
	assert_int_equal(IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\Rig\\a\\b"), FILE_READ_DATA,
						  &file, &device),
			 STATUS_SUCCESS);
	assert_memory_equal(file_name, L"\\a\\b", 5 * sizeof(WCHAR));
	ObDereferenceObject(file);
	/* a name that only begins alike is another one */
	assert_int_equal(IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\Rigs"), FILE_READ_DATA, &file,
						  &device),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	rig_close(&rig);
}

static void
a_refused_create_is_followed_by_nothing(void **state)
{
	PDEVICE_OBJECT device;
	PFILE_OBJECT file;
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", keep_files);
	create_status = STATUS_ACCESS_DENIED;
	*told = '\0';
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\Rig"), FILE_READ_DATA, &file, &device),
		STATUS_ACCESS_DENIED);
	create_status = STATUS_SUCCESS;
	assert_string_equal(told, "c");
	assert_int_equal(rig.device->ReferenceCount, 0);
	assert_int_equal(file_count(), 0);
	rig_close(&rig);
}

static void
a_deleted_device_lasts_until_its_file_is_closed(void **state)
{
	PDEVICE_OBJECT device;
	PFILE_OBJECT file;
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", keep_files);
	*told = '\0';
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\Rig"), FILE_READ_DATA, &file, &device),
		STATUS_SUCCESS);
	IoDeleteDevice(rig.device);
	rig.device = NULL;
	assert_null(rig.driver->DeviceObject);
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\Rig"), FILE_READ_DATA, &file, &device),
		STATUS_OBJECT_NAME_NOT_FOUND);
	/* its memory is there, and its driver still hears of the close */
	device->DeviceExtension = NULL;
	ObDereferenceObject(file);
	assert_string_equal(told, "cux");
	rig_close(&rig);
}

static void
an_exclusive_device_is_opened_once_and_an_unready_one_never(void **state)
{
	PDEVICE_OBJECT device, other = NULL;
	PFILE_OBJECT file, second;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, keep_files);
	*told = '\0';
	assert_int_equal(IoCreateDevice(rig.driver, 0, TEXT_OF(L"\\Device\\One"),
					FILE_DEVICE_UNKNOWN, 0, TRUE, &other),
			 STATUS_SUCCESS);
	assert_null(other->DeviceExtension);
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\One"), FILE_READ_DATA, &file, &device),
		STATUS_NO_SUCH_DEVICE);
	other->Flags &= ~(ULONG)DO_DEVICE_INITIALIZING;
	assert_int_equal(
		IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\One"), FILE_READ_DATA, &file, &device),
		STATUS_SUCCESS);
	assert_int_equal(IoGetDeviceObjectPointer(TEXT_OF(L"\\Device\\One"), FILE_READ_DATA,
						  &second, &device),
			 STATUS_ACCESS_DENIED);
	ObDereferenceObject(file);
	IoDeleteDevice(other);
	rig_close(&rig);
}

static void
a_name_is_given_once(void **state)
{
	PDEVICE_OBJECT other;
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", NULL);
	assert_int_equal(IoCreateDevice(rig.driver, 0, TEXT_OF(L"\\device\\RIG"),
					FILE_DEVICE_UNKNOWN, 0, FALSE, &other),
			 STATUS_OBJECT_NAME_COLLISION);
	assert_null(other);
	assert_ptr_equal(rig.driver->DeviceObject, rig.device);
	assert_null(rig.device->NextDevice);
	assert_int_equal(IoCreateSymbolicLink(TEXT_OF(L"no path"), TEXT_OF(L"\\Device\\Rig")),
			 STATUS_OBJECT_PATH_SYNTAX_BAD);
	assert_int_equal(IoCreateSymbolicLink(TEXT_OF(L"\\??\\"), TEXT_OF(L"\\Device\\Rig")),
			 STATUS_OBJECT_NAME_INVALID);
	/* a link may lead nowhere, and in a circle */
	assert_int_equal(IoCreateSymbolicLink(TEXT_OF(L"\\??\\A"), TEXT_OF(L"\\??\\B")),
			 STATUS_SUCCESS);
	assert_int_equal(IoCreateSymbolicLink(TEXT_OF(L"\\??\\B"), TEXT_OF(L"\\??\\A")),
			 STATUS_SUCCESS);
	assert_int_equal(IoCreateSymbolicLink(TEXT_OF(L"\\DosDevices\\a"), TEXT_OF(L"\\??\\A")),
			 STATUS_OBJECT_NAME_COLLISION);
	assert_int_equal(IoGetDeviceObjectPointer(TEXT_OF(L"\\??\\A"), FILE_READ_DATA,
						  &(PFILE_OBJECT){NULL}, &other),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	names_forget_links();
	assert_int_equal(IoDeleteSymbolicLink(TEXT_OF(L"\\??\\A")), STATUS_OBJECT_NAME_NOT_FOUND);
	rig_close(&rig);
}

static void
a_secure_device_has_a_name_and_a_descriptor(void **state)
{
	PDEVICE_OBJECT device;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, NULL);
	assert_int_equal(IoCreateDeviceSecure(rig.driver, 8, NULL, FILE_DEVICE_UNKNOWN, 0, FALSE,
					      &SDDL_DEVOBJ_SYS_ALL, NULL, &device),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(IoCreateDeviceSecure(rig.driver, 8, TEXT_OF(L"\\Device\\Safe"),
					      FILE_DEVICE_UNKNOWN, 0, FALSE, TEXT_OF(L"everybody"),
					      NULL, &device),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(IoCreateDeviceSecure(rig.driver, 8, NULL, FILE_DEVICE_UNKNOWN,
					      FILE_AUTOGENERATED_DEVICE_NAME, FALSE,
					      &SDDL_DEVOBJ_SYS_ALL_ADM_ALL, NULL, &device),
			 STATUS_SUCCESS);
	assert_true(device->Flags & DO_DEVICE_HAS_NAME);
	IoDeleteDevice(device);
	rig_close(&rig);
}

static void
an_extension_of_a_driver_is_found_by_its_id(void **state)
{
	static char mine, other;
	PVOID memory, again;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, NULL);
	assert_int_equal(IoAllocateDriverObjectExtension(rig.driver, &mine, 24, &memory),
			 STATUS_SUCCESS);
	assert_int_equal(IoAllocateDriverObjectExtension(rig.driver, &mine, 24, &again),
			 STATUS_OBJECT_NAME_COLLISION);
	assert_ptr_equal(IoGetDriverObjectExtension(rig.driver, &mine), memory);
	assert_null(IoGetDriverObjectExtension(rig.driver, &other));
	rig_close(&rig);
}

static void
a_shutdown_is_told_to_who_registered(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, L"\\Device\\Rig", NULL);
	assert_int_equal(IoRegisterShutdownNotification(rig.device), STATUS_SUCCESS);
	assert_int_equal(IoRegisterShutdownNotification(rig.device), STATUS_SUCCESS);
	devices_shut_down();
	assert_int_equal(rig.device->Flags & DO_SHUTDOWN_REGISTERED, 0);
	rig_close(&rig);
	assert_int_equal(irp_count(), 0);
}

/* ---- work items and timers ---- */

struct work {
	KEVENT begun, may_end, ended;
	PIO_WORKITEM item;
	PVOID object;
	KIRQL irql;
};

static VOID
work(PVOID object, PVOID context, PIO_WORKITEM item)
{
	struct work *w = context;

	w->object = object;
	w->irql = KeGetCurrentIrql();
	assert_ptr_equal(item, w->item);
	/* it is its own from the begin on */
	IoFreeWorkItem(item);
	(void)KeSetEvent(&w->begun, 0, FALSE);
	(void)KeWaitForSingleObject(&w->may_end, Executive, KernelMode, FALSE, NULL);
	(void)KeSetEvent(&w->ended, 0, FALSE);
}

static void
a_queued_work_item_holds_its_device(void **state)
{
	struct work w;
	struct rig rig;
	LONG_PTR holds;

	(void)state;
	rig_open(&rig, NULL, NULL);
	KeInitializeEvent(&w.begun, NotificationEvent, FALSE);
	KeInitializeEvent(&w.may_end, NotificationEvent, FALSE);
	KeInitializeEvent(&w.ended, NotificationEvent, FALSE);
	holds = ObReferenceObject(rig.device);
	w.item = IoAllocateWorkItem(rig.device);
	assert_int_equal(work_item_count(), 1);
	IoQueueWorkItemEx(w.item, work, DelayedWorkQueue, &w);
	(void)KeWaitForSingleObject(&w.begun, Executive, KernelMode, FALSE, NULL);
	assert_int_equal(ObReferenceObject(rig.device), holds + 2);
	ObDereferenceObject(rig.device);
	assert_ptr_equal(w.object, rig.device);
	assert_int_equal(w.irql, PASSIVE_LEVEL);
	assert_int_equal(work_item_count(), 0);
	(void)KeSetEvent(&w.may_end, 0, FALSE);
	(void)KeWaitForSingleObject(&w.ended, Executive, KernelMode, FALSE, NULL);
	assert_true(plx_ex_work_drain(10000));
	assert_int_equal(ObDereferenceObject(rig.device), holds - 1);
	rig_close(&rig);
}

static VOID
tick(PDEVICE_OBJECT device, PVOID context)
{
	(void)device;
	if (KeGetCurrentIrql() == DISPATCH_LEVEL)
		(void)KeSetEvent(context, 0, FALSE);
}

static void
a_timer_of_a_device_ticks_at_dispatch_level(void **state)
{
	LARGE_INTEGER limit = {.QuadPart = -100000000};
	struct rig rig;
	KEVENT ticked;

	(void)state;
	rig_open(&rig, NULL, NULL);
	KeInitializeEvent(&ticked, NotificationEvent, FALSE);
	assert_int_equal(IoInitializeTimer(rig.device, tick, &ticked), STATUS_SUCCESS);
	IoStartTimer(rig.device);
	assert_int_equal(KeWaitForSingleObject(&ticked, Executive, KernelMode, FALSE, &limit),
			 STATUS_SUCCESS);
	assert_int_equal(plx_ke_left().timers, 1);
	/* deleting it stops it */
	IoDeleteDevice(rig.device);
	rig.device = NULL;
	assert_int_equal(plx_ke_left().timers, 0);
	rig_close(&rig);
}

static void
the_stack_has_bounds(void **state)
{
	ULONG_PTR low, high, here = (ULONG_PTR)&low, left = IoGetRemainingStackSize();

	(void)state;
	IoGetStackLimits(&low, &high);
	assert_true(left > 4096 && left <= high - low);
#ifndef __SANITIZE_ADDRESS__
	/* with it, locals may be elsewhere */
	assert_true(low < here && here < high);
#else
	(void)here;
#endif
}

static EXPAND_STACK_CALLOUT called;

static VOID
called(PVOID parameter)
{
	*(ULONG_PTR *)parameter = IoGetRemainingStackSize();
}

/* What is left of the stack is too small for the largest size; a sanitizer may enlarge a stack. */
static void *
on_what_is_left(void *argument)
{
	ULONG_PTR *left = argument;
	volatile char *used =
		__builtin_alloca(IoGetRemainingStackSize() - MAXIMUM_EXPANSION_SIZE + 2048);

	used[0] = 0;
	if (KeExpandKernelStackAndCallout(called, left, MAXIMUM_EXPANSION_SIZE) !=
		    STATUS_NO_MEMORY ||
	    *left != 7)
		return NULL;
	return KeExpandKernelStackAndCallout(called, left, 4096) == STATUS_SUCCESS ? argument
										   : NULL;
}

static void
a_routine_is_called_with_the_stack_that_it_needs(void **state)
{
	pthread_attr_t attributes;
	ULONG_PTR left = 7;
	pthread_t thread;
	void *result;
	KIRQL old;

	(void)state;
	assert_int_equal(KeExpandKernelStackAndCallout(called, &left, MAXIMUM_EXPANSION_SIZE + 1),
			 STATUS_INVALID_PARAMETER_3);
	assert_int_equal(left, 7);
	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
	assert_int_equal(pthread_create(&thread, &attributes, on_what_is_left, &left), 0);
	pthread_join(thread, &result);
	pthread_attr_destroy(&attributes);
	assert_non_null(result);
	assert_int_equal(KeExpandKernelStackAndCallout(called, &left, MAXIMUM_EXPANSION_SIZE),
			 STATUS_SUCCESS);
	assert_true(left >= MAXIMUM_EXPANSION_SIZE);
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	assert_int_equal(KeExpandKernelStackAndCalloutEx(called, &left, 4096, TRUE, NULL),
			 STATUS_INVALID_PARAMETER_4);
	left = 7;
	assert_int_equal(KeExpandKernelStackAndCalloutEx(called, &left, 4096, FALSE, NULL),
			 STATUS_SUCCESS);
	KeLowerIrql(old);
	assert_true(left >= 4096);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_found_by_its_names),
		cmocka_unit_test(the_rest_of_a_name_is_the_files),
		cmocka_unit_test(a_refused_create_is_followed_by_nothing),
		cmocka_unit_test(a_deleted_device_lasts_until_its_file_is_closed),
		cmocka_unit_test(an_exclusive_device_is_opened_once_and_an_unready_one_never),
		cmocka_unit_test(a_name_is_given_once),
		cmocka_unit_test(a_secure_device_has_a_name_and_a_descriptor),
		cmocka_unit_test(an_extension_of_a_driver_is_found_by_its_id),
		cmocka_unit_test(a_shutdown_is_told_to_who_registered),
		cmocka_unit_test(a_queued_work_item_holds_its_device),
		cmocka_unit_test(a_timer_of_a_device_ticks_at_dispatch_level),
		cmocka_unit_test(the_stack_has_bounds),
		cmocka_unit_test(a_routine_is_called_with_the_stack_that_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
