/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as a program sees them: its half of a ring of events that an engine adds. The front,
 * of which plx_cq_front.h tells what holds for all, is that ring alone. The engine's half is in
 * plx_engine_eq.h. Start with struct eq, then eq_pop().
 */
#ifndef PLX_EQ_FRONT_H
#define PLX_EQ_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "plx_front.h"

/* From the engine to any number of threads; in inline mode there is one. */
static inline struct front_layout
eq_front_layout(uint32_t depth, uint32_t event_bytes, bool inline_mode)
{
	return (struct front_layout){
		.ring = {.entries = depth,
			 .entry_bytes = event_bytes,
			 .producers = PLX_RING_ONE,
			 .consumers = inline_mode ? PLX_RING_ONE : PLX_RING_MANY},
	};
}

struct eq {
	struct rte_ring *ring;
	struct front_owner *owner;
	uint64_t object; /* by which the owner knows the queue */
	uint32_t event_bytes;
	atomic_int fd;      /* -1: no thread has asked for a descriptor yet */
	atomic_int wake_fd; /* what makes it readable */
};

/* Begin to use the front of a queue that the engine has made.
 * @param front its ring */
void eq_open(struct eq *eq, void *front, uint32_t event_bytes, struct front_owner *owner,
	     uint64_t object);

/* Dequeue the next event; false: the queue is empty, and the descriptor is no longer readable. Any
 * thread, several at once; in inline mode the engine's thread. */
bool eq_pop(struct eq *eq, void *event);
/* A descriptor that is readable while an event is queued. The queue owns it. -1: no descriptor is
 * available */
int eq_fd(struct eq *eq);
/* The engine's half has been destroyed. */
void eq_close(struct eq *eq);

#endif
