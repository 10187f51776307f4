/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creating and freeing rings. They have no name and use no memzone, of which DPDK has 2560 in
 * total.
 * Start with plx_ring_create().
 */
#include "plx_heap.h"
#include "plx_ring.h"

static unsigned
flags_of(const struct plx_ring_config *config)
{
	unsigned flags = 0;

	flags |= config->producers == PLX_RING_ONE ? RING_F_SP_ENQ : RING_F_MP_HTS_ENQ;
	flags |= config->consumers == PLX_RING_ONE ? RING_F_SC_DEQ : RING_F_MC_HTS_DEQ;
	return flags;
}

struct rte_ring *
plx_ring_create(const struct plx_ring_config *config)
{
	uint32_t slots = 2;
	ssize_t bytes;
	struct rte_ring *ring;

	PLX_ASSERT(config->entries >= 1 && config->entries <= PLX_RING_ENTRIES_MAX);
	/* A ring of `slots` holds one entry less. */
	while (slots <= config->entries)
		slots *= 2;
	bytes = rte_ring_get_memsize_elem(config->entry_bytes, slots);
	PLX_ASSERT(bytes > 0);
	ring = plx_heap_queue((size_t)bytes, config->socket);
	if (ring == NULL)
		return NULL;
	PLX_ASSERT(rte_ring_init(ring, "plx", slots, flags_of(config)) == 0);
	return ring;
}

void
plx_ring_destroy(struct rte_ring *ring)
{
	plx_heap_free(ring);
}
