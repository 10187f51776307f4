/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues between application threads and an engine, as application threads see them; they are made
 * and destroyed for an engine, by plx_engine.h. What the engine does with them is in
 * plx_engine_cq.h. Start with plx_engine_cq_poll().
 */
#ifndef PLX_QUEUE_H
#define PLX_QUEUE_H

#include "plx_base.h"

enum {
	PLX_CQ_DEPTH_MAX = 1 << 20,
};

/* ---- completion queues ------------------------------------------------------------------------
 */

struct plx_engine_cq;

struct plx_engine_cq_config {
	uint32_t depth;  /* 1 .. PLX_CQ_DEPTH_MAX */
	bool strict;     /* more than `depth` unreaped entries is an overrun, as real adapters have
			    it; else everything its queue pairs can have in flight finds a place */
	uint64_t cookie; /* comes back in events */
};

/**
 * Take up to `n` completions, oldest first per queue pair.
 * Returns: how many
 * Threads: any, several at once
 * Cost:    hot; no system call
 */
uint32_t plx_engine_cq_poll(struct plx_engine_cq *cq, struct plx_wc *wc, uint32_t n);

/** The ring that it polls, for plx_ring_empty(): in inline mode, where its writer is the thread
 * that asks, that costs less than a poll that finds nothing. */
const struct rte_ring *plx_engine_cq_ring(const struct plx_engine_cq *cq);

/**
 * Ask, once, to be told. With the watermark rule: fires iff an entry of the kind was produced after
 * both the last notification and the last poll before this call; so poll, find nothing, arm never
 * misses an entry. An entry produced after it fires, though it be polled first.
 *
 * @param kinds enum plx_cq_notify bits, added to those that are armed
 * @param fired [out] the kinds that fired at once, and are not armed then: the caller tells of
 * them, also of those that others have armed. NULL: plx_engine_cq_get_event() has them
 * Errors: INVALID; FULL (the queue has overrun); TIMEOUT (the first time, and never where the
 * system has membarrier(): the engine does not run) Cost:   the first of a queue makes one system
 * call, others none Spec:   IBTA vol 1, 11.4.2.2
 */
enum plx_status plx_engine_cq_arm(struct plx_engine_cq *cq, uint32_t kinds,
				  uint32_t *fired) PLX_MUST_CHECK;

/** Take back what was armed, among `kinds`. Returns: those that were; what was armed and is not
 * among them has fired, or is firing at this moment. */
uint32_t plx_engine_cq_disarm(struct plx_engine_cq *cq, uint32_t kinds);

/** Take the kinds that have fired since the last call; clears the descriptor. */
uint32_t plx_engine_cq_get_event(struct plx_engine_cq *cq);

/** A descriptor that is readable from the moment an armed kind fires until
 * plx_engine_cq_get_event(); the queue's own, do not close it. -1 when the system has none left. */
int plx_engine_cq_fd(struct plx_engine_cq *cq);

struct plx_engine_cq_view {
	uint32_t depth;
	uint64_t produced, consumed; /* entries, for ever */
	uint32_t armed;              /* enum plx_cq_notify bits */
	bool overrun;
};

void plx_engine_cq_query(const struct plx_engine_cq *cq, struct plx_engine_cq_view *out);

#endif
