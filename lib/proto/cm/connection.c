/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transitions that all states of a connection share: it is established, it ends, it is remembered
 * for a while. It never interprets a message; the caller has decided.
 * Start with cm_end(): a connection ends there and nowhere else.
 */
#include "connection.h"

struct cm_connection *
cm_named(const struct plx_cm *cm, const struct plx_cm_route *route, uint32_t our_id)
{
	struct cm_connection *c = cm_find(cm, our_id);

	if (c && plx_ip_equal(&c->peer.info.remote, &route->remote) &&
	    plx_ip_equal(&c->peer.info.local, &route->local))
		return c;
	return NULL;
}

void
cm_raise_event(struct plx_cm *cm, struct cm_connection *c, enum cm_pending event)
{
	if (c->orphan)
		return;
	c->pending |= (uint8_t)(1u << event);
	if (plx_list_empty(&c->event))
		plx_list_append(&cm->event, &c->event);
}

void
cm_half_open_ends(struct plx_cm *cm, struct cm_connection *c, bool done)
{
	if (!c->source)
		return;
	cm_source_release(cm, c->source, done);
	c->source = NULL;
	if (done || !PLX_MUTANT(CM_HALF_OPEN_LEAKS))
		cm->half_open--;
	if (c->listener)
		c->listener->waiting--;
	c->listener = NULL;
	plx_list_remove(&c->group);
}

void
cm_establish(struct plx_cm *cm, struct cm_connection *c)
{
	cm_half_open_ends(cm, c, true);
	cm_send_cancel(c);
	cm_timer_clear(c);
	c->state = CM_ESTABLISHED;
	cm_established_count(cm, &c->peer.info.remote, true);
	plx_count(&cm->counters.established, 1);
}

/* ---- the end ---- */

static void
evict_oldest(struct plx_cm *cm)
{
	struct cm_connection *oldest =
		plx_list_entry(cm->timewait.next, struct cm_connection, group);

	cm->retired--;
	cm_free(cm, oldest);
}

/* It no longer counts as a connection, and is freed when TimeWait is over. */
void
cm_retire(struct plx_cm *cm, struct cm_connection *c)
{
	PLX_ASSERT(c->state == CM_TIMEWAIT && !c->retired);
	cm->connections--;
	cm_holder_put(cm, c);
	if (c->expired) {
		cm_free(cm, c);
		return;
	}
	if (cm->retired == cm->retired_max)
		evict_oldest(cm);
	c->retired = true;
	cm->retired++;
	plx_list_append(&cm->timewait, &c->group);
}

void
cm_end(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint16_t reason,
       uint64_t now)
{
	bool undelivered = c->state == CM_REQ_RCVD && !c->delivered;

	if (c->state == CM_ESTABLISHED)
		cm_established_count(cm, &c->peer.info.remote, false);
	cm_half_open_ends(cm, c, false);
	cm_send_cancel(c);
	plx_list_remove(&c->by_qp);
	c->expired = c->state == CM_SIDR_REQ_SENT;
	c->state = CM_TIMEWAIT;
	cm_timer_clear(c);
	if (!c->expired)
		cm_timer_set(cm, c, CM_TIMER_TIMEWAIT, now);
	if (undelivered) {
		c->pending = 0;
		plx_list_remove(&c->event);
	} else if (kind != PLX_CM_EVENT_NOTHING && !c->orphan) {
		c->end_kind = (uint8_t)kind;
		c->reason = reason;
		cm_raise_event(cm, c, CM_PENDING_END);
	}
	if (!c->pending)
		cm_retire(cm, c);
}

void
cm_reject(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_about about,
	  enum plx_cm_reason reason)
{
	PLX_ASSERT(c->state == CM_TIMEWAIT);
	c->about = (uint8_t)about;
	c->reject = (uint16_t)reason;
	if (!c->active)
		plx_count(&cm->counters.rejected, 1);
	cm_send(cm, c, CM_SEND_REJ);
}

/* A peer that never received a message of ours needs no REJ. */
void
cm_give_up(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint64_t now)
{
	bool unsent = c->state == CM_SIDR_REQ_SENT || (c->active && !c->sent);
	enum plx_cm_about about = c->state == CM_REQ_RCVD   ? PLX_CM_ABOUT_REQ
				  : c->state == CM_REP_RCVD ? PLX_CM_ABOUT_REP
							    : PLX_CM_ABOUT_NONE;

	cm_end(cm, c, kind, 0, now);
	if (!unsent)
		cm_reject(cm, c, about, PLX_CM_REASON_TIMEOUT);
}

void
cm_disconnect(struct plx_cm *cm, struct cm_connection *c, bool orphan)
{
	if (c->state == CM_ESTABLISHED)
		cm_established_count(cm, &c->peer.info.remote, false);
	c->unconfirmed = c->state == CM_REP_SENT;
	cm_half_open_ends(cm, c, false);
	/* A pending RTU is still sent, before the DREQ. */
	c->sends &= (uint8_t)(1u << CM_SEND_RTU);
	cm_timer_clear(c);
	c->state = CM_DREQ_SENT;
	c->orphan = orphan;
	c->tries = 0;
	c->tries_max = PLX_CM_DISCONNECT_TRIES;
	/* Without a reply the connection ends all the same. */
	if (c->response > PLX_CM_RESPONSE_TIMEOUT)
		c->response = PLX_CM_RESPONSE_TIMEOUT;
	cm_send(cm, c, CM_SEND_DREQ);
}

void
cm_break(struct plx_cm *cm, struct cm_connection *c)
{
	c->end_kind = PLX_CM_EVENT_DISCONNECTED;
	cm_raise_event(cm, c, CM_PENDING_END);
	cm_disconnect(cm, c, true);
	plx_count(&cm->counters.disconnected, 1);
}

/*
 * A message suggests that the peer has lost this connection. Anyone who knows the peer's address
 * and queue pair can send such a message. So if the connection is established, we ask the peer: we
 * send it a DREQ with both ids and a wrong queue pair. A peer that knows the connection drops it as
 * invalid; one that does not (Linux, too) replies with a DREP with both ids, which only the
 * receiver of the DREQ can. The DREP ends the connection: cm_on_drep().
 * Spec: IBTA vol 1, 12.9.8.3.1 (which ends it at once).
 */
void
cm_forgotten(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	plx_count(&cm->counters.stale, 1);
	if (c->state == CM_ESTABLISHED && PLX_MUTANT(CM_STRANGER_ENDS_IT)) {
		cm_break(cm, c);
	} else if (c->state == CM_ESTABLISHED) {
		cm_send(cm, c, CM_SEND_DREQ);
	} else if (c->state == CM_DREQ_SENT) {
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
	} else { /* this was the newer one, and the message was late: the peer gets a REJ */
		cm_end(cm, c, PLX_CM_EVENT_ABORTED, 0, now);
		cm_reject(cm, c, c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ,
			  PLX_CM_REASON_STALE);
	}
}
