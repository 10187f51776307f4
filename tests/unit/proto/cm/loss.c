/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lost datagrams: each kind, once and always; the number and duration of retries, and the event
 * that each side receives in the end. It never forges a message: messages.c does. Start with
 * any_one_message_may_be_lost().
 */
#include "stages.h"

#include <string.h>

/* Both programs respond to each event at once.
 * Returns: the last event at `host` */
static void
serve(struct pair *pair, int host, bool leave, enum plx_cm_event_kind *last)
{
	struct plx_cm_event event;

	while (plx_cm_next_event(pair->cm[host], &event)) {
		*last = (enum plx_cm_event_kind)event.kind;
		if (event.kind == PLX_CM_EVENT_REQUESTED)
			pair_accept(pair, host, event.id, BOB_QPN);
		if (event.kind == PLX_CM_EVENT_REPLIED)
			assert_int_equal(plx_cm_establish(pair->cm[host], event.id, pair->now),
					 PLX_OK);
		if (event.kind == PLX_CM_EVENT_REPLIED && leave)
			assert_int_equal(plx_cm_disconnect(pair->cm[host], event.id, pair->now),
					 PLX_OK);
	}
}

/* A connection is established, and ended by ALICE, while each of the given messages is lost this
 * often. */
static void
live_with_losses(struct pair *pair, uint64_t ns, enum plx_cm_event_kind *last)
{
	pair_connect(pair, ALICE, BOB, ALICE_QPN);
	for (uint64_t end = pair->now + ns; pair->now < end;) {
		pair_wait(pair, 50 * PLX_MSEC);
		serve(pair, ALICE, true, &last[ALICE]);
		serve(pair, BOB, false, &last[BOB]);
	}
}

/* BOB accepts and disconnects, and all of it is lost; ALICE, who keeps retransmitting, gets the
 * event all the same. Found by plx-sim --cm, seed 8141. */
static void
who_asks_on_after_all_that_was_lost_is_rejected(void **state)
{
	struct plx_cm_id asked, answered;
	struct pair pair;

	(void)state;
	asked = pair_open_asked(&pair);
	answered = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair.lose[PLX_CM_REP - PLX_CM_REQ] = 1;
	pair.lose[PLX_CM_REQ - PLX_CM_REQ] = 5;
	pair.lose[PLX_CM_DREQ - PLX_CM_REQ] = PLX_CM_DISCONNECT_TRIES;
	pair_accept(&pair, BOB, answered, BOB_QPN);
	pair_carry(&pair);
	plx_cm_abandon(pair.cm[BOB], answered, pair.now);
	pair_wait(&pair, 5 * PLX_SEC);
	assert_int_equal(pair.lose[PLX_CM_DREQ - PLX_CM_REQ], 0);
	pair_expect_nothing(&pair, ALICE);
	pair_wait(&pair, 4 * PLX_SEC);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED)->id.v, asked.v);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_CONSUMER);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
any_one_message_may_be_lost(void **state)
{
	(void)state;
	for (int kind = 0; kind <= PLX_CM_DREP - PLX_CM_REQ; kind++) {
		for (uint32_t times = 1; times <= 3; times++) {
			enum plx_cm_event_kind last[HOSTS] = {PLX_CM_EVENT_NOTHING,
							      PLX_CM_EVENT_NOTHING};
			struct pair pair;

			pair_open(&pair);
			pair_listen(&pair, BOB, PORT, 0);
			pair.lose[kind] = times;
			live_with_losses(&pair, 20 * PLX_SEC, last);
			assert_int_equal(last[ALICE], PLX_CM_EVENT_CLOSED);
			assert_int_equal(last[BOB], PLX_CM_EVENT_DISCONNECTED);
			pair_expect_rest(&pair);
			pair_close(&pair);
		}
	}
}

/* This many tries, one response timeout apart; then the peer is notified, as Linux does. */
static void
a_request_without_an_answer_times_out(void **state)
{
	struct plx_cm_id id;
	struct pair pair;
	uint64_t began;

	(void)state;
	pair_open(&pair);
	pair.silent[BOB] = true;
	id = pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	began = pair.now;
	while (!plx_cm_has_event(pair.cm[ALICE]))
		pair_wait(&pair, 10 * PLX_MSEC);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_REQ), PLX_CM_TRIES);
	assert_in_range(pair.now - began, PLX_CM_TRIES * PLX_SEC, PLX_CM_TRIES * 2 * PLX_SEC);
	for (uint32_t i = 1; i < PLX_CM_TRIES; i++)
		assert_memory_equal(&pair.log[i].msg, &pair.log[0].msg, sizeof pair.log[0].msg);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_TIMED_OUT)->id.v, id.v);
	assert_int_equal(pair_last(&pair, ALICE, PLX_CM_REJ)->rej.reason, PLX_CM_REASON_TIMEOUT);
	assert_int_equal(pair_last(&pair, ALICE, PLX_CM_REJ)->rej.info_length, 8);
	assert_int_equal(plx_cm_counters(pair.cm[ALICE])->resent, PLX_CM_TRIES - 1);
	assert_int_equal(plx_cm_counters(pair.cm[ALICE])->timeouts, 1);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* BOB received every REQ, and ALICE nothing: when she gives up, his half is notified. */
static void
giving_up_ends_the_other_half(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	pair.silent[ALICE] = true;
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	pair_wait(&pair, 20 * PLX_SEC);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_TIMED_OUT);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_TIMEOUT);
	assert_int_equal(pair.event.context, CONTEXT_LISTENER);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* The same, before BOB's program heard of it: it never does. */
static void
what_is_given_up_before_it_was_told_is_never_told(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	pair.silent[ALICE] = true;
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_wait(&pair, 20 * PLX_SEC);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_TIMED_OUT);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->requests, 0);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
a_reply_without_an_answer_times_out(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REP_SENT, ids);
	pair.silent[ALICE] = true;
	plx_cm_abandon(pair.cm[ALICE], ids[ALICE], pair.now);
	pair.lose[PLX_CM_REJ - PLX_CM_REQ] = 1;
	pair_wait(&pair, 20 * PLX_SEC);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_REP), PLX_CM_TRIES - 1);
	pair_expect(&pair, BOB, PLX_CM_EVENT_TIMED_OUT);
	assert_int_equal(pair_last(&pair, BOB, PLX_CM_REJ)->rej.reason, PLX_CM_REASON_TIMEOUT);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* ALICE is established, since she has sent RTU; BOB never received it and gave up: she gets his
 * message. */
static void
a_completed_connection_ends_when_the_other_side_gave_up(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REP_RCVD, ids);
	assert_int_equal(plx_cm_establish(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair.lose[PLX_CM_RTU - PLX_CM_REQ] = PLX_CM_TRIES;
	pair_wait(&pair, 20 * PLX_SEC);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_RTU), PLX_CM_TRIES);
	pair_expect(&pair, BOB, PLX_CM_EVENT_TIMED_OUT);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_DISCONNECTED);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
a_disconnect_without_an_answer_closes(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	pair.silent[BOB] = true;
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_wait(&pair, 20 * PLX_SEC);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_DREQ), PLX_CM_DISCONNECT_TRIES);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_CLOSED);
	plx_cm_abandon(pair.cm[BOB], ids[BOB], pair.now);
	pair.silent[BOB] = false;
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* A lost REJ is sent again, with the same private data, when its request is repeated. */
static void
a_lost_rejection_is_repeated(void **state)
{
	static const enum stage stages[] = {REQ_RCVD, REP_RCVD};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(stages); i++) {
		int host = stage_host(stages[i]);
		struct plx_cm_id ids[HOSTS];
		struct pair pair;

		pair_open(&pair);
		stage_reach(&pair, stages[i], ids);
		pair.lose[PLX_CM_REJ - PLX_CM_REQ] = 2;
		assert_int_equal(plx_cm_reject(pair.cm[host], ids[host], (const uint8_t *)"not you",
					       8, pair.now),
				 PLX_OK);
		pair_wait(&pair, 3 * PLX_SEC);
		assert_int_equal(pair_count(&pair, host, PLX_CM_REJ), 3);
		pair_expect(&pair, !host,
			    host == BOB ? PLX_CM_EVENT_REJECTED : PLX_CM_EVENT_ABORTED);
		assert_int_equal(pair.event.reason, PLX_CM_REASON_CONSUMER);
		assert_string_equal((const char *)pair.event.private_data, "not you");
		pair_expect_rest(&pair);
		pair_close(&pair);
	}
}

/* Accepted, and taken back before the REP has left: the peer is rejected, as if it never was. */
static void
what_is_taken_back_before_it_was_said_is_a_rejection(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct plx_cm_id ids[HOSTS];
		struct pair pair;

		pair_open(&pair);
		stage_reach(&pair, REQ_RCVD, ids);
		pair_accept(&pair, BOB, ids[BOB], BOB_QPN);
		if (how == 0)
			assert_int_equal(plx_cm_disconnect(pair.cm[BOB], ids[BOB], pair.now),
					 PLX_OK);
		else if (how == 1)
			assert_int_equal(plx_cm_qp_failed(pair.cm[BOB], ids[BOB], pair.now),
					 PLX_OK);
		else
			plx_cm_abandon(pair.cm[BOB], ids[BOB], pair.now);
		pair_carry(&pair);
		assert_int_equal(pair.logged, 1);
		pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
		assert_int_equal(pair.event.reason, PLX_CM_REASON_CONSUMER);
		if (how == 0)
			pair_expect(&pair, BOB, PLX_CM_EVENT_CLOSED);
		if (how == 1)
			pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
		pair_expect_rest(&pair);
		pair_close(&pair);
	}
}

/* BOB disconnects what he has accepted, and his DREQs are lost; ALICE completes: she gets the
 * event at once. */
static void
who_completes_what_was_left_is_told_again(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;
	uint64_t began;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REP_RCVD, ids);
	pair.lose[PLX_CM_DREQ - PLX_CM_REQ] = 2;
	assert_int_equal(plx_cm_disconnect(pair.cm[BOB], ids[BOB], pair.now), PLX_OK);
	pair_wait(&pair, 1500 * PLX_MSEC);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_DREQ), 2);
	began = pair.now;
	assert_int_equal(plx_cm_establish(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_DISCONNECTED);
	pair_expect(&pair, BOB, PLX_CM_EVENT_CLOSED);
	assert_int_equal(pair.now, began);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* ---- MRA: a program that thinks ---- */

/* BOB's program takes 100 s to accept; the repeated REQ is answered by MRA, and then ALICE
 * waits. */
static void
a_program_may_take_its_time_to_accept(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REQ_RCVD, ids);
	pair_wait(&pair, 100 * PLX_SEC);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_MRA), 2);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_REQ), 2);
	pair_accept(&pair, BOB, ids[BOB], BOB_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	pair_close(&pair);
}

/* ALICE's program takes 100 s to complete. */
static void
a_program_may_take_its_time_to_complete(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REP_RCVD, ids);
	pair_wait(&pair, 100 * PLX_SEC);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_MRA), 2);
	assert_int_equal(plx_cm_establish(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ESTABLISHED);
	pair_close(&pair);
}

/* ... but not for ever: so long after the peer's last sign of life. */
static void
patience_ends(void **state)
{
	static const enum stage stages[] = {REP_RCVD, REQ_RCVD, REQ_QUEUED};
	struct plx_cm_id ids[HOSTS];

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(stages); i++) {
		int host = stage_host(stages[i]);
		struct pair pair;

		pair_open(&pair);
		stage_reach(&pair, stages[i], ids);
		pair_reboot(&pair, !host);
		pair_wait(&pair, PLX_CM_CONSUMER_TIMEOUT_NS - PLX_SEC);
		assert_int_equal(plx_cm_has_event(pair.cm[host]), stages[i] == REQ_QUEUED);
		pair_wait(&pair, 2 * PLX_SEC);
		if (stages[i] != REQ_QUEUED)
			pair_expect(&pair, host, PLX_CM_EVENT_ABORTED);
		pair_expect_rest(&pair);
		pair_close(&pair);
	}
}

/* A peer that sends MRA repeatedly gets its time once a try. */
static void
time_is_given_once_a_try(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REQ_SENT, ids);
	msg = stage_message(&pair, REQ_SENT, ids, PLX_CM_MRA);
	msg.mra.service_timeout = 31; /* two hours; we grant PLX_CM_SERVICE_TIMEOUT of it */
	pair.silent[BOB] = true;
	for (int i = 0; i < PLX_CM_TRIES * 100 * 2 && !plx_cm_has_event(pair.cm[ALICE]); i++) {
		enum plx_cm_verdict verdict = pair_inject(&pair, ALICE, &msg);

		assert_true(verdict == PLX_CM_TAKEN || verdict == PLX_CM_REPEATED);
		pair_wait(&pair, 500 * PLX_MSEC);
	}
	pair_expect(&pair, ALICE, PLX_CM_EVENT_TIMED_OUT);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_REQ), PLX_CM_TRIES - 1);
	pair_close(&pair);
}

/* The peer states its response time to a REP; it is honoured within limits. */
static void
a_reply_waits_as_long_as_the_peer_wants(void **state)
{
	static const struct {
		uint8_t asked, taken;
	} timeouts[] = {{0, PLX_CM_TIMEOUT_MIN},
			{PLX_CM_TIMEOUT_MIN, PLX_CM_TIMEOUT_MIN},
			{19, 19},
			{PLX_CM_TIMEOUT_MAX, PLX_CM_TIMEOUT_MAX},
			{31, PLX_CM_TIMEOUT_MAX}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(timeouts); i++) {
		struct plx_cm_msg msg;
		struct pair pair;
		uint64_t wait_ns, sent;

		pair_open(&pair);
		pair_listen(&pair, BOB, PORT, 0);
		pair.silent[ALICE] = true;
		msg = pair_req(&pair, pair.ip[ALICE], 5, ALICE_QPN);
		msg.req.local_response_timeout = timeouts[i].asked;
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_TAKEN);
		pair_accept(&pair, BOB, pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id,
			    BOB_QPN);
		pair_carry(&pair);
		sent = pair.now;
		wait_ns = plx_cm_wake_ns(pair.cm[BOB]) - sent;
		assert_in_range(wait_ns, UINT64_C(4096) << timeouts[i].taken,
				(UINT64_C(4096) << timeouts[i].taken) + 200 * PLX_MSEC);
		pair_close(&pair);
	}
}

/* ... and how often. */
static void
a_reply_is_repeated_as_often_as_the_peer_allows(void **state)
{
	static const uint8_t retries[] = {0, 1, 7, 15};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(retries); i++) {
		uint32_t tries = retries[i] < PLX_CM_TRIES ? retries[i] + 1u : PLX_CM_TRIES;
		struct plx_cm_msg msg;
		struct pair pair;

		pair_open(&pair);
		pair_listen(&pair, BOB, PORT, 0);
		pair.silent[ALICE] = true;
		msg = pair_req(&pair, pair.ip[ALICE], 5, ALICE_QPN);
		msg.req.max_cm_retries = retries[i];
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_TAKEN);
		pair_accept(&pair, BOB, pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id,
			    BOB_QPN);
		pair_wait(&pair, 60 * PLX_SEC);
		assert_int_equal(pair_count(&pair, BOB, PLX_CM_REP), tries);
		pair_expect(&pair, BOB, PLX_CM_EVENT_TIMED_OUT);
		pair_close(&pair);
	}
}

static void
an_address_that_nobody_has_is_told_at_once(void **state)
{
	struct plx_ip nobody = pair_ip(4, 0x0a4d0050);
	struct plx_cm_connect connect;
	struct plx_cm_id gone, sidr, other;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.remote = nobody;
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &gone), PLX_OK);
	assert_int_equal(plx_cm_sidr_request(pair.cm[ALICE], &connect, pair.now, &sidr), PLX_OK);
	connect.remote = pair_ip(4, 0x0a4d0051);
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &other), PLX_OK);
	pair_carry(&pair);
	plx_cm_on_unreachable(pair.cm[ALICE], &nobody, pair.now);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_UNREACHABLE)->id.v, gone.v);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_UNREACHABLE)->id.v, sidr.v);
	pair_expect_nothing(&pair, ALICE);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_one_message_may_be_lost),
		cmocka_unit_test(who_asks_on_after_all_that_was_lost_is_rejected),
		cmocka_unit_test(a_request_without_an_answer_times_out),
		cmocka_unit_test(giving_up_ends_the_other_half),
		cmocka_unit_test(what_is_given_up_before_it_was_told_is_never_told),
		cmocka_unit_test(a_reply_without_an_answer_times_out),
		cmocka_unit_test(a_completed_connection_ends_when_the_other_side_gave_up),
		cmocka_unit_test(a_disconnect_without_an_answer_closes),
		cmocka_unit_test(a_lost_rejection_is_repeated),
		cmocka_unit_test(what_is_taken_back_before_it_was_said_is_a_rejection),
		cmocka_unit_test(who_completes_what_was_left_is_told_again),
		cmocka_unit_test(a_program_may_take_its_time_to_accept),
		cmocka_unit_test(a_program_may_take_its_time_to_complete),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(time_is_given_once_a_try),
		cmocka_unit_test(a_reply_waits_as_long_as_the_peer_wants),
		cmocka_unit_test(a_reply_is_repeated_as_often_as_the_peer_allows),
		cmocka_unit_test(an_address_that_nobody_has_is_told_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
