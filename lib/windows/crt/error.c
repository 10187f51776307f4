/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last error, per thread. Winsock shares it, as on Windows.
 * Start with SetLastError().
 */
#include "plx_crt.h"

#include <winsock2.h>

static __thread DWORD last_error;

DWORD
GetLastError(void)
{
	return last_error;
}

VOID
SetLastError(DWORD error)
{
	last_error = error;
}

int
WSAGetLastError(void)
{
	return (int)last_error;
}

VOID
WSASetLastError(int error)
{
	last_error = (DWORD)error;
}

BOOL
win_fail(DWORD error)
{
	last_error = error;
	return FALSE;
}
