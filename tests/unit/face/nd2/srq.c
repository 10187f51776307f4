/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2SharedReceiveQueue: posts, the threshold, Modify, and a peer that waits for a receive. Start
 * with A29_notify_ends_below_the_threshold_and_not_at_it().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	THRESHOLD = 4,
	EMPTY_MS = 11000, /* longer than a side without an SRQ would be retried */
};

static struct nd_options
shared(ULONG threshold)
{
	return (struct nd_options){.srq = true, .threshold = threshold, .depth = 16};
}

static HRESULT
notify(struct nd_side *side, OVERLAPPED *ov)
{
	return IND2SharedReceiveQueue_Notify(side->srq, ov);
}

static void
fill(struct nd_side *side, uintptr_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nd_receive(side, first + i, 0, 64);
}

/* One message consumes one entry. */
static void
take(struct nd_pair *pair, uintptr_t context)
{
	nd_send(&pair->a, 1000, 0, 8, 0);
	nd_expect(pair->b.receive_cq, context, ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 1000, ND_SUCCESS);
}

static void
A29_notify_ends_below_the_threshold_and_not_at_it(void **state)
{
	struct nd_options options = shared(THRESHOLD);
	struct nd_pair *pair = nd_pair_open(&options);
	OVERLAPPED ov[3] = {{0}};
	uintptr_t taken = 0;

	(void)state;
	fill(&pair->b, 0, 3);
	for (int round = 0; round < 3; round++) {
		fill(&pair->b, taken + 3, 3); /* 6 */
		for (int i = 0; i < 3; i++)
			assert_hr(notify(&pair->b, &ov[i]), ND_PENDING);
		take(pair, taken++); /* 5 */
		take(pair, taken++); /* 4: at it */
		for (int i = 0; i < 3; i++)
			nd_assert_pending(&ov[i]);
		take(pair, taken++); /* 3 */
		for (int i = 0; i < 3; i++)
			assert_hr(nd_wait(&ov[i]), ND_SUCCESS);
	}
	/* below it already: at once */
	assert_hr(notify(&pair->b, &ov[0]), ND_PENDING);
	assert_hr(nd_wait(&ov[0]), ND_SUCCESS);
	nd_pair_close(pair);
}

/* Nobody has posted a receive: with a shared queue that is no fault, however long it lasts. */
static void
A29_a_send_waits_for_an_empty_shared_queue(void **state)
{
	struct nd_options options = shared(0);
	struct nd_pair *pair = nd_pair_open(&options);
	uint64_t end = test_ms() + EMPTY_MS;

	(void)state;
	nd_send(&pair->a, 1, 0, 8, 0);
	while (test_ms() < end) {
		ND2_RESULT result;

		assert_int_equal(IND2CompletionQueue_GetResults(pair->a.initiator_cq, &result, 1),
				 0);
		nd_cycle();
	}
	fill(&pair->b, 2, 1);
	nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
	nd_expect(pair->b.receive_cq, 2, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A29_modify_changes_depth_and_threshold_or_nothing(void **state)
{
	struct nd_options options = shared(THRESHOLD);
	struct nd_pair *pair = nd_pair_open(&options);
	struct nd_side *b = &pair->b;
	ND2_SGE sge = nd_sge(b, 0, 64);
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	OVERLAPPED ov = {0};

	(void)state;
	assert_hr(IND2Adapter_Query(b->adapter, &info, &length), ND_SUCCESS);
	fill(b, 0, 16);
	assert_hr(IND2SharedReceiveQueue_Receive(b->srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 0, 0), ND_SUCCESS);
	assert_hr(IND2SharedReceiveQueue_Receive(b->srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 15, 0), ND_BUFFER_OVERFLOW);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, info.MaxSharedReceiveQueueDepth + 1, 0),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2SharedReceiveQueue_Receive(b->srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 18, 0), ND_SUCCESS);
	fill(b, 16, 2);
	assert_hr(IND2SharedReceiveQueue_Receive(b->srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	for (uintptr_t i = 0; i < 12; i++)
		take(pair, i);
	/* 6 are left */
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 6, 0), ND_SUCCESS);
	assert_hr(IND2SharedReceiveQueue_Receive(b->srq, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	/* the threshold: pending notifications use the new one */
	assert_hr(notify(b, &ov), ND_PENDING);
	nd_assert_pending(&ov);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 0, 0), ND_SUCCESS);
	nd_assert_pending(&ov);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 0, 6), ND_SUCCESS);
	nd_assert_pending(&ov);
	take(pair, 12);
	assert_hr(nd_wait(&ov), ND_SUCCESS);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, 0, 2), ND_SUCCESS);
	assert_hr(notify(b, &ov), ND_PENDING);
	take(pair, 13);
	nd_assert_pending(&ov);
	assert_hr(IND2SharedReceiveQueue_Modify(b->srq, info.MaxSharedReceiveQueueDepth, 5),
		  ND_SUCCESS);
	assert_hr(nd_wait(&ov), ND_SUCCESS);
	nd_pair_close(pair);
}

/* A threshold beyond the depth: always below it. Threshold 0: a pending notification is
 * cancelled at last. */
static void
thresholds_at_the_ends(void **state)
{
	struct nd_options options = shared(17);
	struct nd_pair *pair = nd_pair_open(&options);
	OVERLAPPED ov = {0};
	struct nd_side side;

	(void)state;
	fill(&pair->b, 0, 16);
	nd_pends(notify(&pair->b, &ov), ND_SUCCESS);
	nd_pair_close(pair);
	options = shared(0);
	nd_side_open(&side, 0, &options);
	assert_hr(notify(&side, NULL), ND_INVALID_PARAMETER_1);
	assert_hr(notify(&side, &ov), ND_PENDING);
	fill(&side, 0, 16);
	nd_assert_pending(&ov);
	nd_side_close(&side);
	assert_hr((HRESULT)ov.Internal, ND_CANCELED);
}

/* The engine's event for a cancelled notification is not reported. */
static void
A02_cancelled_waits_are_told_in_order_and_mean_nothing_later(void **state)
{
	struct nd_options options = shared(THRESHOLD);
	struct nd_pair *pair = nd_pair_open(&options);
	HANDLE port = CreateIoCompletionPort(pair->b.file, NULL, 5, 0);
	OVERLAPPED ov[4] = {{0}}, *got;
	uintptr_t taken = 0;
	ULONG_PTR key;
	DWORD bytes;

	(void)state;
	fill(&pair->b, 0, 5);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 4; i++)
			assert_hr(notify(&pair->b, &ov[i]), ND_PENDING);
		assert_hr(IND2SharedReceiveQueue_CancelOverlappedRequests(pair->b.srq), ND_SUCCESS);
		for (int i = 0; i < 4; i++) {
			assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
			assert_ptr_equal(got, &ov[i]);
			assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
		}
		/* passes the threshold for nobody, and is filled again */
		take(pair, taken++);
		take(pair, taken++);
		fill(&pair->b, taken + 3, 2);
		assert_hr(notify(&pair->b, &ov[0]), ND_PENDING);
		nd_assert_pending(&ov[0]);
		take(pair, taken++);
		take(pair, taken++);
		assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, TEST_PATIENCE_MS));
		assert_ptr_equal(got, &ov[0]);
		fill(&pair->b, taken + 3, 2);
	}
	CloseHandle(port);
	nd_pair_close(pair);
}

/* ---- posts ---- */

static void
posts_are_refused_by_their_status(void **state)
{
	struct nd_options options = shared(0);
	struct nd_side side;
	ND2_SGE sge[8];

	(void)state;
	options.sges = 6;
	nd_side_open(&side, 0, &options);
	for (int i = 0; i < 8; i++)
		sge[i] = nd_sge(&side, 0, 8);
	assert_hr(IND2SharedReceiveQueue_Receive(side.srq, NULL, NULL, 1), ND_INVALID_PARAMETER_2);
	assert_hr(IND2SharedReceiveQueue_Receive(side.srq, NULL, sge, 7), ND_DATA_OVERRUN);
	sge[0].BufferLength = sge[1].BufferLength = 1u << 30;
	sge[2].BufferLength = 1;
	assert_hr(IND2SharedReceiveQueue_Receive(side.srq, NULL, sge, 3), ND_BUFFER_OVERFLOW);
	assert_hr(IND2SharedReceiveQueue_Receive(side.srq, NULL, sge, 2), ND_SUCCESS);
	assert_hr(IND2SharedReceiveQueue_Receive(side.srq, NULL, NULL, 0), ND_SUCCESS);
	/* its queue pairs have no receives of their own */
	assert_hr(IND2QueuePair_Receive(side.qp, NULL, sge, 1), ND_INVALID_DEVICE_REQUEST);
	assert_hr(IND2QueuePair_Receive(side.qp, NULL, sge, 8), ND_INVALID_DEVICE_REQUEST);
	assert_hr(IND2QueuePair_Receive(side.qp, NULL, NULL, 0), ND_INVALID_DEVICE_REQUEST);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	nd_expect_none(side.receive_cq);
	nd_side_close(&side);
}

/* Each entry completes on the completion queue, with the context, of the queue pair that
 * consumed it; one that fails completes what it has begun, and leaves the rest to the others. */
static void
entries_go_to_whoever_takes_them(void **state)
{
	struct nd_options options = shared(0);
	struct nd_pair *pair = nd_pair_open(&options);
	IND2Connector *connector[2] = {nd_side_connector(&pair->a), nd_side_connector(&pair->b)};
	IND2QueuePair *qp[2] = {nd_side_qp(&pair->a, &options, (void *)1),
				nd_side_qp(&pair->b, &options, (void *)2)};
	ND2_SGE sge = nd_sge(&pair->a, 0, 8), more = nd_sge(&pair->a, 0, 128);

	(void)state;
	nd_pair_join(pair, connector[0], qp[0], connector[1], qp[1]);
	fill(&pair->b, 0, 4);
	take(pair, 0);
	assert_hr(IND2QueuePair_Send(qp[0], (void *)9, &sge, 1, 0), ND_SUCCESS);
	assert_ptr_equal(nd_expect(pair->b.receive_cq, 1, ND_SUCCESS).QueuePairContext, (void *)2);
	nd_expect(pair->a.initiator_cq, 9, ND_SUCCESS);
	/* too long: ends that connection alone */
	assert_hr(IND2QueuePair_Send(qp[0], (void *)9, &more, 1, 0), ND_SUCCESS);
	assert_ptr_equal(nd_expect(pair->b.receive_cq, 2, ND_BUFFER_OVERFLOW).QueuePairContext,
			 (void *)2);
	nd_expect(pair->a.initiator_cq, 9, (HRESULT)STATUS_DATA_ERROR);
	nd_expect_none(pair->b.receive_cq);
	take(pair, 3);
	for (int i = 0; i < 2; i++) {
		nd_release(connector[i], 0);
		nd_release(qp[i], 0);
	}
	nd_pair_close(pair);
}

static void
affinity_is_told(void **state)
{
	struct nd_options options = shared(0);
	struct nd_side side;
	KAFFINITY mask = 0;
	USHORT group = 9;

	(void)state;
	nd_side_open(&side, 0, &options);
	assert_hr(IND2SharedReceiveQueue_GetNotifyAffinity(side.srq, NULL, &mask),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2SharedReceiveQueue_GetNotifyAffinity(side.srq, &group, NULL),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2SharedReceiveQueue_GetNotifyAffinity(side.srq, &group, &mask), ND_SUCCESS);
	assert_int_not_equal(mask, 0);
	assert_in_range(group, 0, 15);
	nd_side_close(&side);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A02_cancelled_waits_are_told_in_order_and_mean_nothing_later),
		ND_TEST(A29_notify_ends_below_the_threshold_and_not_at_it),
		ND_TEST(A29_modify_changes_depth_and_threshold_or_nothing),
		ND_TEST(thresholds_at_the_ends),
		ND_TEST(posts_are_refused_by_their_status),
		ND_TEST(entries_go_to_whoever_takes_them),
		ND_TEST(affinity_is_told),
	};
	const struct CMUnitTest slow[] = {
		ND_TEST(A29_a_send_waits_for_an_empty_shared_queue),
	};
	int failures = nd_run_both("srq", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + nd_run("srq, slow", slow, 1);
}
