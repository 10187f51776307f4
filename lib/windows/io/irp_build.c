/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests with the buffers of their sender: copied, described, or as they are, as the device and
 * the control code want them. Start with irp_prepare().
 */
#include "io.h"

enum {
	SYSTEM_BUFFER_TAG = 0x62536f49, /* "IoSb" */
};

/* What the sender hands in. */
struct buffers {
	PVOID in, out;
	ULONG in_bytes, out_bytes;
};

/* ---- the end ---- */

void
irp_release_buffers(PIRP irp)
{
	ULONG_PTR bytes = irp->IoStatus.Information;
	PMDL next;

	if (irp->Flags & IRP_INPUT_OPERATION && !NT_ERROR(irp->IoStatus.Status)) {
		if (bytes > irp->Tail.Private[OUTPUT_BYTES] && plx_ke_checks())
			plx_wdk_stop("a request was completed with %zu bytes of output; its "
				     "sender has room for %zu",
				     bytes, irp->Tail.Private[OUTPUT_BYTES]);
		if (bytes > irp->Tail.Private[OUTPUT_BYTES])
			bytes = irp->Tail.Private[OUTPUT_BYTES];
		if (bytes > 0)
			memcpy(irp->UserBuffer, irp->AssociatedIrp.SystemBuffer, bytes);
	}
	if (irp->Flags & IRP_DEALLOCATE_BUFFER)
		ExFreePoolWithTag(irp->AssociatedIrp.SystemBuffer, SYSTEM_BUFFER_TAG);
	irp->Flags &= ~(ULONG)(IRP_INPUT_OPERATION | IRP_DEALLOCATE_BUFFER);
	for (PMDL mdl = irp->MdlAddress; mdl != NULL; mdl = next) {
		next = mdl->Next;
		if (mdl->MdlFlags & MDL_PAGES_LOCKED)
			MmUnlockPages(mdl);
		IoFreeMdl(mdl);
	}
	irp->MdlAddress = NULL;
}

/* ---- the begin ---- */

/* Copy what the sender has written, into a buffer that what is read goes to, too. */
static bool
copy_in(PIRP irp, PVOID from, ULONG bytes, ULONG room)
{
	ULONG size = bytes > room ? bytes : room;

	if (size == 0)
		return true;
	irp->AssociatedIrp.SystemBuffer =
		ExAllocatePool2(POOL_FLAG_NON_PAGED, size, SYSTEM_BUFFER_TAG);
	if (irp->AssociatedIrp.SystemBuffer == NULL)
		return false;
	irp->Flags |= IRP_BUFFERED_IO | IRP_DEALLOCATE_BUFFER;
	if (bytes > 0)
		memcpy(irp->AssociatedIrp.SystemBuffer, from, bytes);
	return true;
}

/* Let what the driver leaves in the system buffer be copied to the sender. */
static void
copy_out_later(PIRP irp, PVOID to, ULONG room)
{
	irp->UserBuffer = to;
	irp->Tail.Private[OUTPUT_BYTES] = room;
	if (to != NULL && room > 0)
		irp->Flags |= IRP_INPUT_OPERATION;
}

static bool
describe(PIRP irp, PVOID buffer, ULONG bytes, LOCK_OPERATION access)
{
	if (buffer == NULL || bytes == 0)
		return true;
	if (IoAllocateMdl(buffer, bytes, FALSE, FALSE, irp) == NULL)
		return false;
	MmProbeAndLockPages(irp->MdlAddress, KernelMode, access);
	return true;
}

static bool
prepare_control(PIRP irp, PIO_STACK_LOCATION to, ULONG code, const struct buffers *b)
{
	to->Parameters.DeviceIoControl.IoControlCode = code;
	to->Parameters.DeviceIoControl.InputBufferLength = b->in_bytes;
	to->Parameters.DeviceIoControl.OutputBufferLength = b->out_bytes;
	switch (METHOD_FROM_CTL_CODE(code)) {
	case METHOD_BUFFERED:
		copy_out_later(irp, b->out, b->out_bytes);
		return copy_in(irp, b->in, b->in_bytes, b->out_bytes);
	case METHOD_IN_DIRECT:
	case METHOD_OUT_DIRECT:
		return copy_in(irp, b->in, b->in_bytes, 0) &&
		       describe(irp, b->out, b->out_bytes,
				METHOD_FROM_CTL_CODE(code) == METHOD_IN_DIRECT ? IoReadAccess
									       : IoWriteAccess);
	default: /* METHOD_NEITHER */
		irp->UserBuffer = b->out;
		to->Parameters.DeviceIoControl.Type3InputBuffer = b->in;
		return true;
	}
}

static bool
prepare_transfer(PIRP irp, PIO_STACK_LOCATION to, PDEVICE_OBJECT device, PVOID buffer, ULONG bytes,
		 const LARGE_INTEGER *offset)
{
	bool is_read = to->MajorFunction == IRP_MJ_READ;

	/* Read and Write have the same members. */
	to->Parameters.Read.Length = bytes;
	if (offset != NULL)
		to->Parameters.Read.ByteOffset = *offset;
	irp->Flags |= is_read ? IRP_READ_OPERATION : IRP_WRITE_OPERATION;
	if (device->Flags & DO_BUFFERED_IO) {
		if (is_read)
			copy_out_later(irp, buffer, bytes);
		else
			irp->UserBuffer = buffer;
		return copy_in(irp, buffer, is_read ? 0 : bytes, is_read ? bytes : 0);
	}
	if (device->Flags & DO_DIRECT_IO)
		return describe(irp, buffer, bytes, is_read ? IoWriteAccess : IoReadAccess);
	irp->UserBuffer = buffer;
	return true;
}

PIRP
irp_prepare(PDEVICE_OBJECT device, const struct io_ask *ask)
{
	struct buffers b = {ask->in, ask->out, ask->in_bytes, ask->out_bytes};
	PIRP irp = IoAllocateIrp(device->StackSize, FALSE);
	PIO_STACK_LOCATION to;
	bool is_ready = true;

	if (irp == NULL)
		return NULL;
	irp->Tail.Overlay.Thread = PsGetCurrentThread();
	to = IoGetNextIrpStackLocation(irp);
	to->MajorFunction = ask->function;
	switch (ask->function) {
	case IRP_MJ_DEVICE_CONTROL:
	case IRP_MJ_INTERNAL_DEVICE_CONTROL:
		is_ready = prepare_control(irp, to, ask->code, &b);
		break;
	case IRP_MJ_READ:
		is_ready = prepare_transfer(irp, to, device, b.out, b.out_bytes, ask->offset);
		break;
	case IRP_MJ_WRITE:
		is_ready = prepare_transfer(irp, to, device, b.in, b.in_bytes, ask->offset);
		break;
	default:
		break;
	}
	if (is_ready)
		return irp;
	irp->IoStatus.Status = STATUS_INSUFFICIENT_RESOURCES;
	irp_release_buffers(irp);
	IoFreeIrp(irp);
	return NULL;
}

PIRP
IoBuildDeviceIoControlRequest(ULONG code, PDEVICE_OBJECT device, PVOID in, ULONG in_bytes,
			      PVOID out, ULONG out_bytes, BOOLEAN internal, PKEVENT event,
			      PIO_STATUS_BLOCK status)
{
	PIRP irp;

	plx_ke_require("IoBuildDeviceIoControlRequest", PASSIVE_LEVEL);
	irp = irp_prepare(device, &(struct io_ask){
					  .function = internal ? IRP_MJ_INTERNAL_DEVICE_CONTROL
							       : IRP_MJ_DEVICE_CONTROL,
					  .code = code,
					  .in = in,
					  .in_bytes = in_bytes,
					  .out = out,
					  .out_bytes = out_bytes,
				  });
	if (irp == NULL)
		return NULL;
	irp->AllocationFlags |= IRP_BUILT;
	irp->UserEvent = event;
	irp->UserIosb = status;
	return irp;
}

static PIRP
build_transfer(ULONG function, PDEVICE_OBJECT device, PVOID buffer, ULONG bytes,
	       PLARGE_INTEGER offset, PIO_STATUS_BLOCK status)
{
	PIRP irp = irp_prepare(device, &(struct io_ask){
					       .function = (UCHAR)function,
					       .in = buffer,
					       .in_bytes = bytes,
					       .out = buffer,
					       .out_bytes = bytes,
					       .offset = offset,
				       });
	if (irp != NULL)
		irp->UserIosb = status;
	return irp;
}

PIRP
IoBuildSynchronousFsdRequest(ULONG function, PDEVICE_OBJECT device, PVOID buffer, ULONG bytes,
			     PLARGE_INTEGER offset, PKEVENT event, PIO_STATUS_BLOCK status)
{
	PIRP irp;

	plx_ke_require("IoBuildSynchronousFsdRequest", PASSIVE_LEVEL);
	irp = build_transfer(function, device, buffer, bytes, offset, status);
	if (irp == NULL)
		return NULL;
	irp->AllocationFlags |= IRP_BUILT;
	irp->UserEvent = event;
	return irp;
}

PIRP
IoBuildAsynchronousFsdRequest(ULONG function, PDEVICE_OBJECT device, PVOID buffer, ULONG bytes,
			      PLARGE_INTEGER offset, PIO_STATUS_BLOCK status)
{
	plx_ke_require("IoBuildAsynchronousFsdRequest", DISPATCH_LEVEL);
	return build_transfer(function, device, buffer, bytes, offset, status);
}
