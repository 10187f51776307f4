/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maps, of regions too large for a list of pages: which place a page gets, by one thread and by
 * several, and what a full map grants. Granted memory is never accessed. Start with
 * a_page_keeps_its_place().
 */
#include <pthread.h>
#include <string.h>

#include "box.h"

#define FIRST UINT64_C(0x7f0000000000)
#define ALL   ((UINT64_C(1) << 47) - 2 * PLX_PAGE_BYTES)

enum {
	SLOTS = 8,
	PLACES = 1024,
};

struct scene {
	struct box *box;
	uint64_t page[PLACES];
	struct plx_page_map map;
	struct plx_region region;
	struct plx_key key;
};

static struct plx_region_attr
attr_of(struct scene *scene)
{
	return (struct plx_region_attr){.va = PLX_PAGE_BYTES,
					.length = ALL,
					.access = {PLX_ACCESS_LOCAL_WRITE},
					.map = &scene->map};
}

static void
begin(struct scene *scene)
{
	struct plx_region_attr attr = attr_of(scene);

	memset(scene, 0, sizeof(*scene));
	scene->box = box_open(SLOTS, 5);
	scene->map = (struct plx_page_map){.page = scene->page, .first = FIRST, .places = PLACES};
	assert_int_equal(plx_region_register(scene->box->mem, scene->box->domain, &attr,
					     &scene->region, &scene->key),
			 PLX_OK);
}

static void
end(struct scene *scene)
{
	box_drop_region(scene->box, scene->region);
	box_close(scene->box);
}

/* Where the byte at `va` is. Returns: 0: it is not granted */
static uint64_t
place_of(const struct scene *scene, uint64_t va)
{
	const struct plx_asker asker = box_asker(scene->box);
	struct plx_grant grant = {0};
	uint32_t bytes = 0;

	if (plx_key_check_page(scene->box->mem, scene->key, &asker, va, 2 * PLX_PAGE_BYTES,
			       (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, &grant,
			       &bytes) != PLX_KEY_GRANTED)
		return 0;
	assert_true(grant.is_private);
	assert_int_equal(bytes, PLX_PAGE_BYTES - va % PLX_PAGE_BYTES);
	return (uintptr_t)grant.host;
}

static void
a_page_keeps_its_place(void **state)
{
	static const uint64_t pages[] = {1, 2, 17, 1 << 20, (UINT64_C(1) << 35) - 4};
	struct scene scene;

	(void)state;
	begin(&scene);
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < PLX_COUNT_OF(pages); i++) {
			uint64_t va = pages[i] << PLX_PAGE_SHIFT, place = place_of(&scene, va + 5);

			assert_in_range(place, FIRST, FIRST + PLACES * PLX_PAGE_BYTES - 1);
			assert_int_equal(place % PLX_PAGE_BYTES, 5);
			assert_int_equal(scene.page[(place - FIRST) >> PLX_PAGE_SHIFT], va);
			assert_int_equal(place_of(&scene, va), place - 5);
		}
	end(&scene);
}

static void
pages_that_follow_each_other_have_places_that_do(void **state)
{
	const uint64_t va = UINT64_C(0x7000) * PLX_MAP_PLACES_MIN * PLX_PAGE_BYTES;
	struct scene scene;
	uint64_t first;

	(void)state;
	begin(&scene);
	first = place_of(&scene, va);
	for (uint64_t i = 1; i < PLX_MAP_PLACES_MIN; i++)
		assert_int_equal(place_of(&scene, va + i * PLX_PAGE_BYTES),
				 first + i * PLX_PAGE_BYTES);
	end(&scene);
}

/* What has a place is granted as before. */
static void
a_full_map_grants_no_other_page(void **state)
{
	struct scene scene;
	uint64_t given[2 * PLACES + 1] = {0};
	uint32_t refused = 0, placed = 0;

	(void)state;
	begin(&scene);
	for (uint64_t i = 1; i <= 2 * PLACES; i++) {
		given[i] = place_of(&scene, i << PLX_PAGE_SHIFT);
		refused += given[i] == 0;
	}
	assert_in_range(refused, PLACES, PLACES + PLACES / 4);
	for (uint32_t i = 0; i < PLACES; i++)
		placed += scene.page[i] != 0;
	assert_int_equal(placed, 2 * PLACES - refused);
	for (uint64_t i = 1; i <= 2 * PLACES; i++)
		assert_int_equal(place_of(&scene, i << PLX_PAGE_SHIFT), given[i]);
	end(&scene);
}

static void
a_map_has_bounds_and_no_remote_right(void **state)
{
	static const uint8_t no[] = {PLX_ACCESS_REMOTE_READ, PLX_ACCESS_REMOTE_WRITE,
				     PLX_ACCESS_REMOTE_ATOMIC, PLX_ACCESS_BIND,
				     PLX_ACCESS_INVALIDATE};
	struct plx_region_attr attr;
	struct plx_region region;
	struct plx_asker asker;
	struct plx_grant grant;
	struct scene scene;
	struct plx_key key;

	(void)state;
	begin(&scene);
	asker = box_asker(scene.box);
	assert_int_equal(place_of(&scene, PLX_PAGE_BYTES - 1), 0);
	assert_int_equal(place_of(&scene, UINT64_C(1) << 47), 0);
	assert_int_equal(plx_key_check(scene.box->mem, scene.key, &asker, PLX_PAGE_BYTES, 8,
				       (struct plx_access){0}, &grant),
			 PLX_KEY_PIECES);
	for (size_t i = 0; i < PLX_COUNT_OF(no); i++) {
		attr = attr_of(&scene);
		attr.access.bits |= no[i];
		REFUSED(scene.box, PLX_INVALID,
			plx_region_register(scene.box->mem, scene.box->domain, &attr, &region,
					    &key));
	}
	end(&scene);
}

static void
wrong_maps_are_refused(void **state)
{
	uint64_t page[PLACES] = {0};
	const struct plx_page_map wrong[] = {
		{.page = NULL, .first = FIRST, .places = PLACES},
		{.page = page, .first = 0, .places = PLACES},
		{.page = page, .first = FIRST + 1, .places = PLACES},
		{.page = page, .first = FIRST, .places = PLACES - 1},
		{.page = page, .first = FIRST, .places = PLX_MAP_PLACES_MIN / 2},
	};
	struct plx_region region;
	struct scene scene;
	struct plx_key key;

	(void)state;
	begin(&scene);
	for (size_t i = 0; i < PLX_COUNT_OF(wrong); i++) {
		struct plx_page_map map = wrong[i];
		struct plx_region_attr attr = attr_of(&scene);

		attr.map = &map;
		REFUSED(scene.box, PLX_INVALID,
			plx_region_register(scene.box->mem, scene.box->domain, &attr, &region,
					    &key));
	}
	end(&scene);
}

/* ---- several engines ---- */

struct engine {
	struct scene *scene;
	uint64_t seed;
	uint64_t place[PLACES / 2];
};

static void *
ask_all(void *arg)
{
	struct engine *engine = arg;

	for (uint64_t i = 0; i < PLACES / 2; i++) {
		uint64_t at = (i * 37 + engine->seed) % (PLACES / 2);

		engine->place[at] = place_of(engine->scene, (at + 1) << PLX_PAGE_SHIFT);
	}
	return NULL;
}

static void
engines_agree_on_places(void **state)
{
	struct engine engine[2] = {{0}};
	struct scene scene;
	pthread_t thread;

	(void)state;
	for (uint64_t round = 0; round < 200; round++) {
		begin(&scene);
		for (uint64_t i = 0; i < 2; i++)
			engine[i] = (struct engine){.scene = &scene, .seed = i * round};
		assert_int_equal(pthread_create(&thread, NULL, ask_all, &engine[1]), 0);
		ask_all(&engine[0]);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_memory_equal(engine[0].place, engine[1].place, sizeof(engine[0].place));
		for (uint64_t i = 0; i < PLACES / 2; i++)
			assert_int_equal(scene.page[(engine[0].place[i] - FIRST) >> PLX_PAGE_SHIFT],
					 (i + 1) << PLX_PAGE_SHIFT);
		end(&scene);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_keeps_its_place),
		cmocka_unit_test(pages_that_follow_each_other_have_places_that_do),
		cmocka_unit_test(a_full_map_grants_no_other_page),
		cmocka_unit_test(a_map_has_bounds_and_no_remote_right),
		cmocka_unit_test(wrong_maps_are_refused),
		cmocka_unit_test(engines_agree_on_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
