/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: tables of elements in the order of a comparison, which are balanced trees. The driver locks.
 * With RTL_USE_AVL_TABLES the names of the older kind, of wdmsplay.h, mean this one.
 */
#ifndef PLX_WDK_WDMTABLE_H
#define PLX_WDK_WDMTABLE_H

#include "wdmsplay.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _RTL_BALANCED_LINKS {
	struct _RTL_BALANCED_LINKS *Parent;
	struct _RTL_BALANCED_LINKS *LeftChild;
	struct _RTL_BALANCED_LINKS *RightChild;
	CHAR Balance;
	UCHAR Reserved[3];
} RTL_BALANCED_LINKS, *PRTL_BALANCED_LINKS;

struct _RTL_AVL_TABLE;
typedef RTL_GENERIC_COMPARE_RESULTS NTAPI RTL_AVL_COMPARE_ROUTINE(struct _RTL_AVL_TABLE *Table,
								  PVOID FirstStruct,
								  PVOID SecondStruct);
typedef RTL_AVL_COMPARE_ROUTINE *PRTL_AVL_COMPARE_ROUTINE;
typedef PVOID NTAPI RTL_AVL_ALLOCATE_ROUTINE(struct _RTL_AVL_TABLE *Table, CLONG ByteSize);
typedef RTL_AVL_ALLOCATE_ROUTINE *PRTL_AVL_ALLOCATE_ROUTINE;
typedef VOID NTAPI RTL_AVL_FREE_ROUTINE(struct _RTL_AVL_TABLE *Table, PVOID Buffer);
typedef RTL_AVL_FREE_ROUTINE *PRTL_AVL_FREE_ROUTINE;

/* The tree is the right subtree of BalancedRoot. */
typedef struct _RTL_AVL_TABLE {
	RTL_BALANCED_LINKS BalancedRoot;
	PVOID OrderedPointer;
	ULONG WhichOrderedElement;
	ULONG NumberGenericTableElements;
	ULONG DepthOfTree;
	PRTL_BALANCED_LINKS RestartKey;
	ULONG DeleteCount;
	PRTL_AVL_COMPARE_ROUTINE CompareRoutine;
	PRTL_AVL_ALLOCATE_ROUTINE AllocateRoutine;
	PRTL_AVL_FREE_ROUTINE FreeRoutine;
	PVOID TableContext;
} RTL_AVL_TABLE, *PRTL_AVL_TABLE;

/**
 * @param AllocateRoutine gets the bytes of an element and of its links before it
 * @param FreeRoutine     gets what AllocateRoutine returned
 */
VOID RtlInitializeGenericTableAvl(PRTL_AVL_TABLE Table, PRTL_AVL_COMPARE_ROUTINE CompareRoutine,
				  PRTL_AVL_ALLOCATE_ROUTINE AllocateRoutine,
				  PRTL_AVL_FREE_ROUTINE FreeRoutine, PVOID TableContext)
	PLX_WIN_NAME(RtlInitializeGenericTableAvl);
/**
 * Insert a copy of an element, unless an equal one is there.
 * @param NewElement [out] TRUE: it was inserted; may be NULL
 * Returns: the element in the table; NULL: no memory
 */
PVOID RtlInsertElementGenericTableAvl(PRTL_AVL_TABLE Table, PVOID Buffer, CLONG BufferSize,
				      PBOOLEAN NewElement)
	PLX_WIN_NAME(RtlInsertElementGenericTableAvl);
/** Insert where RtlLookupElementGenericTableFullAvl() has looked. */
PVOID RtlInsertElementGenericTableFullAvl(PRTL_AVL_TABLE Table, PVOID Buffer, CLONG BufferSize,
					  PBOOLEAN NewElement, PVOID NodeOrParent,
					  TABLE_SEARCH_RESULT SearchResult)
	PLX_WIN_NAME(RtlInsertElementGenericTableFullAvl);
/** Returns: FALSE: there is no such element */
BOOLEAN RtlDeleteElementGenericTableAvl(PRTL_AVL_TABLE Table, PVOID Buffer)
	PLX_WIN_NAME(RtlDeleteElementGenericTableAvl);
/** Returns: the element; NULL: there is none */
PVOID RtlLookupElementGenericTableAvl(PRTL_AVL_TABLE Table, PVOID Buffer)
	PLX_WIN_NAME(RtlLookupElementGenericTableAvl);
PVOID RtlLookupElementGenericTableFullAvl(PRTL_AVL_TABLE Table, PVOID Buffer, PVOID *NodeOrParent,
					  TABLE_SEARCH_RESULT *SearchResult)
	PLX_WIN_NAME(RtlLookupElementGenericTableFullAvl);
/** The first element (Restart) or the next one. Returns: NULL: no more */
PVOID RtlEnumerateGenericTableAvl(PRTL_AVL_TABLE Table, BOOLEAN Restart)
	PLX_WIN_NAME(RtlEnumerateGenericTableAvl);
/** The same, with the place in RestartKey. @param RestartKey NULL in it: the first element */
PVOID RtlEnumerateGenericTableWithoutSplayingAvl(PRTL_AVL_TABLE Table, PVOID *RestartKey)
	PLX_WIN_NAME(RtlEnumerateGenericTableWithoutSplayingAvl);
/** @param I from 0, in the order of the comparison */
PVOID RtlGetElementGenericTableAvl(PRTL_AVL_TABLE Table, ULONG I)
	PLX_WIN_NAME(RtlGetElementGenericTableAvl);
ULONG RtlNumberGenericTableElementsAvl(PRTL_AVL_TABLE Table)
	PLX_WIN_NAME(RtlNumberGenericTableElementsAvl);
BOOLEAN RtlIsGenericTableEmptyAvl(PRTL_AVL_TABLE Table) PLX_WIN_NAME(RtlIsGenericTableEmptyAvl);

#ifdef RTL_USE_AVL_TABLES
#define RTL_GENERIC_TABLE                       RTL_AVL_TABLE
#define PRTL_GENERIC_TABLE                      PRTL_AVL_TABLE
#define RTL_GENERIC_COMPARE_ROUTINE             RTL_AVL_COMPARE_ROUTINE
#define PRTL_GENERIC_COMPARE_ROUTINE            PRTL_AVL_COMPARE_ROUTINE
#define RTL_GENERIC_ALLOCATE_ROUTINE            RTL_AVL_ALLOCATE_ROUTINE
#define PRTL_GENERIC_ALLOCATE_ROUTINE           PRTL_AVL_ALLOCATE_ROUTINE
#define RTL_GENERIC_FREE_ROUTINE                RTL_AVL_FREE_ROUTINE
#define PRTL_GENERIC_FREE_ROUTINE               PRTL_AVL_FREE_ROUTINE
#define RtlInitializeGenericTable               RtlInitializeGenericTableAvl
#define RtlInsertElementGenericTable            RtlInsertElementGenericTableAvl
#define RtlInsertElementGenericTableFull        RtlInsertElementGenericTableFullAvl
#define RtlDeleteElementGenericTable            RtlDeleteElementGenericTableAvl
#define RtlLookupElementGenericTable            RtlLookupElementGenericTableAvl
#define RtlLookupElementGenericTableFull        RtlLookupElementGenericTableFullAvl
#define RtlEnumerateGenericTable                RtlEnumerateGenericTableAvl
#define RtlEnumerateGenericTableWithoutSplaying RtlEnumerateGenericTableWithoutSplayingAvl
#define RtlGetElementGenericTable               RtlGetElementGenericTableAvl
#define RtlNumberGenericTableElements           RtlNumberGenericTableElementsAvl
#define RtlIsGenericTableEmpty                  RtlIsGenericTableEmptyAvl
#endif

#ifdef __cplusplus
}
#endif

#endif
