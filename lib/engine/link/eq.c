/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues of connections: the engine's thread adds events, any thread removes them. Start with
 * plx_engine_eq_create().
 */
#include "connector.h"

_Static_assert(sizeof(struct plx_engine_connector_event) % 4 == 0, "ring entries go by words");

enum plx_status
plx_engine_eq_create(struct plx_engine *engine, uint32_t depth, struct plx_engine_eq **out)
{
	struct plx_engine_eq *queue;

	if (depth < 1 || depth > PLX_ENGINE_EQ_DEPTH_MAX)
		return PLX_INVALID;
	queue = plx_heap_alloc(sizeof(*queue), engine->port->caps.socket);
	if (queue == NULL)
		return PLX_NO_MEMORY;
	if (engine_eq_init(&queue->events, &engine->queues, depth,
			   sizeof(struct plx_engine_connector_event)) != PLX_OK) {
		plx_heap_free(queue);
		return PLX_NO_MEMORY;
	}
	queue->engine = engine;
	atomic_fetch_add(&engine->queues.users, 1);
	*out = queue;
	return PLX_OK;
}

enum plx_status
plx_engine_eq_destroy(struct plx_engine_eq *queue)
{
	struct plx_engine_connector_event event;
	bool runs = true;

	/* Its users were removed from the engine: no event is added any more. */
	if (atomic_load(&queue->users) > 0)
		return PLX_BUSY;
	/* TIMEOUT: the engine does not run; the requests time out when it runs again. One such
	 * wait is enough. */
	while (engine_eq_pop(&queue->events, &event))
		if (event.cm.kind == PLX_CM_EVENT_REQUESTED && runs)
			runs = plx_engine_refuse_request(queue, &event.cm) != PLX_TIMEOUT;
	atomic_fetch_sub(&queue->engine->queues.users, 1);
	engine_eq_free(&queue->events);
	plx_heap_free(queue);
	return PLX_OK;
}

bool
plx_engine_eq_next(struct plx_engine_eq *queue, struct plx_engine_connector_event *out)
{
	return engine_eq_pop(&queue->events, out);
}

int
plx_engine_eq_fd(struct plx_engine_eq *queue)
{
	return engine_eq_fd(&queue->events);
}
