/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The enemy on the wire: what it sends is right in everything but its purpose, comes at the rate
 * asked for, and not before it knows whom to attack.
 * Start with pass_one().
 */
#include <string.h>

#include <rte_cycles.h>

#include "cable.h"
#include "plx_mad.h"
#include "plx_wire.h"

enum {
	RATE = 100000,
	BYTES = 128, /* of a RoCE packet that is none: headers are all that is learnt */
};

static struct rte_mempool *pool;

struct tally {
	uint64_t us; /* that it took: the thread may have been stopped */
	uint32_t floods, others, requests, noise, strangers;
};

/* A packet with the headers of RoCE, towards end 1. */
static void
pass_one(struct cable *cable)
{
	struct plx_frame frame = {.ip_version = 4, .udp_src = 50000, .udp_dst = PLX_ROCE_PORT};
	struct plx_frame_template template;
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint8_t *bytes;

	assert_non_null(packet);
	frame.v4 = (struct plx_ipv4){.ttl = 64, .src = 0x0a000001, .dst = 0x0a000002};
	plx_frame_template_init(&template, &frame);
	bytes = (uint8_t *)rte_pktmbuf_append(packet, BYTES);
	memset(bytes, 0, BYTES);
	plx_frame_template_write(&template, BYTES - template.header_bytes, bytes);
	lab_send(cable->port[0], packet);
}

static void
judge(const struct rte_mbuf *packet, struct tally *tally)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);
	size_t covered;
	struct plx_frame frame;
	struct plx_cm_msg msg;
	struct plx_pkt pkt;

	if (packet->pkt_len == BYTES) {
		tally->others++;
		return;
	}
	tally->floods++;
	assert_int_equal(plx_frame_decode(bytes, packet->pkt_len, 0, &frame), PLX_WIRE_OK);
	assert_int_equal(plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
					(size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt),
			 PLX_WIRE_OK);
	covered = (size_t)frame.ip_bytes - PLX_ICRC_BYTES;
	assert_int_equal(plx_icrc_load(bytes + frame.ip_at + covered),
			 plx_icrc_isal(bytes + frame.ip_at, covered));
	assert_int_equal(pkt.opcode, PLX_UD_SEND_ONLY);
	assert_int_equal(pkt.dest_qpn, PLX_GSI_QPN);
	assert_int_equal(pkt.deth.qkey, PLX_GSI_QKEY);
	assert_int_equal(pkt.payload_bytes, PLX_MAD_BYTES);
	assert_int_equal(frame.v4.dst, 0x0a000002);
	tally->strangers += frame.v4.src != 0x0a000001;
	assert_int_equal(plx_mad_decode(pkt.payload, pkt.payload_bytes, &msg), PLX_MAD_OK);
	/* A right request says where it comes from. */
	if (plx_gid_to_ip(msg.req.primary.local_gid).v[3] == (frame.v4.src & 0xff))
		tally->requests++;
	else
		tally->noise++;
}

/* Poll end 1 for so long. */
static struct tally
watch(struct cable *cable, uint32_t ms)
{
	uint64_t start = rte_get_timer_cycles();
	uint64_t end = start + rte_get_timer_hz() / 1000 * ms;
	struct rte_mbuf *packets[PLX_PORT_BURST];
	struct tally tally = {0};

	while (rte_get_timer_cycles() < end) {
		uint16_t n = cable->port[1]->rx(cable->port[1], packets, PLX_PORT_BURST);

		for (uint16_t i = 0; i < n; i++) {
			judge(packets[i], &tally);
			rte_pktmbuf_free(packets[i]);
		}
	}
	tally.us = (rte_get_timer_cycles() - start) / (rte_get_timer_hz() / 1000000) + 1;
	return tally;
}

static void
it_begins_when_it_knows_whom_to_attack(void **state)
{
	struct cable cable = {0};
	struct tally tally;

	(void)state;
	cable_open(&cable, 0, ",flood=100000", pool);
	assert_int_equal(watch(&cable, 5).floods, 0);
	lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, 1, BYTES));
	assert_int_equal(watch(&cable, 5).floods, 0);
	pass_one(&cable);
	tally = watch(&cable, 100);
	assert_int_equal(tally.others, 1);
	/* Never faster than asked for; slower when we were stopped. */
	assert_in_range(tally.floods, 100, tally.us * RATE / 1000000 + 1);
	assert_int_equal(cable_counters(&cable).flooded, tally.floods);
	/* Half are strangers, a quarter is noise. */
	assert_in_range(tally.strangers, tally.floods / 4, tally.floods * 3 / 4);
	assert_in_range(tally.noise, tally.floods / 16, tally.floods / 2);
	assert_true(tally.requests > tally.noise);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_begins_when_it_knows_whom_to_attack),
	};

	lab_start(NULL);
	pool = lab_pool(4095);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
