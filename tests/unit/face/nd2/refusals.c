/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Refused calls are refused completely: the status, the OVERLAPPED with the same status, and
 * nothing else has changed. Objects of other providers, full queues, incomplete rights, ids of
 * released objects. Start with objects_of_another_maker_are_none().
 */
#define PLX_COM_IMPLEMENTS
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	AT = 4096, /* in an arena */
	BYTES = 512,
};

/* ---- another maker's ---- */

static HRESULT STDMETHODCALLTYPE
query_interface(IUnknown *face, REFIID iid, void **out)
{
	(void)face, (void)iid;
	*out = NULL;
	return E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE
count(IUnknown *face)
{
	(void)face;
	return 1;
}

static const IUnknownVtbl others_table = {query_interface, count, count};
static IUnknown other = {&others_table}; /* a pointer and not a byte more */

static void
queue_pairs_refuse(struct nd_pair *pair)
{
	IUnknown *cq = nd_unknown(pair->a.receive_cq), *srq = nd_unknown(pair->a.srq);
	IND2Adapter *adapter = pair->a.adapter;
	const IID *iid = &IID_IND2QueuePair;
	void *out = &out;

	assert_hr(IND2Adapter_CreateQueuePair(adapter, iid, &other, cq, NULL, 8, 8, 1, 1, 0, &out),
		  ND_INVALID_PARAMETER_2);
	assert_null(out);
	out = &out;
	assert_hr(IND2Adapter_CreateQueuePair(adapter, iid, cq, &other, NULL, 8, 8, 1, 1, 0, &out),
		  ND_INVALID_PARAMETER_3);
	assert_null(out);
	out = &out;
	assert_hr(IND2Adapter_CreateQueuePairWithSrq(adapter, iid, &other, cq, srq, NULL, 8, 1, 0,
						     &out),
		  ND_INVALID_PARAMETER_2);
	assert_null(out);
	out = &out;
	assert_hr(IND2Adapter_CreateQueuePairWithSrq(adapter, iid, cq, &other, srq, NULL, 8, 1, 0,
						     &out),
		  ND_INVALID_PARAMETER_3);
	assert_null(out);
	out = &out;
	assert_hr(IND2Adapter_CreateQueuePairWithSrq(adapter, iid, cq, cq, &other, NULL, 8, 1, 0,
						     &out),
		  ND_INVALID_PARAMETER_4);
	assert_null(out);
}

/* It has its own vtable, and nothing else of it is accessed. */
static void
objects_of_another_maker_are_none(void **state)
{
	const struct nd_options options = {.srq = true};
	struct nd_pair *pair = nd_pair_bound(state, &options);
	const struct nd_address *at = &pair->at;
	void *mw = NULL;

	assert_hr(IND2Adapter_CreateMemoryWindow(pair->a.adapter, &IID_IND2MemoryWindow, &mw),
		  ND_SUCCESS);
	queue_pairs_refuse(pair);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, &other, &pair->asked),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Connector_Connect(pair->a.connector, &other, &at->any, at->length, 1, 1, NULL,
					0, &pair->connected),
		  ND_INVALID_PARAMETER_1);
	nd_pair_request(pair);
	assert_hr(IND2Connector_Accept(pair->b.connector, &other, 1, 1, NULL, 0, &pair->accepted),
		  ND_INVALID_PARAMETER_1);
	nd_pair_reply(pair);
	nd_pair_complete(pair);
	assert_hr(IND2QueuePair_Bind(pair->a.qp, NULL, &other, mw, pair->a.arena, 8, 0),
		  ND_INVALID_PARAMETER_2);
	assert_hr(IND2QueuePair_Bind(pair->a.qp, NULL, nd_unknown(pair->a.mr), &other,
				     pair->a.arena, 8, 0),
		  ND_INVALID_PARAMETER_3);
	assert_hr(IND2QueuePair_Invalidate(pair->a.qp, NULL, &other, 0), ND_INVALID_PARAMETER_2);
	nd_message(&pair->a, &pair->b, 1);
	nd_expect_none(pair->a.initiator_cq);
	nd_release((IND2MemoryWindow *)mw, 0);
	nd_pair_close(pair);
}

/* ---- the OVERLAPPED of a refused call ---- */

/* It has the status for every caller; neither event nor port is signaled. */
static void
assert_said(IND2Overlapped *object, OVERLAPPED *ov, HRESULT status, HANDLE port)
{
	OVERLAPPED *got = ov;
	ULONG_PTR key;
	DWORD bytes;

	assert_hr((HRESULT)ov->Internal, status);
	assert_hr(IND2Overlapped_GetOverlappedResult(object, ov, TRUE), status);
	assert_int_equal(WaitForSingleObject(ov->hEvent, 0), WAIT_TIMEOUT);
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
	assert_null(got);
	memset(ov, 0x5a, offsetof(OVERLAPPED, hEvent));
}

#define REFUSED(object, call, status)                                               \
	do {                                                                        \
		assert_hr(call, status);                                            \
		assert_said((IND2Overlapped *)(void *)(object), &ov, status, port); \
	} while (0)

static void
a_refused_request_is_told_by_its_overlapped_alone(void **state)
{
	const struct nd_options options = {.srq = true};
	struct nd_pair *pair = nd_pair_idle(state, &options);
	HANDLE port = CreateIoCompletionPort(pair->a.file, NULL, 1, 0);
	OVERLAPPED ov = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	const struct nd_address *at = &pair->at;
	IND2MemoryRegion *mr = pair->a.mr;
	IUnknown *qp = nd_unknown(pair->a.qp);

	assert_non_null(port);
	memset(&ov, 0x5a, offsetof(OVERLAPPED, hEvent));
	REFUSED(pair->a.receive_cq, IND2CompletionQueue_Notify(pair->a.receive_cq, 3, &ov),
		ND_INVALID_PARAMETER_1);
	REFUSED(mr, IND2MemoryRegion_Register(mr, NULL, 8, 0, &ov), ND_INVALID_PARAMETER);
	REFUSED(mr, IND2MemoryRegion_Register(mr, pair->a.arena, 0, 0, &ov),
		ND_INVALID_BUFFER_SIZE);
	REFUSED(mr, IND2MemoryRegion_Register(mr, pair->a.arena, 8, 0x10, &ov),
		ND_INVALID_PARAMETER_3);
	REFUSED(mr, IND2MemoryRegion_Register(mr, pair->a.arena, 8, 0, &ov),
		ND_INVALID_DEVICE_STATE);
	REFUSED(pair->a.connector,
		IND2Connector_Connect(pair->a.connector, qp, &at->any, at->length, 1, 1, NULL, 0,
				      &ov),
		(HRESULT)STATUS_ADDRESS_NOT_ASSOCIATED);
	REFUSED(pair->a.connector, IND2Connector_CompleteConnect(pair->a.connector, &ov),
		ND_CONNECTION_INVALID);
	REFUSED(pair->a.connector, IND2Connector_Accept(pair->a.connector, qp, 1, 1, NULL, 0, &ov),
		ND_CONNECTION_INVALID);
	REFUSED(pair->a.connector, IND2Connector_NotifyDisconnect(pair->a.connector, &ov),
		ND_CONNECTION_INVALID);
	REFUSED(pair->a.connector, IND2Connector_Disconnect(pair->a.connector, &ov),
		ND_CONNECTION_INVALID);
	REFUSED(pair->a.connector, IND2Listener_GetConnectionRequest(pair->listener, NULL, &ov),
		ND_INVALID_PARAMETER_1);
	CloseHandle(ov.hEvent);
	CloseHandle(port);
	nd_pair_close(pair);
}

/* An invalid event: nothing can be set, and the status is there all the same. */
static void
a_request_with_a_wrong_event_is_told_by_its_overlapped(void **state)
{
	const struct nd_options options = {.srq = true, .threshold = 2};
	struct nd_pair *pair = nd_pair_bound(state, &options);
	OVERLAPPED ov = {.hEvent = pair->a.file};

	assert_hr(IND2CompletionQueue_Notify(pair->a.receive_cq, ND_CQ_NOTIFY_ANY, &ov),
		  ND_INVALID_HANDLE);
	assert_hr((HRESULT)ov.Internal, ND_INVALID_HANDLE);
	ov.Internal = 0;
	assert_hr(IND2SharedReceiveQueue_Notify(pair->a.srq, &ov), ND_INVALID_HANDLE);
	assert_hr((HRESULT)ov.Internal, ND_INVALID_HANDLE);
	ov.Internal = 0;
	assert_hr(IND2MemoryRegion_Deregister(pair->a.mr, &ov), ND_INVALID_HANDLE);
	assert_hr((HRESULT)ov.Internal, ND_INVALID_HANDLE);
	ov.Internal = 0;
	assert_hr(IND2Connector_Connect(pair->a.connector, nd_unknown(pair->a.qp), &pair->at.any,
					pair->at.length, 1, 1, NULL, 0, &ov),
		  ND_INVALID_HANDLE);
	assert_hr((HRESULT)ov.Internal, ND_INVALID_HANDLE);
	/* nothing waits, and every call still works: below its threshold the queue now notifies */
	ov = (OVERLAPPED){0};
	nd_pends(IND2SharedReceiveQueue_Notify(pair->a.srq, &ov), ND_SUCCESS);
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

/* Requests of several objects on one port: the first one cancelled completes first. */
static void
A02_cancel_is_of_one_object_and_told_in_the_order_of_the_calls(void **state)
{
	const struct nd_options options = {.two_cqs = true, .srq = true};
	struct nd_pair *pair = nd_pair_bound(state, &options);
	HANDLE port = CreateIoCompletionPort(pair->b.file, NULL, 1, 0);
	OVERLAPPED ov[4] = {{0}}, *got;
	ULONG_PTR key;
	DWORD bytes;

	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &ov[3]),
		  ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, ND_CQ_NOTIFY_ANY, &ov[2]),
		  ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(pair->b.initiator_cq, ND_CQ_NOTIFY_ANY, &ov[1]),
		  ND_PENDING);
	assert_hr(IND2SharedReceiveQueue_Notify(pair->b.srq, &ov[0]), ND_PENDING);
	for (int i = 0; i < 4; i++) {
		if (i == 0)
			IND2SharedReceiveQueue_CancelOverlappedRequests(pair->b.srq);
		else if (i == 3)
			IND2Listener_CancelOverlappedRequests(pair->listener);
		else
			IND2CompletionQueue_CancelOverlappedRequests(i == 1 ? pair->b.initiator_cq
									    : pair->b.receive_cq);
		for (int j = 0; j < 4; j++)
			assert_hr((HRESULT)ov[j].Internal, j <= i ? ND_CANCELED : ND_PENDING);
	}
	for (int i = 0; i < 4; i++) {
		assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
		assert_ptr_equal(got, &ov[i]);
		assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
	}
	CloseHandle(port);
	nd_pair_close(pair);
}

/* ---- queue pairs ---- */

static HRESULT
bind_window(struct nd_side *side, uintptr_t context, IND2MemoryWindow *mw, ULONG flags)
{
	return IND2QueuePair_Bind(side->qp, (void *)context, nd_unknown(side->mr), nd_unknown(mw),
				  side->arena + AT, BYTES, flags | ND_OP_FLAG_ALLOW_READ);
}

static HRESULT
invalidate(struct nd_side *side, uintptr_t context, IND2MemoryWindow *mw, ULONG flags)
{
	return IND2QueuePair_Invalidate(side->qp, (void *)context, nd_unknown(mw), flags);
}

/* All five operations, silently: twenty successful ones have no entry, flushed ones do. */
static void
A20_every_operation_can_be_silent(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	IND2MemoryWindow *mw = nd_side_mw(&pair->a);
	const ULONG silent = ND_OP_FLAG_SILENT_SUCCESS;

	for (uintptr_t i = 0; i < 4; i++) {
		nd_receive(&pair->b, 1, 0, 8);
		assert_hr(bind_window(&pair->a, 10, mw, silent), ND_SUCCESS);
		nd_send(&pair->a, 11, 0, 8, silent);
		nd_read(&pair->a, &pair->b, 12, 0, 8, silent);
		nd_write(&pair->a, &pair->b, 13, 0, 8, silent);
		assert_hr(invalidate(&pair->a, 14, mw, silent), ND_SUCCESS);
		nd_expect(pair->b.receive_cq, 1, ND_SUCCESS);
		/* behind all of them, so that they are done */
		nd_write(&pair->a, &pair->b, 99, 0, 8, 0);
		nd_expect(pair->a.initiator_cq, 99, ND_SUCCESS);
	}
	nd_expect_none(pair->a.initiator_cq);
	assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
	assert_hr(bind_window(&pair->a, 20, mw, silent), ND_SUCCESS);
	assert_hr(invalidate(&pair->a, 21, mw, silent), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 20, ND_CANCELED);
	nd_expect(pair->a.initiator_cq, 21, ND_CANCELED);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

static void
a_full_queue_takes_neither_bind_nor_invalidate(void **state)
{
	const struct nd_options options = {.depth = 4};
	struct nd_pair *pair = nd_pair_established(state, &options);
	IND2MemoryWindow *bound = nd_side_mw(&pair->a), *fresh = nd_side_mw(&pair->a);
	OVERLAPPED ov = {0};

	assert_hr(bind_window(&pair->a, 1, bound, 0), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
	/* these have no receives yet */
	for (uintptr_t i = 0; i < 4; i++)
		nd_send(&pair->a, 10 + i, 0, 8, 0);
	assert_hr(bind_window(&pair->a, 2, fresh, 0), ND_NO_MORE_ENTRIES);
	assert_int_equal(IND2MemoryWindow_GetRemoteToken(fresh), 0);
	assert_hr(invalidate(&pair->a, 3, bound, 0), ND_NO_MORE_ENTRIES);
	/* bound is bound still */
	assert_hr(IND2MemoryRegion_Deregister(pair->a.mr, &ov), ND_DEVICE_BUSY);
	for (uintptr_t i = 0; i < 4; i++)
		nd_receive(&pair->b, 20 + i, 0, 8);
	for (uintptr_t i = 0; i < 4; i++)
		nd_expect(pair->a.initiator_cq, 10 + i, ND_SUCCESS);
	assert_hr(invalidate(&pair->a, 4, bound, 0), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 4, ND_SUCCESS);
	assert_hr(bind_window(&pair->a, 5, fresh, 0), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 5, ND_SUCCESS);
	nd_expect_none(pair->a.initiator_cq);
	nd_release(bound, 0);
	nd_release(fresh, 0);
	nd_pair_close(pair);
}

/* A client that only sends, or only receives, requests a queue of depth 0. */
static void
a_queue_of_no_depth_is_no_fault(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	IUnknown *cq = nd_unknown(pair->a.receive_cq);
	IND2QueuePair *qp[2];

	for (int i = 0; i < 2; i++) {
		void *out = NULL;

		assert_hr(IND2Adapter_CreateQueuePair(pair->a.adapter, &IID_IND2QueuePair, cq, cq,
						      NULL, i ? 8 : 0, i ? 0 : 8, 0, 0, 0, &out),
			  ND_SUCCESS);
		qp[i] = out;
	}
	nd_release(pair->a.qp, 0);
	pair->a.qp = qp[0];
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
	nd_pair_establish(pair);
	nd_message(&pair->a, &pair->b, 1);
	nd_release(qp[1], 0);
	nd_pair_close(pair);
}

/* There may be more inline SGEs than the queue pair's limit; but not any number, however short. */
static void
A21_more_inline_sges_than_a_message_has_bytes(void **state)
{
	const struct nd_options options = {.inline_bytes = 64};
	struct nd_pair *pair = nd_pair_established(state, &options);
	ND2_SGE *sge = calloc(0x10001, sizeof(*sge));
	uint8_t byte = 7;

	assert_non_null(sge);
	sge[0] = (ND2_SGE){&byte, 1, 0};
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, sge, 1025, ND_OP_FLAG_INLINE),
		  ND_DATA_OVERRUN);
	/* the low 16 bits of this are 1 */
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, sge, 0x10001, ND_OP_FLAG_INLINE),
		  ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, sge, UINT32_MAX, ND_OP_FLAG_INLINE),
		  ND_DATA_OVERRUN);
	nd_receive(&pair->b, 1, 0, 64);
	assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)2, sge, 1024, ND_OP_FLAG_INLINE),
		  ND_SUCCESS);
	assert_int_equal(nd_expect(pair->b.receive_cq, 1, ND_SUCCESS).BytesTransferred, 1);
	nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
	nd_expect_none(pair->a.initiator_cq);
	free(sge);
	nd_pair_close(pair);
}

/* ---- regions, tokens ---- */

/* REMOTE_WRITE has LOCAL_WRITE in it: one of its two bits alone is no right. */
static void
half_of_a_right_is_none(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	IND2MemoryRegion *mr =
		nd_side_mr(&pair->b, pair->b.arena, BYTES,
			   ND_MR_FLAG_ALLOW_REMOTE_WRITE & ~(ULONG)ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	ND2_SGE sge = nd_sge(&pair->a, 0, 8);

	assert_hr(IND2QueuePair_Write(pair->a.qp, (void *)1, &sge, 1,
				      (uint64_t)(uintptr_t)pair->b.arena,
				      IND2MemoryRegion_GetRemoteToken(mr), 0),
		  ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 1, ND_ACCESS_VIOLATION);
	nd_mr_end(mr);
	nd_pair_close(pair);
}

/* Our own token of a region that was deregistered, and of one that was released; in a request and
 * in a receive. */
static void
tokens_of_regions_that_are_gone_are_access_violations(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct nd_pair *pair = nd_pair_established(state, NULL);
		struct nd_side *who = kind / 2 ? &pair->b : &pair->a;
		IND2MemoryRegion *mr =
			nd_side_mr(who, who->arena, BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
		ND2_SGE sge = {who->arena, 8, IND2MemoryRegion_GetLocalToken(mr)};
		OVERLAPPED ov = {0};

		if (kind % 2) {
			nd_pends(IND2MemoryRegion_Deregister(mr, &ov), ND_SUCCESS);
			assert_int_equal(IND2MemoryRegion_GetLocalToken(mr), 0);
			assert_int_equal(IND2MemoryRegion_GetRemoteToken(mr), 0);
		}
		nd_release(mr, 0);
		if (who == &pair->a) {
			nd_receive(&pair->b, 1, 0, 8);
			assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)2, &sge, 1, 0),
				  ND_SUCCESS);
			nd_expect(pair->a.initiator_cq, 2, ND_ACCESS_VIOLATION);
			nd_expect(pair->b.receive_cq, 1, ND_CANCELED);
		} else {
			assert_hr(IND2QueuePair_Receive(pair->b.qp, (void *)1, &sge, 1),
				  ND_SUCCESS);
			nd_send(&pair->a, 2, 0, 8, 0);
			nd_expect(pair->b.receive_cq, 1, ND_ACCESS_VIOLATION);
			assert_true(FAILED(nd_reap(pair->a.initiator_cq).Status));
		}
		nd_pair_close(pair);
	}
}

/* ---- shared receive queues ---- */

/* A depth that cannot be had keeps the threshold that came with it away, too. */
static void
a_refused_modify_changes_neither_depth_nor_threshold(void **state)
{
	const struct nd_options options = {.srq = true, .depth = 16, .threshold = 2};
	struct nd_pair *pair = nd_pair_established(state, &options);
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	OVERLAPPED ov = {0};
	ND2_SGE sge = nd_sge(&pair->b, 0, 64);

	assert_hr(IND2Adapter_Query(pair->b.adapter, &info, &length), ND_SUCCESS);
	for (uintptr_t i = 0; i < 4; i++)
		nd_receive(&pair->b, i, 0, 64);
	assert_hr(IND2SharedReceiveQueue_Notify(pair->b.srq, &ov), ND_PENDING);
	/* with 4 there, a threshold of 8 would end it */
	assert_hr(IND2SharedReceiveQueue_Modify(pair->b.srq, 3, 8), ND_BUFFER_OVERFLOW);
	assert_hr(
		IND2SharedReceiveQueue_Modify(pair->b.srq, info.MaxSharedReceiveQueueDepth + 1, 8),
		ND_INVALID_PARAMETER);
	nd_still_pending(&ov);
	for (uintptr_t i = 4; i < 16; i++)
		nd_receive(&pair->b, i, 0, 64);
	assert_hr(IND2SharedReceiveQueue_Receive(pair->b.srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	assert_hr(IND2SharedReceiveQueue_Modify(pair->b.srq, 0, 17), ND_SUCCESS);
	assert_hr(nd_wait(&ov), ND_SUCCESS);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(objects_of_another_maker_are_none),
		ND_FAMILY_TESTS(a_refused_request_is_told_by_its_overlapped_alone),
		ND_FAMILY_TESTS(a_request_with_a_wrong_event_is_told_by_its_overlapped),
		ND_FAMILY_TESTS(A02_cancel_is_of_one_object_and_told_in_the_order_of_the_calls),
		ND_FAMILY_TESTS(A20_every_operation_can_be_silent),
		ND_FAMILY_TESTS(a_full_queue_takes_neither_bind_nor_invalidate),
		ND_FAMILY_TESTS(a_queue_of_no_depth_is_no_fault),
		ND_FAMILY_TESTS(A21_more_inline_sges_than_a_message_has_bytes),
		ND_FAMILY_TESTS(half_of_a_right_is_none),
		ND_FAMILY_TESTS(tokens_of_regions_that_are_gone_are_access_violations),
		ND_FAMILY_TESTS(a_refused_modify_changes_neither_depth_nor_threshold),
	};

	return nd_run_both("refusals", tests, sizeof(tests) / sizeof(tests[0]));
}
