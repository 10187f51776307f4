/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the hosts: a manager and its host, polled in virtual time when it wants to be, or when
 * there is something for it; ports that open and close; what becomes of datagrams on their way. It
 * never decides what a program does with an event. Start with cm_host_on_poll().
 */
#include <stdlib.h>

#include "fabric.h"

enum {
	AT_LOCAL = PLX_ETH_BYTES,                          /* of a frame: who sends, */
	AT_REMOTE = AT_LOCAL + (int)sizeof(struct plx_ip), /* ... to whom, */
	AT_MAD = AT_REMOTE + (int)sizeof(struct plx_ip),
	FRAME_BYTES = AT_MAD + PLX_MAD_BYTES,
	TURNS_MOST = 100000, /* of polls in a row */
};

uint64_t
cm_host_now(const struct cm_host *host)
{
	return clock_local(host->station);
}

/* ---- birth and death ---- */

static void
open_ear(struct cm_host *host, uint32_t which)
{
	struct fabric *fabric = host->fabric;
	struct listener *listener = &host->listener[which];
	bool udp = which == LISTENERS_MAX - 1;
	bool narrow = !fabric->gentle && !fabric->fair && draw_percent(&host->prng, 30);
	struct plx_cm_listen listen = {
		.space = udp ? PLX_PORT_SPACE_UDP : PLX_PORT_SPACE_TCP,
		.port = (uint16_t)(LISTENER_PORT + which),
		.backlog = narrow ? (uint32_t)draw_between(&host->prng, 1, 4) : 0,
		.context = which,
		.qpn = fabric->qpn_next,
		.qkey = PLX_CMA_QKEY,
	};
	uint32_t before = listener->id.v;
	enum plx_status status = plx_cm_listen(host->cm, &listen, &listener->id);

	sim_must(&fabric->world, status == PLX_OK, "C8", "listening is refused: %s",
		 plx_status_text(status));
	fabric->qpn_next += udp;
	/* Of a space of its own: a connection may have the same number. */
	for (uint32_t i = 0; i < LISTENERS_MAX; i++)
		sim_must(&fabric->world, i == which || host->listener[i].id.v != listener->id.v,
			 "C2", "two listeners have id %08x", listener->id.v);
	sim_must(&fabric->world, listener->id.v != 0 && listener->id.v != before, "C2",
		 "the id of a listener is that of the one before");
	listener->open = true;
	listener->qpn = listen.qpn;
	listener->changed_at = fabric->world.now;
	status = plx_cm_listen(host->cm, &listen, &(struct plx_cm_id){0});
	sim_must(&fabric->world, status == PLX_BUSY, "C8", "listening twice: %s",
		 plx_status_text(status));
}

static void
start(struct cm_host *host)
{
	struct world *world = &host->fabric->world;
	size_t bytes;

	host->config.secret.word[0] = plx_prng_next(&host->prng);
	host->config.secret.word[1] = plx_prng_next(&host->prng);
	bytes = plx_cm_bytes(&host->config);
	PLX_ASSERT(bytes > 0 && posix_memalign(&host->memory, PLX_CACHE_LINE, bytes) == 0);
	memset(host->memory, 0xa5, bytes);
	host->cm = plx_cm_init(host->memory, &host->config);
	host->ids = 0;
	host->tally_count = 0;
	memset(host->sent, 0, sizeof(host->sent));
	memset(host->received, 0, sizeof(host->received));
	host->accepts = host->rejects = host->received_all = host->questions = 0;
	if (host->tally_room > 0)
		memset(host->tally, 0, host->tally_room * sizeof(*host->tally));
	trace_as(world, TRACE_LIFE, host->index, host->life, 0, 0, 0);
	memset(host->listener, 0, sizeof(host->listener));
	for (uint32_t i = 0; i < LISTENERS_MAX; i++)
		open_ear(host, i);
}

void
cm_host_create(struct fabric *fabric, uint32_t index)
{
	struct world *world = &fabric->world;
	struct cm_host *host = &fabric->host[index];

	host->fabric = fabric;
	host->index = index;
	host->prng = draw_stream(world->seed, 'o', index, 0);
	host->station = &world->station[index];
	host->station->world = world;
	host->station->index = index;
	clock_start(host->station);
	host->ip[0] = (struct plx_ip){4, {10, 0, 0, (uint8_t)(index + 1)}};
	host->ip[1] = (struct plx_ip){6, {0xfd, [15] = (uint8_t)(index + 1)}};
	host->config.connections = (uint32_t)draw_log(&host->prng, 32, 512);
	host->config.half_open = (uint32_t)draw_log(&host->prng, 8, host->config.connections);
	if (fabric->gentle) {
		host->config.connections = 1024;
		host->config.half_open = 512;
	}
	host->config.path_mtu = UINT32_C(1) << draw_between(&host->prng, 8, 12);
	host->config.ca_guid = UINT64_C(0x020000fffe000000) + index;
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		host->connector[i].host = host;
		host->connector[i].number = i;
	}
	start(host);
	host->poll_at = PLX_NEVER;
}

/* Power fails: everything is forgotten without an event. */
void
cm_host_vanish(struct cm_host *host)
{
	struct world *world = &host->fabric->world;

	world->stats.crashes++;
	trace_as(world, TRACE_KILL, host->index, host->life, 0, 0, 0);
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		if (host->connector[i].state != CONNECTOR_IDLE)
			connector_end(&host->connector[i]);
	}
	cm_host_destroy(host);
	host->life++;
	start(host);
	cm_host_reschedule(host);
}

void
cm_host_destroy(struct cm_host *host)
{
	memset(host->memory, 0x5a, plx_cm_bytes(&host->config));
	free(host->memory);
	host->memory = NULL;
	host->cm = NULL;
}

static void
close_ear(struct cm_host *host, uint32_t which)
{
	struct world *world = &host->fabric->world;
	struct listener *listener = &host->listener[which];
	enum plx_status status = plx_cm_unlisten(host->cm, listener->id, cm_host_now(host));

	sim_must(world, status == PLX_OK, "C8", "a listener cannot end: %s",
		 plx_status_text(status));
	status = plx_cm_unlisten(host->cm, listener->id, cm_host_now(host));
	sim_must(world, status == PLX_STATE, "C8", "a listener ends twice: %s",
		 plx_status_text(status));
	listener->open = false;
	listener->changed_at = world->now;
	cm_host_reschedule(host);
}

void
cm_host_toggle_listener(struct cm_host *host)
{
	uint32_t which = (uint32_t)plx_prng_below(&host->prng, LISTENERS_MAX);

	if (host->listener[which].open)
		close_ear(host, which);
	else
		open_ear(host, which);
}

/* All listeners, and room for every request. */
void
cm_host_open_all(struct cm_host *host)
{
	for (uint32_t i = 0; i < LISTENERS_MAX; i++) {
		if (host->listener[i].open)
			close_ear(host, i);
		open_ear(host, i);
	}
}

void
cm_host_close_all(struct cm_host *host)
{
	for (uint32_t i = 0; i < LISTENERS_MAX; i++) {
		if (host->listener[i].open)
			close_ear(host, i);
	}
}

/* ---- datagrams ---- */

/* The host with this address, or CM_HOSTS_MAX. */
static uint32_t
cm_host_at(const struct fabric *fabric, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		if (memcmp(ip, &fabric->host[i].ip[ip->version == 6], sizeof(*ip)) == 0)
			return i;
	}
	return CM_HOSTS_MAX;
}

static void
launch(struct fabric *fabric, uint32_t from, uint32_t to, const uint8_t *frame)
{
	uint8_t *bytes = malloc(FRAME_BYTES);

	PLX_ASSERT(bytes != NULL);
	memcpy(bytes, frame, FRAME_BYTES);
	if (from == to)
		link_stray(&fabric->world, &fabric->world.station[to], bytes, FRAME_BYTES);
	else
		link_send(fabric->world.carrier[from][to], bytes, FRAME_BYTES);
}

/* One that was sent once comes again, however long after. */
static void
ghost(struct fabric *fabric)
{
	struct plx_prng *prng = &fabric->world.prng;
	const struct old_datagram *old;

	if (fabric->world.calm || fabric->old_count == 0 ||
	    !plx_prng_chance(prng, fabric->ghost_ppm))
		return;
	old = &fabric->old[plx_prng_below(
		prng, fabric->old_count < OLD_DATAGRAMS ? fabric->old_count : OLD_DATAGRAMS)];
	fabric->world.stats.ghosts++;
	launch(fabric, old->from, old->to, old->bytes);
}

/* Is that the REQ of a connection that both ends live on? */
static bool
is_of_the_living(const struct fabric *fabric, uint32_t from, const struct plx_cm_req *req)
{
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++) {
		const struct connector *connector = &fabric->host[from].connector[i];
		const struct connector *other;

		if (connector->state != CONNECTOR_ESTABLISHED || !connector->active ||
		    connector->id.v != req->local_comm_id)
			continue;
		other = connector_partner(connector);
		return other != NULL && other->state == CONNECTOR_ESTABLISHED;
	}
	return false;
}

/* A stranger that knows a peer's address, GUID and queue pair, but no id, sends a REQ in its name.
 * Where queue pair numbers are reused, programs expect such requests. */
static void
stranger(struct fabric *fabric)
{
	struct plx_prng *prng = &fabric->world.prng;
	uint8_t frame[FRAME_BYTES];
	const struct old_datagram *old;
	struct plx_cm_msg msg;

	if (fabric->world.calm || fabric->old_count == 0 || fabric->qpn_pool == 0 ||
	    !plx_prng_chance(prng, fabric->ghost_ppm))
		return;
	old = &fabric->old[plx_prng_below(
		prng, fabric->old_count < OLD_DATAGRAMS ? fabric->old_count : OLD_DATAGRAMS)];
	if (plx_mad_decode(old->bytes + AT_MAD, PLX_MAD_BYTES, &msg) != PLX_MAD_OK ||
	    msg.kind != PLX_CM_REQ || !is_of_the_living(fabric, old->from, &msg.req))
		return;
	msg.req.local_comm_id = (uint32_t)plx_prng_next(prng) | 1;
	memcpy(frame, old->bytes, FRAME_BYTES);
	plx_mad_encode(&msg, frame + AT_MAD);
	fabric->world.stats.ghosts++;
	launch(fabric, old->from, old->to, frame);
}

static void
send(struct cm_host *host, const struct plx_cm_route *route, const uint8_t *mad)
{
	struct fabric *fabric = host->fabric;
	struct world *world = &fabric->world;
	uint8_t frame[FRAME_BYTES] = {[12] = FRAME_TYPE >> 8, [13] = FRAME_TYPE & 0xff};
	uint32_t to = cm_host_at(fabric, &route->remote);
	uint64_t drops;

	ledger_sent(host, route, mad);
	if (to == CM_HOSTS_MAX) {
		world->stats.unreachable++;
		if (draw_percent(&host->prng, 50))
			plx_cm_on_unreachable(host->cm, &route->remote, cm_host_now(host));
		return;
	}
	memcpy(frame + AT_LOCAL, &route->local, sizeof(route->local));
	memcpy(frame + AT_REMOTE, &route->remote, sizeof(route->remote));
	memcpy(frame + AT_MAD, mad, PLX_MAD_BYTES);
	if (plx_prng_below(&world->prng, 4) == 0) {
		struct old_datagram *old = &fabric->old[fabric->old_count++ % OLD_DATAGRAMS];

		old->from = host->index;
		old->to = to;
		memcpy(old->bytes, frame, FRAME_BYTES);
	}
	drops = world->stats.drops;
	launch(fabric, host->index, to, frame);
	if (world->stats.drops > drops)
		ledger_lost(host, &fabric->host[to], mad);
	ghost(fabric);
	stranger(fabric);
}

void
cm_host_arrive(struct cm_host *host, struct packet *packet)
{
	struct world *world = &host->fabric->world;
	struct plx_cm_route route = {.has_link = false};
	uint8_t *mad = malloc(PLX_MAD_BYTES);
	enum plx_cm_verdict verdict;

	PLX_ASSERT(mad != NULL && packet->len == FRAME_BYTES);
	link_landed(world, packet);
	memcpy(&route.remote, packet->bytes + AT_LOCAL, sizeof(route.remote));
	memcpy(&route.local, packet->bytes + AT_REMOTE, sizeof(route.local));
	memcpy(mad, packet->bytes + AT_MAD, PLX_MAD_BYTES);
	ledger_received(host, mad);
	verdict = plx_cm_on_mad(host->cm, &route, mad, PLX_MAD_BYTES, cm_host_now(host));
	trace_as(world, TRACE_CM_JUDGED, host->index, verdict, 0, 0, 0);
	sim_must(world, verdict != PLX_CM_MALFORMED, "C7", "a datagram of ours is malformed");
	if (verdict == PLX_CM_LIMITED)
		ledger_lost(&host->fabric->host[cm_host_at(host->fabric, &route.remote)], host,
			    mad);
	free(mad);
	link_release(world, packet);
	cm_host_check(host);
	cm_host_reschedule(host);
}

/* ---- polling ---- */

static void
poll_by(struct cm_host *host, uint64_t at)
{
	if (at >= host->poll_at)
		return;
	host->poll_at = at;
	heap_push(&host->fabric->world, at, SIM_EV_POLL, host);
}

/* Something has changed: the manager is looked at soon. */
void
cm_host_reschedule(struct cm_host *host)
{
	uint64_t late = draw_log(&host->prng, 1, host->fabric->late_ns);

	poll_by(host, host->fabric->world.now + late);
}

/* After everything: counts within what was configured. */
void
cm_host_check(struct cm_host *host)
{
	struct world *world = &host->fabric->world;
	struct plx_cm_view view;
	uint32_t was_established = 0, listeners = 0;

	plx_cm_query(host->cm, &view);
	for (uint32_t i = 0; i < LISTENERS_MAX; i++)
		listeners += host->listener[i].open;
	sim_must(world, view.listeners == listeners, "C3", "%u listeners, %u were opened",
		 view.listeners, listeners);
	for (uint32_t i = 0; i < CONNECTORS_MAX; i++)
		was_established += host->connector[i].state != CONNECTOR_IDLE;
	sim_must(world, view.connections >= was_established, "C3",
		 "%u connections, %u programs have one", view.connections, was_established);
	sim_must(world, view.connections <= host->config.connections, "C3",
		 "%u connections, %u are configured", view.connections, host->config.connections);
	sim_must(world, view.half_open <= host->config.half_open, "C3",
		 "%u half open, %u are configured", view.half_open, host->config.half_open);
	sim_must(world, view.half_open <= view.connections, "C3", "%u half open of %u",
		 view.half_open, view.connections);
}

/* Events in any number at a time, now and then out of turn. */
static void
take_events(struct cm_host *host)
{
	struct plx_cm_event event;
	uint32_t deferred = 0;

	while (plx_cm_has_event(host->cm)) {
		uint64_t context = plx_cm_event_context(host->cm);

		if (draw_percent(&host->prng, host->fabric->partial_percent)) {
			plx_cm_defer_event(host->cm);
			if (++deferred > 8) {
				cm_host_reschedule(host);
				return;
			}
			continue;
		}
		memset(&event, 0xa5, sizeof(event));
		sim_must(&host->fabric->world, plx_cm_next_event(host->cm, &event), "C9",
			 "an event is pending and is not delivered");
		sim_must(&host->fabric->world, event.context == context, "C9",
			 "the next event is not the one that was announced");
		event_deliver(host, &event);
	}
	memset(&event, 0xa5, sizeof(event));
	sim_must(&host->fabric->world, !plx_cm_next_event(host->cm, &event), "C9",
		 "an event is delivered that was not pending");
}

/* Datagrams, until there are none or the port is busy. Returns: whether it is */
static bool
transmit(struct cm_host *host)
{
	struct plx_cm_route route;
	uint8_t *mad;
	bool more;

	for (uint32_t turn = 0; turn < TURNS_MOST; turn++) {
		if (draw_percent(&host->prng, host->fabric->partial_percent))
			return true;
		mad = malloc(PLX_MAD_BYTES);
		PLX_ASSERT(mad != NULL);
		memset(mad, 0xa5, PLX_MAD_BYTES);
		memset(&route, 0, sizeof(route));
		more = plx_cm_transmit(host->cm, cm_host_now(host), &route, mad);
		if (more)
			send(host, &route, mad);
		free(mad);
		if (!more)
			return false;
	}
	sim_fail(&host->fabric->world, SIM_STUCK, "I13", WRONG_OTHER,
		 "there is always something to send");
}

void
cm_host_on_poll(struct cm_host *host, uint64_t at)
{
	struct world *world = &host->fabric->world;
	bool busy = false;
	uint64_t wake;

	if (at != host->poll_at)
		return;
	host->poll_at = PLX_NEVER;
	for (uint32_t turn = 0; !busy; turn++) {
		sim_must(world, turn < TURNS_MOST, "I13", "the manager is never done");
		plx_cm_on_tick(host->cm, cm_host_now(host));
		busy = transmit(host);
		wake = plx_cm_wake_ns(host->cm);
		if (wake > cm_host_now(host))
			break;
	}
	take_events(host);
	cm_host_check(host);
	if (busy) {
		cm_host_reschedule(host);
		return;
	}
	wake = plx_cm_wake_ns(host->cm);
	if (wake == PLX_NEVER)
		return;
	poll_by(host, wake == 0 ? world->now + 1 : clock_global(host->station, wake));
}
