/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the names of everything that can be left out of a run, and whether it is.
 * It never decides what to leave out; the shrinker does.
 * Start with mask_keeps().
 */
#include <stdlib.h>

#include "sim.h"

void
keys_add(struct sim_keys *keys, uint64_t key)
{
	if (keys->count == keys->room) {
		keys->room = keys->room ? keys->room * 2 : 1024;
		keys->list = realloc(keys->list, keys->room * sizeof(*keys->list));
		PLX_ASSERT(keys->list != NULL);
	}
	keys->list[keys->count++] = key;
}

static bool
has(const struct sim_keys *keys, uint64_t key)
{
	size_t low = 0, high = keys->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (keys->list[mid] == key)
			return true;
		if (keys->list[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* Does this happen in this run? If so, and if the mask has a record, it is added there. */
bool
mask_keeps(struct world *world, enum sim_key_kind kind, uint64_t who, uint64_t ordinal)
{
	uint64_t key = (uint64_t)kind << 56 | who << 40 | ordinal;

	if (plx_likely(world->mask.keep == NULL && world->mask.record == NULL))
		return true;
	if (world->mask.keep != NULL && !has(world->mask.keep, key))
		return false;
	if (world->mask.record != NULL)
		keys_add(world->mask.record, key);
	return true;
}

/* For each side, where its requests end. */
void
mask_last_ops(struct world *world)
{
	const struct sim_keys *keep = world->mask.keep;

	for (size_t i = 0; i < keep->count; i++) {
		uint64_t key = keep->list[i], ordinal = key & ((UINT64_C(1) << 40) - 1);
		uint32_t side = (uint32_t)(key >> 40 & 0xffff);

		if (key >> 56 == SIM_KEY_OP && ordinal >= world->last_op[side])
			world->last_op[side] = ordinal + 1;
	}
}
