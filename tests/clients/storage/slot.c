/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One command of the initiator: its buffer, its token, what is sent, and whether the right bytes
 * came. Start with SlotPost().
 */
#include "initiator.h"

static volatile LONG64 LastCommand;

/* ---- buffers ---- */

static NTSTATUS
CreateRegion(PSTORAGE_SIDE Side, PINITIATOR_SLOT Slot)
{
	NTSTATUS Status;

	CREATE_AND_WAIT(Status, Slot->Mr, Side->Pd->Dispatch->NdkCreateMr, Side->Pd, TRUE);
	if (NT_SUCCESS(Status))
		REQUEST_AND_WAIT(Status, Slot->Mr->Dispatch->NdkInitializeFastRegisterMr, Slot->Mr,
				 SLOT_PAGES, TRUE);
	return Status;
}

static NTSTATUS
BuildMapping(PSTORAGE_SIDE Side, PINITIATOR_SLOT Slot)
{
	ULONG Bytes = FIELD_OFFSET(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) +
		      SLOT_PAGES * sizeof(NDK_LOGICAL_ADDRESS);
	NDK_LOGICAL_ADDRESS_MAPPING *Lam;
	NTSTATUS Status;

	Lam = ExAllocatePool2(POOL_FLAG_NON_PAGED, Bytes, STORAGE_TAG);
	if (Lam == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	{
		STORAGE_WAIT Wait;

		WaitBegin(&Wait);
		Status = WaitEnd(&Wait, Side->Adapter->Dispatch->NdkBuildLAM(
						Side->Adapter, Slot->Mdl, SLOT_BYTES, WaitOnDone,
						&Wait, Lam, &Bytes, &Slot->Fbo));
	}
	if (NT_SUCCESS(Status))
		Slot->Lam = Lam;
	else
		ExFreePoolWithTag(Lam, STORAGE_TAG);
	return Status;
}

NTSTATUS
SlotCreate(PSTORAGE_SIDE Side, PINITIATOR_SLOT Slot)
{
	NTSTATUS Status;

	Slot->Send.Owner = Slot->Invalidate.Owner = Slot;
	Slot->Invalidate.Kind = WorkInvalidate;
	Slot->Buffer = ExAllocatePool2(POOL_FLAG_NON_PAGED, SLOT_BYTES, STORAGE_TAG);
	if (Slot->Buffer == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	CanaryFill(Slot->Buffer, SLOT_BYTES);
	Slot->Mdl = IoAllocateMdl(Slot->Buffer, SLOT_BYTES, FALSE, FALSE, NULL);
	if (Slot->Mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	MmBuildMdlForNonPagedPool(Slot->Mdl);
	Status = BuildMapping(Side, Slot);
	return NT_SUCCESS(Status) ? CreateRegion(Side, Slot) : Status;
}

static VOID
CloseRegion(PINITIATOR_SLOT Slot)
{
	if (Slot->Mr != NULL)
		CloseAndWait(Slot->Mr->Dispatch->NdkCloseMr, &Slot->Mr->Header);
	Slot->Mr = NULL;
}

VOID
SlotDestroy(PSTORAGE_SIDE Side, PINITIATOR_SLOT Slot)
{
	CloseRegion(Slot);
	if (Slot->Lam != NULL) {
		Side->Adapter->Dispatch->NdkReleaseLAM(Side->Adapter, Slot->Lam);
		ExFreePoolWithTag(Slot->Lam, STORAGE_TAG);
	}
	if (Slot->Mdl != NULL)
		IoFreeMdl(Slot->Mdl);
	if (Slot->Buffer != NULL)
		ExFreePoolWithTag(Slot->Buffer, STORAGE_TAG);
}

/* What a command needs after its connection. */
static VOID
Settle(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	PUCHAR Data = Slot->Buffer + Slot->Offset;
	ULONG Bytes = Slot->Blocks * STORAGE_BLOCK;

	if (Slot->IsAnswered) {
		SlotFinish(Session->Number, Slot);
		return;
	}
	if (!Slot->IsWrite) {
		if (Slot->IsStale)
			InterlockedAdd64(&Statistics.Dead, CanaryCheck(Data, Bytes));
		CanaryFill(Data, Bytes);
	}
	Slot->State = SlotQueued;
	InterlockedIncrement64(&Statistics.Replayed);
}

NTSTATUS
SlotRenew(PSTORAGE_SIDE Side, PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	KIRQL Irql;

	if (Slot->State != SlotSent)
		return STATUS_SUCCESS;
	CloseRegion(Slot);
	KeAcquireSpinLock(&Session->Common.Lock, &Irql);
	Slot->IsSending = Slot->IsInvalidating = FALSE;
	Settle(Session, Slot);
	KeReleaseSpinLock(&Session->Common.Lock, Irql);
	return CreateRegion(Side, Slot);
}

/* ---- commands ---- */

VOID
SlotStart(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	ULONG i;

	InterlockedAdd64(&Statistics.Dead, CanaryCheck(Slot->Buffer, SLOT_BYTES));
	Slot->IsWrite = SessionRandom(Session, 2) == 0;
	Slot->FirstBlock = SessionRandom(Session, STORAGE_BLOCKS);
	Slot->Blocks = 1 + SessionRandom(Session, STORAGE_BLOCKS - Slot->FirstBlock);
	Slot->Offset = SessionRandom(Session, PAGE_SIZE / 8) * 8;
	Slot->Command = (ULONG64)InterlockedIncrement64(&LastCommand);
	if (Slot->IsWrite) {
		Slot->LastSequence++;
		for (i = 0; i < Slot->Blocks; i++)
			BlockFill(Slot->Buffer + Slot->Offset + i * STORAGE_BLOCK,
				  BlockPlace(Session->Number, Slot->Number, Slot->FirstBlock + i),
				  Slot->LastSequence);
	}
	Slot->State = SlotQueued;
	InterlockedIncrement64(&Statistics.Started);
}

static BOOLEAN
Register(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	const ULONG Flags = NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER;
	ULONG At = Slot->Fbo + Slot->Offset, Bytes = Slot->Blocks * STORAGE_BLOCK;
	ULONG First = At / PAGE_SIZE, Fbo = At % PAGE_SIZE;
	NDK_QP *Qp = Session->Common.Qp;
	NTSTATUS Status;

	Status = Qp->Dispatch->NdkFastRegister(
		Qp, &Session->Common.Silent, Slot->Mr, (Fbo + Bytes + PAGE_SIZE - 1) / PAGE_SIZE,
		&Slot->Lam->AdapterPageArray[First], Fbo, Bytes, Slot->Buffer + Slot->Offset,
		Flags | (Slot->IsWrite ? NDK_OP_FLAG_ALLOW_REMOTE_READ
				       : NDK_OP_FLAG_ALLOW_REMOTE_WRITE));
	if (!ConnectionPosted(&Session->Common, Status, TRUE))
		return FALSE;
	Slot->Token = Slot->Mr->Dispatch->NdkGetRemoteTokenFromMr(Slot->Mr);
	if (!Slot->IsStale)
		return TRUE;
	Status = Qp->Dispatch->NdkInvalidate(Qp, &Session->Common.Silent, &Slot->Mr->Header, Flags);
	return ConnectionPosted(&Session->Common, Status, TRUE);
}

VOID
SlotPost(PINITIATOR_SESSION Session, PINITIATOR_SLOT Slot)
{
	PSTORAGE_MESSAGE Message = Slot->Message;

	Slot->IsStale = Session->WantsStale;
	Slot->IsAnswered = FALSE;
	/* from here on the token may be valid */
	Slot->State = SlotSent;
	if (!Register(Session, Slot))
		return;
	RtlZeroMemory(Message, sizeof(*Message));
	Message->Type = StorageMessageCommand;
	Message->Flags = (Slot->IsWrite ? STORAGE_FLAG_WRITE : 0) |
			 (Session->WantsDrop ? STORAGE_FLAG_DROP : 0);
	Message->Slot = Slot->Number;
	Message->Command = Slot->Command;
	Message->Sequence = Slot->LastSequence;
	Message->Address = (ULONG_PTR)(Slot->Buffer + Slot->Offset);
	Message->Token = Slot->Token;
	Message->FirstBlock = Slot->FirstBlock;
	Message->Blocks = Slot->Blocks;
	if (!ConnectionSend(&Session->Common, &Slot->Send, Message, 0))
		return;
	Slot->IsSending = TRUE;
	InterlockedAdd64(&Statistics.Stale, Session->WantsStale);
	Session->WantsStale = Session->WantsDrop = FALSE;
}

VOID
SlotFinish(ULONG Session, PINITIATOR_SLOT Slot)
{
	PUCHAR Data = Slot->Buffer + Slot->Offset;
	ULONG Bytes = Slot->Blocks * STORAGE_BLOCK, i;
	LONG64 Wrong = 0;

	for (i = 0; i < Slot->Blocks; i++) {
		ULONG Block = Slot->FirstBlock + i;

		if (Slot->IsWrite)
			Slot->Sequence[Block] = Slot->LastSequence;
		Wrong +=
			BlockCheck(Data + i * STORAGE_BLOCK,
				   BlockPlace(Session, Slot->Number, Block), Slot->Sequence[Block]);
	}
	Wrong += CanaryCheck(Slot->Buffer, Slot->Offset);
	Wrong += CanaryCheck(Data + Bytes, SLOT_BYTES - Slot->Offset - Bytes);
	CanaryFill(Slot->Buffer, SLOT_BYTES);
	InterlockedAdd64(&Statistics.Wrong, Wrong);
	InterlockedAdd64(&Statistics.Bytes, Bytes);
	InterlockedIncrement64(&Statistics.Completed);
	Slot->State = SlotIdle;
}
