/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending to a port that accepts few packets, accepts them late, or none; without buffers; in turn
 * between queue pairs; to the own port; and to a neighbour that has moved. Nothing leaks:
 * pair_close() counts the buffers. Start with transfer().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	QPS = 8
};

static struct pair pair;

/* Transfer bytes from a to b, however long that takes. */
static void
transfer(uint32_t bytes, uint32_t rounds)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	for (uint32_t i = 0; i < bytes; i++)
		a->memory[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(pair_write(a, b, 1, 0, bytes, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, rounds), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_memory_equal(a->memory, b->memory, bytes);
}

static void
a_port_that_takes_one_packet_at_a_time_gets_them_all(void **state)
{
	const struct plx_engine_counters *c;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	c = plx_engine_counters(pair.side[0].engine);
	pair.side[0].port.take = 1;
	pair.side[1].port.take = 1;
	transfer(200000, 2000);
	assert_true(c->tx_full > 50);
	assert_int_equal(c->tx_dropped, 0);
	assert_int_equal(plx_engine_qp_counters(pair.side[0].qp)->requests_resent, 0);
	/* One ARP request or reply beside the request packets, each counted as it left. */
	assert_true(c->tx_packets >= 196 && c->tx_packets < 210);
	assert_true(c->tx_bytes > 200000 && c->tx_bytes < 200000 + c->tx_packets * 100);
	pair_close(&pair);
}

static void
a_port_that_takes_nothing_for_a_while_delays_only(void **state)
{
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	pair.side[0].port.refuse = 500;
	transfer(200000, 2000);
	assert_int_equal(plx_engine_counters(pair.side[0].engine)->tx_full, 500);
	assert_int_equal(plx_engine_counters(pair.side[0].engine)->tx_dropped, 0);
	pair_close(&pair);
}

static void
a_port_that_takes_nothing_for_too_long_loses_what_waits(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_engine_counters *c;
	struct pair_options options = pair_defaults(16);
	struct plx_wc wc;
	uint32_t waiting;
	(void)state;
	options.attr.ack_timeout_ns = 400 * PLX_MSEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	c = plx_engine_counters(a->engine);
	a->port.refuse = UINT32_MAX;
	assert_int_equal(pair_write(a, b, 1, 0, 100000, 0), PLX_OK);
	pair_run(&pair, 10);
	waiting = a->engine->tx_count;
	assert_int_equal(waiting, 98);
	pair_pass(&pair, 99 * PLX_MSEC);
	pair_run(&pair, 10);
	assert_int_equal(c->tx_dropped, 0);
	pair_pass(&pair, 2 * PLX_MSEC);
	pair_run(&pair, 1);
	assert_int_equal(c->tx_dropped, waiting);
	assert_int_equal(a->engine->tx_count, 0);
	assert_int_equal(c->tx_packets, plx_engine_net_counters(a->engine)->requests_sent +
						plx_engine_net_counters(a->engine)->replies_sent);
	/* The wait restarts with the next packet. */
	for (int i = 0; i < 400 && a->engine->tx_count == 0; i++)
		pair_pass(&pair, PLX_MSEC);
	assert_true(a->engine->tx_count > 0);
	a->port.refuse = 0;
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 2000), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(plx_engine_qp_counters(a->qp)->timeouts, 1);
	pair_close(&pair);
}

static void
without_buffers_nothing_is_sent_until_there_are_some(void **state)
{
	static struct rte_mbuf *all[PAIR_POOL];
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_engine_counters *c;
	uint32_t n = 0;
	struct plx_wc wc;
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		pair_open(&pair, inline_mode);
		pair_connect(&pair, 16);
		c = plx_engine_counters(a->engine);
		for (n = 0; n < PAIR_POOL; n++)
			if ((all[n] = rte_pktmbuf_alloc(pair.pool)) == NULL)
				break;
		/* More than the engines have in stock; sent buffers are not returned yet. */
		b->port.hold = true;
		assert_int_equal(pair_write(a, b, 1, 0, 300000, 0), PLX_OK);
		pair_run(&pair, 100);
		assert_true(c->tx_no_buffer > 50);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, &wc, 1), 0);
		assert_int_equal(plx_engine_wake_ns(a->engine), 0);
		/* A few at a time. */
		b->port.hold = false;
		while (n > 0) {
			for (uint32_t i = 0; i < 50 && n > 0; i++)
				rte_pktmbuf_free(all[--n]);
			pair_run(&pair, 10);
		}
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		pair_close(&pair);
	}
}

/* ---- in turn ---- */

struct tally {
	uint64_t packets[QPS];
	struct plx_qp *qp[QPS]; /* the receiving ones */
	uint64_t most_apart;
};

static bool
tally(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	const uint8_t *bth = rte_pktmbuf_mtod_offset(m, const uint8_t *, 42);
	uint32_t qpn = (uint32_t)bth[5] << 16 | (uint32_t)bth[6] << 8 | bth[7];
	struct tally *t = user;
	uint64_t least = UINT64_MAX, most = 0;

	(void)from;
	for (uint32_t i = 0; i < QPS; i++) {
		t->packets[i] += plx_engine_qp_number(t->qp[i]) == qpn;
		least = plx_time_min(least, t->packets[i]);
		most = t->packets[i] > most ? t->packets[i] : most;
	}
	if (most - least > t->most_apart)
		t->most_apart = most - least;
	return true;
}

static void
make_crowd(struct plx_qp **qa, struct plx_qp **qb, uint32_t window)
{
	struct pair_options options = pair_defaults(16);

	options.cq_depth = 16 * QPS;
	options.attr.ack_timeout_ns = PLX_SEC;
	options.attr.window_packets = window;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (uint32_t i = 0; i < QPS; i++) {
		qa[i] = pair_qp(&pair, 0, &options);
		qb[i] = pair_qp(&pair, 1, &options);
		pair_join(&pair, 0, qa[i], 1, qb[i], &options);
	}
	pair_stop(&pair);
}

static void
end_crowd(struct plx_qp **qa, struct plx_qp **qb)
{
	pair_start(&pair);
	for (uint32_t i = 0; i < QPS; i++) {
		assert_int_equal(plx_engine_qp_destroy(qa[i]), PLX_OK);
		assert_int_equal(plx_engine_qp_destroy(qb[i]), PLX_OK);
	}
	pair_stop(&pair);
	pair_close(&pair);
}

static void
write_all(struct pair_side *from, const struct pair_side *to, struct plx_qp **qps, uint32_t bytes)
{
	for (uint32_t i = 0; i < QPS; i++) {
		from->qp = qps[i];
		assert_int_equal(pair_write(from, to, i, 0, bytes, 0), PLX_OK);
	}
	from->qp = NULL;
}

static void
what_was_posted_can_leave_between_two_cycles(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_engine_counters *c;
	struct plx_engine_counters was;
	struct plx_wc wc;
	(void)state;
	pair_open(&pair, true);
	pair_connect(&pair, 16);
	transfer(100, 2000); /* the neighbour is known */
	pair_run(&pair, 10);
	c = plx_engine_counters(a->engine);
	was = *c;
	assert_int_equal(engine_sq_in_flight(&a->qp->back->sq), 0);
	memset(a->memory, 0xa5, 100);
	assert_int_equal(pair_write(a, b, 7, 0, 100, 0), PLX_OK);
	assert_int_equal(engine_sq_in_flight(&a->qp->back->sq), 1);
	assert_int_equal(c->tx_packets, was.tx_packets);
	plx_engine_send(a->engine, plx_clock_ns());
	assert_int_equal(c->tx_packets, was.tx_packets + 1);
	assert_int_equal(c->cycles, was.cycles);
	/* Once: a duplicate request does not send it again. */
	plx_engine_send(a->engine, plx_clock_ns());
	assert_int_equal(c->tx_packets, was.tx_packets + 1);
	/* It is there, and its ICRC is right, before this end has its next cycle. */
	plx_engine_poll(b->engine, plx_clock_ns());
	assert_memory_equal(a->memory, b->memory, 100);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 2000), 1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(engine_sq_in_flight(&a->qp->back->sq), 0);
	assert_int_equal(plx_engine_qp_counters(a->qp)->requests_resent, 0);
	pair_close(&pair);
}

static void
queue_pairs_take_turns(void **state)
{
	struct plx_qp *qa[QPS], *qb[QPS];
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct tally t;
	struct plx_wc wc[QPS];
	(void)state;
	/* The window never ends a quantum: only the rotation does. */
	make_crowd(qa, qb, 1024);
	memset(&t, 0, sizeof(t));
	memcpy(t.qp, qb, sizeof(t.qp));
	a->port.pass = tally;
	a->port.user = &t;
	write_all(a, b, qa, 500000);
	assert_int_equal(pair_reap(&pair, a->send_cq, wc, QPS, 10000), QPS);
	for (uint32_t i = 0; i < QPS; i++) {
		assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
		assert_int_equal(t.packets[i], (500000 + 1023) / 1024);
	}
	/* No queue pair is ever ahead by more than a quantum plus the others' quanta. */
	assert_true(t.most_apart <= 2 * QUANTUM_MAX);
	a->port.pass = NULL;
	end_crowd(qa, qb);
}

/* Requests leave slots for replies, and one queue pair's requests do not use those that
 * another's reply needs. */
static void
answers_find_a_place_when_requests_have_filled_the_rest(void **state)
{
	struct plx_qp *qa[QPS], *qb[QPS];
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[QPS];
	uint32_t acks = 0;
	(void)state;
	make_crowd(qa, qb, 128);
	a->port.refuse = UINT32_MAX;
	write_all(a, b, qa, 500000);
	pair_run(&pair, 50);
	assert_int_equal(a->engine->tx_count, TX_ROOM - TX_RESERVE);
	write_all(b, a, qb, 100);
	pair_run(&pair, 50);
	assert_true(a->engine->tx_count > TX_ROOM - TX_RESERVE);
	for (uint32_t i = TX_ROOM - TX_RESERVE; i < a->engine->tx_count; i++)
		acks += pair_opcode(a->engine->tx[i]) == PLX_RC_ACK;
	assert_int_equal(acks, QPS);
	a->port.refuse = 0;
	assert_int_equal(pair_reap(&pair, b->send_cq, wc, QPS, 10000), QPS);
	assert_int_equal(pair_reap(&pair, a->send_cq, wc, QPS, 10000), QPS);
	end_crowd(qa, qb);
}

/* ---- other paths ---- */

static void
a_queue_pair_may_talk_to_its_own_address(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_options options = pair_defaults(16);
		struct pair_side *a = &pair.side[0];
		struct plx_qp *one, *other;
		uint64_t sent;
		struct plx_wc wc;

		pair_open(&pair, inline_mode);
		pair_start(&pair);
		pair_make_queues(&pair, &options);
		one = pair_qp(&pair, 0, &options);
		other = pair_qp(&pair, 0, &options);
		pair_join(&pair, 0, one, 0, other, &options);
		pair_stop(&pair);
		sent = plx_engine_counters(a->engine)->tx_packets;
		a->qp = other;
		assert_int_equal(pair_recv(a, 9, 500000, 300000), PLX_OK);
		a->qp = one;
		for (uint32_t i = 0; i < 300000; i++)
			a->memory[i] = (uint8_t)(i * 11 + i / 256);
		assert_int_equal(pair_send(a, 1, 0, 300000, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->recv_cq, &wc, 1, 5000), 1);
		assert_int_equal(wc.bytes, 300000);
		assert_memory_equal(a->memory, a->memory + 500000, 300000);
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 5000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(plx_engine_counters(a->engine)->tx_packets, sent);
		/* Closed with packets in flight. */
		assert_int_equal(pair_send(a, 2, 0, 300000, 0), PLX_OK);
		pair_run(&pair, 2);
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_destroy(other), PLX_OK);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

static void
packets_to_ourselves_do_not_keep_the_port_from_being_heard(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_qp *one, *other, *mine;
	struct plx_wc wc[16];
	uint32_t rounds = 0;
	(void)state;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	mine = a->qp;
	pair_start(&pair);
	one = pair_qp(&pair, 0, &options);
	other = pair_qp(&pair, 0, &options);
	pair_join(&pair, 0, one, 0, other, &options);
	pair_stop(&pair);
	a->qp = one;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(pair_write(a, a, i, 0, 1000000, PLX_WR_UNSIGNALED), PLX_OK);
	a->qp = mine;
	pair_run(&pair, 5);
	/* While a million bytes after the other go round, the peer is served. */
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(pair_write(b, a, i, 1000000, 8, 0), PLX_OK);
		while (plx_engine_cq_poll(b->send_cq, wc, 16) == 0) {
			pair_run(&pair, 1);
			assert_true(++rounds < 200);
		}
	}
	assert_true(a->engine->loop_count > 0);
	assert_int_equal(plx_engine_qp_counters(b->qp)->timeouts, 0);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(one), PLX_OK);
	assert_int_equal(plx_engine_qp_destroy(other), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

static bool
note_address(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	if (pair_opcode(m) >= 0)
		memcpy(user, rte_pktmbuf_mtod(m, const uint8_t *), 6);
	return true;
}

/* F23: the peer's address moves to another MAC; the connection stays. */
static void
a_neighbour_that_moves_is_followed(void **state)
{
	static const uint8_t moved[6] = {2, 0, 0, 0, 0, 99};
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint8_t arp[60] = {[12] = 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2};
	uint8_t seen[6] = {0};
	struct plx_wc wc;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	a->port.pass = note_address;
	a->port.user = seen;
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_memory_equal(seen, b->port.port.caps.mac, 6);
	pair_pass(&pair, 5 * PLX_SEC);
	pair_run(&pair, 1);
	memset(arp, 0xff, 6);
	memcpy(arp + 6, moved, 6);
	memcpy(arp + 22, moved, 6);
	memcpy(arp + 28, b->ip.v, 4);
	memcpy(arp + 32, a->port.port.caps.mac, 6);
	memcpy(arp + 38, a->ip.v, 4);
	memcpy(b->port.port.caps.mac, moved, 6);
	assert_true(pair_inject(&pair, 0, arp, sizeof(arp), 1));
	pair_run(&pair, 2);
	assert_int_equal(plx_engine_net_counters(a->engine)->moved, 1);
	assert_int_equal(pair_write(a, b, 2, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_memory_equal(seen, moved, 6);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_takes_one_packet_at_a_time_gets_them_all),
		cmocka_unit_test(a_port_that_takes_nothing_for_a_while_delays_only),
		cmocka_unit_test(a_port_that_takes_nothing_for_too_long_loses_what_waits),
		cmocka_unit_test(without_buffers_nothing_is_sent_until_there_are_some),
		cmocka_unit_test(what_was_posted_can_leave_between_two_cycles),
		cmocka_unit_test(queue_pairs_take_turns),
		cmocka_unit_test(answers_find_a_place_when_requests_have_filled_the_rest),
		cmocka_unit_test(a_queue_pair_may_talk_to_its_own_address),
		cmocka_unit_test(packets_to_ourselves_do_not_keep_the_port_from_being_heard),
		cmocka_unit_test(a_neighbour_that_moves_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
