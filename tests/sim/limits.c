/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of a QP's numbers, after every call: they advance, by as much as the model's; requests
 * and receives in use are within their limits.
 * It never looks at packets. Start with limits_check().
 */
#include "sim.h"

/* A fence holds a request until all earlier responses have arrived. */
void
fence_check(struct side *side, const struct op *fenced)
{
	for (uint64_t i = side->op_done; i < side->op_posted; i++) {
		const struct op *op = &side->ops[i & (side->op_room - 1)];

		if (op == fenced)
			return;
		sim_must(side->pair->world, !waits_for_answer(op->kind) || op->answered, "I6",
			 "request #%" PRIu64
			 " is fenced and leaves before the response to #%" PRIu64,
			 fenced->wr_id, op->wr_id);
	}
}

/* How far the peer has acknowledged. */
void
limits_observe(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;
	uint64_t una = psn_absolute(side->psn_una, view->psn_unacked);
	uint64_t packets = una - side->psn_una;

	sim_must(world, una >= side->psn_una && (world->evil || una <= side->psn_high), "I6",
		 "the oldest unacknowledged PSN goes from %06" PRIx64 " to %06x",
		 side->psn_una & PLX_PSN_MASK, view->psn_unacked.v);
	if (!world->evil && una > side->peer->epsn)
		sim_fail(world, SIM_WRONG, "I4", WRONG_LOST,
			 "PSNs up to %06x are acknowledged, and up to %06" PRIx64 " executed",
			 view->psn_unacked.v, side->peer->epsn & PLX_PSN_MASK);
	if (packets == 0)
		return;
	world->progress_at = world->now;
	side->psn_una = una;
	recovery_acknowledged(side, packets);
}

static void
check_requester(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;

	sim_must(world, view->rd_atomic_open <= side->attr.initiator_depth, "I6",
		 "%u READs and atomics are open, %u are allowed", view->rd_atomic_open,
		 side->attr.initiator_depth);
	if (world->evil)
		return;
	sim_must(world, view->psn_high.v == (side->psn_high & PLX_PSN_MASK), "I6",
		 "the highest PSN is %06x, and %06" PRIx64 " was sent", view->psn_high.v,
		 side->psn_high & PLX_PSN_MASK);
	recovery_check(side, view);
}

static void
check_responder(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;

	sim_must(world, view->responder_res_pending <= side->caps.responder_resources, "I6",
		 "%u READs and atomics are to be answered, %u are allowed",
		 view->responder_res_pending, side->caps.responder_resources);
	if (world->evil) {
		uint64_t epsn = psn_absolute(side->epsn, view->psn_expected);

		sim_must(world, epsn >= side->epsn, "I6", "ePSN goes back to %06x",
			 view->psn_expected.v);
		side->epsn = epsn;
		return;
	}
	sim_must(world, view->psn_expected.v == (side->epsn & PLX_PSN_MASK), "I6",
		 "ePSN is %06x, and %06" PRIx64 " comes next", view->psn_expected.v,
		 side->epsn & PLX_PSN_MASK);
	sim_must(world, view->msn.v == (side->msn & PLX_PSN_MASK), "I6",
		 "MSN is %u, and %" PRIu64 " messages are executed", view->msn.v, side->msn);
	sim_must(world, view->rq_open == (side->open != NULL), "I8",
		 "%u receives are held, and %u messages hold one", view->rq_open,
		 side->open != NULL);
	sim_must(world, side->receiver->fifo_count >= side->receiver->armed, "I8",
		 "%u receives are left, the threshold is %u, and there was no event",
		 side->receiver->fifo_count, side->receiver->armed);
	if (side->receiver->srq != NULL)
		sim_must(world, plx_rq_count(side->receiver->srq) == side->receiver->fifo_count,
			 "I8", "%u receives are left, and should be %u",
			 plx_rq_count(side->receiver->srq), side->receiver->fifo_count);
}

static void
check_state(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;
	bool error = view->state == PLX_QP_ERROR;

	if (world->evil)
		return;
	sim_must(world, error || side->fatal == PLX_VERDICT_NONE, "I9", "side %u goes on after: %s",
		 side->id, plx_verdict_text((enum plx_verdict)side->fatal));
	sim_must(world, error || !side->killed, "I9", "side %u goes on after it was killed",
		 side->id);
	sim_must(world, !error || side->killed || side->failed_events > 0, "I9",
		 "side %u is in error without an event", side->id);
	sim_must(world, error || view->state == (side->draining ? PLX_QP_SQD : PLX_QP_RTS), "I9",
		 "side %u is in state %s", side->id, plx_qp_state_name(view->state));
}

/* Unsignaled requests whose place is free again have succeeded unless a completion says otherwise.
 */
static void
pass_silent(struct side *side, const struct plx_rc_view *view)
{
	uint32_t open = view->sq_posted - view->sq_consumed;

	sim_must(side->pair->world, open <= side->caps.sq_depth, "I6",
		 "%u requests are in a queue of %u", open, side->caps.sq_depth);
	if (view->state == PLX_QP_ERROR)
		return;
	while (side->op_posted - side->op_done > open)
		complete_silent(side);
}

void
limits_check(struct side *side, const struct plx_rc_view *view)
{
	limits_observe(side, view);
	check_requester(side, view);
	check_responder(side, view);
	check_state(side, view);
	pass_silent(side, view);
}
