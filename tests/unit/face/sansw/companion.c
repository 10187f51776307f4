/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams over a provider in memory: bytes, large transfers, and sockets that pass between the
 * processes of a host, with the calls that the provider sees (S3, S11, S12).
 * Start with a_swap_makes_these_calls().
 */
#include "clock.h"
#include "fake.h"
#include "sides.h"

enum {
	SWAPS = 50,
};

/* ---- bytes ---- */

static void
bytes_go_both_ways(void **state)
{
	(void)state;
	sides_begin(true);
	for (uint32_t k = 0; k < 20; k++) {
		sides_write(0, 1500);
		sides_write(1, 700);
		sides_drain();
	}
	assert_int_equal(side[0].read, 14000);
	assert_int_equal(side[1].read, 30000);
	sides_end();
}

static void
large_transfers_are_read_or_written(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		sides_begin(reads);
		sides_write(0, 100);
		assert_int_equal(
			san_companion_offer(&side[0].companion, sides_large, UINT64_C(1) << 32),
			WSAEMSGSIZE);
		sides_offer(0);
		assert_int_equal(san_companion_offer(&side[0].companion, sides_large, 1),
				 WSAEWOULDBLOCK);
		sides_settle();
		assert_non_null(side[0].companion.large);
		sides_drain();
		assert_null(side[0].companion.large);
		assert_int_equal(side[1].read, 100 + LARGE);
		sides_end();
	}
}

static void
a_peer_that_closes_is_noticed(void **state)
{
	(void)state;
	sides_begin(true);
	world_as(B);
	san_companion_close(&side[1].companion);
	sides_run(0);
	assert_int_equal(side[0].companion.stream.end, PLX_SAN_END_LOST);
	assert_int_equal(side[0].companion.error, WSAECONNRESET);
	world_as(A);
	san_companion_close(&side[0].companion);
	stage_end();
}

/* Its last messages and its close come together. Both had shut, so it is no error, and another
 * process may read the rest. */
static void
what_arrived_before_a_close_is_read(void **state)
{
	struct plx_san_stream left;

	(void)state;
	sides_begin(true);
	plx_san_shut(&side[0].companion.stream);
	sides_settle();
	assert_int_equal(sides_write(1, 3 * PAYLOAD), 3 * PAYLOAD);
	plx_san_shut(&side[1].companion.stream);
	do
		sides_run(1);
	while (world_run());
	san_companion_close(&side[1].companion);
	sides_run(0);
	assert_true(san_companion_has_ended_well(&side[0].companion));
	left = side[0].companion.stream;
	san_companion_close(&side[0].companion);
	assert_true(san_companion_take_rest(&side[0].companion, side[0].companion.call, &left,
					    &side[0].rings));
	sides_run(0);
	assert_int_equal(sides_read(0), 3 * PAYLOAD);
	assert_true(plx_san_is_at_end(&side[0].companion.stream));
	left.out.fin = false;
	assert_false(san_companion_take_rest(&side[0].companion, side[0].companion.call, &left,
					     &side[0].rings));
	stage_end();
}

/* ---- swaps ---- */

/* S3. What is sent before has completed: of the peer only the answer is seen. */
static void
a_swap_makes_these_calls(void **state)
{
	static const struct fake_call expected[] = {
		{FAKE_SEND, A, 0}, /* SUSPEND */
		{FAKE_DEREGISTER, A, 0}, {FAKE_DEREGISTER, A, 0},
		{FAKE_RECV, B, 0},       {FAKE_SEND, B, 0}, /* SUSPENDED */
		{FAKE_RECV, A, 0},                          /* its receive is posted again */
		{FAKE_DUPLICATE, A, 0},  {FAKE_SOCKET, A2, 0},
		{FAKE_REGISTER, A2, 0},  {FAKE_REGISTER, A2, 0},
		{FAKE_REGISTER, A2, 0},  {FAKE_RECV, A2, 0}, /* and the others */
	};
	const struct fake_call *calls;
	uint32_t n, at = PLX_COUNT_OF(expected);

	(void)state;
	sides_begin(true);
	sides_write(0, 10);
	sides_drain();
	fake_forget_calls();
	sides_swap();
	calls = fake_calls(&n);
	for (uint32_t i = 0; i < at; i++) {
		assert_int_equal(calls[i].kind, expected[i].kind);
		assert_int_equal(calls[i].process, expected[i].process);
	}
	for (uint32_t i = 1; i < RECEIVES; i++, at++)
		assert_int_equal(calls[at].kind, FAKE_RECV);
	assert_int_equal(calls[at++].kind, FAKE_CLOSE); /* in A: the test's */
	assert_int_equal(calls[at].kind, FAKE_SEND);    /* RESUME */
	assert_int_equal(calls[at].process, A2);
	assert_int_equal(calls[++at].kind, FAKE_RECV);
	assert_int_equal(calls[at].process, B);
	assert_int_equal(n, at + 1);
	sides_end();
}

/* S12 */
static void
bytes_survive_swaps(void **state)
{
	(void)state;
	sides_begin(true);
	for (uint32_t k = 0; k < SWAPS; k++) {
		sides_write(0, 1 + 37 * k % 900);
		sides_write(1, 1 + 91 * k % 900);
		sides_swap();
		if (k % 3 == 0)
			sides_drain();
	}
	sides_drain();
	assert_int_equal(side[0].read, side[1].written);
	assert_int_equal(side[1].read, side[0].written);
	sides_end();
}

/* S11: of the end that swaps it ends first, of the other one it goes on afterwards. */
static void
large_transfers_survive_swaps(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		sides_begin(reads);
		sides_offer(1);
		sides_settle();
		for (uint32_t k = 0; k < SWAPS; k++) {
			sides_swap();
			sides_read(0);
			sides_settle();
		}
		sides_drain();
		assert_int_equal(side[0].read, LARGE);
		assert_null(side[1].companion.large);
		sides_offer(0);
		san_companion_give(&side[0].companion, sides_next());
		sides_settle();
		assert_false(side[0].companion.given);
		sides_drain();
		assert_null(side[0].companion.large);
		sides_hand_over();
		assert_int_equal(side[1].read, LARGE);
		sides_end();
	}
}

/* ---- a process that ends in a swap ---- */

static struct san_records records, when_given;
static WSPPROC_TABLE late; /* stage.call, but for give_late() */

/* The other end's messages are there, and nobody has looked. */
static void
deliver(void)
{
	sides_write(1, 300);
	sides_run(1);
	world_settle();
	sides_run(1);
}

/* Messages arrive until its host has the socket. */
static int WSPAPI
give_late(SOCKET s, DWORD process, LPWSAPROTOCOL_INFOW info, LPINT lpErrno)
{
	deliver();
	when_given = records;
	world_as(side[0].process);
	return stage.call.lpWSPDuplicateSocket(s, process, info, lpErrno);
}

static SOCKET
redeem(WSAPROTOCOL_INFOW info, DWORD process)
{
	int error;

	world_as(process);
	return stage.call.lpWSPSocket(info.iAddressFamily, info.iSocketType, info.iProtocol, &info,
				      0, WSA_FLAG_OVERLAPPED, &error);
}

static void
go_on_with(SOCKET s, const struct san_records *left, uint32_t requests, uint32_t receives)
{
	const struct plx_san_config config = side[0].companion.stream.config;

	assert_int_equal(san_companion_inherit(&side[0].companion, &stage.call, s, &config, left,
					       requests, receives, &side[0].rings,
					       side[0].messages[side[0].which]),
			 0);
	sides_drain();
	assert_true(side[1].written > 0);
	assert_int_equal(side[0].read, side[1].written);
	assert_int_equal(side[1].read, side[0].written);
}

/* Returns: the companion of A, which has given its socket to A2, after some messages */
static struct san_companion
give_with_records(void)
{
	sides_begin(true);
	late = stage.call;
	late.lpWSPDuplicateSocket = give_late;
	side[0].companion.call = &late;
	san_companion_record_in(&side[0].companion, &records);
	sides_write(0, 10);
	sides_write(1, 10);
	sides_drain();
	san_companion_record(&side[0].companion); /* the program has read */
	san_companion_pass(&side[0].companion, A2);
	test_until(side[0].companion.given, sides_run(0));
	return side[0].companion;
}

/* It has written nothing down since, or all. */
static void
who_ends_once_it_has_given_leaves_every_byte(void **state)
{
	const struct san_records *const left[] = {&when_given, &records};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(left); i++) {
		struct san_companion before = give_with_records();

		assert_true(before.requested > 0);
		assert_true(before.received > when_given.record[when_given.newest].receives);
		side[0].process = A2;
		go_on_with(redeem(before.info, A2), left[i], before.requested, before.received);
		world_as(A);
		san_companion_close(&before);
		sides_end();
	}
}

static uint32_t
messages_in(const uint8_t *memory, const struct san_companion *companion)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < RECEIVES; i++)
		n += plx_san_message_bytes(memory + (size_t)i * companion->message_bytes,
					   companion->message_bytes) > 0;
	return n;
}

/* Messages come before it has written anything down. */
static void
who_ends_once_it_has_taken_leaves_every_byte(void **state)
{
	struct san_companion before, taken;
	WSAPROTOCOL_INFOW info;
	uint32_t messages;
	int error;

	(void)state;
	before = give_with_records();
	assert_int_equal(sides_take(), 0);
	world_as(A);
	san_companion_close(&before);
	taken = side[0].companion;
	deliver();
	messages = messages_in(side[0].messages[side[0].which], &taken);
	assert_true(messages > 0);
	world_as(A2);
	assert_int_equal(stage.call.lpWSPDuplicateSocket(taken.s, A, &info, &error), 0);
	side[0].process = A;
	go_on_with(redeem(info, A), &records, before.requested, before.received + messages);
	assert_true(side[0].companion.requested > before.requested);
	world_as(A2);
	san_companion_close(&taken);
	sides_end();
}

static void
numbers_go_on_with_the_next_process(void **state)
{
	struct san_companion before;

	(void)state;
	before = give_with_records();
	assert_int_equal(sides_take(), 0);
	san_companion_go_on_in(&side[0].companion, &records);
	assert_int_equal(side[0].companion.requested, before.requested);
	assert_int_equal(side[0].companion.received, before.received);
	world_as(A);
	san_companion_close(&before);
	sides_end();
}

static void
a_token_of_another_process_takes_nothing(void **state)
{
	struct san_companion before, taken;

	(void)state;
	sides_begin(true);
	san_companion_give(&side[0].companion, A2);
	sides_settle();
	before = side[0].companion;
	world_as(B);
	assert_int_equal(san_companion_take(&taken, &stage.call, &before.info, &before.stream,
					    &side[0].rings, side[0].messages[1]),
			 WSAEINVAL);
	sides_hand_over();
	sides_write(0, 10);
	sides_drain();
	assert_int_equal(side[1].read, 10);
	sides_end();
}

static void
a_state_that_is_none_is_not_taken(void **state)
{
	struct plx_san_stream stream;

	(void)state;
	sides_begin(true);
	stream = side[0].companion.stream;
	assert_int_equal(san_companion_take(&side[0].companion, &stage.call,
					    &side[0].companion.info, &stream, &side[0].rings,
					    side[0].messages[1]),
			 WSAEINVAL);
	sides_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(large_transfers_are_read_or_written),
		cmocka_unit_test(a_peer_that_closes_is_noticed),
		cmocka_unit_test(what_arrived_before_a_close_is_read),
		cmocka_unit_test(a_swap_makes_these_calls),
		cmocka_unit_test(bytes_survive_swaps),
		cmocka_unit_test(large_transfers_survive_swaps),
		cmocka_unit_test(who_ends_once_it_has_given_leaves_every_byte),
		cmocka_unit_test(who_ends_once_it_has_taken_leaves_every_byte),
		cmocka_unit_test(numbers_go_on_with_the_next_process),
		cmocka_unit_test(a_token_of_another_process_takes_nothing),
		cmocka_unit_test(a_state_that_is_none_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
