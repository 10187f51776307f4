/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a station: its endpoint, addresses, domains, public memory and shared receive queue.
 * It never knows what its QPs do.
 * Start with station_create().
 */
#include <stdlib.h>

#include "sim.h"

/* Half of the tables are as small as possible, so that slots are reused soon. */
static uint32_t
slots_needed(const struct world *world, uint32_t index, bool roomy)
{
	uint32_t slots = 2 + 2 * SIM_DOMAINS + 1; /* slot 0, public and source, shared queue */

	for (uint32_t i = 0; i < world->config.pairs; i++) {
		for (int s = 0; s < 2; s++) {
			if (world->pair[i].side[s].station == &world->station[index])
				slots += 3 + SIM_OFFERS_MAX + SIM_VICTIMS_MAX;
		}
	}
	return roomy ? slots * 4 : slots;
}

static void
public_memory(struct station *station, struct plx_prng *prng)
{
	static const uint8_t zeros[SIM_ATOMIC_WORDS * sizeof(uint64_t)];
	struct world *world = station->world;
	uint32_t size = world->config.message_max + 4096;
	struct slab *slab = slab_create(station, prng, size);

	slab_fill(slab, source_bytes(), size);
	slab_fill(slab, zeros, sizeof(zeros));
	station->public_slab = slab;
	station->source_slab =
		(struct slab){.bytes = source_bytes(), .size = SIM_SOURCE_BYTES, .constant = true};
	station->source_slab.va = (plx_prng_next(prng) >> 1) & ~UINT64_C(7);
	if (world->options->pages)
		slab_scatter_source(&station->source_slab);
	for (uint8_t i = 0; i < SIM_DOMAINS; i++) {
		station->public_grant[i] = (struct grant){
			.domain = i,
			.access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ |
				   PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC},
			.va = slab->va,
			.length = size,
			.slab = slab};
		grant_register(station, &station->public_grant[i]);
		station->source_grant[i] =
			(struct grant){.domain = i,
				       .access = {draw_percent(prng, 50) ? PLX_ACCESS_STABLE : 0},
				       .va = station->source_slab.va,
				       .length = SIM_SOURCE_BYTES,
				       .slab = &station->source_slab};
		grant_register(station, &station->source_grant[i]);
	}
}

/* What is kept behind missing packets: by most, of few connections by some. */
static void
draw_keep(const struct world *world, struct ep_config *config)
{
	struct plx_prng prng = draw_stream(world->seed, 'k', config->ip4, 0);

	if (draw_percent(&prng, 20))
		return;
	config->keep_blocks = (uint32_t)draw_log(&prng, 1, 8);
	config->keep_packets = (uint32_t)draw_log(&prng, 1, 4 * PLX_KEEP_PACKETS);
}

void
station_create(struct world *world, uint32_t index, const struct ep_hooks *hooks)
{
	struct station *station = &world->station[index];
	struct plx_prng prng = draw_stream(world->seed, 's', index, 0);
	struct ep_config *config = &station->config;

	station->world = world;
	station->index = index;
	plx_list_init(&station->slabs);
	*config = (struct ep_config){.ip_version = world->config.ip_version,
				     .ip4 = 0x0a000001 + index,
				     .hooks = hooks,
				     .user = station};
	draw_keep(world, config);
	config->secret.word[0] = plx_prng_next(&prng);
	config->secret.word[1] = plx_prng_next(&prng);
	config->mem.domains = SIM_DOMAINS;
	config->mem.slots = slots_needed(world, index, draw_percent(&prng, 50));
	config->eth[0] = 2;
	config->eth[5] = (uint8_t)(index + 1);
	config->ip6[0] = 0xfd;
	config->ip6[15] = (uint8_t)(index + 1);
	station->ep = ep_create(config);
	for (int i = 0; i < SIM_DOMAINS; i++)
		PLX_ASSERT(plx_domain_create(ep_mem(station->ep), &station->domain[i]) == PLX_OK);
	public_memory(station, &prng);
	clock_start(station);
	if (draw_percent(&prng, 40) && !world->evil)
		station->srq = receiver_create_shared(station, &prng);
}

/* At rest no key is in use and no domain held. */
void
station_destroy(struct station *station)
{
	struct world *world = station->world;
	struct plx_mem *mem = ep_mem(station->ep);

	if (station->srq != NULL)
		receiver_destroy(station->srq);
	for (int i = 0; i < SIM_DOMAINS; i++) {
		grant_retire(station, &station->public_grant[i]);
		grant_retire(station, &station->source_grant[i]);
	}
	slab_destroy(station, station->public_slab);
	free(station->source_slab.page);
	free(station->source_slab.shadow_page);
	PLX_ASSERT(plx_list_empty(&station->slabs));
	sim_must(world, plx_mem_in_use(mem) == 0, "I7",
		 "%u slots of the key table are in use at rest", plx_mem_in_use(mem));
	for (int i = 0; i < SIM_DOMAINS; i++)
		sim_must(world, plx_domain_destroy(mem, station->domain[i]) == PLX_OK, "I7",
			 "a domain is held at rest");
	ep_destroy(station->ep);
}
