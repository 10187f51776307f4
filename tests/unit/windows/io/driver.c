/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver for tests: a control device, requests of every method, requests that pend, work items,
 * parameters; and whatever a driver can leave behind, as its value Leave in the registry says.
 * Start with DriverEntry(). What the codes do is in driver.h.
 */
#include <ntddk.h>

#include "driver.h"

#define TAG 'tseT'

DRIVER_INITIALIZE DriverEntry;

/* What a device keeps. */
struct extension {
	IO_CSQ pended;
	KSPIN_LOCK lock;
	LIST_ENTRY irps;
	IO_REMOVE_LOCK remove;
	ULONG depth; /* of the parameters */
};

static const UNICODE_STRING device_name = RTL_CONSTANT_STRING(L"\\Device\\IoTest");
static const UNICODE_STRING link_name = RTL_CONSTANT_STRING(L"\\DosDevices\\IoTest");
static PDEVICE_OBJECT device;
static volatile ULONG forgets;
static KTIMER timer;
static KDPC dpc;
static KEVENT never;

/* ---- requests that pend ---- */

static struct extension *
of_queue(PIO_CSQ csq)
{
	return CONTAINING_RECORD(csq, struct extension, pended);
}

static VOID
insert(PIO_CSQ csq, PIRP irp)
{
	InsertTailList(&of_queue(csq)->irps, &irp->Tail.Overlay.ListEntry);
}

static VOID
take(PIO_CSQ csq, PIRP irp)
{
	UNREFERENCED_PARAMETER(csq);
	RemoveEntryList(&irp->Tail.Overlay.ListEntry);
}

static PIRP
peek(PIO_CSQ csq, PIRP irp, PVOID file)
{
	PLIST_ENTRY head = &of_queue(csq)->irps;
	PLIST_ENTRY at = irp == NULL ? head->Flink : irp->Tail.Overlay.ListEntry.Flink;

	for (; at != head; at = at->Flink) {
		PIRP next = CONTAINING_RECORD(at, IRP, Tail.Overlay.ListEntry);

		if (file == NULL || IoGetCurrentIrpStackLocation(next)->FileObject == file)
			return next;
	}
	return NULL;
}

static VOID
acquire(PIO_CSQ csq, PKIRQL irql)
{
	KeAcquireSpinLock(&of_queue(csq)->lock, irql);
}

static VOID
release(PIO_CSQ csq, KIRQL irql)
{
	KeReleaseSpinLock(&of_queue(csq)->lock, irql);
}

static NTSTATUS
complete(PIRP irp, NTSTATUS status, ULONG_PTR information)
{
	irp->IoStatus.Status = status;
	irp->IoStatus.Information = information;
	IoCompleteRequest(irp, IO_NO_INCREMENT);
	return status;
}

static VOID
complete_cancelled(PIO_CSQ csq, PIRP irp)
{
	UNREFERENCED_PARAMETER(csq);
	complete(irp, STATUS_CANCELLED, 0);
}

static VOID
complete_later(PDEVICE_OBJECT at, PVOID item)
{
	struct extension *extension = at->DeviceExtension;
	PIRP irp = IoCsqRemoveNextIrp(&extension->pended, NULL);

	IoFreeWorkItem(item);
	if (irp != NULL)
		complete(irp, STATUS_SUCCESS, 0);
}

/* ---- requests ---- */

static NTSTATUS
reverse(PIRP irp, PIO_STACK_LOCATION at)
{
	ULONG in = at->Parameters.DeviceIoControl.InputBufferLength;
	ULONG out = at->Parameters.DeviceIoControl.OutputBufferLength;
	PUCHAR bytes = irp->AssociatedIrp.SystemBuffer;

	if (out < in)
		return complete(irp, STATUS_BUFFER_TOO_SMALL, 0);
	for (ULONG i = 0; i < in / 2; i++) {
		UCHAR byte = bytes[i];

		bytes[i] = bytes[in - 1 - i];
		bytes[in - 1 - i] = byte;
	}
	return complete(irp, STATUS_SUCCESS, in);
}

static NTSTATUS
fill(PIRP irp)
{
	ULONG bytes = irp->MdlAddress != NULL ? MmGetMdlByteCount(irp->MdlAddress) : 0;
	PVOID to = bytes > 0 ? MmGetSystemAddressForMdlSafe(irp->MdlAddress, NormalPagePriority)
			     : NULL;

	if (to == NULL)
		return complete(irp, STATUS_INSUFFICIENT_RESOURCES, 0);
	RtlFillMemory(to, bytes, *(PUCHAR)irp->AssociatedIrp.SystemBuffer);
	return complete(irp, STATUS_SUCCESS, bytes);
}

static NTSTATUS
copy_raw(PIRP irp, PIO_STACK_LOCATION at)
{
	PVOID in = at->Parameters.DeviceIoControl.Type3InputBuffer;
	ULONG bytes = at->Parameters.DeviceIoControl.InputBufferLength;
	NTSTATUS status = STATUS_SUCCESS;

	if (irp->RequestorMode != UserMode || ExGetPreviousMode() != UserMode)
		return complete(irp, STATUS_UNSUCCESSFUL, 0);
	__try {
		ProbeForRead(in, bytes, 1);
		ProbeForWrite(irp->UserBuffer, bytes, 1);
		RtlCopyMemory(irp->UserBuffer, in, bytes);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	return complete(irp, status, NT_SUCCESS(status) ? bytes : 0);
}

static NTSTATUS
pend(PDEVICE_OBJECT at, PIRP irp, BOOLEAN is_completed)
{
	struct extension *extension = at->DeviceExtension;
	PIO_WORKITEM item = NULL;

	if (is_completed) {
		item = IoAllocateWorkItem(at);
		if (item == NULL)
			return complete(irp, STATUS_INSUFFICIENT_RESOURCES, 0);
	}
	IoCsqInsertIrp(&extension->pended, irp, NULL);
	if (is_completed)
		IoQueueWorkItem(item, complete_later, DelayedWorkQueue, item);
	return STATUS_PENDING;
}

static ULONG
count_pending(struct extension *extension)
{
	ULONG n = 0;
	KIRQL irql;

	KeAcquireSpinLock(&extension->lock, &irql);
	for (PLIST_ENTRY at = extension->irps.Flink; at != &extension->irps; at = at->Flink)
		n++;
	KeReleaseSpinLock(&extension->lock, irql);
	return n;
}

static NTSTATUS
answer(PIRP irp, PIO_STACK_LOCATION at, ULONG number)
{
	if (at->Parameters.DeviceIoControl.OutputBufferLength < sizeof(number))
		return complete(irp, STATUS_BUFFER_TOO_SMALL, 0);
	*(PULONG)irp->AssociatedIrp.SystemBuffer = number;
	return complete(irp, STATUS_SUCCESS, sizeof(number));
}

static NTSTATUS
control(PDEVICE_OBJECT at, PIRP irp, PIO_STACK_LOCATION location)
{
	struct extension *extension = at->DeviceExtension;

	switch (location->Parameters.DeviceIoControl.IoControlCode) {
	case IOTEST_REVERSE:
		return reverse(irp, location);
	case IOTEST_FILL:
		return fill(irp);
	case IOTEST_COPY:
		return copy_raw(irp, location);
	case IOTEST_PEND:
		return pend(at, irp, FALSE);
	case IOTEST_LATER:
		return pend(at, irp, TRUE);
	case IOTEST_DEPTH:
		return answer(irp, location, extension->depth);
	case IOTEST_PENDING:
		return answer(irp, location, count_pending(extension));
	default:
		return complete(irp, STATUS_INVALID_DEVICE_REQUEST, 0);
	}
}

static NTSTATUS
dispatch(PDEVICE_OBJECT at, PIRP irp)
{
	struct extension *extension = at->DeviceExtension;
	PIO_STACK_LOCATION location = IoGetCurrentIrpStackLocation(irp);
	NTSTATUS status;
	PIRP waiting;

	status = IoAcquireRemoveLock(&extension->remove, irp);
	if (!NT_SUCCESS(status))
		return complete(irp, status, 0);
	switch (location->MajorFunction) {
	case IRP_MJ_DEVICE_CONTROL:
		status = control(at, irp, location);
		break;
	case IRP_MJ_CLEANUP:
		while ((waiting = IoCsqRemoveNextIrp(&extension->pended, location->FileObject)) !=
		       NULL)
			complete(waiting, STATUS_CANCELLED, 0);
		status = complete(irp, STATUS_SUCCESS, 0);
		break;
	default: /* IRP_MJ_CREATE, IRP_MJ_CLOSE */
		status = complete(irp, STATUS_SUCCESS, 0);
		break;
	}
	IoReleaseRemoveLock(&extension->remove, irp);
	return status;
}

/* ---- what is left behind ---- */

static VOID
sleep_on(PVOID context)
{
	KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
	PsTerminateSystemThread(STATUS_SUCCESS);
}

static VOID
sleep_in_work(PDEVICE_OBJECT at, PVOID context)
{
	UNREFERENCED_PARAMETER(at);
	KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
}

static VOID
fire(PKDPC self, PVOID context, PVOID a, PVOID b)
{
	UNREFERENCED_PARAMETER(self);
	UNREFERENCED_PARAMETER(context);
	UNREFERENCED_PARAMETER(a);
	UNREFERENCED_PARAMETER(b);
	while (forgets & LEAVE_DPC)
		YieldProcessor();
}

static VOID
leave_objects(PDRIVER_OBJECT driver)
{
	UNICODE_STRING other = RTL_CONSTANT_STRING(L"\\Device\\Forgotten");
	UNICODE_STRING link = RTL_CONSTANT_STRING(L"\\??\\ForgottenLink");
	PDEVICE_OBJECT forgotten;
	HANDLE handle;

	if (forgets & LEAVE_POOL) {
		ExAllocatePool2(POOL_FLAG_NON_PAGED, 100, TAG);
		ExAllocatePool2(POOL_FLAG_NON_PAGED, 28, TAG);
	}
	if (forgets & LEAVE_DEVICE)
		IoCreateDevice(driver, 0, &other, FILE_DEVICE_UNKNOWN, 0, FALSE, &forgotten);
	if (forgets & LEAVE_LINK)
		IoCreateSymbolicLink(&link, &other);
	if (forgets & LEAVE_HANDLE)
		IoOpenDriverRegistryKey(driver, DriverRegKeyParameters, KEY_READ, 0, &handle);
	if (forgets & LEAVE_WORK_ITEM)
		IoAllocateWorkItem(device);
	if (forgets & LEAVE_IRP)
		IoAllocateIrp(1, FALSE);
}

static VOID
leave_running(VOID)
{
	LARGE_INTEGER hour = {.QuadPart = -36000000000LL};
	HANDLE handle;

	if (forgets & LEAVE_TIMER)
		KeSetTimer(&timer, hour, &dpc);
	if (forgets & LEAVE_DPC)
		KeInsertQueueDpc(&dpc, NULL, NULL);
	if ((forgets & LEAVE_THREAD) &&
	    NT_SUCCESS(PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, sleep_on,
					    &never)))
		ZwClose(handle);
	if (forgets & LEAVE_WORK)
		IoQueueWorkItem(IoAllocateWorkItem(device), sleep_in_work, DelayedWorkQueue,
				&never);
}

/* ---- the whole ---- */

static VOID
unload(PDRIVER_OBJECT driver)
{
	struct extension *extension = device->DeviceExtension;
	UNICODE_STRING link = link_name;

	leave_objects(driver);
	leave_running();
	IoDeleteSymbolicLink(&link);
	IoAcquireRemoveLock(&extension->remove, NULL);
	IoReleaseRemoveLockAndWait(&extension->remove, NULL);
	IoDeleteDevice(device);
}

static NTSTATUS
read_parameters(PUNICODE_STRING path, ULONG *bits, ULONG *depth, ULONG *entry)
{
	RTL_QUERY_REGISTRY_TABLE table[] = {
		{.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK,
		 .Name = L"Leave",
		 .EntryContext = bits,
		 .DefaultType = REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT},
		{.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK,
		 .Name = L"EntryStatus",
		 .EntryContext = entry,
		 .DefaultType = REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT},
		{.Flags = RTL_QUERY_REGISTRY_SUBKEY, .Name = L"Parameters"},
		{.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK,
		 .Name = L"Depth",
		 .EntryContext = depth,
		 .DefaultType = REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT | REG_DWORD,
		 .DefaultData = &(ULONG){16},
		 .DefaultLength = sizeof(ULONG)},
		{.QueryRoutine = NULL},
	};
	HANDLE key, parameters;
	UNICODE_STRING name = RTL_CONSTANT_STRING(L"Parameters");
	OBJECT_ATTRIBUTES attributes;
	NTSTATUS status;

	InitializeObjectAttributes(&attributes, path, OBJ_KERNEL_HANDLE | OBJ_CASE_INSENSITIVE,
				   NULL, NULL);
	status = ZwOpenKey(&key, KEY_READ, &attributes);
	if (!NT_SUCCESS(status))
		return status;
	InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, key, NULL);
	status = ZwCreateKey(&parameters, KEY_READ, &attributes, 0, NULL, 0, NULL);
	if (NT_SUCCESS(status)) {
		ZwClose(parameters);
		status =
			RtlQueryRegistryValues(RTL_REGISTRY_HANDLE, (PCWSTR)key, table, NULL, NULL);
	}
	ZwClose(key);
	return status;
}

static NTSTATUS
create_device(PDRIVER_OBJECT driver, ULONG depth)
{
	UNICODE_STRING name = device_name, link = link_name;
	struct extension *extension;
	NTSTATUS status;

	status = IoCreateDevice(driver, sizeof(*extension), &name, FILE_DEVICE_UNKNOWN, 0, FALSE,
				&device);
	if (!NT_SUCCESS(status))
		return status;
	extension = device->DeviceExtension;
	extension->depth = depth;
	KeInitializeSpinLock(&extension->lock);
	InitializeListHead(&extension->irps);
	IoInitializeRemoveLock(&extension->remove, TAG, 0, 0);
	IoCsqInitialize(&extension->pended, insert, take, peek, acquire, release,
			complete_cancelled);
	status = IoCreateSymbolicLink(&link, &name);
	if (!NT_SUCCESS(status))
		IoDeleteDevice(device);
	return status;
}

NTSTATUS
DriverEntry(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
	ULONG bits = 0, depth = 0, entry = STATUS_SUCCESS;
	NTSTATUS status;

	status = read_parameters(path, &bits, &depth, &entry);
	forgets = bits;
	if (!NT_SUCCESS(status) || !NT_SUCCESS((NTSTATUS)entry)) {
		if (forgets & LEAVE_POOL)
			ExAllocatePool2(POOL_FLAG_PAGED, 7, TAG);
		return NT_SUCCESS(status) ? (NTSTATUS)entry : status;
	}
	KeInitializeEvent(&never, NotificationEvent, FALSE);
	KeInitializeTimer(&timer);
	KeInitializeDpc(&dpc, fire, NULL);
	status = create_device(driver, depth);
	if (!NT_SUCCESS(status))
		return status;
	driver->MajorFunction[IRP_MJ_CREATE] = dispatch;
	driver->MajorFunction[IRP_MJ_CLEANUP] = dispatch;
	driver->MajorFunction[IRP_MJ_CLOSE] = dispatch;
	driver->MajorFunction[IRP_MJ_DEVICE_CONTROL] = dispatch;
	if (!(forgets & LEAVE_ALL))
		driver->DriverUnload = unload;
	return STATUS_SUCCESS;
}
