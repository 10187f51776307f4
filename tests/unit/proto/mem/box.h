/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A key table in memory of its own, for tests of lib/proto/mem: created, filled, compared, freed.
 * It never hides a status: it asserts that calls succeed. Start with box_open() and REFUSED().
 */
#ifndef BOX_H
#define BOX_H

#include "test.h"
#include "plx_mem.h"

#define BOX_VA     UINT64_C(0x7000000010)
#define BOX_LENGTH 4096
#define BOX_QPN    0x1234
#define BOX_REMOTE (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)
#define BOX_RIGHTS (BOX_REMOTE | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND)
#define BOX_FAST   (BOX_RIGHTS | PLX_ACCESS_INVALIDATE)

enum {
	BOX_DOMAINS = 3, /* the box's own and two of the test's */
};

struct box {
	struct plx_mem *mem;
	struct plx_domain domain;
	uint8_t arena[BOX_LENGTH]; /* what regions are made of */
	size_t bytes;
	void *before; /* the table as box_remember() saw it */
};

/** A table with a domain; `seed` makes the secret. */
struct box *box_open(uint32_t slots, uint64_t seed);
struct box *box_open_limits(uint32_t slots, uint32_t domains, uint64_t seed);
void box_close(struct box *box);

void box_remember(struct box *box);
void box_assert_unchanged(const struct box *box);

/* The call is refused with this status, and not a byte of the table has changed. */
#define REFUSED(box, status, call)              \
	do {                                    \
		box_remember(box);              \
		assert_int_equal(call, status); \
		box_assert_unchanged(box);      \
	} while (0)

struct plx_region_attr box_region_attr(struct box *box, uint8_t access);
struct plx_window_attr box_window_attr(struct plx_region region, uint8_t access);

struct plx_region box_region(struct box *box, uint8_t access, struct plx_key *key);
struct plx_window box_window(struct box *box, struct plx_region region, uint8_t access,
			     struct plx_key *key);
/** Retire and release. */
void box_drop_region(struct box *box, struct plx_region region);
void box_drop_window(struct box *box, struct plx_window window);

struct plx_asker box_asker(const struct box *box);

/** plx_key_check() by box_asker(), for the arena's first byte. */
enum plx_key_verdict box_check(const struct box *box, struct plx_key key, uint8_t need);
enum plx_key_verdict box_invalidate(struct box *box, struct plx_key key);

#endif
