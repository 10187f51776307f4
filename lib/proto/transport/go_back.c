/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recovery strategy that goes back: everything after a loss is sent again. It never sends
 * (requester.c does) and never processes responses (acknowledge.c does). Start with on_loss(),
 * go_back_narrow() and on_deadline().
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
 * (see on_useless_response()). A window, which losses narrow, bounds how much is
 * retransmitted.
 */
#include "keep.h"

/* ---- the window after a loss ---- */

/* Is the window so small that READs are requested again in pieces that fit it? */
static inline bool
cuts(const struct plx_rc *qp)
{
	return 2 * qp->req.window < qp->window_packets;
}

/*
 * Everything after a loss is retransmitted, so the window should not be much larger than the number
 * of packets between two losses. It shrinks by a third each time the requester goes back, and grows
 * by one packet with each acknowledged packet, up to the agreed size. So it settles at a few times
 * that number.
 */
void
go_back_narrow(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	uint32_t less = req->window - req->window / 3;

	if (PLX_MUTANT(WINDOW_STAYS_WIDE))
		return;
	if (req->window > PLX_WINDOW_LEAST)
		req->window = less > PLX_WINDOW_LEAST ? less : PLX_WINDOW_LEAST;
	qp->slow_path |= SLOW_PATH_NARROW;
}

static void
widen(struct plx_rc *qp, uint32_t packets)
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
static void
on_rnr(struct plx_rc *qp)
{
	recover_disarm(qp);
	selective_end(qp);
	qp->req.go_back.probed = false;
	qp->req.go_back.went_back = false; /* packets sent after the wait are a new flight */
	if (PLX_MUTANT(RNR_SENDS_ALL))
		return;
	qp->req.window = 1;
	qp->slow_path |= SLOW_PATH_NARROW | SLOW_PATH_REPAIR;
}

/*
 * Request a READ of `packets` responses again, from the cursor on. In a small window it is split if
 * some of its responses have arrived: then the responder knows the whole READ, and treats a part of
 * it as a duplicate.
 * Returns: how many responses to request
 */
static uint32_t
read_again(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;

	uint32_t all = packets;
	struct plx_psn end;

	if (selective_is_on(qp)) {
		packets = selective_read_packets(qp, packets);
	} else if (cuts(qp) && packets > req->window &&
		   (req->cursor_packet % qp->read_chunk > 0 ||
		    PLX_MUTANT(UNKNOWN_READ_IN_PIECES))) {
		packets = req->window;
		req->cut = req->cursor + 1;
	}
	end = plx_psn_add(req->next, packets);
	if (packets < all && (!req->has_parts || plx_psn_before(req->parts_end, end))) {
		req->has_parts = true;
		req->parts_end = end;
	}
	req->go_back.in_vain += packets;
	if (req->go_back.in_vain > PLX_READ_CHUNK_PACKETS_MAX)
		req->go_back.in_vain = PLX_READ_CHUNK_PACKETS_MAX;
	return packets;
}

/*
 * Must a retransmitted READ wait? While the window is reduced, the READ at una is requested again
 * in pieces, one at a time: Linux rxe forgets everything before the newest piece, so a piece must
 * not be sent while an earlier one may be lost. A later READ is requested again once it fits as a
 * whole.
 */
static bool
read_waits(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	uint32_t before = (uint32_t)plx_psn_diff(req->next, req->una);

	if (sq_wqe(qp, req->cursor)->op != PLX_WR_READ || before == 0 ||
	    plx_psn_eq(req->next, req->high))
		return false;
	return req->cut == req->cursor + 1 ||
	       (cuts(qp) && requester_read_packets(qp) > req->window - before);
}

/* ---- READ responses that bring nothing ---- */

/*
 * A READ response without progress: it follows a missing one, or is a duplicate. The peer is still
 * sending earlier responses, and a repeated request would wait for those. So no request is sent
 * until the stream of responses pauses; each response that was requested again counts once. A
 * quarter of the wait is a pause, because no round trip lies between two responses of a stream.
 */
static void
on_useless_response(struct plx_rc *qp, uint64_t now)
{
	struct requester *req = &qp->req;
	uint64_t until = plx_time_add(now, req->ack_wait / 4);

	if (req->ack_deadline == PLX_NEVER ||
	    (req->go_back.in_vain == 0 && !PLX_MUTANT(STALE_BUYS_TIME)))
		return;
	req->go_back.in_vain -= req->go_back.in_vain > 0;
	req->go_back.probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	if (req->ack_deadline < until)
		req->ack_deadline = until;
}

/* ---- going back ---- */

/* Retransmit everything from una on. */
static void
go_back(struct plx_rc *qp, uint64_t now, enum plx_loss cause)
{
	struct requester *req = &qp->req;

	selective_end(qp);
	requester_rewind(req);
	if (PLX_MUTANT(GO_BACK_TOO_FAR)) {
		req->next = plx_psn_sub(req->next, req->cursor_packet);
		req->cursor_packet = 0;
	} else if (PLX_MUTANT(GO_BACK_SKIPS_ONE) &&
		   req->cursor_packet + 1 < sq_track(qp, req->cursor)->packets) {
		req->next = plx_psn_add(req->next, 1);
		req->cursor_packet++;
	}
	go_back_narrow(qp);
	qp->slow_path |= SLOW_PATH_REPAIR;
	req->since_ack_request = 0;
	req->go_back.flight_at = PLX_NEVER;
	req->flight_end = req->high;
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
	if (!recover_spend_retry(qp, out))
		return;
	qp->req.go_back.probed = false;
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
	if (req->go_back.flight_at == PLX_NEVER || req->rtt_least == PLX_NEVER ||
	    (req->go_back.gap.restarts >= PLX_RESTARTS_MAX && !PLX_MUTANT(RESTARTS_UNBOUNDED)))
		return false;
	return now - req->go_back.flight_at >= req->rtt_least / 2 &&
	       (cause == PLX_LOSS_NAK || gap_begins_anew(&req->go_back.gap, psn));
}

/*
 * Responses that were kept let una jump to the next missing one, which was requested again with all
 * others. Is that so short a time ago that it cannot have come yet?
 */
static bool
is_on_its_way(const struct plx_rc *qp, uint64_t now)
{
	const struct requester *req = &qp->req;
	const struct go_back *go_back = &req->go_back;

	return keep_has_responses(qp) && go_back->flight_at != PLX_NEVER &&
	       plx_psn_before(req->una, req->flight_end) && req->rtt_least != PLX_NEVER &&
	       now - go_back->flight_at < req->rtt;
}

/*
 * Process a NAK, or a response at `psn` that follows a missing one; una is the missing PSN. Later
 * packets of the same flight report the same loss, and a forged NAK must not cause more than one
 * flight. So the requester reacts once, until una moves, the timer expires, or the retransmission
 * is evidently lost too.
 */
static enum plx_verdict
on_loss(struct plx_rc *qp, struct plx_psn psn, uint64_t now, enum plx_loss cause,
	struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (plx_psn_eq(req->next, req->una) ||
	    (cause == PLX_LOSS_RESPONSE && is_on_its_way(qp, now)))
		return PLX_VERDICT_NAK_AGAIN;
	if (!req->go_back.went_back) {
		recover_set_wait(qp); /* there are losses, so the probes were justified */
		retry(qp, now, cause, out);
		req->go_back.went_back = true;
		/* After a NAK, only retransmissions can cause responses. */
		gap_begin(&req->go_back.gap, cause == PLX_LOSS_NAK ? req->high : psn, false);
		return cause == PLX_LOSS_NAK ? PLX_VERDICT_NAK_SEQUENCE : PLX_VERDICT_RESPONSE_LOST;
	}
	if (!lost_again(req, psn, now, cause)) {
		gap_note(&req->go_back.gap, psn);
		return PLX_VERDICT_NAK_AGAIN;
	}
	gap_begin(&req->go_back.gap, psn, true);
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
static void
on_deadline(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (!req->go_back.probed || PLX_MUTANT(PROBE_BUYS_TIME))
		req->go_back.retry_at =
			plx_time_add(req->ack_deadline - req->ack_wait, qp->ack_timeout);
	if (now >= req->go_back.retry_at) {
		plx_count(&qp->counters.timeouts, 1);
		retry(qp, now, PLX_LOSS_TIMEOUT, out);
		req->go_back.went_back = false;
		return;
	}
	req->go_back.probed = true;
	if (PLX_MUTANT(WAIT_DOUBLES_ON))
		req->go_back.retry_at = PLX_NEVER;
	req->ack_wait = plx_time_min(plx_time_add(req->ack_wait, req->ack_wait),
				     PLX_MUTANT(WAIT_DOUBLES_ON) ? PLX_NEVER : qp->ack_timeout);
	req->ack_deadline = plx_time_min(plx_time_add(now, req->ack_wait), req->go_back.retry_at);
	req->timed_at = PLX_NEVER;
	if (selective_is_on(qp))
		requester_to_high(qp);
	else if (plx_psn_eq(req->next, req->una))
		return; /* it went back, and is held from sending */
	if (PLX_MUTANT(PROBE_COSTS_A_RETRY) && req->retries_left > 0)
		req->retries_left--;
	plx_count(&qp->counters.probes, 1);
	qp->slow_path |= SLOW_PATH_PROBE | SLOW_PATH_REPAIR;
	qp->more = true;
}

/* ---- progress ---- */

static void
on_resent(struct plx_rc *qp, struct plx_psn psn, uint32_t packets, uint64_t now)
{
	if (qp->req.go_back.flight_at == PLX_NEVER)
		qp->req.go_back.flight_at = now;
	selective_on_resent(qp, psn, packets, now);
}

/* The loss is repaired, and the next one is a new loss. */
static PLX_COLD void
on_progress(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;

	if (qp->slow_path & SLOW_PATH_NARROW)
		widen(qp, packets);
	req->go_back.went_back = false;
	req->go_back.probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
	selective_on_progress(qp, packets);
	if (req->has_parts && !plx_psn_before(req->una, req->parts_end))
		req->has_parts = false;
	if (!(qp->slow_path & SLOW_PATH_NARROW) && !keep_has_responses(qp) &&
	    !selective_is_on(qp) && !req->has_parts)
		qp->slow_path &= (uint8_t)~SLOW_PATH_REPAIR;
}

const struct plx_recovery_ops plx_recovery_go_back = {
	.name = "go back",
	.on_resent = on_resent,
	.on_progress = on_progress,
	.on_loss = on_loss,
	.on_rnr = on_rnr,
	.on_useless_response = on_useless_response,
	.on_deadline = on_deadline,
	.read_waits = read_waits,
	.read_again = read_again,
};
