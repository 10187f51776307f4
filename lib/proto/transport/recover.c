/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every way of recovering from losses needs: gaps, the round-trip time, the ack timer, the
 * retry count. It never decides what is sent again: a strategy does (struct plx_recovery_ops;
 * go_back.c). Start with recover_progress().
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

/* Set how long to wait for a response before sending a probe, from the round-trip time. */
void
recover_set_wait(struct plx_rc *qp)
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
	recover_set_wait(qp);
	if (congestion_is_on(qp))
		congestion_on_rtt(qp, now, took);
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
	    (!congestion_is_on(qp) ||
	     congestion_has_grant(req, now, sq_track(qp, req->cursor)->bytes)))
		recover_time(req, req->next, now);
}

/* ---- the ack timer ---- */

void
recover_disarm(struct plx_rc *qp)
{
	qp->req.ack_deadline = PLX_NEVER;
	qp->req.timed_at = PLX_NEVER;
	qp->slow_path &= (uint8_t)~SLOW_PATH_PROBE;
}

/* Spend a retry, and stop the timer; false: none was left, and the queue pair has failed. */
bool
recover_spend_retry(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	if (req->retries_left == 0) {
		requester_fail(qp, PLX_WC_RETRY_EXCEEDED, out);
		return false;
	}
	req->retries_left--;
	recover_disarm(qp);
	return true;
}

/* una has moved by `packets`. */
void
recover_progress(struct plx_rc *qp, uint64_t now, uint32_t packets)
{
	struct requester *req = &qp->req;

	if (plx_unlikely(qp->slow_path & SLOW_PATH_REPAIR))
		qp->recovery->on_progress(qp, packets);
	if (req->timed_at != PLX_NEVER && plx_psn_before(req->timed, req->una))
		measure(qp, now);
	req->ack_deadline =
		plx_psn_eq(req->next, req->una) ? PLX_NEVER : plx_time_add(now, req->ack_wait);
	time_next(qp, now);
}
