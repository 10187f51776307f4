/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets of programs over RDMA: bytes, ends, and what is left to the kernel. Start with
 * bytes_go_both_ways().
 */
#include <sys/wait.h>
#include <unistd.h>

#include "town.h"

enum {
	PORT = 20001,
	BYTES = 3000000,
};

static void
serve(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);

	(void)arg;
	town_receive(fd, BYTES, 0, 1);
	town_send(fd, BYTES, 0, 2);
	town_expect_end(fd);
	san_client_close(fd);
	close(fd);
	close(listener);
}

static void
ask(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);

	(void)arg;
	town_send(fd, BYTES, 0, 1);
	town_receive(fd, BYTES, 0, 2);
	san_client_close(fd);
	close(fd);
}

static void
bytes_go_both_ways(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL), program = town_start(TOWN_A, ask, NULL);

	(void)state;
	town_await(program);
	town_await(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
	};

	return TOWN_RUN(tests);
}
