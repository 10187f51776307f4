/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory that either end works on: areas, each known to the driver by a small number, and the
 * commands that fill, check, show and change them. Registering them is each end's own.
 * Nothing outside an area is touched. Start with area_make().
 */
#ifndef INTEROP_MEMORY_H
#define INTEROP_MEMORY_H

#include "lines.h"

enum {
	AREAS = 16,
};

struct area {
	uint8_t *memory; /* NULL: there is none */
	uint64_t bytes;
	bool is_lent; /* the memory is its owner's, who frees it */
};

/** The number that the command gives as `mr`; AREAS and above: none that may be. */
uint64_t area_id(const struct line *line);

/** Make the area that the command names: `bytes` of zeros. NULL: it cannot be, and was answered so.
 */
struct area *area_make(const struct line *line);

/** The same, of `bytes` that somebody else has allocated. */
struct area *area_lend(const struct line *line, uint8_t *memory);

/** The area that the command names; NULL: it names none, and was answered so. */
struct area *area_of(const struct line *line);

void area_drop(struct area *area);

/* fill mr= at= bytes= seed= */
void run_fill(const struct line *line);
/* check mr= at= bytes= seed= [from=]: is that the pattern? `from`: the place of its first byte */
void run_check(const struct line *line);
/* peek mr= at= bytes= */
void run_peek(const struct line *line);
/* poke mr= at= bytes= data=: that many bytes in hexadecimal */
void run_poke(const struct line *line);

#endif
