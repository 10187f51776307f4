/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The target: connections are accepted by work items, commands served at DISPATCH_LEVEL (serve.c),
 * and connections that are broken closed by a thread. Start with OnConnect().
 */
#include "target.h"

static struct {
	STORAGE_SIDE Side;
	PDEVICE_OBJECT Device;
	NDK_LISTENER *Listener;
	PTARGET_SESSION Sessions;
	ULONG SessionCount;
	PETHREAD Thread;
	KEVENT Event;
	KSPIN_LOCK Lock;        /* the lists; after a connection's */
	LIST_ENTRY Connections; /* all */
	LIST_ENTRY Closing;
	BOOLEAN Stopping, ListenerClosed;
} Target;

/* ---- the end of a connection ---- */

/* With Lock of the connection. */
static VOID
QueueClose(PTARGET_CONNECTION Connection)
{
	KeAcquireSpinLockAtDpcLevel(&Target.Lock);
	InsertTailList(&Target.Closing, &Connection->CloseLink);
	KeReleaseSpinLockFromDpcLevel(&Target.Lock);
	KeSetEvent(&Target.Event, IO_NO_INCREMENT, FALSE);
}

static VOID
OnBroken(PSTORAGE_CONNECTION Common)
{
	PTARGET_CONNECTION Connection = CONTAINING_RECORD(Common, TARGET_CONNECTION, Common);

	if (!Connection->Busy)
		QueueClose(Connection);
}

static PTARGET_CONNECTION
NextClosing(VOID)
{
	PTARGET_CONNECTION Connection = NULL;
	KIRQL Irql;

	KeAcquireSpinLock(&Target.Lock, &Irql);
	if (!IsListEmpty(&Target.Closing))
		Connection = CONTAINING_RECORD(RemoveHeadList(&Target.Closing), TARGET_CONNECTION,
					       CloseLink);
	KeReleaseSpinLock(&Target.Lock, Irql);
	return Connection;
}

static VOID
CloseOne(PTARGET_CONNECTION Connection)
{
	PTARGET_SESSION Session = Connection->Session;
	KIRQL Irql;

	ConnectionClose(&Connection->Common, Connection->Drop);
	if (Session != NULL) {
		KeAcquireSpinLock(&Session->Lock, &Irql);
		if (Session->Current == Connection)
			Session->Current = NULL;
		KeReleaseSpinLock(&Session->Lock, Irql);
	}
	KeAcquireSpinLock(&Target.Lock, &Irql);
	RemoveEntryList(&Connection->Common.Link);
	KeReleaseSpinLock(&Target.Lock, Irql);
	ExFreePoolWithTag(Connection, STORAGE_TAG);
}

/* One that another connection of its session has replaced, or any, if the target stops. Only the
 * thread frees connections, so that they stay without the lock. */
static PTARGET_CONNECTION
NextUseless(VOID)
{
	PTARGET_CONNECTION Connection, Found = NULL;
	PLIST_ENTRY Entry;
	KIRQL Irql;

	KeAcquireSpinLock(&Target.Lock, &Irql);
	for (Entry = Target.Connections.Flink; Entry != &Target.Connections && Found == NULL;
	     Entry = Entry->Flink) {
		Connection = CONTAINING_RECORD(Entry, TARGET_CONNECTION, Common.Link);
		if (!Connection->Told && (Target.Stopping || Connection->Replaced)) {
			Connection->Told = TRUE;
			Found = Connection;
		}
	}
	KeReleaseSpinLock(&Target.Lock, Irql);
	return Found;
}

static BOOLEAN
IsOver(VOID)
{
	BOOLEAN Over;
	KIRQL Irql;

	KeAcquireSpinLock(&Target.Lock, &Irql);
	Over = Target.Stopping && Target.ListenerClosed && IsListEmpty(&Target.Connections);
	KeReleaseSpinLock(&Target.Lock, Irql);
	return Over;
}

static VOID
TargetThread(PVOID Context)
{
	PTARGET_CONNECTION Connection;

	UNREFERENCED_PARAMETER(Context);
	while (!IsOver()) {
		KeWaitForSingleObject(&Target.Event, Executive, KernelMode, FALSE, NULL);
		while ((Connection = NextUseless()) != NULL)
			ConnectionBreakUnlocked(&Connection->Common);
		while ((Connection = NextClosing()) != NULL)
			CloseOne(Connection);
	}
	PsTerminateSystemThread(STATUS_SUCCESS);
}

/* ---- its beginning ---- */

static VOID
OnAccepted(PVOID Context, NTSTATUS Status)
{
	PTARGET_CONNECTION Connection = Context;

	if (NT_SUCCESS(Status))
		InterlockedIncrement64(&Statistics.Accepts);
	else
		ConnectionBreakUnlocked(&Connection->Common);
}

/* From here on an older connection of the session changes nothing on the disk. */
static VOID
Replace(PTARGET_SESSION Session, PTARGET_CONNECTION Connection)
{
	PTARGET_CONNECTION Old;
	KIRQL Irql;

	KeAcquireSpinLock(&Target.Lock, &Irql);
	KeAcquireSpinLockAtDpcLevel(&Session->Lock);
	Old = Session->Current;
	Session->Current = Connection;
	Connection->Session = Session;
	if (Old != NULL)
		Old->Replaced = TRUE;
	KeReleaseSpinLockFromDpcLevel(&Session->Lock);
	KeReleaseSpinLock(&Target.Lock, Irql);
	KeSetEvent(&Target.Event, IO_NO_INCREMENT, FALSE);
}

static NTSTATUS
Accept(PTARGET_CONNECTION Connection)
{
	UCHAR Data[256];
	STORAGE_LOGIN Login;
	NDK_CONNECTOR *Connector = Connection->Common.Connector;
	ULONG Bytes = sizeof(Data);
	NTSTATUS Status;

	Status = Connector->Dispatch->NdkGetConnectionData(Connector, NULL, NULL, Data, &Bytes);
	if (!NT_SUCCESS(Status) || Bytes < sizeof(Login))
		return STATUS_INVALID_PARAMETER;
	RtlCopyMemory(&Login, Data, sizeof(Login));
	if (Login.Session >= Target.SessionCount)
		return STATUS_INVALID_PARAMETER;
	Status = ConnectionOpen(&Connection->Common, TARGET_REGION);
	if (!NT_SUCCESS(Status))
		return Status;
	Connection->Common.Credits = Login.Credits;
	ServeBegin(Connection);
	Replace(&Target.Sessions[Login.Session], Connection);
	Status = Connector->Dispatch->NdkAcceptEx(Connector, Connection->Common.Qp, 16, 16, NULL, 0,
						  ConnectionOnDisconnect, Connection, OnAccepted,
						  Connection);
	if (Status == STATUS_SUCCESS)
		OnAccepted(Connection, Status);
	return Status;
}

static VOID
AcceptWork(PDEVICE_OBJECT Device, PVOID Context)
{
	PTARGET_CONNECTION Connection = Context;
	NTSTATUS Status;
	KIRQL Irql;

	UNREFERENCED_PARAMETER(Device);
	IoFreeWorkItem(Connection->Item);
	Status = Accept(Connection);
	KeAcquireSpinLock(&Connection->Common.Lock, &Irql);
	if (!NT_SUCCESS(Status))
		ConnectionBreak(&Connection->Common);
	Connection->Busy = FALSE;
	if (Connection->Common.Broken)
		QueueClose(Connection);
	KeReleaseSpinLock(&Connection->Common.Lock, Irql);
}

static VOID
OnRefused(PVOID Context)
{
	UNREFERENCED_PARAMETER(Context);
}

static VOID
OnConnect(PVOID Context, NDK_CONNECTOR *Connector)
{
	PTARGET_CONNECTION Connection;

	UNREFERENCED_PARAMETER(Context);
	Connection = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Connection), STORAGE_TAG);
	if (Connection != NULL) {
		Connection->Item = IoAllocateWorkItem(Target.Device);
		if (Connection->Item == NULL)
			ExFreePoolWithTag(Connection, STORAGE_TAG);
	}
	if (Connection == NULL || Connection->Item == NULL) {
		/* which refuses it */
		(VOID) Connector->Dispatch->NdkCloseConnector(&Connector->Header, OnRefused, NULL);
		return;
	}
	KeInitializeSpinLock(&Connection->Common.Lock);
	Connection->Common.Side = &Target.Side;
	Connection->Common.Connector = Connector;
	Connection->Common.OnResult = ServeOnResult;
	Connection->Common.OnBroken = OnBroken;
	Connection->Common.ReceiveCount = STORAGE_TARGET_CREDITS;
	Connection->Busy = TRUE;
	KeAcquireSpinLockAtDpcLevel(&Target.Lock);
	InsertTailList(&Target.Connections, &Connection->Common.Link);
	KeReleaseSpinLockFromDpcLevel(&Target.Lock);
	IoQueueWorkItem(Connection->Item, AcceptWork, DelayedWorkQueue, Connection);
	KeSetEvent(&Target.Event, IO_NO_INCREMENT, FALSE);
}

/* ---- the whole ---- */

static VOID
OnListenerClosed(PVOID Context)
{
	KIRQL Irql;

	UNREFERENCED_PARAMETER(Context);
	KeAcquireSpinLock(&Target.Lock, &Irql);
	Target.ListenerClosed = TRUE;
	KeReleaseSpinLock(&Target.Lock, Irql);
	KeSetEvent(&Target.Event, IO_NO_INCREMENT, FALSE);
}

static NTSTATUS
MakeSessions(ULONG Count)
{
	ULONG Session, Block;

	Target.Sessions =
		ExAllocatePool2(POOL_FLAG_NON_PAGED, Count * sizeof(*Target.Sessions), STORAGE_TAG);
	if (Target.Sessions == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	Target.SessionCount = Count;
	for (Session = 0; Session < Count; Session++) {
		PTARGET_SESSION At = &Target.Sessions[Session];

		KeInitializeSpinLock(&At->Lock);
		At->Number = Session;
		for (Block = 0; Block < STORAGE_SLOTS * STORAGE_BLOCKS; Block++)
			BlockFill(
				At->Disk + Block * STORAGE_BLOCK,
				BlockPlace(Session, Block / STORAGE_BLOCKS, Block % STORAGE_BLOCKS),
				0);
	}
	return STATUS_SUCCESS;
}

static NTSTATUS
Listen(VOID)
{
	NDK_ADAPTER *Adapter = Target.Side.Adapter;
	SOCKADDR_INET At = Target.Side.Address;
	NTSTATUS Status;

	At.Ipv4.sin_port = RtlUshortByteSwap(STORAGE_PORT);
	CREATE_AND_WAIT(Status, Target.Listener, Adapter->Dispatch->NdkCreateListener, Adapter,
			OnConnect, NULL);
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Target.Listener->Dispatch->NdkListen, Target.Listener,
				 (PSOCKADDR)&At, sizeof(At.Ipv4));
	return Status;
}

NTSTATUS
TargetStart(PDEVICE_OBJECT Device, const SOCKADDR_INET *Address, ULONG Sessions)
{
	HANDLE Handle;
	NTSTATUS Status;

	RtlZeroMemory(&Target, sizeof(Target));
	KeInitializeSpinLock(&Target.Lock);
	KeInitializeEvent(&Target.Event, SynchronizationEvent, FALSE);
	InitializeListHead(&Target.Connections);
	InitializeListHead(&Target.Closing);
	Target.Device = Device;
	Target.Side.Address = *Address;
	Status = SideOpen(&Target.Side);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = MakeSessions(Sessions);
	if (NT_SUCCESS(Status))
		Status = PsCreateSystemThread(&Handle, THREAD_ALL_ACCESS, NULL, NULL, NULL,
					      TargetThread, NULL);
	if (NT_SUCCESS(Status)) {
		Status = ObReferenceObjectByHandle(Handle, SYNCHRONIZE, *PsThreadType, KernelMode,
						   (PVOID *)&Target.Thread, NULL);
		ZwClose(Handle);
	}
	if (NT_SUCCESS(Status))
		Status = Listen();
	if (!NT_SUCCESS(Status))
		TargetStop();
	return Status;
}

VOID
TargetStop(VOID)
{
	KIRQL Irql;

	KeAcquireSpinLock(&Target.Lock, &Irql);
	Target.Stopping = TRUE;
	KeReleaseSpinLock(&Target.Lock, Irql);
	/* it ends with the last connector that it has accepted, which the thread closes */
	if (Target.Listener == NULL ||
	    Target.Listener->Dispatch->NdkCloseListener(&Target.Listener->Header, OnListenerClosed,
							NULL) != STATUS_PENDING)
		OnListenerClosed(NULL);
	if (Target.Thread != NULL) {
		KeWaitForSingleObject(Target.Thread, Executive, KernelMode, FALSE, NULL);
		ObDereferenceObject(Target.Thread);
	}
	if (Target.Sessions != NULL)
		ExFreePoolWithTag(Target.Sessions, STORAGE_TAG);
	SideClose(&Target.Side);
}
