/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all queues of one engine share: the lists in which they wait for it, and where it counts
 * what happens to them. It is all that a queue knows of its engine, which fills it in.
 */
#ifndef PLX_ENGINE_QUEUES_H
#define PLX_ENGINE_QUEUES_H

#include <stdatomic.h>

#include "plx_base.h"

#define ALIGNED_LINE __attribute__((aligned(PLX_CACHE_LINE)))

struct engine_queues {
	/* the engine's */
	struct plx_list spilled;    /* completion queues with entries behind the ring */
	struct plx_list broken;     /* ... that overran, their queue pairs not failed yet */
	struct plx_list cq_events;  /* ... with an event to deliver */
	struct plx_list srq_events; /* shared receive queues with one */
	/* counters of the engine's */
	uint64_t *cq_spilled, *cq_overruns, *notifications, *posts_refused;

	/* never written after set-up */
	bool inline_mode; /* one thread is both sides of every queue */
	int socket;       /* NUMA node of their memory; -1: any */
	/* Any thread: let the engine's pass a full barrier. Errors: TIMEOUT (it does not run) */
	enum plx_status (*barrier)(struct engine_queues *queues);

	/* whoever was made for this engine, and has to go before it: queues, queue pairs, address
	 * handles; any thread's */
	ALIGNED_LINE atomic_uint users;
};

#endif
