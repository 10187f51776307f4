/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a driver's host, its adapter, and when its two threads run: the dispatcher has turns, which
 * come late, in the middle of the program's calls, and not at all while a callback sleeps. Whoever
 * waits, for its engine or for time, lets the rest of the world go on. It never judges what NDK
 * does, except that callbacks come one at a time. Start with driver_on_turn().
 */
#include <stdlib.h>
#include <time.h>

#include <rte_rcu_qsbr.h>

#include "drivers.h"

enum {
	CONNECTIONS = 256,
	SHARED_DEPTH = 4 * DRIVERS_CHANNELS_MAX * 40, /* for all that may come at once */
	STALL_MOST_S = 12,                            /* longer than a command waits */
	HEARTBEAT_MS = 20, /* the longest sleep of a dispatcher that has work left for an engine */
};

static struct driver *current; /* NULL: an engine's, or nobody's code runs */

struct driver *
driver_current(void)
{
	return current;
}

void
driver_enter(struct driver *driver)
{
	current = driver;
	if (driver != NULL)
		fleet_clock(driver->host);
}

/* ---- waiting ---- */

void
driver_wait(struct driver *driver, uint64_t ns)
{
	struct drivers *drivers = driver->drivers;
	struct world *world = &drivers->fleet.world;
	uint64_t until = world->now + ns;

	if (drivers->depth == DRIVERS_DEPTH)
		return;
	drivers->depth++;
	heap_push(world, until, SIM_EV_RESUME, driver);
	while (world->now < until)
		drivers_step(drivers);
	drivers->depth--;
	driver_enter(driver);
}

/* A thread of this host waits for its engine. While that does not run, or sometimes, others go on.
 */
static void
look(struct host *host)
{
	struct drivers *drivers = drivers_of(&host->fleet->world);
	struct driver *driver = &drivers->driver[host->index];
	bool stalled = host->fleet->world.now < host->stall_until;

	/* Now and then its engine is away for longer than a command waits. */
	if (host->fleet->rough && !host->fleet->world.calm && !stalled &&
	    plx_prng_below(&driver->prng, 3000) == 0) {
		host->stall_until = host->fleet->world.now +
				    draw_between(&driver->prng, 4, STALL_MOST_S) * PLX_SEC;
		host_poll_by(host, host->fleet->world.now + 1);
		stalled = true;
	}
	if (drivers->depth < DRIVERS_DEPTH && (stalled || draw_percent(&driver->prng, 10))) {
		drivers->depth++;
		drivers_step(drivers);
		drivers->depth--;
	} else {
		current = NULL;
		plx_engine_poll(host_engine(host), clock_local(host->station));
		host_after_poll(host);
	}
	driver_enter(driver);
}

/* The engine has had a cycle. If it has done something, the dispatcher may have work. */
static void
after_poll(struct host *host)
{
	struct driver *driver = &drivers_of(&host->fleet->world)->driver[host->index];
	uint64_t cycles = plx_engine_counters(host_engine(host))->busy_cycles;

	if (cycles != driver->busy_cycles)
		driver_turn_soon(driver);
	driver->busy_cycles = cycles;
}

/* A lock was released, and no other is held: the other thread of the driver has its turn here. */
void
driver_preempt(void)
{
	struct driver *driver = current;
	struct drivers *drivers = driver->drivers;
	struct half *half;

	if (drivers->depth == DRIVERS_DEPTH || driver->session == NULL ||
	    !draw_percent(&driver->prng, drivers->preempt_percent))
		return;
	drivers->depth++;
	if (!driver->in_turn) {
		driver_turn(driver);
	} else if (!driver->in_step && !driver->in_callback && drivers->channel_count > 0) {
		half = &drivers->channel[plx_prng_below(&driver->prng, drivers->channel_count)]
				.half[plx_prng_below(&driver->prng, 2)];
		if (half->driver == driver && half->turn_at != PLX_NEVER)
			half_on_turn(half, half->turn_at);
	}
	drivers->depth--;
	driver_enter(driver);
}

/* ---- the dispatcher ---- */

void
driver_turn_by(struct driver *driver, uint64_t at)
{
	struct world *world = world_of(driver);

	if (driver->session == NULL || at >= driver->turn_at)
		return;
	driver->turn_at = at;
	heap_push(world, at, SIM_EV_REAP, driver);
}

void
driver_turn_soon(struct driver *driver)
{
	uint64_t mean = driver->late_ns;

	if (draw_percent(&driver->prng, 3))
		mean *= 50;
	driver_turn_by(driver, world_of(driver)->now + 1 + draw_exponential(&driver->prng, mean));
}

bool
driver_turn(struct driver *driver)
{
	struct world *world = world_of(driver);
	uint64_t commands, calls = driver->calls;
	bool goes_on;

	driver->in_turn = true;
	driver->again = false;
	driver_enter(driver);
	commands = plx_engine_counters(host_engine(driver->host))->commands;
	goes_on = plx_session_turn(driver->session, false);
	driver->in_turn = false;
	driver->turns++;
	if (!goes_on)
		driver->session = NULL;
	queues_check(driver);
	if (driver->again || driver->calls != calls ||
	    plx_engine_counters(host_engine(driver->host))->commands != commands)
		driver_turn_soon(driver);
	else
		driver_turn_by(driver, world->now + HEARTBEAT_MS * PLX_MSEC);
	return goes_on;
}

void
driver_on_turn(struct driver *driver, uint64_t at)
{
	if (at != driver->turn_at)
		return;
	driver->turn_at = PLX_NEVER;
	if (driver->in_turn)
		driver->again = true;
	/* The close of an adapter waits, with the lock of events. */
	else if (driver->closes && system_locks() > 0)
		driver_turn_by(driver, at + DRIVERS_RETRY);
	else if (driver->session != NULL)
		driver_turn(driver);
}

/* Some callbacks sleep. */
static void
sleep_sometimes(struct driver *driver)
{
	if (draw_percent(&driver->prng, driver->sleep_percent))
		driver_wait(driver, draw_log(&driver->prng, 100, 5 * PLX_MSEC));
}

void
driver_callback(struct driver *driver)
{
	sim_must(world_of(driver), driver->in_turn && !driver->in_callback, "N3",
		 "driver %u has a callback %s", driver->index,
		 driver->in_turn ? "inside another" : "on a thread of its own");
	driver->in_callback = true;
	driver->calls++;
	sleep_sometimes(driver);
}

void
driver_callback_ends(struct driver *driver)
{
	sleep_sometimes(driver);
	driver->in_callback = false;
}

/* ---- birth and rest ---- */

static void
make_cm(struct driver *driver, struct plx_engine_config *engine)
{
	struct host *host = driver->host;
	struct plx_cm_config config = {.connections = CONNECTIONS,
				       .half_open = CONNECTIONS / 2,
				       .path_mtu = host->fleet->mtu_max,
				       .ca_guid = host->index + 1,
				       .secret = host_secret(host)};

	driver->cm = plx_cm_init(host_aligned(plx_cm_bytes(&config)), &config);
	engine->cm = driver->cm;
}

void
driver_create(struct drivers *drivers, uint32_t index)
{
	struct driver *driver = &drivers->driver[index];
	struct world *world = &drivers->fleet.world;
	struct host *host = &drivers->fleet.host[index];
	struct plx_engine_config config;
	struct plx_why why = {""};

	host_prepare(&drivers->fleet, index);
	host->inline_mode = false;
	host->after_poll = after_poll;
	host->look = look;
	*driver = (struct driver){.drivers = drivers, .host = host, .index = index};
	driver->prng = draw_stream(world->seed, 'D', index, 0);
	driver->turn_at = PLX_NEVER;
	driver->late_ns = draw_log(&driver->prng, 10, 30000);
	driver->sleep_percent =
		draw_percent(&driver->prng, 50) ? (uint32_t)plx_prng_below(&driver->prng, 30) : 0;
	config = host_config(host);
	config.qps = 4 * DRIVERS_CHANNELS_MAX;
	config.secret = host_secret(host);
	driver->rcu = host_aligned(rte_rcu_qsbr_get_memsize(PLX_ENGINES_MAX));
	rte_rcu_qsbr_init(driver->rcu, PLX_ENGINES_MAX);
	config.rcu = driver->rcu;
	make_cm(driver, &config);
	sim_must(world, plx_engine_create(&config, &host->core[0].engine, &why) == PLX_OK, "I10",
		 "%s", why.text);
	plx_engine_set_online(host_engine(host), true);
	trouble_start(host);
}

void
driver_open(struct driver *driver)
{
	char name[PLX_ADAPTER_NAME_MAX];
	NTSTATUS status;

	snprintf(name, sizeof(name), "host%u", driver->index);
	driver_enter(driver);
	driver->in_step = true;
	status = plx_ndk_open(name, (NDK_VERSION){2, 1}, &driver->adapter);
	driver->in_step = false;
	sim_must(world_of(driver), status == STATUS_SUCCESS, "I10", "adapter %s: 0x%08x", name,
		 (unsigned int)status);
}

static void
is_shared(struct thing *thing, NTSTATUS status)
{
	struct queue *queue = plx_list_entry(thing, struct queue, thing);

	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N8",
		 "what channels share is not made: 0x%08x", (unsigned int)status);
	if (thing->kind == THING_PD)
		thing->driver->pd = thing;
	else
		queue_begin(thing->driver->cq = queue);
}

/* What channels may share: a domain, a completion queue. */
void
driver_share(struct driver *driver)
{
	struct thing *thing;
	NDK_PD *out = NULL;
	struct ask *ask;

	driver_enter(driver);
	driver->in_step = true;
	if (draw_percent(&driver->prng, 60)) {
		thing = thing_new(driver, NULL, THING_PD, sizeof(*thing));
		ask = ask_begin(thing, NULL, is_shared);
		ask_created(ask,
			    driver->adapter->Dispatch->NdkCreatePd(driver->adapter, ask_on_created,
								   ask, &out),
			    &out);
	}
	if (draw_percent(&driver->prng, 60))
		(void)queue_make(driver, NULL, SHARED_DEPTH, is_shared);
	driver->in_step = false;
}

/* Everything made from the adapter is closed, so its close waits for nothing but the peers'
 * answers. */
void
driver_close(struct driver *driver)
{
	struct world *world = world_of(driver);

	driver_enter(driver);
	driver->in_step = true;
	driver->closes = true;
	plx_ndk_close(driver->adapter);
	driver->in_step = false;
	sim_must(world, driver->session == NULL && driver->below == NULL, "I7",
		 "driver %u has closed its adapter, and its session is left", driver->index);
}

void
driver_destroy(struct driver *driver)
{
	plx_engine_set_online(host_engine(driver->host), false);
	host_release(driver->host);
	free(driver->cm);
	free(driver->rcu);
}
