/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hash tables that grow by a bucket at a time (linear hashing). A bucket is a list in the order of
 * signatures, so that entries with the same one are neighbours, but for enumerators, whose
 * signature is reserved. Buckets are in segments, each as large as all before it, and never move.
 * It locks nothing. Start with index_of() and find().
 */
#include <wdm.h>

#include <stdlib.h>

enum {
	BUCKETS_MIN = 128,
	BUCKETS_MIN_LOG2 = 7,
	SEGMENTS = 18, /* 2^24 buckets: 256 MiB of heads */
	BUCKETS_MAX = BUCKETS_MIN << (SEGMENTS - 1),
	SIGNATURE_INSTEAD = RTL_HASH_RESERVED_SIGNATURE + 1,
};

typedef PRTL_DYNAMIC_HASH_TABLE table_t;
typedef PRTL_DYNAMIC_HASH_TABLE_ENTRY entry_t;
typedef PRTL_DYNAMIC_HASH_TABLE_CONTEXT context_t;
typedef PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR enumerator_t;

static ULONG
segment_of(ULONG index)
{
	return index < BUCKETS_MIN ? 0 : 31 - (ULONG)__builtin_clz(index) - BUCKETS_MIN_LOG2 + 1;
}

static ULONG
segment_start(ULONG segment)
{
	return segment == 0 ? 0 : BUCKETS_MIN / 2 << segment;
}

static PLIST_ENTRY
head_of(const RTL_DYNAMIC_HASH_TABLE *table, ULONG index)
{
	PLIST_ENTRY *directory = table->Directory;
	ULONG segment = segment_of(index);

	return &directory[segment][index - segment_start(segment)];
}

/* Signatures that differ little are far apart. */
static ULONG
scatter(const RTL_DYNAMIC_HASH_TABLE *table, ULONG_PTR signature)
{
	ULONG64 mixed = (ULONG64)(signature >> table->Shift) * 0x9e3779b97f4a7c15u;

	return (ULONG)(mixed >> 32);
}

/* Buckets before the pivot have been split already. */
static ULONG
index_of(const RTL_DYNAMIC_HASH_TABLE *table, ULONG_PTR signature)
{
	ULONG hash = scatter(table, signature), index = hash & table->DivisorMask;

	return index < table->Pivot ? hash & (table->DivisorMask << 1 | 1) : index;
}

static entry_t
entry_at(PLIST_ENTRY linkage)
{
	return CONTAINING_RECORD(linkage, RTL_DYNAMIC_HASH_TABLE_ENTRY, Linkage);
}

/* Returns: the first entry behind a place, over enumerators; NULL: the list ends */
static entry_t
behind(PLIST_ENTRY head, PLIST_ENTRY at)
{
	for (at = at->Flink; at != head; at = at->Flink)
		if (entry_at(at)->Signature != RTL_HASH_RESERVED_SIGNATURE)
			return entry_at(at);
	return NULL;
}

static void
link_after(table_t table, PLIST_ENTRY head, PLIST_ENTRY place, PLIST_ENTRY linkage)
{
	if (IsListEmpty(head))
		table->NonEmptyBuckets++;
	InsertHeadList(place, linkage);
}

static void
unlink_entry(table_t table, PLIST_ENTRY linkage)
{
	if (RemoveEntryList(linkage))
		table->NonEmptyBuckets--;
}

/* The place of the first entry with a signature, or where it would be. */
static void
find(const RTL_DYNAMIC_HASH_TABLE *table, ULONG_PTR signature, context_t place)
{
	entry_t entry;

	place->ChainHead = head_of(table, index_of(table, signature));
	place->PrevLinkage = place->ChainHead;
	place->Signature = signature;
	while ((entry = behind(place->ChainHead, place->PrevLinkage)) != NULL &&
	       entry->Signature < signature)
		place->PrevLinkage = &entry->Linkage;
}

/* Allocate the segment of a bucket. Returns: FALSE: no memory */
static BOOLEAN
add_segment(table_t table, ULONG segment)
{
	PLIST_ENTRY *directory = table->Directory;
	ULONG count = segment == 0 ? BUCKETS_MIN : segment_start(segment);

	directory[segment] = malloc(count * sizeof(LIST_ENTRY));
	for (ULONG i = 0; directory[segment] && i < count; i++)
		InitializeListHead(&directory[segment][i]);
	return (BOOLEAN)(directory[segment] != NULL);
}

BOOLEAN
RtlCreateHashTableEx(table_t *at, ULONG size, ULONG shift, ULONG flags)
{
	table_t table = *at ? *at : malloc(sizeof(*table));
	ULONG buckets = BUCKETS_MIN;
	BOOLEAN has_memory;

	if (!table)
		return FALSE;
	while (buckets < size && buckets < BUCKETS_MAX)
		buckets *= 2;
	*table = (RTL_DYNAMIC_HASH_TABLE){
		.Flags = flags | (*at ? 0 : RTL_HASH_ALLOCATED_HEADER),
		.Shift = shift,
		.TableSize = buckets,
		.DivisorMask = buckets - 1,
		.Directory = calloc(SEGMENTS, sizeof(PLIST_ENTRY)),
	};
	has_memory = (BOOLEAN)(table->Directory != NULL);
	for (ULONG i = 0; has_memory && i <= segment_of(buckets - 1); i++)
		has_memory = add_segment(table, i);
	if (!has_memory)
		RtlDeleteHashTable(table);
	else
		*at = table;
	return has_memory;
}

BOOLEAN
RtlCreateHashTable(table_t *at, ULONG shift, ULONG flags)
{
	return RtlCreateHashTableEx(at, BUCKETS_MIN, shift, flags);
}

VOID
RtlDeleteHashTable(table_t table)
{
	PLIST_ENTRY *directory = table->Directory;

	for (ULONG i = 0; directory && i < SEGMENTS; i++)
		free(directory[i]);
	free(directory);
	table->Directory = NULL;
	if (table->Flags & RTL_HASH_ALLOCATED_HEADER)
		free(table);
}

/* ---- entries ---- */

BOOLEAN
RtlInsertEntryHashTable(table_t table, entry_t entry, ULONG_PTR signature, context_t context)
{
	RTL_DYNAMIC_HASH_TABLE_CONTEXT own = {.ChainHead = NULL};

	if (signature == RTL_HASH_RESERVED_SIGNATURE)
		signature = SIGNATURE_INSTEAD;
	if (!context)
		context = &own;
	if (!context->ChainHead)
		find(table, signature, context);
	entry->Signature = signature;
	link_after(table, context->ChainHead, context->PrevLinkage, &entry->Linkage);
	table->NumEntries++;
	return TRUE;
}

BOOLEAN
RtlRemoveEntryHashTable(table_t table, entry_t entry, context_t context)
{
	if (context && !context->ChainHead)
		find(table, entry->Signature, context);
	/* The place is before what stays. */
	if (context && context->PrevLinkage == &entry->Linkage)
		context->PrevLinkage = entry->Linkage.Blink;
	unlink_entry(table, &entry->Linkage);
	table->NumEntries--;
	return TRUE;
}

entry_t
RtlLookupEntryHashTable(table_t table, ULONG_PTR signature, context_t context)
{
	RTL_DYNAMIC_HASH_TABLE_CONTEXT own;
	entry_t entry;

	if (signature == RTL_HASH_RESERVED_SIGNATURE)
		signature = SIGNATURE_INSTEAD;
	if (!context)
		context = &own;
	find(table, signature, context);
	entry = behind(context->ChainHead, context->PrevLinkage);
	return entry && entry->Signature == signature ? entry : NULL;
}

entry_t
RtlGetNextEntryHashTable(table_t table, context_t context)
{
	entry_t entry = behind(context->ChainHead, context->PrevLinkage), next;

	(void)table;
	next = entry ? behind(context->ChainHead, &entry->Linkage) : NULL;
	if (!next || next->Signature != context->Signature)
		return NULL;
	context->PrevLinkage = &entry->Linkage;
	return next;
}

/* ---- enumeration ---- */

/* The next entry from a place in the bucket of an enumerator on. @param bucket [out] its own */
static entry_t
find_next(table_t table, enumerator_t e, PLIST_ENTRY place, ULONG *bucket)
{
	entry_t entry = behind(e->ChainHead, place);

	*bucket = e->BucketIndex;
	while (!entry && ++*bucket < table->TableSize)
		entry = behind(head_of(table, *bucket), head_of(table, *bucket));
	return entry;
}

static void
move_to_bucket(table_t table, enumerator_t e, ULONG bucket)
{
	e->BucketIndex = bucket;
	e->ChainHead = head_of(table, bucket);
}

BOOLEAN
RtlInitEnumerationHashTable(table_t table, enumerator_t e)
{
	move_to_bucket(table, e, 0);
	e->HashEntry.Signature = RTL_HASH_RESERVED_SIGNATURE;
	link_after(table, e->ChainHead, e->ChainHead, &e->HashEntry.Linkage);
	table->NumEnumerators++;
	return TRUE;
}

entry_t
RtlEnumerateEntryHashTable(table_t table, enumerator_t e)
{
	ULONG bucket;
	entry_t entry = find_next(table, e, &e->HashEntry.Linkage, &bucket);

	if (!entry)
		return NULL;
	unlink_entry(table, &e->HashEntry.Linkage);
	move_to_bucket(table, e, bucket);
	link_after(table, e->ChainHead, &entry->Linkage, &e->HashEntry.Linkage);
	return entry;
}

VOID
RtlEndEnumerationHashTable(table_t table, enumerator_t e)
{
	unlink_entry(table, &e->HashEntry.Linkage);
	e->ChainHead = NULL;
	table->NumEnumerators--;
}

BOOLEAN
RtlInitWeakEnumerationHashTable(table_t table, enumerator_t e)
{
	return RtlInitEnumerationHashTable(table, e);
}

entry_t
RtlWeaklyEnumerateEntryHashTable(table_t table, enumerator_t e)
{
	return RtlEnumerateEntryHashTable(table, e);
}

VOID
RtlEndWeakEnumerationHashTable(table_t table, enumerator_t e)
{
	RtlEndEnumerationHashTable(table, e);
}

BOOLEAN
RtlInitStrongEnumerationHashTable(table_t table, enumerator_t e)
{
	move_to_bucket(table, e, 0);
	e->CurEntry = e->ChainHead;
	table->NumEnumerators++;
	return TRUE;
}

entry_t
RtlStronglyEnumerateEntryHashTable(table_t table, enumerator_t e)
{
	ULONG bucket;
	entry_t entry = find_next(table, e, e->CurEntry, &bucket);

	if (!entry)
		return NULL;
	move_to_bucket(table, e, bucket);
	e->CurEntry = &entry->Linkage;
	return entry;
}

VOID
RtlEndStrongEnumerationHashTable(table_t table, enumerator_t e)
{
	e->ChainHead = NULL;
	table->NumEnumerators--;
}

/* ---- size ---- */

/* Move the entries of a bucket to where the table says now. Those with one signature keep their
 * order. */
static void
redistribute(table_t table, PLIST_ENTRY head)
{
	LIST_ENTRY all = *head;
	RTL_DYNAMIC_HASH_TABLE_CONTEXT place;

	if (IsListEmpty(head))
		return;
	all.Flink->Blink = all.Blink->Flink = &all;
	InitializeListHead(head);
	table->NonEmptyBuckets--;
	/* From the last one on: each is put before its equals. */
	while (!IsListEmpty(&all)) {
		entry_t entry = entry_at(RemoveTailList(&all));

		find(table, entry->Signature, &place);
		link_after(table, place.ChainHead, place.PrevLinkage, &entry->Linkage);
	}
}

BOOLEAN
RtlExpandHashTable(table_t table)
{
	PLIST_ENTRY *directory = table->Directory, split;
	ULONG segment = segment_of(table->TableSize);

	if (table->NumEnumerators || table->TableSize == BUCKETS_MAX)
		return FALSE;
	if (!directory[segment] && !add_segment(table, segment))
		return FALSE;
	split = head_of(table, table->Pivot++);
	table->TableSize++;
	if (table->Pivot > table->DivisorMask) {
		table->DivisorMask = table->DivisorMask << 1 | 1;
		table->Pivot = 0;
	}
	redistribute(table, split);
	return TRUE;
}

BOOLEAN
RtlContractHashTable(table_t table)
{
	PLIST_ENTRY *directory = table->Directory;
	ULONG segment;

	if (table->NumEnumerators || table->TableSize == BUCKETS_MIN)
		return FALSE;
	if (table->Pivot == 0) {
		table->DivisorMask >>= 1;
		table->Pivot = table->DivisorMask + 1;
	}
	table->Pivot--;
	table->TableSize--;
	redistribute(table, head_of(table, table->TableSize));
	segment = segment_of(table->TableSize);
	if (table->TableSize == segment_start(segment)) {
		free(directory[segment]);
		directory[segment] = NULL;
	}
	return TRUE;
}
