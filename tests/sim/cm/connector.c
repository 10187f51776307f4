/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what programs do: they ask for connections, accept, refuse, complete, disconnect, lose their
 * queue pair, go away, or do nothing for a while, in every state.
 * It never looks at an event; event.c does, and says when it is a program's turn.
 * Start with call_dial() and call_on_event().
 */
#include "fabric.h"

struct call *
call_of(struct office *office, struct plx_cm_id id)
{
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		struct call *call = &office->call[i];

		if (call->state != CALL_IDLE && call->id.v == id.v)
			return call;
	}
	return NULL;
}

/* NULL: the office has as many as it wants */
struct call *
call_new(struct office *office)
{
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		struct call *call = &office->call[i];

		if (call->state != CALL_IDLE)
			continue;
		*call = (struct call){.office = office, .number = i, .act_at = PLX_NEVER};
		call->since = office->exchange->world.now;
		/* names the call and its life, so that nobody else's is taken for it */
		call->context = plx_prng_next(&office->prng) << 8 | i;
		office->calls++;
		return call;
	}
	return NULL;
}

/* It has ended, and its id is of no more use. */
void
call_over(struct call *call)
{
	struct exchange *exchange = call->office->exchange;

	trace_as(&exchange->world, TRACE_CLOSE, call->office->index, call->number, call->state,
		 call->ask, 0);
	exchange->world.progress_at = exchange->world.now;
	call->state = CALL_IDLE;
	call->act_at = PLX_NEVER;
	call->office->calls--;
}

/* The program's turn comes, in a while. */
void
call_think(struct call *call, uint64_t most_ns)
{
	struct exchange *exchange = call->office->exchange;

	call->act_at = exchange->world.now + draw_log(&call->office->prng, 1, most_ns);
	heap_push(&exchange->world, call->act_at, SIM_EV_APP, call);
}

/* It lives, for a moment or a minute. */
void
call_lives(struct call *call)
{
	struct exchange *exchange = call->office->exchange;

	call->state = CALL_ESTABLISHED;
	call->since = exchange->world.now;
	if (!exchange->stays || draw_percent(&call->office->prng, 50)) {
		call_think(call, exchange->think_most_ns);
		return;
	}
	call->act_at = exchange->world.now + draw_between(&call->office->prng, 1, 64 * PLX_SEC);
	heap_push(&exchange->world, call->act_at, SIM_EV_APP, call);
}

/* The other end, if its program still has it. */
struct call *
call_partner(const struct call *call)
{
	struct exchange *exchange = call->office->exchange;
	const struct ask *ask = ask_of(exchange, call->ask);
	const struct answer *answer = answer_of(exchange, call->answer);
	struct office *office;

	if (ask == NULL || (call->active && answer == NULL))
		return NULL;
	office = &exchange->office[call->active ? answer->office : ask->office];
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		struct call *other = &office->call[i];

		if (other->state != CALL_IDLE && other->active != call->active &&
		    (call->active ? other->answer == call->answer : other->ask == call->ask))
			return other;
	}
	return NULL;
}

/* ---- waiting for the other one ----------------------------------------------------------------
 */

/* The office at the other end. */
static struct office *
other_office(const struct call *call)
{
	struct exchange *exchange = call->office->exchange;
	const struct ask *ask = ask_of(exchange, call->ask);
	uint32_t index = call->active ? ask->to : ask->office;

	return index < OFFICES_MAX ? &exchange->office[index] : NULL;
}

/* It has asked, or accepted: from now on the other one must be heard, or datagrams be lost. */
void
call_waits(struct call *call)
{
	const struct office *other = other_office(call);

	call->since = call->office->exchange->world.now;
	call->life_before = other ? other->life : 0;
	call->gave_way_before = plx_cm_counters(call->office->cm)->gave_way;
}

/* The other one asks for more time, as often as it is asked, and never makes up its mind. */
static bool
is_put_off(const struct call *call, const struct office *other)
{
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		if (other->call[i].state == CALL_REQ_RCVD && other->call[i].ask == call->ask)
			return true;
	}
	return false;
}

/* Each try that was heard has been answered, but for the first, while a program makes up its mind:
 * were as many datagrams lost as there were tries? */
bool
call_may_time_out(const struct call *call)
{
	const struct sim_weather *weather = &call->office->exchange->world.config.weather;
	const struct office *other = other_office(call);

	if (other == NULL || other->life != call->life_before)
		return true;
	if (weather->clog_ns > 0 || weather->step_ns > 0 || weather->latency_ns > PLX_SEC / 4)
		return true; /* late is as good as lost */
	if (call->active && is_put_off(call, other))
		return true;
	if (!call->active && plx_cm_counters(call->office->cm)->gave_way > call->gave_way_before)
		return true;
	return plx_cm_counters(other->cm)->answers_dropped > 0 ||
	       ledger_losses(call->office, call->id) >= PLX_CM_TRIES - 1;
}

/* Was it done? If not, the connection has ended, and an event that waits will say so. */
static bool
done(struct call *call, enum plx_status status, const char *what)
{
	struct world *world = &call->office->exchange->world;

	sim_must(world, status == PLX_OK || status == PLX_STATE, "C4", "%s is refused: %s", what,
		 plx_status_text(status));
	if (status == PLX_OK)
		return true;
	sim_must(world, plx_cm_has_event(call->office->cm), "C4",
		 "%s is refused, and no event tells why", what);
	call->doomed = true;
	return false;
}

/* A wrong use of an id that has ended: refused, and nothing changes. */
static void
misuse(struct office *office, struct plx_cm_id id)
{
	struct world *world = &office->exchange->world;
	struct plx_cm_view before, after;
	uint64_t now = office_now(office);
	enum plx_status status = PLX_OK;
	uint64_t kind = plx_prng_below(&office->prng, 5);

	plx_cm_query(office->cm, &before);
	if (kind == 0)
		status = plx_cm_establish(office->cm, id, now);
	else if (kind == 1)
		status = plx_cm_disconnect(office->cm, id, now);
	else if (kind == 2)
		status = plx_cm_reject(office->cm, id, NULL, 0, now);
	else if (kind == 3)
		status = plx_cm_comm_established(office->cm, id, now);
	else
		plx_cm_abandon(office->cm, id, now);
	sim_must(world, status == (kind < 4 ? PLX_STATE : PLX_OK), "C2",
		 "an id that has ended is taken: %s", plx_status_text(status));
	plx_cm_query(office->cm, &after);
	sim_must(world, memcmp(&before, &after, sizeof(before)) == 0, "C2",
		 "an id that has ended changes the counts");
}

/* ---- asking --------------------------------------------------------------------------------- */

static uint32_t
draw_qpn(struct office *office)
{
	struct exchange *exchange = office->exchange;

	if (exchange->qpn_pool == 0 || exchange->fair)
		return exchange->qpn_next++;
	for (;;) {
		uint32_t qpn = 2 + (uint32_t)plx_prng_below(&office->prng, exchange->qpn_pool);
		bool used = false;

		/* Two queue pairs never have one number at a time; one after the other they may. */
		for (uint32_t i = 0; i < CALLS_MAX; i++)
			used |= office->call[i].state != CALL_IDLE &&
				office->call[i].own.qpn == qpn;
		if (!used)
			return qpn;
	}
}

static struct plx_cm_own
draw_own(struct office *office, uint32_t path_mtu)
{
	struct plx_prng *prng = &office->prng;

	return (struct plx_cm_own){
		.qpn = draw_qpn(office),
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
draw_mtu(struct office *office, uint32_t most, bool bad)
{
	uint32_t mtu = UINT32_C(256) << plx_prng_below(&office->prng, 5);

	return bad || mtu <= most ? mtu : most;
}

static void
draw_ask(struct office *office, struct ask *ask)
{
	struct exchange *exchange = office->exchange;
	struct plx_prng *prng = &office->prng;
	bool v6 = draw_percent(prng, 50);
	bool bad = !exchange->fair && !exchange->gentle && draw_percent(prng, 5);
	const struct office *to;

	*ask = (struct ask){.office = office->index};
	ask->at = exchange->world.now;
	ask->to = (uint32_t)plx_prng_below(prng, exchange->office_count);
	ask->ear = (uint32_t)plx_prng_below(prng, EARS);
	if (!exchange->fair && draw_percent(prng, 8))
		ask->ear = draw_percent(prng, 80) ? EARS : EARS + EARS - 1;
	ask->sidr = ask->ear % EARS == EARS - 1;
	to = &exchange->office[ask->to];
	ask->connect.local = office->ip[v6];
	ask->connect.remote = to->ip[v6];
	if (!exchange->fair && draw_percent(prng, 3)) {
		ask->to = OFFICES_MAX;
		ask->connect.remote.v[v6 ? 15 : 3] = 200;
	}
	ask->connect.local_port = (uint16_t)draw_between(prng, 1, UINT16_MAX);
	ask->connect.remote_port = (uint16_t)(EAR_PORT + ask->ear);
	ask->connect.own = draw_own(office, draw_mtu(office, to->config.path_mtu, bad));
	ask->length = (uint32_t)draw_between(prng, SERIAL_BYTES, PLX_CM_PRIVATE_REQ);
	if (draw_percent(prng, 10))
		ask->length = draw_percent(prng, 50) ? 0 : PLX_CM_PRIVATE_REQ;
}

/* Returns: whether somebody was asked; not when the manager or the office is full */
bool
call_dial(struct office *office)
{
	struct exchange *exchange = office->exchange;
	struct world *world = &exchange->world;
	uint8_t private_data[PLX_CM_PRIVATE_REQ];
	struct plx_cm_connect connect;
	struct call *call = call_new(office);
	struct plx_cm_view view;
	struct ask ask;
	enum plx_status status;
	struct plx_cm_id id = {0};

	if (call == NULL)
		return false;
	draw_ask(office, &ask);
	call->ask = ask_add(exchange, &ask);
	call->own = ask.connect.own;
	call->active = true;
	private_write(call->ask, ask.length, private_data);
	connect = ask.connect;
	connect.context = call->context;
	connect.private_data = ask.length ? private_data : NULL;
	connect.private_bytes = ask.length;
	plx_cm_query(office->cm, &view);
	status = (ask.sidr ? plx_cm_sidr_request : plx_cm_connect)(office->cm, &connect,
								   office_now(office), &id);
	if (status == PLX_FULL) {
		sim_must(world, view.connections >= office->config.connections, "C3",
			 "full with %u of %u connections", view.connections,
			 office->config.connections);
		world->stats.refused++;
		call_over(call);
		return false;
	}
	sim_must(world, status == PLX_OK, "C1", "asking is refused: %s", plx_status_text(status));
	ledger_id(office, id);
	call->id = id;
	call->state = ask.sidr ? CALL_SIDR_REQ_SENT : CALL_REQ_SENT;
	call_waits(call);
	trace_as(world, TRACE_POST, office->index, call->number, id.v, call->ask, ask.to);
	world->stats.ops++;
	if (!exchange->fair && draw_percent(&office->prng, 10))
		call_think(call, exchange->think_most_ns); /* and then gives up */
	office_touch(office);
	return true;
}

/* ---- making up one's mind ------------------------------------------------------------------- */

static void
refuse(struct call *call)
{
	struct office *office = call->office;
	struct exchange *exchange = office->exchange;
	uint8_t private_data[PLX_CM_PRIVATE_REJ];
	struct answer answer = {
		.ask = call->ask,
		.office = office->index,
		.length = (uint32_t)draw_between(&office->prng, SERIAL_BYTES, PLX_CM_PRIVATE_REJ),
	};
	uint64_t serial = answer_add(exchange, &answer);
	enum plx_status status;

	private_write(serial, answer.length, private_data);
	status = plx_cm_reject(office->cm, call->id, private_data, answer.length,
			       office_now(office));
	if (!done(call, status, "refusing"))
		return;
	office->rejects++;
	exchange->world.stats.turned_down++;
	call_over(call);
}

static void
abandon(struct call *call)
{
	call->office->rejects++; /* at most: it depends on where the connection is */
	plx_cm_abandon(call->office->cm, call->id, office_now(call->office));
	call_over(call);
}

/* What accept must say was agreed: each side's wish within the other's offer. */
static void
check_agreed(struct call *call, const struct plx_cm_peer *peer)
{
	struct world *world = &call->office->exchange->world;
	const struct plx_cm_peer *asked = &call->peer;

#define LESS(a, b) ((a) < (b) ? (a) : (b))
	sim_must(world, peer->qpn == asked->qpn && plx_psn_eq(peer->psn, asked->psn), "C4",
		 "accepted is another queue pair than that which asked");
	sim_must(world,
		 peer->responder_resources ==
			 LESS(call->own.responder_resources, asked->responder_resources),
		 "C4", "%u responder resources of %u, asked for %u", peer->responder_resources,
		 call->own.responder_resources, asked->responder_resources);
	sim_must(world,
		 peer->initiator_depth == LESS(call->own.initiator_depth, asked->initiator_depth),
		 "C4", "initiator depth %u of %u, offered %u", peer->initiator_depth,
		 call->own.initiator_depth, asked->initiator_depth);
	sim_must(world, peer->path_mtu == asked->path_mtu, "C4", "path MTU %u, asked for %u",
		 peer->path_mtu, asked->path_mtu);
#undef LESS
}

static void
accept(struct call *call)
{
	struct office *office = call->office;
	struct exchange *exchange = office->exchange;
	struct plx_prng *prng = &office->prng;
	uint8_t private_data[PLX_CM_PRIVATE_REP];
	struct answer answer = {.ask = call->ask, .office = office->index, .accepted = true};
	struct plx_cm_peer peer;
	enum plx_status status;

	memset(&peer, 0xa5, sizeof(peer));
	answer.own = draw_own(office, 4096);
	answer.length = draw_percent(prng, 10)
				? PLX_CM_PRIVATE_REP
				: (uint32_t)draw_between(prng, SERIAL_BYTES, PLX_CM_PRIVATE_REP);
	call->own = answer.own;
	call->answer = answer_add(exchange, &answer);
	private_write(call->answer, answer.length, private_data);
	status = plx_cm_accept(office->cm, call->id, &answer.own, call->context, private_data,
			       answer.length, office_now(office), &peer);
	if (!done(call, status, "accepting"))
		return;
	call->named = true;
	office->accepts++;
	check_agreed(call, &peer);
	call->peer = peer;
	call->state = CALL_REP_SENT;
	call_waits(call);
	if (!exchange->gentle && !exchange->fair && draw_percent(prng, 20))
		call_think(call, exchange->think_most_ns); /* and then goes away */
}

static void
complete(struct call *call)
{
	struct office *office = call->office;
	enum plx_status status = plx_cm_establish(office->cm, call->id, office_now(office));

	if (!done(call, status, "completing"))
		return;
	ask_of(office->exchange, call->ask)->completed = true;
	office->exchange->world.stats.lives++;
	call_lives(call);
	if (draw_percent(&office->prng, 30)) /* it sends at once */
		heap_push(&office->exchange->world,
			  office->exchange->world.now + draw_log(&office->prng, 1, PLX_SEC),
			  SIM_EV_RECV, call);
}

static void
leave(struct call *call)
{
	struct office *office = call->office;
	enum plx_status status = plx_cm_disconnect(office->cm, call->id, office_now(office));

	if (!done(call, status, "disconnecting"))
		return;
	office->exchange->world.stats.left++;
	call->state = CALL_DREQ_SENT;
	call->since = office->exchange->world.now;
	if (!office->exchange->fair && draw_percent(&office->prng, 10))
		call_think(call, office->exchange->think_most_ns); /* and does not wait */
}

/* The queue pair is gone: an event says how it ends. */
static void
lose(struct call *call)
{
	struct office *office = call->office;
	enum plx_status status = plx_cm_qp_failed(office->cm, call->id, office_now(office));

	if (!done(call, status, "losing a queue pair"))
		return;
	office->exchange->world.stats.kills++;
	call->alive = call->state == CALL_ESTABLISHED || call->state == CALL_REP_SENT;
	call->state = CALL_QP_FAILED;
	call->since = office->exchange->world.now;
}

/* Nothing was asked of it in this state: it may be done all the same. */
static void
act_waiting(struct call *call, uint64_t mood)
{
	if (mood < 60)
		abandon(call);
	else if (call->state == CALL_REQ_SENT)
		lose(call);
	else if (call->state == CALL_REP_SENT && mood < 80)
		leave(call);
	else if (call->state == CALL_REP_SENT)
		lose(call);
	else
		abandon(call);
}

static void
act_living(struct call *call, uint64_t mood)
{
	if (call->office->exchange->fair || mood < 60)
		leave(call);
	else if (mood < 80)
		abandon(call);
	else if (mood < 90)
		lose(call);
	else
		call_think(call, call->office->exchange->think_most_ns); /* later, then */
}

/* The first packet of the active side is there, before its RTU or after. */
void
call_on_data(struct call *call)
{
	struct call *other;
	struct office *office;

	if (call->state != CALL_ESTABLISHED || !call->active)
		return;
	other = call_partner(call);
	if (other == NULL || other->state != CALL_REP_SENT || other->doomed)
		return;
	office = other->office;
	if (plx_cm_comm_established(office->cm, other->id, office_now(office)) == PLX_OK)
		office->exchange->world.stats.early++;
	else
		sim_must(&office->exchange->world, plx_cm_has_event(office->cm), "C4",
			 "data is not as good as an RTU");
	office_check(office);
	office_touch(office);
}

void
call_on_event(struct call *call)
{
	struct exchange *exchange = call->office->exchange;
	bool fair = exchange->fair;
	uint64_t mood = plx_prng_below(&call->office->prng, 100);
	struct plx_cm_id id = call->id;

	if (call->state == CALL_IDLE || call->act_at != exchange->world.now || call->doomed)
		return;
	call->act_at = PLX_NEVER;
	trace_as(&exchange->world, TRACE_CM_ACTS, call->office->index, call->number, call->state,
		 mood, 0);
	switch (call->state) {
	case CALL_REP_RCVD:
		if (fair || mood < 75)
			complete(call);
		else if (mood < 85)
			refuse(call);
		else if (mood < 95)
			abandon(call);
		else
			lose(call);
		break;
	case CALL_REQ_RCVD:
		if (fair || mood < 75)
			accept(call);
		else if (mood < 90)
			refuse(call);
		else
			abandon(call);
		break;
	case CALL_ESTABLISHED:
		act_living(call, mood);
		break;
	case CALL_SIDR_REQ_SENT:
	case CALL_REQ_SENT:
	case CALL_REP_SENT:
	case CALL_DREQ_SENT:
		act_waiting(call, mood);
		break;
	case CALL_QP_FAILED:
	case CALL_IDLE:
	case CALL_STATES:
		break;
	}
	if (call->state == CALL_IDLE)
		misuse(call->office, id);
	office_check(call->office);
	office_touch(call->office);
}
