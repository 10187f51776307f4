/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory windows: creation, queries for the token, release. post.c binds them.
 * Releasing a window unbinds it. Until then it holds the region that it was last bound to.
 * Start with nd2_mw_create().
 */
#include "nd2.h"

static UINT32 STDMETHODCALLTYPE
get_remote_token(IND2MemoryWindow *face)
{
	return atomic_load(&nd2_mw_of(face)->token);
}

/* Unbind at once, not when the last hold is released: the client may reuse the memory now. */
static void
close_mw(struct nd2_object *object)
{
	struct nd2_mw *mw = plx_list_entry(object, struct nd2_mw, object);
	struct nd2_mr *bound;

	pthread_mutex_lock(&mw->lock);
	/* Wait without limit: the engine may be writing through the window, and the memory belongs
	 * to the client when this returns. */
	while (plx_mw_destroy(mw->mw) == PLX_TIMEOUT)
		nd2_log("adapter %s: its worker is stalled; releasing a window waits for it, "
			"because it may be writing through it",
			mw->object.adapter->session->name);
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
	pthread_mutex_destroy(&plx_list_entry(object, struct nd2_mw, object.base)->lock);
	nd2_object_free(object);
}

ND2_IUNKNOWN(mw, IND2MemoryWindow);

static const IND2MemoryWindowVtbl table = {
	.QueryInterface = mw_query_interface,
	.AddRef = mw_add_ref,
	.Release = mw_release,
	.GetRemoteToken = get_remote_token,
};

const struct nd2_kind nd2_mw_kind = {
	.table = &table,
	.iid = &IID_IND2MemoryWindow,
	.bytes = sizeof(struct nd2_mw),
	.close = close_mw,
	.base.destroy = destroy_mw,
};

HRESULT
nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2MemoryWindow, out);
	struct nd2_mw *mw;

	if (status != ND_SUCCESS)
		return status;
	mw = nd2_object_alloc(&nd2_mw_kind, adapter, NULL, &status);
	if (mw == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	if (plx_mw_create(adapter->pd, &mw->mw) != PLX_OK) {
		nd2_object_free(&mw->object.base);
		return ND_INSUFFICIENT_RESOURCES;
	}
	pthread_mutex_init(&mw->lock, NULL);
	nd2_object_init(&mw->object, adapter->session);
	*out = mw;
	return ND_SUCCESS;
}
