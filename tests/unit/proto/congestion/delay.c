/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The delay controller by exact numbers: the base round-trip time, increase, decrease, pacing.
 * Flows never share a link here. Start with exact().
 */
#include "test.h"

#include "plx_congestion.h"

#define GBIT UINT64_C(1000000000)
#define MBIT UINT64_C(1000000)

enum {
	PACKET = 1024 + PLX_CC_HEADER_BYTES,
	BASE = 10000, /* [ns] */
};

/* Parameters with which every number below is round: the target is 30 us. */
static struct plx_delay_params
exact(void)
{
	struct plx_delay_params params = plx_delay_defaults(10 * GBIT);

	params.limits.min_rate = 10 * MBIT;
	params.queue_ns = 20 * PLX_USEC;
	params.base_expiry_ns = PLX_SEC;
	params.ai_bytes = 1000;
	params.beta = 128;
	params.decrease_max = 128;
	assert_int_equal(plx_delay_check(&params, NULL), PLX_OK);
	return params;
}

static uint64_t
window_bytes(const struct plx_delay *cc)
{
	return cc->window / 256;
}

/* A first round-trip time at 0, which is the base. Then, as if it had grown, the window is that of
 * the line rate: 12,500 bytes. */
static void
start(struct plx_delay *cc, const struct plx_delay_params *params)
{
	plx_delay_init(cc, params, 0);
	plx_cc_delay.on_rtt(cc, 0, BASE);
	assert_int_equal(window_bytes(cc), 12500 / 8);
	cc->window = 12500 * 256;
}

static void
it_begins_with_an_eighth_of_the_line_rate(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	plx_delay_init(&cc, &params, 0);
	assert_int_equal(plx_delay_rate(&cc), 1250 * MBIT);
	assert_int_equal(plx_delay_base(&cc), 0);
	plx_cc_delay.on_rtt(&cc, 0, BASE);
	assert_in_range(plx_delay_rate(&cc), 1249 * MBIT, 1250 * MBIT);
	assert_int_equal(plx_delay_base(&cc), BASE);
}

static void
it_slows_down_by_what_exceeds_the_base_once_in_a_round_trip(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	start(&cc, &params);
	/* (40 - 10) / 40 * 1/2 = 3/8, and what is left leaves in 40 us */
	plx_cc_delay.on_rtt(&cc, 50 * PLX_USEC, 40 * PLX_USEC);
	assert_int_equal(cc.window, 12500 * 256 / 8 * 5);
	assert_in_range(plx_delay_rate(&cc), 1562 * MBIT, 1563 * MBIT);
	plx_cc_delay.on_rtt(&cc, 89 * PLX_USEC, 40 * PLX_USEC);
	assert_int_equal(cc.window, 12500 * 256 / 8 * 5);
	plx_cc_delay.on_rtt(&cc, 90 * PLX_USEC, 40 * PLX_USEC);
	assert_int_equal(cc.window, 12500 * 256 / 64 * 25);
}

static void
the_target_itself_is_too_much(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;
	uint64_t before;

	(void)state;
	start(&cc, &params);
	plx_cc_delay.on_rtt(&cc, 50 * PLX_USEC, 30 * PLX_USEC - 1);
	before = cc.window;
	assert_true(before > 12500 * 256);
	plx_cc_delay.on_rtt(&cc, 80 * PLX_USEC, 30 * PLX_USEC);
	assert_true(cc.window < before);
}

static void
it_speeds_up_by_the_same_bytes_in_each_round_trip(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	start(&cc, &params);
	plx_cc_delay.on_rtt(&cc, 50 * PLX_USEC, 40 * PLX_USEC); /* 7812 */
	plx_cc_delay.on_rtt(&cc, 70 * PLX_USEC, 20 * PLX_USEC);
	assert_int_equal(window_bytes(&cc), 8812);
	plx_cc_delay.on_rtt(&cc, 130 * PLX_USEC, 20 * PLX_USEC); /* three of them later */
	assert_int_equal(window_bytes(&cc), 11812);
	/* after a pause by 16 of them, but no more than the line rate needs */
	plx_cc_delay.on_rtt(&cc, 9 * PLX_MSEC, 29 * PLX_USEC);
	assert_int_equal(window_bytes(&cc), 27812);
	plx_cc_delay.on_rtt(&cc, 18 * PLX_MSEC, 20 * PLX_USEC);
	assert_int_equal(window_bytes(&cc), 25000);
	assert_int_equal(plx_delay_rate(&cc), 10 * GBIT);
}

static void
no_delay_slows_it_down_by_more_than_the_maximum(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	params.beta = 256;
	start(&cc, &params);
	plx_cc_delay.on_rtt(&cc, 2 * PLX_MSEC, PLX_MSEC);
	assert_int_equal(window_bytes(&cc), 6250);
}

static void
no_delay_holds_it_under_the_minimum_rate(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	start(&cc, &params);
	for (uint64_t i = 1; i <= 60; i++)
		plx_cc_delay.on_rtt(&cc, i * 2 * PLX_MSEC, PLX_MSEC);
	assert_in_range(plx_delay_rate(&cc), 10 * MBIT, 11 * MBIT);
	plx_cc_delay.on_rtt(&cc, 200 * PLX_MSEC, 1000 * PLX_SEC);
	assert_in_range(plx_delay_rate(&cc), 10 * MBIT, 11 * MBIT);
}

static void
the_base_is_the_least_time_of_late(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	start(&cc, &params);
	plx_cc_delay.on_rtt(&cc, PLX_SEC - 1, 15 * PLX_USEC);
	plx_cc_delay.on_rtt(&cc, PLX_SEC, 15 * PLX_USEC);
	assert_int_equal(plx_delay_base(&cc), BASE);
	plx_cc_delay.on_rtt(&cc, 2 * PLX_SEC - 1, 15 * PLX_USEC);
	assert_int_equal(plx_delay_base(&cc), BASE);
	plx_cc_delay.on_rtt(&cc, 2 * PLX_SEC, 17 * PLX_USEC);
	assert_int_equal(plx_delay_base(&cc), 15 * PLX_USEC);
	plx_cc_delay.on_rtt(&cc, 9 * PLX_SEC, 17 * PLX_USEC); /* both periods are over */
	assert_int_equal(plx_delay_base(&cc), 17 * PLX_USEC);
	params.base_rtt_ns = 12 * PLX_USEC;
	assert_int_equal(plx_delay_base(&cc), 12 * PLX_USEC);
}

static void
a_loss_counts_as_the_longest_delay_and_a_cnp_as_nothing(void **state)
{
	struct plx_delay_params params = exact();
	struct plx_delay cc;

	(void)state;
	plx_delay_init(&cc, &params, 0);
	plx_cc_delay.on_loss(&cc, 0, PLX_LOSS_NAK); /* nothing is known yet */
	assert_int_equal(plx_delay_rate(&cc), 1250 * MBIT);
	start(&cc, &params);
	for (uint32_t i = 0; i < 1000; i++)
		plx_cc_delay.on_cnp(&cc, 20 * PLX_USEC);
	plx_cc_delay.on_ack(&cc, 20 * PLX_USEC, 1);
	assert_int_equal(plx_delay_rate(&cc), 10 * GBIT);
	plx_cc_delay.on_loss(&cc, 20 * PLX_USEC, PLX_LOSS_NAK);
	plx_cc_delay.on_loss(&cc, 21 * PLX_USEC, PLX_LOSS_NAK);
	assert_int_equal(plx_delay_rate(&cc), 5 * GBIT);
	assert_true(plx_cc_delay.on_ce(&cc, 0));
}

static void
packets_leave_at_the_rate_within_one_packet_in_10_ms(void **state)
{
	struct plx_delay_params params = exact();
	uint64_t now = PLX_MSEC, end = 11 * PLX_MSEC, bytes = 0, due;
	struct plx_cc_grant grant;
	struct plx_delay cc;

	(void)state;
	params.limits.burst_ns = PLX_CC_PERIOD_NS_MIN; /* each packet asks */
	start(&cc, &params);
	plx_cc_delay.on_rtt(&cc, 50 * PLX_USEC, 40 * PLX_USEC);
	due = plx_delay_rate(&cc) / 800;
	while (now < end) {
		uint64_t from;

		grant = (struct plx_cc_grant){.bytes = PACKET, .until = PLX_NEVER};
		from = plx_cc_delay.ask(&cc, now, PACKET, &grant);
		assert_int_equal(grant.bytes, PACKET);
		assert_true(grant.until <= now + 2 * PLX_USEC);
		if (from > now) {
			now = from;
			continue;
		}
		plx_cc_delay.on_sent(&cc, now, PACKET);
		bytes += PACKET;
	}
	assert_in_range(bytes, due, due + 2 * PACKET);
}

static void
extremes_of_time_and_rate_do_no_harm(void **state)
{
	struct plx_delay_params params = plx_delay_defaults(PLX_CC_RATE_MAX);
	struct plx_cc_grant grant = {.bytes = PACKET, .until = PLX_NEVER};
	uint64_t now = PLX_NEVER - PLX_SEC;
	struct plx_delay cc;

	(void)state;
	params.queue_ns = PLX_SEC;
	params.ai_bytes = PLX_DELAY_AI_BYTES_MAX;
	assert_int_equal(plx_delay_check(&params, NULL), PLX_OK);
	plx_delay_init(&cc, &params, 0);
	plx_cc_delay.on_rtt(&cc, now, PLX_SEC);
	assert_int_equal(window_bytes(&cc), 1 << 30); /* the limit, and so of the rate */
	plx_cc_delay.on_rtt(&cc, now, 0);
	assert_int_equal(plx_delay_rate(&cc), PLX_CC_RATE_MAX);
	plx_cc_delay.on_rtt(&cc, PLX_NEVER, PLX_NEVER);
	plx_cc_delay.on_sent(&cc, PLX_NEVER, UINT32_MAX);
	assert_true(plx_cc_delay.ask(&cc, PLX_NEVER, PACKET, &grant) == PLX_NEVER);
	assert_true(plx_delay_rate(&cc) >= params.limits.min_rate);
}

static void
refuse(const struct plx_delay_params *params, const char *word)
{
	struct plx_why why = {""};

	assert_int_equal(plx_delay_check(params, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, word));
}

static void
a_bad_parameter_is_refused_with_a_sentence(void **state)
{
	struct plx_delay_params params = exact();

	(void)state;
	params.limits.min_rate = 0;
	refuse(&params, "minimum rate");
	params = exact();
	params.queue_ns = 0;
	refuse(&params, "queueing target");
	params = exact();
	params.base_rtt_ns = PLX_SEC + 1;
	refuse(&params, "base round-trip time");
	params = exact();
	params.base_expiry_ns = 0;
	refuse(&params, "expiry");
	params = exact();
	params.ai_bytes = 0;
	refuse(&params, "additive");
	params = exact();
	params.beta = 257;
	refuse(&params, "multiplicative");
	params = exact();
	params.decrease_max = 256;
	refuse(&params, "maximum decrease");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_begins_with_an_eighth_of_the_line_rate),
		cmocka_unit_test(it_slows_down_by_what_exceeds_the_base_once_in_a_round_trip),
		cmocka_unit_test(the_target_itself_is_too_much),
		cmocka_unit_test(it_speeds_up_by_the_same_bytes_in_each_round_trip),
		cmocka_unit_test(no_delay_slows_it_down_by_more_than_the_maximum),
		cmocka_unit_test(no_delay_holds_it_under_the_minimum_rate),
		cmocka_unit_test(the_base_is_the_least_time_of_late),
		cmocka_unit_test(a_loss_counts_as_the_longest_delay_and_a_cnp_as_nothing),
		cmocka_unit_test(packets_leave_at_the_rate_within_one_packet_in_10_ms),
		cmocka_unit_test(extremes_of_time_and_rate_do_no_harm),
		cmocka_unit_test(a_bad_parameter_is_refused_with_a_sentence),
	};

	return cmocka_run_group_tests_name("congestion: delay", tests, NULL, NULL);
}
