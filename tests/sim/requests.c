/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of the responder: which verdicts each request packet may have and, if it is accepted,
 * which bytes go where. It knows what the peer posted, never what the responder remembers.
 * Start with request_judge().
 */
#include "sim.h"

#define BIT(verdict) (UINT64_C(1) << PLX_VERDICT_##verdict)

/* Verdicts by which the expected packet may be refused; whether one of them must be. */
struct refusals {
	uint64_t may;
	bool must;
};

static void
refuse_by(struct refusals *refusals, uint64_t bit, bool surely)
{
	refusals->may |= bit;
	refusals->must |= surely;
}

/* The peer's request that is executed next. Local operations are not sent. */
static struct op *
request_next(struct side *side)
{
	struct side *peer = side->peer;
	struct op *op;

	for (; side->exec_op != peer->op_posted; side->exec_op++) {
		op = &peer->ops[side->exec_op & (peer->op_room - 1)];
		if (op->psns > 0 && !op->dead)
			return op;
	}
	return NULL;
}

static bool
is_send(const struct op *op)
{
	return op->kind == PLX_WR_SEND || op->kind == PLX_WR_SEND_IMM ||
	       op->kind == PLX_WR_SEND_INV;
}

static bool
needs_receive(const struct op *op)
{
	return is_send(op) || op->kind == PLX_WR_WRITE_IMM;
}

static void
key_refusals(struct side *side, const struct op *op, uint32_t bytes, struct refusals *refusals)
{
	uint8_t need = right_of(op->kind);
	bool whole = side->exec_offset == 0 && op->kind != PLX_WR_READ;
	uint32_t asked = whole ? op->length : bytes;
	enum opinion opinion = grant_opinion(op->target, op->rkey, side,
					     op->remote_va + side->exec_offset, asked, need);

	if (opinion != OPINION_YES)
		refuse_by(refusals, BIT(ACCESS), opinion == OPINION_NO);
}

static void
receive_refusals(struct side *side, const struct op *op, uint32_t bytes, bool last,
		 struct refusals *refusals)
{
	const struct receive *receive = side->open;
	bool needs_now = is_send(op) ? side->exec_offset == 0 : last;

	if (receive == NULL && needs_now) {
		receive = receiver_first(side->receiver);
		if (receive == NULL)
			refuse_by(refusals, BIT(RNR), true);
	}
	if (receive == NULL || !is_send(op))
		return;
	if (side->exec_offset + bytes > receive->capacity)
		refuse_by(refusals, BIT(RECV_LENGTH), true);
	if (receive->bad_key && bytes > 0)
		refuse_by(refusals, BIT(RECV_ACCESS), true);
}

/* ... of the packet that carries `bytes` of `op` from exec_offset on. */
static struct refusals
refusals_of(struct side *side, const struct op *op, uint32_t bytes, bool last)
{
	struct refusals refusals = {0};
	uint8_t need = right_of(op->kind);

	if ((side->attr.enabled.bits & need) != need)
		refuse_by(&refusals, BIT(DISABLED), true);
	if (waits_for_answer(op->kind) &&
	    side->peer->attr.initiator_depth > side->caps.responder_resources)
		refuse_by(&refusals, BIT(TOO_MANY_READS), side->caps.responder_resources == 0);
	if ((op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD) && op->remote_va % 8)
		refuse_by(&refusals, BIT(MISALIGNED), true);
	if (need != 0)
		key_refusals(side, op, bytes, &refusals);
	if (needs_receive(op))
		receive_refusals(side, op, bytes, last, &refusals);
	if (op->kind == PLX_WR_SEND_INV && last) {
		bool alive = op->inv != NULL && op->inv->key.v == op->inv_key &&
			     (op->inv->state == GRANT_ALIVE || op->inv->state == GRANT_DOUBTFUL);

		if (!alive || op->inv->state == GRANT_DOUBTFUL)
			refuse_by(&refusals, BIT(INVALIDATE), !alive);
	}
	return refusals;
}

/* ---- accepting a packet ---- */

static void
use_receive(struct side *side)
{
	side->open = receiver_pop(side->receiver);
}

/* The message is complete, and so is its receive, if it has one. */
static void
end_message(struct side *side, struct op *op)
{
	struct world *world = side->pair->world;

	op->executed = true;
	side->msn++;
	side->exec_op++;
	side->exec_offset = 0;
	if (op->kind == PLX_WR_SEND_INV)
		grant_invalidated(world, op->inv);
	if (!needs_receive(op))
		return;
	PLX_ASSERT(side->open != NULL);
	side->due = op;
}

static void
accept_data(struct side *side, struct op *op, const struct plx_pkt *pkt, bool last)
{
	struct world *world = side->pair->world;
	struct judging *judging = &world->judging;

	if (is_send(op) && side->exec_offset == 0)
		use_receive(side);
	judging->op = op;
	judging->left = pkt->payload_bytes;
	judging->payload = pkt->payload;
	judging->source = side->peer;
	judging->offset = side->exec_offset;
	if (is_send(op)) {
		judging->slab = side->receiver->slab;
		judging->sge = side->open->sge;
		judging->sges = side->open->sges;
	} else if (op->target != NULL) {
		judging->slab = op->target->slab;
		judging->one = (struct plx_sge){.va = op->remote_va, .length = op->length};
		judging->sge = &judging->one;
		judging->sges = 1;
	}
	if (op->kind == PLX_WR_WRITE_IMM && last)
		use_receive(side);
	side->exec_offset += pkt->payload_bytes;
	side->epsn++;
	if (last)
		end_message(side, op);
}

/* A READ counts as executed when it is accepted; its bytes are checked when they leave
 * (reply_check()). A long one consists of several requests. */
static void
accept_read(struct side *side, struct op *op, const struct plx_pkt *pkt)
{
	uint32_t psns =
		pkt->reth.length ? (pkt->reth.length + side->attr.mtu - 1) / side->attr.mtu : 1;

	side->response_tokens += psns;
	side->epsn += psns;
	side->exec_offset += pkt->reth.length;
	side->msn++;
	if (side->exec_offset == op->length) {
		side->msn--;
		end_message(side, op);
	}
}

static void
accept_atomic(struct side *side, struct op *op)
{
	struct judging *judging = &side->pair->world->judging;

	judging->op = op;
	judging->atomic = true;
	judging->slab = op->target->slab;
	side->response_tokens++;
	side->epsn++;
	end_message(side, op);
}

static void
accept_request(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;
	struct op *op = request_next(side);
	uint32_t bytes = pkt->payload_bytes;
	struct refusals refusals;
	bool last;

	sim_must(world, op != NULL, "I4", "a request is accepted that was not posted");
	if (op->kind == PLX_WR_READ)
		bytes = pkt->reth.length;
	last = waits_for_answer(op->kind) || side->exec_offset + bytes == op->length;
	headers_check(world, op, pkt, side->exec_offset, side->attr.mtu);
	refusals = refusals_of(side, op, bytes, last);
	sim_must(world, !refusals.must, "I9",
		 "a packet of request #%" PRIu64 " is accepted and must be refused (%" PRIx64 ")",
		 op->wr_id, refusals.may);
	if (op->kind == PLX_WR_READ)
		accept_read(side, op, pkt);
	else if (waits_for_answer(op->kind))
		accept_atomic(side, op);
	else
		accept_data(side, op, pkt, last);
	if (op->misuse == MISUSE_REVOKED && op->kind != PLX_WR_READ)
		revoke_when_due(side, op, side->exec_offset / side->attr.mtu);
}

/* ---- refusing it ---- */

static bool
is_fatal(enum plx_verdict verdict)
{
	return verdict == PLX_VERDICT_SEQUENCE || verdict == PLX_VERDICT_DISABLED ||
	       verdict == PLX_VERDICT_TOO_MANY_READS || verdict == PLX_VERDICT_LENGTH ||
	       verdict == PLX_VERDICT_MISALIGNED || verdict == PLX_VERDICT_ACCESS ||
	       verdict == PLX_VERDICT_RECV_LENGTH || verdict == PLX_VERDICT_RECV_ACCESS ||
	       verdict == PLX_VERDICT_INVALIDATE;
}

static void
refuse(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	struct world *world = side->pair->world;
	struct op *op = request_next(side);
	uint32_t bytes = pkt->payload_bytes;
	struct refusals refusals;
	bool last;

	sim_must(world, op != NULL, "I4", "a request is refused that was not posted");
	if (op->kind == PLX_WR_READ)
		bytes = pkt->reth.length;
	last = waits_for_answer(op->kind) || side->exec_offset + bytes == op->length;
	refusals = refusals_of(side, op, bytes, last);
	sim_must(world, refusals.may >> verdict & 1, "I9",
		 "a packet of request #%" PRIu64 " is refused without a reason: %s", op->wr_id,
		 plx_verdict_text(verdict));
	if (verdict == PLX_VERDICT_RNR) {
		side->rnr_owed = true;
		side->naks = 0; /* a gap before it is closed */
		return;
	}
	side->fatal = (uint8_t)verdict;
	side->fatal_psn = side->epsn;
	/* the receive that this message would have used fails with it */
	if (side->open == NULL && needs_receive(op) &&
	    (verdict == PLX_VERDICT_RECV_LENGTH || verdict == PLX_VERDICT_RECV_ACCESS ||
	     (verdict == PLX_VERDICT_INVALIDATE && is_send(op))))
		use_receive(side);
}

static void
judge_duplicate(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	struct world *world = side->pair->world;
	uint8_t kind = plx_opcodes[pkt->opcode].kind;
	uint32_t bytes = pkt->reth.length;

	if (kind == PLX_OP_SEND || kind == PLX_OP_WRITE) {
		sim_must(world, verdict == PLX_VERDICT_DUPLICATE, "I4",
			 "a duplicate %s is judged: %s", plx_opcodes[pkt->opcode].name,
			 plx_verdict_text(verdict));
		return;
	}
	sim_must(world,
		 verdict == PLX_VERDICT_REPLAY || verdict == PLX_VERDICT_DUPLICATE_FORGOTTEN ||
			 verdict == PLX_VERDICT_DUPLICATE_DENIED,
		 "I4", "a duplicate %s is judged: %s", plx_opcodes[pkt->opcode].name,
		 plx_verdict_text(verdict));
	if (verdict != PLX_VERDICT_REPLAY)
		return;
	side->response_tokens += kind == PLX_OP_READ_REQUEST && bytes
					 ? (bytes + side->attr.mtu - 1) / side->attr.mtu
					 : 1;
}

/* Which packets ahead call for a NAK is the responder's choice, within the bounds of
 * recovery_nak_sent().
 */
static void
judge_ahead(struct side *side, uint64_t psn, enum plx_verdict verdict)
{
	sim_must(side->pair->world,
		 verdict == PLX_VERDICT_AHEAD || verdict == PLX_VERDICT_AHEAD_AGAIN, "I9",
		 "a packet %" PRIu64 " ahead is judged: %s", psn - side->epsn,
		 plx_verdict_text(verdict));
	if (psn >= side->psn_ahead)
		side->psn_ahead = psn + 1;
	side->ahead[psn % SIM_AHEAD] = psn;
}

/* One request packet, and its verdict. */
void
request_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	struct world *world = side->pair->world;
	uint64_t psn = psn_absolute(side->epsn, pkt->psn);

	side->reply_tokens++;
	if (psn > side->epsn) {
		judge_ahead(side, psn, verdict);
	} else if (psn < side->epsn) {
		judge_duplicate(side, pkt, verdict);
	} else if (verdict == PLX_VERDICT_ACCEPT) {
		accept_request(side, pkt);
	} else {
		sim_must(world, is_fatal(verdict) || verdict == PLX_VERDICT_RNR, "I9",
			 "the expected packet is judged: %s", plx_verdict_text(verdict));
		refuse(side, pkt, verdict);
	}
}
