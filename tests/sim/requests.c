/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of the responder: for each request packet what may be said of it, and, when it is
 * taken, which bytes go where. It knows what the peer posted, never what the responder remembers.
 * Start with request_judge().
 */
#include "sim.h"

#define BIT(verdict) (UINT64_C(1) << PLX_VERDICT_##verdict)

/* What the next expected packet may be refused for: `must` says that it must be refused. */
struct faults {
	uint64_t may;
	bool must;
};

static void
fault(struct faults *faults, uint64_t bit, bool surely)
{
	faults->may |= bit;
	faults->must |= surely;
}

/* The request of the peer's that comes next; local operations never come. */
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
key_faults(struct side *side, const struct op *op, uint32_t bytes, struct faults *faults)
{
	uint8_t need = right_of(op->kind);
	bool whole = side->exec_offset == 0 && op->kind != PLX_WR_READ;
	uint32_t asked = whole ? op->length : bytes;
	enum opinion opinion = grant_opinion(op->target, op->rkey, side,
					     op->remote_va + side->exec_offset, asked, need);

	if (opinion != OPINION_YES)
		fault(faults, BIT(ACCESS), opinion == OPINION_NO);
}

static void
receive_faults(struct side *side, const struct op *op, uint32_t bytes, bool last,
	       struct faults *faults)
{
	const struct receive *receive = side->open;
	bool needs_now = is_send(op) ? side->exec_offset == 0 : last;

	if (receive == NULL && needs_now) {
		receive = receiver_first(side->receiver);
		if (receive == NULL)
			fault(faults, BIT(RNR), true);
	}
	if (receive == NULL || !is_send(op))
		return;
	if (side->exec_offset + bytes > receive->capacity)
		fault(faults, BIT(RECV_LENGTH), true);
	if (receive->bad_key && bytes > 0)
		fault(faults, BIT(RECV_ACCESS), true);
}

/* Everything that is wrong with the packet that carries `bytes` of `op` from exec_offset on. */
static struct faults
expected_faults(struct side *side, const struct op *op, uint32_t bytes, bool last)
{
	struct faults faults = {0};
	uint8_t need = right_of(op->kind);

	if ((side->attr.enabled.bits & need) != need)
		fault(&faults, BIT(DISABLED), true);
	if (waits_for_answer(op->kind) && side->peer->attr.rd_atomic_max > side->caps.responder_res)
		fault(&faults, BIT(TOO_MANY_READS), side->caps.responder_res == 0);
	if ((op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD) && op->remote_va % 8)
		fault(&faults, BIT(MISALIGNED), true);
	if (need != 0)
		key_faults(side, op, bytes, &faults);
	if (needs_receive(op))
		receive_faults(side, op, bytes, last, &faults);
	if (op->kind == PLX_WR_SEND_INV && last) {
		bool alive = op->inv != NULL && op->inv->key.v == op->inv_key &&
			     (op->inv->state == GRANT_ALIVE || op->inv->state == GRANT_DOUBTFUL);

		if (!alive || op->inv->state == GRANT_DOUBTFUL)
			fault(&faults, BIT(INVALIDATE), !alive);
	}
	return faults;
}

/* ---- taking a packet ------------------------------------------------------------------------ */

static void
open_receive(struct side *side)
{
	side->open = receiver_take(side->receiver);
}

/* The message is whole: its receive, if it has one, completes now. */
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
take_data(struct side *side, struct op *op, const struct plx_pkt *pkt, bool last)
{
	struct world *world = side->pair->world;
	struct judging *judging = &world->judging;

	if (is_send(op) && side->exec_offset == 0)
		open_receive(side);
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
		open_receive(side);
	side->exec_offset += pkt->payload_bytes;
	side->epsn++;
	if (last)
		end_message(side, op);
}

/* A READ is executed when it is taken, as far as counting goes; its bytes are checked as they
 * leave (reply_check). A long one comes as several requests. */
static void
take_read(struct side *side, struct op *op, const struct plx_pkt *pkt)
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
take_atomic(struct side *side, struct op *op)
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
take(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;
	struct op *op = request_next(side);
	uint32_t bytes = pkt->payload_bytes;
	struct faults faults;
	bool last;

	sim_must(world, op != NULL, "I4", "a request is taken that nobody has posted");
	if (op->kind == PLX_WR_READ)
		bytes = pkt->reth.length;
	last = waits_for_answer(op->kind) || side->exec_offset + bytes == op->length;
	headers_check(world, op, pkt, side->exec_offset, side->attr.mtu);
	faults = expected_faults(side, op, bytes, last);
	sim_must(world, !faults.must, "I9",
		 "a packet of request #%" PRIu64 " is taken and must be refused (%" PRIx64 ")",
		 op->wr_id, faults.may);
	if (op->kind == PLX_WR_READ)
		take_read(side, op, pkt);
	else if (waits_for_answer(op->kind))
		take_atomic(side, op);
	else
		take_data(side, op, pkt, last);
	if (op->misuse == MISUSE_REVOKED && op->kind != PLX_WR_READ)
		revoke_when_due(side, op, side->exec_offset / side->attr.mtu);
}

/* ---- refusing it ---------------------------------------------------------------------------- */

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
	struct faults faults;
	bool last;

	sim_must(world, op != NULL, "I4", "a request is refused that nobody has posted");
	if (op->kind == PLX_WR_READ)
		bytes = pkt->reth.length;
	last = waits_for_answer(op->kind) || side->exec_offset + bytes == op->length;
	faults = expected_faults(side, op, bytes, last);
	sim_must(world, faults.may >> verdict & 1, "I9",
		 "a packet of request #%" PRIu64
		 " is refused (%s), and nothing of the kind is wrong",
		 op->wr_id, plx_verdict_text(verdict));
	if (verdict == PLX_VERDICT_RNR) {
		side->rnr_owed = true;
		side->naks = 0; /* the gap before it, if any, is closed */
		return;
	}
	side->fatal = (uint8_t)verdict;
	side->fatal_psn = side->epsn;
	/* the receive that this message would have taken is its own, and ends with it */
	if (side->open == NULL && needs_receive(op) &&
	    (verdict == PLX_VERDICT_RECV_LENGTH || verdict == PLX_VERDICT_RECV_ACCESS ||
	     (verdict == PLX_VERDICT_INVALIDATE && is_send(op))))
		open_receive(side);
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
}

/* One request packet, and what was said of it. */
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
		take(side, pkt);
	} else {
		sim_must(world, is_fatal(verdict) || verdict == PLX_VERDICT_RNR, "I9",
			 "the expected packet is judged: %s", plx_verdict_text(verdict));
		refuse(side, pkt, verdict);
	}
}
