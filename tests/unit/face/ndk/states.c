/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of states, as a hash table with open addressing. Start with states_add().
 */
#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

void
states_init(struct states *states, size_t bytes, uint32_t room)
{
	*states = (struct states){.bytes = bytes, .room = room};
	states->all = calloc(room, bytes);
	states->places = calloc((size_t)2 * room, sizeof(*states->places));
	assert_true(states->all != NULL && states->places != NULL);
}

void
states_fini(struct states *states)
{
	free(states->all);
	free(states->places);
}

void
states_clear(struct states *states)
{
	memset(states->places, 0, (size_t)2 * states->room * sizeof(*states->places));
	states->found = 0;
}

static uint32_t
hash(const unsigned char *bytes, size_t n)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

static unsigned char *
at(const struct states *states, uint32_t index)
{
	return states->all + index * states->bytes;
}

void
states_add(struct states *states, const void *state)
{
	uint32_t places = 2 * states->room;
	uint32_t place = hash(state, states->bytes) % places;

	for (; states->places[place] != 0; place = (place + 1) % places)
		if (memcmp(at(states, states->places[place] - 1), state, states->bytes) == 0)
			return;
	assert_true(states->found < states->room);
	memcpy(at(states, states->found), state, states->bytes);
	states->places[place] = ++states->found;
}

void
states_get(const struct states *states, uint32_t index, void *state)
{
	memcpy(state, at(states, index), states->bytes);
}
