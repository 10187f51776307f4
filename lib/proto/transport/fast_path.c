/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fast path: sends packets of SENDs, WRITEs and READs for the first time, READ responses and
 * ACKs; receives the request or the READ response that is expected next. These are nearly all
 * traffic, so they go from bytes to bytes without an action list. Hot; packets of long messages and
 * READs are kept apart from small SENDs and WRITEs, which have the shortest way.
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
find_payload(struct plx_rc *qp, const struct plx_wqe *wqe, uint32_t offset, uint32_t bytes,
	     const uint8_t **payload)
{
	const struct plx_sge *sge = wqe->sge;
	struct plx_grant grant;

	if (wqe->flags & PLX_WR_INLINE) {
		const uint8_t *data = wqe->data;

		if (wqe->inline_bytes > PLX_WQE_INLINE_BYTES)
			data = sq_spill(qp, qp->req.cursor);
		*payload = data + offset;
		return true;
	}
	if (plx_unlikely(wqe->sges != 1 || bytes == 0) ||
	    plx_key_check(qp->mem, sge->key, &qp->asker, sge->va + offset, bytes,
			  (struct plx_access){0}, &grant) != PLX_KEY_GRANTED)
		return false;
	*payload = grant.host;
	return true;
}

static inline void
store_reth(const struct plx_wqe *wqe, uint32_t bytes, uint8_t *out)
{
	plx_be64_store(out + PLX_BTH_BYTES, wqe->remote_va);
	plx_be32_store(out + PLX_BTH_BYTES + PLX_RETH_KEY_AT, wqe->rkey.v);
	plx_be32_store(out + PLX_BTH_BYTES + PLX_RETH_LENGTH_AT, bytes);
}

/*
 * Record the packet as sent, as sent() in requester.c does for a packet that is the first and last
 * of its message.
 */
static inline void
book(struct plx_rc *qp, struct sq_track *track, uint32_t packets, uint32_t bytes, uint64_t now)
{
	struct requester *req = &qp->req;

	track->first = req->next;
	req->next = req->high = plx_psn_add(req->next, packets);
	req->started = ++req->cursor;
	req->since_ack_request = 0;
	recover_arm(req, track->first, now, false);
	plx_count(&qp->counters.requests_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
}

/* The same for one of several packets of a message. */
static inline void
book_part(struct plx_rc *qp, struct sq_track *track, bool asks, uint32_t bytes, uint64_t now)
{
	struct requester *req = &qp->req;
	struct plx_psn psn = req->next;

	if (req->cursor_packet == 0) {
		track->first = psn;
		req->started++;
	}
	req->next = req->high = plx_psn_add(psn, 1);
	req->since_ack_request = asks ? 0 : req->since_ack_request + 1;
	if (++req->cursor_packet == track->packets) {
		req->cursor++;
		req->cursor_packet = 0;
		if (req->timed_at == PLX_NEVER)
			recover_time(req, psn, now);
	}
	recover_arm(req, psn, now, false);
	plx_count(&qp->counters.requests_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
}

/* A packet of a SEND or WRITE of several, which has not been sent before.
 * @param paced a constant: there is a congestion strategy */
static inline __attribute__((always_inline)) enum plx_fast_kind
send_part(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out, struct plx_fast_packet *fast)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	struct sq_track *track = sq_track(qp, req->cursor);
	uint32_t offset = req->cursor_packet << qp->mtu_shift, bytes = track->bytes - offset;
	bool write = wqe->op == PLX_WR_WRITE, first = offset == 0, last = bytes <= qp->mtu;
	uint8_t opcode = write ? PLX_RC_WRITE_MIDDLE : PLX_RC_SEND_MIDDLE, bits = 0;
	bool asks;

	if (!last)
		bytes = qp->mtu;
	asks = requester_wants_ack(qp, last);
	if (plx_unlikely(!plx_psn_eq(req->next, req->high) || only_opcodes[wqe->op] == 0 ||
			 (first && wqe->flags & PLX_WR_FENCE)) ||
	    (paced && !congestion_has_grant(req, now, bytes)) ||
	    !find_payload(qp, wqe, offset, bytes, &fast->payload))
		return PLX_FAST_NO;
	fast->payload_bytes = bytes;
	fast->pad = (uint8_t)(-bytes & 3);
	fast->header_bytes = PLX_BTH_BYTES;
	if (first) {
		opcode--;
		if (write) {
			store_reth(wqe, track->bytes, out);
			fast->header_bytes = PLX_BTH_BYTES + PLX_RETH_BYTES;
		}
	} else if (last) {
		opcode++;
		bits = (uint8_t)(fast->pad << PLX_BTH_PAD_SHIFT |
				 (!write && wqe->flags & PLX_WR_SOLICITED ? PLX_BTH_SOLICITED : 0));
	}
	store_bth(qp, opcode, bits, (asks ? PLX_BTH_ACK_REQUEST : 0) | req->next.v, out);
	if (paced && asks && req->timed_at == PLX_NEVER)
		recover_time(req, req->next, now);
	book_part(qp, track, asks, bytes, now);
	if (paced)
		congestion_charge(qp, now, bytes);
	return PLX_FAST_SENT;
}

_Static_assert(PLX_RC_SEND_FIRST + 1 == PLX_RC_SEND_MIDDLE &&
		       PLX_RC_SEND_MIDDLE + 1 == PLX_RC_SEND_LAST &&
		       PLX_RC_WRITE_FIRST + 1 == PLX_RC_WRITE_MIDDLE &&
		       PLX_RC_WRITE_MIDDLE + 1 == PLX_RC_WRITE_LAST,
	       "send_part() counts from the middle");

/* A READ that one request covers, and that has not been sent before. */
static inline __attribute__((always_inline)) enum plx_fast_kind
send_read(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out, struct plx_fast_packet *fast)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe = sq_wqe(qp, req->cursor);
	struct sq_track *track = sq_track(qp, req->cursor);

	if (plx_unlikely(req->cursor != req->started || !plx_psn_eq(req->next, req->high) ||
			 track->packets > qp->read_chunk || wqe->flags & PLX_WR_FENCE ||
			 req->rd_open >= qp->initiator_depth || qp->slow_path & SLOW_PATH_NARROW) ||
	    (paced && !congestion_has_grant(req, now, 0)))
		return PLX_FAST_NO;
	store_bth(qp, PLX_RC_READ_REQUEST, 0, PLX_BTH_ACK_REQUEST | req->next.v, out);
	store_reth(wqe, track->bytes, out);
	fast->header_bytes = PLX_BTH_BYTES + PLX_RETH_BYTES;
	fast->payload_bytes = 0;
	fast->pad = 0;
	if (req->timed_at == PLX_NEVER)
		recover_time(req, req->next, now);
	req->rd_open++;
	book(qp, track, track->packets, 0, now);
	if (paced)
		congestion_charge(qp, now, 0);
	return PLX_FAST_SENT;
}

/* What functions return that are not inlined. They do not fill in the caller's packet, which can
 * then be kept in registers for small messages. */
struct sent {
	enum plx_fast_kind kind;
	struct plx_fast_packet packet;
};

static inline __attribute__((always_inline)) struct sent
send_long(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out)
{
	struct sent sent;

	if (sq_wqe(qp, qp->req.cursor)->op == PLX_WR_READ)
		sent.kind = send_read(qp, now, paced, out, &sent.packet);
	else
		sent.kind = send_part(qp, now, paced, out, &sent.packet);
	return sent;
}

static __attribute__((noinline)) struct sent
send_long_free(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	return send_long(qp, now, false, out);
}

static __attribute__((noinline)) struct sent
send_long_paced(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	return send_long(qp, now, true, out);
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
send_request(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out,
	     struct plx_fast_packet *fast)
{
	struct requester *req = &qp->req;
	const struct plx_wqe *wqe;
	struct sq_track *track;
	uint32_t bytes;
	bool write;

	if (req->cursor == req->tail)
		return nothing(qp);
	wqe = sq_wqe(qp, req->cursor);
	track = sq_track(qp, req->cursor);
	bytes = track->bytes;
	write = wqe->op == PLX_WR_WRITE;
	if (plx_unlikely(req->rnr_waiting ||
			 plx_psn_diff(req->next, req->una) >= (int32_t)req->window))
		return PLX_FAST_NO;
	if (plx_unlikely(track->packets > 1 || wqe->op == PLX_WR_READ)) {
		struct sent sent =
			paced ? send_long_paced(qp, now, out) : send_long_free(qp, now, out);

		*fast = sent.packet;
		return sent.kind;
	}
	if (plx_unlikely(req->cursor != req->started || only_opcodes[wqe->op] == 0 ||
			 wqe->flags & PLX_WR_FENCE) ||
	    (paced && !congestion_has_grant(req, now, bytes)) ||
	    !find_payload(qp, wqe, 0, bytes, &fast->payload))
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
		store_reth(wqe, bytes, out);
		fast->header_bytes = PLX_BTH_BYTES + PLX_RETH_BYTES;
	}
	if (paced && req->timed_at == PLX_NEVER)
		recover_time(req, req->next, now);
	book(qp, track, 1, bytes, now);
	if (paced)
		congestion_charge(qp, now, bytes);
	return PLX_FAST_SENT;
}

static inline __attribute__((always_inline)) enum plx_fast_kind
send(struct plx_rc *qp, uint64_t now, bool paced, uint8_t *out, struct plx_fast_packet *fast)
{
	if (qp->resp.owed != OWED_NOTHING)
		return plx_likely(qp->resp.owed == OWED_ACK) ? send_ack(qp, out, fast)
							     : PLX_FAST_NO;
	return send_request(qp, now, paced, out, fast);
}

/* The next packet of the oldest READ response, if it is in one piece. The first packet serves as
 * the ACK for what came before it. */
static enum plx_fast_kind
send_response(struct plx_rc *qp, struct resource *res, uint8_t *out, struct plx_fast_packet *fast)
{
	struct responder *resp = &qp->resp;
	struct plx_psn psn = plx_psn_add(res->first, res->reply_next);
	uint32_t offset = res->reply_next << qp->mtu_shift, bytes = res->reply_bytes - offset;
	bool first = res->reply_next == res->reply_first;
	bool last = res->reply_next + 1 == res->reply_end;
	bool older = reply_ack_is_older(qp, res);
	uint8_t opcode = reply_read_opcode(res);
	struct plx_grant grant;

	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (plx_unlikely(res->kind != PLX_OP_READ_REQUEST || bytes == 0 || (older && !first) ||
			 (resp->owed != OWED_NOTHING && resp->owed != OWED_ACK) ||
			 res->domain.id != qp->asker.domain.id) ||
	    plx_key_check(qp->mem, res->rkey, &qp->asker, res->va + offset, bytes,
			  (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant) != PLX_KEY_GRANTED)
		return PLX_FAST_NO;
	fast->payload = grant.host;
	fast->payload_bytes = bytes;
	fast->pad = (uint8_t)(-bytes & 3);
	fast->header_bytes = PLX_BTH_BYTES;
	if (opcode != PLX_RC_READ_RESPONSE_MIDDLE) {
		plx_be32_store(out + PLX_BTH_BYTES,
			       (uint32_t)(PLX_AETH_ACK | PLX_AETH_NO_CREDITS) << 24 | resp->msn.v);
		fast->header_bytes = PLX_BTH_BYTES + PLX_AETH_BYTES;
	}
	store_bth(qp, opcode, (uint8_t)(fast->pad << PLX_BTH_PAD_SHIFT), psn.v, out);
	if (older)
		resp->owed = OWED_NOTHING;
	plx_count(&qp->counters.responses_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
	res->reply_next++;
	if (last)
		reply_answered(qp, res);
	return PLX_FAST_SENT;
}

static inline bool
is_busy(const struct plx_rc *qp)
{
	return qp->resp.res_pending > 0;
}

/* What the fast path cannot do, apart from packets that need a grant. */
static inline bool
sends_slowly(const struct plx_rc *qp)
{
	return qp->state != PLX_QP_RTS || qp->slow_path & SLOW_PATH_PROBE || qp->resp.cnp_owed;
}

static __attribute__((noinline)) struct sent
send_paced(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	struct sent sent;

	sent.kind = send(qp, now, true, out, &sent.packet);
	return sent;
}

/* As transmit_one() in qp.c, while a READ or atomic is to be answered. */
static __attribute__((noinline)) struct sent
send_in_turn(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	bool answers = qp->resp.owed != OWED_NOTHING || !qp->turn;
	struct sent sent;

	if (!answers && qp->req.cursor != qp->req.tail) {
		if (congestion_is_on(qp))
			sent = send_paced(qp, now, out);
		else
			sent.kind = send(qp, now, false, out, &sent.packet);
		if (sent.kind == PLX_FAST_SENT)
			qp->turn = false;
		return sent;
	}
	qp->resp.res_next = reply_oldest(qp);
	sent.kind = send_response(qp, &qp->res[qp->resp.res_next], out, &sent.packet);
	if (sent.kind == PLX_FAST_SENT)
		qp->turn = answers;
	return sent;
}

static __attribute__((noinline)) struct sent
send_unusual(struct plx_rc *qp, uint64_t now, uint8_t *out)
{
	if (sends_slowly(qp))
		return (struct sent){.kind = PLX_FAST_NO};
	return is_busy(qp) ? send_in_turn(qp, now, out) : send_paced(qp, now, out);
}

PLX_HOT enum plx_fast_kind
plx_rc_send_fast(struct plx_rc *qp, uint64_t now, uint8_t *out, struct plx_fast_packet *fast)
{
	if (plx_unlikely(qp->state != PLX_QP_RTS ||
			 qp->slow_path & (SLOW_PATH_PROBE | SLOW_PATH_PACED) || qp->resp.cnp_owed ||
			 is_busy(qp))) {
		struct sent sent = send_unusual(qp, now, out);

		*fast = sent.packet;
		return sent.kind;
	}
	return send(qp, now, false, out, fast);
}

/* ---- receiving ---- */

/* The first word of a BTH: opcode, flags, pad, version, P_Key. */
enum {
	HEAD_FLAGS_SHIFT = 16,
};

static inline uint32_t
head_pad(uint32_t head)
{
	return head >> (HEAD_FLAGS_SHIFT + PLX_BTH_PAD_SHIFT) & PLX_BTH_PAD_MASK;
}

static inline bool
head_is_solicited(uint32_t head)
{
	return head >> HEAD_FLAGS_SHIFT & PLX_BTH_SOLICITED;
}

/* Version 0, and our P_Key, which is a full member's. */
static inline bool
head_is_usual(const struct plx_rc *qp, uint32_t head)
{
	return (head & ((uint32_t)PLX_BTH_VERSION_MASK << HEAD_FLAGS_SHIFT | UINT16_MAX)) ==
		       qp->pkey &&
	       head & 0x8000;
}

/* Is it the request that is expected next, with nothing to say but an ACK? */
static inline bool
is_next_request(const struct plx_rc *qp, struct plx_psn psn)
{
	const struct responder *resp = &qp->resp;

	return plx_psn_eq(psn, resp->expected) && qp->state == PLX_QP_RTS && resp->unusual == 0 &&
	       (resp->owed == OWED_NOTHING || resp->owed == OWED_ACK);
}

/* The counterpart of apply_accept() in responder.c, for a packet with a payload.
 * @param open what is open then; NONE: the packet ends its message
 * @param asks for an ACK, as the end of a message always does */
static inline __attribute__((always_inline)) void
apply(struct plx_rc *qp, uint32_t bytes, enum open_message open, bool asks)
{
	struct responder *resp = &qp->resp;

	resp->ack_psn = resp->expected;
	resp->expected = plx_psn_add(resp->expected, 1);
	resp->open = (uint8_t)open;
	if (open == OPEN_NONE)
		resp->msn = plx_msn_next(resp->msn);
	if (open == OPEN_NONE || asks) {
		resp->owed = OWED_ACK;
		resp->owed_syndrome = PLX_AETH_ACK | PLX_AETH_NO_CREDITS;
		resp->owed_psn = resp->ack_psn;
	}
	qp->more = true;
	plx_count(&qp->counters.verdict[PLX_VERDICT_ACCEPT], 1);
	plx_count(&qp->counters.bytes_placed, bytes);
}

static inline struct plx_completion
received(const struct plx_rc *qp, uint64_t wr_id, uint32_t bytes, bool solicited)
{
	return (struct plx_completion){
		.wr_id = wr_id,
		.qpn = qp->qpn,
		.bytes = bytes,
		.status = PLX_WC_SUCCESS,
		.op = PLX_WR_SEND,
		.flags = (uint8_t)(PLX_WC_RECV | (solicited ? PLX_WC_SOLICITED : 0)),
	};
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
	*completion = received(qp, wr_id, bytes, solicited);
	rq->head++;
	rq->done++;
	return true;
}

/* ---- receiving what is longer than a packet, and READs ---- */

/* A packet from the BTH on. */
struct part {
	const uint8_t *bth;
	uint32_t bytes;
	bool asks, solicited;
};

/* As check_write_key(): the first packet asks for the whole message. */
static enum plx_fast_kind
receive_write_part(struct plx_rc *qp, const struct part *part, bool first, bool last,
		   struct plx_place *place)
{
	const uint8_t *reth = part->bth + PLX_BTH_BYTES;
	struct responder *resp = &qp->resp;
	struct plx_key key = resp->write_rkey;
	uint64_t va = resp->write_va;
	uint32_t left = resp->write_left, asked = part->bytes;
	struct plx_grant grant;

	if (first) {
		key.v = plx_be32_load(reth + PLX_RETH_KEY_AT);
		va = plx_be64_load(reth);
		left = asked = plx_be32_load(reth + PLX_RETH_LENGTH_AT);
	}
	if (plx_unlikely(resp->open != (first ? OPEN_NONE : OPEN_WRITE) ||
			 part->bytes != (last ? left : qp->mtu) || part->bytes > qp->mtu ||
			 (!last && left <= qp->mtu) || left > PLX_MESSAGE_MAX || left == 0 ||
			 !(qp->enabled.bits & PLX_ACCESS_REMOTE_WRITE)) ||
	    PLX_MUTANT(KEY_NOT_RECHECKED) ||
	    plx_key_check(qp->mem, key, &qp->asker, va, asked,
			  (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant) != PLX_KEY_GRANTED)
		return PLX_FAST_NO;
	if (first) {
		resp->write_rkey = key;
		resp->write_bytes = left;
	}
	resp->write_va = va + part->bytes;
	resp->write_left = left - part->bytes;
	place->dst = grant.host;
	apply(qp, part->bytes, last ? OPEN_NONE : OPEN_WRITE, part->asks);
	return PLX_FAST_PLACED;
}

/* The first packet takes a receive, and so the slow path. */
static enum plx_fast_kind
receive_send_part(struct plx_rc *qp, const struct part *part, bool last, struct plx_place *place,
		  struct plx_completion *completion)
{
	struct responder *resp = &qp->resp;
	const struct plx_sge *sge = qp->recv.sge;
	struct plx_grant grant;

	if (plx_unlikely(resp->open != OPEN_SEND || qp->recv.sges != 1 ||
			 part->bytes > qp->recv.bytes - resp->recv_taken || part->bytes == 0 ||
			 part->bytes > qp->mtu || (!last && part->bytes != qp->mtu)) ||
	    plx_key_check(qp->mem, sge->key, &qp->asker, sge->va + resp->recv_taken, part->bytes,
			  (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, &grant) != PLX_KEY_GRANTED)
		return PLX_FAST_NO;
	place->dst = grant.host;
	resp->recv_taken += part->bytes;
	apply(qp, part->bytes, last ? OPEN_NONE : OPEN_SEND, part->asks);
	if (!last)
		return PLX_FAST_PLACED;
	*completion = received(qp, qp->recv.wr_id, resp->recv_taken, part->solicited);
	resp->recv_open = false;
	qp->rq->done += !qp->rq->shared;
	return PLX_FAST_RECEIVED;
}

/* A READ of memory in one piece, which is remembered as apply_read() does. */
static enum plx_fast_kind
receive_read(struct plx_rc *qp, const struct part *part)
{
	const uint8_t *reth = part->bth + PLX_BTH_BYTES;
	const struct plx_key key = {plx_be32_load(reth + PLX_RETH_KEY_AT)};
	uint32_t length = plx_be32_load(reth + PLX_RETH_LENGTH_AT);
	uint64_t va = plx_be64_load(reth);
	struct plx_grant grant;

	if (plx_unlikely(qp->resp.open != OPEN_NONE || part->bytes != 0 || length == 0 ||
			 length > PLX_MESSAGE_MAX || !reply_has_place(qp) ||
			 !(qp->enabled.bits & PLX_ACCESS_REMOTE_READ)) ||
	    plx_key_check(qp->mem, key, &qp->asker, va, length,
			  (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant) != PLX_KEY_GRANTED)
		return PLX_FAST_NO;
	responder_apply_read(qp, qp->resp.expected, key, va, length);
	qp->resp.expected = plx_psn_add(qp->resp.expected, 1);
	qp->resp.msn = plx_msn_next(qp->resp.msn);
	qp->more = true;
	plx_count(&qp->counters.verdict[PLX_VERDICT_ACCEPT], 1);
	return PLX_FAST_TAKEN;
}

PLX_HOT bool
plx_rc_next_completion(struct plx_rc *qp, struct plx_completion *out)
{
	struct requester *req = &qp->req;

	while (req->head != req->done) {
		uint32_t index = req->head++;

		if (sq_wqe(qp, index)->flags & PLX_WR_UNSIGNALED)
			continue;
		*out = complete_entry(qp, index, PLX_WC_SUCCESS);
		return true;
	}
	return false;
}

/* The next packet of the response to the oldest request, a READ. */
static enum plx_fast_kind
receive_response(struct plx_rc *qp, const struct part *part, bool says_last, uint64_t now,
		 struct plx_place *place, struct plx_completion *completion)
{
	struct requester *req = &qp->req;
	const struct sq_track *track = sq_track(qp, req->done);
	const struct plx_wqe *wqe = sq_wqe(qp, req->done);
	const struct plx_sge *sge = wqe->sge;
	uint32_t offset = req->acked << qp->mtu_shift, bytes = track->bytes - offset;
	uint32_t taken = req->acked + 1;
	bool whole = taken == track->packets;
	struct plx_grant grant;

	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (plx_unlikely(wqe->op != PLX_WR_READ || wqe->sges != 1 || req->head != req->done ||
			 wqe->flags & (PLX_WR_READ_INV | PLX_WR_INLINE) || part->bytes != bytes ||
			 bytes == 0 || req->cut != 0 || req->rnr_waiting ||
			 plx_psn_eq(req->next, req->una) || qp->slow_path & SLOW_PATH_REPAIR ||
			 says_last != (whole || taken % qp->read_chunk == 0)) ||
	    plx_key_check(qp->mem, sge->key, &qp->asker, sge->va + offset, bytes,
			  (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, &grant) != PLX_KEY_GRANTED)
		return PLX_FAST_NO;
	place->dst = grant.host;
	plx_count(&qp->counters.verdict[PLX_VERDICT_RESPONSE], 1);
	plx_count(&qp->counters.bytes_placed, bytes);
	requester_take_answer(qp, says_last, whole, now);
	qp->more = true;
	req->head += whole;
	if (!whole || wqe->flags & PLX_WR_UNSIGNALED)
		return PLX_FAST_PLACED;
	*completion = (struct plx_completion){
		.wr_id = wqe->wr_id,
		.qpn = qp->qpn,
		.bytes = track->bytes,
		.status = PLX_WC_SUCCESS,
		.op = PLX_WR_READ,
	};
	return PLX_FAST_RECEIVED;
}

/* Is a packet of ours in flight, so that a response to the oldest may come, and is it acknowledged?
 */
static inline bool
is_answer(const struct plx_rc *qp, struct plx_psn psn, const uint8_t *aeth)
{
	return plx_psn_eq(psn, qp->req.una) && !plx_psn_eq(qp->req.high, qp->req.una) &&
	       qp->state == PLX_QP_RTS &&
	       (aeth == NULL || (aeth[0] & PLX_AETH_TYPE_MASK) == PLX_AETH_ACK);
}

/* An ACK while no READ or atomic is outstanding, which it could not acknowledge. */
static enum plx_fast_kind
receive_ack(struct plx_rc *qp, const struct part *part, struct plx_psn psn, uint64_t now)
{
	struct requester *req = &qp->req;
	uint32_t in_flight = (uint32_t)plx_psn_diff(req->next, req->una);

	if (plx_unlikely(!plx_psn_in(psn, req->una, in_flight) || part->bytes != 0 ||
			 (part->bth[PLX_BTH_BYTES] & PLX_AETH_TYPE_MASK) != PLX_AETH_ACK ||
			 qp->state != PLX_QP_RTS || req->rd_open > 0 || req->rnr_waiting ||
			 qp->slow_path & SLOW_PATH_REPAIR) ||
	    PLX_MUTANT(ACK_ONE_TOO_MANY))
		return PLX_FAST_NO;
	(void)requester_take_until(qp, plx_psn_add(psn, 1), now);
	qp->more = true;
	plx_count(&qp->counters.verdict[PLX_VERDICT_ACKED], 1);
	return PLX_FAST_TAKEN;
}

static __attribute__((noinline)) enum plx_fast_kind
receive_long(struct plx_rc *qp, const uint8_t *bth, size_t len, uint64_t now,
	     struct plx_place *place, struct plx_completion *completion)
{
	uint32_t head = plx_be32_load(bth), pad = head_pad(head);
	uint32_t word = plx_be32_load(bth + PLX_BTH_PSN_AT);
	uint8_t opcode = (uint8_t)(head >> 24);
	struct plx_psn psn = plx_psn(word);
	struct part part = {.bth = bth};
	size_t headers;

	if (opcode > PLX_RC_ACK)
		return PLX_FAST_NO;
	headers = plx_opcodes[opcode].header_bytes;
	if (plx_unlikely(len < headers + pad + PLX_ICRC_BYTES || len % 4 != 0 ||
			 !head_is_usual(qp, head)))
		return PLX_FAST_NO;
	part.bytes = (uint32_t)(len - headers - pad - PLX_ICRC_BYTES);
	part.asks = word & PLX_BTH_ACK_REQUEST;
	part.solicited = head_is_solicited(head);
	place->src = bth + headers;
	place->bytes = part.bytes;
	place->is_private = false;
	if (opcode == PLX_RC_ACK)
		return receive_ack(qp, &part, psn, now);
	if (opcode >= PLX_RC_READ_RESPONSE_FIRST)
		return is_answer(qp, psn,
				 opcode == PLX_RC_READ_RESPONSE_MIDDLE ? NULL : bth + PLX_BTH_BYTES)
			       ? receive_response(qp, &part, opcode >= PLX_RC_READ_RESPONSE_LAST,
						  now, place, completion)
			       : PLX_FAST_NO;
	if (plx_unlikely(!is_next_request(qp, psn)))
		return PLX_FAST_NO;
	switch (opcode) {
	case PLX_RC_WRITE_FIRST:
	case PLX_RC_WRITE_MIDDLE:
	case PLX_RC_WRITE_LAST:
		return receive_write_part(qp, &part, opcode == PLX_RC_WRITE_FIRST,
					  opcode == PLX_RC_WRITE_LAST, place);
	case PLX_RC_SEND_MIDDLE:
	case PLX_RC_SEND_LAST:
		return receive_send_part(qp, &part, opcode == PLX_RC_SEND_LAST, place, completion);
	case PLX_RC_READ_REQUEST:
		return receive_read(qp, &part);
	default:
		return PLX_FAST_NO;
	}
}

PLX_HOT enum plx_fast_kind
plx_rc_receive_fast(struct plx_rc *qp, const uint8_t *bth, size_t len, uint64_t now,
		    struct plx_place *place, struct plx_completion *completion)
{
	uint32_t head = plx_be32_load(bth), pad = head_pad(head);
	uint8_t opcode = (uint8_t)(head >> 24);
	bool write = opcode == PLX_RC_WRITE_ONLY;
	size_t overhead = PLX_BTH_BYTES + (write ? PLX_RETH_BYTES : 0) + pad + PLX_ICRC_BYTES;
	uint32_t bytes = (uint32_t)(len - overhead);

	if (plx_unlikely(!write && opcode != PLX_RC_SEND_ONLY))
		return receive_long(qp, bth, len, now, place, completion);
	if (plx_unlikely(len < overhead || len % 4 != 0 || !head_is_usual(qp, head) ||
			 qp->resp.open != OPEN_NONE ||
			 !is_next_request(qp, plx_psn(plx_be32_load(bth + PLX_BTH_PSN_AT)))))
		return PLX_FAST_NO;
	if (write ? !receive_write(qp, bth, bytes, place)
		  : !receive_send(qp, head_is_solicited(head), bytes, place, completion))
		return PLX_FAST_NO;
	place->src = bth + overhead - PLX_ICRC_BYTES - pad;
	place->bytes = bytes;
	place->is_private = false; /* which plx_key_check() does not grant */
	apply(qp, bytes, OPEN_NONE, true);
	return write ? PLX_FAST_PLACED : PLX_FAST_RECEIVED;
}
