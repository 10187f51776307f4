/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A side that does not trust the other, while the other lies: about its index, about this side's,
 * about the geometry, about entries. What is outside the ring is a page that no access survives.
 * Start with lies_about_the_index_are_faults().
 */
#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>

static const enum plx_ring_role roles[] = {PLX_RING_PRODUCER, PLX_RING_CONSUMER};

/* What the other side claims of itself. */
static void
claim(struct rte_ring *shared, enum plx_ring_role mine, uint32_t index)
{
	volatile uint32_t *theirs =
		mine == PLX_RING_PRODUCER ? &shared->cons.tail : &shared->prod.tail;

	__atomic_store_n(theirs, index, __ATOMIC_RELEASE);
}

static uint32_t
begin(struct plx_ring_untrusted *ring, uint32_t n, struct plx_ring_span *span)
{
	return ring->role == PLX_RING_PRODUCER
		       ? plx_ring_untrusted_reserve(ring, sizeof(struct entry), n, span)
		       : plx_ring_untrusted_peek(ring, sizeof(struct entry), n, span);
}

static void
finish(struct plx_ring_untrusted *ring, uint32_t n)
{
	if (ring->role == PLX_RING_PRODUCER)
		plx_ring_untrusted_commit(ring, n);
	else
		plx_ring_untrusted_release(ring, n);
}

/* The span is of this ring, in every byte; where it is not, touching it ends the test. */
static void
check_span(const struct rte_ring *shared, const struct plx_ring_span *span, uint32_t index,
	   uint32_t n)
{
	const uint8_t *entries = (const uint8_t *)(shared + 1);

	assert_int_equal(span->count, n);
	assert_int_equal(span->index, index);
	assert_true(n >= 1 && n <= CAPACITY);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *entry = plx_ring_at(span, sizeof(struct entry), i);

		assert_ptr_equal(entry, entries + (index + i) % SLOTS * sizeof(struct entry));
		entry[0]++;
		entry[sizeof(struct entry) - 1]++;
	}
}

/* Returns: what an honest side at this distance leaves to us; 0: also when it is a lie */
static uint32_t
left_by(enum plx_ring_role mine, int64_t distance)
{
	if (distance < 0 || distance > CAPACITY)
		return 0;
	return mine == PLX_RING_PRODUCER ? CAPACITY - (uint32_t)distance : (uint32_t)distance;
}

/* The other side claims to be `distance` away, in the direction of the ring. */
static void
try_distance(enum plx_ring_role mine, uint32_t age, int64_t distance)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
	struct rte_ring *shared = shared_ring(&config, age);
	struct plx_ring_untrusted ring = side_of(shared, &config, mine);
	struct plx_ring_span span = {0};
	uint32_t theirs =
		mine == PLX_RING_PRODUCER ? age - (uint32_t)distance : age + (uint32_t)distance;
	bool honest = distance >= 0 && distance <= CAPACITY;
	uint32_t left = left_by(mine, distance);

	claim(shared, mine, theirs);
	assert_int_equal(begin(&ring, UINT32_MAX, &span), left);
	assert_int_equal(ring.fault, !honest);
	assert_int_equal(plx_ring_untrusted_count(&ring),
			 mine == PLX_RING_PRODUCER ? CAPACITY - left : left);
	if (left > 0) {
		check_span(shared, &span, age, left);
		finish(&ring, left);
		assert_int_equal(ring.index, age + left);
	} else {
		assert_int_equal(ring.index, age);
	}
	/* A side that has lied once is not believed again. */
	claim(shared, mine, ring.index);
	if (!honest)
		assert_int_equal(begin(&ring, 1, &span), 0);
	assert_int_equal(ring.fault, !honest);
	unmap_ring(shared);
}

static void
lies_about_the_index_are_faults(void **state)
{
	(void)state;
	for (size_t role = 0; role < PLX_COUNT_OF(roles); role++)
		for (uint32_t at = 0; at < 4 * SLOTS; at++) {
			uint32_t age = at - 2 * SLOTS;

			for (int64_t d = -3 * SLOTS; d <= 3 * SLOTS; d++)
				try_distance(roles[role], age, d);
			for (uint32_t bit = 3; bit < 32; bit++)
				for (int64_t d = -1; d <= 1; d++)
					if ((INT64_C(1) << bit) + d > CAPACITY)
						try_distance(roles[role], age,
							     (INT64_C(1) << bit) + d);
		}
}

static void
an_index_that_retreats_is_a_fault_and_what_was_given_is_still_ours(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);

	(void)state;
	for (size_t role = 0; role < PLX_COUNT_OF(roles); role++)
		for (uint32_t back = 1; back <= CAPACITY; back++) {
			struct rte_ring *shared = shared_ring(&config, 5);
			struct plx_ring_untrusted ring = side_of(shared, &config, roles[role]);
			bool producer = roles[role] == PLX_RING_PRODUCER;
			uint32_t most = producer ? 5 : 5 + CAPACITY;
			struct plx_ring_span span = {0};

			claim(shared, roles[role], most);
			assert_int_equal(begin(&ring, CAPACITY, &span), CAPACITY);
			claim(shared, roles[role], most - back);
			assert_int_equal(plx_ring_untrusted_count(&ring), producer ? CAPACITY : 0);
			assert_true(ring.fault);
			check_span(shared, &span, 5, CAPACITY);
			finish(&ring, CAPACITY);
			assert_int_equal(ring.index, 5 + CAPACITY);
			claim(shared, roles[role], ring.index);
			assert_int_equal(begin(&ring, 1, &span), 0);
			unmap_ring(shared);
		}
}

/* All that is in the ring's struct, but for the indexes. */
static void
forge_geometry(struct rte_ring *shared, uint32_t value)
{
	shared->size = shared->mask = shared->capacity = value;
	shared->prod.single = shared->cons.single = value;
	shared->flags = (int)value;
	shared->memzone = NULL;
	memset(shared->name, (int)value, sizeof(shared->name));
}

/* Write or read four entries while the geometry and this side's own index say `forged`, and
 * somebody seems to be between reserve and commit on either side. */
static void
put_while_forged(struct plx_ring_untrusted *ring, uint32_t forged, bool marked)
{
	struct rte_ring *shared = ring->shared;
	uint32_t in = ring->index;
	struct entry entries[4];
	struct plx_ring_span span = {0};

	for (uint32_t i = 0; i < 4; i++)
		fill_entry(&entries[i], in + i);
	forge_geometry(shared, forged);
	shared->prod.head = shared->prod.tail = shared->cons.head = forged;
	if (marked) {
		assert_int_equal(plx_ring_untrusted_reserve(ring, sizeof(entries[0]), 4, &span), 4);
		for (uint32_t i = 0; i < 4; i++) {
			struct entry *entry = plx_ring_at(&span, sizeof(*entry), i);

			*entry = entries[i];
			plx_ring_untrusted_mark_written(ring, in + i, &entry->word, entry->word);
		}
		plx_ring_untrusted_commit(ring, 4);
	} else {
		assert_int_equal(plx_ring_untrusted_enqueue(ring, sizeof(entries[0]), entries, 4),
				 4);
	}
	assert_int_equal(shared->prod.head, in + 4);
	assert_int_equal(shared->prod.tail, in + 4);
}

static void
get_while_forged(struct plx_ring_untrusted *ring, uint32_t forged, bool marked)
{
	struct rte_ring *shared = ring->shared;
	uint32_t out = ring->index;
	struct entry got[SLOTS];

	forge_geometry(shared, forged);
	shared->prod.head = shared->cons.head = shared->cons.tail = forged;
	if (!marked)
		assert_int_equal(plx_ring_untrusted_count(ring), 4);
	assert_int_equal(marked ? dequeue_marked(ring, sizeof(got[0]), WORD_AT, got, SLOTS)
				: plx_ring_untrusted_dequeue(ring, sizeof(got[0]), got, SLOTS),
			 4);
	for (uint32_t i = 0; i < 4; i++)
		check_entry(&got[i], out + i);
	assert_int_equal(shared->cons.head, out + 4);
	assert_int_equal(shared->cons.tail, out + 4);
}

static void
nothing_but_the_other_index_is_believed(void **state)
{
	static const uint32_t values[] = {0, 1, 2, 7, 9, 16, 1 << 20, INT32_MAX, UINT32_MAX};
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);

	(void)state;
	for (size_t v = 0; v < 2 * PLX_COUNT_OF(values); v++) {
		struct rte_ring *shared = shared_ring(&config, 0);
		struct plx_ring_untrusted producer = side_of(shared, &config, PLX_RING_PRODUCER);
		struct plx_ring_untrusted consumer = side_of(shared, &config, PLX_RING_CONSUMER);

		for (uint32_t round = 0; round < 200; round++) {
			put_while_forged(&producer, values[v / 2], v & 1);
			get_while_forged(&consumer, values[v / 2], v & 1);
		}
		unmap_ring(shared);
	}
}

/* Anything anywhere in the ring; half of the time an index that is nearly right. */
static void
scribble(struct plx_prng *prng, struct rte_ring *shared, const struct plx_ring_untrusted *ring)
{
	uint64_t *words = (uint64_t *)shared;
	size_t n = (sizeof(*shared) + SLOTS * sizeof(struct entry)) / sizeof(*words);

	for (uint64_t i = plx_prng_below(prng, 20); i > 0; i--)
		words[plx_prng_below(prng, n)] = plx_prng_next(prng);
	if (plx_prng_below(prng, 2) == 0)
		claim(shared, ring->role,
		      ring->index + (uint32_t)plx_prng_below(prng, 4 * SLOTS) - 2 * SLOTS);
}

/* One step of our side. Returns: how many entries it took */
static uint32_t
step(struct plx_prng *prng, struct rte_ring *shared, struct plx_ring_untrusted *ring)
{
	struct entry entries[2 * SLOTS];
	uint32_t index = ring->index, n = (uint32_t)plx_prng_below(prng, 2 * SLOTS);
	struct plx_ring_span span = {0};
	uint32_t got;

	switch (plx_prng_below(prng, 4)) {
	case 0:
		memset(entries, 0, sizeof(entries));
		got = ring->role == PLX_RING_PRODUCER
			      ? plx_ring_untrusted_enqueue(ring, sizeof(entries[0]), entries, n)
			      : plx_ring_untrusted_dequeue(ring, sizeof(entries[0]), entries, n);
		break;
	case 1:
		if (ring->role == PLX_RING_PRODUCER)
			return 0;
		got = dequeue_marked(ring, sizeof(entries[0]), WORD_AT, entries, n);
		break;
	case 2:
		assert_true(plx_ring_untrusted_count(ring) <= CAPACITY);
		return 0;
	default:
		got = begin(ring, n, &span);
		if (got > 0) {
			check_span(shared, &span, index, got);
			got = (uint32_t)plx_prng_below(prng, got + 1);
			finish(ring, got);
		}
		break;
	}
	assert_true(got <= n && got <= CAPACITY);
	assert_int_equal(ring->index, index + got);
	return got;
}

static void
no_lie_leads_out_of_the_ring(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);

	(void)state;
	for (size_t role = 0; role < PLX_COUNT_OF(roles); role++) {
		struct rte_ring *shared = shared_ring(&config, UINT32_MAX - 1000);
		struct plx_ring_untrusted ring = side_of(shared, &config, roles[role]);
		const struct plx_ring_untrusted first = ring;
		uint32_t faults = 0, passed = 0;
		struct plx_prng prng;

		plx_prng_init(&prng, 20 + role);
		for (uint32_t i = 0; i < 100000; i++) {
			scribble(&prng, shared, &ring);
			passed += step(&prng, shared, &ring);
			assert_memory_equal(&ring, &first,
					    offsetof(struct plx_ring_untrusted, index));
			faults += ring.fault;
			ring.fault = false; /* on with the next lie */
		}
		assert_true(faults > 10000 && passed > 10000);
		unmap_ring(shared);
	}
}

static void
a_copy_stays_what_it_was(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);

	(void)state;
	for (uint32_t marked = 0; marked < 2; marked++) {
		struct rte_ring *shared = shared_ring(&config, 6);
		struct plx_ring_untrusted ring = side_of(shared, &config, PLX_RING_CONSUMER);
		struct entry entries[4], got[4];

		for (uint32_t i = 0; i < 4; i++) {
			fill_entry(&entries[i], 6 + i);
			entries[i].word &= ~PLX_RING_MARK;
			/* The first lap is an odd one. */
			entries[i].word |= marked && 6 + i < SLOTS ? PLX_RING_MARK : 0;
		}
		assert_int_equal(plx_ring_enqueue(shared, sizeof(entries[0]), entries, 4), 4);
		assert_int_equal(marked ? dequeue_marked(&ring, sizeof(got[0]), WORD_AT, got, 4)
					: plx_ring_untrusted_dequeue(&ring, sizeof(got[0]), got, 4),
				 4);
		memset(shared + 1, 0xa5, SLOTS * sizeof(got[0]));
		assert_memory_equal(got, entries, sizeof(got));
		unmap_ring(shared);
	}
}

/* Marks everywhere: as many entries as a ring can hold are there, and no place twice. */
static void
marks_alone_give_no_more_than_a_full_ring(void **state)
{
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);
	struct rte_ring *shared = shared_ring(&config, 4);
	struct plx_ring_untrusted ring = side_of(shared, &config, PLX_RING_CONSUMER);
	struct entry *places = (struct entry *)(shared + 1), got[2 * SLOTS];

	(void)state;
	for (uint32_t i = 0; i < SLOTS; i++) {
		places[i].number = i;
		places[i].word = i < 4 ? 0 : PLX_RING_MARK;
	}
	memset(got, 0xa5, sizeof(got));
	assert_int_equal(dequeue_marked(&ring, sizeof(got[0]), WORD_AT, got, 2 * SLOTS), CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++)
		assert_int_equal(got[i].number, (4 + i) % SLOTS);
	assert_int_equal(got[CAPACITY].number, UINT64_C(0xa5a5a5a5a5a5a5a5));
	/* Ahead of what is committed: an index would mean nothing here. */
	assert_int_equal(plx_ring_untrusted_count(&ring), 0);
	assert_true(ring.fault);
	unmap_ring(shared);
}

/* ---- lies between two instructions ---- */

struct flipper {
	struct rte_ring *shared;
	enum plx_ring_role mine;
	atomic_bool stop;
};

/* The other side's index, right and wrong in turn. */
static void *
flip(void *arg)
{
	struct flipper *flipper = arg;

	for (uint32_t i = 0; !atomic_load_explicit(&flipper->stop, memory_order_relaxed); i++)
		claim(flipper->shared, flipper->mine, i & 1 ? 3 : UINT32_C(1) << 31);
	return NULL;
}

/* One look at the ring by the index. Returns: was the index believed? */
static bool
look_by_index(struct plx_ring_untrusted ring, uint32_t expected)
{
	struct plx_ring_span span = {0};
	uint32_t n = begin(&ring, UINT32_MAX, &span);

	if (n != (ring.fault ? 0 : expected) || ring.limit != ring.index + n)
		fail_msg("%u entries, limit %u", n, ring.limit);
	return n > 0;
}

/* What was checked is what is used: were the index loaded a second time, the other value would
 * show. That takes a change between two loads, so it looks until it has met many
 * changes, or for a while on a machine that never runs both threads at once. */
static void
nothing_is_loaded_twice(void **state)
{
	enum {
		CHANGES = 200000,
		LOOKS_MAX = 30000000
	};
	const struct plx_ring_config config = config_of(PLX_RING_ONE, PLX_RING_ONE);

	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		enum plx_ring_role mine = roles[way];
		struct flipper flipper = {.shared = shared_ring(&config, 3), .mine = mine};
		struct plx_ring_untrusted ring;
		uint32_t changes = 0;
		bool before = false;
		pthread_t thread;

		/* The claim of 3 is an empty ring, or one that holds three entries. */
		if (mine == PLX_RING_CONSUMER)
			flipper.shared->cons.tail = 0;
		ring = side_of(flipper.shared, &config, mine);
		assert_int_equal(pthread_create(&thread, NULL, flip, &flipper), 0);
		for (uint32_t i = 0; i < LOOKS_MAX && changes < CHANGES; i++) {
			bool now = look_by_index(ring, mine == PLX_RING_CONSUMER ? 3 : CAPACITY);

			changes += now != before;
			before = now;
		}
		atomic_store(&flipper.stop, true);
		pthread_join(thread, NULL);
		assert_true(changes > 2);
		unmap_ring(flipper.shared);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies_about_the_index_are_faults),
		cmocka_unit_test(
			an_index_that_retreats_is_a_fault_and_what_was_given_is_still_ours),
		cmocka_unit_test(nothing_but_the_other_index_is_believed),
		cmocka_unit_test(no_lie_leads_out_of_the_ring),
		cmocka_unit_test(a_copy_stays_what_it_was),
		cmocka_unit_test(marks_alone_give_no_more_than_a_full_ring),
		cmocka_unit_test(nothing_is_loaded_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
