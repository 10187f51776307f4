/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs of an adapter: creation, queries, destruction. Connecting is in qp_connect.c, posting
 * in lib/engine/cycle/post.c.
 * Start with plx_qp_create().
 */
#include "objects.h"
#include "plx_cq_front.h"
#include "plx_rq_front.h"

enum {
	RESPONDER_RESOURCES_DEFAULT =
		16, /* default number of READs and atomics that the peer may have outstanding */
};

/* ---- creation ---- */

enum plx_status
check_ranges(const struct range *range, size_t n, struct plx_why *why)
{
	for (size_t i = 0; i < n; i++) {
		if (range[i].value >= range[i].first && range[i].value <= range[i].last)
			continue;
		plx_why_set(why, "%s is %u; give %u to %u", range[i].what, range[i].value,
			    range[i].first, range[i].last);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static enum plx_status
check_limits(const struct plx_adapter *adapter, const struct plx_qp_options *options,
	     struct plx_why *why)
{
	const uint32_t depth_max = adapter->info.queue_depth;
	const struct range ranges[] = {
		{"sq_depth", options->sq_depth, 1, depth_max},
		{"sq_sges", options->sq_sges, 0, PLX_SGE_MAX},
		{"inline_bytes", options->inline_bytes, 0, PLX_INLINE_MAX},
		{"responder_resources", options->responder_resources, 0, PLX_RD_ATOMIC_MAX},
		/* its own receive queue; last, and skipped with an SRQ */
		{"rq_depth", options->rq_depth, 1, depth_max},
		{"rq_sges", options->rq_sges, 0, PLX_SGE_MAX},
	};

	return check_ranges(ranges, PLX_COUNT_OF(ranges) - (options->srq ? 2 : 0), why);
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

static struct plx_engine_qp_config
config_of(struct plx_pd *pd, const struct plx_qp_options *options)
{
	struct plx_engine_qp_config config = {
		.type = options->type,
		.domain = pd->domain,
		.send_cq = options->send_cq,
		.recv_cq = options->recv_cq,
		.srq = options->srq,
		.caps = {.sq_depth = options->sq_depth,
			 .sq_sges = or_default(options->sq_sges, 1),
			 .inline_bytes = options->inline_bytes},
		.rq_depth = options->rq_depth,
		.rq_sges = or_default(options->rq_sges, 1),
		.qkey = options->qkey,
		.context = options->context,
		.pd = pd,
	};

	/* Datagrams have no READs. */
	if (options->type != PLX_QP_UD)
		config.caps.responder_resources =
			or_default(options->responder_resources, RESPONDER_RESOURCES_DEFAULT);
	return config;
}

/* Hold the domain before the queue pair exists, and list it once it does. */
static enum plx_status
create(struct plx_pd *pd, const struct plx_qp_options *options, struct plx_qp **qp)
{
	const struct plx_engine_qp_config config = config_of(pd, options);
	struct plx_adapter *adapter = pd->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_hold(adapter->mem, pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	status = plx_engine_qp_create(plx_adapter_home(adapter), &config, qp);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK)
		plx_list_append(&adapter->qps, plx_engine_qp_link(*qp));
	else
		plx_domain_unhold(adapter->mem, pd->domain);
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

	if (status != PLX_OK)
		return status;
	status = create(pd, options, qp);
	if (status == PLX_OK)
		pd->adapter->count.qps++;
	else
		explain(pd->adapter, status, why);
	return status;
}

enum plx_status
plx_qp_destroy(struct plx_qp *qp)
{
	struct plx_list *link = plx_engine_qp_link(qp);
	struct plx_pd *pd = pd_of(qp);
	struct plx_adapter *adapter = pd->adapter;
	enum plx_status status;

	/* Remove it from the list first: users of the list read its counters. */
	pthread_mutex_lock(&adapter->lock);
	plx_list_remove(link);
	pthread_mutex_unlock(&adapter->lock);
	status = plx_engine_qp_destroy(qp);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK)
		plx_domain_unhold(adapter->mem, pd->domain);
	else
		plx_list_append(&adapter->qps, link);
	pthread_mutex_unlock(&adapter->lock);
	if (status == PLX_OK)
		adapter->count.qps--;
	return status;
}

/* ---- queries ---- */

enum plx_status
plx_qp_query(struct plx_qp *qp, struct plx_qp_info *out)
{
	struct plx_rc_view view;
	enum plx_status status = plx_engine_qp_query(qp, &view);

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
