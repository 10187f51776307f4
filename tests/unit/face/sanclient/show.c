/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a broker tells of itself, and what sanstat prints of it. Start with a_session_is_shown().
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "clock.h"
#include "plx_san_control.h"
#include "town.h"

enum {
	PORT = 20300,
	TCP_PORT = 1000, /* no rule */
	BYTES = 30000,
	PIECE = 100,
	PIECES = 50,
	LOOKS = 30,
	ANSWER_BYTES = 65536,
};

static int
channel_to_broker(void)
{
	int fd = san_control_connect(town_broker());

	TOWN_MUST(fd >= 0);
	return fd;
}

static json_t *
show(void)
{
	struct san_control m = {.kind = SAN_CONTROL_SHOW, .number = 7};
	int channel = channel_to_broker(), memory;
	struct pollfd answer = {.fd = channel, .events = POLLIN};
	static char text[ANSWER_BYTES];
	json_t *all;
	ssize_t n;

	TOWN_MUST(san_control_send(channel, &m, -1) && poll(&answer, 1, 10000) == 1);
	TOWN_MUST(san_control_receive(channel, &m, &memory) == SAN_CONTROL_GOT);
	TOWN_MUST(m.kind == SAN_CONTROL_ANSWER && m.number == 7 && m.error == 0 && memory >= 0);
	n = pread(memory, text, sizeof(text) - 1, 0);
	TOWN_MUST(n > 0);
	text[n] = '\0';
	all = json_loads(text, 0, NULL);
	TOWN_MUST(json_is_object(all));
	close(memory);
	close(channel);
	return all;
}

static json_int_t
count_of(const json_t *object, const char *name)
{
	TOWN_MUST(json_is_integer(json_object_get(object, name)));
	return json_integer_value(json_object_get(object, name));
}

static bool
says(const json_t *object, const char *name, const char *text)
{
	const char *said = json_string_value(json_object_get(object, name));

	return said != NULL && strcmp(said, text) == 0;
}

/* ---- a session ---- */

static void
serve(void *arg)
{
	int listener = town_listen(PORT, 8), fd = town_accept(listener);

	(void)arg;
	town_receive(fd, BYTES, 0, 1);
	town_send(fd, BYTES / 2, 0, 2);
	town_expect_end(fd);
	san_client_close(fd);
	close(fd);
	close(listener);
}

static const json_t *
only_session(const json_t *all)
{
	const json_t *sessions = json_object_get(all, "sessions");
	const json_t *session = json_array_get(sessions, 0);

	TOWN_MUST(json_array_size(sessions) == 1);
	TOWN_MUST(says(session, "state", "up") && says(session, "adapter", "a"));
	TOWN_MUST(strncmp(json_string_value(json_object_get(session, "peer")), "10.79.0.2:2030",
			  14) == 0);
	TOWN_MUST(json_is_false(json_object_get(session, "accepted")));
	TOWN_MUST(count_of(session, "sent") <= BYTES + PIECES * PIECE);
	TOWN_MUST(count_of(session, "received") >= BYTES / 2);
	TOWN_MUST(count_of(session, "credits") <= 16 && count_of(session, "swaps") >= 1);
	return session;
}

static void
look_at_session(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	const json_t *programs;
	json_t *all;

	(void)arg;
	town_send(fd, BYTES, 0, 1);
	town_receive(fd, BYTES / 2, 0, 2);
	all = show();
	programs = json_object_get(only_session(all), "programs");
	TOWN_MUST(json_array_size(programs) == 1 &&
		  json_integer_value(json_array_get(programs, 0)) == getpid());
	TOWN_MUST(count_of(all, "programs") >= 2); /* and who asks */
	json_decref(all);
	/* Another user learns that there is one, and not which process has it. */
	TOWN_MUST(chmod(town_broker(), 0777) == 0);
	TOWN_MUST(setresuid(65534, 65534, 65534) == 0);
	all = show();
	programs = json_object_get(only_session(all), "programs");
	TOWN_MUST(json_array_size(programs) == 1 && json_is_null(json_array_get(programs, 0)));
	json_decref(all);
	san_client_close(fd);
	close(fd);
}

static void
a_session_is_shown(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL);

	(void)state;
	town_await(town_start(TOWN_A, look_at_session, NULL));
	town_await(server);
}

/* ---- who shares one ---- */

static json_int_t
swaps(void)
{
	json_t *all = show();
	json_int_t n = count_of(only_session(all), "swaps");

	json_decref(all);
	return n;
}

static bool
has_control(pid_t pid)
{
	json_t *all = show();
	bool is = json_integer_value(json_object_get(only_session(all), "controller")) == pid;

	json_decref(all);
	return is;
}

static size_t
programs(void)
{
	json_t *all = show();
	size_t n = json_array_size(json_object_get(only_session(all), "programs"));

	json_decref(all);
	return n;
}

/* Is it in a system call that waits? */
static bool
sleeps(pid_t pid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	TOWN_MUST(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
	fclose(file);
	return state == 'S';
}

/* It waits for the peer, and not for an answer of the host, which is there soon. */
static bool
sleeps_long(pid_t pid)
{
	for (uint32_t i = 0; i < LOOKS; i++) {
		if (!sleeps(pid))
			return false;
		usleep(1000);
	}
	return true;
}

#define AWAIT(condition)                                      \
	do {                                                  \
		uint64_t late = test_ns() + TEST_PATIENCE_NS; \
                                                              \
		while (!(condition)) {                        \
			TOWN_MUST(test_ns() < late);          \
			usleep(1000);                         \
		}                                             \
	} while (0)

static void
exchange(int fd, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		town_send(fd, PIECE, i * PIECE, 1);
		town_receive(fd, PIECE, i * PIECE, 2);
	}
}

static void
answer_pieces(void *arg)
{
	int listener = town_listen(PORT + 1, 8), fd = town_accept(listener);

	(void)arg;
	town_receive(fd, BYTES, 0, 1);
	town_send(fd, BYTES / 2, 0, 2);
	for (uint32_t i = 0; i < PIECES; i++) {
		town_receive(fd, PIECE, i * PIECE, 1);
		town_send(fd, PIECE, i * PIECE, 2);
	}
	town_expect_end(fd);
	town_close(fd);
	close(listener);
}

/* A child has the socket, and does nothing with it. */
static void
have_a_child(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 1), copy, status;
	json_int_t before;
	pid_t child;

	(void)arg;
	town_send(fd, BYTES, 0, 1);
	town_receive(fd, BYTES / 2, 0, 2);
	before = swaps();
	child = fork();
	TOWN_MUST(child >= 0);
	if (child == 0)
		pause();
	copy = dup(fd);
	TOWN_MUST(copy >= 0);
	san_client_dup(fd, copy);
	TOWN_MUST(swaps() == before);
	exchange(fd, 0, PIECES);
	TOWN_MUST(swaps() == before);
	TOWN_MUST(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
	town_close(copy);
	town_close(fd);
}

/* S1 */
static void
who_only_has_it_takes_nothing(void **state)
{
	pid_t server = town_start(TOWN_B, answer_pieces, NULL);

	(void)state;
	town_await(town_start(TOWN_A, have_a_child, NULL));
	town_await(server);
}

/* A child waits for bytes, and is killed. */
static void
lose_a_reader(void *arg)
{
	int fd = town_connect(TOWN_B, PORT + 1), status;
	json_int_t before;
	pid_t child;
	char byte;

	(void)arg;
	town_send(fd, BYTES, 0, 1);
	town_receive(fd, BYTES / 2, 0, 2);
	child = fork();
	TOWN_MUST(child >= 0);
	if (child == 0) {
		town_adopt(fd);
		_exit(san_client_recv(fd, &byte, 1, 0) != 1);
	}
	AWAIT(has_control(child));
	AWAIT(sleeps_long(child));
	TOWN_MUST(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
	AWAIT(programs() == 1);
	exchange(fd, 0, 1);
	before = swaps();
	exchange(fd, 1, PIECES);
	TOWN_MUST(swaps() == before);
	town_close(fd);
}

static void
who_is_killed_while_it_waits_waits_no_more(void **state)
{
	pid_t server = town_start(TOWN_B, answer_pieces, NULL);

	(void)state;
	town_await(town_start(TOWN_A, lose_a_reader, NULL));
	town_await(server);
}

/* ---- what is left to the kernel ---- */

static void
connect_by_tcp(const char *text, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	TOWN_MUST(fd >= 0 && inet_pton(AF_INET, text, &address.sin_addr) == 1);
	TOWN_MUST(san_client_connect(fd, (struct sockaddr *)&address, sizeof(address)) ==
		  SAN_IS_TCP);
	close(fd);
}

static void
look_at_tcp(void *arg)
{
	static const char no_rule[] = "no rule says RDMA";
	json_int_t before, rule;
	const json_t *last;
	json_t *all = show();

	(void)arg;
	before = count_of(all, "tcp");
	rule = count_of(json_object_get(all, "tcp_why"), no_rule);
	json_decref(all);
	connect_by_tcp(town_address(TOWN_B), TCP_PORT);
	connect_by_tcp("192.0.2.1", PORT);
	all = show();
	TOWN_MUST(count_of(all, "tcp") == before + 2);
	TOWN_MUST(count_of(json_object_get(all, "tcp_why"), no_rule) == rule + 1);
	last = json_array_get(json_object_get(all, "tcp_last"), 0);
	TOWN_MUST(says(last, "peer", "192.0.2.1:20300"));
	TOWN_MUST(says(last, "why", "no adapter of this host can be used for this address"));
	json_decref(all);
}

static void
what_the_kernel_was_left_to_connect_is_shown_with_its_reason(void **state)
{
	(void)state;
	town_await(town_start(TOWN_A, look_at_tcp, NULL));
}

/* ---- sanstat ---- */

/* What it prints, with `options`. */
static void
run_sanstat(const char *options, char *text, size_t bytes, int status)
{
	char command[512];
	FILE *output;
	size_t n;

	snprintf(command, sizeof(command), "\"$SANSTAT\" --socket %s %s 2>&1", town_broker(),
		 options);
	output = popen(command, "re");
	TOWN_MUST(output != NULL);
	n = fread(text, 1, bytes - 1, output);
	text[n] = '\0';
	TOWN_MUST(pclose(output) == status << 8);
}

static void
look_by_sanstat(void *arg)
{
	int fd = town_connect(TOWN_B, PORT);
	static char text[ANSWER_BYTES];
	char pid[16];
	json_t *all;

	(void)arg;
	town_send(fd, BYTES, 0, 1);
	town_receive(fd, BYTES / 2, 0, 2);
	run_sanstat("", text, sizeof(text), 0);
	snprintf(pid, sizeof(pid), " %d ", getpid());
	TOWN_MUST(strstr(text, "sessions 1, ") != NULL && strstr(text, pid) != NULL);
	TOWN_MUST(strstr(text, " 10.79.0.2:20300 ") != NULL && strstr(text, " 15000 ") != NULL);
	TOWN_MUST(strstr(text, "192.0.2.1:20300") != NULL); /* of the test before */
	run_sanstat("--json", text, sizeof(text), 0);
	all = json_loads(text, 0, NULL);
	(void)only_session(all);
	json_decref(all);
	run_sanstat("--socket /nonexistent", text, sizeof(text), 1);
	TOWN_MUST(strstr(text, "nobody serves sockets at /nonexistent") != NULL);
	san_client_close(fd);
	close(fd);
}

static void
sanstat_prints_lines_and_json(void **state)
{
	pid_t server = town_start(TOWN_B, serve, NULL);

	(void)state;
	town_await(town_start(TOWN_A, look_by_sanstat, NULL));
	town_await(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_shown),
		cmocka_unit_test(who_only_has_it_takes_nothing),
		cmocka_unit_test(who_is_killed_while_it_waits_waits_no_more),
		cmocka_unit_test(what_the_kernel_was_left_to_connect_is_shown_with_its_reason),
		cmocka_unit_test(sanstat_prints_lines_and_json),
	};

	return TOWN_RUN(tests);
}
