/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measured path by ND2: requests are posted by IND2QueuePair, one by one as ND2 has it, and
 * completions taken by IND2CompletionQueue. Nothing allocates, waits or prints.
 * It makes nothing and ends nothing. Start with nd2_post_send().
 */
#include "nd2_parts.h"

/* An array of struct plx_sge is one of ND2_SGE: lanes have made theirs already. */
_Static_assert(sizeof(ND2_SGE) == sizeof(struct plx_sge), "SGEs are as long");
_Static_assert(offsetof(ND2_SGE, Buffer) == offsetof(struct plx_sge, va) &&
		       offsetof(ND2_SGE, BufferLength) == offsetof(struct plx_sge, length) &&
		       offsetof(ND2_SGE, MemoryRegionToken) == offsetof(struct plx_sge, key),
	       "and their fields lie where ND2's do");

static inline HRESULT
post(IND2QueuePair *qp, const struct plx_send_wr *wr)
{
	const ND2_SGE *sge = (const ND2_SGE *)(const void *)wr->sge;
	void *context = (void *)(uintptr_t)wr->wr_id;
	ULONG flags = (wr->flags & PLX_WR_SILENT ? ND_OP_FLAG_SILENT_SUCCESS : 0) |
		      (wr->flags & PLX_WR_INLINE ? ND_OP_FLAG_INLINE : 0);
	if (wr->op == PLX_WR_SEND)
		return IND2QueuePair_Send(qp, context, sge, 1, flags);
	if (wr->op == PLX_WR_WRITE)
		return IND2QueuePair_Write(qp, context, sge, 1, wr->remote_va, wr->rkey.v, flags);
	return IND2QueuePair_Read(qp, context, sge, 1, wr->remote_va, wr->rkey.v, flags);
}

uint32_t
nd2_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status)
{
	for (uint32_t k = 0; k < n; k++) {
		HRESULT refused = post(lane->nd2_qp, &lane->wr[k]);
		if (refused == ND_SUCCESS)
			continue;
		*status = PLX_FULL;
		if (refused != ND_NO_MORE_ENTRIES) {
			*status = PLX_STATE;
			nd2_failed(side, "a message cannot be posted", refused);
		}
		return k;
	}
	return n;
}

bool
nd2_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge)
{
	HRESULT status = IND2QueuePair_Receive((IND2QueuePair *)lane->nd2_qp, NULL,
					       (const ND2_SGE *)(const void *)sge, 1);
	return status == ND_SUCCESS || nd2_failed(side, "a receive cannot be posted", status);
}

uint32_t
nd2_reap(struct side *side, enum queue queue, struct plx_wc *wc)
{
	ND2_RESULT results[POLL_MAX];
	uint32_t n = IND2CompletionQueue_GetResults(side->nd2->cq[queue], results, POLL_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (results[i].Status != ND_SUCCESS) {
			side_fail(side,
				  "%s message %llu of queue pair %llu failed: ND2 status 0x%08x",
				  op_names[side->job.op],
				  (unsigned long long)(uintptr_t)results[i].RequestContext,
				  (unsigned long long)(uintptr_t)results[i].QueuePairContext,
				  (unsigned int)results[i].Status);
			return i;
		}
		wc[i].wr_id = (uintptr_t)results[i].RequestContext;
		wc[i].context = (uintptr_t)results[i].QueuePairContext;
		wc[i].bytes = results[i].BytesTransferred;
	}
	return n;
}

/* An active endpoint that waits is not sent anything, and of a passive one the completions of what
 * it sends are of no use but when they are bad. */
uint32_t
nd2_poll(struct side *side)
{
	enum queue queue = side->is_active ? QUEUE_RECEIVE : QUEUE_SEND;
	struct plx_wc wc[POLL_MAX];
	if (side->nd2->cq[queue] == NULL)
		return 0;
	return nd2_reap(side, queue, wc);
}
