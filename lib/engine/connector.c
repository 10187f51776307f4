/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections on the engine's thread: what the communication manager tells becomes a step of the
 * queue pair and an event for the program, and what happens to the queue pair is told to the
 * manager. Start with conn_tell().
 *
 * The order matters to programs (docs/nd2.md): ESTABLISHED comes when the queue pair can be posted
 * to, DISCONNECTED before the completions of what is flushed then, by plx_conn_attr.grace_ns.
 */
#include "connector.h"

/* ---- queue pairs --------------------------------------------------------------------------------
 */

void
conn_bind(struct plx_conn *conn, struct plx_qpair *qp)
{
	conn->qp = qp;
	qp->conn = conn;
}

void
conn_unbind(struct plx_conn *conn)
{
	plx_list_remove(&conn->grace_link);
	if (conn->qp == NULL)
		return;
	conn->qp->conn = NULL;
	conn->qp = NULL;
}

void
conn_flush(struct plx_conn *conn)
{
	struct plx_qpair *qp = conn->qp;

	conn_unbind(conn);
	/* From any state but RESET; in ERROR nothing is left to do. */
	if (qp != NULL)
		(void)qpair_modify(qp, PLX_QP_ERROR, NULL, NULL);
}

/*
 * The program is told first, and then has a moment before it finds everything flushed: in a thread
 * that waits for the event while another looks at the queue. The peer got its DREP meanwhile.
 * Not for a queue pair that was never connected whole, or that has failed itself.
 */
static bool
begin_grace(struct plx_conn *conn)
{
	struct plx_engine *engine = conn->hearer.queue->engine;
	struct plx_list *behind = engine->gsi->graces.prev;

	if (conn->attr.grace_ns == 0 || plx_qpair_state(conn->qp) != PLX_QP_RTS)
		return false;
	conn->grace_until = engine->now + conn->attr.grace_ns;
	/* In the order of their ends; all of an adapter are as long, so that this is the last. */
	while (behind != &engine->gsi->graces &&
	       plx_list_entry(behind, struct plx_conn, grace_link)->grace_until > conn->grace_until)
		behind = behind->prev;
	plx_list_append(behind->next, &conn->grace_link);
	return true;
}

uint64_t
conn_end_graces(struct plx_engine *engine)
{
	struct plx_list *graces = &engine->gsi->graces;

	while (!plx_list_empty(graces)) {
		struct plx_conn *conn = plx_list_entry(graces->next, struct plx_conn, grace_link);

		if (conn->grace_until > engine->now)
			return conn->grace_until;
		conn_flush(conn);
	}
	return PLX_NEVER;
}

/* What the peer had a say in. */
static void
fill_attr(struct plx_conn *conn)
{
	const struct plx_cm_peer *peer = &conn->peer;
	struct plx_rc_attr *rc = &conn->attr.rc;

	rc->mtu = peer->path_mtu;
	rc->dest_qpn = peer->qpn;
	/* Each side says with which PSN the other shall begin. */
	rc->rq_psn = conn->qp->first_psn;
	rc->sq_psn = peer->psn;
	rc->rd_atomic_max = peer->initiator_depth;
	rc->rnr_retry_max = peer->rnr_retry;
	if (conn->passive)
		rc->retry_max = peer->retry;
	conn->attr.path.local = peer->local;
	conn->attr.path.remote = peer->remote;
}

enum plx_status
conn_to_rtr(struct plx_conn *conn)
{
	fill_attr(conn);
	return qpair_modify(conn->qp, PLX_QP_RTR, &conn->attr.rc, &conn->attr.path);
}

enum plx_status
conn_to_rts(struct plx_conn *conn)
{
	return qpair_modify(conn->qp, PLX_QP_RTS, &conn->attr.rc, &conn->attr.path);
}

void
conn_on_arrival(struct plx_qpair *qp)
{
	struct plx_engine *engine = qp->engine;

	/* STATE: the RTU was faster. */
	(void)plx_cm_arrived(engine->gsi->cm, qp->conn->id, engine->now);
	engine->gsi->busy = true;
}

void
conn_on_failure(struct plx_qpair *qp)
{
	struct plx_engine *engine = qp->engine;

	/* STATE: it has ended by itself. */
	(void)!plx_cm_lost(engine->gsi->cm, qp->conn->id, engine->now);
	engine->gsi->busy = true;
}

void
conn_on_detach(struct plx_qpair *qp)
{
	if (qp->conn == NULL)
		return;
	conn_on_failure(qp);
	conn_unbind(qp->conn);
}

/* ---- events -------------------------------------------------------------------------------------
 */

/* What a connection's event means for it, beside being told. Returns: the queue pair is flushed,
 * after the event was told */
static bool
step(struct plx_conn *conn, const struct plx_cm_event *event)
{
	/* Of the passive side from the accept on, of the active one from the complete on. */
	bool flush = conn->qp != NULL && plx_qpair_state(conn->qp) != PLX_QP_INIT;

	switch ((enum plx_cm_event_kind)event->kind) {
	case PLX_CM_EVENT_REPLIED:
		conn->peer = event->peer;
		return false;
	case PLX_CM_EVENT_ESTABLISHED:
		/* It is in RTR: there is nothing that could refuse. When the queue pair has failed
		 * or is gone, DISCONNECTED follows. */
		if (conn->qp != NULL)
			(void)conn_to_rts(conn);
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
	conn->id.v = 0;
	if (!flush)
		conn_unbind(conn);
	return flush && (event->kind != PLX_CM_EVENT_DISCONNECTED || !begin_grace(conn));
}

/* There is room in the queue: this thread alone puts anything there. */
static void
tell_one(struct plx_engine *engine, struct hearer *hearer, struct plx_conn_event *event)
{
	struct plx_conn *conn = plx_list_entry(hearer, struct plx_conn, hearer);
	bool flush = false;

	event->cookie = hearer->cookie;
	if (event->cm.kind == PLX_CM_EVENT_REQUESTED)
		/* The acceptor may be destroyed before anybody adopts the request. */
		(void)!plx_cm_set_context(engine->gsi->cm, event->cm.id,
					  (uintptr_t)&engine->gsi->orphan);
	else
		flush = step(conn, &event->cm);
	(void)equeue_put(hearer->queue, event);
	if (flush)
		conn_flush(conn);
}

uint32_t
conn_tell(struct plx_engine *engine)
{
	struct plx_cm *cm = engine->gsi->cm;
	struct plx_conn_event event;
	uint32_t told = 0;

	for (uint32_t i = 0; i < GSI_BURST && plx_cm_event_waits(cm); i++) {
		struct hearer *hearer = (struct hearer *)(uintptr_t)plx_cm_event_context(cm);
		bool orphan = hearer == &engine->gsi->orphan;

		if (!orphan && !equeue_has_room(hearer->queue)) {
			plx_cm_defer_event(cm);
			continue;
		}
		if (!plx_cm_next_event(cm, &event.cm))
			break;
		told++;
		/* A request that ended before anybody adopted it: who tries will be told. */
		if (!orphan)
			tell_one(engine, hearer, &event);
	}
	return told;
}
