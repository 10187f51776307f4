/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the offices: a manager and its host, polled in virtual time when it wants to be, or when
 * there is something for it; ports that open and close; what becomes of datagrams on their way. It
 * never decides what a program does with an event. Start with office_on_poll().
 */
#include <stdlib.h>

#include "fabric.h"

enum {
	AT_LOCAL = PLX_ETH_BYTES,                          /* of a frame: who sends, */
	AT_REMOTE = AT_LOCAL + (int)sizeof(struct plx_ip), /* ... to whom, */
	AT_MAD = AT_REMOTE + (int)sizeof(struct plx_ip),
	FRAME_BYTES = AT_MAD + PLX_MAD_BYTES,
	TURNS_MOST = 100000, /* of a poll that goes on and on */
};

uint64_t
office_now(const struct office *office)
{
	return clock_local(office->station);
}

/* ---- birth and death ------------------------------------------------------------------------ */

static void
open_ear(struct office *office, uint32_t which)
{
	struct exchange *exchange = office->exchange;
	struct ear *ear = &office->ear[which];
	bool udp = which == EARS - 1;
	bool narrow = !exchange->gentle && !exchange->fair && draw_percent(&office->prng, 30);
	struct plx_cm_listen listen = {
		.space = udp ? PLX_PORT_SPACE_UDP : PLX_PORT_SPACE_TCP,
		.port = (uint16_t)(EAR_PORT + which),
		.backlog = narrow ? (uint32_t)draw_between(&office->prng, 1, 4) : 0,
		.context = which,
		.qpn = exchange->qpn_next,
		.qkey = PLX_CMA_QKEY,
	};
	uint32_t before = ear->id.v;
	enum plx_status status = plx_cm_listen(office->cm, &listen, &ear->id);

	sim_must(&exchange->world, status == PLX_OK, "C8", "listening is refused: %s",
		 plx_status_text(status));
	exchange->qpn_next += udp;
	/* Of a space of its own: a connection may have the same number. */
	for (uint32_t i = 0; i < EARS; i++)
		sim_must(&exchange->world, i == which || office->ear[i].id.v != ear->id.v, "C2",
			 "id %08x is given to two listeners", ear->id.v);
	sim_must(&exchange->world, ear->id.v != 0 && ear->id.v != before, "C2",
		 "the id of a listener is that of the one before");
	ear->open = true;
	ear->qpn = listen.qpn;
	ear->changed_at = exchange->world.now;
	status = plx_cm_listen(office->cm, &listen, &(struct plx_cm_id){0});
	sim_must(&exchange->world, status == PLX_BUSY, "C8", "listening twice: %s",
		 plx_status_text(status));
}

static void
start(struct office *office)
{
	struct world *world = &office->exchange->world;
	size_t bytes;

	office->config.secret.word[0] = plx_prng_next(&office->prng);
	office->config.secret.word[1] = plx_prng_next(&office->prng);
	bytes = plx_cm_bytes(&office->config);
	PLX_ASSERT(bytes > 0 && posix_memalign(&office->memory, PLX_CACHE_LINE, bytes) == 0);
	memset(office->memory, 0xa5, bytes);
	office->cm = plx_cm_init(office->memory, &office->config);
	office->ids = 0;
	office->tally_count = 0;
	memset(office->sent, 0, sizeof(office->sent));
	memset(office->heard, 0, sizeof(office->heard));
	office->accepts = office->rejects = office->heard_all = office->questions = 0;
	if (office->tally_room > 0)
		memset(office->tally, 0, office->tally_room * sizeof(*office->tally));
	trace_as(world, TRACE_LIFE, office->index, office->life, 0, 0, 0);
	memset(office->ear, 0, sizeof(office->ear));
	for (uint32_t i = 0; i < EARS; i++)
		open_ear(office, i);
}

void
office_create(struct exchange *exchange, uint32_t index)
{
	struct world *world = &exchange->world;
	struct office *office = &exchange->office[index];

	office->exchange = exchange;
	office->index = index;
	office->prng = draw_stream(world->seed, 'o', index, 0);
	office->station = &world->station[index];
	office->station->world = world;
	office->station->index = index;
	clock_start(office->station);
	office->ip[0] = (struct plx_ip){4, {10, 0, 0, (uint8_t)(index + 1)}};
	office->ip[1] = (struct plx_ip){6, {0xfd, [15] = (uint8_t)(index + 1)}};
	office->config.connections = (uint32_t)draw_log(&office->prng, 32, 512);
	office->config.half_open = (uint32_t)draw_log(&office->prng, 8, office->config.connections);
	if (exchange->gentle) {
		office->config.connections = 1024;
		office->config.half_open = 512;
	}
	office->config.path_mtu = UINT32_C(1) << draw_between(&office->prng, 8, 12);
	office->config.ca_guid = UINT64_C(0x020000fffe000000) + index;
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		office->call[i].office = office;
		office->call[i].number = i;
	}
	start(office);
	office->poll_at = PLX_NEVER;
}

/* Power fails: whatever was known is gone, and nobody is told. */
void
office_vanish(struct office *office)
{
	struct world *world = &office->exchange->world;

	world->stats.crashes++;
	trace_as(world, TRACE_KILL, office->index, office->life, 0, 0, 0);
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		if (office->call[i].state != CALL_IDLE)
			call_over(&office->call[i]);
	}
	office_destroy(office);
	office->life++;
	start(office);
	office_touch(office);
}

void
office_destroy(struct office *office)
{
	memset(office->memory, 0x5a, plx_cm_bytes(&office->config));
	free(office->memory);
	office->memory = NULL;
	office->cm = NULL;
}

static void
close_ear(struct office *office, uint32_t which)
{
	struct world *world = &office->exchange->world;
	struct ear *ear = &office->ear[which];
	enum plx_status status = plx_cm_unlisten(office->cm, ear->id, office_now(office));

	sim_must(world, status == PLX_OK, "C8", "a listener cannot end: %s",
		 plx_status_text(status));
	status = plx_cm_unlisten(office->cm, ear->id, office_now(office));
	sim_must(world, status == PLX_STATE, "C8", "a listener ends twice: %s",
		 plx_status_text(status));
	ear->open = false;
	ear->changed_at = world->now;
	office_touch(office);
}

void
office_toggle_ear(struct office *office)
{
	uint32_t which = (uint32_t)plx_prng_below(&office->prng, EARS);

	if (office->ear[which].open)
		close_ear(office, which);
	else
		open_ear(office, which);
}

/* All ports, and nobody is turned away for want of room. */
void
office_open_all(struct office *office)
{
	for (uint32_t i = 0; i < EARS; i++) {
		if (office->ear[i].open)
			close_ear(office, i);
		open_ear(office, i);
	}
}

void
office_close_all(struct office *office)
{
	for (uint32_t i = 0; i < EARS; i++) {
		if (office->ear[i].open)
			close_ear(office, i);
	}
}

/* ---- datagrams ------------------------------------------------------------------------------ */

/* Whose address it is; OFFICES_MAX: nobody's. */
static uint32_t
office_at(const struct exchange *exchange, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < exchange->office_count; i++) {
		if (memcmp(ip, &exchange->office[i].ip[ip->version == 6], sizeof(*ip)) == 0)
			return i;
	}
	return OFFICES_MAX;
}

static void
launch(struct exchange *exchange, uint32_t from, uint32_t to, const uint8_t *frame)
{
	uint8_t *bytes = malloc(FRAME_BYTES);

	PLX_ASSERT(bytes != NULL);
	memcpy(bytes, frame, FRAME_BYTES);
	if (from == to)
		link_stray(&exchange->world, &exchange->world.station[to], bytes, FRAME_BYTES);
	else
		link_send(exchange->world.carrier[from][to], bytes, FRAME_BYTES);
}

/* One that was sent once comes again, however long after. */
static void
ghost(struct exchange *exchange)
{
	struct plx_prng *prng = &exchange->world.prng;
	const struct old_datagram *old;

	if (exchange->world.calm || exchange->old_count == 0 ||
	    !plx_prng_chance(prng, exchange->ghost_ppm))
		return;
	old = &exchange->old[plx_prng_below(
		prng, exchange->old_count < OLD_DATAGRAMS ? exchange->old_count : OLD_DATAGRAMS)];
	exchange->world.stats.ghosts++;
	launch(exchange, old->from, old->to, old->bytes);
}

/* Is that the REQ of a connection that both ends live on? */
static bool
is_of_the_living(const struct exchange *exchange, uint32_t from, const struct plx_cm_req *req)
{
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		const struct call *call = &exchange->office[from].call[i];
		const struct call *other;

		if (call->state != CALL_ESTABLISHED || !call->active ||
		    call->id.v != req->local_comm_id)
			continue;
		other = call_partner(call);
		return other != NULL && other->state == CALL_ESTABLISHED;
	}
	return false;
}

/* Somebody who knows a peer's address, GUID and queue pair, and none of the ids, asks in its name.
 * Where queue pairs are used again programs are ready to be told of them. */
static void
stranger(struct exchange *exchange)
{
	struct plx_prng *prng = &exchange->world.prng;
	uint8_t frame[FRAME_BYTES];
	const struct old_datagram *old;
	struct plx_cm_msg msg;

	if (exchange->world.calm || exchange->old_count == 0 || exchange->qpn_pool == 0 ||
	    !plx_prng_chance(prng, exchange->ghost_ppm))
		return;
	old = &exchange->old[plx_prng_below(
		prng, exchange->old_count < OLD_DATAGRAMS ? exchange->old_count : OLD_DATAGRAMS)];
	if (plx_mad_decode(old->bytes + AT_MAD, PLX_MAD_BYTES, &msg) != PLX_MAD_OK ||
	    msg.kind != PLX_CM_REQ || !is_of_the_living(exchange, old->from, &msg.req))
		return;
	msg.req.local_comm_id = (uint32_t)plx_prng_next(prng) | 1;
	memcpy(frame, old->bytes, FRAME_BYTES);
	plx_mad_encode(&msg, frame + AT_MAD);
	exchange->world.stats.ghosts++;
	launch(exchange, old->from, old->to, frame);
}

static void
send(struct office *office, const struct plx_cm_route *route, const uint8_t *mad)
{
	struct exchange *exchange = office->exchange;
	struct world *world = &exchange->world;
	uint8_t frame[FRAME_BYTES] = {[12] = FRAME_TYPE >> 8, [13] = FRAME_TYPE & 0xff};
	uint32_t to = office_at(exchange, &route->remote);
	uint64_t drops;

	ledger_sent(office, route, mad);
	if (to == OFFICES_MAX) {
		world->stats.unreachable++;
		if (draw_percent(&office->prng, 50))
			plx_cm_on_unreachable(office->cm, &route->remote, office_now(office));
		return;
	}
	memcpy(frame + AT_LOCAL, &route->local, sizeof(route->local));
	memcpy(frame + AT_REMOTE, &route->remote, sizeof(route->remote));
	memcpy(frame + AT_MAD, mad, PLX_MAD_BYTES);
	if (plx_prng_below(&world->prng, 4) == 0) {
		struct old_datagram *old = &exchange->old[exchange->old_count++ % OLD_DATAGRAMS];

		old->from = office->index;
		old->to = to;
		memcpy(old->bytes, frame, FRAME_BYTES);
	}
	drops = world->stats.drops;
	launch(exchange, office->index, to, frame);
	if (world->stats.drops > drops)
		ledger_lost(office, &exchange->office[to], mad);
	ghost(exchange);
	stranger(exchange);
}

void
office_arrive(struct office *office, struct packet *packet)
{
	struct world *world = &office->exchange->world;
	struct plx_cm_route route = {.has_link = false};
	uint8_t *mad = malloc(PLX_MAD_BYTES);
	enum plx_cm_verdict verdict;

	PLX_ASSERT(mad != NULL && packet->len == FRAME_BYTES);
	link_landed(world, packet);
	memcpy(&route.remote, packet->bytes + AT_LOCAL, sizeof(route.remote));
	memcpy(&route.local, packet->bytes + AT_REMOTE, sizeof(route.local));
	memcpy(mad, packet->bytes + AT_MAD, PLX_MAD_BYTES);
	ledger_heard(office, mad);
	verdict = plx_cm_on_mad(office->cm, &route, mad, PLX_MAD_BYTES, office_now(office));
	trace_as(world, TRACE_CM_JUDGED, office->index, verdict, 0, 0, 0);
	sim_must(world, verdict != PLX_CM_MALFORMED, "C7", "a datagram of ours is malformed");
	if (verdict == PLX_CM_LIMITED)
		ledger_lost(&office->exchange->office[office_at(office->exchange, &route.remote)],
			    office, mad);
	free(mad);
	link_release(world, packet);
	office_check(office);
	office_touch(office);
}

/* ---- polling -------------------------------------------------------------------------------- */

static void
poll_by(struct office *office, uint64_t at)
{
	if (at >= office->poll_at)
		return;
	office->poll_at = at;
	heap_push(&office->exchange->world, at, SIM_EV_POLL, office);
}

/* Something has changed: the manager is looked at soon. */
void
office_touch(struct office *office)
{
	uint64_t late = draw_log(&office->prng, 1, office->exchange->late_ns);

	poll_by(office, office->exchange->world.now + late);
}

/* After everything: counts within what was configured. */
void
office_check(struct office *office)
{
	struct world *world = &office->exchange->world;
	struct plx_cm_view view;
	uint32_t alive = 0, ears = 0;

	plx_cm_query(office->cm, &view);
	for (uint32_t i = 0; i < EARS; i++)
		ears += office->ear[i].open;
	sim_must(world, view.listeners == ears, "C3", "%u listeners, %u were opened",
		 view.listeners, ears);
	for (uint32_t i = 0; i < CALLS_MAX; i++)
		alive += office->call[i].state != CALL_IDLE;
	sim_must(world, view.connections >= alive, "C3", "%u connections, %u programs have one",
		 view.connections, alive);
	sim_must(world, view.connections <= office->config.connections, "C3",
		 "%u connections, %u are configured", view.connections, office->config.connections);
	sim_must(world, view.half_open <= office->config.half_open, "C3",
		 "%u half open, %u are configured", view.half_open, office->config.half_open);
	sim_must(world, view.half_open <= view.connections, "C3", "%u half open of %u",
		 view.half_open, view.connections);
}

/* Events in any number at a time, now and then out of turn. */
static void
take_events(struct office *office)
{
	struct plx_cm_event event;
	uint32_t deferred = 0;

	while (plx_cm_has_event(office->cm)) {
		uint64_t context = plx_cm_event_context(office->cm);

		if (draw_percent(&office->prng, office->exchange->partial_percent)) {
			plx_cm_defer_event(office->cm);
			if (++deferred > 8) {
				office_touch(office);
				return;
			}
			continue;
		}
		memset(&event, 0xa5, sizeof(event));
		sim_must(&office->exchange->world, plx_cm_next_event(office->cm, &event), "C9",
			 "an event waits and is not told");
		sim_must(&office->exchange->world, event.context == context, "C9",
			 "the next event is not the one that was announced");
		event_told(office, &event);
	}
	memset(&event, 0xa5, sizeof(event));
	sim_must(&office->exchange->world, !plx_cm_next_event(office->cm, &event), "C9",
		 "an event is told that does not wait");
}

/* Datagrams, until there are none or the port is busy. Returns: whether it is */
static bool
transmit(struct office *office)
{
	struct plx_cm_route route;
	uint8_t *mad;
	bool more;

	for (uint32_t turn = 0; turn < TURNS_MOST; turn++) {
		if (draw_percent(&office->prng, office->exchange->partial_percent))
			return true;
		mad = malloc(PLX_MAD_BYTES);
		PLX_ASSERT(mad != NULL);
		memset(mad, 0xa5, PLX_MAD_BYTES);
		memset(&route, 0, sizeof(route));
		more = plx_cm_transmit(office->cm, office_now(office), &route, mad);
		if (more)
			send(office, &route, mad);
		free(mad);
		if (!more)
			return false;
	}
	sim_fail(&office->exchange->world, SIM_STUCK, "I13", WRONG_OTHER,
		 "there is always something to send");
}

void
office_on_poll(struct office *office, uint64_t at)
{
	struct world *world = &office->exchange->world;
	bool busy = false;
	uint64_t wake;

	if (at != office->poll_at)
		return;
	office->poll_at = PLX_NEVER;
	for (uint32_t turn = 0; !busy; turn++) {
		sim_must(world, turn < TURNS_MOST, "I13", "the manager is never done");
		plx_cm_on_tick(office->cm, office_now(office));
		busy = transmit(office);
		wake = plx_cm_wake_ns(office->cm);
		if (wake > office_now(office))
			break;
	}
	take_events(office);
	office_check(office);
	if (busy) {
		office_touch(office);
		return;
	}
	wake = plx_cm_wake_ns(office->cm);
	if (wake == PLX_NEVER)
		return;
	poll_by(office, wake == 0 ? world->now + 1 : clock_global(office->station, wake));
}
