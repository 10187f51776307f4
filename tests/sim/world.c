/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a run: it is drawn; the safety phase has all faults, the liveness phase none; at the end
 * everything must have been returned.
 * It never decides what an event does. Start with world_run().
 */
#include <stdlib.h>

#include "sim.h"

static void
create(struct world *world)
{
	draw_config(world);
	for (uint32_t i = 0; i < SIM_SIDES_MAX; i++)
		world->pair[i / 2].side[i % 2].id = i;
	for (uint32_t i = 0; i < world->config.pairs; i++)
		pair_assign(world, i);
	for (uint32_t i = 0; i < world->config.stations; i++)
		station_create(world, i, &judge_hooks);
	for (uint32_t i = 0; i < world->config.pairs; i++)
		heap_push(world, world->now + i, SIM_EV_BIRTH, &world->pair[i]);
	weather_begin(world);
}

static void
dispatch(struct world *world, const struct sim_event *event)
{
	struct side *side = event->what;

	world->now = event->at;
	world->stats.events++;
	switch ((enum sim_event_kind)event->kind) {
	case SIM_EV_ARRIVE:
		link_arrive(world, event->what);
		break;
	case SIM_EV_TX:
		side_on_tx(side);
		break;
	case SIM_EV_WAKE:
		side_on_wake(side);
		break;
	case SIM_EV_APP:
		workload_on_event(side);
		break;
	case SIM_EV_RECV:
		side->recv_pending = false;
		if (side->own_receiver != NULL && side->state == SIDE_UP)
			receiver_on_event(side->own_receiver);
		break;
	case SIM_EV_RECV_SHARED:
		((struct station *)event->what)->srq_pending = false;
		receiver_on_event(((struct station *)event->what)->srq);
		break;
	case SIM_EV_CLOSE:
		pair_close(event->what, false);
		break;
	case SIM_EV_BIRTH:
		pair_birth(event->what);
		break;
	case SIM_EV_DOWN:
		weather_on_down(world);
		break;
	case SIM_EV_CLOG:
		weather_on_clog(world);
		break;
	case SIM_EV_STEP:
		weather_on_step(world);
		break;
	case SIM_EV_RESUME:
		drain_resume(side);
		break;
	case SIM_EV_POLL: /* of whole engines */
	case SIM_EV_REAP:
	case SIM_EV_TROUBLE:
	case SIM_EV_RELIEF:
	case SIM_EV_PROGRAM:
	case SIM_EV_KINDS:
		break;
	}
}

static void
check_memory(struct world *world)
{
	struct plx_list *node, *after;

	for (uint32_t i = 0; i < world->config.stations; i++) {
		plx_list_for_each (node, after, &world->station[i].slabs)
			slab_check(world, plx_list_entry(node, struct slab, link));
	}
}

/* Has every request of this phase been drawn? */
static bool
drawn_out(const struct world *world)
{
	if (world->mask.keep == NULL)
		return world->drawn >= world->quota;
	for (uint32_t i = 0; i < 2 * world->config.pairs; i++) {
		if (workload_left(&world->pair[i / 2].side[i % 2]))
			return false;
	}
	return true;
}

static bool
finished(const struct world *world)
{
	return world->calm && drawn_out(world) && world->done == world->drawn + world->drawn_extra;
}

/* No more faults: requests in progress must end, later ones must succeed. */
static void
become_calm(struct world *world)
{
	world->calm = true;
	world->quota = world->options->ops;
	world->progress_at = world->now;
	weather_clears(world);
	for (uint32_t i = 0; i < 2 * world->config.pairs; i++) {
		struct side *side = &world->pair[i / 2].side[i % 2];

		if (side->state == SIDE_UP)
			workload_wake(side, world->now + 1);
	}
}

/* The longest time without any completion: every retry of every kind, many times over. */
static uint64_t
patience(const struct world *world)
{
	uint64_t longest = PLX_SEC + world->config.span_ns + 40 * world->config.weather.clog_ns;

	for (uint32_t i = 0; i < 2 * world->config.pairs; i++) {
		const struct side *side = &world->pair[i / 2].side[i % 2];

		longest += 16 * side->attr.ack_timeout_ns;
	}
	return 20 * longest;
}

static void
live(struct world *world)
{
	uint64_t events_most = UINT64_C(4000) * world->options->ops + 1000000;
	struct sim_event event;

	world->quota = world->options->ops - world->options->ops / 20;
	while (!finished(world)) {
		if (!heap_pop(world, &event))
			sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
				 "no event is left, and %" PRIu64 " requests are not done",
				 world->drawn + world->drawn_extra - world->done);
		dispatch(world, &event);
		if (!world->calm && drawn_out(world))
			become_calm(world);
		if (plx_unlikely(world->stats.events % 8192 == 0)) {
			check_memory(world);
			if (world->now > world->progress_at + patience(world) ||
			    world->stats.events > events_most)
				sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
					 "no request is done since %" PRIu64 " us, after %" PRIu64
					 " events",
					 world->progress_at / 1000, world->stats.events);
		}
	}
}

/* Tear everything down. Packets in flight arrive at no QP, and nothing is left over. */
static void
rest(struct world *world)
{
	struct sim_event event;

	for (uint32_t i = 0; i < world->config.pairs; i++) {
		world->pair[i].last = true;
		pair_close(&world->pair[i], true);
		side_vanish(&world->pair[i].side[0]); /* if it was to be used again */
		side_vanish(&world->pair[i].side[1]);
	}
	while (heap_pop(world, &event)) {
		world->now = event.at;
		if (event.kind == SIM_EV_ARRIVE)
			link_arrive(world, event.what);
	}
	for (uint32_t i = 0; i < world->config.pairs; i++) {
		sim_must(world, world->pair[i].in_flight == 0, "I7", "%u frames are in flight",
			 world->pair[i].in_flight);
		free(world->pair[i].side[0].ops);
		free(world->pair[i].side[1].ops);
	}
	for (uint32_t i = 0; i < world->config.stations; i++)
		station_destroy(&world->station[i]);
}

/* ---- what every run begins and ends with ---- */

void
world_begin(struct world *world, const struct sim_options *options, uint64_t seed)
{
	world->options = options;
	world->seed = seed;
	trace_current(world);
}

void
world_end(struct world *world, struct sim_stats *out)
{
	sim_must(world, world->frames_made == world->frames_freed, "I7",
		 "%" PRIu64 " frames were made and %" PRIu64 " freed", world->frames_made,
		 world->frames_freed);
	heap_free(world);
	link_free(world);
	trace_current(NULL);
	world->stats.seeds = 1;
	world->stats.profile[world->config.profile] = 1;
	world->stats.virtual_us = world->now / 1000;
	world->stats.hash = world->hash;
	*out = world->stats;
}

/* Links between all stations, each way; the sides of a pair count what they carry. */
void
world_link_stations(struct world *world)
{
	uint32_t count = world->config.stations, links = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = i + 1; j < count; j++, links++) {
			struct pair *pair = &world->pair[links];

			pair->world = world;
			pair->index = links;
			for (uint32_t s = 0; s < 2; s++)
				pair->side[s] =
					(struct side){.pair = pair,
						      .peer = &pair->side[!s],
						      .id = 2 * links + s,
						      .station = &world->station[s ? j : i]};
			world->carrier[i][j] = &pair->side[0];
			world->carrier[j][i] = &pair->side[1];
		}
	}
	world->config.pairs = links;
}

/* ---- a run of pairs ---- */

void
world_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	  struct sim_stats *out)
{
	struct world *world = calloc(1, sizeof(*world));

	PLX_ASSERT(world != NULL);
	world_begin(world, options, seed);
	if (mask != NULL)
		world->mask = *mask;
	if (world->mask.keep != NULL)
		mask_last_ops(world);
	world->next_wr_id = 1;
	create(world);
	live(world);
	rest(world);
	world->stats.ops = world->done;
	world_end(world, out);
	free(world);
}
