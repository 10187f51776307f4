/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagrams: a queue pair without a peer. A datagram completes when it is sent; a received one is
 * delivered whole or dropped. It never responds, and a dropped datagram never consumes a receive.
 * Start with plx_ud_on_packet() and plx_ud_transmit(). The queues are those of a connected queue
 * pair (qp.c, rq.c, complete.c).
 */
#include "qp.h"

enum {
	QKEY_CONTROLLED_SHIFT = 31, /* highest bit: use the sender's own Q_Key */
};

/* ---- datagrams without a queue pair ---- */

/* Checks that may precede that of the ICRC. */
static enum plx_verdict
check_early(const struct plx_pkt *pkt, uint16_t pkey)
{
	if (plx_opcodes[pkt->opcode].service != PLX_SERVICE_UD)
		return PLX_VERDICT_SERVICE;
	return pkey_matches(pkey, pkt->pkey) ? PLX_VERDICT_ACCEPT : PLX_VERDICT_PKEY;
}

enum plx_verdict
plx_ud_check(const struct plx_pkt *pkt, uint16_t pkey, uint32_t qkey)
{
	enum plx_verdict verdict = check_early(pkt, pkey);

	if (verdict == PLX_VERDICT_ACCEPT && pkt->deth.qkey != qkey)
		return PLX_VERDICT_QKEY;
	return verdict;
}

void
plx_ud_label(const struct plx_ud_label *label, struct plx_psn psn, uint32_t bytes,
	     struct plx_pkt *out)
{
	*out = (struct plx_pkt){
		.opcode = PLX_UD_SEND_ONLY,
		.pad = -bytes & 3,
		.migreq = true,
		.pkey = label->pkey,
		.dest_qpn = label->dest_qpn,
		.psn = psn,
		.deth = {.qkey = label->qkey, .src_qpn = label->src_qpn},
		.payload_bytes = bytes,
	};
}

void
plx_ud_header_space(const uint8_t *ip, uint8_t *out)
{
	if (ip[0] >> 4 == 6) {
		memcpy(out, ip, PLX_IPV6_BYTES);
		return;
	}
	memset(out, 0, PLX_UD_HEADER_BYTES - PLX_IPV4_BYTES);
	memcpy(out + PLX_UD_HEADER_BYTES - PLX_IPV4_BYTES, ip, PLX_IPV4_BYTES);
}

_Static_assert((int)PLX_UD_HEADER_BYTES == (int)PLX_IPV6_BYTES, "an IPv6 header fills the space");

/* ---- memory and states ---- */

size_t
plx_ud_bytes(const struct plx_rc_caps *caps)
{
	return caps->responder_resources == 0 ? qp_bytes(caps, sizeof(struct plx_ud)) : 0;
}

struct plx_ud *
plx_ud_init(void *memory, const struct plx_rc_caps *caps, const struct plx_ud_ids *ids)
{
	const struct plx_rc_ids base = {.qpn = ids->qpn,
					.domain = ids->domain,
					.mem = ids->mem,
					.rq = ids->rq,
					.cc = &plx_cc_none};
	struct plx_ud *ud = memory;

	PLX_ASSERT(plx_ud_bytes(caps) > 0);
	qp_init(memory, sizeof(*ud), caps, &base);
	ud->base.ahs = ids->ahs;
	ud->base.ah_count = ids->ah_count;
	ud->qkey = ids->qkey;
	return ud;
}

struct plx_rc *
plx_ud_base(struct plx_ud *ud)
{
	return &ud->base;
}

enum plx_status
plx_ud_modify(struct plx_ud *ud, enum plx_qp_state to, const struct plx_ud_attr *attr)
{
	/* Any peer; attributes that UD does not use have their minimum. */
	struct plx_rc_attr whole = {.ack_timeout_ns = 1,
				    .window_packets = 1,
				    .ack_interval = 1,
				    .read_chunk_packets = 1};

	if (attr != NULL) {
		whole.mtu = attr->mtu;
		whole.pkey = attr->pkey;
		whole.sq_psn = attr->sq_psn;
	}
	return plx_rc_modify(&ud->base, to, &whole);
}

/* ---- sending ---- */

static bool
is_open(const struct plx_rc *qp)
{
	return qp->state == PLX_QP_RTS || qp->state == PLX_QP_SQD;
}

/* May an entry of this QP name the handle? */
static bool
is_own(const struct plx_rc *qp, uint32_t ah)
{
	return qp->ahs == NULL ||
	       (ah < qp->ah_count && qp->ahs[ah].domain.id == qp->asker.domain.id);
}

enum plx_status
plx_ud_post_send(struct plx_ud *ud, const struct plx_wqe *posted, const void *spill)
{
	struct plx_rc *qp = &ud->base;
	const struct plx_wqe *wqe = sq_wqe(qp, qp->req.tail);
	uint64_t bytes;
	enum plx_status status = qp_take(qp, posted, spill, &bytes);

	if (status != PLX_OK)
		return status;
	if ((wqe->op != PLX_WR_SEND && wqe->op != PLX_WR_SEND_IMM) ||
	    wqe->remote_qpn > PLX_PSN_MASK || !is_own(qp, wqe->ah))
		return PLX_INVALID;
	if (is_open(qp) && bytes > qp->mtu)
		return PLX_TOO_LONG;
	plx_ud_sq_commit(ud, (uint32_t)bytes);
	return PLX_OK;
}

void
plx_ud_sq_commit(struct plx_ud *ud, uint32_t bytes)
{
	struct plx_rc *qp = &ud->base;

	if (qp->ahs)
		qp->ahs[sq_wqe(qp, qp->req.tail)->ah].posted++;
	plx_rc_sq_commit(qp, bytes);
}

/* Locate the payload of the entry at the cursor. Returns false if a key denies access.
 * @param count as sge_resolve() returns */
static bool
gather(struct plx_rc *qp, struct plx_actions *out, uint32_t bytes, int *count)
{
	uint32_t index = qp->req.cursor;
	const struct plx_wqe *wqe = sq_wqe(qp, index);
	struct plx_access common = {PLX_ACCESS_ALL};
	struct sge_source source;

	*count = 0;
	if (bytes == 0)
		return true;
	if (wqe->flags & PLX_WR_INLINE) {
		bool spilled = wqe->inline_bytes > PLX_WQE_INLINE_BYTES;

		out->iov[out->iovs] = (struct plx_iov){
			.base = spilled ? sq_spill(qp, index) : wqe->data, .bytes = bytes};
		*count = 1;
		return true;
	}
	source = sge_of_send(qp, index);
	*count = sge_resolve(qp, &source, 0, bytes, (struct plx_access){0}, &out->iov[out->iovs],
			     &common);
	return *count >= 0;
}

/* The entry at the cursor has been sent, which completes it. */
static void
sent(struct plx_rc *qp, const struct plx_wqe *wqe, uint32_t bytes)
{
	struct requester *req = &qp->req;

	if (qp->ahs)
		qp->ahs[wqe->ah].posted--;
	req->next = plx_psn_add(req->next, 1);
	req->una = req->high = req->next;
	req->cursor++;
	req->started = req->done = req->cursor;
	plx_count(&qp->counters.requests_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
}

static bool
transmit_one(struct plx_ud *ud, struct plx_actions *out)
{
	struct plx_rc *qp = &ud->base;
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	struct plx_emit *emit;
	uint32_t bytes;
	int count;
	bool imm;

	if (qp->state != PLX_QP_RTS || req->cursor == req->tail)
		return false;
	bytes = sq_track(qp, req->cursor)->bytes;
	if (!gather(qp, out, bytes, &count) || (count & RANGES_PRIVATE && shadow_is_denied(req))) {
		requester_fail(qp, PLX_WC_LOCAL_PROTECTION, out);
		return false;
	}
	if (plx_unlikely(count & RANGES_PRIVATE) && !shadow_has_request(req, 0, bytes)) {
		shadow_load_request(qp, 0, out);
		return false;
	}
	imm = wqe->op == PLX_WR_SEND_IMM;
	emit = emit_add(qp, out, imm ? PLX_UD_SEND_ONLY_IMM : PLX_UD_SEND_ONLY, req->next);
	emit->iovs = (uint8_t)ranges_count(count);
	out->iovs += emit->iovs;
	emit_payload(emit, bytes);
	emit->ah = wqe->ah;
	emit->pkt.dest_qpn = wqe->remote_qpn;
	emit->pkt.solicited = wqe->flags & PLX_WR_SOLICITED;
	emit->pkt.deth = (struct plx_deth){
		.qkey = wqe->remote_qkey >> QKEY_CONTROLLED_SHIFT ? ud->qkey : wqe->remote_qkey,
		.src_qpn = qp->qpn,
	};
	if (imm)
		emit->pkt.imm = wqe->imm;
	sent(qp, wqe, bytes);
	return true;
}

/* Room for one packet with all its ranges, its completion, and the event of a failure. */
static bool
room_for_packet(const struct plx_actions *out)
{
	return actions_room(out) >= 3 && out->iovs + PLX_PIECES_MAX <= PLX_IOVS_MAX;
}

uint32_t
plx_ud_transmit(struct plx_ud *ud, uint32_t budget, struct plx_actions *out)
{
	struct plx_rc *qp = &ud->base;
	bool more = budget == 0 && qp->more;
	uint32_t emitted = 0;

	qp->more = false;
	complete_deliver(qp, out);
	while (emitted < budget) {
		if (!room_for_packet(out)) {
			more = true;
			break;
		}
		if (!transmit_one(ud, out))
			break;
		emitted++;
		/* After its packet, so that a full list holds equally many of both. */
		complete_deliver(qp, out);
	}
	if (budget > 0 && emitted == budget)
		more = true;
	complete_deliver(qp, out);
	qp->more |= more;
	return emitted;
}

/* ---- receiving ---- */

/* Where a datagram is placed: the ranges of its header and of its payload. */
struct landing {
	struct plx_iov header[PLX_PIECES_MAX], payload[PLX_PIECES_MAX];
	int headers, payloads;
};

enum plx_verdict
plx_ud_admit(const struct plx_ud *ud, const struct plx_pkt *pkt)
{
	const struct plx_rc *qp = &ud->base;

	if (plx_opcodes[pkt->opcode].service != PLX_SERVICE_UD)
		return PLX_VERDICT_SERVICE;
	if (!is_open(qp) && qp->state != PLX_QP_RTR)
		return PLX_VERDICT_STATE;
	return check_early(pkt, qp->pkey);
}

static enum plx_verdict
check_keys(struct plx_rc *qp, uint32_t bytes, struct landing *to)
{
	const struct plx_access write = {PLX_ACCESS_LOCAL_WRITE};
	struct plx_access common = {PLX_ACCESS_ALL};
	struct sge_source source = sge_of_recv(qp);

	to->headers = ranges_count(
		sge_resolve(qp, &source, 0, PLX_UD_HEADER_BYTES, write, to->header, &common));
	to->payloads = ranges_count(
		sge_resolve(qp, &source, PLX_UD_HEADER_BYTES, bytes, write, to->payload, &common));
	return to->headers < 0 || to->payloads < 0 ? PLX_VERDICT_RECV_ACCESS : PLX_VERDICT_ACCEPT;
}

/* Line 7 of the decision table. @param to [out] set if ACCEPT */
static enum plx_verdict
check(struct plx_ud *ud, const struct plx_pkt *pkt, struct landing *to)
{
	enum plx_verdict verdict = plx_ud_admit(ud, pkt);
	struct plx_rc *qp = &ud->base;

	if (verdict != PLX_VERDICT_ACCEPT)
		return verdict;
	if (pkt->deth.qkey != ud->qkey)
		return PLX_VERDICT_QKEY;
	if (pkt->payload_bytes > qp->mtu || (pkt->payload_bytes + pkt->pad) % 4 != 0)
		return PLX_VERDICT_LENGTH;
	if (plx_rq_count(qp->rq) == 0)
		return PLX_VERDICT_RNR;
	rq_peek(qp->rq, &qp->recv);
	if (qp->recv.bytes < PLX_UD_HEADER_BYTES + pkt->payload_bytes)
		return PLX_VERDICT_RECV_LENGTH;
	return check_keys(qp, pkt->payload_bytes, to);
}

static void
apply_accept(struct plx_ud *ud, const struct plx_pkt *pkt, const uint8_t *ip,
	     const struct landing *to, struct plx_actions *out)
{
	bool imm = plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_IMM);
	struct plx_completion completion = {
		.bytes = PLX_UD_HEADER_BYTES + pkt->payload_bytes,
		.status = PLX_WC_SUCCESS,
		.op = imm ? PLX_WR_SEND_IMM : PLX_WR_SEND,
	};
	struct plx_rc *qp = &ud->base;

	plx_ud_header_space(ip, ud->space);
	recv_pop(qp, out);
	sge_place(to->header, to->headers, ud->space, out);
	sge_place(to->payload, to->payloads, pkt->payload, out);
	if (imm) {
		completion.flags |= PLX_WC_IMM;
		completion.imm = pkt->imm;
	}
	if (pkt->solicited)
		completion.flags |= PLX_WC_SOLICITED;
	complete_recv(qp, &completion, out);
	out->list[out->count - 1].completion.qpn = pkt->deth.src_qpn;
	plx_count(&qp->counters.bytes_placed, pkt->payload_bytes);
}

enum plx_verdict
plx_ud_on_packet(struct plx_ud *ud, const struct plx_pkt *pkt, const uint8_t *ip,
		 struct plx_actions *out)
{
	struct plx_rc *qp = &ud->base;
	struct landing to;
	enum plx_verdict verdict;

	PLX_ASSERT(actions_room(out) >= PLX_ACTIONS_PER_PACKET);
	verdict = check(ud, pkt, &to);
	plx_count(&qp->counters.verdict[verdict], 1);
	if (plx_likely(verdict == PLX_VERDICT_ACCEPT)) {
		if (pkt->ce)
			plx_count(&qp->counters.ce_marks, 1);
		apply_accept(ud, pkt, ip, &to, out);
	} else if (verdict == PLX_VERDICT_RECV_ACCESS) {
		/* An error of the program: reported as on a connection. */
		recv_pop(qp, out);
		qp->resp.recv_open = true;
		qp->resp.recv_status = PLX_WC_LOCAL_PROTECTION;
		complete_to_error(qp, PLX_WC_LOCAL_PROTECTION, out);
		complete_deliver(qp, out);
	}
	return verdict;
}
