/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections whose queue pairs are other engines' than the communication manager: the promised
 * order of states, messages and events, however late one of the engines is; ends of every kind;
 * messages that find no room. Start with scene_open() and establish().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "far.h"
#include "engine_pair.h"

enum {
	ENGINES = 3,
	PORT = 7,
	DEPTH = 16,
	ROUNDS = 200,
	KIND_AT = 14 + 20 + 8 + 12 + 8 + 16, /* of a MAD, in an untagged IPv4 frame */
};

#define GRACE_NS (10 * PLX_MSEC)

static struct pair pair;
static struct whole_channel *channels[2];
static struct whole_listener *listener;
static struct whole_connector *connectors[2];
static bool rep_was_early;

/* ---- the scene ---- */

/* A REP leaves: is the queue pair ready to receive? */
static bool
watch(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	(void)user;
	if (pair_opcode(m) == PLX_UD_SEND_ONLY &&
	    (bytes[KIND_AT] << 8 | bytes[KIND_AT + 1]) == PLX_CM_REP)
		rep_was_early |= plx_engine_qp_state(from->qp) != PLX_QP_RTR;
	return true;
}

/* Queue pairs on engine `a` of side 0 and `b` of side 1, and a listener on side 1. */
static void
scene_open(uint32_t a, uint32_t b)
{
	const struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = PORT};
	const uint32_t on[2] = {a, b};
	struct pair_options options = pair_defaults(DEPTH);

	pair_open_with(&pair, &(struct pair_setup){.engines = ENGINES});
	rep_was_early = false;
	pair.side[1].port.pass = watch;
	for (int i = 0; i < 2; i++)
		pair.side[i].engine = pair.side[i].all[on[i]];
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (int i = 0; i < 2; i++) {
		pair.side[i].qp = pair_qp(&pair, i, &options);
		assert_int_equal(plx_link_channel_create(pair.side[i].all[0], 16, &channels[i]),
				 PLX_OK);
		assert_int_equal(
			plx_link_connector_create(channels[i], 10u + (unsigned)i, &connectors[i]),
			PLX_OK);
	}
	assert_int_equal(pair_listen(channels[1], &listen, 1000, &listener), PLX_OK);
	pair_stop(&pair);
}

static void
scene_close(void)
{
	pair_start(&pair);
	for (int i = 0; i < 2; i++)
		if (connectors[i] != NULL)
			pair_connector_destroy(connectors[i]);
	pair_listener_destroy(listener);
	for (int i = 0; i < 2; i++)
		assert_int_equal(plx_link_channel_destroy(channels[i]), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

static struct plx_link_attr
attr_of(void)
{
	return (struct plx_link_attr){.rc = pair_defaults(DEPTH).attr,
				      .path = {.remote = pair.side[1].ip},
				      .own = {.path_mtu = 1024,
					      .responder_resources = 4,
					      .initiator_depth = 4,
					      .rnr_retry = 6,
					      .retry = 7,
					      .ack_timeout = 14},
				      .grace_ns = GRACE_NS,
				      .local_port = 50000,
				      .remote_port = PORT};
}

static struct plx_link_event
next(int side, enum plx_cm_event_kind kind)
{
	struct plx_link_event event;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (plx_link_channel_next(channels[side], &event)) {
			assert_int_equal(event.cm.kind, kind);
			return event;
		}
		pair_run(&pair, 1);
	}
	fail_msg("side %d, never: %s", side, plx_cm_event_text(kind));
	return event;
}

static void
nothing_at(int side)
{
	struct plx_link_event event;

	assert_false(plx_link_channel_next(channels[side], &event));
}

static void
request(void)
{
	const struct plx_link_attr attr = attr_of();

	pair_start(&pair);
	assert_int_equal(plx_link_connect(connectors[0], pair.side[0].qp, &attr), PLX_OK);
	pair_stop(&pair);
}

static void
accept(void)
{
	struct plx_link_event event = next(1, PLX_CM_EVENT_REQUESTED);
	const struct plx_link_attr attr = attr_of();
	enum plx_status status;

	assert_int_equal(event.cookie, 1000);
	pair_start(&pair);
	assert_int_equal(plx_link_adopt(connectors[1], &event.cm), PLX_OK);
	do
		status = plx_link_accept(connectors[1], pair.side[1].qp, &attr);
	while (status == PLX_AGAIN);
	assert_int_equal(status, PLX_OK);
	pair_stop(&pair);
}

static void
complete(void)
{
	enum plx_status status;

	assert_int_equal(next(0, PLX_CM_EVENT_REPLIED).cookie, 10);
	pair_start(&pair);
	do
		status = plx_link_establish(connectors[0]);
	while (status == PLX_AGAIN);
	assert_int_equal(status, PLX_OK);
	pair_stop(&pair);
	assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_RTS);
}

static void
establish(void)
{
	request();
	accept();
	complete();
	assert_int_equal(next(1, PLX_CM_EVENT_ESTABLISHED).cookie, 11);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTS);
	assert_false(rep_was_early);
}

static void
exchange(void)
{
	struct plx_wc wc;

	for (int from = 0; from < 2; from++) {
		assert_int_equal(pair_recv(&pair.side[!from], 1, 0, 64), PLX_OK);
		assert_int_equal(pair_send(&pair.side[from], 2, 0, 64, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, pair.side[!from].recv_cq, &wc, 1, ROUNDS), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(pair_reap(&pair, pair.side[from].send_cq, &wc, 1, ROUNDS), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
	}
}

static void
disconnect(int side)
{
	pair_start(&pair);
	assert_int_equal(plx_link_disconnect(connectors[side]), PLX_OK);
	pair_stop(&pair);
}

/* ---- the whole life ---- */

static void
queue_pairs_of_any_engines_connect_and_disconnect(void **state)
{
	struct plx_wc wc;

	(void)state;
	for (uint32_t a = 0; a < ENGINES; a++)
		for (uint32_t b = 0; b < ENGINES; b++) {
			scene_open(a, b);
			establish();
			exchange();
			assert_int_equal(pair_recv(&pair.side[0], 3, 0, 64), PLX_OK);
			assert_int_equal(pair_recv(&pair.side[1], 3, 0, 64), PLX_OK);
			disconnect(0);
			/* Ours is flushed at once, the peer's after the event and the grace. */
			assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_ERROR);
			assert_int_equal(pair_reap(&pair, pair.side[0].recv_cq, &wc, 1, ROUNDS), 1);
			assert_int_equal(wc.status, PLX_WC_FLUSHED);
			assert_int_equal(next(1, PLX_CM_EVENT_DISCONNECTED).cookie, 11);
			assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTS);
			assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, 10), 0);
			next(0, PLX_CM_EVENT_CLOSED);
			pair_pass(&pair, GRACE_NS + PLX_MSEC);
			pair_run(&pair, 10);
			assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_ERROR);
			assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, ROUNDS), 1);
			assert_int_equal(wc.status, PLX_WC_FLUSHED);
			scene_close();
		}
}

static void
without_grace_the_flush_follows_the_event(void **state)
{
	struct plx_wc wc;

	(void)state;
	scene_open(1, 2);
	establish();
	connectors[1]->back->attr.grace_ns = 0;
	assert_int_equal(pair_recv(&pair.side[1], 3, 0, 64), PLX_OK);
	disconnect(0);
	next(1, PLX_CM_EVENT_DISCONNECTED);
	assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, ROUNDS), 1);
	assert_int_equal(wc.status, PLX_WC_FLUSHED);
	scene_close();
}

/* Engine 2 does not run, and engine 0 does: the program is not told before it can post. */
static void
established_waits_for_the_queue_pair(void **state)
{
	struct pair_side *b = &pair.side[1];

	(void)state;
	scene_open(1, 2);
	request();
	accept();
	complete();
	for (uint32_t i = 0; i < ROUNDS; i++) {
		pair.now += PLX_USEC;
		pair_poll_side(&pair, 0);
		plx_engine_poll(b->all[0], pair.now);
		plx_engine_poll(b->all[1], pair.now);
	}
	assert_true(plx_cm_has_event(b->cm));
	nothing_at(1);
	assert_int_equal(plx_engine_qp_state(b->qp), PLX_QP_RTR);
	plx_engine_poll(b->all[2], pair.now);
	assert_int_equal(plx_engine_qp_state(b->qp), PLX_QP_RTS);
	nothing_at(1);
	next(1, PLX_CM_EVENT_ESTABLISHED);
	exchange();
	scene_close();
}

static bool
lose_rtu(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	(void)from;
	(void)user;
	return pair_opcode(m) != PLX_UD_SEND_ONLY ||
	       (bytes[KIND_AT] << 8 | bytes[KIND_AT + 1]) != PLX_CM_RTU;
}

/* Whoever sees the first message can answer it. */
static void
the_first_packet_stands_for_a_lost_rtu(void **state)
{
	struct plx_wc wc;

	(void)state;
	scene_open(1, 2);
	pair.side[0].port.pass = lose_rtu;
	request();
	accept();
	complete();
	pair_run(&pair, ROUNDS);
	nothing_at(1);
	assert_int_equal(pair_recv(&pair.side[1], 1, 0, 64), PLX_OK);
	assert_int_equal(pair_send(&pair.side[0], 2, 0, 64, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, ROUNDS), 1);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTS);
	next(1, PLX_CM_EVENT_ESTABLISHED);
	assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, ROUNDS), 1);
	exchange();
	scene_close();
}

/* ---- ends ---- */

static void
a_queue_pair_that_is_flushed_or_destroyed_ends_its_connection(void **state)
{
	(void)state;
	for (int destroyed = 0; destroyed < 2; destroyed++) {
		scene_open(1, 2);
		establish();
		pair_start(&pair);
		if (destroyed) {
			assert_int_equal(plx_engine_qp_destroy(pair.side[1].qp), PLX_OK);
			pair.side[1].qp = NULL;
		} else {
			assert_int_equal(plx_engine_qp_flush(pair.side[1].qp), PLX_OK);
		}
		pair_stop(&pair);
		next(1, PLX_CM_EVENT_DISCONNECTED);
		next(0, PLX_CM_EVENT_DISCONNECTED);
		pair_run(&pair, ROUNDS);
		scene_close();
	}
}

/* Before the reply the queue pair is in INIT. */
static void
a_request_ends_with_its_queue_pair(void **state)
{
	(void)state;
	scene_open(1, 2);
	request();
	next(1, PLX_CM_EVENT_REQUESTED);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(pair.side[0].qp), PLX_OK);
	pair.side[0].qp = NULL;
	pair_stop(&pair);
	next(0, PLX_CM_EVENT_ABORTED);
	scene_close();
}

static void
closing_a_connector_flushes_its_queue_pair_or_leaves_it_in_init(void **state)
{
	(void)state;
	for (int connected = 0; connected < 2; connected++) {
		scene_open(1, 2);
		if (connected)
			establish();
		else
			request();
		pair_start(&pair);
		pair_connector_destroy(connectors[0]);
		connectors[0] = NULL;
		assert_int_equal(plx_engine_qp_state(pair.side[0].qp),
				 connected ? PLX_QP_ERROR : PLX_QP_INIT);
		pair_stop(&pair);
		if (connected)
			next(1, PLX_CM_EVENT_DISCONNECTED);
		scene_close();
	}
}

static void
a_rejected_queue_pair_stays_in_init_and_may_connect_again(void **state)
{
	const struct plx_link_attr attr = attr_of();
	struct plx_link_event event;

	(void)state;
	scene_open(1, 2);
	request();
	event = next(1, PLX_CM_EVENT_REQUESTED);
	pair_start(&pair);
	assert_int_equal(plx_link_connect(connectors[0], pair.side[0].qp, &attr), PLX_STATE);
	assert_int_equal(plx_link_adopt(connectors[1], &event.cm), PLX_OK);
	assert_int_equal(plx_link_establish(connectors[1]), PLX_STATE);
	assert_int_equal(plx_link_reject(connectors[1], NULL, 0), PLX_OK);
	pair_stop(&pair);
	next(0, PLX_CM_EVENT_REJECTED);
	assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_INIT);
	establish();
	exchange();
	scene_close();
}

static void
what_is_replied_can_be_rejected_by_the_active_side(void **state)
{
	(void)state;
	scene_open(1, 2);
	request();
	accept();
	next(0, PLX_CM_EVENT_REPLIED);
	pair_start(&pair);
	assert_int_equal(plx_link_reject(connectors[0], NULL, 0), PLX_OK);
	pair_stop(&pair);
	next(1, PLX_CM_EVENT_ABORTED);
	pair_run(&pair, 10);
	assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_INIT);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_ERROR);
	scene_close();
}

/* From engine 1 to 2 to 0 and back to 1, during the grace of the connection before. */
static void
a_connector_connects_again_with_a_queue_pair_of_another_engine(void **state)
{
	static const uint32_t turns[] = {1, 2, 0, 1};
	struct pair_options options = pair_defaults(DEPTH);
	struct plx_cq *cqs[4];
	struct plx_qp *qps[4];
	const struct plx_engine_cq_config config = {.depth = DEPTH};

	(void)state;
	scene_open(0, 2);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(pair.side[0].qp), PLX_OK);
	pair_stop(&pair);
	for (uint32_t i = 0; i < PLX_COUNT_OF(turns); i++) {
		pair_start(&pair);
		pair.side[0].engine = pair.side[0].all[turns[i]];
		assert_int_equal(plx_engine_cq_create(pair.side[0].engine, &config, &cqs[i]),
				 PLX_OK);
		qps[i] = pair_qp_on(&pair, 0, &options, cqs[i], cqs[i], pair.side[0].domain);
		pair_stop(&pair);
		pair.side[0].qp = qps[i];
		establish();
		disconnect(1);
		next(0, PLX_CM_EVENT_DISCONNECTED);
		next(1, PLX_CM_EVENT_CLOSED);
		assert_int_equal(plx_engine_qp_state(qps[i]), PLX_QP_RTS);
		if (i > 0)
			assert_int_equal(plx_engine_qp_state(qps[i - 1]), PLX_QP_ERROR);
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, PLX_QP_RESET, NULL, NULL),
				 PLX_OK);
		pair_stop(&pair);
	}
	pair_start(&pair);
	for (uint32_t i = 0; i < PLX_COUNT_OF(turns); i++) {
		assert_int_equal(plx_engine_qp_destroy(qps[i]), PLX_OK);
		assert_int_equal(plx_engine_cq_destroy(cqs[i]), PLX_OK);
	}
	pair_stop(&pair);
	pair.side[0].qp = NULL;
	pair.side[0].engine = pair.side[0].all[0];
	scene_close();
}

/* ---- room ---- */

static struct engine_qp *
qp_back(const struct plx_qp *qp)
{
	return (struct engine_qp *)(uintptr_t)qp->object;
}

/* Until its receiver is polled the ring has no room. */
static void
fill(struct plx_engine *engine, uint32_t to, const struct engine_message *message)
{
	uint32_t n = 0;

	while (engine_message_send(engine, to, message))
		n++;
	assert_in_range(n, 1, MESSAGES_MAX);
}

static void
an_end_that_finds_no_room_is_sent_later(void **state)
{
	struct pair_side *b = &pair.side[1];
	struct whole_connector *idle;
	struct engine_message harmless = {.kind = ENGINE_MESSAGE_TO_RTS};

	(void)state;
	scene_open(1, 2);
	establish();
	connectors[1]->back->attr.grace_ns = 0;
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(channels[1], 99, &idle), PLX_OK);
	pair_stop(&pair);
	harmless.connector = idle->back;
	b->port.hold = true; /* the thread that polls would empty the ring, too */
	disconnect(0);
	fill(b->all[0], 2, &harmless);
	b->port.hold = false;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		pair.now += PLX_USEC;
		pair_poll_side(&pair, 0);
		plx_engine_poll(b->all[0], pair.now);
		plx_engine_poll(b->all[1], pair.now);
	}
	assert_false(plx_list_empty(&b->all[0]->gsi->ends));
	assert_int_equal(plx_engine_wake_ns(b->all[0]), 0);
	next(1, PLX_CM_EVENT_DISCONNECTED);
	pair_run(&pair, 50);
	assert_int_equal(plx_engine_qp_state(b->qp), PLX_QP_ERROR);
	pair_start(&pair);
	pair_connector_destroy(idle);
	pair_stop(&pair);
	scene_close();
}

/* A connector with a message that waits for room may be closed. */
static void
a_message_that_waits_is_forgotten_with_its_connector(void **state)
{
	struct pair_side *b = &pair.side[1];
	const struct engine_message harmless = {.kind = ENGINE_MESSAGE_FIRST_PACKET};
	struct whole_connector *closed = NULL;

	(void)state;
	scene_open(1, 2);
	establish();
	fill(b->all[2], 0, &harmless);
	/* It fails by itself, while engine 0 does not run. */
	plx_rc_fail(qp_back(b->qp)->rc, &b->all[2]->actions);
	engine_execute(b->all[2], qp_back(b->qp));
	for (uint32_t i = 0; i < 10; i++)
		plx_engine_poll(b->all[2], pair.now += PLX_USEC);
	assert_int_equal(plx_engine_qp_state(b->qp), PLX_QP_ERROR);
	assert_true(b->all[2]->link_busy);
	assert_int_equal(plx_engine_wake_ns(b->all[2]), 0);
	closed = connectors[1];
	connectors[1] = NULL;
	pair_start(&pair);
	pair_connector_destroy(closed);
	pair_stop(&pair);
	assert_false(b->all[2]->link_busy);
	next(0, PLX_CM_EVENT_DISCONNECTED);
	scene_close();
}

static void
a_failure_that_finds_no_room_is_told_later(void **state)
{
	struct pair_side *b = &pair.side[1];
	const struct engine_message harmless = {.kind = ENGINE_MESSAGE_FIRST_PACKET};

	(void)state;
	scene_open(1, 2);
	establish();
	fill(b->all[2], 0, &harmless);
	plx_rc_fail(qp_back(b->qp)->rc, &b->all[2]->actions);
	engine_execute(b->all[2], qp_back(b->qp));
	for (uint32_t i = 0; i < 10; i++)
		plx_engine_poll(b->all[2], pair.now += PLX_USEC);
	next(1, PLX_CM_EVENT_DISCONNECTED);
	next(0, PLX_CM_EVENT_DISCONNECTED);
	scene_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pairs_of_any_engines_connect_and_disconnect),
		cmocka_unit_test(without_grace_the_flush_follows_the_event),
		cmocka_unit_test(established_waits_for_the_queue_pair),
		cmocka_unit_test(the_first_packet_stands_for_a_lost_rtu),
		cmocka_unit_test(a_queue_pair_that_is_flushed_or_destroyed_ends_its_connection),
		cmocka_unit_test(a_request_ends_with_its_queue_pair),
		cmocka_unit_test(closing_a_connector_flushes_its_queue_pair_or_leaves_it_in_init),
		cmocka_unit_test(a_rejected_queue_pair_stays_in_init_and_may_connect_again),
		cmocka_unit_test(what_is_replied_can_be_rejected_by_the_active_side),
		cmocka_unit_test(a_connector_connects_again_with_a_queue_pair_of_another_engine),
		cmocka_unit_test(an_end_that_finds_no_room_is_sent_later),
		cmocka_unit_test(a_message_that_waits_is_forgotten_with_its_connector),
		cmocka_unit_test(a_failure_that_finds_no_room_is_told_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
