/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections that outlive their objects. An unanswered disconnect is retransmitted until the peer
 * answers, for at most PLX_SESSION_LINGER_MS after the last user of the session has left or process
 * exit has begun. It never keeps an object of an interface. Start with session_linger_all().
 */
#include <stdlib.h>

#include "internal.h"

struct lingering {
	struct plx_session_subscriber subscriber;
	struct plx_connector *connector;
	struct plx_list node;
};

#define NAP_NS        (PLX_MSEC / 5)
#define ANSWER_NAP_NS (PLX_MSEC / 50)
#define ANSWER_NS     (PLX_SESSION_ANSWER_MS * PLX_MSEC)

static void
forget(struct plx_session *session, struct lingering *lingering)
{
	plx_list_remove(&lingering->node);
	plx_session_destroy_connector(session, lingering->connector);
	free(lingering);
}

void
session_linger_stop(struct plx_session *session)
{
	struct plx_list *node, *after;

	pthread_mutex_lock(&session->events);
	plx_list_for_each (node, after, &session->lingering)
		forget(session, plx_list_entry(node, struct lingering, node));
	pthread_mutex_unlock(&session->events);
}

/* Any event means that the connection has ended. */
static void
on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
	 const struct plx_connector_event *event)
{
	(void)event;
	forget(session, plx_list_entry(subscriber, struct lingering, subscriber));
}

void
plx_session_linger(struct plx_session *session, struct plx_connector *connector)
{
	struct lingering *lingering = malloc(sizeof(*lingering));

	/* Out of memory. The peer has been notified once, and the connection manager retransmits
	 * while the adapter is open. */
	if (!lingering) {
		plx_session_destroy_connector(session, connector);
		return;
	}
	*lingering = (struct lingering){.subscriber = {on_event}, .connector = connector};
	plx_list_append(&session->lingering, &lingering->node);
	plx_connector_set_context(connector, (uintptr_t)&lingering->subscriber);
}

/* ---- waiting for an answer ---- */

static bool
is_done(struct plx_session *session, bool (*is_answered)(const void *context), const void *context)
{
	bool answered;

	pthread_mutex_lock(&session->events);
	plx_session_deliver_locked(session);
	answered = is_answered(context);
	pthread_mutex_unlock(&session->events);
	return answered;
}

void
plx_session_await_answer(struct plx_session *session, bool (*is_answered)(const void *context),
			 const void *context)
{
	const uint64_t until = plx_session_now_ns() + ANSWER_NS;
	struct plx_adapter_info now;

	while (!is_done(session, is_answered, context) && plx_session_now_ns() < until) {
		/* A memif's link is down once its peer has exited. */
		plx_adapter_query(session->adapter, &now);
		if (!now.link_up)
			return;
		if (!session->inline_mode)
			plx_session_nap(ANSWER_NAP_NS);
	}
}

/* ---- process exit ---- */

static void
disconnect_all(struct plx_session *session)
{
	pthread_mutex_lock(&session->events);
	if (session->hooks->disconnect)
		session->hooks->disconnect(session);
	pthread_mutex_unlock(&session->events);
}

static bool
all_answered(struct plx_session *session)
{
	bool answered;

	pthread_mutex_lock(&session->events);
	answered = plx_list_empty(&session->lingering) &&
		   (!session->hooks->is_disconnected || session->hooks->is_disconnected(session));
	pthread_mutex_unlock(&session->events);
	return answered;
}

void
session_linger_all(struct plx_session *session)
{
	const uint64_t until = plx_session_now_ns() + PLX_SESSION_LINGER_MS * PLX_MSEC;

	if (session->hooks->claim)
		session->hooks->claim(session);
	plx_session_deliver_events(session);
	disconnect_all(session);
	for (;;) {
		plx_session_deliver_events(session);
		if (all_answered(session) || plx_session_now_ns() >= until)
			return;
		plx_session_nap(NAP_NS);
	}
}
