/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events. The signal and who waits for it are wait.c's.
 * Start with CreateEventW().
 */
#include "win.h"

/* Names would be for other processes, and security is for handles that they inherit. */
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
