/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packets that arrived on another engine's queue: to whom they belong, and the rings by which they
 * get there, a burst at a time. Only the engine that a packet belongs to decodes it and verifies
 * its ICRC. A full ring drops, as a full RX ring does, and the peer retransmits.
 * Start with engine_receive_in_turn() and engine_hand_over().
 */
#include <rte_mbuf.h>

#include "plx_engine_member.h"

enum {
	FIRST = 0, /* the engine that has the GSI, and speaks with neighbours */
};

/* ---- in ---- */

void
engine_fetch_news(struct engine_member *self)
{
	uint32_t news;

	/* Loading first keeps the line shared while there is nothing. */
	if (atomic_load_explicit(&self->news, memory_order_relaxed) == 0)
		return;
	/* Cleared before the rings are read: what is put into one later sets its bit again. */
	news = atomic_exchange(&self->news, 0);
	self->packets_from |= news & ((1u << MESSAGES_BIT) - 1);
	self->messages_from |= news >> MESSAGES_BIT;
}

/* Dequeue a burst from the rings, in turn. */
static uint32_t
fetch(struct engine_member *self, struct rte_mbuf **packets)
{
	uint32_t engines = self->group->config.engines, n = 0;

	for (uint32_t i = 0; i < engines && n < PLX_PORT_BURST && self->packets_from != 0; i++) {
		uint32_t from = (self->next + i) % engines, room = PLX_PORT_BURST - n, got;

		if (!(self->packets_from >> from & 1))
			continue;
		got = plx_ring_dequeue(self->in[from], sizeof(packets[0]), packets + n, room);
		n += got;
		if (got < room)
			self->packets_from &= ~(1u << from);
		else
			self->next = from + 1;
	}
	return n;
}

/* Publish that the port was drained, once everything received before is handed over: that was at
 * the end of the last cycle. */
static void
publish_drained(struct engine_member *self)
{
	if (self->short_at == 0)
		return;
	atomic_store_explicit(&self->drained, self->short_at, memory_order_release);
	self->short_at = 0;
}

uint32_t
engine_receive_in_turn(struct plx_engine *engine, struct rte_mbuf **packets)
{
	struct engine_member *self = engine->member;
	struct plx_port *port = engine->port;
	uint32_t n;

	publish_drained(self);
	engine_fetch_news(self);
	if (plx_unlikely(self->messages_from != 0))
		engine_messages_serve(engine);
	self->port_turn = !self->port_turn;
	if (!self->port_turn) {
		n = fetch(self, packets);
		if (n > 0) {
			plx_count(&engine->counters.rx_handed_over, n);
			return n;
		}
	}
	n = port->rx(port, packets, PLX_PORT_BURST);
	if (n < PLX_PORT_BURST)
		self->short_at = engine->clock;
	return n;
}

bool
engine_group_is_drained(struct plx_engine *engine)
{
	struct engine_member *self = engine->member;
	const struct plx_engine_group *group = self->group;

	for (uint32_t i = 0; i < group->config.engines; i++)
		if (atomic_load_explicit(&group->member[i].drained, memory_order_acquire) <
		    engine->grace_since)
			return false;
	return !engine_member_has_news(self);
}

/* ---- out ---- */

static uint32_t
owner_of(const struct plx_engine *engine, const uint8_t *bytes, size_t len)
{
	const struct engine_member *self = engine->member;
	uint32_t qpn, place, owner;
	enum plx_peek seen = plx_frame_peek(bytes, len, &qpn);

	if (seen == PLX_PEEK_OTHER)
		return self->index;
	if (seen == PLX_PEEK_NET || qpn == PLX_GSI_QPN)
		return FIRST;
	/* Most packets that get here belong to others; datagrams and IPv6 to us, too. */
	place = plx_numbers_place(engine->place_factor, engine->place_bits, qpn);
	if (engine->table[place].qpn == qpn)
		return self->index;
	owner = plx_numbers_engine(engine->numbers, qpn);
	return owner < self->group->config.engines ? owner : self->index;
}

bool
engine_hand_over(struct plx_engine *engine, struct rte_mbuf *m, const uint8_t *bytes, size_t len)
{
	struct engine_member *self = engine->member;
	uint32_t to = owner_of(engine, bytes, len);
	struct handoff_burst *burst = &self->burst[to];

	if (to == self->index)
		return false;
	burst->packets[burst->count++] = m;
	self->leaving |= 1u << to;
	self->leaving_bytes += m->pkt_len;
	return true;
}

static void
push(struct plx_engine *engine, uint32_t to)
{
	struct engine_member *self = engine->member;
	struct handoff_burst *burst = &self->burst[to];
	uint32_t n = burst->count, put;

	burst->count = 0;
	put = plx_ring_enqueue(self->out[to], sizeof(burst->packets[0]), burst->packets, n);
	/* Sequentially consistent, after the ring: engine_fetch_news() clears, then reads the ring.
	 */
	if (put > 0 && !PLX_MUTANT(HANDOFF_NOT_TOLD))
		engine_member_tell(&self->group->member[to], 1u << self->index);
	plx_count(&engine->counters.handed_over, put);
	if (plx_likely(put == n))
		return;
	rte_pktmbuf_free_bulk(burst->packets + put, n - put);
	plx_count(&engine->counters.handoff_full, n - put);
}

uint32_t
engine_hand_over_burst(struct plx_engine *engine, struct rte_mbuf **packets, uint32_t n,
		       uint64_t *bytes)
{
	struct engine_member *self = engine->member;
	uint32_t stay = 0;

	if (self->leaving == 0)
		return n;
	for (uint32_t i = 0; i < n; i++)
		if (packets[i] != NULL)
			packets[stay++] = packets[i];
	for (; self->leaving != 0; self->leaving &= self->leaving - 1)
		push(engine, (uint32_t)__builtin_ctz(self->leaving));
	*bytes -= self->leaving_bytes;
	self->leaving_bytes = 0;
	return stay;
}
