/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs: the options they accept, what each state allows, queries and counters, and how
 * retries end when the peer has no receive or is gone. Start anywhere.
 */
#include "verbs_pair.h"

#include <string.h>

enum {
	FLUSHED_MANY =
		300, /* more than PAIR_CQ, and than the engine fetches from a ring in one turn */
};

static void
assert_refused(struct pair *pair, const struct plx_qp_options *options, enum plx_status status,
	       const char *word)
{
	struct plx_why why = {""};
	struct plx_qp *qp = NULL;

	assert_int_equal(plx_qp_create(pair->a.pd, options, &qp, &why), status);
	assert_null(qp);
	if (!strstr(why.text, word))
		fail_msg("\"%s\" does not say \"%s\"", why.text, word);
	assert_int_equal(plx_qp_create(pair->a.pd, options, &qp, NULL), status);
}

static void
options_out_of_range_are_refused_with_a_sentence_that_names_them(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_qp_options good = {.send_cq = pair->a.send_cq,
					    .recv_cq = pair->a.recv_cq,
					    .sq_depth = 1,
					    .rq_depth = 1};
	struct plx_qp_options bad;

	(void)state;
#define REFUSED(field, value_, word)                           \
	do {                                                   \
		bad = good;                                    \
		bad.field = value_;                            \
		assert_refused(pair, &bad, PLX_INVALID, word); \
	} while (0)
	REFUSED(send_cq, NULL, "send queue");
	REFUSED(recv_cq, NULL, "receive queue");
	REFUSED(recv_cq, pair->b.recv_cq, "adapter");
	REFUSED(sq_depth, 0, "sq_depth is 0; give 1 to 32768");
	REFUSED(sq_depth, PLX_QUEUE_DEPTH_MAX + 1, "sq_depth is 32769");
	REFUSED(rq_depth, 0, "rq_depth is 0");
	REFUSED(rq_depth, PLX_QUEUE_DEPTH_MAX + 1, "rq_depth");
	REFUSED(sq_sges, PLX_SGE_MAX + 1, "sq_sges is 17; give 0 to 16");
	REFUSED(rq_sges, PLX_SGE_MAX + 1, "rq_sges");
	REFUSED(inline_bytes, PLX_INLINE_MAX + 1, "inline_bytes is 1025");
	REFUSED(responder_resources, PLX_RD_ATOMIC_MAX + 1, "responder_resources");
	REFUSED(congestion, PLX_CONGESTION_COUNT, "congestion is 4; give 0 to 3");
	REFUSED(type, (enum plx_qp_type)2, "type is 2; give PLX_QP_RC or PLX_QP_UD");
#undef REFUSED
	pair_close(pair);
}

/* As docs/nd2.md promises: all maxima at once. */
static void
a_queue_pair_of_all_limits_at_once_works(void **state)
{
	struct pair_options options = pair_usual();
	struct pair *pair;

	(void)state;
	options.qp = (struct plx_qp_options){.sq_depth = PLX_QUEUE_DEPTH_MAX,
					     .rq_depth = PLX_QUEUE_DEPTH_MAX,
					     .sq_sges = PLX_SGE_MAX,
					     .rq_sges = PLX_SGE_MAX,
					     .inline_bytes = PLX_INLINE_MAX,
					     .responder_resources = PLX_RD_ATOMIC_MAX};
	pair = pair_open(&options);
	for (uint32_t i = 0; i < PLX_QUEUE_DEPTH_MAX; i++)
		side_receive(&pair->b, i, 0, 8);
	for (uint32_t i = 0; i < 1000; i++)
		side_post(&pair->a, PLX_WR_SEND, i, 0, 0, 8, NULL);
	for (uint32_t i = 0; i < 1000; i++) {
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	}
	pair_close(pair);
}

static void
the_queue_pair_after_the_last_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct pair_options usual = pair_usual();
	struct plx_qp_options options = usual.qp;
	struct plx_qp *qp[PAIR_QPS];
	uint32_t n = PAIR_QPS - 1; /* one is the pair's */

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		qp[i] = side_qp(&pair->a, &usual);
	options.send_cq = pair->a.send_cq;
	options.recv_cq = pair->a.recv_cq;
	assert_refused(pair, &options, PLX_FULL, "queue_pairs");
	assert_int_equal(plx_qp_destroy(qp[0]), PLX_OK);
	qp[0] = side_qp(&pair->a, &usual);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_qp_destroy(qp[i]), PLX_OK);
	pair_close(pair);
}

/* A16: never connected, requests are refused without an entry; receives are taken from INIT on. */
static void
a_queue_pair_that_was_never_connected_takes_receives_only(void **state)
{
	struct pair_options options = pair_usual();
	const struct plx_recv_wr wr = {.wr_id = 1};
	enum plx_status why;
	struct pair *pair;

	(void)state;
	options.unconnected = true;
	pair = pair_open(&options);
	assert_int_equal(pair_state(pair->a.qp), PLX_QP_RESET);
	for (int round = 0; round < 2; round++) {
		for (unsigned op = PLX_WR_SEND; op < PLX_WR_BIND; op++) {
			bool atomic = op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;

			assert_int_equal(side_try(&pair->a, pair->a.qp, (enum plx_wr_op)op, 1, 0, 0,
						  atomic ? 8 : 0, NULL),
					 PLX_STATE);
		}
		if (round == 0) {
			assert_int_equal(plx_post_recv(pair->a.qp, &wr, 1, &why), 0);
			assert_int_equal(why, PLX_STATE);
			assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_INIT, NULL, NULL, NULL),
					 PLX_OK);
		}
	}
	pair_expect_none(pair->a.send_cq);
	assert_int_equal(plx_post_recv(pair->a.qp, &wr, 1, &why), 1);
	assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
	pair_expect(pair->a.recv_cq, 1, PLX_WC_FLUSHED);
	pair_close(pair);
}

static void
a_drained_queue_begins_nothing_until_it_is_let_go(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct plx_async_event event;

	(void)state;
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 8, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_SQD, NULL, NULL, NULL), PLX_OK);
	do
		event = pair_async_event(pair->a.adapter);
	while (event.kind != PLX_EVENT_SQ_DRAINED);
	side_post(&pair->a, PLX_WR_WRITE, 2, 0, 0, 8, &beyond);
	pair_expect_none(pair->a.send_cq);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_RTS, NULL, NULL, NULL), PLX_OK);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
a_queue_pair_can_be_reset_and_connected_again(void **state)
{
	const struct pair_options options = pair_usual();
	struct pair *pair = pair_open(NULL);
	struct plx_wc wc;

	(void)state;
	for (uint32_t life = 0; life < 5; life++) {
		side_receive(&pair->b, 1, 0, 8);
		side_receive(&pair->b, 2, 0, 8);
		side_post(&pair->a, PLX_WR_SEND, 3, 0, 0, 8, NULL);
		pair_expect(pair->b.recv_cq, 1, PLX_WC_SUCCESS);
		pair_expect(pair->a.send_cq, 3, PLX_WC_SUCCESS);
		if (life % 2)
			assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
		assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_RESET, NULL, NULL, NULL), PLX_OK);
		assert_int_equal(plx_qp_modify(pair->b.qp, PLX_QP_RESET, NULL, NULL, NULL), PLX_OK);
		/* posted requests are dropped, without completions */
		pair_settle();
		assert_int_equal(plx_cq_poll(pair->b.recv_cq, &wc, 1), 0);
		pair_join(pair->a.qp, pair->b.qp, &options.attr);
	}
	pair_close(pair);
}

/* All of them, at once, in order. */
static void
expect_flushed_now(struct plx_cq *cq, uint32_t n)
{
	struct plx_wc wc[FLUSHED_MANY];
	uint32_t got = 0, more;

	while (got < n && (more = plx_cq_poll(cq, wc + got, n - got)) > 0)
		got += more;
	assert_int_equal(got, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(wc[i].wr_id, i);
		assert_int_equal(wc[i].status, PLX_WC_FLUSHED);
	}
}

/* More than the engine fetches from a ring at once, and more than the completion queue holds. */
static void
a_flush_is_complete_when_it_returns(void **state)
{
	struct pair_options options = pair_usual();

	(void)state;
	options.qp.sq_depth = options.qp.rq_depth = FLUSHED_MANY;
	for (int round = 0; round < 4; round++) {
		bool connected = round & 1;
		struct pair *pair;

		options.unconnected = !connected;
		options.cq.depth = round & 2 ? PAIR_CQ : 2 * FLUSHED_MANY;
		pair = pair_open(&options);
		if (!connected)
			assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_INIT, NULL, NULL, NULL),
					 PLX_OK);
		for (uint32_t i = 0; i < FLUSHED_MANY; i++)
			side_receive(&pair->a, i, 0, 8);
		/* The peer has no receive: none of these is done. */
		for (uint32_t i = 0; connected && i < FLUSHED_MANY; i++)
			side_post(&pair->a, PLX_WR_SEND, i, 0, 0, 8, NULL);
		assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
		if (connected)
			expect_flushed_now(pair->a.send_cq, FLUSHED_MANY);
		if (options.cq.depth > FLUSHED_MANY)
			expect_flushed_now(pair->a.recv_cq, FLUSHED_MANY);
		else
			for (uint32_t i = 0; i < FLUSHED_MANY; i++)
				pair_expect(pair->a.recv_cq, i, PLX_WC_FLUSHED);
		pair_expect_none(pair->a.recv_cq);
		/* and again: nothing is left to flush */
		assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
		pair_close(pair);
	}
}

/* Posted before the flush it is returned, posted after it, it receives a message. */
static void
a_queue_pair_that_is_flushed_in_init_can_be_connected(void **state)
{
	struct pair_options options = pair_usual();
	struct plx_qp_info info;
	struct pair *pair;

	(void)state;
	options.unconnected = true;
	pair = pair_open(&options);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_INIT, NULL, NULL, NULL), PLX_OK);
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < PAIR_RQ; i++)
			side_receive(&pair->a, i, 0, 8);
		assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
		expect_flushed_now(pair->a.recv_cq, PAIR_RQ);
	}
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
	assert_int_equal(info.state, PLX_QP_INIT);
	side_receive(&pair->a, 7, 0, 8);
	pair_join(pair->a.qp, pair->b.qp, &options.attr);
	side_post(&pair->b, PLX_WR_SEND, 8, 0, 64, 8, NULL);
	pair_expect(pair->b.send_cq, 8, PLX_WC_SUCCESS);
	pair_expect(pair->a.recv_cq, 7, PLX_WC_SUCCESS);
	pair_expect_none(pair->a.recv_cq);
	pair_close(pair);
}

static void
a_query_tells_what_there_is(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_qp_address of_b;
	struct plx_qp_info info;

	(void)state;
	assert_int_equal(plx_qp_address(pair->b.qp, NULL, &of_b), PLX_OK);
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
	assert_int_equal(info.state, PLX_QP_RTS);
	assert_int_equal(info.peer_qpn, of_b.qpn);
	assert_int_equal(info.path_mtu, of_b.path_mtu);
	assert_int_equal(info.sq_used, 0);
	assert_int_equal(info.sq_depth, PAIR_SQ);
	assert_false(info.flushed);
	for (uint32_t i = 0; i < 7; i++)
		side_post(&pair->a, PLX_WR_SEND, i, 0, 0, 8, NULL);
	pair_settle();
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
	assert_int_equal(info.sq_used, 7);
	assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
	pair_until(plx_qp_query(pair->a.qp, &info) == PLX_OK && info.flushed);
	assert_int_equal(info.state, PLX_QP_ERROR);
	assert_int_equal(info.sq_used, 0);
	pair_close(pair);
}

static uint64_t
counter(const struct plx_counter *list, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].value;
	fail_msg("there is no counter %s", name);
	return 0;
}

static void
counters_have_names_texts_and_values(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_counter list[128] = {{0}}, two[3] = {{0}};
	struct beyond beyond = at_peer(&pair->b, 0);
	uint32_t n = plx_qp_counters(pair->a.qp, NULL, 0);

	(void)state;
	assert_in_range(n, 20, 127);
	for (uint32_t i = 0; i < 9; i++) {
		side_post(&pair->a, PLX_WR_WRITE, i, 0, 0, 100, &beyond);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	assert_int_equal(plx_qp_counters(pair->a.qp, list, 128), n);
	assert_null(list[n].name);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(list[i].name[0] != '\0' && list[i].text[0] != '\0');
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(list[i].name, list[j].name);
	}
	assert_int_equal(counter(list, n, "requests_sent"), 9);
	/* an ACK that is late has a packet sent again */
	assert_int_equal(counter(list, n, "bytes_sent"),
			 900 + 100 * counter(list, n, "requests_resent"));
	assert_int_equal(plx_qp_counters(pair->a.qp, two, 2), n);
	assert_string_equal(two[1].name, list[1].name);
	assert_null(two[2].name);
	assert_int_equal(plx_qp_counters(pair->b.qp, list, 128), n);
	assert_int_equal(counter(list, n, "bytes_placed"), 900);
	pair_close(pair);
}

/* ---- retries that fail ---- */

/* A29 of docs/nd2.md: with the usual link, in 1 to 1.5 s; the upper bound here is a busy machine's.
 */
static void
a_send_without_a_receive_fails_after_a_second(void **state)
{
	struct pair_options options = pair_usual();
	uint64_t begun, took;
	struct pair *pair;

	(void)state;
	plx_qp_attr_init(&options.attr);
	pair = pair_open(&options);
	begun = test_ns();
	side_post(&pair->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	pair_expect(pair->a.send_cq, 1, PLX_WC_RNR_RETRY_EXCEEDED);
	took = test_ns() - begun;
	assert_true(took > 900 * PLX_MSEC);
	assert_true(took < 10 * PLX_SEC);
	pair_close(pair);
}

static void
a_peer_that_is_gone_is_given_up(void **state)
{
	struct pair_options options = pair_usual();
	struct beyond beyond;
	struct pair *pair;

	(void)state;
	options.attr.retry = 2;
	options.attr.ack_timeout = 8; /* 1 ms */
	pair = pair_open(&options);
	beyond = at_peer(&pair->b, 0);
	assert_int_equal(plx_qp_destroy(pair->b.qp), PLX_OK);
	pair->b.qp = NULL;
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 8, &beyond);
	side_post(&pair->a, PLX_WR_WRITE, 2, 0, 0, 8, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_RETRY_EXCEEDED);
	pair_expect(pair->a.send_cq, 2, PLX_WC_FLUSHED);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(options_out_of_range_are_refused_with_a_sentence_that_names_them),
		PAIR_TEST(a_queue_pair_of_all_limits_at_once_works),
		PAIR_TEST(the_queue_pair_after_the_last_is_refused),
		PAIR_TEST(a_queue_pair_that_was_never_connected_takes_receives_only),
		PAIR_TEST(a_drained_queue_begins_nothing_until_it_is_let_go),
		PAIR_TEST(a_queue_pair_can_be_reset_and_connected_again),
		PAIR_TEST(a_flush_is_complete_when_it_returns),
		PAIR_TEST(a_queue_pair_that_is_flushed_in_init_can_be_connected),
		PAIR_TEST(a_query_tells_what_there_is),
		PAIR_TEST(counters_have_names_texts_and_values),
		PAIR_TEST(a_send_without_a_receive_fails_after_a_second),
		PAIR_TEST(a_peer_that_is_gone_is_given_up),
	};

	return pair_run_all("qp", tests, sizeof(tests) / sizeof(tests[0]));
}
