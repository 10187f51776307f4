/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that are AVL trees: heights of siblings differ by one at most. An element is behind its
 * links, in memory of the driver's routine, and never moves. It locks nothing.
 * Start with RtlLookupElementGenericTableFullAvl().
 */
#include <wdm.h>

#include <stdbool.h>

typedef PRTL_BALANCED_LINKS links;

static int
least(int a, int b)
{
	return a < b ? a : b;
}

static int
most(int a, int b)
{
	return a > b ? a : b;
}

/* Put another subtree, or none, where `old` is. */
static void
replace(links old, links other)
{
	if (old->Parent->LeftChild == old)
		old->Parent->LeftChild = other;
	else
		old->Parent->RightChild = other;
	if (other)
		other->Parent = old->Parent;
}

static links
rotate_left(links p)
{
	links r = p->RightChild;

	replace(p, r);
	p->RightChild = r->LeftChild;
	if (p->RightChild)
		p->RightChild->Parent = p;
	r->LeftChild = p;
	p->Parent = r;
	p->Balance = (CHAR)(p->Balance - 1 - most(r->Balance, 0));
	r->Balance = (CHAR)(r->Balance - 1 + least(p->Balance, 0));
	return r;
}

static links
rotate_right(links p)
{
	links l = p->LeftChild;

	replace(p, l);
	p->LeftChild = l->RightChild;
	if (p->LeftChild)
		p->LeftChild->Parent = p;
	l->RightChild = p;
	p->Parent = l;
	p->Balance = (CHAR)(p->Balance + 1 - least(l->Balance, 0));
	l->Balance = (CHAR)(l->Balance + 1 + most(p->Balance, 0));
	return l;
}

/* Rotate a subtree that is two higher on one side. Returns: its new root */
static links
balance(links p)
{
	if (p->Balance > 0) {
		if (p->RightChild->Balance < 0)
			rotate_right(p->RightChild);
		return rotate_left(p);
	}
	if (p->LeftChild->Balance > 0)
		rotate_left(p->LeftChild);
	return rotate_right(p);
}

/* A subtree below p has grown by one. */
static void
grown(const RTL_AVL_TABLE *table, links node)
{
	for (links p = node->Parent; p != &table->BalancedRoot; node = p, p = p->Parent) {
		p->Balance = (CHAR)(p->Balance + (p->LeftChild == node ? -1 : 1));
		if (p->Balance == 0)
			return;
		if (p->Balance > 1 || p->Balance < -1) {
			balance(p);
			return;
		}
	}
}

/* A subtree of p has shrunk by one. */
static void
shrunk(const RTL_AVL_TABLE *table, links p, bool left)
{
	while (p != &table->BalancedRoot) {
		links above;

		p->Balance = (CHAR)(p->Balance + (left ? 1 : -1));
		if (p->Balance == 1 || p->Balance == -1)
			return;
		if (p->Balance != 0) {
			p = balance(p);
			if (p->Balance != 0)
				return;
		}
		above = p->Parent;
		left = above->LeftChild == p;
		p = above;
	}
}

static links
first_below(links node)
{
	while (node && node->LeftChild)
		node = node->LeftChild;
	return node;
}

/* The next node in order. Returns: NULL: no more */
static links
next(const RTL_AVL_TABLE *table, links node)
{
	if (node->RightChild)
		return first_below(node->RightChild);
	while (node != &table->BalancedRoot && node->Parent->RightChild == node &&
	       node->Parent != &table->BalancedRoot)
		node = node->Parent;
	return node->Parent == &table->BalancedRoot ? NULL : node->Parent;
}

/* The node before in order. Returns: NULL: it is the first */
static links
previous(const RTL_AVL_TABLE *table, links node)
{
	if (node->LeftChild) {
		node = node->LeftChild;
		while (node->RightChild)
			node = node->RightChild;
		return node;
	}
	while (node->Parent != &table->BalancedRoot && node->Parent->LeftChild == node)
		node = node->Parent;
	return node->Parent == &table->BalancedRoot ? NULL : node->Parent;
}

static PVOID
element(links node)
{
	return node ? node + 1 : NULL;
}

VOID
RtlInitializeGenericTableAvl(PRTL_AVL_TABLE table, PRTL_AVL_COMPARE_ROUTINE compare,
			     PRTL_AVL_ALLOCATE_ROUTINE allocate, PRTL_AVL_FREE_ROUTINE release,
			     PVOID context)
{
	*table = (RTL_AVL_TABLE){
		.CompareRoutine = compare,
		.AllocateRoutine = allocate,
		.FreeRoutine = release,
		.TableContext = context,
	};
	table->BalancedRoot.Parent = &table->BalancedRoot;
}

PVOID
RtlLookupElementGenericTableFullAvl(PRTL_AVL_TABLE table, PVOID buffer, PVOID *node_or_parent,
				    TABLE_SEARCH_RESULT *result)
{
	links node = table->BalancedRoot.RightChild;

	*result = TableEmptyTree;
	*node_or_parent = NULL;
	while (node) {
		RTL_GENERIC_COMPARE_RESULTS order =
			table->CompareRoutine(table, buffer, element(node));

		*node_or_parent = node;
		if (order == GenericEqual) {
			*result = TableFoundNode;
			return element(node);
		}
		*result = order == GenericLessThan ? TableInsertAsLeft : TableInsertAsRight;
		node = order == GenericLessThan ? node->LeftChild : node->RightChild;
	}
	return NULL;
}

PVOID
RtlLookupElementGenericTableAvl(PRTL_AVL_TABLE table, PVOID buffer)
{
	TABLE_SEARCH_RESULT result;
	PVOID node;

	return RtlLookupElementGenericTableFullAvl(table, buffer, &node, &result);
}

PVOID
RtlInsertElementGenericTableFullAvl(PRTL_AVL_TABLE table, PVOID buffer, CLONG size, PBOOLEAN is_new,
				    PVOID node_or_parent, TABLE_SEARCH_RESULT result)
{
	links node, parent = result == TableEmptyTree ? &table->BalancedRoot : node_or_parent;

	if (is_new)
		*is_new = FALSE;
	if (result == TableFoundNode)
		return element(node_or_parent);
	node = table->AllocateRoutine(table, (CLONG)sizeof(*node) + size);
	if (!node)
		return NULL;
	*node = (RTL_BALANCED_LINKS){.Parent = parent};
	memcpy(element(node), buffer, size);
	if (result == TableInsertAsLeft)
		parent->LeftChild = node;
	else
		parent->RightChild = node;
	grown(table, node);
	table->NumberGenericTableElements++;
	if (is_new)
		*is_new = TRUE;
	return element(node);
}

PVOID
RtlInsertElementGenericTableAvl(PRTL_AVL_TABLE table, PVOID buffer, CLONG size, PBOOLEAN is_new)
{
	TABLE_SEARCH_RESULT result;
	PVOID node;

	RtlLookupElementGenericTableFullAvl(table, buffer, &node, &result);
	return RtlInsertElementGenericTableFullAvl(table, buffer, size, is_new, node, result);
}

BOOLEAN
RtlDeleteElementGenericTableAvl(PRTL_AVL_TABLE table, PVOID buffer)
{
	TABLE_SEARCH_RESULT result;
	links node, leaving, above;
	PVOID found;
	bool left;

	RtlLookupElementGenericTableFullAvl(table, buffer, &found, &result);
	if (result != TableFoundNode)
		return FALSE;
	node = found;
	if (table->RestartKey == node)
		table->RestartKey = previous(table, node);
	/* A node with two children changes places with the next one, which has one at most. */
	leaving = node->LeftChild && node->RightChild ? first_below(node->RightChild) : node;
	above = leaving->Parent;
	left = above->LeftChild == leaving;
	replace(leaving, leaving->LeftChild ? leaving->LeftChild : leaving->RightChild);
	shrunk(table, above, left);
	if (leaving != node) {
		replace(node, leaving);
		*leaving = *node;
		if (leaving->LeftChild)
			leaving->LeftChild->Parent = leaving;
		if (leaving->RightChild)
			leaving->RightChild->Parent = leaving;
	}
	table->NumberGenericTableElements--;
	table->DeleteCount++;
	table->FreeRoutine(table, node);
	return TRUE;
}

PVOID
RtlEnumerateGenericTableWithoutSplayingAvl(PRTL_AVL_TABLE table, PVOID *restart)
{
	links node = *restart;

	node = node ? next(table, node) : first_below(table->BalancedRoot.RightChild);
	if (node)
		*restart = node;
	return element(node);
}

PVOID
RtlEnumerateGenericTableAvl(PRTL_AVL_TABLE table, BOOLEAN restart)
{
	PVOID at = restart ? NULL : table->RestartKey, found;

	found = RtlEnumerateGenericTableWithoutSplayingAvl(table, &at);
	table->RestartKey = at;
	return found;
}

PVOID
RtlGetElementGenericTableAvl(PRTL_AVL_TABLE table, ULONG i)
{
	links node = first_below(table->BalancedRoot.RightChild);

	while (node && i-- > 0)
		node = next(table, node);
	return element(node);
}

ULONG
RtlNumberGenericTableElementsAvl(PRTL_AVL_TABLE table)
{
	return table->NumberGenericTableElements;
}

BOOLEAN
RtlIsGenericTableEmptyAvl(PRTL_AVL_TABLE table)
{
	return (BOOLEAN)(table->NumberGenericTableElements == 0);
}
