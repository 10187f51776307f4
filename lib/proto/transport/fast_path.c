/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fast path: sends a SEND or WRITE that fits one packet for the first time, receives one that
 * is expected next, and sends the ACK for a burst of them. These are nearly all traffic of a
 * program with small messages, so they go from bytes to bytes without an action list. Hot.
 * It never decides differently from the slow path: anything unusual is left unchanged for
 * plx_rc_transmit() and plx_rc_on_packet(). Start with plx_rc_send_fast() and
 * plx_rc_receive_fast(). The tests' endpoint tries them first, as the engine does, so every seed of
 * the simulator compares both paths.
 */
#include "plx_bytes.h"
#include "qp.h"

static inline void
store_bth(const struct plx_rc *qp, uint8_t opcode, uint8_t bits, uint32_t psn_word, uint8_t *out)
{
	plx_be32_store(out,
		       (uint32_t)opcode << 24 | (uint32_t)(PLX_BTH_MIGREQ | bits) << 16 | qp->pkey);
	plx_be32_store(out + PLX_BTH_QPN_AT, qp->dest_qpn);
	plx_be32_store(out + PLX_BTH_PSN_AT, psn_word);
}

/* ---- sending ---- */

static enum plx_fast_kind
send_ack(struct plx_rc *qp, uint8_t *out, struct plx_fast_packet *fast)
{
	struct responder *resp = &qp->resp;

	store_bth(qp, PLX_RC_ACK, 0, resp->owed_psn.v, out);
	plx_be32_store(out + PLX_BTH_BYTES, (uint32_t)resp->owed_syndrome << 24 | resp->msn.v);
	plx_count(&qp->counters.acks_sent, 1);
	resp->owed = OWED_NOTHING;
	fast->header_bytes = PLX_BTH_BYTES + PLX_AETH_BYTES;
	fast->payload_bytes = 0;
	fast->pad = 0;
	return PLX_FAST_SENT;
}

static const uint8_t only_opcodes[PLX_WR_OP_COUNT] = {
	[PLX_WR_SEND] = PLX_RC_SEND_ONLY, /* not 0, which is SEND first */
	[PLX_WR_WRITE] = PLX_RC_WRITE_ONLY,
};

/* Find the payload. Returns false if a key denies access, or if it is in several pieces. */
static inline bool
find_payload(struct plx_rc *qp, const struct plx_wqe *wqe, uint32_t bytes, const uint8_t **payload)
{
	const struct plx_sge *sge = wqe->sge;
	struct plx_grant grant;

	if (wqe->flags & PLX_WR_INLINE) {
		*payload = bytes <= PLX_WQE_INLINE_BYTES ? wqe->data : sq_spill(qp, qp->req.cursor);
		return true;
	}
	if (plx_unlikely(wqe->sges != 1 || bytes == 0) ||
	    plx_key_check(qp->mem, sge->key, &qp->asker, sge->va, bytes, (struct plx_access){0},
			  &grant) != PLX_KEY_GRANTED)
		return false;
	*payload = grant.host;
	return true;
}

/*
 * Record the packet as sent, as sent() in requester.c does for a packet that is the first and last
 * of its message.
 */
static inline void
book(struct plx_rc *qp, struct sq_track *track, uint32_t bytes, uint64_t now)
{
	struct requester *req = &qp->req;

	track->first = req->next;
	req->next = req->high = plx_psn_add(req->next, 1);
	req->started = ++req->cursor;
	req->since_ack_request = 0;
	recover_arm(req, track->first, now, false);
	plx_count(&qp->counters.requests_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
}

/* Nothing to send, deliver or raise, so the caller need not try the slow path. */
static inline enum plx_fast_kind
nothing(struct plx_rc *qp)
{
	if (plx_unlikely(qp->req.head != qp->req.done))
		return PLX_FAST_NO;
	qp->more = false;
	return PLX_FAST_NOTHING;
}

/* @param paced a constant: there is a congestion strategy */
static inline __attribute__((always_inline)) enum plx_fast_kind
send(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out, struct plx_fast_packet *fast)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe;
	struct sq_track *track;
	uint32_t bytes;
	bool write;

	if (qp->resp.owed != OWED_NOTHING)
		return plx_likely(qp->resp.owed == OWED_ACK) ? send_ack(qp, out, fast)
							     : PLX_FAST_NO;
	if (req->cursor == req->tail)
		return nothing(qp);
	wqe = sq_wqe(qp, req->cursor);
	track = sq_track(qp, req->cursor);
	bytes = track->bytes;
	write = wqe->op == PLX_WR_WRITE;
	if (plx_unlikely(req->cursor != req->started || req->rnr_waiting || track->packets != 1 ||
			 only_opcodes[wqe->op] == 0 || wqe->flags & PLX_WR_FENCE ||
			 plx_psn_diff(req->next, req->una) >= (int32_t)req->window) ||
	    (paced && !congestion_has_grant(req, now, bytes)) ||
	    !find_payload(qp, wqe, bytes, &fast->payload))
		return PLX_FAST_NO;
	fast->payload_bytes = bytes;
	fast->pad = (uint8_t)(-bytes & 3);
	/* A message of one packet always requests an ACK. */
	store_bth(qp, only_opcodes[wqe->op],
		  (uint8_t)(fast->pad << PLX_BTH_PAD_SHIFT |
			    (!write && wqe->flags & PLX_WR_SOLICITED ? PLX_BTH_SOLICITED : 0)),
		  PLX_BTH_ACK_REQUEST | req->next.v, out);
	fast->header_bytes = PLX_BTH_BYTES;
	if (write) {
		plx_be64_store(out + PLX_BTH_BYTES, wqe->remote_va);
		plx_be32_store(out + PLX_BTH_BYTES + PLX_RETH_KEY_AT, wqe->rkey.v);
		plx_be32_store(out + PLX_BTH_BYTES + PLX_RETH_LENGTH_AT, bytes);
		fast->header_bytes = PLX_BTH_BYTES + PLX_RETH_BYTES;
	}
	book(qp, track, bytes, now);
	if (paced)
		congestion_charge(qp, now, bytes);
	return PLX_FAST_SENT;
}

/* What the fast path cannot do, apart from packets that need a grant. */
static inline bool
sends_slowly(const struct plx_rc *qp, uint8_t reasons)
{
	return qp->state != PLX_QP_RTS || qp->slow_path & reasons || qp->resp.res_pending > 0 ||
	       qp->resp.cnp_owed;
}

struct paced {
	enum plx_fast_kind kind;
	struct plx_fast_packet packet;
};

/* It returns the packet, and does not fill in the caller's: where there is no strategy, that one
 * can then be kept in registers. */
static __attribute__((noinline)) struct paced
send_paced(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	struct paced paced = {.kind = PLX_FAST_NO};

	if (!sends_slowly(qp, SLOW_PATH_PROBE))
		paced.kind = send(qp, now, true, out, &paced.packet);
	return paced;
}

PLX_HOT enum plx_fast_kind
plx_rc_send_fast(struct plx_rc *qp, uint64_t now, uint8_t *out, struct plx_fast_packet *fast)
{
	if (plx_unlikely(sends_slowly(qp, SLOW_PATH_PROBE | SLOW_PATH_PACED))) {
		struct paced paced;

		if (!congestion_is_on(qp))
			return PLX_FAST_NO;
		paced = send_paced(qp, now, out);
		*fast = paced.packet;
		return paced.kind;
	}
	return send(qp, now, false, out, fast);
}

/* ---- receiving ---- */

/* The counterpart of apply_accept() in responder.c, for a message of one packet. */
static inline void
apply(struct plx_rc *qp, uint32_t bytes)
{
	struct responder *resp = &qp->resp;

	resp->ack_psn = resp->expected;
	resp->expected = plx_psn_add(resp->expected, 1);
	resp->msn = plx_msn_next(resp->msn);
	resp->owed = OWED_ACK;
	resp->owed_syndrome = PLX_AETH_ACK | PLX_AETH_NO_CREDITS;
	resp->owed_psn = resp->ack_psn;
	qp->more = true;
	plx_count(&qp->counters.verdict[PLX_VERDICT_ACCEPT], 1);
	plx_count(&qp->counters.bytes_placed, bytes);
}

static inline bool
receive_write(struct plx_rc *qp, const uint8_t *bth, uint32_t bytes, struct plx_place *place)
{
	const uint8_t *reth = bth + PLX_BTH_BYTES;
	struct plx_grant grant;

	if (plx_unlikely(plx_be32_load(reth + PLX_RETH_LENGTH_AT) != bytes || bytes == 0 ||
			 bytes > qp->mtu || !(qp->enabled.bits & PLX_ACCESS_REMOTE_WRITE)) ||
	    plx_key_check(qp->mem, (struct plx_key){plx_be32_load(reth + PLX_RETH_KEY_AT)},
			  &qp->asker, plx_be64_load(reth), bytes,
			  (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant) != PLX_KEY_GRANTED)
		return false;
	place->dst = grant.host;
	return true;
}

static inline bool
receive_send(struct plx_rc *qp, bool solicited, uint32_t bytes, struct plx_place *place,
	     struct plx_completion *completion)
{
	struct plx_rq *rq = qp->rq;
	const struct plx_sge *sge;
	struct plx_grant grant;
	uint64_t wr_id;

	if (plx_unlikely(bytes == 0 || bytes > qp->mtu || rq->threshold > 0) ||
	    !rq_next_is_plain(rq, bytes, &wr_id, &sge) ||
	    plx_key_check(qp->mem, sge->key, &qp->asker, sge->va, bytes,
			  (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, &grant) != PLX_KEY_GRANTED)
		return false;
	place->dst = grant.host;
	*completion = (struct plx_completion){
		.wr_id = wr_id,
		.qpn = qp->qpn,
		.bytes = bytes,
		.status = PLX_WC_SUCCESS,
		.op = PLX_WR_SEND,
		.flags = (uint8_t)(PLX_WC_RECV | (solicited ? PLX_WC_SOLICITED : 0)),
	};
	rq->head++;
	rq->done++;
	return true;
}

PLX_HOT enum plx_fast_kind
plx_rc_receive_fast(struct plx_rc *qp, const uint8_t *bth, size_t len, struct plx_place *place,
		    struct plx_completion *completion)
{
	const struct responder *resp = &qp->resp;
	uint8_t opcode = bth[PLX_BTH_OPCODE_AT], bits = bth[PLX_BTH_FLAGS_AT];
	bool write = opcode == PLX_RC_WRITE_ONLY;
	size_t overhead = PLX_BTH_BYTES + (write ? PLX_RETH_BYTES : 0) +
			  (bits >> PLX_BTH_PAD_SHIFT & PLX_BTH_PAD_MASK) + (size_t)PLX_ICRC_BYTES;
	uint32_t bytes = (uint32_t)(len - overhead);

	if (plx_unlikely((!write && opcode != PLX_RC_SEND_ONLY) || len < overhead || len % 4 != 0 ||
			 bits & PLX_BTH_VERSION_MASK ||
			 plx_be16_load(bth + PLX_BTH_PKEY_AT) != qp->pkey || !(qp->pkey & 0x8000) ||
			 (plx_be32_load(bth + PLX_BTH_PSN_AT) & PLX_PSN_MASK) != resp->expected.v ||
			 qp->state != PLX_QP_RTS || resp->open != OPEN_NONE || resp->nak_out ||
			 !resp->heard || (resp->owed != OWED_NOTHING && resp->owed != OWED_ACK)))
		return PLX_FAST_NO;
	if (write ? !receive_write(qp, bth, bytes, place)
		  : !receive_send(qp, bits & PLX_BTH_SOLICITED, bytes, place, completion))
		return PLX_FAST_NO;
	place->src =
		bth + overhead - PLX_ICRC_BYTES - (bits >> PLX_BTH_PAD_SHIFT & PLX_BTH_PAD_MASK);
	place->bytes = bytes;
	place->is_private = false; /* which plx_key_check() does not grant */
	apply(qp, bytes);
	return write ? PLX_FAST_PLACED : PLX_FAST_RECEIVED;
}
