/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Resolving UD services: SIDR REQs of peers, and SIDR REPs for ours. plx_cm_sidr_request() is next
 * to plx_cm_connect(). No state is kept for the peer.
 * Start with cm_on_sidr_req().
 * Spec: IBTA vol 1, 12.6.13 to 12.6.15 (SIDR).
 */
#include "connection.h"

static enum plx_cm_sidr_status
sidr_status(const struct cm_listener *listener, const struct plx_cm_route *route,
	    const struct plx_cm_sidr_req *req)
{
	struct plx_cma cma;

	if (!listener)
		return PLX_CM_SIDR_UNSUPPORTED;
	if ((req->pkey & 0x7fff) != 0x7fff || !plx_cma_decode(req->private_data, &cma) ||
	    !plx_ip_equal(&cma.src, &route->remote) || !plx_ip_equal(&cma.dst, &route->local))
		return PLX_CM_SIDR_REJECTED;
	return PLX_CM_SIDR_OK;
}

enum plx_cm_verdict
cm_on_sidr_req(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	       uint64_t now)
{
	const struct plx_cm_sidr_req *req = &msg->sidr_req;
	const struct cm_listener *listener =
		cm_listener_find(cm, &route->local, req->service_id, PLX_PORT_SPACE_UDP);
	struct plx_cm_msg answer = {
		.kind = PLX_CM_SIDR_REP,
		.transaction_id = msg->transaction_id,
	};

	answer.sidr_rep.request_id = req->request_id;
	answer.sidr_rep.service_id = req->service_id;
	answer.sidr_rep.status = (uint8_t)sidr_status(listener, route, req);
	if (answer.sidr_rep.status == PLX_CM_SIDR_OK) {
		answer.sidr_rep.qpn = listener->what.qpn;
		answer.sidr_rep.qkey = listener->what.qkey;
	} else {
		plx_count(&cm->counters.rejected, 1);
	}
	cm_send_stateless(cm, route, &answer, now);
	return answer.sidr_rep.status == PLX_CM_SIDR_OK ? PLX_CM_TAKEN : PLX_CM_REFUSED;
}

enum plx_cm_verdict
cm_on_sidr_rep(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	       uint64_t now)
{
	const struct plx_cm_sidr_rep *rep = &msg->sidr_rep;
	struct cm_connection *c = cm_named(cm, route, rep->request_id);

	if (!c)
		return PLX_CM_UNKNOWN;
	if (c->state != CM_SIDR_REQ_SENT)
		return PLX_CM_UNEXPECTED;
	if (rep->status == PLX_CM_SIDR_OK && !cm_qpn_is_good(rep->qpn))
		return PLX_CM_INVALID;
	c->peer.info.remote_qpn = rep->qpn;
	c->qkey = rep->qkey;
	cm_private_keep(c, rep->private_data, PLX_CM_PRIVATE_SIDR);
	c->private_of = CM_PENDING_END;
	cm_end(cm, c, PLX_CM_EVENT_SIDR_REPLY, rep->status, now);
	return PLX_CM_TAKEN;
}
