/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs of an adapter: creation, queries, destruction. Connecting is in qp_connect.c, posting
 * in lib/engine/front/post.c.
 * Start with plx_qp_create().
 */
#include "plx_objects.h"

/* ---- creation ---- */

enum plx_status
qp_check_queues(const struct plx_adapter *adapter, const struct plx_qp_options *options,
		struct plx_why *why)
{
	if (options->send_cq == NULL || options->recv_cq == NULL) {
		plx_why_set(why,
			    "a queue pair needs a completion queue for its %s; one may serve "
			    "both of its queues",
			    options->send_cq == NULL ? "send queue" : "receive queue");
		return PLX_INVALID;
	}
	if (options->send_cq->adapter != adapter || options->recv_cq->adapter != adapter ||
	    (options->srq && options->srq->adapter != adapter)) {
		plx_why_set(why,
			    "a queue given is not one of adapter %s; create it on the adapter of "
			    "the protection domain",
			    adapter->name);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static void
open_queues(struct plx_qp *qp, const struct plx_qp_options *options,
	    const struct plx_ipc_qp_created *made)
{
	struct plx_adapter *adapter = adapter_of(qp);
	struct adapter_engine *engine = &adapter->engine[made->engine];
	struct plx_seat_inline inlined;
	struct sq_config sq;

	adapter->seat->ops->find_inline(adapter->seat, made->object, &inlined);
	qp->here = inlined.here;
	qp->back = inlined.qp;
	qp->engine = inlined.engine;
	sq = (struct sq_config){
		.front = adapter_at(adapter, made->sq_front),
		.caps = {.sq_depth = made->sq_depth,
			 .sq_sges = made->sq_sges,
			 .inline_bytes = made->inline_bytes,
			 .responder_resources = made->responder_resources},
		.doorbell = seat_doorbell(engine->doorbells, made->slot, engine->bell),
		.ud = options->type == PLX_QP_UD,
		.engine = made->engine,
		.domain = {made->domain},
		.owner = adapter,
		.back = inlined.sq,
	};
	sq_open(&qp->sq, &sq);
	if (options->srq == NULL)
		rq_open(&qp->rq, adapter_at(adapter, made->rq_front), made->rq_depth, made->rq_sges,
			inlined.here, inlined.rq);
}

struct plx_ipc_qp_create
qp_request_of(const struct plx_pd *pd, const struct plx_qp_options *options)
{
	struct plx_ipc_qp_create request = {
		.pd = pd->object,
		.send_cq = {options->send_cq->object},
		.recv_cq = {options->recv_cq->object},
		.sq_depth = options->sq_depth,
		.rq_depth = options->rq_depth,
		.sq_sges = options->sq_sges,
		.rq_sges = options->rq_sges,
		.inline_bytes = options->inline_bytes,
		.responder_resources = options->responder_resources,
		.type = options->type,
		.qkey = options->qkey,
		.congestion = options->congestion,
		.context = options->context,
	};

	if (options->srq != NULL)
		request.srq.v = options->srq->object;
	return request;
}

void
qp_open(struct plx_qp *qp, struct plx_pd *pd, const struct plx_qp_options *options,
	const struct plx_ipc_qp_created *made)
{
	qp->qpn = made->qpn;
	qp->has_srq = options->srq != NULL;
	qp->first_psn = plx_psn(made->first_psn);
	qp->object = made->object.v;
	qp->pd = pd;
	open_queues(qp, options, made);
}

enum plx_status
plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options, struct plx_qp **out,
	      struct plx_why *why)
{
	struct plx_adapter *adapter = pd->adapter;
	enum plx_status status = qp_check_queues(adapter, options, why);
	struct plx_ipc_qp_create request;
	struct plx_ipc_qp_created made;
	struct plx_qp *qp;

	if (status != PLX_OK)
		return status;
	qp = plx_object_alloc(sizeof(*qp));
	if (qp == NULL) {
		plx_why_set(why, "there is no memory for the queue pair");
		return PLX_NO_MEMORY;
	}
	request = qp_request_of(pd, options);
	status = adapter_call(adapter, PLX_IPC_QP_CREATE, &request, &made, why);
	if (status != PLX_OK) {
		free(qp);
		return status;
	}
	qp_open(qp, pd, options, &made);
	*out = qp;
	return PLX_OK;
}

enum plx_status
plx_qp_destroy(struct plx_qp *qp)
{
	enum plx_status status = adapter_call_on(adapter_of(qp), PLX_IPC_DESTROY, qp->object);

	if (status == PLX_OK)
		free(qp);
	return status;
}

/* ---- queries ---- */

enum plx_status
plx_qp_query(struct plx_qp *qp, struct plx_qp_info *out)
{
	const struct plx_ipc_object request = {{qp->object}};
	struct plx_ipc_qp_info reply;
	enum plx_status status =
		adapter_call(adapter_of(qp), PLX_IPC_QP_QUERY, &request, &reply, NULL);

	if (status == PLX_OK)
		*out = reply.info;
	return status;
}

enum plx_status
plx_qp_flush(struct plx_qp *qp)
{
	return adapter_call_on(adapter_of(qp), PLX_IPC_QP_FLUSH, qp->object);
}

enum plx_status
plx_qp_address(const struct plx_qp *qp, const struct plx_ip *remote, struct plx_qp_address *out)
{
	struct plx_ipc_qp_address request = {.object = {qp->object}};
	struct plx_ipc_qp_addressed reply;
	enum plx_status status;

	if (remote != NULL && remote->version == 0)
		return PLX_INVALID;
	if (remote != NULL)
		request.remote = *remote;
	status = adapter_call(adapter_of(qp), PLX_IPC_QP_ADDRESS, &request, &reply, NULL);
	if (status == PLX_OK)
		*out = reply.address;
	return status;
}
