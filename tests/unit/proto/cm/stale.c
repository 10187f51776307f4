/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer that has lost its connections: after a reboot it connects again with queue pairs that we
 * still consider connected, or with ids that it has used before. An honest retransmission must
 * never be mistaken for that. Start with a_peer_that_forgot_ends_the_old_connection().
 */
#include "stages.h"

#include <string.h>

/* ALICE reboots and connects again with the same queue pair: that request is rejected, the old
 * connection ends, and the next request succeeds as usual.
 * Spec: IBTA vol 1, 12.9.8.3.1. */
static void
a_peer_that_forgot_ends_the_old_connection(void **state)
{
	struct plx_cm_id ids[HOSTS], more[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	pair_reboot(&pair, ALICE);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_STALE);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED)->id.v, ids[BOB].v);
	assert_int_equal(plx_cm_disconnect(pair.cm[BOB], ids[BOB], pair.now), PLX_STATE);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->stale, 1);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->forgotten, 1);
	/* She was probed for it, and does not know it. */
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_DREQ), 1);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_DREP), 1);
	pair_establish_more(&pair, ALICE_QPN, more);
	plx_cm_abandon(pair.cm[ALICE], more[ALICE], pair.now);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* In every stage of the old connection. */
static void
expect_end(struct pair *pair, uint8_t told)
{
	pair_reboot(pair, ALICE);
	pair_connect(pair, ALICE, BOB, ALICE_QPN);
	pair_carry(pair);
	pair_expect(pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair->event.reason, PLX_CM_REASON_STALE);
	if (told != PLX_CM_EVENT_NOTHING)
		pair_expect(pair, BOB, (enum plx_cm_event_kind)told);
	pair_expect_rest(pair);
}

static void
a_forgotten_half_ends_too(void **state)
{
	static const struct {
		enum stage stage;
		uint8_t told;
	} halves[] = {{REQ_QUEUED, PLX_CM_EVENT_NOTHING},
		      {REQ_RCVD, PLX_CM_EVENT_ABORTED},
		      {REP_SENT, PLX_CM_EVENT_ABORTED},
		      {ESTABLISHED_PASSIVE, PLX_CM_EVENT_DISCONNECTED}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(halves); i++) {
		struct plx_cm_id ids[HOSTS];
		struct pair pair;

		pair_open(&pair);
		stage_reach(&pair, halves[i].stage, ids);
		expect_end(&pair, halves[i].told);
		pair_close(&pair);
	}
}

/* BOB was about to leave: then he has. */
static void
a_forgotten_connection_that_was_being_left_is_closed(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	pair.lose[PLX_CM_DREQ - PLX_CM_REQ] = 1;
	assert_int_equal(plx_cm_disconnect(pair.cm[BOB], ids[BOB], pair.now), PLX_OK);
	pair_carry(&pair);
	expect_end(&pair, PLX_CM_EVENT_CLOSED);
	pair_close(&pair);
}

/* BOB had connected to ALICE; she reboots and connects to him with the queue pair that he is
 * connected with. */
static void
a_connection_that_we_asked_for_can_be_forgotten(void **state)
{
	struct plx_cm_id asked, answered;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, ALICE, PORT, 0);
	pair_listen(&pair, BOB, PORT, 0);
	asked = pair_connect(&pair, BOB, ALICE, BOB_QPN);
	pair_carry(&pair);
	answered = pair_expect(&pair, ALICE, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(&pair, ALICE, answered, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_cm_establish(pair.cm[BOB], asked, pair.now), PLX_OK);
	pair_carry(&pair);
	pair_reboot(&pair, ALICE);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED)->id.v, asked.v);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	pair_close(&pair);
}

/* The peer replies with a queue pair that we hold connected. */
static void
a_reply_with_a_queue_pair_in_use_is_stale(void **state)
{
	struct plx_cm_id ids[HOSTS], id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	pair_reboot(&pair, BOB);
	pair_listen(&pair, BOB, PORT, 0);
	id = pair_connect(&pair, ALICE, BOB, ALICE_QPN + 1);
	pair_carry(&pair);
	pair_accept(&pair, BOB, pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id, BOB_QPN);
	pair_carry(&pair);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED)->id.v, id.v);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_STALE);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_DISCONNECTED)->id.v, ids[ALICE].v);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_STALE);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* A REQ of a long-closed connection arrives late, while ALICE connects anew with its queue pair:
 * a connection mistaken for forgotten is notified, and not left to time out. Found by plx-sim
 * --cm, seed 376. */
static void
who_is_taken_for_forgotten_is_told_so_as_often_as_he_asks(void **state)
{
	struct plx_cm_id id;
	struct plx_cm_msg late;
	struct pair pair;

	(void)state;
	id = pair_open_asked(&pair);
	late = pair_req(&pair, pair.ip[ALICE], 4711, ALICE_QPN);
	late.req.local_ca_guid = pair.config[ALICE].ca_guid;
	pair.lose[PLX_CM_REJ - PLX_CM_REQ] = 2;
	assert_int_equal(pair_inject(&pair, BOB, &late), PLX_CM_REFUSED);
	pair_carry(&pair);
	pair_expect_nothing(&pair, BOB);
	pair_expect_nothing(&pair, ALICE);
	pair_wait(&pair, 2 * PLX_SEC);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED)->id.v, id.v);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_STALE);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* BOB has forgotten the connection, and takes its late REQ for a new one: ALICE already has one,
 * and answers so. Found by plx-sim --cm, seed 1016. */
static void
who_accepts_a_second_time_is_told_that_nobody_waits(void **state)
{
	struct plx_cm_id asked, again;
	struct plx_cm_msg late;
	struct pair pair;

	(void)state;
	asked = pair_open_asked(&pair);
	late = *pair_last(&pair, ALICE, PLX_CM_REQ);
	pair_accept(&pair, BOB, pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id, BOB_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_cm_establish(pair.cm[ALICE], asked, pair.now), PLX_OK);
	pair_carry(&pair);
	pair_reboot(&pair, BOB);
	pair_listen(&pair, BOB, PORT, 0);
	assert_int_equal(pair_inject(&pair, BOB, &late), PLX_CM_TAKEN);
	again = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(&pair, BOB, again, BOB_QPN + 1);
	pair_carry(&pair);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED)->id.v, again.v);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_INVALID_COMM_ID);
	pair_expect_nothing(&pair, ALICE);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], asked, pair.now), PLX_OK);
	pair_close(&pair);
}

/* A REQ that was delayed for long and belongs to a live connection changes nothing. */
static void
a_late_repetition_is_not_stale(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, ESTABLISHED_PASSIVE, ids);
	msg = stage_message(&pair, ESTABLISHED_PASSIVE, ids, PLX_CM_REQ);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REPEATED);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->stale, 0);
	/* The same id with another queue pair or PSN would be a new connection: ALICE is probed. */
	msg.req.starting_psn = plx_psn_add(msg.req.starting_psn, 1);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REFUSED);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->stale, 1);
	pair_reboot(&pair, ALICE);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	pair_close(&pair);
}

/* Both ends are alive: each can still disconnect, and the other is notified. */
static void
expect_alive(struct pair *pair, const struct plx_cm_id *ids)
{
	pair_wait(pair, 20 * PLX_SEC);
	pair_expect_nothing(pair, ALICE);
	pair_expect_nothing(pair, BOB);
	assert_int_equal(plx_cm_disconnect(pair->cm[ALICE], ids[ALICE], pair->now), PLX_OK);
	pair_carry(pair);
	assert_int_equal(pair_expect(pair, BOB, PLX_CM_EVENT_DISCONNECTED)->id.v, ids[BOB].v);
	pair_expect(pair, ALICE, PLX_CM_EVENT_CLOSED);
	pair_expect_rest(pair);
}

/* A REQ as ALICE would send it without knowing of her connection; or as anybody could who can
 * send from her address and knows her GUID and her queue pair. */
static struct plx_cm_msg
req_of_alice(const struct pair *pair, uint32_t comm_id, uint32_t qpn)
{
	struct plx_cm_msg msg = pair_req(pair, pair->ip[ALICE], comm_id, qpn);

	msg.req.local_ca_guid = pair->config[ALICE].ca_guid;
	return msg;
}

static void
a_req_with_a_queue_pair_in_use_ends_nothing_that_lives(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	for (uint32_t i = 0; i < 3; i++) {
		msg = req_of_alice(&pair, 5 + i, ALICE_QPN);
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REFUSED);
		pair_carry(&pair);
	}
	/* The id of a connection that lives, with other contents. */
	msg = req_of_alice(&pair, ids[ALICE].v, ALICE_QPN + 1);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REFUSED);
	pair_carry(&pair);
	/* Each time ALICE was probed, and knew it. */
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_DREQ), 4);
	assert_int_equal(pair_last(&pair, BOB, PLX_CM_DREQ)->dreq.remote_qpn, 0);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_DREP), 0);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->stale, 4);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->forgotten, 0);
	expect_alive(&pair, ids);
	pair_close(&pair);
}

/* As ALICE sends it if she has given up before she was answered. */
static struct plx_cm_msg
rej_of_alice(const struct pair *pair, struct plx_cm_id id)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_REJ};

	msg.rej.reason = PLX_CM_REASON_TIMEOUT;
	msg.rej.local_comm_id = id.v;
	msg.rej.info_length = 8;
	for (int i = 0; i < 8; i++)
		msg.rej.info[i] = (uint8_t)(pair->config[ALICE].ca_guid >> (56 - 8 * i));
	return msg;
}

/* A peer that gave up names itself by its GUID and its own id: not enough to end a live
 * connection. */
static void
a_rej_without_our_id_ends_nothing_that_lives(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	msg = rej_of_alice(&pair, ids[ALICE]);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_UNKNOWN);
	expect_alive(&pair, ids);
	pair_close(&pair);
}

/* ... and must come to the address that the REQ came to. */
static void
a_rej_without_our_id_is_of_one_address_of_ours(void **state)
{
	struct plx_cm_msg msg;
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	id = pair_open_asked(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	msg = rej_of_alice(&pair, id);
	assert_int_equal(pair_inject_at(&pair, BOB, pair_ip(4, 0x0a4d0063), &msg), PLX_CM_UNKNOWN);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_TAKEN);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED);
	pair_close(&pair);
}

/* The probe, or its answer, is lost: a peer that connects again causes another probe. */
static void
a_question_that_was_lost_is_asked_again_with_the_next_req(void **state)
{
	struct plx_cm_id ids[HOSTS], more[HOSTS];
	struct pair pair;

	(void)state;
	for (int kind = PLX_CM_DREQ; kind <= PLX_CM_DREP; kind++) {
		pair_open(&pair);
		pair_establish(&pair, ids);
		pair_reboot(&pair, ALICE);
		pair.lose[kind - PLX_CM_REQ] = 1;
		for (int tries = 0; tries < 2; tries++) {
			pair_expect_nothing(&pair, BOB);
			pair_connect(&pair, ALICE, BOB, ALICE_QPN);
			pair_carry(&pair);
			pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
			assert_int_equal(pair.event.reason, PLX_CM_REASON_STALE);
		}
		pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
		pair_establish_more(&pair, ALICE_QPN, more);
		pair_close(&pair);
	}
}

/* Each try costs as much as a request: a stranger who searches for the queue pair of a
 * connection is soon ignored, and what he then hits does not even cause a probe. */
static void
who_looks_for_a_queue_pair_in_use_is_limited(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open_with(&pair, 1024, 1024, 4);
	pair_establish(&pair, ids);
	for (uint32_t i = 0; i < PLX_CM_SOURCE_BURST; i++) {
		msg = req_of_alice(&pair, 5 + i, ALICE_QPN);
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REFUSED);
		pair_carry(&pair);
	}
	pair_forget(&pair);
	msg = req_of_alice(&pair, 4711, ALICE_QPN);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_LIMITED);
	msg = req_of_alice(&pair, 4712, ALICE_QPN + 1);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_LIMITED);
	pair_carry(&pair);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_DREQ), 0);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->source_full, 2);
	expect_alive(&pair, ids);
	pair_close(&pair);
}

/* The answer to a question ends a connection, and nothing else that looks like it. */
static void
an_answer_that_does_not_say_both_ids_ends_nothing(void **state)
{
	struct plx_cm_msg req, drep = {.kind = PLX_CM_DREP};
	struct plx_ip mallory = pair_ip(4, 0x0a4d0066);
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	drep.drep.local_comm_id = ids[ALICE].v;
	drep.drep.remote_comm_id = ids[BOB].v;
	assert_int_equal(pair_inject(&pair, BOB, &drep), PLX_CM_UNEXPECTED); /* not probed */
	req = req_of_alice(&pair, 5, ALICE_QPN);
	assert_int_equal(pair_inject(&pair, BOB, &req), PLX_CM_REFUSED);
	pair_carry(&pair);
	assert_int_equal(pair_inject_from(&pair, BOB, mallory, &drep), PLX_CM_UNKNOWN);
	drep.drep.local_comm_id ^= 1;
	assert_int_equal(pair_inject(&pair, BOB, &drep), PLX_CM_UNKNOWN);
	drep.drep.local_comm_id = 0;
	assert_int_equal(pair_inject(&pair, BOB, &drep), PLX_CM_UNKNOWN);
	drep.drep.local_comm_id = ids[ALICE].v;
	drep.drep.remote_comm_id = 0;
	assert_int_equal(pair_inject(&pair, BOB, &drep), PLX_CM_UNKNOWN);
	pair_expect_nothing(&pair, BOB);
	pair_close(&pair);
}

/* Another host may have a queue pair of the same number, and the same GUID as well. */
static void
nobody_else_can_call_it_stale(void **state)
{
	struct plx_ip mallory = pair_ip(4, 0x0a4d0066);
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	msg = pair_req(&pair, mallory, 5, ALICE_QPN);
	msg.req.local_ca_guid = pair.config[ALICE].ca_guid;
	assert_int_equal(pair_inject_from(&pair, BOB, mallory, &msg), PLX_CM_TAKEN);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->stale, 0);
	pair_close(&pair);
}

/* An id that was used before, of a connection that has ended: a new one. */
static void
a_used_id_may_come_again(void **state)
{
	struct plx_cm_id first;
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	pair.silent[ALICE] = true;
	msg = pair_req(&pair, pair.ip[ALICE], 5, ALICE_QPN);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_TAKEN);
	first = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	assert_int_equal(plx_cm_reject(pair.cm[BOB], first, NULL, 0, pair.now), PLX_OK);
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_REPEATED);
	msg.req.local_qpn++;
	assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_TAKEN);
	assert_int_not_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id.v, first.v);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_forgot_ends_the_old_connection),
		cmocka_unit_test(a_forgotten_half_ends_too),
		cmocka_unit_test(a_forgotten_connection_that_was_being_left_is_closed),
		cmocka_unit_test(a_connection_that_we_asked_for_can_be_forgotten),
		cmocka_unit_test(a_reply_with_a_queue_pair_in_use_is_stale),
		cmocka_unit_test(who_accepts_a_second_time_is_told_that_nobody_waits),
		cmocka_unit_test(who_is_taken_for_forgotten_is_told_so_as_often_as_he_asks),
		cmocka_unit_test(a_late_repetition_is_not_stale),
		cmocka_unit_test(a_req_with_a_queue_pair_in_use_ends_nothing_that_lives),
		cmocka_unit_test(a_rej_without_our_id_ends_nothing_that_lives),
		cmocka_unit_test(a_rej_without_our_id_is_of_one_address_of_ours),
		cmocka_unit_test(a_question_that_was_lost_is_asked_again_with_the_next_req),
		cmocka_unit_test(who_looks_for_a_queue_pair_in_use_is_limited),
		cmocka_unit_test(an_answer_that_does_not_say_both_ids_ends_nothing),
		cmocka_unit_test(nobody_else_can_call_it_stale),
		cmocka_unit_test(a_used_id_may_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
