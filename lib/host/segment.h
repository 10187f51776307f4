/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Segments: memory that the host and one program in another process map. In some the host places
 * fronts; the others are arenas, which the program has allocated. Their sizes are fixed by seals.
 * What the host knows of them is in its own memory. Start with segment_create().
 */
#ifndef PLX_HOST_SEGMENT_H
#define PLX_HOST_SEGMENT_H

#include "plx_adapter_object.h"
#include "plx_host_rights.h"

enum {
	SEGMENT_BYTES = 2 << 20, /* of one for fronts, at least */
};

struct mapping;

struct segment {
	uint8_t *base;
	size_t bytes;
	int fd;     /* of one for fronts, until the program has mapped it; else -1 */
	bool ready; /* the program has mapped it, and its size is sealed */
	bool arena;
	uint32_t users;          /* regions in an arena */
	struct plx_list extents; /* struct extent, by their offsets; of one for fronts */
	struct mapping *mapping; /* of an arena: what all seats of its program have */
};

/* [bytes] of one for fronts that has room for as many. */
static inline size_t
segment_bytes(size_t bytes)
{
	return bytes == 0 ? SEGMENT_BYTES
			  : (bytes + SEGMENT_BYTES - 1) / SEGMENT_BYTES * SEGMENT_BYTES;
}

/* Create one for fronts.
 * Errors:  NO_MEMORY */
enum plx_status segment_create(struct segment *segment, size_t bytes) PLX_MUST_CHECK;
/* Map an arena of the program's. Of the seats of one program each may have the same arena.
 * @param owner the program
 * @param fd    stays the caller's
 * Errors:  INVALID (not such memory, or its size can change), NO_MEMORY (or hugepages that another
 * host or program has had); with a sentence */
enum plx_status segment_import(struct segment *segment, const struct plx_host_who *owner, int fd,
			       size_t bytes, struct plx_why *why) PLX_MUST_CHECK;
/* The program has mapped it: nobody else will, and no page can be taken out of it. */
void segment_seal(struct segment *segment);
void segment_destroy(struct segment *segment);

/* Zeroed, aligned to a pair of cache lines. NULL: there is no room */
void *segment_alloc(struct segment *segment, size_t bytes);
void segment_free(struct segment *segment, void *memory);

/* Is all of it inside? */
static inline bool
segment_holds(const struct segment *segment, uint64_t at, uint64_t bytes)
{
	return segment->base != NULL && at <= segment->bytes && bytes <= segment->bytes - at;
}

#endif
