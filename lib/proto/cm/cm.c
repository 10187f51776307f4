/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entry of datagrams: decode, and dispatch by message. Also queries and counters.
 * It never changes a connection itself.
 * Start with plx_cm_on_mad().
 */
#include "connection.h"

typedef enum plx_cm_verdict (*on_kind)(struct plx_cm *cm, const struct plx_cm_route *route,
				       const struct plx_cm_msg *msg, uint64_t now);

static enum plx_cm_verdict
on_message(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	   uint64_t now)
{
	static const on_kind on[] = {
		[PLX_CM_REQ - PLX_CM_REQ] = cm_on_req,
		[PLX_CM_MRA - PLX_CM_REQ] = cm_on_mra,
		[PLX_CM_REJ - PLX_CM_REQ] = cm_on_rej,
		[PLX_CM_REP - PLX_CM_REQ] = cm_on_rep,
		[PLX_CM_RTU - PLX_CM_REQ] = cm_on_rtu,
		[PLX_CM_DREQ - PLX_CM_REQ] = cm_on_dreq,
		[PLX_CM_DREP - PLX_CM_REQ] = cm_on_drep,
		[PLX_CM_SIDR_REQ - PLX_CM_REQ] = cm_on_sidr_req,
		[PLX_CM_SIDR_REP - PLX_CM_REQ] = cm_on_sidr_rep,
	};
	struct plx_cm_route ends = *route;

	ends.local = plx_ip_canonical(&route->local);
	ends.remote = plx_ip_canonical(&route->remote);
	PLX_ASSERT(msg->kind >= PLX_CM_REQ && msg->kind <= PLX_CM_SIDR_REP);
	return on[msg->kind - PLX_CM_REQ](cm, &ends, msg, now);
}

enum plx_cm_verdict
plx_cm_on_mad(struct plx_cm *cm, const struct plx_cm_route *route, const uint8_t *bytes, size_t len,
	      uint64_t now)
{
	struct plx_cm_msg msg;
	enum plx_mad_verdict decoded = plx_mad_decode(bytes, len, &msg);
	enum plx_cm_verdict verdict = PLX_CM_MALFORMED;

	if (decoded == PLX_MAD_OK)
		verdict = on_message(cm, route, &msg, now);
	else
		plx_count(&cm->counters.refused[decoded], 1);
	plx_count(&cm->counters.verdict[verdict], 1);
	return verdict;
}

void
plx_cm_query(const struct plx_cm *cm, struct plx_cm_view *out)
{
	*out = (struct plx_cm_view){
		.listeners = cm->listeners,
		.connections = cm->connections,
		.half_open = cm->half_open,
		.timewait = cm->retired,
	};
}

const struct plx_cm_counters *
plx_cm_counters(const struct plx_cm *cm)
{
	return &cm->counters;
}
