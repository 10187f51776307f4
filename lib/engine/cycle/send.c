/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Executing the decisions of the transport, and passing packets to the port: buffers, headers,
 * payload, ICRC, bursts. It never decides what is sent. Start with engine_execute(), then
 * engine_flush().
 */
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "plx_engine_member.h"
#include "plx_engine_ud.h"
#include "waiting.h"

#if defined(__x86_64__)
#define PREFETCHW __attribute__((target("prfchw")))
#else
#define PREFETCHW
#endif

/* Prefetch the lines of a buffer that are about to be written: they may be in the cache of the
 * core that freed it, and without this each store would wait separately. */
static inline PREFETCHW void
claim(struct rte_mbuf *m)
{
	const uint8_t *bytes = (const uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	__builtin_prefetch(m, 1);
	for (uint32_t line = 0; line < 3; line++)
		__builtin_prefetch(bytes + (size_t)line * PLX_CACHE_LINE, 1);
}

/* Make at least one buffer available for sending.
 * Returns: how many are available */
static PREFETCHW uint32_t
stock(struct plx_engine *engine)
{
	void **to = (void **)engine->spare;

	if (plx_likely(engine->spare_count > 0))
		return engine->spare_count;
	/* An mbuf from a pool is one segment with one reference; the other fields are set when it
	 * is written. */
	if (plx_unlikely(rte_mempool_get_bulk(engine->config.pool, to, QUANTUM_MAX) != 0)) {
		plx_count(&engine->counters.tx_no_buffer, 1);
		return 0;
	}
	engine->spare_count = QUANTUM_MAX;
	for (uint32_t i = 0; i < QUANTUM_MAX; i++)
		claim(engine->spare[i]);
	return engine->spare_count;
}

/* Get a buffer of `len` bytes for writing. */
static inline uint8_t *
open_buffer(struct rte_mbuf *m, size_t len)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = 0;
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static inline void
seal(const struct plx_engine *engine, struct rte_mbuf *m)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *) + engine->ip_at;
	size_t covered = m->data_len - (size_t)engine->ip_at - PLX_ICRC_BYTES;

	plx_icrc_store(engine->icrc(ip, covered), ip + covered);
}

/*
 * Compute the ICRCs of all packets written since the last call. This is a separate pass because a
 * CRC that loads recently stored bytes in wider pieces stalls on the store buffer.
 */
void
engine_seal(struct plx_engine *engine)
{
	for (uint32_t i = engine->tx_sealed; i < engine->tx_count; i++)
		seal(engine, engine->tx[i]);
	engine->tx_sealed = engine->tx_count;
}

/* Write a packet from the headers to the pad into the buffer that it is sent from; the ICRC field
 * is zeroed. */
static inline struct rte_mbuf *
write_packet(struct plx_engine *engine, const struct plx_frame_template *tmpl,
	     const struct plx_emit *emit)
{
	const struct plx_iov *iov = &engine->actions.iov[emit->iov_first];
	struct rte_mbuf *m = engine->spare[--engine->spare_count];
	size_t roce = plx_opcodes[emit->pkt.opcode].header_bytes + emit->pkt.payload_bytes +
		      emit->pkt.pad + PLX_ICRC_BYTES;
	uint8_t *bytes = open_buffer(m, tmpl->header_bytes + roce);
	size_t at = plx_frame_template_write(tmpl, roce, bytes);

	at += plx_pkt_encode(&emit->pkt, bytes + at);
	for (uint32_t i = 0; i < emit->iovs; i++) {
		memcpy(bytes + at, iov[i].base, iov[i].bytes);
		at += iov[i].bytes;
	}
	memset(bytes + at, 0, 3); /* the pad, and bytes that the ICRC then overwrites */
	return m;
}

static void
emit(struct plx_engine *engine, struct engine_qp *qp, const struct plx_emit *emit)
{
	struct rte_mbuf *m = write_packet(engine, &qp->to_peer, emit);

	if (plx_unlikely(emit->pkt.opcode == PLX_CNP))
		plx_frame_set_tos(rte_pktmbuf_mtod(m, uint8_t *) + engine->ip_at, PLX_CNP_TOS);
	if (plx_likely(!qp->loops)) {
		engine->tx[engine->tx_count++] = m;
		return;
	}
	seal(engine, m);
	engine->loop[engine->loop_count++] = m;
}

/* Is the neighbour of an address handle resolved? */
static bool
is_ready(struct engine_ah *ah)
{
	const struct plx_engine *engine = ah->engine;

	/* Queue behind datagrams already waiting, to keep the order. */
	if (plx_unlikely(ah->waits > 0))
		return false;
	if (plx_likely(ah->resolved && ah->version == engine_net_version(engine)))
		return true;
	return engine->link->resolve_ah(ah);
}

/* Write a datagram if a buffer is available; the caller has ensured that, and room. */
static void
emit_datagram(struct plx_engine *engine, const struct plx_emit *emit)
{
	struct engine_ah *ah = &engine->ah_table->ah[emit->ah];
	bool ready = is_ready(ah);
	struct rte_mbuf *m = write_packet(engine, &ah->to_peer, emit);

	if (plx_likely(ready && !ah->loops)) {
		engine->tx[engine->tx_count++] = m;
		return;
	}
	seal(engine, m);
	if (ready)
		engine->loop[engine->loop_count++] = m;
	else
		engine->link->enqueue(ah, m);
}

void
engine_execute(struct plx_engine *engine, struct engine_qp *qp)
{
	struct plx_actions *actions = &engine->actions;

	for (uint32_t i = 0; i < actions->count; i++) {
		const struct plx_action *action = &actions->list[i];

		switch ((enum plx_action_kind)action->kind) {
		case PLX_ACT_PLACE:
			if (plx_unlikely(action->place.is_private))
				engine_private_place(engine, qp, &action->place);
			else
				plx_place_bytes(&action->place);
			break;
		case PLX_ACT_LOAD:
			engine_private_load(engine, qp, &action->load);
			break;
		case PLX_ACT_ATOMIC:
			plx_action_apply_memory(action);
			break;
		case PLX_ACT_COMPLETE:
			if (plx_unlikely(qp->copies > 0))
				engine_private_hold(engine, qp, &action->completion);
			else
				engine_stage(engine, qp, &action->completion);
			break;
		case PLX_ACT_EVENT:
			engine_raise_event(engine, qp, &action->event);
			break;
		case PLX_ACT_EMIT:
			if (plx_unlikely(qp->ud != NULL))
				emit_datagram(engine, &action->emit);
			else
				emit(engine, qp, &action->emit);
			break;
		case PLX_ACT_NONE:
			PLX_ASSERT(!"an action of no kind");
		}
	}
	plx_actions_reset(actions);
}

/* Fast path for usual packets: headers are written directly into the buffer.
 * Returns: the number of packets; *other: there may be other work */
static inline uint32_t
transmit_fast(struct plx_engine *engine, struct engine_qp *qp, uint32_t budget, bool *other)
{
	const uint32_t at = qp->to_peer.header_bytes;
	uint32_t sent = 0;

	*other = true;
	while (sent < budget) {
		struct rte_mbuf *m = engine->spare[engine->spare_count - 1];
		uint8_t *bytes = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;
		struct plx_fast_packet fast;
		enum plx_fast_kind kind = plx_rc_send_fast(qp->rc, engine->now, bytes + at, &fast);
		size_t roce;

		if (kind != PLX_FAST_SENT) {
			*other = kind == PLX_FAST_NO;
			break;
		}
		roce = (size_t)fast.header_bytes + fast.payload_bytes + fast.pad + PLX_ICRC_BYTES;
		open_buffer(m, at + roce);
		plx_frame_template_write(&qp->to_peer, roce, bytes);
		rte_memcpy(bytes + at + fast.header_bytes, fast.payload, fast.payload_bytes);
		memset(bytes + at + fast.header_bytes + fast.payload_bytes, 0, PLX_ICRC_BYTES);
		engine->spare_count--;
		engine->tx[engine->tx_count++] = m;
		sent++;
	}
	return sent;
}

/* Let a queue pair send, in rounds of as many packets as there are buffers.
 * Returns: the number of packets */
uint32_t
engine_transmit(struct plx_engine *engine, struct engine_qp *qp, uint32_t room)
{
	uint32_t budget = stock(engine);
	uint32_t sent = 0;
	bool other = true;

	if (plx_unlikely(qp->copies > 0))
		return 0;
	if (plx_unlikely(qp->loops) && room > LOOP_ROOM - engine->loop_count)
		room = LOOP_ROOM - engine->loop_count;
	if (budget > room)
		budget = room;
	if (plx_unlikely(!qp->routed)) {
		if (qp->ud != NULL)
			return engine_may_copy(qp) ? ud_transmit(engine, qp, budget) : 0;
		budget = 0;
	} else if (plx_likely(!qp->loops)) {
		sent = transmit_fast(engine, qp, budget, &other);
	}
	if (other && engine_may_copy(qp)) {
		sent += plx_rc_transmit(qp->rc, engine->now, budget - sent, &engine->actions);
		engine_execute(engine, qp);
	}
	return sent;
}

/* In ERROR: sweep for posts that raced with the error. UD queue pairs have no connection to wait
 * for, so they send when they have something.
 * Returns: when to wake the queue pair */
static PLX_COLD uint64_t
schedule_rare(struct plx_engine *engine, struct engine_qp *qp, unsigned state, uint64_t wake)
{
	if (qp->ud != NULL && plx_rc_wake_ns(qp->rc) == 0 && plx_list_empty(&qp->ready_link))
		ready_append(engine, qp);
	if (state_of(state) == PLX_QP_ERROR) {
		/* It may have waited for something else when it failed. */
		if (!plx_list_empty(&qp->ready_link) &&
		    qp->ready_turn != &qp->seat->turns[WAIT_FLUSH]) {
			ready_remove(engine, qp);
			ready_append(engine, qp);
		}
		wake = plx_time_min(wake, engine->now + ERROR_SWEEP_NS);
	}
	return wake;
}

/* Schedule the transport's next step: another send, a wakeup, or nothing. */
void
engine_schedule(struct plx_engine *engine, struct engine_qp *qp)
{
	uint64_t wake = plx_rc_wake_ns(qp->rc);
	unsigned state;

	engine_sq_publish(&qp->sq, qp->send_cq);
	engine_rq_publish(qp->recv, qp->recv_cq);
	if (plx_unlikely(qp->copies > 0))
		return; /* it is called again when they are finished */
	if (wake == 0) {
		if (plx_list_empty(&qp->ready_link) && qp->routed) {
			if (PLX_MUTANT(READY_LIFO))
				ready_prepend(engine, qp);
			else
				ready_append(engine, qp);
		}
		wake = PLX_NEVER;
	}
	state = qp->sq.state;
	if (plx_unlikely(state >= PLX_QP_ERROR))
		wake = schedule_rare(engine, qp, state, wake);
	/* If the new deadline is later than the timer's, the timer is corrected when it fires. */
	if (wake < qp->timer.deadline)
		wheel_set(&engine->wheel, &qp->timer, wake);
}

/* Send ARP, neighbour discovery and echo: rare, bounded by their queue, in order. */
static inline void
transmit_frames(struct plx_engine *engine)
{
	struct plx_net *net = engine->config.net;
	uint64_t wake = plx_net_wake_ns(net);

	while (plx_unlikely(wake == 0) && engine->tx_count < TX_ROOM - NET_RESERVE &&
	       stock(engine) > 0) {
		struct rte_mbuf *m = engine->spare[engine->spare_count - 1];
		uint8_t *bytes = open_buffer(m, plx_net_frame_max(net));
		size_t len = plx_net_transmit(net, engine->now, bytes);

		wake = plx_net_wake_ns(net);
		if (len == 0)
			break;
		engine->spare_count--;
		open_buffer(m, len);
		engine->tx[engine->tx_count++] = m;
		engine->tx_sealed++;
	}
	if (wake != 0 && wake < engine->net_timer.deadline)
		wheel_set(&engine->wheel, &engine->net_timer, wake);
}

void
engine_transmit_net(struct plx_engine *engine)
{
	if (plx_likely(engine_has_net(engine)))
		transmit_frames(engine);
	engine_follow_neighbours(engine);
}

/* Send one datagram of the GSI, after packets that are already queued.
 * Returns: false: no room or buffer */
bool
engine_send_gsi(struct plx_engine *engine, const struct plx_frame_template *to_peer,
		const struct plx_emit *emit, bool loops)
{
	struct rte_mbuf *m;

	if ((loops ? engine->loop_count >= LOOP_ROOM : engine->tx_count >= TX_ROOM) ||
	    stock(engine) == 0)
		return false;
	m = write_packet(engine, to_peer, emit);
	seal(engine, m);
	if (loops) {
		engine->loop[engine->loop_count++] = m;
		return true;
	}
	engine->tx[engine->tx_count++] = m;
	engine->tx_sealed++;
	return true;
}

static PLX_COLD void
tx_refused(struct plx_engine *engine, uint32_t taken)
{
	plx_count(&engine->counters.tx_full, 1);
	if (taken > 0 || engine->tx_since == PLX_NEVER)
		engine->tx_since = engine->now;
	if (engine->now - engine->tx_since < TX_STUCK_NS)
		return;
	plx_count(&engine->counters.tx_dropped, engine->tx_count);
	rte_pktmbuf_free_bulk(engine->tx, engine->tx_count);
	engine->tx_count = 0;
	engine->tx_sealed = 0;
	engine->tx_since = PLX_NEVER;
}

void
engine_flush(struct plx_engine *engine)
{
	struct plx_port *port = engine->port;
	uint64_t bytes = 0;
	uint32_t taken;

	if (engine->tx_count == 0)
		return;
	for (uint32_t i = 0; i < engine->tx_count; i++)
		bytes += engine->tx[i]->pkt_len;
	taken = port->tx(port, engine->tx, (uint16_t)engine->tx_count);
	plx_count(&engine->counters.tx_packets, taken);
	if (plx_likely(taken == engine->tx_count)) {
		engine->tx_count = 0;
		engine->tx_sealed = 0;
		engine->tx_since = PLX_NEVER;
		plx_count(&engine->counters.tx_bytes, bytes);
		return;
	}
	/* The rest is counted when it is sent. */
	engine->tx_count -= taken;
	engine->tx_sealed = engine->tx_count;
	memmove(engine->tx, engine->tx + taken, engine->tx_count * sizeof(engine->tx[0]));
	for (uint32_t i = 0; i < engine->tx_count; i++)
		bytes -= engine->tx[i]->pkt_len;
	plx_count(&engine->counters.tx_bytes, bytes);
	tx_refused(engine, taken);
}
