/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of states, in the order in which they were found: what a search through a state machine has
 * seen. States are compared byte by byte, their padding too. Start with states_add().
 */
#ifndef NDK_TEST_STATES_H
#define NDK_TEST_STATES_H

#include <stddef.h>
#include <stdint.h>

struct states {
	size_t bytes; /* of a state */
	uint32_t room, found;
	unsigned char *all;
	uint32_t *places; /* by hash: 1 + index; 0: free */
};

/** An empty set for up to `room` states, a power of two, of `bytes` each. */
void states_init(struct states *states, size_t bytes, uint32_t room);
void states_fini(struct states *states);
/** Forget all of them. */
void states_clear(struct states *states);
/** Add a state, unless it is there. More than `room` fail the test. */
void states_add(struct states *states, const void *state);
/** Copy the state of an index below `found`. */
void states_get(const struct states *states, uint32_t index, void *state);

#endif
