/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open files: IRP_MJ_CREATE when one is opened, IRP_MJ_CLEANUP when its last handle is closed,
 * IRP_MJ_CLOSE when its last hold is released. Start with file_open().
 */
#include "io.h"

#include <stdlib.h>

enum {
	IO_TYPE_FILE = 5,
	DISPOSITION_OPEN = 1 << 24, /* in Create.Options: FILE_OPEN */
};

static _Atomic uint64_t files;

uint64_t
file_count(void)
{
	return files;
}

/* ---- requests of a file ---- */

static NTSTATUS
signal_end(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	(void)device, (void)irp;
	(void)KeSetEvent(context, IO_NO_INCREMENT, FALSE);
	return STATUS_MORE_PROCESSING_REQUIRED;
}

NTSTATUS
irp_send_and_wait(PDEVICE_OBJECT device, PIRP irp)
{
	KEVENT ended;

	KeInitializeEvent(&ended, NotificationEvent, FALSE);
	IoSetCompletionRoutine(irp, signal_end, &ended, TRUE, TRUE, TRUE);
	irp->Tail.Overlay.Thread = PsGetCurrentThread();
	(void)IoCallDriver(device, irp);
	(void)KeWaitForSingleObject(&ended, Executive, KernelMode, FALSE, NULL);
	return irp->IoStatus.Status;
}

static void
tell(PFILE_OBJECT file, UCHAR function)
{
	struct file_more *more = file->FileObjectExtension;
	PIO_STACK_LOCATION at;

	IoReuseIrp(more->last, STATUS_SUCCESS);
	more->last->Tail.Overlay.OriginalFileObject = file;
	if (function == IRP_MJ_CLOSE)
		more->last->Flags = IRP_CLOSE_OPERATION;
	at = IoGetNextIrpStackLocation(more->last);
	at->MajorFunction = function;
	at->FileObject = file;
	(void)irp_send_and_wait(file->DeviceObject, more->last);
}

static void
closed(PVOID object)
{
	PFILE_OBJECT file = object;

	if (!((struct file_more *)file->FileObjectExtension)->is_open)
		return;
	tell(file, IRP_MJ_CLEANUP);
	file->Flags |= FO_CLEANUP_COMPLETE;
}

static void
destroy(PVOID object)
{
	PFILE_OBJECT file = object;
	struct file_more *more = file->FileObjectExtension;

	if (more->is_open)
		tell(file, IRP_MJ_CLOSE);
	names_lock();
	file->DeviceObject->ReferenceCount--;
	names_unlock();
	IoFreeIrp(more->last);
	ObDereferenceObject(file->DeviceObject);
	free(file->FileName.Buffer);
	files--;
}

struct _OBJECT_TYPE io_file_type = {.name = "file", .closed = closed, .destroy = destroy};

/* ---- opening ---- */

/* Find a device that may be opened, and count the file that will be. */
static NTSTATUS
reach(PCUNICODE_STRING name, PDEVICE_OBJECT *device, UNICODE_STRING *rest)
{
	NTSTATUS status;

	names_lock();
	status = name_resolve(name, device, rest);
	if (NT_SUCCESS(status)) {
		if ((*device)->Flags & DO_DEVICE_INITIALIZING)
			status = STATUS_NO_SUCH_DEVICE;
		else if (((*device)->Flags & DO_EXCLUSIVE) && (*device)->ReferenceCount > 0)
			status = STATUS_ACCESS_DENIED;
		if (!NT_SUCCESS(status))
			free(rest->Buffer);
	}
	if (NT_SUCCESS(status)) {
		(*device)->ReferenceCount++;
		ObReferenceObject(*device);
	}
	names_unlock();
	return status;
}

static void
let_go(PDEVICE_OBJECT device, UNICODE_STRING *rest)
{
	names_lock();
	device->ReferenceCount--;
	names_unlock();
	ObDereferenceObject(device);
	free(rest->Buffer);
}

/* Returns: NULL: no memory, and nothing has changed */
static PFILE_OBJECT
make(PDEVICE_OBJECT device, const UNICODE_STRING *rest, ACCESS_MASK access)
{
	struct whole {
		FILE_OBJECT file;
		struct file_more more;
	} *whole = NULL;
	PIRP last = IoAllocateIrp(device->StackSize, FALSE);

	if (last != NULL)
		whole = plx_ke_object_create(&io_file_type, sizeof(*whole));
	if (whole == NULL) {
		if (last != NULL)
			IoFreeIrp(last);
		return NULL;
	}
	whole->more.last = last;
	whole->file.Type = IO_TYPE_FILE;
	whole->file.Size = sizeof(FILE_OBJECT);
	whole->file.DeviceObject = device;
	whole->file.ReadAccess = (access & (GENERIC_READ | FILE_READ_DATA)) != 0;
	whole->file.WriteAccess = (access & (GENERIC_WRITE | FILE_WRITE_DATA)) != 0;
	whole->file.Flags = FO_SYNCHRONOUS_IO;
	whole->file.FileName = *rest;
	whole->file.FileObjectExtension = &whole->more;
	KeInitializeEvent(&whole->file.Lock, SynchronizationEvent, FALSE);
	KeInitializeEvent(&whole->file.Event, NotificationEvent, FALSE);
	InitializeListHead(&whole->file.IrpList);
	files++;
	return &whole->file;
}

static NTSTATUS
create(PFILE_OBJECT file, ACCESS_MASK access)
{
	struct file_more *more = file->FileObjectExtension;
	IO_SECURITY_CONTEXT security = {.DesiredAccess = access};
	PIO_STACK_LOCATION at = IoGetNextIrpStackLocation(more->last);
	NTSTATUS status;

	more->last->Flags = IRP_CREATE_OPERATION;
	more->last->Tail.Overlay.OriginalFileObject = file;
	at->MajorFunction = IRP_MJ_CREATE;
	at->FileObject = file;
	at->Parameters.Create.SecurityContext = &security;
	at->Parameters.Create.Options = DISPOSITION_OPEN;
	at->Parameters.Create.ShareAccess = FILE_SHARE_READ | FILE_SHARE_WRITE;
	status = irp_send_and_wait(file->DeviceObject, more->last);
	if (NT_SUCCESS(status)) {
		more->is_open = true;
		file->Flags |= FO_FILE_OPEN;
	}
	return status;
}

NTSTATUS
file_open(PCUNICODE_STRING name, ACCESS_MASK access, PFILE_OBJECT *out, PHANDLE handle)
{
	PDEVICE_OBJECT device = NULL;
	UNICODE_STRING rest;
	PFILE_OBJECT file;
	NTSTATUS status = reach(name, &device, &rest);

	if (!NT_SUCCESS(status))
		return status;
	file = make(device, &rest, access);
	if (file == NULL) {
		let_go(device, &rest);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	status = create(file, access);
	if (NT_SUCCESS(status))
		status = plx_ke_handle_open(file, access, handle);
	if (!NT_SUCCESS(status)) {
		/* one that is open has no handle, so that nothing else sends this */
		closed(file);
		ObDereferenceObject(file);
		return status;
	}
	*out = file;
	return STATUS_SUCCESS;
}

NTSTATUS
IoGetDeviceObjectPointer(PUNICODE_STRING name, ACCESS_MASK access, PFILE_OBJECT *file,
			 PDEVICE_OBJECT *device)
{
	HANDLE handle;
	NTSTATUS status;

	plx_ke_require("IoGetDeviceObjectPointer", PASSIVE_LEVEL);
	status = file_open(name, access, file, &handle);
	if (!NT_SUCCESS(status))
		return status;
	*device = (*file)->DeviceObject;
	return ZwClose(handle);
}
