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

/* What both kinds of results begin with. */
_Static_assert(offsetof(NDK_RESULT_EX, Status) == offsetof(NDK_RESULT, Status) &&
		       offsetof(NDK_RESULT_EX, BytesTransferred) ==
			       offsetof(NDK_RESULT, BytesTransferred) &&
		       offsetof(NDK_RESULT_EX, QPContext) == offsetof(NDK_RESULT, QPContext) &&
		       offsetof(NDK_RESULT_EX, RequestContext) ==
			       offsetof(NDK_RESULT, RequestContext),
	       "the longer result begins as the shorter");

static inline void
fill(const struct plx_wc *wc, NDK_RESULT *result)
{
	result->Status = status_of(wc);
	result->BytesTransferred = wc->bytes;
	result->QPContext = (PVOID)(uintptr_t)wc->context;
	result->RequestContext = (PVOID)(uintptr_t)wc->wr_id;
}

static inline void
fill_ex(const struct plx_wc *wc, NDK_RESULT_EX *result)
{
	const NDK_OPERATION_TYPE type = operation_of(wc);

	fill(wc, (NDK_RESULT *)(void *)result);
	result->Type = type;
	/* PLX_WC_SUCCESS is 0 */
	result->ProviderErrorCode = wc->status;
	result->TypeSpecificCompletionOutput =
		type == NdkOperationTypeReceiveAndInvalidate ? wc->inv_key.v : 0;
}

/* One of the two arrays is NULL, by a constant of the caller's. */
static inline __attribute__((always_inline)) ULONG
get(NDK_CQ *face, NDK_RESULT results[], NDK_RESULT_EX results_ex[], ULONG n)
{
	struct plx_cq *cq = ndk_cq_of(face)->cq;
	struct plx_wc wc[BURST];
	uint32_t got, asked;
	ULONG done = 0;

	do {
		asked = part(n - done);
		got = plx_cq_poll(cq, wc, asked);
		for (uint32_t i = 0; i < got; i++, done++) {
			if (results_ex != NULL)
				fill_ex(&wc[i], &results_ex[done]);
			else
				fill(&wc[i], &results[done]);
		}
	} while (got == asked && done < n);
	return done;
}

PLX_HOT ULONG
ndk_get_results(NDK_CQ *cq, NDK_RESULT results[], ULONG n)
{
	return get(cq, results, NULL, n);
}

PLX_HOT ULONG
ndk_get_results_ex(NDK_CQ *cq, NDK_RESULT_EX results[], ULONG n)
{
	return get(cq, NULL, results, n);
}
