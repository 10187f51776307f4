/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Type 2 windows, from the caller's side: create, bind, retire, release.
 * It never unbinds twice: the thread that ends a window's life unpins its region, here or in
 * check.c. Start with plx_window_bind().
 * Spec: IBTA vol 1, 10.6.7.
 */
#include "table.h"

#define WINDOW_ACCESS (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

enum plx_status
plx_window_create(struct plx_mem *mem, struct plx_domain domain, struct plx_window *window)
{
	uint32_t number;

	if (!plx_domain_of(mem, domain))
		return PLX_NO_KEY;
	number = plx_slot_alloc(mem, domain, PLX_SLOT_WINDOW);
	if (number == PLX_SLOT_NONE)
		return PLX_FULL;
	window->slot = number;
	return PLX_OK;
}

/* Does the region permit this window? plx_gate_pin() checks whether its key is valid. */
static bool
region_permits(const struct plx_slot *region, const struct plx_slot *window,
	       const struct plx_window_attr *attr)
{
	uint8_t wants = attr->access.bits & (PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)
				? PLX_ACCESS_BIND | PLX_ACCESS_LOCAL_WRITE
				: PLX_ACCESS_BIND;

	return region->domain == window->domain && (region->access & wants) == wants &&
	       plx_range_inside(attr->va, attr->length, region->va, region->length);
}

enum plx_status
plx_window_bind(struct plx_mem *mem, struct plx_window window, const struct plx_window_attr *attr,
		struct plx_key *key)
{
	struct plx_slot *slot = plx_slot_of(mem, window.slot, PLX_SLOT_WINDOW, false);
	struct plx_slot *region = plx_slot_of(mem, attr->region.slot, PLX_SLOT_REGION, false);
	struct plx_slot_terms terms;

	if (!slot || !region)
		return PLX_NO_KEY;
	if (!attr->length || attr->access.bits & ~WINDOW_ACCESS)
		return PLX_INVALID;
	/* Acquire: pairs with the release in plx_slot_end(), by the engine that unbound it. */
	if (plx_life_key(__atomic_load_n(&slot->life, __ATOMIC_ACQUIRE)))
		return PLX_STATE;
	if (!region_permits(region, slot, attr) || !plx_gate_pin(region))
		return PLX_DENIED;
	terms = (struct plx_slot_terms){
		.va = attr->va,
		.length = attr->length,
		.host = plx_host_at(region->host, attr->va - region->va),
		.qpn = attr->qpn,
		.parent = attr->region.slot,
		.access = attr->access,
	};
	if (region->access & PLX_SLOT_PAGES) {
		terms.host = plx_host_at(region->host,
					 (attr->va / PLX_PAGE_BYTES - region->va / PLX_PAGE_BYTES) *
						 sizeof(uint64_t));
		terms.access.bits |= PLX_SLOT_PAGES;
	}
	*key = plx_slot_publish(mem, window.slot, &terms);
	return PLX_OK;
}

enum plx_status
plx_window_retire(struct plx_mem *mem, struct plx_window window)
{
	struct plx_slot *slot = plx_slot_of(mem, window.slot, PLX_SLOT_WINDOW, false);
	uint64_t life;

	if (!slot)
		return PLX_NO_KEY;
	life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	if (plx_life_key(life) && plx_slot_end(slot, life))
		plx_gate_unpin(&mem->slot[slot->parent]);
	__atomic_store_n(&slot->retired, true, __ATOMIC_RELAXED);
	return PLX_OK;
}

enum plx_status
plx_window_release(struct plx_mem *mem, struct plx_window window)
{
	if (!plx_slot_of(mem, window.slot, PLX_SLOT_WINDOW, true))
		return plx_slot_of(mem, window.slot, PLX_SLOT_WINDOW, false) ? PLX_STATE
									     : PLX_NO_KEY;
	plx_slot_free(mem, window.slot);
	return PLX_OK;
}
