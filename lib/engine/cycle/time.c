/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine's own time: it advances while the engine is polled, and stops when it is not. It
 * drives all timers, so that an engine does not mistake its own absence for silence of its peers
 * (decision 25). It never runs backwards, whatever the caller's clock does.
 * Start with engine_jump(), which engine_set_time() calls for anything but a usual cycle.
 */
#include "plx_engine_member.h"

static void
remember_stall(struct plx_engine *engine, uint64_t ns)
{
	struct stalls *stalls = &engine->stalls;

	if (engine->now - stalls->since > STALLS_SPAN_NS) {
		bool old = engine->now - stalls->since > 2 * STALLS_SPAN_NS;

		stalls->before = old ? 0 : stalls->longest;
		stalls->longest = 0;
		stalls->since = engine->now;
	}
	if (stalls->longest < ns)
		stalls->longest = ns;
}

uint64_t
engine_stalled_lately(const struct plx_engine *engine)
{
	const struct stalls *stalls = &engine->stalls;
	uint64_t age = engine->now - stalls->since;

	if (age > 2 * STALLS_SPAN_NS)
		return 0;
	return age <= STALLS_SPAN_NS && stalls->before > stalls->longest ? stalls->before
									 : stalls->longest;
}

/*
 * The clock has stepped back: it is that of another core, or of another machine after a migration.
 * Our time does not advance in this cycle. A small step is waited out, so that a thread moving
 * between two cores does not gain their difference each time; after a large step the new time is
 * accepted.
 */
static uint64_t
step_back(struct plx_engine *engine, uint64_t now)
{
	plx_count(&engine->counters.clock_back, 1);
	if (engine->clock - now > LATE_NS) {
		engine->clock = now;
		engine->asked = 0;
	}
	return 0;
}

/*
 * The caller's clock went back, or forward by more than a usual cycle takes. A pause that the
 * engine has permitted (plx_engine_wake_ns()) is not a stall; of any other pause LATE_NS count, so
 * that timers work even in an engine that is polled very rarely.
 * Returns: [ns] the time that has passed for the engine
 */
PLX_COLD uint64_t
engine_jump(struct plx_engine *engine, uint64_t now)
{
	uint64_t passed = now - engine->clock, due = engine->clock, late;

	if (engine->clock == 0) {
		engine->clock = now;
		return now;
	}
	if (now < engine->clock)
		return step_back(engine, now);
	/* A grace period in progress is not extended: timers run between any two. */
	if (engine->grace_bursts == 0) {
		engine->grace_bursts = GRACE_BURSTS;
		engine->grace_since = now;
	}
	if (due < engine->asked)
		due = plx_time_min(engine->asked, now);
	late = now - due;
	engine->clock = now;
	engine->asked = 0; /* it was for this pause */
	if (late > LATE_NS) {
		plx_count(&engine->counters.stalls, 1);
		plx_count(&engine->counters.stalled_ns, late);
		remember_stall(engine, late);
		passed -= PLX_MUTANT(ABSENCE_CHARGED) ? 0 : late - LATE_NS;
	}
	if (engine->grace_bursts == GRACE_BURSTS)
		engine->grace_until = engine->now + passed + GRACE_NS;
	return passed;
}

uint64_t
plx_engine_wake_ns(struct plx_engine *engine)
{
	const struct plx_net *net = engine->config.net;
	uint64_t wake;

	engine->asked = 0;
	if (engine->ready_count > 0 || engine->hold.qp != NULL || engine->tx_count > 0 ||
	    engine->loop_count > 0 || !plx_list_empty(&engine->queues.spilled) ||
	    !plx_list_empty(&engine->queues.eventful) || !plx_list_empty(&engine->queues.broken) ||
	    !plx_list_empty(&engine->queues.broken_rqs) || !plx_list_empty(&engine->copying) ||
	    engine->sends.count + engine->recvs.count > 0 || engine->link_busy ||
	    (engine_has_net(engine) && plx_net_wake_ns(net) == 0) ||
	    (engine->member != NULL && engine_member_has_news(engine->member)))
		return 0;
	wake = plx_time_min(engine->link_at, wheel_wake_ns(&engine->wheel));
	wake = plx_time_min(wake, engine->reroute_at);
	if (wake != PLX_NEVER)
		wake = engine->clock + (wake > engine->now ? wake - engine->now : 0);
	engine->asked = wake;
	return wake;
}
