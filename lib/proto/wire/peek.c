/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whom a frame is for, from a few unverified bytes: for choosing who verifies them. It never
 * judges a frame. There is one function.
 */
#include "plx_bytes.h"
#include "plx_wire.h"

enum {
	TYPE_AT = 12, /* of the ethertype, in an untagged frame */
	TYPE_ARP = 0x0806,
	TYPE_IPV4 = 0x0800,
	TYPE_IPV6 = 0x86dd,
	TYPE_VLAN = 0x8100,
	PROTO_ICMP = 1,
	PROTO_UDP = 17,
	PROTO_ICMPV6 = 58,
	PROTO4_AT = 9, /* of the protocol, in an IP header */
	PROTO6_AT = 6,
	PORT_AT = 2, /* of the destination, in a UDP header */
};

static enum plx_peek
peek_udp(const uint8_t *udp, size_t len, uint32_t *qpn)
{
	if (len < PLX_UDP_BYTES + PLX_BTH_BYTES || plx_be16_load(udp + PORT_AT) != PLX_ROCE_PORT)
		return PLX_PEEK_OTHER;
	*qpn = plx_be32_load(udp + PLX_UDP_BYTES + PLX_BTH_QPN_AT) & PLX_PSN_MASK;
	return PLX_PEEK_ROCE;
}

enum plx_peek
plx_frame_peek(const uint8_t *bytes, size_t len, uint32_t *qpn)
{
	size_t at = PLX_ETH_BYTES;
	unsigned type, proto;

	if (len < PLX_ETH_BYTES + PLX_VLAN_BYTES)
		return PLX_PEEK_OTHER;
	type = plx_be16_load(bytes + TYPE_AT);
	if (type == TYPE_VLAN) {
		type = plx_be16_load(bytes + TYPE_AT + PLX_VLAN_BYTES);
		at += PLX_VLAN_BYTES;
	}
	if (type == TYPE_ARP)
		return PLX_PEEK_NET;
	if (type == TYPE_IPV4 && len >= at + PLX_IPV4_BYTES) {
		proto = bytes[at + PROTO4_AT];
		if (proto == PROTO_ICMP)
			return PLX_PEEK_NET;
		at += PLX_IPV4_BYTES;
	} else if (type == TYPE_IPV6 && len >= at + PLX_IPV6_BYTES) {
		proto = bytes[at + PROTO6_AT];
		if (proto == PROTO_ICMPV6)
			return PLX_PEEK_NET;
		at += PLX_IPV6_BYTES;
	} else {
		return PLX_PEEK_OTHER;
	}
	return proto == PROTO_UDP ? peek_udp(bytes + at, len - at, qpn) : PLX_PEEK_OTHER;
}
