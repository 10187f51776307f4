/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reachability of peers: commands of application threads on the neighbour table. Nothing here
 * waits for a reply from the network: the caller calls again.
 * Start with plx_engine_resolve().
 */
#include "plx_engine_member.h"

struct net_call {
	struct plx_ip ip;
	enum plx_net_verdict verdict;
	uint8_t mac[6];
	uint32_t bytes, number;
	uint64_t ns; /* of a ping: its timeout; of its result: the round trip */
};

/* ---- on the engine's thread ---- */

static enum plx_status
resolve(struct plx_engine *engine, void *arg)
{
	struct net_call *call = arg;

	call->verdict = plx_net_resolve(engine->config.net, &call->ip, engine->now, call->mac);
	return PLX_OK;
}

static enum plx_status
ping(struct plx_engine *engine, void *arg)
{
	struct net_call *call = arg;

	call->verdict = plx_net_ping(engine->config.net, &call->ip, call->bytes, engine->now,
				     call->ns, &call->number);
	return PLX_OK;
}

static enum plx_status
ping_result(struct plx_engine *engine, void *arg)
{
	struct net_call *call = arg;

	call->verdict =
		plx_net_ping_result(engine->config.net, call->number, engine->now, &call->ns);
	return PLX_OK;
}

/* ---- on the caller's thread ---- */

enum plx_status
plx_engine_resolve(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac,
		   enum plx_net_verdict *verdict)
{
	struct net_call call = {.ip = *ip};
	enum plx_status status = command_call(engine_first(engine), resolve, &call);

	if (status != PLX_OK)
		return status;
	*verdict = call.verdict;
	if (*verdict == PLX_NET_READY)
		memcpy(mac, call.mac, sizeof(call.mac));
	return PLX_OK;
}

enum plx_status
plx_engine_ping(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes,
		uint64_t timeout_ns, uint32_t *number, enum plx_net_verdict *verdict)
{
	struct net_call call = {.ip = *ip, .bytes = bytes, .ns = timeout_ns};
	enum plx_status status = command_call(engine_first(engine), ping, &call);

	if (status != PLX_OK)
		return status;
	*verdict = call.verdict;
	*number = call.number;
	return PLX_OK;
}

enum plx_status
plx_engine_ping_result(struct plx_engine *engine, uint32_t number, uint64_t *rtt_ns,
		       enum plx_net_verdict *verdict)
{
	struct net_call call = {.number = number};
	enum plx_status status = command_call(engine_first(engine), ping_result, &call);

	if (status != PLX_OK)
		return status;
	*verdict = call.verdict;
	if (*verdict == PLX_NET_READY)
		*rtt_ns = call.ns;
	return PLX_OK;
}
