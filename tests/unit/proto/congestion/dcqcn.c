/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DCQCN's reaction point by exact numbers: decrease, alpha, the stages of increase, pacing, and
 * what CNPs in any number cannot do. Flows never share a link here. Start with exact().
 */
#include "test.h"

#include "plx_congestion.h"

#define GBIT UINT64_C(1000000000)
#define MBIT UINT64_C(1000000)

enum {
	PACKET = 1024 + PLX_CC_HEADER_BYTES,
};

/* Parameters with which every number below is round. */
static struct plx_dcqcn_params
exact(void)
{
	struct plx_dcqcn_params params = plx_dcqcn_defaults(10 * GBIT);

	params.limits.min_rate = 10 * MBIT;
	params.ai_rate = 40 * MBIT;
	params.hai_rate = 200 * MBIT;
	params.increase_ns = 300 * PLX_USEC;
	params.increase_bytes = 1 << 20;
	params.alpha_ns = 55 * PLX_USEC;
	params.decrease_ns = 50 * PLX_USEC;
	params.gain = 8;
	params.recovery_steps = 5;
	assert_int_equal(plx_dcqcn_check(&params, NULL), PLX_OK);
	return params;
}

/* A rate that a CNP has caused stays for the time of a test. */
static void
hold(struct plx_dcqcn_params *params)
{
	params->increase_ns = params->decrease_ns = PLX_SEC;
	params->increase_bytes = PLX_DCQCN_BYTES_MAX;
}

static uint64_t
ask(const struct plx_dcqcn *cc, uint64_t now, struct plx_cc_grant *grant)
{
	*grant = (struct plx_cc_grant){.bytes = PACKET, .until = PLX_NEVER};
	return plx_cc_dcqcn.ask(cc, now, PACKET, grant);
}

static void
a_flow_without_congestion_is_not_paced_and_seldom_asks(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_cc_grant grant;
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 7);
	assert_true(ask(&cc, 1000, &grant) <= 1000);
	assert_true(grant.bytes >= 64 * PLX_MTU_MAX);
	assert_true(grant.until == PLX_NEVER);
	plx_cc_dcqcn.on_sent(&cc, 1000, grant.bytes);
	assert_true(ask(&cc, 1000, &grant) <= 1000);
	assert_int_equal(plx_dcqcn_rate(&cc, 1000), 10 * GBIT);
}

static void
a_cnp_slows_down_by_half_of_alpha(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;
	uint64_t at = 5 * 55 * PLX_USEC; /* before the first increase */

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	assert_int_equal(plx_dcqcn_rate(&cc, 0), 5 * GBIT); /* alpha was 1 */
	assert_int_equal(cc.target, 10 * GBIT);
	assert_int_equal(cc.alpha, 1 << 20);
	plx_cc_dcqcn.on_cnp(&cc, at);
	/* alpha = (255/256)^5 = 1028255 * 2^-20, and the rate 5 Gbit/s * (1 - alpha / 2) */
	assert_int_equal(cc.target, 5 * GBIT);
	assert_in_range(plx_dcqcn_rate(&cc, at), 2548448000, 2548456000);
	/* then alpha += (1 - alpha) / 256 */
	assert_in_range(cc.alpha, 1028332, 1028336);
}

static void
alpha_is_forgotten_after_a_long_time(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;

	(void)state;
	params.increase_ns = PLX_SEC; /* so that the flow stays slow */
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	plx_cc_dcqcn.on_cnp(&cc, 900 * PLX_MSEC);
	assert_int_equal(plx_dcqcn_rate(&cc, 900 * PLX_MSEC), 5 * GBIT);
	assert_int_equal(cc.alpha, (1 << 20) / 256);
}

static void
there_is_one_decrease_in_50_us_however_many_cnps_come(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	for (uint64_t us = 0; us < 150; us++) {
		plx_cc_dcqcn.on_cnp(&cc, us * PLX_USEC);
		assert_int_equal(plx_dcqcn_rate(&cc, us * PLX_USEC), 5 * GBIT >> us / 50);
	}
}

static void
a_cnp_that_comes_too_soon_counts_when_its_time_has_come(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	plx_cc_dcqcn.on_cnp(&cc, 49 * PLX_USEC);
	assert_int_equal(plx_dcqcn_rate(&cc, 50 * PLX_USEC - 1), 5 * GBIT);
	assert_int_equal(plx_dcqcn_rate(&cc, 50 * PLX_USEC), 5 * GBIT / 2);
	/* once, and the increases count from then on, even if nobody asked in between */
	assert_int_equal(plx_dcqcn_rate(&cc, 350 * PLX_USEC - 1), 5 * GBIT / 2);
	assert_int_equal(plx_dcqcn_rate(&cc, 350 * PLX_USEC), 3750 * MBIT);
}

/* To 2.5 Gbit/s with a target of 5 at 50 us. */
static void
start_slow(struct plx_dcqcn *cc, const struct plx_dcqcn_params *params)
{
	plx_dcqcn_init(cc, params, 0);
	plx_cc_dcqcn.on_cnp(cc, 0);
	plx_cc_dcqcn.on_cnp(cc, 50 * PLX_USEC);
}

static void
it_recovers_fast_then_additively_then_faster(void **state)
{
	static const uint64_t expected[] = {2500000000, 3750000000, 4375000000, 4687500000,
					    4843750000, 4941875000, 5010937500};
	struct plx_dcqcn_params params = exact();
	uint64_t now = 50 * PLX_USEC;
	struct plx_dcqcn cc;

	(void)state;
	start_slow(&cc, &params);
	for (uint32_t i = 0; i < PLX_COUNT_OF(expected); i++)
		assert_int_equal(plx_dcqcn_rate(&cc, now + i * params.increase_ns), expected[i]);
	now += 6 * params.increase_ns;
	for (uint32_t i = 1; i <= 5; i++) { /* by bytes: still additive, since they came 5 times */
		plx_cc_dcqcn.on_sent(&cc, now, 1 << 20);
		assert_int_equal(cc.target, 5080 * MBIT + i * 40 * MBIT);
	}
	plx_cc_dcqcn.on_sent(&cc, now, 1 << 20);
	assert_int_equal(cc.target, 5480 * MBIT);
	plx_cc_dcqcn.on_sent(&cc, now, 1 << 20); /* the timer has come 6 times only */
	assert_int_equal(cc.target, 5680 * MBIT);
	plx_cc_dcqcn.on_sent(&cc, now + params.increase_ns, 0);
	assert_int_equal(cc.target, 6080 * MBIT);
}

static void
the_byte_counter_counts_over_reports(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;

	(void)state;
	start_slow(&cc, &params);
	plx_cc_dcqcn.on_sent(&cc, 51 * PLX_USEC, (1 << 20) - 1);
	assert_int_equal(plx_dcqcn_rate(&cc, 51 * PLX_USEC), 2500 * MBIT);
	plx_cc_dcqcn.on_sent(&cc, 52 * PLX_USEC, 1);
	assert_int_equal(plx_dcqcn_rate(&cc, 52 * PLX_USEC), 3750 * MBIT);
	plx_cc_dcqcn.on_sent(&cc, 53 * PLX_USEC, (1 << 20) - 1);
	plx_cc_dcqcn.on_cnp(&cc, 100 * PLX_USEC); /* starts it anew */
	plx_cc_dcqcn.on_sent(&cc, 101 * PLX_USEC, 1);
	assert_int_equal(cc.byte_steps, 0);
}

static void
a_flow_that_has_recovered_is_as_one_without_congestion(void **state)
{
	struct plx_dcqcn_params params = exact();
	uint64_t back = 6 * params.increase_ns;
	struct plx_cc_grant grant;
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	(void)ask(&cc, back - 1, &grant);
	assert_true(grant.until != PLX_NEVER);
	assert_true(plx_dcqcn_rate(&cc, back - 1) < 10 * GBIT);
	assert_true(ask(&cc, back, &grant) <= back); /* 1/128 is left */
	assert_true(grant.until == PLX_NEVER);
	assert_int_equal(plx_dcqcn_rate(&cc, back), 10 * GBIT);
	plx_cc_dcqcn.on_cnp(&cc, back);
	assert_int_equal(plx_dcqcn_rate(&cc, back), 5 * GBIT);
}

static void
a_flood_of_cnps_cannot_hold_it_under_the_minimum_rate(void **state)
{
	struct plx_dcqcn_params params = plx_dcqcn_defaults(25 * GBIT);
	struct plx_dcqcn cc;
	uint64_t us;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	for (us = 0; us < 1000000; us++) {
		plx_cc_dcqcn.on_cnp(&cc, us * PLX_USEC);
		assert_true(plx_dcqcn_rate(&cc, us * PLX_USEC) >= 25 * MBIT);
	}
	assert_int_equal(plx_dcqcn_rate(&cc, us * PLX_USEC), 25 * MBIT);
	assert_true(plx_dcqcn_rate(&cc, (us + 20000) * PLX_USEC) >= 25 * GBIT * 9 / 10);
}

/* Steps beyond the 64th are computed at once. */
static void
a_pause_is_the_sum_of_its_steps(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn often, once;
	uint64_t now = 50 * PLX_USEC;

	(void)state;
	params.ai_rate = 100000;
	start_slow(&often, &params);
	once = often;
	for (uint32_t i = 0; i < 3000; i++) {
		now += params.increase_ns;
		plx_cc_dcqcn.on_sent(&often, now, 0);
	}
	assert_in_range(plx_dcqcn_rate(&once, now), often.rate - 4, often.rate + 200000);
	assert_int_equal(once.rate, 2500 * MBIT); /* to ask changes nothing */
	plx_cc_dcqcn.on_sent(&once, now, 0);
	assert_int_equal(once.target, often.target);
	assert_int_equal(once.timer_steps, often.timer_steps);
	now += 3600 * PLX_SEC;
	assert_int_equal(plx_dcqcn_rate(&once, now), 10 * GBIT);
}

static void
a_grant_is_what_leaves_in_a_burst(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_cc_grant grant;
	struct plx_dcqcn cc;

	(void)state;
	params.limits.burst_ns = 16 * PLX_USEC;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	(void)ask(&cc, 0, &grant);
	assert_int_equal(grant.bytes, 10000);
	assert_true(grant.until == params.increase_ns);
	for (uint64_t us = 50; us < 500; us += 50)
		plx_cc_dcqcn.on_cnp(&cc, us * PLX_USEC);
	(void)ask(&cc, 500 * PLX_USEC, &grant);
	assert_int_equal(grant.bytes, PACKET); /* no less than what was asked for */
	params.limits.burst_ns = PLX_MSEC;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	(void)ask(&cc, 0, &grant);
	assert_int_equal(grant.bytes, params.limits.burst_bytes);
}

/* Bytes that a sender with more to send gets away with from 1 ms to 11 ms, if its timer fires up to
 * `late` ns late. */
static uint64_t
send_for_10_ms(struct plx_dcqcn *cc, uint64_t late)
{
	uint64_t now = PLX_MSEC, end = now + 10 * PLX_MSEC, bytes = 0, salt = 1;

	while (now < end) {
		struct plx_cc_grant grant;
		uint64_t from = ask(cc, now, &grant);

		if (from > now) {
			salt = salt * UINT64_C(6364136223846793005) + 1;
			now = from + (late > 0 ? (salt >> 33) % late : 0);
			continue;
		}
		grant.bytes -= grant.bytes % PACKET;
		plx_cc_dcqcn.on_sent(cc, now, grant.bytes);
		bytes += grant.bytes;
	}
	return bytes;
}

static void
packets_leave_at_the_rate_within_one_packet_in_10_ms(void **state)
{
	static const uint64_t rates[] = {5000000000, 3333333333, 1000000007, 123456789, 10000000};
	struct plx_dcqcn_params params = exact();

	(void)state;
	params.limits.burst_ns = PLX_CC_PERIOD_NS_MIN; /* each packet asks */
	hold(&params);
	for (uint32_t i = 0; i < PLX_COUNT_OF(rates); i++) {
		struct plx_dcqcn cc;
		uint64_t due = rates[i] / 800, sent;

		plx_dcqcn_init(&cc, &params, 0);
		plx_cc_dcqcn.on_cnp(&cc, 0);
		cc.rate = rates[i];
		sent = send_for_10_ms(&cc, 0);
		assert_in_range(sent, due, due + 2 * PACKET); /* the first is at once */
	}
}

static void
a_timer_that_fires_late_costs_no_throughput(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;
	uint64_t due = 5 * GBIT / 800;

	(void)state;
	hold(&params);
	params.limits.burst_ns = 16 * PLX_USEC;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	assert_in_range(send_for_10_ms(&cc, 16 * PLX_USEC), due - 10000, due + 2 * 10000);
}

static void
a_pause_permits_no_long_burst(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_cc_grant grant;
	struct plx_dcqcn cc;
	uint32_t sent = 0;

	(void)state;
	hold(&params);
	params.limits.burst_ns = 16 * PLX_USEC;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	while (ask(&cc, 900 * PLX_MSEC, &grant) <= 900 * PLX_MSEC) {
		plx_cc_dcqcn.on_sent(&cc, 900 * PLX_MSEC, grant.bytes);
		sent += grant.bytes;
	}
	assert_in_range(sent, 10000, 20000);
}

static void
only_a_timeout_is_a_loss_that_slows_down(void **state)
{
	struct plx_dcqcn_params params = exact();
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_loss(&cc, 0, PLX_LOSS_NAK);
	plx_cc_dcqcn.on_loss(&cc, 0, PLX_LOSS_RESPONSE);
	plx_cc_dcqcn.on_rtt(&cc, 0, PLX_SEC);
	plx_cc_dcqcn.on_ack(&cc, 0, 1);
	assert_int_equal(plx_dcqcn_rate(&cc, 0), 10 * GBIT);
	plx_cc_dcqcn.on_loss(&cc, 0, PLX_LOSS_TIMEOUT);
	assert_int_equal(plx_dcqcn_rate(&cc, 0), 5 * GBIT);
	assert_true(plx_cc_dcqcn.on_ce(&cc, 0));
}

static void
the_end_of_time_does_no_harm(void **state)
{
	struct plx_dcqcn_params params = exact();
	uint64_t now = PLX_NEVER - 10 * PLX_USEC;
	struct plx_cc_grant grant;
	struct plx_dcqcn cc;

	(void)state;
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	plx_cc_dcqcn.on_cnp(&cc, now);
	assert_int_equal(plx_dcqcn_rate(&cc, now), 5 * GBIT);
	plx_cc_dcqcn.on_cnp(&cc, now + 1);
	plx_cc_dcqcn.on_sent(&cc, now + 2, UINT32_MAX);
	assert_true(ask(&cc, now + 3, &grant) > now);
	assert_true(grant.until > now);
	assert_true(plx_dcqcn_rate(&cc, PLX_NEVER) >= params.limits.min_rate);
}

static void
the_fastest_line_does_not_overflow(void **state)
{
	struct plx_dcqcn_params params = plx_dcqcn_defaults(PLX_CC_RATE_MAX);
	struct plx_dcqcn cc;

	(void)state;
	params.hai_rate = PLX_CC_RATE_MAX;
	params.increase_bytes = PLX_DCQCN_BYTES_MIN;
	assert_int_equal(plx_dcqcn_check(&params, NULL), PLX_OK);
	plx_dcqcn_init(&cc, &params, 0);
	plx_cc_dcqcn.on_cnp(&cc, 0);
	assert_int_equal(plx_dcqcn_rate(&cc, 0), PLX_CC_RATE_MAX / 2);
	plx_cc_dcqcn.on_sent(&cc, 0, UINT32_MAX);
	assert_int_equal(plx_dcqcn_rate(&cc, PLX_SEC), PLX_CC_RATE_MAX);
}

struct fault {
	size_t offset;
	uint64_t value;
	bool is_long;
	const char *word; /* of the sentence */
};

#define FAULT(field, bad, word)                                                  \
	{                                                                        \
		offsetof(struct plx_dcqcn_params, field), bad,                   \
			sizeof(((struct plx_dcqcn_params *)0)->field) == 8, word \
	}

static void
a_bad_parameter_is_refused_with_a_sentence(void **state)
{
	static const struct fault faults[] = {
		FAULT(limits.line_rate, 0, "line rate"),
		FAULT(limits.line_rate, PLX_CC_RATE_MAX + 1, "line rate"),
		FAULT(limits.min_rate, 0, "minimum rate"),
		FAULT(limits.min_rate, 10 * GBIT + 1, "minimum rate"),
		FAULT(limits.burst_ns, 0, "time of a burst"),
		FAULT(limits.burst_bytes, 1, "size of a burst"),
		FAULT(ai_rate, 0, "additive"),
		FAULT(hai_rate, 1, "hyper"),
		FAULT(hai_rate, 10 * GBIT + 1, "hyper"),
		FAULT(increase_ns, 0, "increase timer"),
		FAULT(increase_bytes, 0, "byte counter"),
		FAULT(alpha_ns, 0, "alpha timer"),
		FAULT(decrease_ns, PLX_SEC + 1, "decrease interval"),
		FAULT(gain, 0, "gain"),
		FAULT(gain, 13, "gain"),
		FAULT(recovery_steps, 0, "fast recovery"),
		FAULT(recovery_steps, 17, "fast recovery"),
	};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(faults); i++) {
		struct plx_dcqcn_params params = exact();
		uint8_t *field = (uint8_t *)&params + faults[i].offset;
		uint32_t value = (uint32_t)faults[i].value;
		struct plx_why why = {""};

		if (faults[i].is_long)
			memcpy(field, &faults[i].value, 8);
		else
			memcpy(field, &value, 4);
		assert_int_equal(plx_dcqcn_check(&params, &why), PLX_INVALID);
		assert_non_null(strstr(why.text, faults[i].word));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_without_congestion_is_not_paced_and_seldom_asks),
		cmocka_unit_test(a_cnp_slows_down_by_half_of_alpha),
		cmocka_unit_test(alpha_is_forgotten_after_a_long_time),
		cmocka_unit_test(there_is_one_decrease_in_50_us_however_many_cnps_come),
		cmocka_unit_test(a_cnp_that_comes_too_soon_counts_when_its_time_has_come),
		cmocka_unit_test(it_recovers_fast_then_additively_then_faster),
		cmocka_unit_test(the_byte_counter_counts_over_reports),
		cmocka_unit_test(a_flow_that_has_recovered_is_as_one_without_congestion),
		cmocka_unit_test(a_flood_of_cnps_cannot_hold_it_under_the_minimum_rate),
		cmocka_unit_test(a_pause_is_the_sum_of_its_steps),
		cmocka_unit_test(a_grant_is_what_leaves_in_a_burst),
		cmocka_unit_test(packets_leave_at_the_rate_within_one_packet_in_10_ms),
		cmocka_unit_test(a_timer_that_fires_late_costs_no_throughput),
		cmocka_unit_test(a_pause_permits_no_long_burst),
		cmocka_unit_test(only_a_timeout_is_a_loss_that_slows_down),
		cmocka_unit_test(the_end_of_time_does_no_harm),
		cmocka_unit_test(the_fastest_line_does_not_overflow),
		cmocka_unit_test(a_bad_parameter_is_refused_with_a_sentence),
	};

	return cmocka_run_group_tests_name("congestion: DCQCN", tests, NULL, NULL);
}
