/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event channels: the engine's thread adds events, any thread removes them. Start with
 * plx_link_channel_create().
 */
#include "connector.h"

_Static_assert(sizeof(struct plx_link_event) % 4 == 0, "ring entries go by words");

enum plx_status
plx_link_channel_create(struct plx_engine *engine, struct plx_adapter *adapter, uint32_t depth,
			struct plx_event_channel **out)
{
	struct plx_event_channel *channel;

	if (depth < 1 || depth > PLX_EVENT_CHANNEL_DEPTH_MAX)
		return PLX_INVALID;
	channel = plx_heap_alloc(sizeof(*channel), engine->port->caps.socket);
	if (channel == NULL)
		return PLX_NO_MEMORY;
	if (engine_eq_init(&channel->events, &engine->queues, depth,
			   sizeof(struct plx_link_event)) != PLX_OK) {
		plx_heap_free(channel);
		return PLX_NO_MEMORY;
	}
	channel->engine = engine;
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
	if (atomic_load(&channel->users) > 0)
		return PLX_BUSY;
	/* TIMEOUT: the engine does not run; the requests time out when it runs again. One such
	 * wait is enough. */
	while (engine_eq_pop(&channel->events, &event))
		if (event.cm.kind == PLX_CM_EVENT_REQUESTED && runs)
			runs = plx_link_refuse_request(channel, &event.cm) != PLX_TIMEOUT;
	atomic_fetch_sub(&channel->engine->queues.users, 1);
	engine_eq_free(&channel->events);
	plx_heap_free(channel);
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
	return engine_eq_pop(&channel->events, out);
}

int
plx_event_channel_fd(struct plx_event_channel *channel)
{
	return engine_eq_fd(&channel->events);
}
