/* SPDX-License-Identifier: BSD-3-Clause
 *
 * S20: a process ends after any of the calls that it makes in a swap. Nothing hangs, nothing is
 * left, and the other end either goes on with every byte or is told that the connection is lost.
 * Start with one_death().
 */
#include "fake.h"
#include "sides.h"

enum {
	CALLS_MAX = 1000, /* of a process in a swap */
	BYTES = 700,
};

/* What a swap has in progress. */
enum load {
	NOTHING,
	BYTES_BOTH_WAYS,
	A_LARGE_TRANSFER, /* of the other end */
	LOADS,
};

static void
begin(enum load load)
{
	sides_begin(true);
	if (load == NOTHING)
		return;
	sides_write(0, BYTES);
	sides_write(1, BYTES);
	if (load == A_LARGE_TRANSFER)
		sides_offer(1);
	sides_settle();
}

static void
swap_as_far_as_it_goes(void)
{
	san_companion_give(&side[0].companion, sides_next());
	sides_settle();
	if (side[0].companion.given && !fake_is_killed(sides_next()) && sides_take() == 0)
		sides_drain();
}

/* What a process gave away is its host's: its own death matters no more.
 * Returns: false: the process made fewer calls, and the swap is complete */
static bool
one_death(enum load load, DWORD victim, uint32_t calls)
{
	const struct plx_san_stream *peer = &side[1].companion.stream;
	bool died;

	begin(load);
	fake_kill_after(victim, calls);
	swap_as_far_as_it_goes();
	died = fake_is_killed(victim);
	sides_run(1);
	if (peer->end != PLX_SAN_END_NOT) {
		assert_true(died);
		assert_int_equal(peer->end, PLX_SAN_END_LOST);
	} else {
		assert_int_equal(side[0].process, A2);
		sides_drain();
		assert_int_equal(side[1].read, side[0].written);
		assert_int_equal(side[0].read, side[1].written);
	}
	fake_kill(A);
	fake_kill(A2);
	world_as(B);
	san_companion_close(&side[1].companion);
	stage_close(B, stage.listener);
	world_end();
	return died;
}

static void
every_call_of(DWORD victim)
{
	for (int load = NOTHING; load < LOADS; load++) {
		uint32_t calls = 1;

		while (one_death((enum load)load, victim, calls))
			assert_true(++calls < CALLS_MAX);
		/* SUSPEND, the memory of sends, a receive, the socket; or a socket, its memory and
		 * receives, RESUME. */
		assert_true(calls > (victim == A ? 4 : RECEIVES + 3));
		print_message("process %lu: %u deaths\n", (unsigned long)victim, calls - 1);
	}
}

static void
whoever_gives_it_away_ends(void **state)
{
	(void)state;
	every_call_of(A);
}

static void
whoever_takes_it_ends(void **state)
{
	(void)state;
	every_call_of(A2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_gives_it_away_ends),
		cmocka_unit_test(whoever_takes_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
