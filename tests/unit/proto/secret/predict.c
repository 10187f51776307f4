/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer that has seen 10^4 consecutive QP numbers and first PSNs cannot predict the next. The
 * guesser is trusted only after it has predicted known-weak generators, and layouts that Pollux
 * once had. Start with the_guesser_finds_what_can_be_guessed().
 */
#include <string.h>

#include "test.h"
#include "guesser.h"
#include "plx_secret.h"

static uint32_t first[GUESSER_VALUES], second[GUESSER_VALUES], third[GUESSER_VALUES];
static char how[160];

/* ---- canaries ---- */

static uint32_t
of_counter(uint32_t i, struct plx_prng *prng)
{
	(void)prng;
	return 0x1234 + 3 * i;
}

static uint32_t
of_congruence(uint32_t i, struct plx_prng *prng)
{
	(void)i;
	prng->s[0] = prng->s[0] * 1664525 + 1013904223;
	return (uint32_t)prng->s[0];
}

static uint32_t
of_register(uint32_t i, struct plx_prng *prng)
{
	uint32_t x = (uint32_t)prng->s[0] | 1;

	(void)i;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	prng->s[0] = x;
	return x;
}

static uint32_t
of_xoshiro(uint32_t i, struct plx_prng *prng)
{
	(void)i;
	return (uint32_t)plx_prng_next(prng);
}

static uint32_t
of_bias(uint32_t i, struct plx_prng *prng)
{
	(void)i;
	return (uint32_t)plx_prng_next(prng) |
	       (plx_prng_chance(prng, 100000) ? UINT32_C(1) << 11 : 0);
}

static void
the_guesser_finds_what_can_be_guessed(void **state)
{
	static uint32_t (*const weak[])(uint32_t, struct plx_prng *) = {
		of_counter, of_congruence, of_register, of_xoshiro, of_bias};

	(void)state;
	for (size_t w = 0; w < PLX_COUNT_OF(weak); w++) {
		struct guesser_series one = {"a weak generator", first, 24, false};
		struct plx_prng prng;

		plx_prng_init(&prng, 61 + w);
		for (uint32_t i = 0; i < GUESSER_VALUES; i++)
			first[i] = weak[w](i, &prng) & 0xffffff;
		if (!guesser_finds(&one, 1, how))
			fail_msg("weak generator %zu was not found", w);
		print_message("%s\n", how);
	}
}

/* As a number and a PSN of each queue pair were once drawn: then thirty of thirty were predicted
 * after ten. */
static void
the_generator_for_tests_gives_itself_away(void **state)
{
	struct guesser_series two[] = {{"numbers", first, 24, false}, {"PSNs", second, 24, false}};
	static uint8_t bits[GUESSER_VALUES], next[200];
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 71);
	for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
		first[i] = (uint32_t)plx_prng_next(&prng) & 0xffffff;
		second[i] = (uint32_t)plx_prng_next(&prng) & 0xffffff;
	}
	assert_true(guesser_finds(two, 2, how));
	/* Seventeen bits of each are a register of 256, which 512 values fill. */
	for (uint32_t i = 0; i < GUESSER_VALUES; i++)
		bits[i] = (uint8_t)(((first[i] * 0x38e38e39u) >> 7) * 0xcccccccdu & 1);
	assert_int_equal(guesser_complexity(bits, GUESSER_VALUES), 256);
	guesser_forecast(bits, 512, next, sizeof(next));
	assert_memory_equal(next, bits + 512, sizeof(next));
}

/* ---- numbers and PSNs ---- */

static void
draw_all(const struct plx_secret *secret, uint32_t index, uint32_t engines)
{
	struct plx_numbers numbers;

	plx_numbers_init(&numbers, secret, index, engines);
	for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
		first[i] = plx_numbers_draw(&numbers);
		second[i] = plx_numbers_psn(&numbers).v;
		assert_in_range(first[i], 2, 0xfffffe);
		assert_in_range(second[i], 0, 0xffffff);
		assert_int_equal(plx_numbers_engine(&numbers, first[i]), index);
	}
}

static void
no_bit_of_the_next_number_or_psn_can_be_guessed(void **state)
{
	static const uint32_t engines[] = {1, 2, 3, 16};
	struct guesser_series two[] = {{"numbers", first, 24, false}, {"PSNs", second, 24, false}};

	(void)state;
	for (size_t n = 0; n < PLX_COUNT_OF(engines); n++) {
		const struct plx_secret secret = {{81 + n, 5}};

		draw_all(&secret, engines[n] - 1, engines[n]);
		if (guesser_finds(two, 2, how))
			fail_msg("%u engines: %s", engines[n], how);
	}
}

/* Each number contains the engine's index, but no bit, pair of bits, byte or linear combination
 * of the number reveals it. Without the permutation it would. */
static void
a_number_does_not_tell_its_engine(void **state)
{
	enum {
		ENGINES = 4
	};
	const struct plx_secret secret = {{91, 6}};
	struct guesser_series two[] = {{"numbers", first, 24, true}, {"engines", third, 2, false}};
	struct plx_numbers numbers[ENGINES];
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 92);
	for (uint32_t e = 0; e < ENGINES; e++)
		plx_numbers_init(&numbers[e], &secret, e, ENGINES);
	for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
		/* The guesser must not simply find the order of the engines' turns. */
		third[i] = (uint32_t)plx_secret_word(&secret, i) % ENGINES;
		first[i] = plx_numbers_draw(&numbers[third[i]]);
		for (uint32_t e = 0; e < ENGINES; e++)
			assert_int_equal(plx_numbers_engine(&numbers[e], first[i]), third[i]);
	}
	if (guesser_finds(two, 2, how))
		fail_msg("%s", how);
	for (uint32_t i = 0; i < GUESSER_VALUES; i++)
		first[i] = first[i] / ENGINES * ENGINES + third[i];
	assert_true(guesser_finds(two, 2, how));
}

static void
after_a_restart_with_another_secret_nothing_repeats(void **state)
{
	const struct plx_secret before = {{101, 7}}, after = {{102, 7}};
	struct guesser_series three[] = {{"numbers before", third, 24, true},
					 {"numbers", first, 24, false},
					 {"PSNs", second, 24, false}};

	(void)state;
	draw_all(&before, 0, 1);
	memcpy(third, first, sizeof(third));
	draw_all(&after, 0, 1);
	if (guesser_finds(three, 3, how))
		fail_msg("%s", how);
}

/* Numbers meet in a table half full as often as chance has it: n - m (1 - e^-(n/m)) of n. */
static void
numbers_are_spread_over_the_places(void **state)
{
	enum {
		BITS = 14,
		NUMBERS = 1 << (BITS - 1),
		EXPECTED = 1745,
		DEVIATION = 30
	};
	static uint8_t taken[1 << BITS];

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		const struct plx_secret secret = {{111, seed}};
		struct plx_numbers numbers;
		uint32_t met = 0;

		memset(taken, 0, sizeof(taken));
		plx_numbers_init(&numbers, &secret, 0, 1);
		for (uint32_t i = 0; i < NUMBERS; i++) {
			uint32_t place = plx_numbers_place(numbers.place_factor, BITS,
							   plx_numbers_draw(&numbers));

			assert_in_range(place, 0, (1 << BITS) - 1);
			met += taken[place]++ > 0;
		}
		assert_in_range(met, EXPECTED - 6 * DEVIATION, EXPECTED + 6 * DEVIATION);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guesser_finds_what_can_be_guessed),
		cmocka_unit_test(the_generator_for_tests_gives_itself_away),
		cmocka_unit_test(no_bit_of_the_next_number_or_psn_can_be_guessed),
		cmocka_unit_test(a_number_does_not_tell_its_engine),
		cmocka_unit_test(after_a_restart_with_another_secret_nothing_repeats),
		cmocka_unit_test(numbers_are_spread_over_the_places),
	};

	return cmocka_run_group_tests_name("secret/predict", tests, NULL, NULL);
}
