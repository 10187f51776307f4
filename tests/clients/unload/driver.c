/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver whose callbacks are in flight when it closes its adapter: a connection to itself, whose
 * completion queues are told of messages without end. DriverUnload begins every close, waits for
 * none, and closes the adapter while a callback has not come to its end. The parts that find the
 * adapter and wait are those of the storage driver. Start with UnloadDriver().
 */
#include "storage.h"

#define DEPTH   8
#define PORT    5045
#define LATE_US 300 /* that the last callback goes on for, while the adapter is being closed */

DRIVER_INITIALIZE DriverEntry;
static DRIVER_UNLOAD UnloadDriver;

typedef struct _END {
	NDK_CQ *Cq;
	NDK_QP *Qp;
	NDK_CONNECTOR *Connector;
	BOOLEAN Sends;
} END, *PEND;

STORAGE_STATISTICS Statistics; /* which the parts count in */

static STORAGE_SIDE Side;
static NDK_LISTENER *Listener;
static END Ends[2]; /* who sends, who receives */
static KSPIN_LOCK Lock;
static BOOLEAN Closed; /* with Lock: objects are not to be used any more */
static volatile LONG Ending, Inside, Closing, Running;

/* ---- callbacks ---- */

static VOID
Post(PEND End)
{
	if (End->Sends)
		(VOID) End->Qp->Dispatch->NdkSend(End->Qp, End, NULL, 0, 0);
	else
		(VOID) End->Qp->Dispatch->NdkReceive(End->Qp, End, NULL, 0);
}

/* A callback that has given everything back, and is not over. */
static VOID
BeLate(VOID)
{
	if (!ReadAcquire(&Ending) || InterlockedExchange(&Inside, TRUE))
		return;
	while (!ReadAcquire(&Closing))
		YieldProcessor();
	KeStallExecutionProcessor(LATE_US);
}

static VOID
OnNotify(PVOID Context, NTSTATUS Status)
{
	NDK_RESULT_EX Results[DEPTH];
	PEND End = Context;
	ULONG Count, i;

	InterlockedIncrement(&Running);
	KeAcquireSpinLockAtDpcLevel(&Lock);
	if (!Closed && NT_SUCCESS(Status)) {
		Count = End->Cq->Dispatch->NdkGetCqResultsEx(End->Cq, Results, DEPTH);
		for (i = 0; i < Count; i++)
			Post(End);
		End->Cq->Dispatch->NdkArmCq(End->Cq, NDK_CQ_NOTIFY_ANY);
	}
	KeReleaseSpinLockFromDpcLevel(&Lock);
	BeLate();
	/* of the image: it has to be there */
	InterlockedDecrement(&Running);
}

static VOID
OnDone(PVOID Context, NTSTATUS Status)
{
	UNREFERENCED_PARAMETER(Context);
	UNREFERENCED_PARAMETER(Status);
}

static VOID
OnClosed(PVOID Context)
{
	OnDone(Context, STATUS_SUCCESS);
}

static VOID
OnConnect(PVOID Context, NDK_CONNECTOR *Connector)
{
	PEND End = &Ends[1];

	UNREFERENCED_PARAMETER(Context);
	End->Connector = Connector;
	(VOID) Connector->Dispatch->NdkAcceptEx(Connector, End->Qp, 1, 1, NULL, 0, NULL, NULL,
						OnDone, NULL);
}

/* ---- beginning ---- */

static NTSTATUS
MakeEnd(PEND End, BOOLEAN Sends)
{
	NTSTATUS Status;

	End->Sends = Sends;
	CREATE_AND_WAIT(Status, End->Cq, Side.Adapter->Dispatch->NdkCreateCq, Side.Adapter,
			2 * DEPTH, OnNotify, End, NULL);
	if (NT_SUCCESS(Status))
		CREATE_AND_WAIT(Status, End->Qp, Side.Pd->Dispatch->NdkCreateQp, Side.Pd, End->Cq,
				End->Cq, NULL, DEPTH, DEPTH, 1, 1, 0);
	return Status;
}

static NTSTATUS
Connect(VOID)
{
	SOCKADDR_INET From = Side.Address, To = Side.Address;
	NTSTATUS Status;

	To.Ipv4.sin_port = RtlUshortByteSwap(PORT);
	CREATE_AND_WAIT(Status, Listener, Side.Adapter->Dispatch->NdkCreateListener, Side.Adapter,
			OnConnect, NULL);
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Listener->Dispatch->NdkListen, Listener, (PSOCKADDR)&To,
				 sizeof(To.Ipv4));
	if (NT_SUCCESS(Status))
		CREATE_AND_WAIT(Status, Ends[0].Connector,
				Side.Adapter->Dispatch->NdkCreateConnector, Side.Adapter);
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Ends[0].Connector->Dispatch->NdkConnect, Ends[0].Connector,
				 Ends[0].Qp, (PSOCKADDR)&From, sizeof(From.Ipv4), (PSOCKADDR)&To,
				 sizeof(To.Ipv4), 1, 1, NULL, 0);
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Ends[0].Connector->Dispatch->NdkCompleteConnectEx,
				 Ends[0].Connector, NULL, NULL);
	return Status;
}

static NTSTATUS
Begin(VOID)
{
	NTSTATUS Status;
	KIRQL Irql;
	ULONG i;

	Status = MakeEnd(&Ends[0], TRUE);
	if (NT_SUCCESS(Status))
		Status = MakeEnd(&Ends[1], FALSE);
	for (i = 0; i < DEPTH && NT_SUCCESS(Status); i++)
		Post(&Ends[1]);
	if (NT_SUCCESS(Status))
		Status = Connect();
	if (!NT_SUCCESS(Status))
		return Status;
	KeAcquireSpinLock(&Lock, &Irql);
	for (i = 0; i < 2; i++)
		Ends[i].Cq->Dispatch->NdkArmCq(Ends[i].Cq, NDK_CQ_NOTIFY_ANY);
	Post(&Ends[0]);
	KeReleaseSpinLock(&Lock, Irql);
	return Status;
}

/* ---- end ---- */

#define CLOSE(Function, Object)                                                                   \
	((Object) != NULL ? (VOID)(Object)->Dispatch->Function(&(Object)->Header, OnClosed, NULL) \
			  : (VOID)0)

/* From what others were made from to what was made from it: any order will do. */
static VOID
BeginCloses(VOID)
{
	KIRQL Irql;
	ULONG i;

	KeAcquireSpinLock(&Lock, &Irql);
	Closed = TRUE;
	CLOSE(NdkClosePd, Side.Pd);
	CLOSE(NdkCloseListener, Listener);
	for (i = 0; i < 2; i++) {
		CLOSE(NdkCloseCq, Ends[i].Cq);
		CLOSE(NdkCloseQp, Ends[i].Qp);
		CLOSE(NdkCloseConnector, Ends[i].Connector);
	}
	KeReleaseSpinLock(&Lock, Irql);
}

static VOID
UnloadDriver(PDRIVER_OBJECT DriverObject)
{
	LARGE_INTEGER Pause;

	UNREFERENCED_PARAMETER(DriverObject);
	Pause.QuadPart = -1000;
	InterlockedExchange(&Ending, TRUE);
	while (!ReadAcquire(&Inside))
		KeDelayExecutionThread(KernelMode, FALSE, &Pause);
	BeginCloses();
	InterlockedExchange(&Closing, TRUE);
	AdapterClose(&Side);
	/* what is left is reported: the host itself waits a while before it lets the image go */
	if (ReadAcquire(&Running) != 0)
		(VOID) ExAllocatePool2(POOL_FLAG_NON_PAGED, 1, 'etaL');
	ProviderClose();
}

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	NTSTATUS Status;

	UNREFERENCED_PARAMETER(RegistryPath);
	KeInitializeSpinLock(&Lock);
	DriverObject->DriverUnload = UnloadDriver;
	Side.Address.si_family = AF_INET;
	Side.Address.Ipv4.sin_addr.s_addr = RtlUlongByteSwap(0x0a4e0901);
	Status = ProviderOpen();
	if (!NT_SUCCESS(Status))
		return Status;
	Status = SideOpen(&Side);
	if (NT_SUCCESS(Status)) {
		Status = Begin();
		if (NT_SUCCESS(Status))
			return Status;
		BeginCloses();
		AdapterClose(&Side);
	}
	ProviderClose();
	return Status;
}
