/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The system's clock, and pauses between two questions to a host. The simulator has another file
 * in its place (decision 38). There are two functions.
 */
#include <sched.h>
#include <time.h>

#include "plx_objects.h"

uint64_t
plx_steady_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PLX_SEC + (uint64_t)t.tv_nsec;
}

void
plx_adapter_pause(struct plx_adapter *adapter, uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / PLX_SEC),
				   .tv_nsec = (long)(ns % PLX_SEC)};

	if (!adapter->inline_mode)
		nanosleep(&t, NULL);
	else if (adapter_run(adapter, 0) == 0)
		sched_yield();
}
