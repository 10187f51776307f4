/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues on their own: order, the entry behind the ring, growing, overrun, and arming by
 * every rule of docs/nd2.md. The test plays the engine's thread. The command that resizes is in
 * tests/unit/engine/cycle/cq.c. Start with produce().
 */
#include <poll.h>

#include "eal.h"
#include "plx_engine_cq.h"
#include "plx_heap.h"
#include "test.h"

/* The engine that the queues know. */
static uint64_t spilled, overruns, notifications, forged;
static struct engine_queues queues = {.cq_spilled = &spilled,
				      .cq_overruns = &overruns,
				      .notifications = &notifications,
				      .rings_forged = &forged,
				      .socket = -1};

static struct engine_seat *seat;

static int
descriptor(struct front_owner *of, uint64_t object, int *wake_fd)
{
	(void)of;
	*wake_fd = engine_cq_fd((struct engine_cq *)(uintptr_t)object);
	return *wake_fd;
}

static enum plx_status
barrier(struct front_owner *of, uint64_t object)
{
	(void)of;
	return engine_cq_barrier((struct engine_cq *)(uintptr_t)object);
}

static struct front_owner owner = {.descriptor = descriptor, .barrier = barrier};

static struct plx_cq *
make(uint32_t depth, bool strict)
{
	const struct plx_engine_cq_config config = {
		.depth = depth, .strict = strict, .cookie = 0xc0};
	struct plx_cq *cq = plx_heap_alloc(sizeof(*cq), -1);
	struct engine_cq *back = NULL;

	assert_non_null(cq);
	assert_int_equal(engine_cq_create(seat, &config, &back), PLX_OK);
	cq_open(cq, back->front, depth, queues.inline_mode, &owner, (uintptr_t)back);
	return cq;
}

static struct engine_cq *
back_of(const struct plx_cq *cq)
{
	return (struct engine_cq *)(uintptr_t)cq->object;
}

static void
destroy_back(struct engine_cq *back)
{
	plx_list_remove(&back->spilled_link);
	plx_list_remove(&back->broken_link);
	plx_list_remove(&back->async_event_link);
	engine_cq_free(back);
}

static void
destroy(struct plx_cq *cq)
{
	struct engine_cq *back = back_of(cq);

	plx_heap_free(cq);
	destroy_back(back);
}

/* The engine's part: `n` entries, numbered on from `first`. They can be polled, but nobody has
 * been notified yet. */
static void
put_as(struct plx_cq *cq, uint64_t first, uint32_t n, uint8_t status, uint8_t flags)
{
	struct plx_wc wc[64];

	assert_true(n <= 64);
	for (uint32_t i = 0; i < n; i++)
		wc[i] = (struct plx_wc){.wr_id = first + i, .status = status, .flags = flags};
	engine_cq_push(back_of(cq), wc, n);
}

static void
produce_as(struct plx_cq *cq, uint64_t first, uint32_t n, uint8_t status, uint8_t flags)
{
	put_as(cq, first, n, status, flags);
	engine_cq_notify(back_of(cq));
}

static void
produce(struct plx_cq *cq, uint64_t first, uint32_t n)
{
	produce_as(cq, first, n, PLX_WC_SUCCESS, 0);
}

static void
consume(struct plx_cq *cq, uint64_t first, uint32_t n)
{
	struct plx_wc wc[64];

	assert_int_equal(plx_engine_cq_poll(cq, wc, n), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(wc[i].wr_id, first + i);
}

static uint32_t
arm(struct plx_cq *cq, uint32_t kinds)
{
	uint32_t fired = 0xff;

	assert_int_equal(plx_cq_arm(cq, kinds, &fired), PLX_OK);
	/* A queue that fired at once is reported only here, and is not armed any more. */
	assert_int_equal(plx_cq_get_event(cq), 0);
	return fired;
}

/* ---- room ---- */

static void
give_room(struct plx_cq *cq, uint32_t more)
{
	uint32_t room = engine_cq_spare_room(back_of(cq), 7, more);
	struct plx_wc *spare = plx_heap_queue(room * sizeof(*spare), -1);

	assert_non_null(spare);
	assert_int_equal(engine_cq_grow(back_of(cq), 7, more, &spare, room), PLX_OK);
	plx_heap_free(spare);
}

static void
what_the_ring_cannot_hold_waits_behind_it_in_order(void **state)
{
	struct plx_cq *cq = make(7, false);
	uint64_t in = 0, out = 0;
	(void)state;
	give_room(cq, 20);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t n = 1 + round % 20;

		produce(cq, in, n);
		in += n;
		assert_int_equal(plx_list_empty(&back_of(cq)->spilled_link), in - out <= 7);
		assert_int_equal(engine_cq_unreaped(back_of(cq)), in - out);
		while (out < in) {
			uint32_t part = in - out < 5 ? (uint32_t)(in - out) : 5;

			consume(cq, out, part);
			out += part;
			if (!plx_list_empty(&back_of(cq)->spilled_link))
				engine_cq_refill(back_of(cq));
		}
		consume(cq, out, 0);
		assert_true(plx_list_empty(&back_of(cq)->spilled_link));
	}
	assert_true(spilled > 100);
	assert_int_equal(overruns, 0);
	destroy(cq);
}

static void
a_peek_shows_what_a_poll_would_take(void **state)
{
	struct plx_cq *cq = make(7, false);
	uint32_t wrapped = 0;
	uint64_t out = 0;

	(void)state;
	give_room(cq, 20);
	for (uint32_t round = 0; round < 50; round++) {
		struct plx_wc_span span = {0};
		uint32_t n = 1 + round % 7;

		assert_true(plx_cq_looks_empty(cq));
		assert_int_equal(plx_engine_cq_peek(cq, 7, &span), 0);
		produce(cq, out, n);
		assert_false(plx_cq_looks_empty(cq));
		assert_int_equal(plx_engine_cq_peek(cq, 7, &span), n);
		assert_int_equal(span.count, n);
		assert_true(span.first >= 1 && span.first <= n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(
				(i < span.first ? &span.at[i] : &span.more[i - span.first])->wr_id,
				out + i);
		wrapped += span.first < n;
		/* nothing is consumed yet */
		assert_int_equal(engine_cq_unreaped(back_of(cq)), n);
		plx_cq_release(cq, &span);
		assert_int_equal(engine_cq_unreaped(back_of(cq)), 0);
		out += n;
	}
	assert_true(wrapped > 5);
	produce(cq, out, 5);
	{
		struct plx_wc_span span;

		assert_int_equal(plx_engine_cq_peek(cq, 2, &span), 2);
		plx_cq_release(cq, &span);
	}
	consume(cq, out + 2, 3);
	destroy(cq);
}

static void
growing_keeps_what_waits(void **state)
{
	struct plx_cq *cq = make(7, false);
	struct plx_wc *spare = NULL;
	(void)state;
	give_room(cq, 20);
	produce(cq, 0, 15);
	consume(cq, 0, 5);
	engine_cq_refill(back_of(cq));
	produce(cq, 15, 5);
	/* Without a spare nothing changes, and with one that is too small. */
	assert_int_equal(engine_cq_grow(back_of(cq), 7, 100, &spare, 0), PLX_AGAIN);
	spare = plx_heap_queue(30 * sizeof(*spare), -1);
	assert_int_equal(engine_cq_grow(back_of(cq), 7, 100, &spare, 30), PLX_AGAIN);
	plx_heap_free(spare);
	assert_int_equal(atomic_load(&back_of(cq)->reserve), 20);
	give_room(cq, 100);
	produce(cq, 20, 60);
	for (uint64_t out = 5; out < 80; out += 3) {
		consume(cq, out, 3);
		engine_cq_refill(back_of(cq));
	}
	consume(cq, 80, 0);
	destroy(cq);
}

static void
a_queue_of_no_depth_or_too_much_is_refused(void **state)
{
	enum {
		MANY = 32
	};
	struct plx_engine_cq_config config = {.depth = 0};
	struct engine_cq *many[MANY] = {NULL};
	enum plx_status status = PLX_OK;
	int n = 0;
	(void)state;
	assert_int_equal(engine_cq_create(seat, &config, &many[0]), PLX_INVALID);
	config.depth = PLX_CQ_DEPTH_MAX + 1;
	assert_int_equal(engine_cq_create(seat, &config, &many[0]), PLX_INVALID);
	assert_null(many[0]);
	/* 64 MiB of addresses each, and a few pages: more than the test's heap of 512 MiB has. */
	config.depth = PLX_CQ_DEPTH_MAX;
	while (n < MANY && (status = engine_cq_create(seat, &config, &many[n])) == PLX_OK)
		n++;
	assert_int_equal(status, PLX_OK);
	assert_int_equal(n, MANY);
	while (n-- > 0)
		destroy_back(many[n]);
}

/* ---- overrun ---- */

static void
a_strict_queue_overruns_at_its_depth_and_tells_all(void **state)
{
	struct plx_cq *cq = make(5, true);
	uint32_t fired;
	(void)state;
	produce(cq, 0, 5);
	/* The first five are new; from here on only later ones count. */
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ALL), 0);
	produce(cq, 5, 1);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ALL);
	assert_int_equal(overruns, 1);
	/* Nothing was overwritten; further entries are rejected. */
	produce(cq, 6, 1);
	consume(cq, 0, 5);
	consume(cq, 5, 0);
	produce(cq, 7, 1);
	consume(cq, 7, 0);
	for (uint32_t kind = 1; kind < PLX_CQ_NOTIFY_ALL; kind <<= 1) {
		assert_int_equal(plx_cq_arm(cq, kind, &fired), PLX_FULL);
		assert_int_equal(fired, kind);
	}
	assert_int_equal(overruns, 1);
	destroy(cq);
}

static void
a_queue_that_is_not_strict_overruns_when_no_place_is_left(void **state)
{
	struct plx_cq *cq = make(7, false);
	uint32_t room;
	(void)state;
	give_room(cq, 20);
	room = 7 + back_of(cq)->spill_room;
	assert_true(room >= 20);
	for (uint32_t i = 0; i < room; i++)
		produce(cq, i, 1);
	assert_false(back_of(cq)->overrun);
	produce(cq, room, 1);
	assert_true(back_of(cq)->overrun);
	destroy(cq);
}

/* A program can write anything there. */
static void
a_queue_whose_index_was_forged_overruns(void **state)
{
	struct plx_cq *cq = make(7, false);
	uint64_t before = overruns;

	(void)state;
	give_room(cq, 20);
	forged = 0;
	produce(cq, 0, 7);
	cq->ring->cons.tail -= 1000;
	produce(cq, 7, 1);
	assert_int_equal(forged, 1);
	assert_int_equal(overruns, before + 1);
	assert_true(plx_list_empty(&back_of(cq)->spilled_link));
	produce(cq, 8, 1);
	assert_int_equal(forged, 1);
	destroy(cq);
}

/* ---- arming ---- */

static void
it_starts_unarmed_and_fires_once(void **state)
{
	struct plx_cq *cq = make(63, false);
	struct plx_engine_cq_view view;
	(void)state;
	produce(cq, 0, 1);
	assert_int_equal(plx_cq_get_event(cq), 0);
	consume(cq, 0, 1);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	plx_engine_cq_query(cq, &view);
	assert_int_equal(view.armed, PLX_CQ_NOTIFY_ANY);
	assert_int_equal(view.produced, 1);
	assert_int_equal(view.consumed, 1);
	produce(cq, 1, 1);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	produce(cq, 2, 1);
	assert_int_equal(plx_cq_get_event(cq), 0);
	assert_int_equal(plx_cq_arm(cq, 0, NULL), PLX_INVALID);
	assert_int_equal(plx_cq_arm(cq, PLX_CQ_NOTIFY_ALL + 1, NULL), PLX_INVALID);
	assert_int_equal(plx_cq_arm(cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	destroy(cq);
}

static void
entries_before_the_first_arm_are_news(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	produce(cq, 0, 2);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	destroy(cq);
}

static void
entries_that_were_told_of_do_not_fire_again_though_unread(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	produce(cq, 0, 5);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	consume(cq, 0, 1);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	consume(cq, 1, 4);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	produce(cq, 5, 1);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	/* One that came after the notification, and was not read. */
	produce(cq, 6, 1);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	destroy(cq);
}

static void
solicited_fires_for_what_was_asked_for_and_for_errors(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	produce(cq, 0, 3);
	assert_int_equal(plx_cq_get_event(cq), 0);
	produce_as(cq, 3, 1, PLX_WC_SUCCESS, PLX_WC_RECV | PLX_WC_SOLICITED);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_SOLICITED);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	produce_as(cq, 4, 1, PLX_WC_FLUSHED, 0);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_SOLICITED);
	/* An error that came while nothing was armed; and one that was read since. */
	produce_as(cq, 5, 1, PLX_WC_FLUSHED, 0);
	produce(cq, 6, 1);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), PLX_CQ_NOTIFY_SOLICITED);
	produce_as(cq, 7, 1, PLX_WC_FLUSHED, 0);
	produce(cq, 8, 1);
	consume(cq, 0, 8);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	destroy(cq);
}

static void
plain_successes_stay_news_for_any(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	produce(cq, 0, 1);
	assert_int_equal(plx_cq_get_event(cq), 0);
	/* A later notify for any entry ends both. */
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	produce(cq, 1, 1);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED);
	destroy(cq);
}

/* A poller may be faster than the engine, which checks for arming after it has published an
 * entry. */
static void
an_entry_fires_what_was_armed_before_it_though_it_was_polled_first(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	put_as(cq, 0, 1, PLX_WC_SUCCESS, PLX_WC_RECV | PLX_WC_SOLICITED);
	consume(cq, 0, 1);
	/* Armed after that entry was polled, and armed a second time. */
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED), 0);
	engine_cq_notify(back_of(cq));
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_SOLICITED);
	put_as(cq, 1, 1, PLX_WC_SUCCESS, 0);
	consume(cq, 1, 1);
	assert_int_equal(plx_cq_get_event(cq), 0);
	engine_cq_notify(back_of(cq));
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	/* Nothing is left armed, and nothing is news. */
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED), 0);
	destroy(cq);
}

static void
an_entry_that_was_polled_before_arming_is_no_news(void **state)
{
	struct plx_cq *cq = make(63, false);
	(void)state;
	put_as(cq, 0, 2, PLX_WC_FLUSHED, 0);
	consume(cq, 0, 2);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED), 0);
	engine_cq_notify(back_of(cq));
	assert_int_equal(plx_cq_get_event(cq), 0);
	produce_as(cq, 2, 1, PLX_WC_FLUSHED, 0);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED);
	destroy(cq);
}

static void
errors_means_the_queue_and_not_its_entries(void **state)
{
	struct plx_cq *cq = make(63, false);
	struct plx_engine_cq_view view;
	(void)state;
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ERRORS), 0);
	produce_as(cq, 0, 1, PLX_WC_FLUSHED, 0);
	produce_as(cq, 1, 1, PLX_WC_SUCCESS, PLX_WC_SOLICITED);
	assert_int_equal(plx_cq_get_event(cq), 0);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	plx_engine_cq_query(cq, &view);
	assert_int_equal(view.armed, PLX_CQ_NOTIFY_ERRORS);
	destroy(cq);
}

/* What waits behind the ring cannot be taken: it is new when it comes into the ring. */
static void
entries_behind_the_ring_are_told_of_when_they_can_be_taken(void **state)
{
	struct plx_cq *cq = make(7, false);
	(void)state;
	give_room(cq, 20);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	produce(cq, 0, 9);
	produce_as(cq, 9, 1, PLX_WC_FLUSHED, 0);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	consume(cq, 0, 7);
	consume(cq, 7, 0);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY), 0);
	engine_cq_refill(back_of(cq));
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	consume(cq, 7, 3);
	/* The same with an error that had to wait. */
	produce(cq, 10, 8);
	produce_as(cq, 18, 1, PLX_WC_FLUSHED, 0);
	consume(cq, 10, 7);
	assert_int_equal(arm(cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	engine_cq_refill(back_of(cq));
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_SOLICITED);
	destroy(cq);
}

/* As if this many entries had passed and the queue had never been armed. */
static void
age(struct plx_cq *cq, uint64_t entries)
{
	back_of(cq)->made = entries;
	atomic_store(&cq->front->produced, entries);
	back_of(cq)->ring.index = back_of(cq)->ring.limit = (uint32_t)entries;
	cq->ring->prod.head = cq->ring->prod.tail = (uint32_t)entries;
	cq->ring->cons.head = cq->ring->cons.tail = (uint32_t)entries;
}

static void
arming_works_after_billions_of_entries(void **state)
{
	static const uint64_t ages[] = {INT32_MAX - 3ull, INT32_MAX + 1ull, UINT32_MAX - 3ull,
					UINT32_MAX * 5ull, UINT32_MAX * 5ull + INT32_MAX};
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(ages); i++) {
		struct plx_cq *cq = make(63, false);
		struct plx_engine_cq_view view;

		age(cq, ages[i]);
		assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED), 0);
		produce_as(cq, 0, 5, PLX_WC_FLUSHED, 0);
		assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED);
		consume(cq, 0, 1);
		assert_int_equal(arm(cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED), 0);
		plx_engine_cq_query(cq, &view);
		assert_int_equal(view.produced, ages[i] + 5);
		assert_int_equal(view.consumed, ages[i] + 1);
		destroy(cq);
	}
}

/* ---- descriptors ---- */

static bool
readable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 0) == 1;
}

static void
the_descriptor_is_readable_while_something_has_fired(void **state)
{
	struct plx_cq *cq = make(63, false);
	uint64_t woken = notifications;
	int fd;
	(void)state;
	assert_int_equal(plx_cq_arm(cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	produce(cq, 0, 1);
	assert_int_equal(notifications, woken + 1);
	/* It fired before anybody requested a descriptor. */
	fd = plx_cq_fd(cq);
	assert_true(fd >= 0);
	assert_int_equal(plx_cq_fd(cq), fd);
	assert_true(readable(fd));
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	assert_false(readable(fd));
	assert_int_equal(plx_cq_get_event(cq), 0);
	assert_int_equal(plx_cq_arm(cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_false(readable(fd));
	produce(cq, 1, 1);
	assert_true(readable(fd));
	assert_int_equal(plx_cq_arm(cq, PLX_CQ_NOTIFY_ALL, NULL), PLX_OK);
	assert_int_equal(plx_cq_get_event(cq), PLX_CQ_NOTIFY_ANY);
	assert_false(readable(fd));
	destroy(cq);
}

static int
set_up(void **state)
{
	(void)state;
	test_eal_start();
	front_memory_init(&queues.memory, -1);
	plx_list_init(&queues.spilled);
	plx_list_init(&queues.broken);
	plx_list_init(&queues.eventful);
	spilled = overruns = notifications = 0;
	return engine_seat_create(&queues, NULL, 64, 1, 4, &seat) == PLX_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	if (atomic_load(&seat->users) != 0)
		return -1;
	engine_seat_free(seat);
	return atomic_load(&queues.users) == 0 ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_the_ring_cannot_hold_waits_behind_it_in_order),
		TEST(a_peek_shows_what_a_poll_would_take),
		TEST(growing_keeps_what_waits),
		TEST(a_queue_of_no_depth_or_too_much_is_refused),
		TEST(a_strict_queue_overruns_at_its_depth_and_tells_all),
		TEST(a_queue_that_is_not_strict_overruns_when_no_place_is_left),
		TEST(a_queue_whose_index_was_forged_overruns),
		TEST(it_starts_unarmed_and_fires_once),
		TEST(entries_before_the_first_arm_are_news),
		TEST(entries_that_were_told_of_do_not_fire_again_though_unread),
		TEST(solicited_fires_for_what_was_asked_for_and_for_errors),
		TEST(plain_successes_stay_news_for_any),
		TEST(an_entry_fires_what_was_armed_before_it_though_it_was_polled_first),
		TEST(an_entry_that_was_polled_before_arming_is_no_news),
		TEST(errors_means_the_queue_and_not_its_entries),
		TEST(entries_behind_the_ring_are_told_of_when_they_can_be_taken),
		TEST(arming_works_after_billions_of_entries),
		TEST(the_descriptor_is_readable_while_something_has_fired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
