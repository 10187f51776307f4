/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recognising the usual packet of a flow without decoding it. It never refuses anything: what does
 * not match goes the long way through plx_frame_decode(). Start with plx_frame_flow_matches().
 */
#include "bytes.h"
#include "plx_wire.h"

enum {
	IP_AT = PLX_ETH_BYTES,
	UDP_AT = IP_AT + PLX_IPV4_BYTES,
	HEADER_BYTES = UDP_AT + PLX_UDP_BYTES,
};

/* Set a range of bytes that must be what they are. */
static void
must_be(struct plx_frame_flow *flow, size_t at, const uint8_t *bytes, size_t count)
{
	memcpy(flow->want + at, bytes, count);
	memset(flow->mask + at, 0xff, count);
}

void
plx_frame_flow_init(struct plx_frame_flow *flow, const struct plx_frame_template *own)
{
	static const uint8_t ethertype[2] = {0x08, 0x00}, version[1] = {0x45}, udp[1] = {17};
	static const uint8_t no_fragment[2] = {0, 0}, no_checksum[2] = {0, 0};
	static const uint8_t port[2] = {PLX_ROCE_PORT >> 8, PLX_ROCE_PORT & 0xff};

	memset(flow, 0, sizeof(*flow));
	if (own->ip_version != 4 || own->ip_at != IP_AT)
		return;
	flow->ip_version = 4;
	must_be(flow, 12, ethertype, 2);
	must_be(flow, IP_AT, version, 1);
	must_be(flow, IP_AT + 6, no_fragment, 2);
	flow->mask[IP_AT + 6] = 0x3f; /* the bit that forbids fragments is free */
	must_be(flow, IP_AT + 9, udp, 1);
	must_be(flow, IP_AT + 12, own->bytes + IP_AT + 16, 4);
	must_be(flow, IP_AT + 16, own->bytes + IP_AT + 12, 4);
	must_be(flow, UDP_AT + 2, port, 2);
	must_be(flow, UDP_AT + 6, no_checksum, 2);
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

/* Bits in which sixteen bytes differ from what they must be. */
static inline pair
differs(const struct plx_frame_flow *flow, const uint8_t *bytes, size_t at)
{
	return (load_pair(bytes + at) ^ load_pair(flow->want + at)) & load_pair(flow->mask + at);
}

/* The IPv4 header's checksum, summed in the machine's byte order: the end-around carry makes the
 * order of the bytes of no account (RFC 1071, 2B). */
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
	/* From the ethertype to the UDP checksum, in two pieces that overlap. */
	pair diff = differs(flow, bytes, 12) | differs(flow, bytes, HEADER_BYTES - 16);
	size_t total = be16_load(bytes + IP_AT + 2);

	*ip_bytes = total;
	return (diff[0] | diff[1]) == 0 && flow->ip_version == 4 &&
	       total >= PLX_IPV4_BYTES + PLX_UDP_BYTES + PLX_BTH_BYTES + PLX_ICRC_BYTES &&
	       total <= len - IP_AT && be16_load(bytes + UDP_AT + 4) == total - PLX_IPV4_BYTES &&
	       checksum_right(bytes + IP_AT);
}
