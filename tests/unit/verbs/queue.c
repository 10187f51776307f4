/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting: full queues, batches, deferred requests, silent ones, the order of completions and of
 * what is flushed.
 * Start anywhere.
 */
#include "verbs_pair.h"

#include <string.h>

static void
a_full_send_queue_refuses_and_takes_again_what_was_acknowledged(void **state)
{
	struct duo *duo = duo_open(NULL);

	(void)state;
	/* no receive: nothing is acknowledged */
	for (uint32_t i = 0; i < DUO_SQ; i++)
		end_post(&duo->a, PLX_WR_SEND, i, 0, 0, 8, NULL);
	assert_int_equal(end_try(&duo->a, duo->a.qp, PLX_WR_SEND, 99, 0, 0, 8, NULL), PLX_FULL);
	duo_settle();
	assert_int_equal(end_try(&duo->a, duo->a.qp, PLX_WR_SEND, 99, 0, 0, 8, NULL), PLX_FULL);
	end_receive(&duo->b, 0, 0, 8);
	duo_expect(duo->a.send_cq, 0, PLX_WC_SUCCESS);
	duo_until(end_try(&duo->a, duo->a.qp, PLX_WR_SEND, DUO_SQ, 0, 0, 8, NULL) == PLX_OK);
	for (uint32_t i = 1; i <= DUO_SQ; i++) {
		end_receive(&duo->b, i, 0, 8);
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	}
	for (uint32_t i = 0; i <= DUO_SQ; i++)
		duo_expect(duo->b.recv_cq, i, PLX_WC_SUCCESS);
	duo_close(duo);
}

static void
a_full_receive_queue_refuses(void **state)
{
	struct duo *duo = duo_open(NULL);
	const struct plx_recv_wr wr = {.wr_id = 99};
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < DUO_RQ; i++)
		end_receive(&duo->b, i, 0, 8);
	assert_int_equal(plx_post_recv(duo->b.qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_FULL);
	end_post(&duo->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	duo_expect(duo->b.recv_cq, 0, PLX_WC_SUCCESS);
	duo_until(plx_post_recv(duo->b.qp, &wr, 1, &why) == 1);
	duo_close(duo);
}

/* A20: ten times the depth, silent, and never full for good. */
static void
silent_requests_leave_no_entry_and_free_their_places(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct beyond beyond = at_peer(&duo->b, 0);

	(void)state;
	for (uint32_t i = 0; i < 10 * DUO_SQ; i++)
		duo_until(end_try(&duo->a, duo->a.qp, PLX_WR_WRITE, i, PLX_WR_SILENT, 0, 8,
				  &beyond) == PLX_OK);
	duo_until(end_try(&duo->a, duo->a.qp, PLX_WR_WRITE, 7777, 0, 0, 8, &beyond) == PLX_OK);
	duo_expect(duo->a.send_cq, 7777, PLX_WC_SUCCESS);
	duo_expect_none(duo->a.send_cq);
	duo_close(duo);
}

/* ---- batches ----------------------------------------------------------------------------------
 */

enum {
	BATCH = 12
};

/* For each k: a batch whose k-th request is wrong; what is before it is posted, and no more. */
static void
a_batch_is_posted_up_to_the_first_that_is_refused(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct plx_send_wr wr[BATCH];
	struct plx_sge sge[BATCH + 5] = {{0}};

	(void)state;
	for (uint32_t k = 0; k <= BATCH; k++) {
		struct beyond beyond = at_peer(&duo->b, 0);
		enum plx_status why;

		memset(duo->b.arena, 0, BATCH);
		for (uint32_t i = 0; i < BATCH; i++) {
			duo->a.arena[i] = (uint8_t)(i + 1);
			sge[i] = (struct plx_sge){(uintptr_t)duo->a.arena + i, 1,
						  plx_mr_key(duo->a.mr)};
			wr[i] = (struct plx_send_wr){.wr_id = 100 * k + i,
						     .op = PLX_WR_WRITE,
						     .sge = &sge[i],
						     .sges = 1,
						     .remote_va = beyond.va + i,
						     .rkey = beyond.rkey};
		}
		if (k < BATCH)
			wr[k].sges = 5;
		assert_int_equal(plx_post_send(duo->a.qp, wr, BATCH, &why), k);
		assert_int_equal(why, k < BATCH ? PLX_TOO_MANY_SGES : PLX_OK);
		for (uint32_t i = 0; i < k; i++)
			duo_expect(duo->a.send_cq, 100 * k + i, PLX_WC_SUCCESS);
		for (uint32_t i = 0; i < BATCH; i++)
			assert_int_equal(duo->b.arena[i], i < k ? i + 1 : 0);
	}
	duo_expect_none(duo->a.send_cq);
	assert_int_equal(plx_post_send(duo->a.qp, wr, 0, NULL), 0);
	duo_close(duo);
}

static void
a_batch_longer_than_the_room_fills_the_queue(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct plx_send_wr wr[DUO_SQ + 5];
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < DUO_SQ + 5; i++)
		wr[i] = (struct plx_send_wr){.wr_id = i, .op = PLX_WR_SEND};
	assert_int_equal(plx_post_send(duo->a.qp, wr, 3, &why), 3);
	assert_int_equal(why, PLX_OK);
	assert_int_equal(plx_post_send(duo->a.qp, wr + 3, DUO_SQ + 2, &why), DUO_SQ - 3);
	assert_int_equal(why, PLX_FULL);
	for (uint32_t i = 0; i < DUO_SQ; i++) {
		end_receive(&duo->b, i, 0, 0);
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	}
	duo_expect_none(duo->a.send_cq);
	duo_close(duo);
}

static void
a_batch_of_receives_is_posted_up_to_the_first_that_is_refused(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct plx_recv_wr wr[BATCH];
	const struct plx_sge sge[5] = {{0}};
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i < BATCH; i++)
		wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = sge};
	wr[7].sges = 5;
	assert_int_equal(plx_post_recv(duo->b.qp, wr, BATCH, &why), 7);
	assert_int_equal(why, PLX_TOO_MANY_SGES);
	for (uint32_t i = 0; i < 7; i++) {
		end_post(&duo->a, PLX_WR_SEND, i, 0, 0, 0, NULL);
		duo_expect(duo->b.recv_cq, i, PLX_WC_SUCCESS);
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	}
	duo_close(duo);
}

/* Deferred requests may be found at any time; after the ring they must be. */
static void
deferred_requests_go_with_the_ring_or_with_the_next_post(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct beyond beyond = at_peer(&duo->b, 0);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		end_post(&duo->a, PLX_WR_WRITE, i, PLX_WR_DEFER, 0, 8, &beyond);
	plx_post_ring(duo->a.qp);
	for (uint32_t i = 0; i < 5; i++)
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	for (uint32_t i = 5; i < 10; i++)
		end_post(&duo->a, PLX_WR_WRITE, i, PLX_WR_DEFER, 0, 8, &beyond);
	end_post(&duo->a, PLX_WR_WRITE, 10, 0, 0, 8, &beyond);
	for (uint32_t i = 5; i <= 10; i++)
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	duo_close(duo);
}

/* Only the peer is polled, many times. Returns: whether the byte that `a` wrote has arrived. */
static bool
peer_sees(struct duo *duo, uint8_t byte)
{
	for (uint32_t i = 0; i < 1000 && duo->b.arena[0] != byte; i++)
		plx_adapter_poll(duo->b.adapter);
	return duo->b.arena[0] == byte;
}

/* In inline mode nobody polls behind a post but the caller: what goes alone has left when the call
 * returns; what has others on their way goes with the cycle that looks for their answers. */
static void
a_post_that_goes_alone_leaves_with_the_call(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct beyond beyond = at_peer(&duo->b, 0);

	(void)state;
	if (!duo_is_inline()) { /* a worker sends them both */
		duo->a.arena[0] = 1;
		end_post(&duo->a, PLX_WR_WRITE, 1, 0, 0, 1, &beyond);
		duo_until(duo->b.arena[0] == 1);
		duo_close(duo);
		return;
	}
	duo->a.arena[0] = 1;
	end_post(&duo->a, PLX_WR_WRITE, 1, 0, 0, 1, &beyond);
	assert_true(peer_sees(duo, 1));
	duo->a.arena[0] = 2;
	end_post(&duo->a, PLX_WR_WRITE, 2, 0, 0, 1, &beyond);
	assert_false(peer_sees(duo, 2)); /* the first one's answer was not heard */
	duo_expect(duo->a.send_cq, 1, PLX_WC_SUCCESS);
	duo_expect(duo->a.send_cq, 2, PLX_WC_SUCCESS);
	assert_int_equal(duo->b.arena[0], 2);
	duo->a.arena[0] = 3;
	end_post(&duo->a, PLX_WR_WRITE, 3, PLX_WR_DEFER, 0, 1, &beyond);
	assert_false(peer_sees(duo, 3));
	plx_post_ring(duo->a.qp);
	assert_true(peer_sees(duo, 3));
	duo_expect(duo->a.send_cq, 3, PLX_WC_SUCCESS);
	duo_close(duo);
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* An unfenced WRITE is done long before the READ in front of it; its entry comes behind. */
static void
completions_come_in_the_order_of_posting(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_READ, PLX_WR_WRITE,    PLX_WR_FETCH_ADD,
					     PLX_WR_SEND, PLX_WR_CMP_SWAP, PLX_WR_WRITE_IMM};
	static const uint32_t bytes[] = {20000, 8, 8, 3000, 8, 0};
	struct duo *duo = duo_open(NULL);
	struct beyond beyond = at_peer(&duo->b, 0);
	uint64_t receives = 0;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 6; i++) {
			uint32_t pick = (i * 5 + round) % 6;

			if (ops[pick] == PLX_WR_SEND || ops[pick] == PLX_WR_WRITE_IMM)
				end_receive(&duo->b, receives++, 65536, 4096);
			end_post(&duo->a, ops[pick], round * 6 + i, 0, 0, bytes[pick], &beyond);
		}
		for (uint32_t i = 0; i < 6; i++)
			duo_expect(duo->a.send_cq, round * 6 + i, PLX_WC_SUCCESS);
	}
	for (uint64_t i = 0; i < receives; i++)
		duo_expect(duo->b.recv_cq, i, PLX_WC_SUCCESS);
	duo_close(duo);
}

/* docs/nd2.md, Order: per queue, in post order, after what was really done; silent ones too. */
static void
a_flush_gives_back_everything_in_order(void **state)
{
	struct duo *duo = duo_open(NULL);

	(void)state;
	end_receive(&duo->b, 1, 0, 8);
	for (uint32_t i = 0; i < 20; i++)
		end_post(&duo->a, PLX_WR_SEND, i, i % 3 == 1 ? PLX_WR_SILENT : 0, 0, 8, NULL);
	for (uint32_t i = 0; i < 10; i++)
		end_receive(&duo->a, 500 + i, 0, 8);
	duo_expect(duo->b.recv_cq, 1, PLX_WC_SUCCESS);
	/* The first is done; that it is may be told before the flush or not reach us at all. */
	duo_expect(duo->a.send_cq, 0, PLX_WC_SUCCESS);
	assert_int_equal(plx_qp_flush(duo->a.qp), PLX_OK);
	for (uint32_t i = 1; i < 20; i++)
		duo_expect(duo->a.send_cq, i, PLX_WC_FLUSHED);
	for (uint32_t i = 0; i < 10; i++) {
		struct plx_wc wc = duo_expect(duo->a.recv_cq, 500 + i, PLX_WC_FLUSHED);

		assert_int_equal(wc.op, PLX_WR_NONE);
		assert_int_equal(wc.flags & PLX_WC_RECV, PLX_WC_RECV);
	}
	/* what is posted later is taken, and flushed */
	end_post(&duo->a, PLX_WR_SEND, 21, PLX_WR_SILENT, 0, 8, NULL);
	end_receive(&duo->a, 511, 0, 8);
	duo_expect(duo->a.send_cq, 21, PLX_WC_FLUSHED);
	duo_expect(duo->a.recv_cq, 511, PLX_WC_FLUSHED);
	duo_close(duo);
}

static void
the_first_error_has_its_cause_and_all_behind_it_are_flushed(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct beyond beyond = at_peer(&duo->b, 0);
	struct beyond wrong = beyond;
	struct plx_async async;

	(void)state;
	wrong.rkey.v ^= 0x5a5a5a5a;
	end_receive(&duo->b, 60, 0, 8);
	end_post(&duo->a, PLX_WR_WRITE, 0, 0, 0, 8, &beyond);
	end_post(&duo->a, PLX_WR_WRITE, 1, 0, 0, 8, &wrong);
	for (uint32_t i = 2; i < 8; i++)
		end_post(&duo->a, PLX_WR_WRITE, i, i % 2 ? PLX_WR_SILENT : 0, 0, 8, &beyond);
	duo_expect(duo->a.send_cq, 0, PLX_WC_SUCCESS);
	duo_expect(duo->a.send_cq, 1, PLX_WC_REMOTE_ACCESS);
	for (uint32_t i = 2; i < 8; i++)
		duo_expect(duo->a.send_cq, i, PLX_WC_FLUSHED);
	/* both ends are down, and say so */
	duo_expect(duo->b.recv_cq, 60, PLX_WC_FLUSHED);
	assert_int_equal(duo_state(duo->a.qp), PLX_QP_ERROR);
	assert_int_equal(duo_state(duo->b.qp), PLX_QP_ERROR);
	do
		async = duo_async(duo->a.adapter);
	while (async.kind != PLX_EVENT_FAILED);
	assert_int_equal(async.cause, PLX_WC_REMOTE_ACCESS);
	duo_close(duo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		DUO_TEST(a_full_send_queue_refuses_and_takes_again_what_was_acknowledged),
		DUO_TEST(a_full_receive_queue_refuses),
		DUO_TEST(silent_requests_leave_no_entry_and_free_their_places),
		DUO_TEST(a_batch_is_posted_up_to_the_first_that_is_refused),
		DUO_TEST(a_batch_longer_than_the_room_fills_the_queue),
		DUO_TEST(a_batch_of_receives_is_posted_up_to_the_first_that_is_refused),
		DUO_TEST(deferred_requests_go_with_the_ring_or_with_the_next_post),
		DUO_TEST(a_post_that_goes_alone_leaves_with_the_call),
		DUO_TEST(completions_come_in_the_order_of_posting),
		DUO_TEST(a_flush_gives_back_everything_in_order),
		DUO_TEST(the_first_error_has_its_cause_and_all_behind_it_are_flushed),
	};

	return duo_run("queue", tests, sizeof(tests) / sizeof(tests[0]));
}
