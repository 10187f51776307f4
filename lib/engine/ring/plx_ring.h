/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one door to rte_ring: rings of fixed-size entries between threads, written and read in place.
 * No other file of Pollux names an rte_ring_* symbol, so that a hardened variant, for clients in
 * other processes, has one place to go to.
 * Start with plx_ring_create(), then plx_ring_reserve() and plx_ring_peek(); for a reader that
 * waits on another core, plx_ring_mark_written() and plx_ring_peek_marked().
 *
 * Each side is PLX_RING_ONE (one thread at a time) or PLX_RING_MANY (any threads, serialised from
 * reserve to commit, or from peek to release). Never rte_ring's plain multi-producer mode:
 * application threads are preempted, and there one that sleeps stops all consumers. Here it stops
 * the threads of its own side only.
 */
#ifndef PLX_RING_H
#define PLX_RING_H

#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include "plx_base.h"

enum plx_ring_side {
	PLX_RING_ONE,
	PLX_RING_MANY,
};

struct plx_ring_config {
	uint32_t entries;     /* 1 .. PLX_RING_ENTRIES_MAX; rounded up to a power of two */
	uint32_t entry_bytes; /* a multiple of 4 */
	enum plx_ring_side producers, consumers;
	int socket; /* NUMA node; -1: any */
};

#define PLX_RING_ENTRIES_MAX (UINT32_C(1) << 21)

/** NULL when there is no memory. */
struct rte_ring *plx_ring_create(const struct plx_ring_config *config);
void plx_ring_destroy(struct rte_ring *ring);

/*
 * A PLX_RING_MANY side stores its head and tail in one atomic access of eight bytes, and the other
 * side loads the tail alone. ThreadSanitizer does not see that the one orders the other; these tell
 * it, where it is there, and are nothing elsewhere.
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

/* Entries in place: `first` of them from `at`, the others from `more`. `index` is the number of the
 * first one, counted from the ring's creation modulo 2^32. */
struct plx_ring_span {
	uint8_t *at, *more;
	uint32_t first, count;
	uint32_t index;
};

/* `count` entries from `index` on, wherever they lie. */
static inline void
ring_span_from(struct plx_ring_span *span, struct rte_ring *ring, uint32_t entry_bytes,
	       uint32_t index, uint32_t count)
{
	uint32_t at = index & ring->mask;

	span->at = (uint8_t *)(ring + 1) + (size_t)at * entry_bytes;
	span->more = (uint8_t *)(ring + 1);
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
 * Begin to write up to `n` entries. When it returns more than 0, plx_ring_commit() must follow, by
 * the same thread, soon: other producers of a PLX_RING_MANY side wait.
 * Returns: span->count, 0 when the ring is full
 */
static inline uint32_t
plx_ring_reserve(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n,
		 struct plx_ring_span *span)
{
	struct rte_ring_zc_data zc;
	uint32_t count = rte_ring_enqueue_zc_burst_elem_start(ring, entry_bytes, n, &zc, NULL);

	if (count == 0)
		return 0;
	ring_acquired(&ring->cons.tail);
	/* Nobody else can be between start and finish, so the tail is where this span begins; it
	 * lies at the same place in both kinds of sides. */
	ring_span_from(span, ring, entry_bytes, __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED),
		       count);
	return count;
}

/**
 * The same for a PLX_RING_ONE producer who knows from elsewhere that there is room for `n`: the
 * reader's index, which is in the reader's cache, is not looked at. (acquire: pairs with the
 * reader's release, is in whatever told of the room.)
 */
static inline void
plx_ring_reserve_known(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n,
		       struct plx_ring_span *span)
{
	uint32_t tail = ring->prod.tail;

	ring_span_from(span, ring, entry_bytes, tail, n);
	ring->prod.head = tail + n;
}

#if defined(__x86_64__)
#define RING_PREFETCHW __attribute__((target("prfchw")))
#else
#define RING_PREFETCHW
#endif

/**
 * The producer will write an entry soon: ask for its line, which the other side had last, before it
 * is needed. Only the producer may: a reader who asked for the line of an entry that is not there
 * yet would take it away from the writer, and each entry would cost a fifth more (measured).
 */
static inline RING_PREFETCHW void
plx_ring_expect(const struct rte_ring *ring, uint32_t entry_bytes)
{
	const uint8_t *places = (const uint8_t *)(ring + 1);
	uint32_t tail = __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED);

	__builtin_prefetch(places + (size_t)(tail & ring->mask) * entry_bytes, 1);
}

/** Publish the first `n` of the entries reserved (release); 0 gives all back. */
static inline void
plx_ring_commit(struct rte_ring *ring, uint32_t n)
{
	ring_releasing(&ring->prod.tail);
	rte_ring_enqueue_zc_elem_finish(ring, n);
}

/** Begin to read up to `n` entries (acquire); as plx_ring_reserve(). */
static inline uint32_t
plx_ring_peek(struct rte_ring *ring, uint32_t entry_bytes, uint32_t n, struct plx_ring_span *span)
{
	struct rte_ring_zc_data zc;
	uint32_t count = rte_ring_dequeue_zc_burst_elem_start(ring, entry_bytes, n, &zc, NULL);

	if (count == 0)
		return 0;
	ring_acquired(&ring->prod.tail);
	ring_span_from(span, ring, entry_bytes, __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED),
		       count);
	return count;
}

/** The first `n` of the entries peeked at are read; their places may be written again. */
static inline void
plx_ring_release(struct rte_ring *ring, uint32_t n)
{
	ring_releasing(&ring->cons.tail);
	rte_ring_dequeue_zc_elem_finish(ring, n);
}

/* ---- marked entries -----------------------------------------------------------------------------
 *
 * A reader on another core pays twice for an entry that it waits for: once for the line with the
 * writer's index, once for the entry. Where entries are marked, one word of each tells that it is
 * there, and the entry's own line is all that moves.
 *
 * The word is written last. Its bit 56 is the ring's: 1 in the first lap, 0 in the second, and so
 * on, so memory that was never written tells of nothing. One thread at a time writes, having
 * reserved as ever; an entry may be read before it is committed, which tells the counts below.
 */

#define PLX_RING_MARK (UINT64_C(1) << 56)

/* The word as the ring sees it, whatever fields of the entry it is made of. */
typedef uint64_t __attribute__((may_alias)) ring_word;

static inline uint64_t
ring_mark_of(const struct rte_ring *ring, uint32_t index)
{
	return index & ring->size ? 0 : PLX_RING_MARK;
}

/** The rest of entry `index` is written: it is there, with this word (release). It has to be
 * committed. @param word [8, aligned] in the entry */
static inline void
plx_ring_mark_written(const struct rte_ring *ring, uint32_t index, void *word, uint64_t value)
{
	__atomic_store_n((ring_word *)word, (value & ~PLX_RING_MARK) | ring_mark_of(ring, index),
			 __ATOMIC_RELEASE);
}

/* How many of `n` entries from `index` on are there (acquire). */
static inline uint32_t
ring_marked(const struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t index,
	    uint32_t n)
{
	const uint8_t *words = (const uint8_t *)(ring + 1) + word_at;
	uint64_t mark = ring_mark_of(ring, index);
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

/* Reserve what readers of a PLX_RING_MANY side read, as rte_ring's HTS does it: by moving the head
 * away from the tail. Others that come meanwhile wait. */
static inline uint32_t
ring_reserve_marked(struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t n,
		    uint32_t *index)
{
	union __rte_ring_hts_pos was, now;

	was.raw = __atomic_load_n(&ring->hts_cons.ht.raw, __ATOMIC_ACQUIRE);
	do {
		while (plx_unlikely(was.pos.head != was.pos.tail)) {
			rte_pause();
			was.raw = __atomic_load_n(&ring->hts_cons.ht.raw, __ATOMIC_ACQUIRE);
		}
		*index = was.pos.head;
		now = was;
		now.pos.head += ring_marked(ring, entry_bytes, word_at, *index, n);
		if (now.raw == was.raw)
			return 0;
	} while (!__atomic_compare_exchange_n(&ring->hts_cons.ht.raw, &was.raw, now.raw, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return now.pos.head - *index;
}

/** As plx_ring_peek(), of marked entries. @param word_at [bytes] where in an entry its word is */
static inline uint32_t
plx_ring_peek_marked(struct rte_ring *ring, uint32_t entry_bytes, uint32_t word_at, uint32_t n,
		     struct plx_ring_span *span)
{
	uint32_t index;

	if (ring->cons.sync_type == RTE_RING_SYNC_ST) {
		index = ring->cons.tail;
		n = ring_marked(ring, entry_bytes, word_at, index, n);
		ring->cons.head = index + n;
	} else {
		n = ring_reserve_marked(ring, entry_bytes, word_at, n, &index);
	}
	if (n > 0)
		ring_span_from(span, ring, entry_bytes, index, n);
	return n;
}

/* ---- copies and counts --------------------------------------------------------------------------
 */

/** Copy up to `n` entries in. Returns: how many */
static inline uint32_t
plx_ring_enqueue(struct rte_ring *ring, uint32_t entry_bytes, const void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t put = plx_ring_reserve(ring, entry_bytes, n, &span);

	/* rte_ring's own copies go by 4 bytes when an entry is not one of three sizes. */
	if (put == 0)
		return 0;
	memcpy(span.at, entries, (size_t)span.first * entry_bytes);
	if (plx_unlikely(span.first < put))
		memcpy(span.more, (const uint8_t *)entries + (size_t)span.first * entry_bytes,
		       (size_t)(put - span.first) * entry_bytes);
	plx_ring_commit(ring, put);
	return put;
}

/** Copy out what was peeked at. */
static inline void
plx_ring_copy(const struct plx_ring_span *span, uint32_t entry_bytes, void *entries)
{
	if (span->count == 1) /* the size is known to the compiler: no call */
		memcpy(entries, span->at, entry_bytes);
	else
		memcpy(entries, span->at, (size_t)span->first * entry_bytes);
	if (plx_unlikely(span->first < span->count))
		memcpy((uint8_t *)entries + (size_t)span->first * entry_bytes, span->more,
		       (size_t)(span->count - span->first) * entry_bytes);
}

/** Copy up to `n` entries out. Returns: how many */
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

/** How many entries have been written since creation, modulo 2^32; of the past. */
static inline uint32_t
plx_ring_produced(const struct rte_ring *ring)
{
	uint32_t produced = __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE);

	ring_acquired(&ring->prod.tail);
	return produced;
}

/** How many entries have been read since creation, modulo 2^32 (acquire: what the reader did before
 * it released them has happened). */
static inline uint32_t
plx_ring_consumed(const struct rte_ring *ring)
{
	uint32_t consumed = __atomic_load_n(&ring->cons.tail, __ATOMIC_ACQUIRE);

	ring_acquired(&ring->cons.tail);
	return consumed;
}

/** Places in memory, a power of two; the ring holds one entry less. */
static inline uint32_t
plx_ring_slots(const struct rte_ring *ring)
{
	return ring->size;
}

/** Entries in the ring; of the past, when another thread is at work. */
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
	return __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED);
}

#endif
