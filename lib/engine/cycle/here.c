/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts in inline mode: to the queues, and into the list of queue pairs with something to send. No
 * lock, no system call. Start with plx_here, the table.
 */
#include "plx_engine_cycle.h"
#include "plx_thread.h"

static uint32_t
post(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted = engine_sq_post_here(&qp->sq, wr, n, refused);

	if (plx_likely(posted > 0) && !(wr[posted - 1].flags & PLX_WR_DEFER))
		engine_schedule(qp->engine, qp->back);
	return posted;
}

/* If other requests of this kind are in flight, these `n` are sent in the duty cycle that checks
 * for their responses, in one burst. A lone request is being waited for, and is sent before the
 * call returns. */
static inline void
send_if_alone(struct plx_qp *qp, uint32_t n)
{
	if (engine_sq_in_flight(&qp->back->sq) == n)
		plx_engine_send(qp->engine, plx_clock_ns());
}

static uint32_t
post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted = post(qp, wr, n, refused);

	if (posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER))
		send_if_alone(qp, posted);
	return posted;
}

static enum plx_status
post_usual(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
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

static enum plx_status
post_local(struct plx_qp *qp, const struct plx_wqe *wqe)
{
	enum plx_status status = engine_sq_post_local_here(&qp->sq, wqe);

	if (status == PLX_OK)
		engine_schedule(qp->engine, qp->back);
	return status;
}

static void
schedule(struct plx_qp *qp)
{
	engine_schedule(qp->engine, qp->back);
}

static void
send(struct plx_qp *qp)
{
	plx_engine_send(qp->engine, plx_clock_ns());
}

const struct plx_here plx_engine_here = {
	.post = post,
	.post_send = post_send,
	.post_usual = post_usual,
	.post_local = post_local,
	.schedule = schedule,
	.send = send,
	.post_recv = engine_rq_post_here,
	.receives = engine_rq_count_here,
};
