/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event channels: the engine's thread adds events, any thread removes them. Start with
 * plx_link_channel_create().
 */
#include "connector.h"

_Static_assert(sizeof(struct plx_link_event) % 4 == 0, "ring entries go by words");

static void
free_channel(struct plx_event_channel *channel)
{
	if (channel->back != NULL)
		engine_eq_free(&channel->back->events);
	plx_heap_free(channel->back);
	plx_heap_free(channel);
}

enum plx_status
plx_link_channel_create(struct plx_engine *engine, struct plx_adapter *adapter, uint32_t depth,
			struct plx_event_channel **out)
{
	struct plx_event_channel *channel;
	struct engine_channel *back;

	if (depth < 1 || depth > PLX_EVENT_CHANNEL_DEPTH_MAX)
		return PLX_INVALID;
	channel = plx_heap_alloc(sizeof(*channel), engine->port->caps.socket);
	if (channel == NULL)
		return PLX_NO_MEMORY;
	back = plx_heap_alloc(sizeof(*back), engine->port->caps.socket);
	channel->back = back;
	if (back == NULL || engine_eq_init(&back->events, &engine->queues, depth,
					   sizeof(struct plx_link_event)) != PLX_OK) {
		free_channel(channel);
		return PLX_NO_MEMORY;
	}
	back->engine = engine;
	eq_open(&channel->events, &back->events);
	channel->adapter = adapter;
	atomic_fetch_add(&engine->queues.users, 1);
	*out = channel;
	return PLX_OK;
}

enum plx_status
plx_link_channel_destroy(struct plx_event_channel *channel)
{
	struct plx_link_event event;
	bool runs = true;

	/* Its users were removed from the engine: no event is added any more. */
	if (atomic_load(&channel->back->users) > 0)
		return PLX_BUSY;
	/* TIMEOUT: the engine does not run; the requests time out when it runs again. One such
	 * wait is enough. */
	while (eq_pop(&channel->events, &event))
		if (event.cm.kind == PLX_CM_EVENT_REQUESTED && runs)
			runs = plx_link_refuse_request(channel, &event.cm) != PLX_TIMEOUT;
	atomic_fetch_sub(&channel->back->engine->queues.users, 1);
	free_channel(channel);
	return PLX_OK;
}

struct plx_adapter *
plx_link_channel_adapter(const struct plx_event_channel *channel)
{
	return channel->adapter;
}

bool
plx_link_channel_next(struct plx_event_channel *channel, struct plx_link_event *out)
{
	return eq_pop(&channel->events, out);
}

int
plx_event_channel_fd(struct plx_event_channel *channel)
{
	return eq_fd(&channel->events);
}
