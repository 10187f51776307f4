/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is a host reachable? Asks for a neighbour's Ethernet address or for an ICMP echo.
 * It keeps nothing, never waits for the network, and inspects no frames: lib/proto/net does. Start
 * with plx_host_ping().
 */
#include <stdio.h>

#include "adapter.h"

enum {
	PING_BYTES_MAX = 1400,
};

/* The host that has to answer first, for a sentence: the peer or its gateway. */
struct next_hop_text {
	char text[2 * INET6_ADDRSTRLEN + 32];
};

static struct next_hop_text
next_hop_text(const struct host_adapter *adapter, const struct plx_ip *ip)
{
	struct plx_ip hop = *ip;
	struct next_hop_text out;
	bool direct;

	(void)plx_net_next_hop(adapter->net[0], ip, &hop);
	direct = memcmp(hop.v, ip->v, plx_ip_bytes(ip)) == 0;
	snprintf(out.text, sizeof(out.text), "%s%s%s%s", direct ? "" : "gateway ",
		 plx_address_text(&hop).s, direct ? "" : " on the way to ",
		 direct ? "" : plx_address_text(ip).s);
	return out;
}

static enum plx_status
check_ip(const struct plx_ip *ip, struct plx_why *why)
{
	if (ip->version == 4 || ip->version == 6)
		return PLX_OK;
	plx_why_set(why, "the address has version %u; give an IPv4 or IPv6 address", ip->version);
	return PLX_INVALID;
}

static enum plx_status
explain_stopped(const struct host_adapter *adapter, enum plx_status status, struct plx_why *why)
{
	plx_why_set(
		why,
		"the engine of adapter %s has not answered for %d s; in worker mode see whether "
		"its core is free",
		adapter->info.name, (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	return status;
}

/* Convert a verdict about the route to `ip` to a status and a sentence. */
static enum plx_status
explain(const struct host_adapter *adapter, const struct plx_ip *ip, enum plx_net_verdict verdict,
	struct plx_why *why)
{
	if (verdict == PLX_NET_NO_ROUTE) {
		plx_why_set(why,
			    "%s is in no network of adapter %s, and no route leads there; give the "
			    "adapter an address in its network, a route or a gateway",
			    plx_address_text(ip).s, adapter->info.name);
		return PLX_UNREACHABLE;
	}
	if (verdict == PLX_NET_NOT_UNICAST) {
		plx_why_set(why,
			    "%s is a multicast, broadcast or loopback address; give that of one "
			    "station",
			    plx_address_text(ip).s);
		return PLX_INVALID;
	}
	plx_why_set(why,
		    "%s does not answer for its Ethernet address; check that it runs, and cable, "
		    "VLAN and prefixes",
		    next_hop_text(adapter, ip).text);
	return PLX_UNREACHABLE;
}

enum plx_status
plx_host_resolve(struct host_adapter *adapter, const struct plx_ip *ip, uint32_t timeout_ms,
		 uint8_t *mac, struct plx_why *why)
{
	enum plx_net_verdict verdict;
	enum plx_status status = check_ip(ip, why);

	if (status != PLX_OK)
		return status;
	status = plx_engine_resolve(plx_host_home(adapter), ip, mac, &verdict);
	if (status != PLX_OK)
		return explain_stopped(adapter, status, why);
	if (verdict == PLX_NET_READY)
		return PLX_OK;
	if (verdict != PLX_NET_WAIT)
		return explain(adapter, ip, verdict, why);
	plx_why_set(why,
		    "%s has not answered for its Ethernet address within %u ms; check that it "
		    "runs, or give it longer",
		    next_hop_text(adapter, ip).text, timeout_ms);
	return PLX_AGAIN;
}

static enum plx_status
explain_ping(const struct host_adapter *adapter, const struct host_ping *ping,
	     enum plx_net_verdict verdict, struct plx_why *why)
{
	switch (verdict) {
	case PLX_NET_LOST:
		plx_why_set(why, "%s has not answered an echo of %u bytes within %u ms",
			    plx_address_text(&ping->ip).s, ping->bytes, ping->timeout_ms);
		return PLX_TIMEOUT;
	case PLX_NET_BUSY:
		plx_why_set(why, "%d echoes are on their way; that is all there can be at once",
			    PLX_NET_PINGS_MAX);
		return PLX_BUSY;
	case PLX_NET_TOO_LONG:
		plx_why_set(why,
			    "an echo of %u bytes is longer than the frames of device \"%.60s\" (%u "
			    "bytes, headers included); give fewer",
			    ping->bytes, adapter->info.device, plx_net_frame_max(adapter->net[0]));
		return PLX_INVALID;
	case PLX_NET_READY:
		return PLX_OK;
	case PLX_NET_WAIT:
		return PLX_AGAIN;
	case PLX_NET_NO_ANSWER:
	case PLX_NET_NO_ROUTE:
	case PLX_NET_NOT_UNICAST:
	case PLX_NET_NOT_OURS:
	case PLX_NET_OTHER_VLAN:
	case PLX_NET_OTHER_STATION:
	case PLX_NET_OTHER_ADDRESS:
	case PLX_NET_MALFORMED:
	case PLX_NET_TAKEN:
	case PLX_NET_VERDICT_COUNT:
		break;
	}
	return explain(adapter, &ping->ip, verdict, why);
}

enum plx_status
plx_host_ping(struct host_adapter *adapter, const struct host_ping *ping, uint32_t *number,
	      struct plx_why *why)
{
	enum plx_net_verdict verdict;
	enum plx_status status = check_ip(&ping->ip, why);

	if (status != PLX_OK)
		return status;
	if (ping->bytes > PING_BYTES_MAX) {
		plx_why_set(why, "an echo of %u bytes; give 0 to %d", ping->bytes, PING_BYTES_MAX);
		return PLX_INVALID;
	}
	status = plx_engine_ping(plx_host_home(adapter), &ping->ip, ping->bytes,
				 ping->timeout_ms * PLX_MSEC, number, &verdict);
	if (status != PLX_OK)
		return explain_stopped(adapter, status, why);
	return explain_ping(adapter, ping, verdict, why);
}

enum plx_status
plx_host_pong(struct host_adapter *adapter, const struct host_ping *ping, uint32_t number,
	      uint64_t *rtt_ns, struct plx_why *why)
{
	enum plx_net_verdict verdict;
	enum plx_status status =
		plx_engine_ping_result(plx_host_home(adapter), number, rtt_ns, &verdict);

	if (status != PLX_OK)
		return explain_stopped(adapter, status, why);
	return explain_ping(adapter, ping, verdict, why);
}
