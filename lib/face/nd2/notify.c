/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for a completion queue: Notify, finishing and cancelling it. The engine decides which
 * entries fire an armed queue (docs/nd2.md, Who waits for a queue); this file delivers each firing
 * to the waiters.
 *
 * `armed` says which kinds are armed in the engine and have not fired. It changes together with the
 * list of waiters, under one lock, by two rules: a kind is armed when its first waiter arrives, and
 * a firing is delivered to all waiters of that kind. So nothing fires without a waiter, which would
 * move the watermark past an entry that no one was notified of.
 * Start with notify_begin(), then deliver().
 */
#include "cq.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

struct waiter {
	struct plx_list node;
	struct plx_pending *pending;
	uint32_t kind; /* enum plx_cq_notify */
};

static const uint32_t kind_of[] = {
	[ND_CQ_NOTIFY_ERRORS] = PLX_CQ_NOTIFY_ERRORS,
	[ND_CQ_NOTIFY_ANY] = PLX_CQ_NOTIFY_ANY,
	[ND_CQ_NOTIFY_SOLICITED] = PLX_CQ_NOTIFY_SOLICITED,
};

enum {
	ALL_KINDS = PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED | PLX_CQ_NOTIFY_ERRORS,
	DISARM_YIELDS = 1000,
	DISARM_NAP_NS = 50 * 1000,
};

/* ---- with the lock held ---- */

/* Finish the waiters of some kinds, in order of arrival. Nothing is called back, and the locks
 * below are taken in this order everywhere. */
static void
finish(struct nd2_notify *notify, uint32_t kinds, HRESULT status)
{
	struct plx_list *node = notify->waiters.next;

	while (node != &notify->waiters) {
		struct waiter *waiter = plx_list_entry(node, struct waiter, node);

		node = node->next;
		if (!(waiter->kind & kinds))
			continue;
		plx_list_remove(&waiter->node);
		plx_pending_finish(waiter->pending, status, 0);
		free(waiter);
	}
}

/* Deliver kinds that have fired to their waiters. ERRORS is armed with every other kind; it fires
 * only when the queue has overrun. */
static void
deliver(struct nd2_notify *notify, uint32_t fired)
{
	notify->armed &= ~fired;
	if (fired & PLX_CQ_NOTIFY_ERRORS)
		notify->overrun = true;
	if (notify->overrun)
		finish(notify, ALL_KINDS, ND_BUFFER_OVERFLOW);
	else
		finish(notify, fired, ND_SUCCESS);
}

/* Arm what the newest waiter needs. A waiter of a kind that is armed already is finished with the
 * others. */
static void
arm(struct nd2_cq *cq, uint32_t kind)
{
	struct nd2_notify *notify = cq->notify;
	uint32_t wanted = (kind | PLX_CQ_NOTIFY_ERRORS) & ~notify->armed;
	uint32_t fired = 0;

	if (notify->overrun) {
		finish(notify, ALL_KINDS, ND_BUFFER_OVERFLOW);
		return;
	}
	if (wanted == 0)
		return;
	notify->armed |= wanted;
	/* FULL: the queue has overrun, and all kinds have fired. */
	(void)!plx_cq_arm(cq->cq, wanted, &fired);
	if (fired != 0)
		deliver(notify, fired);
}

/* Watch the descriptor from the first Notify on: a queue without waiters costs nothing. */
static HRESULT
watch(struct nd2_cq *cq)
{
	HRESULT status;

	if (cq->notify->watched)
		return ND_SUCCESS;
	if (!cq->object.adapter->session->inline_mode) {
		cq->watch.fd = plx_cq_fd(cq->cq);
		if (cq->watch.fd < 0)
			return ND_INSUFFICIENT_RESOURCES;
	}
	status = nd2_call_status(plx_session_watch_add(cq->object.adapter->session, &cq->watch));
	cq->notify->watched = status == ND_SUCCESS;
	return status;
}

static HRESULT
begin(struct nd2_cq *cq, struct waiter *waiter, OVERLAPPED *overlapped)
{
	HRESULT status = watch(cq);

	if (plx_session_host_has_gone(cq->object.adapter->session))
		status = ND_DEVICE_REMOVED;
	if (status != ND_SUCCESS)
		return status;
	waiter->pending = plx_pending_begin(&cq->object.pending, overlapped);
	if (waiter->pending == NULL)
		return plx_pending_refusal();
	plx_list_append(&cq->notify->waiters, &waiter->node);
	arm(cq, waiter->kind);
	return ND_PENDING;
}

/* ---- calls from outside ---- */

static HRESULT
wait_for(struct nd2_cq *cq, ULONG type, OVERLAPPED *overlapped)
{
	struct waiter *waiter;
	HRESULT status;

	if (type >= PLX_COUNT_OF(kind_of))
		return ND_INVALID_PARAMETER_1;
	if (overlapped == NULL)
		return ND_INVALID_PARAMETER_2;
	waiter = malloc(sizeof(*waiter));
	if (waiter == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	waiter->kind = kind_of[type];
	nd2_session_claim(cq->object.adapter->session);
	pthread_mutex_lock(&cq->notify->lock);
	status = begin(cq, waiter, overlapped);
	pthread_mutex_unlock(&cq->notify->lock);
	if (status != ND_PENDING)
		free(waiter);
	return status;
}

HRESULT STDMETHODCALLTYPE
notify_begin(IND2CompletionQueue *face, ULONG type, OVERLAPPED *overlapped)
{
	return nd2_settle(overlapped, wait_for(nd2_cq_of(face), type, overlapped));
}

void
nd2_cq_deliver_events(struct nd2_cq *cq)
{
	pthread_mutex_lock(&cq->notify->lock);
	deliver(cq->notify, plx_cq_get_event(cq->cq));
	pthread_mutex_unlock(&cq->notify->lock);
}

void
nd2_cq_overrun(struct plx_session_queue *queue)
{
	struct nd2_cq *cq = plx_list_entry(queue, struct nd2_cq, queue);

	pthread_mutex_lock(&cq->notify->lock);
	cq->notify->overrun = true;
	finish(cq->notify, ALL_KINDS, ND_BUFFER_OVERFLOW);
	pthread_mutex_unlock(&cq->notify->lock);
}

void
nd2_cq_lose_host(struct plx_session_queue *queue)
{
	struct nd2_cq *cq = plx_list_entry(queue, struct nd2_cq, queue);

	pthread_mutex_lock(&cq->notify->lock);
	cq->notify->armed = 0;
	finish(cq->notify, ALL_KINDS, ND_DEVICE_REMOVED);
	pthread_mutex_unlock(&cq->notify->lock);
}

static void
ready(struct plx_session_watch *watch)
{
	nd2_cq_deliver_events(plx_list_entry(watch, struct nd2_cq, watch));
}

/* Disarm the engine. A kind that it does not give back is firing at this moment. That cannot be
 * undone, so wait for it, which takes a few instructions of the engine, unless its process has
 * ended. Its waiters have been finished in time. */
static void
disarm(struct nd2_cq *cq)
{
	struct nd2_notify *notify = cq->notify;

	notify->armed &= ~plx_cq_disarm(cq->cq, notify->armed);
	deliver(notify, plx_cq_get_event(cq->cq));
	for (uint32_t looks = 0;
	     notify->armed != 0 && !plx_session_host_has_gone(cq->object.adapter->session);
	     looks++) {
		/* The engine may have lost its core in the middle of firing. */
		if (looks < DISARM_YIELDS)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = DISARM_NAP_NS}, NULL);
		deliver(notify, plx_cq_get_event(cq->cq));
	}
}

HRESULT STDMETHODCALLTYPE
notify_cancel(IND2CompletionQueue *face)
{
	struct nd2_cq *cq = nd2_cq_of(face);

	nd2_session_claim(cq->object.adapter->session);
	pthread_mutex_lock(&cq->notify->lock);
	disarm(cq);
	plx_pending_cancel_all(&cq->object.pending);
	finish(cq->notify, ALL_KINDS, ND_CANCELED);
	pthread_mutex_unlock(&cq->notify->lock);
	return ND_SUCCESS;
}

/* ---- lifetime ---- */

struct nd2_notify *
notify_make(struct nd2_cq *cq)
{
	struct nd2_notify *notify = calloc(1, sizeof(*notify));

	if (notify == NULL)
		return NULL;
	pthread_mutex_init(&notify->lock, NULL);
	plx_list_init(&notify->waiters);
	cq->watch = (struct plx_session_watch){.fd = -1, .ready = ready};
	return notify;
}

void
notify_free(struct nd2_notify *notify)
{
	pthread_mutex_destroy(&notify->lock);
	free(notify);
}

void
notify_close(struct nd2_cq *cq)
{
	/* First, and without the lock, because ready() takes it. */
	if (cq->notify->watched)
		plx_session_watch_remove(cq->object.adapter->session, &cq->watch);
	pthread_mutex_lock(&cq->notify->lock);
	plx_pending_list_end(&cq->object.pending, ND_CANCELED);
	finish(cq->notify, ALL_KINDS, ND_CANCELED);
	pthread_mutex_unlock(&cq->notify->lock);
}
