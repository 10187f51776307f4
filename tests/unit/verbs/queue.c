/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting: full queues, batches, deferred doorbells, unsignaled requests, the order of completions
 * and of flushed requests. Start anywhere.
 */
#include "verbs_pair.h"

#include <string.h>

static void
a_full_send_queue_refuses_and_takes_again_what_was_acknowledged(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	/* no receive: nothing is acknowledged */
	for (uint32_t i = 0; i < PAIR_SQ; i++)
		side_post(&pair->a, PLX_WR_SEND, i, 0, 0, 8, NULL);
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_SEND, 99, 0, 0, 8, NULL), PLX_FULL);
	pair_settle();
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_SEND, 99, 0, 0, 8, NULL), PLX_FULL);
	side_receive(&pair->b, 0, 0, 8);
	pair_expect(pair->a.send_cq, 0, PLX_WC_SUCCESS);
	pair_until(side_try(&pair->a, pair->a.qp, PLX_WR_SEND, PAIR_SQ, 0, 0, 8, NULL) == PLX_OK);
	for (uint32_t i = 1; i <= PAIR_SQ; i++) {
		side_receive(&pair->b, i, 0, 8);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	for (uint32_t i = 0; i <= PAIR_SQ; i++)
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
a_full_receive_queue_refuses(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_recv_wr wr = {.wr_id = 99};
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < PAIR_RQ; i++)
		side_receive(&pair->b, i, 0, 8);
	assert_int_equal(plx_post_recv(pair->b.qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_FULL);
	side_post(&pair->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	pair_expect(pair->b.recv_cq, 0, PLX_WC_SUCCESS);
	pair_until(plx_post_recv(pair->b.qp, &wr, 1, &why) == 1);
	pair_close(pair);
}

/* A20: ten times the depth of unsignaled requests, and never full for good. */
static void
silent_requests_leave_no_entry_and_free_their_places(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	for (uint32_t i = 0; i < 10 * PAIR_SQ; i++)
		pair_until(side_try(&pair->a, pair->a.qp, PLX_WR_WRITE, i, PLX_WR_UNSIGNALED, 0, 8,
				    &beyond) == PLX_OK);
	pair_until(side_try(&pair->a, pair->a.qp, PLX_WR_WRITE, 7777, 0, 0, 8, &beyond) == PLX_OK);
	pair_expect(pair->a.send_cq, 7777, PLX_WC_SUCCESS);
	pair_expect_none(pair->a.send_cq);
	pair_close(pair);
}

/* ---- batches ---- */

enum {
	BATCH = 12
};

/* For each k: a batch whose k-th request is invalid; the requests before it are posted, and no
 * more. */
static void
a_batch_is_posted_up_to_the_first_that_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_send_wr wr[BATCH];
	struct plx_sge sge[BATCH + 5] = {{0}};

	(void)state;
	for (uint32_t k = 0; k <= BATCH; k++) {
		struct beyond beyond = at_peer(&pair->b, 0);
		enum plx_status why;

		memset(pair->b.arena, 0, BATCH);
		for (uint32_t i = 0; i < BATCH; i++) {
			pair->a.arena[i] = (uint8_t)(i + 1);
			sge[i] = (struct plx_sge){(uintptr_t)pair->a.arena + i, 1,
						  plx_mr_key(pair->a.mr)};
			wr[i] = (struct plx_send_wr){.wr_id = 100 * k + i,
						     .op = PLX_WR_WRITE,
						     .sge = &sge[i],
						     .sges = 1,
						     .remote_va = beyond.va + i,
						     .rkey = beyond.rkey};
		}
		if (k < BATCH)
			wr[k].sges = 5;
		assert_int_equal(plx_post_send(pair->a.qp, wr, BATCH, &why), k);
		assert_int_equal(why, k < BATCH ? PLX_TOO_MANY_SGES : PLX_OK);
		for (uint32_t i = 0; i < k; i++)
			pair_expect(pair->a.send_cq, 100 * k + i, PLX_WC_SUCCESS);
		for (uint32_t i = 0; i < BATCH; i++)
			assert_int_equal(pair->b.arena[i], i < k ? i + 1 : 0);
	}
	pair_expect_none(pair->a.send_cq);
	assert_int_equal(plx_post_send(pair->a.qp, wr, 0, NULL), 0);
	pair_close(pair);
}

static void
a_batch_longer_than_the_room_fills_the_queue(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_send_wr wr[PAIR_SQ + 5];
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < PAIR_SQ + 5; i++)
		wr[i] = (struct plx_send_wr){.wr_id = i, .op = PLX_WR_SEND};
	assert_int_equal(plx_post_send(pair->a.qp, wr, 3, &why), 3);
	assert_int_equal(why, PLX_OK);
	assert_int_equal(plx_post_send(pair->a.qp, wr + 3, PAIR_SQ + 2, &why), PAIR_SQ - 3);
	assert_int_equal(why, PLX_FULL);
	for (uint32_t i = 0; i < PAIR_SQ; i++) {
		side_receive(&pair->b, i, 0, 0);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	pair_expect_none(pair->a.send_cq);
	pair_close(pair);
}

static void
a_batch_of_receives_is_posted_up_to_the_first_that_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_recv_wr wr[BATCH];
	const struct plx_sge sge[5] = {{0}};
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < BATCH; i++)
		wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = sge};
	wr[7].sges = 5;
	assert_int_equal(plx_post_recv(pair->b.qp, wr, BATCH, &why), 7);
	assert_int_equal(why, PLX_TOO_MANY_SGES);
	for (uint32_t i = 0; i < 7; i++) {
		side_post(&pair->a, PLX_WR_SEND, i, 0, 0, 0, NULL);
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	pair_close(pair);
}

/* Deferred requests may be found at any time; after the doorbell they must be. */
static void
deferred_requests_go_with_the_ring_or_with_the_next_post(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		side_post(&pair->a, PLX_WR_WRITE, i, PLX_WR_DEFER, 0, 8, &beyond);
	plx_qp_ring_doorbell(pair->a.qp);
	for (uint32_t i = 0; i < 5; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	for (uint32_t i = 5; i < 10; i++)
		side_post(&pair->a, PLX_WR_WRITE, i, PLX_WR_DEFER, 0, 8, &beyond);
	side_post(&pair->a, PLX_WR_WRITE, 10, 0, 0, 8, &beyond);
	for (uint32_t i = 5; i <= 10; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* Only the peer is polled, many times. Returns: whether the byte that `a` wrote has arrived. */
static bool
peer_sees(struct pair *pair, uint8_t byte)
{
	for (uint32_t i = 0; i < 1000 && pair->b.arena[0] != byte; i++)
		plx_adapter_poll(pair->b.adapter);
	return pair->b.arena[0] == byte;
}

/* In inline mode only the caller polls after a post: a request posted alone has left when the
 * call returns; if others are in flight it leaves in the cycle that handles their
 * acknowledgements. */
static void
a_post_that_goes_alone_leaves_with_the_call(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	if (!pair_is_inline()) { /* a worker sends them both */
		pair->a.arena[0] = 1;
		side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 1, &beyond);
		pair_until(pair->b.arena[0] == 1);
		pair_close(pair);
		return;
	}
	pair->a.arena[0] = 1;
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 1, &beyond);
	assert_true(peer_sees(pair, 1));
	pair->a.arena[0] = 2;
	side_post(&pair->a, PLX_WR_WRITE, 2, 0, 0, 1, &beyond);
	assert_false(peer_sees(pair, 2)); /* the first one's answer was not heard */
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	assert_int_equal(pair->b.arena[0], 2);
	pair->a.arena[0] = 3;
	side_post(&pair->a, PLX_WR_WRITE, 3, PLX_WR_DEFER, 0, 1, &beyond);
	assert_false(peer_sees(pair, 3));
	plx_qp_ring_doorbell(pair->a.qp);
	assert_true(peer_sees(pair, 3));
	pair_expect(pair->a.send_cq, 3, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* ---- order ---- */

/* An unfenced WRITE is done long before the READ in front of it; its entry comes behind. */
static void
completions_come_in_the_order_of_posting(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_READ, PLX_WR_WRITE,    PLX_WR_FETCH_ADD,
					     PLX_WR_SEND, PLX_WR_CMP_SWAP, PLX_WR_WRITE_IMM};
	static const uint32_t bytes[] = {20000, 8, 8, 3000, 8, 0};
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	uint64_t receives = 0;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 6; i++) {
			uint32_t pick = (i * 5 + round) % 6;

			if (ops[pick] == PLX_WR_SEND || ops[pick] == PLX_WR_WRITE_IMM)
				side_receive(&pair->b, receives++, 65536, 4096);
			side_post(&pair->a, ops[pick], round * 6 + i, 0, 0, bytes[pick], &beyond);
		}
		for (uint32_t i = 0; i < 6; i++)
			pair_expect(pair->a.send_cq, round * 6 + i, PLX_WC_SUCCESS);
	}
	for (uint64_t i = 0; i < receives; i++)
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* docs/nd2.md, Order: per queue, in post order, after completed requests; unsignaled ones too. */
static void
a_flush_gives_back_everything_in_order(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	side_receive(&pair->b, 1, 0, 8);
	for (uint32_t i = 0; i < 20; i++)
		side_post(&pair->a, PLX_WR_SEND, i, i % 3 == 1 ? PLX_WR_UNSIGNALED : 0, 0, 8, NULL);
	for (uint32_t i = 0; i < 10; i++)
		side_receive(&pair->a, 500 + i, 0, 8);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_SUCCESS);
	/* The first is done; its completion may precede the flush or never reach us. */
	pair_expect(pair->a.send_cq, 0, PLX_WC_SUCCESS);
	assert_int_equal(plx_qp_flush(pair->a.qp), PLX_OK);
	for (uint32_t i = 1; i < 20; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_FLUSHED);
	for (uint32_t i = 0; i < 10; i++) {
		struct plx_wc wc = pair_expect(pair->a.recv_cq, 500 + i, PLX_WC_FLUSHED);

		assert_int_equal(wc.op, PLX_WR_NONE);
		assert_int_equal(wc.flags & PLX_WC_RECV, PLX_WC_RECV);
	}
	/* later posts are accepted, and flushed */
	side_post(&pair->a, PLX_WR_SEND, 21, PLX_WR_UNSIGNALED, 0, 8, NULL);
	side_receive(&pair->a, 511, 0, 8);
	pair_expect(pair->a.send_cq, 21, PLX_WC_FLUSHED);
	pair_expect(pair->a.recv_cq, 511, PLX_WC_FLUSHED);
	pair_close(pair);
}

static void
the_first_error_has_its_cause_and_all_behind_it_are_flushed(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct beyond wrong = beyond;
	struct plx_async_event event;

	(void)state;
	wrong.rkey.v ^= 0x5a5a5a5a;
	side_receive(&pair->b, 60, 0, 8);
	side_post(&pair->a, PLX_WR_WRITE, 0, 0, 0, 8, &beyond);
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 8, &wrong);
	for (uint32_t i = 2; i < 8; i++)
		side_post(&pair->a, PLX_WR_WRITE, i, i % 2 ? PLX_WR_UNSIGNALED : 0, 0, 8, &beyond);
	pair_expect(pair->a.send_cq, 0, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 1, PLX_WC_REMOTE_ACCESS);
	for (uint32_t i = 2; i < 8; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_FLUSHED);
	/* both ends are down, and report it */
	pair_expect(pair->b.recv_cq, 60, PLX_WC_FLUSHED);
	assert_int_equal(pair_state(pair->a.qp), PLX_QP_ERROR);
	assert_int_equal(pair_state(pair->b.qp), PLX_QP_ERROR);
	do
		event = pair_async_event(pair->a.adapter);
	while (event.kind != PLX_EVENT_FAILED);
	assert_int_equal(event.cause, PLX_WC_REMOTE_ACCESS);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_full_send_queue_refuses_and_takes_again_what_was_acknowledged),
		PAIR_TEST(a_full_receive_queue_refuses),
		PAIR_TEST(silent_requests_leave_no_entry_and_free_their_places),
		PAIR_TEST(a_batch_is_posted_up_to_the_first_that_is_refused),
		PAIR_TEST(a_batch_longer_than_the_room_fills_the_queue),
		PAIR_TEST(a_batch_of_receives_is_posted_up_to_the_first_that_is_refused),
		PAIR_TEST(deferred_requests_go_with_the_ring_or_with_the_next_post),
		PAIR_TEST(a_post_that_goes_alone_leaves_with_the_call),
		PAIR_ATOMIC_TEST(completions_come_in_the_order_of_posting),
		PAIR_TEST(a_flush_gives_back_everything_in_order),
		PAIR_TEST(the_first_error_has_its_cause_and_all_behind_it_are_flushed),
	};

	return pair_run_all("queue", tests, sizeof(tests) / sizeof(tests[0]));
}
