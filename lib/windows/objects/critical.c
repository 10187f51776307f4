/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Critical sections: recursive mutexes in the client's memory. Waiting for one calls no pumps: its
 * holder runs client code, which does not depend on them.
 * Start with InitializeCriticalSection().
 */
#include "win_objects.h"

#include <synchapi.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(CRITICAL_SECTION), "a mutex fits");
_Static_assert(_Alignof(pthread_mutex_t) <= _Alignof(CRITICAL_SECTION), "a mutex fits");

static pthread_mutex_t *
mutex_of(LPCRITICAL_SECTION section)
{
	return (pthread_mutex_t *)(void *)section;
}

BOOL
InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spins)
{
	pthread_mutexattr_t attributes;
	int error;

	(void)spins; /* a hint, ignored: these mutexes sleep at once */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	error = pthread_mutex_init(mutex_of(section), &attributes);
	pthread_mutexattr_destroy(&attributes);
	return error ? win_fail(ERROR_NOT_ENOUGH_MEMORY) : TRUE;
}

VOID
InitializeCriticalSection(LPCRITICAL_SECTION section)
{
	InitializeCriticalSectionAndSpinCount(section, 0);
}

BOOL
InitializeCriticalSectionEx(LPCRITICAL_SECTION section, DWORD spins, DWORD flags)
{
	if (flags & ~(DWORD)CRITICAL_SECTION_NO_DEBUG_INFO)
		return win_fail(ERROR_INVALID_PARAMETER);
	return InitializeCriticalSectionAndSpinCount(section, spins);
}

DWORD
SetCriticalSectionSpinCount(LPCRITICAL_SECTION section, DWORD spins)
{
	(void)section;
	(void)spins;
	return 0;
}

VOID
EnterCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_lock(mutex_of(section));
}

BOOL
TryEnterCriticalSection(LPCRITICAL_SECTION section)
{
	return pthread_mutex_trylock(mutex_of(section)) == 0;
}

VOID
LeaveCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_unlock(mutex_of(section));
}

VOID
DeleteCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_destroy(mutex_of(section));
}
