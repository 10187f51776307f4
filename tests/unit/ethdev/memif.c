/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net_memif: both roles in one process. What fits a slot passes, what does not is refused when the
 * port is opened, and a client without a server gives up in time.
 * Start anywhere.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "device.h"

static struct rte_mempool *pool;

/* The pid makes the socket ours alone, the id the interface in it: each test has its own. */
static int socket_pid;

static void
device_name(char *text, size_t bytes, const char *name, const char *role, const char *more)
{
	snprintf(text, bytes, "%s,role=%s,socket=plx%d%s", name, role, socket_pid, more);
}

static struct plx_ethdev_config
config_of(const char *device)
{
	return device_config(device, pool, 4200, 2000);
}

static struct plx_ethdev *
open_as(const char *name, const char *role, const char *more)
{
	char device[128];

	device_name(device, sizeof(device), name, role, more);
	return device_open(config_of(device));
}

static void
wait_for_link(const struct plx_ethdev *dev, bool up)
{
	for (int i = 0; i < 5000 && plx_ethdev_link(dev) != up; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(plx_ethdev_link(dev), up);
}

static void
frames_of_64_to_4500_bytes_pass_both_ways(void **state)
{
	struct plx_ethdev *server = open_as("net_memif0", "server", "a,bsize=4608");
	struct plx_ethdev *client;
	struct plx_ethdev_stats stats;

	(void)state;
	assert_false(plx_ethdev_link(server));
	client = open_as("net_memif1", "client", "a,bsize=4608");
	wait_for_link(server, true);
	wait_for_link(client, true);
	assert_int_equal(plx_ethdev_queue(server, 0)->caps.frame_max, 4608);
	assert_true(plx_ethdev_queue(server, 0)->caps.segments);
	assert_true(plx_ethdev_queue(server, 0)->caps.tx_lost_on_exit);
	lab_pass_all(plx_ethdev_queue(server, 0), plx_ethdev_queue(client, 0), pool, 64, 4500);
	plx_ethdev_stats(server, &stats);
	assert_true(stats.rx_packets > 200 && stats.rx_packets == stats.tx_packets);
	assert_true(stats.rx_bytes == stats.tx_bytes && stats.rx_bytes > stats.rx_packets * 64);
	plx_ethdev_close(client);
	wait_for_link(server, false);
	plx_ethdev_close(server);
	lab_pool_is_whole(pool);
}

/* Sends back one frame whenever the other process says so, until that closes the pipe. It does not
 * poll when the peer leaves: the PMD takes its memory apart on another thread meanwhile. */
static void
echo_until_closed(int pipe_fd)
{
	struct plx_ethdev *server = open_as("net_memif9", "server", "echo,bsize=4608");
	struct plx_port *port = plx_ethdev_queue(server, 0);
	char byte = 's';

	do {
		struct rte_mbuf *frame;

		assert_int_equal(write(pipe_fd, &byte, 1), 1);
		if (read(pipe_fd, &byte, 1) != 1)
			break;
		frame = lab_receive(port, 5000);
		assert_non_null(frame);
		lab_send(port, frame);
	} while (true);
	plx_ethdev_close(server);
}

static int echo_pipe = -1;

/* Two processes: in one, the PMD closes a descriptor of the old connection when the new one may
 * have the same number already. */
static void
a_client_may_come_back(void **state)
{
	char byte;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct plx_ethdev *client = open_as("net_memif8", "client", "echo,bsize=4608");
		struct plx_port *port = plx_ethdev_queue(client, 0);
		struct rte_mbuf *frame;

		wait_for_link(client, true);
		assert_null(lab_receive(port, 0));
		assert_int_equal(read(echo_pipe, &byte, 1), 1);
		assert_int_equal(write(echo_pipe, &byte, 1), 1);
		lab_send(port, lab_frame(pool, LAB_CHAIN, i, 4200));
		frame = lab_receive(port, 5000);
		assert_non_null(frame);
		assert_int_equal(rte_pktmbuf_pkt_len(frame), 4200);
		assert_int_equal(lab_number(frame, NULL), i);
		rte_pktmbuf_free(frame);
		plx_ethdev_close(client);
	}
	lab_pool_is_whole(pool);
}

static void
a_client_without_a_server_gives_up_in_time(void **state)
{
	struct plx_ethdev_config config;
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};
	char device[128];
	uint64_t begin = rte_get_timer_cycles();
	uint64_t took_ms;
	uint16_t ports = rte_eth_dev_count_total();

	(void)state;
	device_name(device, sizeof(device), "net_memif2", "client", "b,bsize=4608");
	config = config_of(device);
	config.start_timeout_ms = 300;
	assert_int_equal(plx_ethdev_open(&config, &dev, &why), PLX_TIMEOUT);
	took_ms = (rte_get_timer_cycles() - begin) * 1000 / rte_get_timer_hz();
	lab_says(&why, "net_memif2");
	lab_says(&why, "within 300 ms");
	lab_says(&why, "server");
	assert_null(dev);
	assert_true(took_ms >= 300 && took_ms < 5000);
	assert_int_equal(rte_eth_dev_count_total(), ports);
	config.start_timeout_ms = 0;
	assert_int_equal(plx_ethdev_open(&config, &dev, NULL), PLX_TIMEOUT);
}

static void
a_frame_above_the_slot_is_refused_at_once(void **state)
{
	struct plx_ethdev_config config;
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};
	char device[128];

	(void)state;
	device_name(device, sizeof(device), "net_memif3", "server", "c");
	config = config_of(device);
	assert_int_equal(plx_ethdev_open(&config, &dev, &why), PLX_TOO_LONG);
	lab_says(&why, "net_memif3");
	lab_says(&why, "4200 bytes");
	lab_says(&why, "2048 do");
	lab_says(&why, "bsize=");
	config.frame_want = 2048;
	assert_int_equal(plx_ethdev_open(&config, &dev, &why), PLX_OK);
	assert_int_equal(plx_ethdev_queue(dev, 0)->caps.frame_max, 2048);
	plx_ethdev_close(dev);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_64_to_4500_bytes_pass_both_ways),
		cmocka_unit_test(a_client_may_come_back),
		cmocka_unit_test(a_client_without_a_server_gives_up_in_time),
		cmocka_unit_test(a_frame_above_the_slot_is_refused_at_once),
	};
	int pair[2];
	int failed, status;
	pid_t echo;

	socket_pid = (int)getpid();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 1;
	echo = fork();
	echo_pipe = pair[echo == 0];
	close(pair[echo != 0]);
	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	if (echo == 0) {
		echo_until_closed(echo_pipe);
		return lab_stop(0);
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close(echo_pipe);
	if (waitpid(echo, &status, 0) != echo || status != 0)
		failed++;
	return lab_stop(failed);
}
