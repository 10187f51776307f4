/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues: made, posted to, resized, and who waits for one to run low.
 * Posting takes no lock.
 *
 * "Low" is a level and no event: count < threshold. The engine is asked to tell of it when the first
 * one begins to wait, and tells at once when it is so already. An event that comes when nobody is
 * known to have asked for it anew (whoever had was cancelled, or the threshold has changed since) is
 * answered by asking again. Start with notify(), then nd2_srq_below().
 */
#include "cq.h"

#include <stdlib.h>

static struct nd2_srq *
srq_of(IND2SharedReceiveQueue *face)
{
	return (struct nd2_srq *)(void *)face;
}

/* ---- posting ------------------------------------------------------------------------------------
 */

static PLX_HOT HRESULT STDMETHODCALLTYPE
receive(IND2SharedReceiveQueue *face, void *context, const ND2_SGE *sge, ULONG n)
{
	struct nd2_srq *srq = srq_of(face);
	/* An array of ND2_SGE is one of struct plx_sge: asserted in post.c. */
	const struct plx_recv_wr wr = {
		.wr_id = (uintptr_t)context,
		.sge = (const struct plx_sge *)(const void *)sge,
		.sges = n,
	};
	enum plx_status why;

	if (plx_unlikely(n > 0 && sge == NULL))
		return ND_INVALID_PARAMETER_2;
	if (plx_unlikely(n > srq->sges))
		return ND_DATA_OVERRUN;
	if (plx_likely(plx_srq_post(srq->srq, &wr, 1, &why) == 1))
		return ND_SUCCESS;
	return why == PLX_FULL ? ND_NO_MORE_ENTRIES : nd2_call_status(why);
}

/* ---- running low: under the queue's lock ------------------------------------------------------------
 */

/* All who wait, together. */
static void
tell(struct nd2_srq *srq, HRESULT status)
{
	struct plx_pending *pending;

	while ((pending = plx_waiting_take(&srq->waiting)) != NULL)
		plx_pending_finish(pending, status, 0);
}
