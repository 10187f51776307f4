/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Slots are reused many times: which object gets a freed slot, and when an old key could become
 * valid again (F20). A key has 12 bits of generation, so the 4096th reuse of a slot has the same
 * key again; no earlier one has. Start with an_old_key_stays_unknown_for_4095_lives().
 */
#include <stdlib.h>

#include "box.h"
#include "plx_secret.h"

#define GENERATIONS (1 << PLX_KEY_GENERATION_BITS)

static void
slots_are_reused_first_in_first_out(void **state)
{
	enum {
		SLOTS = 16,
		TURNS = 1000
	};
	struct box *box = box_open(SLOTS, 1);
	uint32_t queue[SLOTS + TURNS], first = 0, last = 0;
	struct plx_prng prng;
	struct plx_key key;

	(void)state;
	plx_prng_init(&prng, 1);
	for (uint32_t i = 1; i <= SLOTS; i++)
		assert_int_equal(box_region(box, BOX_RIGHTS, &key).slot, i);
	/* Free in any order, a few at a time; they are reused in that order. */
	while (last < TURNS) {
		uint32_t given = 0, order[SLOTS];

		for (uint32_t i = 0; i < SLOTS; i++)
			order[i] = i + 1;
		for (uint32_t i = SLOTS - 1; i > 0; i--) {
			uint32_t j = (uint32_t)plx_prng_below(&prng, i + 1), swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
		given = 1 + (uint32_t)plx_prng_below(&prng, SLOTS);
		for (uint32_t i = 0; i < given; i++) {
			box_drop_region(box, (struct plx_region){order[i]});
			queue[last++] = order[i];
		}
		while (first < last)
			assert_int_equal(box_region(box, BOX_RIGHTS, &key).slot, queue[first++]);
	}
	box_close(box);
}

static void
a_freed_slot_rests_until_all_others_had_their_turn(void **state)
{
	enum {
		SLOTS = 32
	};
	struct box *box = box_open(SLOTS, 2);
	uint32_t last_life[SLOTS + 1] = {0};
	struct plx_key key;

	(void)state;
	for (uint32_t life = SLOTS + 1; life < 10 * SLOTS; life++) {
		struct plx_region region = box_region(box, BOX_RIGHTS, &key);

		if (last_life[region.slot])
			assert_int_equal(life - last_life[region.slot], SLOTS);
		last_life[region.slot] = life;
		box_drop_region(box, region);
	}
	box_close(box);
}

static void
an_old_key_stays_unknown_for_4095_lives(void **state)
{
	struct box *box = box_open(2, 3);
	static struct plx_key keys[3 * GENERATIONS];
	uint32_t watched;

	(void)state;
	watched = box_region(box, BOX_RIGHTS, &keys[0]).slot;
	(void)box_region(box, BOX_RIGHTS, &keys[1]); /* the other slot stays taken */
	for (int life = 1; life < 3 * GENERATIONS; life++) {
		struct plx_region region = {watched};

		box_drop_region(box, region);
		assert_int_equal(box_check(box, keys[life - 1], 0), PLX_KEY_UNKNOWN);
		assert_int_equal(box_region(box, BOX_RIGHTS, &keys[life]).slot, watched);
		assert_int_equal(box_check(box, keys[life], 0), PLX_KEY_GRANTED);
		for (int old = life - 1; old >= 0 && old > life - GENERATIONS; old -= 1 + old / 61)
			assert_int_equal(box_check(box, keys[old], 0), PLX_KEY_UNKNOWN);
		if (life >= GENERATIONS)
			assert_int_equal(keys[life].v, keys[life - GENERATIONS].v);
	}
	box_close(box);
}

static void
refresh_and_rebind_take_new_generations_like_register(void **state)
{
	struct box *box = box_open(4, 4);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	static struct plx_key fast[GENERATIONS], bound[GENERATIONS];
	struct plx_region region = box_region(box, BOX_FAST, &fast[0]);
	struct plx_window window = box_window(box, region, 0, &bound[0]);
	struct plx_window_attr window_attr = box_window_attr(region, 0);

	(void)state;
	for (int life = 1; life < GENERATIONS; life++) {
		assert_int_equal(box_invalidate(box, bound[life - 1]), PLX_KEY_GRANTED);
		assert_int_equal(box_invalidate(box, fast[life - 1]), PLX_KEY_GRANTED);
		assert_int_equal(plx_region_refresh(box->mem, region, &attr, &fast[life]), PLX_OK);
		assert_int_equal(plx_window_bind(box->mem, window, &window_attr, &bound[life]),
				 PLX_OK);
		for (int old = life - 1; old >= 0; old -= 1 + old / 31) {
			assert_int_equal(box_check(box, fast[old], 0), PLX_KEY_UNKNOWN);
			assert_int_equal(box_check(box, bound[old], 0), PLX_KEY_UNKNOWN);
		}
	}
	box_close(box);
}

/* A secret under which a low slot has, in some generation, the key 0. */
static uint64_t
seed_with_key_zero_in_slots_up_to(uint32_t slots, uint32_t *slot, uint32_t *generation)
{
	for (uint64_t seed = 1;; seed++) {
		uint64_t stream = seed;
		const struct plx_secret secret = {
			{plx_splitmix64(&stream), plx_splitmix64(&stream)}};
		struct plx_permutation permutation;
		uint32_t plain;

		plx_permutation_init(&permutation, &secret);
		plain = plx_permute_back(&permutation, 0);
		*slot = plain >> PLX_KEY_GENERATION_BITS;
		*generation = plain % GENERATIONS;
		if (*slot >= 1 && *slot <= slots && *generation > 1)
			return seed;
	}
}

static void
the_key_zero_is_never_issued_and_never_granted(void **state)
{
	uint32_t slot, generation;
	struct box *box = box_open(64, seed_with_key_zero_in_slots_up_to(64, &slot, &generation));
	struct plx_key key, last = {0};
	uint32_t lives = 0;

	(void)state;
	for (uint32_t i = 1; i <= 64; i++)
		(void)box_region(box, BOX_FAST, &key);
	for (uint32_t life = 2; life <= 2 * GENERATIONS; life++) {
		assert_int_equal(box_check(box, (struct plx_key){0}, 0), PLX_KEY_UNKNOWN);
		assert_int_equal(box_invalidate(box, (struct plx_key){0}), PLX_KEY_UNKNOWN);
		box_drop_region(box, (struct plx_region){slot});
		assert_int_equal(box_check(box, (struct plx_key){0}, 0), PLX_KEY_UNKNOWN);
		assert_int_equal(box_region(box, BOX_FAST, &key).slot, slot);
		assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
		assert_int_not_equal(key.v, last.v);
		last = key;
		lives++;
	}
	assert_int_equal(lives, 2 * GENERATIONS - 1);
	box_close(box);
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
keys_alive_together_are_all_different(void **state)
{
	enum {
		SLOTS = 100000
	};
	struct box *box = box_open(SLOTS, 5);
	uint32_t *keys = calloc(SLOTS, sizeof(*keys));
	struct plx_prng prng;
	struct plx_key key;

	(void)state;
	assert_non_null(keys);
	plx_prng_init(&prng, 5);
	for (uint32_t i = 0; i < SLOTS; i++) {
		assert_int_equal(box_region(box, BOX_RIGHTS, &key).slot, i + 1);
		keys[i] = key.v;
	}
	for (int i = 0; i < 2 * SLOTS; i++) { /* until their generations are well mixed */
		uint32_t number = 1 + (uint32_t)plx_prng_below(&prng, SLOTS);

		box_drop_region(box, (struct plx_region){number});
		assert_int_equal(box_region(box, BOX_RIGHTS, &key).slot, number);
		keys[number - 1] = key.v;
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(box_check(box, (struct plx_key){keys[i]}, 0), PLX_KEY_GRANTED);
	qsort(keys, SLOTS, sizeof(*keys), by_value);
	assert_int_not_equal(keys[0], 0);
	for (uint32_t i = 1; i < SLOTS; i++)
		assert_int_not_equal(keys[i - 1], keys[i]);
	free(keys);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_reused_first_in_first_out),
		cmocka_unit_test(a_freed_slot_rests_until_all_others_had_their_turn),
		cmocka_unit_test(an_old_key_stays_unknown_for_4095_lives),
		cmocka_unit_test(refresh_and_rebind_take_new_generations_like_register),
		cmocka_unit_test(the_key_zero_is_never_issued_and_never_granted),
		cmocka_unit_test(keys_alive_together_are_all_different),
	};

	return cmocka_run_group_tests_name("mem/reuse", tests, NULL, NULL);
}
