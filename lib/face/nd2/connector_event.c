/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What becomes of a connector: the effects of its steps, and the events that come from the peer.
 * It never decides where a connector goes next: connector_state.c does. Everything here runs with
 * nd2_port.events held. Start with nd2_connection_event().
 */
#include <ntstatus.h>

#include "nd2_connection.h"

/* ---- queue pairs --------------------------------------------------------------------------------
 */

void
nd2_connector_attach(struct nd2_connector *connector, struct nd2_qp *qp)
{
	nd2_hold(&qp->object);
	connector->qp = qp;
	qp->connector = connector;
	atomic_store(&qp->taken, true);
}

static void
detach(struct nd2_connector *connector, bool broken)
{
	struct nd2_qp *qp = connector->qp;

	if (!qp)
		return;
	connector->qp = NULL;
	qp->connector = NULL;
	if (broken)
		atomic_store(&qp->broken, true);
	atomic_store(&qp->taken, false);
	nd2_unhold(&qp->object);
}

enum plx_status
nd2_connector_part(struct nd2_connector *connector)
{
	enum plx_status status;
	struct plx_qp_info info;

	/* The end of the wire, or of the queue pair, tells the peer when the engine runs again. */
	if (nd2_stands_still(connector->adapter->port))
		return PLX_TIMEOUT;
	status = plx_disconnect(connector->wire);
	/* The engine's next answer says that the message has left: the process may end now. */
	if (status == PLX_OK)
		(void)!plx_qp_query(connector->qp->qp, &info);
	return status;
}

/* ---- what a step does ---------------------------------------------------------------------------
 */

/*
 * How much the peer has said. The wire does not tell: its field is filled up with zeros, and has
 * more room in a reply than MaxCalleeData, which is what a program's buffer has. Nothing else is
 * taken off, since zeros may be what was said.
 */
static uint32_t
length_of_words(const struct plx_channel_event *event, uint32_t most)
{
	for (uint32_t i = most; i < event->private_bytes; i++)
		if (event->private_data[i] != 0)
			return event->private_bytes;
	return event->private_bytes < most ? event->private_bytes : most;
}

static void
keep(struct nd2_connector *connector, const struct plx_channel_event *event)
{
	const struct plx_connection *agreed = &event->connection;
	const ND2_ADAPTER_INFO *limits = &connector->adapter->port->limits;
	struct nd2_words *heard = &connector->heard;
	bool answered =
		event->kind == PLX_CM_EVENT_REQUESTED || event->kind == PLX_CM_EVENT_REPLIED;

	/* A manager that refuses, and not its program, has nothing to say. */
	heard->there = true;
	heard->bytes = answered || event->reason == PLX_CM_REASON_CONSUMER
			       ? length_of_words(event, limits->MaxCalleeData)
			       : 0;
	memcpy(heard->data, event->private_data, heard->bytes);
	if (!answered)
		return;
	connector->terms = (struct nd2_terms){
		.local = agreed->local,
		.remote = agreed->remote,
		.local_port = agreed->local_port,
		.remote_port = agreed->remote_port,
		.inbound = agreed->responder_res < limits->MaxInboundReadLimit
				   ? agreed->responder_res
				   : (uint8_t)limits->MaxInboundReadLimit,
		.outbound = agreed->rd_atomic < limits->MaxOutboundReadLimit
				    ? agreed->rd_atomic
				    : (uint8_t)limits->MaxOutboundReadLimit,
	};
}

static void
tell_notifies(struct nd2_connector *connector, HRESULT status)
{
	uint32_t n = connector->notifies;

	connector->notifies = 0;
	for (uint32_t i = 0; i < n; i++)
		plx_pending_finish(connector->notify[i], status, 0);
}

static void
leave_wire(struct nd2_connector *connector, bool lingers)
{
	struct plx_connector *wire = connector->wire;

	connector->wire = NULL;
	if (wire && lingers)
		nd2_linger(connector->adapter->port, wire);
	else if (wire)
		nd2_wire_end(connector->adapter->port, wire);
}

/* The connection is told of first, ended then, and its requests come last: who hears of the end may
 * release everything. */
void
nd2_connector_apply(struct nd2_connector *connector, struct nd2_step step,
		    const struct plx_channel_event *event)
{
	struct plx_pending *request = connector->request;

	connector->state = step.next;
	if (step.effects & ND2_DO_KEEP && event)
		keep(connector, event);
	if (step.effects & ND2_DO_FORGET)
		connector->heard = (struct nd2_words){0};
	if (step.effects & ND2_DO_TELL_PEER)
		tell_notifies(connector, ND_SUCCESS);
	if (step.effects & ND2_DO_TELL_LOCAL)
		tell_notifies(connector, (HRESULT)STATUS_CONNECTION_DISCONNECTED);
	if (step.effects & (ND2_DO_END | ND2_DO_LINGER))
		leave_wire(connector, step.effects & ND2_DO_LINGER);
	if (step.effects & (ND2_DO_DETACH | ND2_DO_BREAK))
		detach(connector, step.effects & ND2_DO_BREAK);
	if (step.effects & ND2_DO_FINISH && request) {
		connector->request = NULL;
		plx_pending_finish(request, step.status == ND_PENDING ? ND_SUCCESS : step.status,
				   0);
	}
}

/* ---- events -------------------------------------------------------------------------------------
 */

static enum nd2_event
event_of(const struct plx_channel_event *event)
{
	static const uint8_t events[PLX_CM_EVENT_COUNT] = {
		[PLX_CM_EVENT_REQUESTED] = ND2_ON_REQUEST,
		[PLX_CM_EVENT_REPLIED] = ND2_ON_REPLY,
		[PLX_CM_EVENT_REJECTED] = ND2_ON_REFUSAL,
		[PLX_CM_EVENT_UNREACHABLE] = ND2_ON_UNREACHABLE,
		[PLX_CM_EVENT_TIMED_OUT] = ND2_ON_TIMEOUT,
		[PLX_CM_EVENT_ABORTED] = ND2_ON_ABORT,
		[PLX_CM_EVENT_ESTABLISHED] = ND2_ON_ESTABLISHED,
		[PLX_CM_EVENT_DISCONNECTED] = ND2_ON_PEER_DISCONNECT,
		[PLX_CM_EVENT_CLOSED] = ND2_ON_CLOSED,
		/* SIDR_REPLY, NOTHING: we ask for none */
	};

	if (event->kind == PLX_CM_EVENT_REJECTED && event->reason == PLX_CM_REASON_TIMEOUT)
		return ND2_ON_TIMEOUT;
	return event->kind < PLX_COUNT_OF(events) ? (enum nd2_event)events[event->kind]
						  : ND2_NO_EVENT;
}

/*
 * A refusal that a client of ND2 could do nothing about: a path MTU that the peer's port does not
 * carry. Returns: it is asked again, with the next smaller one
 */
static bool
ask_again(struct nd2_connector *connector, const struct plx_channel_event *event)
{
	struct plx_connect_options *options = &connector->asked;
	uint32_t mtu =
		options->path_mtu ? options->path_mtu : connector->adapter->port->info.path_mtu;
	struct plx_why why = {""};

	if (event->kind != PLX_CM_EVENT_REJECTED || connector->state != ND2_REQ_SENT ||
	    event->reason != PLX_CM_REASON_PATH_MTU || mtu <= ND2_PATH_MTU_LEAST)
		return false;
	options->path_mtu = mtu / 2;
	return plx_connect(connector->wire, connector->qp->qp, options, &why) == PLX_OK;
}

void
nd2_connection_event(struct nd2_port *port, const struct plx_channel_event *event)
{
	struct nd2_party *party = (struct nd2_party *)(uintptr_t)event->context;
	struct nd2_connector *connector;

	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		nd2_listener_asked((struct nd2_listener *)(uintptr_t)event->context, event);
		return;
	}
	switch (party ? party->kind : ND2_PARTY_NONE) {
	case ND2_PARTY_CONNECTOR:
		connector = plx_list_entry(party, struct nd2_connector, party);
		if (!ask_again(connector, event))
			nd2_connector_apply(connector, nd2_step(connector->state, event_of(event)),
					    event);
		break;
	case ND2_PARTY_WAITING:
		nd2_waiting_ends(party);
		break;
	case ND2_PARTY_LINGERING:
		nd2_linger_ends(port, party);
		break;
	case ND2_PARTY_NONE:
		break;
	}
}

void
nd2_connections_deliver(struct nd2_port *port)
{
	struct plx_channel_event event;

	while (plx_channel_next(port->channel, &event))
		nd2_connection_event(port, &event);
}

void
nd2_connection_of_qp_ends(struct nd2_qp *qp)
{
	struct nd2_port *port = qp->adapter->port;
	struct nd2_connector *connector;
	struct nd2_step step;

	pthread_mutex_lock(&port->events);
	connector = qp->connector;
	if (connector) {
		step = nd2_step(connector->state, ND2_ON_QP_RELEASE);
		if (connector->state == ND2_ESTABLISHED)
			(void)nd2_connector_part(connector);
		nd2_connector_apply(connector, step, NULL);
	}
	pthread_mutex_unlock(&port->events);
}
