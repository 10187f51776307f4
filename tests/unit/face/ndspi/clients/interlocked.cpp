// SPDX-License-Identifier: BSD-3-Clause
//
// Interlocked functions on LONG, long, unsigned and 64 bits, each of its own width.
#include <windows.h>

int
main()
{
	volatile LONG a = 0;
	volatile long b = 0;
	volatile unsigned c = 1;
	volatile long long d = 5;
	LONG64 e = 0;
	LONG guard[2] = {0, 0};
	int x = 0;
	PVOID p = NULL;

	if (InterlockedIncrement(&a) != 1 || InterlockedDecrement(&a) != 0)
		return 1;
	if (InterlockedIncrement(&b) != 1 || InterlockedExchange(&b, 7) != 1)
		return 2;
	if (InterlockedCompareExchange(&c, 3, 1) != 1 || InterlockedCompareExchange(&c, 4, 1) != 3)
		return 3;
	if (InterlockedExchangeAdd64(&d, (LONGLONG)2) != 5 || d != 7 ||
	    InterlockedIncrement64(&e) != 1)
		return 4;
	guard[0] = -1;
	if (InterlockedIncrement(&guard[0]) != 0 || guard[1] != 0)
		return 5;
	if (InterlockedOr(&c, 8) != 3 || InterlockedAnd(&c, 8u) != 11 ||
	    InterlockedAdd(&c, 2) != 10)
		return 6;
	if (InterlockedCompareExchangePointer(&p, &x, NULL) != NULL || p != &x)
		return 7;
	return 0;
}
