/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists and sums with a spin lock of the driver. Start with begin().
 */
#include "ex.h"

/* These calls are allowed at any IRQL, and so may not lower it to that of a spin lock. */
static KIRQL
begin(PKSPIN_LOCK lock)
{
	KIRQL old = KeGetCurrentIrql();

	if (old < DISPATCH_LEVEL)
		KeRaiseIrql(DISPATCH_LEVEL, &old);
	KeAcquireSpinLockAtDpcLevel(lock);
	return old;
}

static void
end(PKSPIN_LOCK lock, KIRQL old)
{
	KeReleaseSpinLockFromDpcLevel(lock);
	if (old < DISPATCH_LEVEL)
		KeLowerIrql(old);
}

/* Returns: NULL for the head itself: the list is empty */
static PLIST_ENTRY
entry_or_null(PLIST_ENTRY head, PLIST_ENTRY entry)
{
	return entry == head ? NULL : entry;
}

static void
insert(PLIST_ENTRY before, PLIST_ENTRY entry, PLIST_ENTRY after)
{
	entry->Blink = before;
	entry->Flink = after;
	before->Flink = entry;
	after->Blink = entry;
}

PLIST_ENTRY
ExInterlockedInsertHeadList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	PLIST_ENTRY first = entry_or_null(head, head->Flink);

	insert(head, entry, head->Flink);
	end(lock, old);
	return first;
}

PLIST_ENTRY
ExInterlockedInsertTailList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	PLIST_ENTRY last = entry_or_null(head, head->Blink);

	insert(head->Blink, entry, head);
	end(lock, old);
	return last;
}

PLIST_ENTRY
ExInterlockedRemoveHeadList(PLIST_ENTRY head, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	PLIST_ENTRY first = entry_or_null(head, head->Flink);

	if (first) {
		head->Flink = first->Flink;
		first->Flink->Blink = head;
	}
	end(lock, old);
	return first;
}

PSINGLE_LIST_ENTRY
ExInterlockedPushEntryList(PSINGLE_LIST_ENTRY head, PSINGLE_LIST_ENTRY entry, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	PSINGLE_LIST_ENTRY first = head->Next;

	entry->Next = first;
	head->Next = entry;
	end(lock, old);
	return first;
}

PSINGLE_LIST_ENTRY
ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY head, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	PSINGLE_LIST_ENTRY first = head->Next;

	if (first)
		head->Next = first->Next;
	end(lock, old);
	return first;
}

LARGE_INTEGER
ExInterlockedAddLargeInteger(PLARGE_INTEGER addend, LARGE_INTEGER increment, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	LARGE_INTEGER before = *addend;

	/* Without a sign, which may overflow. */
	addend->QuadPart = (LONGLONG)((ULONGLONG)before.QuadPart + (ULONGLONG)increment.QuadPart);
	end(lock, old);
	return before;
}

ULONG
ExInterlockedAddUlong(PULONG addend, ULONG increment, PKSPIN_LOCK lock)
{
	KIRQL old = begin(lock);
	ULONG before = *addend;

	*addend = before + increment;
	end(lock, old);
	return before;
}
