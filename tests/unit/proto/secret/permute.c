/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The permutations behind keys and numbers: bijective, different for every secret, and well mixed.
 * Attacks on a sequence of keys are tested in tests/unit/proto/mem/guess.c, attacks on numbers in
 * predict.c. Start with the round trips.
 */
#include <stdlib.h>

#include "test.h"
#include "plx_secret.h"

enum {
	SLOTS = 1 << 20,      /* of keys: as lib/proto/mem has them, */
	GENERATION_BITS = 12, /* ... and how often each may be used */
};

static void
permutation_of(struct plx_permutation *permutation, uint64_t seed)
{
	const struct plx_secret secret = {{plx_splitmix64(&seed), plx_splitmix64(&seed)}};

	plx_permutation_init(permutation, &secret);
}

static void
siphash_gives_its_known_answer(void **state)
{
	/* The authors' test vector: key 00 .. 0f, message 00 .. 07. */
	static const struct plx_secret secret = {
		{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

	(void)state;
	assert_true(plx_secret_word(&secret, UINT64_C(0x0706050403020100)) ==
		    UINT64_C(0x93f5f5799a932462));
	/* ... and the same key, no message. */
	assert_true(plx_secret_hash(&secret, NULL, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

/* A key of one purpose, or of another index, is another key in all its bits. */
static void
each_purpose_and_index_has_a_key_of_its_own(void **state)
{
	enum {
		INDEXES = 4,
		KEYS = PLX_SECRET_PURPOSES * INDEXES
	};
	const struct plx_secret secret = {{3, 4}};
	struct plx_secret key[KEYS];

	(void)state;
	for (int i = 0; i < KEYS; i++)
		key[i] = plx_secret_for(&secret, (enum plx_secret_purpose)(i / INDEXES),
					(uint32_t)i % INDEXES);
	for (int i = 0; i < KEYS; i++) {
		for (int j = 0; j < 2 * KEYS; j++) {
			uint64_t other = j < KEYS ? key[j].word[0] : key[j - KEYS].word[1];

			if (j != i)
				assert_in_range(__builtin_popcountll(key[i].word[0] ^ other), 8,
						56);
		}
		assert_in_range(__builtin_popcountll(key[i].word[0] ^ secret.word[0]), 8, 56);
	}
}

static void
what_is_wiped_is_gone(void **state)
{
	struct plx_secret secret = {{~UINT64_C(0), ~UINT64_C(0)}};

	(void)state;
	plx_secret_wipe(&secret, sizeof(secret));
	assert_true((secret.word[0] | secret.word[1]) == 0);
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
each_number_of_24_bits_has_an_image_of_its_own(void **state)
{
	uint64_t *seen = calloc((size_t)1 << 18, sizeof(*seen));
	const struct plx_secret secret = {{5, 6}};
	struct plx_permutation24 permutation;
	uint64_t wrong = 0;

	(void)state;
	assert_non_null(seen);
	plx_permutation24_init(&permutation, &secret);
	for (uint32_t x = 0; x < 1u << 24; x++) {
		uint32_t y = plx_permute24(&permutation, x);

		assert_true(y < 1u << 24 && !plx_bitmap_test(seen, y));
		plx_bitmap_set(seen, y);
		wrong += plx_permute24_back(&permutation, y) != x;
	}
	assert_int_equal(wrong, 0);
	free(seen);
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
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			uint32_t x = slot << GENERATION_BITS | generations[n];

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
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		uint32_t key = plx_permute(&permutation, slot << GENERATION_BITS | 7);

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
		struct plx_secret secret = {{1, 2}};
		struct plx_permutation a, b;
		int same = 0;

		plx_permutation_init(&a, &secret);
		secret.word[bit / 64] ^= UINT64_C(1) << (bit % 64);
		plx_permutation_init(&b, &secret);
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
		cmocka_unit_test(each_purpose_and_index_has_a_key_of_its_own),
		cmocka_unit_test(what_is_wiped_is_gone),
		cmocka_unit_test(sixteen_million_numbers_go_there_and_back),
		cmocka_unit_test(each_number_of_24_bits_has_an_image_of_its_own),
		cmocka_unit_test(all_slots_go_there_and_back_in_several_generations),
		cmocka_unit_test(keys_of_all_slots_in_one_generation_differ),
		cmocka_unit_test(every_input_bit_moves_every_output_bit_half_of_the_time),
		cmocka_unit_test(one_bit_of_the_secret_makes_another_permutation),
	};

	return cmocka_run_group_tests_name("secret/permute", tests, NULL, NULL);
}
