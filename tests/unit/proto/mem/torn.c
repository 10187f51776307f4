/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread re-registers a slot as fast as it can, while others check or invalidate its key: each
 * result must match one life of the slot. There is no grace period here, nothing that slows the
 * thread down. Granted memory is never accessed. Also run under ThreadSanitizer. Start with
 * read_once().
 */
#include <pthread.h>
#include <stdlib.h>

#include "box.h"
#include "clock.h"

#define READERS 2
#define LIVES   4096 /* signatures repeat when keys do */
#define RUN_NS  (1000 * PLX_MSEC)
#define GIVE_UP (60 * PLX_SEC)

struct stage {
	struct box *box;
	uint64_t mail;    /* atomic: key << 32 | life */
	uint64_t granted; /* atomic */
	uint64_t torn;    /* atomic; what must not happen */
	bool stop;        /* atomic */
};

/* No two of LIVES consecutive lives share any of these; nothing is ever dereferenced. */
static struct plx_region_attr
attr_of(uint32_t life)
{
	uint64_t n = 1 + life % LIVES;
	uint8_t access = life & 1 ? PLX_ACCESS_REMOTE_READ : PLX_ACCESS_REMOTE_WRITE;

	return (struct plx_region_attr){.va = n << 32,
					.host = (uint8_t *)(uintptr_t)(n << 32),
					.length = n,
					.access = {access | PLX_ACCESS_INVALIDATE}};
}

static void
read_once(struct stage *stage, const struct plx_asker *asker)
{
	uint64_t mail = __atomic_load_n(&stage->mail, __ATOMIC_ACQUIRE);
	struct plx_region_attr attr = attr_of((uint32_t)mail);
	struct plx_grant grant = {0};
	enum plx_key_verdict verdict =
		plx_key_check(stage->box->mem, (struct plx_key){(uint32_t)(mail >> 32)}, asker,
			      attr.va, attr.length, attr.access, &grant);

	if (verdict == PLX_KEY_UNKNOWN)
		return;
	if (verdict == PLX_KEY_GRANTED && grant.host == attr.host &&
	    grant.access.bits == attr.access.bits)
		__atomic_fetch_add(&stage->granted, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&stage->torn, 1, __ATOMIC_RELAXED);
}

static void *
reader_main(void *arg)
{
	struct stage *stage = arg;
	const struct plx_asker asker = box_asker(stage->box);

	while (!__atomic_load_n(&stage->stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 64; i++)
			read_once(stage, &asker);
	}
	return NULL;
}

static bool
goes_on(uint64_t start, bool seen_enough)
{
	uint64_t lasted = test_ns() - start;

	return lasted < RUN_NS || (!seen_enough && lasted < GIVE_UP);
}

/* Of many lengths, so that one thread's step falls everywhere into another's. */
static void
linger(struct plx_prng *prng)
{
	for (uint64_t turns = plx_prng_below(prng, 128); turns > 0; turns--)
		__asm__ volatile("" ::: "memory");
}

static void
post(struct stage *stage, struct plx_key key, uint32_t life)
{
	__atomic_store_n(&stage->mail, (uint64_t)key.v << 32 | life, __ATOMIC_RELEASE);
}

/* Keys repeat, so that readers can get the next one before it is published. */
static uint32_t
refresh_for_a_while(struct stage *stage)
{
	const struct plx_asker asker = box_asker(stage->box);
	static struct plx_key keys[LIVES];
	struct plx_region_attr attr = attr_of(1);
	uint64_t start = test_ns(), refused = 0;
	struct plx_region region;
	struct plx_prng prng;
	uint32_t life = 1;

	plx_prng_init(&prng, 1);
	assert_int_equal(plx_region_register(stage->box->mem, stage->box->domain, &attr, &region,
					     &keys[life]),
			 PLX_OK);
	while (life < LIVES ||
	       goes_on(start, __atomic_load_n(&stage->granted, __ATOMIC_RELAXED) > 0)) {
		for (int i = 0; i < 1000; i++) {
			struct plx_key *key = &keys[life % LIVES];

			post(stage, *key, life);
			linger(&prng);
			refused += plx_key_invalidate(stage->box->mem, *key, &asker) != 0;
			attr = attr_of(++life);
			key = &keys[life % LIVES];
			if (life >= LIVES + 1) {
				post(stage, *key, life);
				linger(&prng);
			}
			refused += plx_region_refresh(stage->box->mem, region, &attr, key) != 0;
		}
	}
	assert_int_equal(refused, 0);
	box_drop_region(stage->box, region);
	return life;
}

static void
a_check_beside_a_writer_is_told_of_one_life_or_of_none(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	pthread_t threads[READERS];
	uint32_t lives;

	(void)state;
	assert_non_null(stage);
	stage->box = box_open(2, 1);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader_main, stage), 0);
	lives = refresh_for_a_while(stage);
	__atomic_store_n(&stage->stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	print_message("%u lives, %llu grants\n", lives, (unsigned long long)stage->granted);
	assert_int_equal(stage->torn, 0);
	assert_true(stage->granted > 0);
	box_close(stage->box);
	free(stage);
}

static void *
invalidator_main(void *arg)
{
	struct stage *stage = arg;
	const struct plx_asker asker = box_asker(stage->box);
	struct plx_prng prng;

	plx_prng_init(&prng, 2);
	while (!__atomic_load_n(&stage->stop, __ATOMIC_RELAXED)) {
		uint64_t mail = __atomic_load_n(&stage->mail, __ATOMIC_ACQUIRE);
		const struct plx_key key = {(uint32_t)(mail >> 32)};

		linger(&prng);
		if (plx_key_invalidate(stage->box->mem, key, &asker) == PLX_KEY_GRANTED)
			__atomic_fetch_add(&stage->granted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* After a successful bind the region's key stays valid, whoever tries to invalidate it. */
static void
bind_once(struct stage *stage, struct plx_region region, struct plx_window window,
	  struct plx_key region_key, uint64_t *bound)
{
	const struct plx_window_attr attr = {
		.region = region, .va = attr_of(0).va, .length = 1, .qpn = BOX_QPN};
	const struct plx_asker asker = box_asker(stage->box);
	struct plx_key key;
	enum plx_status status = plx_window_bind(stage->box->mem, window, &attr, &key);

	if (status != PLX_OK) {
		stage->torn += status != PLX_DENIED;
		return;
	}
	++*bound;
	stage->torn +=
		plx_key_invalidate_check(stage->box->mem, region_key, &asker) != PLX_KEY_KIND;
	stage->torn += plx_key_invalidate(stage->box->mem, key, &asker) != PLX_KEY_GRANTED;
}

static void
a_bind_and_an_invalidation_of_its_region_do_not_both_succeed(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct plx_region_attr attr = attr_of(0);
	struct plx_region region;
	struct plx_window window;
	struct plx_prng prng;
	struct plx_key key;
	pthread_t thread;
	uint64_t start = test_ns(), bound = 0, lives = 1, granted;

	(void)state;
	assert_non_null(stage);
	stage->box = box_open(2, 1);
	attr.access.bits |= PLX_ACCESS_BIND;
	plx_prng_init(&prng, 3);
	assert_int_equal(plx_window_create(stage->box->mem, stage->box->domain, &window), 0);
	assert_int_equal(
		plx_region_register(stage->box->mem, stage->box->domain, &attr, &region, &key), 0);
	assert_int_equal(pthread_create(&thread, NULL, invalidator_main, stage), 0);
	do {
		post(stage, key, 0);
		linger(&prng);
		bind_once(stage, region, window, key, &bound);
		lives += plx_region_refresh(stage->box->mem, region, &attr, &key) == PLX_OK;
		granted = __atomic_load_n(&stage->granted, __ATOMIC_RELAXED);
	} while (goes_on(start, bound && granted));
	__atomic_store_n(&stage->stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	granted = stage->granted;
	print_message("%llu lives, %llu windows\n", (unsigned long long)lives,
		      (unsigned long long)bound);
	assert_int_equal(stage->torn, 0);
	assert_true(bound > 0 && granted > 0);
	/* Each life but the last was ended by one invalidation; the last perhaps. */
	assert_true(granted == lives || granted == lives - 1);
	box_drop_window(stage->box, window);
	box_drop_region(stage->box, region);
	box_close(stage->box);
	free(stage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_check_beside_a_writer_is_told_of_one_life_or_of_none),
		cmocka_unit_test(a_bind_and_an_invalidation_of_its_region_do_not_both_succeed),
	};

	return cmocka_run_group_tests_name("mem/torn", tests, NULL, NULL);
}
