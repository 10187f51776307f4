/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adapters as programs use them: a seat at the host that owns the device. Whether that is this
 * process is decided in plx_adapter_open(), and nowhere else.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "plx_objects.h"
#include "plx_attach.h"
#include "plx_counters.h"
#include "plx_host.h"
#include "plx_host_config.h"
#include "plx_process.h"

/* ---- what fronts ask ---- */

static int
descriptor(struct front_owner *owner, uint64_t object, int *wake_fd)
{
	struct plx_adapter *adapter = plx_list_entry(owner, struct plx_adapter, owner);
	const struct plx_ipc_object request = {{object}};
	struct plx_ipc_descriptor reply;

	if (adapter_call(adapter, PLX_IPC_DESCRIPTOR, &request, &reply, NULL) != PLX_OK)
		return -1;
	*wake_fd = reply.wake_fd;
	return reply.fd;
}

static enum plx_status
barrier(struct front_owner *owner, uint64_t object)
{
	struct plx_adapter *adapter = plx_list_entry(owner, struct plx_adapter, owner);

	return adapter_call_on(adapter, PLX_IPC_BARRIER, object);
}

/* ---- opening and closing ---- */

static void
take(struct plx_adapter *adapter, const struct plx_ipc_opened *opened)
{
	adapter->inline_mode = opened->info.mode == PLX_MODE_INLINE;
	adapter->idle = opened->info.idle;
	memcpy(adapter->name, opened->info.name, sizeof(adapter->name));
	adapter->engines = opened->engines;
	for (uint32_t i = 0; i < adapter->engines; i++) {
		const struct plx_ipc_engine *engine = &opened->engine[i];

		adapter->engine[i].doorbells = adapter_at(adapter, engine->doorbells);
		eq_open(&adapter->engine[i].async_events, adapter_at(adapter, engine->async_events),
			sizeof(struct plx_async_event), &adapter->owner, i);
		adapter->engine[i].bell = -1;
	}
}

/* What wakes the threads of engines that sleep. */
static enum plx_status
ask_for_bells(struct plx_adapter *adapter, struct plx_why *why)
{
	for (uint32_t i = 0; i < adapter->engines; i++) {
		const struct plx_ipc_object request = {{i}};
		struct plx_ipc_bell reply;
		enum plx_status status = adapter_call(adapter, PLX_IPC_BELL, &request, &reply, why);

		if (status == PLX_OK) {
			adapter->engine[i].bell = reply.fd;
		} else if (status != PLX_STATE) {
			if (status == PLX_NO_MEMORY)
				plx_why_set(why, "no descriptor to wake the worker of engine %u",
					    i);
			return status;
		}
	}
	return PLX_OK;
}

/* One descriptor for the asynchronous events of all engines, and for the end of the host. */
static enum plx_status
make_async_fd(struct plx_adapter *adapter, struct plx_why *why)
{
	const struct plx_ipc_running request = {.timeout_ms = 0};
	struct epoll_event event = {.events = EPOLLIN}, hangup = {.events = 0};
	int host_fd = adapter->seat->host_fd;
	struct plx_ipc_nothing none;
	int error = 0;

	adapter->async_fd = epoll_create1(EPOLL_CLOEXEC);
	if (adapter->async_fd < 0)
		error = errno;
	for (uint32_t i = 0; i < adapter->engines && error == 0; i++)
		if (epoll_ctl(adapter->async_fd, EPOLL_CTL_ADD,
			      eq_fd(&adapter->engine[i].async_events), &event) != 0)
			error = errno;
	if (error == 0 && host_fd >= 0 &&
	    epoll_ctl(adapter->async_fd, EPOLL_CTL_ADD, host_fd, &hangup) != 0)
		error = errno;
	if (error == 0)
		return PLX_OK;
	/* Without a host there is none either, and that is the reason then. */
	if (adapter_call(adapter, PLX_IPC_RUNNING, &request, &none, why) == PLX_GONE)
		return PLX_GONE;
	plx_why_set(why, "no descriptor for events: %s", strerror(error));
	return PLX_NO_MEMORY;
}

static enum plx_status
begin(struct plx_adapter *adapter, struct plx_why *why)
{
	const struct plx_ipc_nothing request = {0};
	struct plx_ipc_opened opened;
	enum plx_status status = adapter_call(adapter, PLX_IPC_OPEN, &request, &opened, why);

	if (status != PLX_OK)
		return status;
	take(adapter, &opened);
	status = ask_for_bells(adapter, why);
	return status == PLX_OK ? make_async_fd(adapter, why) : status;
}

static enum plx_status
end(struct plx_adapter *adapter)
{
	enum plx_status status = adapter->seat->ops->close(adapter->seat);

	if (status != PLX_OK)
		return status;
	if (adapter->async_fd >= 0)
		close(adapter->async_fd);
	for (uint32_t i = 0; i < adapter->engines; i++) {
		eq_close(&adapter->engine[i].async_events);
		if (adapter->owner.remote && adapter->engine[i].bell >= 0)
			close(adapter->engine[i].bell);
	}
	free(adapter->cookies.slot);
	pthread_mutex_destroy(&adapter->lock);
	free(adapter);
	return PLX_OK;
}

static enum plx_status
attach(const char *name, const struct plx_adapter_options *options, struct plx_seat **seat,
       struct plx_why *why)
{
	const struct plx_attach_config config = {
		.path = options->host,
		.adapter = name,
		.version = plx_version(),
		.find = plx_mem_find_shared,
		.is_alive = plx_mem_is_alive,
		.freed = plx_mem_freed,
	};

	if (options->mode != PLX_MODE_INLINE) {
		plx_mem_share();
		return plx_seat_attach(&config, seat, why);
	}
	plx_why_set(
		why,
		"adapter %s belongs to the host at %.100s, and mode \"inline\" needs one of the "
		"program's own; open it in mode \"worker\"",
		name, options->host);
	return PLX_CONFIG;
}

/* Take a seat: at the host that the options or POLLUX_HOST name, else in this process. */
static enum plx_status
sit(const char *name, const struct plx_adapter_options *given, struct plx_seat **seat,
    struct plx_why *why)
{
	struct plx_adapter_options options;
	enum plx_status status;

	if (given == NULL) {
		status = plx_adapter_options_load(name, &options, why);
	} else {
		options = *given;
		status = plx_adapter_options_attach(&options, why);
	}
	if (status != PLX_OK)
		return status;
	return options.host[0] != '\0' ? attach(name, &options, seat, why)
				       : plx_host_embed(name, &options, seat, why);
}

enum plx_status
plx_adapter_open(const char *name, const struct plx_adapter_options *options,
		 struct plx_adapter **out, struct plx_why *why)
{
	struct plx_adapter *adapter = calloc(1, sizeof(*adapter));
	enum plx_status status;

	if (adapter == NULL) {
		plx_why_set(why, "there is no memory for an adapter");
		return PLX_NO_MEMORY;
	}
	status = sit(name, options, &adapter->seat, why);
	if (status != PLX_OK) {
		free(adapter);
		return status;
	}
	pthread_mutex_init(&adapter->lock, NULL);
	adapter->async_fd = -1;
	adapter->owner = (struct front_owner){
		.descriptor = descriptor, .barrier = barrier, .remote = adapter->seat->ops->remote};
	status = begin(adapter, why);
	if (status != PLX_OK) {
		PLX_ASSERT(end(adapter) == PLX_OK);
		return status;
	}
	*out = adapter;
	return PLX_OK;
}

enum plx_status
plx_adapter_close(struct plx_adapter *adapter)
{
	return end(adapter);
}

/* ---- queries ---- */

/* A call changes nothing of the program's object. */
static struct plx_adapter *
asked(const struct plx_adapter *adapter)
{
	return (struct plx_adapter *)(uintptr_t)adapter;
}

void
plx_adapter_query(const struct plx_adapter *adapter, struct plx_adapter_info *out)
{
	const struct plx_ipc_nothing request = {0};
	struct plx_ipc_info reply = {0};

	if (adapter_call(asked(adapter), PLX_IPC_INFO, &request, &reply, NULL) == PLX_OK)
		*out = reply.info;
	else
		*out = (struct plx_adapter_info){0};
}

bool
plx_adapter_is_running(struct plx_adapter *adapter, uint32_t timeout_ms)
{
	const struct plx_ipc_running request = {timeout_ms};
	struct plx_ipc_nothing none;

	return adapter_call(adapter, PLX_IPC_RUNNING, &request, &none, NULL) == PLX_OK;
}

/* Set the values of counters whose names are known.
 * Returns: how many counters there are */
static uint32_t
set_values(const struct plx_ipc_counters *from, struct plx_counter *out, uint32_t n)
{
	for (uint32_t i = 0; i < from->count && i < n; i++)
		out[i].value = from->value[i];
	return from->count;
}

uint32_t
plx_adapter_counters(const struct plx_adapter *adapter, struct plx_counter *out, uint32_t n)
{
	const struct plx_ipc_nothing request = {0};
	struct plx_ipc_counters reply;

	if (adapter_call(asked(adapter), PLX_IPC_COUNTERS, &request, &reply, NULL) != PLX_OK)
		return 0;
	(void)plx_counter_names(reply.kinds, out, n);
	return set_values(&reply, out, n);
}

uint32_t
plx_qp_counters(const struct plx_qp *qp, struct plx_counter *out, uint32_t n)
{
	const struct plx_ipc_object request = {{qp->object}};
	struct plx_ipc_counters reply;

	if (adapter_call(adapter_of(qp), PLX_IPC_QP_COUNTERS, &request, &reply, NULL) != PLX_OK)
		return 0;
	(void)plx_qp_counter_names(out, n);
	return set_values(&reply, out, n);
}

/* ---- polling and events ---- */

uint32_t
plx_adapter_poll(struct plx_adapter *adapter)
{
	return adapter_run(adapter, 0);
}

bool
plx_adapter_prepare_thread(struct plx_adapter *adapter)
{
	return !adapter->inline_mode || adapter->seat->ops->prepare_thread();
}

/* The host has gone, and nobody has been told. */
static bool
ends(struct plx_adapter *adapter)
{
	struct pollfd host = {.fd = adapter->seat->host_fd};

	if (host.fd < 0 || atomic_load(&adapter->ended) || poll(&host, 1, 0) <= 0 ||
	    atomic_exchange(&adapter->ended, true))
		return false;
	(void)epoll_ctl(adapter->async_fd, EPOLL_CTL_DEL, host.fd, NULL);
	return true;
}

bool
plx_adapter_next_async_event(struct plx_adapter *adapter, struct plx_async_event *out)
{
	for (uint32_t i = 0; i < adapter->engines; i++) {
		if (!eq_pop(&adapter->engine[i].async_events, out))
			continue;
		if (out->kind == PLX_EVENT_FAILED)
			plx_log_async_event(adapter->name, out);
		return true;
	}
	if (!ends(adapter))
		return false;
	*out = (struct plx_async_event){.kind = PLX_EVENT_HOST_GONE};
	return true;
}

int
plx_adapter_async_fd(struct plx_adapter *adapter)
{
	return adapter->async_fd;
}
