/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The broker from its beginning to its end, and its rounds. Start with san_broker_run().
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "broker.h"

enum {
	EVENTS = 64,
	BACKLOG = 64,
	TICK_MS = 100,     /* how late a deadline may be noticed */
	SEIZE_TICK_MS = 2, /* ... while control is being taken from a program */
	LOOK_MS = 10,      /* not more often than that: it goes through all sessions */
	CREDITS = 12,
	PAYLOAD = 32704, /* with a header eight packets of 4096 bytes */
};

static int wake = -1; /* the provider has one switch in a process, and upcalls name no broker */

uint64_t
broker_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PLX_SEC + (uint64_t)t.tv_nsec;
}

void
broker_log(const struct san_broker *broker, const char *format, ...)
{
	va_list arguments;
	char line[512];

	if (broker->options.log == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	broker->options.log(broker->options.context, line);
}

bool
broker_is_rdma(const struct san_broker *broker, const struct san_address *address)
{
	return plx_san_rules_say_rdma(broker->rule, broker->options.rules, &address->ip,
				      address->port);
}

/* ---- what it sleeps on ---- */

bool
broker_watch(struct san_broker *broker, struct watch *watch, int fd,
	     void (*ready)(struct watch *watch), void *owner)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = watch};

	*watch = (struct watch){.fd = fd, .ready = ready, .owner = owner};
	if (fd >= 0 && epoll_ctl(broker->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	watch->fd = -1;
	return false;
}

void
broker_watch_for(struct san_broker *broker, struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	(void)epoll_ctl(broker->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

void
broker_unwatch(struct san_broker *broker, struct watch *watch, bool close_it)
{
	if (watch->fd < 0)
		return;
	(void)epoll_ctl(broker->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	if (close_it)
		close(watch->fd);
	watch->fd = -1;
}

/* ---- the switch's upcalls ---- */

static SOCKET WSPAPI
create_handle(DWORD entry, DWORD_PTR context, LPINT lpErrno)
{
	(void)entry;
	(void)lpErrno;
	return context;
}

static int WSPAPI
close_handle(SOCKET s, LPINT lpErrno)
{
	(void)s;
	(void)lpErrno;
	return 0;
}

/* From the provider's thread. */
static BOOL WSPAPI
set_event(WSAEVENT event, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	return eventfd_write(wake, 1) == 0;
}

static BOOL WSPAPI
reset_event(WSAEVENT event, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	return TRUE;
}

static WSPUPCALLTABLEEX upcalls = {
	.lpWPUCreateSocketHandle = create_handle,
	.lpWPUCloseSocketHandle = close_handle,
	.lpWPUSetEvent = set_event,
	.lpWPUResetEvent = reset_event,
};

/* Which socket it is about, they do not say: all that wait for something are asked. */
static void
on_events(struct watch *watch)
{
	struct san_broker *broker = watch->owner;
	struct plx_list *node, *after;
	eventfd_t ignored;

	(void)eventfd_read(watch->fd, &ignored);
	plx_list_for_each (node, after, &broker->listeners)
		listen_on_event(plx_list_entry(node, struct listener, link));
	plx_list_for_each (node, after, &broker->sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->state == SESSION_CONNECTING)
			connect_on_event(session);
	}
}

/* ---- rounds ---- */

static void
on_time(struct san_broker *broker, uint64_t now)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->sessions)
		session_on_time(plx_list_entry(node, struct session, link), now);
	plx_list_for_each (node, after, &broker->sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->state == SESSION_OVER)
			session_free(session);
	}
	unheard_look_for_rings(broker, now);
	listen_clean(broker);
	hand_on_time(broker, now);
	plx_list_for_each (node, after, &broker->programs) {
		struct program *program = plx_list_entry(node, struct program, link);

		if (program->control.fd < 0) {
			plx_list_remove(&program->link);
			free(program);
		}
	}
}

void
san_broker_run(struct san_broker *broker, int timeout_ms)
{
	struct epoll_event event[EVENTS];
	bool ticks = !plx_list_empty(&broker->sessions) || !plx_list_empty(&broker->handed);
	int tick = broker->seizing > 0 ? SEIZE_TICK_MS : TICK_MS;
	int wait = ticks && (timeout_ms < 0 || timeout_ms > tick) ? tick : timeout_ms;
	int n = epoll_wait(broker->epoll, event, EVENTS, wait);
	uint64_t now;

	for (int i = 0; i < n; i++) {
		struct watch *watch = event[i].data.ptr;

		if (watch->fd >= 0) /* it was not ended by an event before */
			watch->ready(watch);
	}
	now = broker_now();
	if (now - broker->looked < (broker->seizing > 0 ? SEIZE_TICK_MS : LOOK_MS) * PLX_MSEC &&
	    n > 0 && !broker->has_over)
		return;
	broker->looked = now;
	broker->has_over = false;
	on_time(broker, now);
}

/* ---- from its beginning to its end ---- */

static int
listen_for_programs(const char *path, uint32_t mode)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, path, strlen(path));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		close(fd);
		errno = EADDRINUSE;
		return -1;
	}
	unlink(path);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    chmod(path, (mode_t)mode) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* For anchors: at the loopback address, any port. */
static int
listen_for_anchors(int family)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int bound;

	if (fd < 0)
		return -1;
	bound = family == AF_INET ? bind(fd, (struct sockaddr *)&v4, sizeof(v4))
				  : bind(fd, (struct sockaddr *)&v6, sizeof(v6));
	if (bound == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	close(fd);
	return -1;
}

static enum plx_status
load_provider(struct san_broker *broker, struct plx_why *why)
{
	WSAPROTOCOL_INFOW tcp = {
		.iAddressFamily = AF_INET, .iSocketType = SOCK_STREAM, .iProtocol = IPPROTO_TCP};
	WSPDATA data;

	if (WSPStartupEx(MAKEWORD(2, 2), &data, &tcp, &upcalls, &broker->call) == 0)
		return PLX_OK;
	broker->call.lpWSPCleanup = NULL;
	plx_why_set(why, "the configuration of adapters cannot be read");
	return PLX_CONFIG;
}

static enum plx_status
open_parts(struct san_broker *broker, struct plx_why *why)
{
	enum plx_status status = load_provider(broker, why);
	int programs;

	if (status != PLX_OK)
		return status;
	broker->epoll = epoll_create1(EPOLL_CLOEXEC);
	broker->anchors[0] = listen_for_anchors(AF_INET);
	broker->anchors[1] = listen_for_anchors(AF_INET6);
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (broker->epoll < 0 || broker->anchors[0] < 0 ||
	    !broker_watch(broker, &broker->events, wake, on_events, broker)) {
		plx_why_set(why, "the broker has no descriptors: %s", strerror(errno));
		return PLX_FULL;
	}
	broker->spare = eventfd(0, EFD_CLOEXEC);
	programs = listen_for_programs(broker->path, broker->options.mode);
	if (!broker_watch(broker, &broker->programs_at, programs, program_arrives, broker)) {
		plx_why_set(why, "programs cannot come to %s: %s", broker->path, strerror(errno));
		return errno == EADDRINUSE ? PLX_BUSY : PLX_INVALID;
	}
	return PLX_OK;
}

/* An adapter that cannot be used yet is tried again with each connection. */
static void
log_adapters(const struct san_broker *broker)
{
	char name[PLX_ADAPTER_NAME_MAX + 1];

	for (uint32_t i = 0; plx_sanqp_adapter_name(i, name); i++) {
		const char *why = plx_sanqp_open(i);

		if (why != NULL)
			broker_log(broker, "adapter %s cannot be used yet: %s", name, why);
	}
}

static void
init(struct san_broker *broker, const struct san_broker_options *options)
{
	broker->options = *options;
	if (broker->options.mode == 0)
		broker->options.mode = 0600;
	if (broker->options.suspend_ms == 0)
		broker->options.suspend_ms = 30000;
	if (broker->options.linger_ms == 0)
		broker->options.linger_ms = 60000;
	if (broker->options.credits == 0)
		broker->options.credits = CREDITS;
	if (broker->options.payload_bytes == 0)
		broker->options.payload_bytes = PAYLOAD;
	memcpy(broker->rule, options->rule, options->rules * sizeof(options->rule[0]));
	memcpy(broker->path, options->path, strlen(options->path) + 1);
	broker->spare = broker->epoll = broker->anchors[0] = broker->anchors[1] = -1;
	broker->programs_at.fd = broker->events.fd = -1;
	broker->processes = BROKER_PROCESS;
	plx_list_init(&broker->programs);
	plx_list_init(&broker->sessions);
	plx_list_init(&broker->listeners);
	plx_list_init(&broker->handed);
	plx_san_tokens_init(&broker->tokens);
}

enum plx_status
san_broker_open(const struct san_broker_options *options, struct san_broker **out,
		struct plx_why *why)
{
	struct san_broker *broker;
	enum plx_status status;

	if (strlen(options->path) >= sizeof(broker->path) || options->path[0] != '/' ||
	    options->rules > PLX_SAN_RULES_MAX) {
		plx_why_set(why, "the broker's socket needs an absolute path of at most %zu bytes",
			    sizeof(broker->path) - 1);
		return PLX_INVALID;
	}
	broker = calloc(1, sizeof(*broker));
	if (broker == NULL)
		return PLX_NO_MEMORY;
	init(broker, options);
	status = open_parts(broker, why);
	if (status != PLX_OK) {
		san_broker_close(broker);
		return status;
	}
	log_adapters(broker);
	*out = broker;
	return PLX_OK;
}

void
san_broker_close(struct san_broker *broker)
{
	struct plx_list *node, *after;
	int ignored;

	plx_list_for_each (node, after, &broker->listeners)
		listen_end(plx_list_entry(node, struct listener, link));
	plx_list_for_each (node, after, &broker->sessions) {
		session_end(plx_list_entry(node, struct session, link), ECONNRESET);
		session_free(plx_list_entry(node, struct session, link));
	}
	plx_list_for_each (node, after, &broker->programs)
		program_ends(plx_list_entry(node, struct program, link));
	hand_end_all(broker);
	if (broker->programs_at.fd >= 0) {
		broker_unwatch(broker, &broker->programs_at, true);
		unlink(broker->path);
	}
	on_time(broker, broker_now());
	if (broker->call.lpWSPCleanup != NULL)
		broker->call.lpWSPCleanup(&ignored);
	broker_unwatch(broker, &broker->events, true);
	for (uint32_t i = 0; i < PLX_COUNT_OF(broker->anchors); i++)
		if (broker->anchors[i] >= 0)
			close(broker->anchors[i]);
	if (broker->spare >= 0)
		close(broker->spare);
	if (broker->epoll >= 0)
		close(broker->epoll);
	free(broker);
}

void
san_broker_count(const struct san_broker *broker, struct san_broker_counts *out)
{
	*out = broker->count;
}
