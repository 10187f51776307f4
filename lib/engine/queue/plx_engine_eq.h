/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues: a ring of events from an engine to any thread, with a descriptor. If the ring is
 * full, the push fails and the source keeps the event, so no event is lost.
 * Start with engine_eq_push() and engine_eq_pop().
 */
#ifndef PLX_ENGINE_EQ_H
#define PLX_ENGINE_EQ_H

#include "plx_engine_queues.h"
#include "plx_ring.h"

struct engine_eq {
	struct rte_ring *ring; /* NULL: not initialised, or freed */
	uint32_t event_bytes;
	PLX_ALIGNED_LINE atomic_int fd; /* -1: not created yet */
};

/* @param event_bytes size of an event, a multiple of 4
 * Errors:  NO_MEMORY */
enum plx_status engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues,
			       uint32_t depth, uint32_t event_bytes) PLX_MUST_CHECK;
/* Free a queue that is no longer in use; zeroed memory is allowed, too. */
void engine_eq_free(struct engine_eq *eq);

/* On the engine's thread. false: the queue is full */
bool engine_eq_push(struct engine_eq *eq, const void *event);
bool engine_eq_has_room(const struct engine_eq *eq);

/* Dequeue the next event; false: the queue is empty, and the descriptor is no longer readable. Any
 * thread, several at once; in inline mode the engine's thread. */
bool engine_eq_pop(struct engine_eq *eq, void *event);
/* A descriptor that is readable while an event is queued. The queue owns it. -1: no descriptor is
 * available */
int engine_eq_fd(struct engine_eq *eq);

#endif
