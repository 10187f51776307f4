/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests: their memory, their way down by IoCallDriver() and back up by IoCompleteRequest(). It
 * knows nothing of files. Start with IofCompleteRequest().
 */
#include "io.h"

#include <stdlib.h>

enum {
	IO_TYPE_IRP = 6,
	STACK_MAX = 126, /* locations: counted in a CHAR, and one more than there are must fit */
};

_Static_assert(sizeof(IRP) == 208, "the first location follows at 208");
_Static_assert(sizeof(IO_STACK_LOCATION) == 72, "as in Windows");

static _Atomic uint64_t live;

uint64_t
irp_count(void)
{
	return live;
}

/* ---- memory ---- */

VOID
IoInitializeIrp(PIRP irp, USHORT bytes, CCHAR locations)
{
	memset(irp, 0, bytes);
	irp->Type = IO_TYPE_IRP;
	irp->Size = bytes;
	irp->StackCount = locations;
	irp->CurrentLocation = (CHAR)(locations + 1);
	InitializeListHead(&irp->ThreadListEntry);
	irp->Tail.Overlay.CurrentStackLocation = (PIO_STACK_LOCATION)(void *)(irp + 1) + locations;
}

PIRP
IoAllocateIrp(CCHAR locations, BOOLEAN charge)
{
	PIRP irp;

	(void)charge;
	plx_ke_require("IoAllocateIrp", DISPATCH_LEVEL);
	if (locations < 1 || locations > STACK_MAX)
		return NULL;
	irp = malloc(IoSizeOfIrp(locations));
	if (irp == NULL)
		return NULL;
	IoInitializeIrp(irp, IoSizeOfIrp(locations), locations);
	irp->AllocationFlags = IRP_ALLOCATED;
	live++;
	return irp;
}

VOID
IoFreeIrp(PIRP irp)
{
	plx_ke_require("IoFreeIrp", DISPATCH_LEVEL);
	if (!(irp->AllocationFlags & IRP_ALLOCATED))
		plx_wdk_stop("IoFreeIrp was given a request that IoAllocateIrp did not make, "
			     "or that was freed before");
	irp->AllocationFlags = 0;
	live--;
	free(irp);
}

VOID
IoReuseIrp(PIRP irp, NTSTATUS status)
{
	UCHAR flags = irp->AllocationFlags;

	IoInitializeIrp(irp, irp->Size, irp->StackCount);
	irp->AllocationFlags = flags;
	irp->IoStatus.Status = status;
}

/* ---- down ---- */

NTSTATUS
IofCallDriver(PDEVICE_OBJECT device, PIRP irp)
{
	PIO_STACK_LOCATION at;

	plx_ke_require("IoCallDriver", DISPATCH_LEVEL);
	if (irp->CurrentLocation <= 1)
		plx_wdk_stop("IoCallDriver was given a request that has no location left for "
			     "the next driver; it was allocated with %d",
			     irp->StackCount);
	IoSetNextIrpStackLocation(irp);
	at = IoGetCurrentIrpStackLocation(irp);
	if (at->MajorFunction > IRP_MJ_MAXIMUM_FUNCTION)
		plx_wdk_stop("IoCallDriver was given a request whose function is 0x%02x; the "
			     "last is 0x%02x",
			     at->MajorFunction, IRP_MJ_MAXIMUM_FUNCTION);
	at->DeviceObject = device;
	return device->DriverObject->MajorFunction[at->MajorFunction](device, irp);
}

/* ---- back up ---- */

/* Give the sender of a request of IoBuild...() what it is waiting for. The request is gone before
 * the sender is told, who may free all that it lent. */
static void
finish(PIRP irp)
{
	IO_STATUS_BLOCK result = irp->IoStatus, *status = irp->UserIosb;
	PKEVENT event = irp->UserEvent;

	irp_release_buffers(irp);
	IoFreeIrp(irp);
	if (status != NULL)
		*status = result;
	if (event != NULL)
		(void)KeSetEvent(event, IO_NO_INCREMENT, FALSE);
}

static bool
is_wanted(UCHAR control, PIRP irp)
{
	if (NT_SUCCESS(irp->IoStatus.Status) ? control & SL_INVOKE_ON_SUCCESS
					     : control & SL_INVOKE_ON_ERROR)
		return true;
	return (control & SL_INVOKE_ON_CANCEL) && __atomic_load_n(&irp->Cancel, __ATOMIC_SEQ_CST);
}

/* Leave one location.
 * Returns: false: its routine has stopped the completion, and the request may be gone */
static bool
walk_up(PIRP irp, PIO_STACK_LOCATION left)
{
	bool is_top = irp->CurrentLocation == irp->StackCount + 1;
	PDEVICE_OBJECT above = is_top ? NULL : IoGetCurrentIrpStackLocation(irp)->DeviceObject;
	PIO_COMPLETION_ROUTINE routine = left->CompletionRoutine;
	PVOID context = left->Context;
	UCHAR control = left->Control;

	irp->PendingReturned = (control & SL_PENDING_RETURNED) != 0;
	/* a driver above must not find the parameters of the one below */
	memset(&left->MinorFunction, 0, sizeof(*left) - offsetof(IO_STACK_LOCATION, MinorFunction));
	if (routine != NULL && is_wanted(control, irp))
		return routine(above, irp, context) != STATUS_MORE_PROCESSING_REQUIRED;
	if (irp->PendingReturned && !is_top)
		IoMarkIrpPending(irp);
	return true;
}

VOID
IofCompleteRequest(PIRP irp, CCHAR boost)
{
	(void)boost;
	plx_ke_require("IoCompleteRequest", DISPATCH_LEVEL);
	/* one of IoBuild...() may be completed once more after it was stopped at its top */
	if (irp->Type != IO_TYPE_IRP ||
	    irp->CurrentLocation > irp->StackCount + ((irp->AllocationFlags & IRP_BUILT) != 0))
		plx_wdk_stop("IoCompleteRequest was given a request that was completed before");
	if (plx_ke_checks() && irp->IoStatus.Status == STATUS_PENDING)
		plx_wdk_stop("a request was completed with STATUS_PENDING");
	if (plx_ke_checks() && __atomic_load_n(&irp->CancelRoutine, __ATOMIC_ACQUIRE) != NULL)
		plx_wdk_stop("a request was completed while it had a cancel routine");
	while (irp->CurrentLocation <= irp->StackCount) {
		PIO_STACK_LOCATION left = IoGetCurrentIrpStackLocation(irp);

		IoSkipCurrentIrpStackLocation(irp);
		if (!walk_up(irp, left))
			return;
	}
	irp->CurrentLocation++; /* completed */
	if (irp->AllocationFlags & IRP_BUILT) {
		finish(irp);
		return;
	}
	if (plx_ke_checks())
		plx_wdk_stop("a request of IoAllocateIrp was completed, and no completion "
			     "routine of its sender stopped it by "
			     "STATUS_MORE_PROCESSING_REQUIRED");
	if (irp->AllocationFlags & IRP_ALLOCATED)
		IoFreeIrp(irp);
}

/* ---- routines that hold their device ---- */

struct held_routine {
	PDEVICE_OBJECT device;
	PIO_COMPLETION_ROUTINE routine;
	PVOID context;
	UCHAR control;
};

static NTSTATUS
call_held(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	struct held_routine held = *(struct held_routine *)context;
	NTSTATUS status = STATUS_CONTINUE_COMPLETION;

	free(context);
	if (is_wanted(held.control, irp))
		status = held.routine(device, irp, held.context);
	else if (irp->PendingReturned && irp->CurrentLocation <= irp->StackCount)
		IoMarkIrpPending(irp);
	ObDereferenceObject(held.device);
	return status;
}

NTSTATUS
IoSetCompletionRoutineEx(PDEVICE_OBJECT device, PIRP irp, PIO_COMPLETION_ROUTINE routine,
			 PVOID context, BOOLEAN on_success, BOOLEAN on_error, BOOLEAN on_cancel)
{
	struct held_routine *held = malloc(sizeof(*held));

	if (held == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	IoSetCompletionRoutine(irp, routine, context, on_success, on_error, on_cancel);
	*held = (struct held_routine){device, routine, context,
				      IoGetNextIrpStackLocation(irp)->Control};
	ObReferenceObject(device);
	IoSetCompletionRoutine(irp, call_held, held, TRUE, TRUE, TRUE);
	return STATUS_SUCCESS;
}
