/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for a thread on another core. There is one function.
 */
#include <rte_pause.h>
#include <sched.h>
#include <time.h>

#include "plx_thread.h"

enum {
	LOOKS = 256,   /* a spinning engine ends a cycle in this time; a pause takes as long */
	PAUSES = 1000, /* the engine may be in a long cycle */
	YIELDS = 1000, /* the engine may share our core */
	NAP_NS = 50 * PLX_USEC, /* the engine's thread is not running: sleep too */
};

void
plx_engine_backoff(uint32_t *looks)
{
	static const struct timespec nap = {.tv_nsec = NAP_NS};

	if (*looks >= LOOKS + PAUSES + YIELDS) {
		nanosleep(&nap, NULL);
		return;
	}
	if (++*looks < LOOKS)
		return;
	if (*looks < LOOKS + PAUSES)
		rte_pause();
	else
		sched_yield();
}
