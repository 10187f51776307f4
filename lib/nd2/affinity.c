/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors as Windows numbers them: groups of 64, a bit each.
 * It pins nothing: where the engine runs is in the configuration file, and a wish is a hint.
 * Start with nd2_affinity_choose().
 */
#include "cq.h"

#include <sched.h>

enum {
	GROUP_CPUS = 64,
};

/* Those of one group in a set of the system's. */
static KAFFINITY
of_group(const cpu_set_t *cpus, unsigned int group)
{
	KAFFINITY mask = 0;

	for (unsigned int i = 0; i < GROUP_CPUS; i++)
		if (CPU_ISSET(group * GROUP_CPUS + i, cpus))
			mask |= (KAFFINITY)1 << i;
	return mask;
}

void
nd2_affinity_choose(USHORT wished_group, KAFFINITY wished, USHORT *group, KAFFINITY *affinity)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	/* More processors than a cpu_set_t has: all the same, the first one is there. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		CPU_SET(0, &cpus);
	*group = wished_group;
	*affinity = 0;
	if (wished != 0 && wished_group < CPU_SETSIZE / GROUP_CPUS)
		*affinity = wished & of_group(&cpus, wished_group);
	for (USHORT i = 0; *affinity == 0 && i < CPU_SETSIZE / GROUP_CPUS; i++) {
		*group = i;
		*affinity = of_group(&cpus, i);
	}
}
