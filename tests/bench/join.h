/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections of one program with both ends, for the benchmark's socket programs; what cannot be
 * had ends the program. Start with join().
 */
#ifndef BENCH_JOIN_H
#define BENCH_JOIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RDMA_PORT = 20000, /* the rule's; other ports are the kernel's */
};

/** Stop, and say what and errno, unless it is so. */
void must_be(bool is_so, const char *what);
int listen_at(uint16_t port);
/** Connect to who listens there, and accept it. */
void join(int listener, uint16_t port, int fd[2]);

#endif
