/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine's side of posting: send and receive entries out of their rings and into the transport.
 * It never locks a producer, and so never waits for a poster. A receive ring is looked into
 * only when the queue behind it runs low, so that posting and receiving do not pass a cache line to
 * and fro for each message. Start with engine_qp_fetch() and engine_rq_fetch().
 */
#include "ud.h"

#define TWICE __attribute__((always_inline)) /* see post.c */

/* ---- receives ---------------------------------------------------------------------------------
 */

static enum plx_status
fetch_one(struct engine_rq *q, const struct plx_ring_span *span, uint32_t i)
{
	const struct recv_slot *slot = plx_ring_at(span, sizeof(struct recv_slot), i);
	const struct plx_sge *more =
		q->spill + (size_t)((span->index + i) & q->mask) * engine_rq_spill_sges(q);
	struct plx_sge sge[PLX_SGE_MAX];
	uint32_t sges = slot->sges;

	if (plx_unlikely(sges > q->sges))
		return PLX_TOO_MANY_SGES;
	if (plx_likely(sges <= RECV_SGES))
		return engine_rq_to_transport(q, slot->wr_id, slot->sge, sges);
	memcpy(sge, slot->sge, sizeof(slot->sge));
	memcpy(sge + RECV_SGES, more, (sges - RECV_SGES) * sizeof(*sge));
	return engine_rq_to_transport(q, slot->wr_id, sge, sges);
}

uint32_t
engine_rq_fetch(struct engine_rq *q)
{
	struct plx_ring_span span;
	uint32_t n;

	if (q->ring == NULL)
		return 0;
	n = plx_ring_peek(q->ring, sizeof(struct recv_slot), q->depth, &span);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (plx_unlikely(fetch_one(q, &span, i) != PLX_OK))
			plx_count(q->refused, 1);
	plx_ring_release(q->ring, n);
	q->fetched += n;
	return n;
}

void
engine_rq_drop(struct engine_rq *q)
{
	struct plx_ring_span span;
	uint32_t n;

	if (q->ring == NULL)
		return;
	while ((n = plx_ring_peek(q->ring, sizeof(struct recv_slot), q->depth, &span)) > 0) {
		plx_ring_release(q->ring, n);
		q->fetched += n;
	}
}

/* ---- sends ------------------------------------------------------------------------------------
 */

static bool
uses_spill(const struct plx_wqe *wqe)
{
	return wqe->sges > PLX_WQE_SGES || wqe->inline_bytes > PLX_WQE_INLINE_BYTES;
}

/* From the ring into the transport. Returns: how many */
static inline TWICE uint32_t
fetch(struct plx_engine_qp *qp, bool ud)
{
	struct plx_ring_span span;
	uint32_t n = engine_qp_peek(qp, POSTS_BURST, &span);

	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct plx_wqe *wqe = plx_ring_at(&span, sizeof(*wqe), i);
		const uint8_t *spill = NULL;
		enum plx_status status;

		if (uses_spill(wqe))
			spill = qp->spill +
				(size_t)((span.index + i) & qp->sq_slots_mask) * qp->spill_bytes;
		status = ud ? plx_ud_post_send(qp->ud, wqe, spill)
			    : plx_rc_post_send(qp->rc, wqe, spill);
		if (plx_unlikely(status != PLX_OK)) {
			/* The transport's entries go on at the next index of the ring. It
			 * never happens to who posts through plx_engine_qp_post_send() and does
			 * not take the queue pair out of RTS meanwhile. */
			plx_count(&qp->engine->counters.posts_refused, 1);
			qp->sq_base++;
		}
	}
	plx_ring_release(qp->sq, n);
	return n;
}

static __attribute__((noinline)) uint32_t
fetch_datagrams(struct plx_engine_qp *qp)
{
	return fetch(qp, true);
}

uint32_t
engine_qp_fetch(struct plx_engine_qp *qp)
{
	unsigned state = atomic_load_explicit(&qp->state, memory_order_relaxed);

	if (qp->sq == NULL)
		return 0;
	if (plx_unlikely(state >= PLX_QP_ERROR)) {
		if (state_of(state) == PLX_QP_ERROR)
			engine_rq_fetch(&qp->own);
		if (state & STATE_UD)
			return fetch_datagrams(qp);
	}
	return fetch(qp, false);
}
