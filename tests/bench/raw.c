/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The raw pipeline, both ends on one thread, over DPDK's ring PMD: all bytes arrive, the ICRC is
 * checked, and window and ACKs follow the rules on which the published figures depend. It never
 * measures. Start at main().
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <unistd.h>
#include <cmocka.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "raw_end.h"

struct pair {
	struct raw_end end[2];
};

static void
pair_init(struct pair *pair, uint32_t size, uint32_t mtu, uint32_t slots, bool rewrite)
{
	const struct job job = {.size = size, .path_mtu = mtu, .slots = slots, .rewrite = rewrite};
	struct raw_ports ports;
	struct plx_why why;

	assert_int_equal(raw_ports_open("net_ring", NULL, &ports, &why), PLX_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(raw_end_init(&pair->end[i], i, &job, &ports, true), PLX_OK);
}

/* Every buffer must be where it came from. */
static void
pair_fini(struct pair *pair)
{
	struct rte_mempool *pool = pair->end[0].pool;

	for (int i = 0; i < 2; i++)
		raw_drain(&pair->end[i]);
	assert_true(rte_mempool_full(pool));
	for (int i = 0; i < 2; i++)
		raw_end_fini(&pair->end[i]);
}

static void
assert_no_fault(const struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->end[i].faults.icrc, 0);
		assert_int_equal(pair->end[i].faults.other, 0);
	}
}

/* Turns until this many messages are sent and everything has arrived. */
static void
exchange(struct pair *pair, uint64_t messages)
{
	for (int turn = 0; pair->end[0].message < messages; turn++) {
		assert_true(turn < 100000);
		raw_rate_turn_send(&pair->end[0]);
		raw_rate_turn_receive(&pair->end[1]);
	}
	while (raw_rate_turn_receive(&pair->end[1]))
		;
}

static void
bytes_arrive_whatever_the_size(void **state)
{
	static const struct {
		uint32_t size, mtu;
	} cases[] = {{1, 0},        {3, 0},      {8, 0},       {64, 0},      {70, 0},
		     {4096, 0},     {4097, 0},   {5000, 1024}, {65536, 256}, {65536, 4096},
		     {65537, 4096}, {200001, 0}, {1 << 20, 0}};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		struct pair pair;

		pair_init(&pair, cases[i].size, cases[i].mtu, 3, true);
		exchange(&pair, 10);
		assert_no_fault(&pair);
		assert_true(pair.end[1].bytes >= 10 * (uint64_t)cases[i].size);
		/* the slots that messages 8 and 9 went to, and are not written anew since */
		for (uint64_t n = pair.end[0].message - 1; n >= pair.end[0].message - 2; n--) {
			uint64_t at = n % 3 * pair.end[0].stride;

			assert_int_equal(pair.end[1].sink[at], n % 255 + 1);
			assert_memory_equal(pair.end[0].source + at, pair.end[1].sink + at,
					    cases[i].size);
		}
		pair_fini(&pair);
	}
}

static void
source_that_is_not_rewritten_stays_as_it_is(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 100, 0, 1, false);
	memset(pair.end[0].source, 0x5a, 100);
	exchange(&pair, 3);
	assert_int_equal(pair.end[0].source[99], 0x5a);
	assert_memory_equal(pair.end[0].source, pair.end[1].sink, 100);
	pair_fini(&pair);
}

static void
window_is_of_128_packets(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 64, 0, 1, true);
	for (int i = 0; i < 10; i++)
		raw_rate_turn_send(&pair.end[0]);
	assert_int_equal(pair.end[0].psn, 128);
	assert_int_equal(raw_rate_turn_send(&pair.end[0]), 0);
	assert_true(raw_rate_turn_receive(&pair.end[1]) > 0);
	assert_true(raw_rate_turn_send(&pair.end[0]) > 0);
	assert_no_fault(&pair);
	pair_fini(&pair);
}

static void
every_sixteenth_packet_is_acknowledged(void **state)
{
	struct rte_mbuf *acks[RAW_BURST];
	struct pair pair;
	uint32_t n;

	(void)state;
	pair_init(&pair, 64, 0, 1, true);
	for (int i = 0; i < 4; i++)
		raw_rate_turn_send(&pair.end[0]);
	while (raw_rate_turn_receive(&pair.end[1]))
		;
	n = rte_eth_rx_burst(pair.end[0].port, 0, acks, RAW_BURST);
	assert_int_equal(n, 128 / 16);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = rte_pktmbuf_mtod(acks[i], uint8_t *);
		struct plx_frame frame;
		struct plx_pkt pkt;

		assert_int_equal(plx_frame_decode(at, acks[i]->data_len, 0, &frame), PLX_WIRE_OK);
		assert_int_equal(plx_pkt_decode(at + RAW_HEADER_BYTES,
						acks[i]->data_len - (size_t)RAW_HEADER_BYTES, &pkt),
				 PLX_WIRE_OK);
		assert_int_equal(pkt.opcode, PLX_RC_ACK);
		assert_int_equal(pkt.psn.v, 16 * (i + 1) - 1);
		assert_int_equal(pkt.aeth.syndrome, PLX_AETH_NO_CREDITS);
	}
	rte_pktmbuf_free_bulk(acks, n);
	pair_fini(&pair);
}

static void
packets_are_what_the_decoder_takes(void **state)
{
	struct rte_mbuf *packet;
	struct plx_frame frame;
	struct plx_pkt pkt;
	struct pair pair;
	const uint8_t *at;
	size_t len;

	(void)state;
	pair_init(&pair, 7, 0, 1, true);
	raw_send_message(&pair.end[0]);
	assert_int_equal(rte_eth_rx_burst(pair.end[1].port, 0, &packet, 1), 1);
	at = rte_pktmbuf_mtod(packet, uint8_t *);
	len = packet->data_len;
	assert_int_equal(plx_frame_decode(at, len, 0, &frame), PLX_WIRE_OK);
	assert_int_equal(
		plx_pkt_decode(at + RAW_HEADER_BYTES, len - (size_t)RAW_HEADER_BYTES, &pkt),
		PLX_WIRE_OK);
	assert_int_equal(pkt.opcode, PLX_RC_WRITE_ONLY);
	assert_int_equal(pkt.dest_qpn, RAW_QPN);
	assert_int_equal(pkt.payload_bytes, 7);
	assert_int_equal(pkt.pad, 1);
	assert_int_equal(pkt.reth.length, 7);
	assert_int_equal(plx_icrc_isal(at + PLX_ETH_BYTES, len - PLX_ETH_BYTES - PLX_ICRC_BYTES),
			 plx_icrc_load(at + len - PLX_ICRC_BYTES));
	rte_pktmbuf_free(packet);
	pair_fini(&pair);
}

/* One message, with one byte changed on the way. */
static void
send_changed(struct pair *pair, uint32_t at, uint8_t change)
{
	struct rte_mbuf *packet;

	raw_send_message(&pair->end[0]);
	assert_int_equal(rte_eth_rx_burst(pair->end[1].port, 0, &packet, 1), 1);
	rte_pktmbuf_mtod(packet, uint8_t *)[at] ^= change;
	assert_int_equal(rte_eth_tx_burst(pair->end[0].port, 0, &packet, 1), 1);
}

static void
changed_packet_is_refused_and_counted(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 64, 0, 1, true);
	send_changed(&pair, RAW_DATA_AT + 5, 0x10);
	assert_false(raw_receive_message(&pair.end[1]));
	assert_int_equal(pair.end[1].faults.icrc, 1);
	assert_int_equal(pair.end[1].packets, 0);
	assert_int_equal(pair.end[1].sink[0], 0);
	/* the next one is ahead of the expected one: a loss shows */
	raw_send_message(&pair.end[0]);
	assert_int_equal(raw_rate_turn_receive(&pair.end[1]), 1);
	assert_int_equal(pair.end[1].faults.other, 1);
	pair_fini(&pair);
}

static void
changed_ack_is_refused_and_counted(void **state)
{
	struct rte_mbuf *packet;
	struct pair pair;

	(void)state;
	pair_init(&pair, 8, 0, 1, true);
	raw_send_message(&pair.end[0]);
	assert_true(raw_receive_message(&pair.end[1]));
	assert_int_equal(rte_eth_rx_burst(pair.end[0].port, 0, &packet, 1), 1);
	rte_pktmbuf_mtod(packet, uint8_t *)[RAW_HEADER_BYTES + 11] ^= 1;
	assert_int_equal(rte_eth_tx_burst(pair.end[1].port, 0, &packet, 1), 1);
	assert_false(raw_receive_message(&pair.end[0]));
	assert_int_equal(pair.end[0].faults.icrc, 1);
	assert_int_equal(pair.end[0].acked, 0);
	pair_fini(&pair);
}

static void
packet_of_a_stranger_is_no_fault(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 64, 0, 1, true);
	send_changed(&pair, RAW_HEADER_BYTES + 7, 0x01);
	assert_false(raw_receive_message(&pair.end[1]));
	assert_no_fault(&pair);
	pair_fini(&pair);
}

static void
message_is_acknowledged_before_its_reply(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 8, 0, 1, true);
	for (uint32_t trip = 1; trip <= 1000; trip++) {
		raw_send_message(&pair.end[0]);
		assert_true(raw_receive_message(&pair.end[1]));
		/* the ACK is there, and nothing else */
		assert_false(raw_receive_message(&pair.end[0]));
		assert_int_equal(pair.end[0].acked, trip);
		raw_send_message(&pair.end[1]);
		assert_true(raw_receive_message(&pair.end[0]));
		assert_false(raw_receive_message(&pair.end[1]));
		assert_int_equal(pair.end[1].acked, trip);
		assert_int_equal(pair.end[0].sink[7], (trip - 1) % 255 + 1);
	}
	assert_no_fault(&pair);
	pair_fini(&pair);
}

static int
eal_start(void **state)
{
	enum {
		WORDS = 16,
	};
	char line[200];
	char *argv[WORDS];
	int argc = 0;

	(void)state;
	snprintf(line, sizeof line,
		 "raw -l 0 --no-huge -m 256 --no-pci --no-telemetry --log-level=4 "
		 "--file-prefix=bench_raw_%d",
		 (int)getpid());
	for (char *word = strtok(line, " "); word && argc < WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	return rte_eal_init(argc, argv) < 0;
}

static int
eal_stop(void **state)
{
	(void)state;
	raw_ports_close();
	return rte_eal_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_arrive_whatever_the_size),
		cmocka_unit_test(source_that_is_not_rewritten_stays_as_it_is),
		cmocka_unit_test(window_is_of_128_packets),
		cmocka_unit_test(every_sixteenth_packet_is_acknowledged),
		cmocka_unit_test(packets_are_what_the_decoder_takes),
		cmocka_unit_test(changed_packet_is_refused_and_counted),
		cmocka_unit_test(changed_ack_is_refused_and_counted),
		cmocka_unit_test(packet_of_a_stranger_is_no_fault),
		cmocka_unit_test(message_is_acknowledged_before_its_reply),
	};

	return cmocka_run_group_tests(tests, eal_start, eal_stop);
}
