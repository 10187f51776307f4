/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events. The signal and its waiters are in wait.c.
 * Start with CreateEventW().
 */
#include "win_objects.h"

#include <synchapi.h>

/* Names are refused because they serve other processes, and security because it concerns inherited
 * handles. */
static HANDLE
create(bool named, bool manual, bool set)
{
	struct win_object *event;

	if (named) {
		win_fail(ERROR_NOT_SUPPORTED);
		return NULL;
	}
	event = win_object_create(WIN_EVENT);
	if (!event)
		return NULL;
	event->automatic = !manual;
	atomic_store_explicit(&event->state, set ? WIN_SIGNALLED : 0, memory_order_relaxed);
	return win_object_open(event);
}

HANDLE
CreateEventA(LPSECURITY_ATTRIBUTES security, BOOL manual, BOOL set, LPCSTR name)
{
	(void)security;
	return create(name != NULL, manual, set);
}

HANDLE
CreateEventW(LPSECURITY_ATTRIBUTES security, BOOL manual, BOOL set, LPCWSTR name)
{
	(void)security;
	return create(name != NULL, manual, set);
}

/* `access` matters only for handles opened by name. */
static HANDLE
create_by_flags(bool named, DWORD flags)
{
	if (flags & ~(DWORD)(CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET)) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return create(named, flags & CREATE_EVENT_MANUAL_RESET, flags & CREATE_EVENT_INITIAL_SET);
}

HANDLE
CreateEventExA(LPSECURITY_ATTRIBUTES security, LPCSTR name, DWORD flags, DWORD access)
{
	(void)security;
	(void)access;
	return create_by_flags(name != NULL, flags);
}

HANDLE
CreateEventExW(LPSECURITY_ATTRIBUTES security, LPCWSTR name, DWORD flags, DWORD access)
{
	(void)security;
	(void)access;
	return create_by_flags(name != NULL, flags);
}

BOOL
SetEvent(HANDLE handle)
{
	struct win_object *event = win_object_hold(handle, WIN_EVENT);

	if (!event)
		return FALSE;
	win_signal(event);
	win_object_release(event);
	return TRUE;
}

BOOL
ResetEvent(HANDLE handle)
{
	struct win_object *event = win_object_hold(handle, WIN_EVENT);

	if (!event)
		return FALSE;
	win_unsignal(event);
	win_object_release(event);
	return TRUE;
}
