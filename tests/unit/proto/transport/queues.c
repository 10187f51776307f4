/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings: indexes that wrap many times, unsignaled requests, shared receive queues, and the flush of
 * queues that are longer than a list of actions. It never loses a packet. Start with
 * the_rings_go_round...
 */
#include "rc_pair.h"

enum {
	ROUNDS = 1000
};

/* Enough room for completions: a long test reaps them as they arrive. */
static void
expect_done(struct pair *pair, int side, uint64_t wr_id, enum plx_wc_status status)
{
	struct side *n = &pair->side[side];

	assert_true(n->dones > 0);
	assert_true(n->done[0].wr_id == wr_id);
	assert_int_equal(n->done[0].status, status);
	memmove(n->done, n->done + 1, --n->dones * sizeof(n->done[0]));
}

static void
the_rings_go_round_many_times_their_depth_in_order(void **state)
{
	static const uint32_t depths[] = {1, 3, 4, 7};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(depths); i++) {
		struct pair_config config = pair_defaults();
		uint64_t posted = 0, done = 0;
		struct pair pair;

		config.caps.sq_depth = config.rq_depth = depths[i];
		pair_init(&pair, &config);
		pair_connect(&pair);
		for (uint32_t round = 0; round < ROUNDS; round++) {
			for (uint32_t k = 0; k <= round % depths[i]; k++, posted++) {
				struct plx_wqe wqe = {.op = PLX_WR_SEND, .wr_id = posted};

				assert_int_equal(plx_rc_post_recv(pair.side[1].qp, posted, NULL, 0),
						 PLX_OK);
				assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL),
						 PLX_OK);
			}
			pair_run(&pair);
			for (; done < posted; done++) {
				expect_done(&pair, 0, done, PLX_WC_SUCCESS);
				expect_done(&pair, 1, done, PLX_WC_SUCCESS);
			}
			assert_int_equal(pair.side[0].dones + pair.side[1].dones, 0);
			assert_int_equal(pair_view(&pair, 0).sq_posted, (uint32_t)posted);
			assert_int_equal(pair_view(&pair, 0).sq_consumed, (uint32_t)posted);
		}
		assert_true(posted > 10 * depths[i]);
		pair_fini(&pair);
	}
}

static void
a_silent_request_completes_without_a_word_and_frees_its_place(void **state)
{
	const struct pair_config config = pair_defaults();
	const struct plx_wqe unsignaled = {.op = PLX_WR_WRITE, .flags = PLX_WR_UNSIGNALED};
	const struct plx_wqe loud = {.op = PLX_WR_WRITE, .wr_id = 9};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < config.caps.sq_depth; i++)
			assert_int_equal(plx_rc_post_send(pair.side[0].qp, &unsignaled, NULL),
					 PLX_OK);
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &unsignaled, NULL), PLX_FULL);
		pair_run(&pair);
		assert_int_equal(pair.side[0].dones, 0);
	}
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &unsignaled, NULL), PLX_OK);
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &loud, NULL), PLX_OK);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 1);
	expect_done(&pair, 0, 9, PLX_WC_SUCCESS);
	pair_fini(&pair);
}

static void
a_silent_request_that_fails_is_told_of_all_the_same(void **state)
{
	const struct pair_config config = pair_defaults();
	const struct plx_wqe unsignaled = {
		.op = PLX_WR_WRITE, .flags = PLX_WR_UNSIGNALED, .wr_id = 5};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (int i = 0; i < 2; i++)
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &unsignaled, NULL), PLX_OK);
	assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn,
				       PLX_AETH_NAK | PLX_NAK_REMOTE_ACCESS),
			 PLX_VERDICT_GHOST); /* nothing has been sent yet */
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn,
				       PLX_AETH_NAK | PLX_NAK_REMOTE_ACCESS),
			 PLX_VERDICT_NAK_ACCESS);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 2);
	expect_done(&pair, 0, 5, PLX_WC_REMOTE_ACCESS);
	expect_done(&pair, 0, 5, PLX_WC_FLUSHED);
	pair_fini(&pair);
}

/* Completions that an action list had no room for come with the next one, in order, none twice. */
static void
one_answer_may_complete_more_than_a_list_of_actions_holds(void **state)
{
	struct pair_config config = pair_defaults();
	struct plx_actions *out;
	struct plx_pkt pkt = {.opcode = PLX_RC_ACK, .dest_qpn = 0x100, .pkey = PLX_PKEY_DEFAULT};
	uint64_t done = 0;
	struct pair pair;

	(void)state;
	config.caps.sq_depth = 200;
	pair_init(&pair, &config);
	pair_connect(&pair);
	out = &pair.out;
	for (uint32_t i = 0; i < 200; i++) {
		const struct plx_wqe wqe = {.op = PLX_WR_WRITE, .wr_id = i};

		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	}
	for (uint32_t i = 0; i < 200 / 50; i++) {
		plx_actions_reset(out);
		assert_int_equal(plx_rc_transmit(pair.side[0].qp, 0, 50, out), 50);
	}
	pkt.psn = plx_psn_add(pair_attr(&pair, 0).sq_psn, 199);
	pkt.aeth.syndrome = PLX_AETH_NO_CREDITS;
	plx_actions_reset(out);
	out->count = PLX_ACTIONS_MAX - PLX_ACTIONS_PER_PACKET;
	assert_int_equal(plx_rc_on_packet(pair.side[0].qp, &pkt, 0, out), PLX_VERDICT_ACKED);
	for (uint32_t calls = 0; done < 200; calls++) {
		uint32_t first = calls ? 60 : PLX_ACTIONS_MAX - PLX_ACTIONS_PER_PACKET;

		for (uint32_t i = first; i < out->count; i++, done++) {
			assert_int_equal(out->list[i].kind, PLX_ACT_COMPLETE);
			assert_true(out->list[i].completion.wr_id == done);
			assert_int_equal(out->list[i].completion.status, PLX_WC_SUCCESS);
		}
		assert_in_range(calls, 0, 100);
		if (done < 200)
			assert_true(plx_rc_wake_ns(pair.side[0].qp) == 0);
		plx_actions_reset(out);
		out->count = 60; /* four places are left */
		assert_int_equal(plx_rc_transmit(pair.side[0].qp, 0, 0, out), 0);
	}
	assert_int_equal(out->count, 60);
	assert_int_equal(pair_view(&pair, 0).sq_consumed, 200);
	pair_fini(&pair);
}

static void
what_is_told_when_the_queue_is_drained_waits_for_room_too(void **state)
{
	const struct pair_config config = pair_defaults();
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_SQD, NULL), PLX_OK);
	plx_actions_reset(&pair.out);
	pair.out.count = PLX_ACTIONS_MAX;
	assert_int_equal(plx_rc_transmit(pair.side[0].qp, 0, 1, &pair.out), 0);
	assert_int_equal(pair.out.count, PLX_ACTIONS_MAX);
	assert_true(plx_rc_wake_ns(pair.side[0].qp) == 0);
	pair_run(&pair);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_SQ_DRAINED), 1);
	pair_fini(&pair);
}

/* ---- flush ---- */

enum {
	DEEP = 4096
};

/* Drain with a list that has only `room` free entries; completions must be in order, then
 * FLUSHED. */
static void
drain_flush(struct pair *pair, uint32_t room)
{
	uint64_t sends = 0, recvs = 0, flushed = 0, calls = 0;

	while (!flushed) {
		struct plx_actions *out = &pair->out;
		uint32_t before = PLX_ACTIONS_MAX - room;

		assert_true(plx_rc_wake_ns(pair->side[0].qp) == 0);
		assert_false(pair_view(pair, 0).flushed && calls == 0);
		plx_actions_reset(out);
		out->count = before;
		assert_int_equal(plx_rc_transmit(pair->side[0].qp, 0, 8, out), 0);
		assert_in_range(out->count, before + 1, PLX_ACTIONS_MAX);
		for (uint32_t i = before; i < out->count; i++) {
			const struct plx_action *action = &out->list[i];

			if (action->kind == PLX_ACT_EVENT) {
				assert_int_equal(action->event.kind, PLX_EVENT_FLUSHED);
				flushed++;
				continue;
			}
			assert_int_equal(action->kind, PLX_ACT_COMPLETE);
			assert_int_equal(flushed, 0);
			assert_int_equal(action->completion.status, PLX_WC_FLUSHED);
			if (action->completion.flags & PLX_WC_RECV)
				assert_true(action->completion.wr_id == recvs++);
			else
				assert_true(action->completion.wr_id == sends++);
		}
		assert_in_range(++calls, 1, 3 * DEEP);
	}
	assert_int_equal(sends, DEEP);
	assert_int_equal(recvs, DEEP);
	assert_int_equal(flushed, 1);
	assert_true(pair_view(pair, 0).flushed);
}

static void
queues_longer_than_an_action_list_are_flushed_in_pieces_and_in_order(void **state)
{
	static const uint32_t rooms[] = {1, 2, 5, PLX_ACTIONS_MAX};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(rooms); i++) {
		struct pair_config config = pair_defaults();
		struct pair pair;

		config.caps.sq_depth = config.rq_depth = DEEP;
		pair_init(&pair, &config);
		pair_connect(&pair);
		for (uint32_t k = 0; k < DEEP; k++) {
			const struct plx_wqe wqe = {.op = PLX_WR_SEND, .wr_id = k};

			assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
			assert_int_equal(plx_rc_post_recv(pair.side[0].qp, k, NULL, 0), PLX_OK);
		}
		/* some of it in flight, some not begun */
		plx_actions_reset(&pair.out);
		assert_int_equal(plx_rc_transmit(pair.side[0].qp, 0, 10, &pair.out), 10);
		assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_ERROR, NULL), PLX_OK);
		drain_flush(&pair, rooms[i]);
		plx_actions_reset(&pair.out);
		assert_int_equal(plx_rc_transmit(pair.side[0].qp, 0, 8, &pair.out), 0);
		assert_int_equal(pair.out.count, 0);
		assert_true(plx_rc_wake_ns(pair.side[0].qp) == PLX_NEVER);
		pair_fini(&pair);
	}
}

static void
what_is_posted_in_error_is_flushed_too_and_told_again(void **state)
{
	const struct pair_config config = pair_defaults();
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_ERROR, NULL), PLX_OK);
	pair_run(&pair);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_FLUSHED), 1);
	for (uint32_t round = 0; round < 100; round++) {
		const struct plx_wqe wqe = {
			.op = PLX_WR_SEND, .wr_id = round, .flags = PLX_WR_UNSIGNALED};

		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
		assert_int_equal(plx_rc_post_recv(pair.side[0].qp, round, NULL, 0), PLX_OK);
		assert_false(pair_view(&pair, 0).flushed);
		assert_true(plx_rc_wake_ns(pair.side[0].qp) == 0);
		pair_run(&pair);
		assert_true(pair_view(&pair, 0).flushed);
		assert_int_equal(pair.side[0].dones, 2);
		expect_done(&pair, 0, round, PLX_WC_FLUSHED);
		expect_done(&pair, 0, round, PLX_WC_FLUSHED);
		pair.side[0].events = 0;
	}
	assert_int_equal(pair.side[0].emitted, 0);
	pair_fini(&pair);
}

/* ---- plx_rc_fail() ---- */

static void
fail_node(struct pair *pair)
{
	plx_actions_reset(&pair->out);
	plx_rc_fail(pair->side[0].qp, &pair->out);
	for (uint32_t i = 0; i < pair->out.count; i++)
		if (pair->out.list[i].kind == PLX_ACT_EVENT)
			pair->side[0].event[pair->side[0].events++] = pair->out.list[i].event;
}

static void
a_queue_pair_that_is_failed_says_nothing_more_to_its_peer(void **state)
{
	const struct pair_config config = pair_defaults();
	struct plx_pkt ahead = {.opcode = PLX_RC_WRITE_ONLY, .ack_request = true};
	struct pair pair;

	(void)state;
	for (int owes_nak = 0; owes_nak < 2; owes_nak++) {
		pair_init(&pair, &config);
		pair_connect(&pair);
		ahead.psn = plx_psn_add(pair_attr(&pair, 0).rq_psn, (uint32_t)owes_nak);
		assert_int_equal(pair_hand(&pair, 0, &ahead),
				 owes_nak ? PLX_VERDICT_AHEAD : PLX_VERDICT_ACCEPT);
		fail_node(&pair);
		pair_run(&pair);
		assert_int_equal(pair.side[0].emitted, 0);
		assert_int_equal(pair_view(&pair, 0).state, PLX_QP_ERROR);
		assert_int_equal(pair_events(&pair, 0, PLX_EVENT_FAILED), 1);
		assert_int_equal(pair_events(&pair, 0, PLX_EVENT_FLUSHED), 1);
		fail_node(&pair); /* once is enough */
		assert_int_equal(pair_events(&pair, 0, PLX_EVENT_FAILED), 1);
		pair_fini(&pair);
	}
}

static void
failing_a_queue_pair_in_reset_changes_nothing(void **state)
{
	const struct pair_config config = pair_defaults();
	struct plx_rc_view before, after;
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	before = pair_view(&pair, 0);
	fail_node(&pair);
	after = pair_view(&pair, 0);
	assert_memory_equal(&before, &after, sizeof(after));
	assert_int_equal(pair.side[0].events, 0);
	pair_fini(&pair);
}

/* ---- shared receive queues ---- */

static void
hand_send(struct pair *pair, uint8_t opcode, uint32_t number, uint32_t bytes)
{
	static const uint8_t payload[256];
	struct plx_pkt pkt = {.opcode = opcode,
			      .psn = plx_psn_add(pair_attr(pair, 1).rq_psn, number),
			      .payload = payload,
			      .payload_bytes = bytes};

	assert_int_equal(pair_hand(pair, 1, &pkt), PLX_VERDICT_ACCEPT);
}

static void
an_own_receive_is_free_when_complete_a_shared_one_when_taken(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct pair_config config = pair_defaults();
		static uint8_t bytes[512];
		struct pair pair;
		struct plx_sge sge;

		config.shared = shared;
		config.rq_depth = 1;
		pair_init(&pair, &config);
		pair_connect(&pair);
		sge = (struct plx_sge){
			(uint64_t)(uintptr_t)bytes, sizeof(bytes),
			pair_region(&pair, bytes, sizeof(bytes), PLX_ACCESS_LOCAL_WRITE)};
		assert_int_equal(plx_rq_post(pair.side[1].rq, 7, &sge, 1), PLX_OK);
		assert_int_equal(plx_rq_room(pair.side[1].rq), 0);
		assert_int_equal(plx_rq_count(pair.side[1].rq), 1);
		hand_send(&pair, PLX_RC_SEND_FIRST, 0, 256);
		assert_int_equal(pair_view(&pair, 1).rq_open, 1);
		assert_int_equal(plx_rq_count(pair.side[1].rq), 0);
		assert_int_equal(plx_rq_room(pair.side[1].rq), shared);
		/* the entry's slot is overwritten; the message continues with its copy */
		if (shared)
			assert_int_equal(plx_rq_post(pair.side[1].rq, 8, NULL, 0), PLX_OK);
		hand_send(&pair, PLX_RC_SEND_LAST, 1, 256);
		expect_done(&pair, 1, 7, PLX_WC_SUCCESS);
		assert_int_equal(plx_rq_room(pair.side[1].rq), !shared);
		pair_fini(&pair);
	}
}

static void
a_shared_queue_tells_once_that_it_is_below_its_threshold(void **state)
{
	struct pair_config config = pair_defaults();
	struct pair pair;

	(void)state;
	config.shared = true;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(plx_rq_post(pair.side[1].rq, i, NULL, 0), PLX_OK);
	plx_rq_arm(pair.side[1].rq, 4);
	for (uint32_t i = 0; i < 4; i++) {
		hand_send(&pair, PLX_RC_SEND_ONLY, i, 0);
		assert_int_equal(pair_events(&pair, 1, PLX_EVENT_SRQ_THRESHOLD), i >= 2);
	}
	plx_rq_arm(pair.side[1].rq, 4); /* already below: the next fetch raises the event */
	hand_send(&pair, PLX_RC_SEND_ONLY, 4, 0);
	assert_int_equal(pair_events(&pair, 1, PLX_EVENT_SRQ_THRESHOLD), 2);
	plx_rq_arm(pair.side[1].rq, 4);
	plx_rq_arm(pair.side[1].rq, 0); /* disarms it */
	hand_send(&pair, PLX_RC_SEND_ONLY, 5, 0);
	assert_int_equal(pair_events(&pair, 1, PLX_EVENT_SRQ_THRESHOLD), 2);
	assert_int_equal(pair.side[1].dones, 6);
	pair_fini(&pair);
}

static void
entries_of_a_shared_queue_that_no_message_took_outlive_a_queue_pair(void **state)
{
	struct pair_config config = pair_defaults();
	static uint8_t bytes[512];
	struct plx_sge sge;
	struct pair pair;

	(void)state;
	config.shared = true;
	pair_init(&pair, &config);
	pair_connect(&pair);
	sge = (struct plx_sge){(uint64_t)(uintptr_t)bytes, sizeof(bytes),
			       pair_region(&pair, bytes, sizeof(bytes), PLX_ACCESS_LOCAL_WRITE)};
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(plx_rq_post(pair.side[1].rq, i, &sge, 1), PLX_OK);
	hand_send(&pair, PLX_RC_SEND_FIRST, 0, 256);
	assert_int_equal(plx_rc_modify(pair.side[1].qp, PLX_QP_ERROR, NULL), PLX_OK);
	pair_run(&pair);
	assert_int_equal(pair.side[1].dones, 1); /* the one that was taken */
	expect_done(&pair, 1, 0, PLX_WC_FLUSHED);
	assert_int_equal(plx_rq_count(pair.side[1].rq), 2);
	assert_int_equal(plx_rc_modify(pair.side[1].qp, PLX_QP_RESET, NULL), PLX_OK);
	assert_int_equal(plx_rq_count(pair.side[1].rq), 2);
	pair_fini(&pair);
}

static void
two_queue_pairs_take_from_one_queue_in_the_order_of_their_messages(void **state)
{
	struct pair_config config = pair_defaults();
	uint64_t taken[2] = {0, 0};
	struct pair pair;

	(void)state;
	config.shared = config.one_queue = true;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		int from = round % 3 == 0;
		const struct plx_wqe wqe = {.op = PLX_WR_SEND};

		assert_int_equal(plx_rq_post(pair.side[0].rq, round, NULL, 0), PLX_OK);
		assert_int_equal(plx_rc_post_send(pair.side[from].qp, &wqe, NULL), PLX_OK);
		pair_run(&pair);
		expect_done(&pair, from, 0, PLX_WC_SUCCESS);
		expect_done(&pair, !from, round, PLX_WC_SUCCESS);
		taken[!from]++;
		assert_int_equal(plx_rq_count(pair.side[0].rq), 0);
	}
	assert_true(taken[0] > 0 && taken[1] > 0);
	pair_fini(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rings_go_round_many_times_their_depth_in_order),
		cmocka_unit_test(a_silent_request_completes_without_a_word_and_frees_its_place),
		cmocka_unit_test(a_silent_request_that_fails_is_told_of_all_the_same),
		cmocka_unit_test(
			queues_longer_than_an_action_list_are_flushed_in_pieces_and_in_order),
		cmocka_unit_test(what_is_posted_in_error_is_flushed_too_and_told_again),
		cmocka_unit_test(a_queue_pair_that_is_failed_says_nothing_more_to_its_peer),
		cmocka_unit_test(failing_a_queue_pair_in_reset_changes_nothing),
		cmocka_unit_test(an_own_receive_is_free_when_complete_a_shared_one_when_taken),
		cmocka_unit_test(a_shared_queue_tells_once_that_it_is_below_its_threshold),
		cmocka_unit_test(
			entries_of_a_shared_queue_that_no_message_took_outlive_a_queue_pair),
		cmocka_unit_test(
			two_queue_pairs_take_from_one_queue_in_the_order_of_their_messages),
		cmocka_unit_test(one_answer_may_complete_more_than_a_list_of_actions_holds),
		cmocka_unit_test(what_is_told_when_the_queue_is_drained_waits_for_room_too),
	};

	return cmocka_run_group_tests_name("transport: queues", tests, NULL, NULL);
}
