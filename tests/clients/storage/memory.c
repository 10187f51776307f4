/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registered memory, and what blocks and buffers have in them. Start with BlockFill().
 */
#include "storage.h"

#define CANARY 0x5a

NTSTATUS
RegionCreate(PSTORAGE_SIDE Side, SIZE_T Bytes, PSTORAGE_REGION Region)
{
	const ULONG Flags = NDK_MR_FLAG_ALLOW_LOCAL_WRITE | NDK_MR_FLAG_RDMA_READ_SINK;
	NTSTATUS Status = STATUS_INSUFFICIENT_RESOURCES;

	RtlZeroMemory(Region, sizeof(*Region));
	Region->Memory = ExAllocatePool2(POOL_FLAG_NON_PAGED, Bytes, STORAGE_TAG);
	if (Region->Memory != NULL)
		Region->Mdl = IoAllocateMdl(Region->Memory, (ULONG)Bytes, FALSE, FALSE, NULL);
	if (Region->Mdl != NULL) {
		MmBuildMdlForNonPagedPool(Region->Mdl);
		CREATE_AND_WAIT(Status, Region->Mr, Side->Pd->Dispatch->NdkCreateMr, Side->Pd,
				FALSE);
		if (NT_SUCCESS(Status))
			REQUEST_AND_WAIT(Status, Region->Mr->Dispatch->NdkRegisterMr, Region->Mr,
					 Region->Mdl, Bytes, Flags);
		if (NT_SUCCESS(Status))
			Region->Token = Region->Mr->Dispatch->NdkGetLocalTokenFromMr(Region->Mr);
	}
	if (!NT_SUCCESS(Status))
		RegionDestroy(Region);
	return Status;
}

VOID
RegionDestroy(PSTORAGE_REGION Region)
{
	if (Region->Mr != NULL)
		CloseAndWait(Region->Mr->Dispatch->NdkCloseMr, &Region->Mr->Header);
	if (Region->Mdl != NULL)
		IoFreeMdl(Region->Mdl);
	if (Region->Memory != NULL)
		ExFreePoolWithTag(Region->Memory, STORAGE_TAG);
	RtlZeroMemory(Region, sizeof(*Region));
}

/* ---- patterns ---- */

/* A block: where it belongs, its sequence, and words that follow from both and their place. */
static ULONG64
Word(ULONG64 Place, ULONG64 Sequence, ULONG i)
{
	ULONG64 Value =
		(Place + 1) * 0x9e3779b97f4a7c15ull ^ (Sequence + i) * 0xd6e8feb86659fd93ull;

	return Value ^ Value >> 29;
}

ULONG64
BlockPlace(ULONG Session, ULONG Slot, ULONG Block)
{
	return (ULONG64)Session << 32 | (ULONG64)Slot << 16 | Block;
}

ULONG64
BlockSequence(const VOID *Block)
{
	ULONG64 Sequence;

	RtlCopyMemory(&Sequence, (const UCHAR *)Block + sizeof(Sequence), sizeof(Sequence));
	return Sequence;
}

static VOID
BlockMake(ULONG64 *Words, ULONG64 Place, ULONG64 Sequence)
{
	ULONG i;

	Words[0] = Place;
	Words[1] = Sequence;
	for (i = 2; i < STORAGE_BLOCK / sizeof(*Words); i++)
		Words[i] = Word(Place, Sequence, i);
}

VOID
BlockFill(PVOID Block, ULONG64 Place, ULONG64 Sequence)
{
	ULONG64 Words[STORAGE_BLOCK / sizeof(ULONG64)];

	BlockMake(Words, Place, Sequence);
	RtlCopyMemory(Block, Words, sizeof(Words));
}

ULONG
BlockCheck(const VOID *Block, ULONG64 Place, ULONG64 Sequence)
{
	ULONG64 Words[STORAGE_BLOCK / sizeof(ULONG64)];
	const UCHAR *Expected = (const UCHAR *)Words, *Found = Block;
	ULONG Wrong = 0, i;

	BlockMake(Words, Place, Sequence);
	if (RtlEqualMemory(Found, Expected, STORAGE_BLOCK))
		return 0;
	for (i = 0; i < STORAGE_BLOCK; i++)
		Wrong += Found[i] != Expected[i];
	return Wrong;
}

VOID
CanaryFill(PUCHAR Memory, ULONG Bytes)
{
	RtlFillMemory(Memory, Bytes, CANARY);
}

ULONG
CanaryCheck(const UCHAR *Memory, ULONG Bytes)
{
	ULONG Changed = 0, i;

	/* all bytes are the first one */
	if (Bytes == 0 || (Memory[0] == CANARY && RtlEqualMemory(Memory, Memory + 1, Bytes - 1)))
		return 0;
	for (i = 0; i < Bytes; i++)
		Changed += Memory[i] != CANARY;
	return Changed;
}
