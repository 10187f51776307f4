/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the crowd: a fleet in which nothing goes wrong, everybody has more to send than can leave at
 * once and peers answer at once; and what is asked of an engine then: who has something to send and
 * an open window sends within N cycles (Q1, decision 26). What an end has to send is seen from what
 * its program has posted and what its port was handed and has taken.
 * It never looks into an engine. Start with crowd_check().
 */
#include <stdlib.h>

#include "fleet.h"

/* The limits of decision 26, which the engine's are compared with. */
enum {
	QUANTUM_PACKETS = 32, /* of one queue pair, at most */
	CYCLE_PACKETS = 192,  /* of all queue pairs, when the port takes everything */
	TX_PACKETS = 256,     /* that wait for the port, at most */
	CYCLE_DOORBELLS = 64, /* doorbells of one cycle */
	RX_FULL = 400,        /* frames at a port with which its links carry no more (802.1Qbb) */
};

/* ---- birth ---- */

/* A tenth of all fleets, by a stream of its own: what else a seed means stays what it was. */
void
crowd_draw(struct fleet *fleet)
{
	struct world *world = &fleet->world;
	struct sim_config *config = &world->config;
	struct plx_prng prng = draw_stream(world->seed, 'q', 0, 0);
	bool drawn = draw_percent(&prng, 10);

	fleet->crowd =
		config->profile == SIM_PROFILE_crowd || (drawn && world->options->profile < 0);
	if (!fleet->crowd)
		return;
	fleet->doorbells = draw_percent(&prng, 30);
	fleet->fair_from = 400 * PLX_MSEC; /* by then all are connected */
	fleet->rough = fleet->gentle = fleet->moving = fleet->abrupt = false;
	fleet->host_count = fleet->doorbells ? 2 : (uint32_t)draw_between(&prng, 2, 3);
	fleet->connection_count =
		fleet->doorbells ? FLEET_CONNECTIONS_MAX : (uint32_t)draw_between(&prng, 8, 32);
	fleet->mtu_max = 256;
	fleet->frame_max = fleet->mtu_max + 150;
	*config = (struct sim_config){.profile = SIM_PROFILE_crowd,
				      .stations = fleet->host_count,
				      .ip_version = config->ip_version,
				      .weather = {.latency_ns = 1, .queue_ns = PLX_NEVER},
				      .message_max = fleet->doorbells ? 256 : 8192,
				      .think_ns = 100,
				      .inline_percent = config->inline_percent,
				      .op_weight = {[PLX_WR_WRITE] = 10}};
	if (!fleet->doorbells)
		config->op_weight[PLX_WR_READ] = (uint32_t)plx_prng_below(&prng, 20);
	world->evil = false;
}

/* With doorbells host 0 is posted to, and the other keeps up with it. */
void
crowd_host(struct host *host)
{
	bool doorbells = host->fleet->doorbells;

	if (!host->fleet->crowd)
		return;
	host->gap_ns = doorbells && host->index > 0 ? 20 : 100;
	host->lazy_ns = 1;
	host->inline_mode = host->inline_mode && !doorbells;
	if (!doorbells && !draw_percent(&host->prng, 30))
		host->take = (uint32_t)draw_log(&host->prng, 1, 64);
}

void
crowd_join(struct end *end)
{
	end->psn_received = end->psn_seen;
	end->psn_requested = end->psn_acked;
	end->owed = end->bulk = end->judged = 0;
	end->since_cycle = end->host->free_cycles;
	end->since_bulk = end->host->bulk;
	end->ready_most = end->ahead_most = 0;
}

/* ---- what comes and goes ---- */

static uint32_t
packets_of(const struct end *end, uint32_t bytes)
{
	return bytes > 0 ? (bytes + end->attr.mtu - 1) / end->attr.mtu : 1;
}

/* A READ that is asked for again, to learn where we are, is not one more. */
static void
asked(struct end *end, const struct plx_pkt *pkt)
{
	uint64_t psn = psn_absolute(end->psn_requested, pkt->psn);
	uint32_t packets = packets_of(end, pkt->reth.length);

	if (psn < end->psn_requested)
		return;
	end->owed += packets;
	end->psn_requested = psn + packets;
}

/* A frame is handed to the engine of `host`. */
void
crowd_received(struct host *host, const uint8_t *bytes, size_t len)
{
	struct fleet *fleet = host->fleet;
	struct plx_frame frame;
	struct plx_pkt pkt;
	uint8_t kind;

	if (plx_frame_decode(bytes, len, 0, &frame) != PLX_WIRE_OK ||
	    plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
			   (size_t)frame.udp_bytes - PLX_UDP_BYTES, &pkt) != PLX_WIRE_OK)
		return;
	kind = plx_opcodes[pkt.opcode].kind;
	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		struct end *end = &fleet->connection[i / 2].end[i % 2];
		uint64_t psn;

		if (end->qp == NULL || end->host != host || end->qpn != pkt.dest_qpn)
			continue;
		if (kind == PLX_OP_READ_REQUEST)
			asked(end, &pkt);
		if (kind != PLX_OP_ACK && kind != PLX_OP_READ_RESPONSE)
			return;
		psn = psn_absolute(end->psn_received, pkt.psn) + 1;
		if (psn > end->psn_received)
			end->psn_received = psn;
		return;
	}
}

/* A packet of `end` has left its host. */
void
crowd_sent(struct end *end, const struct plx_pkt *pkt)
{
	uint8_t kind = plx_opcodes[pkt->opcode].kind;

	if (!end->connection->fleet->crowd || kind == PLX_OP_ACK)
		return;
	end->bulk++;
	end->host->bulk++;
	if (kind == PLX_OP_READ_RESPONSE && end->owed > 0)
		end->owed--;
}

static bool
is_full(const struct host *host, const uint8_t *bytes)
{
	const struct fleet *fleet = host->fleet;

	for (uint32_t i = 0; i < fleet->host_count; i++)
		if (memcmp(bytes, fleet->host[i].outside, 6) == 0)
			return fleet->host[i].core[0].rx_count > RX_FULL;
	return false;
}

/* The port takes so many of `n`: what it can at once, and nothing for who has enough to do. */
uint16_t
crowd_takes(struct host *host, struct rte_mbuf **packets, uint16_t n)
{
	uint16_t most = host->take > 0 && host->take < n ? (uint16_t)host->take : n;
	uint16_t taken = 0;

	while (taken < most && !is_full(host, rte_pktmbuf_mtod(packets[taken], uint8_t *)))
		taken++;
	return taken;
}

/* ---- the invariant ---- */

/* It has something to send that neither its window nor its READs hold back. */
static bool
may_send(const struct end *end)
{
	const struct request *request;

	if (end->qp == NULL || end->connection->state != CONNECTION_UP || end->dead)
		return false;
	if (end->owed > 0)
		return true;
	if (end->request_seen == end->posted ||
	    end->psn_seen - end->psn_received >= end->attr.window_packets)
		return false;
	request = &end->requests[end->request_seen];
	return request->kind == PLX_WR_WRITE || end->psn_seen == end->psn_received;
}

/* Packets of its next quantum, at most. */
static uint32_t
quantum_of(const struct end *end)
{
	uint64_t packets = end->owed + end->psn_post - end->psn_seen;

	return packets < QUANTUM_PACKETS ? (uint32_t)packets : QUANTUM_PACKETS;
}

/*
 * Who waits is served after the doorbells that rang before its own, and after one quantum of each
 * that waits with it. A free cycle, in which the port took all there was, has room for
 * CYCLE_PACKETS.
 */
static void
judge(const struct end *end)
{
	const struct host *host = end->host;
	uint64_t doorbells = end->ready_most / CYCLE_DOORBELLS + 2;
	uint64_t cycles = doorbells + end->ahead_most / CYCLE_PACKETS + 1;
	uint64_t packets = TX_PACKETS * doorbells + end->ahead_most;

	sim_must(&host->fleet->world, host->free_cycles - end->since_cycle <= cycles, "Q1",
		 "end %u has something to send and has not sent in %" PRIu64
		 " cycles of host %u, in which %u queue pairs had quanta of %u packets: "
		 "at most %" PRIu64,
		 end->id, host->free_cycles - end->since_cycle, host->index, end->ready_most,
		 end->ahead_most, cycles);
	sim_must(&host->fleet->world, host->bulk - end->since_bulk <= packets, "Q1",
		 "end %u has something to send and waits while host %u sends %" PRIu64
		 " packets; %u queue pairs had quanta of %u packets: at most %" PRIu64,
		 end->id, host->index, host->bulk - end->since_bulk, end->ready_most,
		 end->ahead_most, packets);
}

/* After each cycle of a host. */
void
crowd_check(struct host *host)
{
	struct fleet *fleet = host->fleet;
	uint32_t ready = 0, ahead = 0;

	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		const struct end *end = &fleet->connection[i / 2].end[i % 2];

		if (end->host != host || !may_send(end))
			continue;
		ready++;
		ahead += quantum_of(end);
	}
	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		struct end *end = &fleet->connection[i / 2].end[i % 2];

		if (end->host != host)
			continue;
		if (!may_send(end) || end->bulk != end->judged) {
			end->judged = end->bulk;
			end->since_cycle = host->free_cycles;
			end->since_bulk = host->bulk;
			end->ready_most = end->ahead_most = 0;
			continue;
		}
		if (ready > end->ready_most)
			end->ready_most = ready;
		if (ahead > end->ahead_most)
			end->ahead_most = ahead;
		judge(end);
	}
}
