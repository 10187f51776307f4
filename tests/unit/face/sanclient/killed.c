/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes that have control of a connection and do not give it: they compute, are stopped, or are
 * killed. Others go on, and what was written arrives (S1, S18, S20). Start with
 * a_child_goes_on_meanwhile().
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "clock.h"
#include "town.h"

enum {
	PORT = 20600,
	PIECE = 3000,
	MANY = 10 << 20,
	SWAPS = 20,
	KILLS = 40,
	AT_ONCE = 4,
	MOST_US = 10000, /* before a kill */
	ANY = 64 << 10,
	CLOSES = 200,
	CLOSING_NS = 500000, /* how long a close takes, at most */
};

#define NOT_YET UINT64_MAX

/* What all processes of a test have. */
static struct {
	_Atomic bool computes, goes_on;
	_Atomic uint64_t sent, read; /* by the program that is killed */
	_Atomic uint64_t killed_at;  /* what its peer has read then, or NOT_YET */
	unsigned lives_us;
} * all;

static void
begin(void)
{
	all = mmap(NULL, AT_ONCE * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	assert_true(all != MAP_FAILED);
}

static void
end(void)
{
	munmap(all, AT_ONCE * sizeof(*all));
}

/* A program is of one of the pairs of a test. Returns: their port */
static uint16_t
be_of(const void *pair)
{
	unsigned number = *(const unsigned *)pair;

	all += number;
	return (uint16_t)(PORT + 2 + number);
}

/* ---- it does nothing ---- */

static void
answer_pieces(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);

	(void)arg;
	for (uint64_t at = 0; at < 2 * SWAPS; at++) {
		town_receive(fd, PIECE, at * PIECE, 1);
		town_send(fd, PIECE, at * PIECE, 2);
	}
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

static void
exchange(int fd, uint64_t piece)
{
	town_send(fd, PIECE, piece * PIECE, 1);
	town_receive(fd, PIECE, piece * PIECE, 2);
}

/* Its parent makes no call from the moment on when it says that it computes. */
static void
go_on_meanwhile(int fd)
{
	pid_t parent = getppid();

	town_adopt(fd);
	for (uint64_t i = 0; i < SWAPS; i++) {
		while (!atomic_load(&all->computes))
			;
		if (i % 2 == 1)
			TOWN_MUST(kill(parent, SIGSTOP) == 0);
		exchange(fd, 2 * i + 1);
		if (i % 2 == 1)
			TOWN_MUST(kill(parent, SIGCONT) == 0);
		atomic_store(&all->computes, false);
		atomic_store(&all->goes_on, true);
	}
	town_leave(fd);
}

static void
compute(void *arg)
{
	int fd = town_connect(TOWN_B, PORT), status;
	pid_t child = fork();

	(void)arg;
	TOWN_MUST(child >= 0);
	if (child == 0)
		go_on_meanwhile(fd);
	for (uint64_t i = 0; i < SWAPS; i++) {
		exchange(fd, 2 * i);
		atomic_store(&all->goes_on, false);
		atomic_store(&all->computes, true);
		while (!atomic_load(&all->goes_on))
			;
	}
	TOWN_MUST(waitpid(child, &status, 0) == child && status == 0);
	town_close(fd);
}

static void
a_child_goes_on_meanwhile(void **state)
{
	pid_t server, program;

	(void)state;
	begin();
	server = town_start(TOWN_B, answer_pieces, NULL);
	program = town_start(TOWN_A, compute, NULL);
	town_await(program);
	town_await(server);
	end();
}

/* ---- it is killed ---- */

static void
await_kill(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void
read_slowly(void *arg)
{
	int listener = town_listen(PORT + 1, 8), fd = town_accept(listener);

	(void)arg;
	for (uint64_t i = 0; i < 20; i++) {
		town_receive(fd, MANY / 20, i * (MANY / 20), 1);
		usleep(10000);
	}
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

static void
write_and_die(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 1);

	(void)arg;
	town_send(fd, MANY / 20 * 20, 0, 1);
	raise(SIGKILL);
}

static void
what_a_killed_program_has_written_arrives(void **state)
{
	pid_t server = town_start(TOWN_B, read_slowly, NULL);

	(void)state;
	await_kill(town_start(TOWN_A, write_and_die, NULL));
	town_await(server);
}

/* What is written: half of all values before the kill, and the others after it. */
static void
fill_before(uint8_t *bytes, size_t n, uint64_t from)
{
	town_fill(bytes, n, from, 1);
	for (size_t i = 0; i < n; i++)
		bytes[i] &= 0x7f;
}

static void
fill_after(uint8_t *bytes, size_t n, uint64_t from)
{
	town_fill(bytes, n, from, 3);
	for (size_t i = 0; i < n; i++)
		bytes[i] |= 0x80;
}

/* All that a call has sent arrives before what the next program sends; one that has not returned
 * may have sent a part. */
static void
find_kill(const uint8_t *bytes, size_t n, uint64_t at)
{
	size_t i = 0;

	while (i < n && bytes[i] < 0x80)
		i++;
	if (i == n)
		return;
	TOWN_MUST(at + i >= atomic_load(&all->sent) && at + i <= atomic_load(&all->sent) + PIECE);
	atomic_store(&all->killed_at, at + i);
}

/* As many bytes come back as have come, until the end. */
static void
answer_all(void *arg)
{
	int listener = town_listen(be_of(arg), 8), fd = town_accept(listener);
	uint8_t bytes[PIECE], expected[PIECE];
	uint64_t at = 0;
	ssize_t n;

	while ((n = san_client_recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		uint64_t killed_at;
		size_t before;

		if (atomic_load(&all->killed_at) == NOT_YET)
			find_kill(bytes, (size_t)n, at);
		killed_at = atomic_load(&all->killed_at);
		before = at >= killed_at                ? 0
			 : at + (uint64_t)n > killed_at ? killed_at - at
							: (size_t)n;
		fill_before(expected, before, at);
		fill_after(expected + before, (size_t)n - before, at + before - killed_at);
		TOWN_MUST(memcmp(bytes, expected, (size_t)n) == 0);
		town_send(fd, (size_t)n, at, 2);
		at += (uint64_t)n;
	}
	TOWN_MUST(n == 0);
	town_close(fd);
	close(listener);
}

/* It writes and reads until it is killed. */
static void
talk(int fd)
{
	uint8_t bytes[PIECE];
	ssize_t n;

	for (;;) {
		fill_before(bytes, PIECE, atomic_load(&all->sent));
		n = san_client_send(fd, bytes, PIECE, 0);
		TOWN_MUST(n > 0);
		atomic_fetch_add(&all->sent, (uint64_t)n);
		n = san_client_recv(fd, bytes, PIECE, MSG_DONTWAIT);
		TOWN_MUST(n > 0 || errno == EAGAIN);
		if (n > 0)
			atomic_fetch_add(&all->read, (uint64_t)n);
	}
}

/* Where the next bytes come from: a call that has not returned may have read some. */
static uint64_t
find_place(const uint8_t *bytes, size_t n)
{
	uint64_t from = atomic_load(&all->read);
	static uint8_t expected[ANY];

	for (uint64_t at = from; at <= from + PIECE; at++) {
		town_fill(expected, n, at, 2);
		if (memcmp(bytes, expected, n) == 0)
			return at;
	}
	return UINT64_MAX;
}

/* Go on, and read what the killed program has left. */
static void
inherit(int fd)
{
	static uint8_t bytes[ANY];
	uint64_t at, killed_at, until = test_ns() + TEST_PATIENCE_NS;
	ssize_t n;

	town_adopt(fd);
	fill_after(bytes, PIECE, 0);
	TOWN_MUST(san_client_send(fd, bytes, PIECE, 0) == PIECE);
	n = san_client_recv(fd, bytes, sizeof(bytes), 0);
	TOWN_MUST(n != 0);
	TOWN_MUST(n > 0);
	at = find_place(bytes, (size_t)n);
	TOWN_MUST(at != UINT64_MAX);
	at += (uint64_t)n;
	while ((killed_at = atomic_load(&all->killed_at)) == NOT_YET)
		TOWN_MUST(test_ns() < until);
	TOWN_MUST(at <= killed_at + PIECE);
	town_receive(fd, killed_at + PIECE - at, at, 2);
	TOWN_MUST(san_client_shutdown(fd, SHUT_WR) == 0);
	town_expect_end(fd);
	town_close(fd);
}

static void
survive(void *arg)
{
	int fd = town_connect(TOWN_B, be_of(arg)), ways[2], status;
	pid_t child;
	char byte;

	TOWN_MUST(pipe(ways) == 0);
	child = fork();
	TOWN_MUST(child >= 0);
	if (child == 0) {
		town_adopt(fd);
		TOWN_MUST(write(ways[1], "x", 1) == 1);
		talk(fd);
	}
	TOWN_MUST(read(ways[0], &byte, 1) == 1);
	usleep(all->lives_us);
	TOWN_MUST(kill(child, SIGKILL) == 0);
	TOWN_MUST(waitpid(child, &status, 0) == child);
	inherit(fd);
}

/* More at once than there are cores: it may wait for a core wherever it is. */
static void
whoever_has_it_is_killed_at_any_moment(void **state)
{
	unsigned random = 1;

	(void)state;
	for (uint32_t i = 0; i < KILLS; i++) {
		pid_t server[AT_ONCE], program[AT_ONCE];

		begin();
		for (unsigned k = 0; k < AT_ONCE; k++) {
			all[k].lives_us = (unsigned)rand_r(&random) % MOST_US;
			all[k].killed_at = NOT_YET;
			server[k] = town_start(TOWN_B, answer_all, &k);
			program[k] = town_start(TOWN_A, survive, &k);
		}
		for (unsigned k = 0; k < AT_ONCE; k++) {
			town_await(program[k]);
			town_await(server[k]);
		}
		end();
	}
}

/* ---- it is killed while it closes ---- */

/* Until it is killed: where packets are lost it may have accepted what its peer has given up. */
static void
accept_all(void *arg)
{
	int listener = town_listen(PORT, 8);
	char byte;

	(void)arg;
	for (;;) {
		int fd = town_accept(listener);

		while (san_client_recv(fd, &byte, 1, 0) > 0)
			;
		town_close(fd);
		atomic_fetch_add(&all->read, 1);
	}
}

static void
close_and_say_so(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);

	(void)arg;
	TOWN_MUST(san_client_send(fd, "x", 1, 0) == 1);
	atomic_store(&all->computes, true);
	san_client_close(fd);
	for (;;)
		pause();
}

/* The broker goes on: it forgets the program once, which leaves and is gone. */
static void
whoever_closes_it_is_killed_at_any_moment(void **state)
{
	unsigned random = 1;
	pid_t server;

	(void)state;
	begin();
	server = town_start(TOWN_B, accept_all, NULL);
	for (unsigned i = 0; i < CLOSES; i++) {
		pid_t program = town_start(TOWN_A, close_and_say_so, NULL);
		uint64_t until = test_ns() + TEST_PATIENCE_NS;

		while (!atomic_load(&all->computes))
			assert_true(test_ns() < until);
		until = test_ns() + (uint64_t)rand_r(&random) % CLOSING_NS;
		while (test_ns() < until)
			;
		assert_int_equal(kill(program, SIGKILL), 0);
		await_kill(program);
		atomic_store(&all->computes, false);
	}
	for (uint64_t until = test_ns() + TEST_PATIENCE_NS; atomic_load(&all->read) < CLOSES;)
		assert_true(test_ns() < until);
	assert_int_equal(kill(server, SIGKILL), 0);
	await_kill(server);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_goes_on_meanwhile),
		cmocka_unit_test(what_a_killed_program_has_written_arrives),
		cmocka_unit_test(whoever_has_it_is_killed_at_any_moment),
		cmocka_unit_test(whoever_closes_it_is_killed_at_any_moment),
	};

	return TOWN_RUN(tests);
}
