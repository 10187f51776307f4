/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A polluxd that is killed while requests of an attached program are pending: each completes with
 * DEVICE_REMOVED, and so does what is asked afterwards; nothing hangs, spins or is left. It runs
 * attached only. Start with the_end_of_the_host_ends_what_is_pending().
 */
#include "nd2_pair.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "polluxd.h"

enum {
	LOOK_MS = 300,
	IDLE_MS =
		100, /* of processor time in LOOK_MS: far more than a dispatcher that sleeps uses */
};

/* What waits when the host ends. */
struct pending {
	OVERLAPPED any, solicited, errors, below; /* Notify */
	OVERLAPPED told;                          /* NotifyDisconnect */
	OVERLAPPED asked;                         /* GetConnectionRequest */
};

static uint64_t
used_ms(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* No thread turns round a descriptor that stays readable. */
static void
assert_sleeping(void)
{
	uint64_t before = used_ms();

	usleep(LOOK_MS * 1000);
	assert_true(used_ms() - before < IDLE_MS);
}

static void
kill_host(void)
{
	/* Who has started it reaps it. */
	assert_int_equal(kill(polluxd_pid(), SIGKILL), 0);
}

static void
begin_waiting(struct nd_pair *pair, IND2Connector *next, struct pending *p)
{
	IND2CompletionQueue *cq = pair->b.receive_cq;

	assert_hr(IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_ANY, &p->any), ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_SOLICITED, &p->solicited),
		  ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_ERRORS, &p->errors), ND_PENDING);
	assert_hr(IND2SharedReceiveQueue_Notify(pair->b.srq, &p->below), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &p->told), ND_PENDING);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(next), &p->asked),
		  ND_PENDING);
}

/* What is asked of a host that has ended. */
static void
assert_removed(struct nd_pair *pair, IND2Connector *next)
{
	IND2CompletionQueue *cq;
	OVERLAPPED ov = {0};

	assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, ND_CQ_NOTIFY_ANY, &ov),
		  ND_DEVICE_REMOVED);
	assert_hr(IND2SharedReceiveQueue_Notify(pair->b.srq, &ov), ND_DEVICE_REMOVED);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(next), &ov),
		  ND_DEVICE_REMOVED);
	assert_hr(IND2Adapter_CreateCompletionQueue(pair->a.adapter, &IID_IND2CompletionQueue,
						    pair->a.file, 16, 0, 0, (void **)&cq),
		  ND_DEVICE_REMOVED);
	/* Nothing is armed any more: no cancel waits for the engine. */
	assert_hr(IND2CompletionQueue_CancelOverlappedRequests(pair->b.receive_cq), ND_SUCCESS);
	assert_hr(IND2SharedReceiveQueue_CancelOverlappedRequests(pair->b.srq), ND_SUCCESS);
}

static void
the_end_of_the_host_ends_what_is_pending(void **state)
{
	struct nd_options with_srq = {.srq = true, .threshold = 1};
	struct nd_pair *pair = nd_pair_open(&with_srq);
	void *family = &nd_family4;
	struct nd_pair *half = nd_pair_bound(&family, NULL);
	IND2Connector *next = nd_side_connector(&pair->b);
	struct pending p = {0};

	(void)state;
	nd_pair_request(half); /* its Connect is pending, nobody accepts */
	nd_receive(&pair->b, 1, 0, 8);
	nd_receive(&pair->b, 2, 8, 8);
	begin_waiting(pair, next, &p);
	nd_still_pending(&p.any);
	kill_host();
	assert_hr(nd_wait(&p.any), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&p.solicited), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&p.errors), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&p.below), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&p.told), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&p.asked), ND_DEVICE_REMOVED);
	assert_hr(nd_wait(&half->connected), ND_DEVICE_REMOVED);
	assert_removed(pair, next);
	assert_sleeping();
	nd_release(next, 0);
	nd_pair_close(half);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_end_of_the_host_ends_what_is_pending,
					  nd_no_object_is_left),
	};

	if (!nd_is_attached()) {
		fputs("TEST_POLLUXD is not set: give the path of polluxd\n", stderr);
		return 2;
	}
	return nd_run("host_gone", tests, sizeof(tests) / sizeof(tests[0]));
}
