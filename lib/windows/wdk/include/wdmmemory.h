/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: memory, order of bytes, random numbers, bitmaps. Copying and filling are in winnt.h.
 */
#ifndef PLX_WDK_WDMMEMORY_H
#define PLX_WDK_WDMMEMORY_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns: how many bytes are equal before the first that is not */
SIZE_T RtlCompareMemory(const VOID *Source1, const VOID *Source2, SIZE_T Length)
	PLX_WIN_NAME(RtlCompareMemory);
/** Compare with a pattern of 4 bytes. @param Source aligned to 4 @param Length a multiple of 4 */
SIZE_T RtlCompareMemoryUlong(PVOID Source, SIZE_T Length, ULONG Pattern)
	PLX_WIN_NAME(RtlCompareMemoryUlong);
/** Zero memory that nobody reads any more; the compiler does not leave it out. */
PVOID RtlSecureZeroMemory(PVOID ptr, SIZE_T cnt) PLX_WIN_NAME(RtlSecureZeroMemory);
/** Copy; the caches are not spared here. */
VOID RtlCopyMemoryNonTemporal(VOID *Destination, const VOID *Source, SIZE_T Length)
	PLX_WIN_NAME(RtlCopyMemoryNonTemporal);
/** Fill with a pattern of 4 bytes. @param Length [bytes] a multiple of 4 */
static inline VOID
RtlFillMemoryUlong(PVOID Destination, SIZE_T Length, ULONG Pattern)
{
	for (SIZE_T i = 0; i < Length / sizeof(Pattern); i++)
		((PULONG)Destination)[i] = Pattern;
}
/** Are all bytes 0? */
BOOLEAN RtlIsZeroMemory(PVOID Buffer, SIZE_T Length) PLX_WIN_NAME(RtlIsZeroMemory);

#define RtlCopyBytes        RtlCopyMemory
#define RtlZeroBytes        RtlZeroMemory
#define RtlFillBytes        RtlFillMemory
#define RtlCopyDeviceMemory RtlCopyMemory

/* Rounded to a multiple of a type's size or of a number, each a power of two. */
#define ALIGN_DOWN_BY(n, alignment) ((ULONG_PTR)(n) & ~((ULONG_PTR)(alignment)-1))
#define ALIGN_UP_BY(n, alignment)   ALIGN_DOWN_BY((ULONG_PTR)(n) + (alignment)-1, alignment)

#define ALIGN_DOWN_POINTER_BY(address, alignment) ((PVOID)ALIGN_DOWN_BY(address, alignment))
#define ALIGN_UP_POINTER_BY(address, alignment)   ((PVOID)ALIGN_UP_BY(address, alignment))

#define ALIGN_DOWN(n, type)               ALIGN_DOWN_BY(n, sizeof(type))
#define ALIGN_UP(n, type)                 ALIGN_UP_BY(n, sizeof(type))
#define ALIGN_DOWN_POINTER(address, type) ALIGN_DOWN_POINTER_BY(address, sizeof(type))
#define ALIGN_UP_POINTER(address, type)   ALIGN_UP_POINTER_BY(address, sizeof(type))

#define SYSTEM_CACHE_ALIGNMENT_SIZE 64

#define RtlUshortByteSwap(x)    __builtin_bswap16((USHORT)(x))
#define RtlUlongByteSwap(x)     __builtin_bswap32((ULONG)(x))
#define RtlUlonglongByteSwap(x) ((ULONGLONG)__builtin_bswap64((ULONGLONG)(x)))

/** A random number, 0 to MAXLONG - 1. @param Seed changes with every call */
ULONG RtlRandomEx(PULONG Seed) PLX_WIN_NAME(RtlRandomEx);
ULONG RtlRandom(PULONG Seed) PLX_WIN_NAME(RtlRandom);

/* Store and read what may not be aligned. */
#define PLX_WDK_UNALIGNED(name, type)                                    \
	static inline VOID RtlStore##name(type *Address, type Value)     \
	{                                                                \
		memcpy((void *)Address, &Value, sizeof(type));           \
	}                                                                \
	static inline VOID RtlRetrieve##name(type *To, const type *From) \
	{                                                                \
		memcpy((void *)To, (const void *)From, sizeof(type));    \
	}
PLX_WDK_UNALIGNED(Ushort, USHORT)
PLX_WDK_UNALIGNED(Ulong, ULONG)
PLX_WDK_UNALIGNED(Ulonglong, ULONGLONG)
#undef PLX_WDK_UNALIGNED

/* ---- bitmaps ---- */

/* Bit n is bit n % 32 of ULONG n / 32. */
typedef struct _RTL_BITMAP {
	ULONG SizeOfBitMap; /* bits */
	PULONG Buffer;
} RTL_BITMAP, *PRTL_BITMAP;

typedef struct _RTL_BITMAP_RUN {
	ULONG StartingIndex;
	ULONG NumberOfBits;
} RTL_BITMAP_RUN, *PRTL_BITMAP_RUN;

/** Describe the bits of a buffer, which it leaves as they are. @param SizeOfBitMap [bits] */
VOID RtlInitializeBitMap(PRTL_BITMAP BitMapHeader, PULONG BitMapBuffer, ULONG SizeOfBitMap)
	PLX_WIN_NAME(RtlInitializeBitMap);
VOID RtlClearAllBits(PRTL_BITMAP BitMapHeader) PLX_WIN_NAME(RtlClearAllBits);
VOID RtlSetAllBits(PRTL_BITMAP BitMapHeader) PLX_WIN_NAME(RtlSetAllBits);
VOID RtlClearBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber) PLX_WIN_NAME(RtlClearBit);
VOID RtlSetBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber) PLX_WIN_NAME(RtlSetBit);
BOOLEAN RtlTestBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber) PLX_WIN_NAME(RtlTestBit);
#define RtlCheckBit(BitMapHeader, BitNumber) \
	((((BitMapHeader)->Buffer[(BitNumber) / 32]) >> ((BitNumber) % 32)) & 1)
VOID RtlClearBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToClear)
	PLX_WIN_NAME(RtlClearBits);
VOID RtlSetBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToSet)
	PLX_WIN_NAME(RtlSetBits);
/** Returns: FALSE, too, if there are no bits or they are not all in the bitmap */
BOOLEAN RtlAreBitsClear(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
	PLX_WIN_NAME(RtlAreBitsClear);
BOOLEAN RtlAreBitsSet(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
	PLX_WIN_NAME(RtlAreBitsSet);
ULONG RtlNumberOfClearBits(PRTL_BITMAP BitMapHeader) PLX_WIN_NAME(RtlNumberOfClearBits);
ULONG RtlNumberOfSetBits(PRTL_BITMAP BitMapHeader) PLX_WIN_NAME(RtlNumberOfSetBits);
CCHAR RtlNumberOfSetBitsUlongPtr(ULONG_PTR Target) PLX_WIN_NAME(RtlNumberOfSetBitsUlongPtr);

#define RTL_BITS_NOT_FOUND ((ULONG)-1)
/**
 * Find a run of bits, beginning with the hint and then from the start.
 * Returns: its first index, for 0 bits HintIndex rounded down to a multiple of 8; 0xFFFFFFFF: none
 */
ULONG RtlFindClearBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
	PLX_WIN_NAME(RtlFindClearBits);
ULONG RtlFindSetBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
	PLX_WIN_NAME(RtlFindSetBits);
ULONG RtlFindClearBitsAndSet(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
	PLX_WIN_NAME(RtlFindClearBitsAndSet);
ULONG RtlFindSetBitsAndClear(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
	PLX_WIN_NAME(RtlFindSetBitsAndClear);
/**
 * Find runs of clear bits, in the order of their indices.
 * @param LocateLongestRuns TRUE: the longest ones, in the order of their lengths
 * Returns: how many of SizeOfRunArray were filled in
 */
ULONG RtlFindClearRuns(PRTL_BITMAP BitMapHeader, PRTL_BITMAP_RUN RunArray, ULONG SizeOfRunArray,
		       BOOLEAN LocateLongestRuns) PLX_WIN_NAME(RtlFindClearRuns);
/** Returns: the length of the run; 0: none */
ULONG RtlFindFirstRunClear(PRTL_BITMAP BitMapHeader, PULONG StartingIndex)
	PLX_WIN_NAME(RtlFindFirstRunClear);
ULONG RtlFindLongestRunClear(PRTL_BITMAP BitMapHeader, PULONG StartingIndex)
	PLX_WIN_NAME(RtlFindLongestRunClear);
/** The run at FromIndex or behind it. */
ULONG RtlFindNextForwardRunClear(PRTL_BITMAP BitMapHeader, ULONG FromIndex, PULONG StartingRunIndex)
	PLX_WIN_NAME(RtlFindNextForwardRunClear);
/** The run at FromIndex or before it. */
ULONG RtlFindLastBackwardRunClear(PRTL_BITMAP BitMapHeader, ULONG FromIndex,
				  PULONG StartingRunIndex)
	PLX_WIN_NAME(RtlFindLastBackwardRunClear);
/** Returns: the number of the bit; -1 of 0 */
CCHAR RtlFindLeastSignificantBit(ULONGLONG Set) PLX_WIN_NAME(RtlFindLeastSignificantBit);
CCHAR RtlFindMostSignificantBit(ULONGLONG Set) PLX_WIN_NAME(RtlFindMostSignificantBit);

#ifdef __cplusplus
}
#endif

#endif
