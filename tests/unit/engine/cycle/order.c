/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decision 3 as a program sees it: a program that has received a reply also finds the completion of
 * its request; no packet that results from a completion leaves before the ACK of the completed
 * request; and poll, arm, sleep never misses an entry. Start with request_and_reply().
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	ROUNDS = 20000
};

static struct pair pair;

/* One completion, found by looking again and again while another thread runs the engines. */
static void
await(struct plx_cq *cq, uint64_t wr_id)
{
	struct plx_wc wc;

	test_until(plx_engine_cq_poll(cq, &wc, 1) == 1, sched_yield());
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
}

static void
who_sees_the_reply_finds_the_request_completed(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options = pair_defaults(16);
	struct plx_wc wc;
	(void)state;
	/* The engines' clock runs ahead of the wall's: a stopped thread must not look like loss. */
	options.attr.ack_timeout_ns = 100 * PLX_SEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	pair_start(&pair);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		assert_int_equal(pair_recv(a, i, 0, 64), PLX_OK);
		assert_int_equal(pair_recv(b, i, 0, 64), PLX_OK);
		assert_int_equal(pair_send(a, i, 64, 8, 0), PLX_OK);
		await(b->recv_cq, i);
		assert_int_equal(pair_send(b, i, 64, 8, 0), PLX_OK);
		await(a->recv_cq, i);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, &wc, 1), 1);
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		await(b->send_cq, i);
	}
	pair_stop(&pair);
	pair_close(&pair);
}

/* ---- on the wire ---- */

struct log {
	uint32_t acks, requests;
	uint32_t last; /* the PSN of the newest request */
	bool wrong;    /* a request before the ACK of the message it replies to */
};

static bool
note(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	int opcode = pair_opcode(m);
	struct log *log = user;

	(void)from;
	if (opcode == PLX_RC_ACK)
		log->acks++;
	/* A requester whose thread was stopped probes for its last packet again: that one was
	 * judged when it left first. */
	if (opcode == PLX_RC_SEND_ONLY && (log->requests == 0 || pair_psn(m) != log->last)) {
		log->last = pair_psn(m);
		log->requests++;
		if (log->requests > log->acks)
			log->wrong = true;
	}
	return true;
}

/* The reply leaves on another queue pair than the one that received the request. */
static void
a_reply_on_another_queue_pair_leaves_after_the_ack(void **state)
{
	struct pair_options options = pair_defaults(64);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_qp *qa[2], *qb[2];
	struct log log = {0};
	struct plx_wc wc;
	uint32_t replies = 0;
	(void)state;
	/* Inline, time is the wall's: what stops this thread must not look like loss. */
	options.attr.ack_timeout_ns = 100 * PLX_SEC;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		memset(&log, 0, sizeof(log));
		replies = 0;
		pair_open(&pair, inline_mode);
		pair_start(&pair);
		pair_make_queues(&pair, &options);
		for (int i = 0; i < 2; i++) {
			qa[i] = pair_qp(&pair, 0, &options);
			qb[i] = pair_qp(&pair, 1, &options);
			pair_join(&pair, 0, qa[i], 1, qb[i], &options);
		}
		pair_stop(&pair);
		b->port.pass = note;
		b->port.user = &log;
		for (uint32_t i = 0; i < 500; i++) {
			a->qp = qa[0];
			b->qp = qb[0];
			assert_int_equal(pair_recv(b, i, 0, 64), PLX_OK);
			assert_int_equal(pair_send(a, i, 0, 8, 0), PLX_OK);
			a->qp = qa[1];
			assert_int_equal(pair_recv(a, i, 0, 64), PLX_OK);
			/* The port is a bad one in every seventh round. */
			b->port.refuse = i % 7 == 0 ? 5 : 0;
			b->qp = qb[1];
			for (uint32_t round = 0; round < 12; round++) {
				pair_run(&pair, 1);
				while (plx_engine_cq_poll(b->recv_cq, &wc, 1) == 1) {
					assert_int_equal(pair_send(b, i, 0, 8, 0), PLX_OK);
					replies++;
				}
			}
			while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 1)
				assert_int_equal(wc.status, PLX_WC_SUCCESS);
			while (plx_engine_cq_poll(a->recv_cq, &wc, 1) == 1)
				assert_int_equal(wc.status, PLX_WC_SUCCESS);
			while (plx_engine_cq_poll(b->send_cq, &wc, 1) == 1)
				assert_int_equal(wc.status, PLX_WC_SUCCESS);
		}
		pair_run(&pair, 1000);
		assert_int_equal(replies, 500);
		assert_int_equal(log.requests, 500);
		assert_false(log.wrong);
		a->qp = b->qp = NULL;
		b->port.pass = NULL;
		pair_start(&pair);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(plx_engine_qp_destroy(qa[i]), PLX_OK);
			assert_int_equal(plx_engine_qp_destroy(qb[i]), PLX_OK);
		}
		pair_stop(&pair);
		pair_close(&pair);
	}
}

/* ---- sleeping ---- */

/* Poll, find nothing, arm, and only then look whether to sleep: no entry is missed (A18). */
static void
poll_then_arm_misses_nothing(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options = pair_defaults(16);
	uint32_t slept = 0, got = 0;
	(void)state;
	options.attr.ack_timeout_ns = 100 * PLX_SEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	pair_start(&pair);
	for (uint32_t sent = 0; got < ROUNDS;) {
		struct plx_wc wc;
		uint32_t fired;

		if (sent < ROUNDS && pair_write(a, b, sent, 0, 8, 0) == PLX_OK)
			sent++;
		if (plx_engine_cq_poll(a->send_cq, &wc, 1) == 1) {
			assert_int_equal(wc.wr_id, got++);
			continue;
		}
		if (sent % 3 != 0)
			continue;
		assert_int_equal(plx_cq_arm(a->send_cq, PLX_CQ_NOTIFY_ANY, &fired), PLX_OK);
		slept += fired == 0;
		if (fired == 0)
			test_until(plx_cq_get_event(a->send_cq) > 0, sched_yield());
	}
	assert_true(slept > 100);
	pair_stop(&pair);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sees_the_reply_finds_the_request_completed),
		cmocka_unit_test(a_reply_on_another_queue_pair_leaves_after_the_ack),
		cmocka_unit_test(poll_then_arm_misses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
