/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The FIFO of control, call by call; what is not a process's to say; deaths; tokens.
 * Start with a_request_of_another_process_gets_its_turn().
 */
#include <stdlib.h>

#include "test.h"

#include "plx_san_arbiter.h"
#include "plx_san_token.h"

enum {
	A = 11,
	B = 12,
	C = 13,
	STREAM = 77,
	PROCESSES = 16,
	TOKENS = 100000, /* S6 */
};

static struct plx_san_arbiter arbiter;

static void
assert_tells(enum plx_san_tell tell, uint64_t process)
{
	uint64_t whom;

	assert_int_equal(plx_san_tell(&arbiter, &whom), tell);
	assert_int_equal(whom, process);
}

/* Control goes from one process to another, whose turn it is then. */
static void
pass(uint64_t from, uint64_t to)
{
	assert_tells(PLX_SAN_TELL_WANTED, from);
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
	assert_true(plx_san_gave(&arbiter, from));
	assert_tells(PLX_SAN_TELL_TAKE, to);
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
	assert_true(plx_san_took(&arbiter, to));
	assert_tells(PLX_SAN_TELL_TURN, to);
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
}

static void
a_request_of_another_process_gets_its_turn(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
	assert_true(plx_san_is_free(&arbiter, A));
	assert_false(plx_san_is_free(&arbiter, B));
	assert_true(plx_san_ask(&arbiter, B));
	assert_false(plx_san_is_free(&arbiter, A));
	pass(A, B);
	assert_false(plx_san_is_free(&arbiter, B));
	assert_true(plx_san_done(&arbiter, B));
	assert_true(plx_san_is_free(&arbiter, B));
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
}

/* S9, S10: B, then A's later one, then B again. */
static void
tickets_are_served_in_order(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	assert_true(plx_san_ask(&arbiter, B));
	assert_true(plx_san_ask(&arbiter, A));
	assert_true(plx_san_ask(&arbiter, A));
	assert_true(plx_san_ask(&arbiter, B));
	pass(A, B);
	assert_true(plx_san_done(&arbiter, B));
	pass(B, A);
	assert_true(plx_san_done(&arbiter, A));
	assert_tells(PLX_SAN_TELL_TURN, A); /* no swap between two of one process */
	assert_true(plx_san_done(&arbiter, A));
	pass(A, B);
}

static void
so_many_requests_wait_and_no_more(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	for (uint32_t i = 0; i < PLX_SAN_TICKETS_MAX; i++)
		assert_true(plx_san_ask(&arbiter, B));
	assert_false(plx_san_ask(&arbiter, C));
	pass(A, B);
	assert_true(plx_san_done(&arbiter, B));
	assert_true(plx_san_ask(&arbiter, C));
	assert_false(plx_san_ask(&arbiter, A));
}

/* ---- what is not its to say ---- */

static void
refuses_all(void)
{
	const struct plx_san_arbiter before = arbiter;

	for (uint64_t process = 0; process < 20; process++) {
		bool may_done = arbiter.phase == PLX_SAN_PHASE_HELD && arbiter.told &&
				arbiter.process == process;

		if (!(arbiter.phase == PLX_SAN_PHASE_WANTED && arbiter.process == process))
			assert_false(plx_san_gave(&arbiter, process));
		if (!(arbiter.phase == PLX_SAN_PHASE_OFFERED && arbiter.process == process))
			assert_false(plx_san_took(&arbiter, process));
		if (!may_done)
			assert_false(plx_san_done(&arbiter, process));
		if (arbiter.phase != PLX_SAN_PHASE_SEIZED)
			assert_false(plx_san_seized(&arbiter, process));
	}
	assert_memory_equal(&arbiter, &before, sizeof(before));
}

static void
nobody_speaks_for_another(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	refuses_all();
	plx_san_ask(&arbiter, B);
	refuses_all();
	assert_tells(PLX_SAN_TELL_WANTED, A);
	refuses_all();
	assert_true(plx_san_gave(&arbiter, A));
	refuses_all();
	assert_tells(PLX_SAN_TELL_TAKE, B);
	refuses_all();
	assert_true(plx_san_took(&arbiter, B));
	refuses_all();
	assert_tells(PLX_SAN_TELL_TURN, B);
	refuses_all();
	plx_san_left(&arbiter, B, false);
	refuses_all();
}

/* ---- deaths ---- */

static void
who_waits_and_ends_is_forgotten(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	plx_san_ask(&arbiter, B);
	plx_san_ask(&arbiter, C);
	plx_san_ask(&arbiter, B);
	plx_san_left(&arbiter, B, false);
	pass(A, C);
	assert_true(plx_san_done(&arbiter, C));
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
}

/* Told to give it away for a process that has ended: then it comes back. */
static void
nobody_wants_it_any_more(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	plx_san_ask(&arbiter, B);
	assert_tells(PLX_SAN_TELL_WANTED, A);
	plx_san_left(&arbiter, B, false);
	assert_true(plx_san_gave(&arbiter, A));
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
	assert_true(plx_san_is_abandoned(&arbiter));
	assert_true(plx_san_ask(&arbiter, A));
	assert_tells(PLX_SAN_TELL_TAKE, A);
	assert_true(plx_san_took(&arbiter, A));
	assert_tells(PLX_SAN_TELL_TURN, A);
}

static void
a_controller_that_ends_ends_the_connection(void **state)
{
	static const enum plx_san_phase phases[] = {PLX_SAN_PHASE_HELD, PLX_SAN_PHASE_WANTED,
						    PLX_SAN_PHASE_OFFERED};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(phases); i++) {
		uint64_t controls = A;

		plx_san_arbiter_begin(&arbiter, A);
		plx_san_ask(&arbiter, B);
		if (phases[i] != PLX_SAN_PHASE_HELD)
			assert_tells(PLX_SAN_TELL_WANTED, A);
		if (phases[i] == PLX_SAN_PHASE_OFFERED) {
			assert_true(plx_san_gave(&arbiter, A));
			assert_tells(PLX_SAN_TELL_TAKE, B);
			controls = B;
		}
		assert_int_equal(arbiter.phase, phases[i]);
		plx_san_left(&arbiter, controls, false);
		assert_tells(PLX_SAN_TELL_OVER, 0);
		assert_tells(PLX_SAN_TELL_NOTHING, 0);
		assert_false(plx_san_ask(&arbiter, C));
		plx_san_left(&arbiter, C, true);
		assert_int_equal(arbiter.phase, PLX_SAN_PHASE_OVER);
	}
}

/* S1, S20: from one that computes, or has ended, or ended before it took it. */
static void
the_host_takes_control_itself(void **state)
{
	static const enum plx_san_phase phases[] = {PLX_SAN_PHASE_HELD, PLX_SAN_PHASE_WANTED,
						    PLX_SAN_PHASE_OFFERED};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(phases); i++) {
		plx_san_arbiter_begin(&arbiter, A);
		plx_san_ask(&arbiter, B);
		plx_san_ask(&arbiter, A);
		if (phases[i] != PLX_SAN_PHASE_HELD)
			assert_tells(PLX_SAN_TELL_WANTED, A);
		if (phases[i] == PLX_SAN_PHASE_OFFERED) {
			assert_true(plx_san_gave(&arbiter, A));
			assert_false(plx_san_seize(&arbiter)); /* nobody has it */
			assert_tells(PLX_SAN_TELL_TAKE, B);
		}
		assert_true(plx_san_seize(&arbiter));
		refuses_all();
		assert_false(plx_san_seize(&arbiter));
		assert_tells(PLX_SAN_TELL_NOTHING, 0);
		plx_san_left(&arbiter, A, false); /* it has nothing to lose */
		assert_true(plx_san_seized(&arbiter, C));
		pass(C, B);
		assert_true(plx_san_done(&arbiter, B));
		assert_tells(PLX_SAN_TELL_NOTHING, 0);
	}
	plx_san_left(&arbiter, B, false);
	assert_false(plx_san_seize(&arbiter));
}

/* S18: what it left is the next one's, or the host's own. */
static void
what_a_controller_left_is_taken(void **state)
{
	(void)state;
	plx_san_arbiter_begin(&arbiter, A);
	plx_san_ask(&arbiter, B);
	plx_san_left(&arbiter, A, true);
	assert_tells(PLX_SAN_TELL_TAKE, B);
	plx_san_left(&arbiter, B, true);
	assert_tells(PLX_SAN_TELL_NOTHING, 0);
	assert_true(plx_san_is_abandoned(&arbiter));
	plx_san_arbiter_begin(&arbiter, C);
	assert_true(plx_san_is_free(&arbiter, C));
}

/* ---- tokens ---- */

static struct plx_san_tokens tokens;

static void
a_token_is_for_one_process_once(void **state)
{
	uint32_t token;

	(void)state;
	plx_san_tokens_init(&tokens);
	token = plx_san_token_make(&tokens, A, STREAM);
	assert_int_not_equal(token, 0);
	assert_int_equal(plx_san_token_redeem(&tokens, token, B), 0);
	assert_int_equal(plx_san_token_redeem(&tokens, token + 1, A), 0);
	assert_int_equal(plx_san_token_redeem(&tokens, 0, 0), 0);
	assert_int_equal(plx_san_token_redeem(&tokens, token, A), STREAM);
	assert_int_equal(plx_san_token_redeem(&tokens, token, A), 0);
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* S6 */
static void
tokens_are_not_given_twice(void **state)
{
	static uint32_t given[TOKENS], open[PLX_SAN_TOKENS_MAX];
	uint32_t waiting = 0;

	(void)state;
	plx_san_tokens_init(&tokens);
	for (uint32_t i = 0; i < TOKENS; i++) {
		uint64_t process = 1 + i % PROCESSES;

		given[i] = plx_san_token_make(&tokens, process, 1 + i);
		assert_int_not_equal(given[i], 0);
		open[waiting++] = i;
		if (waiting < PLX_SAN_TOKENS_MAX / 2)
			continue;
		/* Half of them are redeemed, the newest first. */
		for (; waiting > PLX_SAN_TOKENS_MAX / 4; waiting--) {
			uint32_t k = open[waiting - 1];

			assert_int_equal(plx_san_token_redeem(&tokens, given[k], 1 + k % PROCESSES),
					 1 + k);
		}
	}
	qsort(given, TOKENS, sizeof(given[0]), compare);
	for (uint32_t i = 1; i < TOKENS; i++)
		assert_int_not_equal(given[i], given[i - 1]);
}

static void
tokens_are_limited_and_forgotten(void **state)
{
	uint32_t first = 0;

	(void)state;
	plx_san_tokens_init(&tokens);
	for (uint32_t i = 0; i < PLX_SAN_TOKENS_MAX; i++) {
		uint32_t token = plx_san_token_make(&tokens, i % 2 == 0 ? A : B, STREAM + i % 4);

		assert_int_not_equal(token, 0);
		if (i == 0)
			first = token;
	}
	assert_int_equal(plx_san_token_make(&tokens, C, STREAM), 0);
	plx_san_tokens_forget(&tokens, A, 0);
	assert_int_equal(plx_san_token_redeem(&tokens, first, A), 0);
	assert_int_equal(tokens.count, PLX_SAN_TOKENS_MAX / 2);
	plx_san_tokens_forget(&tokens, 0, STREAM + 1);
	assert_int_equal(tokens.count, PLX_SAN_TOKENS_MAX * 3 / 4);
	plx_san_tokens_forget(&tokens, B, STREAM + 3);
	assert_int_equal(tokens.count, PLX_SAN_TOKENS_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_of_another_process_gets_its_turn),
		cmocka_unit_test(tickets_are_served_in_order),
		cmocka_unit_test(so_many_requests_wait_and_no_more),
		cmocka_unit_test(nobody_speaks_for_another),
		cmocka_unit_test(who_waits_and_ends_is_forgotten),
		cmocka_unit_test(nobody_wants_it_any_more),
		cmocka_unit_test(a_controller_that_ends_ends_the_connection),
		cmocka_unit_test(the_host_takes_control_itself),
		cmocka_unit_test(what_a_controller_left_is_taken),
		cmocka_unit_test(a_token_is_for_one_process_once),
		cmocka_unit_test(tokens_are_not_given_twice),
		cmocka_unit_test(tokens_are_limited_and_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
