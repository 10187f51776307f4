/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that are splay trees. An element is behind its links and its place in the order of
 * insertion, in memory of the driver's routine, and never moves. It locks nothing.
 * Start with RtlLookupElementGenericTableFull().
 */
#include <wdm.h>

struct node {
	RTL_SPLAY_LINKS links;
	LIST_ENTRY order;
	LONGLONG element[]; /* aligned as the driver's structures are */
};

static PVOID
element(PVOID node)
{
	return node ? ((struct node *)node)->element : NULL;
}

/* Make an element the root. */
static PVOID
splayed(PRTL_GENERIC_TABLE table, PVOID node)
{
	table->TableRoot = RtlSplay(node);
	return element(node);
}

/* Forget which element RtlGetElementGenericTable() has found last. */
static void
forget_order(PRTL_GENERIC_TABLE table)
{
	table->OrderedPointer = &table->InsertOrderList;
	table->WhichOrderedElement = 0;
}

VOID
RtlInitializeGenericTable(PRTL_GENERIC_TABLE table, PRTL_GENERIC_COMPARE_ROUTINE compare,
			  PRTL_GENERIC_ALLOCATE_ROUTINE allocate, PRTL_GENERIC_FREE_ROUTINE release,
			  PVOID context)
{
	*table = (RTL_GENERIC_TABLE){
		.CompareRoutine = compare,
		.AllocateRoutine = allocate,
		.FreeRoutine = release,
		.TableContext = context,
	};
	InitializeListHead(&table->InsertOrderList);
	forget_order(table);
}

PVOID
RtlLookupElementGenericTableFull(PRTL_GENERIC_TABLE table, PVOID buffer, PVOID *node_or_parent,
				 TABLE_SEARCH_RESULT *result)
{
	PRTL_SPLAY_LINKS node = table->TableRoot;

	*result = TableEmptyTree;
	*node_or_parent = NULL;
	while (node) {
		RTL_GENERIC_COMPARE_RESULTS order =
			table->CompareRoutine(table, buffer, element(node));

		*node_or_parent = node;
		if (order == GenericEqual) {
			*result = TableFoundNode;
			return splayed(table, node);
		}
		*result = order == GenericLessThan ? TableInsertAsLeft : TableInsertAsRight;
		node = order == GenericLessThan ? node->LeftChild : node->RightChild;
	}
	/* The parent stays where it is: an insertion below it may follow. */
	return NULL;
}

PVOID
RtlLookupElementGenericTable(PRTL_GENERIC_TABLE table, PVOID buffer)
{
	TABLE_SEARCH_RESULT result;
	PVOID node, found;

	found = RtlLookupElementGenericTableFull(table, buffer, &node, &result);
	/* A search that finds nothing pays for its way, too, or it would be long each time. */
	if (!found && node)
		splayed(table, node);
	return found;
}

PVOID
RtlInsertElementGenericTableFull(PRTL_GENERIC_TABLE table, PVOID buffer, CLONG size,
				 PBOOLEAN is_new, PVOID node_or_parent, TABLE_SEARCH_RESULT result)
{
	struct node *node;

	if (is_new)
		*is_new = FALSE;
	if (result == TableFoundNode)
		return splayed(table, node_or_parent);
	node = table->AllocateRoutine(table, (CLONG)sizeof(*node) + size);
	if (!node)
		return NULL;
	RtlInitializeSplayLinks(&node->links);
	InsertTailList(&table->InsertOrderList, &node->order);
	memcpy(node->element, buffer, size);
	if (result == TableInsertAsLeft)
		RtlInsertAsLeftChild(node_or_parent, &node->links);
	else if (result == TableInsertAsRight)
		RtlInsertAsRightChild(node_or_parent, &node->links);
	table->NumberGenericTableElements++;
	if (is_new)
		*is_new = TRUE;
	return splayed(table, node);
}

PVOID
RtlInsertElementGenericTable(PRTL_GENERIC_TABLE table, PVOID buffer, CLONG size, PBOOLEAN is_new)
{
	TABLE_SEARCH_RESULT result;
	PVOID node;

	RtlLookupElementGenericTableFull(table, buffer, &node, &result);
	return RtlInsertElementGenericTableFull(table, buffer, size, is_new, node, result);
}

BOOLEAN
RtlDeleteElementGenericTable(PRTL_GENERIC_TABLE table, PVOID buffer)
{
	struct node *node;

	if (!RtlLookupElementGenericTable(table, buffer))
		return FALSE;
	node = (struct node *)table->TableRoot;
	table->TableRoot = RtlDelete(&node->links);
	RemoveEntryList(&node->order);
	forget_order(table);
	table->NumberGenericTableElements--;
	table->FreeRoutine(table, node);
	return TRUE;
}

PVOID
RtlEnumerateGenericTableWithoutSplaying(PRTL_GENERIC_TABLE table, PVOID *restart)
{
	PRTL_SPLAY_LINKS node = *restart;

	if (node)
		node = RtlRealSuccessor(node);
	else
		for (node = table->TableRoot; node && node->LeftChild;)
			node = node->LeftChild;
	if (node)
		*restart = node;
	return element(node);
}

PVOID
RtlEnumerateGenericTable(PRTL_GENERIC_TABLE table, BOOLEAN restart)
{
	PVOID node = restart ? NULL : table->TableRoot; /* what was found last is the root */

	return RtlEnumerateGenericTableWithoutSplaying(table, &node) ? splayed(table, node) : NULL;
}

PVOID
RtlGetElementGenericTable(PRTL_GENERIC_TABLE table, ULONG i)
{
	if (i >= table->NumberGenericTableElements)
		return NULL;
	if (i + 1 < table->WhichOrderedElement)
		forget_order(table);
	/* It counts from 1: the head of the list is 0. */
	while (table->WhichOrderedElement < i + 1) {
		table->OrderedPointer = table->OrderedPointer->Flink;
		table->WhichOrderedElement++;
	}
	return CONTAINING_RECORD(table->OrderedPointer, struct node, order)->element;
}

ULONG
RtlNumberGenericTableElements(PRTL_GENERIC_TABLE table)
{
	return table->NumberGenericTableElements;
}

BOOLEAN
RtlIsGenericTableEmpty(PRTL_GENERIC_TABLE table)
{
	return (BOOLEAN)(table->NumberGenericTableElements == 0);
}
