/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages from one queue pair to another, in bursts of 16 packets with one ACK each: what
 * tests/perf/run counts instructions of. It never sleeps, allocates in the loop, or measures time.
 * Start with burst(). Each of the four count_*() functions is a line of the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rc.h"

enum {
	BURST = 16, /* packets by one ACK */
	DEPTH = 64,
	SMALL_BYTES = 64,
	MTU = 4096,
	LONG_PACKETS = 256,
	LONG_BYTES = LONG_PACKETS * MTU,
	FRAME_MAX = MTU + 128,
};

#define COUNTED __attribute__((noinline, noclone))
#ifdef __clang__
#undef COUNTED
#define COUNTED __attribute__((noinline))
#endif

/* What is counted: 64 B WRITEs by the transport's slow path, with whole frames, by its fast path;
 * packets of long WRITEs, and 64 B READs, by the fast path. */
enum mode {
	PACKETS,
	FRAMES,
	FAST,
	MIDDLE,
	READ,
	MODES,
};

static const char *const mode_names[MODES] = {"packets", "frames", "fast", "middle", "read"};

/* One end, with memory of its own. */
struct end {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key key;
	struct plx_rc *qp;
	struct plx_frame_template tmpl;
	struct plx_actions actions;
	uint8_t memory[LONG_BYTES];
	uint64_t completions, placed;
	struct plx_place later[BURST]; /* copies that are not counted */
	uint32_t laters;
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
static enum mode mode = PACKETS;

static bool
is_fast(void)
{
	return mode >= FAST;
}

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
	const struct plx_rc_caps caps = {
		.sq_depth = DEPTH, .sq_sges = 1, .responder_resources = BURST};
	const struct plx_region_attr attr = {
		.va = 0x10000,
		.host = end->memory,
		.length = sizeof(end->memory),
		.access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
			   PLX_ACCESS_REMOTE_READ},
	};
	const struct plx_rc_attr qp_attr = {
		.path = {.ip_version = 4, .src4 = qpn, .dst4 = peer},
		.mtu = MTU,
		.dest_qpn = peer,
		.pkey = PLX_PKEY_DEFAULT,
		.rq_psn = {0},
		.enabled = {PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_READ},
		.sq_psn = {0},
		.retry_max = 7,
		.initiator_depth = BURST,
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

/* A copy of 4 KiB would hide what a decision costs. */
static void
place(struct end *end, const struct plx_place *it)
{
	end->placed += it->bytes;
	if (mode == MIDDLE)
		end->later[end->laters++] = *it;
	else
		plx_place_bytes(it);
}

/* Everything but packets. */
static void
execute(struct end *end)
{
	for (uint32_t i = 0; i < end->actions.count; i++) {
		const struct plx_action *action = &end->actions.list[i];

		if (action->kind == PLX_ACT_PLACE)
			place(end, &action->place);
		else if (action->kind == PLX_ACT_COMPLETE)
			end->completions += action->completion.status == PLX_WC_SUCCESS;
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

/* The payload of a packet, where the sender has it: its place in a frame is not copied to if that
 * is not counted. */
static const uint8_t *payloads[BURST];

/* What a QP sends by the fast path, from the BTH to where the ICRC goes. */
static bool
write_fast(struct end *end, uint32_t budget)
{
	struct plx_fast_packet fast;

	while (wire.count < budget) {
		uint8_t *out = wire.bytes[wire.count];

		if (plx_rc_send_fast(end->qp, now, out, &fast) != PLX_FAST_SENT)
			return false;
		if (fast.payload_bytes > 0) {
			payloads[wire.count] = fast.payload;
			if (mode != MIDDLE)
				memcpy(out + fast.header_bytes, fast.payload, fast.payload_bytes);
		}
		wire.len[wire.count++] =
			(size_t)fast.header_bytes + fast.payload_bytes + fast.pad + PLX_ICRC_BYTES;
	}
	return true;
}

/* What it sends by the slow path. */
static void
write_slow(struct end *end, uint32_t budget)
{
	plx_rc_transmit(end->qp, now, budget - wire.count, &end->actions);
	for (uint32_t i = 0; i < end->actions.count; i++) {
		const struct plx_emit *emit = &end->actions.list[i].emit;
		uint8_t *out = wire.bytes[wire.count];
		size_t at;

		if (end->actions.list[i].kind != PLX_ACT_EMIT)
			continue;
		at = plx_pkt_encode(&emit->pkt, out);
		if (emit->iovs > 0) {
			payloads[wire.count] = end->actions.iov[emit->iov_first].base;
			if (mode != MIDDLE)
				memcpy(out + at, payloads[wire.count], emit->pkt.payload_bytes);
		}
		wire.len[wire.count++] =
			at + emit->pkt.payload_bytes + emit->pkt.pad + PLX_ICRC_BYTES;
	}
	execute(end);
	plx_actions_reset(&end->actions);
}

/* As an engine does. */
static void
write_usual(struct end *end, uint32_t budget)
{
	wire.count = 0;
	if (!write_fast(end, budget))
		write_slow(end, budget);
}

static void
take_usual(struct end *end, const uint8_t *bth, size_t len)
{
	struct plx_completion completion;
	struct plx_place it;
	struct plx_pkt pkt;
	enum plx_fast_kind kind = plx_rc_receive_fast(end->qp, bth, len, now, &it, &completion);

	if (kind != PLX_FAST_NO) {
		if (kind != PLX_FAST_TAKEN)
			place(end, &it);
		while (kind == PLX_FAST_TAKEN && plx_rc_next_completion(end->qp, &completion))
			end->completions++;
		end->completions += kind == PLX_FAST_RECEIVED;
		return;
	}
	PLX_ASSERT(plx_pkt_decode(bth, len, &pkt) == PLX_WIRE_OK);
	plx_rc_on_packet(end->qp, &pkt, now, &end->actions);
	execute(end);
	plx_actions_reset(&end->actions);
}

static void
take_all(struct end *end, const struct end *from)
{
	if (is_fast()) {
		for (uint32_t i = 0; i < wire.count; i++)
			take_usual(end, wire.bytes[i], wire.len[i]);
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

/* Requests that are posted for a burst: the packets of a long one are sent in several. */
static uint32_t
posted(uint64_t burst)
{
	if (mode == MIDDLE)
		return burst % (LONG_PACKETS / BURST) == 0;
	return BURST;
}

COUNTED static void
count_requester_post(uint32_t requests)
{
	struct plx_wqe wqe = {
		.op = mode == READ ? PLX_WR_READ : PLX_WR_WRITE,
		.sges = 1,
		.rkey = responder.key,
	};
	const uint32_t bytes = mode == MIDDLE ? LONG_BYTES : SMALL_BYTES;

	for (uint32_t i = 0; i < requests; i++) {
		wqe.wr_id = i;
		wqe.remote_va = 0x10000 + i * SMALL_BYTES;
		wqe.sge[0] = (struct plx_sge){
			.va = wqe.remote_va, .length = bytes, .key = requester.key};
		PLX_ASSERT(plx_rc_post_send(requester.qp, &wqe, NULL) == PLX_OK);
	}
}

COUNTED static void
count_requester_send(void)
{
	if (is_fast()) {
		write_usual(&requester, BURST);
		PLX_ASSERT(wire.count == BURST);
		return;
	}
	PLX_ASSERT(plx_rc_transmit(requester.qp, now, BURST, &requester.actions) == BURST);
	if (mode == FRAMES)
		write_frames(&requester);
}

/* The only packet of the burst is an ACK, or each request has its response. */
COUNTED static void
count_responder(void)
{
	take_all(&responder, &requester);
	if (is_fast()) {
		write_usual(&responder, BURST);
		PLX_ASSERT(wire.count == (mode == READ ? BURST : 1));
		return;
	}
	PLX_ASSERT(plx_rc_transmit(responder.qp, now, BURST, &responder.actions) == 1);
	if (mode == FRAMES)
		write_frames(&responder);
}

/* What has completed is delivered when an engine lets the queue pair send. */
COUNTED static void
count_requester_ack(void)
{
	take_all(&requester, &responder);
	if (is_fast())
		write_usual(&requester, 0);
}

/* Copy what was placed without a copy: from where the sender has it. */
static void
copy_later(struct end *end)
{
	for (uint32_t i = 0; i < end->laters; i++)
		memcpy(end->later[i].dst, payloads[i], end->later[i].bytes);
	end->laters = 0;
}

static void
burst(uint64_t number)
{
	now += 1000;
	count_requester_post(posted(number));
	count_requester_send();
	count_responder();
	plx_actions_reset(&requester.actions);
	copy_later(&responder);
	count_requester_ack();
	plx_actions_reset(&responder.actions);
}

int
main(int argc, char **argv)
{
	uint64_t bursts = argc == 3 ? strtoull(argv[2], NULL, 10) / BURST : 0;
	struct end *source = mode == READ ? &responder : &requester;
	size_t moved = BURST * SMALL_BYTES;

	while (bursts > 0 && mode < MODES && strcmp(argv[1], mode_names[mode]) != 0)
		mode++;
	if (bursts == 0 || mode == MODES) {
		fprintf(stderr, "usage: transport packets|frames|fast|middle|read PACKETS\n");
		return 4;
	}
	if (mode == MIDDLE)
		bursts -= bursts % (LONG_PACKETS / BURST);
	icrc = plx_icrc_choose();
	make_end(&requester, 1, 2);
	make_end(&responder, 2, 1);
	if (mode == MIDDLE)
		moved = LONG_BYTES;
	for (size_t i = 0; i < moved; i++)
		source->memory[i] = (uint8_t)(i * 7 + 1);
	for (uint64_t i = 0; i < bursts; i++)
		burst(i);
	PLX_ASSERT(requester.completions ==
		   (mode == MIDDLE ? bursts * BURST / LONG_PACKETS : bursts * BURST));
	PLX_ASSERT(requester.placed + responder.placed ==
		   bursts * BURST * (mode == MIDDLE ? MTU : SMALL_BYTES));
	PLX_ASSERT(memcmp(requester.memory, responder.memory, moved) == 0);
	printf("%llu packets, ICRC %s\n", (unsigned long long)(bursts * BURST),
	       icrc == plx_icrc_onepass ? "one-pass" : "ISA-L");
	return 0;
}
