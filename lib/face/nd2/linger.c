/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of a port's connections, and what of them outlives its objects: a disconnect that the
 * peer has not answered is sent again until it has, for ND2_LINGER_MS after the last adapter of the
 * port was released, or the process began to end.
 * It never keeps an object of a client. Start with nd2_connections_linger().
 */
#include <stdlib.h>
#include <time.h>

#include "nd2_connection.h"

struct lingering {
	struct nd2_party party;
	struct plx_connector *wire;
	struct plx_list node;
};

#define NAP_NS        (PLX_MSEC / 5)
#define ANSWER_NAP_NS (PLX_MSEC / 50)
#define ANSWER_NS     (ND2_ANSWER_MS * PLX_MSEC)

HRESULT
nd2_connections_start(struct nd2_port *port)
{
	struct nd2_connection_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return ND_NO_MEMORY;
	plx_list_init(&tables->connectors);
	plx_list_init(&tables->lingering);
	port->tables = tables;
	return ND_SUCCESS;
}

static void
forget(struct nd2_port *port, struct lingering *lingering)
{
	plx_list_remove(&lingering->node);
	nd2_wire_end(port, lingering->wire);
	free(lingering);
}

void
nd2_connections_stop(struct nd2_port *port)
{
	struct plx_list *node, *after;

	pthread_mutex_lock(&port->events);
	plx_list_for_each (node, after, &port->tables->lingering)
		forget(port, plx_list_entry(node, struct lingering, node));
	free(port->tables);
	port->tables = NULL;
	pthread_mutex_unlock(&port->events);
}

void
nd2_linger(struct nd2_port *port, struct plx_connector *wire)
{
	struct lingering *lingering = malloc(sizeof(*lingering));

	/* The peer was told once; and is again by the manager below, as long as the adapter is
	 * open. */
	if (!lingering) {
		nd2_wire_end(port, wire);
		return;
	}
	*lingering = (struct lingering){.party = {ND2_PARTY_LINGERING}, .wire = wire};
	plx_list_append(&port->tables->lingering, &lingering->node);
	plx_connector_set_context(wire, (uintptr_t)&lingering->party);
}

void
nd2_linger_ends(struct nd2_port *port, struct nd2_party *party)
{
	forget(port, plx_list_entry(party, struct lingering, party));
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
	struct nd2_port *port = connector->adapter->port;
	bool answered;

	pthread_mutex_lock(&port->events);
	nd2_connections_deliver(port);
	answered = connector->state != ND2_LOCAL_DISC || !connector->wire;
	pthread_mutex_unlock(&port->events);
	return answered;
}

void
nd2_await_answer(struct nd2_connector *connector)
{
	const struct timespec nap = {.tv_nsec = ANSWER_NAP_NS};
	const uint64_t until = now_ns() + ANSWER_NS;
	struct nd2_port *port = connector->adapter->port;
	struct plx_adapter_info now;

	while (!is_answered(connector) && now_ns() < until) {
		/* A memif's link is down when its peer has ended. */
		plx_adapter_query(port->adapter, &now);
		if (!now.link)
			return;
		if (!port->inline_mode)
			nanosleep(&nap, NULL);
	}
}

/* ---- the end ------------------------------------------------------------------------------------
 */

/* Whoever is connected is disconnected, as if its queue pair had been released. */
static void
part_all(struct nd2_port *port)
{
	struct plx_list *node, *after;

	pthread_mutex_lock(&port->events);
	plx_list_for_each (node, after, &port->tables->connectors) {
		struct nd2_connector *connector = plx_list_entry(node, struct nd2_connector, node);

		if (connector->state != ND2_ESTABLISHED)
			continue;
		(void)nd2_connector_part(connector);
		nd2_connector_apply(connector, nd2_step(connector->state, ND2_ON_QP_RELEASE), NULL);
	}
	pthread_mutex_unlock(&port->events);
}

static bool
all_answered(struct nd2_port *port)
{
	struct plx_list *node, *after;
	bool answered;

	pthread_mutex_lock(&port->events);
	answered = plx_list_empty(&port->tables->lingering);
	plx_list_for_each (node, after, &port->tables->connectors) {
		const struct nd2_connector *connector =
			plx_list_entry(node, struct nd2_connector, node);

		if (connector->wire &&
		    (connector->state == ND2_LOCAL_DISC || connector->state == ND2_PEER_DISC))
			answered = false;
	}
	pthread_mutex_unlock(&port->events);
	return answered;
}

void
nd2_connections_linger(struct nd2_port *port)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const uint64_t until = now_ns() + ND2_LINGER_MS * PLX_MSEC;

	nd2_port_mine(port);
	nd2_port_events(port);
	part_all(port);
	for (;;) {
		nd2_port_events(port);
		if (all_answered(port) || now_ns() >= until)
			return;
		nanosleep(&nap, NULL);
	}
}
