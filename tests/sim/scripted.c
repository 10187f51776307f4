/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records what happens in the shrinker's last run, so that script.c can say it as a wire script.
 * It records nothing in any other run.
 * Start with scripted_op() and scripted_packet().
 */
#include <stdlib.h>

#include "scripted.h"

static struct row *
add(struct side *side, enum row_kind kind)
{
	struct world *world = side->pair->world;
	struct scripted *scripted = world->scripted;
	struct row *row;

	if (!world->mask.write_script)
		return NULL;
	if (scripted == NULL) {
		scripted = calloc(1, sizeof(*scripted));
		PLX_ASSERT(scripted != NULL);
		world->scripted = scripted;
	}
	if (scripted->count == scripted->room) {
		scripted->room = scripted->room ? scripted->room * 2 : 256;
		scripted->rows = realloc(scripted->rows, scripted->room * sizeof(struct row));
		PLX_ASSERT(scripted->rows != NULL);
	}
	row = &scripted->rows[scripted->count++];
	memset(row, 0, sizeof(*row));
	row->kind = kind;
	row->at = world->now;
	row->side = side->id;
	row->life = side->pair->life;
	return row;
}

void
scripted_birth(struct side *side)
{
	if (side->pair->world->scripted != NULL)
		side->pair->world->scripted->packets[side->id] = 0;
}

void
scripted_op(struct side *side, const struct op *op)
{
	struct row *row = add(side, ROW_OP);

	if (row != NULL)
		row->op = *op;
}

void
scripted_receive(struct side *side, uint32_t bytes)
{
	struct row *row = add(side, ROW_RECEIVE);

	if (row != NULL)
		row->bytes = bytes;
}

void
scripted_revoke(struct side *side, const struct op *op)
{
	const struct packet *packet = side->pair->world->judging.packet;
	struct row *row = add(side, ROW_REVOKE);

	if (row == NULL)
		return;
	row->op = *op;
	row->serial = packet != NULL ? packet->serial : 0;
}

void
scripted_packet(struct side *side, const struct packet *packet, const struct fault *fault)
{
	struct row *row = add(side, ROW_PACKET);

	if (row == NULL)
		return;
	row->ordinal = ++side->pair->world->scripted->packets[side->id];
	row->fault = *fault;
	row->damage = packet->damage;
	row->serial = packet->serial;
}
