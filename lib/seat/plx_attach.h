/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A seat at a host in another process: polluxd, or any program that calls plx_host_start(). It
 * needs no EAL, no device and no right of root's. Start with plx_seat_attach().
 */
#ifndef PLX_ATTACH_H
#define PLX_ATTACH_H

#include "plx_seat.h"

/* Memory of this process that a host can map: what plx_mem_alloc() gives. */
struct plx_shared {
	int fd; /* a memfd of a fixed size */
	uint64_t serial;
	const void *base;
	size_t bytes;
};

struct plx_attach_config {
	const char *path;    /* of the host's socket */
	const char *adapter; /* as the host names it */
	const char *version; /* plx_version() */
	/* Find the memory that has all of a range. Returns: false: none can be mapped */
	bool (*find)(const void *memory, size_t bytes, struct plx_shared *out);
	/* Is the memory of that serial number still allocated? */
	bool (*is_alive)(uint64_t serial);
	/* How many have been freed so far? */
	uint64_t (*freed)(void);
};

/**
 * Attach to a host.
 * Errors: with a sentence: NO_DEVICE (nobody listens there), CONFIG (another version, no such
 * adapter), DENIED (this user may not), NO_MEMORY, GONE (the host ended meanwhile)
 */
enum plx_status plx_seat_attach(const struct plx_attach_config *config, struct plx_seat **seat,
				struct plx_why *why) PLX_MUST_CHECK;

#endif
