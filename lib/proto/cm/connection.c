/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every connection's life has in common: it comes alive, it ends, it is remembered for a
 * while. It never looks at a message; who calls it has decided. Start with cm_end(): a connection
 * ends there and nowhere else.
 */
#include "connection.h"

struct cm_connection *
cm_named(const struct plx_cm *cm, const struct plx_cm_route *route, uint32_t our_id)
{
	struct cm_connection *c = cm_find(cm, our_id);

	if (c && cm_same_ip(&c->peer.remote, &route->remote) &&
	    cm_same_ip(&c->peer.local, &route->local))
		return c;
	return NULL;
}

void
cm_tell(struct plx_cm *cm, struct cm_connection *c, enum cm_event event)
{
	if (c->orphan)
		return;
	c->tells |= (uint8_t)(1u << event);
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
	cm_send_nothing(c);
	cm_timer_clear(c);
	c->state = CM_LIVING;
	cm_living_count(cm, &c->peer.remote, true);
	plx_count(&cm->counters.established, 1);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void
evict_oldest(struct plx_cm *cm)
{
	struct cm_connection *oldest = plx_list_entry(cm->ended.next, struct cm_connection, group);

	cm->remains--;
	cm_free(cm, oldest);
}

/* A connection's place becomes one among the remains; or is free, when its time is over. */
void
cm_retire(struct plx_cm *cm, struct cm_connection *c)
{
	PLX_ASSERT(c->state == CM_ENDED && !c->remains);
	cm->connections--;
	cm_hold_no_more(cm, c);
	if (c->expired) {
		cm_free(cm, c);
		return;
	}
	if (cm->remains == cm->remains_max)
		evict_oldest(cm);
	c->remains = true;
	cm->remains++;
	plx_list_append(&cm->ended, &c->group);
}

void
cm_end(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint16_t reason,
       uint64_t now)
{
	bool nobody_knows = c->state == CM_REQUESTED && !c->told;

	if (c->state == CM_LIVING)
		cm_living_count(cm, &c->peer.remote, false);
	cm_half_open_ends(cm, c, false);
	cm_send_nothing(c);
	plx_list_remove(&c->by_qp);
	c->expired = c->state == CM_SEEKING;
	c->state = CM_ENDED;
	cm_timer_clear(c);
	if (!c->expired)
		cm_timer_set(cm, c, CM_TIMER_TIME_WAIT, now);
	if (nobody_knows) {
		c->tells = 0;
		plx_list_remove(&c->event);
	} else if (kind != PLX_CM_EVENT_NOTHING && !c->orphan) {
		c->end_kind = (uint8_t)kind;
		c->reason = reason;
		cm_tell(cm, c, CM_TELL_END);
	}
	if (!c->tells)
		cm_retire(cm, c);
}

void
cm_reject(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_about about,
	  enum plx_cm_reason reason)
{
	PLX_ASSERT(c->state == CM_ENDED);
	c->about = (uint8_t)about;
	c->reject = (uint16_t)reason;
	if (!c->active)
		plx_count(&cm->counters.rejected, 1);
	cm_send(cm, c, CM_SEND_REJ);
}

/* Who never heard of us need not be told. */
void
cm_give_up(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint64_t now)
{
	bool unheard = c->state == CM_SEEKING || (c->active && !c->sent);
	enum plx_cm_about about = c->state == CM_REQUESTED ? PLX_CM_ABOUT_REQ
				  : c->state == CM_REPLIED ? PLX_CM_ABOUT_REP
							   : PLX_CM_ABOUT_NONE;

	cm_end(cm, c, kind, 0, now);
	if (!unheard)
		cm_reject(cm, c, about, PLX_CM_REASON_TIMEOUT);
}

void
cm_leave(struct plx_cm *cm, struct cm_connection *c, bool orphan)
{
	if (c->state == CM_LIVING)
		cm_living_count(cm, &c->peer.remote, false);
	c->unconfirmed = c->state == CM_ACCEPTED;
	cm_half_open_ends(cm, c, false);
	/* An RTU that waits still goes out, before the DREQ. */
	c->sends &= (uint8_t)(1u << CM_SEND_RTU);
	cm_timer_clear(c);
	c->state = CM_LEAVING;
	c->orphan = orphan;
	c->tries = 0;
	c->tries_max = PLX_CM_DISCONNECT_TRIES;
	/* Who does not answer is left all the same. */
	if (c->response > PLX_CM_RESPONSE_TIMEOUT)
		c->response = PLX_CM_RESPONSE_TIMEOUT;
	cm_send(cm, c, CM_SEND_DREQ);
}

void
cm_break(struct plx_cm *cm, struct cm_connection *c)
{
	c->end_kind = PLX_CM_EVENT_DISCONNECTED;
	cm_tell(cm, c, CM_TELL_END);
	cm_leave(cm, c, true);
	plx_count(&cm->counters.disconnected, 1);
}

/*
 * Somebody speaks as if a peer had forgotten this connection. Of one that lives that may be anybody
 * who knows the peer's address and queue pair, so the peer is asked: by a DREQ with both ids and a
 * queue pair that is not its own. Who knows the connection drops that as wrong; who does not
 * answers DREP and says both ids (Linux, too), which nobody can who has not heard the question. The
 * answer ends it: cm_on_drep(). Spec: IBTA vol 1, 12.9.8.3.1 (which ends it at once).
 */
void
cm_forgotten(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	plx_count(&cm->counters.stale, 1);
	if (c->state == CM_LIVING && PLX_MUTANT(CM_STRANGER_ENDS_IT)) {
		cm_break(cm, c);
	} else if (c->state == CM_LIVING) {
		cm_send(cm, c, CM_SEND_DREQ);
	} else if (c->state == CM_LEAVING) {
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
	} else { /* it was the newer one that came late: who still asks must be answered */
		cm_end(cm, c, PLX_CM_EVENT_ABORTED, 0, now);
		cm_reject(cm, c, c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ,
			  PLX_CM_REASON_STALE);
	}
}
