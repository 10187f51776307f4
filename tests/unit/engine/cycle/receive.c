/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames before their queue pair judges them: every drop is counted and changes nothing else;
 * chained mbufs, hardware checksums, frames for other stations, and a long pause. The frames are
 * those of our own engine with one fault. Start with refused().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	IP_AT = 14,
	UDP_AT = 34,
	BTH_AT = 42
};

static struct pair pair;

/* A WRITE of 200 bytes in flight from side 0 to side 1, captured. */
static uint8_t frame[512];
static uint32_t frame_len;

static bool
catch_one(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	if (pair_opcode(m) != PLX_RC_WRITE_ONLY)
		return true;
	frame_len = m->pkt_len;
	assert_true(frame_len <= sizeof(frame));
	memcpy(frame, rte_pktmbuf_mtod(m, uint8_t *), frame_len);
	return false;
}

static void
open_and_catch(void)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	pair_open(&pair, false);
	pair_connect(&pair, 16);
	for (uint32_t i = 0; i < 200; i++)
		a->memory[i] = (uint8_t)(i + 1);
	a->port.pass = catch_one;
	assert_int_equal(pair_write(a, b, 1, 0, 200, 0), PLX_OK);
	pair_run(&pair, 5);
	a->port.pass = NULL;
	assert_int_equal(frame_len, BTH_AT + 28 + 200 + 4);
	/* The requester is out of the game. */
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	pair_stop(&pair);
}

static void
fix_ip_checksum(uint8_t *bytes)
{
	uint32_t sum = 0;

	bytes[IP_AT + 10] = bytes[IP_AT + 11] = 0;
	for (uint32_t i = 0; i < 20; i += 2)
		sum += (uint32_t)bytes[IP_AT + i] << 8 | bytes[IP_AT + i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	bytes[IP_AT + 10] = (uint8_t)(~sum >> 8);
	bytes[IP_AT + 11] = (uint8_t)~sum;
}

static void
fix_icrc(uint8_t *bytes, uint32_t len)
{
	plx_icrc_store(plx_icrc_isal(bytes + IP_AT, len - IP_AT - 4), bytes + len - 4);
}

static uint64_t
sum_of(const uint64_t *list, size_t n)
{
	uint64_t sum = 0;

	while (n-- > 0)
		sum += list[n];
	return sum;
}

/* Hand it to side 1 and see that nothing has changed but counters of the engine. */
static void
hand(const uint8_t *bytes, uint32_t len)
{
	struct pair_side *b = &pair.side[1];
	struct plx_rc_view before, after;
	uint64_t verdicts, packets = b->engine->counters.tx_packets;

	memset(&before, 0, sizeof(before)); /* padding is compared too */
	memset(&after, 0, sizeof(after));
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_query(b->qp, &before), PLX_OK);
	pair_stop(&pair);
	verdicts = sum_of(plx_engine_qp_counters(b->qp)->verdict, PLX_VERDICT_COUNT);
	memset(b->memory, 0x5a, 256);
	assert_true(pair_inject(&pair, 1, bytes, len, 1));
	pair_run(&pair, 3);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(b->memory[i], 0x5a);
	assert_int_equal(sum_of(plx_engine_qp_counters(b->qp)->verdict, PLX_VERDICT_COUNT),
			 verdicts);
	assert_int_equal(b->engine->counters.tx_packets, packets);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_query(b->qp, &after), PLX_OK);
	pair_stop(&pair);
	assert_memory_equal(&before, &after, sizeof(before));
}

static void
refused(const uint8_t *bytes, uint32_t len, enum plx_wire_verdict verdict)
{
	const struct plx_engine_counters *c = plx_engine_counters(pair.side[1].engine);
	uint64_t all = sum_of(c->refused, PLX_WIRE_VERDICT_COUNT), one = c->refused[verdict];

	hand(bytes, len);
	assert_int_equal(c->refused[verdict], one + 1);
	assert_int_equal(sum_of(c->refused, PLX_WIRE_VERDICT_COUNT), all + 1);
}

static void
every_reason_of_the_decoder_is_counted(void **state)
{
	uint8_t bad[sizeof(frame)];
	/* One byte of the frame changed; whether the IP checksum is made good again. */
	static const struct {
		uint16_t at;
		uint8_t value;
		bool fix;
		enum plx_wire_verdict verdict;
	} changes[] = {
		{0, 0x04, false, PLX_WIRE_STATION},
		{12, 0x81, false, PLX_WIRE_VLAN},
		{12, 0x12, false, PLX_WIRE_NOT_IP},
		{IP_AT, 0x65, true, PLX_WIRE_IP_VERSION},
		{IP_AT, 0x46, true, PLX_WIRE_IP_OPTIONS},
		{IP_AT + 2, 0x40, true, PLX_WIRE_IP_LENGTH},
		{IP_AT + 6, 0x20, true, PLX_WIRE_IP_FRAGMENT},
		{IP_AT + 10, 0x00, false, PLX_WIRE_IP_CHECKSUM},
		{IP_AT + 9, 6, true, PLX_WIRE_NOT_UDP},
		{UDP_AT + 4, 0x40, false, PLX_WIRE_UDP_LENGTH},
		{UDP_AT + 6, 0x11, false, PLX_WIRE_UDP_CHECKSUM},
		{UDP_AT + 2, 0x11, false, PLX_WIRE_NOT_ROCE},
		{BTH_AT + 1, 0x4f, false, PLX_WIRE_BTH_VERSION},
		{BTH_AT, 0xff, false, PLX_WIRE_OPCODE},
	};
	(void)state;
	open_and_catch();
	for (size_t i = 0; i < PLX_COUNT_OF(changes); i++) {
		memcpy(bad, frame, frame_len);
		assert_int_not_equal(bad[changes[i].at], changes[i].value);
		bad[changes[i].at] = changes[i].value;
		if (changes[i].fix)
			fix_ip_checksum(bad);
		refused(bad, frame_len, changes[i].verdict);
	}
	refused(frame, 13, PLX_WIRE_ETH_SHORT);
	refused(frame, IP_AT + 19, PLX_WIRE_IP_SHORT);
	/* Datagrams of 15 bytes, too short for BTH and ICRC, and of 20, too short for a RETH. */
	for (uint16_t payload = 15; payload <= 20; payload += 5) {
		memcpy(bad, frame, frame_len);
		bad[IP_AT + 2] = 0;
		bad[IP_AT + 3] = (uint8_t)(28 + payload);
		bad[UDP_AT + 4] = 0;
		bad[UDP_AT + 5] = (uint8_t)(8 + payload);
		fix_ip_checksum(bad);
		refused(bad, BTH_AT + payload,
			payload == 15 ? PLX_WIRE_BTH_SHORT : PLX_WIRE_EXT_SHORT);
	}
	/* The destination's address is checked for datagrams: strangers.c. */
	for (enum plx_wire_verdict v = PLX_WIRE_OK + 1; v < PLX_WIRE_VERDICT_COUNT; v++)
		assert_int_equal(plx_engine_counters(pair.side[1].engine)->refused[v],
				 v != PLX_WIRE_DESTINATION);
	pair_close(&pair);
}

static void
every_reason_of_admission_is_counted(void **state)
{
	const struct plx_engine_counters *c;
	uint8_t bad[sizeof(frame)];
	(void)state;
	open_and_catch();
	c = plx_engine_counters(pair.side[1].engine);
	memcpy(bad, frame, frame_len);
	bad[BTH_AT] = PLX_UD_SEND_ONLY;
	fix_icrc(bad, frame_len);
	hand(bad, frame_len);
	assert_int_equal(c->denied[PLX_VERDICT_SERVICE], 1);
	memcpy(bad, frame, frame_len);
	bad[BTH_AT + 2] = 0x12;
	fix_icrc(bad, frame_len);
	hand(bad, frame_len);
	assert_int_equal(c->denied[PLX_VERDICT_PKEY], 1);
	memcpy(bad, frame, frame_len);
	bad[IP_AT + 15]++;
	fix_ip_checksum(bad);
	fix_icrc(bad, frame_len);
	hand(bad, frame_len);
	assert_int_equal(c->denied[PLX_VERDICT_ADDRESS], 1);
	memcpy(bad, frame, frame_len);
	bad[BTH_AT + 5] ^= 0x40;
	fix_icrc(bad, frame_len);
	hand(bad, frame_len);
	assert_int_equal(c->rx_no_qp, 1);
	/* The same low bits, so the same slot, but another number. */
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	hand(frame, frame_len);
	assert_int_equal(c->denied[PLX_VERDICT_STATE], 1);
	assert_int_equal(c->rx_icrc, 0);
	pair_close(&pair);
}

static void
a_wrong_icrc_changes_nothing(void **state)
{
	const struct plx_engine_counters *c;
	uint8_t bad[sizeof(frame)];
	uint32_t n = 0;
	(void)state;
	open_and_catch();
	c = plx_engine_counters(pair.side[1].engine);
	/* PSN, RETH, payload and the ICRC itself, one bit at a time. */
	for (uint32_t at = BTH_AT + 9; at < frame_len; at += 3) {
		memcpy(bad, frame, frame_len);
		bad[at] ^= (uint8_t)(1 << at % 8);
		hand(bad, frame_len);
		assert_int_equal(c->rx_icrc, ++n);
	}
	assert_int_equal(c->rx_no_qp, 0);
	pair_close(&pair);
}

/* The next one of the same kind. */
static void
next_psn(void)
{
	for (uint32_t i = 11; i >= 9 && ++frame[BTH_AT + i] == 0; i--)
		;
	fix_icrc(frame, frame_len);
}

static void
accepted(uint32_t segs)
{
	struct pair_side *b = &pair.side[1];
	const struct plx_rc_counters *c = plx_engine_qp_counters(b->qp);
	uint64_t taken = c->verdict[PLX_VERDICT_ACCEPT];

	memset(b->memory, 0, 256);
	assert_true(pair_inject(&pair, 1, frame, frame_len, segs));
	pair_run(&pair, 3);
	assert_int_equal(c->verdict[PLX_VERDICT_ACCEPT], taken + 1);
	assert_memory_equal(b->memory, pair.side[0].memory, 200);
	next_psn();
}

static void
chains_are_copied_into_one(void **state)
{
	const struct plx_engine_counters *c;
	uint8_t long_one[PAIR_FRAME + 1];
	(void)state;
	open_and_catch();
	c = plx_engine_counters(pair.side[1].engine);
	accepted(1);
	assert_int_equal(c->rx_linearised, 0);
	for (uint32_t segs = 2; segs <= 40; segs++)
		accepted(segs);
	assert_int_equal(c->rx_linearised, 39);
	assert_int_equal(c->rx_too_long, 0);
	/* One byte more than the port can carry. */
	memset(long_one, 0, sizeof(long_one));
	memcpy(long_one, frame, frame_len);
	assert_true(pair_inject(&pair, 1, long_one, sizeof(long_one), 2));
	pair_run(&pair, 3);
	assert_int_equal(c->rx_too_long, 1);
	assert_int_equal(c->rx_linearised, 39);
	/* What follows the IP packet is padding. */
	assert_true(pair_inject(&pair, 1, long_one, sizeof(long_one) - 1, 2));
	pair_run(&pair, 3);
	assert_int_equal(c->rx_too_long, 1);
	assert_int_equal(c->rx_linearised, 40);
	next_psn();
	accepted(1);
	pair_close(&pair);
}

static void
checksums_that_the_hardware_has_found_right_are_trusted(void **state)
{
	struct pair_port *port = &pair.side[1].port;
	const struct plx_rc_counters *c;
	(void)state;
	open_and_catch();
	c = plx_engine_qp_counters(pair.side[1].qp);
	frame[IP_AT + 10] ^= 0xff;
	frame[UDP_AT + 6] = 0x77; /* not in the ICRC either */
	assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	port->wire[(port->first + port->count - 1) % PAIR_WIRE]->ol_flags =
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	pair_run(&pair, 3);
	assert_int_equal(c->verdict[PLX_VERDICT_ACCEPT], 1);
	/* "Bad" and "unknown" are looked at. */
	assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	port->wire[(port->first + port->count - 1) % PAIR_WIRE]->ol_flags =
		RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	pair_run(&pair, 3);
	assert_int_equal(plx_engine_counters(pair.side[1].engine)->refused[PLX_WIRE_IP_CHECKSUM],
			 1);
	pair_close(&pair);
}

static void
an_unfinished_checksum_that_the_port_vouches_for_is_trusted(void **state)
{
	struct pair_port *port = &pair.side[1].port;
	const struct plx_rc_counters *c;
	(void)state;
	open_and_catch();
	c = plx_engine_qp_counters(pair.side[1].qp);
	frame[UDP_AT + 6] = 0x77; /* not in the ICRC */
	assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	port->wire[(port->first + port->count - 1) % PAIR_WIRE]->ol_flags =
		RTE_MBUF_F_RX_L4_CKSUM_NONE;
	pair_run(&pair, 3);
	assert_int_equal(c->verdict[PLX_VERDICT_ACCEPT], 1);
	/* One that is found bad is not. */
	assert_true(pair_inject(&pair, 1, frame, frame_len, 1));
	port->wire[(port->first + port->count - 1) % PAIR_WIRE]->ol_flags =
		RTE_MBUF_F_RX_L4_CKSUM_BAD;
	pair_run(&pair, 3);
	assert_int_equal(plx_engine_counters(pair.side[1].engine)->refused[PLX_WIRE_UDP_CHECKSUM],
			 1);
	pair_close(&pair);
}

static void
congestion_marks_reach_the_queue_pair(void **state)
{
	(void)state;
	open_and_catch();
	assert_int_equal(frame[IP_AT + 1] & 3, PLX_ECN_ECT0);
	frame[IP_AT + 1] |= 3;
	fix_ip_checksum(frame);
	accepted(1);
	assert_int_equal(plx_engine_qp_counters(pair.side[1].qp)->ce_marks, 1);
	pair_close(&pair);
}

/* F22: while this process was stopped the acknowledgements arrived; they count before the timers.
 */
static void
after_a_pause_packets_come_before_timers(void **state)
{
	(void)state;
	for (int bursts = 0; bursts < 4; bursts++) {
		struct pair_options options = pair_defaults(256);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		struct plx_wc wc[256];

		options.attr.retry_max = 0;
		pair_open(&pair, false);
		pair_connect_with(&pair, &options);
		a->port.hold = true;
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(pair_write(a, b, i, 0, 8, 0), PLX_OK);
		pair_run(&pair, 20);
		assert_true(a->port.count > 0);
		/* Strays before them, so that they need several bursts. */
		a->port.hold = false;
		for (int i = 0; i < bursts * 40; i++) {
			uint8_t stray[60] = {0};
			struct pair_port *port = &a->port;
			struct rte_mbuf *last;

			assert_true(pair_inject(&pair, 0, stray, sizeof(stray), 1));
			last = port->wire[(port->first + port->count - 1) % PAIR_WIRE];
			port->first--;
			port->wire[port->first % PAIR_WIRE] = last;
		}
		pair.now += 50 * PLX_MSEC;
		pair_run(&pair, 20);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 256), 100);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
		assert_int_equal(plx_engine_qp_counters(a->qp)->timeouts, 0);
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_of_the_decoder_is_counted),
		cmocka_unit_test(every_reason_of_admission_is_counted),
		cmocka_unit_test(a_wrong_icrc_changes_nothing),
		cmocka_unit_test(chains_are_copied_into_one),
		cmocka_unit_test(checksums_that_the_hardware_has_found_right_are_trusted),
		cmocka_unit_test(an_unfinished_checksum_that_the_port_vouches_for_is_trusted),
		cmocka_unit_test(congestion_marks_reach_the_queue_pair),
		cmocka_unit_test(after_a_pause_packets_come_before_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
