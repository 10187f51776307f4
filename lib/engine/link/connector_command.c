/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of programs about connections: each crosses to the engine's thread as a command, and is
 * executed there on the communication manager and the queue pair. Start with
 * plx_link_connect() for the caller's side, and connect_qp() for the engine's.
 */
#include "connector.h"

/* A call, on its caller's stack. A call that timed out is never executed. */
struct connector_call {
	enum plx_status (*execute)(struct plx_engine *, const struct connector_call *);
	struct plx_connector *connector;
	struct plx_listener *listener;
	const struct plx_cm_listen *listen;
	struct plx_cm_id id;
	struct plx_qp *qp;
	const struct plx_link_attr *attr;
	const uint8_t *private_data;
	uint32_t private_bytes;
	const struct plx_cm_event *requested;
	struct plx_cm_view *view;
};

/* ---- on the engine's thread ---- */

static enum plx_status
listen(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_cm_listen with_context = *call->listen;

	with_context.context = (uintptr_t)&call->listener->subscriber;
	return plx_cm_listen(engine->gsi->cm, &with_context, &call->listener->id);
}

static enum plx_status
adopt(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	enum plx_status status = plx_cm_set_context(engine->gsi->cm, call->requested->id,
						    (uintptr_t)&connector->subscriber);

	if (status != PLX_OK)
		return status;
	connector->id = call->requested->id;
	connector->peer = call->requested->peer;
	connector->passive = true;
	return PLX_OK;
}

/* Is this queue pair available for a connection? */
static enum plx_status
check_qp(const struct plx_engine *engine, const struct plx_qp *qp, uint32_t mtu)
{
	enum plx_qp_state state = plx_engine_qp_state(qp);

	if (qp->connector != NULL || (state != PLX_QP_RESET && state != PLX_QP_INIT))
		return PLX_STATE;
	return path_frame_bytes(mtu) > engine->port->caps.frame_max ? PLX_TOO_LONG : PLX_OK;
}

static void
fill_own(const struct plx_qp *qp, struct plx_cm_own *own)
{
	own->qpn = qp->qpn;
	own->psn = qp->first_psn;
	own->srq = qp->config.srq != NULL;
}

static void
fill_connect(const struct plx_connector *connector, struct plx_cm_connect *connect)
{
	const struct plx_link_attr *attr = &connector->attr;

	*connect = (struct plx_cm_connect){
		.local = attr->path.local,
		.remote = attr->path.remote,
		.local_port = attr->local_port,
		.remote_port = attr->remote_port,
		.own = attr->own,
		.context = (uintptr_t)&connector->subscriber,
		.private_data = attr->private_data,
		.private_bytes = attr->private_bytes,
	};
}

static enum plx_status
sidr_request(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	struct plx_cm_connect connect;
	enum plx_status status;

	if (connector->id.v != 0)
		return PLX_STATE;
	connector->attr = *call->attr;
	status = path_complete(engine, &connector->attr.path);
	if (status != PLX_OK)
		return status;
	fill_connect(connector, &connect);
	connector->attr.private_data = NULL;
	connector->passive = false;
	return plx_cm_sidr_request(engine->gsi->cm, &connect, engine->now, &connector->id);
}

static enum plx_status
connect_qp(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	struct plx_cm_connect connect;
	bool from_reset = plx_engine_qp_state(call->qp) == PLX_QP_RESET;
	enum plx_status status;

	if (connector->id.v != 0)
		return PLX_STATE;
	status = check_qp(engine, call->qp, call->attr->own.path_mtu);
	if (status != PLX_OK)
		return status;
	connector->attr = *call->attr;
	fill_own(call->qp, &connector->attr.own);
	status = path_complete(engine, &connector->attr.path);
	if (status == PLX_OK && from_reset)
		status = engine_qp_modify(call->qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	fill_connect(connector, &connect);
	connector->attr.private_data = NULL; /* belongs to the caller; valid only during the call */
	connector->peer = (struct plx_cm_peer){0};
	status = plx_cm_connect(engine->gsi->cm, &connect, engine->now, &connector->id);
	if (status == PLX_OK) {
		connector->passive = false;
		connector_flush(
			connector); /* of the previous connection, whose peer disconnected */
		connector_bind(connector, call->qp);
	} else if (from_reset) {
		(void)engine_qp_modify(call->qp, PLX_QP_RESET, NULL, NULL);
	}
	return status;
}

/* The queue pair changes first; the message to the peer, which cannot be undone, is last. */
static enum plx_status
establish(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	enum plx_status status;

	if (connector->id.v == 0 || connector->qp == NULL || connector->passive ||
	    connector->peer.info.remote_qpn == 0)
		return PLX_STATE;
	if (plx_engine_qp_state(connector->qp) == PLX_QP_INIT) {
		status = connector_to_rtr(connector);
		if (status != PLX_OK)
			return status;
	}
	if (plx_engine_qp_state(connector->qp) == PLX_QP_RTR) {
		status = connector_to_rts(connector);
		if (status != PLX_OK)
			return status;
	}
	return plx_cm_establish(engine->gsi->cm, connector->id, engine->now);
}

static enum plx_status
accept_qp(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	struct plx_qp *qp = call->qp;
	struct plx_link_attr *attr = &connector->attr;
	enum plx_status status;
	uint8_t mac[6];

	if (connector->id.v == 0 || !connector->passive || connector->qp != NULL)
		return PLX_STATE;
	status = check_qp(engine, qp, call->attr->own.path_mtu);
	if (status == PLX_OK)
		status = engine_resolve(engine, &connector->peer.info.remote, mac);
	if (status != PLX_OK)
		return status;
	*attr = *call->attr;
	fill_own(qp, &attr->own);
	if (plx_engine_qp_state(qp) == PLX_QP_RESET)
		status = engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	attr->private_data = NULL;
	status = plx_cm_accept(engine->gsi->cm, connector->id, &attr->own,
			       (uintptr_t)&connector->subscriber, call->attr->private_data,
			       attr->private_bytes, engine->now, &connector->peer);
	if (status != PLX_OK)
		return status;
	connector_bind(connector, qp);
	status = connector_to_rtr(connector);
	/* The REP has not been sent yet: it is sent at the end of this cycle. */
	if (status != PLX_OK) {
		connector_unbind(connector);
		plx_cm_abandon(engine->gsi->cm, connector->id, engine->now);
		connector->id.v = 0;
	}
	return status;
}

static enum plx_status
reject(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	enum plx_status status = plx_cm_reject(engine->gsi->cm, connector->id, call->private_data,
					       call->private_bytes, engine->now);

	if (status != PLX_OK)
		return status;
	connector->id.v = 0;
	connector_unbind(connector);
	return PLX_OK;
}

static enum plx_status
disconnect(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;
	enum plx_status status = plx_cm_disconnect(engine->gsi->cm, connector->id, engine->now);

	/* STATE: the peer disconnected first; then the rest of the grace is not needed. */
	if (status == PLX_OK || connector->id.v == 0)
		connector_flush(connector);
	return status;
}

static enum plx_status
detach(struct plx_engine *engine, const struct connector_call *call)
{
	struct plx_connector *connector = call->connector;

	if (connector->id.v != 0)
		plx_cm_abandon(engine->gsi->cm, connector->id, engine->now);
	connector->id.v = 0;
	/* A queue pair that never left INIT stays in it. */
	if (connector->qp != NULL && plx_engine_qp_state(connector->qp) == PLX_QP_INIT)
		connector_unbind(connector);
	connector_flush(connector);
	return PLX_OK;
}

static enum plx_status
unlisten(struct plx_engine *engine, const struct connector_call *call)
{
	return plx_cm_unlisten(engine->gsi->cm, call->listener->id, engine->now);
}

static enum plx_status
refuse_request(struct plx_engine *engine, const struct connector_call *call)
{
	plx_cm_abandon(engine->gsi->cm, call->requested->id, engine->now);
	return PLX_OK;
}

static enum plx_status
query(struct plx_engine *engine, const struct connector_call *call)
{
	plx_cm_query(engine->gsi->cm, call->view);
	return PLX_OK;
}

static enum plx_status
execute_call(struct plx_engine *engine, void *arg)
{
	const struct connector_call *call = arg;

	engine->link_busy = true;
	return call->execute(engine, call);
}

/* ---- on the caller's thread ---- */

static enum plx_status
run(struct plx_engine *engine, struct connector_call *call)
{
	return engine->gsi != NULL ? command_call(engine, execute_call, call) : PLX_STATE;
}

enum plx_status
plx_link_listener_create(struct plx_event_channel *channel, uint64_t cookie,
			 struct plx_listener **out)
{
	struct plx_listener *listener =
		plx_heap_alloc(sizeof(*listener), channel->engine->port->caps.socket);

	if (listener == NULL)
		return PLX_NO_MEMORY;
	listener->subscriber = (struct plx_link_subscriber){channel, cookie};
	atomic_fetch_add(&channel->users, 1);
	*out = listener;
	return PLX_OK;
}

enum plx_status
plx_link_listen(struct plx_listener *listener, const struct plx_cm_listen *config)
{
	struct connector_call call = {.execute = listen, .listener = listener, .listen = config};

	return run(listener->subscriber.channel->engine, &call);
}

enum plx_status
plx_link_listener_close(struct plx_listener *listener)
{
	struct connector_call call = {.execute = unlisten, .listener = listener};

	return run(listener->subscriber.channel->engine, &call);
}

void
plx_link_listener_free(struct plx_listener *listener)
{
	atomic_fetch_sub(&listener->subscriber.channel->users, 1);
	plx_heap_free(listener);
}

enum plx_status
plx_link_connector_create(struct plx_event_channel *channel, uint64_t cookie,
			  struct plx_connector **out)
{
	struct plx_connector *connector =
		plx_heap_alloc(sizeof(*connector), channel->engine->port->caps.socket);

	if (connector == NULL)
		return PLX_NO_MEMORY;
	connector->subscriber = (struct plx_link_subscriber){channel, cookie};
	plx_list_init(&connector->grace_link);
	atomic_fetch_add(&channel->users, 1);
	*out = connector;
	return PLX_OK;
}

enum plx_status
plx_link_adopt(struct plx_connector *connector, const struct plx_cm_event *requested)
{
	struct connector_call call = {
		.execute = adopt, .connector = connector, .requested = requested};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_link_refuse_request(struct plx_event_channel *channel, const struct plx_cm_event *requested)
{
	struct connector_call call = {.execute = refuse_request, .requested = requested};

	return run(channel->engine, &call);
}

enum plx_status
plx_link_connector_close(struct plx_connector *connector)
{
	struct connector_call call = {.execute = detach, .connector = connector};

	return run(connector->subscriber.channel->engine, &call);
}

void
plx_link_connector_free(struct plx_connector *connector)
{
	atomic_fetch_sub(&connector->subscriber.channel->users, 1);
	plx_heap_free(connector);
}

enum plx_status
plx_link_connect(struct plx_connector *connector, struct plx_qp *qp,
		 const struct plx_link_attr *attr)
{
	struct connector_call call = {
		.execute = connect_qp, .connector = connector, .qp = qp, .attr = attr};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_link_sidr_request(struct plx_connector *connector, const struct plx_link_attr *attr)
{
	struct connector_call call = {
		.execute = sidr_request, .connector = connector, .attr = attr};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_link_establish(struct plx_connector *connector)
{
	struct connector_call call = {.execute = establish, .connector = connector};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_link_accept(struct plx_connector *connector, struct plx_qp *qp,
		const struct plx_link_attr *attr)
{
	struct connector_call call = {
		.execute = accept_qp, .connector = connector, .qp = qp, .attr = attr};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_reject(struct plx_connector *connector, const void *private_data, uint32_t private_bytes)
{
	struct connector_call call = {.execute = reject,
				      .connector = connector,
				      .private_data = private_data,
				      .private_bytes = private_bytes};

	return run(connector->subscriber.channel->engine, &call);
}

enum plx_status
plx_disconnect(struct plx_connector *connector)
{
	struct connector_call call = {.execute = disconnect, .connector = connector};

	return run(connector->subscriber.channel->engine, &call);
}

const struct plx_cm_counters *
plx_link_cm_counters(const struct plx_engine *engine)
{
	return engine->config.cm != NULL ? plx_cm_counters(engine->config.cm) : NULL;
}

enum plx_status
plx_link_cm_query(struct plx_engine *engine, struct plx_cm_view *out)
{
	struct connector_call call = {.execute = query, .view = out};

	return run(engine, &call);
}
