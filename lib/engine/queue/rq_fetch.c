/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues as the engine's thread sees them: it moves entries from their ring into the
 * transport. It never locks a producer, and so never waits for a poster. It polls the ring only
 * when the queue behind it runs low, so that posting and receiving do not pass a cache line back
 * and forth for each message. Start with engine_rq_fetch().
 */
#include "plx_engine_rq.h"
#include "plx_heap.h"

/* ---- set-up ---- */

/* The transport's queue is behind the struct. */
#define SRQ_BYTES RTE_CACHE_LINE_ROUNDUP(sizeof(struct engine_srq))

enum plx_status
engine_rq_init(struct engine_rq *q, const struct engine_seat *seat, uint32_t depth, uint32_t sges,
	       bool shared, void *memory)
{
	const struct front_layout layout = rq_front_layout(depth, sges);
	struct engine_queues *queues = seat->queues;

	q->depth = depth;
	q->sges = sges;
	q->queues = queues;
	plx_list_init(&q->broken_link);
	engine_rq_set_low(q, 0);
	q->rq = plx_rq_init(memory, depth, sges, shared);
	q->front = front_create(seat->memory, &layout, queues->inline_mode, PLX_RING_CONSUMER,
				&q->ring);
	if (q->front == NULL)
		return PLX_NO_MEMORY;
	q->spill = front_spill(q->front, &layout);
	return PLX_OK;
}

void
engine_rq_free(struct engine_rq *q, const struct engine_seat *seat)
{
	front_free(seat->memory, q->front);
	q->front = NULL;
	q->rq = NULL;
}

enum plx_status
engine_srq_create(struct engine_seat *seat, const struct plx_engine_srq_config *config,
		  struct engine_srq **out)
{
	struct engine_queues *queues = seat->queues;
	uint32_t depth = config->depth_max > config->depth ? config->depth_max : config->depth;
	size_t rq_bytes = plx_rq_bytes(depth, config->sges);
	struct engine_srq *srq;
	enum plx_status status;

	if (config->depth == 0 || config->threshold > config->depth || rq_bytes == 0)
		return PLX_INVALID;
	srq = plx_heap_queue(SRQ_BYTES + rq_bytes, queues->socket);
	if (srq == NULL)
		return PLX_NO_MEMORY;
	status = engine_rq_init(&srq->queue, seat, depth, config->sges, true,
				(uint8_t *)srq + SRQ_BYTES);
	if (status != PLX_OK) {
		engine_rq_free(&srq->queue, seat);
		plx_heap_free(srq);
		return status;
	}
	srq->seat = seat;
	srq->cookie = config->cookie;
	plx_list_init(&srq->async_event_link);
	engine_seat_use(seat);
	/* Not armed yet: a queue that was never filled is below any threshold. */
	srq->threshold = config->threshold;
	plx_rq_arm(srq->queue.rq, config->threshold);
	engine_rq_set_low(&srq->queue, config->threshold);
	*out = srq;
	return PLX_OK;
}

void
engine_srq_place(struct engine_srq *srq, struct engine_seat *seat)
{
	engine_seat_unuse(srq->seat);
	engine_seat_use(seat);
	srq->queue.queues = seat->queues;
	srq->seat = seat;
}

void
engine_srq_free(struct engine_srq *srq)
{
	engine_seat_unuse(srq->seat);
	engine_rq_free(&srq->queue, srq->seat);
	plx_heap_free(srq);
}

/* ---- the engine's thread ---- */

/* Each word of an entry is read once, into a copy, and judged from that: the program may change it
 * meanwhile. */
static enum plx_status
fetch_one(struct engine_rq *q, const struct plx_ring_span *span, uint32_t i)
{
	const struct recv_slot *slot = plx_ring_at(span, sizeof(struct recv_slot), i);
	const struct plx_sge *more =
		q->spill + (size_t)((span->index + i) & q->ring.mask) * rq_spill_sges(q->sges);
	struct plx_sge sge[PLX_SGE_MAX];
	uint64_t wr_id = slot->wr_id;
	uint32_t sges = slot->sges;

	plx_copied(&sges);
	if (plx_unlikely(sges > q->sges))
		return PLX_TOO_MANY_SGES;
	if (plx_likely(sges == 1)) {
		sge[0] = slot->sge[0];
	} else {
		memcpy(sge, slot->sge, sizeof(slot->sge));
		if (sges > RECV_SGES)
			memcpy(sge + RECV_SGES, more, (sges - RECV_SGES) * sizeof(*sge));
	}
	plx_copied(sge);
	return engine_rq_to_transport(q, wr_id, sge, sges);
}

/* The program has forged its index, once and for all: no receive comes any more. */
static PLX_COLD void
on_forged(struct engine_rq *q)
{
	if (q->forged)
		return;
	q->forged = true;
	plx_count(q->queues->rings_forged, 1);
	plx_list_append(&q->queues->broken_rqs, &q->broken_link);
}

uint32_t
engine_rq_fetch(struct engine_rq *q)
{
	struct plx_ring_span span;
	uint32_t n;

	if (q->ring.shared == NULL)
		return 0;
	n = plx_ring_untrusted_peek(&q->ring, sizeof(struct recv_slot), q->depth, &span);
	if (plx_unlikely(q->ring.fault))
		on_forged(q);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (plx_unlikely(fetch_one(q, &span, i) != PLX_OK))
			plx_count(q->queues->posts_refused, 1);
	plx_ring_untrusted_release(&q->ring, n);
	q->fetched += n;
	return n;
}

void
engine_rq_drop(struct engine_rq *q)
{
	struct plx_ring_span span;
	uint32_t n;

	if (q->ring.shared == NULL)
		return;
	n = plx_ring_untrusted_peek(&q->ring, sizeof(struct recv_slot), UINT32_MAX, &span);
	if (n == 0)
		return;
	plx_ring_untrusted_release(&q->ring, n);
	q->fetched += n;
}
