/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What happens to a queue pair when its program gives it away or ends. A connection moves from one
 * queue pair of an engine to another: the number, the path and the connector go with it.
 * lib/proto/transport/move.c moves what the peer knows of. Start with plx_qp_back_move().
 */
#include "plx_back.h"
#include "plx_engine_cycle.h"

struct move_call {
	struct engine_qp *from, *to;
	const struct engine_connector *connector;
	struct plx_qp_past past; /* [out] */
};

/* The slot goes with the number, and a doorbell with the slot. */
static void
swap_numbers(struct plx_engine *engine, struct engine_qp *a, struct engine_qp *b)
{
	struct qp_entry *at_a = &engine->table[a->slot], *at_b = &engine->table[b->slot];
	uint32_t qpn = a->qpn, slot = a->slot;

	engine_seat_remove_slot(engine, a->seat, a->slot);
	engine_seat_remove_slot(engine, b->seat, b->slot);
	at_a->qp = b;
	at_b->qp = a;
	a->qpn = b->qpn;
	a->slot = b->slot;
	b->qpn = qpn;
	b->slot = slot;
	engine_seat_add_slot(engine, a->seat, a->slot);
	if (!PLX_MUTANT(MOVE_DOORBELL_STAYS))
		engine_seat_add_slot(engine, b->seat, b->slot);
	a->sq.doorbell = seat_doorbell(a->seat->front, a->slot, -1);
	b->sq.doorbell = seat_doorbell(b->seat->front, b->slot, -1);
}

static void
take_path(struct engine_qp *to, struct engine_qp *from)
{
	to->path = from->path;
	memcpy(to->path_mac, from->path_mac, sizeof(to->path_mac));
	to->loops = from->loops;
	to->routed = from->routed;
	to->to_peer = from->to_peer;
	to->from_peer = from->from_peer;
	to->failure = from->failure;
	/* Nothing matches any more. */
	from->routed = false;
	from->to_peer = (struct plx_frame_template){0};
	plx_frame_flow_init(&from->from_peer, &from->to_peer);
}

/* Nothing is under way: what was posted is done, and receives that are not queued have a message.
 */
static struct plx_qp_past
past_of(const struct engine_qp *qp)
{
	struct plx_qp_past past = qp->before;

	past.requests += plx_rc_sq_posted(qp->rc);
	if (qp->own.rq != NULL)
		past.receives += qp->own.fetched - plx_rq_count(qp->own.rq);
	return past;
}

static enum plx_status
move(struct plx_engine *engine, void *arg)
{
	struct move_call *call = arg;
	struct engine_qp *from = call->from, *to = call->to;
	struct plx_rc_view view;

	if (engine_qp_state(from) != PLX_QP_RTS || engine_qp_state(to) != PLX_QP_RESET)
		return PLX_STATE;
	if (from->connector != call->connector)
		return PLX_INVALID;
	engine_qp_fetch_all(from);
	if (from->copies > 0 || !plx_rc_is_between(from->rc))
		return PLX_BUSY;
	call->past = to->before = past_of(from);
	swap_numbers(engine, from, to);
	plx_rc_take_over(to->rc, from->rc, engine->now);
	take_path(to, from);
	if (from->connector != NULL)
		engine->link->on_move(from, to);
	/* Posts by other programs find the new one's ring. */
	engine_forget_recent(from);
	plx_rc_query(to->rc, &view);
	atomic_store(&to->sq.front->rd_atomic_ok, view.initiator_depth > 0);
	engine_sq_set_state(&to->sq, PLX_QP_RTS);
	engine_schedule(engine, to);
	/* It has moved, whatever is left to flush. */
	if (!PLX_MUTANT(MOVE_KEEPS_RECEIVES))
		(void)!engine_qp_flush(from);
	return PLX_OK;
}

/* Without rings nothing can be posted, as in inline mode. */
static enum plx_status
freeze(struct plx_engine *engine, void *arg)
{
	struct engine_qp *qp = arg;

	engine_qp_fetch_all(qp);
	(void)engine_rq_fetch(&qp->own);
	qp->sq.ring.shared = NULL;
	qp->own.ring.shared = NULL;
	engine_forget_recent(qp);
	engine_schedule(engine, qp);
	return PLX_OK;
}

enum plx_status
plx_qp_back_freeze(struct engine_qp *qp)
{
	return command_call(qp->engine, freeze, qp);
}

enum plx_status
plx_qp_back_move(struct engine_qp *from, struct engine_qp *to,
		 const struct engine_connector *connector, struct plx_qp_past *past)
{
	struct move_call call = {.from = from, .to = to, .connector = connector};
	enum plx_status status;

	if (from->engine != to->engine || from->ud != NULL || to->ud != NULL ||
	    from->sq.caps.responder_resources != to->sq.caps.responder_resources)
		return PLX_INVALID;
	status = command_call(from->engine, move, &call);
	*past = call.past;
	return status;
}
