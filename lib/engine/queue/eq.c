/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues, both halves. Start with engine_eq_push() and engine_eq_pop().
 */
#include <unistd.h>

#include "plx_engine_eq.h"
#include "plx_wake.h"

enum plx_status
engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues, uint32_t depth,
	       uint32_t event_bytes)
{
	const struct plx_ring_config config = {.entries = depth,
					       .entry_bytes = event_bytes,
					       .producers = PLX_RING_ONE,
					       .consumers = queues->inline_mode ? PLX_RING_ONE
										: PLX_RING_MANY,
					       .socket = queues->socket};

	eq->event_bytes = event_bytes;
	atomic_init(&eq->fd, -1);
	eq->ring = plx_ring_create(&config);
	return eq->ring != NULL ? PLX_OK : PLX_NO_MEMORY;
}

void
engine_eq_free(struct engine_eq *eq)
{
	int fd = atomic_load(&eq->fd);

	if (eq->ring == NULL)
		return;
	if (fd >= 0)
		close(fd);
	plx_ring_destroy(eq->ring);
	eq->ring = NULL;
}

bool
engine_eq_has_room(const struct engine_eq *eq)
{
	return plx_ring_count(eq->ring) < plx_ring_slots(eq->ring) - 1;
}

bool
engine_eq_push(struct engine_eq *eq, const void *event)
{
	if (plx_ring_enqueue(eq->ring, eq->event_bytes, event, 1) == 0)
		return false;
	engine_wake(&eq->fd);
	return true;
}

bool
engine_eq_pop(struct engine_eq *eq, void *event)
{
	int fd = atomic_load(&eq->fd);
	uint64_t count;

	if (plx_ring_dequeue(eq->ring, eq->event_bytes, event, 1) == 1)
		return true;
	/* The queue is empty: clear the descriptor, unless an event arrived meanwhile. */
	if (fd < 0 || read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return false;
	if (plx_ring_dequeue(eq->ring, eq->event_bytes, event, 1) == 0)
		return false;
	engine_wake(&eq->fd);
	return true;
}

int
engine_eq_fd(struct engine_eq *eq)
{
	bool made;
	int fd = engine_fd(&eq->fd, &made);

	/* Signal events added before the descriptor existed. */
	if (made && !plx_ring_empty(eq->ring))
		engine_wake(&eq->fd);
	return fd;
}
