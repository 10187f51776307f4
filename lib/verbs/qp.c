/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs: creation, posting, queries, destruction. Connecting is in qp_connect.c.
 * Posting takes no lock and makes no system call: it calls the engine's queue directly.
 * Start with plx_qp_create() and plx_post_send().
 */
#include <stdlib.h>

#include "objects.h"

enum {
	RESPONDER_RESOURCES_DEFAULT =
		16, /* default number of READs and atomics that the peer may have outstanding */
};

/* ---- creation ---- */

struct limit {
	const char *what;
	uint32_t value, first, last;
};

static enum plx_status
check_limits(const struct plx_adapter *adapter, const struct plx_qp_options *options,
	     struct plx_why *why)
{
	const uint32_t depth_max = adapter->info.queue_depth;
	const struct limit limits[] = {
		{"sq_depth", options->sq_depth, 1, depth_max},
		{"sq_sges", options->sq_sges, 0, PLX_SGE_MAX},
		{"inline_bytes", options->inline_bytes, 0, PLX_INLINE_MAX},
		{"responder_resources", options->responder_resources, 0, PLX_RD_ATOMIC_MAX},
		/* its own receive queue; last, and skipped with an SRQ */
		{"rq_depth", options->rq_depth, 1, depth_max},
		{"rq_sges", options->rq_sges, 0, PLX_SGE_MAX},
	};
	size_t n = PLX_COUNT_OF(limits) - (options->srq ? 2 : 0);

	for (size_t i = 0; i < n; i++) {
		if (limits[i].value >= limits[i].first && limits[i].value <= limits[i].last)
			continue;
		plx_why_set(why, "%s is %u; give %u to %u", limits[i].what, limits[i].value,
			    limits[i].first, limits[i].last);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static enum plx_status
check_options(const struct plx_pd *pd, const struct plx_qp_options *options, struct plx_why *why)
{
	if (options->send_cq == NULL || options->recv_cq == NULL) {
		plx_why_set(why,
			    "a queue pair needs a completion queue for its %s; one may serve "
			    "both of its queues",
			    options->send_cq == NULL ? "send queue" : "receive queue");
		return PLX_INVALID;
	}
	if (options->send_cq->adapter != pd->adapter || options->recv_cq->adapter != pd->adapter ||
	    (options->srq && options->srq->adapter != pd->adapter)) {
		plx_why_set(why,
			    "a queue given is not one of adapter %s; create it on the adapter of "
			    "the protection domain",
			    pd->adapter->info.name);
		return PLX_INVALID;
	}
	if (options->type != PLX_QP_RC && options->type != PLX_QP_UD) {
		plx_why_set(why, "type is %u; give PLX_QP_RC or PLX_QP_UD", options->type);
		return PLX_INVALID;
	}
	return check_limits(pd->adapter, options, why);
}

static uint32_t
or_default(uint32_t value, uint32_t usual)
{
	return value ? value : usual;
}

/* Create the engine's queue pair, with a hold on the domain. */
static enum plx_status
create_engine_qp(struct plx_qp *qp)
{
	struct plx_adapter *adapter = qp->adapter;
	const struct plx_qp_options *options = &qp->options;
	const struct plx_engine_qp_config config = {
		.type = options->type,
		.domain = qp->pd->domain,
		.send_cq = options->send_cq->engine_cq,
		.recv_cq = options->recv_cq->engine_cq,
		.srq = options->srq ? options->srq->engine_srq : NULL,
		.caps = {.sq_depth = options->sq_depth,
			 .sq_sges = options->sq_sges,
			 .inline_bytes = options->inline_bytes,
			 .responder_resources = options->responder_resources},
		.rq_depth = options->rq_depth,
		.rq_sges = options->rq_sges,
		.qkey = options->qkey,
		.context = options->context,
	};
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_hold(adapter->mem, qp->pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	status = plx_engine_qp_create(plx_adapter_home(adapter), &config, &qp->engine_qp);
	qp->entry = (struct plx_adapter_qp){.engine_qp = qp->engine_qp,
					    .type = options->type,
					    .sq_depth = options->sq_depth,
					    .rq_depth = options->rq_depth,
					    .context = options->context};
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK) {
		adapter->count.qps++;
		plx_list_append(&adapter->qps, &qp->entry.node);
	} else {
		plx_domain_unhold(adapter->mem, qp->pd->domain);
	}
	pthread_mutex_unlock(&adapter->lock);
	return status;
}

static void
explain(const struct plx_adapter *adapter, enum plx_status status, struct plx_why *why)
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

enum plx_status
plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options, struct plx_qp **qp,
	      struct plx_why *why)
{
	enum plx_status status = check_options(pd, options, why);
	struct plx_qp *made;

	if (status != PLX_OK)
		return status;
	made = calloc(1, sizeof(*made));
	if (made == NULL) {
		explain(pd->adapter, PLX_NO_MEMORY, why);
		return PLX_NO_MEMORY;
	}
	made->adapter = pd->adapter;
	made->inline_mode = pd->adapter->inline_mode;
	made->pd = pd;
	made->options = *options;
	made->options.sq_sges = or_default(options->sq_sges, 1);
	made->options.rq_sges = or_default(options->rq_sges, 1);
	/* Datagrams have no READs. */
	made->options.responder_resources =
		options->type == PLX_QP_UD
			? 0
			: or_default(options->responder_resources, RESPONDER_RESOURCES_DEFAULT);
	status = create_engine_qp(made);
	if (status != PLX_OK) {
		explain(pd->adapter, status, why);
		free(made);
		return status;
	}
	*qp = made;
	return PLX_OK;
}

enum plx_status
plx_qp_destroy(struct plx_qp *qp)
{
	struct plx_adapter *adapter = qp->adapter;
	enum plx_status status;

	/* Remove it from the list first: users of the list read its counters. */
	pthread_mutex_lock(&adapter->lock);
	plx_list_remove(&qp->entry.node);
	pthread_mutex_unlock(&adapter->lock);
	status = plx_engine_qp_destroy(qp->engine_qp);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK) {
		plx_domain_unhold(adapter->mem, qp->pd->domain);
		adapter->count.qps--;
	} else {
		plx_list_append(&adapter->qps, &qp->entry.node);
	}
	pthread_mutex_unlock(&adapter->lock);
	if (status == PLX_OK)
		free(qp);
	return status;
}

/* ---- posting ---- */

/* Inline mode. If other requests of this kind are in flight, this one is sent in the duty cycle
 * that checks for their responses, in one burst. A lone request is being waited for, and is
 * sent before the call returns. */
static inline void
send_now(struct plx_qp *qp)
{
	plx_engine_send(plx_adapter_home(qp->adapter), plx_clock_ns());
}

PLX_HOT uint32_t
plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	uint32_t posted = plx_engine_qp_post_send(qp->engine_qp, wr, n, refused);

	if (qp->inline_mode && posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER) &&
	    plx_engine_qp_in_flight(qp->engine_qp) == posted)
		send_now(qp);
	return posted;
}

PLX_HOT uint32_t
plx_post_recv(struct plx_qp *qp, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *refused)
{
	return plx_engine_qp_post_recv(qp->engine_qp, wr, n, refused);
}

PLX_HOT void
plx_qp_ring_doorbell(struct plx_qp *qp)
{
	plx_engine_qp_ring_doorbell(qp->engine_qp);
	if (qp->inline_mode)
		send_now(qp);
}

/* ---- queries ---- */

enum plx_status
plx_qp_query(struct plx_qp *qp, struct plx_qp_info *out)
{
	struct plx_rc_view view;
	enum plx_status status = plx_engine_qp_query(qp->engine_qp, &view);

	if (status != PLX_OK)
		return status;
	*out = (struct plx_qp_info){
		.state = view.state,
		.qpn = view.qpn,
		.peer_qpn = view.dest_qpn,
		.sq_used = view.sq_posted - view.sq_consumed,
		.sq_depth = view.sq_depth,
		.path_mtu = view.mtu,
		.flushed = view.flushed,
	};
	return PLX_OK;
}

uint32_t
plx_qp_counters(const struct plx_qp *qp, struct plx_counter *out, uint32_t n)
{
	return plx_adapter_qp_counters(qp->engine_qp, out, n);
}
