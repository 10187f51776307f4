/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that tells its program all that DllMain() is told. TOLD_NAME is its letter; of threads
 * -DTOLD_QUIET does not want to know; -DTOLD_STARTS starts one when it is loaded.
 */
#include <windows.h>

#include "told.h"

#ifndef __cplusplus
BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);
#endif

static HINSTANCE mine;

BOOL WINAPI
DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
	if (reason == DLL_PROCESS_ATTACH)
		mine = instance;
	told_enter(TOLD_NAME, reason, reserved, instance == mine);
#ifdef TOLD_QUIET
	if (reason == DLL_PROCESS_ATTACH && !DisableThreadLibraryCalls(instance))
		return FALSE;
#endif
#ifdef TOLD_STARTS
	if (reason == DLL_PROCESS_ATTACH)
		CloseHandle(CreateThread(NULL, 0, told_routine, NULL, 0, NULL));
#endif
	told_leave();
	return reason == DLL_PROCESS_ATTACH; /* what it says of all others is of no meaning */
}

char
told_name(void)
{
	return TOLD_NAME;
}
