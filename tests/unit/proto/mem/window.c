/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Type 2 windows and attempts to bypass them (T12): the wrong QP, a stale key, a range or rights
 * wider than the region's, a region that is deregistered underneath. Concurrent bind and invalidate
 * are in threads.c. Start anywhere.
 */
#include "box.h"

#define SLOTS 8

static enum plx_status
try_bind(struct box *box, struct plx_window window, struct plx_window_attr attr)
{
	struct plx_key key = {78};
	enum plx_status status = plx_window_bind(box->mem, window, &attr, &key);

	if (status != PLX_OK)
		assert_int_equal(key.v, 78);
	return status;
}

static struct plx_window
unbound(struct box *box)
{
	struct plx_window window;

	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	return window;
}

static void
a_window_is_granted_to_its_own_qp_only(void **state)
{
	struct box *box = box_open(SLOTS, 1);
	struct plx_asker asker = box_asker(box);
	struct plx_grant grant;
	struct plx_key key;

	(void)state;
	(void)box_window(box, box_region(box, BOX_RIGHTS, &key), PLX_ACCESS_REMOTE_READ, &key);
	for (asker.qpn = BOX_QPN - 500; asker.qpn < BOX_QPN + 500; asker.qpn++)
		assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA, BOX_LENGTH,
					       (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant),
				 asker.qpn == BOX_QPN ? PLX_KEY_GRANTED : PLX_KEY_WRONG_QP);
	box_close(box);
}

static void
a_window_is_not_granted_to_its_qp_number_in_another_domain(void **state)
{
	struct box *box = box_open(SLOTS, 2);
	struct plx_asker asker = box_asker(box);
	struct plx_grant grant;
	struct plx_key key;

	(void)state;
	(void)box_window(box, box_region(box, BOX_RIGHTS, &key), PLX_ACCESS_REMOTE_READ, &key);
	assert_int_equal(plx_domain_create(box->mem, &asker.domain), PLX_OK);
	assert_int_equal(
		plx_key_check(box->mem, key, &asker, BOX_VA, 1, (struct plx_access){0}, &grant),
		PLX_KEY_DOMAIN);
	box_close(box);
}

static void
a_windows_bytes_are_those_of_its_region_at_the_same_address(void **state)
{
	struct box *box = box_open(SLOTS, 3);
	const struct plx_asker asker = box_asker(box);
	struct plx_key key;
	struct plx_window_attr attr =
		box_window_attr(box_region(box, BOX_RIGHTS, &key), PLX_ACCESS_REMOTE_WRITE);
	struct plx_grant grant;

	(void)state;
	attr.va += 100;
	attr.length = 50;
	assert_int_equal(plx_window_bind(box->mem, unbound(box), &attr, &key), PLX_OK);
	assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA + 120, 30,
				       (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant),
			 PLX_KEY_GRANTED);
	assert_ptr_equal(grant.host, box->arena + 120);
	assert_int_equal(grant.access.bits, PLX_ACCESS_REMOTE_WRITE);
	assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA + 120, 31,
				       (struct plx_access){0}, &grant),
			 PLX_KEY_RANGE);
	assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA + 99, 1,
				       (struct plx_access){0}, &grant),
			 PLX_KEY_RANGE);
	box_close(box);
}

static void
a_stale_key_stays_unknown_when_its_window_is_bound_again(void **state)
{
	struct box *box = box_open(SLOTS, 4);
	struct plx_key key, fresh;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window_attr attr = box_window_attr(region, PLX_ACCESS_REMOTE_READ);
	struct plx_window window = box_window(box, region, PLX_ACCESS_REMOTE_READ, &key);

	(void)state;
	assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	assert_int_equal(plx_window_bind(box->mem, window, &attr, &fresh), PLX_OK);
	assert_int_not_equal(fresh.v, key.v);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	assert_int_equal(box_check(box, fresh, 0), PLX_KEY_GRANTED);
	box_close(box);
}

static void
a_window_wider_than_its_region_is_denied(void **state)
{
	static const struct {
		int64_t va;
		uint64_t length;
		enum plx_status status;
	} cases[] = {
		{0, BOX_LENGTH, PLX_OK},         {0, 1, PLX_OK},
		{BOX_LENGTH - 1, 1, PLX_OK},     {-1, 1, PLX_DENIED},
		{-1, BOX_LENGTH, PLX_DENIED},    {-1, BOX_LENGTH + 2, PLX_DENIED},
		{0, BOX_LENGTH + 1, PLX_DENIED}, {BOX_LENGTH - 1, 2, PLX_DENIED},
		{BOX_LENGTH, 1, PLX_DENIED},     {0, UINT64_MAX, PLX_DENIED},
		{1, UINT64_MAX, PLX_DENIED},     {0, 0, PLX_INVALID},
		{INT64_MIN, 1, PLX_DENIED},      {INT64_MAX, 1, PLX_DENIED},
		{-1, UINT64_MAX, PLX_DENIED},
	};
	struct box *box = box_open(64, 5);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		struct plx_window_attr attr = box_window_attr(region, PLX_ACCESS_REMOTE_READ);
		struct plx_window window = unbound(box);

		attr.va += (uint64_t)cases[i].va;
		attr.length = cases[i].length;
		if (cases[i].status == PLX_OK)
			assert_int_equal(try_bind(box, window, attr), PLX_OK);
		else
			REFUSED(box, cases[i].status, try_bind(box, window, attr));
	}
	box_close(box);
}

/* The region's required rights: bind, and local write for remote write or atomic. */
static void
a_windows_rights_never_exceed_what_its_region_permits(void **state)
{
	struct box *box = box_open(SLOTS, 6);

	(void)state;
	for (unsigned region_bits = 0; region_bits <= PLX_ACCESS_ALL; region_bits++) {
		for (unsigned bits = 0; bits <= UINT8_MAX; bits++) {
			struct plx_key key;
			struct plx_region region = box_region(box, (uint8_t)region_bits, &key);
			struct plx_window window = unbound(box);
			enum plx_status status = PLX_OK;

			if (bits & ~(unsigned)BOX_REMOTE)
				status = PLX_INVALID;
			else if (!(region_bits & PLX_ACCESS_BIND))
				status = PLX_DENIED;
			else if (bits & (PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC) &&
				 !(region_bits & PLX_ACCESS_LOCAL_WRITE))
				status = PLX_DENIED;
			assert_int_equal(
				try_bind(box, window, box_window_attr(region, (uint8_t)bits)),
				status);
			box_drop_window(box, window);
			box_drop_region(box, region);
		}
	}
	box_close(box);
}

static void
a_window_is_not_bound_to_a_region_of_another_domain(void **state)
{
	struct box *box = box_open(SLOTS, 7);
	struct plx_window window = unbound(box);
	struct plx_region region;
	struct plx_key key;

	(void)state;
	assert_int_equal(plx_domain_create(box->mem, &box->domain), PLX_OK);
	region = box_region(box, BOX_RIGHTS, &key);
	REFUSED(box, PLX_DENIED, try_bind(box, window, box_window_attr(region, 0)));
	box_close(box);
}

static void
a_window_is_not_bound_to_an_invalidated_region(void **state)
{
	struct box *box = box_open(SLOTS, 8);
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	struct plx_window window = unbound(box);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_FAST, &key);

	(void)state;
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	REFUSED(box, PLX_DENIED, try_bind(box, window, box_window_attr(region, 0)));
	assert_int_equal(plx_region_refresh(box->mem, region, &attr, &key), PLX_OK);
	assert_int_equal(try_bind(box, window, box_window_attr(region, 0)), PLX_OK);
	box_close(box);
}

static void
a_window_is_bound_once_at_a_time(void **state)
{
	struct box *box = box_open(SLOTS, 9);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window window = box_window(box, region, 0, &key);

	(void)state;
	REFUSED(box, PLX_STATE, try_bind(box, window, box_window_attr(region, 0)));
	assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
	box_close(box);
}

static void
a_region_under_windows_is_busy_until_the_last_one_is_gone(void **state)
{
	struct box *box = box_open(SLOTS, 10);
	struct plx_key key, first, second, third;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window retired;

	(void)state;
	(void)box_window(box, region, 0, &first);
	retired = box_window(box, region, 0, &second);
	(void)box_window(box, region, 0, &third);
	REFUSED(box, PLX_BUSY, plx_region_retire(box->mem, region));
	assert_int_equal(box_invalidate(box, first), PLX_KEY_GRANTED);
	REFUSED(box, PLX_BUSY, plx_region_retire(box->mem, region));
	assert_int_equal(plx_window_retire(box->mem, retired), PLX_OK);
	REFUSED(box, PLX_BUSY, plx_region_retire(box->mem, region));
	assert_int_equal(box_check(box, key, 0), PLX_KEY_GRANTED);
	assert_int_equal(box_check(box, third, 0), PLX_KEY_GRANTED);
	assert_int_equal(box_invalidate(box, third), PLX_KEY_GRANTED);
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	box_close(box);
}

static void
unbinding_twice_unpins_once(void **state)
{
	struct box *box = box_open(SLOTS, 11);
	struct plx_key key, other;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window window = box_window(box, region, 0, &key);

	(void)state;
	(void)box_window(box, region, 0, &other);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
	assert_int_equal(box_invalidate(box, key), PLX_KEY_UNKNOWN);
	box_drop_window(box, window);
	REFUSED(box, PLX_BUSY, plx_region_retire(box->mem, region));
	assert_int_equal(box_invalidate(box, other), PLX_KEY_GRANTED);
	box_drop_region(box, region);
	box_close(box);
}

static void
a_handle_that_names_no_window_is_no_key_for_every_call(void **state)
{
	struct box *box = box_open(SLOTS, 12);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window window = unbound(box);
	const uint32_t none[] = {0, 5, SLOTS + 1, PLX_MEM_SLOTS_MAX, UINT32_MAX, region.slot};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++) {
		struct plx_window wrong = {none[i]};
		struct plx_window_attr attr = box_window_attr(region, 0);

		REFUSED(box, PLX_NO_KEY, plx_window_retire(box->mem, wrong));
		REFUSED(box, PLX_NO_KEY, plx_window_release(box->mem, wrong));
		REFUSED(box, PLX_NO_KEY, try_bind(box, wrong, attr));
		attr.region.slot = none[i];
		if (none[i] != region.slot)
			REFUSED(box, PLX_NO_KEY, try_bind(box, window, attr));
	}
	box_close(box);
}

static void
a_window_ends_in_two_steps_too(void **state)
{
	struct box *box = box_open(SLOTS, 13);
	struct plx_key key;
	struct plx_region region = box_region(box, BOX_RIGHTS, &key);
	struct plx_window window = box_window(box, region, 0, &key);

	(void)state;
	REFUSED(box, PLX_STATE, plx_window_release(box->mem, window));
	assert_int_equal(plx_window_retire(box->mem, window), PLX_OK);
	assert_int_equal(box_check(box, key, 0), PLX_KEY_UNKNOWN);
	REFUSED(box, PLX_NO_KEY, plx_window_retire(box->mem, window));
	REFUSED(box, PLX_NO_KEY, try_bind(box, window, box_window_attr(region, 0)));
	assert_int_equal(plx_window_release(box->mem, window), PLX_OK);
	REFUSED(box, PLX_NO_KEY, plx_window_release(box->mem, window));
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_granted_to_its_own_qp_only),
		cmocka_unit_test(a_window_is_not_granted_to_its_qp_number_in_another_domain),
		cmocka_unit_test(a_windows_bytes_are_those_of_its_region_at_the_same_address),
		cmocka_unit_test(a_stale_key_stays_unknown_when_its_window_is_bound_again),
		cmocka_unit_test(a_window_wider_than_its_region_is_denied),
		cmocka_unit_test(a_windows_rights_never_exceed_what_its_region_permits),
		cmocka_unit_test(a_window_is_not_bound_to_a_region_of_another_domain),
		cmocka_unit_test(a_window_is_not_bound_to_an_invalidated_region),
		cmocka_unit_test(a_window_is_bound_once_at_a_time),
		cmocka_unit_test(a_region_under_windows_is_busy_until_the_last_one_is_gone),
		cmocka_unit_test(unbinding_twice_unpins_once),
		cmocka_unit_test(a_handle_that_names_no_window_is_no_key_for_every_call),
		cmocka_unit_test(a_window_ends_in_two_steps_too),
	};

	return cmocka_run_group_tests_name("mem/window", tests, NULL, NULL);
}
