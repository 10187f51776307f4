/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each limit, reached and exceeded by one: connections, backlog, shares of half-open connections,
 * TIMEWAIT, replies, timers of one tick, and the turns in which datagrams are sent. It never
 * floods: many.c does. Start with a_full_table_refuses().
 */
#include "cm_pair.h"

#include <stdlib.h>
#include <string.h>

static void
a_full_table_refuses(void **state)
{
	struct plx_cm_connect connect;
	struct plx_cm_id ids[HOSTS], id;
	struct pair pair;

	(void)state;
	pair_open_with(&pair, 2, 2, 4);
	pair_establish(&pair, ids);
	pair_establish_more(&pair, ALICE_QPN + 1, ids);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN + 2);
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &id), PLX_FULL);
	assert_int_equal(plx_cm_sidr_request(pair.cm[ALICE], &connect, pair.now, &id), PLX_FULL);
	plx_cm_abandon(pair.cm[ALICE], ids[ALICE], pair.now);
	pair_carry(&pair);
	/* BOB's slot is occupied until his program has received the event. */
	pair_connect(&pair, ALICE, BOB, ALICE_QPN + 2);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_NO_RESOURCES);
	pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN + 2);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	pair_close(&pair);
}

/* One address can have up to its limit: it gets a rejection beyond, and others are not kept out.
 * A slot is free again when the end of its connection was reported. Our own requests do not
 * count. */
static void
one_peer_may_have_so_many_connections(void **state)
{
	enum {
		LIMIT = 3
	};
	struct plx_cm_id ids[LIMIT][HOSTS], id;
	struct plx_ip other = pair_ip(4, 0x0a4d0066);
	struct plx_cm_msg req;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.config[BOB].per_peer = LIMIT;
	pair_reboot(&pair, BOB);
	pair_listen(&pair, BOB, PORT, 0);
	pair_listen(&pair, ALICE, PORT, 0);
	pair_connect(&pair, BOB, ALICE, BOB_QPN + 100);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REQUESTED);
	for (uint32_t i = 0; i < LIMIT; i++)
		pair_establish_more(&pair, ALICE_QPN + i, ids[i]);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN + LIMIT);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_NO_RESOURCES);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->peer_full, 1);
	req = pair_req(&pair, other, 5, ALICE_QPN);
	assert_int_equal(pair_inject_from(&pair, BOB, other, &req), PLX_CM_TAKEN);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	/* One leaves: its place is free once our program knows. */
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[1][ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_CLOSED);
	id = pair_connect(&pair, ALICE, BOB, ALICE_QPN + LIMIT);
	pair_carry(&pair);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED)->id.v, id.v);
	pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	pair_establish_more(&pair, ALICE_QPN + LIMIT, ids[1]);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->peer_full, 2);
	pair_close(&pair);
}

/* Accepted, rejected or ended: then there is room for the next. */
static void
a_full_backlog_refuses(void **state)
{
	struct plx_cm_id first;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 2);
	for (uint32_t i = 0; i < 3; i++)
		pair_connect(&pair, ALICE, BOB, 0x30 + i);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_NO_RESOURCES);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->backlog_full, 1);
	first = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_connect(&pair, ALICE, BOB, 0x40);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	pair_accept(&pair, BOB, first, BOB_QPN);
	pair_connect(&pair, ALICE, BOB, 0x41);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED);
	pair_expect_nothing(&pair, ALICE);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->backlog_full, 2);
	pair_close(&pair);
}

static enum plx_cm_verdict
ask_from(struct pair *pair, struct plx_ip from, uint32_t number)
{
	struct plx_cm_msg msg = pair_req(pair, from, 1000 + number, 0x1000 + number);

	return pair_inject_from(pair, BOB, from, &msg);
}

/* A source has its share of half-open connections, strangers theirs; a known peer may use the
 * rest. */
static void
half_open_connections_are_shared(void **state)
{
	enum {
		ALL = 256
	};
	struct plx_cm_id ids[HOSTS];
	struct pair pair;
	uint32_t number = 0;

	(void)state;
	pair_open_with(&pair, 2 * ALL, ALL, 4);
	pair_establish(&pair, ids);
	pair.silent[ALICE] = true;
	for (uint32_t i = 0; i < ALL / PLX_CM_SOURCE_SHARE; i++)
		assert_int_equal(ask_from(&pair, pair_ip(4, 7), number++), PLX_CM_TAKEN);
	pair.now += PLX_SEC; /* it is not the tokens that are lacking */
	assert_int_equal(ask_from(&pair, pair_ip(4, 7), number++), PLX_CM_LIMITED);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->source_full, 1);
	while (pair_view(&pair, BOB).half_open < ALL - ALL / PLX_CM_KNOWN_SHARE)
		assert_int_equal(ask_from(&pair, pair_ip(4, 8), number++), PLX_CM_TAKEN);
	assert_int_equal(ask_from(&pair, pair_ip(4, 9), number++), PLX_CM_LIMITED);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->half_open_full, 1);
	while (pair_view(&pair, BOB).half_open < ALL)
		assert_int_equal(ask_from(&pair, pair.ip[ALICE], number++), PLX_CM_TAKEN);
	assert_int_equal(ask_from(&pair, pair.ip[ALICE], number++), PLX_CM_LIMITED);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->verdict[PLX_CM_LIMITED], 3);
	pair_close(&pair);
}

/* A small table is anybody's, as a whole. */
static void
few_half_open_connections_are_not_shared(void **state)
{
	struct pair pair;
	uint32_t number = 0;

	(void)state;
	pair_open_with(&pair, PLX_CM_SHARED_MIN, PLX_CM_SHARED_MIN, 4);
	pair_listen(&pair, BOB, PORT, 0);
	while (number < PLX_CM_SHARED_MIN - 1)
		assert_int_equal(ask_from(&pair, pair_ip(4, 7), number++), PLX_CM_TAKEN);
	assert_int_equal(ask_from(&pair, pair_ip(4, 8), number++), PLX_CM_TAKEN);
	pair_close(&pair);
}

/* An accepted peer that stays silent is evicted, the oldest first; one that sent an MRA is not. */
static void
the_silent_give_way(void **state)
{
	struct plx_cm_id ids[PLX_CM_SHARED_MIN];
	struct plx_cm_msg mra = {.kind = PLX_CM_MRA};
	struct pair pair;

	(void)state;
	pair_open_with(&pair, 2 * PLX_CM_SHARED_MIN, PLX_CM_SHARED_MIN, 4);
	pair_listen(&pair, BOB, PORT, 0);
	for (uint32_t i = 0; i < PLX_CM_SHARED_MIN; i++) {
		assert_int_equal(ask_from(&pair, pair_ip(4, 100 + i), i), PLX_CM_TAKEN);
		ids[i] = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
		if (i > 0)
			pair_accept(&pair, BOB, ids[i], 0x500 + i);
	}
	pair_carry(&pair);
	mra.mra.about = PLX_CM_ABOUT_REP;
	mra.mra.local_comm_id = 1000 + 1;
	mra.mra.remote_comm_id = ids[1].v;
	assert_int_equal(pair_inject_from(&pair, BOB, pair_ip(4, 101), &mra), PLX_CM_TAKEN);
	assert_int_equal(ask_from(&pair, pair_ip(4, 200), 200), PLX_CM_TAKEN);
	/* Not the one that our program thinks about, nor the one that has spoken. */
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_TIMED_OUT)->id.v, ids[2].v);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	pair_expect_nothing(&pair, BOB);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->gave_way, 1);
	assert_int_equal(pair_view(&pair, BOB).half_open, PLX_CM_SHARED_MIN);
	pair_carry(&pair);
	assert_int_equal(pair_last(&pair, BOB, PLX_CM_REJ)->rej.reason, PLX_CM_REASON_TIMEOUT);
	pair_close(&pair);
}

/* Tokens are refilled with time, at a given rate per second. */
static void
a_spent_source_recovers(void **state)
{
	struct plx_ip from = pair_ip(4, 7);
	struct plx_cm_event event;
	struct pair pair;
	uint32_t number = 0, taken = 0;

	(void)state;
	pair_open_with(&pair, 1024, 1024, 4);
	pair_listen(&pair, BOB, PORT, 0);
	while (ask_from(&pair, from, number++) == PLX_CM_TAKEN) {
		assert_true(plx_cm_next_event(pair.cm[BOB], &event));
		plx_cm_abandon(pair.cm[BOB], event.id, pair.now);
		pair_forget(&pair);
		pair_carry(&pair);
	}
	assert_int_equal(number - 1, PLX_CM_SOURCE_BURST);
	for (int i = 0; i < 100; i++) {
		pair_wait(&pair, 10 * PLX_MSEC);
		taken += ask_from(&pair, from, number++) == PLX_CM_TAKEN;
	}
	assert_int_equal(taken, PLX_CM_SOURCE_PER_SECOND);
	pair_close(&pair);
}

/* More ended than are remembered: the oldest is forgotten first. */
static void
the_oldest_remains_give_way(void **state)
{
	struct plx_cm_id ids[HOSTS], first[HOSTS] = {{0}};
	struct plx_cm_msg dreq = {.kind = PLX_CM_DREQ};
	struct pair pair;

	(void)state;
	pair_open_with(&pair, 2, 2, 4);
	pair_listen(&pair, BOB, PORT, 0);
	for (uint32_t i = 0; i < 65; i++) {
		pair_establish_more(&pair, ALICE_QPN + i, ids);
		if (i == 0)
			memcpy(first, ids, sizeof first);
		plx_cm_abandon(pair.cm[ALICE], ids[ALICE], pair.now);
		pair_carry(&pair);
		pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	}
	assert_int_equal(pair_view(&pair, BOB).timewait, 64);
	/* A late DREQ of the last is known; of the first it is not, and answered all the same. */
	dreq.dreq.remote_qpn = BOB_QPN + 64;
	dreq.dreq.local_comm_id = ids[ALICE].v;
	dreq.dreq.remote_comm_id = ids[BOB].v;
	pair.silent[ALICE] = true;
	assert_int_equal(pair_inject(&pair, BOB, &dreq), PLX_CM_REPEATED);
	dreq.dreq.remote_qpn = BOB_QPN;
	dreq.dreq.local_comm_id = first[ALICE].v;
	dreq.dreq.remote_comm_id = first[BOB].v;
	assert_int_equal(pair_inject(&pair, BOB, &dreq), PLX_CM_UNKNOWN);
	pair_forget(&pair);
	pair_carry(&pair);
	assert_int_equal(pair_count(&pair, BOB, PLX_CM_DREP), 2);
	pair.silent[ALICE] = false;
	pair_close(&pair);
}

/* Replies to peers without a connection are limited in number and in rate per second. */
static void
answers_are_limited(void **state)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_DREQ};
	uint32_t sent = 0;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.silent[ALICE] = true;
	for (uint32_t i = 0; i < 1000; i++) {
		msg.dreq.remote_comm_id = 1 + i;
		assert_int_equal(pair_inject(&pair, BOB, &msg), PLX_CM_UNKNOWN);
	}
	assert_int_equal(pair_carry_from(&pair, BOB), PLX_CM_STATELESS_MAX);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->answers_dropped,
			 1000 - PLX_CM_STATELESS_MAX);
	for (uint32_t i = 0; i < 10000; i++) {
		pair.now += 100 * PLX_USEC;
		pair_inject(&pair, BOB, &msg);
		pair_forget(&pair);
		sent += pair_carry_from(&pair, BOB);
	}
	assert_in_range(sent, PLX_CM_STATELESS_PER_SECOND, PLX_CM_STATELESS_PER_SECOND + 1);
	pair_close(&pair);
}

/* Answers and connections send by turns. */
static void
answers_do_not_hold_connections_up(void **state)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_DREQ};
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.silent[ALICE] = true;
	for (uint32_t i = 0; i < 20; i++) {
		msg.dreq.remote_comm_id = 1 + i;
		pair_inject(&pair, BOB, &msg);
		pair_connect(&pair, BOB, ALICE, 0x30 + i);
	}
	assert_int_equal(pair_carry_from(&pair, BOB), 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(pair.log[i].msg.kind, i % 2 ? PLX_CM_REQ : PLX_CM_DREP);
	pair_close(&pair);
}

/* A tick does so much, and then wants the next at once. */
static void
a_tick_has_its_measure(void **state)
{
	struct pair pair;
	uint32_t resent = 0;

	(void)state;
	pair_open_with(&pair, 200, 200, 4);
	pair.silent[BOB] = true;
	for (uint32_t i = 0; i < 200; i++)
		pair_connect(&pair, ALICE, BOB, 0x30 + i);
	pair_carry(&pair);
	pair.now = plx_cm_wake_ns(pair.cm[ALICE]);
	for (int i = 0; i < 4; i++) {
		uint32_t now;

		assert_true(plx_cm_wake_ns(pair.cm[ALICE]) <= pair.now);
		plx_cm_on_tick(pair.cm[ALICE], pair.now);
		now = pair_carry_from(&pair, ALICE);
		assert_in_range(now, 1, PLX_CM_DUE_MAX);
		resent += now;
	}
	assert_int_equal(resent, 200);
	assert_true(plx_cm_wake_ns(pair.cm[ALICE]) > pair.now);
	pair_close(&pair);
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* An id is not reused, does not count up, and another seed gives other ids. */
static void
ids_do_not_come_again(void **state)
{
	enum {
		COUNT = 20000
	};
	uint32_t *seen = calloc(COUNT, sizeof *seen);
	uint32_t close = 0;
	struct pair pair;

	(void)state;
	assert_non_null(seen);
	pair_open(&pair);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct plx_cm_id id = pair_connect(&pair, ALICE, BOB, ALICE_QPN);

		seen[i] = id.v;
		assert_int_not_equal(id.v, 0);
		close += i > 0 && seen[i] - seen[i - 1] + (1u << 16) < 1u << 17;
		plx_cm_abandon(pair.cm[ALICE], id, pair.now);
	}
	assert_in_range(close, 0, 10);
	qsort(seen, COUNT, sizeof *seen, compare);
	for (uint32_t i = 1; i < COUNT; i++)
		assert_int_not_equal(seen[i], seen[i - 1]);
	assert_int_not_equal(pair_connect(&pair, ALICE, BOB, ALICE_QPN).v,
			     pair_connect(&pair, BOB, ALICE, ALICE_QPN).v);
	free(seen);
	pair_close(&pair);
}

/* A path MTU that our port cannot carry is rejected before our program gets the request. */
static void
a_path_mtu_above_ours_is_refused(void **state)
{
	struct plx_cm_connect connect;
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.config[BOB].path_mtu = 1024;
	pair_reboot(&pair, BOB);
	pair_listen(&pair, BOB, PORT, 0);
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.own.path_mtu = 2048;
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &id), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_PATH_MTU);
	pair_expect_nothing(&pair, BOB);
	connect.own.path_mtu = 1024;
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &id), PLX_OK);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_table_refuses),
		cmocka_unit_test(one_peer_may_have_so_many_connections),
		cmocka_unit_test(a_full_backlog_refuses),
		cmocka_unit_test(half_open_connections_are_shared),
		cmocka_unit_test(few_half_open_connections_are_not_shared),
		cmocka_unit_test(the_silent_give_way),
		cmocka_unit_test(a_spent_source_recovers),
		cmocka_unit_test(the_oldest_remains_give_way),
		cmocka_unit_test(answers_are_limited),
		cmocka_unit_test(answers_do_not_hold_connections_up),
		cmocka_unit_test(a_tick_has_its_measure),
		cmocka_unit_test(ids_do_not_come_again),
		cmocka_unit_test(a_path_mtu_above_ours_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
