/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The target's commands, served at DISPATCH_LEVEL with the connection's lock: a write is READ, then
 * checked and stored; a read is WRITTEN; then comes the answer. Start with ServeOnResult().
 */
#include "target.h"

#define KEPT_EVERY  8 /* answers that leave the token to the initiator */
#define APART_EVERY 4 /* answers whose credits follow in a message of their own */

VOID
ServeBegin(PTARGET_CONNECTION Connection)
{
	PUCHAR Memory =
		Connection->Common.Region.Memory + CONNECTION_RECEIVES * sizeof(STORAGE_MESSAGE);
	ULONG i;

	for (i = 0; i < STORAGE_SLOTS; i++) {
		PTARGET_COMMAND Command = &Connection->Commands[i];

		Command->Data = Memory;
		Command->AnswerMessage = (PVOID)(Memory + STORAGE_EXTENT);
		Command->CreditMessage = Command->AnswerMessage + 1;
		Command->Read.Kind = WorkRead;
		Command->Read.Owner = Command->Answer.Owner = Command->Credit.Owner = Command;
		Memory += STORAGE_EXTENT + 2 * sizeof(STORAGE_MESSAGE);
	}
}

/* ---- the disk ---- */

static VOID
CheckWritten(const TARGET_SESSION *Session, const TARGET_COMMAND *Command)
{
	const STORAGE_MESSAGE *Message = &Command->Message;
	ULONG i;

	for (i = 0; i < Message->Blocks; i++)
		InterlockedAdd64(&Statistics.Wrong,
				 BlockCheck(Command->Data + i * STORAGE_BLOCK,
					    BlockPlace(Session->Number, Message->Slot,
						       Message->FirstBlock + i),
					    Message->Sequence));
}

/* Between the command's memory and the disk, if the connection is still the session's. */
static BOOLEAN
Transfer(PTARGET_CONNECTION Connection, PTARGET_COMMAND Command)
{
	const STORAGE_MESSAGE *Message = &Command->Message;
	PTARGET_SESSION Session = Connection->Session;
	PUCHAR At = Session->Disk + Message->Slot * STORAGE_EXTENT +
		    Message->FirstBlock * STORAGE_BLOCK;
	BOOLEAN Current;

	KeAcquireSpinLockAtDpcLevel(&Session->Lock);
	Current = Session->Current == Connection;
	if (Current && (Message->Flags & STORAGE_FLAG_WRITE))
		RtlCopyMemory(At, Command->Data, Message->Blocks * STORAGE_BLOCK);
	else if (Current)
		RtlCopyMemory(Command->Data, At, Message->Blocks * STORAGE_BLOCK);
	KeReleaseSpinLockFromDpcLevel(&Session->Lock);
	if (!Current)
		ConnectionBreak(&Connection->Common);
	return Current;
}

/* ---- answers ---- */

static VOID
SendPart(PTARGET_CONNECTION Connection, PTARGET_COMMAND Command, PSTORAGE_WORK Work,
	 PSTORAGE_MESSAGE Message, UINT32 Token)
{
	if (ConnectionSend(&Connection->Common, Work, Message, Token))
		Command->Pending++;
}

static VOID
Answer(PTARGET_CONNECTION Connection, PTARGET_COMMAND Command)
{
	const STORAGE_MESSAGE *Asked = &Command->Message;
	PSTORAGE_CONNECTION Common = &Connection->Common;
	BOOLEAN Kept = Asked->Command % KEPT_EVERY == 0;
	ULONG Later = 0;

	/* a message of credits leaves enough for the answers to all commands */
	if (Asked->Command % APART_EVERY == 1 && Common->Credits > STORAGE_SLOTS) {
		Later = Common->Reposted;
		Common->Reposted = 0;
	}
	RtlZeroMemory(Command->AnswerMessage, sizeof(STORAGE_MESSAGE));
	Command->AnswerMessage->Type = StorageMessageAnswer;
	Command->AnswerMessage->Flags = Kept ? STORAGE_FLAG_KEPT : 0;
	Command->AnswerMessage->Slot = Asked->Slot;
	Command->AnswerMessage->Command = Asked->Command;
	InterlockedIncrement64(&Statistics.Served);
	SendPart(Connection, Command, &Command->Answer, Command->AnswerMessage,
		 Kept ? 0 : Asked->Token);
	if (Common->Broken)
		return;
	if (Later > 0) {
		Common->Reposted += Later;
		RtlZeroMemory(Command->CreditMessage, sizeof(STORAGE_MESSAGE));
		Command->CreditMessage->Type = StorageMessageCredit;
		SendPart(Connection, Command, &Command->Credit, Command->CreditMessage, 0);
	}
}

/* ---- commands ---- */

static VOID
BeginCommand(PTARGET_CONNECTION Connection, PTARGET_COMMAND Command)
{
	const STORAGE_MESSAGE *Message = &Command->Message;
	PSTORAGE_CONNECTION Common = &Connection->Common;
	NDK_SGE Sge = ConnectionSge(Common, Command->Data, Message->Blocks * STORAGE_BLOCK);
	NDK_QP *Qp = Common->Qp;
	NTSTATUS Status;

	if (Message->Flags & STORAGE_FLAG_WRITE) {
		Status = Qp->Dispatch->NdkRead(Qp, &Command->Read, &Sge, 1, Message->Address,
					       Message->Token, 0);
		if (ConnectionPosted(Common, Status, FALSE))
			Command->Pending++;
		return;
	}
	if (!Transfer(Connection, Command))
		return;
	Status = Qp->Dispatch->NdkWrite(Qp, &Common->Silent, &Sge, 1, Message->Address,
					Message->Token,
					NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER);
	if (ConnectionPosted(Common, Status, TRUE))
		Answer(Connection, Command);
}

static PTARGET_COMMAND
FindFree(PTARGET_CONNECTION Connection)
{
	ULONG i;

	for (i = 0; i < STORAGE_SLOTS; i++)
		if (Connection->Commands[i].Pending == 0)
			return &Connection->Commands[i];
	return NULL;
}

static VOID
BeginWaiting(PTARGET_CONNECTION Connection)
{
	PTARGET_COMMAND Command;

	while (Connection->WaitingCount > 0 && !Connection->Common.Broken &&
	       (Command = FindFree(Connection)) != NULL) {
		Command->Message = Connection->Waiting[Connection->WaitingFirst];
		Connection->WaitingFirst = (Connection->WaitingFirst + 1) % STORAGE_SLOTS;
		Connection->WaitingCount--;
		BeginCommand(Connection, Command);
	}
}

static VOID
OnMessage(PTARGET_CONNECTION Connection, const STORAGE_MESSAGE *Message)
{
	ULONG At = (Connection->WaitingFirst + Connection->WaitingCount) % STORAGE_SLOTS;

	if (Connection->Common.Broken)
		return;
	if (Message->Type != StorageMessageCommand || Message->Slot >= STORAGE_SLOTS ||
	    Message->FirstBlock >= STORAGE_BLOCKS || Message->Blocks == 0 ||
	    Message->Blocks > STORAGE_BLOCKS - Message->FirstBlock) {
		InterlockedIncrement64(&Statistics.Stray);
		ConnectionBreak(&Connection->Common);
	} else if (Message->Flags & STORAGE_FLAG_DROP) {
		Connection->Drop = TRUE;
		ConnectionBreak(&Connection->Common);
	} else if (Connection->WaitingCount == STORAGE_SLOTS) {
		InterlockedIncrement64(&Statistics.Overruns);
		ConnectionBreak(&Connection->Common);
	} else {
		Connection->Waiting[At] = *Message;
		Connection->WaitingCount++;
	}
}

_Use_decl_annotations_ VOID
ServeOnResult(PSTORAGE_CONNECTION Common, const NDK_RESULT_EX *Result)
{
	PTARGET_CONNECTION Connection = CONTAINING_RECORD(Common, TARGET_CONNECTION, Common);
	PSTORAGE_WORK Work = Result->RequestContext;
	PTARGET_COMMAND Command = Work->Owner;
	STORAGE_MESSAGE Message;

	switch (Work->Kind) {
	case WorkReceive:
		if (!NT_SUCCESS(Result->Status))
			return;
		ConnectionReceive(Common, Result, &Message);
		OnMessage(Connection, &Message);
		break;
	case WorkRead:
		Command->Pending--;
		if (!NT_SUCCESS(Result->Status) || Common->Broken)
			return;
		CheckWritten(Connection->Session, Command);
		if (Transfer(Connection, Command))
			Answer(Connection, Command);
		break;
	case WorkSend:
		Command->Pending--;
		break;
	case WorkSilent: /* a WRITE that failed */
	case WorkInvalidate:
	default:
		return;
	}
	BeginWaiting(Connection);
}
