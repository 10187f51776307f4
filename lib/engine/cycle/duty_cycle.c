/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The duty cycle: the function that does all work of an engine, on one screen. It never blocks,
 * allocates, or takes a lock. Start with plx_engine_poll().
 */
#include <rte_rcu_qsbr.h>

#include "plx_engine_member.h"

void
plx_engine_set_online(struct plx_engine *engine, bool online)
{
	struct rte_rcu_qsbr *rcu = engine->config.rcu;

	if (rcu == NULL || engine->attached == online)
		return;
	engine->attached = online;
	if (online)
		rte_rcu_qsbr_thread_online(rcu, engine->config.index);
	else
		rte_rcu_qsbr_thread_offline(rcu, engine->config.index);
}

static uint32_t
run_timers(struct plx_engine *engine)
{
	uint32_t fired = 0;
	struct timer *timer;

	/* The limit defers timers that keep firing to the caller's next cycle. */
	while (fired < DOORBELLS_BURST &&
	       (timer = wheel_pop(&engine->wheel, engine->now)) != NULL) {
		fired++;
		if (timer == &engine->net_timer) {
			plx_net_on_tick(engine->config.net, engine->now);
			continue;
		}
		if (timer == &engine->link_timer) {
			engine->link->on_tick(engine);
			continue;
		}
		struct engine_qp *qp = plx_list_entry(timer, struct engine_qp, timer);

		if (plx_unlikely(qp->copies > 0))
			continue; /* set again when they are finished */
		/* In ERROR a post may have raced with the error: poll both rings again. */
		if (plx_unlikely(qp->sq.state >= PLX_QP_ERROR)) {
			engine_rq_fetch(&qp->own);
			engine_qp_fetch(qp);
		}
		plx_rc_on_tick(qp->rc, engine->now, &engine->actions);
		engine_execute(engine, qp);
		if (!PLX_MUTANT(TIMER_NOT_SET_AGAIN))
			engine_schedule(engine, qp);
	}
	if (fired > 0)
		plx_count(&engine->counters.ticks, fired);
	return fired;
}

/* Received packets may take a queue pair to RTS later in this cycle. The event of its first
 * message is not delivered before, because the program may respond to it. */
static inline bool
connects(const struct plx_engine *engine)
{
	return plx_unlikely(engine->link_busy);
}

/* After a pause a response may be queued behind other packets, here or at another engine, so timers
 * wait until the backlog is received. A peer that fills every burst delays them for no longer than
 * the grace period. */
static inline bool
timers_wait(struct plx_engine *engine, uint32_t received)
{
	if (plx_likely(engine->grace_bursts == 0))
		return false;
	if (received == PLX_PORT_BURST)
		engine->grace_bursts -= !PLX_MUTANT(GRACE_UNBOUNDED);
	else if (engine->member == NULL || engine_group_is_drained(engine))
		engine->grace_bursts = 0;
	if (engine->now >= engine->grace_until && !PLX_MUTANT(GRACE_UNBOUNDED))
		engine->grace_bursts = 0;
	return engine->grace_bursts > 0;
}

uint32_t
plx_engine_poll(struct plx_engine *engine, uint64_t now)
{
	uint32_t done = 0, received;

	engine_set_time(engine, now);
	engine_hold_time(engine);
	done += command_serve(engine);
	received = engine_receive(engine);
	done += received;
	engine_answer(engine, received);
	if (plx_unlikely(!plx_list_empty(&engine->copying))) {
		engine_ring_copiers(engine);
		done += engine_serve_copies(engine);
	}
	if (engine->recvs.count > 0 && !engine->config.inline_mode && !connects(engine)) {
		/* A thread on another core waits for these; their ACKs are sent first. */
		engine_seal(engine);
		engine_flush(engine);
		engine_publish(engine);
	}
	if (!timers_wait(engine, received))
		done += run_timers(engine);
	if (!engine->config.inline_mode) {
		done += engine_serve_recent(engine);
		done += engine_serve_doorbells(engine);
	}
	done += engine_send_ready(engine);
	engine_seal(engine);
	engine_transmit_net(engine);
	if (engine->link_busy || engine->now >= engine->link_at)
		done += engine->link->serve(engine);
	engine_flush(engine);
	engine_publish(engine);
	if (plx_unlikely(!plx_list_empty(&engine->copying)))
		engine_ring_copiers(engine);
	if (engine->attached)
		rte_rcu_qsbr_quiescent(engine->config.rcu, engine->config.index);
	plx_count(&engine->counters.cycles, 1);
	if (done > 0)
		plx_count(&engine->counters.busy_cycles, 1);
	return done;
}

void
plx_engine_send(struct plx_engine *engine, uint64_t now)
{
	engine_set_time(engine, now);
	engine_send_ready(engine);
	engine_seal(engine);
	engine_flush(engine);
}
