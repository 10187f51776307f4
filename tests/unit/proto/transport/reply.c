/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The replies that a responder owes when several packets arrive before it transmits: which are sent
 * once, which are withdrawn, their order, and that our own requests wait for them. Only the test's
 * requests arrive. Start with said().
 */
#include "rc_pair.h"

struct stage {
	struct pair pair;
	uint8_t memory[4096];
	uint64_t word;
	struct plx_key key, word_key;
	struct plx_psn first;
};

static struct stage stage;

static void
start(uint32_t responder_resources)
{
	struct pair_config config = pair_defaults();

	memset(&stage, 0, sizeof(stage));
	config.caps.responder_resources = responder_resources;
	pair_init(&stage.pair, &config);
	stage.key = pair_region(&stage.pair, stage.memory, sizeof(stage.memory),
				PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
					PLX_ACCESS_REMOTE_READ);
	stage.word_key = pair_region(&stage.pair, &stage.word, 8,
				     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_ATOMIC);
	pair_connect(&stage.pair);
	stage.first = pair_attr(&stage.pair, 1).rq_psn;
}

static void
finish(void)
{
	pair_fini(&stage.pair);
}

/* A request of one packet arrives at side 1, PSN number `number`. */
static void
arrive(uint8_t opcode, uint32_t number, uint32_t read_bytes, enum plx_verdict want)
{
	struct plx_pkt pkt = {.opcode = opcode, .psn = plx_psn_add(stage.first, number)};

	if (opcode == PLX_RC_READ_REQUEST)
		pkt.reth = (struct plx_reth){(uint64_t)(uintptr_t)stage.memory, stage.key.v,
					     read_bytes};
	if (opcode == PLX_RC_FETCH_ADD)
		pkt.atomic = (struct plx_atomic_eth){.va = (uint64_t)(uintptr_t)&stage.word,
						     .rkey = stage.word_key.v,
						     .swap_add = 1};
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), want);
}

struct said {
	uint8_t opcode;
	uint32_t number;
	uint8_t syndrome; /* 0: has none */
};

enum {
	ACK = PLX_AETH_ACK | PLX_AETH_NO_CREDITS
};

/* Node 1 sends exactly this, in this order, however many packets it may send at once. */
static void
say(uint32_t budget, const struct said *list, size_t count)
{
	size_t at = 0;
	uint32_t sent;

	do {
		struct plx_actions *out = &stage.pair.out;

		plx_actions_reset(out);
		sent = plx_rc_transmit(stage.pair.side[1].qp, stage.pair.now, budget, out);
		for (uint32_t i = 0; i < out->count; i++) {
			const struct plx_pkt *pkt = &out->list[i].emit.pkt;

			if (out->list[i].kind != PLX_ACT_EMIT)
				continue;
			assert_in_range(at, 0, count - 1);
			assert_string_equal(plx_opcodes[pkt->opcode].name,
					    plx_opcodes[list[at].opcode].name);
			if (list[at].syndrome) {
				assert_int_equal(pkt->psn.v,
						 plx_psn_add(stage.first, list[at].number).v);
				assert_int_equal(pkt->aeth.syndrome, list[at].syndrome);
			}
			at++;
		}
	} while (sent);
	assert_int_equal(at, count);
}

#define SAYS(budget, ...)                               \
	say(budget, (const struct said[]){__VA_ARGS__}, \
	    sizeof((const struct said[]){__VA_ARGS__}) / sizeof(struct said))

static bool
owes(void)
{
	return plx_rc_owes(stage.pair.side[1].qp);
}

/* What an engine may send out of turn: an acknowledgement, but no READ response (decision 26). */
static void
answers_of_reads_are_not_owed_and_acknowledgements_not_before_them(void **state)
{
	(void)state;
	start(4);
	assert_false(owes());
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	assert_true(owes());
	SAYS(1, {PLX_RC_ACK, 0, ACK});
	assert_false(owes());
	arrive(PLX_RC_READ_REQUEST, 1, 8, PLX_VERDICT_ACCEPT);
	assert_false(owes());
	arrive(PLX_RC_WRITE_ONLY, 2, 0, PLX_VERDICT_ACCEPT);
	assert_false(owes());
	SAYS(1, {PLX_RC_READ_RESPONSE_ONLY, 1, ACK}, {PLX_RC_ACK, 2, ACK});
	assert_false(owes());
	/* An acknowledgement older than the response is implied by the response's first packet. */
	arrive(PLX_RC_WRITE_ONLY, 3, 0, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_READ_REQUEST, 4, 8, PLX_VERDICT_ACCEPT);
	assert_true(owes());
	SAYS(1, {PLX_RC_READ_RESPONSE_ONLY, 4, ACK});
	assert_false(owes());
	finish();
}

static void
several_requests_are_acknowledged_once_by_the_newest(void **state)
{
	(void)state;
	start(1);
	for (uint32_t i = 0; i < 5; i++)
		arrive(PLX_RC_WRITE_ONLY, i, 0, PLX_VERDICT_ACCEPT);
	SAYS(8, {PLX_RC_ACK, 4, ACK});
	/* old ones that come again are acknowledged by the newest too */
	for (uint32_t i = 0; i < 3; i++)
		arrive(PLX_RC_WRITE_ONLY, i, 0, PLX_VERDICT_DUPLICATE);
	SAYS(8, {PLX_RC_ACK, 4, ACK});
	finish();
}

static void
a_nak_that_has_not_left_asks_for_what_was_dropped_when_its_gap_closes(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_WRITE_ONLY, 1, 0, PLX_VERDICT_AHEAD);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	SAYS(8, {PLX_RC_ACK, 1, PLX_AETH_NAK}); /* it acknowledges number 0 as well */
	arrive(PLX_RC_WRITE_ONLY, 1, 0, PLX_VERDICT_ACCEPT);
	SAYS(8, {PLX_RC_ACK, 1, ACK});
	finish();
}

static void
a_nak_that_has_not_left_is_withdrawn_when_nothing_is_missing_any_more(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_WRITE_ONLY, 1, 0, PLX_VERDICT_AHEAD);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_WRITE_ONLY, 1, 0, PLX_VERDICT_ACCEPT);
	SAYS(8, {PLX_RC_ACK, 1, ACK});
	finish();
}

static void
a_second_gap_earns_a_second_nak(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_WRITE_ONLY, 1, 0, PLX_VERDICT_AHEAD);
	SAYS(8, {PLX_RC_ACK, 0, PLX_AETH_NAK});
	arrive(PLX_RC_WRITE_ONLY, 2, 0, PLX_VERDICT_AHEAD_AGAIN);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_WRITE_ONLY, 2, 0, PLX_VERDICT_AHEAD);
	SAYS(8, {PLX_RC_ACK, 1, PLX_AETH_NAK}); /* it acknowledges number 0 as well */
	finish();
}

static void
a_duplicate_does_not_hide_a_nak(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	SAYS(8, {PLX_RC_ACK, 0, ACK});
	arrive(PLX_RC_WRITE_ONLY, 2, 0, PLX_VERDICT_AHEAD);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_DUPLICATE);
	SAYS(8, {PLX_RC_ACK, 1, PLX_AETH_NAK});
	finish();
}

static void
not_ready_is_said_once_and_not_hidden_by_what_follows(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_SEND_ONLY, 0, 0, PLX_VERDICT_RNR);
	arrive(PLX_RC_SEND_ONLY, 1, 0, PLX_VERDICT_AHEAD);
	arrive(PLX_RC_SEND_ONLY, 0, 0, PLX_VERDICT_RNR);
	SAYS(8, {PLX_RC_ACK, 0, PLX_AETH_RNR | 1});
	finish();
}

/* Whatever the budget of one call: the order is that of the requests. */
static void
answers_leave_in_the_order_of_their_requests(void **state)
{
	static const uint32_t budgets[] = {1, 2, 3, 64};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(budgets); i++) {
		start(4);
		arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
		arrive(PLX_RC_READ_REQUEST, 1, 600, PLX_VERDICT_ACCEPT);
		arrive(PLX_RC_FETCH_ADD, 4, 0, PLX_VERDICT_ACCEPT);
		arrive(PLX_RC_READ_REQUEST, 5, 1, PLX_VERDICT_ACCEPT);
		arrive(PLX_RC_WRITE_ONLY, 6, 0, PLX_VERDICT_ACCEPT);
		SAYS(budgets[i], {PLX_RC_READ_RESPONSE_FIRST, 1, ACK},
		     {PLX_RC_READ_RESPONSE_MIDDLE, 2, 0}, {PLX_RC_READ_RESPONSE_LAST, 3, ACK},
		     {PLX_RC_ATOMIC_ACK, 4, ACK}, {PLX_RC_READ_RESPONSE_ONLY, 5, ACK},
		     {PLX_RC_ACK, 6, ACK});
		finish();
	}
}

static void
the_last_word_comes_after_the_answers_before_it(void **state)
{
	(void)state;
	start(4);
	arrive(PLX_RC_READ_REQUEST, 0, 300, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_FETCH_ADD, 2, 0, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_WRITE_MIDDLE, 3, 0, PLX_VERDICT_SEQUENCE);
	SAYS(1, {PLX_RC_READ_RESPONSE_FIRST, 0, ACK}, {PLX_RC_READ_RESPONSE_LAST, 1, ACK},
	     {PLX_RC_ATOMIC_ACK, 2, ACK}, {PLX_RC_ACK, 3, PLX_AETH_NAK | PLX_NAK_INVALID_REQUEST});
	assert_int_equal(pair_view(&stage.pair, 1).state, PLX_QP_ERROR);
	finish();
}

static void
an_acknowledgement_that_is_owed_leaves_before_the_end(void **state)
{
	(void)state;
	start(1);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	assert_int_equal(plx_rc_modify(stage.pair.side[1].qp, PLX_QP_ERROR, NULL), PLX_OK);
	SAYS(8, {PLX_RC_ACK, 0, ACK});
	finish();
}

static void
answers_are_remembered_in_a_ring_and_the_oldest_is_forgotten(void **state)
{
	(void)state;
	start(3);
	for (uint32_t i = 0; i < 20; i++) {
		arrive(PLX_RC_FETCH_ADD, i, 0, PLX_VERDICT_ACCEPT);
		SAYS(8, {PLX_RC_ATOMIC_ACK, i, ACK});
		for (uint32_t back = 0; back < 6 && back <= i; back++) {
			bool known = back < 3;

			arrive(PLX_RC_FETCH_ADD, i - back, 0,
			       known ? PLX_VERDICT_REPLAY : PLX_VERDICT_DUPLICATE_FORGOTTEN);
			if (known)
				SAYS(8, {PLX_RC_ATOMIC_ACK, i - back, ACK});
		}
	}
	assert_true(stage.word == 20); /* none was executed twice */
	finish();
}

static void
a_read_asked_for_again_while_it_is_answered_starts_anew(void **state)
{
	(void)state;
	start(2);
	arrive(PLX_RC_READ_REQUEST, 0, 1024, PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_send(&stage.pair, 1, 2), 2); /* two of four have left */
	arrive(PLX_RC_READ_REQUEST, 0, 1024, PLX_VERDICT_REPLAY);
	SAYS(8, {PLX_RC_READ_RESPONSE_FIRST, 0, ACK}, {PLX_RC_READ_RESPONSE_MIDDLE, 1, 0},
	     {PLX_RC_READ_RESPONSE_MIDDLE, 2, 0}, {PLX_RC_READ_RESPONSE_LAST, 3, ACK});
	finish();
}

static void
an_ack_of_what_is_older_than_a_read_leaves_between_its_responses(void **state)
{
	(void)state;
	start(2);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_READ_REQUEST, 1, 1024, PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_send(&stage.pair, 1, 2), 2);
	arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_DUPLICATE);
	SAYS(8, {PLX_RC_ACK, 0, ACK}, {PLX_RC_READ_RESPONSE_MIDDLE, 3, 0},
	     {PLX_RC_READ_RESPONSE_LAST, 4, ACK});
	finish();
}

static void
a_read_whose_key_goes_while_it_is_answered_ends_in_a_nak_of_its_next_psn(void **state)
{
	const struct plx_region_attr attr = {.va = 0x1000,
					     .host = stage.memory,
					     .length = 1024,
					     .access = {PLX_ACCESS_REMOTE_READ}};
	struct plx_pkt pkt = {.opcode = PLX_RC_READ_REQUEST};
	struct plx_region region;
	struct plx_key key;

	(void)state;
	start(2);
	assert_int_equal(
		plx_region_register(stage.pair.mem, stage.pair.domain, &attr, &region, &key),
		PLX_OK);
	pkt.psn = stage.first;
	pkt.reth = (struct plx_reth){0x1000, key.v, 1024};
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_send(&stage.pair, 1, 2), 2);
	assert_int_equal(plx_region_retire(stage.pair.mem, region), PLX_OK);
	SAYS(8, {PLX_RC_ACK, 2, PLX_AETH_NAK | PLX_NAK_REMOTE_ACCESS});
	assert_int_equal(pair_view(&stage.pair, 1).state, PLX_QP_ERROR);
	finish();
}

static void
a_queue_pair_fails_once_when_an_answer_before_its_last_word_fails_too(void **state)
{
	const struct plx_region_attr attr = {.va = 0x1000,
					     .host = stage.memory,
					     .length = 1024,
					     .access = {PLX_ACCESS_REMOTE_READ}};
	struct plx_pkt pkt = {.opcode = PLX_RC_READ_REQUEST};
	struct plx_region region;
	struct plx_key key;

	(void)state;
	start(2);
	assert_int_equal(
		plx_region_register(stage.pair.mem, stage.pair.domain, &attr, &region, &key),
		PLX_OK);
	pkt.psn = stage.first;
	pkt.reth = (struct plx_reth){0x1000, key.v, 1024};
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), PLX_VERDICT_ACCEPT);
	arrive(PLX_RC_WRITE_MIDDLE, 4, 0, PLX_VERDICT_SEQUENCE);
	assert_int_equal(plx_region_retire(stage.pair.mem, region), PLX_OK);
	assert_int_equal(pair_send(&stage.pair, 1, 8), 1);
	assert_int_equal(pair_send(&stage.pair, 1, 8), 0);
	assert_int_equal(pair_events(&stage.pair, 1, PLX_EVENT_FAILED), 1);
	assert_int_equal(pair_events(&stage.pair, 1, PLX_EVENT_FLUSHED), 1);
	finish();
}

/* Decision 3: an ACK never leaves after a packet that the completion it acknowledges has caused. */
static void
no_request_of_ours_leaves_before_an_acknowledgement_we_owe(void **state)
{
	static const uint32_t budgets[] = {1, 2, 64};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(budgets); i++) {
		const struct plx_wqe wqe = {.op = PLX_WR_WRITE};

		start(1);
		assert_int_equal(plx_rc_post_send(stage.pair.side[1].qp, &wqe, NULL), PLX_OK);
		arrive(PLX_RC_WRITE_ONLY, 0, 0, PLX_VERDICT_ACCEPT);
		SAYS(budgets[i], {PLX_RC_ACK, 0, ACK}, {PLX_RC_WRITE_ONLY, 0, 0});
		finish();
	}
}

static void
neither_answers_nor_requests_starve_when_both_are_due(void **state)
{
	const struct plx_wqe wqe = {.op = PLX_WR_WRITE};
	uint32_t requests = 0, responses = 0;

	(void)state;
	start(1);
	arrive(PLX_RC_READ_REQUEST, 0, 4096, PLX_VERDICT_ACCEPT);
	for (int i = 0; i < 8; i++)
		assert_int_equal(plx_rc_post_send(stage.pair.side[1].qp, &wqe, NULL), PLX_OK);
	for (int i = 0; i < 8; i++) {
		struct plx_actions *out = &stage.pair.out;

		plx_actions_reset(out);
		assert_int_equal(plx_rc_transmit(stage.pair.side[1].qp, 0, 1, out), 1);
		if (out->list[0].emit.flags & PLX_EMIT_RESPONSE)
			responses++;
		else
			requests++;
	}
	assert_in_range(requests, 3, 5);
	assert_in_range(responses, 3, 5);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			answers_of_reads_are_not_owed_and_acknowledgements_not_before_them),
		cmocka_unit_test(several_requests_are_acknowledged_once_by_the_newest),
		cmocka_unit_test(
			a_nak_that_has_not_left_asks_for_what_was_dropped_when_its_gap_closes),
		cmocka_unit_test(
			a_nak_that_has_not_left_is_withdrawn_when_nothing_is_missing_any_more),
		cmocka_unit_test(a_second_gap_earns_a_second_nak),
		cmocka_unit_test(a_duplicate_does_not_hide_a_nak),
		cmocka_unit_test(not_ready_is_said_once_and_not_hidden_by_what_follows),
		cmocka_unit_test(answers_leave_in_the_order_of_their_requests),
		cmocka_unit_test(the_last_word_comes_after_the_answers_before_it),
		cmocka_unit_test(an_acknowledgement_that_is_owed_leaves_before_the_end),
		cmocka_unit_test(answers_are_remembered_in_a_ring_and_the_oldest_is_forgotten),
		cmocka_unit_test(a_read_asked_for_again_while_it_is_answered_starts_anew),
		cmocka_unit_test(
			a_read_whose_key_goes_while_it_is_answered_ends_in_a_nak_of_its_next_psn),
		cmocka_unit_test(no_request_of_ours_leaves_before_an_acknowledgement_we_owe),
		cmocka_unit_test(neither_answers_nor_requests_starve_when_both_are_due),
		cmocka_unit_test(an_ack_of_what_is_older_than_a_read_leaves_between_its_responses),
		cmocka_unit_test(
			a_queue_pair_fails_once_when_an_answer_before_its_last_word_fails_too),
	};

	return cmocka_run_group_tests_name("transport: replies", tests, NULL, NULL);
}
