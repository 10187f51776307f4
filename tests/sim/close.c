/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the end of a connection: its QPs go to ERROR or RESET, everything posted completes first,
 * and nothing is left over. It never connects anything. Start with pair_close().
 */
#include <stdlib.h>

#include "sim.h"

/* One end has failed; the other learns of it out of band, sooner or later. */
void
pair_close_later(struct pair *pair)
{
	struct world *world = pair->world;
	uint64_t wait;

	if (pair->closing)
		return;
	pair->closing = true;
	if (draw_percent(&pair->prng, 50)) {
		wait = draw_log(&pair->prng, 1, 100000);
	} else {
		uint64_t timeout = pair->side[0].attr.ack_timeout_ns;

		if (pair->side[1].attr.ack_timeout_ns > timeout)
			timeout = pair->side[1].attr.ack_timeout_ns;
		wait = timeout * draw_between(&pair->prng, 1, 10);
	}
	heap_push(world, world->now + 1 + wait, SIM_EV_CLOSE, pair);
}

/* In ERROR every entry completes, a few in each call. */
static void
flush(struct side *side)
{
	struct world *world = side->pair->world;
	uint32_t calls = 0, most = side->caps.sq_depth + side->receiver->depth + 8;
	struct plx_rc_view view;

	side_settle(side);
	plx_rc_query(ep_qp_core(side->qp), &view);
	while (!view.flushed || side->flushed_events == 0) {
		uint32_t budget = (uint32_t)plx_prng_below(&side->prng, 3);

		sim_must(world, calls++ < most, "I10",
			 "a QP in error is not flushed after %u calls", most);
		ep_tx(side->qp, clock_local(side->station), budget);
		side_settle(side);
		plx_rc_query(ep_qp_core(side->qp), &view);
	}
	side_flushed(side);
}

/* RESET forgets everything without a completion, and stops the timers. */
static void
reset(struct side *side)
{
	struct world *world = side->pair->world;
	struct plx_rc *qp = ep_qp_core(side->qp);
	struct plx_rc_view view;

	side_collect(side);
	PLX_ASSERT(plx_rc_modify(qp, PLX_QP_RESET, NULL) == PLX_OK);
	plx_rc_query(qp, &view);
	sim_must(world, view.state == PLX_QP_RESET, "I6", "state %s after RESET",
		 plx_qp_state_name(view.state));
	sim_must(world, plx_rc_wake_ns(qp) == PLX_NEVER, "I6", "a QP in RESET wants to be woken");
	sim_must(world, view.ack_deadline_ns == PLX_NEVER, "I6", "a QP in RESET has a timer");
	sim_must(world, view.sq_posted == view.sq_consumed && !view.rq_open, "I6",
		 "a QP in RESET holds entries");
	if (side->own_receiver != NULL)
		receiver_forget(side->own_receiver);
	else if (side->open != NULL)
		receiver_return(side->receiver, side->open);
	side->open = NULL;
}

static void
end_side(struct side *side)
{
	struct world *world = side->pair->world;
	bool at_once = side->state == SIDE_UP && draw_percent(&side->prng, 30);

	trace_add(world, TRACE_CLOSE, side, side->state, at_once, side->op_posted - side->op_done,
		  0);
	if (side->state == SIDE_UP && !at_once)
		side_kill(side);
	if (side->state == SIDE_ERROR)
		flush(side);
	if (at_once || draw_percent(&side->prng, 40))
		reset(side);
	else
		side_collect(side);
	if (at_once) {
		world->done += side->op_posted - side->op_done;
		side->op_done = side->op_posted;
	}
}

/* The QP disappears without notice, as in a crash. */
void
side_vanish(struct side *side)
{
	struct world *world = side->pair->world;

	if (side->qp == NULL)
		return;
	side_collect(side);
	ep_qp_destroy(side->qp);
	side->qp = NULL;
	if (side->own_receiver != NULL)
		receiver_destroy(side->own_receiver);
	else if (side->open != NULL)
		receiver_return(side->receiver, side->open);
	side->own_receiver = NULL;
	side->open = NULL;
	free(side->cc);
	side->cc = NULL;
	side->state = SIDE_DOWN;
	world->done += side->op_posted - side->op_done;
	side->op_done = side->op_posted;
}

/* Tear both ends down. A QP keeps its number for the next connection only if no frame is in flight.
 */
void
pair_close(struct pair *pair, bool last)
{
	struct world *world = pair->world;
	struct plx_rc_view view;

	if (!pair->alive)
		return;
	pair->alive = false;
	for (int s = 0; s < 2; s++) {
		if (pair->side[s].qp != NULL)
			end_side(&pair->side[s]);
	}
	for (int s = 0; s < 2; s++) {
		struct side *side = &pair->side[s];
		bool keep = !last && side->qp != NULL && pair->in_flight == 0 &&
			    draw_percent(&pair->prng, 50);

		if (keep) {
			plx_rc_query(ep_qp_core(side->qp), &view);
			keep = view.state == PLX_QP_RESET;
		}
		if (!keep)
			side_vanish(side);
		side->state = SIDE_DOWN;
		drop_offers(side);
	}
	if (!last)
		heap_push(world, world->now + 1 + draw_log(&pair->prng, 1, 20000), SIM_EV_BIRTH,
			  pair);
}
