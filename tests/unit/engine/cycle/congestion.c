/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Congestion strategies of queue pairs: a marked path slows DCQCN down, and nothing else; a new
 * connection knows nothing of an earlier one. Start with sent_in().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_pair.h"
#include "plx_engine_cycle.h"

enum {
	MESSAGE = 16384,
	DEPTH = 8,
	MSEC_ROUNDS = 1000,        /* of pair_run(), 1 us each */
	LINE_MSEC_BYTES = 1250000, /* at the line rate if none is configured, 10 Gbit/s */
};

static struct pair pair;

struct wire {
	bool marks;
	uint64_t bytes;
	uint32_t ect, cnps;
};

static struct wire wire;

/* Packets of side 0; all of them pass a congested switch if `marks`. */
static bool
pass(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, PLX_ETH_BYTES);

	(void)from;
	(void)user;
	wire.bytes += rte_pktmbuf_pkt_len(m);
	wire.ect += (ip[1] & 3) == PLX_ECN_ECT0;
	if (wire.marks && (ip[1] & 3) == PLX_ECN_ECT0)
		plx_frame_set_tos(ip, PLX_ECN_CE);
	return true;
}

static bool
count_cnps(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	wire.cnps += pair_opcode(m) == PLX_CNP;
	return true;
}

static void
open_pair(enum plx_congestion congestion)
{
	struct pair_options options = pair_defaults(DEPTH);

	options.congestion = congestion;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	pair.side[0].port.pass = pass;
	pair.side[1].port.pass = count_cnps;
	memset(&wire, 0, sizeof(wire));
}

static void
close_pair(void)
{
	pair.side[0].port.pass = pair.side[1].port.pass = NULL;
	pair_close(&pair);
}

/* Side 0 WRITEs as fast as it may. Returns: bytes of frames */
static uint64_t
sent_in(uint32_t msecs)
{
	struct plx_wc wc[DEPTH];
	uint64_t before = wire.bytes;

	for (uint32_t i = 0; i < msecs * MSEC_ROUNDS; i++) {
		while (pair_write(&pair.side[0], &pair.side[1], i, 0, MESSAGE, 0) == PLX_OK)
			continue;
		pair_run(&pair, 1);
		while (plx_engine_cq_poll(pair.side[0].send_cq, wc, DEPTH) > 0)
			assert_int_equal(wc[0].status, PLX_WC_SUCCESS);
	}
	return wire.bytes - before;
}

static void
marks_slow_dcqcn_down(void **state)
{
	uint64_t free_bytes, slowed;

	(void)state;
	open_pair(PLX_CONGESTION_DCQCN);
	free_bytes = sent_in(1);
	assert_int_equal(wire.cnps, 0);
	assert_true(wire.ect > 0);
	wire.marks = true;
	(void)sent_in(5);
	assert_true(wire.cnps > 0);
	slowed = sent_in(1);
	assert_true(slowed < free_bytes / 20);
	/* At most one CNP in 50 us. */
	assert_true(wire.cnps <= 6 * 1000 / 50 + 1);
	/* The congestion is over. */
	wire.marks = false;
	(void)sent_in(20);
	assert_true(sent_in(1) > free_bytes / 2);
	assert_true(plx_engine_qp_counters(pair.side[0].qp)->pace_stalls > 0);
	close_pair();
}

static void
without_a_strategy_nothing_slows_down(void **state)
{
	uint64_t free_bytes;

	(void)state;
	open_pair(PLX_CONGESTION_NONE);
	free_bytes = sent_in(1);
	wire.marks = true;
	assert_true(sent_in(1) > free_bytes * 9 / 10);
	assert_true(wire.cnps > 0);
	assert_int_equal(plx_engine_qp_counters(pair.side[0].qp)->pace_stalls, 0);
	close_pair();
}

/* The path of this fixture has no queue: the line rate is the limit. */
static void
the_delay_controller_finds_an_empty_path(void **state)
{
	(void)state;
	open_pair(PLX_CONGESTION_DELAY);
	(void)sent_in(20);
	assert_in_range(sent_in(1), LINE_MSEC_BYTES * 9 / 10, LINE_MSEC_BYTES * 11 / 10);
	assert_int_equal(wire.cnps, 0);
	close_pair();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_slow_dcqcn_down),
		cmocka_unit_test(without_a_strategy_nothing_slows_down),
		cmocka_unit_test(the_delay_controller_finds_an_empty_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
