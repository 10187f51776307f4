/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls on queue pairs: creation and destruction on the caller's thread, and what the engine's
 * thread executes of each, as a command.
 * Start with plx_qp_back_create().
 */
#include "plx_back.h"
#include "plx_engine_ud.h"
#include "plx_thread.h"

enum {
	FLUSH_TURNS = 8, /* in addition to one for each entry that may be posted */
};

/* Receive entries that this queue pair can have in flight to its completion queue. Those of an SRQ
 * are counted once for all of its queue pairs with the same completion queue. */
static uint32_t
receives_of(const struct engine_qp *qp)
{
	const struct plx_list *all = &qp->engine->qps;

	for (struct plx_list *node = all->next; qp->srq != NULL && node != all; node = node->next) {
		const struct engine_qp *other = plx_list_entry(node, struct engine_qp, all_link);

		if (other != qp && other->srq == qp->srq && other->recv_cq == qp->recv_cq)
			return 0;
	}
	return qp->recv->depth;
}

struct attach_call {
	struct engine_qp *qp;
	/* new backlogs of its completion queues, exchanged for the old ones, which the caller frees
	 */
	struct plx_wc *spare[2];
	uint32_t spare_room[2];
};

static enum plx_status
attach_qp(struct plx_engine *engine, void *arg)
{
	struct attach_call *call = arg;
	struct engine_qp *qp = call->qp;
	struct engine_cq *cqs[2] = {qp->send_cq, qp->recv_cq};
	uint32_t more[2] = {qp->sq.caps.sq_depth, receives_of(qp)};

	(void)engine;
	for (int i = 0; i < 2; i++) {
		struct engine_cq *cq = cqs[i];
		enum plx_status status = engine_cq_grow(cq, atomic_load(&cq->depth), more[i],
							&call->spare[i], call->spare_room[i]);

		if (status != PLX_OK) {
			/* The larger backlog stays; the reservation is undone. */
			if (i == 1)
				atomic_fetch_sub(&cqs[0]->reserve, more[0]);
			return status;
		}
	}
	qp->send_cq->users++;
	qp->recv_cq->users++;
	if (qp->srq != NULL)
		qp->srq->users++;
	engine_qp_attach(qp);
	return PLX_OK;
}

static enum plx_status
detach_qp(struct plx_engine *engine, void *arg)
{
	struct engine_qp *qp = arg;

	(void)engine;
	engine_qp_detach(qp);
	qp->send_cq->users--;
	qp->recv_cq->users--;
	if (qp->srq != NULL)
		qp->srq->users--;
	atomic_fetch_sub(&qp->send_cq->reserve, qp->sq.caps.sq_depth);
	atomic_fetch_sub(&qp->recv_cq->reserve, receives_of(qp));
	return PLX_OK;
}

/* Flush everything posted to a queue pair in ERROR. */
static enum plx_status
flush_all(struct plx_engine *engine, struct engine_qp *qp)
{
	uint32_t turns = qp->sq.caps.sq_depth + qp->recv->depth + FLUSH_TURNS;
	struct plx_rc_view view;

	/* Each pass completes at least one entry; the limit guards against a defect. */
	do {
		plx_rc_on_tick(qp->rc, engine->now, &engine->actions);
		engine_execute(engine, qp);
		plx_rc_query(qp->rc, &view);
	} while (!view.flushed && --turns > 0);
	return view.flushed ? PLX_OK : PLX_AGAIN;
}

/* Publish the completions and the free slots: the caller finds both. */
static void
publish_all(struct plx_engine *engine, struct engine_qp *qp)
{
	engine_publish(engine);
	engine_sq_publish(&qp->sq, qp->send_cq);
	engine_rq_publish(qp->recv, qp->recv_cq);
}

/* Flush and publish everything, so that the caller finds all completions when the command returns.
 * The periodic sweep flushes posts that race with this. */
enum plx_status
engine_qp_flush(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;
	enum plx_status status = engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL);

	if (status != PLX_OK)
		return status;
	/* Its connection ends, as when a queue pair fails. */
	if (qp->connector != NULL)
		engine->link->on_failure(qp);
	engine_qp_fetch_all(qp);
	if (qp->copies > 0)
		return PLX_BUSY;
	status = flush_all(engine, qp);
	engine_schedule(engine, qp);
	publish_all(engine, qp);
	return status;
}

/* A queue pair that was never connected: its receives are flushed, and to the outside it stays in
 * INIT. Entries added to the posting ring meanwhile are not discarded: they wait there for the
 * connection. */
static enum plx_status
flush_fresh_qp(struct plx_engine *engine, struct engine_qp *qp)
{
	uint32_t end = engine_sq_end(&qp->sq);
	enum plx_status status;

	if (qp->srq == NULL)
		engine_rq_fetch(&qp->own);
	status = plx_rc_modify(qp->rc, PLX_QP_ERROR, NULL);
	if (status == PLX_OK)
		status = flush_all(engine, qp);
	if (status == PLX_OK)
		status = plx_rc_modify(qp->rc, PLX_QP_RESET, NULL);
	if (status == PLX_OK)
		status = plx_rc_modify(qp->rc, PLX_QP_INIT, NULL);
	qp->sq.base = end - plx_rc_sq_consumed(qp->rc);
	publish_all(engine, qp);
	return status;
}

static enum plx_status
flush(struct plx_engine *engine, void *arg)
{
	struct engine_qp *qp = arg;

	return engine_qp_state(qp) == PLX_QP_INIT && qp->ud == NULL ? flush_fresh_qp(engine, qp)
								    : engine_qp_flush(qp);
}

struct query_call {
	const struct engine_qp *qp;
	struct plx_rc_view *out;
};

static enum plx_status
query(struct plx_engine *engine, void *arg)
{
	const struct query_call *call = arg;

	(void)engine;
	plx_rc_query(call->qp->rc, call->out);
	return PLX_OK;
}

struct modify_call {
	struct engine_qp *qp;
	enum plx_qp_state to;
	const struct plx_rc_attr *attr; /* NULL: none */
	const struct plx_engine_path *path;
};

static enum plx_status
modify(struct plx_engine *engine, void *arg)
{
	const struct modify_call *call = arg;

	(void)engine;
	return engine_qp_modify(call->qp, call->to, call->attr, call->path);
}

static enum plx_status
assign_number(struct plx_engine *engine, void *qp)
{
	(void)engine;
	return engine_qp_number(qp);
}

static enum plx_status
forget_number(struct plx_engine *engine, void *qp)
{
	(void)engine;
	engine_qp_forget(qp);
	return PLX_OK;
}

/* ---- on the caller's thread ---- */

static void
free_qp(struct engine_qp *qp)
{
	engine_sq_free(&qp->sq, qp->seat);
	engine_rq_free(&qp->own, qp->seat);
	plx_heap_free(qp);
}

/*
 * A queue pair is one block: each more would cost as much again as an idle queue pair's receive
 * queue. Behind the struct are its own receive queue, the transport's part
 * and the congestion strategy's state.
 */
struct block {
	size_t rq_at, rc_at, cc_at, bytes;
};

/* Returns: false if a queue has an invalid size */
static bool
block_of(const struct qp_back_config *config, struct block *out)
{
	size_t rc = config->type == PLX_QP_UD ? plx_ud_bytes(&config->caps)
					      : plx_rc_bytes(&config->caps);
	size_t rq = config->srq != NULL ? 0 : plx_rq_bytes(config->rq_depth, config->rq_sges);

	out->rq_at = RTE_CACHE_LINE_ROUNDUP(sizeof(struct engine_qp));
	out->rc_at = RTE_CACHE_LINE_ROUNDUP(out->rq_at + rq);
	out->cc_at = RTE_CACHE_LINE_ROUNDUP(out->rc_at + rc);
	out->bytes = out->cc_at + engine_congestion_bytes(config->congestion);
	return rc != 0 && (rq != 0 || config->srq != NULL);
}

/* Create the transport's part. */
static void
make_transport(struct engine_qp *qp, const struct qp_back_config *config, void *memory)
{
	struct plx_engine *engine = qp->engine;
	const struct plx_rc_ids ids = {.qpn = qp->qpn,
				       .domain = config->domain,
				       .mem = engine->config.mem,
				       .rq = qp->recv->rq,
				       .keep = engine->keep,
				       .cc = engine_congestion_ops(config->congestion),
				       .cc_state = qp->strategy,
				       .foreign = qp->seat->waker != NULL};
	struct plx_ud_ids ud_ids = {.qpn = qp->qpn,
				    .qkey = config->qkey,
				    .domain = config->domain,
				    .mem = engine->config.mem,
				    .rq = qp->recv->rq};

	if (config->type == PLX_QP_UD) {
		ud_ids.ahs = engine->ah_table->uses;
		ud_ids.ah_count = PLX_ENGINE_AHS_MAX;
		qp->ud = plx_ud_init(memory, &config->caps, &ud_ids);
		qp->rc = plx_ud_base(qp->ud);
	} else {
		qp->rc = plx_rc_init(memory, &config->caps, &ids);
	}
	qp->sq.rc = qp->rc;
	qp->sq.ud = qp->ud;
	qp->own.rc = config->srq == NULL ? qp->rc : NULL;
}

/* Create everything in the block, and what program and engine share. */
static enum plx_status
make_queues(struct engine_qp *qp, const struct qp_back_config *config, const struct block *block)
{
	struct plx_engine *engine = qp->engine;
	uint8_t *memory = (uint8_t *)qp;
	enum plx_status status = PLX_OK;

	if (config->type == PLX_QP_UD)
		status = engine->link->ensure_ahs(engine);
	if (status == PLX_OK && config->srq == NULL)
		status = engine_rq_init(&qp->own, qp->seat, config->rq_depth, config->rq_sges,
					false, memory + block->rq_at);
	if (status == PLX_OK)
		status = engine_sq_init(&qp->sq, qp->seat, &config->caps, config->domain);
	if (status != PLX_OK)
		return status;
	qp->recv = qp->srq != NULL ? &qp->srq->queue : &qp->own;
	qp->congestion = config->congestion;
	qp->strategy = memory + block->cc_at;
	engine_congestion_begin(qp, 0); /* it may go on with another's connection */
	make_transport(qp, config, memory + block->rc_at);
	return PLX_OK;
}

/* Attach, with spare backlogs for the completion queues; retry while another thread was faster. */
static enum plx_status
attach(struct engine_qp *qp)
{
	int socket = qp->engine->port->caps.socket;
	struct attach_call call = {.qp = qp};
	struct engine_cq *cqs[2] = {qp->send_cq, qp->recv_cq};
	uint32_t more[2] = {qp->sq.caps.sq_depth, qp->recv->depth};
	enum plx_status status;

	if (cqs[0] == cqs[1])
		more[1] += more[0];
	do {
		bool short_of = false;

		for (int i = 0; i < 2; i++) {
			call.spare_room[i] =
				engine_cq_spare_room(cqs[i], atomic_load(&cqs[i]->depth), more[i]);
			call.spare[i] = NULL;
			if (call.spare_room[i] == 0)
				continue;
			call.spare[i] =
				plx_heap_queue(call.spare_room[i] * sizeof(struct plx_wc), socket);
			short_of |= call.spare[i] == NULL;
		}
		status = short_of ? PLX_NO_MEMORY : command_call(qp->engine, attach_qp, &call);
		plx_heap_free(call.spare[0]);
		plx_heap_free(call.spare[1]);
	} while (status == PLX_AGAIN);
	return status;
}

static void
init_qp(struct engine_qp *qp, const struct qp_back_config *config)
{
	qp->send_cq = config->send_cq;
	qp->recv_cq = config->recv_cq;
	qp->srq = config->srq;
	qp->qkey = config->qkey;
	qp->seat = qp->send_cq->seat;
	qp->context = config->context;
	qp->timer.deadline = PLX_NEVER;
	plx_list_init(&qp->timer.link);
	plx_list_init(&qp->ready_link);
	plx_list_init(&qp->owing_link);
	plx_list_init(&qp->async_event_link);
	plx_list_init(&qp->all_link);
	plx_list_init(&qp->ud_link);
}

/*
 * Discard a queue pair that has a number but will not be completed. The engine refers to it by
 * that number, so its memory must stay if the engine does not run: then it is kept, and the next
 * creation, or the engine's destruction, frees it.
 */
static void
keep_half_made(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	qp->next_half_made = atomic_load(&engine->half_made);
	while (!atomic_compare_exchange_weak(&engine->half_made, &qp->next_half_made, qp))
		;
}

/* Returns: false: the engine does not run */
static bool
forget(struct engine_qp *qp)
{
	if (command_call(qp->engine, forget_number, qp) != PLX_OK)
		return false;
	free_qp(qp);
	return true;
}

static void
forget_half_made(struct plx_engine *engine)
{
	struct engine_qp *qp = atomic_exchange(&engine->half_made, NULL);
	bool runs = true;

	while (plx_unlikely(qp != NULL)) {
		struct engine_qp *next = qp->next_half_made;

		runs = runs && forget(qp);
		if (!runs)
			keep_half_made(qp);
		qp = next;
	}
}

void
engine_qp_free_half_made(struct plx_engine *engine)
{
	struct engine_qp *qp = atomic_exchange(&engine->half_made, NULL);

	while (qp != NULL) {
		struct engine_qp *next = qp->next_half_made;

		free_qp(qp);
		qp = next;
	}
}

enum plx_status
plx_qp_back_create(const struct qp_back_config *config, struct engine_qp **out)
{
	struct plx_engine *engine = engine_of(config->send_cq->queues);
	enum plx_status status;
	struct engine_qp *qp;
	struct block block;

	if (!block_of(config, &block))
		return PLX_INVALID;
	qp = plx_heap_queue(block.bytes, engine->port->caps.socket);
	if (qp == NULL)
		return PLX_NO_MEMORY;
	forget_half_made(engine);
	qp->engine = engine;
	/* Without a path there is no flow: nothing matches, and no byte before a frame is read. */
	plx_frame_flow_init(&qp->from_peer, &qp->to_peer);
	init_qp(qp, config);
	if (qp->recv_cq->seat != qp->seat || (qp->srq != NULL && qp->srq->seat != qp->seat)) {
		plx_heap_free(qp);
		return PLX_INVALID;
	}
	/* The number is needed first: it is an argument of the transport. */
	status = command_call(engine, assign_number, qp);
	if (status != PLX_OK) {
		plx_heap_free(qp);
		return status;
	}
	status = make_queues(qp, config, &block);
	if (status == PLX_OK)
		status = attach(qp);
	if (status != PLX_OK) {
		if (!forget(qp))
			keep_half_made(qp);
		return status;
	}
	engine_seat_use(qp->seat);
	*out = qp;
	return PLX_OK;
}

enum plx_status
plx_qp_back_destroy(struct engine_qp *qp)
{
	enum plx_status status = command_call(qp->engine, detach_qp, qp);

	if (status != PLX_OK)
		return status;
	engine_seat_unuse(qp->seat);
	free_qp(qp);
	return PLX_OK;
}

enum plx_status
plx_qp_back_modify(struct engine_qp *qp, enum plx_qp_state to, const struct plx_rc_attr *attr,
		   const struct plx_engine_path *path)
{
	static const struct plx_engine_path none;
	struct modify_call call = {qp, to, attr, path != NULL ? path : &none};

	return command_call(qp->engine, modify, &call);
}

enum plx_status
plx_qp_back_flush(struct engine_qp *qp)
{
	enum plx_status status;
	uint32_t looks = 0;

	/* Its copies end within two seconds, one way or the other. */
	while ((status = command_call(qp->engine, flush, qp)) == PLX_BUSY)
		plx_engine_backoff(&looks);
	return status;
}

enum plx_status
plx_qp_back_query(struct engine_qp *qp, struct plx_rc_view *out)
{
	struct query_call call = {qp, out};

	return command_call(qp->engine, query, &call);
}

/* ---- what any thread may read ---- */

void
plx_qp_back_made(struct engine_qp *qp, struct qp_back_made *out)
{
	bool inline_mode = qp->engine->config.inline_mode;

	*out = (struct qp_back_made){
		.type = qp->ud != NULL ? PLX_QP_UD : PLX_QP_RC,
		.qpn = qp->qpn,
		.first_psn = qp->first_psn,
		.slot = qp->slot,
		.domain = qp->sq.domain,
		.caps = qp->sq.caps,
		.rq_depth = qp->own.depth,
		.rq_sges = qp->own.sges,
		.qkey = qp->qkey,
		.context = qp->context,
		.has_srq = qp->srq != NULL,
		.sq_front = qp->sq.front,
		.rq_front = qp->own.front,
		.sq = inline_mode ? &qp->sq : NULL,
		.rq = inline_mode ? &qp->own : NULL,
	};
}

const struct plx_rc_counters *
plx_qp_back_counters(const struct engine_qp *qp)
{
	return plx_rc_counters(qp->rc);
}

enum plx_qp_state
plx_qp_back_state(const struct engine_qp *qp)
{
	return state_of(__atomic_load_n(&qp->sq.state, __ATOMIC_RELAXED));
}
