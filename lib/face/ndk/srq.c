/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_SRQ: a shared receive queue, and its one callback for each arming. Start with
 * ndk_create_srq().
 */
#include <ntstatus.h>

#include "ndk.h"

/* ---- the callback ---- */

static void
call(struct ndk_task *task)
{
	struct ndk_srq *srq = plx_list_entry(task, struct ndk_srq, task);
	KIRQL old;

	if (!ndk_hold(&srq->object))
		return;
	old = ndk_callback_begin();
	srq->notify(srq->notify_context, plx_session_host_has_gone(ndk_session_for(&srq->object))
						 ? STATUS_DEVICE_REMOVED
						 : STATUS_SUCCESS);
	ndk_callback_end("NdkSrqNotificationCallback", old);
	ndk_release(&srq->object);
}

/* session->lock is held. An event of an arming that a later one has replaced tells the same. */
static void
below(struct plx_session_queue *queue)
{
	struct ndk_srq *srq = plx_list_entry(queue, struct ndk_srq, queue);

	if (srq->notify != NULL && atomic_exchange(&srq->armed, false))
		ndk_post(ndk_dispatcher_of(&srq->object), &srq->task);
}

/* ---- the table ---- */

static enum plx_status
modify(struct ndk_srq *srq, ULONG depth, ULONG threshold)
{
	enum plx_status status = depth != 0 ? plx_srq_resize(srq->srq, depth) : PLX_OK;

	if (status != PLX_OK || threshold == 0)
		return status;
	/* before the arm, which may raise the event at once */
	atomic_store(&srq->armed, true);
	return plx_srq_arm(srq->srq, threshold);
}

static NTSTATUS
run_modify(struct ndk_request *request)
{
	struct ndk_srq *srq = plx_list_entry(request->object, struct ndk_srq, object);
	enum plx_status status = modify(srq, request->depth, request->threshold);

	return status == PLX_BUSY ? STATUS_BUFFER_OVERFLOW : ndk_call_status(status);
}

static NTSTATUS
modify_srq(NDK_SRQ *face, ULONG depth, ULONG threshold, NDK_FN_REQUEST_COMPLETION done,
	   PVOID context)
{
	struct ndk_srq *srq = ndk_srq_of(face);
	struct ndk_request *request;

	if (depth > ndk_limits(&srq->object)->MaxSrqDepth)
		return STATUS_INVALID_PARAMETER;
	request = ndk_request_make(&srq->object, run_modify, done, context);
	if (request == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	request->depth = depth;
	request->threshold = threshold;
	return ndk_request_begin(request);
}

static const NDK_SRQ_DISPATCH table = {
	.NdkCloseSrq = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkModifySrq = modify_srq,
	.NdkSrqReceive = ndk_srq_receive,
};

/* ---- lifetime ---- */

static void
close_srq(struct ndk_object *object)
{
	struct ndk_srq *srq = plx_list_entry(object, struct ndk_srq, object);

	plx_session_queue_remove(ndk_session_for(object), &srq->queue);
	ndk_unpost(ndk_dispatcher_of(object), &srq->task);
}

/* Never BUSY: queue pairs hold their queues. */
static enum plx_status
teardown(struct ndk_object *object)
{
	return plx_srq_destroy(plx_list_entry(object, struct ndk_srq, object)->srq);
}

static void
destroy(struct ndk_object *object)
{
	ndk_release(&plx_list_entry(object, struct ndk_srq, object)->pd->object);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeSrq,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_srq),
	.close = close_srq,
	.teardown = teardown,
	.destroy = destroy,
};

/* An empty queue is below any threshold, and has not fallen below it: the first receives arm it. */
static NTSTATUS
run_create(struct ndk_request *request)
{
	struct ndk_srq *srq = plx_list_entry(request->object, struct ndk_srq, object);
	struct plx_session *session = ndk_session_for(request->object);
	const struct plx_srq_options options = {
		.depth = srq->depth,
		.sges = srq->sges ? srq->sges : 1,
		.threshold = srq->threshold,
		.depth_max = ndk_limits(request->object)->MaxSrqDepth,
		.context = srq->queue.id,
	};
	enum plx_status status;

	atomic_store(&srq->armed, srq->threshold != 0);
	plx_session_queue_add(session, &session->srqs, &srq->queue);
	status = plx_srq_create(session->adapter, &options, &srq->srq);
	if (status != PLX_OK) {
		plx_session_queue_remove(session, &srq->queue);
		ndk_unpost(ndk_dispatcher_of(request->object), &srq->task);
	}
	return ndk_call_status(status);
}

NTSTATUS
ndk_create_srq(NDK_PD *face, ULONG depth, ULONG sges, ULONG threshold,
	       NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context,
	       GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION created, PVOID context,
	       NDK_SRQ **out)
{
	struct ndk_pd *pd = ndk_pd_of(face);
	const NDK_ADAPTER_INFO *limits = ndk_limits(&pd->object);
	struct ndk_srq *srq;

	(void)affinity, (void)out; /* a hint: one thread makes all callbacks; always pending */
	if (depth == 0 || depth > limits->MaxSrqDepth || sges > limits->MaxReceiveRequestSge ||
	    threshold > depth)
		return STATUS_INVALID_PARAMETER;
	srq = ndk_object_alloc_in(&kind, pd);
	if (srq == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	srq->pd = pd;
	srq->depth = depth;
	srq->sges = sges;
	srq->threshold = threshold;
	srq->notify = notify;
	srq->notify_context = notify_context;
	srq->queue.id = plx_session_queue_id(pd->object.adapter->session);
	srq->queue.on_event = below;
	srq->queue.on_host_gone = below;
	plx_list_init(&srq->queue.node);
	plx_list_init(&srq->task.node);
	srq->task.run = call;
	return ndk_create_begin(&srq->object, run_create, created, context);
}
