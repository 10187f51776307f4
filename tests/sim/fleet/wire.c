/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what is asked of every frame that leaves a host: that it is whole, that new requests follow
 * each other without a gap, that no request leaves before the ACK of what caused it (decision
 * 3), that notifications are earned by marks. It never changes a frame. Start with wire_judge().
 */
#include <stdlib.h>

#include "fleet.h"

static struct end *
sender_of(struct host *host, uint32_t dest_qpn)
{
	struct fleet *fleet = host->fleet;

	for (uint32_t i = 0; i < fleet->connection_count; i++) {
		for (int s = 0; s < 2; s++) {
			struct end *end = &fleet->connection[i].end[s];

			if (end->qp != NULL && end->host == host && end->attr.dest_qpn == dest_qpn)
				return end;
		}
	}
	return NULL;
}

static uint32_t
psns_of(const struct end *end, const struct request *request)
{
	uint32_t packets = (request->length + end->attr.mtu - 1) / end->attr.mtu;

	if (request->kind == PLX_WR_BIND)
		return 0;
	return packets > 0 && request->kind != PLX_WR_CMP_SWAP && request->kind != PLX_WR_FETCH_ADD
		       ? packets
		       : 1;
}

static bool
is_message(const struct request *request)
{
	return request->kind == PLX_WR_SEND || request->kind == PLX_WR_SEND_IMM ||
	       request->kind == PLX_WR_WRITE_IMM;
}

static void
add_message(struct end *end, uint64_t psn_end)
{
	if (end->messages == end->message_room) {
		end->message_room = end->message_room ? end->message_room * 2 : 32;
		end->message_end =
			realloc(end->message_end, end->message_room * sizeof(*end->message_end));
		PLX_ASSERT(end->message_end != NULL);
	}
	end->message_end[end->messages++] = psn_end;
}

/* A request that has not been sent before. */
static void
new_request(struct end *end, const struct plx_pkt *pkt)
{
	struct world *world = &end->connection->fleet->world;
	const struct request *request;
	uint64_t last;

	while (end->request_seen < end->posted &&
	       psns_of(end, &end->requests[end->request_seen]) == 0)
		end->request_seen++;
	sim_must(world, end->request_seen < end->posted, "I4",
		 "end %u sends a request that was not posted", end->id);
	request = &end->requests[end->request_seen];
	if (end->psn_seen == request->psn)
		sim_must(world, end->psn_acked >= request->caused, "D3",
			 "request %u of end %u leaves before the ACK of what caused it",
			 end->request_seen, end->id);
	last = request->psn + psns_of(end, request);
	if (plx_opcodes[pkt->opcode].kind == PLX_OP_READ_REQUEST) {
		uint32_t packets = (pkt->reth.length + end->attr.mtu - 1) / end->attr.mtu;

		end->psn_seen += packets > 0 ? packets : 1;
	} else {
		end->psn_seen++;
	}
	sim_must(world, end->psn_seen <= last, "I6", "request %u of end %u takes too many PSNs",
		 end->request_seen, end->id);
	if (end->psn_seen < last)
		return;
	if (is_message(request))
		add_message(end, last);
	end->request_seen++;
}

static void
answer(struct end *end, const struct plx_pkt *pkt)
{
	uint64_t psn = psn_absolute(end->psn_acked, pkt->psn);
	bool nak = plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_AETH) &&
		   pkt->aeth.syndrome >> 5 != 0;

	if (!nak)
		psn++;
	if (psn > end->psn_acked)
		end->psn_acked = psn;
}

static void
judge_roce(struct host *host, const struct plx_pkt *pkt)
{
	struct world *world = &host->fleet->world;
	struct end *end = sender_of(host, pkt->dest_qpn);
	uint8_t kind = plx_opcodes[pkt->opcode].kind;
	uint64_t psn;

	if (end != NULL && HOST_COUNTED(host, tx_dropped) > 0)
		end->blind = true;
	if (end != NULL && kind == PLX_OP_CNP && !world->evil) {
		sim_must(world, end->async_events_due > 0, "I11",
			 "end %u sends a congestion notification that no mark has earned", end->id);
		end->async_events_due--;
	}
	/* A queue pair that is gone may have left packets in the engine. */
	if (end == NULL || end->blind || world->evil || kind == PLX_OP_CNP)
		return;
	if (kind == PLX_OP_ACK || kind == PLX_OP_ATOMIC_ACK || kind == PLX_OP_READ_RESPONSE) {
		answer(end, pkt);
		crowd_sent(end, pkt);
		return;
	}
	crowd_sent(end, pkt);
	psn = psn_absolute(end->psn_seen, pkt->psn);
	sim_must(world, psn <= end->psn_seen, "I6", "end %u leaves out %" PRIu64 " PSNs", end->id,
		 psn - end->psn_seen);
	if (psn == end->psn_seen)
		new_request(end, pkt);
}

/* A frame with a mark is handed to the engine: it earns its queue pair a CNP, unless another has in
 * the last 50 us. By the host's clock these are the most that there may be, also when the engine's
 * own time stands still meanwhile. */
void
wire_received(struct host *host, const struct packet *packet)
{
	const uint8_t *ip = packet->bytes + PLX_ETH_BYTES;
	uint64_t now = clock_local(host->station);
	struct plx_frame frame;
	struct plx_pkt pkt;

	/* A quick look: nearly none has one. */
	if (packet->len < PLX_ETH_BYTES + PLX_IPV4_BYTES ||
	    ((ip[0] >> 4 == 4 ? ip[1] : ip[1] >> 4) & 3) != PLX_ECN_CE)
		return;
	if (plx_frame_decode(packet->bytes, packet->len, 0, &frame) != PLX_WIRE_OK ||
	    plx_frame_ecn(&frame) != PLX_ECN_CE ||
	    plx_pkt_decode(packet->bytes + frame.udp_at + PLX_UDP_BYTES,
			   (size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt) != PLX_WIRE_OK)
		return;
	for (uint32_t i = 0; i < 2 * host->fleet->connection_count; i++) {
		struct end *end = &host->fleet->connection[i / 2].end[i % 2];

		if (end->qp == NULL || end->host != host || end->qpn != pkt.dest_qpn)
			continue;
		/* Those before it were refused, or come from before the queue pair could receive.
		 */
		if (plx_engine_qp_counters(end->qp)->ce_marks == 0)
			end->marked_cycle = host->free_cycles;
		/* What is handed over may be looked at later, and then earn one, too. */
		if (now < end->event_from && host->cores == 1)
			continue;
		end->async_events_due++;
		end->event_from = now + 50 * PLX_USEC;
	}
}

static bool
is_to(const struct plx_frame *frame, const struct host *host)
{
	const uint8_t *ip = host->ip.v;

	if (frame->ip_version == 6)
		return memcmp(frame->v6.dst, ip, sizeof(frame->v6.dst)) == 0;
	return frame->v4.dst ==
	       ((uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3]);
}

/* D1: what a queue pair of a program that has died sent has left by now; no more comes. */
static void
judge_dead(struct host *host, const struct plx_frame *frame, const struct plx_pkt *pkt)
{
	struct fleet *fleet = host->fleet;

	for (uint32_t i = 0; fleet->mortal && i < 2 * fleet->connection_count; i++) {
		const struct end *end = &fleet->connection[i / 2].end[i % 2];

		sim_must(&fleet->world,
			 !end->gone || end->host != host || end->peer->qp == NULL ||
				 end->attr.dest_qpn != pkt->dest_qpn ||
				 !is_to(frame, end->peer->host) ||
				 host->free_cycles <= end->gone_cycle + 2,
			 "D1", "a packet of end %u leaves, whose program has died", end->id);
	}
}

void
wire_judge(struct host *host, const uint8_t *bytes, size_t len)
{
	struct world *world = &host->fleet->world;
	enum plx_wire_verdict wire;
	struct plx_frame frame;
	struct plx_pkt pkt;
	size_t covered;

	trace_bytes(world, bytes, len);
	wire = plx_frame_decode(bytes, len, 0, &frame);
	if (wire == PLX_WIRE_NOT_IP || wire == PLX_WIRE_NOT_UDP)
		return; /* neighbour resolution, which lib/proto/net judges at the other end */
	if (wire == PLX_WIRE_OK)
		wire = plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
				      (size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt);
	sim_must(world, wire == PLX_WIRE_OK, "I2", "a frame leaves that is not one: %s",
		 plx_wire_verdict_text(wire));
	covered = (size_t)frame.ip_bytes - PLX_ICRC_BYTES;
	sim_must(world,
		 plx_icrc_load(bytes + frame.ip_at + covered) ==
			 plx_icrc_isal(bytes + frame.ip_at, covered),
		 "F4", "a frame leaves with a wrong ICRC");
	trace_as(world, TRACE_SEND, host->index, pkt.opcode, pkt.psn.v, pkt.payload_bytes,
		 pkt.dest_qpn);
	judge_dead(host, &frame, &pkt);
	judge_roce(host, &pkt);
}
