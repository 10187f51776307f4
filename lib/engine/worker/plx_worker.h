/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads, which poll engines. Start with plx_worker_start().
 */
#ifndef PLX_WORKER_H
#define PLX_WORKER_H

#include "plx_engine.h"

struct plx_worker;

struct plx_worker_config {
	int core; /* -1: wherever the system puts it */
	enum plx_idle idle;
	const char *name; /* of the thread, at most 15 bytes */
};

enum {
	PLX_WORKER_ENGINES_MAX = 32
};

/** Start a thread that polls the engines it will be given. Errors: INVALID (no such core),
 * NO_MEMORY */
enum plx_status plx_worker_start(const struct plx_worker_config *config, struct plx_worker **worker,
				 struct plx_why *why) PLX_MUST_CHECK;

/** Any thread: from now on the worker polls this engine too. Errors: FULL */
enum plx_status plx_worker_add(struct plx_worker *worker, struct plx_engine *engine) PLX_MUST_CHECK;

/** Any other thread: when it returns the worker does not touch the engine any more. */
void plx_worker_remove(struct plx_worker *worker, struct plx_engine *engine);

/** Stop it and wait for its end, at most one duty cycle; it has no engine left. */
void plx_worker_stop(struct plx_worker *worker);

#endif
