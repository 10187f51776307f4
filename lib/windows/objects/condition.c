/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Condition variables. A thread enters the table of park.c before it releases the lock, so a wake
 * by the next lock holder is not lost. The variable itself is never written.
 * Start with SleepConditionVariableSRW().
 */
#include "park.h"

#include <synchapi.h>

VOID
InitializeConditionVariable(PCONDITION_VARIABLE condition)
{
	condition->Ptr = NULL;
}

static void
begin(struct win_park *park, PCONDITION_VARIABLE condition)
{
	win_park_lock(condition);
	win_park_begin(park, condition, 0);
	win_park_unlock(condition);
}

BOOL
SleepConditionVariableCS(PCONDITION_VARIABLE condition, PCRITICAL_SECTION section,
			 DWORD milliseconds)
{
	struct win_park park;
	bool woken;

	begin(&park, condition);
	LeaveCriticalSection(section);
	woken = win_park_sleep(&park, win_deadline(milliseconds), true);
	EnterCriticalSection(section);
	return woken || win_fail(ERROR_TIMEOUT);
}

BOOL
SleepConditionVariableSRW(PCONDITION_VARIABLE condition, PSRWLOCK lock, DWORD milliseconds,
			  ULONG flags)
{
	struct win_park park;
	bool woken, shared = flags & CONDITION_VARIABLE_LOCKMODE_SHARED;

	if (flags & ~(ULONG)CONDITION_VARIABLE_LOCKMODE_SHARED)
		return win_fail(ERROR_INVALID_PARAMETER);
	begin(&park, condition);
	if (shared)
		ReleaseSRWLockShared(lock);
	else
		ReleaseSRWLockExclusive(lock);
	woken = win_park_sleep(&park, win_deadline(milliseconds), true);
	if (shared)
		AcquireSRWLockShared(lock);
	else
		AcquireSRWLockExclusive(lock);
	return woken || win_fail(ERROR_TIMEOUT);
}

VOID
WakeConditionVariable(PCONDITION_VARIABLE condition)
{
	win_unpark(condition, false);
}

VOID
WakeAllConditionVariable(PCONDITION_VARIABLE condition)
{
	win_unpark(condition, true);
}
