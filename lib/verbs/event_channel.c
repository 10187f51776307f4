/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Channels and listeners: where events of connections arrive, and who may connect. The engine
 * identifies an object by its cookie; here the event gets the object itself, or is dropped if the
 * object was destroyed meanwhile.
 * It waits only in plx_event_channel_wait(). Start with plx_event_channel_next().
 */
#include <poll.h>
#include <sched.h>

#include "connector.h"

/* ---- channels ---- */

enum plx_status
plx_event_channel_create(struct plx_adapter *adapter, uint32_t depth,
			 struct plx_event_channel **channel)
{
	enum plx_status status =
		plx_link_channel_create(plx_adapter_home(adapter), adapter, depth, channel);

	if (status == PLX_OK)
		adapter->count.event_channels++;
	return status;
}

enum plx_status
plx_event_channel_destroy(struct plx_event_channel *channel)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
	enum plx_status status = plx_link_channel_destroy(channel);

	if (status == PLX_OK)
		adapter->count.event_channels--;
	return status;
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

/* Handle a peer's request: create its connector, or reject it.
 * Returns: false: no event for the program */
static bool
fill_request(struct plx_event_channel *channel, const struct plx_link_event *event,
	     struct plx_connector_event *out)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
	struct plx_listener *listener;

	pthread_mutex_lock(&adapter->lock);
	listener = plx_cookie_find(adapter, event->cookie);
	if (listener != NULL) {
		out->listener = listener;
		out->context = listener->context;
	}
	pthread_mutex_unlock(&adapter->lock);
	if (listener == NULL || connector_make(channel, &event->cm, &out->connector) != PLX_OK) {
		/* TIMEOUT: a stalled engine rejects the request when it times out. */
		(void)!plx_link_refuse_request(channel, &event->cm);
		return false;
	}
	return true;
}

/* Returns: false: its object was destroyed */
static bool
fill_other(struct plx_event_channel *channel, const struct plx_link_event *event,
	   struct plx_connector_event *out)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
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

	while (plx_link_channel_next(channel, &event)) {
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
	return plx_adapter_run(plx_link_channel_adapter(channel)) > 0 && next_event(channel, out);
}

bool
plx_event_channel_wait(struct plx_event_channel *channel, uint32_t timeout_ms,
		       struct plx_connector_event *out)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
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
		if (!adapter->inline_mode)
			sleep_on(fd, deadline - now);
		else if (adapter->options.idle == PLX_IDLE_YIELD)
			sched_yield();
	}
}

/* ---- listeners ---- */

static enum plx_status
check_listen(const struct plx_event_channel *channel, const struct plx_listen_options *options,
	     struct plx_why *why)
{
	const struct plx_adapter *adapter = plx_link_channel_adapter(channel);

	if (options->local.version != 0 && !plx_net_is_own(adapter->net[0], &options->local)) {
		plx_why_set(why,
			    "%s is no address of adapter %s; listen on one of its own, or on "
			    "all by version 0",
			    plx_address_text(&options->local).s, adapter->info.name);
		return PLX_INVALID;
	}
	if (options->port == 0) {
		plx_why_set(why, "port 0 is none; give 1 to 65535");
		return PLX_INVALID;
	}
	if (options->backlog > PLX_CM_BACKLOG_MAX) {
		plx_why_set(why, "a backlog of %u; give at most %d, or 0 for no limit of its own",
			    options->backlog, PLX_CM_BACKLOG_MAX);
		return PLX_INVALID;
	}
	if (options->ud != NULL && (adapter_of(options->ud) != adapter || !is_ud(options->ud))) {
		plx_why_set(why, "the queue pair of a UD service is a UD one of adapter %s",
			    adapter->info.name);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static enum plx_status
explain_listen(enum plx_status status, const struct plx_listen_options *options,
	       struct plx_why *why)
{
	if (status == PLX_BUSY)
		plx_why_set(why, "port %u is listened on already; choose another", options->port);
	else if (status == PLX_FULL)
		plx_why_set(why, "the adapter has %d listeners, and can have no more",
			    PLX_CM_LISTENERS_MAX);
	else if (status != PLX_OK)
		plx_why_set(why, "port %u cannot be listened on: %s", options->port,
			    plx_status_text(status));
	return status;
}

static enum plx_status
listener_make(struct plx_event_channel *channel, const struct plx_cm_listen *listen,
	      uint64_t context, struct plx_listener **out)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(channel);
	uint64_t cookie = plx_cookie_alloc(adapter, NULL);
	struct plx_listener *made;
	enum plx_status status;

	if (cookie == 0)
		return PLX_NO_MEMORY;
	status = plx_link_listener_create(channel, cookie, &made);
	if (status != PLX_OK) {
		plx_cookie_free(adapter, cookie);
		return status;
	}
	made->context = context;
	plx_cookie_set(adapter, cookie, made);
	status = plx_link_listen(made, listen);
	if (status != PLX_OK) {
		plx_cookie_free(adapter, cookie);
		plx_link_listener_free(made);
		return status;
	}
	adapter->count.listeners++;
	*out = made;
	return PLX_OK;
}

enum plx_status
plx_listen(struct plx_event_channel *channel, const struct plx_listen_options *options,
	   struct plx_listener **listener, struct plx_why *why)
{
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP,
				       .local = options->local,
				       .port = options->port,
				       .backlog = options->backlog};
	enum plx_status status = check_listen(channel, options, why);

	if (status != PLX_OK)
		return status;
	if (options->ud != NULL) {
		listen.space = PLX_PORT_SPACE_UDP;
		listen.qpn = plx_engine_qp_number(options->ud);
		listen.qkey = plx_engine_qp_config(options->ud)->qkey;
	}
	status = listener_make(channel, &listen, options->context, listener);
	return explain_listen(status, options, why);
}

enum plx_status
plx_listener_destroy(struct plx_listener *listener)
{
	struct plx_adapter *adapter = plx_link_channel_adapter(listener->channel);
	enum plx_status status = plx_link_listener_close(listener);

	if (status != PLX_OK)
		return status;
	plx_cookie_free(adapter, listener->cookie);
	plx_link_listener_free(listener);
	adapter->count.listeners--;
	return PLX_OK;
}
