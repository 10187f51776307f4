/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creating and freeing rings, and checking one that others can write to. They have no name and use
 * no memzone, of which DPDK has 2560 in total. Start with plx_ring_create().
 */
#include "plx_heap.h"
#include "plx_ring.h"
#include "plx_ring_untrusted.h"

static unsigned
flags_of(const struct plx_ring_config *config)
{
	unsigned flags = 0;

	flags |= config->producers == PLX_RING_ONE ? RING_F_SP_ENQ : RING_F_MP_HTS_ENQ;
	flags |= config->consumers == PLX_RING_ONE ? RING_F_SC_DEQ : RING_F_MC_HTS_DEQ;
	return flags;
}

struct rte_ring *
plx_ring_init(const struct plx_ring_config *config, void *memory)
{
	struct rte_ring *ring = memory;
	uint32_t slots = plx_ring_slots_of(config);

	PLX_ASSERT(rte_ring_get_memsize_elem(config->entry_bytes, slots) ==
		   (ssize_t)plx_ring_bytes(config));
	PLX_ASSERT(rte_ring_init(ring, "plx", slots, flags_of(config)) == 0);
	return ring;
}

struct rte_ring *
plx_ring_create(const struct plx_ring_config *config)
{
	void *memory = plx_heap_queue(plx_ring_bytes(config), config->socket);

	return memory != NULL ? plx_ring_init(config, memory) : NULL;
}

void
plx_ring_destroy(struct rte_ring *ring)
{
	plx_heap_free(ring);
}

enum plx_status
plx_ring_untrusted_init(struct plx_ring_untrusted *ring, const struct plx_ring_config *config,
			enum plx_ring_role role, struct rte_ring *shared)
{
	bool one_producer = config->producers == PLX_RING_ONE;
	bool one_consumer = config->consumers == PLX_RING_ONE;
	uint32_t slots = plx_ring_slots_of(config);
	uint32_t index;

	if (!(role == PLX_RING_PRODUCER ? one_producer : one_consumer) ||
	    !ring_is_of(shared, slots, one_producer, one_consumer))
		return PLX_INVALID;
	/* Any value is as good as the right one: it only says which slot is next. */
	index = *(role == PLX_RING_PRODUCER ? ring_committed(shared) : ring_released(shared));
	*ring = (struct plx_ring_untrusted){
		.shared = shared,
		.entries = ring_entries(shared),
		.slots = slots,
		.mask = slots - 1,
		.capacity = slots - 1,
		.entry_bytes = config->entry_bytes,
		.role = role,
		.index = index,
		.limit = index,
	};
	return PLX_OK;
}
