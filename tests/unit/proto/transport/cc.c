/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of congestion control: a fake algorithm records when it is called and with what,
 * and throttles, or answers marks, as the test tells it. It never controls congestion. Start with
 * struct fake.
 */
#include "rc_pair.h"

enum {
	CALLS_MAX = 64,
	COST = 64 + PLX_CC_HEADER_BYTES /* of a message of start_with_grant() */
};

enum call_kind {
	ASK,
	SENT,
	ACK,
	LOSS,
	CE,
	CNP
};

struct call {
	enum call_kind kind;
	uint64_t now;
	uint32_t value;
};

struct fake {
	struct call call[CALLS_MAX];
	uint32_t calls;
	uint64_t not_before;       /* what ask returns */
	struct plx_cc_grant grant; /* and grants; 0: the packet, for ever */
	bool answer_ce;
	uint32_t rtts; /* round-trip times that it was told; not among the calls */
	uint64_t rtt;  /* the last of them */
};

static void
note(struct fake *fake, enum call_kind kind, uint64_t now, uint32_t value)
{
	assert_in_range(fake->calls, 0, CALLS_MAX - 1);
	fake->call[fake->calls++] = (struct call){kind, now, value};
}

/* `ask` gets a const state, since it must change nothing; only the test's record is kept beside
 * it. */
static struct fake *book;

static uint64_t
fake_ask(const void *state, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	assert_int_equal(grant->bytes, bytes);
	assert_true(grant->until == PLX_NEVER);
	if (book->grant.bytes > 0)
		grant->bytes = book->grant.bytes;
	if (book->grant.until > 0)
		grant->until = book->grant.until;
	assert_ptr_equal(state, book);
	note(book, ASK, now, bytes);
	return book->not_before;
}

static void
fake_sent(void *state, uint64_t now, uint32_t bytes)
{
	note(state, SENT, now, bytes);
}

static void
fake_rtt(void *state, uint64_t now, uint64_t rtt_ns)
{
	struct fake *told = state;

	assert_true(rtt_ns <= now);
	told->rtts++;
	told->rtt = rtt_ns;
}

static void
fake_ack(void *state, uint64_t now, uint32_t packets)
{
	note(state, ACK, now, packets);
}

static void
fake_loss(void *state, uint64_t now, enum plx_loss cause)
{
	note(state, LOSS, now, cause);
}

static bool
fake_ce(void *state, uint64_t now)
{
	struct fake *fake = state;

	note(fake, CE, now, 0);
	return fake->answer_ce;
}

static void
fake_cnp(void *state, uint64_t now)
{
	note(state, CNP, now, 0);
}

static const struct plx_cc_ops fake_ops = {
	.name = "fake",
	.ask = fake_ask,
	.on_sent = fake_sent,
	.on_rtt = fake_rtt,
	.on_ack = fake_ack,
	.on_loss = fake_loss,
	.on_ce = fake_ce,
	.on_cnp = fake_cnp,
};

static uint8_t memory[2048];
static struct fake fake;

static void
start(struct pair *pair)
{
	struct pair_config config = pair_defaults();

	fake = (struct fake){0};
	book = &fake;
	config.cc = &fake_ops;
	config.cc_state = &fake;
	pair_init(pair, &config);
	pair->now = 1000;
	pair_connect(pair);
	pair_run(pair);
	assert_int_equal(fake.calls, 0);
}

/* Side 0 sends up to `budget` packets, which stay in pair->out. Returns: how many */
static uint32_t
transmit(struct pair *pair, uint32_t budget)
{
	plx_actions_reset(&pair->out);
	return plx_rc_transmit(pair->side[0].qp, pair->now, budget, &pair->out);
}

static void
post(struct pair *pair, enum plx_wr_op op, uint32_t bytes)
{
	struct plx_key key = pair_region(pair, memory, sizeof(memory),
					 PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
						 PLX_ACCESS_REMOTE_READ);
	struct plx_wqe wqe = {
		.op = (uint8_t)op, .rkey = key, .remote_va = (uint64_t)(uintptr_t)memory + 1024};

	assert_int_equal(pair_post(pair, 0, &wqe, memory, bytes, key), PLX_OK);
}

static void
expect_call(uint32_t at, enum call_kind kind, uint64_t now, uint32_t value)
{
	assert_in_range(at, 0, fake.calls - 1);
	assert_int_equal(fake.call[at].kind, kind);
	assert_true(fake.call[at].now == now);
	assert_int_equal(fake.call[at].value, value);
}

static uint32_t
calls_of(enum call_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fake.calls; i++)
		count += fake.call[i].kind == kind;
	return count;
}

static void
it_is_asked_before_each_request_packet_and_told_when_it_left(void **state)
{
	static const uint32_t bytes[] = {256, 256, 88};
	struct pair pair;

	(void)state;
	start(&pair);
	post(&pair, PLX_WR_WRITE, 600);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 3);
	assert_in_range(calls_of(ASK), 3,
			4); /* it may be queried for a packet that does not exist */
	for (uint32_t i = 0; i < 3; i++) {
		expect_call(2 * i, ASK, 1000, bytes[i] + PLX_CC_HEADER_BYTES);
		expect_call(2 * i + 1, SENT, 1000, bytes[i] + PLX_CC_HEADER_BYTES);
	}
	pair_fini(&pair);
}

static void
what_it_holds_back_leaves_at_its_time(void **state)
{
	struct pair pair;

	(void)state;
	start(&pair);
	fake.not_before = 5000;
	post(&pair, PLX_WR_WRITE, 8);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 0);
	assert_int_equal(calls_of(SENT), 0);
	assert_int_equal(plx_rc_counters(pair.side[0].qp)->pace_stalls, 1);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 0);
	assert_true(plx_rc_wake_ns(pair.side[0].qp) == 5000);
	pair_tick(&pair, 4999);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 0);
	pair_tick(&pair, 5000);
	assert_true(plx_rc_wake_ns(pair.side[0].qp) == 0);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 1);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 1);
	pair_fini(&pair);
}

static void
answers_to_the_peer_are_not_held_back(void **state)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY, .ack_request = true};
	struct pair pair;

	(void)state;
	start(&pair);
	fake.not_before = PLX_NEVER;
	pkt.psn = pair_attr(&pair, 0).rq_psn;
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 1);
	assert_int_equal(fake.calls, 0);
	pair_fini(&pair);
}

static void
it_is_told_how_many_packets_an_answer_acknowledges(void **state)
{
	struct pair pair;
	struct plx_psn first;

	(void)state;
	start(&pair);
	first = pair_attr(&pair, 0).sq_psn;
	post(&pair, PLX_WR_WRITE, 600);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 3);
	fake.calls = 0;
	pair.now = 2000;
	assert_int_equal(pair_hand_ack(&pair, 0, plx_psn_add(first, 1), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(fake.calls, 1);
	expect_call(0, ACK, 2000, 2);
	assert_int_equal(pair_hand_ack(&pair, 0, plx_psn_add(first, 2), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(fake.calls, 2);
	expect_call(1, ACK, 2000, 1);
	/* and a stale one acknowledges nothing */
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_STALE);
	assert_int_equal(fake.calls, 2);
	pair_fini(&pair);
}

static void
it_is_told_the_round_trip_time_of_the_packet_that_is_timed(void **state)
{
	struct pair pair;
	struct plx_psn first;

	(void)state;
	start(&pair);
	first = pair_attr(&pair, 0).sq_psn;
	post(&pair, PLX_WR_WRITE, 8);
	post(&pair, PLX_WR_WRITE, 8);
	assert_int_equal(transmit(&pair, 8), 2);
	pair.now += 700;
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	assert_int_equal(fake.rtts, 1);
	assert_int_equal(fake.rtt, 700);
	pair.now += 100; /* of the second packet, which was not timed */
	assert_int_equal(pair_hand_ack(&pair, 0, plx_psn_add(first, 1), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(fake.rtts, 1);
	pair_fini(&pair);
}

/* Else a strategy would hear of the length of messages, and of long ones seldom. */
static void
a_packet_is_always_timed_and_requests_an_ack(void **state)
{
	static const bool requests[] = {true, false, true};
	struct pair pair;
	struct plx_psn first;

	(void)state;
	start(&pair);
	first = pair_attr(&pair, 0).sq_psn;
	post(&pair, PLX_WR_WRITE, 1000);
	assert_int_equal(transmit(&pair, 2), 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pair.out.list[i].emit.pkt.ack_request, requests[i]);
	pair.now += 700;
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	assert_int_equal(fake.rtts, 1);
	assert_int_equal(transmit(&pair, 1), 1);
	assert_int_equal(pair.out.list[0].emit.pkt.ack_request, requests[2]);
	pair.now += 300;
	assert_int_equal(pair_hand_ack(&pair, 0, plx_psn_add(first, 2), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(fake.rtts, 2);
	assert_int_equal(fake.rtt, 300);
	pair_fini(&pair);
}

static void
what_is_sent_again_is_not_timed(void **state)
{
	struct pair pair;
	struct plx_psn first;

	(void)state;
	start(&pair);
	first = pair_attr(&pair, 0).sq_psn;
	post(&pair, PLX_WR_WRITE, 8);
	assert_int_equal(transmit(&pair, 8), 1);
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NAK | PLX_NAK_SEQUENCE),
			 PLX_VERDICT_NAK_SEQUENCE);
	assert_int_equal(transmit(&pair, 8), 1);
	pair.now += 700;
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	assert_int_equal(fake.rtts, 0);
	pair_fini(&pair);
}

static void
it_is_told_of_a_loss_and_why(void **state)
{
	struct pair pair;
	struct plx_psn first;

	(void)state;
	start(&pair);
	first = pair_attr(&pair, 0).sq_psn;
	post(&pair, PLX_WR_READ, 8);
	post(&pair, PLX_WR_WRITE, 8);
	assert_int_equal(transmit(&pair, 8), 2);
	fake.calls = 0;
	assert_int_equal(pair_hand_ack(&pair, 0, plx_psn_add(first, 1), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_RESPONSE_LOST);
	expect_call(0, LOSS, 1000, PLX_LOSS_RESPONSE);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(transmit(&pair, 8), 2);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	fake.calls = 0;
	pair_tick(&pair, plx_rc_wake_ns(pair.side[0].qp));
	assert_int_equal(calls_of(LOSS), 1);
	expect_call(0, LOSS, pair.now, PLX_LOSS_TIMEOUT);
	assert_int_equal(transmit(&pair, 8), 2);
	fake.calls = 0;
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NAK | PLX_NAK_SEQUENCE),
			 PLX_VERDICT_NAK_SEQUENCE);
	expect_call(0, LOSS, pair.now, PLX_LOSS_NAK);
	pair_fini(&pair);
}

static void
a_mark_is_told_of_and_answered_by_a_notification_only_when_it_says_so(void **state)
{
	(void)state;
	for (int answer = 0; answer < 2; answer++) {
		struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY, .ce = true};
		struct pair pair;
		const struct plx_rc_counters *counters;

		start(&pair);
		counters = plx_rc_counters(pair.side[0].qp);
		fake.answer_ce = answer;
		pkt.psn = pair_attr(&pair, 0).rq_psn;
		assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
		assert_int_equal(fake.calls, 1);
		expect_call(0, CE, 1000, 0);
		assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 1 + answer); /* the ACK too */
		assert_int_equal(counters->ce_marks, 1);
		assert_int_equal(counters->cnps_sent, answer);
		pair_fini(&pair);
	}
}

static void
a_notification_of_the_peer_is_passed_on(void **state)
{
	struct plx_pkt pkt = {.opcode = PLX_CNP, .becn = true};
	struct pair pair;

	(void)state;
	start(&pair);
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_CNP);
	assert_int_equal(fake.calls, 1);
	expect_call(0, CNP, 1000, 0);
	assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 0);
	pair_fini(&pair);
}

static bool
send_fast(struct pair *pair)
{
	uint8_t bytes[PLX_FAST_HEADER_MAX];
	struct plx_fast_packet packet;

	return plx_rc_send_fast(pair->side[0].qp, pair->now, bytes, &packet) == PLX_FAST_SENT;
}

/* Five messages of 64 bytes, of which the first has asked for this grant and has left. */
static void
start_with_grant(struct pair *pair, uint32_t grant)
{
	start(pair);
	fake.grant.bytes = grant;
	for (uint32_t i = 0; i < 5; i++)
		post(pair, PLX_WR_WRITE, 64);
	assert_false(send_fast(pair));
	assert_int_equal(fake.calls, 0);
	assert_int_equal(pair_send(pair, 0, 1), 1);
	expect_call(0, ASK, 1000, COST);
}

static void
what_a_grant_covers_leaves_on_the_fast_path_and_no_more(void **state)
{
	struct pair pair;

	(void)state;
	start_with_grant(&pair, 4 * COST - 1);
	assert_int_equal(fake.calls, 1);
	assert_true(send_fast(&pair));
	assert_true(send_fast(&pair));
	assert_int_equal(fake.calls, 1);
	assert_false(send_fast(&pair));
	assert_int_equal(fake.calls, 1);
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	assert_int_equal(fake.calls, 3);
	expect_call(1, SENT, 1000, 3 * COST);
	expect_call(2, ASK, 1000, COST);
	pair_fini(&pair);
}

static void
a_grant_smaller_than_the_packet_is_for_that_packet(void **state)
{
	struct pair pair;

	(void)state;
	start_with_grant(&pair, COST - 1);
	assert_int_equal(fake.calls, 2);
	expect_call(1, SENT, 1000, COST);
	assert_false(send_fast(&pair));
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	expect_call(2, ASK, 1000, COST);
	pair_fini(&pair);
}

static void
a_grant_that_is_used_up_is_reported_at_once(void **state)
{
	struct pair pair;

	(void)state;
	start_with_grant(&pair, 2 * COST);
	pair.now = 1500;
	assert_true(send_fast(&pair));
	assert_int_equal(fake.calls, 2);
	expect_call(1, SENT, 1500, 2 * COST);
	assert_false(send_fast(&pair));
	pair_fini(&pair);
}

static void
an_acknowledgement_is_told_of_after_what_left_and_leaves_the_grant(void **state)
{
	struct pair pair;

	(void)state;
	start_with_grant(&pair, 4096);
	assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn, PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	assert_int_equal(fake.calls, 3);
	expect_call(1, SENT, 1000, COST);
	expect_call(2, ACK, 1000, 1);
	assert_true(send_fast(&pair));
	pair_fini(&pair);
}

static void
a_notification_and_a_loss_end_a_grant(void **state)
{
	struct plx_pkt cnp = {.opcode = PLX_CNP, .becn = true};

	(void)state;
	for (int loss = 0; loss < 2; loss++) {
		struct pair pair;

		start_with_grant(&pair, 4096);
		assert_true(send_fast(&pair));
		if (loss)
			assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn,
						       PLX_AETH_NAK | PLX_NAK_SEQUENCE),
					 PLX_VERDICT_NAK_SEQUENCE);
		else
			assert_int_equal(pair_hand(&pair, 0, &cnp), PLX_VERDICT_CNP);
		assert_int_equal(fake.calls, 3);
		expect_call(1, SENT, 1000, 2 * COST);
		expect_call(2, loss ? LOSS : CNP, 1000, loss ? PLX_LOSS_NAK : 0);
		assert_false(send_fast(&pair));
		fake.not_before = 5000;
		assert_int_equal(pair_send(&pair, 0, PAIR_BUDGET), 0);
		expect_call(3, ASK, 1000, COST);
		pair_fini(&pair);
	}
}

static void
a_grant_ends_at_its_time(void **state)
{
	struct pair pair;

	(void)state;
	start(&pair);
	fake.grant = (struct plx_cc_grant){.bytes = 4096, .until = 2000};
	for (uint32_t i = 0; i < 3; i++)
		post(&pair, PLX_WR_WRITE, 64);
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	pair.now = 1999;
	assert_true(send_fast(&pair));
	assert_int_equal(fake.calls, 1);
	pair.now = 2000;
	assert_false(send_fast(&pair));
	fake.not_before = 5000;
	assert_int_equal(pair_send(&pair, 0, 1), 0);
	assert_int_equal(fake.calls, 3);
	expect_call(1, SENT, 2000, 2 * COST);
	expect_call(2, ASK, 2000, COST);
	pair_fini(&pair);
}

/* A READ request, an atomic and an empty WRITE: a flood of them would leave within any grant. */
static void
a_packet_without_payload_is_charged_its_headers(void **state)
{
	static const enum plx_wr_op op[] = {PLX_WR_WRITE, PLX_WR_READ, PLX_WR_FETCH_ADD};

	(void)state;
	for (uint32_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		struct pair pair;

		start(&pair);
		fake.grant.bytes = 2 * PLX_CC_HEADER_BYTES;
		for (uint32_t n = 0; n < 3; n++)
			post(&pair, op[i], op[i] == PLX_WR_WRITE ? 0 : 8);
		assert_int_equal(pair_send(&pair, 0, 2), 2);
		assert_int_equal(fake.calls, 2);
		expect_call(0, ASK, 1000, PLX_CC_HEADER_BYTES);
		expect_call(1, SENT, 1000, 2 * PLX_CC_HEADER_BYTES);
		fake.not_before = 5000;
		assert_int_equal(pair_send(&pair, 0, 1), 0);
		pair_fini(&pair);
	}
}

static void
an_ack_leaves_on_the_fast_path_without_a_grant(void **state)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY, .ack_request = true};
	struct pair pair;

	(void)state;
	start(&pair);
	fake.not_before = PLX_NEVER;
	post(&pair, PLX_WR_WRITE, 64);
	pkt.psn = pair_attr(&pair, 0).rq_psn;
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
	assert_true(send_fast(&pair));
	assert_false(send_fast(&pair));
	assert_int_equal(fake.calls, 0);
	pair_fini(&pair);
}

static void
the_strategy_that_is_none_holds_nothing_back_and_answers_marks(void **state)
{
	struct plx_cc_grant grant = {.bytes = 4096, .until = PLX_NEVER};

	(void)state;
	assert_true(strlen(plx_cc_none.name) > 0);
	assert_true(plx_cc_none.ask(NULL, 7, 4096, &grant) <= 7);
	assert_true(plx_cc_none.on_ce(NULL, 7));
	plx_cc_none.on_sent(NULL, 7, 1);
	plx_cc_none.on_rtt(NULL, 7, 1);
	plx_cc_none.on_ack(NULL, 7, 1);
	plx_cc_none.on_loss(NULL, 7, PLX_LOSS_NAK);
	plx_cc_none.on_cnp(NULL, 7);
	assert_true(plx_cc_none.ask(NULL, 7, 4096, &grant) <= 7);
	assert_int_equal(grant.bytes, 4096);
	assert_true(grant.until == PLX_NEVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_asked_before_each_request_packet_and_told_when_it_left),
		cmocka_unit_test(what_it_holds_back_leaves_at_its_time),
		cmocka_unit_test(answers_to_the_peer_are_not_held_back),
		cmocka_unit_test(it_is_told_how_many_packets_an_answer_acknowledges),
		cmocka_unit_test(it_is_told_the_round_trip_time_of_the_packet_that_is_timed),
		cmocka_unit_test(a_packet_is_always_timed_and_requests_an_ack),
		cmocka_unit_test(what_is_sent_again_is_not_timed),
		cmocka_unit_test(it_is_told_of_a_loss_and_why),
		cmocka_unit_test(
			a_mark_is_told_of_and_answered_by_a_notification_only_when_it_says_so),
		cmocka_unit_test(a_notification_of_the_peer_is_passed_on),
		cmocka_unit_test(what_a_grant_covers_leaves_on_the_fast_path_and_no_more),
		cmocka_unit_test(a_grant_smaller_than_the_packet_is_for_that_packet),
		cmocka_unit_test(a_grant_that_is_used_up_is_reported_at_once),
		cmocka_unit_test(
			an_acknowledgement_is_told_of_after_what_left_and_leaves_the_grant),
		cmocka_unit_test(a_notification_and_a_loss_end_a_grant),
		cmocka_unit_test(a_grant_ends_at_its_time),
		cmocka_unit_test(a_packet_without_payload_is_charged_its_headers),
		cmocka_unit_test(an_ack_leaves_on_the_fast_path_without_a_grant),
		cmocka_unit_test(the_strategy_that_is_none_holds_nothing_back_and_answers_marks),
	};

	return cmocka_run_group_tests_name("transport: congestion strategy", tests, NULL, NULL);
}
