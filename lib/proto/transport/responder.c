/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The responder checks each request packet, reaches one verdict, and only then changes the QP. It
 * never sends: it records what is owed to the peer in fields that reply.c turns into packets.
 * Start with responder_on_packet(); check() has the checks in order.
 *
 * Fault classes A to J are those of IBTA vol 1, 9.9.3, table 64.
 */
#include "keep.h"

/*
 * What follows from a verdict. Every verdict that a request can get has a row; zero means no reply.
 */
struct consequence {
	uint8_t owed;        /* enum owed_kind */
	uint8_t syndrome;    /* if OWED_FATAL */
	bool fatal;          /* the QP goes to ERROR */
	uint8_t recv_status; /* enum plx_wc_status for an open receive */
};

static const struct consequence consequences[PLX_VERDICT_COUNT] = {
	[PLX_VERDICT_AHEAD] = {.owed = OWED_NAK},
	[PLX_VERDICT_DUPLICATE] = {.owed = OWED_ACK},
	[PLX_VERDICT_RNR] = {.owed = OWED_RNR},
	[PLX_VERDICT_SEQUENCE] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
				  PLX_WC_REMOTE_INVALID_REQUEST},
	[PLX_VERDICT_DISABLED] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
				  PLX_WC_REMOTE_INVALID_REQUEST},
	[PLX_VERDICT_TOO_MANY_READS] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
					PLX_WC_REMOTE_INVALID_REQUEST},
	[PLX_VERDICT_LENGTH] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
				PLX_WC_REMOTE_INVALID_REQUEST},
	[PLX_VERDICT_MISALIGNED] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
				    PLX_WC_REMOTE_INVALID_REQUEST},
	[PLX_VERDICT_ACCESS] = {OWED_FATAL, PLX_NAK_REMOTE_ACCESS, true, PLX_WC_REMOTE_ACCESS},
	[PLX_VERDICT_RECV_LENGTH] = {OWED_FATAL, PLX_NAK_INVALID_REQUEST, true,
				     PLX_WC_LOCAL_LENGTH},
	[PLX_VERDICT_RECV_ACCESS] = {OWED_FATAL, PLX_NAK_REMOTE_OPERATION, true,
				     PLX_WC_LOCAL_PROTECTION},
	[PLX_VERDICT_INVALIDATE] = {OWED_NOTHING, 0, true, PLX_WC_REMOTE_INVALID_REQUEST},
};

/* Results of the checks that the apply functions need. */
struct judged {
	const struct plx_opcode *op;
	bool starts, ends; /* a message */
	bool takes_recv;   /* consumes a receive entry */
	int ranges;
	struct plx_iov range[PLX_PIECES_MAX];
	struct resource *replay;
};

void
responder_reset(struct plx_rc *qp)
{
	qp->resp = (struct responder){.recv_status = PLX_WC_FLUSHED, .unusual = RESP_UNHEARD};
	for (uint32_t i = 0; i < qp->caps.responder_resources; i++)
		qp->res[i] = (struct resource){0};
}

static bool
is_atomic(const struct plx_opcode *op)
{
	return op->kind == PLX_OP_CMP_SWAP || op->kind == PLX_OP_FETCH_ADD;
}

/* ---- checks: they change nothing ---- */

/* May the peer READ all of this range? Its parts are checked again when they are sent. */
static bool
may_read(const struct plx_rc *qp, struct plx_key key, uint64_t va, uint32_t bytes)
{
	struct plx_grant grant;
	enum plx_key_verdict verdict =
		plx_key_check(qp->mem, key, &qp->asker, va, bytes,
			      (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant);

	return verdict == PLX_KEY_GRANTED || verdict == PLX_KEY_PIECES;
}

static enum plx_verdict
check_duplicate_read(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	struct resource *res = reply_find(qp, pkt->psn);
	uint64_t offset;

	if (!res || res->kind != PLX_OP_READ_REQUEST || res->rkey.v != pkt->reth.rkey)
		return PLX_VERDICT_DUPLICATE_FORGOTTEN;
	offset = (uint64_t)plx_psn_diff(pkt->psn, res->first) << qp->mtu_shift;
	if (pkt->payload_bytes != 0 || pkt->reth.va != res->va + offset ||
	    pkt->reth.length > res->bytes - offset || (pkt->reth.length == 0 && res->bytes > 0))
		return PLX_VERDICT_DUPLICATE_FORGOTTEN;
	if (pkt->reth.length > 0 && !move_may_read(qp, res, pkt->reth.va, pkt->reth.length))
		return PLX_VERDICT_DUPLICATE_DENIED;
	j->replay = res;
	return PLX_VERDICT_REPLAY;
}

static enum plx_verdict
check_duplicate(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	struct resource *res;

	if (j->op->kind == PLX_OP_SEND || j->op->kind == PLX_OP_WRITE)
		return PLX_VERDICT_DUPLICATE;
	if (j->op->kind == PLX_OP_READ_REQUEST)
		return check_duplicate_read(qp, pkt, j);
	res = reply_find(qp, pkt->psn);
	if (!res || res->kind != j->op->kind || res->rkey.v != pkt->atomic.rkey ||
	    res->va != pkt->atomic.va || res->swap_add != pkt->atomic.swap_add ||
	    res->compare != pkt->atomic.compare || pkt->payload_bytes != 0)
		return PLX_VERDICT_DUPLICATE_FORGOTTEN;
	j->replay = res;
	return PLX_VERDICT_REPLAY;
}

/* Between two that agreed to it, each new hole is reported, and whenever the peer asks. */
static bool
tells_more(const struct plx_rc *qp, const struct plx_pkt *pkt)
{
	return qp->selective &&
	       (pkt->ack_request || plx_psn_diff(pkt->psn, qp->resp.gap.newest) > 1);
}

static enum plx_verdict
check_psn(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	const struct responder *resp = &qp->resp;
	int32_t ahead = plx_psn_diff(pkt->psn, resp->expected);
	bool said = resp->owed != OWED_NAK && resp->owed != OWED_RNR;

	if (plx_likely(ahead == 0))
		return PLX_VERDICT_ACCEPT;
	if (ahead < 0)
		return check_duplicate(qp, pkt, j);
	/* One NAK per flight. A new flight can only begin after the NAK has been sent. */
	if (resp->unusual & RESP_NAK_OUT && !(said && gap_begins_anew(&resp->gap, pkt->psn)) &&
	    !tells_more(qp, pkt) && !PLX_MUTANT(NAK_EVERY_GAP_PACKET))
		return PLX_VERDICT_AHEAD_AGAIN;
	return PLX_VERDICT_AHEAD;
}

static enum plx_verdict
check_sequence(const struct plx_rc *qp, const struct judged *j)
{
	enum open_message needed = OPEN_NONE;

	if (!j->starts)
		needed = j->op->kind == PLX_OP_SEND ? OPEN_SEND : OPEN_WRITE;
	return qp->resp.open == needed ? PLX_VERDICT_ACCEPT : PLX_VERDICT_SEQUENCE;
}

static enum plx_verdict
check_enabled(const struct plx_rc *qp, const struct judged *j)
{
	static const uint8_t needs[] = {
		[PLX_OP_WRITE] = PLX_ACCESS_REMOTE_WRITE,
		[PLX_OP_READ_REQUEST] = PLX_ACCESS_REMOTE_READ,
		[PLX_OP_CMP_SWAP] = PLX_ACCESS_REMOTE_ATOMIC,
		[PLX_OP_FETCH_ADD] = PLX_ACCESS_REMOTE_ATOMIC,
	};
	uint8_t need = j->op->kind < PLX_COUNT_OF(needs) ? needs[j->op->kind] : 0;

	return (qp->enabled.bits & need) == need ? PLX_VERDICT_ACCEPT : PLX_VERDICT_DISABLED;
}

/*
 * READs and atomics need a resource slot. A SEND, or a WRITE with immediate data, needs a receive
 * entry, which is copied to qp->recv.
 */
static enum plx_verdict
check_resource(struct plx_rc *qp, const struct judged *j)
{
	if (j->op->kind == PLX_OP_READ_REQUEST || is_atomic(j->op))
		return reply_has_place(qp) ? PLX_VERDICT_ACCEPT : PLX_VERDICT_TOO_MANY_READS;
	if (!j->takes_recv)
		return PLX_VERDICT_ACCEPT;
	if (plx_rq_count(qp->rq) == 0)
		return PLX_VERDICT_RNR;
	rq_peek(qp->rq, &qp->recv);
	return PLX_VERDICT_ACCEPT;
}

/*
 * Does the payload length suit the packet's position in its message? First and middle packets are
 * full.
 */
static bool
payload_fits_place(const struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j)
{
	if ((pkt->payload_bytes + pkt->pad) % 4 != 0)
		return false;
	if (!plx_opcode_has(j->op, PLX_OPF_PAYLOAD))
		return pkt->payload_bytes == 0;
	if (!j->ends)
		return pkt->payload_bytes == qp->mtu;
	return pkt->payload_bytes <= qp->mtu && (j->starts || pkt->payload_bytes > 0);
}

static enum plx_verdict
check_length(const struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j)
{
	const struct responder *resp = &qp->resp;
	bool good = payload_fits_place(qp, pkt, j);
	uint32_t left;

	if (!good)
		return PLX_VERDICT_LENGTH;
	switch ((enum plx_op_kind)j->op->kind) {
	case PLX_OP_SEND:
		left = qp->recv.bytes - (j->starts ? 0 : resp->recv_taken);
		return pkt->payload_bytes <= left ? PLX_VERDICT_ACCEPT : PLX_VERDICT_RECV_LENGTH;
	case PLX_OP_WRITE:
		left = j->starts ? pkt->reth.length : resp->write_left;
		good = left <= PLX_MESSAGE_MAX &&
		       (j->ends ? pkt->payload_bytes == left : pkt->payload_bytes < left);
		break;
	case PLX_OP_READ_REQUEST:
		good = pkt->reth.length <= PLX_MESSAGE_MAX;
		break;
	case PLX_OP_CMP_SWAP:
	case PLX_OP_FETCH_ADD:
		return pkt->atomic.va % 8 == 0 ? PLX_VERDICT_ACCEPT : PLX_VERDICT_MISALIGNED;
	case PLX_OP_NONE:
	case PLX_OP_READ_RESPONSE:
	case PLX_OP_ACK:
	case PLX_OP_ATOMIC_ACK:
	case PLX_OP_CNP:
		break;
	}
	return good ? PLX_VERDICT_ACCEPT : PLX_VERDICT_LENGTH;
}

/*
 * Check the key of a WRITE for each packet. The first packet checks the range of the whole message,
 * so that no part of a message that must fail is placed. An empty message needs no key (C9-88).
 */
static enum plx_verdict
check_write_key(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	struct responder *resp = &qp->resp;
	struct plx_key key = j->starts ? (struct plx_key){pkt->reth.rkey} : resp->write_rkey;
	uint64_t va = j->starts ? pkt->reth.va : resp->write_va;
	uint32_t bytes = j->starts ? pkt->reth.length : pkt->payload_bytes;
	struct plx_access write = {PLX_ACCESS_REMOTE_WRITE}, common = {PLX_ACCESS_ALL};
	enum plx_key_verdict verdict;
	struct plx_grant grant;

	if (bytes == 0)
		return PLX_VERDICT_ACCEPT;
#ifdef PLX_MUTANT_BUILD
	if (PLX_MUTANT(KEY_NOT_RECHECKED) && !j->starts) {
		j->range[0] =
			(struct plx_iov){.base = resp->mutant_host, .bytes = pkt->payload_bytes};
		j->ranges = 1;
		resp->mutant_host += pkt->payload_bytes;
		return PLX_VERDICT_ACCEPT;
	}
#endif
	verdict = plx_key_check(qp->mem, key, &qp->asker, va, bytes, write, &grant);
	if (plx_unlikely(verdict == PLX_KEY_PIECES)) {
		j->ranges = ranges_count(
			key_pieces(qp, key, va, pkt->payload_bytes, write, j->range, &common));
		return j->ranges < 0 ? PLX_VERDICT_ACCESS : PLX_VERDICT_ACCEPT;
	}
	if (verdict != PLX_KEY_GRANTED)
		return PLX_VERDICT_ACCESS;
#ifdef PLX_MUTANT_BUILD
	resp->mutant_host = grant.host + pkt->payload_bytes;
#endif
	j->range[0] = (struct plx_iov){.base = grant.host, .bytes = pkt->payload_bytes};
	j->ranges = 1;
	return PLX_VERDICT_ACCEPT;
}

static enum plx_verdict
check_read_key(const struct plx_rc *qp, const struct plx_pkt *pkt)
{
	const struct plx_reth *reth = &pkt->reth;

	return reth->length == 0 ||
			       may_read(qp, (struct plx_key){reth->rkey}, reth->va, reth->length)
		       ? PLX_VERDICT_ACCEPT
		       : PLX_VERDICT_ACCESS;
}

/* Eight aligned bytes are on one page. Nothing private can be changed atomically. */
static enum plx_verdict
check_atomic_key(const struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	struct plx_access common = {PLX_ACCESS_ALL};

	j->ranges = key_resolve(qp, (struct plx_key){pkt->atomic.rkey}, pkt->atomic.va,
				sizeof(uint64_t), (struct plx_access){PLX_ACCESS_REMOTE_ATOMIC},
				j->range, &common);
	return j->ranges == 1 ? PLX_VERDICT_ACCEPT : PLX_VERDICT_ACCESS;
}

static enum plx_verdict
check_recv_keys(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	struct sge_source source = sge_of_recv(qp);
	struct plx_access common = {PLX_ACCESS_ALL};

	j->ranges = ranges_count(
		sge_resolve(qp, &source, j->starts ? 0 : qp->resp.recv_taken, pkt->payload_bytes,
			    (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, j->range, &common));
	return j->ranges < 0 ? PLX_VERDICT_RECV_ACCESS : PLX_VERDICT_ACCEPT;
}

static enum plx_verdict
check_keys(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	switch ((enum plx_op_kind)j->op->kind) {
	case PLX_OP_SEND:
		return check_recv_keys(qp, pkt, j);
	case PLX_OP_WRITE:
		return check_write_key(qp, pkt, j);
	case PLX_OP_READ_REQUEST:
		return check_read_key(qp, pkt);
	case PLX_OP_CMP_SWAP:
	case PLX_OP_FETCH_ADD:
		return check_atomic_key(qp, pkt, j);
	case PLX_OP_NONE:
	case PLX_OP_READ_RESPONSE:
	case PLX_OP_ACK:
	case PLX_OP_ATOMIC_ACK:
	case PLX_OP_CNP:
		break;
	}
	return PLX_VERDICT_ACCEPT;
}

/*
 * SEND with invalidate. The last check also performs the invalidation. If it were only a check,
 * another engine could invalidate the same key before it is applied, and nothing may refuse the
 * packet after that.
 */
static enum plx_verdict
check_invalidate(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j)
{
	if (!plx_opcode_has(j->op, PLX_OPF_IETH))
		return PLX_VERDICT_ACCEPT;
	return plx_key_invalidate(qp->mem, (struct plx_key){pkt->inv_key}, &qp->asker) ==
			       PLX_KEY_GRANTED
		       ? PLX_VERDICT_ACCEPT
		       : PLX_VERDICT_INVALIDATE;
}

static enum plx_verdict
check(struct plx_rc *qp, const struct plx_pkt *pkt, struct judged *j)
{
	enum plx_verdict verdict = check_psn(qp, pkt, j);

	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_sequence(qp, j);
	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_enabled(qp, j);
	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_resource(qp, j);
	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_length(qp, pkt, j);
	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_keys(qp, pkt, j);
	if (verdict == PLX_VERDICT_ACCEPT)
		verdict = check_invalidate(qp, pkt, j);
	return verdict;
}

/* ---- apply: it cannot fail ---- */

static void
apply_recv_done(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
		uint32_t bytes, struct plx_actions *out)
{
	struct plx_completion completion = {.bytes = bytes, .status = PLX_WC_SUCCESS};

	completion.op = j->op->kind == PLX_OP_WRITE ? PLX_WR_WRITE_IMM : PLX_WR_SEND;
	if (plx_opcode_has(j->op, PLX_OPF_IMM)) {
		completion.flags |= PLX_WC_IMM;
		completion.imm = pkt->imm;
		if (completion.op == PLX_WR_SEND)
			completion.op = PLX_WR_SEND_IMM;
	}
	if (plx_opcode_has(j->op, PLX_OPF_IETH)) {
		completion.flags |= PLX_WC_INV;
		completion.inv_key.v = pkt->inv_key;
		completion.op = PLX_WR_SEND_INV;
	}
	if (pkt->solicited)
		completion.flags |= PLX_WC_SOLICITED;
	complete_recv(qp, &completion, out);
}

static void
apply_send(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
	   struct plx_actions *out)
{
	struct responder *resp = &qp->resp;

	if (j->starts) {
		recv_pop(qp, out);
		resp->recv_open = true;
		resp->recv_taken = 0;
	}
	sge_place(j->range, j->ranges, pkt->payload, out);
	resp->recv_taken += pkt->payload_bytes;
	if (j->ends)
		apply_recv_done(qp, pkt, j, resp->recv_taken, out);
}

static void
apply_write(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
	    struct plx_actions *out)
{
	struct responder *resp = &qp->resp;

	if (j->starts) {
		resp->write_rkey.v = pkt->reth.rkey;
		resp->write_va = pkt->reth.va;
		resp->write_left = resp->write_bytes = pkt->reth.length;
	}
	sge_place(j->range, j->ranges, pkt->payload, out);
	resp->write_va += pkt->payload_bytes;
	resp->write_left -= pkt->payload_bytes;
	if (j->takes_recv) {
		recv_pop(qp, out);
		resp->recv_open = true;
		apply_recv_done(qp, pkt, j, resp->write_bytes, out);
	}
}

void
responder_apply_read(struct plx_rc *qp, struct plx_psn first, struct plx_key key, uint64_t va,
		     uint32_t bytes)
{
	struct resource *res = reply_remember(qp);

	*res = (struct resource){
		.kind = PLX_OP_READ_REQUEST,
		.first = first,
		.packets = qp_packets(qp, bytes),
		.rkey = key,
		.va = va,
		.domain = qp->asker.domain,
		.bytes = bytes,
	};
	reply_pend(qp, res, 0, bytes);
	qp->resp.expected = plx_psn_add(qp->resp.expected, res->packets - 1);
}

static void
execute_atomic(struct resource *res, uint8_t *target, struct plx_actions *out)
{
	action_add(out, PLX_ACT_ATOMIC)->atomic = (struct plx_atomic){
		.target = target,
		.swap_add = res->swap_add,
		.compare = res->compare,
		.original = &res->original,
		.cmp_swap = res->kind == PLX_OP_CMP_SWAP,
	};
}

static void
apply_atomic(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
	     struct plx_actions *out)
{
	struct resource *res = reply_remember(qp);

	*res = (struct resource){
		.kind = j->op->kind,
		.first = pkt->psn,
		.packets = 1,
		.rkey = {pkt->atomic.rkey},
		.va = pkt->atomic.va,
		.bytes = sizeof(uint64_t),
		.swap_add = pkt->atomic.swap_add,
		.compare = pkt->atomic.compare,
	};
	execute_atomic(res, (uint8_t *)(uintptr_t)j->range[0].base, out);
	reply_pend(qp, res, 0, sizeof(uint64_t));
}

/*
 * Update what is owed after an accepted packet. If the packet closed a gap before the gap's NAK was
 * sent, the peer does not know that later packets were dropped, so one NAK requests them from here
 * on. If the NAK was sent, it may have replaced an ACK, so an ACK is owed again. A peer that sends
 * only what is missing learns at once what else is.
 */
static void
apply_owed(struct plx_rc *qp, bool gap, bool ack)
{
	struct responder *resp = &qp->resp;

	if (gap && !plx_psn_before(resp->gap.newest, resp->expected)) {
		resp->unusual |= RESP_NAK_OUT;
		gap_move(&resp->gap, resp->expected);
		reply_owe(qp, OWED_NAK, PLX_AETH_NAK | PLX_NAK_SEQUENCE, resp->expected);
	} else if (ack && qp->selective && resp->unusual & RESP_KEEPS) {
		resp->unusual |= RESP_NAK_OUT;
		reply_owe(qp, OWED_NAK, PLX_AETH_NAK | PLX_NAK_SEQUENCE, resp->expected);
	} else if (ack) {
		reply_owe(qp, OWED_ACK, 0, resp->ack_psn);
	}
}

static void
apply_accept(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
	     struct plx_actions *out)
{
	struct responder *resp = &qp->resp;
	bool unsaid = resp->owed == OWED_NAK || resp->owed == OWED_RNR;
	bool gap = unsaid && resp->unusual & RESP_NAK_OUT;
	bool ack =
		unsaid || (plx_opcode_has(j->op, PLX_OPF_PAYLOAD) && (j->ends || pkt->ack_request));

	/*
	 * The gap is closed: withdraw a NAK that has not been sent. The next gap causes a new NAK.
	 */
	resp->unusual &= (uint8_t)~RESP_NAK_OUT;
	if (unsaid)
		resp->owed = OWED_NOTHING;
	if (j->op->kind == PLX_OP_READ_REQUEST) {
		responder_apply_read(qp, pkt->psn, (struct plx_key){pkt->reth.rkey}, pkt->reth.va,
				     pkt->reth.length);
	} else if (is_atomic(j->op)) {
		apply_atomic(qp, pkt, j, out);
	} else {
		if (j->op->kind == PLX_OP_SEND)
			apply_send(qp, pkt, j, out);
		else
			apply_write(qp, pkt, j, out);
		plx_count(&qp->counters.bytes_placed, pkt->payload_bytes);
		resp->open = j->ends                      ? OPEN_NONE
			     : j->op->kind == PLX_OP_SEND ? OPEN_SEND
							  : OPEN_WRITE;
		resp->ack_psn = pkt->psn;
	}
	resp->expected = plx_psn_add(resp->expected, 1);
	if (j->ends)
		resp->msn = plx_msn_next(resp->msn); /* READs advance the MSN at once: C9-148 */
	apply_owed(qp, gap, ack);
}

static void
apply_replay(struct plx_rc *qp, const struct plx_pkt *pkt, const struct judged *j,
	     struct plx_actions *out)
{
	uint32_t packet = (uint32_t)plx_psn_diff(pkt->psn, j->replay->first);

	if (j->op->kind == PLX_OP_READ_REQUEST) {
		reply_repeat(qp, j->replay, packet, pkt->reth.length);
		if (PLX_MUTANT(DUP_READ_RESETS_OP))
			qp->resp.open = OPEN_NONE;
		return;
	}
	if (PLX_MUTANT(DUP_ATOMIC_EXECUTES)) {
		struct plx_grant grant;

		if (plx_key_check(qp->mem, j->replay->rkey, &qp->asker, j->replay->va, 8,
				  (struct plx_access){PLX_ACCESS_REMOTE_ATOMIC},
				  &grant) == PLX_KEY_GRANTED)
			execute_atomic(j->replay, grant.host, out);
	}
	reply_pend(qp, j->replay, 0, sizeof(uint64_t));
}

/* Where the flight is sent again only in part, its order shows nothing. */
static void
gap_begin_or_go_on(struct plx_rc *qp, struct plx_psn psn)
{
	struct responder *resp = &qp->resp;
	bool again = resp->unusual & RESP_NAK_OUT;

	if (again && qp->selective)
		gap_note(&resp->gap, psn);
	else
		gap_begin(&resp->gap, psn, again);
}

static void
apply_refusal(struct plx_rc *qp, const struct plx_pkt *pkt, enum plx_verdict verdict,
	      const struct judged *j, struct plx_actions *out)
{
	const struct consequence *c = &consequences[verdict];
	struct responder *resp = &qp->resp;

	if (verdict == PLX_VERDICT_AHEAD)
		gap_begin_or_go_on(qp, pkt->psn);
	else if (verdict == PLX_VERDICT_AHEAD_AGAIN)
		gap_note(&resp->gap, pkt->psn);
	switch ((enum owed_kind)c->owed) {
	case OWED_NOTHING:
		break;
	case OWED_ACK: /* C9-105: PSN of the newest SEND or WRITE, never of a READ */
		reply_owe(qp, OWED_ACK, 0,
			  PLX_MUTANT(DUP_WRITE_ACKS_READ) ? plx_psn_sub(resp->expected, 1)
							  : resp->ack_psn);
		break;
	case OWED_NAK:
		resp->unusual |= RESP_NAK_OUT;
		reply_owe(qp, OWED_NAK, PLX_AETH_NAK | PLX_NAK_SEQUENCE, resp->expected);
		break;
	case OWED_RNR: /* the expected packet has arrived, so any gap before it is closed */
		resp->unusual &= (uint8_t)~RESP_NAK_OUT;
		reply_owe(qp, OWED_RNR, PLX_AETH_RNR | qp->rnr_timer, resp->expected);
		break;
	case OWED_FATAL:
		reply_owe(qp, OWED_FATAL, PLX_AETH_NAK | c->syndrome, pkt->psn);
		break;
	}
	if (!c->fatal)
		return;
	/* The failed message had a receive open, or this packet would have consumed one. */
	if (!resp->recv_open && j->takes_recv &&
	    (verdict == PLX_VERDICT_RECV_LENGTH || verdict == PLX_VERDICT_RECV_ACCESS ||
	     verdict == PLX_VERDICT_INVALIDATE)) {
		recv_pop(qp, out);
		resp->recv_open = true;
	}
	resp->recv_status = c->recv_status;
	complete_to_error(qp, (enum plx_wc_status)c->recv_status, out);
}

/** Process one request packet: check, verdict, apply. The QP is in RTR, RTS or SQD. */
enum plx_verdict
responder_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, struct plx_actions *out)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	struct judged j;
	enum plx_verdict verdict;

	j.op = op;
	j.starts = !plx_opcode_has(op, PLX_OPF_MIDDLE) && !plx_opcode_has(op, PLX_OPF_LAST);
	j.ends = !plx_opcode_has(op, PLX_OPF_FIRST) && !plx_opcode_has(op, PLX_OPF_MIDDLE);
	j.takes_recv = op->kind == PLX_OP_SEND ? j.starts : plx_opcode_has(op, PLX_OPF_IMM);
	j.ranges = 0;
	j.replay = NULL;
	verdict = check(qp, pkt, &j);
	if (plx_likely(verdict == PLX_VERDICT_ACCEPT))
		apply_accept(qp, pkt, &j, out);
	else if (verdict == PLX_VERDICT_REPLAY)
		apply_replay(qp, pkt, &j, out);
	else
		apply_refusal(qp, pkt, verdict, &j, out);
	return verdict;
}
