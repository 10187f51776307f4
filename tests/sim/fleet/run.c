/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a run with whole engines: it is drawn, lives through its safety phase with all faults on,
 * then through its liveness phase with none, and at rest everything must have come home.
 * It never decides what an event does. Start with fleet_run().
 */
#include <stdlib.h>

#include "fleet.h"

/* ---- birth ---- */

/* Two of five fleets have switches that mark congestion, by a stream of their own. */
static void
draw_marks(struct fleet *fleet)
{
	struct plx_prng prng = draw_stream(fleet->world.seed, 'm', 0, 0);

	if (fleet->world.config.profile != SIM_PROFILE_clean && !fleet->crowd &&
	    draw_percent(&prng, 40))
		fleet->world.config.weather.ce_ppm = (uint32_t)draw_log(&prng, 1000, 500000);
}

static void
draw_fleet(struct fleet *fleet, struct plx_prng *prng)
{
	struct sim_config *config = &fleet->world.config;
	static const uint32_t mtus[] = {256, 256, 1024, 4096};

	fleet->host_count = (uint32_t)draw_between(prng, 2, FLEET_HOSTS_MAX);
	config->stations = fleet->host_count;
	fleet->connection_count =
		(uint32_t)draw_between(prng, 4 * fleet->host_count, FLEET_CONNECTIONS_USUAL);
	config->message_max = (uint32_t)draw_log(prng, 512, draw_percent(prng, 5) ? 32768 : 4096);
	fleet->mtu_max = mtus[plx_prng_below(prng, PLX_COUNT_OF(mtus))];
	fleet->frame_max = fleet->mtu_max + 150;
	fleet->rough =
		config->profile != SIM_PROFILE_clean &&
		!((config->profile == SIM_PROFILE_wrap || config->profile == SIM_PROFILE_tiny) &&
		  draw_percent(prng, 50));
	fleet->gentle = !fleet->rough && draw_percent(prng, 60);
	fleet->moving = fleet->gentle || (fleet->rough && draw_percent(prng, 40));
	fleet->abrupt = fleet->rough && draw_percent(prng, 40);
	/* Seconds between posts of one end would be all that happens. */
	if (config->think_ns > 50 * PLX_MSEC)
		config->think_ns = 50 * PLX_MSEC;
	config->kill_ppm *= 2;
	config->weather.flip_ppm *= 4; /* a run has few packets */
	config->weather.stray_ppm = 0; /* port_ghost() makes them */
	crowd_draw(fleet);
	trouble_draw(fleet);
	stranger_draw(fleet);
	program_draw(fleet);
	draw_marks(fleet);
}

static void
assign(struct fleet *fleet, struct plx_prng *prng)
{
	for (uint32_t i = 0; i < fleet->connection_count; i++) {
		struct connection *connection = &fleet->connection[i];
		uint32_t a = (uint32_t)plx_prng_below(prng, fleet->host_count);
		uint32_t b = (uint32_t)plx_prng_below(prng, fleet->host_count);

		if (a == b && (fleet->crowd || draw_percent(prng, 70)))
			b = (a + 1) % fleet->host_count;
		connection->fleet = fleet;
		connection->index = i;
		for (uint32_t s = 0; s < 2; s++) {
			struct end *end = &connection->end[s];

			end->connection = connection;
			end->peer = &connection->end[!s];
			end->id = 2 * i + s;
			end->host = &fleet->host[s ? b : a];
			end->host->qps_max++;
		}
	}
}

static void
create(struct fleet *fleet)
{
	struct world *world = &fleet->world;
	struct plx_prng prng = draw_stream(world->seed, 'e', 0, 0);

	draw_config(world);
	draw_fleet(fleet, &prng);
	world_link_stations(world);
	assign(fleet, &prng);
	for (uint32_t i = 0; i < fleet->host_count; i++)
		host_create(fleet, i);
	for (uint32_t i = 0; i < fleet->connection_count; i++)
		heap_push(world, world->now + draw_log(&prng, 1, 100000), SIM_EV_BIRTH,
			  &fleet->connection[i]);
	weather_begin(world);
}

/* ---- life ---- */

void
fleet_step_clocks(struct fleet *fleet)
{
	weather_on_step(&fleet->world);
	for (uint32_t i = 0; i < fleet->host_count; i++)
		host_poll_by(&fleet->host[i], fleet->world.now + fleet->host[i].gap_ns);
}

/* While all cores are away no program has its turn. Returns: whether the event comes later */
static bool
is_dark(struct fleet *fleet, const struct sim_event *event)
{
	uint64_t later = fleet->dark_until + PLX_MSEC;
	uint8_t kind = event->kind;

	if (event->at >= fleet->dark_until ||
	    !(kind == SIM_EV_REAP || kind == SIM_EV_APP || kind == SIM_EV_RECV ||
	      kind == SIM_EV_RECV_SHARED || kind == SIM_EV_BIRTH || kind == SIM_EV_CLOSE))
		return false;
	if (kind == SIM_EV_CLOSE) {
		struct connection *connection = event->what;

		if (connection->close_at != event->at)
			return true;
		connection->close_at = later;
	}
	heap_push(&fleet->world, later, (enum sim_event_kind)kind, event->what);
	return true;
}

static void
dispatch(struct fleet *fleet, const struct sim_event *event)
{
	struct world *world = &fleet->world;

	world->now = event->at;
	world->stats.events++;
	if (is_dark(fleet, event))
		return;
	switch ((enum sim_event_kind)event->kind) {
	case SIM_EV_ARRIVE: {
		struct packet *packet = event->what;

		port_arrive(&fleet->host[packet->to->index], packet);
		break;
	}
	case SIM_EV_POLL:
		host_on_poll(event->what, event->at);
		break;
	case SIM_EV_REAP:
		cq_on_event(event->what);
		break;
	case SIM_EV_APP:
		work_on_event(event->what);
		break;
	case SIM_EV_RECV:
		work_on_receives(event->what);
		break;
	case SIM_EV_RECV_SHARED:
		host_fill_shared(event->what);
		break;
	case SIM_EV_BIRTH:
		connection_on_event(event->what);
		break;
	case SIM_EV_CLOSE:
		if (world->now == ((struct connection *)event->what)->close_at)
			connection_close(event->what);
		break;
	case SIM_EV_TROUBLE:
		trouble_on_event(event->what);
		break;
	case SIM_EV_RELIEF:
		trouble_on_relief(event->what);
		break;
	case SIM_EV_PROGRAM:
		program_on_event(event->what);
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
	case SIM_EV_TX:
	case SIM_EV_WAKE:
	case SIM_EV_RESUME:
	case SIM_EV_KINDS:
		break;
	}
}

static void
check_memory(struct fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->host_count; i++)
		arena_check(fleet, &fleet->host[i].shared);
	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		const struct end *end = &fleet->connection[i / 2].end[i % 2];

		arena_check(fleet, &end->target);
		arena_check(fleet, &end->landing);
		arena_check(fleet, &end->receives);
	}
}

/* The faults are over. What is under way must end, and what is asked now must succeed. */
static void
become_calm(struct fleet *fleet)
{
	struct world *world = &fleet->world;

	world->calm = true;
	world->quota = world->options->ops;
	world->progress_at = world->now;
	fleet->fair_from = world->now + (fleet->moving ? 4 * PLX_SEC : 0);
	weather_clears(world);
	for (uint32_t i = 0; i < fleet->host_count; i++) {
		trouble_ends(&fleet->host[i]);
		host_poll_by(&fleet->host[i], world->now + 1);
	}
	for (uint32_t i = 0; i < fleet->connection_count; i++) {
		struct connection *connection = &fleet->connection[i];

		if (connection->state == CONNECTION_NONE)
			heap_push(world, world->now + 1, SIM_EV_BIRTH, connection);
		for (int s = 0; s < 2; s++)
			work_wake(&connection->end[s], world->now + 1);
	}
}

/* The longest that nothing at all may complete: every retry of every kind, many times over, and a
 * neighbour that is at another address than everybody believes. */
static uint64_t
patience(const struct fleet *fleet)
{
	const struct sim_weather *weather = &fleet->world.config.weather;

	return 300 * PLX_SEC + 2000 * weather->latency_ns + 400 * weather->clog_ns;
}

/* Name one that waits. */
__attribute__((noreturn)) static void
stuck(struct fleet *fleet)
{
	struct world *world = &fleet->world;

	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		const struct end *end = &fleet->connection[i / 2].end[i % 2];

		if (end->qp == NULL ||
		    (end->done == end->drawn && end->connection->state != CONNECTION_ENDING))
			continue;
		sim_fail(world, SIM_STUCK, "I10", WRONG_LOST,
			 "no request is done since %" PRIu64
			 " us; end %u of host %u (%s) has %u of "
			 "%u and %u drawn; %u receives, %u events; send CQ %u %s, %s",
			 world->progress_at / 1000, i, end->host->index,
			 plx_qp_state_name(plx_engine_qp_state(end->qp)), end->done, end->posted,
			 end->drawn, end->fifo_count, end->flushed_events, end->send_cq->index,
			 end->send_cq->asleep ? "asleep" : "awake",
			 cq_empty(end->send_cq) ? "empty" : "not empty");
	}
	sim_fail(world, SIM_STUCK, "I10", WRONG_LOST, "no request is done since %" PRIu64 " us",
		 world->progress_at / 1000);
}

static void
watch(struct fleet *fleet)
{
	struct world *world = &fleet->world;
	uint64_t events_most = UINT64_C(20000) * world->options->ops + 20000000;

	if (plx_likely(world->stats.events % 8192 != 0))
		return;
	check_memory(fleet);
	if (world->now > world->progress_at + patience(fleet) || world->stats.events > events_most)
		stuck(fleet);
}

static void
next_event(struct fleet *fleet)
{
	struct world *world = &fleet->world;
	struct sim_event event;

	if (!heap_pop(world, &event))
		stuck(fleet);
	dispatch(fleet, &event);
	watch(fleet);
}

static void
live(struct fleet *fleet)
{
	struct world *world = &fleet->world;

	world->quota = world->options->ops - world->options->ops / 20;
	while (!world->calm || work_left(fleet) || world->done < world->drawn) {
		next_event(fleet);
		if (!world->calm && !work_left(fleet))
			become_calm(fleet);
	}
}

/* ---- rest ---- */

static bool
all_gone(const struct fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->connection_count; i++) {
		if (fleet->connection[i].state != CONNECTION_NONE)
			return false;
	}
	return true;
}

/* What is behind completion queues comes out of them while the engines go on. */
static void
empty_queues(struct fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->host_count; i++) {
		struct host *host = &fleet->host[i];

		for (int turn = 0; turn < 200; turn++) {
			(void)host_run(host);
			ud_end_listen(host);
			for (uint32_t q = 0; q < host->cq_count; q++)
				cq_drain(&host->cqs[q]);
		}
		if (host->srq != NULL)
			sim_must(&fleet->world, plx_engine_srq_count(host->srq) == host->srq_posted,
				 "I8",
				 "%u receives are in the SRQ at rest, %u were posted and not used",
				 plx_engine_srq_count(host->srq), host->srq_posted);
	}
}

static void
rest(struct fleet *fleet)
{
	struct world *world = &fleet->world;
	struct sim_event event;

	world->progress_at = world->now;
	for (uint32_t i = 0; i < fleet->connection_count; i++) {
		if (fleet->connection[i].state == CONNECTION_UP ||
		    fleet->connection[i].state == CONNECTION_JOINING)
			connection_close(&fleet->connection[i]);
	}
	while (!all_gone(fleet))
		next_event(fleet);
	/* What is on its way arrives nowhere. */
	while (heap_pop(world, &event)) {
		world->now = event.at;
		if (event.kind == SIM_EV_ARRIVE)
			dispatch(fleet, &event);
	}
	empty_queues(fleet);
	for (uint32_t i = 0; i < fleet->host_count; i++)
		host_destroy(&fleet->host[i]);
	/* The last that was sent. */
	while (heap_pop(world, &event)) {
		if (event.kind == SIM_EV_ARRIVE)
			link_release(world, event.what);
	}
	for (uint32_t i = 0; i < 2 * fleet->connection_count; i++) {
		free(fleet->connection[i / 2].end[i % 2].requests);
		free(fleet->connection[i / 2].end[i % 2].message_end);
	}
	for (uint32_t i = 0; i < FLEET_OLD_FRAMES; i++)
		free(fleet->old[i].bytes);
	sim_must(world, fleet->pieces_made == fleet->pieces_freed, "I7",
		 "%" PRIu64 " pieces of frames were made and %" PRIu64 " freed", fleet->pieces_made,
		 fleet->pieces_freed);
}

void
fleet_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	  struct sim_stats *out)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));
	struct world *world = &fleet->world;

	PLX_ASSERT(fleet != NULL && mask == NULL);
	fleet_start();
	world_begin(world, options, seed);
	create(fleet);
	live(fleet);
	rest(fleet);
	world->stats.ops = world->done;
	world_end(world, out);
	free(fleet);
}
