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
	struct engine_connector *connector;
	struct engine_listener *listener;
	const struct plx_cm_listen *listen;
	struct plx_cm_id id;
	struct engine_qp *qp;
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
	struct engine_connector *connector = call->connector;
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
check_qp(const struct plx_engine *engine, const struct engine_qp *qp, uint32_t mtu)
{
	enum plx_qp_state state = engine_qp_state(qp);

	if (qp->connector != NULL || (state != PLX_QP_RESET && state != PLX_QP_INIT))
		return PLX_STATE;
	return path_frame_bytes(mtu) > engine->port->caps.frame_max ? PLX_TOO_LONG : PLX_OK;
}

static void
fill_own(const struct engine_qp *qp, struct plx_cm_own *own)
{
	own->qpn = qp->qpn;
	own->psn = qp->first_psn;
	own->srq = qp->srq != NULL;
}

static void
fill_connect(const struct engine_connector *connector, struct plx_cm_connect *connect)
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
	struct engine_connector *connector = call->connector;
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
	struct engine_connector *connector = call->connector;
	struct plx_cm_connect connect;
	bool from_reset = engine_qp_state(call->qp) == PLX_QP_RESET;
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
	struct engine_connector *connector = call->connector;
	enum plx_status status;

	if (connector->id.v == 0 || connector->qp == NULL || connector->passive ||
	    connector->peer.info.remote_qpn == 0)
		return PLX_STATE;
	if (engine_qp_state(connector->qp) == PLX_QP_INIT) {
		status = connector_to_rtr(connector);
		if (status != PLX_OK)
			return status;
	}
	if (engine_qp_state(connector->qp) == PLX_QP_RTR) {
		status = connector_to_rts(connector);
		if (status != PLX_OK)
			return status;
	}
	return plx_cm_establish(engine->gsi->cm, connector->id, engine->now);
}

static enum plx_status
accept_qp(struct plx_engine *engine, const struct connector_call *call)
{
	struct engine_connector *connector = call->connector;
	struct engine_qp *qp = call->qp;
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
	if (engine_qp_state(qp) == PLX_QP_RESET)
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
	struct engine_connector *connector = call->connector;
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
	struct engine_connector *connector = call->connector;
	enum plx_status status = plx_cm_disconnect(engine->gsi->cm, connector->id, engine->now);

	/* STATE: the peer disconnected first; then the rest of the grace is not needed. */
	if (status == PLX_OK || connector->id.v == 0)
		connector_flush(connector);
	return status;
}

static enum plx_status
detach(struct plx_engine *engine, const struct connector_call *call)
{
	struct engine_connector *connector = call->connector;

	if (connector->id.v != 0)
		plx_cm_abandon(engine->gsi->cm, connector->id, engine->now);
	connector->id.v = 0;
	/* A queue pair that never left INIT stays in it. */
	if (connector->qp != NULL && engine_qp_state(connector->qp) == PLX_QP_INIT)
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

/* Both halves of an object that receives events. The engine's begins with a subscriber.
 * Returns: false: out of memory */
static bool
make_halves(struct plx_event_channel *channel, uint64_t cookie, size_t front_bytes,
	    size_t back_bytes, void **front, struct subscriber **back)
{
	int socket = channel->back->engine->port->caps.socket;

	*front = plx_heap_alloc(front_bytes, socket);
	*back = plx_heap_alloc(back_bytes, socket);
	if (*front == NULL || *back == NULL) {
		plx_heap_free(*front);
		plx_heap_free(*back);
		return false;
	}
	(*back)->channel = channel->back;
	(*back)->cookie = cookie;
	atomic_fetch_add(&channel->back->users, 1);
	return true;
}

static void
free_halves(void *front, struct subscriber *back)
{
	atomic_fetch_sub(&back->channel->users, 1);
	plx_heap_free(back);
	plx_heap_free(front);
}

static enum plx_status
run_on_listener(struct plx_listener *listener, struct connector_call *call)
{
	call->listener = listener->back;
	return run(listener->channel->back->engine, call);
}

static enum plx_status
run_on_connector(struct plx_connector *connector, struct connector_call *call)
{
	call->connector = connector->back;
	return run(connector->channel->back->engine, call);
}

enum plx_status
plx_link_listener_create(struct plx_event_channel *channel, uint64_t cookie,
			 struct plx_listener **out)
{
	struct plx_listener *listener;
	struct subscriber *back;
	void *front;

	if (!make_halves(channel, cookie, sizeof(*listener), sizeof(struct engine_listener), &front,
			 &back))
		return PLX_NO_MEMORY;
	listener = front;
	listener->channel = channel;
	listener->back = plx_list_entry(back, struct engine_listener, subscriber);
	listener->cookie = cookie;
	*out = listener;
	return PLX_OK;
}

enum plx_status
plx_link_listen(struct plx_listener *listener, const struct plx_cm_listen *config)
{
	struct connector_call call = {.execute = listen, .listen = config};

	return run_on_listener(listener, &call);
}

enum plx_status
plx_link_listener_close(struct plx_listener *listener)
{
	struct connector_call call = {.execute = unlisten};

	return run_on_listener(listener, &call);
}

void
plx_link_listener_free(struct plx_listener *listener)
{
	free_halves(listener, &listener->back->subscriber);
}

enum plx_status
plx_link_connector_create(struct plx_event_channel *channel, uint64_t cookie,
			  struct plx_connector **out)
{
	struct plx_connector *connector;
	struct subscriber *back;
	void *front;

	if (!make_halves(channel, cookie, sizeof(*connector), sizeof(struct engine_connector),
			 &front, &back))
		return PLX_NO_MEMORY;
	connector = front;
	connector->channel = channel;
	connector->back = plx_list_entry(back, struct engine_connector, subscriber);
	connector->cookie = cookie;
	plx_list_init(&connector->back->grace_link);
	*out = connector;
	return PLX_OK;
}

enum plx_status
plx_link_adopt(struct plx_connector *connector, const struct plx_cm_event *requested)
{
	struct connector_call call = {.execute = adopt, .requested = requested};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_link_refuse_request(struct plx_event_channel *channel, const struct plx_cm_event *requested)
{
	struct connector_call call = {.execute = refuse_request, .requested = requested};

	return run(channel->back->engine, &call);
}

enum plx_status
plx_link_connector_close(struct plx_connector *connector)
{
	struct connector_call call = {.execute = detach};

	return run_on_connector(connector, &call);
}

void
plx_link_connector_free(struct plx_connector *connector)
{
	free_halves(connector, &connector->back->subscriber);
}

enum plx_status
plx_link_connect(struct plx_connector *connector, struct plx_qp *qp,
		 const struct plx_link_attr *attr)
{
	struct connector_call call = {.execute = connect_qp, .qp = qp->back, .attr = attr};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_link_sidr_request(struct plx_connector *connector, const struct plx_link_attr *attr)
{
	struct connector_call call = {.execute = sidr_request, .attr = attr};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_link_establish(struct plx_connector *connector)
{
	struct connector_call call = {.execute = establish};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_link_accept(struct plx_connector *connector, struct plx_qp *qp,
		const struct plx_link_attr *attr)
{
	struct connector_call call = {.execute = accept_qp, .qp = qp->back, .attr = attr};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_reject(struct plx_connector *connector, const void *private_data, uint32_t private_bytes)
{
	struct connector_call call = {
		.execute = reject, .private_data = private_data, .private_bytes = private_bytes};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_disconnect(struct plx_connector *connector)
{
	struct connector_call call = {.execute = disconnect};

	return run_on_connector(connector, &call);
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
