/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is anybody there? Questions of application threads to the neighbours' table, by commands.
 * Nothing here waits for an answer of the network: the caller asks again.
 * Start with plx_engine_resolve(); reach_execute() is the engine's side.
 */
#include "engine.h"

void
reach_execute(struct plx_engine *engine, struct command *command)
{
	struct plx_net *net = engine->config.net;
	uint64_t now = engine->now;

	command->status = PLX_OK;
	if (command->op == COMMAND_NET_RESOLVE)
		command->reach.verdict =
			plx_net_resolve(net, &command->reach.ip, now, command->reach.mac);
	else if (command->op == COMMAND_NET_PING)
		command->reach.verdict =
			plx_net_ping(net, &command->reach.ip, command->reach.bytes, now,
				     command->reach.ns, &command->reach.number);
	else
		command->reach.verdict =
			plx_net_ping_result(net, command->reach.number, now, &command->reach.ns);
}

enum plx_status
plx_engine_resolve(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac,
		   enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_RESOLVE, .reach = {.ip = *ip}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.reach.verdict;
	if (*verdict == PLX_NET_READY)
		memcpy(mac, command.reach.mac, sizeof(command.reach.mac));
	return PLX_OK;
}

enum plx_status
plx_engine_ping(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes,
		uint64_t timeout_ns, uint32_t *number, enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_PING,
				  .reach = {.ip = *ip, .bytes = bytes, .ns = timeout_ns}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.reach.verdict;
	*number = command.reach.number;
	return PLX_OK;
}

enum plx_status
plx_engine_ping_result(struct plx_engine *engine, uint32_t number, uint64_t *rtt_ns,
		       enum plx_net_verdict *verdict)
{
	struct command command = {.op = COMMAND_NET_PING_RESULT, .reach = {.number = number}};
	enum plx_status status = command_call(engine, &command);

	if (status != PLX_OK)
		return status;
	*verdict = command.reach.verdict;
	if (*verdict == PLX_NET_READY)
		*rtt_ns = command.reach.ns;
	return PLX_OK;
}
