/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completions, in queue order, successes before flushed requests, one for each posted entry; and
 * the transition to ERROR. It never decides whether something has failed.
 * Start with complete_deliver_slow().
 *
 * One ACK can complete hundreds of requests, and one failure can flush thousands, but an action
 * list has a fixed size. What does not fit stays in the queue, and the next call continues there.
 */
#include "keep.h"

bool
complete_is_flushed(const struct plx_rc *qp)
{
	return qp->state == PLX_QP_ERROR && qp->req.head == qp->req.tail && !qp->resp.recv_open &&
	       (qp->rq->shared || plx_rq_count(qp->rq) == 0);
}

static void
send_completion(struct plx_rc *qp, enum plx_wc_status status, struct plx_actions *out)
{
	action_add(out, PLX_ACT_COMPLETE)->completion =
		complete_entry(qp, qp->req.head, (uint8_t)status);
}

/** Complete the open receive. @param completion wr_id, qpn and PLX_WC_RECV are filled in here */
void
complete_recv(struct plx_rc *qp, struct plx_completion *completion, struct plx_actions *out)
{
	completion->wr_id = qp->recv.wr_id;
	completion->qpn = qp->qpn;
	completion->flags |= PLX_WC_RECV;
	action_add(out, PLX_ACT_COMPLETE)->completion = *completion;
	qp->resp.recv_open = false;
	if (!qp->rq->shared)
		qp->rq->done++;
}

static void
deliver_done(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	while (req->head != req->done) {
		if (!(sq_wqe(qp, req->head)->flags & PLX_WR_UNSIGNALED)) {
			if (actions_room(out) == 0)
				return;
			send_completion(qp, PLX_WC_SUCCESS, out);
		}
		req->head++;
	}
}

PLX_COLD void
plx_rc_discard(struct plx_rc *qp, const struct plx_wqe *wqe)
{
	/* The owner may have unbound it already by destroying it. */
	if (wqe->op == PLX_WR_BIND && wqe->inv_key.v != 0)
		(void)!plx_key_invalidate(qp->mem, wqe->inv_key, &qp->asker);
	if (wqe->op == PLX_WR_REG &&
	    plx_region_is_of(qp->mem, (struct plx_region){wqe->region.slot}, qp->asker.domain)) {
		const struct plx_promise promise = promise_of(&wqe->region);

		plx_region_void(qp->mem, &promise);
	}
}

/* Flush an entry that was never started. A datagram releases its address handle. */
PLX_COLD void
complete_undo(struct plx_rc *qp, uint32_t index)
{
	const struct plx_wqe *wqe = sq_wqe(qp, index);

	plx_rc_discard(qp, wqe);
	if (qp->ahs)
		qp->ahs[wqe->ah].posted--;
}

static void
flush_send(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	while (req->head != req->tail && actions_room(out) > 0) {
		bool failed = req->failed != PLX_WC_SUCCESS && req->head == req->failed_at;

		complete_undo(qp, req->head);
		send_completion(qp, failed ? (enum plx_wc_status)req->failed : PLX_WC_FLUSHED, out);
		req->head++;
		req->done = req->cursor = req->started = req->head;
	}
}

static void
flush_recv(struct plx_rc *qp, struct plx_actions *out)
{
	struct responder *resp = &qp->resp;

	if (PLX_MUTANT(RECV_NOT_RETURNED) && resp->recv_open) {
		resp->recv_open = false;
		return;
	}
	if (resp->recv_open && actions_room(out) > 0) {
		struct plx_completion completion = {.status = resp->recv_status};

		complete_recv(qp, &completion, out);
		resp->recv_status = PLX_WC_FLUSHED;
	}
	while (!resp->recv_open && !qp->rq->shared && plx_rq_count(qp->rq) > 0 &&
	       actions_room(out) > 0) {
		struct plx_completion completion = {.status = PLX_WC_FLUSHED};

		rq_peek(qp->rq, &qp->recv);
		rq_pop(qp->rq);
		complete_recv(qp, &completion, out);
	}
}

/**
 * Deliver completions while `out` has room: successes first, in queue order; in ERROR then the
 * failed entry, then the remaining ones as FLUSHED, then the receives. Sets `more` if any remain.
 */
void
complete_deliver_slow(struct plx_rc *qp, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	deliver_done(qp, out);
	if (req->head != req->done) {
		qp->more = true;
		return;
	}
	if (qp->state == PLX_QP_SQD && !req->drained && req->done == req->started) {
		if (actions_room(out) == 0) {
			qp->more = true;
			return;
		}
		req->drained = true;
		action_event(qp, out, PLX_EVENT_SQ_DRAINED, 0);
	}
	if (qp->state != PLX_QP_ERROR)
		return;
	flush_send(qp, out);
	flush_recv(qp, out);
	if (complete_is_flushed(qp) && !qp->flush_told && actions_room(out) > 0) {
		qp->flush_told = true;
		action_event(qp, out, PLX_EVENT_FLUSHED, 0);
	}
	if (!complete_is_flushed(qp) || !qp->flush_told)
		qp->more = true;
}

/**
 * Change to ERROR: stop the timers, send only what is still owed, flush everything posted. If the
 * QP is in ERROR already, no second event is raised.
 */
void
complete_to_error(struct plx_rc *qp, enum plx_wc_status cause, struct plx_actions *out)
{
	if (qp->state == PLX_QP_ERROR)
		return;
	qp->state = PLX_QP_ERROR;
	qp->more = true;
	qp->flush_told = false;
	recover_disarm(qp);
	selective_end(qp);
	qp->req.pace_until = PLX_NEVER;
	qp->req.rnr_waiting = false;
	qp->resp.open = OPEN_NONE;
	reply_forget(qp);
	if (out)
		action_event(qp, out, PLX_EVENT_FAILED, (uint8_t)cause);
}
