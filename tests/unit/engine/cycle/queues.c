/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues, per queue pair and shared: capacity, long lists, refusals, fetching only when
 * low, RESET, and the threshold of a shared one. Start with
 * a_receive_queue_takes_its_depth_and_no_more().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

static void
open_with(const struct pair_options *options, bool inline_mode)
{
	pair_open(&pair, inline_mode);
	pair_connect_with(&pair, options);
}

static void
a_receive_queue_takes_its_depth_and_no_more(void **state)
{
	struct plx_wc wc[16];
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_options options = pair_defaults(10);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];

		open_with(&options, inline_mode);
		for (uint32_t i = 0; i < 10; i++)
			assert_int_equal(pair_recv(b, i, i * 64, 64), PLX_OK);
		assert_int_equal(pair_recv(b, 10, 0, 64), PLX_FULL);
		/* A place is free when its message has come, whether or not anybody polled. */
		assert_int_equal(pair_send(a, 1, 0, 8, 0), PLX_OK);
		pair_run(&pair, 10);
		assert_int_equal(pair_recv(b, 11, 0, 64), PLX_OK);
		assert_int_equal(pair_recv(b, 12, 0, 64), PLX_FULL);
		assert_int_equal(plx_engine_cq_poll(b->recv_cq, wc, 16), 1);
		pair_close(&pair);
	}
}

static void
a_batch_stops_at_the_first_that_is_refused(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_options options = pair_defaults(10);
		struct pair_side *b = &pair.side[1];
		struct plx_sge sge[17] = {{0}};
		struct plx_recv_wr wr[12] = {{0}};
		enum plx_status why;

		options.sges = 6;
		open_with(&options, inline_mode);
		for (uint32_t i = 0; i < 12; i++)
			wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = sge, .sges = 1};
		wr[3].sges = 7;
		assert_int_equal(plx_post_recv(b->qp, wr, 12, &why), 3);
		assert_int_equal(why, PLX_TOO_MANY_SGES);
		wr[3].sges = 2;
		sge[0].length = UINT32_C(0x80000000);
		sge[1].length = 1;
		assert_int_equal(plx_post_recv(b->qp, wr + 3, 1, &why), 0);
		assert_int_equal(why, PLX_TOO_LONG);
		assert_int_equal(plx_post_recv(b->qp, wr + 4, 8, &why), 7);
		assert_int_equal(why, PLX_FULL);
		assert_int_equal(plx_post_recv(b->qp, wr, 0, &why), 0);
		assert_int_equal(why, PLX_OK);
		assert_int_equal(plx_post_recv(b->qp, wr, 1, NULL), 0);
		assert_int_equal(plx_engine_counters(b->engine)->posts_refused, 0);
		pair_close(&pair);
	}
}

/* Sixteen pieces in reverse order; the list of the next receive must not be mixed up with it. */
static void
long_lists_cross_the_ring_whole(void **state)
{
	struct plx_wc wc[4];
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		struct pair_options options = pair_defaults(4);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		struct plx_sge sge[PLX_SGE_MAX];
		struct plx_recv_wr wr = {.sge = sge, .sges = PLX_SGE_MAX};

		options.shared = mode & 2;
		open_with(&options, mode & 1);
		for (uint32_t i = 0; i < 16 * 100; i++)
			a->memory[i] = (uint8_t)(i / 100 * 16 + i % 7);
		/* Many times, so that the ring wraps. */
		for (uint32_t round = 0; round < 20; round++) {
			uint32_t base = round * 4096;

			for (uint32_t i = 0; i < PLX_SGE_MAX; i++)
				sge[i] = (struct plx_sge){
					(uintptr_t)b->memory + base + (15 - i) * 100, 100, b->key};
			wr.wr_id = round;
			if (options.shared)
				assert_int_equal(plx_post_srq_recv(b->srq, &wr, 1, NULL), 1);
			else
				assert_int_equal(plx_post_recv(b->qp, &wr, 1, NULL), 1);
			memset(sge, 0xff, sizeof(sge));
			assert_int_equal(pair_send(a, round, 0, 1600, 0), PLX_OK);
			assert_int_equal(pair_reap(&pair, b->recv_cq, wc, 1, 2000), 1);
			assert_int_equal(wc[0].wr_id, round);
			assert_int_equal(wc[0].bytes, 1600);
			for (uint32_t i = 0; i < PLX_SGE_MAX; i++)
				assert_memory_equal(b->memory + base + (15 - i) * 100,
						    a->memory + i * 100, 100);
			assert_int_equal(pair_reap(&pair, a->send_cq, wc, 1, 2000), 1);
		}
		pair_close(&pair);
	}
}

static void
reset_forgets_what_is_in_the_ring_and_behind_it(void **state)
{
	struct pair_options options = pair_defaults(64);
	struct pair_side *b = &pair.side[1];
	struct plx_wc wc;
	(void)state;
	open_with(&options, false);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
	pair_start(&pair);
	/* INIT fetches what is posted; later posts stay in the ring. */
	assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(b->qp->back->own.fetched, 50);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(pair_recv(b, 100 + i, 0, 8), PLX_OK);
	assert_int_equal(pair_recv(b, 200, 0, 8), PLX_FULL);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(pair_recv(b, 200, 0, 8), PLX_STATE);
	assert_int_equal(plx_engine_cq_poll(b->recv_cq, &wc, 1), 0);
	pair_close(&pair);
}

/* The engine's line of the ring stays where it is while receives are at hand. */
static void
the_ring_is_looked_into_only_when_the_queue_is_low(void **state)
{
	struct pair_options options = pair_defaults(128);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[64];
	uint32_t fetched;
	(void)state;
	open_with(&options, false);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
	assert_int_equal(pair_send(a, 0, 0, 8, 0), PLX_OK);
	pair_run(&pair, 10);
	assert_int_equal(b->qp->back->own.fetched, 100);
	assert_int_equal(pair_recv(b, 100, 0, 8), PLX_OK);
	for (uint32_t i = 1; i < 60; i++)
		assert_int_equal(pair_send(a, i, 0, 8, 0), PLX_OK);
	pair_run(&pair, 20);
	assert_int_equal(b->qp->back->own.fetched, 100);
	for (uint32_t i = 60; i < 101; i++)
		assert_int_equal(pair_send(a, i, 0, 8, 0), PLX_OK);
	pair_run(&pair, 20);
	fetched = b->qp->back->own.fetched;
	assert_int_equal(fetched, 101);
	for (uint32_t i = 0; i < 101; i++) {
		assert_int_equal(plx_engine_cq_poll(b->recv_cq, wc, 1), 1);
		assert_int_equal(wc[0].wr_id, i);
	}
	pair_close(&pair);
}

/* ---- shared queues ---- */

static uint32_t
threshold_events(struct pair_side *side)
{
	struct plx_async_event event;
	uint32_t n = 0;

	while (plx_engine_next_async_event(side->engine, &event)) {
		assert_int_equal(event.kind, PLX_EVENT_SRQ_THRESHOLD);
		assert_int_equal(event.context, 0x50);
		n++;
	}
	return n;
}

static void
send_some(uint32_t n)
{
	struct plx_wc wc;

	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pair_send(&pair.side[0], i, 0, 8, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, 1000), 1);
		assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, 1000), 1);
	}
}

/* docs/nd2.md, Who waits for a queue: below the threshold, not at it; once; at once when armed
 * below it. */
static void
a_shared_queue_tells_its_threshold_once(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_options options = pair_defaults(100);
		struct pair_side *b = &pair.side[1];

		options.shared = true;
		options.threshold = 50;
		open_with(&options, inline_mode);
		for (uint32_t i = 0; i < 60; i++)
			assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
		assert_int_equal(plx_engine_srq_count(b->srq), 60);
		send_some(10);
		assert_int_equal(plx_engine_srq_count(b->srq), 50);
		assert_int_equal(threshold_events(b), 0);
		send_some(1);
		assert_int_equal(threshold_events(b), 1);
		send_some(5);
		assert_int_equal(threshold_events(b), 0);
		pair_start(&pair);
		/* 44 left: below 45 at once, not below 44. */
		assert_int_equal(plx_engine_srq_arm(b->srq, 101), PLX_INVALID);
		assert_int_equal(plx_engine_srq_arm(b->srq, 45), PLX_OK);
		pair_stop(&pair);
		pair_run(&pair, 2);
		assert_int_equal(threshold_events(b), 1);
		send_some(1);
		assert_int_equal(threshold_events(b), 0);
		pair_start(&pair);
		assert_int_equal(plx_engine_srq_arm(b->srq, 43), PLX_OK);
		pair_stop(&pair);
		pair_run(&pair, 2);
		assert_int_equal(threshold_events(b), 0);
		send_some(1);
		assert_int_equal(threshold_events(b), 1);
		/* Entries posted and still in the ring count. */
		for (uint32_t i = 0; i < 58; i++)
			assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
		assert_int_equal(pair_recv(b, 0, 0, 8), PLX_FULL);
		pair_start(&pair);
		assert_int_equal(plx_engine_srq_arm(b->srq, 99), PLX_OK);
		pair_stop(&pair);
		pair_run(&pair, 2);
		assert_int_equal(threshold_events(b), 0);
		send_some(2);
		assert_int_equal(threshold_events(b), 1);
		pair_start(&pair);
		assert_int_equal(plx_engine_srq_arm(b->srq, 0), PLX_OK);
		pair_stop(&pair);
		send_some(90);
		assert_int_equal(threshold_events(b), 0);
		pair_close(&pair);
	}
}

static void
a_shared_queue_is_busy_while_it_is_used_and_outlives_its_users(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *b = &pair.side[1];
	enum plx_status why;
	struct plx_recv_wr wr = {0};
	struct plx_wc wc;
	(void)state;
	options.shared = true;
	open_with(&options, false);
	assert_int_equal(plx_post_recv(b->qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_STATE);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
	send_some(1);
	pair_start(&pair);
	assert_int_equal(plx_engine_srq_destroy(b->srq), PLX_BUSY);
	/* Its entries are not flushed with a queue pair. */
	assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	pair_run(&pair, 3000);
	assert_int_equal(plx_engine_cq_poll(b->recv_cq, &wc, 1), 0);
	assert_int_equal(plx_engine_srq_count(b->srq), 7);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(b->qp), PLX_OK);
	b->qp = pair_qp(&pair, 1, &options);
	assert_int_equal(plx_engine_qp_modify(pair.side[0].qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	pair_join(&pair, 0, pair.side[0].qp, 1, b->qp, &options);
	pair_stop(&pair);
	send_some(7);
	assert_int_equal(plx_engine_srq_count(b->srq), 0);
	pair_close(&pair);
}

/* It cannot have more completions than entries, however many queue pairs consume them. */
static void
a_shared_queue_is_counted_once_in_a_completion_queue(void **state)
{
	enum {
		DEPTH = 16,
		MANY = 5
	};
	struct pair_options options = pair_defaults(DEPTH);
	struct pair_side *b = &pair.side[1];
	struct plx_qp *more[MANY];
	(void)state;
	options.shared = true;
	open_with(&options, false);
	pair_start(&pair);
	for (uint32_t i = 0; i < MANY; i++)
		more[i] = pair_qp(&pair, 1, &options);
	assert_int_equal(atomic_load(&whole_cq_back(b->recv_cq)->reserve), DEPTH);
	assert_int_equal(atomic_load(&whole_cq_back(b->send_cq)->reserve), (MANY + 1) * DEPTH);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(plx_engine_qp_destroy(more[i]), PLX_OK);
	assert_int_equal(atomic_load(&whole_cq_back(b->recv_cq)->reserve), DEPTH);
	assert_int_equal(plx_engine_qp_destroy(b->qp), PLX_OK);
	b->qp = NULL;
	assert_int_equal(atomic_load(&whole_cq_back(b->recv_cq)->reserve), 0);
	assert_int_equal(atomic_load(&whole_cq_back(b->send_cq)->reserve), 0);
	pair_stop(&pair);
	pair_close(&pair);
}

static void
a_shared_queue_of_a_wrong_size_is_refused(void **state)
{
	struct plx_engine_srq_config config = {.depth = 0, .sges = 1};
	struct plx_srq *srq = NULL;
	(void)state;
	pair_open(&pair, false);
	assert_int_equal(plx_engine_srq_create(pair.side[0].engine, &config, &srq), PLX_INVALID);
	config.depth = PLX_SRQ_DEPTH_MAX + 1;
	assert_int_equal(plx_engine_srq_create(pair.side[0].engine, &config, &srq), PLX_INVALID);
	config = (struct plx_engine_srq_config){.depth = 4, .sges = PLX_SGE_MAX + 1};
	assert_int_equal(plx_engine_srq_create(pair.side[0].engine, &config, &srq), PLX_INVALID);
	config = (struct plx_engine_srq_config){.depth = 4, .sges = 1, .threshold = 5};
	assert_int_equal(plx_engine_srq_create(pair.side[0].engine, &config, &srq), PLX_INVALID);
	assert_null(srq);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_receive_queue_takes_its_depth_and_no_more),
		cmocka_unit_test(a_batch_stops_at_the_first_that_is_refused),
		cmocka_unit_test(long_lists_cross_the_ring_whole),
		cmocka_unit_test(reset_forgets_what_is_in_the_ring_and_behind_it),
		cmocka_unit_test(the_ring_is_looked_into_only_when_the_queue_is_low),
		cmocka_unit_test(a_shared_queue_tells_its_threshold_once),
		cmocka_unit_test(a_shared_queue_is_busy_while_it_is_used_and_outlives_its_users),
		cmocka_unit_test(a_shared_queue_is_counted_once_in_a_completion_queue),
		cmocka_unit_test(a_shared_queue_of_a_wrong_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
