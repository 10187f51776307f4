/* SPDX-License-Identifier: BSD-3-Clause
 *
 * State shared by all queues of one engine: the lists in which they wait for it, and its counters
 * for them. This is all that a queue knows of its engine, which initialises it.
 */
#ifndef PLX_ENGINE_QUEUES_H
#define PLX_ENGINE_QUEUES_H

#include <stdatomic.h>

#include "plx_engine_rotation.h"
#include "plx_front.h"

struct engine_queues {
	/* written by the engine */
	struct plx_list spilled;    /* completion queues with a backlog */
	struct plx_list broken;     /* ... that overran, whose queue pairs have not failed yet */
	struct plx_list broken_rqs; /* receive queues with a forged index, likewise */
	struct plx_list eventful;   /* seats with events to deliver */
	struct rotation rotations[WAIT_KINDS]; /* seats with queue pairs that wait */
	/* the engine's counters */
	uint64_t *cq_spilled, *cq_overruns, *notifications, *posts_refused, *rings_forged;

	/* never written after set-up */
	bool inline_mode;           /* one thread is producer and consumer of every queue */
	int socket;                 /* NUMA node of their memory; -1: any */
	struct front_memory memory; /* of fronts that no other process sees */
	/* Make the engine's thread pass a full barrier. Any thread.
	 * Errors:  TIMEOUT (it does not run) */
	enum plx_status (*barrier)(struct engine_queues *queues);

	/* objects of this engine that must be destroyed before it: queues, queue pairs, address
	 * handles; written by any thread */
	PLX_ALIGNED_LINE atomic_uint users;
};

#endif
