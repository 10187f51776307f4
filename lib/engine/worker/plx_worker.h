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
};

enum {
	PLX_WORKER_ENGINES_MAX = 32
};

/** Start a thread that polls the engines added by plx_worker_add(). Errors: INVALID (no such core),
 * NO_MEMORY */
enum plx_status plx_worker_start(const struct plx_worker_config *config, struct plx_worker **worker,
				 struct plx_why *why) PLX_MUST_CHECK;

/** Make the worker poll this engine too. Any thread. Errors: FULL */
enum plx_status plx_worker_add(struct plx_worker *worker, struct plx_engine *engine) PLX_MUST_CHECK;

/** Stop polling the engine: the worker no longer accesses it when this returns. Any other thread.
 */
void plx_worker_remove(struct plx_worker *worker, struct plx_engine *engine);

/** Stop the thread and wait until it ends, at most one duty cycle. All engines must be removed. */
void plx_worker_stop(struct plx_worker *worker);

#endif
