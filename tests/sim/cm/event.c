/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what programs are told: each event against what both programs have done, each end against a
 * cause. It never asks a manager for anything.
 * Start with event_told().
 */
#include "fabric.h"

#define WORLD(office) (&(office)->exchange->world)

/* Nothing goes wrong, and nobody does anything unusual: every end must have a cause. */
static bool
strict(const struct exchange *exchange)
{
	return exchange->gentle || exchange->fair;
}

/* Is the other end's program still on it, and does it want to be? */
static bool
partner_stays(const struct call *call)
{
	const struct call *other = call_partner(call);

	return other != NULL && other->state != CALL_DREQ_SENT && other->state != CALL_QP_FAILED &&
	       !other->doomed;
}

/* ---- somebody asks -------------------------------------------------------------------------- */

static void
check_asked(struct office *office, const struct ask *ask, const struct plx_cm_event *event)
{
	struct world *world = WORLD(office);
	const struct plx_cm_own *own = &ask->connect.own;
	const struct plx_cm_peer *peer = &event->peer;

	sim_must(world, ask->to == office->index && !ask->sidr, "C4",
		 "office %u is told of what office %u was asked", office->index, ask->to);
	sim_must(world, peer->qpn == own->qpn && plx_psn_eq(peer->psn, own->psn), "C4",
		 "asks QPN %06x PSN %06x, told are %06x and %06x", own->qpn, own->psn.v, peer->qpn,
		 peer->psn.v);
	sim_must(world,
		 peer->path_mtu == own->path_mtu &&
			 peer->responder_resources == own->initiator_depth &&
			 peer->initiator_depth == own->responder_resources,
		 "C4", "path MTU %u, %u and %u READs are told", peer->path_mtu,
		 peer->responder_resources, peer->initiator_depth);
	sim_must(world,
		 peer->rnr_retry == own->rnr_retry && peer->retry == own->retry &&
			 peer->ack_timeout == own->ack_timeout && peer->srq == own->srq,
		 "C4", "retries %u and %u, timeout %u are told", peer->rnr_retry, peer->retry,
		 peer->ack_timeout);
	sim_must(world,
		 memcmp(&peer->local, &ask->connect.remote, sizeof(peer->local)) == 0 &&
			 memcmp(&peer->remote, &ask->connect.local, sizeof(peer->remote)) == 0 &&
			 peer->local_port == ask->connect.remote_port &&
			 peer->remote_port == ask->connect.local_port,
		 "C4", "told are other addresses than asked from and to");
}

/* A request may be told a second time only when it is heard long after everything was over (it came
 * again, or late, or every try was lost meanwhile), or when more have ended than are remembered. */
static void
check_once(struct office *office, struct ask *ask)
{
	ask->requested++;
	if (strict(office->exchange) && ask->requested > 1)
		sim_fail(WORLD(office), SIM_WRONG, "C1", WRONG_DOUBLED,
			 "one request is told %u times", ask->requested);
}

/* Whose request that is: its private data says so, or, when there is none, its queue pair. */
static uint64_t
asked_by(struct exchange *exchange, const struct plx_cm_event *event)
{
	uint64_t serial = private_serial(event->private_data);

	if (serial != 0)
		return serial;
	for (serial = exchange->asks; serial > 0; serial--) {
		const struct ask *ask = ask_of(exchange, serial);

		if (ask->length == 0 && ask->connect.own.qpn == event->peer.qpn &&
		    plx_psn_eq(ask->connect.own.psn, event->peer.psn))
			break;
	}
	return serial;
}

static void
told_requested(struct office *office, const struct plx_cm_event *event)
{
	struct exchange *exchange = office->exchange;
	struct world *world = WORLD(office);
	uint64_t serial = asked_by(exchange, event);
	struct ask *ask = ask_of(exchange, serial);
	struct call *call;

	sim_must(world, event->context < EARS - 1, "C9", "nobody listens with that context");
	sim_must(world,
		 office->ear[event->context].open &&
			 office->ear[event->context].id.v == event->listener.v,
		 "C9", "a request is told that came by a listener that is gone");
	sim_must(world, ask != NULL, "C5", "a request of nobody");
	ledger_id(office, event->id);
	private_check(office, serial, ask->length, event->private_data, event->private_bytes,
		      PLX_CM_PRIVATE_REQ);
	check_asked(office, ask, event);
	check_once(office, ask);
	world->stats.received++;
	call = call_new(office);
	if (call == NULL) {
		office->rejects++;
		plx_cm_abandon(office->cm, event->id, office_now(office));
		return;
	}
	call->id = event->id;
	call->ear = (uint32_t)event->context;
	call->ask = serial;
	call->peer = event->peer;
	call->state = CALL_REQ_RCVD;
	if (draw_percent(&office->prng, 50)) {
		enum plx_status status = plx_cm_set_context(office->cm, call->id, call->context);

		call->named = status == PLX_OK;
		sim_must(world, call->named || plx_cm_has_event(office->cm), "C4",
			 "a context is refused: %s", plx_status_text(status));
	}
	if (exchange->fair || exchange->gentle || !draw_percent(&office->prng, 3))
		call_think(call, exchange->think_most_ns);
}

/* ---- it goes on ----------------------------------------------------------------------------- */

static void
check_replied(struct call *call, const struct answer *answer, const struct plx_cm_peer *peer)
{
	struct world *world = WORLD(call->office);
	const struct plx_cm_own *mine = &call->own, *theirs = &answer->own;

#define LESS(a, b) ((a) < (b) ? (a) : (b))
	sim_must(world, answer->accepted && answer->ask == call->ask, "C4",
		 "the answer to ask %" PRIu64 " is told to who asked %" PRIu64, answer->ask,
		 call->ask);
	sim_must(world, peer->qpn == theirs->qpn && plx_psn_eq(peer->psn, theirs->psn), "C4",
		 "accepted QPN %06x PSN %06x, told are %06x and %06x", theirs->qpn, theirs->psn.v,
		 peer->qpn, peer->psn.v);
	sim_must(world,
		 peer->responder_resources ==
				 LESS(mine->responder_resources, theirs->initiator_depth) &&
			 peer->initiator_depth ==
				 LESS(mine->initiator_depth, theirs->responder_resources),
		 "C4", "agreed are %u and %u READs", peer->responder_resources,
		 peer->initiator_depth);
	sim_must(world,
		 peer->path_mtu == mine->path_mtu && peer->rnr_retry == theirs->rnr_retry &&
			 peer->srq == theirs->srq && peer->retry == mine->retry &&
			 peer->ack_timeout == mine->ack_timeout,
		 "C4", "path MTU %u, retries %u, timeout %u are told", peer->path_mtu,
		 peer->rnr_retry, peer->ack_timeout);
#undef LESS
}

static void
told_replied(struct call *call, const struct plx_cm_event *event)
{
	struct office *office = call->office;
	uint64_t serial = private_serial(event->private_data);
	const struct answer *answer = answer_of(office->exchange, serial);

	sim_must(WORLD(office),
		 call->answer == 0 && (call->state == CALL_REQ_SENT ||
				       (call->state == CALL_QP_FAILED && !call->alive)),
		 "C1", "REPLIED in state %u", call->state);
	sim_must(WORLD(office), answer != NULL, "C5", "private data of nobody");
	private_check(office, serial, answer->length, event->private_data, event->private_bytes,
		      PLX_CM_PRIVATE_REP);
	check_replied(call, answer, &event->peer);
	call->peer = event->peer;
	call->answer = serial;
	if (call->state == CALL_QP_FAILED)
		return; /* it came before that */
	call->state = CALL_REP_RCVD;
	call->since = WORLD(office)->now;
	call_think(call, office->exchange->think_most_ns);
}

static void
told_established(struct call *call)
{
	struct office *office = call->office;
	struct ask *ask = ask_of(office->exchange, call->ask);

	sim_must(WORLD(office),
		 !call->established &&
			 (call->state == CALL_REP_SENT || call->state == CALL_DREQ_SENT ||
			  (call->state == CALL_QP_FAILED && call->alive)),
		 "C1", "ESTABLISHED in state %u", call->state);
	call->established = true;
	sim_must(WORLD(office), ask->completed, "C4",
		 "a connection lives that the other side has not completed");
	ask->established = true;
	WORLD(office)->stats.established++;
	if (call->state != CALL_REP_SENT)
		return; /* it came before that */
	call_lives(call);
}

/* ---- it ends -------------------------------------------------------------------------------- */

/* Has the port been closed, or its office made anew, at any time since somebody asked? */
static bool
ear_was_deaf(const struct exchange *exchange, const struct ask *ask)
{
	const struct ear *ear;

	if (ask->ear >= EARS)
		return true;
	ear = &exchange->office[ask->to].ear[ask->ear];
	return !ear->open || ear->changed_at >= ask->at;
}

static bool
reason_has_cause(const struct exchange *exchange, const struct ask *ask, uint16_t reason)
{
	switch (reason) {
	case PLX_CM_REASON_CONSUMER:
		return !exchange->fair;
	case PLX_CM_REASON_INVALID_SERVICE_ID:
		return ear_was_deaf(exchange, ask);
	case PLX_CM_REASON_PATH_MTU:
		return ask->connect.own.path_mtu > exchange->office[ask->to].config.path_mtu;
	case PLX_CM_REASON_NO_RESOURCES:
	case PLX_CM_REASON_TIMEOUT:
	case PLX_CM_REASON_INVALID_COMM_ID:
		return !strict(exchange);
	case PLX_CM_REASON_STALE:
		return !strict(exchange) && exchange->qpn_pool > 0;
	default:
		return false;
	}
}

static void
told_rejected(struct call *call, const struct plx_cm_event *event)
{
	struct office *office = call->office;
	const struct exchange *exchange = office->exchange;
	const struct ask *ask = ask_of(office->exchange, call->ask);
	uint64_t serial = event->private_bytes ? private_serial(event->private_data) : 0;
	const struct answer *answer = answer_of(office->exchange, serial);

	sim_must(WORLD(office), call->state == CALL_REQ_SENT, "C1", "REJECTED in state %u",
		 call->state);
	sim_must(WORLD(office),
		 ask->to < OFFICES_MAX && reason_has_cause(exchange, ask, event->reason), "C1",
		 "rejected without a cause: %s", plx_cm_reason_text(event->reason));
	/* Of a REP with a queue pair that is in use it is we who say so. */
	if (event->private_bytes > 0 || event->reason != PLX_CM_REASON_STALE)
		private_check(office, serial, answer ? answer->length : 0, event->private_data,
			      event->private_bytes, PLX_CM_PRIVATE_REJ);
	if (answer != NULL)
		sim_must(WORLD(office),
			 event->reason == PLX_CM_REASON_CONSUMER && !answer->accepted &&
				 answer->ask == call->ask,
			 "C4", "told is the refusal of something else");
	WORLD(office)->stats.rejected++;
	WORLD(office)->stats.stale += event->reason == PLX_CM_REASON_STALE;
}

static void
told_timed_out(struct call *call)
{
	struct office *office = call->office;

	sim_must(WORLD(office),
		 call->state == CALL_REQ_SENT || call->state == CALL_SIDR_REQ_SENT ||
			 call->state == CALL_REP_SENT,
		 "C1", "TIMED_OUT in state %u", call->state);
	sim_must(WORLD(office), call_may_time_out(call), "C1",
		 "the other side does not answer, and has been asked and was heard");
	WORLD(office)->stats.timeouts++;
}

static void
told_aborted(struct call *call)
{
	struct office *office = call->office;

	sim_must(WORLD(office),
		 call->state == CALL_REQ_RCVD || call->state == CALL_REP_RCVD ||
			 call->state == CALL_REP_SENT ||
			 (call->state == CALL_QP_FAILED && !call->alive),
		 "C1", "ABORTED in state %u", call->state);
	sim_must(WORLD(office),
		 !strict(office->exchange) || call->state == CALL_QP_FAILED || !partner_stays(call),
		 "C1", "aborted, and the other side has not given up");
	WORLD(office)->stats.aborted++;
}

/* Does the other end's program believe that it lives, with nothing to tell it otherwise? Then
 * nobody who could has ended it, in any weather. */
static bool
partner_lives(const struct call *call)
{
	const struct call *other = call_partner(call);

	return other != NULL && other->state == CALL_ESTABLISHED && !other->doomed &&
	       !plx_cm_has_event(other->office->cm);
}

static void
told_disconnected(struct call *call)
{
	struct office *office = call->office;

	sim_must(WORLD(office),
		 call->state == CALL_ESTABLISHED || (call->state == CALL_QP_FAILED && call->alive),
		 "C1", "DISCONNECTED in state %u", call->state);
	sim_must(WORLD(office),
		 !strict(office->exchange) || call->state == CALL_QP_FAILED || !partner_stays(call),
		 "C1", "disconnected, and the other side is still there");
	sim_must(WORLD(office), call->state == CALL_QP_FAILED || !partner_lives(call), "C10",
		 "a stranger has ended a connection: both programs live on it");
	WORLD(office)->stats.disconnected++;
}

static void
told_closed(struct call *call)
{
	const struct call *other = call_partner(call);

	sim_must(WORLD(call->office), call->state == CALL_DREQ_SENT, "C1", "CLOSED in state %u",
		 call->state);
	WORLD(call->office)->stats.crossed += other != NULL && other->state == CALL_DREQ_SENT;
}

static void
told_sidr(struct call *call, const struct plx_cm_event *event)
{
	struct office *office = call->office;
	const struct exchange *exchange = office->exchange;
	struct ask *ask = ask_of(office->exchange, call->ask);
	const struct ear *ear;

	sim_must(WORLD(office), call->state == CALL_SIDR_REQ_SENT && ask->to < OFFICES_MAX, "C1",
		 "SIDR_REPLY in state %u", call->state);
	ask->completed = event->reason == PLX_CM_SIDR_OK;
	WORLD(office)->stats.sidrs++;
	if (event->reason == PLX_CM_SIDR_OK) {
		ear = &exchange->office[ask->to].ear[ask->ear];
		sim_must(WORLD(office),
			 ask->ear < EARS && (ear->changed_at >= ask->at || ear->qpn == event->qpn),
			 "C4", "a service is found where none is, or another");
		sim_must(WORLD(office), event->qkey == PLX_CMA_QKEY, "C4", "Q_Key %08x",
			 event->qkey);
		return;
	}
	sim_must(WORLD(office),
		 event->reason == PLX_CM_SIDR_UNSUPPORTED && ear_was_deaf(exchange, ask), "C1",
		 "a service is not found, status %u", event->reason);
}

static bool
told_end(struct call *call, const struct plx_cm_event *event)
{
	switch ((enum plx_cm_event_kind)event->kind) {
	case PLX_CM_EVENT_REJECTED:
		told_rejected(call, event);
		return true;
	case PLX_CM_EVENT_UNREACHABLE:
		sim_must(WORLD(call->office),
			 (call->state == CALL_REQ_SENT || call->state == CALL_SIDR_REQ_SENT) &&
				 ask_of(call->office->exchange, call->ask)->to == OFFICES_MAX,
			 "C1", "UNREACHABLE in state %u", call->state);
		return true;
	case PLX_CM_EVENT_TIMED_OUT:
		told_timed_out(call);
		return true;
	case PLX_CM_EVENT_ABORTED:
		told_aborted(call);
		return true;
	case PLX_CM_EVENT_DISCONNECTED:
		told_disconnected(call);
		return true;
	case PLX_CM_EVENT_CLOSED:
		told_closed(call);
		return true;
	case PLX_CM_EVENT_SIDR_REPLY:
		told_sidr(call, event);
		return true;
	case PLX_CM_EVENT_NOTHING:
	case PLX_CM_EVENT_REQUESTED:
	case PLX_CM_EVENT_REPLIED:
	case PLX_CM_EVENT_ESTABLISHED:
	case PLX_CM_EVENT_COUNT:
		break;
	}
	return false;
}

void
event_told(struct office *office, const struct plx_cm_event *event)
{
	struct call *call = call_of(office, event->id);

	trace_as(WORLD(office), TRACE_CM_TOLD, office->index, event->kind, event->id.v,
		 event->reason, event->context);
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		told_requested(office, event);
		return;
	}
	sim_must(WORLD(office), call != NULL, "C1", "%s: of a connection that has ended",
		 plx_cm_event_text((enum plx_cm_event_kind)event->kind));
	sim_must(WORLD(office),
		 event->context == (call->active || call->named ? call->context : call->ear), "C9",
		 "an event comes with the context of another");
	if (told_end(call, event)) {
		call_over(call);
		return;
	}
	if (event->kind == PLX_CM_EVENT_REPLIED)
		told_replied(call, event);
	else if (event->kind == PLX_CM_EVENT_ESTABLISHED)
		told_established(call);
	else
		sim_fail(WORLD(office), SIM_WRONG, "C9", WRONG_OTHER, "an event of kind %u",
			 event->kind);
}
