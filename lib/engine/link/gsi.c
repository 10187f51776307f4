/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The GSI, queue pair 1 of the port: it passes management datagrams between packets and the
 * communication manager, and resolves neighbours. It knows nothing of connections.
 * Start with gsi_receive() and gsi_serve().
 *
 * A reply to an unverified peer is sent to the address its request came from, so that strangers
 * cannot trigger address resolution. Any other datagram whose receiver's Ethernet address is being
 * resolved waits here, at most GSI_WAITING_MAX of them; beyond that it is dropped, and the manager
 * retransmits it after its timeout.
 */
#include "far.h"

enum {
	FLOW = 0, /* one flow for all management: UDP source port 49152 */
};

struct gsi *
gsi_create(struct plx_cm *cm, struct plx_psn first_psn, int socket)
{
	struct gsi *gsi = plx_heap_alloc(sizeof(*gsi), socket);

	if (gsi == NULL)
		return NULL;
	gsi->cm = cm;
	gsi->psn = first_psn;
	plx_list_init(&gsi->graces);
	plx_list_init(&gsi->ends);
	return gsi;
}

void
gsi_destroy(struct gsi *gsi)
{
	plx_heap_free(gsi);
}

/* ---- in ---- */

static void
route_of(const struct plx_frame *frame, struct plx_cm_route *route)
{
	*route = (struct plx_cm_route){.local.version = frame->ip_version,
				       .remote.version = frame->ip_version,
				       .has_link = true};
	memcpy(route->link, frame->eth_src, sizeof(route->link));
	if (frame->ip_version == 4) {
		for (int i = 0; i < 4; i++) {
			route->remote.v[i] = (uint8_t)(frame->v4.src >> (24 - 8 * i));
			route->local.v[i] = (uint8_t)(frame->v4.dst >> (24 - 8 * i));
		}
		return;
	}
	memcpy(route->remote.v, frame->v6.src, sizeof(route->remote.v));
	memcpy(route->local.v, frame->v6.dst, sizeof(route->local.v));
}

/* Conditions for a valid datagram for queue pair 1, besides its integrity (IBTA vol 1, 9.6.1.4 and
 * 13.5.3.2). */
static bool
is_right(const struct plx_pkt *pkt)
{
	return pkt->opcode == PLX_UD_SEND_ONLY && pkt->deth.src_qpn == PLX_GSI_QPN &&
	       plx_ud_check(pkt, PLX_PKEY_DEFAULT, PLX_GSI_QKEY) == PLX_VERDICT_ACCEPT;
}

void
gsi_receive(struct plx_engine *engine, const struct plx_frame *frame, const struct plx_pkt *pkt,
	    const uint8_t *ip)
{
	size_t covered = (size_t)frame->ip_bytes - PLX_ICRC_BYTES;
	struct plx_cm_route route;

	/* A multicast address is never a valid sender, and gets no reply. */
	if (engine->gsi == NULL || !is_right(pkt) || frame->eth_src[0] & 1) {
		plx_count(&engine->counters.rx_gsi_denied, 1);
		return;
	}
	if (plx_icrc_load(ip + covered) != engine->icrc(ip, covered)) {
		plx_count(&engine->counters.rx_icrc, 1);
		return;
	}
	plx_count(&engine->counters.rx_gsi, 1);
	route_of(frame, &route);
	if (plx_cm_on_mad(engine->gsi->cm, &route, pkt->payload, pkt->payload_bytes, engine->now) ==
	    PLX_CM_TAKEN)
		/* An accept will need the peer's address at once. */
		plx_net_welcome(engine->config.net, &route.remote, route.link, engine->now);
	engine->link_busy = true;
}

/* ---- out ---- */

static void
emit(struct plx_engine *engine, const struct plx_cm_route *route, const uint8_t *mac,
     const uint8_t *mad)
{
	static const struct plx_ud_label label = {.src_qpn = PLX_GSI_QPN,
						  .dest_qpn = PLX_GSI_QPN,
						  .qkey = PLX_GSI_QKEY,
						  .pkey = PLX_PKEY_DEFAULT};
	const struct plx_engine_path path = {.local = route->local, .remote = route->remote};
	bool loops = memcmp(mac, engine->port->caps.mac, sizeof(engine->port->caps.mac)) == 0;
	struct plx_emit datagram = {.iovs = 1};
	struct plx_frame_template to_peer;
	struct gsi *gsi = engine->gsi;

	plx_ud_label(&label, gsi->psn, PLX_MAD_BYTES, &datagram.pkt);
	engine->actions.iov[datagram.iov_first] =
		(struct plx_iov){.base = mad, .bytes = PLX_MAD_BYTES};
	path_template(engine, &path, mac, FLOW, &to_peer);
	gsi->psn = plx_psn_add(gsi->psn, 1);
	if (engine_send_gsi(engine, &to_peer, &datagram, loops))
		plx_count(&engine->counters.tx_gsi, 1);
	else
		plx_count(&engine->counters.tx_gsi_dropped, 1);
}

static void
count_unreachable(struct plx_engine *engine, const struct plx_cm_route *route)
{
	plx_count(&engine->counters.tx_gsi_dropped, 1);
	plx_cm_on_unreachable(engine->gsi->cm, &route->remote, engine->now);
}

static enum plx_status
resolve_route(struct plx_engine *engine, const struct plx_cm_route *route, uint8_t *mac)
{
	const struct plx_net *net = engine->config.net;

	if (!route->has_link)
		return engine_resolve(engine, &route->remote, mac);
	return plx_net_resolve_reply(net, &route->remote, route->link, mac) == PLX_NET_READY
		       ? PLX_OK
		       : PLX_UNREACHABLE;
}

/* Send, queue or drop a datagram.
 * @param waits it is already queued
 * Returns: whether it stays queued */
static bool
send_or_wait(struct plx_engine *engine, const struct plx_cm_route *route, const uint8_t *mad,
	     bool waits)
{
	struct gsi *gsi = engine->gsi;
	struct gsi_waiting *place;
	uint8_t mac[6];
	enum plx_status status = resolve_route(engine, route, mac);

	if (status == PLX_OK)
		emit(engine, route, mac, mad);
	else if (status == PLX_UNREACHABLE)
		count_unreachable(engine, route);
	if (status != PLX_AGAIN || waits)
		return status == PLX_AGAIN;
	if (gsi->waiting_count == GSI_WAITING_MAX) {
		plx_count(&engine->counters.tx_gsi_dropped, 1);
		return false;
	}
	place = &gsi->waiting[gsi->waiting_count++];
	place->route = *route;
	memcpy(place->mad, mad, PLX_MAD_BYTES);
	engine->link_at = plx_time_min(engine->link_at, engine->now + GSI_LOOK_NS);
	return true;
}

static void
serve_waiting(struct plx_engine *engine)
{
	struct gsi *gsi = engine->gsi;
	uint32_t kept = 0;

	if (engine->now < engine->link_at)
		return;
	for (uint32_t i = 0; i < gsi->waiting_count; i++) {
		struct gsi_waiting *it = &gsi->waiting[i];

		if (!send_or_wait(engine, &it->route, it->mad, true))
			continue;
		if (kept != i)
			gsi->waiting[kept] = *it;
		kept++;
	}
	gsi->waiting_count = kept;
	engine->link_at = kept > 0 ? engine->now + GSI_LOOK_NS : PLX_NEVER;
}

void
gsi_on_tick(struct plx_engine *engine)
{
	plx_cm_on_tick(engine->gsi->cm, engine->now);
	engine->link_busy = true;
}

uint32_t
gsi_serve(struct plx_engine *engine)
{
	struct gsi *gsi = engine->gsi;
	struct plx_cm_route route;
	uint8_t mad[PLX_MAD_BYTES];
	uint32_t done = 0;
	uint64_t wake;
	bool more;

	serve_waiting(engine);
	if (!engine->link_busy)
		return 0;
	done += connector_deliver_events(engine);
	while (done < GSI_BURST && plx_cm_transmit(gsi->cm, engine->now, &route, mad)) {
		send_or_wait(engine, &route, mad, false);
		done++;
	}
	wake = plx_time_min(plx_cm_wake_ns(gsi->cm), connector_end_graces(engine));
	more = far_send_ends(engine);
	engine->link_busy = more || wake == 0 || plx_cm_has_event(gsi->cm);
	if (wake != 0 && wake < engine->link_timer.deadline)
		wheel_set(&engine->wheel, &engine->link_timer, wake);
	return done;
}
