/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains: their users, and the free ids.
 * Engines do not use this file: a check compares ids, and an id in use is not destroyed.
 * Start with plx_domain_create().
 *
 * An id is issued again as late as possible, so that a stale one stays invalid as long as possible:
 * first all that never were, in order, then destroyed ones, first in, first out. An entry is
 * written when its id is issued for the first time, and not read before.
 */
#include "table.h"

struct plx_domain_use *
plx_domain_of(struct plx_mem *mem, struct plx_domain domain)
{
	struct plx_domain_use *use;

	if (domain.id < 1 || domain.id > mem->domains_issued)
		return NULL;
	use = plx_domain_at(mem, domain.id);
	return use->next == PLX_DOMAIN_LIVE ? use : NULL;
}

enum plx_status
plx_domain_create(struct plx_mem *mem, struct plx_domain *out)
{
	uint32_t id;

	if (mem->domains_issued < mem->domains) {
		id = ++mem->domains_issued;
	} else if (mem->domain_free_first != 0) {
		id = mem->domain_free_first;
		mem->domain_free_first = plx_domain_at(mem, id)->next;
	} else {
		return PLX_FULL;
	}
	*plx_domain_at(mem, id) = (struct plx_domain_use){.next = PLX_DOMAIN_LIVE};
	out->id = id;
	return PLX_OK;
}

enum plx_status
plx_domain_destroy(struct plx_mem *mem, struct plx_domain domain)
{
	struct plx_domain_use *use = plx_domain_of(mem, domain);

	if (!use)
		return PLX_NO_KEY;
	if (use->slots || use->holds)
		return PLX_BUSY;
	use->next = 0;
	if (mem->domain_free_first == 0)
		mem->domain_free_first = domain.id;
	else
		plx_domain_at(mem, mem->domain_free_last)->next = domain.id;
	mem->domain_free_last = domain.id;
	return PLX_OK;
}

enum plx_status
plx_domain_hold(struct plx_mem *mem, struct plx_domain domain)
{
	struct plx_domain_use *use = plx_domain_of(mem, domain);

	if (!use)
		return PLX_NO_KEY;
	use->holds++;
	return PLX_OK;
}

void
plx_domain_unhold(struct plx_mem *mem, struct plx_domain domain)
{
	struct plx_domain_use *use = plx_domain_of(mem, domain);

	if (use && use->holds)
		use->holds--;
}
