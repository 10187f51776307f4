/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What posting threads do with a turn: take it, which waits for whoever has it, reserve places,
 * commit, give it back. Only post.c and rq.c include this, and nothing in them runs on the
 * engine's thread but posts of inline mode, which take no turn. Start with turn_take().
 */
#ifndef PLX_PRODUCER_LOCK_H
#define PLX_PRODUCER_LOCK_H

#include <rte_pause.h>

#include "engine.h"
#include "steps.h"

static inline void
turn_take(struct turn *turn)
{
	while (plx_unlikely(atomic_exchange(&turn->taken, true)))
		while (atomic_load_explicit(&turn->taken, memory_order_relaxed))
			rte_pause();
	STEP(TURN_TAKEN);
}

static inline void
turn_give(struct turn *turn)
{
	atomic_store_explicit(&turn->taken, false, memory_order_release);
	STEP(TURN_GIVEN);
}

/* Places for more, when `used` entries are posted: none when the limit was lowered since. */
static inline uint32_t
room_beside(uint32_t limit, uint32_t used)
{
	return limit > used ? limit - used : 0;
}

/* In the caller's turn: places for up to `n` entries, of which at most `limit` are posted and not
 * free. */
static inline uint32_t
turn_reserve(struct turn *turn, struct rte_ring *ring, uint32_t entry_bytes, uint32_t limit,
	     const atomic_uint *consumed, uint32_t n, struct plx_ring_span *span)
{
	if (plx_unlikely(turn->credits < n)) {
		/* acquire: pairs with the engine's release when it publishes what is free; it has
		 * read what was in these places */
		uint32_t used = plx_ring_produced(ring) -
				atomic_load_explicit(consumed, memory_order_acquire);

		turn->credits = room_beside(limit, used);
	}
	if (n > turn->credits)
		n = turn->credits;
	if (plx_likely(n > 0))
		plx_ring_reserve_known(ring, entry_bytes, n, span);
	STEP(PLACES_RESERVED);
	return n;
}

/* The first `n` of them are written. The next will be, soon. */
static inline void
turn_commit(struct turn *turn, struct rte_ring *ring, uint32_t entry_bytes, uint32_t n)
{
	plx_ring_commit(ring, n);
	plx_ring_expect(ring, entry_bytes);
	turn->credits -= n;
	STEP(COMMITTED);
}

#endif
