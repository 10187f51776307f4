/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways of datagrams: what is behind an address handle. The headers to a peer, its neighbour, and
 * the few datagrams that may wait until that is known.
 * It never frees a way that a posted request names, and never waits longer than lib/net asks.
 * Start with plx_way_create(), then way_ready().
 */
#include <rte_mbuf.h>

#include "ud.h"

enum {
	MAC_BYTES = 6
};

/* ---- the table --------------------------------------------------------------------------------
 */

bool
ways_adopt(struct plx_engine *engine, struct way_table *table)
{
	if (engine->ways != NULL)
		return false;
	plx_list_init(&table->free);
	plx_list_init(&table->alive);
	plx_list_init(&table->ending);
	plx_list_init(&table->asking);
	for (uint32_t i = 0; i < PLX_ENGINE_WAYS_MAX; i++) {
		struct plx_way *way = &table->way[i];

		way->engine = engine;
		way->number = i;
		plx_list_init(&way->asks_link);
		plx_list_append(&table->free, &way->link);
	}
	engine->ways = table;
	atomic_store(&engine->has_ways, true);
	return true;
}

/* The datagrams that wait for a way, taken from it. */
static struct rte_mbuf *
take_waiting(struct plx_way *way)
{
	struct rte_mbuf *first = way->first;

	way->engine->ways->waits -= way->waits;
	way->waits = 0;
	way->first = way->last = NULL;
	plx_list_remove(&way->asks_link);
	return first;
}

static void
drop_waiting(struct plx_way *way)
{
	struct rte_mbuf *m = take_waiting(way);

	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		m->next = NULL;
		rte_pktmbuf_free(m);
		plx_count(&way->engine->counters.tx_unresolved, 1);
		m = next;
	}
}

void
ways_free(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	if (engine->ways == NULL)
		return;
	plx_list_for_each (node, after, &engine->ways->asking)
		drop_waiting(plx_list_entry(node, struct plx_way, asks_link));
	plx_heap_free(engine->ways);
	engine->ways = NULL;
}

void
ways_reap(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->ways->ending) {
		struct plx_way *way = plx_list_entry(node, struct plx_way, link);

		if (engine->ways->uses[way->number] > 0 || way->waits > 0)
			continue;
		plx_list_remove(&way->link);
		plx_list_append(&engine->ways->free, &way->link);
	}
}

/* ---- the neighbour ----------------------------------------------------------------------------
 */

/* Where the frames of this way go to, from now on. */
static void
point(struct plx_way *way, const uint8_t *mac)
{
	const uint8_t *own = way->engine->port->caps.mac;

	path_template(way->engine, &way->path, mac, way->number, &way->to_peer);
	way->loops = memcmp(mac, own, MAC_BYTES) == 0;
}

static enum plx_net_verdict
resolve(struct plx_way *way)
{
	struct plx_engine *engine = way->engine;
	struct plx_net *net = engine->config.net;
	uint8_t mac[MAC_BYTES];
	enum plx_net_verdict verdict = plx_net_resolve(net, &way->path.remote, engine->now, mac);

	way->resolved = verdict == PLX_NET_READY;
	/* After the question, which may make another neighbour give way. */
	way->version = plx_net_version(net);
	if (way->resolved)
		point(way, mac);
	return verdict;
}

bool
way_ready(struct plx_way *way)
{
	/* Behind those that wait already, so that none overtakes another. */
	if (plx_unlikely(way->waits > 0))
		return false;
	if (plx_likely(way->resolved && way->version == plx_net_version(way->engine->config.net)))
		return true;
	return resolve(way) == PLX_NET_READY;
}

void
way_park(struct plx_way *way, struct rte_mbuf *m)
{
	struct plx_engine *engine = way->engine;
	struct way_table *ways = engine->ways;

	if (way->waits == PLX_WAY_WAITS_MAX || ways->waits == PLX_ENGINE_WAITS_MAX) {
		plx_count(&engine->counters.tx_waits_full, 1);
		m->next = NULL;
		rte_pktmbuf_free(m);
		return;
	}
	m->next = NULL;
	if (way->first == NULL)
		way->first = m;
	else
		way->last->next = m;
	way->last = m;
	way->waits++;
	ways->waits++;
	if (plx_list_empty(&way->asks_link))
		plx_list_append(&ways->asking, &way->asks_link);
	/* At the end of this cycle: one that is known not to answer is dropped at once. */
	engine->reroute_at = engine->now;
}

/* Those that waited leave, with the address that they waited for. Returns: false, and they wait on,
 * when there is no room. */
static bool
release(struct plx_way *way)
{
	struct plx_engine *engine = way->engine;
	uint32_t room = way->loops ? LOOP_ROOM - engine->loop_count : TX_ROOM - engine->tx_count;
	struct rte_mbuf *m;

	if (room < way->waits)
		return false;
	m = take_waiting(way);
	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		m->next = NULL;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), way->to_peer.bytes, MAC_BYTES);
		if (way->loops) {
			engine->loop[engine->loop_count++] = m;
		} else {
			engine->tx[engine->tx_count++] = m;
			engine->tx_sealed++;
		}
		m = next;
	}
	return true;
}

void
ways_ask(struct plx_engine *engine)
{
	struct plx_list *node, *after;
	uint64_t again = PLX_NEVER;

	if (engine->ways == NULL)
		return;
	plx_list_for_each (node, after, &engine->ways->asking) {
		struct plx_way *way = plx_list_entry(node, struct plx_way, asks_link);
		enum plx_net_verdict verdict = resolve(way);

		if (verdict == PLX_NET_WAIT)
			again = plx_time_min(again, engine->now + REROUTE_NS);
		else if (verdict != PLX_NET_READY)
			drop_waiting(way);
		else if (!release(way))
			again = engine->now;
	}
	engine->reroute_at = plx_time_min(engine->reroute_at, again);
	ways_reap(engine);
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

enum plx_status
way_open(struct plx_engine *engine, struct plx_domain domain, const struct plx_qpair_path *path,
	 struct plx_way **out)
{
	static const uint8_t nobody[MAC_BYTES];
	struct way_table *ways = engine->ways;
	struct plx_qpair_path full = *path;
	enum plx_status status = path_complete(engine, &full);
	enum plx_net_verdict verdict;
	struct plx_way *way;

	if (status != PLX_OK)
		return status;
	if (plx_list_empty(&ways->free))
		return PLX_FULL;
	way = plx_list_entry(ways->free.next, struct plx_way, link);
	way->domain = domain;
	way->path = full;
	point(way, nobody);
	verdict = resolve(way);
	/* One that does not answer now may later. */
	if (verdict == PLX_NET_NO_ROUTE || verdict == PLX_NET_NOT_UNICAST)
		return PLX_UNREACHABLE;
	plx_list_remove(&way->link);
	plx_list_append(&ways->alive, &way->link);
	*out = way;
	return PLX_OK;
}

void
way_close(struct plx_way *way)
{
	plx_list_remove(&way->link);
	plx_list_append(&way->engine->ways->ending, &way->link);
	ways_reap(way->engine);
}

/* ---- on the caller's thread -------------------------------------------------------------------
 */

enum plx_status
ways_need(struct plx_engine *engine)
{
	struct command command = {.op = COMMAND_WAYS};
	enum plx_status status;

	if (atomic_load(&engine->has_ways))
		return PLX_OK;
	command.ways = plx_heap_alloc(sizeof(*command.ways), engine->port->caps.socket);
	if (command.ways == NULL)
		return PLX_NO_MEMORY;
	status = command_call(engine, &command);
	plx_heap_free(command.ways);
	return status;
}

enum plx_status
plx_way_create(struct plx_engine *engine, struct plx_domain domain,
	       const struct plx_qpair_path *path, struct plx_way **way)
{
	struct command command = {.op = COMMAND_WAY_OPEN};
	enum plx_status status = ways_need(engine);

	if (status != PLX_OK)
		return status;
	command.way_open.domain = domain;
	command.way_open.path = *path;
	status = command_call(engine, &command);
	if (status != PLX_OK)
		return status;
	atomic_fetch_add(&engine->users, 1);
	*way = command.way;
	return PLX_OK;
}

enum plx_status
plx_way_destroy(struct plx_way *way)
{
	struct plx_engine *engine = way->engine;
	struct command command = {.op = COMMAND_WAY_CLOSE, .way = way};
	enum plx_status status = command_call(engine, &command);

	if (status == PLX_OK)
		atomic_fetch_sub(&engine->users, 1);
	return status;
}
