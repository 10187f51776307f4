/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer sees, of 10^4 connections, the communication id and the transaction id of each REQ, in
 * order. None of it helps to predict the next. The guesser's own test is
 * tests/unit/proto/secret/predict.c. Start with no_bit_of_the_next_id_can_be_guessed().
 */
#include "guesser.h"
#include "cm_pair.h"

static uint32_t id[GUESSER_VALUES], tid_low[GUESSER_VALUES], tid_high[GUESSER_VALUES];
static char how[160];

static void
no_bit_of_the_next_id_can_be_guessed(void **state)
{
	const struct guesser_series seen[] = {
		{"ids", id, 32, false},
		{"low halves of transaction ids", tid_low, 32, false},
		{"high halves of transaction ids", tid_high, 32, false}};
	struct pair pair;

	(void)state;
	pair_open(&pair);
	for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
		struct plx_cm_id asked = pair_connect(&pair, ALICE, BOB, ALICE_QPN);
		const struct plx_cm_msg *req;

		pair_forget(&pair);
		assert_int_equal(pair_carry_from(&pair, ALICE), 1);
		req = pair_last(&pair, ALICE, PLX_CM_REQ);
		id[i] = req->req.local_comm_id;
		tid_low[i] = (uint32_t)req->transaction_id;
		tid_high[i] = (uint32_t)(req->transaction_id >> 32);
		plx_cm_abandon(pair.cm[ALICE], asked, pair.now);
		pair_carry(&pair);
	}
	if (guesser_finds(seen, PLX_COUNT_OF(seen), how))
		fail_msg("%s", how);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_bit_of_the_next_id_can_be_guessed),
	};

	return cmocka_run_group_tests_name("cm/predict", tests, NULL, NULL);
}
