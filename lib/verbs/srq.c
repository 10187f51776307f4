/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues of an adapter: creation and destruction. Posting and resizing are in
 * lib/engine/queue/rq.c.
 * Start with plx_srq_create().
 */
#include "objects.h"
#include "plx_rq_front.h"

enum plx_status
plx_srq_create(struct plx_adapter *adapter, const struct plx_srq_options *options,
	       struct plx_srq **srq)
{
	const struct plx_engine_srq_config config = {
		.depth = options->depth,
		.sges = options->sges,
		.depth_max = options->depth_max,
		.threshold = options->threshold,
		.cookie = options->context,
		.adapter = adapter,
	};
	enum plx_status status;

	if (options->depth > adapter->info.srq_depth ||
	    options->depth_max > adapter->info.srq_depth)
		return PLX_INVALID;
	status = plx_engine_srq_create(plx_adapter_home(adapter), &config, srq);
	if (status == PLX_OK)
		adapter->count.srqs++;
	return status;
}

enum plx_status
plx_srq_destroy(struct plx_srq *srq)
{
	struct plx_adapter *adapter = srq->adapter;
	enum plx_status status = plx_engine_srq_destroy(srq);

	if (status == PLX_OK)
		adapter->count.srqs--;
	return status;
}
