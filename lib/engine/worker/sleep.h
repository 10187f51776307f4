/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a worker sleeps in the kernel: an epoll set of what may wake it, and for how long. Private to
 * the room; it knows no engine. Start with sleep_open().
 */
#ifndef PLX_WORKER_SLEEP_H
#define PLX_WORKER_SLEEP_H

#include "plx_worker.h"

struct sleep {
	int set;  /* by edges, so that nothing is read */
	int bell; /* an eventfd of our own */
	uint64_t max_ns;
	uint64_t nap_ns; /* the next one, with a port that cannot wake us */
	bool is_stale;   /* something in the set may be ready because of what is done by now */
	struct plx_worker_sleeps done;
};

/* Returns: false: the system has no descriptors */
bool sleep_open(struct sleep *sleep, uint64_t max_ns);
void sleep_close(struct sleep *sleep);

/* Let this descriptor wake it; nothing if it does already. Any thread. Returns: false: it cannot */
bool sleep_watch(struct sleep *sleep, int fd);
/* The reverse, before it is closed. -1 is allowed. */
void sleep_unwatch(struct sleep *sleep, int fd);
/* Wake it. Any thread. */
void sleep_rouse(struct sleep *sleep);

/* ---- the thread that sleeps ---- */

/* Forget what has become ready: it looks for work after this. */
void sleep_prepare(struct sleep *sleep);
/* There was work: the next nap is a short one. */
void sleep_reset(struct sleep *sleep);
/* Sleep until a descriptor is ready, or until then.
 * @param until PLX_NEVER
 * @param naps a descriptor is missing
 * Returns: whether a descriptor was */
bool sleep_until(struct sleep *sleep, uint64_t until, bool naps);

#endif
