/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of a session's connections, and what of them outlives its objects: a disconnect that
 * the peer has not answered is sent again until it has, for ND2_LINGER_MS after the last adapter of
 * the session was released, or the process began to end. It never keeps an object of a client.
 * Start with nd2_connections_linger().
 */
#include <stdlib.h>
#include <time.h>

#include "nd2_connection.h"

struct lingering {
	struct nd2_subscriber subscriber;
	struct plx_connector *connector;
	struct plx_list node;
};

#define NAP_NS        (PLX_MSEC / 5)
#define ANSWER_NAP_NS (PLX_MSEC / 50)
#define ANSWER_NS     (ND2_ANSWER_MS * PLX_MSEC)

HRESULT
nd2_connections_start(struct nd2_session *session)
{
	struct nd2_connection_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return ND_NO_MEMORY;
	plx_list_init(&tables->connectors);
	plx_list_init(&tables->lingering);
	session->tables = tables;
	return ND_SUCCESS;
}

static void
forget(struct nd2_session *session, struct lingering *lingering)
{
	plx_list_remove(&lingering->node);
	nd2_destroy_connector(session, lingering->connector);
	free(lingering);
}

void
nd2_connections_stop(struct nd2_session *session)
{
	struct plx_list *node, *after;

	pthread_mutex_lock(&session->events);
	plx_list_for_each (node, after, &session->tables->lingering)
		forget(session, plx_list_entry(node, struct lingering, node));
	free(session->tables);
	session->tables = NULL;
	pthread_mutex_unlock(&session->events);
}

void
nd2_linger(struct nd2_session *session, struct plx_connector *connector)
{
	struct lingering *lingering = malloc(sizeof(*lingering));

	/* The peer was told once; and is again by the manager below, as long as the adapter is
	 * open. */
	if (!lingering) {
		nd2_destroy_connector(session, connector);
		return;
	}
	*lingering = (struct lingering){.subscriber = {ND2_SUBSCRIBER_LINGERING},
					.connector = connector};
	plx_list_append(&session->tables->lingering, &lingering->node);
	plx_connector_set_context(connector, (uintptr_t)&lingering->subscriber);
}

void
nd2_linger_end(struct nd2_session *session, struct nd2_subscriber *subscriber)
{
	forget(session, plx_list_entry(subscriber, struct lingering, subscriber));
}

/* ---- an answer that is waited for ---------------------------------------------------------------
 */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PLX_SEC + (uint64_t)now.tv_nsec;
}

static bool
is_answered(struct nd2_connector *connector)
{
	struct nd2_session *session = connector->adapter->session;
	bool answered;

	pthread_mutex_lock(&session->events);
	nd2_connections_deliver(session);
	answered = connector->state != ND2_LOCAL_DISC || !connector->connector;
	pthread_mutex_unlock(&session->events);
	return answered;
}

void
nd2_await_answer(struct nd2_connector *connector)
{
	const struct timespec nap = {.tv_nsec = ANSWER_NAP_NS};
	const uint64_t until = now_ns() + ANSWER_NS;
	struct nd2_session *session = connector->adapter->session;
	struct plx_adapter_info now;

	while (!is_answered(connector) && now_ns() < until) {
		/* A memif's link is down when its peer has ended. */
		plx_adapter_query(session->adapter, &now);
		if (!now.link_up)
			return;
		if (!session->inline_mode)
			nanosleep(&nap, NULL);
	}
}

/* ---- the end ------------------------------------------------------------------------------------
 */

/* Whoever is connected is disconnected, as if its queue pair had been released. */
static void
disconnect_all(struct nd2_session *session)
{
	struct plx_list *node, *after;

	pthread_mutex_lock(&session->events);
	plx_list_for_each (node, after, &session->tables->connectors) {
		struct nd2_connector *connector = plx_list_entry(node, struct nd2_connector, node);

		if (connector->state != ND2_ESTABLISHED)
			continue;
		(void)nd2_connector_send_disconnect(connector);
		nd2_connector_apply(connector, nd2_step(connector->state, ND2_ON_QP_RELEASE), NULL);
	}
	pthread_mutex_unlock(&session->events);
}

static bool
all_answered(struct nd2_session *session)
{
	struct plx_list *node, *after;
	bool answered;

	pthread_mutex_lock(&session->events);
	answered = plx_list_empty(&session->tables->lingering);
	plx_list_for_each (node, after, &session->tables->connectors) {
		const struct nd2_connector *connector =
			plx_list_entry(node, struct nd2_connector, node);

		if (connector->connector &&
		    (connector->state == ND2_LOCAL_DISC || connector->state == ND2_PEER_DISC))
			answered = false;
	}
	pthread_mutex_unlock(&session->events);
	return answered;
}

void
nd2_connections_linger(struct nd2_session *session)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const uint64_t until = now_ns() + ND2_LINGER_MS * PLX_MSEC;

	nd2_session_claim(session);
	nd2_session_deliver_events(session);
	disconnect_all(session);
	for (;;) {
		nd2_session_deliver_events(session);
		if (all_answered(session) || now_ns() >= until)
			return;
		nanosleep(&nap, NULL);
	}
}
