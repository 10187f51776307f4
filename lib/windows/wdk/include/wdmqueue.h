/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Io: remove locks, which count what is in progress until a device may go, and queues of requests
 * that may be cancelled while they wait.
 */
#ifndef PLX_WDK_WDMQUEUE_H
#define PLX_WDK_WDMQUEUE_H

#include "wdmirp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- remove locks ---- */

typedef struct _IO_REMOVE_LOCK {
	struct {
		BOOLEAN Removed;
		BOOLEAN Reserved[3];
		volatile LONG IoCount;
		KEVENT RemoveEvent;
	} Common;
} IO_REMOVE_LOCK, *PIO_REMOVE_LOCK;

/** @param MaxLockedMinutes, HighWatermark for checked builds of Windows; ignored */
VOID IoInitializeRemoveLockEx(PIO_REMOVE_LOCK Lock, ULONG AllocateTag, ULONG MaxLockedMinutes,
			      ULONG HighWatermark, ULONG RemlockSize)
	PLX_WIN_NAME(IoInitializeRemoveLockEx);
/** Returns: STATUS_DELETE_PENDING: the device is being removed, and nothing was acquired */
NTSTATUS IoAcquireRemoveLockEx(PIO_REMOVE_LOCK RemoveLock, PVOID Tag, PCSTR File, ULONG Line,
			       ULONG RemlockSize) PLX_WIN_NAME(IoAcquireRemoveLockEx);
VOID IoReleaseRemoveLockEx(PIO_REMOVE_LOCK RemoveLock, PVOID Tag, ULONG RemlockSize)
	PLX_WIN_NAME(IoReleaseRemoveLockEx);
/** Release the caller's acquisition, refuse all further ones, and wait for the last release. */
VOID IoReleaseRemoveLockAndWaitEx(PIO_REMOVE_LOCK RemoveLock, PVOID Tag, ULONG RemlockSize)
	PLX_WIN_NAME(IoReleaseRemoveLockAndWaitEx);

#define IoInitializeRemoveLock(Lock, Tag, Maxmin, HighWater) \
	IoInitializeRemoveLockEx(Lock, Tag, Maxmin, HighWater, sizeof(IO_REMOVE_LOCK))
#define IoAcquireRemoveLock(RemoveLock, Tag) \
	IoAcquireRemoveLockEx(RemoveLock, Tag, __FILE__, __LINE__, sizeof(IO_REMOVE_LOCK))
#define IoReleaseRemoveLock(RemoveLock, Tag) \
	IoReleaseRemoveLockEx(RemoveLock, Tag, sizeof(IO_REMOVE_LOCK))
#define IoReleaseRemoveLockAndWait(RemoveLock, Tag) \
	IoReleaseRemoveLockAndWaitEx(RemoveLock, Tag, sizeof(IO_REMOVE_LOCK))

/* ---- cancel-safe queues ---- */

typedef struct _IO_CSQ IO_CSQ, *PIO_CSQ;

/* Stands for one request in a queue. Irp is NULL once the request has left it. */
typedef struct _IO_CSQ_IRP_CONTEXT {
	ULONG Type;
	PIRP Irp;
	PIO_CSQ Csq;
} IO_CSQ_IRP_CONTEXT, *PIO_CSQ_IRP_CONTEXT;

typedef VOID IO_CSQ_INSERT_IRP(PIO_CSQ Csq, PIRP Irp);
typedef IO_CSQ_INSERT_IRP *PIO_CSQ_INSERT_IRP;
typedef NTSTATUS IO_CSQ_INSERT_IRP_EX(PIO_CSQ Csq, PIRP Irp, PVOID InsertContext);
typedef IO_CSQ_INSERT_IRP_EX *PIO_CSQ_INSERT_IRP_EX;
typedef VOID IO_CSQ_REMOVE_IRP(PIO_CSQ Csq, PIRP Irp);
typedef IO_CSQ_REMOVE_IRP *PIO_CSQ_REMOVE_IRP;
typedef PIRP IO_CSQ_PEEK_NEXT_IRP(PIO_CSQ Csq, PIRP Irp, PVOID PeekContext);
typedef IO_CSQ_PEEK_NEXT_IRP *PIO_CSQ_PEEK_NEXT_IRP;
typedef VOID IO_CSQ_ACQUIRE_LOCK(PIO_CSQ Csq, PKIRQL Irql);
typedef IO_CSQ_ACQUIRE_LOCK *PIO_CSQ_ACQUIRE_LOCK;
typedef VOID IO_CSQ_RELEASE_LOCK(PIO_CSQ Csq, KIRQL Irql);
typedef IO_CSQ_RELEASE_LOCK *PIO_CSQ_RELEASE_LOCK;
typedef VOID IO_CSQ_COMPLETE_CANCELED_IRP(PIO_CSQ Csq, PIRP Irp);
typedef IO_CSQ_COMPLETE_CANCELED_IRP *PIO_CSQ_COMPLETE_CANCELED_IRP;

struct _IO_CSQ {
	ULONG Type;
	PIO_CSQ_INSERT_IRP CsqInsertIrp;
	PIO_CSQ_REMOVE_IRP CsqRemoveIrp;
	PIO_CSQ_PEEK_NEXT_IRP CsqPeekNextIrp;
	PIO_CSQ_ACQUIRE_LOCK CsqAcquireLock;
	PIO_CSQ_RELEASE_LOCK CsqReleaseLock;
	PIO_CSQ_COMPLETE_CANCELED_IRP CsqCompleteCanceledIrp;
	PVOID ReservePointer;
};

/** Returns: STATUS_SUCCESS */
NTSTATUS IoCsqInitialize(PIO_CSQ Csq, PIO_CSQ_INSERT_IRP CsqInsertIrp,
			 PIO_CSQ_REMOVE_IRP CsqRemoveIrp, PIO_CSQ_PEEK_NEXT_IRP CsqPeekNextIrp,
			 PIO_CSQ_ACQUIRE_LOCK CsqAcquireLock, PIO_CSQ_RELEASE_LOCK CsqReleaseLock,
			 PIO_CSQ_COMPLETE_CANCELED_IRP CsqCompleteCanceledIrp)
	PLX_WIN_NAME(IoCsqInitialize);
/** A queue whose routine of insertion gets a context and may refuse. Returns: STATUS_SUCCESS */
NTSTATUS IoCsqInitializeEx(PIO_CSQ Csq, PIO_CSQ_INSERT_IRP_EX CsqInsertIrp,
			   PIO_CSQ_REMOVE_IRP CsqRemoveIrp, PIO_CSQ_PEEK_NEXT_IRP CsqPeekNextIrp,
			   PIO_CSQ_ACQUIRE_LOCK CsqAcquireLock, PIO_CSQ_RELEASE_LOCK CsqReleaseLock,
			   PIO_CSQ_COMPLETE_CANCELED_IRP CsqCompleteCanceledIrp)
	PLX_WIN_NAME(IoCsqInitializeEx);
/** Mark a request pending and put it into the queue. One that was cancelled before is completed.
 * @param Context for IoCsqRemoveIrp(); may be NULL */
VOID IoCsqInsertIrp(PIO_CSQ Csq, PIRP Irp, PIO_CSQ_IRP_CONTEXT Context)
	PLX_WIN_NAME(IoCsqInsertIrp);
/** Returns: what the queue's routine of insertion returned; on failure the request is the caller's
 * still, and not marked pending */
NTSTATUS IoCsqInsertIrpEx(PIO_CSQ Csq, PIRP Irp, PIO_CSQ_IRP_CONTEXT Context, PVOID InsertContext)
	PLX_WIN_NAME(IoCsqInsertIrpEx);
/** Take the next request that the queue's routine finds and that is not being cancelled.
 * Returns: NULL: there is none */
PIRP IoCsqRemoveNextIrp(PIO_CSQ Csq, PVOID PeekContext) PLX_WIN_NAME(IoCsqRemoveNextIrp);
/** Take one request. Returns: NULL: it was cancelled, or has left the queue */
PIRP IoCsqRemoveIrp(PIO_CSQ Csq, PIO_CSQ_IRP_CONTEXT Context) PLX_WIN_NAME(IoCsqRemoveIrp);

#ifdef __cplusplus
}
#endif

#endif
