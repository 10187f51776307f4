/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads, which poll engines. Start with plx_worker_start().
 */
#ifndef PLX_WORKER_H
#define PLX_WORKER_H

#include "plx_engine.h"

struct plx_worker;

struct plx_worker_config {
	int core; /* -1: any */
	enum plx_idle idle;
	const char *name; /* of the thread, at most 15 bytes */
	/* of PLX_IDLE_ADAPTIVE; 0: as below */
	uint64_t awake_ns, sleep_max_ns;
};

enum {
	PLX_WORKER_ENGINES_MAX = 32,
};

/* An adaptive worker without work spins for so long: a peer on the same network answers in less. */
#define PLX_WORKER_SPIN_NS (20 * PLX_USEC)
/* ... then lets others have the core until this time since the last work, and sleeps: it costs as
 * much to fall asleep and to be woken again, so no more than half of the time is wasted. */
#define PLX_WORKER_AWAKE_NS (100 * PLX_USEC)
/* With a port that cannot wake it, it naps for this long at first, ... */
#define PLX_WORKER_NAP_MIN_NS (50 * PLX_USEC)
/* ... and twice as long each time it finds nothing, up to this. A virtual machine's kernel takes 10
 * to 20 us for each, so that is a hundredth of a core; and it is far below the ack timeouts that
 * peers use, and the 10 ms of a stall. */
#define PLX_WORKER_NAP_MAX_NS (2 * PLX_MSEC)
/* It sleeps no longer even if all ports can: nobody has to believe that each driver tells. */
#define PLX_WORKER_SLEEP_MAX_NS (100 * PLX_MSEC)

/** Start a thread that polls the engines added by plx_worker_add(). Errors: INVALID (no such core),
 * NO_MEMORY */
enum plx_status plx_worker_start(const struct plx_worker_config *config, struct plx_worker **worker,
				 struct plx_why *why) PLX_MUST_CHECK;

/** Make the worker poll this engine too. Any thread. Errors: FULL */
enum plx_status plx_worker_add(struct plx_worker *worker, struct plx_engine *engine) PLX_MUST_CHECK;

/** Stop polling the engine: the worker no longer accesses it when this returns. Any other thread.
 */
void plx_worker_remove(struct plx_worker *worker, struct plx_engine *engine);

/**
 * Let a write to this eventfd wake the worker too: whoever has it can do no more than that. It is
 * never read.
 * Threads: any
 * Errors:  STATE (it never sleeps), NO_MEMORY
 */
enum plx_status plx_worker_watch(struct plx_worker *worker, int bell) PLX_MUST_CHECK;
/** The reverse, before it is closed. */
void plx_worker_unwatch(struct plx_worker *worker, int bell);

/* How an adaptive worker has slept. */
struct plx_worker_sleeps {
	uint64_t sleeps, woken; /* begun; ended by a descriptor, not because their time was over */
};

/** Threads: any; values may be slightly stale. */
void plx_worker_sleeps(const struct plx_worker *worker, struct plx_worker_sleeps *out);

/** Stop the thread and wait until it ends, at most one duty cycle. All engines must be removed. */
void plx_worker_stop(struct plx_worker *worker);

#endif
