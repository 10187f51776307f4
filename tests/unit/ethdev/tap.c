/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net_tap: two taps on a bridge of the kernel's, in a namespace of the test's own.
 * Start anywhere.
 */
#include <net/if.h>
#include <poll.h>

#include "clock.h"
#include "device.h"

static struct rte_mempool *pool;

static struct plx_ethdev_config
config_of(const char *device, uint32_t frame_want)
{
	return device_config(device, pool, frame_want, 1000);
}

static void
frames_of_64_to_1514_bytes_pass_both_ways(void **state)
{
	struct plx_ethdev *a = device_open(config_of("net_tap0,iface=plxt0", 1514));
	struct plx_ethdev *b = device_open(config_of("net_tap1,iface=plxt1", 1514));
	struct plx_ethdev_stats stats;

	(void)state;
	lab_run("ip link set plxt0 master plxbr up && ip link set plxt1 master plxbr up");
	assert_int_equal(plx_ethdev_queue(a, 0)->caps.frame_max, 1514);
	lab_pass_all(plx_ethdev_queue(a, 0), plx_ethdev_queue(b, 0), pool, 64, 1514);
	plx_ethdev_stats(b, &stats);
	assert_true(stats.rx_packets > 20 && stats.tx_packets > 20);
	plx_ethdev_close(a);
	plx_ethdev_close(b);
	lab_pool_is_whole(pool);
}

/* The kernel itself sends on a bridge, so there may be others first. */
static void
a_packet_makes_the_descriptor_readable(void **state)
{
	struct plx_ethdev_config config = config_of("net_tap0,iface=plxt0", 1514);
	struct plx_ethdev *a, *b = device_open(config_of("net_tap1,iface=plxt1", 1514));
	struct pollfd set = {.events = POLLIN};
	struct rte_mbuf *frame = NULL;
	struct plx_port *port;

	(void)state;
	config.wakes = true;
	a = device_open(config);
	lab_run("ip link set plxt0 master plxbr up && ip link set plxt1 master plxbr up");
	port = plx_ethdev_queue(a, 0);
	set.fd = port->rx_fd(port);
	assert_true(set.fd >= 0);
	assert_null(port->rx_arm);
	for (int i = 0; i < 20 && frame == NULL; i++) {
		lab_send(plx_ethdev_queue(b, 0), lab_frame(pool, LAB_FLAT, 4711, 64));
		assert_int_equal(poll(&set, 1, TEST_PATIENCE_MS), 1);
		frame = lab_receive(port, 10);
	}
	assert_non_null(frame);
	assert_int_equal(lab_number(frame, NULL), 4711);
	rte_pktmbuf_free(frame);
	plx_ethdev_close(a);
	plx_ethdev_close(b);
	lab_pool_is_whole(pool);
}

static void
a_port_has_no_descriptor_that_was_not_asked_for(void **state)
{
	struct plx_ethdev *tap = device_open(config_of("net_tap0,iface=plxt0", 1514)), *null;
	struct plx_ethdev_config config = config_of("net_null0", 1514);

	(void)state;
	assert_int_equal(plx_ethdev_queue(tap, 0)->rx_fd(plx_ethdev_queue(tap, 0)), -1);
	plx_ethdev_close(tap);
	config.wakes = true;
	null = device_open(config); /* it has none */
	assert_int_equal(plx_ethdev_queue(null, 0)->rx_fd(plx_ethdev_queue(null, 0)), -1);
	plx_ethdev_close(null);
}

static void
a_tap_that_is_closed_is_gone(void **state)
{
	struct plx_ethdev *dev = device_open(config_of("net_tap0,iface=plxt0", 1514));

	(void)state;
	assert_int_not_equal(if_nametoindex("plxt0"), 0);
	plx_ethdev_close(dev);
	assert_int_equal(if_nametoindex("plxt0"), 0);
}

static void
longer_frames_are_refused_and_no_tap_is_made(void **state)
{
	struct plx_ethdev_config config = config_of("net_tap0,iface=plxt0", 2106);
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(plx_ethdev_open(&config, &dev, &why), PLX_TOO_LONG);
	lab_says(&why, "net_tap0");
	lab_says(&why, "2106 bytes");
	lab_says(&why, "1514 do");
	lab_says(&why, "path MTU of 1024");
	assert_null(dev);
	assert_int_equal(if_nametoindex("plxt0"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_64_to_1514_bytes_pass_both_ways),
		cmocka_unit_test(a_packet_makes_the_descriptor_readable),
		cmocka_unit_test(a_port_has_no_descriptor_that_was_not_asked_for),
		cmocka_unit_test(a_tap_that_is_closed_is_gone),
		cmocka_unit_test(longer_frames_are_refused_and_no_tap_is_made),
	};

	lab_namespace();
	lab_run("ip link add plxbr type bridge && ip link set plxbr up");
	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
