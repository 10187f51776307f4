/* SPDX-License-Identifier: BSD-3-Clause
 *
 * System calls about processors. It keeps nothing. Start with cpu_pin().
 */
#include "cpu.h"

#include <pthread.h>
#include <sched.h>

bool
cpu_is_allowed(uint32_t cpu)
{
	cpu_set_t allowed;
	return cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
	       CPU_ISSET(cpu, &allowed);
}

uint32_t
cpus_allowed(int *cpu, uint32_t n)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < CPU_SETSIZE && found < n; i++) {
		if (cpu_is_allowed(i))
			cpu[found++] = (int)i;
	}
	return found;
}

bool
cpu_pin(int cpu)
{
	cpu_set_t set;
	if (cpu < 0)
		return true;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}
