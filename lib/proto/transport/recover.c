/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's loss recovery: timeouts, retransmission, retries and the round-trip time. It
 * never sends (requester.c does) and never processes responses (acknowledge.c does). Start with
 * recover_on_loss(), narrow() and recover_on_deadline().
 *
 * A loss is detected in one of four ways:
 *
 *   signal                            reaction               costs     how often
 *   NAK or missing response           go back to una         a retry   once, until una moves
 *   the same, for a retransmission    go back to una         -         PLX_RESTARTS_MAX
 *   no response in the estimated      probe: the oldest and  -         the wait doubles, until
 *   round-trip time                   the newest packet                the ack timeout
 *   no response in the ack timeout    go back to una         a retry   as agreed
 *
 * So retry count and ack timeout alone determine how long to wait for a dead peer. Reactions that
 * cost no retry never extend the timeout; responses that still arrive do, even without progress
 * (see recover_on_useless_answer()). A window, which losses narrow, bounds how much is
 * retransmitted.
 */
#include "qp.h"

/* ---- gaps ---- */

/*
 * Does `psn` belong to a new flight? Then its sender has gone back, and the first packet was lost
 * again. The order shows it: the packet is at or before the first of the current flight, or too far
 * before the newest to be merely late. A duplicate of the first packet looks the same and costs one
 * NAK; PLX_RESTARTS_MAX bounds that.
 */
bool
gap_begins_anew(const struct gap *gap, struct plx_psn psn)
{
	if (gap->restarts >= PLX_RESTARTS_MAX && !PLX_MUTANT(RESTARTS_UNBOUNDED))
		return false;
	return !plx_psn_before(gap->first, psn) ||
	       plx_psn_diff(gap->newest, psn) > PLX_REORDER_DEPTH;
}

void
gap_note(struct gap *gap, struct plx_psn psn)
{
	if (plx_psn_before(gap->newest, psn))
		gap->newest = psn;
}

/* Another packet is missing now. If it is lost again, the next packet reveals that. */
void
gap_move(struct gap *gap, struct plx_psn missing)
{
	if (!plx_psn_before(missing, gap->first))
		gap->first = plx_psn_add(missing, 1);
	gap->restarts = 0;
}

/* ---- the round-trip time ---- */

/* How long to wait for a response before sending a probe. */
static void
set_wait(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	if (req->rtt_least == PLX_NEVER)
		return; /* not measured yet: the ack timeout */
	req->ack_wait = req->rtt + 4 * req->rtt_spread;
	if (req->ack_wait < PLX_PROBE_WAIT_MIN_NS)
		req->ack_wait = PLX_PROBE_WAIT_MIN_NS;
	req->ack_wait = plx_time_min(req->ack_wait, qp->ack_timeout);
}

/*
 * The timed packet is acknowledged. The estimate is smoothed as in TCP (RFC 6298). A retransmitted
 * packet is never timed, because the response may belong to either transmission.
 */
static void
measure(struct plx_rc *qp, uint64_t now)
{
	struct requester *req = &qp->req;
	uint64_t took = now - req->timed_at;
	uint64_t apart = took > req->rtt ? took - req->rtt : req->rtt - took;

	req->timed_at = PLX_NEVER;
	if (req->rtt_least == PLX_NEVER) {
		req->rtt_least = req->rtt = took;
		req->rtt_spread = took / 2;
	} else {
		req->rtt_spread = (3 * req->rtt_spread + apart) / 4;
		req->rtt = (7 * req->rtt + took) / 8;
		req->rtt_least = plx_time_min(req->rtt_least, took);
	}
	set_wait(qp);
}

/*
 * Time the next packet if it takes the slow path and can leave at once; timing on the fast path
 * would cost every packet. The packet has AckReq set, so that the round trip is measured and not
 * the length of a message.
 */
static void
time_next(struct plx_rc *qp, uint64_t now)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);

	if (req->timed_at != PLX_NEVER || req->cursor != req->started || req->cursor == req->tail ||
	    sq_track(qp, req->cursor)->packets != 1)
		return;
	if ((wqe->op == PLX_WR_SEND || wqe->op == PLX_WR_WRITE) && !(wqe->flags & PLX_WR_FENCE) &&
	    qp->state == PLX_QP_RTS && !(qp->slow_path & SLOW_PATH_PROBE) &&
	    (!congestion_is_on(qp) || congestion_has_grant(req, sq_track(qp, req->cursor)->bytes)))
		recover_time(req, req->next, now);
}

/* ---- the ack timer ---- */

void
recover_disarm(struct plx_rc *qp)
{
	qp->req.ack_deadline = PLX_NEVER;
	qp->req.timed_at = PLX_NEVER;
	qp->req.probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
}

/*
 * A READ response without progress: it follows a missing one, or is a duplicate. The peer is still
 * sending earlier responses, and a repeated request would wait for those. So no request is sent
 * until the stream of responses pauses; each response that was requested again counts once. A
 * quarter of the wait is a pause, because no round trip lies between two responses of a stream.
 */
void
recover_on_useless_answer(struct plx_rc *qp, uint64_t now)
{
	struct requester *req = &qp->req;
	uint64_t until = plx_time_add(now, req->ack_wait / 4);

	if (req->ack_deadline == PLX_NEVER || (req->in_vain == 0 && !PLX_MUTANT(STALE_BUYS_TIME)))
		return;
	req->in_vain -= req->in_vain > 0;
	req->probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	if (req->ack_deadline < until)
		req->ack_deadline = until;
}

/* ---- the window after a loss ---- */

/*
 * Everything after a loss is retransmitted, so the window should not be much larger than the number
 * of packets between two losses. It shrinks by a third each time the requester goes back, and grows
 * by one packet with each acknowledged packet, up to the agreed size. So it settles at a few times
 * that number.
 */
static void
narrow(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	uint32_t less = req->window - req->window / 3;

	if (PLX_MUTANT(WINDOW_STAYS_WIDE))
		return;
	if (req->window > PLX_WINDOW_LEAST)
		req->window = less > PLX_WINDOW_LEAST ? less : PLX_WINDOW_LEAST;
	qp->slow_path |= SLOW_PATH_NARROW;
}

PLX_COLD void
recover_widen(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;

	req->window += packets;
	if (req->cut != req->done + 1)
		req->cut = 0;
	if (req->window < qp->window_packets)
		return;
	req->window = qp->window_packets;
	if (req->cut == 0)
		qp->slow_path &= (uint8_t)~SLOW_PATH_NARROW;
}

/* A peer without a receive for one message has none for later ones either: one packet suffices. */
void
recover_on_rnr(struct plx_rc *qp)
{
	recover_disarm(qp);
	if (PLX_MUTANT(RNR_SENDS_ALL))
		return;
	qp->req.window = 1;
	qp->slow_path |= SLOW_PATH_NARROW;
}

/**
 * Request a READ of `packets` responses again, from the cursor on. In a small window it is split if
 * some of its responses have arrived: then the responder knows the whole READ, and treats a part of
 * it as a duplicate. @returns how many responses to request
 */
uint32_t
recover_ask_again(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;

	if (recover_cuts(qp) && packets > req->window &&
	    (req->cursor_packet % qp->read_chunk > 0 || PLX_MUTANT(UNKNOWN_READ_IN_PIECES))) {
		packets = req->window;
		req->cut = req->cursor + 1;
	}
	req->in_vain += packets;
	if (req->in_vain > PLX_READ_CHUNK_PACKETS_MAX)
		req->in_vain = PLX_READ_CHUNK_PACKETS_MAX;
	return packets;
}

/* una has moved: the loss is repaired, and the next one is a new loss. */
void
recover_progress(struct plx_rc *qp, uint64_t now)
{
	struct requester *req = &qp->req;

	if (req->timed_at != PLX_NEVER && plx_psn_before(req->timed, req->una))
		measure(qp, now);
	req->went_back = false;
	req->probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	req->ack_deadline =
		plx_psn_eq(req->next, req->una) ? PLX_NEVER : plx_time_add(now, req->ack_wait);
	time_next(qp, now);
}

/* ---- going back ---- */

/* Retransmit everything from una on. */
static void
go_back(struct plx_rc *qp, uint64_t now, enum plx_loss cause)
{
	struct requester *req = &qp->req;

	requester_rewind(req);
	if (PLX_MUTANT(GO_BACK_TOO_FAR)) {
		req->next = plx_psn_sub(req->next, req->cursor_packet);
		req->cursor_packet = 0;
	} else if (PLX_MUTANT(GO_BACK_SKIPS_ONE) &&
		   req->cursor_packet + 1 < sq_track(qp, req->cursor)->packets) {
		req->next = plx_psn_add(req->next, 1);
		req->cursor_packet++;
	}
	narrow(qp);
	req->since_ack_request = 0;
	req->flight_at = PLX_NEVER;
	req->timed_at = PLX_NEVER;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	plx_count(&qp->counters.go_backs, 1);
	if (congestion_is_on(qp))
		congestion_on_loss(qp, now, cause);
	qp->more = true;
}

/* The same at the cost of a retry, with a new ack timeout. */
static void
retry(struct plx_rc *qp, uint64_t now, enum plx_loss cause, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (req->retries_left == 0) {
		requester_fail(qp, PLX_WC_RETRY_EXCEEDED, out);
		return;
	}
	req->retries_left--;
	recover_disarm(qp);
	go_back(qp, now, cause);
}

/*
 * Can a response at `psn` be to a retransmission? Only after a round trip; half of the shortest one
 * seen is a safe bound. A responder sends one NAK per flight. A stream of responses must be seen to
 * have started again.
 */
static bool
lost_again(const struct requester *req, struct plx_psn psn, uint64_t now, enum plx_loss cause)
{
	if (req->flight_at == PLX_NEVER || req->rtt_least == PLX_NEVER ||
	    (req->gap.restarts >= PLX_RESTARTS_MAX && !PLX_MUTANT(RESTARTS_UNBOUNDED)))
		return false;
	return now - req->flight_at >= req->rtt_least / 2 &&
	       (cause == PLX_LOSS_NAK || gap_begins_anew(&req->gap, psn));
}

/**
 * Process a NAK, or a response at `psn` that follows a missing one; una is the missing PSN. Later
 * packets of the same flight report the same loss, and a forged NAK must not cause more than one
 * flight. So the requester reacts once, until una moves, the timer expires, or the retransmission
 * is evidently lost too.
 */
enum plx_verdict
recover_on_loss(struct plx_rc *qp, struct plx_psn psn, uint64_t now, enum plx_loss cause,
		struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (plx_psn_eq(req->next, req->una))
		return PLX_VERDICT_NAK_AGAIN;
	if (!req->went_back) {
		set_wait(qp); /* there are losses, so the probes were justified */
		retry(qp, now, cause, out);
		req->went_back = true;
		/* After a NAK, only retransmissions can cause responses. */
		gap_begin(&req->gap, cause == PLX_LOSS_NAK ? req->high : psn, false);
		return cause == PLX_LOSS_NAK ? PLX_VERDICT_NAK_SEQUENCE : PLX_VERDICT_RESPONSE_LOST;
	}
	if (!lost_again(req, psn, now, cause)) {
		gap_note(&req->gap, psn);
		return PLX_VERDICT_NAK_AGAIN;
	}
	gap_begin(&req->gap, psn, true);
	if (PLX_MUTANT(AGAIN_BUYS_TIME))
		recover_disarm(qp);
	go_back(qp, now, cause);
	return PLX_VERDICT_LOST_AGAIN;
}

/*
 * The timer expired without a response. Before the ack timeout this sends a probe. The oldest
 * packet repairs its own loss, or makes the peer acknowledge what it has; the newest packet, sent
 * after it, reveals a gap in between. The wait doubles with each probe, and the round-trip time is
 * unknown until another packet is timed.
 */
void
recover_on_deadline(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (!req->probed || PLX_MUTANT(PROBE_BUYS_TIME))
		req->retry_at = plx_time_add(req->ack_deadline - req->ack_wait, qp->ack_timeout);
	if (now >= req->retry_at) {
		plx_count(&qp->counters.timeouts, 1);
		retry(qp, now, PLX_LOSS_TIMEOUT, out);
		req->went_back = false;
		return;
	}
	req->probed = true;
	if (PLX_MUTANT(WAIT_DOUBLES_ON))
		req->retry_at = PLX_NEVER;
	req->ack_wait = plx_time_min(plx_time_add(req->ack_wait, req->ack_wait),
				     PLX_MUTANT(WAIT_DOUBLES_ON) ? PLX_NEVER : qp->ack_timeout);
	req->ack_deadline = plx_time_min(plx_time_add(now, req->ack_wait), req->retry_at);
	req->timed_at = PLX_NEVER;
	if (plx_psn_eq(req->next, req->una))
		return; /* it went back, and is held from sending */
	if (PLX_MUTANT(PROBE_COSTS_A_RETRY) && req->retries_left > 0)
		req->retries_left--;
	plx_count(&qp->counters.probes, 1);
	qp->slow_path |= SLOW_PATH_PROBE;
	qp->more = true;
}
