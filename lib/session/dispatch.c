/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finishing pending requests: in worker mode, a thread of the session that sleeps on descriptors;
 * in inline mode, the program's own thread whenever it waits. It makes no decisions: it delivers
 * whatever is ready to its owner. It holds none of its own locks during an owner's callback. Start
 * with plx_session_turn() and plx_session_pump().
 *
 * The epoll set identifies a watch by slot and generation, never by pointer. An event of a watch
 * that has been removed has an old generation, and is dropped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum {
	EVENTS_BURST = 32,
	PUMPS_PER_ASYNC = 16, /* fetching an asynchronous event is a system call */
};

struct slot {
	struct plx_session_watch *watch; /* NULL: free */
	uint32_t generation, next_free;
};

struct plx_session_dispatch {
	struct plx_session *session;
	struct plx_session_watch channel, async;
	int epoll, doorbell; /* -1 in inline mode; the doorbell: check again, or stop */
	atomic_bool stops;
	struct plx_session_thread thread;
	uint32_t pumps;
	time_t logged_at;     /* the second in which the counted queue pairs failed, */
	uint32_t logged;      /* ... and their number */
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t idle;
	struct slot *slots;
	uint32_t size, first_free, used;
	struct plx_session_watch *busy; /* its ready() is running */
	pthread_t busy_in;
};

/* A thread that delivers events must not wait for the end of the session, which waits for it. */
static __thread unsigned int delivering;

bool
session_is_delivering(void)
{
	return delivering > 0;
}

/* ---- watches ---- */

static bool
grow(struct plx_session_dispatch *dispatch)
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

/* The lock is held. */
static bool
alloc_slot(struct plx_session_dispatch *dispatch, struct plx_session_watch *watch)
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
free_slot(struct plx_session_dispatch *dispatch, struct plx_session_watch *watch)
{
	struct slot *slot = &dispatch->slots[watch->slot];

	slot->watch = NULL;
	slot->generation++;
	slot->next_free = dispatch->first_free;
	dispatch->first_free = watch->slot;
}

enum plx_status
plx_session_watch_add(struct plx_session *session, struct plx_session_watch *watch)
{
	struct plx_session_dispatch *dispatch = session->dispatch;
	struct epoll_event event = {.events = EPOLLIN};
	enum plx_status status = PLX_OK;

	pthread_mutex_lock(&dispatch->lock);
	if (!alloc_slot(dispatch, watch))
		status = PLX_FULL;
	if (status == PLX_OK && dispatch->epoll >= 0) {
		event.data.u64 =
			(uint64_t)dispatch->slots[watch->slot].generation << 32 | watch->slot;
		if (epoll_ctl(dispatch->epoll, EPOLL_CTL_ADD, watch->fd, &event)) {
			free_slot(dispatch, watch);
			status = PLX_FULL;
		}
	}
	watch->watched = status == PLX_OK;
	pthread_mutex_unlock(&dispatch->lock);
	return status;
}

void
plx_session_watch_remove(struct plx_session *session, struct plx_session_watch *watch)
{
	struct plx_session_dispatch *dispatch = session->dispatch;

	pthread_mutex_lock(&dispatch->lock);
	if (watch->watched) {
		if (dispatch->epoll >= 0)
			(void)epoll_ctl(dispatch->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
		free_slot(dispatch, watch);
		watch->watched = false;
	}
	while (dispatch->busy == watch && !pthread_equal(dispatch->busy_in, pthread_self()))
		pthread_cond_wait(&dispatch->idle, &dispatch->lock);
	pthread_mutex_unlock(&dispatch->lock);
}

/* @param generation of the slot when it became ready; NULL: any */
static void
deliver(struct plx_session_dispatch *dispatch, uint32_t slot, const uint32_t *generation)
{
	struct plx_session_watch *watch = NULL;

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

/* ---- watches of every session ---- */

void
plx_session_deliver_locked(struct plx_session *session)
{
	struct plx_connector_event event;

	while (plx_event_channel_next(session->channel, &event)) {
		struct plx_session_subscriber *subscriber =
			(struct plx_session_subscriber *)(uintptr_t)event.context;

		if (subscriber)
			subscriber->on_event(session, subscriber, &event);
	}
}

void
plx_session_deliver_events(struct plx_session *session)
{
	pthread_mutex_lock(&session->events);
	delivering++;
	plx_session_deliver_locked(session);
	delivering--;
	pthread_mutex_unlock(&session->events);
}

static void
channel_ready(struct plx_session_watch *watch)
{
	plx_session_deliver_events(
		plx_list_entry(watch, struct plx_session_dispatch, channel)->session);
}

/* Log each failed queue pair, which no status of an interface reports. Peers can cause failures as
 * often as they can connect, so beyond a limit they are only counted. */
static void
log_failure(struct plx_session_dispatch *dispatch, const struct plx_async_event *event)
{
	char text[PLX_ASYNC_EVENT_TEXT_BYTES];
	time_t now = time(NULL);

	if (now != dispatch->logged_at) {
		if (dispatch->logged > PLX_LOG_LINES_PER_S)
			session_log(dispatch->session, "adapter %s: %u more queue pairs failed",
				    dispatch->session->name,
				    dispatch->logged - PLX_LOG_LINES_PER_S);
		dispatch->logged_at = now;
		dispatch->logged = 0;
	}
	if (dispatch->logged++ < PLX_LOG_LINES_PER_S)
		session_log(dispatch->session, "adapter %s: %s", dispatch->session->name,
			    plx_async_event_text(event, text, sizeof(text)));
}

/* Nothing happens any more. Descriptors stay watched: they are datagram sockets, which do not
 * become readable when the host's end is closed. */
static PLX_COLD void
end_with_host(struct plx_session *session)
{
	struct plx_list *queues[] = {&session->cqs, &session->srqs};
	struct plx_list *node, *after;

	session_log(session, "adapter %s: its host has gone; what is pending ends", session->name);
	atomic_store(&session->host_gone, true);
	session_linger_stop(session);
	pthread_mutex_lock(&session->events);
	if (session->hooks->host_gone)
		session->hooks->host_gone(session);
	pthread_mutex_unlock(&session->events);
	pthread_mutex_lock(&session->lock);
	for (uint32_t i = 0; i < PLX_COUNT_OF(queues); i++)
		plx_list_for_each (node, after, queues[i]) {
			struct plx_session_queue *queue =
				plx_list_entry(node, struct plx_session_queue, node);

			queue->on_host_gone(queue);
		}
	pthread_mutex_unlock(&session->lock);
}

/* An event names a queue by its id. It is delivered only if the list has a queue with that id.
 * Leaving the list requires the lock that is held here. */
static void
deliver_async_event(struct plx_session *session, const struct plx_async_event *event)
{
	const bool overrun = event->kind == PLX_EVENT_CQ_OVERRUN;
	struct plx_list *node, *after;

	if (event->kind == PLX_EVENT_FAILED)
		log_failure(session->dispatch, event); /* the connector reports it to the program */
	if (event->kind == PLX_EVENT_HOST_GONE)
		end_with_host(session);
	if (!overrun && event->kind != PLX_EVENT_SRQ_THRESHOLD)
		return;
	pthread_mutex_lock(&session->lock);
	plx_list_for_each (node, after, overrun ? &session->cqs : &session->srqs) {
		struct plx_session_queue *queue =
			plx_list_entry(node, struct plx_session_queue, node);

		if (queue->id == event->context)
			queue->on_event(queue);
	}
	pthread_mutex_unlock(&session->lock);
}

uint64_t
plx_session_queue_id(struct plx_session *session)
{
	return atomic_fetch_add(&session->next_id, 1);
}

void
plx_session_queue_add(struct plx_session *session, struct plx_list *queues,
		      struct plx_session_queue *queue)
{
	pthread_mutex_lock(&session->lock);
	plx_list_append(queues, &queue->node);
	/* end_with_host() has passed the list already, or will find it there. */
	if (plx_session_host_has_gone(session))
		queue->on_host_gone(queue);
	pthread_mutex_unlock(&session->lock);
}

void
plx_session_queue_remove(struct plx_session *session, struct plx_session_queue *queue)
{
	pthread_mutex_lock(&session->lock);
	plx_list_remove(&queue->node);
	pthread_mutex_unlock(&session->lock);
}

static void
async_ready(struct plx_session_watch *watch)
{
	struct plx_session *session =
		plx_list_entry(watch, struct plx_session_dispatch, async)->session;
	struct plx_async_event event;

	while (plx_adapter_next_async_event(session->adapter, &event))
		deliver_async_event(session, &event);
}

bool
plx_session_cpus(struct plx_session *session, cpu_set_t *cpus)
{
	if (session->inline_mode)
		return sched_getaffinity(0, sizeof(*cpus), cpus) == 0;
	return pthread_getaffinity_np(session->dispatch->thread.id, sizeof(*cpus), cpus) == 0;
}

/* ---- inline mode ---- */

void
plx_session_pump(void *context)
{
	struct plx_session *session = context;
	struct plx_session_dispatch *dispatch = session->dispatch;

	/* Already inside a pump: an owner may itself wait for something. */
	if (delivering || !session->inline_mode)
		return;
	channel_ready(&dispatch->channel); /* looking for an event runs a duty cycle */
	if (++dispatch->pumps % PUMPS_PER_ASYNC == 0)
		async_ready(&dispatch->async);
	for (uint32_t i = 0; i < dispatch->used; i++)
		if (dispatch->slots[i].watch)
			deliver(dispatch, i, NULL);
}

/* ---- worker mode ---- */

static bool
is_to_stop(struct plx_session_dispatch *dispatch)
{
	uint64_t rings;

	(void)!read(dispatch->doorbell, &rings, sizeof(rings));
	return atomic_load(&dispatch->stops);
}

static void
ring_doorbell(struct plx_session_dispatch *dispatch)
{
	const uint64_t one = 1;

	/* an eventfd with a low count never blocks */
	(void)!write(dispatch->doorbell, &one, sizeof(one));
}

void
session_dispatch_wake(struct plx_session *session)
{
	if (session->dispatch && session->dispatch->doorbell >= 0)
		ring_doorbell(session->dispatch);
}

bool
plx_session_turn(struct plx_session *session, bool may_sleep)
{
	struct plx_session_dispatch *dispatch = session->dispatch;
	struct epoll_event events[EVENTS_BURST];
	int n = epoll_wait(dispatch->epoll, events, EVENTS_BURST,
			   may_sleep ? session_deferred_wait_ms(session) : 0);

	if (n < 0 && errno != EINTR) {
		/* the set is gone: the program closes descriptors of others */
		session_log(session, "adapter %s: events cannot be waited for any more: %s",
			    session->name, strerror(errno));
		return false;
	}
	for (int i = 0; i < n; i++) {
		uint64_t name = events[i].data.u64;
		uint32_t generation = (uint32_t)(name >> 32);

		if (name == UINT64_MAX && is_to_stop(dispatch))
			return false;
		if (name != UINT64_MAX)
			deliver(dispatch, (uint32_t)name, &generation);
	}
	/* The end of the last object ends the session and waits for this thread, so another thread
	 * must do it. */
	delivering++;
	session_deferred_run(session);
	delivering--;
	return true;
}

static enum plx_status
start_thread(struct plx_session_dispatch *dispatch)
{
	struct epoll_event doorbell = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
	struct plx_session *session = dispatch->session;
	int core = session->info.dispatcher_core;
	char name[16];

	dispatch->epoll = epoll_create1(EPOLL_CLOEXEC);
	dispatch->doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dispatch->epoll < 0 || dispatch->doorbell < 0 ||
	    epoll_ctl(dispatch->epoll, EPOLL_CTL_ADD, dispatch->doorbell, &doorbell))
		return PLX_FULL;
	dispatch->channel.fd = plx_event_channel_fd(session->channel);
	dispatch->async.fd = plx_adapter_async_fd(session->adapter);
	if (plx_session_watch_add(session, &dispatch->channel) != PLX_OK ||
	    plx_session_watch_add(session, &dispatch->async) != PLX_OK)
		return PLX_FULL;
	snprintf(name, sizeof(name), "%.3s-%.11s", session->hooks->name, session->name);
	if (plx_session_thread_start(&dispatch->thread, session, name, core))
		return PLX_OK;
	if (core < 0)
		return PLX_FULL;
	session_log(session, "adapter %s: its dispatcher cannot run on dispatcher_core = %d",
		    session->name, core);
	return PLX_NO_DEVICE;
}

enum plx_status
session_dispatch_start(struct plx_session *session)
{
	struct plx_session_dispatch *dispatch = calloc(1, sizeof(*dispatch));
	enum plx_status status = PLX_OK;

	if (!dispatch)
		return PLX_NO_MEMORY;
	dispatch->session = session;
	dispatch->epoll = dispatch->doorbell = -1;
	dispatch->channel.ready = channel_ready;
	dispatch->async.ready = async_ready;
	pthread_mutex_init(&dispatch->lock, NULL);
	pthread_cond_init(&dispatch->idle, NULL);
	session->dispatch = dispatch;
	if (!session->inline_mode)
		status = start_thread(dispatch);
	if (status != PLX_OK)
		session_dispatch_stop(session);
	return status;
}

void
session_dispatch_stop(struct plx_session *session)
{
	struct plx_session_dispatch *dispatch = session->dispatch;

	if (!dispatch)
		return;
	if (dispatch->thread.running) {
		atomic_store(&dispatch->stops, true);
		ring_doorbell(dispatch);
		plx_session_thread_join(&dispatch->thread);
	}
	if (dispatch->epoll >= 0)
		close(dispatch->epoll);
	if (dispatch->doorbell >= 0)
		close(dispatch->doorbell);
	pthread_cond_destroy(&dispatch->idle);
	pthread_mutex_destroy(&dispatch->lock);
	free(dispatch->slots);
	free(dispatch);
	session->dispatch = NULL;
}
