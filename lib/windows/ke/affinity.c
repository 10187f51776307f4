/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a thread runs: bound to processors of a group, until it goes back to where it ran before.
 * Start with set().
 */
#include "ke.h"

/* Bind the calling thread. Returns: what it was bound to; mask 0: nothing */
static GROUP_AFFINITY
set(const GROUP_AFFINITY *affinity)
{
	PKTHREAD thread = ke_thread();
	GROUP_AFFINITY before = {.Mask = 0};
	cpu_set_t cpus = ke_cpus_of(affinity);

	if (thread->is_bound)
		before = thread->bound;
	else
		pthread_getaffinity_np(pthread_self(), sizeof(thread->unbound), &thread->unbound);
	thread->is_bound = true;
	thread->bound = *affinity;
	/* Where the process may not run, the thread stays where it is. */
	(void)pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	return before;
}

static void
revert(const GROUP_AFFINITY *affinity)
{
	PKTHREAD thread = ke_thread();

	if (affinity->Mask != 0) {
		set(affinity);
	} else if (thread->is_bound) {
		thread->is_bound = false;
		(void)pthread_setaffinity_np(pthread_self(), sizeof(thread->unbound),
					     &thread->unbound);
	}
}

static void
check(const char *call, const GROUP_AFFINITY *affinity)
{
	if (plx_ke_checks() && (affinity->Mask & KeQueryGroupAffinity(affinity->Group)) == 0)
		plx_wdk_stop("%s: no processor of group %u is in the mask 0x%zX", call,
			     affinity->Group, affinity->Mask);
}

KAFFINITY
KeSetSystemAffinityThreadEx(KAFFINITY mask)
{
	GROUP_AFFINITY affinity = {.Mask = mask};

	check("KeSetSystemAffinityThreadEx", &affinity);
	return set(&affinity).Mask;
}

VOID
KeSetSystemAffinityThread(KAFFINITY mask)
{
	GROUP_AFFINITY affinity = {.Mask = mask};

	check("KeSetSystemAffinityThread", &affinity);
	set(&affinity);
}

VOID
KeRevertToUserAffinityThreadEx(KAFFINITY mask)
{
	revert(&(GROUP_AFFINITY){.Mask = mask});
}

VOID
KeRevertToUserAffinityThread(VOID)
{
	revert(&(GROUP_AFFINITY){.Mask = 0});
}

VOID
KeSetSystemGroupAffinityThread(PGROUP_AFFINITY affinity, PGROUP_AFFINITY before)
{
	GROUP_AFFINITY old;

	check("KeSetSystemGroupAffinityThread", affinity);
	old = set(affinity);
	if (before != NULL)
		*before = old;
}

VOID
KeRevertToUserGroupAffinityThread(PGROUP_AFFINITY before)
{
	revert(before);
}
