/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connectors: each is one end of one connection at a time. The host of the adapter checks options
 * and does the work; here addresses are recorded.
 * It only waits for the host, and once for a neighbour that was known a moment ago.
 * Start with plx_connect().
 */
#include <stdlib.h>
#include <string.h>

#include "connector.h"

enum {
	READS_DEFAULT = 16,
	CONNECT_RNR_BY_QUEUE = 0xff,
};

/* Time limit for resolving again a neighbour that has just sent us something. */
#define RESOLVE_NS (3 * PLX_SEC)

void
plx_connect_options_init(struct plx_connect_options *options)
{
	struct plx_qp_attr qp_attr;

	plx_qp_attr_init(&qp_attr);
	*options = (struct plx_connect_options){
		.access = qp_attr.access,
		.responder_resources = READS_DEFAULT,
		.initiator_depth = READS_DEFAULT,
		.retry = qp_attr.retry,
		.rnr_retry = CONNECT_RNR_BY_QUEUE,
		.rnr_timer = qp_attr.rnr_timer,
		.ack_timeout = qp_attr.ack_timeout,
		.dscp = qp_attr.dscp,
	};
}

/* ---- creation and destruction ---- */

static enum plx_status
create(struct plx_connector *connector)
{
	const struct plx_ipc_connector_create request = {
		.channel = connector->channel->object,
		.cookie = connector->cookie,
	};
	struct plx_ipc_object reply;
	enum plx_status status = adapter_call(adapter_of_connector(connector),
					      PLX_IPC_CONNECTOR_CREATE, &request, &reply, NULL);

	if (status == PLX_OK)
		connector->object = reply.object;
	return status;
}

/* Make it that of a request. */
static enum plx_status
adopt(struct plx_connector *connector, const struct plx_cm_event *requested)
{
	const struct plx_ipc_request_of request = {.object = connector->object,
						   .id = requested->id.v};
	struct plx_ipc_nothing none;

	connector->info = requested->peer.info;
	return adapter_call(adapter_of_connector(connector), PLX_IPC_CONNECTOR_ADOPT, &request,
			    &none, NULL);
}

struct plx_connector *
connector_alloc(struct plx_event_channel *channel)
{
	struct plx_connector *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return NULL;
	made->channel = channel;
	made->cookie = plx_cookie_alloc(channel->adapter, made);
	if (made->cookie != 0)
		return made;
	free(made);
	return NULL;
}

void
connector_free(struct plx_connector *connector)
{
	plx_cookie_free(adapter_of_connector(connector), connector->cookie);
	free(connector);
}

enum plx_status
connector_make(struct plx_event_channel *channel, const struct plx_cm_event *requested,
	       struct plx_connector **out)
{
	struct plx_connector *made = connector_alloc(channel);
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	status = create(made);
	if (status == PLX_OK && requested != NULL) {
		status = adopt(made, requested);
		if (status != PLX_OK)
			(void)!adapter_call_on(channel->adapter, PLX_IPC_DESTROY, made->object.v);
	}
	if (status != PLX_OK) {
		connector_free(made);
		return status;
	}
	*out = made;
	return PLX_OK;
}

enum plx_status
plx_connector_create(struct plx_event_channel *channel, uint64_t context,
		     struct plx_connector **connector)
{
	enum plx_status status = connector_make(channel, NULL, connector);

	if (status == PLX_OK)
		(*connector)->context = context;
	return status;
}

enum plx_status
plx_connector_destroy(struct plx_connector *connector)
{
	struct plx_adapter *adapter = adapter_of_connector(connector);
	enum plx_status status = adapter_call_on(adapter, PLX_IPC_DESTROY, connector->object.v);

	/* One that was lent may be another program's meanwhile. */
	if (status == PLX_NO_KEY)
		status = PLX_OK;
	if (status == PLX_OK)
		connector_free(connector);
	return status;
}

void
plx_connector_set_context(struct plx_connector *connector, uint64_t context)
{
	pthread_mutex_lock(&adapter_of_connector(connector)->lock);
	connector->context = context;
	pthread_mutex_unlock(&adapter_of_connector(connector)->lock);
}

enum plx_status
plx_connector_query(const struct plx_connector *connector, struct plx_connector_info *out)
{
	struct plx_adapter *adapter = adapter_of_connector(connector);

	pthread_mutex_lock(&adapter->lock);
	*out = connector->info;
	pthread_mutex_unlock(&adapter->lock);
	return out->local.version != 0 ? PLX_OK : PLX_STATE;
}

/* ---- steps of a connection ---- */

/* @param most bytes of private data that travel with the message */
static enum plx_status
fill(const struct plx_connector *connector, const struct plx_qp *qp,
     const struct plx_connect_options *options, uint32_t most, struct plx_ipc_connect *request,
     struct plx_why *why)
{
	uint32_t bytes = options->private_bytes;

	if (bytes > 0 && options->private_data == NULL) {
		plx_why_set(why,
			    "%u bytes of private data and no pointer to them; at most %u travel "
			    "with this message",
			    bytes, most);
		return PLX_TOO_LONG;
	}
	*request = (struct plx_ipc_connect){.object = connector->object, .options = *options};
	request->options.private_data = NULL;
	/* The host says what is too long; so long it need not be. */
	if (bytes > 0 && bytes <= most)
		memcpy(request->private_data, options->private_data, bytes);
	/* Of another adapter it is none of this one's. */
	if (qp != NULL && adapter_of(qp) == adapter_of_connector(connector))
		request->qp.v = qp->object;
	return PLX_OK;
}

static void
set_info(struct plx_connector *connector, const struct plx_connect_options *options,
	 const struct plx_ipc_connecting *made)
{
	struct plx_adapter *adapter = adapter_of_connector(connector);

	pthread_mutex_lock(&adapter->lock);
	connector->info = (struct plx_connector_info){
		.local = made->local,
		.remote = options->remote,
		.local_port = made->local_port,
		.remote_port = options->remote_port,
	};
	pthread_mutex_unlock(&adapter->lock);
}

/* @param op CONNECT, SIDR_REQUEST */
static enum plx_status
connect_by(struct plx_connector *connector, enum plx_ipc_op op, const struct plx_qp *qp,
	   const struct plx_connect_options *options, struct plx_why *why)
{
	struct plx_ipc_connecting reply;
	struct plx_ipc_connect request;
	enum plx_status status =
		fill(connector, qp, options, PLX_PRIVATE_CONNECT_MAX, &request, why);

	if (status == PLX_OK)
		status = adapter_call(adapter_of_connector(connector), op, &request, &reply, why);
	if (status == PLX_OK)
		set_info(connector, options, &reply);
	return status;
}

enum plx_status
plx_connect(struct plx_connector *connector, struct plx_qp *qp,
	    const struct plx_connect_options *options, struct plx_why *why)
{
	return connect_by(connector, PLX_IPC_CONNECT, qp, options, why);
}

enum plx_status
plx_sidr_request(struct plx_connector *connector, const struct plx_connect_options *options,
		 struct plx_why *why)
{
	return connect_by(connector, PLX_IPC_SIDR_REQUEST, NULL, options, why);
}

/* Try again while the neighbour is being resolved, which was known a moment ago. */
static enum plx_status
call_until_resolved(struct plx_connector *connector, enum plx_ipc_op op, const void *request,
		    struct plx_why *why)
{
	struct plx_adapter *adapter = adapter_of_connector(connector);
	uint64_t deadline = plx_steady_ns() + RESOLVE_NS;
	struct plx_ipc_nothing none;
	enum plx_status status;

	for (;;) {
		status = adapter_call(adapter, op, request, &none, why);
		if (status != PLX_AGAIN || plx_steady_ns() >= deadline)
			return status;
		plx_adapter_pause(adapter, PLX_MSEC);
	}
}

/* The peer, for sentences. */
static struct plx_ip
peer_of(struct plx_connector *connector)
{
	struct plx_connector_info info;

	(void)!plx_connector_query(connector, &info);
	return info.remote;
}

enum plx_status
plx_establish(struct plx_connector *connector, struct plx_why *why)
{
	const struct plx_ipc_establish request = {connector->object, peer_of(connector)};

	return call_until_resolved(connector, PLX_IPC_ESTABLISH, &request, why);
}

enum plx_status
plx_accept(struct plx_connector *connector, struct plx_qp *qp,
	   const struct plx_connect_options *options, struct plx_why *why)
{
	struct plx_ipc_connect request;
	enum plx_status status =
		fill(connector, qp, options, PLX_PRIVATE_ACCEPT_MAX, &request, why);

	if (status != PLX_OK)
		return status;
	request.peer = peer_of(connector);
	return call_until_resolved(connector, PLX_IPC_ACCEPT, &request, why);
}

enum plx_status
plx_reject(struct plx_connector *connector, const void *private_data, uint32_t private_bytes)
{
	struct plx_ipc_reject request = {.object = connector->object,
					 .private_bytes = private_bytes};
	struct plx_ipc_nothing none;

	if (private_bytes > 0 && private_data == NULL)
		return PLX_INVALID;
	if (private_bytes > 0 && private_bytes <= sizeof(request.private_data))
		memcpy(request.private_data, private_data, private_bytes);
	return adapter_call(adapter_of_connector(connector), PLX_IPC_REJECT, &request, &none, NULL);
}

enum plx_status
plx_disconnect(struct plx_connector *connector)
{
	return adapter_call_on(adapter_of_connector(connector), PLX_IPC_DISCONNECT,
			       connector->object.v);
}
