/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs on the engine's thread: number, states, and the path to the peer. Their creation, and
 * the calls of other threads, are in qp_command.c.
 * Start with engine_qp_modify().
 */
#include "plx_bytes.h"
#include "plx_engine_member.h"
#include "waiting.h"

/* ---- on the engine's thread ---- */

/* Choose an unused number whose slot in the table is free, so that a lookup needs one probe. */
static uint32_t
choose_number(struct plx_engine *engine, uint32_t *slot)
{
	/* The table is at most half full: two tries on average. */
	for (;;) {
		uint32_t qpn = plx_numbers_draw(engine->numbers);

		*slot = plx_numbers_place(engine->place_factor, engine->place_bits, qpn);
		if (engine->table[*slot].qpn == 0)
			return qpn;
	}
}

enum plx_status
engine_qp_number(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	if (engine->qp_count >= engine->config.qps)
		return PLX_FULL;
	engine->qp_count++;
	qp->qpn = choose_number(engine, &qp->slot);
	qp->first_psn = plx_numbers_psn(engine->numbers);
	qp->sq.doorbell = seat_doorbell(qp->seat->front, qp->slot, -1);
	engine_seat_add_slot(engine, qp->seat, qp->slot);
	engine->table[qp->slot].qpn = qp->qpn; /* reserved; lookups find no queue pair yet */
	return PLX_OK;
}

void
engine_qp_forget(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	engine->qp_count--;
	engine->table[qp->slot] = (struct qp_entry){0};
	engine_seat_remove_slot(engine, qp->seat, qp->slot);
}

void
engine_qp_attach(struct engine_qp *qp)
{
	struct plx_engine *engine = qp->engine;

	engine->table[qp->slot].qp = qp;
	plx_list_append(&engine->qps, &qp->all_link);
	if (qp->ud != NULL)
		plx_list_append(&engine->uds, &qp->ud_link);
}

void
engine_qp_detach(struct engine_qp *qp)
{
	engine_qp_forget(qp);
	engine_private_forget(qp);
	if (qp->connector != NULL)
		qp->engine->link->on_detach(qp);
	if (qp->ud != NULL) {
		(void)!plx_ud_modify(qp->ud, PLX_QP_RESET, NULL);
		plx_list_remove(&qp->ud_link);
		qp->engine->link->reap_ahs(qp->engine);
	} else { /* what was posted has lists of regions that outlive the queue pair */
		uint32_t end = engine_sq_end(&qp->sq);

		(void)!plx_rc_modify(qp->rc, PLX_QP_RESET, NULL);
		engine_release_kept(qp);
		engine_sq_drop(&qp->sq, end);
	}
	/* An SRQ held back because of this queue pair's completion queue would never be released
	 * otherwise. */
	if (qp->recv->held_by == qp->recv_cq) {
		qp->recv->held_by = NULL;
		engine_rq_publish_now(qp->recv);
	}
	engine_forget_recent(qp);
	engine_hold_forget(qp->engine, qp);
	wheel_clear(&qp->engine->wheel, &qp->timer);
	waiting_end(qp->engine, qp);
	plx_list_remove(&qp->async_event_link);
	if (qp->srq == NULL)
		plx_list_remove(&qp->own.broken_link);
	plx_list_remove(&qp->all_link);
}

void
path_template(const struct plx_engine *engine, const struct plx_engine_path *path,
	      const uint8_t *mac, uint32_t flow, struct plx_frame_template *out)
{
	const struct plx_ip *local = &path->local, *remote = &path->remote;
	uint8_t tos = (uint8_t)(path->dscp << 2 | (path->ecn ? PLX_ECN_ECT0 : PLX_ECN_NOT_ECT));
	uint8_t hops = path->hop_limit ? path->hop_limit : 64;
	struct plx_frame frame = {.vlan = engine->vlan != 0,
				  .vlan_tci = engine->vlan,
				  .ip_version = local->version,
				  .udp_src = (uint16_t)(49152 + (flow * 2654435761u >> 18)),
				  .udp_dst = PLX_ROCE_PORT};

	memcpy(frame.eth_src, engine->port->caps.mac, sizeof(frame.eth_src));
	memcpy(frame.eth_dst, mac, sizeof(frame.eth_dst));
	if (local->version == 4) {
		frame.v4 = (struct plx_ipv4){.tos = tos, .ttl = hops, .flags_offset = 0x4000};
		frame.v4.src = plx_be32_load(local->v);
		frame.v4.dst = plx_be32_load(remote->v);
	} else {
		frame.v6.flow = (uint32_t)tos << 20;
		frame.v6.hop_limit = hops;
		memcpy(frame.v6.src, local->v, sizeof(frame.v6.src));
		memcpy(frame.v6.dst, remote->v, sizeof(frame.v6.dst));
	}
	plx_frame_template_init(out, &frame);
}

static void
make_template(struct engine_qp *qp)
{
	path_template(qp->engine, &qp->path, qp->path_mac, qp->qpn, &qp->to_peer);
	plx_frame_flow_init(&qp->from_peer, &qp->to_peer);
}

enum plx_status
engine_resolve(struct plx_engine *engine, const struct plx_ip *remote, uint8_t *mac)
{
	enum plx_net_verdict verdict = engine_neighbour(engine, remote, mac);

	if (verdict == PLX_NET_READY)
		return PLX_OK;
	return verdict == PLX_NET_WAIT ? PLX_AGAIN : PLX_UNREACHABLE;
}

void
engine_qp_route(struct engine_qp *qp)
{
	enum plx_status status;
	uint8_t mac[6];

	if (!qp->routed || PLX_MUTANT(MAC_NOT_FOLLOWED))
		return;
	/* A neighbour that no longer replies keeps its old address: the transport's retries decide
	 * whether the QP fails. */
	status = engine_resolve(qp->engine, &qp->path.remote, mac);
	if (status == PLX_AGAIN) {
		qp->engine->reroute_qps = true;
		qp->engine->reroute_at =
			plx_time_min(qp->engine->reroute_at, qp->engine->now + REROUTE_NS);
	}
	if (status != PLX_OK)
		return;
	memcpy(qp->path_mac, mac, sizeof(mac));
	make_template(qp);
}

enum plx_status
path_complete(const struct plx_engine *engine, struct plx_engine_path *path)
{
	const struct plx_net *net = engine->config.net;

	if (path->remote.version != 4 && path->remote.version != 6)
		return PLX_INVALID;
	if (path->local.version == 0 && !plx_net_source(net, &path->remote, &path->local))
		return PLX_UNREACHABLE;
	if (path->local.version != path->remote.version || !plx_net_is_own(net, &path->local))
		return PLX_INVALID;
	return PLX_OK;
}

uint32_t
path_frame_bytes(uint32_t mtu)
{
	return PLX_FRAME_HEADER_MAX + PLX_PKT_HEADER_MAX + mtu + PLX_ICRC_BYTES;
}

/* Steps before the path to the peer is known only check. */
static enum plx_status
modify_rtr(struct engine_qp *qp, const struct plx_rc_attr *attr, const struct plx_engine_path *path)
{
	struct plx_engine *engine = qp->engine;
	struct plx_engine_path full = *path;
	struct plx_rc_attr with_path = *attr;
	enum plx_status status = path_complete(engine, &full);
	uint8_t mac[6];

	if (status == PLX_OK && attr->mtu <= PLX_MTU_MAX &&
	    path_frame_bytes(attr->mtu) > engine->port->caps.frame_max)
		status = PLX_TOO_LONG;
	if (status == PLX_OK)
		status = engine_resolve(engine, &full.remote, mac);
	if (status != PLX_OK)
		return status;
	with_path.path = (struct plx_path){.ip_version = full.local.version};
	if (full.local.version == 4) {
		with_path.path.src4 = plx_be32_load(full.local.v);
		with_path.path.dst4 = plx_be32_load(full.remote.v);
	} else {
		memcpy(with_path.path.src6, full.local.v, sizeof(full.local.v));
		memcpy(with_path.path.dst6, full.remote.v, sizeof(full.remote.v));
	}
	status = plx_rc_modify(qp->rc, PLX_QP_RTR, &with_path);
	if (status != PLX_OK)
		return status;
	qp->path = full;
	qp->path.ecn |= qp->congestion == PLX_CONGESTION_DCQCN;
	engine_congestion_begin(qp, engine->now);
	memcpy(qp->path_mac, mac, sizeof(mac));
	qp->loops = memcmp(mac, engine->port->caps.mac, sizeof(mac)) == 0;
	make_template(qp);
	qp->routed = true;
	return PLX_OK;
}

static enum plx_status
modify_ud(struct engine_qp *qp, enum plx_qp_state to, const struct plx_rc_attr *attr)
{
	struct plx_ud_attr ud = {0};
	enum plx_status status;

	if (attr != NULL)
		ud = (struct plx_ud_attr){attr->mtu, attr->pkey, attr->sq_psn};
	if (to == PLX_QP_RTR && ud.mtu <= PLX_MTU_MAX &&
	    path_frame_bytes(ud.mtu) > qp->engine->port->caps.frame_max)
		return PLX_TOO_LONG;
	status = plx_ud_modify(qp->ud, to, attr != NULL ? &ud : NULL);
	if (status == PLX_OK && to == PLX_QP_RTR)
		atomic_store(&qp->sq.front->datagram_limit, ud.mtu);
	if (status == PLX_OK && to == PLX_QP_RESET)
		qp->engine->link->reap_ahs(qp->engine);
	return status;
}

/* RESET discards everything posted, also in the rings.
 * @param end index of the next entry to be posted */
static void
reset_queues(struct engine_qp *qp, uint32_t end)
{
	qp->routed = false;
	engine_private_forget(qp);
	if (qp->srq == NULL)
		engine_rq_drop(&qp->own);
	engine_sq_drop(&qp->sq, end);
}

enum plx_status
engine_qp_modify(struct engine_qp *qp, enum plx_qp_state to, const struct plx_rc_attr *attr,
		 const struct plx_engine_path *path)
{
	enum plx_status status;
	uint32_t end;

	/* SQD to RTS needs no attributes. */
	if (attr == NULL &&
	    (to == PLX_QP_RTR || (to == PLX_QP_RTS && engine_qp_state(qp) != PLX_QP_SQD)))
		return PLX_INVALID;
	/* Requests posted before the transition belong to the earlier state. */
	if (to != PLX_QP_RESET)
		engine_qp_fetch(qp);
	end = engine_sq_end(&qp->sq);
	if (qp->ud != NULL)
		status = modify_ud(qp, to, attr);
	else if (to == PLX_QP_RTR)
		status = modify_rtr(qp, attr, path);
	else
		status = plx_rc_modify(qp->rc, to, attr);
	if (status != PLX_OK)
		return status;
	if (to == PLX_QP_RTS && attr != NULL)
		atomic_store(&qp->sq.front->rd_atomic_ok, attr->initiator_depth > 0);
	/* READs are flushed as well as all others, though the queue pair was never in RTS. */
	if (to == PLX_QP_ERROR)
		atomic_store(&qp->sq.front->rd_atomic_ok, true);
	engine_sq_set_state(&qp->sq, to);
	if (to == PLX_QP_RESET || to == PLX_QP_ERROR)
		engine_release_kept(qp);
	if (to == PLX_QP_RESET)
		reset_queues(qp, end);
	if (to == PLX_QP_ERROR) {
		engine_rq_fetch(&qp->own);
		engine_qp_fetch(qp);
	}
	engine_schedule(qp->engine, qp);
	return PLX_OK;
}
