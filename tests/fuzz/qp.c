/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libFuzzer target: the input is a program of packets, posts, ticks and revocations for one queue
 * pair. It never gives the QP a packet that admission would refuse. Start with
 * LLVMFuzzerTestOneInput(); the invariants are in qp_world.c.
 */
#include "input.h"
#include "qp_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STEPS_MAX = 200,
	PAYLOAD_MAX = PLX_MTU_MAX + 8,
};

static struct world world;
/* Payloads end where the block ends, so that the sanitizer sees one byte too many. */
static uint8_t payload_block[PAYLOAD_MAX];

/* The fuzzer's program, and what it knows of the previous packet. */
struct play {
	struct world *w;
	struct input in;
	struct plx_pkt last; /* the packet before, to be sent again */
	bool has_last;
	uint8_t peer_open; /* enum plx_op_kind of the message our peer is in the middle of */
	uint32_t peer_left;
};

/* ---- packets in ---- */

static enum plx_verdict
give(struct play *p, struct plx_pkt *pkt)
{
	pkt->payload = payload_block + PAYLOAD_MAX - pkt->payload_bytes - pkt->pad;
	p->last = *pkt;
	p->has_last = true;
	return world_give(p->w, pkt);
}

static void
pkt_start(struct play *p, struct plx_pkt *pkt, uint8_t opcode, uint8_t flags)
{
	(void)p;
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = opcode;
	pkt->pkey = PLX_PKEY_DEFAULT;
	pkt->dest_qpn = 0x11;
	pkt->migreq = flags & 1;
	pkt->ack_request = flags & 2;
	pkt->solicited = flags & 4;
	pkt->ce = flags & 8;
	pkt->becn = flags & 16;
}

static const uint8_t opcodes[] = {
	PLX_RC_SEND_FIRST,
	PLX_RC_SEND_MIDDLE,
	PLX_RC_SEND_LAST,
	PLX_RC_SEND_LAST_IMM,
	PLX_RC_SEND_ONLY,
	PLX_RC_SEND_ONLY_IMM,
	PLX_RC_WRITE_FIRST,
	PLX_RC_WRITE_MIDDLE,
	PLX_RC_WRITE_LAST,
	PLX_RC_WRITE_LAST_IMM,
	PLX_RC_WRITE_ONLY,
	PLX_RC_WRITE_ONLY_IMM,
	PLX_RC_READ_REQUEST,
	PLX_RC_READ_RESPONSE_FIRST,
	PLX_RC_READ_RESPONSE_MIDDLE,
	PLX_RC_READ_RESPONSE_LAST,
	PLX_RC_READ_RESPONSE_ONLY,
	PLX_RC_ACK,
	PLX_RC_ATOMIC_ACK,
	PLX_RC_CMP_SWAP,
	PLX_RC_FETCH_ADD,
	PLX_RC_SEND_LAST_INV,
	PLX_RC_SEND_ONLY_INV,
	PLX_CNP,
};

static struct plx_psn
psn_near(const struct play *p, uint8_t base, int8_t delta)
{
	const struct plx_rc_view *view = &p->w->view;
	const struct plx_psn bases[] = {view->psn_expected, view->psn_unacked, view->psn_next,
					view->psn_high, plx_psn(view->psn_expected.v ^ 0x800000)};

	return plx_psn_add(bases[base % PLX_COUNT_OF(bases)], (uint32_t)delta);
}

static uint32_t
length_near(const struct play *p, uint8_t choice)
{
	uint32_t mtu = p->w->attr.mtu;
	const uint32_t lengths[] = {0, 1, 8, mtu - 1, mtu, mtu + 1, choice, mtu - 4};

	return lengths[choice & 7];
}

/* Extended headers, every field the fuzzer's. */
static void
headers(struct play *p, struct plx_pkt *pkt)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	uint8_t key = input_byte(&p->in);
	uint64_t va = world_va(p->w, key, input_byte(&p->in));

	if (plx_opcode_has(op, PLX_OPF_IMM))
		pkt->imm = key;
	if (plx_opcode_has(op, PLX_OPF_IETH))
		pkt->inv_key = world_key(p->w, key).v;
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		uint8_t length = input_byte(&p->in);

		pkt->reth.va = va;
		pkt->reth.rkey = world_key(p->w, key).v;
		pkt->reth.length = length & 0x80 ? (length & 7) * 300u : pkt->payload_bytes;
		if (length == 0xff)
			pkt->reth.length = PLX_MESSAGE_MAX + (key >> 7);
	} else if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		pkt->atomic.va = va;
		pkt->atomic.rkey = world_key(p->w, key).v;
		pkt->atomic.swap_add = input_byte(&p->in);
		pkt->atomic.compare = pkt->atomic.swap_add & 1;
	} else if (plx_opcode_has(op, PLX_OPF_AETH)) {
		pkt->aeth.syndrome = key;
		pkt->aeth.msn.v = input_byte(&p->in);
	}
}

static void
step_raw(struct play *p)
{
	uint8_t which = input_byte(&p->in), flags = input_byte(&p->in), base = input_byte(&p->in);
	int8_t delta = (int8_t)input_byte(&p->in);
	struct plx_pkt pkt;

	pkt_start(p, &pkt, opcodes[which % PLX_COUNT_OF(opcodes)], flags);
	pkt.psn = psn_near(p, base, delta);
	pkt.payload_bytes = length_near(p, input_byte(&p->in));
	pkt.pad = flags & 32 ? flags >> 6 : (uint8_t)(-pkt.payload_bytes & 3);
	headers(p, &pkt);
	give(p, &pkt);
}

/* ---- a peer that behaves correctly ---- */

/* Indexes of world_key(): keys that a peer may write to, and former keys of it. */
static const uint8_t some_keys[8] = {0, 4, 6, 7, 8, 9, 10, 11};

/* Start or continue a SEND or WRITE at the expected PSN, as an honest peer would. */
static void
good_message(struct play *p, uint8_t kind, uint8_t shape)
{
	uint32_t mtu = p->w->attr.mtu;
	bool goes_on = p->peer_open == kind, ends;
	struct plx_pkt pkt;
	uint8_t opcode, key = input_byte(&p->in);

	if (!goes_on)
		p->peer_left = (shape & 7) * mtu + (shape >> 3);
	ends = p->peer_left <= mtu;
	if (kind == PLX_OP_SEND)
		opcode = goes_on ? (ends ? PLX_RC_SEND_LAST : PLX_RC_SEND_MIDDLE)
				 : (ends ? PLX_RC_SEND_ONLY : PLX_RC_SEND_FIRST);
	else
		opcode = goes_on ? (ends ? PLX_RC_WRITE_LAST : PLX_RC_WRITE_MIDDLE)
				 : (ends ? PLX_RC_WRITE_ONLY : PLX_RC_WRITE_FIRST);
	if (ends && (key & 0x10)) /* the same with an immediate */
		opcode++;
	if (ends && kind == PLX_OP_SEND && (key & 0x30) == 0x20)
		opcode = goes_on ? PLX_RC_SEND_LAST_INV : PLX_RC_SEND_ONLY_INV;
	pkt_start(p, &pkt, opcode, (uint8_t)(key >> 6 << 1 | 1));
	pkt.psn = p->w->view.psn_expected;
	pkt.payload_bytes = ends ? p->peer_left : mtu;
	pkt.pad = (uint8_t)(-pkt.payload_bytes & 3);
	if (plx_opcode_has(&plx_opcodes[opcode], PLX_OPF_RETH))
		pkt.reth = (struct plx_reth){.va = world_va(p->w, some_keys[key & 7], 29),
					     .rkey = world_key(p->w, some_keys[key & 7]).v,
					     .length = p->peer_left};
	if (plx_opcode_has(&plx_opcodes[opcode], PLX_OPF_IETH))
		pkt.inv_key = world_key(p->w, some_keys[key & 7]).v;
	if (give(p, &pkt) != PLX_VERDICT_ACCEPT)
		return;
	p->peer_left -= pkt.payload_bytes;
	p->peer_open = ends ? PLX_OP_NONE : kind;
}

static void
step_good_request(struct play *p)
{
	uint8_t choice = input_byte(&p->in), shape = input_byte(&p->in);
	struct plx_pkt pkt;

	if (p->peer_open != PLX_OP_NONE) {
		good_message(p, p->peer_open, shape);
		return;
	}
	if (choice % 4 < 2) {
		good_message(p, choice & 1 ? PLX_OP_WRITE : PLX_OP_SEND, shape);
		return;
	}
	pkt_start(p, &pkt, PLX_RC_READ_REQUEST, choice >> 4);
	pkt.psn = p->w->view.psn_expected;
	if (choice % 4 == 2) {
		pkt.reth = (struct plx_reth){.va = world_va(p->w, shape >> 7, 0),
					     .rkey = world_key(p->w, shape >> 7).v,
					     .length = (shape & 0x7f) * 16u};
	} else {
		pkt.opcode = shape & 1 ? PLX_RC_CMP_SWAP : PLX_RC_FETCH_ADD;
		pkt.atomic = (struct plx_atomic_eth){.va = world_va(p->w, 0, shape & 0x78),
						     .rkey = world_key(p->w, 0).v,
						     .swap_add = choice};
	}
	give(p, &pkt);
}

static const struct world_sent *
sent_at(const struct world *w, struct plx_psn psn)
{
	for (uint32_t i = 1; i <= WORLD_SENT; i++) {
		const struct world_sent *sent = &w->sent[(w->sent_next - i) % WORLD_SENT];

		if (sent->opcode != 0 && plx_psn_in(psn, sent->psn, world_packets(w, sent->bytes)))
			return sent;
	}
	return NULL;
}

/* The answer the QP waits for at its oldest unacknowledged PSN. */
static void
step_good_answer(struct play *p)
{
	struct world *w = p->w;
	uint8_t choice = input_byte(&p->in);
	const struct world_sent *sent = sent_at(w, w->view.psn_unacked);
	uint32_t packet, packets, left;
	struct plx_pkt pkt;

	pkt_start(p, &pkt, PLX_RC_ACK, choice >> 4);
	pkt.psn = plx_psn_add(w->view.psn_unacked, choice & 3);
	pkt.aeth.syndrome = PLX_AETH_NO_CREDITS;
	if (sent != NULL && plx_opcodes[sent->opcode].kind == PLX_OP_READ_REQUEST) {
		packet = (uint32_t)plx_psn_diff(w->view.psn_unacked, sent->psn);
		packets = world_packets(w, sent->bytes);
		left = sent->bytes - packet * w->attr.mtu;
		pkt.psn = w->view.psn_unacked;
		pkt.opcode = packet == 0 ? (packets == 1 ? PLX_RC_READ_RESPONSE_ONLY
							 : PLX_RC_READ_RESPONSE_FIRST)
					 : (packet + 1 == packets ? PLX_RC_READ_RESPONSE_LAST
								  : PLX_RC_READ_RESPONSE_MIDDLE);
		pkt.payload_bytes = left < w->attr.mtu ? left : w->attr.mtu;
		pkt.pad = (uint8_t)(-pkt.payload_bytes & 3);
	} else if (sent != NULL &&
		   (sent->opcode == PLX_RC_CMP_SWAP || sent->opcode == PLX_RC_FETCH_ADD)) {
		pkt.psn = w->view.psn_unacked;
		pkt.opcode = PLX_RC_ATOMIC_ACK;
		pkt.atomic_original = choice;
	}
	give(p, &pkt);
}

static void
step_aeth(struct play *p)
{
	static const uint8_t syndromes[] = {0x00, 0x1f, 0x20, 0x21, 0x60, 0x61, 0x62, 0x63,
					    0x64, 0x7f, 0x40, 0x80, 0x2a, 0x60, 0x60, 0x21};
	uint8_t choice = input_byte(&p->in), base = input_byte(&p->in);
	struct plx_pkt pkt;

	pkt_start(p, &pkt, PLX_RC_ACK, 1);
	pkt.psn = psn_near(p, 1, (int8_t)base);
	pkt.aeth.syndrome = syndromes[choice & 15];
	give(p, &pkt);
}

static void
step_again(struct play *p)
{
	struct plx_pkt pkt = p->last;

	if (p->has_last)
		give(p, &pkt);
}

/* ---- everything else ---- */

static uint32_t
sges(struct play *p, struct plx_sge *sge, uint32_t count)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t choice = input_byte(&p->in), length = input_byte(&p->in);

		sge[i].key = world_key(p->w, choice);
		sge[i].va = world_va(p->w, choice, choice & 0xf0);
		sge[i].length = length * (choice & 0x80 ? 4u : 1u);
		bytes += sge[i].length;
	}
	return bytes;
}

static void
step_post_send(struct play *p)
{
	struct world *w = p->w;
	uint64_t slot = w->send.posted % (WORLD_DEPTH * 2);
	uint8_t choice = input_byte(&p->in), key = input_byte(&p->in), count;
	struct plx_sge list[PLX_SGE_MAX + 2];
	uint8_t data[PLX_INLINE_MAX];
	const void *spill = NULL;
	struct plx_wqe wqe;

	memset(&wqe, 0, sizeof(wqe));
	wqe.wr_id = w->send.posted;
	wqe.op = (uint8_t)(1 + choice % (PLX_WR_OP_COUNT - 1));
	wqe.flags = key >> 4;
	wqe.rkey = wqe.inv_key = world_key(w, key);
	wqe.remote_va = world_va(w, key, input_byte(&p->in));
	count = input_byte(&p->in);
	if (wqe.flags & PLX_WR_INLINE) {
		memset(data, 0x77, sizeof(data));
		wqe.inline_bytes = count;
		memcpy(wqe.data, data, sizeof(wqe.data));
		if (count > PLX_WQE_INLINE_BYTES)
			spill = data;
	} else if (wqe.op == PLX_WR_CMP_SWAP || wqe.op == PLX_WR_FETCH_ADD) {
		wqe.sges = 1;
		wqe.sge[0] = (struct plx_sge){world_va(w, key, count), 8, world_key(w, count >> 4)};
	} else if (wqe.op != PLX_WR_LOCAL_INV && wqe.op != PLX_WR_BIND) {
		wqe.sges = count % 8 < 6 ? count % 3 : count % (PLX_SGE_MAX + 2);
		sges(p, list, wqe.sges);
		memcpy(wqe.sge, list, sizeof(wqe.sge));
		if (wqe.sges > PLX_WQE_SGES)
			spill = list + PLX_WQE_SGES;
	}
	if (plx_rc_post_send(w->qp, &wqe, spill) != PLX_OK)
		return;
	CHECK(w->send.posted - w->send.completed < WORLD_DEPTH);
	w->send.op[slot] = wqe.op;
	w->send.unsignaled[slot] = wqe.flags & PLX_WR_UNSIGNALED;
	w->send.posted++;
}

static void
step_post_recv(struct play *p)
{
	struct world *w = p->w;
	struct plx_sge list[8];
	uint32_t count = input_byte(&p->in) % 8;
	enum plx_status status;

	sges(p, list, count);
	if (w->shared)
		status = plx_rq_post(w->rq, w->recv.posted, list, count);
	else
		status = plx_rc_post_recv(w->qp, w->recv.posted, list, count);
	if (status == PLX_OK)
		w->recv.posted++;
}

static void
step_time(struct play *p)
{
	struct world *w = p->w;
	uint64_t wake = plx_rc_wake_ns(w->qp);
	uint8_t choice = input_byte(&p->in);

	if (choice & 1 && wake != PLX_NEVER && wake > w->now)
		w->now = wake;
	else
		w->now += choice * 16u;
	w->hold_until = choice & 2 ? w->now + choice : 0;
	if (choice & 4)
		world_crowd(w, PLX_ACTIONS_PER_PACKET);
	plx_rc_on_tick(w->qp, w->now, &w->actions);
	world_execute(w, 0);
	wake = plx_rc_wake_ns(w->qp);
	CHECK(wake == 0 || wake > w->now);
}

static void
step_transmit(struct play *p, uint32_t budget)
{
	struct world *w = p->w;

	world_crowd(w, input_byte(&p->in) % (PLX_ACTIONS_MAX + 1));
	CHECK(plx_rc_transmit(w->qp, w->now, budget, &w->actions) <= budget);
	world_execute(w, budget);
}

/* Everything posted is dropped; so is the SRQ entry that a message held. */
static void
forget(struct play *p)
{
	struct world *w = p->w;

	w->send.completed = w->send.posted;
	w->send.failed = w->recv.failed = false;
	memset(&w->allowed, 0, sizeof(w->allowed));
	memset(w->sent, 0, sizeof(w->sent));
	if (!w->shared)
		w->recv.completed = w->recv.posted;
	else if (w->view.rq_open)
		w->recv.completed++;
	p->peer_open = PLX_OP_NONE;
	p->has_last = false;
	/* A discarded BIND unbinds its window. */
	world_refresh_books(w);
}

static void
step_modify(struct play *p)
{
	struct world *w = p->w;
	uint8_t choice = input_byte(&p->in);
	enum plx_qp_state to = (enum plx_qp_state)(choice % (PLX_QP_STATE_COUNT + 1));

	if (choice & 0x80) { /* a new life */
		CHECK(plx_rc_modify(w->qp, PLX_QP_RESET, NULL) == PLX_OK);
		CHECK(plx_rc_wake_ns(w->qp) == PLX_NEVER);
		world_take_kept(w);
		forget(p);
		plx_rc_query(w->qp, &w->view);
		world_connect(w);
		return;
	}
	if (plx_rc_modify(w->qp, to, &w->attr) == PLX_OK && to == PLX_QP_RESET)
		forget(p);
	world_take_kept(w);
}

static void
step_memory(struct play *p)
{
	uint8_t choice = input_byte(&p->in);

	if (choice & 0x80)
		world_window_toggle(p->w, choice & 1, choice >> 1 & 0x3f);
	else
		world_region_toggle(p->w, choice);
}

static void
step_rare(struct play *p)
{
	uint8_t choice = input_byte(&p->in);

	if (choice < 64) {
		plx_rc_fail(p->w->qp, &p->w->actions);
		world_execute(p->w, 0);
	} else if (choice < 128) {
		plx_rq_arm(p->w->rq, choice & 7);
	} else {
		step_modify(p);
	}
}

static void
step(struct play *p, uint8_t op)
{
	switch (op & 15) {
	case 0:
		step_raw(p);
		break;
	case 1:
	case 2:
	case 3:
		step_good_request(p);
		break;
	case 4:
	case 5:
		step_good_answer(p);
		break;
	case 6:
		step_aeth(p);
		break;
	case 7:
		step_again(p);
		break;
	case 8:
	case 9:
		step_post_send(p);
		break;
	case 10:
		step_post_recv(p);
		break;
	case 11:
		step_time(p);
		break;
	case 12:
		step_transmit(p, op >> 4);
		break;
	case 13:
		world_drain(p->w);
		break;
	case 14:
		step_memory(p);
		break;
	default:
		step_rare(p);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = {.w = &world, .in = {data, size}};
	uint8_t choice[16];

	for (size_t i = 0; i < sizeof(choice); i++)
		choice[i] = input_byte(&p.in);
	world_reset(&world, choice);
	world_connect(&world);
	world_look(&world);
	for (uint32_t i = 0; i < STEPS_MAX && p.in.left > 0; i++) {
		step(&p, input_byte(&p.in));
		world_look(&world);
	}
	world_close(&world);
	return 0;
}
