/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets that several programs have: by fork(), by exec(), by SCM_RIGHTS; listeners of several
 * processes; and what a program leaves behind (S2, S9, S12, S13, S17, S18, S19, S23).
 * Start with a_child_goes_on().
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "town.h"

enum {
	PORT = 20100,
	PIECE = 50000,
	WRITERS = 4,
	ROUNDS = 50,
	SERVERS = 8,
	CONNECTIONS = 32,
	MANY = 10 << 20,
	TURNS = 400,
};

static void
await_child(pid_t pid)
{
	int status;

	TOWN_MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
pair(void (*server)(void *), void (*program)(void *))
{
	pid_t pids[2] = {town_start(TOWN_B, server, NULL), town_start(TOWN_A, program, NULL)};

	town_await(pids[1]);
	town_await(pids[0]);
}

/* ---- one after the other ---- */

static _Atomic uint32_t *turn;

static void
send_back(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);
	char byte;

	(void)arg;
	while (san_client_recv(fd, &byte, 1, 0) == 1)
		TOWN_MUST(san_client_send(fd, &byte, 1, 0) == 1);
	town_close(fd);
	close(listener);
}

/* Who waits for its turn makes no call, and so must have nothing that others wait for. */
static void
take_turns(int fd, uint32_t mine)
{
	char byte = 0;

	for (uint32_t i = mine; i < TURNS; i += 2) {
		while (atomic_load(turn) != i)
			sched_yield();
		TOWN_MUST(san_client_send(fd, &byte, 1, 0) == 1);
		TOWN_MUST(san_client_recv(fd, &byte, 1, 0) == 1);
		atomic_store(turn, i + 1);
	}
}

static void
take_turns_with_a_child(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	pid_t pid = fork();

	(void)arg;
	TOWN_MUST(pid >= 0);
	if (pid == 0) {
		town_adopt(fd);
		take_turns(fd, 1);
		town_leave(fd);
	}
	take_turns(fd, 0);
	await_child(pid);
	town_close(fd);
}

static void
who_has_finished_keeps_no_turn(void **state)
{
	(void)state;
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(turn != MAP_FAILED);
	pair(send_back, take_turns_with_a_child);
	assert_int_equal(munmap(turn, sizeof(*turn)), 0);
}

static void
serve_with_a_child(void *arg)
{
	int listener = town_listen(PORT, 8), fd = accept(listener, NULL, NULL);
	pid_t pid = fork();

	(void)arg;
	TOWN_MUST(fd >= 0 && pid >= 0);
	if (pid == 0) {
		town_adopt(fd);
		town_receive(fd, PIECE, 0, 1);
		town_send(fd, PIECE, 0, 2);
		town_leave(fd);
	}
	await_child(pid);
	TOWN_MUST(san_client_adopt(fd) == SAN_IS_RDMA);
	town_receive(fd, PIECE, PIECE, 1);
	town_send(fd, PIECE, PIECE, 2);
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

/* The end that connects passes on as well. */
static void
ask_with_a_child(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	pid_t pid = fork();

	(void)arg;
	TOWN_MUST(pid >= 0);
	if (pid == 0) {
		town_adopt(fd);
		town_send(fd, PIECE, 0, 1);
		town_receive(fd, PIECE, 0, 2);
		town_leave(fd);
	}
	await_child(pid);
	town_send(fd, PIECE, PIECE, 1);
	town_receive(fd, PIECE, PIECE, 2);
	town_close(fd);
}

/* S2, S12 */
static void
a_child_goes_on(void **state)
{
	(void)state;
	pair(serve_with_a_child, ask_with_a_child);
}

/* ---- at the same time ---- */

/* S13: the parent waits for bytes, the child writes. */
static void
serve_requests(void *arg)
{
	int listener = town_listen(PORT + 1, 8), fd = town_accept(listener);

	(void)arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		town_receive(fd, 100, i * 100, 1);
		town_send(fd, 100, i * 100, 2);
	}
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

static void
read_and_write_apart(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 1), ready[2];
	pid_t pid;
	char byte;

	(void)arg;
	TOWN_MUST(pipe(ready) == 0);
	pid = fork();
	TOWN_MUST(pid >= 0);
	if (pid == 0) {
		town_adopt(fd);
		for (uint32_t i = 0; i < ROUNDS; i++) {
			TOWN_MUST(read(ready[0], &byte, 1) == 1);
			usleep(1000); /* the parent waits by now, or soon */
			town_send(fd, 100, i * 100, 1);
		}
		town_leave(fd);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		TOWN_MUST(write(ready[1], "g", 1) == 1);
		town_receive(fd, 100, i * 100, 2);
	}
	await_child(pid);
	town_close(fd);
}

static void
one_reads_while_the_other_writes(void **state)
{
	(void)state;
	pair(serve_requests, read_and_write_apart);
}

/* S9: who writes when is known; so is the order at the other end. */
static void
check_records(void *arg)
{
	int listener = town_listen(PORT + 2, 8), fd = town_accept(listener);
	uint32_t record;

	(void)arg;
	for (uint32_t i = 0; i < WRITERS * ROUNDS; i++) {
		TOWN_MUST(san_client_recv(fd, &record, sizeof(record), MSG_WAITALL) ==
			  sizeof(record));
		TOWN_MUST(record == i);
	}
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

/* A token of a pipe goes round. */
static void
write_in_turn(int fd, uint32_t me, int (*pipes)[2])
{
	uint32_t record;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		TOWN_MUST(read(pipes[me][0], &record, sizeof(record)) == sizeof(record));
		TOWN_MUST(san_client_send(fd, &record, sizeof(record), 0) == sizeof(record));
		record++;
		TOWN_MUST(write(pipes[(me + 1) % WRITERS][1], &record, sizeof(record)) ==
			  sizeof(record));
	}
}

static void
write_records(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 2), pipes[WRITERS][2];
	uint32_t first = 0;
	pid_t pid[WRITERS];

	(void)arg;
	for (uint32_t i = 0; i < WRITERS; i++)
		TOWN_MUST(pipe(pipes[i]) == 0);
	TOWN_MUST(write(pipes[0][1], &first, sizeof(first)) == sizeof(first));
	for (uint32_t i = 0; i < WRITERS; i++) {
		pid[i] = fork();
		TOWN_MUST(pid[i] >= 0);
		if (pid[i] != 0)
			continue;
		town_adopt(fd);
		write_in_turn(fd, i, pipes);
		town_leave(fd);
	}
	for (uint32_t i = 0; i < WRITERS; i++)
		await_child(pid[i]);
	town_close(fd);
}

/* In the order of their calls, whoever makes them. */
static void
writes_have_their_order(void **state)
{
	(void)state;
	pair(check_records, write_records);
}

/* ---- listeners of several processes: S17 ---- */

/* Each connection is accepted once: it brings its number, and has it back. */
static void
accept_some(int listener)
{
	uint32_t number;

	for (uint32_t i = 0; i < CONNECTIONS / SERVERS; i++) {
		int fd = town_accept(listener);

		TOWN_MUST(san_client_recv(fd, &number, sizeof(number), MSG_WAITALL) ==
			  sizeof(number));
		TOWN_MUST(san_client_send(fd, &number, sizeof(number), 0) == sizeof(number));
		town_expect_end(fd);
		town_close(fd);
	}
}

/* Whoever has made the listener ends first. */
static void
serve_with_many(void *arg)
{
	int listener = town_listen(PORT + 3, CONNECTIONS);
	pid_t pid[SERVERS];

	(void)arg;
	for (uint32_t i = 0; i < SERVERS; i++) {
		pid[i] = fork();
		TOWN_MUST(pid[i] >= 0);
		if (pid[i] != 0)
			continue;
		town_attach();
		accept_some(listener);
		san_client_stop();
		_exit(0);
	}
	close(listener);
	san_client_stop();
	for (uint32_t i = 0; i < SERVERS; i++)
		await_child(pid[i]);
	_exit(0);
}

static void
connect_often(void *arg)
{
	int fd[CONNECTIONS];
	uint32_t number;

	(void)arg;
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		fd[i] = town_connect(TOWN_B, PORT + 3);
		TOWN_MUST(san_client_send(fd[i], &i, sizeof(i), 0) == sizeof(i));
	}
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		TOWN_MUST(san_client_recv(fd[i], &number, sizeof(number), MSG_WAITALL) ==
			  sizeof(number));
		TOWN_MUST(number == i);
		town_close(fd[i]);
	}
}

static void
many_processes_accept(void **state)
{
	(void)state;
	pair(serve_with_many, connect_often);
}

/* ---- what a program leaves behind: S18, S19 ---- */

static void
read_slowly(void *arg)
{
	int listener = town_listen(PORT + 4, 8), fd = town_accept(listener);

	(void)arg;
	for (uint32_t i = 0; i < 20; i++) {
		town_receive(fd, MANY / 20, (uint64_t)i * (MANY / 20), 1);
		usleep(10000);
	}
	town_receive(fd, MANY % 20, MANY - MANY % 20, 1);
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

static void
write_and_end(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 4);

	(void)arg;
	town_send(fd, MANY, 0, 1);
	town_close(fd);
}

static void
what_was_written_arrives(void **state)
{
	(void)state;
	pair(read_slowly, write_and_end);
}

static void
close_unread(void *arg)
{
	int listener = town_listen(PORT + 5, 8), fd = town_accept(listener);

	(void)arg;
	town_receive(fd, 1, 0, 1);
	town_close(fd);
	close(listener);
}

static void
expect_reset(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 5);
	char byte;

	(void)arg;
	town_send(fd, 1000, 0, 1);
	TOWN_MUST(san_client_recv(fd, &byte, 1, 0) == -1 && errno == ECONNRESET);
	town_close(fd);
}

static void
what_was_not_read_is_a_reset(void **state)
{
	(void)state;
	pair(close_unread, expect_reset);
}

/* ---- other ways: S22, S23 ---- */

/* The program that exec() has begun: its standard input is the socket. */
static int
be_executed(void)
{
	TOWN_MUST(san_client_start(getenv("TOWN_BROKER")) == 0);
	TOWN_MUST(san_client_adopt(STDIN_FILENO) == SAN_IS_RDMA);
	town_receive(STDIN_FILENO, PIECE, 0, 1);
	town_send(STDIN_FILENO, PIECE, 0, 2);
	town_close(STDIN_FILENO);
	san_client_stop();
	return 0;
}

static void
serve_as_inetd(void *arg)
{
	int listener = town_listen(PORT + 6, 8), fd = accept(listener, NULL, NULL);
	pid_t pid = fork();

	(void)arg;
	TOWN_MUST(fd >= 0 && pid >= 0);
	if (pid == 0) {
		TOWN_MUST(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
		close(fd);
		setenv("TOWN_BROKER", town_broker(), 1);
		execl("/proc/self/exe", "sharing", "executed", NULL);
		_exit(1);
	}
	close(fd);
	await_child(pid);
	close(listener);
}

static void
ask_executed(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 6);

	(void)arg;
	town_send(fd, PIECE, 0, 1);
	town_receive(fd, PIECE, 0, 2);
	town_expect_end(fd);
	town_close(fd);
}

static void
an_executed_program_goes_on(void **state)
{
	(void)state;
	pair(serve_as_inetd, ask_executed);
}

union with_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static struct msghdr
message_of(struct iovec *part, union with_fd *control)
{
	return (struct msghdr){.msg_iov = part,
			       .msg_iovlen = 1,
			       .msg_control = control->bytes,
			       .msg_controllen = sizeof(control->bytes)};
}

static void
send_descriptor(int socket, int fd)
{
	char byte = 'd';
	struct iovec part = {&byte, 1};
	union with_fd control = {.bytes = {0}};
	struct msghdr m = message_of(&part, &control);
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	TOWN_MUST(sendmsg(socket, &m, 0) == 1);
}

static int
receive_descriptor(int socket)
{
	char byte;
	struct iovec part = {&byte, 1};
	union with_fd control;
	struct msghdr m = message_of(&part, &control);
	int fd;

	TOWN_MUST(recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m) != NULL);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* It has read some, sends the descriptor away, and closes its own while that is under way. */
static void
serve_and_hand_on(void *arg)
{
	int listener = town_listen(PORT + 7, 8), ways[2], fd;
	pid_t pid;

	(void)arg;
	TOWN_MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ways) == 0);
	pid = fork();
	TOWN_MUST(pid >= 0);
	if (pid == 0) {
		close(listener);
		usleep(100000); /* the broker thinks after 500 ms that somebody passes by the switch
				 */
		fd = receive_descriptor(ways[1]);
		town_adopt(fd);
		town_receive(fd, PIECE, PIECE, 1);
		town_send(fd, PIECE, PIECE, 2);
		town_leave(fd);
	}
	fd = town_accept(listener);
	town_receive(fd, PIECE, 0, 1);
	town_send(fd, PIECE, 0, 2);
	send_descriptor(ways[0], fd);
	town_close(fd);
	await_child(pid);
	close(listener);
}

static void
ask_twice(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 7);

	(void)arg;
	town_send(fd, PIECE, 0, 1);
	town_receive(fd, PIECE, 0, 2);
	town_send(fd, PIECE, PIECE, 1);
	town_receive(fd, PIECE, PIECE, 2);
	town_expect_end(fd);
	town_close(fd);
}

static void
a_descriptor_that_is_sent_goes_on(void **state)
{
	(void)state;
	pair(serve_and_hand_on, ask_twice);
}

/* ... that nobody receives is closed. */
static void
serve_and_drop(void *arg)
{
	int listener = town_listen(PORT + 8, 8), fd = town_accept(listener), ways[2];

	(void)arg;
	TOWN_MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ways) == 0);
	town_receive(fd, PIECE, 0, 1);
	send_descriptor(ways[0], fd);
	town_close(fd);
	usleep(100000);
	close(ways[0]);
	close(ways[1]);
	close(listener);
}

static void
ask_dropped(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 8);

	(void)arg;
	town_send(fd, PIECE, 0, 1);
	town_expect_end(fd);
	town_close(fd);
}

static void
a_descriptor_that_is_dropped_is_closed(void **state)
{
	(void)state;
	pair(serve_and_drop, ask_dropped);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_goes_on),
		cmocka_unit_test(who_has_finished_keeps_no_turn),
		cmocka_unit_test(one_reads_while_the_other_writes),
		cmocka_unit_test(writes_have_their_order),
		cmocka_unit_test(many_processes_accept),
		cmocka_unit_test(what_was_written_arrives),
		cmocka_unit_test(what_was_not_read_is_a_reset),
		cmocka_unit_test(an_executed_program_goes_on),
		cmocka_unit_test(a_descriptor_that_is_sent_goes_on),
		cmocka_unit_test(a_descriptor_that_is_dropped_is_closed),
	};

	if (argc > 1 && strcmp(argv[1], "executed") == 0)
		return be_executed();
	return TOWN_RUN(tests);
}
