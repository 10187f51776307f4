/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this room knows of the inside of an rte_ring, and the only file that does. rte_ring's public
 * calls cannot do four things that the data path needs: tell the number of the first reserved
 * entry, reserve without loading the other side's index, reserve only entries that are marked as
 * written, and do without what the other side may have overwritten. Layout and meaning are those of
 * rte_ring_core.h and rte_ring_hts_c11_mem.h of DPDK 20.11 to 22.11; the static asserts stop a
 * build against a DPDK that changed the layout.
 */
#ifndef PLX_RING_INSIDES_H
#define PLX_RING_INSIDES_H

#include <rte_pause.h>
#include <rte_ring.h>

#include "plx_base.h"

/* Each side has a head, where reservations end, and a tail, up to where entries are committed or
 * released. Between two calls they are equal. */
_Static_assert(offsetof(struct rte_ring_headtail, tail) ==
		       offsetof(struct rte_ring_hts_headtail, ht.pos.tail),
	       "a side has its tail at the same place, however many threads it has");
_Static_assert(offsetof(struct rte_ring, cons) == offsetof(struct rte_ring, hts_cons) &&
		       offsetof(struct rte_ring, prod) == offsetof(struct rte_ring, hts_prod),
	       "both views of a side are one place");
_Static_assert(sizeof(((struct rte_ring_hts_headtail *)0)->ht.raw) == 2 * sizeof(uint32_t) &&
		       sizeof(((struct rte_ring_hts_headtail *)0)->ht.pos) == 2 * sizeof(uint32_t),
	       "head and tail of a shared side are loaded and stored as one word");
_Static_assert(sizeof(struct rte_ring) % RTE_CACHE_LINE_SIZE == 0,
	       "the first entry begins a cache line, behind the struct");

/* Where the entries are, one after the other. */
static inline uint8_t *
ring_entries(const struct rte_ring *ring)
{
	return (uint8_t *)(uintptr_t)(ring + 1);
}

/* What producers have committed, and consumers released, in entries since creation. */
static inline const volatile uint32_t *
ring_committed(const struct rte_ring *ring)
{
	return &ring->prod.tail;
}

static inline const volatile uint32_t *
ring_released(const struct rte_ring *ring)
{
	return &ring->cons.tail;
}

/* Reserve the entries before `end` for the one producer, or the one consumer. */
static inline void
ring_reserve_one_producer(struct rte_ring *ring, uint32_t end)
{
	ring->prod.head = end;
}

static inline void
ring_reserve_one_consumer(struct rte_ring *ring, uint32_t end)
{
	ring->cons.head = end;
}

static inline bool
ring_has_one_consumer(const struct rte_ring *ring)
{
	return ring->cons.sync_type == RTE_RING_SYNC_ST;
}

/* Wait until none of the consumers is between reserve and release. Returns: what to pass to
 * ring_reserve_consumers(); *index is then the first entry that nobody has reserved (acquire) */
static inline uint64_t
ring_wait_consumers(const struct rte_ring *ring, uint32_t *index)
{
	union __rte_ring_hts_pos seen;

	seen.raw = __atomic_load_n(&ring->hts_cons.ht.raw, __ATOMIC_ACQUIRE);
	while (plx_unlikely(seen.pos.head != seen.pos.tail)) {
		rte_pause();
		seen.raw = __atomic_load_n(&ring->hts_cons.ht.raw, __ATOMIC_ACQUIRE);
	}
	*index = seen.pos.head;
	return seen.raw;
}

/* Reserve `n` entries for one of several consumers; false: another one was faster, wait again. */
static inline bool
ring_reserve_consumers(struct rte_ring *ring, uint64_t seen, uint32_t n)
{
	union __rte_ring_hts_pos now = {.raw = seen};

	now.pos.head += n;
	return __atomic_compare_exchange_n(&ring->hts_cons.ht.raw, &seen, now.raw, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* ---- for a side that trusts nothing in the ring ---- */

/* Is the ring one of `slots` entries, with these sides? */
static inline bool
ring_is_of(const struct rte_ring *ring, uint32_t slots, bool one_producer, bool one_consumer)
{
	return ring->size == slots && ring->mask == slots - 1 && ring->capacity == slots - 1 &&
	       ring->prod.sync_type == (one_producer ? RTE_RING_SYNC_ST : RTE_RING_SYNC_MT_HTS) &&
	       ring->cons.sync_type == (one_consumer ? RTE_RING_SYNC_ST : RTE_RING_SYNC_MT_HTS);
}

/* Commit or release all entries before `index` (release), whatever the ring said before. */
static inline void
ring_store_committed(struct rte_ring *ring, uint32_t index)
{
	ring->prod.head = index;
	__atomic_store_n(&ring->prod.tail, index, __ATOMIC_RELEASE);
}

static inline void
ring_store_released(struct rte_ring *ring, uint32_t index)
{
	ring->cons.head = index;
	__atomic_store_n(&ring->cons.tail, index, __ATOMIC_RELEASE);
}

#endif
