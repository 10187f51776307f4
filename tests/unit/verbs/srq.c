/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues: who takes an entry, when the threshold is told of, what a queue pair that
 * fails leaves in them.
 * Start with shared().
 */
#include "verbs_pair.h"

enum {
	DEPTH = 16,
	CONTEXT = 0x5123,
};

static struct duo *
shared(uint32_t threshold)
{
	struct duo_options options = duo_usual();

	options.srq = (struct plx_srq_options){
		.depth = DEPTH, .sges = 2, .threshold = threshold, .context = CONTEXT};
	options.qp.rq_depth = 0;
	return duo_open(&options);
}

/* b takes the next message. */
static void
one_message(struct duo *duo, uint64_t receive)
{
	end_post(&duo->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	duo_expect(duo->b.recv_cq, receive, PLX_WC_SUCCESS);
	duo_expect(duo->a.send_cq, 1, PLX_WC_SUCCESS);
}

static void
assert_no_async(struct plx_adapter *adapter)
{
	struct plx_async async;

	duo_settle();
	assert_false(plx_adapter_next_async(adapter, &async));
}

static void
assert_threshold(struct plx_adapter *adapter)
{
	struct plx_async async = duo_async(adapter);

	assert_int_equal(async.kind, PLX_EVENT_SRQ_THRESHOLD);
	assert_int_equal(async.context, CONTEXT);
	assert_no_async(adapter);
}

static void
what_is_out_of_range_is_refused(void **state)
{
	static const struct plx_srq_options wrong[] = {
		{.depth = 0, .sges = 1},
		{.depth = PLX_QUEUE_DEPTH_MAX + 1, .sges = 1},
		{.depth = 4, .sges = PLX_SGE_MAX + 1},
		{.depth = 4, .sges = 1, .threshold = 5},
	};
	struct duo *duo = shared(0);
	struct plx_srq *srq = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(plx_srq_create(duo->b.adapter, &wrong[i], &srq), PLX_INVALID);
	assert_null(srq);
	assert_int_equal(plx_srq_arm(duo->b.srq, DEPTH + 1), PLX_INVALID);
	duo_close(duo);
}

/* Post single entries until one is refused. Returns: how many were taken */
static uint32_t
fill_up(struct duo *duo)
{
	const struct plx_sge sge = {(uintptr_t)duo->b.arena, 64, plx_mr_key(duo->b.mr)};
	const struct plx_recv_wr wr = {.wr_id = 1, .sge = &sge, .sges = 1};
	enum plx_status why = PLX_OK;
	uint32_t n = 0;

	while (n <= 4 * DEPTH && plx_srq_post(duo->b.srq, &wr, 1, &why) == 1)
		n++;
	assert_int_equal(why, PLX_FULL);
	return n;
}

static void
a_resize_grows_and_shrinks_and_loses_nothing(void **state)
{
	struct duo_options options = duo_usual();
	struct duo *duo;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = DEPTH, .sges = 1, .depth_max = 3 * DEPTH};
	options.qp.rq_depth = 0;
	duo = duo_open(&options);
	assert_int_equal(plx_srq_resize(duo->b.srq, 0), PLX_INVALID);
	assert_int_equal(plx_srq_resize(duo->b.srq, 3 * DEPTH + 1), PLX_INVALID);
	assert_int_equal(fill_up(duo), DEPTH);
	assert_int_equal(plx_srq_resize(duo->b.srq, DEPTH - 1), PLX_BUSY);
	assert_int_equal(fill_up(duo), 0);
	assert_int_equal(plx_srq_resize(duo->b.srq, 3 * DEPTH), PLX_OK);
	assert_int_equal(fill_up(duo), 2 * DEPTH);
	for (uint32_t i = 0; i < DEPTH + 2; i++)
		one_message(duo, 1);
	duo_until(plx_srq_resize(duo->b.srq, 2 * DEPTH - 1) == PLX_OK);
	assert_int_equal(fill_up(duo), 1);
	assert_int_equal(plx_srq_arm(duo->b.srq, 2 * DEPTH), PLX_INVALID);
	for (uint32_t i = 0; i < 2 * DEPTH - 1; i++)
		one_message(duo, 1);
	duo_close(duo);
}

static void
queue_pairs_share_its_entries_in_order(void **state)
{
	struct duo *duo = shared(0);
	struct plx_qp *a[4], *b[4];
	struct duo_options options = duo_usual();

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		options.qp.context = 70 + i;
		a[i] = end_qp(&duo->a, &options);
		b[i] = end_qp(&duo->b, &options);
		duo_join(a[i], b[i], &options.link);
	}
	for (uint32_t i = 0; i < DEPTH; i++)
		end_receive(&duo->b, i, i * 64, 64);
	for (uint32_t i = 0; i < DEPTH; i++) {
		struct plx_wc wc;

		end_fill(&duo->a, 0, 64, (uint8_t)i);
		assert_int_equal(end_try(&duo->a, a[i % 4], PLX_WR_SEND, i, 0, 0, 64, NULL),
				 PLX_OK);
		wc = duo_expect(duo->b.recv_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.context, 70 + i % 4);
		end_assert_filled(&duo->b, i * 64, 64, (uint8_t)i);
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(plx_qp_destroy(a[i]), PLX_OK);
		assert_int_equal(plx_qp_destroy(b[i]), PLX_OK);
	}
	duo_close(duo);
}

static void
a_post_to_a_full_queue_is_refused_until_a_message_takes_one(void **state)
{
	struct duo *duo = shared(0);
	const struct plx_sge sge = {(uintptr_t)duo->b.arena, 64, plx_mr_key(duo->b.mr)};
	struct plx_recv_wr wr[DEPTH + 1];
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i <= DEPTH; i++)
		wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = &sge, .sges = 1};
	assert_int_equal(plx_srq_post(duo->b.srq, wr, DEPTH + 1, &why), DEPTH);
	assert_int_equal(why, PLX_FULL);
	assert_int_equal(plx_srq_post(duo->b.srq, wr, 1, &why), 0);
	assert_int_equal(why, PLX_FULL);
	one_message(duo, 0);
	duo_until(plx_srq_post(duo->b.srq, wr, 1, &why) == 1);
	assert_int_equal(why, PLX_OK);
	wr[0].sges = 3;
	assert_int_equal(plx_srq_post(duo->b.srq, wr, 1, NULL), 0);
	duo_close(duo);
}

/* A29: below, not to. */
static void
the_threshold_is_told_once_when_the_count_drops_below_it(void **state)
{
	struct duo *duo = shared(3);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		end_receive(&duo->b, i, 0, 64);
	one_message(duo, 0); /* 4 are left */
	one_message(duo, 1); /* 3 */
	assert_no_async(duo->b.adapter);
	one_message(duo, 2); /* 2 */
	assert_threshold(duo->b.adapter);
	one_message(duo, 3);
	assert_no_async(duo->b.adapter);
	duo_close(duo);
}

static void
a_threshold_armed_when_already_below_is_told_at_once(void **state)
{
	struct duo *duo = shared(0);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		end_receive(&duo->b, i, 0, 64);
	one_message(duo, 0);
	assert_int_equal(plx_srq_arm(duo->b.srq, 2), PLX_OK); /* 2 are left: not below */
	assert_no_async(duo->b.adapter);
	assert_int_equal(plx_srq_arm(duo->b.srq, 3), PLX_OK);
	assert_threshold(duo->b.adapter);
	assert_int_equal(plx_srq_arm(duo->b.srq, 2), PLX_OK);
	assert_int_equal(plx_srq_arm(duo->b.srq, 0), PLX_OK);
	one_message(duo, 1);
	assert_no_async(duo->b.adapter);
	duo_close(duo);
}

/* A29: a peer of a shared queue waits for ever. */
static void
an_empty_queue_makes_the_peer_wait_until_a_buffer_is_posted(void **state)
{
	struct duo *duo = shared(0);
	uint64_t begun = test_ns();

	(void)state;
	end_post(&duo->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	while (test_ns() - begun < 50 * PLX_MSEC)
		duo_cycle();
	duo_expect_none(duo->a.send_cq);
	end_receive(&duo->b, 9, 0, 64);
	duo_expect(duo->b.recv_cq, 9, PLX_WC_SUCCESS);
	duo_expect(duo->a.send_cq, 1, PLX_WC_SUCCESS);
	duo_close(duo);
}

/* docs/nd2.md: unconsumed entries stay, and a buffer that is too small kills the queue pair only.
 */
static void
a_failed_queue_pair_leaves_what_no_message_took(void **state)
{
	struct duo *duo = shared(0);
	struct duo_options options = duo_usual();
	struct plx_qp *a, *b;

	(void)state;
	end_receive(&duo->b, 0, 0, 4); /* too small */
	end_receive(&duo->b, 1, 0, 64);
	a = end_qp(&duo->a, &options);
	b = end_qp(&duo->b, &options);
	duo_join(a, b, &options.link);
	assert_int_equal(end_try(&duo->a, a, PLX_WR_SEND, 5, 0, 0, 8, NULL), PLX_OK);
	duo_expect(duo->b.recv_cq, 0, PLX_WC_LOCAL_LENGTH);
	duo_expect(duo->a.send_cq, 5, PLX_WC_REMOTE_INVALID_REQUEST);
	duo_until(duo_state(b) == PLX_QP_ERROR);
	duo_expect_none(duo->b.recv_cq);
	one_message(duo, 1);
	assert_int_equal(plx_qp_destroy(a), PLX_OK);
	assert_int_equal(plx_qp_destroy(b), PLX_OK);
	duo_close(duo);
}

static void
it_is_busy_while_a_queue_pair_uses_it_and_takes_its_receives_alone(void **state)
{
	struct duo *duo = shared(0);
	const struct plx_recv_wr wr = {.wr_id = 1};
	enum plx_status why;

	(void)state;
	assert_int_equal(plx_srq_destroy(duo->b.srq), PLX_BUSY);
	assert_int_equal(plx_post_recv(duo->b.qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_STATE);
	assert_int_equal(plx_qp_destroy(duo->b.qp), PLX_OK);
	duo->b.qp = NULL;
	assert_int_equal(plx_srq_destroy(duo->b.srq), PLX_OK);
	duo->b.srq = NULL;
	duo_close(duo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		DUO_TEST(what_is_out_of_range_is_refused),
		DUO_TEST(a_resize_grows_and_shrinks_and_loses_nothing),
		DUO_TEST(queue_pairs_share_its_entries_in_order),
		DUO_TEST(a_post_to_a_full_queue_is_refused_until_a_message_takes_one),
		DUO_TEST(the_threshold_is_told_once_when_the_count_drops_below_it),
		DUO_TEST(a_threshold_armed_when_already_below_is_told_at_once),
		DUO_TEST(an_empty_queue_makes_the_peer_wait_until_a_buffer_is_posted),
		DUO_TEST(a_failed_queue_pair_leaves_what_no_message_took),
		DUO_TEST(it_is_busy_while_a_queue_pair_uses_it_and_takes_its_receives_alone),
	};

	return duo_run("srq", tests, sizeof(tests) / sizeof(tests[0]));
}
