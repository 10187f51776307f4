/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_CONNECTOR: lifetime, queries, the effects of its steps, and the events of the connection
 * below. connector_state.c alone decides; calls that change it are in connector_calls.c. Start with
 * ndk_connector_apply().
 */
#include <ntstatus.h>

#include "connection.h"

/* ---- steps ---- */

struct ndk_connector_step
ndk_connector_peek(struct ndk_connector *connector, enum ndk_connector_event event)
{
	struct ndk_connector_step step;

	pthread_mutex_lock(&connector->lock);
	step = ndk_connector_step(connector->state, event);
	pthread_mutex_unlock(&connector->lock);
	return step;
}

struct ndk_connector_step
ndk_connector_take(struct ndk_connector *connector, enum ndk_connector_event event)
{
	struct ndk_connector_step step;

	pthread_mutex_lock(&connector->lock);
	step = ndk_connector_step(connector->state, event);
	connector->state = step.next;
	pthread_mutex_unlock(&connector->lock);
	return step;
}

static enum ndk_connector_state
state_of(struct ndk_connector *connector)
{
	enum ndk_connector_state state;

	pthread_mutex_lock(&connector->lock);
	state = connector->state;
	pthread_mutex_unlock(&connector->lock);
	return state;
}

void
ndk_connector_keep(struct ndk_connector *connector, const struct plx_connector_event *event)
{
	const NDK_ADAPTER_INFO *limits = ndk_limits(&connector->object);
	const struct plx_connector_info *info = &event->info;
	struct ndk_private_data *private_data = &connector->private_data;

	pthread_mutex_lock(&connector->lock);
	private_data->bytes = plx_session_private_bytes(event, limits->MaxCalleeData);
	memcpy(private_data->data, event->private_data, private_data->bytes);
	connector->local = info->local;
	connector->remote = info->remote;
	connector->local_port = info->local_port;
	connector->remote_port = info->remote_port;
	connector->inbound =
		plx_session_read_limit(info->responder_resources, limits->MaxInboundReadLimit);
	connector->outbound =
		plx_session_read_limit(info->initiator_depth, limits->MaxOutboundReadLimit);
	pthread_mutex_unlock(&connector->lock);
}

static void
tell(struct ndk_task *task)
{
	struct ndk_connector *connector = plx_list_entry(task, struct ndk_connector, tell);
	KIRQL old = ndk_callback_begin();

	if (connector->event_ex)
		connector->event_ex(connector->event_context, 0);
	else
		connector->event(connector->event_context);
	ndk_callback_end("NdkDisconnectEventCallback", old);
	ndk_release(&connector->object);
}

/* No event of a connector that the consumer has closed. */
static void
tell_later(struct ndk_connector *connector)
{
	if ((connector->event || connector->event_ex) && ndk_hold(&connector->object))
		ndk_post(ndk_dispatcher_of(&connector->object), &connector->tell);
}

static void
end_lower(struct ndk_connector *connector, bool lingers)
{
	struct plx_session *session = ndk_session_for(&connector->object);
	struct plx_connector *lower = connector->lower;

	connector->lower = NULL;
	if (lower && lingers)
		plx_session_linger(session, lower);
	else if (lower)
		plx_session_destroy_connector(session, lower);
}

void
ndk_connector_apply(struct ndk_connector *connector, struct ndk_connector_step step,
		    const struct plx_connector_event *event)
{
	struct ndk_request *request = connector->request;

	if (step.effects & NDK_DO_KEEP)
		ndk_connector_keep(connector, event);
	/* STATE: the peer has left first; the queue pair is flushed in any case */
	if (step.effects & NDK_DO_PART && connector->lower)
		(void)!plx_disconnect(connector->lower);
	if (step.effects & (NDK_DO_CUT | NDK_DO_LINGER))
		end_lower(connector, step.effects & NDK_DO_LINGER);
	if (step.effects & NDK_DO_DETACH && connector->qp && connector->qp->connector == connector)
		connector->qp->connector = NULL;
	if (step.effects & NDK_DO_TELL)
		tell_later(connector);
	if (step.effects & NDK_DO_FINISH && request) {
		connector->request = NULL;
		ndk_request_finish_later(request, step.status);
	}
}

/* ---- events ---- */

static enum ndk_connector_event
event_of(const struct plx_connector_event *event)
{
	static const uint8_t events[PLX_CM_EVENT_COUNT] = {
		[PLX_CM_EVENT_REPLIED] = NDK_ON_REPLY,
		[PLX_CM_EVENT_REJECTED] = NDK_ON_REFUSAL,
		[PLX_CM_EVENT_UNREACHABLE] = NDK_ON_UNREACHABLE,
		[PLX_CM_EVENT_TIMED_OUT] = NDK_ON_TIMEOUT,
		[PLX_CM_EVENT_ABORTED] = NDK_ON_ABORT,
		[PLX_CM_EVENT_ESTABLISHED] = NDK_ON_ESTABLISHED,
		[PLX_CM_EVENT_DISCONNECTED] = NDK_ON_PEER_DISCONNECT,
		[PLX_CM_EVENT_CLOSED] = NDK_ON_CLOSED,
		/* REQUESTED is a listener's; SIDR_REPLY, NOTHING: never requested here */
	};

	if (event->kind == PLX_CM_EVENT_REJECTED && event->reason == PLX_CM_REASON_TIMEOUT)
		return NDK_ON_TIMEOUT;
	return event->kind < PLX_COUNT_OF(events) ? (enum ndk_connector_event)events[event->kind]
						  : NDK_NO_EVENT;
}

void
ndk_connector_on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
		       const struct plx_connector_event *event)
{
	struct ndk_connector *connector =
		plx_list_entry(subscriber, struct ndk_connector, subscriber);

	if (state_of(connector) != NDK_REQ_SENT ||
	    !plx_session_connect_again(session, connector->lower, connector->qp->qp,
				       &connector->connect_options, event))
		ndk_connector_apply(connector, ndk_connector_take(connector, event_of(event)),
				    event);
}

/* ---- queries ---- */

/* A buffer that is too short gets as much as fits. */
static NTSTATUS
copy_private(const struct ndk_private_data *private_data, PVOID out, ULONG *bytes)
{
	ULONG room = *bytes;

	if (out == NULL && room > 0)
		return STATUS_INVALID_PARAMETER;
	*bytes = private_data->bytes;
	if (out == NULL)
		return STATUS_SUCCESS;
	memcpy(out, private_data->data, room < private_data->bytes ? room : private_data->bytes);
	return room >= private_data->bytes ? STATUS_SUCCESS : STATUS_BUFFER_TOO_SMALL;
}

static NTSTATUS
get_connection_data(NDK_CONNECTOR *face, ULONG *inbound, ULONG *outbound, PVOID private_data,
		    ULONG *bytes)
{
	struct ndk_connector *connector = ndk_connector_of(face);
	NTSTATUS status;

	if (bytes == NULL)
		return STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&connector->lock);
	status = ndk_connector_step(connector->state, NDK_ON_GET_DATA).status;
	if (status == STATUS_SUCCESS)
		status = copy_private(&connector->private_data, private_data, bytes);
	if (status == STATUS_SUCCESS || status == STATUS_BUFFER_TOO_SMALL) {
		if (inbound)
			*inbound = connector->inbound;
		if (outbound)
			*outbound = connector->outbound;
	}
	pthread_mutex_unlock(&connector->lock);
	return status;
}

static NTSTATUS
get_address(struct ndk_connector *connector, const struct plx_ip *ip, const uint16_t *port,
	    PSOCKADDR out, ULONG *length)
{
	NTSTATUS status = STATUS_CONNECTION_INVALID;

	pthread_mutex_lock(&connector->lock);
	if (ip->version != 0)
		status = ndk_address_write(ip, *port, out, length);
	pthread_mutex_unlock(&connector->lock);
	return status;
}

static NTSTATUS
get_local_address(NDK_CONNECTOR *face, PSOCKADDR out, ULONG *length)
{
	struct ndk_connector *connector = ndk_connector_of(face);

	return get_address(connector, &connector->local, &connector->local_port, out, length);
}

static NTSTATUS
get_peer_address(NDK_CONNECTOR *face, PSOCKADDR out, ULONG *length)
{
	struct ndk_connector *connector = ndk_connector_of(face);

	return get_address(connector, &connector->remote, &connector->remote_port, out, length);
}

static const NDK_CONNECTOR_DISPATCH table = {
	.NdkCloseConnector = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkConnect = ndk_connect,
	.NdkConnectWithSharedEndpoint = ndk_connect_shared,
	.NdkCompleteConnect = ndk_complete_connect,
	.NdkAccept = ndk_accept,
	.NdkReject = ndk_reject,
	.NdkGetConnectionData = get_connection_data,
	.NdkGetLocalAddress = get_local_address,
	.NdkGetPeerAddress = get_peer_address,
	.NdkDisconnect = ndk_disconnect,
	.NdkCompleteConnectEx = ndk_complete_connect_ex,
	.NdkAcceptEx = ndk_accept_ex,
};

/* ---- lifetime ---- */

static void
close_now(struct ndk_task *task)
{
	struct ndk_connector *connector = plx_list_entry(task, struct ndk_connector, closing);
	struct plx_session *session = ndk_session_for(&connector->object);

	pthread_mutex_lock(&session->events);
	ndk_connector_apply(connector, ndk_connector_take(connector, NDK_ON_CLOSE_CONNECTOR), NULL);
	pthread_mutex_unlock(&session->events);
	ndk_release(&connector->object);
}

/* What is pending ends first, so the close is more than a release. */
static void
close_connector(struct ndk_object *object)
{
	struct ndk_connector *connector = plx_list_entry(object, struct ndk_connector, object);

	if (ndk_hold(object))
		ndk_post(ndk_dispatcher_of(object), &connector->closing);
}

static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_connector *connector = plx_list_entry(object, struct ndk_connector, object);
	struct plx_session *session = ndk_session_for(object);

	pthread_mutex_lock(&session->events);
	end_lower(connector, false);
	plx_list_remove(&connector->node);
	ndk_endpoint_release(connector->endpoint);
	connector->endpoint = NULL;
	pthread_mutex_unlock(&session->events);
	return PLX_OK;
}

static void
destroy(struct ndk_object *object)
{
	struct ndk_connector *connector = plx_list_entry(object, struct ndk_connector, object);

	pthread_mutex_destroy(&connector->lock);
	if (connector->qp)
		ndk_release(&connector->qp->object);
	if (connector->shared)
		ndk_release(&connector->shared->object);
	if (connector->listener)
		ndk_release(&connector->listener->object);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeConnector,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_connector),
	.close = close_connector,
	.teardown = teardown,
	.destroy = destroy,
};

/* The list is of the events' lock, which a consumer's thread must not wait for: a connector joins
 * it when it first has a connection below. */
struct ndk_connector *
ndk_connector_make(struct ndk_adapter *adapter)
{
	struct ndk_connector *connector = ndk_object_alloc(&kind, adapter);

	if (connector == NULL)
		return NULL;
	connector->subscriber.on_event = ndk_connector_on_event;
	connector->state = NDK_IDLE;
	connector->tell.run = tell;
	connector->closing.run = close_now;
	plx_list_init(&connector->node);
	plx_list_init(&connector->tell.node);
	plx_list_init(&connector->closing.node);
	plx_list_init(&connector->requested.node);
	pthread_mutex_init(&connector->lock, NULL);
	return connector;
}

NTSTATUS
ndk_create_connector(NDK_ADAPTER *face, NDK_FN_CREATE_COMPLETION created, PVOID context,
		     NDK_CONNECTOR **out)
{
	struct ndk_connector *connector = ndk_connector_make(ndk_adapter_of(face));

	(void)created, (void)context; /* never pending */
	if (connector == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	*out = (NDK_CONNECTOR *)(void *)connector;
	return STATUS_SUCCESS;
}

/* ---- the end of the session ---- */

void
ndk_connectors_disconnect(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ndk_session_of(session)->connectors) {
		struct ndk_connector *connector = plx_list_entry(node, struct ndk_connector, node);

		if (state_of(connector) == NDK_ESTABLISHED)
			ndk_connector_apply(connector,
					    ndk_connector_take(connector, NDK_ON_CLOSE_CONNECTOR),
					    NULL);
	}
}

bool
ndk_connectors_are_disconnected(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ndk_session_of(session)->connectors)
		if (state_of(plx_list_entry(node, struct ndk_connector, node)) == NDK_LEAVING)
			return false;
	return true;
}

void
ndk_connectors_lose_host(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ndk_session_of(session)->connectors) {
		struct ndk_connector *connector = plx_list_entry(node, struct ndk_connector, node);

		ndk_connector_apply(connector, ndk_connector_take(connector, NDK_ON_HOST_GONE),
				    NULL);
	}
}
