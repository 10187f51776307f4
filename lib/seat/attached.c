/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The seat of a program that attached to a host in another process: each call is a message on a
 * socket, and fronts lie in segments that both map. Posting and polling go through those alone.
 * Every call ends: when the host has gone, with a status of its own; a forked child has no seat.
 * Start with plx_seat_attach(), then call().
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "plx_attach.h"
#include "plx_channel.h"

enum {
	FRONTS_MAX = 2 * PLX_IPC_ENGINES_MAX, /* of one call: two of each engine */
	/* [s] for a reply: the host waits for its engine at most twice 5 s in one call */
	REPLY_TIMEOUT_S = 20,
};

struct mapping {
	void *base;
	size_t bytes;
	uint64_t serial; /* of an arena: plx_shared.serial; 0: of fronts, or unused */
};

struct attached {
	struct plx_seat seat; /* first */
	struct plx_attach_config config;
	pthread_mutex_t lock; /* of the channel and of the table */
	int fd;
	pid_t pid; /* of the process that attached */
	uint32_t number;
	bool gone;
	bool offered_memory; /* PRIVATE_MEMORY */
	uint64_t freed;      /* blocks of memory, when dead arenas were dropped last */
	uint32_t mappings;   /* those from here on never were */
	struct mapping mapping[PLX_IPC_SEGMENTS_MAX];
	struct plx_ipc_message message;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static struct attached *
attached_of(struct plx_seat *seat)
{
	return plx_list_entry(seat, struct attached, seat);
}

/* ---- the channel; the lock is held ---- */

static enum plx_status
lost(struct attached *to, struct plx_why *why)
{
	to->gone = true;
	plx_why_set(why, "the host at %s has gone; open the adapter again when it is back",
		    to->path);
	return PLX_GONE;
}

static void
close_all(const int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
}

static bool
send_request(struct attached *to, enum plx_ipc_op op, const void *request)
{
	size_t bytes = plx_ipc_request_bytes(op);
	int32_t *member[PLX_IPC_FDS_MAX];
	int fds[PLX_IPC_FDS_MAX];
	uint32_t count;

	to->message.head = (struct plx_ipc_head){PLX_IPC_MAGIC, op, ++to->number, 0};
	memcpy(to->message.body, request, bytes);
	count = plx_ipc_request_fds(op, to->message.body, member);
	for (uint32_t i = 0; i < count; i++) {
		fds[i] = *member[i];
		*member[i] = -1;
	}
	return plx_channel_send(to->fd, &to->message, sizeof(to->message.head) + bytes, fds, count);
}

/* @param reply written when OK */
static enum plx_status
receive_reply(struct attached *to, enum plx_ipc_op op, void *reply, struct plx_why *why)
{
	int32_t *member[PLX_IPC_FDS_MAX];
	int fds[PLX_IPC_FDS_MAX];
	uint32_t count;
	ssize_t bytes = plx_channel_receive(to->fd, &to->message, fds, &count);

	if (bytes <= 0 ||
	    !plx_ipc_check_reply(&to->message, (size_t)bytes, count, op, to->number)) {
		close_all(fds, count);
		return lost(to, why);
	}
	if (to->message.head.status != PLX_OK) {
		to->message.body[sizeof(struct plx_why) - 1] = '\0';
		if (why != NULL)
			memcpy(why, to->message.body, sizeof(*why));
		return (enum plx_status)to->message.head.status;
	}
	(void)plx_ipc_reply_fds(op, to->message.body, member);
	for (uint32_t i = 0; i < count; i++)
		*member[i] = fds[i];
	memcpy(reply, to->message.body, plx_ipc_reply_bytes(op));
	return PLX_OK;
}

static enum plx_status
exchange(struct attached *to, enum plx_ipc_op op, const void *request, void *reply,
	 struct plx_why *why)
{
	if (to->pid != getpid()) {
		plx_why_set(why, "the adapter belongs to the parent of this process; open it again "
				 "here");
		return PLX_GONE;
	}
	if (to->gone || !send_request(to, op, request))
		return lost(to, why);
	return receive_reply(to, op, reply, why);
}

/* ---- segments; the lock is held ---- */

static void
count_mapping(struct attached *to, uint32_t i)
{
	if (i >= to->mappings)
		to->mappings = i + 1;
}

/* A forked child must not write to the parent's queues. */
static bool
map_segment(struct attached *to, const struct plx_ipc_segment_added *added)
{
	struct mapping *mapping;
	void *base;

	if (added->segment == 0 || added->segment >= PLX_IPC_SEGMENTS_MAX || added->fd < 0)
		return false;
	mapping = &to->mapping[added->segment];
	base = mmap(NULL, added->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, added->fd, 0);
	if (base == MAP_FAILED)
		return false;
	(void)madvise(base, added->bytes, MADV_DONTFORK);
	*mapping = (struct mapping){.base = base, .bytes = added->bytes};
	count_mapping(to, added->segment);
	return true;
}

/* Get more memory for fronts. */
static enum plx_status
add_segment(struct attached *to, struct plx_why *why)
{
	const struct plx_ipc_nothing request = {0};
	struct plx_ipc_segment_added added;
	struct plx_ipc_segment ready;
	struct plx_ipc_nothing none;
	enum plx_status status = exchange(to, PLX_IPC_SEGMENT_ADD, &request, &added, why);
	bool mapped;

	if (status != PLX_OK)
		return status;
	mapped = map_segment(to, &added);
	close(added.fd);
	if (!mapped) {
		plx_why_set(why, "no memory to map %llu bytes of the host's",
			    (unsigned long long)added.bytes);
		return PLX_NO_MEMORY;
	}
	ready = (struct plx_ipc_segment){.segment = added.segment};
	return exchange(to, PLX_IPC_SEGMENT_READY, &ready, &none, why);
}

/* Calls that place fronts. */
static bool
needs_fronts(enum plx_ipc_op op)
{
	return op == PLX_IPC_OPEN || op == PLX_IPC_CQ_CREATE || op == PLX_IPC_SRQ_CREATE ||
	       op == PLX_IPC_QP_CREATE || op == PLX_IPC_QP_IMPORT || op == PLX_IPC_CHANNEL_CREATE;
}

static bool
ends_an_object(enum plx_ipc_op op)
{
	return op == PLX_IPC_DESTROY || op == PLX_IPC_MR_DEREGISTER;
}

/* Give back arenas that the program has freed; one that is in use is tried again. */
static void
drop_dead_arenas(struct attached *to)
{
	uint64_t freed = to->config.freed();

	for (uint32_t i = 1; freed != to->freed && i < to->mappings; i++) {
		const struct plx_ipc_segment request = {.segment = i};
		struct mapping *mapping = &to->mapping[i];
		struct plx_ipc_nothing none;

		if (mapping->serial == 0 || to->config.is_alive(mapping->serial))
			continue;
		if (exchange(to, PLX_IPC_ARENA_DROP, &request, &none, NULL) == PLX_OK)
			*mapping = (struct mapping){0};
		else
			freed = to->freed;
	}
	to->freed = freed;
}

/* The segment that an arena is. 0: the host does not take it */
static uint32_t
import(struct attached *to, const struct plx_shared *shared)
{
	const struct plx_ipc_arena_import request = {.bytes = shared->bytes, .fd = shared->fd};
	struct plx_ipc_segment reply;

	for (uint32_t i = 1; i < to->mappings; i++)
		if (to->mapping[i].serial == shared->serial)
			return i;
	drop_dead_arenas(to);
	if (exchange(to, PLX_IPC_ARENA_IMPORT, &request, &reply, NULL) != PLX_OK ||
	    reply.segment >= PLX_IPC_SEGMENTS_MAX)
		return 0;
	to->mapping[reply.segment] =
		(struct mapping){.bytes = shared->bytes, .serial = shared->serial};
	count_mapping(to, reply.segment);
	return reply.segment;
}

/* ---- private memory; the lock is held ---- */

/* Is it a region of memory that no arena has, or may it become one? */
static bool
is_private(enum plx_ipc_op op, const void *request)
{
	return op == PLX_IPC_MR_PAGES || op == PLX_IPC_MR_FAST ||
	       (op == PLX_IPC_MR_REGISTER &&
		((const struct plx_ipc_mr_register *)request)->place.segment == 0);
}

/* Let the host read and write what it cannot map: once, before the first such region. If it must
 * not, or cannot, it says so when it refuses the region. */
static void
offer_memory(struct attached *to)
{
	struct plx_ipc_private_memory request = {0};
	struct plx_ipc_nothing none;

	if (to->offered_memory || to->gone || to->pid != getpid())
		return;
	to->offered_memory = true;
	request.fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (request.fd < 0)
		return;
	(void)!exchange(to, PLX_IPC_PRIVATE_MEMORY, &request, &none, NULL);
	close(request.fd);
}

/* ---- a seat ---- */

static enum plx_status
call(struct plx_seat *seat, enum plx_ipc_op op, const void *request, void *reply,
     struct plx_why *why)
{
	struct attached *to = attached_of(seat);
	enum plx_status status;

	pthread_mutex_lock(&to->lock);
	if (is_private(op, request))
		offer_memory(to);
	status = exchange(to, op, request, reply, why);
	for (uint32_t i = 0; status == PLX_NO_MEMORY && needs_fronts(op) && i < FRONTS_MAX; i++) {
		if (add_segment(to, NULL) != PLX_OK)
			break;
		status = exchange(to, op, request, reply, why);
	}
	/* It went while it gave us memory. */
	if (status == PLX_NO_MEMORY && to->gone)
		status = lost(to, why);
	/* A host that has gone has nothing of ours. */
	if (status == PLX_GONE && to->gone && ends_an_object(op))
		status = PLX_OK;
	pthread_mutex_unlock(&to->lock);
	return status;
}

static void *
at(struct plx_seat *seat, struct plx_location place)
{
	const struct attached *to = attached_of(seat);
	const struct mapping *mapping = &to->mapping[place.segment];

	PLX_ASSERT(place.segment < to->mappings && place.at < mapping->bytes);
	return (uint8_t *)mapping->base + place.at;
}

static struct plx_location
place_of(struct plx_seat *seat, const void *memory, size_t bytes)
{
	struct plx_location place = {.at = (uintptr_t)memory};
	struct attached *to = attached_of(seat);
	struct plx_shared shared;

	if (!to->config.find(memory, bytes, &shared))
		return place;
	pthread_mutex_lock(&to->lock);
	place.segment = import(to, &shared);
	pthread_mutex_unlock(&to->lock);
	if (place.segment != 0)
		place.at = (uint64_t)((const uint8_t *)memory - (const uint8_t *)shared.base);
	return place;
}

static void
find_inline(struct plx_seat *seat, struct plx_object object, struct plx_seat_inline *out)
{
	(void)seat;
	(void)object;
	*out = (struct plx_seat_inline){0};
}

static uint32_t
run(struct plx_seat *seat, uint32_t engine)
{
	(void)seat;
	(void)engine;
	return 0;
}

static void
free_attached(struct attached *to)
{
	for (uint32_t i = 1; i < to->mappings; i++)
		if (to->mapping[i].base != NULL && to->pid == getpid())
			munmap(to->mapping[i].base, to->mapping[i].bytes);
	if (to->fd >= 0)
		close(to->fd);
	pthread_mutex_destroy(&to->lock);
	free(to);
}

static enum plx_status
close_seat(struct plx_seat *seat)
{
	const struct plx_ipc_nothing request = {0};
	struct attached *to = attached_of(seat);
	struct plx_ipc_nothing none;
	enum plx_status status = call(seat, PLX_IPC_CLOSE, &request, &none, NULL);

	if (status != PLX_OK && status != PLX_GONE)
		return status;
	free_attached(to);
	return PLX_OK;
}

static const struct plx_seat_ops ops = {
	.call = call,
	.at = at,
	.place = place_of,
	.find_inline = find_inline,
	.run = run,
	.close = close_seat,
	.remote = true,
};

/* ---- attaching ---- */

static enum plx_status
connect_to(struct attached *to, struct plx_why *why)
{
	const struct timeval limit = {.tv_sec = REPLY_TIMEOUT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, to->path, sizeof(address.sun_path));
	to->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (to->fd < 0 || setsockopt(to->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
	    setsockopt(to->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
	    connect(to->fd, (void *)&address, sizeof(address)) != 0) {
		plx_why_set(why,
			    "no host listens at %s (%s); start polluxd, or correct `host` or "
			    "POLLUX_HOST",
			    to->path, strerror(errno));
		return PLX_NO_DEVICE;
	}
	return PLX_OK;
}

static enum plx_status
introduce(struct attached *to, struct plx_why *why)
{
	struct plx_ipc_attach request = {0};
	struct plx_ipc_nothing none;
	enum plx_status status;

	/* Whoever has a descriptor of a namespace is in it, or has been let in. */
	request.net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (request.net < 0) {
		plx_why_set(why, "the program's network namespace is not known: %s",
			    strerror(errno));
		return PLX_NO_DEVICE;
	}
	strncpy(request.version, to->config.version, sizeof(request.version) - 1);
	strncpy(request.adapter, to->config.adapter, sizeof(request.adapter) - 1);
	status = exchange(to, PLX_IPC_ATTACH, &request, &none, why);
	close(request.net);
	return status == PLX_OK ? add_segment(to, why) : status;
}

enum plx_status
plx_seat_attach(const struct plx_attach_config *config, struct plx_seat **out, struct plx_why *why)
{
	struct attached *to;
	enum plx_status status;

	if (strlen(config->path) >= sizeof(to->path)) {
		plx_why_set(why, "the path of the host's socket has %zu bytes; give at most %zu",
			    strlen(config->path), sizeof(to->path) - 1);
		return PLX_INVALID;
	}
	to = calloc(1, sizeof(*to));
	if (to == NULL)
		return PLX_NO_MEMORY;
	to->config = *config;
	to->pid = getpid();
	strcpy(to->path, config->path);
	to->fd = -1;
	pthread_mutex_init(&to->lock, NULL);
	status = connect_to(to, why);
	if (status == PLX_OK)
		status = introduce(to, why);
	if (status != PLX_OK) {
		free_attached(to);
		return status;
	}
	to->seat.ops = &ops;
	to->seat.host_fd = to->fd;
	*out = &to->seat;
	return PLX_OK;
}
