/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The timer wheel: never early, late by less than a tick, on every level and beyond; also compared
 * with a plain table of deadlines over random steps. Start with compare().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"

enum {
	TIMERS = 500
};

#define TICK (UINT64_C(1) << WHEEL_TICK_SHIFT)

static void
timer_init(struct timer *timer)
{
	*timer = (struct timer){.deadline = PLX_NEVER};
	plx_list_init(&timer->link);
}

/* The first tick that is not before the deadline: when the wheel may fire. */
static uint64_t
due_tick(uint64_t deadline)
{
	return (deadline + TICK - 1) >> WHEEL_TICK_SHIFT;
}

/* Distances [ticks] on each level, at its borders, and beyond the last. */
static const uint64_t distances[] = {0,
				     1,
				     2,
				     63,
				     64,
				     65,
				     127,
				     128,
				     4095,
				     4096,
				     4097,
				     (64 * 64 * 64) - 1,
				     64 * 64 * 64,
				     (64 * 64 * 64) + 1,
				     16777215,
				     16777216,
				     16777217,
				     16777216ull * 3 + 12345,
				     16777216ull * 100};

static const uint64_t starts[] = {0,
				  1,
				  TICK - 1,
				  TICK,
				  63 * TICK,
				  64 * TICK + 7,
				  4095 * TICK + 1,
				  262143 * TICK,
				  16777215 * TICK + 99,
				  1234567890123456789ull};

/* Checked just before and at its tick, after one long jump. */
static void
a_timer_fires_at_its_tick_and_not_before(void **state)
{
	(void)state;
	for (size_t s = 0; s < PLX_COUNT_OF(starts); s++)
		for (size_t d = 0; d < PLX_COUNT_OF(distances); d++)
			for (uint64_t part = 0; part < 3; part++) {
				uint64_t deadline =
					starts[s] + distances[d] * TICK + part * (TICK - 1) / 2;
				uint64_t at = due_tick(deadline) << WHEEL_TICK_SHIFT;
				struct wheel wheel;
				struct timer timer;

				timer_init(&timer);
				wheel_init(&wheel, starts[s]);
				wheel_set(&wheel, &timer, deadline);
				if (deadline > starts[s])
					assert_null(wheel_pop(&wheel,
							      plx_time_min(at - 1, deadline - 1)));
				assert_true(at >= deadline && at - deadline < TICK);
				assert_ptr_equal(wheel_pop(&wheel, at), &timer);
				assert_int_equal(timer.deadline, PLX_NEVER);
				assert_null(wheel_pop(&wheel, at + 1000 * PLX_SEC));
			}
}

/* As the engine does: asleep until the wheel's next wakeup. */
static void
sleeping_until_the_wheel_asks_misses_nothing(void **state)
{
	(void)state;
	for (size_t s = 0; s < PLX_COUNT_OF(starts); s++)
		for (size_t d = 0; d < PLX_COUNT_OF(distances); d++) {
			uint64_t deadline = starts[s] + distances[d] * TICK + 5, now;
			uint32_t looks = 0;
			struct wheel wheel;
			struct timer timer;

			timer_init(&timer);
			wheel_init(&wheel, starts[s]);
			wheel_set(&wheel, &timer, deadline);
			do {
				now = wheel_wake_ns(&wheel);
				assert_true(now < deadline + TICK);
				looks++;
			} while (wheel_pop(&wheel, now) == NULL);
			assert_true(now >= deadline);
			/* Once a level, and once for each time round the last one. */
			assert_true(looks <= 5 + distances[d] / 16777216 * 2);
			assert_int_equal(wheel_wake_ns(&wheel), PLX_NEVER);
		}
}

/* One hour in steps of a tick: as a busy engine sees it. */
static void
every_tick_of_a_minute_is_looked_at_in_order(void **state)
{
	struct timer timers[64];
	struct wheel wheel;
	uint32_t fired = 0;
	(void)state;
	wheel_init(&wheel, 0);
	for (uint64_t i = 0; i < 64; i++) {
		timer_init(&timers[i]);
		wheel_set(&wheel, &timers[i], 1 + i * PLX_SEC * 60 / 64);
	}
	for (uint64_t tick = 0; tick <= (60 * PLX_SEC >> WHEEL_TICK_SHIFT) + 1; tick++) {
		struct timer *timer = wheel_pop(&wheel, tick << WHEEL_TICK_SHIFT);

		if (timer == NULL)
			continue;
		assert_ptr_equal(timer, &timers[fired]);
		assert_int_equal(tick, due_tick(1 + fired * PLX_SEC * 60 / 64));
		fired++;
	}
	assert_int_equal(fired, 64);
}

static void
a_cleared_timer_does_not_fire_and_may_be_set_again(void **state)
{
	struct timer timer, other;
	struct wheel wheel;
	(void)state;
	timer_init(&timer);
	timer_init(&other);
	wheel_init(&wheel, 0);
	for (size_t d = 0; d < PLX_COUNT_OF(distances); d++) {
		wheel_set(&wheel, &timer, distances[d] * TICK + 1);
		wheel_clear(&wheel, &timer);
		wheel_clear(&wheel, &timer);
		assert_int_equal(timer.deadline, PLX_NEVER);
		assert_int_equal(wheel_wake_ns(&wheel), PLX_NEVER);
		/* Two in one slot: the other one stays. */
		wheel_set(&wheel, &timer, distances[d] * TICK + 1);
		wheel_set(&wheel, &other, distances[d] * TICK + 1);
		wheel_clear(&wheel, &timer);
		assert_true(wheel_wake_ns(&wheel) != PLX_NEVER);
		wheel_clear(&wheel, &other);
	}
	wheel_set(&wheel, &timer, 100 * PLX_SEC);
	wheel_set(&wheel, &timer, PLX_NEVER);
	assert_int_equal(wheel_wake_ns(&wheel), PLX_NEVER);
	/* Moved: fires once, at the newer deadline. */
	wheel_set(&wheel, &timer, 100 * PLX_SEC);
	wheel_set(&wheel, &timer, 3 * PLX_SEC);
	assert_null(wheel_pop(&wheel, 3 * PLX_SEC - 1));
	assert_ptr_equal(wheel_pop(&wheel, 3 * PLX_SEC + TICK), &timer);
	assert_null(wheel_pop(&wheel, 1000 * PLX_SEC));
}

static void
a_deadline_in_the_past_fires_at_once(void **state)
{
	struct timer timer;
	struct wheel wheel;
	(void)state;
	timer_init(&timer);
	wheel_init(&wheel, 0);
	assert_null(wheel_pop(&wheel, 50 * PLX_SEC));
	wheel_set(&wheel, &timer, 1);
	assert_true(wheel_wake_ns(&wheel) <= 50 * PLX_SEC);
	assert_ptr_equal(wheel_pop(&wheel, 50 * PLX_SEC), &timer);
	wheel_set(&wheel, &timer, 0);
	assert_ptr_equal(wheel_pop(&wheel, 50 * PLX_SEC), &timer);
}

/* PLX_NEVER - 1 is a deadline, 584 years away. */
static void
the_end_of_time_is_far_away(void **state)
{
	struct timer timer;
	struct wheel wheel;
	(void)state;
	timer_init(&timer);
	wheel_init(&wheel, 0);
	wheel_set(&wheel, &timer, PLX_NEVER - 1);
	assert_null(wheel_pop(&wheel, 3600 * PLX_SEC));
	assert_true(wheel_wake_ns(&wheel) > 3600 * PLX_SEC);
	wheel_clear(&wheel, &timer);
}

/* ---- against a table ---- */

struct table {
	struct wheel wheel;
	struct timer timer[TIMERS];
	uint64_t deadline[TIMERS]; /* the model's */
	uint64_t now;
	uint32_t fired;
};

/* Mostly short, sometimes hours: every level is reached. */
static uint64_t
span_of_time(struct plx_prng *prng)
{
	return plx_prng_next(prng) >> (20 + plx_prng_below(prng, 44));
}

/* Pops what is due, and checks that it really is. */
static void
compare(struct table *t)
{
	uint64_t tick = 0, now_tick = t->now >> WHEEL_TICK_SHIFT;
	struct timer *timer;

	while ((timer = wheel_pop(&t->wheel, t->now)) != NULL) {
		size_t i = (size_t)(timer - t->timer);
		uint64_t due = due_tick(t->deadline[i]);

		assert_true(t->deadline[i] <= t->now);
		/* In the order of their ticks, but for those that were late when they were set. */
		assert_true(due >= tick || due <= now_tick);
		tick = due;
		t->deadline[i] = PLX_NEVER;
		t->fired++;
	}
	for (uint32_t i = 0; i < TIMERS; i++)
		assert_true(t->deadline[i] == PLX_NEVER || due_tick(t->deadline[i]) > now_tick);
}

static void
random_deadlines_and_steps_agree_with_a_table(void **state)
{
	struct table *t = calloc(1, sizeof(*t));
	struct plx_prng prng;
	(void)state;
	assert_non_null(t);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		plx_prng_init(&prng, seed);
		t->now = span_of_time(&prng);
		wheel_init(&t->wheel, t->now);
		for (uint32_t i = 0; i < TIMERS; i++) {
			timer_init(&t->timer[i]);
			t->deadline[i] = PLX_NEVER;
		}
		for (uint32_t step = 0; step < 2000; step++) {
			uint64_t earliest = PLX_NEVER;

			for (uint32_t n = 0; n < 10; n++) {
				uint32_t i = (uint32_t)plx_prng_below(&prng, TIMERS);

				t->deadline[i] = plx_prng_chance(&prng, 200000)
							 ? PLX_NEVER
							 : t->now + span_of_time(&prng);
				wheel_set(&t->wheel, &t->timer[i], t->deadline[i]);
			}
			for (uint32_t i = 0; i < TIMERS; i++)
				earliest = plx_time_min(earliest, t->deadline[i]);
			if (earliest != PLX_NEVER)
				assert_true(wheel_wake_ns(&t->wheel) < earliest + TICK);
			t->now += span_of_time(&prng);
			compare(t);
		}
	}
	assert_true(t->fired > 50000);
	free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_fires_at_its_tick_and_not_before),
		cmocka_unit_test(sleeping_until_the_wheel_asks_misses_nothing),
		cmocka_unit_test(every_tick_of_a_minute_is_looked_at_in_order),
		cmocka_unit_test(a_cleared_timer_does_not_fire_and_may_be_set_again),
		cmocka_unit_test(a_deadline_in_the_past_fires_at_once),
		cmocka_unit_test(the_end_of_time_is_far_away),
		cmocka_unit_test(random_deadlines_and_steps_agree_with_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
