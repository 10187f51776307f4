/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time: the two timer code tables of the standard, when a queue pair's next deadline is, and what
 * happens at a deadline and not before. It never waits: time is an argument. Start with rnr_10us[].
 */
#include "rc_pair.h"

/* IBTA vol 1, 9.7.5.2.8 table 45, in units of 10 us. */
static const uint32_t rnr_10us[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
				      16,    24,   32,   48,    64,    96,    128,   192,
				      256,   384,  512,  768,   1024,  1536,  2048,  3072,
				      4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

static void
an_rnr_timer_is_as_long_as_the_standards_table_says(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 32; code++)
		assert_true(plx_rnr_timer_ns((uint8_t)code) == rnr_10us[code] * UINT64_C(10000));
}

static void
an_ack_timeout_doubles_with_its_code_and_zero_is_never(void **state)
{
	(void)state;
	assert_true(plx_ack_timeout_ns(0) == PLX_NEVER);
	for (uint32_t code = 1; code < 32; code++)
		assert_true(plx_ack_timeout_ns((uint8_t)code) == UINT64_C(4096) << code);
	assert_true(plx_ack_timeout_ns(14) == 67108864);
}

/* ---- when it wants to be called ---- */

static struct plx_key
connect(struct pair *pair, uint8_t *bytes, uint64_t count)
{
	struct plx_key key = pair_region(pair, bytes, count,
					 PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
						 PLX_ACCESS_REMOTE_READ);

	pair_connect(pair);
	pair_run(pair);
	return key;
}

static uint64_t
wake(const struct pair *pair)
{
	return plx_rc_wake_ns(pair->side[0].qp);
}

static void
post_write(struct pair *pair)
{
	assert_int_equal(
		plx_rc_post_send(pair->side[0].qp, &(struct plx_wqe){.op = PLX_WR_WRITE}, NULL),
		PLX_OK);
}

static void
post_send(struct pair *pair)
{
	assert_int_equal(
		plx_rc_post_send(pair->side[0].qp, &(struct plx_wqe){.op = PLX_WR_SEND}, NULL),
		PLX_OK);
}

static void
it_wakes_at_once_for_work_at_a_deadline_for_an_answer_and_else_never(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct pair pair;
	struct plx_psn first;
	struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY, .ack_request = true};

	(void)state;
	pair_init(&pair, &config);
	assert_true(wake(&pair) == PLX_NEVER);
	(void)connect(&pair, bytes, sizeof(bytes));
	first = pair_attr(&pair, 0).sq_psn;
	assert_true(wake(&pair) == PLX_NEVER);
	post_write(&pair);
	assert_true(wake(&pair) == 0);
	pair.now = 5 * PLX_USEC;
	assert_int_equal(pair_send(&pair, 0, 8), 1);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_true(wake(&pair) == pair.now + pair.attr.ack_timeout_ns);
	assert_true(pair_view(&pair, 0).ack_deadline_ns == pair.now + pair.attr.ack_timeout_ns);
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_true(wake(&pair) == PLX_NEVER);
	/* an ACK that is owed */
	pkt.psn = pair_attr(&pair, 0).rq_psn;
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
	assert_true(wake(&pair) == 0);
	assert_int_equal(pair_send(&pair, 0, 8), 1);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_true(wake(&pair) == PLX_NEVER);
	/* a flush that is not delivered */
	post_write(&pair);
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_ERROR, NULL), PLX_OK);
	assert_true(wake(&pair) == 0);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_true(wake(&pair) == PLX_NEVER);
	assert_true(pair_view(&pair, 0).flushed);
	pair_fini(&pair);
}

static void
the_ack_timer_fires_at_its_deadline_and_not_a_nanosecond_before(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct pair pair;
	uint64_t deadline;

	(void)state;
	pair_init(&pair, &config);
	(void)connect(&pair, bytes, sizeof(bytes));
	post_write(&pair);
	assert_int_equal(pair_send(&pair, 0, 8), 1);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	deadline = wake(&pair);
	pair_tick(&pair, deadline - 1);
	assert_true(plx_rc_counters(pair.side[0].qp)->timeouts == 0);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	pair_tick(&pair, deadline);
	assert_true(plx_rc_counters(pair.side[0].qp)->timeouts == 1);
	assert_int_equal(pair_send(&pair, 0, 8), 1);
	assert_true(wake(&pair) == 0 || wake(&pair) == deadline + pair.attr.ack_timeout_ns);
	pair_fini(&pair);
}

/* Each round is one sending; the first is not a retry. */
static void
it_fails_after_retry_count_plus_one_unanswered_rounds(void **state)
{
	(void)state;
	for (uint8_t retries = 0; retries <= PLX_RETRY_MAX; retries++) {
		const struct pair_config config = pair_defaults();
		static uint8_t bytes[8];
		struct pair pair;
		uint32_t rounds = 0;

		pair_init(&pair, &config);
		pair.attr.retry_max = retries;
		(void)connect(&pair, bytes, sizeof(bytes));
		post_write(&pair);
		while (!pair.side[0].dones) {
			plx_actions_reset(&pair.out);
			rounds += plx_rc_transmit(pair.side[0].qp, pair.now, 1, &pair.out);
			assert_int_equal(pair_send(&pair, 0, 8), 0);
			assert_true(wake(&pair) != PLX_NEVER);
			pair_tick(&pair, wake(&pair));
		}
		assert_int_equal(rounds, retries + 1);
		assert_int_equal(pair.side[0].done[0].status, PLX_WC_RETRY_EXCEEDED);
		assert_int_equal(pair_view(&pair, 0).state, PLX_QP_ERROR);
		assert_int_equal(pair_events(&pair, 0, PLX_EVENT_FAILED), 1);
		assert_int_equal(pair.side[0].event[0].cause, PLX_WC_RETRY_EXCEEDED);
		assert_true(pair.now == (retries + 1) * pair.attr.ack_timeout_ns);
		pair_fini(&pair);
	}
}

static void
a_timeout_that_never_comes_is_never_waited_for(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair.attr.ack_timeout_ns = plx_ack_timeout_ns(0);
	(void)connect(&pair, bytes, sizeof(bytes));
	post_write(&pair);
	assert_int_equal(pair_send(&pair, 0, 8), 1);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_true(wake(&pair) == PLX_NEVER);
	pair_tick(&pair, PLX_NEVER - 1);
	assert_int_equal(pair_view(&pair, 0).state, PLX_QP_RTS);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	pair_fini(&pair);
}

static void
an_rnr_nak_is_waited_out_for_exactly_its_time(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 32; code++) {
		const struct pair_config config = pair_defaults();
		static uint8_t bytes[8];
		struct pair pair;
		uint64_t until;

		pair_init(&pair, &config);
		pair.attr.ack_timeout_ns = PLX_NEVER;
		(void)connect(&pair, bytes, sizeof(bytes));
		post_send(&pair);
		assert_int_equal(pair_send(&pair, 0, 8), 1);
		pair.now = 77;
		assert_int_equal(pair_hand_ack(&pair, 0, pair_attr(&pair, 0).sq_psn,
					       (uint8_t)(PLX_AETH_RNR | code)),
				 PLX_VERDICT_NAK_RNR);
		assert_int_equal(pair_send(&pair, 0, 8), 0);
		until = 77 + rnr_10us[code] * UINT64_C(10000);
		assert_true(wake(&pair) == until);
		assert_true(pair_view(&pair, 0).rnr_waiting);
		pair_tick(&pair, until - 1);
		assert_int_equal(pair_send(&pair, 0, 8), 0);
		pair_tick(&pair, until);
		assert_false(pair_view(&pair, 0).rnr_waiting);
		assert_int_equal(pair_send(&pair, 0, 8), 1);
		pair_fini(&pair);
	}
}

static void
progress_starts_the_ack_timer_and_the_retries_anew(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct plx_psn first;
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	(void)connect(&pair, bytes, sizeof(bytes));
	first = pair_attr(&pair, 0).sq_psn;
	post_write(&pair);
	post_write(&pair);
	assert_int_equal(pair_send(&pair, 0, 8), 2);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	pair_tick(&pair, wake(&pair));
	assert_int_equal(pair_view(&pair, 0).retries_left, pair.attr.retry_max - 1);
	assert_int_equal(pair_send(&pair, 0, 8), 2);
	pair.now += 1000;
	assert_int_equal(pair_hand_ack(&pair, 0, first, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	assert_int_equal(pair_send(&pair, 0, 8), 0);
	assert_int_equal(pair_view(&pair, 0).retries_left, pair.attr.retry_max);
	assert_true(wake(&pair) == pair.now + pair.attr.ack_timeout_ns);
	pair_fini(&pair);
}

/* ---- round-trip time ---- */

/* One WRITE that is answered `took` later. Returns: how long the next one is waited for */
static uint64_t
wait_after(struct pair *pair, uint64_t took)
{
	struct plx_psn psn = pair_view(pair, 0).psn_next;
	uint64_t wait;

	post_write(pair);
	assert_int_equal(pair_send(pair, 0, 1), 1);
	pair->now += took;
	assert_int_equal(pair_hand_ack(pair, 0, psn, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	post_write(pair);
	assert_int_equal(pair_send(pair, 0, 1), 1);
	assert_int_equal(pair_send(pair, 0, 1), 0);
	wait = wake(pair) - pair->now;
	/* and that one is answered at once, by hand, without being timed */
	pair_tick(pair, wake(pair));
	(void)pair_send(pair, 0, 1);
	assert_int_equal(pair_hand_ack(pair, 0, plx_psn_add(psn, 1), PLX_AETH_NO_CREDITS),
			 PLX_VERDICT_ACKED);
	return wait;
}

static void
an_answer_is_missed_not_sooner_than_the_floor_nor_later_than_the_timeout(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair.attr.ack_timeout_ns = 10 * PLX_MSEC;
	(void)connect(&pair, bytes, sizeof(bytes));
	/* RFC 6298: the first measurement and twice itself, for half of it is taken for its spread
	 */
	assert_int_equal(wait_after(&pair, 10 * PLX_USEC), PLX_PROBE_WAIT_MIN_NS);
	pair_fini(&pair);
	pair_init(&pair, &config);
	pair.attr.ack_timeout_ns = 10 * PLX_MSEC;
	(void)connect(&pair, bytes, sizeof(bytes));
	assert_int_equal(wait_after(&pair, 100 * PLX_USEC), 300 * PLX_USEC);
	/* smoothed 112.5, spread (3 * 50 + 100) / 4 */
	assert_int_equal(wait_after(&pair, 200 * PLX_USEC), 362500);
	assert_int_equal(wait_after(&pair, 9 * PLX_MSEC), 10 * PLX_MSEC);
	pair_fini(&pair);
}

/* Which of the two was acknowledged? That is unknown, so the timeout remains as it was. */
static void
a_packet_that_was_sent_twice_is_not_timed(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[8];
	struct pair pair;
	struct plx_psn psn;

	(void)state;
	pair_init(&pair, &config);
	pair.attr.ack_timeout_ns = 10 * PLX_MSEC;
	(void)connect(&pair, bytes, sizeof(bytes));
	assert_int_equal(wait_after(&pair, 100 * PLX_USEC), 300 * PLX_USEC);
	assert_true(plx_rc_counters(pair.side[0].qp)->probes == 1);
	psn = pair_view(&pair, 0).psn_next;
	post_write(&pair);
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	assert_int_equal(pair_send(&pair, 0, 1), 0);
	assert_true(wake(&pair) == pair.now + 600 * PLX_USEC);
	/* this one was sent once: it is timed, and the timeout follows the measurements */
	pair.now += 100 * PLX_USEC;
	assert_int_equal(pair_hand_ack(&pair, 0, psn, PLX_AETH_NO_CREDITS), PLX_VERDICT_ACKED);
	post_write(&pair);
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	assert_int_equal(pair_send(&pair, 0, 1), 0);
	/* smoothed 100, spread 3 * 50 / 4 */
	assert_true(wake(&pair) == pair.now + 250 * PLX_USEC);
	pair_fini(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_rnr_timer_is_as_long_as_the_standards_table_says),
		cmocka_unit_test(an_ack_timeout_doubles_with_its_code_and_zero_is_never),
		cmocka_unit_test(
			it_wakes_at_once_for_work_at_a_deadline_for_an_answer_and_else_never),
		cmocka_unit_test(the_ack_timer_fires_at_its_deadline_and_not_a_nanosecond_before),
		cmocka_unit_test(it_fails_after_retry_count_plus_one_unanswered_rounds),
		cmocka_unit_test(a_timeout_that_never_comes_is_never_waited_for),
		cmocka_unit_test(an_rnr_nak_is_waited_out_for_exactly_its_time),
		cmocka_unit_test(progress_starts_the_ack_timer_and_the_retries_anew),
		cmocka_unit_test(
			an_answer_is_missed_not_sooner_than_the_floor_nor_later_than_the_timeout),
		cmocka_unit_test(a_packet_that_was_sent_twice_is_not_timed),
	};

	return cmocka_run_group_tests_name("transport: timers", tests, NULL, NULL);
}
