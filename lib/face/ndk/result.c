/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results: completions of plx_verbs.h become NDK's. Hot; no lock, no system call. Start with
 * ndk_get_results().
 */
#include "cq.h"

enum {
	BURST = 32, /* completions polled at a time */
};

static const uint16_t type_of[PLX_WR_OP_COUNT] = {
	[PLX_WR_SEND] = NdkOperationTypeSend,
	[PLX_WR_SEND_IMM] = NdkOperationTypeSend,
	[PLX_WR_SEND_INV] = NdkOperationTypeSend,
	[PLX_WR_WRITE] = NdkOperationTypeWrite,
	[PLX_WR_WRITE_IMM] = NdkOperationTypeWrite,
	[PLX_WR_READ] = NdkOperationTypeRead,
	[PLX_WR_LOCAL_INV] = NdkOperationTypeInvalidate,
	[PLX_WR_BIND] = NdkOperationTypeBind,
	[PLX_WR_REG] = NdkOperationTypeFastRegister,
};

static inline NTSTATUS
status_of(const struct plx_wc *wc)
{
	return plx_likely(wc->status == PLX_WC_SUCCESS)
		       ? STATUS_SUCCESS
		       : ndk_completion_status(wc->status, wc->flags & PLX_WC_RECV);
}

static inline NDK_OPERATION_TYPE
operation_of(const struct plx_wc *wc)
{
	if (!(wc->flags & PLX_WC_RECV))
		return (NDK_OPERATION_TYPE)type_of[wc->op];
	return wc->flags & PLX_WC_INV ? NdkOperationTypeReceiveAndInvalidate
				      : NdkOperationTypeReceive;
}

/* How many of the next results are polled together. */
static inline uint32_t
part(ULONG left)
{
	return left < BURST ? left : BURST;
}

PLX_HOT ULONG
ndk_get_results(NDK_CQ *face, NDK_RESULT results[], ULONG n)
{
	struct plx_cq *cq = ndk_cq_of(face)->cq;
	struct plx_wc wc[BURST];
	uint32_t got, asked;
	ULONG done = 0;

	do {
		asked = part(n - done);
		got = plx_cq_poll(cq, wc, asked);
		for (uint32_t i = 0; i < got; i++, done++) {
			results[done].Status = status_of(&wc[i]);
			results[done].BytesTransferred = wc[i].bytes;
			results[done].QPContext = (PVOID)(uintptr_t)wc[i].context;
			results[done].RequestContext = (PVOID)(uintptr_t)wc[i].wr_id;
		}
	} while (got == asked && done < n);
	return done;
}

PLX_HOT ULONG
ndk_get_results_ex(NDK_CQ *face, NDK_RESULT_EX results[], ULONG n)
{
	struct plx_cq *cq = ndk_cq_of(face)->cq;
	struct plx_wc wc[BURST];
	uint32_t got, asked;
	ULONG done = 0;

	do {
		asked = part(n - done);
		got = plx_cq_poll(cq, wc, asked);
		for (uint32_t i = 0; i < got; i++, done++) {
			const NDK_OPERATION_TYPE type = operation_of(&wc[i]);

			results[done].Status = status_of(&wc[i]);
			results[done].BytesTransferred = wc[i].bytes;
			results[done].QPContext = (PVOID)(uintptr_t)wc[i].context;
			results[done].RequestContext = (PVOID)(uintptr_t)wc[i].wr_id;
			results[done].Type = type;
			/* PLX_WC_SUCCESS is 0 */
			results[done].ProviderErrorCode = wc[i].status;
			results[done].TypeSpecificCompletionOutput =
				type == NdkOperationTypeReceiveAndInvalidate ? wc[i].inv_key.v : 0;
		}
	} while (got == asked && done < n);
	return done;
}
