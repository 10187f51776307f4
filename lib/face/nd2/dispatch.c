/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who finishes what pends: a thread of the port that sleeps on descriptors, or, in inline mode, the
 * client's own thread whenever it waits.
 * It decides nothing: what has become ready is told to its owner. It never holds a lock of its own
 * while an owner runs. Start with dispatch_main(), and nd2_port_pump().
 *
 * A watch is known to the epoll set by slot and generation, never by pointer: an event of a watch
 * that was removed meanwhile finds another generation, and is dropped.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "nd2.h"

enum {
	EVENTS_BURST = 32,
	PUMPS_PER_ASYNC = 16, /* asking for an asynchronous event is a system call */
};

struct slot {
	struct nd2_watch *watch; /* NULL: free */
	uint32_t generation, next_free;
};

struct nd2_dispatch {
	struct nd2_port *port;
	struct nd2_watch channel, async;
	int epoll, bell; /* -1 in inline mode; the bell rings to look again, or to stop */
	atomic_bool stops;
	pthread_t thread;
	bool running;
	uint32_t pumps;
	time_t said_at;       /* the second in which queue pairs failed, */
	uint32_t said;        /* ... and how many */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t idle;
	struct slot *slots;
	uint32_t size, first_free, used;
	struct nd2_watch *busy; /* its ready() runs */
	pthread_t busy_in;
};

/* A thread that delivers events must not wait for the port's end: it is part of it. */
static __thread unsigned int delivering;

bool
nd2_delivering(void)
{
	return delivering > 0;
}

/* ---- watches ----------------------------------------------------------------------------------
 */

static bool
grow(struct nd2_dispatch *dispatch)
{
	uint32_t size = dispatch->size ? dispatch->size * 2 : 16;
	struct slot *more = realloc(dispatch->slots, size * sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = dispatch->size; i < size; i++)
		more[i] = (struct slot){.next_free = i + 1};
	dispatch->slots = more;
	dispatch->size = size;
	return true;
}

/* Under the lock. */
static bool
give_slot(struct nd2_dispatch *dispatch, struct nd2_watch *watch)
{
	if (dispatch->first_free == dispatch->size && !grow(dispatch))
		return false;
	watch->slot = dispatch->first_free;
	dispatch->first_free = dispatch->slots[watch->slot].next_free;
	dispatch->slots[watch->slot].watch = watch;
	if (dispatch->used <= watch->slot)
		dispatch->used = watch->slot + 1;
	return true;
}

static void
take_slot(struct nd2_dispatch *dispatch, struct nd2_watch *watch)
{
	struct slot *slot = &dispatch->slots[watch->slot];

	slot->watch = NULL;
	slot->generation++;
	slot->next_free = dispatch->first_free;
	dispatch->first_free = watch->slot;
}

HRESULT
nd2_watch_add(struct nd2_port *port, struct nd2_watch *watch)
{
	struct nd2_dispatch *dispatch = port->dispatch;
	struct epoll_event event = {.events = EPOLLIN};
	HRESULT status = ND_SUCCESS;

	pthread_mutex_lock(&dispatch->lock);
	if (!give_slot(dispatch, watch))
		status = ND_INSUFFICIENT_RESOURCES;
	if (status == ND_SUCCESS && dispatch->epoll >= 0) {
		event.data.u64 =
			(uint64_t)dispatch->slots[watch->slot].generation << 32 | watch->slot;
		if (epoll_ctl(dispatch->epoll, EPOLL_CTL_ADD, watch->fd, &event)) {
			take_slot(dispatch, watch);
			status = ND_INSUFFICIENT_RESOURCES;
		}
	}
	watch->watched = status == ND_SUCCESS;
	pthread_mutex_unlock(&dispatch->lock);
	return status;
}

void
nd2_watch_remove(struct nd2_port *port, struct nd2_watch *watch)
{
	struct nd2_dispatch *dispatch = port->dispatch;

	pthread_mutex_lock(&dispatch->lock);
	if (watch->watched) {
		if (dispatch->epoll >= 0)
			(void)epoll_ctl(dispatch->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
		take_slot(dispatch, watch);
		watch->watched = false;
	}
	while (dispatch->busy == watch && !pthread_equal(dispatch->busy_in, pthread_self()))
		pthread_cond_wait(&dispatch->idle, &dispatch->lock);
	pthread_mutex_unlock(&dispatch->lock);
}

/* @param generation of the slot, when the readiness was seen; NULL: whoever is there */
static void
tell(struct nd2_dispatch *dispatch, uint32_t slot, const uint32_t *generation)
{
	struct nd2_watch *watch = NULL;

	pthread_mutex_lock(&dispatch->lock);
	if (slot < dispatch->size &&
	    (!generation || dispatch->slots[slot].generation == *generation))
		watch = dispatch->slots[slot].watch;
	dispatch->busy = watch;
	dispatch->busy_in = pthread_self();
	pthread_mutex_unlock(&dispatch->lock);
	if (!watch)
		return;
	delivering++;
	watch->ready(watch);
	delivering--;
	pthread_mutex_lock(&dispatch->lock);
	dispatch->busy = NULL;
	pthread_cond_broadcast(&dispatch->idle);
	pthread_mutex_unlock(&dispatch->lock);
}

/* ---- what every port has ----------------------------------------------------------------------
 */

void
nd2_port_events(struct nd2_port *port)
{
	struct plx_channel_event event;

	pthread_mutex_lock(&port->events);
	delivering++;
	while (plx_channel_next(port->channel, &event))
		nd2_connection_event(port, &event);
	delivering--;
	pthread_mutex_unlock(&port->events);
}

static void
channel_ready(struct nd2_watch *watch)
{
	nd2_port_events(plx_list_entry(watch, struct nd2_dispatch, channel)->port);
}

/* Once for each queue pair that dies: what no status of ND2 tells. Peers can bring it about as
 * often as they connect, so that some are only counted. */
static void
say_why(struct nd2_dispatch *dispatch, const struct plx_async *async)
{
	char text[PLX_ASYNC_TEXT_BYTES];
	time_t now = time(NULL);

	if (now != dispatch->said_at) {
		if (dispatch->said > PLX_LOG_LINES_PER_S)
			nd2_say("adapter %s: %u more queue pairs failed", dispatch->port->name,
				dispatch->said - PLX_LOG_LINES_PER_S);
		dispatch->said_at = now;
		dispatch->said = 0;
	}
	if (dispatch->said++ < PLX_LOG_LINES_PER_S)
		nd2_say("adapter %s: %s", dispatch->port->name,
			plx_async_text(async, text, sizeof(text)));
}

/* An event names a queue by its id: it is told only if one of that id is in the list, under the
 * lock that it needs to leave it. */
static void
tell_async(struct nd2_port *port, const struct plx_async *async)
{
	const bool overrun = async->kind == PLX_EVENT_CQ_OVERRUN;
	struct plx_list *node, *after;

	if (async->kind == PLX_EVENT_FAILED)
		say_why(port->dispatch, async); /* the program is told by its connection */
	if (!overrun && async->kind != PLX_EVENT_SRQ_THRESHOLD)
		return;
	pthread_mutex_lock(&port->lock);
	plx_list_for_each (node, after, overrun ? &port->cqs : &port->srqs) {
		struct nd2_cq *cq = plx_list_entry(node, struct nd2_cq, node);
		struct nd2_srq *srq = plx_list_entry(node, struct nd2_srq, node);

		if (overrun && cq->id == async->context)
			nd2_cq_overrun(cq);
		if (!overrun && srq->id == async->context)
			nd2_srq_below(srq);
	}
	pthread_mutex_unlock(&port->lock);
}

static void
async_ready(struct nd2_watch *watch)
{
	struct nd2_port *port = plx_list_entry(watch, struct nd2_dispatch, async)->port;
	struct plx_async async;

	while (plx_adapter_next_async(port->adapter, &async))
		tell_async(port, &async);
}

bool
nd2_dispatch_cpus(struct nd2_port *port, cpu_set_t *cpus)
{
	if (port->inline_mode)
		return sched_getaffinity(0, sizeof(*cpus), cpus) == 0;
	return pthread_getaffinity_np(port->dispatch->thread, sizeof(*cpus), cpus) == 0;
}

/* ---- inline mode ------------------------------------------------------------------------------
 */

void
nd2_port_pump(void *context)
{
	struct nd2_port *port = context;
	struct nd2_dispatch *dispatch = port->dispatch;

	/* Inside a pump already: what is told to an owner may wait for something itself. */
	if (delivering || !port->inline_mode)
		return;
	channel_ready(&dispatch->channel); /* looking for an event is a duty cycle */
	if (++dispatch->pumps % PUMPS_PER_ASYNC == 0)
		async_ready(&dispatch->async);
	for (uint32_t i = 0; i < dispatch->used; i++)
		if (dispatch->slots[i].watch)
			tell(dispatch, i, NULL);
}

/* ---- worker mode ------------------------------------------------------------------------------
 */

static bool
is_to_stop(struct nd2_dispatch *dispatch)
{
	uint64_t rings;

	(void)!read(dispatch->bell, &rings, sizeof(rings));
	return atomic_load(&dispatch->stops);
}

static void
ring(struct nd2_dispatch *dispatch)
{
	const uint64_t one = 1;

	/* an eventfd that has few takes one more */
	(void)!write(dispatch->bell, &one, sizeof(one));
}

void
nd2_dispatch_wake(struct nd2_port *port)
{
	if (port->dispatch && port->dispatch->bell >= 0)
		ring(port->dispatch);
}

static void *
dispatch_main(void *context)
{
	struct nd2_dispatch *dispatch = context;
	struct epoll_event events[EVENTS_BURST];

	for (;;) {
		int n = epoll_wait(dispatch->epoll, events, EVENTS_BURST,
				   nd2_left_wait_ms(dispatch->port));

		if (n < 0 && errno != EINTR)
			break; /* the set itself is gone: somebody closes descriptors of others */
		for (int i = 0; i < n; i++) {
			uint64_t name = events[i].data.u64;
			uint32_t generation = (uint32_t)(name >> 32);

			if (name == UINT64_MAX && is_to_stop(dispatch))
				return NULL;
			if (name != UINT64_MAX)
				tell(dispatch, (uint32_t)name, &generation);
		}
		/* The last object's end ends the port, which waits for this thread: elsewhere. */
		delivering++;
		nd2_left_finish(dispatch->port);
		delivering--;
	}
	nd2_say("adapter %s: events cannot be waited for any more: %s", dispatch->port->name,
		strerror(errno));
	return NULL;
}

static HRESULT
start_thread(struct nd2_dispatch *dispatch)
{
	struct epoll_event bell = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
	struct nd2_port *port = dispatch->port;
	sigset_t all, old;
	char name[16];
	int failed;

	dispatch->epoll = epoll_create1(EPOLL_CLOEXEC);
	dispatch->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dispatch->epoll < 0 || dispatch->bell < 0 ||
	    epoll_ctl(dispatch->epoll, EPOLL_CTL_ADD, dispatch->bell, &bell))
		return ND_INSUFFICIENT_RESOURCES;
	dispatch->channel.fd = plx_channel_fd(port->channel);
	dispatch->async.fd = plx_adapter_async_fd(port->adapter);
	if (nd2_watch_add(port, &dispatch->channel) != ND_SUCCESS ||
	    nd2_watch_add(port, &dispatch->async) != ND_SUCCESS)
		return ND_INSUFFICIENT_RESOURCES;
	/* Signals are for the client's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&dispatch->thread, NULL, dispatch_main, dispatch);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return ND_INSUFFICIENT_RESOURCES;
	dispatch->running = true;
	snprintf(name, sizeof(name), "nd2-%.11s", port->name);
	(void)pthread_setname_np(dispatch->thread, name);
	return ND_SUCCESS;
}

HRESULT
nd2_dispatch_start(struct nd2_port *port)
{
	struct nd2_dispatch *dispatch = calloc(1, sizeof(*dispatch));
	HRESULT status = ND_SUCCESS;

	if (!dispatch)
		return ND_NO_MEMORY;
	dispatch->port = port;
	dispatch->epoll = dispatch->bell = -1;
	dispatch->channel.ready = channel_ready;
	dispatch->async.ready = async_ready;
	pthread_mutex_init(&dispatch->lock, NULL);
	pthread_cond_init(&dispatch->idle, NULL);
	port->dispatch = dispatch;
	if (!port->inline_mode)
		status = start_thread(dispatch);
	else if ((port->pump = plx_pump_add(nd2_port_pump, port)) == NULL)
		status = ND_INSUFFICIENT_RESOURCES;
	else
		dispatch->running = true;
	if (status != ND_SUCCESS)
		nd2_dispatch_stop(port);
	return status;
}

void
nd2_dispatch_stop(struct nd2_port *port)
{
	struct nd2_dispatch *dispatch = port->dispatch;

	if (!dispatch)
		return;
	if (dispatch->running && port->inline_mode) {
		plx_pump_remove(nd2_port_pump, port);
		port->pump = NULL;
	} else if (dispatch->running) {
		atomic_store(&dispatch->stops, true);
		ring(dispatch);
		pthread_join(dispatch->thread, NULL);
	}
	if (dispatch->epoll >= 0)
		close(dispatch->epoll);
	if (dispatch->bell >= 0)
		close(dispatch->bell);
	pthread_cond_destroy(&dispatch->idle);
	pthread_mutex_destroy(&dispatch->lock);
	free(dispatch->slots);
	free(dispatch);
	port->dispatch = NULL;
}
