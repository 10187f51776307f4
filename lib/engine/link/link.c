/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The link: the table by which the duty cycle calls connections, the GSI and address handles.
 * It decides nothing itself. Start with plx_link.
 */
#include "ah.h"
#include "far.h"

static bool
open_link(struct plx_engine *engine)
{
	if (engine->config.cm == NULL)
		return true;
	engine->gsi = gsi_create(engine->config.cm, plx_numbers_psn(engine->numbers),
				 engine->port->caps.socket);
	return engine->gsi != NULL;
}

static void
close_link(struct plx_engine *engine)
{
	ah_table_free(engine);
	gsi_destroy(engine->gsi);
}

static void
on_neighbour(struct plx_engine *engine)
{
	if (engine->gsi != NULL && engine->gsi->waiting_count > 0)
		engine->link_at = engine->now;
	if (engine->ah_table != NULL && !plx_list_empty(&engine->ah_table->resolving))
		engine->reroute_at = engine->now;
}

static uint32_t
serve(struct plx_engine *engine)
{
	return engine->gsi != NULL ? gsi_serve(engine) : far_serve(engine);
}

const struct plx_link_ops plx_link = {
	.open = open_link,
	.close = close_link,
	.receive = gsi_receive,
	.on_tick = gsi_on_tick,
	.serve = serve,
	.on_first_packet = connector_on_first_packet,
	.on_failure = connector_on_failure,
	.on_detach = connector_on_detach,
	.on_move = connector_on_move,
	.on_message = far_on_message,
	.ensure_ahs = ah_table_ensure,
	.resolve_ah = ah_resolve,
	.enqueue = ah_enqueue,
	.on_neighbour = on_neighbour,
	.on_reroute = ah_table_resolve,
	.reap_ahs = ah_table_reap,
};
