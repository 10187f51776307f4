/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session of the initiator at DISPATCH_LEVEL: commands are begun as slots and credits allow, and
 * end by their answers. Start with SessionOnResult().
 */
#include "initiator.h"

ULONG
SessionRandom(PINITIATOR_SESSION Session, ULONG Below)
{
	Session->Random ^= Session->Random << 13;
	Session->Random ^= Session->Random >> 7;
	Session->Random ^= Session->Random << 17;
	return (ULONG)(Session->Random >> 32) % Below;
}

VOID
SessionPump(PINITIATOR_SESSION Session)
{
	ULONG i;

	for (i = 0; i < STORAGE_SLOTS; i++) {
		PINITIATOR_SLOT Slot = &Session->Slots[i];

		if (!Session->Common.Ready)
			return;
		if (Slot->State == SlotIdle && ReadNoFence(&InitiatorRuns))
			SlotStart(Session, Slot);
		if (Slot->State == SlotQueued && Session->Common.Credits > 0)
			SlotPost(Session, Slot);
	}
}

/* The command is over when nothing of it is under way. */
static VOID
TryFinish(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	if (Slot->State == SlotSent && Slot->IsAnswered && !Slot->IsSending &&
	    !Slot->IsInvalidating)
		SlotFinish(Session->Number, Slot);
}

static VOID
InvalidateHere(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	NDK_QP *Qp = Session->Common.Qp;
	NTSTATUS Status;

	InterlockedIncrement64(&Statistics.Kept);
	/* until its result there is a token, and the command is not over */
	Slot->IsInvalidating = TRUE;
	if (Session->Common.Broken)
		return;
	Status = Qp->Dispatch->NdkInvalidate(Qp, &Slot->Invalidate, &Slot->Mr->Header, 0);
	(VOID) ConnectionPosted(&Session->Common, Status, FALSE);
}

static VOID
OnAnswer(PINITIATOR_SESSION Session, const STORAGE_MESSAGE *Message, const NDK_RESULT_EX *Result)
{
	PINITIATOR_SLOT Slot = &Session->Slots[Message->Slot % STORAGE_SLOTS];
	BOOLEAN Invalidated = Result->Type == NdkOperationTypeReceiveAndInvalidate;

	if (Message->Slot >= STORAGE_SLOTS || Slot->State != SlotSent || Slot->IsAnswered ||
	    Slot->Command != Message->Command) {
		InterlockedIncrement64(&Statistics.Stray);
		return;
	}
	if (Slot->IsStale)
		InterlockedIncrement64(&Statistics.Stray);
	Slot->IsAnswered = TRUE;
	if (Invalidated && Result->TypeSpecificCompletionOutput == Slot->Token)
		InterlockedIncrement64(&Statistics.Invalidations);
	else if (Invalidated || !(Message->Flags & STORAGE_FLAG_KEPT))
		InterlockedIncrement64(&Statistics.Stray);
	else
		InvalidateHere(Session, Slot);
	TryFinish(Session, Slot);
}

_Use_decl_annotations_ VOID
SessionOnResult(PSTORAGE_CONNECTION Common, const NDK_RESULT_EX *Result)
{
	PINITIATOR_SESSION Session = CONTAINING_RECORD(Common, INITIATOR_SESSION, Common);
	PSTORAGE_WORK Work = Result->RequestContext;
	PINITIATOR_SLOT Slot = Work->Owner;
	STORAGE_MESSAGE Message;

	switch (Work->Kind) {
	case WorkReceive:
		if (!NT_SUCCESS(Result->Status))
			return;
		ConnectionReceive(Common, Result, &Message);
		if (Message.Type == StorageMessageAnswer)
			OnAnswer(Session, &Message, Result);
		else if (Message.Type != StorageMessageCredit)
			InterlockedIncrement64(&Statistics.Stray);
		break;
	case WorkSend:
		Slot->IsSending = FALSE;
		TryFinish(Session, Slot);
		break;
	case WorkInvalidate:
		/* after a failure the token ends with its region */
		Slot->IsInvalidating = !NT_SUCCESS(Result->Status);
		TryFinish(Session, Slot);
		break;
	case WorkSilent: /* a registration that failed */
	case WorkRead:
	default:
		return;
	}
	SessionPump(Session);
}
