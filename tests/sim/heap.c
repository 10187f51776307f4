/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the queue of events: a binary heap by time, then by age.
 * It never looks at what an event means.
 * Start with heap_push() and heap_pop().
 */
#include <stdlib.h>

#include "sim.h"

static inline bool
sooner(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

void
heap_push(struct world *world, uint64_t at, enum sim_event_kind kind, void *what)
{
	struct sim_heap *heap = &world->heap;
	struct sim_event event = {
		.at = at, .serial = heap->serial++, .what = what, .kind = (uint8_t)kind};
	size_t hole = heap->count++;

	PLX_ASSERT(at >= world->now);
	if (heap->count > heap->room) {
		heap->room = heap->room ? heap->room * 2 : 256;
		heap->list = realloc(heap->list, heap->room * sizeof(*heap->list));
		PLX_ASSERT(heap->list != NULL);
	}
	while (hole > 0 && sooner(&event, &heap->list[(hole - 1) / 2])) {
		heap->list[hole] = heap->list[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	heap->list[hole] = event;
}

bool
heap_pop(struct world *world, struct sim_event *out)
{
	struct sim_heap *heap = &world->heap;
	struct sim_event last;
	size_t hole = 0, child;

	if (heap->count == 0)
		return false;
	*out = heap->list[0];
	last = heap->list[--heap->count];
	while ((child = 2 * hole + 1) < heap->count) {
		if (child + 1 < heap->count && sooner(&heap->list[child + 1], &heap->list[child]))
			child++;
		if (!sooner(&heap->list[child], &last))
			break;
		heap->list[hole] = heap->list[child];
		hole = child;
	}
	if (heap->count > 0)
		heap->list[hole] = last;
	return true;
}

void
heap_free(struct world *world)
{
	free(world->heap.list);
	memset(&world->heap, 0, sizeof(world->heap));
}
