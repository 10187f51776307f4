/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ICMP and ICMPv6 echo requests and replies, decoded and encoded. It never considers our own
 * addresses, and never processes options, fragments or extension headers: such a packet is not
 * ours.
 * Start with plx_echo_decode().
 *
 *   IPv4 or IPv6, then
 *   0      1      2          4      6          8
 *   | type | code | checksum | id   | sequence | data
 *     8, 0   0      IPv4: of the message; type 8 is the request, 0 the reply
 *     128, 129      IPv6: includes the pseudo-header
 */
#include "echo.h"
#include "checksum.h"

enum {
	ECHO_BYTES = 8, /* before the data */
	ECHO4_REQUEST = 8,
	ECHO4_ANSWER = 0,
	ECHO6_REQUEST = 128,
	ECHO6_ANSWER = 129,
	HOP_LIMIT = 64,
	IPV4_PROTO_ICMP = 1,
	IPV4_NO_OPTIONS = 0x45, /* version 4, five words of header */
	IPV4_FRAGMENT = 0x3fff, /* more fragments, and the offset */
	IPV4_DONT_FRAGMENT = 0x4000,
	DATA_STEP = 256, /* period of the counting data */
};

/* Fields that both versions share; the checksum is valid. */
static void
icmp_decode(const uint8_t *icmp, size_t icmp_bytes, struct plx_echo *out)
{
	out->id = (uint16_t)plx_get16(icmp + 4);
	out->sequence = (uint16_t)plx_get16(icmp + 6);
	out->data = icmp + ECHO_BYTES;
	out->bytes = (uint32_t)(icmp_bytes - ECHO_BYTES);
}

static enum plx_net_verdict
ipv4_decode(const uint8_t *ip, size_t len, struct plx_echo *out)
{
	const uint8_t *icmp = ip + PLX_IPV4_BYTES;
	size_t ip_bytes;

	if (len < PLX_IPV4_BYTES)
		return PLX_NET_MALFORMED;
	if (ip[0] != IPV4_NO_OPTIONS || ip[9] != IPV4_PROTO_ICMP ||
	    plx_get16(ip + 6) & IPV4_FRAGMENT)
		return PLX_NET_NOT_OURS;
	ip_bytes = plx_get16(ip + 2);
	if (ip_bytes < PLX_IPV4_BYTES + ECHO_BYTES || ip_bytes > len ||
	    plx_sum_fold(plx_sum(0, ip, PLX_IPV4_BYTES)) != 0xffff)
		return PLX_NET_MALFORMED;
	if ((icmp[0] != ECHO4_REQUEST && icmp[0] != ECHO4_ANSWER) || icmp[1] != 0)
		return PLX_NET_NOT_OURS;
	if (plx_sum_fold(plx_sum(0, icmp, ip_bytes - PLX_IPV4_BYTES)) != 0xffff)
		return PLX_NET_MALFORMED;
	out->asks = icmp[0] == ECHO4_REQUEST;
	out->traffic_class = ip[1];
	out->from = plx_ip_load(4, ip + 12);
	out->to = plx_ip_load(4, ip + 16);
	icmp_decode(icmp, ip_bytes - PLX_IPV4_BYTES, out);
	return PLX_NET_TAKEN;
}

static enum plx_net_verdict
ipv6_decode(const uint8_t *ip, size_t len, struct plx_echo *out)
{
	const uint8_t *icmp = ip + PLX_IPV6_BYTES;
	size_t icmp_bytes;

	if (len < PLX_IPV6_BYTES || ip[0] >> 4 != 6)
		return PLX_NET_MALFORMED;
	if (ip[6] != PLX_PROTO_ICMPV6)
		return PLX_NET_NOT_OURS;
	icmp_bytes = plx_get16(ip + 4);
	if (icmp_bytes < ECHO_BYTES || icmp_bytes > len - PLX_IPV6_BYTES)
		return PLX_NET_MALFORMED;
	if ((icmp[0] != ECHO6_REQUEST && icmp[0] != ECHO6_ANSWER) || icmp[1] != 0)
		return PLX_NET_NOT_OURS;
	if (plx_sum_icmp6(ip, icmp_bytes) != 0xffff)
		return PLX_NET_MALFORMED;
	out->asks = icmp[0] == ECHO6_REQUEST;
	out->traffic_class = (uint8_t)(plx_get16(ip) >> 4);
	out->from = plx_ip_load(6, ip + 8);
	out->to = plx_ip_load(6, ip + 24);
	icmp_decode(icmp, icmp_bytes, out);
	return PLX_NET_TAKEN;
}

/** Spec: RFC 792; RFC 4443 (4.1, 4.2). */
enum plx_net_verdict
plx_echo_decode(const struct plx_ether *ether, const uint8_t *bytes, size_t len,
		struct plx_echo *out)
{
	enum plx_net_verdict verdict;

	*out = (struct plx_echo){.asks = false};
	memcpy(out->eth_dst, ether->dst, PLX_MAC_BYTES);
	memcpy(out->eth_src, ether->src, PLX_MAC_BYTES);
	bytes += ether->bytes;
	len -= ether->bytes;
	verdict = ether->type == PLX_ETHERTYPE_IPV4 ? ipv4_decode(bytes, len, out)
						    : ipv6_decode(bytes, len, out);
	/* RFC 1122, 3.2.2.6: no reply to a broadcast or multicast request. */
	if (verdict == PLX_NET_TAKEN && ether->dst[0] & 1)
		return PLX_NET_OTHER_STATION;
	return verdict;
}

static size_t
ip_header_bytes(const struct plx_echo *echo)
{
	return echo->from.version == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES;
}

size_t
plx_echo_frame_bytes(const struct plx_echo *echo)
{
	return PLX_ETH_BYTES + ip_header_bytes(echo) + ECHO_BYTES + echo->bytes;
}

/* Never fragmented: RFC 6864, 4 (the identification then has no meaning). */
static void
ipv4_encode(const struct plx_echo *echo, uint8_t *ip)
{
	memset(ip, 0, PLX_IPV4_BYTES);
	ip[0] = IPV4_NO_OPTIONS;
	ip[1] = echo->traffic_class;
	plx_put16(ip + 2, (unsigned)(PLX_IPV4_BYTES + ECHO_BYTES + echo->bytes));
	plx_put16(ip + 6, IPV4_DONT_FRAGMENT);
	ip[8] = HOP_LIMIT;
	ip[9] = IPV4_PROTO_ICMP;
	memcpy(ip + 12, echo->from.v, 4);
	memcpy(ip + 16, echo->to.v, 4);
	plx_put16(ip + 10, ~plx_sum_fold(plx_sum(0, ip, PLX_IPV4_BYTES)) & 0xffff);
}

static void
ipv6_encode(const struct plx_echo *echo, uint8_t *ip)
{
	plx_put16(ip, 6u << 12 | (unsigned)echo->traffic_class << 4);
	plx_put16(ip + 2, 0);
	plx_put16(ip + 4, ECHO_BYTES + echo->bytes);
	ip[6] = PLX_PROTO_ICMPV6;
	ip[7] = HOP_LIMIT;
	memcpy(ip + 8, echo->from.v, 16);
	memcpy(ip + 24, echo->to.v, 16);
}

static void
data_encode(const struct plx_echo *echo, uint8_t *out)
{
	if (echo->data)
		memcpy(out, echo->data, echo->bytes);
	else
		for (uint32_t i = 0; i < echo->bytes; i++)
			out[i] = (uint8_t)(i % DATA_STEP);
}

bool
plx_echo_counts(const struct plx_echo *echo)
{
	for (uint32_t i = 0; i < echo->bytes; i++)
		if (echo->data[i] != i % DATA_STEP)
			return false;
	return true;
}

size_t
plx_echo_encode(const struct plx_echo *echo, uint8_t *out)
{
	bool four = echo->from.version == 4;
	uint8_t *ip = out + PLX_ETH_BYTES, *icmp = ip + ip_header_bytes(echo);
	size_t icmp_bytes = ECHO_BYTES + (size_t)echo->bytes, len = plx_echo_frame_bytes(echo);
	unsigned sum;

	if (len < PLX_FRAME_BYTES_MIN)
		memset(out + len, 0, PLX_FRAME_BYTES_MIN - len);
	memcpy(out, echo->eth_dst, PLX_MAC_BYTES);
	memcpy(out + PLX_MAC_BYTES, echo->eth_src, PLX_MAC_BYTES);
	plx_put16(out + 12, four ? PLX_ETHERTYPE_IPV4 : PLX_ETHERTYPE_IPV6);
	if (four)
		ipv4_encode(echo, ip);
	else
		ipv6_encode(echo, ip);
	memset(icmp, 0, ECHO_BYTES);
	if (four)
		icmp[0] = echo->asks ? ECHO4_REQUEST : ECHO4_ANSWER;
	else
		icmp[0] = echo->asks ? ECHO6_REQUEST : ECHO6_ANSWER;
	plx_put16(icmp + 4, echo->id);
	plx_put16(icmp + 6, echo->sequence);
	data_encode(echo, icmp + ECHO_BYTES);
	sum = four ? plx_sum_fold(plx_sum(0, icmp, icmp_bytes)) : plx_sum_icmp6(ip, icmp_bytes);
	plx_put16(icmp + 2, ~sum & 0xffff);
	return len < PLX_FRAME_BYTES_MIN ? PLX_FRAME_BYTES_MIN : len;
}
