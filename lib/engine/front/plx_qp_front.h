/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs as a program sees them: its own object, on the fronts of two queues that it shares
 * with the engine (plx_cq_front.h). The engine's half is struct engine_qp, in plx_engine_cycle.h.
 * Start with struct plx_qp, then plx_post_send().
 */
#ifndef PLX_QP_FRONT_H
#define PLX_QP_FRONT_H

#include "plx_here.h"
#include "plx_rq_front.h"
#include "plx_sq_front.h"

struct engine_qp;
struct plx_engine;

/* A program's queue pair. */
struct plx_qp {
	struct sq sq;
	struct rq rq; /* its own; not used with an SRQ */

	/* never written once it is made */
	const struct plx_here *here; /* inline mode; NULL: there are rings */
	struct engine_qp *back;      /* ... and what that schedules, */
	struct plx_engine *engine;   /* ... and runs */
	uint32_t qpn;
	bool has_srq;
	struct plx_psn first_psn;
	uint64_t object; /* by which its owner knows it */

	/* the creator's */
	struct plx_pd *pd;
	uint32_t qkey;               /* UD only */
	uint8_t responder_resources; /* READs and atomics that the peer may have outstanding */
	struct plx_qp_past past;     /* of an imported one */
};

/** The state; the value may be slightly stale. */
static inline enum plx_qp_state
plx_engine_qp_state(const struct plx_qp *qp)
{
	return state_of(atomic_load(&qp->sq.front->state));
}

static inline uint32_t
plx_engine_qp_number(const struct plx_qp *qp)
{
	return qp->qpn;
}

static inline struct plx_psn
plx_engine_qp_first_psn(const struct plx_qp *qp)
{
	return qp->first_psn;
}

/* ---- posting ---- */

/**
 * As plx_post_send(), but in inline mode nothing is sent before the next plx_engine_poll() or
 * plx_engine_send().
 * Cost:    hot; no system call, but for the one that wakes the thread of an engine that sleeps
 */
uint32_t plx_engine_qp_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
				 enum plx_status *refused);

/** As plx_qp_ring_doorbell(), with the same difference. */
void plx_engine_qp_ring_doorbell(struct plx_qp *qp);

/**
 * Post a send queue entry for a window that the caller has bound (PLX_WR_BIND). If the entry is
 * flushed or discarded, the key is unbound.
 * Errors:  as plx_post_send(); INVALID on a datagram queue pair
 */
enum plx_status plx_engine_qp_post_bind(struct plx_qp *qp, uint64_t wr_id, uint8_t flags,
					struct plx_key key) PLX_MUST_CHECK;

/**
 * Post a send queue entry that registers a region (PLX_WR_REG). In order with all other entries; a
 * region that cannot be registered then fails the queue pair with LOCAL_INVALIDATE.
 * @param flags PLX_WR_UNSIGNALED, PLX_WR_FENCE, PLX_WR_DEFER
 * Errors:  as plx_post_send(); INVALID on a datagram queue pair
 */
enum plx_status plx_engine_qp_post_reg(struct plx_qp *qp, uint64_t wr_id, uint8_t flags,
				       const struct plx_wqe_region *region) PLX_MUST_CHECK;

#endif
