/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls that change a connector. Each checks its arguments and leaves the rest to the
 * dispatcher, which makes the call below and only then takes the step. A refused call changes
 * nothing. Start with ndk_connect().
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "connection.h"

/* What a request brings along. */
struct arguments {
	struct ndk_qp *qp;                  /* held */
	struct ndk_shared_endpoint *shared; /* held; NULL: an endpoint of its own */
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	ULONG inbound, outbound;
	uint32_t private_bytes;
	uint8_t private_data[PLX_PRIVATE_MAX];
	NDK_FN_DISCONNECT_EVENT_CALLBACK event;
	NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event_ex;
	PVOID event_context;
};

static void
drop(struct arguments *arguments)
{
	if (arguments->qp)
		ndk_release(&arguments->qp->object);
	if (arguments->shared)
		ndk_release(&arguments->shared->object);
	free(arguments);
}

/* A request of a connector, with its arguments. */
static NTSTATUS
begin(NDK_CONNECTOR *face, ndk_request_fn *run, const struct arguments *given,
      NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct arguments *arguments = malloc(sizeof(*arguments));
	struct ndk_request *request;

	if (arguments == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	*arguments = *given;
	/* Held from the call on, whatever the consumer closes meanwhile. */
	if (given->qp && !ndk_hold(&given->qp->object))
		arguments->qp = NULL;
	if (given->shared && !ndk_hold(&given->shared->object))
		arguments->shared = NULL;
	request = ndk_request_make(&ndk_connector_of(face)->object, run, done, context);
	if (request == NULL || arguments->qp != given->qp || arguments->shared != given->shared) {
		if (request != NULL)
			ndk_request_drop(request);
		drop(arguments);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	request->of_its_own = arguments;
	return ndk_request_begin(request);
}

/* Run a request with the events' lock. A stalled engine is asked again, with its arguments. */
static NTSTATUS
with_events(struct ndk_request *request,
	    NTSTATUS (*run)(struct ndk_connector *, struct arguments *, struct ndk_request *))
{
	struct ndk_connector *connector =
		plx_list_entry(request->object, struct ndk_connector, object);
	struct plx_session *session = ndk_session_for(request->object);
	struct arguments *arguments = request->of_its_own;
	NTSTATUS status;

	pthread_mutex_lock(&session->events);
	status = run(connector, arguments, request);
	pthread_mutex_unlock(&session->events);
	if (status != NDK_STALLED)
		drop(arguments);
	return status;
}

/* ---- arguments ---- */

static NTSTATUS
read_private(CONST PVOID from, ULONG bytes, ULONG most, struct arguments *arguments)
{
	if (bytes > most)
		return STATUS_INVALID_BUFFER_SIZE;
	if (bytes > 0 && from == NULL)
		return STATUS_INVALID_PARAMETER;
	arguments->private_bytes = bytes;
	if (bytes > 0)
		memcpy(arguments->private_data, from, bytes);
	return STATUS_SUCCESS;
}

static NTSTATUS
read_peer(CONST PSOCKADDR address, ULONG bytes, struct arguments *arguments)
{
	NTSTATUS status =
		ndk_address_read(address, bytes, &arguments->remote, &arguments->remote_port);

	if (status == STATUS_SUCCESS &&
	    (plx_session_ip_is_any(&arguments->remote) || arguments->remote_port == 0))
		status = STATUS_INVALID_ADDRESS;
	return status;
}

/* More than the adapter's read limits is capped silently. */
static void
fill_options(struct ndk_connector *connector, const struct arguments *arguments)
{
	const NDK_ADAPTER_INFO *limits = ndk_limits(&connector->object);
	struct plx_connect_options *options = &connector->connect_options;

	plx_connect_options_init(options);
	options->responder_resources =
		plx_session_read_limit(arguments->inbound, limits->MaxInboundReadLimit);
	options->initiator_depth =
		plx_session_read_limit(arguments->outbound, limits->MaxOutboundReadLimit);
	options->keep_posted = true;
	memcpy(connector->sent_private_data, arguments->private_data, arguments->private_bytes);
	options->private_data = connector->sent_private_data;
	options->private_bytes = arguments->private_bytes;
}

/* The connector keeps what it used last until its end, connected or not. What it has used before is
 * released with the arguments. */
static void
attach(struct ndk_connector *connector, struct arguments *arguments)
{
	struct ndk_shared_endpoint *shared = connector->shared;
	struct ndk_qp *qp = connector->qp;

	connector->qp = arguments->qp;
	connector->qp->connector = connector;
	connector->shared = arguments->shared;
	arguments->qp = qp;
	arguments->shared = shared;
}

/* ---- the active side ---- */

/* Is there a connection between these addresses and ports already? */
static bool
is_connected(const struct ndk_connector *connector, const struct arguments *arguments)
{
	struct plx_session *session = ndk_session_for(&connector->object);
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ndk_session_of(session)->connectors) {
		const struct ndk_connector *other =
			plx_list_entry(node, struct ndk_connector, node);

		if (other != connector && other->lower != NULL &&
		    other->local_port == arguments->local_port &&
		    other->remote_port == arguments->remote_port &&
		    plx_session_ip_equal(&other->local, &arguments->local) &&
		    plx_session_ip_equal(&other->remote, &arguments->remote))
			return true;
	}
	return false;
}

/* Where the connection comes from: the shared endpoint, or one that it has to itself. */
static NTSTATUS
take_endpoint(struct ndk_connector *connector, struct arguments *arguments)
{
	struct plx_session *session = ndk_session_for(&connector->object);
	struct ndk_endpoint *endpoint;
	NTSTATUS status;

	if (arguments->shared) {
		endpoint = arguments->shared->endpoint;
		ndk_endpoint_hold(endpoint);
	} else {
		if (plx_session_ip_is_any(&arguments->local))
			return STATUS_INVALID_ADDRESS;
		/* of an earlier attempt: the same port may be wanted again */
		ndk_endpoint_release(connector->endpoint);
		connector->endpoint = NULL;
		status = ndk_endpoint_make(session, &arguments->local, arguments->local_port,
					   &endpoint);
		if (status != STATUS_SUCCESS)
			return status;
	}
	ndk_endpoint_release(connector->endpoint);
	connector->endpoint = endpoint;
	arguments->local = endpoint->ip;
	arguments->local_port = endpoint->port;
	return STATUS_SUCCESS;
}

static NTSTATUS
send_req(struct ndk_connector *connector, struct ndk_qp *qp)
{
	struct plx_connect_options *options = &connector->connect_options;
	struct plx_session *session = ndk_session_for(&connector->object);
	enum plx_status status = PLX_OK;
	struct plx_qp_address from;
	struct plx_why why = {""};

	/* With a local address given, a missing route would be noticed only when the neighbour
	 * times out. */
	if (plx_qp_address(qp->qp, &options->remote, &from) == PLX_UNREACHABLE)
		return STATUS_NETWORK_UNREACHABLE;
	if (!connector->lower)
		status = plx_connector_create(session->channel, (uintptr_t)&connector->subscriber,
					      &connector->lower);
	if (status == PLX_OK)
		status = plx_connect(connector->lower, qp->qp, options, &why);
	if (*why.text)
		ndk_log("connect: %s", why.text);
	if (status == PLX_STATE)
		return STATUS_CONNECTION_ACTIVE;
	return status == PLX_INVALID ? STATUS_INVALID_ADDRESS : ndk_call_status(status);
}

static void
set_addresses(struct ndk_connector *connector, const struct arguments *arguments)
{
	pthread_mutex_lock(&connector->lock);
	connector->local = arguments->local;
	connector->local_port = arguments->local_port;
	connector->remote = arguments->remote;
	connector->remote_port = arguments->remote_port;
	pthread_mutex_unlock(&connector->lock);
}

static NTSTATUS
connect_locked(struct ndk_connector *connector, struct arguments *arguments,
	       struct ndk_request *request)
{
	NTSTATUS status = ndk_connector_peek(connector, NDK_ON_CONNECT).status;

	if (status != STATUS_PENDING)
		return status;
	if (arguments->qp->connector)
		return STATUS_CONNECTION_ACTIVE;
	status = take_endpoint(connector, arguments);
	if (status != STATUS_SUCCESS)
		return status;
	if (arguments->local.version != arguments->remote.version)
		return STATUS_INVALID_ADDRESS;
	if (plx_session_ip_is_loopback(&arguments->remote))
		arguments->remote = arguments->local;
	if (is_connected(connector, arguments))
		return STATUS_ADDRESS_ALREADY_EXISTS;
	fill_options(connector, arguments);
	connector->connect_options.local = arguments->local;
	connector->connect_options.local_port = arguments->local_port;
	connector->connect_options.remote = arguments->remote;
	connector->connect_options.remote_port = arguments->remote_port;
	set_addresses(connector, arguments);
	status = send_req(connector, arguments->qp);
	if (status != STATUS_SUCCESS)
		return status;
	plx_list_remove(&connector->node);
	plx_list_append(&ndk_session_of(ndk_session_for(&connector->object))->connectors,
			&connector->node);
	attach(connector, arguments);
	connector->request = request;
	return ndk_connector_take(connector, NDK_ON_CONNECT).status;
}

static NTSTATUS
run_connect(struct ndk_request *request)
{
	return with_events(request, connect_locked);
}

static NTSTATUS
read_connect(NDK_CONNECTOR *face, CONST PSOCKADDR peer, ULONG peer_bytes, CONST PVOID private_data,
	     ULONG private_bytes, struct arguments *arguments)
{
	const NDK_ADAPTER_INFO *limits = ndk_limits(&ndk_connector_of(face)->object);
	NTSTATUS status = read_peer(peer, peer_bytes, arguments);

	if (status == STATUS_SUCCESS)
		status =
			read_private(private_data, private_bytes, limits->MaxCallerData, arguments);
	return status;
}

NTSTATUS
ndk_connect(NDK_CONNECTOR *face, NDK_QP *qp, CONST PSOCKADDR source, ULONG source_bytes,
	    CONST PSOCKADDR peer, ULONG peer_bytes, ULONG inbound, ULONG outbound,
	    CONST PVOID private_data, ULONG private_bytes, NDK_FN_REQUEST_COMPLETION done,
	    PVOID context)
{
	struct arguments arguments = {
		.qp = ndk_qp_of(qp), .inbound = inbound, .outbound = outbound};
	NTSTATUS status =
		ndk_address_read(source, source_bytes, &arguments.local, &arguments.local_port);

	if (status == STATUS_SUCCESS)
		status = read_connect(face, peer, peer_bytes, private_data, private_bytes,
				      &arguments);
	return status == STATUS_SUCCESS ? begin(face, run_connect, &arguments, done, context)
					: status;
}

NTSTATUS
ndk_connect_shared(NDK_CONNECTOR *face, NDK_QP *qp, NDK_SHARED_ENDPOINT *shared,
		   CONST PSOCKADDR peer, ULONG peer_bytes, ULONG inbound, ULONG outbound,
		   CONST PVOID private_data, ULONG private_bytes, NDK_FN_REQUEST_COMPLETION done,
		   PVOID context)
{
	struct arguments arguments = {
		.qp = ndk_qp_of(qp),
		.shared = ndk_shared_endpoint_of(shared),
		.inbound = inbound,
		.outbound = outbound,
	};
	NTSTATUS status =
		read_connect(face, peer, peer_bytes, private_data, private_bytes, &arguments);

	return status == STATUS_SUCCESS ? begin(face, run_connect, &arguments, done, context)
					: status;
}

/* The connection below has ended already; the event that says so may be on its way. */
static NTSTATUS
gone(struct ndk_connector *connector, enum plx_status status)
{
	if (status == PLX_STATE) {
		plx_session_deliver_locked(ndk_session_for(&connector->object));
		return STATUS_CONNECTION_ABORTED;
	}
	return status == PLX_AGAIN || status == PLX_UNREACHABLE ? STATUS_IO_TIMEOUT
								: ndk_call_status(status);
}

static void
set_events(struct ndk_connector *connector, const struct arguments *arguments)
{
	connector->event = arguments->event;
	connector->event_ex = arguments->event_ex;
	connector->event_context = arguments->event_context;
}

static NTSTATUS
complete_locked(struct ndk_connector *connector, struct arguments *arguments,
		struct ndk_request *request)
{
	NTSTATUS status = ndk_connector_peek(connector, NDK_ON_COMPLETE_CONNECT).status;
	struct plx_why why = {""};
	enum plx_status done;

	(void)request;
	if (status != STATUS_SUCCESS)
		return status;
	done = plx_establish(connector->lower, &why);
	if (done != PLX_OK) {
		ndk_log("complete connect: %s", why.text);
		return gone(connector, done);
	}
	set_events(connector, arguments);
	return ndk_connector_take(connector, NDK_ON_COMPLETE_CONNECT).status;
}

static NTSTATUS
run_complete(struct ndk_request *request)
{
	return with_events(request, complete_locked);
}

NTSTATUS
ndk_complete_connect(NDK_CONNECTOR *face, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
		     PVOID event_context, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	const struct arguments arguments = {.event = event, .event_context = event_context};

	return begin(face, run_complete, &arguments, done, context);
}

NTSTATUS
ndk_complete_connect_ex(NDK_CONNECTOR *face, NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event,
			PVOID event_context, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	const struct arguments arguments = {.event_ex = event, .event_context = event_context};

	return begin(face, run_complete, &arguments, done, context);
}

/* ---- the passive side ---- */

static NTSTATUS
accept_locked(struct ndk_connector *connector, struct arguments *arguments,
	      struct ndk_request *request)
{
	NTSTATUS status = ndk_connector_peek(connector, NDK_ON_ACCEPT).status;
	struct plx_why why = {""};
	enum plx_status done;

	if (status != STATUS_PENDING)
		return status;
	if (arguments->qp->connector)
		return STATUS_CONNECTION_ACTIVE;
	fill_options(connector, arguments);
	done = plx_accept(connector->lower, arguments->qp->qp, &connector->connect_options, &why);
	if (done != PLX_OK) {
		ndk_log("accept: %s", why.text);
		return gone(connector, done);
	}
	set_events(connector, arguments);
	attach(connector, arguments);
	connector->request = request;
	return ndk_connector_take(connector, NDK_ON_ACCEPT).status;
}

static NTSTATUS
run_accept(struct ndk_request *request)
{
	return with_events(request, accept_locked);
}

static NTSTATUS
accept_with(NDK_CONNECTOR *face, struct arguments *arguments, CONST PVOID private_data,
	    ULONG private_bytes, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	const NDK_ADAPTER_INFO *limits = ndk_limits(&ndk_connector_of(face)->object);
	NTSTATUS status =
		read_private(private_data, private_bytes, limits->MaxCalleeData, arguments);

	return status == STATUS_SUCCESS ? begin(face, run_accept, arguments, done, context)
					: status;
}

NTSTATUS
ndk_accept(NDK_CONNECTOR *face, NDK_QP *qp, ULONG inbound, ULONG outbound, CONST PVOID private_data,
	   ULONG private_bytes, NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID event_context,
	   NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct arguments arguments = {
		.qp = ndk_qp_of(qp),
		.inbound = inbound,
		.outbound = outbound,
		.event = event,
		.event_context = event_context,
	};

	return accept_with(face, &arguments, private_data, private_bytes, done, context);
}

NTSTATUS
ndk_accept_ex(NDK_CONNECTOR *face, NDK_QP *qp, ULONG inbound, ULONG outbound,
	      CONST PVOID private_data, ULONG private_bytes,
	      NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event, PVOID event_context,
	      NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct arguments arguments = {
		.qp = ndk_qp_of(qp),
		.inbound = inbound,
		.outbound = outbound,
		.event_ex = event,
		.event_context = event_context,
	};

	return accept_with(face, &arguments, private_data, private_bytes, done, context);
}

/* ---- both sides ---- */

/* The step was taken by the call. STATE: the peer gave up at this moment. */
static NTSTATUS
reject_locked(struct ndk_connector *connector, struct arguments *arguments,
	      struct ndk_request *request)
{
	struct ndk_connector_step step = {.effects = NDK_DO_DETACH | NDK_DO_CUT};

	(void)request;
	if (connector->lower && plx_reject(connector->lower, arguments->private_data,
					   arguments->private_bytes) == PLX_TIMEOUT)
		return NDK_STALLED;
	ndk_connector_apply(connector, step, NULL);
	return STATUS_SUCCESS;
}

static NTSTATUS
run_reject(struct ndk_request *request)
{
	return with_events(request, reject_locked);
}

/* Synchronous: the outcome is known at once, and the message leaves in a moment. */
NTSTATUS
ndk_reject(NDK_CONNECTOR *face, CONST PVOID private_data, ULONG private_bytes)
{
	struct ndk_connector *connector = ndk_connector_of(face);
	const NDK_ADAPTER_INFO *limits = ndk_limits(&connector->object);
	struct arguments arguments = {0};
	NTSTATUS status =
		read_private(private_data, private_bytes, limits->MaxCalleeData, &arguments);

	if (status == STATUS_SUCCESS)
		status = ndk_connector_peek(connector, NDK_ON_REJECT).status;
	if (status == STATUS_SUCCESS)
		status = begin(face, run_reject, &arguments, NULL, NULL);
	if (status != STATUS_PENDING)
		return status;
	return ndk_connector_take(connector, NDK_ON_REJECT).status;
}

static NTSTATUS
disconnect_locked(struct ndk_connector *connector, struct arguments *arguments,
		  struct ndk_request *request)
{
	struct ndk_connector_step step = ndk_connector_peek(connector, NDK_ON_DISCONNECT);

	(void)arguments;
	if (step.status != STATUS_SUCCESS && step.status != STATUS_PENDING)
		return step.status;
	/* STATE: the peer has left at this moment: its event completes the request */
	if (connector->lower && plx_disconnect(connector->lower) == PLX_TIMEOUT)
		return NDK_STALLED;
	if (step.status == STATUS_PENDING)
		connector->request = request;
	step = ndk_connector_take(connector, NDK_ON_DISCONNECT);
	step.effects &= ~(unsigned int)NDK_DO_PART; /* done */
	ndk_connector_apply(connector, step, NULL);
	return step.status;
}

static NTSTATUS
run_disconnect(struct ndk_request *request)
{
	return with_events(request, disconnect_locked);
}

NTSTATUS
ndk_disconnect(NDK_CONNECTOR *face, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	const struct arguments arguments = {0};

	return begin(face, run_disconnect, &arguments, done, context);
}
