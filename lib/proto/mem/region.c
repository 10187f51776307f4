/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions, from the caller's side: register, refresh, retire, release.
 * It never waits for engines; the caller does, between retire and release.
 * Start with plx_region_register().
 */
#include "table.h"

static bool
range_is_valid(const struct plx_region_attr *attr)
{
	return plx_is_range(attr->va, attr->length) && !(attr->access.bits & ~PLX_ACCESS_ALL);
}

static bool
terms_are_valid(const struct plx_region_attr *attr)
{
	if (!range_is_valid(attr))
		return false;
	if (attr->map)
		return plx_map_is_valid(attr->map) &&
		       !(attr->access.bits & ~PLX_ACCESS_LOCAL_WRITE);
	if (attr->page)
		return plx_pages_are_valid(attr->page, plx_pages_spanned(attr->va, attr->length));
	return attr->host && plx_is_range((uintptr_t)attr->host, attr->length);
}

static struct plx_slot_terms
terms_of(const struct plx_region_attr *attr)
{
	struct plx_slot_terms terms = {
		.va = attr->va,
		.length = attr->length,
		.host = attr->host,
		.access = attr->access,
	};

	if (attr->map)
		terms.host = (uint8_t *)((uintptr_t)attr->map | PLX_HOST_MAP);
	else if (attr->page)
		terms.host = (uint8_t *)(uintptr_t)attr->page;
	if (attr->map || attr->page)
		terms.access.bits |= PLX_SLOT_PAGES;
	return terms;
}

static struct plx_key
publish(struct plx_mem *mem, uint32_t number, const struct plx_region_attr *attr)
{
	const struct plx_slot_terms terms = terms_of(attr);

	return plx_slot_publish(mem, number, &terms);
}

enum plx_status
plx_region_register(struct plx_mem *mem, struct plx_domain domain,
		    const struct plx_region_attr *attr, struct plx_region *region,
		    struct plx_key *key)
{
	uint32_t number;

	if (!terms_are_valid(attr))
		return PLX_INVALID;
	if (!plx_domain_of(mem, domain))
		return PLX_NO_KEY;
	number = plx_slot_alloc(mem, domain, PLX_SLOT_REGION);
	if (number == PLX_SLOT_NONE)
		return PLX_FULL;
	region->slot = number;
	*key = publish(mem, number, attr);
	return PLX_OK;
}

enum plx_status
plx_region_refresh(struct plx_mem *mem, struct plx_region region,
		   const struct plx_region_attr *attr, struct plx_key *key)
{
	struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);

	if (!slot)
		return PLX_NO_KEY;
	if (!terms_are_valid(attr) || !(attr->access.bits & PLX_ACCESS_INVALIDATE))
		return PLX_INVALID;
	/* Acquire: pairs with the release in plx_slot_end(), by the engine that invalidated. */
	if (plx_life_key(__atomic_load_n(&slot->life, __ATOMIC_ACQUIRE)))
		return PLX_STATE;
	*key = publish(mem, region.slot, attr);
	return PLX_OK;
}

/* ---- fast registration ---- */

enum plx_status
plx_region_reserve(struct plx_mem *mem, struct plx_domain domain, struct plx_page_lists *lists,
		   struct plx_region *region)
{
	if (!plx_domain_of(mem, domain))
		return PLX_NO_KEY;
	region->slot = plx_slot_alloc(mem, domain, PLX_SLOT_REGION);
	if (region->slot == PLX_SLOT_NONE)
		return PLX_FULL;
	__atomic_store_n(&mem->slot[region->slot].lists, lists, __ATOMIC_RELEASE);
	return PLX_OK;
}

/* Lives are numbered on, whether they begin or not. */
enum plx_status
plx_region_promise(struct plx_mem *mem, struct plx_region region, struct plx_promise *promise)
{
	struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);
	uint32_t life;

	if (!slot)
		return PLX_NO_KEY;
	life = (uint32_t)(__atomic_load_n(&slot->life, __ATOMIC_ACQUIRE) >> 32);
	if ((int32_t)(slot->promised - life) > 0)
		life = slot->promised;
	do { /* at most twice, as in plx_slot_publish() */
		promise->key = plx_slot_key(mem, region.slot, ++life);
	} while (promise->key.v == 0);
	promise->slot = region.slot;
	promise->life = slot->promised = life;
	promise->list = 0;
	return PLX_OK;
}

/* What a promised life grants. Returns: false: that is not valid */
static bool
promised_terms(struct plx_slot *slot, const struct plx_promise *promise,
	       const struct plx_region_attr *given, struct plx_slot_terms *terms)
{
	struct plx_region_attr attr = *given;

	attr.page = NULL;
	attr.map = NULL;
	if (!(attr.access.bits & PLX_ACCESS_INVALIDATE))
		return false;
	if (promise->list == 0) {
		if (!terms_are_valid(&attr))
			return false;
	} else { /* these pages were checked when they were promised */
		if (!range_is_valid(&attr))
			return false;
		attr.page = plx_pages_promised(slot, promise, attr.va, attr.length);
		if (!attr.page)
			return false;
	}
	*terms = terms_of(&attr);
	return true;
}

enum plx_status
plx_region_fulfil(struct plx_mem *mem, struct plx_domain domain, const struct plx_promise *promise,
		  const struct plx_region_attr *attr)
{
	struct plx_slot *slot = plx_slot_of(mem, promise->slot, PLX_SLOT_REGION, false);
	struct plx_slot_terms terms;
	uint64_t before;

	if (!slot || __atomic_load_n(&slot->domain, __ATOMIC_RELAXED) != domain.id ||
	    plx_slot_key(mem, promise->slot, promise->life).v != promise->key.v)
		return PLX_NO_KEY;
	if (!promised_terms(slot, promise, attr, &terms))
		return PLX_INVALID;
	/* Acquire: pairs with the release in plx_slot_end(), by the engine that invalidated. */
	before = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	if (plx_life_key(before) || (int32_t)(promise->life - (uint32_t)(before >> 32)) <= 0)
		return PLX_STATE;
	if (!plx_slot_publish_as(slot, before, promise->life, promise->key, &terms))
		return PLX_STATE;
	/* A retire that came meanwhile has seen this life and ended it, or is seen here. */
	if (!__atomic_load_n(&slot->retired, __ATOMIC_SEQ_CST))
		return PLX_OK;
	(void)plx_slot_end(slot, (uint64_t)promise->life << 32 | promise->key.v);
	return PLX_NO_KEY;
}

/* ---- removal ---- */

enum plx_status
plx_region_retire(struct plx_mem *mem, struct plx_region region)
{
	struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);
	uint64_t life;

	if (!slot)
		return PLX_NO_KEY;
	/* Before the look at its life: see plx_region_fulfil(). */
	__atomic_store_n(&slot->retired, true, __ATOMIC_SEQ_CST);
	life = __atomic_load_n(&slot->life, __ATOMIC_SEQ_CST);
	if (plx_gate_close(slot, life) == PLX_GATE_PINNED) {
		__atomic_store_n(&slot->retired, false, __ATOMIC_RELAXED);
		return PLX_BUSY;
	}
	/*
	 * An engine that has closed the gate of a fast-register region may not have ended its life
	 * yet; "invalid from now on" does not wait for that.
	 */
	if (plx_life_key(life))
		(void)plx_slot_end(slot, life);
	return PLX_OK;
}

enum plx_status
plx_region_release(struct plx_mem *mem, struct plx_region region)
{
	if (!plx_slot_of(mem, region.slot, PLX_SLOT_REGION, true))
		return plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false) ? PLX_STATE
									     : PLX_NO_KEY;
	plx_slot_free(mem, region.slot);
	return PLX_OK;
}
