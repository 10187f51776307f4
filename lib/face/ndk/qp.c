/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_QP: creation, flush, and the end, which flushes first so that each request posted has its
 * result. Posts are in post.c. A queue pair is in INIT from its creation on: receives may be posted
 * before it is connected. Start with ndk_create_qp().
 */
#include <ntstatus.h>

#include "ndk.h"

/* ---- flush ---- */

static void
flush(struct ndk_task *task)
{
	struct ndk_qp *qp = plx_list_entry(task, struct ndk_qp, flush);

	/* before: a flush that is called from now on may concern later posts */
	atomic_store(&qp->flushing, false);
	/* TIMEOUT: the engine is stalled, and gets the command when it runs again */
	if (plx_qp_flush(qp->qp) == PLX_TIMEOUT)
		ndk_log("a queue pair is not flushed yet: its engine does not run");
	ndk_release(&qp->object);
}

/* The engine does it in a moment; the consumer sees the results. */
static VOID
flush_qp(NDK_QP *face)
{
	struct ndk_qp *qp = ndk_qp_of(face);

	if (atomic_exchange(&qp->flushing, true) || !ndk_hold(&qp->object))
		return;
	ndk_post(ndk_dispatcher_of(&qp->object), &qp->flush);
}

static const NDK_QP_DISPATCH table = {
	.NdkCloseQp = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkFlush = flush_qp,
	.NdkSend = ndk_send,
	.NdkReceive = ndk_receive,
	.NdkBind = ndk_bind,
	.NdkFastRegister = ndk_fast_register,
	.NdkInvalidate = ndk_invalidate,
	.NdkRead = ndk_read,
	.NdkWrite = ndk_write,
	.NdkSendAndInvalidate = ndk_send_and_invalidate,
};

/* ---- lifetime ---- */

/* No connector is left that used it. AGAIN: results are still being written. */
static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_qp *qp = plx_list_entry(object, struct ndk_qp, object);
	struct plx_qp_info info;
	enum plx_status status = PLX_MUTANT(NDK_CLOSE_NO_FLUSH) ? PLX_OK : plx_qp_flush(qp->qp);

	if (status == PLX_OK)
		status = plx_qp_query(qp->qp, &info);
	if (status == PLX_TIMEOUT)
		return status;
	if (status == PLX_OK && info.state == PLX_QP_ERROR && !info.flushed)
		return PLX_AGAIN;
	return plx_qp_destroy(qp->qp);
}

static void
destroy(struct ndk_object *object)
{
	struct ndk_qp *qp = plx_list_entry(object, struct ndk_qp, object);

	if (!PLX_MUTANT(NDK_CQ_NOT_HELD)) {
		ndk_release(&qp->attr.initiator_cq->object);
		ndk_release(&qp->attr.receive_cq->object);
	}
	if (qp->attr.srq)
		ndk_release(&qp->attr.srq->object);
	ndk_release(&qp->attr.pd->object);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeQp,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_qp),
	.teardown = teardown,
	.destroy = destroy,
};

/* ---- creation ---- */

static uint32_t
at_least_one(ULONG n)
{
	return n ? n : 1;
}

/* READs have a limit of SGEs of their own, whatever the queue pair's. A stalled engine is asked
 * again, for what is missing yet. */
static NTSTATUS
run_create(struct ndk_request *request)
{
	struct ndk_qp *qp = plx_list_entry(request->object, struct ndk_qp, object);
	const NDK_ADAPTER_INFO *limits = ndk_limits(request->object);
	const struct plx_qp_options options = {
		.send_cq = qp->attr.initiator_cq->cq,
		.recv_cq = qp->attr.receive_cq->cq,
		.srq = qp->attr.srq ? qp->attr.srq->srq : NULL,
		.sq_depth = at_least_one(qp->attr.initiator_depth),
		.rq_depth = at_least_one(qp->attr.receive_depth),
		.sq_sges = limits->MaxReadRequestSge,
		.rq_sges = at_least_one(qp->attr.receive_sges),
		.inline_bytes = qp->attr.inline_bytes,
		.responder_resources = limits->MaxInboundReadLimit,
		.context = (uintptr_t)qp->attr.context,
	};
	struct plx_why why = {""};
	enum plx_status status = PLX_OK;

	if (qp->qp == NULL)
		status = plx_qp_create(qp->attr.pd->pd, &options, &qp->qp, &why);
	/* from RESET: TIMEOUT at most */
	if (status == PLX_OK)
		status = plx_qp_modify(qp->qp, PLX_QP_INIT, NULL, NULL, &why);
	if (status != PLX_OK)
		ndk_log("queue pair: %s", why.text);
	return ndk_call_status(status);
}

/* Everything that it is made from, or nothing. */
static bool
hold_antecedents(struct ndk_qp *qp)
{
	struct ndk_object *const all[] = {&qp->attr.pd->object, &qp->attr.receive_cq->object,
					  &qp->attr.initiator_cq->object,
					  qp->attr.srq ? &qp->attr.srq->object : NULL};

	for (size_t i = 0; i < PLX_COUNT_OF(all); i++) {
		if (all[i] == NULL || (PLX_MUTANT(NDK_CQ_NOT_HELD) && (i == 1 || i == 2)) ||
		    ndk_hold(all[i]))
			continue;
		while (i-- > 0)
			if (all[i] != NULL)
				ndk_release(all[i]);
		return false;
	}
	return true;
}

static NTSTATUS
create(const struct ndk_qp_attr *attr, NDK_FN_CREATE_COMPLETION created, PVOID context)
{
	const NDK_ADAPTER_INFO *limits = ndk_limits(&attr->pd->object);
	struct ndk_qp *qp;

	if (attr->receive_depth > limits->MaxReceiveQueueDepth ||
	    attr->initiator_depth > limits->MaxInitiatorQueueDepth ||
	    attr->receive_sges > limits->MaxReceiveRequestSge ||
	    attr->initiator_sges > limits->MaxInitiatorRequestSge ||
	    attr->inline_bytes > limits->MaxInlineDataSize)
		return STATUS_INVALID_PARAMETER;
	qp = ndk_object_alloc(&kind, attr->pd->object.adapter);
	if (qp == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	qp->attr = *attr;
	plx_list_init(&qp->flush.node);
	qp->flush.run = flush;
	if (!hold_antecedents(qp)) {
		ndk_object_free(&qp->object);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	return ndk_create_begin(&qp->object, run_create, created, context);
}

NTSTATUS
ndk_create_qp(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
	      ULONG receive_depth, ULONG initiator_depth, ULONG receive_sges, ULONG initiator_sges,
	      ULONG inline_bytes, NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_QP **out)
{
	const struct ndk_qp_attr attr = {
		.pd = ndk_pd_of(pd),
		.receive_cq = ndk_cq_of(receive_cq),
		.initiator_cq = ndk_cq_of(initiator_cq),
		.context = qp_context,
		.receive_depth = receive_depth,
		.initiator_depth = initiator_depth,
		.receive_sges = receive_sges,
		.initiator_sges = initiator_sges,
		.inline_bytes = inline_bytes,
	};

	(void)out; /* always pending */
	return create(&attr, created, context);
}

NTSTATUS
ndk_create_qp_with_srq(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, NDK_SRQ *srq,
		       PVOID qp_context, ULONG initiator_depth, ULONG initiator_sges,
		       ULONG inline_bytes, NDK_FN_CREATE_COMPLETION created, PVOID context,
		       NDK_QP **out)
{
	const struct ndk_qp_attr attr = {
		.pd = ndk_pd_of(pd),
		.receive_cq = ndk_cq_of(receive_cq),
		.initiator_cq = ndk_cq_of(initiator_cq),
		.srq = ndk_srq_of(srq),
		.context = qp_context,
		.initiator_depth = initiator_depth,
		.initiator_sges = initiator_sges,
		.inline_bytes = inline_bytes,
	};

	(void)out; /* always pending */
	return create(&attr, created, context);
}
