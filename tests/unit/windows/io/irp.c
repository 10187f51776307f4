/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests: their way up, who is called on it, and what becomes of buffers. Start with
 * routines_are_called_from_the_lowest_up().
 */
#include "io_rig.h"

_Static_assert(offsetof(IRP, MdlAddress) == 8 && offsetof(IRP, AssociatedIrp) == 24, "buffers");
_Static_assert(offsetof(IRP, IoStatus) == 48 && offsetof(IRP, RequestorMode) == 64, "the result");
_Static_assert(offsetof(IRP, StackCount) == 66 && offsetof(IRP, Cancel) == 68, "bytes");
_Static_assert(offsetof(IRP, UserIosb) == 72 && offsetof(IRP, CancelRoutine) == 104, "pointers");
_Static_assert(offsetof(IRP, UserBuffer) == 112 && offsetof(IRP, Tail) == 120, "the tail");
_Static_assert(offsetof(IRP, Tail.Overlay.CurrentStackLocation) == 184, "the location");
_Static_assert(offsetof(IO_STACK_LOCATION, Parameters) == 8, "parameters");
_Static_assert(offsetof(IO_STACK_LOCATION, Parameters.DeviceIoControl.IoControlCode) == 24, "code");
_Static_assert(offsetof(IO_STACK_LOCATION, Parameters.Read.ByteOffset) == 24, "offset");
_Static_assert(offsetof(IO_STACK_LOCATION, DeviceObject) == 40, "the device");
_Static_assert(offsetof(IO_STACK_LOCATION, CompletionRoutine) == 56, "the routine");

/* ---- the way up ---- */

static char order[16];

static NTSTATUS
note(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	(void)device, (void)irp;
	strcat(order, context);
	return STATUS_CONTINUE_COMPLETION;
}

static NTSTATUS
note_and_stop(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	(void)note(device, irp, context);
	return STATUS_MORE_PROCESSING_REQUIRED;
}

/* A request in the hands of the lowest of three drivers, with a routine of each sender. */
static PIRP
descend(UCHAR control)
{
	PIRP irp = IoAllocateIrp(3, FALSE);

	assert_non_null(irp);
	*order = '\0';
	IoSetCompletionRoutine(irp, note_and_stop, "a", TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	IoSetCompletionRoutine(irp, note, "b", FALSE, FALSE, FALSE);
	IoGetNextIrpStackLocation(irp)->Control = control;
	IoSetNextIrpStackLocation(irp);
	IoSetCompletionRoutine(irp, note, "c", TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	return irp;
}

static void
routines_are_called_from_the_lowest_up(void **state)
{
	PIRP irp = descend(SL_INVOKE_ON_SUCCESS);

	(void)state;
	(void)rig_complete(irp, STATUS_SUCCESS, 7);
	assert_string_equal(order, "cba");
	assert_int_equal(irp->IoStatus.Information, 7);
	IoFreeIrp(irp);
}

static void
a_routine_is_called_for_what_it_was_set_for(void **state)
{
	static const struct {
		UCHAR control;
		NTSTATUS status;
		BOOLEAN is_cancelled;
		const char *order;
	} cases[] = {
		{SL_INVOKE_ON_SUCCESS, STATUS_SUCCESS, FALSE, "cba"},
		{SL_INVOKE_ON_SUCCESS, STATUS_UNSUCCESSFUL, FALSE, "ca"},
		{SL_INVOKE_ON_ERROR, STATUS_SUCCESS, FALSE, "ca"},
		{SL_INVOKE_ON_ERROR, STATUS_UNSUCCESSFUL, FALSE, "cba"},
		{SL_INVOKE_ON_ERROR, STATUS_BUFFER_OVERFLOW, FALSE, "cba"},
		{SL_INVOKE_ON_CANCEL, STATUS_SUCCESS, FALSE, "ca"},
		{SL_INVOKE_ON_CANCEL, STATUS_CANCELLED, TRUE, "cba"},
		{0, STATUS_SUCCESS, TRUE, "ca"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
		PIRP irp = descend(cases[i].control);

		irp->Cancel = cases[i].is_cancelled;
		(void)rig_complete(irp, cases[i].status, 0);
		assert_string_equal(order, cases[i].order);
		IoFreeIrp(irp);
	}
}

static void
pending_is_passed_up_by_a_location_without_a_routine(void **state)
{
	(void)state;
	for (int has_routine = 0; has_routine < 2; has_routine++) {
		PIRP irp = IoAllocateIrp(2, FALSE);

		IoSetCompletionRoutine(irp, note_and_stop, "a", TRUE, TRUE, TRUE);
		IoSetNextIrpStackLocation(irp);
		/* a routine passes it up itself, or does not */
		IoSetCompletionRoutine(irp, note, "b", has_routine, has_routine, has_routine);
		IoSetNextIrpStackLocation(irp);
		IoMarkIrpPending(irp);
		(void)rig_complete(irp, STATUS_SUCCESS, 0);
		assert_int_equal(irp->PendingReturned, !has_routine);
		IoFreeIrp(irp);
	}
}

static void
a_location_of_the_lower_driver_is_wiped(void **state)
{
	PIRP irp = descend(0);
	PIO_STACK_LOCATION lowest = IoGetCurrentIrpStackLocation(irp);

	(void)state;
	lowest->Parameters.Others.Argument1 = irp;
	lowest->DeviceObject = (PDEVICE_OBJECT)(void *)irp;
	(void)rig_complete(irp, STATUS_SUCCESS, 0);
	assert_null(lowest->Parameters.Others.Argument1);
	assert_null(lowest->DeviceObject);
	assert_null(lowest->CompletionRoutine);
	IoFreeIrp(irp);
}

static void
a_copied_location_has_no_routine_and_a_skipped_one_is_the_same(void **state)
{
	PIRP irp = IoAllocateIrp(2, FALSE);
	PIO_STACK_LOCATION mine;

	(void)state;
	IoSetNextIrpStackLocation(irp);
	mine = IoGetCurrentIrpStackLocation(irp);
	mine->MajorFunction = IRP_MJ_WRITE;
	mine->Parameters.Write.Length = 12;
	mine->CompletionRoutine = note;
	mine->Control = SL_INVOKE_ON_SUCCESS | SL_PENDING_RETURNED;
	IoCopyCurrentIrpStackLocationToNext(irp);
	assert_int_equal(IoGetNextIrpStackLocation(irp)->MajorFunction, IRP_MJ_WRITE);
	assert_int_equal(IoGetNextIrpStackLocation(irp)->Parameters.Write.Length, 12);
	assert_null(IoGetNextIrpStackLocation(irp)->CompletionRoutine);
	assert_int_equal(IoGetNextIrpStackLocation(irp)->Control, 0);
	IoSkipCurrentIrpStackLocation(irp);
	assert_ptr_equal(IoGetNextIrpStackLocation(irp), mine);
	IoFreeIrp(irp);
}

static void
a_routine_that_holds_its_device_releases_it(void **state)
{
	PIRP irp = IoAllocateIrp(2, FALSE);
	struct rig rig;
	LONG_PTR holds;

	(void)state;
	rig_open(&rig, NULL, NULL);
	*order = '\0';
	holds = ObReferenceObject(rig.device);
	IoSetCompletionRoutine(irp, note_and_stop, "a", TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	assert_int_equal(IoSetCompletionRoutineEx(rig.device, irp, note, "h", FALSE, TRUE, FALSE),
			 STATUS_SUCCESS);
	IoSetNextIrpStackLocation(irp);
	(void)rig_complete(irp, STATUS_SUCCESS, 0);
	assert_string_equal(order, "a");
	IoReuseIrp(irp, STATUS_SUCCESS);
	IoSetCompletionRoutine(irp, note_and_stop, "a", TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	assert_int_equal(IoSetCompletionRoutineEx(rig.device, irp, note, "h", FALSE, TRUE, FALSE),
			 STATUS_SUCCESS);
	IoSetNextIrpStackLocation(irp);
	(void)rig_complete(irp, STATUS_UNSUCCESSFUL, 0);
	assert_string_equal(order, "aha");
	assert_int_equal(ObDereferenceObject(rig.device), holds - 1);
	IoFreeIrp(irp);
	rig_close(&rig);
}

/* ---- buffers ---- */

enum {
	CODE = 0x800,
};

/* What the dispatch routine saw. */
static struct {
	UCHAR function;
	char system[16], user[16];
	PVOID system_buffer, user_buffer, type3;
	PMDL mdl;
} seen;

static NTSTATUS
answer(PDEVICE_OBJECT device, PIRP irp)
{
	PIO_STACK_LOCATION at = IoGetCurrentIrpStackLocation(irp);
	PVOID out = irp->AssociatedIrp.SystemBuffer;

	assert_ptr_equal(at->DeviceObject, device);
	seen.function = at->MajorFunction;
	seen.system_buffer = out;
	seen.user_buffer = irp->UserBuffer;
	seen.type3 = at->Parameters.DeviceIoControl.Type3InputBuffer;
	seen.mdl = irp->MdlAddress;
	if (out != NULL)
		memcpy(seen.system, out, 5);
	if (irp->MdlAddress != NULL)
		out = MmGetSystemAddressForMdlSafe(irp->MdlAddress, NormalPagePriority);
	if (out == NULL)
		out = irp->UserBuffer;
	if (out == NULL)
		return rig_complete(irp, STATUS_SUCCESS, 0);
	memcpy(seen.user, out, 5);
	memcpy(out, "HELLO", 5);
	return rig_complete(irp, STATUS_SUCCESS, 5);
}

static void
each_method_prepares_the_buffers_it_documents(void **state)
{
	struct rig rig;
	KEVENT event;
	IO_STATUS_BLOCK result;

	(void)state;
	rig_open(&rig, NULL, answer);
	for (ULONG method = METHOD_BUFFERED; method <= METHOD_NEITHER; method++) {
		char in[8] = "hello", out[8] = "bytes";
		PIRP irp;

		memset(&seen, 0, sizeof(seen));
		KeInitializeEvent(&event, NotificationEvent, FALSE);
		irp = IoBuildDeviceIoControlRequest(
			CTL_CODE(FILE_DEVICE_UNKNOWN, CODE, method, FILE_ANY_ACCESS), rig.device,
			in, 5, out, 6, FALSE, &event, &result);
		assert_non_null(irp);
		assert_int_equal(IoCallDriver(rig.device, irp), STATUS_SUCCESS);
		assert_int_equal(KeReadStateEvent(&event), 1);
		assert_int_equal(result.Status, STATUS_SUCCESS);
		assert_int_equal(result.Information, 5);
		assert_string_equal(in, "hello");
		assert_memory_equal(out, "HELLO", 5);
		assert_int_equal(seen.function, IRP_MJ_DEVICE_CONTROL);
		assert_int_equal(seen.mdl != NULL,
				 method == METHOD_IN_DIRECT || method == METHOD_OUT_DIRECT);
		assert_int_equal(seen.system_buffer != NULL, method != METHOD_NEITHER);
		if (method != METHOD_NEITHER)
			assert_memory_equal(seen.system, "hello", 5);
		if (method != METHOD_BUFFERED)
			assert_memory_equal(seen.user, "bytes", 5);
		assert_ptr_equal(seen.type3, method == METHOD_NEITHER ? in : NULL);
	}
	assert_int_equal(irp_count(), 0);
	rig_close(&rig);
}

static NTSTATUS
answer_with_overflow(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device;
	memcpy(irp->AssociatedIrp.SystemBuffer, "HELLO", 5);
	return rig_complete(irp, STATUS_BUFFER_OVERFLOW, 5);
}

static NTSTATUS
answer_with_failure(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device;
	memcpy(irp->AssociatedIrp.SystemBuffer, "HELLO", 5);
	return rig_complete(irp, STATUS_UNSUCCESSFUL, 5);
}

static void
a_warning_brings_its_output_and_a_failure_brings_none(void **state)
{
	PDRIVER_DISPATCH const answers[] = {answer_with_overflow, answer_with_failure};

	(void)state;
	for (int i = 0; i < 2; i++) {
		char out[6] = "bytes";
		IO_STATUS_BLOCK result;
		struct rig rig;
		PIRP irp;

		rig_open(&rig, NULL, answers[i]);
		irp = IoBuildDeviceIoControlRequest(
			CTL_CODE(FILE_DEVICE_UNKNOWN, CODE, METHOD_BUFFERED, FILE_ANY_ACCESS),
			rig.device, NULL, 0, out, 5, TRUE, NULL, &result);
		(void)IoCallDriver(rig.device, irp);
		assert_string_equal(out, i == 0 ? "HELLO" : "bytes");
		assert_int_equal(result.Status,
				 i == 0 ? STATUS_BUFFER_OVERFLOW : STATUS_UNSUCCESSFUL);
		rig_close(&rig);
	}
}

static void
reads_and_writes_follow_the_flags_of_the_device(void **state)
{
	static const ULONG flags[] = {DO_BUFFERED_IO, DO_DIRECT_IO, 0};
	LARGE_INTEGER offset = {.QuadPart = 0};
	IO_STATUS_BLOCK result;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, answer);
	for (size_t i = 0; i < ARRAYSIZE(flags); i++) {
		char buffer[8] = "bytes";

		memset(&seen, 0, sizeof(seen));
		rig.device->Flags = flags[i];
		(void)IoCallDriver(rig.device,
				   IoBuildSynchronousFsdRequest(IRP_MJ_READ, rig.device, buffer, 5,
								&offset, NULL, &result));
		assert_string_equal(buffer, "HELLO");
		assert_int_equal(seen.function, IRP_MJ_READ);
		assert_int_equal(seen.system_buffer != NULL, flags[i] == DO_BUFFERED_IO);
		assert_int_equal(seen.mdl != NULL, flags[i] == DO_DIRECT_IO);
		memcpy(buffer, "write", 5);
		(void)IoCallDriver(rig.device,
				   IoBuildSynchronousFsdRequest(IRP_MJ_WRITE, rig.device, buffer, 5,
								&offset, NULL, &result));
		assert_memory_equal(flags[i] == DO_BUFFERED_IO ? seen.system : seen.user, "write",
				    5);
		/* a copy is the driver's own */
		assert_string_equal(buffer, flags[i] == DO_BUFFERED_IO ? "write" : "HELLO");
	}
	assert_int_equal(irp_count(), 0);
	rig_close(&rig);
}

static void
an_mdl_joins_the_chain_of_its_request(void **state)
{
	static char buffer[64];
	PIRP irp = IoAllocateIrp(1, FALSE);
	PMDL first = IoAllocateMdl(buffer, 8, FALSE, FALSE, irp);
	PMDL second = IoAllocateMdl(buffer + 8, 8, TRUE, FALSE, irp);
	PMDL third = IoAllocateMdl(buffer + 16, 8, TRUE, FALSE, irp);
	PMDL only = IoAllocateMdl(buffer, 8, FALSE, FALSE, irp);

	(void)state;
	assert_ptr_equal(first->Next, second);
	assert_ptr_equal(second->Next, third);
	assert_null(third->Next);
	assert_ptr_equal(irp->MdlAddress, only);
	IoFreeMdl(first);
	IoFreeMdl(second);
	IoFreeMdl(third);
	IoFreeMdl(only);
	IoFreeIrp(irp);
}

static void
a_request_without_memory_for_its_buffers_is_none(void **state)
{
	char buffer[8] = "bytes";
	IO_STATUS_BLOCK result;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, answer);
	rig.device->Flags = DO_BUFFERED_IO;
	plx_ex_pool_fail(1);
	assert_null(IoBuildSynchronousFsdRequest(IRP_MJ_WRITE, rig.device, buffer, 5, NULL, NULL,
						 &result));
	plx_ex_pool_fail(0);
	assert_int_equal(irp_count(), 0);
	rig_close(&rig);
}

static void
a_function_without_a_routine_is_refused(void **state)
{
	IO_STATUS_BLOCK result = {.Information = 5};
	struct rig rig;
	PIRP irp;

	(void)state;
	rig_open(&rig, NULL, NULL);
	irp = IoBuildSynchronousFsdRequest(IRP_MJ_FLUSH_BUFFERS, rig.device, NULL, 0, NULL, NULL,
					   &result);
	assert_int_equal(IoCallDriver(rig.device, irp), STATUS_INVALID_DEVICE_REQUEST);
	assert_int_equal(result.Status, STATUS_INVALID_DEVICE_REQUEST);
	assert_int_equal(result.Information, 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routines_are_called_from_the_lowest_up),
		cmocka_unit_test(a_routine_is_called_for_what_it_was_set_for),
		cmocka_unit_test(pending_is_passed_up_by_a_location_without_a_routine),
		cmocka_unit_test(a_location_of_the_lower_driver_is_wiped),
		cmocka_unit_test(a_copied_location_has_no_routine_and_a_skipped_one_is_the_same),
		cmocka_unit_test(a_routine_that_holds_its_device_releases_it),
		cmocka_unit_test(each_method_prepares_the_buffers_it_documents),
		cmocka_unit_test(a_warning_brings_its_output_and_a_failure_brings_none),
		cmocka_unit_test(reads_and_writes_follow_the_flags_of_the_device),
		cmocka_unit_test(an_mdl_joins_the_chain_of_its_request),
		cmocka_unit_test(a_request_without_memory_for_its_buffers_is_none),
		cmocka_unit_test(a_function_without_a_routine_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
