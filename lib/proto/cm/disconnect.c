/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ending a connection: reject, disconnect, abandon, and the handling of MRA, REJ, DREQ and DREP.
 * It never ends a connection because of a message without both ids, or from another address.
 * Start with plx_cm_disconnect() and cm_on_dreq().
 */
#include "connection.h"

/* ---- our program ---- */

enum plx_status
plx_cm_reject(struct plx_cm *cm, struct plx_cm_id id, const uint8_t *private_data,
	      uint32_t private_bytes, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);
	enum plx_cm_about about;

	if (!c || (c->state != CM_REP_RCVD && (c->state != CM_REQ_RCVD || !c->delivered)))
		return PLX_STATE;
	if (private_bytes > PLX_CM_PRIVATE_REJ)
		return PLX_TOO_LONG;
	if (private_bytes && !private_data)
		return PLX_INVALID;
	about = c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ;
	c->pending = 0;
	plx_list_remove(&c->event);
	cm_private_keep(c, private_data, private_bytes);
	c->reject_bytes = (uint8_t)private_bytes;
	cm_end(cm, c, PLX_CM_EVENT_NOTHING, 0, now);
	cm_reject(cm, c, about, PLX_CM_REASON_CONSUMER);
	return PLX_OK;
}

/* Accepted, but the REP was not sent yet: the peer gets a REJ instead. */
static bool
rep_unsent(const struct cm_connection *c)
{
	return c->state == CM_REP_SENT && !(c->sent & 1u << CM_SEND_REP);
}

static void
withdraw(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint64_t now)
{
	c->private_bytes = 0;
	cm_end(cm, c, kind, 0, now);
	cm_reject(cm, c, PLX_CM_ABOUT_REQ, PLX_CM_REASON_CONSUMER);
}

enum plx_status
plx_cm_disconnect(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || (c->state != CM_ESTABLISHED && c->state != CM_REP_SENT))
		return PLX_STATE;
	plx_count(&cm->counters.disconnected, 1);
	if (rep_unsent(c))
		withdraw(cm, c, PLX_CM_EVENT_CLOSED, now);
	else
		cm_disconnect(cm, c, false);
	return PLX_OK;
}

enum plx_status
plx_cm_qp_failed(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c)
		return PLX_STATE;
	if (c->state == CM_REP_RCVD) {
		cm_end(cm, c, PLX_CM_EVENT_ABORTED, 0, now);
		cm_reject(cm, c, PLX_CM_ABOUT_REP, PLX_CM_REASON_CONSUMER);
	} else if (c->state == CM_REQ_SENT) {
		cm_give_up(cm, c, PLX_CM_EVENT_ABORTED, now);
	} else if (rep_unsent(c)) {
		withdraw(cm, c, PLX_CM_EVENT_DISCONNECTED, now);
	} else if (c->state == CM_ESTABLISHED || c->state == CM_REP_SENT) {
		cm_break(cm, c);
	} else {
		return PLX_STATE;
	}
	return PLX_OK;
}

enum plx_status
plx_cm_set_context(struct plx_cm *cm, struct plx_cm_id id, uint64_t context)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || c->state == CM_TIMEWAIT || c->orphan)
		return PLX_STATE;
	c->context = context;
	return PLX_OK;
}

enum plx_status
plx_cm_adopt(struct plx_cm *cm, struct plx_cm_id id, uint64_t from, uint64_t context,
	     struct plx_cm_peer *peer)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || c->state != CM_REQ_RCVD || !c->delivered || c->orphan || c->context != from)
		return PLX_STATE;
	c->context = context;
	*peer = c->peer;
	return PLX_OK;
}

static void
abandon(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	if (c->retired)
		return;
	c->pending = 0;
	plx_list_remove(&c->event);
	c->orphan = true;
	if (c->state == CM_TIMEWAIT) {
		cm_retire(cm, c);
	} else if (c->state == CM_REQ_SENT || c->state == CM_SIDR_REQ_SENT) {
		cm_give_up(cm, c, PLX_CM_EVENT_NOTHING, now);
	} else if (c->state == CM_REP_RCVD || c->state == CM_REQ_RCVD) {
		cm_end(cm, c, PLX_CM_EVENT_NOTHING, 0, now);
		cm_reject(cm, c, c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ,
			  PLX_CM_REASON_CONSUMER);
	} else if (rep_unsent(c)) {
		withdraw(cm, c, PLX_CM_EVENT_NOTHING, now);
	} else if (c->state == CM_ESTABLISHED || c->state == CM_REP_SENT) {
		cm_disconnect(cm, c, true);
	}
}

void
plx_cm_abandon(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (c)
		abandon(cm, c, now);
}

void
plx_cm_abandon_all(struct plx_cm *cm, uint64_t context, uint64_t now)
{
	for (uint32_t i = 0; i < cm->slots; i++) {
		struct cm_connection *c = &cm->connection[i];

		if (c->state != CM_IDLE && c->context == context && !c->orphan)
			abandon(cm, c, now);
	}
}

/* ---- MRA ---- */

static uint8_t
larger(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* One MRA for each try, so that a peer cannot keep a connection half open without end. */
enum plx_cm_verdict
cm_on_mra(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	const struct plx_cm_mra *mra = &msg->mra;
	struct cm_connection *c = cm_named(cm, route, mra->remote_comm_id);
	bool of_req = c && c->state == CM_REQ_SENT && mra->about == PLX_CM_ABOUT_REQ;
	bool of_rep = c && c->state == CM_REP_SENT && mra->about == PLX_CM_ABOUT_REP;

	if (!c || (c->state != CM_REQ_SENT && c->remote_id != mra->local_comm_id))
		return PLX_CM_UNKNOWN;
	if ((!of_req && !of_rep) || !c->tries)
		return PLX_CM_UNEXPECTED;
	if (c->mra_rcvd)
		return PLX_CM_REPEATED;
	c->mra_rcvd = true;
	if (of_rep)
		plx_list_remove(&c->group); /* no longer silent */
	cm_send_cancel(c);
	cm_timer_set(cm, c, cm_timer_response(larger(mra->service_timeout, c->response)), now);
	return PLX_CM_TAKEN;
}

/* ---- REJ ---- */

/* The peer may not have learned our id. Its own id and GUID do not end an established connection.
 */
static bool
may_not_know_us(const struct cm_connection *c)
{
	return c->state == CM_REQ_RCVD || c->state == CM_REP_SENT || c->state == CM_TIMEWAIT ||
	       (c->state == CM_DREQ_SENT && c->unconfirmed) || PLX_MUTANT(CM_STRANGER_ENDS_IT);
}

/* A peer that gave up its REQ does not know our id and identifies itself by its GUID.
 * IBTA 12.6.7.2. */
static struct cm_connection *
rejected(const struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_rej *rej)
{
	struct cm_connection *c;
	uint64_t ca_guid = 0;

	if (rej->remote_comm_id) {
		c = cm_named(cm, route, rej->remote_comm_id);
		return c && (c->state == CM_REQ_SENT || c->remote_id == rej->local_comm_id) ? c
											    : NULL;
	}
	if (rej->reason != PLX_CM_REASON_TIMEOUT || rej->info_length < sizeof ca_guid)
		return NULL;
	for (size_t i = 0; i < sizeof ca_guid; i++)
		ca_guid = ca_guid << 8 | rej->info[i];
	c = cm_find_request(cm, &route->remote, ca_guid, rej->local_comm_id);
	return c && may_not_know_us(c) && plx_ip_equal(&c->peer.info.local, &route->local) ? c
											   : NULL;
}

/*
 * The private data is delivered with the end, unless that of an earlier message is still pending.
 */
static void
keep_private_data(struct cm_connection *c, const struct plx_cm_rej *rej)
{
	if (c->pending & 1u << CM_PENDING_REPLIED)
		return;
	cm_private_keep(c, rej->private_data, PLX_CM_PRIVATE_REJ);
	c->private_of = CM_PENDING_END;
}

enum plx_cm_verdict
cm_on_rej(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	static const uint8_t end_kinds[CM_STATES] = {
		[CM_REQ_SENT] = PLX_CM_EVENT_REJECTED,        [CM_REP_RCVD] = PLX_CM_EVENT_ABORTED,
		[CM_REQ_RCVD] = PLX_CM_EVENT_ABORTED,         [CM_REP_SENT] = PLX_CM_EVENT_ABORTED,
		[CM_ESTABLISHED] = PLX_CM_EVENT_DISCONNECTED, [CM_DREQ_SENT] = PLX_CM_EVENT_CLOSED,
	};
	const struct plx_cm_rej *rej = &msg->rej;
	struct cm_connection *c = rejected(cm, route, rej);
	enum plx_cm_event_kind kind;

	if (!c)
		return PLX_CM_UNKNOWN;
	if (c->state == CM_TIMEWAIT)
		return PLX_CM_REPEATED;
	if (c->state == CM_SIDR_REQ_SENT)
		return PLX_CM_UNEXPECTED;
	kind = (enum plx_cm_event_kind)end_kinds[c->state];
	if (kind == PLX_CM_EVENT_DISCONNECTED)
		plx_count(&cm->counters.disconnected, 1);
	else
		keep_private_data(c, rej);
	cm_end(cm, c, kind, kind == PLX_CM_EVENT_CLOSED ? 0 : rej->reason, now);
	return PLX_CM_TAKEN;
}

/* ---- DREQ, DREP ---- */

/* A DREQ for an unknown connection gets a DREP. */
static enum plx_cm_verdict
send_stateless_drep(struct plx_cm *cm, const struct plx_cm_route *route,
		    const struct plx_cm_msg *to, uint64_t now)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_DREP, .transaction_id = to->transaction_id};

	msg.drep.local_comm_id = to->dreq.remote_comm_id;
	msg.drep.remote_comm_id = to->dreq.local_comm_id;
	cm_send_stateless(cm, route, &msg, now);
	return PLX_CM_UNKNOWN;
}

enum plx_cm_verdict
cm_on_dreq(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	   uint64_t now)
{
	static const uint8_t end_kinds[CM_STATES] = {
		[CM_REP_RCVD] = PLX_CM_EVENT_ABORTED,
		[CM_REP_SENT] = PLX_CM_EVENT_DISCONNECTED,
		[CM_ESTABLISHED] = PLX_CM_EVENT_DISCONNECTED,
		[CM_DREQ_SENT] = PLX_CM_EVENT_CLOSED,
	};
	const struct plx_cm_dreq *dreq = &msg->dreq;
	struct cm_connection *c = cm_find(cm, dreq->remote_comm_id);
	bool ended = c && c->state == CM_TIMEWAIT;

	if (!c)
		return send_stateless_drep(cm, route, msg, now);
	if (!cm_named(cm, route, c->id) || c->remote_id != dreq->local_comm_id)
		return PLX_CM_UNKNOWN;
	if (!ended && end_kinds[c->state] == PLX_CM_EVENT_NOTHING)
		return PLX_CM_UNEXPECTED;
	/* A peer also sends a wrong one to ask whether we know the connection: cm_forgotten(). */
	if (dreq->remote_qpn != c->own.qpn)
		return PLX_CM_INVALID;
	c->dreq_tid = msg->transaction_id;
	if (!ended) {
		enum plx_cm_event_kind kind = (enum plx_cm_event_kind)end_kinds[c->state];

		/* Its RTU was lost. */
		if (c->state == CM_REP_SENT) {
			cm_establish(cm, c);
			cm_raise_event(cm, c, CM_PENDING_ESTABLISHED);
		}
		if (kind == PLX_CM_EVENT_DISCONNECTED)
			plx_count(&cm->counters.disconnected, 1);
		cm_end(cm, c, kind, 0, now);
	}
	cm_send(cm, c, CM_SEND_DREP);
	return ended ? PLX_CM_REPEATED : PLX_CM_TAKEN;
}

enum plx_cm_verdict
cm_on_drep(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	   uint64_t now)
{
	struct cm_connection *c = cm_named(cm, route, msg->drep.remote_comm_id);

	if (!c || c->remote_id != msg->drep.local_comm_id)
		return PLX_CM_UNKNOWN;
	if (c->state == CM_TIMEWAIT)
		return PLX_CM_REPEATED;
	if ((c->state != CM_DREQ_SENT && c->state != CM_ESTABLISHED) ||
	    !(c->sent & 1u << CM_SEND_DREQ))
		return PLX_CM_UNEXPECTED;
	if (c->state == CM_ESTABLISHED) {
		/*
		 * We asked the peer whether it knows the connection, and it does not:
		 * cm_forgotten().
		 */
		plx_count(&cm->counters.forgotten, 1);
		plx_count(&cm->counters.disconnected, 1);
		cm_end(cm, c, PLX_CM_EVENT_DISCONNECTED, 0, now);
	} else {
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
	}
	return PLX_CM_TAKEN;
}
