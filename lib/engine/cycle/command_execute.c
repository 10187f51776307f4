/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Execution of commands on the engine's thread. Start with command_execute().
 */
#include "connector.h"
#include "ud.h"

enum {
	FLUSH_TURNS = 8, /* in addition to one for each entry that may be posted */
};

/* Receive entries that this queue pair can have in flight to its completion queue. Those of an SRQ
 * are counted once for all of its queue pairs with the same completion queue. */
static uint32_t
receives_of(const struct plx_qp *qp)
{
	const struct plx_list *all = &qp->engine->qps;

	for (struct plx_list *node = all->next; qp->config.srq != NULL && node != all;
	     node = node->next) {
		const struct plx_qp *other = plx_list_entry(node, struct plx_qp, all_link);

		if (other != qp && other->config.srq == qp->config.srq &&
		    other->recv_cq == qp->recv_cq)
			return 0;
	}
	return qp->recv->depth;
}

static enum plx_status
attach_qp(struct command *command)
{
	struct plx_qp *qp = command->qp;
	struct plx_cq *cqs[2] = {qp->send_cq, qp->recv_cq};
	uint32_t more[2] = {qp->config.caps.sq_depth, receives_of(qp)};

	for (int i = 0; i < 2; i++) {
		struct plx_cq *cq = cqs[i];
		enum plx_status status = engine_cq_grow(cq, atomic_load(&cq->depth), more[i],
							&command->spare[i], command->spare_room[i]);

		if (status != PLX_OK) {
			/* The larger backlog stays; the reservation is undone. */
			if (i == 1)
				atomic_fetch_sub(&cqs[0]->reserve, more[0]);
			return status;
		}
	}
	qp->send_cq->users++;
	qp->recv_cq->users++;
	if (qp->config.srq != NULL)
		qp->config.srq->users++;
	engine_qp_attach(qp);
	return PLX_OK;
}

static enum plx_status
detach_qp(struct command *command)
{
	struct plx_qp *qp = command->qp;

	engine_qp_detach(qp);
	qp->send_cq->users--;
	qp->recv_cq->users--;
	if (qp->config.srq != NULL)
		qp->config.srq->users--;
	atomic_fetch_sub(&qp->send_cq->reserve, qp->config.caps.sq_depth);
	atomic_fetch_sub(&qp->recv_cq->reserve, receives_of(qp));
	return PLX_OK;
}

/* Flush everything posted to a queue pair in ERROR. */
static enum plx_status
flush_all(struct plx_engine *engine, struct plx_qp *qp)
{
	uint32_t turns = qp->config.caps.sq_depth + qp->recv->depth + FLUSH_TURNS;
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
publish_all(struct plx_engine *engine, struct plx_qp *qp)
{
	engine_publish(engine);
	engine_sq_publish(&qp->sq, qp->send_cq);
	engine_rq_publish(qp->recv, qp->recv_cq);
}

/* Flush and publish everything, so that the caller finds all completions when the command returns.
 * The periodic sweep flushes posts that race with this. */
static enum plx_status
flush_qp(struct plx_engine *engine, struct plx_qp *qp)
{
	enum plx_status status = engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL);

	if (status != PLX_OK)
		return status;
	/* Its connection ends, as when a queue pair fails. */
	if (qp->connector != NULL)
		engine_connector_on_failure(qp);
	while (engine_qp_fetch(qp) > 0)
		;
	status = flush_all(engine, qp);
	engine_schedule(engine, qp);
	publish_all(engine, qp);
	return status;
}

/* A queue pair that was never connected: its receives are flushed, and to the outside it stays in
 * INIT. Entries added to the posting ring meanwhile are not discarded: they wait there for the
 * connection. */
static enum plx_status
flush_fresh_qp(struct plx_engine *engine, struct plx_qp *qp)
{
	uint32_t end = engine_sq_end(&qp->sq);
	enum plx_status status;

	if (qp->config.srq == NULL)
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
query_qp(struct command *command)
{
	plx_rc_query(command->qp->rc, &command->view);
	return PLX_OK;
}

void
command_execute(struct plx_engine *engine, struct command *command)
{
	switch (command->op) {
	case COMMAND_QP_NUMBER:
		command->status = engine_qp_number(command->qp);
		return;
	case COMMAND_QP_FORGET:
		engine_qp_forget(command->qp);
		command->status = PLX_OK;
		return;
	case COMMAND_QP_ATTACH:
		command->status = attach_qp(command);
		return;
	case COMMAND_QP_DETACH:
		command->status = detach_qp(command);
		return;
	case COMMAND_QP_MODIFY:
		command->status =
			engine_qp_modify(command->qp, command->modify.to,
					 command->modify.has_attr ? &command->modify.attr : NULL,
					 &command->modify.path);
		return;
	case COMMAND_QP_FLUSH:
		command->status =
			plx_engine_qp_state(command->qp) == PLX_QP_INIT && command->qp->ud == NULL
				? flush_fresh_qp(engine, command->qp)
				: flush_qp(engine, command->qp);
		return;
	case COMMAND_QP_QUERY:
		command->status = query_qp(command);
		return;
	case COMMAND_CQ_RESIZE:
	case COMMAND_CQ_DETACH:
	case COMMAND_SRQ_ARM:
	case COMMAND_SRQ_DETACH:
		queue_command_execute(engine, command);
		return;
	case COMMAND_CM:
		command->status = engine_connector_execute(engine, command->call);
		return;
	case COMMAND_AH_TABLE:
		if (engine_ah_table_adopt(engine, command->ah_table))
			command->ah_table = NULL;
		command->status = PLX_OK;
		return;
	case COMMAND_AH_OPEN:
		command->status = engine_ah_open(engine, command->ah_open.domain,
						 &command->ah_open.path, &command->ah);
		return;
	case COMMAND_AH_CLOSE:
		ud_fetch_all(engine);
		engine_ah_close(command->ah);
		command->status = PLX_OK;
		return;
	case COMMAND_NET_RESOLVE:
	case COMMAND_NET_PING:
	case COMMAND_NET_PING_RESULT:
		net_command_execute(engine, command);
		return;
	case COMMAND_NONE:
	case COMMAND_COUNT:
		break;
	}
	command->status = PLX_INVALID;
}
