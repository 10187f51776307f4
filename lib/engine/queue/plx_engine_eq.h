/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as an engine sees them. If the ring is full, the push fails and the source keeps the
 * event, so no event is lost. The program's half is in plx_eq_front.h. Start with
 * engine_eq_push().
 */
#ifndef PLX_ENGINE_EQ_H
#define PLX_ENGINE_EQ_H

#include <stdatomic.h>

#include "plx_engine_queues.h"
#include "plx_ring_untrusted.h"

struct plx_waker;

struct engine_eq {
	struct plx_ring_untrusted ring; /* its `shared` is NULL: not initialised, or freed */
	struct front_memory *memory;    /* of the ring, which is all of its front */
	struct plx_waker *waker;        /* as engine_wake() */
	atomic_int fd;                  /* -1: not created yet */
};

/* @param event_bytes size of an event, a multiple of 4
 * Errors:  NO_MEMORY */
enum plx_status engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues,
			       struct front_memory *memory, struct plx_waker *waker, uint32_t depth,
			       uint32_t event_bytes) PLX_MUST_CHECK;
/* Free a queue that is no longer in use; zeroed memory is allowed, too. */
void engine_eq_free(struct engine_eq *eq);
/* As eq_fd(). Any thread. */
int engine_eq_fd(struct engine_eq *eq);

/* On the engine's thread. false: the queue is full */
bool engine_eq_push(struct engine_eq *eq, const void *event);
bool engine_eq_has_room(struct engine_eq *eq);

#endif
