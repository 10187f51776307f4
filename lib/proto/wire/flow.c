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
 * and the tag; 16 from the ethertype before the IP header; and the last 16 before the BTH, which
 * begin with the IP addresses.
 */
enum {
	PIECE = 16,
	UDP_AT = PLX_IPV4_BYTES, /* from the start of the IP header */
	MAC_BYTES = 6,
	TAG_AT = 2 * MAC_BYTES,
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

void
plx_frame_flow_init(struct plx_frame_flow *flow, const struct plx_frame_template *own)
{
	static const uint8_t ethertype[2] = {0x08, 0x00}, version[1] = {0x45}, udp[1] = {17};
	static const uint8_t no_fragment[2] = {0, 0}, no_checksum[2] = {0, 0};
	static const uint8_t port[2] = {PLX_ROCE_PORT >> 8, PLX_ROCE_PORT & 0xff};
	const uint8_t *ip = own->bytes + own->ip_at;

	memset(flow, 0, sizeof(*flow));
	flow->ip_at = PLX_ETH_BYTES;
	if (own->ip_version != 4)
		return;
	flow->ip_version = 4;
	flow->ip_at = own->ip_at;
	must_be_for_us(flow, own);
	must_be(flow, PIECE, ethertype, 2);
	must_be(flow, PIECE + 2, version, 1);
	must_be(flow, PIECE + 2 + 6, no_fragment, 2);
	flow->mask[PIECE + 2 + 6] = 0x3f; /* the don't-fragment bit may have any value */
	must_be(flow, PIECE + 2 + 9, udp, 1);
	/*
	 * The last piece: source and destination address, and UDP except its source port and
	 * length.
	 */
	must_be(flow, 2 * PIECE, ip + 16, 4);
	must_be(flow, 2 * PIECE + 4, ip + 12, 4);
	must_be(flow, 2 * PIECE + 8 + 2, port, 2);
	must_be(flow, 2 * PIECE + 8 + 6, no_checksum, 2);
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

PLX_HOT bool
plx_frame_flow_matches(const struct plx_frame_flow *flow, const uint8_t *bytes, size_t len,
		       size_t *ip_bytes)
{
	const uint8_t *ip = bytes + flow->ip_at;
	pair diff = differs(flow, 0, bytes) | differs(flow, 1, ip - 2) |
		    differs(flow, 2, ip + PLX_IPV4_BYTES + PLX_UDP_BYTES - PIECE);
	size_t total = plx_be16_load(ip + 2);

	*ip_bytes = total;
	return (diff[0] | diff[1]) == 0 && flow->ip_version == 4 &&
	       total >= PLX_IPV4_BYTES + PLX_UDP_BYTES + PLX_BTH_BYTES + PLX_ICRC_BYTES &&
	       total <= len - flow->ip_at &&
	       plx_be16_load(ip + UDP_AT + 4) == total - PLX_IPV4_BYTES && checksum_right(ip);
}
