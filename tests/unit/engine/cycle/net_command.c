/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbours and echoes through whole engines: resolving and pinging by commands, in both modes;
 * replies as long as the port's frames; and that a flood of them leaves room for acknowledgements.
 * Start with a_ping_is_answered_and_timed().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "block.h"
#include "plx_engine_cycle.h"
#include "engine_pair.h"
#include "ip_sum.h"

enum {
	ETH_IP = 14,
	ETH_ICMP = 34,
	HEADERS = 42, /* before the data of an ICMP echo */
	FAR_NS = 2000000000,
};

static struct pair pair;

/* Repeat the call until the result is not WAIT, polling both engines. */
static enum plx_net_verdict
resolved(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac)
{
	enum plx_net_verdict verdict = PLX_NET_WAIT;
	uint64_t late = plx_clock_ns() + 30 * PLX_SEC;

	while (verdict == PLX_NET_WAIT && plx_clock_ns() < late) {
		assert_int_equal(plx_engine_resolve(engine, ip, mac, &verdict), PLX_OK);
		if (pair.inline_mode)
			pair_run(&pair, 1);
	}
	return verdict;
}

static enum plx_net_verdict
pinged(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes, uint64_t *rtt_ns)
{
	enum plx_net_verdict verdict;
	uint32_t number = 0;
	uint64_t late = plx_clock_ns() + 30 * PLX_SEC;

	assert_int_equal(plx_engine_ping(engine, ip, bytes, FAR_NS, &number, &verdict), PLX_OK);
	while (verdict == PLX_NET_WAIT && plx_clock_ns() < late) {
		assert_int_equal(plx_engine_ping_result(engine, number, rtt_ns, &verdict), PLX_OK);
		if (pair.inline_mode)
			pair_run(&pair, 1);
	}
	return verdict;
}

static void
a_neighbour_is_resolved_by_a_command(void **state)
{
	const struct plx_ip far = {.version = 4, .v = {192, 0, 2, 1}};

	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		uint8_t mac[6] = {0}, untouched[6] = {0};

		pair_open(&pair, inline_mode);
		pair_start(&pair);
		assert_int_equal(resolved(a->engine, &far, mac), PLX_NET_NO_ROUTE);
		assert_memory_equal(mac, untouched, sizeof(mac));
		assert_int_equal(resolved(a->engine, &b->ip, mac), PLX_NET_READY);
		assert_memory_equal(mac, b->port.port.caps.mac, sizeof(mac));
		assert_int_equal(resolved(a->engine, &a->ip, mac), PLX_NET_READY);
		assert_memory_equal(mac, a->port.port.caps.mac, sizeof(mac));
		pair_stop(&pair);
		pair_close(&pair);
	}
}

static void
a_ping_is_answered_and_timed(void **state)
{
	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
			const struct pair_setup setup = {.inline_mode = inline_mode, .ipv6 = ipv6};
			const uint32_t most = PAIR_FRAME - (ipv6 ? 62 : 42);
			struct pair_side *a = &pair.side[0], *b = &pair.side[1];
			uint64_t rtt_ns = 0;

			pair_open_with(&pair, &setup);
			pair_start(&pair);
			assert_int_equal(pinged(a->engine, &b->ip, 0, &rtt_ns), PLX_NET_READY);
			assert_in_range(rtt_ns, 1, 10 * PLX_SEC);
			assert_int_equal(pinged(b->engine, &a->ip, 1400, &rtt_ns), PLX_NET_READY);
			assert_int_equal(pinged(a->engine, &b->ip, most, &rtt_ns), PLX_NET_READY);
			assert_int_equal(pinged(a->engine, &b->ip, most + 1, &rtt_ns),
					 PLX_NET_TOO_LONG);
			pair_stop(&pair);
			assert_int_equal(plx_engine_net_counters(b->engine)->echoes_sent, 2);
			assert_int_equal(plx_engine_net_counters(a->engine)->pings_answered, 2);
			assert_int_equal(plx_engine_net_counters(a->engine)->malformed, 0);
			assert_int_equal(plx_engine_counters(a->engine)->rx_no_qp, 0);
			pair_close(&pair);
		}
	}
}

static void
an_engine_that_does_not_run_is_told_of(void **state)
{
	struct pair_side *a = &pair.side[0];
	enum plx_net_verdict verdict = PLX_NET_TAKEN;
	uint8_t mac[6];

	(void)state;
	pair_open(&pair, false);
	assert_int_equal(plx_engine_resolve(a->engine, &pair.side[1].ip, mac, &verdict),
			 PLX_TIMEOUT);
	assert_int_equal(verdict, PLX_NET_TAKEN);
	pair_close(&pair);
}

static void
put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* An echo request from side 1 to side 0. Returns: bytes */
static uint32_t
request_of(uint8_t *frame, uint32_t bytes)
{
	static const uint8_t front[] = {0x08, 0x00, 0x45, 0,  0, 0, 0, 0,  0x40, 0, 64,
					1,    0,    0,    10, 0, 0, 2, 10, 0,    0, 1};

	memset(frame, 0, HEADERS + bytes);
	memcpy(frame, pair.side[0].port.port.caps.mac, 6);
	memcpy(frame + 6, pair.side[1].port.port.caps.mac, 6);
	memcpy(frame + 12, front, sizeof(front));
	put16(frame + ETH_IP + 2, HEADERS - ETH_IP + bytes);
	put16(frame + ETH_IP + 10, 0xffff - ip_sum(frame + ETH_IP, 20));
	frame[ETH_ICMP] = 8;
	for (uint32_t i = 0; i < bytes; i++)
		frame[HEADERS + i] = (uint8_t)(i * 7);
	put16(frame + ETH_ICMP + 2, 0xffff - ip_sum(frame + ETH_ICMP, 8 + bytes));
	return HEADERS + bytes;
}

/* What side 0 sends. */
static uint32_t answers, longest;

static bool
count_answers(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	(void)from;
	(void)user;
	if (bytes[ETH_IP + 9] != 1)
		return true;
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(bytes[ETH_ICMP], 0);
	assert_int_equal(ip_sum(bytes + ETH_ICMP, m->pkt_len - ETH_ICMP), 0xffff);
	answers++;
	if (m->pkt_len > longest)
		longest = m->pkt_len;
	return false;
}

/* Also those that came in several buffers. */
static void
requests_as_long_as_the_port_carries_are_answered(void **state)
{
	static uint8_t frame[PAIR_FRAME];

	(void)state;
	pair_open(&pair, false);
	pair.side[0].port.pass = count_answers;
	answers = longest = 0;
	for (uint32_t segs = 1; segs <= 3; segs++) {
		assert_true(pair_inject(&pair, 0, frame, request_of(frame, PAIR_FRAME - HEADERS),
					segs));
		assert_true(pair_inject(&pair, 0, frame, request_of(frame, 64), segs));
		pair_run(&pair, 5);
		assert_int_equal(answers, 2 * segs);
	}
	assert_int_equal(longest, PAIR_FRAME);
	assert_int_equal(plx_engine_counters(pair.side[0].engine)->rx_net, 6);
	pair.side[0].port.pass = NULL;
	pair_close(&pair);
}

/* In one burst more than are kept: some are answered, the others counted. */
static void
a_burst_of_requests_is_answered_in_part(void **state)
{
	static uint8_t frame[PAIR_FRAME];
	const struct plx_net_counters *net;

	(void)state;
	pair_open(&pair, false);
	pair.side[0].port.pass = count_answers;
	answers = 0;
	for (uint32_t i = 0; i < PLX_PORT_BURST; i++)
		assert_true(pair_inject(&pair, 0, frame, request_of(frame, 1000), 1));
	pair_run(&pair, 5);
	net = plx_engine_net_counters(pair.side[0].engine);
	assert_int_equal(answers, PLX_NET_ECHOES_MAX);
	assert_int_equal(net->echoes_seen, PLX_PORT_BURST);
	assert_int_equal(net->echoes_dropped, PLX_PORT_BURST - PLX_NET_ECHOES_MAX);
	pair.side[0].port.pass = NULL;
	pair_close(&pair);
}

/* While the port accepts nothing, echoes use all slots except the last reserve: an
 * acknowledgement finds one. */
static void
echoes_leave_room_for_acknowledgements(void **state)
{
	static uint8_t frame[PAIR_FRAME];
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	a->port.refuse = UINT32_MAX;
	for (uint32_t i = 0; i < TX_ROOM; i++) {
		assert_true(pair_inject(&pair, 0, frame, request_of(frame, 1000), 1));
		pair_run(&pair, 1);
	}
	pair_run(&pair, 5);
	assert_int_equal(a->engine->tx_count, TX_ROOM - NET_RESERVE);
	assert_int_equal(pair_write(b, a, 1, 0, 100, 0), PLX_OK);
	pair_run(&pair, 10);
	assert_int_equal(a->engine->tx_count, TX_ROOM - NET_RESERVE + 1);
	assert_int_equal(pair_opcode(a->engine->tx[a->engine->tx_count - 1]), PLX_RC_ACK);
	a->port.refuse = 0;
	a->port.pass = count_answers;
	answers = 0;
	assert_int_equal(pair_reap(&pair, b->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	pair_run(&pair, 20);
	assert_int_equal(answers, TX_ROOM - NET_RESERVE + PLX_NET_ECHOES_MAX);
	a->port.pass = NULL;
	pair_close(&pair);
}

static void
frames_that_do_not_fit_are_refused(void **state)
{
	struct plx_net_config net = {
		.mac = {2}, .addresses = 1, .neighbours = 1, .frame_max = PAIR_FRAME + 1};
	struct plx_engine_config config;
	struct plx_engine *engine = NULL;
	struct plx_why why = {""};
	void *memory;

	(void)state;
	pair_open(&pair, false);
	net.address[0] = (struct plx_net_address){pair.side[0].ip, 24};
	memory = test_block(plx_net_bytes(&net));
	config = pair.side[0].engine->config;
	config.net = plx_net_init(memory, &net);
	assert_int_equal(plx_engine_create(&config, &engine, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "frames of 4301 bytes"));
	net.frame_max = PLX_NET_FRAME_MAX;
	free(memory);
	memory = test_block(plx_net_bytes(&net));
	config.net = plx_net_init(memory, &net);
	pair.side[0].port.port.caps.frame_max = PLX_NET_FRAME_MAX;
	assert_int_equal(plx_engine_create(&config, &engine, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "a buffer has room for 4600"));
	assert_null(engine);
	free(memory);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_neighbour_is_resolved_by_a_command),
		cmocka_unit_test(a_ping_is_answered_and_timed),
		cmocka_unit_test(an_engine_that_does_not_run_is_told_of),
		cmocka_unit_test(requests_as_long_as_the_port_carries_are_answered),
		cmocka_unit_test(a_burst_of_requests_is_answered_in_part),
		cmocka_unit_test(echoes_leave_room_for_acknowledgements),
		cmocka_unit_test(frames_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests_name("engine/reach", tests, NULL, NULL);
}
