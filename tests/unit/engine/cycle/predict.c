/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer sees, of 10^4 connections of one engine, the number and the first PSN of each queue pair,
 * in order, and which of them still exist. None of it helps to predict the next. The guesser's own
 * test is tests/unit/proto/secret/predict.c. Start with
 * no_bit_of_the_next_queue_pair_can_be_guessed().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guesser.h"
#include "engine_pair.h"

enum {
	SLOT_BITS = 8, /* PAIR_QPS numbers, in a table at most half full */
};

static struct pair pair;
static uint32_t number[GUESSER_VALUES], psn[GUESSER_VALUES], thought[GUESSER_VALUES];
static char how[160];

/* An attacker who assumes that low bits of a number reveal its slot: for each bit, the value
 * that most slots have that no live number uses. */
static uint32_t
most_of_the_free(const uint32_t *alive, uint32_t count)
{
	bool taken[1 << SLOT_BITS] = {false};
	int more[SLOT_BITS] = {0};
	uint32_t guess = 0;

	for (uint32_t i = 0; i < count; i++)
		taken[alive[i] % (1 << SLOT_BITS)] = true;
	for (uint32_t place = 0; place < 1 << SLOT_BITS; place++)
		for (int bit = 0; bit < SLOT_BITS && !taken[place]; bit++)
			more[bit] += place >> bit & 1 ? 1 : -1;
	for (int bit = 0; bit < SLOT_BITS; bit++)
		guess |= (uint32_t)(more[bit] > 0) << bit;
	return guess;
}

/* Number of live queue pairs at any time; the oldest is destroyed. */
static void
see_all(uint32_t live)
{
	struct plx_qp *qps[PAIR_QPS] = {NULL};
	uint32_t alive[PAIR_QPS];
	const struct plx_engine_cq_config cq = {.depth = 4};
	struct plx_engine_qp_config config = {.caps = {.sq_depth = 1}, .rq_depth = 1};

	pair_open(&pair, true);
	config.domain = pair.side[0].domain;
	assert_int_equal(plx_engine_cq_create(pair.side[0].engine, &cq, &config.send_cq), PLX_OK);
	config.recv_cq = config.send_cq;
	for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
		uint32_t at = i % live;

		if (qps[at])
			assert_int_equal(plx_engine_qp_destroy(qps[at]), PLX_OK);
		alive[at] = live == 1 ? 0 : alive[(at + 1) % live];
		thought[i] = most_of_the_free(alive, i < live ? i : live);
		assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qps[at]),
				 PLX_OK);
		alive[at] = number[i] = plx_engine_qp_number(qps[at]);
		psn[i] = plx_engine_qp_first_psn(qps[at]).v;
	}
	for (uint32_t i = 0; i < live; i++)
		assert_int_equal(plx_engine_qp_destroy(qps[i]), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(config.send_cq), PLX_OK);
	pair_close(&pair);
}

static void
no_bit_of_the_next_queue_pair_can_be_guessed(void **state)
{
	static const uint32_t lives[] = {1, PAIR_QPS};
	const struct guesser_series seen[] = {{"places thought free", thought, SLOT_BITS, true},
					      {"numbers", number, 24, false},
					      {"first PSNs", psn, 24, false}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(lives); i++) {
		see_all(lives[i]);
		/* With one alive nothing is thought. */
		if (guesser_finds(&seen[lives[i] == 1], 3 - (lives[i] == 1), how))
			fail_msg("%u alive: %s", lives[i], how);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_bit_of_the_next_queue_pair_can_be_guessed),
	};

	return cmocka_run_group_tests_name("engine/predict", tests, NULL, NULL);
}
