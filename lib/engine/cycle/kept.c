/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packets that wait for a missing one (decision 68): their buffers stay with the queue pair until
 * the transport asks for them. It never decides what is kept; plx_rc_keep() does.
 * Start with engine_keep() and engine_take_kept().
 */
#include <rte_mbuf.h>

#include "plx_engine_cycle.h"

enum {
	KEEP_QPS = 64, /* queue pairs with a missing packet at a time; others drop */
	KEEP_SHARE =
		16, /* of the buffers of a pool, so that those for new packets do not run out */
};

bool
engine_keep_init(struct plx_engine *engine, int socket)
{
	engine->keep_memory = plx_heap_alloc(plx_keep_bytes(KEEP_QPS), socket);
	if (engine->keep_memory == NULL)
		return false;
	engine->keep = plx_keep_init(engine->keep_memory, KEEP_QPS,
				     engine->config.pool->size / KEEP_SHARE);
	return true;
}

/* A buffer whose bytes from the BTH on are those: the packet's own, or a copy of a packet that came
 * in several. */
static struct rte_mbuf *
hold(struct plx_engine *engine, struct rte_mbuf *m, const uint8_t **bth, uint32_t len)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	struct rte_mbuf *copy;

	if (plx_likely(*bth >= bytes && *bth + len <= bytes + m->data_len)) {
		rte_mbuf_refcnt_update(m, 1);
		return m;
	}
	copy = rte_pktmbuf_alloc(engine->config.pool);
	if (copy == NULL)
		return NULL;
	PLX_ASSERT(len <= rte_pktmbuf_tailroom(copy));
	rte_memcpy(rte_pktmbuf_append(copy, (uint16_t)len), *bth, len);
	*bth = rte_pktmbuf_mtod(copy, const uint8_t *);
	return copy;
}

PLX_COLD void
engine_keep(struct plx_engine *engine, struct engine_qp *qp, const struct engine_received *packet,
	    const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	const uint8_t *bth = packet->bth;
	struct rte_mbuf *m = hold(engine, packet->m, &bth, packet->roce_bytes);
	struct plx_kept *kept;

	if (m == NULL)
		return;
	kept = plx_rc_keep(qp->rc, pkt, verdict);
	if (kept == NULL) {
		rte_pktmbuf_free(m);
		return;
	}
	*kept = (struct plx_kept){.packet = m, .bth = bth, .len = packet->roce_bytes};
	plx_count(&engine->counters.rx_kept, 1);
}

static void
process(struct plx_engine *engine, struct engine_qp *qp, const struct plx_kept *kept)
{
	struct plx_pkt pkt;

	if (plx_pkt_decode(kept->bth, kept->len, &pkt) != PLX_WIRE_OK)
		PLX_ASSERT(!"it was decoded before");
	engine_rq_feed(qp->recv);
	(void)plx_rc_on_packet(qp->rc, &pkt, engine->now, &engine->actions);
	engine_execute(engine, qp);
	plx_count(&engine->counters.rx_taken, 1);
}

void
engine_take_kept(struct plx_engine *engine, struct engine_qp *qp)
{
	struct plx_kept kept;
	enum plx_kept_kind kind;

	/* What waits for copies of private memory is taken when they are done. */
	while (engine_may_copy(qp) && (kind = plx_rc_next_kept(qp->rc, &kept)) != PLX_KEPT_NONE) {
		if (kind == PLX_KEPT_NEXT)
			process(engine, qp, &kept);
		rte_pktmbuf_free(kept.packet);
	}
}

void
engine_release_kept(struct engine_qp *qp)
{
	struct plx_kept kept;

	if (qp->ud != NULL)
		return;
	while (plx_rc_next_kept(qp->rc, &kept) != PLX_KEPT_NONE)
		rte_pktmbuf_free(kept.packet);
}
