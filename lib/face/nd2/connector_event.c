/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The effects of a connector's steps, and the events of the peer.
 * connector_state.c alone decides the next state. Everything here runs with plx_session.events
 * held. Start with nd2_connector_on_event().
 */
#include <ntstatus.h>

#include "nd2_connection.h"

/* ---- queue pairs ---- */

void
nd2_connector_attach(struct nd2_connector *connector, struct nd2_qp *qp)
{
	nd2_object_get(&qp->object);
	connector->qp = qp;
	qp->connector = connector;
	atomic_store(&qp->claimed, true);
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
	atomic_store(&qp->claimed, false);
	nd2_object_put(&qp->object);
}

enum plx_status
nd2_connector_send_disconnect(struct nd2_connector *connector)
{
	enum plx_status status;
	struct plx_qp_info info;

	/* The engine is stalled: destroying the connector or the queue pair disconnects once it
	 * runs again. */
	if (plx_session_is_stalled(connector->object.adapter->session))
		return PLX_TIMEOUT;
	status = plx_disconnect(connector->connector);
	/* Once the engine answers, the DREQ has been sent, and the process may exit. */
	if (status == PLX_OK)
		(void)!plx_qp_query(connector->qp->qp, &info);
	return status;
}

/* ---- effects of a step ---- */

static void
keep_private_data(struct nd2_connector *connector, const struct plx_connector_event *event)
{
	const struct plx_connector_info *agreed = &event->info;
	const ND2_ADAPTER_INFO *limits = nd2_limits(connector->object.adapter->session);
	struct nd2_private_data *private_data = &connector->private_data;
	bool answered =
		event->kind == PLX_CM_EVENT_REQUESTED || event->kind == PLX_CM_EVENT_REPLIED;

	/* A REJ that was not sent by a program has no private data. */
	private_data->there = true;
	private_data->bytes = answered || event->reason == PLX_CM_REASON_CONSUMER
				      ? plx_session_private_bytes(event, limits->MaxCalleeData)
				      : 0;
	memcpy(private_data->data, event->private_data, private_data->bytes);
	if (!answered)
		return;
	connector->conn_param = (struct nd2_conn_param){
		.local = agreed->local,
		.remote = agreed->remote,
		.local_port = agreed->local_port,
		.remote_port = agreed->remote_port,
		.inbound = plx_session_read_limit(agreed->responder_resources,
						  limits->MaxInboundReadLimit),
		.outbound = plx_session_read_limit(agreed->initiator_depth,
						   limits->MaxOutboundReadLimit),
	};
}

static void
finish_notifies(struct nd2_connector *connector, HRESULT status)
{
	uint32_t n = connector->notifies;

	connector->notifies = 0;
	for (uint32_t i = 0; i < n; i++)
		plx_pending_finish(connector->notify[i], status, 0);
}

static void
release_connector(struct nd2_connector *connector, bool lingers)
{
	struct plx_connector *lower = connector->connector;

	connector->connector = NULL;
	if (lower && lingers)
		plx_session_linger(connector->object.adapter->session, lower);
	else if (lower)
		plx_session_destroy_connector(connector->object.adapter->session, lower);
}

/* Report the connection first, then end it, and finish its requests last: a client that is notified
 * of the end may release everything. */
void
nd2_connector_apply(struct nd2_connector *connector, struct nd2_step step,
		    const struct plx_connector_event *event)
{
	struct plx_pending *request = connector->request;

	connector->state = step.next;
	if (step.effects & ND2_DO_KEEP && event)
		keep_private_data(connector, event);
	if (step.effects & ND2_DO_FORGET)
		connector->private_data = (struct nd2_private_data){0};
	if (step.effects & ND2_DO_NOTIFY_PEER)
		finish_notifies(connector, ND_SUCCESS);
	if (step.effects & ND2_DO_NOTIFY_LOCAL)
		finish_notifies(connector, (HRESULT)STATUS_CONNECTION_DISCONNECTED);
	if (step.effects & ND2_DO_NOTIFY_GONE)
		finish_notifies(connector, ND_DEVICE_REMOVED);
	if (step.effects & (ND2_DO_END | ND2_DO_LINGER))
		release_connector(connector, step.effects & ND2_DO_LINGER);
	if (step.effects & (ND2_DO_DETACH | ND2_DO_BREAK))
		detach(connector, step.effects & ND2_DO_BREAK);
	if (step.effects & ND2_DO_FINISH && request) {
		connector->request = NULL;
		plx_pending_finish(request, step.status == ND_PENDING ? ND_SUCCESS : step.status,
				   0);
	}
}

/* ---- events ---- */

static enum nd2_event
event_of(const struct plx_connector_event *event)
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
		/* SIDR_REPLY, NOTHING: never requested here */
	};

	if (event->kind == PLX_CM_EVENT_REJECTED && event->reason == PLX_CM_REASON_TIMEOUT)
		return ND2_ON_TIMEOUT;
	return event->kind < PLX_COUNT_OF(events) ? (enum nd2_event)events[event->kind]
						  : ND2_NO_EVENT;
}

void
nd2_connector_on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
		       const struct plx_connector_event *event)
{
	struct nd2_connector *connector =
		plx_list_entry(subscriber, struct nd2_connector, subscriber);

	if (connector->state != ND2_REQ_SENT ||
	    !plx_session_connect_again(session, connector->connector, connector->qp->qp,
				       &connector->connect_options, event))
		nd2_connector_apply(connector, nd2_step(connector->state, event_of(event)), event);
}

void
nd2_connector_lose_host(struct nd2_connector *connector)
{
	if (connector->state == ND2_QUEUED)
		nd2_listener_unqueue(connector, ND_DEVICE_REMOVED);
	nd2_connector_apply(connector, nd2_step(connector->state, ND2_ON_HOST_GONE), NULL);
}

void
nd2_connector_release_qp(struct nd2_connector *connector)
{
	struct nd2_step step = nd2_step(connector->state, ND2_ON_QP_RELEASE);

	if (connector->state == ND2_ESTABLISHED)
		(void)nd2_connector_send_disconnect(connector);
	nd2_connector_apply(connector, step, NULL);
}

void
nd2_connection_of_qp_ends(struct nd2_qp *qp)
{
	struct plx_session *session = qp->object.adapter->session;

	pthread_mutex_lock(&session->events);
	if (qp->connector)
		nd2_connector_release_qp(qp->connector);
	pthread_mutex_unlock(&session->events);
}
