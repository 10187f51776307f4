/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors as Windows numbers them: groups of 64, one bit each.
 * It pins nothing. The configuration file says where the engine runs, and one thread of the session
 * notifies waiters, whatever affinity a queue was created with. Start with nd2_affinity_get().
 */
#include "cq.h"

#include <sched.h>

enum {
	GROUP_CPUS = 64,
};

/* The processors of one group in a cpu_set_t. */
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
	/* The system has more processors than a cpu_set_t; the first one always exists. */
	if (!plx_session_cpus(session, &cpus))
		CPU_SET(0, &cpus);
	*affinity = 0;
	for (USHORT i = 0; *affinity == 0 && i < CPU_SETSIZE / GROUP_CPUS; i++) {
		*group = i;
		*affinity = of_group(&cpus, i);
	}
	return ND_SUCCESS;
}
