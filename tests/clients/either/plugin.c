/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that knows when it is loaded: by DllMain(), or by a constructor. It says so, and what
 * it has been told; -DREFUSES makes one that does not want to be loaded.
 */
#include "either.h"

#include <stdio.h>

static int loads;

#ifdef _WIN32
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);

BOOL WINAPI
DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
	if (reason == DLL_PROCESS_ATTACH)
		loads++;
	printf("DllMain: %s, %s, %s\n", reason == DLL_PROCESS_ATTACH ? "attach" : "detach",
	       instance ? "itself" : "nobody", reserved ? "with the process" : "asked for");
	fflush(stdout);
#ifdef REFUSES
	return FALSE;
#else
	return TRUE;
#endif
}
#else
__attribute__((constructor)) static void
begin(void)
{
	loads++;
}
#endif

EITHER_EXPORT int EITHER_CALL either_loads(void);

EITHER_EXPORT int EITHER_CALL
either_loads(void)
{
	return loads;
}
