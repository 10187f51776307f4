/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2CompletionQueue::Notify by the rules of docs/nd2.md: which entries end which wait, and how
 * waits are cancelled. Entries come from flushed receives, where nothing else is needed. Draining
 * and sizes are in queues.c.
 */
#include "nd2_pair.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static HRESULT
notify(struct nd_side *side, ULONG type, OVERLAPPED *ov)
{
	return IND2CompletionQueue_Notify(side->receive_cq, type, ov);
}

/* `n` entries: receives that come back CANCELED, `first`, first + 1, ... */
static void
produce(struct nd_side *side, uintptr_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nd_receive(side, first + i, 0, 8);
	assert_hr(IND2QueuePair_Flush(side->qp), ND_SUCCESS);
}

static void
expect_flushed(struct nd_side *side, uintptr_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nd_expect(side->receive_cq, first + i, ND_CANCELED);
}

/* ---- without a peer ---- */

static void
A17_flushed_receives_end_the_first_notify_and_are_read_together(void **state)
{
	ND2_RESULT results[2];
	OVERLAPPED ov = {0};
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	for (int round = 0; round < 20; round++) {
		nd_receive(&side, 1, 0, 8);
		nd_receive(&side, 2, 8, 8);
		assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
		nd_pends(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_SUCCESS);
		memset(results, 0x5a, sizeof(results));
		assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, results, 2), 2);
		for (uintptr_t i = 0; i < 2; i++) {
			assert_hr(results[i].Status, ND_CANCELED);
			assert_ptr_equal(results[i].RequestContext, (void *)(i + 1));
			assert_ptr_equal(results[i].QueuePairContext, &side);
			assert_int_equal(results[i].RequestType, Nd2RequestTypeReceive);
		}
		assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, results, 2), 0);
	}
	nd_side_close(&side);
}

static void
A18_entries_that_have_notified_do_not_do_so_again_though_unread(void **state)
{
	OVERLAPPED ov = {0};
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	produce(&side, 1, 5);
	nd_pends(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_SUCCESS);
	expect_flushed(&side, 1, 1);
	assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
	nd_assert_pending(&ov);
	produce(&side, 6, 1);
	assert_hr(nd_wait(&ov), ND_SUCCESS);
	expect_flushed(&side, 2, 5);
	nd_expect_none(side.receive_cq);
	nd_side_close(&side);
}

/* One kind at a time, repeatedly: an entry that arrived while nobody waited ends the next wait. */
static void
A18_an_entry_before_notify_and_after_the_last_read_ends_it(void **state)
{
	OVERLAPPED ov = {0};
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	for (uintptr_t i = 0; i < 200; i++) {
		ND2_RESULT result;

		assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, &result, 1), 0);
		if (i % 2)
			produce(&side, i, 1);
		assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
		if (i % 2 == 0)
			produce(&side, i, 1);
		assert_hr(nd_wait(&ov), ND_SUCCESS);
		expect_flushed(&side, i, 1);
	}
	nd_side_close(&side);
}

static void
notify_refuses_what_is_no_kind(void **state)
{
	struct nd_side side;
	OVERLAPPED ov = {.hEvent = (HANDLE)&side};

	(void)state;
	nd_side_open(&side, 0, NULL);
	assert_hr(notify(&side, 3, &ov), ND_INVALID_PARAMETER_1);
	assert_hr(notify(&side, UINT32_MAX, &ov), ND_INVALID_PARAMETER_1);
	assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, NULL), ND_INVALID_PARAMETER_2);
	assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_INVALID_HANDLE);
	/* none of them has armed anything: this entry is still new */
	produce(&side, 1, 1);
	ov.hEvent = NULL;
	nd_pends(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_SUCCESS);
	expect_flushed(&side, 1, 1);
	nd_side_close(&side);
}

/* All kinds, several of each: one entry ends those that wait for entries, in their order. */
static void
queued_requests_of_a_kind_finish_together_and_in_order(void **state)
{
	static const ULONG types[] = {ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_SOLICITED, ND_CQ_NOTIFY_ERRORS,
				      ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_SOLICITED};
	OVERLAPPED ov[5] = {{0}}, *got;
	struct nd_side side;
	ULONG_PTR key;
	DWORD bytes;
	HANDLE port;

	(void)state;
	nd_side_open(&side, 0, NULL);
	port = CreateIoCompletionPort(side.file, NULL, 5, 0);
	for (int i = 0; i < 5; i++)
		assert_hr(notify(&side, types[i], &ov[i]), ND_PENDING);
	produce(&side, 1, 1);
	for (int i = 0; i < 5; i++) {
		if (types[i] == ND_CQ_NOTIFY_ERRORS)
			continue;
		assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, TEST_PATIENCE_MS));
		assert_ptr_equal(got, &ov[i]);
	}
	nd_assert_pending(&ov[2]);
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
	assert_hr(IND2CompletionQueue_CancelOverlappedRequests(side.receive_cq), ND_SUCCESS);
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
	assert_ptr_equal(got, &ov[2]);
	assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
	expect_flushed(&side, 1, 1);
	CloseHandle(port);
	nd_side_close(&side);
}

/* In the order of issue, there when the call returns; and nothing that comes later is lost by it.
 */
static void
A02_cancelled_requests_are_told_in_order_and_leave_nothing_armed(void **state)
{
	OVERLAPPED ov[6] = {{0}}, *got;
	struct nd_side side;
	ULONG_PTR key;
	DWORD bytes;
	HANDLE port;

	(void)state;
	nd_side_open(&side, 0, NULL);
	port = CreateIoCompletionPort(side.file, NULL, 5, 0);
	for (uintptr_t round = 0; round < 100; round++) {
		for (ULONG i = 0; i < 6; i++)
			assert_hr(notify(&side, i % 3, &ov[i]), ND_PENDING);
		assert_hr(IND2CompletionQueue_CancelOverlappedRequests(side.receive_cq),
			  ND_SUCCESS);
		for (int i = 0; i < 6; i++) {
			assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
			assert_ptr_equal(got, &ov[i]);
			assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
			assert_hr((HRESULT)ov[i].Internal, ND_CANCELED);
		}
		/* this one notifies nobody, so that it ends the next wait */
		produce(&side, round, 1);
		assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, &ov[0]), ND_PENDING);
		assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, TEST_PATIENCE_MS));
		assert_ptr_equal(got, &ov[0]);
		expect_flushed(&side, round, 1);
	}
	assert_hr(IND2CompletionQueue_CancelOverlappedRequests(side.receive_cq), ND_SUCCESS);
	assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
	assert_null(got);
	CloseHandle(port);
	nd_side_close(&side);
}

static void
release_ends_who_waits(void **state)
{
	OVERLAPPED ov[3] = {{0}};
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	nd_release(side.qp, 0);
	side.qp = NULL;
	for (ULONG i = 0; i < 3; i++)
		assert_hr(notify(&side, i, &ov[i]), ND_PENDING);
	nd_release(side.receive_cq, 0);
	side.receive_cq = side.initiator_cq = NULL;
	for (int i = 0; i < 3; i++)
		assert_hr((HRESULT)ov[i].Internal, ND_CANCELED);
	nd_side_close(&side);
}

/* Cancel against entries: each wait ends exactly once, as cancelled or as notified, and an entry
 * without a notification is never mistaken for one with it. */
static void
cancel_against_entries(void **state)
{
	uint32_t told = 0, cancelled = 0;
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	for (uintptr_t i = 0; i < 2000; i++) {
		OVERLAPPED ov = {0};
		HRESULT status;

		assert_hr(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
		produce(&side, i, 1);
		assert_hr(IND2CompletionQueue_CancelOverlappedRequests(side.receive_cq),
			  ND_SUCCESS);
		status = (HRESULT)ov.Internal;
		if (status == ND_CANCELED) {
			nd_pends(notify(&side, ND_CQ_NOTIFY_ANY, &ov), ND_SUCCESS);
			cancelled++;
		} else {
			assert_hr(status, ND_SUCCESS);
			told++;
		}
		expect_flushed(&side, i, 1);
	}
	assert_int_equal(told + cancelled, 2000);
	nd_side_close(&side);
}

/* ---- with a peer ---- */

static void
deliver(struct nd_pair *pair, uintptr_t context, ULONG flags)
{
	nd_receive(&pair->b, context, 0, 8);
	nd_send(&pair->a, context, 0, 8, flags);
	nd_expect(pair->a.initiator_cq, context, ND_SUCCESS);
}

static void
A19_solicited_waits_for_who_asks_or_an_error(void **state)
{
	OVERLAPPED solicited = {0}, any = {0}, errors = {0};
	struct nd_pair *pair = nd_pair_open(NULL);

	(void)state;
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_ERRORS, &errors), ND_PENDING);
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	deliver(pair, 1, 0);
	deliver(pair, 2, 0);
	nd_assert_pending(&solicited);
	deliver(pair, 3, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	assert_hr(nd_wait(&solicited), ND_SUCCESS);
	/* plain entries stay new for ANY, until that or a notification passes them */
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	deliver(pair, 4, 0);
	nd_assert_pending(&solicited);
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_ANY, &any), ND_PENDING);
	assert_hr(nd_wait(&any), ND_SUCCESS);
	assert_hr(nd_wait(&solicited), ND_SUCCESS);
	/* ANY beside SOLICITED: the next entry of any kind ends both */
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_ANY, &any), ND_PENDING);
	nd_assert_pending(&any);
	deliver(pair, 5, 0);
	assert_hr(nd_wait(&any), ND_SUCCESS);
	assert_hr(nd_wait(&solicited), ND_SUCCESS);
	/* an error entry */
	assert_hr(notify(&pair->b, ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	nd_receive(&pair->b, 6, 0, 8);
	assert_hr(IND2QueuePair_Flush(pair->b.qp), ND_SUCCESS);
	assert_hr(nd_wait(&solicited), ND_SUCCESS);
	for (uintptr_t i = 1; i <= 6; i++)
		nd_expect(pair->b.receive_cq, i, i < 6 ? ND_SUCCESS : ND_CANCELED);
	nd_assert_pending(&errors);
	assert_hr(IND2CompletionQueue_CancelOverlappedRequests(pair->b.receive_cq), ND_SUCCESS);
	assert_hr((HRESULT)errors.Internal, ND_CANCELED);
	nd_pair_close(pair);
}

/* ---- the race ---- */

struct sender {
	struct nd_pair *pair;
	atomic_uint rounds; /* known before the last one is sent */
	atomic_uint taken;
};

/* Sends at its own pace, a few ahead of the reader. */
static void *
send_all(void *context)
{
	struct sender *sender = context;
	struct nd_pair *pair = sender->pair;
	ND2_RESULT result[8];

	for (uint32_t i = 0; i < atomic_load(&sender->rounds); i++) {
		ND2_SGE sge = nd_sge(&pair->a, 0, 8);

		if (nd_race_is_over(i))
			atomic_store(&sender->rounds, i + 1);
		while (i - atomic_load(&sender->taken) >= 4 ||
		       IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, ND_OP_FLAG_SILENT_SUCCESS) !=
			       ND_SUCCESS)
			sched_yield();
	}
	(void)IND2CompletionQueue_GetResults(pair->a.initiator_cq, result, 8);
	return NULL;
}

/* Read until there is nothing, wait for the next: whenever an entry arrives, it is found. */
static void
A18_an_entry_between_an_empty_read_and_notify_is_not_lost(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct sender sender = {.pair = pair, .rounds = UINT32_MAX};
	uint32_t waits = 0;
	pthread_t thread;

	(void)state;
	for (uintptr_t i = 0; i < 8; i++)
		nd_receive(&pair->b, i, 0, 8);
	assert_int_equal(pthread_create(&thread, NULL, send_all, &sender), 0);
	for (uint32_t taken = 0; taken < atomic_load(&sender.rounds);) {
		OVERLAPPED ov = {0};
		ND2_RESULT result;

		if (IND2CompletionQueue_GetResults(pair->b.receive_cq, &result, 1) == 1) {
			assert_hr(result.Status, ND_SUCCESS);
			nd_receive(&pair->b, taken, 0, 8);
			atomic_store(&sender.taken, ++taken);
			continue;
		}
		waits++;
		nd_pends(notify(&pair->b, ND_CQ_NOTIFY_ANY, &ov), ND_SUCCESS);
	}
	pthread_join(thread, NULL);
	assert_true(waits > 0);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A02_cancelled_requests_are_told_in_order_and_leave_nothing_armed),
		ND_TEST(A17_flushed_receives_end_the_first_notify_and_are_read_together),
		ND_TEST(A18_entries_that_have_notified_do_not_do_so_again_though_unread),
		ND_TEST(A18_an_entry_before_notify_and_after_the_last_read_ends_it),
		ND_TEST(A19_solicited_waits_for_who_asks_or_an_error),
		ND_TEST(notify_refuses_what_is_no_kind),
		ND_TEST(queued_requests_of_a_kind_finish_together_and_in_order),
		ND_TEST(release_ends_who_waits),
		ND_TEST(cancel_against_entries),
	};
	const struct CMUnitTest races[] = {
		ND_TEST(A18_an_entry_between_an_empty_read_and_notify_is_not_lost),
	};
	int failures = nd_run_both("notify", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + nd_run("notify, races", races, 1);
}
