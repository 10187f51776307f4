/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A first driver: ping-pong over NDKPI. The initiator fast-registers a page and sends its token;
 * the target writes into the page and answers by a SEND that invalidates the token. Callbacks of
 * the completion queue do all this. To be copied. Start with DriverEntry().
 *
 * Values below the service's Parameters: Address, the target's address and port; Initiate, 1 on the
 * initiator; Rounds.
 */
#include "endpoint.h"

#include <ip2string.h>

#define MESSAGE_SIZE 16

/* The endpoint's memory. */
typedef struct _SHARED {
	struct {
		UINT64 Address; /* of the page; not used in an answer */
		UINT32 Token, Round;
	} Out, In;
	UCHAR Unused[PAGE_SIZE - 2 * MESSAGE_SIZE];
	UCHAR Page[PAGE_SIZE]; /* the target writes from its own to the initiator's */
} SHARED;

C_ASSERT(sizeof(SHARED) == MEMORY_SIZE);

static SOCKADDR_INET Target;
static ULONG IsInitiator, Rounds = 1000;

static SHARED *Shared;
static ULONG Awaited; /* a message from the peer, and one of our own to be sent */
static ULONG64 Callbacks;
static LARGE_INTEGER Started;

/* ---- the game, in callbacks of the completion queue ---- */

static NTSTATUS
Receive(VOID)
{
	NDK_SGE Sge = LocalMemory(FIELD_OFFSET(SHARED, In), MESSAGE_SIZE);

	Awaited++;
	return Qp->Dispatch->NdkReceive(Qp, NULL, &Sge, 1);
}

/* The initiator: give the page to the target. Whoever has sent awaits two results. */
static NTSTATUS
Ask(ULONG Round)
{
	NDK_SGE Page = LocalMemory(FIELD_OFFSET(SHARED, Page), PAGE_SIZE);
	NDK_SGE Sge = LocalMemory(FIELD_OFFSET(SHARED, Out), MESSAGE_SIZE);
	NTSTATUS Status = Receive();

	RtlFillMemory(Shared->Page, PAGE_SIZE, (UCHAR)~Round);
	if (NT_SUCCESS(Status))
		Status = Qp->Dispatch->NdkFastRegister(
			Qp, NULL, Mr, 1, &Page.LogicalAddress, 0, PAGE_SIZE, Shared->Page,
			NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_SILENT_SUCCESS |
				NDK_OP_FLAG_DEFER);
	if (!NT_SUCCESS(Status))
		return Status;
	Shared->Out.Address = (ULONG_PTR)Shared->Page;
	Shared->Out.Token = Mr->Dispatch->NdkGetRemoteTokenFromMr(Mr);
	Shared->Out.Round = Round;
	Awaited++;
	return Qp->Dispatch->NdkSend(Qp, NULL, &Sge, 1, 0);
}

/* The target: write into the initiator's page and give it back. */
static NTSTATUS
Answer(VOID)
{
	NDK_SGE Page = LocalMemory(FIELD_OFFSET(SHARED, Page), PAGE_SIZE);
	NDK_SGE Sge = LocalMemory(FIELD_OFFSET(SHARED, Out), MESSAGE_SIZE);
	NTSTATUS Status = Receive(); /* the next request comes after the answer: In stays */

	RtlFillMemory(Shared->Page, PAGE_SIZE, (UCHAR)Shared->In.Round);
	if (NT_SUCCESS(Status))
		Status = Qp->Dispatch->NdkWrite(Qp, NULL, &Page, 1, Shared->In.Address,
						Shared->In.Token,
						NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER);
	if (!NT_SUCCESS(Status))
		return Status;
	Shared->Out.Round = Shared->In.Round;
	Awaited++;
	return Qp->Dispatch->NdkSendAndInvalidate(Qp, NULL, &Sge, 1, 0, Shared->In.Token);
}

/* The initiator has its page back: begin the next round, or tell the time. */
static NTSTATUS
Next(VOID)
{
	UINT32 Round = Shared->In.Round;
	LARGE_INTEGER Frequency, Now = KeQueryPerformanceCounter(&Frequency);
	ULONG64 Ns;

	if (Round != Shared->Out.Round || Shared->Page[0] != (UCHAR)Round ||
	    Shared->Page[PAGE_SIZE - 1] != (UCHAR)Round)
		return STATUS_DATA_ERROR;
	if (++Round < Rounds)
		return Ask(Round);
	Ns = (ULONG64)(Now.QuadPart - Started.QuadPart) * 1000000000 / Frequency.QuadPart / Rounds;
	DbgPrint("pingpong: %u rounds, round trip %llu.%llu us, %llu callbacks\n", Rounds,
		 Ns / 1000, Ns % 1000 / 100, Callbacks);
	return STATUS_SUCCESS;
}

static NTSTATUS
OnResult(const NDK_RESULT_EX *Result)
{
	if (!NT_SUCCESS(Result->Status))
		return Result->Status;
	if (IsInitiator && Result->Type != NdkOperationTypeSend &&
	    (Result->Type != NdkOperationTypeReceiveAndInvalidate ||
	     Result->TypeSpecificCompletionOutput != Shared->Out.Token))
		return STATUS_INVALID_NETWORK_RESPONSE;
	if (--Awaited > 0)
		return STATUS_SUCCESS;
	return IsInitiator ? Next() : Answer();
}

static VOID
OnResults(PVOID Context, NTSTATUS Status)
{
	NDK_RESULT_EX Results[DEPTH];
	ULONG Count, i;

	UNREFERENCED_PARAMETER(Context);
	Callbacks++;
	do {
		Count = Cq->Dispatch->NdkGetCqResultsEx(Cq, Results, DEPTH);
		for (i = 0; i < Count && NT_SUCCESS(Status); i++)
			Status = OnResult(&Results[i]);
	} while (Count > 0 && NT_SUCCESS(Status));
	if (NT_SUCCESS(Status)) /* what has come since then satisfies this at once */
		Cq->Dispatch->NdkArmCq(Cq, NDK_CQ_NOTIFY_ANY);
	else if (Status != STATUS_CANCELLED)
		DbgPrint("pingpong: failed, status 0x%08x\n", Status);
}

/* ---- the driver ---- */

static NTSTATUS
ReadParameters(PUNICODE_STRING RegistryPath)
{
	WCHAR Text[32] = {0};
	UNICODE_STRING Address = {0, sizeof(Text) - sizeof(WCHAR), Text};
	RTL_QUERY_REGISTRY_TABLE Table[] = {
		{NULL, RTL_QUERY_REGISTRY_SUBKEY, L"Parameters", NULL, 0, NULL, 0},
		{NULL, RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_REQUIRED, L"Address",
		 &Address, REG_NONE, NULL, 0},
		{NULL, RTL_QUERY_REGISTRY_DIRECT, L"Initiate", &IsInitiator, REG_NONE, NULL, 0},
		{NULL, RTL_QUERY_REGISTRY_DIRECT, L"Rounds", &Rounds, REG_NONE, NULL, 0},
		{NULL, 0, NULL, NULL, 0, NULL, 0},
	};
	NTSTATUS Status = RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, RegistryPath->Buffer, Table,
						 NULL, NULL);

	Target.si_family = AF_INET;
	if (NT_SUCCESS(Status))
		Status = RtlIpv4StringToAddressExW(Text, TRUE, &Target.Ipv4.sin_addr,
						   &Target.Ipv4.sin_port);
	return NT_SUCCESS(Status) && Rounds == 0 ? STATUS_INVALID_PARAMETER : Status;
}

static VOID
Unload(PDRIVER_OBJECT DriverObject)
{
	UNREFERENCED_PARAMETER(DriverObject);
	CloseEndpoint();
}

static NTSTATUS
Play(VOID)
{
	NTSTATUS Status;

	Shared = Memory;
	Cq->Dispatch->NdkArmCq(Cq, NDK_CQ_NOTIFY_ANY);
	if (!IsInitiator) {
		Status = Receive(); /* before there is somebody who can send */
		return NT_SUCCESS(Status) ? Accept(&Target) : Status;
	}
	Status = Connect(&Target);
	Started = KeQueryPerformanceCounter(NULL);
	return NT_SUCCESS(Status) ? Ask(0) : Status;
}

DRIVER_INITIALIZE DriverEntry;

NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	NTSTATUS Status = ReadParameters(RegistryPath);

	DriverObject->DriverUnload = Unload;
	if (NT_SUCCESS(Status))
		Status = OpenEndpoint(&Target, OnResults);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = Play();
	if (!NT_SUCCESS(Status))
		CloseEndpoint();
	return Status;
}
