/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A crowd: 64 connections between two engines on two worker threads, and four application threads
 * that post, poll, arm, query, resize, create and destroy queue pairs, and register and deregister
 * memory, all at once. It runs as a normal test, and under ThreadSanitizer (make tsan), which then
 * sees all our accesses: the buffer pool is on one of our rings too. Usage: `crowd SECONDS
 * [adaptive]`; adaptive workers fall asleep whenever they can. Start with live().
 */
#include <pthread.h>
#include <rte_rcu_qsbr.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "crowd.h"

static struct crowd crowd;

/* ---- application threads ---- */

static struct plx_qp *
any_qp(struct plx_prng *prng, int side)
{
	return crowd.qp[side][plx_prng_below(prng, QPS)];
}

static void
post_some(struct plx_prng *prng)
{
	static const uint8_t flags[] = {0, PLX_WR_UNSIGNALED, PLX_WR_SOLICITED, PLX_WR_INLINE,
					PLX_WR_DEFER};
	int from = (int)plx_prng_below(prng, 2);
	struct pair_side *here = &crowd.pair.side[from], *there = &crowd.pair.side[!from];
	const struct plx_sge sge = {(uintptr_t)here->memory, 60, here->key};
	struct plx_send_wr wr[3] = {{.op = PLX_WR_WRITE, .sge = &sge, .sges = 1}};

	wr[0].flags = flags[plx_prng_below(prng, 5)];
	if (wr[0].flags == PLX_WR_SOLICITED)
		wr[0].flags = 0;
	wr[0].remote_va = (uintptr_t)there->memory + SHARED_AT;
	wr[0].rkey = there->key;
	wr[1] = wr[0];
	wr[1].op = PLX_WR_SEND;
	wr[1].flags = flags[plx_prng_below(prng, 4)];
	wr[2] = wr[0];
	wr[2].op = PLX_WR_WRITE;
	wr[2].flags = 0;
	atomic_fetch_add(&crowd.posted, plx_engine_qp_post_send(any_qp(prng, from), wr, 3, NULL));
}

static void
receive_some(struct plx_prng *prng)
{
	int to = (int)plx_prng_below(prng, 2);
	struct pair_side *side = &crowd.pair.side[to];
	const struct plx_sge sge = {(uintptr_t)side->memory + INBOX_AT, 60, side->key};
	struct plx_recv_wr wr[4];

	for (uint32_t i = 0; i < 4; i++)
		wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = &sge, .sges = 1};
	(void)plx_post_recv(any_qp(prng, to), wr, 4, NULL);
}

static uint32_t
reap_some(struct plx_prng *prng)
{
	struct pair_side *side = &crowd.pair.side[plx_prng_below(prng, 2)];
	struct plx_cq *cq = plx_prng_chance(prng, 500000) ? side->send_cq : side->recv_cq;
	struct plx_wc wc[64];
	uint32_t n = plx_engine_cq_poll(cq, wc, 64);

	for (uint32_t i = 0; i < n; i++)
		if (wc[i].status != PLX_WC_SUCCESS)
			atomic_fetch_add(&crowd.wrong, 1);
	atomic_fetch_add(&crowd.reaped, n);
	return n;
}

static void
arm_some(struct plx_prng *prng)
{
	struct plx_cq *cq = crowd.pair.side[plx_prng_below(prng, 2)].send_cq;
	uint32_t fired = 0;

	if (plx_cq_arm(cq, 1 + (uint32_t)plx_prng_below(prng, 7), &fired) != PLX_OK ||
	    plx_cq_fd(cq) < 0)
		atomic_fetch_add(&crowd.wrong, 1);
	if (fired != 0 || plx_cq_get_event(cq) != 0)
		atomic_fetch_add(&crowd.fired, 1);
}

static void
look_around(struct plx_prng *prng)
{
	int i = (int)plx_prng_below(prng, 2);
	struct plx_engine *engine = crowd.pair.side[i].engine;
	struct plx_engine_cq_view cq;
	struct plx_async_event event;
	struct plx_rc_view view;

	if (plx_engine_qp_query(any_qp(prng, i), &view) != PLX_OK || view.state != PLX_QP_RTS)
		atomic_fetch_add(&crowd.wrong, 1);
	plx_engine_cq_query(crowd.pair.side[i].recv_cq, &cq);
	if (cq.overrun || plx_engine_qp_state(any_qp(prng, i)) != PLX_QP_RTS ||
	    __atomic_load_n(&plx_engine_counters(engine)->cq_overruns, __ATOMIC_RELAXED) != 0)
		atomic_fetch_add(&crowd.wrong, 1);
	while (plx_engine_next_async_event(engine, &event))
		if (event.kind != PLX_EVENT_COMM_ESTABLISHED)
			atomic_fetch_add(&crowd.wrong, 1);
}

static void
come_and_go(struct plx_prng *prng)
{
	struct pair_options options = pair_defaults(8);
	int i = (int)plx_prng_below(prng, 2);
	struct plx_qp *qp = pair_qp(&crowd.pair, i, &options);

	if (plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL) != PLX_OK ||
	    plx_engine_cq_resize(crowd.pair.side[i].recv_cq,
				 CQ_DEPTH + (uint32_t)plx_prng_below(prng, CQ_DEPTH)) != PLX_OK ||
	    plx_engine_qp_destroy(qp) != PLX_OK)
		atomic_fetch_add(&crowd.wrong, 1);
}

static void *
live(void *arg)
{
	struct resident *me = arg;
	struct plx_prng prng;

	plx_prng_init(&prng, me->number + 1);
	while (plx_clock_ns() < crowd.end) {
		uint64_t what = plx_prng_below(&prng, 100);

		if (what < 30)
			post_some(&prng);
		else if (what < 60)
			receive_some(&prng);
		else if (what < 90)
			reap_some(&prng);
		else if (what < 94)
			arm_some(&prng);
		else if (what < 96)
			look_around(&prng);
		else if (what < 97)
			come_and_go(&prng);
		else
			atomic_fetch_add(&crowd.wrong, !crowd_lend_memory(&crowd, me, &prng));
		if (what % 8 == 0)
			sched_yield();
	}
	return NULL;
}

/* Nothing is posted any more: accepted requests must complete, once all receives are there. */
static void
settle(void)
{
	uint64_t end = plx_clock_ns() + 20 * PLX_SEC, quiet = 0;
	struct plx_prng prng;

	plx_prng_init(&prng, 99);
	for (uint32_t i = 0; i < QPS; i++) {
		plx_engine_qp_ring_doorbell(crowd.qp[0][i]);
		plx_engine_qp_ring_doorbell(crowd.qp[1][i]);
	}
	while (quiet < 2000 && plx_clock_ns() < end) {
		receive_some(&prng);
		quiet = reap_some(&prng) > 0 ? 0 : quiet + 1;
		sched_yield();
	}
	PLX_ASSERT(quiet == 2000);
}

int
main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2;
	struct resident residents[RESIDENTS];
	uint64_t moved;

	crowd.idle = argc > 2 ? PLX_IDLE_ADAPTIVE : PLX_IDLE_YIELD;
	crowd_open(&crowd);
	for (uint32_t i = 0; i < RESIDENTS; i++) {
		residents[i] = (struct resident){.number = i};
		crowd_settle_in(&crowd, &residents[i]);
	}
	crowd.end = plx_clock_ns() + seconds * PLX_SEC;
	for (uint32_t i = 0; i < RESIDENTS; i++)
		PLX_ASSERT(pthread_create(&residents[i].thread, NULL, live, &residents[i]) == 0);
	for (uint32_t i = 0; i < RESIDENTS; i++)
		pthread_join(residents[i].thread, NULL);
	settle();
	/* The worker may count a late acknowledgement. */
	moved = __atomic_load_n(&plx_engine_counters(crowd.pair.side[0].engine)->rx_packets,
				__ATOMIC_RELAXED);
	for (uint32_t i = 0; i < RESIDENTS; i++)
		crowd_move_out(&crowd, &residents[i]);
	crowd_close(&crowd);
	printf("posted %u, reaped %u, regions %u, fired %u, packets %llu, wrong %u\n", crowd.posted,
	       crowd.reaped, crowd.lent, crowd.fired, (unsigned long long)moved, crowd.wrong);
	PLX_ASSERT(crowd.wrong == 0);
	PLX_ASSERT(crowd.posted > 1000 && crowd.reaped > 1000 && crowd.lent > 10 &&
		   crowd.fired > 10);
	return 0;
}
