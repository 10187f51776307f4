/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only access to rte_ring: rings of fixed-size entries between threads, written and read in
 * place. No other room of Pollux names an rte_ring_* symbol. The two sides trust each other here;
 * plx_ring_untrusted.h is for a side whose other side may be another process.
 * Start with plx_ring_create(), then plx_ring_reserve() and plx_ring_peek(); for a reader that
 * waits on another core, plx_ring_mark_written() and plx_ring_peek_marked().
 *
 * Each side is PLX_RING_ONE (one thread at a time) or PLX_RING_MANY (any threads, serialised from
 * reserve to commit, or from peek to release). rte_ring's plain multi-producer mode is never used:
 * a preempted application thread would block all consumers. Here it blocks the threads of its own
 * side only.
 */
#ifndef PLX_RING_H
#define PLX_RING_H

#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include "plx_base.h"
#include "plx_ring_look.h"
#include "ring_insides.h"

enum plx_ring_side {
	PLX_RING_ONE,
	PLX_RING_MANY,
};

struct plx_ring_config {
	uint32_t entries;     /* 1 .. PLX_RING_ENTRIES_MAX; rounded up to a power of two */
	uint32_t entry_bytes; /* a multiple of 4 */
	enum plx_ring_side producers, consumers;
	int socket; /* NUMA node of a ring that is created; -1: any */
};

#define PLX_RING_ENTRIES_MAX (UINT32_C(1) << 21)

/** Slots of a ring with this configuration: a power of two above `entries`. */
uint32_t plx_ring_slots_of(const struct plx_ring_config *config);

/** [bytes] Memory of a ring: a multiple of a cache line. */
size_t plx_ring_bytes(const struct plx_ring_config *config);

/**
 * Make a ring in the caller's memory, which is not for plx_ring_destroy().
 * @param memory [plx_ring_bytes(config)] aligned to a cache line; zeroed, so that no entry is
 * marked
 */
struct rte_ring *plx_ring_init(const struct plx_ring_config *config, void *memory);

/** Create a ring; NULL if out of memory. */
struct rte_ring *plx_ring_create(const struct plx_ring_config *config);
void plx_ring_destroy(struct rte_ring *ring);

/*
 * A PLX_RING_MANY side stores its head and tail in one atomic access of eight bytes, and the other
 * side loads the tail alone. ThreadSanitizer does not recognise that the store orders the load.
 * These annotations declare it, and do nothing without ThreadSanitizer.
 */
#if defined(__SANITIZE_THREAD__)
#define RING_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RING_TSAN 1
#endif
#endif

#ifdef RING_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ring_acquired(tail)  __tsan_acquire((void *)(uintptr_t)(tail))
#define ring_releasing(tail) __tsan_release((void *)(uintptr_t)(tail))
#else
#define ring_acquired(tail)  (void)(tail)
#define ring_releasing(tail) (void)(tail)
#endif

/* Entries in place: the first `first` of them start at `at`, the others at `more`. `index` is the
 * number of the first entry, counted from the ring's creation modulo 2^32. */
struct plx_ring_span {
	uint8_t *at, *more;
	uint32_t first, count;
	uint32_t index;
};

/* The span of `count` entries starting at `index`. */
static inline void
ring_span_from(struct plx_ring_span *span, struct rte_ring *ring, uint32_t entry_bytes,
	       uint32_t index, uint32_t count)
{
	uint32_t at = index & ring->mask;

	span->at = ring_entries(ring) + (size_t)at * entry_bytes;
	span->more = ring_entries(ring);
	span->first = count < ring->size - at ? count : ring->size - at;
	span->count = count;
	span->index = index;
}

/** The i-th entry of a span. */
static inline void *
plx_ring_at(const struct plx_ring_span *span, uint32_t entry_bytes, uint32_t i)
{
	return i < span->first ? span->at + (size_t)i * entry_bytes
			       : span->more + (size_t)(i - span->first) * entry_bytes;
}

/**
 * Begin to write up to `n` entries. If it returns more than 0, the same thread must soon call
 * plx_ring_commit(): other producers of a PLX_RING_MANY side wait for it.
 * Returns: span->count; 0 when the ring is full
 */
static inline uint32_t
plx_ring_reserve(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n,
		 struct plx_ring_span *span)
{
	struct rte_ring_zc_data zc;
	uint32_t count = rte_ring_enqueue_zc_burst_elem_start(ring, entry_bytes, n, &zc, NULL);

	if (count == 0)
		return 0;
	ring_acquired(ring_released(ring));
	/* No other thread can be between start and finish, so this span begins at the tail. The
	 * tail has the same offset in both kinds of sides. */
	ring_span_from(span, ring, entry_bytes,
		       __atomic_load_n(ring_committed(ring), __ATOMIC_RELAXED), count);
	return count;
}

/**
 * The same for a PLX_RING_ONE producer that already knows of room for `n` entries: it does not
 * read the reader's index, which is in the reader's cache. (acquire: the source of that knowledge
 * pairs with the reader's release.)
 */
static inline void
plx_ring_reserve_known(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n,
		       struct plx_ring_span *span)
{
	uint32_t index = *ring_committed(ring);

	ring_span_from(span, ring, entry_bytes, index, n);
	ring_reserve_one_producer(ring, index + n);
}

/* The instruction by itself: as a builtin it needs a target, and a function of another target
 * cannot be inlined. */
static inline void
ring_prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/**
 * Prefetch the line of the next entry for writing; the other side had it last. Only the producer
 * may call this: a reader that prefetched the line of an entry not yet written would take it away
 * from the writer, and each entry would cost a fifth more (measured).
 */
static inline void
plx_ring_expect(const struct rte_ring *ring, uint32_t entry_bytes)
{
	const uint8_t *places = ring_entries(ring);
	uint32_t tail = __atomic_load_n(ring_committed(ring), __ATOMIC_RELAXED);

	ring_prefetch_to_write(places + (size_t)(tail & ring->mask) * entry_bytes);
}

/**
 * Publish all reserved entries before number `end` (release), by the producer of a PLX_RING_ONE
 * side: it need not look up what kind of side it is.
 */
static inline void
plx_ring_commit_to(struct rte_ring *ring, uint32_t end)
{
	ring_releasing(ring_committed(ring));
	ring_store_committed(ring, end);
}

/** Publish the first `n` of the reserved entries (release); 0 cancels the reservation. */
static inline void
plx_ring_commit(struct rte_ring *ring, uint32_t n)
{
	ring_releasing(ring_committed(ring));
	rte_ring_enqueue_zc_elem_finish(ring, n);
}

/** Begin to read up to `n` entries (acquire); otherwise as plx_ring_reserve(). */
static inline uint32_t
plx_ring_peek(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n, struct plx_ring_span *span)
{
	struct rte_ring_zc_data zc;
	uint32_t count = rte_ring_dequeue_zc_burst_elem_start(ring, entry_bytes, n, &zc, NULL);

	if (count == 0)
		return 0;
	ring_acquired(ring_committed(ring));
	ring_span_from(span, ring, entry_bytes,
		       __atomic_load_n(ring_released(ring), __ATOMIC_RELAXED), count);
	return count;
}

/** Free the slots of the first `n` entries of a peek, which have been read. */
static inline void
plx_ring_release(struct rte_ring *ring, uint32_t n)
{
	ring_releasing(ring_released(ring));
	rte_ring_dequeue_zc_elem_finish(ring, n);
}

/* ---- marked entries ----
 *
 * A reader that waits on another core pays two cache misses for an entry: one for the writer's
 * index, one for the entry. In a marked entry one word says whether the entry is present, so only
 * the entry's own line moves.
 *
 * The word is written last. Its bit 56 belongs to the ring: 1 in the first lap, 0 in the second,
 * and so on, so memory that was never written marks no entry. One thread at a time writes, after a
 * reservation as usual. An entry may be read before it is committed; the commit updates the counts
 * below.
 */

/**
 * Write the marked word of entry `index` after the rest of the entry, which makes it readable
 * (release). It must still be committed.
 * @param word [8, aligned] in the entry
 */
static inline void
plx_ring_mark_written(const struct rte_ring *ring, uint32_t index, void *word, uint64_t value)
{
	__atomic_store_n((ring_word *)word,
			 (value & ~PLX_RING_MARK) | ring_mark_of(ring->size, index),
			 __ATOMIC_RELEASE);
}

/* How many of `n` entries starting at `index` are present (acquire). */
static inline uint32_t
ring_marked(const struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t index,
	    uint32_t n)
{
	const uint8_t *words = ring_entries(ring) + word_at;
	uint64_t mark = ring_mark_of(ring->size, index);
	uint32_t at = index & ring->mask, count = 0;

	while (count < n) {
		const void *word = words + (size_t)at * entry_bytes;
		uint64_t value = __atomic_load_n((const ring_word *)word, __ATOMIC_ACQUIRE);

		if ((value ^ mark) & PLX_RING_MARK)
			break;
		count++;
		if (plx_unlikely(++at == ring->size)) {
			at = 0;
			mark ^= PLX_RING_MARK;
		}
	}
	return count;
}

/* Reserve entries for a reader of a PLX_RING_MANY side, as rte_ring's HTS mode does: by moving the
 * head away from the tail. Other readers wait meanwhile. */
static inline uint32_t
ring_reserve_marked(struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t n,
		    uint32_t *index)
{
	uint64_t seen;
	uint32_t count;

	do {
		seen = ring_wait_consumers(ring, index);
		count = ring_marked(ring, entry_bytes, word_at, *index, n);
		if (count == 0)
			return 0;
	} while (!ring_reserve_consumers(ring, seen, count));
	return count;
}

/**
 * As plx_ring_peek(), for marked entries.
 * @param word_at [bytes] offset of the word in an entry
 */
static inline uint32_t
plx_ring_peek_marked(struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t n,
		     struct plx_ring_span *span)
{
	uint32_t index;

	if (ring_has_one_consumer(ring)) {
		index = *ring_released(ring);
		n = ring_marked(ring, entry_bytes, word_at, index, n);
		ring_reserve_one_consumer(ring, index + n);
	} else {
		n = ring_reserve_marked(ring, entry_bytes, word_at, n, &index);
	}
	if (n > 0)
		ring_span_from(span, ring, entry_bytes, index, n);
	return n;
}

/** Let readers look whether an entry is there, as plx_ring_look.h describes. */
static inline void
plx_ring_look_init(struct plx_ring_look *look, const struct rte_ring *ring, uint32_t word_at)
{
	look->words = ring_entries(ring) + word_at;
	look->released = ring_released(ring);
	look->slots = ring->size;
}

/* ---- copies and counts ---- */

/* Copy entries into a span. rte_ring's own copies move 4 bytes at a time unless an entry has one of
 * three sizes. */
static inline void
ring_fill(const struct plx_ring_span *span, uint32_t entry_bytes, const void *entries)
{
	memcpy(span->at, entries, (size_t)span->first * entry_bytes);
	if (plx_unlikely(span->first < span->count))
		memcpy(span->more, (const uint8_t *)entries + (size_t)span->first * entry_bytes,
		       (size_t)(span->count - span->first) * entry_bytes);
}

/**
 * Copy up to `n` entries into the ring.
 * Returns: how many
 */
static inline uint32_t
plx_ring_enqueue(struct rte_ring *ring, uint32_t entry_bytes, const void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t put = plx_ring_reserve(ring, entry_bytes, n, &span);

	if (put == 0)
		return 0;
	ring_fill(&span, entry_bytes, entries);
	plx_ring_commit(ring, put);
	return put;
}

/** Copy out the entries of a peek. */
static inline void
plx_ring_copy(const struct plx_ring_span *span, uint32_t entry_bytes, void *entries)
{
	if (span->count == 1) /* a size known to the compiler: no call */
		memcpy(entries, span->at, entry_bytes);
	else
		memcpy(entries, span->at, (size_t)span->first * entry_bytes);
	if (plx_unlikely(span->first < span->count))
		memcpy((uint8_t *)entries + (size_t)span->first * entry_bytes, span->more,
		       (size_t)(span->count - span->first) * entry_bytes);
}

/**
 * Copy up to `n` entries out of the ring.
 * Returns: how many
 */
static inline uint32_t
plx_ring_dequeue(struct rte_ring *ring, uint32_t entry_bytes, void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t got = plx_ring_peek(ring, entry_bytes, n, &span);

	if (got == 0)
		return 0;
	plx_ring_copy(&span, entry_bytes, entries);
	plx_ring_release(ring, got);
	return got;
}

/** How many entries have been written since creation, modulo 2^32; may be stale. */
static inline uint32_t
plx_ring_produced(const struct rte_ring *ring)
{
	uint32_t produced = __atomic_load_n(ring_committed(ring), __ATOMIC_ACQUIRE);

	ring_acquired(ring_committed(ring));
	return produced;
}

/**
 * How many entries have been read since creation, modulo 2^32 (acquire: the reader's accesses
 * before the release are complete).
 */
static inline uint32_t
plx_ring_consumed(const struct rte_ring *ring)
{
	uint32_t consumed = __atomic_load_n(ring_released(ring), __ATOMIC_ACQUIRE);

	ring_acquired(ring_released(ring));
	return consumed;
}

/** Slots in memory, a power of two; the ring holds one entry less. */
static inline uint32_t
plx_ring_slots(const struct rte_ring *ring)
{
	return ring->size;
}

/** Entries in the ring; may be stale when another thread uses it. */
static inline uint32_t
plx_ring_count(const struct rte_ring *ring)
{
	uint32_t consumed = plx_ring_consumed(ring);
	uint32_t count = (plx_ring_produced(ring) - consumed) & ring->mask;

	return count < ring->capacity ? count : ring->capacity;
}

static inline bool
plx_ring_empty(const struct rte_ring *ring)
{
	return __atomic_load_n(ring_committed(ring), __ATOMIC_RELAXED) ==
	       __atomic_load_n(ring_released(ring), __ATOMIC_RELAXED);
}

#endif
