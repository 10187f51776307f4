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

#include "plx_ring.h"

struct engine_eq;

struct eq {
	struct rte_ring *ring;
	struct engine_eq *back;
	uint32_t event_bytes;
	atomic_int fd; /* -1: no thread has asked for a descriptor yet */
};

/* Begin to use the front of a queue that the engine has made. */
void eq_open(struct eq *eq, struct engine_eq *back);

/* Dequeue the next event; false: the queue is empty, and the descriptor is no longer readable. Any
 * thread, several at once; in inline mode the engine's thread. */
bool eq_pop(struct eq *eq, void *event);
/* A descriptor that is readable while an event is queued. The queue owns it. -1: no descriptor is
 * available */
int eq_fd(struct eq *eq);

#endif
