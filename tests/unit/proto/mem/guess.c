/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An attacker who has seen a million consecutive keys (T1, ReDMArk) cannot predict the next one.
 * Thresholds are six standard deviations from chance; seeds are fixed. The tests never assume that
 * keys are random, only that no simple rule predicts them. Start with
 * no_simple_rule_predicts_the_next_key().
 */
#include <stdlib.h>

#include "box.h"
#include "guesser.h"

#define KEYS 1000000

/* Keys as applications create them: one region after another, some kept, some freed at once. */
enum habit {
	KEEP_ALL,      /* a million regions side by side */
	ONE_AT_A_TIME, /* register, deregister, in a small table: generations climb */
	CHURN,         /* a thousand live, the oldest replaced */
	HABITS,
};

static uint32_t *
keys_of(enum habit habit, uint64_t seed)
{
	static const uint32_t slots[HABITS] = {KEYS, 300, 5000};
	static const uint32_t live[HABITS] = {KEYS, 1, 1000};
	struct box *box = box_open(slots[habit], seed);
	uint32_t *keys = malloc(KEYS * sizeof(*keys));
	uint32_t *regions = malloc(KEYS * sizeof(*regions));
	struct plx_key key;

	assert_true(keys && regions);
	for (uint32_t i = 0; i < KEYS; i++) {
		if (i >= live[habit])
			box_drop_region(box, (struct plx_region){regions[i - live[habit]]});
		regions[i] = box_region(box, BOX_RIGHTS, &key).slot;
		keys[i] = key.v;
	}
	free(regions);
	box_close(box);
	return keys;
}

/* Each guesses the key after k[2] from the three, or more, before it. */
enum {
	RULES = 12
};

static void
guess_next(const uint32_t *k, uint32_t guess[RULES])
{
	uint32_t d1 = k[1] - k[0], d2 = k[2] - k[1];
	uint32_t factor = d1 & 1 ? d2 * guesser_inverse(d1) : 1;
	uint32_t i = 0;

	guess[i++] = k[2];
	guess[i++] = k[2] + 1;
	guess[i++] = k[2] + 0x100; /* the slot in the high bits, as hardware does */
	guess[i++] = k[2] + 0x1000;
	guess[i++] = k[2] + d2;             /* a counter with any step */
	guess[i++] = k[2] + d2 + (d2 - d1); /* a step that grows evenly */
	guess[i++] = k[2] ^ k[1] ^ k[0];    /* a step by exclusive or */
	guess[i++] = k[2] ^ (k[2] ^ k[1]) << 1;
	guess[i++] = k[2] * factor + (k[1] - k[0] * factor); /* a linear congruence, fitted */
	guess[i++] = k[2] << 1 | k[2] >> 31;                 /* a register that rotates */
	guess[i++] = k[0];                                   /* a cycle of three */
	guess[i++] = ~k[2];
	PLX_ASSERT(i == RULES);
}

/* Whole keys, and each of their bytes: a rule that is right about part of a key helps as well. */
static void
no_simple_rule_predicts_the_next_key(void **state)
{
	(void)state;
	for (enum habit habit = KEEP_ALL; habit < HABITS; habit++) {
		uint32_t hits[RULES] = {0}, byte_hits[RULES][4] = {{0}};
		uint32_t *keys = keys_of(habit, 11 + habit);

		for (uint32_t i = 3; i < KEYS; i++) {
			uint32_t guess[RULES];

			guess_next(&keys[i - 3], guess);
			for (int rule = 0; rule < RULES; rule++) {
				uint32_t wrong = guess[rule] ^ keys[i];

				hits[rule] += wrong == 0;
				for (int byte = 0; byte < 4; byte++)
					byte_hits[rule][byte] += (wrong >> 8 * byte & 0xff) == 0;
			}
		}
		for (int rule = 0; rule < RULES; rule++) {
			assert_in_range(hits[rule], 0, 2); /* expected: 0.0002 */
			for (int byte = 0; byte < 4; byte++)
				assert_in_range(byte_hits[rule][byte], KEYS / 256 - 375,
						KEYS / 256 + 375);
		}
		free(keys);
	}
}

/* Linear: no bit of a key, and no XOR of two of its bits, predicts a bit of the next one. */
static void
no_bit_or_pair_of_bits_predicts_a_bit_of_the_next_key(void **state)
{
	(void)state;
	for (enum habit habit = KEEP_ALL; habit < HABITS; habit++) {
		static uint32_t agree[32][32], paired[32];
		uint32_t *keys = keys_of(habit, 21 + habit);

		memset(agree, 0, sizeof(agree));
		memset(paired, 0, sizeof(paired));
		for (uint32_t i = 1; i < KEYS; i++) {
			uint32_t change =
				keys[i] ^ (keys[i - 1] << 1 | keys[i - 1] >> 31) ^ keys[i - 1];

			for (int bit = 0; bit < 32; bit++) {
				uint32_t old = keys[i - 1] << bit | keys[i - 1] >> (32 - bit) % 32;
				uint32_t same = ~(keys[i] ^ old);

				paired[bit] += change >> bit & 1;
				for (int to = 0; to < 32; to++)
					agree[bit][to] += same >> to & 1;
			}
		}
		for (int bit = 0; bit < 32; bit++) {
			assert_in_range(paired[bit], KEYS / 2 - 3000, KEYS / 2 + 3000);
			for (int to = 0; to < 32; to++)
				assert_in_range(agree[bit][to], KEYS / 2 - 3000, KEYS / 2 + 3000);
		}
		free(keys);
	}
}

/* Neighbours share a half as often as strangers do: 1 in 65536 for each half. */
static void
neighbours_have_no_more_in_common_than_strangers(void **state)
{
	(void)state;
	for (enum habit habit = KEEP_ALL; habit < HABITS; habit++) {
		static const uint32_t distances[] = {1, 2, 3, 299, 300, 301, 4096, 5000};
		uint32_t *keys = keys_of(habit, 31 + habit);

		for (size_t n = 0; n < PLX_COUNT_OF(distances); n++) {
			uint32_t high = 0, low = 0, distance = distances[n];

			for (uint32_t i = distance; i < KEYS; i++) {
				uint32_t difference = keys[i] ^ keys[i - distance];

				high += difference >> 16 == 0;
				low += (difference & 0xffff) == 0;
			}
			assert_in_range(high, 0, 15 + 24);
			assert_in_range(low, 0, 15 + 24);
		}
		free(keys);
	}
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Some generators start from the same state after a reboot, so that yesterday's keys are good. */
static void
after_a_restart_with_another_secret_nothing_repeats(void **state)
{
	(void)state;
	for (enum habit habit = KEEP_ALL; habit < HABITS; habit++) {
		uint32_t *before = keys_of(habit, 41), *after = keys_of(habit, 42);
		uint32_t same_place = 0, common = 0;

		for (uint32_t i = 0; i < KEYS; i++)
			same_place += before[i] == after[i];
		assert_in_range(same_place, 0, 2);
		qsort(before, KEYS, sizeof(*before), by_value);
		qsort(after, KEYS, sizeof(*after), by_value);
		for (uint32_t i = 1; i < KEYS; i++) /* (slot, generation) was never issued twice */
			assert_true(before[i - 1] != before[i] && after[i - 1] != after[i]);
		for (uint32_t i = 0, j = 0; i < KEYS && j < KEYS;) {
			common += before[i] == after[j];
			if (before[i] < after[j])
				i++;
			else
				j++;
		}
		/* Two random sets of this size have KEYS^2 / 2^32 = 233 numbers in common. */
		assert_in_range(common, 233 - 92, 233 + 92);
		free(before);
		free(after);
	}
}

static void
a_guess_hits_as_often_as_keys_are_live_and_no_more(void **state)
{
	enum {
		LIVE = 65536,
		GUESSES = 10000000
	};
	struct box *box = box_open(2 * LIVE, 51);
	uint32_t hits = 0, expected = (uint32_t)((uint64_t)LIVE * GUESSES >> 32);
	struct plx_prng prng;
	struct plx_key key;

	(void)state;
	for (uint32_t i = 0; i < LIVE; i++)
		(void)box_region(box, BOX_RIGHTS, &key);
	plx_prng_init(&prng, 51);
	for (uint32_t i = 0; i < GUESSES; i++) {
		enum plx_key_verdict verdict =
			box_check(box, (struct plx_key){(uint32_t)plx_prng_next(&prng)}, 0);

		hits += verdict == PLX_KEY_GRANTED;
	}
	assert_int_equal(expected, 152);
	assert_in_range(hits, expected - 74, expected + 74);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_simple_rule_predicts_the_next_key),
		cmocka_unit_test(no_bit_or_pair_of_bits_predicts_a_bit_of_the_next_key),
		cmocka_unit_test(neighbours_have_no_more_in_common_than_strangers),
		cmocka_unit_test(after_a_restart_with_another_secret_nothing_repeats),
		cmocka_unit_test(a_guess_hits_as_often_as_keys_are_live_and_no_more),
	};

	return cmocka_run_group_tests_name("mem/guess", tests, NULL, NULL);
}
