/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The push locks that a thread holds, with the checks on: a lock alone does not know its readers.
 * Nothing is kept with the checks off.
 * Start with held_begin().
 */
#include "ex.h"

enum {
	HELD_MAX = 32, /* more are not checked */
};

static _Thread_local struct {
	unsigned int count, untold; /* untold: acquired beyond HELD_MAX, and not released */
	const volatile void *locks[HELD_MAX];
	enum held_mode modes[HELD_MAX];
} held;

static int
find(const volatile void *lock)
{
	for (unsigned int i = held.count; i--;)
		if (held.locks[i] == lock)
			return (int)i;
	return -1;
}

void
held_require_region(const char *call)
{
	plx_ke_require(call, APC_LEVEL);
	if (plx_ke_checks() && !KeAreApcsDisabled())
		plx_wdk_stop("%s was called outside of a region without APCs; "
			     "KeEnterCriticalRegion() begins one",
			     call);
}

void
held_begin(const char *call, const volatile void *lock)
{
	held_require_region(call);
	if (plx_ke_checks() && find(lock) >= 0)
		plx_wdk_stop("%s was called for %p by a thread that holds it", call,
			     (const void *)(uintptr_t)lock);
}

void
held_add(const volatile void *lock, enum held_mode mode)
{
	if (!plx_ke_checks())
		return;
	if (held.count == HELD_MAX) {
		held.untold++;
		return;
	}
	held.locks[held.count] = lock;
	held.modes[held.count++] = mode;
}

void
held_remove(const char *call, const volatile void *lock, enum held_mode mode)
{
	int i = find(lock);

	held_require_region(call);
	if (!plx_ke_checks())
		return;
	if (i >= 0 && held.modes[i] == mode) {
		held.count--;
		held.locks[i] = held.locks[held.count];
		held.modes[i] = held.modes[held.count];
	} else if (i < 0 && held.untold) {
		held.untold--;
	} else {
		plx_wdk_stop("%s was called for %p by a thread that does not hold it so", call,
			     (const void *)(uintptr_t)lock);
	}
}
