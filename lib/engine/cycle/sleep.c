/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How an engine says that its thread sleeps, to all who may have work for it (decision 69):
 *
 *   who                           says that it has work    then looks at
 *   posting threads of a seat     doorbell, summary        the seat's `asleep`
 *   engines of the same group     `news`                   the member's `asleep`
 *   callers of commands, others   anything                 the engine's `asleep`
 *
 * The engine stores the last column, then looks at the middle one. The first two rows are
 * sequentially consistent on both sides, so one of the two sees the other. In the third nobody only
 * loads or stores the word: all exchange it. If the engine's exchange comes first, the other side
 * finds that it sleeps; if not, what the other side did before happens before the poll that
 * follows. Each sleep has a number, so that a thread that was preempted after it woke the engine
 * does not clear the word of the next sleep. Rings that are watched are watched no longer: their
 * posters ring while the engine sleeps, and pay nothing for that otherwise. Start with
 * plx_engine_fall_asleep().
 */
#include "plx_engine_member.h"

int
plx_engine_bell(struct plx_engine *engine)
{
	return engine_fd(&engine->bell);
}

int
plx_engine_rx_fd(const struct plx_engine *engine)
{
	struct plx_port *port = engine->port;

	return port->rx_fd != NULL ? port->rx_fd(port) : -1;
}

static void
set_asleep(struct plx_engine *engine, uint32_t asleep)
{
	struct plx_list *node, *after;

	/* An exchange even to clear it: a store would end the chain of exchanges. */
	(void)atomic_exchange(&engine->asleep, asleep);
	if (engine->member != NULL)
		atomic_store(&engine->member->asleep, asleep);
	plx_list_for_each (node, after, &engine->seats)
		atomic_store(&plx_list_entry(node, struct engine_seat, link)->front->asleep,
			     asleep);
}

void
plx_engine_fall_asleep(struct plx_engine *engine)
{
	if (++engine->sleeps == 0)
		engine->sleeps = 1;
	engine->is_drowsy = true;
	set_asleep(engine, engine->sleeps);
	engine_unwatch_all(engine);
	if (engine->port->rx_arm != NULL)
		engine->port->rx_arm(engine->port, true);
}

bool
plx_engine_may_sleep(struct plx_engine *engine, uint64_t *until)
{
	*until = plx_engine_wake_ns(engine);
	return *until != 0 && !engine_is_rung(engine) && plx_ring_empty(engine->command_ring) &&
	       (engine->member == NULL || atomic_load(&engine->member->news) == 0);
}

void
plx_engine_wake_up(struct plx_engine *engine)
{
	if (!engine->is_drowsy)
		return;
	engine->is_drowsy = false;
	if (engine->port->rx_arm != NULL)
		engine->port->rx_arm(engine->port, false);
	set_asleep(engine, 0);
}

void
plx_engine_rouse(struct plx_engine *engine)
{
	unsigned asleep = atomic_fetch_or(&engine->asleep, 0);

	if (asleep != 0)
		engine_ring_bell(&engine->asleep, asleep, plx_engine_bell(engine));
}

void
engine_group_rouse(struct plx_engine *engine)
{
	const struct plx_engine_group *group = engine->member->group;

	for (uint32_t i = 0; i < group->config.engines; i++)
		if (group->member[i].engine != NULL && group->member[i].engine != engine)
			plx_engine_rouse(group->member[i].engine);
}
