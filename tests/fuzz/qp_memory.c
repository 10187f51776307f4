/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory and keys for the fuzzed queue pair: regions and windows that are created and destroyed,
 * and a record of what they grant. It never asks the library what a key grants, except whether it
 * is still valid. Start with world_grants().
 */
#include "qp_world.h"

enum {
	BEFORE_PAGE = 64, /* bytes of a region on the first of its two pages */
};

static uint8_t arena[WORLD_REGIONS][WORLD_REGION_BYTES] __attribute__((aligned(8)));

/* For regions whose pages are apart, and in the other order. */
static uint8_t papers[WORLD_REGIONS][3][PLX_PAGE_BYTES] __attribute__((aligned(PLX_PAGE_BYTES)));
static uint64_t pages[WORLD_REGIONS][2];

static void
keep_old_key(struct world *w, struct plx_key key)
{
	w->old_keys[w->old_key_next++ % WORLD_OLD_KEYS] = key;
}

static void
region_register(struct world *w, struct world_region *region)
{
	CHECK(plx_region_register(w->mem, region->ours ? w->domain : w->other, &region->attr,
				  &region->handle, &region->key) == PLX_OK);
	region->live = true;
}

/* Deregister the registered, register the unregistered, re-register the invalidated. */
void
world_region_toggle(struct world *w, uint32_t index)
{
	struct world_region *region = &w->regions[index % WORLD_REGIONS];
	struct plx_key key;

	if (plx_region_refresh(w->mem, region->handle, &region->attr, &key) == PLX_OK) {
		keep_old_key(w, region->key);
		region->key = key;
		region->live = true;
	} else if (!region->live) {
		region_register(w, region);
	} else if (plx_region_retire(w->mem, region->handle) == PLX_OK) {
		CHECK(plx_region_release(w->mem, region->handle) == PLX_OK);
		keep_old_key(w, region->key);
		region->live = false;
	}
}

void
world_window_toggle(struct world *w, uint32_t index, uint8_t how)
{
	struct world_window *window = &w->windows[index % WORLD_WINDOWS];
	const struct world_region *region = &w->regions[WORLD_REGIONS - 1];
	const struct plx_asker asker = {.domain = w->domain, .qpn = window->attr.qpn};

	if (window->bound) {
		CHECK(plx_key_invalidate(w->mem, window->key, &asker) == PLX_KEY_GRANTED);
		keep_old_key(w, window->key);
		window->bound = false;
		return;
	}
	window->ours = how & 1;
	window->attr = (struct plx_window_attr){
		.region = region->handle,
		.va = region->attr.va + (how >> 4) * 8u,
		.length = 512,
		.access = {(uint8_t)(how & 2 ? PLX_ACCESS_REMOTE_WRITE
					     : PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_ATOMIC)},
		.qpn = window->ours ? 0x11u : 0x12u,
	};
	window->bound =
		plx_window_bind(w->mem, window->handle, &window->attr, &window->key) == PLX_OK;
}

struct plx_key
world_key(const struct world *w, uint8_t choice)
{
	choice &= 15;
	if (choice < WORLD_REGIONS)
		return w->regions[choice].key;
	choice = (uint8_t)(choice - WORLD_REGIONS);
	if (choice < WORLD_WINDOWS)
		return w->windows[choice].key;
	choice = (uint8_t)(choice - WORLD_WINDOWS);
	if (choice < WORLD_OLD_KEYS)
		return w->old_keys[choice];
	return (struct plx_key){choice * 0x01234567u};
}

uint64_t
world_va(const struct world *w, uint8_t choice, uint8_t offset)
{
	uint32_t index = choice & 15;
	const struct plx_region_attr *attr;

	if (index >= WORLD_REGIONS + WORLD_WINDOWS) /* the region that now has the slot */
		index = offset % WORLD_REGIONS;
	attr = &w->regions[index < WORLD_REGIONS ? index : WORLD_REGIONS - 1].attr;

	/* Up to 127 bytes behind the beginning, or up to 128 before the end. */
	return attr->va + (offset < 128 ? offset : attr->length + offset - 256);
}

bool
world_key_is_live(const struct world *w, uint32_t key)
{
	for (uint32_t i = 0; i < WORLD_REGIONS; i++)
		if (w->regions[i].live && w->regions[i].ours && w->regions[i].key.v == key)
			return true;
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++)
		if (w->windows[i].bound && w->windows[i].ours && w->windows[i].key.v == key)
			return true;
	return false;
}

/* Books of keys the QP itself invalidates: both sides of that are looked at after every step. */
void
world_refresh_books(struct world *w)
{
	struct plx_grant grant;

	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		struct world_region *region = &w->regions[i];
		const struct plx_asker asker = {.domain = region->ours ? w->domain : w->other,
						.qpn = 0x11};

		if (!region->live || !(region->attr.access.bits & PLX_ACCESS_INVALIDATE))
			continue;
		region->live = plx_key_check(w->mem, region->key, &asker, 0, 0,
					     (struct plx_access){0}, &grant) == PLX_KEY_GRANTED;
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++) {
		struct world_window *window = &w->windows[i];
		const struct plx_asker asker = {.domain = w->domain, .qpn = window->attr.qpn};

		window->bound = window->bound &&
				plx_key_check(w->mem, window->key, &asker, 0, 0,
					      (struct plx_access){0}, &grant) == PLX_KEY_GRANTED;
	}
}

bool
world_inside(const uint8_t *first, uint64_t bytes, const uint8_t *base, uint64_t length)
{
	uintptr_t at = (uintptr_t)first, from = (uintptr_t)base;

	return at >= from && bytes <= length && at - from <= length - bytes;
}

/* Is [first, first + bytes) the memory of a part of [va, va + length), which is in the region? */
static bool
holds(const struct plx_region_attr *region, uint64_t va, uint64_t length, const uint8_t *first,
      uint64_t bytes)
{
	uint64_t first_page = PLX_PAGE_BYTES - va % PLX_PAGE_BYTES;
	const uint64_t *page = region->page;

	if (page == NULL)
		return world_inside(first, bytes, region->host + (va - region->va), length);
	if (va / PLX_PAGE_BYTES == region->va / PLX_PAGE_BYTES) {
		const uint8_t *from = (uint8_t *)(uintptr_t)page[0] + va % PLX_PAGE_BYTES;

		if (world_inside(first, bytes, from, length < first_page ? length : first_page))
			return true;
		if (length <= first_page)
			return false;
		va += first_page;
		length -= first_page;
	}
	return world_inside(first, bytes, (uint8_t *)(uintptr_t)page[1] + va % PLX_PAGE_BYTES,
			    length);
}

/* Does any key grant [first, first + bytes) to our QP with this right? Without one: any key does.
 */
bool
world_grants(const struct world *w, const uint8_t *first, uint64_t bytes, uint8_t right)
{
	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		const struct world_region *region = &w->regions[i];

		if (region->live && region->ours && (region->attr.access.bits & right) == right &&
		    holds(&region->attr, region->attr.va, region->attr.length, first, bytes))
			return true;
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++) {
		const struct world_window *window = &w->windows[i];
		const struct plx_region_attr *region = &w->regions[WORLD_REGIONS - 1].attr;

		if (window->bound && window->ours && (window->attr.access.bits & right) == right &&
		    holds(region, window->attr.va, window->attr.length, first, bytes))
			return true;
	}
	return false;
}

/* The region's two pages: its memory is not where it was. */
static void
tear(uint32_t index, struct plx_region_attr *attr)
{
	pages[index][0] = (uintptr_t)papers[index][2];
	pages[index][1] = (uintptr_t)papers[index][0];
	attr->va += PLX_PAGE_BYTES - BEFORE_PAGE;
	attr->host = NULL;
	attr->page = pages[index];
}

/* @param torn a bit for each region whose pages are apart */
void
world_regions_make(struct world *w, uint8_t torn)
{
	static const struct {
		uint8_t access;
		bool ours;
	} kinds[WORLD_REGIONS] = {
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
			 PLX_ACCESS_REMOTE_ATOMIC,
		 true},
		{PLX_ACCESS_REMOTE_READ | PLX_ACCESS_STABLE, true},
		{PLX_ACCESS_LOCAL_WRITE, true},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE, false},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_INVALIDATE, true},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND, true},
	};

	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		w->regions[i].ours = kinds[i].ours;
		w->regions[i].attr = (struct plx_region_attr){
			.va = (i + 1) * UINT64_C(0x10000),
			.host = arena[i],
			.length = WORLD_REGION_BYTES,
			.access = {kinds[i].access},
		};
		if (torn >> i & 1)
			tear(i, &w->regions[i].attr);
		region_register(w, &w->regions[i]);
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++)
		CHECK(plx_window_create(w->mem, w->domain, &w->windows[i].handle) == PLX_OK);
}
