/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs: creation, flush, release. Posts are in post.c, connections in connector.c.
 * A queue pair is in INIT from its creation on, so that receives may be posted before it is
 * connected. Start with nd2_qp_create().
 */
#include "cq.h"
#include "qp.h"

/* ---- flush and destruction ---- */

static HRESULT STDMETHODCALLTYPE
flush(IND2QueuePair *face)
{
	struct nd2_qp *qp = nd2_qp_of(face);

	/* If never connected, the queue pair is in INIT again afterwards. If connected, it is
	 * broken, and the connector learns of it as of any failed queue pair. */
	if (atomic_load(&qp->phase) == ND2_QP_CONNECTED)
		atomic_store(&qp->broken, true);
	nd2_session_claim(qp->object.adapter->session);
	return nd2_call_status(plx_qp_flush(qp->qp));
}

static void
close_qp(struct nd2_object *object)
{
	struct nd2_qp *qp = plx_list_entry(object, struct nd2_qp, object);

	if (atomic_load(&qp->claimed))
		nd2_connection_of_qp_ends(qp);
}

/* May run with the session's events locked, if a connector held it last. */
static enum plx_status
teardown_qp(struct plx_session_object *object)
{
	return plx_qp_destroy(plx_list_entry(object, struct nd2_qp, object.base)->qp);
}

static void
destroy_qp(struct plx_session_object *object)
{
	struct nd2_qp *qp = plx_list_entry(object, struct nd2_qp, object.base);

	nd2_object_put(&qp->receive_cq->object);
	nd2_object_put(&qp->initiator_cq->object);
	if (qp->srq != NULL)
		nd2_object_put(&qp->srq->object);
	nd2_object_free(object);
}

/* ---- table of methods ---- */

ND2_IUNKNOWN(qp, IND2QueuePair);

static const IND2QueuePairVtbl table = {
	.QueryInterface = qp_query_interface,
	.AddRef = qp_add_ref,
	.Release = qp_release,
	.Flush = flush,
	.Send = post_send,
	.Receive = post_receive,
	.Bind = post_bind,
	.Invalidate = post_invalidate,
	.Read = post_read,
	.Write = post_write,
};

const struct nd2_kind nd2_qp_kind = {
	.table = &table,
	.iid = &IID_IND2QueuePair,
	.bytes = sizeof(struct nd2_qp),
	.close = close_qp,
	.base.teardown = teardown_qp,
	.base.destroy = destroy_qp,
};

/* ---- creation ---- */

/* The status for the n-th argument of a method; the interface id is the first. */
static HRESULT
bad_argument(unsigned int n)
{
	return ND_INVALID_PARAMETER_1 + (HRESULT)n - 1;
}

struct argument {
	unsigned int position, srq_position; /* 0: not an argument of that method */
	ULONG value, last;
};

static HRESULT
check_attr(const struct nd2_adapter *adapter, const struct nd2_qp_init_attr *attr)
{
	const ND2_ADAPTER_INFO *limits = nd2_limits(adapter->session);
	const struct argument arguments[] = {
		{2, 2, nd2_object_find(&nd2_cq_kind, adapter, attr->receive_cq) == NULL, 0},
		{3, 3, nd2_object_find(&nd2_cq_kind, adapter, attr->initiator_cq) == NULL, 0},
		{0, 4, nd2_object_find(&nd2_srq_kind, adapter, attr->srq) == NULL, 0},
		{5, 0, attr->receive_depth, limits->MaxReceiveQueueDepth},
		{6, 6, attr->initiator_depth, limits->MaxInitiatorQueueDepth},
		{7, 0, attr->receive_sges, limits->MaxReceiveSge},
		{8, 7, attr->initiator_sges, limits->MaxInitiatorSge},
		{9, 8, attr->inline_bytes, limits->MaxInlineDataSize},
	};

	for (size_t i = 0; i < PLX_COUNT_OF(arguments); i++) {
		unsigned int position =
			attr->with_srq ? arguments[i].srq_position : arguments[i].position;

		if (position != 0 && arguments[i].value > arguments[i].last)
			return bad_argument(position);
	}
	return ND_SUCCESS;
}

static enum plx_status
make_pair(struct nd2_qp *qp, const struct nd2_qp_init_attr *attr, struct plx_why *why)
{
	const ND2_ADAPTER_INFO *limits = nd2_limits(qp->object.adapter->session);
	const struct plx_qp_options options = {
		.send_cq = qp->initiator_cq->cq,
		.recv_cq = qp->receive_cq->cq,
		.srq = qp->srq != NULL ? qp->srq->srq : NULL,
		/* A queue needs at least one slot. */
		.sq_depth = attr->initiator_depth ? attr->initiator_depth : 1,
		.rq_depth = attr->receive_depth ? attr->receive_depth : 1,
		.sq_sges = qp->max_initiator_sges,
		.rq_sges = qp->max_receive_sges,
		.inline_bytes = qp->inline_bytes,
		.responder_resources = limits->MaxInboundReadLimit,
		.context = (uintptr_t)attr->context,
	};
	enum plx_status status = plx_qp_create(qp->object.adapter->pd, &options, &qp->qp, why);

	if (status != PLX_OK)
		return status;
	status = plx_qp_modify(qp->qp, PLX_QP_INIT, NULL, NULL, why);
	if (status != PLX_OK)
		(void)!plx_qp_destroy(
			qp->qp); /* TIMEOUT (the engine does not run) cannot be handled */
	return status;
}

static HRESULT
make(struct nd2_adapter *adapter, const struct nd2_qp_init_attr *attr, struct nd2_qp **out)
{
	const ND2_ADAPTER_INFO *limits = nd2_limits(adapter->session);
	HRESULT allocated;
	struct nd2_qp *qp = nd2_object_alloc(&nd2_qp_kind, adapter, NULL, &allocated);
	struct plx_why why = {""};
	enum plx_status status;

	if (qp == NULL)
		return allocated;
	qp->receive_cq = nd2_object_find(&nd2_cq_kind, adapter, attr->receive_cq);
	qp->initiator_cq = nd2_object_find(&nd2_cq_kind, adapter, attr->initiator_cq);
	qp->max_initiator_sges = nd2_sges_for(attr->initiator_sges, limits->MaxInitiatorSge);
	qp->inline_bytes = attr->inline_bytes;
	if (attr->with_srq)
		qp->srq = nd2_object_find(&nd2_srq_kind, adapter, attr->srq);
	else
		qp->max_receive_sges = nd2_sges_for(attr->receive_sges, limits->MaxReceiveSge);
	status = make_pair(qp, attr, &why);
	if (status != PLX_OK) {
		nd2_log("%s", why.text);
		nd2_object_free(&qp->object.base);
		return status == PLX_NO_MEMORY ? ND_INSUFFICIENT_RESOURCES
					       : nd2_call_status(status);
	}
	*out = qp;
	return ND_SUCCESS;
}

HRESULT
nd2_qp_create(struct nd2_adapter *adapter, REFIID iid, const struct nd2_qp_init_attr *attr,
	      void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2QueuePair, out);
	struct nd2_qp *qp;

	if (status == ND_SUCCESS)
		status = check_attr(adapter, attr);
	if (status == ND_SUCCESS)
		status = make(adapter, attr, &qp);
	if (status != ND_SUCCESS)
		return status;
	nd2_object_get(&qp->receive_cq->object);
	nd2_object_get(&qp->initiator_cq->object);
	if (qp->srq != NULL)
		nd2_object_get(&qp->srq->object);
	nd2_object_init(&qp->object, adapter->session);
	*out = qp;
	return ND_SUCCESS;
}
