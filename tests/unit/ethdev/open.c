/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing: what is refused, with which sentence; that a refusal changes nothing; that
 * a device can be opened again; what a port without limits carries.
 * Start anywhere.
 */
#include <string.h>

#include "device.h"

static struct rte_mempool *pool;

static struct plx_ethdev_config
config_of(const char *device)
{
	return device_config(device, pool, 4200, 100);
}

/* Refused with that status and a sentence that names both parts; and nothing has changed. */
static void
is_refused(const struct plx_ethdev_config *config, enum plx_status status, const char *part,
	   const char *other)
{
	uint16_t ports = rte_eth_dev_count_total();
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	assert_int_equal(plx_ethdev_open(config, &dev, &why), status);
	lab_says(&why, part);
	lab_says(&why, other);
	assert_true(strlen(why.text) < sizeof(why.text) - 1);
	assert_null(dev);
	assert_int_equal(rte_eth_dev_count_total(), ports);
	assert_int_equal(plx_ethdev_open(config, &dev, NULL), status);
}

static void
a_device_that_does_not_exist_is_refused(void **state)
{
	static const char *const none[] = {"net_nothing0", "0000:ff:1f.7", "eth0",
					   "net_nothing,,,"};
	struct plx_ethdev_config config;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++) {
		config = config_of(none[i]);
		is_refused(&config, PLX_NO_DEVICE, none[i], "cannot be made");
	}
	config = config_of("");
	is_refused(&config, PLX_NO_DEVICE, "\"\"", "1 to 63");
	config = config_of(",role=server");
	is_refused(&config, PLX_NO_DEVICE, ",role=server", "1 to 63");
}

static void
wrong_numbers_are_refused(void **state)
{
	struct plx_ethdev_config config = config_of("net_ring0");

	(void)state;
	config.queues = 0;
	is_refused(&config, PLX_INVALID, "net_ring0", "0 queues");
	config.queues = 17;
	is_refused(&config, PLX_INVALID, "has 16 pairs", "17 engines");
	config.queues = UINT16_MAX;
	is_refused(&config, PLX_INVALID, "65535 queues", "1 to 1024");
	config = config_of(NULL);
	is_refused(&config, PLX_INVALID, "name of a device", "pool");
	config = config_of("net_ring0");
	config.pool = NULL;
	is_refused(&config, PLX_INVALID, "name of a device", "pool");
}

static void
a_pool_of_small_buffers_is_refused(void **state)
{
	struct plx_ethdev_config config = config_of("net_memif0,role=client,bsize=4608");

	(void)state;
	config.pool = lab_pool(1600);
	is_refused(&config, PLX_TOO_LONG, "1600 do", "larger buffers");
	rte_mempool_free(config.pool);
}

static void
a_device_in_use_is_refused(void **state)
{
	struct plx_ethdev *dev = device_open(config_of("net_ring0"));
	struct plx_ethdev_config config = config_of("net_ring0");

	(void)state;
	is_refused(&config, PLX_NO_DEVICE, "net_ring0", "in use by another adapter");
	/* The refusals have not disturbed its user. */
	lab_pass(plx_ethdev_queue(dev, 0), plx_ethdev_queue(dev, 0), pool, LAB_FLAT, 100);
	plx_ethdev_close(dev);
}

static void
a_device_that_another_part_has_started_is_refused(void **state)
{
	struct plx_ethdev_config config = config_of("net_null7");
	const struct rte_eth_conf conf = {0};
	struct rte_eth_stats stats;
	uint16_t id;

	(void)state;
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &id), 0);
	assert_int_equal(rte_eth_dev_configure(id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(id, 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(id, 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(id), 0);
	is_refused(&config, PLX_NO_DEVICE, "net_null7", "is running");
	assert_int_equal(rte_eth_stats_get(id, &stats), 0);
	assert_int_equal(rte_eth_dev_stop(id), 0);
	/* And once it is stopped there, it is free. */
	plx_ethdev_close(device_open(config_of("net_null7")));
}

static void
other_arguments_for_a_device_that_exists_are_refused(void **state)
{
	struct plx_ethdev_config config = config_of("net_memif7,role=server,socket=other");

	(void)state;
	config.frame_want = 1514;
	is_refused(&config, PLX_NO_DEVICE, "exists already", "bsize=4608");
}

static void
what_was_there_before_can_be_opened_again(void **state)
{
	static const char *const there[] = {"net_ring7", "net_null7", "net_memif7", "net_vhost7"};

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < PLX_COUNT_OF(there); i++) {
			struct plx_ethdev *dev = device_open(config_of(there[i]));

			assert_string_equal(plx_ethdev_queue(dev, 0)->caps.name, there[i]);
			plx_ethdev_close(dev);
		}
	}
}

static void
what_was_made_is_removed(void **state)
{
	uint16_t ports = rte_eth_dev_count_total();
	uint16_t id;

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct plx_ethdev *dev = device_open(config_of("net_null1,size=128"));

		assert_int_equal(rte_eth_dev_count_total(), ports + 1);
		assert_int_equal(rte_eth_dev_get_port_by_name("net_null1", &id), 0);
		assert_int_equal(plx_ethdev_port_id(dev), id);
		plx_ethdev_close(dev);
		assert_int_equal(rte_eth_dev_count_total(), ports);
	}
}

static void
a_ring_carries_long_frames_in_every_shape(void **state)
{
	struct plx_ethdev *dev = device_open(config_of("net_ring0"));
	struct plx_port *port = plx_ethdev_queue(dev, 0);
	static const uint8_t zero[6];

	(void)state;
	assert_int_equal(port->caps.frame_max, UINT16_MAX);
	assert_true(port->caps.segments && port->caps.external);
	assert_true(plx_ethdev_link(dev));
	assert_memory_not_equal(port->caps.mac, zero, sizeof(zero));
	assert_int_equal(port->caps.mac[0] & 3, 2);
	lab_pass_all(port, port, pool, 64, LAB_ROOM);
	plx_ethdev_close(dev);
	lab_pool_is_whole(pool);
}

/* What goes to others is dropped by the engine; a device that can should not bring it at all. */
static void
only_a_device_that_has_no_better_filter_is_promiscuous(void **state)
{
	static const uint8_t groups[] = {0x33, 0x33, 0, 0, 0, 1, 0x33, 0x33, 0xff, 0, 0, 1};
	static const struct {
		const char *device;
		bool list, promiscuous;
	} rows[] = {
		{"net_tap1,iface=plxtap1", true, false}, /* keeps a list */
		{"net_tap1,iface=plxtap1", false, false},
		{"net_af_packet1,iface=plxva", false, false},
		{"net_af_packet1,iface=plxva", true, true}, /* knows neither list nor all */
		{"net_ring7", false, true},                 /* without an address of its own */
	};

	(void)state;
	lab_run("ip link add plxva type veth peer name plxvb && ip link set plxva up");
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		struct plx_ethdev_config config = config_of(rows[i].device);
		struct plx_ethdev *dev = NULL;
		struct plx_why why = {""};
		uint16_t id;

		config.frame_want = 1000;
		config.groups = groups;
		config.group_count = rows[i].list ? 2 : 0;
		if (plx_ethdev_open(&config, &dev, &why) != PLX_OK)
			fail_msg("%s", why.text);
		id = plx_ethdev_port_id(dev);
		if (rte_eth_promiscuous_get(id) != rows[i].promiscuous)
			fail_msg("row %zu is %spromiscuous", i, rows[i].promiscuous ? "not " : "");
		plx_ethdev_close(dev);
	}
}

static void
too_many_groups_are_refused(void **state)
{
	struct plx_ethdev_config config = config_of("net_null1");
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	(void)state;
	config.group_count = PLX_ETHDEV_GROUPS_MAX + 1;
	assert_int_equal(plx_ethdev_open(&config, &dev, &why), PLX_INVALID);
	lab_says(&why, "33 groups; it is at most 32");
}

static void
queues_are_separate(void **state)
{
	struct plx_ethdev_config config = config_of("net_null2,size=128");
	struct plx_ethdev *dev = NULL;

	(void)state;
	config.queues = 4;
	assert_int_equal(plx_ethdev_open(&config, &dev, NULL), PLX_OK);
	for (uint16_t i = 0; i < 4; i++) {
		struct rte_mbuf *packet;
		struct plx_port *port = plx_ethdev_queue(dev, i);
		struct rte_eth_stats stats;

		assert_int_equal(port->rx(port, &packet, 1), 1);
		rte_pktmbuf_free(packet);
		assert_int_equal(rte_eth_stats_get(plx_ethdev_port_id(dev), &stats), 0);
		assert_int_equal(stats.q_ipackets[i], 1);
		assert_int_equal(stats.ipackets, i + 1);
	}
	plx_ethdev_close(dev);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_does_not_exist_is_refused),
		cmocka_unit_test(wrong_numbers_are_refused),
		cmocka_unit_test(a_pool_of_small_buffers_is_refused),
		cmocka_unit_test(a_device_in_use_is_refused),
		cmocka_unit_test(a_device_that_another_part_has_started_is_refused),
		cmocka_unit_test(other_arguments_for_a_device_that_exists_are_refused),
		cmocka_unit_test(what_was_there_before_can_be_opened_again),
		cmocka_unit_test(what_was_made_is_removed),
		cmocka_unit_test(a_ring_carries_long_frames_in_every_shape),
		cmocka_unit_test(only_a_device_that_has_no_better_filter_is_promiscuous),
		cmocka_unit_test(too_many_groups_are_refused),
		cmocka_unit_test(queues_are_separate),
	};

	lab_namespace();
	lab_start("--vdev=net_ring7", "--vdev=net_null7",
		  "--vdev=net_memif7,role=server,bsize=4608,socket=plxopen",
		  "--vdev=net_vhost7,iface=plxopen.sock", NULL);
	pool = lab_pool(LAB_ROOM);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
