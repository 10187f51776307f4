/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of a connection that both roles have: queues, receives, credits, results. A connection
 * breaks once, from wherever it is seen, and is then closed by its role's thread. Start with
 * OnNotify().
 */
#include "storage.h"

#define RESULTS 16

/* With Lock. */
static VOID
TakeResult(PSTORAGE_CONNECTION Connection, const NDK_RESULT_EX *Result)
{
	PSTORAGE_WORK Work = Result->RequestContext;
	ULONG *Due = Work->Kind == WorkReceive ? &Connection->Receives : &Connection->Requests;

	if (Work->Kind != WorkSilent) {
		if (*Due == 0)
			InterlockedIncrement64(&Statistics.Lost);
		else
			--*Due;
	}
	if (!NT_SUCCESS(Result->Status))
		ConnectionBreak(Connection);
	Connection->OnResult(Connection, Result);
}

/* With Lock. */
static VOID
Drain(PSTORAGE_CONNECTION Connection)
{
	NDK_RESULT_EX Results[RESULTS];
	ULONG Count, i;

	do {
		Count = Connection->Cq->Dispatch->NdkGetCqResultsEx(Connection->Cq, Results,
								    RESULTS);
		for (i = 0; i < Count; i++)
			TakeResult(Connection, &Results[i]);
	} while (Count > 0);
}

static VOID
OnNotify(PVOID Context, NTSTATUS Status)
{
	PSTORAGE_CONNECTION Connection = Context;

	NT_ASSERT(KeGetCurrentIrql() == DISPATCH_LEVEL);
	KeAcquireSpinLockAtDpcLevel(&Connection->Lock);
	if (!NT_SUCCESS(Status))
		ConnectionBreak(Connection);
	else if (Connection->Polls) {
		Drain(Connection);
		/* what came since is told of at once */
		Connection->Cq->Dispatch->NdkArmCq(Connection->Cq, NDK_CQ_NOTIFY_ANY);
	}
	KeReleaseSpinLockFromDpcLevel(&Connection->Lock);
}

/* ---- requests ---- */

NDK_SGE
ConnectionSge(PSTORAGE_CONNECTION Connection, PVOID Memory, ULONG Bytes)
{
	NDK_SGE Sge;

	RtlZeroMemory(&Sge, sizeof(Sge));
	Sge.VirtualAddress = Memory;
	Sge.Length = Bytes;
	Sge.MemoryRegionToken = Connection->Region.Token;
	return Sge;
}

BOOLEAN
ConnectionPosted(PSTORAGE_CONNECTION Connection, NTSTATUS Status, BOOLEAN IsSilent)
{
	if (NT_SUCCESS(Status)) {
		Connection->Requests += !IsSilent;
		return TRUE;
	}
	ConnectionBreak(Connection);
	return FALSE;
}

static NTSTATUS
PostReceive(PSTORAGE_CONNECTION Connection, PSTORAGE_WORK Work)
{
	NDK_SGE Sge = ConnectionSge(Connection, Work->Owner, sizeof(STORAGE_MESSAGE));
	NTSTATUS Status;

	Status = Connection->Qp->Dispatch->NdkReceive(Connection->Qp, Work, &Sge, 1);
	if (NT_SUCCESS(Status))
		Connection->Receives++;
	return Status;
}

VOID
ConnectionReceive(PSTORAGE_CONNECTION Connection, const NDK_RESULT_EX *Result,
		  PSTORAGE_MESSAGE Message)
{
	PSTORAGE_WORK Work = Result->RequestContext;

	*Message = *(PSTORAGE_MESSAGE)Work->Owner;
	if (Result->BytesTransferred != sizeof(*Message))
		InterlockedIncrement64(&Statistics.Stray);
	if (Connection->Granted == 0)
		InterlockedIncrement64(&Statistics.Overruns);
	else
		Connection->Granted--;
	Connection->Credits += Message->Credits;
	if (Connection->Broken)
		return;
	if (NT_SUCCESS(PostReceive(Connection, Work)))
		Connection->Reposted++;
	else
		ConnectionBreak(Connection);
}

BOOLEAN
ConnectionSend(PSTORAGE_CONNECTION Connection, PSTORAGE_WORK Work, PSTORAGE_MESSAGE Message,
	       UINT32 Token)
{
	NDK_SGE Sge = ConnectionSge(Connection, Message, sizeof(*Message));
	NDK_QP *Qp = Connection->Qp;
	NTSTATUS Status;

	Work->Kind = WorkSend;
	if (Connection->Credits == 0) {
		InterlockedIncrement64(&Statistics.Overruns);
		ConnectionBreak(Connection);
		return FALSE;
	}
	Message->Credits = Connection->Reposted;
	if (Token != 0)
		Status = Qp->Dispatch->NdkSendAndInvalidate(Qp, Work, &Sge, 1, 0, Token);
	else
		Status = Qp->Dispatch->NdkSend(Qp, Work, &Sge, 1, 0);
	if (!ConnectionPosted(Connection, Status, FALSE))
		return FALSE;
	Connection->Credits--;
	Connection->Granted += Connection->Reposted;
	Connection->Reposted = 0;
	if (Connection->Granted > Connection->Receives)
		InterlockedIncrement64(&Statistics.Overruns);
	return TRUE;
}

/* ---- its end ---- */

VOID
ConnectionBreak(PSTORAGE_CONNECTION Connection)
{
	if (Connection->Broken)
		return;
	Connection->Broken = TRUE;
	Connection->Ready = FALSE;
	Connection->OnBroken(Connection);
}

VOID
ConnectionBreakUnlocked(PSTORAGE_CONNECTION Connection)
{
	KIRQL Irql;

	KeAcquireSpinLock(&Connection->Lock, &Irql);
	ConnectionBreak(Connection);
	KeReleaseSpinLock(&Connection->Lock, Irql);
}

_Use_decl_annotations_ VOID
ConnectionOnDisconnect(PVOID Context, ULONG Reason)
{
	UNREFERENCED_PARAMETER(Reason);
	ConnectionBreakUnlocked(Context);
}

/* The queue pair ends with its connector: both are closed, and then waited for. */
static VOID
CloseQp(PSTORAGE_CONNECTION Connection)
{
	NDK_QP *Qp = Connection->Qp;
	NTSTATUS Status = STATUS_SUCCESS;
	STORAGE_WAIT Wait;

	WaitBegin(&Wait);
	if (Qp != NULL)
		Status = Qp->Dispatch->NdkCloseQp(&Qp->Header, WaitOnClosed, &Wait);
	if (Connection->Connector != NULL)
		CloseAndWait(Connection->Connector->Dispatch->NdkCloseConnector,
			     &Connection->Connector->Header);
	(VOID) WaitEnd(&Wait, Status);
}

VOID
ConnectionClose(PSTORAGE_CONNECTION Connection, BOOLEAN Disconnect)
{
	NTSTATUS Status;
	KIRQL Irql;

	ConnectionBreakUnlocked(Connection);
	if (Disconnect && Connection->Connector != NULL)
		REQUEST_AND_WAIT(Status, Connection->Connector->Dispatch->NdkDisconnect,
				 Connection->Connector);
	UNREFERENCED_PARAMETER(Status);
	CloseQp(Connection);
	if (Connection->Cq != NULL) {
		KeAcquireSpinLock(&Connection->Lock, &Irql);
		Drain(Connection);
		Connection->Polls = FALSE;
		if (Connection->Receives != 0 || Connection->Requests != 0)
			InterlockedIncrement64(&Statistics.Lost);
		KeReleaseSpinLock(&Connection->Lock, Irql);
		CloseAndWait(Connection->Cq->Dispatch->NdkCloseCq, &Connection->Cq->Header);
	}
	RegionDestroy(&Connection->Region);
}

/* ---- its beginning ---- */

static NTSTATUS
CreateQueues(PSTORAGE_CONNECTION Connection)
{
	const ULONG Depth = 6 * STORAGE_SLOTS;
	PSTORAGE_SIDE Side = Connection->Side;
	NTSTATUS Status;

	CREATE_AND_WAIT(Status, Connection->Cq, Side->Adapter->Dispatch->NdkCreateCq, Side->Adapter,
			Depth + CONNECTION_RECEIVES, OnNotify, Connection, NULL);
	if (NT_SUCCESS(Status))
		CREATE_AND_WAIT(Status, Connection->Qp, Side->Pd->Dispatch->NdkCreateQp, Side->Pd,
				Connection->Cq, Connection->Cq, Connection, CONNECTION_RECEIVES,
				Depth, 1, 1, 0);
	return Status;
}

NTSTATUS
ConnectionOpen(PSTORAGE_CONNECTION Connection, ULONG RegionBytes)
{
	const ULONG Bytes = CONNECTION_RECEIVES * sizeof(STORAGE_MESSAGE);
	NTSTATUS Status;
	ULONG i;

	Connection->Silent.Kind = WorkSilent;
	Status = RegionCreate(Connection->Side, Bytes + RegionBytes, &Connection->Region);
	if (NT_SUCCESS(Status))
		Status = CreateQueues(Connection);
	if (!NT_SUCCESS(Status))
		return Status;
	for (i = 0; i < Connection->ReceiveCount && NT_SUCCESS(Status); i++) {
		Connection->Receive[i].Kind = WorkReceive;
		Connection->Receive[i].Owner = (PSTORAGE_MESSAGE)Connection->Region.Memory + i;
		Status = PostReceive(Connection, &Connection->Receive[i]);
	}
	Connection->Granted = Connection->ReceiveCount;
	Connection->Polls = TRUE;
	Connection->Cq->Dispatch->NdkArmCq(Connection->Cq, NDK_CQ_NOTIFY_ANY);
	return Status;
}
