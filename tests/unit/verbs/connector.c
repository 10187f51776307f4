/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections by the communication manager, step by step, on two adapters: what each call does to
 * the queue pairs and what the other side is told.
 * Start with meet(), then a_connection_from_end_to_end().
 */
#include "verbs_pair.h"

#include <string.h>

enum {
	PORT = 4242,
};

/* Two ends with a channel each; b listens. */
struct meeting {
	struct duo *duo;
	struct plx_channel *ca, *cb;
	struct plx_listener *listener;
	struct plx_connector *a, *b;
	struct plx_channel_event event; /* the last one */
};

static void
no_event(struct plx_channel *channel)
{
	struct plx_channel_event event;

	duo_settle();
	if (plx_channel_next(channel, &event))
		fail_msg("\"%s\" came", plx_cm_event_text(event.kind));
}

static struct meeting
meet(const struct duo_options *options)
{
	struct duo_options usual = options ? *options : duo_usual();
	struct plx_listen_options listen = {.port = PORT, .context = 77};
	struct plx_why why = {""};
	struct meeting m;

	memset(&m, 0, sizeof(m));
	usual.unconnected = true;
	m.duo = duo_open(&usual);
	assert_int_equal(plx_channel_create(m.duo->a.adapter, 16, &m.ca), PLX_OK);
	assert_int_equal(plx_channel_create(m.duo->b.adapter, 16, &m.cb), PLX_OK);
	if (plx_listen(m.cb, &listen, &m.listener, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_connector_create(m.ca, 1, &m.a), PLX_OK);
	return m;
}

static void
part(struct meeting *m)
{
	if (m->a)
		assert_int_equal(plx_connector_destroy(m->a), PLX_OK);
	if (m->b)
		assert_int_equal(plx_connector_destroy(m->b), PLX_OK);
	if (m->listener)
		assert_int_equal(plx_listener_destroy(m->listener), PLX_OK);
	assert_int_equal(plx_channel_destroy(m->ca), PLX_OK);
	assert_int_equal(plx_channel_destroy(m->cb), PLX_OK);
	duo_close(m->duo);
}

static struct plx_connect_options
to_b(void)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = duo_ip(2);
	options.remote_port = PORT;
	return options;
}

static void
ask(struct meeting *m, const struct plx_connect_options *options)
{
	struct plx_why why = {""};

	if (plx_connect(m->a, m->duo->a.qp, options, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

/* From nothing to a request at b. */
static void
request(struct meeting *m, const struct plx_connect_options *options)
{
	ask(m, options);
	m->event = duo_event(m->cb, PLX_CM_EVENT_REQUESTED);
	m->b = m->event.connector;
	assert_non_null(m->b);
}

static void
accept_it(struct meeting *m, const struct plx_connect_options *options)
{
	struct plx_why why = {""};

	if (plx_accept(m->b, m->duo->b.qp, options, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

static void
complete_it(struct meeting *m)
{
	struct plx_why why = {""};

	if (plx_complete(m->a, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

/* All the way. */
static void
join(struct meeting *m)
{
	struct plx_connect_options options = to_b();

	request(m, &options);
	accept_it(m, &options);
	duo_event(m->ca, PLX_CM_EVENT_REPLIED);
	complete_it(m);
	duo_event(m->cb, PLX_CM_EVENT_ESTABLISHED);
}

static void
talk(struct meeting *m)
{
	struct end *a = &m->duo->a, *b = &m->duo->b;

	end_receive(b, 1, 0, 64);
	end_receive(a, 2, 0, 64);
	end_fill(a, 1024, 64, 5);
	end_fill(b, 1024, 64, 6);
	end_post(a, PLX_WR_SEND, 3, 0, 1024, 64, NULL);
	duo_expect(b->recv_cq, 1, PLX_WC_SUCCESS);
	end_post(b, PLX_WR_SEND, 4, 0, 1024, 64, NULL);
	duo_expect(a->recv_cq, 2, PLX_WC_SUCCESS);
	duo_expect(a->send_cq, 3, PLX_WC_SUCCESS);
	duo_expect(b->send_cq, 4, PLX_WC_SUCCESS);
	end_assert_filled(b, 0, 64, 5);
	end_assert_filled(a, 0, 64, 6);
}

/* ---- the usual way ------------------------------------------------------------------------------
 */

static void
a_connection_from_end_to_end(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();
	struct plx_connection seen;
	uint8_t hello[PLX_PRIVATE_CONNECT_MAX], answer[PLX_PRIVATE_ACCEPT_MAX];

	(void)state;
	memset(hello, 0x11, sizeof(hello));
	memset(answer, 0x22, sizeof(answer));
	options.private_data = hello;
	options.private_bytes = sizeof(hello);
	options.local_port = 50001;
	options.responder_res = 3;
	options.rd_atomic = 5;
	request(&m, &options);
	assert_int_equal(m.event.context, 77);
	assert_ptr_equal(m.event.listener, m.listener);
	assert_memory_equal(m.event.private_data, hello, sizeof(hello));
	assert_int_equal(m.event.private_bytes, sizeof(hello));
	assert_int_equal(m.event.connection.remote_port, 50001);
	assert_int_equal(m.event.connection.local_port, PORT);
	assert_memory_equal(m.event.connection.remote.v, duo_ip(1).v, 4);
	assert_memory_equal(m.event.connection.local.v, duo_ip(2).v, 4);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_INIT);
	assert_int_equal(duo_state(m.duo->b.qp), PLX_QP_RESET);

	options.private_data = answer;
	options.private_bytes = sizeof(answer);
	options.responder_res = 4; /* of the 5 that a wants */
	options.rd_atomic = 9;     /* of the 3 that a gives */
	accept_it(&m, &options);
	assert_int_equal(duo_state(m.duo->b.qp), PLX_QP_RTR);
	m.event = duo_event(m.ca, PLX_CM_EVENT_REPLIED);
	assert_int_equal(m.event.context, 1);
	assert_ptr_equal(m.event.connector, m.a);
	assert_memory_equal(m.event.private_data, answer, sizeof(answer));
	assert_int_equal(m.event.connection.rd_atomic, 4);
	assert_int_equal(m.event.connection.responder_res, 3);
	assert_int_equal(m.event.connection.rnr_retry, 6);
	assert_int_equal(plx_connector_query(m.a, &seen), PLX_OK);
	assert_int_equal(seen.remote_port, PORT);
	assert_int_equal(seen.local_port, 50001);
	complete_it(&m);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_RTS);
	duo_event(m.cb, PLX_CM_EVENT_ESTABLISHED);
	assert_int_equal(duo_state(m.duo->b.qp), PLX_QP_RTS);
	talk(&m);

	assert_int_equal(plx_disconnect(m.a), PLX_OK);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_ERROR);
	duo_event(m.cb, PLX_CM_EVENT_DISCONNECTED);
	duo_event(m.ca, PLX_CM_EVENT_CLOSED);
	/* over, and what was left of the grace, too */
	assert_int_equal(plx_disconnect(m.b), PLX_STATE);
	assert_int_equal(duo_state(m.duo->b.qp), PLX_QP_ERROR);
	assert_int_equal(plx_disconnect(m.a), PLX_STATE);
	part(&m);
}

static void
the_passive_side_may_disconnect(void **state)
{
	struct meeting m = meet(NULL);

	(void)state;
	join(&m);
	talk(&m);
	assert_int_equal(plx_disconnect(m.b), PLX_OK);
	duo_event(m.ca, PLX_CM_EVENT_DISCONNECTED);
	duo_event(m.cb, PLX_CM_EVENT_CLOSED);
	/* 10 ms later, and without our doing */
	duo_until(duo_state(m.duo->a.qp) == PLX_QP_ERROR);
	part(&m);
}

/* Both at once: each has asked, so each is told that it is over. */
static void
crossing_disconnects_close_both(void **state)
{
	struct meeting m = meet(NULL);

	(void)state;
	join(&m);
	assert_int_equal(plx_disconnect(m.a), PLX_OK);
	(void)!plx_disconnect(m.b); /* STATE when a was faster */
	duo_until(duo_state(m.duo->b.qp) == PLX_QP_ERROR);
	duo_until(duo_state(m.duo->a.qp) == PLX_QP_ERROR);
	duo_event(m.ca, PLX_CM_EVENT_CLOSED);
	duo_until(plx_channel_next(m.cb, &m.event));
	assert_true(m.event.kind == PLX_CM_EVENT_CLOSED ||
		    m.event.kind == PLX_CM_EVENT_DISCONNECTED);
	no_event(m.ca);
	no_event(m.cb);
	part(&m);
}

/* docs/nd2.md, Connections: the program learns of the end first, then of what is flushed. */
static void
disconnected_comes_before_what_is_flushed(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_wc wc;

	(void)state;
	join(&m);
	end_receive(&m.duo->b, 9, 0, 64);
	assert_int_equal(plx_disconnect(m.a), PLX_OK);
	duo_until(plx_cq_poll(m.duo->b.recv_cq, &wc, 1) == 1);
	assert_int_equal(wc.status, PLX_WC_FLUSHED);
	assert_true(plx_channel_next(m.cb, &m.event));
	assert_int_equal(m.event.kind, PLX_CM_EVENT_DISCONNECTED);
	part(&m);
}

/* ---- refusals -----------------------------------------------------------------------------------
 */

static void
a_rejected_queue_pair_is_as_before(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();
	uint8_t no[PLX_PRIVATE_REJECT_MAX];

	(void)state;
	memset(no, 0x33, sizeof(no));
	request(&m, &options);
	end_receive(&m.duo->a, 41, 0, 64);
	assert_int_equal(plx_reject(m.b, no, sizeof(no) + 1), PLX_TOO_LONG);
	assert_int_equal(plx_reject(m.b, no, sizeof(no)), PLX_OK);
	m.event = duo_event(m.ca, PLX_CM_EVENT_REJECTED);
	assert_int_equal(m.event.reason, PLX_CM_REASON_CONSUMER);
	assert_memory_equal(m.event.private_data, no, sizeof(no));
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_INIT);
	duo_expect_none(m.duo->a.recv_cq);
	assert_int_equal(plx_connector_destroy(m.b), PLX_OK);
	/* The same connector and queue pair once more; the receive is still there. */
	join(&m);
	end_fill(&m.duo->b, 1024, 64, 8);
	end_post(&m.duo->b, PLX_WR_SEND, 1, 0, 1024, 64, NULL);
	duo_expect(m.duo->a.recv_cq, 41, PLX_WC_SUCCESS);
	end_assert_filled(&m.duo->a, 0, 64, 8);
	part(&m);
}

static void
nobody_listens_is_said_within_10_ms(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();
	uint64_t late = test_ns() + TEST_PATIENCE_NS, took = UINT64_MAX;

	(void)state;
	options.remote_port = PORT + 1;
	/* The neighbours know each other after the first time. With a worker the thread may wait
	 * for its core; inline it is asked again when the core was taken away meanwhile: who
	 * answered by a timer would never be in time. */
	for (int i = 0; i < 2 || (duo_is_inline() && took >= 10 * PLX_MSEC); i++) {
		uint64_t start = test_ns();

		assert_true(start < late);
		ask(&m, &options);
		m.event = duo_event(m.ca, PLX_CM_EVENT_REJECTED);
		assert_int_equal(m.event.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
		took = test_ns() - start;
	}
	part(&m);
}

static void
the_active_side_may_refuse_the_reply(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();

	(void)state;
	request(&m, &options);
	accept_it(&m, &options);
	duo_event(m.ca, PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_reject(m.a, NULL, 0), PLX_OK);
	duo_event(m.cb, PLX_CM_EVENT_ABORTED);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_INIT);
	duo_until(duo_state(m.duo->b.qp) == PLX_QP_ERROR);
	part(&m);
}

static void
an_address_that_nobody_has_is_unreachable(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();

	(void)state;
	options.remote = duo_ip(99);
	ask(&m, &options);
	m.event = duo_event(m.ca, PLX_CM_EVENT_UNREACHABLE);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_INIT);
	part(&m);
}

#define REFUSED(wanted, words, ...)                                                       \
	do {                                                                              \
		struct plx_connect_options options = to_b();                              \
		struct plx_why said = {""};                                               \
                                                                                          \
		__VA_ARGS__;                                                              \
		assert_int_equal(plx_connect(m.a, m.duo->a.qp, &options, &said), wanted); \
		if (!strstr(said.text, words))                                            \
			fail_msg("\"%s\" does not say \"%s\"", said.text, words);         \
	} while (0)

static void
what_is_wrong_is_said(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connection none;
	struct plx_why why = {""};

	(void)state;
	REFUSED(PLX_TOO_LONG, "57 bytes of private data", options.private_data = "",
		options.private_bytes = 57);
	REFUSED(PLX_INVALID, "port 0", options.remote_port = 0);
	REFUSED(PLX_INVALID, "path MTU 1000", options.path_mtu = 1000);
	REFUSED(PLX_INVALID, "retry is 8", options.retry = 8);
	REFUSED(PLX_UNREACHABLE, "192.0.2.1",
		options.remote = (struct plx_ip){.version = 4, .v = {192, 0, 2, 1}});
	assert_int_equal(plx_complete(m.a, &why), PLX_STATE);
	assert_int_equal(plx_reject(m.a, NULL, 0), PLX_STATE);
	assert_int_equal(plx_disconnect(m.a), PLX_STATE);
	assert_int_equal(plx_connector_query(m.a, &none), PLX_STATE);
	assert_int_equal(plx_channel_destroy(m.ca), PLX_BUSY);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_RESET);
	part(&m);
}

static void
a_port_is_listened_on_once(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_listen_options listen = {.port = PORT};
	struct plx_listener *second;
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(plx_listen(m.cb, &listen, &second, &why), PLX_BUSY);
	assert_non_null(strstr(why.text, "4242"));
	listen.local = duo_ip(1);
	assert_int_equal(plx_listen(m.cb, &listen, &second, &why), PLX_INVALID);
	listen = (struct plx_listen_options){.port = 0};
	assert_int_equal(plx_listen(m.cb, &listen, &second, &why), PLX_INVALID);
	assert_int_equal(plx_listener_destroy(m.listener), PLX_OK);
	listen.port = PORT;
	assert_int_equal(plx_listen(m.cb, &listen, &m.listener, &why), PLX_OK);
	part(&m);
}

/* ---- ends in every state ------------------------------------------------------------------------
 */

static void
destroying_gives_up_whatever_there_is(void **state)
{
	struct plx_connect_options options = to_b();
	struct meeting m;

	(void)state;
	/* asked: the request is withdrawn, or finds nobody any more */
	m = meet(NULL);
	request(&m, &options);
	assert_int_equal(plx_connector_destroy(m.a), PLX_OK);
	m.a = NULL;
	duo_event(m.cb, PLX_CM_EVENT_ABORTED);
	assert_int_equal(duo_state(m.duo->a.qp), PLX_QP_INIT);
	part(&m);
	/* requested: rejected */
	m = meet(NULL);
	request(&m, &options);
	assert_int_equal(plx_connector_destroy(m.b), PLX_OK);
	m.b = NULL;
	duo_event(m.ca, PLX_CM_EVENT_REJECTED);
	part(&m);
	/* living: disconnected, and flushed */
	m = meet(NULL);
	join(&m);
	end_receive(&m.duo->a, 5, 0, 64);
	assert_int_equal(plx_connector_destroy(m.a), PLX_OK);
	m.a = NULL;
	duo_expect(m.duo->a.recv_cq, 5, PLX_WC_FLUSHED);
	duo_event(m.cb, PLX_CM_EVENT_DISCONNECTED);
	no_event(m.ca);
	part(&m);
}

static void
a_queue_pair_that_goes_disconnects(void **state)
{
	struct meeting m = meet(NULL);

	(void)state;
	join(&m);
	assert_int_equal(plx_qp_destroy(m.duo->a.qp), PLX_OK);
	m.duo->a.qp = NULL;
	duo_event(m.ca, PLX_CM_EVENT_DISCONNECTED);
	duo_event(m.cb, PLX_CM_EVENT_DISCONNECTED);
	part(&m);
}

static void
a_queue_pair_that_fails_disconnects(void **state)
{
	struct meeting m = meet(NULL);
	struct beyond nowhere = {.va = 4096, .rkey = {0x1234}};

	(void)state;
	join(&m);
	end_post(&m.duo->a, PLX_WR_WRITE, 1, 0, 0, 64, &nowhere);
	duo_expect(m.duo->a.send_cq, 1, PLX_WC_REMOTE_ACCESS);
	duo_event(m.ca, PLX_CM_EVENT_DISCONNECTED);
	duo_event(m.cb, PLX_CM_EVENT_DISCONNECTED);
	part(&m);
}

static void
a_queue_pair_that_is_flushed_disconnects(void **state)
{
	struct meeting m = meet(NULL);

	(void)state;
	join(&m);
	end_receive(&m.duo->a, 1, 0, 64);
	assert_int_equal(plx_qp_flush(m.duo->a.qp), PLX_OK);
	duo_expect(m.duo->a.recv_cq, 1, PLX_WC_FLUSHED);
	duo_event(m.ca, PLX_CM_EVENT_DISCONNECTED);
	duo_event(m.cb, PLX_CM_EVENT_DISCONNECTED);
	part(&m);
}

static void
an_event_of_what_is_gone_is_dropped(void **state)
{
	struct meeting m = meet(NULL);
	struct plx_connect_options options = to_b();

	(void)state;
	/* The request lies in the channel when its listener goes: the peer is turned away. */
	ask(&m, &options);
	duo_settle();
	assert_int_equal(plx_listener_destroy(m.listener), PLX_OK);
	m.listener = NULL;
	no_event(m.cb);
	duo_event(m.ca, PLX_CM_EVENT_REJECTED);
	part(&m);
}

/* ---- messages that find no receive --------------------------------------------------------------
 */

static void
a_send_without_a_receive_fails_after_a_second(void **state)
{
	struct meeting m = meet(NULL);
	uint64_t start, took;

	(void)state;
	join(&m);
	start = test_ns();
	end_post(&m.duo->a, PLX_WR_SEND, 1, 0, 0, 64, NULL);
	duo_expect(m.duo->a.send_cq, 1, PLX_WC_RNR_RETRY_EXCEEDED);
	took = test_ns() - start;
	/* six waits are 1.47 s; the rest is for a machine that is busy with something else, or
	 * stands still for seconds */
	assert_in_range(took, 1 * PLX_SEC, 10 * PLX_SEC);
	part(&m);
}

static void
with_a_shared_queue_it_waits(void **state)
{
	struct duo_options options = duo_usual();
	struct meeting m;
	uint64_t until;
	struct plx_wc wc;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = 8, .sges = 1};
	m = meet(&options);
	join(&m);
	end_post(&m.duo->a, PLX_WR_SEND, 1, 0, 0, 64, NULL);
	for (until = test_ns() + 2 * PLX_SEC; test_ns() < until; duo_cycle())
		assert_int_equal(plx_cq_poll(m.duo->a.send_cq, &wc, 1), 0);
	end_receive(&m.duo->b, 2, 4096, 64);
	duo_expect(m.duo->b.recv_cq, 2, PLX_WC_SUCCESS);
	duo_expect(m.duo->a.send_cq, 1, PLX_WC_SUCCESS);
	part(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		DUO_TEST(a_connection_from_end_to_end),
		DUO_TEST(the_passive_side_may_disconnect),
		DUO_TEST(crossing_disconnects_close_both),
		DUO_TEST(disconnected_comes_before_what_is_flushed),
		DUO_TEST(a_rejected_queue_pair_is_as_before),
		DUO_TEST(nobody_listens_is_said_within_10_ms),
		DUO_TEST(the_active_side_may_refuse_the_reply),
		DUO_TEST(an_address_that_nobody_has_is_unreachable),
		DUO_TEST(what_is_wrong_is_said),
		DUO_TEST(a_port_is_listened_on_once),
		DUO_TEST(destroying_gives_up_whatever_there_is),
		DUO_TEST(a_queue_pair_that_goes_disconnects),
		DUO_TEST(a_queue_pair_that_fails_disconnects),
		DUO_TEST(a_queue_pair_that_is_flushed_disconnects),
		DUO_TEST(an_event_of_what_is_gone_is_dropped),
		DUO_TEST(a_send_without_a_receive_fails_after_a_second),
		DUO_TEST(with_a_shared_queue_it_waits),
	};

	return duo_run("connector", tests, sizeof(tests) / sizeof(tests[0]));
}
