/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What posting refuses, with which status, and that a refused post has changed nothing. It never
 * sends a packet. Start with the table of refusals.
 */
#include "rc_pair.h"

enum {
	DEPTH = 4,
	SGES = 5,
	INLINE = 100
};

static const struct pair_config config = {
	.caps = {.sq_depth = DEPTH,
		 .sq_sges = SGES,
		 .inline_bytes = INLINE,
		 .responder_resources = 1},
	.rq_depth = DEPTH,
	.rq_sges = 2,
};

struct before {
	struct plx_rc_view view;
	struct plx_rc_counters counters;
	uint64_t wake;
	uint32_t room, count;
};

static struct before
look(const struct pair *pair)
{
	return (struct before){pair_view(pair, 0), *plx_rc_counters(pair->side[0].qp),
			       plx_rc_wake_ns(pair->side[0].qp), plx_rq_room(pair->side[0].rq),
			       plx_rq_count(pair->side[0].rq)};
}

static void
assert_untouched(const struct pair *pair, const struct before *was)
{
	const struct before is = look(pair);

	assert_memory_equal(&is.view, &was->view, sizeof(is.view));
	assert_memory_equal(&is.counters, &was->counters, sizeof(is.counters));
	assert_true(is.wake == was->wake);
	assert_int_equal(is.room, was->room);
	assert_int_equal(is.count, was->count);
}

static void
refuse(struct pair *pair, const struct plx_wqe *wqe, const void *spill, enum plx_status want)
{
	const struct before was = look(pair);

	assert_int_equal(plx_rc_post_send(pair->side[0].qp, wqe, spill), want);
	assert_untouched(pair, &was);
}

static void
refuse_recv(struct pair *pair, const struct plx_sge *sge, uint32_t sges, enum plx_status want)
{
	const struct before was = look(pair);

	assert_int_equal(plx_rc_post_recv(pair->side[0].qp, 1, sge, sges), want);
	assert_untouched(pair, &was);
}

static void
a_send_is_refused_before_rts_and_taken_after_it(void **state)
{
	const struct plx_wqe wqe = {.op = PLX_WR_SEND};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	for (int s = PLX_QP_RESET; s <= PLX_QP_SQD; s++) {
		const struct plx_rc_attr attr = pair_attr(&pair, 0);

		if (s > PLX_QP_RESET)
			assert_int_equal(
				plx_rc_modify(pair.side[0].qp, (enum plx_qp_state)s, &attr),
				PLX_OK);
		if (s < PLX_QP_RTS)
			refuse(&pair, &wqe, NULL, PLX_STATE);
		else
			assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	}
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_ERROR, NULL), PLX_OK);
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	assert_int_equal(pair_view(&pair, 0).sq_posted, 3);
	pair_fini(&pair);
}

static void
a_full_send_queue_refuses_and_takes_again_when_one_is_done(void **state)
{
	struct plx_wqe wqe = {.op = PLX_WR_WRITE};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	refuse(&pair, &wqe, NULL, PLX_FULL);
	assert_int_equal(pair_send(&pair, 0, DEPTH), DEPTH);
	refuse(&pair, &wqe, NULL, PLX_FULL);
	assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn, PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	refuse(&pair, &wqe, NULL, PLX_FULL);
	pair_fini(&pair);
}

static void
an_operation_or_flag_that_does_not_exist_is_invalid(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	refuse(&pair, &(struct plx_wqe){.op = PLX_WR_NONE}, NULL, PLX_INVALID);
	refuse(&pair, &(struct plx_wqe){.op = PLX_WR_OP_COUNT}, NULL, PLX_INVALID);
	refuse(&pair, &(struct plx_wqe){.op = 255}, NULL, PLX_INVALID);
	for (uint32_t bit = PLX_WR_FLAGS_COMMON + 1; bit < 256; bit *= 2)
		refuse(&pair, &(struct plx_wqe){.op = PLX_WR_SEND, .flags = (uint8_t)bit}, NULL,
		       PLX_INVALID);
	pair_fini(&pair);
}

static void
data_that_comes_back_cannot_be_inline(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_READ, PLX_WR_CMP_SWAP, PLX_WR_FETCH_ADD};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (size_t i = 0; i < PLX_COUNT_OF(ops); i++)
		refuse(&pair,
		       &(struct plx_wqe){
			       .op = (uint8_t)ops[i], .flags = PLX_WR_INLINE, .inline_bytes = 8},
		       NULL, PLX_INVALID);
	pair_fini(&pair);
}

static void
a_read_or_atomic_is_invalid_when_none_may_be_open(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_READ, PLX_WR_CMP_SWAP, PLX_WR_FETCH_ADD};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair.attr.initiator_depth = 0;
	pair_connect(&pair);
	for (size_t i = 0; i < PLX_COUNT_OF(ops); i++)
		refuse(&pair,
		       &(struct plx_wqe){.op = (uint8_t)ops[i], .sges = 1, .sge = {{.length = 8}}},
		       NULL, PLX_INVALID);
	pair_fini(&pair);
}

static void
an_atomic_is_invalid_unless_its_result_has_eight_bytes(void **state)
{
	static const uint32_t lengths[][2] = {{0, 0}, {4, 0}, {7, 0}, {9, 0}, {16, 0}, {8, 8}};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (int op = PLX_WR_CMP_SWAP; op <= PLX_WR_FETCH_ADD; op++) {
		struct plx_wqe wqe = {.op = (uint8_t)op};

		refuse(&pair, &wqe, NULL, PLX_INVALID);
		for (size_t i = 0; i < PLX_COUNT_OF(lengths); i++) {
			wqe.sges = lengths[i][1] ? 2 : 1;
			wqe.sge[0].length = lengths[i][0];
			wqe.sge[1].length = lengths[i][1];
			refuse(&pair, &wqe, NULL, PLX_INVALID);
		}
		wqe.sges = 1;
		wqe.sge[0].length = 8;
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	}
	pair_fini(&pair);
}

static void
more_segments_than_the_queue_was_made_for_are_too_many(void **state)
{
	static const struct plx_sge spill[PLX_SGE_MAX];
	struct plx_wqe wqe = {.op = PLX_WR_SEND};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (uint32_t sges = SGES + 1; sges <= PLX_SGE_MAX + 1; sges++) {
		wqe.sges = (uint8_t)sges;
		refuse(&pair, &wqe, spill, PLX_TOO_MANY_SGES);
	}
	wqe.sges = 255;
	refuse(&pair, &wqe, spill, PLX_TOO_MANY_SGES);
	wqe.sges = SGES;
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, spill), PLX_OK);
	pair_fini(&pair);
}

static void
a_message_of_more_than_two_gibibytes_is_too_long(void **state)
{
	const struct plx_sge spill = {.length = 1};
	struct plx_wqe wqe = {.op = PLX_WR_WRITE, .sges = 2};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	wqe.sge[0].length = PLX_MESSAGE_MAX;
	wqe.sge[1].length = 1;
	refuse(&pair, &wqe, NULL, PLX_TOO_LONG);
	/* sums that come back to little in 32 bits */
	wqe.sge[1].length = PLX_MESSAGE_MAX;
	refuse(&pair, &wqe, NULL, PLX_TOO_LONG);
	wqe.sges = SGES;
	for (int i = 0; i < PLX_WQE_SGES; i++)
		wqe.sge[i].length = UINT32_MAX;
	refuse(&pair, &wqe, &spill, PLX_TOO_LONG);
	wqe.sges = 1;
	wqe.sge[0].length = PLX_MESSAGE_MAX + 1;
	refuse(&pair, &wqe, NULL, PLX_TOO_LONG);
	wqe.sge[0].length = PLX_MESSAGE_MAX;
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	pair_fini(&pair);
}

static void
inline_data_over_the_limit_is_too_long(void **state)
{
	static const uint8_t data[PLX_INLINE_MAX + 1];
	struct plx_wqe wqe = {.op = PLX_WR_SEND, .flags = PLX_WR_INLINE};
	struct pair_config small = config;
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	wqe.inline_bytes = INLINE + 1;
	refuse(&pair, &wqe, data, PLX_TOO_LONG);
	wqe.inline_bytes = UINT32_MAX;
	refuse(&pair, &wqe, data, PLX_TOO_LONG);
	wqe.inline_bytes = INLINE;
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, data), PLX_OK);
	pair_fini(&pair);

	small.caps.inline_bytes = 0; /* data in the WQE is always present */
	pair_init(&pair, &small);
	pair_connect(&pair);
	wqe.inline_bytes = PLX_WQE_INLINE_BYTES + 1;
	refuse(&pair, &wqe, data, PLX_TOO_LONG);
	wqe.inline_bytes = PLX_WQE_INLINE_BYTES;
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	pair_fini(&pair);
}

static void
a_receive_is_refused_in_reset_and_taken_from_init_on(void **state)
{
	const struct plx_sge sge = {.length = 1};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	refuse_recv(&pair, &sge, 1, PLX_STATE);
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_INIT, NULL), PLX_OK);
	assert_int_equal(plx_rc_post_recv(pair.side[0].qp, 1, &sge, 1), PLX_OK);
	pair_fini(&pair);
}

static void
a_receive_that_does_not_fit_the_queue_is_refused(void **state)
{
	const struct plx_sge sge[3] = {{.length = PLX_MESSAGE_MAX}, {.length = 1}};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	refuse_recv(&pair, sge, 3, PLX_TOO_MANY_SGES);
	refuse_recv(&pair, sge, UINT32_MAX, PLX_TOO_MANY_SGES);
	refuse_recv(&pair, sge, 2, PLX_TOO_LONG);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(plx_rc_post_recv(pair.side[0].qp, 1, sge, i % 2), PLX_OK);
	refuse_recv(&pair, sge, 1, PLX_FULL);
	pair_fini(&pair);
}

static void
a_shared_queue_takes_receives_by_itself_only(void **state)
{
	const struct plx_sge sge = {.length = 1};
	struct pair_config shared = config;
	struct pair pair;

	(void)state;
	shared.shared = true;
	pair_init(&pair, &shared);
	pair_connect(&pair);
	refuse_recv(&pair, &sge, 1, PLX_STATE);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(plx_rq_post(pair.side[0].rq, 1, &sge, 1), PLX_OK);
	assert_int_equal(plx_rq_post(pair.side[0].rq, 1, &sge, 1), PLX_FULL);
	assert_int_equal(plx_rq_count(pair.side[0].rq), DEPTH);
	assert_int_equal(plx_rq_room(pair.side[0].rq), 0);
	pair_fini(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_is_refused_before_rts_and_taken_after_it),
		cmocka_unit_test(a_full_send_queue_refuses_and_takes_again_when_one_is_done),
		cmocka_unit_test(an_operation_or_flag_that_does_not_exist_is_invalid),
		cmocka_unit_test(data_that_comes_back_cannot_be_inline),
		cmocka_unit_test(a_read_or_atomic_is_invalid_when_none_may_be_open),
		cmocka_unit_test(an_atomic_is_invalid_unless_its_result_has_eight_bytes),
		cmocka_unit_test(more_segments_than_the_queue_was_made_for_are_too_many),
		cmocka_unit_test(a_message_of_more_than_two_gibibytes_is_too_long),
		cmocka_unit_test(inline_data_over_the_limit_is_too_long),
		cmocka_unit_test(a_receive_is_refused_in_reset_and_taken_from_init_on),
		cmocka_unit_test(a_receive_that_does_not_fit_the_queue_is_refused),
		cmocka_unit_test(a_shared_queue_takes_receives_by_itself_only),
	};

	return cmocka_run_group_tests_name("transport: post", tests, NULL, NULL);
}
