/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked functions and bits that drivers use. Start with
 * a_bit_may_lie_beyond_the_first_word().
 */
#include <wdm.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
a_bit_may_lie_beyond_the_first_word(void **state)
{
	LONG words[2] = {0, 0};
	LONG64 large[2] = {0, 0};

	(void)state;
	assert_int_equal(BitTestAndSet(words, 33), 0);
	assert_int_equal(words[1], 2);
	assert_int_equal(BitTest(words, 33), 1);
	assert_int_equal(BitTestAndComplement(words, 33), 1);
	assert_int_equal(BitTestAndSet(words, 31), 0);
	assert_int_equal(words[0], (LONG)0x80000000);
	assert_int_equal(BitTestAndReset(words, 31), 1);
	assert_int_equal(words[0] | words[1], 0);
	assert_int_equal(BitTestAndSet64(large, 127), 0);
	assert_int_equal(BitTest64(large, 127), 1);
	assert_int_equal(BitTest64(large, 63), 0);
	assert_int_equal(BitTestAndReset64(large, 127), 1);
	assert_int_equal(BitTestAndComplement64(large, 5), 0);
	assert_int_equal(large[0], 32);
	assert_int_equal(large[1], 0);
}

static void
a_scan_finds_the_first_or_the_last_bit(void **state)
{
	ULONG index = 77;

	(void)state;
	assert_int_equal(BitScanForward(&index, 0) + BitScanReverse64(&index, 0), 0);
	assert_int_equal(index, 77);
	assert_int_equal(BitScanForward(&index, 0x80000010), 1);
	assert_int_equal(index, 4);
	assert_int_equal(BitScanReverse(&index, 0x00000013), 1);
	assert_int_equal(index, 4);
	assert_int_equal(BitScanForward64(&index, 1ULL << 40 | 1ULL << 63), 1);
	assert_int_equal(index, 40);
	assert_int_equal(BitScanReverse64(&index, 1ULL << 40 | 3), 1);
	assert_int_equal(index, 40);
}

#ifdef __x86_64__
static void
two_words_are_exchanged_if_both_are_as_expected(void **state)
{
	LONG64 words[2] __attribute__((aligned(16))) = {1, 2};
	LONG64 expected[2] = {1, 3};

	(void)state;
	assert_int_equal(InterlockedCompareExchange128(words, 8, 7, expected), 0);
	assert_int_equal(expected[0], 1);
	assert_int_equal(expected[1], 2);
	assert_int_equal(InterlockedCompareExchange128(words, 8, 7, expected), 1);
	assert_int_equal(words[0], 7);
	assert_int_equal(words[1], 8);
}
#endif

static void
sizes_and_affinities_are_words(void **state)
{
	SIZE_T size = 5;
	KAFFINITY affinity = 6;

	(void)state;
	assert_int_equal(InterlockedExchangeAddSizeT(&size, 10), 5);
	assert_int_equal(InterlockedIncrementSizeT(&size), 16);
	assert_int_equal(InterlockedDecrementSizeT(&size), 15);
	assert_int_equal(InterlockedAndAffinity(&affinity, 3), 6);
	assert_int_equal(InterlockedOrAffinity(&affinity, 8), 2);
	assert_int_equal(affinity, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bit_may_lie_beyond_the_first_word),
		cmocka_unit_test(a_scan_finds_the_first_or_the_last_bit),
#ifdef __x86_64__
		cmocka_unit_test(two_words_are_exchanged_if_both_are_as_expected),
#endif
		cmocka_unit_test(sizes_and_affinities_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
