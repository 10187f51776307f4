/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbours as each engine of a group sees them. Engine 0, or the only one, has lib/proto/net and
 * speaks on the network; the others look at the board, and ask engine 0. All are told when
 * neighbours have moved. Start with engine_neighbour().
 */
#include "plx_engine_member.h"

enum plx_net_verdict
engine_neighbour(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac)
{
	const struct plx_net *net = engine->config.net;
	struct engine_member *self = engine->member;
	enum plx_net_verdict verdict;
	struct plx_ip hop;
	struct asked *asked;

	if (engine_has_net(engine))
		return plx_net_resolve(engine->config.net, ip, engine->now, mac);
	verdict = plx_net_reach(net, ip, &hop, mac);
	if (verdict != PLX_NET_WAIT)
		return verdict;
	verdict = board_find(self->group->board, &hop, engine->clock, mac);
	if (verdict != PLX_NET_WAIT)
		return verdict;
	/* Many queue pairs may look for one neighbour: one question is enough for a while. */
	asked = &self->asked[hop.v[plx_ip_bytes(&hop) - 1] % ASKED_MAX];
	if (!plx_ip_equal(&asked->ip, &hop) || engine->now >= asked->again) {
		const struct engine_message message = {.kind = ENGINE_MESSAGE_RESOLVE, .ip = hop};

		if (engine_message_send(engine, 0, &message))
			*asked = (struct asked){hop, engine->now + REROUTE_NS};
	}
	return PLX_NET_WAIT;
}

void
engine_neighbour_want(struct plx_engine *engine, const struct plx_ip *ip)
{
	struct board *board = engine->member->group->board;

	board_want(board, engine->config.net, ip, engine->now, engine->clock);
	engine_group_rouse(engine);
	if (board->wanted_count > 0)
		engine->reroute_at = plx_time_min(engine->reroute_at, engine->now + REROUTE_NS);
}

void
engine_on_neighbour(struct plx_engine *engine)
{
	if (engine->member != NULL && engine->member->group->board->wanted_count > 0)
		engine->reroute_at = engine->now;
	engine->link->on_neighbour(engine);
}

/* Neighbours have moved, or some that are looked for may have answered. */
static PLX_COLD void
look_again(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	engine->reroute_at = PLX_NEVER;
	if (engine->member != NULL && engine_has_net(engine)) {
		if (board_serve(engine->member->group->board, engine->config.net, engine->now,
				engine->clock))
			engine->reroute_at = engine->now + REROUTE_NS;
		engine_group_rouse(engine);
	}
	engine->link->on_reroute(engine);
	if (!engine->reroute_qps)
		return;
	engine->reroute_qps = false;
	plx_list_for_each (node, after, &engine->qps)
		engine_qp_route(plx_list_entry(node, struct engine_qp, all_link));
}

void
engine_follow_neighbours(struct plx_engine *engine)
{
	struct engine_member *self = engine->member;
	uint32_t version = engine_net_version(engine);

	if (plx_unlikely(version != engine->net_version)) {
		engine->net_version = version;
		engine->reroute_at = engine->now;
		engine->reroute_qps = true;
		if (self != NULL && engine_has_net(engine)) {
			board_clear(self->group->board);
			engine_group_rouse(engine);
		}
	}
	if (plx_unlikely(self != NULL) && !engine_has_net(engine)) {
		uint32_t news =
			atomic_load_explicit(&self->group->board->news, memory_order_acquire);

		if (news != self->board_news && engine->reroute_at != PLX_NEVER)
			engine->reroute_at = engine->now;
		self->board_news = news;
	}
	if (plx_unlikely(engine->now >= engine->reroute_at))
		look_again(engine);
}
