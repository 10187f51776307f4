/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: lists and sums that threads share. A lock of these calls is acquired by nothing else. The
 * stacks of entries are those of interlockedapi.h, and need no lock.
 * Threads: every call from any thread, at any IRQL. Tests: tests/unit/windows/ex/list.c
 */
#ifndef PLX_WDK_WDMXLIST_H
#define PLX_WDK_WDMXLIST_H

#include "wdmspin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lists with a spin lock ---- */

/** Returns: the first entry before; NULL: the list was empty */
PLIST_ENTRY ExInterlockedInsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
					PKSPIN_LOCK Lock) PLX_WIN_NAME(ExInterlockedInsertHeadList);
/** Returns: the last entry before; NULL: the list was empty */
PLIST_ENTRY ExInterlockedInsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
					PKSPIN_LOCK Lock) PLX_WIN_NAME(ExInterlockedInsertTailList);
/** Returns: what was the first entry; NULL: the list is empty */
PLIST_ENTRY ExInterlockedRemoveHeadList(PLIST_ENTRY ListHead, PKSPIN_LOCK Lock)
	PLX_WIN_NAME(ExInterlockedRemoveHeadList);
/** Returns: the first entry before; NULL: the list was empty */
PSINGLE_LIST_ENTRY ExInterlockedPushEntryList(PSINGLE_LIST_ENTRY ListHead,
					      PSINGLE_LIST_ENTRY ListEntry, PKSPIN_LOCK Lock)
	PLX_WIN_NAME(ExInterlockedPushEntryList);
/** Returns: what was the first entry; NULL: the list is empty */
PSINGLE_LIST_ENTRY ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY ListHead, PKSPIN_LOCK Lock)
	PLX_WIN_NAME(ExInterlockedPopEntryList);

/* ---- sums ---- */

/** Returns: the value before */
LARGE_INTEGER ExInterlockedAddLargeInteger(PLARGE_INTEGER Addend, LARGE_INTEGER Increment,
					   PKSPIN_LOCK Lock)
	PLX_WIN_NAME(ExInterlockedAddLargeInteger);
/** Returns: the value before */
ULONG ExInterlockedAddUlong(PULONG Addend, ULONG Increment, PKSPIN_LOCK Lock)
	PLX_WIN_NAME(ExInterlockedAddUlong);

#define ExInterlockedAddLargeStatistic(Addend, Increment)                            \
	((void)__atomic_fetch_add(&(Addend)->QuadPart, (LONGLONG)(ULONG)(Increment), \
				  __ATOMIC_SEQ_CST))
#define ExInterlockedCompareExchange64(Destination, Exchange, Comparand, Lock) \
	((void)(Lock), InterlockedCompareExchange64((Destination), *(Exchange), *(Comparand)))

/* ---- stacks ---- */

#define ExInitializeSListHead(SListHead) InitializeSListHead(SListHead)
#define ExInterlockedPushEntrySList(SListHead, SListEntry, Lock) \
	((void)(Lock), InterlockedPushEntrySList((SListHead), (SListEntry)))
#define ExInterlockedPopEntrySList(SListHead, Lock) \
	((void)(Lock), InterlockedPopEntrySList(SListHead))
#define ExInterlockedFlushSList(SListHead) InterlockedFlushSList(SListHead)
#define ExQueryDepthSList(SListHead)       QueryDepthSList(SListHead)

#ifdef __cplusplus
}
#endif

#endif
