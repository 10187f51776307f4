/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table's layout, and the few steps in which a slot changes; private to lib/proto/mem.
 * It never decides whether a caller or a peer may do something: region.c, window.c and check.c do.
 * Start with struct plx_slot.
 *
 * Two kinds of threads access a slot. The caller's side, one thread at a time, writes all of it.
 * Engines read it without a lock, and change two words of it by compare-and-swap: the life word,
 * from valid to invalid, and the gate. So fields that engines read are written and read atomically,
 * and a comment at each acquire or release says what it pairs with.
 */
#ifndef PLX_TABLE_H
#define PLX_TABLE_H

#include "plx_mem.h"

#define PLX_SLOT_NONE 0 /* never issued; checks of unknown keys read it */

enum plx_slot_kind {
	PLX_SLOT_FREE,
	PLX_SLOT_REGION,
	PLX_SLOT_WINDOW,
};

/*
 * One region or window, in one cache line.
 *
 *   life   63           32 31            0
 *          | life number  |     key      |   key 0: nothing is granted
 *
 *   gate   63           32  31  30       0
 *          | life number  |open| windows |   regions only
 *
 * The life number counts how often this slot was published; its low 12 bits are the generation in
 * the key. It is wider than the generation, so that a reader that was suspended for 4096 lives
 * still sees that the word has changed.
 */
struct plx_slot {
	uint64_t life;
	uint64_t va;
	uint64_t length;
	uint8_t *host; /* with PLX_SLOT_PAGES: an array of uint64_t, the pages; or PLX_HOST_MAP */
	uint64_t gate;
	uint32_t domain;
	union {
		struct {
			uint32_t qpn;    /* windows */
			uint32_t parent; /* windows: the region's slot */
		};
		struct plx_page_lists *lists; /* regions; NULL: none */
	};
	uint8_t access;
	uint8_t kind;
	bool retired; /* atomic: a region may be retired during a bind or a fast registration */
	uint32_t promised; /* the last life promised; the caller's side only */
} PLX_ALIGNED_LINE;

_Static_assert(sizeof(struct plx_slot) == PLX_CACHE_LINE, "a check reads one line");

/* In `access`, beside the rights: the memory is not contiguous. */
#define PLX_SLOT_PAGES 0x80

_Static_assert((PLX_ACCESS_ALL & PLX_SLOT_PAGES) == 0, "no right");

/* In `host`, beside the address: of a struct plx_page_map. */
#define PLX_HOST_MAP 1

_Static_assert(_Alignof(struct plx_page_map) > PLX_HOST_MAP, "no address");

#define PLX_GATE_OPEN    (UINT64_C(1) << 31)
#define PLX_GATE_WINDOWS (PLX_GATE_OPEN - 1)

struct plx_domain_use {
	uint64_t holds; /* held by QPs; 64 bits, so that no number of calls wraps it */
	uint32_t slots; /* number of regions and windows */
	uint32_t next;  /* PLX_DOMAIN_LIVE; if free: the id destroyed after it, 0: none */
};

#define PLX_DOMAIN_LIVE UINT32_MAX

struct plx_mem {
	/* Read by every check, written once. */
	struct plx_permutation permutation;
	uint32_t slots; /* number of the last slot */
	/* Written by the caller's side, on separate cache lines. */
	uint32_t in_use PLX_ALIGNED_LINE;
	uint32_t free_first;     /* index into the FIFO of free slots */
	uint32_t domains;        /* id of the last domain */
	uint32_t domains_issued; /* ids so far; the entries behind them are not written */
	/* The FIFO of destroyed domains, which `next` chains; first is 0: empty */
	uint32_t domain_free_first, domain_free_last;
	struct plx_slot slot[]; /* slots + 1, the FIFO of free ones, then the domains */
};

_Static_assert(offsetof(struct plx_mem, in_use) == 2 * PLX_CACHE_LINE, "hot lines stay clean");
_Static_assert(sizeof(struct plx_mem) % PLX_CACHE_LINE == 0, "slots start on a line");

/* What a slot grants during one life. */
struct plx_slot_terms {
	uint64_t va, length;
	uint8_t *host;
	uint32_t qpn, parent; /* windows */
	struct plx_access access;
};

/* ---- pages.c ---- */

/* The lists of a fast-register region. Any thread reads them; who promises writes one that no life
 * has. */
struct plx_page_lists {
	uint32_t pages; /* room in each */
	struct {
		uint64_t life; /* PLX_LIST_TAKEN | the life's number; 0: free */
		uint32_t pages;
	} of[PLX_FAST_LISTS];
	uint64_t page[];
};

#define PLX_LIST_TAKEN (UINT64_C(1) << 32)

/** Are they addresses of pages? */
bool plx_pages_are_valid(const uint64_t *page, uint64_t pages);

/** The list that a promise has, if the range fits it; otherwise NULL. */
const uint64_t *plx_pages_promised(struct plx_slot *slot, const struct plx_promise *promise,
				   uint64_t va, uint64_t length);

/** The address of the page that contains `va`, which is in [base, ...), the range of a list. */
static inline uint64_t
plx_page_at(const uint8_t *list, uint64_t base, uint64_t va)
{
	const uint64_t *page = (const uint64_t *)(const void *)list;

	/* Acquire: pairs with the release store in plx_region_promise_pages(): who reads a page of
	 * a later life sees that the earlier one has ended. */
	return __atomic_load_n(&page[(va >> PLX_PAGE_SHIFT) - (base >> PLX_PAGE_SHIFT)],
			       __ATOMIC_ACQUIRE);
}

/** Can a region have this map? */
bool plx_map_is_valid(const struct plx_page_map *map);

/** Where the page at `page` is, which gets a place if it has none. Any thread.
 * Returns: with PLX_PAGE_PRIVATE; 0: no place is left */
uint64_t plx_map_page(const struct plx_page_map *map, uint64_t page);

/**
 * The byte `offset` after `host`, computed as a number, because an offset may exceed PTRDIFF_MAX.
 */
static inline uint8_t *
plx_host_at(uint8_t *host, uint64_t offset)
{
	return (uint8_t *)((uintptr_t)host + (uintptr_t)offset);
}

/** The life word after the end of this life. */
static inline uint64_t
plx_life_ended(uint64_t life)
{
	return life & ~(uint64_t)UINT32_MAX;
}

/**
 * Is [va, va + length) inside [base, base + size)? Nothing here can overflow: if `va` is below
 * `base`, the offset is not below any size for which base + size - 1 does not wrap.
 */
static inline bool
plx_range_inside(uint64_t va, uint64_t length, uint64_t base, uint64_t size)
{
	uint64_t offset = va - base;

	return (offset <= size) & (length <= size - offset);
}

/** Allocate the slot that has been free longest; PLX_SLOT_NONE if there is none. */
uint32_t plx_slot_alloc(struct plx_mem *mem, struct plx_domain domain, enum plx_slot_kind kind);

/** Free a slot whose key is not valid. */
void plx_slot_free(struct plx_mem *mem, uint32_t number);

/** The slot of a handle; NULL if that is not a slot of this kind in use. */
struct plx_slot *plx_slot_of(struct plx_mem *mem, uint32_t number, enum plx_slot_kind kind,
			     bool retired);

/** Begin the next life of a slot whose key is not valid. */
struct plx_key plx_slot_publish(struct plx_mem *mem, uint32_t number,
				const struct plx_slot_terms *terms);

/** The key of a life; 0: none may have this number. */
struct plx_key plx_slot_key(const struct plx_mem *mem, uint32_t number, uint32_t life);

/** Begin a life of this number if `before` is still the slot's life word, which has no key.
 * Returns: false: it is not */
bool plx_slot_publish_as(struct plx_slot *slot, uint64_t before, uint32_t life, struct plx_key key,
			 const struct plx_slot_terms *terms);

/** End the life that `life` was read from. Returns false if it had already ended. Any thread. */
bool plx_slot_end(struct plx_slot *slot, uint64_t life);

enum plx_gate {
	PLX_GATE_CLOSED,      /* by this call */
	PLX_GATE_PINNED,      /* still open: windows are bound */
	PLX_GATE_SHUT_BEFORE, /* by another call, or in another life */
};

/**
 * Close a region's gate, so that no more windows can be bound to it; refused while one is bound.
 * The call that closes the gate ends the life, so that an invalidation and a bind cannot both
 * succeed. Any thread.
 */
enum plx_gate plx_gate_close(struct plx_slot *slot, uint64_t life);

/** Count one more window. Returns false if the gate is closed. Caller's side only. */
bool plx_gate_pin(struct plx_slot *slot);

/**
 * Count one window less: once for each plx_gate_pin(), by the thread that ended the window's life.
 */
void plx_gate_unpin(struct plx_slot *slot);

/* ---- domains ---- */

/** The entry of an id that was issued. */
struct plx_domain_use *plx_domain_at(struct plx_mem *mem, uint32_t id);

/** The entry of a handle; NULL if that is not a domain. */
struct plx_domain_use *plx_domain_of(struct plx_mem *mem, struct plx_domain domain);

#endif
