/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passive side: REQ received, our program accepts, REP sent, RTU received.
 * It never accepts a REQ whose addresses differ from those of its packet, and recognizes
 * duplicates. Start with cm_on_req().
 */
#include "connection.h"

enum {
	PORT_BITS = 0xffff,
};

/* ---- duplicates ---- */

static bool
is_same_request(const struct cm_connection *c, const struct plx_cm_route *route,
		const struct plx_cm_req *req)
{
	return c->peer.info.remote_qpn == req->local_qpn &&
	       plx_psn_eq(c->peer.psn, req->starting_psn) &&
	       c->peer.info.local_port == (req->service_id & PORT_BITS) &&
	       plx_ip_equal(&c->peer.info.local, &route->local);
}

/* IBTA 12.9.7: repeat the reply. A duplicate for an established connection is late, and ignored. */
static enum plx_cm_verdict
repeated(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	if (c->state == CM_REQ_RCVD) {
		cm_timer_set(cm, c, CM_TIMER_CONSUMER, now);
		cm_send(cm, c, CM_SEND_MRA);
	} else if (c->state == CM_REP_SENT) {
		cm_send(cm, c, CM_SEND_REP);
	} else if (c->state == CM_DREQ_SENT && c->unconfirmed) {
		/* We accepted, and disconnected before the peer received the REP. */
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
		cm_reject(cm, c, PLX_CM_ABOUT_REQ, PLX_CM_REASON_CONSUMER);
	} else if (c->state == CM_TIMEWAIT && c->reject) {
		cm_send(cm, c, CM_SEND_REJ);
	} else if (c->state == CM_TIMEWAIT && c->unconfirmed) {
		/* ... and none of our DREQs reached it. */
		cm_reject(cm, c, PLX_CM_ABOUT_REQ, PLX_CM_REASON_CONSUMER);
	}
	return PLX_CM_REPEATED;
}

/* ---- a new request ---- */

/*
 * The connection that a peer seems to have lost, according to this REQ; NULL if there is none: its
 * queue pair is in a connection, or its id is, with other contents.
 * Spec: IBTA vol 1, 12.9.8.3.1.
 */
static struct cm_connection *
stale_connection(const struct plx_cm *cm, const struct plx_cm_route *route,
		 const struct plx_cm_req *req, struct cm_connection *same_id)
{
	if (same_id && same_id->state != CM_TIMEWAIT)
		return same_id;
	return cm_find_qp(cm, &route->remote, req->local_ca_guid, req->local_qpn);
}

static bool
has_no_room(struct plx_cm *cm, const struct cm_listener *listener, const struct plx_ip *remote)
{
	uint32_t backlog = listener->what.backlog ? listener->what.backlog : UINT32_MAX;

	if (listener->waiting >= backlog)
		plx_count(&cm->counters.backlog_full, 1);
	return listener->waiting >= backlog || cm->connections == cm->config.connections ||
	       cm_peer_is_full(cm, remote);
}

/* A reason to reject each such request; NONE: no reason. */
static enum plx_cm_reason
refusal(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_req *req,
	const struct cm_listener *listener, struct plx_cma *cma)
{
	if (!listener) {
		plx_count(&cm->counters.no_listener, 1);
		return PLX_CM_REASON_INVALID_SERVICE_ID;
	}
	return cm_request_check(req, route, cm->config.path_mtu, cma);
}

static uint8_t
response_timeout(uint8_t asked)
{
	if (asked < PLX_CM_TIMEOUT_MIN)
		return PLX_CM_TIMEOUT_MIN;
	return asked > PLX_CM_TIMEOUT_MAX ? PLX_CM_TIMEOUT_MAX : asked;
}

/* The peer's request from our side: its initiator depth is our responder resources. */
static void
read_offer(struct cm_connection *c, const struct plx_cm_route *route, const struct plx_cm_req *req,
	   const struct plx_cma *cma)
{
	static const uint8_t no_gid[16];

	c->remote_id = req->local_comm_id;
	c->ca_guid = req->local_ca_guid;
	c->response = response_timeout(req->local_response_timeout);
	if (req->max_cm_retries + 1 < PLX_CM_TRIES)
		c->tries_max = (uint8_t)(req->max_cm_retries + 1);
	c->has_link = route->has_link;
	memcpy(c->link, route->link, sizeof c->link);
	c->alternate = memcmp(req->alternate.remote_gid, no_gid, sizeof no_gid) != 0;
	c->peer.psn = req->starting_psn;
	c->peer.selective = cm_key_is_selective(req->local_qkey);
	c->peer.info = (struct plx_connector_info){
		.remote_qpn = req->local_qpn,
		.path_mtu = cm_path_mtu(req->path_mtu),
		.responder_resources = req->initiator_depth,
		.initiator_depth = req->responder_resources,
		.rnr_retry = req->rnr_retry_count,
		.retry = req->retry_count,
		.ack_timeout = cm_ack_timeout(req->primary.local_ack_timeout),
		.srq = req->srq,
		.local = route->local,
		.remote = route->remote,
		.local_port = (uint16_t)(req->service_id & PORT_BITS),
		.remote_port = cma->src_port,
	};
	cm_private_keep(c, req->private_data + PLX_CMA_BYTES, PLX_CM_PRIVATE_REQ);
	c->private_of = CM_PENDING_REQUESTED;
}

static void
begin(struct plx_cm *cm, struct cm_listener *listener, struct cm_source *source,
      struct cm_connection *c, uint64_t now)
{
	c->source = source;
	c->listener = listener;
	c->context = listener->what.context;
	listener->waiting++;
	plx_list_append(&listener->requests, &c->group);
	cm_insert_request(cm, c);
	cm_insert_qp(cm, c);
	cm_timer_set(cm, c, CM_TIMER_CONSUMER, now);
	cm_raise_event(cm, c, CM_PENDING_REQUESTED);
}

enum plx_cm_verdict
cm_on_req(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	const struct plx_cm_req *req = &msg->req;
	struct cm_connection *old =
		cm_find_request(cm, &route->remote, req->local_ca_guid, req->local_comm_id);
	struct cm_listener *listener;
	struct cm_connection *c, *stale;
	struct cm_source *source;
	enum plx_cm_reason reason;
	struct plx_cma cma;
	bool known;

	if (req->local_comm_id == 0)
		return PLX_CM_INVALID;
	if (old && is_same_request(old, route, req) && !PLX_MUTANT(CM_REQ_TAKEN_TWICE))
		return repeated(cm, old, now);
	listener = cm_listener_find(cm, &route->local, req->service_id, PLX_PORT_SPACE_TCP);
	reason = refusal(cm, route, req, listener, &cma);
	stale = reason == PLX_CM_REASON_NONE ? stale_connection(cm, route, req, old) : NULL;
	if (stale && !cm_admit_doubt(cm, &route->remote, now))
		return PLX_CM_LIMITED;
	if (stale) {
		cm_forgotten(cm, stale, now);
		reason = PLX_CM_REASON_STALE;
	} else if (reason == PLX_CM_REASON_NONE && has_no_room(cm, listener, &route->remote)) {
		reason = PLX_CM_REASON_NO_RESOURCES;
	}
	if (reason != PLX_CM_REASON_NONE) {
		cm_send_stateless_rej(cm, route, msg, reason, now);
		return PLX_CM_REFUSED;
	}
	source = cm_admit(cm, &route->remote, &known, now);
	if (!source)
		return PLX_CM_LIMITED;
	if (old)
		plx_list_remove(&old->by_request);
	c = cm_open(cm, CM_REQ_RCVD);
	PLX_ASSERT(c);
	c->known = known;
	c->tid = msg->transaction_id;
	read_offer(c, route, req, &cma);
	cm_holder_get(cm, c);
	begin(cm, listener, source, c, now);
	return PLX_CM_TAKEN;
}

/* ---- our program accepts ---- */

static uint8_t
smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

enum plx_status
plx_cm_accept(struct plx_cm *cm, struct plx_cm_id id, const struct plx_cm_own *own,
	      uint64_t context, const uint8_t *private_data, uint32_t private_bytes, uint64_t now,
	      struct plx_cm_peer *peer)
{
	struct cm_connection *c = cm_find(cm, id.v);

	(void)now;
	if (!c || c->state != CM_REQ_RCVD || !c->delivered)
		return PLX_STATE;
	if (private_bytes > PLX_CM_PRIVATE_REP)
		return PLX_TOO_LONG;
	if (!cm_own_is_good(own) || own->path_mtu < c->peer.info.path_mtu ||
	    (private_bytes && !private_data))
		return PLX_INVALID;
	if (c->listener)
		c->listener->waiting--;
	c->listener = NULL;
	plx_list_remove(&c->group);
	if (!c->known)
		plx_list_append(&cm->silent, &c->group);
	c->own = *own;
	c->context = context;
	c->peer.info.responder_resources =
		smaller(c->peer.info.responder_resources, own->responder_resources);
	c->peer.info.initiator_depth = smaller(c->peer.info.initiator_depth, own->initiator_depth);
	c->peer.selective = c->peer.selective && own->selective;
	cm_private_keep(c, private_data, private_bytes);
	c->state = CM_REP_SENT;
	cm_timer_clear(c);
	cm_send_cancel(c);
	cm_send(cm, c, CM_SEND_REP);
	*peer = c->peer;
	return PLX_OK;
}

void
plx_cm_hold(struct plx_cm *cm, struct plx_cm_id id)
{
	struct cm_connection *c = cm_find(cm, id.v);

	PLX_ASSERT(c && c->state == CM_REP_SENT && c->sends == 1u << CM_SEND_REP);
	c->held = true;
	cm_send_cancel(c);
}

enum plx_status
plx_cm_release(struct plx_cm *cm, struct plx_cm_id id)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || !c->held)
		return PLX_STATE;
	c->held = false;
	if (c->state == CM_REP_SENT)
		cm_send(cm, c, CM_SEND_REP);
	return c->state == CM_REP_SENT ? PLX_OK : PLX_STATE;
}

/* ---- the peer establishes ---- */

enum plx_cm_verdict
cm_on_rtu(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	struct cm_connection *c = cm_named(cm, route, msg->rtu.remote_comm_id);

	(void)now;
	if (!c || c->active || c->remote_id != msg->rtu.local_comm_id)
		return PLX_CM_UNKNOWN;
	if (c->state == CM_REP_SENT) {
		cm_establish(cm, c);
		cm_raise_event(cm, c, CM_PENDING_ESTABLISHED);
		return PLX_CM_TAKEN;
	}
	if (c->state == CM_REQ_RCVD)
		return PLX_CM_UNEXPECTED;
	/* Before its RTU the peer could not handle our DREQ. */
	if (c->state == CM_DREQ_SENT && c->unconfirmed) {
		c->unconfirmed = false;
		cm_send(cm, c, CM_SEND_DREQ);
	}
	return PLX_CM_REPEATED;
}

enum plx_status
plx_cm_comm_established(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	(void)now;
	if (!c || c->state != CM_REP_SENT)
		return PLX_STATE;
	cm_establish(cm, c);
	cm_raise_event(cm, c, CM_PENDING_ESTABLISHED);
	return PLX_OK;
}
