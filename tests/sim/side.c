/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what follows each call on a QP: checking it, calling it again when it wants to be called,
 * and what the application does. It never judges packets; limits.c has the limits. Start with
 * side_settle().
 */
#include "sim.h"

static uint64_t
soon(struct side *side)
{
	struct world *world = side->pair->world;
	uint64_t delay = 0;

	if (plx_prng_next(&side->prng) & 1)
		delay = plx_prng_below(&side->prng, world->config.tx_delay_ns + 1);
	return world->now + delay;
}

/* Call the QP when it wants to be called. */
void
side_schedule(struct side *side)
{
	struct world *world = side->pair->world;
	uint64_t wake = plx_rc_wake_ns(ep_qp_core(side->qp));
	uint64_t at;

	if (wake == PLX_NEVER)
		return;
	if (wake == 0) {
		if (!side->tx_pending) {
			side->tx_pending = true;
			heap_push(world, soon(side), SIM_EV_TX, side);
		}
		return;
	}
	at = clock_global(side->station, wake);
	if (at < side->wake_at) {
		at += plx_prng_below(&side->prng, world->config.tick_late_ns + 1);
		side->wake_at = at;
		heap_push(world, at, SIM_EV_WAKE, side);
	}
}

/* After each call: the invariants, then whatever follows from it. */
void
side_settle(struct side *side)
{
	struct world *world = side->pair->world;
	struct plx_rc_view view;

	revoke_now(world);
	plx_rc_query(ep_qp_core(side->qp), &view);
	limits_check(side, &view);
	if (view.state == PLX_QP_ERROR && side->state == SIDE_UP) {
		side->state = SIDE_ERROR;
		pair_close_later(side->pair);
	}
	if (side->state == SIDE_ERROR && !side->pair->last)
		post_after_death(side);
	if (side->waiting_room && view.sq_posted - view.sq_consumed < side->caps.sq_depth) {
		side->waiting_room = false;
		if (side->state == SIDE_UP && workload_left(side))
			workload_wake(side, world->now + 1 +
						    plx_prng_below(&side->prng,
								   world->config.tx_delay_ns));
	}
	if (side->state == SIDE_UP)
		receiver_refill_later(side->receiver);
	side_schedule(side);
}

/* One call of transmit. A QP that wants it at once must then do something. */
void
side_transmit(struct side *side)
{
	struct world *world = side->pair->world;
	uint32_t budget = world->config.simple ? 64 : (uint32_t)draw_log(&side->prng, 1, 32);
	uint64_t before = world->actions;
	bool wanted = plx_rc_wake_ns(ep_qp_core(side->qp)) == 0;

	ep_tx(side->qp, clock_local(side->station), budget);
	if (wanted && world->actions == before && plx_rc_wake_ns(ep_qp_core(side->qp)) == 0)
		sim_fail(world, SIM_STUCK, "I10", WRONG_OTHER,
			 "side %u wants to transmit at once, and does nothing", side->id);
	side_settle(side);
}

static void
tick(struct side *side)
{
	recovery_ticked(side);
	ep_tick(side->qp, clock_local(side->station));
}

/* An engine may tick when nothing is due, and transmit with a budget of 0. */
static void
odd_calls(struct side *side)
{
	tick(side);
	side_settle(side);
	ep_tx(side->qp, clock_local(side->station), 0);
	side_settle(side);
}

void
side_on_tx(struct side *side)
{
	side->tx_pending = false;
	if (side->qp == NULL || side->state == SIDE_DOWN)
		return;
	if (draw_percent(&side->prng, 2))
		odd_calls(side);
	side_transmit(side);
}

void
side_on_wake(struct side *side)
{
	struct world *world = side->pair->world;
	uint64_t local, wake;

	if (side->wake_at != world->now || world->options->canary == SIM_CANARY_STUCK)
		return; /* an earlier one came first */
	PLX_ASSERT(world->options->canary != SIM_CANARY_CRASH);
	side->wake_at = PLX_NEVER;
	if (side->qp == NULL || side->state == SIDE_DOWN)
		return;
	local = clock_local(side->station);
	wake = plx_rc_wake_ns(ep_qp_core(side->qp));
	if (wake != 0 && wake <= local) {
		trace_add(world, TRACE_TICK, side, local, wake, 0, 0);
		tick(side);
		wake = plx_rc_wake_ns(ep_qp_core(side->qp));
		sim_must(world, wake == 0 || wake > local, "I13",
			 "a deadline that has passed stays after its tick");
		side_settle(side);
		return;
	}
	side_schedule(side);
}

/* The receiver of a packet replies now or later, perhaps after a request of its own. */
void
side_after_packet(struct side *side, bool received)
{
	const struct sim_config *config = &side->pair->world->config;

	side_settle(side);
	if (received && side->state == SIDE_UP && draw_percent(&side->prng, config->reply_percent))
		workload_post(side);
	if (side->qp != NULL && draw_percent(&side->prng, config->eager_percent))
		side_transmit(side); /* unless the post has led to a crash */
}

/* Counters into statistics, once for each life. */
void
side_collect(struct side *side)
{
	struct sim_stats *stats = &side->pair->world->stats;
	const struct plx_rc_counters *is, *was = &side->counted;

	if (side->qp == NULL)
		return;
	is = plx_rc_counters(ep_qp_core(side->qp));
	stats->timeouts += is->timeouts - was->timeouts;
	stats->probes += is->probes - was->probes;
	stats->again += is->verdict[PLX_VERDICT_LOST_AGAIN] - was->verdict[PLX_VERDICT_LOST_AGAIN];
	stats->rnrs += is->rnrs_sent - was->rnrs_sent;
	stats->naks += is->naks_sent - was->naks_sent;
	stats->resends += is->requests_resent - was->requests_resent;
	stats->marks += is->ce_marks - was->ce_marks;
	stats->cnps += is->cnps_sent - was->cnps_sent;
	stats->wraps += (side->psn_una >> 24) - (side->psn_first >> 24);
	side->counted = *is;
	side->psn_first = side->psn_una;
}
