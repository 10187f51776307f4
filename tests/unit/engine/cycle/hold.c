/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ACKs that wait for company (decision 67): in a program that keeps polling, for at most 2.5 us
 * after a packet, and not again soon if none came. Start with poll().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_pair.h"
#include "plx_engine_cycle.h"

enum {
	STEP_NS = 100, /* between two polls of a program that does nothing else */
	WAIT_NS = 2500,
	SKIPS = 64,
	BURST = 8,
};

static struct pair pair;
/* Of both, which do not see the real clock: what stops this thread must not look like loss. */
static uint64_t now;

struct log {
	uint32_t acks, requests;
	uint32_t acked;      /* the PSN of the newest ACK */
	uint32_t after_acks; /* ACKs before the newest request */
};

static struct log logged;

static bool
note(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	if (pair_opcode(m) == PLX_RC_ACK) {
		logged.acks++;
		logged.acked = pair_psn(m);
	} else {
		logged.requests++;
		logged.after_acks = logged.acks;
	}
	return true;
}

static struct pair_side *
side(int i)
{
	return &pair.side[i];
}

/* The program of b looks `n` times. */
static void
poll(uint32_t n, uint64_t apart)
{
	for (uint32_t i = 0; i < n; i++) {
		now += apart;
		plx_engine_poll(side(1)->engine, now);
	}
}

static void
poll_a(void)
{
	struct plx_wc wc[BURST];

	plx_engine_poll(side(0)->engine, now);
	while (plx_engine_cq_poll(side(0)->send_cq, wc, BURST) > 0)
		continue;
}

/* What a side posts leaves at once, by the test's clock. */
static void
post(int from, uint64_t id, uint32_t at)
{
	struct plx_qp *qp = side(from)->qp;

	assert_int_equal(pair_write(side(from), side(!from), id, at, 8, PLX_WR_DEFER), PLX_OK);
	engine_schedule(qp->engine, qp->back);
}

static void
write_to_b(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		post(0, i, 0);
	plx_engine_send(side(0)->engine, now);
}

/* b answers. */
static void
write_to_a(uint64_t id)
{
	post(1, id, 64);
	plx_engine_send(side(1)->engine, now);
}

static void
open_pair(void)
{
	struct pair_options options = pair_defaults(64);

	options.attr.ack_timeout_ns = 100 * PLX_SEC;
	pair_open(&pair, true);
	pair_connect_with(&pair, &options);
	now = plx_clock_ns();
	write_to_b(1);        /* the first packet is never usual */
	poll(2, 2 * WAIT_NS); /* too seldom for an ACK to wait */
	poll_a();
	memset(&logged, 0, sizeof(logged));
	side(1)->port.pass = note;
	poll(20, STEP_NS);
}

static void
close_pair(void)
{
	side(1)->port.pass = NULL;
	pair_close(&pair);
}

static void
one_ack_waits_for_what_follows(void **state)
{
	uint32_t first;

	(void)state;
	open_pair();
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 0);
	poll(5, STEP_NS);
	assert_int_equal(logged.acks, 0);
	write_to_b(1); /* after 600 ns: it waits on */
	poll(1 + (WAIT_NS / STEP_NS - 1), STEP_NS);
	assert_int_equal(logged.acks, 0);
	assert_int_equal(plx_engine_wake_ns(side(1)->engine), 0);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 1);
	first = logged.acked;
	poll_a();
	/* It has waited in vain: so many do not wait now. */
	for (uint32_t i = 0; i < SKIPS; i++) {
		write_to_b(1);
		poll(1, STEP_NS);
		assert_int_equal(logged.acks, 2 + i);
		poll_a();
	}
	assert_int_equal((logged.acked - first) & PLX_PSN_MASK, SKIPS);
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 1 + SKIPS);
	poll(WAIT_NS / STEP_NS, STEP_NS);
	assert_int_equal(logged.acks, 2 + SKIPS);
	poll_a();
	/* In vain again: twice as many. */
	for (uint32_t i = 0; i < 2 * SKIPS; i++) {
		write_to_b(1);
		poll(1, STEP_NS);
		assert_int_equal(logged.acks, 3 + SKIPS + i);
		poll_a();
	}
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 2 + 3 * SKIPS);
	poll(WAIT_NS / STEP_NS, STEP_NS);
	close_pair();
}

static void
enough_packets_are_acknowledged_at_once(void **state)
{
	(void)state;
	open_pair();
	for (uint32_t i = 1; i < BURST; i++) {
		write_to_b(1);
		poll(1, STEP_NS);
		assert_int_equal(logged.acks, 0);
	}
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 1);
	poll_a();
	write_to_b(BURST);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 2);
	close_pair();
}

/* It leaves in front of the answer, in its burst, and that counts as company. */
static void
an_ack_leaves_with_the_answer(void **state)
{
	(void)state;
	open_pair();
	for (uint32_t i = 0; i < 3 * SKIPS; i++) {
		write_to_b(1);
		poll(1, STEP_NS);
		assert_int_equal(logged.acks, i);
		write_to_a(i);
		assert_int_equal(logged.acks, i + 1);
		assert_int_equal(logged.requests, i + 1);
		assert_int_equal(logged.after_acks, i + 1);
		poll_a();
		poll(1, STEP_NS);
	}
	close_pair();
}

/* A program that has other work would let it wait for that. */
static void
nothing_waits_for_a_program_that_seldom_polls(void **state)
{
	(void)state;
	open_pair();
	for (uint32_t i = 0; i < SKIPS; i++) {
		write_to_b(1);
		poll(1, 2 * WAIT_NS);
		assert_int_equal(logged.acks, i + 1);
		poll_a();
	}
	/* Or it begins to, while an ACK waits. */
	poll(2, STEP_NS);
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, SKIPS);
	poll(1, 2 * WAIT_NS);
	assert_int_equal(logged.acks, SKIPS + 1);
	close_pair();
}

static void
a_queue_pair_may_go_away_meanwhile(void **state)
{
	(void)state;
	open_pair();
	write_to_b(1);
	poll(1, STEP_NS);
	assert_int_equal(logged.acks, 0);
	pair_destroy_objects(&pair);
	poll(2, STEP_NS);
	close_pair();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_ack_waits_for_what_follows),
		cmocka_unit_test(enough_packets_are_acknowledged_at_once),
		cmocka_unit_test(an_ack_leaves_with_the_answer),
		cmocka_unit_test(nothing_waits_for_a_program_that_seldom_polls),
		cmocka_unit_test(a_queue_pair_may_go_away_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
