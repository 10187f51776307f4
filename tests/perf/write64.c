/* SPDX-License-Identifier: BSD-3-Clause
 *
 * N WRITEs of 64 bytes from one queue pair to another, in bursts of 16 with one ACK each: what
 * tests/perf/run counts instructions of. It never sleeps, allocates in the loop, or measures time.
 * Start with burst(). Each of the four count_*() functions is a line of the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rc.h"

enum {
	BURST = 16, /* WRITEs by one ACK */
	DEPTH = 64,
	WRITE_BYTES = 64,
	FRAME_MAX = 256,
};

#define COUNTED __attribute__((noinline, noclone))
#ifdef __clang__
#undef COUNTED
#define COUNTED __attribute__((noinline))
#endif

/* What is counted: the transport by its slow path, with whole frames, by its fast path. */
enum mode {
	PACKETS,
	FRAMES,
	FAST,
	MODES,
};

static const char *const mode_names[MODES] = {"packets", "frames", "fast"};

/* One end, with memory of its own. */
struct end {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key key;
	struct plx_rc *qp;
	struct plx_frame_template tmpl;
	struct plx_actions actions;
	uint8_t memory[BURST * WRITE_BYTES];
	uint64_t completions, placed;
};

/* Frames on their way, for the mode that builds them. */
struct wire {
	uint8_t bytes[BURST][FRAME_MAX];
	size_t len[BURST];
	uint32_t count;
};

static struct end requester, responder;
static struct wire wire;
static plx_icrc_fn icrc;
static uint64_t now = 1000;

/* ---- set-up ---- */

static void
make_template(struct end *end, uint32_t from, uint32_t to)
{
	const struct plx_frame frame = {
		.ip_version = 4,
		.v4 = {.tos = PLX_ECN_ECT0,
		       .ttl = 64,
		       .flags_offset = 0x4000,
		       .src = from,
		       .dst = to},
		.udp_src = 50000,
		.udp_dst = PLX_ROCE_PORT,
	};

	plx_frame_template_init(&end->tmpl, &frame);
}

static void
make_end(struct end *end, uint32_t qpn, uint32_t peer)
{
	const struct plx_rc_caps caps = {.sq_depth = DEPTH, .sq_sges = 1, .responder_resources = 4};
	const struct plx_region_attr attr = {
		.va = 0x10000,
		.host = end->memory,
		.length = sizeof(end->memory),
		.access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE},
	};
	const struct plx_rc_attr qp_attr = {
		.path = {.ip_version = 4, .src4 = qpn, .dst4 = peer},
		.mtu = 1024,
		.dest_qpn = peer,
		.pkey = PLX_PKEY_DEFAULT,
		.rq_psn = {0},
		.enabled = {PLX_ACCESS_REMOTE_WRITE},
		.sq_psn = {0},
		.retry_max = 7,
		.ack_timeout_ns = PLX_SEC,
		.window_packets = DEPTH,
		.ack_interval = BURST,
		.read_chunk_packets = 16,
	};
	struct plx_rc_ids ids = {.qpn = qpn, .cc = &plx_cc_none};

	end->mem = test_mem(16, &end->domain);
	end->key = test_region_at(end->mem, end->domain, &attr, NULL);
	ids.domain = end->domain;
	ids.mem = end->mem;
	ids.rq = plx_rq_init(test_block(plx_rq_bytes(1, 0)), 1, 0, false);
	end->qp = plx_rc_init(test_block(plx_rc_bytes(&caps)), &caps, &ids);
	test_rc_bring(end->qp, PLX_QP_RTS, &qp_attr);
	make_template(end, qpn, peer);
}

/* ---- the engine's part, as small as it can be ---- */

/* Everything but packets. */
static void
execute(struct end *end)
{
	for (uint32_t i = 0; i < end->actions.count; i++) {
		const struct plx_action *action = &end->actions.list[i];

		if (action->kind == PLX_ACT_PLACE)
			end->placed += action->place.bytes;
		else if (action->kind == PLX_ACT_COMPLETE)
			end->completions += action->completion.status == PLX_WC_SUCCESS;
		plx_action_apply_memory(action);
	}
}

/* The frames of all packets in the list. */
static void
write_frames(struct end *end)
{
	wire.count = 0;
	for (uint32_t i = 0; i < end->actions.count; i++) {
		const struct plx_action *action = &end->actions.list[i];

		if (action->kind != PLX_ACT_EMIT)
			continue;
		PLX_ASSERT(wire.count < BURST);
		wire.len[wire.count] = plx_emit_write(&end->tmpl, &end->actions, &action->emit,
						      icrc, wire.bytes[wire.count]);
		wire.count++;
	}
}

/* A frame as an engine takes it in: decode, admit, ICRC, judge. */
static void
take_frame(struct end *end, const uint8_t *bytes, size_t len)
{
	struct plx_frame frame;
	struct plx_pkt pkt;
	const uint8_t *ip;
	size_t covered;

	PLX_ASSERT(plx_frame_decode(bytes, len, PLX_TRUST_IP_CHECKSUM, &frame) == PLX_WIRE_OK);
	PLX_ASSERT(plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
				  (size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt) == PLX_WIRE_OK);
	PLX_ASSERT(plx_rc_admit(end->qp, &frame, &pkt) == PLX_VERDICT_ACCEPT);
	ip = bytes + frame.ip_at;
	covered = (size_t)frame.ip_bytes - PLX_ICRC_BYTES;
	PLX_ASSERT(plx_icrc_load(ip + covered) == icrc(ip, covered));
	plx_rc_on_packet(end->qp, &pkt, now, &end->actions);
	execute(end);
	plx_actions_reset(&end->actions);
}

/* A packet straight out of the other end's list, its payload where the sender has it. */
static void
take_emit(struct end *end, const struct plx_actions *from, const struct plx_emit *emit)
{
	struct plx_pkt pkt = emit->pkt;

	PLX_ASSERT(emit->iovs <= 1);
	pkt.payload = emit->iovs ? from->iov[emit->iov_first].base : (const uint8_t *)"";
	plx_rc_on_packet(end->qp, &pkt, now, &end->actions);
	execute(end);
	plx_actions_reset(&end->actions);
}

/* What a QP sends by the fast path, from the BTH to where the ICRC goes. */
static void
write_fast(struct end *end, uint32_t budget)
{
	wire.count = 0;
	while (wire.count < budget) {
		uint8_t *out = wire.bytes[wire.count];
		struct plx_fast_packet fast;

		if (plx_rc_send_fast(end->qp, now, out, &fast) != PLX_FAST_SENT)
			return;
		if (fast.payload_bytes > 0)
			memcpy(out + fast.header_bytes, fast.payload, fast.payload_bytes);
		wire.len[wire.count++] =
			(size_t)fast.header_bytes + fast.payload_bytes + fast.pad + PLX_ICRC_BYTES;
	}
}

/* One of those arrives; an ACK and the very first request have only the general way. */
static void
receive_fast(struct end *end, const uint8_t *bth, size_t len)
{
	struct plx_completion completion;
	struct plx_place place;
	struct plx_pkt pkt;

	if (plx_rc_receive_fast(end->qp, bth, len, &place, &completion) == PLX_FAST_PLACED) {
		plx_place_bytes(&place);
		end->placed += place.bytes;
		return;
	}
	PLX_ASSERT(plx_pkt_decode(bth, len, &pkt) == PLX_WIRE_OK);
	plx_rc_on_packet(end->qp, &pkt, now, &end->actions);
	execute(end);
	plx_actions_reset(&end->actions);
}

static void
take_all(struct end *end, const struct end *from, enum mode mode)
{
	if (mode == FAST) {
		for (uint32_t i = 0; i < wire.count; i++)
			receive_fast(end, wire.bytes[i], wire.len[i]);
		return;
	}
	if (mode == FRAMES) {
		for (uint32_t i = 0; i < wire.count; i++)
			take_frame(end, wire.bytes[i], wire.len[i]);
		return;
	}
	for (uint32_t i = 0; i < from->actions.count; i++)
		if (from->actions.list[i].kind == PLX_ACT_EMIT)
			take_emit(end, &from->actions, &from->actions.list[i].emit);
}

/* ---- what is counted ---- */

COUNTED static void
count_requester_post(void)
{
	struct plx_wqe wqe = {
		.op = PLX_WR_WRITE,
		.sges = 1,
		.rkey = responder.key,
	};

	for (uint32_t i = 0; i < BURST; i++) {
		wqe.wr_id = i;
		wqe.remote_va = 0x10000 + i * WRITE_BYTES;
		wqe.sge[0] = (struct plx_sge){
			.va = wqe.remote_va, .length = WRITE_BYTES, .key = requester.key};
		PLX_ASSERT(plx_rc_post_send(requester.qp, &wqe, NULL) == PLX_OK);
	}
}

COUNTED static void
count_requester_send(enum mode mode)
{
	if (mode == FAST) {
		write_fast(&requester, BURST);
		PLX_ASSERT(wire.count == BURST);
		return;
	}
	PLX_ASSERT(plx_rc_transmit(requester.qp, now, BURST, &requester.actions) == BURST);
	if (mode == FRAMES)
		write_frames(&requester);
}

COUNTED static void
count_responder(enum mode mode)
{
	take_all(&responder, &requester, mode);
	if (mode == FAST) {
		write_fast(&responder, BURST);
		PLX_ASSERT(wire.count == 1);
		return;
	}
	PLX_ASSERT(plx_rc_transmit(responder.qp, now, BURST, &responder.actions) == 1);
	if (mode == FRAMES)
		write_frames(&responder);
}

COUNTED static void
count_requester_ack(enum mode mode)
{
	take_all(&requester, &responder, mode);
}

static void
burst(enum mode mode)
{
	now += 1000;
	count_requester_post();
	count_requester_send(mode);
	count_responder(mode);
	plx_actions_reset(&requester.actions);
	count_requester_ack(mode);
	plx_actions_reset(&responder.actions);
}

int
main(int argc, char **argv)
{
	enum mode mode = PACKETS;
	uint64_t bursts = argc == 3 ? strtoull(argv[2], NULL, 10) / BURST : 0;

	while (bursts > 0 && mode < MODES && strcmp(argv[1], mode_names[mode]) != 0)
		mode++;
	if (bursts == 0 || mode == MODES) {
		fprintf(stderr, "usage: write64 packets|frames|fast WRITES\n");
		return 4;
	}
	icrc = plx_icrc_choose();
	make_end(&requester, 1, 2);
	make_end(&responder, 2, 1);
	for (size_t i = 0; i < sizeof(requester.memory); i++)
		requester.memory[i] = (uint8_t)(i * 7 + 1);
	for (uint64_t i = 0; i < bursts; i++)
		burst(mode);
	PLX_ASSERT(requester.completions == bursts * BURST);
	PLX_ASSERT(responder.placed == bursts * BURST * WRITE_BYTES);
	PLX_ASSERT(memcmp(requester.memory, responder.memory, sizeof(requester.memory)) == 0);
	printf("%llu writes, ICRC %s\n", (unsigned long long)(bursts * BURST),
	       icrc == plx_icrc_onepass ? "one-pass" : "ISA-L");
	return 0;
}
