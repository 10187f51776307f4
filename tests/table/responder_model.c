/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The decision table for a responder of docs/protocol.md: scene and packet in, forecast out.
 * Written from the page, not from lib/proto/transport, and without calling it: keys are judged by
 * the class they were made for, ranges by the bench's numbers. Start with model(), which has the
 * checks of an expected request in their order.
 */
#include "responder.h"

/* ---- the kind of packet ---- */

struct shape {
	uint8_t kind; /* enum plx_op_kind */
	bool starts, ends, only, imm, inv;
	bool needs_recv;
};

static struct shape
shape_of(uint8_t opcode)
{
	struct shape s = {0};

	switch (opcode) {
	case PLX_RC_SEND_FIRST:
	case PLX_RC_SEND_MIDDLE:
	case PLX_RC_SEND_LAST:
	case PLX_RC_SEND_LAST_IMM:
	case PLX_RC_SEND_LAST_INV:
	case PLX_RC_SEND_ONLY:
	case PLX_RC_SEND_ONLY_IMM:
	case PLX_RC_SEND_ONLY_INV:
		s.kind = PLX_OP_SEND;
		break;
	case PLX_RC_WRITE_FIRST:
	case PLX_RC_WRITE_MIDDLE:
	case PLX_RC_WRITE_LAST:
	case PLX_RC_WRITE_LAST_IMM:
	case PLX_RC_WRITE_ONLY:
	case PLX_RC_WRITE_ONLY_IMM:
		s.kind = PLX_OP_WRITE;
		break;
	case PLX_RC_READ_REQUEST:
		s.kind = PLX_OP_READ_REQUEST;
		break;
	case PLX_RC_CMP_SWAP:
		s.kind = PLX_OP_CMP_SWAP;
		break;
	case PLX_RC_FETCH_ADD:
		s.kind = PLX_OP_FETCH_ADD;
		break;
	default:
		return s;
	}
	s.only = opcode == PLX_RC_SEND_ONLY || opcode == PLX_RC_SEND_ONLY_IMM ||
		 opcode == PLX_RC_SEND_ONLY_INV || opcode == PLX_RC_WRITE_ONLY ||
		 opcode == PLX_RC_WRITE_ONLY_IMM ||
		 (s.kind != PLX_OP_SEND && s.kind != PLX_OP_WRITE);
	s.starts = s.only || opcode == PLX_RC_SEND_FIRST || opcode == PLX_RC_WRITE_FIRST;
	s.ends = opcode != PLX_RC_SEND_FIRST && opcode != PLX_RC_SEND_MIDDLE &&
		 opcode != PLX_RC_WRITE_FIRST && opcode != PLX_RC_WRITE_MIDDLE;
	s.imm = opcode == PLX_RC_SEND_LAST_IMM || opcode == PLX_RC_SEND_ONLY_IMM ||
		opcode == PLX_RC_WRITE_LAST_IMM || opcode == PLX_RC_WRITE_ONLY_IMM;
	s.inv = opcode == PLX_RC_SEND_LAST_INV || opcode == PLX_RC_SEND_ONLY_INV;
	s.needs_recv = s.kind == PLX_OP_SEND ? s.starts : s.kind == PLX_OP_WRITE && s.imm;
	return s;
}

static bool
is_atomic(const struct shape *s)
{
	return s->kind == PLX_OP_CMP_SWAP || s->kind == PLX_OP_FETCH_ADD;
}

static bool
grants(const struct scene *scene, enum bench_key key)
{
	return key == BENCH_KEY_GRANTED || key == BENCH_KEY_HUGE || key == BENCH_KEY_WINDOW ||
	       (key == BENCH_KEY_FAST && !scene->revoked);
}

/* ---- the checks of an expected request, in order ---- */

static bool
in_sequence(const struct scene *scene, const struct shape *s)
{
	if (scene->open == OPEN_NONE)
		return s->starts;
	return !s->starts && (s->kind == PLX_OP_SEND) == (scene->open == OPEN_SEND);
}

/* FIRST and MIDDLE carry an MTU, LAST 1 to an MTU, ONLY 0 to an MTU; padded to four. A WRITE's
 * RETH has the total of its packets; at most 2^31 bytes are requested; a READ or an atomic
 * carries no payload. */
static bool
length_right(const struct scene *scene, const struct probe *probe, const struct shape *s)
{
	uint32_t bytes = probe->pkt.payload_bytes, asked = probe->pkt.reth.length;

	if (probe->payload == PAYLOAD_BAD_PAD)
		return false;
	if (is_atomic(s) || s->kind == PLX_OP_READ_REQUEST)
		return bytes == 0 && (is_atomic(s) || asked <= PLX_MESSAGE_MAX);
	if (!s->ends && bytes != BENCH_MTU)
		return false;
	if (bytes > BENCH_MTU || (s->ends && !s->only && bytes == 0))
		return false;
	if (s->kind == PLX_OP_SEND)
		return true;
	if (s->only)
		return asked == bytes;
	if (s->starts)
		return asked > bytes && asked <= PLX_MESSAGE_MAX;
	return s->ends ? scene->remaining == bytes : scene->remaining > bytes;
}

/* The right and the range, for every packet; the whole range of the RETH where there is one; a
 * request of zero bytes needs neither (C9-88). */
static bool
access_granted(const struct scene *scene, const struct probe *probe, const struct shape *s)
{
	uint32_t asked = probe->pkt.reth.length;

	if (s->kind == PLX_OP_SEND)
		return true;
	if (is_atomic(s))
		return grants(scene, probe->key);
	if (!s->starts)
		return grants(scene, BENCH_KEY_FAST); /* the open WRITE's */
	if (!asked)
		return true;
	return grants(scene, probe->key) && (probe->key == BENCH_KEY_HUGE || asked <= BENCH_ARENA);
}

static bool
recv_grants(const struct scene *scene, const struct probe *probe)
{
	return scene->recv != RECV_BAD_KEY || probe->pkt.payload_bytes == 0;
}

static enum plx_verdict
judge_expected(const struct scene *scene, const struct probe *probe, const struct shape *s)
{
	bool invalidable =
		probe->key == BENCH_KEY_WINDOW || (probe->key == BENCH_KEY_FAST && !scene->revoked);

	if (!in_sequence(scene, s))
		return PLX_VERDICT_SEQUENCE;
	if (!scene->enabled && s->kind != PLX_OP_SEND)
		return PLX_VERDICT_DISABLED;
	if (scene->gap == GAP_READS && (is_atomic(s) || s->kind == PLX_OP_READ_REQUEST))
		return PLX_VERDICT_TOO_MANY_READS;
	if (s->needs_recv && !scene->recvs)
		return PLX_VERDICT_RNR;
	if (!length_right(scene, probe, s))
		return PLX_VERDICT_LENGTH;
	if (is_atomic(s) && probe->pkt.atomic.va % 8)
		return PLX_VERDICT_MISALIGNED;
	if (!access_granted(scene, probe, s))
		return PLX_VERDICT_ACCESS;
	if (s->kind == PLX_OP_SEND && probe->pkt.payload_bytes > scene->recv_room)
		return PLX_VERDICT_RECV_LENGTH;
	if (s->kind == PLX_OP_SEND && !recv_grants(scene, probe))
		return PLX_VERDICT_RECV_ACCESS;
	if (s->inv && !invalidable)
		return PLX_VERDICT_INVALIDATE;
	return PLX_VERDICT_ACCEPT;
}

/* ---- what an accepted request does ---- */

static void
say(struct forecast *out, enum reply_kind reply, uint8_t syndrome, struct plx_psn psn)
{
	out->reply = reply;
	out->syndrome = syndrome;
	out->reply_psn = psn;
	out->reply_msn = out->msn;
}

static void
complete(const struct scene *scene, const struct probe *probe, const struct shape *s,
	 struct forecast *out)
{
	uint32_t earlier = scene->open == OPEN_SEND ? BENCH_MTU : 0;

	if (s->kind == PLX_OP_WRITE && s->starts)
		out->recv_bytes = probe->pkt.reth.length;
	else if (s->kind == PLX_OP_WRITE)
		out->recv_bytes = BENCH_MTU + scene->remaining;
	else
		out->recv_bytes = earlier + probe->pkt.payload_bytes;
	out->completes = true;
	out->status = PLX_WC_SUCCESS;
	out->recv_flags = PLX_WC_RECV;
	if (s->imm)
		out->recv_flags |= PLX_WC_IMM;
	if (s->inv)
		out->recv_flags |= PLX_WC_INV;
	if (probe->pkt.solicited)
		out->recv_flags |= PLX_WC_SOLICITED;
	if (s->kind == PLX_OP_WRITE)
		out->recv_op = PLX_WR_WRITE_IMM;
	else
		out->recv_op = s->imm ? PLX_WR_SEND_IMM : s->inv ? PLX_WR_SEND_INV : PLX_WR_SEND;
	out->recv_open = false;
}

static void
accept_send_or_write(const struct scene *scene, const struct probe *probe, const struct shape *s,
		     struct forecast *out)
{
	out->place_bytes = probe->pkt.payload_bytes;
	if (s->kind == PLX_OP_SEND) {
		out->to_recv = true;
		out->recv_offset = s->starts ? 0 : BENCH_MTU;
	} else {
		out->place_key = s->starts ? probe->key : BENCH_KEY_FAST;
		out->place_va = s->starts ? probe->pkt.reth.va : scene->write_va;
	}
	if (s->needs_recv) {
		out->recvs--;
		out->recv_open = true;
	}
	out->expected = plx_psn_add(probe->pkt.psn, 1);
	if (s->ends) {
		out->msn = plx_msn_next(out->msn);
		if (s->kind == PLX_OP_SEND || s->imm)
			complete(scene, probe, s, out);
	}
	if (s->ends || probe->pkt.ack_request)
		say(out, REPLY_ACK, PLX_AETH_ACK | PLX_AETH_NO_CREDITS, probe->pkt.psn);
}

static void
read_reply(const struct probe *probe, struct forecast *out)
{
	say(out, REPLY_READ, PLX_AETH_ACK | PLX_AETH_NO_CREDITS, probe->pkt.psn);
	out->read_key = probe->key;
	out->read_va = probe->pkt.reth.va;
	out->read_bytes = probe->pkt.reth.length;
}

static void
apply_expected(const struct scene *scene, const struct probe *probe, const struct shape *s,
	       struct forecast *out)
{
	uint32_t asked = probe->pkt.reth.length;

	if (s->kind == PLX_OP_SEND || s->kind == PLX_OP_WRITE) {
		accept_send_or_write(scene, probe, s, out);
		return;
	}
	out->msn = plx_msn_next(out->msn);
	out->expected = plx_psn_add(probe->pkt.psn, 1);
	if (is_atomic(s)) {
		out->atomic = true;
		out->place_key = probe->key;
		out->place_va = probe->pkt.atomic.va;
		say(out, REPLY_ATOMIC, PLX_AETH_ACK | PLX_AETH_NO_CREDITS, probe->pkt.psn);
		return;
	}
	if (asked)
		out->expected = plx_psn_add(probe->pkt.psn, (asked + BENCH_MTU - 1) / BENCH_MTU);
	read_reply(probe, out);
}

/* ---- the effect of a refusal ---- */

static void
refuse(const struct scene *scene, const struct probe *probe, const struct shape *s,
       struct forecast *out)
{
	uint8_t nak = PLX_NAK_INVALID_REQUEST;
	bool takes_recv = false;

	if (out->verdict == PLX_VERDICT_RNR) {
		say(out, REPLY_ACK, PLX_AETH_RNR | BENCH_RNR_TIMER, probe->pkt.psn);
		return;
	}
	out->error = true;
	out->any_error = true;
	if (out->verdict == PLX_VERDICT_ACCESS)
		nak = PLX_NAK_REMOTE_ACCESS;
	if (out->verdict == PLX_VERDICT_RECV_LENGTH) {
		takes_recv = true;
		out->any_error = false;
		out->status = PLX_WC_LOCAL_LENGTH;
	}
	if (out->verdict == PLX_VERDICT_RECV_ACCESS) {
		nak = PLX_NAK_REMOTE_OPERATION;
		takes_recv = true;
		out->any_error = false;
		out->status = PLX_WC_LOCAL_PROTECTION;
	}
	if (out->verdict == PLX_VERDICT_INVALIDATE) {
		takes_recv = true;
		out->any_error = false;
		out->status = PLX_WC_REMOTE_INVALID_REQUEST;
	}
	if (scene->open == OPEN_SEND || takes_recv)
		out->completes = true;
	if (takes_recv && s->starts)
		out->recvs--;
	out->recv_open = false;
	if (out->verdict != PLX_VERDICT_INVALIDATE) /* class J: no reply */
		say(out, REPLY_ACK, PLX_AETH_NAK | nak, probe->pkt.psn);
}

/* ---- duplicates ---- */

static void
duplicate(const struct scene *scene, const struct probe *probe, const struct shape *s,
	  struct forecast *out)
{
	const struct plx_pkt *pkt = &probe->pkt;

	out->verdict = PLX_VERDICT_DUPLICATE_FORGOTTEN;
	if (s->kind == PLX_OP_SEND || s->kind == PLX_OP_WRITE) {
		/* C9-105: never with the PSN of a READ response; nor with an atomic's */
		out->verdict = PLX_VERDICT_DUPLICATE;
		if (scene->gap == GAP_READS)
			return; /* the READ responses that are owed acknowledge it */
		say(out, REPLY_ACK, PLX_AETH_ACK | PLX_AETH_NO_CREDITS, scene->newest_ackable);
		return;
	}
	if (pkt->payload_bytes)
		return; /* malformed, so not the one that was */
	for (uint32_t i = 0; i < scene->pasts; i++) {
		const struct past *past = &scene->past[i];
		uint64_t skip;

		if (!past->remembered || past->kind != s->kind || probe->key != BENCH_KEY_FAST ||
		    !plx_psn_in(pkt->psn, past->psn, past->psns))
			continue;
		skip = (uint64_t)plx_psn_diff(pkt->psn, past->psn) * BENCH_MTU;
		if (is_atomic(s)) {
			if (pkt->atomic.va != past->va || probe->twist == TWIST_OPERAND)
				continue;
			out->verdict = PLX_VERDICT_REPLAY;
			say(out, REPLY_ATOMIC, PLX_AETH_ACK | PLX_AETH_NO_CREDITS, pkt->psn);
			continue;
		}
		/* the READ that was, or a part of it; a READ of nothing is no part of one */
		if (pkt->reth.va != past->va + skip || pkt->reth.length > past->length - skip ||
		    !pkt->reth.length != !past->length)
			continue;
		out->verdict = PLX_VERDICT_REPLAY;
		if (scene->revoked && pkt->reth.length)
			out->verdict = PLX_VERDICT_DUPLICATE_DENIED;
		else
			read_reply(probe, out);
	}
}

void
model(const struct scene *scene, const struct probe *probe, struct forecast *out)
{
	struct shape s = shape_of(probe->opcode);
	int32_t ahead = plx_psn_diff(probe->pkt.psn, scene->expected);

	*out = (struct forecast){.expected = scene->expected,
				 .msn = scene->msn,
				 .recv_open = scene->open == OPEN_SEND,
				 .recvs = scene->recvs};
	if (ahead < 0) {
		duplicate(scene, probe, &s, out);
		return;
	}
	if (ahead > 0) {
		/* The flights of the scenes began with the next PSN: with it they restart, and
		 * with a PSN far behind their newest. */
		bool anew = (scene->gap == GAP_NAK && ahead == 1) ||
			    (scene->gap == GAP_NAK_FAR && ahead <= 1000);

		out->verdict = PLX_VERDICT_AHEAD_AGAIN;
		if ((scene->gap == GAP_NAK || scene->gap == GAP_NAK_FAR ||
		     scene->gap == GAP_NAK_SPENT) &&
		    !anew)
			return;
		out->verdict = PLX_VERDICT_AHEAD;
		say(out, REPLY_ACK, PLX_AETH_NAK | PLX_NAK_SEQUENCE, scene->expected);
		return;
	}
	out->verdict = judge_expected(scene, probe, &s);
	if (out->verdict == PLX_VERDICT_ACCEPT)
		apply_expected(scene, probe, &s, out);
	else
		refuse(scene, probe, &s, out);
}
