/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings a connection to each stage, and builds the messages that its peer could send there. It
 * never checks the result. Start with stage_reach().
 */
#include "stages.h"

#include <string.h>

const char *const stage_names[STAGES] = {
	"REQ sent", "REP rcvd",    "REQ queued",           "REQ rcvd",
	"REP sent", "established", "established, passive", "DREQ sent",
	"timewait"};

enum {
	FOREIGN_ID = 0xabcd, /* of a peer's that has not been heard of */
};

int
stage_host(enum stage stage)
{
	return stage == REQ_QUEUED || stage == REQ_RCVD || stage == REP_SENT ||
			       stage == ESTABLISHED_PASSIVE
		       ? BOB
		       : ALICE;
}

static void
reach_established(struct pair *pair, enum stage stage, struct plx_cm_id *ids)
{
	pair_accept(pair, BOB, ids[BOB], BOB_QPN);
	pair->lose[PLX_CM_REP - PLX_CM_REQ] = stage == REP_SENT;
	pair_carry(pair);
	if (stage == REP_SENT)
		return;
	pair_expect(pair, ALICE, PLX_CM_EVENT_REPLIED);
	if (stage == REP_RCVD)
		return;
	assert_int_equal(plx_cm_establish(pair->cm[ALICE], ids[ALICE], pair->now), PLX_OK);
	pair_carry(pair);
	pair_expect(pair, BOB, PLX_CM_EVENT_ESTABLISHED);
	if (stage == ESTABLISHED || stage == ESTABLISHED_PASSIVE)
		return;
	assert_int_equal(plx_cm_disconnect(pair->cm[ALICE], ids[ALICE], pair->now), PLX_OK);
	pair->lose[PLX_CM_DREQ - PLX_CM_REQ] = stage == DREQ_SENT;
	pair_carry(pair);
	if (stage == TIMEWAIT) {
		pair_expect(pair, ALICE, PLX_CM_EVENT_CLOSED);
		pair_expect(pair, BOB, PLX_CM_EVENT_DISCONNECTED);
	}
}

struct plx_cm_id
stage_reach(struct pair *pair, enum stage stage, struct plx_cm_id *ids)
{
	pair_listen(pair, BOB, PORT, 0);
	ids[ALICE] = pair_connect(pair, ALICE, BOB, ALICE_QPN);
	ids[BOB] = (struct plx_cm_id){0};
	pair->lose[PLX_CM_REQ - PLX_CM_REQ] = stage == REQ_SENT;
	pair_carry(pair);
	if (stage != REQ_SENT && stage != REQ_QUEUED) {
		ids[BOB] = pair_expect(pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
		if (stage != REQ_RCVD)
			reach_established(pair, stage, ids);
	}
	pair_forget(pair);
	return ids[stage_host(stage)];
}

static void
rep_fill(struct plx_cm_rep *rep)
{
	rep->local_qpn = BOB_QPN;
	rep->starting_psn = plx_psn(BOB_QPN * 1000);
	rep->local_ca_guid = 0xa000 + BOB;
}

static void
rej_fill(struct plx_cm_rej *rej, enum stage stage)
{
	rej->about = PLX_CM_ABOUT_NONE;
	rej->reason = PLX_CM_REASON_TIMEOUT;
	rej->info_length = 8;
	rej->info[6] = 0xa0; /* the sender's GUID */
	rej->info[7] = stage_host(stage) == BOB ? ALICE : BOB;
}

/* The ids are in the same place of all that have two. */
struct plx_cm_msg
stage_message(const struct pair *pair, enum stage stage, const struct plx_cm_id *ids,
	      enum plx_cm_kind kind)
{
	int host = stage_host(stage);
	struct plx_cm_msg msg = {.kind = (uint16_t)kind, .transaction_id = 99};

	if (kind == PLX_CM_REQ) {
		msg = pair_req(pair, pair->ip[ALICE], ids[ALICE].v, ALICE_QPN);
		msg.req.local_ca_guid = 0xa000 + ALICE;
		msg.req.starting_psn = plx_psn(ALICE_QPN * 1000);
		return msg;
	}
	if (kind == PLX_CM_SIDR_REQ || kind == PLX_CM_SIDR_REP) {
		msg.sidr_rep.request_id = ids[host].v;
		return msg;
	}
	msg.rtu.local_comm_id = ids[!host].v ? ids[!host].v : FOREIGN_ID;
	msg.rtu.remote_comm_id = ids[host].v;
	if (kind == PLX_CM_REP)
		rep_fill(&msg.rep);
	else if (kind == PLX_CM_REJ)
		rej_fill(&msg.rej, stage);
	else if (kind == PLX_CM_MRA)
		msg.mra.about = host == ALICE ? PLX_CM_ABOUT_REQ : PLX_CM_ABOUT_REP;
	else if (kind == PLX_CM_DREQ)
		msg.dreq.remote_qpn = host == ALICE ? ALICE_QPN : BOB_QPN;
	return msg;
}
