/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ends of a stream over a provider. Start with sides_settle().
 */
#include "sides.h"

#include "clock.h"

enum {
	TURNS = 1000000,
};

struct side side[2];
uint8_t sides_large[LARGE];

static const struct plx_san_config config = {.credits = CREDITS,
					     .payload_bytes = PAYLOAD,
					     .in_bytes = RING,
					     .out_bytes = RING,
					     .sends = SENDS,
					     .suspend_ns = 1000};

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
	one->rings = (struct plx_san_rings){.in = one->in, .out = one->out};
	as_is.connects = i == 0;
	world_as(process);
	assert_int_equal(san_companion_open(&one->companion, &stage.call, s, &as_is, &one->rings,
					    one->messages[0]),
			 0);
}

void
sides_run(uint32_t i)
{
	world_as(side[i].process);
	san_companion_run(&side[i].companion, 0);
}

bool
sides_turn(void)
{
	sides_run(0);
	sides_run(1);
	return world_run();
}

void
sides_settle(void)
{
	while (sides_turn())
		;
}

void
sides_begin(bool reads)
{
	const struct world_options options = {.reads = reads};

	stage_connect(&options);
	open_side(0, A, stage.a);
	open_side(1, B, stage.b);
	test_until(plx_san_is_open(&side[0].companion.stream) &&
			   plx_san_is_open(&side[1].companion.stream),
		   sides_turn());
}

void
sides_end(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		world_as(side[i].process);
		san_companion_close(&side[i].companion);
	}
	stage_end();
}

uint32_t
sides_write(uint32_t i, uint32_t n)
{
	struct side *one = &side[i];
	uint8_t bytes[RING];

	for (uint32_t k = 0; k < n; k++)
		bytes[k] = pattern(i, one->written + k);
	n = plx_san_write(&one->companion.stream, &one->rings, bytes, n);
	one->written += n;
	return n;
}

uint32_t
sides_read(uint32_t i)
{
	struct side *one = &side[i];
	uint8_t bytes[RING];
	uint32_t n = plx_san_read(&one->companion.stream, &one->rings, bytes, RING, false);

	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(bytes[k], pattern(1 - i, one->read + k));
	one->read += n;
	return n;
}

void
sides_drain(void)
{
	uint32_t turns = 0;

	do {
		sides_settle();
		assert_true(turns++ < TURNS);
	} while (sides_read(0) + sides_read(1) > 0);
}

void
sides_offer(uint32_t i)
{
	for (uint32_t k = 0; k < LARGE; k++)
		sides_large[k] = pattern(i, side[i].written + k);
	world_as(side[i].process);
	assert_int_equal(san_companion_offer(&side[i].companion, sides_large, LARGE), 0);
	side[i].written += LARGE;
}

DWORD
sides_next(void)
{
	return side[0].process == A ? A2 : A;
}

int
sides_take(void)
{
	struct side *one = &side[0];
	struct san_companion before = one->companion;

	one->process = sides_next();
	one->which = 1 - one->which;
	world_as(one->process);
	return san_companion_take(&one->companion, &stage.call, &before.info, &before.stream,
				  &one->rings, one->messages[one->which]);
}

void
sides_hand_over(void)
{
	struct san_companion before = side[0].companion;
	DWORD process = side[0].process;

	assert_true(before.given);
	assert_int_equal(sides_take(), 0);
	world_as(process);
	san_companion_close(&before);
}

void
sides_swap(void)
{
	san_companion_give(&side[0].companion, sides_next());
	test_until(side[0].companion.given, sides_turn());
	sides_hand_over();
	sides_settle();
}
