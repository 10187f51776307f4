/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory and random numbers. Start with RtlCompareMemory().
 */
#include <wdm.h>

SIZE_T
RtlCompareMemory(const VOID *a, const VOID *b, SIZE_T length)
{
	const UCHAR *x = a, *y = b;
	SIZE_T n = 0;

	while (n < length && x[n] == y[n])
		n++;
	return n;
}

SIZE_T
RtlCompareMemoryUlong(PVOID source, SIZE_T length, ULONG pattern)
{
	const ULONG *words = source;
	SIZE_T n = 0;

	while (n < length / sizeof(ULONG) && words[n] == pattern)
		n++;
	return n * sizeof(ULONG);
}

PVOID
RtlSecureZeroMemory(PVOID memory, SIZE_T length)
{
	explicit_bzero(memory, length);
	return memory;
}

VOID
RtlCopyMemoryNonTemporal(VOID *to, const VOID *from, SIZE_T length)
{
	memcpy(to, from, length);
}

BOOLEAN
RtlIsZeroMemory(PVOID buffer, SIZE_T length)
{
	const UCHAR *bytes = buffer;

	for (SIZE_T i = 0; i < length; i++)
		if (bytes[i] != 0)
			return FALSE;
	return TRUE;
}

/* A step of Lehmer's generator, as documented for RtlUniform(). */
static ULONG
step(ULONG seed)
{
	return (ULONG)(((ULONGLONG)seed * 0x7fffffed + 0x7fffffc3) % MAXLONG);
}

ULONG
RtlRandomEx(PULONG seed)
{
	ULONG high = step(*seed);

	/* The low bits of one step alone have short periods. */
	*seed = step(high);
	return (high ^ *seed << 16 ^ *seed >> 15) % MAXLONG;
}

ULONG
RtlRandom(PULONG seed)
{
	return RtlRandomEx(seed);
}
