/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke: deferred procedure calls. A DPC is one entry in one queue: it is queued or not, however often
 * it is inserted. When its routine starts it is not queued any more, so that the routine may insert
 * it again, or free its memory. It is never run twice at once.
 *
 * A thread of this library runs them in order at DISPATCH_LEVEL, those with a target processor a
 * thread bound to it (plx_ke.h). Nothing is needed to end a DPC that is not queued.
 * Threads: every call from any thread, at any IRQL. Tests: tests/unit/windows/ke/dpc.c
 */
#ifndef PLX_WDK_WDMDPC_H
#define PLX_WDK_WDMDPC_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _KDPC KDPC, *PKDPC, *PRKDPC;

typedef VOID KDEFERRED_ROUTINE(PKDPC Dpc, PVOID DeferredContext, PVOID SystemArgument1,
			       PVOID SystemArgument2);
typedef KDEFERRED_ROUTINE *PKDEFERRED_ROUTINE;

/* Where in the queue it goes: the highest to its head, the others to its end. */
typedef enum _KDPC_IMPORTANCE {
	LowImportance,
	MediumImportance,
	HighImportance,
	MediumHighImportance,
} KDPC_IMPORTANCE;

struct _KDPC {
	UCHAR Type;
	UCHAR Importance;
	volatile USHORT Number; /* target processor + 1; 0: none */
	LIST_ENTRY DpcListEntry;
	PKDEFERRED_ROUTINE DeferredRoutine;
	PVOID DeferredContext;
	PVOID SystemArgument1;
	PVOID SystemArgument2;
	PVOID volatile DpcData; /* the queue it is in; NULL: it is in none */
};

VOID KeInitializeDpc(PRKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
	PLX_WIN_NAME(KeInitializeDpc);
/** A DPC that runs at PASSIVE_LEVEL in a thread, where KeGetCurrentIrql() says so. Windows may also
 * run it at DISPATCH_LEVEL, so its routine is written for both and waits for nothing. */
VOID KeInitializeThreadedDpc(PRKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine, PVOID DeferredContext)
	PLX_WIN_NAME(KeInitializeThreadedDpc);
/** Returns: FALSE: it was queued already, and keeps the arguments of then */
BOOLEAN KeInsertQueueDpc(PRKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2)
	PLX_WIN_NAME(KeInsertQueueDpc);
/** Returns: FALSE: it was not queued. It may be running */
BOOLEAN KeRemoveQueueDpc(PRKDPC Dpc) PLX_WIN_NAME(KeRemoveQueueDpc);
/** For the insertions that follow; a DPC starts with MediumImportance. */
VOID KeSetImportanceDpc(PRKDPC Dpc, KDPC_IMPORTANCE Importance) PLX_WIN_NAME(KeSetImportanceDpc);
/** For the insertions that follow. @param Number of the processor in group 0 */
VOID KeSetTargetProcessorDpc(PRKDPC Dpc, CCHAR Number) PLX_WIN_NAME(KeSetTargetProcessorDpc);
/** Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER: there is no such processor */
NTSTATUS KeSetTargetProcessorDpcEx(PKDPC Dpc, PPROCESSOR_NUMBER ProcNumber)
	PLX_WIN_NAME(KeSetTargetProcessorDpcEx);
/** Wait until every DPC that is queued has run and returned. At PASSIVE_LEVEL. */
VOID KeFlushQueuedDpcs(VOID) PLX_WIN_NAME(KeFlushQueuedDpcs);

/** Returns: in a DPC, whether others wait in its queue, so that it had better leave the rest of its
 * work for later; otherwise FALSE: a thread at DISPATCH_LEVEL takes no processor for itself. At
 * DISPATCH_LEVEL */
LOGICAL KeShouldYieldProcessor(VOID) PLX_WIN_NAME(KeShouldYieldProcessor);

#ifdef __cplusplus
}
#endif

#endif
