/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's recovery: when an answer is missed, what is sent again, what that costs, and how
 * long an answer takes. It never sends (requester.c does) and never takes an answer (acknowledge.c
 * does). Start with recover_on_loss(), narrow() and recover_on_deadline().
 *
 * A loss is learned of in one of four ways:
 *
 *   who tells                         what follows           costs     how often
 *   NAK or missing answer             go back to una         a retry   once, until una moves
 *   the same of what was sent again   go back to una         -         PLX_RESTARTS_MAX
 *   nobody, for the time that         probe: the oldest and  -         waits double, until the
 *   answers take                      the newest packet                timeout is over
 *   nobody, for the ack timeout       go back to una         a retry   as agreed
 *
 * So retry count and ack timeout say how long a dead peer is waited for, and nothing else does:
 * what is free of charge never moves the end of the timeout; answers that still come do, even those
 * that bring nothing. How much is sent again is bounded by a window that losses make narrower.
 */
#include "qp.h"

/* ---- gaps ------------------------------------------------------------------------------------ */

/*
 * Is `psn` of a flight that began after the one seen so far? Its sender has then gone back, and
 * lost the first packet again. Told by order: a packet at or before the one that the flight began
 * with, or so far behind the newest that being late does not explain it. A duplicate of the first
 * looks the same, which costs one NAK; PLX_RESTARTS_MAX bounds that.
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

/* Another packet is missing now. When it is lost again, the one behind it tells. */
void
gap_move(struct gap *gap, struct plx_psn missing)
{
	if (!plx_psn_before(missing, gap->first))
		gap->first = plx_psn_add(missing, 1);
	gap->restarts = 0;
}

/* ---- how long an answer takes ---------------------------------------------------------------- */

/* How long to wait for an answer before asking for it. */
static void
set_wait(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	if (req->rtt_least == PLX_NEVER)
		return; /* nothing is known: as long as was agreed */
	req->ack_wait = req->rtt + 4 * req->rtt_spread;
	if (req->ack_wait < PLX_PROBE_WAIT_MIN_NS)
		req->ack_wait = PLX_PROBE_WAIT_MIN_NS;
	req->ack_wait = plx_time_min(req->ack_wait, qp->ack_timeout);
}

/*
 * The packet that was timed is acknowledged. Smoothed as TCP does it (RFC 6298); a packet that was
 * sent twice is never timed, for nobody knows which of the two was answered.
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
 * Time the next packet, when it is one that leaves the fast path and nothing holds it: from there
 * it cannot be timed without every packet paying for it. It asks for its ACK, so that what is
 * measured is the way there and back, and not how long a message is.
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
	    qp->state == PLX_QP_RTS && !(qp->slow_path & SLOW_PATH_ALWAYS))
		recover_time(req, req->next, now);
}

/* ---- the ack timer --------------------------------------------------------------------------- */

void
recover_disarm(struct plx_rc *qp)
{
	qp->req.ack_deadline = PLX_NEVER;
	qp->req.timed_at = PLX_NEVER;
	qp->req.probed = false;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
}

/*
 * An answer to a READ that brings nothing: it lies behind a missing one, or was had before. The
 * peer is still answering what it was asked for, and what is asked for again would wait behind
 * that. So nothing is asked before the stream of answers has paused, each answer that was asked for
 * again counting once: a quarter of the wait is a pause, for a stream has no way to go and come.
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

/* ---- the window after a loss ----------------------------------------------------------------- */

/*
 * Everything behind a loss is sent again, so a window should not be much larger than what comes
 * through between two losses: it loses a third with each time that the requester goes back, and
 * gains a packet with each that is acknowledged, until it is what was agreed. So it settles at a
 * few times that distance.
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

/* Who had no receive for one message has none for those behind it: one packet asks. */
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
 * A READ of `packets` answers is asked for again, from the cursor on. In a small window it is
 * asked for in pieces, when something of it has come before: then the responder knows the whole of
 * it, and a piece is a duplicate. @returns how many to ask for
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

/* una has moved: nothing is missed so far, and what is lost from now on is another loss. */
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

/* ---- going back ------------------------------------------------------------------------------ */

/* From una on everything is sent again. */
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
	qp->cc->on_loss(qp->cc_state, now, cause);
	qp->more = true;
}

/* ... for a retry, with an ack timeout of its own. */
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
 * Can an answer at `psn` have been caused by what is sent again? Not before the way there and back
 * is over; half of the quickest ever seen is a cautious measure of that. A NAK is said once a
 * flight by its sender; of answers that come in a row it must be seen that the row began anew.
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
 * A NAK, or an answer at `psn` behind one that is missing; una is the PSN that it asks for.
 * Packets of the same flight that arrive later say the same again, and a forged NAK must not cause
 * more than one flight (T5), so it is answered once: until una moves, the timer fires, or what it
 * asked for was evidently lost again.
 */
enum plx_verdict
recover_on_loss(struct plx_rc *qp, struct plx_psn psn, uint64_t now, enum plx_loss cause,
		struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (plx_psn_eq(req->next, req->una))
		return PLX_VERDICT_NAK_AGAIN;
	if (!req->went_back) {
		set_wait(qp); /* there are losses: questions were asked for a reason */
		retry(qp, now, cause, out);
		req->went_back = true;
		/* After a NAK no answer can be there but to what is sent from now on. */
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
 * No answer for as long as the timer was set. While the ack timeout is not over that is a question:
 * the oldest packet tells a peer that lacks it, and makes one that has it say how far it is; the
 * newest, behind it, shows a peer that lacks something in between its gap. It is asked ever more
 * seldom; how long an answer takes is not known any more until one has been timed.
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
