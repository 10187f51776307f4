/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One end of a connection of WRITEs, for the benchmark's programs of verbs; what cannot be had ends
 * the program. Start with end_make().
 */
#ifndef BENCH_END_H
#define BENCH_END_H

#include "plx_verbs.h"

struct end {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_mr *mr;
	struct plx_qp *qp;
};

/** @param qp its completion queues are filled in */
void end_make(struct end *end, struct plx_adapter *adapter, const struct plx_cq_options *cq,
	      struct plx_qp_options qp, void *memory, uint64_t bytes);

#endif
