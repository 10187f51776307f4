/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs of a seat: creation, states, queries, destruction. Posting does not pass through
 * here. Start with host_qp_create().
 */
#include <stdlib.h>

#include "host.h"

enum {
	RESPONDER_RESOURCES_DEFAULT =
		16, /* default number of READs and atomics that the peer may have outstanding */
	PKEY_DEFAULT = 0xffff,
};

/* ---- creation ---- */

static enum plx_status
check_limits(const struct host_adapter *adapter, const struct plx_ipc_qp_create *request,
	     struct plx_why *why)
{
	const uint32_t depth_max = adapter->info.queue_depth;
	const struct range ranges[] = {
		{"sq_depth", request->sq_depth, 1, depth_max},
		{"sq_sges", request->sq_sges, 0, PLX_SGE_MAX},
		{"inline_bytes", request->inline_bytes, 0, PLX_INLINE_MAX},
		{"responder_resources", request->responder_resources, 0, PLX_RD_ATOMIC_MAX},
		{"congestion", request->congestion, 0, PLX_CONGESTION_COUNT - 1},
		/* its own receive queue; last, and skipped with an SRQ */
		{"rq_depth", request->rq_depth, 1, depth_max},
		{"rq_sges", request->rq_sges, 0, PLX_SGE_MAX},
	};

	if (request->type != PLX_QP_RC && request->type != PLX_QP_UD) {
		plx_why_set(why, "type is %u; give PLX_QP_RC or PLX_QP_UD", request->type);
		return PLX_INVALID;
	}
	return host_check_ranges(ranges, PLX_COUNT_OF(ranges) - (request->srq.v != 0 ? 2 : 0), why);
}

static uint32_t
or_default(uint32_t value, uint32_t usual)
{
	return value ? value : usual;
}

/* Errors: NO_KEY (an object that is not the seat's) */
static enum plx_status
fill_config(struct host_seat *seat, const struct plx_ipc_qp_create *request,
	    const struct host_queues *queues, struct qp_back_config *config)
{
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	const struct host_cq *send_cq = queues->send_cq, *recv_cq = queues->recv_cq;
	const struct host_srq *srq = queues->srq;

	if (pd == NULL || send_cq == NULL || recv_cq == NULL ||
	    (request->srq.v != 0 && srq == NULL))
		return PLX_NO_KEY;
	*config = (struct qp_back_config){
		.type = (enum plx_qp_type)request->type,
		.domain = pd->domain,
		.send_cq = send_cq->back,
		.recv_cq = recv_cq->back,
		.srq = srq != NULL ? srq->back : NULL,
		.caps = {.sq_depth = request->sq_depth,
			 .sq_sges = or_default(request->sq_sges, 1),
			 .inline_bytes = request->inline_bytes},
		.rq_depth = request->rq_depth,
		.rq_sges = or_default(request->rq_sges, 1),
		.qkey = request->qkey,
		.context = request->context,
	};
	/* Datagrams have no READs, and nobody answers their marks. */
	if (config->type == PLX_QP_UD)
		return PLX_OK;
	config->caps.responder_resources =
		or_default(request->responder_resources, RESPONDER_RESOURCES_DEFAULT);
	config->congestion = (enum plx_congestion)or_default(
		request->congestion,
		or_default(seat->adapter->options.congestion, PLX_CONGESTION_NONE));
	return PLX_OK;
}

/* Hold the domain before the queue pair exists, and list it once it does. */
static enum plx_status
create_held(struct host_seat *seat, const struct qp_back_config *config, struct host_queue_pair *qp)
{
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_hold(adapter->mem, config->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	qp->domain = config->domain;
	status = plx_qp_back_create(config, &qp->listed.back);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK)
		plx_list_append(&adapter->qps, &qp->listed.link);
	else
		plx_domain_unhold(adapter->mem, config->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status == PLX_OK)
		plx_qp_back_made(qp->listed.back, &qp->made);
	return status;
}

static void
explain(const struct host_adapter *adapter, enum plx_status status, struct plx_why *why)
{
	if (status == PLX_FULL)
		plx_why_set(
			why,
			"adapter %s has all of its %u queue pairs; destroy one, or open it with "
			"more (`queue_pairs`)",
			adapter->info.name, adapter->info.qps);
	else if (status == PLX_NO_MEMORY)
		plx_why_set(why,
			    "there is no memory for the queue pair; make its queues less deep");
	else
		plx_why_set(why, "adapter %s cannot make the queue pair: %s", adapter->info.name,
			    plx_status_text(status));
}

static enum plx_status
create(struct host_seat *seat, const struct host_queues *queues,
       const struct qp_back_config *config, struct host_queue_pair *qp, struct plx_why *why)
{
	enum plx_status status = host_place_qp(seat, queues, &qp->engine, why);

	if (status != PLX_OK)
		return status;
	status = create_held(seat, config, qp);
	if (status != PLX_OK) {
		host_displace_qp(seat, qp->engine);
		explain(seat->adapter, status, why);
	}
	return status;
}

void
host_qp_tell(const struct host_seat *seat, const struct host_queue_pair *qp,
	     struct plx_ipc_qp_created *reply)
{
	const struct qp_back_made *made = &qp->made;

	*reply = (struct plx_ipc_qp_created){
		.object = {qp->object.number},
		.sq_front = host_place_of(seat, made->sq_front),
		.qpn = made->qpn,
		.first_psn = made->first_psn.v,
		.slot = made->slot,
		.engine = qp->engine,
		.domain = made->domain.id,
		.sq_depth = made->caps.sq_depth,
		.sq_sges = made->caps.sq_sges,
		.inline_bytes = made->caps.inline_bytes,
		.responder_resources = made->caps.responder_resources,
		.rq_depth = made->rq_depth,
		.rq_sges = made->rq_sges,
	};
	if (!made->has_srq)
		reply->rq_front = host_place_of(seat, made->rq_front);
}

enum plx_status
host_qp_make(struct host_seat *seat, const struct plx_ipc_qp_create *request, uint32_t engine,
	     struct host_queue_pair **out, struct plx_why *why)
{
	const struct host_queues queues = {
		.send_cq = host_find(seat, request->send_cq, HOST_CQ),
		.recv_cq = host_find(seat, request->recv_cq, HOST_CQ),
		.srq = host_find(seat, request->srq, HOST_SRQ),
	};
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status = check_limits(adapter, request, why);
	struct qp_back_config config;
	struct host_queue_pair *qp;

	if (status == PLX_OK)
		status = fill_config(seat, request, &queues, &config);
	if (status != PLX_OK)
		return status;
	qp = calloc(1, sizeof(*qp));
	if (qp == NULL)
		return PLX_NO_MEMORY;
	qp->engine = engine;
	plx_list_init(&qp->listed.link);
	plx_list_init(&qp->loan.link);
	status = host_enter(seat, &qp->object, HOST_QP, why);
	if (status == PLX_OK) {
		status = create(seat, &queues, &config, qp, why);
		if (status != PLX_OK)
			host_leave(seat, &qp->object);
	}
	if (status != PLX_OK) {
		free(qp);
		return status;
	}
	adapter->count.qps++;
	*out = qp;
	return PLX_OK;
}

HOST_FN(host_qp_create)
{
	struct host_queue_pair *qp;
	enum plx_status status = host_qp_make(seat, arg, ANY_ENGINE, &qp, why);

	if (status == PLX_OK)
		host_qp_tell(seat, qp, reply);
	return status;
}

enum plx_status
host_qp_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_queue_pair *qp = (struct host_queue_pair *)object;
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;

	host_loan_end(seat, qp);
	/* Remove it from the list first: users of the list read its counters. */
	pthread_mutex_lock(&adapter->lock);
	plx_list_remove(&qp->listed.link);
	pthread_mutex_unlock(&adapter->lock);
	status = plx_qp_back_destroy(qp->listed.back);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK)
		plx_domain_unhold(adapter->mem, qp->domain);
	else
		plx_list_append(&adapter->qps, &qp->listed.link);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	adapter->count.qps--;
	host_displace_qp(seat, qp->engine);
	host_leave(seat, object);
	free(qp);
	return PLX_OK;
}

/* ---- states ---- */

/* Write the sentence for a status from the engine. */
static enum plx_status
explain_step(const struct host_adapter *adapter, const struct host_queue_pair *qp,
	     enum plx_status status, const struct plx_ipc_qp_modify *request, struct plx_why *why)
{
	enum plx_qp_state to = (enum plx_qp_state)request->to;
	struct plx_address_text ip = {"the peer"};

	if (request->has_terms)
		ip = plx_address_text(&request->peer.ip);
	if (status == PLX_STATE)
		plx_why_set(why, "queue pair 0x%06x is in %s, and there is no way from there to %s",
			    qp->made.qpn, plx_qp_state_name(plx_qp_back_state(qp->listed.back)),
			    plx_qp_state_name(to));
	else if (status == PLX_AGAIN)
		plx_why_set(why, "%s was asked for its Ethernet address; call again", ip.s);
	else if (status == PLX_UNREACHABLE)
		plx_why_set(why,
			    "%s does not answer, or no network or route of adapter %s leads there; "
			    "check both addresses and prefixes, and that the peer runs",
			    ip.s, adapter->info.name);
	else if (status == PLX_TIMEOUT)
		plx_why_set(why,
			    "the engine of adapter %s has not answered for %d s; in worker mode "
			    "see whether its core is free",
			    adapter->info.name, (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	else if (status != PLX_OK)
		plx_why_set(why, "queue pair 0x%06x cannot go to %s: %s", qp->made.qpn,
			    plx_qp_state_name(to), plx_status_text(status));
	return status;
}

/* Datagram queue pairs have no peer and no attributes: the step changes only the state. */
static enum plx_status
modify_ud(const struct host_adapter *adapter, struct host_queue_pair *qp, enum plx_qp_state to)
{
	const struct plx_rc_attr rc = {
		.mtu = adapter->path_mtu,
		.pkey = PKEY_DEFAULT,
		.sq_psn = qp->made.first_psn,
	};

	return plx_qp_back_modify(qp->listed.back, to, &rc, NULL);
}

HOST_FN(host_qp_modify)
{
	const struct plx_ipc_qp_modify *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);
	struct host_adapter *adapter = seat->adapter;
	enum plx_qp_state to = (enum plx_qp_state)request->to;
	struct plx_engine_path path;
	struct plx_rc_attr rc;
	enum plx_status status;

	(void)reply;
	if (qp == NULL)
		return PLX_NO_KEY;
	if (request->to >= PLX_QP_STATE_COUNT || request->to == PLX_QP_NONE) {
		plx_why_set(why, "%u is not a state of queue pairs; see enum plx_qp_state",
			    request->to);
		return PLX_INVALID;
	}
	if (qp->made.type == PLX_QP_UD) {
		status = modify_ud(adapter, qp, to);
	} else if (!request->has_terms) {
		status = plx_qp_back_modify(qp->listed.back, to, NULL, NULL);
	} else {
		status = host_agree(adapter, qp, &request->peer, &request->attr, &rc, &path, why);
		if (status != PLX_OK)
			return status;
		status = plx_qp_back_modify(qp->listed.back, to, &rc, &path);
	}
	return explain_step(adapter, qp, status, request, why);
}

HOST_FN(host_qp_flush)
{
	const struct plx_ipc_object *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);

	(void)reply;
	(void)why;
	return qp != NULL ? plx_qp_back_flush(qp->listed.back) : PLX_NO_KEY;
}

/* ---- queries ---- */

HOST_FN(host_qp_query)
{
	const struct plx_ipc_object *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);
	struct plx_ipc_qp_info *out = reply;
	struct plx_rc_view view;
	enum plx_status status;

	(void)why;
	if (qp == NULL)
		return PLX_NO_KEY;
	status = plx_qp_back_query(qp->listed.back, &view);
	if (status != PLX_OK)
		return status;
	out->info = (struct plx_qp_info){
		.state = view.state,
		.qpn = view.qpn,
		.peer_qpn = view.dest_qpn,
		.sq_used = view.sq_posted - view.sq_consumed,
		.sq_depth = view.sq_depth,
		.path_mtu = view.mtu,
		.engine = qp->engine + 1,
		.flushed = view.flushed,
	};
	return PLX_OK;
}

HOST_FN(host_qp_counters)
{
	const struct plx_ipc_object *request = arg;
	const struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);
	struct plx_ipc_counters *out = reply;

	(void)why;
	if (qp == NULL)
		return PLX_NO_KEY;
	out->kinds = 0;
	out->count = plx_host_qp_counters(plx_qp_back_counters(qp->listed.back), out->value,
					  PLX_IPC_COUNTERS_MAX);
	PLX_ASSERT(out->count <= PLX_IPC_COUNTERS_MAX);
	return PLX_OK;
}

HOST_FN(host_qp_address)
{
	const struct plx_ipc_qp_address *request = arg;
	const struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);
	const struct host_adapter *adapter = seat->adapter;
	struct plx_ipc_qp_addressed *out = reply;
	struct plx_ip ip = adapter->options.address[0].ip;

	(void)why;
	if (qp == NULL)
		return PLX_NO_KEY;
	if (request->remote.version != 0 && request->remote.version != 4 &&
	    request->remote.version != 6)
		return PLX_INVALID;
	if (request->remote.version != 0 && !plx_net_source(adapter->net[0], &request->remote, &ip))
		return PLX_UNREACHABLE;
	out->address = (struct plx_qp_address){
		.qpn = qp->made.qpn,
		.psn = qp->made.first_psn.v,
		.ip = ip,
		.path_mtu = adapter->path_mtu,
		.responder_resources = (uint8_t)qp->made.caps.responder_resources,
		.selective = true,
	};
	return PLX_OK;
}
