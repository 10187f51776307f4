/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues and shared receive queues as an engine sees them: receives that were posted are
 * fetched into the transport's queue when that runs low, and their places told free again.
 * Start with struct engine_rq, then engine_rq_feed().
 */
#ifndef PLX_ENGINE_RQ_H
#define PLX_ENGINE_RQ_H

#include "plx_engine_cq.h"
#include "plx_producer.h"
#include "plx_transport.h"

enum {
	RECV_SGES = 4,
	RQ_LOW = 32, /* a queue with fewer entries looks into its ring */
};

/* One receive as it crosses a ring; longer lists lie in the spill beside it. */
struct recv_slot {
	uint64_t wr_id;
	uint32_t sges;
	uint32_t resv;
	struct plx_sge sge[RECV_SGES];
};

/* A receive queue: ring on the application's side, plx_rq on the engine's. Inline mode has no ring:
 * posts go to the plx_rq at once. */
struct engine_rq {
	struct rte_ring *ring; /* NULL in inline mode */
	struct plx_sge *spill; /* [slots of the ring][sges - RECV_SGES] */
	struct plx_rq *rq;
	struct plx_rc *rc;         /* whose own queue it is; NULL: an SRQ's */
	uint64_t *refused;         /* counts entries that were not valid when they arrived */
	uint32_t depth, sges, low; /* depth: that there is memory for */
	atomic_uint limit;         /* entries that may be posted, at most `depth` */
	uint32_t mask;             /* slots of the ring - 1 */
	const struct plx_engine_cq *held_by;   /* its completions wait behind this queue's ring */
	uint32_t fetched;                      /* entries given to rq; engine's */
	ALIGNED_LINE struct producer producer; /* of who posts */
	ALIGNED_LINE atomic_uint
		consumed; /* entries whose place is free; engine's, read by posts */
};

/* Errors: INVALID, NO_MEMORY: to be freed all the same */
enum plx_status engine_rq_init(struct engine_rq *q, const struct engine_queues *queues,
			       uint32_t depth, uint32_t sges, bool shared);
void engine_rq_free(struct engine_rq *q);
uint32_t engine_rq_post(struct engine_rq *q, const struct plx_recv_wr *wr, uint32_t n,
			enum plx_status *refused);
/* Engine's thread: move what was posted into the plx_rq. Returns: how many */
uint32_t engine_rq_fetch(struct engine_rq *q);
/* Engine's thread: forget everything posted. */
void engine_rq_drop(struct engine_rq *q);

/* Engine's thread: one entry into the plx_rq. */
static inline enum plx_status
engine_rq_to_transport(struct engine_rq *q, uint64_t wr_id, const struct plx_sge *sge,
		       uint32_t sges)
{
	if (q->rc != NULL)
		return plx_rc_post_recv(q->rc, wr_id, sge, sges);
	return plx_rq_post(q->rq, wr_id, sge, sges);
}

/* SGEs of an entry that lie in the spill beside its place in the ring. */
static inline uint32_t
engine_rq_spill_sges(const struct engine_rq *q)
{
	return q->sges > RECV_SGES ? q->sges - RECV_SGES : 0;
}

/* When to look into the ring: before the queue runs dry, and so early that every entry there is has
 * been seen before an SRQ's threshold is judged. */
static inline void
engine_rq_set_low(struct engine_rq *q, uint32_t threshold)
{
	q->low = q->depth < RQ_LOW ? q->depth : RQ_LOW;
	if (q->low <= threshold)
		q->low = threshold + 1;
}

/* Look into the ring of receives while there is still something in the queue behind it. */
static inline void
engine_rq_feed(struct engine_rq *q)
{
	if (q->ring != NULL && plx_unlikely(plx_rq_count(q->rq) < q->low))
		engine_rq_fetch(q);
}

static inline void
engine_rq_publish_now(struct engine_rq *q)
{
	uint32_t consumed = q->fetched - (q->depth - plx_rq_room(q->rq));

	if (consumed != atomic_load_explicit(&q->consumed, memory_order_relaxed))
		atomic_store_explicit(&q->consumed, consumed, memory_order_release);
}

/*
 * Engine's thread: tell posts how many places are free. While completions that go to `cq` wait
 * behind its ring nobody is told: who posts without reaping is held back, so that never more waits
 * than what the queue pairs had in flight (decision 10).
 */
static inline void
engine_rq_publish(struct engine_rq *q, const struct plx_engine_cq *cq)
{
	if (plx_unlikely(cq->spill_count > 0))
		q->held_by = cq;
	if (plx_unlikely(q->held_by != NULL)) {
		if (q->held_by->spill_count > 0)
			return;
		q->held_by = NULL;
	}
	engine_rq_publish_now(q);
}

struct plx_engine_srq {
	struct engine_rq queue;
	struct engine_queues *queues;
	uint32_t users;
	uint64_t cookie;
	uint32_t threshold;
	struct plx_list async_event_link; /* in queues->srq_events while one is due */
};

/* Errors: INVALID, NO_MEMORY */
enum plx_status engine_srq_create(struct engine_queues *queues,
				  const struct plx_engine_srq_config *config,
				  struct plx_engine_srq **srq) PLX_MUST_CHECK;
/* The engine does not know it any more. */
void engine_srq_free(struct plx_engine_srq *srq);

#endif
