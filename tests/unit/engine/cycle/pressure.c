/* SPDX-License-Identifier: BSD-3-Clause
 *
 * High load: programs that post and do not reap, more completions in a cycle than can be staged,
 * more doorbells than one cycle serves. Nothing is lost, and the order is kept. Start with
 * who_does_not_reap_is_held_back().
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
reap_in_order(struct plx_cq *cq, uint32_t n)
{
	struct plx_wc wc;

	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pair_reap(&pair, cq, &wc, 1, 1000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i);
	}
	pair_run(&pair, 20);
	assert_int_equal(plx_engine_cq_poll(cq, &wc, 1), 0);
}

/* Decision 2b: a queue pair of 64 on a completion queue of 2, and nobody polls. */
static void
who_does_not_reap_is_held_back(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		struct pair_options options = pair_defaults(64);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		uint32_t posted = 0;

		options.cq_depth = 2;
		options.one_cq = mode & 2;
		pair_open(&pair, mode & 1);
		pair_connect_with(&pair, &options);
		for (uint32_t round = 0; round < 200; round++) {
			while (pair_write(a, b, posted, 0, 8, 0) == PLX_OK)
				posted++;
			assert_true(posted >= 64);
			pair_run(&pair, 1 + round % 20);
		}
		assert_int_equal(plx_engine_qp_state(a->qp), PLX_QP_RTS);
		assert_int_equal(plx_engine_counters(a->engine)->cq_overruns, 0);
		assert_true(plx_engine_counters(a->engine)->cq_spilled > 0);
		assert_true(posted < 1000);
		reap_in_order(a->send_cq, posted);
		/* Held back no longer: a queue full of requests can be posted again. */
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(pair_write(a, b, i, 0, 8, 0), PLX_OK);
		reap_in_order(a->send_cq, 64);
		pair_close(&pair);
	}
}

static void
who_does_not_reap_receives_is_held_back(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		struct pair_options options = pair_defaults(64);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		uint32_t posted = 0, sent = 0;
		struct plx_wc wc;

		options.cq_depth = 2;
		options.shared = mode & 2;
		options.attr.ack_timeout_ns = PLX_SEC;
		pair_open(&pair, mode & 1);
		pair_connect_with(&pair, &options);
		for (uint32_t round = 0; round < 200; round++) {
			while (pair_recv(b, posted, 0, 8) == PLX_OK)
				posted++;
			assert_true(posted >= 64);
			while (sent < posted && pair_send(a, sent, 0, 8, 0) == PLX_OK)
				sent++;
			pair_run(&pair, 1 + round % 20);
			while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 1)
				assert_int_equal(wc.status, PLX_WC_SUCCESS);
		}
		assert_int_equal(plx_engine_qp_state(b->qp), PLX_QP_RTS);
		assert_int_equal(plx_engine_counters(b->engine)->cq_overruns, 0);
		assert_true(plx_engine_counters(b->engine)->cq_spilled > 0);
		assert_true(posted < 1000);
		for (uint32_t reaped = 0; reaped < posted; reaped++) {
			assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 1000), 1);
			assert_int_equal(wc.wr_id, reaped);
			if (sent < posted && pair_send(a, sent, 0, 8, 0) == PLX_OK)
				sent++;
			while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 1)
				assert_int_equal(wc.status, PLX_WC_SUCCESS);
		}
		pair_run(&pair, 20);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(pair_recv(b, i, 0, 8), PLX_OK);
		pair_close(&pair);
	}
}

/* More completions in one cycle than are staged: 32 ACKs of 32 requests each. */
static void
more_completions_than_are_staged_keep_their_order(void **state)
{
	struct pair_options options = pair_defaults(2000);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	(void)state;
	options.attr.window_packets = 4096;
	options.attr.ack_interval = 32;
	options.attr.ack_timeout_ns = PLX_SEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	a->port.hold = true;
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(pair_write(a, b, i, 0, 8, 0), PLX_OK);
	pair_run(&pair, 200);
	a->port.hold = false;
	/* One cycle, one burst. */
	pair_run(&pair, 1);
	assert_true(plx_engine_counters(a->engine)->completions > STAGE_ROOM);
	reap_in_order(a->send_cq, 2000);
	pair_close(&pair);
}

/* PAIR_QPS connections on one completion queue of each side. */
static void
open_many(struct plx_qp **qa, struct plx_qp **qb)
{
	struct pair_options options = pair_defaults(4);

	options.cq_depth = 4 * PAIR_QPS;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		qa[i] = pair_qp(&pair, 0, &options);
		qb[i] = pair_qp(&pair, 1, &options);
		pair_join(&pair, 0, qa[i], 1, qb[i], &options);
	}
	pair_stop(&pair);
}

static void
close_many(struct plx_qp **qa, struct plx_qp **qb)
{
	pair.side[0].qp = NULL;
	pair_start(&pair);
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		assert_int_equal(plx_engine_qp_destroy(qa[i]), PLX_OK);
		assert_int_equal(plx_engine_qp_destroy(qb[i]), PLX_OK);
	}
	pair_stop(&pair);
	pair_close(&pair);
}

static void
more_doorbells_than_a_cycle_serves_are_all_served(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_qp *qa[PAIR_QPS], *qb[PAIR_QPS];
	uint32_t seen = 0;
	struct plx_wc wc;
	(void)state;
	open_many(qa, qb);
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		a->qp = qa[i];
		assert_int_equal(pair_write(a, b, i, 0, 8, 0), PLX_OK);
	}
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		seen += (uint32_t)wc.wr_id;
	}
	assert_int_equal(seen, PAIR_QPS * (PAIR_QPS - 1) / 2);
	close_many(qa, qb);
}

static void
write_by(struct plx_qp *qp)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	a->qp = qp;
	assert_int_equal(pair_write(a, b, 7, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.wr_id, 7);
}

/* What a thread does that holds the lock and has seen the ring watched. */
static void
write_silently(struct plx_qp *qp)
{
	const struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wqe wqe = {.op = PLX_WR_WRITE, .sges = 1, .wr_id = 7};
	struct plx_ring_span span;
	struct plx_wqe *place;

	plx_ring_reserve_known(qp->sq.ring, sizeof(wqe), 1, &span);
	place = plx_ring_at(&span, sizeof(wqe), 0);
	place->wr_id = wqe.wr_id;
	place->rkey = b->key;
	place->remote_va = (uintptr_t)b->memory;
	place->sge[0] = (struct plx_sge){(uintptr_t)a->memory, 8, a->key};
	plx_ring_mark_written(qp->sq.ring, span.index, &place->word, wqe.word);
	plx_ring_commit_to(qp->sq.ring, span.index + 1);
}

/* Decision 9: a thread that has begun to post may have found that no doorbell is needed. It cannot
 * keep the engine from watching others, however long it holds the lock. */
static void
who_posted_to_a_watched_ring_is_served_when_it_no_longer_is(void **state)
{
	struct plx_qp *qa[PAIR_QPS], *qb[PAIR_QPS];
	struct plx_wc wc;
	(void)state;
	open_many(qa, qb);
	for (uint32_t i = 0; i < RECENT; i++) {
		write_by(qa[i]);
		assert_true(qa[i]->back->sq.watched);
	}
	pair_run(&pair, 2 * WATCH_NS / PLX_USEC);
	atomic_store(&qa[0]->sq.front->producer.locked, true);
	write_by(qa[RECENT]);
	assert_false(qa[0]->back->sq.watched);
	assert_true(qa[RECENT]->back->sq.watched);
	/* Many cycles later, and again after a first request was found. */
	for (uint32_t i = 0; i < 3; i++) {
		pair_run(&pair, 50);
		write_silently(qa[0]);
		assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, 100), 1);
		assert_int_equal(wc.wr_id, 7);
	}
	write_silently(qa[0]);
	atomic_store(&qa[0]->sq.front->producer.locked, false);
	assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, 100), 1);
	pair_run(&pair, 50);
	assert_false(qa[0]->back->sq.has_silent_poster);
	qa[0]->sq.front->producer.credits = 0; /* it was bypassed */
	write_by(qa[0]);
	close_many(qa, qb);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_reap_is_held_back),
		cmocka_unit_test(who_does_not_reap_receives_is_held_back),
		cmocka_unit_test(more_completions_than_are_staged_keep_their_order),
		cmocka_unit_test(more_doorbells_than_a_cycle_serves_are_all_served),
		cmocka_unit_test(who_posted_to_a_watched_ring_is_served_when_it_no_longer_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
