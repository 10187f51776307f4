/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets of programs over RDMA: bytes, ends, and what is left to the kernel. Start with
 * bytes_go_both_ways().
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
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

/* ---- flags, limits and ends ---- */

static int
accept_at(uint16_t port)
{
	int listener = town_listen(port, 8), fd = town_accept(listener);

	close(listener);
	return fd;
}

static void
end(int fd)
{
	san_client_close(fd);
	close(fd);
}

/* Asks for nothing while nothing comes; then peeks, and reads what it has seen. */
static void
serve_flags(void *arg)
{
	const struct timeval limit = {.tv_usec = 50000};
	int fd = accept_at(PORT + 1);
	char bytes[10] = "";
	uint64_t begun;

	(void)arg;
	TOWN_MUST(san_client_recv(fd, bytes, 10, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	TOWN_MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
	begun = test_ms();
	TOWN_MUST(san_client_recv(fd, bytes, 10, 0) == -1 && errno == EAGAIN);
	TOWN_MUST(test_ms() - begun >= 50);
	TOWN_MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof(limit)) ==
		  0);
	TOWN_MUST(san_client_send(fd, "go", 2, 0) == 2);
	TOWN_MUST(san_client_recv(fd, bytes, 5, MSG_PEEK | MSG_WAITALL) >= 1);
	TOWN_MUST(bytes[0] == 'h');
	TOWN_MUST(san_client_recv(fd, bytes, 5, MSG_WAITALL) == 5);
	TOWN_MUST(memcmp(bytes, "hello", 5) == 0);
	TOWN_MUST(san_client_recv(fd, bytes, 10, MSG_WAITALL) == 4); /* then the end */
	TOWN_MUST(memcmp(bytes, "rest", 4) == 0);
	town_expect_end(fd);
	TOWN_MUST(san_client_send(fd, "ok", 2, 0) == 2);
	end(fd);
}

/* Shuts its half, and still reads. */
static void
ask_flags(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 1);
	char bytes[3] = "";

	(void)arg;
	TOWN_MUST(san_client_recv(fd, bytes, 2, MSG_WAITALL) == 2);
	TOWN_MUST(san_client_send(fd, "hello", 5, 0) == 5);
	TOWN_MUST(san_client_send(fd, "rest", 4, 0) == 4);
	TOWN_MUST(san_client_shutdown(fd, SHUT_WR) == 0);
	TOWN_MUST(san_client_send(fd, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	TOWN_MUST(san_client_recv(fd, bytes, 2, MSG_WAITALL) == 2);
	TOWN_MUST(memcmp(bytes, "ok", 2) == 0);
	town_expect_end(fd);
	end(fd);
}

static void
flags_and_limits_are_carried_out(void **state)
{
	pid_t server = town_start(TOWN_B, serve_flags, NULL);
	pid_t program = town_start(TOWN_A, ask_flags, NULL);

	(void)state;
	town_await(program);
	town_await(server);
}

/* A writer whose peer does not read has room for both rings, and no more. */
static void
serve_nothing(void *arg)
{
	int fd = accept_at(PORT + 2);
	char byte;

	(void)arg;
	TOWN_MUST(san_client_send(fd, "g", 1, 0) == 1);
	while (san_client_recv(fd, &byte, 1, MSG_PEEK) == 1)
		usleep(20000);
	end(fd);
}

static void
write_until_full(void *arg)
{
	static uint8_t bytes[100000];
	int fd = town_connect(TOWN_B, PORT + 2);
	const struct timeval limit = {.tv_usec = 100000};
	size_t done = 0;
	ssize_t n;

	(void)arg;
	TOWN_MUST(san_client_recv(fd, bytes, 1, 0) == 1);
	TOWN_MUST(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0);
	while ((n = san_client_send(fd, bytes, sizeof(bytes), 0)) > 0)
		done += (size_t)n;
	TOWN_MUST(errno == EAGAIN && done > 100000 && done < 2000000);
	TOWN_MUST(san_client_send(fd, bytes, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	end(fd);
}

static void
who_does_not_read_is_waited_for_in_time(void **state)
{
	pid_t server = town_start(TOWN_B, serve_nothing, NULL);
	pid_t program = town_start(TOWN_A, write_until_full, NULL);

	(void)state;
	town_await(program);
	assert_int_equal(kill(server, SIGKILL), 0); /* it holds what was not read */
	assert_int_equal(waitpid(server, NULL, 0), server);
}

/* ---- a user who may not use the adapter ---- */

static ssize_t
put(int fd, const void *bytes, size_t n)
{
	ssize_t done = san_client_send(fd, bytes, n, 0);

	return done == SAN_RELAYED ? send(fd, bytes, n, 0) : done;
}

static ssize_t
take(int fd, void *bytes, size_t n)
{
	ssize_t got = san_client_recv(fd, bytes, n, 0);

	return got == SAN_RELAYED ? recv(fd, bytes, n, 0) : got;
}

/* The broker is known already; the host is not. */
static void
ask_as_nobody(void *arg)
{
	static uint8_t bytes[BYTES], expected[BYTES];
	ssize_t n;
	int fd;

	(void)arg;
	TOWN_MUST(setresuid(65534, 65534, 65534) == 0);
	fd = town_connect(TOWN_B, PORT);
	town_fill(bytes, BYTES, 0, 1);
	for (size_t at = 0; at < BYTES; at += (size_t)n)
		TOWN_MUST((n = put(fd, bytes + at, BYTES - at)) > 0);
	TOWN_MUST(san_client_is_relayed(fd));
	for (size_t at = 0; at < BYTES; at += (size_t)n)
		TOWN_MUST((n = take(fd, bytes + at, BYTES - at)) > 0);
	town_fill(expected, BYTES, 0, 2);
	TOWN_MUST(memcmp(bytes, expected, BYTES) == 0);
	san_client_close(fd);
	close(fd);
}

static void
a_program_that_may_not_use_the_adapter_is_relayed(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL);

	(void)state;
	town_await(town_start(TOWN_A, ask_as_nobody, NULL));
	town_await(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(flags_and_limits_are_carried_out),
		cmocka_unit_test(who_does_not_read_is_waited_for_in_time),
		cmocka_unit_test(a_program_that_may_not_use_the_adapter_is_relayed),
	};

	return TOWN_RUN(tests);
}
