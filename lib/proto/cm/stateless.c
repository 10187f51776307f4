/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replies to peers without a connection: a ring, and a limit per second. No state is kept for the
 * peer. A reply is never longer than its request.
 * Start with cm_send_stateless().
 */
#include "connection.h"

void
cm_send_stateless(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
		  uint64_t now)
{
	struct cm_stateless *answer;

	if (cm->stateless_count == PLX_CM_STATELESS_MAX ||
	    !cm_bucket_consume(&cm->stateless_bucket, PLX_CM_STATELESS_MAX,
			       PLX_CM_STATELESS_PER_SECOND, now)) {
		plx_count(&cm->counters.answers_dropped, 1);
		return;
	}
	answer = &cm->stateless[(cm->stateless_first + cm->stateless_count) % PLX_CM_STATELESS_MAX];
	cm->stateless_count++;
	answer->route = *route;
	answer->msg = *msg;
}

void
cm_send_stateless_rej(struct plx_cm *cm, const struct plx_cm_route *route,
		      const struct plx_cm_msg *to, enum plx_cm_reason reason, uint64_t now)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_REJ, .transaction_id = to->transaction_id};

	msg.rej.reason = (uint16_t)reason;
	if (to->kind == PLX_CM_REQ) {
		msg.rej.about = PLX_CM_ABOUT_REQ;
		msg.rej.remote_comm_id = to->req.local_comm_id;
		plx_count(&cm->counters.rejected, 1);
	} else {
		msg.rej.about = PLX_CM_ABOUT_REP;
		msg.rej.local_comm_id = to->rep.remote_comm_id;
		msg.rej.remote_comm_id = to->rep.local_comm_id;
	}
	cm_send_stateless(cm, route, &msg, now);
}
