/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One-time initialization: a word whose two low bits hold the state, the others the context.
 * Start with InitOnceBeginInitialize().
 */
#include "park.h"

#include <synchapi.h>

enum {
	NOT_BEGUN = 0,
	UNDER_WAY = 1, /* one thread initializes, the others wait */
	DONE = 2,
	RACING = 3, /* several initialize, the first to complete wins */
	STATE = 3,
};

_Static_assert(STATE < 1 << INIT_ONCE_CTX_RESERVED_BITS, "the state fits below the context");

static _Atomic(uintptr_t) *
word_of(PINIT_ONCE once)
{
	return (_Atomic(uintptr_t) *)(void *)once;
}

VOID
InitOnceInitialize(PINIT_ONCE once)
{
	once->Ptr = NULL;
}

/* Wait until the state is no longer UNDER_WAY. */
static void
wait_for_it(_Atomic(uintptr_t) *word)
{
	struct win_park park;
	bool waits;

	win_park_lock(word);
	waits = atomic_load_explicit(word, memory_order_acquire) == UNDER_WAY;
	if (waits)
		win_park_begin(&park, word, 0);
	win_park_unlock(word);
	if (waits)
		win_park_sleep(&park, WIN_FOREVER, false);
}

/* Return the context. Returns: TRUE */
static BOOL
done(uintptr_t now, PBOOL pending, LPVOID *context)
{
	*pending = FALSE;
	if (context)
		*context = (LPVOID)(now & ~(uintptr_t)STATE);
	return TRUE;
}

BOOL
InitOnceBeginInitialize(LPINIT_ONCE once, DWORD flags, PBOOL pending, LPVOID *context)
{
	_Atomic(uintptr_t) *word = word_of(once);
	uintptr_t mine = flags & INIT_ONCE_ASYNC ? RACING : UNDER_WAY;
	uintptr_t now = atomic_load_explicit(word, memory_order_acquire);

	if (!pending || flags & ~(DWORD)(INIT_ONCE_ASYNC | INIT_ONCE_CHECK_ONLY) ||
	    flags == (INIT_ONCE_ASYNC | INIT_ONCE_CHECK_ONLY))
		return win_fail(ERROR_INVALID_PARAMETER);
	if (flags & INIT_ONCE_CHECK_ONLY) {
		if ((now & STATE) == DONE)
			return done(now, pending, context);
		*pending = TRUE;
		return win_fail(ERROR_GEN_FAILURE);
	}
	for (;; now = atomic_load_explicit(word, memory_order_acquire)) {
		if ((now & STATE) == DONE)
			return done(now, pending, context);
		if (now == NOT_BEGUN &&
		    !atomic_compare_exchange_strong_explicit(word, &now, mine, memory_order_acquire,
							     memory_order_acquire))
			continue;
		if (now != NOT_BEGUN && now != mine)
			return win_fail(ERROR_INVALID_PARAMETER);
		if (now == UNDER_WAY) {
			wait_for_it(word);
			continue;
		}
		*pending = TRUE;
		return TRUE;
	}
}

BOOL
InitOnceComplete(LPINIT_ONCE once, DWORD flags, LPVOID context)
{
	_Atomic(uintptr_t) *word = word_of(once);
	uintptr_t expected = flags & INIT_ONCE_ASYNC ? RACING : UNDER_WAY;
	uintptr_t result = (uintptr_t)context | DONE;

	/* A racing thread that fails simply does not complete. */
	if ((uintptr_t)context & STATE ||
	    flags & ~(DWORD)(INIT_ONCE_ASYNC | INIT_ONCE_INIT_FAILED) ||
	    (flags & INIT_ONCE_INIT_FAILED && (context || flags & INIT_ONCE_ASYNC)))
		return win_fail(ERROR_INVALID_PARAMETER);
	if (flags & INIT_ONCE_INIT_FAILED)
		result = NOT_BEGUN;
	if (!atomic_compare_exchange_strong_explicit(word, &expected, result, memory_order_acq_rel,
						     memory_order_relaxed))
		return win_fail((expected & STATE) == UNDER_WAY || (expected & STATE) == RACING
					? ERROR_INVALID_PARAMETER
					: ERROR_GEN_FAILURE);
	win_unpark(word, true);
	return TRUE;
}

BOOL
InitOnceExecuteOnce(PINIT_ONCE once, PINIT_ONCE_FN run, PVOID parameter, LPVOID *context)
{
	LPVOID made = NULL;
	BOOL pending;

	if (!run)
		return win_fail(ERROR_INVALID_PARAMETER);
	if (!InitOnceBeginInitialize(once, 0, &pending, context))
		return FALSE;
	if (!pending)
		return TRUE;
	if (!run(once, parameter, &made)) {
		DWORD error = GetLastError(); /* set by the function, for the caller */

		InitOnceComplete(once, INIT_ONCE_INIT_FAILED, NULL);
		return win_fail(error);
	}
	if (!InitOnceComplete(once, 0, made)) {
		InitOnceComplete(once, INIT_ONCE_INIT_FAILED, NULL);
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	if (context)
		*context = made;
	return TRUE;
}
