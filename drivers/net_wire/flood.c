/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hostile management datagrams. Each is valid down to its ICRC, so that only the communication
 * manager can detect it. Half are requests from stations that do not exist, a quarter come from the
 * peer itself, a quarter are noise after a valid header. It never checks their effect.
 * Start with flood_add().
 */
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "flood.h"
#include "plx_mad.h"

enum {
	IP_AT = PLX_ETH_BYTES,
	IP_LENGTH_AT = IP_AT + 2,
	IP_CHECKSUM_AT = IP_AT + 10,
	IP_SRC_AT = IP_AT + 12,
	UDP_AT = IP_AT + PLX_IPV4_BYTES,
	UDP_LENGTH_AT = UDP_AT + 4,
	BTH_AT = UDP_AT + PLX_UDP_BYTES,
	MAD_AT = BTH_AT + PLX_BTH_BYTES + 8,
	FRAME_BYTES = MAD_AT + PLX_MAD_BYTES + PLX_ICRC_BYTES,
	SPREAD = 4096, /* number of ports that requests address */
};

_Static_assert((int)FRAME_BYTES == (int)FLOOD_FRAME_BYTES,
	       "Ethernet to ICRC of a management datagram");

void
flood_init(struct flood *flood, uint32_t per_second, uint64_t seed)
{
	*flood = (struct flood){.period = rte_get_tsc_hz() / per_second, .icrc = plx_icrc_choose()};
	plx_prng_init(&flood->prng, seed);
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void
fix_ip_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	put16(ip + 10, 0);
	for (uint32_t i = 0; i < PLX_IPV4_BYTES; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	put16(ip + 10, ~sum);
}

static void
write_request(struct flood *flood, const uint8_t *ip, uint64_t dice, uint8_t *mad)
{
	struct plx_cma cma = {.src.version = 4, .dst.version = 4, .src_port = (uint16_t)dice};
	struct plx_cm_msg msg = {.kind = PLX_CM_REQ, .transaction_id = dice};
	struct plx_cm_req *req = &msg.req;

	memcpy(cma.src.v, ip + 12, 4);
	memcpy(cma.dst.v, ip + 16, 4);
	req->local_comm_id = (uint32_t)plx_prng_next(&flood->prng);
	req->service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP, (uint16_t)(dice % SPREAD));
	req->local_ca_guid = dice;
	req->local_qpn = 2 + (uint32_t)(dice >> 40) % (PLX_PSN_MASK - 2);
	req->responder_resources = req->initiator_depth = 1;
	req->remote_response_timeout = req->local_response_timeout = 18;
	req->starting_psn = plx_psn((uint32_t)dice);
	req->retry_count = req->rnr_retry_count = 7;
	req->pkey = PLX_PKEY_DEFAULT;
	req->path_mtu = 3;
	req->max_cm_retries = 15;
	plx_gid_from_ip(&cma.src, req->primary.local_gid);
	plx_gid_from_ip(&cma.dst, req->primary.remote_gid);
	req->primary.hop_limit = 64;
	req->primary.local_ack_timeout = 14;
	plx_cma_encode(&cma, req->private_data);
	plx_mad_encode(&msg, mad);
}

static void
write_frame(struct flood *flood, uint8_t *bytes)
{
	const struct plx_pkt pkt = {.opcode = PLX_UD_SEND_ONLY,
				    .migreq = true,
				    .pkey = PLX_PKEY_DEFAULT,
				    .dest_qpn = PLX_GSI_QPN,
				    .deth = {.qkey = PLX_GSI_QKEY, .src_qpn = PLX_GSI_QPN}};
	uint64_t dice = plx_prng_next(&flood->prng);
	uint32_t kind = dice >> 60 & 3;

	memcpy(bytes, flood->header, sizeof(flood->header));
	if (kind < 2)
		put16(bytes + IP_SRC_AT + 2, (uint32_t)(dice >> 20));
	put16(bytes + IP_LENGTH_AT, FRAME_BYTES - IP_AT);
	fix_ip_checksum(bytes + IP_AT);
	put16(bytes + UDP_LENGTH_AT, FRAME_BYTES - UDP_AT);
	put16(bytes + UDP_LENGTH_AT + 2, 0);
	plx_pkt_encode(&pkt, bytes + BTH_AT);
	write_request(flood, bytes + IP_AT, dice, bytes + MAD_AT);
	for (uint32_t i = PLX_MAD_HEADER_BYTES; kind == 3 && i < PLX_MAD_BYTES; i += 8) {
		uint64_t noise = plx_prng_next(&flood->prng);

		memcpy(bytes + MAD_AT + i, &noise, sizeof(noise));
	}
	plx_icrc_store(flood->icrc(bytes + IP_AT, FRAME_BYTES - IP_AT - PLX_ICRC_BYTES),
		       bytes + FRAME_BYTES - PLX_ICRC_BYTES);
}

/* Copy the headers of a RoCE packet sent to this end. */
static void
learn(struct flood *flood, const struct rte_mbuf *packet, uint64_t now)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);

	if (packet->data_len < FLOOD_HEADER_BYTES || bytes[12] != 0x08 || bytes[13] != 0 ||
	    bytes[IP_AT] != 0x45 || bytes[IP_AT + 9] != 17 ||
	    (bytes[UDP_AT + 2] << 8 | bytes[UDP_AT + 3]) != PLX_ROCE_PORT)
		return;
	memcpy(flood->header, bytes, sizeof(flood->header));
	for (uint32_t i = 0; i < FLOOD_FRAMES; i++)
		write_frame(flood, flood->frame[i]);
	flood->pool = packet->pool;
	flood->due = now;
}

uint16_t
flood_add(struct flood *flood, struct rte_mbuf **packets, uint16_t n, uint16_t room, uint64_t now)
{
	uint16_t added = 0;

	for (uint16_t i = 0; i < n && flood->pool == NULL; i++)
		learn(flood, packets[i], now);
	/* Datagrams that were due while no thread polled are skipped. */
	if (flood->pool != NULL && now > flood->due + 1000 * flood->period)
		flood->due = now;
	while (flood->pool != NULL && n + added < room && now >= flood->due) {
		struct rte_mbuf *packet = rte_pktmbuf_alloc(flood->pool);

		if (packet == NULL)
			break;
		memcpy(rte_pktmbuf_append(packet, FRAME_BYTES),
		       flood->frame[flood->next++ % FLOOD_FRAMES], FRAME_BYTES);
		packets[n + added++] = packet;
		flood->due += flood->period;
	}
	return added;
}
