/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions that are registered fast: keys that are promised first and made valid later. Start with
 * a_promised_key_is_valid_when_it_is_fulfilled().
 */
#include <pthread.h>
#include <stdatomic.h>

#include "box.h"

#define SLOTS 8

static struct plx_region
reserve(struct box *box)
{
	struct plx_region region;

	assert_int_equal(plx_region_reserve(box->mem, box->domain, NULL, &region), PLX_OK);
	return region;
}

static struct plx_promise
promise_of(struct box *box, struct plx_region region)
{
	struct plx_promise promise;

	assert_int_equal(plx_region_promise(box->mem, region, &promise), PLX_OK);
	assert_int_not_equal(promise.key.v, 0);
	return promise;
}

static enum plx_status
fulfil(struct box *box, struct plx_promise promise)
{
	const struct plx_region_attr attr = box_region_attr(box, BOX_FAST);

	return plx_region_fulfil(box->mem, box->domain, &promise, &attr);
}

static void
a_promised_key_is_valid_when_it_is_fulfilled(void **state)
{
	struct box *box = box_open(SLOTS, 1);
	struct plx_region region = reserve(box);
	struct plx_promise one = promise_of(box, region), two = promise_of(box, region);

	(void)state;
	assert_int_not_equal(one.key.v, two.key.v);
	assert_int_equal(box_check(box, one.key, PLX_ACCESS_REMOTE_READ), PLX_KEY_UNKNOWN);
	assert_int_equal(fulfil(box, one), PLX_OK);
	assert_int_equal(box_check(box, one.key, PLX_ACCESS_REMOTE_READ), PLX_KEY_GRANTED);
	/* valid still: neither again nor the next */
	REFUSED(box, PLX_STATE, fulfil(box, one));
	REFUSED(box, PLX_STATE, fulfil(box, two));
	assert_int_equal(box_invalidate(box, one.key), PLX_KEY_GRANTED);
	REFUSED(box, PLX_STATE, fulfil(box, one));
	assert_int_equal(fulfil(box, two), PLX_OK);
	assert_int_equal(box_check(box, one.key, PLX_ACCESS_REMOTE_READ), PLX_KEY_UNKNOWN);
	assert_int_equal(box_check(box, two.key, PLX_ACCESS_REMOTE_READ), PLX_KEY_GRANTED);
	box_drop_region(box, region);
	assert_int_equal(box_check(box, two.key, PLX_ACCESS_REMOTE_READ), PLX_KEY_UNKNOWN);
	box_close(box);
}

/* A request that is flushed leaves its promise void; the next promise is another. */
static void
a_promise_may_be_skipped(void **state)
{
	struct box *box = box_open(SLOTS, 2);
	struct plx_region region = reserve(box);
	struct plx_promise skipped = promise_of(box, region), kept = promise_of(box, region);

	(void)state;
	assert_int_equal(fulfil(box, kept), PLX_OK);
	assert_int_equal(box_invalidate(box, kept.key), PLX_KEY_GRANTED);
	REFUSED(box, PLX_STATE, fulfil(box, skipped));
	box_drop_region(box, region);
	box_close(box);
}

static void
what_is_wrong_is_refused(void **state)
{
	struct box *box = box_open(SLOTS, 3);
	struct plx_region region = reserve(box);
	struct plx_promise good = promise_of(box, region), bad = good;
	struct plx_region_attr attr = box_region_attr(box, BOX_FAST);
	const struct plx_domain other = {box->domain.id + 1};

	(void)state;
	REFUSED(box, PLX_NO_KEY, plx_region_fulfil(box->mem, other, &good, &attr));
	bad.slot = SLOTS + 1;
	REFUSED(box, PLX_NO_KEY, fulfil(box, bad));
	bad = good;
	bad.key.v ^= 1;
	REFUSED(box, PLX_NO_KEY, fulfil(box, bad));
	attr.access.bits = BOX_RIGHTS;
	REFUSED(box, PLX_INVALID, plx_region_fulfil(box->mem, box->domain, &good, &attr));
	attr = box_region_attr(box, BOX_FAST);
	attr.length = 0;
	REFUSED(box, PLX_INVALID, plx_region_fulfil(box->mem, box->domain, &good, &attr));
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	REFUSED(box, PLX_NO_KEY, fulfil(box, good));
	assert_int_equal(plx_region_promise(box->mem, region, &bad), PLX_NO_KEY);
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
	REFUSED(box, PLX_NO_KEY, fulfil(box, good));
	box_close(box);
}

/* A request that outlives its region is refused, though the next one in the slot has the life that
 * was promised. */
static void
a_promise_is_not_for_the_next_region_of_the_slot(void **state)
{
	struct box *box = box_open(2, 5);
	struct plx_region region = reserve(box), other = reserve(box), next;
	struct plx_promise stale[2] = {promise_of(box, region), promise_of(box, region)}, good;

	(void)state;
	box_drop_region(box, region);
	next = reserve(box);
	assert_int_equal(next.slot, region.slot);
	for (int i = 0; i < 2; i++)
		REFUSED(box, PLX_STATE, fulfil(box, stale[i]));
	good = promise_of(box, next);
	for (int i = 0; i < 2; i++) {
		assert_int_not_equal(good.key.v, stale[i].key.v);
		REFUSED(box, PLX_STATE, fulfil(box, stale[i]));
	}
	assert_int_equal(fulfil(box, good), PLX_OK);
	box_drop_region(box, next);
	box_drop_region(box, other);
	box_close(box);
}

/* ---- a region that goes while an engine registers it ---- */

enum {
	ROUNDS = 20000,
};

struct race {
	struct box *box;
	struct plx_promise promise;
	atomic_uint round, done;
};

static void *
engine(void *context)
{
	struct race *race = context;

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		while (atomic_load(&race->round) < i)
			;
		(void)!fulfil(race->box, race->promise);
		atomic_store(&race->done, i);
	}
	return NULL;
}

static void
a_key_does_not_outlive_its_region(void **state)
{
	struct race race = {.box = box_open(SLOTS, 4)};
	struct box *box = race.box;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, engine, &race), 0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		struct plx_region region = reserve(box);

		race.promise = promise_of(box, region);
		atomic_store(&race.round, i);
		for (uint32_t spin = 0; spin < i % 64; spin++)
			__asm__ volatile("");
		assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
		while (atomic_load(&race.done) < i)
			;
		assert_int_equal(box_check(box, race.promise.key, PLX_ACCESS_REMOTE_READ),
				 PLX_KEY_UNKNOWN);
		assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
	}
	pthread_join(thread, NULL);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_promised_key_is_valid_when_it_is_fulfilled),
		cmocka_unit_test(a_promise_may_be_skipped),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(a_promise_is_not_for_the_next_region_of_the_slot),
		cmocka_unit_test(a_key_does_not_outlive_its_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
