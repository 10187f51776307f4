/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues of an adapter: creation, arming and destruction. Posting and resizing are
 * in lib/engine/front/rq.c.
 * Start with plx_srq_create().
 */
#include "plx_objects.h"

static void
open_front(struct plx_srq *srq, struct plx_adapter *adapter, const struct plx_ipc_srq_created *made,
	   uint32_t depth)
{
	struct plx_seat_inline inlined;

	adapter->seat->ops->find_inline(adapter->seat, made->object, &inlined);
	rq_open(&srq->queue, adapter_at(adapter, made->front), made->depth, made->sges,
		inlined.here, inlined.rq);
	atomic_init(&srq->queue.limit, depth);
	srq->object = made->object.v;
	srq->adapter = adapter;
}

enum plx_status
plx_srq_create(struct plx_adapter *adapter, const struct plx_srq_options *options,
	       struct plx_srq **out)
{
	const struct plx_ipc_srq_create request = {
		.depth = options->depth,
		.sges = options->sges,
		.threshold = options->threshold,
		.depth_max = options->depth_max,
		.engine = options->engine,
		.context = options->context,
	};
	struct plx_srq *srq = plx_object_alloc(sizeof(*srq));
	struct plx_ipc_srq_created reply;
	enum plx_status status;

	if (srq == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(adapter, PLX_IPC_SRQ_CREATE, &request, &reply, NULL);
	if (status != PLX_OK) {
		free(srq);
		return status;
	}
	open_front(srq, adapter, &reply, options->depth);
	*out = srq;
	return PLX_OK;
}

enum plx_status
plx_srq_destroy(struct plx_srq *srq)
{
	enum plx_status status = adapter_call_on(srq->adapter, PLX_IPC_DESTROY, srq->object);

	if (status == PLX_OK)
		free(srq);
	return status;
}

enum plx_status
plx_srq_arm(struct plx_srq *srq, uint32_t threshold)
{
	const struct plx_ipc_srq_arm request = {.object = {srq->object}, .threshold = threshold};
	struct plx_ipc_nothing none;

	if (threshold > atomic_load(&srq->queue.limit))
		return PLX_INVALID;
	return adapter_call(srq->adapter, PLX_IPC_SRQ_ARM, &request, &none, NULL);
}
