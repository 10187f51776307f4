/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked lists, and interlocked functions with an order of their own.
 */
#include "bench.h"

enum {
	THREADS = 4,
	ENTRIES = 64,
	ROUNDS = 20000,
};

struct entry {
	SLIST_ENTRY link;
	unsigned owner; /* not atomic: who popped it has it alone */
};

static SLIST_HEADER list;

static void
the_last_pushed_is_the_first_popped(void **state)
{
	struct entry entries[4] = {0};
	PSLIST_ENTRY all;

	(void)state;
	InitializeSListHead(&list);
	assert_null(InterlockedPopEntrySList(&list));
	assert_null(InterlockedFlushSList(&list));
	assert_null(InterlockedPushEntrySList(&list, &entries[0].link));
	assert_ptr_equal(InterlockedPushEntrySList(&list, &entries[1].link), &entries[0].link);
	assert_int_equal(QueryDepthSList(&list), 2);
	entries[2].link.Next = &entries[3].link;
	assert_ptr_equal(InterlockedPushListSListEx(&list, &entries[2].link, &entries[3].link, 2),
			 &entries[1].link);
	assert_int_equal(QueryDepthSList(&list), 4);
	assert_ptr_equal(InterlockedPopEntrySList(&list), &entries[2].link);
	all = InterlockedFlushSList(&list);
	assert_ptr_equal(all, &entries[3].link);
	assert_ptr_equal(all->Next, &entries[1].link);
	assert_ptr_equal(all->Next->Next, &entries[0].link);
	assert_null(all->Next->Next->Next);
	assert_int_equal(QueryDepthSList(&list), 0);
	assert_int_equal(sizeof(SLIST_ENTRY) % MEMORY_ALLOCATION_ALIGNMENT, 0);
}

static void *
pops_and_pushes(void *argument)
{
	unsigned me = (unsigned)(uintptr_t)argument;

	for (int i = 0; i < ROUNDS; i++) {
		struct entry *entry = (struct entry *)InterlockedPopEntrySList(&list);

		if (!entry)
			continue;
		entry->owner = me;
		if (i % 2)
			SwitchToThread();
		if (entry->owner != me)
			abort();
		/* Every fourth time as another piece of memory: a stale look would be seen. */
		if (i % 4 == 0) {
			free(entry);
			entry = aligned_alloc(MEMORY_ALLOCATION_ALIGNMENT, sizeof(*entry));
		}
		InterlockedPushEntrySList(&list, &entry->link);
	}
	return NULL;
}

static void
an_entry_is_popped_by_one_thread_only_and_none_gets_lost(void **state)
{
	pthread_t threads[THREADS];
	PSLIST_ENTRY entry;
	unsigned count = 0;

	(void)state;
	InitializeSListHead(&list);
	for (int i = 0; i < ENTRIES; i++)
		InterlockedPushEntrySList(
			&list, aligned_alloc(MEMORY_ALLOCATION_ALIGNMENT, sizeof(struct entry)));
	for (uintptr_t i = 0; i < THREADS; i++)
		threads[i] = start_thread(pops_and_pushes, (void *)i);
	for (int i = 0; i < THREADS; i++)
		join_thread(threads[i]);
	assert_int_equal(QueryDepthSList(&list), ENTRIES);
	while ((entry = InterlockedPopEntrySList(&list))) {
		free(entry);
		count++;
	}
	assert_int_equal(count, ENTRIES);
}

static void
an_interlocked_function_with_a_suffix_gives_what_the_one_without_gives(void **state)
{
	LONG n = 4;
	LONG64 wide = 1;
	CHAR byte = 0x0f;
	SHORT word = 1;
	PVOID pointer = NULL;

	(void)state;
	assert_int_equal(InterlockedIncrementNoFence(&n), 5);
	assert_int_equal(InterlockedDecrementRelease(&n), 4);
	assert_int_equal(InterlockedExchangeAcquire(&n, 8), 4);
	assert_int_equal(InterlockedExchangeAddNoFence(&n, -3), 8);
	assert_int_equal(InterlockedAddAcquire(&n, 2), 7);
	assert_int_equal(InterlockedCompareExchangeAcquire(&n, 1, 7), 7);
	assert_int_equal(InterlockedCompareExchangeNoFence(&n, 2, 7), 1);
	assert_int_equal(InterlockedOrRelease(&n, 6), 1);
	assert_int_equal(InterlockedAndNoFence(&n, 3), 7);
	assert_int_equal(InterlockedXorAcquire(&n, 1), 3);
	assert_int_equal(InterlockedIncrement64NoFence(&wide), 2);
	assert_int_equal(InterlockedExchangeAcquire64(&wide, 2), 2);
	assert_int_equal(InterlockedCompareExchange64Release(&wide, 9, 2), 2);
	assert_int_equal(InterlockedOr8(&byte, 0x30), 0x0f);
	assert_int_equal(InterlockedAnd8(&byte, 0x31), 0x3f);
	assert_int_equal(byte, 0x31);
	assert_int_equal(InterlockedIncrement16(&word), 2);
	assert_int_equal(InterlockedCompareExchange16(&word, 5, 2), 2);
	assert_false(InterlockedBitTestAndSet(&n, 31));
	assert_true(InterlockedBitTestAndReset(&n, 31));
	assert_false(InterlockedBitTestAndSet64(&wide, 63));
	assert_true(InterlockedBitTestAndComplement(&n, 1));
	assert_int_equal(ReadNoFence(&n), 0);
	assert_int_equal(ReadNoFence8(&byte), 0x31);
	assert_int_equal(ReadNoFence16(&word), 5);
	assert_true(ReadNoFence64(&wide) < 0 && ReadULong64Acquire((ULONG64 *)&wide) >> 63);
	WritePointerRelease(&pointer, &n);
	assert_ptr_equal(ReadPointerNoFence(&pointer), &n);
	assert_ptr_equal(InterlockedExchangePointerNoFence(&pointer, NULL), &n);
	WriteRelease(&n, 5);
	WriteRaw8(&byte, 7);
	assert_true(ReadAcquire(&n) == 5 && ReadRaw8(&byte) == 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_pushed_is_the_first_popped),
		cmocka_unit_test(an_entry_is_popped_by_one_thread_only_and_none_gets_lost),
		cmocka_unit_test(
			an_interlocked_function_with_a_suffix_gives_what_the_one_without_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
