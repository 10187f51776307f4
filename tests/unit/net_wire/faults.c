/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bad cable: each fault as often as asked for, the same packets with the same seed, and nothing
 * lost that is not counted. What happens inside a packet is in marks.c.
 * Start with run().
 */
#include <pthread.h>
#include <string.h>

#include <rte_cycles.h>

#include "cable.h"

enum {
	PACKETS = 20000,
	BATCH = 256, /* sent before any is received: less than a ring */
};

static struct rte_mempool *pool;

/* What end 1 delivered. */
struct delivery {
	uint32_t count;
	uint32_t number[2 * PACKETS];
	bool damaged[2 * PACKETS];
	struct plx_net_wire_counters counters;
};

static struct delivery first, second;

/* One burst. Returns: how many came out */
static uint16_t
receive(struct cable *cable, struct delivery *out)
{
	struct rte_mbuf *packets[PLX_PORT_BURST];
	uint16_t n = cable->port[1]->rx(cable->port[1], packets, PLX_PORT_BURST);

	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = out->count++;

		assert_true(at < PLX_COUNT_OF(out->number));
		out->damaged[at] = false;
		out->number[at] = lab_number(packets[i], &out->damaged[at]);
		rte_pktmbuf_free(packets[i]);
	}
	return n;
}

/* All that is left: until nothing has come for 20 ms, which is longer than any packet waits to be
 * overtaken. */
static void
receive_rest(struct cable *cable, struct delivery *out)
{
	uint64_t last = rte_get_timer_cycles();

	while (rte_get_timer_cycles() - last < rte_get_timer_hz() / 50)
		if (receive(cable, out) > 0)
			last = rte_get_timer_cycles();
}

/* Send PACKETS numbered packets over a cable with these faults. The receiver never polls in vain
 * before the end, so that what comes out depends on the seed alone, and not on the time. */
static void
run(const char *faults, struct delivery *out)
{
	struct cable cable = {0};

	out->count = 0;
	cable_open(&cable, 0, faults, pool);
	for (uint32_t number = 0; number < PACKETS; number++) {
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, number, 64));
		if (number % BATCH == BATCH - 1)
			while (cable_counters(&cable).received <= number)
				receive(&cable, out);
	}
	receive_rest(&cable, out);
	out->counters = cable_counters(&cable);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
	assert_int_equal(out->counters.received, PACKETS);
	assert_int_equal(out->counters.held_over, 0);
	assert_int_equal(out->counters.no_buffer, 0);
	assert_int_equal(out->count, PACKETS - out->counters.lost + out->counters.duplicated);
}

/* Within six standard deviations of PACKETS * per_mille / 1000: a wrong rate fails, a fair one
 * never does, and with fixed seeds it is the same every time. */
static void
is_about(uint64_t count, uint32_t per_mille)
{
	int64_t mean = (int64_t)PACKETS * per_mille / 1000;
	int64_t off = (int64_t)count - mean;

	if (off * off * 1000 > 36 * mean * (1000 - per_mille))
		fail_msg("%d of %d is not %u per mille", (int)count, PACKETS, per_mille);
}

static void
is_same(const struct delivery *a, const struct delivery *b)
{
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->number, b->number, a->count * sizeof(a->number[0]));
	assert_memory_equal(a->damaged, b->damaged, a->count);
	assert_memory_equal(&a->counters, &b->counters, sizeof(a->counters));
}

/* How often each number came. */
static void
tally(const struct delivery *delivery, uint8_t times[static PACKETS])
{
	memset(times, 0, PACKETS);
	for (uint32_t i = 0; i < delivery->count; i++) {
		assert_true(delivery->number[i] < PACKETS);
		times[delivery->number[i]]++;
	}
}

static void
loss_loses_as_many_as_asked_and_counts_each(void **state)
{
	static uint8_t times[PACKETS];
	uint64_t lost = 0;

	(void)state;
	run(",loss=0.05,seed=11", &first);
	tally(&first, times);
	for (uint32_t i = 0; i < PACKETS; i++) {
		assert_true(times[i] <= 1);
		lost += times[i] == 0;
	}
	assert_int_equal(lost, first.counters.lost);
	is_about(lost, 50);
	for (uint32_t i = 1; i < first.count; i++)
		assert_true(first.number[i] > first.number[i - 1]);
	run(",loss=1", &second);
	assert_int_equal(second.count, 0);
}

static void
duplicates_follow_as_often_as_asked(void **state)
{
	static uint8_t times[PACKETS];
	uint64_t twice = 0;

	(void)state;
	run(",duplicate=0.1,seed=12", &first);
	tally(&first, times);
	for (uint32_t i = 0; i < PACKETS; i++) {
		assert_true(times[i] == 1 || times[i] == 2);
		twice += times[i] == 2;
	}
	assert_int_equal(twice, first.counters.duplicated);
	is_about(twice, 100);
	for (uint32_t i = 1; i < first.count; i++)
		assert_true(first.number[i] >= first.number[i - 1]);
}

static void
corruption_damages_as_many_as_asked(void **state)
{
	uint64_t damaged = 0;

	(void)state;
	run(",corrupt=0.01,seed=13", &first);
	assert_int_equal(first.count, PACKETS);
	/* The flipped bit may be one of the number. */
	for (uint32_t i = 0; i < PACKETS; i++)
		damaged += first.damaged[i] || first.number[i] != i;
	assert_int_equal(first.counters.corrupted, damaged);
	is_about(damaged, 10);
}

/* @param depth no packet is overtaken by more */
static void
check_reorder(const struct delivery *delivery, uint32_t depth)
{
	static uint8_t times[PACKETS];
	uint64_t late = 0;
	uint32_t highest = 0;

	tally(delivery, times);
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(times[i], 1);
	for (uint32_t i = 0; i < delivery->count; i++) {
		uint32_t number = delivery->number[i];
		uint32_t overtakers = 0;

		for (uint32_t k = i > 2 * depth + 2 ? i - 2 * depth - 2 : 0; k < i; k++)
			overtakers += delivery->number[k] > number;
		assert_true(overtakers <= depth);
		late += number < highest;
		highest = number > highest ? number : highest;
	}
	assert_int_equal(late, delivery->counters.reordered);
}

static void
packets_are_overtaken_by_no_more_than_the_depth(void **state)
{
	(void)state;
	run(",reorder=0.1,seed=14", &first);
	check_reorder(&first, 8);
	/* Who waits for one that waits as well is not overtaken: a little less than asked for. */
	assert_in_range(first.counters.reordered, PACKETS * 8 / 100, PACKETS * 11 / 100);
	run(",reorder=0.5,depth=1,seed=14", &second);
	check_reorder(&second, 1);
	assert_in_range(second.counters.reordered, PACKETS * 20 / 100, PACKETS * 30 / 100);
	run(",reorder=0.3,depth=256,seed=14", &second);
	check_reorder(&second, 256);
	run(",reorder=1,depth=3", &second);
	check_reorder(&second, 3);
}

static void
the_same_seed_gives_the_same_sequence(void **state)
{
	static const char all[] = ",loss=0.05,duplicate=0.1,corrupt=0.01,reorder=0.1,seed=15";

	(void)state;
	run(all, &first);
	run(all, &second);
	is_same(&first, &second);
	run(",loss=0.05,duplicate=0.1,corrupt=0.01,reorder=0.1,seed=16", &second);
	assert_true(first.count != second.count ||
		    memcmp(first.number, second.number, first.count * sizeof(first.number[0])) !=
			    0);
}

static void
another_fault_loses_the_same_packets(void **state)
{
	static uint8_t alone[PACKETS], together[PACKETS];

	(void)state;
	run(",loss=0.05,seed=17", &first);
	run(",loss=0.05,seed=17,duplicate=0.1,reorder=0.2", &second);
	tally(&first, alone);
	tally(&second, together);
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(alone[i] == 0, together[i] == 0);
}

static void
a_packet_that_waits_comes_out_although_nothing_follows(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 0, ",reorder=1,depth=256", pool);
	for (int i = 0; i < 3; i++)
		lab_pass(cable.port[0], cable.port[1], pool, LAB_FLAT, 64);
	assert_int_equal(cable_counters(&cable).reordered, 0);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
no_burst_is_longer_than_asked_for(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *packets[8];
	uint32_t came = 0;
	uint16_t n;

	(void)state;
	cable_open(&cable, 0, ",duplicate=1", pool);
	for (uint32_t i = 0; i < 99; i++)
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, i, 64));
	do {
		memset(packets, 0, sizeof(packets));
		n = cable.port[1]->rx(cable.port[1], packets, 3);
		assert_true(n <= 3);
		for (uint16_t i = 0; i < n; i++)
			assert_int_equal(lab_number(packets[i], NULL), came++ / 2);
		for (uint16_t i = n; i < 8; i++)
			assert_true(i < 3 || packets[i] == NULL);
		rte_pktmbuf_free_bulk(packets, n);
	} while (n > 0);
	assert_int_equal(came, 198);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static uint64_t
us_since(uint64_t begin)
{
	return (rte_rdtsc() - begin) * 1000000 / rte_get_tsc_hz();
}

static void
delay_delays_each_packet(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 0, ",delay_us=3000", pool);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t begin = rte_rdtsc();
		struct rte_mbuf *frame;

		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, i, 64));
		frame = lab_receive(cable.port[1], 5000);
		assert_non_null(frame);
		assert_true(us_since(begin) >= 3000);
		assert_int_equal(lab_number(frame, NULL), i);
		rte_pktmbuf_free(frame);
	}
	cable_close(&cable, 0);
}

static void
pacing_keeps_to_the_rate(void **state)
{
	struct cable cable = {0};
	uint64_t begin;

	(void)state;
	/* 50 packets of 10,000 bits at 100 Mbit/s: 100 us each, 5 ms in all. */
	cable_open(&cable, 0, ",rate_mbps=100", pool);
	begin = rte_rdtsc();
	for (uint32_t i = 0; i < 50; i++)
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, i, 1250));
	for (uint32_t i = 0; i < 50; i++) {
		struct rte_mbuf *frame = lab_receive(cable.port[1], 5000);

		assert_non_null(frame);
		assert_true(us_since(begin) >= 100 * (i + 1));
		assert_int_equal(lab_number(frame, NULL), i);
		rte_pktmbuf_free(frame);
	}
	cable_close(&cable, 0);
}

static void
what_is_held_has_a_limit_and_the_rest_is_counted(void **state)
{
	struct cable cable = {0};
	struct plx_net_wire_counters counters;

	(void)state;
	first.count = 0;
	cable_open(&cable, 0, ",delay_us=1000000", pool);
	for (uint32_t number = 0; number < PLX_NET_WIRE_HOLD_MAX + 1000; number++) {
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, number, 64));
		receive(&cable, &first);
	}
	counters = cable_counters(&cable);
	assert_int_equal(counters.received, PLX_NET_WIRE_HOLD_MAX + 1000);
	if (first.count == 0)
		assert_int_equal(counters.held_over, 1000);
	/* What is still held goes with the link. */
	cable_close(&cable, 1);
	lab_pool_is_whole(pool);
}

static void *
send_all(void *arg)
{
	struct cable *cable = arg;

	for (uint32_t number = 0; number < PACKETS; number++)
		lab_send(cable->port[0], lab_frame(pool, LAB_FLAT, number, 64));
	return NULL;
}

static void
the_ends_may_be_polled_by_different_threads(void **state)
{
	static uint8_t times[PACKETS];
	struct cable cable = {0};
	pthread_t sender;

	(void)state;
	first.count = 0;
	cable_open(&cable, 0, ",loss=0.05,duplicate=0.1,reorder=0.1", pool);
	assert_int_equal(pthread_create(&sender, NULL, send_all, &cable), 0);
	while (cable_counters(&cable).received < PACKETS)
		receive(&cable, &first);
	assert_int_equal(pthread_join(sender, NULL), 0);
	receive_rest(&cable, &first);
	first.counters = cable_counters(&cable);
	assert_int_equal(first.count, PACKETS - first.counters.lost + first.counters.duplicated -
					      first.counters.held_over);
	tally(&first, times);
	is_about(first.counters.lost, 50);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_loses_as_many_as_asked_and_counts_each),
		cmocka_unit_test(duplicates_follow_as_often_as_asked),
		cmocka_unit_test(corruption_damages_as_many_as_asked),
		cmocka_unit_test(packets_are_overtaken_by_no_more_than_the_depth),
		cmocka_unit_test(the_same_seed_gives_the_same_sequence),
		cmocka_unit_test(another_fault_loses_the_same_packets),
		cmocka_unit_test(a_packet_that_waits_comes_out_although_nothing_follows),
		cmocka_unit_test(no_burst_is_longer_than_asked_for),
		cmocka_unit_test(delay_delays_each_packet),
		cmocka_unit_test(pacing_keeps_to_the_rate),
		cmocka_unit_test(what_is_held_has_a_limit_and_the_rest_is_counted),
		cmocka_unit_test(the_ends_may_be_polled_by_different_threads),
	};

	lab_start(NULL);
	pool = lab_pool(2048);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
