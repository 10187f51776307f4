/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as the engine's thread sees them. Start with engine_eq_push().
 */
#include "plx_engine_eq.h"
#include "plx_eq_front.h"
#include "plx_wake.h"

enum plx_status
engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues,
	       struct front_memory *memory, struct plx_waker *waker, uint32_t depth,
	       uint32_t event_bytes)
{
	const struct front_layout layout = eq_front_layout(depth, event_bytes, queues->inline_mode);

	atomic_init(&eq->fd, -1);
	eq->memory = memory;
	eq->waker = waker;
	if (front_create(memory, &layout, false, PLX_RING_PRODUCER, &eq->ring) == NULL)
		return PLX_NO_MEMORY;
	return PLX_OK;
}

void
engine_eq_free(struct engine_eq *eq)
{
	if (eq->ring.shared == NULL)
		return;
	engine_fd_close(eq->waker, &eq->fd);
	front_free(eq->memory, eq->ring.shared);
	eq->ring.shared = NULL;
}

int
engine_eq_fd(struct engine_eq *eq)
{
	return engine_fd(&eq->fd);
}

bool
engine_eq_has_room(struct engine_eq *eq)
{
	return plx_ring_untrusted_count(&eq->ring) < eq->ring.capacity;
}

bool
engine_eq_push(struct engine_eq *eq, const void *event)
{
	if (plx_ring_untrusted_enqueue(&eq->ring, eq->ring.entry_bytes, event, 1) == 0)
		return false;
	engine_wake(eq->waker, &eq->fd);
	return true;
}
