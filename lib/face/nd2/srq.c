/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues: creation, posting, resizing, and waiting until one runs low.
 * Posting takes no lock.
 *
 * "Low" is a level, not an event: count < threshold. The engine is armed when the first waiter
 * arrives, and raises its event at once if the queue is low already. An event may belong to an
 * earlier arming, whose waiter was cancelled or whose threshold has changed. After such an event
 * the engine is armed again. Start with notify(), then below().
 */
#include "cq.h"

#include <stdlib.h>

/* ---- posting ---- */

static PLX_HOT HRESULT STDMETHODCALLTYPE
receive(IND2SharedReceiveQueue *face, void *context, const ND2_SGE *sge, ULONG n)
{
	struct nd2_srq *srq = nd2_srq_of(face);
	/* An array of ND2_SGE is one of struct plx_sge: asserted in post.c. */
	const struct plx_recv_wr wr = {
		.wr_id = (uintptr_t)context,
		.sge = (const struct plx_sge *)(const void *)sge,
		.sges = n,
	};
	enum plx_status why;

	if (plx_unlikely(n > 0 && sge == NULL))
		return ND_INVALID_PARAMETER_2;
	if (plx_unlikely(n > srq->sges))
		return ND_DATA_OVERRUN;
	if (plx_likely(plx_post_srq_recv(srq->srq, &wr, 1, &why) == 1))
		return ND_SUCCESS;
	return why == PLX_FULL ? ND_NO_MORE_ENTRIES : nd2_call_status(why);
}

/* ---- running low: with the queue's lock held ---- */

struct waiter {
	struct plx_list node;
	struct plx_pending *pending;
};

/* Finish all waiters at once, in order of arrival. */
static void
finish_waiters(struct nd2_srq *srq, HRESULT status)
{
	while (!plx_list_empty(&srq->waiters)) {
		struct waiter *waiter = plx_list_entry(srq->waiters.next, struct waiter, node);

		plx_list_remove(&waiter->node);
		plx_pending_finish(waiter->pending, status, 0);
		free(waiter);
	}
}

/* Arm the engine, and finish at once if the queue is low already. Errors: it cannot be armed */
static HRESULT
arm(struct nd2_srq *srq)
{
	enum plx_status status;

	/* No threshold: a waiter is only notified of the end. An unreachable threshold: the queue
	 * is always below it. */
	if (srq->threshold == 0)
		return ND_SUCCESS;
	if (srq->threshold > srq->depth) {
		finish_waiters(srq, ND_SUCCESS);
		return ND_SUCCESS;
	}
	status = plx_srq_arm(srq->srq, srq->threshold);
	if (status != PLX_OK)
		return nd2_call_status(status);
	/* Armed again before it fired: the next event may belong to the earlier arming. */
	if (!srq->armed)
		srq->doubtful = false;
	srq->armed = true;
	return ND_SUCCESS;
}

/* Handle PLX_EVENT_SRQ_THRESHOLD; session->lock is held. */
static void
below(struct plx_session_queue *queue)
{
	struct nd2_srq *srq = plx_list_entry(queue, struct nd2_srq, queue);
	HRESULT status = ND_SUCCESS;

	pthread_mutex_lock(&srq->lock);
	srq->armed = false;
	if (plx_list_empty(&srq->waiters))
		srq->doubtful = false;
	else if (srq->doubtful)
		status = arm(srq);
	else
		finish_waiters(srq, ND_SUCCESS);
	if (status != ND_SUCCESS)
		finish_waiters(srq, status);
	pthread_mutex_unlock(&srq->lock);
}

static void
lose_host(struct plx_session_queue *queue)
{
	struct nd2_srq *srq = plx_list_entry(queue, struct nd2_srq, queue);

	pthread_mutex_lock(&srq->lock);
	finish_waiters(srq, ND_DEVICE_REMOVED);
	pthread_mutex_unlock(&srq->lock);
}

static HRESULT
wait_locked(struct nd2_srq *srq, struct waiter *waiter, OVERLAPPED *overlapped)
{
	HRESULT status;

	if (plx_session_host_has_gone(srq->object.adapter->session))
		return ND_DEVICE_REMOVED;
	waiter->pending = plx_pending_begin(&srq->object.pending, overlapped);
	if (waiter->pending == NULL)
		return plx_pending_refusal();
	plx_list_append(&srq->waiters, &waiter->node);
	status = srq->armed && !srq->doubtful ? ND_SUCCESS : arm(srq);
	if (status != ND_SUCCESS)
		finish_waiters(srq, status);
	return ND_PENDING;
}

static HRESULT STDMETHODCALLTYPE
notify(IND2SharedReceiveQueue *face, OVERLAPPED *overlapped)
{
	struct nd2_srq *srq = nd2_srq_of(face);
	struct waiter *waiter;
	HRESULT status;

	if (overlapped == NULL)
		return ND_INVALID_PARAMETER_1;
	waiter = malloc(sizeof(*waiter));
	status = ND_INSUFFICIENT_RESOURCES;
	if (waiter != NULL) {
		nd2_session_claim(srq->object.adapter->session);
		pthread_mutex_lock(&srq->lock);
		status = wait_locked(srq, waiter, overlapped);
		pthread_mutex_unlock(&srq->lock);
	}
	if (status != ND_PENDING)
		free(waiter);
	return nd2_settle(overlapped, status);
}

/* An event of the cancelled arming may be on its way; it must not finish a later waiter. */
static HRESULT STDMETHODCALLTYPE
cancel_overlapped_requests(IND2SharedReceiveQueue *face)
{
	struct nd2_srq *srq = nd2_srq_of(face);

	nd2_session_claim(srq->object.adapter->session);
	pthread_mutex_lock(&srq->lock);
	plx_pending_cancel_all(&srq->object.pending);
	finish_waiters(srq, ND_CANCELED);
	srq->doubtful = srq->armed;
	pthread_mutex_unlock(&srq->lock);
	return ND_SUCCESS;
}

/* ---- size ---- */

static HRESULT
modify_locked(struct nd2_srq *srq, ULONG depth, ULONG threshold)
{
	enum plx_status status;

	if (depth != 0) {
		status = plx_srq_resize(srq->srq, depth);
		if (status != PLX_OK)
			return status == PLX_BUSY ? ND_BUFFER_OVERFLOW : nd2_call_status(status);
		srq->depth = depth;
	}
	if (threshold != 0)
		srq->threshold = threshold;
	if ((depth | threshold) != 0)
		srq->doubtful = srq->armed;
	/* Waiters now wait for the new threshold, which the queue may be below already. */
	return srq->doubtful && !plx_list_empty(&srq->waiters) ? arm(srq) : ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE
modify(IND2SharedReceiveQueue *face, ULONG depth, ULONG threshold)
{
	struct nd2_srq *srq = nd2_srq_of(face);
	HRESULT status;

	if (depth > nd2_limits(srq->object.adapter->session)->MaxSharedReceiveQueueDepth)
		return ND_INVALID_PARAMETER;
	nd2_session_claim(srq->object.adapter->session);
	pthread_mutex_lock(&srq->lock);
	status = modify_locked(srq, depth, threshold);
	pthread_mutex_unlock(&srq->lock);
	return status;
}

static HRESULT STDMETHODCALLTYPE
get_notify_affinity(IND2SharedReceiveQueue *face, USHORT *group, KAFFINITY *affinity)
{
	return nd2_affinity_get(nd2_srq_of(face)->object.adapter->session, group, affinity);
}

/* ---- lifetime ---- */

static void
close_srq(struct nd2_object *object)
{
	struct nd2_srq *srq = plx_list_entry(object, struct nd2_srq, object);

	plx_session_queue_remove(srq->object.adapter->session, &srq->queue);
	pthread_mutex_lock(&srq->lock);
	plx_pending_list_end(&srq->object.pending, ND_CANCELED);
	finish_waiters(srq, ND_CANCELED);
	pthread_mutex_unlock(&srq->lock);
}

/* Never BUSY: queue pairs hold their queues. */
static enum plx_status
teardown_srq(struct plx_session_object *object)
{
	return plx_srq_destroy(plx_list_entry(object, struct nd2_srq, object.base)->srq);
}

static void
destroy_srq(struct plx_session_object *object)
{
	pthread_mutex_destroy(&plx_list_entry(object, struct nd2_srq, object.base)->lock);
	nd2_object_free(object);
}

ND2_IOVERLAPPED(srq, IND2SharedReceiveQueue);

static const IND2SharedReceiveQueueVtbl table = {
	.QueryInterface = srq_query_interface,
	.AddRef = srq_add_ref,
	.Release = srq_release,
	.CancelOverlappedRequests = cancel_overlapped_requests,
	.GetOverlappedResult = srq_get_overlapped_result,
	.GetNotifyAffinity = get_notify_affinity,
	.Modify = modify,
	.Notify = notify,
	.Receive = receive,
};

const struct nd2_kind nd2_srq_kind = {
	.table = &table,
	.iid = &IID_IND2SharedReceiveQueue,
	.bytes = sizeof(struct nd2_srq),
	.overlapped = true,
	.close = close_srq,
	.base.teardown = teardown_srq,
	.base.destroy = destroy_srq,
};

static HRESULT
make(struct nd2_srq *srq)
{
	const struct plx_session *session = srq->object.adapter->session;
	const struct plx_srq_options options = {
		.depth = srq->depth,
		.depth_max = nd2_limits(session)->MaxSharedReceiveQueueDepth,
		.sges = srq->sges,
		.context = srq->queue.id,
	};
	enum plx_status status = plx_srq_create(session->adapter, &options, &srq->srq);

	if (status == PLX_NO_MEMORY)
		return ND_INSUFFICIENT_RESOURCES;
	return nd2_call_status(status);
}

static HRESULT
check(const ND2_ADAPTER_INFO *limits, ULONG depth, ULONG sges)
{
	if (limits->MaxSharedReceiveQueueDepth == 0)
		return ND_NOT_SUPPORTED;
	if (depth == 0 || depth > limits->MaxSharedReceiveQueueDepth)
		return ND_INVALID_PARAMETER_3;
	return sges > limits->MaxReceiveSge ? ND_INVALID_PARAMETER_4 : ND_SUCCESS;
}

HRESULT
nd2_srq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE handle, ULONG depth, ULONG sges,
	       ULONG threshold, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2SharedReceiveQueue, out);
	struct nd2_srq *srq;

	if (status == ND_SUCCESS)
		status = check(nd2_limits(adapter->session), depth, sges);
	if (status != ND_SUCCESS)
		return status;
	srq = nd2_object_alloc(&nd2_srq_kind, adapter, handle, &status);
	if (srq == NULL)
		return status;
	srq->depth = depth;
	srq->queue.id = plx_session_queue_id(adapter->session);
	srq->queue.on_event = below;
	srq->queue.on_host_gone = lose_host;
	srq->sges = nd2_sges_for(sges, nd2_limits(adapter->session)->MaxReceiveSge);
	srq->threshold = threshold;
	plx_list_init(&srq->waiters);
	status = make(srq);
	if (status != ND_SUCCESS) {
		nd2_object_free(&srq->object.base);
		return status;
	}
	pthread_mutex_init(&srq->lock, NULL);
	nd2_object_init(&srq->object, adapter->session);
	plx_session_queue_add(adapter->session, &adapter->session->srqs, &srq->queue);
	*out = srq;
	return ND_SUCCESS;
}
