/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of what leaves: requests in order, within their window and saying what was posted; at
 * most one reply for each packet; ACKs before what they caused; every byte of a frame.
 * It never says what must leave, or what may be sent again (recovery.c). Start with
 * emission_check() and reply_check().
 */
#include "sim.h"

/* Is `bytes` at `src` what the message of `op` holds at `offset`? */
void
content_check(struct world *world, const struct side *source, const struct op *op, uint32_t offset,
	      const uint8_t *src, uint32_t bytes)
{
	const struct slab *slab = &source->station->source_slab;

	if (world->options->canary == SIM_CANARY_WRONG && op->wr_id % 1000 == 999)
		offset = op->length - bytes - offset;
	while (bytes > 0) {
		uint32_t piece;
		uint64_t va = sges_at(op->sge, op->sges, offset, &piece);

		if (piece > slab_rest(slab, va))
			piece = (uint32_t)slab_rest(slab, va);
		if (piece > bytes)
			piece = bytes;
		if (piece == 0 || memcmp(src, slab_host(slab, va), piece) != 0)
			sim_fail(world, SIM_WRONG, "I2", WRONG_CORRUPT,
				 "bytes from offset %u of request #%" PRIu64
				 " are not those posted",
				 offset, op->wr_id);
		src += piece;
		offset += piece;
		bytes -= piece;
	}
}

/* T23: the frame is the packet that the QP has emitted, and its pad is zero. */
void
frame_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len)
{
	struct world *world = side->pair->world;
	size_t at = PLX_ETH_BYTES + PLX_UDP_BYTES +
		    (world->config.ip_version == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES);
	struct plx_pkt pkt;
	enum plx_wire_verdict wire = plx_pkt_decode(bytes + at, len - at, &pkt);

	sim_must(world, wire == PLX_WIRE_OK, "T23", "a frame of ours does not decode: %s",
		 plx_wire_verdict_text(wire));
	sim_must(world,
		 pkt.opcode == emit->pkt.opcode && plx_psn_eq(pkt.psn, emit->pkt.psn) &&
			 pkt.dest_qpn == side->peer->qpn && pkt.pkey == side->attr.pkey &&
			 pkt.resv6 == 0 && pkt.resv7 == 0 && !pkt.fecn,
		 "T23", "a frame is not the packet that was emitted");
	for (uint32_t i = 0; i < pkt.pad; i++)
		sim_must(world, pkt.payload[pkt.payload_bytes + i] == 0, "T23",
			 "a pad byte is %02x", pkt.payload[pkt.payload_bytes + i]);
	sim_must(world, (pkt.payload_bytes + pkt.pad) % 4 == 0, "T23",
		 "a payload of %u is padded by %u", pkt.payload_bytes, pkt.pad);
}

/* ---- requests ---- */

static uint8_t
request_kind(const struct op *op)
{
	static const uint8_t kinds[PLX_WR_OP_COUNT] = {
		[PLX_WR_SEND] = PLX_OP_SEND,         [PLX_WR_SEND_IMM] = PLX_OP_SEND,
		[PLX_WR_SEND_INV] = PLX_OP_SEND,     [PLX_WR_WRITE] = PLX_OP_WRITE,
		[PLX_WR_WRITE_IMM] = PLX_OP_WRITE,   [PLX_WR_READ] = PLX_OP_READ_REQUEST,
		[PLX_WR_CMP_SWAP] = PLX_OP_CMP_SWAP, [PLX_WR_FETCH_ADD] = PLX_OP_FETCH_ADD,
	};

	return kinds[op->kind];
}

/* First, middle, last; payload length; what the first and last packets carry. */
static void
check_data_headers(struct world *world, const struct op *op, const struct plx_pkt *pkt,
		   uint32_t offset, uint32_t mtu)
{
	const struct plx_opcode *wire = &plx_opcodes[pkt->opcode];
	bool starts = plx_opcode_has(wire, PLX_OPF_FIRST) || plx_opcode_has(wire, PLX_OPF_ONLY);
	bool ends = plx_opcode_has(wire, PLX_OPF_LAST) || plx_opcode_has(wire, PLX_OPF_ONLY);
	uint32_t rest = op->length - offset;

	sim_must(world, starts == (offset == 0) && ends == (rest <= mtu), "I2",
		 "%s at offset %u of a message of %u", wire->name, offset, op->length);
	sim_must(world, pkt->payload_bytes == (rest < mtu ? rest : mtu), "I2",
		 "%s with %u bytes at offset %u of a message of %u", wire->name, pkt->payload_bytes,
		 offset, op->length);
	if (plx_opcode_has(wire, PLX_OPF_RETH))
		sim_must(world, pkt->reth.length == op->length, "I2",
			 "a RETH of %u bytes for a message of %u", pkt->reth.length, op->length);
	if (plx_opcode_has(wire, PLX_OPF_IMM))
		sim_must(world, pkt->imm == op->imm, "I2", "a wrong immediate is sent");
	if (plx_opcode_has(wire, PLX_OPF_IETH))
		sim_must(world, pkt->inv_key == op->inv_key, "I2",
			 "a wrong key to invalidate is sent");
}

/* I2: a packet's headers are those of its request, at this offset of the message. */
void
headers_check(struct world *world, const struct op *op, const struct plx_pkt *pkt, uint32_t offset,
	      uint32_t mtu)
{
	const struct plx_opcode *wire = &plx_opcodes[pkt->opcode];

	sim_must(world, wire->kind == request_kind(op), "I2", "%s for a request of kind %u",
		 wire->name, op->kind);
	if (wire->kind == PLX_OP_SEND || wire->kind == PLX_OP_WRITE)
		check_data_headers(world, op, pkt, offset, mtu);
	if (plx_opcode_has(wire, PLX_OPF_RETH))
		sim_must(world,
			 pkt->reth.va == op->remote_va + offset && pkt->reth.rkey == op->rkey, "I2",
			 "a wrong RETH at offset %u", offset);
	if (wire->kind == PLX_OP_CMP_SWAP || wire->kind == PLX_OP_FETCH_ADD)
		sim_must(world,
			 pkt->atomic.va == op->remote_va && pkt->atomic.rkey == op->rkey &&
				 pkt->atomic.swap_add == op->swap_add,
			 "I2", "a wrong AtomicETH");
}

/* The request that this PSN belongs to, searched from where the last packet was. */
static struct op *
request_sent(struct side *side, uint64_t psn)
{
	struct op *op = NULL;

	if (side->tx_op < side->op_done)
		side->tx_op = side->op_done;
	if (side->tx_op >= side->op_posted)
		side->tx_op = side->op_done;
	while (side->tx_op > side->op_done &&
	       side->ops[side->tx_op & (side->op_room - 1)].psn > psn)
		side->tx_op--;
	for (; side->tx_op < side->op_posted; side->tx_op++) {
		op = &side->ops[side->tx_op & (side->op_room - 1)];
		if (psn >= op->psn && psn - op->psn < op->psns)
			return op;
	}
	return NULL;
}

/* I6: no PSN is skipped, acknowledged already, or outside the window. */
static void
check_order(struct side *side, const struct plx_emit *emit, uint64_t psn, uint32_t psns)
{
	struct world *world = side->pair->world;
	bool again = emit->flags & PLX_EMIT_RETRANSMIT;

	sim_must(world, psn >= side->psn_una && psn < side->psn_post, "I6",
		 "PSN %06x is sent, and is not outstanding", emit->pkt.psn.v);
	sim_must(world, psn <= side->psn_high, "I6", "PSN %06x is sent, and those before it not",
		 emit->pkt.psn.v);
	sim_must(world, psn - side->psn_una < side->attr.window_packets, "I6",
		 "PSN %06x is outside a window of %u", emit->pkt.psn.v, side->attr.window_packets);
	sim_must(world, again == (psn < side->psn_high), "I6", "PSN %06x is sent%s again",
		 emit->pkt.psn.v, again ? "" : " silently");
	recovery_sent(side, &emit->pkt, psn, psns);
	if (psn != side->psn_sent || emit->pkt.ack_request)
		side->unasked = 0;
	if (side->unasked > psn - side->psn_una) /* the rest is acknowledged without being asked */
		side->unasked = (uint32_t)(psn - side->psn_una);
	side->unasked += !emit->pkt.ack_request;
	/* twice: a requester that sends from there again may count anew */
	sim_must(world, side->unasked < 2 * side->attr.ack_interval, "I6",
		 "%u packets without AckReq, the interval is %u", side->unasked,
		 side->attr.ack_interval);
	side->psn_sent = psn + psns;
	if (side->psn_sent > side->psn_high)
		side->psn_high = side->psn_sent;
}

/* A READ asks for all up to its next chunk; for less only of what the responder has taken, which
 * would count another READ. Returns: the PSNs that the request takes */
static uint32_t
check_read(struct side *side, const struct op *op, const struct plx_pkt *pkt, uint64_t psn)
{
	struct world *world = side->pair->world;
	uint64_t chunk = (uint64_t)side->attr.read_chunk_packets * side->attr.mtu;
	uint32_t offset = (uint32_t)(psn - op->psn) * side->attr.mtu;
	uint32_t psns = 1, rest = op->length - offset;

	if (rest > chunk - offset % chunk)
		rest = (uint32_t)(chunk - offset % chunk);
	if (pkt->reth.length > 0)
		psns = (pkt->reth.length + side->attr.mtu - 1) / side->attr.mtu;
	sim_must(world, pkt->reth.length <= rest, "I6", "a READ of %u at offset %u of %u",
		 pkt->reth.length, offset, op->length);
	sim_must(world, pkt->reth.length == rest || psn + psns <= side->peer->epsn, "I6",
		 "%u of %u bytes are requested, and the responder has not accepted the others",
		 pkt->reth.length, rest);
	return psns;
}

/* A request packet leaves. */
void
emission_check(struct side *side, const struct plx_emit *emit)
{
	struct world *world = side->pair->world;
	const struct plx_pkt *pkt = &emit->pkt;
	uint64_t psn = psn_absolute(side->psn_una, pkt->psn);
	uint32_t psns = 1;
	struct op *op;

	if (world->evil)
		return;
	sim_must(world, side->cnp_tokens == 0, "I11", "a request leaves before the CNP");
	op = request_sent(side, psn);
	sim_must(world, op != NULL, "I6", "PSN %06x belongs to no request", pkt->psn.v);
	headers_check(world, op, pkt, (uint32_t)(psn - op->psn) * side->attr.mtu, side->attr.mtu);
	if (op->kind == PLX_WR_READ)
		psns = check_read(side, op, pkt, psn);
	check_order(side, emit, psn, psns);
	/* decision 3: an application may have posted this because of a receive completion */
	sim_must(world, side->psn_replied >= side->psn_delivered, "D9",
		 "a request leaves before the ACK of a message that was completed");
	if (op->flags & PLX_WR_FENCE && psn == op->psn)
		fence_check(side, op);
	if (op->target != NULL && op->flags & PLX_WR_INLINE)
		PLX_ASSERT(!waits_for_answer(op->kind));
}

/* ---- replies ---- */

static void
spend(struct side *side, uint64_t *tokens, const char *what)
{
	sim_must(side->pair->world, *tokens > 0, "I11", "%s that no packet has caused", what);
	--*tokens;
}

/* A marked packet was judged: it earns a CNP, unless another has in the last 50 us. */
void
emission_mark(struct side *side)
{
	uint64_t now = clock_local(side->station);

	if (now < side->cnp_from)
		return;
	side->cnp_tokens = 1;
	side->cnp_from = now + 50 * PLX_USEC;
}

enum plx_wc_status
status_of_fatal(enum plx_verdict verdict)
{
	if (verdict == PLX_VERDICT_ACCESS)
		return PLX_WC_REMOTE_ACCESS;
	return verdict == PLX_VERDICT_RECV_ACCESS ? PLX_WC_REMOTE_OPERATION
						  : PLX_WC_REMOTE_INVALID_REQUEST;
}

/* The requester's status for a NAK that ends the connection. */
static enum plx_wc_status
status_of_nak(uint8_t syndrome)
{
	static const uint8_t statuses[] = {
		[PLX_NAK_INVALID_REQUEST] = PLX_WC_REMOTE_INVALID_REQUEST,
		[PLX_NAK_REMOTE_ACCESS] = PLX_WC_REMOTE_ACCESS,
		[PLX_NAK_REMOTE_OPERATION] = PLX_WC_REMOTE_OPERATION,
	};
	uint8_t code = syndrome & PLX_AETH_VALUE_MASK;

	return code < PLX_COUNT_OF(statuses) ? (enum plx_wc_status)statuses[code] : PLX_WC_SUCCESS;
}

/* A NAK that ends the connection: for a verdict, or for a READ whose key was revoked. */
static void
check_fatal(struct side *side, const struct plx_pkt *pkt, uint64_t psn)
{
	struct world *world = side->pair->world;
	const struct op *op = request_at(side->peer, psn);
	enum plx_wc_status status = status_of_nak(pkt->aeth.syndrome);

	if (side->fatal == PLX_VERDICT_NONE || psn < side->fatal_psn) {
		uint32_t offset = op ? (uint32_t)(psn - op->psn) * side->attr.mtu : 0;

		sim_must(world,
			 op != NULL && op->kind == PLX_WR_READ && status == PLX_WC_REMOTE_ACCESS &&
				 grant_opinion(op->target, op->rkey, side, op->remote_va + offset,
					       1, PLX_ACCESS_REMOTE_READ) != OPINION_YES,
			 "I9", "NAK %02x for PSN %06x without a reason", pkt->aeth.syndrome,
			 pkt->psn.v);
		side->fatal = PLX_VERDICT_ACCESS;
		side->fatal_psn = psn;
		return;
	}
	sim_must(world,
		 psn == side->fatal_psn && side->fatal != PLX_VERDICT_INVALIDATE &&
			 status == status_of_fatal((enum plx_verdict)side->fatal),
		 "I9", "NAK %02x for PSN %06x after: %s", pkt->aeth.syndrome, pkt->psn.v,
		 plx_verdict_text((enum plx_verdict)side->fatal));
}

/* Sequence NAKs of two that agreed to it say what has arrived, and nothing else has a payload. */
static void
check_bitmap(struct side *side, const struct plx_pkt *pkt, const uint8_t *bitmap)
{
	struct world *world = side->pair->world;
	uint64_t psn = psn_absolute(side->epsn, pkt->psn);
	bool has = side->attr.selective && pkt->aeth.syndrome == (PLX_AETH_NAK | PLX_NAK_SEQUENCE);

	sim_must(world, pkt->payload_bytes == (has ? PLX_NAK_BITMAP_BYTES : 0), "I11",
		 "an ACK with a payload of %u", pkt->payload_bytes);
	for (uint32_t i = 0; i < 8 * pkt->payload_bytes; i++)
		if (bitmap[i / 8] >> i % 8 & 1)
			sim_must(world, side->ahead[(psn + 1 + i) % SIM_AHEAD] == psn + 1 + i, "I4",
				 "a NAK for PSN %06x says that %u behind it has arrived",
				 pkt->psn.v, i + 1);
}

/* An ACK or NAK. It uses the token of the packet that it answers. */
static void
check_ack(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;
	uint64_t psn = psn_absolute(side->epsn, pkt->psn);
	uint8_t type = pkt->aeth.syndrome & PLX_AETH_TYPE_MASK;
	const struct op *op;

	spend(side, side->reply_tokens ? &side->reply_tokens : &side->response_tokens,
	      "an acknowledgement");
	sim_must(world, pkt->aeth.msn.v == (side->msn & PLX_PSN_MASK), "I6",
		 "an acknowledgement has MSN %u, and %" PRIu64 " messages are executed",
		 pkt->aeth.msn.v, side->msn);
	if (type == PLX_AETH_ACK) {
		op = request_at(side->peer, psn);
		sim_must(world, psn < side->epsn, "I4", "PSN %06x is acknowledged, not executed",
			 pkt->psn.v);
		sim_must(world, op == NULL || !waits_for_answer(op->kind), "C9-105",
			 "PSN %06x of a READ or atomic is acknowledged by a bare ACK", pkt->psn.v);
		side->psn_replied = psn + 1 > side->psn_replied ? psn + 1 : side->psn_replied;
		return;
	}
	if (type == PLX_AETH_RNR) {
		sim_must(world, side->rnr_owed && psn == side->epsn, "I9",
			 "an RNR NAK for PSN %06x", pkt->psn.v);
		sim_must(world, (pkt->aeth.syndrome & PLX_AETH_VALUE_MASK) == side->attr.rnr_timer,
			 "I9", "an RNR NAK with timer %u",
			 pkt->aeth.syndrome & PLX_AETH_VALUE_MASK);
		side->rnr_owed = false;
		side->rnrs_sent++;
	} else if ((pkt->aeth.syndrome & PLX_AETH_VALUE_MASK) == PLX_NAK_SEQUENCE) {
		recovery_nak_sent(side, psn);
	} else {
		check_fatal(side, pkt, psn);
	}
	side->psn_replied = psn > side->psn_replied ? psn : side->psn_replied;
}

/* A READ response: the bytes are those in memory now, and the key still grants them. */
static void
check_read_response(struct side *side, const struct plx_pkt *pkt, const uint8_t *payload)
{
	struct world *world = side->pair->world;
	uint64_t psn = psn_absolute(side->epsn, pkt->psn);
	struct op *op = request_at(side->peer, psn);
	uint32_t offset, bytes;

	spend(side, &side->response_tokens, "a READ response");
	sim_must(world, psn < side->epsn, "I4", "PSN %06x is answered and was not executed",
		 pkt->psn.v);
	if (op == NULL)
		return; /* a replay of a request that is forgotten */
	sim_must(world, op->kind == PLX_WR_READ, "I4", "PSN %06x is answered as a READ",
		 pkt->psn.v);
	offset = (uint32_t)(psn - op->psn) * side->attr.mtu;
	bytes = op->length - offset < side->attr.mtu ? op->length - offset : side->attr.mtu;
	sim_must(world, pkt->payload_bytes == bytes, "I2", "a READ response of %u bytes, not %u",
		 pkt->payload_bytes, bytes);
	if (bytes > 0) {
		sim_must(world,
			 grant_opinion(op->target, op->rkey, side, op->remote_va + offset, bytes,
				       PLX_ACCESS_REMOTE_READ) != OPINION_NO,
			 "I3", "a READ response from memory that is not granted");
		if (!slab_expects(op->target->slab, op->remote_va + offset, payload, bytes))
			sim_fail(world, SIM_WRONG, "I2", WRONG_CORRUPT,
				 "a READ response at offset %u of request #%" PRIu64
				 " is not what memory holds",
				 offset, op->wr_id);
	}
	if (op->misuse == MISUSE_REVOKED)
		revoke_when_due(side, op, offset / side->attr.mtu + 1);
	side->psn_replied = psn + 1 > side->psn_replied ? psn + 1 : side->psn_replied;
}

static bool
in_error(const struct side *side)
{
	struct plx_rc_view view;

	plx_rc_query(ep_qp_core(side->qp), &view);
	return view.state == PLX_QP_ERROR;
}

/* A reply leaves. */
void
reply_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len)
{
	struct world *world = side->pair->world;
	const struct plx_pkt *pkt = &emit->pkt;
	enum plx_op_kind kind = (enum plx_op_kind)plx_opcodes[pkt->opcode].kind;
	uint64_t psn;
	const struct op *op;

	if (world->evil)
		return;
	if (kind == PLX_OP_CNP) {
		sim_must(world, pkt->becn && pkt->payload_bytes == PLX_CNP_PAYLOAD_BYTES, "I11",
			 "a CNP without BECN, or of %u bytes", pkt->payload_bytes);
		spend(side, &side->cnp_tokens, "a CNP");
		return;
	}
	/* A QP in error sends its last NAK, or an ACK that it owes, and no CNP. */
	sim_must(world, side->cnp_tokens == 0 || in_error(side), "I11",
		 "a reply leaves before the CNP");
	if (kind == PLX_OP_ACK) {
		check_bitmap(side, pkt, bytes + len - PLX_ICRC_BYTES - pkt->payload_bytes);
		check_ack(side, pkt);
		return;
	}
	if (kind == PLX_OP_READ_RESPONSE) {
		check_read_response(side, pkt,
				    bytes + len - PLX_ICRC_BYTES - pkt->pad - pkt->payload_bytes);
		return;
	}
	psn = psn_absolute(side->epsn, pkt->psn);
	op = request_at(side->peer, psn);
	spend(side, &side->response_tokens, "an atomic's result");
	sim_must(world, psn < side->epsn, "I4", "PSN %06x is answered and was not executed",
		 pkt->psn.v);
	sim_must(world, op == NULL || (op->executed && pkt->atomic_original == op->original), "I5",
		 "an atomic's result is %" PRIu64 ", and it found %" PRIu64, pkt->atomic_original,
		 op ? op->original : 0);
	side->psn_replied = psn + 1 > side->psn_replied ? psn + 1 : side->psn_replied;
}
