/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2CompletionQueue without Notify: draining by several threads, sizes, an overrun, affinity; and
 * entries that are read after their queue pair was released. Start with
 * results_are_read_once_each_by_four_threads().
 */
#include "nd2_pair.h"
#include "thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READERS = 4,
	PAIRS = 2,
	MESSAGES = 40000, /* of each queue pair */
	RESIZES = 300,
};

/* ---- draining ---- */

/* Every result that the receiver of a queue pair may get, and how often it was read. */
struct crowd {
	IND2CompletionQueue *cq;
	atomic_uchar seen[PAIRS][MESSAGES];
	atomic_uint read, wrong;
};

static void *
read_some(void *context)
{
	struct crowd *crowd = context;
	intptr_t last[PAIRS] = {-1, -1};
	ND2_RESULT results[40];
	ULONG wanted = 1;

	while (atomic_load(&crowd->read) < PAIRS * MESSAGES) {
		ULONG n = IND2CompletionQueue_GetResults(crowd->cq, results, wanted);

		wanted = wanted % 40 + 1;
		for (ULONG i = 0; i < n; i++) {
			uintptr_t of = (uintptr_t)results[i].QueuePairContext;
			intptr_t which = (intptr_t)results[i].RequestContext;

			if (of >= PAIRS || which >= MESSAGES || which <= last[of] ||
			    results[i].Status != ND_SUCCESS ||
			    atomic_fetch_add(&crowd->seen[of][which], 1) != 0)
				atomic_fetch_add(&crowd->wrong, 1);
			else
				last[of] = which;
		}
		atomic_fetch_add(&crowd->read, n);
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

/* What a sends and b receives, on one of b's queue pairs, until all is posted. */
struct flow {
	struct nd_pair *pair;
	IND2QueuePair *from, *to;
	uint32_t sent, posted;
};

static bool
go_on(struct flow *flow)
{
	ND2_SGE here = nd_sge(&flow->pair->a, 0, 8), there = nd_sge(&flow->pair->b, 0, 8);
	bool moved = false;

	while (flow->posted < MESSAGES &&
	       IND2QueuePair_Receive(flow->to, (void *)(uintptr_t)flow->posted, &there, 1) ==
		       ND_SUCCESS) {
		flow->posted++;
		moved = true;
	}
	while (flow->sent < flow->posted &&
	       IND2QueuePair_Send(flow->from, NULL, &here, 1, ND_OP_FLAG_SILENT_SUCCESS) ==
		       ND_SUCCESS) {
		flow->sent++;
		moved = true;
	}
	return moved;
}

static void
results_are_read_once_each_by_four_threads(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	struct flow flows[PAIRS] = {{.pair = pair}, {.pair = pair}};
	IND2Connector *connector[PAIRS][2];
	pthread_t reader[READERS];

	(void)state;
	crowd->cq = pair->b.receive_cq;
	for (uintptr_t i = 0; i < PAIRS; i++) {
		connector[i][0] = nd_side_connector(&pair->a);
		connector[i][1] = nd_side_connector(&pair->b);
		flows[i].from = nd_side_qp(&pair->a, &pair->options, NULL);
		flows[i].to = nd_side_qp(&pair->b, &pair->options, (void *)i);
		nd_pair_join(pair, connector[i][0], flows[i].from, connector[i][1], flows[i].to);
	}
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&reader[i], NULL, read_some, crowd), 0);
	while (atomic_load(&crowd->read) < PAIRS * MESSAGES && !atomic_load(&crowd->wrong))
		for (int i = 0; i < PAIRS; i++)
			if (!go_on(&flows[i]))
				sched_yield();
	for (int i = 0; i < READERS; i++)
		pthread_join(reader[i], NULL);
	assert_int_equal(atomic_load(&crowd->wrong), 0);
	assert_int_equal(atomic_load(&crowd->read), PAIRS * MESSAGES);
	for (int i = 0; i < PAIRS; i++) {
		nd_release(connector[i][0], 0);
		nd_release(connector[i][1], 0);
		nd_release(flows[i].from, 0);
		nd_release(flows[i].to, 0);
	}
	free(crowd);
	nd_pair_close(pair);
}

static void
get_results_of_nothing(void **state)
{
	struct nd_side side;
	ND2_RESULT result;

	(void)state;
	nd_side_open(&side, 0, NULL);
	assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, NULL, 0), 0);
	nd_receive(&side, 1, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, NULL, 0), 0);
	/* more than there are, and more than are taken at once */
	assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, &result, 1), 1);
	assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, &result, 1), 0);
	nd_side_close(&side);
}

static void
many_results_at_once(void **state)
{
	enum {
		N = 200,
	};
	struct nd_options options = {.depth = N};
	ND2_RESULT results[N + 1];
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, &options);
	for (uintptr_t i = 0; i < N; i++)
		nd_receive(&side, i, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	assert_int_equal(IND2CompletionQueue_GetResults(side.receive_cq, results, N + 1), N);
	for (uintptr_t i = 0; i < N; i++)
		assert_ptr_equal(results[i].RequestContext, (void *)i);
	nd_side_close(&side);
}

/* Entries of a released queue pair may still be there, and can be read. */
static void
entries_outlive_their_queue_pair(void **state)
{
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	nd_receive(&side, 5, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	nd_release(side.qp, 0);
	side.qp = NULL;
	assert_ptr_equal(nd_expect(side.receive_cq, 5, ND_CANCELED).QueuePairContext, &side);
	nd_side_close(&side);
}

/* ---- sizes ---- */

static void
resize_by_status(void **state)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	assert_hr(IND2Adapter_Query(side.adapter, &info, &length), ND_SUCCESS);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 0), ND_INVALID_PARAMETER);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, info.MaxCompletionQueueDepth + 1),
		  ND_INVALID_PARAMETER);
	for (uintptr_t i = 0; i < 10; i++)
		nd_receive(&side, i, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 9), ND_BUFFER_OVERFLOW);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 10), ND_SUCCESS);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, info.MaxCompletionQueueDepth),
		  ND_SUCCESS);
	for (uintptr_t i = 0; i < 10; i++)
		nd_expect(side.receive_cq, i, ND_CANCELED);
	assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 1), ND_SUCCESS);
	nd_side_close(&side);
}

/* Traffic continues, and each entry arrives once and in order, whatever the current size. */
static void
resize_under_load_loses_and_reorders_nothing(void **state)
{
	struct nd_options options = {.two_cqs = true};
	struct nd_pair *pair = nd_pair_open(&options);
	struct flow flow = {.pair = pair, .from = pair->a.qp, .to = pair->b.qp};
	uint32_t resizes = 0, refused = 0;
	uintptr_t next = 0;

	(void)state;
	while (next < MESSAGES) {
		ND2_RESULT results[7];
		ULONG n;

		(void)go_on(&flow);
		n = IND2CompletionQueue_GetResults(pair->b.receive_cq, results, 7);
		for (ULONG i = 0; i < n; i++) {
			assert_hr(results[i].Status, ND_SUCCESS);
			assert_ptr_equal(results[i].RequestContext, (void *)next++);
		}
		if (next / (MESSAGES / RESIZES) > resizes) {
			static const ULONG depths[] = {64, 4000, 1, 300, 65, 256};
			HRESULT status = IND2CompletionQueue_Resize(pair->b.receive_cq,
								    depths[resizes++ % 6]);

			if (status == ND_BUFFER_OVERFLOW)
				refused++;
			else
				assert_hr(status, ND_SUCCESS);
		}
		if (n == 0)
			nd_cycle();
	}
	assert_true(resizes >= RESIZES - 1 && refused < resizes);
	nd_expect_none(pair->b.receive_cq);
	nd_pair_close(pair);
}

/* ---- overrun ---- */

/* As other adapters behave, if configured: all kinds of Notify end with BUFFER_OVERFLOW, now and
 * later, and the queue pairs fail. */
static void
overrun_ends_every_notify(void **state)
{
	struct nd_options options = {.cq_depth = 4, .two_cqs = true};
	struct nd_pair *pair;
	OVERLAPPED ov[4] = {{0}};

	(void)state;
	setenv("POLLUX_ND2_STRICT_CQ", "1", 1);
	pair = nd_pair_open(&options);
	unsetenv("POLLUX_ND2_STRICT_CQ");
	for (ULONG i = 0; i < 3; i++)
		assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, i, &ov[i]), ND_PENDING);
	for (uintptr_t i = 0; i < 10; i++)
		nd_receive(&pair->b, i, 0, 8);
	for (uintptr_t i = 0; i < 4; i++) {
		nd_send(&pair->a, i, 0, 8, 0);
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	}
	assert_hr(nd_wait(&ov[ND_CQ_NOTIFY_ANY]), ND_SUCCESS);
	/* the first entry ended that one, and the others may end the next */
	for (int round = 0; round < 2; round++) {
		assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, ND_CQ_NOTIFY_ANY, &ov[3]),
			  ND_PENDING);
		nd_settle();
	}
	assert_int_equal(ov[3].Internal, STATUS_PENDING);
	/* one more than it has room for */
	nd_send(&pair->a, 4, 0, 8, 0);
	assert_hr(nd_wait(&ov[ND_CQ_NOTIFY_ERRORS]), ND_BUFFER_OVERFLOW);
	assert_hr(nd_wait(&ov[3]), ND_BUFFER_OVERFLOW);
	for (ULONG i = 0; i < 3; i++) {
		assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, i, &ov[i]), ND_PENDING);
		assert_hr(nd_wait(&ov[i]), ND_BUFFER_OVERFLOW);
	}
	nd_write(&pair->b, &pair->a, 9, 0, 8, 0);
	nd_expect(pair->b.initiator_cq, 9, ND_CANCELED);
	nd_pair_close(pair);
}

/* Otherwise there is more room than was requested, and nothing is lost. */
static void
queues_share_a_completion_queue_that_is_less_deep(void **state)
{
	struct nd_options options = {.cq_depth = 2, .depth = 64};
	struct nd_pair *pair = nd_pair_open(&options);

	(void)state;
	for (uintptr_t i = 0; i < 64; i++)
		nd_receive(&pair->b, i, 0, 8);
	for (uintptr_t i = 0; i < 64; i++)
		nd_send(&pair->a, i, 0, 8, 0);
	nd_settle();
	for (uintptr_t i = 0; i < 64; i++) {
		nd_expect(pair->b.receive_cq, i, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	}
	nd_pair_close(pair);
}

/* ---- affinity ---- */

/* The processors of a thread of this process. @param name NULL: this one */
static cpu_set_t
cpus_of(const char *name)
{
	pid_t thread = name ? thread_find(name) : 0;
	cpu_set_t cpus;

	assert_true(!name || thread);
	assert_int_equal(sched_getaffinity(thread, sizeof(cpus), &cpus), 0);
	return cpus;
}

/* Hints are never an error, and change nothing; Query returns where the notifying thread runs. */
static void
affinity_is_where_the_thread_runs_that_tells(void **state)
{
	static const struct {
		USHORT group;
		KAFFINITY mask;
	} options[] = {{0, 0}, {0, 1}, {0, ~(KAFFINITY)0}, {15, 1}, {999, 1}};
	const cpu_set_t before = cpus_of(NULL);
	struct nd_side side;
	cpu_set_t cpus, one;

	(void)state;
	nd_side_open(&side, 0, NULL);
	/* from here on the caller runs elsewhere than the notifying thread, if there is one */
	CPU_ZERO(&one);
	for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	cpus = cpus_of(nd_is_inline() ? NULL : "nd2-nd0");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		KAFFINITY mask = 0;
		USHORT group = 77;
		void *made = NULL;
		IND2CompletionQueue *cq;

		assert_hr(IND2Adapter_CreateCompletionQueue(side.adapter, &IID_IND2CompletionQueue,
							    side.file, 8, options[i].group,
							    options[i].mask, &made),
			  ND_SUCCESS);
		cq = made;
		assert_hr(IND2CompletionQueue_GetNotifyAffinity(cq, &group, NULL),
			  ND_INVALID_PARAMETER);
		assert_hr(IND2CompletionQueue_GetNotifyAffinity(cq, NULL, &mask),
			  ND_INVALID_PARAMETER);
		assert_true(group == 77 && mask == 0);
		assert_hr(IND2CompletionQueue_GetNotifyAffinity(cq, &group, &mask), ND_SUCCESS);
		assert_int_not_equal(mask, 0);
		for (int cpu = 0; cpu < 64; cpu++)
			assert_int_equal(mask >> cpu & 1,
					 CPU_ISSET(64 * group + cpu, &cpus) ? 1 : 0);
		nd_release(cq, 0);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	nd_side_close(&side);
}

/* ---- looking ---- */

/* A client that only calls GetResults also gets other pending completions: in inline mode by
 * that very call. */
static void
looking_for_results_is_enough(void **state)
{
	struct nd_options options = {.two_cqs = true};
	uint64_t late = test_ms() + TEST_PATIENCE_MS;
	struct nd_side side;
	OVERLAPPED ov = {0};
	ND2_RESULT result;

	(void)state;
	nd_side_open(&side, 0, &options);
	assert_hr(IND2CompletionQueue_Notify(side.receive_cq, ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
	nd_receive(&side, 1, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	while (nd_status(&ov) == ND_PENDING) {
		assert_int_equal(IND2CompletionQueue_GetResults(side.initiator_cq, &result, 1), 0);
		assert_true(test_ms() < late);
	}
	assert_hr((HRESULT)ov.Internal, ND_SUCCESS);
	nd_expect(side.receive_cq, 1, ND_CANCELED);
	nd_side_close(&side);
}

/* Refused, it has the depth that it had: four fit, and no fifth. */
static void
a_refused_resize_changes_nothing(void **state)
{
	struct nd_options options = {.cq_depth = 4};
	struct nd_side side;
	OVERLAPPED ov = {0};

	(void)state;
	setenv("POLLUX_ND2_STRICT_CQ", "1", 1);
	nd_side_open(&side, 0, &options);
	unsetenv("POLLUX_ND2_STRICT_CQ");
	assert_hr(IND2CompletionQueue_Notify(side.receive_cq, ND_CQ_NOTIFY_ERRORS, &ov),
		  ND_PENDING);
	for (uintptr_t i = 0; i < 5; i++) {
		nd_receive(&side, i, 0, 8);
		assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
		assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 0), ND_INVALID_PARAMETER);
		assert_hr(IND2CompletionQueue_Resize(side.receive_cq, UINT32_MAX),
			  ND_INVALID_PARAMETER);
		if (i == 2)
			assert_hr(IND2CompletionQueue_Resize(side.receive_cq, 2),
				  ND_BUFFER_OVERFLOW);
		nd_settle();
		if (i < 4)
			assert_int_equal(ov.Internal, STATUS_PENDING);
	}
	assert_hr(nd_wait(&ov), ND_BUFFER_OVERFLOW);
	nd_side_close(&side);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(get_results_of_nothing),
		ND_TEST(many_results_at_once),
		ND_TEST(entries_outlive_their_queue_pair),
		ND_TEST(resize_by_status),
		ND_TEST(resize_under_load_loses_and_reorders_nothing),
		ND_TEST(overrun_ends_every_notify),
		ND_TEST(queues_share_a_completion_queue_that_is_less_deep),
		ND_TEST(affinity_is_where_the_thread_runs_that_tells),
		ND_TEST(looking_for_results_is_enough),
		ND_TEST(a_refused_resize_changes_nothing),
	};
	const struct CMUnitTest threads[] = {
		ND_TEST(results_are_read_once_each_by_four_threads),
	};
	int failures = nd_run_both("queues", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + nd_run("queues, threads", threads, 1);
}
