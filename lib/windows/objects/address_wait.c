/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for a value in memory to change. Waiting threads are in the table of park.c. The value is
 * read under its bucket's lock, after the thread has entered the table.
 * Start with WaitOnAddress().
 */
#include "park.h"

#include <synchapi.h>

/* Is the value still equal to the one compared with? */
static bool
is_same(const volatile void *address, const void *compare, size_t bytes)
{
	switch (bytes) {
	case 1:
		return __atomic_load_n((const volatile uint8_t *)address, __ATOMIC_ACQUIRE) ==
		       *(const uint8_t *)compare;
	case 2:
		return __atomic_load_n((const volatile uint16_t *)address, __ATOMIC_ACQUIRE) ==
		       *(const uint16_t *)compare;
	case 4:
		return __atomic_load_n((const volatile uint32_t *)address, __ATOMIC_ACQUIRE) ==
		       *(const uint32_t *)compare;
	default:
		return __atomic_load_n((const volatile uint64_t *)address, __ATOMIC_ACQUIRE) ==
		       *(const uint64_t *)compare;
	}
}

BOOL
WaitOnAddress(volatile VOID *address, PVOID compare, SIZE_T bytes, DWORD milliseconds)
{
	struct win_park park;
	bool same;

	if (!address || !compare || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return win_fail(ERROR_INVALID_PARAMETER);
	if (!is_same(address, compare, bytes))
		return TRUE;
	if (!milliseconds) {
		if (win_pump_once() && !is_same(address, compare, bytes))
			return TRUE;
		return win_fail(ERROR_TIMEOUT);
	}
	win_park_lock(address);
	win_park_begin(&park, address, 0);
	same = is_same(address, compare, bytes);
	if (!same)
		win_park_cancel(&park);
	win_park_unlock(address);
	if (!same)
		return TRUE;
	return win_park_sleep(&park, win_deadline(milliseconds), true) || win_fail(ERROR_TIMEOUT);
}

VOID
WakeByAddressSingle(PVOID address)
{
	win_unpark(address, false);
}

VOID
WakeByAddressAll(PVOID address)
{
	win_unpark(address, true);
}
