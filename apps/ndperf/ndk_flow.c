/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measured path through NDK: requests are posted through NDK_QP, one at a time as NDK requires,
 * all but the last of a burst deferred, and results are polled from NDK_CQ. Nothing allocates,
 * waits or prints. It creates and destroys nothing. Start with ndk_post_send().
 */
#include "ndk_parts.h"

/* An array of struct plx_sge is also one of NDK_SGE, so the side's array is used directly. */
_Static_assert(sizeof(NDK_SGE) == sizeof(struct plx_sge), "SGEs are as long");
_Static_assert(offsetof(NDK_SGE, VirtualAddress) == offsetof(struct plx_sge, va) &&
		       offsetof(NDK_SGE, Length) == offsetof(struct plx_sge, length) &&
		       offsetof(NDK_SGE, MemoryRegionToken) == offsetof(struct plx_sge, key),
	       "and their fields lie where NDK's do");

static ULONG
flags_of(const struct plx_send_wr *wr)
{
	return (wr->flags & PLX_WR_UNSIGNALED ? NDK_OP_FLAG_SILENT_SUCCESS : 0) |
	       (wr->flags & PLX_WR_INLINE ? NDK_OP_FLAG_INLINE : 0);
}

/* @param more NDK_OP_FLAG_DEFER if another request follows at once, or 0 */
static inline NTSTATUS
post(NDK_QP *qp, const struct plx_send_wr *wr, ULONG more)
{
	const NDK_SGE *sge = (const NDK_SGE *)(const void *)wr->sge;
	PVOID context = (PVOID)(uintptr_t)wr->wr_id;
	ULONG flags = more;
	if (wr->flags != 0)
		flags |= flags_of(wr);
	if (wr->op == PLX_WR_SEND)
		return qp->Dispatch->NdkSend(qp, context, sge, 1, flags);
	if (wr->op == PLX_WR_WRITE)
		return qp->Dispatch->NdkWrite(qp, context, sge, 1, wr->remote_va, wr->rkey.v,
					      flags);
	return qp->Dispatch->NdkRead(qp, context, sge, 1, wr->remote_va, wr->rkey.v, flags);
}

static PLX_COLD enum plx_status
refused(struct side *side, NTSTATUS why)
{
	if (why == STATUS_NO_MORE_ENTRIES)
		return PLX_FULL;
	ndk_failed(side, "a message cannot be posted", why);
	return PLX_STATE;
}

uint32_t
ndk_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status)
{
	for (const struct plx_send_wr *wr = side->wr, *end = wr + n; wr < end; wr++) {
		NTSTATUS why = post(lane->face_qp, wr, wr + 1 < end ? NDK_OP_FLAG_DEFER : 0);
		if (plx_unlikely(why != STATUS_SUCCESS)) {
			*status = refused(side, why);
			return (uint32_t)(wr - side->wr);
		}
	}
	return n;
}

bool
ndk_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge)
{
	NDK_QP *qp = lane->face_qp;
	NTSTATUS status = qp->Dispatch->NdkReceive(qp, NULL, (const NDK_SGE *)(const void *)sge, 1);
	return status == STATUS_SUCCESS || ndk_failed(side, "a receive cannot be posted", status);
}

static PLX_COLD void
fail_result(struct side *side, const NDK_RESULT *result)
{
	side_fail(side, "%s message %llu of queue pair %llu failed: NDK status 0x%08x",
		  op_names[side->job.op], (unsigned long long)(uintptr_t)result->RequestContext,
		  (unsigned long long)(uintptr_t)result->QPContext, (unsigned int)result->Status);
}

uint32_t
ndk_reap(struct side *side, enum queue queue, union entry *entries)
{
	NDK_RESULT *results = (NDK_RESULT *)(void *)entries;
	NDK_CQ *cq = side->ndk->cq[queue];
	uint32_t n = cq->Dispatch->NdkGetCqResults(cq, results, POLL_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (results[i].Status != STATUS_SUCCESS) {
			fail_result(side, &results[i]);
			return i;
		}
	}
	return n;
}
