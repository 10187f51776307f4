/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues on their own: how many entries can be posted, when the engine fetches them,
 * and which posted entries it refuses. The test plays the engine's thread. Start with post().
 */
#include "eal.h"
#include "plx_engine_rq.h"
#include "plx_heap.h"
#include "test.h"

enum {
	DEPTH = 8,
	SGES = 6, /* more than a slot holds */
};

/* The engine that the queues know. */
static uint64_t posts_refused, rings_forged;
static struct engine_queues queues = {
	.posts_refused = &posts_refused, .rings_forged = &rings_forged, .socket = -1};

static struct engine_seat *seat;
static struct engine_srq *back;
static struct plx_srq *srq;

static int
set_up(void **state)
{
	const struct plx_engine_srq_config config = {.depth = DEPTH, .sges = SGES};

	(void)state;
	test_eal_start();
	posts_refused = rings_forged = 0;
	plx_list_init(&queues.broken_rqs);
	front_memory_init(&queues.memory, -1);
	if (engine_seat_create(&queues, NULL, 64, 1, 4, &seat) != PLX_OK ||
	    engine_srq_create(seat, &config, &back) != PLX_OK)
		return -1;
	srq = plx_heap_alloc(sizeof(*srq), -1);
	if (srq == NULL)
		return -1;
	rq_open(&srq->queue, back->queue.front, DEPTH, SGES, NULL, NULL);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	plx_heap_free(srq);
	engine_srq_free(back);
	engine_seat_free(seat);
	return atomic_load(&queues.users) == 0 ? 0 : -1;
}

/* `n` requests of `sges` SGEs each, one at a time.
 * Returns: how many were posted */
static uint32_t
post(uint32_t n, uint32_t sges, enum plx_status *status)
{
	const struct plx_sge sge[SGES + 1] = {{0}};
	const struct plx_recv_wr wr = {.sges = sges, .sge = sge};
	uint32_t posted = 0;

	while (n-- > 0)
		posted += plx_post_srq_recv(srq, &wr, 1, status);
	return posted;
}

static void
no_more_than_the_depth_are_posted_until_places_are_free(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(DEPTH, 1, &status), DEPTH);
	assert_int_equal(plx_engine_srq_count(srq), DEPTH);
	assert_int_equal(post(1, 1, &status), 0);
	assert_int_equal(status, PLX_FULL);
	/* In the transport, but no message has used one. */
	assert_int_equal(engine_rq_fetch(&back->queue), DEPTH);
	engine_rq_publish_now(&back->queue);
	assert_int_equal(post(1, 1, &status), 0);
	assert_int_equal(status, PLX_FULL);
}

static void
a_smaller_queue_takes_fewer(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(3, 1, &status), 3);
	assert_int_equal(plx_srq_resize(srq, 2), PLX_BUSY);
	assert_int_equal(plx_srq_resize(srq, DEPTH + 1), PLX_INVALID);
	assert_int_equal(plx_srq_resize(srq, 4), PLX_OK);
	assert_int_equal(post(2, 1, &status), 1);
	assert_int_equal(status, PLX_FULL);
}

static void
the_ring_is_looked_into_when_the_queue_behind_it_runs_low(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(2, 1, &status), 2);
	engine_rq_feed(&back->queue);
	assert_int_equal(plx_rq_count(back->queue.rq), 2);
	back->queue.low = 2;
	assert_int_equal(post(2, 1, &status), 2);
	engine_rq_feed(&back->queue);
	assert_int_equal(plx_rq_count(back->queue.rq), 2);
	back->queue.low = 3;
	engine_rq_feed(&back->queue);
	assert_int_equal(plx_rq_count(back->queue.rq), 4);
}

static void
too_many_sges_are_refused_when_posted(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(1, SGES + 1, &status), 0);
	assert_int_equal(status, PLX_TOO_MANY_SGES);
	assert_int_equal(post(1, SGES, &status), 1);
	assert_int_equal(engine_rq_fetch(&back->queue), 1);
	assert_int_equal(posts_refused, 0);
}

/* As an attacker can do who has the ring's memory and bypasses our functions. */
static void
what_was_changed_in_the_ring_is_refused_when_it_arrives(void **state)
{
	static const uint32_t bad[] = {SGES + 1, PLX_SGE_MAX + 1, UINT32_MAX};
	struct plx_ring_span span = {0};
	enum plx_status status;

	(void)state;
	assert_int_equal(post(5, 1, &status), 5);
	assert_int_equal(plx_ring_peek(srq->queue.ring, sizeof(struct recv_slot), DEPTH, &span), 5);
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++) {
		struct recv_slot *slot = plx_ring_at(&span, sizeof(*slot), i + 1);

		slot->sges = bad[i];
	}
	plx_ring_release(srq->queue.ring, 0);
	assert_int_equal(engine_rq_fetch(&back->queue), 5);
	assert_int_equal(plx_rq_count(back->queue.rq), 2);
	assert_int_equal(posts_refused, PLX_COUNT_OF(bad));
	/* Their places are free at once. */
	engine_rq_publish_now(&back->queue);
	assert_int_equal(post(DEPTH, 1, &status), DEPTH - 2);
}

static void
a_forged_index_is_reported_once(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(1, 1, &status), 1);
	srq->queue.ring->prod.tail += 1000;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(engine_rq_fetch(&back->queue), 0);
		assert_int_equal(rings_forged, 1);
		assert_true(queues.broken_rqs.next == &back->queue.broken_link);
	}
	plx_list_remove(&back->queue.broken_link);
	assert_int_equal(engine_rq_fetch(&back->queue), 0);
	assert_true(plx_list_empty(&queues.broken_rqs));
}

static void
what_is_dropped_frees_its_places(void **state)
{
	enum plx_status status;

	(void)state;
	assert_int_equal(post(DEPTH, 1, &status), DEPTH);
	engine_rq_drop(&back->queue);
	engine_rq_publish_now(&back->queue);
	assert_int_equal(engine_rq_fetch(&back->queue), 0);
	assert_int_equal(post(DEPTH, 1, &status), DEPTH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_more_than_the_depth_are_posted_until_places_are_free),
		TEST(a_smaller_queue_takes_fewer),
		TEST(the_ring_is_looked_into_when_the_queue_behind_it_runs_low),
		TEST(too_many_sges_are_refused_when_posted),
		TEST(what_was_changed_in_the_ring_is_refused_when_it_arrives),
		TEST(a_forged_index_is_reported_once),
		TEST(what_is_dropped_frees_its_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
