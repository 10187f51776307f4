/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns the model's request into a WQE, posts it, and checks the status of the post.
 * It never draws requests; workload.c does.
 * Start with post_op().
 */
#include <stdlib.h>

#include "sim.h"

static uint32_t
psns_of(const struct op *op, uint32_t mtu)
{
	if (op->kind == PLX_WR_LOCAL_INV || op->kind == PLX_WR_BIND)
		return 0;
	return op->length <= mtu ? 1 : (op->length + mtu - 1) / mtu;
}

/* The bytes of a request, as the application would have prepared them. */
static void
gather(const struct side *side, const struct op *op, uint8_t *out)
{
	for (uint32_t i = 0; i < op->sges; i++) {
		const struct slab *slab = &side->station->source_slab;
		uint64_t va = op->sge[i].va, left = op->sge[i].length, take;

		for (; left > 0; left -= take) {
			take = slab_rest(slab, va);
			if (take > left)
				take = left;
			memcpy(out, slab_host(slab, va), take);
			out += take;
			va += take;
		}
	}
}

static void
fill_wqe(const struct side *side, const struct op *op, struct plx_wqe *wqe, uint8_t *spill)
{
	uint32_t direct = op->sges < PLX_WQE_SGES ? op->sges : PLX_WQE_SGES;

	wqe->wr_id = op->wr_id;
	wqe->op = op->kind;
	wqe->flags = op->flags;
	if (op->kind == PLX_WR_SEND_INV || op->kind == PLX_WR_LOCAL_INV)
		wqe->inv_key.v = op->inv_key;
	else
		wqe->imm = op->imm;
	wqe->rkey.v = op->rkey;
	wqe->remote_va = op->remote_va;
	wqe->swap_add = op->swap_add;
	wqe->compare = op->compare;
	if (op->flags & PLX_WR_INLINE) {
		wqe->inline_bytes = op->length;
		gather(side, op, op->length > PLX_WQE_INLINE_BYTES ? spill : wqe->data);
		return;
	}
	wqe->sges = op->sges;
	memcpy(wqe->sge, op->sge, direct * sizeof(op->sge[0]));
	if (op->sges > PLX_WQE_SGES)
		memcpy(spill, op->sge + PLX_WQE_SGES,
		       (op->sges - PLX_WQE_SGES) * sizeof(op->sge[0]));
}

/* What is posted is the queue's own copy: the caller's is scribbled over at once. */
static enum plx_status
post_wqe(struct side *side, const struct op *op)
{
	uint8_t spill[PLX_INLINE_MAX > PLX_SGE_MAX * sizeof(struct plx_sge)
			      ? PLX_INLINE_MAX
			      : PLX_SGE_MAX * sizeof(struct plx_sge)] __attribute__((aligned(8)));
	bool spilled = op->flags & PLX_WR_INLINE ? op->length > PLX_WQE_INLINE_BYTES
						 : op->sges > PLX_WQE_SGES;
	enum plx_status status;
	struct plx_wqe wqe;

	memset(&wqe, 0, sizeof(wqe));
	fill_wqe(side, op, &wqe, spill);
	status = plx_rc_post_send(ep_qp_core(side->qp), &wqe, spilled ? spill : NULL);
	memset(&wqe, 0x5a, sizeof(wqe));
	if (spilled)
		memset(spill, 0x5a, sizeof(spill));
	return status;
}

bool
post_has_room(const struct side *side)
{
	struct plx_rc_view view;

	plx_rc_query(ep_qp_core(side->qp), &view);
	return view.sq_posted - view.sq_consumed < side->caps.sq_depth;
}

/* A full queue refuses, and a refused call has changed nothing. */
void
post_when_full(struct side *side)
{
	struct world *world = side->pair->world;
	struct op op = {.kind = PLX_WR_SEND, .wr_id = world->next_wr_id++};
	struct plx_rc_view before, after;
	enum plx_status status;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	plx_rc_query(ep_qp_core(side->qp), &before);
	status = post_wqe(side, &op);
	plx_rc_query(ep_qp_core(side->qp), &after);
	sim_must(world, status == PLX_FULL, "I6", "a post to a full send queue returns: %s",
		 plx_status_text(status));
	sim_must(world, memcmp(&before, &after, sizeof(before)) == 0, "I6",
		 "a refused post has changed the queue pair");
	world->stats.refused++;
}

static void
settle_keys(struct side *side, struct op *op)
{
	if (op->target != NULL)
		op->target->users++;
	if (op->inv == NULL)
		return;
	if (op->kind == PLX_WR_BIND) {
		grant_bind(side->station, op->inv, side->qpn);
		op->inv->offered = true;
		return;
	}
	op->inv_key = op->inv->key.v;
	op->inv->offered = false;
	if (op->kind == PLX_WR_LOCAL_INV)
		op->inv->state = GRANT_DOUBTFUL;
}

/* `op` is the next entry of the side's ring, drawn and not yet named. */
void
post_op(struct side *side, struct op *op)
{
	struct world *world = side->pair->world;
	uint64_t oldest = side->op_done < side->peer->exec_op ? side->op_done : side->peer->exec_op;
	enum plx_status status;

	if (world->evil)
		oldest = side->op_done; /* the model does not follow what the peer executes */
	PLX_ASSERT(side->op_posted - oldest < side->op_room);
	op->wr_id = world->next_wr_id++;
	op->psn = side->psn_post;
	op->psns = psns_of(op, side->attr.mtu);
	op->dead = side->state != SIDE_UP;
	settle_keys(side, op);
	trace_add(world, TRACE_POST, side, op->wr_id,
		  op->kind | (uint32_t)op->misuse << 8 | (uint32_t)op->flags << 16, op->length,
		  op->psn);
	status = post_wqe(side, op);
	sim_must(world, status == PLX_OK, "I1", "a post is refused though the queue has room: %s",
		 plx_status_text(status));
	script_op(side, op);
	if (!op->dead)
		side->psn_post += op->psns;
	side->op_posted++;
	side_schedule(side);
}

/* In ERROR a post succeeds, and completes as flushed. */
void
post_after_death(struct side *side)
{
	struct world *world = side->pair->world;
	struct op *op = &side->ops[side->op_posted & (side->op_room - 1)];

	if (side->posts_after_death == SIM_POST_AFTER_DEATH || !post_has_room(side) ||
	    !draw_percent(&side->prng, 30))
		return;
	side->posts_after_death++;
	memset(op, 0, offsetof(struct op, sge));
	op->kind = PLX_WR_SEND;
	post_op(side, op);
	world->drawn_extra++;
}
