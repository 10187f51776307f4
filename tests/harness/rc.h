/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts for fixtures with queue pairs of lib/proto/transport: a key table, its regions, and a queue
 * pair brought to a given state. Any failure ends the program. Start with test_mem() and
 * test_rc_bring().
 */
#ifndef PLX_TEST_RC_H
#define PLX_TEST_RC_H

#include "block.h"
#include "plx_transport.h"

enum {
	TEST_DOMAINS = 4, /* of a key table, at most */
};

/** A key table with one domain. */
static inline struct plx_mem *
test_mem(uint32_t slots, struct plx_domain *domain)
{
	static const struct plx_secret secret = {{1, 2}};
	const struct plx_mem_limits limits = {.slots = slots, .domains = TEST_DOMAINS};
	struct plx_mem *mem = plx_mem_init(test_block(plx_mem_bytes(&limits)), &limits, &secret);

	PLX_ASSERT(mem != NULL && plx_domain_create(mem, domain) == PLX_OK);
	return mem;
}

/** @param out NULL: not needed.
 * Returns: the region's key */
static inline struct plx_key
test_region_at(struct plx_mem *mem, struct plx_domain domain, const struct plx_region_attr *attr,
	       struct plx_region *out)
{
	struct plx_region ignored;
	struct plx_key key;

	PLX_ASSERT(plx_region_register(mem, domain, attr, out != NULL ? out : &ignored, &key) ==
		   PLX_OK);
	return key;
}

/** A region whose peers name it by its own address. Returns: its key */
static inline struct plx_key
test_region(struct plx_mem *mem, struct plx_domain domain, void *host, uint64_t bytes,
	    uint8_t access)
{
	const struct plx_region_attr attr = {
		.va = (uintptr_t)host, .host = host, .length = bytes, .access = {access}};

	return test_region_at(mem, domain, &attr, NULL);
}

/** From RESET through INIT, RTR and RTS to SQD, as far as `state`. */
static inline void
test_rc_bring(struct plx_rc *qp, enum plx_qp_state state, const struct plx_rc_attr *attr)
{
	for (int s = PLX_QP_INIT; s <= (int)state; s++)
		PLX_ASSERT(plx_rc_modify(qp, (enum plx_qp_state)s, attr) == PLX_OK);
}

/** The same for datagrams. */
static inline void
test_ud_bring(struct plx_ud *qp, enum plx_qp_state state, const struct plx_ud_attr *attr)
{
	for (int s = PLX_QP_INIT; s <= (int)state; s++)
		PLX_ASSERT(plx_ud_modify(qp, (enum plx_qp_state)s, attr) == PLX_OK);
}

#endif
