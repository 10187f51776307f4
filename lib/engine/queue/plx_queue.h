/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues between application threads and an engine, as application threads see them. plx_engine.h
 * creates and destroys them, and posts to send queues as part of their queue pair. The engine's
 * half is in plx_engine_cq.h and its neighbours.
 * Start with plx_engine_cq_poll().
 */
#ifndef PLX_QUEUE_H
#define PLX_QUEUE_H

#include "plx_base.h"

enum {
	PLX_CQ_DEPTH_MAX = 1 << 20,
	PLX_SRQ_DEPTH_MAX = PLX_QUEUE_DEPTH_MAX,
};

/* ---- completion queues ---- */

struct plx_engine_cq;

struct plx_engine_cq_config {
	uint32_t depth; /* 1 .. PLX_CQ_DEPTH_MAX */
	bool strict; /* more than `depth` unreaped entries is an overrun, as with hardware adapters;
			else there is room for everything its queue pairs can have in flight */
	uint64_t cookie; /* returned in events */
};

/**
 * Poll up to `n` completions, oldest first per queue pair.
 * Returns: how many
 * Threads: any, several at once
 * Cost:    hot; no system call
 */
uint32_t plx_engine_cq_poll(struct plx_engine_cq *cq, struct plx_wc *wc, uint32_t n);

/**
 * The ring that it polls, for plx_ring_empty(). In inline mode the caller is also the ring's
 * producer, so this costs less than a poll that finds nothing.
 */
const struct rte_ring *plx_engine_cq_ring(const struct plx_engine_cq *cq);

/**
 * Request one notification. Watermark rule: it fires iff an entry of the kind was produced after
 * both the last notification and the last poll before this call. So the sequence poll, find
 * nothing, arm never misses an entry. An entry produced after this call fires even if it is polled
 * first.
 *
 * @param kinds enum plx_cq_notify bits, added to those already armed
 * @param fired [out] the kinds that fired at once and are no longer armed: the caller delivers
 *              their notification, including that of kinds that other threads have armed. NULL:
 *              plx_engine_cq_get_event() returns them
 * Errors:  INVALID; FULL (the queue has overrun); TIMEOUT (the engine does not run; only possible
 *          at the first call and on a system without membarrier())
 * Cost:    the first call of a queue makes one system call, later ones none
 * Spec:    IBTA vol 1, 11.4.2.2
 */
enum plx_status plx_engine_cq_arm(struct plx_engine_cq *cq, uint32_t kinds,
				  uint32_t *fired) PLX_MUST_CHECK;

/**
 * Disarm `kinds`.
 * Returns: those that were armed; a kind that was armed before and is not returned has fired, or
 *          is about to
 */
uint32_t plx_engine_cq_disarm(struct plx_engine_cq *cq, uint32_t kinds);

/** Return the kinds that have fired since the last call, and clear the descriptor. */
uint32_t plx_engine_cq_get_event(struct plx_engine_cq *cq);

/**
 * A descriptor that is readable from the moment an armed kind fires until
 * plx_engine_cq_get_event(). The queue owns it; do not close it. -1: no descriptor is available.
 */
int plx_engine_cq_fd(struct plx_engine_cq *cq);

struct plx_engine_cq_view {
	uint32_t depth;
	uint64_t produced, consumed; /* entries since creation */
	uint32_t armed;              /* enum plx_cq_notify bits */
	bool overrun;
};

void plx_engine_cq_query(const struct plx_engine_cq *cq, struct plx_engine_cq_view *out);

/* ---- shared receive queues ---- */

struct plx_engine_srq;

struct plx_engine_srq_config {
	uint32_t depth, sges;
	uint32_t depth_max; /* maximum for plx_engine_srq_resize(); 0: depth */
	uint32_t threshold; /* 0: no event; else SRQ_THRESHOLD once fewer entries remain, until
			       armed again */
	uint64_t cookie;
};

/**
 * As plx_engine_qp_post_recv().
 * Threads: any, several at once
 */
uint32_t plx_engine_srq_post_recv(struct plx_engine_srq *srq, const struct plx_recv_wr *wr,
				  uint32_t n, enum plx_status *refused);

/**
 * Set how many entries may be posted at once. Concurrent posts use the old or the new limit.
 * Errors:  INVALID (0, or above depth_max), BUSY (more are posted)
 */
enum plx_status plx_engine_srq_resize(struct plx_engine_srq *srq, uint32_t depth) PLX_MUST_CHECK;

/** Posted entries that no message has used yet; may be slightly stale. */
uint32_t plx_engine_srq_count(const struct plx_engine_srq *srq);

/* ---- address handles ---- */

struct plx_engine_ah;

/* The target of plx_send_wr.ah: the first member of a public address handle. A request with an
 * address handle of another engine or domain is INVALID. */
struct plx_ah {
	struct plx_engine_ah *engine_ah;
};

#endif
