/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Answers to those who have no connection here: a ring of them, and so many a second.
 * Nothing is remembered of whom they go to. An answer is never longer than the question.
 * Start with cm_answer().
 */
#include "connection.h"

void
cm_answer(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	  uint64_t now)
{
	struct cm_answer *answer;

	if (cm->answers == PLX_CM_ANSWERS_MAX ||
	    !cm_bucket_take(&cm->answer_bucket, PLX_CM_ANSWERS_MAX, PLX_CM_ANSWERS_PER_SECOND,
			    now)) {
		plx_count(&cm->counters.answers_dropped, 1);
		return;
	}
	answer = &cm->answer[(cm->answer_first + cm->answers) % PLX_CM_ANSWERS_MAX];
	cm->answers++;
	answer->route = *route;
	answer->msg = *msg;
}

void
cm_answer_rej(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *to,
	      enum plx_cm_reason reason, uint64_t now)
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
	cm_answer(cm, route, &msg, now);
}
