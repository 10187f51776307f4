/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Daemons that are killed, one in a run, or both: every call of a program ends, with an error where
 * it needs them, and nothing hangs. Start with calls_end_without_a_broker().
 */
#include <arpa/inet.h>
#include <sys/wait.h>

#include "clock.h"
#include "town.h"

enum {
	PORT = 20600,
	SOON_US = 300000, /* until both programs wait */
};

static void
end(int fd)
{
	san_client_close(fd);
	close(fd);
}

/* What comes is read until the connection ends, one way or the other. */
static void
read_to_the_end(int fd)
{
	char bytes[100];
	ssize_t got;

	do
		got = san_client_recv(fd, bytes, sizeof(bytes), 0);
	while (got > 0);
	TOWN_MUST(got == 0 || errno == ECONNRESET || errno == ENETDOWN || errno == ETIMEDOUT);
}

/* More than comes is asked for: what came is returned, and the next call fails. */
static void
serve(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);
	char bytes[2000];

	(void)arg;
	TOWN_MUST(san_client_recv(fd, bytes, sizeof(bytes), MSG_WAITALL) == 1000);
	TOWN_MUST(san_client_recv(fd, bytes, sizeof(bytes), 0) == -1);
	TOWN_MUST(errno == ECONNRESET || errno == ENETDOWN || errno == ETIMEDOUT);
	end(fd);
	close(listener);
}

/* Two processes share the socket, so control is the broker's between their calls: nobody can have
 * it after the broker's death. */
static void
share(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	pid_t pid = fork();
	int status;

	(void)arg;
	TOWN_MUST(pid >= 0);
	if (pid == 0) {
		town_attach();
		TOWN_MUST(san_client_adopt(fd) == SAN_IS_RDMA);
		read_to_the_end(fd);
		end(fd);
		_exit(0);
	}
	town_send(fd, 1000, 0, 1);
	read_to_the_end(fd);
	while (san_client_send(fd, "x", 1, MSG_NOSIGNAL) > 0)
		;
	end(fd);
	TOWN_MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Without a broker the kernel connects. */
static void
connect_without(void *arg)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char byte;

	TOWN_MUST(read(*(int *)arg, &byte, 1) == 1);
	TOWN_MUST(inet_pton(AF_INET, town_address(TOWN_B), &to.sin_addr) == 1);
	TOWN_MUST(san_client_connect(fd, (struct sockaddr *)&to, sizeof(to)) == SAN_FAILED);
	TOWN_MUST(errno == ENETDOWN);
	close(fd);
}

static void
calls_end_without_a_broker(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL), program = town_start(TOWN_A, share, NULL);
	int go[2];
	pid_t late;

	(void)state;
	assert_int_equal(pipe(go), 0);
	late = town_start(TOWN_A, connect_without, &go[0]);
	usleep(SOON_US);
	town_kill_broker(TOWN_A);
	assert_int_equal(write(go[1], "g", 1), 1);
	town_await(late);
	town_await(program);
	town_await(server);
}

/* polluxd is killed: both ends are in control, and wait. */
static void
wait_for_nothing(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);

	(void)arg;
	town_send(fd, 1000, 0, 1);
	read_to_the_end(fd);
	TOWN_MUST(san_client_send(fd, "x", 1, MSG_NOSIGNAL) == -1);
	end(fd);
}

static void
calls_end_without_a_host(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL);
	pid_t program = town_start(TOWN_A, wait_for_nothing, NULL);

	(void)state;
	usleep(SOON_US);
	town_kill_host();
	town_await(program);
	town_await(server);
}

/* The connection has ended, and nobody is left to whom control could go. */
static void
close_when_told(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	const int *ways = arg;
	char byte;

	town_send(fd, 1000, 0, 1);
	read_to_the_end(fd);
	TOWN_MUST(write(ways[1], "r", 1) == 1 && read(ways[2], &byte, 1) == 1);
	end(fd);
}

static void
a_close_ends_without_anybody(void **state)
{
	int ready[2], go[2];
	pid_t server, program;
	char byte;

	(void)state;
	assert_true(pipe(ready) == 0 && pipe(go) == 0);
	server = town_start(TOWN_B, serve, NULL);
	program = town_start(TOWN_A, close_when_told, (int[]){ready[0], ready[1], go[0]});
	usleep(SOON_US);
	town_kill_host();
	assert_int_equal(read(ready[0], &byte, 1), 1);
	town_kill_broker(TOWN_A);
	assert_int_equal(write(go[1], "g", 1), 1);
	town_await(program);
	town_await(server);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest broker[] = {
		cmocka_unit_test(calls_end_without_a_broker),
	};
	const struct CMUnitTest host[] = {
		cmocka_unit_test(calls_end_without_a_host),
	};
	const struct CMUnitTest both[] = {
		cmocka_unit_test(a_close_ends_without_anybody),
	};

	if (argc > 1 && strcmp(argv[1], "both") == 0)
		return TOWN_RUN(both);
	return argc > 1 && strcmp(argv[1], "host") == 0 ? TOWN_RUN(host) : TOWN_RUN(broker);
}
