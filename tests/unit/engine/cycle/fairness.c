/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fairness between many senders (decision 26): requests and READ responses of many queue pairs
 * share one rotation, on ports that accept all packets or few; doorbells are served in turn;
 * acknowledgements go first. The peers answer at once, so that queues never run empty for other
 * reasons. Start with open_crowd().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	CROWD = 16,
	BULK_ROOM = TX_ROOM - TX_RESERVE,
	RINGS = 128, /* doorbells of a queue pair in a test that counts them */
	POLLS = 10,  /* of the peer in each cycle: it keeps up with everything */
};

static struct pair pair;
static struct plx_qp *qa[PAIR_QPS], *qb[PAIR_QPS];

static void
open_crowd(uint32_t n, uint32_t depth, uint32_t window)
{
	struct pair_options options = pair_defaults(depth);

	options.cq_depth = 2 * depth * n;
	options.attr.ack_timeout_ns = 10 * PLX_SEC;
	options.attr.window_packets = window;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (uint32_t i = 0; i < n; i++) {
		qa[i] = pair_qp(&pair, 0, &options);
		qb[i] = pair_qp(&pair, 1, &options);
		pair_join(&pair, 0, qa[i], 1, qb[i], &options);
	}
	pair_stop(&pair);
}

static void
close_crowd(uint32_t n)
{
	pair.side[0].port.take = 0;
	pair.side[0].port.refuse = 0;
	pair_start(&pair);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(plx_engine_qp_destroy(qa[i]), PLX_OK);
		assert_int_equal(plx_engine_qp_destroy(qb[i]), PLX_OK);
	}
	pair_stop(&pair);
	pair.side[0].qp = pair.side[1].qp = NULL;
	pair_close(&pair);
}

/* As many requests of this queue pair as its queue holds. */
static void
fill(struct pair_side *from, struct plx_qp *qp, const struct pair_side *to, uint32_t bytes,
     bool read)
{
	from->qp = qp;
	while ((read ? pair_read(from, to, 1, 0, bytes, 0)
		     : pair_write(from, to, 1, 0, bytes, 0)) == PLX_OK)
		continue;
}

/* None may fail. */
static void
reap(struct plx_cq *cq)
{
	struct plx_wc wc[64];
	uint32_t n;

	while ((n = plx_engine_cq_poll(cq, wc, 64)) > 0) {
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
	}
}

/* One cycle of a's; the peer answers at once. */
static void
cycle(void)
{
	pair.now += PLX_USEC;
	plx_engine_poll(pair.side[0].engine, pair.now);
	for (uint32_t i = 0; i < POLLS; i++)
		plx_engine_poll(pair.side[1].engine, pair.now);
	reap(pair.side[0].send_cq);
	reap(pair.side[1].send_cq);
}

static uint64_t
sent_by(const struct plx_qp *qp)
{
	const struct plx_rc_counters *c = plx_engine_qp_counters(qp);

	return c->requests_sent + c->responses_sent;
}

/* The `n` queue pairs of `a` have sent alike. */
static void
assert_alike(uint32_t n, const uint64_t *before)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t sent = sent_by(qa[i]) - before[i];

		least = plx_time_min(least, sent);
		most = sent > most ? sent : most;
	}
	assert_true(least > 10 * QUANTUM_MAX);
	assert_true(least * 100 >= most * 95);
}

/* Keep [0, n) busy with our WRITEs, or the peer's READs, for this many cycles. */
static void
keep_busy(uint32_t n, uint32_t bytes, bool reads, uint32_t cycles)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	while (cycles-- > 0) {
		for (uint32_t i = 0; i < n; i++) {
			if (reads)
				fill(b, qb[i], a, bytes, true);
			else
				fill(a, qa[i], b, bytes, false);
		}
		cycle();
	}
}

/* One WRITE of 8 bytes on queue pair `n` while [0, n) are kept busy. Returns: cycles until it is
 * sent, at most `limit` */
static uint32_t
wait_of_a_small_write(uint32_t n, bool reads, uint32_t limit)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t before = sent_by(qa[n]);
	uint32_t waited = 0;

	a->qp = qa[n];
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	for (; sent_by(qa[n]) == before && waited < limit; waited++) {
		for (uint32_t i = 0; i < n; i++) {
			if (reads)
				fill(b, qb[i], a, PAIR_BYTES, true);
			else
				fill(a, qa[i], b, PAIR_BYTES, false);
		}
		cycle();
	}
	return waited;
}

/* ---- bulk ---- */

static void
writers_with_a_backlog_send_alike_whatever_the_port_takes(void **state)
{
	static const uint32_t takes[] = {0, 1, 31, 33, 100, BULK_ROOM + 1};
	uint64_t before[CROWD];
	(void)state;
	open_crowd(CROWD, 256, 128);
	for (size_t t = 0; t < PLX_COUNT_OF(takes); t++) {
		pair.side[0].port.take = takes[t];
		for (uint32_t i = 0; i < CROWD; i++)
			before[i] = sent_by(qa[i]);
		keep_busy(CROWD, 1024, false, takes[t] == 1 ? 8000 : 1000);
		assert_alike(CROWD, before);
	}
	close_crowd(CROWD);
}

/* The port accepts one packet more than a quantum: the queue pair that gets the last slot must
 * not lose the rest of its quantum each time. */
static void
a_quantum_that_was_cut_short_goes_on_in_the_next_cycle(void **state)
{
	uint64_t before[2];
	(void)state;
	open_crowd(2, 64, 1024);
	pair.side[0].port.take = QUANTUM_MAX + 1;
	keep_busy(2, 65536, false, 100);
	for (uint32_t i = 0; i < 2; i++)
		before[i] = sent_by(qa[i]);
	keep_busy(2, 65536, false, 1000);
	assert_alike(2, before);
	close_crowd(2);
}

static void
responders_of_reads_and_writers_send_alike(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t before[CROWD] = {0};
	(void)state;
	open_crowd(CROWD, 16, 1 << 16);
	for (uint32_t taken = 0; taken <= 64; taken += 64) {
		a->port.take = taken;
		for (uint32_t i = 0; i < CROWD; i++)
			before[i] = sent_by(qa[i]);
		for (uint32_t c = 0; c < 1000; c++) {
			for (uint32_t i = 0; i < CROWD; i += 2) {
				fill(b, qb[i], a, PAIR_BYTES, true);
				fill(a, qa[i + 1], b, PAIR_BYTES, false);
			}
			cycle();
		}
		assert_alike(CROWD, before);
	}
	close_crowd(CROWD);
}

/* READ responses know no window. */
static void
six_who_read_a_mebibyte_do_not_silence_a_small_write(void **state)
{
	(void)state;
	open_crowd(7, 16, 1 << 16);
	keep_busy(6, PAIR_BYTES, true, 100);
	assert_in_range(wait_of_a_small_write(6, true, 20000), 1, 2);
	close_crowd(7);
}

static void
a_small_write_waits_for_one_quantum_of_each_at_most(void **state)
{
	static const uint32_t takes[] = {1, 32, BULK_ROOM};
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		open_crowd(CROWD, 16, reads ? 1 << 16 : 1024);
		for (size_t i = 0; i < PLX_COUNT_OF(takes); i++) {
			uint32_t ahead = TX_ROOM + (CROWD - 1) * QUANTUM_MAX;

			pair.side[0].port.take = takes[i];
			keep_busy(CROWD - 1, PAIR_BYTES, reads, 300);
			assert_in_range(wait_of_a_small_write(CROWD - 1, reads, 20000), 1,
					ahead / takes[i] + 2);
		}
		close_crowd(CROWD);
	}
}

static void
with_many_waiting_turns_are_short_enough_that_a_cycle_serves_all(void **state)
{
	(void)state;
	open_crowd(CROWD, 16, 1024);
	keep_busy(CROWD, PAIR_BYTES, false, 50);
	for (uint32_t c = 0; c < 100; c++) {
		uint64_t before[CROWD];

		for (uint32_t i = 0; i < CROWD; i++)
			before[i] = sent_by(qa[i]);
		keep_busy(CROWD, PAIR_BYTES, false, 1);
		for (uint32_t i = 0; i < CROWD; i++)
			assert_in_range(sent_by(qa[i]) - before[i], BULK_ROOM / CROWD,
					2 * (BULK_ROOM / CROWD));
	}
	close_crowd(CROWD);
}

/* Requests and READ responses of all, in one cycle. */
static uint64_t
sent_in_a_cycle(bool reads)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < CROWD; i++)
		sent -= sent_by(qa[i]);
	keep_busy(CROWD, PAIR_BYTES, reads, 1);
	for (uint32_t i = 0; i < CROWD; i++)
		sent += sent_by(qa[i]);
	return sent;
}

static void
in_company_a_cycle_sends_as_much_as_a_cycle_receives(void **state)
{
	uint64_t before[CROWD];
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		open_crowd(CROWD, 16, reads ? 1 << 16 : 1024);
		keep_busy(CROWD, PAIR_BYTES, reads, 50);
		assert_true(sent_in_a_cycle(reads) > PLX_PORT_BURST);
		plx_engine_set_company(pair.side[0].engine, true);
		for (uint32_t i = 0; i < CROWD; i++)
			before[i] = sent_by(qa[i]);
		for (uint32_t c = 0; c < 200; c++)
			assert_in_range(sent_in_a_cycle(reads), 1, PLX_PORT_BURST);
		assert_alike(CROWD, before);
		plx_engine_set_company(pair.side[0].engine, false);
		keep_busy(CROWD, PAIR_BYTES, reads, 50);
		assert_true(sent_in_a_cycle(reads) > PLX_PORT_BURST);
		close_crowd(CROWD);
	}
}

/* ---- doorbells ---- */

static bool
lose(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)m;
	(void)user;
	return false;
}

/* Nothing arrives: there is no ACK to wait for, and every queue pair with free slots rings as
 * often as it likes. */
static void
open_ringers(void)
{
	open_crowd(PAIR_QPS, RINGS, RINGS);
	pair.side[0].port.pass = lose;
}

static void
ring(struct plx_qp *qp)
{
	pair.side[0].qp = qp;
	assert_int_equal(pair_write(&pair.side[0], &pair.side[1], 1, 0, 8, 0), PLX_OK);
}

/* All but one are posted to: more doorbells than a cycle serves. */
static void
ring_others(const struct plx_qp *victim)
{
	for (uint32_t i = 0; i < PAIR_QPS; i++)
		if (qa[i] != victim)
			ring(qa[i]);
}

static void
a_doorbell_is_served_in_turn_wherever_its_slot_is(void **state)
{
	(void)state;
	for (int highest = 0; highest < 2; highest++) {
		struct plx_qp *victim;
		uint32_t waited = 0;

		open_ringers();
		victim = qa[0];
		for (uint32_t i = 0; i < PAIR_QPS; i++)
			if (highest ? qa[i]->back->slot > victim->back->slot
				    : qa[i]->back->slot < victim->back->slot)
				victim = qa[i];
		for (uint32_t c = 0; c < 20; c++) {
			ring_others(victim);
			cycle();
		}
		assert_false(victim->back->sq.watched);
		ring(victim);
		for (; sent_by(victim) == 0 && waited < 100; waited++) {
			ring_others(victim);
			cycle();
		}
		/* Each other doorbell once, then one quantum of each to send. */
		assert_in_range(waited, 1, (PAIR_QPS + DOORBELLS_BURST - 1) / DOORBELLS_BURST + 1);
		close_crowd(PAIR_QPS);
	}
}

/* One cycle; each queue pair served in it rings again.
 * Returns: how many. @param times [PAIR_QPS], total */
static uint32_t
serve_and_ring(uint32_t *times)
{
	uint64_t before[PAIR_QPS];
	uint32_t served = 0;

	for (uint32_t i = 0; i < PAIR_QPS; i++)
		before[i] = plx_rc_sq_posted(qa[i]->back->rc);
	cycle();
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		if (plx_rc_sq_posted(qa[i]->back->rc) == before[i])
			continue;
		served++;
		times[i]++;
		ring(qa[i]);
	}
	return served;
}

/* Doorbells of every slot, from where the last cycle stopped: a queue pair that was served rings
 * again at once, and is not served again before all others were. A cycle serves up to its limit. */
static void
every_doorbell_is_served_once_before_any_is_served_twice(void **state)
{
	uint32_t times[PAIR_QPS] = {0};

	(void)state;
	open_ringers();
	ring_others(NULL);
	for (uint32_t c = 1; c < WATCH_NS / PLX_USEC; c++) {
		uint32_t least = UINT32_MAX, most = 0;

		assert_in_range(serve_and_ring(times), DOORBELLS_BURST, DOORBELLS_BURST + RECENT);
		for (uint32_t i = 0; i < PAIR_QPS; i++) {
			/* Into these rings each cycle looks without a doorbell, and for so long. */
			if (qa[i]->back->sq.watched)
				continue;
			least = times[i] < least ? times[i] : least;
			most = times[i] > most ? times[i] : most;
		}
		assert_in_range(most, least, least + 1);
	}
	close_crowd(PAIR_QPS);
}

/* ---- what does not wait its turn ---- */

/* With no slot left at all an ACK gets the first one, before all queue pairs waiting to send. */
static void
an_ack_that_found_no_place_gets_the_first(void **state)
{
	enum {
		MORE = TX_RESERVE +
		       8, /* queue pairs that owe an ACK: more than the reserve holds */
		QPS = MORE + 7
	};
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t acks = 0;
	(void)state;
	open_crowd(QPS, 16, 1024);
	a->port.refuse = UINT32_MAX;
	for (uint32_t i = MORE; i < QPS; i++)
		fill(a, qa[i], b, PAIR_BYTES, false);
	pair_run(&pair, 20);
	assert_int_equal(a->engine->tx_count, BULK_ROOM);
	for (uint32_t i = 0; i < MORE; i++) {
		b->qp = qb[i];
		assert_int_equal(pair_write(b, a, i, 0, 8, 0), PLX_OK);
	}
	pair_run(&pair, 20);
	assert_int_equal(a->engine->tx_count, TX_ROOM);
	/* It accepts eight: requests, which were queued earlier. In the next cycle the eight
	 * missing ACKs get the remaining slots. */
	a->port.refuse = 0;
	a->port.take = 8;
	pair_run(&pair, 1);
	assert_int_equal(a->engine->tx_count, TX_ROOM - 8);
	pair_run(&pair, 1);
	for (uint32_t i = 0; i < MORE; i++)
		acks += plx_engine_qp_counters(qa[i])->acks_sent;
	assert_int_equal(acks, MORE);
	close_crowd(QPS);
}

/* Flushing needs no port. */
static void
a_port_that_takes_nothing_does_not_hold_back_what_is_flushed(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint32_t flushed = 0, n;
	struct plx_wc wc[64];
	(void)state;
	open_crowd(CROWD, 200, 1024);
	a->port.refuse = UINT32_MAX;
	for (uint32_t i = 0; i < CROWD; i++)
		fill(a, qa[i], b, 4096, false);
	pair_run(&pair, 50);
	assert_int_equal(a->engine->tx_count, BULK_ROOM);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_modify(qa[CROWD - 1], PLX_QP_ERROR, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	pair_run(&pair, 10);
	while ((n = plx_engine_cq_poll(a->send_cq, wc, 64)) > 0)
		for (uint32_t i = 0; i < n; i++)
			flushed += wc[i].status == PLX_WC_FLUSHED;
	assert_int_equal(flushed, 200);
	close_crowd(CROWD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writers_with_a_backlog_send_alike_whatever_the_port_takes),
		cmocka_unit_test(a_quantum_that_was_cut_short_goes_on_in_the_next_cycle),
		cmocka_unit_test(responders_of_reads_and_writers_send_alike),
		cmocka_unit_test(six_who_read_a_mebibyte_do_not_silence_a_small_write),
		cmocka_unit_test(a_small_write_waits_for_one_quantum_of_each_at_most),
		cmocka_unit_test(with_many_waiting_turns_are_short_enough_that_a_cycle_serves_all),
		cmocka_unit_test(in_company_a_cycle_sends_as_much_as_a_cycle_receives),
		cmocka_unit_test(a_doorbell_is_served_in_turn_wherever_its_slot_is),
		cmocka_unit_test(every_doorbell_is_served_once_before_any_is_served_twice),
		cmocka_unit_test(an_ack_that_found_no_place_gets_the_first),
		cmocka_unit_test(a_port_that_takes_nothing_does_not_hold_back_what_is_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
