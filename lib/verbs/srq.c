/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues: the engine's queue, plus counting of its users.
 * Posting takes no lock and makes no system call.
 * Start with plx_post_srq_recv().
 */
#include <stdlib.h>

#include "objects.h"

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
	};
	struct plx_srq *made;
	enum plx_status status;

	if (options->depth > adapter->info.srq_depth ||
	    options->depth_max > adapter->info.srq_depth)
		return PLX_INVALID;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return PLX_NO_MEMORY;
	made->adapter = adapter;
	status = plx_engine_srq_create(plx_adapter_home(adapter), &config, &made->engine_srq);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	pthread_mutex_lock(&adapter->lock);
	adapter->count.srqs++;
	pthread_mutex_unlock(&adapter->lock);
	*srq = made;
	return PLX_OK;
}

enum plx_status
plx_srq_destroy(struct plx_srq *srq)
{
	struct plx_adapter *adapter = srq->adapter;
	enum plx_status status = plx_engine_srq_destroy(srq->engine_srq);

	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	adapter->count.srqs--;
	pthread_mutex_unlock(&adapter->lock);
	free(srq);
	return PLX_OK;
}

PLX_HOT uint32_t
plx_post_srq_recv(struct plx_srq *srq, const struct plx_recv_wr *wr, uint32_t n,
		  enum plx_status *refused)
{
	return plx_engine_srq_post_recv(srq->engine_srq, wr, n, refused);
}

enum plx_status
plx_srq_resize(struct plx_srq *srq, uint32_t depth)
{
	return plx_engine_srq_resize(srq->engine_srq, depth);
}

enum plx_status
plx_srq_arm(struct plx_srq *srq, uint32_t threshold)
{
	return plx_engine_srq_arm(srq->engine_srq, threshold);
}
