/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections without faults: the events of each side, the parameters both agree on, both versions
 * of IP, both ends on one host. It never loses a datagram: loss.c does. Start with
 * two_hosts_connect_and_disconnect().
 */
#include "cm_pair.h"

#include <string.h>

static void
dialogue(uint8_t version)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_view view;
	struct pair pair;

	pair_open_with(&pair, 64, 64, version);
	pair_establish(&pair, ids);
	pair_wait(&pair, 1000 * PLX_SEC);
	assert_int_equal(pair.logged, 0);
	plx_cm_query(pair.cm[BOB], &view);
	assert_int_equal(view.connections, 1);
	assert_int_equal(view.half_open, 0);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	assert_int_equal(pair.logged, 2);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED)->id.v, ids[BOB].v);
	assert_int_equal(pair.event.context, CONTEXT_BOB);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_CLOSED)->id.v, ids[ALICE].v);
	assert_int_equal(pair.event.context, CONTEXT_ALICE);
	plx_cm_query(pair.cm[BOB], &view);
	assert_int_equal(view.connections, 0);
	assert_int_equal(view.timewait, 1);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
two_hosts_connect_and_disconnect(void **state)
{
	(void)state;
	dialogue(4);
	dialogue(6);
}

/* ALICE requests a connection of BOB, who hears of it. */
static struct plx_cm_id
request(struct pair *pair, const struct plx_cm_connect *connect, struct plx_cm_id *alice)
{
	assert_int_equal(plx_cm_connect(pair->cm[ALICE], connect, pair->now, alice), PLX_OK);
	pair_carry(pair);
	return pair_expect(pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
}

/* What each side requested, and what both have then: the smaller of request and offer. */
static void
both_sides_agree(void **state)
{
	struct plx_cm_connect connect;
	struct plx_cm_id alice, bob;
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_peer peer;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.own.srq = true;
	bob = request(&pair, &connect, &alice);
	assert_int_equal(pair.event.context, CONTEXT_LISTENER);
	assert_int_equal(pair.event.peer.info.remote_qpn, ALICE_QPN);
	assert_int_equal(pair.event.peer.psn.v, ALICE_QPN * 1000);
	assert_int_equal(pair.event.peer.info.path_mtu, 1024);
	assert_int_equal(pair.event.peer.info.responder_resources, 8);
	assert_int_equal(pair.event.peer.info.initiator_depth, 16);
	assert_int_equal(pair.event.peer.info.rnr_retry, 6);
	assert_int_equal(pair.event.peer.info.retry, 5);
	assert_int_equal(pair.event.peer.info.ack_timeout, 17);
	assert_true(pair.event.peer.info.srq);
	assert_int_equal(pair.event.peer.info.local_port, PORT);
	assert_int_equal(pair.event.peer.info.remote_port, ALICE_PORT);
	assert_memory_equal(&pair.event.peer.info.local, &pair.ip[BOB], sizeof pair.ip[BOB]);
	assert_memory_equal(&pair.event.peer.info.remote, &pair.ip[ALICE], sizeof pair.ip[ALICE]);
	assert_int_equal(pair.event.private_bytes, PLX_CM_PRIVATE_REQ);
	assert_string_equal((const char *)pair.event.private_data, "may I come in?");
	own.path_mtu = 4096;
	own.responder_resources = 3;
	own.initiator_depth = 200;
	own.rnr_retry = 2;
	assert_int_equal(plx_cm_accept(pair.cm[BOB], bob, &own, CONTEXT_BOB, (const uint8_t *)"yes",
				       4, pair.now, &peer),
			 PLX_OK);
	assert_int_equal(peer.info.responder_resources, 3);
	assert_int_equal(peer.info.initiator_depth, 16);
	assert_int_equal(peer.info.path_mtu, 1024);
	assert_int_equal(peer.info.remote_qpn, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	assert_int_equal(pair.event.context, CONTEXT_ALICE);
	assert_int_equal(pair.event.peer.info.remote_qpn, BOB_QPN);
	assert_int_equal(pair.event.peer.psn.v, BOB_QPN * 1000);
	assert_int_equal(pair.event.peer.info.path_mtu, 1024);
	assert_int_equal(pair.event.peer.info.responder_resources, 16);
	assert_int_equal(pair.event.peer.info.initiator_depth, 3);
	assert_int_equal(pair.event.peer.info.rnr_retry, 2);
	assert_int_equal(pair.event.peer.info.retry, 5);
	assert_int_equal(pair.event.peer.info.ack_timeout, 17);
	assert_false(pair.event.peer.info.srq);
	assert_int_equal(pair.event.private_bytes, PLX_CM_PRIVATE_REP);
	assert_string_equal((const char *)pair.event.private_data, "yes");
	pair_close(&pair);
}

/* What the two ends have if one of them, or both, can say in NAKs what has arrived. */
static void
connect_selective(bool alice_can, bool bob_can)
{
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_connect connect;
	struct plx_cm_id alice, bob;
	struct plx_cm_peer peer;
	struct pair pair;

	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.own.selective = alice_can;
	bob = request(&pair, &connect, &alice);
	assert_int_equal(pair.event.peer.selective, alice_can);
	own.path_mtu = 4096;
	own.selective = bob_can;
	assert_int_equal(
		plx_cm_accept(pair.cm[BOB], bob, &own, CONTEXT_BOB, NULL, 0, pair.now, &peer),
		PLX_OK);
	assert_int_equal(peer.selective, alice_can && bob_can);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	assert_int_equal(pair.event.peer.selective, alice_can && bob_can);
	pair_close(&pair);
}

static void
naks_that_say_what_has_arrived_need_both_ends(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		connect_selective(i & 1, i & 2);
}

/* The longest private data of each step arrives to its last byte. */
static void
private_data_is_exact(void **state)
{
	uint8_t words[PLX_CM_PRIVATE_REP];
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_connect connect;
	struct plx_cm_id alice, bob;
	struct plx_cm_peer peer;
	struct pair pair;

	(void)state;
	for (size_t i = 0; i < sizeof words; i++)
		words[i] = (uint8_t)(i + 1);
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.private_data = words;
	connect.private_bytes = PLX_CM_PRIVATE_REQ;
	bob = request(&pair, &connect, &alice);
	assert_memory_equal(pair.event.private_data, words, PLX_CM_PRIVATE_REQ);
	assert_int_equal(plx_cm_accept(pair.cm[BOB], bob, &own, 0, words, PLX_CM_PRIVATE_REP,
				       pair.now, &peer),
			 PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	assert_memory_equal(pair.event.private_data, words, PLX_CM_PRIVATE_REP);
	assert_int_equal(plx_cm_reject(pair.cm[ALICE], alice, words, PLX_CM_PRIVATE_REJ, pair.now),
			 PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_CONSUMER);
	assert_int_equal(pair.event.private_bytes, PLX_CM_PRIVATE_REJ);
	assert_memory_equal(pair.event.private_data, words, PLX_CM_PRIVATE_REJ);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
a_rejected_request_says_why(void **state)
{
	uint8_t words[PLX_CM_PRIVATE_REJ];
	struct plx_cm_id alice, bob;
	struct pair pair;

	(void)state;
	memset(words, 0x5a, sizeof words);
	alice = pair_open_asked(&pair);
	bob = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	assert_int_equal(plx_cm_reject(pair.cm[BOB], bob, words, sizeof words, pair.now), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.id.v, alice.v);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_CONSUMER);
	assert_int_equal(pair.event.private_bytes, sizeof words);
	assert_memory_equal(pair.event.private_data, words, sizeof words);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->rejected, 1);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* At once, and nothing is kept of it. */
static void
where_nobody_listens_a_request_is_rejected(void **state)
{
	struct plx_cm_view view;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	plx_cm_query(pair.cm[BOB], &view);
	assert_int_equal(view.connections + view.half_open + view.timewait, 0);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->no_listener, 1);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
both_ends_at_one_host(void **state)
{
	struct plx_cm_id active, passive;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	for (int round = 0; round < 3; round++) {
		active = pair_connect(&pair, BOB, BOB, ALICE_QPN);
		pair_carry(&pair);
		passive = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
		assert_int_not_equal(active.v, passive.v);
		pair_accept(&pair, BOB, passive, BOB_QPN);
		pair_carry(&pair);
		assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_REPLIED)->id.v, active.v);
		assert_int_equal(plx_cm_establish(pair.cm[BOB], active, pair.now), PLX_OK);
		pair_carry(&pair);
		assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_ESTABLISHED)->id.v,
				 passive.v);
		assert_int_equal(
			plx_cm_disconnect(pair.cm[BOB], round == 1 ? active : passive, pair.now),
			PLX_OK);
		pair_carry(&pair);
		pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
		pair_expect(&pair, BOB, PLX_CM_EVENT_CLOSED);
		pair_expect_nothing(&pair, BOB);
	}
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* Each connects to the other at the same time: that makes two connections. */
static void
crossing_requests_are_two_connections(void **state)
{
	struct plx_cm_id asked[HOSTS], answered[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	for (int i = 0; i < HOSTS; i++) {
		pair_listen(&pair, i, PORT, 0);
		asked[i] = pair_connect(&pair, i, !i, 0x100 + (uint32_t)i);
	}
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		answered[i] = pair_expect(&pair, i, PLX_CM_EVENT_REQUESTED)->id;
		pair_accept(&pair, i, answered[i], 0x200 + (uint32_t)i);
	}
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		assert_int_equal(pair_expect(&pair, i, PLX_CM_EVENT_REPLIED)->id.v, asked[i].v);
		assert_int_equal(pair.event.peer.info.remote_qpn, 0x200 + (uint32_t)!i);
		assert_int_equal(plx_cm_establish(pair.cm[i], asked[i], pair.now), PLX_OK);
	}
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		assert_int_equal(pair_expect(&pair, i, PLX_CM_EVENT_ESTABLISHED)->id.v,
				 answered[i].v);
		assert_int_equal(plx_cm_disconnect(pair.cm[i], asked[i], pair.now), PLX_OK);
	}
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		pair_expect(&pair, i, PLX_CM_EVENT_DISCONNECTED);
		pair_expect(&pair, i, PLX_CM_EVENT_CLOSED);
	}
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
inject_dreq(struct pair *pair, int to, const struct plx_cm_id *ids, uint32_t qpn)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_DREQ, .transaction_id = 3};

	msg.dreq.local_comm_id = ids[!to].v;
	msg.dreq.remote_comm_id = ids[to].v;
	msg.dreq.remote_qpn = qpn;
	assert_int_equal(pair_inject(pair, to, &msg), PLX_CM_TAKEN);
}

/* Both disconnect at the same time, and their DREQs cross: each answers the other's, and is
 * closed, not disconnected. */
static void
crossing_disconnects_close_both(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	for (int i = 0; i < HOSTS; i++)
		assert_int_equal(plx_cm_disconnect(pair.cm[i], ids[i], pair.now), PLX_OK);
	pair.lose[PLX_CM_DREQ - PLX_CM_REQ] = 2;
	pair_carry(&pair);
	inject_dreq(&pair, BOB, ids, BOB_QPN);
	inject_dreq(&pair, ALICE, ids, ALICE_QPN);
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		assert_int_equal(pair_count(&pair, i, PLX_CM_DREQ), 1);
		assert_int_equal(pair_count(&pair, i, PLX_CM_DREP), 1);
		pair_expect(&pair, i, PLX_CM_EVENT_CLOSED);
		pair_expect_nothing(&pair, i);
	}
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* RTU and DREQ wait for the same moment: both leave, in this order. */
static void
complete_and_disconnect_at_once(void **state)
{
	struct plx_cm_id alice, bob;
	struct pair pair;

	(void)state;
	alice = pair_open_asked(&pair);
	bob = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(&pair, BOB, bob, BOB_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_cm_establish(pair.cm[ALICE], alice, pair.now), PLX_OK);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], alice, pair.now), PLX_OK);
	pair_forget(&pair);
	pair_carry(&pair);
	assert_int_equal(pair.log[0].msg.kind, PLX_CM_RTU);
	assert_int_equal(pair.log[1].msg.kind, PLX_CM_DREQ);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ESTABLISHED);
	pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_CLOSED);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* A subscriber without room for another event delays one connection; events of others are
 * delivered meanwhile. */
static void
an_event_can_wait_for_others(void **state)
{
	struct plx_cm_event event;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0);
	plx_cm_defer_event(pair.cm[BOB]);
	pair_connect(&pair, ALICE, BOB, 0x31);
	pair_connect(&pair, ALICE, BOB, 0x32);
	pair_carry(&pair);
	assert_true(plx_cm_has_event(pair.cm[BOB]));
	assert_int_equal(plx_cm_event_context(pair.cm[BOB]), CONTEXT_LISTENER);
	assert_true(plx_cm_wake_ns(pair.cm[BOB]) > 0);
	plx_cm_defer_event(pair.cm[BOB]);
	assert_true(plx_cm_next_event(pair.cm[BOB], &event));
	assert_int_equal(event.peer.info.remote_qpn, 0x32);
	assert_true(plx_cm_next_event(pair.cm[BOB], &event));
	assert_int_equal(event.peer.info.remote_qpn, 0x31);
	assert_false(plx_cm_has_event(pair.cm[BOB]));
	pair_close(&pair);
}

/* The queue pair is not ready: no REP leaves, whatever the peer repeats, until it is. */
static void
a_reply_can_be_held_back(void **state)
{
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open_asked(&pair);
	id = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(&pair, BOB, id, BOB_QPN);
	plx_cm_hold(pair.cm[BOB], id);
	pair_carry(&pair);
	pair_wait(&pair, 6 * PLX_SEC); /* the peer repeats its REQ */
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_REP), 0);
	assert_int_equal(plx_cm_release(pair.cm[BOB], id), PLX_OK);
	assert_int_equal(plx_cm_release(pair.cm[BOB], id), PLX_STATE);
	pair_carry(&pair);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_REP), 1);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	pair_close(&pair);
}

static void
a_reply_that_is_held_back_ends_with_its_connection(void **state)
{
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open_asked(&pair);
	id = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(&pair, BOB, id, BOB_QPN);
	plx_cm_hold(pair.cm[BOB], id);
	plx_cm_abandon(pair.cm[BOB], id, pair.now);
	assert_int_equal(plx_cm_release(pair.cm[BOB], id), PLX_STATE);
	pair_carry(&pair);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_REP), 0);
	pair_close(&pair);
}

static void
events_go_to_whose_the_connection_is(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	assert_int_equal(plx_cm_set_context(pair.cm[BOB], ids[BOB], 77), PLX_OK);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	assert_int_equal(plx_cm_event_context(pair.cm[BOB]), 77);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED)->context, 77);
	assert_int_equal(plx_cm_set_context(pair.cm[BOB], ids[BOB], 78), PLX_STATE);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_connect_and_disconnect),
		cmocka_unit_test(both_sides_agree),
		cmocka_unit_test(naks_that_say_what_has_arrived_need_both_ends),
		cmocka_unit_test(private_data_is_exact),
		cmocka_unit_test(a_rejected_request_says_why),
		cmocka_unit_test(where_nobody_listens_a_request_is_rejected),
		cmocka_unit_test(both_ends_at_one_host),
		cmocka_unit_test(crossing_requests_are_two_connections),
		cmocka_unit_test(crossing_disconnects_close_both),
		cmocka_unit_test(complete_and_disconnect_at_once),
		cmocka_unit_test(an_event_can_wait_for_others),
		cmocka_unit_test(a_reply_can_be_held_back),
		cmocka_unit_test(a_reply_that_is_held_back_ends_with_its_connection),
		cmocka_unit_test(events_go_to_whose_the_connection_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
