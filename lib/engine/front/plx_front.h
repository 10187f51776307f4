/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the front of a queue lies in memory: one block of a head, a ring, and a spill for each slot
 * of the ring. Both sides compute it from what the queue was made with. The memory is the seat's,
 * which a program shares with the engine. Start with front_create().
 */
#ifndef PLX_FRONT_H
#define PLX_FRONT_H

#include <stdatomic.h>

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

/* Where the fronts of a seat lie. Any thread may call both. */
struct front_memory {
	/* [bytes] zeroed and aligned to a pair of cache lines; NULL: out of memory */
	void *(*alloc)(struct front_memory *memory, size_t bytes);
	void (*free)(struct front_memory *memory, void *front);
	int socket; /* NUMA node; -1: any */
};

/* Memory of this process alone. */
void front_memory_init(struct front_memory *memory, int socket);

/* Make a front, zeroed but for its ring, and the engine's side of that.
 * @param head_alone without ring and spill; `side` is not written
 * Returns: NULL: out of memory */
void *front_create(struct front_memory *memory, const struct front_layout *layout, bool head_alone,
		   enum plx_ring_role role, struct plx_ring_untrusted *side) PLX_MUST_CHECK;
/* @param front may be NULL */
void front_free(struct front_memory *memory, void *front);

/* What a program's half asks of whoever owns the engine's. It happens rarely, on any thread. */
struct front_owner {
	/* The descriptor that is readable while the object has something to tell. -1: the system
	 * has none
	 * @param wake_fd [out] what is written to make it readable */
	int (*descriptor)(struct front_owner *owner, uint64_t object, int *wake_fd);
	/* Make the thread of the object's engine pass a full barrier.
	 * Errors:  TIMEOUT (it does not run), GONE (with the other process) */
	enum plx_status (*barrier)(struct front_owner *owner, uint64_t object);
	bool remote; /* another process */
};

/* Ask for a descriptor once, whichever thread is first.
 * Returns: -1: the system has none */
int front_descriptor(struct front_owner *owner, uint64_t object, atomic_int *fd,
		     atomic_int *wake_fd);
/* Its object has ended. Of an owner in another process both are copies, which are the program's to
 * close. */
void front_descriptor_close(const struct front_owner *owner, atomic_int *fd, atomic_int *wake_fd);

#endif
