/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Capacity of completion queues: depth, resizing, completions that are held back while a queue is
 * full, and entries of queue pairs that were destroyed. Start with
 * a_queue_of_two_keeps_what_sixty_four_requests_leave_in_it().
 */
#include "verbs_pair.h"

static void
a_queue_of_two_keeps_what_sixty_four_requests_leave_in_it(void **state)
{
	struct pair_options options = pair_usual();
	struct pair *pair;

	(void)state;
	options.cq.depth = 2;
	pair = pair_open(&options);
	for (uint32_t i = 0; i < PAIR_RQ; i++)
		side_receive(&pair->b, i, 0, 64);
	for (uint32_t i = 0; i < PAIR_SQ; i++)
		side_post(&pair->a, PLX_WR_SEND, 100 + i, 0, 0, 8, NULL);
	pair_settle();
	for (uint32_t i = 0; i < PAIR_SQ; i++) {
		pair_expect(pair->a.send_cq, 100 + i, PLX_WC_SUCCESS);
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	}
	pair_close(pair);
}

/* Places are freed by acknowledgement; so there must be another end to posting than the queue's. */
static void
who_posts_without_reaping_is_held_back_and_loses_nothing(void **state)
{
	struct pair_options options = pair_usual();
	struct beyond beyond;
	uint64_t posted = 0;
	struct pair *pair;

	(void)state;
	options.cq.depth = 16;
	pair = pair_open(&options);
	beyond = at_peer(&pair->b, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		enum plx_status status =
			side_try(&pair->a, pair->a.qp, PLX_WR_WRITE, posted, 0, 0, 8, &beyond);

		assert_true(status == PLX_OK || status == PLX_FULL);
		posted += status == PLX_OK;
		pair_cycle();
	}
	assert_in_range(posted, PAIR_SQ, 10 * PAIR_SQ);
	for (uint64_t i = 0; i < posted; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	pair_expect_none(pair->a.send_cq);
	pair_until(side_try(&pair->a, pair->a.qp, PLX_WR_WRITE, 1, 0, 0, 8, &beyond) == PLX_OK);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
a_depth_out_of_range_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_adapter_info info;
	struct plx_cq_options options = {.depth = 0};
	struct plx_cq *cq = NULL;

	(void)state;
	plx_adapter_query(pair->a.adapter, &info);
	assert_int_equal(plx_cq_create(pair->a.adapter, &options, &cq), PLX_INVALID);
	options.depth = info.cq_depth + 1;
	assert_int_equal(plx_cq_create(pair->a.adapter, &options, &cq), PLX_INVALID);
	assert_null(cq);
	options.depth = info.cq_depth;
	assert_int_equal(plx_cq_create(pair->a.adapter, &options, &cq), PLX_OK);
	assert_int_equal(plx_cq_destroy(cq), PLX_OK);
	pair_close(pair);
}

static void
a_queue_is_busy_while_a_queue_pair_uses_it(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	assert_int_equal(plx_cq_destroy(pair->a.send_cq), PLX_BUSY);
	assert_int_equal(plx_cq_destroy(pair->a.recv_cq), PLX_BUSY);
	pair_deliver(pair, 1, 0);
	pair_expect(pair->b.recv_cq, 0, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
a_queue_is_resized_with_entries_in_it(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 10, 0);
	assert_int_equal(plx_cq_resize(pair->b.recv_cq, 0), PLX_INVALID);
	assert_int_equal(plx_cq_resize(pair->b.recv_cq, UINT32_MAX), PLX_INVALID);
	assert_int_equal(plx_cq_resize(pair->b.recv_cq, 9), PLX_BUSY);
	pair_expect(pair->b.recv_cq, 0, PLX_WC_SUCCESS);
	assert_int_equal(plx_cq_resize(pair->b.recv_cq, 9), PLX_OK);
	pair_expect(pair->b.recv_cq, 1, PLX_WC_SUCCESS);
	assert_int_equal(plx_cq_resize(pair->b.recv_cq, 4096), PLX_OK);
	for (uint64_t i = 2; i < 10; i++)
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	pair_deliver(pair, 20, 0);
	for (uint64_t i = 0; i < 20; i++)
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	pair_expect_none(pair->b.recv_cq);
	pair_close(pair);
}

static void
a_resize_under_load_loses_and_reorders_nothing(void **state)
{
	static const uint32_t depths[] = {64, 4096, 100, 1, 8192, 65, 1000};
	struct pair *pair = pair_open(NULL);
	uint64_t sent = 0, sends_seen = 0, receives_seen = 0;

	(void)state;
	for (uint32_t round = 0; receives_seen < 20000; round++) {
		struct plx_wc wc[16];
		enum plx_status status;
		uint32_t n;

		while (sent < sends_seen + 32 && sent < receives_seen + 32) {
			side_receive(&pair->b, sent, 0, 8);
			side_post(&pair->a, PLX_WR_SEND, sent++, 0, 0, 8, NULL);
		}
		if (round % 8 == 0) {
			status = plx_cq_resize(pair->b.recv_cq, depths[round / 8 % 7]);
			assert_true(status == PLX_OK || status == PLX_BUSY);
		}
		pair_cycle();
		n = plx_cq_poll(pair->a.send_cq, wc, 16);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(wc[i].wr_id, sends_seen++);
		n = plx_cq_poll(pair->b.recv_cq, wc, round % 16);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(wc[i].wr_id, receives_seen++);
	}
	pair_close(pair);
}

static void
entries_of_a_queue_pair_that_is_gone_stay(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	pair_deliver(pair, 3, 0);
	assert_int_equal(plx_qp_destroy(pair->b.qp), PLX_OK);
	pair->b.qp = NULL;
	for (uint64_t i = 0; i < 3; i++)
		pair_expect(pair->b.recv_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_queue_of_two_keeps_what_sixty_four_requests_leave_in_it),
		PAIR_TEST(who_posts_without_reaping_is_held_back_and_loses_nothing),
		PAIR_TEST(a_depth_out_of_range_is_refused),
		PAIR_TEST(a_queue_is_busy_while_a_queue_pair_uses_it),
		PAIR_TEST(a_queue_is_resized_with_entries_in_it),
		PAIR_TEST(a_resize_under_load_loses_and_reorders_nothing),
		PAIR_TEST(entries_of_a_queue_pair_that_is_gone_stay),
	};

	return pair_run_all("cq_room", tests, sizeof(tests) / sizeof(tests[0]));
}
