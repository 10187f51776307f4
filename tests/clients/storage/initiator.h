/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The initiator's sessions and slots.
 */
#pragma once
#include "storage.h"

#define SLOT_PAGES 8 /* of a fast registration */
/* The largest command, anywhere in the first page, and a page that nobody may write to. */
#define SLOT_BYTES (STORAGE_EXTENT + 2 * PAGE_SIZE)

typedef enum _SLOT_STATE {
	SlotIdle = 0,
	SlotQueued, /* for a connection, or a credit */
	SlotSent,
} SLOT_STATE;

typedef struct _INITIATOR_SLOT {
	ULONG Number;
	SLOT_STATE State;
	STORAGE_WORK Send, Invalidate;
	PSTORAGE_MESSAGE Message; /* of the connection's region */
	NDK_MR *Mr;
	UINT32 Token;
	PUCHAR Buffer; /* a canary, but for the data of a command */
	PMDL Mdl;
	NDK_LOGICAL_ADDRESS_MAPPING *Lam;
	ULONG Fbo;
	ULONG64 Command;
	ULONG Offset, FirstBlock, Blocks; /* the data's */
	BOOLEAN IsWrite;
	BOOLEAN IsStale; /* sent with a token that is not valid */
	BOOLEAN IsAnswered;
	BOOLEAN IsSending, IsInvalidating; /* a result is due */
	ULONG64 LastSequence;              /* of the writes */
	ULONG64 Sequence[STORAGE_BLOCKS];  /* that each block of the extent has to have */
} INITIATOR_SLOT, *PINITIATOR_SLOT;

typedef struct _INITIATOR_SESSION {
	STORAGE_CONNECTION Common; /* one after the other */
	PKEVENT Event;             /* of its thread, when the connection breaks */
	ULONG Number;
	ULONG64 Random;
	BOOLEAN WantsStale, WantsDrop; /* for the next command */
	BOOLEAN IsOpen;                /* there is something to close */
	INITIATOR_SLOT Slots[STORAGE_SLOTS];
} INITIATOR_SESSION, *PINITIATOR_SESSION;

EXTERN_C_START

extern volatile LONG InitiatorRuns; /* commands are begun */

/* ---- slot.c: with the connection's lock, unless said otherwise ---- */
/* At PASSIVE_LEVEL, while there is no connection. */
NTSTATUS SlotCreate(_In_ PSTORAGE_SIDE Side, _Inout_ PINITIATOR_SLOT Slot);
VOID SlotDestroy(_In_ PSTORAGE_SIDE Side, _Inout_ PINITIATOR_SLOT Slot);
/* Its connection has been closed: whatever token the slot has is none any more. */
NTSTATUS SlotRenew(_In_ PSTORAGE_SIDE Side, _Inout_ PINITIATOR_SESSION Session,
		   _Inout_ PINITIATOR_SLOT Slot);

VOID SlotStart(_In_ PINITIATOR_SESSION Session, _Inout_ PINITIATOR_SLOT Slot);
VOID SlotPost(_Inout_ PINITIATOR_SESSION Session, _Inout_ PINITIATOR_SLOT Slot);
VOID SlotFinish(ULONG Session, _Inout_ PINITIATOR_SLOT Slot);

/* ---- session.c ---- */
ULONG SessionRandom(_Inout_ PINITIATOR_SESSION Session, ULONG Below);
STORAGE_ON_RESULT SessionOnResult;
/* With the connection's lock: begin commands, and send what is queued. */
VOID SessionPump(_Inout_ PINITIATOR_SESSION Session);

EXTERN_C_END
