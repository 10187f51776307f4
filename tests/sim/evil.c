/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle for packets with flipped bits and a correct ICRC. They may request anything and end
 * any QP, so only safety is asserted: memory outside of what is granted now is never written. It
 * never looks at content. Start with evil_memory().
 */
#include "sim.h"

void
evil_judge(struct world *world, struct side *side, const struct plx_pkt *pkt,
	   enum plx_verdict verdict)
{
	(void)pkt;
	sim_must(world, verdict > PLX_VERDICT_NONE && verdict < PLX_VERDICT_COUNT, "I9",
		 "side %u has verdict %u", side->id, verdict);
	sim_must(world, side->state != SIDE_DOWN, "F9", "side %u is down and takes a packet",
		 side->id);
}

static bool
granted(const struct grant *grant, const struct side *side, const uint8_t *dst, uint32_t bytes,
	uint8_t need)
{
	return grant->exists && grant->state != GRANT_DEAD && grant->domain == side->domain &&
	       (grant->access.bits & need) != 0 &&
	       slab_contains(grant->slab, grant->va, grant->length, dst, bytes);
}

/* Does any valid key allow the peer to write there through this QP? */
static bool
granted_remote(const struct side *side, const uint8_t *dst, uint32_t bytes, uint8_t need)
{
	const struct world *world = side->pair->world;
	const struct grant *open = &side->station->public_grant[side->domain];

	if (granted(open, side, dst, bytes, need))
		return true;
	for (uint32_t s = 0; s < SIM_SIDES_MAX; s++) {
		const struct side *owner = &world->pair[s / 2].side[s % 2];

		if (owner->station != side->station || owner->state == SIDE_DOWN)
			continue;
		for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++) {
			const struct grant *offer = &owner->offers[i];

			if ((offer->kind != GRANT_WINDOW || offer->qpn == side->qpn) &&
			    granted(offer, side, dst, bytes, need))
				return true;
		}
		for (uint32_t i = 0; i < owner->victim_count; i++) {
			if (granted(&owner->victims[i], side, dst, bytes, need))
				return true;
		}
	}
	return false;
}

/* Does a posted receive, or a READ or atomic without its response? */
static bool
granted_local(const struct side *side, const uint8_t *dst, uint32_t bytes)
{
	const struct receiver *rx = side->receiver;

	for (uint32_t i = 0; i < rx->slot_count; i++) {
		const struct receive *slot = &rx->slots[i];

		for (uint32_t j = 0; slot->state != RECEIVE_FREE && j < slot->sges; j++) {
			if (slab_contains(rx->slab, slot->sge[j].va, slot->sge[j].length, dst,
					  bytes))
				return true;
		}
	}
	for (uint64_t i = side->op_done; i < side->op_posted; i++) {
		const struct op *op = &side->ops[i & (side->op_room - 1)];

		for (uint32_t j = 0; waits_for_answer(op->kind) && j < op->sges; j++) {
			if (slab_contains(side->landing, op->sge[j].va, op->sge[j].length, dst,
					  bytes))
				return true;
		}
	}
	return false;
}

/* What was allowed is written to the shadow, too. */
static void
follow(struct station *station, const uint8_t *dst, const void *bytes, uint32_t count)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &station->slabs) {
		struct slab *slab = plx_list_entry(node, struct slab, link);

		if (slab_contains(slab, slab->va, slab->size, dst, count)) {
			memcpy(slab_shadow_of(slab, dst), bytes, count);
			return;
		}
	}
}

void
evil_memory(struct world *world, struct side *side, const struct plx_action *action)
{
	if (action->kind == PLX_ACT_PLACE) {
		const struct plx_place *place = &action->place;

		sim_must(world,
			 granted_remote(side, place->dst, place->bytes, PLX_ACCESS_REMOTE_WRITE) ||
				 granted_local(side, place->dst, place->bytes),
			 "I3", "side %u writes %u bytes where nothing is granted", side->id,
			 place->bytes);
		follow(side->station, place->dst, place->src, place->bytes);
	} else {
		const struct plx_atomic *atomic = &action->atomic;
		uint64_t was, becomes;

		sim_must(world,
			 granted_remote(side, atomic->target, sizeof(uint64_t),
					PLX_ACCESS_REMOTE_ATOMIC),
			 "I3", "side %u executes an atomic where nothing is granted", side->id);
		memcpy(&was, atomic->target, sizeof(was));
		becomes = was + atomic->swap_add;
		if (atomic->cmp_swap)
			becomes = was == atomic->compare ? atomic->swap_add : was;
		follow(side->station, atomic->target, &becomes, sizeof(becomes));
	}
}

/* An altered packet may invalidate any key that may be invalidated. */
static void
invalidated(struct side *side, uint32_t key)
{
	for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++) {
		struct grant *offer = &side->offers[i];

		if (offer->state != GRANT_DEAD && offer->key.v == key)
			grant_invalidated(side->pair->world, offer);
	}
}

/* Each receive completes once, in order: this profile has no shared queues. */
void
evil_receive(struct side *side, const struct plx_completion *completion)
{
	struct receive *receive = receiver_first(side->receiver);

	sim_must(side->pair->world, receive != NULL && receive->wr_id == completion->wr_id, "I1",
		 "receive #%" PRIu64 " completes out of order", completion->wr_id);
	(void)receiver_pop(side->receiver);
	receiver_return(side->receiver, receive);
	if (completion->status == PLX_WC_SUCCESS && completion->flags & PLX_WC_INV)
		invalidated(side, completion->inv_key.v);
}
