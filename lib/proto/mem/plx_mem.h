/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains, regions and windows. It issues keys and checks whether a QP may access a
 * range. It never accesses the memory it grants, allocates, or waits.
 * Start with plx_key_check(); docs/memory.md draws the slot and its life.
 *
 * Threads: the caller serialises all calls that take a non-const table, except plx_region_retire()
 * and plx_key_invalidate(). Any number of engines check and invalidate keys at the same time,
 * without a lock. Removal takes two steps, and between them the caller lets every engine pass a
 * quiescent state: ..._retire() makes the key invalid at once; ..._release() frees the slot, after
 * which no engine accesses the memory.
 */
#ifndef PLX_MEM_H
#define PLX_MEM_H

#include "plx_base.h"
#include "plx_secret.h"

#define PLX_KEY_SLOT_BITS       20 /* a million regions and windows */
#define PLX_KEY_GENERATION_BITS 12
#define PLX_MEM_SLOTS_MAX       (UINT32_C(1) << PLX_KEY_SLOT_BITS)
#define PLX_MEM_DOMAINS_MAX     65536 /* 1 MiB, taken as they are created */

/** A protection domain; 0 is never issued. */
struct plx_domain {
	uint32_t id;
};

/** A region's or a window's slot; 0 is never issued, so a zeroed handle is invalid. */
struct plx_region {
	uint32_t slot;
};

struct plx_window {
	uint32_t slot;
};

/* Why a key did not grant what was asked. X(name, text) */
#define PLX_KEY_VERDICT_LIST(X)                                   \
	X(GRANTED, "granted")                                     \
	X(UNKNOWN, "unknown or expired key")                      \
	X(DOMAIN, "the key belongs to another protection domain") \
	X(WRONG_QP, "the window is bound to another queue pair")  \
	X(NO_RIGHT, "the key does not carry this right")          \
	X(RANGE, "the range exceeds what the key grants")         \
	X(KIND, "the key's object cannot be invalidated")         \
	X(PIECES, "granted, but in several pieces of memory")

enum plx_key_verdict {
#define PLX_X(name, text) PLX_KEY_##name,
	PLX_KEY_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_KEY_VERDICT_COUNT,
};

const char *plx_key_verdict_text(enum plx_key_verdict verdict);

/** The result of a check: where the range is in this process, and the rights to it. */
struct plx_grant {
	uint8_t *host;            /* first byte of the range; NULL if empty */
	struct plx_access access; /* all rights of the key, PLX_ACCESS_STABLE among them */
	bool is_private;          /* `host` is a shadow: PLX_PAGE_PRIVATE */
};

/* A bit of an address in a list of pages: the memory is a program's that this process does not
 * share, and the address is that of its shadow, which is loaded before it is sent (decision 48). */
#define PLX_PAGE_PRIVATE UINT64_C(1)

struct plx_mem; /* one adapter's table */

/* ---- the table ---- */

/* How much a table has room for. */
struct plx_mem_limits {
	uint32_t slots;   /* regions and windows together, 2 .. PLX_MEM_SLOTS_MAX - 1 */
	uint32_t domains; /* 1 .. PLX_MEM_DOMAINS_MAX */
};

/** Bytes that plx_mem_init() needs; 0 if a limit is out of range. */
size_t plx_mem_bytes(const struct plx_mem_limits *limits);

/**
 * @param memory [plx_mem_bytes(limits)] aligned to PLX_CACHE_LINE, of any content; owned by the
 *               caller, outlives the table
 * @param secret of purpose PLX_SECRET_MEM; keys can be forged by anyone who knows it
 * Returns: the table, all slots and domains free; NULL if an argument is out of range
 * Cost:    O(slots); the part for domains is not touched before they are created
 */
struct plx_mem *plx_mem_init(void *memory, const struct plx_mem_limits *limits,
			     const struct plx_secret *secret);

/** Slots in use, including retired ones that are not released yet. */
uint32_t plx_mem_in_use(const struct plx_mem *mem);

/* ---- domains ---- */

/** Errors: FULL */
enum plx_status plx_domain_create(struct plx_mem *mem, struct plx_domain *out) PLX_MUST_CHECK;

/** Errors: NO_KEY; BUSY while a region, a window or a QP (plx_domain_hold) uses it */
enum plx_status plx_domain_destroy(struct plx_mem *mem, struct plx_domain domain) PLX_MUST_CHECK;

/**
 * Count, and stop counting, a QP as a user of a domain.
 * Errors: NO_KEY
 */
enum plx_status plx_domain_hold(struct plx_mem *mem, struct plx_domain domain) PLX_MUST_CHECK;
void plx_domain_unhold(struct plx_mem *mem, struct plx_domain domain);

/* ---- regions ---- */

/*
 * Where the pages are of a range that no list could hold, such as all that a process can have: a
 * page gets a place of its map when it is first asked for, and keeps it. Engines write it.
 */
struct plx_page_map {
	uint64_t *page;  /* [places] the address of the page that has this place; 0: none yet */
	uint64_t first;  /* where the first place is in this process: a shadow's */
	uint32_t places; /* a power of two, PLX_MAP_PLACES_MIN .. */
};

enum {
	PLX_MAP_PLACES_MIN = 16, /* as many as pages that have places in a row */
};

struct plx_region_attr {
	uint64_t va;     /* the address that peers and SGEs use */
	uint8_t *host;   /* its address in this process, not NULL; often the same number */
	uint64_t length; /* [bytes] 1 ..; va + length - 1 and host + length - 1 must not wrap */
	struct plx_access access;
	/* [plx_pages_spanned(va, length)] Instead of `host`: where the pages are that contain the
	 * range, whose first byte is at va % PLX_PAGE_BYTES of the first; each with
	 * PLX_PAGE_PRIVATE, or none. Outlives the region. NULL: the memory is contiguous */
	const uint64_t *page;
	/* Or: where they will be, all of them PLX_PAGE_PRIVATE; then `access` has no more than
	 * PLX_ACCESS_LOCAL_WRITE. Outlives the region. NULL: it has none */
	struct plx_page_map *map;
};

/** Is it a range, with a first and a last address? An empty one never means everything. */
static inline bool
plx_is_range(uint64_t va, uint64_t length)
{
	return length != 0 && length - 1 <= UINT64_MAX - va;
}

/** Number of pages that contain `length` bytes from `va` on. @param length 1 .., without a wrap */
static inline uint64_t
plx_pages_spanned(uint64_t va, uint64_t length)
{
	return ((va + (length - 1)) >> PLX_PAGE_SHIFT) - (va >> PLX_PAGE_SHIFT) + 1;
}

/** Do these pages follow each other? Then they need no list. */
bool plx_pages_are_contiguous(const uint64_t *page, uint64_t pages);

/**
 * Register a region. Its key is valid, for local and remote use, when this returns.
 * Errors: INVALID (zero length, which never means all memory; a wrapping range; no host address;
 * unknown access bits; a page at 0 or inside another), NO_KEY (domain), FULL
 */
enum plx_status plx_region_register(struct plx_mem *mem, struct plx_domain domain,
				    const struct plx_region_attr *attr, struct plx_region *region,
				    struct plx_key *key) PLX_MUST_CHECK;

/**
 * Register a fast-register region (PLX_ACCESS_INVALIDATE) again after its key was invalidated: a
 * new key, range and rights in the same domain. The rights must include PLX_ACCESS_INVALIDATE
 * again.
 * Errors: NO_KEY, INVALID, STATE (its key is still valid, as it is while a window is bound)
 */
enum plx_status plx_region_refresh(struct plx_mem *mem, struct plx_region region,
				   const struct plx_region_attr *attr,
				   struct plx_key *key) PLX_MUST_CHECK;

/* ---- fast registration ----
 *
 * A region without a key gets one by a work request: the caller promises it when the request is
 * posted, and the engine that executes the request fulfils the promise. Any number may be promised
 * ahead; one that is never fulfilled is void.
 *
 * A promise of pages has one of the region's lists, until that life has ended or the promise is
 * void. So a list is never written while a key grants its pages.
 */

/* A life of a region, and the key that it will have. */
struct plx_promise {
	uint32_t slot, life;
	struct plx_key key;
	uint8_t list; /* 1 .. PLX_FAST_LISTS: where its pages are; 0: contiguous memory */
};

struct plx_page_lists; /* of one region */

/** Bytes of a region's lists of up to `pages` pages; 0 if that is not 1 .. PLX_FAST_PAGES_MAX. */
size_t plx_page_lists_bytes(uint32_t pages);

/** @param memory [plx_page_lists_bytes(pages)] aligned to 8 bytes
 * Returns: NULL if `pages` is out of range */
struct plx_page_lists *plx_page_lists_init(void *memory, uint32_t pages);

/**
 * Create a region that has no key yet.
 * @param lists outlives the region; NULL: it is for contiguous memory only
 * Errors: NO_KEY (domain), FULL
 */
enum plx_status plx_region_reserve(struct plx_mem *mem, struct plx_domain domain,
				   struct plx_page_lists *lists,
				   struct plx_region *region) PLX_MUST_CHECK;

/**
 * Promise the region's next key. Errors: NO_KEY
 * Threads: one at a time for one region, concurrently with everything else
 */
enum plx_status plx_region_promise(struct plx_mem *mem, struct plx_region region,
				   struct plx_promise *promise) PLX_MUST_CHECK;

/**
 * Promise the region's next key, for these pages, which are copied.
 * Errors: NO_KEY; INVALID (no pages, more than a list has room for, a page at 0 or inside another);
 *         FULL (all lists belong to lives that have not ended or may still begin)
 * Threads: as plx_region_promise()
 */
enum plx_status plx_region_promise_pages(struct plx_mem *mem, struct plx_region region,
					 const uint64_t *page, uint32_t pages,
					 struct plx_promise *promise) PLX_MUST_CHECK;

/** The list that the next promise of pages will have, as the promise will say; 0: none is free, or
 * there is no such region with lists.
 * Threads: as plx_region_promise() */
uint32_t plx_region_next_list(struct plx_mem *mem, struct plx_region region);

/** Is it a region of that domain? Threads: any; the answer may be stale */
bool plx_region_is_of(struct plx_mem *mem, struct plx_region region, struct plx_domain domain);

/**
 * A promise will not be fulfilled: its list can be used again. Without effect if it has been, or
 * has no list.
 * Threads: any
 */
void plx_region_void(struct plx_mem *mem, const struct plx_promise *promise);

/**
 * Make a promised key valid.
 * @param attr its rights include PLX_ACCESS_INVALIDATE; `host` is ignored if the promise has a
 *             list, and `page` always
 * Errors: NO_KEY (no such region of this domain, or it was retired), INVALID (as
 *         plx_region_register(); a list that is not this promise's; a range that exceeds its
 *         pages), STATE (the region has a valid key, or has had this one or later)
 * Threads: engines, one at a time for one region, concurrently with changes of the table
 */
enum plx_status plx_region_fulfil(struct plx_mem *mem, struct plx_domain domain,
				  const struct plx_promise *promise,
				  const struct plx_region_attr *attr) PLX_MUST_CHECK;

/**
 * Step one of deregistration: the key is invalid at once, and the handle can only be released.
 * Errors: NO_KEY, BUSY (a window is bound; a window that an engine is invalidating counts until
 * that engine's call has returned)
 * Threads: any, concurrently with changes of the table; of changes to this same region only a bind
 *          may be concurrent
 */
enum plx_status plx_region_retire(struct plx_mem *mem, struct plx_region region) PLX_MUST_CHECK;

/**
 * Step two, after every engine passed a quiescent state: free the slot.
 * Errors: NO_KEY, STATE
 */
enum plx_status plx_region_release(struct plx_mem *mem, struct plx_region region) PLX_MUST_CHECK;

/* ---- windows (type 2) ---- */

/** Errors: NO_KEY (domain), FULL */
enum plx_status plx_window_create(struct plx_mem *mem, struct plx_domain domain,
				  struct plx_window *window) PLX_MUST_CHECK;

struct plx_window_attr {
	struct plx_region region;
	uint64_t va;
	uint64_t length;          /* [bytes] 1 .. */
	struct plx_access access; /* REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC only */
	uint32_t qpn;             /* the only QP through which the peer may use it */
};

/**
 * Bind a window. Its new key is valid when this returns. The region cannot be removed until the
 * window is invalidated or destroyed.
 * Errors: NO_KEY (window, region), STATE (already bound), DENIED (other domain; region not valid or
 * without PLX_ACCESS_BIND; remote write or atomic requested for a region without LOCAL_WRITE; range
 * not inside the region), INVALID (zero length, access bits)
 */
enum plx_status plx_window_bind(struct plx_mem *mem, struct plx_window window,
				const struct plx_window_attr *attr,
				struct plx_key *key) PLX_MUST_CHECK;

/**
 * As plx_region_retire(); a bound window is unbound.
 * Errors: NO_KEY
 */
enum plx_status plx_window_retire(struct plx_mem *mem, struct plx_window window) PLX_MUST_CHECK;

/**
 * As plx_region_release().
 * Errors: NO_KEY, STATE
 */
enum plx_status plx_window_release(struct plx_mem *mem, struct plx_window window) PLX_MUST_CHECK;

/* ---- checks by engines ---- */

enum {
	PLX_KEY_MEMOS = 8
};

/*
 * A cache of the keys that an asker used last. An entry is valid while the slot's life word is
 * unchanged, since no other word of a slot changes during a life. So an invalid key is never
 * granted from the cache, and no invalidation message is needed. Local and remote uses have half of
 * the entries each, so that the two keys of a stream do not evict each other. Zeroed: empty.
 */
struct plx_key_memo {
	struct {
		uint64_t life; /* 0: empty, no slot ever has it */
		const uint64_t *now;
		uint64_t va, length;
		uint8_t *host;
		struct plx_access access;
	} of[PLX_KEY_MEMOS];
};

/* The asker: the QP that makes the access. */
struct plx_asker {
	struct plx_domain domain;
	uint32_t qpn;
	struct plx_key_memo *memo; /* of the asker's thread; NULL: no cache */
};

/**
 * May `asker` access [va, va + length) with `key` and all rights in `need`?
 *
 * @param length [bytes] 0 checks the key and the rights only; the grant is then empty. (The
 *               transport does not check zero-length READs and WRITEs at all: C9-88.)
 * @param need   all rights required; empty for a local read
 * @param out    written only if GRANTED
 * Returns: PIECES: the range is granted, but not in one piece: plx_key_check_page()
 * Threads: any, concurrently with one thread that changes the table and any that invalidate; the
 *          check reads one consistent state of the slot, or returns UNKNOWN
 * Cost:    hot; O(1); valid and invalid keys take the same path up to the verdict, unless the key
 *          is in the asker's cache (struct plx_key_memo)
 * Spec:    IBTA vol 1, 10.6.3, 10.6.7
 * Tests:   tests/table/key.c, tests/unit/proto/mem/, tests/sim
 */
static inline enum plx_key_verdict plx_key_check(const struct plx_mem *mem, struct plx_key key,
						 const struct plx_asker *asker, uint64_t va,
						 uint64_t length, struct plx_access need,
						 struct plx_grant *out) PLX_MUST_CHECK;

/** As plx_key_check(), which calls it for what is not in the memo, to which it adds the key. */
enum plx_key_verdict plx_key_check_slot(const struct plx_mem *mem, struct plx_key key,
					const struct plx_asker *asker, uint64_t va, uint64_t length,
					struct plx_access need,
					struct plx_grant *out) PLX_MUST_CHECK;

/* Where a memo has what it knows of this key, if anything. */
static inline uint32_t
plx_key_memo_at(struct plx_key key, struct plx_access need)
{
	bool remote = need.bits & (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE);

	return (key.v & (PLX_KEY_MEMOS / 2 - 1)) + (remote ? PLX_KEY_MEMOS / 2 : 0);
}

/* The key of a life word; 0: none. */
static inline uint32_t
plx_life_key(uint64_t life)
{
	return (uint32_t)life;
}

/* Inline, so that what a caller always needs costs no instruction. */
static inline enum plx_key_verdict
plx_key_check(const struct plx_mem *mem, struct plx_key key, const struct plx_asker *asker,
	      uint64_t va, uint64_t length, struct plx_access need, struct plx_grant *out)
{
	uint32_t at = plx_key_memo_at(key, need);
	const struct plx_key_memo *memo = asker->memo;
	uint64_t offset;

	if (plx_unlikely(memo == NULL || plx_life_key(memo->of[at].life) != key.v || key.v == 0))
		return plx_key_check_slot(mem, key, asker, va, length, need, out);
	offset = va - memo->of[at].va;
	/* Acquire: pairs with the release store of the life word in plx_slot_publish(). */
	if (plx_unlikely(__atomic_load_n(memo->of[at].now, __ATOMIC_ACQUIRE) != memo->of[at].life ||
			 length == 0 || need.bits & ~memo->of[at].access.bits ||
			 offset > memo->of[at].length || length > memo->of[at].length - offset))
		return plx_key_check_slot(mem, key, asker, va, length, need, out);
	out->host = (uint8_t *)((uintptr_t)memo->of[at].host + (uintptr_t)offset);
	out->access = memo->of[at].access;
	return PLX_KEY_GRANTED;
}

/**
 * As plx_key_check(), for memory in pieces: grants the first piece of the range, which ends with
 * its page at the latest. Call it again for the rest.
 *
 * @param length [bytes] 1 ..
 * @param bytes  [out] of that piece
 * @param out    also whether the piece is private, which no other check grants
 * Returns: RANGE also if there are no bytes, or the region's map has no place left; never PIECES
 */
enum plx_key_verdict plx_key_check_page(const struct plx_mem *mem, struct plx_key key,
					const struct plx_asker *asker, uint64_t va, uint32_t length,
					struct plx_access need, struct plx_grant *out,
					uint32_t *bytes) PLX_MUST_CHECK;

/**
 * Would plx_key_invalidate() succeed now? Changes nothing.
 * Returns: GRANTED; UNKNOWN; DOMAIN; WRONG_QP; KIND (a plain region; a fast-register region with a
 * bound window)
 */
enum plx_key_verdict plx_key_invalidate_check(const struct plx_mem *mem, struct plx_key key,
					      const struct plx_asker *asker) PLX_MUST_CHECK;

/**
 * Invalidate the key of a window or fast-register region, for the owner (local invalidate) or the
 * peer (SEND with invalidate). Later checks of this key by any thread return UNKNOWN.
 * Returns: as plx_key_invalidate_check(); of two racing calls one returns GRANTED, the other
 *          UNKNOWN
 * Threads: any engine
 */
enum plx_key_verdict plx_key_invalidate(struct plx_mem *mem, struct plx_key key,
					const struct plx_asker *asker) PLX_MUST_CHECK;

#endif
