/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room share: the pool beneath its calls, accounts of tags, locks that a
 * thread holds.
 */
#ifndef PLX_EX_PRIVATE_H
#define PLX_EX_PRIVATE_H

#include <plx_ke.h>

#include "plx_ex.h"

/* ---- pool ---- */

struct pool_request {
	const char *call;   /* the driver's, for sentences */
	const void *caller; /* where it is */
	SIZE_T bytes;
	SIZE_T alignment; /* 0: as the size has it; else a power of two and at least 16 */
	ULONG tag;
	bool is_paged, is_zeroed, raises;
};

enum {
	POOL_LINE = 64, /* an alignment: a cache line */
};

/** Returns: NULL: no memory */
PVOID pool_allocate(const struct pool_request *request);
/** @param tag 0: any */
void pool_free(const char *call, PVOID memory, ULONG tag);

/* ---- accounts ---- */

struct tag_account;

/** Count a block. Returns: its account, for tag_sub() */
struct tag_account *tag_add(ULONG tag, SIZE_T bytes);
void tag_sub(struct tag_account *account, SIZE_T bytes);

/* Complete what an account does not know: the oldest block of each tag, of which `tags` has n. */
void pool_find_oldest(struct plx_ex_tag *tags, size_t n);

/* ---- memory of the process ---- */

/** Is all of it there, and writable if that is asked for? It changes nothing. */
bool memory_is_there(const volatile void *address, SIZE_T bytes, bool writes);

/** Where pages follow each other in memory: if they do already, there; else as far as they are of
 * MmAllocatePagesForMdl(), in a view of their own. Returns: NULL: they cannot, or no memory */
char *pages_map(const PFN_NUMBER *pfn, ULONG count);
/** Undo it. @param address within the first page of it, or what MmAdvanceMdl() made of it */
void pages_unmap(const void *address);

/* ---- locks that the thread holds, with the checks on ---- */

enum held_mode {
	HELD_EXCLUSIVE = 1,
	HELD_SHARED,
};

/** The thread is about to acquire a lock that it must not hold yet, in a region without APCs. */
void held_begin(const char *call, const volatile void *lock);
/** It has it. */
void held_add(const volatile void *lock, enum held_mode mode);
/** It is about to release it, and has to hold it. */
void held_remove(const char *call, const volatile void *lock, enum held_mode mode);
/** The rule of locks that leave APCs alone: the caller has seen to it that none comes. */
void held_require_region(const char *call);

#endif
