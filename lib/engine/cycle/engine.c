/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation and destruction of an engine, and queries from outside. Nothing here is on the data
 * path. Start with plx_engine_create().
 */
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include "plx_engine_member.h"

static void
init_lists(struct plx_engine *engine)
{
	for (uint32_t kind = 0; kind < WAIT_KINDS; kind++)
		rotation_init(&engine->queues.rotations[kind]);
	plx_list_init(&engine->qps);
	plx_list_init(&engine->uds);
	plx_list_init(&engine->link_timer.link);
}

static bool
make_rings(struct plx_engine *engine, int socket)
{
	const struct plx_ring_config commands = {.entries = COMMANDS_MAX,
						 .entry_bytes = sizeof(uint32_t),
						 .producers = PLX_RING_MANY,
						 .consumers = PLX_RING_ONE,
						 .socket = socket};

	engine->command_ring = plx_ring_create(&commands);
	return engine->command_ring != NULL;
}

static bool
make_tables(struct plx_engine *engine, int socket)
{
	uint32_t bits = 6, slots;

	/* At most half full, so that a free slot is found quickly. */
	while (1u << bits < engine->config.qps * 2)
		bits++;
	slots = 1u << bits;
	PLX_ASSERT(slots <= SEAT_SLOTS_MAX);
	engine->place_bits = bits;
	engine->table = plx_heap_alloc(slots * sizeof(*engine->table), socket);
	engine->scratch =
		plx_heap_alloc((size_t)engine->port->caps.frame_max + PLX_VLAN_BYTES, socket);
	return engine->table != NULL && engine->scratch != NULL;
}

/* Derive keys from the adapter's secret, and keep nothing else of it. */
static bool
make_numbers(struct plx_engine *engine)
{
	struct plx_engine_config *config = &engine->config;

	engine->numbers = plx_guarded_alloc(sizeof(*engine->numbers));
	if (engine->numbers == NULL)
		return false;
	plx_numbers_init(engine->numbers, &config->secret, config->index, config->engines);
	if (config->group != NULL && config->index == 0)
		config->group->board->key = plx_secret_for(&config->secret, PLX_SECRET_BOARD, 0);
	plx_secret_wipe(&config->secret, sizeof(config->secret));
	engine->place_factor = engine->numbers->place_factor;
	return true;
}

static void
free_engine(struct plx_engine *engine)
{
	engine->link->close(engine);
	if (engine->command_ring != NULL)
		plx_ring_destroy(engine->command_ring);
	engine_seat_free(engine->own);
	plx_heap_free(engine->table);
	plx_heap_free(engine->scratch);
	plx_heap_free(engine->keep_memory);
	plx_guarded_free(engine->numbers, sizeof(*engine->numbers));
	engine_fd_close(NULL, &engine->bell);
	plx_heap_free(engine);
}

/* A frame of neighbour resolution or echo must fit one buffer. */
static enum plx_status
check_net(const struct plx_engine_config *config, struct plx_why *why)
{
	uint32_t bytes = plx_net_frame_max(config->net);
	uint32_t room = rte_pktmbuf_data_room_size(config->pool) - RTE_PKTMBUF_HEADROOM;

	if (bytes <= room && bytes <= config->port->caps.frame_max)
		return PLX_OK;
	plx_why_set(why,
		    "frames of %u bytes for neighbours and echoes; the port carries %u, and a "
		    "buffer has room for %u",
		    bytes, config->port->caps.frame_max, room);
	return PLX_INVALID;
}

static enum plx_status
check(const struct plx_engine_config *config, struct plx_why *why)
{
	uint32_t engines = config->engines;

	if (config->qps < 1 || config->qps > PLX_ENGINE_QPS_MAX) {
		plx_why_set(why, "%u queue pairs; an engine has 1 to %d", config->qps,
			    PLX_ENGINE_QPS_MAX);
		return PLX_INVALID;
	}
	if (engines < 1 || engines > PLX_ENGINES_MAX || config->index >= engines) {
		plx_why_set(why, "engine %u of %u; there are 1 to %d", config->index, engines,
			    PLX_ENGINES_MAX);
		return PLX_INVALID;
	}
	if (engines != (config->group != NULL ? config->group->config.engines : 1)) {
		plx_why_set(why, "%u engines without a group of as many", engines);
		return PLX_INVALID;
	}
	if (config->inline_mode && config->rcu != NULL) {
		plx_why_set(why, "inline mode has no quiescent states; rcu must be NULL");
		return PLX_INVALID;
	}
	return check_net(config, why);
}

static void
join_group(struct plx_engine *engine, struct plx_engine_group *group)
{
	engine->member = &group->member[engine->config.index];
	engine->member->engine = engine;
}

enum plx_status
plx_engine_create(const struct plx_engine_config *config, struct plx_engine **out,
		  struct plx_why *why)
{
	int socket = config->port->caps.socket;
	struct plx_engine *engine;
	enum plx_status status = check(config, why);

	if (status != PLX_OK)
		return status;
	engine = plx_heap_alloc(sizeof(*engine), socket);
	if (engine == NULL) {
		plx_why_set(why, "no memory for an engine (%zu bytes)", sizeof(*engine));
		return PLX_NO_MEMORY;
	}
	engine->config = *config;
	engine->port = config->port;
	engine->link = config->link;
	atomic_init(&engine->bell, -1);
	if (config->group != NULL)
		join_group(engine, config->group);
	engine->vlan = plx_net_vlan(config->net);
	engine->ip_at = engine->vlan != 0 ? PLX_ETH_BYTES + PLX_VLAN_BYTES : PLX_ETH_BYTES;
	engine->icrc = config->icrc != NULL ? config->icrc : plx_icrc_choose();
	engine_queues_init(engine);
	plx_list_init(&engine->seats);
	plx_list_init(&engine->copying);
	if (!make_rings(engine, socket) || !make_tables(engine, socket) || !make_numbers(engine) ||
	    !engine_keep_init(engine, socket) ||
	    engine_seat_make(engine, NULL, &engine->own) != PLX_OK || !engine->link->open(engine)) {
		plx_why_set(why, "no memory for an engine of %u queue pairs", config->qps);
		free_engine(engine);
		return PLX_NO_MEMORY;
	}
	init_lists(engine);
	engine_congestion_init(engine);
	wheel_init(&engine->wheel, 0);
	engine->net_timer.deadline = PLX_NEVER;
	engine->link_timer.deadline = PLX_NEVER;
	engine->link_at = PLX_NEVER;
	engine->tx_since = PLX_NEVER;
	plx_engine_set_company(engine, false);
	engine->reroute_at = PLX_NEVER;
	engine->net_version = engine_net_version(engine);
	if (config->rcu != NULL)
		rte_rcu_qsbr_thread_register(config->rcu, config->index);
	*out = engine;
	return PLX_OK;
}

void
plx_engine_destroy(struct plx_engine *engine)
{
	PLX_ASSERT(atomic_load(&engine->queues.users) == 0);
	plx_engine_set_online(engine, false);
	if (engine->config.rcu != NULL)
		rte_rcu_qsbr_thread_unregister(engine->config.rcu, engine->config.index);
	engine_qp_free_half_made(engine);
	if (engine->tx_count > 0)
		rte_pktmbuf_free_bulk(engine->tx, engine->tx_count);
	if (engine->loop_count > 0)
		rte_pktmbuf_free_bulk(engine->loop, engine->loop_count);
	if (engine->spare_count > 0)
		rte_pktmbuf_free_bulk(engine->spare, engine->spare_count);
	free_engine(engine);
}

const struct plx_engine_counters *
plx_engine_counters(const struct plx_engine *engine)
{
	return &engine->counters;
}

const struct plx_net_counters *
plx_engine_net_counters(const struct plx_engine *engine)
{
	return plx_net_counters(engine->config.net);
}
