/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory windows: creation, queries for the token, release. post.c binds them.
 * Releasing a window unbinds it. Until then it holds the region that it was last bound to.
 * Start with nd2_mw_create().
 */
#include "nd2.h"

#include <stdlib.h>

static struct nd2_mw *
mw_of(IND2MemoryWindow *face)
{
	return (struct nd2_mw *)(void *)face;
}

static UINT32 STDMETHODCALLTYPE
get_remote_token(IND2MemoryWindow *face)
{
	return atomic_load(&mw_of(face)->token);
}

/* Unbind at once, not when the last hold is released: the client may reuse the memory now. */
static void
close_mw(struct nd2_object *object)
{
	struct nd2_mw *mw = plx_list_entry(object, struct nd2_mw, object);
	struct nd2_mr *bound;

	nd2_session_claim(mw->adapter->session);
	pthread_mutex_lock(&mw->lock);
	/* Wait without limit: the engine may be writing through the window, and the memory belongs
	 * to the client when this returns. */
	while (plx_mw_destroy(mw->mw) == PLX_TIMEOUT)
		nd2_log("adapter %s: its worker is stalled; releasing a window waits for it, "
			"because it may be writing through it",
			mw->adapter->session->name);
	mw->mw = NULL;
	bound = mw->bound;
	mw->bound = NULL;
	pthread_mutex_unlock(&mw->lock);
	if (bound != NULL)
		nd2_object_put(&bound->object);
}

static void
destroy_mw(struct plx_session_object *object)
{
	struct nd2_mw *mw = plx_list_entry(object, struct nd2_mw, object.base);
	struct nd2_adapter *adapter = mw->adapter;

	pthread_mutex_destroy(&mw->lock);
	free(mw);
	nd2_object_put(&adapter->object);
}

static const struct nd2_kind mw_kind = {
	.iid = &IID_IND2MemoryWindow,
	.close = close_mw,
	.base.destroy = destroy_mw,
};

ND2_IUNKNOWN(mw, IND2MemoryWindow, nd2_mw);

static const IND2MemoryWindowVtbl table = {
	.QueryInterface = mw_query_interface,
	.AddRef = mw_add_ref,
	.Release = mw_release,
	.GetRemoteToken = get_remote_token,
};

struct nd2_mw *
nd2_mw_of(const struct nd2_adapter *adapter, IUnknown *face)
{
	struct nd2_mw *mw = (struct nd2_mw *)(void *)face;

	return mw != NULL && mw->face.lpVtbl == &table && mw->adapter == adapter ? mw : NULL;
}

HRESULT
nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2MemoryWindow, out);
	enum plx_status made;
	struct nd2_mw *mw;

	if (status != ND_SUCCESS)
		return status;
	mw = calloc(1, sizeof(*mw));
	if (mw == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	made = plx_mw_create(adapter->pd, &mw->mw);
	if (made != PLX_OK) {
		free(mw);
		return ND_INSUFFICIENT_RESOURCES;
	}
	mw->face.lpVtbl = &table;
	mw->adapter = adapter;
	pthread_mutex_init(&mw->lock, NULL);
	nd2_object_get(&adapter->object);
	nd2_object_init(&mw->object, &mw_kind, adapter->session, mw);
	*out = &mw->face;
	return ND_SUCCESS;
}
