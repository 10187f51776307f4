/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs as a program sees them: its own object, on the fronts of two queues that it shares
 * with the engine (plx_cq_front.h). The engine's half is struct engine_qp, in plx_engine_cycle.h.
 * Start with struct plx_qp, then plx_post_send().
 */
#ifndef PLX_QP_FRONT_H
#define PLX_QP_FRONT_H

#include "plx_engine.h"
#include "plx_eq_front.h"
#include "plx_rq_front.h"
#include "plx_sq_front.h"

struct engine_qp;
struct engine_seat;

/* A program's seat. */
struct plx_seat {
	struct engine_seat *back;
	struct eq async_events;
};

/* A program's queue pair. */
struct plx_qp {
	struct sq sq;
	struct rq rq; /* its own; not used with an SRQ */

	/* never written once it is made */
	struct engine_qp *back;    /* the engine's half, for calls that a command executes */
	struct plx_engine *engine; /* inline mode runs it */
	uint32_t qpn;
	struct plx_psn first_psn;
	struct plx_engine_qp_config config;

	struct plx_list creator_link; /* plx_engine_qp_link() */
};

#endif
