/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupt moderation of an NDK completion queue: how long a callback that is due may wait for
 * more completions (NdkControlCqInterruptModeration). It delays callbacks, never completions. It
 * owns no state. Start with ndk_moderation_set().
 */
#ifndef PLX_NDK_MODERATION_H
#define PLX_NDK_MODERATION_H

#include <stdint.h>

#include <winnt.h>

/* Without moderation a callback waits for one completion, which is there: all zero. */
struct ndk_moderation {
	uint64_t interval_ns; /* the longest wait; PLX_NEVER: the count alone decides */
	uint32_t count;       /* of completions; 0: the interval alone decides */
};

/** Translate what the consumer asks for.
 * @param interval_us  0: no moderation; MAXULONG: the count alone decides
 * @param count        0 or 1: no moderation; MAXULONG, or more than `depth`: the interval alone
 * @param depth        of the queue
 * Returns: STATUS_SUCCESS, or STATUS_INVALID_PARAMETER_MIX if nothing would ever decide
 * Changes: nothing, unless it succeeds */
NTSTATUS ndk_moderation_set(struct ndk_moderation *moderation, ULONG interval_us, ULONG count,
			    ULONG depth);

/** When is a callback that became due at `since` to be scheduled?
 * @param completions  that have come since the last callback began, and not been polled
 * Returns: `since` or later; PLX_NEVER: not before more completions */
uint64_t ndk_moderation_due_ns(const struct ndk_moderation *moderation, uint64_t since,
			       uint64_t completions);

#endif
