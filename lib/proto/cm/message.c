/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The contents of a connection's messages. It never decides that one is sent.
 * Start with cm_message_write().
 * Spec: IBTA vol 1, 12.6 (messages); Annex A11 (addresses in a REQ).
 */
#include "connection.h"

enum {
	LID_PERMISSIVE = 0xffff, /* RoCE has no LIDs; as Linux */
	PKEY_DEFAULT = 0xffff,
	HOP_LIMIT = 64,
	ACK_DELAY = 15, /* 134 ms: how late our ACKs may be on a busy machine */
	FAILOVER_UNSUPPORTED = 1,
	QPN_NONE = 0, /* in a DREQ that only asks: cm_forgotten() */
};

static void
addresses_write(const struct cm_connection *c, uint8_t *out)
{
	struct plx_cma cma = {
		.src = c->peer.info.local,
		.dst = c->peer.info.remote,
		.src_port = c->peer.info.local_port,
	};

	plx_cma_encode(&cma, out);
	memcpy(out + PLX_CMA_BYTES, c->private_data, c->private_bytes);
}

static void
req_write(const struct plx_cm *cm, const struct cm_connection *c, struct plx_cm_req *req)
{
	*req = (struct plx_cm_req){
		.local_comm_id = c->id,
		.service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP, c->peer.info.remote_port),
		.local_ca_guid = cm->config.ca_guid,
		.local_qkey = cm_features_key(c->own.selective),
		.local_qpn = c->own.qpn,
		.responder_resources = c->own.responder_resources,
		.initiator_depth = c->own.initiator_depth,
		.remote_response_timeout = PLX_CM_RESPONSE_TIMEOUT,
		.starting_psn = c->own.psn,
		.local_response_timeout = PLX_CM_RESPONSE_TIMEOUT,
		.retry_count = c->own.retry,
		.pkey = PKEY_DEFAULT,
		.path_mtu = cm_path_mtu_code(c->own.path_mtu),
		.rnr_retry_count = c->own.rnr_retry,
		.max_cm_retries = PLX_CM_TRIES - 1,
		.srq = c->own.srq,
		.primary =
			{
				.local_lid = LID_PERMISSIVE,
				.remote_lid = LID_PERMISSIVE,
				.hop_limit = HOP_LIMIT,
				.local_ack_timeout = c->own.ack_timeout,
			},
	};
	plx_gid_from_ip(&c->peer.info.local, req->primary.local_gid);
	plx_gid_from_ip(&c->peer.info.remote, req->primary.remote_gid);
	addresses_write(c, req->private_data);
}

static void
rep_write(const struct plx_cm *cm, const struct cm_connection *c, struct plx_cm_rep *rep)
{
	*rep = (struct plx_cm_rep){
		.local_comm_id = c->id,
		.remote_comm_id = c->remote_id,
		.local_qkey = cm_features_key(c->peer.selective),
		.local_qpn = c->own.qpn,
		.starting_psn = c->own.psn,
		.responder_resources = c->peer.info.responder_resources,
		.initiator_depth = c->peer.info.initiator_depth,
		.target_ack_delay = ACK_DELAY,
		.failover = c->alternate ? FAILOVER_UNSUPPORTED : 0,
		.rnr_retry_count = c->own.rnr_retry,
		.srq = c->own.srq,
		.local_ca_guid = cm->config.ca_guid,
	};
	memcpy(rep->private_data, c->private_data, c->private_bytes);
}

/* IBTA 12.6.7.2: a REJ (TIMEOUT) contains our GUID, because we may not know the peer's id. */
static void
rej_write(const struct plx_cm *cm, const struct cm_connection *c, struct plx_cm_rej *rej)
{
	*rej = (struct plx_cm_rej){
		.local_comm_id = c->id,
		.remote_comm_id = c->remote_id,
		.about = c->about,
		.reason = c->reject,
	};
	if (c->reject == PLX_CM_REASON_TIMEOUT) {
		rej->info_length = sizeof cm->config.ca_guid;
		for (int i = 0; i < 8; i++)
			rej->info[i] = (uint8_t)(cm->config.ca_guid >> (56 - 8 * i));
	}
	memcpy(rej->private_data, c->private_data, c->reject_bytes);
}

static void
sidr_req_write(const struct cm_connection *c, struct plx_cm_sidr_req *req)
{
	*req = (struct plx_cm_sidr_req){
		.request_id = c->id,
		.pkey = PKEY_DEFAULT,
		.service_id = plx_cma_service_id(PLX_PORT_SPACE_UDP, c->peer.info.remote_port),
	};
	addresses_write(c, req->private_data);
}

static void
mra_write(const struct cm_connection *c, struct plx_cm_mra *mra)
{
	*mra = (struct plx_cm_mra){
		.local_comm_id = c->id,
		.remote_comm_id = c->remote_id,
		.about = c->active ? PLX_CM_ABOUT_REP : PLX_CM_ABOUT_REQ,
		.service_timeout = PLX_CM_SERVICE_TIMEOUT,
	};
}

/* RTU, DREQ and DREP differ only in the ids, which have the same position in the union. */
void
cm_message_write(const struct plx_cm *cm, const struct cm_connection *c, enum cm_message message,
		 struct plx_cm_msg *out)
{
	static const uint16_t kinds[CM_SENDS] = {
		[CM_SEND_REQ] = PLX_CM_REQ,   [CM_SEND_SIDR_REQ] = PLX_CM_SIDR_REQ,
		[CM_SEND_MRA] = PLX_CM_MRA,   [CM_SEND_REP] = PLX_CM_REP,
		[CM_SEND_RTU] = PLX_CM_RTU,   [CM_SEND_REJ] = PLX_CM_REJ,
		[CM_SEND_DREQ] = PLX_CM_DREQ, [CM_SEND_DREP] = PLX_CM_DREP,
	};

	memset(out, 0, sizeof *out);
	out->kind = kinds[message];
	out->transaction_id = c->tid;
	if (message == CM_SEND_REQ) {
		req_write(cm, c, &out->req);
	} else if (message == CM_SEND_SIDR_REQ) {
		sidr_req_write(c, &out->sidr_req);
	} else if (message == CM_SEND_MRA) {
		mra_write(c, &out->mra);
	} else if (message == CM_SEND_REP) {
		rep_write(cm, c, &out->rep);
	} else if (message == CM_SEND_RTU) {
		out->rtu.local_comm_id = c->id;
		out->rtu.remote_comm_id = c->remote_id;
	} else if (message == CM_SEND_REJ) {
		rej_write(cm, c, &out->rej);
	} else if (message == CM_SEND_DREQ) {
		out->transaction_id = cm_tid(cm, c, true);
		out->dreq.local_comm_id = c->id;
		out->dreq.remote_comm_id = c->remote_id;
		out->dreq.remote_qpn =
			c->state == CM_ESTABLISHED ? QPN_NONE : c->peer.info.remote_qpn;
	} else {
		out->transaction_id = c->dreq_tid;
		out->drep.local_comm_id = c->id;
		out->drep.remote_comm_id = c->remote_id;
	}
}

void
cm_private_keep(struct cm_connection *c, const uint8_t *bytes, uint32_t count)
{
	PLX_ASSERT(count <= sizeof c->private_data);
	if (count)
		memcpy(c->private_data, bytes, count);
	c->private_bytes = (uint8_t)count;
}
