/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that a broker must not believe: what they say that is none of theirs, or no message at
 * all, harms nobody else; what they write into a session's memory ends that session at most.
 * Start with a_program_says_anything().
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "clock.h"
#include "plx_san_control.h"
#include "plx_san_segment.h"
#include "town.h"

enum {
	PORT = 20200,
	PIECE = 20000,
	SAYINGS = 2000,
	SESSIONS = 64, /* numbers that are tried */
};

static int
connect_to_broker(void)
{
	int fd = san_control_connect(town_broker());

	TOWN_MUST(fd >= 0);
	return fd;
}

static bool
is_closed(int fd)
{
	char byte[sizeof(struct san_control)];
	ssize_t got;

	do
		got = recv(fd, byte, sizeof(byte), 0);
	while (got > 0);
	return got == 0 || errno == ECONNRESET;
}

static void
end(int fd)
{
	san_client_close(fd);
	close(fd);
}

/* ---- somebody else's connection, meanwhile ---- */

static void
serve(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);

	(void)arg;
	for (uint32_t i = 0; i < 50; i++) {
		town_receive(fd, PIECE, (uint64_t)i * PIECE, 1);
		town_send(fd, PIECE, (uint64_t)i * PIECE, 2);
	}
	town_expect_end(fd);
	end(fd);
	close(listener);
}

static void
talk(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);

	(void)arg;
	for (uint32_t i = 0; i < 50; i++) {
		town_send(fd, PIECE, (uint64_t)i * PIECE, 1);
		town_receive(fd, PIECE, (uint64_t)i * PIECE, 2);
		usleep(5000);
	}
	end(fd);
}

/* ---- what is said ---- */

/* Of sessions that it does not hold, all that a program says of one. */
static void
say_of_others(void *arg)
{
	static const enum san_control_kind kinds[] = {SAN_CONTROL_ASK,  SAN_CONTROL_DONE,
						      SAN_CONTROL_GAVE, SAN_CONTROL_TOOK,
						      SAN_CONTROL_IDLE, SAN_CONTROL_CLOSE};
	int fd = connect_to_broker();

	(void)arg;
	for (uint32_t i = 0; i < SAYINGS; i++) {
		const struct san_control m = {.kind = kinds[i % PLX_COUNT_OF(kinds)],
					      .session = i % SESSIONS,
					      .process = i,
					      .token = i * 7,
					      .error = (int)(i % 3)};

		TOWN_MUST(san_control_send(fd, &m, -1));
	}
	close(fd);
}

static void
say_what_is_none(void *arg)
{
	struct san_control m = {.version = SAN_CONTROL_VERSION};
	int fd;

	(void)arg;
	/* Of wrong lengths; another version; kinds that are none. */
	for (size_t n = 1; n < sizeof(m) + 8; n += 7) {
		uint8_t bytes[sizeof(m) + 8] = {0};

		fd = connect_to_broker();
		TOWN_MUST(send(fd, bytes, n, 0) == (ssize_t)n);
		TOWN_MUST(is_closed(fd));
		close(fd);
	}
	for (uint32_t kind = 0; kind < 300; kind++) {
		m.kind = kind;
		m.version = SAN_CONTROL_VERSION + (kind >= SAN_CONTROL_COUNT ? 0 : 1);
		fd = connect_to_broker();
		TOWN_MUST(send(fd, &m, sizeof(m), 0) == sizeof(m));
		TOWN_MUST(is_closed(fd));
		close(fd);
	}
	/* Descriptors of the wrong kind. */
	for (uint32_t kind = SAN_CONTROL_CONNECT; kind <= SAN_CONTROL_FIND; kind++) {
		m = (struct san_control){.kind = kind, .number = 1};
		m.peer.ip.version = 9;
		m.peer.port = PORT + 100;
		fd = connect_to_broker();
		TOWN_MUST(san_control_send(fd, &m, fd));
		TOWN_MUST(recv(fd, &m, sizeof(m), 0) == sizeof(m));
		TOWN_MUST(m.kind == SAN_CONTROL_ANSWER && m.error != 0);
		close(fd);
	}
}

static void
a_program_says_anything(void **state)
{
	void (*const sayings[])(void *arg) = {say_of_others, say_what_is_none};
	pid_t server = town_start(TOWN_B, serve, NULL), program = town_start(TOWN_A, talk, NULL);

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(sayings); i++) {
		town_await(town_start(TOWN_A, sayings[i], NULL));
		town_await(town_start(TOWN_B, sayings[i], NULL));
	}
	town_await(program);
	town_await(server);
}

/* ---- what is written ---- */

static void
read_reset(int fd)
{
	uint8_t bytes[1000];
	ssize_t got;

	do
		got = san_client_recv(fd, bytes, sizeof(bytes), 0);
	while (got > 0);
	TOWN_MUST(got == -1 && errno == ECONNRESET);
	end(fd);
}

/* It greets: before, the other end does nothing that resets the connection. */
static void
serve_reset(void *arg)
{
	int listener = town_listen(PORT + 1, 8), fd = town_accept(listener);

	(void)arg;
	town_send(fd, 1, 0, 2);
	read_reset(fd);
	close(listener);
}

/* As a program of the switch, but the state that it leaves is none. */
static void
leave_nonsense(void *arg)
{
	struct san_control m = {.kind = SAN_CONTROL_FIND, .number = 1};
	int fd = town_connect(TOWN_B, PORT + 1), channel = connect_to_broker(), memory;
	uint64_t late = test_ns() + TEST_PATIENCE_NS;
	struct san_segment segment;

	(void)arg;
	town_receive(fd, 1, 0, 2);
	TOWN_MUST(san_control_send(channel, &m, fd));
	while (san_control_receive(channel, &m, &memory) == SAN_CONTROL_NOTHING_YET)
		TOWN_MUST(test_ns() < late);
	TOWN_MUST(m.error == 0 && memory >= 0);
	TOWN_MUST(san_segment_map(&segment, &m.config, memory) == 0);
	/* The broker is called in, takes control between two calls, and finds what was changed. */
	m = (struct san_control){.kind = SAN_CONTROL_IDLE, .session = m.session};
	while (test_ns() < late) {
		(void)san_control_send(channel, &m, -1);
		memset(&segment.shared->records, 0xa5, sizeof(segment.shared->records));
		if (san_client_send(fd, "x", 1, MSG_NOSIGNAL) < 0)
			break;
	}
	TOWN_MUST(errno == ECONNRESET);
	san_segment_free(&segment);
	close(channel);
	end(fd);
}

/* ---- a broker without descriptors ---- */

/* Returns: the error of the answer */
static int
find_session(int channel, int fd)
{
	struct san_control answer, find = {.kind = SAN_CONTROL_FIND, .number = 1};
	int ignored;

	TOWN_MUST(san_control_send(channel, &find, fd));
	TOWN_MUST(poll(&(struct pollfd){channel, POLLIN, 0}, 1, -1) == 1);
	TOWN_MUST(san_control_receive(channel, &answer, &ignored) == SAN_CONTROL_GOT);
	TOWN_MUST(answer.kind == SAN_CONTROL_ANSWER);
	return answer.error;
}

/* Those that are attached are told, and the others are sent away. */
static void
ask_in_vain(void *arg)
{
	const int *go = arg;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT + 2)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), other = connect_to_broker();
	char byte;

	TOWN_MUST(inet_pton(AF_INET, town_address(TOWN_B), &to.sin_addr) == 1);
	/* Both channels are accepted, in their order. */
	TOWN_MUST(find_session(other, fd) == ENOENT);
	TOWN_MUST(write(go[1], "r", 1) == 1 && read(go[2], &byte, 1) == 1);
	TOWN_MUST(san_client_connect(fd, (struct sockaddr *)&to, sizeof(to)) == SAN_IS_TCP);
	TOWN_MUST(find_session(other, fd) == EMFILE);
	TOWN_MUST(is_closed(connect_to_broker()));
	close(other);
	close(fd);
}

static void
a_broker_has_no_descriptors(void **state)
{
	int ready[2], go[2];
	pid_t asker, server, program;
	char byte;

	(void)state;
	assert_true(pipe(ready) == 0 && pipe(go) == 0);
	asker = town_start(TOWN_A, ask_in_vain, (int[]){ready[0], ready[1], go[0]});
	assert_int_equal(read(ready[0], &byte, 1), 1);
	town_limit_broker(TOWN_A, true);
	assert_int_equal(write(go[1], "g", 1), 1);
	town_await(asker);
	town_limit_broker(TOWN_A, false);
	server = town_start(TOWN_B, serve, NULL);
	program = town_start(TOWN_A, talk, NULL);
	town_await(program);
	town_await(server);
}

static void
a_program_writes_anything(void **state)
{
	pid_t server = town_start(TOWN_B, serve_reset, NULL);

	(void)state;
	town_await(town_start(TOWN_A, leave_nonsense, NULL));
	town_await(server);
	/* Nobody else has noticed. */
	server = town_start(TOWN_B, serve, NULL);
	town_await(town_start(TOWN_A, talk, NULL));
	town_await(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_says_anything),
		cmocka_unit_test(a_program_writes_anything),
		cmocka_unit_test(a_broker_has_no_descriptors),
	};

	return TOWN_RUN(tests);
}
