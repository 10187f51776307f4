/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connectors: each is one end of one connection at a time. lib/engine/link does the work. Here
 * options are checked, with sentences, and addresses are recorded.
 * It only waits for the engine, and once for a neighbour that was known a moment ago.
 * Start with plx_connect().
 */
#include "connector.h"

enum {
	READS_DEFAULT = 16,
	CONNECT_RNR_BY_QUEUE = 0xff,
	RNR_RETRY_FINITE =
		6, /* with the default timer, a message without a receive fails after 1.5 s */
	FIRST_PRIVATE_PORT = 49152,
	PRIVATE_PORTS = 65536 - FIRST_PRIVATE_PORT,
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
check_mtu(const struct plx_adapter *adapter, uint32_t mtu, struct plx_why *why)
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
	if (options->private_bytes <= most &&
	    (options->private_bytes == 0 || options->private_data != NULL))
		return PLX_OK;
	plx_why_set(why, "%u bytes of private data%s; at most %u travel with this message",
		    options->private_bytes,
		    options->private_data == NULL ? " and no pointer to them" : "", most);
	return PLX_TOO_LONG;
}

static enum plx_status
make_attr(const struct plx_connector *connector, const struct plx_qp *qp,
	  const struct plx_connect_options *options, struct plx_link_attr *attr,
	  struct plx_why *why)
{
	const struct plx_adapter *adapter = adapter_of_connector(connector);
	struct plx_qp_attr qp_attr;
	enum plx_status status;

	if (adapter_of(qp) != adapter || is_ud(qp)) {
		plx_why_set(why, "the queue pair is not an RC one of adapter %s",
			    adapter->info.name);
		return PLX_INVALID;
	}
	qp_attr_of(options, &qp_attr);
	status = qp_attr_check(&qp_attr, why);
	if (status == PLX_OK)
		status = check_mtu(adapter, options->path_mtu, why);
	if (status != PLX_OK)
		return status;
	*attr = (struct plx_link_attr){
		.path = {.local = options->local, .remote = options->remote},
		.own = {.path_mtu = options->path_mtu ? options->path_mtu : adapter->path_mtu,
			.responder_resources =
				options->responder_resources < responder_resources_of(qp)
					? options->responder_resources
					: responder_resources_of(qp),
			.initiator_depth = options->initiator_depth,
			.rnr_retry = options->rnr_retry,
			.retry = options->retry,
			.ack_timeout = options->ack_timeout},
		.local_port = options->local_port,
		.remote_port = options->remote_port,
		.private_data = options->private_data,
		.private_bytes = options->private_bytes,
		.grace_ns = options->keep_posted ? PLX_NEVER
						 : adapter->options.disconnect_grace_ms * PLX_MSEC,
	};
	if (options->rnr_retry == CONNECT_RNR_BY_QUEUE)
		attr->own.rnr_retry =
			plx_engine_qp_config(qp)->srq ? PLX_RNR_RETRY_FOREVER : RNR_RETRY_FINITE;
	qp_attr_to_rc(adapter, &qp_attr, &attr->rc, &attr->path);
	return PLX_OK;
}

/* Choose a local port for a connector without one, in rotation, so that none is reused soon. */
static uint16_t
choose_port(struct plx_adapter *adapter)
{
	uint32_t n = atomic_fetch_add(&adapter->next_port, 1);

	return (uint16_t)(FIRST_PRIVATE_PORT + n % PRIVATE_PORTS);
}

static enum plx_status
explain(const struct plx_connector *connector, enum plx_status status, const struct plx_ip *remote,
	struct plx_why *why)
{
	const char *adapter = adapter_of_connector(connector)->info.name;

	if (status == PLX_STATE)
		plx_why_set(why,
			    "the connector or the queue pair is in use, or not where this step "
			    "begins; take the connector's events first");
	else if (status == PLX_UNREACHABLE)
		plx_why_set(why,
			    "%s is in no network of adapter %s and behind no route; check both "
			    "addresses, prefixes and routes",
			    plx_address_text(remote).s, adapter);
	else if (status == PLX_FULL)
		plx_why_set(why,
			    "adapter %s has all of its connections; end one, or open it with more "
			    "(`connections`)",
			    adapter);
	else if (status == PLX_TIMEOUT)
		plx_why_set(why, "the engine of adapter %s has not answered for %d s", adapter,
			    (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	else if (status != PLX_OK)
		plx_why_set(why, "the connection to %s: %s", plx_address_text(remote).s,
			    plx_status_text(status));
	return status;
}

static void
set_info(struct plx_connector *connector, const struct plx_link_attr *attr)
{
	struct plx_adapter *adapter = adapter_of_connector(connector);
	struct plx_ip local = attr->path.local;

	if (local.version == 0)
		(void)!plx_net_source(adapter->net[0], &attr->path.remote, &local);
	pthread_mutex_lock(&adapter->lock);
	connector->info = (struct plx_connector_info){
		.local = local,
		.remote = attr->path.remote,
		.local_port = attr->local_port,
		.remote_port = attr->remote_port,
	};
	pthread_mutex_unlock(&adapter->lock);
}

/* ---- creation and destruction ---- */

enum plx_status
connector_make(struct plx_event_channel *channel, const struct plx_cm_event *requested,
	       struct plx_connector **out)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
	uint64_t cookie = plx_cookie_alloc(adapter, NULL);
	struct plx_connector *made;
	enum plx_status status;

	if (cookie == 0)
		return PLX_NO_MEMORY;
	status = plx_link_connector_create(channel, cookie, &made);
	if (status != PLX_OK) {
		plx_cookie_free(adapter, cookie);
		return status;
	}
	plx_cookie_set(adapter, cookie, made);
	if (requested != NULL) {
		made->info = requested->peer.info;
		status = plx_link_adopt(made, requested);
	}
	if (status != PLX_OK) {
		plx_cookie_free(adapter, cookie);
		plx_link_connector_free(made);
		return status;
	}
	adapter->count.connectors++;
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
	enum plx_status status = plx_link_connector_close(connector);

	if (status != PLX_OK)
		return status;
	plx_cookie_free(adapter, connector->cookie);
	plx_link_connector_free(connector);
	adapter->count.connectors--;
	return PLX_OK;
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

enum plx_status
plx_connect(struct plx_connector *connector, struct plx_qp *qp,
	    const struct plx_connect_options *options, struct plx_why *why)
{
	struct plx_link_attr attr;
	enum plx_status status = make_attr(connector, qp, options, &attr, why);

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
		attr.local_port = choose_port(adapter_of_connector(connector));
	status = plx_link_connect(connector, qp, &attr);
	if (status == PLX_OK)
		set_info(connector, &attr);
	return explain(connector, status, &options->remote, why);
}

enum plx_status
plx_sidr_request(struct plx_connector *connector, const struct plx_connect_options *options,
		 struct plx_why *why)
{
	struct plx_link_attr attr = {
		.path = {.local = options->local, .remote = options->remote},
		.local_port = options->local_port,
		.remote_port = options->remote_port,
		.private_data = options->private_data,
		.private_bytes = options->private_bytes,
	};
	enum plx_status status = check_private(options, PLX_PRIVATE_CONNECT_MAX, why);

	if (status != PLX_OK)
		return status;
	if (attr.local_port == 0)
		attr.local_port = choose_port(adapter_of_connector(connector));
	status = plx_link_sidr_request(connector, &attr);
	if (status == PLX_OK)
		set_info(connector, &attr);
	return explain(connector, status, &options->remote, why);
}

/* Try again while the neighbour is being resolved. */
static bool
retry_is_due(struct plx_adapter *adapter, enum plx_status status, uint64_t deadline)
{
	if (status != PLX_AGAIN || plx_steady_ns() >= deadline)
		return false;
	plx_adapter_pause(adapter, PLX_MSEC);
	return true;
}

enum plx_status
plx_establish(struct plx_connector *connector, struct plx_why *why)
{
	uint64_t deadline = plx_steady_ns() + RESOLVE_NS;
	struct plx_connector_info to;
	enum plx_status status = plx_connector_query(connector, &to);

	if (status != PLX_OK)
		return explain(connector, status, NULL, why);

	do
		status = plx_link_establish(connector);
	while (retry_is_due(adapter_of_connector(connector), status, deadline));
	return explain(connector, status, &to.remote, why);
}

enum plx_status
plx_accept(struct plx_connector *connector, struct plx_qp *qp,
	   const struct plx_connect_options *options, struct plx_why *why)
{
	uint64_t deadline = plx_steady_ns() + RESOLVE_NS;
	struct plx_link_attr attr;
	struct plx_connector_info to;
	enum plx_status status = make_attr(connector, qp, options, &attr, why);

	if (status == PLX_OK)
		status = check_private(options, PLX_PRIVATE_ACCEPT_MAX, why);
	if (status != PLX_OK)
		return status;
	status = plx_connector_query(connector, &to);
	if (status != PLX_OK)
		return explain(connector, status, NULL, why);
	do
		status = plx_link_accept(connector, qp, &attr);
	while (retry_is_due(adapter_of_connector(connector), status, deadline));
	return explain(connector, status, &to.remote, why);
}
