/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the hooks between an endpoint and the oracle: what a verdict allows, and that each action
 * belongs to the packet being judged. It never decides what a request should do; answers.c and
 * requests.c do. Start with on_judged().
 */
#include "sim.h"

static void
refused_by_decoder(struct world *world, enum plx_wire_verdict wire)
{
	const struct packet *packet = world->judging.packet;

	sim_must(world, packet->damage != DAMAGE_NONE, "I2", "a good frame is refused: %s",
		 plx_wire_verdict_text(wire));
}

/* Lines 4 to 6 of the decision table (docs/protocol.md): what may be refused there. */
static void
refused_before_judging(struct world *world, struct side *side, bool icrc_bad,
		       enum plx_verdict verdict)
{
	const struct packet *packet = world->judging.packet;
	bool old = packet->from != NULL &&
		   (packet->life != packet->from->pair->life || side != packet->from->peer);

	if (packet->damage != DAMAGE_NONE || old)
		return;
	sim_must(world, !icrc_bad, "I2", "a good frame has a bad ICRC");
	if (verdict == PLX_VERDICT_STATE)
		sim_must(world, side->state != SIDE_UP, "I9",
			 "a packet is refused for the state of side %u", side->id);
	else
		sim_must(world, side == NULL, "I9", "a good packet is not admitted: %s",
			 plx_verdict_text(verdict));
}

/* What a QP judges must be undamaged, from its peer, and of this connection. */
static void
accepted_for_judging(struct world *world, const struct side *side)
{
	const struct packet *packet = world->judging.packet;

	if (packet->damage == DAMAGE_EVIL)
		return;
	sim_must(world, packet->damage != DAMAGE_BAD, "F4", "a damaged packet is accepted");
	sim_must(world, packet->damage != DAMAGE_STRAY, "T3", "a stray packet is accepted");
	sim_must(world, packet->from == side->peer && packet->life == side->pair->life, "F9",
		 "side %u accepts a packet of an earlier connection", side->id);
}

static bool
is_answer(const struct plx_pkt *pkt)
{
	uint8_t kind = plx_opcodes[pkt->opcode].kind;

	return kind == PLX_OP_ACK || kind == PLX_OP_ATOMIC_ACK || kind == PLX_OP_READ_RESPONSE;
}

/* For the trace: syndrome and MSN of packets that have an AETH. */
static uint64_t
aeth_of(const struct plx_pkt *pkt)
{
	if (!plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_AETH))
		return 0;
	return UINT64_C(1) << 40 | (uint64_t)pkt->aeth.syndrome << 32 | pkt->aeth.msn.v;
}

/* Everything that the packet required has been done. */
static void
all_done(struct world *world)
{
	const struct judging *judging = &world->judging;

	if (world->evil)
		return;
	sim_must(world, judging->left == 0, "I2", "%u bytes of a packet were not placed",
		 judging->left);
	sim_must(world, !judging->atomic, "I4", "an atomic was accepted and not executed");
	sim_must(world, judging->side->due == NULL, "I1",
		 "a message was accepted and its receive not completed");
}

/* A packet that was kept follows the one that it waited for. */
static void
begin_kept(struct world *world)
{
	struct judging *judging = &world->judging;

	all_done(world);
	*judging = (struct judging){.packet = judging->packet, .received = judging->received};
}

static void
on_judged(void *user, struct ep_qp *qp, enum plx_wire_verdict wire, bool icrc_bad,
	  enum plx_verdict verdict, const struct plx_pkt *pkt)
{
	struct world *world = ((struct station *)user)->world;
	struct side *side = qp ? ep_qp_user(qp) : NULL;
	bool refused = icrc_bad || verdict == PLX_VERDICT_NONE || verdict == PLX_VERDICT_SERVICE ||
		       verdict == PLX_VERDICT_STATE || verdict == PLX_VERDICT_PKEY ||
		       verdict == PLX_VERDICT_ADDRESS;

	if (pkt != NULL)
		trace_add(world, TRACE_ARRIVE, side, pkt->opcode | (uint32_t)pkt->ack_request << 9,
			  pkt->psn.v, pkt->payload_bytes, aeth_of(pkt));
	trace_add(world, TRACE_JUDGED, side, verdict, icrc_bad, wire != PLX_WIRE_OK, 0);
	if (wire != PLX_WIRE_OK) {
		refused_by_decoder(world, wire);
		return;
	}
	sim_must(world, plx_opcodes[pkt->opcode].service != PLX_SERVICE_UNKNOWN, "T7",
		 "unknown opcode %02x is accepted", pkt->opcode);
	if (refused) {
		refused_before_judging(world, side, icrc_bad, verdict);
		return;
	}
	accepted_for_judging(world, side);
	if (world->judging.side != NULL)
		begin_kept(world);
	world->judging.side = side;
	world->judging.pkt = pkt;
	world->judging.verdict = verdict;
	if (pkt->ce && plx_opcodes[pkt->opcode].kind != PLX_OP_CNP)
		emission_mark(side);
	if (world->evil) {
		evil_judge(world, side, pkt, verdict);
		return;
	}
	if (plx_opcodes[pkt->opcode].kind == PLX_OP_CNP)
		sim_must(world, verdict == PLX_VERDICT_CNP, "I9", "a CNP is judged: %s",
			 plx_verdict_text(verdict));
	else if (is_answer(pkt))
		answer_judge(side, pkt, verdict);
	else
		request_judge(side, pkt, verdict);
}

/* The call is over: everything that the packets required has been done. Returns: whether one
 * completed a receive. */
bool
judge_done(struct world *world)
{
	all_done(world);
	return world->judging.received;
}

/* ---- memory ---- */

static void
check_place(struct world *world, struct side *side, const struct plx_place *place)
{
	struct judging *judging = &world->judging;
	struct slab *slab = judging->slab;
	uint32_t contiguous;
	uint64_t va;

	sim_must(world, judging->side == side && judging->op != NULL, "I3",
		 "side %u places %u bytes that are in no packet", side->id, place->bytes);
	sim_must(world, place->bytes > 0 && place->bytes <= judging->left, "I3",
		 "%u bytes are placed, %u of the packet are left", place->bytes, judging->left);
	va = sges_at(judging->sge, judging->sges, judging->offset, &contiguous);
	sim_must(world, place->bytes <= contiguous && place->dst == slab_host(slab, va), "I3",
		 "offset %u of a message goes to slab offset %td of %u bytes instead of "
		 "%" PRIu64,
		 judging->offset, place->dst - slab->bytes, slab->size, va - slab->va);
	if (judging->payload != NULL)
		sim_must(world, place->src == judging->payload + judging->consumed, "I2",
			 "offset %u of a message is placed from elsewhere", judging->offset);
	if (judging->source != NULL)
		content_check(world, judging->source, judging->op, judging->offset, place->src,
			      place->bytes);
	memcpy(slab_shadow(slab, va), place->src, place->bytes);
	judging->offset += place->bytes;
	judging->consumed += place->bytes;
	judging->left -= place->bytes;
	world->stats.bytes += place->bytes;
}

/* The model executes it too, and records the original value. */
static void
check_atomic(struct world *world, struct side *side, const struct plx_atomic *atomic)
{
	struct judging *judging = &world->judging;
	struct op *op = judging->op;
	uint64_t was, becomes;
	uint8_t *shadow;

	sim_must(world, judging->side == side && judging->atomic, "I5",
		 "side %u executes an atomic that no packet requests now", side->id);
	judging->atomic = false;
	sim_must(world, atomic->target == slab_host(judging->slab, op->remote_va), "I3",
		 "an atomic goes to the wrong address");
	sim_must(world,
		 atomic->cmp_swap == (op->kind == PLX_WR_CMP_SWAP) &&
			 atomic->swap_add == op->swap_add &&
			 (!atomic->cmp_swap || atomic->compare == op->compare),
		 "I5", "an atomic has the wrong operands");
	shadow = slab_shadow(judging->slab, op->remote_va);
	memcpy(&was, shadow, sizeof(was));
	becomes = was + op->swap_add;
	if (op->kind == PLX_WR_CMP_SWAP)
		becomes = was == op->compare ? op->swap_add : was;
	memcpy(shadow, &becomes, sizeof(becomes));
	op->original = was;
}

static void
on_memory(void *user, struct ep_qp *qp, const struct plx_action *action)
{
	struct world *world = ((struct station *)user)->world;
	struct side *side = ep_qp_user(qp);

	world->actions++;
	if (action->kind == PLX_ACT_PLACE)
		trace_add(world, TRACE_PLACE, side, action->place.bytes, world->judging.offset, 0,
			  0);
	else
		trace_add(world, TRACE_ATOMIC, side, action->atomic.swap_add,
			  action->atomic.compare, action->atomic.cmp_swap, 0);
	if (world->evil)
		evil_memory(world, side, action);
	else if (action->kind == PLX_ACT_PLACE)
		check_place(world, side, &action->place);
	else
		check_atomic(world, side, &action->atomic);
}

/* ---- the rest ---- */

static void
on_completion(void *user, struct ep_qp *qp, const struct plx_completion *completion)
{
	struct world *world = ((struct station *)user)->world;
	struct side *side = ep_qp_user(qp);

	world->actions++;
	trace_add(world, TRACE_COMPLETE, side, completion->wr_id,
		  completion->op | (uint32_t)(completion->flags & PLX_WC_RECV) << 8,
		  completion->status, completion->bytes);
	sim_must(world, completion->qpn == side->qpn, "I1", "a completion names QP %06x, not %06x",
		 completion->qpn, side->qpn);
	sim_must(world, completion->status < PLX_WC_COUNT, "I9", "a completion has status %u",
		 completion->status);
	world->stats.status[completion->status]++;
	if (completion->flags & PLX_WC_RECV)
		complete_receive(side, completion);
	else
		complete_send(side, completion);
}

static void
on_event(void *user, struct ep_qp *qp, const struct plx_event *event)
{
	struct world *world = ((struct station *)user)->world;
	struct side *side = ep_qp_user(qp);

	world->actions++;
	trace_add(world, TRACE_EVENT, side, event->kind, event->cause, 0, 0);
	sim_must(world, event->qpn == side->qpn, "I9", "an event names QP %06x, not %06x",
		 event->qpn, side->qpn);
	if (event->kind == PLX_EVENT_FAILED) {
		side->failed_events++;
		side->cause = event->cause;
	} else if (event->kind == PLX_EVENT_FLUSHED) {
		side->flushed_events++;
	} else if (event->kind == PLX_EVENT_SRQ_THRESHOLD) {
		sim_must(world, world->evil || side->receiver->fifo_count < side->receiver->armed,
			 "I8", "%u receives are left, and the threshold is %u",
			 side->receiver->fifo_count, side->receiver->armed);
		side->receiver->armed = 0;
	} else if (event->kind == PLX_EVENT_SQ_DRAINED) {
		struct plx_rc_view view;

		plx_rc_query(ep_qp_core(qp), &view);
		sim_must(world, side->draining && plx_psn_eq(view.psn_unacked, view.psn_high), "I9",
			 "a send queue is drained while packets are unacknowledged");
	}
}

static void
on_frame(void *user, struct ep_qp *qp, const struct plx_emit *emit, uint8_t *bytes, size_t len)
{
	struct world *world = ((struct station *)user)->world;
	struct side *side = ep_qp_user(qp);
	const struct plx_pkt *pkt = &emit->pkt;

	world->actions++;
	trace_add(world, TRACE_SEND, side,
		  pkt->opcode | (emit->flags & PLX_EMIT_RETRANSMIT ? UINT64_C(1) << 8 : 0) |
			  (uint64_t)pkt->ack_request << 9,
		  pkt->psn.v, pkt->payload_bytes, aeth_of(pkt));
	sim_must(world, !side->silenced, "I9", "side %u sends after the engine has silenced it",
		 side->id);
	frame_check(side, emit, bytes, len);
	if (is_answer(pkt) || plx_opcodes[pkt->opcode].kind == PLX_OP_CNP)
		reply_check(side, emit, bytes, len);
	else
		emission_check(side, emit);
	link_send(side, bytes, len);
}

const struct ep_hooks judge_hooks = {
	.completion = on_completion,
	.event = on_event,
	.memory = on_memory,
	.frame = on_frame,
	.judged = on_judged,
};
