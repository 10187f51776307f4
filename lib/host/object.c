/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects of a seat, by the numbers that its program knows. A number that has ended is not used
 * again soon. Start with host_find().
 */
#include <stdlib.h>

#include "host.h"

void
host_table_init(struct host_table *table)
{
	pthread_mutex_init(&table->lock, NULL);
}

void
host_table_free(struct host_table *table)
{
	for (uint32_t i = 0; i < HOST_CHUNKS; i++)
		free(atomic_load(&table->chunk[i]));
	pthread_mutex_destroy(&table->lock);
}

static struct host_place *
place_at(struct host_table *table, uint32_t index)
{
	struct host_place *chunk =
		atomic_load_explicit(&table->chunk[index / HOST_CHUNK], memory_order_acquire);

	return &chunk[index % HOST_CHUNK];
}

/* The lock is held. */
static enum plx_status
grow(struct host_table *table)
{
	uint32_t size = table->size;
	struct host_place *chunk;

	if (size == HOST_CHUNK * HOST_CHUNKS)
		return PLX_FULL;
	chunk = calloc(HOST_CHUNK, sizeof(*chunk));
	if (chunk == NULL)
		return PLX_NO_MEMORY;
	for (uint32_t i = 0; i < HOST_CHUNK; i++) {
		chunk[i].generation = 1;
		chunk[i].next_free = size + i + 1;
	}
	atomic_store_explicit(&table->chunk[size / HOST_CHUNK], chunk, memory_order_release);
	table->size = size + HOST_CHUNK;
	return PLX_OK;
}

enum plx_status
host_enter(struct host_seat *seat, struct host_object *object, enum host_kind kind)
{
	struct host_table *table = &seat->table;
	enum plx_status status = PLX_OK;

	pthread_mutex_lock(&table->lock);
	if (table->first_free == table->size)
		status = grow(table);
	if (status == PLX_OK) {
		uint32_t index = table->first_free;
		struct host_place *place = place_at(table, index);

		table->first_free = place->next_free;
		object->number = (uint64_t)place->generation << 32 | index;
		object->kind = kind;
		table->used++;
		atomic_store_explicit(&place->object, object, memory_order_release);
	}
	pthread_mutex_unlock(&table->lock);
	return status;
}

void
host_leave(struct host_seat *seat, struct host_object *object)
{
	struct host_table *table = &seat->table;
	uint32_t index = (uint32_t)object->number;
	struct host_place *place = place_at(table, index);

	pthread_mutex_lock(&table->lock);
	atomic_store_explicit(&place->object, NULL, memory_order_relaxed);
	place->generation++;
	if (place->generation == 0)
		place->generation = 1;
	place->next_free = table->first_free;
	table->first_free = index;
	table->used--;
	pthread_mutex_unlock(&table->lock);
}

struct host_object *
host_find_any(struct host_seat *seat, struct plx_object number)
{
	uint32_t index = (uint32_t)number.v;
	struct host_object *object;
	struct host_place *chunk;

	if (index >= HOST_CHUNK * HOST_CHUNKS)
		return NULL;
	chunk = atomic_load_explicit(&seat->table.chunk[index / HOST_CHUNK], memory_order_acquire);
	if (chunk == NULL)
		return NULL;
	object = atomic_load_explicit(&chunk[index % HOST_CHUNK].object, memory_order_acquire);
	return object != NULL && object->number == number.v ? object : NULL;
}

void *
host_find(struct host_seat *seat, struct plx_object number, enum host_kind kind)
{
	struct host_object *object = host_find_any(seat, number);

	return object != NULL && object->kind == kind ? object : NULL;
}

struct host_object *
host_next(struct host_seat *seat, uint32_t *index)
{
	for (; *index < seat->table.size; (*index)++) {
		struct host_object *object = atomic_load(&place_at(&seat->table, *index)->object);

		if (object != NULL)
			return object;
	}
	return NULL;
}
