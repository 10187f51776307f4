/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending the responder's ACKs, NAKs, READ responses, atomic results and CNPs. It never judges a
 * packet; responder.c does.
 * Start with reply_transmit_one().
 *
 * Replies are sent in PSN order, because a reply at PSN p acknowledges everything before p: if an
 * ACK overtook a READ response, the requester would conclude that the response was lost. READs and
 * atomics are in a ring in PSN order, also after they are answered, for duplicates; the oldest is
 * forgotten first. Of ACKs and NAKs at most one is owed at a time, the newest ACK or one NAK, since
 * each includes earlier ones.
 */
#include "keep.h"

bool
reply_is_due(const struct plx_rc *qp)
{
	return qp->resp.owed != OWED_NOTHING || qp->resp.res_pending > 0 || qp->resp.cnp_owed;
}

/* The i-th remembered resource, oldest first. */
static struct resource *
res_at(const struct plx_rc *qp, uint32_t i)
{
	const struct responder *resp = &qp->resp;

	return &qp->res[reply_slot_behind(qp, resp->res_newest,
					  qp->caps.responder_resources - resp->res_count + 1 + i)];
}

/* Number of resources between `slot` and the newest. */
static uint32_t
res_age(const struct plx_rc *qp, uint32_t slot)
{
	uint32_t newest = qp->resp.res_newest;

	return newest >= slot ? newest - slot : newest + qp->caps.responder_resources - slot;
}

struct resource *
reply_find(struct plx_rc *qp, struct plx_psn psn)
{
	/* Newest first: after 2^24 packets an old resource may have the same PSNs. */
	for (uint32_t i = qp->resp.res_count; i-- > 0;) {
		struct resource *res = res_at(qp, i);

		if (plx_psn_in(psn, res->first, res->packets))
			return res;
	}
	return NULL;
}

bool
reply_has_place(const struct plx_rc *qp)
{
	if (qp->resp.res_count < qp->caps.responder_resources)
		return true;
	if (qp->caps.responder_resources == 0)
		return false;
	/*
	 * A requester that sends one more has received its oldest answer. A replay of that answer
	 * is for a duplicate in the network, and can be dropped. An answer that was never sent
	 * cannot.
	 */
	return !res_at(qp, 0)->pending || res_at(qp, 0)->answered;
}

/* ---- parts ---- */

static void
remove_part(struct keep *keep, uint32_t i)
{
	keep->parts--;
	memmove(&keep->part[i], &keep->part[i + 1], (keep->parts - i) * sizeof(keep->part[0]));
}

static PLX_COLD void
forget_parts(struct plx_rc *qp, uint32_t slot)
{
	for (uint32_t i = qp->keep->parts; i-- > 0;)
		if (qp->keep->part[i].slot == slot)
			remove_part(qp->keep, i);
}

/* The peer asks for packets [packet, end) while other ones of the same READ are due. It asks only
 * for what is missing, so the others are still expected: what was asked for again goes first.
 * Returns: whether to begin with the new part */
static PLX_COLD bool
add_part(struct plx_rc *qp, const struct resource *res, const struct part_due *part)
{
	struct keep *keep = keep_of(qp);
	struct part_due current = {part->slot, res->reply_next, res->reply_end, res->reply_bytes};
	bool streams = part->end <= current.next && current.end == res->packets;
	uint32_t i;

	if (keep == NULL || keep->parts == PARTS_MAX)
		return streams || keep == NULL;
	for (i = keep->parts; i > 0 && keep->part[i - 1].end == res->packets; i--)
		; /* the rest of the answer, which comes last */
	memmove(&keep->part[i + 1], &keep->part[i], (keep->parts - i) * sizeof(*part));
	keep->part[i] = streams ? current : *part;
	keep->parts++;
	return streams;
}

bool
reply_next_part(struct plx_rc *qp, struct resource *res)
{
	struct keep *keep = qp->keep;
	uint32_t slot = (uint32_t)(res - qp->res);

	for (uint32_t i = 0; i < keep->parts; i++) {
		const struct part_due part = keep->part[i];

		if (part.slot != slot)
			continue;
		res->reply_first = res->reply_next = part.next;
		res->reply_end = part.end;
		res->reply_bytes = part.bytes;
		remove_part(keep, i);
		keep_settle(qp);
		return true;
	}
	return false;
}

struct resource *
reply_remember(struct plx_rc *qp)
{
	struct responder *resp = &qp->resp;

	PLX_ASSERT(reply_has_place(qp));
	resp->res_newest = reply_slot_behind(qp, resp->res_newest, 1);
	if (resp->res_count < qp->caps.responder_resources)
		resp->res_count++;
	if (qp->res[resp->res_newest].pending)
		resp->res_pending--;
	if (plx_unlikely(qp->keep != NULL))
		forget_parts(qp, resp->res_newest);
	/* The slot of the oldest is that of the newest now. */
	if (resp->res_next == resp->res_newest)
		resp->res_next = reply_slot_behind(qp, resp->res_newest, 1);
	return &qp->res[resp->res_newest];
}

/* Reply to `res` from packet `packet` of the request on, with `bytes` from there. */
void
reply_pend(struct plx_rc *qp, struct resource *res, uint32_t packet, uint32_t bytes)
{
	struct responder *resp = &qp->resp;
	uint32_t slot = (uint32_t)(res - qp->res);

	if (resp->res_pending == 0 || res_age(qp, slot) > res_age(qp, resp->res_next))
		resp->res_next = slot;
	if (!res->pending)
		resp->res_pending++;
	res->pending = true;
	res->reply_first = res->reply_next = packet;
	res->reply_end = packet + (res->kind == PLX_OP_READ_REQUEST ? qp_packets(qp, bytes) : 1);
	res->reply_bytes = (packet << qp->mtu_shift) + bytes;
	if (res->kind == PLX_OP_READ_REQUEST)
		res->loaded = (struct loaded){0};
}

PLX_COLD void
reply_repeat(struct plx_rc *qp, struct resource *res, uint32_t packet, uint32_t bytes)
{
	const struct part_due part = {(uint32_t)(res - qp->res), packet,
				      packet + qp_packets(qp, bytes),
				      (packet << qp->mtu_shift) + bytes};

	if (!qp->selective || !res->pending || res->kind != PLX_OP_READ_REQUEST ||
	    part.end == res->packets || add_part(qp, res, &part))
		reply_pend(qp, res, packet, bytes);
}

void
reply_owe(struct plx_rc *qp, enum owed_kind kind, uint8_t syndrome, struct plx_psn psn)
{
	struct responder *resp = &qp->resp;

	/* A NAK acknowledges all earlier packets, so an ACK after it would add nothing. */
	if (kind == OWED_ACK && resp->owed != OWED_NOTHING && resp->owed != OWED_ACK)
		return;
	/*
	 * RNR tells the peer when to try again; the sequence NAK of later packets must not replace
	 * it. Both have the same PSN.
	 */
	if (kind == OWED_NAK && resp->owed == OWED_RNR)
		return;
	resp->owed = (uint8_t)kind;
	resp->owed_syndrome = kind == OWED_ACK ? PLX_AETH_ACK | PLX_AETH_NO_CREDITS : syndrome;
	resp->owed_psn = psn;
}

/* ERROR: send no more READ responses, unless a last NAK must follow them. */
void
reply_forget(struct plx_rc *qp)
{
	struct responder *resp = &qp->resp;

	resp->cnp_owed = false;
	if (qp->keep != NULL)
		qp->keep->parts = 0;
	keep_settle(qp);
	if (resp->owed == OWED_FATAL)
		return;
	for (uint32_t i = 0; i < resp->res_count; i++)
		res_at(qp, i)->pending = false;
	resp->res_pending = 0;
	if (resp->owed != OWED_ACK)
		resp->owed = OWED_NOTHING;
}

/* What a peer that understands it learns from a sequence NAK: bit i is the packet i + 1 behind the
 * missing one. */
static void
emit_bitmap(struct plx_rc *qp, struct plx_emit *emit, struct plx_actions *out)
{
	static const uint8_t none[PLX_NAK_BITMAP_BYTES];
	struct plx_iov *iov = &out->iov[out->iovs++];

	*iov = (struct plx_iov){.base = none, .bytes = sizeof(none)};
	emit->iovs = 1;
	emit_payload(emit, sizeof(none));
	if (qp->keep == NULL)
		return;
	iov->base = qp->keep->said;
	memset(qp->keep->said, 0, sizeof(qp->keep->said));
	for (uint32_t i = 0; i + 1 < PLX_KEEP_PACKETS; i++)
		if (set_has(&qp->keep->requests.has, plx_psn_add(emit->pkt.psn, i + 1)) ||
		    (PLX_MUTANT(NAK_SAYS_TOO_MUCH) && i == 1))
			qp->keep->said[i / 8] |= (uint8_t)(1u << i % 8);
}

static void
emit_owed(struct plx_rc *qp, struct plx_actions *out)
{
	struct responder *resp = &qp->resp;
	struct plx_emit *emit = emit_add(qp, out, PLX_RC_ACK, resp->owed_psn);

	emit->flags = PLX_EMIT_RESPONSE;
	emit->pkt.aeth = (struct plx_aeth){.syndrome = resp->owed_syndrome, .msn = resp->msn};
	if (resp->owed == OWED_ACK)
		plx_count(&qp->counters.acks_sent, 1);
	else if (resp->owed == OWED_RNR)
		plx_count(&qp->counters.rnrs_sent, 1);
	else
		plx_count(&qp->counters.naks_sent, 1);
	if (qp->selective && resp->owed == OWED_NAK)
		emit_bitmap(qp, emit, out);
	resp->owed = OWED_NOTHING;
}

static void
emit_cnp(struct plx_rc *qp, struct plx_actions *out)
{
	static const uint8_t zeros[PLX_CNP_PAYLOAD_BYTES];
	struct plx_emit *emit = emit_add(qp, out, PLX_CNP, plx_psn(0));

	emit->flags = PLX_EMIT_RESPONSE;
	emit->pkt.becn = true;
	emit_payload(emit, sizeof(zeros));
	out->iov[out->iovs++] = (struct plx_iov){.base = zeros, .bytes = sizeof(zeros)};
	emit->iovs = 1;
	qp->resp.cnp_owed = false;
	plx_count(&qp->counters.cnps_sent, 1);
}

static void
emit_atomic_ack(struct plx_rc *qp, struct resource *res, struct plx_actions *out)
{
	struct plx_emit *emit = emit_add(qp, out, PLX_RC_ATOMIC_ACK, res->first);

	emit->flags = PLX_EMIT_RESPONSE;
	emit->pkt.aeth = (struct plx_aeth){.syndrome = PLX_AETH_ACK | PLX_AETH_NO_CREDITS,
					   .msn = qp->resp.msn};
	emit->pkt.atomic_original = res->original;
	plx_count(&qp->counters.responses_sent, 1);
	reply_answered(qp, res);
}

/*
 * The key of a READ was invalidated before its response was sent completely. A first response ends
 * with a NAK, and the QP fails. A replay is dropped: the duplicate may have been made by the
 * network, and the peer may have revoked the key because it has its response.
 */
static void
deny_read_response(struct plx_rc *qp, struct resource *res, struct plx_psn psn,
		   struct plx_actions *out)
{
	if (res->answered) {
		reply_answered(qp, res);
		plx_count(&qp->counters.verdict[PLX_VERDICT_DUPLICATE_DENIED], 1);
		return;
	}
	qp->resp.owed = OWED_NOTHING;
	reply_forget(qp);
	reply_owe(qp, OWED_FATAL, PLX_AETH_NAK | PLX_NAK_REMOTE_ACCESS, psn);
	complete_to_error(qp, PLX_WC_REMOTE_ACCESS, out);
	emit_owed(qp, out);
}

/* As key_resolve(), in the domain of the resource. */
static int
resolve(const struct plx_rc *qp, const struct resource *res, uint64_t va, uint32_t bytes,
	struct plx_iov *out)
{
	const struct plx_access read = {PLX_ACCESS_REMOTE_READ};
	struct plx_access common = {PLX_ACCESS_ALL};

	if (plx_likely(res->domain.id == qp->asker.domain.id))
		return key_resolve(qp, res->rkey, va, bytes, read, out, &common);
	return move_resolve(qp, res, va, bytes, out);
}

enum outcome {
	EMITTED,
	DENIED, /* its key is no longer valid */
	DROPPED,
	LOADS, /* private memory, on its way */
};

/* Send one packet of a READ's response. */
static enum outcome
emit_read_response(struct plx_rc *qp, struct resource *res, struct plx_actions *out)
{
	struct plx_psn psn = plx_psn_add(res->first, res->reply_next);
	uint32_t offset = res->reply_next << qp->mtu_shift;
	uint32_t bytes = res->reply_bytes - offset;
	struct plx_emit *emit;
	int ranges = 0;

	if (bytes > qp->mtu)
		bytes = qp->mtu;
	if (bytes > 0)
		ranges = resolve(qp, res, res->va + offset, bytes, &out->iov[out->iovs]);
	if (ranges < 0)
		return DENIED;
	if (plx_unlikely(ranges & RANGES_PRIVATE) &&
	    !shadow_is_loaded(&res->loaded, offset, bytes)) {
		/* Another program's: nobody here can load it. */
		if (res->domain.id != qp->asker.domain.id)
			return DENIED;
		shadow_load_answer(qp, res, offset, out);
		return LOADS;
	}
	if (plx_unlikely(qp->loads))
		return LOADS;
	ranges = ranges_count(ranges);
	emit = emit_add(qp, out, reply_read_opcode(res), psn);
	emit->flags = PLX_EMIT_RESPONSE;
	emit_payload(emit, bytes);
	emit->iovs = (uint8_t)ranges;
	out->iovs += (uint32_t)ranges;
	if (plx_opcode_has(&plx_opcodes[emit->pkt.opcode], PLX_OPF_AETH))
		emit->pkt.aeth = (struct plx_aeth){.syndrome = PLX_AETH_ACK | PLX_AETH_NO_CREDITS,
						   .msn = qp->resp.msn};
	plx_count(&qp->counters.responses_sent, 1);
	plx_count(&qp->counters.bytes_sent, bytes);
	if (++res->reply_next == res->reply_end)
		reply_answered(qp, res);
	return EMITTED;
}

bool
plx_rc_owes(const struct plx_rc *qp)
{
	if (qp->resp.cnp_owed || qp->resp.owed == OWED_NOTHING || qp->resp.res_pending == 0)
		return qp->resp.cnp_owed || qp->resp.owed != OWED_NOTHING;
	return reply_ack_is_older(qp, &qp->res[reply_oldest(qp)]);
}

bool
plx_rc_owes_only_ack(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;

	return qp->resp.owed == OWED_ACK && qp->resp.res_pending == 0 && !qp->resp.cnp_owed &&
	       req->cursor == req->tail && req->head == req->done && qp->state == PLX_QP_RTS &&
	       !(qp->slow_path & SLOW_PATH_PROBE);
}

/*
 * Send one packet of the reply to `res`; a denied replay is dropped instead. The first packet has
 * an AETH, which also serves as any ACK owed for earlier packets.
 */
static enum outcome
emit_answer(struct plx_rc *qp, struct resource *res, struct plx_actions *out)
{
	bool says_ack = reply_ack_is_older(qp, res);
	bool replay = res->answered;
	enum outcome outcome = EMITTED;

	if (res->kind != PLX_OP_READ_REQUEST)
		emit_atomic_ack(qp, res, out);
	else
		outcome = emit_read_response(qp, res, out);
	if (outcome == DENIED) {
		deny_read_response(qp, res, plx_psn_add(res->first, res->reply_next), out);
		return replay ? DROPPED : DENIED;
	}
	if (says_ack && outcome == EMITTED)
		qp->resp.owed = OWED_NOTHING;
	return outcome;
}

/** Send the next reply owed to the peer, in PSN order. @returns whether a packet was sent */
bool
reply_transmit_one(struct plx_rc *qp, struct plx_actions *out)
{
	struct responder *resp = &qp->resp;
	struct resource *res;

	if (resp->cnp_owed) {
		emit_cnp(qp, out);
		return true;
	}
	while (resp->res_pending > 0) {
		resp->res_next = reply_oldest(qp);
		res = &qp->res[resp->res_next];
		if (res->reply_next != res->reply_first && reply_ack_is_older(qp, res))
			break;
		switch (emit_answer(qp, res, out)) {
		case EMITTED:
		case DENIED: /* a NAK was sent */
			return true;
		case LOADS:
			return false;
		case DROPPED:
			break;
		}
	}
	if (resp->owed == OWED_NOTHING)
		return false;
	emit_owed(qp, out);
	return true;
}
