/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what goes wrong at a host and is not the weather's: a port that takes nothing, buffers that
 * somebody else has, neighbours that do not answer or move, a core that is away, a completion queue
 * that is resized, a flood of junk that a core finds when it comes back; and machines whose cores
 * are all away (decision 25). It never hurts a packet. Start with trouble_on_event().
 */
#include "fleet.h"

enum trouble {
	TROUBLE_REFUSE,
	TROUBLE_STINGY,
	TROUBLE_HOG,
	TROUBLE_MUTE,
	TROUBLE_MOVE,
	TROUBLE_STALL,
	TROUBLE_RESIZE,
	TROUBLE_GHOST,
	TROUBLE_COUNT,
};

enum {
	FLOOD_BURSTS = 1500, /* more than an engine's timers wait for after a pause */
};

/* Three of ten fleets in which things go wrong have floods; of ten in which nothing does, in four
 * all cores are away at times. By a stream of their own: what else a seed means stays. */
void
trouble_draw(struct fleet *fleet)
{
	struct plx_prng prng = draw_stream(fleet->world.seed, 'f', 0, 0);

	fleet->floods = fleet->rough && draw_percent(&prng, 30);
	fleet->busy = !fleet->rough && !fleet->crowd && draw_percent(&prng, 40);
	if (fleet->busy)
		fleet->gentle = fleet->moving = false;
}

void
trouble_start(struct host *host)
{
	struct world *world = &host->fleet->world;

	host->glimpse_at = PLX_NEVER;
	if (host->fleet->gentle || (host->fleet->busy && host->index == 0))
		heap_push(world, world->now + draw_log(&host->prng, 10000, 3 * PLX_MSEC),
			  SIM_EV_TROUBLE, host);
	if (!host->fleet->rough)
		return;
	host->trouble_mean_ns = draw_log(&host->prng, 20 * PLX_USEC, 20 * PLX_MSEC);
	heap_push(world, world->now + draw_exponential(&host->prng, host->trouble_mean_ns),
		  SIM_EV_TROUBLE, host);
}

/* Leave so many buffers. */
static void
take_buffers(struct host *host, uint32_t leave)
{
	while (rte_mempool_avail_count(host->pool) > leave) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(host->pool);

		PLX_ASSERT(m != NULL && host->hog_count < host->buffers);
		host->hog[host->hog_count++] = m;
	}
}

static void
give_buffers(struct host *host)
{
	if (host->hog_count > 0)
		rte_pktmbuf_free_bulk(host->hog, host->hog_count);
	host->hog_count = 0;
}

/* It leaves its MAC and says so, after a while. */
static void
move(struct host *host)
{
	struct world *world = &host->fleet->world;
	uint64_t longest = host->fleet->gentle ? 50 * PLX_MSEC : PLX_SEC;

	if (!host->fleet->moving)
		return;
	host->moves++;
	host->outside[3] = (uint8_t)host->moves;
	host->outside[4] = (uint8_t)plx_prng_next(&host->prng);
	heap_push(world, world->now + draw_log(&host->prng, 1000, longest), SIM_EV_RELIEF, host);
}

/* Other programs have all cores for longer than a peer's silence is waited for; one engine has a
 * cycle now and then, in which it finds timers due and no answer. */
static void
go_dark(struct fleet *fleet, struct plx_prng *prng)
{
	struct host *one = &fleet->host[plx_prng_below(prng, fleet->host_count)];
	uint64_t now = fleet->world.now;

	fleet->dark_until = now + draw_between(prng, 10, 20) * PLX_SEC;
	for (uint32_t i = 0; i < fleet->host_count; i++)
		fleet->host[i].stall_until = fleet->dark_until + plx_prng_below(prng, PLX_MSEC);
	one->glimpse_at = now + draw_between(prng, 1, 1500) * PLX_MSEC;
	host_poll_by(one, one->glimpse_at);
}

/* When the core of a host that has had a cycle has time for the next. */
uint64_t
trouble_glimpse(struct host *host)
{
	return host->fleet->world.now + draw_between(&host->prng, 300, 1500) * PLX_MSEC;
}

static void
resize(struct host *host)
{
	struct plx_engine_cq_view view;
	enum plx_status status;
	uint32_t depth;
	struct cq *cq;

	if (host->cq_count == 0) /* a driver resizes its own */
		return;
	cq = &host->cqs[plx_prng_below(&host->prng, host->cq_count)];
	depth = (uint32_t)draw_log(&host->prng, 1, 128);
	host_call(host);
	status = plx_engine_cq_resize(cq->queue, depth);
	if (status == PLX_BUSY) {
		bool cycled = host_cycle(host);

		plx_engine_cq_query(cq->queue, &view);
		if (!cycled || view.produced - view.consumed > depth || cq_full(cq))
			return;
	}
	sim_must(&host->fleet->world, status == PLX_OK, "I14",
		 "a completion queue cannot be resized from %u to %u: %s", cq->depth, depth,
		 plx_status_text(status));
	cq->depth = depth;
}

static void
begin(struct host *host, enum trouble what)
{
	uint64_t now = host->fleet->world.now;
	struct plx_prng *prng = &host->prng;

	switch (what) {
	case TROUBLE_REFUSE:
		host->refuse_until =
			now + (draw_percent(prng, 80) ? draw_log(prng, 1000, 100 * PLX_MSEC)
						      : draw_between(prng, 100, 400) * PLX_MSEC);
		break;
	case TROUBLE_STINGY:
		host->stingy = !host->stingy;
		break;
	case TROUBLE_HOG:
		take_buffers(host, (uint32_t)plx_prng_below(prng, 64));
		host->hog_until = now + draw_log(prng, 1000, 100 * PLX_MSEC);
		heap_push(&host->fleet->world, host->hog_until, SIM_EV_RELIEF, host);
		break;
	case TROUBLE_MUTE:
		host->mute_until =
			now + (draw_percent(prng, 70) ? draw_log(prng, PLX_USEC, PLX_SEC)
						      : draw_between(prng, 3, 9) * PLX_SEC);
		break;
	case TROUBLE_MOVE:
		move(host);
		break;
	case TROUBLE_STALL:
		host->stall_until = now + draw_log(prng, 1000, 50 * PLX_MSEC);
		if (host->fleet->floods) {
			host->stall_until += 11 * PLX_MSEC;
			for (uint32_t i = 0; i < host->cores; i++)
				host->core[i].flood = FLOOD_BURSTS;
		}
		break;
	case TROUBLE_RESIZE:
		resize(host);
		break;
	case TROUBLE_GHOST:
		for (uint64_t i = draw_between(prng, 1, 8); i > 0; i--)
			port_ghost(host);
		break;
	case TROUBLE_COUNT:
		break;
	}
}

void
trouble_on_event(struct host *host)
{
	struct world *world = &host->fleet->world;
	enum trouble what = (enum trouble)plx_prng_below(&host->prng, TROUBLE_COUNT);

	if (world->calm || ++host->troubles > FLEET_TROUBLES)
		return;
	if (host->fleet->gentle) {
		move(host);
		return;
	}
	if (host->fleet->busy) {
		go_dark(host->fleet, &host->prng);
		if (host->troubles < FLEET_DARK_MOST)
			heap_push(world,
				  host->fleet->dark_until +
					  draw_log(&host->prng, 10000, 3 * PLX_MSEC),
				  SIM_EV_TROUBLE, host);
		return;
	}
	trace_as(world, TRACE_DISTURB, host->index, what, 0, 0, 0);
	begin(host, what);
	heap_push(world, world->now + 1 + draw_exponential(&host->prng, host->trouble_mean_ns),
		  SIM_EV_TROUBLE, host);
}

/* Buffers come back; a host that has moved tells. */
void
trouble_on_relief(struct host *host)
{
	if (host->fleet->world.now >= host->hog_until)
		give_buffers(host);
	if (host->moves > 0)
		port_announce(host, host->fleet->world.calm);
}

/* The safety phase is over. Three times, because a neighbour moves once in a second at most. */
void
trouble_ends(struct host *host)
{
	struct world *world = &host->fleet->world;

	host->refuse_until = host->mute_until = host->stall_until = host->hog_until = 0;
	host->fleet->dark_until = 0;
	host->glimpse_at = PLX_NEVER;
	for (uint32_t i = 0; i < host->cores; i++)
		host->core[i].flood = host->core[i].away_until = 0;
	host->stingy = false;
	give_buffers(host);
	for (uint64_t i = 0; i < 3 && host->moves > 0; i++)
		heap_push(world, world->now + 1 + i * 11 * PLX_SEC / 10, SIM_EV_RELIEF, host);
}
