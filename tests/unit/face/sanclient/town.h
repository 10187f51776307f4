/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two hosts with a broker each, and programs of theirs: all in processes of their own, in one
 * network namespace. A host process has the two adapters, which are joined. A program is a function
 * that ends with 0. TOWN_WIRE in the environment has faults of the wire, arguments of net_wire such
 * as "loss=0.01". Start with town_run().
 */
#ifndef PLX_TEST_TOWN_H
#define PLX_TEST_TOWN_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "test.h"

#include "plx_san_client.h"

enum town_host {
	TOWN_A,
	TOWN_B,
};

/** Within a program: go on only if it holds. */
#define TOWN_MUST(condition)                                                            \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, \
				#condition, strerror(errno));                           \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

/** Run tests in it. Returns: as cmocka */
#define TOWN_RUN(tests) town_run_tests(tests, sizeof(tests) / sizeof((tests)[0]))
int town_run_tests(const struct CMUnitTest *tests, size_t n);

/** A program of a host begins. */
pid_t town_start(enum town_host host, void (*program)(void *arg), void *arg);
/** A command of the shell begins, with TOWN_SOCKETS, a path, loaded into it. */
pid_t town_command(enum town_host host, const char *command);
/** End it, and all that it has begun. */
void town_end_command(pid_t pid);
/** It ends, with 0. */
void town_await(pid_t pid);

/** A broker is killed; the host that both brokers and all programs are attached to is. Tests that
 * come later have it not. */
void town_kill_broker(enum town_host host);
void town_kill_host(void);

/** A broker may have no number of a descriptor more, or as many as before. */
void town_limit_broker(enum town_host host, bool is_limited);

/** Within a program of a host, after a fork(). */
void town_attach(void);

/** Where its broker is. */
const char *town_broker(void);

/** Of a host: 10.79.0.1, 10.79.0.2. */
const char *town_address(enum town_host host);
/** Connect by RDMA, as soon as somebody listens. */
int town_connect(enum town_host host, uint16_t port);
/** Listen, over RDMA as well. */
int town_listen(uint16_t port, int backlog);
/** Accept, and adopt: over RDMA. */
int town_accept(int listener);
/** In a child that has a descriptor of its parent. */
void town_adopt(int fd);
void town_close(int fd);
/** A child closes it, and ends. */
void town_leave(int fd) __attribute__((noreturn));

/** Bytes that depend on their place and `seed`. */
void town_fill(uint8_t *bytes, size_t n, uint64_t from, uint8_t seed);
/** Send or receive all of them; `from` their place. */
void town_send(int fd, size_t n, uint64_t from, uint8_t seed);
void town_receive(int fd, size_t n, uint64_t from, uint8_t seed);
/** The other end has shut. */
void town_expect_end(int fd);

#endif
