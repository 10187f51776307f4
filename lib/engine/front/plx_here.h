/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inline mode: a program's half has no rings, and posts call the engine, whose thread the caller
 * is. Through this table, since a program that attaches to a host has no engine's code (decision
 * 49). lib/engine/cycle/here.c has the only one. Start with struct plx_here.
 */
#ifndef PLX_HERE_H
#define PLX_HERE_H

#include "plx_verbs.h"

struct plx_wqe;
struct rq;

/* All of them are hot, and send nothing themselves, but those that say so. */
struct plx_here {
	/* As plx_engine_qp_post_send(). */
	uint32_t (*post)(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			 enum plx_status *refused);
	/* As plx_post_send(): a request that is alone in flight is sent at once. */
	uint32_t (*post_send)(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			      enum plx_status *refused);
	/* As plx_post_one(), of a request that is usual: likewise. */
	enum plx_status (*post_usual)(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id,
				      const struct plx_sge *sge, uint64_t remote_va,
				      struct plx_key rkey);
	/* A request that sends no packet. */
	enum plx_status (*post_local)(struct plx_qp *qp, const struct plx_wqe *wqe);
	/* Let the engine look for what was posted. */
	void (*schedule)(struct plx_qp *qp);
	/* Send what was posted. */
	void (*send)(struct plx_qp *qp);
	/* Post to a receive queue, or a shared one. Returns: how many
	 * @param status [out] of the first one that was not posted */
	uint32_t (*post_recv)(struct rq *q, const struct plx_recv_wr *wr, uint32_t n,
			      enum plx_status *status);
	/* The receives that no message has used yet. */
	uint32_t (*receives)(const struct rq *q);
};

#endif
