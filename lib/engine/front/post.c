/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting to a queue pair: to its rings, or in inline mode by calls to the engine. No lock that an
 * engine takes, no system call. Start with plx_post_send().
 */
#include "plx_here.h"
#include "plx_qp_front.h"

uint32_t
plx_engine_qp_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused)
{
	return qp->sq.ring != NULL ? engine_sq_post(&qp->sq, wr, n, refused)
				   : qp->here->post(qp, wr, n, refused);
}

PLX_HOT uint32_t
plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return qp->sq.ring != NULL ? engine_sq_post(&qp->sq, wr, n, refused)
				   : qp->here->post_send(qp, wr, n, refused);
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

PLX_HOT enum plx_status
plx_post_one(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
	     uint64_t remote_va, struct plx_key rkey)
{
	if (!engine_sq_is_usual(&qp->sq, engine_op_of(op_flags), engine_flags_of(op_flags), sge))
		return post_unusual(qp, op_flags, wr_id, sge, remote_va, rkey);
	return qp->sq.ring != NULL
		       ? engine_sq_post_usual(&qp->sq, op_flags, wr_id, sge, remote_va, rkey)
		       : qp->here->post_usual(qp, op_flags, wr_id, sge, remote_va, rkey);
}

static enum plx_status
post_local(struct plx_qp *qp, const struct plx_wqe *wqe)
{
	return qp->sq.ring != NULL ? engine_sq_post_local(&qp->sq, wqe)
				   : qp->here->post_local(qp, wqe);
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
		qp->here->schedule(qp);
}

PLX_HOT void
plx_qp_ring_doorbell(struct plx_qp *qp)
{
	plx_engine_qp_ring_doorbell(qp);
	if (qp->sq.ring == NULL)
		qp->here->send(qp);
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
