/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors as Windows numbers them: groups of 64, a bit each.
 * It pins nothing: where the engine runs is in the configuration file, and whoever waits is told by
 * the session's one thread, whatever a queue was wished for. Start with nd2_affinity_get().
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

HRESULT
nd2_affinity_get(struct plx_session *session, USHORT *group, KAFFINITY *affinity)
{
	cpu_set_t cpus;

	if (group == NULL || affinity == NULL)
		return ND_INVALID_PARAMETER;
	CPU_ZERO(&cpus);
	/* More processors than a cpu_set_t has: all the same, the first one is there. */
	if (!plx_session_cpus(session, &cpus))
		CPU_SET(0, &cpus);
	*affinity = 0;
	for (USHORT i = 0; *affinity == 0 && i < CPU_SETSIZE / GROUP_CPUS; i++) {
		*group = i;
		*affinity = of_group(&cpus, i);
	}
	return ND_SUCCESS;
}
