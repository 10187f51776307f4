/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked lists. A pop reads the next pointer of an entry that another thread may have popped
 * and freed meanwhile. Windows catches the fault; here a one-word lock in the head prevents it. The
 * lock is held for a few instructions and never across a call.
 * Start with lock().
 */
#include "win_objects.h"

#include <synchapi.h>

struct head {
	PSLIST_ENTRY first;
	uint32_t lock; /* used as the word of a slim lock */
	uint16_t depth;
};

_Static_assert(sizeof(struct head) <= sizeof(SLIST_HEADER), "it fits");

static struct head *
lock(PSLIST_HEADER header)
{
	struct head *head = (struct head *)(void *)header;

	AcquireSRWLockExclusive((PSRWLOCK)(void *)&head->lock);
	return head;
}

static void
unlock(struct head *head)
{
	ReleaseSRWLockExclusive((PSRWLOCK)(void *)&head->lock);
}

VOID
InitializeSListHead(PSLIST_HEADER header)
{
	*header = (SLIST_HEADER){.room = {0, 0}};
}

PSLIST_ENTRY
InterlockedPushListSListEx(PSLIST_HEADER header, PSLIST_ENTRY first, PSLIST_ENTRY last, ULONG count)
{
	struct head *head = lock(header);
	PSLIST_ENTRY before = head->first;

	last->Next = before;
	head->first = first;
	head->depth = (uint16_t)(head->depth + count);
	unlock(head);
	return before;
}

PSLIST_ENTRY
InterlockedPushEntrySList(PSLIST_HEADER header, PSLIST_ENTRY entry)
{
	return InterlockedPushListSListEx(header, entry, entry, 1);
}

PSLIST_ENTRY
InterlockedPopEntrySList(PSLIST_HEADER header)
{
	struct head *head = lock(header);
	PSLIST_ENTRY entry = head->first;

	if (entry) {
		head->first = entry->Next;
		head->depth--;
	}
	unlock(head);
	return entry;
}

PSLIST_ENTRY
InterlockedFlushSList(PSLIST_HEADER header)
{
	struct head *head = lock(header);
	PSLIST_ENTRY all = head->first;

	head->first = NULL;
	head->depth = 0;
	unlock(head);
	return all;
}

USHORT
QueryDepthSList(PSLIST_HEADER header)
{
	struct head *head = lock(header);
	USHORT depth = head->depth;

	unlock(head);
	return depth;
}
