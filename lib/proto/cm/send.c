/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is sent next, what counts as a try, and what happens on a timeout. It never writes a field
 * of a message: message.c does.
 * Start with plx_cm_transmit().
 *
 * REQ, REP, DREQ and SIDR REQ need a reply: each try starts a timer when it is sent, and the number
 * of tries is limited. All other messages are replies, repeated when the request is.
 */
#include "connection.h"

static const uint8_t wants_answer =
	1u << CM_SEND_REQ | 1u << CM_SEND_SIDR_REQ | 1u << CM_SEND_REP | 1u << CM_SEND_DREQ;

void
cm_send(struct plx_cm *cm, struct cm_connection *c, enum cm_message message)
{
	if (c->held && message == CM_SEND_REP)
		return;
	c->sends |= (uint8_t)(1u << message);
	if (plx_list_empty(&c->send))
		plx_list_append(&cm->send, &c->send);
}

void
cm_send_cancel(struct cm_connection *c)
{
	c->sends = 0;
	plx_list_remove(&c->send);
}

/* A retransmission because of a duplicate from the peer, before the timer expired, is not a try. */
static void
on_sent(struct plx_cm *cm, struct cm_connection *c, enum cm_message message, uint64_t now)
{
	uint8_t bit = (uint8_t)(1u << message);

	plx_count(c->sent & bit ? &cm->counters.resent : &cm->counters.sent, 1);
	c->sent |= bit;
	/* On an established connection, a DREQ is a question that need not be answered. */
	if (wants_answer & bit && c->state != CM_ESTABLISHED && plx_list_empty(&c->timer)) {
		if (!PLX_MUTANT(CM_DREQ_FOR_EVER) || message != CM_SEND_DREQ)
			c->tries++;
		c->mra_rcvd = false;
		cm_timer_set(cm, c, cm_timer_response(c->response), now);
	}
}

static void
send_of_connection(struct plx_cm *cm, uint64_t now, struct plx_cm_route *route,
		   struct plx_cm_msg *msg)
{
	struct cm_connection *c = plx_list_entry(cm->send.next, struct cm_connection, send);
	enum cm_message message = (enum cm_message)__builtin_ctz(c->sends);

	c->sends &= (uint8_t)(c->sends - 1);
	plx_list_remove(&c->send);
	if (c->sends)
		plx_list_append(&cm->send, &c->send);
	cm_message_write(cm, c, message, msg);
	*route = (struct plx_cm_route){.local = c->peer.info.local, .remote = c->peer.info.remote};
	/*
	 * Until the connection is established, only its REQ shows where the peer is: use the REQ's
	 * link.
	 */
	if (c->has_link && c->state != CM_ESTABLISHED && c->state != CM_DREQ_SENT) {
		route->has_link = true;
		memcpy(route->link, c->link, sizeof route->link);
	}
	on_sent(cm, c, message, now);
}

static void
send_stateless(struct plx_cm *cm, struct plx_cm_route *route, struct plx_cm_msg *msg)
{
	const struct cm_stateless *answer = &cm->stateless[cm->stateless_first];

	*route = answer->route;
	*msg = answer->msg;
	cm->stateless_first = (cm->stateless_first + 1) % PLX_CM_STATELESS_MAX;
	cm->stateless_count--;
	plx_count(&cm->counters.sent, 1);
}

bool
plx_cm_transmit(struct plx_cm *cm, uint64_t now, struct plx_cm_route *route, uint8_t *out)
{
	bool waits = !plx_list_empty(&cm->send);
	struct plx_cm_msg msg;

	if (!waits && !cm->stateless_count)
		return false;
	cm->stateless_last = cm->stateless_count && !(cm->stateless_last && waits);
	if (cm->stateless_last)
		send_stateless(cm, route, &msg);
	else
		send_of_connection(cm, now, route, &msg);
	plx_mad_encode(&msg, out);
	return true;
}

/* ---- time ---- */

static void
on_no_reply(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	static const uint8_t again[CM_STATES] = {
		[CM_REQ_SENT] = CM_SEND_REQ,
		[CM_REP_SENT] = CM_SEND_REP,
		[CM_DREQ_SENT] = CM_SEND_DREQ,
		[CM_SIDR_REQ_SENT] = CM_SEND_SIDR_REQ,
	};

	if (c->tries < c->tries_max) {
		cm_send(cm, c, (enum cm_message)again[c->state]);
	} else if (c->state == CM_DREQ_SENT) {
		plx_count(&cm->counters.timeouts, 1);
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
	} else {
		plx_count(&cm->counters.timeouts, 1);
		cm_give_up(cm, c, PLX_CM_EVENT_TIMED_OUT, now);
	}
}

static void
on_timer(struct plx_cm *cm, struct cm_connection *c, uint64_t now)
{
	cm_timer_clear(c);
	if (c->state == CM_TIMEWAIT) {
		c->expired = true;
		if (c->retired) {
			cm->retired--;
			cm_free(cm, c);
		}
	} else if (c->state == CM_REQ_RCVD || c->state == CM_REP_RCVD) {
		plx_count(&cm->counters.timeouts, 1);
		cm_give_up(cm, c, PLX_CM_EVENT_ABORTED, now);
	} else {
		on_no_reply(cm, c, now);
	}
}

void
plx_cm_on_tick(struct plx_cm *cm, uint64_t now)
{
	int budget = PLX_CM_DUE_MAX;

	for (int timer = 0; timer < CM_TIMERS; timer++) {
		const struct plx_list *list = &cm->timer[timer];

		while (budget > 0 && !plx_list_empty(list)) {
			struct cm_connection *first =
				plx_list_entry(list->next, struct cm_connection, timer);

			if (now < first->deadline_ns)
				break;
			on_timer(cm, first, now);
			budget--;
		}
	}
}

uint64_t
plx_cm_wake_ns(const struct plx_cm *cm)
{
	uint64_t wake_ns = PLX_NEVER;

	if (cm->stateless_count || !plx_list_empty(&cm->send))
		return 0;
	for (int timer = 0; timer < CM_TIMERS; timer++) {
		const struct plx_list *list = &cm->timer[timer];

		if (!plx_list_empty(list))
			wake_ns = plx_time_min(
				wake_ns, plx_list_entry(list->next, struct cm_connection, timer)
						 ->deadline_ns);
	}
	return wake_ns;
}
