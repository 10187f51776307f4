/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of a QP's numbers, after every event: what has moved has moved forward and by as much
 * as the model says; retries, windows and open requests are inside their limits.
 * It never looks at packets. Start with limits_check().
 */
#include "parts.h"

static uint64_t
timeouts_since(const struct side *side)
{
	return plx_rc_counters(ep_qp_core(side->qp))->timeouts - side->timeouts_seen;
}

/* Retries spent since the last progress, those of the call that is going on included. */
uint32_t
retries_charged(const struct side *side)
{
	return side->charged + side->charge_now + (uint32_t)timeouts_since(side);
}

uint32_t
rnrs_charged(const struct side *side)
{
	return side->rnrs + side->rnr_now;
}

/* A fence holds a request until the answers of all before it have come. */
void
fence_check(struct side *side, const struct op *fenced)
{
	for (uint64_t i = side->op_done; i < side->op_posted; i++) {
		const struct op *op = &side->ops[i & (side->op_room - 1)];

		if (op == fenced)
			return;
		sim_must(side->pair->world, !waits_for_answer(op->kind) || op->answered, "I6",
			 "request #%" PRIu64 " is fenced and leaves before the answer to #%" PRIu64,
			 fenced->wr_id, op->wr_id);
	}
}

static void
check_requester(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;
	uint64_t una = psn_absolute(side->psn_una, view->psn_unacked);

	sim_must(world, una >= side->psn_una && (world->evil || una <= side->psn_high), "I6",
		 "the oldest unacknowledged PSN goes from %06" PRIx64 " to %06x",
		 side->psn_una & PLX_PSN_MASK, view->psn_unacked.v);
	if (!world->evil) {
		if (una > side->peer->epsn)
			sim_fail(world, SIM_WRONG, "I4", WRONG_LOST,
				 "PSNs up to %06x are acknowledged, and up to %06" PRIx64
				 " executed",
				 view->psn_unacked.v, side->peer->epsn & PLX_PSN_MASK);
		sim_must(world, view->psn_high.v == (side->psn_high & PLX_PSN_MASK), "I6",
			 "the highest PSN is %06x, and %06" PRIx64 " was sent", view->psn_high.v,
			 side->psn_high & PLX_PSN_MASK);
	}
	if (una > side->psn_una) {
		side->waits_since = clock_local(side->station);
		side->window += una - side->psn_una < side->attr.window_packets
					? (uint32_t)(una - side->psn_una)
					: side->attr.window_packets;
		if (side->window > side->attr.window_packets)
			side->window = side->attr.window_packets;
		side->again = 0;
		side->charged = side->rnrs = 0;
		world->progress_at = world->now;
	}
	side->psn_una = una;
	sim_must(world, view->rd_atomic_open <= side->attr.rd_atomic_max, "I6",
		 "%u READs and atomics are open, %u are allowed", view->rd_atomic_open,
		 side->attr.rd_atomic_max);
}

/*
 * Retries alone say how long a peer is waited for: asking where it is, or sending once more what
 * was lost twice, neither costs one nor puts the next one off.
 */
static void
check_patience(struct side *side, const struct plx_rc_view *view, bool charged)
{
	struct world *world = side->pair->world;
	uint64_t until = plx_time_add(side->waits_since, side->attr.ack_timeout_ns);

	if (world->evil)
		return;
	if (charged)
		side->again = 0;
	side->again += side->again_now;
	sim_must(world, side->again <= PLX_RESTARTS_MAX, "I6",
		 "side %u goes back for nothing %u times", side->id, side->again);
	if (side->again_now && view->state != PLX_QP_ERROR)
		sim_must(world, view->ack_deadline_ns == side->deadline_seen, "I6",
			 "side %u goes back for nothing, and its timer moves", side->id);
	sim_must(world, view->ack_deadline_ns == PLX_NEVER || view->ack_deadline_ns <= until, "I6",
		 "side %u waits %" PRIu64 " ns longer than agreed", side->id,
		 view->ack_deadline_ns - until);
	side->again_now = false;
	side->deadline_seen = view->ack_deadline_ns;
}

/* How many packets may be in flight from now on: each time that it goes back takes a third away,
 * and behind a receiver that is not ready one may follow. */
static void
narrow_window(struct side *side)
{
	uint64_t losses = plx_rc_counters(ep_qp_core(side->qp))->go_backs;

	for (; side->losses_seen < losses; side->losses_seen++) {
		if (side->window <= PLX_WINDOW_LEAST)
			continue;
		side->window -= side->window / 3;
		if (side->window < PLX_WINDOW_LEAST)
			side->window = PLX_WINDOW_LEAST;
	}
	if (side->rnr_now)
		side->window = 1;
}

/* What a retry costs, and that progress gives everything back. */
static void
check_retries(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;
	const struct plx_rc_attr *attr = &side->attr;
	bool forever = attr->rnr_retry_max == PLX_RNR_RETRY_FOREVER;

	if (timeouts_since(side) > 0) {
		sim_must(world,
			 !world->config.generous || side->peer->state != SIDE_UP || world->evil,
			 "I9", "side %u times out, and nothing is lost or late here", side->id);
		side->charge_now += (uint32_t)timeouts_since(side);
		side->timeouts_seen += timeouts_since(side);
	}
	narrow_window(side);
	if (side->rnr_now)
		side->charged = 0; /* the peer is alive */
	check_patience(side, view, side->charge_now > 0);
	side->rnrs += side->rnr_now;
	side->charged += side->charge_now;
	side->rnr_now = false;
	side->charge_now = 0;
	if (world->evil)
		return;
	if (view->state == PLX_QP_ERROR)
		return;
	sim_must(world, side->charged <= attr->retry_max, "I6",
		 "side %u goes back %u times without progress, %u are allowed", side->id,
		 side->charged, attr->retry_max);
	sim_must(world, forever || side->rnrs <= attr->rnr_retry_max, "I6",
		 "side %u takes %u RNR NAKs without progress, %u are allowed", side->id, side->rnrs,
		 attr->rnr_retry_max);
	sim_must(world, view->retries_left == attr->retry_max - side->charged, "I6",
		 "side %u has %u retries left, and spent %u of %u", side->id, view->retries_left,
		 side->charged, attr->retry_max);
	sim_must(world, forever || view->rnr_retries_left == attr->rnr_retry_max - side->rnrs, "I6",
		 "side %u has %u RNR retries left, and spent %u of %u", side->id,
		 view->rnr_retries_left, side->rnrs, attr->rnr_retry_max);
}

static void
check_responder(struct side *side, const struct plx_rc_view *view)
{
	struct world *world = side->pair->world;

	sim_must(world, view->responder_res_pending <= side->caps.responder_res, "I6",
		 "%u READs and atomics are to be answered, %u are allowed",
		 view->responder_res_pending, side->caps.responder_res);
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
		 "%u receives are left, the threshold is %u, and nobody was told",
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
		 "side %u is in error and has not said so", side->id);
	sim_must(world, error || view->state == (side->draining ? PLX_QP_SQD : PLX_QP_RTS), "I9",
		 "side %u is in state %s", side->id, plx_qp_state_name(view->state));
}

/* Silent requests whose place is free again were a success, if no completion says otherwise. */
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
	check_requester(side, view);
	check_retries(side, view);
	check_responder(side, view);
	check_state(side, view);
	pass_silent(side, view);
}
