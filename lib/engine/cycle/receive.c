/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Received packets up to their queue pair: lines 1 to 6 of the decision table, in order, then
 * plx_rc_on_packet(). Until the ICRC is verified only counters of the engine change. Start with
 * engine_receive().
 */
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "plx_bytes.h"
#include "plx_engine_member.h"
#include "plx_engine_ud.h"

enum {
	ADDRESSES_BYTES = 12, /* Ethernet addresses; the tag, if any, follows them */
};

static struct engine_qp *
find(const struct plx_engine *engine, uint32_t qpn)
{
	uint32_t slot = plx_numbers_place(engine->place_factor, engine->place_bits, qpn);
	const struct qp_entry *entry = &engine->table[slot];

	return entry->qpn == qpn || PLX_MUTANT(QPN_LOW_BITS) ? entry->qp : NULL;
}

/* "None" contains "good": the data is right, and the checksum in the packet unfinished. virtio has
 * that from senders of the same machine. */
_Static_assert((RTE_MBUF_F_RX_IP_CKSUM_NONE & RTE_MBUF_F_RX_IP_CKSUM_GOOD) != 0 &&
		       (RTE_MBUF_F_RX_IP_CKSUM_BAD & RTE_MBUF_F_RX_IP_CKSUM_GOOD) == 0 &&
		       (RTE_MBUF_F_RX_L4_CKSUM_NONE & RTE_MBUF_F_RX_L4_CKSUM_GOOD) != 0 &&
		       (RTE_MBUF_F_RX_L4_CKSUM_BAD & RTE_MBUF_F_RX_L4_CKSUM_GOOD) == 0,
	       "one bit says whether the port vouches for a checksum");

/* The checks that the port's hardware has done on this packet. */
static unsigned
trust_of(const struct rte_mbuf *m)
{
	unsigned trust = 0;

	if (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		trust |= PLX_TRUST_IP_CHECKSUM;
	if (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD)
		trust |= PLX_TRUST_UDP_CHECKSUM;
	return trust;
}

/* A device may strip the tag and keep it in the mbuf even if not configured to do so. Without its
 * tag a packet of another VLAN would look untagged. */
static const uint8_t *
tag_again(struct plx_engine *engine, const struct rte_mbuf *m, const uint8_t *bytes, uint32_t *len)
{
	const uint8_t tag[PLX_VLAN_BYTES] = {0x81, 0, (uint8_t)(m->vlan_tci >> 8),
					     (uint8_t)m->vlan_tci};
	uint8_t *out = engine->scratch;

	plx_count(&engine->counters.rx_tagged_again, 1);
	memmove(out + ADDRESSES_BYTES + sizeof(tag), bytes + ADDRESSES_BYTES,
		*len - ADDRESSES_BYTES);
	memmove(out, bytes, ADDRESSES_BYTES);
	memcpy(out + ADDRESSES_BYTES, tag, sizeof(tag));
	*len += (uint32_t)sizeof(tag);
	return out;
}

/* Copy a packet that is not in memory as it was on the wire, in one piece. NULL: longer than the
 * port may carry.
 * @param len [out] */
static PLX_COLD const uint8_t *
restore(struct plx_engine *engine, const struct rte_mbuf *m, uint32_t *len)
{
	const uint8_t *bytes;

	*len = m->pkt_len;
	if (*len > engine->port->caps.frame_max) {
		plx_count(&engine->counters.rx_too_long, 1);
		return NULL;
	}
	if (m->nb_segs > 1)
		plx_count(&engine->counters.rx_linearised, 1);
	bytes = rte_pktmbuf_read(m, 0, *len, engine->scratch);
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED && *len >= ADDRESSES_BYTES)
		bytes = tag_again(engine, m, bytes, len);
	return bytes;
}

/* Lines 1 and 2 of the decision table, evaluated by lib/proto/net. */
static enum plx_wire_verdict
wire_verdict_of(enum plx_net_verdict verdict, enum plx_wire_verdict otherwise)
{
	if (verdict == PLX_NET_OTHER_STATION)
		return PLX_WIRE_STATION;
	return verdict == PLX_NET_OTHER_ADDRESS ? PLX_WIRE_DESTINATION : otherwise;
}

/* Handle a packet that is not RoCE: ARP, neighbour discovery and echo, or unknown. */
static PLX_COLD void
not_roce(struct plx_engine *engine, enum plx_wire_verdict verdict, const uint8_t *bytes, size_t len)
{
	enum plx_net_verdict net = PLX_NET_NOT_OURS;

	if (verdict == PLX_WIRE_NOT_IP || verdict == PLX_WIRE_NOT_UDP)
		net = plx_net_on_frame(engine->config.net, bytes, len, engine->now);
	if (net == PLX_NET_TAKEN || net == PLX_NET_MALFORMED) {
		plx_count(&engine->counters.rx_net, 1);
		engine_on_neighbour(engine);
		return;
	}
	plx_count(&engine->counters.refused[wire_verdict_of(net, verdict)], 1);
}

/* Is this datagram's destination one of our addresses? If not, it is counted. Packets of a
 * connection must have the addresses of its path: line 5. */
static bool
is_to_us(struct plx_engine *engine, const struct plx_frame *frame)
{
	const struct plx_net *net = engine->config.net;

	if (plx_likely(frame->ip_version == 4 ? plx_net_is_own4(net, frame->v4.dst)
					      : plx_net_is_own6(net, frame->v6.dst)) ||
	    PLX_MUTANT(DATAGRAM_FOR_ANYBODY))
		return true;
	plx_count(&engine->counters.refused[PLX_WIRE_DESTINATION], 1);
	return false;
}

/* Has a switch marked congestion?
 * @param ecn of the IP header */
static inline bool
is_marked(uint8_t ecn)
{
	return ecn == PLX_ECN_CE || (PLX_MUTANT(CE_MISREAD) && ecn != PLX_ECN_NOT_ECT);
}

static void
mark_received(struct plx_engine *engine, struct engine_qp *qp)
{
	if (qp->is_received)
		return;
	qp->is_received = true;
	engine->received[engine->received_count++] = qp;
}

static inline bool
icrc_right(const struct plx_engine *engine, const uint8_t *ip, size_t ip_bytes)
{
	size_t covered = ip_bytes - PLX_ICRC_BYTES;

	return plx_icrc_load(ip + covered) == engine->icrc(ip, covered) ||
	       PLX_MUTANT(ICRC_NOT_LOOKED_AT);
}

static inline void
judge(struct plx_engine *engine, struct engine_qp *qp, const struct engine_received *packet,
      const struct plx_pkt *pkt)
{
	enum plx_verdict verdict;

	if (plx_unlikely(!engine_may_copy(qp))) {
		plx_count(&engine->counters.rx_no_copy, 1);
		return;
	}
	verdict = plx_rc_on_packet(qp->rc, pkt, engine->now, &engine->actions);
	engine_execute(engine, qp);
	if (plx_unlikely(plx_verdict_is_ahead(verdict)))
		engine_keep(engine, qp, packet, pkt, verdict);
	engine_take_kept(engine, qp);
	mark_received(engine, qp);
}

/* Slow path, for any packet: lines 1 to 5 of the decision table. */
static __attribute__((noinline)) void
receive_slow(struct plx_engine *engine, struct rte_mbuf *m, const uint8_t *bytes, size_t len)
{
	struct engine_received packet = {.m = m};
	enum plx_wire_verdict wire;
	enum plx_verdict verdict;
	struct plx_frame frame;
	struct plx_pkt pkt;
	struct engine_qp *qp;

	wire = plx_frame_is_for(bytes, len, engine->port->caps.mac, engine->vlan);
	if ((wire == PLX_WIRE_VLAN && PLX_MUTANT(VLAN_NOT_LOOKED_AT)) ||
	    (wire == PLX_WIRE_STATION && PLX_MUTANT(STATION_NOT_LOOKED_AT)))
		wire = PLX_WIRE_OK;
	if (plx_likely(wire == PLX_WIRE_OK))
		wire = plx_frame_decode(bytes, len, trust_of(m), &frame);
	/* Multicast is valid for ARP and neighbour discovery only. */
	if (plx_likely(wire == PLX_WIRE_OK) && plx_unlikely(bytes[0] & 1))
		wire = PLX_WIRE_STATION;
	if (plx_likely(wire == PLX_WIRE_OK))
		wire = plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
				      (size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt);
	if (plx_unlikely(wire != PLX_WIRE_OK)) {
		not_roce(engine, wire, bytes, len);
		return;
	}
	if (plx_unlikely(pkt.dest_qpn == PLX_GSI_QPN)) {
		if (is_to_us(engine, &frame))
			engine->link->receive(engine, &frame, &pkt, bytes + frame.ip_at);
		return;
	}
	qp = find(engine, pkt.dest_qpn);
	if (plx_unlikely(qp == NULL)) {
		plx_count(&engine->counters.rx_no_qp, 1);
		return;
	}
	if (plx_unlikely(qp->ud != NULL)) {
		pkt.ce = is_marked(plx_frame_ecn(&frame));
		if (is_to_us(engine, &frame))
			ud_receive(engine, qp, &pkt, bytes + frame.ip_at, frame.ip_bytes);
		return;
	}
	verdict = plx_rc_admit(qp->rc, &frame, &pkt);
	if (verdict == PLX_VERDICT_ADDRESS && PLX_MUTANT(ADDRESS_NOT_LOOKED_AT))
		verdict = PLX_VERDICT_ACCEPT;
	if (plx_unlikely(verdict != PLX_VERDICT_ACCEPT)) {
		plx_count(&engine->counters.denied[verdict], 1);
		return;
	}
	if (plx_unlikely(!icrc_right(engine, bytes + frame.ip_at, frame.ip_bytes))) {
		plx_count(&engine->counters.rx_icrc, 1);
		return;
	}
	pkt.ce = is_marked(plx_frame_ecn(&frame));
	engine_rq_feed(qp->recv);
	packet.bth = bytes + frame.udp_at + PLX_UDP_BYTES;
	packet.roce_bytes = frame.udp_bytes - PLX_UDP_BYTES;
	judge(engine, qp, &packet, &pkt);
}

/* What the queue pair expects next; false: anything else. */
static inline bool
receive_expected(struct plx_engine *engine, struct engine_qp *qp, const uint8_t *bth, size_t len)
{
	struct plx_completion completion;
	struct plx_place place;
	enum plx_fast_kind kind =
		plx_rc_receive_fast(qp->rc, bth, len, engine->now, &place, &completion);

	if (kind == PLX_FAST_NO)
		return false;
	if (kind == PLX_FAST_TAKEN)
		while (plx_rc_next_completion(qp->rc, &completion))
			engine_stage(engine, qp, &completion);
	else
		plx_place_bytes(&place);
	if (kind == PLX_FAST_RECEIVED)
		engine_stage(engine, qp, &completion);
	mark_received(engine, qp);
	return true;
}

/* Anything else of the peer's, after the ICRC. Returns: false: it is not for this queue pair */
static __attribute__((noinline)) bool
receive_other(struct plx_engine *engine, struct engine_qp *qp, const struct engine_received *packet,
	      bool ce)
{
	struct plx_pkt pkt;

	if (plx_unlikely(plx_pkt_decode(packet->bth, packet->roce_bytes, &pkt) != PLX_WIRE_OK ||
			 plx_rc_admit_peer(qp->rc, &pkt) != PLX_VERDICT_ACCEPT))
		return false;
	pkt.ce = ce;
	judge(engine, qp, packet, &pkt);
	return true;
}

/* Fast path: nearly all packets are those that the queue pair expects from its peer, and need no
 * decoding of the frame.
 * Returns: false, with nothing changed, for all others: they use the slow path */
static inline bool
receive_fast(struct plx_engine *engine, struct rte_mbuf *m, const uint8_t *bytes, size_t len)
{
	const uint8_t *ip = bytes + engine->ip_at, *bth;
	size_t ip_bytes, header, roce;
	struct engine_qp *qp;
	bool six, ce;

	if (plx_unlikely(len < (size_t)engine->ip_at - PLX_ETH_BYTES + PLX_FLOW_BYTES_MIN))
		return false;
	six = ip[0] >> 4 == 6;
	header = plx_frame_ip_header_bytes(six ? 6 : 4) + PLX_UDP_BYTES;
	bth = ip + header;
	if (plx_unlikely(six && len < (size_t)(bth - bytes) + PLX_BTH_BYTES + PLX_ICRC_BYTES))
		return false;
	qp = find(engine, plx_be32_load(bth + PLX_BTH_QPN_AT) & PLX_PSN_MASK);
	if (plx_unlikely(
		    qp == NULL || six != (qp->from_peer.ip_version == 6) ||
		    !plx_frame_flow_matches(&qp->from_peer, &qp->to_peer, bytes, len, &ip_bytes) ||
		    !icrc_right(engine, ip, ip_bytes)))
		return false;
	roce = ip_bytes - header;
	ce = is_marked(six ? ip[1] >> 4 & 3 : ip[1] & 3);
	engine_rq_feed(qp->recv);
	if (!ce && plx_likely(qp->copies == 0) && receive_expected(engine, qp, bth, roce))
		return true;
	return receive_other(
		engine, qp,
		&(struct engine_received){.m = m, .bth = bth, .roce_bytes = (uint32_t)roce}, ce);
}

/* @param at where the packet is in its burst; NULL afterwards if another engine has it now */
static inline void
receive_one(struct plx_engine *engine, struct rte_mbuf **at)
{
	struct rte_mbuf *m = *at;
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t len = m->pkt_len;

	if (plx_unlikely(m->nb_segs > 1 || m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)) {
		bytes = restore(engine, m, &len);
		if (bytes == NULL)
			return;
	}
	if (plx_likely(receive_fast(engine, m, bytes, len)))
		return;
	if (plx_unlikely(engine->member != NULL) && engine_hand_over(engine, m, bytes, len))
		*at = NULL;
	else
		receive_slow(engine, m, bytes, len);
}

/* Receive loopback packets, which never leave the port. */
static uint32_t
receive_loop(struct plx_engine *engine, struct rte_mbuf **packets)
{
	uint32_t n = engine->loop_count;

	if (n > PLX_PORT_BURST)
		n = PLX_PORT_BURST;
	memcpy(packets, engine->loop, n * sizeof(*packets));
	engine->loop_count -= n;
	memmove(engine->loop, engine->loop + n, engine->loop_count * sizeof(*packets));
	return n;
}

/* Prefetch a packet's mbuf and its first bytes together. The mbuf has the address of the bytes,
 * but waiting for it would cost one more miss, and nearly all packets begin after the default
 * headroom of an mbuf without private data. The guess is used for prefetching only. */
static inline void
prefetch(const struct rte_mbuf *m)
{
	const uint8_t *bytes = (const uint8_t *)(m + 1) + RTE_PKTMBUF_HEADROOM;

	rte_prefetch0(m);
	for (uint32_t line = 0; line < 3; line++)
		rte_prefetch0(bytes + (size_t)line * PLX_CACHE_LINE);
}

/* Return mbufs of one pool, each a single segment with one reference, to that pool in bulk; free
 * any other mbuf individually. */
static inline void
free_packets(struct rte_mbuf **packets, uint32_t n)
{
	struct rte_mempool *pool = packets[0]->pool;
	bool plain = true;

	for (uint32_t i = 0; i < n; i++)
		plain &= (packets[i]->pool == pool) & (packets[i]->nb_segs == 1) &
			 (rte_mbuf_refcnt_read(packets[i]) == 1) & RTE_MBUF_DIRECT(packets[i]);
	if (plx_likely(plain))
		rte_mempool_put_bulk(pool, (void **)packets, n);
	else
		rte_pktmbuf_free_bulk(packets, n);
}

uint32_t
engine_receive(struct plx_engine *engine)
{
	struct rte_mbuf *packets[PLX_PORT_BURST];
	struct plx_port *port = engine->port;
	uint64_t bytes = 0;
	uint32_t n, stay;

	/* Alternate with the port: loopback packets never run out while a queue pair sends to its
	 * own port. */
	if (plx_unlikely(engine->loop_count > 0) && (engine->loop_turn = !engine->loop_turn))
		n = receive_loop(engine, packets);
	else if (plx_unlikely(engine->member != NULL))
		n = engine_receive_in_turn(engine, packets);
	else
		n = port->rx(port, packets, PLX_PORT_BURST);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		prefetch(packets[i]);
	for (uint32_t i = 0; i < n; i++) {
		bytes += packets[i]->pkt_len;
		receive_one(engine, &packets[i]);
	}
	stay = n;
	if (plx_unlikely(engine->member != NULL))
		stay = engine_hand_over_burst(engine, packets, n, &bytes);
	if (plx_likely(stay > 0))
		free_packets(packets, stay);
	plx_count(&engine->counters.rx_packets, stay);
	plx_count(&engine->counters.rx_bytes, bytes);
	return n;
}
