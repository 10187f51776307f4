/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The producer of a queue's ring: the right to post to it, which one thread has at a time. Both
 * sides may include this. Locking, which waits, is in producer_lock.h, for posting threads alone.
 */
#ifndef PLX_PRODUCER_H
#define PLX_PRODUCER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread posts to a queue exclusively, for the duration of a copy, and is then the ring's only
 * producer. A post costs one exchange, which also orders the doorbell (decision 9). If the thread
 * is preempted meanwhile, it blocks posts to this queue and nothing else: the engine never locks
 * it, and tests/tidy refuses a file of the engine's side that could. */
struct producer {
	atomic_bool locked;
	uint32_t credits; /* known number of free slots, so that not every post reads the consumer's
			     index */
};

/* Free slots when `used` entries are posted: 0 if the limit has been lowered below that. */
static inline uint32_t
producer_room(uint32_t limit, uint32_t used)
{
	return limit > used ? limit - used : 0;
}

#endif
