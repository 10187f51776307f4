/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Windows: created, bound by a work request, destroyed.
 * The posting thread binds a window, under the adapter's lock, before the request is put into the
 * queue. So the key is valid when the post returns, and requests posted later may carry it. If the
 * post is refused, the window does not stay bound.
 * Start with plx_post_bind().
 */
#include <stdlib.h>

#include "objects.h"

#define BIND_ACCESS \
	(uint32_t)(PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

enum plx_status
plx_mw_create(struct plx_pd *pd, struct plx_mw **mw)
{
	struct plx_adapter *adapter = pd->adapter;
	struct plx_mw *made = calloc(1, sizeof(*made));
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	made->pd = pd;
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_create(adapter->mem, pd->domain, &made->window);
	if (status == PLX_OK)
		adapter->count.mws++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	*mw = made;
	return PLX_OK;
}

enum plx_status
plx_mw_destroy(struct plx_mw *mw)
{
	struct plx_adapter *adapter = mw->pd->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	if (!mw->retired) {
		status = plx_window_retire(adapter->mem, mw->window);
		PLX_ASSERT(status == PLX_OK);
		mw->retired = true;
		mw->token = plx_engines_token(adapter);
	}
	pthread_mutex_unlock(&adapter->lock);
	status = plx_engines_wait(adapter, mw->token, PLX_COMMAND_TIMEOUT_NS);
	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_release(adapter->mem, mw->window);
	adapter->count.mws--;
	pthread_mutex_unlock(&adapter->lock);
	PLX_ASSERT(status == PLX_OK);
	free(mw);
	return PLX_OK;
}

/* The post was refused: unbind the window again. The only change left is that its next key
 * differs. */
static void
unbind(struct plx_qp *qp, struct plx_key key)
{
	struct plx_adapter *adapter = adapter_of(qp);
	const struct plx_asker asker = {
		.domain = pd_of(qp)->domain,
		.qpn = plx_engine_qp_number(qp),
	};

	/* Nobody has been given the key. A peer that guessed it may have invalidated it, with the
	 * same result. */
	pthread_mutex_lock(&adapter->lock);
	(void)!plx_key_invalidate(adapter->mem, key, &asker);
	pthread_mutex_unlock(&adapter->lock);
}

enum plx_status
plx_post_bind(struct plx_qp *qp, struct plx_mw *mw, const struct plx_bind *bind,
	      struct plx_key *key)
{
	struct plx_window_attr attr = {
		.va = bind->va,
		.length = bind->length,
		.access = {(uint8_t)bind->access},
		.qpn = plx_engine_qp_number(qp),
	};
	struct plx_adapter *adapter = adapter_of(qp);
	enum plx_status status;
	struct plx_key bound;

	if (bind->access & ~BIND_ACCESS || bind->mr == NULL ||
	    bind->flags & ~(PLX_WR_UNSIGNALED | PLX_WR_FENCE))
		return PLX_INVALID;
	/* Slots in another adapter's table would refer to other regions in ours. */
	if (mw->pd != pd_of(qp) || bind->mr->pd != pd_of(qp))
		return PLX_DENIED;
	attr.region = bind->mr->region;
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_bind(adapter->mem, mw->window, &attr, &bound);
	pthread_mutex_unlock(&adapter->lock);
	/* not the queue pair's state */
	if (status == PLX_STATE)
		return PLX_BUSY;
	if (status != PLX_OK)
		return status;
	status = plx_engine_qp_post_bind(qp, bind->wr_id, bind->flags, bound);
	if (status != PLX_OK) {
		unbind(qp, bound);
		return status;
	}
	*key = bound;
	return PLX_OK;
}
