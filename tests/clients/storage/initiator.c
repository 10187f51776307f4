/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The initiator: threads that connect sessions, provoke faults on a schedule, close what is broken
 * and connect again. Each session belongs to one thread. Start with InitiatorThread().
 */
#include "initiator.h"

#define THREADS  4
#define RETRY_MS 10
#define IDLE_MS  50

typedef struct _INITIATOR_THREAD {
	PETHREAD Thread;
	KEVENT Event; /* a connection is broken, or the end */
	ULONG Number;
	ULONG Own;     /* sessions: Number, Number + THREADS, ... */
	ULONG Next;    /* of these, to be looked at */
	ULONGLONG Due; /* of a fault */
	ULONG64 Random;
} INITIATOR_THREAD, *PINITIATOR_THREAD;

volatile LONG InitiatorRuns;

static struct {
	STORAGE_SIDE Side;
	SOCKADDR_INET To;
	PINITIATOR_SESSION Sessions;
	ULONG SessionCount, FaultMs;
	volatile LONG Stopping;
	INITIATOR_THREAD Threads[THREADS];
} Initiator;

/* ---- connections ---- */

static VOID
OnBroken(PSTORAGE_CONNECTION Common)
{
	PINITIATOR_SESSION Session = CONTAINING_RECORD(Common, INITIATOR_SESSION, Common);

	KeSetEvent(Session->Event, IO_NO_INCREMENT, FALSE);
}

static NTSTATUS
Dial(PINITIATOR_SESSION Session)
{
	STORAGE_LOGIN Login = {Session->Number, STORAGE_ANSWER_CREDITS};
	PSTORAGE_CONNECTION Common = &Session->Common;
	SOCKADDR_INET From = Initiator.Side.Address;
	NDK_ADAPTER *Adapter = Initiator.Side.Adapter;
	NDK_CONNECTOR *Connector;
	NTSTATUS Status;

	CREATE_AND_WAIT(Status, Connector, Adapter->Dispatch->NdkCreateConnector, Adapter);
	if (!NT_SUCCESS(Status))
		return Status;
	Common->Connector = Connector;
	REQUEST_AND_WAIT(Status, Connector->Dispatch->NdkConnect, Connector, Common->Qp,
			 (PSOCKADDR)&From, sizeof(From.Ipv4), (PSOCKADDR)&Initiator.To,
			 sizeof(Initiator.To.Ipv4), 16, 16, &Login, sizeof(Login));
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Connector->Dispatch->NdkCompleteConnectEx, Connector,
				 ConnectionOnDisconnect, Session);
	return Status;
}

static NTSTATUS
Connect(PINITIATOR_SESSION Session)
{
	PSTORAGE_CONNECTION Common = &Session->Common;
	NTSTATUS Status;
	KIRQL Irql;
	ULONG i;

	KeAcquireSpinLock(&Common->Lock, &Irql);
	RtlZeroMemory((PUCHAR)Common + FIELD_OFFSET(STORAGE_CONNECTION, Cq),
		      sizeof(*Common) - FIELD_OFFSET(STORAGE_CONNECTION, Cq));
	Common->ReceiveCount = STORAGE_ANSWER_CREDITS;
	KeReleaseSpinLock(&Common->Lock, Irql);
	Session->IsOpen = TRUE;
	Status = ConnectionOpen(Common, STORAGE_SLOTS * sizeof(STORAGE_MESSAGE));
	for (i = 0; i < STORAGE_SLOTS; i++)
		Session->Slots[i].Message =
			(PSTORAGE_MESSAGE)Common->Region.Memory + CONNECTION_RECEIVES + i;
	if (NT_SUCCESS(Status))
		Status = Dial(Session);
	KeAcquireSpinLock(&Common->Lock, &Irql);
	if (!NT_SUCCESS(Status)) {
		ConnectionBreak(Common);
	} else if (!Common->Broken) {
		InterlockedIncrement64(&Statistics.Connects);
		Common->Credits = STORAGE_TARGET_CREDITS;
		Common->Ready = TRUE;
		SessionPump(Session);
	}
	KeReleaseSpinLock(&Common->Lock, Irql);
	return Status;
}

static VOID
Close(PINITIATOR_SESSION Session)
{
	NTSTATUS Status;
	ULONG i;

	/* every third goes without a word */
	ConnectionClose(&Session->Common, SessionRandom(Session, 3) != 0);
	Session->IsOpen = FALSE;
	for (i = 0; i < STORAGE_SLOTS; i++) {
		Status = SlotRenew(&Initiator.Side, Session, &Session->Slots[i]);
		if (!NT_SUCCESS(Status)) {
			DbgPrint("storage: no region: 0x%08x\n", Status);
			InterlockedIncrement64(&Statistics.Lost);
		}
	}
}

/* ---- faults ---- */

static VOID
Provoke(PINITIATOR_SESSION Session)
{
	PSTORAGE_CONNECTION Common = &Session->Common;
	KIRQL Irql;

	KeAcquireSpinLock(&Common->Lock, &Irql);
	if (Common->Ready && ReadNoFence(&InitiatorRuns)) {
		InterlockedIncrement64(&Statistics.Faults);
		switch (SessionRandom(Session, 3)) {
		case 0:
			Session->WantsStale = TRUE;
			break;
		case 1:
			Session->WantsDrop = TRUE;
			break;
		default:
			/* closed with requests in flight */
			ConnectionBreak(Common);
			break;
		}
	}
	KeReleaseSpinLock(&Common->Lock, Irql);
}

/* ---- threads ---- */

static BOOLEAN
IsBroken(PINITIATOR_SESSION Session)
{
	BOOLEAN Broken;
	KIRQL Irql;

	KeAcquireSpinLock(&Session->Common.Lock, &Irql);
	Broken = Session->Common.Broken;
	KeReleaseSpinLock(&Session->Common.Lock, Irql);
	return Broken;
}

/* Close one connection that is broken, and connect again.
 * Returns: how long there is nothing to do, unless the event is set [ms] */
static ULONG
Repair(PINITIATOR_THREAD Thread)
{
	ULONG i, At;

	for (i = 0; i < Thread->Own; i++) {
		PINITIATOR_SESSION Session;

		At = Thread->Next;
		Thread->Next = (Thread->Next + 1) % Thread->Own;
		Session = &Initiator.Sessions[Thread->Number + At * THREADS];
		if (!IsBroken(Session))
			continue;
		if (Session->IsOpen)
			Close(Session);
		return NT_SUCCESS(Connect(Session)) ? 0 : RETRY_MS;
	}
	return Initiator.FaultMs != 0 ? Initiator.FaultMs : IDLE_MS;
}

static VOID
ProvokeWhenDue(PINITIATOR_THREAD Thread)
{
	ULONG Which;

	if (Initiator.FaultMs == 0 || KeQueryInterruptTime() < Thread->Due)
		return;
	Thread->Random = Thread->Random * 6364136223846793005ull + 1;
	Which = (ULONG)(Thread->Random >> 33) % Thread->Own;
	Provoke(&Initiator.Sessions[Thread->Number + Which * THREADS]);
	Thread->Due = KeQueryInterruptTime() + (ULONGLONG)Initiator.FaultMs * 10000;
}

static VOID
InitiatorThread(PVOID Context)
{
	PINITIATOR_THREAD Thread = Context;
	LARGE_INTEGER Pause;
	ULONG i;

	while (!ReadNoFence(&Initiator.Stopping) && Thread->Own > 0) {
		Pause.QuadPart = -(LONGLONG)Repair(Thread) * 10000;
		ProvokeWhenDue(Thread);
		KeWaitForSingleObject(&Thread->Event, Executive, KernelMode, FALSE, &Pause);
	}
	for (i = Thread->Number; i < Initiator.SessionCount; i += THREADS)
		if (Initiator.Sessions[i].IsOpen)
			Close(&Initiator.Sessions[i]);
	PsTerminateSystemThread(STATUS_SUCCESS);
}

/* ---- the whole ---- */

static NTSTATUS
MakeSessions(ULONG Count)
{
	NTSTATUS Status = STATUS_SUCCESS;
	ULONG i, j;

	Initiator.Sessions = ExAllocatePool2(POOL_FLAG_NON_PAGED,
					     Count * sizeof(*Initiator.Sessions), STORAGE_TAG);
	if (Initiator.Sessions == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	Initiator.SessionCount = Count;
	for (i = 0; i < Count && NT_SUCCESS(Status); i++) {
		PINITIATOR_SESSION Session = &Initiator.Sessions[i];

		KeInitializeSpinLock(&Session->Common.Lock);
		Session->Common.Side = &Initiator.Side;
		Session->Common.OnResult = SessionOnResult;
		Session->Common.OnBroken = OnBroken;
		Session->Common.Broken = TRUE;
		Session->Event = &Initiator.Threads[i % THREADS].Event;
		Session->Number = i;
		Session->Random = 0x9e3779b97f4a7c15ull * (i + 1);
		for (j = 0; j < STORAGE_SLOTS && NT_SUCCESS(Status); j++) {
			Session->Slots[j].Number = j;
			Status = SlotCreate(&Initiator.Side, &Session->Slots[j]);
		}
	}
	return Status;
}

static NTSTATUS
StartThread(PINITIATOR_THREAD Thread)
{
	HANDLE Handle;
	NTSTATUS Status;

	Status = PsCreateSystemThread(&Handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, InitiatorThread,
				      Thread);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = ObReferenceObjectByHandle(Handle, SYNCHRONIZE, *PsThreadType, KernelMode,
					   (PVOID *)&Thread->Thread, NULL);
	ZwClose(Handle);
	return Status;
}

NTSTATUS
InitiatorStart(const SOCKADDR_INET *From, const SOCKADDR_INET *To, ULONG Sessions, ULONG FaultMs)
{
	NTSTATUS Status;
	ULONG i;

	RtlZeroMemory(&Initiator, sizeof(Initiator));
	Initiator.Side.Address = *From;
	Initiator.To = *To;
	Initiator.To.Ipv4.sin_port = RtlUshortByteSwap(STORAGE_PORT);
	Initiator.FaultMs = FaultMs;
	Status = SideOpen(&Initiator.Side);
	if (!NT_SUCCESS(Status))
		return Status;
	for (i = 0; i < THREADS; i++) {
		KeInitializeEvent(&Initiator.Threads[i].Event, SynchronizationEvent, FALSE);
		Initiator.Threads[i].Number = i;
		Initiator.Threads[i].Random = i;
		Initiator.Threads[i].Own = (Sessions + THREADS - 1 - i) / THREADS;
	}
	Status = MakeSessions(Sessions);
	for (i = 0; i < THREADS && NT_SUCCESS(Status); i++)
		Status = StartThread(&Initiator.Threads[i]);
	if (!NT_SUCCESS(Status))
		InitiatorStop();
	return Status;
}

VOID
InitiatorStop(VOID)
{
	ULONG i, j;

	InterlockedExchange(&InitiatorRuns, FALSE);
	InterlockedExchange(&Initiator.Stopping, TRUE);
	for (i = 0; i < THREADS; i++) {
		if (Initiator.Threads[i].Thread == NULL)
			continue;
		KeSetEvent(&Initiator.Threads[i].Event, IO_NO_INCREMENT, FALSE);
		KeWaitForSingleObject(Initiator.Threads[i].Thread, Executive, KernelMode, FALSE,
				      NULL);
		ObDereferenceObject(Initiator.Threads[i].Thread);
	}
	for (i = 0; i < Initiator.SessionCount; i++)
		for (j = 0; j < STORAGE_SLOTS; j++)
			SlotDestroy(&Initiator.Side, &Initiator.Sessions[i].Slots[j]);
	if (Initiator.Sessions != NULL)
		ExFreePoolWithTag(Initiator.Sessions, STORAGE_TAG);
	SideClose(&Initiator.Side);
}

VOID
InitiatorRun(BOOLEAN Runs)
{
	KIRQL Irql;
	ULONG i;

	InterlockedExchange(&InitiatorRuns, Runs);
	for (i = 0; i < Initiator.SessionCount && Runs; i++) {
		PINITIATOR_SESSION Session = &Initiator.Sessions[i];

		KeAcquireSpinLock(&Session->Common.Lock, &Irql);
		SessionPump(Session);
		KeReleaseSpinLock(&Session->Common.Lock, Irql);
	}
}

ULONG
InitiatorBusy(VOID)
{
	ULONG Busy = 0, i, j;
	KIRQL Irql;

	for (i = 0; i < Initiator.SessionCount; i++) {
		PINITIATOR_SESSION Session = &Initiator.Sessions[i];

		KeAcquireSpinLock(&Session->Common.Lock, &Irql);
		for (j = 0; j < STORAGE_SLOTS; j++)
			Busy += Session->Slots[j].State != SlotIdle;
		KeReleaseSpinLock(&Session->Common.Lock, Irql);
	}
	return Busy;
}

ULONG
InitiatorReady(VOID)
{
	ULONG Ready = 0, i;
	KIRQL Irql;

	for (i = 0; i < Initiator.SessionCount; i++) {
		PSTORAGE_CONNECTION Common = &Initiator.Sessions[i].Common;

		KeAcquireSpinLock(&Common->Lock, &Irql);
		Ready += Common->Ready;
		KeReleaseSpinLock(&Common->Lock, Irql);
	}
	return Ready;
}
