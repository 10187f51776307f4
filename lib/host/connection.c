/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Channels, listeners and connectors of a seat. lib/engine/link does the work. Here options are
 * checked, with sentences.
 * It only waits for the engine, never for the network. Start with host_connect().
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum {
	CONNECT_RNR_BY_QUEUE = 0xff,
	RNR_RETRY_FINITE =
		6, /* with the default timer, a message without a receive fails after 1.5 s */
	FIRST_PRIVATE_PORT = 49152,
	PRIVATE_PORTS = 65536 - FIRST_PRIVATE_PORT,
};

/* ---- channels ---- */

HOST_FN(host_channel_create)
{
	const struct plx_ipc_channel_create *request = arg;
	struct host_channel *channel = calloc(1, sizeof(*channel));
	struct plx_ipc_channel_created *made = reply;
	enum plx_status status = PLX_NO_MEMORY;

	(void)why;
	if (channel != NULL)
		status = plx_channel_back_create(seat->back[0], request->depth, &channel->back);
	if (status == PLX_OK) {
		status = host_enter(seat, &channel->object, HOST_CHANNEL, why);
		if (status != PLX_OK)
			PLX_ASSERT(plx_channel_back_destroy(channel->back) != PLX_BUSY);
	}
	if (status != PLX_OK) {
		free(channel);
		return status;
	}
	seat->adapter->count.event_channels++;
	made->object.v = channel->object.number;
	made->front = host_place_of(seat, plx_channel_back_front(channel->back));
	return PLX_OK;
}

enum plx_status
host_channel_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_channel *channel = (struct host_channel *)object;
	enum plx_status status = plx_channel_back_destroy(channel->back);

	if (status != PLX_OK)
		return status;
	seat->adapter->count.event_channels--;
	host_leave(seat, object);
	free(channel);
	return PLX_OK;
}

HOST_FN(host_channel_refuse)
{
	const struct plx_ipc_request_of *request = arg;
	struct host_channel *channel = host_find(seat, request->object, HOST_CHANNEL);

	(void)reply;
	(void)why;
	if (channel == NULL)
		return PLX_NO_KEY;
	return plx_channel_back_refuse(channel->back, (struct plx_cm_id){request->id});
}

/* ---- listeners ---- */

static enum plx_status
check_listen(const struct host_adapter *adapter, const struct plx_ipc_listen *request,
	     const struct host_queue_pair *ud, struct plx_why *why)
{
	if (request->local.version != 0 && !plx_net_is_own(adapter->net[0], &request->local)) {
		plx_why_set(why,
			    "%s is no address of adapter %s; listen on one of its own, or on "
			    "all by version 0",
			    plx_address_text(&request->local).s, adapter->info.name);
		return PLX_INVALID;
	}
	if (request->port == 0) {
		plx_why_set(why, "port 0 is none; give 1 to 65535");
		return PLX_INVALID;
	}
	if (request->backlog > PLX_CM_BACKLOG_MAX) {
		plx_why_set(why, "a backlog of %u; give at most %d, or 0 for no limit of its own",
			    request->backlog, PLX_CM_BACKLOG_MAX);
		return PLX_INVALID;
	}
	if (request->ud.v != 0 && (ud == NULL || ud->made.type != PLX_QP_UD)) {
		plx_why_set(why, "the queue pair of a UD service is a UD one of adapter %s",
			    adapter->info.name);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static void
explain_listen(enum plx_status status, uint16_t port, struct plx_why *why)
{
	if (status == PLX_BUSY)
		plx_why_set(why, "port %u is listened on already; choose another", port);
	else if (status == PLX_FULL)
		plx_why_set(why, "the adapter has %d listeners, and can have no more",
			    PLX_CM_LISTENERS_MAX);
	else
		plx_why_set(why, "port %u cannot be listened on: %s", port,
			    plx_status_text(status));
}

HOST_FN(host_listen)
{
	const struct plx_ipc_listen *request = arg;
	struct host_channel *channel = host_find(seat, request->channel, HOST_CHANNEL);
	const struct host_queue_pair *ud = host_find(seat, request->ud, HOST_QP);
	enum plx_status status = check_listen(seat->adapter, request, ud, why);
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP,
				       .local = request->local,
				       .port = request->port,
				       .backlog = request->backlog};
	struct plx_ipc_object *made = reply;
	struct host_listener *listener;

	if (channel == NULL)
		return PLX_NO_KEY;
	if (status == PLX_OK && seat->foreign)
		status = plx_host_may_listen(seat->rights, &seat->who, seat->adapter->info.name,
					     request->port, why);
	if (status != PLX_OK)
		return status;
	if (ud != NULL) {
		listen.space = PLX_PORT_SPACE_UDP;
		listen.qpn = ud->made.qpn;
		listen.qkey = ud->made.qkey;
	}
	listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return PLX_NO_MEMORY;
	status = host_enter(seat, &listener->object, HOST_LISTENER, why);
	if (status == PLX_OK) {
		status = plx_listener_back_create(channel->back, &listen, request->cookie,
						  &listener->back);
		if (status != PLX_OK) {
			explain_listen(status, request->port, why);
			host_leave(seat, &listener->object);
		}
	}
	if (status != PLX_OK) {
		free(listener);
		return status;
	}
	seat->adapter->count.listeners++;
	made->object.v = listener->object.number;
	return PLX_OK;
}

enum plx_status
host_listener_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_listener *listener = (struct host_listener *)object;
	enum plx_status status = plx_listener_back_destroy(listener->back);

	if (status != PLX_OK)
		return status;
	seat->adapter->count.listeners--;
	host_leave(seat, object);
	free(listener);
	return PLX_OK;
}

/* ---- connectors ---- */

enum plx_status
host_connector_enter(struct host_seat *seat, struct host_connector **out, struct plx_why *why)
{
	struct host_connector *connector = calloc(1, sizeof(*connector));
	enum plx_status status;

	if (connector == NULL)
		return PLX_NO_MEMORY;
	status = host_enter(seat, &connector->object, HOST_CONNECTOR, why);
	if (status != PLX_OK) {
		free(connector);
		return status;
	}
	*out = connector;
	return PLX_OK;
}

void
host_connector_leave(struct host_seat *seat, struct host_connector *connector)
{
	host_leave(seat, &connector->object);
	free(connector);
}

HOST_FN(host_connector_create)
{
	const struct plx_ipc_connector_create *request = arg;
	struct host_channel *channel = host_find(seat, request->channel, HOST_CHANNEL);
	struct plx_ipc_object *made = reply;
	struct host_connector *connector;
	enum plx_status status;

	if (channel == NULL)
		return PLX_NO_KEY;
	status = host_connector_enter(seat, &connector, why);
	if (status != PLX_OK)
		return status;
	status = plx_connector_back_create(channel->back, request->cookie, &connector->back);
	if (status != PLX_OK) {
		host_connector_leave(seat, connector);
		return status;
	}
	seat->adapter->count.connectors++;
	made->object.v = connector->object.number;
	return PLX_OK;
}

enum plx_status
host_connector_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_connector *connector = (struct host_connector *)object;
	enum plx_status status = plx_connector_back_destroy(connector->back);

	if (status != PLX_OK)
		return status;
	seat->adapter->count.connectors--;
	host_connector_leave(seat, connector);
	return PLX_OK;
}

HOST_FN(host_connector_adopt)
{
	const struct plx_ipc_request_of *request = arg;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);

	(void)reply;
	(void)why;
	if (connector == NULL)
		return PLX_NO_KEY;
	return plx_connector_back_adopt(connector->back, (struct plx_cm_id){request->id});
}

/* ---- from options to the engine's parameters ---- */

static void
qp_attr_of(const struct plx_connect_options *options, struct plx_qp_attr *qp_attr)
{
	*qp_attr = (struct plx_qp_attr){
		.path_mtu = options->path_mtu,
		.access = options->access,
		.retry = options->retry,
		.rnr_retry = options->rnr_retry == CONNECT_RNR_BY_QUEUE ? RNR_RETRY_FINITE
									: options->rnr_retry,
		.rnr_timer = options->rnr_timer,
		.ack_timeout = options->ack_timeout,
		.dscp = options->dscp,
	};
}

static enum plx_status
check_mtu(const struct host_adapter *adapter, uint32_t mtu, struct plx_why *why)
{
	if (mtu == 0 || (is_mtu(mtu) && mtu <= adapter->path_mtu))
		return PLX_OK;
	plx_why_set(why,
		    "path MTU %u is none that the port carries; give 256, 512, 1024, 2048 or 4096, "
		    "at most %u, or 0",
		    mtu, adapter->path_mtu);
	return is_mtu(mtu) ? PLX_TOO_LONG : PLX_INVALID;
}

static enum plx_status
check_private(const struct plx_connect_options *options, uint32_t most, struct plx_why *why)
{
	if (options->private_bytes <= most)
		return PLX_OK;
	plx_why_set(why, "%u bytes of private data; at most %u travel with this message",
		    options->private_bytes, most);
	return PLX_TOO_LONG;
}

/* A bool of a program in another process may be any byte. */
static bool
is_set(const bool *flag)
{
	uint8_t byte;

	memcpy(&byte, flag, sizeof(byte));
	return byte != 0;
}

static enum plx_status
make_attr(const struct host_adapter *adapter, const struct host_queue_pair *qp,
	  const struct plx_ipc_connect *request, struct plx_link_attr *attr, struct plx_why *why)
{
	const struct plx_connect_options *options = &request->options;
	struct plx_qp_attr qp_attr;
	enum plx_status status;
	uint8_t resources;

	if (qp == NULL || qp->made.type == PLX_QP_UD) {
		plx_why_set(why, "the queue pair is not an RC one of adapter %s",
			    adapter->info.name);
		return PLX_INVALID;
	}
	qp_attr_of(options, &qp_attr);
	status = host_attr_check(&qp_attr, why);
	if (status == PLX_OK)
		status = check_mtu(adapter, options->path_mtu, why);
	if (status != PLX_OK)
		return status;
	resources = (uint8_t)qp->made.caps.responder_resources;
	*attr = (struct plx_link_attr){
		.path = {.local = options->local, .remote = options->remote},
		.own = {.path_mtu = options->path_mtu ? options->path_mtu : adapter->path_mtu,
			.responder_resources = options->responder_resources < resources
						       ? options->responder_resources
						       : resources,
			.initiator_depth = options->initiator_depth,
			.rnr_retry = options->rnr_retry,
			.retry = options->retry,
			.ack_timeout = options->ack_timeout,
			.selective = true},
		.local_port = options->local_port,
		.remote_port = options->remote_port,
		.private_data = request->private_data,
		.private_bytes = options->private_bytes,
		.grace_ns = is_set(&options->keep_posted)
				    ? PLX_NEVER
				    : adapter->options.disconnect_grace_ms * PLX_MSEC,
	};
	if (options->rnr_retry == CONNECT_RNR_BY_QUEUE)
		attr->own.rnr_retry = qp->made.has_srq ? PLX_RNR_RETRY_FOREVER : RNR_RETRY_FINITE;
	host_attr_to_rc(adapter, &qp_attr, &attr->rc, &attr->path);
	return PLX_OK;
}

/* Choose a local port for a connector without one, in rotation, so that none is reused soon. */
static uint16_t
choose_port(struct host_adapter *adapter)
{
	uint32_t n = atomic_fetch_add(&adapter->next_port, 1);

	return (uint16_t)(FIRST_PRIVATE_PORT + n % PRIVATE_PORTS);
}

static enum plx_status
explain(const struct host_adapter *adapter, enum plx_status status, const struct plx_ip *remote,
	struct plx_why *why)
{
	const char *name = adapter->info.name;

	if (status == PLX_STATE)
		plx_why_set(why,
			    "the connector or the queue pair is in use, or not where this step "
			    "begins; take the connector's events first");
	else if (status == PLX_UNREACHABLE)
		plx_why_set(why,
			    "%s is in no network of adapter %s and behind no route; check both "
			    "addresses, prefixes and routes",
			    plx_address_text(remote).s, name);
	else if (status == PLX_FULL)
		plx_why_set(why,
			    "adapter %s has all of its connections; end one, or open it with more "
			    "(`connections`)",
			    name);
	else if (status == PLX_TIMEOUT)
		plx_why_set(why, "the engine of adapter %s has not answered for %d s", name,
			    (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	else if (status != PLX_OK)
		plx_why_set(why, "the connection to %s: %s", plx_address_text(remote).s,
			    plx_status_text(status));
	return status;
}

/* Tell where the connection comes from. */
static void
tell(const struct host_adapter *adapter, const struct plx_link_attr *attr,
     struct plx_ipc_connecting *reply)
{
	struct plx_ip local = attr->path.local;

	if (local.version == 0)
		(void)!plx_net_source(adapter->net[0], &attr->path.remote, &local);
	*reply = (struct plx_ipc_connecting){.local = local, .local_port = attr->local_port};
}

/* ---- steps of a connection ---- */

HOST_FN(host_connect)
{
	const struct plx_ipc_connect *request = arg;
	const struct plx_connect_options *options = &request->options;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_adapter *adapter = seat->adapter;
	struct plx_link_attr attr;
	enum plx_status status;

	if (connector == NULL)
		return PLX_NO_KEY;
	status = make_attr(adapter, qp, request, &attr, why);
	if (status == PLX_OK)
		status = check_private(options, PLX_PRIVATE_CONNECT_MAX, why);
	if (status != PLX_OK)
		return status;
	if (options->remote_port == 0) {
		plx_why_set(why, "port 0 of %s is none; give 1 to 65535",
			    plx_address_text(&options->remote).s);
		return PLX_INVALID;
	}
	if (attr.local_port == 0)
		attr.local_port = choose_port(adapter);
	status = plx_connector_back_connect(connector->back, qp->listed.back, &attr);
	if (status == PLX_OK)
		connector->qp = request->qp;
	if (status == PLX_OK)
		tell(adapter, &attr, reply);
	return explain(adapter, status, &options->remote, why);
}

HOST_FN(host_sidr_request)
{
	const struct plx_ipc_connect *request = arg;
	const struct plx_connect_options *options = &request->options;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);
	struct host_adapter *adapter = seat->adapter;
	struct plx_link_attr attr = {
		.path = {.local = options->local, .remote = options->remote},
		.local_port = options->local_port,
		.remote_port = options->remote_port,
		.private_data = request->private_data,
		.private_bytes = options->private_bytes,
	};
	enum plx_status status = check_private(options, PLX_PRIVATE_CONNECT_MAX, why);

	if (connector == NULL)
		return PLX_NO_KEY;
	if (status != PLX_OK)
		return status;
	if (attr.local_port == 0)
		attr.local_port = choose_port(adapter);
	status = plx_connector_back_sidr_request(connector->back, &attr);
	if (status == PLX_OK)
		tell(adapter, &attr, reply);
	return explain(adapter, status, &options->remote, why);
}

HOST_FN(host_establish)
{
	const struct plx_ipc_establish *request = arg;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);

	(void)reply;
	if (connector == NULL)
		return PLX_NO_KEY;
	return explain(seat->adapter, plx_connector_back_establish(connector->back), &request->peer,
		       why);
}

HOST_FN(host_accept)
{
	const struct plx_ipc_connect *request = arg;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_adapter *adapter = seat->adapter;
	struct plx_link_attr attr;
	enum plx_status status;

	(void)reply;
	if (connector == NULL)
		return PLX_NO_KEY;
	status = make_attr(adapter, qp, request, &attr, why);
	if (status == PLX_OK)
		status = check_private(&request->options, PLX_PRIVATE_ACCEPT_MAX, why);
	if (status != PLX_OK)
		return status;
	status = plx_connector_back_accept(connector->back, qp->listed.back, &attr);
	if (status == PLX_OK)
		connector->qp = request->qp;
	return explain(adapter, status, &request->peer, why);
}

HOST_FN(host_reject)
{
	const struct plx_ipc_reject *request = arg;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);

	(void)reply;
	(void)why;
	if (connector == NULL)
		return PLX_NO_KEY;
	if (request->private_bytes > PLX_PRIVATE_REJECT_MAX)
		return PLX_TOO_LONG;
	return plx_connector_back_reject(connector->back, request->private_data,
					 request->private_bytes);
}

HOST_FN(host_disconnect)
{
	const struct plx_ipc_object *request = arg;
	struct host_connector *connector = host_find(seat, request->object, HOST_CONNECTOR);

	(void)reply;
	(void)why;
	return connector != NULL ? plx_connector_back_disconnect(connector->back) : PLX_NO_KEY;
}
