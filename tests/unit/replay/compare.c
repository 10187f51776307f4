/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares what a responder of ours answered with what the recorded one answered, by the rules of
 * docs/interop-rules.md, and counts by which rule each packet passed.
 * It never forgives a difference that no rule names. Start with answers_compare().
 */
#include "test.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>

static uint8_t
syndrome_type(const struct plx_pkt *pkt)
{
	return pkt->aeth.syndrome & PLX_AETH_TYPE_MASK;
}

static bool
is_ack(const struct plx_pkt *pkt)
{
	return plx_opcodes[pkt->opcode].kind == PLX_OP_ACK && syndrome_type(pkt) == PLX_AETH_ACK;
}

/* Rule 1: the same packet. Credits of an ACK are not compared; everything else is. Rule 4: the MSN
 * is the recorded one, or, after a burst, counts requests of that burst too. */
static bool
same(const struct plx_pkt *ours, const struct plx_pkt *theirs, uint32_t burst)
{
	const struct plx_opcode *op = &plx_opcodes[ours->opcode];

	if (ours->opcode != theirs->opcode || !plx_psn_eq(ours->psn, theirs->psn) ||
	    ours->dest_qpn != theirs->dest_qpn || ours->pkey != theirs->pkey ||
	    ours->pad != theirs->pad || ours->payload_bytes != theirs->payload_bytes ||
	    memcmp(ours->payload, theirs->payload, ours->payload_bytes))
		return false;
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH) &&
	    ours->atomic_original != theirs->atomic_original)
		return false;
	if (!plx_opcode_has(op, PLX_OPF_AETH))
		return true;
	if (((ours->aeth.msn.v - theirs->aeth.msn.v) & PLX_PSN_MASK) >= burst)
		return false;
	if (syndrome_type(ours) == PLX_AETH_ACK)
		return syndrome_type(theirs) == PLX_AETH_ACK;
	return ours->aeth.syndrome == theirs->aeth.syndrome;
}

/* Rule 2: an answer of ours that is not in the capture was lost on the wire before it. That shows:
 * a later recorded ACK covers it, or the requester asked again and got the same response. */
static bool
lost(const struct flow *flow, uint32_t from, const struct plx_pkt *ours)
{
	for (uint32_t i = from; i < flow->answers; i++) {
		const struct plx_pkt *later = &flow->answer[i]->pkt;

		if (is_ack(ours) && is_ack(later) && !plx_psn_before(later->psn, ours->psn))
			return true;
		if (plx_opcodes[ours->opcode].kind == PLX_OP_READ_RESPONSE &&
		    ours->opcode == later->opcode && plx_psn_eq(ours->psn, later->psn))
			return true;
	}
	return false;
}

/* Rule 3: a recorded ACK that we did not send is covered by a later one of ours. */
static bool
coalesced(const struct outcome *outcome, uint32_t from, const struct plx_pkt *theirs,
	  uint32_t burst)
{
	bool covered = false;

	for (uint32_t i = from; i < outcome->answers && is_ack(theirs); i++) {
		const struct plx_pkt *later = &outcome->answer[i].pkt;

		if (same(later, theirs, burst))
			return false; /* we did send it, only not here */
		covered |= is_ack(later) && !plx_psn_before(later->psn, theirs->psn);
	}
	return covered;
}

static void
show(const char *who, const struct plx_pkt *pkt)
{
	fprintf(stderr, "  %-8s %s psn=%u len=%u", who, plx_opcodes[pkt->opcode].name, pkt->psn.v,
		pkt->payload_bytes);
	if (plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_AETH))
		fprintf(stderr, " syndrome=%u msn=%u", pkt->aeth.syndrome, pkt->aeth.msn.v);
	fprintf(stderr, " qp=%u pad=%u pkey=%x\n", pkt->dest_qpn, pkt->pad, pkt->pkey);
}

static void
differ(const char *name, const struct flow *flow, const struct outcome *outcome, uint32_t ours,
       uint32_t theirs)
{
	fprintf(stderr, "%s: responder %u, answer %u of ours:\n", name, flow->qpn, ours);
	if (ours < outcome->answers)
		show("ours", &outcome->answer[ours].pkt);
	if (theirs < flow->answers) {
		show("recorded", &flow->answer[theirs]->pkt);
		fprintf(stderr, "  recorded in frame %u\n", flow->answer[theirs]->number);
	}
	fail();
}

void
answers_compare(const char *name, const struct flow *flow, const struct outcome *outcome,
		uint32_t burst, struct tally *tally)
{
	uint32_t ours = 0, theirs = 0;

	tally->requests += flow->requests;
	tally->recorded += flow->answers;
	tally->bytes_placed += outcome->bytes_placed;
	while (ours < outcome->answers || theirs < flow->answers) {
		const struct plx_pkt *mine = &outcome->answer[ours].pkt;
		const struct plx_pkt *rec =
			theirs < flow->answers ? &flow->answer[theirs]->pkt : NULL;

		if (ours < outcome->answers && rec && same(mine, rec, burst)) {
			ours++;
			theirs++;
			tally->same++;
		} else if (rec && coalesced(outcome, ours, rec, burst)) {
			theirs++;
			tally->coalesced++;
		} else if (ours < outcome->answers && lost(flow, theirs, mine)) {
			ours++;
			tally->lost++;
		} else {
			differ(name, flow, outcome, ours, theirs);
		}
	}
}
