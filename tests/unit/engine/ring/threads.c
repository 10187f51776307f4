/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings between threads that run concurrently: every entry arrives once, intact, and in the order
 * of its producer. Start with run().
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plx_ring_untrusted.h"
#include "eal.h"

enum {
	THREADS_MAX = 3,
	ENTRIES = 30000
};

struct entry {
	uint32_t producer, number;
	uint64_t check; /* of both */
};

struct crew {
	struct rte_ring *ring;
	uint32_t producers, consumers;
	bool marked; /* entries are shown one by one, `check` last */
	/* NULL: that side uses plx_ring.h */
	struct plx_ring_untrusted *producer, *consumer;
	atomic_uint next_id, taken;
	atomic_uint wrong;
	/* [producer][number]: how often it was taken */
	uint8_t *seen;
};

static uint64_t
check_of(uint32_t producer, uint32_t number)
{
	return ((producer + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ number) & ~PLX_RING_MARK;
}

static void
write_entry(const struct crew *crew, const struct plx_ring_span *span, uint32_t i,
	    uint32_t producer, uint32_t number)
{
	struct entry *entry = plx_ring_at(span, sizeof(*entry), i);

	entry->producer = producer;
	entry->number = number;
	if (crew->marked && crew->producer != NULL)
		plx_ring_untrusted_mark_written(crew->producer, span->index + i, &entry->check,
						check_of(producer, number));
	else if (crew->marked)
		plx_ring_mark_written(crew->ring, span->index + i, &entry->check,
				      check_of(producer, number));
	else
		entry->check = check_of(producer, number);
}

static uint32_t
reserve(struct crew *crew, uint32_t n, struct plx_ring_span *span)
{
	if (crew->producer != NULL)
		return plx_ring_untrusted_reserve(crew->producer, sizeof(struct entry), n, span);
	return plx_ring_reserve(crew->ring, sizeof(struct entry), n, span);
}

static void
commit(struct crew *crew, uint32_t n)
{
	if (crew->producer != NULL)
		plx_ring_untrusted_commit(crew->producer, n);
	else
		plx_ring_commit(crew->ring, n);
}

static void *
produce(void *arg)
{
	struct crew *crew = arg;
	uint32_t me = atomic_fetch_add(&crew->next_id, 1);
	uint32_t sent = 0;

	while (sent < ENTRIES) {
		struct plx_ring_span span = {0};
		uint32_t want = 1 + sent % 5;
		uint32_t n = reserve(crew, want, &span);

		if (n == 0) {
			sched_yield();
			continue;
		}
		/* Sometimes less than was reserved. */
		n = n > ENTRIES - sent ? ENTRIES - sent : n;
		n -= n > 1 && sent % 3 == 0;
		for (uint32_t i = 0; i < n; i++)
			write_entry(crew, &span, i, me, sent + i);
		commit(crew, n);
		sent += n;
	}
	return NULL;
}

static void
look_at(struct crew *crew, const struct entry *entry, uint32_t *newest)
{
	if (entry->producer >= crew->producers || entry->number >= ENTRIES ||
	    (entry->check & ~PLX_RING_MARK) != check_of(entry->producer, entry->number) ||
	    entry->number + 1 <= newest[entry->producer] ||
	    __atomic_fetch_add(&crew->seen[entry->producer * ENTRIES + entry->number], 1,
			       __ATOMIC_RELAXED) != 0)
		atomic_fetch_add(&crew->wrong, 1);
	else
		newest[entry->producer] = entry->number + 1;
}

/* Take up to 7 entries and check them. Returns: how many */
static uint32_t
take(struct crew *crew, uint32_t *newest)
{
	struct plx_ring_span span = {0};
	uint32_t n = crew->marked ? plx_ring_peek_marked(crew->ring, sizeof(struct entry),
							 offsetof(struct entry, check), 7, &span)
				  : plx_ring_peek(crew->ring, sizeof(struct entry), 7, &span);

	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		look_at(crew, plx_ring_at(&span, sizeof(struct entry), i), newest);
	plx_ring_release(crew->ring, n);
	return n;
}

static uint32_t
take_copies(struct crew *crew, uint32_t *newest)
{
	struct plx_ring_span span;
	struct entry entries[7];
	uint32_t n;

	if (crew->marked) {
		n = plx_ring_untrusted_peek_marked(crew->consumer, sizeof(entries[0]),
						   offsetof(struct entry, check), 7, &span);
		if (n > 0) {
			plx_ring_copy(&span, sizeof(entries[0]), entries);
			plx_ring_untrusted_release(crew->consumer, n);
		}
	} else {
		n = plx_ring_untrusted_dequeue(crew->consumer, sizeof(entries[0]), entries, 7);
	}
	for (uint32_t i = 0; i < n; i++)
		look_at(crew, &entries[i], newest);
	return n;
}

static void *
consume(void *arg)
{
	struct crew *crew = arg;
	uint32_t newest[THREADS_MAX] = {0};

	while (atomic_load(&crew->taken) < crew->producers * ENTRIES) {
		uint32_t n =
			crew->consumer != NULL ? take_copies(crew, newest) : take(crew, newest);

		if (n == 0)
			sched_yield();
		else
			atomic_fetch_add(&crew->taken, n);
	}
	return NULL;
}

enum untrusting {
	NOBODY = 0,
	PRODUCER = 1,
	CONSUMER = 2,
	BOTH = 3,
};

static void
take_sides(struct crew *crew, const struct plx_ring_config *config,
	   struct plx_ring_untrusted side[2], enum untrusting untrusting)
{
	if (untrusting & PRODUCER) {
		crew->producer = &side[0];
		assert_int_equal(
			plx_ring_untrusted_init(&side[0], config, PLX_RING_PRODUCER, crew->ring),
			PLX_OK);
	}
	if (untrusting & CONSUMER) {
		crew->consumer = &side[1];
		assert_int_equal(
			plx_ring_untrusted_init(&side[1], config, PLX_RING_CONSUMER, crew->ring),
			PLX_OK);
	}
}

static void
run(uint32_t producers, uint32_t consumers, bool marked, enum untrusting untrusting)
{
	const struct plx_ring_config config = {
		.entries = 100,
		.entry_bytes = sizeof(struct entry),
		.producers = producers > 1 ? PLX_RING_MANY : PLX_RING_ONE,
		.consumers = consumers > 1 ? PLX_RING_MANY : PLX_RING_ONE,
		.socket = -1};
	struct crew crew = {.producers = producers, .consumers = consumers, .marked = marked};
	struct plx_ring_untrusted side[2] = {0};
	pthread_t thread[2 * THREADS_MAX];
	uint32_t n = 0;

	crew.ring = plx_ring_create(&config);
	crew.seen = calloc((size_t)producers * ENTRIES, sizeof(*crew.seen));
	assert_non_null(crew.ring);
	assert_non_null(crew.seen);
	take_sides(&crew, &config, side, untrusting);
	for (uint32_t i = 0; i < producers; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, produce, &crew), 0);
	for (uint32_t i = 0; i < consumers; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, consume, &crew), 0);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(crew.wrong, 0);
	assert_int_equal(crew.taken, producers * ENTRIES);
	assert_true(plx_ring_empty(crew.ring));
	assert_false(side[0].fault || side[1].fault);
	for (uint32_t i = 0; i < producers * ENTRIES; i++)
		assert_int_equal(crew.seen[i], 1);
	plx_ring_destroy(crew.ring);
	free(crew.seen);
}

static void
one_to_one_loses_nothing(void **state)
{
	(void)state;
	run(1, 1, false, NOBODY);
}

static void
many_to_one_loses_nothing(void **state)
{
	(void)state;
	run(3, 1, false, NOBODY);
}

static void
one_to_many_loses_nothing(void **state)
{
	(void)state;
	run(1, 3, false, NOBODY);
}

static void
many_to_many_loses_nothing(void **state)
{
	(void)state;
	run(3, 3, false, NOBODY);
}

static void
what_is_shown_to_one_arrives(void **state)
{
	(void)state;
	run(1, 1, true, NOBODY);
}

static void
what_is_shown_to_many_arrives_once(void **state)
{
	(void)state;
	run(1, 3, true, NOBODY);
}

static void
an_untrusting_consumer_loses_nothing(void **state)
{
	(void)state;
	run(1, 1, false, CONSUMER);
	run(3, 1, false, CONSUMER);
	run(1, 1, true, CONSUMER);
}

static void
an_untrusting_producer_loses_nothing(void **state)
{
	(void)state;
	run(1, 1, false, PRODUCER);
	run(1, 3, false, PRODUCER);
	run(1, 1, true, PRODUCER);
	run(1, 3, true, PRODUCER);
}

static void
two_untrusting_sides_lose_nothing(void **state)
{
	(void)state;
	run(1, 1, false, BOTH);
	run(1, 1, true, BOTH);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_to_one_loses_nothing),
		cmocka_unit_test(many_to_one_loses_nothing),
		cmocka_unit_test(one_to_many_loses_nothing),
		cmocka_unit_test(many_to_many_loses_nothing),
		cmocka_unit_test(what_is_shown_to_one_arrives),
		cmocka_unit_test(what_is_shown_to_many_arrives_once),
		cmocka_unit_test(an_untrusting_consumer_loses_nothing),
		cmocka_unit_test(an_untrusting_producer_loses_nothing),
		cmocka_unit_test(two_untrusting_sides_lose_nothing),
	};

	test_eal_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
