/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the programs of a host: each has a seat at every engine, with queues and queue pairs, and
 * may die at any moment, whatever its queue pairs are doing. Then the host destroys all that it
 * had, and another program takes its place. Nothing of the dead one is executed any more (D1): no
 * packet of its queue pairs leaves, and its memory stays as it is. Its peers are not told here;
 * their queue pairs find nobody. And programs give connections to each other, between two messages:
 * no byte and no completion is lost (D2). Start with program_on_event().
 */
#include "fleet.h"

enum {
	TURNS_MOST = 10000, /* of an engine, until what is flushed has come out of a small queue */
};

/* By a stream of their own: what else a seed means stays. With 48 the seeds that meson.build lists
 * have one engine and one program, as when they found what they found. */
void
program_draw(struct fleet *fleet)
{
	struct plx_prng prng = draw_stream(fleet->world.seed, 'x', 0, 48);

	fleet->manifold = !fleet->crowd && draw_percent(&prng, 50);
	fleet->mortal = fleet->manifold && fleet->rough && draw_percent(&prng, 70);
	/* A stranger's frame is looked for in the counters of the next burst. */
	if (fleet->manifold)
		fleet->strangers = 0;
}

/* How many engines and programs a host has. */
void
program_host(struct host *host)
{
	host->core_prng = draw_stream(host->fleet->world.seed, 'x', 1, host->index);
	host->cores = host->programs = 1;
	if (!host->fleet->manifold)
		return;
	host->cores = (uint32_t)draw_between(&host->core_prng, 1, FLEET_CORES_MAX);
	host->programs = (uint32_t)draw_between(&host->core_prng, 1, FLEET_PROGRAMS_MAX);
	host->spread = (uint32_t)plx_prng_next(&host->core_prng);
	/* They live long enough to connect. */
	host->turn_mean_ns = draw_log(&host->core_prng, 50 * PLX_USEC, 20 * PLX_MSEC) +
			     8 * host->fleet->world.config.weather.latency_ns;
}

/* ---- seats ---- */

static void
sit(struct host *host, struct program *program)
{
	for (uint32_t i = 0; i < host->cores; i++) {
		host_call(host);
		PLX_ASSERT(whole_seat_create(host->core[i].engine, &program->seat[i]) == PLX_OK);
	}
}

static void
leave(struct host *host, struct program *program)
{
	for (uint32_t i = 0; i < host->cores; i++) {
		host_call(host);
		sim_must(&host->fleet->world, whole_seat_destroy(program->seat[i]) == PLX_OK, "I7",
			 "a seat that nobody uses cannot be destroyed");
		program->seat[i] = NULL;
	}
}

static void
again_soon(struct host *host)
{
	struct world *world = &host->fleet->world;

	heap_push(world, world->now + 1 + draw_exponential(&host->core_prng, host->turn_mean_ns),
		  SIM_EV_PROGRAM, host);
}

void
program_begin(struct host *host)
{
	for (uint32_t i = 1; i < host->programs; i++)
		sit(host, &host->program[i]);
	if (host->programs > 1)
		again_soon(host);
}

void
program_end(struct host *host)
{
	for (uint32_t i = 1; i < host->programs; i++)
		leave(host, &host->program[i]);
}

bool
program_next_async_event(struct host *host, struct plx_async_event *event)
{
	for (uint32_t i = 0; i < host->cores; i++) {
		if (plx_engine_next_async_event(host->core[i].engine, event))
			return true;
		for (uint32_t p = 1; p < host->programs; p++)
			if (whole_seat_next_async_event(host->program[p].seat[i], event))
				return true;
	}
	return false;
}

/* ---- deaths ---- */

static bool
is_of(const struct end *end, const struct host *host, uint32_t program)
{
	return end->qp != NULL && end->host == host && end->send_cq->program == program;
}

static void
end_connection(struct connection *connection, struct host *host, uint32_t program)
{
	bool dies[2];

	for (int s = 0; s < 2; s++)
		dies[s] = is_of(&connection->end[s], host, program);
	if (!dies[0] && !dies[1])
		return;
	/* Nobody is left who could notice; or the other end is not joined yet, or is leaving. */
	if ((dies[0] && dies[1]) || connection->state != CONNECTION_UP) {
		connection_vanish(connection);
		return;
	}
	connection_bereave(&connection->end[dies[0] ? 0 : 1]);
}

static void
die(struct host *host, uint32_t which)
{
	struct fleet *fleet = host->fleet;
	struct world *world = &fleet->world;

	trace_as(world, TRACE_DISTURB, host->index, which, 0, 0, 0);
	world->stats.deaths++;
	for (uint32_t i = 0; i < fleet->connection_count; i++)
		if (fleet->connection[i].state != CONNECTION_NONE)
			end_connection(&fleet->connection[i], host, which);
	for (uint32_t i = 0; i < host->cq_count; i++)
		if (host->cqs[i].program == which)
			cq_bury(&host->cqs[i]);
	leave(host, &host->program[which]);
	sit(host, &host->program[which]);
	for (uint32_t i = 0; i < host->cq_count; i++)
		if (host->cqs[i].program == which)
			cq_create(host, i);
}

/* ---- gifts ---- */

/* Another program's completion queue at the same engine; NULL: there is none. */
static struct cq *
queue_of_other(struct host *host, const struct end *end)
{
	uint32_t first = (uint32_t)plx_prng_below(&host->core_prng, host->cq_count);

	for (uint32_t i = 0; i < host->cq_count; i++) {
		struct cq *cq = &host->cqs[(first + i) % host->cq_count];

		if (cq->core == end->send_cq->core && cq->program != end->send_cq->program)
			return cq;
	}
	return NULL;
}

/* Everything of its former queue pair comes back, whatever the threads of engines do: a command
 * call runs them. */
static void
take_back_receives(struct end *end, struct plx_qp *former)
{
	struct plx_rc_view view;

	for (int turn = 0; turn < TURNS_MOST && end->fifo_count > 0; turn++) {
		host_call(end->host);
		PLX_ASSERT(plx_engine_qp_query(former, &view) == PLX_OK);
		cq_drain(end->recv_cq);
	}
	sim_must(&end->host->fleet->world, end->fifo_count == 0, "D2",
		 "%u receives of end %u are not flushed when it has been given away",
		 end->fifo_count, end->id);
}

static void
give(struct end *end, struct cq *to)
{
	struct plx_engine_qp_config config = connection_qp(end);
	struct world *world = &end->host->fleet->world;
	struct plx_qp *heir, *former = end->qp;
	struct plx_qp_past past;
	enum plx_status status;

	config.send_cq = config.recv_cq = to->queue;
	host_call(end->host);
	PLX_ASSERT(plx_engine_qp_create(host_engine(end->host), &config, &heir) == PLX_OK);
	end->given_qpn = plx_engine_qp_number(heir);
	host_call(end->host);
	status = plx_qp_back_move(former->back, heir->back, NULL, &past);
	sim_must(world, status == PLX_OK || status == PLX_BUSY || status == PLX_STATE, "D2",
		 "end %u cannot be given away: %s", end->id, plx_status_text(status));
	if (status == PLX_OK) {
		whole_qp_moved(heir);
		sim_must(world, plx_engine_qp_number(heir) == end->qpn, "D2",
			 "end %u has another number when it has been given away", end->id);
		take_back_receives(end, former);
		end->qp = heir;
		end->send_cq = end->recv_cq = to;
		heir = former;
		world->stats.gifts++;
	}
	host_call(end->host);
	PLX_ASSERT(plx_engine_qp_destroy(heir) == PLX_OK);
}

static void
give_one(struct host *host)
{
	struct fleet *fleet = host->fleet;
	uint32_t ends = 2 * fleet->connection_count;
	uint32_t first = (uint32_t)plx_prng_below(&host->core_prng, ends);

	for (uint32_t i = 0; i < ends; i++) {
		uint32_t at = (first + i) % ends;
		struct end *end = &fleet->connection[at / 2].end[at % 2];
		struct cq *to;

		if (end->host != host || end->connection->state != CONNECTION_UP || end->dead ||
		    end->shares || host->qps == host->qps_max)
			continue;
		to = queue_of_other(host, end);
		if (to == NULL)
			continue;
		end->giving = true;
		cq_drain(end->send_cq);
		cq_drain(end->recv_cq);
		/* Between two messages; the other direction is the transport's to judge. */
		if (end->done == end->drawn && !end->dead &&
		    end->connection->state == CONNECTION_UP) {
			trace_as(&fleet->world, TRACE_DISTURB, host->index, at, to->program, 0, 0);
			give(end, to);
			work_receives(end);
		}
		end->giving = false;
		return;
	}
}

void
program_on_event(struct host *host)
{
	uint32_t mortals = host->programs - 1;

	if (host->fleet->world.calm || ++host->turns > FLEET_TURNS)
		return;
	if (host->fleet->mortal && draw_percent(&host->core_prng, 40))
		die(host, 1 + (uint32_t)plx_prng_below(&host->core_prng, mortals));
	else if (!host->inline_mode)
		give_one(host);
	again_soon(host);
}
