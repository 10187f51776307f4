/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is a host reachable? Waits for a neighbour's Ethernet address or for an ICMP echo: the host of
 * the adapter makes one step at a time. Start with plx_adapter_ping().
 */
#include <string.h>

#include "plx_objects.h"

#define RESOLVE_PAUSE_NS (100 * PLX_USEC)

static enum plx_status
check_ip(const struct plx_ip *ip, struct plx_why *why)
{
	if (ip != NULL)
		return PLX_OK;
	plx_why_set(why, "no address given; give an IPv4 or IPv6 address");
	return PLX_INVALID;
}

enum plx_status
plx_adapter_resolve(struct plx_adapter *adapter, const struct plx_ip *ip, uint32_t timeout_ms,
		    uint8_t *mac, struct plx_why *why)
{
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;
	struct plx_ipc_resolve request = {.timeout_ms = timeout_ms};
	enum plx_status status = check_ip(ip, why);
	struct plx_ipc_resolved reply;

	if (status != PLX_OK)
		return status;
	request.ip = *ip;
	for (;;) {
		status = adapter_call(adapter, PLX_IPC_RESOLVE, &request, &reply, why);
		if (status != PLX_AGAIN)
			break;
		if (plx_steady_ns() >= deadline)
			return PLX_TIMEOUT;
		plx_adapter_pause(adapter, RESOLVE_PAUSE_NS);
	}
	if (status == PLX_OK && mac != NULL)
		memcpy(mac, reply.mac, sizeof(reply.mac));
	return status;
}

enum plx_status
plx_adapter_ping(struct plx_adapter *adapter, const struct plx_ip *ip, uint32_t bytes,
		 uint32_t timeout_ms, uint64_t *rtt_ns, struct plx_why *why)
{
	struct plx_ipc_ping request = {.bytes = bytes, .timeout_ms = timeout_ms};
	enum plx_status status = check_ip(ip, why);
	struct plx_ipc_pinged sent;
	struct plx_ipc_ponged reply;
	struct plx_ipc_pong pong;

	if (status != PLX_OK)
		return status;
	request.ip = *ip;
	status = adapter_call(adapter, PLX_IPC_PING, &request, &sent, why);
	if (status != PLX_OK)
		return status;
	pong = (struct plx_ipc_pong){*ip, bytes, timeout_ms, sent.number};
	do {
		plx_adapter_pause(adapter, RESOLVE_PAUSE_NS);
		status = adapter_call(adapter, PLX_IPC_PONG, &pong, &reply, why);
	} while (status == PLX_AGAIN);
	if (status == PLX_OK)
		*rtt_ns = reply.rtt_ns;
	return status;
}
