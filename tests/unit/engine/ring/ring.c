/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rings between threads: capacity, contents, order, and indexes across the 32-bit wrap, for
 * every combination of producers and consumers. Threads are in threads.c. Start with
 * everything_in_comes_out_in_order().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sys/resource.h>

#include "plx_ring.h"
#include "eal.h"

struct entry {
	uint32_t number, check;
	uint64_t more;
};

static struct rte_ring *
make(uint32_t entries, enum plx_ring_side producers, enum plx_ring_side consumers)
{
	const struct plx_ring_config config = {.entries = entries,
					       .entry_bytes = sizeof(struct entry),
					       .producers = producers,
					       .consumers = consumers,
					       .socket = -1};
	struct rte_ring *ring = plx_ring_create(&config);

	assert_non_null(ring);
	return ring;
}

/* As if the ring had already carried this many entries. Head and tail of both kinds of sides
 * have the same indexes. */
static void
age(struct rte_ring *ring, uint32_t entries)
{
	ring->prod.head = ring->prod.tail = entries;
	ring->cons.head = ring->cons.tail = entries;
}

static void
write_entry(const struct plx_ring_span *span, uint32_t i, uint32_t number)
{
	struct entry *entry = plx_ring_at(span, sizeof(*entry), i);

	*entry = (struct entry){.number = number, .check = ~number, .more = number * 3ull};
}

static void
check_entry(const struct entry *entry, uint32_t number)
{
	assert_int_equal(entry->number, number);
	assert_int_equal(entry->check, ~number);
	assert_int_equal(entry->more, number * 3ull);
}

/* Spans of 1 to 7 entries through a ring of 10, long enough to pass its end many times. */
static void
run_through(struct rte_ring *ring, uint32_t from)
{
	uint32_t in = from, out = from;
	struct plx_ring_span span = {0};

	for (uint32_t round = 0; round < 1000; round++) {
		uint32_t n = plx_ring_reserve(ring, sizeof(struct entry), 1 + round % 7, &span);

		assert_int_equal(n, 1 + round % 7);
		assert_int_equal(span.count, n);
		assert_int_equal(span.index, in);
		for (uint32_t i = 0; i < n; i++)
			write_entry(&span, i, in++);
		plx_ring_commit(ring, n);
		assert_int_equal(plx_ring_produced(ring), in);
		assert_int_equal(plx_ring_count(ring), in - out);
		while ((n = plx_ring_peek(ring, sizeof(struct entry), 3, &span)) > 0) {
			assert_int_equal(span.index, out);
			for (uint32_t i = 0; i < n; i++)
				check_entry(plx_ring_at(&span, sizeof(struct entry), i), out++);
			plx_ring_release(ring, n);
		}
		assert_int_equal(plx_ring_consumed(ring), out);
		assert_int_equal(in, out);
		assert_true(plx_ring_empty(ring));
	}
}

static void
everything_in_comes_out_in_order(void **state)
{
	(void)state;
	for (int sides = 0; sides < 4; sides++) {
		struct rte_ring *ring = make(10, sides & 1 ? PLX_RING_MANY : PLX_RING_ONE,
					     sides & 2 ? PLX_RING_MANY : PLX_RING_ONE);

		run_through(ring, 0);
		plx_ring_destroy(ring);
	}
}

static void
numbers_go_on_over_the_wrap_of_32_bits(void **state)
{
	(void)state;
	for (int sides = 0; sides < 4; sides++) {
		struct rte_ring *ring = make(10, sides & 1 ? PLX_RING_MANY : PLX_RING_ONE,
					     sides & 2 ? PLX_RING_MANY : PLX_RING_ONE);

		age(ring, UINT32_MAX - 100);
		run_through(ring, UINT32_MAX - 100);
		assert_true(plx_ring_produced(ring) < 10000);
		plx_ring_destroy(ring);
	}
}

static void
a_ring_holds_at_least_what_was_asked_for(void **state)
{
	static const uint32_t asked[] = {1, 2, 3, 4, 7, 8, 63, 64, 65, 1023, 1024, 32768};
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(asked); i++) {
		struct rte_ring *ring = make(asked[i], PLX_RING_MANY, PLX_RING_ONE);
		uint32_t slots = plx_ring_slots(ring), held = 0;
		struct entry entry = {0};

		assert_true(slots > asked[i]);
		assert_int_equal(slots & (slots - 1), 0);
		assert_true(slots <= 2 || slots / 2 <= asked[i]);
		while (plx_ring_enqueue(ring, sizeof(entry), &entry, 1) == 1)
			held++;
		assert_int_equal(held, slots - 1);
		plx_ring_destroy(ring);
	}
}

static void
a_full_ring_gives_nothing_and_a_part_when_there_is_a_part(void **state)
{
	struct rte_ring *ring = make(7, PLX_RING_MANY, PLX_RING_MANY);
	struct plx_ring_span span = {0};
	(void)state;
	assert_int_equal(plx_ring_reserve(ring, sizeof(struct entry), 5, &span), 5);
	plx_ring_commit(ring, 5);
	assert_int_equal(plx_ring_reserve(ring, sizeof(struct entry), 5, &span), 2);
	plx_ring_commit(ring, 2);
	assert_int_equal(plx_ring_reserve(ring, sizeof(struct entry), 1, &span), 0);
	assert_int_equal(plx_ring_count(ring), 7);
	assert_int_equal(plx_ring_peek(ring, sizeof(struct entry), 100, &span), 7);
	plx_ring_release(ring, 7);
	assert_int_equal(plx_ring_peek(ring, sizeof(struct entry), 100, &span), 0);
	plx_ring_destroy(ring);
}

static void
what_was_reserved_and_not_committed_is_given_back(void **state)
{
	(void)state;
	for (int sides = 0; sides < 4; sides++) {
		struct rte_ring *ring = make(7, sides & 1 ? PLX_RING_MANY : PLX_RING_ONE,
					     sides & 2 ? PLX_RING_MANY : PLX_RING_ONE);
		struct plx_ring_span span = {0};

		for (uint32_t round = 0; round < 100; round++) {
			assert_int_equal(plx_ring_reserve(ring, sizeof(struct entry), 4, &span), 4);
			assert_int_equal(span.index, round);
			for (uint32_t i = 0; i < 4; i++)
				write_entry(&span, i, round + i);
			plx_ring_commit(ring, round % 2);
			assert_int_equal(plx_ring_count(ring), round % 2);
			/* The next reservation begins where the commit ended. */
			assert_int_equal(plx_ring_reserve(ring, sizeof(struct entry), 1, &span), 1);
			assert_int_equal(span.index, round + round % 2);
			write_entry(&span, 0, round + round % 2);
			plx_ring_commit(ring, round % 2 == 0);
			assert_int_equal(plx_ring_peek(ring, sizeof(struct entry), 2, &span), 1);
			check_entry(plx_ring_at(&span, sizeof(struct entry), 0), round);
			/* Looked at and not read: it is there again. */
			plx_ring_release(ring, 0);
			assert_int_equal(plx_ring_peek(ring, sizeof(struct entry), 2, &span), 1);
			check_entry(plx_ring_at(&span, sizeof(struct entry), 0), round);
			plx_ring_release(ring, 1);
			assert_true(plx_ring_empty(ring));
		}
		plx_ring_destroy(ring);
	}
}

static uint32_t
peek_marked(struct rte_ring *ring, uint32_t n, struct plx_ring_span *span)
{
	return plx_ring_peek_marked(ring, sizeof(struct entry), offsetof(struct entry, more), n,
				    span);
}

/* An entry of a ring of eight slots is present when its word says so: in every lap, across the
 * index wrap, whatever else is in the word, and before the writer has published the count. */
static void
show_and_read(struct rte_ring *ring, uint32_t number)
{
	struct plx_ring_span span = {0}, marked = {0};
	const uint64_t word = number & 1 ? UINT64_MAX : number;

	assert_int_equal(peek_marked(ring, 8, &marked), 0);
	plx_ring_reserve_known(ring, sizeof(struct entry), 3, &span);
	assert_int_equal(span.index, number);
	for (uint32_t i = 0; i < 3; i++) {
		struct entry *entry = plx_ring_at(&span, sizeof(*entry), i);

		entry->number = number + i;
		assert_int_equal(peek_marked(ring, 8, &marked), i > 0);
		if (i > 0)
			plx_ring_release(ring, 0);
		if (i == 1)
			continue; /* out of turn: not there before the one before it is */
		plx_ring_mark_written(ring, span.index + i, &entry->more, word);
	}
	assert_int_equal(peek_marked(ring, 8, &marked), 1);
	plx_ring_release(ring, 0);
	plx_ring_mark_written(ring, span.index + 1,
			      &((struct entry *)plx_ring_at(&span, sizeof(struct entry), 1))->more,
			      word);
	assert_int_equal(peek_marked(ring, 2, &marked), 2);
	plx_ring_release(ring, 1);
	assert_int_equal(peek_marked(ring, 8, &marked), 2);
	assert_int_equal(marked.index, number + 1);
	for (uint32_t i = 0; i < 2; i++) {
		const struct entry *entry = plx_ring_at(&marked, sizeof(*entry), i);

		assert_int_equal(entry->number, number + 1 + i);
		assert_int_equal(entry->more & ~PLX_RING_MARK, word & ~PLX_RING_MARK);
	}
	plx_ring_release(ring, 2);
	plx_ring_commit(ring, 3);
	assert_int_equal(plx_ring_produced(ring), number + 3);
	assert_int_equal(plx_ring_consumed(ring), number + 3);
}

static void
marked_entries_are_there_when_their_word_says_so(void **state)
{
	(void)state;
	for (int sides = 0; sides < 2; sides++) {
		struct rte_ring *ring =
			make(7, PLX_RING_ONE, sides & 1 ? PLX_RING_MANY : PLX_RING_ONE);
		/* the first of an odd lap, as a new ring's is */
		uint32_t number = -(uint32_t)(4 * plx_ring_slots(ring));

		assert_int_equal(plx_ring_slots(ring), 8);
		age(ring, number);
		for (uint32_t round = 0; round < 100; round++, number += 3)
			show_and_read(ring, number);
		plx_ring_destroy(ring);
	}
}

static void
copies_in_and_out_are_the_same_entries(void **state)
{
	struct rte_ring *ring = make(8, PLX_RING_ONE, PLX_RING_MANY);
	struct entry in[20], out[20];
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		in[i] = (struct entry){.number = i, .check = ~i, .more = i * 3ull};
	for (uint32_t round = 0; round < 50; round++) {
		assert_int_equal(plx_ring_enqueue(ring, sizeof(in[0]), in, 20), 15);
		assert_int_equal(plx_ring_dequeue(ring, sizeof(in[0]), out, 4), 4);
		assert_int_equal(plx_ring_dequeue(ring, sizeof(in[0]), out + 4, 20), 11);
		assert_memory_equal(in, out, 15 * sizeof(in[0]));
		assert_int_equal(plx_ring_dequeue(ring, sizeof(in[0]), out, 20), 0);
	}
	plx_ring_destroy(ring);
}

static void
a_ring_in_the_callers_memory_stays_in_it(void **state)
{
	const struct plx_ring_config config = {.entries = 10, .entry_bytes = sizeof(struct entry)};
	size_t bytes = plx_ring_bytes(&config);
	uint8_t *memory = aligned_alloc(PLX_CACHE_LINE, bytes + PLX_CACHE_LINE);
	struct rte_ring *ring;

	(void)state;
	assert_non_null(memory);
	assert_int_equal(bytes % PLX_CACHE_LINE, 0);
	memset(memory, 0, bytes);
	memset(memory + bytes, 0xa5, PLX_CACHE_LINE);
	ring = plx_ring_init(&config, memory);
	assert_ptr_equal(ring, memory);
	run_through(ring, 0);
	for (size_t i = 0; i < PLX_CACHE_LINE; i++)
		assert_int_equal(memory[bytes + i], 0xa5);
	free(memory);
}

static void
memory_that_is_not_there_is_no_ring(void **state)
{
	/* 2^21 entries of 1 KiB are 4 GiB of addresses, of which the process gets no more. */
	const struct plx_ring_config config = {.entries = PLX_RING_ENTRIES_MAX,
					       .entry_bytes = 1024,
					       .producers = PLX_RING_ONE,
					       .consumers = PLX_RING_ONE,
					       .socket = -1};
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	assert_null(plx_ring_create(&config));
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_comes_out_in_order),
		cmocka_unit_test(numbers_go_on_over_the_wrap_of_32_bits),
		cmocka_unit_test(a_ring_holds_at_least_what_was_asked_for),
		cmocka_unit_test(a_full_ring_gives_nothing_and_a_part_when_there_is_a_part),
		cmocka_unit_test(what_was_reserved_and_not_committed_is_given_back),
		cmocka_unit_test(marked_entries_are_there_when_their_word_says_so),
		cmocka_unit_test(copies_in_and_out_are_the_same_entries),
		cmocka_unit_test(a_ring_in_the_callers_memory_stays_in_it),
		cmocka_unit_test(memory_that_is_not_there_is_no_ring),
	};

	test_eal_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
