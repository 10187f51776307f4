/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IPv6 neighbour solicitations and advertisements, decoded and encoded. It never follows an
 * extension header, and does not handle routers and redirects.
 * Start with plx_nd_decode().
 *
 *   IPv6     next header 58, hop limit 255: it was sent on this link
 *   ICMPv6   0      1      2          4            8            24
 *            | type | code | checksum | flags      | target     | options: type, length/8, ...
 *              135     0                 0           requested    1: the sender's MAC
 *              136     0                 R S O       the sender   2: the sender's MAC
 */
#include "checksum.h"

enum {
	ND_HOP_LIMIT = 255,
	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_SOLICITED = 0x40,
	ND_OVERRIDE = 0x20,
	ND_FIXED_BYTES = 24, /* ICMPv6 header, flags and target */
	ND_OPTION_UNIT = 8,  /* [bytes] unit of option lengths */
	ND_OPTION_SOURCE = 1,
	ND_OPTION_TARGET = 2,
};

struct plx_ip
plx_nd_all_nodes(void)
{
	return (struct plx_ip){6, {0xff, 0x02, [15] = 0x01}};
}

struct plx_ip
plx_nd_solicited_node(const struct plx_ip *ip)
{
	struct plx_ip group = {6, {0xff, 0x02, [11] = 0x01, [12] = 0xff}};

	memcpy(group.v + 13, ip->v + 13, 3);
	return group;
}

void
plx_nd_group_mac(const struct plx_ip *group, uint8_t *mac)
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group->v + 12, 4);
}

/*
 * Find the option with the Ethernet address that belongs to the message's type; the first counts,
 * others are skipped. Returns false if an option is malformed.
 */
static bool
options_decode(const uint8_t *at, size_t left, uint8_t wanted, struct plx_message *out)
{
	while (left) {
		size_t bytes = left < 2 ? 0 : at[1] * (size_t)ND_OPTION_UNIT;

		if (bytes == 0 || bytes > left)
			return false;
		if (at[0] == wanted && !out->has_mac) {
			if (bytes != ND_OPTION_UNIT || !plx_mac_is_station(at + 2))
				return false;
			out->has_mac = true;
			memcpy(out->mac, at + 2, PLX_MAC_BYTES);
		}
		at += bytes;
		left -= bytes;
	}
	return true;
}

/*
 * RFC 4861, 7.1.1: a solicitation without a source address is sent to a solicited-node group, and
 * has no MAC.
 */
static enum plx_net_verdict
solicitation_decode(const uint8_t *icmp, const struct plx_ip *source, struct plx_message *out)
{
	static const uint8_t none[16];

	out->kind = PLX_MESSAGE_REQUEST;
	out->override = true;
	out->target = plx_ip_load(6, icmp + 8);
	if (memcmp(source->v, none, 16) == 0) {
		struct plx_ip group = plx_nd_solicited_node(&out->target);

		if (out->has_mac || memcmp(out->to.v, group.v, 16) != 0)
			return PLX_NET_MALFORMED;
	} else if (plx_ip_is_station(source)) {
		out->subject = *source;
	} else {
		return PLX_NET_MALFORMED;
	}
	return plx_ip_is_station(&out->target) ? PLX_NET_TAKEN : PLX_NET_MALFORMED;
}

/* RFC 4861, 7.1.2: a multicast advertisement must not be marked solicited. */
static enum plx_net_verdict
advertisement_decode(const uint8_t *icmp, const struct plx_ip *source, struct plx_message *out)
{
	out->kind = PLX_MESSAGE_ANSWER;
	out->solicited = icmp[4] & ND_SOLICITED;
	out->override = icmp[4] & ND_OVERRIDE;
	out->subject = plx_ip_load(6, icmp + 8);
	out->target = out->to;
	if (!plx_ip_is_station(source) || !plx_ip_is_station(&out->subject))
		return PLX_NET_MALFORMED;
	return out->solicited && plx_ip_is_multicast(&out->to) ? PLX_NET_MALFORMED : PLX_NET_TAKEN;
}

/** Spec: RFC 4861 (4.3, 4.4, 7.1.1, 7.1.2). */
enum plx_net_verdict
plx_nd_decode(const uint8_t *bytes, size_t len, struct plx_message *out)
{
	const uint8_t *icmp = bytes + PLX_IPV6_BYTES;
	struct plx_ip source;
	size_t icmp_bytes;
	bool asks;

	if (len < PLX_IPV6_BYTES || bytes[0] >> 4 != 6)
		return PLX_NET_MALFORMED;
	icmp_bytes = plx_get16(bytes + 4);
	if (icmp_bytes > len - PLX_IPV6_BYTES)
		return PLX_NET_MALFORMED;
	if (bytes[6] != PLX_PROTO_ICMPV6)
		return PLX_NET_NOT_OURS;
	if (icmp_bytes < 1)
		return PLX_NET_MALFORMED;
	if (icmp[0] != ND_SOLICITATION && icmp[0] != ND_ADVERTISEMENT)
		return PLX_NET_NOT_OURS;
	if (bytes[7] != ND_HOP_LIMIT || icmp_bytes < ND_FIXED_BYTES || icmp[1] != 0 ||
	    plx_sum_icmp6(bytes, icmp_bytes) != 0xffff)
		return PLX_NET_MALFORMED;
	asks = icmp[0] == ND_SOLICITATION;
	if (!options_decode(icmp + ND_FIXED_BYTES, icmp_bytes - ND_FIXED_BYTES,
			    asks ? ND_OPTION_SOURCE : ND_OPTION_TARGET, out))
		return PLX_NET_MALFORMED;
	source = plx_ip_load(6, bytes + 8);
	out->to = plx_ip_load(6, bytes + 24);
	return asks ? solicitation_decode(icmp, &source, out)
		    : advertisement_decode(icmp, &source, out);
}

/*
 * Both have one option, our MAC. We only advertise our own unicast addresses, so override is set.
 */
size_t
plx_nd_encode(const struct plx_message *message, uint8_t *out)
{
	bool asks = message->kind == PLX_MESSAGE_REQUEST;
	uint8_t *icmp = out + PLX_IPV6_BYTES;
	uint8_t *option = icmp + ND_FIXED_BYTES;
	size_t icmp_bytes = ND_FIXED_BYTES + (size_t)ND_OPTION_UNIT;

	memset(out, 0, PLX_IPV6_BYTES + icmp_bytes);
	out[0] = 6 << 4;
	plx_put16(out + 4, (unsigned)icmp_bytes);
	out[6] = PLX_PROTO_ICMPV6;
	out[7] = ND_HOP_LIMIT;
	memcpy(out + 8, message->subject.v, 16);
	memcpy(out + 24, message->to.v, 16);
	icmp[0] = asks ? ND_SOLICITATION : ND_ADVERTISEMENT;
	if (!asks)
		icmp[4] = (uint8_t)((message->solicited ? ND_SOLICITED : 0) | ND_OVERRIDE);
	memcpy(icmp + 8, asks ? message->target.v : message->subject.v, 16);
	option[0] = asks ? ND_OPTION_SOURCE : ND_OPTION_TARGET;
	option[1] = 1;
	memcpy(option + 2, message->mac, PLX_MAC_BYTES);
	plx_put16(icmp + 2, ~plx_sum_icmp6(out, icmp_bytes) & 0xffff);
	return PLX_IPV6_BYTES + icmp_bytes;
}
