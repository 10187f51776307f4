/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From an EMIT to the bytes of a frame and back: every opcode, every pad, both IP versions, payload
 * in pieces; and how a memory action changes memory. It never uses a queue pair. Start with
 * round_trip().
 */
#include "rc_pair.h"

#include <stdlib.h>

enum {
	BYTES_MAX = PLX_MTU_MAX,
	PIECES_MAX = 4
};

static uint8_t source[BYTES_MAX];

static struct plx_frame
flow(uint8_t ip_version)
{
	struct plx_frame frame = {.eth_dst = {2, 0, 0, 0, 0, 1},
				  .eth_src = {2, 0, 0, 0, 0, 2},
				  .ip_version = ip_version,
				  .udp_src = 50000,
				  .udp_dst = PLX_ROCE_PORT};

	if (ip_version == 4) {
		frame.v4 = (struct plx_ipv4){.tos = 0x6a,
					     .ttl = 64,
					     .id = 0x1234,
					     .flags_offset = 0x4000,
					     .src = 0x0a4d0001,
					     .dst = 0x0a4d0002};
	} else {
		frame.v6.flow = 0x0ab00000;
		frame.v6.hop_limit = 64;
		frame.v6.src[15] = 1;
		frame.v6.dst[15] = 2;
	}
	return frame;
}

/* Payload of `bytes` in up to PIECES_MAX pieces, the seams where the seed puts them. */
static void
payload(struct plx_actions *actions, struct plx_emit *emit, uint32_t bytes, struct plx_prng *prng)
{
	uint32_t at = 0;

	/* some that belong to another packet come first */
	actions->iovs = (uint32_t)plx_prng_below(prng, 5);
	emit->iov_first = (uint16_t)actions->iovs;
	emit->iovs = 0;
	while (at < bytes) {
		uint32_t take = bytes - at;

		if (emit->iovs < PIECES_MAX - 1)
			take = 1 + (uint32_t)plx_prng_below(prng, take);
		actions->iov[actions->iovs++] =
			(struct plx_iov){.base = source + at, .bytes = take};
		emit->iovs++;
		at += take;
	}
	emit->pkt.payload_bytes = bytes;
	emit->pkt.pad = (uint8_t)(-bytes & 3);
}

static void
extended(struct plx_pkt *pkt, const struct plx_opcode *op, struct plx_prng *prng)
{
	if (plx_opcode_has(op, PLX_OPF_IMM) || plx_opcode_has(op, PLX_OPF_IETH))
		pkt->imm = (uint32_t)plx_prng_next(prng);
	if (plx_opcode_has(op, PLX_OPF_RETH))
		pkt->reth = (struct plx_reth){plx_prng_next(prng), (uint32_t)plx_prng_next(prng),
					      (uint32_t)plx_prng_next(prng)};
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH))
		pkt->atomic =
			(struct plx_atomic_eth){plx_prng_next(prng), (uint32_t)plx_prng_next(prng),
						plx_prng_next(prng), plx_prng_next(prng)};
	if (plx_opcode_has(op, PLX_OPF_AETH))
		pkt->aeth = (struct plx_aeth){(uint8_t)plx_prng_next(prng),
					      {(uint32_t)plx_prng_next(prng) & PLX_PSN_MASK}};
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		pkt->atomic_original = plx_prng_next(prng);
}

static void
same_extended(const struct plx_pkt *a, const struct plx_pkt *b, const struct plx_opcode *op)
{
	if (plx_opcode_has(op, PLX_OPF_IMM) || plx_opcode_has(op, PLX_OPF_IETH))
		assert_int_equal(a->imm, b->imm);
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		assert_true(a->reth.va == b->reth.va);
		assert_int_equal(a->reth.rkey, b->reth.rkey);
		assert_int_equal(a->reth.length, b->reth.length);
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		assert_true(a->atomic.va == b->atomic.va);
		assert_int_equal(a->atomic.rkey, b->atomic.rkey);
		assert_true(a->atomic.swap_add == b->atomic.swap_add);
		assert_true(a->atomic.compare == b->atomic.compare);
	}
	if (plx_opcode_has(op, PLX_OPF_AETH)) {
		assert_int_equal(a->aeth.syndrome, b->aeth.syndrome);
		assert_int_equal(a->aeth.msn.v, b->aeth.msn.v);
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		assert_true(a->atomic_original == b->atomic_original);
}

static void
check_frame(const struct plx_frame *want, const struct plx_emit *emit, const uint8_t *bytes,
	    size_t len)
{
	const struct plx_opcode *op = &plx_opcodes[emit->pkt.opcode];
	struct plx_frame frame;
	struct plx_pkt pkt;
	size_t covered;

	assert_int_equal(plx_frame_decode(bytes, len, 0, &frame), PLX_WIRE_OK);
	assert_int_equal(frame.ip_version, want->ip_version);
	assert_memory_equal(frame.eth_dst, want->eth_dst, 6);
	assert_int_equal(frame.udp_src, want->udp_src);
	if (want->ip_version == 4) {
		assert_int_equal(frame.v4.tos, want->v4.tos);
		assert_int_equal(frame.v4.src, want->v4.src);
		assert_int_equal(frame.v4.flags_offset, 0x4000);
	} else {
		assert_int_equal(frame.v6.flow, want->v6.flow);
		assert_memory_equal(frame.v6.dst, want->v6.dst, 16);
	}
	assert_int_equal(frame.ip_at + frame.ip_bytes, len); /* no Ethernet padding added by us */
	covered = frame.ip_bytes - PLX_ICRC_BYTES;
	assert_int_equal(plx_icrc_load(bytes + frame.ip_at + covered),
			 plx_icrc_isal(bytes + frame.ip_at, covered));
	assert_int_equal(plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
					frame.udp_bytes - PLX_UDP_BYTES, &pkt),
			 PLX_WIRE_OK);
	assert_int_equal(pkt.opcode, emit->pkt.opcode);
	assert_int_equal(pkt.psn.v, emit->pkt.psn.v);
	assert_int_equal(pkt.dest_qpn, emit->pkt.dest_qpn);
	assert_int_equal(pkt.pkey, emit->pkt.pkey);
	assert_int_equal(pkt.ack_request, emit->pkt.ack_request);
	assert_int_equal(pkt.solicited, emit->pkt.solicited);
	assert_int_equal(pkt.migreq, emit->pkt.migreq);
	assert_int_equal(pkt.becn, emit->pkt.becn);
	assert_int_equal(pkt.pad, -emit->pkt.payload_bytes & 3);
	same_extended(&pkt, &emit->pkt, op);
	assert_int_equal(pkt.payload_bytes, emit->pkt.payload_bytes);
	assert_memory_equal(pkt.payload, source, pkt.payload_bytes);
	for (uint32_t i = 0; i < pkt.pad; i++) /* T23: no old bytes leave in the pad */
		assert_int_equal(pkt.payload[pkt.payload_bytes + i], 0);
}

static void
round_trip(uint8_t opcode, uint8_t ip_version, uint32_t bytes, struct plx_prng *prng)
{
	const struct plx_frame frame = flow(ip_version);
	static struct plx_actions actions; /* large */
	struct plx_frame_template tmpl;
	struct plx_emit emit = {.pkt = {.opcode = opcode,
					.pkey = PLX_PKEY_DEFAULT,
					.migreq = true,
					.psn = plx_psn((uint32_t)plx_prng_next(prng)),
					.dest_qpn = (uint32_t)plx_prng_next(prng) & 0xffffff,
					.ack_request = plx_prng_next(prng) & 1,
					.becn = opcode == PLX_CNP,
					.solicited = plx_prng_next(prng) & 1}};
	uint8_t *out;
	size_t len;

	plx_frame_template_init(&tmpl, &frame);
	payload(&actions, &emit, bytes, prng);
	extended(&emit.pkt, &plx_opcodes[opcode], prng);
	len = plx_emit_bytes(&tmpl, &emit);
	out = malloc(len); /* exactly: a sanitizer sees one byte more */
	assert_non_null(out);
	memset(out, 0xa5, len);
	assert_int_equal(plx_emit_write(&tmpl, &actions, &emit, plx_icrc_isal, out), len);
	check_frame(&frame, &emit, out, len);
	free(out);
}

static void
every_packet_we_may_send_is_a_frame_that_decodes_to_the_same(void **state)
{
	static const uint32_t sizes[] = {0,  1,   2,   3,   4,   5,    60,   61,   62,   63,
					 64, 255, 256, 257, 511, 1023, 1024, 4093, 4095, 4096};
	struct plx_prng prng;
	uint32_t count = 0;

	(void)state;
	plx_prng_init(&prng, 6);
	for (uint32_t i = 0; i < BYTES_MAX; i++)
		source[i] = (uint8_t)plx_prng_next(&prng);
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		const struct plx_opcode *op = &plx_opcodes[opcode];

		if (op->service != PLX_SERVICE_RC && op->service != PLX_SERVICE_CNP)
			continue;
		for (size_t i = 0; i < PLX_COUNT_OF(sizes); i++)
			for (int version = 4; version <= 6; version += 2) {
				uint32_t bytes = op->service == PLX_SERVICE_CNP
							 ? PLX_CNP_PAYLOAD_BYTES
							 : sizes[i];

				if (!plx_opcode_has(op, PLX_OPF_PAYLOAD) &&
				    op->service != PLX_SERVICE_CNP && bytes)
					continue;
				round_trip((uint8_t)opcode, (uint8_t)version, bytes, &prng);
				count++;
			}
	}
	/* 18 opcodes with payload and the CNP at 20 sizes, 5 without; two IP versions */
	assert_int_equal(count, 2 * (19 * 20 + 5));
}

static void
placing_copies_exactly_the_bytes_it_names(void **state)
{
	uint8_t from[64], to[64];

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		from[i] = (uint8_t)(i + 1);
	for (uint32_t bytes = 0; bytes <= 32; bytes++) {
		const struct plx_action action = {.kind = PLX_ACT_PLACE,
						  .place = {to + 7, from + 3, bytes}};

		memset(to, 0, sizeof(to));
		plx_action_apply_memory(&action);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(to[i], i >= 7 && i < 7 + bytes ? i - 7 + 4 : 0);
	}
}

static void
an_atomic_keeps_the_value_it_found_and_changes_only_what_it_should(void **state)
{
	uint64_t words[3] = {1, UINT64_MAX, 3}, original = 0;
	struct plx_action action = {.kind = PLX_ACT_ATOMIC};

	(void)state;
	action.atomic = (struct plx_atomic){
		.target = (uint8_t *)&words[1], .swap_add = 2, .original = &original};
	plx_action_apply_memory(&action); /* an add that wraps */
	assert_true(original == UINT64_MAX && words[1] == 1);
	action.atomic.cmp_swap = true;
	action.atomic.compare = 7;
	plx_action_apply_memory(&action); /* not equal */
	assert_true(original == 1 && words[1] == 1);
	action.atomic.compare = 1;
	plx_action_apply_memory(&action);
	assert_true(original == 1 && words[1] == 2);
	assert_true(words[0] == 1 && words[2] == 3);
}

static void
other_actions_touch_no_memory(void **state)
{
	static const enum plx_action_kind kinds[] = {PLX_ACT_NONE, PLX_ACT_COMPLETE, PLX_ACT_EVENT,
						     PLX_ACT_EMIT};
	struct plx_action action, before;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(kinds); i++) {
		memset(&action, 0, sizeof(action));
		action.kind = (uint8_t)kinds[i];
		before = action;
		plx_action_apply_memory(&action);
		assert_memory_equal(&before, &action, sizeof(action));
	}
}

/* ---- names and texts ---- */

static void
assert_total(const char *(*text)(int), int count)
{
	for (int i = 0; i < count; i++) {
		assert_non_null(text(i));
		assert_true(strlen(text(i)) > 0);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(text(i), text(k));
	}
	/* an invalid value has a text too, different from all others */
	for (int i = 0; i < 3; i++) {
		const char *none = text(i == 0 ? count : i == 1 ? -1 : 1000000);

		assert_non_null(none);
		for (int k = 0; k < count; k++)
			assert_string_not_equal(none, text(k));
	}
}

#define TEXT(function, type)                      \
	static const char *call_##function(int i) \
	{                                         \
		return function((type)i);         \
	}

TEXT(plx_wc_text, enum plx_wc_status)
TEXT(plx_event_text, enum plx_event_kind)
TEXT(plx_verdict_text, enum plx_verdict)
TEXT(plx_verdict_name, enum plx_verdict)
TEXT(plx_qp_state_name, enum plx_qp_state)
#undef TEXT

static void
every_value_has_a_text_of_its_own_and_every_other_number_has_one(void **state)
{
	(void)state;
	assert_total(call_plx_wc_text, PLX_WC_COUNT);
	assert_total(call_plx_event_text, PLX_EVENT_COUNT);
	assert_total(call_plx_verdict_text, PLX_VERDICT_COUNT);
	assert_total(call_plx_verdict_name, PLX_VERDICT_COUNT);
	assert_total(call_plx_qp_state_name, PLX_QP_STATE_COUNT);
	assert_string_equal(plx_verdict_name(PLX_VERDICT_AHEAD_AGAIN), "AHEAD_AGAIN");
	assert_string_equal(plx_wc_text(PLX_WC_RETRY_EXCEEDED), "no answer within the retry count");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_we_may_send_is_a_frame_that_decodes_to_the_same),
		cmocka_unit_test(placing_copies_exactly_the_bytes_it_names),
		cmocka_unit_test(
			an_atomic_keeps_the_value_it_found_and_changes_only_what_it_should),
		cmocka_unit_test(other_actions_touch_no_memory),
		cmocka_unit_test(every_value_has_a_text_of_its_own_and_every_other_number_has_one),
	};

	return cmocka_run_group_tests_name("transport: emit", tests, NULL, NULL);
}
