/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2Listener: matches connectors with connection requests. One of the two queues is always empty:
 * waiting connectors or waiting requests.
 * A peer's request that finds no place is rejected at once. Start with on_request() and
 * listener_get_request().
 * The any-address covers every address of its family, with one plx_listener each. A request for an
 * address of the other family at the same port finds no listener.
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "nd2_connection.h"

static const IND2ListenerVtbl listener_table;

/* A request that waits for a connector: holds its event meanwhile. */
struct waiting {
	struct plx_session_subscriber subscriber;
	struct nd2_listener *listener;
	struct plx_list node;
	struct plx_connector_event event;
};

static struct nd2_listener *
begin_call(IND2Listener *face)
{
	struct nd2_listener *listener = nd2_listener_of(face);

	nd2_session_claim(listener->object.adapter->session);
	pthread_mutex_lock(&listener->object.adapter->session->events);
	return listener;
}

static HRESULT
end_call(struct nd2_listener *listener, OVERLAPPED *overlapped, HRESULT status)
{
	pthread_mutex_unlock(&listener->object.adapter->session->events);
	return nd2_settle(overlapped, status);
}

/* ---- matching requests with connectors ---- */

/* Remove the connector's queue state, with or without a request. Returns: the request to be
 * finished */
static struct plx_pending *
dequeue(struct nd2_connector *connector)
{
	struct plx_pending *pending = connector->queued;

	plx_list_remove(&connector->queue_node);
	connector->queued = NULL;
	connector->listener = NULL;
	return pending;
}

static void
deliver(struct nd2_connector *connector, const struct plx_connector_event *event)
{
	struct plx_pending *pending = dequeue(connector);

	connector->connector = event->connector;
	plx_connector_set_context(connector->connector, (uintptr_t)&connector->subscriber);
	nd2_connector_apply(connector, nd2_step(connector->state, ND2_ON_REQUEST), event);
	plx_pending_finish(pending, ND_SUCCESS, 0);
}

void
nd2_listener_unqueue(struct nd2_connector *connector, HRESULT status)
{
	struct plx_pending *pending = dequeue(connector);

	nd2_connector_apply(connector, nd2_step(connector->state, ND2_ON_UNQUEUED), NULL);
	plx_pending_finish(pending, status, 0);
}

static void
unqueue_all(struct nd2_listener *listener)
{
	while (!plx_list_empty(&listener->queue))
		nd2_listener_unqueue(
			plx_list_entry(listener->queue.next, struct nd2_connector, queue_node),
			ND_CANCELED);
}

/* Destroying the connector of an unanswered request rejects it. */
static void
reject_request(struct plx_session *session, struct plx_connector *connector)
{
	plx_session_destroy_connector(session, connector);
}

/* Remove a waiting request from the backlog. */
static void
request_free(struct waiting *waiting)
{
	plx_list_remove(&waiting->node);
	waiting->listener->waits--;
	free(waiting);
}

/* The peer has withdrawn a request in the backlog: any event of it ends it. */
static void
withdraw(struct plx_session *session, struct plx_session_subscriber *subscriber,
	 const struct plx_connector_event *event)
{
	struct waiting *waiting = plx_list_entry(subscriber, struct waiting, subscriber);

	(void)event;
	plx_session_destroy_connector(session, waiting->event.connector);
	request_free(waiting);
}

static bool
wait_for_connector(struct nd2_listener *listener, const struct plx_connector_event *event)
{
	struct waiting *waiting = NULL;

	if (listener->state == ND2_LISTENER_CLOSED)
		return false;
	if (listener->backlog == 0 || listener->waits < listener->backlog)
		waiting = malloc(sizeof(*waiting));
	if (!waiting)
		return false;
	waiting->subscriber.on_event = withdraw;
	waiting->listener = listener;
	waiting->event = *event;
	plx_list_append(&listener->waiting, &waiting->node);
	listener->waits++;
	plx_connector_set_context(event->connector, (uintptr_t)&waiting->subscriber);
	return true;
}

/* Handle a peer's REQ, the only event of a listener. */
static void
on_request(struct plx_session *session, struct plx_session_subscriber *subscriber,
	   const struct plx_connector_event *event)
{
	struct nd2_listener *listener = plx_list_entry(subscriber, struct nd2_listener, subscriber);

	if (listener->state != ND2_LISTENER_CLOSED && !plx_list_empty(&listener->queue))
		deliver(plx_list_entry(listener->queue.next, struct nd2_connector, queue_node),
			event);
	else if (!wait_for_connector(listener, event))
		reject_request(session, event->connector);
}

/* ---- methods ---- */

ND2_IOVERLAPPED(listener, IND2Listener);

static HRESULT STDMETHODCALLTYPE
listener_cancel(IND2Listener *face)
{
	struct nd2_listener *listener = begin_call(face);

	plx_pending_cancel_all(&listener->object.pending);
	unqueue_all(listener);
	return end_call(listener, NULL, ND_SUCCESS);
}

static HRESULT STDMETHODCALLTYPE
listener_bind(IND2Listener *face, const struct sockaddr *address, ULONG length)
{
	struct nd2_listener *listener = begin_call(face);
	struct plx_session *session = listener->object.adapter->session;
	HRESULT status = (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;
	uint32_t addresses = 0;
	struct plx_ip ip;
	uint16_t number;

	if (listener->state == ND2_LISTENER_NEW)
		status = nd2_address_read(address, length, &ip, &number);
	if (status == ND_SUCCESS) {
		addresses = plx_session_addresses(session, &ip);
		status = addresses ? nd2_reserve_port(&session->passive, addresses, &number)
				   : ND_INVALID_ADDRESS;
	}
	if (status == ND_SUCCESS) {
		listener->ip = ip;
		listener->port = number;
		listener->addresses = addresses;
		listener->state = ND2_LISTENER_BOUND;
	}
	return end_call(listener, NULL, status);
}

static HRESULT
start_listening(struct nd2_listener *listener)
{
	enum plx_status status =
		plx_session_listen(listener->object.adapter->session, listener->addresses,
				   listener->port, &listener->subscriber, listener->listeners);

	if (status == PLX_OK)
		return ND_SUCCESS;
	/* TIMEOUT: Release destroys it later; a new Listen takes effect after that. */
	(void)!plx_session_stop_listening(listener->listeners);
	return status == PLX_BUSY ? ND_SHARING_VIOLATION : nd2_call_status(status);
}

static HRESULT STDMETHODCALLTYPE
listener_listen(IND2Listener *face, ULONG backlog)
{
	struct nd2_listener *listener = begin_call(face);
	HRESULT status = ND_INVALID_DEVICE_STATE;

	if (listener->state == ND2_LISTENER_BOUND)
		status = start_listening(listener);
	if (status == ND_SUCCESS) {
		listener->backlog = backlog;
		listener->state = ND2_LISTENER_LISTENING;
	}
	return end_call(listener, NULL, status);
}

static HRESULT STDMETHODCALLTYPE
listener_get_local_address(IND2Listener *face, struct sockaddr *out, ULONG *length)
{
	struct nd2_listener *listener;
	HRESULT status = ND_INVALID_DEVICE_STATE;

	if (!length)
		return ND_INVALID_PARAMETER;
	listener = begin_call(face);
	if (listener->state != ND2_LISTENER_NEW)
		status = nd2_address_write(&listener->ip, listener->port, out, length);
	return end_call(listener, NULL, status);
}

static HRESULT
queue(struct nd2_listener *listener, struct nd2_connector *connector, struct nd2_step step,
      OVERLAPPED *overlapped)
{
	struct plx_pending *pending = plx_pending_begin(&listener->object.pending, overlapped);
	struct waiting *waiting;

	if (!pending)
		return plx_pending_refusal();
	nd2_connector_apply(connector, step, NULL);
	connector->listener = listener;
	connector->queued = pending;
	plx_list_append(&listener->queue, &connector->queue_node);
	if (!plx_list_empty(&listener->waiting)) {
		waiting = plx_list_entry(listener->waiting.next, struct waiting, node);
		deliver(connector, &waiting->event);
		request_free(waiting);
	}
	return ND_PENDING;
}

static HRESULT STDMETHODCALLTYPE
listener_get_request(IND2Listener *face, IUnknown *connector_face, OVERLAPPED *overlapped)
{
	struct nd2_listener *listener = begin_call(face);
	struct nd2_connector *connector =
		nd2_object_find(&nd2_connector_kind, listener->object.adapter, connector_face);
	HRESULT status = ND_PENDING;
	struct nd2_step step;

	if (!overlapped)
		status = ND_INVALID_PARAMETER;
	else if (!connector)
		status = ND_INVALID_PARAMETER_1;
	else if (listener->state != ND2_LISTENER_LISTENING)
		status = ND_INVALID_DEVICE_STATE;
	else if (plx_session_host_has_gone(listener->object.adapter->session))
		status = ND_DEVICE_REMOVED;
	if (status == ND_PENDING) {
		step = nd2_step(connector->state, ND2_ON_QUEUE);
		status = step.status;
	}
	if (status == ND_PENDING)
		status = queue(listener, connector, step, overlapped);
	return end_call(listener, overlapped, status);
}

/* ---- lifetime ---- */

static void
close_listener(struct nd2_object *object)
{
	struct nd2_listener *listener = plx_list_entry(object, struct nd2_listener, object);
	struct plx_session *session = listener->object.adapter->session;
	struct plx_list *node, *after;

	pthread_mutex_lock(&session->events);
	listener->state = ND2_LISTENER_CLOSED;
	plx_pending_list_end(&listener->object.pending, ND_CANCELED);
	unqueue_all(listener);
	plx_list_for_each (node, after, &listener->waiting) {
		struct waiting *waiting = plx_list_entry(node, struct waiting, node);

		reject_request(session, waiting->event.connector);
		request_free(waiting);
	}
	pthread_mutex_unlock(&session->events);
}

/* The address and port are free once no listener is left there. */
static enum plx_status
teardown_listener(struct plx_session_object *object)
{
	struct nd2_listener *listener = plx_list_entry(object, struct nd2_listener, object.base);
	struct plx_session *session = listener->object.adapter->session;
	enum plx_status status;

	pthread_mutex_lock(&session->events);
	status = plx_session_stop_listening(listener->listeners);
	if (status == PLX_OK)
		plx_session_release_port(&session->passive, listener->addresses, listener->port);
	pthread_mutex_unlock(&session->events);
	return status;
}

static const struct nd2_kind listener_kind = {
	.table = &listener_table,
	.iid = &IID_IND2Listener,
	.bytes = sizeof(struct nd2_listener),
	.overlapped = true,
	.close = close_listener,
	.base.teardown = teardown_listener,
	.base.destroy = nd2_object_free,
};

HRESULT
nd2_listener_create(struct nd2_adapter *adapter, REFIID iid, HANDLE handle, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2Listener, out);
	struct nd2_listener *listener;

	if (status != ND_SUCCESS)
		return status;
	listener = nd2_object_alloc(&listener_kind, adapter, handle, &status);
	if (!listener)
		return status;
	listener->subscriber.on_event = on_request;
	plx_list_init(&listener->queue);
	plx_list_init(&listener->waiting);
	nd2_object_init(&listener->object, adapter->session);
	*out = listener;
	return ND_SUCCESS;
}

static const IND2ListenerVtbl listener_table = {
	.QueryInterface = listener_query_interface,
	.AddRef = listener_add_ref,
	.Release = listener_release,
	.CancelOverlappedRequests = listener_cancel,
	.GetOverlappedResult = listener_get_overlapped_result,
	.Bind = listener_bind,
	.Listen = listener_listen,
	.GetLocalAddress = listener_get_local_address,
	.GetConnectionRequest = listener_get_request,
};
