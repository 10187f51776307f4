/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A look at a ring of marked entries (plx_ring.h): is the next one there? It needs nothing of
 * rte_ring, and compiles to a dozen instructions in the caller, for programs that poll many times
 * for each entry. Start with plx_ring_looks_empty().
 */
#ifndef PLX_RING_LOOK_H
#define PLX_RING_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLX_RING_MARK (UINT64_C(1) << 56)

/* The word as the ring accesses it, whatever members of the entry form it. */
typedef uint64_t __attribute__((may_alias)) ring_word;

static inline uint64_t
ring_mark_of(uint32_t slots, uint32_t index)
{
	return index & slots ? 0 : PLX_RING_MARK;
}

/* Made by plx_ring_look_init(), then never written. */
struct plx_ring_look {
	const uint8_t *words;              /* the marked word of the first place */
	const volatile uint32_t *released; /* number of the next entry to read */
	uint32_t slots;
};

/**
 * Is the next entry missing? false may be stale: another reader may be taking the entry.
 * Threads: any. Cost: no store; loads the line of the entry, and that of the readers' index
 */
static inline bool
plx_ring_looks_empty(const struct plx_ring_look *look, uint32_t entry_bytes)
{
	uint32_t index = __atomic_load_n(look->released, __ATOMIC_RELAXED);
	size_t at = (size_t)(index & (look->slots - 1)) * entry_bytes;
	const void *word = look->words + at;
	uint64_t value = __atomic_load_n((const ring_word *)word, __ATOMIC_RELAXED);

	return (value ^ ring_mark_of(look->slots, index)) & PLX_RING_MARK;
}

#endif
