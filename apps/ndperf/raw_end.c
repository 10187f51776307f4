/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One end of the raw pipeline before its first packet: headers, memory, burst size.
 * It never sends anything. Start with raw_end_init().
 */
#include "raw_end.h"

#include <rte_ethdev.h>

enum {
	PRIVATE_PORT = 49152,
	ONE_CORE_BURST_BYTES = 16 << 10,
	ONE_CORE_BURST_MIN = 4,
};

static void
end_addresses(struct raw_end *end, int which, uint16_t peer_port)
{
	struct plx_frame frame = {
		.ip_version = 4,
		.v4 = {.ttl = 64, .flags_offset = 0x4000},
		.udp_src = PRIVATE_PORT,
		.udp_dst = PLX_ROCE_PORT,
	};
	struct rte_ether_addr mine = {0};
	struct rte_ether_addr peers = {0};

	/* A port without an address sends from zeros, which the other end ignores. */
	(void)rte_eth_macaddr_get(end->port, &mine);
	(void)rte_eth_macaddr_get(peer_port, &peers);
	memcpy(frame.eth_src, mine.addr_bytes, sizeof frame.eth_src);
	memcpy(frame.eth_dst, peers.addr_bytes, sizeof frame.eth_dst);
	frame.v4.src = UINT32_C(0xc6120001) + (uint32_t)which; /* RFC 2544: 198.18.0.0/15 */
	frame.v4.dst = UINT32_C(0xc6120002) - (uint32_t)which;
	plx_frame_template_init(&end->frame, &frame);
}

static void
end_headers(struct raw_end *end)
{
	const struct plx_pkt data = {
		.opcode = PLX_RC_WRITE_ONLY,
		.migreq = true,
		.pkey = PLX_PKEY_DEFAULT,
		.dest_qpn = RAW_QPN,
		.reth = {.rkey = RAW_RKEY},
	};
	const struct plx_pkt ack = {
		.opcode = PLX_RC_ACK,
		.migreq = true,
		.pkey = PLX_PKEY_DEFAULT,
		.dest_qpn = RAW_QPN,
		.aeth = {.syndrome = PLX_AETH_NO_CREDITS},
	};

	plx_pkt_encode(&data, end->data_header);
	plx_pkt_encode(&ack, end->ack_header);
}

/* On one core a burst is read while it is still in the first-level cache. Between two cores there
 * is no such loss, and fewer ACKs wait for each other. Measured: docs/performance.md. */
static uint32_t
burst_of(uint32_t packet, bool one_core)
{
	uint32_t fits = ONE_CORE_BURST_BYTES / packet;

	if (!one_core || fits > RAW_BURST)
		return RAW_BURST;
	return fits > ONE_CORE_BURST_MIN ? fits : ONE_CORE_BURST_MIN;
}

enum plx_status
raw_end_init(struct raw_end *end, int which, const struct job *job, const struct raw_ports *ports,
	     bool one_core)
{
	uint32_t mtu = job->path_mtu ? job->path_mtu : PLX_MTU_MAX;

	*end = (struct raw_end){
		.pool = ports->pool,
		.port = ports->port[which],
		.icrc = plx_icrc_choose(),
		.size = job->size,
		.packet = job->size < mtu ? job->size : mtu,
		.slots = job->slots ? job->slots : 1,
		.stride = stride_bytes(job->size),
		.rewrite = job->rewrite && job->size <= RAW_REWRITE_PART,
		.in_parts = job->rewrite && job->size > RAW_REWRITE_PART,
	};
	end->burst = burst_of(end->packet, one_core);
	end->sink_bytes = end->slots * end->stride;
	end_addresses(end, which, ports->port[1 - which]);
	end_headers(end);
	end->source = plx_mem_alloc(end->sink_bytes, -1, NULL);
	end->sink = plx_mem_alloc(end->sink_bytes, -1, NULL);
	return end->source && end->sink ? PLX_OK : PLX_NO_MEMORY;
}

void
raw_end_fini(struct raw_end *end)
{
	plx_mem_free(end->source);
	plx_mem_free(end->sink);
}
