/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables: random insertions and deletions against a set of flags, with the balance of every node.
 * Start with a_table_is_a_balanced_set().
 */
#include "wide.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	VALUES = 200,
	ROUNDS = 20000,
};

static int allocated;

static RTL_GENERIC_COMPARE_RESULTS NTAPI
compare(PRTL_AVL_TABLE table, PVOID first, PVOID second)
{
	ULONG a = *(PULONG)first, b = *(PULONG)second;

	(void)table;
	return a < b ? GenericLessThan : a > b ? GenericGreaterThan : GenericEqual;
}

static PVOID NTAPI
allocate(PRTL_AVL_TABLE table, CLONG size)
{
	if (*(bool *)table->TableContext)
		return NULL;
	allocated++;
	return malloc(size);
}

static VOID NTAPI
release(PRTL_AVL_TABLE table, PVOID buffer)
{
	(void)table;
	allocated--;
	free(buffer);
}

/* Returns: the height; it asserts what each node says of it */
static int
height_of(const RTL_BALANCED_LINKS *node)
{
	int left, right;

	if (!node)
		return 0;
	left = height_of(node->LeftChild);
	right = height_of(node->RightChild);
	assert_int_equal(node->Balance, right - left);
	assert_in_range(node->Balance + 1, 0, 2);
	assert_true(!node->LeftChild || node->LeftChild->Parent == node);
	assert_true(!node->RightChild || node->RightChild->Parent == node);
	return 1 + (left > right ? left : right);
}

static void
check_table(PRTL_AVL_TABLE table, const bool *there)
{
	PULONG at = RtlEnumerateGenericTableAvl(table, TRUE);
	ULONG count = 0;

	for (ULONG i = 0; i < VALUES; i++) {
		if (!there[i])
			continue;
		assert_non_null(at);
		assert_int_equal(*at, i);
		at = RtlEnumerateGenericTableAvl(table, FALSE);
		count++;
	}
	assert_null(at);
	assert_int_equal(RtlNumberGenericTableElementsAvl(table), count);
	assert_int_equal(allocated, count);
	assert_int_equal(RtlIsGenericTableEmptyAvl(table), count == 0);
	height_of(table->BalancedRoot.RightChild);
}

static void
a_table_is_a_balanced_set(void **state)
{
	bool there[VALUES] = {0}, fails = false;
	RTL_AVL_TABLE table;
	ULONG seed = 3;

	(void)state;
	RtlInitializeGenericTableAvl(&table, compare, allocate, release, &fails);
	for (int i = 0; i < ROUNDS; i++) {
		ULONG value = RtlRandomEx(&seed) % VALUES;
		PULONG found;
		BOOLEAN is_new;

		if (RtlRandomEx(&seed) % 2) {
			found = RtlInsertElementGenericTableAvl(&table, &value, sizeof(value),
								&is_new);
			assert_int_equal(is_new, !there[value]);
			assert_int_equal(*found, value);
			there[value] = true;
		} else {
			assert_int_equal(RtlDeleteElementGenericTableAvl(&table, &value),
					 there[value]);
			there[value] = false;
		}
		found = RtlLookupElementGenericTableAvl(&table, &value);
		assert_int_equal(found != NULL, there[value]);
		if (i % 50 == 0)
			check_table(&table, there);
	}
	for (PULONG first; (first = RtlGetElementGenericTableAvl(&table, 0)) != NULL;)
		assert_true(RtlDeleteElementGenericTableAvl(&table, first));
	assert_int_equal(allocated, 0);
}

static void
an_enumeration_survives_the_deletion_of_its_place(void **state)
{
	bool fails = false;
	RTL_AVL_TABLE table;
	PVOID key = NULL;
	ULONG sum = 0;

	(void)state;
	RtlInitializeGenericTableAvl(&table, compare, allocate, release, &fails);
	for (ULONG i = 1; i <= 20; i++)
		RtlInsertElementGenericTableAvl(&table, &i, sizeof(i), NULL);
	assert_int_equal(*(PULONG)RtlGetElementGenericTableAvl(&table, 7), 8);
	for (PULONG at; (at = RtlEnumerateGenericTableWithoutSplayingAvl(&table, &key)) != NULL;)
		sum += *at;
	assert_int_equal(sum, 210);
	for (PULONG at = RtlEnumerateGenericTableAvl(&table, TRUE); at;
	     at = RtlEnumerateGenericTableAvl(&table, FALSE)) {
		sum -= *at;
		RtlDeleteElementGenericTableAvl(&table, at);
	}
	assert_int_equal(sum, 0);
	assert_int_equal(allocated, 0);
}

static void
an_insertion_without_memory_changes_nothing(void **state)
{
	bool fails = true;
	ULONG value = 1;
	BOOLEAN is_new = TRUE;
	RTL_AVL_TABLE table;

	(void)state;
	RtlInitializeGenericTableAvl(&table, compare, allocate, release, &fails);
	assert_null(RtlInsertElementGenericTableAvl(&table, &value, sizeof(value), &is_new));
	assert_false(is_new);
	assert_true(RtlIsGenericTableEmptyAvl(&table));
	assert_null(RtlEnumerateGenericTableAvl(&table, TRUE));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_a_balanced_set),
		cmocka_unit_test(an_enumeration_survives_the_deletion_of_its_place),
		cmocka_unit_test(an_insertion_without_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
