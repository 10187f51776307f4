/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The regions and the peers of a driver: a generic table by key, links of a splay tree in a
 * structure of its own, and a hash table with an enumeration. It is compiled, and never run.
 */
#include <ntddk.h>

#define TABLES_TAG 'lbaT'

typedef struct _REGION {
	UINT32 Token;
	ULONG Length;
} REGION, *PREGION;

typedef struct _PEER {
	RTL_DYNAMIC_HASH_TABLE_ENTRY HashEntry;
	RTL_SPLAY_LINKS Links;
	ULONG64 Key;
} PEER, *PPEER;

EXTERN_C_START
RTL_GENERIC_COMPARE_ROUTINE RegionCompare;
RTL_GENERIC_ALLOCATE_ROUTINE RegionAllocate;
RTL_GENERIC_FREE_ROUTINE RegionFree;
NTSTATUS RegionsUse(PRTL_GENERIC_TABLE Table, UINT32 Token);
PPEER PeerFind(PRTL_DYNAMIC_HASH_TABLE Table, ULONG64 Key);
NTSTATUS PeersCreate(PRTL_DYNAMIC_HASH_TABLE *Table);
VOID PeersEmpty(PRTL_DYNAMIC_HASH_TABLE Table);
PPEER PeerNext(PPEER Peer);
EXTERN_C_END

_Use_decl_annotations_ RTL_GENERIC_COMPARE_RESULTS NTAPI
RegionCompare(PRTL_GENERIC_TABLE Table, PVOID FirstStruct, PVOID SecondStruct)
{
	PREGION first = (PREGION)FirstStruct, second = (PREGION)SecondStruct;

	UNREFERENCED_PARAMETER(Table);
	if (first->Token < second->Token)
		return GenericLessThan;
	return first->Token > second->Token ? GenericGreaterThan : GenericEqual;
}

_Use_decl_annotations_ PVOID NTAPI
RegionAllocate(PRTL_GENERIC_TABLE Table, CLONG ByteSize)
{
	UNREFERENCED_PARAMETER(Table);
	return ExAllocatePool2(POOL_FLAG_NON_PAGED, ByteSize, TABLES_TAG);
}

_Use_decl_annotations_ VOID NTAPI
RegionFree(PRTL_GENERIC_TABLE Table, PVOID Buffer)
{
	UNREFERENCED_PARAMETER(Table);
	ExFreePoolWithTag(Buffer, TABLES_TAG);
}

NTSTATUS
RegionsUse(PRTL_GENERIC_TABLE Table, UINT32 Token)
{
	REGION region = {Token, PAGE_SIZE};
	BOOLEAN isNew;
	PREGION found;
	PVOID node, restart = NULL;
	TABLE_SEARCH_RESULT result;

	RtlInitializeGenericTable(Table, RegionCompare, RegionAllocate, RegionFree, NULL);
	found = (PREGION)RtlInsertElementGenericTable(Table, &region, sizeof(region), &isNew);
	if (found == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	found = (PREGION)RtlLookupElementGenericTableFull(Table, &region, &node, &result);
	NT_ASSERT(result == TableFoundNode && found->Token == Token);
	for (PVOID p = RtlEnumerateGenericTableWithoutSplaying(Table, &restart); p != NULL;
	     p = RtlEnumerateGenericTableWithoutSplaying(Table, &restart))
		DbgPrint("region %08x\n", ((PREGION)p)->Token);
	while (!RtlIsGenericTableEmpty(Table))
		RtlDeleteElementGenericTable(Table, RtlGetElementGenericTable(Table, 0));
	return RtlNumberGenericTableElements(Table) == 0 ? STATUS_SUCCESS : STATUS_INTERNAL_ERROR;
}

NTSTATUS
PeersCreate(PRTL_DYNAMIC_HASH_TABLE *Table)
{
	*Table = NULL;
	return RtlCreateHashTable(Table, 0, 0) ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

PPEER
PeerFind(PRTL_DYNAMIC_HASH_TABLE Table, ULONG64 Key)
{
	RTL_DYNAMIC_HASH_TABLE_CONTEXT context;
	PRTL_DYNAMIC_HASH_TABLE_ENTRY entry;

	RtlInitHashTableContext(&context);
	for (entry = RtlLookupEntryHashTable(Table, (ULONG_PTR)Key, &context); entry != NULL;
	     entry = RtlGetNextEntryHashTable(Table, &context))
		if (CONTAINING_RECORD(entry, PEER, HashEntry)->Key == Key)
			break;
	RtlReleaseHashTableContext(&context);
	return entry ? CONTAINING_RECORD(entry, PEER, HashEntry) : NULL;
}

VOID
PeersEmpty(PRTL_DYNAMIC_HASH_TABLE Table)
{
	RTL_DYNAMIC_HASH_TABLE_ENUMERATOR enumerator;
	PRTL_DYNAMIC_HASH_TABLE_ENTRY entry;

	RtlInitEnumerationHashTable(Table, &enumerator);
	while ((entry = RtlEnumerateEntryHashTable(Table, &enumerator)) != NULL) {
		RtlRemoveEntryHashTable(Table, entry, NULL);
		ExFreePoolWithTag(CONTAINING_RECORD(entry, PEER, HashEntry), TABLES_TAG);
	}
	RtlEndEnumerationHashTable(Table, &enumerator);
	while (RtlTotalBucketsHashTable(Table) > 128 && RtlContractHashTable(Table))
		;
	RtlDeleteHashTable(Table);
}

PPEER
PeerNext(PPEER Peer)
{
	PRTL_SPLAY_LINKS links = RtlRealSuccessor(RtlSplay(&Peer->Links));

	return links ? CONTAINING_RECORD(links, PEER, Links) : NULL;
}
