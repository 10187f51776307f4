/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work items on the threads of ExQueueWorkItem(). A queued one holds its device or driver object.
 * Start with run().
 */
#include "io.h"

#include <stdlib.h>

struct _IO_WORKITEM {
	WORK_QUEUE_ITEM item;
	PVOID object; /* the device or driver */
	PIO_WORKITEM_ROUTINE routine;
	PIO_WORKITEM_ROUTINE_EX routine_ex;
	PVOID context;
	uint8_t is_queued;
};

static _Atomic uint64_t allocated;

uint64_t
work_item_count(void)
{
	return allocated;
}

/* The item may be freed or queued again as soon as its routine begins. */
static VOID
run(PVOID context)
{
	PIO_WORKITEM item = context;
	struct _IO_WORKITEM copy = *item;

	__atomic_store_n(&item->is_queued, 0, __ATOMIC_RELEASE);
	if (copy.routine_ex != NULL)
		copy.routine_ex(copy.object, copy.context, item);
	else
		copy.routine(copy.object, copy.context);
	if (plx_ke_checks() && KeGetCurrentIrql() != PASSIVE_LEVEL)
		plx_wdk_stop("a work item returned at IRQL %u; it has to be PASSIVE_LEVEL",
			     KeGetCurrentIrql());
	ObDereferenceObject(copy.object);
}

static void
queue(PIO_WORKITEM item, WORK_QUEUE_TYPE type)
{
	if (__atomic_exchange_n(&item->is_queued, 1, __ATOMIC_ACQ_REL) != 0)
		plx_wdk_stop("IoQueueWorkItem was given a work item that is queued already");
	ObReferenceObject(item->object);
	ExInitializeWorkItem(&item->item, run, item);
	ExQueueWorkItem(&item->item, type);
}

VOID
IoInitializeWorkItem(PVOID object, PIO_WORKITEM item)
{
	*item = (struct _IO_WORKITEM){.object = object};
}

VOID
IoUninitializeWorkItem(PIO_WORKITEM item)
{
	if (__atomic_load_n(&item->is_queued, __ATOMIC_ACQUIRE) != 0)
		plx_wdk_stop("a work item was freed while it was queued");
}

ULONG
IoSizeofWorkItem(VOID)
{
	return sizeof(struct _IO_WORKITEM);
}

PIO_WORKITEM
IoAllocateWorkItem(PDEVICE_OBJECT device)
{
	PIO_WORKITEM item;

	plx_ke_require("IoAllocateWorkItem", DISPATCH_LEVEL);
	item = malloc(sizeof(*item));
	if (item == NULL)
		return NULL;
	IoInitializeWorkItem(device, item);
	allocated++;
	return item;
}

VOID
IoFreeWorkItem(PIO_WORKITEM item)
{
	plx_ke_require("IoFreeWorkItem", DISPATCH_LEVEL);
	IoUninitializeWorkItem(item);
	allocated--;
	free(item);
}

VOID
IoQueueWorkItem(PIO_WORKITEM item, PIO_WORKITEM_ROUTINE routine, WORK_QUEUE_TYPE type,
		PVOID context)
{
	plx_ke_require("IoQueueWorkItem", DISPATCH_LEVEL);
	item->routine = routine;
	item->routine_ex = NULL;
	item->context = context;
	queue(item, type);
}

VOID
IoQueueWorkItemEx(PIO_WORKITEM item, PIO_WORKITEM_ROUTINE_EX routine, WORK_QUEUE_TYPE type,
		  PVOID context)
{
	plx_ke_require("IoQueueWorkItemEx", DISPATCH_LEVEL);
	item->routine = NULL;
	item->routine_ex = routine;
	item->context = context;
	queue(item, type);
}
