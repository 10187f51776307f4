/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions: refusals, grants, and the two steps of deregistering. Ranges and rights in all
 * combinations are in tests/table/key.c. Start with irdma_zero_length_registration_is_refused(),
 * the bug that granted access to all memory.
 */
#include "box.h"

#define SLOTS 8

static enum plx_status
try_register(struct box *box, struct plx_region_attr attr)
{
	struct plx_region region = {77};
	struct plx_key key = {78};
	enum plx_status status = plx_region_register(box->mem, box->domain, &attr, &region, &key);

	if (status != PLX_OK)
		assert_true(region.slot == 77 && key.v == 78);
	return status;
}

static void
irdma_zero_length_registration_is_refused(void **state)
{
	struct box *box = box_open(SLOTS, 1);
	struct plx_region_attr attr = box_region_attr(box, BOX_RIGHTS);

	(void)state;
	attr.length = 0;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	attr.va = 0;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	attr.host = NULL;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	box_close(box);
}

static void
a_range_that_wraps_is_refused_and_one_to_the_last_byte_is_not(void **state)
{
	struct box *box = box_open(SLOTS, 2);
	struct plx_region_attr attr = box_region_attr(box, BOX_RIGHTS);

	(void)state;
	attr.va = UINT64_MAX - BOX_LENGTH + 2;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	attr.va--;
	assert_int_equal(try_register(box, attr), PLX_OK);

	attr = box_region_attr(box, BOX_RIGHTS);
	attr.va = 0;
	attr.host = (uint8_t *)1;
	attr.length = UINT64_MAX;
	assert_int_equal(try_register(box, attr), PLX_OK);
	attr.host = (uint8_t *)2;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	attr.host = (uint8_t *)1;
	attr.va = 2;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	box_close(box);
}

static void
memory_at_no_address_is_refused(void **state)
{
	struct box *box = box_open(SLOTS, 3);
	struct plx_region_attr attr = box_region_attr(box, BOX_RIGHTS);

	(void)state;
	attr.host = NULL;
	REFUSED(box, PLX_INVALID, try_register(box, attr));
	box_close(box);
}

static void
an_unknown_right_is_refused_and_each_known_one_is_taken(void **state)
{
	struct box *box = box_open(255, 4);

	(void)state;
	for (unsigned access = 0; access <= UINT8_MAX; access++) {
		struct plx_region_attr attr = box_region_attr(box, (uint8_t)access);

		if (access & ~(unsigned)PLX_ACCESS_ALL)
			REFUSED(box, PLX_INVALID, try_register(box, attr));
		else
			assert_int_equal(try_register(box, attr), PLX_OK);
	}
	box_close(box);
}

static void
a_region_is_granted_to_every_qp_of_its_domain_and_to_no_other_domain(void **state)
{
	struct box *box = box_open(SLOTS, 5);
	struct plx_asker asker = box_asker(box);
	struct plx_domain other;
	struct plx_grant grant;
	struct plx_key key;

	(void)state;
	assert_int_equal(plx_domain_create(box->mem, &other), PLX_OK);
	(void)box_region(box, BOX_RIGHTS | PLX_ACCESS_STABLE, &key);
	for (asker.qpn = 0; asker.qpn < 1000; asker.qpn++) {
		assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA + 5, 7,
					       (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant),
				 PLX_KEY_GRANTED);
		assert_ptr_equal(grant.host, box->arena + 5);
		assert_int_equal(grant.access.bits, BOX_RIGHTS | PLX_ACCESS_STABLE);
	}
	asker.domain = other;
	assert_int_equal(
		plx_key_check(box->mem, key, &asker, BOX_VA, 1, (struct plx_access){0}, &grant),
		PLX_KEY_DOMAIN);
	asker.domain.id = 0;
	assert_int_equal(
		plx_key_check(box->mem, key, &asker, BOX_VA, 1, (struct plx_access){0}, &grant),
		PLX_KEY_DOMAIN);
	box_close(box);
}

static void
a_retired_regions_key_is_unknown_at_once_and_its_slot_still_taken(void **state)
{
	struct box *box = box_open(2, 6);
	struct plx_region region, second;
	struct plx_window window;
	struct plx_key key, other;

	(void)state;
	region = box_region(box, BOX_RIGHTS, &key);
	second = box_region(box, BOX_RIGHTS, &other);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	assert_int_equal(box_check(box, other, 0), PLX_KEY_GRANTED);
	REFUSED(box, PLX_FULL, plx_window_create(box->mem, box->domain, &window));
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	assert_int_equal(window.slot, region.slot);
	assert_int_not_equal(window.slot, second.slot);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	box_close(box);
}

static void
a_handle_is_released_after_retire_only_and_good_for_nothing_else_then(void **state)
{
	struct box *box = box_open(SLOTS, 7);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	struct plx_window_attr window_attr;
	struct plx_region region;
	struct plx_window window;
	struct plx_key key;

	(void)state;
	region = box_region(box, BOX_FAST, &key);
	window_attr = box_window_attr(region, 0);
	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	REFUSED(box, PLX_STATE, plx_region_release(box->mem, region));
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	REFUSED(box, PLX_NO_KEY, plx_region_retire(box->mem, region));
	REFUSED(box, PLX_NO_KEY, plx_region_refresh(box->mem, region, &attr, &key));
	REFUSED(box, PLX_NO_KEY, plx_window_bind(box->mem, window, &window_attr, &key));
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
	REFUSED(box, PLX_NO_KEY, plx_region_release(box->mem, region));
	box_close(box);
}

static void
a_handle_that_names_no_region_is_no_key_for_every_call(void **state)
{
	struct box *box = box_open(SLOTS, 8);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	struct plx_window window;
	struct plx_key key = {79};
	uint32_t none[] = {0, 5, SLOTS + 1, PLX_MEM_SLOTS_MAX, UINT32_MAX, 0};

	(void)state;
	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	none[PLX_COUNT_OF(none) - 1] = window.slot;
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++) {
		struct plx_region region = {none[i]};

		REFUSED(box, PLX_NO_KEY, plx_region_retire(box->mem, region));
		REFUSED(box, PLX_NO_KEY, plx_region_release(box->mem, region));
		REFUSED(box, PLX_NO_KEY, plx_region_refresh(box->mem, region, &attr, &key));
	}
	assert_int_equal(key.v, 79);
	box_close(box);
}

static void
two_regions_over_the_same_memory_are_two_keys(void **state)
{
	struct box *box = box_open(SLOTS, 9);
	struct plx_key a, b;
	struct plx_region first = box_region(box, PLX_ACCESS_REMOTE_READ, &a);

	(void)state;
	(void)box_region(box, PLX_ACCESS_REMOTE_WRITE, &b);
	assert_int_not_equal(a.v, b.v);
	assert_int_equal(box_check(box, a, PLX_ACCESS_REMOTE_WRITE), PLX_KEY_NO_RIGHT);
	assert_int_equal(box_check(box, b, PLX_ACCESS_REMOTE_WRITE), PLX_KEY_GRANTED);
	box_drop_region(box, first);
	assert_int_equal(box_check(box, b, PLX_ACCESS_REMOTE_WRITE), PLX_KEY_GRANTED);
	box_close(box);
}

static void
a_refused_check_leaves_the_grant_as_it_was(void **state)
{
	struct box *box = box_open(SLOTS, 10);
	const struct plx_asker asker = box_asker(box);
	struct plx_grant grant, before;
	struct plx_key key;

	(void)state;
	memset(&grant, 0x5a, sizeof(grant));
	before = grant;
	(void)box_region(box, 0, &key);
	assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA, BOX_LENGTH + 1,
				       (struct plx_access){0}, &grant),
			 PLX_KEY_RANGE);
	assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA, 1,
				       (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, &grant),
			 PLX_KEY_NO_RIGHT);
	assert_ptr_equal(grant.host, before.host);
	assert_int_equal(grant.access.bits, before.access.bits);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(irdma_zero_length_registration_is_refused),
		cmocka_unit_test(a_range_that_wraps_is_refused_and_one_to_the_last_byte_is_not),
		cmocka_unit_test(memory_at_no_address_is_refused),
		cmocka_unit_test(an_unknown_right_is_refused_and_each_known_one_is_taken),
		cmocka_unit_test(
			a_region_is_granted_to_every_qp_of_its_domain_and_to_no_other_domain),
		cmocka_unit_test(a_retired_regions_key_is_unknown_at_once_and_its_slot_still_taken),
		cmocka_unit_test(
			a_handle_is_released_after_retire_only_and_good_for_nothing_else_then),
		cmocka_unit_test(a_handle_that_names_no_region_is_no_key_for_every_call),
		cmocka_unit_test(two_regions_over_the_same_memory_are_two_keys),
		cmocka_unit_test(a_refused_check_leaves_the_grant_as_it_was),
	};

	return cmocka_run_group_tests_name("mem/region", tests, NULL, NULL);
}
