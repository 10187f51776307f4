/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every slot is a function of its own that takes the object and nothing else; a caller passes more,
 * in registers and on a stack that is its own to clear. Each returns a hundred and its number.
 */
#include "recorder.h"

#include <stddef.h>
#include <stdint.h>

static const void *called_on;
static int called_slot = RECORDER_NONE;

#define SLOTS(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

#define FUNCTION(n)                            \
	static uint32_t slot_##n(void *object) \
	{                                      \
		called_on = object;            \
		called_slot = n;               \
		return 100 + n;                \
	}
SLOTS(FUNCTION)

#define ADDRESS(n) slot_##n,
static uint32_t (*const table[RECORDER_SLOTS])(void *object) = {SLOTS(ADDRESS)};

static struct {
	const void *table;
} object = {table};

void *
recorder_object(void)
{
	return &object;
}

int
recorder_taken(void)
{
	int slot = called_on == &object ? called_slot : RECORDER_NONE;

	called_on = NULL;
	called_slot = RECORDER_NONE;
	return slot;
}
