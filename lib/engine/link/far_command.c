/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of programs about connectors whose queue pair is another engine's: the caller's thread runs
 * a command on one engine after another, in the order that the connection needs. If a later step is
 * refused, the earlier ones are undone. Start with far_connect().
 */
#include "far.h"

/* A call, on its caller's stack, and what one step passes to the next. */
struct far_call {
	struct engine_connector *connector;
	struct engine_qp *qp;
	const struct plx_link_attr *attr;
	struct plx_cm_own own;
	struct plx_cm_peer peer;
	struct plx_cm_id id;
	enum far_end how;
	bool from_reset, passive;
	const uint8_t *private_data;
	uint32_t private_bytes;
};

/* ---- on the engine of the queue pair ---- */

/* Take a queue pair for the connector. */
static enum plx_status
claim(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	enum plx_status status = connector_check_qp(engine, call->qp, call->attr->own.path_mtu);
	uint8_t mac[6];

	if (status == PLX_OK && call->passive)
		status = engine_resolve(engine, &call->peer.info.remote, mac);
	else if (status == PLX_OK) /* it is needed when the peer has replied */
		(void)!engine_resolve(engine, &call->attr->path.remote, mac);
	call->from_reset = engine_qp_state(call->qp) == PLX_QP_RESET;
	if (status == PLX_OK && call->from_reset)
		status = engine_qp_modify(call->qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	call->own = call->attr->own;
	connector_fill_own(call->qp, &call->own);
	call->connector->far.passive = call->passive;
	call->connector->far.rc = call->attr->rc;
	call->connector->far.path = call->attr->path;
	return far_bind(call->connector, call->qp);
}

static enum plx_status
unclaim(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;

	(void)engine;
	far_end_here(call->connector, FAR_KEEP);
	if (call->from_reset)
		(void)engine_qp_modify(call->qp, PLX_QP_RESET, NULL, NULL);
	return PLX_OK;
}

static enum plx_status
set_id(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;

	(void)engine;
	far_set_id(call->connector, call->id);
	return PLX_OK;
}

/* With the negotiated attributes. */
static enum plx_status
to_rtr(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	struct far_qp *far = &call->connector->far;

	(void)engine;
	if (far->qp == NULL)
		return PLX_STATE;
	connector_fill_attr(&call->peer, far->passive, far->qp, &far->rc, &far->path);
	far_set_id(call->connector, call->id);
	return engine_qp_state(far->qp) == PLX_QP_INIT ? far_to_rtr(call->connector) : PLX_OK;
}

static enum plx_status
to_rts(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	enum plx_status status = to_rtr(engine, call);

	if (status != PLX_OK || engine_qp_state(call->connector->far.qp) != PLX_QP_RTR)
		return status;
	return far_to_rts(call->connector);
}

static enum plx_status
end_qp(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;

	/* What engine 0 has sent before is about this queue pair. */
	engine_messages_fetch(engine);
	far_end_here(call->connector, call->how);
	return PLX_OK;
}

/* ---- on engine 0 ---- */

static enum plx_status
forget(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;

	(void)engine;
	if (call->connector->id.v != 0 && !call->passive)
		return PLX_STATE;
	if (call->passive && (call->connector->qp != NULL || call->connector->far_engine != NULL))
		return PLX_STATE;
	call->how = far_forget(call->connector);
	return PLX_OK;
}

static void
bind_here(struct engine_connector *connector, struct plx_engine *engine)
{
	connector->far_engine = engine;
	connector->far_rts = false;
	connector->far_asked = false;
}

static enum plx_status
connect_cm(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	struct engine_connector *connector = call->connector;
	struct plx_cm_connect connect;
	enum plx_status status;

	if (connector->id.v != 0)
		return PLX_STATE;
	connector->attr = *call->attr;
	connector->attr.own = call->own;
	status = path_complete(engine, &connector->attr.path);
	if (status != PLX_OK)
		return status;
	connector_fill_connect(connector, &connect);
	connector->attr.private_data = NULL; /* belongs to the caller */
	connector->peer = (struct plx_cm_peer){0};
	status = plx_cm_connect(engine->gsi->cm, &connect, engine->now, &connector->id);
	if (status != PLX_OK)
		return status;
	engine->link_busy = true;
	connector->passive = false;
	connector_flush(connector); /* of the previous connection, whose peer disconnected */
	bind_here(connector, call->qp->engine);
	call->id = connector->id;
	return PLX_OK;
}

static enum plx_status
look(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	const struct engine_connector *connector = call->connector;

	(void)engine;
	if (connector->id.v == 0 || connector->passive != call->passive ||
	    (connector->far_engine == NULL) != call->passive || connector->qp != NULL ||
	    connector->peer.info.remote_qpn == 0)
		return PLX_STATE;
	call->id = connector->id;
	call->peer = connector->peer;
	return PLX_OK;
}

static enum plx_status
establish_cm(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	enum plx_status status = plx_cm_establish(engine->gsi->cm, call->id, engine->now);

	engine->link_busy = true;
	if (status == PLX_OK)
		call->connector->far_rts = true;
	return status;
}

static enum plx_status
accept_cm(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	struct engine_connector *connector = call->connector;
	enum plx_status status;

	if (connector->id.v != call->id.v)
		return PLX_STATE;
	connector->attr = *call->attr;
	connector->attr.own = call->own;
	connector->attr.private_data = NULL;
	status = plx_cm_accept(engine->gsi->cm, call->id, &call->own,
			       (uintptr_t)&connector->subscriber, call->attr->private_data,
			       call->attr->private_bytes, engine->now, &connector->peer);
	if (status != PLX_OK)
		return status;
	plx_cm_hold(engine->gsi->cm, call->id);
	engine->link_busy = true;
	bind_here(connector, call->qp->engine);
	call->peer = connector->peer;
	return PLX_OK;
}

static enum plx_status
release_cm(struct plx_engine *engine, void *arg)
{
	const struct far_call *call = arg;

	engine->link_busy = true;
	/* STATE: it ended meanwhile; an event tells why. */
	(void)!plx_cm_release(engine->gsi->cm, call->id);
	return PLX_OK;
}

/* Give up, without further events. */
static enum plx_status
abandon(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;

	if (call->connector->id.v != 0)
		plx_cm_abandon(engine->gsi->cm, call->connector->id, engine->now);
	engine->link_busy = true;
	call->connector->id.v = 0;
	call->how = far_forget(call->connector);
	return PLX_OK;
}

static enum plx_status
reject_cm(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	struct engine_connector *connector = call->connector;
	enum plx_status status = plx_cm_reject(engine->gsi->cm, connector->id, call->private_data,
					       call->private_bytes, engine->now);

	if (status != PLX_OK)
		return status;
	engine->link_busy = true;
	connector->id.v = 0;
	(void)far_forget(connector);
	call->how = FAR_KEEP;
	return PLX_OK;
}

static enum plx_status
disconnect_cm(struct plx_engine *engine, void *arg)
{
	struct far_call *call = arg;
	struct engine_connector *connector = call->connector;
	enum plx_status status = plx_cm_disconnect(engine->gsi->cm, connector->id, engine->now);

	engine->link_busy = true;
	call->how = FAR_NOTHING;
	/* STATE: the peer disconnected first; then the rest of the grace is not needed. */
	if (status == PLX_OK || connector->id.v == 0)
		call->how = far_forget(connector);
	return status;
}

/* ---- on the caller's thread ---- */

static struct plx_engine *
home_of(const struct engine_connector *connector)
{
	return connector->subscriber.channel->engine;
}

static enum plx_status
run_home(const struct engine_connector *connector, command_fn step, struct far_call *call)
{
	struct plx_engine *home = home_of(connector);

	return home->gsi != NULL ? command_call(home, step, call) : PLX_STATE;
}

/* End the association at the engine of the queue pair. */
static enum plx_status
end_far(struct engine_connector *connector, struct far_call *call)
{
	return command_call(connector->far_last_engine, end_qp, call);
}

enum plx_status
far_settle(struct engine_connector *connector, bool passive)
{
	struct far_call call = {.connector = connector, .passive = passive};
	enum plx_status status;

	if (connector->far_last_engine == NULL)
		return PLX_OK;
	status = run_home(connector, forget, &call);
	if (status == PLX_OK)
		status = end_far(connector, &call);
	if (status == PLX_OK)
		connector->far_last_engine = NULL;
	return status;
}

enum plx_status
far_connect(struct engine_connector *connector, struct engine_qp *qp,
	    const struct plx_link_attr *attr)
{
	struct far_call call = {.connector = connector, .qp = qp, .attr = attr};
	struct plx_engine *engine = qp->engine;
	enum plx_status status = far_settle(connector, false);

	if (status == PLX_OK)
		status = command_call(engine, claim, &call);
	if (status != PLX_OK)
		return status;
	connector->far_last_engine = engine;
	status = run_home(connector, connect_cm, &call);
	if (status == PLX_OK)
		return command_call(engine, set_id, &call);
	if (command_call(engine, unclaim, &call) == PLX_OK)
		connector->far_last_engine = NULL;
	return status;
}

enum plx_status
far_establish(struct engine_connector *connector)
{
	struct far_call call = {.connector = connector};
	enum plx_status status = run_home(connector, look, &call);

	if (status == PLX_OK)
		status = command_call(connector->far_last_engine, to_rts, &call);
	return status == PLX_OK ? run_home(connector, establish_cm, &call) : status;
}

enum plx_status
far_accept(struct engine_connector *connector, struct engine_qp *qp,
	   const struct plx_link_attr *attr)
{
	struct far_call call = {.connector = connector, .qp = qp, .attr = attr, .passive = true};
	struct plx_engine *engine = qp->engine;
	enum plx_status status = far_settle(connector, true);

	if (status == PLX_OK)
		status = run_home(connector, look, &call);
	if (status == PLX_OK)
		status = command_call(engine, claim, &call);
	if (status != PLX_OK)
		return status;
	connector->far_last_engine = engine;
	status = run_home(connector, accept_cm, &call);
	if (status == PLX_OK) {
		status = command_call(engine, to_rtr, &call);
		/* The REP has not been sent yet. */
		if (status == PLX_OK)
			return run_home(connector, release_cm, &call);
		(void)!run_home(connector, abandon, &call);
	}
	call.from_reset = false;
	if (command_call(engine, unclaim, &call) == PLX_OK)
		connector->far_last_engine = NULL;
	return status;
}

enum plx_status
far_reject(struct engine_connector *connector, const uint8_t *private_data, uint32_t private_bytes)
{
	struct far_call call = {.connector = connector,
				.private_data = private_data,
				.private_bytes = private_bytes};
	enum plx_status status = run_home(connector, reject_cm, &call);

	return status == PLX_OK ? end_far(connector, &call) : status;
}

enum plx_status
far_disconnect(struct engine_connector *connector)
{
	struct far_call call = {.connector = connector};
	enum plx_status status = run_home(connector, disconnect_cm, &call);

	if (call.how != FAR_NOTHING && end_far(connector, &call) == PLX_TIMEOUT)
		return PLX_TIMEOUT;
	return status;
}

enum plx_status
far_close(struct engine_connector *connector)
{
	struct far_call call = {.connector = connector};
	enum plx_status status = run_home(connector, abandon, &call);

	return status == PLX_OK ? end_far(connector, &call) : status;
}
