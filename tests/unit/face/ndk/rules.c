/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Consumers that break a rule of lifetime (L2, L7): with checks they are told by one sentence and
 * end; without them the other adapters of the process do not notice. Each plays in a process of its
 * own. Start with ends_with() and harms_nobody().
 */
#include <ntstatus.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "ndk_pair.h"
#include "subprocess.h"

/* ---- what they do ---- */

/* The queue pair's close waits for its connector's, so its object is there. */
static void
posts_after_the_close(struct ndk_pair *pair)
{
	NDK_QP *qp = pair->a.qp;
	NDK_SGE sge = ndk_sge(&pair->a, 0, 8);
	static struct ndk_done done;

	assert_nt(qp->Dispatch->NdkCloseQp(&qp->Header, ndk_on_closed, &done), STATUS_PENDING);
	pair->a.qp = NULL;
	assert_nt(qp->Dispatch->NdkSend(qp, NULL, &sge, 1, 0), STATUS_INVALID_DEVICE_REQUEST);
}

static void
arms_and_reads_after_the_close(struct ndk_pair *pair)
{
	NDK_CQ *cq = pair->a.cq;
	NDK_RESULT result;
	static struct ndk_done done;

	assert_nt(cq->Dispatch->NdkCloseCq(&cq->Header, ndk_on_closed, &done), STATUS_PENDING);
	pair->a.cq = pair->a.receive_cq = NULL;
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
	assert_int_equal(cq->Dispatch->NdkGetCqResults(cq, &result, 1), 0);
}

static void
closes_twice(struct ndk_pair *pair)
{
	NDK_PD *pd = pair->a.pd;
	const NDK_FN_CLOSE_OBJECT close = pd->Dispatch->NdkClosePd;
	static struct ndk_done done, again;

	assert_nt(close(&pd->Header, ndk_on_closed, &done), STATUS_PENDING);
	pair->a.pd = NULL;
	assert_nt(close(&pd->Header, ndk_on_closed, &again), STATUS_SUCCESS);
	assert_nt(pd->Dispatch->NdkClosePd(&pd->Header, ndk_on_closed, &again), STATUS_SUCCESS);
	assert_int_equal(again.calls, 0);
}

#ifndef __SANITIZE_ADDRESS__
/* AddressSanitizer has its own words for this one. */
static void
uses_what_has_ended(struct ndk_pair *pair)
{
	NDK_CQ *cq = ndk_side_cq(&pair->a, 8);

	ndk_end(cq->Dispatch->NdkCloseCq, cq);
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
}
#endif

static atomic_int closed_inside;

static VOID
close_adapter(PVOID context)
{
	plx_ndk_close(context);
	closed_inside++;
}

static void
closes_the_adapter_in_a_callback(struct ndk_pair *pair)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	NDK_CQ *cq;
	static struct ndk_side side;

	(void)pair;
	side.adapter = adapter;
	cq = ndk_side_cq(&side, 8);
	assert_nt(cq->Dispatch->NdkCloseCq(&cq->Header, close_adapter, adapter), STATUS_PENDING);
	ndk_until(closed_inside == 1);
}

static const struct {
	void (*play)(struct ndk_pair *pair);
	const char *sentence;
} rules[] = {
	{posts_after_the_close, "NDK_FN_SEND is called on an object that the consumer has closed"},
	{arms_and_reads_after_the_close,
	 "NDK_FN_ARM_CQ is called on an object that the consumer has closed"},
	{closes_twice, "an object is closed twice"},
	{closes_the_adapter_in_a_callback, "an NDK adapter is closed from a callback"},
#ifndef __SANITIZE_ADDRESS__
	{uses_what_has_ended, "NDK_FN_ARM_CQ is called on an object that the consumer has closed"},
#endif
};

/* ---- processes of their own ---- */

/* Play a rule in a process of its own, and read what it says. Returns: its wait status */
static int
run(size_t rule, const char *checks, char *said, size_t bytes)
{
	char number[8];

	(void)snprintf(number, sizeof(number), "%zu", rule);
	setenv("POLLUX_DBG", checks, 1);
	return scene_run(number, said, bytes);
}

static void
l2_l7_who_breaks_a_rule_is_told_by_a_sentence(void **state)
{
	static char said[65536];

	(void)state;
	for (size_t rule = 0; rule < sizeof(rules) / sizeof(rules[0]); rule++) {
		int status = run(rule, "1", said, sizeof(said));

		if (!WIFSIGNALED(status) || strstr(said, rules[rule].sentence) == NULL)
			fail_msg("rule %zu ended with %d and said: %s", rule, status, said);
	}
}

static void
l2_l7_without_checks_no_other_adapter_is_harmed(void **state)
{
	static char said[65536];

	(void)state;
	for (size_t rule = 0; rule < sizeof(rules) / sizeof(rules[0]); rule++) {
		int status = run(rule, "0", said, sizeof(said));

		if (status != 0 || strstr(said, rules[rule].sentence) == NULL)
			fail_msg("rule %zu ended with %d and said: %s", rule, status, said);
	}
}

/* The pair of the one who breaks the rule, and another one that has to go on. */
static void
play(size_t rule)
{
	struct ndk_pair *pair = ndk_pair_open(NULL), *other = ndk_pair_open(NULL);

	rules[rule].play(pair);
	ndk_pair_close(pair);
	ndk_post_receive(&other->b, 1, 0, 8);
	ndk_post_send(&other->a, 2, 0, 8, 0);
	ndk_expect(other->b.cq, 1, STATUS_SUCCESS);
	ndk_expect(other->a.cq, 2, STATUS_SUCCESS);
	ndk_pair_close(other);
}

static size_t asked;

static void
the_rule_that_was_asked_for(void **state)
{
	(void)state;
	play(asked);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(l2_l7_who_breaks_a_rule_is_told_by_a_sentence),
		cmocka_unit_test(l2_l7_without_checks_no_other_adapter_is_harmed),
	};
	const struct CMUnitTest one[] = {cmocka_unit_test(the_rule_that_was_asked_for)};

	if (argc > 1) {
		asked = strtoul(argv[1], NULL, 10);
		return ndk_run("ndk_rule", one, 1);
	}
	return ndk_run("ndk_rules", tests, sizeof(tests) / sizeof(tests[0]));
}
