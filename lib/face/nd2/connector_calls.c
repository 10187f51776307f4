/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a client has a connector do. Each method looks whether the state allows it, checks what it
 * was given, does it below, and only then changes anything: a refused call has changed nothing, and
 * the connector can be used as before.
 * It never waits but for the engine. Start with nd2_connector_connect().
 */
#include <errno.h>
#include <ntstatus.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nd2_connection.h"

static struct nd2_connector *
enter(IND2Connector *face)
{
	struct nd2_connector *connector = nd2_connector_of(face);

	nd2_port_mine(connector->adapter->port);
	pthread_mutex_lock(&connector->adapter->port->events);
	return connector;
}

static HRESULT
leave(struct nd2_connector *connector, OVERLAPPED *overlapped, HRESULT status)
{
	pthread_mutex_unlock(&connector->adapter->port->events);
	if (overlapped && status != ND_PENDING)
		plx_overlapped_settle(overlapped, status);
	return status;
}

/* A request begins before anything is done, since its OVERLAPPED may be refused. */
static HRESULT
begin(struct nd2_connector *connector, OVERLAPPED *overlapped, struct plx_pending **pending)
{
	*pending = plx_pending_begin(&connector->pending, overlapped);
	return *pending ? ND_SUCCESS : plx_pending_refusal();
}

/* ... and is pending when that was done; else it has never been. */
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

/* ---- what it was given --------------------------------------------------------------------------
 */

/* A pointer to nowhere is the client's mistake, and a status. */
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
		memcpy(to, from, bytes); /* the kernel does not offer to look for us */
	return copied < 0 && errno != EFAULT;
}

static HRESULT
read_words(const VOID *from, ULONG bytes, ULONG most, uint8_t *to)
{
	if (bytes > most)
		return ND_INVALID_BUFFER_SIZE;
	return copy_in(from, bytes, to) ? ND_SUCCESS : ND_ACCESS_VIOLATION;
}

static HRESULT
read_qp(const struct nd2_connector *connector, IUnknown *face, struct nd2_qp **qp)
{
	*qp = nd2_qp_of(connector->adapter, face);
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
	if (nd2_is_any(ip))
		return (HRESULT)STATUS_BAD_NETWORK_NAME;
	if (ip->version != connector->terms.local.version || *port == 0)
		return ND_INVALID_ADDRESS;
	if (nd2_is_loopback(ip))
		*ip = connector->terms.local;
	return ND_SUCCESS;
}

static uint8_t
least(ULONG a, ULONG b)
{
	return (uint8_t)(a < b ? a : b);
}

static void
fill_options(const struct nd2_connector *connector, ULONG inbound, ULONG outbound,
	     const uint8_t *words, ULONG bytes, struct plx_connect_options *options)
{
	const ND2_ADAPTER_INFO *limits = &connector->adapter->port->limits;

	plx_connect_options_init(options);
	options->responder_res = least(inbound, limits->MaxInboundReadLimit);
	options->rd_atomic = least(outbound, limits->MaxOutboundReadLimit);
	options->private_data = words;
	options->private_bytes = bytes;
}

static bool
qp_can_connect(struct nd2_qp *qp)
{
	struct plx_qp_info info;

	return plx_qp_query(qp->qp, &info) == PLX_OK &&
	       (info.state == PLX_QP_RESET || info.state == PLX_QP_INIT);
}

/* ---- the active side ----------------------------------------------------------------------------
 */

HRESULT STDMETHODCALLTYPE
nd2_connector_bind(IND2Connector *face, const struct sockaddr *address, ULONG length)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_port *port = connector->adapter->port;
	struct nd2_step step = nd2_step(connector->state, ND2_ON_BIND);
	HRESULT status = step.status;
	uint32_t addresses = 0;
	struct plx_ip ip;
	uint16_t number;

	if (status == ND_SUCCESS)
		status = nd2_address_read(address, length, &ip, &number);
	if (status == ND_SUCCESS) {
		addresses = nd2_is_any(&ip) ? 0 : nd2_port_addresses(port, &ip);
		status = addresses ? nd2_ports_take(&port->tables->active, addresses, &number)
				   : ND_INVALID_ADDRESS;
	}
	if (status == ND_SUCCESS) {
		connector->address = __builtin_ctz(addresses);
		connector->terms.local = ip;
		connector->terms.local_port = number;
		nd2_connector_apply(connector, step, NULL);
	}
	return leave(connector, NULL, status);
}

static HRESULT
ask(struct nd2_connector *connector, struct nd2_qp *qp)
{
	struct plx_why why = {""};
	enum plx_status status = PLX_OK;
	struct plx_qp_address from;

	/* With an address of our own given, only the neighbour would be missed, and much later. */
	if (plx_qp_address(qp->qp, &connector->asked.remote, &from) == PLX_UNREACHABLE)
		return ND_NETWORK_UNREACHABLE;
	if (!connector->wire)
		status = plx_connector_create(connector->adapter->port->channel,
					      (uintptr_t)&connector->party, &connector->wire);
	if (status == PLX_OK)
		status = plx_connect(connector->wire, qp->qp, &connector->asked, &why);
	if (*why.text)
		nd2_say("connect: %s", why.text);
	if (status == PLX_STATE)
		return ND_CONNECTION_ACTIVE;
	return status == PLX_INVALID ? ND_INVALID_ADDRESS : nd2_call_status(status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_connect(IND2Connector *face, IUnknown *qp_face, const struct sockaddr *address,
		      ULONG length, ULONG inbound, ULONG outbound, const VOID *words, ULONG bytes,
		      OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_CONNECT);
	struct plx_connect_options *asked = &connector->asked;
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
		status = read_words(words, bytes, connector->adapter->port->limits.MaxCallerData,
				    connector->said);
	if (status == ND_SUCCESS)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return leave(connector, overlapped, status);
	fill_options(connector, inbound, outbound, connector->said, bytes, asked);
	asked->local = connector->terms.local;
	asked->local_port = connector->terms.local_port;
	asked->remote = remote;
	asked->remote_port = port;
	status = ask(connector, qp);
	if (status == ND_SUCCESS) {
		connector->terms.remote = remote;
		connector->terms.remote_port = port;
		nd2_connector_attach(connector, qp);
	}
	return leave(connector, overlapped, pend(connector, step, pending, status));
}

/* Below, the peer is gone already; the event that says so may be on its way. */
static HRESULT
gone(struct nd2_connector *connector, enum plx_status status)
{
	if (status == PLX_STATE) {
		nd2_connections_deliver(connector->adapter->port);
		return ND_CONNECTION_ABORTED;
	}
	return status == PLX_AGAIN || status == PLX_UNREACHABLE ? ND_IO_TIMEOUT
								: nd2_call_status(status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_complete(IND2Connector *face, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_COMPLETE);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_why why = {""};
	struct plx_pending *pending;
	enum plx_status done;

	if (status == ND_PENDING)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return leave(connector, overlapped, status);
	done = plx_complete(connector->wire, &why);
	if (done == PLX_OK) {
		atomic_store(&connector->qp->phase, ND2_QP_CONNECTED);
	} else {
		nd2_say("complete: %s", why.text);
		status = gone(connector, done);
	}
	return leave(connector, overlapped, pend(connector, step, pending, status));
}

/* ---- the passive side ---------------------------------------------------------------------------
 */

static HRESULT
answer(struct nd2_connector *connector, struct nd2_qp *qp,
       const struct plx_connect_options *options)
{
	struct plx_why why = {""};
	enum plx_status status = plx_accept(connector->wire, qp->qp, options, &why);

	if (status == PLX_OK)
		return ND_SUCCESS;
	nd2_say("accept: %s", why.text);
	if (status == PLX_STATE && !qp_can_connect(qp))
		return ND_CONNECTION_ACTIVE;
	return gone(connector, status);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_accept(IND2Connector *face, IUnknown *qp_face, ULONG inbound, ULONG outbound,
		     const VOID *words, ULONG bytes, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_ACCEPT);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_connect_options options;
	uint8_t said[PLX_PRIVATE_MAX];
	struct plx_pending *pending;
	struct nd2_qp *qp = NULL;

	if (status == ND_PENDING)
		status = read_qp(connector, qp_face, &qp);
	if (status == ND_SUCCESS)
		status = read_words(words, bytes, connector->adapter->port->limits.MaxCalleeData,
				    said);
	if (status == ND_SUCCESS)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return leave(connector, overlapped, status);
	fill_options(connector, inbound, outbound, said, bytes, &options);
	status = answer(connector, qp, &options);
	if (status == ND_SUCCESS) {
		connector->terms.inbound = least(connector->terms.inbound, options.responder_res);
		connector->terms.outbound = least(connector->terms.outbound, options.rd_atomic);
		nd2_connector_attach(connector, qp);
		/* Until the peer completes the queue pair itself refuses what is posted. */
		atomic_store(&qp->phase, ND2_QP_CONNECTED);
	}
	return leave(connector, overlapped, pend(connector, step, pending, status));
}

HRESULT STDMETHODCALLTYPE
nd2_connector_reject(IND2Connector *face, const VOID *words, ULONG bytes)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_REJECT);
	uint8_t said[PLX_PRIVATE_MAX];
	HRESULT status = step.status;
	enum plx_status rejected;

	if (status == ND_SUCCESS)
		status = read_words(words, bytes, connector->adapter->port->limits.MaxCalleeData,
				    said);
	if (status == ND_SUCCESS) {
		rejected = plx_reject(connector->wire, said, bytes);
		if (rejected == PLX_OK)
			nd2_connector_apply(connector, step, NULL);
		else
			status = gone(connector, rejected);
	}
	return leave(connector, NULL, status);
}

/* ---- both sides ---------------------------------------------------------------------------------
 */

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
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_NOTIFY);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	struct plx_pending *pending;

	if (status == ND_PENDING)
		status =
			has_room(connector) ? begin(connector, overlapped, &pending) : ND_NO_MEMORY;
	if (status != ND_SUCCESS)
		return leave(connector, overlapped, status);
	connector->notify[connector->notifies++] = pending;
	nd2_connector_apply(connector, step, NULL);
	return leave(connector, overlapped, ND_PENDING);
}

HRESULT STDMETHODCALLTYPE
nd2_connector_disconnect(IND2Connector *face, OVERLAPPED *overlapped)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_DISCONNECT);
	HRESULT status = overlapped ? step.status : ND_INVALID_PARAMETER;
	enum plx_status parted = PLX_OK;
	struct plx_pending *pending;

	if (status == ND_PENDING)
		status = begin(connector, overlapped, &pending);
	if (status != ND_SUCCESS)
		return leave(connector, overlapped, status);
	if (connector->state == ND2_ESTABLISHED)
		parted = nd2_connector_part(connector);
	/* STATE: the peer was first. Its disconnect is on the way to us, and is our answer. */
	if (parted != PLX_OK && parted != PLX_STATE)
		status = nd2_call_status(parted);
	/* Whoever hears of its end in another thread may release the connector. */
	nd2_hold(&connector->object);
	status = leave(connector, overlapped, pend(connector, step, pending, status));
	if (status == ND_PENDING && connector->adapter->port->info.forgets)
		nd2_await_answer(connector);
	nd2_unhold(&connector->object);
	return status;
}

HRESULT STDMETHODCALLTYPE
nd2_connector_cancel(IND2Connector *face)
{
	struct nd2_connector *connector = enter(face);
	struct nd2_step step = nd2_step(connector->state, ND2_ON_CANCEL);

	plx_pending_cancel_all(&connector->pending);
	/* They are finished; this gives our part of them back. */
	if (connector->request)
		plx_pending_finish(connector->request, ND_CANCELED, 0);
	connector->request = NULL;
	for (uint32_t i = 0; i < connector->notifies; i++)
		plx_pending_finish(connector->notify[i], ND_CANCELED, 0);
	connector->notifies = 0;
	nd2_connector_apply(connector, step, NULL);
	return leave(connector, NULL, ND_SUCCESS);
}
