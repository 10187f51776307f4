/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ethernet, one VLAN tag, IPv4 or IPv6, UDP <-> struct plx_frame; and the template of a flow. It
 * never follows an IP option or an IPv6 extension header: such a packet is refused.
 * Start with plx_frame_decode(). Each header has one function, which gets the number of bytes
 * present.
 */
#include "plx_bytes.h"
#include "plx_wire.h"

#define VLAN_ID_MASK 0x0fffu

enum {
	MAC_BYTES = 6,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_VLAN = 0x8100,
	PROTO_UDP = 17,
	PROTO_IPV6_FRAGMENT = 44,
	IPV4_IHL = 5,                /* [32-bit words] of a header without options */
	IPV4_FRAGMENT_MASK = 0x3fff, /* more fragments, and the offset */
	DATAGRAM_MAX = UINT16_MAX,
};

/* The Internet checksum: the sum of 16-bit words in host order, folded to 16 bits. RFC 1071. */
static uint32_t
fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint32_t)sum;
}

/* 32 bits at a time: 2^16 is 1 modulo 2^16 - 1, so fold() can add the halves later. */
static uint64_t
sum_of(const uint8_t *bytes, size_t len)
{
	uint64_t sum = 0;

	for (; len >= 4; bytes += 4, len -= 4)
		sum += plx_be32_load(bytes);
	if (len >= 2) {
		sum += plx_be16_load(bytes);
		bytes += 2;
		len -= 2;
	}
	if (len)
		sum += (uint64_t)bytes[0] << 8;
	return sum;
}

/* `at` is the IP header, with `left` bytes. On OK, *proto is the protocol that the header names. */
static enum plx_wire_verdict
ipv4_decode(const uint8_t *at, size_t left, unsigned trust, struct plx_frame *out, uint8_t *proto)
{
	if (plx_unlikely(left < PLX_IPV4_BYTES))
		return PLX_WIRE_IP_SHORT;
	if (plx_unlikely(at[0] >> 4 != 4))
		return PLX_WIRE_IP_VERSION;
	if (plx_unlikely((at[0] & 0x0f) != IPV4_IHL))
		return (at[0] & 0x0f) > IPV4_IHL ? PLX_WIRE_IP_OPTIONS : PLX_WIRE_IP_LENGTH;
	out->ip_bytes = plx_be16_load(at + 2);
	if (plx_unlikely(out->ip_bytes < PLX_IPV4_BYTES || out->ip_bytes > left))
		return PLX_WIRE_IP_LENGTH;
	out->v4 = (struct plx_ipv4){
		.tos = at[1],
		.ttl = at[8],
		.id = plx_be16_load(at + 4),
		.flags_offset = plx_be16_load(at + 6),
		.checksum = plx_be16_load(at + 10),
		.src = plx_be32_load(at + 12),
		.dst = plx_be32_load(at + 16),
	};
	if (plx_unlikely(out->v4.flags_offset & IPV4_FRAGMENT_MASK))
		return PLX_WIRE_IP_FRAGMENT;
	if (!(trust & PLX_TRUST_IP_CHECKSUM) &&
	    plx_unlikely(fold(sum_of(at, PLX_IPV4_BYTES)) != UINT16_MAX))
		return PLX_WIRE_IP_CHECKSUM;
	*proto = at[9];
	return PLX_WIRE_OK;
}

static enum plx_wire_verdict
ipv6_decode(const uint8_t *at, size_t left, struct plx_frame *out, uint8_t *proto)
{
	size_t total;

	if (plx_unlikely(left < PLX_IPV6_BYTES))
		return PLX_WIRE_IP_SHORT;
	if (plx_unlikely(at[0] >> 4 != 6))
		return PLX_WIRE_IP_VERSION;
	/* A jumbogram has length 0, too short for UDP; no field could hold more than 65535. */
	total = PLX_IPV6_BYTES + (size_t)plx_be16_load(at + 4);
	if (plx_unlikely(total > left || total > DATAGRAM_MAX))
		return PLX_WIRE_IP_LENGTH;
	out->ip_bytes = (uint16_t)total;
	out->v6.flow = plx_be32_load(at) & UINT32_C(0x0fffffff);
	out->v6.hop_limit = at[7];
	memcpy(out->v6.src, at + 8, 16);
	memcpy(out->v6.dst, at + 24, 16);
	*proto = at[6];
	if (plx_unlikely(*proto == PROTO_IPV6_FRAGMENT))
		return PLX_WIRE_IP_FRAGMENT;
	return PLX_WIRE_OK;
}

/* The pseudo-header is the addresses, the protocol and the UDP length. RFC 768; RFC 8200, 8.1. */
static __attribute__((noinline)) bool
udp_checksum_right(const uint8_t *bytes, const struct plx_frame *frame)
{
	size_t address_bytes = frame->ip_version == 4 ? 8 : 32;
	const uint8_t *udp = bytes + frame->udp_at;
	uint64_t sum = PROTO_UDP + (uint64_t)frame->udp_bytes;

	sum += sum_of(udp - address_bytes, address_bytes);
	sum += sum_of(udp, frame->udp_bytes);
	return fold(sum) == UINT16_MAX;
}

static enum plx_wire_verdict
udp_decode(const uint8_t *bytes, size_t left, unsigned trust, struct plx_frame *out)
{
	const uint8_t *at = bytes + out->udp_at;

	if (plx_unlikely(left < PLX_UDP_BYTES))
		return PLX_WIRE_UDP_LENGTH;
	out->udp_src = plx_be16_load(at);
	out->udp_dst = plx_be16_load(at + 2);
	out->udp_bytes = plx_be16_load(at + 4);
	out->udp_checksum = plx_be16_load(at + 6);
	if (plx_unlikely(out->udp_bytes != left))
		return PLX_WIRE_UDP_LENGTH;
	if (plx_unlikely(out->udp_checksum != 0) && !(trust & PLX_TRUST_UDP_CHECKSUM) &&
	    !udp_checksum_right(bytes, out))
		return PLX_WIRE_UDP_CHECKSUM;
	return plx_likely(out->udp_dst == PLX_ROCE_PORT) ? PLX_WIRE_OK : PLX_WIRE_NOT_ROCE;
}

PLX_HOT enum plx_wire_verdict
plx_frame_is_for(const uint8_t *bytes, size_t len, const uint8_t *mac, uint16_t vlan)
{
	unsigned id = 0;

	if (plx_unlikely(len < PLX_ETH_BYTES))
		return PLX_WIRE_ETH_SHORT;
	if (plx_unlikely(plx_be16_load(bytes + 12) == ETHERTYPE_VLAN)) {
		if (len < PLX_ETH_BYTES + PLX_VLAN_BYTES)
			return PLX_WIRE_ETH_SHORT;
		id = plx_be16_load(bytes + 14) & VLAN_ID_MASK;
	}
	if (plx_unlikely(id != vlan))
		return PLX_WIRE_VLAN;
	if (plx_unlikely(memcmp(bytes, mac, MAC_BYTES) != 0 && !(bytes[0] & 1)))
		return PLX_WIRE_STATION;
	return PLX_WIRE_OK;
}

PLX_HOT enum plx_wire_verdict
plx_frame_decode(const uint8_t *bytes, size_t len, unsigned trust, struct plx_frame *out)
{
	enum plx_wire_verdict verdict;
	size_t ip_at = PLX_ETH_BYTES;
	uint16_t ethertype;
	uint8_t proto = 0;

	if (plx_unlikely(len < PLX_ETH_BYTES))
		return PLX_WIRE_ETH_SHORT;
	memcpy(out->eth_dst, bytes, 6);
	memcpy(out->eth_src, bytes + 6, 6);
	ethertype = plx_be16_load(bytes + 12);
	out->vlan = ethertype == ETHERTYPE_VLAN;
	out->vlan_tci = 0;
	if (out->vlan) {
		ip_at += PLX_VLAN_BYTES;
		if (plx_unlikely(len < ip_at))
			return PLX_WIRE_ETH_SHORT;
		out->vlan_tci = plx_be16_load(bytes + 14);
		ethertype = plx_be16_load(bytes + 16);
	}
	out->ip_at = (uint16_t)ip_at;
	if (ethertype == ETHERTYPE_IPV4) {
		out->ip_version = 4;
		out->udp_at = (uint16_t)(ip_at + PLX_IPV4_BYTES);
		verdict = ipv4_decode(bytes + ip_at, len - ip_at, trust, out, &proto);
	} else if (ethertype == ETHERTYPE_IPV6) {
		out->ip_version = 6;
		out->udp_at = (uint16_t)(ip_at + PLX_IPV6_BYTES);
		verdict = ipv6_decode(bytes + ip_at, len - ip_at, out, &proto);
	} else {
		return PLX_WIRE_NOT_IP;
	}
	if (plx_unlikely(verdict != PLX_WIRE_OK))
		return verdict;
	if (plx_unlikely(proto != PROTO_UDP))
		return PLX_WIRE_NOT_UDP;
	/* Both decoders have checked that ip_bytes covers their header. */
	return udp_decode(bytes, out->ip_bytes - (size_t)(out->udp_at - ip_at), trust, out);
}

static size_t
ipv4_encode(const struct plx_frame *frame, uint8_t *at)
{
	at[0] = 4 << 4 | IPV4_IHL;
	at[1] = frame->v4.tos;
	plx_be16_store(at + 2, frame->ip_bytes);
	plx_be16_store(at + 4, frame->v4.id);
	plx_be16_store(at + 6, frame->v4.flags_offset);
	at[8] = frame->v4.ttl;
	at[9] = PROTO_UDP;
	plx_be16_store(at + 10, frame->v4.checksum);
	plx_be32_store(at + 12, frame->v4.src);
	plx_be32_store(at + 16, frame->v4.dst);
	return PLX_IPV4_BYTES;
}

static size_t
ipv6_encode(const struct plx_frame *frame, uint8_t *at)
{
	plx_be32_store(at, UINT32_C(6) << 28 | (frame->v6.flow & UINT32_C(0x0fffffff)));
	plx_be16_store(at + 4, (uint16_t)(frame->ip_bytes - PLX_IPV6_BYTES));
	at[6] = PROTO_UDP;
	at[7] = frame->v6.hop_limit;
	memcpy(at + 8, frame->v6.src, 16);
	memcpy(at + 24, frame->v6.dst, 16);
	return PLX_IPV6_BYTES;
}

size_t
plx_frame_encode(const struct plx_frame *frame, uint8_t *out)
{
	size_t at = 12;

	PLX_ASSERT(frame->ip_version == 4 || frame->ip_version == 6);
	memcpy(out, frame->eth_dst, 6);
	memcpy(out + 6, frame->eth_src, 6);
	if (frame->vlan) {
		plx_be16_store(out + at, ETHERTYPE_VLAN);
		plx_be16_store(out + at + 2, frame->vlan_tci);
		at += PLX_VLAN_BYTES;
	}
	plx_be16_store(out + at, frame->ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	at += 2;
	at += frame->ip_version == 4 ? ipv4_encode(frame, out + at) : ipv6_encode(frame, out + at);
	plx_be16_store(out + at, frame->udp_src);
	plx_be16_store(out + at + 2, frame->udp_dst);
	plx_be16_store(out + at + 4, frame->udp_bytes);
	plx_be16_store(out + at + 6, frame->udp_checksum);
	return at + PLX_UDP_BYTES;
}

void
plx_frame_set_tos(uint8_t *ip, uint8_t tos)
{
	if (ip[0] >> 4 == 4) {
		ip[1] = tos;
		plx_be16_store(ip + 10, 0);
		plx_be16_store(ip + 10, (uint16_t)~fold(sum_of(ip, PLX_IPV4_BYTES)));
		return;
	}
	ip[0] = (uint8_t)(6 << 4 | tos >> 4);
	ip[1] = (uint8_t)((tos & 0x0f) << 4 | (ip[1] & 0x0f));
}

void
plx_frame_template_init(struct plx_frame_template *tmpl, const struct plx_frame *frame)
{
	struct plx_frame zeroed = *frame;
	size_t ip_at = frame->vlan ? PLX_ETH_BYTES + PLX_VLAN_BYTES : PLX_ETH_BYTES;

	/* The fields that plx_frame_template_write() fills in must not be in the sum. */
	zeroed.ip_bytes = frame->ip_version == 4 ? 0 : PLX_IPV6_BYTES;
	zeroed.udp_bytes = 0;
	zeroed.udp_checksum = 0;
	if (frame->ip_version == 4)
		zeroed.v4.checksum = 0;
	memset(tmpl, 0, sizeof *tmpl);
	tmpl->header_bytes = (uint8_t)plx_frame_encode(&zeroed, tmpl->bytes);
	tmpl->ip_at = (uint8_t)ip_at;
	tmpl->ip_version = frame->ip_version;
	if (frame->ip_version == 4)
		tmpl->ip_sum = fold(sum_of(tmpl->bytes + ip_at, PLX_IPV4_BYTES));
}

PLX_HOT size_t
plx_frame_template_write(const struct plx_frame_template *tmpl, size_t udp_payload, uint8_t *out)
{
	uint8_t *ip = out + tmpl->ip_at;
	uint16_t udp_bytes = (uint16_t)(PLX_UDP_BYTES + udp_payload);

	PLX_ASSERT(udp_payload <= (size_t)DATAGRAM_MAX + tmpl->ip_at - tmpl->header_bytes);
	/* Pieces of a fixed size, which may overlap: all headers have at least 42 bytes. */
	memcpy(out, tmpl->bytes, 32);
	if (tmpl->header_bytes > 48)
		memcpy(out + 32, tmpl->bytes + 32, 24);
	memcpy(out + tmpl->header_bytes - 16, tmpl->bytes + tmpl->header_bytes - 16, 16);
	if (tmpl->ip_version == 4) {
		uint16_t total = (uint16_t)(PLX_IPV4_BYTES + udp_bytes);

		plx_be16_store(ip + 2, total);
		plx_be16_store(ip + 10, (uint16_t)~fold((uint64_t)tmpl->ip_sum + total));
	} else {
		plx_be16_store(ip + 4, udp_bytes);
	}
	plx_be16_store(out + tmpl->header_bytes - 4, udp_bytes);
	return tmpl->header_bytes;
}
