/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues as a program sees them: the front, which it shares with the engine, and its own
 * half of a queue or a shared queue. The engine's half is in plx_engine_rq.h; what holds for
 * fronts is in plx_cq_front.h. Start with struct rq_front, then engine_rq_post().
 */
#ifndef PLX_RQ_FRONT_H
#define PLX_RQ_FRONT_H

#include <stdatomic.h>

#include "plx_front.h"
#include "plx_producer.h"
#include "plx_queue.h"

enum {
	RECV_SGES = 4,
};

/* One receive in a ring. Further SGEs are in the spill. */
struct recv_slot {
	uint64_t wr_id;
	uint32_t sges;
	uint32_t resv;
	struct plx_sge sge[RECV_SGES];
};

/* The head; inline mode has nothing else. */
struct rq_front {
	PLX_ALIGNED_PAIR atomic_uint consumed; /* entries whose slot is free; written by the engine,
						  read by posts */
};

_Static_assert(sizeof(struct rq_front) == PLX_LINE_PAIR, "the ring begins a pair of lines");

/* SGEs of an entry that are in the spill instead of the ring. */
static inline uint32_t
rq_spill_sges(uint32_t sges)
{
	return sges > RECV_SGES ? sges - RECV_SGES : 0;
}

static inline struct front_layout
rq_front_layout(uint32_t depth, uint32_t sges)
{
	return (struct front_layout){
		.head_bytes = sizeof(struct rq_front),
		.ring = {.entries = depth,
			 .entry_bytes = sizeof(struct recv_slot),
			 .producers = PLX_RING_ONE, /* one at a time */
			 .consumers = PLX_RING_ONE},
		.spill_bytes = rq_spill_sges(sges) * (uint32_t)sizeof(struct plx_sge),
	};
}

struct engine_rq;
struct plx_here;

/* A program's half of a receive queue. */
struct rq {
	struct rte_ring *ring; /* NULL in inline mode */
	struct plx_sge *spill; /* [slots of the ring][rq_spill_sges()] */
	struct rq_front *front;
	const struct plx_here *here; /* inline mode; NULL: there is a ring */
	struct engine_rq *back;      /* ... and what that posts to */
	uint32_t depth, sges;        /* depth: the allocated number of entries */
	uint32_t mask;               /* slots of the ring - 1 */
	atomic_uint limit;           /* maximum number of posted entries, at most `depth` */
	PLX_ALIGNED_LINE struct producer producer;
};

/* A program's shared receive queue. */
struct plx_srq {
	struct rq queue;
	uint64_t object;             /* by which its owner knows the queue */
	struct plx_adapter *adapter; /* of the creator; NULL: none */
};

/* Begin to use the front of a queue that the engine has made. The object is zeroed.
 * @param depth, sges as the engine's half was created with
 * @param here, back inline mode, and the engine's half; NULL: there is a ring */
void rq_open(struct rq *q, struct rq_front *front, uint32_t depth, uint32_t sges,
	     const struct plx_here *here, struct engine_rq *back);

static inline uint32_t
rq_limit(const struct rq *q)
{
	return atomic_load_explicit(&q->limit, memory_order_relaxed);
}

uint32_t engine_rq_post(struct rq *q, const struct plx_recv_wr *wr, uint32_t n,
			enum plx_status *refused);

#endif
