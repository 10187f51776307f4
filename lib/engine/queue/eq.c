/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as application threads see them. The engine's side is in eq_push.c. Start with
 * eq_pop().
 */
#include <unistd.h>

#include "plx_engine_eq.h"
#include "plx_eq_front.h"
#include "plx_wake.h"

void
eq_open(struct eq *eq, struct engine_eq *back)
{
	eq->ring = back->ring.shared;
	eq->event_bytes = back->ring.entry_bytes;
	eq->back = back;
	atomic_init(&eq->fd, -1);
}

bool
eq_pop(struct eq *eq, void *event)
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
eq_fd(struct eq *eq)
{
	int none = -1, fd = atomic_load(&eq->fd);

	if (fd >= 0)
		return fd;
	fd = engine_eq_fd(eq->back);
	if (fd < 0 || !atomic_compare_exchange_strong(&eq->fd, &none, fd))
		return fd;
	/* Signal events added before the descriptor was known. */
	if (!plx_ring_empty(eq->ring))
		engine_wake(&eq->fd);
	return fd;
}
