/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Ethernet header of a frame, and the protocol that follows it.
 * It never uses the table or our own IP addresses: net.c does. Start with plx_ether_decode().
 */
#include "message.h"

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

	/* 0/8 is "this network", 127/8 loopback; from 224 on: multicast, reserved, broadcast. */
	if (ip->version == 4)
		return ip->v[0] >= 1 && ip->v[0] <= 223 && ip->v[0] != 127;
	/* The unspecified address and the loopback address differ in their last bit. */
	return ip->version == 6 && ip->v[0] != 0xff &&
	       (memcmp(ip->v, zeros, 15) != 0 || ip->v[15] > 1);
}

static enum plx_net_verdict
verdict_of(enum plx_wire_verdict wire)
{
	if (wire == PLX_WIRE_VLAN)
		return PLX_NET_OTHER_VLAN;
	return wire == PLX_WIRE_STATION ? PLX_NET_OTHER_STATION : PLX_NET_MALFORMED;
}

enum plx_net_verdict
plx_ether_decode(const uint8_t *bytes, size_t len, const struct plx_net_config *own,
		 struct plx_ether *out)
{
	/* A port may be promiscuous. */
	enum plx_wire_verdict wire = plx_frame_is_for(bytes, len, own->mac, own->vlan);

	if (wire != PLX_WIRE_OK)
		return verdict_of(wire);
	memcpy(out->dst, bytes, PLX_MAC_BYTES);
	memcpy(out->src, bytes + PLX_MAC_BYTES, PLX_MAC_BYTES);
	out->bytes = PLX_ETH_BYTES;
	out->type = (uint16_t)plx_get16(bytes + 12);
	if (out->type == PLX_ETHERTYPE_VLAN) {
		out->bytes += PLX_VLAN_BYTES;
		out->type = (uint16_t)plx_get16(bytes + 16);
	}
	if (out->type != PLX_ETHERTYPE_ARP && out->type != PLX_ETHERTYPE_IPV4 &&
	    out->type != PLX_ETHERTYPE_IPV6)
		return PLX_NET_NOT_OURS;
	/* A link may return what we sent. */
	if (memcmp(out->src, own->mac, PLX_MAC_BYTES) == 0)
		return PLX_NET_NOT_OURS;
	return plx_mac_is_station(out->src) ? PLX_NET_TAKEN : PLX_NET_MALFORMED;
}

enum plx_net_verdict
plx_message_decode(const struct plx_ether *ether, const uint8_t *bytes, size_t len,
		   struct plx_message *out)
{
	*out = (struct plx_message){.kind = PLX_MESSAGE_NONE};
	memcpy(out->eth_dst, ether->dst, PLX_MAC_BYTES);
	memcpy(out->eth_src, ether->src, PLX_MAC_BYTES);
	bytes += ether->bytes;
	len -= ether->bytes;
	if (ether->type == PLX_ETHERTYPE_IPV4)
		return PLX_NET_NOT_OURS;
	return ether->type == PLX_ETHERTYPE_ARP ? plx_arp_decode(bytes, len, out)
						: plx_nd_decode(bytes, len, out);
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
