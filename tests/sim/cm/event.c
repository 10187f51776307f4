/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the judgement of events: each against what both programs have done, each end against a
 * cause. It never calls a manager.
 * Start with event_told().
 */
#include "fabric.h"

#define WORLD(host) (&(host)->fabric->world)

/* No faults, and no program does anything unusual: every end must have a cause. */
static bool
strict(const struct fabric *fabric)
{
	return fabric->gentle || fabric->fair;
}

/* Does the other end's program still use the connection, and intend to? */
static bool
partner_stays(const struct connector *connector)
{
	const struct connector *other = connector_partner(connector);

	return other != NULL && other->state != CONNECTOR_DREQ_SENT &&
	       other->state != CONNECTOR_QP_FAILED && !other->doomed;
}

/* ---- requests ---- */

static void
check_request(struct cm_host *host, const struct request *request, const struct plx_cm_event *event)
{
	struct world *world = WORLD(host);
	const struct plx_cm_own *own = &request->connect.own;
	const struct plx_cm_peer *peer = &event->peer;

	sim_must(world, request->to == host->index && !request->sidr, "C4",
		 "host %u gets a request for host %u", host->index, request->to);
	sim_must(world, peer->info.remote_qpn == own->qpn && plx_psn_eq(peer->psn, own->psn), "C4",
		 "requests with QPN %06x PSN %06x, delivered are %06x and %06x", own->qpn,
		 own->psn.v, peer->info.remote_qpn, peer->psn.v);
	sim_must(world,
		 peer->info.path_mtu == own->path_mtu &&
			 peer->info.responder_resources == own->initiator_depth &&
			 peer->info.initiator_depth == own->responder_resources,
		 "C4", "path MTU %u, %u and %u READs are delivered", peer->info.path_mtu,
		 peer->info.responder_resources, peer->info.initiator_depth);
	sim_must(world,
		 peer->info.rnr_retry == own->rnr_retry && peer->info.retry == own->retry &&
			 peer->info.ack_timeout == own->ack_timeout && peer->info.srq == own->srq,
		 "C4", "retries %u and %u, timeout %u are delivered", peer->info.rnr_retry,
		 peer->info.retry, peer->info.ack_timeout);
	sim_must(world,
		 memcmp(&peer->info.local, &request->connect.remote, sizeof(peer->info.local)) ==
				 0 &&
			 memcmp(&peer->info.remote, &request->connect.local,
				sizeof(peer->info.remote)) == 0 &&
			 peer->info.local_port == request->connect.remote_port &&
			 peer->info.remote_port == request->connect.local_port,
		 "C4", "delivered are other addresses than those of the request");
}

/* A request may be delivered a second time only when it arrives long after everything was over (it
 * came again, or late, or every try was lost meanwhile), or when more have ended than are
 * remembered. */
static void
check_once(struct cm_host *host, struct request *request)
{
	request->requested++;
	if (strict(host->fabric) && request->requested > 1)
		sim_fail(WORLD(host), SIM_WRONG, "C1", WRONG_DOUBLED,
			 "one request is delivered %u times", request->requested);
}

/* The request, by its private data or, when there is none, by its queue pair. */
static uint64_t
request_by(struct fabric *fabric, const struct plx_cm_event *event)
{
	uint64_t serial = private_serial(event->private_data);

	if (serial != 0)
		return serial;
	for (serial = fabric->requests; serial > 0; serial--) {
		const struct request *request = request_of(fabric, serial);

		if (request->length == 0 &&
		    request->connect.own.qpn == event->peer.info.remote_qpn &&
		    plx_psn_eq(request->connect.own.psn, event->peer.psn))
			break;
	}
	return serial;
}

static void
on_requested(struct cm_host *host, const struct plx_cm_event *event)
{
	struct fabric *fabric = host->fabric;
	struct world *world = WORLD(host);
	uint64_t serial = request_by(fabric, event);
	struct request *request = request_of(fabric, serial);
	struct connector *connector;

	sim_must(world, event->context < LISTENERS_MAX - 1, "C9", "no listener has that context");
	sim_must(world,
		 host->listener[event->context].open &&
			 host->listener[event->context].id.v == event->listener.v,
		 "C9", "a request is delivered that came by a listener that is gone");
	sim_must(world, request != NULL, "C5", "an event for a request that was not made");
	ledger_id(host, event->id);
	private_check(host, serial, request->length, event->private_data, event->private_bytes,
		      PLX_CM_PRIVATE_REQ);
	check_request(host, request, event);
	check_once(host, request);
	world->stats.received++;
	connector = connector_new(host);
	if (connector == NULL) {
		host->rejects++;
		plx_cm_abandon(host->cm, event->id, cm_host_now(host));
		return;
	}
	connector->id = event->id;
	connector->listener = (uint32_t)event->context;
	connector->request = serial;
	connector->peer = event->peer;
	connector->state = CONNECTOR_REQ_RCVD;
	if (draw_percent(&host->prng, 50)) {
		enum plx_status status =
			plx_cm_set_context(host->cm, connector->id, connector->context);

		connector->named = status == PLX_OK;
		sim_must(world, connector->named || plx_cm_has_event(host->cm), "C4",
			 "a context is refused: %s", plx_status_text(status));
	}
	if (fabric->fair || fabric->gentle || !draw_percent(&host->prng, 3))
		connector_think(connector, fabric->think_most_ns);
}

/* ---- replies ---- */

static void
check_replied(struct connector *connector, const struct reply *reply,
	      const struct plx_cm_peer *peer)
{
	struct world *world = WORLD(connector->host);
	const struct plx_cm_own *mine = &connector->own, *theirs = &reply->own;

#define LESS(a, b) ((a) < (b) ? (a) : (b))
	sim_must(world, reply->accepted && reply->request == connector->request, "C4",
		 "the reply to request %" PRIu64 " is delivered for request %" PRIu64,
		 reply->request, connector->request);
	sim_must(world, peer->info.remote_qpn == theirs->qpn && plx_psn_eq(peer->psn, theirs->psn),
		 "C4", "accepted QPN %06x PSN %06x, delivered are %06x and %06x", theirs->qpn,
		 theirs->psn.v, peer->info.remote_qpn, peer->psn.v);
	sim_must(world,
		 peer->info.responder_resources ==
				 LESS(mine->responder_resources, theirs->initiator_depth) &&
			 peer->info.initiator_depth ==
				 LESS(mine->initiator_depth, theirs->responder_resources),
		 "C4", "agreed are %u and %u READs", peer->info.responder_resources,
		 peer->info.initiator_depth);
	sim_must(world,
		 peer->info.path_mtu == mine->path_mtu &&
			 peer->info.rnr_retry == theirs->rnr_retry &&
			 peer->info.srq == theirs->srq && peer->info.retry == mine->retry &&
			 peer->info.ack_timeout == mine->ack_timeout,
		 "C4", "path MTU %u, retries %u, timeout %u are delivered", peer->info.path_mtu,
		 peer->info.rnr_retry, peer->info.ack_timeout);
#undef LESS
}

static void
on_replied(struct connector *connector, const struct plx_cm_event *event)
{
	struct cm_host *host = connector->host;
	uint64_t serial = private_serial(event->private_data);
	const struct reply *reply = reply_of(host->fabric, serial);

	sim_must(WORLD(host),
		 connector->reply == 0 &&
			 (connector->state == CONNECTOR_REQ_SENT ||
			  (connector->state == CONNECTOR_QP_FAILED && !connector->was_established)),
		 "C1", "REPLIED in state %u", connector->state);
	sim_must(WORLD(host), reply != NULL, "C5", "private data of no reply");
	private_check(host, serial, reply->length, event->private_data, event->private_bytes,
		      PLX_CM_PRIVATE_REP);
	check_replied(connector, reply, &event->peer);
	connector->peer = event->peer;
	connector->reply = serial;
	if (connector->state == CONNECTOR_QP_FAILED)
		return; /* it came before that */
	connector->state = CONNECTOR_REP_RCVD;
	connector->since = WORLD(host)->now;
	connector_think(connector, host->fabric->think_most_ns);
}

static void
on_established(struct connector *connector)
{
	struct cm_host *host = connector->host;
	struct request *request = request_of(host->fabric, connector->request);

	sim_must(WORLD(host),
		 !connector->established &&
			 (connector->state == CONNECTOR_REP_SENT ||
			  connector->state == CONNECTOR_DREQ_SENT ||
			  (connector->state == CONNECTOR_QP_FAILED && connector->was_established)),
		 "C1", "ESTABLISHED in state %u", connector->state);
	connector->established = true;
	sim_must(WORLD(host), request->completed, "C4",
		 "a connection lives that the other side has not completed");
	request->established = true;
	WORLD(host)->stats.established++;
	if (connector->state != CONNECTOR_REP_SENT)
		return; /* it came before that */
	connector_established(connector);
}

/* ---- ends ---- */

/* Was the listener closed, or its host restarted, at any time since the request? */
static bool
ear_was_deaf(const struct fabric *fabric, const struct request *request)
{
	const struct listener *listener;

	if (request->listener >= LISTENERS_MAX)
		return true;
	listener = &fabric->host[request->to].listener[request->listener];
	return !listener->open || listener->changed_at >= request->at;
}

static bool
reason_has_cause(const struct fabric *fabric, const struct request *request, uint16_t reason)
{
	switch (reason) {
	case PLX_CM_REASON_CONSUMER:
		return !fabric->fair;
	case PLX_CM_REASON_INVALID_SERVICE_ID:
		return ear_was_deaf(fabric, request);
	case PLX_CM_REASON_PATH_MTU:
		return request->connect.own.path_mtu > fabric->host[request->to].config.path_mtu;
	case PLX_CM_REASON_NO_RESOURCES:
	case PLX_CM_REASON_TIMEOUT:
	case PLX_CM_REASON_INVALID_COMM_ID:
		return !strict(fabric);
	case PLX_CM_REASON_STALE:
		return !strict(fabric) && fabric->qpn_pool > 0;
	default:
		return false;
	}
}

static void
on_rejected(struct connector *connector, const struct plx_cm_event *event)
{
	struct cm_host *host = connector->host;
	const struct fabric *fabric = host->fabric;
	const struct request *request = request_of(host->fabric, connector->request);
	uint64_t serial = event->private_bytes ? private_serial(event->private_data) : 0;
	const struct reply *reply = reply_of(host->fabric, serial);

	sim_must(WORLD(host), connector->state == CONNECTOR_REQ_SENT, "C1", "REJECTED in state %u",
		 connector->state);
	sim_must(WORLD(host),
		 request->to < CM_HOSTS_MAX && reason_has_cause(fabric, request, event->reason),
		 "C1", "rejected without a cause: %s", plx_cm_reason_text(event->reason));
	/* A REP with a queue pair in use is rejected by our side, without private data. */
	if (event->private_bytes > 0 || event->reason != PLX_CM_REASON_STALE)
		private_check(host, serial, reply ? reply->length : 0, event->private_data,
			      event->private_bytes, PLX_CM_PRIVATE_REJ);
	if (reply != NULL)
		sim_must(WORLD(host),
			 event->reason == PLX_CM_REASON_CONSUMER && !reply->accepted &&
				 reply->request == connector->request,
			 "C4", "delivered is the rejection of something else");
	WORLD(host)->stats.rejected++;
	WORLD(host)->stats.stale += event->reason == PLX_CM_REASON_STALE;
}

static void
on_timed_out(struct connector *connector)
{
	struct cm_host *host = connector->host;

	sim_must(WORLD(host),
		 connector->state == CONNECTOR_REQ_SENT ||
			 connector->state == CONNECTOR_SIDR_REQ_SENT ||
			 connector->state == CONNECTOR_REP_SENT,
		 "C1", "TIMED_OUT in state %u", connector->state);
	sim_must(WORLD(host), connector_may_time_out(connector), "C1",
		 "TIMED_OUT, and too few datagrams were lost");
	WORLD(host)->stats.timeouts++;
}

static void
on_aborted(struct connector *connector)
{
	struct cm_host *host = connector->host;

	sim_must(WORLD(host),
		 connector->state == CONNECTOR_REQ_RCVD || connector->state == CONNECTOR_REP_RCVD ||
			 connector->state == CONNECTOR_REP_SENT ||
			 (connector->state == CONNECTOR_QP_FAILED && !connector->was_established),
		 "C1", "ABORTED in state %u", connector->state);
	sim_must(WORLD(host),
		 !strict(host->fabric) || connector->state == CONNECTOR_QP_FAILED ||
			 !partner_stays(connector),
		 "C1", "ABORTED, and the other side has not given up");
	WORLD(host)->stats.aborted++;
}

/* Is the connection established for the other end's program, with no event pending? Then neither
 * program has ended it. */
static bool
partner_is_established(const struct connector *connector)
{
	const struct connector *other = connector_partner(connector);

	return other != NULL && other->state == CONNECTOR_ESTABLISHED && !other->doomed &&
	       !plx_cm_has_event(other->host->cm);
}

static void
on_disconnected(struct connector *connector)
{
	struct cm_host *host = connector->host;

	sim_must(WORLD(host),
		 connector->state == CONNECTOR_ESTABLISHED ||
			 (connector->state == CONNECTOR_QP_FAILED && connector->was_established),
		 "C1", "DISCONNECTED in state %u", connector->state);
	sim_must(WORLD(host),
		 !strict(host->fabric) || connector->state == CONNECTOR_QP_FAILED ||
			 !partner_stays(connector),
		 "C1", "disconnected, and the other side is still there");
	sim_must(WORLD(host),
		 connector->state == CONNECTOR_QP_FAILED || !partner_is_established(connector),
		 "C10", "a stranger has ended a connection: both programs live on it");
	WORLD(host)->stats.disconnected++;
}

static void
on_closed(struct connector *connector)
{
	const struct connector *other = connector_partner(connector);

	sim_must(WORLD(connector->host), connector->state == CONNECTOR_DREQ_SENT, "C1",
		 "CLOSED in state %u", connector->state);
	WORLD(connector->host)->stats.crossed +=
		other != NULL && other->state == CONNECTOR_DREQ_SENT;
}

static void
on_sidr(struct connector *connector, const struct plx_cm_event *event)
{
	struct cm_host *host = connector->host;
	const struct fabric *fabric = host->fabric;
	struct request *request = request_of(host->fabric, connector->request);
	const struct listener *listener;

	sim_must(WORLD(host),
		 connector->state == CONNECTOR_SIDR_REQ_SENT && request->to < CM_HOSTS_MAX, "C1",
		 "SIDR_REPLY in state %u", connector->state);
	request->completed = event->reason == PLX_CM_SIDR_OK;
	WORLD(host)->stats.sidrs++;
	if (event->reason == PLX_CM_SIDR_OK) {
		listener = &fabric->host[request->to].listener[request->listener];
		sim_must(WORLD(host),
			 request->listener < LISTENERS_MAX &&
				 (listener->changed_at >= request->at ||
				  listener->qpn == event->qpn),
			 "C4", "a service is found where none is, or another");
		sim_must(WORLD(host), event->qkey == PLX_CMA_QKEY, "C4", "Q_Key %08x", event->qkey);
		return;
	}
	sim_must(WORLD(host),
		 event->reason == PLX_CM_SIDR_UNSUPPORTED && ear_was_deaf(fabric, request), "C1",
		 "a service is not found, status %u", event->reason);
}

static bool
on_end(struct connector *connector, const struct plx_cm_event *event)
{
	switch ((enum plx_cm_event_kind)event->kind) {
	case PLX_CM_EVENT_REJECTED:
		on_rejected(connector, event);
		return true;
	case PLX_CM_EVENT_UNREACHABLE:
		sim_must(WORLD(connector->host),
			 (connector->state == CONNECTOR_REQ_SENT ||
			  connector->state == CONNECTOR_SIDR_REQ_SENT) &&
				 request_of(connector->host->fabric, connector->request)->to ==
					 CM_HOSTS_MAX,
			 "C1", "UNREACHABLE in state %u", connector->state);
		return true;
	case PLX_CM_EVENT_TIMED_OUT:
		on_timed_out(connector);
		return true;
	case PLX_CM_EVENT_ABORTED:
		on_aborted(connector);
		return true;
	case PLX_CM_EVENT_DISCONNECTED:
		on_disconnected(connector);
		return true;
	case PLX_CM_EVENT_CLOSED:
		on_closed(connector);
		return true;
	case PLX_CM_EVENT_SIDR_REPLY:
		on_sidr(connector, event);
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
event_deliver(struct cm_host *host, const struct plx_cm_event *event)
{
	struct connector *connector = connector_of(host, event->id);

	trace_as(WORLD(host), TRACE_CM_TOLD, host->index, event->kind, event->id.v, event->reason,
		 event->context);
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		on_requested(host, event);
		return;
	}
	sim_must(WORLD(host), connector != NULL, "C1", "%s: of a connection that has ended",
		 plx_cm_event_text((enum plx_cm_event_kind)event->kind));
	sim_must(WORLD(host),
		 event->context == (connector->active || connector->named ? connector->context
									  : connector->listener),
		 "C9", "an event comes with the context of another");
	if (on_end(connector, event)) {
		connector_end(connector);
		return;
	}
	if (event->kind == PLX_CM_EVENT_REPLIED)
		on_replied(connector, event);
	else if (event->kind == PLX_CM_EVENT_ESTABLISHED)
		on_established(connector);
	else
		sim_fail(WORLD(host), SIM_WRONG, "C9", WRONG_OTHER, "an event of kind %u",
			 event->kind);
}
