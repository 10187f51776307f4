/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptor by which a queue wakes waiting threads. It is created on first use, so that a
 * queue that is only polled has none. Start with engine_fd().
 */
#ifndef PLX_WAKE_H
#define PLX_WAKE_H

#include <stdatomic.h>

/* Whoever wakes the threads of another process. An engine never touches a descriptor that such a
 * program holds, too: it could make it block. */
struct plx_waker {
	/* Have this descriptor made readable soon. Any thread; never waits. */
	void (*wake)(struct plx_waker *waker, int fd);
	/* Close it; it is not woken by any more. */
	void (*close)(struct plx_waker *waker, int fd);
};

/**
 * The descriptor in `fd` (-1: not created yet), created by the first call.
 *
 * Returns: -1 if no descriptor is available
 * Threads: any
 */
int engine_fd(atomic_int *fd);

/**
 * Make the descriptor readable, if it exists.
 * @param waker NULL: at once, by the caller
 * Threads: any
 */
void engine_wake(struct plx_waker *waker, atomic_int *fd);

/**
 * Wake an engine's thread that has said that it sleeps. The word is cleared when it has been woken,
 * not before: a thread that is preempted here keeps no other from waking it.
 * @param asleep where it has said so
 * @param seen what was read there: not 0; of another sleep it is not cleared
 * @param bell its eventfd
 * Threads: any
 * Cost:    a system call
 */
void engine_ring_bell(atomic_uint *asleep, unsigned seen, int bell);

/** Close the descriptor, if it exists: its object ends. */
void engine_fd_close(struct plx_waker *waker, atomic_int *fd);

#endif
