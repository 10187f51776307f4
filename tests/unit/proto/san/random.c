/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ends of a stream in any order of steps, messages, completions and calls of their programs,
 * with every number of credits, and with control that changes hands at any moment: each byte
 * arrives once, in order, and nothing waits for ever. Start with one_schedule().
 *
 * POLLUX_SEEDS and POLLUX_SEED: how many schedules, from which on.
 */
#include <stdlib.h>

#include "asked.h"
#include "ends.h"

enum {
	SEEDS = 3000,
	CALLS = 600, /* of a schedule */
};

static struct plx_san_config
draw_config(struct plx_prng *prng)
{
	struct plx_san_config config = {
		.reads = plx_prng_chance(prng, 500000),
		.credits = 1 + (uint32_t)plx_prng_below(prng, 12),
		.payload_bytes = 64 + (uint32_t)plx_prng_below(prng, 200),
		.out_bytes = UINT32_C(64) << plx_prng_below(prng, 6),
		.sends = 1 + (uint32_t)plx_prng_below(prng, 8),
		.suspend_ns = SUSPEND_NS,
	};

	config.in_bytes = 64;
	while (config.in_bytes <= config.credits * config.payload_bytes)
		config.in_bytes *= 2;
	return config;
}

static void
call(struct ends *ends, struct plx_prng *prng)
{
	uint32_t i = (uint32_t)plx_prng_below(prng, 2);
	uint32_t n = 1 + (uint32_t)plx_prng_below(prng, 400);
	struct plx_san_stream *stream = &ends->end[i].stream;

	switch (plx_prng_below(prng, 16)) {
	case 0:
	case 1:
		ends_write(ends, i, n);
		break;
	case 2:
	case 3:
		ends_read(ends, i, n);
		break;
	case 4:
		if (plx_prng_chance(prng, 300000))
			ends_write_urgent(ends, i);
		break;
	case 5:
		if (plx_san_is_open(stream) && plx_prng_chance(prng, 300000))
			ends_offer(ends, i, 8 * n);
		break;
	case 6:
		if (plx_prng_chance(prng, 200000))
			plx_san_suspend(stream);
		else if (plx_prng_chance(prng, 200000))
			plx_san_pass(stream);
		break;
	case 7:
		if (stream->mine == PLX_SAN_MINE_GIVEN)
			ends_take(ends, i);
		break;
	case 8:
		if (plx_prng_chance(prng, 10000))
			plx_san_shut(stream);
		break;
	case 9:
	case 10:
		ends_complete_send(ends, i);
		break;
	case 11:
		ends_complete_rdma(ends, i);
		break;
	case 12:
	case 13:
		if (n % 2 == 0)
			ends_deliver(ends, i);
		else
			ends_receive(ends, i, n);
		break;
	default:
		ends_step(ends, i);
	}
}

static void
check_end(const struct ends *ends, uint32_t i)
{
	const struct end *end = &ends->end[i], *peer = &ends->end[1 - i];

	assert_int_equal(end->stream.end, PLX_SAN_END_NOT);
	assert_int_equal(end->stream.mine, PLX_SAN_MINE_KEPT);
	assert_int_equal(end->stream.theirs, PLX_SAN_THEIRS_KEPT);
	assert_int_equal(end->stream.epoch, peer->stream.epoch);
	assert_int_equal(end->stream.epoch, end->gives + peer->gives);
	assert_int_equal(end->read_bytes, peer->written);
	assert_true(plx_san_is_drained(&end->stream));
	assert_int_equal(plx_san_is_at_end(&end->stream), peer->stream.out.fin_wanted);
	assert_false(end->registered || end->exposed);
	assert_int_equal(end->stream.deadline, PLX_NEVER);
	if (peer->urgent != 0)
		assert_int_equal(end->stream.in.urgent_byte, peer->urgent);
}

static uint32_t
one_schedule(uint64_t seed)
{
	static struct ends ends;
	struct plx_san_config config[2];
	struct plx_prng prng;

	plx_prng_init(&prng, seed);
	for (uint32_t i = 0; i < 2; i++)
		config[i] = draw_config(&prng);
	ends_begin(&ends, &config[0], &config[1]);
	for (uint32_t i = 0; i < CALLS; i++) {
		call(&ends, &prng);
		ends.now++;
	}
	ends_drain(&ends);
	check_end(&ends, 0);
	check_end(&ends, 1);
	return ends.end[0].gives + ends.end[1].gives + ends.end[0].passes + ends.end[1].passes;
}

static void
every_byte_arrives_once_in_order(void **state)
{
	uint64_t seeds = test_asked("POLLUX_SEEDS", SEEDS);
	uint64_t first = test_asked("POLLUX_SEED", 0);
	uint64_t gives = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		if (seeds == 1 || getenv("POLLUX_VERBOSE") != NULL)
			print_message("seed %llu\n", (unsigned long long)seed);
		gives += one_schedule(seed);
	}
	print_message("%llu schedules, control changed hands %llu times\n",
		      (unsigned long long)seeds, (unsigned long long)gives);
	assert_true(gives > seeds || seeds == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_arrives_once_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
