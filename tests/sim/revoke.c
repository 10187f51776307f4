/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns keys that go away while a message is under way: the region of a victim request is retired as
 * soon as so many of its packets are through (T13).
 * It never does so within a call, whose actions may still want the memory. Start with revoke_now().
 */
#include "parts.h"

void
revoke_when_due(struct side *side, struct op *op, uint32_t packets)
{
	struct world *world = side->pair->world;

	if (packets != op->revoke_at || !op->target->exists)
		return;
	scripted_revoke(side, op);
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
