/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what applications do with completion queues: some poll, some sleep until they are woken.
 * A sleeper with an entry to see that is not woken has found a bug.
 * It never judges the contents of a completion. Start with cq_look() and cq_on_event().
 */
#include <poll.h>

#include "fleet.h"
#include "plx_engine_cq.h"

void
cq_create(struct host *host, uint32_t index)
{
	struct cq *cq = &host->cqs[index];
	struct plx_engine_cq_config config = {.depth = (uint32_t)draw_log(&host->prng, 1, 64),
					      .cookie = index};

	*cq = (struct cq){.host = host,
			  .index = index,
			  .depth = config.depth,
			  .program = index % host->programs,
			  .pending = cq->pending};
	if (host->cores > 1)
		cq->core = (uint32_t)plx_prng_below(&host->core_prng, host->cores);
	while (cq->room < config.depth)
		cq->room = 2 * cq->room + 1;
	cq->arms = draw_percent(&host->prng, 60);
	cq->by_fd = cq->arms && draw_percent(&host->prng, 30);
	cq->delay_ns = draw_log(&host->prng, 10, draw_percent(&host->prng, 20) ? 2000000 : 20000);
	if (host->fleet->manifold)
		host_call(host);
	PLX_ASSERT(whole_cq_create_on(host->core[cq->core].engine,
				      host->program[cq->program].seat[cq->core], &config,
				      &cq->queue) == PLX_OK);
	if (cq->by_fd)
		PLX_ASSERT(plx_cq_fd(cq->queue) >= 0);
}

static void
destroy(struct cq *cq)
{
	sim_must(&cq->host->fleet->world, plx_engine_cq_destroy(cq->queue) == PLX_OK, "I7",
		 "a completion queue that nobody uses cannot be destroyed");
}

void
cq_destroy(struct cq *cq)
{
	struct world *world = &cq->host->fleet->world;
	struct plx_wc wc;

	sim_must(world, plx_engine_cq_poll(cq->queue, &wc, 1) == 0, "I1",
		 "a completion comes after everything has completed");
	destroy(cq);
}

/* Its program has died: what it has not looked at is lost. */
void
cq_bury(struct cq *cq)
{
	struct host *host = cq->host;

	host->reaped += engine_cq_unreaped(whole_cq_back(cq->queue));
	host_call(host);
	destroy(cq);
}

static void
look_after(struct cq *cq, uint64_t ns)
{
	struct world *world = &cq->host->fleet->world;

	if (cq->pending)
		return;
	cq->pending = true;
	heap_push(world, world->now + ns, SIM_EV_REAP, cq);
}

/* Entries that can be taken now. */
static uint64_t
waiting(const struct cq *cq, struct plx_engine_cq_view *view)
{
	plx_engine_cq_query(cq->queue, view);
	return view->produced - view->consumed;
}

/* As an application sees it: what waits behind the ring is not there yet. */
bool
cq_empty(const struct cq *cq)
{
	struct plx_engine_cq_view view;

	return waiting(cq, &view) == 0;
}

bool
cq_full(const struct cq *cq)
{
	struct plx_engine_cq_view view;

	return waiting(cq, &view) >= cq->room;
}

static bool
readable(struct cq *cq)
{
	struct pollfd fd = {.fd = plx_cq_fd(cq->queue), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* Returns: whether a sleeper was woken */
static bool
wakes(struct cq *cq)
{
	struct world *world = &cq->host->fleet->world;
	struct plx_engine_cq_view view;
	uint32_t fired = 0;

	if (!cq->asleep)
		return false;
	if (!cq->by_fd || readable(cq))
		fired = plx_cq_get_event(cq->queue);
	sim_must(world, (fired & ~cq->kinds) == 0, "W1", "CQ %u fires %x, and %x was armed",
		 cq->index, fired, cq->kinds);
	if (fired == 0)
		return false;
	waiting(cq, &view);
	cq->asleep = false;
	cq->told = view.produced;
	return true;
}

/* The engine has had a cycle: would this application notice? */
void
cq_look(struct cq *cq)
{
	struct world *world = &cq->host->fleet->world;
	struct plx_engine_cq_view view;

	if (wakes(cq)) {
		look_after(cq, plx_prng_below(&cq->host->prng, cq->delay_ns));
		return;
	}
	sim_must(world, !cq->asleep || waiting(cq, &view) == 0 || !(cq->kinds & PLX_CQ_NOTIFY_ANY),
		 "W1", "host %u: entries are in CQ %u, armed for any, and its sleeper is not woken",
		 cq->host->index, cq->index);
	/* Who waits for solicited ones alone looks, too, now and then. */
	if (waiting(cq, &view) > 0)
		look_after(cq,
			   plx_prng_below(&cq->host->prng, cq->delay_ns) * (cq->asleep ? 16 : 1));
}

static void
hand_out(struct cq *cq, const struct plx_wc *wc)
{
	struct fleet *fleet = cq->host->fleet;
	uint32_t id = (uint32_t)wc->context, life = (uint32_t)(wc->context >> 32);
	struct end *end;

	trace_as(&fleet->world, TRACE_COMPLETE, id, wc->wr_id,
		 wc->op | (uint32_t)(wc->flags & PLX_WC_RECV) << 8, wc->status, wc->bytes);
	cq->host->reaped++;
	sim_must(&fleet->world, id < 2 * fleet->connection_count && wc->status < PLX_WC_COUNT, "I1",
		 "a completion of no end: context %" PRIx64, wc->context);
	fleet->world.stats.status[wc->status]++;
	end = &fleet->connection[id / 2].end[id % 2];
	sim_must(&fleet->world, end->host == cq->host, "I1", "a completion of another host's");
	if (end->qp == NULL || end->connection->life != life) {
		/* Delivered before its queue pair was destroyed as it was, or a shared receive. */
		bool shared = wc->wr_id >> 62 == 3;

		/* An SRQ whose last receives all end here would never be filled again. */
		if (shared) {
			host_reclaim(cq->host, (uint32_t)wc->wr_id);
			host_receives(cq->host, &cq->host->prng);
		}
		sim_must(&fleet->world,
			 (fleet->abrupt || fleet->mortal || shared) &&
				 life <= end->connection->life,
			 "I1", "a completion of life %u, and end %u is in life %u", life, id,
			 end->connection->life);
		cq->host->stale++;
		return;
	}
	if (end->given_qpn != 0 && wc->qpn == end->given_qpn) {
		sim_must(&fleet->world, wc->flags & PLX_WC_RECV && wc->status == PLX_WC_FLUSHED,
			 "D2", "a request of end %u completes where it was given away", id);
		judge_receive(end, wc);
		return;
	}
	sim_must(&fleet->world, wc->qpn == end->qpn, "I1", "a completion names QP %06x, not %06x",
		 wc->qpn, end->qpn);
	sim_must(&fleet->world, (wc->flags & PLX_WC_RECV ? end->recv_cq : end->send_cq) == cq, "I1",
		 "a completion of end %u is in the wrong queue", id);
	if (wc->flags & PLX_WC_RECV)
		judge_receive(end, wc);
	else
		judge_send(end, wc);
}

/* An entry that should have woken a sleeper who waits for such ones? */
static void
check_urgent(struct cq *cq, const struct plx_wc *wc, uint64_t index)
{
	bool urgent = wc->flags & PLX_WC_SOLICITED || wc->status != PLX_WC_SUCCESS;

	sim_must(&cq->host->fleet->world,
		 !cq->asleep || !urgent || index < cq->told ||
			 !(cq->kinds & PLX_CQ_NOTIFY_SOLICITED),
		 "W1",
		 "host %u: CQ %u, armed for solicited entries, has one (the %" PRIu64
		 ".) and its sleeper was not woken after the %" PRIu64 ".",
		 cq->host->index, cq->index, index, cq->told);
}

/* Returns: how many were there */
static uint32_t
take(struct cq *cq)
{
	uint32_t most = (uint32_t)draw_log(&cq->host->prng, 1, 32), n;
	struct plx_engine_cq_view view;
	struct plx_wc wc[32];

	host_events(cq->host);
	if (wakes(cq))
		look_after(cq, plx_prng_below(&cq->host->prng, cq->delay_ns));
	waiting(cq, &view);
	n = plx_engine_cq_poll(cq->queue, wc, most);
	for (uint32_t i = 0; i < n; i++) {
		check_urgent(cq, &wc[i], view.consumed + i);
		hand_out(cq, &wc[i]);
	}
	return n;
}

static void
sleep_armed(struct cq *cq)
{
	struct world *world = &cq->host->fleet->world;
	struct plx_engine_cq_view view;
	uint32_t fired = 0;

	/* The engine may be faster than who is about to arm. */
	if (draw_percent(&cq->host->prng, 30))
		host_cycle(cq->host);
	cq->kinds = (uint32_t)draw_between(&cq->host->prng, 1, PLX_CQ_NOTIFY_ALL);
	if (draw_percent(&cq->host->prng, 60))
		cq->kinds |= PLX_CQ_NOTIFY_ANY;
	sim_must(world, plx_cq_arm(cq->queue, cq->kinds, &fired) == PLX_OK, "W1",
		 "CQ %u cannot be armed", cq->index);
	sim_must(world, (fired & ~cq->kinds) == 0, "W1", "CQ %u fires %x, and %x was armed",
		 cq->index, fired, cq->kinds);
	cq->asleep = fired == 0;
	if (fired != 0) {
		waiting(cq, &view);
		cq->told = view.produced;
		look_after(cq, 1 + plx_prng_below(&cq->host->prng, cq->delay_ns));
		return;
	}
	cq_look(cq);
}

void
cq_on_event(struct cq *cq)
{
	struct host *host = cq->host;
	struct plx_engine_cq_view view;
	bool empty = false;

	cq->pending = false;
	for (uint64_t turns = draw_log(&host->prng, 1, 64); turns > 0 && !empty; turns--)
		empty = take(cq) == 0;
	if (empty && cq->arms && !cq->asleep)
		sleep_armed(cq);
	/* Not found empty: an application that arms goes on until it is. */
	if (!cq->asleep && (cq->arms ? !empty : waiting(cq, &view) > 0))
		look_after(cq, 1 + plx_prng_below(&host->prng, cq->delay_ns));
	host_poll_by(host, host->fleet->world.now + plx_prng_below(&host->prng, host->gap_ns));
}

/* At the end: everything that is there, at once. */
void
cq_drain(struct cq *cq)
{
	while (take(cq) > 0)
		continue;
}
