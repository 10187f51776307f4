/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues and shared receive queues of a seat. Polling, posting and arming do not pass
 * through here. Start with host_cq_create().
 */
#include <stdlib.h>

#include "host.h"

HOST_FN(host_cq_create)
{
	const struct plx_ipc_cq_create *request = arg;
	const struct plx_engine_cq_config config = {
		.depth = request->depth,
		.strict = request->strict != 0,
		.cookie = request->context,
	};
	struct plx_ipc_cq_created *made = reply;
	struct host_cq *cq = calloc(1, sizeof(*cq));
	enum plx_status status = PLX_NO_MEMORY;

	(void)why;
	if (cq != NULL)
		status = host_placement_begin(seat->adapter, request->engine, &cq->placement);
	if (status == PLX_OK)
		status = plx_cq_back_create(seat->back[cq->placement.engine], &config, &cq->back);
	if (status == PLX_OK) {
		status = host_enter(seat, &cq->object, HOST_CQ, why);
		if (status != PLX_OK)
			PLX_ASSERT(plx_cq_back_destroy(cq->back) != PLX_BUSY);
	}
	if (status != PLX_OK) {
		free(cq);
		return status;
	}
	seat->adapter->count.cqs++;
	made->object.v = cq->object.number;
	made->front = host_place_of(seat, plx_cq_back_front(cq->back));
	return PLX_OK;
}

enum plx_status
host_cq_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_cq *cq = (struct host_cq *)object;
	enum plx_status status = plx_cq_back_destroy(cq->back);

	if (status != PLX_OK)
		return status;
	seat->adapter->count.cqs--;
	host_leave(seat, object);
	free(cq);
	return PLX_OK;
}

HOST_FN(host_cq_resize)
{
	const struct plx_ipc_cq_resize *request = arg;
	struct host_cq *cq = host_find(seat, request->object, HOST_CQ);

	(void)reply;
	(void)why;
	if (cq == NULL)
		return PLX_NO_KEY;
	/* Its engine does it. */
	host_place_cq(seat, cq);
	return plx_cq_back_resize(cq->back, request->depth);
}

HOST_FN(host_srq_create)
{
	const struct plx_ipc_srq_create *request = arg;
	const struct plx_engine_srq_config config = {
		.depth = request->depth,
		.sges = request->sges,
		.depth_max = request->depth_max,
		.threshold = request->threshold,
		.cookie = request->context,
	};
	const uint32_t depth_max = seat->adapter->info.srq_depth;
	struct plx_ipc_srq_created *made = reply;
	enum plx_status status = PLX_NO_MEMORY;
	struct host_srq *srq;

	(void)why;
	if (request->depth > depth_max || request->depth_max > depth_max)
		return PLX_INVALID;
	srq = calloc(1, sizeof(*srq));
	if (srq != NULL)
		status = host_placement_begin(seat->adapter, request->engine, &srq->placement);
	if (status == PLX_OK)
		status =
			plx_srq_back_create(seat->back[srq->placement.engine], &config, &srq->back);
	if (status == PLX_OK) {
		status = host_enter(seat, &srq->object, HOST_SRQ, why);
		if (status != PLX_OK)
			PLX_ASSERT(plx_srq_back_destroy(srq->back) != PLX_BUSY);
	}
	if (status != PLX_OK) {
		free(srq);
		return status;
	}
	seat->adapter->count.srqs++;
	made->object.v = srq->object.number;
	made->front = host_place_of(seat, plx_srq_back_front(srq->back));
	made->depth = request->depth_max > request->depth ? request->depth_max : request->depth;
	made->sges = request->sges;
	return PLX_OK;
}

enum plx_status
host_srq_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_srq *srq = (struct host_srq *)object;
	enum plx_status status = plx_srq_back_destroy(srq->back);

	if (status != PLX_OK)
		return status;
	seat->adapter->count.srqs--;
	host_leave(seat, object);
	free(srq);
	return PLX_OK;
}

HOST_FN(host_srq_arm)
{
	const struct plx_ipc_srq_arm *request = arg;
	struct host_srq *srq = host_find(seat, request->object, HOST_SRQ);

	(void)reply;
	(void)why;
	if (srq == NULL)
		return PLX_NO_KEY;
	host_place_srq(seat, srq);
	return plx_srq_back_arm(srq->back, request->threshold);
}
