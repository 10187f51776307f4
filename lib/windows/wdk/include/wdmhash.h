/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: hash tables of a driver's structures, which hold a RTL_DYNAMIC_HASH_TABLE_ENTRY each. The
 * driver hashes its keys to signatures, compares keys of entries with the same signature, and
 * locks. A table grows and shrinks by a bucket when the driver says so.
 */
#ifndef PLX_WDK_WDMHASH_H
#define PLX_WDK_WDMHASH_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_HASH_ALLOCATED_HEADER   0x00000001 /* in Flags: RtlDeleteHashTable() frees the table */
#define RTL_HASH_RESERVED_SIGNATURE 0          /* of enumerators */

typedef struct _RTL_DYNAMIC_HASH_TABLE_ENTRY {
	LIST_ENTRY Linkage;
	ULONG_PTR Signature;
} RTL_DYNAMIC_HASH_TABLE_ENTRY, *PRTL_DYNAMIC_HASH_TABLE_ENTRY;

#define HASH_ENTRY_KEY(Entry) ((Entry)->Signature)

/* The place of a signature, until the table grows, shrinks or loses what is before that place. */
typedef struct _RTL_DYNAMIC_HASH_TABLE_CONTEXT {
	PLIST_ENTRY ChainHead;
	PLIST_ENTRY PrevLinkage;
	ULONG_PTR Signature;
} RTL_DYNAMIC_HASH_TABLE_CONTEXT, *PRTL_DYNAMIC_HASH_TABLE_CONTEXT;

typedef struct _RTL_DYNAMIC_HASH_TABLE_ENUMERATOR {
	union {
		RTL_DYNAMIC_HASH_TABLE_ENTRY HashEntry;
		PLIST_ENTRY CurEntry;
	};
	PLIST_ENTRY ChainHead;
	ULONG BucketIndex;
} RTL_DYNAMIC_HASH_TABLE_ENUMERATOR, *PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR;

typedef struct _RTL_DYNAMIC_HASH_TABLE {
	ULONG Flags;
	ULONG Shift;
	ULONG TableSize;
	ULONG Pivot;
	ULONG DivisorMask;
	ULONG NumEntries;
	ULONG NonEmptyBuckets;
	ULONG NumEnumerators;
	PVOID Directory;
} RTL_DYNAMIC_HASH_TABLE, *PRTL_DYNAMIC_HASH_TABLE;

/**
 * Make an empty table of 128 buckets.
 * @param HashTable [in,out] the driver's memory for it; NULL in it: memory of the function
 * @param Shift     the low bits of signatures that tell nothing
 * @param Flags     0
 * Returns: FALSE: no memory
 */
BOOLEAN RtlCreateHashTable(PRTL_DYNAMIC_HASH_TABLE *HashTable, ULONG Shift, ULONG Flags)
	PLX_WIN_NAME(RtlCreateHashTable);
/** @param InitialSize buckets, which becomes a power of two of at least 128 */
BOOLEAN RtlCreateHashTableEx(PRTL_DYNAMIC_HASH_TABLE *HashTable, ULONG InitialSize, ULONG Shift,
			     ULONG Flags) PLX_WIN_NAME(RtlCreateHashTableEx);
/** Free what a table has. Its entries are the driver's. */
VOID RtlDeleteHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable) PLX_WIN_NAME(RtlDeleteHashTable);

/**
 * Insert an entry before those with the same signature. Signature 0 becomes 1, here and when it is
 * looked up.
 * @param Context [in,out] of RtlLookupEntryHashTable() with this signature, or initialised; NULL:
 *                none
 * Returns: TRUE
 */
BOOLEAN RtlInsertEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				PRTL_DYNAMIC_HASH_TABLE_ENTRY Entry, ULONG_PTR Signature,
				PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
	PLX_WIN_NAME(RtlInsertEntryHashTable);
/** Take out an entry. Returns: TRUE */
BOOLEAN RtlRemoveEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				PRTL_DYNAMIC_HASH_TABLE_ENTRY Entry,
				PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
	PLX_WIN_NAME(RtlRemoveEntryHashTable);
/**
 * The first entry with a signature.
 * @param Context [out] its place, or where such an entry would be; may be NULL
 * Returns: NULL: there is none
 */
PRTL_DYNAMIC_HASH_TABLE_ENTRY RtlLookupEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
						      ULONG_PTR Signature,
						      PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
	PLX_WIN_NAME(RtlLookupEntryHashTable);
/** The next entry with the signature of the last one. Returns: NULL: no more */
PRTL_DYNAMIC_HASH_TABLE_ENTRY RtlGetNextEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
						       PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
	PLX_WIN_NAME(RtlGetNextEntryHashTable);

/**
 * Begin to enumerate. The enumerator is among the entries, so entries may be inserted and taken out
 * meanwhile; the table neither grows nor shrinks.
 * Returns: TRUE
 */
BOOLEAN RtlInitEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				    PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlInitEnumerationHashTable);
/** Returns: the next entry, in no order; NULL: no more */
PRTL_DYNAMIC_HASH_TABLE_ENTRY
RtlEnumerateEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
			   PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlEnumerateEntryHashTable);
VOID RtlEndEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlEndEnumerationHashTable);
/** The same, by its other names. */
BOOLEAN RtlInitWeakEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
					PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlInitWeakEnumerationHashTable);
PRTL_DYNAMIC_HASH_TABLE_ENTRY
RtlWeaklyEnumerateEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				 PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlWeaklyEnumerateEntryHashTable);
VOID RtlEndWeakEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				    PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlEndWeakEnumerationHashTable);
/** Begin to enumerate a table that nobody changes until the end. Returns: TRUE */
BOOLEAN RtlInitStrongEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
					  PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlInitStrongEnumerationHashTable);
PRTL_DYNAMIC_HASH_TABLE_ENTRY
RtlStronglyEnumerateEntryHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				   PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlStronglyEnumerateEntryHashTable);
VOID RtlEndStrongEnumerationHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable,
				      PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
	PLX_WIN_NAME(RtlEndStrongEnumerationHashTable);

/** Add a bucket. Returns: FALSE: an enumeration is under way, or no memory, or 2^24 buckets */
BOOLEAN RtlExpandHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable) PLX_WIN_NAME(RtlExpandHashTable);
/** Take a bucket away. Returns: FALSE: an enumeration is under way, or there are 128 */
BOOLEAN RtlContractHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable) PLX_WIN_NAME(RtlContractHashTable);

static inline VOID
RtlInitHashTableContext(PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
{
	Context->ChainHead = NULL;
	Context->PrevLinkage = NULL;
}

/** The place of an enumerator, for what it has returned last. */
static inline VOID
RtlInitHashTableContextFromEnumerator(PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context,
				      PRTL_DYNAMIC_HASH_TABLE_ENUMERATOR Enumerator)
{
	Context->ChainHead = Enumerator->ChainHead;
	Context->PrevLinkage = Enumerator->HashEntry.Linkage.Blink;
}

static inline VOID
RtlReleaseHashTableContext(PRTL_DYNAMIC_HASH_TABLE_CONTEXT Context)
{
	(void)Context;
}

static inline ULONG
RtlTotalBucketsHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable)
{
	return HashTable->TableSize;
}

static inline ULONG
RtlNonEmptyBucketsHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable)
{
	return HashTable->NonEmptyBuckets;
}

static inline ULONG
RtlEmptyBucketsHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable)
{
	return HashTable->TableSize - HashTable->NonEmptyBuckets;
}

static inline ULONG
RtlTotalEntriesHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable)
{
	return HashTable->NumEntries;
}

static inline ULONG
RtlActiveEnumeratorsHashTable(PRTL_DYNAMIC_HASH_TABLE HashTable)
{
	return HashTable->NumEnumerators;
}

#ifdef __cplusplus
}
#endif

#endif
