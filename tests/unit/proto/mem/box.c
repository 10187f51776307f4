/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The box of box.h. The table's memory is filled with garbage first, so that nothing relies on a
 * zero that plx_mem_init() did not write. Two boxes never share anything. Start with box_open().
 */
#include <stdlib.h>

#include "block.h"
#include "box.h"

struct box *
box_open(uint32_t slots, uint64_t seed)
{
	return box_open_limits(slots, BOX_DOMAINS, seed);
}

struct box *
box_open_limits(uint32_t slots, uint32_t domains, uint64_t seed)
{
	const struct plx_mem_limits limits = {.slots = slots, .domains = domains};
	const struct plx_secret secret = {{plx_splitmix64(&seed), plx_splitmix64(&seed)}};
	struct box *box = calloc(1, sizeof(*box));
	void *memory;

	assert_non_null(box);
	box->bytes = plx_mem_bytes(&limits);
	memory = test_block(box->bytes);
	box->mem = plx_mem_init(memory, &limits, &secret);
	assert_ptr_equal(box->mem, memory);
	assert_int_equal(plx_domain_create(box->mem, &box->domain), PLX_OK);
	return box;
}

void
box_close(struct box *box)
{
	free(box->before);
	free(box->mem);
	free(box);
}

void
box_remember(struct box *box)
{
	if (!box->before)
		box->before = malloc(box->bytes);
	assert_non_null(box->before);
	memcpy(box->before, box->mem, box->bytes);
}

void
box_assert_unchanged(const struct box *box)
{
	assert_memory_equal(box->before, box->mem, box->bytes);
}

struct plx_region_attr
box_region_attr(struct box *box, uint8_t access)
{
	return (struct plx_region_attr){
		.va = BOX_VA, .host = box->arena, .length = BOX_LENGTH, .access = {access}};
}

struct plx_window_attr
box_window_attr(struct plx_region region, uint8_t access)
{
	return (struct plx_window_attr){.region = region,
					.va = BOX_VA,
					.length = BOX_LENGTH,
					.access = {access},
					.qpn = BOX_QPN};
}

struct plx_region
box_region(struct box *box, uint8_t access, struct plx_key *key)
{
	struct plx_region_attr attr = box_region_attr(box, access);
	struct plx_region region;

	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, key), PLX_OK);
	assert_true(region.slot != 0 && key->v != 0);
	return region;
}

struct plx_window
box_window(struct box *box, struct plx_region region, uint8_t access, struct plx_key *key)
{
	struct plx_window_attr attr = box_window_attr(region, access);
	struct plx_window window;

	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	assert_int_equal(plx_window_bind(box->mem, window, &attr, key), PLX_OK);
	assert_true(window.slot != 0 && key->v != 0);
	return window;
}

void
box_drop_region(struct box *box, struct plx_region region)
{
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
}

void
box_drop_window(struct box *box, struct plx_window window)
{
	assert_int_equal(plx_window_retire(box->mem, window), PLX_OK);
	assert_int_equal(plx_window_release(box->mem, window), PLX_OK);
}

struct plx_asker
box_asker(const struct box *box)
{
	return (struct plx_asker){.domain = box->domain, .qpn = BOX_QPN};
}

enum plx_key_verdict
box_check(const struct box *box, struct plx_key key, uint8_t need)
{
	const struct plx_asker asker = box_asker(box);
	struct plx_grant grant;

	return plx_key_check(box->mem, key, &asker, BOX_VA, 1, (struct plx_access){need}, &grant);
}

enum plx_key_verdict
box_invalidate(struct box *box, struct plx_key key)
{
	const struct plx_asker asker = box_asker(box);

	return plx_key_invalidate(box->mem, key, &asker);
}
