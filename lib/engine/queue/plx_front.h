/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the front of a queue lies in memory: one block of a head, a ring, and a spill for each slot
 * of the ring. Both sides compute it from what the queue was made with. Start with front_create().
 */
#ifndef PLX_FRONT_H
#define PLX_FRONT_H

#include "plx_ring.h"
#include "plx_ring_untrusted.h"

struct front_layout {
	size_t head_bytes; /* a multiple of a pair of cache lines */
	struct plx_ring_config ring;
	uint32_t spill_bytes; /* of each slot */
};

/* [bytes] of the whole front. */
static inline size_t
front_bytes(const struct front_layout *layout)
{
	return layout->head_bytes + plx_ring_bytes(&layout->ring) +
	       (size_t)plx_ring_slots_of(&layout->ring) * layout->spill_bytes;
}

static inline struct rte_ring *
front_ring(void *front, const struct front_layout *layout)
{
	return (struct rte_ring *)(void *)((uint8_t *)front + layout->head_bytes);
}

static inline void *
front_spill(void *front, const struct front_layout *layout)
{
	return (uint8_t *)front + layout->head_bytes + plx_ring_bytes(&layout->ring);
}

/* Make a front, zeroed but for its ring, and the engine's side of that. plx_heap_free() frees it.
 * @param head_alone without ring and spill; `side` is not written
 * Returns: NULL: out of memory */
void *front_create(const struct front_layout *layout, bool head_alone, int socket,
		   enum plx_ring_role role, struct plx_ring_untrusted *side) PLX_MUST_CHECK;

#endif
