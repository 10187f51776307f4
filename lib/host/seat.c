/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats: what a program asks about the adapter itself, and the memory that both share.
 * Start with host_open().
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct host_seat *
host_seat_alloc(struct host_adapter *adapter)
{
	struct host_seat *seat = calloc(1, sizeof(*seat));

	if (seat == NULL)
		return NULL;
	seat->adapter = adapter;
	for (uint32_t i = 0; i < PLX_ENGINES_MAX; i++)
		seat->bell[i] = -1;
	host_table_init(&seat->table);
	pthread_mutex_init(&seat->served, NULL);
	return seat;
}

void
host_seat_free(struct host_seat *seat)
{
	host_table_free(&seat->table);
	pthread_mutex_destroy(&seat->served);
	free(seat);
}

struct plx_location
host_place_of(const struct host_seat *seat, const void *front)
{
	if (seat->foreign)
		return host_front_location(seat, front);
	return (struct plx_location){.at = (uintptr_t)front};
}

void *
host_memory_at(const struct host_seat *seat, struct plx_location place, uint64_t bytes)
{
	if (seat->foreign)
		return host_arena_at(seat, place, bytes);
	/* Is it memory, with a first and a last byte? */
	if (place.segment != 0 || place.at == 0 || bytes == 0 || bytes - 1 > UINTPTR_MAX - place.at)
		return NULL;
	return (void *)(uintptr_t)place.at;
}

HOST_FN(host_close)
{
	uint32_t used;

	(void)arg;
	(void)reply;
	(void)why;
	pthread_mutex_lock(&seat->table.lock);
	used = seat->table.used;
	pthread_mutex_unlock(&seat->table.lock);
	return used > 0 ? PLX_BUSY : PLX_OK;
}

HOST_FN(host_open)
{
	struct plx_ipc_opened *opened = reply;

	(void)arg;
	(void)why;
	if (seat->foreign) {
		enum plx_status status = host_seat_begin(seat);

		if (status != PLX_OK)
			return status;
	}
	memset(opened, 0, sizeof(*opened));
	plx_host_adapter_query(seat->adapter, &opened->info);
	opened->info.seat = seat->number;
	opened->engines = seat->adapter->engines;
	for (uint32_t i = 0; i < opened->engines; i++) {
		struct seat_fronts fronts;

		plx_seat_back_fronts(seat->back[i], &fronts);
		opened->engine[i].doorbells = host_place_of(seat, fronts.doorbells);
		opened->engine[i].async_events = host_place_of(seat, fronts.async_events);
	}
	return PLX_OK;
}

HOST_FN(host_info)
{
	struct plx_ipc_info *out = reply;

	(void)arg;
	(void)why;
	plx_host_adapter_query(seat->adapter, &out->info);
	out->info.seat = seat->number;
	return PLX_OK;
}

HOST_FN(host_running)
{
	const struct plx_ipc_running *request = arg;

	(void)reply;
	(void)why;
	return plx_engines_run(seat->adapter, request->timeout_ms * PLX_MSEC);
}

HOST_FN(host_counters)
{
	struct plx_ipc_counters *out = reply;

	(void)arg;
	(void)why;
	out->count =
		plx_host_counters(seat->adapter, out->value, PLX_IPC_COUNTERS_MAX, &out->kinds);
	PLX_ASSERT(out->count <= PLX_IPC_COUNTERS_MAX);
	return PLX_OK;
}

/* ---- neighbours and echo ---- */

HOST_FN(host_resolve)
{
	const struct plx_ipc_resolve *request = arg;
	struct plx_ipc_resolved *out = reply;

	return plx_host_resolve(seat->adapter, &request->ip, request->timeout_ms, out->mac, why);
}

HOST_FN(host_ping)
{
	const struct plx_ipc_ping *request = arg;
	const struct host_ping ping = {request->ip, request->bytes, request->timeout_ms};
	struct plx_ipc_pinged *out = reply;
	enum plx_status status = plx_host_ping(seat->adapter, &ping, &out->number, why);

	/* It is on its way. */
	return status == PLX_AGAIN ? PLX_OK : status;
}

HOST_FN(host_pong)
{
	const struct plx_ipc_pong *request = arg;
	const struct host_ping ping = {request->ip, request->bytes, request->timeout_ms};
	struct plx_ipc_ponged *out = reply;

	return plx_host_pong(seat->adapter, &ping, request->number, &out->rtt_ns, why);
}

/* ---- descriptors and barriers ---- */

HOST_FN(host_descriptor)
{
	const struct plx_ipc_object *request = arg;
	const struct host_object *object = host_find_any(seat, request->object);
	struct plx_ipc_descriptor *out = reply;

	(void)why;
	if (seat->foreign)
		return host_descriptor_pair(seat, request->object, out);
	if (request->object.v < seat->adapter->engines)
		out->fd = plx_seat_back_fd(seat->back[request->object.v]);
	else if (object != NULL && object->kind == HOST_CQ)
		out->fd = plx_cq_back_fd(((const struct host_cq *)object)->back);
	else if (object != NULL && object->kind == HOST_CHANNEL)
		out->fd = plx_channel_back_fd(((const struct host_channel *)object)->back);
	else
		return PLX_NO_KEY;
	out->wake_fd = out->fd;
	return out->fd >= 0 ? PLX_OK : PLX_NO_MEMORY;
}

HOST_FN(host_bell)
{
	const struct plx_ipc_object *request = arg;
	struct plx_ipc_bell *out = reply;
	uint64_t engine = request->object.v;

	(void)why;
	if (engine >= seat->adapter->engines)
		return PLX_NO_KEY;
	if (seat->foreign)
		return host_bell_make(seat, (uint32_t)engine, out);
	out->fd = plx_engine_bell(seat->adapter->engine[engine]);
	return plx_engine_watch(seat->adapter, (uint32_t)engine, out->fd);
}

HOST_FN(host_barrier)
{
	const struct plx_ipc_object *request = arg;

	const struct host_cq *cq = host_find(seat, request->object, HOST_CQ);
	uint32_t engine;

	(void)reply;
	(void)why;
	if (cq == NULL)
		return PLX_NO_KEY;
	/* The command by which an engine gets to know it will be a barrier. */
	if (!host_cq_is_placed(seat, cq, &engine))
		return PLX_OK;
	return plx_seat_back_barrier(seat->back[engine]);
}
