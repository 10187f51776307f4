/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains: their users, and the free ids.
 * Engines do not use this file: a check compares ids, and an id in use is not destroyed.
 * Start with plx_domain_create().
 */
#include "table.h"

bool
plx_domain_is_live(const struct plx_mem *mem, struct plx_domain domain)
{
	return domain.id >= 1 && domain.id <= PLX_MEM_DOMAINS_MAX &&
	       plx_bitmap_test(mem->domain_live, domain.id - 1);
}

/* Ids are issued in circular order, so that a stale id stays invalid as long as possible. */
enum plx_status
plx_domain_create(struct plx_mem *mem, struct plx_domain *out)
{
	for (uint32_t i = 0; i < PLX_MEM_DOMAINS_MAX; i++) {
		uint32_t index = (mem->domain_next + i) % PLX_MEM_DOMAINS_MAX;

		if (plx_bitmap_test(mem->domain_live, index))
			continue;
		plx_bitmap_set(mem->domain_live, index);
		mem->domain[index] = (struct plx_domain_use){0};
		mem->domain_next = (index + 1) % PLX_MEM_DOMAINS_MAX;
		out->id = index + 1;
		return PLX_OK;
	}
	return PLX_FULL;
}

enum plx_status
plx_domain_destroy(struct plx_mem *mem, struct plx_domain domain)
{
	if (!plx_domain_is_live(mem, domain))
		return PLX_NO_KEY;
	if (mem->domain[domain.id - 1].slots || mem->domain[domain.id - 1].holds)
		return PLX_BUSY;
	plx_bitmap_clear(mem->domain_live, domain.id - 1);
	return PLX_OK;
}

enum plx_status
plx_domain_hold(struct plx_mem *mem, struct plx_domain domain)
{
	if (!plx_domain_is_live(mem, domain))
		return PLX_NO_KEY;
	mem->domain[domain.id - 1].holds++;
	return PLX_OK;
}

void
plx_domain_unhold(struct plx_mem *mem, struct plx_domain domain)
{
	if (plx_domain_is_live(mem, domain) && mem->domain[domain.id - 1].holds)
		mem->domain[domain.id - 1].holds--;
}
