/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Ethernet header of a message, and which of the two protocols follows it.
 * It never looks at the table or at our own IP addresses: net.c does.
 * Start with plx_message_decode().
 */
#include "message.h"

#define VLAN_ID_MASK 0x0fffu

bool
plx_mac_is_station(const uint8_t *mac)
{
	static const uint8_t none[PLX_MAC_BYTES];

	return !(mac[0] & 1) && memcmp(mac, none, PLX_MAC_BYTES) != 0;
}

bool
plx_ip_is_station(const struct plx_ip *ip)
{
	static const uint8_t zeros[16];

	/* 0/8 is "this network", 127/8 loopback; from 224 on it is multicast, reserved, broadcast.
	 */
	if (ip->version == 4)
		return ip->v[0] >= 1 && ip->v[0] <= 223 && ip->v[0] != 127;
	/* The unspecified address and the loopback address differ in their last bit. */
	return ip->version == 6 && ip->v[0] != 0xff &&
	       (memcmp(ip->v, zeros, 15) != 0 || ip->v[15] > 1);
}

enum plx_net_verdict
plx_message_decode(const uint8_t *bytes, size_t len, const uint8_t *own_mac,
		   struct plx_message *out)
{
	size_t at = PLX_ETH_BYTES;
	unsigned ethertype;

	if (len < PLX_ETH_BYTES)
		return PLX_NET_MALFORMED;
	*out = (struct plx_message){.kind = PLX_MESSAGE_NONE};
	memcpy(out->eth_dst, bytes, PLX_MAC_BYTES);
	memcpy(out->eth_src, bytes + PLX_MAC_BYTES, PLX_MAC_BYTES);
	ethertype = plx_get16(bytes + 12);
	if (ethertype == PLX_ETHERTYPE_VLAN) {
		at += PLX_VLAN_BYTES;
		if (len < at)
			return PLX_NET_MALFORMED;
		if (plx_get16(bytes + 14) & VLAN_ID_MASK)
			return PLX_NET_NOT_OURS;
		ethertype = plx_get16(bytes + 16);
	}
	if (ethertype != PLX_ETHERTYPE_ARP && ethertype != PLX_ETHERTYPE_IPV6)
		return PLX_NET_NOT_OURS;
	/* A port may be promiscuous, and a link may give us back what we sent. */
	if (!(out->eth_dst[0] & 1) && memcmp(out->eth_dst, own_mac, PLX_MAC_BYTES) != 0)
		return PLX_NET_NOT_OURS;
	if (memcmp(out->eth_src, own_mac, PLX_MAC_BYTES) == 0)
		return PLX_NET_NOT_OURS;
	if (!plx_mac_is_station(out->eth_src))
		return PLX_NET_MALFORMED;
	return ethertype == PLX_ETHERTYPE_ARP ? plx_arp_decode(bytes + at, len - at, out)
					      : plx_nd_decode(bytes + at, len - at, out);
}

size_t
plx_message_encode(const struct plx_message *message, uint8_t *out)
{
	bool arp = message->subject.version == 4;
	size_t len = PLX_ETH_BYTES;

	memset(out, 0, PLX_FRAME_BYTES_MIN);
	memcpy(out, message->eth_dst, PLX_MAC_BYTES);
	memcpy(out + PLX_MAC_BYTES, message->eth_src, PLX_MAC_BYTES);
	plx_put16(out + 12, arp ? PLX_ETHERTYPE_ARP : PLX_ETHERTYPE_IPV6);
	len += arp ? plx_arp_encode(message, out + len) : plx_nd_encode(message, out + len);
	return len < PLX_FRAME_BYTES_MIN ? PLX_FRAME_BYTES_MIN : len;
}
