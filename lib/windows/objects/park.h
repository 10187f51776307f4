/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads waiting at an address, in order of arrival. The value at the address is the caller's
 * concern and never read here.
 * Start with win_park_begin().
 *
 * Locks: a bucket's, under which no other lock is taken.
 */
#ifndef PLX_WIN_PARK_H
#define PLX_WIN_PARK_H

#include "win_objects.h"

/* On the stack of the waiting thread. */
struct win_park {
	struct win_waiter waiter; /* the first member */
	struct win_sleeper sleeper;
	const volatile void *address;
	unsigned kind; /* the caller's, for win_unpark_some() */
};

/** Lock the bucket of an address, which blocks wakers of the address. */
void win_park_lock(const volatile void *address);
void win_park_unlock(const volatile void *address);

/** Enter the thread in the table: from here on a wake finds it, and the thread goes on until
 * win_park_sleep(). Call it between win_park_lock() and win_park_unlock(). */
void win_park_begin(struct win_park *park, const volatile void *address, unsigned kind);
/** Undo win_park_begin(), between the same two calls, so that no wake can have been consumed. */
void win_park_cancel(struct win_park *park);
/**
 * Sleep until woken, after win_park_begin().
 *
 * @param pumping this is a wait of the program, in which its pumps are called
 * Returns: false: the deadline has passed without a wake
 */
bool win_park_sleep(struct win_park *park, uint64_t deadline_ns, bool pumping);

/** The number of threads that may wait at this address (including others of its bucket). After a
 * result of 0, a thread that begins to wait sees what the caller wrote before. Cost: one atomic
 * operation */
unsigned win_parked(const volatile void *address);

/** Wake the first thread, or all. */
void win_unpark(const volatile void *address, bool all);

/**
 * Wake the first thread; if its kind is `together`, also those behind it, up to the first of
 * another kind. The bucket is locked.
 * Returns: true: other threads still wait there
 */
bool win_unpark_some(const volatile void *address, unsigned together);

#endif
