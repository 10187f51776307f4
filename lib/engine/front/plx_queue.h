/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues between application threads and an engine: what their creators set, and calls that
 * plx_verbs.h does not have. This room implements the posting calls of plx_verbs.h, plx_cq_arm(),
 * plx_cq_disarm(), plx_cq_get_event(), plx_cq_fd() and plx_srq_resize(). plx_back.h creates and
 * destroys queues. Start with plx_engine_cq_poll().
 */
#ifndef PLX_QUEUE_H
#define PLX_QUEUE_H

#include "plx_base.h"
#include "plx_verbs.h"

enum {
	PLX_CQ_DEPTH_MAX = 1 << 20,
	PLX_SRQ_DEPTH_MAX = PLX_QUEUE_DEPTH_MAX,
};

/* ---- completion queues ---- */

struct plx_engine_cq_config {
	uint32_t depth; /* 1 .. PLX_CQ_DEPTH_MAX */
	bool strict; /* more than `depth` unreaped entries is an overrun, as with hardware adapters;
			else there is room for everything its queue pairs can have in flight */
	uint64_t cookie; /* returned in events */
};

/**
 * As plx_cq_poll(), but without polling the engine in inline mode.
 * Cost:    hot; no system call
 */
uint32_t plx_engine_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n);
/** As plx_cq_peek(), likewise. */
uint32_t plx_engine_cq_peek(struct plx_cq *cq, uint32_t n, struct plx_wc_span *span);

struct plx_engine_cq_view {
	uint32_t depth;
	uint64_t produced, consumed; /* entries since creation */
	uint32_t armed;              /* enum plx_cq_notify bits */
	bool overrun;
};

void plx_engine_cq_query(const struct plx_cq *cq, struct plx_engine_cq_view *out);

/* ---- shared receive queues ---- */

struct plx_engine_srq_config {
	uint32_t depth, sges;
	uint32_t depth_max; /* maximum for plx_srq_resize(); 0: depth */
	uint32_t threshold; /* 0: no event; else SRQ_THRESHOLD once fewer entries remain, until
			       armed again */
	uint64_t cookie;
};

/** Posted entries that no message has used yet; may be slightly stale. */
uint32_t plx_engine_srq_count(const struct plx_srq *srq);

#endif
