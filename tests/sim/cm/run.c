/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a run with managers of connections: it is drawn; programs ask, answer and leave while
 * everything goes wrong; then nothing goes wrong any more, and what is asked must come off; then
 * all go away, and nothing may be left. It never decides what an event does. Start with
 * exchange_run().
 */
#include <stdlib.h>

#include "fabric.h"

/* ---- what was said -------------------------------------------------------------------------- */

struct ask *
ask_of(struct exchange *exchange, uint64_t serial)
{
	return serial > 0 && serial <= exchange->asks ? &exchange->ask[serial - 1] : NULL;
}

/* Serials of answers have a bit that those of asks have not. */
#define ANSWER_BIT (UINT64_C(1) << 40)

struct answer *
answer_of(struct exchange *exchange, uint64_t serial)
{
	uint64_t at = serial & ~ANSWER_BIT;

	if (!(serial & ANSWER_BIT) || at == 0 || at > exchange->answers)
		return NULL;
	return &exchange->answer[at - 1];
}

uint64_t
ask_add(struct exchange *exchange, const struct ask *ask)
{
	if (exchange->asks == exchange->ask_room) {
		exchange->ask_room = exchange->ask_room * 2 + 256;
		exchange->ask = realloc(exchange->ask, exchange->ask_room * sizeof(*exchange->ask));
		PLX_ASSERT(exchange->ask != NULL);
	}
	exchange->ask[exchange->asks++] = *ask;
	return exchange->asks;
}

uint64_t
answer_add(struct exchange *exchange, const struct answer *answer)
{
	if (exchange->answers == exchange->answer_room) {
		exchange->answer_room = exchange->answer_room * 2 + 256;
		exchange->answer = realloc(exchange->answer,
					   exchange->answer_room * sizeof(*exchange->answer));
		PLX_ASSERT(exchange->answer != NULL);
	}
	exchange->answer[exchange->answers++] = *answer;
	return exchange->answers | ANSWER_BIT;
}

/* ---- birth ---------------------------------------------------------------------------------- */

/* What comes every few microseconds comes every few milliseconds. */
static void
slow_down(uint64_t *ns, uint64_t *every_ns)
{
	while (*every_ns > 0 && *every_ns < 10 * PLX_MSEC) {
		*ns *= 4;
		*every_ns *= 4;
	}
}

/* Managers think in seconds: so must what goes wrong. */
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
draw_exchange(struct exchange *exchange, struct plx_prng *prng)
{
	struct sim_config *config = &exchange->world.config;

	exchange->office_count = (uint32_t)draw_between(prng, 2, OFFICES_MAX);
	config->stations = exchange->office_count;
	config->weather.stray_ppm = 0; /* old datagrams come again instead */
	config->weather.flip_ppm = config->weather.evil_ppm = config->weather.ce_ppm = 0;
	slow_down(&config->weather.down_ns, &config->weather.down_every_ns);
	slow_down(&config->weather.clog_ns, &config->weather.clog_every_ns);
	slow_down(&config->weather.step_ns, &config->weather.step_every_ns);
	exchange->gentle = config->profile == SIM_PROFILE_clean;
	if (!exchange->gentle && draw_percent(prng, 40))
		draw_slow_weather(&config->weather, prng);
	exchange->qpn_next = 0x800000;
	exchange->think_most_ns = draw_log(prng, PLX_USEC, 16 * PLX_SEC);
	exchange->stays = draw_percent(prng, 50);
	exchange->gap_ns = draw_log(prng, PLX_USEC, PLX_SEC);
	exchange->trouble_ns = 4 * exchange->gap_ns + 8 * config->weather.latency_ns +
			       exchange->think_most_ns / 64;
	/* Who waits for something to end must not spend the run's events on looking. */
	if (exchange->trouble_ns < PLX_MSEC)
		exchange->trouble_ns = PLX_MSEC;
	exchange->late_ns = draw_log(prng, 1, 2 * PLX_MSEC);
	if (exchange->gentle)
		return;
	exchange->ghost_ppm = draw_percent(prng, 40) ? (uint32_t)draw_log(prng, 1000, 300000) : 0;
	exchange->vanish_ppm = draw_percent(prng, 40) ? (uint32_t)draw_log(prng, 1000, 30000) : 0;
	exchange->partial_percent = draw_percent(prng, 40) ? (uint32_t)plx_prng_below(prng, 60) : 0;
	exchange->qpn_pool = draw_percent(prng, 60)
				     ? (uint32_t)draw_between(prng, CALLS_MAX + 8, 2 * CALLS_MAX)
				     : 0;
}

static void
dial_later(struct office *office, uint64_t mean_ns)
{
	struct world *world = &office->exchange->world;

	heap_push(world, world->now + 1 + draw_exponential(&office->prng, mean_ns), SIM_EV_BIRTH,
		  office);
}

static void
create(struct exchange *exchange)
{
	struct world *world = &exchange->world;

	world->prng = draw_stream(world->seed, 'x', 0, 0);
	draw_config(world);
	draw_exchange(exchange, &world->prng);
	world_link_stations(world);
	for (uint32_t i = 0; i < exchange->office_count; i++) {
		office_create(exchange, i);
		dial_later(&exchange->office[i], exchange->gap_ns);
	}
	heap_push(world, draw_exponential(&world->prng, PLX_SEC) + 1, SIM_EV_TROUBLE, NULL);
	weather_begin(world);
}

/* ---- life ----------------------------------------------------------------------------------- */

static uint32_t
calls_under_way(const struct exchange *exchange)
{
	uint32_t calls = 0;

	for (uint32_t i = 0; i < exchange->office_count; i++)
		calls += exchange->office[i].calls;
	return calls;
}

/* How many an office's programs have going at a time: its own, and those of others. */
static uint32_t
most_calls(const struct exchange *exchange)
{
	return exchange->fair ? 1 : exchange->gentle ? CALLS_MAX / 4 : CALLS_MAX / 2;
}

static bool
quota_left(const struct exchange *exchange)
{
	return exchange->world.stats.ops < exchange->world.quota;
}

static void
on_dial(struct office *office)
{
	struct exchange *exchange = office->exchange;
	uint32_t active = 0;

	if (!quota_left(exchange))
		return; /* woken again when calm comes */
	for (uint32_t i = 0; i < CALLS_MAX; i++)
		active += office->call[i].state != CALL_IDLE && office->call[i].active;
	if (active < most_calls(exchange) && call_dial(office))
		dial_later(office, exchange->gap_ns);
	else /* until something has ended */
		dial_later(office, exchange->trouble_ns);
}

/* Listeners come and go, and so do offices. */
static void
on_trouble(struct exchange *exchange)
{
	struct world *world = &exchange->world;
	struct office *office =
		&exchange->office[plx_prng_below(&world->prng, exchange->office_count)];

	if (world->calm)
		return;
	if (exchange->vanish_ppm > 0 && plx_prng_chance(&world->prng, 100 * exchange->vanish_ppm))
		office_vanish(office);
	else
		office_toggle_ear(office);
	heap_push(world, world->now + draw_exponential(&world->prng, exchange->trouble_ns) + 1,
		  SIM_EV_TROUBLE, NULL);
}

static void
step_clocks(struct exchange *exchange)
{
	weather_on_step(&exchange->world);
	for (uint32_t i = 0; i < exchange->office_count; i++)
		office_touch(&exchange->office[i]);
}

static void
dispatch(struct exchange *exchange, const struct sim_event *event)
{
	struct world *world = &exchange->world;

	world->now = event->at;
	world->stats.events++;
	switch ((enum sim_event_kind)event->kind) {
	case SIM_EV_ARRIVE: {
		struct packet *packet = event->what;

		office_arrive(&exchange->office[packet->to->index], packet);
		break;
	}
	case SIM_EV_POLL:
		office_on_poll(event->what, event->at);
		break;
	case SIM_EV_BIRTH:
		on_dial(event->what);
		break;
	case SIM_EV_APP:
		call_on_event(event->what);
		break;
	case SIM_EV_RECV:
		call_on_data(event->what);
		break;
	case SIM_EV_TROUBLE:
		on_trouble(exchange);
		break;
	case SIM_EV_DOWN:
		weather_on_down(world);
		break;
	case SIM_EV_CLOG:
		weather_on_clog(world);
		break;
	case SIM_EV_STEP:
		step_clocks(exchange);
		break;
	case SIM_EV_TX:
	case SIM_EV_WAKE:
	case SIM_EV_RECV_SHARED:
	case SIM_EV_CLOSE:
	case SIM_EV_RESUME:
	case SIM_EV_REAP:
	case SIM_EV_RELIEF:
	case SIM_EV_KINDS:
		break;
	}
}

/* ---- it ends -------------------------------------------------------------------------------- */

/* The longest that nothing at all may end: the patience for a program that never makes up its mind,
 * and every try of every message around it. */
static uint64_t
patience(const struct exchange *exchange)
{
	return 10 * PLX_CM_CONSUMER_TIMEOUT_NS + 100 * exchange->world.config.weather.latency_ns;
}

__attribute__((noreturn)) static void
stuck(struct exchange *exchange)
{
	struct world *world = &exchange->world;

	for (uint32_t i = 0; i < exchange->office_count; i++) {
		for (uint32_t k = 0; k < CALLS_MAX; k++) {
			const struct call *call = &exchange->office[i].call[k];

			if (call->state != CALL_IDLE)
				sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
					 "call %u of office %u (id %08x) is in state %u since "
					 "%" PRIu64 " us",
					 k, i, call->id.v, call->state, call->since / 1000);
		}
	}
	sim_fail(world, SIM_STUCK, "I10", WRONG_LOST, "nothing ends since %" PRIu64 " us",
		 world->progress_at / 1000);
}

static void
next_event(struct exchange *exchange)
{
	struct world *world = &exchange->world;
	struct sim_event event;

	if (!heap_pop(world, &event))
		stuck(exchange);
	dispatch(exchange, &event);
	if (world->now > world->progress_at + patience(exchange) ||
	    world->stats.events > UINT64_C(4000) * world->options->ops + 4000000)
		stuck(exchange);
}

/* No more faults; what is under way ends as its programs want it, or has to. */
static void
become_calm(struct exchange *exchange)
{
	struct world *world = &exchange->world;

	world->calm = true;
	world->progress_at = world->now;
	weather_clears(world);
	exchange->partial_percent = 0;
	while (calls_under_way(exchange) > 0)
		next_event(exchange);
}

/* Time goes by, in which nobody wants anything. */
static void
idle(struct exchange *exchange, uint64_t ns)
{
	struct world *world = &exchange->world;
	uint64_t until = world->now + ns;

	heap_push(world, until, SIM_EV_TROUBLE, NULL);
	world->progress_at = until;
	while (world->now < until)
		next_event(exchange);
}

/* Everybody is there, everybody wants to, and nothing goes wrong. */
static void
live_in_fairness(struct exchange *exchange)
{
	struct world *world = &exchange->world;
	uint64_t first = exchange->asks;

	exchange->fair = true;
	exchange->stays = false;
	exchange->think_most_ns = PLX_SEC;
	world->quota = world->options->ops;
	for (uint32_t i = 0; i < exchange->office_count; i++) {
		office_open_all(&exchange->office[i]);
		dial_later(&exchange->office[i], exchange->gap_ns);
	}
	while (quota_left(exchange) || calls_under_way(exchange) > 0)
		next_event(exchange);
	for (uint64_t i = first; i < exchange->asks; i++) {
		const struct ask *ask = &exchange->ask[i];

		sim_must(world, ask->completed && (ask->sidr || ask->established), "C1",
			 "ask %" PRIu64 " has not come off", i + 1);
	}
}

/* All go away; after a while managers know of nothing and want nothing. */
static void
rest(struct exchange *exchange)
{
	struct world *world = &exchange->world;
	struct sim_event event;
	struct plx_cm_view view;

	for (uint32_t i = 0; i < exchange->office_count; i++)
		office_close_all(&exchange->office[i]);
	world->progress_at = world->now;
	while (heap_pop(world, &event))
		dispatch(exchange, &event);
	for (uint32_t i = 0; i < exchange->office_count; i++) {
		struct office *office = &exchange->office[i];

		plx_cm_query(office->cm, &view);
		sim_must(world,
			 view.listeners == 0 && view.connections == 0 && view.half_open == 0 &&
				 view.timewait == 0,
			 "I7",
			 "%u listeners, %u connections, %u half open, %u in time-wait are left",
			 view.listeners, view.connections, view.half_open, view.timewait);
		sim_must(world, plx_cm_wake_ns(office->cm) == PLX_NEVER, "I7",
			 "a manager that knows of nothing wants to be woken");
		office_destroy(office);
		free(office->tally);
	}
	free(exchange->ask);
	free(exchange->answer);
}

void
exchange_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	     struct sim_stats *out)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	struct world *world = &exchange->world;

	PLX_ASSERT(exchange != NULL && mask == NULL);
	world_begin(world, options, seed);
	create(exchange);
	world->quota = options->ops - options->ops / 20;
	while (quota_left(exchange))
		next_event(exchange);
	become_calm(exchange);
	idle(exchange, PLX_CM_CONSUMER_TIMEOUT_NS);
	live_in_fairness(exchange);
	rest(exchange);
	world_end(world, out);
	free(exchange);
}
