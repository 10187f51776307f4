/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues: when an armed one fires (docs/nd2.md, one test for each sentence), the
 * descriptor, and waiting. cq_room.c covers their capacity. Entries at b are counted by completions
 * at a: a's completion implies that b's is there. Start with pair_deliver().
 */
#include "verbs_pair.h"

#include <poll.h>
#include <sched.h>

/* Arm; a queue that fired at once is reported only here. */
static uint32_t
arm(struct plx_cq *cq, uint32_t kinds)
{
	uint32_t fired = 0xff;

	assert_int_equal(plx_cq_arm(cq, kinds, &fired), PLX_OK);
	return fired;
}

static bool
readable(struct plx_cq *cq)
{
	struct pollfd entry = {.fd = plx_cq_fd(cq), .events = POLLIN};

	assert_true(entry.fd >= 0);
	return poll(&entry, 1, 0) == 1;
}

static void
assert_silent(struct plx_cq *cq)
{
	pair_settle();
	assert_int_equal(plx_cq_get_event(cq), 0);
	assert_false(readable(cq));
}

static uint32_t
fires(struct plx_cq *cq)
{
	uint32_t fired;

	pair_until((fired = plx_cq_get_event(cq)) != 0);
	return fired;
}

static void
take(struct plx_cq *cq, uint32_t n)
{
	while (n--)
		(void)pair_reap(cq);
}

/* ---- polling in place ---- */

static void
a_peek_takes_completions_in_place_and_makes_progress(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_wc_span span;

	(void)state;
	assert_int_equal(plx_cq_peek(pair->b.recv_cq, 8, &span), 0);
	side_receive(&pair->b, 1, 0, 64);
	side_post(&pair->a, PLX_WR_SEND, 2, 0, 0, 64, NULL);
	/* in inline mode nothing else runs b's adapter */
	test_until(plx_cq_peek(pair->b.recv_cq, 8, &span) == 1, sched_yield());
	assert_int_equal(span.at->status, PLX_WC_SUCCESS);
	assert_int_equal(span.at->wr_id, 1);
	plx_cq_release(pair->b.recv_cq, &span);
	assert_int_equal(plx_cq_peek(pair->b.recv_cq, 8, &span), 0);
	pair_close(pair);
}

/* ---- when it fires, sentence by sentence ---- */

static void
a_queue_starts_unarmed(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 3, PLX_WR_SOLICITED);
	assert_silent(pair->b.recv_cq);
	pair_close(pair);
}

static void
an_armed_queue_fires_once(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	assert_silent(pair->b.recv_cq);
	pair_deliver(pair, 1, 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	pair_deliver(pair, 1, 0);
	assert_silent(pair->b.recv_cq);
	pair_close(pair);
}

static void
entries_from_before_the_first_arm_are_new(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 2, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	assert_silent(pair->b.recv_cq);
	/* fired at once: it is not armed now */
	pair_deliver(pair, 1, 0);
	assert_silent(pair->b.recv_cq);
	pair_close(pair);
}

static void
an_entry_after_the_last_poll_fires_at_once(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 2, 0);
	take(pair->b.recv_cq, 2);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	pair_deliver(pair, 1, 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	take(pair->b.recv_cq, 1);
	pair_deliver(pair, 1, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	pair_close(pair);
}

static void
an_entry_after_the_last_notification_fires_at_once(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	pair_deliver(pair, 1, 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	pair_deliver(pair, 1, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	pair_close(pair);
}

/* A18: five entries, a notification, one read: only a sixth one fires. */
static void
entries_that_have_notified_do_not_notify_again_though_unread(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 5, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	take(pair->b.recv_cq, 1);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	assert_silent(pair->b.recv_cq);
	pair_deliver(pair, 1, 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	take(pair->b.recv_cq, 5);
	pair_close(pair);
}

/* An entry that came while nobody was armed any more has notified nobody. */
static void
what_is_disarmed_does_not_fire_and_moves_nothing(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_ERRORS), 0);
	assert_int_equal(
		plx_cq_disarm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED),
		PLX_CQ_NOTIFY_ANY);
	assert_int_equal(plx_cq_disarm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_ERRORS),
			 PLX_CQ_NOTIFY_ERRORS);
	pair_deliver(pair, 1, 0);
	assert_silent(pair->b.recv_cq);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	/* an event that has fired cannot be withdrawn */
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	pair_deliver(pair, 1, 0);
	assert_int_equal(plx_cq_disarm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	take(pair->b.recv_cq, 2);
	pair_close(pair);
}

/* What a program that has its own way of notifying needs (NDK's callbacks). */
static void
what_a_program_has_told_of_is_not_new_any_more(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_cq_info info;

	(void)state;
	pair_deliver(pair, 3, 0);
	take(pair->b.recv_cq, 1);
	plx_cq_query(pair->b.recv_cq, &info);
	assert_int_equal(info.produced, 3);
	assert_int_equal(info.polled, 1);
	assert_false(info.overrun);
	plx_cq_set_notified(pair->b.recv_cq);
	/* armed since, then withdrawn with the rest */
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	plx_cq_set_notified(pair->b.recv_cq);
	pair_deliver(pair, 1, 0);
	assert_silent(pair->b.recv_cq);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	take(pair->b.recv_cq, 3);
	pair_close(pair);
}

/* However many are requested. The ring is read across its wrap many times. */
static void
completions_come_in_order_over_the_end_of_the_ring(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	uint64_t posted = 0, read = 0;

	(void)state;
	for (uint32_t round = 0; round < 400; round++) {
		for (uint32_t i = 0; i < 7; i++)
			side_post(&pair->a, PLX_WR_WRITE, posted++, 0, 0, 8, &beyond);
		while (read < posted) {
			struct plx_wc wc[5];
			uint32_t n = plx_cq_poll(pair->a.send_cq, wc, 1 + round % 5);

			assert_true(n <= 1 + round % 5);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(wc[i].wr_id, read++);
				assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
			}
			if (n == 0)
				pair_cycle();
		}
	}
	pair_expect_none(pair->a.send_cq);
	pair_close(pair);
}

/* A18: poll, find nothing, arm: with the entry falling anywhere in between. */
static void
an_entry_between_an_empty_poll_and_the_arm_is_not_lost(void **state)
{
	struct pair *pair = pair_open(NULL);
	uint32_t armed = 0, kinds;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		/* inline, posted requests have left; deferred ones have not */
		bool later = i / 23 % 2 == 1;
		struct plx_wc wc;

		side_receive(&pair->b, i, 0, 8);
		side_post(&pair->a, PLX_WR_SEND, i, PLX_WR_UNSIGNALED | (later ? PLX_WR_DEFER : 0),
			  0, 8, NULL);
		for (uint32_t turns = i % 23; turns > 0; turns--)
			pair_cycle();
		if (plx_cq_poll(pair->b.recv_cq, &wc, 1) == 1) {
			assert_int_equal(wc.wr_id, i);
			continue;
		}
		armed++;
		kinds = arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY);
		if (later)
			plx_qp_ring_doorbell(pair->a.qp);
		if (!kinds)
			(void)fires(pair->b.recv_cq);
		assert_int_equal(plx_cq_poll(pair->b.recv_cq, &wc, 1), 1);
		assert_int_equal(wc.wr_id, i);
	}
	assert_true(armed > 0);
	pair_close(pair);
}

static void
solicited_fires_for_a_solicited_receive_only_and_leaves_the_others_new(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	pair_deliver(pair, 3, 0);
	assert_silent(pair->b.recv_cq);
	pair_deliver(pair, 1, PLX_WR_SOLICITED);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_SOLICITED);
	/* and the sender's own queue does not care */
	assert_int_equal(plx_cq_get_event(pair->a.send_cq), 0);
	pair_close(pair);

	pair = pair_open(NULL);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	pair_deliver(pair, 3, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY) & PLX_CQ_NOTIFY_ANY,
			 PLX_CQ_NOTIFY_ANY);
	pair_close(pair);
}

static void
solicited_fires_for_any_error(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	side_receive(&pair->b, 1, 0, 8);
	assert_silent(pair->b.recv_cq);
	assert_int_equal(plx_qp_flush(pair->b.qp), PLX_OK);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_SOLICITED);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_FLUSHED);
	pair_close(pair);
}

static void
any_armed_beside_solicited_finishes_both(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_SOLICITED), 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	pair_deliver(pair, 1, 0);
	assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED);
	pair_deliver(pair, 1, PLX_WR_SOLICITED);
	assert_silent(pair->b.recv_cq);
	pair_close(pair);
}

static void
errors_does_not_fire_for_an_entry_with_an_error(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ERRORS), 0);
	side_receive(&pair->b, 1, 0, 8);
	assert_int_equal(plx_qp_flush(pair->b.qp), PLX_OK);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_FLUSHED);
	assert_silent(pair->b.recv_cq);
	pair_close(pair);
}

/* A17: never armed before, two receives, flush, arm. */
static void
two_flushed_receives_fire_the_first_arm_and_come_in_order(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	side_receive(&pair->b, 1, 0, 8);
	side_receive(&pair->b, 2, 0, 8);
	assert_int_equal(plx_qp_flush(pair->b.qp), PLX_OK);
	if (!arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY))
		assert_int_equal(fires(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_FLUSHED);
	pair_expect(pair->b.recv_cq, 2, PLX_WC_FLUSHED);
	pair_close(pair);
}

static void
an_overrun_of_a_strict_queue_fires_every_kind_and_ends_it(void **state)
{
	struct pair_options options = pair_usual();
	struct plx_async_event event;
	uint32_t fired, unused;
	struct pair *pair;

	(void)state;
	options.cq.depth = 4;
	options.cq.strict = true;
	options.cq.context = 0xc0ffee;
	pair = pair_open(&options);
	pair_deliver(pair, 4, 0);
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), PLX_CQ_NOTIFY_ANY);
	assert_int_equal(arm(pair->b.recv_cq,
			     PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED | PLX_CQ_NOTIFY_ERRORS),
			 0);
	side_receive(&pair->b, 4, 0, 64);
	side_post(&pair->a, PLX_WR_SEND, 4, 0, 0, 8, NULL);
	fired = fires(pair->b.recv_cq);
	assert_int_equal(fired, PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED | PLX_CQ_NOTIFY_ERRORS);
	assert_int_equal(plx_cq_arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY, &unused), PLX_FULL);
	pair_until(pair_state(pair->b.qp) == PLX_QP_ERROR);
	do
		event = pair_async_event(pair->b.adapter);
	while (event.kind != PLX_EVENT_CQ_OVERRUN);
	assert_int_equal(event.context, 0xc0ffee);
	pair_close(pair);
}

/* ---- the queue itself ---- */

static void
kinds_that_there_are_not_are_invalid(void **state)
{
	struct pair *pair = pair_open(NULL);
	uint32_t fired = 5;

	(void)state;
	assert_int_equal(plx_cq_arm(pair->a.send_cq, 8, &fired), PLX_INVALID);
	assert_int_equal(plx_cq_arm(pair->a.send_cq, PLX_CQ_NOTIFY_ANY | 8, &fired), PLX_INVALID);
	assert_silent(pair->a.send_cq);
	assert_int_equal(plx_cq_arm(pair->a.send_cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	pair_close(pair);
}

static void
the_descriptor_is_readable_from_firing_until_it_is_taken(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_false(readable(pair->b.recv_cq));
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	assert_false(readable(pair->b.recv_cq));
	pair_deliver(pair, 1, 0);
	pair_until(readable(pair->b.recv_cq));
	assert_true(readable(pair->b.recv_cq));
	assert_int_equal(plx_cq_get_event(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	assert_false(readable(pair->b.recv_cq));
	assert_int_equal(plx_cq_get_event(pair->b.recv_cq), 0);
	/* firing at once makes it readable too */
	pair_deliver(pair, 1, 0);
	/* reported through the descriptor, which the caller did not read here */
	assert_int_equal(plx_cq_arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_true(readable(pair->b.recv_cq));
	assert_int_equal(plx_cq_get_event(pair->b.recv_cq), PLX_CQ_NOTIFY_ANY);
	assert_false(readable(pair->b.recv_cq));
	pair_close(pair);
}

static void
a_descriptor_asked_for_late_knows_what_has_fired(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 1, 0);
	assert_int_equal(plx_cq_arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_true(readable(pair->b.recv_cq));
	pair_close(pair);
}

static void
a_wait_ends_with_its_time_or_with_what_was_waited_for(void **state)
{
	struct pair *pair = pair_open(NULL);
	uint64_t begun = test_ns();

	(void)state;
	assert_int_equal(arm(pair->b.recv_cq, PLX_CQ_NOTIFY_ANY), 0);
	assert_int_equal(plx_cq_wait(pair->b.recv_cq, 0), 0);
	assert_true(test_ns() - begun < 10 * PLX_SEC);
	begun = test_ns();
	assert_int_equal(plx_cq_wait(pair->b.recv_cq, 30), 0);
	assert_true(test_ns() - begun >= 30 * PLX_MSEC);
	assert_true(test_ns() - begun < 10 * PLX_SEC);
	side_receive(&pair->b, 1, 0, 8);
	side_post(&pair->a, PLX_WR_SEND, 2, 0, 0, 8, NULL);
	/* inline, a's engine is run by us as well: b waits, a has sent */
	plx_adapter_poll(pair->a.adapter);
	begun = test_ns();
	assert_int_equal(plx_cq_wait(pair->b.recv_cq, 20000), PLX_CQ_NOTIFY_ANY);
	assert_true(test_ns() - begun < 20 * PLX_SEC);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* Inline, polling an empty queue runs its adapter: nobody else does here. */
static void
polling_an_empty_queue_is_all_that_its_adapter_needs(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct plx_wc wc;

	(void)state;
	side_post(&pair->a, PLX_WR_WRITE, 8, 0, 0, 8, &beyond);
	test_until(plx_cq_poll(pair->a.send_cq, &wc, 1) == 1,
		   (plx_adapter_poll(pair->b.adapter), sched_yield()));
	assert_int_equal(wc.wr_id, 8);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_peek_takes_completions_in_place_and_makes_progress),
		PAIR_TEST(a_queue_starts_unarmed),
		PAIR_TEST(an_armed_queue_fires_once),
		PAIR_TEST(entries_from_before_the_first_arm_are_new),
		PAIR_TEST(what_is_disarmed_does_not_fire_and_moves_nothing),
		PAIR_TEST(an_entry_after_the_last_poll_fires_at_once),
		PAIR_TEST(an_entry_after_the_last_notification_fires_at_once),
		PAIR_TEST(entries_that_have_notified_do_not_notify_again_though_unread),
		PAIR_TEST(what_a_program_has_told_of_is_not_new_any_more),
		PAIR_TEST(completions_come_in_order_over_the_end_of_the_ring),
		PAIR_TEST(an_entry_between_an_empty_poll_and_the_arm_is_not_lost),
		PAIR_TEST(solicited_fires_for_a_solicited_receive_only_and_leaves_the_others_new),
		PAIR_TEST(solicited_fires_for_any_error),
		PAIR_TEST(any_armed_beside_solicited_finishes_both),
		PAIR_TEST(errors_does_not_fire_for_an_entry_with_an_error),
		PAIR_TEST(two_flushed_receives_fire_the_first_arm_and_come_in_order),
		PAIR_TEST(an_overrun_of_a_strict_queue_fires_every_kind_and_ends_it),
		PAIR_TEST(kinds_that_there_are_not_are_invalid),
		PAIR_TEST(the_descriptor_is_readable_from_firing_until_it_is_taken),
		PAIR_TEST(a_descriptor_asked_for_late_knows_what_has_fired),
		PAIR_TEST(a_wait_ends_with_its_time_or_with_what_was_waited_for),
		PAIR_TEST(polling_an_empty_queue_is_all_that_its_adapter_needs),
	};

	return pair_run_all("cq", tests, sizeof(tests) / sizeof(tests[0]));
}
