/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program is stopped, between two calls or within one, and another one has the same socket. From
 * between calls control is taken; within a call nobody can take it, and the connection ends, with
 * an error, for all. Start with it_ends_in_time().
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "clock.h"
#include "town.h"

enum {
	PORT = 20130,
	PIECE = 3000,
	ROUNDS = 20,
	MOST_US = 20000,
	SUSPEND_MS = 200,
	LATEST_MS = 5000, /* twice that, and as late as a loaded machine is */
};

struct order {
	unsigned after_us;
	int told; /* a byte, if it was stopped within a call */
};

static void
read_all(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);
	static uint8_t bytes[64 * 1024];

	(void)arg;
	while (san_client_recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	town_close(fd);
	close(listener);
}

/* It ends when a call says that the connection has. */
static void
write_until_it_ends(int fd)
{
	static const uint8_t bytes[PIECE];

	town_adopt(fd);
	while (san_client_send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
	TOWN_MUST(errno == ETIMEDOUT || errno == ECONNRESET);
	town_leave(fd);
}

/* Returns: was it within a call? */
static bool
stop_one(unsigned after_us)
{
	int fd = town_connect(TOWN_B, PORT), status;
	uint64_t began;
	bool within;
	pid_t child = fork();

	TOWN_MUST(child >= 0);
	if (child == 0)
		write_until_it_ends(fd);
	usleep(after_us);
	TOWN_MUST(kill(child, SIGSTOP) == 0);
	TOWN_MUST(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
	town_adopt(fd);
	began = test_ns();
	within = san_client_send(fd, "x", 1, MSG_NOSIGNAL) < 0;
	TOWN_MUST(test_ns() - began < LATEST_MS * UINT64_C(1000000));
	if (within)
		TOWN_MUST(errno == ETIMEDOUT);
	else
		TOWN_MUST(kill(child, SIGKILL) == 0);
	TOWN_MUST(kill(child, SIGCONT) == 0);
	TOWN_MUST(waitpid(child, &status, 0) == child);
	TOWN_MUST(within ? status == 0 : WIFSIGNALED(status));
	town_close(fd);
	return within;
}

static void
stop_one_and_tell(void *arg)
{
	const struct order *order = arg;

	if (stop_one(order->after_us))
		TOWN_MUST(write(order->told, "w", 1) == 1);
}

static void
it_ends_in_time(void **state)
{
	unsigned random = 1;
	int ways[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ways), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct order order = {(unsigned)rand_r(&random) % MOST_US, ways[1]};
		pid_t server = town_start(TOWN_B, read_all, NULL);
		pid_t program = town_start(TOWN_A, stop_one_and_tell, &order);

		town_await(program);
		town_await(server);
	}
	/* One at least was within a call. */
	close(ways[1]);
	assert_int_equal(read(ways[0], &byte, 1), 1);
	close(ways[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_in_time),
	};
	char ms[16];

	snprintf(ms, sizeof(ms), "%d", SUSPEND_MS);
	setenv("TOWN_SUSPEND_MS", ms, 1);
	return TOWN_RUN(tests);
}
