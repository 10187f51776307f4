/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine that was not polled for a while: what it does first when polling resumes, and which
 * timeouts it does not blame on its peers. Virtual time. Start with the table of tests at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

/* Packets for nobody, more than two bursts: the next RX burst of this side is full. */
static void
flood(int to)
{
	static const uint8_t stray[60];

	while (pair.side[to].port.count < 2 * PLX_PORT_BURST)
		assert_true(pair_inject(&pair, to, stray, sizeof(stray), 1));
}

/* One cycle of each engine, side 0 with a full RX burst. */
static void
flooded_cycle(uint64_t ns)
{
	flood(0);
	pair.now += ns;
	plx_engine_poll(pair.side[0].engine, pair.now);
	plx_engine_poll(pair.side[1].engine, pair.now);
}

/* Side 0 was not polled and returns to an RX that stays full; its request is lost on the way.
 * Returns: cycles until it completes all the same, at most `limit` */
static uint32_t
cycles_until_recovery(uint64_t cycle_ns, uint32_t limit)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;
	uint32_t cycles = 0;

	options.attr.ack_timeout_ns = PLX_MSEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	flooded_cycle(PLX_USEC);
	flooded_cycle(LATE_NS + PLX_MSEC);
	a->port.lose = 1;
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	while (cycles < limit && plx_engine_cq_poll(a->send_cq, &wc, 1) == 0) {
		flooded_cycle(cycle_ns);
		cycles++;
	}
	if (cycles < limit) {
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_true(plx_engine_qp_counters(a->qp)->requests_resent > 0);
	}
	pair_close(&pair);
	return cycles;
}

static void
timers_run_again_while_rx_stays_full_after_a_pause(void **state)
{
	(void)state;
	/* The grace is over by its time, */
	assert_in_range(cycles_until_recovery(PLX_MSEC, 60000), 1,
			2 + (GRACE_NS + 2 * PLX_MSEC) / PLX_MSEC);
	/* by its bursts: the ack timeout is a thousand cycles, */
	assert_in_range(cycles_until_recovery(PLX_USEC, 60000), GRACE_BURSTS - 1, 2000);
	/* and when each cycle is a pause of its own, in every second one. */
	assert_in_range(cycles_until_recovery(2 * LATE_NS, 1000), 1, 8);
}

static void
the_grace_after_a_pause_ends_by_bursts(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_engine_counters *c;
	uint64_t before;

	(void)state;
	pair_open(&pair, false);
	options.attr.ack_timeout_ns = LATE_NS / 2;
	pair_connect_with(&pair, &options);
	c = plx_engine_counters(a->engine);
	/* A timer is due after the pause, and no answer comes. */
	b->port.hold = true;
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	pair_run(&pair, 10);
	before = c->ticks;
	flooded_cycle(2 * PLX_SEC);
	for (uint32_t i = 0; i < GRACE_BURSTS - 2; i++)
		flooded_cycle(1);
	assert_int_equal(c->ticks, before);
	flooded_cycle(1);
	assert_true(c->ticks > before);
	b->port.hold = false;
	pair_close(&pair);
}

/* ---- no penalty for a stall ---- */

static void
connect_for(struct pair_options *options, uint64_t ack_timeout_ns, uint8_t retry_max)
{
	*options = pair_defaults(16);
	options->attr.ack_timeout_ns = ack_timeout_ns;
	options->attr.retry_max = retry_max;
	pair_open(&pair, false);
	pair_connect_with(&pair, options);
}

/* Both engines share a core that others use: they are away together, again and again, and in
 * between come to one cycle at a time. */
static void
own_absence_is_not_a_peers_silence(void **state)
{
	const uint64_t timeout = plx_ack_timeout_ns(14), away = 600 * PLX_MSEC;
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options;
	struct plx_wc wc;

	(void)state;
	connect_for(&options, timeout, 7);
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	b->port.hold = true;
	for (int i = 0; i < 5; i++) {
		pair.now += away;
		plx_engine_poll(a->engine, pair.now);
	}
	assert_int_equal(plx_engine_qp_counters(a->qp)->timeouts, 0);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 5);
	assert_int_equal(plx_engine_counters(a->engine)->stalled_ns, 5 * away);
	/* 24 s of absence in total: only the time actually waited counts. */
	for (int i = 0; i < 35; i++) {
		pair.now += away;
		plx_engine_poll(a->engine, pair.now);
	}
	assert_true(plx_engine_qp_counters(a->qp)->timeouts <= 40 * LATE_NS / timeout);
	b->port.hold = false;
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	pair_close(&pair);
}

/* A silent peer is given up after the agreed time of waiting, and not later. */
static void
a_silent_peer_is_given_up_in_time(void **state)
{
	const uint64_t timeout = 20 * PLX_MSEC;
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options;
	struct plx_wc wc;
	uint64_t from;

	(void)state;
	connect_for(&options, timeout, 3);
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	pair_run(&pair, 1);
	from = pair.now;
	b->port.hold = true;
	assert_int_equal(pair_write(a, b, 2, 0, 8, 0), PLX_OK);
	/* Polls of 1 ms are not stalls: an engine that polls when its deadline says is never
	 * late. */
	while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 0 || wc.status == PLX_WC_SUCCESS) {
		pair_pass(&pair, PLX_MSEC);
		assert_true(pair.now - from < 4 * timeout + 10 * PLX_MSEC);
	}
	assert_int_equal(wc.status, PLX_WC_RETRY_EXCEEDED);
	assert_true(pair.now - from >= 4 * timeout);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 0);
	b->port.hold = false;
	pair_close(&pair);
}

static void
whoever_comes_when_it_was_told_to_is_not_late(void **state)
{
	const uint64_t timeout = 200 * PLX_MSEC;
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options;
	uint64_t from, wake;
	struct plx_wc wc;

	(void)state;
	connect_for(&options, timeout, 1);
	b->port.hold = true;
	assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
	pair_run(&pair, 1);
	from = pair.now;
	for (int i = 0; plx_engine_cq_poll(a->send_cq, &wc, 1) == 0; i++) {
		assert_true(i < 100);
		wake = plx_engine_wake_ns(a->engine);
		assert_true(wake != PLX_NEVER);
		pair.now = wake > pair.now ? wake : pair.now + PLX_USEC;
		plx_engine_poll(a->engine, pair.now);
	}
	assert_int_equal(wc.status, PLX_WC_RETRY_EXCEEDED);
	assert_in_range(pair.now - from, 2 * timeout, 2 * timeout + PLX_MSEC);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 0);
	/* There is no deadline: it may stay away for ever. */
	pair_pass(&pair, 10 * PLX_SEC);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 0);
	wake = plx_engine_wake_ns(a->engine);
	pair.now += wake == PLX_NEVER ? PLX_SEC : wake - pair.now;
	plx_engine_poll(a->engine, pair.now);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 0);
	/* That was one pause. */
	pair.now += PLX_SEC;
	plx_engine_poll(a->engine, pair.now);
	assert_int_equal(plx_engine_counters(a->engine)->stalls, 1);
	b->port.hold = false;
	pair_close(&pair);
}

/* Why a queue pair failed, with what only the engine knows: how long it was away itself. */
static void
a_death_is_told_with_the_retries_and_the_stall(void **state)
{
	const uint64_t away = 345 * PLX_MSEC;
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options;
	struct plx_async_event event;
	struct plx_wc wc;
	uint32_t told = 0;

	(void)state;
	for (int stalls = 0; stalls < 3; stalls++) {
		connect_for(&options, 5 * PLX_MSEC, 3);
		pair_pass(&pair, PLX_MSEC);
		if (stalls == 2)
			pair.now += 2 * away;
		pair_pass(&pair, stalls == 2 ? 3 * STALLS_SPAN_NS : PLX_MSEC);
		b->port.hold = true;
		assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
		if (stalls > 0) {
			pair_run(&pair, 1);
			pair.now += away;
		}
		for (int i = 0; i < 100 && plx_engine_cq_poll(a->send_cq, &wc, 1) == 0; i++)
			pair_pass(&pair, PLX_MSEC);
		assert_int_equal(wc.status, PLX_WC_RETRY_EXCEEDED);
		while (plx_engine_next_async_event(a->engine, &event)) {
			if (event.kind != PLX_EVENT_FAILED)
				continue;
			told++;
			assert_int_equal(event.cause, PLX_WC_RETRY_EXCEEDED);
			assert_int_equal(event.failure.peer_qpn, plx_engine_qp_number(b->qp));
			assert_int_equal(event.failure.psn_unacked, a->qp->first_psn.v);
			assert_int_equal(event.failure.psn_expected, b->qp->first_psn.v);
			assert_int_equal(event.failure.retry_max, 3);
			assert_int_equal(event.failure.retries, 3);
			assert_int_equal(event.failure.rnr_retries, 0);
			if (stalls > 0)
				assert_in_range(event.failure.stall_ns, away, away + PLX_MSEC);
			else
				assert_int_equal(event.failure.stall_ns, 0);
		}
		assert_int_equal(plx_engine_counters(a->engine)->qps_failed, 1);
		b->port.hold = false;
		pair_close(&pair);
	}
	assert_int_equal(told, 3);
}

/* ---- a clock that goes backwards ---- */

static void
a_clock_that_steps_back_ends_nothing(void **state)
{
	static const uint64_t steps[] = {1, PLX_USEC, LATE_NS / 2, LATE_NS, 2 * LATE_NS, PLX_SEC};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(steps); i++) {
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		struct pair_options options;
		struct plx_wc wc;
		uint64_t own;

		connect_for(&options, 20 * PLX_MSEC, 0);
		pair_pass(&pair, 2 * PLX_SEC);
		own = a->engine->now;
		assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
		pair.now -= steps[i];
		plx_engine_send(a->engine, pair.now);
		plx_engine_poll(a->engine, pair.now);
		assert_true(plx_engine_counters(a->engine)->clock_back >= 1);
		/* Our clock stops for that long, and resumes. */
		assert_int_equal(a->engine->now, own);
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		pair_pass(&pair, LATE_NS + PLX_MSEC);
		assert_true(a->engine->now > own);
		assert_int_equal(plx_engine_counters(a->engine)->stalls, 0);
		/* Timers as well: a lost request is sent again, and soon. */
		a->port.lose = 1;
		assert_int_equal(pair_write(a, b, 2, 0, 8, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 1000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		pair_close(&pair);
	}
}

/* A thread that moves between two cores whose clocks differ gains no time by it. */
static void
two_clocks_that_differ_are_not_added_up(void **state)
{
	struct pair_side *a = &pair.side[0];
	struct pair_options options;
	uint64_t own;

	(void)state;
	connect_for(&options, PLX_SEC, 0);
	own = a->engine->now;
	for (int i = 0; i < 1000; i++) {
		plx_engine_poll(a->engine, pair.now + LATE_NS / 2);
		plx_engine_poll(a->engine, pair.now);
		pair.now += PLX_USEC;
	}
	assert_true(a->engine->now - own < LATE_NS / 2 + 2 * PLX_MSEC);
	assert_int_equal(plx_engine_counters(a->engine)->clock_back, 1000);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_run_again_while_rx_stays_full_after_a_pause),
		cmocka_unit_test(the_grace_after_a_pause_ends_by_bursts),
		cmocka_unit_test(own_absence_is_not_a_peers_silence),
		cmocka_unit_test(a_silent_peer_is_given_up_in_time),
		cmocka_unit_test(whoever_comes_when_it_was_told_to_is_not_late),
		cmocka_unit_test(a_death_is_told_with_the_retries_and_the_stall),
		cmocka_unit_test(a_clock_that_steps_back_ends_nothing),
		cmocka_unit_test(two_clocks_that_differ_are_not_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
