/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What congestion strategies must achieve with their defaults, in the network of network.h: flows
 * of 25 Gbit/s ports share 10 Gbit/s, 10 us there and back. Each case prints its figures, and fails
 * at a bar. It never changes a parameter to pass. Start with struct bars.
 */
#include "test.h"

#include <stdio.h>

#include "network.h"

#define GBIT UINT64_C(1000000000)

enum {
	MTU = 1024,
	KB = 1000,
	MARK_FROM = 100 * KB,
	MARK_TO = 400 * KB,
	PERCENT = 100,
};

/* What must hold for flows that begin at the same time; in percent. */
struct bars {
	uint32_t flows, mtu;
	uint64_t window_ms;       /* from 20 ms on */
	uint32_t least, most;     /* of a flow's fair share */
	uint32_t used;            /* of the bottleneck */
	uint32_t average_kb, p99; /* of the queue from 10 ms on; p99 in KB too */
};

struct subject {
	const struct plx_cc_ops *cc;
	struct plx_dcqcn_params dcqcn;
	struct plx_delay_params delay;
};

static void
choose(struct subject *subject, bool delay, uint64_t line)
{
	subject->cc = delay ? &plx_cc_delay : &plx_cc_dcqcn;
	subject->dcqcn = plx_dcqcn_defaults(line);
	subject->delay = plx_delay_defaults(line);
	assert_int_equal(plx_dcqcn_check(&subject->dcqcn, NULL), PLX_OK);
	assert_int_equal(plx_delay_check(&subject->delay, NULL), PLX_OK);
}

/* RED as switches have it for 25 Gbit/s: none up to 100 KB, then up to a packet in five, all from
 * 400 KB on. */
static struct network_config
defaults(const struct subject *subject, uint32_t flows)
{
	bool delay = subject->cc == &plx_cc_delay;

	return (struct network_config){
		.cc = subject->cc,
		.params = delay ? (const void *)&subject->delay : &subject->dcqcn,
		.flows = flows,
		.message_bytes = 16 * MTU,
		.mtu = MTU,
		.window_packets = 1024,
		.line_rate = subject->dcqcn.limits.line_rate,
		.bottleneck = 10 * GBIT,
		.way_ns = 5 * PLX_USEC,
		.mark_from = MARK_FROM,
		.mark_to = MARK_TO,
		.mark_most_ppm = 200000,
		.queue_max = 2000 * KB,
	};
}

/* Payload that the bottleneck moves in so many milliseconds. */
static uint64_t
capacity_of(uint32_t mtu, uint64_t ms)
{
	return 10 * GBIT / 8 / 1000 * ms * mtu / (mtu + PLX_CC_HEADER_BYTES);
}

static uint64_t
capacity(uint64_t ms)
{
	return capacity_of(MTU, ms);
}

static void
mark_delivered(const struct network *network, uint32_t flows, uint64_t *bytes)
{
	for (uint32_t i = 0; i < flows; i++)
		bytes[i] = network_delivered(network, i);
}

/* Least and most of a flow's fair share since `before`, in percent. Returns: the sum in bytes */
static uint64_t
shares(const struct network *network, uint32_t flows, const uint64_t *before, uint64_t *least,
       uint64_t *most)
{
	uint64_t sum = 0;

	*least = PLX_NEVER;
	*most = 0;
	for (uint32_t i = 0; i < flows; i++)
		sum += network_delivered(network, i) - before[i];
	for (uint32_t i = 0; i < flows; i++) {
		uint64_t share =
			(network_delivered(network, i) - before[i]) * flows * PERCENT / sum;

		*least = plx_time_min(*least, share);
		*most = share > *most ? share : *most;
	}
	return sum;
}

static void
hold_to(const struct bars *bars, bool delay)
{
	uint64_t before[FLOWS_MAX], least, most, used, end = 20 + bars->window_ms;
	struct subject subject;
	struct network_config config;
	struct network *network;

	choose(&subject, delay, 25 * GBIT);
	config = defaults(&subject, bars->flows);
	config.mtu = bars->mtu;
	network = network_create(&config);
	network_run(network, 10 * PLX_MSEC);
	network_sample_anew(network);
	network_run(network, 20 * PLX_MSEC);
	mark_delivered(network, bars->flows, before);
	network_run(network, end * PLX_MSEC);
	used = shares(network, bars->flows, before, &least, &most) * PERCENT /
	       capacity_of(bars->mtu, bars->window_ms);
	printf("%s, %u flows, MTU %u, 20 to %llu ms: %llu to %llu %% of the fair share, %llu %% "
	       "used; "
	       "queue %llu KB, p99 %llu KB; %llu packets on the fast path\n",
	       subject.cc->name, bars->flows, bars->mtu, (unsigned long long)end,
	       (unsigned long long)least, (unsigned long long)most, (unsigned long long)used,
	       (unsigned long long)network_queue_average(network) / KB,
	       (unsigned long long)network_queue_quantile(network, 990) / KB,
	       (unsigned long long)network_fast(network));
	assert_true(least >= bars->least);
	assert_true(most <= bars->most);
	assert_true(used >= bars->used);
	assert_true(network_queue_average(network) <= (uint64_t)bars->average_kb * KB);
	assert_true(network_queue_quantile(network, 990) <= (uint64_t)bars->p99 * KB);
	assert_true(network_fast(network) > 0);
	network_destroy(network);
}

static void
dcqcn_flows_share_a_link(void **state)
{
	static const struct bars bars[] = {
		{2, MTU, 20, 90, 110, 90, 200, 400},
		{8, MTU, 80, 90, 110, 90, 300, 400},
		{2, PLX_MTU_MAX, 20, 90, 110, 90, 300, 400},
		{8, PLX_MTU_MAX, 80, 85, 115, 90, 420, 460},
	};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(bars); i++)
		hold_to(&bars[i], false);
}

static void
delay_flows_share_a_link_and_keep_its_queue_short(void **state)
{
	static const struct bars bars[] = {
		{2, MTU, 20, 90, 110, 90, 60, 120},
		{8, MTU, 80, 90, 110, 90, 60, 120},
		{2, PLX_MTU_MAX, 20, 85, 115, 90, 60, 120},
		{8, PLX_MTU_MAX, 80, 75, 125, 75, 80, 250}, /* about a packet each is in flight */
	};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(bars); i++)
		hold_to(&bars[i], true);
}

/* One more flow begins at 30 ms. From 10 to 20 ms later it has its share. */
static void
join(bool delay, uint32_t flows)
{
	uint64_t before[FLOWS_MAX], share;
	struct subject subject;
	struct network_config config;
	struct network *network;

	choose(&subject, delay, 25 * GBIT);
	config = defaults(&subject, flows);
	config.start_at[flows - 1] = 30 * PLX_MSEC;
	network = network_create(&config);
	network_run(network, 40 * PLX_MSEC);
	mark_delivered(network, flows, before);
	network_run(network, 50 * PLX_MSEC);
	share = (network_delivered(network, flows - 1) - before[flows - 1]) * flows * PERCENT /
		capacity(10);
	printf("%s, flow %u begins later: %llu %% of its fair share from 10 to 20 ms\n",
	       subject.cc->name, flows, (unsigned long long)share);
	assert_true(share >= 80);
	network_destroy(network);
}

static void
a_new_flow_has_its_share_within_20_ms(void **state)
{
	(void)state;
	for (uint32_t delay = 0; delay < 2; delay++) {
		join(delay, 2);
		join(delay, 8);
	}
}

/* One flow alone, which is sent 100,000 forged CNPs in a second for 40 ms.
 * Returns: [ms] until it has 90 % of the line rate again */
static uint64_t
forge(bool delay, uint64_t *during)
{
	uint64_t before, ms = 0, step;
	struct subject subject;
	struct network_config config;
	struct network *network;

	choose(&subject, delay, 10 * GBIT);
	config = defaults(&subject, 1);
	config.forge_from = 10 * PLX_MSEC;
	config.forge_to = 50 * PLX_MSEC;
	config.forge_every = 10 * PLX_USEC;
	network = network_create(&config);
	network_run(network, 20 * PLX_MSEC);
	before = network_delivered(network, 0);
	network_run(network, 50 * PLX_MSEC);
	*during = network_delivered(network, 0) - before;
	do {
		before = network_delivered(network, 0);
		network_run(network, (50 + ++ms) * PLX_MSEC);
		step = network_delivered(network, 0) - before;
	} while (step < capacity(1) * 90 / PERCENT && ms < 1000);
	network_destroy(network);
	return ms;
}

static void
forged_cnps_leave_the_minimum_rate_and_end_with_the_flood(void **state)
{
	const struct plx_dcqcn_params params = plx_dcqcn_defaults(10 * GBIT);
	uint64_t least = params.limits.min_rate / 8 / 1000 * 30 * MTU / (MTU + PLX_CC_HEADER_BYTES);
	uint64_t bytes, ms = forge(false, &bytes);

	(void)state;
	printf("dcqcn, forged CNPs: %llu bytes in 30 ms, %llu at the minimum rate; back after "
	       "%llu ms\n",
	       (unsigned long long)bytes, (unsigned long long)least, (unsigned long long)ms);
	assert_true(bytes + MTU >= least);
	assert_true(ms <= 20);
	ms = forge(true, &bytes);
	printf("delay, forged CNPs: %llu %% of the link\n",
	       (unsigned long long)(bytes * PERCENT / capacity(30)));
	assert_true(bytes >= capacity(30) * 80 / PERCENT);
}

/* A flow alone on a link as fast as its port is not paced, and leaves on the fast path. */
static void
a_flow_without_congestion_uses_its_line_and_the_fast_path(void **state)
{
	struct subject subject;
	struct network_config config;
	struct network *network;

	(void)state;
	choose(&subject, false, 10 * GBIT);
	config = defaults(&subject, 1);
	config.message_bytes = MTU;
	network = network_create(&config);
	network_run(network, 20 * PLX_MSEC);
	assert_true(network_delivered(network, 0) >= capacity(20) * 99 / PERCENT);
	assert_int_equal(network_counters(network, 0, false)->pace_stalls, 0);
	/* sent, received and acknowledged there, but for a packet in each grant */
	assert_true(network_fast(network) * MTU >= network_delivered(network, 0) * 2);
	network_destroy(network);
}

static void
a_receiver_sends_at_most_one_cnp_in_50_us(void **state)
{
	struct subject subject;
	struct network_config config;
	struct network *network;
	uint64_t cnps;

	(void)state;
	choose(&subject, false, 25 * GBIT);
	config = defaults(&subject, 2);
	network = network_create(&config);
	network_run(network, 20 * PLX_MSEC);
	cnps = network_counters(network, 0, true)->cnps_sent;
	assert_in_range(cnps, 1, 20 * PLX_MSEC / PLX_CNP_INTERVAL_NS + 1);
	assert_true(network_counters(network, 0, true)->ce_marks > cnps);
	assert_int_equal(network_counters(network, 0, false)->verdict[PLX_VERDICT_CNP], cnps);
	network_destroy(network);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dcqcn_flows_share_a_link),
		cmocka_unit_test(delay_flows_share_a_link_and_keep_its_queue_short),
		cmocka_unit_test(a_new_flow_has_its_share_within_20_ms),
		cmocka_unit_test(forged_cnps_leave_the_minimum_rate_and_end_with_the_flood),
		cmocka_unit_test(a_flow_without_congestion_uses_its_line_and_the_fast_path),
		cmocka_unit_test(a_receiver_sends_at_most_one_cnp_in_50_us),
	};

	return cmocka_run_group_tests_name("congestion: a shared link", tests, NULL, NULL);
}
