/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's receiving half: ACK, NAK, RNR NAK, READ responses, atomic results. It never sends
 * (requester.c does), and never decides how to react to a loss (the recovery strategy does).
 * Start with requester_on_packet().
 *
 * Everything is relative to `una`, the oldest unacknowledged PSN. A response at PSN p also
 * acknowledges all packets before p, except READs and atomics, which complete only with their own
 * response: a response to a later packet shows that theirs was lost (IBTA vol 1, 9.7.5.1.2,
 * "implied NAK").
 */
#include "keep.h"

/* All packets of the entry at `done` are acknowledged. */
static inline void
finish(struct plx_rc *qp)
{
	qp->req.acked = 0;
	qp->req.done++;
	requester_settle_local(qp);
}

/*
 * After any progress: reset the counters, move the timer on, and advance the cursor if it was
 * overtaken by late responses to a flight that is being retransmitted.
 */
static void
progressed(struct plx_rc *qp, uint64_t now, uint32_t packets)
{
	struct requester *req = &qp->req;

	if (!PLX_MUTANT(RETRY_NOT_RESET))
		req->retries_left = qp->retry_max;
	req->rnr_retries_left = qp->rnr_retry_max;
	req->rnr_waiting = false; /* the receiver has accepted what it was not ready for */
	if (plx_psn_before(req->next, req->una) || PLX_MUTANT(ACK_SENDS_AGAIN))
		requester_rewind(req);
	recover_progress(qp, now, packets);
	if (congestion_is_on(qp))
		congestion_on_ack(qp, now, packets);
}

bool
requester_take_until(struct plx_rc *qp, struct plx_psn until, uint64_t now)
{
	struct requester *req = &qp->req;
	uint32_t left = (uint32_t)plx_psn_diff(until, req->una), taken = 0;

	while (taken < left && !wr_is_rd_atomic(sq_wqe(qp, req->done)->op)) {
		uint32_t step = sq_track(qp, req->done)->packets - req->acked;

		if (step > left - taken) {
			step = left - taken;
			req->acked += step;
		} else {
			finish(qp);
		}
		taken += step;
	}
	if (taken > 0) {
		req->una = plx_psn_add(req->una, taken);
		progressed(qp, now, taken);
	}
	return taken == left;
}

/*
 * The peer has no receive. Its timer is awaited and the request is sent again, without end if the
 * limit is 7. The NAK proves that the peer is alive, so the retry count is reset: otherwise a long
 * wait on a link that loses one packet in a hundred would end in RETRY_EXCEEDED.
 */
static enum plx_verdict
on_rnr(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (req->rnr_waiting)
		return PLX_VERDICT_NAK_AGAIN;
	if (qp->rnr_retry_max != PLX_RNR_RETRY_FOREVER) {
		if (req->rnr_retries_left == 0) {
			requester_fail(qp, PLX_WC_RNR_RETRY_EXCEEDED, out);
			return PLX_VERDICT_NAK_RNR;
		}
		if (!PLX_MUTANT(RNR_NOT_COUNTED))
			req->rnr_retries_left--;
	}
	requester_rewind(req);
	req->since_ack_request = 0;
	qp->recovery->on_rnr(qp);
	req->retries_left = qp->retry_max;
	req->rnr_waiting = true;
	req->rnr_until =
		plx_time_add(now, plx_rnr_timer_ns(pkt->aeth.syndrome & PLX_AETH_VALUE_MASK));
	if (PLX_MUTANT(RNR_WAIT_FORGOTTEN))
		req->rnr_until = now;
	plx_count(&qp->counters.rnr_waits, 1);
	return PLX_VERDICT_NAK_RNR;
}

static enum plx_verdict
on_nak(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	static const struct {
		enum plx_verdict verdict;
		enum plx_wc_status status;
	} fatal[] = {
		[PLX_NAK_INVALID_REQUEST] = {PLX_VERDICT_NAK_INVALID,
					     PLX_WC_REMOTE_INVALID_REQUEST},
		[PLX_NAK_REMOTE_ACCESS] = {PLX_VERDICT_NAK_ACCESS, PLX_WC_REMOTE_ACCESS},
		[PLX_NAK_REMOTE_OPERATION] = {PLX_VERDICT_NAK_OPERATION, PLX_WC_REMOTE_OPERATION},
	};
	uint8_t code = pkt->aeth.syndrome & PLX_AETH_VALUE_MASK;

	if (code == PLX_NAK_SEQUENCE && selective_take_report(qp, pkt))
		return selective_on_loss(qp, now, PLX_LOSS_NAK, out);
	if (code == PLX_NAK_SEQUENCE)
		return qp->recovery->on_loss(qp, pkt->psn, now, PLX_LOSS_NAK, out);
	requester_fail(qp, fatal[code].status, out);
	return fatal[code].verdict;
}

/* An answer to what lies behind a response that is missing.
 * @param known what has arrived */
static enum plx_verdict
missing(struct plx_rc *qp, struct plx_psn psn, bool known, uint64_t now, struct plx_actions *out)
{
	if (known)
		return selective_on_loss(qp, now, PLX_LOSS_RESPONSE, out);
	return qp->recovery->on_loss(qp, psn, now, PLX_LOSS_RESPONSE, out);
}

static enum plx_verdict
missing_with_nak(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
		 struct plx_actions *out)
{
	bool known = selective_take_report(qp, pkt) || selective_take_ack(qp, pkt->psn);

	return missing(qp, pkt->psn, known, now, out);
}

static enum plx_verdict
on_ack(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	uint8_t type = pkt->aeth.syndrome & PLX_AETH_TYPE_MASK;
	uint8_t value = pkt->aeth.syndrome & PLX_AETH_VALUE_MASK;
	bool nak = type == PLX_AETH_NAK && value <= PLX_NAK_REMOTE_OPERATION;
	struct plx_psn until = pkt->psn;

	if (type != PLX_AETH_ACK && type != PLX_AETH_RNR && !nak)
		return PLX_VERDICT_SYNDROME;
	if (type == PLX_AETH_ACK)
		until = plx_psn_add(until, 1);
	if (PLX_MUTANT(ACK_ONE_TOO_MANY) && !plx_psn_eq(until, qp->req.high))
		until = plx_psn_add(until, 1);
	if (!requester_take_until(qp, until, now))
		return nak && value == PLX_NAK_SEQUENCE
			       ? missing_with_nak(qp, pkt, now, out)
			       : missing(qp, pkt->psn, selective_take_ack(qp, until), now, out);
	if (type == PLX_AETH_ACK)
		return PLX_VERDICT_ACKED;
	return nak ? on_nak(qp, pkt, now, out) : on_rnr(qp, pkt, now, out);
}

/* The entry to which a PSN in flight belongs. */
static const struct plx_wqe *
wqe_of(const struct plx_rc *qp, struct plx_psn psn)
{
	uint32_t index = qp->req.done;

	for (; index != qp->req.started; index++) {
		const struct sq_track *track = sq_track(qp, index);

		if (plx_psn_in(psn, track->first, track->packets))
			break;
	}
	PLX_ASSERT(index != qp->req.started);
	return sq_wqe(qp, index);
}

/*
 * Place a response's bytes into the local SGEs of the entry at `done`. Returns false if a key
 * denies access.
 */
static bool
place_answer(struct plx_rc *qp, uint32_t offset, const uint8_t *src, uint32_t bytes,
	     struct plx_actions *out)
{
	struct sge_source source = sge_of_send(qp, qp->req.done);
	struct plx_access common = {PLX_ACCESS_ALL};
	struct plx_iov ranges[PLX_PIECES_MAX];
	int count = ranges_count(sge_resolve(qp, &source, offset, bytes,
					     (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, ranges,
					     &common));

	if (count < 0)
		return false;
	sge_place(ranges, count, src, out);
	plx_count(&qp->counters.bytes_placed, bytes);
	return true;
}

/* Fail the entry at `done` because its response cannot be accepted. */
static enum plx_verdict
refuse_answer(struct plx_rc *qp, enum plx_verdict verdict, enum plx_wc_status status,
	      struct plx_actions *out)
{
	requester_fail(qp, status, out);
	return verdict;
}

/* All data of a READ is here, and granted: the key of its sink has served. */
static PLX_COLD void
invalidate_sink(struct plx_rc *qp)
{
	const struct plx_wqe *wqe = sq_wqe(qp, qp->req.done);

	if (wqe->op == PLX_WR_READ && wqe->sges > 0)
		(void)!plx_key_invalidate(qp->mem, wqe->sge[0].key, &qp->asker);
}

void
requester_take_answer(struct plx_rc *qp, bool ends, bool completes, uint64_t now)
{
	struct requester *req = &qp->req;

	req->rd_open -= ends;
	req->una = plx_psn_add(req->una, 1);
	req->acked++;
	if (completes)
		finish(qp);
	progressed(qp, now, 1);
}

static enum plx_verdict
on_read_response(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
		 struct plx_actions *out)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	const struct requester *req = &qp->req;
	const struct sq_track *track = sq_track(qp, qp->req.done);
	uint32_t offset = req->acked << qp->mtu_shift;
	uint32_t bytes = track->bytes - offset;
	bool completes = req->acked + 1 == track->packets;
	bool ends = completes || (req->acked + 1) % qp->read_chunk == 0;
	bool last = plx_opcode_has(op, PLX_OPF_LAST) || plx_opcode_has(op, PLX_OPF_ONLY);
	bool in_part = req->has_parts && plx_psn_before(req->una, req->parts_end);

	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (pkt->payload_bytes != bytes)
		return refuse_answer(qp, PLX_VERDICT_RESPONSE_BAD, PLX_WC_LOCAL_LENGTH, out);
	if (last != ends && !(last && in_part))
		return refuse_answer(qp, PLX_VERDICT_RESPONSE_BAD, PLX_WC_BAD_RESPONSE, out);
	if (!place_answer(qp, offset, pkt->payload, bytes, out))
		return refuse_answer(qp, PLX_VERDICT_RESPONSE_DENIED, PLX_WC_LOCAL_PROTECTION, out);
	if (completes && plx_unlikely(sq_wqe(qp, req->done)->flags & PLX_WR_READ_INV))
		invalidate_sink(qp);
	requester_take_answer(qp, ends, completes, now);
	return PLX_VERDICT_RESPONSE;
}

static enum plx_verdict
on_atomic_ack(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	qp->req.original = pkt->atomic_original;
	if (!place_answer(qp, 0, (const uint8_t *)&qp->req.original, sizeof(qp->req.original), out))
		return refuse_answer(qp, PLX_VERDICT_RESPONSE_DENIED, PLX_WC_LOCAL_PROTECTION, out);
	requester_take_answer(qp, true, true, now);
	return PLX_VERDICT_RESPONSE;
}

/* A PSN that is not in flight. */
static PLX_COLD enum plx_verdict
outside(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now)
{
	if (!plx_psn_before(pkt->psn, qp->req.una))
		return PLX_VERDICT_GHOST;
	if (plx_opcodes[pkt->opcode].kind == PLX_OP_READ_RESPONSE)
		qp->recovery->on_useless_response(qp, now);
	return PLX_VERDICT_STALE;
}

/* A response that follows a missing one. */
static PLX_COLD enum plx_verdict
behind_a_gap(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	bool known = selective_take_response(qp, pkt->psn);
	enum plx_verdict verdict = missing(qp, pkt->psn, known, now, out);

	if (verdict == PLX_VERDICT_NAK_AGAIN &&
	    plx_opcodes[pkt->opcode].kind == PLX_OP_READ_RESPONSE)
		qp->recovery->on_useless_response(qp, now);
	return verdict;
}

/**
 * Process a packet from the peer's responder: an acknowledgement or a response.
 *
 * A PSN outside [una, high) is ignored: it is stale or a ghost. A response of a kind other than the
 * request at its PSN expects is a ghost too, and acknowledges nothing.
 */
enum plx_verdict
requester_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
		    struct plx_actions *out)
{
	struct requester *req = &qp->req;
	uint32_t in_flight = (uint32_t)plx_psn_diff(req->high, req->una);
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	const struct plx_wqe *wqe;
	bool read = op->kind == PLX_OP_READ_RESPONSE;

	if (!plx_psn_in(pkt->psn, req->una, in_flight))
		return outside(qp, pkt, now);
	if (op->kind == PLX_OP_ACK)
		return on_ack(qp, pkt, now, out);
	if (plx_opcode_has(op, PLX_OPF_AETH) &&
	    (pkt->aeth.syndrome & PLX_AETH_TYPE_MASK) != PLX_AETH_ACK)
		return PLX_VERDICT_SYNDROME;
	wqe = wqe_of(qp, pkt->psn);
	if (!wr_is_rd_atomic(wqe->op) || (wqe->op == PLX_WR_READ) != read)
		return PLX_VERDICT_GHOST;
	if (!requester_take_until(qp, pkt->psn, now))
		return behind_a_gap(qp, pkt, now, out);
	return read ? on_read_response(qp, pkt, now, out) : on_atomic_ack(qp, pkt, now, out);
}
