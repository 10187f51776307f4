/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measured path through ND2: requests are posted through IND2QueuePair, one at a time as ND2
 * requires, and completions are polled from IND2CompletionQueue. Nothing allocates, waits or
 * prints.
 * It creates and destroys nothing. Start with nd2_post_send().
 */
#include "nd2_parts.h"

/* An array of struct plx_sge is also one of ND2_SGE, so the side's array is used directly. */
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
	ULONG flags = (wr->flags & PLX_WR_UNSIGNALED ? ND_OP_FLAG_SILENT_SUCCESS : 0) |
		      (wr->flags & PLX_WR_INLINE ? ND_OP_FLAG_INLINE : 0);
	if (wr->op == PLX_WR_SEND)
		return IND2QueuePair_Send(qp, context, sge, 1, flags);
	if (wr->op == PLX_WR_WRITE)
		return IND2QueuePair_Write(qp, context, sge, 1, wr->remote_va, wr->rkey.v, flags);
	return IND2QueuePair_Read(qp, context, sge, 1, wr->remote_va, wr->rkey.v, flags);
}

static PLX_COLD enum plx_status
refused(struct side *side, HRESULT why)
{
	if (why == ND_NO_MORE_ENTRIES)
		return PLX_FULL;
	nd2_failed(side, "a message cannot be posted", why);
	return PLX_STATE;
}

uint32_t
nd2_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status)
{
	for (const struct plx_send_wr *wr = side->wr, *end = wr + n; wr < end; wr++) {
		HRESULT why = post(lane->face_qp, wr);
		if (plx_unlikely(why != ND_SUCCESS)) {
			*status = refused(side, why);
			return (uint32_t)(wr - side->wr);
		}
	}
	return n;
}

bool
nd2_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge)
{
	HRESULT status = IND2QueuePair_Receive((IND2QueuePair *)lane->face_qp, NULL,
					       (const ND2_SGE *)(const void *)sge, 1);
	return status == ND_SUCCESS || nd2_failed(side, "a receive cannot be posted", status);
}

static PLX_COLD void
fail_result(struct side *side, const ND2_RESULT *result)
{
	side_fail(side, "%s message %llu of queue pair %llu failed: ND2 status 0x%08x",
		  op_names[side->job.op], (unsigned long long)(uintptr_t)result->RequestContext,
		  (unsigned long long)(uintptr_t)result->QueuePairContext,
		  (unsigned int)result->Status);
}

uint32_t
nd2_reap(struct side *side, enum queue queue, union entry *entries)
{
	ND2_RESULT *results = (ND2_RESULT *)(void *)entries;
	uint32_t n = IND2CompletionQueue_GetResults(side->nd2->cq[queue], results, POLL_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (results[i].Status != ND_SUCCESS) {
			fail_result(side, &results[i]);
			return i;
		}
	}
	return n;
}

/* An active endpoint that waits receives nothing. On a passive one, only failed completions of
 * sends matter. */
uint32_t
nd2_poll(struct side *side)
{
	IND2CompletionQueue *cq = side->nd2->cq[side->is_active ? QUEUE_RECEIVE : QUEUE_SEND];
	ND2_RESULT result;
	if (cq == NULL || IND2CompletionQueue_GetResults(cq, &result, 1) == 0)
		return 0;
	if (result.Status != ND_SUCCESS)
		fail_result(side, &result);
	return 1;
}
