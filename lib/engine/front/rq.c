/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues as posting threads see them: rings that carry receive entries to the engine, and
 * shared receive queues. The engine's side is in lib/engine/queue/rq_fetch.c. Start with
 * engine_rq_post().
 */
#include "plx_here.h"
#include "plx_rq_front.h"
#include "producer_lock.h"

/* ---- both kinds ---- */

void
rq_open(struct rq *q, struct rq_front *front, uint32_t depth, uint32_t sges,
	const struct plx_here *here, struct engine_rq *back)
{
	const struct front_layout layout = rq_front_layout(depth, sges);

	q->front = front;
	q->here = here;
	q->back = back;
	q->depth = depth;
	q->sges = sges;
	atomic_init(&q->limit, depth);
	if (here != NULL)
		return;
	q->ring = front_ring(front, &layout);
	q->mask = plx_ring_slots_of(&layout.ring) - 1;
	q->spill = front_spill(front, &layout);
}

static enum plx_status
check(const struct rq *q, const struct plx_recv_wr *wr)
{
	uint64_t bytes = 0;

	if (plx_unlikely(wr->sges > q->sges))
		return PLX_TOO_MANY_SGES;
	for (uint32_t i = 0; i < wr->sges; i++)
		bytes += wr->sge[i].length;
	return plx_likely(bytes <= PLX_MESSAGE_MAX) ? PLX_OK : PLX_TOO_LONG;
}

static void
fill(const struct rq *q, const struct plx_recv_wr *wr, struct recv_slot *slot, uint32_t index)
{
	struct plx_sge *more = q->spill + (size_t)(index & q->mask) * rq_spill_sges(q->sges);

	slot->wr_id = wr->wr_id;
	slot->sges = wr->sges;
	for (uint32_t i = 0; i < wr->sges; i++)
		*(i < RECV_SGES ? &slot->sge[i] : &more[i - RECV_SGES]) = wr->sge[i];
}

static uint32_t
post_locked(struct rq *q, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *status)
{
	struct plx_ring_span span;
	uint32_t posted = 0;
	uint32_t got = producer_reserve(&q->producer, q->ring, sizeof(struct recv_slot),
					rq_limit(q), &q->front->consumed, n, &span);

	*status = PLX_FULL;
	if (got == 0)
		return 0;
	while (posted < got) {
		*status = check(q, &wr[posted]);
		if (*status != PLX_OK)
			break;
		fill(q, &wr[posted], plx_ring_at(&span, sizeof(struct recv_slot), posted),
		     span.index + posted);
		STEP(ENTRY_WRITTEN);
		posted++;
	}
	producer_commit(&q->producer, q->ring, sizeof(struct recv_slot), &span, posted);
	if (posted < n && *status == PLX_OK)
		*status = PLX_FULL;
	return posted;
}

static uint32_t
post_ring(struct rq *q, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *status)
{
	uint32_t posted;

	producer_lock(&q->producer);
	posted = post_locked(q, wr, n, status);
	producer_unlock(&q->producer);
	return posted;
}

/* One receive of one SGE: what post_ring() does, without what repeats. */
static inline bool
is_usual(const struct plx_recv_wr *wr)
{
	return wr->sges == 1 && wr->sge->length <= PLX_MESSAGE_MAX;
}

static __attribute__((noinline)) uint32_t
post_usual(struct rq *q, const struct plx_recv_wr *wr, enum plx_status *refused)
{
	struct plx_ring_span span;
	uint32_t posted;

	producer_lock(&q->producer);
	posted = producer_reserve(&q->producer, q->ring, sizeof(struct recv_slot), rq_limit(q),
				  &q->front->consumed, 1, &span);
	if (plx_likely(posted != 0)) {
		struct recv_slot *slot = (struct recv_slot *)(void *)span.at;

		slot->wr_id = wr->wr_id;
		slot->sges = 1;
		slot->sge[0] = wr->sge[0];
		STEP(ENTRY_WRITTEN);
		producer_commit(&q->producer, q->ring, sizeof(*slot), &span, 1);
	}
	producer_unlock(&q->producer);
	if (refused != NULL)
		*refused = posted != 0 ? PLX_OK : PLX_FULL;
	return posted;
}

static __attribute__((noinline)) uint32_t
post_any(struct rq *q, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *refused)
{
	enum plx_status status = PLX_OK;
	uint32_t posted = 0;

	if (n > 0)
		posted = q->ring != NULL ? post_ring(q, wr, n, &status)
					 : q->here->post_recv(q, wr, n, &status);
	if (refused != NULL)
		*refused = status;
	return posted;
}

uint32_t
engine_rq_post(struct rq *q, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *refused)
{
	if (plx_likely(n == 1 && q->ring != NULL && is_usual(wr)))
		return post_usual(q, wr, refused);
	return post_any(q, wr, n, refused);
}

/* ---- shared ---- */

uint32_t
plx_post_srq_recv(struct plx_srq *srq, const struct plx_recv_wr *wr, uint32_t n,
		  enum plx_status *refused)
{
	return engine_rq_post(&srq->queue, wr, n, refused);
}

enum plx_status
plx_srq_resize(struct plx_srq *srq, uint32_t depth)
{
	struct producer *producer = &srq->queue.producer;
	enum plx_status status = PLX_BUSY;

	if (depth == 0 || depth > srq->queue.depth)
		return PLX_INVALID;
	/* Locked between posts, which compute free slots from the old limit. */
	producer_lock(producer);
	if (plx_engine_srq_count(srq) <= depth) {
		atomic_store(&srq->queue.limit, depth);
		producer->credits = 0;
		status = PLX_OK;
	}
	producer_unlock(producer);
	return status;
}

uint32_t
plx_engine_srq_count(const struct plx_srq *srq)
{
	const struct rq *q = &srq->queue;

	if (q->ring == NULL)
		return q->here->receives(q);
	return plx_ring_produced(q->ring) -
	       atomic_load_explicit(&q->front->consumed, memory_order_relaxed);
}
