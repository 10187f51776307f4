/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splay trees by their links, which are in the driver's own structures. It compares nothing and
 * locks nothing. Start with RtlSplay().
 */
#include <wdm.h>

typedef PRTL_SPLAY_LINKS links;

/* Put other links, or none, where `old` is. */
static void
replace(links old, links other)
{
	links above = old->Parent;

	if (above != old && above->LeftChild == old)
		above->LeftChild = other;
	else if (above != old)
		above->RightChild = other;
	if (other)
		other->Parent = above == old ? other : above;
}

/* Change places with the parent, which becomes a child. */
static void
rotate(links node)
{
	links above = node->Parent, moved;

	if (above->LeftChild == node) {
		moved = node->RightChild;
		above->LeftChild = moved;
		replace(above, node);
		node->RightChild = above;
	} else {
		moved = node->LeftChild;
		above->RightChild = moved;
		replace(above, node);
		node->LeftChild = above;
	}
	above->Parent = node;
	if (moved)
		moved->Parent = above;
}

links
RtlSplay(links node)
{
	while (!RtlIsRoot(node)) {
		links above = node->Parent;

		if (!RtlIsRoot(above))
			rotate(RtlIsLeftChild(node) == RtlIsLeftChild(above) ? above : node);
		rotate(node);
	}
	return node;
}

links
RtlSubtreeSuccessor(links node)
{
	node = node->RightChild;
	while (node && node->LeftChild)
		node = node->LeftChild;
	return node;
}

links
RtlSubtreePredecessor(links node)
{
	node = node->LeftChild;
	while (node && node->RightChild)
		node = node->RightChild;
	return node;
}

links
RtlRealSuccessor(links node)
{
	if (node->RightChild)
		return RtlSubtreeSuccessor(node);
	while (RtlIsRightChild(node))
		node = node->Parent;
	return RtlIsLeftChild(node) ? node->Parent : NULL;
}

links
RtlRealPredecessor(links node)
{
	if (node->LeftChild)
		return RtlSubtreePredecessor(node);
	while (RtlIsLeftChild(node))
		node = node->Parent;
	return RtlIsRightChild(node) ? node->Parent : NULL;
}

/* Take out a node with one child at most. Returns: its parent, or the new root; NULL: none */
static links
splice(links node)
{
	links above = node->Parent, child = node->LeftChild ? node->LeftChild : node->RightChild;

	replace(node, child);
	return above == node ? child : above;
}

/* Take out a node. Returns: the lowest one that has lost a child, or the new root; NULL: none */
static links
take_out(links node)
{
	links other, above;

	if (!node->LeftChild || !node->RightChild)
		return splice(node);
	/* The one before it, which has no right child, takes its place. */
	other = RtlSubtreePredecessor(node);
	above = splice(other);
	replace(node, other);
	other->LeftChild = node->LeftChild;
	other->RightChild = node->RightChild;
	if (other->LeftChild)
		other->LeftChild->Parent = other;
	other->RightChild->Parent = other;
	return above == node ? other : above;
}

links
RtlDelete(links node)
{
	links above = take_out(node);

	return above ? RtlSplay(above) : NULL;
}

VOID
RtlDeleteNoSplay(links node, links *root)
{
	links above = take_out(node);

	if (*root != node)
		return;
	while (above && !RtlIsRoot(above))
		above = above->Parent;
	*root = above;
}
