/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: lists that are linked through their entries. A removal or an insertion whose neighbours do
 * not point back ends the process with a sentence, as Windows does.
 */
#ifndef PLX_WDK_WDMLIST_H
#define PLX_WDK_WDMLIST_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Say that the links of a list are corrupt, and end the process. */
DECLSPEC_NORETURN VOID plx_rtl_list_corrupt(const VOID *Entry) PLX_WIN_NAME(rtl_list_corrupt);

static inline VOID
InitializeListHead(PLIST_ENTRY ListHead)
{
	ListHead->Flink = ListHead->Blink = ListHead;
}

static inline BOOLEAN
IsListEmpty(const LIST_ENTRY *ListHead)
{
	return (BOOLEAN)(ListHead->Flink == ListHead);
}

/** Unlink an entry. Returns: TRUE: the list is empty now */
static inline BOOLEAN
RemoveEntryList(PLIST_ENTRY Entry)
{
	PLIST_ENTRY next = Entry->Flink, previous = Entry->Blink;

	if (next->Blink != Entry || previous->Flink != Entry)
		plx_rtl_list_corrupt(Entry);
	previous->Flink = next;
	next->Blink = previous;
	return (BOOLEAN)(next == previous);
}

/** Unlink the first entry. Returns: the entry; the head itself if the list was empty */
static inline PLIST_ENTRY
RemoveHeadList(PLIST_ENTRY ListHead)
{
	PLIST_ENTRY entry = ListHead->Flink;

	RemoveEntryList(entry);
	return entry;
}

/** Unlink the last entry. Returns: the entry; the head itself if the list was empty */
static inline PLIST_ENTRY
RemoveTailList(PLIST_ENTRY ListHead)
{
	PLIST_ENTRY entry = ListHead->Blink;

	RemoveEntryList(entry);
	return entry;
}

static inline VOID
InsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
	PLIST_ENTRY next = ListHead->Flink;

	if (next->Blink != ListHead)
		plx_rtl_list_corrupt(ListHead);
	Entry->Flink = next;
	Entry->Blink = ListHead;
	next->Blink = Entry;
	ListHead->Flink = Entry;
}

static inline VOID
InsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
	PLIST_ENTRY previous = ListHead->Blink;

	if (previous->Flink != ListHead)
		plx_rtl_list_corrupt(ListHead);
	Entry->Flink = ListHead;
	Entry->Blink = previous;
	previous->Flink = Entry;
	ListHead->Blink = Entry;
}

/** Append a chain of entries that has no head: ListToAppend is its first entry. */
static inline VOID
AppendTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListToAppend)
{
	PLIST_ENTRY end = ListHead->Blink, last = ListToAppend->Blink;

	if (end->Flink != ListHead || last->Flink != ListToAppend)
		plx_rtl_list_corrupt(ListHead);
	end->Flink = ListToAppend;
	ListToAppend->Blink = end;
	last->Flink = ListHead;
	ListHead->Blink = last;
}

static inline VOID
PushEntryList(PSINGLE_LIST_ENTRY ListHead, PSINGLE_LIST_ENTRY Entry)
{
	Entry->Next = ListHead->Next;
	ListHead->Next = Entry;
}

/** Unlink the first entry. Returns: NULL: the list is empty */
static inline PSINGLE_LIST_ENTRY
PopEntryList(PSINGLE_LIST_ENTRY ListHead)
{
	PSINGLE_LIST_ENTRY first = ListHead->Next;

	if (first != NULL)
		ListHead->Next = first->Next;
	return first;
}

#ifdef __cplusplus
}
#endif

#endif
