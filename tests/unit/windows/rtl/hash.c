/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hash tables: random operations against flags, with tables that grow and shrink, signatures that
 * many entries share, and enumerations during which the table changes.
 * Start with a_table_finds_what_was_inserted().
 */
#include "wide.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	VALUES = 600,
	SHARED = 3, /* this many values have the same signature */
	ROUNDS = 30000,
};

struct value {
	RTL_DYNAMIC_HASH_TABLE_ENTRY entry;
	ULONG number;
	bool there, seen;
};

static struct value values[VALUES];

static struct value *
value_of(PRTL_DYNAMIC_HASH_TABLE_ENTRY entry)
{
	return entry ? CONTAINING_RECORD(entry, struct value, entry) : NULL;
}

static ULONG_PTR
signature_of(ULONG number)
{
	return number / SHARED * 16;
}

static ULONG
count_there(void)
{
	ULONG count = 0;

	for (ULONG i = 0; i < VALUES; i++)
		count += values[i].there;
	return count;
}

static void
reset(void)
{
	memset(values, 0, sizeof(values));
	for (ULONG i = 0; i < VALUES; i++)
		values[i].number = i;
}

static void
insert(PRTL_DYNAMIC_HASH_TABLE table, ULONG number)
{
	assert_true(
		RtlInsertEntryHashTable(table, &values[number].entry, signature_of(number), NULL));
	values[number].there = true;
}

static void
take_out(PRTL_DYNAMIC_HASH_TABLE table, ULONG number)
{
	assert_true(RtlRemoveEntryHashTable(table, &values[number].entry, NULL));
	values[number].there = false;
}

/* Every entry with the signature of a number is found, once. */
static void
check_signature(PRTL_DYNAMIC_HASH_TABLE table, ULONG number)
{
	ULONG first = number / SHARED * SHARED, expected = 0, found = 0;
	RTL_DYNAMIC_HASH_TABLE_CONTEXT context;
	PRTL_DYNAMIC_HASH_TABLE_ENTRY entry;

	for (ULONG i = first; i < first + SHARED; i++)
		expected |= values[i].there ? 1u << (i - first) : 0;
	for (entry = RtlLookupEntryHashTable(table, signature_of(number), &context); entry;
	     entry = RtlGetNextEntryHashTable(table, &context)) {
		ULONG bit = value_of(entry)->number - first;

		assert_in_range(bit, 0, SHARED - 1);
		assert_false(found & 1u << bit);
		found |= 1u << bit;
	}
	assert_int_equal(found, expected);
}

/* Every bucket's list against the counter of those that have one. */
static void
check_enumeration(PRTL_DYNAMIC_HASH_TABLE table)
{
	RTL_DYNAMIC_HASH_TABLE_ENUMERATOR e;
	PRTL_DYNAMIC_HASH_TABLE_ENTRY entry;
	ULONG count = 0, buckets = 0, last = (ULONG)-1;

	assert_int_equal(RtlTotalEntriesHashTable(table), count_there());
	assert_true(RtlInitStrongEnumerationHashTable(table, &e));
	while ((entry = RtlStronglyEnumerateEntryHashTable(table, &e)) != NULL) {
		assert_true(value_of(entry)->there);
		buckets += e.BucketIndex != last;
		last = e.BucketIndex;
		count++;
	}
	RtlEndStrongEnumerationHashTable(table, &e);
	assert_int_equal(count, count_there());
	assert_int_equal(RtlNonEmptyBucketsHashTable(table), buckets);
	assert_int_equal(RtlEmptyBucketsHashTable(table),
			 RtlTotalBucketsHashTable(table) - buckets);
}

static void
a_table_finds_what_was_inserted(void **state)
{
	PRTL_DYNAMIC_HASH_TABLE table = NULL;
	ULONG seed = 11, size = 128;

	(void)state;
	reset();
	assert_true(RtlCreateHashTable(&table, 4, 0));
	for (int round = 0; round < ROUNDS; round++) {
		ULONG i = RtlRandomEx(&seed) % VALUES;

		if (values[i].there)
			take_out(table, i);
		else
			insert(table, i);
		check_signature(table, RtlRandomEx(&seed) % VALUES);
		/* It grows to four times its size and back, twice. */
		if (round % 12 == 0 && round / 7500 % 2 == 0)
			size += RtlExpandHashTable(table);
		else if (round % 12 == 0)
			size -= RtlContractHashTable(table);
		assert_int_equal(RtlTotalBucketsHashTable(table), size);
		if (round % 100 == 0)
			check_enumeration(table);
	}
	assert_int_equal(size, 128);
	assert_false(RtlContractHashTable(table));
	RtlDeleteHashTable(table);
}

static void
entries_are_spread_over_the_buckets(void **state)
{
	RTL_DYNAMIC_HASH_TABLE memory, *table = &memory;

	(void)state;
	reset();
	assert_true(RtlCreateHashTableEx(&table, 1000, 4, 0));
	assert_ptr_equal(table, &memory);
	assert_int_equal(RtlTotalBucketsHashTable(table), 1024);
	for (ULONG i = 0; i < VALUES; i++)
		insert(table, i);
	assert_in_range(RtlNonEmptyBucketsHashTable(table), VALUES / SHARED / 2, VALUES / SHARED);
	/* Of 1024 buckets, down to 128 and up again. */
	for (ULONG size = 1024; size > 128; size--)
		assert_true(RtlContractHashTable(table));
	check_enumeration(table);
	for (ULONG size = 128; size < 300; size++)
		assert_true(RtlExpandHashTable(table));
	check_enumeration(table);
	for (ULONG i = 0; i < VALUES; i++)
		check_signature(table, i);
	RtlDeleteHashTable(table);
}

/* The state of a random enumeration: what it must return, and what it has. */
static void
change_during_enumeration(PRTL_DYNAMIC_HASH_TABLE table, PULONG seed)
{
	ULONG i = RtlRandomEx(seed) % VALUES;

	if (values[i].there) {
		take_out(table, i);
		values[i].seen = true; /* it may have been returned, and need not be */
	} else {
		insert(table, i);
		values[i].seen = true;
	}
}

static void
an_enumeration_survives_changes_of_the_table(void **state)
{
	PRTL_DYNAMIC_HASH_TABLE table = NULL;
	ULONG seed = 13;

	(void)state;
	for (int run = 0; run < 100; run++) {
		RTL_DYNAMIC_HASH_TABLE_ENUMERATOR e, other;
		struct value *v;

		reset();
		table = NULL;
		assert_true(RtlCreateHashTable(&table, 0, 0));
		for (ULONG i = 0; i < VALUES; i += 2)
			insert(table, i);
		assert_true(RtlInitEnumerationHashTable(table, &other));
		assert_true(RtlInitWeakEnumerationHashTable(table, &e));
		assert_int_equal(RtlActiveEnumeratorsHashTable(table), 2);
		assert_false(RtlExpandHashTable(table));
		while ((v = value_of(RtlWeaklyEnumerateEntryHashTable(table, &e))) != NULL) {
			assert_true(v->there);
			v->seen = true;
			if (RtlRandomEx(&seed) % 4 == 0)
				take_out(table, v->number);
			change_during_enumeration(table, &seed);
			RtlEnumerateEntryHashTable(table, &other);
			check_signature(table, RtlRandomEx(&seed) % VALUES);
		}
		for (ULONG i = 0; i < VALUES; i++)
			assert_true(values[i].seen || !values[i].there);
		RtlEndWeakEnumerationHashTable(table, &e);
		RtlEndEnumerationHashTable(table, &other);
		assert_int_equal(RtlActiveEnumeratorsHashTable(table), 0);
		check_enumeration(table);
		assert_true(RtlExpandHashTable(table));
		RtlDeleteHashTable(table);
	}
}

static void
a_context_remembers_the_place_of_a_signature(void **state)
{
	PRTL_DYNAMIC_HASH_TABLE table = NULL;
	RTL_DYNAMIC_HASH_TABLE_CONTEXT context;

	(void)state;
	reset();
	assert_true(RtlCreateHashTable(&table, 0, 0));
	assert_null(RtlLookupEntryHashTable(table, 7, &context));
	assert_true(RtlInsertEntryHashTable(table, &values[0].entry, 7, &context));
	assert_true(RtlInsertEntryHashTable(table, &values[1].entry, 7, &context));
	assert_ptr_equal(RtlLookupEntryHashTable(table, 7, &context), &values[1].entry);
	assert_ptr_equal(RtlGetNextEntryHashTable(table, &context), &values[0].entry);
	assert_null(RtlGetNextEntryHashTable(table, &context));
	RtlInitHashTableContext(&context);
	assert_true(RtlRemoveEntryHashTable(table, &values[1].entry, &context));
	assert_ptr_equal(context.PrevLinkage, context.ChainHead);
	assert_non_null(context.ChainHead);
	assert_ptr_equal(RtlLookupEntryHashTable(table, 7, NULL), &values[0].entry);
	assert_true(RtlInsertEntryHashTable(table, &values[1].entry, 7, &context));
	assert_ptr_equal(RtlLookupEntryHashTable(table, 7, NULL), &values[1].entry);
	RtlReleaseHashTableContext(&context);
	RtlDeleteHashTable(table);
}

static void
a_context_of_an_enumerator_is_at_what_it_returned(void **state)
{
	PRTL_DYNAMIC_HASH_TABLE table = NULL;
	RTL_DYNAMIC_HASH_TABLE_ENUMERATOR e;
	RTL_DYNAMIC_HASH_TABLE_CONTEXT context;

	(void)state;
	reset();
	assert_true(RtlCreateHashTable(&table, 0, 0));
	assert_true(RtlInsertEntryHashTable(table, &values[0].entry, 7, NULL));
	assert_true(RtlInitEnumerationHashTable(table, &e));
	assert_ptr_equal(RtlEnumerateEntryHashTable(table, &e), &values[0].entry);
	RtlInitHashTableContextFromEnumerator(&context, &e);
	assert_true(RtlRemoveEntryHashTable(table, &values[0].entry, &context));
	assert_true(RtlInsertEntryHashTable(table, &values[1].entry, 7, &context));
	RtlEndEnumerationHashTable(table, &e);
	assert_ptr_equal(RtlLookupEntryHashTable(table, 7, NULL), &values[1].entry);
	assert_int_equal(RtlTotalEntriesHashTable(table), 1);
	RtlDeleteHashTable(table);
}

static void
the_reserved_signature_is_replaced(void **state)
{
	PRTL_DYNAMIC_HASH_TABLE table = NULL;

	(void)state;
	reset();
	assert_true(RtlCreateHashTable(&table, 0, 0));
	assert_true(RtlInsertEntryHashTable(table, &values[0].entry, RTL_HASH_RESERVED_SIGNATURE,
					    NULL));
	assert_int_not_equal(HASH_ENTRY_KEY(&values[0].entry), RTL_HASH_RESERVED_SIGNATURE);
	assert_ptr_equal(RtlLookupEntryHashTable(table, RTL_HASH_RESERVED_SIGNATURE, NULL),
			 &values[0].entry);
	RtlDeleteHashTable(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_finds_what_was_inserted),
		cmocka_unit_test(entries_are_spread_over_the_buckets),
		cmocka_unit_test(an_enumeration_survives_changes_of_the_table),
		cmocka_unit_test(a_context_remembers_the_place_of_a_signature),
		cmocka_unit_test(a_context_of_an_enumerator_is_at_what_it_returned),
		cmocka_unit_test(the_reserved_signature_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
