/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Delivery of completions and asynchronous events to the application. Completions of one cycle are
 * staged, and those of send queues are published before those of receive queues (decision 3): a
 * program that sees a reply finds the completion of the request before it. Start with
 * engine_publish().
 */
#include "plx_engine_cycle.h"

/* Publish the completions of one kind; runs for the same queue are pushed together. */
static void
publish_stage(struct stage *stage)
{
	uint32_t first = 0;

	while (first < stage->count) {
		struct engine_cq *cq = stage->cq[first];
		uint32_t end = first + 1;

		while (end < stage->count && stage->cq[end] == cq)
			end++;
		engine_cq_push(cq, stage->wc + first, end - first);
		first = end;
	}
}

static void
notify_stage(struct stage *stage)
{
	for (uint32_t i = 0; i < stage->count; i++)
		if (stage->cq[i]->has_new)
			engine_cq_notify(stage->cq[i]);
	stage->count = 0;
}

/* The backlog of this queue is empty: posters that were held back may post again. */
static void
release_posts(struct plx_engine *engine, const struct engine_cq *cq)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->qps) {
		struct engine_qp *qp = plx_list_entry(node, struct engine_qp, all_link);

		if (qp->send_cq == cq)
			engine_sq_publish(&qp->sq, qp->send_cq);
		if (qp->recv_cq == cq)
			engine_rq_publish(qp->recv, cq);
	}
}

/* In turn: those that a program leaves full cost others no more than the limit of visits. */
static PLX_COLD void
refill(struct plx_engine *engine)
{
	struct plx_list *spilled = &engine->queues.spilled, *last = spilled->prev, *node = NULL;
	uint32_t visits = 0, released = 0;

	while (node != last && visits++ < REFILLS_BURST && released < RELEASES_BURST) {
		struct engine_cq *cq;

		node = spilled->next;
		plx_list_remove(node);
		plx_list_append(spilled, node);
		cq = plx_list_entry(node, struct engine_cq, spilled_link);
		if (engine_cq_refill(cq))
			continue;
		release_posts(engine, cq);
		released++;
	}
}

static void
publish_completions(struct plx_engine *engine)
{
	uint32_t n = engine->sends.count + engine->recvs.count;

	if (plx_unlikely(!plx_list_empty(&engine->queues.spilled)))
		refill(engine);
	if (n == 0)
		return;
	publish_stage(PLX_MUTANT(RECVS_BEFORE_SENDS) ? &engine->recvs : &engine->sends);
	publish_stage(PLX_MUTANT(RECVS_BEFORE_SENDS) ? &engine->sends : &engine->recvs);
	notify_stage(&engine->sends);
	notify_stage(&engine->recvs);
	plx_count(&engine->counters.completions, n);
}

void
engine_stage(struct plx_engine *engine, struct engine_qp *qp, const struct plx_completion *done)
{
	bool recv = done->flags & PLX_WC_RECV;
	struct stage *stage = recv ? &engine->recvs : &engine->sends;
	struct plx_wc *wc;

	/* Publishing early keeps the order: staged completions are older than the others. */
	if (plx_unlikely(stage->count == STAGE_ROOM))
		publish_completions(engine);
	stage->cq[stage->count] = recv ? qp->recv_cq : qp->send_cq;
	if (!engine->config.inline_mode && stage->count == 0)
		plx_ring_untrusted_expect(&stage->cq[0]->ring, sizeof(*wc));
	wc = &stage->wc[stage->count++];
	memcpy(wc, done, sizeof(*done));
	wc->context = qp->context;
}

_Static_assert(offsetof(struct plx_wc, context) == sizeof(struct plx_completion) &&
		       offsetof(struct plx_wc, flags) == offsetof(struct plx_completion, flags) &&
		       offsetof(struct plx_wc, imm) == offsetof(struct plx_completion, imm),
	       "a plx_wc is a plx_completion and the queue pair's context");

/* ---- asynchronous events ---- */

/* Record once why the queue pair failed, with its state at this moment: it cannot be queried
 * later. */
static PLX_COLD void
record_failure(struct plx_engine *engine, struct engine_qp *qp)
{
	struct plx_rc_view view;

	plx_rc_query(qp->rc, &view);
	qp->failure = (struct plx_qp_failure){
		.peer_qpn = view.dest_qpn,
		.psn_unacked = view.psn_unacked.v,
		.psn_expected = view.psn_expected.v,
		.retries = (uint8_t)(view.retry_max - view.retries_left),
		.retry_max = view.retry_max,
		.rnr_retries = (uint8_t)(view.rnr_retry_max - view.rnr_retries_left),
		.rnr_retry_max = view.rnr_retry_max,
		.stall_ns = engine_stalled_lately(engine),
	};
	plx_count(&engine->counters.qps_failed, 1);
}

void
engine_raise_event(struct plx_engine *engine, struct engine_qp *qp, const struct plx_event *event)
{
	if (event->kind == PLX_EVENT_SRQ_THRESHOLD) {
		engine_raise_srq_event(qp->srq);
		return;
	}
	if (event->kind == PLX_EVENT_FAILED) {
		engine_release_kept(qp);
		engine_sq_set_state(&qp->sq, PLX_QP_ERROR);
		record_failure(engine, qp);
	}
	if (qp->connector != NULL && event->kind == PLX_EVENT_FAILED)
		engine->link->on_failure(qp);
	if (qp->connector != NULL && event->kind == PLX_EVENT_COMM_ESTABLISHED)
		engine->link->on_first_packet(qp);
	/* At most one event of each kind is pending: repetitions until then are merged. */
	qp->causes[event->kind] = event->cause;
	qp->async_events_due |= 1u << event->kind;
	engine_seat_raise(qp->seat, &qp->seat->qp_events, &qp->async_event_link);
}

void
engine_raise_srq_event(struct engine_srq *srq)
{
	engine_seat_raise(srq->seat, &srq->seat->srq_events, &srq->async_event_link);
}

/* Deliver an event; false: the ring is full, try again next cycle. */
static bool
deliver(struct plx_engine *engine, struct engine_seat *seat, const struct plx_async_event *event)
{
	if (!engine_eq_push(&seat->async_events, event))
		return false;
	plx_count(&engine->counters.events, 1);
	return true;
}

static bool
deliver_qp_events(struct plx_engine *engine, struct engine_qp *qp)
{
	while (qp->async_events_due != 0) {
		uint8_t kind = (uint8_t)__builtin_ctz(qp->async_events_due);
		struct plx_async_event event = {.kind = kind,
						.cause = qp->causes[kind],
						.qpn = qp->qpn,
						.context = qp->context};

		if (kind == PLX_EVENT_FAILED)
			event.failure = qp->failure;
		if (!deliver(engine, qp->seat, &event))
			return false;
		qp->async_events_due &= qp->async_events_due - 1;
	}
	plx_list_remove(&qp->async_event_link);
	return true;
}

static bool
deliver_srq_events(struct plx_engine *engine, struct engine_seat *seat)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &seat->srq_events) {
		struct engine_srq *srq = plx_list_entry(node, struct engine_srq, async_event_link);
		struct plx_async_event event = {.kind = PLX_EVENT_SRQ_THRESHOLD,
						.context = srq->cookie};

		if (!deliver(engine, seat, &event))
			return false;
		plx_list_remove(node);
	}
	return true;
}

static bool
deliver_cq_events(struct plx_engine *engine, struct engine_seat *seat)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &seat->cq_events) {
		struct engine_cq *cq = plx_list_entry(node, struct engine_cq, async_event_link);
		struct plx_async_event event = {.kind = PLX_EVENT_CQ_OVERRUN,
						.context = cq->cookie};

		if (!deliver(engine, seat, &event))
			return false;
		plx_list_remove(node);
	}
	return true;
}

static bool
deliver_all_qp_events(struct plx_engine *engine, struct engine_seat *seat)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &seat->qp_events)
		if (!deliver_qp_events(engine,
				       plx_list_entry(node, struct engine_qp, async_event_link)))
			return false;
	return true;
}

/* The first kind rotates, so that with a full ring no kind waits for ever behind another.
 * Returns: false: the ring is full */
static bool
deliver_events_of(struct plx_engine *engine, struct engine_seat *seat)
{
	static bool (*const kinds[])(struct plx_engine *, struct engine_seat *) = {
		deliver_all_qp_events, deliver_srq_events, deliver_cq_events};

	for (uint32_t i = 0; i < PLX_COUNT_OF(kinds); i++) {
		uint32_t kind = (seat->event_kind_next + i) % PLX_COUNT_OF(kinds);

		if (kinds[kind](engine, seat))
			continue;
		seat->event_kind_next = (seat->event_kind_next + 1) % PLX_COUNT_OF(kinds);
		return false;
	}
	return true;
}

/* A seat whose ring is full waits, and nobody waits for it. */
static PLX_COLD void
deliver_events(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->queues.eventful)
		if (deliver_events_of(engine,
				      plx_list_entry(node, struct engine_seat, eventful_link)))
			plx_list_remove(node);
}

/* Fail the queue pairs of a completion queue that overran, or of a receive queue whose index was
 * forged. */
static PLX_COLD void
fail_users(struct plx_engine *engine, const struct engine_cq *cq, const struct engine_rq *rq)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->qps) {
		struct engine_qp *qp = plx_list_entry(node, struct engine_qp, all_link);

		if (qp->send_cq != cq && qp->recv_cq != cq && qp->recv != rq)
			continue;
		plx_rc_fail(qp->rc, &engine->actions);
		engine_execute(engine, qp);
		engine_schedule(engine, qp);
	}
}

/* Each costs a look at every queue pair. What was in a broken queue before is delivered, and
 * nothing after. */
static PLX_COLD void
fail_broken(struct plx_engine *engine)
{
	struct plx_list *cqs = &engine->queues.broken, *rqs = &engine->queues.broken_rqs;

	for (uint32_t i = 0; i < BROKEN_BURST && !plx_list_empty(cqs); i++) {
		struct engine_cq *cq = plx_list_entry(cqs->next, struct engine_cq, broken_link);

		plx_list_remove(&cq->broken_link);
		fail_users(engine, cq, NULL);
	}
	for (uint32_t i = 0; i < BROKEN_BURST && !plx_list_empty(rqs); i++) {
		struct engine_rq *rq = plx_list_entry(rqs->next, struct engine_rq, broken_link);

		plx_list_remove(&rq->broken_link);
		fail_users(engine, NULL, rq);
	}
}

/* Has a queue overrun, or was one forged, whose queue pairs have not failed yet? */
static inline bool
has_broken(const struct plx_engine *engine)
{
	return !plx_list_empty(&engine->queues.broken) ||
	       !plx_list_empty(&engine->queues.broken_rqs);
}

void
engine_publish(struct plx_engine *engine)
{
	publish_completions(engine);
	if (plx_unlikely(has_broken(engine)))
		fail_broken(engine);
	if (plx_unlikely(!plx_list_empty(&engine->queues.eventful)))
		deliver_events(engine);
}
