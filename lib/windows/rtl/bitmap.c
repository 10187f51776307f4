/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bitmaps in the driver's memory. A search goes from run to run. It locks nothing.
 * Start with run_end().
 */
#include <wdm.h>

#include <stdbool.h>

enum {
	BITS = 32, /* of a word */
};

VOID
RtlInitializeBitMap(PRTL_BITMAP map, PULONG buffer, ULONG size)
{
	*map = (RTL_BITMAP){size, buffer};
}

BOOLEAN
RtlTestBit(PRTL_BITMAP map, ULONG bit)
{
	return (BOOLEAN)RtlCheckBit(map, bit);
}

VOID
RtlClearBit(PRTL_BITMAP map, ULONG bit)
{
	map->Buffer[bit / BITS] &= ~(1u << bit % BITS);
}

VOID
RtlSetBit(PRTL_BITMAP map, ULONG bit)
{
	map->Buffer[bit / BITS] |= 1u << bit % BITS;
}

static void
change(PRTL_BITMAP map, ULONG from, ULONG count, bool set)
{
	for (; count > 0; from++, count--) {
		if (from % BITS == 0 && count >= BITS) {
			map->Buffer[from / BITS] = set ? MAXULONG : 0;
			from += BITS - 1;
			count -= BITS - 1;
		} else if (set) {
			RtlSetBit(map, from);
		} else {
			RtlClearBit(map, from);
		}
	}
}

VOID
RtlClearBits(PRTL_BITMAP map, ULONG from, ULONG count)
{
	change(map, from, count, false);
}

VOID
RtlSetBits(PRTL_BITMAP map, ULONG from, ULONG count)
{
	change(map, from, count, true);
}

VOID
RtlClearAllBits(PRTL_BITMAP map)
{
	change(map, 0, map->SizeOfBitMap, false);
}

VOID
RtlSetAllBits(PRTL_BITMAP map)
{
	change(map, 0, map->SizeOfBitMap, true);
}

/* Where the bits from `at` on are no longer of this value. Returns: at most `end` */
static ULONG
run_end(PRTL_BITMAP map, ULONG at, ULONG end, bool set)
{
	const ULONG whole = set ? MAXULONG : 0;

	while (at < end && RtlCheckBit(map, at) == set) {
		if (at % BITS == 0 && end - at >= BITS && map->Buffer[at / BITS] == whole)
			at += BITS;
		else
			at++;
	}
	return at;
}

static BOOLEAN
are_bits(PRTL_BITMAP map, ULONG from, ULONG length, bool set)
{
	if (length == 0 || from >= map->SizeOfBitMap || length > map->SizeOfBitMap - from)
		return FALSE;
	return (BOOLEAN)(run_end(map, from, from + length, set) == from + length);
}

BOOLEAN
RtlAreBitsClear(PRTL_BITMAP map, ULONG from, ULONG length)
{
	return are_bits(map, from, length, false);
}

BOOLEAN
RtlAreBitsSet(PRTL_BITMAP map, ULONG from, ULONG length)
{
	return are_bits(map, from, length, true);
}

ULONG
RtlNumberOfSetBits(PRTL_BITMAP map)
{
	ULONG whole = map->SizeOfBitMap / BITS, rest = map->SizeOfBitMap % BITS, n = 0;

	for (ULONG i = 0; i < whole; i++)
		n += (ULONG)__builtin_popcount(map->Buffer[i]);
	if (rest > 0)
		n += (ULONG)__builtin_popcount(map->Buffer[whole] & ((1u << rest) - 1));
	return n;
}

ULONG
RtlNumberOfClearBits(PRTL_BITMAP map)
{
	return map->SizeOfBitMap - RtlNumberOfSetBits(map);
}

CCHAR
RtlNumberOfSetBitsUlongPtr(ULONG_PTR target)
{
	return (CCHAR)__builtin_popcountl(target);
}

/* A run of `count` bits that begins in from..end-1. */
static ULONG
find(PRTL_BITMAP map, ULONG count, ULONG from, ULONG end, bool set)
{
	ULONG at = from;

	while (at < end) {
		ULONG stop;

		at = run_end(map, at, end, !set);
		if (at == end)
			break;
		stop = run_end(map, at, map->SizeOfBitMap, set);
		if (stop - at >= count)
			return at;
		at = stop;
	}
	return RTL_BITS_NOT_FOUND;
}

static ULONG
find_from(PRTL_BITMAP map, ULONG count, ULONG hint, bool set)
{
	ULONG found;

	if (count == 0)
		return hint & ~7u;
	if (hint >= map->SizeOfBitMap)
		hint = 0;
	found = find(map, count, hint, map->SizeOfBitMap, set);
	return found == RTL_BITS_NOT_FOUND ? find(map, count, 0, hint, set) : found;
}

ULONG
RtlFindClearBits(PRTL_BITMAP map, ULONG count, ULONG hint)
{
	return find_from(map, count, hint, false);
}

ULONG
RtlFindSetBits(PRTL_BITMAP map, ULONG count, ULONG hint)
{
	return find_from(map, count, hint, true);
}

ULONG
RtlFindClearBitsAndSet(PRTL_BITMAP map, ULONG count, ULONG hint)
{
	ULONG found = RtlFindClearBits(map, count, hint);

	if (found != RTL_BITS_NOT_FOUND)
		RtlSetBits(map, found, count);
	return found;
}

ULONG
RtlFindSetBitsAndClear(PRTL_BITMAP map, ULONG count, ULONG hint)
{
	ULONG found = RtlFindSetBits(map, count, hint);

	if (found != RTL_BITS_NOT_FOUND)
		RtlClearBits(map, found, count);
	return found;
}

/* ---- runs ---- */

ULONG
RtlFindNextForwardRunClear(PRTL_BITMAP map, ULONG from, PULONG start)
{
	if (from >= map->SizeOfBitMap) {
		*start = from;
		return 0;
	}
	*start = run_end(map, from, map->SizeOfBitMap, true);
	return run_end(map, *start, map->SizeOfBitMap, false) - *start;
}

ULONG
RtlFindFirstRunClear(PRTL_BITMAP map, PULONG start)
{
	return RtlFindNextForwardRunClear(map, 0, start);
}

ULONG
RtlFindLastBackwardRunClear(PRTL_BITMAP map, ULONG from, PULONG start)
{
	ULONG end;

	if (map->SizeOfBitMap == 0) {
		*start = 0;
		return 0;
	}
	end = from < map->SizeOfBitMap ? from + 1 : map->SizeOfBitMap;
	while (end > 0 && RtlCheckBit(map, end - 1))
		end--;
	*start = end;
	while (*start > 0 && !RtlCheckBit(map, *start - 1))
		--*start;
	return end - *start;
}

ULONG
RtlFindClearRuns(PRTL_BITMAP map, PRTL_BITMAP_RUN runs, ULONG size, BOOLEAN longest)
{
	ULONG used = 0, start, length;

	for (ULONG at = 0; (length = RtlFindNextForwardRunClear(map, at, &start)) > 0;
	     at = start + length) {
		ULONG place = used;

		/* The longest come first, and push the shortest out. */
		while (longest && place > 0 && runs[place - 1].NumberOfBits < length)
			place--;
		if (place == size && (longest || used == size)) {
			if (!longest)
				break;
			continue;
		}
		used += used < size;
		for (ULONG i = used - 1; i > place; i--)
			runs[i] = runs[i - 1];
		runs[place] = (RTL_BITMAP_RUN){start, length};
	}
	return used;
}

ULONG
RtlFindLongestRunClear(PRTL_BITMAP map, PULONG start)
{
	RTL_BITMAP_RUN run = {0};

	RtlFindClearRuns(map, &run, 1, TRUE);
	*start = run.StartingIndex;
	return run.NumberOfBits;
}

CCHAR
RtlFindLeastSignificantBit(ULONGLONG set)
{
	return (CCHAR)(set ? __builtin_ctzll(set) : -1);
}

CCHAR
RtlFindMostSignificantBit(ULONGLONG set)
{
	return (CCHAR)(set ? 63 - __builtin_clzll(set) : -1);
}
