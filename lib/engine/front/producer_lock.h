/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations of posting threads on a producer: lock it, which waits for its holder, reserve slots,
 * commit, unlock. Only sq.c and rq.c include this. Nothing in them runs on an engine's thread but
 * in inline mode, which has no rings. Start with producer_lock().
 */
#ifndef PLX_PRODUCER_LOCK_H
#define PLX_PRODUCER_LOCK_H

#include <rte_pause.h>

#include "plx_producer.h"
#include "plx_ring.h"
#include "plx_steps.h"

static inline void
producer_lock(struct producer *producer)
{
	while (plx_unlikely(atomic_exchange(&producer->locked, true)))
		while (atomic_load_explicit(&producer->locked, memory_order_relaxed))
			rte_pause();
	STEP(PRODUCER_LOCKED);
}

static inline void
producer_unlock(struct producer *producer)
{
	atomic_store_explicit(&producer->locked, false, memory_order_release);
	STEP(PRODUCER_UNLOCKED);
}

/* Reserve slots for up to `n` entries, of which at most `limit` may be posted and not yet free.
 * The producer is locked. */
static inline uint32_t
producer_reserve(struct producer *producer, struct rte_ring *ring, uint32_t entry_bytes,
		 uint32_t limit, const atomic_uint *consumed, uint32_t n,
		 struct plx_ring_span *span)
{
	if (plx_unlikely(producer->credits < n)) {
		/* acquire: pairs with the engine's release when it publishes free slots, after it
		 * has read their entries */
		uint32_t used = plx_ring_produced(ring) -
				atomic_load_explicit(consumed, memory_order_acquire);

		producer->credits = producer_room(limit, used);
	}
	if (n > producer->credits)
		n = producer->credits;
	if (plx_likely(n > 0))
		plx_ring_reserve_known(ring, entry_bytes, n, span);
	STEP(PLACES_RESERVED);
	return n;
}

/* Commit the first `n` entries of a reservation, and prefetch the slot of the next one. */
static inline void
producer_commit(struct producer *producer, struct rte_ring *ring, uint32_t entry_bytes,
		const struct plx_ring_span *span, uint32_t n)
{
	plx_ring_commit_to(ring, span->index + n);
	plx_ring_expect(ring, entry_bytes);
	producer->credits -= n;
	STEP(COMMITTED);
}

#endif
