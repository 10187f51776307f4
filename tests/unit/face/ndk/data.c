/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests and their results on two adapters: each operation, refusals, deferred chains, inline
 * data, windows, shared receive queues (T24 to T30). Start with each_operation_has_its_type().
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "ndk_pair.h"

static NTSTATUS
write_to(struct ndk_pair *pair, uintptr_t context, UINT32 token, uint8_t *at, ULONG bytes,
	 ULONG flags)
{
	NDK_SGE sge = ndk_sge(&pair->a, 0, bytes);

	return pair->a.qp->Dispatch->NdkWrite(pair->a.qp, (PVOID)context, &sge, 1, (uintptr_t)at,
					      token, flags);
}

static NTSTATUS
read_from(struct ndk_pair *pair, uintptr_t context, UINT32 token, uint8_t *at, ULONG bytes,
	  ULONG flags)
{
	NDK_SGE sge = ndk_sge(&pair->a, 4096, bytes);

	return pair->a.qp->Dispatch->NdkRead(pair->a.qp, (PVOID)context, &sge, 1, (uintptr_t)at,
					     token, flags);
}

static void
expect_type(NDK_CQ *cq, uintptr_t context, NDK_OPERATION_TYPE type)
{
	NDK_RESULT_EX result = ndk_result_of(cq);

	assert_int_equal((uintptr_t)result.RequestContext, context);
	assert_nt(result.Status, STATUS_SUCCESS);
	assert_int_equal(result.Type, type);
	assert_int_equal(result.ProviderErrorCode, 0);
	assert_int_equal(result.TypeSpecificCompletionOutput, 0);
}

static void
each_operation_has_its_type(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_RESULT plain;

	(void)state;
	memset(pair->a.arena, 0x5a, 4096);
	ndk_post_receive(&pair->b, 1, 0, 64);
	ndk_post_send(&pair->a, 2, 0, 32, 0);
	expect_type(pair->a.cq, 2, NdkOperationTypeSend);
	ndk_until(pair->b.cq->Dispatch->NdkGetCqResults(pair->b.cq, &plain, 1) == 1);
	assert_ptr_equal(plain.RequestContext, (PVOID)1);
	assert_ptr_equal(plain.QPContext, &pair->b);
	assert_int_equal(plain.BytesTransferred, 32);
	assert_nt(write_to(pair, 3, pair->b.token, pair->b.arena + 100, 1000, 0), STATUS_SUCCESS);
	expect_type(pair->a.cq, 3, NdkOperationTypeWrite);
	assert_memory_equal(pair->b.arena + 100, pair->a.arena, 1000);
	assert_nt(read_from(pair, 4, pair->b.token, pair->b.arena + 100, 1000, 0), STATUS_SUCCESS);
	expect_type(pair->a.cq, 4, NdkOperationTypeRead);
	assert_memory_equal(pair->a.arena + 4096, pair->a.arena, 1000);
	ndk_pair_close(pair);
}

static void
results_of_both_kinds_are_read_in_turns(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_CQ *cq = pair->a.cq;

	(void)state;
	for (uintptr_t i = 0; i < 8; i++) {
		ndk_post_receive(&pair->b, i, 0, 8);
		ndk_post_send(&pair->a, i, 0, 8, 0);
	}
	for (uintptr_t i = 0; i < 8; i += 2) {
		NDK_RESULT shorter;
		NDK_RESULT_EX longer;

		ndk_until(cq->Dispatch->NdkGetCqResults(cq, &shorter, 1) == 1);
		ndk_until(cq->Dispatch->NdkGetCqResultsEx(cq, &longer, 1) == 1);
		assert_int_equal((uintptr_t)shorter.RequestContext, i);
		assert_int_equal((uintptr_t)longer.RequestContext, i + 1);
		assert_int_equal(longer.Type, NdkOperationTypeSend);
		assert_int_equal(longer.ProviderErrorCode, 0);
	}
	ndk_pair_close(pair);
}

/* ---- refusals: nothing has changed, and there is no result ---- */

static void
what_exceeds_a_limit_is_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.depth = 2, .sges = 2});
	const NDK_QP_DISPATCH *qp = pair->a.qp->Dispatch;
	NDK_SGE sge[17];

	(void)state;
	for (int i = 0; i < 17; i++)
		sge[i] = ndk_sge(&pair->a, 0, 8);
	assert_nt(qp->NdkSend(pair->a.qp, NULL, sge, 3, 0), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkReceive(pair->a.qp, NULL, sge, 3), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkRead(pair->a.qp, NULL, sge, 17, 0, 0, 0), STATUS_DATA_OVERRUN);
	sge[0].Length = sge[1].Length = 0x7fffffff;
	assert_nt(qp->NdkWrite(pair->a.qp, NULL, sge, 2, 0, 0, 0), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkSend(pair->a.qp, NULL, NULL, 1, 0), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkSend(pair->a.qp, NULL, sge, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkRead(pair->a.qp, NULL, sge, 1, 0, 0, NDK_OP_FLAG_INLINE),
		  STATUS_INVALID_PARAMETER);
	ndk_post_receive(&pair->a, 1, 0, 8);
	ndk_post_receive(&pair->a, 2, 0, 8);
	assert_nt(qp->NdkReceive(pair->a.qp, NULL, &sge[2], 1), STATUS_NO_MORE_ENTRIES);
	/* the peer has no receive, so these stay */
	ndk_post_send(&pair->a, 3, 0, 8, 0);
	ndk_post_send(&pair->a, 4, 0, 8, 0);
	assert_nt(qp->NdkSend(pair->a.qp, NULL, &sge[2], 1, 0), STATUS_NO_MORE_ENTRIES);
	ndk_expect_none(pair->a.cq);
	ndk_pair_close(pair);
}

static void
a_request_before_the_connection_is_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_SGE sge = ndk_sge(&pair->a, 0, 8);
	NDK_MW *mw = ndk_create(NDK_MW, pair->a.pd->Dispatch->NdkCreateMw, pair->a.pd);
	const NDK_QP_DISPATCH *qp = pair->a.qp->Dispatch;

	(void)state;
	assert_nt(qp->NdkSend(pair->a.qp, NULL, &sge, 1, 0), STATUS_CONNECTION_INVALID);
	assert_nt(qp->NdkRead(pair->a.qp, NULL, &sge, 1, 0, 0, 0), STATUS_CONNECTION_INVALID);
	assert_nt(qp->NdkBind(pair->a.qp, NULL, pair->a.mr, mw, pair->a.arena, 8,
			      NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_CONNECTION_INVALID);
	assert_nt(qp->NdkInvalidate(pair->a.qp, NULL, &mw->Header, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkInvalidate(pair->a.qp, NULL, &pair->a.mr->Header, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	ndk_post_receive(&pair->a, 1, 0, 8);
	qp->NdkFlush(pair->a.qp);
	ndk_expect(pair->a.cq, 1, STATUS_CANCELLED);
	ndk_end(mw->Dispatch->NdkCloseMw, mw);
	ndk_pair_close(pair);
}

/* ---- T24, T25: deferred requests ---- */

static void
t24_a_refusal_sends_what_was_deferred_before_it(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_SGE sge[5];

	(void)state;
	pair->a.arena[0] = 7;
	for (int i = 0; i < 5; i++)
		sge[i] = ndk_sge(&pair->a, 0, 8);
	assert_nt(write_to(pair, 1, pair->b.token, pair->b.arena, 8, NDK_OP_FLAG_DEFER),
		  STATUS_SUCCESS);
	assert_nt(pair->a.qp->Dispatch->NdkSend(pair->a.qp, NULL, sge, 5, NDK_OP_FLAG_DEFER),
		  STATUS_DATA_OVERRUN);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	assert_int_equal(pair->b.arena[0], 7);
	ndk_expect_none(pair->a.cq);
	ndk_pair_close(pair);
}

static void
t25_silent_deferred_requests_leave_with_the_last(void **state)
{
	const ULONG flags = NDK_OP_FLAG_DEFER | NDK_OP_FLAG_SILENT_SUCCESS;
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NTSTATUS status;

	(void)state;
	memset(pair->a.arena, 9, 8);
	/* more than the queue is deep: silent ones free their places without a result */
	for (ULONG round = 0; round < 3; round++) {
		for (ULONG i = 0; i + 1 < NDK_DEPTH; i++)
			ndk_until(write_to(pair, 0, pair->b.token, pair->b.arena + 8 * i, 8,
					   flags) == STATUS_SUCCESS);
		ndk_until(write_to(pair, round, pair->b.token, pair->b.arena + 2048, 8, 0) ==
			  STATUS_SUCCESS);
		ndk_expect(pair->a.cq, round, STATUS_SUCCESS);
		assert_int_equal(pair->b.arena[8 * (NDK_DEPTH - 2)], 9);
	}
	ndk_expect_none(pair->a.cq);
	/* flushed, which takes its time: what is posted before may still be sent */
	pair->a.qp->Dispatch->NdkFlush(pair->a.qp);
	do {
		ndk_until(write_to(pair, 4, pair->b.token, pair->b.arena, 8, 0) == STATUS_SUCCESS);
		status = ndk_result_of(pair->a.cq).Status;
	} while (status == STATUS_SUCCESS);
	assert_nt(status, STATUS_CANCELLED);
	/* silence is for success only */
	ndk_until(write_to(pair, 5, 0xbad, NULL, 8, flags) == STATUS_SUCCESS);
	ndk_until(write_to(pair, 6, 0xbad, NULL, 8, flags) == STATUS_SUCCESS);
	pair->a.qp->Dispatch->NdkFlush(pair->a.qp);
	assert_nt(ndk_result_of(pair->a.cq).Status, STATUS_CANCELLED);
	assert_nt(ndk_result_of(pair->a.cq).Status, STATUS_CANCELLED);
	ndk_pair_close(pair);
}

/* ---- T26, T27: SEND and invalidate ---- */

static NDK_MW *
bound_window(struct ndk_side *side, uintptr_t context, ULONG flags)
{
	NDK_MW *mw = ndk_create(NDK_MW, side->pd->Dispatch->NdkCreateMw, side->pd);

	assert_nt(side->qp->Dispatch->NdkBind(side->qp, (PVOID)context, side->mr, mw, side->arena,
					      4096, flags),
		  STATUS_SUCCESS);
	expect_type(side->cq, context, NdkOperationTypeBind);
	return mw;
}

static void
send_and_invalidate(struct ndk_side *side, uintptr_t context, UINT32 token)
{
	NDK_SGE sge = ndk_sge(side, 0, 8);

	assert_nt(side->qp->Dispatch->NdkSendAndInvalidate(side->qp, (PVOID)context, &sge, 1, 0,
							   token),
		  STATUS_SUCCESS);
}

static void
t26_a_send_invalidates_a_window(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MW *mw = bound_window(&pair->b, 1, NDK_OP_FLAG_ALLOW_REMOTE_WRITE);
	UINT32 token = mw->Dispatch->NdkGetRemoteTokenFromMw(mw);
	NDK_RESULT_EX result;

	(void)state;
	pair->a.arena[0] = 3;
	assert_nt(write_to(pair, 2, token, pair->b.arena, 8, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	assert_int_equal(pair->b.arena[0], 3);
	ndk_post_receive(&pair->b, 3, 8192, 64);
	send_and_invalidate(&pair->a, 4, token);
	expect_type(pair->a.cq, 4, NdkOperationTypeSend);
	result = ndk_result_of(pair->b.cq);
	assert_nt(result.Status, STATUS_SUCCESS);
	assert_int_equal(result.Type, NdkOperationTypeReceiveAndInvalidate);
	assert_int_equal(result.TypeSpecificCompletionOutput, token);
	/* dead: to its owner, and to the peer */
	assert_nt(pair->b.qp->Dispatch->NdkInvalidate(pair->b.qp, (PVOID)5, &mw->Header, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 5, STATUS_INVALID_DEVICE_REQUEST);
	pair->a.arena[0] = 4;
	assert_nt(write_to(pair, 6, token, pair->b.arena, 8, 0), STATUS_SUCCESS);
	ndk_result_of(pair->a.cq);
	assert_int_equal(pair->b.arena[0], 3);
	ndk_end(mw->Dispatch->NdkCloseMw, mw);
	ndk_pair_close(pair);
}

static void
t27_a_token_that_cannot_be_invalidated_ends_the_connection(void **state)
{
	(void)state;
	for (int bogus = 0; bogus < 2; bogus++) {
		struct ndk_pair *pair = ndk_pair_open(NULL);

		memset(pair->b.arena, 1, 4096);
		ndk_post_receive(&pair->b, 1, 0, 64);
		send_and_invalidate(&pair->a, 2, bogus ? 0x12345 : pair->b.token);
		ndk_expect(pair->b.cq, 1, STATUS_REMOTE_RESOURCES);
		/* no NAK tells the sender (docs/protocol.md): the request is tried in vain */
		ndk_expect(pair->a.cq, 2, STATUS_IO_TIMEOUT);
		ndk_until(pair->a.disconnected == 1 && pair->b.disconnected == 1);
		assert_int_equal(pair->b.arena[0], 1);
		ndk_pair_close(pair);
	}
}

/* READs have a number of their own, which a peer that leaves at once never agrees. */
static void
a_read_is_flushed_though_the_peer_never_completed(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector;
	NDK_SGE sge;

	(void)state;
	ndk_pair_request(pair);
	ndk_pair_reply(pair);
	ndk_end(a->Dispatch->NdkCloseConnector, a);
	pair->a.connector = NULL;
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_CONNECTION_ABORTED);
	pair->b.qp->Dispatch->NdkFlush(pair->b.qp);
	ndk_settle();
	sge = ndk_sge(&pair->b, 0, 8);
	assert_nt(pair->b.qp->Dispatch->NdkRead(pair->b.qp, (PVOID)1, &sge, 1, 0, 0, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_CANCELLED);
	ndk_pair_close(pair);
}

static void
a_window_of_a_region_without_local_write_cannot_be_written(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MW *mw = ndk_create(NDK_MW, pair->b.pd->Dispatch->NdkCreateMw, pair->b.pd);
	NDK_MR *mr = ndk_create(NDK_MR, pair->b.pd->Dispatch->NdkCreateMr, pair->b.pd, FALSE);
	const NDK_QP_DISPATCH *qp = pair->b.qp->Dispatch;

	(void)state;
	assert_nt(qp->NdkBind(pair->b.qp, NULL, mr, mw, pair->b.arena, 8, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(ndk_result(mr->Dispatch->NdkRegisterMr, mr, pair->b.mdl, 4096,
			     NDK_MR_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	assert_nt(qp->NdkBind(pair->b.qp, NULL, mr, mw, pair->b.arena, 8,
			      NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
		  STATUS_ACCESS_VIOLATION);
	assert_nt(qp->NdkBind(pair->b.qp, NULL, mr, mw, pair->b.arena, 4097,
			      NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_ACCESS_VIOLATION);
	assert_nt(qp->NdkBind(pair->b.qp, (PVOID)1, mr, mw, pair->b.arena, 8,
			      NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	/* a region goes after its windows */
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_INVALID_DEVICE_REQUEST);
	ndk_end(mw->Dispatch->NdkCloseMw, mw);
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_SUCCESS);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

/* ---- T28: fast registration ---- */

static NDK_MR *
fast_region(struct ndk_side *side, bool remote)
{
	NDK_MR *mr = ndk_create(NDK_MR, side->pd->Dispatch->NdkCreateMr, side->pd, TRUE);

	assert_nt(ndk_result(mr->Dispatch->NdkInitializeFastRegisterMr, mr, 4, remote),
		  STATUS_SUCCESS);
	return mr;
}

/* Register `pages` pages of the arena from its offset on. */
static NTSTATUS
fast_register(struct ndk_side *side, uintptr_t context, NDK_MR *mr, ULONG offset, ULONG pages,
	      ULONG flags)
{
	NDK_LOGICAL_ADDRESS page[8];
	ULONG fbo = BYTE_OFFSET(side->arena + offset);

	for (ULONG i = 0; i < pages; i++)
		page[i].QuadPart = (LONGLONG)((uintptr_t)side->arena + offset - fbo +
					      (uintptr_t)i * PAGE_SIZE);
	return side->qp->Dispatch->NdkFastRegister(side->qp, (PVOID)context, mr, pages, page, fbo,
						   (SIZE_T)pages * PAGE_SIZE - fbo,
						   side->arena + offset, flags);
}

static UINT32
token_of(NDK_MR *mr)
{
	return mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
}

/* What was posted before it has its own result, though it is not acknowledged yet. */
static void
a_failed_registration_is_charged_to_itself(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->a, true);

	(void)state;
	assert_nt(fast_register(&pair->a, 1, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	assert_nt(write_to(pair, 2, pair->b.token, pair->b.arena, 32768, NDK_OP_FLAG_DEFER),
		  STATUS_SUCCESS);
	/* it was not invalidated before */
	assert_nt(fast_register(&pair->a, 3, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 3, STATUS_INVALID_DEVICE_REQUEST);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

/* ... one of another domain, which a peer of that domain may invalidate */
static void
t27_a_token_of_another_domain_ends_the_connection(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL), *other = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&other->b, true);

	(void)state;
	assert_nt(fast_register(&other->b, 1, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
		  STATUS_SUCCESS);
	ndk_expect(other->b.cq, 1, STATUS_SUCCESS);
	ndk_post_receive(&pair->b, 1, 0, 64);
	send_and_invalidate(&pair->a, 2, token_of(mr));
	ndk_expect(pair->b.cq, 1, STATUS_REMOTE_RESOURCES);
	ndk_expect(pair->a.cq, 2, STATUS_IO_TIMEOUT);
	ndk_until(pair->a.disconnected == 1 && pair->b.disconnected == 1);
	/* it is alive still */
	other->a.arena[0] = 7;
	assert_nt(write_to(other, 3, token_of(mr), other->b.arena, 8, 0), STATUS_SUCCESS);
	ndk_expect(other->a.cq, 3, STATUS_SUCCESS);
	assert_int_equal(other->b.arena[0], 7);
	ndk_post_receive(&other->b, 4, 8192, 64);
	send_and_invalidate(&other->a, 5, token_of(mr));
	ndk_expect(other->b.cq, 4, STATUS_SUCCESS);
	ndk_expect(other->a.cq, 5, STATUS_SUCCESS);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(other);
	ndk_pair_close(pair);
}

/* The token is known at once, and valid for whatever is posted later. */
static void
t28_a_token_is_valid_for_the_next_request(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, true);
	UINT32 old, token;

	(void)state;
	pair->a.arena[0] = 5;
	assert_nt(fast_register(&pair->b, 1, mr, 100, 2,
				NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_DEFER),
		  STATUS_SUCCESS);
	old = token_of(mr);
	assert_int_not_equal(old, 0);
	ndk_post_receive(&pair->a, 2, 8192, 64);
	ndk_post_send(&pair->b, 3, 0, 8, 0);
	expect_type(pair->b.cq, 1, NdkOperationTypeFastRegister);
	ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	assert_nt(write_to(pair, 4, old, pair->b.arena + 100, 8, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 4, STATUS_SUCCESS);
	assert_int_equal(pair->b.arena[100], 5);
	/* invalidated and registered again, without a wait between them */
	assert_nt(pair->b.qp->Dispatch->NdkInvalidate(pair->b.qp, (PVOID)5, &mr->Header,
						      NDK_OP_FLAG_DEFER),
		  STATUS_SUCCESS);
	assert_nt(fast_register(&pair->b, 6, mr, 4096, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	token = token_of(mr);
	assert_int_not_equal(token, old);
	expect_type(pair->b.cq, 5, NdkOperationTypeInvalidate);
	expect_type(pair->b.cq, 6, NdkOperationTypeFastRegister);
	assert_nt(read_from(pair, 7, token, pair->b.arena + 4096, 64, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 7, STATUS_SUCCESS);
	assert_nt(write_to(pair, 8, old, pair->b.arena + 100, 8, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 8, STATUS_REMOTE_RESOURCES);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

static void
t28_a_local_write_is_no_remote_one(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, true);

	(void)state;
	assert_nt(fast_register(&pair->b, 1, mr, 0, 1,
				NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_LOCAL_WRITE),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	pair->a.arena[0] = 1;
	assert_nt(write_to(pair, 2, token_of(mr), pair->b.arena, 8, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_REMOTE_RESOURCES);
	assert_int_equal(pair->b.arena[0], 0);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

static void
t26_a_send_invalidates_a_fast_region(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, true);
	NDK_RESULT_EX result;

	(void)state;
	assert_nt(fast_register(&pair->b, 1, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	ndk_post_receive(&pair->b, 2, 8192, 64);
	send_and_invalidate(&pair->a, 3, token_of(mr));
	ndk_expect(pair->a.cq, 3, STATUS_SUCCESS);
	result = ndk_result_of(pair->b.cq);
	assert_int_equal(result.Type, NdkOperationTypeReceiveAndInvalidate);
	assert_int_equal(result.TypeSpecificCompletionOutput, token_of(mr));
	/* free for the next */
	assert_nt(fast_register(&pair->b, 4, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 4, STATUS_SUCCESS);
	/* ... and a second time is an error */
	assert_nt(fast_register(&pair->b, 5, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 5, STATUS_INVALID_DEVICE_REQUEST);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

static void
x5_a_read_invalidates_its_sink(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->a, false);
	NDK_SGE sge;

	(void)state;
	memset(pair->b.arena, 8, 8192);
	assert_nt(fast_register(&pair->a, 1, mr, 0, 2,
				NDK_OP_FLAG_ALLOW_LOCAL_WRITE | NDK_OP_FLAG_SILENT_SUCCESS),
		  STATUS_SUCCESS);
	sge = (NDK_SGE){.VirtualAddress = pair->a.arena,
			.Length = 8192,
			.MemoryRegionToken = mr->Dispatch->NdkGetLocalTokenFromMr(mr)};
	assert_nt(pair->a.qp->Dispatch->NdkRead(pair->a.qp, (PVOID)2, &sge, 1,
						(uintptr_t)pair->b.arena, pair->b.token,
						NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE),
		  STATUS_SUCCESS);
	expect_type(pair->a.cq, 2, NdkOperationTypeRead);
	assert_int_equal(pair->a.arena[8191], 8);
	/* dead, and so free for the next */
	assert_nt(fast_register(&pair->a, 3, mr, 0, 1, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 3, STATUS_SUCCESS);
	assert_nt(pair->a.qp->Dispatch->NdkWrite(pair->a.qp, (PVOID)4, &sge, 1,
						 (uintptr_t)pair->b.arena, pair->b.token, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 4, STATUS_ACCESS_VIOLATION);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

static void
a_wrong_fast_registration_is_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, false), *raw;
	const NDK_QP_DISPATCH *qp = pair->b.qp->Dispatch;
	NDK_LOGICAL_ADDRESS page = {.QuadPart = (LONGLONG)(uintptr_t)pair->b.arena};

	(void)state;
	raw = ndk_create(NDK_MR, pair->b.pd->Dispatch->NdkCreateMr, pair->b.pd, TRUE);
	assert_nt(fast_register(&pair->b, 0, raw, 0, 1, 0), STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(fast_register(&pair->b, 0, pair->b.mr, 0, 1, 0), STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(fast_register(&pair->b, 0, mr, 0, 1, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_ACCESS_VIOLATION);
	assert_nt(fast_register(&pair->b, 0, mr, 0, 5, 0), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(pair->b.qp, NULL, mr, 1, &page, 0, PAGE_SIZE + 1,
				      pair->b.arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(pair->b.qp, NULL, mr, 1, &page, 8, 8, pair->b.arena, 0),
		  STATUS_INVALID_PARAMETER);
	/* the address is an index: zero will do */
	assert_nt(qp->NdkFastRegister(pair->b.qp, (PVOID)1, mr, 1, &page, 0, PAGE_SIZE, NULL,
				      NDK_OP_FLAG_SILENT_SUCCESS),
		  STATUS_SUCCESS);
	ndk_expect_none(pair->b.cq);
	ndk_end(raw->Dispatch->NdkCloseMr, raw);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_pair_close(pair);
}

/* ---- T29: inline data ---- */

static void
t29_inline_data_is_taken_when_posted(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.sges = 1, .inline_bytes = 90});
	const NDK_QP_DISPATCH *qp = pair->a.qp->Dispatch;
	uint8_t bytes[91];
	NDK_SGE sge[3];

	(void)state;
	memset(bytes, 0x77, sizeof(bytes));
	for (int i = 0; i < 3; i++)
		sge[i] = (NDK_SGE){
			.VirtualAddress = bytes, .Length = 30, .MemoryRegionToken = 0xdead};
	ndk_post_receive(&pair->b, 1, 0, 128);
	assert_nt(qp->NdkSend(pair->a.qp, (PVOID)2, sge, 3, NDK_OP_FLAG_INLINE), STATUS_SUCCESS);
	memset(bytes, 0x11, sizeof(bytes));
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	for (int i = 0; i < 90; i++)
		assert_int_equal(pair->b.arena[i], 0x77);
	assert_nt(qp->NdkWrite(pair->a.qp, (PVOID)3, sge, 3, (uintptr_t)pair->b.arena,
			       pair->b.token, NDK_OP_FLAG_INLINE),
		  STATUS_SUCCESS);
	memset(bytes, 0x22, sizeof(bytes));
	ndk_expect(pair->a.cq, 3, STATUS_SUCCESS);
	assert_int_equal(pair->b.arena[89], 0x11);
	sge[2].Length = 31;
	assert_nt(qp->NdkSend(pair->a.qp, NULL, sge, 3, NDK_OP_FLAG_INLINE),
		  STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkWrite(pair->a.qp, NULL, sge, 3, 0, 0, NDK_OP_FLAG_INLINE),
		  STATUS_BUFFER_OVERFLOW);
	ndk_pair_close(pair);
}

/* ---- T30: shared receive queues ---- */

static NTSTATUS
modify(struct ndk_side *side, ULONG depth, ULONG threshold)
{
	return ndk_result(side->srq->Dispatch->NdkModifySrq, side->srq, depth, threshold);
}

static void
pass_one(struct ndk_pair *pair)
{
	ndk_post_send(&pair->a, 1, 0, 8, 0);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	assert_nt(ndk_result_of(pair->b.cq).Status, STATUS_SUCCESS);
	ndk_settle();
}

static void
t30_a_shared_queue_tells_once_that_it_runs_low(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(&(struct ndk_options){.srq = true, .threshold = 3});

	(void)state;
	for (uintptr_t i = 0; i < 5; i++)
		ndk_post_receive(&pair->b, i, 0, 64);
	ndk_post_receive(&pair->a, 9, 0, 64);
	ndk_pair_connect(pair);
	assert_int_equal(pair->b.below, 0);
	pass_one(pair);
	pass_one(pair);
	assert_int_equal(pair->b.below, 0);
	pass_one(pair); /* two are left */
	assert_int_equal(pair->b.below, 1);
	pass_one(pair);
	assert_int_equal(pair->b.below, 1);
	assert_nt(modify(&pair->b, 0, 0), STATUS_SUCCESS);
	ndk_settle();
	assert_int_equal(pair->b.below, 1);
	assert_nt(modify(&pair->b, 0, 2), STATUS_SUCCESS);
	ndk_until(pair->b.below == 2);
	assert_nt(modify(&pair->b, 1 << 20, 0), STATUS_INVALID_PARAMETER);
	/* what no queue pair has taken stays for the others */
	pair->b.qp->Dispatch->NdkFlush(pair->b.qp);
	ndk_expect_none(pair->b.cq);
	ndk_pair_close(pair);
}

static void
a_message_longer_than_its_receive_fails_at_both_ends(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);

	(void)state;
	ndk_post_receive(&pair->b, 1, 0, 8);
	ndk_post_send(&pair->a, 2, 0, 9, 0);
	ndk_expect(pair->b.cq, 1, STATUS_BUFFER_OVERFLOW);
	ndk_expect(pair->a.cq, 2, STATUS_REMOTE_RESOURCES);
	ndk_pair_close(pair);
}

/* The privileged token: local memory by its address, and no key for a peer. */
static void
x3_the_privileged_token_is_local(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	UINT32 mine, peers;
	NDK_SGE sge;

	(void)state;
	pair->a.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(pair->a.pd, &mine);
	pair->b.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(pair->b.pd, &peers);
	sge = (NDK_SGE){.LogicalAddress.QuadPart = (LONGLONG)(uintptr_t)pair->a.arena,
			.Length = 64,
			.MemoryRegionToken = mine};
	pair->a.arena[63] = 0x42;
	assert_nt(pair->a.qp->Dispatch->NdkWrite(pair->a.qp, (PVOID)1, &sge, 1,
						 (uintptr_t)pair->b.arena, pair->b.token, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	assert_int_equal(pair->b.arena[63], 0x42);
	assert_nt(write_to(pair, 2, peers, pair->b.arena, 8, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_REMOTE_RESOURCES);
	ndk_pair_close(pair);
}

/* ---- a region and its windows ---- */

enum unbound {
	BY_OWNER,
	BY_PEER,
	BY_NEXT_BIND,
	BY_CLOSE,
	UNBOUND_COUNT
};

static void
unbind(struct ndk_pair *pair, NDK_MW *mw, enum unbound how)
{
	const UINT32 token = mw->Dispatch->NdkGetRemoteTokenFromMw(mw);
	const NDK_QP_DISPATCH *qp = pair->b.qp->Dispatch;

	if (how == BY_PEER) {
		ndk_post_receive(&pair->b, 3, 8192, 64);
		send_and_invalidate(&pair->a, 4, token);
		ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
	} else if (how == BY_CLOSE) {
		ndk_end(mw->Dispatch->NdkCloseMw, mw);
	} else {
		assert_nt(qp->NdkInvalidate(pair->b.qp, (PVOID)3, &mw->Header, 0), STATUS_SUCCESS);
		ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
	}
	if (how == BY_NEXT_BIND) {
		assert_nt(qp->NdkBind(pair->b.qp, (PVOID)4, pair->b.mr, mw, pair->b.arena, 8,
				      NDK_OP_FLAG_ALLOW_REMOTE_READ),
			  STATUS_SUCCESS);
		ndk_expect(pair->b.cq, 4, STATUS_SUCCESS);
	}
}

static void
a_region_is_closed_once_no_window_is_bound_to_it(void **state)
{
	(void)state;
	for (enum unbound how = BY_OWNER; how < UNBOUND_COUNT; how++) {
		struct ndk_pair *pair = ndk_pair_open(NULL);
		NDK_PD *pd = pair->b.pd;
		NDK_MW *mw = ndk_create(NDK_MW, pd->Dispatch->NdkCreateMw, pd);
		NDK_MR *mr = ndk_create(NDK_MR, pd->Dispatch->NdkCreateMr, pd, FALSE);
		struct ndk_done done = {0};

		assert_nt(ndk_result(mr->Dispatch->NdkRegisterMr, mr, pair->b.mdl, 4096,
				     NDK_MR_FLAG_ALLOW_REMOTE_READ),
			  STATUS_SUCCESS);
		assert_nt(pair->b.qp->Dispatch->NdkBind(pair->b.qp, (PVOID)1, mr, mw, pair->b.arena,
							8, NDK_OP_FLAG_ALLOW_REMOTE_READ),
			  STATUS_SUCCESS);
		ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
		assert_nt(mr->Dispatch->NdkCloseMr(&mr->Header, ndk_on_closed, &done),
			  STATUS_PENDING);
		/* the window still serves the peer */
		pair->b.arena[0] = (uint8_t)(how + 1);
		assert_nt(read_from(pair, 2, mw->Dispatch->NdkGetRemoteTokenFromMw(mw),
				    pair->b.arena, 8, 0),
			  STATUS_SUCCESS);
		ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
		assert_int_equal(done.calls, 0);
		unbind(pair, mw, how);
		ndk_until(done.calls == 1);
		if (how != BY_CLOSE)
			ndk_end(mw->Dispatch->NdkCloseMw, mw);
		ndk_pair_close(pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation_has_its_type),
		cmocka_unit_test(results_of_both_kinds_are_read_in_turns),
		cmocka_unit_test(what_exceeds_a_limit_is_refused),
		cmocka_unit_test(a_request_before_the_connection_is_refused),
		cmocka_unit_test(t24_a_refusal_sends_what_was_deferred_before_it),
		cmocka_unit_test(t25_silent_deferred_requests_leave_with_the_last),
		cmocka_unit_test(t26_a_send_invalidates_a_window),
		cmocka_unit_test(t27_a_token_that_cannot_be_invalidated_ends_the_connection),
		cmocka_unit_test(t27_a_token_of_another_domain_ends_the_connection),
		cmocka_unit_test(a_failed_registration_is_charged_to_itself),
		cmocka_unit_test(a_read_is_flushed_though_the_peer_never_completed),
		cmocka_unit_test(a_window_of_a_region_without_local_write_cannot_be_written),
		cmocka_unit_test(t26_a_send_invalidates_a_fast_region),
		cmocka_unit_test(a_region_is_closed_once_no_window_is_bound_to_it),
		cmocka_unit_test(t28_a_token_is_valid_for_the_next_request),
		cmocka_unit_test(t28_a_local_write_is_no_remote_one),
		cmocka_unit_test(x5_a_read_invalidates_its_sink),
		cmocka_unit_test(a_wrong_fast_registration_is_refused),
		cmocka_unit_test(t29_inline_data_is_taken_when_posted),
		cmocka_unit_test(t30_a_shared_queue_tells_once_that_it_runs_low),
		cmocka_unit_test(a_message_longer_than_its_receive_fails_at_both_ends),
		cmocka_unit_test(x3_the_privileged_token_is_local),
	};

	return ndk_run("ndk_data", tests, sizeof(tests) / sizeof(tests[0]));
}
