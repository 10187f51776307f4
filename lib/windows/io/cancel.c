/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancelling requests: one lock for all of them, as in Windows. Start with IoCancelIrp().
 */
#include "io.h"

static KSPIN_LOCK cancel_lock;

VOID
IoAcquireCancelSpinLock(PKIRQL irql)
{
	KeAcquireSpinLock(&cancel_lock, irql);
}

VOID
IoReleaseCancelSpinLock(KIRQL irql)
{
	KeReleaseSpinLock(&cancel_lock, irql);
}

PDRIVER_CANCEL
IoSetCancelRoutine(PIRP irp, PDRIVER_CANCEL routine)
{
	return __atomic_exchange_n(&irp->CancelRoutine, routine, __ATOMIC_SEQ_CST);
}

BOOLEAN
IoCancelIrp(PIRP irp)
{
	PDRIVER_CANCEL routine;
	KIRQL irql;

	plx_ke_require("IoCancelIrp", DISPATCH_LEVEL);
	IoAcquireCancelSpinLock(&irql);
	__atomic_store_n(&irp->Cancel, TRUE, __ATOMIC_SEQ_CST);
	routine = IoSetCancelRoutine(irp, NULL);
	if (routine == NULL) {
		IoReleaseCancelSpinLock(irql);
		return FALSE;
	}
	irp->CancelIrql = irql;
	routine(IoGetCurrentIrpStackLocation(irp)->DeviceObject, irp);
	return TRUE;
}
