/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams over queue pairs: bytes and large transfers both ways, while one end passes between two
 * programs, with the other end's help and in silence. Start with streams_survive().
 */
#include <unistd.h>

#include "clock.h"
#include "sides.h"

enum {
	SWAPS = 100,
	ROUNDS = 20,
	CONNECTIONS = 500,
};

/* All that was written is read. */
static void
drain(void)
{
	test_until(side[1].read == side[0].written && side[0].read == side[1].written,
		   (sides_turn(), sides_read(0), sides_read(1)));
}

/* Room comes back when the other end's acknowledgement does. */
static void
write_all(uint32_t i, uint32_t n)
{
	test_until((n -= sides_write(i, n)) == 0, sides_turn());
}

static void
bytes_go_both_ways(void **state)
{
	(void)state;
	sides_begin(true);
	for (uint32_t k = 0; k < ROUNDS; k++) {
		write_all(0, 1500);
		write_all(1, 700);
		drain();
	}
	assert_int_equal(side[0].read, 700 * ROUNDS);
	assert_int_equal(side[1].read, 1500 * ROUNDS);
	sides_end();
}

static void
large_transfers_are_read(void **state)
{
	(void)state;
	sides_begin(true);
	sides_write(0, 100);
	sides_offer(0);
	drain();
	test_until(side[0].companion.large == NULL, sides_turn());
	sides_offer(1);
	drain();
	test_until(side[1].companion.large == NULL, sides_turn());
	sides_end();
}

static void
a_peer_that_closes_is_noticed(void **state)
{
	(void)state;
	sides_begin(true);
	world_as(B);
	san_companion_close(&side[1].companion);
	test_until(side[0].companion.stream.end != PLX_SAN_END_NOT, (sides_run(0), world_run()));
	assert_int_equal(side[0].companion.error, WSAECONNRESET);
	world_as(A);
	san_companion_close(&side[0].companion);
	stage_end();
}

/* Bytes flow all the time, also while nobody has the connection. */
static void
flow(uint32_t k)
{
	sides_write(0, 1 + 37 * k % 900);
	sides_write(1, 1 + 91 * k % 900);
	if (k % 7 == 3 && side[1].companion.large == NULL && side[1].written == side[0].read)
		sides_offer(1);
	sides_turn();
	sides_read(0);
	sides_read(1);
}

static void
streams_survive(bool silent)
{
	sides_begin(true);
	for (uint32_t k = 0; k < SWAPS; k++) {
		flow(k);
		if (silent)
			san_companion_pass(&side[0].companion, world_id(sides_next()));
		else
			san_companion_give(&side[0].companion, world_id(sides_next()));
		test_until(side[0].companion.given, flow(k));
		for (uint32_t i = 0; i < k % 5; i++) {
			sides_write(1, 10);
			sides_run(1);
		}
		sides_hand_over();
	}
	drain();
	test_until(side[1].companion.large == NULL, sides_turn());
	assert_int_equal(side[0].companion.stream.end, PLX_SAN_END_NOT);
	assert_int_equal(side[1].companion.stream.end, PLX_SAN_END_NOT);
	sides_end();
}

static void
streams_survive_swaps(void **state)
{
	(void)state;
	streams_survive(false);
}

static void
streams_survive_swaps_in_silence(void **state)
{
	(void)state;
	streams_survive(true);
}

/* The peer's end is on its way when the socket's place is used again. */
static void
a_new_connection_hears_nothing_of_the_one_before(void **state)
{
	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(8);
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		SOCKET a = stage_connect_to(WORLD_HOST_B);
		SOCKET b = stage_accept();

		assert_int_equal(stage_await_result(a), 0);
		stage_close(B, b);
		if (i % 2 == 1)
			usleep(i % 64 * 5);
		stage_close(A, a);
	}
	stage_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(large_transfers_are_read),
		cmocka_unit_test(a_peer_that_closes_is_noticed),
		cmocka_unit_test(streams_survive_swaps),
		cmocka_unit_test(streams_survive_swaps_in_silence),
		cmocka_unit_test(a_new_connection_hears_nothing_of_the_one_before),
	};

	return WORLD_RUN(tests);
}
