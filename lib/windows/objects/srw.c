/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Slim reader/writer locks: one word, and the table of park.c for sleeping threads.
 *
 * The word counts readers and has one bit for a writer and one for "threads sleep". That bit
 * changes only under the bucket's lock: a releasing thread that sees it has a thread to wake, and a
 * thread that sets it is in the table before the release. A reader that arrives while threads sleep
 * behind other readers sleeps too, so that writers get their turn; a woken thread does not.
 * Start with acquire().
 */
#include "park.h"

#include <synchapi.h>

enum {
	WRITER = 1,
	SLEEPERS = 2,
	READER = 4, /* one reader */
};

_Static_assert(sizeof(atomic_uint) <= sizeof(SRWLOCK), "the word fits");

static atomic_uint *
word_of(PSRWLOCK lock)
{
	return (atomic_uint *)(void *)lock;
}

/* May a thread acquire the lock now? @param was_woken its turn has come */
static bool
is_free(unsigned word, unsigned kind, bool was_woken)
{
	if (word & WRITER)
		return false;
	if (kind == WRITER)
		return word < READER;
	return was_woken || !(word & SLEEPERS) || word < READER;
}

/* Try to acquire. Returns: false: it is held */
static bool
try_to_have(atomic_uint *word, unsigned kind, bool was_woken)
{
	unsigned now = atomic_load_explicit(word, memory_order_relaxed);

	while (is_free(now, kind, was_woken))
		if (atomic_compare_exchange_weak_explicit(
			    word, &now, now + kind, memory_order_acquire, memory_order_relaxed))
			return true;
	return false;
}

/* Enter the table with the bit set, unless the lock has become free. */
static bool
begin_to_sleep(atomic_uint *word, unsigned kind, bool was_woken, struct win_park *park)
{
	unsigned now;
	bool held;

	win_park_lock(word);
	now = atomic_load_explicit(word, memory_order_relaxed);
	while ((held = !is_free(now, kind, was_woken)) &&
	       !atomic_compare_exchange_weak_explicit(word, &now, now | SLEEPERS,
						      memory_order_relaxed, memory_order_relaxed))
		;
	if (held)
		win_park_begin(park, word, kind);
	win_park_unlock(word);
	return held;
}

static void
acquire(atomic_uint *word, unsigned kind)
{
	struct win_park park;
	bool was_woken = false;

	while (!try_to_have(word, kind, was_woken))
		if (begin_to_sleep(word, kind, was_woken, &park)) {
			win_park_sleep(&park, WIN_FOREVER, false);
			was_woken = true;
		}
}

/* The last holder releases the lock while others sleep: wake a writer, or all readers up to the
 * next writer. If the woken thread is the last user, the lock may cease to exist with the release.
 * So the word is written once, and not touched afterwards. */
static void
pass_on(atomic_uint *word, unsigned held)
{
	win_park_lock(word);
	if (!win_unpark_some(word, READER))
		held += SLEEPERS;
	atomic_fetch_sub_explicit(word, held, memory_order_release);
	win_park_unlock(word);
}

VOID
InitializeSRWLock(PSRWLOCK lock)
{
	lock->Ptr = NULL;
}

VOID
AcquireSRWLockExclusive(PSRWLOCK lock)
{
	acquire(word_of(lock), WRITER);
}

VOID
AcquireSRWLockShared(PSRWLOCK lock)
{
	acquire(word_of(lock), READER);
}

BOOLEAN
TryAcquireSRWLockExclusive(PSRWLOCK lock)
{
	return try_to_have(word_of(lock), WRITER, false);
}

BOOLEAN
TryAcquireSRWLockShared(PSRWLOCK lock)
{
	return try_to_have(word_of(lock), READER, false);
}

VOID
ReleaseSRWLockExclusive(PSRWLOCK lock)
{
	unsigned held = WRITER;

	if (!atomic_compare_exchange_strong_explicit(word_of(lock), &held, 0, memory_order_release,
						     memory_order_relaxed))
		pass_on(word_of(lock), WRITER);
}

VOID
ReleaseSRWLockShared(PSRWLOCK lock)
{
	atomic_uint *word = word_of(lock);
	unsigned now = atomic_load_explicit(word, memory_order_relaxed);

	do {
		if (now == (READER | SLEEPERS)) {
			pass_on(word, READER);
			return;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		word, &now, now - READER, memory_order_release, memory_order_relaxed));
}
