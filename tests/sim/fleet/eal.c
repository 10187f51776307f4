/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the EAL of a process, and time as engines read it: plx_clock_ns() is defined here, so that
 * the engine's own, which reads the TSC, is not linked.
 * In virtual time a thread that waits for another looks at the clock; so that is when the other one
 * runs. A command call of worker mode is served this way, on one thread and always alike.
 * There are three functions.
 */
#include <rte_eal.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "fleet.h"

static struct host *reader;
static bool looked;

void
fleet_start(void)
{
	static bool started;
	char prefix[64];
	char *argv[] = {
		(char[]){"plx-sim"},     (char[]){"-l0"},           (char[]){"--no-huge"},
		(char[]){"-m192"},       (char[]){"--no-pci"},      (char[]){"--no-telemetry"},
		(char[]){"--no-shconf"}, (char[]){"--log-level=3"}, prefix};
	cpu_set_t cores;

	if (started)
		return;
	started = true;
	snprintf(prefix, sizeof(prefix), "--file-prefix=plx-sim-%d", (int)getpid());
	/* The EAL ties this thread to its core; several simulators run beside each other. */
	PLX_ASSERT(sched_getaffinity(0, sizeof(cores), &cores) == 0);
	PLX_ASSERT(rte_eal_init((int)PLX_COUNT_OF(argv), argv) >= 0);
	PLX_ASSERT(sched_setaffinity(0, sizeof(cores), &cores) == 0);
}

void
fleet_clock(struct host *host)
{
	reader = host;
	looked = false;
}

uint64_t
plx_clock_ns(void)
{
	struct host *host = reader;

	/* A call's first look is only for its deadline; and inline mode polls by itself. */
	if (looked && host->look != NULL)
		host->look(host);
	else if (looked && !host->inline_mode)
		for (uint32_t i = 0; i < host->cores; i++)
			plx_engine_poll(host->core[i].engine, clock_local(host->station));
	reader = host;
	looked = true;
	return clock_local(host->station);
}
