/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptor by which a queue wakes waiting threads. It is created on first use, so that a
 * queue that is only polled has none. Start with engine_fd().
 */
#ifndef PLX_WAKE_H
#define PLX_WAKE_H

#include <stdatomic.h>

/**
 * The descriptor in `fd` (-1: not created yet), created by the first call.
 *
 * Returns: -1 if no descriptor is available
 * Threads: any
 */
int engine_fd(atomic_int *fd);

/**
 * Make the descriptor readable, if it exists.
 * Threads: any
 */
void engine_wake(atomic_int *fd);

#endif
