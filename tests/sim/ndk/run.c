/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a run with drivers: it is drawn, lives through its safety phase with all faults on, then
 * through its liveness phase with none; then everything is closed, and nothing may be left. It
 * never decides what an event does. Start with drivers_run().
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "drivers.h"

/* Memory has the same addresses in every run, since they are in packets. */
#define MEMORY ((void *)(UINT64_C(0x2000) << 32))

enum {
	HALF_BYTES = DRIVERS_REGIONS * DRIVERS_REGION + DRIVERS_CELLS * DRIVERS_CELL,
	PATIENCE_S = 300,
};

/* ---- birth ---- */

/* What is not for drivers: lies, and delays beyond every timeout. */
static void
soften(struct sim_weather *weather)
{
	weather->evil_ppm = 0;
	weather->stray_ppm = 0;
	if (weather->latency_ns > 5 * PLX_MSEC)
		weather->latency_ns = 5 * PLX_MSEC;
}

static void
draw_drivers(struct drivers *drivers, struct plx_prng *prng)
{
	static const uint32_t mtus[] = {256, 256, 1024, 4096};
	struct fleet *fleet = &drivers->fleet;
	struct sim_config *config = &fleet->world.config;

	fleet->host_count = (uint32_t)draw_between(prng, 2, 3);
	config->stations = fleet->host_count;
	fleet->mtu_max = mtus[plx_prng_below(prng, PLX_COUNT_OF(mtus))];
	fleet->frame_max = fleet->mtu_max + 150;
	fleet->rough = config->profile != SIM_PROFILE_clean && draw_percent(prng, 60);
	fleet->world.evil = false;
	soften(&config->weather);
	config->think_ns = (uint32_t)draw_log(prng, 500, 50000);
	drivers->channel_count = (uint32_t)draw_log(prng, 1, DRIVERS_CHANNELS_MAX);
	drivers->preempt_percent = draw_percent(prng, 60) ? (uint32_t)draw_log(prng, 1, 40) : 0;
	drivers->life_posts = (uint32_t)draw_log(prng, 10, 300);
}

static void
place(struct drivers *drivers, struct half *half)
{
	uint8_t *memory =
		drivers->memory + (2 * half->channel->index + half->index) * (size_t)HALF_BYTES;

	for (uint32_t r = 0; r < DRIVERS_REGIONS; r++) {
		half->region[r].words = (uint64_t *)(void *)(memory + r * DRIVERS_REGION);
		half->region[r].shadow = malloc(DRIVERS_REGION);
		PLX_ASSERT(half->region[r].shadow != NULL);
		region_reset(half, r);
	}
	half->cells = memory + DRIVERS_REGIONS * DRIVERS_REGION;
}

static void
make_channels(struct drivers *drivers, struct plx_prng *prng)
{
	struct world *world = &drivers->fleet.world;

	for (uint32_t i = 0; i < drivers->channel_count; i++) {
		struct channel *channel = &drivers->channel[i];
		uint32_t a = (uint32_t)plx_prng_below(prng, drivers->fleet.host_count);
		uint32_t b = (uint32_t)plx_prng_below(prng, drivers->fleet.host_count);

		if (a == b && draw_percent(prng, 70))
			b = (a + 1) % drivers->fleet.host_count;
		channel->drivers = drivers;
		channel->index = i;
		channel->prng = draw_stream(world->seed, 'C', i, 0);
		for (uint32_t s = 0; s < 2; s++) {
			struct half *half = &channel->half[s];

			half->channel = channel;
			half->index = s;
			half->peer = &channel->half[!s];
			half->driver = &drivers->driver[s ? b : a];
			half->turn_at = PLX_NEVER;
			place(drivers, half);
		}
		heap_push(world, world->now + draw_log(prng, 1, 100000), SIM_EV_BIRTH, channel);
	}
}

static void
create(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;
	struct plx_prng prng = draw_stream(world->seed, 'n', 0, 0);

	draw_config(world);
	draw_drivers(drivers, &prng);
	world_link_stations(world);
	drivers->memory =
		mmap(MEMORY, 2 * DRIVERS_CHANNELS_MAX * (size_t)HALF_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	PLX_ASSERT(drivers->memory == MEMORY);
	for (uint32_t i = 0; i < drivers->fleet.host_count; i++) {
		driver_create(drivers, i);
		driver_open(&drivers->driver[i]);
		driver_share(&drivers->driver[i]);
		heap_push(world, world->now + 1, SIM_EV_CLOSE, &drivers->driver[i]);
		host_poll_by(&drivers->fleet.host[i], world->now + 1);
	}
	make_channels(drivers, &prng);
	weather_begin(world);
}

/* ---- life ---- */

static void
dispatch(struct drivers *drivers, const struct sim_event *event)
{
	struct fleet *fleet = &drivers->fleet;
	struct world *world = &fleet->world;

	world->now = event->at;
	world->stats.events++;
	driver_enter(NULL);
	switch ((enum sim_event_kind)event->kind) {
	case SIM_EV_ARRIVE:
		port_arrive(&fleet->host[((struct packet *)event->what)->to->index], event->what);
		break;
	case SIM_EV_POLL:
		host_on_poll(event->what, event->at);
		break;
	case SIM_EV_REAP:
		driver_on_turn(event->what, event->at);
		break;
	case SIM_EV_APP:
		half_on_turn(event->what, event->at);
		break;
	case SIM_EV_RECV:
		system_on_timer(event->what);
		break;
	case SIM_EV_RECV_SHARED:
		queue_on_look(event->what, event->at);
		break;
	case SIM_EV_BIRTH:
		channel_on_birth(event->what);
		break;
	case SIM_EV_CLOSE:
		join_listen(event->what);
		break;
	case SIM_EV_TROUBLE:
		trouble_on_event(event->what);
		break;
	case SIM_EV_RELIEF:
		trouble_on_relief(event->what);
		break;
	case SIM_EV_DOWN:
		weather_on_down(world);
		break;
	case SIM_EV_CLOG:
		weather_on_clog(world);
		break;
	case SIM_EV_STEP:
		fleet_step_clocks(fleet);
		break;
	case SIM_EV_RESUME: /* somebody has waited until now */
	case SIM_EV_TX:
	case SIM_EV_WAKE:
	case SIM_EV_PROGRAM:
	case SIM_EV_KINDS:
		break;
	}
}

bool
drivers_may_post(const struct drivers *drivers)
{
	return drivers->fleet.world.drawn < drivers->fleet.world.quota;
}

static void
become_calm(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;

	world->calm = true;
	world->quota = world->options->ops;
	world->progress_at = world->now;
	weather_clears(world);
	for (uint32_t i = 0; i < drivers->fleet.host_count; i++) {
		trouble_ends(&drivers->fleet.host[i]);
		host_poll_by(&drivers->fleet.host[i], world->now + 1);
	}
}

__attribute__((noreturn)) static void
stuck(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;

	for (uint32_t i = 0; i < 2 * drivers->channel_count; i++) {
		const struct half *half = &drivers->channel[i / 2].half[i % 2];

		if (half->state == HALF_NONE)
			continue;
		for (uint32_t t = 0; t < half->thing_count; t++)
			if (half->things[t]->life == LIFE_CLOSING)
				sim_fail(
					world, SIM_STUCK, "N6", WRONG_LOST,
					"the close of thing %u (kind %u) of channel %u.%u does not "
					"complete: %u successors, %u requests",
					half->things[t]->serial, half->things[t]->kind, i / 2,
					i % 2, half->things[t]->successors,
					half->things[t]->requests);
		sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
			 "nothing is done since %" PRIu64
			 " us; half %u.%u is in state %u%s, %u and "
			 "%u requests wait",
			 world->progress_at / 1000, i / 2, i % 2, half->state,
			 half->busy ? ", a call is pending" : "", half->sent.count,
			 half->receives.count);
	}
	sim_fail(world, SIM_STUCK, "I10", WRONG_LOST, "nothing is done since %" PRIu64 " us",
		 world->progress_at / 1000);
}

void
drivers_step(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;
	struct sim_event event;

	if (!heap_pop(world, &event))
		stuck(drivers);
	dispatch(drivers, &event);
	driver_enter(NULL);
	if (plx_likely(world->stats.events % 1024 != 0))
		return;
	regions_check(drivers);
	if (world->now > world->progress_at + PATIENCE_S * PLX_SEC ||
	    world->stats.events > UINT64_C(20000) * world->options->ops + 20000000)
		stuck(drivers);
}

static void
live(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;

	world->quota = world->options->ops - world->options->ops / 20;
	while (!world->calm || drivers_may_post(drivers)) {
		drivers_step(drivers);
		if (!world->calm && !drivers_may_post(drivers))
			become_calm(drivers);
	}
}

/* ---- rest ---- */

static bool
channels_over(const struct drivers *drivers)
{
	for (uint32_t i = 0; i < 2 * drivers->channel_count; i++)
		if (drivers->channel[i / 2].half[i % 2].state != HALF_NONE)
			return false;
	return true;
}

static bool
all_closed(struct drivers *drivers)
{
	struct plx_list *node, *after;

	if (!channels_over(drivers))
		return false;
	plx_list_for_each (node, after, &drivers->things) {
		const struct thing *thing = plx_list_entry(node, struct thing, link);

		if (thing->life != LIFE_ENDED && thing->life != LIFE_NONE)
			return false;
	}
	return true;
}

/* A domain is needed until the last queue pair is made, a queue until the last is read. */
static bool
is_needed(const struct drivers *drivers, const struct thing *thing)
{
	if (thing->kind == THING_CQ)
		return !channels_over(drivers);
	for (uint32_t i = 0; i < 2 * drivers->channel_count; i++)
		if (drivers->channel[i / 2].half[i % 2].state == HALF_MAKING)
			return true;
	return false;
}

/* What belongs to no half. */
static void
close_own(struct drivers *drivers)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &drivers->things) {
		struct thing *thing = plx_list_entry(node, struct thing, link);

		if (thing->half != NULL || thing->life != LIFE_OPEN || thing->driver->in_step ||
		    is_needed(drivers, thing))
			continue;
		driver_enter(thing->driver);
		thing->driver->in_step = true;
		thing_close(thing);
		thing->driver->in_step = false;
		driver_turn_soon(thing->driver);
	}
}

static void
close_all(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;

	drivers->over = true;
	world->progress_at = world->now;
	for (uint32_t i = 0; i < drivers->channel_count; i++)
		drivers->channel[i].ending = true;
	while (!all_closed(drivers)) {
		if (world->stats.events % 16 == 0)
			close_own(drivers);
		drivers_step(drivers);
	}
	things_check(drivers);
	for (uint32_t i = 0; i < drivers->fleet.host_count; i++)
		driver_close(&drivers->driver[i]);
}

static void
rest(struct drivers *drivers)
{
	struct fleet *fleet = &drivers->fleet;
	struct world *world = &fleet->world;
	struct sim_event event;

	close_all(drivers);
	regions_check(drivers);
	driver_enter(NULL);
	for (uint32_t i = 0; i < fleet->host_count; i++)
		driver_destroy(&drivers->driver[i]);
	while (heap_pop(world, &event))
		if (event.kind == SIM_EV_ARRIVE)
			link_release(world, event.what);
	for (uint32_t i = 0; i < FLEET_OLD_FRAMES; i++)
		free(fleet->old[i].bytes);
	sim_must(world, fleet->pieces_made == fleet->pieces_freed, "I7",
		 "%" PRIu64 " pieces of frames were made and %" PRIu64 " freed", fleet->pieces_made,
		 fleet->pieces_freed);
	for (uint32_t i = 0; i < 2 * drivers->channel_count; i++) {
		struct half *half = &drivers->channel[i / 2].half[i % 2];

		for (uint32_t r = 0; r < DRIVERS_REGIONS; r++)
			free(half->region[r].shadow);
		free(half->sent.list);
		free(half->receives.list);
		free(half->message);
	}
	munmap(drivers->memory, 2 * DRIVERS_CHANNELS_MAX * (size_t)HALF_BYTES);
	things_free(drivers);
	free(drivers->post);
}

void
drivers_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	    struct sim_stats *out)
{
	struct drivers *drivers = calloc(1, sizeof(*drivers));
	struct world *world;

	PLX_ASSERT(drivers != NULL && mask == NULL);
	world = &drivers->fleet.world;
	plx_list_init(&drivers->things);
	plx_list_init(&drivers->asks);
	fleet_start();
	world_begin(world, options, seed);
	system_begin(drivers);
	create(drivers);
	live(drivers);
	rest(drivers);
	system_begin(NULL);
	world->stats.ops = world->drawn;
	world_end(world, out);
	free(drivers);
}
