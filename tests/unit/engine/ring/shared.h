/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring as it lies in memory that is shared with another process: a page that no access survives
 * on each side, the last entry touching the one behind. Ring and entries fill their page exactly.
 * Start with shared_ring().
 */
#ifndef SHARED_H
#define SHARED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "plx_ring_untrusted.h"

enum {
	SLOTS = 8,
	CAPACITY = SLOTS - 1,
};

/* 464 bytes */
struct entry {
	uint64_t number;
	uint64_t check[55];
	uint64_t word; /* marked, where entries are; so far back that a copy takes time to get there
			*/
	uint64_t last;
};

#define WORD_AT ((uint32_t)offsetof(struct entry, word))

_Static_assert(sizeof(struct rte_ring) + SLOTS * sizeof(struct entry) <= 4096, "one page");

static inline struct plx_ring_config
config_of(enum plx_ring_side producers, enum plx_ring_side consumers)
{
	return (struct plx_ring_config){.entries = CAPACITY,
					.entry_bytes = sizeof(struct entry),
					.producers = producers,
					.consumers = consumers};
}

/* As plx_ring_untrusted_dequeue(), for marked entries. */
static inline uint32_t
dequeue_marked(struct plx_ring_untrusted *ring, uint32_t entry_bytes, uint32_t word_at,
	       void *entries, uint32_t n)
{
	struct plx_ring_span span;
	uint32_t got = plx_ring_untrusted_peek_marked(ring, entry_bytes, word_at, n, &span);

	if (got > 0) {
		plx_ring_copy(&span, entry_bytes, entries);
		plx_ring_untrusted_release(ring, got);
	}
	return got;
}

/* A new ring that has already carried `age` entries; unmap_ring() frees it. */
static inline struct rte_ring *
shared_ring(const struct plx_ring_config *config, uint32_t age)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = plx_ring_bytes(config);
	uint8_t *map = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_ring *ring;

	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_READ | PROT_WRITE), 0);
	ring = plx_ring_init(config, map + 2 * page - bytes);
	assert_int_equal(plx_ring_slots(ring), SLOTS);
	ring->prod.head = ring->prod.tail = age;
	ring->cons.head = ring->cons.tail = age;
	return ring;
}

static inline void
unmap_ring(struct rte_ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *middle = (uint8_t *)((uintptr_t)ring / page * page);

	assert_int_equal(munmap(middle - page, 3 * page), 0);
}

static inline struct plx_ring_untrusted
side_of(struct rte_ring *shared, const struct plx_ring_config *config, enum plx_ring_role role)
{
	struct plx_ring_untrusted ring;

	assert_int_equal(plx_ring_untrusted_init(&ring, config, role, shared), PLX_OK);
	assert_false(ring.fault);
	return ring;
}

static inline void
fill_entry(struct entry *entry, uint32_t number)
{
	entry->number = number;
	entry->word = number & 1 ? UINT64_MAX : number;
	entry->last = ~(uint64_t)number;
	for (uint32_t i = 0; i < PLX_COUNT_OF(entry->check); i++)
		entry->check[i] = number * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static inline void
check_entry(const struct entry *entry, uint32_t number)
{
	assert_int_equal(entry->number, number);
	assert_int_equal(entry->word & ~PLX_RING_MARK,
			 (number & 1 ? UINT64_MAX : number) & ~PLX_RING_MARK);
	assert_int_equal(entry->last, ~(uint64_t)number);
	for (uint32_t i = 0; i < PLX_COUNT_OF(entry->check); i++)
		assert_int_equal(entry->check[i], number * UINT64_C(0x9e3779b97f4a7c15) + i);
}

#endif
