/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared receive queues: which queue pair consumes an entry, when the threshold event is raised,
 * and what happens to their entries when a queue pair fails. Start with shared().
 */
#include "verbs_pair.h"

enum {
	DEPTH = 16,
	CONTEXT = 0x5123,
};

static struct pair *
shared(uint32_t threshold)
{
	struct pair_options options = pair_usual();

	options.srq = (struct plx_srq_options){
		.depth = DEPTH, .sges = 2, .threshold = threshold, .context = CONTEXT};
	options.qp.rq_depth = 0;
	return pair_open(&options);
}

/* b receives the next message. */
static void
one_message(struct pair *pair, uint64_t receive)
{
	side_post(&pair->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	pair_expect(pair->b.recv_cq, receive, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
}

static void
assert_no_async(struct plx_adapter *adapter)
{
	struct plx_async_event event;

	pair_settle();
	assert_false(plx_adapter_next_async_event(adapter, &event));
}

static void
assert_threshold(struct plx_adapter *adapter)
{
	struct plx_async_event event = pair_async_event(adapter);

	assert_int_equal(event.kind, PLX_EVENT_SRQ_THRESHOLD);
	assert_int_equal(event.context, CONTEXT);
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
	struct pair *pair = shared(0);
	struct plx_srq *srq = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(plx_srq_create(pair->b.adapter, &wrong[i], &srq), PLX_INVALID);
	assert_null(srq);
	assert_int_equal(plx_srq_arm(pair->b.srq, DEPTH + 1), PLX_INVALID);
	pair_close(pair);
}

/* Post single entries until one is refused. Returns: how many were taken */
static uint32_t
fill_up(struct pair *pair)
{
	const struct plx_sge sge = {(uintptr_t)pair->b.arena, 64, plx_mr_key(pair->b.mr)};
	const struct plx_recv_wr wr = {.wr_id = 1, .sge = &sge, .sges = 1};
	enum plx_status why = PLX_OK;
	uint32_t n = 0;

	while (n <= 4 * DEPTH && plx_post_srq_recv(pair->b.srq, &wr, 1, &why) == 1)
		n++;
	assert_int_equal(why, PLX_FULL);
	return n;
}

static void
a_resize_grows_and_shrinks_and_loses_nothing(void **state)
{
	struct pair_options options = pair_usual();
	struct pair *pair;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = DEPTH, .sges = 1, .depth_max = 3 * DEPTH};
	options.qp.rq_depth = 0;
	pair = pair_open(&options);
	assert_int_equal(plx_srq_resize(pair->b.srq, 0), PLX_INVALID);
	assert_int_equal(plx_srq_resize(pair->b.srq, 3 * DEPTH + 1), PLX_INVALID);
	assert_int_equal(fill_up(pair), DEPTH);
	assert_int_equal(plx_srq_resize(pair->b.srq, DEPTH - 1), PLX_BUSY);
	assert_int_equal(fill_up(pair), 0);
	assert_int_equal(plx_srq_resize(pair->b.srq, 3 * DEPTH), PLX_OK);
	assert_int_equal(fill_up(pair), 2 * DEPTH);
	for (uint32_t i = 0; i < DEPTH + 2; i++)
		one_message(pair, 1);
	pair_until(plx_srq_resize(pair->b.srq, 2 * DEPTH - 1) == PLX_OK);
	assert_int_equal(fill_up(pair), 1);
	assert_int_equal(plx_srq_arm(pair->b.srq, 2 * DEPTH), PLX_INVALID);
	for (uint32_t i = 0; i < 2 * DEPTH - 1; i++)
		one_message(pair, 1);
	pair_close(pair);
}

static void
queue_pairs_share_its_entries_in_order(void **state)
{
	struct pair *pair = shared(0);
	struct plx_qp *a[4], *b[4];
	struct pair_options options = pair_usual();

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		options.qp.context = 70 + i;
		a[i] = side_qp(&pair->a, &options);
		b[i] = side_qp(&pair->b, &options);
		pair_join(a[i], b[i], &options.attr);
	}
	for (uint32_t i = 0; i < DEPTH; i++)
		side_receive(&pair->b, i, i * 64, 64);
	for (uint32_t i = 0; i < DEPTH; i++) {
		struct plx_wc wc;

		side_fill(&pair->a, 0, 64, (uint8_t)i);
		assert_int_equal(side_try(&pair->a, a[i % 4], PLX_WR_SEND, i, 0, 0, 64, NULL),
				 PLX_OK);
		wc = pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.context, 70 + i % 4);
		side_assert_filled(&pair->b, i * 64, 64, (uint8_t)i);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(plx_qp_destroy(a[i]), PLX_OK);
		assert_int_equal(plx_qp_destroy(b[i]), PLX_OK);
	}
	pair_close(pair);
}

static void
a_post_to_a_full_queue_is_refused_until_a_message_takes_one(void **state)
{
	struct pair *pair = shared(0);
	const struct plx_sge sge = {(uintptr_t)pair->b.arena, 64, plx_mr_key(pair->b.mr)};
	struct plx_recv_wr wr[DEPTH + 1];
	enum plx_status why;

	(void)state;
	for (uint32_t i = 0; i <= DEPTH; i++)
		wr[i] = (struct plx_recv_wr){.wr_id = i, .sge = &sge, .sges = 1};
	assert_int_equal(plx_post_srq_recv(pair->b.srq, wr, DEPTH + 1, &why), DEPTH);
	assert_int_equal(why, PLX_FULL);
	assert_int_equal(plx_post_srq_recv(pair->b.srq, wr, 1, &why), 0);
	assert_int_equal(why, PLX_FULL);
	one_message(pair, 0);
	pair_until(plx_post_srq_recv(pair->b.srq, wr, 1, &why) == 1);
	assert_int_equal(why, PLX_OK);
	wr[0].sges = 3;
	assert_int_equal(plx_post_srq_recv(pair->b.srq, wr, 1, NULL), 0);
	pair_close(pair);
}

/* A29: below, not to. */
static void
the_threshold_is_told_once_when_the_count_drops_below_it(void **state)
{
	struct pair *pair = shared(3);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		side_receive(&pair->b, i, 0, 64);
	one_message(pair, 0); /* 4 are left */
	one_message(pair, 1); /* 3 */
	assert_no_async(pair->b.adapter);
	one_message(pair, 2); /* 2 */
	assert_threshold(pair->b.adapter);
	one_message(pair, 3);
	assert_no_async(pair->b.adapter);
	pair_close(pair);
}

static void
a_threshold_armed_when_already_below_is_told_at_once(void **state)
{
	struct pair *pair = shared(0);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		side_receive(&pair->b, i, 0, 64);
	one_message(pair, 0);
	assert_int_equal(plx_srq_arm(pair->b.srq, 2), PLX_OK); /* 2 are left: not below */
	assert_no_async(pair->b.adapter);
	assert_int_equal(plx_srq_arm(pair->b.srq, 3), PLX_OK);
	assert_threshold(pair->b.adapter);
	assert_int_equal(plx_srq_arm(pair->b.srq, 2), PLX_OK);
	assert_int_equal(plx_srq_arm(pair->b.srq, 0), PLX_OK);
	one_message(pair, 1);
	assert_no_async(pair->b.adapter);
	pair_close(pair);
}

/* A29: a peer of a shared queue waits for ever. */
static void
an_empty_queue_makes_the_peer_wait_until_a_buffer_is_posted(void **state)
{
	struct pair *pair = shared(0);
	uint64_t begun = test_ns();

	(void)state;
	side_post(&pair->a, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	while (test_ns() - begun < 50 * PLX_MSEC)
		pair_cycle();
	pair_expect_none(pair->a.send_cq);
	side_receive(&pair->b, 9, 0, 64);
	pair_expect(pair->b.recv_cq, 9, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* docs/nd2.md: unconsumed entries stay, and a buffer that is too small kills the queue pair only.
 */
static void
a_failed_queue_pair_leaves_what_no_message_took(void **state)
{
	struct pair *pair = shared(0);
	struct pair_options options = pair_usual();
	struct plx_qp *a, *b;

	(void)state;
	side_receive(&pair->b, 0, 0, 4); /* too small */
	side_receive(&pair->b, 1, 0, 64);
	a = side_qp(&pair->a, &options);
	b = side_qp(&pair->b, &options);
	pair_join(a, b, &options.attr);
	assert_int_equal(side_try(&pair->a, a, PLX_WR_SEND, 5, 0, 0, 8, NULL), PLX_OK);
	pair_expect(pair->b.recv_cq, 0, PLX_WC_LOCAL_LENGTH);
	pair_expect(pair->a.send_cq, 5, PLX_WC_REMOTE_INVALID_REQUEST);
	pair_until(pair_state(b) == PLX_QP_ERROR);
	pair_expect_none(pair->b.recv_cq);
	one_message(pair, 1);
	assert_int_equal(plx_qp_destroy(a), PLX_OK);
	assert_int_equal(plx_qp_destroy(b), PLX_OK);
	pair_close(pair);
}

static void
it_is_busy_while_a_queue_pair_uses_it_and_takes_its_receives_alone(void **state)
{
	struct pair *pair = shared(0);
	const struct plx_recv_wr wr = {.wr_id = 1};
	enum plx_status why;

	(void)state;
	assert_int_equal(plx_srq_destroy(pair->b.srq), PLX_BUSY);
	assert_int_equal(plx_post_recv(pair->b.qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_STATE);
	assert_int_equal(plx_qp_destroy(pair->b.qp), PLX_OK);
	pair->b.qp = NULL;
	assert_int_equal(plx_srq_destroy(pair->b.srq), PLX_OK);
	pair->b.srq = NULL;
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(what_is_out_of_range_is_refused),
		PAIR_TEST(a_resize_grows_and_shrinks_and_loses_nothing),
		PAIR_TEST(queue_pairs_share_its_entries_in_order),
		PAIR_TEST(a_post_to_a_full_queue_is_refused_until_a_message_takes_one),
		PAIR_TEST(the_threshold_is_told_once_when_the_count_drops_below_it),
		PAIR_TEST(a_threshold_armed_when_already_below_is_told_at_once),
		PAIR_TEST(an_empty_queue_makes_the_peer_wait_until_a_buffer_is_posted),
		PAIR_TEST(a_failed_queue_pair_leaves_what_no_message_took),
		PAIR_TEST(it_is_busy_while_a_queue_pair_uses_it_and_takes_its_receives_alone),
	};

	return pair_run_all("srq", tests, sizeof(tests) / sizeof(tests[0]));
}
