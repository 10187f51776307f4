/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that wait at an address, in the order in which they came. What is at the address is the
 * business of the caller, and never looked at here.
 * Start with win_park_begin().
 *
 * Locks: a bucket's, under which nothing else is locked.
 */
#ifndef PLX_WIN_PARK_H
#define PLX_WIN_PARK_H

#include "win_objects.h"

/* On the stack of who waits. */
struct win_park {
	struct win_waiter waiter; /* the first member */
	struct win_sleeper sleeper;
	const volatile void *address;
	unsigned kind; /* the caller's, for win_unpark_some() */
};

/** Lock the bucket of an address; whoever wakes it waits meanwhile. */
void win_park_lock(const volatile void *address);
void win_park_unlock(const volatile void *address);

/** From here on a wake finds the thread, which goes on until win_park_sleep(). Between
 * win_park_lock() and win_park_unlock(). */
void win_park_begin(struct win_park *park, const volatile void *address, unsigned kind);
/** Not after all: between the same two calls, so that no wake can have been spent on it. */
void win_park_cancel(struct win_park *park);
/**
 * Sleep until woken; the end of what win_park_begin() began.
 *
 * @param pumping this is a wait of the program's, in which its pumps are called
 * Returns: false: the deadline has passed, and nobody has woken it
 */
bool win_park_sleep(struct win_park *park, uint64_t deadline_ns, bool pumping);

/** How many may wait at this address (others of its bucket included)? What the caller has written
 * before is seen by who begins to wait after a 0. Cost: one atomic operation */
unsigned win_parked(const volatile void *address);

/** Wake the first, or all. */
void win_unpark(const volatile void *address, bool all);

/**
 * The bucket is locked: wake the first, and those behind it of the same kind if that is `together`,
 * up to the first of another kind.
 * Returns: true: others still wait there
 */
bool win_unpark_some(const volatile void *address, unsigned together);

#endif
