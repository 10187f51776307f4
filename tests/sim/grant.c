/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the model of keys: which are alive, what they grant and to whom, and which are revoked while
 * a message uses them (T13). It never asks the key table what is granted, and revokes nothing
 * within a call, whose actions may still need the memory. Start with grant_register(),
 * grant_opinion() and revoke_now().
 */
#include "sim.h"

static struct plx_region_attr
region_attr(const struct grant *grant)
{
	const struct slab *slab = grant->slab;
	struct plx_region_attr attr = {
		.va = grant->va, .length = grant->length, .access = grant->access};

	if (slab->page != NULL)
		attr.page = slab->page + (grant->va / PLX_PAGE_BYTES - slab->va / PLX_PAGE_BYTES);
	else
		attr.host = slab_host(slab, grant->va);
	return attr;
}

/* What the caller filled in (kind, domain, access, slab, va, length) becomes a key. */
void
grant_register(struct station *station, struct grant *grant)
{
	struct plx_region_attr attr = region_attr(grant);

	PLX_ASSERT(!grant->exists);
	PLX_ASSERT(plx_region_register(ep_mem(station->ep), station->domain[grant->domain], &attr,
				       &grant->region, &grant->key) == PLX_OK);
	grant->exists = true;
	grant->state = GRANT_ALIVE;
}

void
grant_refresh(struct station *station, struct grant *grant)
{
	struct plx_region_attr attr = region_attr(grant);

	PLX_ASSERT(grant->kind == GRANT_FAST && grant->state == GRANT_DEAD);
	PLX_ASSERT(plx_region_refresh(ep_mem(station->ep), grant->region, &attr, &grant->key) ==
		   PLX_OK);
	grant->state = GRANT_ALIVE;
}

void
grant_create_window(struct station *station, struct grant *grant, struct grant *parent)
{
	PLX_ASSERT(plx_window_create(ep_mem(station->ep), station->domain[grant->domain],
				     &grant->window) == PLX_OK);
	grant->kind = GRANT_WINDOW;
	grant->parent = parent;
	grant->slab = parent->slab;
	grant->exists = true;
	grant->state = GRANT_DEAD;
}

void
grant_bind(struct station *station, struct grant *grant, uint32_t qpn)
{
	struct plx_window_attr attr = {.region = grant->parent->region,
				       .va = grant->va,
				       .length = grant->length,
				       .access = grant->access,
				       .qpn = qpn};

	PLX_ASSERT(plx_window_bind(ep_mem(station->ep), grant->window, &attr, &grant->key) ==
		   PLX_OK);
	grant->qpn = qpn;
	grant->state = GRANT_ALIVE;
}

/* Both steps at once: there is one thread, so every engine is quiescent between two events. */
void
grant_retire(struct station *station, struct grant *grant)
{
	struct plx_mem *mem = ep_mem(station->ep);

	if (!grant->exists)
		return;
	if (grant->kind == GRANT_WINDOW) {
		PLX_ASSERT(plx_window_retire(mem, grant->window) == PLX_OK);
		PLX_ASSERT(plx_window_release(mem, grant->window) == PLX_OK);
	} else {
		PLX_ASSERT(plx_region_retire(mem, grant->region) == PLX_OK);
		PLX_ASSERT(plx_region_release(mem, grant->region) == PLX_OK);
	}
	grant->exists = grant->offered = false;
	grant->state = GRANT_DEAD;
}

void
grant_invalidated(struct world *world, struct grant *grant)
{
	grant->state = GRANT_DEAD;
	grant->offered = false;
	grant->old_key = grant->key;
	world->stats.invalidated++;
}

bool
grant_covers(const struct grant *grant, uint64_t va, uint64_t length)
{
	return va >= grant->va && va - grant->va <= grant->length &&
	       length <= grant->length - (va - grant->va);
}

/* May requests through `side` touch the range under `rkey`, which was this grant's when posted? */
enum opinion
grant_opinion(const struct grant *grant, uint32_t rkey, const struct side *side, uint64_t va,
	      uint64_t length, uint8_t need)
{
	if (length == 0)
		return OPINION_YES;
	if (grant == NULL || rkey != grant->key.v || grant->domain != side->domain ||
	    (need & ~grant->access.bits) != 0 || !grant_covers(grant, va, length))
		return OPINION_NO;
	if (grant->kind == GRANT_WINDOW && grant->qpn != side->qpn)
		return OPINION_NO;
	if (grant->state == GRANT_DOUBTFUL)
		return OPINION_MAYBE;
	return grant->state == GRANT_ALIVE ? OPINION_YES : OPINION_NO;
}

/* ---- revocation in mid-message ---- */

/* `packets` of the request are through; its region is retired after as many as were drawn. */
void
revoke_when_due(struct side *side, struct op *op, uint32_t packets)
{
	struct world *world = side->pair->world;

	if (packets != op->revoke_at || !op->target->exists)
		return;
	script_revoke(side, op);
	world->revoke = op->target;
	world->revoke_station = side->station;
}

void
revoke_now(struct world *world)
{
	if (world->revoke == NULL)
		return;
	grant_retire(world->revoke_station, world->revoke);
	world->revoke = NULL;
	world->stats.revoked++;
	trace_add(world, TRACE_REVOKE, NULL, world->revoke_station->index, 0, 0, 0);
}
