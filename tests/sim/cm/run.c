/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a run with managers of connections: it is drawn; programs connect, accept and disconnect
 * while everything goes wrong; then nothing goes wrong any more, and what is requested must
 * succeed; then all go away, and nothing may be left. It never decides what an event does. Start
 * with fabric_run().
 */
#include <stdlib.h>

#include "fabric.h"

/* ---- requests and replies ---- */

struct request *
request_of(struct fabric *fabric, uint64_t serial)
{
	return serial > 0 && serial <= fabric->requests ? &fabric->request[serial - 1] : NULL;
}

/* Serials of replies have a bit that those of requests have not. */
#define ANSWER_BIT (UINT64_C(1) << 40)

struct reply *
reply_of(struct fabric *fabric, uint64_t serial)
{
	uint64_t at = serial & ~ANSWER_BIT;

	if (!(serial & ANSWER_BIT) || at == 0 || at > fabric->replies)
		return NULL;
	return &fabric->reply[at - 1];
}

uint64_t
request_add(struct fabric *fabric, const struct request *request)
{
	if (fabric->requests == fabric->request_room) {
		fabric->request_room = fabric->request_room * 2 + 256;
		fabric->request =
			realloc(fabric->request, fabric->request_room * sizeof(*fabric->request));
		PLX_ASSERT(fabric->request != NULL);
	}
	fabric->request[fabric->requests++] = *request;
	return fabric->requests;
}

uint64_t
reply_add(struct fabric *fabric, const struct reply *reply)
{
	if (fabric->replies == fabric->reply_room) {
		fabric->reply_room = fabric->reply_room * 2 + 256;
		fabric->reply = realloc(fabric->reply, fabric->reply_room * sizeof(*fabric->reply));
		PLX_ASSERT(fabric->reply != NULL);
	}
	fabric->reply[fabric->replies++] = *reply;
	return fabric->replies | ANSWER_BIT;
}

/* ---- birth ---- */

/* What comes every few microseconds comes every few milliseconds. */
static void
slow_down(uint64_t *ns, uint64_t *every_ns)
{
	while (*every_ns > 0 && *every_ns < 10 * PLX_MSEC) {
		*ns *= 4;
		*every_ns *= 4;
	}
}

/* Managers' timers are seconds long: so must faults be. */
static void
draw_slow_weather(struct sim_weather *weather, struct plx_prng *prng)
{
	weather->latency_ns = draw_log(prng, PLX_USEC, 2 * PLX_SEC);
	weather->jitter_ns = draw_percent(prng, 50) ? weather->latency_ns : 0;
	if (draw_percent(prng, 70))
		weather->loss_ppm = (uint32_t)draw_log(prng, 1000, 500000);
	weather->burst_max = (uint32_t)draw_between(prng, 1, 12);
	if (draw_percent(prng, 50))
		weather->dup_ppm = (uint32_t)draw_log(prng, 10000, 500000);
}

static void
draw_exchange(struct fabric *fabric, struct plx_prng *prng)
{
	struct sim_config *config = &fabric->world.config;

	fabric->host_count = (uint32_t)draw_between(prng, 2, CM_HOSTS_MAX);
	config->stations = fabric->host_count;
	config->weather.stray_ppm = 0; /* old datagrams come again instead */
	config->weather.flip_ppm = config->weather.evil_ppm = config->weather.ce_ppm = 0;
	slow_down(&config->weather.down_ns, &config->weather.down_every_ns);
	slow_down(&config->weather.clog_ns, &config->weather.clog_every_ns);
	slow_down(&config->weather.step_ns, &config->weather.step_every_ns);
	fabric->gentle = config->profile == SIM_PROFILE_clean;
	if (!fabric->gentle && draw_percent(prng, 40))
		draw_slow_weather(&config->weather, prng);
	fabric->qpn_next = 0x800000;
	fabric->think_most_ns = draw_log(prng, PLX_USEC, 16 * PLX_SEC);
	fabric->stays = draw_percent(prng, 50);
	fabric->gap_ns = draw_log(prng, PLX_USEC, PLX_SEC);
	fabric->trouble_ns =
		4 * fabric->gap_ns + 8 * config->weather.latency_ns + fabric->think_most_ns / 64;
	/* Who waits for something to end must not spend the run's events on looking. */
	if (fabric->trouble_ns < PLX_MSEC)
		fabric->trouble_ns = PLX_MSEC;
	fabric->late_ns = draw_log(prng, 1, 2 * PLX_MSEC);
	if (fabric->gentle)
		return;
	fabric->ghost_ppm = draw_percent(prng, 40) ? (uint32_t)draw_log(prng, 1000, 300000) : 0;
	fabric->vanish_ppm = draw_percent(prng, 40) ? (uint32_t)draw_log(prng, 1000, 30000) : 0;
	fabric->partial_percent = draw_percent(prng, 40) ? (uint32_t)plx_prng_below(prng, 60) : 0;
	fabric->qpn_pool = draw_percent(prng, 60) ? (uint32_t)draw_between(prng, CONNECTORS_MAX + 8,
									   2 * CONNECTORS_MAX)
						  : 0;
}

static void
dial_later(struct cm_host *host, uint64_t mean_ns)
{
	struct world *world = &host->fabric->world;

	heap_push(world, world->now + 1 + draw_exponential(&host->prng, mean_ns), SIM_EV_BIRTH,
		  host);
}

static void
create(struct fabric *fabric)
{
	struct world *world = &fabric->world;

	world->prng = draw_stream(world->seed, 'x', 0, 0);
	draw_config(world);
	draw_exchange(fabric, &world->prng);
	world_link_stations(world);
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		cm_host_create(fabric, i);
		dial_later(&fabric->host[i], fabric->gap_ns);
	}
	heap_push(world, draw_exponential(&world->prng, PLX_SEC) + 1, SIM_EV_TROUBLE, NULL);
	weather_begin(world);
}

/* ---- life ---- */

static uint32_t
calls_under_way(const struct fabric *fabric)
{
	uint32_t connectors = 0;

	for (uint32_t i = 0; i < fabric->host_count; i++)
		connectors += fabric->host[i].connectors;
	return connectors;
}

/* How many connectors of a host are active at a time; others are for requests of its peers. */
static uint32_t
most_calls(const struct fabric *fabric)
{
	return fabric->fair ? 1 : fabric->gentle ? CONNECTORS_MAX / 4 : CONNECTORS_MAX / 2;
}

static bool
quota_left(const struct fabric *fabric)
{
	return fabric->world.stats.ops < fabric->world.quota;
}

static void
on_dial(struct cm_host *host)
{
	struct fabric *fabric = host->fabric;
	uint32_t active = 0;

	if (!quota_left(fabric))
		return; /* woken again when calm comes */
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++)
		active += host->connector[i].state != CONNECTOR_IDLE && host->connector[i].active;
	if (active < most_calls(fabric) && connector_connect(host))
		dial_later(host, fabric->gap_ns);
	else /* until something has ended */
		dial_later(host, fabric->trouble_ns);
}

/* Listeners open and close, hosts restart. */
static void
on_trouble(struct fabric *fabric)
{
	struct world *world = &fabric->world;
	struct cm_host *host = &fabric->host[plx_prng_below(&world->prng, fabric->host_count)];

	if (world->calm)
		return;
	if (fabric->vanish_ppm > 0 && plx_prng_chance(&world->prng, 100 * fabric->vanish_ppm))
		cm_host_vanish(host);
	else
		cm_host_toggle_listener(host);
	heap_push(world, world->now + draw_exponential(&world->prng, fabric->trouble_ns) + 1,
		  SIM_EV_TROUBLE, NULL);
}

static void
step_clocks(struct fabric *fabric)
{
	weather_on_step(&fabric->world);
	for (uint32_t i = 0; i < fabric->host_count; i++)
		cm_host_reschedule(&fabric->host[i]);
}

static void
dispatch(struct fabric *fabric, const struct sim_event *event)
{
	struct world *world = &fabric->world;

	world->now = event->at;
	world->stats.events++;
	switch ((enum sim_event_kind)event->kind) {
	case SIM_EV_ARRIVE: {
		struct packet *packet = event->what;

		cm_host_arrive(&fabric->host[packet->to->index], packet);
		break;
	}
	case SIM_EV_POLL:
		cm_host_on_poll(event->what, event->at);
		break;
	case SIM_EV_BIRTH:
		on_dial(event->what);
		break;
	case SIM_EV_APP:
		connector_on_event(event->what);
		break;
	case SIM_EV_RECV:
		connector_on_data(event->what);
		break;
	case SIM_EV_TROUBLE:
		on_trouble(fabric);
		break;
	case SIM_EV_DOWN:
		weather_on_down(world);
		break;
	case SIM_EV_CLOG:
		weather_on_clog(world);
		break;
	case SIM_EV_STEP:
		step_clocks(fabric);
		break;
	case SIM_EV_TX:
	case SIM_EV_WAKE:
	case SIM_EV_RECV_SHARED:
	case SIM_EV_CLOSE:
	case SIM_EV_RESUME:
	case SIM_EV_REAP:
	case SIM_EV_RELIEF:
	case SIM_EV_PROGRAM:
	case SIM_EV_KINDS:
		break;
	}
}

/* ---- it ends ---- */

/* The longest that nothing at all may end: the consumer timeout for a program that never decides,
 * and every try of every message around it. */
static uint64_t
patience(const struct fabric *fabric)
{
	return 10 * PLX_CM_CONSUMER_TIMEOUT_NS + 100 * fabric->world.config.weather.latency_ns;
}

__attribute__((noreturn)) static void
stuck(struct fabric *fabric)
{
	struct world *world = &fabric->world;

	for (uint32_t i = 0; i < fabric->host_count; i++) {
		for (uint32_t k = 0; k < CONNECTORS_MAX; k++) {
			const struct connector *connector = &fabric->host[i].connector[k];

			if (connector->state != CONNECTOR_IDLE)
				sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
					 "connector %u of host %u (id %08x) is in state %u since "
					 "%" PRIu64 " us",
					 k, i, connector->id.v, connector->state,
					 connector->since / 1000);
		}
	}
	sim_fail(world, SIM_STUCK, "I10", WRONG_LOST, "nothing ends since %" PRIu64 " us",
		 world->progress_at / 1000);
}

static void
next_event(struct fabric *fabric)
{
	struct world *world = &fabric->world;
	struct sim_event event;

	if (!heap_pop(world, &event))
		stuck(fabric);
	dispatch(fabric, &event);
	if (world->now > world->progress_at + patience(fabric) ||
	    world->stats.events > UINT64_C(4000) * world->options->ops + 4000000)
		stuck(fabric);
}

/* No more faults: every connection must end, as its programs decide or by a timeout. */
static void
become_calm(struct fabric *fabric)
{
	struct world *world = &fabric->world;

	world->calm = true;
	world->progress_at = world->now;
	weather_clears(world);
	fabric->partial_percent = 0;
	while (calls_under_way(fabric) > 0)
		next_event(fabric);
}

/* Time passes without requests. */
static void
idle(struct fabric *fabric, uint64_t ns)
{
	struct world *world = &fabric->world;
	uint64_t until = world->now + ns;

	heap_push(world, until, SIM_EV_TROUBLE, NULL);
	world->progress_at = until;
	while (world->now < until)
		next_event(fabric);
}

/* All listeners are open, all programs accept, and there are no faults. */
static void
live_in_fairness(struct fabric *fabric)
{
	struct world *world = &fabric->world;
	uint64_t first = fabric->requests;

	fabric->fair = true;
	fabric->stays = false;
	fabric->think_most_ns = PLX_SEC;
	world->quota = world->options->ops;
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		cm_host_open_all(&fabric->host[i]);
		dial_later(&fabric->host[i], fabric->gap_ns);
	}
	while (quota_left(fabric) || calls_under_way(fabric) > 0)
		next_event(fabric);
	for (uint64_t i = first; i < fabric->requests; i++) {
		const struct request *request = &fabric->request[i];

		sim_must(world, request->completed && (request->sidr || request->established), "C1",
			 "request %" PRIu64 " has not succeeded", i + 1);
	}
}

/* Everything is closed; in the end managers have no connection and no timer. */
static void
rest(struct fabric *fabric)
{
	struct world *world = &fabric->world;
	struct sim_event event;
	struct plx_cm_view view;

	for (uint32_t i = 0; i < fabric->host_count; i++)
		cm_host_close_all(&fabric->host[i]);
	world->progress_at = world->now;
	while (heap_pop(world, &event))
		dispatch(fabric, &event);
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		struct cm_host *host = &fabric->host[i];

		plx_cm_query(host->cm, &view);
		sim_must(world,
			 view.listeners == 0 && view.connections == 0 && view.half_open == 0 &&
				 view.timewait == 0,
			 "I7",
			 "%u listeners, %u connections, %u half open, %u in time-wait are left",
			 view.listeners, view.connections, view.half_open, view.timewait);
		sim_must(world, plx_cm_wake_ns(host->cm) == PLX_NEVER, "I7",
			 "a manager without connections wants to be woken");
		cm_host_destroy(host);
		free(host->tally);
	}
	free(fabric->request);
	free(fabric->reply);
}

void
fabric_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	   struct sim_stats *out)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	struct world *world = &fabric->world;

	PLX_ASSERT(fabric != NULL && mask == NULL);
	world_begin(world, options, seed);
	create(fabric);
	world->quota = options->ops - options->ops / 20;
	while (quota_left(fabric))
		next_event(fabric);
	become_calm(fabric);
	idle(fabric, PLX_CM_CONSUMER_TIMEOUT_NS);
	live_in_fairness(fabric);
	rest(fabric);
	world_end(world, out);
	free(fabric);
}
