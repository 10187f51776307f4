/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Callbacks of completion queues, on two adapters: T1 to T11. Which arm an entry satisfies is
 * tested for every state in arming.c; here the queue below and the dispatcher take part. Start with
 * T1.
 */
#include <ntstatus.h>

#include <stdlib.h>

#include "ndk_pair.h"

static void
arm(struct ndk_side *side, ULONG type)
{
	side->receive_cq->Dispatch->NdkArmCq(side->receive_cq, type);
}

/* One message from a to b, whose completion at a is not to be seen. */
static void
deliver(struct ndk_pair *pair, uintptr_t context, ULONG flags)
{
	ndk_post_receive(&pair->b, context, 1024, 64);
	ndk_post_send(&pair->a, context, 0, 64, flags);
	ndk_expect(pair->a.cq, context, STATUS_SUCCESS);
}

static void
assert_notified(struct ndk_side *side, int times)
{
	ndk_until(side->notified == times);
	ndk_settle();
	assert_int_equal(side->notified, times);
}

/* What an arm, or two, wait for: an entry without a solicitation, one with it, one with an error.
 */
static void
arms_wait_for(const ULONG types[2], bool any, bool solicited)
{
	for (int event = 0; event < 3; event++) {
		struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});
		bool expected = event == 0 ? any : any || solicited;

		for (int i = 0; i < 2; i++)
			arm(&pair->b, types[i]);
		if (event == 2) {
			ndk_post_receive(&pair->b, 1, 0, 64);
			pair->b.qp->Dispatch->NdkFlush(pair->b.qp);
			ndk_expect(pair->b.receive_cq, 1, STATUS_CANCELLED);
		} else {
			deliver(pair, 1, event == 1 ? NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT : 0);
			ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
		}
		assert_notified(&pair->b, expected ? 1 : 0);
		if (expected)
			assert_nt(pair->b.notified_with, STATUS_SUCCESS);
		ndk_pair_close(pair);
	}
}

static void
t1_every_pair_of_arms_waits_for_the_stronger(void **state)
{
	static const ULONG types[] = {NDK_CQ_NOTIFY_ERRORS, NDK_CQ_NOTIFY_ANY,
				      NDK_CQ_NOTIFY_SOLICITED};

	(void)state;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			const ULONG both[] = {types[i], types[j]};
			bool any = i == 1 || j == 1, solicited = i == 2 || j == 2;

			arms_wait_for(both, any, solicited);
		}
	}
}

static atomic_bool dispatcher_waits, dispatcher_may_go;

static VOID
holds_the_dispatcher(PVOID context)
{
	dispatcher_waits = true;
	ndk_until(dispatcher_may_go);
	ndk_on_closed(context);
}

/* The weaker arm has fired below, and the dispatcher has not seen it when the stronger comes. */
static void
t1_a_stronger_arm_is_satisfied_by_what_the_weaker_waited_for(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});
	NDK_CQ *other = ndk_side_cq(&pair->b, 4);
	struct ndk_done done = {0};

	(void)state;
	dispatcher_waits = dispatcher_may_go = false;
	assert_nt(other->Dispatch->NdkCloseCq(&other->Header, holds_the_dispatcher, &done),
		  STATUS_PENDING);
	ndk_until(dispatcher_waits);
	arm(&pair->b, NDK_CQ_NOTIFY_SOLICITED);
	deliver(pair, 1, NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	dispatcher_may_go = true;
	ndk_until(done.calls == 1);
	assert_notified(&pair->b, 1);
	ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
t3_many_completions_make_one_callback(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});

	(void)state;
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	for (uintptr_t i = 0; i < 10; i++)
		deliver(pair, i, 0);
	assert_notified(&pair->b, 1);
	for (uintptr_t i = 0; i < 10; i++)
		ndk_expect(pair->b.receive_cq, i, STATUS_SUCCESS);
	assert_notified(&pair->b, 1);
	ndk_pair_close(pair);
}

static void
t4_what_nobody_was_told_of_satisfies_an_arm(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});

	(void)state;
	deliver(pair, 1, 0);
	ndk_settle();
	arm(&pair->b, NDK_CQ_NOTIFY_SOLICITED);
	arm(&pair->b, NDK_CQ_NOTIFY_ERRORS);
	assert_notified(&pair->b, 0);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	assert_notified(&pair->b, 1);
	ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
t5_what_a_callback_told_of_does_not(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});

	(void)state;
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	deliver(pair, 1, 0);
	assert_notified(&pair->b, 1);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	assert_notified(&pair->b, 1);
	deliver(pair, 2, 0);
	assert_notified(&pair->b, 2);
	ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
	ndk_expect(pair->b.receive_cq, 2, STATUS_SUCCESS);
	ndk_pair_close(pair);
}

/* ---- inside a callback ---- */

static struct ndk_pair *ours;
static atomic_int inside, arms;

/* While this one runs, an entry comes, and the queue is armed. */
static void
arm_after_an_entry(struct ndk_side *side)
{
	assert_int_equal(atomic_fetch_add(&inside, 1), 0);
	if (side->notified == 0) {
		ndk_post_send(&ours->a, 2, 0, 64, NDK_OP_FLAG_SILENT_SUCCESS);
		ndk_settle();
		for (int i = 0; i < arms; i++)
			arm(side, NDK_CQ_NOTIFY_ANY);
		ndk_settle();
	}
	atomic_fetch_sub(&inside, 1);
}

static void
callback_follows_callback(int times)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});

	ours = pair;
	arms = times;
	pair->b.on_notify = arm_after_an_entry;
	ndk_post_receive(&pair->b, 1, 0, 64);
	ndk_post_receive(&pair->b, 2, 0, 64);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	ndk_post_send(&pair->a, 1, 0, 64, NDK_OP_FLAG_SILENT_SUCCESS);
	assert_notified(&pair->b, 2);
	ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
	ndk_expect(pair->b.receive_cq, 2, STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
t6_an_arm_in_a_callback_is_answered_after_it(void **state)
{
	(void)state;
	callback_follows_callback(1);
}

static void
t7_three_arms_in_a_callback_make_one(void **state)
{
	(void)state;
	callback_follows_callback(3);
}

/* ---- T8 ---- */

enum {
	RACE_ROUNDS = 1000000,
	RACE_MS = 10000, /* on a slow or busy machine */
};

static atomic_ulong received;

/* Drain, and arm: what comes between the two must not be lost. */
static void
drain(struct ndk_side *side)
{
	NDK_RESULT result;

	while (side->cq->Dispatch->NdkGetCqResults(side->cq, &result, 1) == 1) {
		assert_nt(result.Status, STATUS_SUCCESS);
		ndk_post_receive(side, 0, 1024, 64);
		atomic_fetch_add(&received, 1);
	}
	arm(side, NDK_CQ_NOTIFY_ANY);
}

static void
t8_an_entry_between_the_drain_and_the_arm_is_not_lost(void **state)
{
	const char *asked = getenv("POLLUX_ROUNDS");
	unsigned long rounds = asked ? strtoul(asked, NULL, 10) : RACE_ROUNDS;
	struct ndk_pair *pair = ndk_pair_new(NULL);
	uint64_t until = test_ms() + RACE_MS;
	uint32_t random = 1;

	(void)state;
	atomic_store(&received, 0);
	pair->b.on_notify = drain;
	for (uintptr_t i = 0; i < 8; i++)
		ndk_post_receive(&pair->b, i, 1024, 64);
	ndk_pair_connect(pair);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	for (unsigned long i = 0; i < rounds && (asked || test_ms() < until); i++) {
		random = random * 1664525 + 1013904223;
		for (uint32_t spin = 0; spin < (random >> 22); spin++)
			__asm__ volatile("");
		ndk_post_send(&pair->a, i, 0, 8, 0);
		ndk_expect(pair->a.cq, i, STATUS_SUCCESS);
		ndk_until(received == i + 1);
	}
	pair->b.on_notify = NULL;
	ndk_pair_close(pair);
}

/* ---- closing ---- */

static struct ndk_done closing;

static void
close_itself(struct ndk_side *side)
{
	NDK_CQ *cq = side->receive_cq;

	arm(side, NDK_CQ_NOTIFY_ANY);
	assert_nt(cq->Dispatch->NdkCloseCq(&cq->Header, ndk_on_closed, &closing), STATUS_PENDING);
	ndk_settle();
	assert_int_equal(closing.calls, 0);
}

/* A queue that no queue pair uses: nothing else keeps it. */
static void
t11_a_queue_closed_in_its_callback_ends_after_it(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});
	struct ndk_side *b = &pair->b;

	(void)state;
	closing = (struct ndk_done){0};
	b->on_notify = close_itself;
	deliver(pair, 1, 0);
	arm(b, NDK_CQ_NOTIFY_ANY);
	ndk_until(b->notified == 1);
	assert_int_equal(closing.calls, 0); /* its queue pair is there still */
	ndk_end(b->connector->Dispatch->NdkCloseConnector, b->connector);
	ndk_end(b->qp->Dispatch->NdkCloseQp, b->qp);
	b->connector = NULL;
	b->qp = NULL;
	ndk_until(closing.calls == 1);
	b->receive_cq = NULL;
	ndk_settle();
	assert_int_equal(b->notified, 1);
	ndk_pair_close(pair);
}

/* ---- errors of the queue ---- */

static void
t9_a_failed_request_is_no_error_of_the_queue(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});
	NDK_CQ *cq = pair->a.cq;
	NDK_SGE sge = ndk_sge(&pair->a, 0, 64);

	(void)state;
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ERRORS);
	assert_nt(pair->a.qp->Dispatch->NdkWrite(pair->a.qp, NULL, &sge, 1, 0, 0xbad, 0),
		  STATUS_SUCCESS);
	ndk_expect(cq, 0, STATUS_REMOTE_RESOURCES);
	assert_notified(&pair->a, 0);
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_SOLICITED);
	assert_nt(pair->a.qp->Dispatch->NdkWrite(pair->a.qp, (PVOID)1, &sge, 1, 0, 0, 0),
		  STATUS_SUCCESS);
	ndk_expect(cq, 1, STATUS_CANCELLED);
	assert_notified(&pair->a, 1);
	assert_nt(pair->a.notified_with, STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
t10_an_overrun_satisfies_every_later_arm(void **state)
{
	struct ndk_options options = {.two_cqs = true, .cq_depth = 4};
	struct ndk_pair *pair = ndk_pair_new(&options);
	static const ULONG types[] = {NDK_CQ_NOTIFY_ERRORS, NDK_CQ_NOTIFY_ANY,
				      NDK_CQ_NOTIFY_SOLICITED};

	(void)state;
	for (uintptr_t i = 0; i < 6; i++)
		ndk_post_receive(&pair->b, i, 0, 64);
	ndk_pair_connect(pair);
	for (uintptr_t i = 0; i < 4; i++) {
		ndk_post_send(&pair->a, i, 0, 64, 0);
		ndk_expect(pair->a.cq, i, STATUS_SUCCESS);
	}
	ndk_post_send(&pair->a, 4, 0, 64, 0);
	ndk_settle();
	assert_int_equal(pair->b.notified, 0);
	for (int i = 0; i < 3; i++) {
		arm(&pair->b, types[i]);
		assert_notified(&pair->b, i + 1);
		assert_nt(pair->b.notified_with, STATUS_BUFFER_OVERFLOW);
	}
	ndk_pair_close(pair);
}

/* ---- moderation ---- */

static NTSTATUS
moderate(struct ndk_side *side, ULONG interval, ULONG count)
{
	return side->receive_cq->Dispatch->NdkControlCqInterruptModeration(side->receive_cq,
									   interval, count);
}

static void
moderation_delays_a_callback_until_the_count_or_the_time(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true});
	uint64_t began;

	(void)state;
	assert_nt(moderate(&pair->b, MAXULONG, MAXULONG), STATUS_INVALID_PARAMETER_MIX);
	assert_nt(moderate(&pair->b, MAXULONG, 3), STATUS_SUCCESS);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	deliver(pair, 1, 0);
	deliver(pair, 2, 0);
	assert_notified(&pair->b, 0);
	/* the entries themselves are there */
	ndk_expect(pair->b.receive_cq, 1, STATUS_SUCCESS);
	deliver(pair, 3, 0);
	assert_notified(&pair->b, 0); /* one was polled */
	deliver(pair, 4, 0);
	assert_notified(&pair->b, 1);

	assert_nt(moderate(&pair->b, 100 * 1000, MAXULONG), STATUS_SUCCESS);
	began = test_ms();
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	deliver(pair, 5, 0);
	ndk_until(pair->b.notified == 2);
	assert_true(test_ms() - began >= 99);

	/* the newest setting decides about a callback that waits */
	assert_nt(moderate(&pair->b, MAXULONG, 200), STATUS_SUCCESS);
	arm(&pair->b, NDK_CQ_NOTIFY_ANY);
	deliver(pair, 6, 0);
	assert_notified(&pair->b, 2);
	assert_nt(moderate(&pair->b, 0, 0), STATUS_SUCCESS);
	assert_notified(&pair->b, 3);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t1_every_pair_of_arms_waits_for_the_stronger),
		cmocka_unit_test(t1_a_stronger_arm_is_satisfied_by_what_the_weaker_waited_for),
		cmocka_unit_test(t3_many_completions_make_one_callback),
		cmocka_unit_test(t4_what_nobody_was_told_of_satisfies_an_arm),
		cmocka_unit_test(t5_what_a_callback_told_of_does_not),
		cmocka_unit_test(t6_an_arm_in_a_callback_is_answered_after_it),
		cmocka_unit_test(t7_three_arms_in_a_callback_make_one),
		cmocka_unit_test(t8_an_entry_between_the_drain_and_the_arm_is_not_lost),
		cmocka_unit_test(t11_a_queue_closed_in_its_callback_ends_after_it),
		cmocka_unit_test(t9_a_failed_request_is_no_error_of_the_queue),
		cmocka_unit_test(t10_an_overrun_satisfies_every_later_arm),
		cmocka_unit_test(moderation_delays_a_callback_until_the_count_or_the_time),
	};

	return ndk_run("ndk_callbacks", tests, sizeof(tests) / sizeof(tests[0]));
}
