/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what applications do wrong on purpose: bad keys, ranges, rights, sizes, and QPs killed or
 * stations crashed in mid-traffic. It never decides what must follow; the oracle does.
 * Start with misuse_draw() and kill_something().
 */
#include "sim.h"

static bool
bad_key(struct op *op, struct plx_prng *prng)
{
	op->target = NULL;
	op->rkey = (uint32_t)plx_prng_next(prng);
	return true;
}

/* A window that is bound to another QP of the same station. */
static struct grant *
others_window(struct side *side, struct plx_prng *prng)
{
	struct world *world = side->pair->world;
	uint32_t at = (uint32_t)plx_prng_below(prng, 2 * world->config.pairs);

	for (uint32_t i = 0; i < 2 * world->config.pairs; i++) {
		uint32_t id = (at + i) % (2 * world->config.pairs);
		struct side *other = &world->pair[id / 2].side[id % 2];

		if (other != side->peer && other->station == side->peer->station &&
		    other->domain == side->peer->domain && other->offers[0].state == GRANT_ALIVE)
			return &other->offers[0];
	}
	return NULL;
}

/* A former key of its slot, a window of another QP, or a key of another domain. */
static bool
stale_key(struct side *side, struct op *op, struct plx_prng *prng)
{
	struct grant *offer = &side->peer->offers[plx_prng_below(prng, SIM_OFFERS_MAX)];
	struct grant *window = others_window(side, prng);
	struct grant *foreign = &side->peer->station->public_grant[!side->peer->domain];
	uint64_t kind = plx_prng_below(prng, 5);

	if (kind < 2 && offer->old_key.v != 0 && offer->old_key.v != offer->key.v) {
		aim(op, offer, offer->va);
		op->rkey = offer->old_key.v;
	} else if (kind < 4 && window != NULL) {
		aim(op, window, window->va);
	} else {
		aim(op, foreign, foreign->va);
	}
	op->target = NULL;
	op->length = (uint32_t)draw_between(prng, 1, 64);
	return true;
}

static bool
bad_range(struct op *op, struct plx_prng *prng)
{
	const struct grant *grant = op->target;

	if (grant == NULL)
		return false;
	if (draw_percent(prng, 50))
		op->remote_va = grant->va + grant->length - op->length + 1;
	else
		op->remote_va = grant->va - 1;
	return true;
}

static bool
bad_right(struct side *side, struct op *op)
{
	struct grant *grant = &side->peer->station->source_grant[side->peer->domain];

	aim(op, grant, grant->va);
	return true;
}

static bool
disabled_operation(struct side *side, struct op *op, struct plx_prng *prng)
{
	uint8_t enabled = side->peer->attr.enabled.bits;

	if (!(enabled & PLX_ACCESS_REMOTE_WRITE) && !waits_for_answer(op->kind))
		op->kind = PLX_WR_WRITE;
	else if (!(enabled & PLX_ACCESS_REMOTE_READ) && waits_for_answer(op->kind))
		op->kind = PLX_WR_READ;
	else
		return false;
	op->flags &= (uint8_t)~PLX_WR_SOLICITED;
	op->remote_va = plx_prng_next(prng);
	return true;
}

static bool
bad_local_key(struct op *op, struct plx_prng *prng)
{
	if (op->length == 0 || op->flags & PLX_WR_INLINE)
		return false;
	for (uint32_t i = 0; i < op->sges; i++)
		op->sge[i].key.v ^= 1u << plx_prng_below(prng, 32);
	return true;
}

/* An unknown key, or a plain region's, which may not be invalidated. */
static bool
bad_invalidate(const struct side *side, struct op *op, uint8_t kind, struct plx_prng *prng)
{
	op->kind = kind;
	op->inv = NULL;
	op->inv_key = draw_percent(prng, 50) ? (uint32_t)plx_prng_next(prng)
					     : side->station->public_grant[side->domain].key.v;
	return true;
}

static bool
misuse_apply(struct side *side, struct op *op, enum misuse misuse, struct plx_prng *prng)
{
	bool remote = right_of(op->kind) != 0 && op->length > 0;
	bool atomic = op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD;
	bool plain = !remote && op->kind == PLX_WR_SEND;

	switch (misuse) {
	case MISUSE_BAD_RKEY:
		return remote && bad_key(op, prng);
	case MISUSE_STALE_RKEY:
		return remote && !atomic && op->sges == 1 && stale_key(side, op, prng);
	case MISUSE_RANGE:
		return remote && !atomic && bad_range(op, prng);
	case MISUSE_RIGHT:
		return remote && bad_right(side, op);
	case MISUSE_DISABLED:
		return op->inv == NULL && op->length > 0 && disabled_operation(side, op, prng);
	case MISUSE_RECV_SMALL:
		if (!plain || op->sges != 1 || op->flags & PLX_WR_INLINE)
			return false;
		op->length = side->peer->receive_bytes + (uint32_t)draw_between(prng, 1, 600);
		op->sge[0].va = side->station->source_grant[side->domain].va;
		op->sge[0].length = op->length;
		return true;
	case MISUSE_MISALIGNED:
		op->remote_va += atomic ? draw_between(prng, 1, 7) : 0;
		return atomic;
	case MISUSE_LOCAL_KEY:
		return (remote || plain) && bad_local_key(op, prng);
	case MISUSE_BAD_INV:
		return plain && bad_invalidate(side->peer, op, PLX_WR_SEND_INV, prng);
	case MISUSE_BAD_LOCAL_INV:
		if (op->kind != PLX_WR_LOCAL_INV)
			return false;
		return bad_invalidate(side, op, PLX_WR_LOCAL_INV, prng);
	case MISUSE_NONE:
	case MISUSE_REVOKED:
	case MISUSE_COUNT:
		break;
	}
	return false;
}

/* Now and then a request is wrong in one way; the first kind that fits it from a random start. */
void
misuse_draw(struct side *side, struct op *op, struct plx_prng *prng)
{
	struct world *world = side->pair->world;
	uint32_t start = (uint32_t)plx_prng_below(prng, MISUSE_COUNT);

	if (world->calm || !plx_prng_chance(prng, world->config.misuse_ppm))
		return;
	for (uint32_t i = 0; i < MISUSE_COUNT; i++) {
		enum misuse misuse = (enum misuse)((start + i) % MISUSE_COUNT);

		if (misuse_apply(side, op, misuse, prng)) {
			op->misuse = (uint8_t)misuse;
			if (op->sges == 1)
				op->sge[0].length = op->length;
			return;
		}
	}
}

/* ---- killing ---- */

/* As an engine or an application does when a QP cannot go on. */
void
side_kill(struct side *side)
{
	bool engine = draw_percent(&side->prng, 50);

	trace_add(side->pair->world, TRACE_KILL, side, engine, 0, 0, 0);
	side->killed = true;
	side->silenced = engine;
	if (engine)
		ep_fail(side->qp);
	else
		PLX_ASSERT(plx_rc_modify(ep_qp_core(side->qp), PLX_QP_ERROR, NULL) == PLX_OK);
	side_settle(side);
}

static void
crash(struct station *station)
{
	struct world *world = station->world;

	for (uint32_t i = 0; i < SIM_SIDES_MAX; i++) {
		struct side *side = &world->pair[i / 2].side[i % 2];

		if (side->station == station && side->state != SIDE_DOWN) {
			trace_add(world, TRACE_KILL, side, 2, 0, 0, 0);
			side_vanish(side);
			pair_close_later(side->pair);
		}
	}
	world->stats.crashes++;
}

static void
drain(struct side *side)
{
	struct world *world = side->pair->world;

	if (side->draining)
		return;
	side->draining = true;
	PLX_ASSERT(plx_rc_modify(ep_qp_core(side->qp), PLX_QP_SQD, NULL) == PLX_OK);
	heap_push(world, world->now + 1 + draw_log(&side->prng, 100, 1000000), SIM_EV_RESUME, side);
}

void
drain_resume(struct side *side)
{
	struct plx_rc_view view;

	if (!side->draining || side->state != SIDE_UP)
		return;
	side->draining = false;
	plx_rc_query(ep_qp_core(side->qp), &view);
	if (view.state == PLX_QP_SQD)
		PLX_ASSERT(plx_rc_modify(ep_qp_core(side->qp), PLX_QP_RTS, &side->attr) == PLX_OK);
	side_settle(side);
}

void
kill_something(struct side *side, struct plx_prng *prng)
{
	struct world *world = side->pair->world;
	uint64_t kind = plx_prng_below(prng, 10);

	if (!mask_keeps(world, SIM_KEY_KILL, 0, world->kills++))
		return;
	world->stats.kills++;
	if (kind < 5)
		side_kill(side);
	else if (kind < 7)
		drain(side);
	else
		crash(side->station);
}
