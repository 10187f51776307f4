/* SPDX-License-Identifier: BSD-3-Clause
 *
 * 24-bit serial numbers against a model that counts in 64 bits and so never wraps.
 * No sampling where all values can be tried.
 * Start with diff_agrees_with_counting_in_64_bits().
 */
#include "test.h"
#include "plx_base.h"

#define SPACE (INT64_C(1) << 24)
#define HALF  (INT64_C(1) << 23)

/* Bases as a 64-bit counter would reach them, the wrap in and out of reach. */
static const int64_t bases[] = {
	5 * SPACE,     5 * SPACE + 1, 5 * SPACE + HALF - 1, 5 * SPACE + HALF, 6 * SPACE - 1024,
	6 * SPACE - 1, 6 * SPACE,
};

static int32_t
model_diff(int64_t a, int64_t b)
{
	int64_t ahead = a - b;

	while (ahead >= HALF)
		ahead -= SPACE;
	while (ahead < -HALF)
		ahead += SPACE;
	return (int32_t)ahead;
}

static struct plx_psn
psn_of(int64_t count)
{
	return plx_psn((uint32_t)(count % SPACE));
}

static void
diff_agrees_with_counting_in_64_bits(void **state)
{
	uint64_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bases); i++) {
		struct plx_psn base = psn_of(bases[i]);

		for (int64_t ahead = -HALF; ahead < HALF; ahead++)
			wrong += plx_psn_diff(psn_of(bases[i] + ahead), base) != ahead;
	}
	assert_int_equal(wrong, 0);
}

static void
all_pairs_around_each_base_agree_with_the_model(void **state)
{
	uint64_t wrong = 0;

	(void)state;
	for (size_t n = 0; n < PLX_COUNT_OF(bases); n++) {
		for (int64_t i = -150; i <= 150; i++) {
			for (int64_t j = -150; j <= 150; j++) {
				int64_t a = bases[n] + i, b = bases[n] + HALF * (j & 1) + j;
				int32_t diff = model_diff(a, b);
				struct plx_psn x = psn_of(a), y = psn_of(b);

				wrong += plx_psn_diff(x, y) != diff;
				wrong += plx_psn_before(x, y) != (diff < 0);
				wrong += plx_psn_eq(x, y) != (diff == 0);
			}
		}
	}
	assert_int_equal(wrong, 0);
}

static void
adding_and_subtracting_undo_each_other_for_any_amount(void **state)
{
	static const uint32_t amounts[] = {0,        1,          2,          255,        0x7fffff,
					   0x800000, 0xffffff,   0x1000000,  0x1000001,  0x7fffffff,
					   1u << 31, UINT32_MAX, 0xff000000, 0xfeffffff, 12345};

	(void)state;
	for (size_t n = 0; n < PLX_COUNT_OF(bases); n++) {
		for (size_t i = 0; i < PLX_COUNT_OF(amounts); i++) {
			struct plx_psn base = psn_of(bases[n]);
			struct plx_psn sum = plx_psn_add(base, amounts[i]);

			assert_int_equal(sum.v, (bases[n] + amounts[i]) % SPACE);
			assert_true(sum.v <= PLX_PSN_MASK);
			assert_true(plx_psn_eq(plx_psn_sub(sum, amounts[i]), base));
		}
	}
}

static void
exactly_half_the_space_away_is_behind(void **state)
{
	uint64_t wrong = 0;

	(void)state;
	for (uint32_t v = 0; v < SPACE; v++) {
		struct plx_psn a = plx_psn(v);
		struct plx_psn far = plx_psn_add(a, PLX_PSN_HALF);

		wrong += plx_psn_diff(far, a) != -(int32_t)PLX_PSN_HALF;
		wrong += !plx_psn_before(far, a) || !plx_psn_before(a, far);
	}
	assert_int_equal(wrong, 0);
}

static void
a_window_holds_its_first_and_its_last_and_no_more(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 64, 0x7fffff, 0x800000};

	(void)state;
	for (size_t n = 0; n < PLX_COUNT_OF(bases); n++) {
		for (size_t i = 0; i < PLX_COUNT_OF(counts); i++) {
			struct plx_psn first = psn_of(bases[n]);
			uint32_t count = counts[i];

			assert_int_equal(plx_psn_in(first, first, count), count > 0);
			assert_false(plx_psn_in(plx_psn_sub(first, 1), first, count));
			assert_false(plx_psn_in(plx_psn_add(first, count), first, count));
			if (count)
				assert_true(
					plx_psn_in(plx_psn_add(first, count - 1), first, count));
		}
	}
}

static void
every_serial_and_only_24_bits_of_it_survive(void **state)
{
	(void)state;
	assert_int_equal(plx_psn(0xff123456).v, 0x123456);
	assert_int_equal(plx_psn(UINT32_MAX).v, PLX_PSN_MASK);
	assert_int_equal(plx_psn(1u << 24).v, 0);
}

static void
a_message_number_wraps_to_zero_after_2_24(void **state)
{
	struct plx_msn msn = {0};

	(void)state;
	for (int64_t i = 1; i <= SPACE; i++) {
		msn = plx_msn_next(msn);
		if (msn.v != i % SPACE)
			fail();
	}
	assert_int_equal(msn.v, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diff_agrees_with_counting_in_64_bits),
		cmocka_unit_test(all_pairs_around_each_base_agree_with_the_model),
		cmocka_unit_test(adding_and_subtracting_undo_each_other_for_any_amount),
		cmocka_unit_test(exactly_half_the_space_away_is_behind),
		cmocka_unit_test(a_window_holds_its_first_and_its_last_and_no_more),
		cmocka_unit_test(every_serial_and_only_24_bits_of_it_survive),
		cmocka_unit_test(a_message_number_wraps_to_zero_after_2_24),
	};

	return cmocka_run_group_tests_name("base/serial", tests, NULL, NULL);
}
