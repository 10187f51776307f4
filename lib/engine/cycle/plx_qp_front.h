/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs as a program sees them: its own object, on the fronts of two queues that it shares
 * with the engine (plx_cq_front.h). The engine's half is struct engine_qp, in plx_engine_cycle.h.
 * Start with struct plx_qp, then plx_post_send().
 */
#ifndef PLX_QP_FRONT_H
#define PLX_QP_FRONT_H

#include "plx_engine.h"
#include "plx_rq_front.h"
#include "plx_sq_front.h"

struct engine_qp;

/* A program's queue pair. */
struct plx_qp {
	struct sq sq;
	struct rq rq; /* its own; not used with an SRQ */

	/* never written once it is made */
	struct engine_qp *back;    /* inline mode schedules it; NULL: it has rings */
	struct plx_engine *engine; /* inline mode runs it */
	uint32_t qpn;
	bool has_srq;
	struct plx_psn first_psn;
	uint64_t object; /* by which its owner knows it */

	/* the creator's */
	struct plx_pd *pd;
	uint32_t qkey;               /* UD only */
	uint8_t responder_resources; /* READs and atomics that the peer may have outstanding */
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

#endif
