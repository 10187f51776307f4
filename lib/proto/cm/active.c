/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The active side: REQ sent, REP received, our program establishes, RTU sent.
 * It never accepts a REP without our id, or not from the address that the REQ was sent to.
 * Start with plx_cm_connect().
 */
#include "connection.h"

/* Its own id distinguishes the messages about it from those about another. */
static struct cm_connection *
open_active(struct plx_cm *cm, enum cm_state state, const struct plx_cm_connect *connect)
{
	struct cm_connection *c = cm_open(cm, state);

	if (!c)
		return NULL;
	c->active = true;
	c->tid = cm_tid(cm, c, false);
	c->context = connect->context;
	c->peer.info.local = plx_ip_canonical(&connect->local);
	c->peer.info.remote = plx_ip_canonical(&connect->remote);
	c->peer.info.local_port = connect->local_port;
	c->peer.info.remote_port = connect->remote_port;
	cm_private_keep(c, connect->private_data, connect->private_bytes);
	cm_insert_qp(cm, c);
	return c;
}

enum plx_status
plx_cm_connect(struct plx_cm *cm, const struct plx_cm_connect *connect, uint64_t now,
	       struct plx_cm_id *id)
{
	struct cm_connection *c;

	(void)now;
	if (connect->private_bytes > PLX_CM_PRIVATE_REQ)
		return PLX_TOO_LONG;
	if (!cm_connect_is_good(connect) || !cm_own_is_good(&connect->own))
		return PLX_INVALID;
	c = open_active(cm, CM_REQ_SENT, connect);
	if (!c)
		return PLX_FULL;
	c->own = connect->own;
	cm_send(cm, c, CM_SEND_REQ);
	*id = (struct plx_cm_id){c->id};
	return PLX_OK;
}

enum plx_status
plx_cm_sidr_request(struct plx_cm *cm, const struct plx_cm_connect *connect, uint64_t now,
		    struct plx_cm_id *id)
{
	struct cm_connection *c;

	(void)now;
	if (connect->private_bytes > PLX_CM_PRIVATE_REQ)
		return PLX_TOO_LONG;
	if (!cm_connect_is_good(connect))
		return PLX_INVALID;
	c = open_active(cm, CM_SIDR_REQ_SENT, connect);
	if (!c)
		return PLX_FULL;
	cm_send(cm, c, CM_SEND_SIDR_REQ);
	*id = (struct plx_cm_id){c->id};
	return PLX_OK;
}

/* ---- REP ---- */

static uint8_t
smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void
agree(struct cm_connection *c, const struct plx_cm_rep *rep)
{
	c->remote_id = rep->local_comm_id;
	c->ca_guid = rep->local_ca_guid;
	c->peer.info.remote_qpn = rep->local_qpn;
	c->peer.psn = rep->starting_psn;
	c->peer.info.path_mtu = c->own.path_mtu;
	c->peer.info.responder_resources =
		smaller(c->own.responder_resources, rep->initiator_depth);
	c->peer.info.initiator_depth = smaller(c->own.initiator_depth, rep->responder_resources);
	if (PLX_MUTANT(CM_READS_OF_ONE_SIDE))
		c->peer.info.initiator_depth = c->own.initiator_depth;
	c->peer.info.rnr_retry = rep->rnr_retry_count;
	c->peer.info.retry = c->own.retry;
	c->peer.info.ack_timeout = c->own.ack_timeout;
	c->peer.info.srq = rep->srq;
	c->peer.selective = c->own.selective && cm_key_is_selective(rep->local_qkey);
}

static enum plx_cm_verdict
first_rep(struct plx_cm *cm, struct cm_connection *c, const struct plx_cm_rep *rep, uint64_t now)
{
	struct cm_connection *stale;

	if (!cm_qpn_is_good(rep->local_qpn) || rep->local_comm_id == 0)
		return PLX_CM_INVALID;
	stale = cm_find_qp(cm, &c->peer.info.remote, rep->local_ca_guid, rep->local_qpn);
	agree(c, rep);
	if (stale) {
		cm_forgotten(cm, stale, now);
		cm_end(cm, c, PLX_CM_EVENT_REJECTED, PLX_CM_REASON_STALE, now);
		cm_reject(cm, c, PLX_CM_ABOUT_REP, PLX_CM_REASON_STALE);
		return PLX_CM_REFUSED;
	}
	cm_private_keep(c, rep->private_data, PLX_CM_PRIVATE_REP);
	c->private_of = CM_PENDING_REPLIED;
	cm_insert_qp(cm, c);
	c->state = CM_REP_RCVD;
	cm_send_cancel(c);
	cm_timer_set(cm, c, CM_TIMER_CONSUMER, now);
	cm_raise_event(cm, c, CM_PENDING_REPLIED);
	return PLX_CM_TAKEN;
}

static enum plx_cm_verdict
repeated_rep(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	if (c->state == CM_REP_RCVD) {
		cm_timer_set(cm, c, CM_TIMER_CONSUMER, now);
		cm_send(cm, c, CM_SEND_MRA);
	} else if (c->state == CM_ESTABLISHED && !PLX_MUTANT(CM_RTU_NOT_REPEATED)) {
		cm_send(cm, c, CM_SEND_RTU);
	} else if (c->state == CM_TIMEWAIT && c->reject) {
		cm_send(cm, c, CM_SEND_REJ);
	}
	return PLX_CM_REPEATED;
}

/*
 * A REP for an unknown connection, or for one that has received a different REP, is answered by a
 * REJ, so that the peer need not wait for an RTU. IBTA 12.9.8.3.
 */
enum plx_cm_verdict
cm_on_rep(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	const struct plx_cm_rep *rep = &msg->rep;
	struct cm_connection *c = cm_find(cm, rep->remote_comm_id);
	bool agreed;

	if (c && !cm_named(cm, route, c->id))
		return PLX_CM_UNKNOWN;
	agreed = c && c->active && c->remote_id == rep->local_comm_id;
	if (c && c->state == CM_REQ_SENT)
		return first_rep(cm, c, rep, now);
	if (agreed && (c->state != CM_TIMEWAIT || c->reject))
		return repeated_rep(cm, c, now);
	if (c && c->state != CM_TIMEWAIT && !c->active)
		return PLX_CM_UNKNOWN;
	cm_send_stateless_rej(cm, route, msg, PLX_CM_REASON_INVALID_COMM_ID, now);
	return PLX_CM_UNKNOWN;
}

/* ---- our program establishes ---- */

enum plx_status
plx_cm_establish(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	(void)now;
	if (!c || c->state != CM_REP_RCVD)
		return PLX_STATE;
	cm_establish(cm, c);
	cm_send(cm, c, CM_SEND_RTU);
	return PLX_OK;
}

/* The chain may contain others; each entry is checked. */
void
plx_cm_on_unreachable(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now)
{
	struct plx_ip ip = plx_ip_canonical(remote);
	struct plx_list *head = cm_req_sent_to(cm, &ip);
	struct plx_list *node, *after;

	plx_list_for_each (node, after, head) {
		struct cm_connection *c = plx_list_entry(node, struct cm_connection, by_qp);

		if ((c->state == CM_REQ_SENT || c->state == CM_SIDR_REQ_SENT) &&
		    plx_ip_equal(&c->peer.info.remote, &ip))
			cm_end(cm, c, PLX_CM_EVENT_UNREACHABLE, 0, now);
	}
}
