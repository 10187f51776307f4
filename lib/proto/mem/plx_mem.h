/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains, regions and windows: issues keys and answers one question, "may this QP touch
 * this range?". It never touches the memory it grants, allocates, or waits.
 * Start with plx_key_check(); docs/memory.md draws the slot and its life.
 *
 * Who may call what: one thread at a time changes a table ("the caller serialises": everything
 * below that takes a non-const table, but for plx_region_retire() and plx_key_invalidate()); any
 * number of engines check and invalidate keys meanwhile, without a lock. Retiring takes two steps,
 * so that the caller can let every engine pass a quiescent state between them: ..._retire() makes
 * the key invalid at once, ..._release() gives the slot back, and nothing touches the memory after.
 */
#ifndef PLX_MEM_H
#define PLX_MEM_H

#include "plx_base.h"
#include "plx_secret.h"

#define PLX_KEY_SLOT_BITS       20 /* a million regions and windows */
#define PLX_KEY_GENERATION_BITS 12
#define PLX_MEM_SLOTS_MAX       (UINT32_C(1) << PLX_KEY_SLOT_BITS)
#define PLX_MEM_DOMAINS_MAX     4096

/** A protection domain; 0 is never issued. */
struct plx_domain {
	uint32_t id;
};

/** A region's or a window's slot; 0 is never issued, so a zeroed handle names nothing. */
struct plx_region {
	uint32_t slot;
};

struct plx_window {
	uint32_t slot;
};

/* Why a key did not grant what was asked. X(name, text) */
#define PLX_KEY_VERDICT_LIST(X)                                   \
	X(GRANTED, "granted")                                     \
	X(UNKNOWN, "no such key, or no longer")                   \
	X(DOMAIN, "the key belongs to another protection domain") \
	X(WRONG_QP, "the window is bound to another queue pair")  \
	X(NO_RIGHT, "the key does not carry this right")          \
	X(RANGE, "the range is not inside what the key grants")   \
	X(KIND, "the key's object is not one that may be invalidated")

enum plx_key_verdict {
#define PLX_X(name, text) PLX_KEY_##name,
	PLX_KEY_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_KEY_VERDICT_COUNT,
};

const char *plx_key_verdict_text(enum plx_key_verdict verdict);

/** What a check hands out: where the range lies in this process, and what was promised of it. */
struct plx_grant {
	uint8_t *host;            /* first byte of the range; NULL for an empty one */
	struct plx_access access; /* all rights of the key, PLX_ACCESS_STABLE among them */
};

struct plx_mem; /* one adapter's table */

/* ---- the table ---------------------------------------------------------------------------- */

/** Bytes that plx_mem_init() wants for `slots` slots; 0 when slots is out of range. */
size_t plx_mem_bytes(uint32_t slots);

/**
 * @param memory [plx_mem_bytes(slots)] aligned to PLX_CACHE_LINE, the caller's; outlives the table
 * @param slots  regions and windows together, 2 .. PLX_MEM_SLOTS_MAX - 1
 * @param secret of purpose PLX_SECRET_MEM; who knows it can forge keys
 * Returns: the table, all slots and domains free; NULL when an argument is out of range
 */
struct plx_mem *plx_mem_init(void *memory, uint32_t slots, const struct plx_secret *secret);

/** Slots in use, being retired ones included. Zero at rest. */
uint32_t plx_mem_in_use(const struct plx_mem *mem);

/* ---- domains ------------------------------------------------------------------------------ */

/** Errors: FULL */
enum plx_status plx_domain_create(struct plx_mem *mem, struct plx_domain *out) PLX_MUST_CHECK;

/** Errors: NO_KEY; BUSY while a region, a window or a QP (plx_domain_hold) uses it */
enum plx_status plx_domain_destroy(struct plx_mem *mem, struct plx_domain domain) PLX_MUST_CHECK;

/** A QP takes and returns its hold on a domain. Errors: NO_KEY */
enum plx_status plx_domain_hold(struct plx_mem *mem, struct plx_domain domain) PLX_MUST_CHECK;
void plx_domain_unhold(struct plx_mem *mem, struct plx_domain domain);

/* ---- regions ------------------------------------------------------------------------------ */

struct plx_region_attr {
	uint64_t va;     /* the address peers and SGEs name */
	uint8_t *host;   /* where that is in this process, not NULL; often the same number */
	uint64_t length; /* [bytes] 1 ..; va + length - 1 and host + length - 1 must not wrap */
	struct plx_access access;
};

/**
 * Publish a region; its key is valid, for local and remote use, when this returns.
 * Errors: INVALID (zero length: a key to nothing is not issued, and one to everything does not
 * exist; a wrapping range; no host address; unknown access bits), NO_KEY (domain), FULL
 */
enum plx_status plx_region_register(struct plx_mem *mem, struct plx_domain domain,
				    const struct plx_region_attr *attr, struct plx_region *region,
				    struct plx_key *key) PLX_MUST_CHECK;

/**
 * Publish a fast-register region (PLX_ACCESS_INVALIDATE) again, after its key was invalidated: a
 * new key, new range and rights, same domain. It stays a fast-register region: the rights must say
 * PLX_ACCESS_INVALIDATE again.
 * Errors: NO_KEY, INVALID, STATE while its key is still valid, as it is while a window is bound
 */
enum plx_status plx_region_refresh(struct plx_mem *mem, struct plx_region region,
				   const struct plx_region_attr *attr,
				   struct plx_key *key) PLX_MUST_CHECK;

/**
 * Step one of deregistering: the key is invalid from now on, and the handle good for release only.
 * Errors: NO_KEY, BUSY (a window is bound; one that an engine is invalidating at this moment counts
 * until that engine's call has returned)
 * Threads: beside whoever changes the table, but for another change of this same region than a bind
 */
enum plx_status plx_region_retire(struct plx_mem *mem, struct plx_region region) PLX_MUST_CHECK;

/** Step two, after every engine was quiescent: the slot is free. Errors: NO_KEY, STATE */
enum plx_status plx_region_release(struct plx_mem *mem, struct plx_region region) PLX_MUST_CHECK;

/* ---- windows (type 2) --------------------------------------------------------------------- */

/** Errors: NO_KEY (domain), FULL */
enum plx_status plx_window_create(struct plx_mem *mem, struct plx_domain domain,
				  struct plx_window *window) PLX_MUST_CHECK;

struct plx_window_attr {
	struct plx_region region;
	uint64_t va;
	uint64_t length;          /* [bytes] 1 .. */
	struct plx_access access; /* REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC only */
	uint32_t qpn;             /* the one QP through which the peer may use it */
};

/**
 * Bind a window: a new key, valid when this returns. The region is pinned until the window is
 * invalidated or destroyed.
 * Errors: NO_KEY (window, region), STATE (bound already), DENIED (other domain; region not valid or
 * without PLX_ACCESS_BIND; remote write or atomic wanted of a region without LOCAL_WRITE; range not
 * inside the region), INVALID (zero length, access bits)
 */
enum plx_status plx_window_bind(struct plx_mem *mem, struct plx_window window,
				const struct plx_window_attr *attr,
				struct plx_key *key) PLX_MUST_CHECK;

/** As plx_region_retire(); a bound window is unbound. Errors: NO_KEY */
enum plx_status plx_window_retire(struct plx_mem *mem, struct plx_window window) PLX_MUST_CHECK;

/** As plx_region_release(). Errors: NO_KEY, STATE */
enum plx_status plx_window_release(struct plx_mem *mem, struct plx_window window) PLX_MUST_CHECK;

/* ---- what engines ask --------------------------------------------------------------------- */

enum {
	PLX_KEY_MEMOS = 8
};

/*
 * What one asker was told of the keys it used last. An entry is good while the slot's life word is
 * the one it was read with: nothing of a slot changes within a life. So a key that ended is never
 * granted from here, and nobody needs to be told of it. Local and remote uses have halves of their
 * own, so that the two keys of a stream do not push each other out. Zeroed: empty.
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

/* The asker: the QP through which the access comes. */
struct plx_asker {
	struct plx_domain domain;
	uint32_t qpn;
	struct plx_key_memo *memo; /* of the asker's thread; NULL: none */
};

/**
 * May `asker` touch [va, va + length) under `key` with every right in `need`?
 *
 * @param length [bytes] 0 asks for the key and the right only; the grant is then empty. (A
 *               zero-length READ or WRITE asks nothing at all: C9-88 is the transport's to apply.)
 * @param need   rights that must all be there; empty for a local read
 * @param out    written only when GRANTED
 * Threads: any, beside one thread that changes the table and any that invalidate; what is read is
 *          one consistent state of the slot, or the key is UNKNOWN
 * Cost:    hot; O(1); good and bad keys take the same path up to the verdict, unless the asker used
 *          this very key a moment ago (struct plx_key_memo)
 * Spec:    IBTA vol 1, 10.6.3, 10.6.7
 * Tests:   tests/table/key.c, tests/unit/proto/mem/, tests/sim
 */
enum plx_key_verdict plx_key_check(const struct plx_mem *mem, struct plx_key key,
				   const struct plx_asker *asker, uint64_t va, uint64_t length,
				   struct plx_access need, struct plx_grant *out) PLX_MUST_CHECK;

/**
 * Could plx_key_invalidate() succeed now? Changes nothing.
 * Returns: GRANTED; UNKNOWN; DOMAIN; WRONG_QP; KIND (a plain region; a fast-register region with a
 * bound window)
 */
enum plx_key_verdict plx_key_invalidate_check(const struct plx_mem *mem, struct plx_key key,
					      const struct plx_asker *asker) PLX_MUST_CHECK;

/**
 * Make a window's or a fast-register region's key invalid, for the owner (local invalidate) or for
 * the peer (SEND with invalidate). A later check of this key by any thread says UNKNOWN.
 * Returns: as plx_key_invalidate_check(); of two that race, one is GRANTED, the other UNKNOWN
 * Threads: any engine
 */
enum plx_key_verdict plx_key_invalidate(struct plx_mem *mem, struct plx_key key,
					const struct plx_asker *asker) PLX_MUST_CHECK;

#endif
