/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Congestion: which of our packets are ECN-capable, and how we respond to marked packets of a peer.
 * A switch on the wire marks ECN-capable packets when the test says so. Start with mark().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	MARK_NONE,
	MARK_ALL,
	CNP_BYTES = PLX_BTH_BYTES + PLX_CNP_PAYLOAD_BYTES + PLX_ICRC_BYTES,
	WRITES = 300,
};

static struct pair pair;

/* What the wire has carried. */
static struct {
	uint32_t ect, not_ect, marked, acks; /* RoCE packets, CNPs not counted */
	uint32_t cnps[2];                    /* by the side that sent them */
	uint64_t last_cnp[2];
	uint8_t cnp[2][128]; /* the newest */
	uint32_t cnp_len;
	int how; /* MARK_NONE, MARK_ALL */
} wire;

static void
see_notification(int from, const struct rte_mbuf *m)
{
	if (wire.cnps[from]++ > 0)
		assert_true(pair.now - wire.last_cnp[from] >= PLX_CNP_INTERVAL_NS);
	wire.last_cnp[from] = pair.now;
	assert_true(m->pkt_len <= sizeof(wire.cnp[from]));
	memcpy(wire.cnp[from], rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len);
	wire.cnp_len = m->pkt_len;
}

static bool
mark(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);
	int opcode = pair_opcode(m);
	struct plx_frame frame;

	(void)user;
	if (opcode < 0)
		return true;
	if (opcode == PLX_CNP) {
		see_notification((int)(from - pair.side), m);
		return true;
	}
	assert_int_equal(plx_frame_decode(bytes, m->pkt_len, 0, &frame), PLX_WIRE_OK);
	if (plx_frame_ecn(&frame) == PLX_ECN_NOT_ECT) {
		wire.not_ect++;
		return true;
	}
	assert_int_equal(plx_frame_ecn(&frame), PLX_ECN_ECT0);
	wire.ect++;
	if (wire.how == MARK_ALL) {
		uint8_t tos = frame.ip_version == 4 ? frame.v4.tos : (uint8_t)(frame.v6.flow >> 20);

		plx_frame_set_tos(bytes + frame.ip_at, tos | PLX_ECN_CE);
		wire.marked++;
	}
	return true;
}

static void
open_wire(const struct pair_setup *setup, int how)
{
	memset(&wire, 0, sizeof(wire));
	wire.how = how;
	pair_open_with(&pair, setup);
	pair_connect(&pair, 64);
	pair.side[0].port.pass = pair.side[1].port.pass = mark;
}

static void
write_many(uint32_t n)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pair_write(a, b, i, 0, 64, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
	}
}

/* Side 1 gets marked requests, side 0 marked ACKs: each notifies the other once in 50 us. */
static void
marks_are_answered_once_in_50_us_and_only_they(void **state)
{
	(void)state;
	for (int scene = 0; scene < 8; scene++) {
		const struct pair_setup setup = {.ipv6 = scene & 1, .vlan = scene & 2 ? 9 : 0};
		int how = scene & 4 ? MARK_ALL : MARK_NONE;
		uint64_t began;

		open_wire(&setup, how);
		began = pair.now;
		write_many(WRITES);
		pair_run(&pair, 10);
		assert_int_equal(wire.not_ect, 0);
		assert_true(wire.ect >= 2 * WRITES);
		for (int i = 0; i < 2; i++) {
			const struct plx_rc_counters *c = plx_engine_qp_counters(pair.side[i].qp);
			uint64_t most = (pair.now - began) / PLX_CNP_INTERVAL_NS + 1;

			assert_int_equal(c->ce_marks, how == MARK_ALL ? wire.marked / 2 : 0);
			assert_int_equal(c->cnps_sent, wire.cnps[i]);
			assert_int_equal(c->verdict[PLX_VERDICT_CNP], wire.cnps[!i]);
			if (how == MARK_ALL)
				assert_in_range(c->cnps_sent, most - 2, most);
			else
				assert_int_equal(c->cnps_sent, 0);
		}
		pair_close(&pair);
	}
}

/* Annex A17: BTH with BECN, to the peer's queue pair, and sixteen bytes of zeros. */
static void
a_notification_is_what_rnics_send(void **state)
{
	static const uint8_t zeros[PLX_CNP_PAYLOAD_BYTES];

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct plx_frame frame;
		struct plx_pkt pkt;
		const uint8_t *bth;

		open_wire(&(struct pair_setup){.ipv6 = ipv6}, MARK_ALL);
		write_many(1);
		wire.how = MARK_NONE;
		pair.now += PLX_MSEC;
		assert_int_equal(wire.cnps[1], 1);
		assert_int_equal(plx_frame_decode(wire.cnp[1], wire.cnp_len, 0, &frame),
				 PLX_WIRE_OK);
		assert_int_equal(frame.udp_bytes, PLX_UDP_BYTES + CNP_BYTES);
		assert_int_equal(ipv6 ? frame.v6.flow >> 20 : frame.v4.tos, 48 << 2);
		bth = wire.cnp[1] + frame.udp_at + PLX_UDP_BYTES;
		assert_int_equal(plx_pkt_decode(bth, CNP_BYTES, &pkt), PLX_WIRE_OK);
		assert_int_equal(pkt.opcode, PLX_CNP);
		assert_true(pkt.becn && !pkt.fecn && !pkt.ack_request);
		assert_int_equal(pkt.pkey, PLX_PKEY_DEFAULT);
		assert_int_equal(pkt.psn.v, 0);
		assert_int_equal(pkt.payload_bytes, PLX_CNP_PAYLOAD_BYTES);
		assert_memory_equal(pkt.payload, zeros, sizeof(zeros));
		assert_int_equal(
			plx_icrc_load(bth + CNP_BYTES - PLX_ICRC_BYTES),
			plx_icrc_isal(wire.cnp[1] + frame.ip_at, frame.ip_bytes - PLX_ICRC_BYTES));
		pair_close(&pair);
	}
}

static void
nobody_but_the_peer_can_notify(void **state)
{
	const struct plx_rc_counters *c;
	const struct plx_engine_counters *engine;
	uint8_t cnp[sizeof(wire.cnp[1])];
	uint32_t at = 14 + 20 + 8;

	(void)state;
	open_wire(&(struct pair_setup){.ipv6 = false}, MARK_ALL);
	write_many(1);
	wire.how = MARK_NONE;
	pair_run(&pair, 5);
	assert_int_equal(wire.cnps[1], 1); /* what strangers write anew below */
	c = plx_engine_qp_counters(pair.side[0].qp);
	engine = plx_engine_counters(pair.side[0].engine);
	for (int wrong = 0; wrong < 3; wrong++) {
		uint64_t taken = c->verdict[PLX_VERDICT_CNP], icrc = engine->rx_icrc;
		uint64_t denied = engine->denied[PLX_VERDICT_ADDRESS], lost = engine->rx_no_qp;

		memcpy(cnp, wire.cnp[1], wire.cnp_len);
		if (wrong == 0)
			cnp[14 + 15] ^= 4; /* from another address */
		else if (wrong == 1)
			cnp[at + 6] ^= 1; /* for another queue pair */
		else
			cnp[at + 20] ^= 1; /* damaged */
		plx_frame_set_tos(cnp + 14, PLX_CNP_TOS);
		if (wrong < 2)
			plx_icrc_store(plx_icrc_isal(cnp + 14, wire.cnp_len - 14 - 4),
				       cnp + wire.cnp_len - 4);
		assert_true(pair_inject(&pair, 0, cnp, wire.cnp_len, 1));
		pair_run(&pair, 3);
		assert_int_equal(c->verdict[PLX_VERDICT_CNP], taken);
		assert_int_equal(engine->denied[PLX_VERDICT_ADDRESS], denied + (wrong == 0));
		assert_int_equal(engine->rx_no_qp, lost + (wrong == 1));
		assert_int_equal(engine->rx_icrc, icrc + (wrong == 2));
	}
	assert_true(pair_inject(&pair, 0, wire.cnp[1], wire.cnp_len, 1));
	assert_int_equal(c->verdict[PLX_VERDICT_CNP], wire.cnps[1]);
	pair_run(&pair, 3);
	assert_int_equal(c->verdict[PLX_VERDICT_CNP], wire.cnps[1] + 1);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_answered_once_in_50_us_and_only_they),
		cmocka_unit_test(a_notification_is_what_rnics_send),
		cmocka_unit_test(nobody_but_the_peer_can_notify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
