/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A seat as a program has it: how its calls reach the host of its adapter, and where the memory is
 * that both share. In the program's own process the host serves a call at once (lib/host); in
 * another, a channel carries it. Nothing else of a program knows the difference.
 * Start with struct plx_seat_ops.
 */
#ifndef PLX_SEAT_H
#define PLX_SEAT_H

#include "plx_ipc.h"

struct engine_qp;
struct engine_rq;
struct engine_sq;
struct plx_engine;
struct plx_here;

struct plx_seat;

/* Inline mode: what posts go to instead of a ring (decision 12). NULL: there are rings. */
struct plx_seat_inline {
	const struct plx_here *here;
	struct plx_engine *engine;
	struct engine_qp *qp;
	struct engine_sq *sq;
	struct engine_rq *rq;
};

struct plx_seat_ops {
	/* Make a call.
	 * @param reply written when OK
	 * @param why   NULL: no sentence is wanted
	 * Threads: any */
	enum plx_status (*call)(struct plx_seat *seat, enum plx_ipc_op op, const void *request,
				void *reply, struct plx_why *why);
	/* The address of a place that the host has told. Threads: any */
	void *(*at)(struct plx_seat *seat, struct plx_location place);
	/* The place of memory of the program's. Threads: any */
	struct plx_location (*place)(struct plx_seat *seat, const void *memory, size_t bytes);
	/* Of a queue pair or a shared receive queue. */
	void (*find_inline)(struct plx_seat *seat, struct plx_object object,
			    struct plx_seat_inline *out);
	/* Inline mode: run one duty cycle of one engine, 1 .. engines, or of all, 0.
	 * Returns: the work done */
	uint32_t (*run)(struct plx_seat *seat, uint32_t engine);
	/* Inline mode: the calling thread is about to run engines. */
	bool (*prepare_thread)(void);
	/* Give up the seat. Errors: BUSY (it has objects) */
	enum plx_status (*close)(struct plx_seat *seat);
	bool remote; /* the host is another process */
};

/* The beginning of each implementation's. */
struct plx_seat {
	const struct plx_seat_ops *ops;
	int host_fd; /* hangs up when the host has gone; -1: the host is this process */
};

#endif
