/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats: what one program has at an engine. Its front has the doorbells of its queue pairs
 * (plx_seat_front.h); the engine's half knows which slots are its own, and the events that its
 * objects are to deliver. Every object belongs to one seat. Start with struct engine_seat.
 */
#ifndef PLX_ENGINE_SEAT_H
#define PLX_ENGINE_SEAT_H

#include <stdatomic.h>

#include "plx_engine_eq.h"
#include "plx_engine_queues.h"
#include "plx_seat_front.h"

struct engine_copier;

struct engine_seat {
	struct engine_queues *queues;
	struct front_memory *memory; /* of all its fronts */
	struct plx_waker *waker;     /* of its program's threads; NULL: the engine itself */
	struct seat_front *front;
	uint32_t next;                      /* the slot whose doorbell is checked first */
	uint32_t doorbell_words;            /* of front and `slots` */
	uint64_t words[SEAT_SUMMARIES];     /* the words of `slots` that are not 0 */
	uint64_t *slots;                    /* those of its queue pairs */
	uint32_t slots_used;                /* of these; 0: the engine does not look at it */
	struct plx_list link;               /* in engine->seats otherwise */
	struct seat_turn turns[WAIT_KINDS]; /* of its queue pairs that wait */

	struct engine_eq async_events; /* struct plx_async_event */
	/* objects with an event to deliver: queue pairs, shared receive queues, completion queues
	 */
	struct plx_list qp_events, srq_events, cq_events;
	uint32_t event_kind_next;      /* which of the three is delivered first */
	struct plx_list eventful_link; /* in queues->eventful while one of them is not empty */
	struct engine_copier *copier;  /* of private memory; NULL: its program has none */

	/* objects that must be destroyed before it; written by any thread */
	PLX_ALIGNED_LINE atomic_uint users;
};

/* Errors: NO_MEMORY
 * @param config NULL: a program of this process
 * @param slots of the engine's table, a multiple of 64
 * @param events room for asynchronous events, each of `event_bytes` */
enum plx_status engine_seat_create(struct engine_queues *queues, const struct seat_config *config,
				   uint32_t slots, uint32_t events, uint32_t event_bytes,
				   struct engine_seat **seat) PLX_MUST_CHECK;
/* The engine no longer refers to it. NULL is allowed. */
void engine_seat_free(struct engine_seat *seat);

/* Let an object deliver an event: `list` is one of the three above. */
static inline void
engine_seat_raise(struct engine_seat *seat, struct plx_list *list, struct plx_list *link)
{
	if (plx_list_empty(link))
		plx_list_append(list, link);
	if (plx_list_empty(&seat->eventful_link))
		plx_list_append(&seat->queues->eventful, &seat->eventful_link);
}

/* An object is there that must be destroyed before the seat and the engine. */
static inline void
engine_seat_use(struct engine_seat *seat)
{
	atomic_fetch_add(&seat->queues->users, 1);
	atomic_fetch_add(&seat->users, 1);
}

static inline void
engine_seat_unuse(struct engine_seat *seat)
{
	atomic_fetch_sub(&seat->queues->users, 1);
	atomic_fetch_sub(&seat->users, 1);
}

#endif
