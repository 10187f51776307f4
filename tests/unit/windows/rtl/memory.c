/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory, bitmaps against a model of one byte for each bit, and arithmetic that tells of overflows.
 * Start with bitmaps_do_as_a_row_of_bytes_does().
 */
#include "wide.h"

#include <ntintsafe.h>

enum {
	BITS = 100,
	ROUNDS = 2000,
};

static unsigned
draw(unsigned below)
{
	static ULONG seed = 7;

	return RtlRandomEx(&seed) % below;
}

/* The first run of `count` such bits that begins in from..end-1. */
static ULONG
model_find(const char *bits, char value, ULONG count, ULONG from, ULONG end)
{
	for (ULONG i = from; i < end && i + count <= BITS; i++) {
		ULONG n = 0;

		while (n < count && bits[i + n] == value)
			n++;
		if (n == count)
			return i;
	}
	return RTL_BITS_NOT_FOUND;
}

static void
check_map(PRTL_BITMAP map, const char *bits)
{
	ULONG count = 1 + draw(40), hint = draw(BITS), set = 0, start, run, expected;
	ULONG first = model_find(bits, 0, count, hint, BITS);

	if (first == RTL_BITS_NOT_FOUND)
		first = model_find(bits, 0, count, 0, hint);
	assert_int_equal(RtlFindClearBits(map, count, hint), first);
	first = model_find(bits, 1, count, 0, BITS);
	assert_int_equal(RtlFindSetBits(map, count, 0), first);
	for (ULONG i = 0; i < BITS; i++) {
		set += (ULONG)bits[i];
		assert_int_equal(RtlTestBit(map, i), bits[i]);
	}
	assert_int_equal(RtlNumberOfSetBits(map), set);
	assert_int_equal(RtlNumberOfClearBits(map), BITS - set);
	run = RtlFindNextForwardRunClear(map, hint, &start);
	expected = model_find(bits, 0, 1, hint, BITS);
	assert_int_equal(run == 0 ? RTL_BITS_NOT_FOUND : start, expected);
	assert_true(run == 0 || RtlAreBitsClear(map, start, run));
	assert_true(run == 0 || start + run == BITS || bits[start + run]);
	run = RtlFindLongestRunClear(map, &start);
	assert_true(run == 0 || RtlAreBitsClear(map, start, run));
	assert_int_equal(model_find(bits, 0, run + 1, 0, BITS), RTL_BITS_NOT_FOUND);
	run = RtlFindLastBackwardRunClear(map, hint, &start);
	assert_true(run == 0 || (start <= hint && RtlAreBitsClear(map, start, run)));
	for (ULONG i = run == 0 ? 0 : start + run; i <= hint; i++)
		assert_int_equal(bits[i], 1);
}

static void
bitmaps_do_as_a_row_of_bytes_does(void **state)
{
	ULONG buffer[BITS / 32 + 1] = {0, 0, 0, 0xfffffff0};
	char bits[BITS] = {0};
	RTL_BITMAP map;

	(void)state;
	RtlInitializeBitMap(&map, buffer, BITS);
	for (int i = 0; i < ROUNDS; i++) {
		ULONG from = draw(BITS), count = draw(BITS - from + 1);
		char value = (char)draw(2);

		if (value)
			RtlSetBits(&map, from, count);
		else
			RtlClearBits(&map, from, count);
		memset(bits + from, value, count);
		check_map(&map, bits);
	}
	assert_int_equal(buffer[3] >> 4, 0xfffffff);
}

static void
runs_are_found_by_place_or_by_length(void **state)
{
	ULONG buffer[1] = {0xf0f000f7}; /* clear: 3, 8 to 19, 24 to 27 */
	RTL_BITMAP_RUN runs[2];
	RTL_BITMAP map;

	(void)state;
	RtlInitializeBitMap(&map, buffer, 32);
	buffer[0] = 0xf0f000f7;
	assert_int_equal(RtlFindClearRuns(&map, runs, 2, FALSE), 2);
	assert_int_equal(runs[0].StartingIndex, 3);
	assert_int_equal(runs[1].StartingIndex, 8);
	assert_int_equal(RtlFindClearRuns(&map, runs, 2, TRUE), 2);
	assert_int_equal(runs[0].StartingIndex, 8);
	assert_int_equal(runs[0].NumberOfBits, 12);
	assert_int_equal(runs[1].StartingIndex, 24);
	assert_int_equal(RtlFindClearBitsAndSet(&map, 4, 20), 24);
	assert_int_equal(buffer[0], 0xfff000f7);
	assert_int_equal(RtlFindSetBitsAndClear(&map, 12, 0), 20);
	assert_int_equal(RtlFindClearBits(&map, 33, 0), RTL_BITS_NOT_FOUND);
	assert_false(RtlAreBitsClear(&map, 8, 0));
	assert_false(RtlAreBitsClear(&map, 30, 3));
	assert_int_equal(RtlFindLeastSignificantBit(0), -1);
	assert_int_equal(RtlFindMostSignificantBit(0x8001), 15);
	assert_int_equal(RtlFindLeastSignificantBit(0x8000), 15);
}

static void
memory_is_compared_up_to_the_first_difference(void **state)
{
	char secret[4] = "abc";
	ULONG words[] = {7, 7, 8};

	(void)state;
	assert_int_equal(RtlCompareMemory("abcd", "abxd", 4), 2);
	assert_int_equal(RtlCompareMemory("abcd", "abcd", 4), 4);
	assert_int_equal(RtlCompareMemoryUlong(words, sizeof(words), 7), 8);
	assert_true(RtlEqualMemory("abc", "abd", 2));
	assert_false(RtlIsZeroMemory(secret, 4));
	RtlSecureZeroMemory(secret, sizeof(secret));
	assert_true(RtlIsZeroMemory(secret, 4));
	assert_int_equal(RtlUshortByteSwap(0x1234), 0x3412);
	assert_int_equal(RtlUlongByteSwap(0x12345678), 0x78563412);
	assert_true(RtlUlonglongByteSwap(1) == 1ull << 56);
}

static void
arithmetic_tells_of_an_overflow(void **state)
{
	USHORT u;
	ULONG ul;
	LONG l;
	ULONGLONG ull;
	SIZE_T size;

	(void)state;
	assert_int_equal(RtlULongAdd(MAXULONG, 0, &ul), STATUS_SUCCESS);
	assert_int_equal(RtlULongAdd(MAXULONG, 1, &ul), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(ul, MAXULONG);
	assert_int_equal(RtlULongMult(0x10000, 0x10000, &ul), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlULongLongSub(0, 1, &ull), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlSizeTAdd(SIZE_MAX, 1, &size), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlSizeTMult(3, 5, &size), STATUS_SUCCESS);
	assert_int_equal(size, 15);
	assert_int_equal(RtlUShortSub(1, 2, &u), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(u, 0xffff);
	assert_int_equal(RtlLongAdd(MAXLONG, 1, &l), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlULongToUShort(65536, &u), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlULongToUShort(65535, &u), STATUS_SUCCESS);
	assert_int_equal(RtlLongToULong(-1, &ul), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlSizeTToULong(SIZE_MAX, &ul), STATUS_INTEGER_OVERFLOW);
	assert_int_equal(RtlULongLongToLong(5, &l), STATUS_SUCCESS);
	assert_int_equal(l, 5);
}

static void
sizes_and_addresses_are_rounded_to_powers_of_two(void **state)
{
	struct {
		ULONG Size;
		USHORT Words[3];
	} versioned;
	ULONG pattern[3] = {0};

	(void)state;
	assert_int_equal(ALIGN_UP(17, ULONG64), 24);
	assert_int_equal(ALIGN_UP_BY(4096, 4096), 4096);
	assert_int_equal(ALIGN_DOWN(17, ULONG64), 16);
	assert_int_equal(ALIGN_DOWN_BY(4095, 4096), 0);
	assert_ptr_equal(ALIGN_UP_POINTER_BY(0x123456789abcULL, 4096), 0x12345678a000ULL);
	assert_ptr_equal(ALIGN_DOWN_POINTER(0x123456789abfULL, ULONG64), 0x123456789ab8ULL);
	assert_int_equal(RTL_NUMBER_OF_FIELD(__typeof__(versioned), Words), 3);
	assert_true(RTL_CONTAINS_FIELD(&versioned, sizeof(versioned), Words));
	assert_false(RTL_CONTAINS_FIELD(&versioned, 9, Words));
	RtlFillMemoryUlong(pattern, 8, 0xabcd1234);
	assert_int_equal(pattern[0] & pattern[1], 0xabcd1234);
	assert_int_equal(pattern[2], 0);
}

static void
bits_rotate_and_bytes_swap(void **state)
{
	(void)state;
	assert_int_equal(_rotl8(0x81, 1), 0x03);
	assert_int_equal(_rotr8(0x81, 1), 0xc0);
	assert_int_equal(_rotl16(0x8001, 4), 0x0018);
	assert_int_equal(_rotr16(0x8001, 20), 0x1800);
	assert_int_equal(_rotl(0x80000001, 1), 3);
	assert_int_equal(_rotr(0x80000001, 33), 0xc0000000);
	assert_int_equal(_rotl(0x12345678, 0), 0x12345678);
	assert_int_equal(_rotl64(0x8000000000000001, 1), 3);
	assert_int_equal(_rotr64(0x8000000000000001, 1), 0xc000000000000000);
	assert_int_equal(_byteswap_ushort(0x1234), 0x3412);
	assert_int_equal(_byteswap_ulong(0x12345678), 0x78563412);
	assert_int_equal(_byteswap_uint64(0x0123456789abcdef), 0xefcdab8967452301);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_addresses_are_rounded_to_powers_of_two),
		cmocka_unit_test(bitmaps_do_as_a_row_of_bytes_does),
		cmocka_unit_test(runs_are_found_by_place_or_by_length),
		cmocka_unit_test(bits_rotate_and_bytes_swap),
		cmocka_unit_test(memory_is_compared_up_to_the_first_difference),
		cmocka_unit_test(arithmetic_tells_of_an_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
