/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several engines on one port: packets that arrive on the wrong queue reach their queue pair, each
 * verified once; loopback between engines; full rings; what is left in rings at the end; pauses.
 * One thread, deterministic. Start with send_all().
 */
#include "test.h"

#include "plx_engine_member.h"
#include "engine_pair.h"

enum {
	ENGINES = 3,
	DEPTH = 16,
	BYTES = 3000, /* of a message: three packets */
};

static struct pair pair;

static void
open_group(uint32_t engines, uint32_t handoff_depth)
{
	pair_open_with(&pair,
		       &(struct pair_setup){.engines = engines, .handoff_depth = handoff_depth});
}

/* A queue pair on engine `a` of side 0, and one on engine `b` of side 1. */
static void
connect_on(uint32_t a, uint32_t b)
{
	pair.side[0].engine = pair.side[0].all[a];
	pair.side[1].engine = pair.side[1].all[b];
	pair_connect(&pair, DEPTH);
}

static uint64_t
sum_of(const struct pair_side *side, size_t at)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < side->engines; i++)
		sum += *(const uint64_t *)(const void *)((const uint8_t *)plx_engine_counters(
								 side->all[i]) +
							 at);
	return sum;
}

#define SUM(side, name) sum_of(side, offsetof(struct plx_engine_counters, name))

/* Messages of both sides, and a READ. */
static void
send_all(uint32_t rounds)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[4];

	for (uint32_t i = 0; i < rounds; i++) {
		memset(a->memory, (int)i + 1, BYTES);
		assert_int_equal(pair_recv(b, i, 2 * BYTES, BYTES), PLX_OK);
		assert_int_equal(pair_send(a, i, 0, BYTES, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, b->recv_cq, wc, 1, 5000), 1);
		assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
		assert_memory_equal(b->memory + 2 * BYTES, a->memory, BYTES);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 1, 5000), 1);
		assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
		memset(a->memory + BYTES, (int)i + 101, BYTES);
		assert_int_equal(pair_read(b, a, i, BYTES, BYTES, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, b->send_cq, wc, 1, 5000), 1);
		assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
		assert_memory_equal(b->memory + BYTES, a->memory + BYTES, BYTES);
	}
}

static void
packets_on_any_queue_reach_their_queue_pair(void **state)
{
	const struct plx_engine_counters *got;

	(void)state;
	for (uint32_t e = 0; e < ENGINES; e++)
		for (uint32_t q = 0; q < ENGINES; q++) {
			open_group(ENGINES, 0);
			connect_on(e, ENGINES - 1 - e);
			pair.side[0].arrives_on = pair.side[1].arrives_on = q;
			send_all(3);
			assert_int_equal(SUM(&pair.side[0], rx_handed_over),
					 SUM(&pair.side[0], handed_over));
			assert_int_equal(SUM(&pair.side[0], handoff_full), 0);
			assert_int_equal(SUM(&pair.side[0], rx_no_qp), 0);
			got = plx_engine_counters(pair.side[0].all[e]);
			assert_true(got->rx_packets >= 6);
			assert_true(e == q || got->rx_handed_over >= 6);
			pair_close(&pair);
		}
}

static void
packets_on_queues_in_turn_reach_their_queue_pair(void **state)
{
	(void)state;
	open_group(PLX_ENGINES_MAX, 0);
	connect_on(PLX_ENGINES_MAX - 1, 7);
	pair.side[0].arrives_on = pair.side[1].arrives_on = PAIR_IN_TURN;
	send_all(20);
	assert_true(SUM(&pair.side[0], handed_over) > 20);
	pair_close(&pair);
}

/* Each packet of a side is counted once, by the engine that it belongs to. */
static void
a_packet_is_counted_and_verified_once(void **state)
{
	struct pair_side *b = &pair.side[1];
	uint64_t sent, received, sent_bytes, received_bytes;

	(void)state;
	open_group(2, 0);
	connect_on(1, 1);
	b->arrives_on = 0;
	sent = SUM(&pair.side[0], tx_packets);
	received = SUM(b, rx_packets);
	sent_bytes = SUM(&pair.side[0], tx_bytes);
	received_bytes = SUM(b, rx_bytes);
	send_all(4);
	pair_run(&pair, 4);
	assert_int_equal(SUM(b, rx_packets) - received, SUM(&pair.side[0], tx_packets) - sent);
	assert_int_equal(SUM(b, rx_bytes) - received_bytes,
			 SUM(&pair.side[0], tx_bytes) - sent_bytes);
	pair_close(&pair);
}

static bool
spoil(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	uint32_t *left = user;

	(void)from;
	if (*left > 0 && pair_opcode(m) == PLX_RC_SEND_ONLY) {
		rte_pktmbuf_mtod(m, uint8_t *)[m->pkt_len - 1] ^= 1;
		--*left;
	}
	return true;
}

static void
a_wrong_icrc_is_found_by_the_engine_of_the_queue_pair(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;
	uint32_t left = 1;

	(void)state;
	open_group(2, 0);
	connect_on(0, 1);
	b->arrives_on = 0;
	a->port.pass = spoil;
	a->port.user = &left;
	assert_int_equal(pair_recv(b, 1, 0, 64), PLX_OK);
	assert_int_equal(pair_send(a, 1, 0, 64, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 5000), 1);
	assert_int_equal(left, 0);
	assert_int_equal(plx_engine_counters(b->all[0])->rx_icrc, 0);
	assert_int_equal(plx_engine_counters(b->all[1])->rx_icrc, 1);
	pair_close(&pair);
}

/* The address of the port itself: packets never leave it, and cross from engine to engine. */
static void
two_queue_pairs_of_one_adapter_on_different_engines_talk(void **state)
{
	struct pair_options options = pair_defaults(DEPTH);
	struct pair_side *a = &pair.side[0];
	struct plx_cq *cq;
	struct plx_qp *other;
	struct plx_wc wc[2];
	const struct plx_engine_cq_config config = {.depth = DEPTH};

	(void)state;
	open_group(2, 0);
	connect_on(0, 0);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(a->qp), PLX_OK);
	a->qp = pair_qp(&pair, 0, &options);
	a->engine = a->all[1];
	assert_int_equal(plx_engine_cq_create(a->engine, &config, &cq), PLX_OK);
	other = pair_qp_on(&pair, 0, &options, cq, cq, a->domain);
	pair_join(&pair, 0, a->qp, 0, other, &options);
	pair_stop(&pair);
	for (uint32_t i = 0; i < 3 * DEPTH; i++) {
		const struct plx_sge sge = {(uintptr_t)a->memory + BYTES, BYTES, a->key};
		const struct plx_recv_wr wr = {.wr_id = i, .sge = &sge, .sges = 1};

		memset(a->memory, (int)i + 1, BYTES);
		assert_int_equal(plx_post_recv(other, &wr, 1, NULL), 1);
		assert_int_equal(pair_send(a, i, 0, BYTES, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, cq, wc, 1, 5000), 1);
		assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
		assert_memory_equal(a->memory, a->memory + BYTES, BYTES);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 1, 5000), 1);
		assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
	}
	assert_true(plx_engine_counters(a->all[0])->handed_over >= 3 * 3 * DEPTH);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(other), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(cq), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

/* Engine 1 does not run: its ring takes what it has room for, and the rest is dropped. */
static void
a_full_ring_drops_and_counts_and_the_peer_retransmits(void **state)
{
	enum {
		ROOM = 4
	};
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[DEPTH];

	(void)state;
	open_group(2, ROOM);
	connect_on(0, 1);
	b->arrives_on = 0;
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_int_equal(pair_recv(b, i, i * 64, 64), PLX_OK);
		assert_int_equal(pair_send(a, i, i * 64, 64, 0), PLX_OK);
	}
	for (uint32_t i = 0; i < 4; i++) {
		pair.now += PLX_USEC;
		pair_poll_side(&pair, 0);
		plx_engine_poll(b->all[0], pair.now);
	}
	/* Rings have a power of two of places, of which one stays empty. */
	assert_in_range(SUM(b, handed_over), ROOM, 2 * ROOM);
	assert_int_equal(SUM(b, handoff_full) + SUM(b, handed_over), DEPTH);
	assert_int_equal(pair_reap(&pair, b->recv_cq, wc, DEPTH, 50000), DEPTH);
	assert_int_equal(pair_reap(&pair, a->send_cq, wc, DEPTH, 50000), DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
	pair_close(&pair);
}

static uint8_t frame[512];
static uint32_t frame_len;

/* A SEND to the queue pair of side 1, as it is on the wire. */
static void
catch_frame(void)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_port *port = b->queue[b->arrives_on];
	struct rte_mbuf *m;

	assert_int_equal(pair_send(a, 1, 0, 100, 0), PLX_OK);
	while (port->count == 0) {
		pair.now += PLX_USEC;
		pair_poll_side(&pair, 0);
	}
	assert_int_equal(port->count, 1);
	port->count = 0;
	m = port->wire[port->first++ % PAIR_WIRE];
	frame_len = m->pkt_len;
	assert_true(frame_len <= sizeof(frame));
	memcpy(frame, rte_pktmbuf_mtod(m, uint8_t *), frame_len);
	rte_pktmbuf_free(m);
}

static void
packets_in_rings_return_to_their_pool_at_the_end(void **state)
{
	struct pair_side *b = &pair.side[1];

	(void)state;
	open_group(2, 0);
	connect_on(0, 1);
	b->arrives_on = 0;
	catch_frame();
	pair_destroy_objects(&pair);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	pair.now += PLX_USEC;
	plx_engine_poll(b->all[0], pair.now);
	plx_engine_poll(b->all[0], pair.now);
	assert_true(SUM(b, handed_over) >= 40 + SUM(b, rx_handed_over));
	pair_close(&pair);
}

/* More than a burst is in the ring, and nothing more comes. */
static void
a_ring_is_read_to_its_end(void **state)
{
	struct pair_side *b = &pair.side[1];
	uint64_t before;

	(void)state;
	open_group(3, 0);
	connect_on(0, 1);
	b->arrives_on = 0;
	catch_frame();
	before = SUM(b, rx_handed_over);
	for (uint32_t i = 0; i < 10 * PLX_PORT_BURST; i++) {
		b->arrives_on = i % 2 * 2; /* from two engines */
		assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	}
	for (uint32_t i = 0; i < 20; i++) {
		pair.now += PLX_USEC;
		plx_engine_poll(b->all[0], pair.now);
		plx_engine_poll(b->all[2], pair.now);
	}
	for (uint32_t i = 0; i < 20; i++)
		plx_engine_poll(b->all[1], pair.now += PLX_USEC);
	assert_int_equal(SUM(b, rx_handed_over) - before, 10 * PLX_PORT_BURST);
	pair_close(&pair);
}

static void
a_number_that_nobody_has_is_dropped_by_its_engine(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t before;

	(void)state;
	open_group(2, 0);
	connect_on(0, 1);
	b->arrives_on = 0;
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(b->qp), PLX_OK);
	b->qp = NULL;
	pair_stop(&pair);
	before = plx_engine_counters(b->all[1])->rx_no_qp;
	assert_int_equal(pair_send(a, 1, 0, 64, 0), PLX_OK);
	pair_run(&pair, 10);
	assert_int_equal(plx_engine_counters(b->all[0])->rx_no_qp, 0);
	assert_true(plx_engine_counters(b->all[1])->rx_no_qp > before);
	pair_close(&pair);
}

/* A packet in pieces of any size crosses as it is. */
static void
a_chain_of_buffers_is_handed_over(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	(void)state;
	open_group(2, 0);
	connect_on(0, 1);
	for (uint32_t segs = 2; segs < 60; segs++) {
		b->arrives_on = 0;
		memset(a->memory, (int)segs, 100);
		assert_int_equal(pair_recv(b, segs, 1000, 100), PLX_OK);
		catch_frame();
		assert_true(pair_inject(&pair, 1, frame, frame_len, segs));
		assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 50), 1);
		assert_memory_equal(a->memory, b->memory + 1000, 100);
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 50), 1);
	}
	pair_close(&pair);
}

/* After a pause of the whole process the acknowledgement is still in another engine's queue. */
static void
timers_wait_until_the_other_engines_have_handed_over(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;
	const struct plx_rc_counters *counters;

	(void)state;
	open_group(2, 0);
	connect_on(1, 0);
	a->arrives_on = b->arrives_on = 0;
	assert_int_equal(pair_recv(b, 1, 0, 64), PLX_OK);
	assert_int_equal(pair_send(a, 1, 0, 64, 0), PLX_OK);
	pair.now += PLX_USEC;
	pair_poll_side(&pair, 0);
	pair_poll_side(&pair, 1);
	assert_int_equal(a->port.count, 1); /* the ACK */
	pair.now += PLX_SEC;
	counters = plx_engine_qp_counters(a->qp);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < 300; j++)
			plx_engine_poll(a->all[1], pair.now);
		assert_int_equal(counters->timeouts, 0);
		plx_engine_poll(a->all[0], pair.now);
		pair.now += PLX_USEC;
	}
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 50), 1);
	assert_int_equal(counters->timeouts, 0);
	/* An engine that is not polled at all delays the others' timers for the grace period. */
	a->port.lose = b->port.lose = 100;
	assert_int_equal(pair_send(a, 1, 0, 64, 0), PLX_OK);
	pair.now += PLX_USEC;
	plx_engine_poll(a->all[1], pair.now);
	pair.now += PLX_SEC;
	plx_engine_poll(a->all[1], pair.now);
	assert_int_equal(counters->timeouts, 0);
	for (uint32_t i = 0; i < 20; i++)
		plx_engine_poll(a->all[1], pair.now += PLX_MSEC);
	assert_true(counters->timeouts > 0);
	a->port.lose = b->port.lose = 0;
	pair_close(&pair);
}

static void
an_engine_with_packets_from_another_must_be_polled(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_group(2, 0);
	connect_on(0, 1);
	b->arrives_on = 0;
	pair_pass(&pair, 100 * PLX_MSEC);
	assert_int_equal(pair_send(a, 1, 0, 64, 0), PLX_OK);
	assert_int_not_equal(plx_engine_wake_ns(b->all[1]), 0);
	pair.now += PLX_USEC;
	pair_poll_side(&pair, 0);
	plx_engine_poll(b->all[0], pair.now);
	assert_int_equal(plx_engine_wake_ns(b->all[1]), 0);
	pair_close(&pair);
}

static void
a_group_that_cannot_be_is_refused(void **state)
{
	struct plx_engine_group *group;

	(void)state;
	open_group(1, 0);
	for (uint32_t engines = 0; engines <= PLX_ENGINES_MAX + 1; engines++)
		for (uint32_t depth = 0; depth <= PLX_HANDOFF_DEPTH + 1;
		     depth += depth < 1 ? 1 : PLX_HANDOFF_DEPTH / 2) {
			const struct plx_engine_group_config config = {engines, depth, -1};
			bool fine = engines >= 2 && engines <= PLX_ENGINES_MAX && depth >= 1 &&
				    depth <= PLX_HANDOFF_DEPTH;

			assert_int_equal(plx_engine_group_create(&config, &group),
					 fine ? PLX_OK : PLX_INVALID);
			if (fine)
				plx_engine_group_destroy(group);
		}
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_on_any_queue_reach_their_queue_pair),
		cmocka_unit_test(packets_on_queues_in_turn_reach_their_queue_pair),
		cmocka_unit_test(a_packet_is_counted_and_verified_once),
		cmocka_unit_test(a_wrong_icrc_is_found_by_the_engine_of_the_queue_pair),
		cmocka_unit_test(two_queue_pairs_of_one_adapter_on_different_engines_talk),
		cmocka_unit_test(a_full_ring_drops_and_counts_and_the_peer_retransmits),
		cmocka_unit_test(packets_in_rings_return_to_their_pool_at_the_end),
		cmocka_unit_test(a_ring_is_read_to_its_end),
		cmocka_unit_test(a_number_that_nobody_has_is_dropped_by_its_engine),
		cmocka_unit_test(a_chain_of_buffers_is_handed_over),
		cmocka_unit_test(timers_wait_until_the_other_engines_have_handed_over),
		cmocka_unit_test(an_engine_with_packets_from_another_must_be_polled),
		cmocka_unit_test(a_group_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
