/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues between application threads and an engine, as application threads see them; they are made
 * and destroyed for an engine, and send queues are posted to as part of their queue pair, by
 * plx_engine.h. What the engine does with them is in plx_engine_cq.h and its neighbours.
 * Start with plx_engine_cq_poll().
 */
#ifndef PLX_QUEUE_H
#define PLX_QUEUE_H

#include "plx_base.h"

enum {
	PLX_CQ_DEPTH_MAX = 1 << 20,
	PLX_SRQ_DEPTH_MAX = PLX_QUEUE_DEPTH_MAX,
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

/* ---- shared receive queues ----------------------------------------------------------------------
 */

struct plx_engine_srq;

struct plx_engine_srq_config {
	uint32_t depth, sges;
	uint32_t depth_max; /* that plx_engine_srq_resize() may go to; 0: depth */
	uint32_t threshold; /* 0: none; else SRQ_THRESHOLD once below it, until armed again */
	uint64_t cookie;
};

/** Threads: any, several at once. As plx_engine_qp_post_recv(). */
uint32_t plx_engine_srq_post_recv(struct plx_engine_srq *srq, const struct plx_recv_wr *wr,
				  uint32_t n, enum plx_status *refused);

/**
 * How many entries may be posted at once, from now on. Posts that run at the same time go by the
 * old limit or the new one. Errors: INVALID (0, or above depth_max), BUSY (more are posted)
 */
enum plx_status plx_engine_srq_resize(struct plx_engine_srq *srq, uint32_t depth) PLX_MUST_CHECK;

/** Entries posted and not yet taken by a message; may be a little old. */
uint32_t plx_engine_srq_count(const struct plx_engine_srq *srq);

/* ---- address handles ------------------------------------------------------------------------- */

struct plx_engine_ah;

/* What plx_send_wr.ah points at: the head of the address handle of whoever makes them. A request
 * with an address handle of another engine or domain is INVALID. */
struct plx_ah {
	struct plx_engine_ah *engine_ah;
};

#endif
