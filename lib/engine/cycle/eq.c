/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues: a ring from the engine to any thread, with a descriptor. What the ring has no room
 * for stays in the communication manager: nothing is put here that does not fit.
 * Start with engine_eq_push() and plx_engine_eq_next().
 */
#include <unistd.h>

#include "connector.h"

_Static_assert(sizeof(struct plx_engine_connector_event) % 4 == 0, "ring entries go by words");

enum plx_status
plx_engine_eq_create(struct plx_engine *engine, uint32_t depth, struct plx_engine_eq **out)
{
	int socket = engine->port->caps.socket;
	const struct plx_ring_config config = {
		.entries = depth,
		.entry_bytes = sizeof(struct plx_engine_connector_event),
		.producers = PLX_RING_ONE,
		.consumers = engine->config.inline_mode ? PLX_RING_ONE : PLX_RING_MANY,
		.socket = socket};
	struct plx_engine_eq *queue;

	if (depth < 1 || depth > PLX_ENGINE_EQ_DEPTH_MAX)
		return PLX_INVALID;
	queue = plx_heap_alloc(sizeof(*queue), socket);
	if (queue == NULL)
		return PLX_NO_MEMORY;
	queue->ring = plx_ring_create(&config);
	if (queue->ring == NULL) {
		plx_heap_free(queue);
		return PLX_NO_MEMORY;
	}
	queue->engine = engine;
	atomic_init(&queue->fd, -1);
	atomic_fetch_add(&engine->queues.users, 1);
	*out = queue;
	return PLX_OK;
}

enum plx_status
plx_engine_eq_destroy(struct plx_engine_eq *queue)
{
	int fd = atomic_load(&queue->fd);
	struct plx_engine_connector_event event;
	bool runs = true;

	/* Whoever used it was taken out of the engine: nobody puts anything here any more. */
	if (atomic_load(&queue->users) > 0)
		return PLX_BUSY;
	/* TIMEOUT, of an engine that stands still: the requests time out when it runs again. One
	 * such wait is enough. */
	while (plx_ring_dequeue(queue->ring, sizeof(event), &event, 1) == 1)
		if (event.cm.kind == PLX_CM_EVENT_REQUESTED && runs)
			runs = plx_engine_refuse_request(queue, &event.cm) != PLX_TIMEOUT;
	if (fd >= 0)
		close(fd);
	atomic_fetch_sub(&queue->engine->queues.users, 1);
	plx_ring_destroy(queue->ring);
	plx_heap_free(queue);
	return PLX_OK;
}

bool
engine_eq_has_room(const struct plx_engine_eq *queue)
{
	return plx_ring_count(queue->ring) < plx_ring_slots(queue->ring) - 1;
}

bool
engine_eq_push(struct plx_engine_eq *queue, const struct plx_engine_connector_event *event)
{
	if (plx_ring_enqueue(queue->ring, sizeof(*event), event, 1) == 0)
		return false;
	engine_wake(&queue->fd);
	return true;
}

bool
plx_engine_eq_next(struct plx_engine_eq *queue, struct plx_engine_connector_event *out)
{
	int fd = atomic_load(&queue->fd);
	uint64_t count;

	if (plx_ring_dequeue(queue->ring, sizeof(*out), out, 1) == 1)
		return true;
	/* Empty: the descriptor says so, unless something came meanwhile. */
	if (fd < 0 || read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return false;
	if (plx_ring_dequeue(queue->ring, sizeof(*out), out, 1) == 0)
		return false;
	engine_wake(&queue->fd);
	return true;
}

int
plx_engine_eq_fd(struct plx_engine_eq *queue)
{
	bool made;
	int fd = engine_fd(&queue->fd, &made);

	/* What was put while there was no descriptor. */
	if (made && !plx_ring_empty(queue->ring))
		engine_wake(&queue->fd);
	return fd;
}
