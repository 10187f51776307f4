/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arguments from the program: each one out of its range, and that a refused call has changed
 * nothing; where a program can listen; UD services. It never tests values from a peer:
 * tests/table/cm_limits.c does. Start with a_connection_out_of_range_is_refused().
 */
#include "stages.h"

#include <string.h>

static void
expect_untouched(struct pair *pair)
{
	struct plx_cm_view view;

	plx_cm_query(pair->cm[ALICE], &view);
	assert_int_equal(view.connections, 0);
	assert_true(plx_cm_wake_ns(pair->cm[ALICE]) == PLX_NEVER);
}

/* ---- configuration ---- */

static void
a_configuration_out_of_range_has_no_size(void **state)
{
	static const struct plx_cm_config bad[] = {
		{.connections = 0, .half_open = 0},
		{.connections = 0, .half_open = 1},
		{.connections = 1, .half_open = 0},
		{.connections = 1, .half_open = 2},
		{.connections = PLX_CM_CONNECTIONS_MAX + 1, .half_open = 1},
		{.connections = 4, .half_open = 1, .path_mtu = 1},
		{.connections = 4, .half_open = 1, .path_mtu = 1500},
		{.connections = 4, .half_open = 1, .path_mtu = 8192},
	};
	struct plx_cm_config good = {.connections = 1, .half_open = 1};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_int_equal(plx_cm_bytes(&bad[i]), 0);
	assert_true(plx_cm_bytes(&good) > 0);
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		good.path_mtu = mtu;
		assert_true(plx_cm_bytes(&good) > 0);
	}
	good.connections = good.half_open = PLX_CM_CONNECTIONS_MAX;
	assert_in_range(plx_cm_bytes(&good) / PLX_CM_CONNECTIONS_MAX, 100, 700);
}

/* ---- connect, accept, reject ---- */

typedef void spoil(struct plx_cm_connect *connect);

static void
spoil_nothing(struct plx_cm_connect *connect)
{
	(void)connect;
}

static void
spoil_local(struct plx_cm_connect *connect)
{
	connect->local.version = 0;
}

static void
spoil_family(struct plx_cm_connect *connect)
{
	connect->remote.version = 6;
}

static void
spoil_port(struct plx_cm_connect *connect)
{
	connect->remote_port = 0;
}

static void
spoil_words(struct plx_cm_connect *connect)
{
	connect->private_data = NULL;
}

static void
spoil_qpn_low(struct plx_cm_connect *connect)
{
	connect->own.qpn = 1;
}

static void
spoil_qpn_high(struct plx_cm_connect *connect)
{
	connect->own.qpn = 0xffffff;
}

static void
spoil_psn(struct plx_cm_connect *connect)
{
	connect->own.psn.v = 1 << 24;
}

static void
spoil_mtu(struct plx_cm_connect *connect)
{
	connect->own.path_mtu = 1500;
}

static void
spoil_rnr(struct plx_cm_connect *connect)
{
	connect->own.rnr_retry = 8;
}

static void
spoil_retry(struct plx_cm_connect *connect)
{
	connect->own.retry = 8;
}

static void
spoil_timeout(struct plx_cm_connect *connect)
{
	connect->own.ack_timeout = 32;
}

static spoil *const of_own[] = {spoil_qpn_low, spoil_qpn_high, spoil_psn,    spoil_mtu,
				spoil_rnr,     spoil_retry,    spoil_timeout};
static spoil *const of_way[] = {spoil_local, spoil_family, spoil_port, spoil_words};

static enum plx_status
connect_with(struct pair *pair, spoil *what, bool sidr)
{
	struct plx_cm_connect connect = pair_wish(pair, ALICE, BOB, ALICE_QPN);
	struct plx_cm_id id = {0};
	enum plx_status status;

	what(&connect);
	status = sidr ? plx_cm_sidr_request(pair->cm[ALICE], &connect, pair->now, &id)
		      : plx_cm_connect(pair->cm[ALICE], &connect, pair->now, &id);
	assert_int_equal(id.v != 0, status == PLX_OK);
	return status;
}

static void
a_connection_out_of_range_is_refused(void **state)
{
	struct plx_cm_connect connect;
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	for (size_t i = 0; i < PLX_COUNT_OF(of_own); i++)
		assert_int_equal(connect_with(&pair, of_own[i], false), PLX_INVALID);
	for (size_t i = 0; i < PLX_COUNT_OF(of_way); i++) {
		assert_int_equal(connect_with(&pair, of_way[i], false), PLX_INVALID);
		assert_int_equal(connect_with(&pair, of_way[i], true), PLX_INVALID);
	}
	connect = pair_wish(&pair, ALICE, BOB, ALICE_QPN);
	connect.private_bytes = PLX_CM_PRIVATE_REQ + 1;
	assert_int_equal(plx_cm_connect(pair.cm[ALICE], &connect, pair.now, &id), PLX_TOO_LONG);
	assert_int_equal(plx_cm_sidr_request(pair.cm[ALICE], &connect, pair.now, &id),
			 PLX_TOO_LONG);
	expect_untouched(&pair);
	assert_int_equal(connect_with(&pair, spoil_nothing, false), PLX_OK);
	pair_close(&pair);
}

/* A refused reply leaves the request as it was: it can still be accepted. */
static void
an_answer_out_of_range_is_refused(void **state)
{
	static const uint8_t words[PLX_CM_PRIVATE_REP + 1];
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_peer peer;
	struct plx_cm *cm;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REQ_RCVD, ids);
	cm = pair.cm[BOB];
	for (size_t i = 0; i < PLX_COUNT_OF(of_own); i++) {
		struct plx_cm_connect connect = {.own = own};

		of_own[i](&connect);
		assert_int_equal(
			plx_cm_accept(cm, ids[BOB], &connect.own, 0, words, 1, pair.now, &peer),
			PLX_INVALID);
	}
	own.path_mtu = 512; /* ALICE requests 1024, and a REP cannot lower it */
	assert_int_equal(plx_cm_accept(cm, ids[BOB], &own, 0, words, 1, pair.now, &peer),
			 PLX_INVALID);
	own.path_mtu = 1024;
	assert_int_equal(plx_cm_accept(cm, ids[BOB], &own, 0, NULL, 1, pair.now, &peer),
			 PLX_INVALID);
	assert_int_equal(plx_cm_accept(cm, ids[BOB], &own, 0, words, sizeof words, pair.now, &peer),
			 PLX_TOO_LONG);
	assert_int_equal(plx_cm_reject(cm, ids[BOB], NULL, 1, pair.now), PLX_INVALID);
	assert_int_equal(plx_cm_reject(cm, ids[BOB], words, PLX_CM_PRIVATE_REJ + 1, pair.now),
			 PLX_TOO_LONG);
	pair_carry(&pair);
	assert_int_equal(pair.logged, 0);
	assert_int_equal(
		plx_cm_accept(cm, ids[BOB], &own, 0, words, PLX_CM_PRIVATE_REP, pair.now, &peer),
		PLX_OK);
	pair_close(&pair);
}

/* Nobody can know the id of a request that was not reported. */
static void
what_was_not_told_cannot_be_answered(void **state)
{
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_peer peer;
	struct plx_cm_id ids[HOSTS], id;
	struct plx_cm_event event;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REQ_QUEUED, ids);
	pair_wait(&pair, 2 * PLX_SEC); /* the MRA reveals it to anybody who listens on the wire */
	id.v = pair_last(&pair, BOB, PLX_CM_MRA)->mra.local_comm_id;
	assert_int_equal(plx_cm_accept(pair.cm[BOB], id, &own, 0, NULL, 0, pair.now, &peer),
			 PLX_STATE);
	assert_int_equal(plx_cm_reject(pair.cm[BOB], id, NULL, 0, pair.now), PLX_STATE);
	assert_true(plx_cm_next_event(pair.cm[BOB], &event));
	assert_int_equal(event.id.v, id.v);
	assert_int_equal(plx_cm_reject(pair.cm[BOB], id, NULL, 0, pair.now), PLX_OK);
	pair_close(&pair);
}

/* Its owner detaches before the end was reported: then it is not reported. */
static void
what_is_abandoned_is_not_told(void **state)
{
	struct plx_cm_view view;
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	for (int i = 0; i < HOSTS; i++) {
		assert_true(plx_cm_has_event(pair.cm[i]));
		plx_cm_abandon(pair.cm[i], ids[i], pair.now);
		plx_cm_abandon(pair.cm[i], ids[i], pair.now);
		pair_expect_nothing(&pair, i);
		plx_cm_query(pair.cm[i], &view);
		assert_int_equal(view.connections, 0);
		assert_int_equal(view.timewait, 1);
	}
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* A request that never left is forgotten without a word. */
static void
what_was_never_said_is_not_taken_back(void **state)
{
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	id = pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	plx_cm_abandon(pair.cm[ALICE], id, pair.now);
	pair_carry(&pair);
	assert_int_equal(pair.logged, 0);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* ---- listeners ---- */

static enum plx_status
listen_at(struct pair *pair, enum plx_port_space space, struct plx_ip local, uint16_t port,
	  struct plx_cm_id *id)
{
	struct plx_cm_listen listen = {
		.space = space, .local = local, .port = port, .qpn = 5, .qkey = PLX_CMA_QKEY};

	return plx_cm_listen(pair->cm[ALICE], &listen, id);
}

static void
a_port_has_one_listener_for_each_address(void **state)
{
	struct plx_ip anywhere = {.version = 0}, one, two;
	struct plx_cm_id id, other;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	one = pair_ip(4, 1);
	two = pair_ip(4, 2);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, one, PORT, &id), PLX_OK);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, one, PORT, &other), PLX_BUSY);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, anywhere, PORT, &other), PLX_BUSY);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, two, PORT, &other), PLX_OK);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_UDP, one, PORT, &other), PLX_OK);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, anywhere, PORT + 1, &other), PLX_OK);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, one, PORT + 1, &id), PLX_BUSY);
	assert_int_equal(plx_cm_unlisten(pair.cm[ALICE], other, pair.now), PLX_OK);
	assert_int_equal(plx_cm_unlisten(pair.cm[ALICE], other, pair.now), PLX_STATE);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, one, PORT + 1, &id), PLX_OK);
	assert_int_equal(plx_cm_unlisten(pair.cm[ALICE], (struct plx_cm_id){0}, pair.now),
			 PLX_STATE);
	pair_close(&pair);
}

static void
a_listener_out_of_range_is_refused(void **state)
{
	struct plx_cm_listen good = {.space = PLX_PORT_SPACE_UDP, .port = PORT, .qpn = 2};
	struct plx_cm_listen bad[4];
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bad); i++)
		bad[i] = good;
	bad[0].space = (enum plx_port_space)0x0107;
	bad[1].port = 0;
	bad[2].qpn = 1;
	bad[3].local.version = 5;
	pair_open(&pair);
	for (size_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_int_equal(plx_cm_listen(pair.cm[ALICE], &bad[i], &id), PLX_INVALID);
	good.backlog = PLX_CM_BACKLOG_MAX + 1;
	assert_int_equal(plx_cm_listen(pair.cm[ALICE], &good, &id), PLX_INVALID);
	good.backlog = PLX_CM_BACKLOG_MAX;
	assert_int_equal(plx_cm_listen(pair.cm[ALICE], &good, &id), PLX_OK);
	pair_close(&pair);
}

static void
listeners_are_limited_and_their_ids_are_not_reused(void **state)
{
	struct plx_ip anywhere = {.version = 0};
	struct plx_cm_id id, other, first = {0};
	struct plx_cm_view view;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	for (uint32_t i = 0; i < PLX_CM_LISTENERS_MAX; i++) {
		assert_int_equal(
			listen_at(&pair, PLX_PORT_SPACE_TCP, anywhere, (uint16_t)(i + 1), &id),
			PLX_OK);
		if (i == 0)
			first = id;
	}
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, anywhere, PORT, &other), PLX_FULL);
	plx_cm_query(pair.cm[ALICE], &view);
	assert_int_equal(view.listeners, PLX_CM_LISTENERS_MAX);
	assert_int_equal(plx_cm_unlisten(pair.cm[ALICE], first, pair.now), PLX_OK);
	assert_int_equal(listen_at(&pair, PLX_PORT_SPACE_TCP, anywhere, PORT, &other), PLX_OK);
	assert_int_not_equal(other.v, first.v);
	assert_int_equal(plx_cm_unlisten(pair.cm[ALICE], first, pair.now), PLX_STATE);
	pair_close(&pair);
}

/* A listener on one of our addresses gets no requests for another. */
static void
a_listener_hears_its_own_address(void **state)
{
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = PORT};
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	listen.local = pair_ip(4, 1);
	assert_int_equal(plx_cm_listen(pair.cm[BOB], &listen, &id), PLX_OK);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	listen.local = pair.ip[BOB];
	assert_int_equal(plx_cm_listen(pair.cm[BOB], &listen, &id), PLX_OK);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->listener.v, id.v);
	pair_close(&pair);
}

/* The listener is destroyed: unreported requests are rejected, reported ones continue. */
static void
requests_that_wait_end_with_their_listener(void **state)
{
	struct plx_cm_id listener, told;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	listener = pair_listen(&pair, BOB, PORT, 0);
	pair_connect(&pair, ALICE, BOB, 0x31);
	pair_carry(&pair);
	told = pair_expect(&pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_connect(&pair, ALICE, BOB, 0x32);
	pair_connect(&pair, ALICE, BOB, 0x33);
	pair_carry(&pair);
	assert_int_equal(plx_cm_unlisten(pair.cm[BOB], listener, pair.now), PLX_OK);
	pair_carry(&pair);
	for (int i = 0; i < 2; i++) {
		pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
		assert_int_equal(pair.event.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
	}
	pair_expect_nothing(&pair, BOB);
	pair_accept(&pair, BOB, told, BOB_QPN);
	pair_carry(&pair);
	plx_cm_abandon(pair.cm[ALICE], pair_expect(&pair, ALICE, PLX_CM_EVENT_REPLIED)->id,
		       pair.now);
	pair_carry(&pair);
	pair_expect(&pair, BOB, PLX_CM_EVENT_ABORTED);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configuration_out_of_range_has_no_size),
		cmocka_unit_test(a_connection_out_of_range_is_refused),
		cmocka_unit_test(an_answer_out_of_range_is_refused),
		cmocka_unit_test(what_was_not_told_cannot_be_answered),
		cmocka_unit_test(what_is_abandoned_is_not_told),
		cmocka_unit_test(what_was_never_said_is_not_taken_back),
		cmocka_unit_test(a_port_has_one_listener_for_each_address),
		cmocka_unit_test(a_listener_out_of_range_is_refused),
		cmocka_unit_test(listeners_are_limited_and_their_ids_are_not_reused),
		cmocka_unit_test(a_listener_hears_its_own_address),
		cmocka_unit_test(requests_that_wait_end_with_their_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
