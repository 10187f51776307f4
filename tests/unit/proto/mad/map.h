/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nine messages as the specification's tables draw them: every bit from first to last,
 * including reserved ones, so that each offset follows from the widths before it and the sum must
 * be 256 bytes. It shares nothing with the room's own tables.
 */
#ifndef PLX_TEST_MAD_MAP_H
#define PLX_TEST_MAD_MAP_H

#include "plx_mad.h"

/* The next `width` bits; `bytes` 0: reserved. */
struct strip {
	const char *name;
	uint32_t at, bytes; /* in struct plx_cm_msg */
	uint32_t width;
};

struct map {
	const char *name;
	uint16_t kind;
	const struct strip *strips;
	uint32_t count;
};

enum {
	MAPS = 9,
	MAD_BITS = PLX_MAD_BYTES * 8,
	CONSTANT_BITS = 32, /* base version, class, class version, method: in front of all strips */
};

extern const struct map maps[MAPS];

/* The field with bit `bit` of a datagram of that kind, and the bit's index in it, counted from
 * the lowest bit for integers and from the first for strings of bytes; NULL: reserved or
 * constant */
const struct strip *strip_of(const struct map *map, uint32_t bit, uint32_t *within);

/* A strip of more than 64 bits is a string of bytes, not an integer. */
static inline bool
strip_is_string(const struct strip *strip)
{
	return strip->width > 64;
}

#endif
