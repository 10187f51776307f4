/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues and shared receive queues as an engine sees them. It fetches posted receives into
 * the transport's queue when that runs low, and then publishes that their slots are free. This half
 * is the engine's alone; the front, which programs use, is in plx_rq_front.h.
 * Start with struct engine_rq, then engine_rq_feed().
 */
#ifndef PLX_ENGINE_RQ_H
#define PLX_ENGINE_RQ_H

#include "plx_engine_cq.h"
#include "plx_rq_front.h"
#include "plx_transport.h"

enum {
	RQ_LOW = 32, /* a queue with fewer entries polls its ring */
};

/* A receive queue: a ring on the program's side, a plx_rq on the engine's. Inline mode has no
 * ring: posts enter the plx_rq directly. */
struct engine_rq {
	struct plx_ring_untrusted ring; /* its `shared` is NULL in inline mode */
	struct rq_front *front;
	const struct plx_sge *spill; /* in the front */
	struct plx_rq *rq;
	struct plx_rc *rc; /* owner of the queue; NULL: an SRQ */
	struct engine_queues *queues;
	uint32_t depth, sges, low; /* depth: the allocated number of entries */
	uint32_t fetched;          /* entries moved to rq */
	uint32_t consumed;         /* what the front says */
	bool forged;               /* the program's index was; it has been reported */
	const struct engine_cq
		*held_by; /* the completion queue whose backlog delays the release of slots */
	struct plx_list broken_link; /* in queues->broken_rqs after a forged index */
};

/* @param memory [plx_rq_bytes()] for the transport's queue: aligned to PLX_CACHE_LINE, the caller's
 * Errors: NO_MEMORY; the caller calls engine_rq_free() in any case */
enum plx_status engine_rq_init(struct engine_rq *q, const struct engine_seat *seat, uint32_t depth,
			       uint32_t sges, bool shared, void *memory);
void engine_rq_free(struct engine_rq *q, const struct engine_seat *seat);
/* Move posted entries into the plx_rq. Engine's thread.
 * Returns: how many */
uint32_t engine_rq_fetch(struct engine_rq *q);
/* Discard everything posted. Engine's thread. */
void engine_rq_drop(struct engine_rq *q);

/* Inline mode: what struct plx_here says. Engine's thread. */
uint32_t engine_rq_post_here(struct rq *q, const struct plx_recv_wr *wr, uint32_t n,
			     enum plx_status *status);
uint32_t engine_rq_count_here(const struct rq *q);

/* Post one entry to the plx_rq. Engine's thread. */
static inline enum plx_status
engine_rq_to_transport(struct engine_rq *q, uint64_t wr_id, const struct plx_sge *sge,
		       uint32_t sges)
{
	if (q->rc != NULL)
		return plx_rc_post_recv(q->rc, wr_id, sge, sges);
	return plx_rq_post(q->rq, wr_id, sge, sges);
}

/* Set the level below which the ring is polled: before the queue runs dry, and early enough that
 * every entry in the ring is known before the queue is compared with an SRQ's threshold. */
static inline void
engine_rq_set_low(struct engine_rq *q, uint32_t threshold)
{
	q->low = q->depth < RQ_LOW ? q->depth : RQ_LOW;
	if (q->low <= threshold)
		q->low = threshold + 1;
}

/* Poll the ring of receives before the queue behind it is empty. */
static inline void
engine_rq_feed(struct engine_rq *q)
{
	if (q->ring.shared != NULL && plx_unlikely(plx_rq_count(q->rq) < q->low))
		engine_rq_fetch(q);
}

/* Always inlined: it follows each service of a queue pair. */
static inline __attribute__((always_inline)) void
engine_rq_publish_now(struct engine_rq *q)
{
	uint32_t consumed = q->fetched - (q->depth - plx_rq_room(q->rq));

	if (consumed == q->consumed)
		return;
	q->consumed = consumed;
	atomic_store_explicit(&q->front->consumed, consumed, memory_order_release);
}

/*
 * Publish how many slots are free. Engine's thread. While `cq` has a backlog, none are: a program
 * that posts without polling is held back, so that the backlog never exceeds what the queue pairs
 * had in flight (decision 10).
 */
static inline void
engine_rq_publish(struct engine_rq *q, const struct engine_cq *cq)
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

struct engine_srq {
	struct engine_rq queue;
	struct engine_seat *seat;
	uint32_t users;
	uint64_t cookie;
	uint32_t threshold;
	struct plx_list async_event_link; /* in seat->srq_events while an event is due */
};

/* Errors: INVALID, NO_MEMORY */
enum plx_status engine_srq_create(struct engine_seat *seat,
				  const struct plx_engine_srq_config *config,
				  struct engine_srq **srq) PLX_MUST_CHECK;
/* As engine_cq_place(). */
void engine_srq_place(struct engine_srq *srq, struct engine_seat *seat);
/* Free the queue. The engine no longer refers to it. */
void engine_srq_free(struct engine_srq *srq);

#endif
