/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams over a provider in memory: bytes, large transfers, and sockets that pass between the
 * processes of a host, with the calls that the provider sees (S3, S11, S12, S20).
 * Start with a_swap_makes_these_calls().
 */
#include "companion.h"
#include "stage.h"

enum {
	CREDITS = 4,
	PAYLOAD = 256,
	RING = 2048,
	SENDS = 4,
	RECEIVES = CREDITS + PLX_SAN_RESERVED,
	LARGE = 100000,
	SWAPS = 50,
	TURNS = 1000000,
};

static const struct plx_san_config config = {.credits = CREDITS,
					     .payload_bytes = PAYLOAD,
					     .in_bytes = RING,
					     .out_bytes = RING,
					     .sends = SENDS,
					     .suspend_ns = 1000};

/* One end: its rings are the host's, its memory for messages each process's own. */
struct side {
	struct san_companion companion;
	DWORD process;
	uint8_t in[RING], out[RING];
	struct plx_san_rings rings;
	uint8_t messages[2][(RECEIVES + SENDS) * (PLX_SAN_HEAD_MAX + PAYLOAD)];
	uint32_t which; /* of these */
	uint64_t written, read;
};

static struct side side[2];
static uint8_t large[LARGE];

static uint8_t
pattern(uint32_t i, uint64_t at)
{
	return (uint8_t)(at * 13 + (at >> 8) + i * 77);
}

/* ---- set-up ---- */

static void
open_side(uint32_t i, DWORD process, SOCKET s)
{
	struct side *one = &side[i];
	struct plx_san_config as_is = config;

	memset(one, 0, sizeof(*one));
	one->process = process;
	one->rings = (struct plx_san_rings){one->in, one->out};
	as_is.connects = i == 0;
	fake_as(process);
	assert_int_equal(san_companion_open(&one->companion, &stage.call, s, &as_is, &one->rings,
					    one->messages[0]),
			 0);
}

static void
run(uint32_t i)
{
	fake_as(side[i].process);
	san_companion_run(&side[i].companion, 0);
}

static void
settle(void)
{
	do {
		run(0);
		run(1);
	} while (fake_run());
}

static void
begin(bool reads)
{
	const struct fake_options options = {.reads = reads};

	stage_connect(&options);
	open_side(0, A, stage.a);
	open_side(1, B, stage.b);
	settle();
	assert_true(plx_san_is_open(&side[0].companion.stream));
	assert_true(plx_san_is_open(&side[1].companion.stream));
}

static void
end(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		fake_as(side[i].process);
		san_companion_close(&side[i].companion);
	}
	stage_end();
}

static uint32_t
write_some(uint32_t i, uint32_t n)
{
	struct side *one = &side[i];
	uint8_t bytes[RING];

	for (uint32_t k = 0; k < n; k++)
		bytes[k] = pattern(i, one->written + k);
	n = plx_san_write(&one->companion.stream, &one->rings, bytes, n);
	one->written += n;
	return n;
}

static uint32_t
read_all(uint32_t i)
{
	struct side *one = &side[i];
	uint8_t bytes[RING];
	uint32_t n = plx_san_read(&one->companion.stream, &one->rings, bytes, RING, false);

	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(bytes[k], pattern(1 - i, one->read + k));
	one->read += n;
	return n;
}

static void
drain(void)
{
	uint32_t turns = 0;

	do {
		settle();
		assert_true(turns++ < TURNS);
	} while (read_all(0) + read_all(1) > 0);
}

static void
offer(uint32_t i)
{
	for (uint32_t k = 0; k < LARGE; k++)
		large[k] = pattern(i, side[i].written + k);
	fake_as(side[i].process);
	assert_int_equal(san_companion_offer(&side[i].companion, large, LARGE), 0);
	side[i].written += LARGE;
}

static DWORD
next_of(const struct side *one)
{
	return one->process == A ? A2 : A;
}

/* Of end 0, which has two processes: the other one has what was given away. */
static void
hand_over(void)
{
	struct side *one = &side[0];
	struct san_companion before = one->companion;
	DWORD to = next_of(one);

	assert_true(before.given);
	fake_as(to);
	one->which = 1 - one->which;
	assert_int_equal(san_companion_take(&one->companion, &stage.call, &before.info,
					    &before.stream, &one->rings, one->messages[one->which]),
			 0);
	fake_as(one->process);
	san_companion_close(&before);
	one->process = to;
	settle();
}

static void
swap(void)
{
	san_companion_give(&side[0].companion, next_of(&side[0]));
	settle();
	hand_over();
}

/* ---- bytes ---- */

static void
bytes_go_both_ways(void **state)
{
	(void)state;
	begin(true);
	for (uint32_t k = 0; k < 20; k++) {
		write_some(0, 1500);
		write_some(1, 700);
		drain();
	}
	assert_int_equal(side[0].read, 14000);
	assert_int_equal(side[1].read, 30000);
	end();
}

static void
large_transfers_are_read_or_written(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		begin(reads);
		write_some(0, 100);
		assert_int_equal(san_companion_offer(&side[0].companion, large, UINT64_C(1) << 32),
				 WSAEMSGSIZE);
		offer(0);
		assert_int_equal(san_companion_offer(&side[0].companion, large, 1), WSAEWOULDBLOCK);
		settle();
		assert_non_null(side[0].companion.large);
		drain();
		assert_null(side[0].companion.large);
		assert_int_equal(side[1].read, 100 + LARGE);
		end();
	}
}

static void
a_peer_that_closes_is_noticed(void **state)
{
	(void)state;
	begin(true);
	fake_as(B);
	san_companion_close(&side[1].companion);
	run(0);
	assert_int_equal(side[0].companion.stream.end, PLX_SAN_END_LOST);
	assert_int_equal(side[0].companion.error, WSAECONNRESET);
	fake_as(A);
	san_companion_close(&side[0].companion);
	stage_end();
}

/* ---- swaps ---- */

/* S3. What is sent before has completed: of the peer only the answer is seen. */
static void
a_swap_makes_these_calls(void **state)
{
	static const struct fake_call expected[] = {
		{FAKE_SEND, A, 0},                                                /* SUSPEND */
		{FAKE_DEREGISTER, A, 0}, {FAKE_RECV, B, 0},    {FAKE_SEND, B, 0}, /* SUSPENDED */
		{FAKE_RECV, A, 0}, /* its receive is posted again */
		{FAKE_DUPLICATE, A, 0},  {FAKE_SOCKET, A2, 0}, {FAKE_REGISTER, A2, 0},
		{FAKE_REGISTER, A2, 0},  {FAKE_RECV, A2, 0}, /* and the others */
	};
	const struct fake_call *calls;
	uint32_t n, at = PLX_COUNT_OF(expected);

	(void)state;
	begin(true);
	write_some(0, 10);
	drain();
	fake_forget_calls();
	swap();
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
	end();
}

/* S12 */
static void
bytes_survive_swaps(void **state)
{
	(void)state;
	begin(true);
	for (uint32_t k = 0; k < SWAPS; k++) {
		write_some(0, 1 + 37 * k % 900);
		write_some(1, 1 + 91 * k % 900);
		swap();
		if (k % 3 == 0)
			drain();
	}
	drain();
	assert_int_equal(side[0].read, side[1].written);
	assert_int_equal(side[1].read, side[0].written);
	end();
}

/* S11: of the end that swaps it ends first, of the other one it goes on afterwards. */
static void
large_transfers_survive_swaps(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		begin(reads);
		offer(1);
		settle();
		for (uint32_t k = 0; k < SWAPS; k++) {
			swap();
			read_all(0);
			settle();
		}
		drain();
		assert_int_equal(side[0].read, LARGE);
		assert_null(side[1].companion.large);
		offer(0);
		san_companion_give(&side[0].companion, next_of(&side[0]));
		settle();
		assert_false(side[0].companion.given);
		drain();
		assert_null(side[0].companion.large);
		hand_over();
		assert_int_equal(side[1].read, LARGE);
		end();
	}
}

/* S20, in part: the process that has it, or is to have it, ends in a swap. */
static void
a_death_in_a_swap_ends_the_stream(void **state)
{
	(void)state;
	for (int given = 0; given < 2; given++) {
		begin(true);
		san_companion_give(&side[0].companion, A2);
		if (given)
			settle();
		else
			run(0);
		assert_int_equal(side[0].companion.given, given);
		fake_kill(given ? A2 : A);
		run(1);
		assert_int_equal(side[1].companion.stream.end, PLX_SAN_END_LOST);
		fake_kill(A);
		fake_as(B);
		san_companion_close(&side[1].companion);
		stage_close(B, stage.listener);
		fake_end();
	}
}

static void
a_token_of_another_process_takes_nothing(void **state)
{
	struct san_companion before, taken;

	(void)state;
	begin(true);
	san_companion_give(&side[0].companion, A2);
	settle();
	before = side[0].companion;
	fake_as(B);
	assert_int_equal(san_companion_take(&taken, &stage.call, &before.info, &before.stream,
					    &side[0].rings, side[0].messages[1]),
			 WSAEINVAL);
	hand_over();
	write_some(0, 10);
	drain();
	assert_int_equal(side[1].read, 10);
	end();
}

static void
a_state_that_is_none_is_not_taken(void **state)
{
	struct plx_san_stream stream;

	(void)state;
	begin(true);
	stream = side[0].companion.stream;
	assert_int_equal(san_companion_take(&side[0].companion, &stage.call,
					    &side[0].companion.info, &stream, &side[0].rings,
					    side[0].messages[1]),
			 WSAEINVAL);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(large_transfers_are_read_or_written),
		cmocka_unit_test(a_peer_that_closes_is_noticed),
		cmocka_unit_test(a_swap_makes_these_calls),
		cmocka_unit_test(bytes_survive_swaps),
		cmocka_unit_test(large_transfers_survive_swaps),
		cmocka_unit_test(a_death_in_a_swap_ends_the_stream),
		cmocka_unit_test(a_token_of_another_process_takes_nothing),
		cmocka_unit_test(a_state_that_is_none_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
