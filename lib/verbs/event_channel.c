/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Channels and listeners: where events of connections arrive, and who may connect. The engine
 * identifies an object by its cookie; here the event gets the object itself, or is dropped if the
 * object was destroyed meanwhile.
 * It waits only in plx_event_channel_wait(). Start with plx_event_channel_next().
 */
#include <sched.h>
#include <stdlib.h>

#include "connector.h"

/* ---- channels ---- */

enum plx_status
plx_event_channel_create(struct plx_adapter *adapter, uint32_t depth,
			 struct plx_event_channel **out)
{
	const struct plx_ipc_channel_create request = {depth};
	struct plx_event_channel *channel = calloc(1, sizeof(*channel));
	struct plx_ipc_channel_created reply;
	enum plx_status status;

	if (channel == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(adapter, PLX_IPC_CHANNEL_CREATE, &request, &reply, NULL);
	if (status != PLX_OK) {
		free(channel);
		return status;
	}
	channel->adapter = adapter;
	channel->object = reply.object;
	eq_open(&channel->events, adapter_at(adapter, reply.front), sizeof(struct plx_link_event),
		&adapter->owner, reply.object.v);
	*out = channel;
	return PLX_OK;
}

enum plx_status
plx_event_channel_destroy(struct plx_event_channel *channel)
{
	enum plx_status status =
		adapter_call_on(channel->adapter, PLX_IPC_DESTROY, channel->object.v);

	if (status != PLX_OK)
		return status;
	eq_close(&channel->events);
	free(channel);
	return PLX_OK;
}

int
plx_event_channel_fd(struct plx_event_channel *channel)
{
	return eq_fd(&channel->events);
}

/* ---- events ---- */

static void
fill_event(const struct plx_cm_event *from, struct plx_connector_event *out)
{
	*out = (struct plx_connector_event){
		.kind = from->kind,
		.reason = from->reason,
		.qpn = from->qpn,
		.qkey = from->qkey,
		.info = from->peer.info,
		.private_bytes = from->private_bytes,
	};
	memcpy(out->private_data, from->private_data, sizeof(out->private_data));
}

/* TIMEOUT: a stalled engine rejects the request when it times out. */
static void
refuse(struct plx_event_channel *channel, struct plx_cm_id id)
{
	const struct plx_ipc_request_of request = {.object = channel->object, .id = id.v};
	struct plx_ipc_nothing none;

	(void)!adapter_call(channel->adapter, PLX_IPC_CHANNEL_REFUSE, &request, &none, NULL);
}

/* Handle a peer's request: create its connector, or reject it.
 * Returns: false: no event for the program */
static bool
fill_request(struct plx_event_channel *channel, const struct plx_link_event *event,
	     struct plx_connector_event *out)
{
	struct plx_adapter *adapter = channel->adapter;
	struct plx_listener *listener;

	pthread_mutex_lock(&adapter->lock);
	listener = plx_cookie_find(adapter, event->cookie);
	if (listener != NULL) {
		out->listener = listener;
		out->context = listener->context;
	}
	pthread_mutex_unlock(&adapter->lock);
	if (listener == NULL || connector_make(channel, &event->cm, &out->connector) != PLX_OK) {
		refuse(channel, event->cm.id);
		return false;
	}
	return true;
}

/* Returns: false: its object was destroyed */
static bool
fill_other(struct plx_event_channel *channel, const struct plx_link_event *event,
	   struct plx_connector_event *out)
{
	struct plx_adapter *adapter = channel->adapter;
	struct plx_connector *connector;

	pthread_mutex_lock(&adapter->lock);
	connector = plx_cookie_find(adapter, event->cookie);
	if (connector != NULL) {
		if (event->cm.kind == PLX_CM_EVENT_REPLIED)
			connector->info = out->info;
		else
			out->info = connector->info;
		out->connector = connector;
		out->context = connector->context;
	}
	pthread_mutex_unlock(&adapter->lock);
	return connector != NULL;
}

static bool
next_event(struct plx_event_channel *channel, struct plx_connector_event *out)
{
	struct plx_link_event event;

	while (eq_pop(&channel->events, &event)) {
		fill_event(&event.cm, out);
		if (event.cm.kind == PLX_CM_EVENT_REQUESTED ? fill_request(channel, &event, out)
							    : fill_other(channel, &event, out))
			return true;
	}
	return false;
}

bool
plx_event_channel_next(struct plx_event_channel *channel, struct plx_connector_event *out)
{
	if (next_event(channel, out))
		return true;
	return adapter_run(channel->adapter, 0) > 0 && next_event(channel, out);
}

bool
plx_event_channel_wait(struct plx_event_channel *channel, uint32_t timeout_ms,
		       struct plx_connector_event *out)
{
	struct plx_adapter *adapter = channel->adapter;
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;
	/* before the first check, so that no event is missed */
	int fd = adapter->inline_mode ? -1 : plx_event_channel_fd(channel);

	for (;;) {
		uint64_t now;

		if (plx_event_channel_next(channel, out))
			return true;
		now = plx_steady_ns();
		if (now >= deadline)
			return false;
		if (adapter->inline_mode) {
			if (adapter->idle >= PLX_IDLE_YIELD)
				sched_yield();
		} else if (!sleep_on(adapter, fd, deadline - now)) {
			return plx_event_channel_next(channel, out);
		}
	}
}

/* ---- listeners ---- */

/* The queue pair of a UD service; of another adapter it is none of this one's. */
static struct plx_object
ud_of(const struct plx_adapter *adapter, const struct plx_qp *ud)
{
	if (ud == NULL)
		return (struct plx_object){0};
	return (struct plx_object){adapter_of(ud) == adapter ? ud->object : UINT64_MAX};
}

static enum plx_status
listen_on(struct plx_listener *listener, const struct plx_listen_options *options,
	  struct plx_why *why)
{
	struct plx_adapter *adapter = listener->channel->adapter;
	const struct plx_ipc_listen request = {
		.channel = listener->channel->object,
		.ud = ud_of(adapter, options->ud),
		.local = options->local,
		.port = options->port,
		.backlog = options->backlog,
		.cookie = listener->cookie,
	};
	struct plx_ipc_object reply;
	enum plx_status status = adapter_call(adapter, PLX_IPC_LISTEN, &request, &reply, why);

	if (status == PLX_OK)
		listener->object = reply.object;
	return status;
}

enum plx_status
plx_listen(struct plx_event_channel *channel, const struct plx_listen_options *options,
	   struct plx_listener **out, struct plx_why *why)
{
	struct plx_adapter *adapter = channel->adapter;
	struct plx_listener *listener = calloc(1, sizeof(*listener));
	enum plx_status status = PLX_NO_MEMORY;

	if (listener == NULL)
		return PLX_NO_MEMORY;
	listener->channel = channel;
	listener->context = options->context;
	listener->cookie = plx_cookie_alloc(adapter, listener);
	if (listener->cookie != 0)
		status = listen_on(listener, options, why);
	if (status != PLX_OK) {
		if (listener->cookie != 0)
			plx_cookie_free(adapter, listener->cookie);
		free(listener);
		return status;
	}
	*out = listener;
	return PLX_OK;
}

enum plx_status
plx_listener_destroy(struct plx_listener *listener)
{
	struct plx_adapter *adapter = listener->channel->adapter;
	enum plx_status status = adapter_call_on(adapter, PLX_IPC_DESTROY, listener->object.v);

	if (status != PLX_OK)
		return status;
	plx_cookie_free(adapter, listener->cookie);
	free(listener);
	return PLX_OK;
}
