/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What posting threads do with a producer: lock it, which waits for whoever has it, reserve places,
 * commit, unlock it. Only sq.c and rq.c include this, and nothing in them runs on the
 * engine's thread but posts of inline mode, which lock nothing. Start with producer_lock().
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

/* Places for more, when `used` entries are posted: none when the limit was lowered since. */
static inline uint32_t
room_beside(uint32_t limit, uint32_t used)
{
	return limit > used ? limit - used : 0;
}

/* While it is locked: places for up to `n` entries, of which at most `limit` are posted and not
 * free. */
static inline uint32_t
producer_reserve(struct producer *producer, struct rte_ring *ring, uint32_t entry_bytes,
		 uint32_t limit, const atomic_uint *consumed, uint32_t n,
		 struct plx_ring_span *span)
{
	if (plx_unlikely(producer->credits < n)) {
		/* acquire: pairs with the engine's release when it publishes what is free; it has
		 * read what was in these places */
		uint32_t used = plx_ring_produced(ring) -
				atomic_load_explicit(consumed, memory_order_acquire);

		producer->credits = room_beside(limit, used);
	}
	if (n > producer->credits)
		n = producer->credits;
	if (plx_likely(n > 0))
		plx_ring_reserve_known(ring, entry_bytes, n, span);
	STEP(PLACES_RESERVED);
	return n;
}

/* The first `n` of them are written. The next will be, soon. */
static inline void
producer_commit(struct producer *producer, struct rte_ring *ring, uint32_t entry_bytes, uint32_t n)
{
	plx_ring_commit(ring, n);
	plx_ring_expect(ring, entry_bytes);
	producer->credits -= n;
	STEP(COMMITTED);
}

#endif
