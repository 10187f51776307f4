/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked functions in C, on LONG, long and unsigned.
 */
#include <windows.h>

int
main(void)
{
	volatile LONG a = 0;
	volatile long b = 0;
	unsigned c = 1;
	LONGLONG d = 5;
	PVOID p = NULL;

	if (InterlockedIncrement(&a) != 1 || InterlockedDecrement(&b) != -1)
		return 1;
	if (InterlockedCompareExchange(&c, 3, 1) != 1 || InterlockedCompareExchange(&c, 4, 1) != 3)
		return 2;
	if (InterlockedExchangeAdd64(&d, 2) != 5 || d != 7 || InterlockedExchange(&a, 4) != 1)
		return 3;
	if (InterlockedExchangePointer(&p, &d) != NULL || InterlockedXor(&c, 1) != 3 || c != 2)
		return 4;
	return 0;
}
