/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A side that does not trust the other, while the other is honest: everything passes through, in
 * both directions, to and from one thread and many. Lies are in hostile.c, threads in threads.c.
 * Start with pass().
 */
#include "shared.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const uint32_t ages[] = {0, UINT32_MAX - 100};

/* One ring and both of its ends; an end without an untrusting side uses plx_ring.h. */
struct pair {
	struct rte_ring *shared;
	struct plx_ring_untrusted *producer, *consumer;
	bool copies, marked;
};

/* Returns: how many */
static uint32_t
put(struct pair *pair, uint32_t number, uint32_t n)
{
	struct plx_ring_span span = {0};
	struct entry entries[CAPACITY];

	for (uint32_t i = 0; i < n; i++)
		fill_entry(&entries[i], number + i);
	if (pair->producer == NULL && !pair->marked)
		return plx_ring_enqueue(pair->shared, sizeof(entries[0]), entries, n);
	if (pair->producer != NULL && pair->copies && !pair->marked)
		return plx_ring_untrusted_enqueue(pair->producer, sizeof(entries[0]), entries, n);
	n = pair->producer != NULL
		    ? plx_ring_untrusted_reserve(pair->producer, sizeof(entries[0]), n, &span)
		    : plx_ring_reserve(pair->shared, sizeof(entries[0]), n, &span);
	if (n == 0)
		return 0;
	assert_int_equal(span.index, number);
	assert_int_equal(span.count, n);
	for (uint32_t i = 0; i < n; i++) {
		struct entry *entry = plx_ring_at(&span, sizeof(*entry), i);
		uint64_t word = entries[i].word;

		entries[i].word = entry->word;
		*entry = entries[i];
		if (!pair->marked)
			entry->word = word;
		else if (pair->producer != NULL)
			plx_ring_untrusted_mark_written(pair->producer, span.index + i,
							&entry->word, word);
		else
			plx_ring_mark_written(pair->shared, span.index + i, &entry->word, word);
	}
	if (pair->producer != NULL)
		plx_ring_untrusted_commit(pair->producer, n);
	else
		plx_ring_commit(pair->shared, n);
	return n;
}

/* Returns: how many, which have the right contents */
static uint32_t
get(struct pair *pair, uint32_t number, uint32_t n)
{
	struct plx_ring_span span = {0};
	struct entry entries[CAPACITY];

	if (pair->consumer == NULL) {
		n = pair->marked ? plx_ring_peek_marked(pair->shared, sizeof(entries[0]), WORD_AT,
							n, &span)
				 : plx_ring_peek(pair->shared, sizeof(entries[0]), n, &span);
		if (n > 0) {
			plx_ring_copy(&span, sizeof(entries[0]), entries);
			plx_ring_release(pair->shared, n);
		}
	} else if (pair->marked) {
		n = dequeue_marked(pair->consumer, sizeof(entries[0]), WORD_AT, entries, n);
	} else if (pair->copies) {
		n = plx_ring_untrusted_dequeue(pair->consumer, sizeof(entries[0]), entries, n);
	} else {
		n = plx_ring_untrusted_peek(pair->consumer, sizeof(entries[0]), n, &span);
		if (n > 0) {
			assert_int_equal(span.index, number);
			plx_ring_copy(&span, sizeof(entries[0]), entries);
			plx_ring_untrusted_release(pair->consumer, n);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		check_entry(&entries[i], number + i);
	return n;
}

/* Both sides are at rest, and the ring says so to whoever asks. */
static void
check_indexes(const struct pair *pair, uint32_t in, uint32_t out)
{
	assert_int_equal(plx_ring_produced(pair->shared), in);
	assert_int_equal(plx_ring_consumed(pair->shared), out);
	assert_int_equal(plx_ring_count(pair->shared), in - out);
	assert_int_equal(pair->shared->prod.head, in);
	assert_int_equal(pair->shared->cons.head, out);
	if (pair->producer != NULL)
		assert_int_equal(plx_ring_untrusted_count(pair->producer), in - out);
	if (pair->consumer != NULL && !pair->marked)
		assert_int_equal(plx_ring_untrusted_count(pair->consumer), in - out);
}

/* Bursts of 1 to 7 entries, which the other side takes by 1 to 5, so that the ring is at times full
 * and at times empty, at every place. */
static void
pass(struct pair *pair, uint32_t from)
{
	uint32_t in = from, out = from, full = 0, empty = 0;

	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t room = CAPACITY - (in - out), want = 1 + round % CAPACITY;
		uint32_t n = put(pair, in, want);

		assert_int_equal(n, want < room ? want : room);
		full += n < want;
		in += n;
		check_indexes(pair, in, out);
		want = 1 + round % 5;
		n = get(pair, out, want);
		assert_int_equal(n, want < in - out ? want : in - out);
		out += n;
		check_indexes(pair, in, out);
		while (round % 16 == 0 && get(pair, out, 1) == 1)
			out++;
		empty += in == out;
	}
	assert_true(full > 100 && empty > 100);
	assert_false(pair->producer != NULL && pair->producer->fault);
	assert_false(pair->consumer != NULL && pair->consumer->fault);
}

/* Every way to read and write, at both ages. */
static void
pass_all(bool untrusting_producer, bool untrusting_consumer, enum plx_ring_side producers,
	 enum plx_ring_side consumers)
{
	const struct plx_ring_config config = config_of(producers, consumers);

	for (uint32_t way = 0; way < 6; way++) {
		uint32_t age = ages[way & 1];
		struct rte_ring *shared;
		struct plx_ring_untrusted producer, consumer;
		struct pair pair = {.copies = way / 2 == 1, .marked = way / 2 == 2};

		/* Marks are for one writer at a time. The first lap of a ring is an odd one. */
		if (pair.marked && producers == PLX_RING_MANY)
			continue;
		if (pair.marked)
			age -= age % (2 * SLOTS);
		shared = shared_ring(&config, age);
		pair.shared = shared;
		if (untrusting_producer) {
			producer = side_of(shared, &config, PLX_RING_PRODUCER);
			pair.producer = &producer;
		}
		if (untrusting_consumer) {
			consumer = side_of(shared, &config, PLX_RING_CONSUMER);
			pair.consumer = &consumer;
		}
		pass(&pair, age);
		unmap_ring(shared);
	}
}

static void
an_untrusting_consumer_reads_what_trusting_producers_write(void **state)
{
	(void)state;
	pass_all(false, true, PLX_RING_ONE, PLX_RING_ONE);
	pass_all(false, true, PLX_RING_MANY, PLX_RING_ONE);
}

static void
an_untrusting_producer_writes_what_trusting_consumers_read(void **state)
{
	(void)state;
	pass_all(true, false, PLX_RING_ONE, PLX_RING_ONE);
	pass_all(true, false, PLX_RING_ONE, PLX_RING_MANY);
}

static void
two_sides_that_do_not_trust_each_other_get_along(void **state)
{
	(void)state;
	pass_all(true, true, PLX_RING_ONE, PLX_RING_ONE);
}

static void
what_was_reserved_and_not_committed_is_given_back(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
	struct rte_ring *shared = shared_ring(&config, 0);
	struct plx_ring_untrusted producer = side_of(shared, &config, PLX_RING_PRODUCER);
	struct plx_ring_untrusted consumer = side_of(shared, &config, PLX_RING_CONSUMER);
	struct plx_ring_span span = {0};

	(void)state;
	for (uint32_t round = 0; round < 3 * SLOTS; round++) {
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(plx_ring_untrusted_reserve(&producer, sizeof(struct entry),
								    4, &span),
					 4);
			assert_int_equal(span.index, round);
			for (uint32_t j = 0; j < 4; j++)
				fill_entry(plx_ring_at(&span, sizeof(struct entry), j), round + j);
			plx_ring_untrusted_commit(&producer, i);
			assert_int_equal(plx_ring_produced(shared), round + i);
		}
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(
				plx_ring_untrusted_peek(&consumer, sizeof(struct entry), 4, &span),
				1);
			assert_int_equal(span.index, round);
			check_entry(plx_ring_at(&span, sizeof(struct entry), 0), round);
			plx_ring_untrusted_release(&consumer, i);
			assert_int_equal(plx_ring_consumed(shared), round + i);
		}
	}
	unmap_ring(shared);
}

/* The other side's index is in the other side's cache: one load may serve many calls. */
static void
an_index_is_loaded_when_what_is_known_does_not_suffice(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
	struct rte_ring *shared = shared_ring(&config, 0);
	struct plx_ring_untrusted producer = side_of(shared, &config, PLX_RING_PRODUCER);
	struct plx_ring_untrusted consumer = side_of(shared, &config, PLX_RING_CONSUMER);
	struct plx_ring_span span = {0};
	struct entry entry = {0};

	(void)state;
	assert_int_equal(plx_ring_untrusted_enqueue(&producer, sizeof(entry), &entry, 1), 1);
	shared->cons.tail = 1000;
	for (uint32_t i = 1; i < CAPACITY; i++)
		assert_int_equal(plx_ring_untrusted_enqueue(&producer, sizeof(entry), &entry, 1),
				 1);
	assert_false(producer.fault);
	assert_int_equal(plx_ring_untrusted_peek(&consumer, sizeof(entry), 1, &span), 1);
	shared->prod.tail = 1000;
	assert_int_equal(plx_ring_untrusted_peek(&consumer, sizeof(entry), CAPACITY, &span),
			 CAPACITY);
	assert_false(consumer.fault);
	assert_int_equal(plx_ring_untrusted_reserve(&producer, sizeof(entry), 1, &span), 0);
	assert_true(producer.fault);
	assert_int_equal(plx_ring_untrusted_peek(&consumer, sizeof(entry), CAPACITY + 1, &span), 0);
	assert_true(consumer.fault);
	unmap_ring(shared);
}

static void
refuse(const struct plx_ring_config *config, enum plx_ring_role role, struct rte_ring *shared)
{
	struct plx_ring_untrusted ring, before;

	memset(&before, 0xa5, sizeof(before));
	ring = before;
	assert_int_equal(plx_ring_untrusted_init(&ring, config, role, shared), PLX_INVALID);
	assert_memory_equal(&ring, &before, sizeof(ring));
}

static void
a_ring_that_is_not_as_configured_is_refused(void **state)
{
	(void)state;
	for (int role = PLX_RING_PRODUCER; role <= PLX_RING_CONSUMER; role++) {
		const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
		struct rte_ring *shared = shared_ring(&config, 0), good = *shared;
		struct plx_ring_config other = config;
		uint32_t *const words[] = {&shared->size, &shared->mask, &shared->capacity,
					   &shared->prod.single, &shared->cons.single};

		for (uint32_t i = 0; i < PLX_COUNT_OF(words); i++)
			for (uint32_t bit = 0; bit < 32; bit++) {
				*words[i] ^= UINT32_C(1) << bit;
				refuse(&config, role, shared);
				*shared = good;
			}
		other.entries = SLOTS;
		refuse(&other, role, shared);
		(void)side_of(shared, &config, role);
		unmap_ring(shared);
	}
}

/* Its calls are for one thread, and so leave out what excludes other threads of their side. */
static void
a_side_of_many_threads_is_refused(void **state)
{
	(void)state;
	for (int role = PLX_RING_PRODUCER; role <= PLX_RING_CONSUMER; role++) {
		const struct plx_ring_config config =
			role == PLX_RING_PRODUCER ? config_of(PLX_RING_MANY, PLX_RING_ONE)
						  : config_of(PLX_RING_ONE, PLX_RING_MANY);
		struct rte_ring *shared = shared_ring(&config, 0);

		refuse(&config, role, shared);
		unmap_ring(shared);
	}
}

/* Our own mistakes, by number; the last one is none. */
static void
blunder(uint32_t which, struct plx_ring_untrusted *producer, struct plx_ring_untrusted *consumer)
{
	struct plx_ring_span span = {0};

	if (which == 0)
		plx_ring_untrusted_commit(producer, CAPACITY + 1);
	if (which == 1)
		plx_ring_untrusted_release(consumer, 1);
	if (which == 2)
		(void)plx_ring_untrusted_reserve(consumer, sizeof(struct entry), 1, &span);
	if (which == 3)
		(void)plx_ring_untrusted_peek(producer, sizeof(struct entry), 1, &span);
	if (which == 4)
		(void)plx_ring_untrusted_reserve(producer, sizeof(struct entry) + 4, 1, &span);
}

static void
our_own_mistakes_stop_the_process(void **state)
{
	enum {
		BLUNDERS = 5
	};
	(void)state;
	for (uint32_t which = 0; which <= BLUNDERS; which++) {
		int status = 0;
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
			struct rte_ring *shared = shared_ring(&config, 0);
			struct plx_ring_untrusted producer =
				side_of(shared, &config, PLX_RING_PRODUCER);
			struct plx_ring_untrusted consumer =
				side_of(shared, &config, PLX_RING_CONSUMER);

			(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
			(void)signal(SIGILL, SIG_DFL);
			(void)signal(SIGTRAP, SIG_DFL);
			(void)plx_ring_untrusted_count(&producer);
			blunder(which, &producer, &consumer);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(WIFSIGNALED(status) != 0, which < BLUNDERS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_untrusting_consumer_reads_what_trusting_producers_write),
		cmocka_unit_test(an_untrusting_producer_writes_what_trusting_consumers_read),
		cmocka_unit_test(two_sides_that_do_not_trust_each_other_get_along),
		cmocka_unit_test(what_was_reserved_and_not_committed_is_given_back),
		cmocka_unit_test(an_index_is_loaded_when_what_is_known_does_not_suffice),
		cmocka_unit_test(a_ring_that_is_not_as_configured_is_refused),
		cmocka_unit_test(a_side_of_many_threads_is_refused),
		cmocka_unit_test(our_own_mistakes_stop_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
