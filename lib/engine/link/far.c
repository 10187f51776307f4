/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connectors whose queue pair is another engine's: messages between the two, and what each of them
 * does on receipt. A message that finds no room waits at its connector. Start with far_bind().
 */
#include "far.h"

enum {
	DUE_RTS = 1,          /* the first packet came: RTS, as if the RTU had come */
	DUE_FIRST_PACKET = 2, /* messages to engine 0 */
	DUE_FAILED = 4,
};

static struct engine_connector *
connector_of(struct plx_list *due_link)
{
	struct far_qp *far = plx_list_entry(due_link, struct far_qp, due_link);

	return plx_list_entry(far, struct engine_connector, far);
}

/* ---- on engine 0 ---- */

bool
far_holds_event(struct engine_connector *connector)
{
	struct plx_engine *engine = connector->subscriber.channel->engine;
	const struct engine_message message = {.kind = ENGINE_MESSAGE_TO_RTS,
					       .connector = connector};

	if (connector->far_engine == NULL || atomic_load(&connector->far.ready))
		return false;
	if (!connector->far_asked)
		connector->far_asked =
			engine_message_send(engine, connector->far_engine->config.index, &message);
	return true;
}

static bool
send_end(struct plx_engine *engine, struct engine_connector *connector)
{
	const struct engine_message message = {
		.kind = ENGINE_MESSAGE_END, .how = connector->far_how, .connector = connector};

	return engine_message_send(engine, connector->far_last, &message);
}

void
far_unbind(struct engine_connector *connector, enum far_end how)
{
	struct plx_engine *engine = connector->subscriber.channel->engine;

	connector->far_last = connector->far_engine->config.index;
	connector->far_engine = NULL;
	connector->far_how = how;
	if (send_end(engine, connector))
		return;
	plx_list_append(&engine->gsi->ends, &connector->far_link);
	engine->link_busy = true;
}

enum far_end
far_forget(struct engine_connector *connector)
{
	enum far_end how = FAR_KEEP;

	if (!plx_list_empty(&connector->far_link))
		how = connector->far_how;
	else if (connector->far_engine != NULL)
		how = FAR_FLUSH;
	plx_list_remove(&connector->far_link);
	plx_list_remove(&connector->grace_link);
	connector->far_engine = NULL;
	return how;
}

bool
far_send_ends(struct plx_engine *engine)
{
	struct plx_list *ends = &engine->gsi->ends, *node, *after;

	plx_list_for_each (node, after, ends)
		if (send_end(engine, plx_list_entry(node, struct engine_connector, far_link)))
			plx_list_remove(node);
	return !plx_list_empty(ends);
}

/* ---- on the engine of the queue pair ---- */

enum plx_status
far_bind(struct engine_connector *connector, struct engine_qp *qp)
{
	struct far_qp *far = &connector->far;

	if (far->qp != NULL)
		return PLX_STATE;
	far->engine = qp->engine;
	far->qp = qp;
	far->id.v = 0;
	far->due = 0;
	atomic_store(&far->ready, false);
	atomic_store(&far->failed, false);
	qp->connector = connector;
	return PLX_OK;
}

void
far_end_here(struct engine_connector *connector, enum far_end how)
{
	struct far_qp *far = &connector->far;
	struct engine_qp *qp = far->qp;

	plx_list_remove(&far->due_link);
	far->due = 0;
	far->qp = NULL;
	if (qp == NULL)
		return;
	qp->connector = NULL;
	/* A queue pair that never left INIT stays in it. */
	if (how == FAR_FLUSH && engine_qp_state(qp) != PLX_QP_INIT)
		(void)engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL);
}

enum plx_status
far_to_rtr(struct engine_connector *connector)
{
	struct far_qp *far = &connector->far;

	return engine_qp_modify(far->qp, PLX_QP_RTR, &far->rc, &far->path);
}

enum plx_status
far_to_rts(struct engine_connector *connector)
{
	struct far_qp *far = &connector->far;

	return engine_qp_modify(far->qp, PLX_QP_RTS, &far->rc, &far->path);
}

static void
schedule(struct far_qp *far, uint32_t due)
{

	far->due |= due;
	/* Without an id the other engine could not know what it is about: far_set_id(). */
	if (far->id.v == 0)
		return;
	if (plx_list_empty(&far->due_link))
		plx_list_append(&far->engine->member->due, &far->due_link);
	far->engine->link_busy = true;
}

void
far_set_id(struct engine_connector *connector, struct plx_cm_id id)
{
	struct far_qp *far = &connector->far;

	far->id = id;
	if (far->due != 0)
		schedule(far, 0);
}

void
far_on_first_packet(struct engine_qp *qp)
{
	schedule(&qp->connector->far, DUE_FIRST_PACKET | DUE_RTS);
}

void
far_on_failure(struct engine_qp *qp)
{
	atomic_store(&qp->connector->far.failed, true);
	schedule(&qp->connector->far, DUE_FAILED);
}

void
far_on_detach(struct engine_qp *qp)
{
	struct engine_connector *connector = qp->connector;

	far_on_failure(qp);
	connector->far.qp = NULL;
	qp->connector = NULL;
}

static bool
send_due(struct plx_engine *engine, struct far_qp *far, uint32_t due, uint32_t kind)
{
	const struct engine_message message = {.kind = kind, .id = far->id.v};

	if (!(far->due & due))
		return true;
	if (!engine_message_send(engine, 0, &message))
		return false;
	far->due &= ~due;
	return true;
}

uint32_t
far_serve(struct plx_engine *engine)
{
	struct plx_list *node, *after;
	uint32_t sent = 0;

	plx_list_for_each (node, after, &engine->member->due) {
		struct engine_connector *connector = connector_of(node);
		struct far_qp *far = &connector->far;

		if (far->due & DUE_RTS && far->qp != NULL && far->passive)
			(void)!far_to_rts(connector);
		far->due &= ~(uint32_t)DUE_RTS;
		if (!send_due(engine, far, DUE_FIRST_PACKET, ENGINE_MESSAGE_FIRST_PACKET) ||
		    !send_due(engine, far, DUE_FAILED, ENGINE_MESSAGE_FAILED))
			break;
		plx_list_remove(node);
		sent++;
	}
	engine->link_busy = !plx_list_empty(&engine->member->due);
	return sent;
}

/* ---- on both ---- */

/* The transition from RTR cannot be refused. If the queue pair has failed or is gone, DISCONNECTED
 * follows ESTABLISHED. */
static void
on_to_rts(struct engine_connector *connector)
{
	if (connector->far.qp != NULL)
		(void)!far_to_rts(connector);
	atomic_store(&connector->far.ready, true);
}

void
far_on_message(struct plx_engine *engine, const struct engine_message *message)
{
	const struct plx_cm_id id = {message->id};

	switch ((enum engine_message_kind)message->kind) {
	case ENGINE_MESSAGE_TO_RTS:
		on_to_rts(message->connector);
		break;
	case ENGINE_MESSAGE_END:
		far_end_here(message->connector, (enum far_end)message->how);
		break;
	/* STATE: the RTU arrived first; the connection has already ended. */
	case ENGINE_MESSAGE_FIRST_PACKET:
		(void)!plx_cm_comm_established(engine->gsi->cm, id, engine->now);
		engine->link_busy = true;
		break;
	case ENGINE_MESSAGE_FAILED:
		(void)!plx_cm_qp_failed(engine->gsi->cm, id, engine->now);
		engine->link_busy = true;
		break;
	case ENGINE_MESSAGE_NONE:
	case ENGINE_MESSAGE_RESOLVE:
		PLX_ASSERT(!"not a message of the link");
	}
}
