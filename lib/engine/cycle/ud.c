/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UD queue pairs in the duty cycle: the differences from a connection. Any peer may send to them,
 * and each datagram has an address handle of its own.
 * It never decides what is sent or accepted (lib/proto/transport does), nor resolves neighbours
 * (lib/engine/link does). Start with ud_receive() and ud_transmit().
 */
#include "plx_engine_ud.h"

void
ud_receive(struct plx_engine *engine, struct engine_qp *qp, const struct plx_pkt *pkt,
	   const uint8_t *ip, size_t ip_bytes)
{
	enum plx_verdict verdict = plx_ud_admit(qp->ud, pkt);
	size_t covered = ip_bytes - PLX_ICRC_BYTES;

	if (plx_unlikely(verdict != PLX_VERDICT_ACCEPT)) {
		plx_count(&engine->counters.denied[verdict], 1);
		return;
	}
	if (plx_unlikely(plx_icrc_load(ip + covered) != engine->icrc(ip, covered))) {
		plx_count(&engine->counters.rx_icrc, 1);
		return;
	}
	if (plx_unlikely(!engine_may_copy(qp))) {
		plx_count(&engine->counters.rx_no_copy, 1);
		return;
	}
	engine_rq_feed(qp->recv);
	(void)plx_ud_on_packet(qp->ud, pkt, ip, &engine->actions);
	engine_execute(engine, qp);
	/* It owes no acknowledgement, so it is not revisited at the end of the burst. */
	engine_schedule(engine, qp);
}

uint32_t
ud_transmit(struct plx_engine *engine, struct engine_qp *qp, uint32_t budget)
{
	uint32_t sent;

	/* Any of them may be a loopback packet. */
	if (budget > LOOP_ROOM - engine->loop_count)
		budget = LOOP_ROOM - engine->loop_count;
	sent = plx_ud_transmit(qp->ud, budget, &engine->actions);
	engine_execute(engine, qp);
	if (plx_unlikely(!plx_list_empty(&engine->ah_table->ending)))
		engine->link->reap_ahs(engine);
	return sent;
}

void
ud_fetch_all(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->uds) {
		struct engine_qp *qp = plx_list_entry(node, struct engine_qp, ud_link);

		engine_qp_fetch_all(qp);
		engine_schedule(engine, qp);
	}
}
