/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of a completion queue that a polling thread looks at. Most polls find nothing, so this
 * look is made in the caller, without a call. Start with plx_cq_looks_empty().
 */
#ifndef PLX_CQ_LOOK_H
#define PLX_CQ_LOOK_H

#include "plx_ring_look.h"
#include "plx_types.h"

struct plx_cq;

/* The beginning of struct plx_cq. */
struct plx_cq_look {
	struct plx_ring_look ring;
	bool inline_mode;
};

/** Would plx_engine_cq_poll() find nothing? Threads: any */
static inline bool
plx_cq_looks_empty(const struct plx_cq *cq)
{
	const struct plx_cq_look *look = (const struct plx_cq_look *)(const void *)cq;

	return plx_ring_looks_empty(&look->ring, sizeof(struct plx_wc));
}

#endif
