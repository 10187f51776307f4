/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where memory comes from: DPDK's heap for small queues, while enough is left for others; ordinary
 * memory for large ones, whose pages are not populated before they are written to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plx_heap.h"
#include "eal.h"

enum {
	DEEP = 64 << 20, /* [bytes] a queue that is deep */
	SMALL = 100 << 10,
	MANY = 2 * PLX_HEAP_QUEUES_MAX / SMALL, /* more small queues than are possible */
	PAGES_FEW = 2,
	BLOCK = 1 << 20,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	BLOCKS = 16, /* the C library's, and all of it touched */
#else
	BLOCKS = 1024,
#endif
};

/* Pages of a block that somebody has. */
static size_t
resident_pages(void *memory, size_t bytes)
{
	static unsigned char there[DEEP / 4096 + 2];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	uintptr_t start = (uintptr_t)memory / page * page;
	size_t pages = ((uintptr_t)memory + bytes - start + page - 1) / page;

	assert_in_range(pages, 1, sizeof(there));
	assert_int_equal(mincore((void *)start, pages * page, there), 0);
	for (size_t i = 0; i < pages; i++)
		n += there[i] & 1;
	return n;
}

static void
expect_zeroed(const uint8_t *memory, size_t bytes)
{
	assert_int_equal((uintptr_t)memory % PLX_LINE_PAIR, 0);
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != 0)
			fail_msg("byte %zu is %u", i, memory[i]);
}

static void
a_deep_queue_takes_memory_as_it_is_used(void **state)
{
	uint8_t *queue = plx_heap_queue(DEEP, -1);

	(void)state;
	assert_non_null(queue);
	assert_in_range(resident_pages(queue, DEEP), 0, PAGES_FEW);
	queue[DEEP / 2] = 1;
	queue[DEEP - 1] = 1;
	assert_in_range(resident_pages(queue, DEEP), 2, PAGES_FEW + 2);
	assert_int_equal(plx_heap_queues(), 0);
	plx_heap_free(queue);
}

static void
what_is_given_is_zeroed_and_aligned(void **state)
{
	static const size_t bytes[] = {1, 63, 64, 4096, SMALL, PLX_HEAP_QUEUE_LARGE};

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			uint8_t *queue = plx_heap_queue(bytes[i], -1);
			uint8_t *object = plx_heap_alloc(bytes[i], -1);

			expect_zeroed(queue, bytes[i]);
			expect_zeroed(object, bytes[i]);
			memset(queue, 0xa5, bytes[i]); /* for the next round */
			memset(object, 0xa5, bytes[i]);
			plx_heap_free(queue);
			plx_heap_free(object);
		}
	}
	plx_heap_free(NULL);
	assert_int_equal(plx_heap_queues(), 0);
}

/* And all go back where they came from. */
static void
many_small_queues_leave_dpdks_heap_to_others(void **state)
{
	static uint8_t *queue[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		queue[i] = plx_heap_queue(SMALL, -1);
		assert_non_null(queue[i]);
		queue[i][SMALL - 1] = 1;
		assert_in_range(plx_heap_queues(), 1, PLX_HEAP_QUEUES_MAX);
	}
	assert_in_range(plx_heap_queues(), PLX_HEAP_QUEUES_MAX - 2 * SMALL, PLX_HEAP_QUEUES_MAX);
	for (size_t i = 0; i < MANY; i++)
		plx_heap_free(queue[i]);
	assert_int_equal(plx_heap_queues(), 0);
}

/* Beyond what DPDK's heap has for queues, small ones do not take a page each. */
static void
many_small_queues_share_pages(void **state)
{
	enum {
		TINY = 256,
		TINIES = 4096,
		FILLER = PLX_HEAP_QUEUE_LARGE - 1024,
		FILLERS = PLX_HEAP_QUEUES_MAX / FILLER,
	};
	static uint8_t *filler[FILLERS], *queue[TINIES];
	uintptr_t least = UINTPTR_MAX, most = 0;
	uint32_t fillers = 0;

	(void)state;
	while (fillers < FILLERS)
		filler[fillers++] = plx_heap_queue(FILLER, -1);
	for (size_t i = 0; i < TINIES; i++)
		queue[i] = plx_heap_queue(TINY, -1);
	for (size_t i = TINIES / 2; i < TINIES; i++) {
		uintptr_t page = (uintptr_t)queue[i] / 4096;

		assert_non_null(queue[i]);
		least = page < least ? page : least;
		most = page > most ? page : most;
	}
	assert_in_range(most - least, 1, TINIES / 4);
	for (size_t i = 0; i < TINIES; i++)
		plx_heap_free(queue[i]);
	while (fillers > 0)
		plx_heap_free(filler[--fillers]);
	assert_int_equal(plx_heap_queues(), 0);
}

/* test_eal_start() gives DPDK a heap of 512 MiB, none of which is accessed here. */
static void
without_room_in_dpdks_heap_there_is_ordinary_memory(void **state)
{
	static uint8_t *block[BLOCKS];

	(void)state;
	for (size_t i = 0; i < BLOCKS; i++) {
		block[i] = plx_heap_alloc(BLOCK, -1);
		assert_non_null(block[i]);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		plx_heap_free(block[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_queue_takes_memory_as_it_is_used),
		cmocka_unit_test(what_is_given_is_zeroed_and_aligned),
		cmocka_unit_test(many_small_queues_leave_dpdks_heap_to_others),
		cmocka_unit_test(many_small_queues_share_pages),
		cmocka_unit_test(without_room_in_dpdks_heap_there_is_ordinary_memory),
	};

	test_eal_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
