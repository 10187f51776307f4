/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the memory that requests read and write: what each byte was, and what it may become.
 * It never knows who uses a cell. Start with arena_check().
 */
#include <stdlib.h>

#include "fleet.h"

static size_t
whole(const struct arena *arena)
{
	return (size_t)arena->cells * arena->cell_bytes + 2 * SIM_SLAB_GUARD;
}

/* Addresses are drawn, never the process's own: a run must not depend on where malloc() puts it. */
void
arena_create(struct host *host, struct arena *arena, struct plx_prng *prng, uint32_t cells,
	     uint32_t cell_bytes, uint8_t access)
{
	struct plx_region_attr attr = {.length = (uint64_t)cells * cell_bytes, .access = {access}};

	*arena = (struct arena){.cells = cells, .cell_bytes = cell_bytes};
	arena->bytes = calloc(1, whole(arena));
	arena->shadow = calloc(1, whole(arena));
	arena->cell = calloc(cells, sizeof(*arena->cell));
	arena->idle = calloc(cells, sizeof(*arena->idle));
	PLX_ASSERT(arena->bytes != NULL && arena->shadow != NULL && arena->cell != NULL &&
		   arena->idle != NULL);
	arena->bytes += SIM_SLAB_GUARD;
	arena->shadow += SIM_SLAB_GUARD;
	arena->va = (plx_prng_next(prng) >> 1) & ~UINT64_C(7);
	for (uint32_t i = cells; i > 0; i--)
		arena->idle[arena->idle_count++] = i - 1;
	attr.va = arena->va;
	attr.host = arena->bytes;
	PLX_ASSERT(plx_region_register(host->mem, host->domain, &attr, &arena->region,
				       &arena->key) == PLX_OK);
}

static void
revoke(struct host *host, struct arena *arena)
{
	PLX_ASSERT(plx_region_retire(host->mem, arena->region) == PLX_OK);
	PLX_ASSERT(plx_region_release(host->mem, arena->region) == PLX_OK);
}

/* Its program has died: nothing of it changes any more. */
void
arena_bury(struct host *host, struct arena *arena)
{
	if (arena->bytes == NULL)
		return;
	revoke(host, arena);
	arena->last = malloc(whole(arena));
	PLX_ASSERT(arena->last != NULL);
	memcpy(arena->last, arena->bytes - SIM_SLAB_GUARD, whole(arena));
}

/* One thread runs everything: no engine is in the middle of using it. */
void
arena_destroy(struct host *host, struct arena *arena)
{
	if (arena->bytes == NULL)
		return;
	if (arena->last == NULL)
		revoke(host, arena);
	free(arena->last);
	free(arena->bytes - SIM_SLAB_GUARD);
	free(arena->shadow - SIM_SLAB_GUARD);
	free(arena->cell);
	free(arena->idle);
	*arena = (struct arena){.cells = 0};
}

uint8_t *
arena_at(const struct arena *arena, uint32_t index)
{
	return arena->bytes + (size_t)index * arena->cell_bytes;
}

uint64_t
arena_va(const struct arena *arena, uint32_t index)
{
	return arena->va + (uint64_t)index * arena->cell_bytes;
}

bool
arena_alloc(struct arena *arena, uint32_t *index)
{
	if (arena->idle_count == 0)
		return false;
	*index = arena->idle[--arena->idle_count];
	return true;
}

void
arena_free(struct arena *arena, uint32_t index)
{
	PLX_ASSERT(arena->idle_count < arena->cells && !arena->cell[index].busy);
	arena->idle[arena->idle_count++] = index;
}

void
arena_expect(struct arena *arena, uint32_t index, const uint8_t *want, uint32_t length)
{
	arena->cell[index] = (struct cell){.busy = true, .want = want, .length = length};
}

static void
check_rest(struct fleet *fleet, const struct arena *arena, uint32_t index, uint32_t from)
{
	const uint8_t *bytes = arena_at(arena, index);
	const uint8_t *was = arena->shadow + (bytes - arena->bytes);

	if (plx_likely(memcmp(bytes + from, was + from, arena->cell_bytes - from) == 0))
		return;
	for (uint32_t i = from; i < arena->cell_bytes; i++) {
		if (bytes[i] != was[i])
			sim_fail(&fleet->world, SIM_WRONG, "I3", WRONG_CORRUPT,
				 "byte %u of cell %u was %02x, may not be written, and is %02x", i,
				 index, was[i], bytes[i]);
	}
}

/* Between its beginning and its end a request has written any of its bytes or not. */
static void
check_busy(struct fleet *fleet, const struct arena *arena, uint32_t index)
{
	const struct cell *cell = &arena->cell[index];
	const uint8_t *bytes = arena_at(arena, index);
	const uint8_t *was = arena->shadow + (bytes - arena->bytes);

	for (uint32_t i = 0; i < cell->length && cell->want != NULL; i++) {
		if (plx_unlikely(bytes[i] != was[i] && bytes[i] != cell->want[i]))
			sim_fail(&fleet->world, SIM_WRONG, "I2", WRONG_CORRUPT,
				 "byte %u of cell %u is %02x, was %02x and becomes %02x", i, index,
				 bytes[i], was[i], cell->want[i]);
	}
	check_rest(fleet, arena, index, cell->length);
}

static void
check_guards(struct fleet *fleet, const struct arena *arena)
{
	const uint8_t *before = arena->bytes - SIM_SLAB_GUARD;
	const uint8_t *after = arena->bytes + (size_t)arena->cells * arena->cell_bytes;

	for (uint32_t i = 0; i < SIM_SLAB_GUARD; i++)
		sim_must(&fleet->world, before[i] == 0 && after[i] == 0, "I3",
			 "byte %u of a guard was written", i);
}

/* I3: nothing but what was granted and expected has ever been written. */
void
arena_check(struct fleet *fleet, const struct arena *arena)
{
	if (arena->bytes == NULL)
		return;
	sim_must(&fleet->world,
		 arena->last == NULL ||
			 memcmp(arena->last, arena->bytes - SIM_SLAB_GUARD, whole(arena)) == 0,
		 "D1", "memory of a program that has died changes");
	check_guards(fleet, arena);
	if (fleet->world.evil) /* a packet that lies writes what and where it is allowed to */
		return;
	for (uint32_t i = 0; i < arena->cells; i++) {
		if (arena->cell[i].busy)
			check_busy(fleet, arena, i);
		else
			check_rest(fleet, arena, i, 0);
	}
}

/* The request is done: its bytes are there, and the cell is still whoever's took it. */
void
arena_settle(struct fleet *fleet, struct arena *arena, uint32_t index, const uint8_t *want,
	     uint32_t length)
{
	uint8_t *bytes = arena_at(arena, index);
	uint8_t *shadow = arena->shadow + (bytes - arena->bytes);

	arena->cell[index].busy = false;
	if (fleet->world.evil)
		return;
	for (uint32_t i = 0; i < length && plx_unlikely(memcmp(bytes, want, length) != 0); i++) {
		if (bytes[i] != want[i])
			sim_fail(&fleet->world, SIM_WRONG, "I2", WRONG_CORRUPT,
				 "byte %u of %u is %02x and should be %02x", i, length, bytes[i],
				 want[i]);
	}
	memcpy(shadow, bytes, length);
	check_rest(fleet, arena, index, length);
}

/* Whatever is there now is what is there: its request failed. */
void
arena_forget(struct arena *arena, uint32_t index)
{
	uint8_t *bytes = arena_at(arena, index);

	arena->cell[index].busy = false;
	memcpy(arena->shadow + (bytes - arena->bytes), bytes, arena->cell_bytes);
}
