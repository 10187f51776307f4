/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table as a whole: its memory, its limits, domains, and a set-up that fails at every step.
 * What regions and windows grant is tested in their own files. Start with
 * a_set_up_that_fails_at_step_k_can_be_undone().
 */
#include <stdlib.h>

#include "block.h"
#include "box.h"

#define SLOTS 8
#define MANY  100 /* domains */

static const struct plx_secret secret = {{1, 2}};

static void
a_table_outside_its_limits_is_refused(void **state)
{
	static const struct plx_mem_limits good = {SLOTS, 1},
					   bad[] = {
						   {0, 1},
						   {1, 1},
						   {PLX_MEM_SLOTS_MAX, 1},
						   {PLX_MEM_SLOTS_MAX + 1, 1},
						   {UINT32_MAX, 1},
						   {SLOTS, 0},
						   {SLOTS, PLX_MEM_DOMAINS_MAX + 1},
						   {SLOTS, UINT32_MAX},
					   };
	static PLX_ALIGNED_LINE uint8_t memory[2 * PLX_CACHE_LINE];

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bad); i++) {
		assert_int_equal(plx_mem_bytes(&bad[i]), 0);
		assert_null(plx_mem_init(memory, &bad[i], &secret));
	}
	assert_null(plx_mem_init(NULL, &good, &secret));
	assert_null(plx_mem_init(memory + 8, &good, &secret));
	for (size_t i = 0; i < sizeof(memory); i++)
		assert_int_equal(memory[i], 0);
}

static void
a_table_stays_inside_its_memory(void **state)
{
	(void)state;
	for (uint32_t slots = 2; slots < 70; slots++) {
		uint32_t domains = 1 + slots % 7;
		/* AddressSanitizer watches the ends */
		struct box *box = box_open_limits(slots, domains, slots);
		struct plx_domain domain;
		struct plx_key key;

		for (uint32_t i = 1; i <= slots; i++)
			assert_int_equal(box_region(box, BOX_RIGHTS, &key).slot, i);
		for (uint32_t i = 1; i <= slots; i++)
			box_drop_region(box, (struct plx_region){i});
		assert_int_equal(plx_mem_in_use(box->mem), 0);
		for (uint32_t i = 2; i <= domains; i++) {
			assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
			assert_int_equal(domain.id, i);
		}
		REFUSED(box, PLX_FULL, plx_domain_create(box->mem, &domain));
		box_close(box);
	}
}

/* The pages of a large table of domains are taken as domains are created. */
static void
a_set_up_does_not_touch_the_domains(void **state)
{
	static const struct plx_mem_limits one = {SLOTS, 1}, all = {SLOTS, PLX_MEM_DOMAINS_MAX};
	size_t bytes = plx_mem_bytes(&all);
	size_t entry = (bytes - plx_mem_bytes(&one)) / (PLX_MEM_DOMAINS_MAX - 1);
	size_t first = plx_mem_bytes(&one) - entry;
	uint8_t *memory = test_block(bytes);
	struct plx_mem *mem = plx_mem_init(memory, &all, &secret);
	struct plx_domain domain;

	(void)state;
	assert_non_null(mem);
	for (size_t i = first; i < bytes; i++)
		assert_int_equal(memory[i], TEST_POISON);
	assert_int_equal(plx_domain_create(mem, &domain), PLX_OK);
	assert_memory_not_equal(memory + first, memory + first + entry, entry);
	for (size_t i = first + entry; i < bytes; i++)
		assert_int_equal(memory[i], TEST_POISON);
	free(memory);
}

/* Whatever the memory held, even what a living domain's entry holds. */
static void
a_domain_that_was_never_created_does_not_exist(void **state)
{
	static const struct plx_mem_limits limits = {SLOTS, BOX_DOMAINS};

	(void)state;
	for (int garbage = 0; garbage <= UINT8_MAX; garbage++) {
		void *memory = test_block(plx_mem_bytes(&limits));
		struct plx_mem *mem;

		memset(memory, garbage, plx_mem_bytes(&limits));
		mem = plx_mem_init(memory, &limits, &secret);
		for (uint32_t id = 0; id <= BOX_DOMAINS + 1; id++)
			assert_int_equal(plx_domain_hold(mem, (struct plx_domain){id}), PLX_NO_KEY);
		free(memory);
	}
}

static void
the_largest_table_issues_every_slot_once(void **state)
{
	struct box *box = box_open(PLX_MEM_SLOTS_MAX - 1, 3);
	struct plx_window window;

	(void)state;
	for (uint32_t i = 1; i < PLX_MEM_SLOTS_MAX; i++) {
		if (plx_window_create(box->mem, box->domain, &window) != PLX_OK || window.slot != i)
			fail();
	}
	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_FULL);
	assert_int_equal(plx_mem_in_use(box->mem), PLX_MEM_SLOTS_MAX - 1);
	box_close(box);
}

static void
in_use_counts_slots_until_they_are_released(void **state)
{
	struct box *box = box_open(SLOTS, 4);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window window = box_window(box, region, 0, &key);

	(void)state;
	assert_int_equal(plx_mem_in_use(box->mem), 2);
	assert_int_equal(plx_window_retire(box->mem, window), PLX_OK);
	assert_int_equal(plx_mem_in_use(box->mem), 2);
	assert_int_equal(plx_window_release(box->mem, window), PLX_OK);
	assert_int_equal(plx_mem_in_use(box->mem), 1);
	box_drop_region(box, region);
	assert_int_equal(plx_mem_in_use(box->mem), 0);
	box_close(box);
}

/* Domain, region, window, bind: with k slots left over, the set-up fails at its k-th slot. */
static void
a_set_up_that_fails_at_step_k_can_be_undone(void **state)
{
	(void)state;
	for (uint32_t left = 0; left <= 2; left++) {
		struct box *box = box_open(SLOTS, 5);
		struct plx_region_attr attr = box_region_attr(box, BOX_RIGHTS);
		struct plx_region region = {77};
		struct plx_window window = {78};
		struct plx_key key = {79};

		for (uint32_t i = 0; i < SLOTS - left; i++)
			(void)box_region(box, BOX_RIGHTS, &key);
		key.v = 79;
		if (left == 0) {
			REFUSED(box, PLX_FULL,
				plx_region_register(box->mem, box->domain, &attr, &region, &key));
			assert_true(region.slot == 77 && key.v == 79);
		} else {
			region = box_region(box, BOX_RIGHTS, &key);
		}
		if (left < 2) {
			REFUSED(box, PLX_FULL, plx_window_create(box->mem, box->domain, &window));
			assert_int_equal(window.slot, 78);
		} else {
			window = box_window(box, region, 0, &key);
			box_drop_window(box, window);
		}
		if (left > 0)
			box_drop_region(box, region);
		assert_int_equal(plx_mem_in_use(box->mem), SLOTS - left);
		/* Freed slots can be allocated again. */
		for (uint32_t i = 0; i < left; i++)
			(void)box_region(box, BOX_RIGHTS, &key);
		REFUSED(box, PLX_FULL, plx_window_create(box->mem, box->domain, &window));
		box_close(box);
	}
}

static void
domains_run_out_at_their_limit_and_come_back(void **state)
{
	/* The box has one already. */
	struct box *box = box_open_limits(SLOTS, PLX_MEM_DOMAINS_MAX, 6);
	static bool seen[PLX_MEM_DOMAINS_MAX + 1];
	struct plx_domain domain;

	(void)state;
	memset(seen, 0, sizeof(seen));
	seen[box->domain.id] = true;
	for (int round = 0; round < 2; round++) {
		for (int i = 1; i < PLX_MEM_DOMAINS_MAX; i++) {
			assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
			assert_in_range(domain.id, 1, PLX_MEM_DOMAINS_MAX);
			assert_false(seen[domain.id]);
			seen[domain.id] = true;
		}
		domain.id = 0;
		REFUSED(box, PLX_FULL, plx_domain_create(box->mem, &domain));
		assert_int_equal(domain.id, 0);
		for (uint32_t id = 2; round == 0 && id <= PLX_MEM_DOMAINS_MAX; id++) {
			assert_int_equal(plx_domain_destroy(box->mem, (struct plx_domain){id}),
					 PLX_OK);
			seen[id] = false;
		}
	}
	assert_int_equal(plx_domain_destroy(box->mem, (struct plx_domain){42}), PLX_OK);
	assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
	assert_int_equal(domain.id, 42);
	box_close(box);
}

/* Its number has more bits than those of the others. */
static void
the_last_domain_is_not_mistaken_for_another(void **state)
{
	static const uint32_t others[] = {0, 1, PLX_MEM_DOMAINS_MAX / 2, PLX_MEM_DOMAINS_MAX - 1,
					  2 * PLX_MEM_DOMAINS_MAX};
	struct box *box = box_open_limits(SLOTS, PLX_MEM_DOMAINS_MAX, 12);
	const struct plx_domain first = box->domain;
	struct plx_key key;

	(void)state;
	for (int i = 1; i < PLX_MEM_DOMAINS_MAX; i++)
		assert_int_equal(plx_domain_create(box->mem, &box->domain), PLX_OK);
	assert_int_equal(box->domain.id, PLX_MEM_DOMAINS_MAX);
	(void)box_region(box, BOX_FAST, &key);
	for (size_t i = 0; i < PLX_COUNT_OF(others); i++) {
		box->domain.id = others[i];
		assert_int_equal(box_check(box, key, PLX_ACCESS_REMOTE_READ), PLX_KEY_DOMAIN);
		assert_int_equal(box_invalidate(box, key), PLX_KEY_DOMAIN);
	}
	assert_int_equal(plx_domain_destroy(box->mem, first), PLX_OK);
	box->domain.id = PLX_MEM_DOMAINS_MAX;
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	assert_int_equal(box_check(box, key, PLX_ACCESS_REMOTE_READ), PLX_KEY_GRANTED);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	box_close(box);
}

/* A domain is created and destroyed at once until all others' ids have been issued. */
static void
a_destroyed_domain_is_the_last_one_issued_again(void **state)
{
	struct box *box = box_open_limits(SLOTS, MANY, 7);
	struct plx_domain domain;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uint32_t id = 2; id <= MANY; id++) {
			assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
			assert_int_equal(domain.id, id);
			assert_int_equal(plx_domain_destroy(box->mem, domain), PLX_OK);
		}
	}
	box_close(box);
}

static void
destroyed_domains_come_back_in_their_order(void **state)
{
	static const uint32_t order[] = {7, 3, MANY, 2};
	struct box *box = box_open_limits(SLOTS, MANY, 11);
	struct plx_domain domain;

	(void)state;
	for (uint32_t i = 2; i <= MANY; i++)
		assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < PLX_COUNT_OF(order); i++)
			assert_int_equal(
				plx_domain_destroy(box->mem, (struct plx_domain){order[i]}),
				PLX_OK);
		for (size_t i = 0; i < PLX_COUNT_OF(order); i++) {
			assert_int_equal(plx_domain_create(box->mem, &domain), PLX_OK);
			assert_int_equal(domain.id, order[i]);
		}
		REFUSED(box, PLX_FULL, plx_domain_create(box->mem, &domain));
	}
	box_close(box);
}

static void
a_domain_that_does_not_exist_is_no_key_for_every_call(void **state)
{
	static const uint32_t none[] = {0,
					2,
					BOX_DOMAINS,
					BOX_DOMAINS + 1,
					PLX_MEM_DOMAINS_MAX,
					PLX_MEM_DOMAINS_MAX + 1,
					UINT32_MAX};
	struct box *box = box_open(SLOTS, 8);
	struct plx_region_attr attr = box_region_attr(box, BOX_RIGHTS);
	struct plx_region region;
	struct plx_window window;
	struct plx_key key;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++) {
		struct plx_domain domain = {none[i]};

		REFUSED(box, PLX_NO_KEY, plx_domain_destroy(box->mem, domain));
		REFUSED(box, PLX_NO_KEY, plx_domain_hold(box->mem, domain));
		REFUSED(box, PLX_NO_KEY,
			plx_region_register(box->mem, domain, &attr, &region, &key));
		REFUSED(box, PLX_NO_KEY, plx_window_create(box->mem, domain, &window));
		box_remember(box);
		plx_domain_unhold(box->mem, domain);
		box_assert_unchanged(box);
	}
	box_close(box);
}

static void
a_domain_is_busy_while_a_region_a_window_or_a_qp_uses_it(void **state)
{
	struct box *box = box_open(SLOTS, 9);
	struct plx_region region;
	struct plx_window window;
	struct plx_key key;

	(void)state;
	region = box_region(box, BOX_RIGHTS, &key);
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);

	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	box_drop_window(box, window);

	assert_int_equal(plx_domain_hold(box->mem, box->domain), PLX_OK);
	assert_int_equal(plx_domain_hold(box->mem, box->domain), PLX_OK);
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	plx_domain_unhold(box->mem, box->domain);
	REFUSED(box, PLX_BUSY, plx_domain_destroy(box->mem, box->domain));
	plx_domain_unhold(box->mem, box->domain);
	assert_int_equal(plx_domain_destroy(box->mem, box->domain), PLX_OK);
	REFUSED(box, PLX_NO_KEY, plx_domain_destroy(box->mem, box->domain));
	box_close(box);
}

static void
one_unhold_too_many_frees_nobody_elses_use(void **state)
{
	struct box *box = box_open(SLOTS, 10);
	struct plx_key key;

	(void)state;
	(void)box_region(box, BOX_RIGHTS, &key);
	box_remember(box);
	plx_domain_unhold(box->mem, box->domain);
	box_assert_unchanged(box);
	assert_int_equal(plx_domain_destroy(box->mem, box->domain), PLX_BUSY);
	box_close(box);
}

static void
every_verdict_has_a_text_of_its_own(void **state)
{
	static const int none[] = {PLX_KEY_VERDICT_COUNT, -1, INT32_MAX, INT32_MIN};

	(void)state;
	for (int i = 0; i < PLX_KEY_VERDICT_COUNT; i++) {
		const char *text = plx_key_verdict_text((enum plx_key_verdict)i);

		assert_non_null(text);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text,
						plx_key_verdict_text((enum plx_key_verdict)j));
	}
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++)
		assert_string_equal(plx_key_verdict_text((enum plx_key_verdict)none[i]),
				    "not a key verdict");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_outside_its_limits_is_refused),
		cmocka_unit_test(a_table_stays_inside_its_memory),
		cmocka_unit_test(a_set_up_does_not_touch_the_domains),
		cmocka_unit_test(a_domain_that_was_never_created_does_not_exist),
		cmocka_unit_test(the_largest_table_issues_every_slot_once),
		cmocka_unit_test(in_use_counts_slots_until_they_are_released),
		cmocka_unit_test(a_set_up_that_fails_at_step_k_can_be_undone),
		cmocka_unit_test(domains_run_out_at_their_limit_and_come_back),
		cmocka_unit_test(the_last_domain_is_not_mistaken_for_another),
		cmocka_unit_test(a_destroyed_domain_is_the_last_one_issued_again),
		cmocka_unit_test(destroyed_domains_come_back_in_their_order),
		cmocka_unit_test(a_domain_that_does_not_exist_is_no_key_for_every_call),
		cmocka_unit_test(a_domain_is_busy_while_a_region_a_window_or_a_qp_uses_it),
		cmocka_unit_test(one_unhold_too_many_frees_nobody_elses_use),
		cmocka_unit_test(every_verdict_has_a_text_of_its_own),
	};

	return cmocka_run_group_tests_name("mem/table", tests, NULL, NULL);
}
