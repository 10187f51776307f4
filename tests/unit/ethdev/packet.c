/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net_af_packet over a pair of veth interfaces, in a namespace of the test's own. What the device
 * claims to carry passes, to the byte, and what it cannot is refused when it is opened.
 * Start anywhere.
 */
#include "device.h"

#define SLOTS ",framesz=4352,blocksz=69632,framecnt=512"

static struct rte_mempool *pool;

static struct plx_ethdev_config
config_of(const char *device, uint32_t frame_want)
{
	return device_config(device, pool, frame_want, 1000);
}

static enum plx_status
try_open(const char *device, uint32_t frame_want, struct plx_ethdev **dev, struct plx_why *why)
{
	const struct plx_ethdev_config config = config_of(device, frame_want);

	return plx_ethdev_open(&config, dev, why);
}

static void
set_mtu(int mtu)
{
	lab_run("ip link set plxa mtu %d && ip link set plxb mtu %d", mtu, mtu);
}

static void
frames_of_64_bytes_to_the_limit_pass_both_ways(void **state)
{
	struct plx_ethdev *a, *b;

	(void)state;
	set_mtu(9000);
	a = device_open(config_of("net_af_packet0,iface=plxa" SLOTS, 4200));
	b = device_open(config_of("net_af_packet1,iface=plxb" SLOTS, 4200));
	assert_int_equal(plx_ethdev_queue(a, 0)->caps.frame_max, 4352 - 66);
	assert_true(plx_ethdev_link(a));
	lab_pass_all(plx_ethdev_queue(a, 0), plx_ethdev_queue(b, 0), pool, 64, 4352 - 66);
	plx_ethdev_close(a);
	plx_ethdev_close(b);
	lab_pool_is_whole(pool);
}

static void
an_interface_limits_the_frames(void **state)
{
	struct plx_ethdev *a = NULL;
	struct plx_ethdev *b;
	struct plx_why why = {""};

	(void)state;
	set_mtu(1500);
	assert_int_equal(try_open("net_af_packet0,iface=plxa" SLOTS, 4200, &a, &why), PLX_TOO_LONG);
	lab_says(&why, "net_af_packet0");
	lab_says(&why, "4200 bytes");
	lab_says(&why, "1514 do");
	lab_says(&why, "ip link set");
	assert_null(a);
	/* The longest that it takes does pass. */
	a = device_open(config_of("net_af_packet0,iface=plxa" SLOTS, 1514));
	b = device_open(config_of("net_af_packet1,iface=plxb" SLOTS, 1514));
	assert_int_equal(plx_ethdev_queue(a, 0)->caps.frame_max, 1514);
	lab_pass_all(plx_ethdev_queue(a, 0), plx_ethdev_queue(b, 0), pool, 1500, 1514);
	plx_ethdev_close(a);
	plx_ethdev_close(b);
}

static void
a_slot_limits_the_frames(void **state)
{
	struct plx_ethdev *a = NULL;
	struct plx_ethdev *b;
	struct plx_why why = {""};

	(void)state;
	set_mtu(9000);
	assert_int_equal(try_open("net_af_packet0,iface=plxa", 4200, &a, &why), PLX_TOO_LONG);
	lab_says(&why, "1982 do");
	lab_says(&why, "framesz=4352");
	a = device_open(config_of("net_af_packet0,iface=plxa", 1982));
	b = device_open(config_of("net_af_packet1,iface=plxb", 1982));
	lab_pass_all(plx_ethdev_queue(a, 0), plx_ethdev_queue(b, 0), pool, 1970, 1982);
	plx_ethdev_close(a);
	plx_ethdev_close(b);
}

static void
an_interface_that_is_not_there_is_refused(void **state)
{
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(try_open("net_af_packet0,iface=plxnone", 1514, &dev, &why), PLX_NO_DEVICE);
	lab_says(&why, "net_af_packet0,iface=plxnone");
	assert_null(dev);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_64_bytes_to_the_limit_pass_both_ways),
		cmocka_unit_test(an_interface_limits_the_frames),
		cmocka_unit_test(a_slot_limits_the_frames),
		cmocka_unit_test(an_interface_that_is_not_there_is_refused),
	};

	lab_namespace();
	lab_run("ip link add plxa type veth peer name plxb && ip link set plxa up && "
		"ip link set plxb up");
	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
