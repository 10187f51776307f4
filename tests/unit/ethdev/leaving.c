/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A port of net_memif is polled while its peer leaves, again and again: the PMD unmaps the rings on
 * the EAL's interrupt thread meanwhile. That thread has the core of the polling one here, and so
 * comes in the middle of a burst. Without a guard one in a hundred departures is a crash. Peers
 * also leave before the PMD has heard of them, and come back at once. Start with
 * peers_may_leave_a_port_that_is_polled().
 */
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "device.h"

enum {
	DEPARTURES = 1000,
};

static struct rte_mempool *pool;
static int socket_pid, other;

static struct plx_ethdev *
open_as(const char *role)
{
	char device[128];

	snprintf(device, sizeof(device), "net_memif0,role=%s,socket=plx%d,bsize=4608", role,
		 socket_pid);
	return device_open(device_config(device, pool, 4200, 2000));
}

/* A device that is stopped and started is a peer that leaves and comes back. */
static void
come_and_leave(void)
{
	struct plx_ethdev *client = open_as("client");
	const uint16_t port = plx_ethdev_port_id(client);

	for (int i = 0; i < DEPARTURES; i++) {
		for (int waits = 0; !plx_ethdev_link(client); waits++) {
			assert_true(waits < 5000);
			usleep(100);
		}
		usleep((useconds_t)(i % 64));
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rte_eth_dev_start(port), 0);
	}
	plx_ethdev_close(client);
}

static void
use_first_core(void *done)
{
	cpu_set_t all, first;
	int core = 0;

	CPU_ZERO(&all);
	(void)sched_getaffinity(0, sizeof(all), &all);
	while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &all))
		core++;
	CPU_ZERO(&first);
	CPU_SET(core, &first);
	__atomic_store_n((int *)done, sched_setaffinity(0, sizeof(first), &first) == 0 ? 1 : -1,
			 __ATOMIC_RELEASE);
}

static void
share_a_core_with_interrupts(void)
{
	int done = 0;

	use_first_core(&done);
	assert_int_equal(done, 1);
	done = 0;
	assert_int_equal(rte_eal_alarm_set(1, use_first_core, &done), 0);
	for (int waits = 0; __atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0; waits++) {
		assert_true(waits < 5000);
		usleep(1000);
	}
	assert_int_equal(done, 1);
}

static void
peers_may_leave_a_port_that_is_polled(void **state)
{
	struct plx_ethdev *server = open_as("server");
	struct plx_port *port = plx_ethdev_queue(server, 0);
	struct pollfd closed = {.fd = other, .events = POLLIN};
	struct rte_mbuf *none;

	(void)state;
	share_a_core_with_interrupts();
	assert_int_equal(write(other, "s", 1), 1);
	while (poll(&closed, 1, 0) == 0)
		for (int i = 0; i < 1000; i++)
			assert_int_equal(port->rx(port, &none, 1), 0);
	plx_ethdev_close(server);
}

/* It waits until the listener's backlog has room. */
static int
knock(void)
{
	const struct timeval patience = {.tv_sec = 5};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int length = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "plx%d", socket_pid);

	length += (int)offsetof(struct sockaddr_un, sun_path) + 1;
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, (socklen_t)length), 0);
	return fd;
}

static void
peers_may_leave_before_they_are_heard(void **state)
{
	struct plx_ethdev *server = open_as("server");
	char greeting[256];
	int last;

	(void)state;
	for (int i = 0; i < DEPARTURES; i++)
		close(knock());
	/* Whoever knocks now is greeted after all of them were let in. */
	last = knock();
	assert_true(recv(last, greeting, sizeof(greeting), 0) > 0);
	close(last);
	plx_ethdev_close(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers_may_leave_before_they_are_heard),
		cmocka_unit_test(peers_may_leave_a_port_that_is_polled),
	};
	int pair[2], failed, status;
	pid_t client;
	char byte;

	socket_pid = (int)getpid();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 1;
	client = fork();
	other = pair[client == 0];
	close(pair[client != 0]);
	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	if (client == 0) {
		if (read(other, &byte, 1) != 1)
			return lab_stop(1);
		come_and_leave();
		return lab_stop(0);
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close(other);
	if (waitpid(client, &status, 0) != client || status != 0)
		failed++;
	return lab_stop(failed);
}
