/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of completions: each posted entry once, in queue order, with a status that has a
 * cause; success only for what the responder has executed. It never decides when one is due;
 * judge_done() and side_flushed() do. Start with complete_send().
 */
#include "sim.h"

/* Success at the requester: executed exactly once, and its response is complete. */
static void
check_success(struct side *side, const struct op *op)
{
	struct world *world = side->pair->world;

	if (world->evil || op->psns == 0)
		return;
	if (!op->executed)
		sim_fail(world, SIM_WRONG, "I4", WRONG_LOST,
			 "request #%" PRIu64 " succeeds, and the responder has not executed it",
			 op->wr_id);
	sim_must(world, !waits_for_answer(op->kind) || op->answered, "I4",
		 "request #%" PRIu64 " succeeds before its response has arrived", op->wr_id);
}

/* A completed request no longer uses its target's key, and a LOCAL_INV has invalidated its own. */
static void
settle(struct side *side, struct op *op, bool success)
{
	if (op->target != NULL)
		op->target->users--;
	if (op->kind != PLX_WR_LOCAL_INV || op->inv == NULL || !success)
		return;
	if (op->inv->key.v == op->inv_key && op->inv->state == GRANT_DOUBTFUL)
		grant_invalidated(side->pair->world, op->inv);
}

static void
pass(struct side *side, struct op *op, bool success)
{
	struct world *world = side->pair->world;

	if (success)
		check_success(side, op);
	settle(side, op, success);
	side->op_done++;
	world->done++;
	world->progress_at = world->now;
}

/* The failure of the oldest request has a cause that the model knows. */
static void
check_cause(struct side *side, const struct op *op, enum plx_wc_status status)
{
	struct world *world = side->pair->world;
	const struct side *peer = side->peer;
	bool known = false;

	switch (status) {
	case PLX_WC_LOCAL_PROTECTION:
		known = op->misuse == MISUSE_LOCAL_KEY;
		break;
	case PLX_WC_LOCAL_INVALIDATE:
		known = op->misuse == MISUSE_BAD_LOCAL_INV;
		break;
	case PLX_WC_REMOTE_INVALID_REQUEST:
	case PLX_WC_REMOTE_ACCESS:
	case PLX_WC_REMOTE_OPERATION:
		known = peer->fatal != PLX_VERDICT_NONE && peer->fatal_psn >= op->psn &&
			peer->fatal_psn - op->psn < op->psns &&
			status_of_fatal((enum plx_verdict)peer->fatal) == status;
		break;
	case PLX_WC_RETRY_EXCEEDED:
		known = recovery_may_give_up(side);
		break;
	case PLX_WC_RNR_RETRY_EXCEEDED:
		known = recovery_may_give_up_rnr(side);
		break;
	case PLX_WC_SUCCESS:
	case PLX_WC_LOCAL_LENGTH:
	case PLX_WC_BAD_RESPONSE:
	case PLX_WC_FLUSHED:
	case PLX_WC_COUNT:
		break;
	}
	sim_must(world, known, "I9", "request #%" PRIu64 " fails without a cause: %s", op->wr_id,
		 plx_wc_text(status));
	sim_must(world, world->config.profile != SIM_PROFILE_clean, "I9",
		 "request #%" PRIu64 " fails on a clean wire: %s", op->wr_id, plx_wc_text(status));
}

/* A completion of the send queue. It implies the success of the unsignaled requests before it. */
void
complete_send(struct side *side, const struct plx_completion *completion)
{
	struct world *world = side->pair->world;
	enum plx_wc_status status = (enum plx_wc_status)completion->status;
	struct op *op;
	uint32_t bytes = 0;

	for (;;) {
		if (side->op_done == side->op_posted)
			sim_fail(world, SIM_WRONG, "I1", WRONG_DOUBLED,
				 "completion #%" PRIu64
				 " is of no posted request, or the second of one",
				 completion->wr_id);
		op = &side->ops[side->op_done & (side->op_room - 1)];
		if (op->wr_id == completion->wr_id)
			break;
		if (!(op->flags & PLX_WR_UNSIGNALED) || side->cause_seen)
			sim_fail(world, SIM_WRONG, "I1", WRONG_DISORDERED,
				 "completion #%" PRIu64 " is delivered, and #%" PRIu64 " is next",
				 completion->wr_id, op->wr_id);
		pass(side, op, true);
	}
	sim_must(world, completion->op == op->kind, "I1",
		 "completion #%" PRIu64 " is of operation %u", op->wr_id, completion->op);
	if (status == PLX_WC_SUCCESS) {
		sim_must(world, !(op->flags & PLX_WR_UNSIGNALED), "I1",
			 "unsignaled request #%" PRIu64 " completes with success", op->wr_id);
		sim_must(world, !side->cause_seen, "I9", "a success after a failure");
		if (waits_for_answer(op->kind))
			bytes = op->length;
		sim_must(world, completion->bytes == bytes, "I2",
			 "completion #%" PRIu64 " of %u bytes", op->wr_id, completion->bytes);
	} else if (!world->evil && status != PLX_WC_FLUSHED) {
		sim_must(world, !side->cause_seen, "I9", "a second request fails with a cause: %s",
			 plx_wc_text(status));
		check_cause(side, op, status);
	}
	side->cause_seen |= status != PLX_WC_SUCCESS;
	pass(side, op, status == PLX_WC_SUCCESS);
}

/* The oldest request has left its queue without a completion: it was unsignaled and succeeded. */
void
complete_silent(struct side *side)
{
	struct op *op = &side->ops[side->op_done & (side->op_room - 1)];

	if (!(op->flags & PLX_WR_UNSIGNALED) || side->cause_seen)
		sim_fail(side->pair->world, SIM_WRONG, "I1", WRONG_LOST,
			 "request #%" PRIu64 " never completes", op->wr_id);
	pass(side, op, true);
}

/* ---- receives ---- */

static void
check_message(struct side *side, const struct plx_completion *completion, const struct op *op)
{
	struct world *world = side->pair->world;
	uint8_t flags = PLX_WC_RECV;

	if (op->kind == PLX_WR_SEND_IMM || op->kind == PLX_WR_WRITE_IMM)
		flags |= PLX_WC_IMM;
	if (op->kind == PLX_WR_SEND_INV)
		flags |= PLX_WC_INV;
	if (op->flags & PLX_WR_SOLICITED)
		flags |= PLX_WC_SOLICITED;
	sim_must(world,
		 completion->bytes == op->length && completion->op == op->kind &&
			 completion->flags == flags,
		 "I2",
		 "a receive of %u bytes by operation %u (flags %x), and %u by %u (%x) were sent",
		 completion->bytes, completion->op, completion->flags, op->length, op->kind, flags);
	if (flags & PLX_WC_IMM)
		sim_must(world, completion->imm == op->imm, "I2", "a wrong immediate");
	if (flags & PLX_WC_INV)
		sim_must(world, completion->inv_key.v == op->inv_key, "I2",
			 "a wrong invalidated key");
}

/* The receive that completes next: the one that a message holds, or in a flush the oldest. */
static struct receive *
receive_next(struct side *side)
{
	if (side->open != NULL)
		return side->open;
	if (side->own_receiver == NULL || receiver_first(side->own_receiver) == NULL)
		return NULL;
	return receiver_pop(side->own_receiver);
}

void
complete_receive(struct side *side, const struct plx_completion *completion)
{
	struct world *world = side->pair->world;
	struct receive *receive;

	if (world->evil) {
		evil_receive(side, completion);
		return;
	}
	receive = receive_next(side);
	if (receive == NULL)
		sim_fail(world, SIM_WRONG, "I1", WRONG_DOUBLED,
			 "receive #%" PRIu64 " completes, and none is due", completion->wr_id);
	if (receive->wr_id != completion->wr_id)
		sim_fail(world, SIM_WRONG, "I1", WRONG_DISORDERED,
			 "receive #%" PRIu64 " completes, and #%" PRIu64 " is next",
			 completion->wr_id, receive->wr_id);
	if (completion->status == PLX_WC_SUCCESS) {
		sim_must(world, side->due != NULL, "I1", "a receive completes without a message");
		sim_must(world, world->judging.left == 0, "I1",
			 "a receive completes before its bytes are placed");
		check_message(side, completion, side->due);
		side->due = NULL;
		side->psn_delivered = side->epsn;
		world->judging.received = true;
		world->stats.received++;
	} else {
		sim_must(world,
			 side->due == NULL && (side->fatal != PLX_VERDICT_NONE || side->killed ||
					       side->failed_events || side->cause_seen ||
					       side->state == SIDE_ERROR),
			 "I9", "a receive fails on a QP that has not failed: %s",
			 plx_wc_text((enum plx_wc_status)completion->status));
		if (receive != side->open)
			sim_must(world, completion->status == PLX_WC_FLUSHED, "I9",
				 "an unused receive ends as: %s",
				 plx_wc_text((enum plx_wc_status)completion->status));
	}
	side->open = NULL;
	receiver_return(side->receiver, receive);
}

/* ---- after a flush ---- */

/* In ERROR and flushed: everything that was posted has completed. */
void
side_flushed(struct side *side)
{
	struct world *world = side->pair->world;

	while (side->op_done != side->op_posted)
		complete_silent(side);
	if (side->open != NULL)
		sim_fail(world, SIM_WRONG, "I1", WRONG_LOST, "receive #%" PRIu64 " never completes",
			 side->open->wr_id);
	if (side->own_receiver != NULL && side->own_receiver->fifo_count > 0)
		sim_fail(world, SIM_WRONG, "I1", WRONG_LOST, "%u receives never complete",
			 side->own_receiver->fifo_count);
	sim_must(world, side->flushed_events >= 1, "I9", "%u FLUSHED events", side->flushed_events);
	sim_must(world, side->failed_events <= 1, "I9", "%u FAILED events", side->failed_events);
}
