/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation and destruction of a group of engines. Nothing here is on the data path.
 * Start with plx_engine_group_create().
 */
#include <rte_mbuf.h>

#include "plx_engine_member.h"

static struct rte_ring *
make_ring(const struct plx_engine_group *group, uint32_t entries, uint32_t entry_bytes)
{
	const struct plx_ring_config ring = {.entries = entries,
					     .entry_bytes = entry_bytes,
					     .producers = PLX_RING_ONE,
					     .consumers = PLX_RING_ONE,
					     .socket = group->config.socket};

	return plx_ring_create(&ring);
}

/* Returns: false: out of memory */
static bool
join(struct plx_engine_group *group, uint32_t from, uint32_t to)
{
	struct engine_member *sender = &group->member[from], *receiver = &group->member[to];

	sender->out[to] = receiver->in[from] =
		make_ring(group, group->config.handoff_depth, sizeof(struct rte_mbuf *));
	if (from != 0 && to != 0)
		return sender->out[to] != NULL;
	sender->messages_out[to] = receiver->messages_in[from] =
		make_ring(group, MESSAGES_MAX, sizeof(struct engine_message));
	return sender->out[to] != NULL && sender->messages_out[to] != NULL;
}

static void
free_ring(struct rte_ring *ring)
{
	if (ring != NULL)
		plx_ring_destroy(ring);
}

static void
free_packets(struct rte_ring *ring)
{
	struct rte_mbuf *m;

	while (ring != NULL && plx_ring_dequeue(ring, sizeof(m), &m, 1) > 0)
		rte_pktmbuf_free(m);
}

enum plx_status
plx_engine_group_create(const struct plx_engine_group_config *config, struct plx_engine_group **out)
{
	struct plx_engine_group *group;
	uint32_t engines = config->engines;
	bool made;

	if (engines < 2 || engines > PLX_ENGINES_MAX || config->handoff_depth < 1 ||
	    config->handoff_depth > PLX_HANDOFF_DEPTH)
		return PLX_INVALID;
	group = plx_heap_alloc(sizeof(*group) + engines * sizeof(group->member[0]), config->socket);
	if (group == NULL)
		return PLX_NO_MEMORY;
	group->config = *config;
	group->board = plx_guarded_alloc(sizeof(*group->board)); /* it has a key */
	made = group->board != NULL;
	for (uint32_t i = 0; i < engines; i++) {
		group->member[i].group = group;
		group->member[i].index = i;
		plx_list_init(&group->member[i].due);
		for (uint32_t j = 0; j < engines && made; j++)
			made = i == j || join(group, i, j);
	}
	if (!made) {
		plx_engine_group_destroy(group);
		return PLX_NO_MEMORY;
	}
	*out = group;
	return PLX_OK;
}

void
plx_engine_group_destroy(struct plx_engine_group *group)
{
	for (uint32_t i = 0; i < group->config.engines; i++)
		for (uint32_t j = 0; j < group->config.engines; j++) {
			free_packets(group->member[i].in[j]);
			free_ring(group->member[i].in[j]);
			free_ring(group->member[i].messages_in[j]);
		}
	plx_guarded_free(group->board, sizeof(*group->board));
	plx_heap_free(group);
}
