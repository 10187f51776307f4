/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagram queue pairs in an engine: which packets reach them, and the order of the checks; ports
 * that refuse packets, completion queues that overrun, loopback. Packets are made by hand or by the
 * other engine. Start with make_frame().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_pair.h"

enum {
	DEPTH = 64,
	BYTES = 100,
	RECV_BYTES = PLX_UD_HEADER_BYTES + BYTES,
};

static const uint32_t qkey = 0x22222222;

static struct pair_options
ud_options(void)
{
	struct pair_options options = pair_defaults(DEPTH);

	options.type = PLX_QP_UD;
	options.qkey = qkey;
	return options;
}

static void
ud_open(struct pair *pair, const struct pair_setup *setup, const struct pair_options *options)
{
	pair_open_with(pair, setup);
	pair_start(pair);
	pair_make_queues(pair, options);
	for (int i = 0; i < 2; i++) {
		pair->side[i].qp = pair_qp(pair, i, options);
		pair_ud_to_rts(pair->side[i].qp);
	}
	pair_stop(pair);
}

/* ---- packets made by hand ---- */

/* A packet for side 1; the test damages one part of it. */
struct recipe {
	uint8_t opcode;
	uint16_t pkey;
	uint32_t qkey, dest_qpn, bytes;
	bool bad_icrc, ce;
};

static struct recipe
good(const struct pair *pair)
{
	return (struct recipe){.opcode = PLX_UD_SEND_ONLY,
			       .pkey = PLX_PKEY_DEFAULT,
			       .qkey = qkey,
			       .dest_qpn = plx_engine_qp_number(pair->side[1].qp),
			       .bytes = BYTES};
}

static uint32_t
make_frame(const struct pair *pair, const struct recipe *recipe, uint8_t *out)
{
	const struct plx_ud_label label = {.src_qpn = 0x123456,
					   .dest_qpn = recipe->dest_qpn,
					   .qkey = recipe->qkey,
					   .pkey = recipe->pkey};
	struct plx_frame frame = {.ip_version = pair->side[0].ip.version,
				  .udp_src = 0xc000,
				  .udp_dst = PLX_ROCE_PORT};
	const uint8_t *from = pair->side[0].ip.v, *to = pair->side[1].ip.v;
	struct plx_frame_template tmpl;
	struct plx_pkt pkt;
	size_t at, roce;

	memcpy(frame.eth_src, pair->side[0].port.port.caps.mac, 6);
	memcpy(frame.eth_dst, pair->side[1].port.port.caps.mac, 6);
	if (frame.ip_version == 4) {
		frame.v4.ttl = 64;
		frame.v4.tos = recipe->ce ? PLX_ECN_CE : 0;
		frame.v4.src = (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
			       (uint32_t)from[2] << 8 | from[3];
		frame.v4.dst = (uint32_t)to[0] << 24 | (uint32_t)to[1] << 16 |
			       (uint32_t)to[2] << 8 | to[3];
	} else {
		frame.v6.hop_limit = 64;
		memcpy(frame.v6.src, from, 16);
		memcpy(frame.v6.dst, to, 16);
	}
	plx_ud_label(&label, plx_psn(77), recipe->bytes, &pkt);
	pkt.opcode = recipe->opcode;
	roce = plx_opcodes[pkt.opcode].header_bytes + recipe->bytes + pkt.pad + PLX_ICRC_BYTES;
	plx_frame_template_init(&tmpl, &frame);
	at = plx_frame_template_write(&tmpl, roce, out);
	at += plx_pkt_encode(&pkt, out + at);
	for (uint32_t i = 0; i < recipe->bytes; i++)
		out[at++] = (uint8_t)(i * 7 + 1);
	memset(out + at, 0, 4);
	at += pkt.pad;
	plx_icrc_store(plx_icrc_choose()(out + PLX_ETH_BYTES, at - PLX_ETH_BYTES) ^
			       recipe->bad_icrc,
		       out + at);
	return (uint32_t)(at + PLX_ICRC_BYTES);
}

static void
inject(struct pair *pair, const struct recipe *recipe)
{
	uint8_t frame[2048];
	uint32_t len = make_frame(pair, recipe, frame);

	assert_true(pair_inject(pair, 1, frame, len, 1));
	pair_run(pair, 2);
}

static const struct plx_engine_counters *
counters(const struct pair *pair)
{
	return plx_engine_counters(pair->side[1].engine);
}

static uint64_t
verdicts(const struct pair *pair, enum plx_verdict verdict)
{
	return plx_engine_qp_counters(pair->side[1].qp)->verdict[verdict];
}

static uint64_t
all_verdicts(const struct pair *pair)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		sum += verdicts(pair, (enum plx_verdict)i);
	return sum;
}

/* ---- permitted senders ---- */

static void
a_datagram_made_by_hand_is_taken(struct pair *pair)
{
	const struct plx_ip *from = &pair->side[0].ip;
	const uint8_t *space = pair->side[1].memory + 512;
	struct recipe recipe = good(pair);
	struct plx_wc wc;

	assert_int_equal(pair_recv(&pair->side[1], 1, 512, RECV_BYTES), PLX_OK);
	inject(pair, &recipe);
	assert_int_equal(pair_reap(pair, pair->side[1].recv_cq, &wc, 1, 10), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.qpn, 0x123456);
	assert_int_equal(wc.bytes, RECV_BYTES);
	assert_int_equal(wc.context, 0x1001);
	assert_memory_equal(space + (from->version == 4 ? 32 : 8), from->v,
			    from->version == 4 ? 4 : 16);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(space[PLX_UD_HEADER_BYTES + i], (uint8_t)(i * 7 + 1));
}

/* Before the ICRC was found right no counter of the queue pair moves. */
static void
lines_4_to_6_count_at_the_engine_and_line_7_at_the_queue_pair(struct pair *pair)
{
	struct recipe recipe = good(pair);
	struct plx_wc wc;

	recipe.opcode = PLX_RC_SEND_ONLY;
	inject(pair, &recipe);
	recipe.opcode = PLX_UC_SEND_ONLY;
	inject(pair, &recipe);
	recipe.opcode = PLX_CNP;
	inject(pair, &recipe);
	assert_int_equal(counters(pair)->denied[PLX_VERDICT_SERVICE], 3);
	recipe = good(pair);
	recipe.pkey = 0x8001;
	inject(pair, &recipe);
	assert_int_equal(counters(pair)->denied[PLX_VERDICT_PKEY], 1);
	recipe = good(pair);
	recipe.dest_qpn ^= 0x800000;
	inject(pair, &recipe);
	assert_int_equal(counters(pair)->rx_no_qp, 1);
	recipe = good(pair);
	recipe.qkey++;
	recipe.bad_icrc = true;
	inject(pair, &recipe);
	assert_int_equal(counters(pair)->rx_icrc, 1);
	assert_int_equal(all_verdicts(pair), 1); /* the one that was taken before */
	recipe.bad_icrc = false;
	inject(pair, &recipe);
	assert_int_equal(verdicts(pair, PLX_VERDICT_QKEY), 1);
	recipe = good(pair);
	recipe.bytes = 1025;
	inject(pair, &recipe);
	assert_int_equal(verdicts(pair, PLX_VERDICT_LENGTH), 1);
	recipe = good(pair);
	inject(pair, &recipe);
	assert_int_equal(verdicts(pair, PLX_VERDICT_RNR), 1);
	assert_int_equal(all_verdicts(pair), 4);
	assert_int_equal(plx_engine_cq_poll(pair->side[1].recv_cq, &wc, 1), 0);
	/* And nobody is answered. */
	assert_int_equal(counters(pair)->tx_packets, 0);
}

static void
packets_are_judged_in_order(void **state)
{
	struct pair_options options = ud_options();

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct pair_setup setup = {.inline_mode = i % 2, .ipv6 = i / 2};
		struct pair pair;

		ud_open(&pair, &setup, &options);
		a_datagram_made_by_hand_is_taken(&pair);
		lines_4_to_6_count_at_the_engine_and_line_7_at_the_queue_pair(&pair);
		pair_close(&pair);
	}
}

/* A mark is counted; there is nobody to notify. */
static void
a_congestion_mark_is_counted(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct pair pair;
	struct recipe recipe;

	(void)state;
	ud_open(&pair, &setup, &options);
	recipe = good(&pair);
	for (unsigned i = 0; i < 2; i++) {
		recipe.ce = i;
		assert_int_equal(pair_recv(&pair.side[1], i, 512, RECV_BYTES), PLX_OK);
		inject(&pair, &recipe);
		assert_int_equal(plx_engine_qp_counters(pair.side[1].qp)->ce_marks, i);
	}
	assert_int_equal(verdicts(&pair, PLX_VERDICT_ACCEPT), 2);
	assert_int_equal(counters(&pair)->tx_packets, 0);
	pair_close(&pair);
}

static void
a_packet_in_pieces_arrives_whole(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct pair pair;
	struct recipe recipe;
	struct plx_wc wc;
	uint8_t frame[2048];

	(void)state;
	ud_open(&pair, &setup, &options);
	recipe = good(&pair);
	for (uint32_t segs = 2; segs < 6; segs++) {
		uint32_t len = make_frame(&pair, &recipe, frame);

		assert_int_equal(pair_recv(&pair.side[1], segs, 512, RECV_BYTES), PLX_OK);
		assert_true(pair_inject(&pair, 1, frame, len, segs));
		assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, 100), 1);
		assert_int_equal(wc.wr_id, segs);
		assert_int_equal(pair.side[1].memory[512 + RECV_BYTES - 1],
				 (BYTES - 1) * 7 % 256 + 1);
	}
	pair_close(&pair);
}

static void
a_queue_pair_that_is_not_ready_takes_nothing(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct pair pair;
	struct recipe recipe;

	(void)state;
	ud_open(&pair, &setup, &options);
	recipe = good(&pair);
	assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	inject(&pair, &recipe);
	assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	inject(&pair, &recipe);
	assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
	inject(&pair, &recipe);
	assert_int_equal(counters(&pair)->denied[PLX_VERDICT_STATE], 3);
	assert_int_equal(all_verdicts(&pair), 0);
	pair_close(&pair);
}

/* ---- sending ---- */

static struct plx_ah *
ah_to(struct pair *pair, int from, const struct plx_ip *to)
{
	const struct plx_engine_path path = {.remote = *to, .dscp = 10, .hop_limit = 3};
	struct plx_ah *ah = pair_ah(pair, from, &path);

	pair_run(pair, 50); /* the neighbour answers */
	return ah;
}

static enum plx_status
send_one(struct pair_side *from, struct plx_ah *ah, const struct plx_qp *to, uint64_t wr_id,
	 uint8_t flags)
{
	const struct plx_sge sge = {(uintptr_t)from->memory, BYTES, from->key};
	const struct plx_send_wr wr = {.wr_id = wr_id,
				       .op = PLX_WR_SEND,
				       .flags = flags,
				       .sge = &sge,
				       .sges = 1,
				       .ah = ah,
				       .remote_qpn = plx_engine_qp_number(to),
				       .remote_qkey = qkey};
	enum plx_status status;

	plx_engine_qp_post_send(from->qp, &wr, 1, &status);
	return status;
}

/* The last packet that side 0 has sent. */
static bool
keep(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	if (pair_opcode(m) >= 0)
		assert_int_equal(
			plx_frame_decode(rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, 0, user),
			PLX_WIRE_OK);
	return true;
}

static void
a_way_carries_its_class_and_its_hops(void **state)
{
	struct pair_options options = ud_options();

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct pair_setup setup = {.ipv6 = i};
		struct plx_frame seen = {0};
		struct plx_ah *ah;
		struct pair pair;
		struct plx_wc wc;

		ud_open(&pair, &setup, &options);
		ah = ah_to(&pair, 0, &pair.side[1].ip);
		pair.side[0].port.pass = keep;
		pair.side[0].port.user = &seen;
		assert_int_equal(send_one(&pair.side[0], ah, pair.side[1].qp, 1, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, 100), 1);
		assert_int_equal(seen.ip_version, pair.side[0].ip.version);
		assert_int_equal(i ? seen.v6.flow >> 20 : seen.v4.tos, 10 << 2);
		assert_int_equal(i ? seen.v6.hop_limit : seen.v4.ttl, 3);
		assert_true(seen.udp_src >= 49152);
		pair_ah_destroy(&pair, ah);
		pair_close(&pair);
	}
}

static void
a_port_that_refuses_delays_and_loses_nothing(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = false};
	struct plx_ah *ah;
	struct pair pair;
	struct plx_wc wc[DEPTH];

	(void)state;
	ud_open(&pair, &setup, &options);
	ah = ah_to(&pair, 0, &pair.side[1].ip);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(pair_recv(&pair.side[1], i, 512, RECV_BYTES), PLX_OK);
	pair.side[0].port.refuse = 5;
	pair.side[0].port.take = 3;
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(send_one(&pair.side[0], ah, pair.side[1].qp, i, 0), PLX_OK);
	assert_int_equal(send_one(&pair.side[0], ah, pair.side[1].qp, DEPTH, 0), PLX_FULL);
	assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, wc, DEPTH, 1000), DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(wc[i].wr_id, i);
	assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, wc, DEPTH, 100), DEPTH);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

/* More to itself than the loopback holds: everything sent arrives, none is lost on the way. */
static void
a_port_to_itself_carries_datagrams(void **state)
{
	struct pair_options options = pair_defaults(512);
	const struct pair_setup setup = {.inline_mode = false};
	static struct plx_wc wc[512];
	struct plx_ah *ah;
	struct pair pair;

	(void)state;
	options.type = PLX_QP_UD;
	options.qkey = qkey;
	ud_open(&pair, &setup, &options);
	ah = ah_to(&pair, 0, &pair.side[0].ip);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(pair_recv(&pair.side[0], i, 512, RECV_BYTES), PLX_OK);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(send_one(&pair.side[0], ah, pair.side[0].qp, i, PLX_WR_UNSIGNALED),
				 PLX_OK);
	assert_int_equal(pair_reap(&pair, pair.side[0].recv_cq, wc, 512, 1000), 512);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(wc[i].wr_id, i);
	assert_int_equal(plx_engine_counters(pair.side[0].engine)->rx_no_qp, 0);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

/* ---- ends ---- */

static void
an_overrun_fails_the_queue_pair(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct plx_async_event event;
	struct recipe recipe;
	struct pair pair;
	bool failed = false;

	(void)state;
	options.cq_depth = 2;
	options.strict = true;
	ud_open(&pair, &setup, &options);
	recipe = good(&pair);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pair_recv(&pair.side[1], i, 512, RECV_BYTES), PLX_OK);
	for (uint32_t i = 0; i < 3; i++)
		inject(&pair, &recipe);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_ERROR);
	while (plx_engine_next_async_event(pair.side[1].engine, &event))
		failed |= event.kind == PLX_EVENT_FAILED;
	assert_true(failed);
	pair_close(&pair);
}

static void
an_srq_below_its_threshold_is_told(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct plx_async_event event;
	struct recipe recipe;
	struct pair pair;

	(void)state;
	options.shared = true;
	options.threshold = 2;
	ud_open(&pair, &setup, &options);
	recipe = good(&pair);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pair_recv(&pair.side[1], i, 512, RECV_BYTES), PLX_OK);
	inject(&pair, &recipe);
	assert_true(plx_engine_next_async_event(pair.side[1].engine, &event));
	assert_int_equal(event.kind, PLX_EVENT_SRQ_THRESHOLD);
	assert_int_equal(event.context, 0x50);
	pair_close(&pair);
}

static void
refusals_of_creation_and_states(void **state)
{
	struct pair_options options = ud_options();
	const struct pair_setup setup = {.inline_mode = true};
	struct plx_rc_attr attr = {.mtu = 4096, .pkey = PLX_PKEY_DEFAULT};
	struct plx_engine_qp_config config = {.type = PLX_QP_UD,
					      .caps = {.sq_depth = 4, .responder_resources = 1},
					      .rq_depth = 4};
	struct plx_qp *qp = NULL;
	struct plx_rc_view view;
	struct pair pair;

	(void)state;
	ud_open(&pair, &setup, &options);
	config.domain = pair.side[0].domain;
	config.send_cq = config.recv_cq = pair.side[0].send_cq;
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qp), PLX_INVALID);
	config.caps.responder_resources = 0;
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qp), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, NULL, NULL), PLX_INVALID);
	/* The fixture's port carries frames of 4300 bytes; one of less does not reach here. */
	attr.mtu = 8192;
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL), PLX_INVALID);
	attr.mtu = 1000;
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL), PLX_INVALID);
	pair.side[0].port.port.caps.frame_max = 1500;
	attr.mtu = 2048;
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL), PLX_TOO_LONG);
	attr.mtu = 1024;
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_query(qp, &view), PLX_OK);
	assert_int_equal(view.state, PLX_QP_RTR);
	assert_int_equal(view.mtu, 1024);
	assert_int_equal(view.dest_qpn, 0);
	assert_int_equal(plx_engine_qp_post_bind(qp, 1, 0, (struct plx_key){5}), PLX_INVALID);
	assert_int_equal(plx_engine_qp_destroy(qp), PLX_OK);
	pair.side[0].port.port.caps.frame_max = PAIR_FRAME;
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_judged_in_order),
		cmocka_unit_test(a_congestion_mark_is_counted),
		cmocka_unit_test(a_packet_in_pieces_arrives_whole),
		cmocka_unit_test(a_queue_pair_that_is_not_ready_takes_nothing),
		cmocka_unit_test(a_way_carries_its_class_and_its_hops),
		cmocka_unit_test(a_port_that_refuses_delays_and_loses_nothing),
		cmocka_unit_test(a_port_to_itself_carries_datagrams),
		cmocka_unit_test(an_overrun_fails_the_queue_pair),
		cmocka_unit_test(an_srq_below_its_threshold_is_told),
		cmocka_unit_test(refusals_of_creation_and_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
