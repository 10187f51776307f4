/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of the requester: what an acknowledgement or a response may be taken for, and which
 * bytes a response brings.
 * It never looks at what the responder sent beyond what arrived. Start with answer_judge().
 */
#include "sim.h"

/* The request that an absolute PSN belongs to; NULL if it is not yet posted or already forgotten.
 */
struct op *
request_at(const struct side *side, uint64_t psn)
{
	uint64_t oldest = side->op_posted > side->op_room ? side->op_posted - side->op_room : 0;

	/* outwards from the newest completed one, which is usually near */
	for (uint64_t i = side->op_done; i < side->op_posted; i++) {
		struct op *op = &side->ops[i & (side->op_room - 1)];

		if (psn < op->psn)
			break;
		if (psn - op->psn < op->psns)
			return op;
	}
	for (uint64_t i = side->op_done; i-- > oldest;) {
		struct op *op = &side->ops[i & (side->op_room - 1)];

		if (psn >= op->psn)
			return psn - op->psn < op->psns ? op : NULL;
	}
	return NULL;
}

static void
accept_response(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;
	struct judging *judging = &world->judging;
	uint64_t psn = psn_absolute(side->psn_una, pkt->psn);
	struct op *op = request_at(side, psn);
	uint32_t offset;

	sim_must(world, op != NULL && waits_for_answer(op->kind), "I2",
		 "a response is accepted for a request that has none");
	offset = (uint32_t)(psn - op->psn) * side->attr.mtu;
	sim_must(world, op->landed == offset && !op->answered, "I2",
		 "a response has offset %u, and %u is next", offset, op->landed);
	judging->op = op;
	judging->slab = side->landing;
	judging->sge = op->sge;
	judging->sges = op->sges;
	judging->offset = offset;
	if (op->kind == PLX_WR_READ) {
		uint32_t rest = op->length - offset;

		judging->left = pkt->payload_bytes;
		judging->payload = pkt->payload;
		sim_must(world,
			 pkt->payload_bytes == (rest < side->attr.mtu ? rest : side->attr.mtu),
			 "I2", "a response of %u bytes at offset %u of %u", pkt->payload_bytes,
			 offset, op->length);
		op->landed += pkt->payload_bytes;
		op->answered = op->landed == op->length;
		return;
	}
	sim_must(world, op->executed && pkt->atomic_original == op->original, "I5",
		 "an atomic returns %" PRIu64 " and found %" PRIu64, pkt->atomic_original,
		 op->original);
	judging->left = sizeof(uint64_t);
	op->landed = sizeof(uint64_t);
	op->answered = true;
}

/* Only a local key that is bad on purpose denies a response its memory. */
static void
deny_response(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;
	uint64_t psn = psn_absolute(side->psn_una, pkt->psn);
	const struct op *op = request_at(side, psn);

	sim_must(world, op != NULL && op->misuse == MISUSE_LOCAL_KEY, "I9",
		 "a response is denied its memory, and the key is good");
}

static bool
is_fatal_nak(enum plx_verdict verdict)
{
	return verdict == PLX_VERDICT_NAK_INVALID || verdict == PLX_VERDICT_NAK_ACCESS ||
	       verdict == PLX_VERDICT_NAK_OPERATION;
}

/* One acknowledgement or response, and its verdict. */
void
answer_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	struct world *world = side->pair->world;
	struct plx_rc_view view;

	plx_rc_query(ep_qp_core(side->qp), &view);
	limits_observe(side, &view);
	recovery_answered(side, pkt, verdict);
	if (verdict == PLX_VERDICT_RESPONSE) {
		accept_response(side, pkt);
	} else if (verdict == PLX_VERDICT_RESPONSE_DENIED) {
		deny_response(side, pkt);
	} else if (is_fatal_nak(verdict)) {
		sim_must(world, side->peer->fatal != PLX_VERDICT_NONE, "I9",
			 "%s, and the responder has found no fault", plx_verdict_text(verdict));
	} else {
		/* ghosts, bad responses and reserved syndromes are never sent */
		sim_must(world,
			 verdict == PLX_VERDICT_ACKED || verdict == PLX_VERDICT_STALE ||
				 verdict == PLX_VERDICT_NAK_AGAIN ||
				 verdict == PLX_VERDICT_NAK_RNR ||
				 verdict == PLX_VERDICT_NAK_SEQUENCE ||
				 verdict == PLX_VERDICT_RESPONSE_LOST ||
				 verdict == PLX_VERDICT_LOST_AGAIN ||
				 verdict == PLX_VERDICT_LOST_MORE,
			 "I9", "a good answer is judged: %s", plx_verdict_text(verdict));
	}
}
