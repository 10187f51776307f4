/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splay trees, as tables and by their links: random operations against a set of flags and a list in
 * the order of insertion, with the shape of the tree.
 * Start with a_table_is_a_set_that_knows_its_orders().
 */
#include "wide.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	VALUES = 100,
	ROUNDS = 20000,
};

static int allocated;

/* What a table should have. */
struct model {
	bool there[VALUES];
	ULONG inserted[VALUES];
	ULONG count;
};

static RTL_GENERIC_COMPARE_RESULTS NTAPI
compare(PRTL_GENERIC_TABLE table, PVOID first, PVOID second)
{
	ULONG a = *(PULONG)first, b = *(PULONG)second;

	(void)table;
	return a < b ? GenericLessThan : a > b ? GenericGreaterThan : GenericEqual;
}

static PVOID NTAPI
allocate(PRTL_GENERIC_TABLE table, CLONG size)
{
	if (*(bool *)table->TableContext)
		return NULL;
	allocated++;
	return malloc(size);
}

static VOID NTAPI
release(PRTL_GENERIC_TABLE table, PVOID buffer)
{
	(void)table;
	allocated--;
	free(buffer);
}

/* Returns: how many links there are; it asserts that each knows its parent */
static ULONG
count_links(const RTL_SPLAY_LINKS *links)
{
	if (!links)
		return 0;
	assert_true(!links->LeftChild || links->LeftChild->Parent == links);
	assert_true(!links->RightChild || links->RightChild->Parent == links);
	return 1 + count_links(links->LeftChild) + count_links(links->RightChild);
}

static void
model_insert(struct model *m, ULONG value)
{
	m->there[value] = true;
	m->inserted[m->count++] = value;
}

static void
model_delete(struct model *m, ULONG value)
{
	ULONG kept = 0;

	m->there[value] = false;
	for (ULONG i = 0; i < m->count; i++)
		if (m->inserted[i] != value)
			m->inserted[kept++] = m->inserted[i];
	m->count = kept;
}

static void
check_table(PRTL_GENERIC_TABLE table, const struct model *m)
{
	PULONG at = RtlEnumerateGenericTable(table, TRUE), quiet;
	PVOID key = NULL;

	for (ULONG i = 0; i < VALUES; i++) {
		if (!m->there[i])
			continue;
		assert_non_null(at);
		assert_int_equal(*at, i);
		at = RtlEnumerateGenericTable(table, FALSE);
		quiet = RtlEnumerateGenericTableWithoutSplaying(table, &key);
		assert_int_equal(*quiet, i);
	}
	assert_null(at);
	assert_null(RtlEnumerateGenericTableWithoutSplaying(table, &key));
	for (ULONG i = 0; i < m->count; i++)
		assert_int_equal(*(PULONG)RtlGetElementGenericTable(table, i), m->inserted[i]);
	for (ULONG i = m->count; i-- > 0;)
		assert_int_equal(*(PULONG)RtlGetElementGenericTable(table, i), m->inserted[i]);
	assert_null(RtlGetElementGenericTable(table, m->count));
	assert_int_equal(RtlNumberGenericTableElements(table), m->count);
	assert_int_equal(RtlIsGenericTableEmpty(table), m->count == 0);
	assert_int_equal(allocated, m->count);
	assert_int_equal(count_links(table->TableRoot), m->count);
	assert_true(!table->TableRoot || RtlIsRoot(table->TableRoot));
}

static void
a_table_is_a_set_that_knows_its_orders(void **state)
{
	struct model m = {.count = 0};
	bool fails = false;
	RTL_GENERIC_TABLE table;
	ULONG seed = 5;

	(void)state;
	RtlInitializeGenericTable(&table, compare, allocate, release, &fails);
	for (int i = 0; i < ROUNDS; i++) {
		ULONG value = RtlRandomEx(&seed) % VALUES;
		PULONG found;
		BOOLEAN is_new;

		if (RtlRandomEx(&seed) % 2) {
			found = RtlInsertElementGenericTable(&table, &value, sizeof(value),
							     &is_new);
			assert_int_equal(is_new, !m.there[value]);
			assert_int_equal(*found, value);
			if (is_new)
				model_insert(&m, value);
		} else {
			assert_int_equal(RtlDeleteElementGenericTable(&table, &value),
					 m.there[value]);
			model_delete(&m, value);
		}
		value = RtlRandomEx(&seed) % VALUES;
		found = RtlLookupElementGenericTable(&table, &value);
		assert_int_equal(found != NULL, m.there[value]);
		assert_true(!found || *found == value);
		if (i % 50 == 0)
			check_table(&table, &m);
	}
	for (PULONG first; (first = RtlEnumerateGenericTable(&table, TRUE)) != NULL;)
		assert_true(RtlDeleteElementGenericTable(&table, first));
	assert_int_equal(allocated, 0);
}

static void
what_is_found_is_the_root(void **state)
{
	bool fails = false;
	RTL_GENERIC_TABLE table;

	(void)state;
	RtlInitializeGenericTable(&table, compare, allocate, release, &fails);
	for (ULONG i = 1; i <= 20; i++)
		RtlInsertElementGenericTable(&table, &i, sizeof(i), NULL);
	for (ULONG i = 1; i <= 20; i++) {
		PVOID links, found;
		TABLE_SEARCH_RESULT result;

		found = RtlLookupElementGenericTableFull(&table, &i, &links, &result);
		assert_int_equal(result, TableFoundNode);
		assert_ptr_equal(links, table.TableRoot);
		assert_int_equal(*(PULONG)found, i);
		assert_ptr_equal(RtlInsertElementGenericTableFull(&table, &i, sizeof(i), NULL,
								  links, result),
				 found);
	}
	while (!RtlIsGenericTableEmpty(&table))
		RtlDeleteElementGenericTable(&table, RtlGetElementGenericTable(&table, 0));
	assert_int_equal(allocated, 0);
}

static ULONG
height_of(const RTL_SPLAY_LINKS *links)
{
	ULONG left, right;

	if (!links)
		return 0;
	left = height_of(links->LeftChild);
	right = height_of(links->RightChild);
	return 1 + (left > right ? left : right);
}

/* The way to the last of n links in a row becomes half as long. */
static void
searches_that_find_nothing_shorten_their_way(void **state)
{
	enum {
		LONG_WAY = 2000,
	};
	bool fails = false;
	RTL_GENERIC_TABLE table;
	ULONG beyond = LONG_WAY + 1;

	(void)state;
	RtlInitializeGenericTable(&table, compare, allocate, release, &fails);
	for (ULONG i = LONG_WAY; i >= 1; i--)
		RtlInsertElementGenericTable(&table, &i, sizeof(i), NULL);
	assert_null(RtlLookupElementGenericTable(&table, &beyond));
	assert_in_range(height_of(table.TableRoot), 1, LONG_WAY * 3 / 4);
	while (!RtlIsGenericTableEmpty(&table))
		RtlDeleteElementGenericTable(&table, RtlGetElementGenericTable(&table, 0));
}

static void
an_insertion_without_memory_changes_nothing(void **state)
{
	bool fails = true;
	ULONG value = 1;
	BOOLEAN is_new = TRUE;
	RTL_GENERIC_TABLE table;

	(void)state;
	RtlInitializeGenericTable(&table, compare, allocate, release, &fails);
	assert_null(RtlInsertElementGenericTable(&table, &value, sizeof(value), &is_new));
	assert_false(is_new);
	assert_true(RtlIsGenericTableEmpty(&table));
	assert_null(RtlEnumerateGenericTable(&table, TRUE));
	assert_null(RtlEnumerateGenericTable(&table, FALSE));
	assert_null(RtlGetElementGenericTable(&table, 0));
}

/* Links whose order is that of their places in an array. */
static void
links_keep_their_order(void **state)
{
	RTL_SPLAY_LINKS all[VALUES], *root = NULL, *at;
	bool there[VALUES] = {false};
	ULONG seed = 7, count = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		ULONG i = RtlRandomEx(&seed) % VALUES, n = 0;
		RTL_SPLAY_LINKS *links = &all[i], *parent = NULL, *before = NULL;

		if (!there[i]) {
			RtlInitializeSplayLinks(links);
			for (at = root; at; at = links < at ? at->LeftChild : at->RightChild)
				parent = at;
			if (parent && links < parent)
				RtlInsertAsLeftChild(parent, links);
			else if (parent)
				RtlInsertAsRightChild(parent, links);
			root = !root || i % 2 ? RtlSplay(links) : root;
		} else if (i % 3) {
			root = RtlDelete(links);
		} else {
			RtlDeleteNoSplay(links, &root);
		}
		there[i] = !there[i];
		count += there[i] ? 1 : (ULONG)-1;
		assert_true(count == 0 ? !root : RtlIsRoot(root));
		assert_int_equal(count_links(root), count);
		for (ULONG value = 0; value < VALUES && count; value++) {
			if (!there[value])
				continue;
			assert_ptr_equal(RtlRealPredecessor(&all[value]), before);
			assert_true(!before || RtlRealSuccessor(before) == &all[value]);
			before = &all[value];
			n++;
		}
		assert_true(!before || !RtlRealSuccessor(before));
		assert_int_equal(n, count);
	}
}

static void
a_subtree_ends_below_its_links(void **state)
{
	RTL_SPLAY_LINKS top, left, between;

	(void)state;
	RtlInitializeSplayLinks(&top);
	RtlInsertAsLeftChild(&top, &left);
	RtlInitializeSplayLinks(&between);
	left.LeftChild = left.RightChild = NULL;
	RtlInsertAsRightChild(&left, &between);
	assert_true(RtlIsLeftChild(&left) && RtlIsRightChild(&between) && RtlIsRoot(&top));
	assert_ptr_equal(RtlSubtreePredecessor(&top), &between);
	assert_null(RtlSubtreeSuccessor(&top));
	assert_ptr_equal(RtlSubtreeSuccessor(&left), &between);
	assert_null(RtlSubtreeSuccessor(&between));
	assert_ptr_equal(RtlRealSuccessor(&between), &top);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_a_set_that_knows_its_orders),
		cmocka_unit_test(what_is_found_is_the_root),
		cmocka_unit_test(searches_that_find_nothing_shorten_their_way),
		cmocka_unit_test(an_insertion_without_memory_changes_nothing),
		cmocka_unit_test(links_keep_their_order),
		cmocka_unit_test(a_subtree_ends_below_its_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
