/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue pair as a whole: memory, states, posting, and the three entry points that pass a
 * packet, the time, or room to send to the requester and the responder.
 * It never judges a packet. Start with plx_rc_on_packet() and plx_rc_transmit().
 */
#include "keep.h"

/* ---- memory ---- */

struct layout {
	uint32_t slots, spill_bytes;
	size_t res_at, wqe_at, track_at, spill_at, bytes;
};

static size_t
align_line(size_t n)
{
	return (n + PLX_CACHE_LINE - 1) / PLX_CACHE_LINE * PLX_CACHE_LINE;
}

static struct layout
layout_of(const struct plx_rc_caps *caps, size_t head)
{
	struct layout l = {.slots = 1};
	uint32_t sges = caps->sq_sges > PLX_WQE_SGES ? caps->sq_sges - PLX_WQE_SGES : 0;
	uint32_t inl = caps->inline_bytes > PLX_WQE_INLINE_BYTES ? caps->inline_bytes : 0;

	while (l.slots < caps->sq_depth)
		l.slots *= 2;
	l.spill_bytes = sges * (uint32_t)sizeof(struct plx_sge);
	if (l.spill_bytes < inl)
		l.spill_bytes = inl;
	l.spill_bytes = (l.spill_bytes + 15) / 16 * 16;
	/* Fields used while nothing is being sent are adjacent, at the front. */
	l.res_at = align_line(head);
	l.wqe_at = l.res_at + align_line(caps->responder_resources * sizeof(struct resource));
	l.track_at = l.wqe_at + align_line(l.slots * sizeof(struct plx_wqe));
	l.spill_at = l.track_at + align_line(l.slots * sizeof(struct sq_track));
	l.bytes = l.spill_at + align_line((size_t)l.slots * l.spill_bytes);
	return l;
}

size_t
qp_bytes(const struct plx_rc_caps *caps, size_t head)
{
	if (caps->sq_depth < 1 || caps->sq_depth > PLX_QUEUE_DEPTH_MAX ||
	    caps->sq_sges > PLX_SGE_MAX || caps->inline_bytes > PLX_INLINE_MAX ||
	    caps->responder_resources > PLX_RD_ATOMIC_MAX)
		return 0;
	return layout_of(caps, head).bytes;
}

struct plx_rc *
qp_init(void *memory, size_t head, const struct plx_rc_caps *caps, const struct plx_rc_ids *ids)
{
	struct layout l = layout_of(caps, head);
	struct plx_rc *qp = memory;

	PLX_ASSERT(qp_bytes(caps, head) > 0);
	/*
	 * Send queue entries are written before they are read, so their memory is not touched here:
	 * it is most of the memory of a deep queue pair.
	 */
	memset(memory, 0, l.wqe_at);
	qp->state = PLX_QP_RESET;
	qp->qpn = ids->qpn;
	qp->asker = (struct plx_asker){.domain = ids->domain, .qpn = ids->qpn, .memo = &qp->memo};
	qp->mem = ids->mem;
	qp->foreign = ids->foreign;
	qp->keep_pool = ids->keep;
	qp->rq = ids->rq;
	qp->cc = ids->cc;
	qp->cc_state = ids->cc_state;
	qp->recovery = ids->recovery != NULL ? ids->recovery : &plx_recovery_go_back;
	qp->slow_path = ids->cc != &plx_cc_none ? SLOW_PATH_PACED : 0;
	qp->caps = *caps;
	qp->sq_mask = l.slots - 1;
	qp->spill_bytes = l.spill_bytes;
	qp->wqe = (struct plx_wqe *)(void *)((uint8_t *)memory + l.wqe_at);
	qp->track = (struct sq_track *)(void *)((uint8_t *)memory + l.track_at);
	qp->spill = (uint8_t *)memory + l.spill_at;
	qp->res = (struct resource *)(void *)((uint8_t *)memory + l.res_at);
	qp->req.ack_deadline = PLX_NEVER;
	qp->former_until = PLX_NEVER;
	requester_reset(qp);
	responder_reset(qp);
	return qp;
}

size_t
plx_rc_bytes(const struct plx_rc_caps *caps)
{
	return qp_bytes(caps, sizeof(struct plx_rc));
}

struct plx_rc *
plx_rc_init(void *memory, const struct plx_rc_caps *caps, const struct plx_rc_ids *ids)
{
	return qp_init(memory, sizeof(struct plx_rc), caps, ids);
}

/* ---- states ---- */

/* All valid transitions. Any state may also change to ERROR and to RESET. */
static const bool transitions[PLX_QP_STATE_COUNT][PLX_QP_STATE_COUNT] = {
	[PLX_QP_RESET][PLX_QP_INIT] = true, [PLX_QP_INIT][PLX_QP_RTR] = true,
	[PLX_QP_RTR][PLX_QP_RTS] = true,    [PLX_QP_RTS][PLX_QP_SQD] = true,
	[PLX_QP_SQD][PLX_QP_RTS] = true,
};

static enum plx_status
to_rtr(struct plx_rc *qp, const struct plx_rc_attr *attr)
{
	const uint8_t peer_rights =
		PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	const struct plx_path *path = &attr->path;

	if (attr->mtu < PLX_MTU_MIN || attr->mtu > PLX_MTU_MAX || attr->mtu & (attr->mtu - 1) ||
	    attr->dest_qpn > PLX_PSN_MASK || attr->rq_psn.v > PLX_PSN_MASK ||
	    attr->rnr_timer > 31 || attr->enabled.bits & ~peer_rights ||
	    (path->ip_version != 0 && path->ip_version != 4 && path->ip_version != 6))
		return PLX_INVALID;
	qp->path = *path;
	qp->mtu = attr->mtu;
	qp->mtu_shift = (uint8_t)__builtin_ctz(attr->mtu);
	qp->dest_qpn = attr->dest_qpn;
	qp->pkey = attr->pkey;
	qp->blank =
		(struct plx_pkt){.migreq = true, .pkey = attr->pkey, .dest_qpn = attr->dest_qpn};
	qp->enabled = attr->enabled;
	qp->selective = attr->selective;
	qp->rnr_timer = attr->rnr_timer;
	qp->resp.expected = attr->rq_psn;
	qp->resp.ack_psn = plx_psn_sub(attr->rq_psn, 1);
	return PLX_OK;
}

static enum plx_status
to_rts(struct plx_rc *qp, const struct plx_rc_attr *attr)
{
	struct requester *req = &qp->req;

	if (attr->sq_psn.v > PLX_PSN_MASK || attr->retry_max > PLX_RETRY_MAX ||
	    attr->rnr_retry_max > PLX_RNR_RETRY_FOREVER || attr->ack_timeout_ns == 0 ||
	    attr->window_packets < 1 || attr->window_packets > PLX_WINDOW_PACKETS_MAX ||
	    attr->ack_interval < 1 || attr->read_chunk_packets < 1 ||
	    attr->read_chunk_packets > PLX_READ_CHUNK_PACKETS_MAX)
		return PLX_INVALID;
	qp->retry_max = attr->retry_max;
	qp->rnr_retry_max = attr->rnr_retry_max;
	qp->initiator_depth = attr->initiator_depth;
	qp->ack_timeout = attr->ack_timeout_ns;
	qp->window_packets = attr->window_packets;
	qp->ack_interval = attr->ack_interval;
	qp->read_chunk = attr->read_chunk_packets;
	req->una = req->next = req->high = attr->sq_psn;
	req->window = attr->window_packets;
	req->ack_wait = attr->ack_timeout_ns;
	req->retries_left = attr->retry_max;
	req->rnr_retries_left = attr->rnr_retry_max;
	return PLX_OK;
}

static void
to_reset(struct plx_rc *qp)
{
	qp->more = false;
	qp->turn = false;
	for (uint32_t i = qp->req.done; i != qp->req.tail; i++)
		complete_undo(qp, i);
	selective_end(qp);
	requester_reset(qp);
	responder_reset(qp);
	if (!qp->rq->shared)
		rq_reset(qp->rq);
}

enum plx_status
plx_rc_modify(struct plx_rc *qp, enum plx_qp_state to, const struct plx_rc_attr *attr)
{
	enum plx_status status = PLX_OK;

	if ((unsigned)to >= PLX_QP_STATE_COUNT || to == PLX_QP_NONE)
		return PLX_INVALID;
	if (to == PLX_QP_ERROR) {
		if (qp->state != PLX_QP_ERROR)
			complete_to_error(qp, PLX_WC_FLUSHED, NULL);
		return PLX_OK;
	}
	if (to == PLX_QP_RESET) {
		to_reset(qp);
		qp->state = PLX_QP_RESET;
		return PLX_OK;
	}
	if (!transitions[qp->state][to])
		return PLX_STATE;
	if (to == PLX_QP_RTR)
		status = to_rtr(qp, attr);
	else if (to == PLX_QP_RTS && qp->state == PLX_QP_RTR)
		status = to_rts(qp, attr);
	if (status != PLX_OK)
		return status;
	qp->req.drained = false;
	qp->state = (uint8_t)to;
	qp->more = to == PLX_QP_RTS || to == PLX_QP_SQD;
	return PLX_OK;
}

void
plx_rc_fail(struct plx_rc *qp, struct plx_actions *out)
{
	if (qp->state == PLX_QP_RESET || qp->state == PLX_QP_ERROR)
		return;
	qp->resp.owed = OWED_NOTHING;
	qp->resp.cnp_owed = false;
	complete_to_error(qp, PLX_WC_FLUSHED, out);
}

/* ---- posting ---- */

static uint32_t
message_packets(const struct plx_rc *qp, uint8_t op, uint32_t bytes)
{
	return wr_is_local(op) ? 0 : qp_packets(qp, bytes);
}

static inline void
commit(struct plx_rc *qp, uint32_t bytes, uint32_t packets)
{
	struct requester *req = &qp->req;
	struct sq_track *track = sq_track(qp, req->tail);

	track->bytes = bytes;
	track->packets = packets;
	req->tail++;
	qp->more = true;
	if (plx_unlikely(qp->state == PLX_QP_ERROR))
		qp->flush_told = false;
}

/* Does the queue accept an entry? */
static enum plx_status
check_room(const struct plx_rc *qp)
{
	if (qp->state != PLX_QP_RTS && qp->state != PLX_QP_SQD && qp->state != PLX_QP_ERROR)
		return PLX_STATE;
	if (qp->req.tail - qp->req.head >= qp->caps.sq_depth && !PLX_MUTANT(SQ_WRAPS_OVER))
		return PLX_FULL;
	return PLX_OK;
}

static enum plx_status
check_inline(const struct plx_rc *qp, const struct plx_wqe *wqe, bool has_spill)
{
	uint32_t limit = qp->caps.inline_bytes;

	if (limit < PLX_WQE_INLINE_BYTES)
		limit = PLX_WQE_INLINE_BYTES;
	if (wr_is_rd_atomic(wqe->op) || wr_is_local(wqe->op))
		return PLX_INVALID;
	if (wqe->inline_bytes > limit)
		return PLX_TOO_LONG;
	return wqe->inline_bytes > PLX_WQE_INLINE_BYTES && !has_spill ? PLX_INVALID : PLX_OK;
}

/* Judge all but the SGEs. */
static enum plx_status
check_head(const struct plx_rc *qp, const struct plx_wqe *wqe, bool has_spill)
{
	if (plx_unlikely(wqe->op == PLX_WR_NONE || wqe->op >= PLX_WR_OP_COUNT ||
			 wqe->flags & ~PLX_WR_FLAGS_COMMON) &&
	    (wqe->op != PLX_WR_READ || wqe->flags & ~PLX_WR_FLAGS_ALL))
		return PLX_INVALID;
	if (wr_is_rd_atomic(wqe->op) && qp->initiator_depth == 0 && qp->state != PLX_QP_ERROR)
		return PLX_INVALID;
	if (wqe->flags & PLX_WR_INLINE)
		return check_inline(qp, wqe, has_spill);
	if (wqe->sges > qp->caps.sq_sges)
		return PLX_TOO_MANY_SGES;
	if ((wqe->sges > PLX_WQE_SGES && !has_spill) || (wr_is_local(wqe->op) && wqe->sges > 0))
		return PLX_INVALID;
	return PLX_OK;
}

/* Sum up the SGEs, and judge that. */
static enum plx_status
check_sges(const struct plx_wqe *wqe, const struct plx_sge *more, uint64_t *bytes)
{
	*bytes = 0;
	for (uint32_t i = 0; i < wqe->sges; i++)
		*bytes += i < PLX_WQE_SGES ? wqe->sge[i].length : more[i - PLX_WQE_SGES].length;
	if (*bytes > PLX_MESSAGE_MAX)
		return PLX_TOO_LONG;
	if ((wqe->op == PLX_WR_CMP_SWAP || wqe->op == PLX_WR_FETCH_ADD) &&
	    *bytes != sizeof(uint64_t))
		return PLX_INVALID;
	return PLX_OK;
}

/* Copy what follows the head of an entry, in which `slot` already agrees with it. */
static inline void
copy_rest(struct plx_wqe *slot, const struct plx_wqe *wqe, void *more, const void *spill)
{
	if (slot->flags & PLX_WR_INLINE) {
		memcpy(slot->data, wqe->data, sizeof(slot->data));
		if (slot->inline_bytes > PLX_WQE_INLINE_BYTES)
			memcpy(more, spill, slot->inline_bytes);
		return;
	}
	for (uint32_t i = 0; i < slot->sges && i < PLX_WQE_SGES; i++)
		slot->sge[i] = wqe->sge[i];
	if (slot->op == PLX_WR_CMP_SWAP || slot->op == PLX_WR_FETCH_ADD) {
		slot->swap_add = wqe->swap_add;
		slot->compare = wqe->compare;
	}
	if (plx_unlikely(slot->op == PLX_WR_REG))
		slot->region = wqe->region;
	if (slot->sges > PLX_WQE_SGES)
		memcpy(more, spill, (slot->sges - PLX_WQE_SGES) * sizeof(struct plx_sge));
}

/* The first step: copy the head of an entry to the end of the queue, if there is room. */
static inline enum plx_status
take_head(struct plx_rc *qp, struct plx_wqe *slot, const struct plx_wqe *wqe)
{
	enum plx_status status = check_room(qp);

	if (plx_unlikely(status != PLX_OK))
		return status;
	memcpy(slot, wqe, offsetof(struct plx_wqe, sge));
	plx_copied(slot);
	return PLX_OK;
}

/* The second: judge it, copy the rest, and judge that. */
static enum plx_status
take_rest(struct plx_rc *qp, struct plx_wqe *slot, const struct plx_wqe *wqe, const void *spill,
	  uint64_t *bytes)
{
	void *more = sq_spill(qp, qp->req.tail);
	enum plx_status status = check_head(qp, slot, spill != NULL);

	if (plx_unlikely(status != PLX_OK))
		return status;
	copy_rest(slot, wqe, more, spill);
	plx_copied(slot);
	if (!(slot->flags & PLX_WR_INLINE))
		return check_sges(slot, more, bytes);
	*bytes = slot->inline_bytes;
	return PLX_OK;
}

enum plx_status
qp_take(struct plx_rc *qp, const struct plx_wqe *wqe, const void *spill, uint64_t *bytes)
{
	struct plx_wqe *slot = sq_wqe(qp, qp->req.tail);
	enum plx_status status = take_head(qp, slot, wqe);

	return status == PLX_OK ? take_rest(qp, slot, wqe, spill, bytes) : status;
}

static __attribute__((noinline)) enum plx_status
post_unusual(struct plx_rc *qp, struct plx_wqe *slot, const struct plx_wqe *wqe, const void *spill)
{
	uint64_t bytes;
	enum plx_status status = take_rest(qp, slot, wqe, spill, &bytes);

	if (plx_likely(status == PLX_OK))
		plx_rc_sq_commit(qp, (uint32_t)bytes);
	return status;
}

enum plx_status
plx_rc_post_send(struct plx_rc *qp, const struct plx_wqe *wqe, const void *spill)
{
	struct plx_wqe *slot = sq_wqe(qp, qp->req.tail);
	enum plx_status status = take_head(qp, slot, wqe);

	if (plx_unlikely(status != PLX_OK))
		return status;
	/* A SEND or WRITE of one SGE takes what take_rest() does in a few instructions. */
	if (plx_unlikely((slot->op != PLX_WR_SEND && slot->op != PLX_WR_WRITE) ||
			 slot->flags & ~(PLX_WR_FLAGS_COMMON & ~PLX_WR_INLINE) || slot->sges != 1 ||
			 qp->caps.sq_sges < 1))
		return post_unusual(qp, slot, wqe, spill);
	slot->sge[0] = wqe->sge[0];
	plx_copied(slot);
	if (plx_unlikely(slot->sge[0].length > PLX_MESSAGE_MAX))
		return PLX_TOO_LONG;
	commit(qp, slot->sge[0].length, qp_packets(qp, slot->sge[0].length));
	return PLX_OK;
}

struct plx_wqe *
plx_rc_sq_reserve(struct plx_rc *qp, void **spill)
{
	struct requester *req = &qp->req;

	if (plx_unlikely(qp->state != PLX_QP_RTS && qp->state != PLX_QP_SQD &&
			 qp->state != PLX_QP_ERROR))
		return NULL;
	if (plx_unlikely(req->tail - req->head >= qp->caps.sq_depth))
		return NULL;
	*spill = sq_spill(qp, req->tail);
	return sq_wqe(qp, req->tail);
}

void
plx_rc_sq_commit(struct plx_rc *qp, uint32_t bytes)
{
	commit(qp, bytes, message_packets(qp, sq_wqe(qp, qp->req.tail)->op, bytes));
}

enum plx_status
plx_rc_post_recv(struct plx_rc *qp, uint64_t wr_id, const struct plx_sge *sge, uint32_t sges)
{
	enum plx_status status;

	if (qp->state == PLX_QP_RESET || qp->rq->shared)
		return PLX_STATE;
	status = plx_rq_post(qp->rq, wr_id, sge, sges);
	if (status == PLX_OK && qp->state == PLX_QP_ERROR) {
		qp->flush_told = false;
		qp->more = true;
	}
	return status;
}

/* ---- packets ---- */

static bool
state_receives(const struct plx_rc *qp, const struct plx_opcode *op)
{
	if (qp->state == PLX_QP_RTS || qp->state == PLX_QP_SQD)
		return true;
	return qp->state == PLX_QP_RTR && plx_opcode_has(op, PLX_OPF_REQUEST);
}

static bool
path_matches(const struct plx_path *path, const struct plx_frame *frame)
{
	if (path->ip_version == 0)
		return true;
	if (path->ip_version != frame->ip_version)
		return false;
	if (path->ip_version == 4)
		return path->src4 == frame->v4.dst && path->dst4 == frame->v4.src;
	return memcmp(path->src6, frame->v6.dst, 16) == 0 &&
	       memcmp(path->dst6, frame->v6.src, 16) == 0;
}

/*
 * The part of an admission that can change before plx_rc_on_packet(): an earlier packet of the same
 * burst can fail the queue pair.
 */
static inline enum plx_verdict
admit_opcode(const struct plx_rc *qp, const struct plx_opcode *op)
{
	if (op->service != PLX_SERVICE_RC && op->service != PLX_SERVICE_CNP)
		return PLX_VERDICT_SERVICE;
	return state_receives(qp, op) ? PLX_VERDICT_ACCEPT : PLX_VERDICT_STATE;
}

enum plx_verdict
plx_rc_admit_peer(const struct plx_rc *qp, const struct plx_pkt *pkt)
{
	enum plx_verdict verdict = admit_opcode(qp, &plx_opcodes[pkt->opcode]);

	if (verdict == PLX_VERDICT_ACCEPT && !pkey_matches(qp->pkey, pkt->pkey))
		return PLX_VERDICT_PKEY;
	return verdict;
}

enum plx_verdict
plx_rc_admit(const struct plx_rc *qp, const struct plx_frame *frame, const struct plx_pkt *pkt)
{
	enum plx_verdict verdict = plx_rc_admit_peer(qp, pkt);

	if (verdict == PLX_VERDICT_ACCEPT && !path_matches(&qp->path, frame))
		return PLX_VERDICT_ADDRESS;
	return verdict;
}

/*
 * IBTA Annex A17: a CE mark on a received packet is answered by a CNP. CNPs of a flow have a
 * minimum interval, because one CNP slows the sender down by more than one mark warrants.
 */
static PLX_COLD void
on_mark(struct plx_rc *qp, uint64_t now)
{
	plx_count(&qp->counters.ce_marks, 1);
	if (!qp->cc->on_ce(qp->cc_state, now) ||
	    (now < qp->resp.cnp_from && !PLX_MUTANT(CNP_UNBOUNDED)) || PLX_MUTANT(CNP_NEVER))
		return;
	qp->resp.cnp_owed = true;
	qp->resp.cnp_from = now + PLX_CNP_INTERVAL_NS;
}

static enum plx_verdict
judge(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now, struct plx_actions *out)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	enum plx_verdict verdict = admit_opcode(qp, op);

	if (verdict != PLX_VERDICT_ACCEPT)
		return verdict;
	if (op->kind == PLX_OP_CNP) {
		if (congestion_is_on(qp))
			congestion_on_cnp(qp, now);
		return PLX_VERDICT_CNP;
	}
	if (plx_unlikely(pkt->ce || PLX_MUTANT(CNP_UNASKED)))
		on_mark(qp, now);
	if (plx_opcode_has(op, PLX_OPF_REQUEST))
		return responder_on_packet(qp, pkt, out);
	return requester_on_packet(qp, pkt, now, out);
}

/* The first accepted request proves that the peer is connected (the CM's RTU may be lost). */
static void
raise_established(struct plx_rc *qp, enum plx_verdict verdict, struct plx_actions *out)
{
	if (plx_likely(!(qp->resp.unusual & RESP_UNHEARD)) || verdict != PLX_VERDICT_ACCEPT)
		return;
	qp->resp.unusual &= (uint8_t)~RESP_UNHEARD;
	if (qp->state == PLX_QP_RTR)
		action_event(qp, out, PLX_EVENT_COMM_ESTABLISHED, 0);
}

enum plx_verdict
plx_rc_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
		 struct plx_actions *out)
{
	enum plx_verdict verdict;

	PLX_ASSERT(actions_room(out) >= PLX_ACTIONS_PER_PACKET);
	verdict = judge(qp, pkt, now, out);
	plx_count(&qp->counters.verdict[verdict], 1);
	raise_established(qp, verdict, out);
	complete_deliver(qp, out);
	qp->more = true;
	return verdict;
}

/* ---- sending ---- */

/*
 * Room for one packet with all its ranges, and for what may accompany it: the event of a failure,
 * one NAK.
 */
static bool
room_for_packet(const struct plx_actions *out)
{
	return actions_room(out) >= 3 && out->iovs + PLX_PIECES_MAX <= PLX_IOVS_MAX;
}

/*
 * Decision 3: while an ACK or NAK is owed, the responder sends first, so that no request overtakes
 * the ACK of the packet that caused it. Otherwise responses and requests alternate: a peer that
 * sends READs without end cannot block our own requests (T16).
 */
static bool
transmit_one(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	bool due = reply_is_due(qp);

	if (due && (qp->resp.owed != OWED_NOTHING || qp->resp.cnp_owed || !qp->turn)) {
		qp->turn = true;
		return reply_transmit_one(qp, out);
	}
	qp->turn = false;
	return requester_transmit_one(qp, now, out) || (due && reply_transmit_one(qp, out));
}

uint32_t
plx_rc_transmit(struct plx_rc *qp, uint64_t now, uint32_t budget, struct plx_actions *out)
{
	bool more = budget == 0 && qp->more;
	uint32_t emitted = 0;

	qp->more = qp->loads = false;
	complete_deliver(qp, out);
	while (emitted < budget) {
		if (!room_for_packet(out)) {
			more = true;
			break;
		}
		if (!transmit_one(qp, now, out))
			break;
		emitted++;
	}
	if (budget > 0 && emitted == budget)
		more = true;
	complete_deliver(qp, out);
	qp->more |= more;
	return emitted;
}

/* ---- time ---- */

void
plx_rc_on_tick(struct plx_rc *qp, uint64_t now, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	PLX_ASSERT(actions_room(out) >= PLX_ACTIONS_PER_PACKET);
	if (req->rnr_waiting && now >= req->rnr_until) {
		req->rnr_waiting = false;
		qp->more = true;
	}
	if (now >= req->pace_until) {
		req->pace_until = PLX_NEVER;
		qp->more = true;
	}
	if (req->ack_deadline != PLX_NEVER && now >= req->ack_deadline)
		qp->recovery->on_deadline(qp, now, out);
	if (plx_unlikely(now >= qp->former_until))
		move_forget_former(qp);
	complete_deliver(qp, out);
}

uint64_t
plx_rc_wake_ns(const struct plx_rc *qp)
{
	uint64_t wake = plx_time_min(qp->req.ack_deadline, qp->req.pace_until);

	if (qp->more)
		return 0;
	wake = plx_time_min(wake, qp->former_until);
	return qp->req.rnr_waiting ? plx_time_min(wake, qp->req.rnr_until) : wake;
}

/* ---- queries ---- */

void
plx_rc_query(const struct plx_rc *qp, struct plx_rc_view *out)
{
	const struct requester *req = &qp->req;

	*out = (struct plx_rc_view){
		.state = (enum plx_qp_state)qp->state,
		.qpn = qp->qpn,
		.dest_qpn = qp->dest_qpn,
		.sq_posted = req->tail,
		.sq_consumed = req->head,
		.sq_depth = qp->caps.sq_depth,
		.rq_open = qp->resp.recv_open,
		.psn_unacked = req->una,
		.psn_next = req->next,
		.psn_high = req->high,
		.psn_expected = qp->resp.expected,
		.msn = qp->resp.msn,
		.rd_atomic_open = req->rd_open,
		.initiator_depth = qp->initiator_depth,
		.retries_left = req->retries_left,
		.rnr_retries_left = req->rnr_retries_left,
		.retry_max = qp->retry_max,
		.rnr_retry_max = qp->rnr_retry_max,
		.responder_res_pending = qp->resp.res_pending,
		.rnr_waiting = req->rnr_waiting,
		.flushed = complete_is_flushed(qp),
		.ack_deadline_ns = req->ack_deadline,
		.mtu = qp->mtu,
	};
}

const struct plx_rc_counters *
plx_rc_counters(const struct plx_rc *qp)
{
	return &qp->counters;
}

uint32_t
plx_rc_sq_posted(const struct plx_rc *qp)
{
	return qp->req.tail;
}

uint32_t
plx_rc_sq_consumed(const struct plx_rc *qp)
{
	return qp->req.head;
}

uint32_t
plx_rc_number(const struct plx_rc *qp)
{
	return qp->qpn;
}

uint32_t
plx_rc_peer_number(const struct plx_rc *qp)
{
	return qp->dest_qpn;
}
