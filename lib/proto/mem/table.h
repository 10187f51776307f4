/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table's layout, and the few steps in which a slot changes; private to lib/proto/mem.
 * It never decides whether a caller or a peer may do something: region.c, window.c, check.c do.
 * Start with struct plx_slot.
 *
 * Two kinds of threads meet in a slot. The caller's side, one thread at a time, writes all of it.
 * Engines read it without a lock, and change two words of it by compare-and-swap: the life word,
 * from valid to not valid, and the gate. So a field that engines read is written and read
 * atomically, and each edge below says with what it pairs.
 */
#ifndef PLX_TABLE_H
#define PLX_TABLE_H

#include "plx_mem.h"

#define PLX_SLOT_NONE 0 /* a slot number that is never issued; checks of unknown keys read it */

enum plx_slot_kind {
	PLX_SLOT_FREE,
	PLX_SLOT_REGION,
	PLX_SLOT_WINDOW,
};

/*
 * One region or window; one cache line.
 *
 *   life   63           32 31            0
 *          | life number  |     key      |   key 0: nothing is granted
 *
 *   gate   63           32  31  30       0
 *          | life number  |open| windows |   regions only
 *
 * The life number counts what was published in this slot; its low 12 bits are the generation in the
 * key. It is wider than the generation so that a reader who slept through 4096 lives still sees
 * that the word has changed.
 */
struct plx_slot {
	uint64_t life;
	uint64_t va;
	uint64_t length;
	uint8_t *host;
	uint64_t gate;
	uint32_t domain;
	uint32_t qpn;    /* windows */
	uint32_t parent; /* windows: the region's slot */
	uint8_t access;
	uint8_t kind;
	bool retired; /* the caller's side only; atomic, for a region is retired beside a bind */
} __attribute__((aligned(PLX_CACHE_LINE)));

_Static_assert(sizeof(struct plx_slot) == PLX_CACHE_LINE, "a check reads one line");

#define PLX_GATE_OPEN    (UINT64_C(1) << 31)
#define PLX_GATE_WINDOWS (PLX_GATE_OPEN - 1)

struct plx_domain_use {
	uint64_t holds; /* by QPs; 64 bits so that no number of calls wraps it */
	uint32_t slots; /* regions and windows */
};

struct plx_mem {
	/* What every check reads, written once. */
	struct plx_permutation permutation;
	uint32_t slots; /* the last slot's number */
	/* What the caller's side writes, on lines of its own. */
	uint32_t in_use __attribute__((aligned(PLX_CACHE_LINE)));
	uint32_t free_first; /* index into the FIFO of free slots */
	uint32_t domain_next;
	uint64_t domain_live[PLX_BITMAP_WORDS(PLX_MEM_DOMAINS_MAX)];
	struct plx_domain_use domain[PLX_MEM_DOMAINS_MAX]; /* of id i at i - 1 */
	struct plx_slot slot[];                            /* slots + 1, then the FIFO */
};

_Static_assert(offsetof(struct plx_mem, in_use) == 2 * PLX_CACHE_LINE, "hot lines stay clean");
_Static_assert(sizeof(struct plx_mem) % PLX_CACHE_LINE == 0, "slots start on a line");

/* What a life of a slot grants. */
struct plx_slot_terms {
	uint64_t va, length;
	uint8_t *host;
	uint32_t qpn, parent;
	struct plx_access access;
};

/** The byte `offset` after `host`; as a number, for an offset may be above PTRDIFF_MAX. */
static inline uint8_t *
plx_host_at(uint8_t *host, uint64_t offset)
{
	return (uint8_t *)((uintptr_t)host + (uintptr_t)offset);
}

static inline uint32_t
plx_life_key(uint64_t life)
{
	return (uint32_t)life;
}

/** The same life, over. */
static inline uint64_t
plx_life_ended(uint64_t life)
{
	return life & ~(uint64_t)UINT32_MAX;
}

/**
 * Does [va, va + length) lie inside [base, base + size)? Nothing here can overflow: a `va` below
 * `base` makes an offset that is not below any size for which base + size - 1 does not wrap.
 */
static inline bool
plx_range_inside(uint64_t va, uint64_t length, uint64_t base, uint64_t size)
{
	uint64_t offset = va - base;

	return (offset <= size) & (length <= size - offset);
}

/** Take the free slot that has been free longest; PLX_SLOT_NONE when there is none. */
uint32_t plx_slot_alloc(struct plx_mem *mem, struct plx_domain domain, enum plx_slot_kind kind);

/** Give a slot back whose key is not valid. */
void plx_slot_free(struct plx_mem *mem, uint32_t number);

/** The slot of a handle, or NULL when it is not one of this kind that is still in use. */
struct plx_slot *plx_slot_of(struct plx_mem *mem, uint32_t number, enum plx_slot_kind kind,
			     bool retired);

/** Begin the next life of a slot whose key is not valid. */
struct plx_key plx_slot_publish(struct plx_mem *mem, uint32_t number,
				const struct plx_slot_terms *terms);

/** End the life that `life` was read from; false when it had ended already. Any thread. */
bool plx_slot_end(struct plx_slot *slot, uint64_t life);

enum plx_gate {
	PLX_GATE_CLOSED,      /* by this call */
	PLX_GATE_PINNED,      /* stays open: windows are bound */
	PLX_GATE_SHUT_BEFORE, /* by another, or in another life */
};

/**
 * Close a region's gate, so that no window can be bound to it any more, unless one is. Whoever
 * closes it ends the life, so that an invalidation and a bind cannot both succeed. Any thread.
 */
enum plx_gate plx_gate_close(struct plx_slot *slot, uint64_t life);

/** Count one more window; false when the gate is closed. The caller's side. */
bool plx_gate_pin(struct plx_slot *slot);

/** One window less: once for each plx_gate_pin(), by whoever ended the window's life. */
void plx_gate_unpin(struct plx_slot *slot);

bool plx_domain_is_live(const struct plx_mem *mem, struct plx_domain domain);

#endif
