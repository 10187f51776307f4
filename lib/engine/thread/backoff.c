/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How to wait for what a thread of another core is about to do. There is one function.
 */
#include <rte_pause.h>
#include <sched.h>
#include <time.h>

#include "plx_thread.h"

enum {
	LOOKS = 256,   /* a spinning engine is through a cycle before; a pause is as long as one */
	PAUSES = 1000, /* it is in a long cycle */
	YIELDS = 1000, /* it may share our core */
	NAP_NS = 50 * PLX_USEC, /* it has been put to sleep, and so are we */
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
