/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One side of a ring whose other side is not trusted: that side may write anything, at any time, to
 * all of the ring's memory. It may also be honest: the ring is an rte_ring, and plx_ring.h is
 * how the other side, of one thread or many, uses it.
 *
 * What this side acts on is in its own memory: the geometry, from the configuration, and its index,
 * which it stores for the other side and never loads. Of the ring it loads the other side's index,
 * at most once a call, and believes it only if it lies in the ring; and entries. It waits for
 * nothing. A lie about entries, in a span or a copy, is for the caller to find: only a copy stays
 * as it was when it was checked.
 * Start with plx_ring_untrusted_init(), plx_ring_untrusted_dequeue(), plx_ring_untrusted_reserve().
 */
#ifndef PLX_RING_UNTRUSTED_H
#define PLX_RING_UNTRUSTED_H

#include "plx_base.h"
#include "plx_ring.h"
#include "ring_insides.h"

enum plx_ring_role {
	PLX_RING_PRODUCER,
	PLX_RING_CONSUMER,
};

/* One side of a ring, in memory that the other side cannot write. One thread at a time uses it. */
struct plx_ring_untrusted {
	struct rte_ring *shared;
	uint8_t *entries;
	uint32_t slots, mask, capacity, entry_bytes;
	enum plx_ring_role role;
	uint32_t index; /* entries committed or released since creation, modulo 2^32 */
	uint32_t limit; /* index of the first entry that is not known to be this side's */
	/* The other side's index was one that no honest side has. It stays set, and from then on no
	 * entry can be reserved or peeked at. */
	bool fault;
};

/**
 * Initialise one side of a ring, at the index that the ring says it has reached.
 * @param config as the ring was made; this side must be PLX_RING_ONE
 * @param role which side
 * @param shared outlives `ring` and stays mapped; nothing of this side is reserved
 * Errors: PLX_INVALID: the ring is not as configured, or this side is for many threads
 * Tests: tests/unit/engine/ring
 */
enum plx_status plx_ring_untrusted_init(struct plx_ring_untrusted *ring,
					const struct plx_ring_config *config,
					enum plx_ring_role role,
					struct rte_ring *shared) PLX_MUST_CHECK;

/* How many entries are this side's, starting at its index. The other side's index is loaded
 * (acquire) unless `n` are known. An index that leads out of the ring is a fault, and so is one
 * that takes back what is known, which may be in use. */
static inline uint32_t
ring_untrusted_available(struct plx_ring_untrusted *ring, enum plx_ring_role role, uint32_t n)
{
	const volatile uint32_t *other;
	uint32_t known = ring->limit - ring->index, available;

	PLX_ASSERT(ring->role == role);
	if (plx_unlikely(ring->fault))
		return 0;
	if (known >= n)
		return known;
	if (role == PLX_RING_PRODUCER) {
		other = ring_released(ring->shared);
		available = __atomic_load_n(other, __ATOMIC_ACQUIRE) + ring->capacity - ring->index;
	} else {
		other = ring_committed(ring->shared);
		available = __atomic_load_n(other, __ATOMIC_ACQUIRE) - ring->index;
	}
	ring_acquired(other);
	if (plx_unlikely(available > ring->capacity || available < known)) {
		ring->fault = true;
		return 0;
	}
	ring->limit = ring->index + available;
	return available;
}

/* The next `n` entries: this side's, or marked. */
static inline struct plx_ring_span
ring_untrusted_span_at(struct plx_ring_untrusted *ring, uint32_t entry_bytes, uint32_t n)
{
	uint32_t at = ring->index & ring->mask, to_end = ring->slots - at;

	if (n > ring->limit - ring->index)
		ring->limit = ring->index + n;
	return (struct plx_ring_span){
		.at = ring->entries + (size_t)at * entry_bytes,
		.more = ring->entries,
		.first = n < to_end ? n : to_end,
		.count = n,
		.index = ring->index,
	};
}

/* As ring_span_from(), of up to `n` entries and by this side's own geometry. */
static inline uint32_t
ring_untrusted_span(struct plx_ring_untrusted *ring, enum plx_ring_role role, uint32_t entry_bytes,
		    uint32_t n, struct plx_ring_span *span)
{
	uint32_t available = ring_untrusted_available(ring, role, n);

	/* The caller's is usually known to the compiler, which then knows how to copy entries. */
	PLX_ASSERT(entry_bytes == ring->entry_bytes);
	if (n > available)
		n = available;
	if (n == 0)
		return 0;
	*span = ring_untrusted_span_at(ring, entry_bytes, n);
	return n;
}

/**
 * Begin to write up to `n` entries, as plx_ring_reserve(). Nobody waits for the commit, and another
 * reservation replaces this one.
 * Returns: span->count; 0: the ring is full, or `ring->fault`
 */
static inline uint32_t
plx_ring_untrusted_reserve(struct plx_ring_untrusted *ring, uint32_t entry_bytes, uint32_t n,
			   struct plx_ring_span *span)
{
	return ring_untrusted_span(ring, PLX_RING_PRODUCER, entry_bytes, n, span);
}

/** Publish the first `n` of the reserved entries (release). */
static inline void
plx_ring_untrusted_commit(struct plx_ring_untrusted *ring, uint32_t n)
{
	PLX_ASSERT(ring->role == PLX_RING_PRODUCER && n <= ring->limit - ring->index);
	ring->index += n;
	ring_releasing(ring_committed(ring->shared));
	ring_store_committed(ring->shared, ring->index);
}

/**
 * Begin to read up to `n` entries in place (acquire); otherwise as plx_ring_untrusted_reserve().
 * Each may change between one look and the next: whatever is judged must have been copied before.
 */
static inline uint32_t
plx_ring_untrusted_peek(struct plx_ring_untrusted *ring, uint32_t entry_bytes, uint32_t n,
			struct plx_ring_span *span)
{
	return ring_untrusted_span(ring, PLX_RING_CONSUMER, entry_bytes, n, span);
}

/** Free the slots of the first `n` entries of a peek. */
static inline void
plx_ring_untrusted_release(struct plx_ring_untrusted *ring, uint32_t n)
{
	PLX_ASSERT(ring->role == PLX_RING_CONSUMER && n <= ring->limit - ring->index);
	ring->index += n;
	ring_releasing(ring_released(ring->shared));
	ring_store_released(ring->shared, ring->index);
}

/**
 * Copy up to `n` entries into the ring.
 * Returns: how many; 0: the ring is full, or `ring->fault`
 */
static inline uint32_t
plx_ring_untrusted_enqueue(struct plx_ring_untrusted *ring, uint32_t entry_bytes,
			   const void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t put = plx_ring_untrusted_reserve(ring, entry_bytes, n, &span);

	if (put == 0)
		return 0;
	ring_fill(&span, entry_bytes, entries);
	plx_ring_untrusted_commit(ring, put);
	return put;
}

/**
 * Copy up to `n` entries out of the ring, each once.
 * @param entries [n * entry_bytes] private memory
 * Returns: how many; 0: the ring is empty, or `ring->fault`
 */
static inline uint32_t
plx_ring_untrusted_dequeue(struct plx_ring_untrusted *ring, uint32_t entry_bytes, void *entries,
			   uint32_t n)
{
	struct plx_ring_span span;
	uint32_t got = plx_ring_untrusted_peek(ring, entry_bytes, n, &span);

	if (got == 0)
		return 0;
	plx_ring_copy(&span, entry_bytes, entries);
	plx_copied(entries);
	plx_ring_untrusted_release(ring, got);
	return got;
}

/** Entries in the ring; may be stale. With `ring->fault`, as if this side could do nothing. */
static inline uint32_t
plx_ring_untrusted_count(struct plx_ring_untrusted *ring)
{
	uint32_t available = ring_untrusted_available(ring, ring->role, UINT32_MAX);

	return ring->role == PLX_RING_PRODUCER ? ring->capacity - available : available;
}

/* ---- marked entries ---- */

/** As plx_ring_expect(). */
static inline void
plx_ring_untrusted_expect(const struct plx_ring_untrusted *ring, uint32_t entry_bytes)
{
	PLX_ASSERT(ring->role == PLX_RING_PRODUCER);
	ring_prefetch_to_write(ring->entries + (size_t)(ring->index & ring->mask) * entry_bytes);
}

/** As plx_ring_mark_written(). A reader may then be ahead of what is committed, so the entry must
 * be committed before the next reservation or count. */
static inline void
plx_ring_untrusted_mark_written(const struct plx_ring_untrusted *ring, uint32_t index, void *word,
				uint64_t value)
{
	__atomic_store_n((ring_word *)word,
			 (value & ~PLX_RING_MARK) | ring_mark_of(ring->slots, index),
			 __ATOMIC_RELEASE);
}

/**
 * Begin to read up to `n` marked entries in place (acquire). No index is loaded, so there is no
 * fault; and this side may be ahead of what is committed, so it must read the ring only by marked
 * entries. For the rest it is as plx_ring_untrusted_peek(): the word, too, must be copied again.
 * @param word_at [bytes] offset of the marked word in an entry
 */
static inline uint32_t
plx_ring_untrusted_peek_marked(struct plx_ring_untrusted *ring, uint32_t entry_bytes,
			       uint32_t word_at, uint32_t n, struct plx_ring_span *span)
{
	const uint8_t *words = ring->entries + word_at;
	uint32_t at = ring->index & ring->mask, count = 0;
	uint64_t mark = ring_mark_of(ring->slots, ring->index);

	PLX_ASSERT(ring->role == PLX_RING_CONSUMER && entry_bytes == ring->entry_bytes);
	if (n > ring->capacity)
		n = ring->capacity;
	for (; count < n; count++) {
		const void *word = words + (size_t)at * entry_bytes;
		uint64_t value = __atomic_load_n((const ring_word *)word, __ATOMIC_ACQUIRE);

		if ((value ^ mark) & PLX_RING_MARK)
			break;
		if (plx_unlikely(++at == ring->slots)) {
			at = 0;
			mark ^= PLX_RING_MARK;
		}
	}
	if (count > 0)
		*span = ring_untrusted_span_at(ring, entry_bytes, count);
	return count;
}

#endif
