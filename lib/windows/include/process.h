/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of Microsoft's C library, the same as those of CreateThread().
 */
#ifndef PLX_WIN_PROCESS_H
#define PLX_WIN_PROCESS_H

#include "windows.h"

#include <unistd.h>

typedef unsigned(__stdcall *_beginthreadex_proc_type)(void *argument);

PLX_WIN_BEGIN

/** Returns: a handle, to be closed by the caller; 0 and errno */
uintptr_t _beginthreadex(void *security, unsigned stack, _beginthreadex_proc_type run,
			 void *argument, unsigned flags, unsigned *id) PLX_WIN_NAME(_beginthreadex);
DECLSPEC_NORETURN void _endthreadex(unsigned code) PLX_WIN_NAME(_endthreadex);

PLX_WIN_END

#define _getpid getpid

#endif
