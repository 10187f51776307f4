/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Invalidation, by the owner or by the peer, and reusing a fast-register region afterwards. The
 * table treats both sides the same: a QP and its domain. Start with the verdicts.
 */
#include "box.h"

#define SLOTS 8

/* Both questions, which must agree; the verdict of the one that acts. */
static enum plx_key_verdict
refused_by_both(struct box *box, struct plx_key key, const struct plx_asker *asker)
{
	enum plx_key_verdict verdict;

	box_remember(box);
	verdict = plx_key_invalidate_check(box->mem, key, asker);
	assert_int_not_equal(verdict, PLX_KEY_GRANTED);
	assert_int_equal(plx_key_invalidate(box->mem, key, asker), verdict);
	box_assert_unchanged(box);
	return verdict;
}

static void
asking_whether_a_key_may_be_invalidated_changes_nothing(void **state)
{
	struct box *box = box_open(SLOTS, 1);
	const struct plx_asker asker = box_asker(box);
	struct plx_key fast, window;

	(void)state;
	(void)box_window(box, box_region(box, BOX_RIGHTS, &window), 0, &window);
	(void)box_region(box, BOX_FAST, &fast);
	REFUSED(box, PLX_KEY_GRANTED, plx_key_invalidate_check(box->mem, fast, &asker));
	REFUSED(box, PLX_KEY_GRANTED, plx_key_invalidate_check(box->mem, window, &asker));
	assert_int_equal(box_check(box, fast, 0), PLX_KEY_GRANTED);
	box_close(box);
}

static void
a_plain_region_is_not_invalidated(void **state)
{
	struct box *box = box_open(SLOTS, 2);
	const struct plx_asker asker = box_asker(box);
	struct plx_key key;

	(void)state;
	(void)box_region(box, BOX_RIGHTS, &key);
	assert_int_equal(refused_by_both(box, key, &asker), PLX_KEY_KIND);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
	box_close(box);
}

static void
a_fast_register_region_under_a_window_is_not_invalidated(void **state)
{
	struct box *box = box_open(SLOTS, 3);
	const struct plx_asker asker = box_asker(box);
	struct plx_key key, window_key;
	struct plx_region region = box_region(box, BOX_FAST, &key);

	(void)state;
	(void)box_window(box, region, 0, &window_key);
	assert_int_equal(refused_by_both(box, key, &asker), PLX_KEY_KIND);
	assert_int_equal(box_invalidate(box, window_key), PLX_KEY_GRANTED);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	box_close(box);
}

static void
another_domain_and_another_qp_cannot_invalidate(void **state)
{
	struct box *box = box_open(SLOTS, 4);
	struct plx_asker asker = box_asker(box);
	struct plx_key fast, window;

	(void)state;
	(void)box_window(box, box_region(box, BOX_RIGHTS, &window), 0, &window);
	(void)box_region(box, BOX_FAST, &fast);
	asker.qpn++;
	assert_int_equal(refused_by_both(box, window, &asker), PLX_KEY_WRONG_QP);
	assert_int_equal(plx_key_invalidate_check(box->mem, fast, &asker), PLX_KEY_GRANTED);
	asker = box_asker(box);
	assert_int_equal(plx_domain_create(box->mem, &asker.domain), PLX_OK);
	assert_int_equal(refused_by_both(box, window, &asker), PLX_KEY_DOMAIN);
	assert_int_equal(refused_by_both(box, fast, &asker), PLX_KEY_DOMAIN);
	box_close(box);
}

static void
a_key_that_is_none_or_no_longer_cannot_be_invalidated(void **state)
{
	struct box *box = box_open(SLOTS, 5);
	const struct plx_asker asker = box_asker(box);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_FAST, &key);

	(void)state;
	assert_int_equal(refused_by_both(box, (struct plx_key){0}, &asker), PLX_KEY_UNKNOWN);
	assert_int_equal(refused_by_both(box, (struct plx_key){key.v ^ 1}, &asker),
			 PLX_KEY_UNKNOWN);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	assert_int_equal(refused_by_both(box, key, &asker), PLX_KEY_UNKNOWN);
	box_drop_region(box, region);
	assert_int_equal(refused_by_both(box, key, &asker), PLX_KEY_UNKNOWN);
	box_close(box);
}

static void
refresh_gives_a_new_key_with_the_new_range_and_rights(void **state)
{
	struct box *box = box_open(SLOTS, 6);
	const struct plx_asker asker = box_asker(box);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	struct plx_key key, fresh;
	struct plx_region region = box_region(box, BOX_FAST, &key);
	struct plx_grant grant;

	(void)state;
	attr.va = 0x1000;
	attr.host = box->arena + 8;
	attr.length = 16;
	attr.access.bits = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_INVALIDATE;
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	assert_int_equal(plx_region_refresh(box->mem, region, &attr, &fresh), PLX_OK);
	assert_int_not_equal(fresh.v, key.v);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	assert_int_equal(plx_key_check(box->mem, fresh, &asker, 0x1004, 12,
				       (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant),
			 PLX_KEY_GRANTED);
	assert_ptr_equal(grant.host, box->arena + 12);
	assert_int_equal(grant.access.bits, attr.access.bits);
	assert_int_equal(
		plx_key_check(box->mem, fresh, &asker, BOX_VA, 1, (struct plx_access){0}, &grant),
		PLX_KEY_RANGE);
	assert_int_equal(plx_key_check(box->mem, fresh, &asker, 0x1000, 1,
				       (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant),
			 PLX_KEY_NO_RIGHT);
	assert_int_equal(plx_mem_in_use(box->mem), 1);
	box_close(box);
}

static void
refresh_is_refused_while_the_key_is_valid(void **state)
{
	struct box *box = box_open(SLOTS, 7);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	struct plx_key key, fresh = {78};
	struct plx_region fast = box_region(box, BOX_FAST, &key);
	struct plx_region plain = box_region(box, BOX_RIGHTS, &key);

	(void)state;
	REFUSED(box, PLX_STATE, plx_region_refresh(box->mem, fast, &attr, &fresh));
	REFUSED(box, PLX_STATE, plx_region_refresh(box->mem, plain, &attr, &fresh));
	(void)box_window(box, fast, 0, &key);
	REFUSED(box, PLX_STATE, plx_region_refresh(box->mem, fast, &attr, &fresh));
	assert_int_equal(fresh.v, 78);
	box_close(box);
}

static void
refresh_refuses_what_register_refuses_and_losing_the_kind(void **state)
{
	struct box *box = box_open(SLOTS, 8);
	const struct plx_region_attr good = box_region_attr(box, BOX_FAST);
	struct plx_region_attr attr;
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_FAST, &key);

	(void)state;
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	attr = good;
	attr.length = 0;
	REFUSED(box, PLX_INVALID, plx_region_refresh(box->mem, region, &attr, &key));
	attr = good;
	attr.va = UINT64_MAX;
	REFUSED(box, PLX_INVALID, plx_region_refresh(box->mem, region, &attr, &key));
	attr = good;
	attr.access.bits |= 0x80;
	REFUSED(box, PLX_INVALID, plx_region_refresh(box->mem, region, &attr, &key));
	attr = good;
	attr.access.bits = BOX_RIGHTS;
	REFUSED(box, PLX_INVALID, plx_region_refresh(box->mem, region, &attr, &key));
	assert_int_equal(plx_region_refresh(box->mem, region, &good, &key), PLX_OK);
	box_close(box);
}

static void
an_invalidated_region_can_be_deregistered(void **state)
{
	struct box *box = box_open(SLOTS, 9);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_FAST, &key);

	(void)state;
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	REFUSED(box, PLX_STATE, plx_region_release(box->mem, region));
	box_drop_region(box, region);
	assert_int_equal(plx_mem_in_use(box->mem), 0);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asking_whether_a_key_may_be_invalidated_changes_nothing),
		cmocka_unit_test(a_plain_region_is_not_invalidated),
		cmocka_unit_test(a_fast_register_region_under_a_window_is_not_invalidated),
		cmocka_unit_test(another_domain_and_another_qp_cannot_invalidate),
		cmocka_unit_test(a_key_that_is_none_or_no_longer_cannot_be_invalidated),
		cmocka_unit_test(refresh_gives_a_new_key_with_the_new_range_and_rights),
		cmocka_unit_test(refresh_is_refused_while_the_key_is_valid),
		cmocka_unit_test(refresh_refuses_what_register_refuses_and_losing_the_kind),
		cmocka_unit_test(an_invalidated_region_can_be_deregistered),
	};

	return cmocka_run_group_tests_name("mem/invalidate", tests, NULL, NULL);
}
