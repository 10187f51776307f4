/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues: a ring of events from an engine to any thread, with a descriptor. What the ring has
 * no room for waits with whoever makes the events: it is told, and nothing is lost.
 * Start with engine_eq_push() and engine_eq_pop().
 */
#ifndef PLX_ENGINE_EQ_H
#define PLX_ENGINE_EQ_H

#include "plx_engine_queues.h"
#include "plx_ring.h"

struct engine_eq {
	struct rte_ring *ring; /* NULL: to be initialised, or freed */
	uint32_t event_bytes;
	ALIGNED_LINE atomic_int fd; /* -1: nobody asked for one */
};

/* @param event_bytes of one, a multiple of 4. Errors: NO_MEMORY */
enum plx_status engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues,
			       uint32_t depth, uint32_t event_bytes) PLX_MUST_CHECK;
/* Nobody uses it any more; of zeroed memory, too. */
void engine_eq_free(struct engine_eq *eq);

/* The engine's thread. false: there is no room */
bool engine_eq_push(struct engine_eq *eq, const void *event);
bool engine_eq_has_room(const struct engine_eq *eq);

/* Any thread, several at once, and in inline mode the engine's. The next event; false: none, and
 * the descriptor is not readable any more. */
bool engine_eq_pop(struct engine_eq *eq, void *event);
/* Readable while there is an event; the queue's own. -1: the system has none left */
int engine_eq_fd(struct engine_eq *eq);

#endif
