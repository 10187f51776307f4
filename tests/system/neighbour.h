/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another program at the same polluxd, at its adapter "b": it accepts connections, has a few
 * receives for each, and survives one polluxd after the other. Start with neighbour_start().
 */
#ifndef PLX_TEST_NEIGHBOUR_H
#define PLX_TEST_NEIGHBOUR_H

#include <stdatomic.h>
#include <sys/types.h>

/* What the neighbour tells. */
struct board {
	atomic_bool listens;
	atomic_uint deaths;   /* that it has survived */
	atomic_ullong told;   /* [ns] when it learned of the last one */
	atomic_ullong memory; /* that it lends: address and key */
	atomic_uint key;
};

/** In a process of its own, which ends with the caller. Before any of its adapters is open. */
pid_t neighbour_start(struct board *board);

#endif
