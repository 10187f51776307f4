/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bitmaps against an array of bools.
 * Bits beyond the map's length are set on purpose: they must not be found.
 * Start with check().
 */
#include "test.h"
#include "plx_base.h"

#define BITS_MAX 200

static void
check(const uint64_t *map, const bool *model, uint32_t bits)
{
	for (uint32_t from = 0; from <= bits + 70; from++) {
		uint32_t expected = from;

		while (expected < bits && !model[expected])
			expected++;
		assert_int_equal(plx_bitmap_next(map, bits, from),
				 expected < bits ? expected : bits);
	}
	for (uint32_t bit = 0; bit < bits; bit++)
		assert_int_equal(plx_bitmap_test(map, bit), model[bit]);
}

static void
next_finds_each_single_bit_from_everywhere(void **state)
{
	(void)state;
	for (uint32_t bits = 1; bits <= BITS_MAX; bits++) {
		for (uint32_t bit = 0; bit < bits; bit++) {
			uint64_t map[PLX_BITMAP_WORDS(BITS_MAX)] = {0};
			bool model[BITS_MAX] = {false};

			plx_bitmap_set(map, bit);
			model[bit] = true;
			check(map, model, bits);
		}
	}
}

static void
setting_and_clearing_at_random_agrees_with_the_model(void **state)
{
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 1);
	for (uint32_t bits = 1; bits <= BITS_MAX; bits++) {
		uint64_t map[PLX_BITMAP_WORDS(BITS_MAX)] = {0};
		bool model[BITS_MAX] = {false};

		for (int i = 0; i < 100; i++) {
			uint32_t bit = (uint32_t)plx_prng_below(&prng, bits);

			model[bit] = plx_prng_chance(&prng, 300000);
			if (model[bit])
				plx_bitmap_set(map, bit);
			else
				plx_bitmap_clear(map, bit);
		}
		check(map, model, bits);
	}
}

static void
bits_behind_the_end_are_never_found(void **state)
{
	(void)state;
	for (uint32_t bits = 1; bits <= BITS_MAX; bits++) {
		uint64_t map[PLX_BITMAP_WORDS(BITS_MAX)];

		memset(map, 0xff, sizeof(map));
		for (uint32_t bit = 0; bit < bits; bit++)
			plx_bitmap_clear(map, bit);
		for (uint32_t from = 0; from <= bits; from++)
			assert_int_equal(plx_bitmap_next(map, bits, from), bits);
	}
}

static void
clearing_one_bit_leaves_its_neighbours(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < BITS_MAX; bit++) {
		uint64_t map[PLX_BITMAP_WORDS(BITS_MAX)];

		memset(map, 0xff, sizeof(map));
		plx_bitmap_clear(map, bit);
		plx_bitmap_clear(map, bit);
		for (uint32_t other = 0; other < BITS_MAX; other++)
			assert_int_equal(plx_bitmap_test(map, other), other != bit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_finds_each_single_bit_from_everywhere),
		cmocka_unit_test(setting_and_clearing_at_random_agrees_with_the_model),
		cmocka_unit_test(bits_behind_the_end_are_never_found),
		cmocka_unit_test(clearing_one_bit_leaves_its_neighbours),
	};

	return cmocka_run_group_tests_name("base/bitmap", tests, NULL, NULL);
}
