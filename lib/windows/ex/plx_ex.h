/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex for the rooms above it, for ndkhost and for tests: what a driver has left in the pool,
 * failures of allocation on request, work that is not done, the mode of a request. Drivers never
 * see it.
 *
 * Threads: every call from any thread.
 */
#ifndef PLX_EX_H
#define PLX_EX_H

#include <stdbool.h>
#include <stddef.h>
#include <wdm.h>

/* ---- pool ---- */

enum {
	PLX_EX_TAGS_MAX = 1024, /* drivers have dozens; further ones are counted as one */
};

/* What is allocated with a tag. */
struct plx_ex_tag {
	ULONG tag;               /* PLX_EX_TAG_OTHER: those beyond PLX_EX_TAGS_MAX */
	ULONG64 blocks, bytes;   /* now */
	ULONG64 bytes_max;       /* at once */
	ULONG64 allocations;     /* ever */
	SIZE_T oldest_bytes;     /* of the block that has been there longest, with the checks on */
	const void *oldest_from; /* where it was allocated, with the checks on; else NULL */
};
#define PLX_EX_TAG_OTHER 0xffffffff

/** Returns: a tag's counts; zeros if nothing was ever allocated with it */
struct plx_ex_tag plx_ex_pool_tag(ULONG tag);
/**
 * List the tags of which blocks are left.
 *
 * @param tags [n]
 * Returns: how many tags there are, of which the first n are stored
 * Cost: it looks at every block
 */
size_t plx_ex_pool_left(struct plx_ex_tag *tags, size_t n);
/** Let one allocation fail: the nth from now on. @param nth 0: none */
void plx_ex_pool_fail(ULONG64 nth);

/* ---- pages ----
 *
 * Pages of MmAllocatePagesForMdl() are counted with the tag 'MmPg', its MDLs with 'Mdl ',
 * contiguous memory with 'MmCm'.
 */

enum {
	PLX_EX_SCATTER_MAX = 8192, /* chunks of one allocation, each a mapping, of which a process
				      may have 65,530 */
};

/** Scatter the pages of allocations from now on, as POLLUX_SCATTER does, or do not. */
void plx_ex_pages_scatter(bool on);

/* ---- work items ---- */

enum {
	PLX_EX_WORKERS_MAX = 64, /* of each queue: as many items can wait for others */
};

/** Returns: items that are queued or running */
ULONG plx_ex_work_left(void);
/** Wait until there are none. @param ms the limit. Returns: false: it has passed */
bool plx_ex_work_drain(ULONG ms);

/* ---- requests ---- */

/** Set what ExGetPreviousMode() returns on this thread. Returns: what it was */
KPROCESSOR_MODE plx_ex_previous_mode_set(KPROCESSOR_MODE mode);

#endif
