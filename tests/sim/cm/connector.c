/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what programs do: they connect, accept, reject, establish, disconnect, lose their
 * queue pair, go away, or do nothing for a while, in every state.
 * It never looks at an event; event.c does, and decides when a program acts.
 * Start with connector_dial() and connector_on_event().
 */
#include "fabric.h"

struct connector *
connector_of(struct cm_host *host, struct plx_cm_id id)
{
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		struct connector *connector = &host->connector[i];

		if (connector->state != CONNECTOR_IDLE && connector->id.v == id.v)
			return connector;
	}
	return NULL;
}

/* NULL: all of the host's are in use */
struct connector *
connector_new(struct cm_host *host)
{
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		struct connector *connector = &host->connector[i];

		if (connector->state != CONNECTOR_IDLE)
			continue;
		*connector = (struct connector){.host = host, .number = i, .act_at = PLX_NEVER};
		connector->since = host->fabric->world.now;
		/* names the connector and its life, so that no other is taken for it */
		connector->context = plx_prng_next(&host->prng) << 8 | i;
		host->connectors++;
		return connector;
	}
	return NULL;
}

/* It has ended, and its id is of no more use. */
void
connector_end(struct connector *connector)
{
	struct fabric *fabric = connector->host->fabric;

	trace_as(&fabric->world, TRACE_CLOSE, connector->host->index, connector->number,
		 connector->state, connector->request, 0);
	fabric->world.progress_at = fabric->world.now;
	connector->state = CONNECTOR_IDLE;
	connector->act_at = PLX_NEVER;
	connector->host->connectors--;
}

/* The program's turn comes, in a while. */
void
connector_think(struct connector *connector, uint64_t most_ns)
{
	struct fabric *fabric = connector->host->fabric;

	connector->act_at = fabric->world.now + draw_log(&connector->host->prng, 1, most_ns);
	heap_push(&fabric->world, connector->act_at, SIM_EV_APP, connector);
}

/* It lives, for a moment or a minute. */
void
connector_established(struct connector *connector)
{
	struct fabric *fabric = connector->host->fabric;

	connector->state = CONNECTOR_ESTABLISHED;
	connector->since = fabric->world.now;
	if (!fabric->stays || draw_percent(&connector->host->prng, 50)) {
		connector_think(connector, fabric->think_most_ns);
		return;
	}
	connector->act_at =
		fabric->world.now + draw_between(&connector->host->prng, 1, 64 * PLX_SEC);
	heap_push(&fabric->world, connector->act_at, SIM_EV_APP, connector);
}

/* The other end, if its program still has it. */
struct connector *
connector_partner(const struct connector *connector)
{
	struct fabric *fabric = connector->host->fabric;
	const struct request *request = request_of(fabric, connector->request);
	const struct reply *reply = reply_of(fabric, connector->reply);
	struct cm_host *host;

	if (request == NULL || (connector->active && reply == NULL))
		return NULL;
	host = &fabric->host[connector->active ? reply->host : request->host];
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		struct connector *other = &host->connector[i];

		if (other->state != CONNECTOR_IDLE && other->active != connector->active &&
		    (connector->active ? other->reply == connector->reply
				       : other->request == connector->request))
			return other;
	}
	return NULL;
}

/* ---- waiting for the other one ---- */

/* The host at the other end. */
static struct cm_host *
other_host(const struct connector *connector)
{
	struct fabric *fabric = connector->host->fabric;
	const struct request *request = request_of(fabric, connector->request);
	uint32_t index = connector->active ? request->to : request->host;

	return index < CM_HOSTS_MAX ? &fabric->host[index] : NULL;
}

/* It has sent a REQ or REP: from now on the other one must answer, or datagrams be lost. */
void
connector_waits(struct connector *connector)
{
	const struct cm_host *other = other_host(connector);

	connector->since = connector->host->fabric->world.now;
	connector->life_before = other ? other->life : 0;
	connector->gave_way_before = plx_cm_counters(connector->host->cm)->gave_way;
}

/* The other program never decides, and its manager asks for more time. */
static bool
is_put_off(const struct connector *connector, const struct cm_host *other)
{
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		if (other->connector[i].state == CONNECTOR_REQ_RCVD &&
		    other->connector[i].request == connector->request)
			return true;
	}
	return false;
}

/* Each try that was heard has been answered, but for the first, while a program makes up its mind:
 * were as many datagrams lost as there were tries? */
bool
connector_may_time_out(const struct connector *connector)
{
	const struct sim_weather *weather = &connector->host->fabric->world.config.weather;
	const struct cm_host *other = other_host(connector);

	if (other == NULL || other->life != connector->life_before)
		return true;
	if (weather->clog_ns > 0 || weather->step_ns > 0 || weather->latency_ns > PLX_SEC / 4)
		return true; /* late is as good as lost */
	if (connector->active && is_put_off(connector, other))
		return true;
	if (!connector->active &&
	    plx_cm_counters(connector->host->cm)->gave_way > connector->gave_way_before)
		return true;
	return plx_cm_counters(other->cm)->answers_dropped > 0 ||
	       ledger_losses(connector->host, connector->id) >= PLX_CM_TRIES - 1;
}

/* Was the command executed? If not, the connection has ended, and the event is pending. */
static bool
done(struct connector *connector, enum plx_status status, const char *what)
{
	struct world *world = &connector->host->fabric->world;

	sim_must(world, status == PLX_OK || status == PLX_STATE, "C4", "%s is refused: %s", what,
		 plx_status_text(status));
	if (status == PLX_OK)
		return true;
	sim_must(world, plx_cm_has_event(connector->host->cm), "C4",
		 "%s is refused, and no event tells why", what);
	connector->doomed = true;
	return false;
}

/* A wrong use of an id that has ended: refused, and nothing changes. */
static void
misuse(struct cm_host *host, struct plx_cm_id id)
{
	struct world *world = &host->fabric->world;
	struct plx_cm_view before, after;
	uint64_t now = cm_host_now(host);
	enum plx_status status = PLX_OK;
	uint64_t kind = plx_prng_below(&host->prng, 5);

	plx_cm_query(host->cm, &before);
	if (kind == 0)
		status = plx_cm_establish(host->cm, id, now);
	else if (kind == 1)
		status = plx_cm_disconnect(host->cm, id, now);
	else if (kind == 2)
		status = plx_cm_reject(host->cm, id, NULL, 0, now);
	else if (kind == 3)
		status = plx_cm_comm_established(host->cm, id, now);
	else
		plx_cm_abandon(host->cm, id, now);
	sim_must(world, status == (kind < 4 ? PLX_STATE : PLX_OK), "C2",
		 "a command on an ended id has status: %s", plx_status_text(status));
	plx_cm_query(host->cm, &after);
	sim_must(world, memcmp(&before, &after, sizeof(before)) == 0, "C2",
		 "an id that has ended changes the counts");
}

/* ---- asking ---- */

static uint32_t
draw_qpn(struct cm_host *host)
{
	struct fabric *fabric = host->fabric;

	if (fabric->qpn_pool == 0 || fabric->fair)
		return fabric->qpn_next++;
	for (;;) {
		uint32_t qpn = 2 + (uint32_t)plx_prng_below(&host->prng, fabric->qpn_pool);
		bool used = false;

		/* Two queue pairs never have one number at a time; one after the other they may. */
		for (uint32_t i = 0; i < CONNECTORS_MAX; i++)
			used |= host->connector[i].state != CONNECTOR_IDLE &&
				host->connector[i].own.qpn == qpn;
		if (!used)
			return qpn;
	}
}

static struct plx_cm_own
draw_own(struct cm_host *host, uint32_t path_mtu)
{
	struct plx_prng *prng = &host->prng;

	return (struct plx_cm_own){
		.qpn = draw_qpn(host),
		.psn = plx_psn((uint32_t)plx_prng_next(prng)),
		.path_mtu = path_mtu,
		.responder_resources = (uint8_t)plx_prng_below(prng, 256),
		.initiator_depth = (uint8_t)plx_prng_below(prng, 256),
		.rnr_retry = (uint8_t)plx_prng_below(prng, 8),
		.retry = (uint8_t)plx_prng_below(prng, 8),
		.ack_timeout =
			(uint8_t)draw_between(prng, PLX_CM_ACK_TIMEOUT_MIN, PLX_CM_ACK_TIMEOUT_MAX),
		.srq = draw_percent(prng, 50),
	};
}

/* A path MTU that the other one takes; now and then one that it does not. */
static uint32_t
draw_mtu(struct cm_host *host, uint32_t most, bool bad)
{
	uint32_t mtu = UINT32_C(256) << plx_prng_below(&host->prng, 5);

	return bad || mtu <= most ? mtu : most;
}

static void
draw_request(struct cm_host *host, struct request *request)
{
	struct fabric *fabric = host->fabric;
	struct plx_prng *prng = &host->prng;
	bool v6 = draw_percent(prng, 50);
	bool bad = !fabric->fair && !fabric->gentle && draw_percent(prng, 5);
	const struct cm_host *to;

	*request = (struct request){.host = host->index};
	request->at = fabric->world.now;
	request->to = (uint32_t)plx_prng_below(prng, fabric->host_count);
	request->listener = (uint32_t)plx_prng_below(prng, LISTENERS_MAX);
	if (!fabric->fair && draw_percent(prng, 8))
		request->listener =
			draw_percent(prng, 80) ? LISTENERS_MAX : LISTENERS_MAX + LISTENERS_MAX - 1;
	request->sidr = request->listener % LISTENERS_MAX == LISTENERS_MAX - 1;
	to = &fabric->host[request->to];
	request->connect.local = host->ip[v6];
	request->connect.remote = to->ip[v6];
	if (!fabric->fair && draw_percent(prng, 3)) {
		request->to = CM_HOSTS_MAX;
		request->connect.remote.v[v6 ? 15 : 3] = 200;
	}
	request->connect.local_port = (uint16_t)draw_between(prng, 1, UINT16_MAX);
	request->connect.remote_port = (uint16_t)(LISTENER_PORT + request->listener);
	request->connect.own = draw_own(host, draw_mtu(host, to->config.path_mtu, bad));
	request->length = (uint32_t)draw_between(prng, SERIAL_BYTES, PLX_CM_PRIVATE_REQ);
	if (draw_percent(prng, 10))
		request->length = draw_percent(prng, 50) ? 0 : PLX_CM_PRIVATE_REQ;
}

/* Returns: whether a request was made; not when the manager or the host is full */
bool
connector_connect(struct cm_host *host)
{
	struct fabric *fabric = host->fabric;
	struct world *world = &fabric->world;
	uint8_t private_data[PLX_CM_PRIVATE_REQ];
	struct plx_cm_connect connect;
	struct connector *connector = connector_new(host);
	struct plx_cm_view view;
	struct request request;
	enum plx_status status;
	struct plx_cm_id id = {0};

	if (connector == NULL)
		return false;
	draw_request(host, &request);
	connector->request = request_add(fabric, &request);
	connector->own = request.connect.own;
	connector->active = true;
	private_write(connector->request, request.length, private_data);
	connect = request.connect;
	connect.context = connector->context;
	connect.private_data = request.length ? private_data : NULL;
	connect.private_bytes = request.length;
	plx_cm_query(host->cm, &view);
	status = (request.sidr ? plx_cm_sidr_request : plx_cm_connect)(host->cm, &connect,
								       cm_host_now(host), &id);
	if (status == PLX_FULL) {
		sim_must(world, view.connections >= host->config.connections, "C3",
			 "full with %u of %u connections", view.connections,
			 host->config.connections);
		world->stats.refused++;
		connector_end(connector);
		return false;
	}
	sim_must(world, status == PLX_OK, "C1", "asking is refused: %s", plx_status_text(status));
	ledger_id(host, id);
	connector->id = id;
	connector->state = request.sidr ? CONNECTOR_SIDR_REQ_SENT : CONNECTOR_REQ_SENT;
	connector_waits(connector);
	trace_as(world, TRACE_POST, host->index, connector->number, id.v, connector->request,
		 request.to);
	world->stats.ops++;
	if (!fabric->fair && draw_percent(&host->prng, 10))
		connector_think(connector, fabric->think_most_ns); /* and then gives up */
	cm_host_reschedule(host);
	return true;
}

/* ---- making up one's mind ---- */

static void
refuse(struct connector *connector)
{
	struct cm_host *host = connector->host;
	struct fabric *fabric = host->fabric;
	uint8_t private_data[PLX_CM_PRIVATE_REJ];
	struct reply reply = {
		.request = connector->request,
		.host = host->index,
		.length = (uint32_t)draw_between(&host->prng, SERIAL_BYTES, PLX_CM_PRIVATE_REJ),
	};
	uint64_t serial = reply_add(fabric, &reply);
	enum plx_status status;

	private_write(serial, reply.length, private_data);
	status = plx_cm_reject(host->cm, connector->id, private_data, reply.length,
			       cm_host_now(host));
	if (!done(connector, status, "refusing"))
		return;
	host->rejects++;
	fabric->world.stats.turned_down++;
	connector_end(connector);
}

static void
abandon(struct connector *connector)
{
	connector->host->rejects++; /* at most: it depends on where the connection is */
	plx_cm_abandon(connector->host->cm, connector->id, cm_host_now(connector->host));
	connector_end(connector);
}

/* What an accept must agree on: each side's wish within the other's offer. */
static void
check_agreed(struct connector *connector, const struct plx_cm_peer *peer)
{
	struct world *world = &connector->host->fabric->world;
	const struct plx_cm_peer *asked = &connector->peer;

#define LESS(a, b) ((a) < (b) ? (a) : (b))
	sim_must(world,
		 peer->info.remote_qpn == asked->info.remote_qpn &&
			 plx_psn_eq(peer->psn, asked->psn),
		 "C4", "the accepted queue pair is not the one that was requested");
	sim_must(world,
		 peer->info.responder_resources ==
			 LESS(connector->own.responder_resources, asked->info.responder_resources),
		 "C4", "%u responder resources of %u, %u were requested",
		 peer->info.responder_resources, connector->own.responder_resources,
		 asked->info.responder_resources);
	sim_must(world,
		 peer->info.initiator_depth ==
			 LESS(connector->own.initiator_depth, asked->info.initiator_depth),
		 "C4", "initiator depth %u of %u, offered %u", peer->info.initiator_depth,
		 connector->own.initiator_depth, asked->info.initiator_depth);
	sim_must(world, peer->info.path_mtu == asked->info.path_mtu, "C4",
		 "path MTU %u, %u was requested", peer->info.path_mtu, asked->info.path_mtu);
#undef LESS
}

static void
accept(struct connector *connector)
{
	struct cm_host *host = connector->host;
	struct fabric *fabric = host->fabric;
	struct plx_prng *prng = &host->prng;
	uint8_t private_data[PLX_CM_PRIVATE_REP];
	struct reply reply = {.request = connector->request, .host = host->index, .accepted = true};
	struct plx_cm_peer peer;
	enum plx_status status;

	memset(&peer, 0xa5, sizeof(peer));
	reply.own = draw_own(host, 4096);
	reply.length = draw_percent(prng, 10)
			       ? PLX_CM_PRIVATE_REP
			       : (uint32_t)draw_between(prng, SERIAL_BYTES, PLX_CM_PRIVATE_REP);
	connector->own = reply.own;
	connector->reply = reply_add(fabric, &reply);
	private_write(connector->reply, reply.length, private_data);
	status = plx_cm_accept(host->cm, connector->id, &reply.own, connector->context,
			       private_data, reply.length, cm_host_now(host), &peer);
	if (!done(connector, status, "accepting"))
		return;
	connector->named = true;
	host->accepts++;
	check_agreed(connector, &peer);
	connector->peer = peer;
	connector->state = CONNECTOR_REP_SENT;
	connector_waits(connector);
	if (!fabric->gentle && !fabric->fair && draw_percent(prng, 20))
		connector_think(connector, fabric->think_most_ns); /* and then exits */
}

static void
establish(struct connector *connector)
{
	struct cm_host *host = connector->host;
	enum plx_status status = plx_cm_establish(host->cm, connector->id, cm_host_now(host));

	if (!done(connector, status, "completing"))
		return;
	request_of(host->fabric, connector->request)->completed = true;
	host->fabric->world.stats.lives++;
	connector_established(connector);
	if (draw_percent(&host->prng, 30)) /* it sends at once */
		heap_push(&host->fabric->world,
			  host->fabric->world.now + draw_log(&host->prng, 1, PLX_SEC), SIM_EV_RECV,
			  connector);
}

static void
disconnect(struct connector *connector)
{
	struct cm_host *host = connector->host;
	enum plx_status status = plx_cm_disconnect(host->cm, connector->id, cm_host_now(host));

	if (!done(connector, status, "disconnecting"))
		return;
	host->fabric->world.stats.left++;
	connector->state = CONNECTOR_DREQ_SENT;
	connector->since = host->fabric->world.now;
	if (!host->fabric->fair && draw_percent(&host->prng, 10))
		connector_think(connector, host->fabric->think_most_ns); /* and does not wait */
}

/* The queue pair has failed: an event will end the connection. */
static void
lose(struct connector *connector)
{
	struct cm_host *host = connector->host;
	enum plx_status status = plx_cm_qp_failed(host->cm, connector->id, cm_host_now(host));

	if (!done(connector, status, "losing a queue pair"))
		return;
	host->fabric->world.stats.kills++;
	connector->was_established =
		connector->state == CONNECTOR_ESTABLISHED || connector->state == CONNECTOR_REP_SENT;
	connector->state = CONNECTOR_QP_FAILED;
	connector->since = host->fabric->world.now;
}

/* Nothing calls for it in this state: it may be done all the same. */
static void
act_waiting(struct connector *connector, uint64_t mood)
{
	if (mood < 60)
		abandon(connector);
	else if (connector->state == CONNECTOR_REQ_SENT)
		lose(connector);
	else if (connector->state == CONNECTOR_REP_SENT && mood < 80)
		disconnect(connector);
	else if (connector->state == CONNECTOR_REP_SENT)
		lose(connector);
	else
		abandon(connector);
}

static void
act_living(struct connector *connector, uint64_t mood)
{
	if (connector->host->fabric->fair || mood < 60)
		disconnect(connector);
	else if (mood < 80)
		abandon(connector);
	else if (mood < 90)
		lose(connector);
	else
		connector_think(connector,
				connector->host->fabric->think_most_ns); /* later, then */
}

/* The first packet of the active side is there, before its RTU or after. */
void
connector_on_data(struct connector *connector)
{
	struct connector *other;
	struct cm_host *host;

	if (connector->state != CONNECTOR_ESTABLISHED || !connector->active)
		return;
	other = connector_partner(connector);
	if (other == NULL || other->state != CONNECTOR_REP_SENT || other->doomed)
		return;
	host = other->host;
	if (plx_cm_comm_established(host->cm, other->id, cm_host_now(host)) == PLX_OK)
		host->fabric->world.stats.early++;
	else
		sim_must(&host->fabric->world, plx_cm_has_event(host->cm), "C4",
			 "data is not as good as an RTU");
	cm_host_check(host);
	cm_host_reschedule(host);
}

void
connector_on_event(struct connector *connector)
{
	struct fabric *fabric = connector->host->fabric;
	bool fair = fabric->fair;
	uint64_t mood = plx_prng_below(&connector->host->prng, 100);
	struct plx_cm_id id = connector->id;

	if (connector->state == CONNECTOR_IDLE || connector->act_at != fabric->world.now ||
	    connector->doomed)
		return;
	connector->act_at = PLX_NEVER;
	trace_as(&fabric->world, TRACE_CM_ACTS, connector->host->index, connector->number,
		 connector->state, mood, 0);
	switch (connector->state) {
	case CONNECTOR_REP_RCVD:
		if (fair || mood < 75)
			establish(connector);
		else if (mood < 85)
			refuse(connector);
		else if (mood < 95)
			abandon(connector);
		else
			lose(connector);
		break;
	case CONNECTOR_REQ_RCVD:
		if (fair || mood < 75)
			accept(connector);
		else if (mood < 90)
			refuse(connector);
		else
			abandon(connector);
		break;
	case CONNECTOR_ESTABLISHED:
		act_living(connector, mood);
		break;
	case CONNECTOR_SIDR_REQ_SENT:
	case CONNECTOR_REQ_SENT:
	case CONNECTOR_REP_SENT:
	case CONNECTOR_DREQ_SENT:
		act_waiting(connector, mood);
		break;
	case CONNECTOR_QP_FAILED:
	case CONNECTOR_IDLE:
	case CONNECTOR_STATES:
		break;
	}
	if (connector->state == CONNECTOR_IDLE)
		misuse(connector->host, id);
	cm_host_check(connector->host);
	cm_host_reschedule(connector->host);
}
