/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues as the engine's thread sees them: it moves entries from their ring into the
 * transport. It never locks a producer, and so never waits for a poster. It polls the ring only
 * when the queue behind it runs low, so that posting and receiving do not pass a cache line back
 * and forth for each message. Start with engine_rq_fetch().
 */
#include "plx_engine_rq.h"

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
