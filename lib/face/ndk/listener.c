/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_LISTENER: each request of a peer becomes a connector, which the consumer gets in a callback.
 * What comes while the listener is paused or closed is refused. Start with on_request().
 */
#include <ntstatus.h>

#include "connection.h"

/* ---- a peer's request ---- */

static VOID
nothing(PVOID context)
{
	(void)context;
}

/* The listener was closed meanwhile: nobody gets the connector, and the peer is refused. */
static void
give_up(struct ndk_connector *connector)
{
	(void)ndk_close(&connector->object.header, nothing, NULL);
}

static void
call(struct ndk_task *task)
{
	struct ndk_connector *connector = plx_list_entry(task, struct ndk_connector, requested);
	struct ndk_listener *listener = connector->listener;
	KIRQL old;

	if (!ndk_hold(&listener->object)) {
		give_up(connector);
		return;
	}
	old = ndk_callback_begin();
	listener->event(listener->event_context, (NDK_CONNECTOR *)(void *)connector);
	ndk_callback_end("NdkConnectEventCallback", old);
	ndk_release(&listener->object);
}

static bool
accept_request(struct ndk_listener *listener, const struct plx_connector_event *event)
{
	struct ndk_connector *connector;

	if ((atomic_load(&listener->paused) && !PLX_MUTANT(NDK_PAUSE_IGNORED)) ||
	    !ndk_hold(&listener->object))
		return false;
	connector = ndk_connector_make(listener->object.adapter);
	if (connector == NULL) {
		ndk_release(&listener->object);
		return false;
	}
	connector->listener = listener;
	connector->endpoint = listener->endpoint;
	ndk_endpoint_hold(connector->endpoint);
	connector->lower = event->connector;
	plx_connector_set_context(connector->lower, (uintptr_t)&connector->subscriber);
	connector->state = NDK_REQ_RCVD;
	ndk_connector_keep(connector, event);
	connector->requested.run = call;
	plx_list_append(&ndk_session_of(connector->object.adapter->session)->connectors,
			&connector->node);
	ndk_post(ndk_dispatcher_of(&listener->object), &connector->requested);
	return true;
}

static void
on_request(struct plx_session *session, struct plx_session_subscriber *subscriber,
	   const struct plx_connector_event *event)
{
	struct ndk_listener *listener = plx_list_entry(subscriber, struct ndk_listener, subscriber);

	if (!accept_request(listener, event))
		plx_session_destroy_connector(session, event->connector);
}

/* ---- the table ---- */

/* A stalled engine is asked again, for what is missing yet. */
static NTSTATUS
listen_locked(struct ndk_listener *listener, const struct ndk_request *request)
{
	struct plx_session *session = ndk_session_for(&listener->object);
	struct ndk_endpoint *endpoint = listener->endpoint;
	NTSTATUS status = STATUS_SUCCESS;
	enum plx_status listening;

	if (listener->listens)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (endpoint == NULL)
		status = ndk_endpoint_make(session, &request->ip, request->port, &endpoint);
	if (status != STATUS_SUCCESS)
		return status;
	listener->endpoint = endpoint;
	listening = plx_session_listen(session, endpoint->addresses, endpoint->port,
				       &listener->subscriber, listener->listeners);
	listener->listens = listening == PLX_OK;
	if (listening == PLX_OK || listening == PLX_TIMEOUT)
		return ndk_call_status(listening);
	(void)!plx_session_stop_listening(listener->listeners);
	listener->endpoint = NULL;
	ndk_endpoint_release(endpoint);
	return listening == PLX_BUSY ? STATUS_SHARING_VIOLATION : ndk_call_status(listening);
}

static NTSTATUS
run_listen(struct ndk_request *request)
{
	struct ndk_listener *listener =
		plx_list_entry(request->object, struct ndk_listener, object);
	struct plx_session *session = ndk_session_for(request->object);
	NTSTATUS status;

	pthread_mutex_lock(&session->events);
	status = listen_locked(listener, request);
	pthread_mutex_unlock(&session->events);
	return status;
}

static NTSTATUS
listen_at(NDK_LISTENER *face, CONST PSOCKADDR address, ULONG length, NDK_FN_REQUEST_COMPLETION done,
	  PVOID context)
{
	struct ndk_listener *listener = ndk_listener_of(face);
	struct ndk_request *request;
	struct plx_ip ip;
	uint16_t port;
	NTSTATUS status = ndk_address_read(address, length, &ip, &port);

	if (status != STATUS_SUCCESS)
		return status;
	request = ndk_request_make(&listener->object, run_listen, done, context);
	if (request == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	request->ip = ip;
	request->port = port;
	return ndk_request_begin(request);
}

static NTSTATUS
get_local_address(NDK_LISTENER *face, PSOCKADDR out, ULONG *length)
{
	const struct ndk_endpoint *endpoint = ndk_listener_of(face)->endpoint;

	if (endpoint == NULL)
		return STATUS_INVALID_DEVICE_REQUEST;
	return ndk_address_write(&endpoint->ip, endpoint->port, out, length);
}

static VOID
control_events(NDK_LISTENER *face, BOOLEAN pause)
{
	atomic_store(&ndk_listener_of(face)->paused, pause);
}

static const NDK_LISTENER_DISPATCH table = {
	.NdkCloseListener = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkListen = listen_at,
	.NdkGetLocalAddress = get_local_address,
	.NdkControlConnectEvents = control_events,
};

/* ---- lifetime ---- */

/* From now on peers are refused, though connectors of this listener may live on. */
static void
close_listener(struct ndk_object *object)
{
	atomic_store(&plx_list_entry(object, struct ndk_listener, object)->paused, true);
}

static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_listener *listener = plx_list_entry(object, struct ndk_listener, object);
	struct plx_session *session = ndk_session_for(object);
	enum plx_status status;

	pthread_mutex_lock(&session->events);
	status = plx_session_stop_listening(listener->listeners);
	if (status == PLX_OK)
		ndk_endpoint_release(listener->endpoint);
	pthread_mutex_unlock(&session->events);
	return status;
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeListener,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_listener),
	.close = close_listener,
	.teardown = teardown,
};

NTSTATUS
ndk_create_listener(NDK_ADAPTER *face, NDK_FN_CONNECT_EVENT_CALLBACK event, PVOID event_context,
		    NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_LISTENER **out)
{
	struct ndk_listener *listener = ndk_object_alloc(&kind, ndk_adapter_of(face));

	(void)created, (void)context; /* never pending */
	if (listener == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	listener->subscriber.on_event = on_request;
	listener->event = event;
	listener->event_context = event_context;
	*out = (NDK_LISTENER *)(void *)listener;
	return STATUS_SUCCESS;
}
