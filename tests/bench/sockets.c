/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a socket program gets of the switch, over what it gets of the kernel's TCP: two threads of
 * one program on one core, which block in recv() and send() and know of nothing else, with one
 * connection by RDMA and one by TCP, in turns of milliseconds. tests/bench/run starts it under
 * pollux-run, beside a polluxd that has both ends on the other core, with a rule for the first
 * connection's port. It needs two cores, and is not a test. Start at measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "must.h"
#include "result.h"

enum {
	PING_BYTES = 64,
	BLOCK_BYTES = 64 << 10,
	PORT = 20000, /* the rule's; the next one is the kernel's */
	CORE = 1,
	ROUNDS = 12,
	WARM_UP_MS = 10,
	TURN_MS = 100,
	PATIENCE_MS = 20000,
};

enum transport {
	RDMA,
	TCP,
	TRANSPORTS
};

static const char *const names[TRANSPORTS] = {[RDMA] = "rdma", [TCP] = "tcp"};

/* A connection, and what its second thread is to do. */
struct pair {
	int fd[2];
	void *(*answer)(void *pair);
	_Atomic uint64_t total; /* bytes of a stream; 0: not known yet */
};

static struct pair pair[TRANSPORTS];
static double trips_ns[TRANSPORTS][ROUNDS], bits[TRANSPORTS][ROUNDS];
static const char *address = "10.77.0.2";

/* ---- set-up ---- */

static struct sockaddr_in
name_of(enum transport transport)
{
	struct sockaddr_in name = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)(PORT - transport))};

	if (inet_pton(AF_INET, address, &name.sin_addr) != 1)
		stop("%s is no address", address);
	return name;
}

static void
must_be(bool is_so, const char *what)
{
	if (!is_so)
		stop("%s: %s", what, strerror(errno));
}

static void
join(enum transport transport)
{
	const struct sockaddr_in name = name_of(transport);
	const struct sockaddr *to = (const struct sockaddr *)&name;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	int *fd = pair[transport].fd;

	must_be(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
			bind(listener, to, sizeof(name)) == 0 && listen(listener, 1) == 0,
		"listen");
	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must_be(connect(fd[0], to, sizeof(name)) == 0, "connect");
	fd[1] = accept(listener, NULL, NULL);
	must_be(fd[1] >= 0, "accept");
	for (int i = 0; i < 2; i++)
		must_be(setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0,
			"TCP_NODELAY");
	close(listener);
}

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

/* ---- rounds ---- */

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
main(int argc, char **argv)
{
	static const int cores[CORES] = {0, CORE};
	struct calibration machine;
	json_t *results = json_array();

	if (argc > 1)
		address = argv[1];
	alarm(PATIENCE_MS / 1000);
	calibrate(cores, &machine);
	if (!cpu_pin(CORE))
		stop("core %d cannot be had", CORE);
	for (int t = 0; t < TRANSPORTS; t++)
		join(t);
	measure();
	add(results, "round-trip", PING_BYTES, "ns", trips_ns);
	add(results, "stream", BLOCK_BYTES, "bit/s", bits);
	return result_write(results, &machine, stdout) ? 0 : 2;
}
