/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The generator against published values, so that a seed means the same run everywhere, for ever.
 * The distribution is tested only roughly: it is the authors' work, the arithmetic is ours.
 * Start with the known answers.
 */
#include "test.h"
#include "plx_base.h"

static void
splitmix64_gives_its_known_answers(void **state)
{
	static const uint64_t known[] = {
		UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint64_t seed = 1234567;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(known); i++)
		assert_true(plx_splitmix64(&seed) == known[i]);
}

static void
xoshiro256_starstar_gives_its_known_answers(void **state)
{
	static const uint64_t known[] = {
		UINT64_C(11520),
		UINT64_C(0),
		UINT64_C(1509978240),
		UINT64_C(1215971899390074240),
		UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600),
		UINT64_C(16172922978634559625),
		UINT64_C(8476171486693032832),
		UINT64_C(10595114339597558777),
		UINT64_C(2904607092377533576),
	};
	struct plx_prng prng = {{1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(known); i++)
		assert_true(plx_prng_next(&prng) == known[i]);
}

static void
the_state_is_filled_from_the_seed_by_splitmix64(void **state)
{
	struct plx_prng prng;
	uint64_t seed = 1234567;

	(void)state;
	plx_prng_init(&prng, 1234567);
	for (int i = 0; i < 4; i++)
		assert_true(prng.s[i] == plx_splitmix64(&seed));
}

static void
equal_seeds_give_equal_streams_and_others_do_not(void **state)
{
	struct plx_prng a, b, c;
	int same = 0;

	(void)state;
	plx_prng_init(&a, 0);
	plx_prng_init(&b, 0);
	plx_prng_init(&c, 1);
	for (int i = 0; i < 10000; i++) {
		uint64_t value = plx_prng_next(&a);

		assert_true(value == plx_prng_next(&b));
		same += value == plx_prng_next(&c);
	}
	assert_int_equal(same, 0);
}

static void
below_stays_below_and_reaches_both_ends(void **state)
{
	static const uint64_t bounds[] = {1,    2,          3,          7,          10,
					  1000, 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX};
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 2);
	for (size_t i = 0; i < PLX_COUNT_OF(bounds); i++) {
		bool low = false, high = false;

		for (int n = 0; n < 20000; n++) {
			uint64_t value = plx_prng_below(&prng, bounds[i]);

			assert_true(value < bounds[i]);
			low |= value <= bounds[i] / 100;
			high |= value >= bounds[i] - 1 - bounds[i] / 100;
		}
		assert_true(low && high);
	}
}

static void
below_ten_is_about_even(void **state)
{
	struct plx_prng prng;
	int seen[10] = {0};

	(void)state;
	plx_prng_init(&prng, 3);
	for (int i = 0; i < 100000; i++)
		seen[plx_prng_below(&prng, 10)]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(seen[i], 9430, 10570); /* six standard deviations */
}

static void
chance_is_never_at_zero_and_always_at_a_million(void **state)
{
	struct plx_prng prng;
	int half = 0;

	(void)state;
	plx_prng_init(&prng, 4);
	for (int i = 0; i < 100000; i++) {
		assert_false(plx_prng_chance(&prng, 0));
		assert_true(plx_prng_chance(&prng, 1000000));
		half += plx_prng_chance(&prng, 500000);
	}
	assert_in_range(half, 49050, 50950);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64_gives_its_known_answers),
		cmocka_unit_test(xoshiro256_starstar_gives_its_known_answers),
		cmocka_unit_test(the_state_is_filled_from_the_seed_by_splitmix64),
		cmocka_unit_test(equal_seeds_give_equal_streams_and_others_do_not),
		cmocka_unit_test(below_stays_below_and_reaches_both_ends),
		cmocka_unit_test(below_ten_is_about_even),
		cmocka_unit_test(chance_is_never_at_zero_and_always_at_a_million),
	};

	return cmocka_run_group_tests_name("base/prng", tests, NULL, NULL);
}
