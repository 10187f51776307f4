/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine that was not polled for a while: what it does first when it comes back, and what it
 * does not blame on its peers. Virtual time. Start with the table of tests at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"
#include "pair.h"

static struct pair pair;

/* Packets for nobody, more than two bursts: the next RX burst of this side is full. */
static void
flood(int to)
{
	static const uint8_t stray[60];

	while (pair.side[to].port.count < 2 * PLX_ENGINE_BURST)
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

/* Side 0 has been away and comes back to an RX that stays full; its request is lost on the way.
 * Returns: cycles until it is done all the same, at most `limit` */
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
	while (cycles < limit && plx_cqueue_poll(a->send_cq, &wc, 1) == 0) {
		flooded_cycle(cycle_ns);
		cycles++;
	}
	if (cycles < limit) {
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_true(plx_qpair_counters(a->qp)->requests_resent > 0);
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
	/* and when each cycle is a pause of its own, in every other one. */
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
	options.attr.ack_timeout_ns = PLX_SEC;
	pair_connect_with(&pair, &options);
	c = plx_engine_counters(a->engine);
	/* A timer is due for as long as the answer does not come. */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_run_again_while_rx_stays_full_after_a_pause),
		cmocka_unit_test(the_grace_after_a_pause_ends_by_bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
