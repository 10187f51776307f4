/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as application threads see them. The engine's side is in eq_push.c. Start with
 * eq_pop().
 */
#include <unistd.h>

#include "plx_eq_front.h"
#include "plx_wake.h"

void
eq_open(struct eq *eq, void *front, uint32_t event_bytes, struct front_owner *owner,
	uint64_t object)
{
	eq->ring = front;
	eq->event_bytes = event_bytes;
	eq->owner = owner;
	eq->object = object;
	atomic_init(&eq->fd, -1);
	atomic_init(&eq->wake_fd, -1);
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
	engine_wake(NULL, &eq->wake_fd);
	return true;
}

int
eq_fd(struct eq *eq)
{
	int fd = atomic_load(&eq->fd);

	if (fd >= 0)
		return fd;
	fd = front_descriptor(eq->owner, eq->object, &eq->fd, &eq->wake_fd);
	if (fd < 0)
		return fd;
	/* Signal events added before the descriptor was known. */
	if (!plx_ring_empty(eq->ring))
		engine_wake(NULL, &eq->wake_fd);
	return fd;
}

void
eq_close(struct eq *eq)
{
	front_descriptor_close(eq->owner, &eq->fd, &eq->wake_fd);
}
