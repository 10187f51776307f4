/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The embedded link without faults: attaching and detaching in every order, what passes, and that
 * nothing stands in its way. Start anywhere.
 */
#include "cable.h"

static struct rte_mempool *pool;

static void
frames_pass_both_ways_in_every_shape(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 0, "", pool);
	assert_int_equal(cable.port[0]->caps.frame_max, UINT16_MAX);
	assert_true(cable.port[0]->caps.segments && cable.port[0]->caps.external);
	assert_memory_not_equal(cable.port[0]->caps.mac, cable.port[1]->caps.mac, 6);
	assert_true(plx_ethdev_link(cable.dev[0]) && plx_ethdev_link(cable.dev[1]));
	lab_pass_all(cable.port[0], cable.port[1], pool, 64, LAB_ROOM);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
without_faults_the_packet_itself_passes_and_no_callback_is_there(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *sent;
	struct rte_mbuf *got;

	(void)state;
	cable_open(&cable, 0, ",loss=0,seed=5,depth=4", pool);
	for (int end = 0; end < 2; end++)
		assert_null(rte_eth_fp_ops[plx_ethdev_port_id(cable.dev[end])].rxq.clbk[0]);
	sent = lab_frame(pool, LAB_CHAIN, 1, 500);
	lab_send(cable.port[0], sent);
	got = lab_receive(cable.port[1], 1000);
	assert_ptr_equal(got, sent);
	rte_pktmbuf_free(got);
	assert_int_equal(cable_counters(&cable).received, 1);
	assert_int_equal(cable_counters(&cable).lost, 0);
	cable_close(&cable, 1);
}

static void
a_full_ring_takes_no_more_and_the_rest_stays_the_callers(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *packets[32];
	uint16_t taken;
	uint32_t sent = 0;

	(void)state;
	cable_open(&cable, 0, "", pool);
	do {
		for (uint32_t i = 0; i < 32; i++)
			packets[i] = lab_frame(pool, LAB_FLAT, i, 64);
		taken = cable.port[0]->tx(cable.port[0], packets, 32);
		sent += taken;
		rte_pktmbuf_free_bulk(packets + taken, 32u - taken);
	} while (taken == 32);
	assert_int_equal(sent, PLX_NET_WIRE_RING - 1);
	/* What is on its way is freed with the link. */
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
an_attached_end_is_busy(void **state)
{
	struct cable cable = {0};
	struct plx_why why = {""};
	char name[64] = "untouched";

	(void)state;
	cable_open(&cable, 3, "", pool);
	assert_int_equal(plx_net_wire_attach("net_wire3,end=1,loss=0.5", 1, name, &why), PLX_BUSY);
	lab_says(&why, "net_wire3");
	lab_says(&why, "end 1");
	assert_string_equal(name, "untouched");
	lab_pass(cable.port[0], cable.port[1], pool, LAB_FLAT, 64);
	cable_close(&cable, 0);
}

static void
ends_come_and_go_in_any_order(void **state)
{
	uint16_t ports = rte_eth_dev_count_total();
	struct cable cable = {0};

	(void)state;
	for (int round = 0; round < 8; round++) {
		cable_open_end(&cable, 1, round & 1, ",loss=0.5", pool);
		cable_open_end(&cable, 1, !(round & 1), "", pool);
		assert_int_equal(rte_eth_dev_count_total(), ports + 2);
		lab_pass(cable.port[round & 1], cable.port[!(round & 1)], pool, LAB_FLAT, 100);
		cable_close(&cable, round >> 1 & 1);
		assert_int_equal(rte_eth_dev_count_total(), ports);
	}
	lab_pool_is_whole(pool);
}

static void
one_end_may_come_back_and_finds_nothing_old(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 2, "", pool);
	for (int round = 0; round < 3; round++) {
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, 1, 64));
		cable_close_end(&cable, 1);
		lab_pool_is_whole(pool);
		lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, 2, 64));
		cable_open_end(&cable, 2, 1, round == 1 ? ",duplicate=1" : "", pool);
		assert_null(lab_receive(cable.port[1], 0));
	}
	lab_pass(cable.port[0], cable.port[1], pool, LAB_FLAT, 64);
	/* What the last end sent to nobody goes with the rings. */
	cable_close_end(&cable, 1);
	lab_send(cable.port[0], lab_frame(pool, LAB_FLAT, 3, 64));
	cable_close_end(&cable, 0);
	lab_pool_is_whole(pool);
}

/* ---- several queues ---- */

/* Which of end 1's queues has the frame that queue `from` of end 0 has sent? */
static uint32_t
arrives_on(struct cable *cable, uint32_t from)
{
	uint32_t found = UINT32_MAX;

	lab_send(plx_ethdev_queue(cable->dev[0], from), lab_frame(pool, LAB_FLAT, from, 64));
	for (uint32_t q = 0; q < cable->queues; q++) {
		struct rte_mbuf *frame = lab_receive(plx_ethdev_queue(cable->dev[1], q), 0);

		if (frame == NULL)
			continue;
		assert_int_equal(found, UINT32_MAX);
		assert_int_equal(lab_number(frame, NULL), from);
		rte_pktmbuf_free(frame);
		found = q;
	}
	return found;
}

static void
each_queue_has_a_ring_of_its_own(void **state)
{
	static const char *const shifts[] = {"", ",shift=1", ",shift=2", ",shift=15"};
	static const uint32_t by[] = {0, 1, 2, 15};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(shifts); i++) {
		struct cable cable = {.queues = 3};

		cable_open(&cable, 4, shifts[i], pool);
		for (uint32_t q = 0; q < 3; q++)
			assert_int_equal(arrives_on(&cable, q), (q + by[i]) % 3);
		assert_int_equal(cable_counters(&cable).received, 3);
		/* What is on its way on any queue goes with the link. */
		for (uint32_t q = 0; q < 3; q++)
			lab_send(plx_ethdev_queue(cable.dev[q % 2], q),
				 lab_frame(pool, LAB_FLAT, q, 64));
		cable_close(&cable, 1);
		lab_pool_is_whole(pool);
	}
}

static void
each_queue_has_faults_of_its_own(void **state)
{
	struct cable cable = {.queues = 2};
	uint64_t passed[2] = {0, 0};

	(void)state;
	cable_open(&cable, 4, ",loss=0.5", pool);
	for (uint32_t i = 0; i < 64; i++)
		for (uint32_t q = 0; q < 2; q++)
			passed[q] |= (uint64_t)(arrives_on(&cable, q) == q) << i;
	/* Half of each is lost, and not the same half. */
	for (uint32_t q = 0; q < 2; q++)
		assert_in_range(__builtin_popcountll(passed[q]), 16, 48);
	assert_int_not_equal(passed[0], passed[1]);
	assert_int_equal(cable_counters(&cable).received, 128);
	assert_int_equal(cable_counters(&cable).lost,
			 128 - __builtin_popcountll(passed[0]) - __builtin_popcountll(passed[1]));
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
both_ends_have_as_many_queues(void **state)
{
	struct cable cable = {.queues = 2};
	char name[64] = "untouched";
	struct plx_why why = {""};

	(void)state;
	cable_open_end(&cable, 5, 0, "", pool);
	assert_int_equal(plx_net_wire_attach("net_wire5,end=1", 3, name, &why), PLX_INVALID);
	lab_says(&why, "queues for 2 engines");
	lab_says(&why, "for 3");
	assert_int_equal(plx_net_wire_attach("net_wire5,end=1", 0, name, &why), PLX_INVALID);
	assert_int_equal(plx_net_wire_attach("net_wire5,end=1", 17, name, &why), PLX_INVALID);
	lab_says(&why, "1 to 16");
	assert_string_equal(name, "untouched");
	/* The refusals have changed nothing, and a link that nobody holds has any number. */
	cable_open_end(&cable, 5, 1, "", pool);
	assert_int_equal(arrives_on(&cable, 1), 1);
	cable_close(&cable, 0);
	cable.queues = 3;
	cable_open(&cable, 5, "", pool);
	assert_int_equal(arrives_on(&cable, 2), 2);
	cable_close(&cable, 0);
}

static void
all_links_stand_side_by_side(void **state)
{
	static struct cable cables[PLX_NET_WIRE_LINKS_MAX];

	(void)state;
	/* Two ports each; DPDK has room for 32. */
	for (int i = 0; i < PLX_NET_WIRE_LINKS_MAX; i++)
		cable_open(&cables[i], i, "", pool);
	for (int i = 0; i < PLX_NET_WIRE_LINKS_MAX; i++)
		lab_send(cables[i].port[i & 1], lab_frame(pool, LAB_FLAT, (uint32_t)i, 64));
	for (int i = 0; i < PLX_NET_WIRE_LINKS_MAX; i++) {
		struct rte_mbuf *frame = lab_receive(cables[i].port[!(i & 1)], 1000);

		assert_non_null(frame);
		assert_int_equal(lab_number(frame, NULL), i);
		rte_pktmbuf_free(frame);
	}
	for (int i = 0; i < PLX_NET_WIRE_LINKS_MAX; i++)
		cable_close(&cables[i], 0);
}

static void
what_is_not_attached_has_no_counters_and_may_be_detached(void **state)
{
	struct plx_net_wire_counters counters;

	(void)state;
	assert_false(plx_net_wire_counters("net_wire5,end=0", &counters));
	plx_net_wire_detach("net_wire5,end=0");
	assert_false(plx_net_wire_counters("net_wire5,end=0", &counters));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_pass_both_ways_in_every_shape),
		cmocka_unit_test(without_faults_the_packet_itself_passes_and_no_callback_is_there),
		cmocka_unit_test(a_full_ring_takes_no_more_and_the_rest_stays_the_callers),
		cmocka_unit_test(an_attached_end_is_busy),
		cmocka_unit_test(ends_come_and_go_in_any_order),
		cmocka_unit_test(one_end_may_come_back_and_finds_nothing_old),
		cmocka_unit_test(each_queue_has_a_ring_of_its_own),
		cmocka_unit_test(each_queue_has_faults_of_its_own),
		cmocka_unit_test(both_ends_have_as_many_queues),
		cmocka_unit_test(all_links_stand_side_by_side),
		cmocka_unit_test(what_is_not_attached_has_no_counters_and_may_be_detached),
	};

	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
