/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats of programs in other processes: the memory that they share with the host, and their end.
 * Nothing that such a program says is believed. Start with host_seat_attach() and host_seat_end().
 */
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host.h"

/* ---- memory ---- */

static void *
alloc_front(struct front_memory *memory, size_t bytes)
{
	struct host_seat *seat = plx_list_entry(memory, struct host_seat, memory);

	for (uint32_t i = 1; i < seat->segments; i++) {
		struct segment *segment = &seat->segment[i];
		void *front = NULL;

		if (segment->ready && !segment->arena)
			front = segment_alloc(segment, bytes);
		if (front != NULL)
			return front;
	}
	seat->missing = bytes;
	return NULL;
}

/* The segment that has an address. */
static uint32_t
segment_of(const struct host_seat *seat, const void *memory)
{
	for (uint32_t i = 1; i < seat->segments; i++) {
		const struct segment *segment = &seat->segment[i];
		size_t at = (size_t)((const uint8_t *)memory - segment->base);

		if (segment->base != NULL && at < segment->bytes)
			return i;
	}
	PLX_ASSERT(false);
	return 0;
}

static void
free_front(struct front_memory *memory, void *front)
{
	struct host_seat *seat = plx_list_entry(memory, struct host_seat, memory);

	segment_free(&seat->segment[segment_of(seat, front)], front);
}

struct plx_location
host_front_location(const struct host_seat *seat, const void *front)
{
	uint32_t i = segment_of(seat, front);
	size_t at = (size_t)((const uint8_t *)front - seat->segment[i].base);

	return (struct plx_location){.segment = i, .at = at};
}

void *
host_arena_at(const struct host_seat *seat, struct plx_location place, uint64_t bytes)
{
	const struct segment *segment;

	if (place.segment == 0 || place.segment >= seat->segments || bytes == 0)
		return NULL;
	segment = &seat->segment[place.segment];
	if (!segment->arena || !segment_holds(segment, place.at, bytes))
		return NULL;
	return segment->base + place.at;
}

/* 0: none is free */
static uint32_t
free_segment(const struct host_seat *seat)
{
	uint32_t i = 1;

	while (i < seat->segments && seat->segment[i].base != NULL)
		i++;
	return i < PLX_IPC_SEGMENTS_MAX ? i : 0;
}

static void
count_segment(struct host_seat *seat, uint32_t i)
{
	seat->used[PLX_HOST_MEMORY] += seat->segment[i].bytes;
	if (i >= seat->segments)
		seat->segments = i + 1;
}

HOST_FN(host_segment_add)
{
	struct plx_ipc_segment_added *added = reply;
	uint32_t i = free_segment(seat);
	enum plx_status status;

	(void)arg;
	if (!seat->foreign)
		return PLX_INVALID;
	/* It was not for want of a segment. The first is for the seat itself. */
	if (seat->missing == 0 && i != 1)
		return PLX_NO_MEMORY;
	if (i == 0) {
		plx_why_set(why, "the program has all of its %d segments; destroy queues",
			    PLX_IPC_SEGMENTS_MAX - 1);
		return PLX_FULL;
	}
	status = host_quota(seat, PLX_HOST_MEMORY, segment_bytes(seat->missing), why);
	if (status == PLX_OK)
		status = segment_create(&seat->segment[i], seat->missing);
	if (status != PLX_OK)
		return status;
	count_segment(seat, i);
	added->segment = i;
	added->bytes = seat->segment[i].bytes;
	added->fd = dup(seat->segment[i].fd);
	seat->missing = 0;
	return PLX_OK;
}

HOST_FN(host_segment_ready)
{
	const struct plx_ipc_segment *request = arg;

	(void)reply;
	(void)why;
	if (!seat->foreign || request->segment >= seat->segments ||
	    seat->segment[request->segment].base == NULL)
		return PLX_INVALID;
	segment_seal(&seat->segment[request->segment]);
	return PLX_OK;
}

HOST_FN(host_arena_import)
{
	const struct plx_ipc_arena_import *request = arg;
	struct plx_ipc_segment *imported = reply;
	uint32_t i = free_segment(seat);
	enum plx_status status;

	if (!seat->foreign)
		return PLX_INVALID;
	if (i == 0) {
		plx_why_set(why, "the program has all of its %d segments; free memory",
			    PLX_IPC_SEGMENTS_MAX - 1);
		return PLX_FULL;
	}
	status = host_quota(seat, PLX_HOST_MEMORY, request->bytes, why);
	if (status == PLX_OK)
		status = segment_import(&seat->segment[i], &seat->who, request->fd, request->bytes,
					why);
	if (status != PLX_OK)
		return status;
	count_segment(seat, i);
	imported->segment = i;
	return PLX_OK;
}

HOST_FN(host_arena_drop)
{
	const struct plx_ipc_segment *request = arg;
	struct segment *segment;

	(void)reply;
	(void)why;
	if (!seat->foreign || request->segment >= seat->segments)
		return PLX_INVALID;
	segment = &seat->segment[request->segment];
	if (segment->base == NULL || !segment->arena)
		return PLX_INVALID;
	if (segment->users > 0)
		return PLX_BUSY;
	seat->used[PLX_HOST_MEMORY] -= segment->bytes;
	segment_destroy(segment);
	return PLX_OK;
}

HOST_FN(host_private_memory)
{
	const struct plx_ipc_private_memory *request = arg;
	enum plx_status status;

	(void)reply;
	if (!seat->foreign)
		return PLX_INVALID;
	/* The engines' halves begin with OPEN. */
	if (seat->back[0] == NULL || seat->private_memory != NULL)
		return PLX_STATE;
	status = private_begin(request->fd, seat->back, seat->adapter->engines,
			       &seat->private_memory, why);
	seat->has_private_memory = status == PLX_OK;
	return status;
}

/* ---- descriptors ---- */

/* Give the engine's half of an object what wakes its program.
 * Returns: false: it has one */
static bool
set_fd(struct host_seat *seat, struct plx_object number, int fd)
{
	struct host_object *object = host_find_any(seat, number);

	if (number.v < seat->adapter->engines)
		return plx_seat_back_set_fd(seat->back[number.v], fd);
	if (object->kind == HOST_CQ)
		return plx_cq_back_set_fd(((struct host_cq *)object)->back, fd);
	return plx_channel_back_set_fd(((struct host_channel *)object)->back, fd);
}

enum plx_status
host_descriptor_pair(struct host_seat *seat, struct plx_object number,
		     struct plx_ipc_descriptor *out)
{
	const struct host_object *object = host_find_any(seat, number);
	int ours, theirs;

	if (number.v >= seat->adapter->engines &&
	    (object == NULL || (object->kind != HOST_CQ && object->kind != HOST_CHANNEL)))
		return PLX_NO_KEY;
	if (!waker_open(seat->waker, &ours, &theirs))
		return PLX_NO_MEMORY;
	if (!set_fd(seat, number, ours)) {
		close(ours);
		close(theirs);
		return PLX_STATE;
	}
	out->fd = theirs;
	out->wake_fd = dup(ours);
	return PLX_OK;
}

/* ---- bells ---- */

/* It is this program's alone: what it does to it, no other notices. */
enum plx_status
host_bell_make(struct host_seat *seat, uint32_t engine, struct plx_ipc_bell *out)
{
	enum plx_status status;
	int bell;

	if (seat->bell[engine] >= 0)
		return PLX_STATE;
	bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (bell < 0)
		return PLX_NO_MEMORY;
	status = plx_engine_watch(seat->adapter, engine, bell);
	if (status != PLX_OK) {
		close(bell);
		return status;
	}
	seat->bell[engine] = bell;
	out->fd = dup(bell);
	return PLX_OK;
}

/* The program may have it still; it wakes nobody any more. */
static void
bell_end(struct host_seat *seat, uint32_t engine)
{
	if (seat->bell[engine] < 0)
		return;
	plx_engine_unwatch(seat->adapter, engine, seat->bell[engine]);
	close(seat->bell[engine]);
	seat->bell[engine] = -1;
}

/* ---- the beginning and the end ---- */

/* The engines' halves, once there is memory for their fronts. */
enum plx_status
host_seat_begin(struct host_seat *seat)
{
	const struct seat_config config = {.memory = &seat->memory, .waker = waker_of(seat->waker)};
	enum plx_status status = PLX_OK;

	for (uint32_t i = 0; i < seat->adapter->engines && status == PLX_OK; i++)
		if (seat->back[i] == NULL)
			status = plx_seat_back_create(seat->adapter->engine[i], &config,
						      &seat->back[i]);
	return status;
}

enum plx_status
host_seat_attach(const struct seat_terms *terms, struct host_seat **out)
{
	struct host_seat *seat = host_seat_alloc(terms->adapter);

	if (seat == NULL)
		return PLX_NO_MEMORY;
	seat->segment = calloc(PLX_IPC_SEGMENTS_MAX, sizeof(*seat->segment));
	if (seat->segment == NULL) {
		host_seat_free(seat);
		return PLX_NO_MEMORY;
	}
	seat->segments = 1;
	seat->foreign = true;
	seat->number = terms->number;
	seat->parking = terms->parking;
	seat->stop_fd = terms->stop_fd;
	seat->rights = terms->rights;
	seat->who = *terms->who;
	seat->who.group = NULL; /* judged already; it is the caller's */
	seat->who.groups = 0;
	seat->waker = terms->waker;
	seat->memory =
		(struct front_memory){.alloc = alloc_front, .free = free_front, .socket = -1};
	*out = seat;
	return PLX_OK;
}

bool
host_stops(const struct host_seat *seat)
{
	struct pollfd stop = {.fd = seat->stop_fd, .events = POLLIN};

	return poll(&stop, 1, 0) > 0;
}

/* An engine that does not run is waited for: it has these objects in its hands. */
static void
end_all(struct host_seat *seat, const enum host_kind *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		while (!host_destroy_all(seat, kinds[i]))
			host_pause();
}

/* Users first. Connectors are the first of all: their peers are told, and their queue pairs do
 * nothing any more. Those that linger have memory and completion queues, and their connectors a
 * channel. */
static const enum host_kind first_to_end[] = {
	HOST_CONNECTOR,
	HOST_LISTENER,
	HOST_QP,
	HOST_AH,
};
static const enum host_kind then_to_end[] = {
	HOST_CONNECTOR,
	HOST_CHANNEL,
	HOST_QP,
};
/* What peers may still READ while an exported queue pair is waited for. */
static const enum host_kind last_to_end[] = {
	HOST_MW, HOST_MR, HOST_SRQ, HOST_CQ, HOST_PD,
};

void
host_seat_end(struct host_seat *seat)
{
	pthread_mutex_lock(&seat->served);
	host_linger_begin(seat);
	end_all(seat, first_to_end, PLX_COUNT_OF(first_to_end));
	pthread_mutex_unlock(&seat->served);
	host_linger_end(seat);
	end_all(seat, then_to_end, PLX_COUNT_OF(then_to_end));
	host_exports_end(seat);
	end_all(seat, last_to_end, PLX_COUNT_OF(last_to_end));
	for (uint32_t i = 0; i < seat->adapter->engines; i++) {
		bell_end(seat, i);
		while (seat->back[i] != NULL && plx_seat_back_destroy(seat->back[i]) != PLX_OK)
			host_pause();
	}
	private_end(seat->private_memory);
	for (uint32_t i = 1; i < seat->segments; i++)
		segment_destroy(&seat->segment[i]);
	free(seat->segment);
	host_seat_free(seat);
}
