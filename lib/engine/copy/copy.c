/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See plx_copy.h. Indexes run freely: taken <= finished <= asked, and each is written by one side.
 * The thread sleeps on an eventfd. It says so before it looks for copies once more, and the engine
 * asks whether it sleeps after it has asked for one: one of the two sees the other.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plx_copy.h"
#include "plx_heap.h"

struct slot {
	struct plx_copy copy;
	bool failed;
};

struct plx_copier {
	PLX_ALIGNED_LINE atomic_uint asked; /* the engine's */
	uint32_t taken;                     /* likewise */
	PLX_ALIGNED_LINE atomic_uint finished;
	atomic_bool asleep, stopped;
	int bell;
	uint8_t *staging; /* PLX_COPY_BYTES_MAX for each slot */
	struct slot slot[PLX_COPIES_MAX];
};

_Static_assert((PLX_COPIES_MAX & (PLX_COPIES_MAX - 1)) == 0, "indexes are masked");

static struct slot *
slot_at(struct plx_copier *copier, uint32_t index)
{
	return &copier->slot[index & (PLX_COPIES_MAX - 1)];
}

struct plx_copier *
plx_copier_create(void)
{
	struct plx_copier *copier = plx_heap_alloc(sizeof(*copier), -1);

	if (copier == NULL)
		return NULL;
	copier->bell = eventfd(0, EFD_CLOEXEC);
	copier->staging = plx_heap_queue((size_t)PLX_COPIES_MAX * PLX_COPY_BYTES_MAX, -1);
	if (copier->bell < 0 || copier->staging == NULL) {
		plx_copier_free(copier);
		return NULL;
	}
	return copier;
}

void
plx_copier_free(struct plx_copier *copier)
{
	if (copier == NULL)
		return;
	if (copier->bell >= 0)
		close(copier->bell);
	plx_heap_free(copier->staging);
	plx_heap_free(copier);
}

/* ---- the engine's part ---- */

uint32_t
plx_copier_room(const struct plx_copier *copier)
{
	return PLX_COPIES_MAX -
	       (atomic_load_explicit(&copier->asked, memory_order_relaxed) - copier->taken);
}

static void
ask(struct plx_copier *copier, struct plx_copy copy)
{
	uint32_t asked = atomic_load_explicit(&copier->asked, memory_order_relaxed);

	slot_at(copier, asked)->copy = copy;
	atomic_store(&copier->asked, asked + 1);
}

void
plx_copier_ring(struct plx_copier *copier)
{
	const uint64_t one = 1;

	if (atomic_load(&copier->asleep) && atomic_exchange(&copier->asleep, false))
		(void)!write(copier->bell, &one, sizeof(one));
}

void
plx_copier_load(struct plx_copier *copier, void *shadow, uint32_t bytes)
{
	PLX_ASSERT(plx_copier_room(copier) > 0);
	ask(copier, (struct plx_copy){.shadow = shadow, .bytes = bytes});
}

void
plx_copier_place(struct plx_copier *copier, void *shadow, const uint8_t *from, uint32_t bytes)
{
	uint32_t at = atomic_load_explicit(&copier->asked, memory_order_relaxed);
	uint8_t *staged =
		copier->staging + (size_t)(at & (PLX_COPIES_MAX - 1)) * PLX_COPY_BYTES_MAX;

	PLX_ASSERT(plx_copier_room(copier) > 0 && bytes <= PLX_COPY_BYTES_MAX);
	memcpy(staged, from, bytes);
	ask(copier, (struct plx_copy){.shadow = shadow, .staged = staged, .bytes = bytes});
}

bool
plx_copier_take(struct plx_copier *copier, bool *failed)
{
	if (atomic_load(&copier->finished) == copier->taken)
		return false;
	*failed = slot_at(copier, copier->taken)->failed;
	copier->taken++;
	return true;
}

/* ---- the thread's part ---- */

bool
plx_copier_wait(struct plx_copier *copier, struct plx_copy *copy)
{
	uint32_t next = atomic_load_explicit(&copier->finished, memory_order_relaxed);
	uint64_t rung;

	while (!atomic_load(&copier->stopped)) {
		if (atomic_load(&copier->asked) != next) {
			*copy = slot_at(copier, next)->copy;
			return true;
		}
		atomic_store(&copier->asleep, true);
		if (atomic_load(&copier->asked) == next && !atomic_load(&copier->stopped))
			(void)!read(copier->bell, &rung, sizeof(rung));
		atomic_store(&copier->asleep, false);
	}
	return false;
}

void
plx_copier_finish(struct plx_copier *copier, bool failed)
{
	uint32_t finished = atomic_load_explicit(&copier->finished, memory_order_relaxed);

	slot_at(copier, finished)->failed = failed;
	atomic_store(&copier->finished, finished + 1);
}

void
plx_copier_stop(struct plx_copier *copier)
{
	const uint64_t one = 1;

	atomic_store(&copier->stopped, true);
	(void)!write(copier->bell, &one, sizeof(one));
}

uint32_t
plx_copier_asked(const struct plx_copier *copier)
{
	return atomic_load(&copier->asked);
}

bool
plx_copier_is_idle(const struct plx_copier *copier, uint32_t asked)
{
	return (int32_t)(atomic_load(&copier->finished) - asked) >= 0;
}
