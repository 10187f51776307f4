/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ARP for IPv4 over Ethernet, decoded and encoded. It never judges a message: net.c and neighbour.c
 * decide what it changes.
 * Start with plx_arp_decode().
 *
 *   0       2       4    5    6       8        14       18        24       28
 *   | htype | ptype | hl | pl |  op   |  sha   |  spa   |  tha    |  tpa   |
 *       1     0x800    6    4   1, 2    sender            target
 */
#include "message.h"

enum {
	ARP_BYTES = 28,
	ARP_HTYPE_ETHERNET = 1,
	ARP_PTYPE_IPV4 = 0x0800,
	ARP_OP_REQUEST = 1,
	ARP_OP_REPLY = 2,
};

/**
 * A sender of 0.0.0.0 probes for a duplicate of its target. Other operations belong to other
 * protocols (reverse and inverse ARP), which are not ours.
 * Spec: RFC 826; RFC 5227 (1.1).
 */
enum plx_net_verdict
plx_arp_decode(const uint8_t *bytes, size_t len, struct plx_message *out)
{
	static const uint8_t none[4];
	unsigned op;

	if (len < ARP_BYTES)
		return PLX_NET_MALFORMED;
	if (plx_get16(bytes) != ARP_HTYPE_ETHERNET || plx_get16(bytes + 2) != ARP_PTYPE_IPV4 ||
	    bytes[4] != PLX_MAC_BYTES || bytes[5] != 4)
		return PLX_NET_MALFORMED;
	op = plx_get16(bytes + 6);
	if (op != ARP_OP_REQUEST && op != ARP_OP_REPLY)
		return PLX_NET_NOT_OURS;
	if (!plx_mac_is_station(bytes + 8))
		return PLX_NET_MALFORMED;
	if (memcmp(bytes + 14, none, 4) != 0) {
		out->subject = plx_ip_load(4, bytes + 14);
		if (!plx_ip_is_station(&out->subject))
			return PLX_NET_MALFORMED;
	} else if (op == ARP_OP_REPLY) {
		return PLX_NET_MALFORMED;
	}
	out->kind = op == ARP_OP_REQUEST ? PLX_MESSAGE_REQUEST : PLX_MESSAGE_ANSWER;
	out->solicited = op == ARP_OP_REPLY;
	out->override = true;
	out->has_mac = true;
	memcpy(out->mac, bytes + 8, PLX_MAC_BYTES);
	out->target = plx_ip_load(4, bytes + 24);
	return PLX_NET_TAKEN;
}

/* A reply contains its recipient's MAC; a request has zeros there, which the buffer has already. */
size_t
plx_arp_encode(const struct plx_message *message, uint8_t *out)
{
	bool request = message->kind == PLX_MESSAGE_REQUEST;

	plx_put16(out, ARP_HTYPE_ETHERNET);
	plx_put16(out + 2, ARP_PTYPE_IPV4);
	out[4] = PLX_MAC_BYTES;
	out[5] = 4;
	plx_put16(out + 6, request ? ARP_OP_REQUEST : ARP_OP_REPLY);
	memcpy(out + 8, message->mac, PLX_MAC_BYTES);
	memcpy(out + 14, message->subject.v, 4);
	if (!request)
		memcpy(out + 18, message->eth_dst, PLX_MAC_BYTES);
	memcpy(out + 24, message->target.v, 4);
	return ARP_BYTES;
}
