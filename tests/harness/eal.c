/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts the EAL for a test: see eal.h. It never uses hugepages, so that tests run anywhere, and it
 * does not pin the test's threads to a core. There is one function.
 */
#include <rte_eal.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "plx_base.h"
#include "eal.h"

void
test_eal_start(void)
{
	static bool started;
	char name[] = "test", core[16], memory[] = "-m512", no_huge[] = "--no-huge";
	char no_pci[] = "--no-pci", quiet[] = "--log-level=3";
	char no_telemetry[] = "--no-telemetry", alone[] = "--no-shconf", prefix[64];
	char *argv[] = {name, core, memory, no_huge, no_pci, quiet, no_telemetry, alone, prefix};
	cpu_set_t cores;
	int first = 0;

	if (started)
		return;
	started = true;
	PLX_ASSERT(sched_getaffinity(0, sizeof(cores), &cores) == 0);
	while (!CPU_ISSET(first, &cores))
		first++;
	snprintf(core, sizeof(core), "-l%d", first);
	snprintf(prefix, sizeof(prefix), "--file-prefix=plx-test-%d", (int)getpid());
	PLX_ASSERT(rte_eal_init((int)PLX_COUNT_OF(argv), argv) >= 0);
	/* The EAL ties its first thread to its core, and threads inherit that. */
	PLX_ASSERT(sched_setaffinity(0, sizeof(cores), &cores) == 0);
}
