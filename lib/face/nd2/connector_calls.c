/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The methods that change a connector. Each checks the state and its arguments, makes the call
 * below, and only then changes anything. A refused call changes nothing, and the connector can be
 * used as before.
 * Only calls to the engine may wait. Start with nd2_connector_connect().
 */
#include <errno.h>
#include <ntstatus.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nd2_connection.h"

static struct nd2_connector *
begin_call(IND2Connector *face)
{
	struct nd2_connector *connector = nd2_connector_of(face);

	nd2_session_claim(connector->object.adapter->session);
	pthread_mutex_lock(&connector->object.adapter->session->events);
	return connector;
}

static HRESULT
end_call(struct nd2_connector *connector, OVERLAPPED *overlapped, HRESULT status)
{
	pthread_mutex_unlock(&connector->object.adapter->session->events);
	return nd2_settle(overlapped, status);
}

/* Begin the request first, since its OVERLAPPED may be refused. */
static HRESULT
begin(struct nd2_connector *connector, OVERLAPPED *overlapped, struct plx_pending **pending)
{
	*pending = plx_pending_begin(&connector->object.pending, overlapped);
	return *pending ? ND_SUCCESS : plx_pending_refusal();
}

/* The request is pending if the operation was started; otherwise it is abandoned. */
static HRESULT
pend(struct nd2_connector *connector, struct nd2_step step, struct plx_pending *pending,
     HRESULT done)
{
	if (done != ND_SUCCESS)
		return plx_pending_abandon(pending, done) ? done : ND_PENDING;
	connector->request = pending;
	nd2_connector_apply(connector, step, NULL);
	return ND_PENDING;
}

/* ---- arguments ---- */

/* An invalid pointer is the client's mistake, and yields a status. */
static bool
copy_in(const VOID *from, ULONG bytes, uint8_t *to)
{
	struct iovec there = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
	struct iovec here = {.iov_base = to, .iov_len = bytes};
	ssize_t copied;

	if (bytes == 0)
		return true;
	if (!from)
		return false;
	copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	if (copied == (ssize_t)bytes)
		return true;
	if (copied < 0 && errno != EFAULT)
		memcpy(to, from, bytes); /* reading directly: the kernel cannot check the pointer */
	return copied < 0 && errno != EFAULT;
}

static HRESULT
read_private_data(const VOID *from, ULONG bytes, ULONG most, uint8_t *to)
{
	if (bytes > most)
		return ND_INVALID_BUFFER_SIZE;
	return copy_in(from, bytes, to) ? ND_SUCCESS : ND_ACCESS_VIOLATION;
}

static HRESULT
read_qp(const struct nd2_connector *connector, IUnknown *face, struct nd2_qp **qp)
{
	*qp = nd2_object_find(&nd2_qp_kind, connector->object.adapter, face);
	if (!*qp)
		return ND_INVALID_PARAMETER_1;
	return (*qp)->connector || atomic_load(&(*qp)->broken) ? ND_CONNECTION_ACTIVE : ND_SUCCESS;
}

static HRESULT
read_peer(const struct nd2_connector *connector, const struct sockaddr *address, ULONG length,
	  struct plx_ip *ip, uint16_t *port)
{
	HRESULT status = nd2_address_read(address, length, ip, port);

	if (status != ND_SUCCESS)
		return status;
	if (plx_session_ip_is_any(ip))
		return (HRESULT)STATUS_BAD_NETWORK_NAME;
	if (ip->version != connector->conn_param.local.version || *port == 0)
		return ND_INVALID_ADDRESS;
	if (plx_session_ip_is_loopback(ip))
		*ip = connector->conn_param.local;
	return ND_SUCCESS;
}

static void
fill_options(const struct nd2_connector *connector, ULONG inbound, ULONG outbound,
	     const uint8_t *private_data, ULONG bytes, struct plx_connect_options *options)
{
	const ND2_ADAPTER_INFO *limits = nd2_limits(connector->object.adapter->session);

	plx_connect_options_init(options);
	options->responder_resources = plx_session_read_limit(inbound, limits->MaxInboundReadLimit);
	options->initiator_depth = plx_session_read_limit(outbound, limits->MaxOutboundReadLimit);
	options->private_data = private_data;
	options->private_bytes = bytes;
}

static bool
qp_can_connect(struct nd2_qp *qp)
{
	struct plx_qp_info info;

	return plx_qp_query(qp->qp, &info) == PLX_OK &&
	       (info.state == PLX_QP_RESET || info.state == PLX_QP_INIT);
}

/* ---- the active side ---- */

HRESULT STDMETHODCALLTYPE
nd2_connector_bind(IND2Connector *face, const struct sockaddr *address, ULONG length)
{
	struct nd2_connector *connector = begin_call(face);
	struct plx_session *session = connector->object.adapter->session;
	struct nd2_step step = nd2_step(connector->state, ND2_ON_BIND);
	HRESULT status = step.status;
	uint32_t addresses = 0;
	struct plx_ip ip;
	uint16_t number;

	if (status == ND_SUCCESS)
		status = nd2_address_read(address, length, &ip, &number);
	if (status == ND_SUCCESS) {
		addresses = plx_session_ip_is_any(&ip) ? 0 : plx_session_addresses(session, &ip);
		status = addresses ? nd2_reserve_port(&session->active, addresses, &number)
				   : ND_INVALID_ADDRESS;
	}
	if (status == ND_SUCCESS) {
		connector->address = __builtin_ctz(addresses);
		connector->conn_param.local = ip;
		connector->conn_param.local_port = number;
		nd2_connector_apply(connector, step, NULL);
	}
	return end_call(connector, NULL, status);
}

static HRESULT
send_req(struct nd2_connector *connector, struct nd2_qp *qp)
{
	struct plx_why why = {""};
	enum plx_status status = PLX_OK;
	struct plx_qp_address from;

	/* With a local address given, a missing route would be noticed only when the neighbour
	 * times out. */
	if (plx_qp_address(qp->qp, &connector->connect_options.remote, &from) == PLX_UNREACHABLE)
		return ND_NETWORK_UNREACHABLE;
	if (!connector->connector)
		status = plx_connector_create(connector->object.adapter->session->channel,
					      (uintptr_t)&connector->subscriber,
					      &connector->connector);
	if (status == PLX_OK)
		status = plx_connect(connector->connector, qp->qp, &connector->connect_options,
				     &why);
	if (*why.text)
		nd2_log("connect: %s", why.text);
	if (status == PLX_STATE)
		return ND_CONNECTION_ACTIVE;
	return status == PLX_INVALID ? ND_INVALID_ADDRESS : nd2_call_status(status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_connect(IND2Connector *face, IUnknown *qp_face, const struct sockaddr *address,
		      ULONG length, ULONG inbound, ULONG outbound, const VOID *private_data,
		      ULONG bytes, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_CONNECT);
	struct plx_connect_options *options = &connector->connect_options;
	HRESULT status = step.status;
	struct plx_pending *pending;
	struct plx_ip remote;
	struct nd2_qp *qp = NULL;
	uint16_t port;

	if (!overlapped)
		status = ND_INVALID_PARAMETER;
	if (status == ND_PENDING)
		status = read_qp(connector, qp_face, &qp);
	if (status == ND_SUCCESS)
		status = read_peer(connector, address, length, &remote, &port);
	if (status == ND_SUCCESS)
		status = read_private_data(
			private_data, bytes,
			nd2_limits(connector->object.adapter->session)->MaxCallerData,
			connector->sent_private_data);
	if (status == ND_SUCCESS)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return end_call(connector, overlapped, status);
	fill_options(connector, inbound, outbound, connector->sent_private_data, bytes, options);
	options->local = connector->conn_param.local;
	options->local_port = connector->conn_param.local_port;
	options->remote = remote;
	options->remote_port = port;
	status = send_req(connector, qp);
	if (status == ND_SUCCESS) {
		connector->conn_param.remote = remote;
		connector->conn_param.remote_port = port;
		nd2_connector_attach(connector, qp);
	}
	return end_call(connector, overlapped, pend(connector, step, pending, status));
}

/* The connection below has ended already; the event that reports it may be on its way. */
static HRESULT
gone(struct nd2_connector *connector, enum plx_status status)
{
	if (status == PLX_STATE) {
		plx_session_deliver_locked(connector->object.adapter->session);
		return ND_CONNECTION_ABORTED;
	}
	return status == PLX_AGAIN || status == PLX_UNREACHABLE ? ND_IO_TIMEOUT
								: nd2_call_status(status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_complete(IND2Connector *face, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_COMPLETE);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_why why = {""};
	struct plx_pending *pending;
	enum plx_status done;

	if (status == ND_PENDING)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return end_call(connector, overlapped, status);
	done = plx_establish(connector->connector, &why);
	if (done == PLX_OK) {
		atomic_store(&connector->qp->phase, ND2_QP_CONNECTED);
	} else {
		nd2_log("complete: %s", why.text);
		status = gone(connector, done);
	}
	return end_call(connector, overlapped, pend(connector, step, pending, status));
}

/* ---- the passive side ---- */

static HRESULT
send_rep(struct nd2_connector *connector, struct nd2_qp *qp,
	 const struct plx_connect_options *options)
{
	struct plx_why why = {""};
	enum plx_status status = plx_accept(connector->connector, qp->qp, options, &why);

	if (status == PLX_OK)
		return ND_SUCCESS;
	nd2_log("accept: %s", why.text);
	if (status == PLX_STATE && !qp_can_connect(qp))
		return ND_CONNECTION_ACTIVE;
	return gone(connector, status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_accept(IND2Connector *face, IUnknown *qp_face, ULONG inbound, ULONG outbound,
		     const VOID *private_data, ULONG bytes, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_ACCEPT);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_connect_options options;
	uint8_t sent_private_data[PLX_PRIVATE_MAX];
	struct plx_pending *pending;
	struct nd2_qp *qp = NULL;

	if (status == ND_PENDING)
		status = read_qp(connector, qp_face, &qp);
	if (status == ND_SUCCESS)
		status = read_private_data(
			private_data, bytes,
			nd2_limits(connector->object.adapter->session)->MaxCalleeData,
			sent_private_data);
	if (status == ND_SUCCESS)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return end_call(connector, overlapped, status);
	fill_options(connector, inbound, outbound, sent_private_data, bytes, &options);
	status = send_rep(connector, qp, &options);
	if (status == ND_SUCCESS) {
		connector->conn_param.inbound = plx_session_read_limit(
			connector->conn_param.inbound, options.responder_resources);
		connector->conn_param.outbound = plx_session_read_limit(
			connector->conn_param.outbound, options.initiator_depth);
		nd2_connector_attach(connector, qp);
		/* Until the peer completes the connection, the queue pair itself refuses posts. */
		atomic_store(&qp->phase, ND2_QP_CONNECTED);
	}
	return end_call(connector, overlapped, pend(connector, step, pending, status));
}

HRESULT STDMETHODCALLTYPE
nd2_connector_reject(IND2Connector *face, const VOID *private_data, ULONG bytes)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_REJECT);
	uint8_t sent_private_data[PLX_PRIVATE_MAX];
	HRESULT status = step.status;
	enum plx_status rejected;

	if (status == ND_SUCCESS)
		status = read_private_data(
			private_data, bytes,
			nd2_limits(connector->object.adapter->session)->MaxCalleeData,
			sent_private_data);
	if (status == ND_SUCCESS) {
		rejected = plx_reject(connector->connector, sent_private_data, bytes);
		if (rejected == PLX_OK)
			nd2_connector_apply(connector, step, NULL);
		else
			status = gone(connector, rejected);
	}
	return end_call(connector, NULL, status);
}

/* ---- both sides ---- */

static bool
has_room(struct nd2_connector *connector)
{
	uint32_t room = connector->notify_room ? 2 * connector->notify_room : ND2_NOTIFIES_FIRST;
	struct plx_pending **more;

	if (connector->notifies < connector->notify_room)
		return true;
	more = realloc(connector->notify, room * sizeof(*more));
	if (!more)
		return false;
	connector->notify = more;
	connector->notify_room = room;
	return true;
}

HRESULT STDMETHODCALLTYPE
nd2_connector_notify(IND2Connector *face, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_NOTIFY);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_pending *pending;

	if (status == ND_PENDING)
		status =
			has_room(connector) ? begin(connector, overlapped, &pending) : ND_NO_MEMORY;
	if (status != ND_SUCCESS)
		return end_call(connector, overlapped, status);
	connector->notify[connector->notifies++] = pending;
	nd2_connector_apply(connector, step, NULL);
	return end_call(connector, overlapped, ND_PENDING);
}

static bool
is_answered(const void *context)
{
	const struct nd2_connector *connector = context;

	return connector->state != ND2_LOCAL_DISC || !connector->connector;
}

/* The process may exit as soon as Disconnect returns, and packets for the peer in a device's ring
 * may then be lost (A06). */
HRESULT STDMETHODCALLTYPE
nd2_connector_disconnect(IND2Connector *face, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_DISCONNECT);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	enum plx_status disconnected = PLX_OK;
	struct plx_pending *pending;

	if (status == ND_PENDING)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return end_call(connector, overlapped, status);
	if (connector->state == ND2_ESTABLISHED)
		disconnected = nd2_connector_send_disconnect(connector);
	/* STATE: the peer disconnected first. Its DREQ is on the way and answers ours. */
	if (disconnected != PLX_OK && disconnected != PLX_STATE)
		status = nd2_call_status(disconnected);
	/* A thread that is notified of the end may release the connector. */
	nd2_object_get(&connector->object);
	status = end_call(connector, overlapped, pend(connector, step, pending, status));
	if (status == ND_PENDING && connector->object.adapter->session->info.tx_lost_on_exit)
		plx_session_await_answer(connector->object.adapter->session, is_answered,
					 connector);
	nd2_object_put(&connector->object);
	return status;
}

HRESULT STDMETHODCALLTYPE
nd2_connector_cancel(IND2Connector *face)
{
	struct nd2_connector *connector = begin_call(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_CANCEL);

	plx_pending_cancel_all(&connector->object.pending);
	/* The requests are finished; this drops our references to them. */
	if (connector->request)
		plx_pending_finish(connector->request, ND_CANCELED, 0);
	connector->request = NULL;
	for (uint32_t i = 0; i < connector->notifies; i++)
		plx_pending_finish(connector->notify[i], ND_CANCELED, 0);
	connector->notifies = 0;
	nd2_connector_apply(connector, step, NULL);
	return end_call(connector, NULL, ND_SUCCESS);
}
