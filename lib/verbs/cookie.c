/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cookies: numbers that identify objects. They, not pointers, are passed to the engine and back,
 * because an event may still be in the ring when its object is destroyed. Start with
 * plx_cookie_alloc().
 */
#include <stdlib.h>

#include "plx_objects.h"

static uint64_t
alloc_locked(struct plx_adapter *adapter, void *object)
{
	struct plx_cookie_table *table = &adapter->cookies;
	uint32_t slot = table->first_free;

	if (slot == table->size) {
		uint32_t size = table->size ? table->size * 2 : 64;
		struct plx_cookie_slot *more = realloc(table->slot, size * sizeof(*more));

		if (more == NULL)
			return 0;
		for (uint32_t i = table->size; i < size; i++)
			more[i] = (struct plx_cookie_slot){.generation = 1, .next_free = i + 1};
		table->slot = more;
		table->size = size;
	}
	table->first_free = table->slot[slot].next_free;
	table->slot[slot].object = object;
	return (uint64_t)table->slot[slot].generation << 32 | slot;
}

uint64_t
plx_cookie_alloc(struct plx_adapter *adapter, void *object)
{
	uint64_t cookie;

	pthread_mutex_lock(&adapter->lock);
	cookie = alloc_locked(adapter, object);
	pthread_mutex_unlock(&adapter->lock);
	return cookie;
}

void
plx_cookie_set(struct plx_adapter *adapter, uint64_t cookie, void *object)
{
	pthread_mutex_lock(&adapter->lock);
	adapter->cookies.slot[(uint32_t)cookie].object = object;
	pthread_mutex_unlock(&adapter->lock);
}

void
plx_cookie_free(struct plx_adapter *adapter, uint64_t cookie)
{
	struct plx_cookie_table *table = &adapter->cookies;
	uint32_t slot = (uint32_t)cookie;

	pthread_mutex_lock(&adapter->lock);
	table->slot[slot].object = NULL;
	table->slot[slot].generation++;
	table->slot[slot].next_free = table->first_free;
	table->first_free = slot;
	pthread_mutex_unlock(&adapter->lock);
}

void *
plx_cookie_find(const struct plx_adapter *adapter, uint64_t cookie)
{
	const struct plx_cookie_table *table = &adapter->cookies;
	uint32_t slot = (uint32_t)cookie;

	if (slot >= table->size || table->slot[slot].generation != cookie >> 32)
		return NULL;
	return table->slot[slot].object;
}
