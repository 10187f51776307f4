/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls about connections: each crosses to the engine's thread as a command, and is executed there
 * on the communication manager and the queue pair. Start with plx_connector_back_connect() for the
 * caller's side, and connect_qp() for the engine's.
 */
#include "far.h"

_Static_assert(sizeof(struct plx_link_event) % 4 == 0, "ring entries go by words");

/* A call, on its caller's stack. A call that timed out is never executed. */
struct connector_call {
	enum plx_status (*execute)(struct plx_engine *, const struct connector_call *);
	struct engine_connector *connector;
	struct engine_listener *listener;
	const struct plx_cm_listen *listen;
	struct plx_cm_id id;
	struct engine_qp *qp;
	const struct plx_link_attr *attr;
	bool passive; /* it accepts */
	const uint8_t *private_data;
	uint32_t private_bytes;
	struct engine_channel *channel;
	uint64_t cookie;
	struct plx_connector_info *info;
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
	const struct engine_channel *channel = connector->subscriber.channel;
	enum plx_status status;

	if (connector->id.v != 0)
		return PLX_STATE;
	status = plx_cm_adopt(engine->gsi->cm, call->id, (uintptr_t)&channel->orphan,
			      (uintptr_t)&connector->subscriber, &connector->peer);
	if (status != PLX_OK)
		return status;
	connector->id = call->id;
	connector->passive = true;
	return PLX_OK;
}

enum plx_status
connector_check_qp(const struct plx_engine *engine, const struct engine_qp *qp, uint32_t mtu)
{
	enum plx_qp_state state = engine_qp_state(qp);

	if (qp->connector != NULL || (state != PLX_QP_RESET && state != PLX_QP_INIT))
		return PLX_STATE;
	return path_frame_bytes(mtu) > engine->port->caps.frame_max ? PLX_TOO_LONG : PLX_OK;
}

void
connector_fill_own(const struct engine_qp *qp, struct plx_cm_own *own)
{
	own->qpn = qp->qpn;
	own->psn = qp->first_psn;
	own->srq = qp->srq != NULL;
}

void
connector_fill_connect(const struct engine_connector *connector, struct plx_cm_connect *connect)
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
	connector_fill_connect(connector, &connect);
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
	status = connector_check_qp(engine, call->qp, call->attr->own.path_mtu);
	if (status != PLX_OK)
		return status;
	connector->attr = *call->attr;
	connector_fill_own(call->qp, &connector->attr.own);
	status = path_complete(engine, &connector->attr.path);
	if (status == PLX_OK && from_reset)
		status = engine_qp_modify(call->qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	connector_fill_connect(connector, &connect);
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
	status = connector_check_qp(engine, qp, call->attr->own.path_mtu);
	if (status == PLX_OK)
		status = engine_resolve(engine, &connector->peer.info.remote, mac);
	if (status != PLX_OK)
		return status;
	*attr = *call->attr;
	connector_fill_own(qp, &attr->own);
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

/* What the manager has for it is delivered to the new channel. */
static enum plx_status
change_channel(struct plx_engine *engine, const struct connector_call *call)
{
	struct subscriber *subscriber = &call->connector->subscriber;

	(void)engine;
	subscriber->channel = call->channel;
	subscriber->cookie = call->cookie;
	*call->info = call->connector->peer.info;
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
	uint64_t orphan = (uintptr_t)&call->channel->orphan;
	struct plx_cm_peer peer;
	enum plx_status status = plx_cm_adopt(engine->gsi->cm, call->id, orphan, orphan, &peer);

	if (status != PLX_OK)
		return status;
	plx_cm_abandon(engine->gsi->cm, call->id, engine->now);
	return PLX_OK;
}

static enum plx_status
detach_channel(struct plx_engine *engine, const struct connector_call *call)
{
	if (atomic_load(&call->channel->users) > 0)
		return PLX_BUSY;
	plx_cm_abandon_all(engine->gsi->cm, (uintptr_t)&call->channel->orphan, engine->now);
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
	engine = engine_first(engine);
	return engine->gsi != NULL ? command_call(engine, execute_call, call) : PLX_STATE;
}

static enum plx_status
run_on_listener(struct engine_listener *listener, struct connector_call *call)
{
	call->listener = listener;
	return run(listener->subscriber.channel->engine, call);
}

static enum plx_status
run_on_connector(struct engine_connector *connector, struct connector_call *call)
{
	call->connector = connector;
	return run(connector->subscriber.channel->engine, call);
}

static void
subscribe(struct subscriber *subscriber, struct engine_channel *channel, uint64_t cookie)
{
	subscriber->channel = channel;
	subscriber->cookie = cookie;
	atomic_fetch_add(&channel->users, 1);
}

/* ---- channels ---- */

enum plx_status
plx_channel_back_create(struct engine_seat *seat, uint32_t depth, struct engine_channel **out)
{
	struct plx_engine *engine = engine_of(seat->queues);
	struct engine_channel *channel;

	if (depth < 1 || depth > PLX_EVENT_CHANNEL_DEPTH_MAX || engine != engine_first(engine))
		return PLX_INVALID;
	channel = plx_heap_alloc(sizeof(*channel), engine->port->caps.socket);
	if (channel == NULL)
		return PLX_NO_MEMORY;
	if (engine_eq_init(&channel->events, &engine->queues, seat->memory, seat->waker, depth,
			   sizeof(struct plx_link_event)) != PLX_OK) {
		plx_heap_free(channel);
		return PLX_NO_MEMORY;
	}
	channel->engine = engine;
	channel->seat = seat;
	engine_seat_use(seat);
	*out = channel;
	return PLX_OK;
}

enum plx_status
plx_channel_back_destroy(struct engine_channel *channel)
{
	struct connector_call call = {.execute = detach_channel, .channel = channel};
	enum plx_status status = run(channel->engine, &call);

	if (status != PLX_OK && channel->engine->gsi != NULL)
		return status;
	engine_seat_unuse(channel->seat);
	engine_eq_free(&channel->events);
	plx_heap_free(channel);
	return PLX_OK;
}

void *
plx_channel_back_front(const struct engine_channel *channel)
{
	return channel->events.ring.shared;
}

int
plx_channel_back_fd(struct engine_channel *channel)
{
	return engine_eq_fd(&channel->events);
}

bool
plx_channel_back_set_fd(struct engine_channel *channel, int fd)
{
	int none = -1;

	return atomic_compare_exchange_strong(&channel->events.fd, &none, fd);
}

void
plx_channel_back_hold(struct engine_channel *channel)
{
	channel->holds = true;
}

enum plx_status
plx_channel_back_refuse(struct engine_channel *channel, struct plx_cm_id id)
{
	struct connector_call call = {.execute = refuse_request, .channel = channel, .id = id};

	return run(channel->engine, &call);
}

/* ---- listeners ---- */

enum plx_status
plx_listener_back_create(struct engine_channel *channel, const struct plx_cm_listen *config,
			 uint64_t cookie, struct engine_listener **out)
{
	struct engine_listener *listener =
		plx_heap_alloc(sizeof(*listener), channel->engine->port->caps.socket);
	struct connector_call call = {.execute = listen, .listen = config};
	enum plx_status status;

	if (listener == NULL)
		return PLX_NO_MEMORY;
	subscribe(&listener->subscriber, channel, cookie);
	status = run_on_listener(listener, &call);
	if (status != PLX_OK) {
		atomic_fetch_sub(&channel->users, 1);
		plx_heap_free(listener);
		return status;
	}
	*out = listener;
	return PLX_OK;
}

enum plx_status
plx_listener_back_destroy(struct engine_listener *listener)
{
	struct connector_call call = {.execute = unlisten};
	enum plx_status status = run_on_listener(listener, &call);

	if (status != PLX_OK)
		return status;
	atomic_fetch_sub(&listener->subscriber.channel->users, 1);
	plx_heap_free(listener);
	return PLX_OK;
}

/* ---- connectors ---- */

enum plx_status
plx_connector_back_create(struct engine_channel *channel, uint64_t cookie,
			  struct engine_connector **out)
{
	struct engine_connector *connector =
		plx_heap_alloc(sizeof(*connector), channel->engine->port->caps.socket);

	if (connector == NULL)
		return PLX_NO_MEMORY;
	subscribe(&connector->subscriber, channel, cookie);
	plx_list_init(&connector->grace_link);
	plx_list_init(&connector->far_link);
	plx_list_init(&connector->far.due_link);
	*out = connector;
	return PLX_OK;
}

enum plx_status
plx_connector_back_destroy(struct engine_connector *connector)
{
	struct connector_call call = {.execute = detach};
	enum plx_status status = connector->far_last_engine != NULL
					 ? far_close(connector)
					 : run_on_connector(connector, &call);

	if (status != PLX_OK && connector->subscriber.channel->engine->gsi != NULL)
		return status;
	atomic_fetch_sub(&connector->subscriber.channel->users, 1);
	plx_heap_free(connector);
	return PLX_OK;
}

enum plx_status
plx_connector_back_move(struct engine_connector *connector, struct engine_channel *channel,
			uint64_t cookie, struct plx_connector_info *info)
{
	struct engine_channel *former = connector->subscriber.channel;
	struct connector_call call = {
		.execute = change_channel, .channel = channel, .cookie = cookie, .info = info};
	enum plx_status status = run_on_connector(connector, &call);

	if (status != PLX_OK)
		return status;
	atomic_fetch_add(&channel->users, 1);
	atomic_fetch_sub(&former->users, 1);
	return PLX_OK;
}

static bool
is_far(const struct engine_connector *connector, const struct engine_qp *qp)
{
	return qp->engine != connector->subscriber.channel->engine;
}

/* Bind a queue pair to a connector: one call at a time, since it may take several commands. */
static enum plx_status
bind_qp(struct engine_connector *connector, struct engine_qp *qp, struct connector_call *call)
{
	enum plx_status status;

	if (atomic_exchange(&connector->is_binding, true))
		return PLX_STATE;
	if (is_far(connector, qp)) {
		status = call->passive ? far_accept(connector, qp, call->attr)
				       : far_connect(connector, qp, call->attr);
	} else {
		status = far_settle(connector, call->passive);
		if (status == PLX_OK)
			status = run_on_connector(connector, call);
	}
	atomic_store(&connector->is_binding, false);
	return status;
}

enum plx_status
plx_connector_back_adopt(struct engine_connector *connector, struct plx_cm_id id)
{
	struct connector_call call = {.execute = adopt, .id = id};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_connector_back_connect(struct engine_connector *connector, struct engine_qp *qp,
			   const struct plx_link_attr *attr)
{
	struct connector_call call = {.execute = connect_qp, .qp = qp, .attr = attr};

	return bind_qp(connector, qp, &call);
}

enum plx_status
plx_connector_back_sidr_request(struct engine_connector *connector,
				const struct plx_link_attr *attr)
{
	struct connector_call call = {.execute = sidr_request, .attr = attr};

	return run_on_connector(connector, &call);
}

enum plx_status
plx_connector_back_establish(struct engine_connector *connector)
{
	struct connector_call call = {.execute = establish};

	if (connector->far_last_engine != NULL)
		return far_establish(connector);
	return run_on_connector(connector, &call);
}

enum plx_status
plx_connector_back_accept(struct engine_connector *connector, struct engine_qp *qp,
			  const struct plx_link_attr *attr)
{
	struct connector_call call = {
		.execute = accept_qp, .qp = qp, .attr = attr, .passive = true};

	return bind_qp(connector, qp, &call);
}

enum plx_status
plx_connector_back_reject(struct engine_connector *connector, const void *private_data,
			  uint32_t private_bytes)
{
	struct connector_call call = {
		.execute = reject, .private_data = private_data, .private_bytes = private_bytes};

	if (connector->far_last_engine != NULL)
		return far_reject(connector, private_data, private_bytes);
	return run_on_connector(connector, &call);
}

enum plx_status
plx_connector_back_disconnect(struct engine_connector *connector)
{
	struct connector_call call = {.execute = disconnect};

	if (connector->far_last_engine != NULL)
		return far_disconnect(connector);
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
