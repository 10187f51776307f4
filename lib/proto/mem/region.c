/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions, from the caller's side: register, refresh, retire, release.
 * It never waits for engines; the caller does, between retire and release.
 * Start with plx_region_register().
 */
#include "table.h"

/*
 * Ranges that are empty or wrap are refused, so every granted range has a first and a last byte,
 * and none of them means "everything".
 */
static bool
terms_are_valid(const struct plx_region_attr *attr)
{
	uint64_t last = attr->length - 1;

	return attr->host && attr->length && last <= UINT64_MAX - attr->va &&
	       last <= UINTPTR_MAX - (uintptr_t)attr->host &&
	       !(attr->access.bits & ~PLX_ACCESS_ALL);
}

static struct plx_key
publish(struct plx_mem *mem, uint32_t number, const struct plx_region_attr *attr)
{
	const struct plx_slot_terms terms = {
		.va = attr->va,
		.length = attr->length,
		.host = attr->host,
		.access = attr->access,
	};

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
	if (!plx_domain_is_live(mem, domain))
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

enum plx_status
plx_region_retire(struct plx_mem *mem, struct plx_region region)
{
	struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);
	uint64_t life;

	if (!slot)
		return PLX_NO_KEY;
	life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	if (plx_gate_close(slot, life) == PLX_GATE_PINNED)
		return PLX_BUSY;
	/*
	 * An engine that has closed the gate of a fast-register region may not have ended its life
	 * yet; "invalid from now on" does not wait for that.
	 */
	if (plx_life_key(life))
		(void)plx_slot_end(slot, life);
	__atomic_store_n(&slot->retired, true, __ATOMIC_RELAXED);
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
