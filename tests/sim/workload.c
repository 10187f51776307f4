/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the applications: when a side posts, which operation, how many bytes, in which memory.
 * It never posts a request whose outcome the model does not know. post.c turns it into a WQE.
 * Start with workload_on_event().
 */
#include "sim.h"

void
workload_wake(struct side *side, uint64_t at)
{
	if (side->app_pending)
		return;
	side->app_pending = true;
	heap_push(side->pair->world, at, SIM_EV_APP, side);
}

static uint32_t
draw_size(const struct side *side, struct plx_prng *prng)
{
	uint32_t mtu = side->attr.mtu, most = side->pair->world->config.message_max;
	uint64_t kind = plx_prng_below(prng, 100), size;

	if (kind < 5)
		size = 0;
	else if (kind < 10)
		size = 1;
	else if (kind < 18)
		size = mtu - 1;
	else if (kind < 26)
		size = mtu;
	else if (kind < 34)
		size = mtu + 1;
	else if (kind < 60)
		size = draw_between(prng, 2, 64);
	else if (kind < 80)
		size = draw_between(prng, 65, mtu);
	else if (kind < 97)
		size = draw_between(prng, mtu, 4 * mtu);
	else
		size = draw_between(prng, mtu, most);
	return (uint32_t)(size < most ? size : most);
}

static enum plx_wr_op
draw_kind(const struct side *side, struct plx_prng *prng)
{
	const uint32_t *weight = side->pair->world->config.op_weight;
	uint64_t sum = 0, ticket;
	uint32_t op = PLX_WR_SEND;

	for (uint32_t i = PLX_WR_SEND; i < PLX_WR_OP_COUNT; i++)
		sum += weight[i];
	ticket = plx_prng_below(prng, sum);
	while (ticket >= weight[op])
		ticket -= weight[op++];
	return (enum plx_wr_op)op;
}

uint8_t
right_of(uint32_t kind)
{
	if (kind == PLX_WR_WRITE || kind == PLX_WR_WRITE_IMM)
		return PLX_ACCESS_REMOTE_WRITE;
	if (kind == PLX_WR_READ)
		return PLX_ACCESS_REMOTE_READ;
	if (kind == PLX_WR_CMP_SWAP || kind == PLX_WR_FETCH_ADD)
		return PLX_ACCESS_REMOTE_ATOMIC;
	return 0;
}

bool
waits_for_answer(uint32_t kind)
{
	return kind == PLX_WR_READ || kind == PLX_WR_CMP_SWAP || kind == PLX_WR_FETCH_ADD;
}

/* ---- targets ---- */

void
aim(struct op *op, struct grant *grant, uint64_t va)
{
	op->target = grant;
	op->rkey = grant->key.v;
	op->remote_va = va;
}

/* A region of the peer's that exists for this request, to be retired in the middle of it. */
static bool
aim_at_victim(struct side *side, struct op *op, struct plx_prng *prng)
{
	struct side *peer = side->peer;
	struct grant *grant;

	if (peer->victim_count == SIM_VICTIMS_MAX || op->length <= side->attr.mtu)
		return false;
	grant = &peer->victims[peer->victim_count++];
	*grant = (struct grant){.domain = peer->domain,
				.access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ |
					   PLX_ACCESS_REMOTE_WRITE},
				.slab = peer->station->public_slab,
				.va = peer->station->public_slab->va + 4096 - 256,
				.length = op->length};
	grant_register(peer->station, grant);
	aim(op, grant, grant->va);
	op->revoke_at = (uint32_t)draw_between(prng, 1, op->length / side->attr.mtu);
	return true;
}

static struct grant *
pick_offer(struct side *owner, struct plx_prng *prng, enum grant_state state)
{
	uint32_t at = (uint32_t)plx_prng_below(prng, SIM_OFFERS_MAX);

	for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++) {
		struct grant *offer = &owner->offers[(at + i) % SIM_OFFERS_MAX];

		if (offer->state == state && (state == GRANT_DEAD || offer->offered))
			return offer;
	}
	return NULL;
}

static void
aim_at_memory(struct side *side, struct op *op, struct plx_prng *prng)
{
	struct side *peer = side->peer;
	struct grant *grant = &peer->station->public_grant[peer->domain];

	if (op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD) {
		aim(op, grant, grant->va + 8 * plx_prng_below(prng, SIM_ATOMIC_WORDS));
		return;
	}
	if (draw_percent(prng, 30)) {
		struct grant *offer = pick_offer(peer, prng, GRANT_ALIVE);

		if (offer != NULL) {
			if (op->length > offer->length)
				op->length %= offer->length + 1;
			aim(op, offer,
			    offer->va + plx_prng_below(prng, offer->length - op->length + 1));
			return;
		}
	}
	/* not onto the words of the atomics: those are checked as counters */
	aim(op, grant,
	    grant->va + 8 * SIM_ATOMIC_WORDS +
		    plx_prng_below(prng, grant->length - op->length - 8 * SIM_ATOMIC_WORDS + 1));
}

static void
draw_atomic(struct side *side, struct op *op, struct plx_prng *prng)
{
	const struct slab *slab = side->peer->station->public_slab;

	op->length = sizeof(uint64_t);
	op->swap_add = plx_prng_below(prng, 1000);
	if (op->kind == PLX_WR_CMP_SWAP && draw_percent(prng, 60))
		memcpy(&op->compare, slab_shadow(slab, op->remote_va), sizeof(op->compare));
	else
		op->compare = plx_prng_below(prng, 1000);
}

/* ---- what is asked ---- */

/* The kinds that need something which may not be there just now become others. */
static void
settle_kind(struct side *side, struct op *op, struct plx_prng *prng)
{
	uint8_t right = right_of(op->kind);

	if (op->kind == PLX_WR_SEND_INV) {
		op->inv = pick_offer(side->peer, prng, GRANT_ALIVE);
		if (op->inv == NULL)
			op->kind = PLX_WR_SEND;
	} else if (op->kind == PLX_WR_LOCAL_INV) {
		op->inv = pick_offer(side, prng, GRANT_ALIVE);
		if (op->inv != NULL && op->inv->users > 0 &&
		    (side->pair->world->config.misuse_ppm == 0 || !draw_percent(prng, 3)))
			op->inv = NULL; /* mostly not under the peer's hands */
		if (op->inv == NULL)
			op->kind = PLX_WR_SEND;
	} else if (op->kind == PLX_WR_BIND) {
		op->inv = pick_offer(side, prng, GRANT_DEAD);
		if (op->inv == NULL || op->inv->kind != GRANT_WINDOW) {
			op->inv = NULL;
			op->kind = PLX_WR_SEND;
		}
	} else if (waits_for_answer(op->kind) &&
		   (side->attr.initiator_depth == 0 || side->caps.sq_sges == 0)) {
		op->kind = PLX_WR_SEND; /* READs must be agreed on, and need an SGE */
	} else if ((side->peer->attr.enabled.bits & right) != right) {
		op->kind = PLX_WR_SEND;
	}
}

static void
draw_flags(struct side *side, struct op *op, struct plx_prng *prng)
{
	const struct sim_config *config = &side->pair->world->config;
	uint32_t inline_most = side->caps.inline_bytes > PLX_WQE_INLINE_BYTES
				       ? side->caps.inline_bytes
				       : PLX_WQE_INLINE_BYTES;
	bool sends = !waits_for_answer(op->kind) && op->kind != PLX_WR_LOCAL_INV &&
		     op->kind != PLX_WR_BIND;

	if (draw_percent(prng, config->silent_percent) && op->inv == NULL)
		op->flags |= PLX_WR_UNSIGNALED;
	/* READ responses may leave after later requests were executed: an invalidation of a key in
	 * use waits for them */
	if (draw_percent(prng, config->fence_percent) ||
	    (op->kind == PLX_WR_SEND_INV && op->inv->users > 0 &&
	     (config->misuse_ppm == 0 || draw_percent(prng, 90))))
		op->flags |= PLX_WR_FENCE;
	if (sends && op->kind != PLX_WR_WRITE && draw_percent(prng, config->solicited_percent))
		op->flags |= PLX_WR_SOLICITED;
	if (sends && op->length <= inline_most && draw_percent(prng, config->inline_percent))
		op->flags |= PLX_WR_INLINE;
	if (side->caps.sq_sges == 0 && op->length > 0) {
		if (!sends || op->length > inline_most)
			op->length = 0; /* a queue without SGEs moves nothing else */
		else
			op->flags |= PLX_WR_INLINE;
	}
}

/* Source of the bytes, or their destination. */
static void
draw_sges(struct side *side, struct op *op, struct plx_prng *prng)
{
	bool answer = waits_for_answer(op->kind);
	const struct grant *grant =
		answer ? &side->landing_grant : &side->station->source_grant[side->domain];
	uint32_t sges =
		(uint32_t)draw_between(prng, 1, side->caps.sq_sges ? side->caps.sq_sges : 1);
	uint32_t left = op->length;

	if (draw_percent(prng, 60) || op->flags & PLX_WR_INLINE)
		sges = 1;
	if (op->kind == PLX_WR_LOCAL_INV || op->kind == PLX_WR_BIND ||
	    (op->length == 0 && (side->caps.sq_sges == 0 || draw_percent(prng, 50))))
		sges = 0;
	op->sges = (uint8_t)sges;
	for (uint32_t i = 0; i < sges; i++) {
		uint32_t length = i + 1 == sges ? left : (uint32_t)plx_prng_below(prng, left + 1);

		op->sge[i] = (struct plx_sge){
			.va = grant->va + plx_prng_below(prng, grant->length - length + 1),
			.length = length,
			.key = grant->key};
		left -= length;
	}
}

static void
draw_op(struct side *side, struct op *op, struct plx_prng *prng)
{
	op->kind = (uint8_t)draw_kind(side, prng);
	settle_kind(side, op, prng);
	if (op->kind != PLX_WR_LOCAL_INV && op->kind != PLX_WR_BIND)
		op->length = draw_size(side, prng);
	if (op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD)
		op->length = sizeof(uint64_t);
	if (right_of(op->kind) == 0 && op->length > side->peer->receive_bytes)
		op->length %= side->peer->receive_bytes + 1;
	draw_flags(side, op, prng);
	if (right_of(op->kind) != 0)
		aim_at_memory(side, op, prng);
	if (op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD)
		draw_atomic(side, op, prng);
	op->imm = (uint32_t)plx_prng_next(prng);
	draw_sges(side, op, prng);
	misuse_draw(side, op, prng);
	if (op->misuse == MISUSE_NONE && op->target != NULL && !side->pair->world->calm &&
	    (op->kind == PLX_WR_WRITE || op->kind == PLX_WR_READ) &&
	    plx_prng_chance(prng, side->pair->world->config.misuse_ppm) &&
	    aim_at_victim(side, op, prng))
		op->misuse = MISUSE_REVOKED;
}

/* A fast-register region whose key was invalidated gets another. */
static void
refresh_offers(struct side *side)
{
	for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++) {
		struct grant *offer = &side->offers[i];

		if (offer->kind == GRANT_FAST && offer->state == GRANT_DEAD && offer->exists) {
			grant_refresh(side->station, offer);
			offer->offered = true;
		}
	}
}

/* May this side ask for more? In a run of the shrinker's, until the last request that stays. */
bool
workload_left(const struct side *side)
{
	const struct world *world = side->pair->world;

	if (world->mask.keep != NULL)
		return side->drawn < world->last_op[side->id];
	return world->drawn < world->quota;
}

/* Draw one request and post it, unless it was left out. Returns: whether another may follow */
bool
workload_post(struct side *side)
{
	struct world *world = side->pair->world;
	struct plx_prng prng;
	struct op *op;

	if (!workload_left(side) || side->state != SIDE_UP)
		return false;
	if (!post_has_room(side)) {
		side->waiting_room = true;
		if (draw_percent(&side->prng, 5))
			post_when_full(side);
		return false;
	}
	prng = draw_stream(world->seed, 'o', side->id, side->drawn);
	if (!mask_keeps(world, SIM_KEY_OP, side->id, side->drawn++))
		return true; /* as if it had not been drawn */
	world->drawn++;
	refresh_offers(side);
	op = &side->ops[side->op_posted & (side->op_room - 1)];
	memset(op, 0, offsetof(struct op, sge));
	draw_op(side, op, &prng);
	post_op(side, op);
	if (world->config.kill_ppm && !world->calm &&
	    plx_prng_chance(&prng, world->config.kill_ppm))
		kill_something(side, &prng);
	return true;
}

void
workload_on_event(struct side *side)
{
	struct world *world = side->pair->world;
	uint32_t burst = (uint32_t)draw_log(&side->prng, 1, world->config.simple ? 1 : 16);

	side->app_pending = false;
	while (burst > 0 && workload_post(side))
		burst--;
	if (side->state == SIDE_UP && workload_left(side) && !side->waiting_room)
		workload_wake(side, world->now + 1 +
					    draw_exponential(&side->prng, world->config.think_ns));
}
