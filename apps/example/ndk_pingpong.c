/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A first driver: ping-pong over NDKPI. The initiator fast-registers memory and sends its token;
 * the target writes there and answers by a SEND that invalidates the token. To be copied. Start
 * with DriverEntry(). Whoever has the address that is the service's parameter is the target.
 */
#include <ntddk.h>
#include <ip2string.h>
#include <ndkpi.h>
#include <netioapi.h>
#include <wsk.h>
#include <wskndk.h>

#define ROUNDS 1000
#define QUIET  (NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER)

/* What the initiator sends. The target writes it back, behind the original in the same page. */
static struct MESSAGE {
	UINT64 Address;
	UINT32 Token, Round;
} * Message;

static SOCKADDR_INET Target = {.si_family = AF_INET}, Local;
static ULONG Awaited, Callbacks;
static ULONG64 Started, Now;
static WSK_REGISTRATION Registration;
static WSK_PROVIDER_NPI Wsk;
static WSK_PROVIDER_NDK_DISPATCH Ndk;
static NDK_ADAPTER *Adapter;
static NDK_PD *Pd;
static NDK_CQ *Cq;
static NDK_QP *Qp;
static NDK_MR *Mr;
static NDK_LISTENER *Listener;
static NDK_CONNECTOR *Connector;
static MDL *Mdl;
static NDK_LOGICAL_ADDRESS_MAPPING Lam;
static NDK_SGE Sge = {.Length = sizeof(*Message)};
static KEVENT Done;
static NTSTATUS DoneStatus;
static LONG IsTaken;        /* somebody has connected */
static EX_RUNDOWN_REF Game; /* held by callbacks that use the objects, over before a close */
DRIVER_INITIALIZE DriverEntry;

/* ---- calls that complete later, made one at a time; posts of requests never do ---- */

static VOID
OnDone(PVOID Event, NTSTATUS Status)
{
	DoneStatus = Status;
	KeSetEvent(Event, IO_NO_INCREMENT, FALSE);
}

static VOID
OnCreated(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object)
{
	if (NT_SUCCESS(Status))
		*(NDK_OBJECT_HEADER **)Context = Object;
	OnDone(&Done, Status);
}

static VOID
OnClosed(PVOID Event)
{
	if (Event != NULL)
		KeSetEvent(Event, IO_NO_INCREMENT, FALSE);
}

static NTSTATUS
Await(NTSTATUS Status)
{
	if (Status == STATUS_PENDING)
		KeWaitForSingleObject(&Done, Executive, KernelMode, FALSE, NULL);
	return Status == STATUS_PENDING ? DoneStatus : Status;
}

/* A call that is made only if all before went well, and waited for. */
#define THEN(Call)                 (Status = NT_SUCCESS(Status) ? Await(Call) : Status)
#define NDK(Object, Function, ...) Object->Dispatch->Function(Object, __VA_ARGS__)
#define CLOSE(Object, Function) \
	(void)(Object ? Await(Object->Dispatch->Function(&Object->Header, OnClosed, &Done)) : 0)

/* The initiator has its memory back: give it to the target again, or tell the time. */
static NTSTATUS
Ask(VOID)
{
	ULONG Round = Message->Round++;
	NTSTATUS Status = Message[1].Round == Round ? STATUS_SUCCESS : STATUS_DATA_ERROR;

	if (NT_SUCCESS(Status) && Round == ROUNDS) {
		Now = KeQueryInterruptTimePrecise(&Now) - Started; /* unit 100 ns */
		DbgPrint("pingpong: %u rounds, round trip %llu.%llu us, %u callbacks\n", Round,
			 Now / Round / 10, Now / Round % 10, Callbacks);
		return STATUS_SUCCESS;
	}
	Awaited = 2; /* results: of our message and of the answer, which is empty */
	THEN(NDK(Qp, NdkReceive, NULL, NULL, 0));
	THEN(NDK(Qp, NdkFastRegister, NULL, Mr, 1, Lam.AdapterPageArray, Sge.Length, Sge.Length,
		 Message + 1, QUIET | NDK_OP_FLAG_ALLOW_REMOTE_WRITE));
	Message->Address = (ULONG_PTR)(Message + 1);
	Message->Token = Mr->Dispatch->NdkGetRemoteTokenFromMr(Mr);
	return THEN(NDK(Qp, NdkSend, NULL, &Sge, 1, 0));
}

/* The target has a message. It stays until the next, which comes after our answer. */
static NTSTATUS
Answer(VOID)
{
	NTSTATUS Status = NDK(Qp, NdkReceive, NULL, &Sge, 1);

	Awaited = 2;
	THEN(NDK(Qp, NdkWrite, NULL, &Sge, 1, Message->Address, Message->Token, QUIET));
	return THEN(NDK(Qp, NdkSendAndInvalidate, NULL, NULL, 0, 0, Message->Token));
}

static VOID
Report(PVOID What, NTSTATUS Status)
{
	if (!NT_SUCCESS(Status) && Status != STATUS_CANCELLED)
		DbgPrint("pingpong: the %s failed, status 0x%08x\n", (PCSTR)What, Status);
}

static VOID
OnResults(PVOID Context, NTSTATUS Status)
{
	NDK_RESULT Result;

	if (!ExAcquireRundownProtection(&Game))
		return;
	Callbacks++;
	while (NT_SUCCESS(Status) && Cq->Dispatch->NdkGetCqResults(Cq, &Result, 1) > 0) {
		Status = Result.Status;
		THEN(--Awaited > 0 ? STATUS_SUCCESS : Listener != NULL ? Answer() : Ask());
	}
	if (NT_SUCCESS(Status)) /* what has come since then satisfies this at once */
		Cq->Dispatch->NdkArmCq(Cq, NDK_CQ_NOTIFY_ANY);
	Report(Context, Status);
	ExReleaseRundownProtection(&Game);
}

/* One initiator is accepted. Another is refused, by the close. */
static VOID
OnConnect(PVOID Context, NDK_CONNECTOR *New)
{
	if (!InterlockedExchange(&IsTaken, TRUE) && ExAcquireRundownProtection(&Game)) {
		Connector = New;
		Report("accept",
		       NDK(New, NdkAccept, Context, 0, 0, NULL, 0, NULL, NULL, Report, "accept"));
		ExReleaseRundownProtection(&Game);
	} else {
		New->Dispatch->NdkCloseConnector(&New->Header, OnClosed, NULL);
	}
}

static VOID
Unload(PDRIVER_OBJECT DriverObject)
{
	UNREFERENCED_PARAMETER(DriverObject);
	ExWaitForRundownProtectionRelease(&Game);
	CLOSE(Connector, NdkCloseConnector);
	CLOSE(Listener, NdkCloseListener);
	CLOSE(Qp, NdkCloseQp);
	CLOSE(Mr, NdkCloseMr);
	CLOSE(Cq, NdkCloseCq);
	CLOSE(Pd, NdkClosePd);
	if (Lam.AdapterPageCount != 0)
		Adapter->Dispatch->NdkReleaseLAM(Adapter, &Lam);
	if (Adapter != NULL) /* waits for what OnConnect() has closed: no callback runs after it */
		Ndk.WskCloseNdkAdapter(Wsk.Client, Adapter);
	if (Wsk.Dispatch != NULL)
		WskReleaseProviderNPI(&Registration);
	WskDeregister(&Registration);
	if (Mdl != NULL)
		IoFreeMdl(Mdl);
	if (Message != NULL)
		ExFreePool(Message);
}

static NTSTATUS
Start(ULONG Interface)
{
	PSOCKADDR From = (PSOCKADDR)&Local, To = (PSOCKADDR)&Target;
	ULONG Size = sizeof(Lam), Offset;
	NTSTATUS Status = STATUS_SUCCESS;

	Message = ExAllocatePool2(POOL_FLAG_NON_PAGED, PAGE_SIZE, 'gniP');
	Mdl = Message ? IoAllocateMdl(Message, PAGE_SIZE, FALSE, FALSE, NULL) : NULL;
	if (Mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	MmBuildMdlForNonPagedPool(Mdl);
	THEN(WskCaptureProviderNPI(&Registration, WSK_NO_WAIT, &Wsk));
	THEN(Wsk.Dispatch->WskControlClient(Wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0,
					    NULL, sizeof(Ndk), &Ndk, NULL, NULL));
	THEN(Ndk.WskOpenNdkAdapter(Wsk.Client, (NDK_VERSION){2, 1}, Interface, &Adapter));
	THEN(NDK(Adapter, NdkBuildLAM, Mdl, PAGE_SIZE, OnDone, &Done, &Lam, &Size, &Offset));
	THEN(NDK(Adapter, NdkCreatePd, OnCreated, &Pd, &Pd));
	THEN(NDK(Adapter, NdkCreateCq, 8, OnResults, "game", NULL, OnCreated, &Cq, &Cq));
	THEN(NDK(Pd, NdkCreateQp, Cq, Cq, NULL, 4, 4, 1, 1, 0, OnCreated, &Qp, &Qp));
	THEN(NDK(Pd, NdkCreateMr, TRUE, OnCreated, &Mr, &Mr));
	THEN(NDK(Mr, NdkInitializeFastRegisterMr, 1, TRUE, OnDone, &Done));
	if (!NT_SUCCESS(Status))
		return Status;
	Sge.LogicalAddress = Lam.AdapterPageArray[0];
	Pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(Pd, &Sge.MemoryRegionToken);
	Cq->Dispatch->NdkArmCq(Cq, NDK_CQ_NOTIFY_ANY);
	Size = sizeof(Target.Ipv4);
	if (Local.Ipv4.sin_addr.s_addr == Target.Ipv4.sin_addr.s_addr) {
		Awaited = 1;
		THEN(NDK(Qp, NdkReceive, NULL, &Sge, 1)); /* before somebody can send */
		THEN(NDK(Adapter, NdkCreateListener, OnConnect, Qp, OnCreated, &Listener,
			 &Listener));
		return THEN(NDK(Listener, NdkListen, To, Size, OnDone, &Done));
	}
	THEN(NDK(Adapter, NdkCreateConnector, OnCreated, &Connector, &Connector));
	THEN(NDK(Connector, NdkConnect, Qp, From, Size, To, Size, 0, 0, NULL, 0, OnDone, &Done));
	THEN(NDK(Connector, NdkCompleteConnect, NULL, NULL, OnDone, &Done));
	Started = KeQueryInterruptTimePrecise(&Now);
	return THEN(Ask());
}

NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	static const WSK_CLIENT_DISPATCH Dispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
	WSK_CLIENT_NPI Npi = {NULL, &Dispatch};
	const ULONG Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_REQUIRED;
	WCHAR Text[32] = {0}, *Path = RegistryPath->Buffer;
	UNICODE_STRING Address = {0, sizeof(Text) - sizeof(WCHAR), Text};
	RTL_QUERY_REGISTRY_TABLE Table[3] = {
		{NULL, RTL_QUERY_REGISTRY_SUBKEY, L"Parameters", NULL, 0, NULL, 0},
		{NULL, Flags, L"Address", &Address, REG_NONE, NULL, 0},
	};
	SOCKADDR_IN *To = &Target.Ipv4;
	MIB_IPFORWARD_ROW2 Route;
	NTSTATUS Status = RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, Path, Table, NULL, NULL);

	THEN(RtlIpv4StringToAddressExW(Text, TRUE, &To->sin_addr, &To->sin_port));
	THEN(GetBestRoute2(NULL, 0, NULL, &Target, 0, &Route, &Local));
	THEN(WskRegister(&Npi, &Registration));
	if (!NT_SUCCESS(Status))
		return Status;
	DriverObject->DriverUnload = Unload;
	KeInitializeEvent(&Done, SynchronizationEvent, FALSE);
	ExInitializeRundownProtection(&Game);
	Status = Start(Route.InterfaceIndex);
	if (!NT_SUCCESS(Status))
		Unload(DriverObject);
	return Status;
}
