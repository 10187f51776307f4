/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2Connector: lifetime and queries. Its other methods are in connector_calls.c, events of the
 * peer in connector_event.c.
 * It never waits. Start with `connector_table`, at the end.
 */
#include <stdlib.h>

#include "nd2_connection.h"

static const IND2ConnectorVtbl connector_table;

static pthread_mutex_t *
lock_of(const struct nd2_connector *connector)
{
	return &connector->object.adapter->session->events;
}

static bool
allows(const struct nd2_connector *connector, enum nd2_event event)
{
	return nd2_step(connector->state, event).status == ND_SUCCESS;
}

/* ---- IUnknown, IND2Overlapped ---- */

ND2_IOVERLAPPED(connector, IND2Connector);

/* ---- queries ---- */

static HRESULT STDMETHODCALLTYPE
connector_get_read_limits(IND2Connector *face, ULONG *inbound, ULONG *outbound)
{
	struct nd2_connector *connector = nd2_connector_of(face);
	HRESULT status;

	pthread_mutex_lock(lock_of(connector));
	status = nd2_step(connector->state, ND2_ON_GET_LIMITS).status;
	if (status == ND_SUCCESS && inbound)
		*inbound = connector->conn_param.inbound;
	if (status == ND_SUCCESS && outbound)
		*outbound = connector->conn_param.outbound;
	pthread_mutex_unlock(lock_of(connector));
	return status;
}

/* A buffer that is too short gets as much as fits, unlike one for addresses. */
static HRESULT
copy_private_data(const struct nd2_private_data *private_data, VOID *out, ULONG *bytes)
{
	ULONG room = out ? *bytes : 0;

	*bytes = private_data->bytes;
	if (room >= private_data->bytes) {
		if (private_data->bytes)
			memcpy(out, private_data->data, private_data->bytes);
		return ND_SUCCESS;
	}
	if (room)
		memcpy(out, private_data->data, room);
	return ND_BUFFER_OVERFLOW;
}

/* The peer's private data, padded with zeros: 56 bytes from a Connect, 148 from an Accept or a
 * Reject (docs/nd2-porting.md). No data if the rejection was not sent by a program. */
static HRESULT STDMETHODCALLTYPE
connector_get_private_data(IND2Connector *face, VOID *out, ULONG *bytes)
{
	struct nd2_connector *connector = nd2_connector_of(face);
	HRESULT status = ND_CONNECTION_INVALID;

	if (!bytes)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(lock_of(connector));
	if (allows(connector, ND2_ON_GET_PRIVATE) && connector->private_data.there)
		status = copy_private_data(&connector->private_data, out, bytes);
	pthread_mutex_unlock(lock_of(connector));
	return status;
}

static HRESULT
get_address(const struct nd2_connector *connector, enum nd2_event query, const struct plx_ip *ip,
	    const uint16_t *port, struct sockaddr *out, ULONG *length)
{
	HRESULT status = ND_CONNECTION_INVALID;

	if (!length)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(lock_of(connector));
	if (allows(connector, query))
		status = nd2_address_write(ip, *port, out, length);
	pthread_mutex_unlock(lock_of(connector));
	return status;
}

static HRESULT STDMETHODCALLTYPE
connector_get_local_address(IND2Connector *face, struct sockaddr *out, ULONG *length)
{
	const struct nd2_connector *connector = nd2_connector_of(face);

	return get_address(connector, ND2_ON_GET_LOCAL, &connector->conn_param.local,
			   &connector->conn_param.local_port, out, length);
}

static HRESULT STDMETHODCALLTYPE
connector_get_peer_address(IND2Connector *face, struct sockaddr *out, ULONG *length)
{
	const struct nd2_connector *connector = nd2_connector_of(face);

	return get_address(connector, ND2_ON_GET_PEER, &connector->conn_param.remote,
			   &connector->conn_param.remote_port, out, length);
}

/* ---- lifetime ---- */

/* On the last Release, finish all pending requests and notify the peer as the state requires. */
static void
close_connector(struct nd2_object *object)
{
	struct nd2_connector *connector = plx_list_entry(object, struct nd2_connector, object);
	struct plx_session *session = connector->object.adapter->session;
	enum plx_status parted = PLX_OK;
	struct nd2_step step;

	pthread_mutex_lock(&session->events);
	if (connector->state == ND2_QUEUED)
		nd2_listener_unqueue(connector, ND_CANCELED);
	step = nd2_step(connector->state, ND2_ON_RELEASE);
	if (connector->state == ND2_ESTABLISHED)
		parted = nd2_connector_send_disconnect(connector);
	/* The peer disconnected first; the engine answers its DREQ without us. */
	if (parted != PLX_OK)
		step.effects = (step.effects & ~(unsigned int)ND2_DO_LINGER) | ND2_DO_END;
	nd2_connector_apply(connector, step, NULL);
	plx_pending_list_end(&connector->object.pending, ND_CANCELED);
	if (connector->request)
		plx_pending_finish(connector->request, ND_CANCELED, 0);
	connector->request = NULL;
	plx_list_remove(&connector->node);
	if (connector->address >= 0)
		plx_session_release_port(&session->active, 1u << connector->address,
					 connector->conn_param.local_port);
	pthread_mutex_unlock(&session->events);
}

static void
destroy_connector(struct plx_session_object *object)
{
	struct nd2_connector *connector = plx_list_entry(object, struct nd2_connector, object.base);

	free(connector->notify);
	nd2_object_free(object);
}

const struct nd2_kind nd2_connector_kind = {
	.table = &connector_table,
	.iid = &IID_IND2Connector,
	.bytes = sizeof(struct nd2_connector),
	.overlapped = true,
	.close = close_connector,
	.base.destroy = destroy_connector,
};

HRESULT
nd2_connector_create(struct nd2_adapter *adapter, REFIID iid, HANDLE handle, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2Connector, out);
	struct plx_session *session = adapter->session;
	struct nd2_connector *connector;

	if (status != ND_SUCCESS)
		return status;
	connector = nd2_object_alloc(&nd2_connector_kind, adapter, handle, &status);
	if (!connector)
		return status;
	connector->subscriber.on_event = nd2_connector_on_event;
	connector->state = ND2_IDLE;
	connector->address = -1;
	plx_list_init(&connector->queue_node);
	nd2_object_init(&connector->object, session);
	pthread_mutex_lock(&session->events);
	plx_list_append(&nd2_session_of(session)->connectors, &connector->node);
	pthread_mutex_unlock(&session->events);
	*out = connector;
	return ND_SUCCESS;
}

static const IND2ConnectorVtbl connector_table = {
	.QueryInterface = connector_query_interface,
	.AddRef = connector_add_ref,
	.Release = connector_release,
	.CancelOverlappedRequests = nd2_connector_cancel,
	.GetOverlappedResult = connector_get_overlapped_result,
	.Bind = nd2_connector_bind,
	.Connect = nd2_connector_connect,
	.CompleteConnect = nd2_connector_complete,
	.Accept = nd2_connector_accept,
	.Reject = nd2_connector_reject,
	.GetReadLimits = connector_get_read_limits,
	.GetPrivateData = connector_get_private_data,
	.GetLocalAddress = connector_get_local_address,
	.GetPeerAddress = connector_get_peer_address,
	.NotifyDisconnect = nd2_connector_notify,
	.Disconnect = nd2_connector_disconnect,
};
