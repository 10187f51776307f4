/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a socket program gets of the switch, over what it gets of the kernel's TCP: two threads of
 * one program on one core, which block in recv() and send() and know of nothing else, with one
 * connection by RDMA and one by TCP, in turns of milliseconds. Then what it costs when two
 * processes use a connection in turns. tests/bench/sockets-town starts it, with a polluxd that has
 * both ends on the other core. It needs two cores, and is not a test. Start at measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "join.h"
#include "must.h"
#include "result.h"

enum {
	PING_BYTES = 64,
	BLOCK_BYTES = 64 << 10,
	CORE = 1,
	ROUNDS = 12,
	TURNS = 100, /* an even number */
	WARM_UP_MS = 10,
	TURN_MS = 100,
	PATIENCE_S = 60,
};

enum transport {
	RDMA,
	TCP,
	TRANSPORTS
};

static const char *const names[TRANSPORTS] = {[RDMA] = "rdma", [TCP] = "tcp"};

struct pair {
	int fd[2];
	_Atomic uint64_t total; /* bytes of a stream; 0: not known yet */
};

static struct pair pair[TRANSPORTS];

/* Of all rounds. */
static double trips_ns[TRANSPORTS][ROUNDS], bits[TRANSPORTS][ROUNDS], turns_ns[TRANSPORTS][ROUNDS];

/* ---- traffic ---- */

static void
put(int fd, const void *bytes, size_t n)
{
	must_be(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n, "send");
}

static void
get(int fd, void *bytes, size_t n)
{
	must_be(recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n, "recv");
}

/* The first byte of the last message is 1. */
static void *
send_back(void *context)
{
	struct pair *of = context;
	uint8_t bytes[PING_BYTES];

	do {
		get(of->fd[1], bytes, sizeof(bytes));
		put(of->fd[1], bytes, sizeof(bytes));
	} while (bytes[0] == 0);
	return NULL;
}

static double
ping(struct pair *of, uint32_t ms)
{
	uint64_t start = ticks(), end = start + ticks_of_ms(ms), trips = 0, now;
	uint8_t bytes[PING_BYTES] = {0};

	do {
		now = ticks();
		bytes[0] = now >= end;
		put(of->fd[0], bytes, sizeof(bytes));
		get(of->fd[0], bytes, sizeof(bytes));
		trips++;
	} while (now < end);
	return ticks_to_ns((double)(ticks() - start)) / (double)trips;
}

static void *
swallow(void *context)
{
	struct pair *of = context;
	static uint8_t bytes[BLOCK_BYTES];
	uint64_t got = 0, total;

	do {
		ssize_t n = recv(of->fd[1], bytes, sizeof(bytes), 0);

		must_be(n > 0, "recv");
		got += (uint64_t)n;
		total = atomic_load(&of->total);
	} while (total == 0 || got < total);
	return NULL;
}

/* The thread that reads ends with the last block: it comes after its total is known. */
static double
pour(struct pair *of, uint32_t ms, pthread_t reader)
{
	uint64_t start = ticks(), end = start + ticks_of_ms(ms), total = 0;
	static uint8_t bytes[BLOCK_BYTES];

	while (ticks() < end) {
		put(of->fd[0], bytes, sizeof(bytes));
		total += sizeof(bytes);
	}
	total += sizeof(bytes);
	atomic_store(&of->total, total);
	put(of->fd[0], bytes, sizeof(bytes));
	pthread_join(reader, NULL);
	return (double)total * 8e9 / ticks_to_ns((double)(ticks() - start));
}

static double
trips(struct pair *of, uint32_t ms)
{
	pthread_t thread;
	double ns;

	must_be(pthread_create(&thread, NULL, send_back, of) == 0, "thread");
	ns = ping(of, ms);
	pthread_join(thread, NULL);
	return ns;
}

static double
stream(struct pair *of, uint32_t ms)
{
	pthread_t thread;

	atomic_store(&of->total, 0);
	must_be(pthread_create(&thread, NULL, swallow, of) == 0, "thread");
	return pour(of, ms, thread);
}

/* ---- two processes in turns ---- */

/* A message of a process goes there and back; then it is the other one's turn, which has a byte
 * from its pipe. The last message is the child's. */
static void
take_turns(struct pair *of, int from, int to, bool last)
{
	uint8_t bytes[PING_BYTES] = {0}, byte = 0;

	for (uint32_t i = 0; i < TURNS / 2; i++) {
		must_be(read(from, &byte, 1) == 1, "a turn");
		bytes[0] = last && i == TURNS / 2 - 1;
		put(of->fd[0], bytes, sizeof(bytes));
		get(of->fd[0], bytes, sizeof(bytes));
		must_be(write(to, &byte, 1) == 1, "a turn");
	}
}

/* Returns: [ns] of a turn */
static double
swap(struct pair *of)
{
	int ours[2], theirs[2];
	uint64_t start;
	pthread_t thread;
	pid_t child;
	char byte = 0;

	must_be(pipe(ours) == 0 && pipe(theirs) == 0, "pipe");
	child = fork();
	must_be(child >= 0, "fork");
	if (child == 0) {
		take_turns(of, theirs[0], ours[1], true);
		_exit(0);
	}
	must_be(pthread_create(&thread, NULL, send_back, of) == 0, "thread");
	start = ticks();
	must_be(write(ours[1], &byte, 1) == 1, "a turn");
	take_turns(of, ours[0], theirs[1], false);
	pthread_join(thread, NULL);
	start = ticks() - start;
	must_be(waitpid(child, NULL, 0) == child, "the child");
	for (int i = 0; i < 2; i++) {
		close(ours[i]);
		close(theirs[i]);
	}
	return ticks_to_ns((double)start) / TURNS;
}

/* ---- rounds ---- */

static void
measure(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (int t = 0; t < TRANSPORTS; t++) {
			trips(&pair[t], WARM_UP_MS);
			trips_ns[t][round] = trips(&pair[t], TURN_MS);
			stream(&pair[t], WARM_UP_MS);
			bits[t][round] = stream(&pair[t], TURN_MS);
		}
	for (int round = 0; round < ROUNDS; round++)
		for (int t = 0; t < TRANSPORTS; t++)
			turns_ns[t][round] = swap(&pair[t]);
}

static void
add(json_t *results, const char *test, uint64_t size, const char *unit, double (*values)[ROUNDS])
{
	for (int t = 0; t < TRANSPORTS; t++)
		for (int round = 0; round < ROUNDS; round++)
			result_add(results, &(struct bench_result){.op = names[t],
								   .test = test,
								   .api = "sockets",
								   .unit = unit,
								   .size = size,
								   .value = values[t][round]});
}

int
main(void)
{
	static const int cores[CORES] = {0, CORE};
	struct calibration machine;
	json_t *results = json_array();

	alarm(PATIENCE_S);
	calibrate(cores, &machine);
	if (!cpu_pin(CORE))
		stop("core %d cannot be had", CORE);
	for (enum transport t = 0; t < TRANSPORTS; t++) {
		uint16_t port = (uint16_t)(RDMA_PORT - t);
		int listener = listen_at(port);

		join(listener, port, pair[t].fd);
		close(listener);
	}
	measure();
	add(results, "round-trip", PING_BYTES, "ns", trips_ns);
	add(results, "stream", BLOCK_BYTES, "bit/s", bits);
	add(results, "turn", PING_BYTES, "ns", turns_ns);
	return result_write(results, &machine, stdout) ? 0 : 2;
}
