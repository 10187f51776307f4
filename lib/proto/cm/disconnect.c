/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ways out: reject, disconnect, abandon, and what MRA, REJ, DREQ and DREP do.
 * It never ends a connection for a message that does not name both its ids, from where the peer is.
 * Start with plx_cm_disconnect() and cm_on_dreq().
 */
#include "connection.h"

/* ---- our program ---------------------------------------------------------------------------- */

enum plx_status
plx_cm_reject(struct plx_cm *cm, struct plx_cm_id id, const uint8_t *private_data,
	      uint32_t private_bytes, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);
	enum plx_cm_about about;

	if (!c || (c->state != CM_REPLIED && (c->state != CM_REQUESTED || !c->told)))
		return PLX_STATE;
	if (private_bytes > PLX_CM_PRIVATE_REJ)
		return PLX_TOO_LONG;
	if (private_bytes && !private_data)
		return PLX_INVALID;
	about = c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ;
	c->tells = 0;
	plx_list_remove(&c->event);
	cm_private_keep(c, private_data, private_bytes);
	c->reject_bytes = (uint8_t)private_bytes;
	cm_end(cm, c, PLX_CM_EVENT_NOTHING, 0, now);
	cm_reject(cm, c, about, PLX_CM_REASON_CONSUMER);
	return PLX_OK;
}

/* Accepted, and the peer cannot know it yet: as if it had been rejected. */
static bool
unsaid(const struct cm_connection *c)
{
	return c->state == CM_ACCEPTED && !(c->sent & 1u << CM_SEND_REP);
}

static void
take_back(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind, uint64_t now)
{
	c->private_bytes = 0;
	cm_end(cm, c, kind, 0, now);
	cm_reject(cm, c, PLX_CM_ABOUT_REQ, PLX_CM_REASON_CONSUMER);
}

enum plx_status
plx_cm_disconnect(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || (c->state != CM_LIVING && c->state != CM_ACCEPTED))
		return PLX_STATE;
	plx_count(&cm->counters.disconnected, 1);
	if (unsaid(c))
		take_back(cm, c, PLX_CM_EVENT_CLOSED, now);
	else
		cm_leave(cm, c, false);
	return PLX_OK;
}

enum plx_status
plx_cm_lost(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c)
		return PLX_STATE;
	if (c->state == CM_REPLIED) {
		cm_end(cm, c, PLX_CM_EVENT_ABORTED, 0, now);
		cm_reject(cm, c, PLX_CM_ABOUT_REP, PLX_CM_REASON_CONSUMER);
	} else if (c->state == CM_ASKING) {
		cm_give_up(cm, c, PLX_CM_EVENT_ABORTED, now);
	} else if (unsaid(c)) {
		take_back(cm, c, PLX_CM_EVENT_DISCONNECTED, now);
	} else if (c->state == CM_LIVING || c->state == CM_ACCEPTED) {
		cm_break(cm, c);
	} else {
		return PLX_STATE;
	}
	return PLX_OK;
}

enum plx_status
plx_cm_set_context(struct plx_cm *cm, struct plx_cm_id id, uint64_t context)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || c->state == CM_ENDED || c->orphan)
		return PLX_STATE;
	c->context = context;
	return PLX_OK;
}

void
plx_cm_abandon(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_connection *c = cm_find(cm, id.v);

	if (!c || c->remains)
		return;
	c->tells = 0;
	plx_list_remove(&c->event);
	c->orphan = true;
	if (c->state == CM_ENDED) {
		cm_retire(cm, c);
	} else if (c->state == CM_ASKING || c->state == CM_SEEKING) {
		cm_give_up(cm, c, PLX_CM_EVENT_NOTHING, now);
	} else if (c->state == CM_REPLIED || c->state == CM_REQUESTED) {
		cm_end(cm, c, PLX_CM_EVENT_NOTHING, 0, now);
		cm_reject(cm, c, c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ,
			  PLX_CM_REASON_CONSUMER);
	} else if (unsaid(c)) {
		take_back(cm, c, PLX_CM_EVENT_NOTHING, now);
	} else if (c->state == CM_LIVING || c->state == CM_ACCEPTED) {
		cm_leave(cm, c, true);
	}
}

/* ---- MRA ------------------------------------------------------------------------------------ */

static uint8_t
larger(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* One for each try, so that nobody keeps a connection half open for ever. */
enum plx_cm_verdict
cm_on_mra(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	const struct plx_cm_mra *mra = &msg->mra;
	struct cm_connection *c = cm_named(cm, route, mra->remote_comm_id);
	bool of_req = c && c->state == CM_ASKING && mra->about == PLX_CM_ABOUT_REQ;
	bool of_rep = c && c->state == CM_ACCEPTED && mra->about == PLX_CM_ABOUT_REP;

	if (!c || (c->state != CM_ASKING && c->remote_id != mra->local_comm_id))
		return PLX_CM_UNKNOWN;
	if ((!of_req && !of_rep) || !c->tries)
		return PLX_CM_UNEXPECTED;
	if (c->asked_for_time)
		return PLX_CM_REPEATED;
	c->asked_for_time = true;
	if (of_rep)
		plx_list_remove(&c->group); /* silent no more */
	cm_send_nothing(c);
	cm_timer_set(cm, c, cm_timer_response(larger(mra->service_timeout, c->response)), now);
	return PLX_CM_TAKEN;
}

/* ---- REJ ------------------------------------------------------------------------------------ */

/* It may not know our id: its own and its GUID are less than what ends a connection that lives. */
static bool
may_not_know_us(const struct cm_connection *c)
{
	return c->state == CM_REQUESTED || c->state == CM_ACCEPTED || c->state == CM_ENDED ||
	       (c->state == CM_LEAVING && c->unconfirmed) || PLX_MUTANT(CM_STRANGER_ENDS_IT);
}

/* Who gave up its REQ does not know our id, and names itself by its GUID instead. IBTA 12.6.7.2. */
static struct cm_connection *
rejected(const struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_rej *rej)
{
	struct cm_connection *c;
	uint64_t ca_guid = 0;

	if (rej->remote_comm_id) {
		c = cm_named(cm, route, rej->remote_comm_id);
		return c && (c->state == CM_ASKING || c->remote_id == rej->local_comm_id) ? c
											  : NULL;
	}
	if (rej->reason != PLX_CM_REASON_TIMEOUT || rej->info_length < sizeof ca_guid)
		return NULL;
	for (size_t i = 0; i < sizeof ca_guid; i++)
		ca_guid = ca_guid << 8 | rej->info[i];
	c = cm_find_request(cm, &route->remote, ca_guid, rej->local_comm_id);
	return c && may_not_know_us(c) && cm_same_ip(&c->peer.local, &route->local) ? c : NULL;
}

/* What the peer has to say goes with the end, unless what it said before still waits. */
static void
keep_words(struct cm_connection *c, const struct plx_cm_rej *rej)
{
	if (c->tells & 1u << CM_TELL_REPLIED)
		return;
	cm_private_keep(c, rej->private_data, PLX_CM_PRIVATE_REJ);
	c->private_of = CM_TELL_END;
}

enum plx_cm_verdict
cm_on_rej(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	static const uint8_t end_kinds[CM_STATES] = {
		[CM_ASKING] = PLX_CM_EVENT_REJECTED,     [CM_REPLIED] = PLX_CM_EVENT_ABORTED,
		[CM_REQUESTED] = PLX_CM_EVENT_ABORTED,   [CM_ACCEPTED] = PLX_CM_EVENT_ABORTED,
		[CM_LIVING] = PLX_CM_EVENT_DISCONNECTED, [CM_LEAVING] = PLX_CM_EVENT_CLOSED,
	};
	const struct plx_cm_rej *rej = &msg->rej;
	struct cm_connection *c = rejected(cm, route, rej);
	enum plx_cm_event_kind kind;

	if (!c)
		return PLX_CM_UNKNOWN;
	if (c->state == CM_ENDED)
		return PLX_CM_REPEATED;
	if (c->state == CM_SEEKING)
		return PLX_CM_UNEXPECTED;
	kind = (enum plx_cm_event_kind)end_kinds[c->state];
	if (kind == PLX_CM_EVENT_DISCONNECTED)
		plx_count(&cm->counters.disconnected, 1);
	else
		keep_words(c, rej);
	cm_end(cm, c, kind, kind == PLX_CM_EVENT_CLOSED ? 0 : rej->reason, now);
	return PLX_CM_TAKEN;
}

/* ---- DREQ, DREP ------------------------------------------------------------------------------ */

/* Who asks to be let go and is not known is let go. */
static enum plx_cm_verdict
answer_drep(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *to,
	    uint64_t now)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_DREP, .transaction_id = to->transaction_id};

	msg.drep.local_comm_id = to->dreq.remote_comm_id;
	msg.drep.remote_comm_id = to->dreq.local_comm_id;
	cm_answer(cm, route, &msg, now);
	return PLX_CM_UNKNOWN;
}

enum plx_cm_verdict
cm_on_dreq(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	   uint64_t now)
{
	static const uint8_t end_kinds[CM_STATES] = {
		[CM_REPLIED] = PLX_CM_EVENT_ABORTED,
		[CM_ACCEPTED] = PLX_CM_EVENT_DISCONNECTED,
		[CM_LIVING] = PLX_CM_EVENT_DISCONNECTED,
		[CM_LEAVING] = PLX_CM_EVENT_CLOSED,
	};
	const struct plx_cm_dreq *dreq = &msg->dreq;
	struct cm_connection *c = cm_find(cm, dreq->remote_comm_id);
	bool ended = c && c->state == CM_ENDED;

	if (!c)
		return answer_drep(cm, route, msg, now);
	if (!cm_named(cm, route, c->id) || c->remote_id != dreq->local_comm_id)
		return PLX_CM_UNKNOWN;
	if (!ended && end_kinds[c->state] == PLX_CM_EVENT_NOTHING)
		return PLX_CM_UNEXPECTED;
	/* Also what a peer that only asks whether we know it sends: cm_forgotten(). */
	if (dreq->remote_qpn != c->own.qpn)
		return PLX_CM_INVALID;
	c->dreq_tid = msg->transaction_id;
	if (!ended) {
		enum plx_cm_event_kind kind = (enum plx_cm_event_kind)end_kinds[c->state];

		/* Its RTU was lost. */
		if (c->state == CM_ACCEPTED) {
			cm_establish(cm, c);
			cm_tell(cm, c, CM_TELL_ESTABLISHED);
		}
		if (kind == PLX_CM_EVENT_DISCONNECTED)
			plx_count(&cm->counters.disconnected, 1);
		cm_end(cm, c, kind, 0, now);
	}
	cm_send(cm, c, CM_SEND_DREP);
	return ended ? PLX_CM_REPEATED : PLX_CM_TAKEN;
}

enum plx_cm_verdict
cm_on_drep(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	   uint64_t now)
{
	struct cm_connection *c = cm_named(cm, route, msg->drep.remote_comm_id);

	if (!c || c->remote_id != msg->drep.local_comm_id)
		return PLX_CM_UNKNOWN;
	if (c->state == CM_ENDED)
		return PLX_CM_REPEATED;
	if ((c->state != CM_LEAVING && c->state != CM_LIVING) || !(c->sent & 1u << CM_SEND_DREQ))
		return PLX_CM_UNEXPECTED;
	if (c->state == CM_LIVING) {
		/* It was asked whether it knows the connection, and does not: cm_forgotten(). */
		plx_count(&cm->counters.forgotten, 1);
		plx_count(&cm->counters.disconnected, 1);
		cm_end(cm, c, PLX_CM_EVENT_DISCONNECTED, 0, now);
	} else {
		cm_end(cm, c, PLX_CM_EVENT_CLOSED, 0, now);
	}
	return PLX_CM_TAKEN;
}
