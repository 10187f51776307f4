/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results: completions of plx_verbs.h become NDK's. Hot; no lock, no system call. Start with
 * ndk_get_results().
 */
#include "cq.h"
#include "plx_cq_look.h"

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

/* Of the two arrays one is NULL, by a constant of the caller's. */
static inline __attribute__((always_inline)) void
put(const struct plx_wc *wc, NDK_RESULT *results, NDK_RESULT_EX *results_ex, ULONG i)
{
	if (results_ex != NULL)
		fill_ex(wc, &results_ex[i]);
	else
		fill(wc, &results[i]);
}

static inline __attribute__((always_inline)) ULONG
take(struct plx_cq *cq, NDK_RESULT *results, NDK_RESULT_EX *results_ex, ULONG n)
{
	struct plx_wc_span span;
	ULONG i;

	if (plx_cq_peek(cq, n, &span) == 0)
		return 0;
	for (i = 0; i < span.first; i++)
		put(&span.at[i], results, results_ex, i);
	for (; plx_unlikely(i < span.count); i++)
		put(&span.more[i - span.first], results, results_ex, i);
	plx_cq_release(cq, &span);
	return i;
}

static __attribute__((noinline)) ULONG
take_results(struct plx_cq *cq, NDK_RESULT *results, ULONG n)
{
	return take(cq, results, NULL, n);
}

static __attribute__((noinline)) ULONG
take_results_ex(struct plx_cq *cq, NDK_RESULT_EX *results, ULONG n)
{
	return take(cq, NULL, results, n);
}

/* Most polls find nothing: then there is nothing to run either, for NDK's adapters have workers. */
PLX_HOT ULONG
ndk_get_results(NDK_CQ *face, NDK_RESULT results[], ULONG n)
{
	struct plx_cq *cq = ndk_cq_of(face)->cq;

	return plx_cq_looks_empty(cq) ? 0 : take_results(cq, results, n);
}

PLX_HOT ULONG
ndk_get_results_ex(NDK_CQ *face, NDK_RESULT_EX results[], ULONG n)
{
	struct plx_cq *cq = ndk_cq_of(face)->cq;

	return plx_cq_looks_empty(cq) ? 0 : take_results_ex(cq, results, n);
}
