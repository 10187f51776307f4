/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs ask of connections: each call crosses to the engine's thread as a command and is
 * executed there, against the communication manager and the queue pair together.
 * Start with plx_conn_connect() for the way there, and conn_execute() for what happens.
 */
#include "connector.h"

enum conn_op {
	CONN_NONE,
	CONN_LISTEN,
	CONN_UNLISTEN,
	CONN_ADOPT,
	CONN_TURN_AWAY,
	CONN_CONNECT,
	CONN_SIDR,
	CONN_COMPLETE,
	CONN_ACCEPT,
	CONN_REJECT,
	CONN_DISCONNECT,
	CONN_DETACH,
	CONN_QUERY,
};

/* One call, on its caller's stack: a call that timed out is never executed. */
struct conn_call {
	enum conn_op op;
	struct plx_conn *conn;
	struct plx_acceptor *acceptor;
	const struct plx_cm_listen *listen;
	struct plx_cm_id id;
	struct plx_qpair *qp;
	const struct plx_conn_attr *attr;
	const uint8_t *private_data;
	uint32_t private_bytes;
	const struct plx_cm_event *requested;
	struct plx_cm_view *view;
};

/* ---- on the engine's thread ---------------------------------------------------------------------
 */

static enum plx_status
listen(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_cm_listen with_context = *call->listen;

	with_context.context = (uintptr_t)&call->acceptor->hearer;
	return plx_cm_listen(engine->gsi->cm, &with_context, &call->acceptor->id);
}

static enum plx_status
adopt(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	enum plx_status status =
		plx_cm_set_context(engine->gsi->cm, call->requested->id, (uintptr_t)&conn->hearer);

	if (status != PLX_OK)
		return status;
	conn->id = call->requested->id;
	conn->peer = call->requested->peer;
	conn->passive = true;
	return PLX_OK;
}

/* Is this queue pair free for a connection? */
static enum plx_status
check_qp(const struct plx_engine *engine, const struct plx_qpair *qp, uint32_t mtu)
{
	enum plx_qp_state state = plx_qpair_state(qp);

	if (qp->conn != NULL || (state != PLX_QP_RESET && state != PLX_QP_INIT))
		return PLX_STATE;
	return path_frame_bytes(mtu) > engine->port->caps.frame_max ? PLX_TOO_LONG : PLX_OK;
}

static void
fill_own(const struct plx_qpair *qp, struct plx_cm_own *own)
{
	own->qpn = qp->qpn;
	own->psn = qp->first_psn;
	own->srq = qp->srq != NULL;
}

static void
fill_connect(const struct plx_conn *conn, struct plx_cm_connect *connect)
{
	const struct plx_conn_attr *attr = &conn->attr;

	*connect = (struct plx_cm_connect){
		.local = attr->path.local,
		.remote = attr->path.remote,
		.local_port = attr->local_port,
		.remote_port = attr->remote_port,
		.own = attr->own,
		.context = (uintptr_t)&conn->hearer,
		.private_data = attr->private_data,
		.private_bytes = attr->private_bytes,
	};
}

static enum plx_status
ask(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	struct plx_cm_connect connect;
	enum plx_status status;

	if (conn->id.v != 0)
		return PLX_STATE;
	conn->attr = *call->attr;
	status = path_complete(engine, &conn->attr.path);
	if (status != PLX_OK)
		return status;
	fill_connect(conn, &connect);
	conn->attr.private_data = NULL;
	conn->passive = false;
	return plx_cm_sidr(engine->gsi->cm, &connect, engine->now, &conn->id);
}

static enum plx_status
connect_qp(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	struct plx_cm_connect connect;
	bool from_reset = plx_qpair_state(call->qp) == PLX_QP_RESET;
	enum plx_status status;

	if (conn->id.v != 0)
		return PLX_STATE;
	status = check_qp(engine, call->qp, call->attr->own.path_mtu);
	if (status != PLX_OK)
		return status;
	conn->attr = *call->attr;
	fill_own(call->qp, &conn->attr.own);
	status = path_complete(engine, &conn->attr.path);
	if (status == PLX_OK && from_reset)
		status = qpair_modify(call->qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	fill_connect(conn, &connect);
	conn->attr.private_data = NULL; /* the caller's, and only during the call */
	conn->peer = (struct plx_cm_peer){0};
	status = plx_cm_connect(engine->gsi->cm, &connect, engine->now, &conn->id);
	if (status == PLX_OK) {
		conn->passive = false;
		conn_flush(conn); /* of the connection before, whose peer has just left */
		conn_bind(conn, call->qp);
	} else if (from_reset) {
		(void)qpair_modify(call->qp, PLX_QP_RESET, NULL, NULL);
	}
	return status;
}

/* The queue pair first: what cannot be refused any more is told to the peer last. */
static enum plx_status
complete(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	enum plx_status status;

	if (conn->id.v == 0 || conn->qp == NULL || conn->passive || conn->peer.qpn == 0)
		return PLX_STATE;
	if (plx_qpair_state(conn->qp) == PLX_QP_INIT) {
		status = conn_to_rtr(conn);
		if (status != PLX_OK)
			return status;
	}
	if (plx_qpair_state(conn->qp) == PLX_QP_RTR) {
		status = conn_to_rts(conn);
		if (status != PLX_OK)
			return status;
	}
	return plx_cm_complete(engine->gsi->cm, conn->id, engine->now);
}

static enum plx_status
accept_qp(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	struct plx_qpair *qp = call->qp;
	struct plx_conn_attr *attr = &conn->attr;
	enum plx_status status;
	uint8_t mac[6];

	if (conn->id.v == 0 || !conn->passive || conn->qp != NULL)
		return PLX_STATE;
	status = check_qp(engine, qp, call->attr->own.path_mtu);
	if (status == PLX_OK)
		status = engine_resolve(engine, &conn->peer.remote, mac);
	if (status != PLX_OK)
		return status;
	*attr = *call->attr;
	fill_own(qp, &attr->own);
	if (plx_qpair_state(qp) == PLX_QP_RESET)
		status = qpair_modify(qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return status;
	attr->private_data = NULL;
	status = plx_cm_accept(engine->gsi->cm, conn->id, &attr->own, (uintptr_t)&conn->hearer,
			       call->attr->private_data, attr->private_bytes, engine->now,
			       &conn->peer);
	if (status != PLX_OK)
		return status;
	conn_bind(conn, qp);
	status = conn_to_rtr(conn);
	/* The REP has not left yet: it leaves at the end of this cycle. */
	if (status != PLX_OK) {
		conn_unbind(conn);
		plx_cm_abandon(engine->gsi->cm, conn->id, engine->now);
		conn->id.v = 0;
	}
	return status;
}

static enum plx_status
reject(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	enum plx_status status = plx_cm_reject(engine->gsi->cm, conn->id, call->private_data,
					       call->private_bytes, engine->now);

	if (status != PLX_OK)
		return status;
	conn->id.v = 0;
	conn_unbind(conn);
	return PLX_OK;
}

static enum plx_status
disconnect(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;
	enum plx_status status = plx_cm_disconnect(engine->gsi->cm, conn->id, engine->now);

	/* STATE: the peer was first; then what is left of the grace is not needed any more. */
	if (status == PLX_OK || conn->id.v == 0)
		conn_flush(conn);
	return status;
}

static enum plx_status
detach(struct plx_engine *engine, const struct conn_call *call)
{
	struct plx_conn *conn = call->conn;

	if (conn->id.v != 0)
		plx_cm_abandon(engine->gsi->cm, conn->id, engine->now);
	conn->id.v = 0;
	/* One that never went beyond INIT stays as it is. */
	if (conn->qp != NULL && plx_qpair_state(conn->qp) == PLX_QP_INIT)
		conn_unbind(conn);
	conn_flush(conn);
	return PLX_OK;
}

static enum plx_status
unlisten(struct plx_engine *engine, const struct conn_call *call)
{
	return plx_cm_unlisten(engine->gsi->cm, call->acceptor->id, engine->now);
}

static enum plx_status
turn_away(struct plx_engine *engine, const struct conn_call *call)
{
	plx_cm_abandon(engine->gsi->cm, call->requested->id, engine->now);
	return PLX_OK;
}

static enum plx_status
query(struct plx_engine *engine, const struct conn_call *call)
{
	plx_cm_query(engine->gsi->cm, call->view);
	return PLX_OK;
}

enum plx_status
conn_execute(struct plx_engine *engine, struct conn_call *call)
{
	static enum plx_status (*const ops[])(struct plx_engine *, const struct conn_call *) = {
		[CONN_LISTEN] = listen,         [CONN_UNLISTEN] = unlisten,  [CONN_ADOPT] = adopt,
		[CONN_TURN_AWAY] = turn_away,   [CONN_CONNECT] = connect_qp, [CONN_SIDR] = ask,
		[CONN_COMPLETE] = complete,     [CONN_ACCEPT] = accept_qp,   [CONN_REJECT] = reject,
		[CONN_DISCONNECT] = disconnect, [CONN_DETACH] = detach,      [CONN_QUERY] = query,
	};

	engine->gsi->busy = true;
	return ops[call->op](engine, call);
}

/* ---- on the caller's thread ---------------------------------------------------------------------
 */

static enum plx_status
run(struct plx_engine *engine, struct conn_call *call)
{
	struct command command = {.op = COMMAND_CM, .call = call};

	if (engine->gsi == NULL)
		return PLX_STATE;
	return command_call(engine, &command);
}

enum plx_status
plx_acceptor_create(struct plx_equeue *queue, const struct plx_cm_listen *config, uint64_t cookie,
		    struct plx_acceptor **out)
{
	struct plx_engine *engine = queue->engine;
	struct plx_acceptor *acceptor =
		plx_heap_alloc(sizeof(*acceptor), engine->port->caps.socket);
	struct conn_call call = {.op = CONN_LISTEN, .acceptor = acceptor, .listen = config};
	enum plx_status status;

	if (acceptor == NULL)
		return PLX_NO_MEMORY;
	acceptor->hearer = (struct hearer){.queue = queue, .cookie = cookie};
	status = run(engine, &call);
	if (status != PLX_OK) {
		plx_heap_free(acceptor);
		return status;
	}
	atomic_fetch_add(&queue->users, 1);
	*out = acceptor;
	return PLX_OK;
}

enum plx_status
plx_acceptor_destroy(struct plx_acceptor *acceptor)
{
	struct plx_equeue *queue = acceptor->hearer.queue;
	struct conn_call call = {.op = CONN_UNLISTEN, .acceptor = acceptor};
	enum plx_status status = run(queue->engine, &call);

	if (status != PLX_OK)
		return status;
	atomic_fetch_sub(&queue->users, 1);
	plx_heap_free(acceptor);
	return PLX_OK;
}

enum plx_status
plx_conn_create(struct plx_equeue *queue, uint64_t cookie, struct plx_conn **out)
{
	struct plx_conn *conn = plx_heap_alloc(sizeof(*conn), queue->engine->port->caps.socket);

	if (conn == NULL)
		return PLX_NO_MEMORY;
	conn->hearer = (struct hearer){.queue = queue, .cookie = cookie};
	plx_list_init(&conn->grace_link);
	atomic_fetch_add(&queue->users, 1);
	*out = conn;
	return PLX_OK;
}

enum plx_status
plx_conn_adopt(struct plx_equeue *queue, const struct plx_cm_event *requested, uint64_t cookie,
	       struct plx_conn **out)
{
	struct conn_call call = {.op = CONN_ADOPT, .requested = requested};
	enum plx_status status = plx_conn_create(queue, cookie, &call.conn);

	if (status != PLX_OK)
		return status;
	status = run(queue->engine, &call);
	if (status != PLX_OK) {
		atomic_fetch_sub(&queue->users, 1);
		plx_heap_free(call.conn);
		return status;
	}
	*out = call.conn;
	return PLX_OK;
}

enum plx_status
plx_conn_turn_away(struct plx_equeue *queue, const struct plx_cm_event *requested)
{
	struct conn_call call = {.op = CONN_TURN_AWAY, .requested = requested};

	return run(queue->engine, &call);
}

enum plx_status
plx_conn_destroy(struct plx_conn *conn)
{
	struct plx_equeue *queue = conn->hearer.queue;
	struct conn_call call = {.op = CONN_DETACH, .conn = conn};
	enum plx_status status = run(queue->engine, &call);

	if (status != PLX_OK)
		return status;
	atomic_fetch_sub(&queue->users, 1);
	plx_heap_free(conn);
	return PLX_OK;
}

enum plx_status
plx_conn_connect(struct plx_conn *conn, struct plx_qpair *qp, const struct plx_conn_attr *attr)
{
	struct conn_call call = {.op = CONN_CONNECT, .conn = conn, .qp = qp, .attr = attr};

	return run(conn->hearer.queue->engine, &call);
}

enum plx_status
plx_conn_sidr(struct plx_conn *conn, const struct plx_conn_attr *attr)
{
	struct conn_call call = {.op = CONN_SIDR, .conn = conn, .attr = attr};

	return run(conn->hearer.queue->engine, &call);
}

enum plx_status
plx_conn_complete(struct plx_conn *conn)
{
	struct conn_call call = {.op = CONN_COMPLETE, .conn = conn};

	return run(conn->hearer.queue->engine, &call);
}

enum plx_status
plx_conn_accept(struct plx_conn *conn, struct plx_qpair *qp, const struct plx_conn_attr *attr)
{
	struct conn_call call = {.op = CONN_ACCEPT, .conn = conn, .qp = qp, .attr = attr};

	return run(conn->hearer.queue->engine, &call);
}

enum plx_status
plx_conn_reject(struct plx_conn *conn, const uint8_t *private_data, uint32_t private_bytes)
{
	struct conn_call call = {.op = CONN_REJECT,
				 .conn = conn,
				 .private_data = private_data,
				 .private_bytes = private_bytes};

	return run(conn->hearer.queue->engine, &call);
}

enum plx_status
plx_conn_disconnect(struct plx_conn *conn)
{
	struct conn_call call = {.op = CONN_DISCONNECT, .conn = conn};

	return run(conn->hearer.queue->engine, &call);
}

const struct plx_cm_counters *
plx_engine_cm_counters(const struct plx_engine *engine)
{
	return engine->config.cm != NULL ? plx_cm_counters(engine->config.cm) : NULL;
}

enum plx_status
plx_engine_cm_query(struct plx_engine *engine, struct plx_cm_view *out)
{
	struct conn_call call = {.op = CONN_QUERY, .view = out};

	return run(engine, &call);
}
