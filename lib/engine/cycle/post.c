/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting to a queue pair: to its queues, and in inline mode, where the caller is the engine's
 * thread, also into the list of queue pairs with something to send. No lock, no system call.
 * Start with plx_post_send().
 */
#include "plx_engine_cycle.h"
#include "plx_thread.h"

/* Inline mode. */
static uint32_t
post_here(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted = engine_sq_post_here(&qp->sq, wr, n, refused);

	if (plx_likely(posted > 0) && !(wr[posted - 1].flags & PLX_WR_DEFER))
		engine_schedule(qp->engine, qp);
	return posted;
}

uint32_t
plx_engine_qp_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused)
{
	return qp->sq.ring != NULL ? engine_sq_post(&qp->sq, wr, n, refused)
				   : post_here(qp, wr, n, refused);
}

/* Inline mode. If other requests of this kind are in flight, this one is sent in the duty cycle
 * that checks for their responses, in one burst. A lone request is being waited for, and is
 * sent before the call returns. */
PLX_HOT uint32_t
plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted;

	if (qp->sq.ring != NULL)
		return engine_sq_post(&qp->sq, wr, n, refused);
	posted = post_here(qp, wr, n, refused);
	if (posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER) &&
	    engine_sq_in_flight(&qp->sq) == posted)
		plx_engine_send(qp->engine, plx_clock_ns());
	return posted;
}

static enum plx_status
post_local(struct plx_qp *qp, const struct plx_wqe *wqe)
{
	enum plx_status status = engine_sq_post_local(&qp->sq, wqe);

	if (status == PLX_OK && qp->sq.ring == NULL)
		engine_schedule(qp->engine, qp);
	return status;
}

enum plx_status
plx_engine_qp_post_bind(struct plx_qp *qp, uint64_t wr_id, uint8_t flags, struct plx_key key)
{
	const struct plx_wqe wqe = {
		.wr_id = wr_id, .op = PLX_WR_BIND, .flags = flags, .inv_key = key};

	return flags & PLX_WR_DEFER ? PLX_INVALID : post_local(qp, &wqe);
}

enum plx_status
plx_engine_qp_post_reg(struct plx_qp *qp, uint64_t wr_id, uint8_t flags,
		       const struct plx_wqe_region *region)
{
	const struct plx_wqe wqe = {
		.wr_id = wr_id, .op = PLX_WR_REG, .flags = flags, .region = *region};

	return post_local(qp, &wqe);
}

void
plx_engine_qp_ring_doorbell(struct plx_qp *qp)
{
	if (qp->sq.ring != NULL)
		engine_sq_wake(&qp->sq);
	else
		engine_schedule(qp->engine, qp);
}

PLX_HOT void
plx_qp_ring_doorbell(struct plx_qp *qp)
{
	plx_engine_qp_ring_doorbell(qp);
	if (qp->sq.ring == NULL)
		plx_engine_send(qp->engine, plx_clock_ns());
}

PLX_HOT uint32_t
plx_post_recv(struct plx_qp *qp, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *refused)
{
	unsigned state = atomic_load_explicit(&qp->sq.state, memory_order_acquire);

	if (plx_unlikely(qp->config.srq != NULL || state == PLX_QP_RESET)) {
		if (refused != NULL)
			*refused = PLX_STATE;
		return 0;
	}
	n = engine_rq_post(&qp->own, wr, n, refused);
	/* Schedule the flush. In other states no thread waits for a receive; the engine's sweep
	 * finds one that raced with the error. */
	if (plx_unlikely(state >= PLX_QP_ERROR) && state_of(state) == PLX_QP_ERROR)
		plx_engine_qp_ring_doorbell(qp);
	return n;
}
