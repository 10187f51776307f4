/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections on the engine's thread. An event of the communication manager changes the state of
 * the queue pair and is delivered to the program; events of the queue pair are passed to the
 * manager. Start with connector_deliver_events().
 *
 * Programs depend on the order (docs/nd2.md): ESTABLISHED is delivered when the queue pair accepts
 * posts, DISCONNECTED before the completions of the flush that follows, by
 * plx_link_attr.grace_ns.
 */
#include "far.h"

/* ---- queue pairs ---- */

void
connector_bind(struct engine_connector *connector, struct engine_qp *qp)
{
	connector->qp = qp;
	qp->connector = connector;
}

void
connector_unbind(struct engine_connector *connector)
{
	plx_list_remove(&connector->grace_link);
	if (connector->far_engine != NULL)
		far_unbind(connector, FAR_KEEP);
	if (connector->qp == NULL)
		return;
	connector->qp->connector = NULL;
	connector->qp = NULL;
}

void
connector_flush(struct engine_connector *connector)
{
	struct engine_qp *qp = connector->qp;

	if (connector->far_engine != NULL)
		far_unbind(connector, FAR_FLUSH);
	connector_unbind(connector);
	/* From any state but RESET; in ERROR there is nothing left to flush. */
	if (qp != NULL)
		(void)engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL);
}

/*
 * Deliver the event first, and flush after a grace period: one thread of the program may wait for
 * the event while another polls the queue. The DREP is sent meanwhile. There is no grace period
 * for a queue pair that was never fully connected, or that has failed.
 */
static bool
is_connected(const struct engine_connector *connector)
{
	if (connector->far_engine != NULL)
		return connector->far_rts && !atomic_load(&connector->far.failed);
	return engine_qp_state(connector->qp) == PLX_QP_RTS;
}

static bool
begin_grace(struct engine_connector *connector)
{
	struct plx_engine *engine = connector->subscriber.channel->engine;
	struct plx_list *behind = engine->gsi->graces.prev;

	if (connector->attr.grace_ns == 0 || !is_connected(connector))
		return false;
	connector->grace_until = plx_time_add(engine->now, connector->attr.grace_ns);
	/* Sorted by deadline; most grace periods of an adapter are equal, so this one is last. */
	while (behind != &engine->gsi->graces &&
	       plx_list_entry(behind, struct engine_connector, grace_link)->grace_until >
		       connector->grace_until)
		behind = behind->prev;
	plx_list_append(behind->next, &connector->grace_link);
	return true;
}

uint64_t
connector_end_graces(struct plx_engine *engine)
{
	struct plx_list *graces = &engine->gsi->graces;

	while (!plx_list_empty(graces)) {
		struct engine_connector *connector =
			plx_list_entry(graces->next, struct engine_connector, grace_link);

		if (connector->grace_until > engine->now)
			return connector->grace_until;
		connector_flush(connector);
	}
	return PLX_NEVER;
}

void
connector_fill_attr(const struct plx_cm_peer *peer, bool passive, const struct engine_qp *qp,
		    struct plx_rc_attr *rc, struct plx_engine_path *path)
{
	rc->mtu = peer->info.path_mtu;
	rc->dest_qpn = peer->info.remote_qpn;
	/* Each side chooses the first PSN of the other. */
	rc->rq_psn = qp->first_psn;
	rc->sq_psn = peer->psn;
	rc->selective = peer->selective;
	rc->initiator_depth = peer->info.initiator_depth;
	rc->rnr_retry_max = peer->info.rnr_retry;
	if (passive)
		rc->retry_max = peer->info.retry;
	path->local = peer->info.local;
	path->remote = peer->info.remote;
}

enum plx_status
connector_to_rtr(struct engine_connector *connector)
{
	connector_fill_attr(&connector->peer, connector->passive, connector->qp,
			    &connector->attr.rc, &connector->attr.path);
	return engine_qp_modify(connector->qp, PLX_QP_RTR, &connector->attr.rc,
				&connector->attr.path);
}

enum plx_status
connector_to_rts(struct engine_connector *connector)
{
	return engine_qp_modify(connector->qp, PLX_QP_RTS, &connector->attr.rc,
				&connector->attr.path);
}

/* Any channel's engine is the first. */
static bool
is_far(const struct engine_qp *qp)
{
	return engine_first(qp->engine) != qp->engine;
}

void
connector_on_first_packet(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	if (is_far(qp)) {
		far_on_first_packet(qp);
		return;
	}
	/* STATE: the RTU arrived first. */
	(void)plx_cm_comm_established(engine->gsi->cm, qp->connector->id, engine->now);
	engine->link_busy = true;
}

void
connector_on_failure(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	if (is_far(qp)) {
		far_on_failure(qp);
		return;
	}
	/* STATE: the connection has already ended. */
	(void)!plx_cm_qp_failed(engine->gsi->cm, qp->connector->id, engine->now);
	engine->link_busy = true;
}

void
connector_on_detach(struct engine_qp *qp)
{
	if (is_far(qp)) {
		far_on_detach(qp);
		return;
	}
	connector_on_failure(qp);
	connector_unbind(qp->connector);
}

void
connector_on_move(struct engine_qp *from, struct engine_qp *to)
{
	struct engine_connector *connector = from->connector;

	if (is_far(from))
		connector->far.qp = to;
	else
		connector->qp = to;
	to->connector = connector;
	from->connector = NULL;
}

/* ---- events ---- */

/* Apply an event of a connection to its queue pair.
 * Returns: whether to flush the queue pair after the event is delivered */
static bool
step(struct engine_connector *connector, const struct plx_cm_event *event)
{
	/* On the passive side from accept on, on the active side from establish on. What another
	 * engine has is flushed by it, under the same condition. */
	bool flush = connector->far_engine != NULL ||
		     (connector->qp != NULL && engine_qp_state(connector->qp) != PLX_QP_INIT);

	switch ((enum plx_cm_event_kind)event->kind) {
	case PLX_CM_EVENT_REPLIED:
		connector->peer = event->peer;
		return false;
	case PLX_CM_EVENT_ESTABLISHED:
		/* The transition from RTR cannot be refused. If the queue pair has failed or is
		 * gone, DISCONNECTED follows. */
		if (connector->qp != NULL)
			(void)connector_to_rts(connector);
		connector->far_rts = connector->far_engine != NULL;
		return false;
	case PLX_CM_EVENT_REJECTED:
	case PLX_CM_EVENT_UNREACHABLE:
	case PLX_CM_EVENT_TIMED_OUT:
	case PLX_CM_EVENT_ABORTED:
	case PLX_CM_EVENT_DISCONNECTED:
	case PLX_CM_EVENT_CLOSED:
	case PLX_CM_EVENT_SIDR_REPLY:
		break;
	case PLX_CM_EVENT_NOTHING:
	case PLX_CM_EVENT_REQUESTED:
	case PLX_CM_EVENT_COUNT:
		return false;
	}
	connector->id.v = 0;
	if (!flush)
		connector_unbind(connector);
	return flush && (event->kind != PLX_CM_EVENT_DISCONNECTED || !begin_grace(connector));
}

/* The queue has room: this is its only producer. */
static void
deliver_one(struct plx_engine *engine, struct subscriber *subscriber, struct plx_link_event *event)
{
	struct engine_connector *connector =
		plx_list_entry(subscriber, struct engine_connector, subscriber);
	bool flush = false;

	event->cookie = subscriber->cookie;
	event->cm.context = 0; /* an address of ours, which is nothing to a program */
	if (event->cm.kind == PLX_CM_EVENT_REQUESTED)
		/* The listener may be destroyed before the request is adopted. */
		(void)!plx_cm_set_context(engine->gsi->cm, event->cm.id,
					  (uintptr_t)&subscriber->channel->orphan);
	else
		flush = step(connector, &event->cm);
	(void)engine_eq_push(&subscriber->channel->events, event);
	if (flush)
		connector_flush(connector);
}

/* Is there no room, or is the queue pair not ready? ESTABLISHED is an event of a connector. */
static bool
must_wait(const struct plx_cm *cm, struct subscriber *subscriber)
{
	if (subscriber->channel->holds || !engine_eq_has_room(&subscriber->channel->events))
		return true;
	return plx_cm_event_kind(cm) == PLX_CM_EVENT_ESTABLISHED &&
	       far_holds_event(plx_list_entry(subscriber, struct engine_connector, subscriber));
}

uint32_t
connector_deliver_events(struct plx_engine *engine)
{
	struct plx_cm *cm = engine->gsi->cm;
	struct plx_link_event event;
	uint32_t delivered = 0;

	for (uint32_t i = 0; i < GSI_BURST && plx_cm_has_event(cm); i++) {
		struct subscriber *subscriber =
			(struct subscriber *)(uintptr_t)plx_cm_event_context(cm);
		bool orphan = subscriber->channel == NULL;

		if (!orphan && must_wait(cm, subscriber)) {
			plx_cm_defer_event(cm);
			continue;
		}
		if (!plx_cm_next_event(cm, &event.cm))
			break;
		delivered++;
		/* Events of a request that ended before its adoption are dropped: the attempt to
		 * adopt it will fail. */
		if (!orphan)
			deliver_one(engine, subscriber, &event);
	}
	return delivered;
}
