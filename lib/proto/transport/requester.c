/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's sending half: segmentation, window, fences, READ limit, local operations, and
 * going back. It never takes an acknowledgement (acknowledge.c does).
 * Start with requester_transmit_one(); struct requester in qp.h draws the queue.
 *
 * Timers, both fields of struct requester, looked at by plx_rc_on_tick():
 *   ack_deadline  armed by sending when not armed; moved on by every acknowledgement that makes
 *                 progress; off while nothing sent is unacknowledged. Fires: one retry, go back.
 *   rnr_until     set by an RNR NAK; nothing is sent before it. Fires: send again from there.
 * A third, pace_until, is the congestion strategy's word about the next packet.
 */
#include "qp.h"

/* Where a packet stands in its message. */
enum place {
	PLACE_FIRST,
	PLACE_MIDDLE,
	PLACE_LAST,
	PLACE_ONLY,
	PLACE_COUNT,
};

static const uint8_t wire_opcodes[PLX_WR_OP_COUNT][PLACE_COUNT] = {
	[PLX_WR_SEND] = {PLX_RC_SEND_FIRST, PLX_RC_SEND_MIDDLE, PLX_RC_SEND_LAST, PLX_RC_SEND_ONLY},
	[PLX_WR_SEND_IMM] = {PLX_RC_SEND_FIRST, PLX_RC_SEND_MIDDLE, PLX_RC_SEND_LAST_IMM,
			     PLX_RC_SEND_ONLY_IMM},
	[PLX_WR_SEND_INV] = {PLX_RC_SEND_FIRST, PLX_RC_SEND_MIDDLE, PLX_RC_SEND_LAST_INV,
			     PLX_RC_SEND_ONLY_INV},
	[PLX_WR_WRITE] = {PLX_RC_WRITE_FIRST, PLX_RC_WRITE_MIDDLE, PLX_RC_WRITE_LAST,
			  PLX_RC_WRITE_ONLY},
	[PLX_WR_WRITE_IMM] = {PLX_RC_WRITE_FIRST, PLX_RC_WRITE_MIDDLE, PLX_RC_WRITE_LAST_IMM,
			      PLX_RC_WRITE_ONLY_IMM},
};

void
requester_reset(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	uint64_t deadline = req->ack_deadline;

	*req = (struct requester){
		.ack_deadline = PLX_MUTANT(TIMER_NOT_DISARMED) ? deadline : PLX_NEVER,
		.pace_until = PLX_NEVER,
		.flight_at = PLX_NEVER,
		.timed_at = PLX_NEVER,
		.rtt_least = PLX_NEVER,
	};
	qp->slow_path &= (uint8_t) ~(SLOW_PATH_PROBE | SLOW_PATH_NARROW);
}

void
requester_fail(struct plx_rc *qp, enum plx_wc_status status, struct plx_actions *out)
{
	qp->req.failed = (uint8_t)status;
	qp->req.failed_at = qp->req.done;
	complete_to_error(qp, status, out);
}

/* Local operations take no PSN; they are done when everything before them is. */
void
requester_settle_local(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	while (req->done != req->started && sq_track(qp, req->done)->packets == 0) {
		if (req->cursor == req->done)
			req->cursor++;
		req->done++;
	}
}

/*
 * Local operations at the cursor, which has not begun them. Returns false when the requester must
 * wait. A LOCAL_INV waits until everything before it is acknowledged: an earlier request may have
 * to be sent again through the very key, and after its completion no access is possible.
 * A BIND holds nothing up: the window was bound when it was posted.
 */
static bool
pass_local(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);

	if (wqe->op == PLX_WR_LOCAL_INV) {
		if (req->done != req->cursor)
			return false;
		if (plx_key_invalidate(qp->mem, wqe->inv_key, &qp->asker) != PLX_KEY_GRANTED) {
			requester_fail(qp, PLX_WC_LOCAL_INVALIDATE, out);
			return false;
		}
	}
	req->cursor++;
	req->started++;
	requester_settle_local(qp);
	return true;
}

/* Bring the cursor to an entry that sends a packet; false when there is none to begin or go on. */
static bool
find_entry(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	while (req->cursor != req->tail) {
		const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);

		if (req->cursor == req->started) {
			if (qp->state == PLX_QP_SQD)
				return false;
			if (wqe->flags & PLX_WR_FENCE && req->rd_open > 0) {
				plx_count(&qp->counters.fence_stalls, 1);
				return false;
			}
		}
		if (!wr_is_local(wqe->op))
			return true;
		if (req->cursor != req->started)
			req->cursor++; /* going over a BIND once more */
		else if (!pass_local(qp, out))
			return false;
	}
	return false;
}

/* Packets of a READ from the cursor on to the next chunk boundary, which one request can ask for.
 */
static uint32_t
read_packets(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	uint32_t chunk = qp->read_chunk - req->cursor_packet % qp->read_chunk;
	uint32_t packets = sq_track(qp, req->cursor)->packets - req->cursor_packet;

	return packets < chunk ? packets : chunk;
}

/*
 * In a window that has become small the READ at una is asked for again in pieces, one after the
 * other: Linux rxe forgets what lies before the newest piece, so none may leave while one before it
 * may be lost. A READ behind it is asked for again when it fits whole.
 */
static PLX_COLD bool
read_waits(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	uint32_t before = (uint32_t)plx_psn_diff(req->next, req->una);

	if (sq_wqe(qp, req->cursor)->op != PLX_WR_READ || before == 0 ||
	    plx_psn_eq(req->next, req->high))
		return false;
	return req->cut == req->cursor + 1 ||
	       (recover_cuts(qp) && read_packets(qp) > req->window - before);
}

/* May a packet of the entry at the cursor leave now, as far as limits are concerned? */
static bool
limits_allow(struct plx_rc *qp, uint64_t now, uint32_t bytes)
{
	struct requester *req = &qp->req;
	uint64_t from;

	if (plx_psn_diff(req->next, req->una) >= (int32_t)req->window) {
		plx_count(&qp->counters.window_stalls, 1);
		return false;
	}
	if (wr_is_rd_atomic(sq_wqe(qp, req->cursor)->op) && plx_psn_eq(req->next, req->high) &&
	    req->rd_open >= qp->initiator_depth) {
		plx_count(&qp->counters.read_stalls, 1);
		return false;
	}
	if (plx_likely(!(qp->slow_path & (SLOW_PATH_PACED | SLOW_PATH_NARROW))))
		return true;
	if (qp->slow_path & SLOW_PATH_NARROW && read_waits(qp)) {
		plx_count(&qp->counters.window_stalls, 1);
		return false;
	}
	if (!(qp->slow_path & SLOW_PATH_PACED))
		return true;
	from = qp->cc->ask(qp->cc_state, now, bytes);
	req->pace_until = from > now ? from : PLX_NEVER;
	if (from > now)
		plx_count(&qp->counters.pace_stalls, 1);
	return from <= now;
}

/* Put a message's bytes [offset, offset + bytes) into the list; false when a key denies them. */
static bool
gather(struct plx_rc *qp, uint32_t offset, uint32_t bytes, struct plx_actions *out,
       struct plx_access *common, uint32_t *count)
{
	const struct plx_wqe *wqe = sq_wqe(qp, qp->req.cursor);
	struct sge_source source;
	int ranges;

	*count = 0;
	if (bytes == 0)
		return true;
	if (wqe->flags & PLX_WR_INLINE) {
		const uint8_t *data = wqe->data;

		if (wqe->inline_bytes > PLX_WQE_INLINE_BYTES)
			data = sq_spill(qp, qp->req.cursor);
		out->iov[out->iovs] = (struct plx_iov){.base = data + offset, .bytes = bytes};
		common->bits = 0;
		*count = 1;
		return true;
	}
	if (plx_likely(wqe->sges == 1)) {
		const struct plx_sge *sge = wqe->sge;
		struct plx_grant grant;

		/* One SGE is the whole message, so the range is inside it. */
		if (plx_key_check(qp->mem, sge->key, &qp->asker, sge->va + offset, bytes,
				  (struct plx_access){0}, &grant) != PLX_KEY_GRANTED)
			return false;
		common->bits &= grant.access.bits;
		out->iov[out->iovs] = (struct plx_iov){.base = grant.host, .bytes = bytes};
		*count = 1;
		return true;
	}
	source = sge_of_send(qp, qp->req.cursor);
	ranges = sge_resolve(qp, &source, offset, bytes, (struct plx_access){0},
			     &out->iov[out->iovs], common);
	if (ranges < 0)
		return false;
	*count = (uint32_t)ranges;
	return true;
}

static bool
wants_ack(const struct plx_rc *qp, bool last)
{
	const struct requester *req = &qp->req;

	return last || req->since_ack_request + 1 >= qp->ack_interval ||
	       plx_psn_diff(req->next, req->una) + 1 >= (int32_t)req->window;
}

/* Book a packet that takes `packets` PSNs, and move the cursor behind it. */
static void
sent(struct plx_rc *qp, struct plx_emit *emit, uint32_t packets, uint64_t now)
{
	struct requester *req = &qp->req;
	struct sq_track *track = sq_track(qp, req->cursor);
	bool again = !plx_psn_eq(req->next, req->high);

	if (req->cursor == req->started) {
		track->first = req->next;
		req->started++;
	}
	req->next = plx_psn_add(req->next, packets);
	if (again) {
		if (req->flight_at == PLX_NEVER)
			req->flight_at = now;
		emit->flags |= PLX_EMIT_RETRANSMIT;
		emit->flags &= (uint8_t)~PLX_EMIT_STABLE;
		plx_count(&qp->counters.requests_resent, 1);
	} else {
		req->high = req->next;
		if (wr_is_rd_atomic(sq_wqe(qp, req->cursor)->op))
			req->rd_open++;
		plx_count(&qp->counters.requests_sent, 1);
	}
	req->since_ack_request = emit->pkt.ack_request ? 0 : req->since_ack_request + 1;
	req->cursor_packet += packets;
	if (req->cursor_packet == track->packets) {
		req->cursor++;
		req->cursor_packet = 0;
		if (req->timed_at == PLX_NEVER && !again) /* the last packet asks for its ACK */
			recover_time(req, emit->pkt.psn, now);
	}
	recover_arm(req, emit->pkt.psn, now, again);
	plx_count(&qp->counters.bytes_sent, emit->pkt.payload_bytes);
	if (plx_unlikely(qp->slow_path & SLOW_PATH_PACED))
		qp->cc->on_sent(qp->cc_state, now, emit->pkt.payload_bytes);
}

/* A packet of a SEND or WRITE. Returns false when a local key denies its payload. */
static bool
send_data(struct plx_rc *qp, uint64_t now, uint32_t offset, uint32_t bytes, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	bool first = req->cursor_packet == 0;
	bool last = req->cursor_packet + 1 == sq_track(qp, req->cursor)->packets;
	enum place place =
		first ? (last ? PLACE_ONLY : PLACE_FIRST) : (last ? PLACE_LAST : PLACE_MIDDLE);
	struct plx_access common = {PLX_ACCESS_ALL};
	const struct plx_opcode *op;
	struct plx_emit *emit;
	uint32_t count;

	if (!gather(qp, offset, bytes, out, &common, &count))
		return false;
	emit = emit_add(qp, out, wire_opcodes[wqe->op][place], req->next);
	op = &plx_opcodes[emit->pkt.opcode];
	emit->iovs = (uint8_t)count;
	out->iovs += count;
	emit_payload(emit, bytes);
	emit->pkt.ack_request = wants_ack(qp, last);
	if (plx_opcode_has(op, PLX_OPF_RETH))
		emit->pkt.reth = (struct plx_reth){
			.va = wqe->remote_va,
			.rkey = wqe->rkey.v,
			.length = sq_track(qp, req->cursor)->bytes,
		};
	if (plx_opcode_has(op, PLX_OPF_IMM))
		emit->pkt.imm = wqe->imm;
	if (plx_opcode_has(op, PLX_OPF_IETH))
		emit->pkt.inv_key = wqe->inv_key.v;
	emit->pkt.solicited = last && wqe->op != PLX_WR_WRITE && wqe->flags & PLX_WR_SOLICITED;
	if (bytes > 0 && common.bits & PLX_ACCESS_STABLE)
		emit->flags |= PLX_EMIT_STABLE;
	sent(qp, emit, 1, now);
	return true;
}

/*
 * A READ request for what is missing from the cursor on, up to the next chunk boundary: counted
 * from the message's start, so that a request sent again stays inside one that the responder
 * remembers.
 */
static void
send_read(struct plx_rc *qp, uint64_t now, uint32_t offset, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	const struct sq_track *track = sq_track(qp, req->cursor);
	uint32_t packets = read_packets(qp);
	uint32_t bytes = track->bytes - offset;
	struct plx_emit *emit = emit_add(qp, out, PLX_RC_READ_REQUEST, req->next);

	if (!plx_psn_eq(req->next, req->high)) {
		packets = recover_ask_again(qp, packets);
		if (PLX_MUTANT(READ_AGAIN_FROM_START))
			offset = 0;
	}
	if (packets < track->packets - req->cursor_packet)
		bytes = packets << qp->mtu_shift;
	emit->pkt.ack_request = true;
	emit->pkt.reth = (struct plx_reth){
		.va = wqe->remote_va + offset,
		.rkey = wqe->rkey.v,
		.length = bytes,
	};
	sent(qp, emit, packets, now);
}

static void
send_atomic(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	const struct plx_wqe *wqe = sq_wqe(qp, qp->req.cursor);
	bool swap = wqe->op == PLX_WR_CMP_SWAP;
	struct plx_emit *emit =
		emit_add(qp, out, swap ? PLX_RC_CMP_SWAP : PLX_RC_FETCH_ADD, qp->req.next);

	emit->pkt.ack_request = true;
	emit->pkt.atomic = (struct plx_atomic_eth){
		.va = wqe->remote_va,
		.rkey = wqe->rkey.v,
		.swap_add = wqe->swap_add,
		.compare = swap ? wqe->compare : 0,
	};
	sent(qp, emit, 1, now);
}

/* Bring the cursor to the newest packet in flight; false when it is not worth being sent again: it
 * is the oldest too, or a READ of many answers. */
static bool
find_newest(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	while (req->cursor_packet == 0) {
		req->cursor--;
		req->cursor_packet = sq_track(qp, req->cursor)->packets;
	}
	req->cursor_packet--;
	req->next = plx_psn_sub(req->next, 1);
	return !plx_psn_eq(req->next, req->una) && (!wr_is_rd_atomic(sq_wqe(qp, req->cursor)->op) ||
						    sq_track(qp, req->cursor)->packets == 1);
}

/*
 * A probe: the oldest packet in flight is sent again, then the newest, and the cursor stays where
 * it was, for what is in between is not known to be lost.
 */
static PLX_COLD bool
send_probe(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const uint8_t left = qp->slow_path & SLOW_PATH_OLDEST ? SLOW_PATH_NEWEST : 0;
	const uint32_t cursor = req->cursor, packet = req->cursor_packet;
	const uint32_t since = req->since_ack_request, window = req->window;
	const struct plx_psn next = req->next;
	bool sent = false, due = !plx_psn_eq(next, req->una);

	if (left != 0)
		requester_rewind(req);
	else
		due = due && find_newest(qp);
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	if (due) {
		req->window = (uint32_t)plx_psn_diff(next, req->una); /* what is in flight */
		req->since_ack_request = qp->ack_interval;            /* asks for its ACK */
		sent = requester_transmit_one(qp, now, out);
	}
	qp->slow_path |= left;
	req->window = window;
	if (PLX_MUTANT(PROBE_MOVES_CURSOR) && sent)
		return true;
	req->cursor = cursor;
	req->cursor_packet = packet;
	req->since_ack_request = since;
	req->next = next;
	return sent || (left != 0 && send_probe(qp, now, out));
}

/**
 * Send the next request packet, if one may leave. @returns whether one did
 *
 * A request whose local key denies its payload ends in error, but in its turn: while earlier ones
 * are unacknowledged the requester waits, and looks again when they are done.
 */
bool
requester_transmit_one(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe;
	uint32_t offset, bytes;

	if ((qp->state != PLX_QP_RTS && qp->state != PLX_QP_SQD) || req->rnr_waiting)
		return false;
	if (plx_unlikely(qp->slow_path & SLOW_PATH_PROBE) && send_probe(qp, now, out))
		return true;
	if (!find_entry(qp, out))
		return false;
	wqe = sq_wqe(qp, req->cursor);
	offset = req->cursor_packet << qp->mtu_shift;
	bytes = wr_is_rd_atomic(wqe->op) ? 0 : sq_track(qp, req->cursor)->bytes - offset;
	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (!limits_allow(qp, now, bytes))
		return false;
	if (wqe->op == PLX_WR_READ) {
		send_read(qp, now, offset, out);
	} else if (wr_is_rd_atomic(wqe->op)) {
		send_atomic(qp, now, out);
	} else if (!send_data(qp, now, offset, bytes, out)) {
		if (req->cursor == req->done)
			requester_fail(qp, PLX_WC_LOCAL_PROTECTION, out);
		return false;
	}
	return true;
}
