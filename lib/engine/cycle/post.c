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
		engine_schedule(qp->engine, qp->back);
	return posted;
}

uint32_t
plx_engine_qp_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused)
{
	return qp->sq.ring != NULL ? engine_sq_post(&qp->sq, wr, n, refused)
				   : post_here(qp, wr, n, refused);
}

/* Inline mode. If other requests of this kind are in flight, these `n` are sent in the duty cycle
 * that checks for their responses, in one burst. A lone request is being waited for, and is
 * sent before the call returns. */
static inline void
send_if_alone(struct plx_qp *qp, uint32_t n)
{
	if (engine_sq_in_flight(&qp->back->sq) == n)
		plx_engine_send(qp->engine, plx_clock_ns());
}

static __attribute__((noinline)) uint32_t
post_and_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted = post_here(qp, wr, n, refused);

	if (posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER))
		send_if_alone(qp, posted);
	return posted;
}

PLX_HOT uint32_t
plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return qp->sq.ring != NULL ? engine_sq_post(&qp->sq, wr, n, refused)
				   : post_and_send(qp, wr, n, refused);
}

static __attribute__((noinline)) enum plx_status
post_unusual(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
	     uint64_t remote_va, struct plx_key rkey)
{
	const struct plx_send_wr wr = {
		.wr_id = wr_id,
		.op = (uint8_t)engine_op_of(op_flags),
		.flags = (uint8_t)engine_flags_of(op_flags),
		.sges = 1,
		.sge = sge,
		.remote_va = remote_va,
		.rkey = rkey,
	};
	enum plx_status refused;

	if ((wr.op != PLX_WR_SEND && wr.op != PLX_WR_WRITE && wr.op != PLX_WR_READ) ||
	    op_flags != PLX_WR(wr.op, wr.flags))
		return PLX_INVALID;
	(void)plx_post_send(qp, &wr, 1, &refused);
	return refused;
}

/* Inline mode. */
static __attribute__((noinline)) enum plx_status
post_usual_here(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
		uint64_t remote_va, struct plx_key rkey)
{
	enum plx_status status =
		engine_sq_post_usual_here(&qp->sq, op_flags, wr_id, sge, remote_va, rkey);

	if (plx_likely(status == PLX_OK) && !(engine_flags_of(op_flags) & PLX_WR_DEFER)) {
		engine_schedule(qp->engine, qp->back);
		send_if_alone(qp, 1);
	}
	return status;
}

PLX_HOT enum plx_status
plx_post_one(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
	     uint64_t remote_va, struct plx_key rkey)
{
	if (!engine_sq_is_usual(&qp->sq, engine_op_of(op_flags), engine_flags_of(op_flags), sge))
		return post_unusual(qp, op_flags, wr_id, sge, remote_va, rkey);
	return qp->sq.ring != NULL
		       ? engine_sq_post_usual(&qp->sq, op_flags, wr_id, sge, remote_va, rkey)
		       : post_usual_here(qp, op_flags, wr_id, sge, remote_va, rkey);
}

static enum plx_status
post_local(struct plx_qp *qp, const struct plx_wqe *wqe)
{
	enum plx_status status = engine_sq_post_local(&qp->sq, wqe);

	if (status == PLX_OK && qp->sq.ring == NULL)
		engine_schedule(qp->engine, qp->back);
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
		engine_schedule(qp->engine, qp->back);
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
	unsigned state = atomic_load_explicit(&qp->sq.front->state, memory_order_acquire);

	if (plx_unlikely(qp->has_srq || state == PLX_QP_RESET)) {
		if (refused != NULL)
			*refused = PLX_STATE;
		return 0;
	}
	n = engine_rq_post(&qp->rq, wr, n, refused);
	/* Schedule the flush. In other states no thread waits for a receive; the engine's sweep
	 * finds one that raced with the error. */
	if (plx_unlikely(state >= PLX_QP_ERROR) && state_of(state) == PLX_QP_ERROR)
		plx_engine_qp_ring_doorbell(qp);
	return n;
}
