/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens, connects and closes an endpoint: the adapter by WSK, everything else by the adapter. To be
 * copied. Start with OpenEndpoint().
 */
#include "endpoint.h"

#include <wsk.h>
#include <wskndk.h>

#define TAG      'gniP'
#define PATIENCE 60 /* how long a target waits for the initiator [s] */

NDK_CQ *Cq;
NDK_QP *Qp;
NDK_MR *Mr;
PVOID Memory;

static WSK_REGISTRATION Registration;
static WSK_PROVIDER_NPI Wsk;
static WSK_PROVIDER_NDK_DISPATCH Ndk;
static NDK_ADAPTER *Adapter;
static NDK_PD *Pd;
static NDK_LISTENER *Listener;
static NDK_CONNECTOR *Connector;
static SOCKADDR_INET Local;
static MDL *Mdl;
static union {
	NDK_LOGICAL_ADDRESS_MAPPING Mapping;
	UCHAR Bytes[FIELD_OFFSET(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) +
		    MEMORY_SIZE / PAGE_SIZE * sizeof(NDK_LOGICAL_ADDRESS)];
} Lam;
static UINT32 LocalToken;

/* ---- calls that complete later: one at a time, and closes ---- */

static KEVENT Done, Connected, AllClosed;
static NTSTATUS DoneStatus;
static LONG Closing = 1; /* closes that are not complete, and one for CloseEndpoint() */

static VOID
OnDone(PVOID Context, NTSTATUS Status)
{
	UNREFERENCED_PARAMETER(Context);
	DoneStatus = Status;
	KeSetEvent(&Done, IO_NO_INCREMENT, FALSE);
}

static VOID
OnCreated(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object)
{
	if (NT_SUCCESS(Status))
		*(NDK_OBJECT_HEADER **)Context = Object;
	OnDone(NULL, Status);
}

static NTSTATUS
Await(NTSTATUS Status)
{
	if (Status != STATUS_PENDING)
		return Status;
	KeWaitForSingleObject(&Done, Executive, KernelMode, FALSE, NULL);
	return DoneStatus;
}

static VOID
OnClosed(PVOID Context)
{
	UNREFERENCED_PARAMETER(Context);
	if (InterlockedDecrement(&Closing) == 0)
		KeSetEvent(&AllClosed, IO_NO_INCREMENT, FALSE);
}

static VOID
Close(NDK_OBJECT_HEADER *Object, NDK_FN_CLOSE_OBJECT CloseObject)
{
	InterlockedIncrement(&Closing);
	if (CloseObject(Object, OnClosed, NULL) != STATUS_PENDING)
		OnClosed(NULL);
}

#define CLOSE(Object, Function) \
	if ((Object) != NULL)   \
	Close(&(Object)->Header, (Object)->Dispatch->Function)

/* ---- opening ---- */

static NTSTATUS
OpenAdapter(SOCKADDR_INET *Target)
{
	static const WSK_CLIENT_DISPATCH Dispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
	WSK_CLIENT_NPI Npi = {NULL, &Dispatch};
	NDK_VERSION Version = {2, 1};
	MIB_IPFORWARD_ROW2 Route;
	NTSTATUS Status = GetBestRoute2(NULL, 0, NULL, Target, 0, &Route, &Local);

	if (NT_SUCCESS(Status))
		Status = WskRegister(&Npi, &Registration);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = WskCaptureProviderNPI(&Registration, WSK_NO_WAIT, &Wsk);
	if (NT_SUCCESS(Status)) {
		Status = Wsk.Dispatch->WskControlClient(Wsk.Client,
							WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0,
							NULL, sizeof(Ndk), &Ndk, NULL, NULL);
		if (NT_SUCCESS(Status))
			Status = Ndk.WskOpenNdkAdapter(Wsk.Client, Version, Route.InterfaceIndex,
						       &Adapter);
		if (NT_SUCCESS(Status))
			return Status;
		WskReleaseProviderNPI(&Registration);
	}
	WskDeregister(&Registration);
	return Status;
}

/* The pages of our memory, and a token with which our own requests access it. */
static NTSTATUS
MapMemory(VOID)
{
	ULONG Size = sizeof(Lam), FirstByte;
	NTSTATUS Status;

	Memory = ExAllocatePool2(POOL_FLAG_NON_PAGED, MEMORY_SIZE, TAG);
	Mdl = Memory ? IoAllocateMdl(Memory, MEMORY_SIZE, FALSE, FALSE, NULL) : NULL;
	if (Mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	MmBuildMdlForNonPagedPool(Mdl);
	Status = Await(Adapter->Dispatch->NdkBuildLAM(Adapter, Mdl, MEMORY_SIZE, OnDone, NULL,
						      &Lam.Mapping, &Size, &FirstByte));
	Pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(Pd, &LocalToken);
	return Status;
}

static NTSTATUS
CreateObjects(NDK_FN_CQ_NOTIFICATION_CALLBACK OnResults)
{
	NTSTATUS Status = Await(Adapter->Dispatch->NdkCreatePd(Adapter, OnCreated, &Pd, &Pd));

	if (NT_SUCCESS(Status))
		Status = MapMemory();
	if (NT_SUCCESS(Status))
		Status = Await(Adapter->Dispatch->NdkCreateCq(Adapter, 2 * DEPTH, OnResults, NULL,
							      NULL, OnCreated, &Cq, &Cq));
	if (NT_SUCCESS(Status))
		Status = Await(Pd->Dispatch->NdkCreateQp(Pd, Cq, Cq, NULL, DEPTH, DEPTH, 1, 1, 0,
							 OnCreated, &Qp, &Qp));
	if (NT_SUCCESS(Status))
		Status = Await(Pd->Dispatch->NdkCreateMr(Pd, TRUE, OnCreated, &Mr, &Mr));
	if (NT_SUCCESS(Status))
		Status =
			Await(Mr->Dispatch->NdkInitializeFastRegisterMr(Mr, 1, TRUE, OnDone, NULL));
	return Status;
}

/* Closes may come in any order. No callback runs once the adapter is closed. */
VOID
CloseEndpoint(VOID)
{
	CLOSE(Listener, NdkCloseListener);
	CLOSE(Connector, NdkCloseConnector);
	CLOSE(Qp, NdkCloseQp);
	CLOSE(Mr, NdkCloseMr);
	CLOSE(Cq, NdkCloseCq);
	CLOSE(Pd, NdkClosePd);
	OnClosed(NULL);
	KeWaitForSingleObject(&AllClosed, Executive, KernelMode, FALSE, NULL);
	if (Lam.Mapping.AdapterPageCount != 0)
		Adapter->Dispatch->NdkReleaseLAM(Adapter, &Lam.Mapping);
	Ndk.WskCloseNdkAdapter(Wsk.Client, Adapter);
	WskReleaseProviderNPI(&Registration);
	WskDeregister(&Registration);
	if (Mdl != NULL)
		IoFreeMdl(Mdl);
	if (Memory != NULL)
		ExFreePoolWithTag(Memory, TAG);
}

NTSTATUS
OpenEndpoint(SOCKADDR_INET *Target, NDK_FN_CQ_NOTIFICATION_CALLBACK OnResults)
{
	NTSTATUS Status = OpenAdapter(Target);

	if (!NT_SUCCESS(Status))
		return Status;
	KeInitializeEvent(&Done, SynchronizationEvent, FALSE);
	KeInitializeEvent(&Connected, NotificationEvent, FALSE);
	KeInitializeEvent(&AllClosed, NotificationEvent, FALSE);
	Status = CreateObjects(OnResults);
	if (!NT_SUCCESS(Status))
		CloseEndpoint();
	return Status;
}

/* ---- connecting ---- */

static LONG Vacant = 1; /* nobody has come, and the target still waits */

static VOID
OnConnect(PVOID Context, NDK_CONNECTOR *New)
{
	UNREFERENCED_PARAMETER(Context);
	if (!InterlockedExchange(&Vacant, 0)) {
		Close(&New->Header, New->Dispatch->NdkCloseConnector); /* which rejects it */
		return;
	}
	Connector = New;
	KeSetEvent(&Connected, IO_NO_INCREMENT, FALSE);
}

/* A driver with more to do would accept in OnConnect(). */
NTSTATUS
Accept(SOCKADDR_INET *Target)
{
	LARGE_INTEGER Timeout = {.QuadPart = -PATIENCE * 10000000LL};
	NTSTATUS Status = Await(Adapter->Dispatch->NdkCreateListener(
		Adapter, OnConnect, NULL, OnCreated, &Listener, &Listener));

	if (NT_SUCCESS(Status))
		Status = Await(Listener->Dispatch->NdkListen(Listener, (PSOCKADDR)Target,
							     sizeof(Target->Ipv4), OnDone, NULL));
	if (!NT_SUCCESS(Status))
		return Status;
	DbgPrint("pingpong: listening\n");
	Status = KeWaitForSingleObject(&Connected, Executive, KernelMode, FALSE, &Timeout);
	if (Status == STATUS_TIMEOUT && InterlockedExchange(&Vacant, 0))
		return STATUS_IO_TIMEOUT;
	/* If one came at the last moment, this returns soon. */
	KeWaitForSingleObject(&Connected, Executive, KernelMode, FALSE, NULL);
	return Await(Connector->Dispatch->NdkAccept(Connector, Qp, 0, 0, NULL, 0, NULL, NULL,
						    OnDone, NULL));
}

NTSTATUS
Connect(SOCKADDR_INET *Target)
{
	NTSTATUS Status = Await(
		Adapter->Dispatch->NdkCreateConnector(Adapter, OnCreated, &Connector, &Connector));

	if (NT_SUCCESS(Status))
		Status = Await(Connector->Dispatch->NdkConnect(
			Connector, Qp, (PSOCKADDR)&Local, sizeof(Local.Ipv4), (PSOCKADDR)Target,
			sizeof(Target->Ipv4), 0, 0, NULL, 0, OnDone, NULL));
	if (NT_SUCCESS(Status))
		Status = Await(Connector->Dispatch->NdkCompleteConnect(Connector, NULL, NULL,
								       OnDone, NULL));
	return Status;
}

/* ---- memory ---- */

NDK_SGE
LocalMemory(ULONG Offset, ULONG Length)
{
	const NDK_LOGICAL_ADDRESS *Pages = Lam.Mapping.AdapterPageArray;
	NDK_SGE Sge = {{0}, Length, LocalToken};

	Sge.LogicalAddress.QuadPart = Pages[Offset / PAGE_SIZE].QuadPart + Offset % PAGE_SIZE;
	return Sge;
}
