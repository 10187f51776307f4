/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Local memory on the process heap: memory that calls allocate for the program to free. It never
 * moves, so a handle is an address.
 * Start with LocalAlloc().
 */
#include "plx_crt.h"

#include <stdbool.h>

HLOCAL
LocalAlloc(UINT flags, SIZE_T bytes)
{
	if (flags & ~(UINT)LHND) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return HeapAlloc(GetProcessHeap(), flags & LMEM_ZEROINIT ? HEAP_ZERO_MEMORY : 0, bytes);
}

/* Is it a block? Reports errors as the Local functions do. */
static bool
is_block(HLOCAL memory)
{
	return (memory && HeapSize(GetProcessHeap(), 0, memory) != (SIZE_T)-1) ||
	       win_fail(ERROR_INVALID_HANDLE);
}

HLOCAL
LocalReAlloc(HLOCAL memory, SIZE_T bytes, UINT flags)
{
	if (flags & ~(UINT)LHND) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	if (!is_block(memory))
		return NULL;
	return HeapReAlloc(GetProcessHeap(), flags & LMEM_ZEROINIT ? HEAP_ZERO_MEMORY : 0, memory,
			   bytes);
}

HLOCAL
LocalFree(HLOCAL memory)
{
	if (!memory)
		return NULL;
	if (!is_block(memory))
		return memory;
	HeapFree(GetProcessHeap(), 0, memory);
	return NULL;
}

SIZE_T
LocalSize(HLOCAL memory)
{
	return is_block(memory) ? HeapSize(GetProcessHeap(), 0, memory) : 0;
}

LPVOID
LocalLock(HLOCAL memory)
{
	return is_block(memory) ? memory : NULL;
}

BOOL
LocalUnlock(HLOCAL memory)
{
	if (is_block(memory))
		SetLastError(NO_ERROR);
	return FALSE;
}
