/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reachability of peers: commands of application threads on the neighbour table. Nothing here
 * waits for a reply from the network: the caller calls again.
 * Start with plx_engine_resolve(); net_command_execute() is the engine's side.
 */
#include "engine.h"

void
net_command_execute(struct plx_engine *engine, struct command *command)
{
	struct plx_net *net = engine->config.net;
	uint64_t now = engine->now;

	command->status = PLX_OK;
	if (command->op == COMMAND_NET_RESOLVE)
		command->net.verdict =
			plx_net_resolve(net, &command->net.ip, now, command->net.mac);
	else if (command->op == COMMAND_NET_PING)
		command->net.verdict = plx_net_ping(net, &command->net.ip, command->net.bytes, now,
						    command->net.ns, &command->net.number);
	else
		command->net.verdict =
			plx_net_ping_result(net, command->net.number, now, &command->net.ns);
}

enum plx_status
plx_engine_resolve(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac,
		   enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_RESOLVE, .net = {.ip = *ip}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.net.verdict;
	if (*verdict == PLX_NET_READY)
		memcpy(mac, command.net.mac, sizeof(command.net.mac));
	return PLX_OK;
}

enum plx_status
plx_engine_ping(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes,
		uint64_t timeout_ns, uint32_t *number, enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_PING,
				  .net = {.ip = *ip, .bytes = bytes, .ns = timeout_ns}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.net.verdict;
	*number = command.net.number;
	return PLX_OK;
}

enum plx_status
plx_engine_ping_result(struct plx_engine *engine, uint32_t number, uint64_t *rtt_ns,
		       enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_PING_RESULT, .net = {.number = number}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.net.verdict;
	if (*verdict == PLX_NET_READY)
		*rtt_ns = command.net.ns;
	return PLX_OK;
}
