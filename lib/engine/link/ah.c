/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles: the headers for a peer, its neighbour, and a bounded number of datagrams that
 * wait until the neighbour is resolved. A handle is never freed while a posted request refers to
 * it, and datagrams wait no longer than lib/proto/net tries to resolve. Start with
 * plx_ah_back_create(), then ah_resolve().
 */
#include <rte_mbuf.h>

#include "ah.h"
#include "plx_engine_member.h"

enum {
	MAC_BYTES = 6
};

/* ---- the table ---- */

/* @param arg struct ah_table **: NULL afterwards, unless the engine already has a table */
static enum plx_status
adopt_table(struct plx_engine *engine, void *arg)
{
	struct ah_table **given = arg, *table = *given;

	if (engine->ah_table != NULL)
		return PLX_OK;
	plx_list_init(&table->free);
	plx_list_init(&table->alive);
	plx_list_init(&table->ending);
	plx_list_init(&table->resolving);
	for (uint32_t i = 0; i < PLX_ENGINE_AHS_MAX; i++) {
		struct engine_ah *ah = &table->ah[i];

		ah->engine = engine;
		ah->number = i;
		plx_list_init(&ah->resolving_link);
		plx_list_append(&table->free, &ah->link);
	}
	engine->ah_table = table;
	atomic_store(&engine->has_ahs, true);
	*given = NULL;
	return PLX_OK;
}

/* Remove the datagrams that wait for its neighbour. */
static struct rte_mbuf *
pop_waiting(struct engine_ah *ah)
{
	struct rte_mbuf *first = ah->first;

	ah->engine->ah_table->waits -= ah->waits;
	ah->waits = 0;
	ah->first = ah->last = NULL;
	plx_list_remove(&ah->resolving_link);
	return first;
}

static void
drop_waiting(struct engine_ah *ah)
{
	struct rte_mbuf *m = pop_waiting(ah);

	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		m->next = NULL;
		rte_pktmbuf_free(m);
		plx_count(&ah->engine->counters.tx_unresolved, 1);
		m = next;
	}
}

void
ah_table_free(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	if (engine->ah_table == NULL)
		return;
	plx_list_for_each (node, after, &engine->ah_table->resolving)
		drop_waiting(plx_list_entry(node, struct engine_ah, resolving_link));
	plx_heap_free(engine->ah_table);
	engine->ah_table = NULL;
}

void
ah_table_reap(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->ah_table->ending) {
		struct engine_ah *ah = plx_list_entry(node, struct engine_ah, link);

		if (engine->ah_table->uses[ah->number].posted > 0 || ah->waits > 0)
			continue;
		plx_list_remove(&ah->link);
		plx_list_append(&engine->ah_table->free, &ah->link);
	}
}

/* ---- the neighbour ---- */

/* Set the destination of its frames. */
static void
point(struct engine_ah *ah, const uint8_t *mac)
{
	const uint8_t *own = ah->engine->port->caps.mac;

	path_template(ah->engine, &ah->path, mac, ah->number, &ah->to_peer);
	ah->loops = memcmp(mac, own, MAC_BYTES) == 0;
}

static enum plx_net_verdict
resolve(struct engine_ah *ah)
{
	struct plx_engine *engine = ah->engine;
	uint8_t mac[MAC_BYTES];
	enum plx_net_verdict verdict = engine_neighbour(engine, &ah->path.remote, mac);

	ah->resolved = verdict == PLX_NET_READY;
	/* Read after the lookup, which may evict another neighbour. */
	ah->version = engine_net_version(engine);
	if (ah->resolved)
		point(ah, mac);
	return verdict;
}

bool
ah_resolve(struct engine_ah *ah)
{
	return resolve(ah) == PLX_NET_READY;
}

void
ah_enqueue(struct engine_ah *ah, struct rte_mbuf *m)
{
	struct plx_engine *engine = ah->engine;
	struct ah_table *ah_table = engine->ah_table;

	if (ah->waits == PLX_ENGINE_AH_WAITS_MAX || ah_table->waits == PLX_ENGINE_WAITS_MAX) {
		plx_count(&engine->counters.tx_waits_full, 1);
		m->next = NULL;
		rte_pktmbuf_free(m);
		return;
	}
	m->next = NULL;
	if (ah->first == NULL)
		ah->first = m;
	else
		ah->last->next = m;
	ah->last = m;
	ah->waits++;
	ah_table->waits++;
	if (plx_list_empty(&ah->resolving_link))
		plx_list_append(&ah_table->resolving, &ah->resolving_link);
	/* Look it up at the end of this cycle: if it is known to be unreachable, the datagram is
	 * dropped at once. */
	engine->reroute_at = engine->now;
}

/* Send the waiting datagrams, with the resolved address.
 * Returns: false: no room, they stay queued */
static bool
release(struct engine_ah *ah)
{
	struct plx_engine *engine = ah->engine;
	uint32_t room = ah->loops ? LOOP_ROOM - engine->loop_count : TX_ROOM - engine->tx_count;
	struct rte_mbuf *m;

	if (room < ah->waits)
		return false;
	m = pop_waiting(ah);
	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		m->next = NULL;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), ah->to_peer.bytes, MAC_BYTES);
		if (ah->loops) {
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
ah_table_resolve(struct plx_engine *engine)
{
	struct plx_list *node, *after;
	uint64_t again = PLX_NEVER;

	if (engine->ah_table == NULL)
		return;
	plx_list_for_each (node, after, &engine->ah_table->resolving) {
		struct engine_ah *ah = plx_list_entry(node, struct engine_ah, resolving_link);
		enum plx_net_verdict verdict = resolve(ah);

		if (verdict == PLX_NET_WAIT)
			again = plx_time_min(again, engine->now + REROUTE_NS);
		else if (verdict != PLX_NET_READY)
			drop_waiting(ah);
		else if (!release(ah))
			again = engine->now;
	}
	engine->reroute_at = plx_time_min(engine->reroute_at, again);
	ah_table_reap(engine);
}

/* ---- opening and closing ---- */

struct open_call {
	struct plx_domain domain;
	struct plx_engine_path path;
	struct engine_ah *ah; /* result */
};

static enum plx_status
open_ah(struct plx_engine *engine, void *arg)
{
	static const uint8_t nobody[MAC_BYTES];
	struct open_call *call = arg;
	struct ah_table *ah_table = engine->ah_table;
	struct plx_engine_path full = call->path;
	enum plx_status status = path_complete(engine, &full);
	enum plx_net_verdict verdict;
	struct engine_ah *ah;

	if (status != PLX_OK)
		return status;
	if (plx_list_empty(&ah_table->free))
		return PLX_FULL;
	ah = plx_list_entry(ah_table->free.next, struct engine_ah, link);
	ah->path = full;
	point(ah, nobody);
	verdict = resolve(ah);
	/* A neighbour that does not reply now may reply later. */
	if (verdict == PLX_NET_NO_ROUTE || verdict == PLX_NET_NOT_UNICAST)
		return PLX_UNREACHABLE;
	ah_table->uses[ah->number].domain = call->domain;
	plx_list_remove(&ah->link);
	plx_list_append(&ah_table->alive, &ah->link);
	call->ah = ah;
	return PLX_OK;
}

static enum plx_status
close_ah(struct plx_engine *engine, void *arg)
{
	struct engine_ah *ah = arg;

	/* Requests already posted with it are still sent. */
	ud_fetch_all(engine);
	engine->ah_table->uses[ah->number].domain = (struct plx_domain){0};
	plx_list_remove(&ah->link);
	plx_list_append(&ah->engine->ah_table->ending, &ah->link);
	ah_table_reap(ah->engine);
	return PLX_OK;
}

/* ---- on the caller's thread ---- */

enum plx_status
ah_table_ensure(struct plx_engine *engine)
{
	struct ah_table *table;
	enum plx_status status;

	if (atomic_load(&engine->has_ahs))
		return PLX_OK;
	table = plx_heap_alloc(sizeof(*table), engine->port->caps.socket);
	if (table == NULL)
		return PLX_NO_MEMORY;
	status = command_call(engine, adopt_table, &table);
	plx_heap_free(table);
	return status;
}

enum plx_status
plx_ah_back_create(struct plx_engine *engine, struct plx_domain domain,
		   const struct plx_engine_path *path, uint32_t *number)
{
	struct open_call call = {.domain = domain, .path = *path};
	enum plx_status status = ah_table_ensure(engine);

	if (status == PLX_OK)
		status = command_call(engine, open_ah, &call);
	if (status != PLX_OK)
		return status;
	atomic_fetch_add(&engine->queues.users, 1);
	*number = call.ah->number;
	return PLX_OK;
}

enum plx_status
plx_ah_back_destroy(struct plx_engine *engine, uint32_t number)
{
	enum plx_status status = command_call(engine, close_ah, &engine->ah_table->ah[number]);

	if (status == PLX_OK)
		atomic_fetch_sub(&engine->queues.users, 1);
	return status;
}
