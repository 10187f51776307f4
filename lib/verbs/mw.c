/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Windows: created, bound by a work request, destroyed.
 * The host binds a window before the request is put into the queue. So the key is valid when the
 * post returns, and requests posted later may carry it. If the post is refused, the window does not
 * stay bound.
 * Start with plx_post_bind().
 */
#include <stdlib.h>

#include "plx_objects.h"

enum plx_status
plx_mw_create(struct plx_pd *pd, struct plx_mw **mw)
{
	const struct plx_ipc_object request = {pd->object};
	struct plx_mw *made = calloc(1, sizeof(*made));
	struct plx_ipc_object reply;
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(pd->adapter, PLX_IPC_MW_CREATE, &request, &reply, NULL);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	*made = (struct plx_mw){.pd = pd, .object = reply.object};
	*mw = made;
	return PLX_OK;
}

enum plx_status
plx_mw_destroy(struct plx_mw *mw)
{
	enum plx_status status = adapter_call_on(mw->pd->adapter, PLX_IPC_DESTROY, mw->object.v);

	if (status == PLX_OK)
		free(mw);
	return status;
}

static void
unbind(struct plx_qp *qp, struct plx_key key)
{
	const struct plx_ipc_mw_unbind request = {.qp = {qp->object}, .key = key};
	struct plx_ipc_nothing none;

	(void)!adapter_call(adapter_of(qp), PLX_IPC_MW_UNBIND, &request, &none, NULL);
}

enum plx_status
plx_post_bind(struct plx_qp *qp, struct plx_mw *mw, const struct plx_bind *bind,
	      struct plx_key *key)
{
	struct plx_ipc_mw_bind request = {
		.mw = mw->object,
		.qp = {qp->object},
		.va = bind->va,
		.length = bind->length,
		.access = bind->access,
	};
	struct plx_ipc_mw_bound bound;
	enum plx_status status;

	if (bind->mr == NULL || bind->flags & ~(PLX_WR_UNSIGNALED | PLX_WR_FENCE))
		return PLX_INVALID;
	/* Objects of another adapter would be others in ours. */
	if (mw->pd != qp->pd || bind->mr->pd != qp->pd)
		return PLX_DENIED;
	request.mr = bind->mr->object;
	status = adapter_call(adapter_of(qp), PLX_IPC_MW_BIND, &request, &bound, NULL);
	if (status != PLX_OK)
		return status;
	status = plx_engine_qp_post_bind(qp, bind->wr_id, bind->flags, bound.key);
	if (status != PLX_OK) {
		unbind(qp, bound.key);
		return status;
	}
	*key = bound.key;
	return PLX_OK;
}
