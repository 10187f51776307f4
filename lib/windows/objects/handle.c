/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of handles: slots in chunks that are never freed, a free list reused oldest first,
 * holds and opens. Of each kind it knows only how to close and destroy it. Start with
 * win_object_hold(), which validates a handle.
 */
#include "win_objects.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FIRST_CHUNK = 256, /* slots; each further chunk is twice as large */
	CHUNKS = 13,       /* 2 million handles */
	CHUNK_ALIGN = 64,  /* a chunk is a multiple of it */
	RESTING = 64,      /* free slots kept before the oldest is reused */
};

union slot {
	struct win_object object;
	struct plx_file file;
	_Alignas(16) unsigned char room[WIN_SLOT];
};

static struct {
	pthread_mutex_t lock;
	_Atomic(union slot *) chunk[CHUNKS];
	unsigned chunks;
	size_t fresh;                              /* slots of the last chunk not used yet */
	struct win_object *first_free, *last_free; /* reused from the front */
	size_t free_count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
	void (*close)(struct win_object *);   /* its last handle is closed */
	void (*destroy)(struct win_object *); /* the last hold is released */
} kinds[WIN_KINDS] = {
	[WIN_FILE] = {NULL, win_file_destroy},
	[WIN_PORT] = {win_port_close, NULL},
	[WIN_THREAD] = {win_thread_close, NULL},
	[WIN_DISK] = {NULL, win_disk_destroy},
};

static size_t
slots_of(unsigned chunk)
{
	return (size_t)FIRST_CHUNK << chunk;
}

/* Returns: a slot that was never used, or NULL. The table's lock is held. */
static struct win_object *
fresh_slot(void)
{
	union slot *chunk;

	if (!table.chunks || table.fresh == slots_of(table.chunks - 1)) {
		size_t bytes = slots_of(table.chunks) * sizeof(*chunk);

		if (table.chunks == CHUNKS)
			return NULL;
		chunk = aligned_alloc(CHUNK_ALIGN, bytes);
		if (!chunk)
			return NULL;
		memset(chunk, 0, bytes);
		atomic_store_explicit(&table.chunk[table.chunks++], chunk, memory_order_release);
		table.fresh = 0;
	}
	chunk = atomic_load_explicit(&table.chunk[table.chunks - 1], memory_order_relaxed);
	return &chunk[table.fresh++].object;
}

/* The oldest free slot, or NULL. The table's lock is held. */
static struct win_object *
used_slot(void)
{
	struct win_object *object = table.first_free;

	if (object) {
		table.first_free = object->next_free;
		if (!table.first_free)
			table.last_free = NULL;
		table.free_count--;
	}
	return object;
}

struct win_object *
win_object_create(enum win_kind kind)
{
	struct win_object *object;

	pthread_mutex_lock(&table.lock);
	object = table.free_count > RESTING ? used_slot() : fresh_slot();
	if (!object)
		object = used_slot();
	pthread_mutex_unlock(&table.lock);
	if (!object) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	pthread_mutex_init(&object->lock, NULL);
	object->kind = (uint8_t)kind;
	object->automatic = false;
	atomic_store_explicit(&object->pumps, 0, memory_order_relaxed);
	object->waiters = (struct win_waiters){NULL, NULL};
	object->fd = -1;
	object->fd_level = false;
	atomic_store_explicit(&object->state, 0, memory_order_relaxed);
	atomic_store_explicit(&object->opens, 0, memory_order_relaxed);
	atomic_store_explicit(&object->holds, 1, memory_order_release);
	return object;
}

void
win_objects_leave_pump(unsigned pump)
{
	pthread_mutex_lock(&table.lock);
	for (unsigned i = 0; i < table.chunks; i++) {
		union slot *chunk = atomic_load(&table.chunk[i]);
		size_t n = i + 1 < table.chunks ? slots_of(i) : table.fresh;

		for (size_t j = 0; j < n; j++)
			atomic_fetch_and_explicit(&chunk[j].object.pumps, ~pump,
						  memory_order_relaxed);
	}
	pthread_mutex_unlock(&table.lock);
}

HANDLE
win_object_open(struct win_object *object)
{
	atomic_store_explicit(&object->opens, 1, memory_order_release);
	return object;
}

/* The slot of a handle, or NULL; the slot may be free. */
static struct win_object *
slot_of(HANDLE handle)
{
	uintptr_t at = (uintptr_t)handle & ~(uintptr_t)WIN_TAG;

	for (unsigned i = 0; i < CHUNKS; i++) {
		union slot *chunk = atomic_load_explicit(&table.chunk[i], memory_order_acquire);
		uintptr_t offset = at - (uintptr_t)chunk;

		if (!chunk)
			break;
		if (offset < slots_of(i) * sizeof(*chunk))
			return offset % sizeof(*chunk) ? NULL : (struct win_object *)at;
	}
	return NULL;
}

/* Take a hold of a slot that may be free. */
static bool
try_hold(struct win_object *object)
{
	unsigned holds = atomic_load_explicit(&object->holds, memory_order_relaxed);

	while (holds)
		if (atomic_compare_exchange_weak_explicit(&object->holds, &holds, holds + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

struct win_object *
win_object_hold(HANDLE handle, enum win_kind kind)
{
	struct win_object *object = slot_of(handle);

	if (object && try_hold(object)) {
		if (atomic_load_explicit(&object->opens, memory_order_acquire) &&
		    (kind == WIN_ANY || kind == object->kind))
			return object;
		win_object_release(object);
	}
	win_fail(ERROR_INVALID_HANDLE);
	return NULL;
}

void
win_object_hold_again(struct win_object *object)
{
	atomic_fetch_add_explicit(&object->holds, 1, memory_order_relaxed);
}

/* Append the slot to the free list: the longer until it is reused, the longer a stale handle is
 * detected. */
static void
free_slot(struct win_object *object)
{
	object->next_free = NULL;
	pthread_mutex_lock(&table.lock);
	if (table.last_free)
		table.last_free->next_free = object;
	else
		table.first_free = object;
	table.last_free = object;
	table.free_count++;
	pthread_mutex_unlock(&table.lock);
}

void
win_object_release(struct win_object *object)
{
	int fd;

	/* A slot without holds is not found by others; it becomes free once it is in the list. */
	if (atomic_fetch_sub_explicit(&object->holds, 1, memory_order_acq_rel) != 1)
		return;
	fd = object->fd;
	if (kinds[object->kind].destroy)
		kinds[object->kind].destroy(object);
	if (fd >= 0)
		close(fd);
	pthread_mutex_destroy(&object->lock);
	free_slot(object);
}

BOOL
CloseHandle(HANDLE handle)
{
	struct win_object *object = win_object_hold(handle, WIN_ANY);
	unsigned opens;

	if (!object)
		return FALSE;
	opens = atomic_load_explicit(&object->opens, memory_order_relaxed);
	while (opens &&
	       !atomic_compare_exchange_weak_explicit(&object->opens, &opens, opens - 1,
						      memory_order_acq_rel, memory_order_relaxed))
		;
	if (opens == 1 && kinds[object->kind].close)
		kinds[object->kind].close(object);
	if (opens)
		win_object_release(object); /* the handle's hold */
	win_object_release(object);
	return opens ? TRUE : win_fail(ERROR_INVALID_HANDLE);
}
