/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one door to rte_ring: rings of fixed-size entries between threads, written and read in place.
 * No other file of Pollux names an rte_ring_* symbol, so that a hardened variant, for clients in
 * other processes, has one place to go to.
 * Start with plx_ring_create(), then plx_ring_reserve() and plx_ring_peek().
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

static inline void
ring_span_set(struct plx_ring_span *span, const struct rte_ring_zc_data *zc, uint32_t count)
{
	span->at = (uint8_t *)zc->ptr1;
	span->more = (uint8_t *)zc->ptr2;
	span->first = zc->n1;
	span->count = count;
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
	ring_span_set(span, &zc, count);
	ring_acquired(&ring->cons.tail);
	/* Nobody else can be between start and finish, so the tail is where this span begins; it
	 * lies at the same place in both kinds of sides. */
	span->index = __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED);
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
	uint32_t at = tail & ring->mask;

	span->at = (uint8_t *)(ring + 1) + (size_t)at * entry_bytes;
	span->more = (uint8_t *)(ring + 1);
	span->first = n < ring->size - at ? n : ring->size - at;
	span->count = n;
	span->index = tail;
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
	ring_span_set(span, &zc, count);
	ring_acquired(&ring->prod.tail);
	span->index = __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED);
	return count;
}

/** The first `n` of the entries peeked at are read; their places may be written again. */
static inline void
plx_ring_release(struct rte_ring *ring, uint32_t n)
{
	ring_releasing(&ring->cons.tail);
	rte_ring_dequeue_zc_elem_finish(ring, n);
}

/* Of the entries of a span, those that lie at `at`. */
static inline uint32_t
ring_first(const struct plx_ring_span *span)
{
	return span->first < span->count ? span->first : span->count;
}

/** Copy up to `n` entries in. Returns: how many */
static inline uint32_t
plx_ring_put(struct rte_ring *ring, uint32_t entry_bytes, const void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t put = plx_ring_reserve(ring, entry_bytes, n, &span);

	/* rte_ring's own copies go by 4 bytes when an entry is not one of three sizes. */
	if (put == 0)
		return 0;
	memcpy(span.at, entries, (size_t)ring_first(&span) * entry_bytes);
	if (plx_unlikely(span.first < put))
		memcpy(span.more, (const uint8_t *)entries + (size_t)span.first * entry_bytes,
		       (size_t)(put - span.first) * entry_bytes);
	plx_ring_commit(ring, put);
	return put;
}

/** Copy up to `n` entries out. Returns: how many */
static inline uint32_t
plx_ring_take(struct rte_ring *ring, uint32_t entry_bytes, void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t got = plx_ring_peek(ring, entry_bytes, n, &span);

	if (got == 0)
		return 0;
	if (got == 1) /* the size is known to the compiler: no call */
		memcpy(entries, span.at, entry_bytes);
	else
		memcpy(entries, span.at, (size_t)ring_first(&span) * entry_bytes);
	if (plx_unlikely(span.first < got))
		memcpy((uint8_t *)entries + (size_t)span.first * entry_bytes, span.more,
		       (size_t)(got - span.first) * entry_bytes);
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
