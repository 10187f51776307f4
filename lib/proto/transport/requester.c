/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's sending half: segmentation, window, fences, READ limit, local operations, and
 * retransmission. Acknowledgements are processed in acknowledge.c.
 * Start with requester_transmit_one(); struct requester in qp.h describes the queue.
 *
 * Timers are fields of struct requester, checked by plx_rc_on_tick():
 *   ack_deadline  Armed by sending if it is not armed; moved on by each acknowledgement that makes
 *                 progress; off while nothing is unacknowledged. On expiry: a probe, or one retry
 *                 and going back (go_back.c).
 *   rnr_until     Set by an RNR NAK; nothing is sent before it. On expiry: send again from there.
 * A third, pace_until, is when the congestion strategy permits the next packet.
 */
#include "keep.h"

/* Position of a packet in its message. */
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
		.go_back.flight_at = PLX_NEVER,
		.timed_at = PLX_NEVER,
		.rtt_least = PLX_NEVER,
	};
	qp->slow_path &= (uint8_t) ~(SLOW_PATH_PROBE | SLOW_PATH_NARROW | SLOW_PATH_REPAIR);
}

void
requester_fail(struct plx_rc *qp, enum plx_wc_status status, struct plx_actions *out)
{
	qp->req.failed = (uint8_t)status;
	qp->req.failed_at = qp->req.done;
	complete_to_error(qp, status, out);
}

/* Number of packets from the cursor to the READ's next chunk boundary, which one request can cover.
 */
uint32_t
requester_read_packets(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	uint32_t chunk = qp->read_chunk - req->cursor_packet % qp->read_chunk;
	uint32_t packets = sq_track(qp, req->cursor)->packets - req->cursor_packet;

	return packets < chunk ? packets : chunk;
}

static bool
register_region(struct plx_rc *qp, const struct plx_wqe_region *region)
{
	const struct plx_promise promise = promise_of(region);
	struct plx_region_attr attr = {
		.va = region->va,
		.host = (uint8_t *)(uintptr_t)region->host,
		.length = region->length,
		.access = region->access,
	};

	/* The host has not been asked for these; and where memory is it alone says, in a list. */
	if (qp->foreign)
		attr.access.bits &= (uint8_t) ~(PLX_ACCESS_BIND | PLX_ACCESS_STABLE);
	if (qp->foreign && region->list == 0)
		return false;
	return plx_region_fulfil(qp->mem, qp->asker.domain, &promise, &attr) == PLX_OK;
}

/*
 * Process the local operation at the cursor, which has not been started. Returns false if the
 * requester must wait. A LOCAL_INV waits until all earlier requests are acknowledged: one of them
 * may have to be retransmitted with the same key, and after its completion no access is possible. A
 * BIND blocks nothing: the window was bound when the request was posted. Nor does a REG: nobody
 * uses its key before it is valid.
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
	} else if (wqe->op == PLX_WR_REG && !register_region(qp, &wqe->region)) {
		/* The failure is its own: earlier requests have their results first. */
		if (req->done == req->cursor)
			requester_fail(qp, PLX_WC_LOCAL_INVALIDATE, out);
		return false;
	}
	req->cursor++;
	req->started++;
	requester_settle_local(qp);
	return true;
}

/*
 * Move the cursor to an entry that has a packet to send. Returns false if no entry can start or
 * continue.
 */
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
			req->cursor++; /* a BIND or REG, passed again after going back */
		else if (!pass_local(qp, out))
			return false;
	}
	return false;
}

static __attribute__((noinline)) bool
strategies_allow(struct plx_rc *qp, uint64_t now, uint32_t bytes)
{
	if (qp->slow_path & SLOW_PATH_NARROW && qp->recovery->read_waits(qp)) {
		plx_count(&qp->counters.window_stalls, 1);
		return false;
	}
	return !congestion_is_on(qp) || congestion_allows(qp, now, bytes);
}

/* Do the window, the READ limit and pacing permit a packet of the entry at the cursor now? */
static bool
limits_allow(struct plx_rc *qp, uint64_t now, uint32_t bytes)
{
	struct requester *req = &qp->req;

	if (plx_psn_diff(req->next, req->una) >= (int32_t)req->window) {
		plx_count(&qp->counters.window_stalls, 1);
		return false;
	}
	if (wr_is_rd_atomic(sq_wqe(qp, req->cursor)->op) && plx_psn_eq(req->next, req->high) &&
	    req->rd_open >= qp->initiator_depth) {
		plx_count(&qp->counters.read_stalls, 1);
		return false;
	}
	return plx_likely(!(qp->slow_path & (SLOW_PATH_PACED | SLOW_PATH_NARROW))) ||
	       strategies_allow(qp, now, bytes);
}

/*
 * Append the message's bytes [offset, offset + bytes) to the list. Returns false if a key denies
 * access, or if they are private and not loaded.
 */
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

		/* A single SGE covers the whole message, so the range is inside it. */
		ranges = key_resolve(qp, sge->key, sge->va + offset, bytes, (struct plx_access){0},
				     &out->iov[out->iovs], common);
	} else {
		source = sge_of_send(qp, qp->req.cursor);
		ranges = sge_resolve(qp, &source, offset, bytes, (struct plx_access){0},
				     &out->iov[out->iovs], common);
	}
	if (ranges < 0 || (ranges & RANGES_PRIVATE && !shadow_has_request(&qp->req, offset, bytes)))
		return false;
	*count = (uint32_t)ranges_count(ranges);
	return true;
}

/* The rest of sent(): what the strategies have to know. */
static __attribute__((noinline)) void
notify_strategies(struct plx_rc *qp, struct plx_emit *emit, uint32_t packets, uint64_t now,
		  bool again)
{
	if (again) {
		emit->flags |= PLX_EMIT_RETRANSMIT;
		emit->flags &= (uint8_t)~PLX_EMIT_STABLE;
		plx_count(&qp->counters.requests_resent, 1);
		qp->recovery->on_resent(qp, emit->pkt.psn, packets, now);
	}
	if (!congestion_is_on(qp))
		return;
	if (!again && qp->req.timed_at == PLX_NEVER && emit->pkt.ack_request)
		recover_time(&qp->req, emit->pkt.psn, now);
	congestion_charge(qp, now, emit->pkt.payload_bytes);
}

/* Record a packet of `packets` PSNs as sent, and advance the cursor past it. */
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
	if (!again) {
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
		if (req->timed_at == PLX_NEVER && !again) /* the last packet requests an ACK */
			recover_time(req, emit->pkt.psn, now);
	}
	recover_arm(req, emit->pkt.psn, now, again);
	plx_count(&qp->counters.bytes_sent, emit->pkt.payload_bytes);
	if (plx_unlikely(again) || congestion_is_on(qp))
		notify_strategies(qp, emit, packets, now, again);
}

/* Send a packet of a SEND or WRITE. Returns false if its payload cannot be sent: not_sent(). */
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
	emit->pkt.ack_request = requester_wants_ack(qp, last);
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

/* The payload at the cursor cannot be sent: a local key denies access to it, or it is private and
 * not loaded. Then it is loaded, unless that has failed. */
static PLX_COLD void
not_sent(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	struct sge_source source = sge_of_send(qp, req->cursor);
	uint32_t offset = req->cursor_packet << qp->mtu_shift;
	uint32_t bytes = sq_track(qp, req->cursor)->bytes - offset;
	struct plx_access common = {PLX_ACCESS_ALL};

	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (sge_resolve(qp, &source, offset, bytes, (struct plx_access){0}, &out->iov[out->iovs],
			&common) >= 0 &&
	    !shadow_is_denied(req)) {
		shadow_load_request(qp, offset, out);
	} else if (req->cursor == req->done) {
		requester_fail(qp, PLX_WC_LOCAL_PROTECTION, out);
	}
}

/*
 * Send a READ request for the missing data from the cursor to the next chunk boundary. Boundaries
 * are counted from the start of the message, so that a retransmitted request stays within one that
 * the responder remembers.
 */
static void
send_read(struct plx_rc *qp, uint64_t now, uint32_t offset, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	const struct sq_track *track = sq_track(qp, req->cursor);
	uint32_t packets = requester_read_packets(qp);
	uint32_t bytes = track->bytes - offset;
	struct plx_emit *emit = emit_add(qp, out, PLX_RC_READ_REQUEST, req->next);

	if (!plx_psn_eq(req->next, req->high)) {
		packets = qp->recovery->read_again(qp, packets);
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

void
requester_to_high(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	const struct sq_track *last;
	uint32_t sent;

	req->cursor = req->started;
	req->cursor_packet = 0;
	req->next = req->high;
	if (req->done == req->started)
		return;
	last = sq_track(qp, req->started - 1);
	sent = (uint32_t)plx_psn_diff(req->high, last->first);
	if (last->packets == 0 || sent >= last->packets)
		return;
	req->cursor--;
	req->cursor_packet = sent;
}

/*
 * Move the cursor to the newest packet in flight. Returns false if that packet should not be sent
 * again, because it is also the oldest, or is a READ with several responses.
 */
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

/* Send the packet at the cursor, or of the next entry that has one. */
static bool
transmit_at_cursor(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe;
	uint32_t offset, bytes;

	if (plx_unlikely(qp->loads) || !find_entry(qp, out))
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
		not_sent(qp, out);
		return false;
	}
	return true;
}

/*
 * Send a probe: the oldest packet in flight, then the newest. The cursor keeps its position,
 * because the packets in between are not known to be lost.
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
		req->window = (uint32_t)plx_psn_diff(next, req->una); /* packets in flight */
		req->since_ack_request = qp->ack_interval;            /* request an ACK */
		sent = transmit_at_cursor(qp, now, out);
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
 * Send the next request packet, if permitted. @returns whether a packet was sent
 *
 * A request whose local key denies access to its payload completes in error, but in order: while
 * earlier requests are unacknowledged the requester waits, and checks again when they have
 * completed.
 */
bool
requester_transmit_one(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	if ((qp->state != PLX_QP_RTS && qp->state != PLX_QP_SQD) || qp->req.rnr_waiting)
		return false;
	if (plx_unlikely(qp->slow_path & SLOW_PATH_PROBE) && send_probe(qp, now, out))
		return true;
	if (plx_unlikely(qp->slow_path & SLOW_PATH_REPAIR) && selective_is_on(qp) &&
	    !selective_seek(qp) && !plx_psn_eq(qp->req.una, qp->req.high))
		recover_arm(&qp->req, qp->req.una, now, true);
	return transmit_at_cursor(qp, now, out);
}
