/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections by the communication manager, step by step, on two adapters: how each call changes
 * the queue pairs, and which events the other side receives. Start with meet(), then
 * a_connection_from_end_to_end().
 */
#include "verbs_pair.h"

#include <string.h>

static void
no_event(struct plx_event_channel *channel)
{
	struct plx_connector_event event;

	pair_settle();
	if (plx_event_channel_next(channel, &event))
		fail_msg("\"%s\" came", plx_cm_event_text(event.kind));
}

static struct pair *
meet(const struct pair_options *options)
{
	struct pair_options usual = options ? *options : pair_usual();
	struct pair *m;

	usual.unconnected = true;
	usual.channel = 16;
	m = pair_open(&usual);
	m->listener = pair_listen(&m->b, PAIR_PORT, 77);
	assert_int_equal(plx_connector_create(m->a.channel, 1, &m->a.connector), PLX_OK);
	return m;
}

/* From nothing to a request at b. */
static void
request(struct pair *m, const struct plx_connect_options *options)
{
	pair_connect(m->a.connector, m->a.qp, options);
	m->event = pair_event(m->b.channel, PLX_CM_EVENT_REQUESTED);
	m->b.connector = m->event.connector;
	assert_non_null(m->b.connector);
}

/* The complete handshake. */
static void
join(struct pair *m)
{
	struct plx_connect_options options = pair_to(2);

	request(m, &options);
	pair_accept(m->b.connector, m->b.qp, &options);
	pair_event(m->a.channel, PLX_CM_EVENT_REPLIED);
	pair_complete(m->a.connector);
	pair_event(m->b.channel, PLX_CM_EVENT_ESTABLISHED);
}

static void
talk(struct pair *m)
{
	struct side *a = &m->a, *b = &m->b;

	side_receive(b, 1, 0, 64);
	side_receive(a, 2, 0, 64);
	side_fill(a, 1024, 64, 5);
	side_fill(b, 1024, 64, 6);
	side_post(a, PLX_WR_SEND, 3, 0, 1024, 64, NULL);
	pair_expect(b->recv_cq, 1, PLX_WC_SUCCESS);
	side_post(b, PLX_WR_SEND, 4, 0, 1024, 64, NULL);
	pair_expect(a->recv_cq, 2, PLX_WC_SUCCESS);
	pair_expect(a->send_cq, 3, PLX_WC_SUCCESS);
	pair_expect(b->send_cq, 4, PLX_WC_SUCCESS);
	side_assert_filled(b, 0, 64, 5);
	side_assert_filled(a, 0, 64, 6);
}

/* ---- connecting ---- */

static void
a_connection_from_end_to_end(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);
	struct plx_connector_info seen;
	uint8_t hello[PLX_PRIVATE_CONNECT_MAX], answer[PLX_PRIVATE_ACCEPT_MAX];

	(void)state;
	memset(hello, 0x11, sizeof(hello));
	memset(answer, 0x22, sizeof(answer));
	options.private_data = hello;
	options.private_bytes = sizeof(hello);
	options.local_port = 50001;
	options.responder_resources = 3;
	options.initiator_depth = 5;
	request(m, &options);
	assert_int_equal(m->event.context, 77);
	assert_ptr_equal(m->event.listener, m->listener);
	assert_memory_equal(m->event.private_data, hello, sizeof(hello));
	assert_int_equal(m->event.private_bytes, sizeof(hello));
	assert_int_equal(m->event.info.remote_port, 50001);
	assert_int_equal(m->event.info.local_port, PAIR_PORT);
	assert_memory_equal(m->event.info.remote.v, pair_ip(1).v, 4);
	assert_memory_equal(m->event.info.local.v, pair_ip(2).v, 4);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_INIT);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_RESET);

	options.private_data = answer;
	options.private_bytes = sizeof(answer);
	options.responder_resources = 4; /* of the 5 that a wants */
	options.initiator_depth = 9;     /* of the 3 that a grants */
	pair_accept(m->b.connector, m->b.qp, &options);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_RTR);
	m->event = pair_event(m->a.channel, PLX_CM_EVENT_REPLIED);
	assert_int_equal(m->event.context, 1);
	assert_ptr_equal(m->event.connector, m->a.connector);
	assert_memory_equal(m->event.private_data, answer, sizeof(answer));
	assert_int_equal(m->event.info.initiator_depth, 4);
	assert_int_equal(m->event.info.responder_resources, 3);
	assert_int_equal(m->event.info.rnr_retry, 6);
	assert_int_equal(plx_connector_query(m->a.connector, &seen), PLX_OK);
	assert_int_equal(seen.remote_port, PAIR_PORT);
	assert_int_equal(seen.local_port, 50001);
	pair_complete(m->a.connector);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_RTS);
	pair_event(m->b.channel, PLX_CM_EVENT_ESTABLISHED);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_RTS);
	talk(m);

	assert_int_equal(plx_disconnect(m->a.connector), PLX_OK);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_ERROR);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->a.channel, PLX_CM_EVENT_CLOSED);
	/* closed, and the rest of the grace period has ended, too */
	assert_int_equal(plx_disconnect(m->b.connector), PLX_STATE);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_ERROR);
	assert_int_equal(plx_disconnect(m->a.connector), PLX_STATE);
	pair_close(m);
}

static void
the_passive_side_may_disconnect(void **state)
{
	struct pair *m = meet(NULL);

	(void)state;
	join(m);
	talk(m);
	assert_int_equal(plx_disconnect(m->b.connector), PLX_OK);
	pair_event(m->a.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->b.channel, PLX_CM_EVENT_CLOSED);
	/* 10 ms later, and without our doing */
	pair_until(pair_state(m->a.qp) == PLX_QP_ERROR);
	pair_close(m);
}

/* Both at once: each has disconnected, so each gets the event that it is over. */
static void
crossing_disconnects_close_both(void **state)
{
	struct pair *m = meet(NULL);

	(void)state;
	join(m);
	assert_int_equal(plx_disconnect(m->a.connector), PLX_OK);
	(void)!plx_disconnect(m->b.connector); /* STATE when a was faster */
	pair_until(pair_state(m->b.qp) == PLX_QP_ERROR);
	pair_until(pair_state(m->a.qp) == PLX_QP_ERROR);
	pair_event(m->a.channel, PLX_CM_EVENT_CLOSED);
	pair_until(plx_event_channel_next(m->b.channel, &m->event));
	assert_true(m->event.kind == PLX_CM_EVENT_CLOSED ||
		    m->event.kind == PLX_CM_EVENT_DISCONNECTED);
	no_event(m->a.channel);
	no_event(m->b.channel);
	pair_close(m);
}

/* docs/nd2.md, Connections: the program learns of the end first, then of flushed requests. */
static void
disconnected_comes_before_what_is_flushed(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_wc wc;

	(void)state;
	join(m);
	side_receive(&m->b, 9, 0, 64);
	assert_int_equal(plx_disconnect(m->a.connector), PLX_OK);
	pair_until(plx_cq_poll(m->b.recv_cq, &wc, 1) == 1);
	assert_int_equal(wc.status, PLX_WC_FLUSHED);
	assert_true(plx_event_channel_next(m->b.channel, &m->event));
	assert_int_equal(m->event.kind, PLX_CM_EVENT_DISCONNECTED);
	pair_close(m);
}

/* keep_posted: the requests of a queue pair are its own program's, whatever the peer does. */
static void
what_is_kept_posted_outlives_the_peers_disconnect(void **state)
{
	struct plx_connect_options options = pair_to(2);
	struct pair *m = meet(NULL);
	uint64_t until;

	(void)state;
	options.keep_posted = true;
	request(m, &options);
	pair_accept(m->b.connector, m->b.qp, &options);
	pair_event(m->a.channel, PLX_CM_EVENT_REPLIED);
	pair_complete(m->a.connector);
	pair_event(m->b.channel, PLX_CM_EVENT_ESTABLISHED);
	side_receive(&m->b, 9, 0, 64);
	assert_int_equal(plx_disconnect(m->a.connector), PLX_OK);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->a.channel, PLX_CM_EVENT_CLOSED);
	until = test_ms() + 50; /* several times the usual grace */
	pair_until(test_ms() > until);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_RTS);
	assert_int_equal(plx_disconnect(m->b.connector), PLX_STATE);
	assert_int_equal(pair_state(m->b.qp), PLX_QP_ERROR);
	pair_expect(m->b.recv_cq, 9, PLX_WC_FLUSHED);
	pair_close(m);
}

/* ---- refusals ---- */

static void
a_rejected_queue_pair_is_as_before(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);
	uint8_t no[PLX_PRIVATE_REJECT_MAX];

	(void)state;
	memset(no, 0x33, sizeof(no));
	request(m, &options);
	side_receive(&m->a, 41, 0, 64);
	assert_int_equal(plx_reject(m->b.connector, no, sizeof(no) + 1), PLX_TOO_LONG);
	assert_int_equal(plx_reject(m->b.connector, no, sizeof(no)), PLX_OK);
	m->event = pair_event(m->a.channel, PLX_CM_EVENT_REJECTED);
	assert_int_equal(m->event.reason, PLX_CM_REASON_CONSUMER);
	assert_memory_equal(m->event.private_data, no, sizeof(no));
	assert_int_equal(pair_state(m->a.qp), PLX_QP_INIT);
	pair_expect_none(m->a.recv_cq);
	assert_int_equal(plx_connector_destroy(m->b.connector), PLX_OK);
	/* The same connector and queue pair once more; the receive is still there. */
	join(m);
	side_fill(&m->b, 1024, 64, 8);
	side_post(&m->b, PLX_WR_SEND, 1, 0, 1024, 64, NULL);
	pair_expect(m->a.recv_cq, 41, PLX_WC_SUCCESS);
	side_assert_filled(&m->a, 0, 64, 8);
	pair_close(m);
}

static void
nobody_listens_is_said_within_10_ms(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);
	uint64_t late = test_ns() + TEST_PATIENCE_NS, took = UINT64_MAX;

	(void)state;
	options.remote_port = PAIR_PORT + 1;
	/* The neighbours know each other after the first time. With a worker the thread may wait
	 * for its core; inline it tries again when the core was taken away meanwhile: an answer
	 * by a timer would never be in time. */
	for (int i = 0; i < 2 || (pair_is_inline() && took >= 10 * PLX_MSEC); i++) {
		uint64_t start = test_ns();

		assert_true(start < late);
		pair_connect(m->a.connector, m->a.qp, &options);
		m->event = pair_event(m->a.channel, PLX_CM_EVENT_REJECTED);
		assert_int_equal(m->event.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
		took = test_ns() - start;
	}
	pair_close(m);
}

static void
the_active_side_may_refuse_the_reply(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);

	(void)state;
	request(m, &options);
	pair_accept(m->b.connector, m->b.qp, &options);
	pair_event(m->a.channel, PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_reject(m->a.connector, NULL, 0), PLX_OK);
	pair_event(m->b.channel, PLX_CM_EVENT_ABORTED);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_INIT);
	pair_until(pair_state(m->b.qp) == PLX_QP_ERROR);
	pair_close(m);
}

static void
an_address_that_nobody_has_is_unreachable(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);

	(void)state;
	options.remote = pair_ip(99);
	pair_connect(m->a.connector, m->a.qp, &options);
	m->event = pair_event(m->a.channel, PLX_CM_EVENT_UNREACHABLE);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_INIT);
	pair_close(m);
}

#define REFUSED(wanted, words, ...)                                                              \
	do {                                                                                     \
		struct plx_connect_options options = pair_to(2);                                 \
		struct plx_why said = {""};                                                      \
                                                                                                 \
		__VA_ARGS__;                                                                     \
		assert_int_equal(plx_connect(m->a.connector, m->a.qp, &options, &said), wanted); \
		if (!strstr(said.text, words))                                                   \
			fail_msg("\"%s\" does not say \"%s\"", said.text, words);                \
	} while (0)

static void
what_is_wrong_is_said(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connector_info none;
	struct plx_why why = {""};

	(void)state;
	REFUSED(PLX_TOO_LONG, "57 bytes of private data", options.private_data = "",
		options.private_bytes = 57);
	REFUSED(PLX_INVALID, "port 0", options.remote_port = 0);
	REFUSED(PLX_INVALID, "path MTU 1000", options.path_mtu = 1000);
	REFUSED(PLX_INVALID, "retry is 8", options.retry = 8);
	REFUSED(PLX_UNREACHABLE, "192.0.2.1",
		options.remote = (struct plx_ip){.version = 4, .v = {192, 0, 2, 1}});
	assert_int_equal(plx_establish(m->a.connector, &why), PLX_STATE);
	assert_int_equal(plx_reject(m->a.connector, NULL, 0), PLX_STATE);
	assert_int_equal(plx_disconnect(m->a.connector), PLX_STATE);
	assert_int_equal(plx_connector_query(m->a.connector, &none), PLX_STATE);
	assert_int_equal(plx_event_channel_destroy(m->a.channel), PLX_BUSY);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_RESET);
	pair_close(m);
}

static void
a_port_is_listened_on_once(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_listen_options listen = {.port = PAIR_PORT};
	struct plx_listener *second;
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(plx_listen(m->b.channel, &listen, &second, &why), PLX_BUSY);
	assert_non_null(strstr(why.text, "4242"));
	listen.local = pair_ip(1);
	assert_int_equal(plx_listen(m->b.channel, &listen, &second, &why), PLX_INVALID);
	listen = (struct plx_listen_options){.port = 0};
	assert_int_equal(plx_listen(m->b.channel, &listen, &second, &why), PLX_INVALID);
	assert_int_equal(plx_listener_destroy(m->listener), PLX_OK);
	listen.port = PAIR_PORT;
	assert_int_equal(plx_listen(m->b.channel, &listen, &m->listener, &why), PLX_OK);
	pair_close(m);
}

/* ---- ends in every state ---- */

static void
destroying_gives_up_whatever_there_is(void **state)
{
	struct plx_connect_options options = pair_to(2);
	struct pair *m;

	(void)state;
	/* pending: the request is withdrawn, or finds no listener any more */
	m = meet(NULL);
	request(m, &options);
	assert_int_equal(plx_connector_destroy(m->a.connector), PLX_OK);
	m->a.connector = NULL;
	pair_event(m->b.channel, PLX_CM_EVENT_ABORTED);
	assert_int_equal(pair_state(m->a.qp), PLX_QP_INIT);
	pair_close(m);
	/* requested: rejected */
	m = meet(NULL);
	request(m, &options);
	assert_int_equal(plx_connector_destroy(m->b.connector), PLX_OK);
	m->b.connector = NULL;
	pair_event(m->a.channel, PLX_CM_EVENT_REJECTED);
	pair_close(m);
	/* living: disconnected, and flushed */
	m = meet(NULL);
	join(m);
	side_receive(&m->a, 5, 0, 64);
	assert_int_equal(plx_connector_destroy(m->a.connector), PLX_OK);
	m->a.connector = NULL;
	pair_expect(m->a.recv_cq, 5, PLX_WC_FLUSHED);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	no_event(m->a.channel);
	pair_close(m);
}

static void
a_queue_pair_that_goes_disconnects(void **state)
{
	struct pair *m = meet(NULL);

	(void)state;
	join(m);
	assert_int_equal(plx_qp_destroy(m->a.qp), PLX_OK);
	m->a.qp = NULL;
	pair_event(m->a.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_close(m);
}

static void
a_queue_pair_that_fails_disconnects(void **state)
{
	struct pair *m = meet(NULL);
	struct beyond nowhere = {.va = 4096, .rkey = {0x1234}};

	(void)state;
	join(m);
	side_post(&m->a, PLX_WR_WRITE, 1, 0, 0, 64, &nowhere);
	pair_expect(m->a.send_cq, 1, PLX_WC_REMOTE_ACCESS);
	pair_event(m->a.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_close(m);
}

static void
a_queue_pair_that_is_flushed_disconnects(void **state)
{
	struct pair *m = meet(NULL);

	(void)state;
	join(m);
	side_receive(&m->a, 1, 0, 64);
	assert_int_equal(plx_qp_flush(m->a.qp), PLX_OK);
	pair_expect(m->a.recv_cq, 1, PLX_WC_FLUSHED);
	pair_event(m->a.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(m->b.channel, PLX_CM_EVENT_DISCONNECTED);
	pair_close(m);
}

static void
an_event_of_what_is_gone_is_dropped(void **state)
{
	struct pair *m = meet(NULL);
	struct plx_connect_options options = pair_to(2);

	(void)state;
	/* The request is queued in the channel when its listener is destroyed: the peer is
	 * rejected. */
	pair_connect(m->a.connector, m->a.qp, &options);
	pair_settle();
	assert_int_equal(plx_listener_destroy(m->listener), PLX_OK);
	m->listener = NULL;
	no_event(m->b.channel);
	pair_event(m->a.channel, PLX_CM_EVENT_REJECTED);
	pair_close(m);
}

/* ---- messages that find no receive ---- */

static void
a_send_without_a_receive_fails_after_a_second(void **state)
{
	struct pair *m = meet(NULL);
	uint64_t start, took;

	(void)state;
	join(m);
	start = test_ns();
	side_post(&m->a, PLX_WR_SEND, 1, 0, 0, 64, NULL);
	pair_expect(m->a.send_cq, 1, PLX_WC_RNR_RETRY_EXCEEDED);
	took = test_ns() - start;
	/* six waits are 1.47 s; the rest is for a busy machine, or one that stops for seconds */
	assert_in_range(took, 1 * PLX_SEC, 10 * PLX_SEC);
	pair_close(m);
}

static void
with_a_shared_queue_it_waits(void **state)
{
	struct pair_options options = pair_usual();
	struct pair *m;
	uint64_t until;
	struct plx_wc wc;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = 8, .sges = 1};
	m = meet(&options);
	join(m);
	side_post(&m->a, PLX_WR_SEND, 1, 0, 0, 64, NULL);
	for (until = test_ns() + 2 * PLX_SEC; test_ns() < until; pair_cycle())
		assert_int_equal(plx_cq_poll(m->a.send_cq, &wc, 1), 0);
	side_receive(&m->b, 2, 4096, 64);
	pair_expect(m->b.recv_cq, 2, PLX_WC_SUCCESS);
	pair_expect(m->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_close(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_connection_from_end_to_end),
		PAIR_TEST(the_passive_side_may_disconnect),
		PAIR_TEST(crossing_disconnects_close_both),
		PAIR_TEST(disconnected_comes_before_what_is_flushed),
		PAIR_TEST(what_is_kept_posted_outlives_the_peers_disconnect),
		PAIR_TEST(a_rejected_queue_pair_is_as_before),
		PAIR_TEST(nobody_listens_is_said_within_10_ms),
		PAIR_TEST(the_active_side_may_refuse_the_reply),
		PAIR_TEST(an_address_that_nobody_has_is_unreachable),
		PAIR_TEST(what_is_wrong_is_said),
		PAIR_TEST(a_port_is_listened_on_once),
		PAIR_TEST(destroying_gives_up_whatever_there_is),
		PAIR_TEST(a_queue_pair_that_goes_disconnects),
		PAIR_TEST(a_queue_pair_that_fails_disconnects),
		PAIR_TEST(a_queue_pair_that_is_flushed_disconnects),
		PAIR_TEST(an_event_of_what_is_gone_is_dropped),
		PAIR_TEST(a_send_without_a_receive_fails_after_a_second),
		PAIR_TEST(with_a_shared_queue_it_waits),
	};

	return pair_run_all("connector", tests, sizeof(tests) / sizeof(tests[0]));
}
