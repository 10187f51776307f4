/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues of requests that may be cancelled at any moment. The queue is the driver's; what is here
 * is the order of steps between insertion, removal and cancellation. A request is out of reach of
 * cancellation as soon as its cancel routine has been taken from it. Start with insert().
 */
#include "io.h"

enum {
	TYPE_CSQ = 2,
	TYPE_CONTEXT = 1,
	TYPE_CSQ_EX = 3,
	/* The word of a waiting request by which its cancel routine finds the queue, or the context
	 * that names it: the last of DriverContext, as documented. */
	QUEUE_WORD = 3,
};

static NTSTATUS
initialize(PIO_CSQ csq, ULONG type, PIO_CSQ_INSERT_IRP insert, PIO_CSQ_REMOVE_IRP remove,
	   PIO_CSQ_PEEK_NEXT_IRP peek, PIO_CSQ_ACQUIRE_LOCK acquire, PIO_CSQ_RELEASE_LOCK release,
	   PIO_CSQ_COMPLETE_CANCELED_IRP complete)
{
	*csq = (IO_CSQ){type, insert, remove, peek, acquire, release, complete, NULL};
	return STATUS_SUCCESS;
}

NTSTATUS
IoCsqInitialize(PIO_CSQ csq, PIO_CSQ_INSERT_IRP insert, PIO_CSQ_REMOVE_IRP remove,
		PIO_CSQ_PEEK_NEXT_IRP peek, PIO_CSQ_ACQUIRE_LOCK acquire,
		PIO_CSQ_RELEASE_LOCK release, PIO_CSQ_COMPLETE_CANCELED_IRP complete)
{
	return initialize(csq, TYPE_CSQ, insert, remove, peek, acquire, release, complete);
}

NTSTATUS
IoCsqInitializeEx(PIO_CSQ csq, PIO_CSQ_INSERT_IRP_EX insert, PIO_CSQ_REMOVE_IRP remove,
		  PIO_CSQ_PEEK_NEXT_IRP peek, PIO_CSQ_ACQUIRE_LOCK acquire,
		  PIO_CSQ_RELEASE_LOCK release, PIO_CSQ_COMPLETE_CANCELED_IRP complete)
{
	/* the type tells which of the two it is */
	return initialize(csq, TYPE_CSQ_EX, (PIO_CSQ_INSERT_IRP)(void (*)(void))insert, remove,
			  peek, acquire, release, complete);
}

static NTSTATUS
call_insert(PIO_CSQ csq, PIRP irp, PVOID context)
{
	if (csq->Type == TYPE_CSQ_EX)
		return ((PIO_CSQ_INSERT_IRP_EX)(void (*)(void))csq->CsqInsertIrp)(csq, irp,
										  context);
	csq->CsqInsertIrp(csq, irp);
	return STATUS_SUCCESS;
}

/* Forget a request that leaves the queue, under its lock. */
static void
detach(PIRP irp)
{
	PIO_CSQ_IRP_CONTEXT context = irp->Tail.Overlay.DriverContext[QUEUE_WORD];

	if (context->Type == TYPE_CONTEXT)
		context->Irp = NULL;
	irp->Tail.Overlay.DriverContext[QUEUE_WORD] = NULL;
}

static VOID
cancel(PDEVICE_OBJECT device, PIRP irp)
{
	PIO_CSQ_IRP_CONTEXT context = irp->Tail.Overlay.DriverContext[QUEUE_WORD];
	PIO_CSQ csq = context->Type == TYPE_CONTEXT ? context->Csq : (PIO_CSQ)(void *)context;
	KIRQL irql;

	(void)device;
	IoReleaseCancelSpinLock(irp->CancelIrql);
	csq->CsqAcquireLock(csq, &irql);
	csq->CsqRemoveIrp(csq, irp);
	detach(irp);
	csq->CsqReleaseLock(csq, irql);
	csq->CsqCompleteCanceledIrp(csq, irp);
}

NTSTATUS
IoCsqInsertIrpEx(PIO_CSQ csq, PIRP irp, PIO_CSQ_IRP_CONTEXT context, PVOID insert_context)
{
	NTSTATUS status;
	KIRQL irql;

	irp->Tail.Overlay.DriverContext[QUEUE_WORD] = csq;
	if (context != NULL) {
		*context = (IO_CSQ_IRP_CONTEXT){TYPE_CONTEXT, irp, csq};
		irp->Tail.Overlay.DriverContext[QUEUE_WORD] = context;
	}
	csq->CsqAcquireLock(csq, &irql);
	status = call_insert(csq, irp, insert_context);
	if (!NT_SUCCESS(status)) {
		detach(irp);
		csq->CsqReleaseLock(csq, irql);
		return status;
	}
	IoMarkIrpPending(irp);
	(void)IoSetCancelRoutine(irp, cancel);
	/* Cancelled before it had a routine: nobody else will call it. If somebody has taken the
	 * routine, it is about to run, and waits for the queue's lock. */
	if (__atomic_load_n(&irp->Cancel, __ATOMIC_SEQ_CST) &&
	    IoSetCancelRoutine(irp, NULL) != NULL) {
		csq->CsqRemoveIrp(csq, irp);
		detach(irp);
		csq->CsqReleaseLock(csq, irql);
		csq->CsqCompleteCanceledIrp(csq, irp);
		return status;
	}
	csq->CsqReleaseLock(csq, irql);
	return status;
}

VOID
IoCsqInsertIrp(PIO_CSQ csq, PIRP irp, PIO_CSQ_IRP_CONTEXT context)
{
	(void)IoCsqInsertIrpEx(csq, irp, context, NULL);
}

PIRP
IoCsqRemoveNextIrp(PIO_CSQ csq, PVOID peek_context)
{
	PIRP irp = NULL;
	KIRQL irql;

	csq->CsqAcquireLock(csq, &irql);
	/* one whose cancel routine is gone belongs to who cancels it */
	do
		irp = csq->CsqPeekNextIrp(csq, irp, peek_context);
	while (irp != NULL && IoSetCancelRoutine(irp, NULL) == NULL);
	if (irp != NULL) {
		csq->CsqRemoveIrp(csq, irp);
		detach(irp);
	}
	csq->CsqReleaseLock(csq, irql);
	return irp;
}

PIRP
IoCsqRemoveIrp(PIO_CSQ csq, PIO_CSQ_IRP_CONTEXT context)
{
	PIRP irp;
	KIRQL irql;

	csq->CsqAcquireLock(csq, &irql);
	irp = context->Irp;
	if (irp != NULL && IoSetCancelRoutine(irp, NULL) == NULL)
		irp = NULL;
	if (irp != NULL) {
		csq->CsqRemoveIrp(csq, irp);
		detach(irp);
	}
	csq->CsqReleaseLock(csq, irql);
	return irp;
}
