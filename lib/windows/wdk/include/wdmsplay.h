/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: splay trees, by their links alone (Rtl...Splay...) and as tables of elements
 * (Rtl...GenericTable...). A search moves what it finds to the root, so even those who only look
 * something up exclude each other. The driver locks.
 */
#ifndef PLX_WDK_WDMSPLAY_H
#define PLX_WDK_WDMSPLAY_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- links ---- */

/* The root is its own parent. */
typedef struct _RTL_SPLAY_LINKS {
	struct _RTL_SPLAY_LINKS *Parent;
	struct _RTL_SPLAY_LINKS *LeftChild;
	struct _RTL_SPLAY_LINKS *RightChild;
} RTL_SPLAY_LINKS, *PRTL_SPLAY_LINKS;

#define RtlParent(Links)       ((PRTL_SPLAY_LINKS)(Links)->Parent)
#define RtlLeftChild(Links)    ((PRTL_SPLAY_LINKS)(Links)->LeftChild)
#define RtlRightChild(Links)   ((PRTL_SPLAY_LINKS)(Links)->RightChild)
#define RtlIsRoot(Links)       (RtlParent(Links) == (PRTL_SPLAY_LINKS)(Links))
#define RtlIsLeftChild(Links)  (RtlLeftChild(RtlParent(Links)) == (PRTL_SPLAY_LINKS)(Links))
#define RtlIsRightChild(Links) (RtlRightChild(RtlParent(Links)) == (PRTL_SPLAY_LINKS)(Links))

/** Make links a tree of one. */
static inline VOID
RtlInitializeSplayLinks(PRTL_SPLAY_LINKS Links)
{
	Links->Parent = Links;
	Links->LeftChild = NULL;
	Links->RightChild = NULL;
}

/** Insert below links that have no such child. */
static inline VOID
RtlInsertAsLeftChild(PRTL_SPLAY_LINKS ParentLinks, PRTL_SPLAY_LINKS ChildLinks)
{
	ParentLinks->LeftChild = ChildLinks;
	ChildLinks->Parent = ParentLinks;
}

static inline VOID
RtlInsertAsRightChild(PRTL_SPLAY_LINKS ParentLinks, PRTL_SPLAY_LINKS ChildLinks)
{
	ParentLinks->RightChild = ChildLinks;
	ChildLinks->Parent = ParentLinks;
}

/** Move links to the root of their tree. Returns: Links */
PRTL_SPLAY_LINKS RtlSplay(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlSplay);
/** Take links out of their tree, and splay. Returns: the root; NULL: the tree is empty */
PRTL_SPLAY_LINKS RtlDelete(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlDelete);
/** Take links out. @param Root [in,out] the root, which changes only if it is taken out */
VOID RtlDeleteNoSplay(PRTL_SPLAY_LINKS Links, PRTL_SPLAY_LINKS *Root)
	PLX_WIN_NAME(RtlDeleteNoSplay);
/** Returns: the next links in order below these; NULL: there are none */
PRTL_SPLAY_LINKS RtlSubtreeSuccessor(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlSubtreeSuccessor);
PRTL_SPLAY_LINKS RtlSubtreePredecessor(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlSubtreePredecessor);
/** Returns: the next links in order in the whole tree; NULL: there are none */
PRTL_SPLAY_LINKS RtlRealSuccessor(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlRealSuccessor);
PRTL_SPLAY_LINKS RtlRealPredecessor(PRTL_SPLAY_LINKS Links) PLX_WIN_NAME(RtlRealPredecessor);

/* ---- tables ---- */

typedef ULONG CLONG, *PCLONG;

typedef enum _RTL_GENERIC_COMPARE_RESULTS {
	GenericLessThan,
	GenericGreaterThan,
	GenericEqual,
} RTL_GENERIC_COMPARE_RESULTS;

typedef enum _TABLE_SEARCH_RESULT {
	TableEmptyTree,
	TableFoundNode,
	TableInsertAsLeft,
	TableInsertAsRight,
} TABLE_SEARCH_RESULT;

struct _RTL_GENERIC_TABLE;
typedef RTL_GENERIC_COMPARE_RESULTS NTAPI RTL_GENERIC_COMPARE_ROUTINE(
	struct _RTL_GENERIC_TABLE *Table, PVOID FirstStruct, PVOID SecondStruct);
typedef RTL_GENERIC_COMPARE_ROUTINE *PRTL_GENERIC_COMPARE_ROUTINE;
typedef PVOID NTAPI RTL_GENERIC_ALLOCATE_ROUTINE(struct _RTL_GENERIC_TABLE *Table, CLONG ByteSize);
typedef RTL_GENERIC_ALLOCATE_ROUTINE *PRTL_GENERIC_ALLOCATE_ROUTINE;
typedef VOID NTAPI RTL_GENERIC_FREE_ROUTINE(struct _RTL_GENERIC_TABLE *Table, PVOID Buffer);
typedef RTL_GENERIC_FREE_ROUTINE *PRTL_GENERIC_FREE_ROUTINE;

typedef struct _RTL_GENERIC_TABLE {
	PRTL_SPLAY_LINKS TableRoot;
	LIST_ENTRY InsertOrderList;
	PLIST_ENTRY OrderedPointer;
	ULONG WhichOrderedElement;
	ULONG NumberGenericTableElements;
	PRTL_GENERIC_COMPARE_ROUTINE CompareRoutine;
	PRTL_GENERIC_ALLOCATE_ROUTINE AllocateRoutine;
	PRTL_GENERIC_FREE_ROUTINE FreeRoutine;
	PVOID TableContext;
} RTL_GENERIC_TABLE, *PRTL_GENERIC_TABLE;

/**
 * @param AllocateRoutine gets the bytes of an element and of its links before it
 * @param FreeRoutine     gets what AllocateRoutine returned
 */
VOID RtlInitializeGenericTable(PRTL_GENERIC_TABLE Table,
			       PRTL_GENERIC_COMPARE_ROUTINE CompareRoutine,
			       PRTL_GENERIC_ALLOCATE_ROUTINE AllocateRoutine,
			       PRTL_GENERIC_FREE_ROUTINE FreeRoutine, PVOID TableContext)
	PLX_WIN_NAME(RtlInitializeGenericTable);
/**
 * Insert a copy of an element, unless an equal one is there.
 * @param NewElement [out] TRUE: it was inserted; may be NULL
 * Returns: the element in the table; NULL: no memory
 */
PVOID RtlInsertElementGenericTable(PRTL_GENERIC_TABLE Table, PVOID Buffer, CLONG BufferSize,
				   PBOOLEAN NewElement) PLX_WIN_NAME(RtlInsertElementGenericTable);
/** Insert where RtlLookupElementGenericTableFull() has looked. */
PVOID RtlInsertElementGenericTableFull(PRTL_GENERIC_TABLE Table, PVOID Buffer, CLONG BufferSize,
				       PBOOLEAN NewElement, PVOID NodeOrParent,
				       TABLE_SEARCH_RESULT SearchResult)
	PLX_WIN_NAME(RtlInsertElementGenericTableFull);
/** Returns: FALSE: there is no such element */
BOOLEAN RtlDeleteElementGenericTable(PRTL_GENERIC_TABLE Table, PVOID Buffer)
	PLX_WIN_NAME(RtlDeleteElementGenericTable);
/** Returns: the element; NULL: there is none */
PVOID RtlLookupElementGenericTable(PRTL_GENERIC_TABLE Table, PVOID Buffer)
	PLX_WIN_NAME(RtlLookupElementGenericTable);
PVOID RtlLookupElementGenericTableFull(PRTL_GENERIC_TABLE Table, PVOID Buffer, PVOID *NodeOrParent,
				       TABLE_SEARCH_RESULT *SearchResult)
	PLX_WIN_NAME(RtlLookupElementGenericTableFull);
/** The first element in order (Restart), or the one after the last that was returned or found.
 * Returns: NULL: no more */
PVOID RtlEnumerateGenericTable(PRTL_GENERIC_TABLE Table, BOOLEAN Restart)
	PLX_WIN_NAME(RtlEnumerateGenericTable);
/** The same, with the place in RestartKey. @param RestartKey NULL in it: the first element */
PVOID RtlEnumerateGenericTableWithoutSplaying(PRTL_GENERIC_TABLE Table, PVOID *RestartKey)
	PLX_WIN_NAME(RtlEnumerateGenericTableWithoutSplaying);
/** @param I from 0, in the order of insertion. Returns: NULL: there are no more than I */
PVOID RtlGetElementGenericTable(PRTL_GENERIC_TABLE Table, ULONG I)
	PLX_WIN_NAME(RtlGetElementGenericTable);
ULONG RtlNumberGenericTableElements(PRTL_GENERIC_TABLE Table)
	PLX_WIN_NAME(RtlNumberGenericTableElements);
BOOLEAN RtlIsGenericTableEmpty(PRTL_GENERIC_TABLE Table) PLX_WIN_NAME(RtlIsGenericTableEmpty);

#ifdef __cplusplus
}
#endif

#endif
