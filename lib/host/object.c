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

/* What a quota limits; PLX_HOST_KINDS: memory alone does. */
static const enum plx_host_kind quota_of[HOST_KINDS] = {
	[HOST_NONE] = PLX_HOST_KINDS,
	[HOST_PD] = PLX_HOST_KEYS,
	[HOST_MR] = PLX_HOST_KEYS,
	[HOST_MW] = PLX_HOST_KEYS,
	[HOST_CQ] = PLX_HOST_KINDS,
	[HOST_SRQ] = PLX_HOST_KINDS,
	[HOST_QP] = PLX_HOST_QUEUE_PAIRS,
	[HOST_AH] = PLX_HOST_KEYS,
	[HOST_CHANNEL] = PLX_HOST_KINDS,
	[HOST_LISTENER] = PLX_HOST_CONNECTIONS,
	[HOST_CONNECTOR] = PLX_HOST_CONNECTIONS,
};

enum plx_status
host_quota(const struct host_seat *seat, enum plx_host_kind kind, uint64_t more,
	   struct plx_why *why)
{
	if (!seat->foreign || kind == PLX_HOST_KINDS)
		return PLX_OK;
	return plx_host_quota(seat->rights, &seat->who, seat->adapter->info.name, kind,
			      seat->used[kind], more, why);
}

/* Embedded programs have no quotas, and many threads. */
static void
count(struct host_seat *seat, enum host_kind kind, int64_t more)
{
	if (seat->foreign && quota_of[kind] != PLX_HOST_KINDS)
		seat->used[quota_of[kind]] += (uint64_t)more;
}

enum plx_status
host_enter(struct host_seat *seat, struct host_object *object, enum host_kind kind,
	   struct plx_why *why)
{
	struct host_table *table = &seat->table;
	enum plx_status status = host_quota(seat, quota_of[kind], 1, why);

	if (status != PLX_OK)
		return status;
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
	if (status == PLX_OK)
		count(seat, kind, 1);
	return status;
}

void
host_leave(struct host_seat *seat, struct host_object *object)
{
	struct host_table *table = &seat->table;
	uint32_t index = (uint32_t)object->number;
	struct host_place *place = place_at(table, index);

	count(seat, object->kind, -1);
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
