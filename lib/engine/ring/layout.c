/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The size of a ring, which its users compute without DPDK's library. Start with plx_ring_bytes().
 */
#include "plx_ring.h"
#include "ring_insides.h"

uint32_t
plx_ring_slots_of(const struct plx_ring_config *config)
{
	uint32_t slots = 2;

	PLX_ASSERT(config->entries >= 1 && config->entries <= PLX_RING_ENTRIES_MAX);
	/* A ring of `slots` holds one entry less. */
	while (slots <= config->entries)
		slots *= 2;
	return slots;
}

size_t
plx_ring_bytes(const struct plx_ring_config *config)
{
	size_t entries = (size_t)plx_ring_slots_of(config) * config->entry_bytes;

	return sizeof(struct rte_ring) + RTE_ALIGN_CEIL(entries, RTE_CACHE_LINE_SIZE);
}
