/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the driver share: waiting, memory, a side (an adapter in a role), and the part
 * of a connection that both roles have.
 */
#pragma once
#include <ntddk.h>
#include <wsk.h>
#include <netioapi.h>
#include <ndkpi.h>
#include <wskndk.h>
#include "protocol.h"

#define STORAGE_TAG 'rotS'

EXTERN_C_START

extern STORAGE_STATISTICS Statistics;

/* ---- wait.c: requests that may be pending, at PASSIVE_LEVEL ---- */

typedef struct _STORAGE_WAIT {
	KEVENT Event;
	NTSTATUS Status;
	NDK_OBJECT_HEADER *Object;
} STORAGE_WAIT, *PSTORAGE_WAIT;

VOID WaitOnDone(_In_opt_ PVOID Context, _In_ NTSTATUS Status);
VOID WaitOnCreated(_In_opt_ PVOID Context, _In_ NTSTATUS Status, _In_ NDK_OBJECT_HEADER *Object);
VOID WaitOnClosed(_In_opt_ PVOID Context);

VOID WaitBegin(_Out_ PSTORAGE_WAIT Wait);
/* The status of a call that may be pending. */
_IRQL_requires_max_(APC_LEVEL) NTSTATUS WaitEnd(_Inout_ PSTORAGE_WAIT Wait, NTSTATUS Called);
_IRQL_requires_max_(APC_LEVEL) VOID
	CloseAndWait(NDK_FN_CLOSE_OBJECT Close, _In_opt_ NDK_OBJECT_HEADER *Object);

/* An object, from the call or from its completion. */
#define CREATE_AND_WAIT(Status, Out, Function, ...)                              \
	do {                                                                     \
		STORAGE_WAIT Wait_;                                              \
                                                                                 \
		WaitBegin(&Wait_);                                               \
		Status = Function(__VA_ARGS__, WaitOnCreated, &Wait_, &(Out));   \
		if (Status == STATUS_PENDING) {                                  \
			Status = WaitEnd(&Wait_, Status);                        \
			(Out) = NT_SUCCESS(Status) ? (PVOID)Wait_.Object : NULL; \
		}                                                                \
		if (!NT_SUCCESS(Status))                                         \
			(Out) = NULL;                                            \
	} while (0)

#define REQUEST_AND_WAIT(Status, Function, ...)                                      \
	do {                                                                         \
		STORAGE_WAIT Wait_;                                                  \
                                                                                     \
		WaitBegin(&Wait_);                                                   \
		Status = WaitEnd(&Wait_, Function(__VA_ARGS__, WaitOnDone, &Wait_)); \
	} while (0)

/* ---- adapter.c: a side ---- */

typedef struct _STORAGE_SIDE {
	NDK_ADAPTER *Adapter;
	NDK_PD *Pd;
	SOCKADDR_INET Address;
} STORAGE_SIDE, *PSTORAGE_SIDE;

NTSTATUS ProviderOpen(VOID);
VOID ProviderClose(VOID);
/* The adapter that has the side's address. */
NTSTATUS SideOpen(_Inout_ PSTORAGE_SIDE Side);
VOID SideClose(_Inout_ PSTORAGE_SIDE Side);
/* The unload point: nothing of the adapter calls the driver after it. Waits for what was made from
 * it to be closed. */
VOID AdapterClose(_Inout_ PSTORAGE_SIDE Side);

/* ---- memory.c ---- */

/* Non-paged memory that is registered as long as it lives. */
typedef struct _STORAGE_REGION {
	PUCHAR Memory;
	PMDL Mdl;
	NDK_MR *Mr;
	UINT32 Token;
} STORAGE_REGION, *PSTORAGE_REGION;

NTSTATUS RegionCreate(_In_ PSTORAGE_SIDE Side, SIZE_T Bytes, _Out_ PSTORAGE_REGION Region);
VOID RegionDestroy(_Inout_ PSTORAGE_REGION Region);
/* The blocks of a slot, each with its own sequence. */
VOID BlockFill(_Out_writes_bytes_(STORAGE_BLOCK) PVOID Block, ULONG64 Place, ULONG64 Sequence);
/* Returns: bytes that are not as BlockFill() makes them */
ULONG BlockCheck(_In_reads_bytes_(STORAGE_BLOCK) const VOID *Block, ULONG64 Place,
		 ULONG64 Sequence);
ULONG64 BlockSequence(_In_reads_bytes_(STORAGE_BLOCK) const VOID *Block);
ULONG64 BlockPlace(ULONG Session, ULONG Slot, ULONG Block);
/* What a buffer is between commands. */
VOID CanaryFill(_Out_writes_bytes_(Bytes) PUCHAR Memory, ULONG Bytes);
ULONG CanaryCheck(_In_reads_bytes_(Bytes) const UCHAR *Memory, ULONG Bytes);

/* ---- connection.c ---- */

#define CONNECTION_RECEIVES (2 * STORAGE_SLOTS)

typedef enum _STORAGE_WORK_KIND {
	WorkReceive = 1,
	WorkSend,
	WorkRead,
	WorkSilent, /* a result only if it failed */
	WorkInvalidate,
} STORAGE_WORK_KIND;

/* The context of a request. */
typedef struct _STORAGE_WORK {
	STORAGE_WORK_KIND Kind;
	PVOID Owner; /* slot, command, message */
} STORAGE_WORK, *PSTORAGE_WORK;

typedef struct _STORAGE_CONNECTION STORAGE_CONNECTION, *PSTORAGE_CONNECTION;

typedef VOID STORAGE_ON_RESULT(_Inout_ PSTORAGE_CONNECTION Connection,
			       _In_ const NDK_RESULT_EX *Result);
typedef VOID STORAGE_ON_BROKEN(_Inout_ PSTORAGE_CONNECTION Connection);

struct _STORAGE_CONNECTION {
	LIST_ENTRY Link; /* the role's */
	PSTORAGE_SIDE Side;
	STORAGE_ON_RESULT *OnResult; /* with Lock, at DISPATCH_LEVEL */
	STORAGE_ON_BROKEN *OnBroken; /* once, with Lock, at DISPATCH_LEVEL */
	KSPIN_LOCK Lock;             /* posts, results, everything below */
	NDK_CQ *Cq;
	NDK_QP *Qp;
	NDK_CONNECTOR *Connector;
	STORAGE_REGION Region; /* messages to receive; then the role's */
	STORAGE_WORK Receive[CONNECTION_RECEIVES];
	STORAGE_WORK Silent;
	ULONG ReceiveCount; /* at most CONNECTION_RECEIVES; all of them are granted at first */
	BOOLEAN Polls;      /* the queue may be polled */
	BOOLEAN Ready;
	BOOLEAN Broken;
	ULONG Receives; /* posted, with no result yet */
	ULONG Requests; /* that will have a result, with none yet */
	ULONG Credits;  /* to send by */
	ULONG Granted;  /* to the peer, not used yet */
	ULONG Reposted; /* receives that the peer was not told of */
};

/* Zeroed memory becomes a connection with a queue pair and its receives posted. */
NTSTATUS ConnectionOpen(_Inout_ PSTORAGE_CONNECTION Connection, ULONG RegionBytes);
/* Disconnects if it was asked to, flushes, takes the results that are left, closes. */
VOID ConnectionClose(_Inout_ PSTORAGE_CONNECTION Connection, BOOLEAN Disconnect);
/* With Lock: it is of no use any more. */
VOID ConnectionBreak(_Inout_ PSTORAGE_CONNECTION Connection);
VOID ConnectionBreakUnlocked(_Inout_ PSTORAGE_CONNECTION Connection);
VOID ConnectionOnDisconnect(_In_opt_ PVOID Context, _In_ ULONG Reason);
/* With Lock. A message that was received, and its receive posted again. */
VOID ConnectionReceive(_Inout_ PSTORAGE_CONNECTION Connection, _In_ const NDK_RESULT_EX *Result,
		       _Out_ PSTORAGE_MESSAGE Message);
/* With Lock. Send a message of the region; the credits are filled in.
 * @param Token 0, or the peer's to invalidate */
BOOLEAN ConnectionSend(_Inout_ PSTORAGE_CONNECTION Connection, _Inout_ PSTORAGE_WORK Work,
		       _Inout_ PSTORAGE_MESSAGE Message, UINT32 Token);
/* With Lock: whether a post was taken; if not, the connection breaks. */
BOOLEAN ConnectionPosted(_Inout_ PSTORAGE_CONNECTION Connection, NTSTATUS Status, BOOLEAN IsSilent);
NDK_SGE ConnectionSge(_In_ PSTORAGE_CONNECTION Connection, _In_ PVOID Memory, ULONG Bytes);

/* ---- target.c, initiator.c: the roles ---- */

NTSTATUS TargetStart(_In_ PDEVICE_OBJECT Device, _In_ const SOCKADDR_INET *Address, ULONG Sessions);
VOID TargetStop(VOID);

NTSTATUS InitiatorStart(_In_ const SOCKADDR_INET *From, _In_ const SOCKADDR_INET *To,
			ULONG Sessions, ULONG FaultMs);
VOID InitiatorStop(VOID);
/* Begin commands, or begin no more. */
VOID InitiatorRun(BOOLEAN Runs);
/* Returns: commands that have not completed */
ULONG InitiatorBusy(VOID);
/* Returns: sessions that have a connection */
ULONG InitiatorReady(VOID);

EXTERN_C_END
