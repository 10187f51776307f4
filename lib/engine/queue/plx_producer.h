/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The producer of a queue's ring: the right to post to it, which one thread has at a time. This is
 * what both sides may know of it; how it is locked, which waits, is in producer_lock.h, for posting
 * threads alone.
 */
#ifndef PLX_PRODUCER_H
#define PLX_PRODUCER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who posts to a queue does so alone, for the time of a copy, and is then the ring's one producer.
 * One exchange a post, which orders the doorbell as well (decision 9). A thread that is preempted
 * meanwhile stops the posts to this queue, and nothing else: the engine never locks it, and
 * tests/tidy refuses a file of the engine's side that could. */
struct producer {
	atomic_bool locked;
	uint32_t credits; /* what is known of free places, so as not to look for each post */
};

#endif
