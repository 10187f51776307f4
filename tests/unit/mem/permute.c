/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The permutation behind keys: a bijection, under every secret another one, and well mixed.
 * What an attacker can make of a sequence of keys is tested in guess.c.
 * Start with the round trips.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "permute.h"
#include "plx_mem.h"

static void
permutation_of(struct plx_permutation *permutation, uint64_t seed)
{
	const uint64_t secret[2] = {plx_splitmix64(&seed), plx_splitmix64(&seed)};

	plx_permutation_init(permutation, secret);
}

static void
siphash_gives_its_known_answer(void **state)
{
	/* The authors' test vector: key 00 .. 0f, message 00 .. 07. */
	static const uint64_t secret[2] = {UINT64_C(0x0706050403020100),
					   UINT64_C(0x0f0e0d0c0b0a0908)};

	(void)state;
	assert_true(plx_siphash_word(secret, UINT64_C(0x0706050403020100)) ==
		    UINT64_C(0x93f5f5799a932462));
}

static void
sixteen_million_numbers_go_there_and_back(void **state)
{
	struct plx_permutation permutation;
	uint64_t wrong = 0;

	(void)state;
	permutation_of(&permutation, 1);
	for (uint32_t i = 0; i < 1u << 24; i++) {
		uint32_t x = i * 0x9e3779b1u; /* odd: 2^24 different ones, all over the space */

		wrong += plx_permute_back(&permutation, plx_permute(&permutation, x)) != x;
	}
	assert_int_equal(wrong, 0);
}

static void
all_slots_go_there_and_back_in_several_generations(void **state)
{
	static const uint32_t generations[] = {0, 1, 2, 2047, 2048, 4095};
	struct plx_permutation permutation;
	uint64_t wrong = 0;

	(void)state;
	permutation_of(&permutation, 2);
	for (size_t n = 0; n < PLX_COUNT_OF(generations); n++) {
		for (uint32_t slot = 0; slot < PLX_MEM_SLOTS_MAX; slot++) {
			uint32_t x = slot << PLX_KEY_GENERATION_BITS | generations[n];

			wrong += plx_permute_back(&permutation, plx_permute(&permutation, x)) != x;
		}
	}
	assert_int_equal(wrong, 0);
}

static void
keys_of_all_slots_in_one_generation_differ(void **state)
{
	uint64_t *seen = calloc((size_t)1 << 26, sizeof(*seen)); /* a bit for each 32-bit number */
	struct plx_permutation permutation;

	(void)state;
	assert_non_null(seen);
	permutation_of(&permutation, 3);
	for (uint32_t slot = 0; slot < PLX_MEM_SLOTS_MAX; slot++) {
		uint32_t key = plx_permute(&permutation, slot << PLX_KEY_GENERATION_BITS | 7);

		if (plx_bitmap_test(seen, key))
			fail();
		plx_bitmap_set(seen, key);
	}
	free(seen);
}

/* Each bit of the number moves each bit of the key half of the time, over many secrets. */
static void
every_input_bit_moves_every_output_bit_half_of_the_time(void **state)
{
	enum {
		TRIALS = 20000
	};
	struct plx_prng prng;
	static uint32_t moved[32][32];

	(void)state;
	memset(moved, 0, sizeof(moved));
	plx_prng_init(&prng, 4);
	for (int trial = 0; trial < TRIALS; trial++) {
		uint32_t x = (uint32_t)plx_prng_next(&prng);
		struct plx_permutation permutation;

		permutation_of(&permutation, (uint64_t)trial);
		for (int in = 0; in < 32; in++) {
			uint32_t change = plx_permute(&permutation, x) ^
					  plx_permute(&permutation, x ^ 1u << in);

			for (int out = 0; out < 32; out++)
				moved[in][out] += change >> out & 1;
		}
	}
	for (int in = 0; in < 32; in++) {
		for (int out = 0; out < 32; out++) /* six standard deviations */
			assert_in_range(moved[in][out], TRIALS / 2 - 424, TRIALS / 2 + 424);
	}
}

static void
one_bit_of_the_secret_makes_another_permutation(void **state)
{
	(void)state;
	for (int bit = 0; bit < 128; bit++) {
		uint64_t secret[2] = {1, 2};
		struct plx_permutation a, b;
		int same = 0;

		plx_permutation_init(&a, secret);
		secret[bit / 64] ^= UINT64_C(1) << (bit % 64);
		plx_permutation_init(&b, secret);
		for (uint32_t x = 0; x < 1000; x++)
			same += plx_permute(&a, x) == plx_permute(&b, x);
		assert_int_equal(same, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash_gives_its_known_answer),
		cmocka_unit_test(sixteen_million_numbers_go_there_and_back),
		cmocka_unit_test(all_slots_go_there_and_back_in_several_generations),
		cmocka_unit_test(keys_of_all_slots_in_one_generation_differ),
		cmocka_unit_test(every_input_bit_moves_every_output_bit_half_of_the_time),
		cmocka_unit_test(one_bit_of_the_secret_makes_another_permutation),
	};

	return cmocka_run_group_tests_name("mem/permute", tests, NULL, NULL);
}
