/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation of seats. Start with engine_seat_create().
 */
#include "plx_engine_seat.h"
#include "plx_heap.h"

enum plx_status
engine_seat_create(struct engine_queues *queues, const struct seat_config *config, uint32_t slots,
		   uint32_t events, uint32_t event_bytes, struct engine_seat **out)
{
	uint32_t words = slots / 64;
	struct engine_seat *seat = plx_heap_alloc(sizeof(*seat), queues->socket);

	PLX_ASSERT(slots % 64 == 0 && slots <= SEAT_SLOTS_MAX);
	if (seat == NULL)
		return PLX_NO_MEMORY;
	seat->queues = queues;
	seat->memory = config != NULL ? config->memory : &queues->memory;
	seat->waker = config != NULL ? config->waker : NULL;
	seat->doorbell_words = words;
	plx_list_init(&seat->link);
	for (uint32_t kind = 0; kind < WAIT_KINDS; kind++)
		seat_turn_init(&seat->turns[kind], &queues->rotations[kind]);
	plx_list_init(&seat->qp_events);
	plx_list_init(&seat->srq_events);
	plx_list_init(&seat->cq_events);
	plx_list_init(&seat->eventful_link);
	seat->slots = plx_heap_alloc(words * sizeof(*seat->slots), queues->socket);
	seat->front = seat->memory->alloc(seat->memory,
					  sizeof(*seat->front) + words * sizeof(atomic_ulong));
	if (seat->slots == NULL || seat->front == NULL ||
	    engine_eq_init(&seat->async_events, queues, seat->memory, seat->waker, events,
			   event_bytes) != PLX_OK) {
		engine_seat_free(seat);
		return PLX_NO_MEMORY;
	}
	*out = seat;
	return PLX_OK;
}

void
engine_seat_free(struct engine_seat *seat)
{
	if (seat == NULL)
		return;
	engine_eq_free(&seat->async_events);
	front_free(seat->memory, seat->front);
	plx_heap_free(seat->copier);
	plx_heap_free(seat->slots);
	plx_heap_free(seat);
}
