/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recognizes the usual packet of a flow without decoding it. It never refuses a packet: those that
 * do not match are left to plx_frame_decode().
 * Start with plx_frame_flow_matches().
 */
#include "plx_bytes.h"
#include "plx_wire.h"

/*
 * Three pieces of the headers are compared: the first 16 bytes of the frame, with the destination
 * and the tag; 16 from the ethertype before the IP header; and the last 16 before the BTH. Those
 * begin with the addresses of IPv4; of IPv6 the addresses are compared with the template's.
 */
enum {
	PIECE = 16,
	MAC_BYTES = 6,
	TAG_AT = 2 * MAC_BYTES,
	V6_ADDRESSES_AT = 8,
	V6_ADDRESS_BYTES = 16,
};

/* Require a range of bytes to have these values. */
static void
must_be(struct plx_frame_flow *flow, size_t at, const uint8_t *bytes, size_t count)
{
	memcpy(flow->want + at, bytes, count);
	memset(flow->mask + at, 0xff, count);
}

/* Our station, and the tag except its priority. */
static void
must_be_for_us(struct plx_frame_flow *flow, const struct plx_frame_template *own)
{
	must_be(flow, 0, own->bytes + MAC_BYTES, MAC_BYTES);
	if (own->ip_at == PLX_ETH_BYTES)
		return;
	must_be(flow, TAG_AT, own->bytes + TAG_AT, PLX_VLAN_BYTES);
	flow->mask[TAG_AT + 2] = flow->mask[TAG_AT + 2] & 0x0f;
}

/* UDP, with any source port and length, without a checksum: the end of the last piece. */
static void
must_be_roce(struct plx_frame_flow *flow)
{
	static const uint8_t port[2] = {PLX_ROCE_PORT >> 8, PLX_ROCE_PORT & 0xff};
	static const uint8_t no_checksum[2] = {0, 0};

	must_be(flow, 2 * PIECE + 8 + 2, port, 2);
	must_be(flow, 2 * PIECE + 8 + 6, no_checksum, 2);
}

static void
must_be_ipv4(struct plx_frame_flow *flow, const uint8_t *ip)
{
	static const uint8_t ethertype[2] = {0x08, 0x00}, version[1] = {0x45}, udp[1] = {17};
	static const uint8_t no_fragment[2] = {0, 0};

	must_be(flow, PIECE, ethertype, 2);
	must_be(flow, PIECE + 2, version, 1);
	must_be(flow, PIECE + 2 + 6, no_fragment, 2);
	flow->mask[PIECE + 2 + 6] = 0x3f; /* the don't-fragment bit may have any value */
	must_be(flow, PIECE + 2 + 9, udp, 1);
	must_be(flow, 2 * PIECE, ip + 16, 4);
	must_be(flow, 2 * PIECE + 4, ip + 12, 4);
}

static void
must_be_ipv6(struct plx_frame_flow *flow)
{
	static const uint8_t ethertype[2] = {0x86, 0xdd}, version[1] = {0x60}, udp[1] = {17};

	must_be(flow, PIECE, ethertype, 2);
	must_be(flow, PIECE + 2, version, 1);
	flow->mask[PIECE + 2] = 0xf0; /* traffic class and flow label may have any value */
	must_be(flow, PIECE + 2 + 6, udp, 1);
}

void
plx_frame_flow_init(struct plx_frame_flow *flow, const struct plx_frame_template *own)
{
	memset(flow, 0, sizeof(*flow));
	flow->ip_at = PLX_ETH_BYTES;
	if (own->ip_version == 0)
		return;
	flow->ip_version = own->ip_version;
	flow->ip_at = own->ip_at;
	must_be_for_us(flow, own);
	if (own->ip_version == 4)
		must_be_ipv4(flow, own->bytes + own->ip_at);
	else
		must_be_ipv6(flow);
	must_be_roce(flow);
}

typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair
load_pair(const uint8_t *at)
{
	pair v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint64_t
load64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Bits in which a piece differs from its required value. */
static inline pair
differs(const struct plx_frame_flow *flow, uint32_t piece, const uint8_t *bytes)
{
	size_t at = (size_t)piece * PIECE;

	return (load_pair(bytes) ^ load_pair(flow->want + at)) & load_pair(flow->mask + at);
}

/*
 * Is the IPv4 header's checksum valid? It is summed in host byte order: because of the end-around
 * carry, byte order does not matter (RFC 1071, 2B).
 */
static inline bool
checksum_right(const uint8_t *ip)
{
	uint64_t a = load64(ip), b = load64(ip + 8);
	uint32_t c;
	uint64_t sum;

	memcpy(&c, ip + 16, sizeof(c));
	sum = (a & UINT32_MAX) + (a >> 32) + (b & UINT32_MAX) + (b >> 32) + c;
	sum = (sum & UINT16_MAX) + (sum >> 16 & UINT16_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return sum == UINT16_MAX;
}

/* Are the ends of an IPv6 header those of our packets, exchanged? */
static inline bool
ends_right(const uint8_t *theirs, const uint8_t *ours)
{
	const uint8_t *src = theirs + V6_ADDRESSES_AT, *dst = src + V6_ADDRESS_BYTES;
	const uint8_t *own = ours + V6_ADDRESSES_AT, *peer = own + V6_ADDRESS_BYTES;
	pair diff = (load_pair(src) ^ load_pair(peer)) | (load_pair(dst) ^ load_pair(own));

	return (diff[0] | diff[1]) == 0;
}

/* Do the bytes from the IP header on have its length, and UDP the length of the rest? */
static inline bool
lengths_right(size_t total, size_t header, size_t len, const uint8_t *ip)
{
	return total >= header + PLX_UDP_BYTES + PLX_BTH_BYTES + PLX_ICRC_BYTES && total <= len &&
	       plx_be16_load(ip + header + 4) == total - header;
}

PLX_HOT bool
plx_frame_flow_matches(const struct plx_frame_flow *flow, const struct plx_frame_template *own,
		       const uint8_t *bytes, size_t len, size_t *ip_bytes)
{
	const uint8_t *ip = bytes + flow->ip_at;
	size_t header = plx_frame_ip_header_bytes(flow->ip_version);
	pair diff = differs(flow, 0, bytes) | differs(flow, 1, ip - 2) |
		    differs(flow, 2, ip + header + PLX_UDP_BYTES - PIECE);
	size_t total = plx_be16_load(ip + 2);

	if (plx_unlikely(flow->ip_version == 6)) {
		total = PLX_IPV6_BYTES + (size_t)plx_be16_load(ip + 4);
		*ip_bytes = total;
		return (diff[0] | diff[1]) == 0 &&
		       lengths_right(total, header, len - flow->ip_at, ip) &&
		       ends_right(ip, own->bytes + own->ip_at);
	}
	*ip_bytes = total;
	return (diff[0] | diff[1]) == 0 && flow->ip_version == 4 &&
	       lengths_right(total, header, len - flow->ip_at, ip) && checksum_right(ip);
}
