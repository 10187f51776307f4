/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The decision table for a requester of docs/protocol.md: play and answer in, expectation out.
 * Written from the page, not from lib/proto/transport. Start with requester_model(). An answer's
 * acknowledgement is applied first; take() computes how far it reaches.
 */
#include "requester.h"

static struct plx_psn
end_of(const struct req *req)
{
	return plx_psn_add(req->psn, req->psns);
}

/* Which request a PSN in [una, high) was spent on. */
static const struct req *
req_at(const struct play *play, struct plx_psn psn)
{
	for (uint32_t i = 0; i < play->reqs; i++)
		if (plx_psn_in(psn, play->req[i].psn, play->req[i].psns))
			return &play->req[i];
	return NULL;
}

/* The first PSN in [una, high) that only data can answer; `high` when there is no such PSN. */
static struct plx_psn
first_unanswered(const struct play *play)
{
	for (uint32_t i = 0; i < play->reqs; i++) {
		const struct req *req = &play->req[i];

		if (!req_has_response(req) || plx_psn_diff(end_of(req), play->una) <= 0)
			continue;
		return plx_psn_before(req->psn, play->una) ? play->una : req->psn;
	}
	return play->high;
}

/* Everything before `to` is acknowledged. Progress is a new start for all that counts or waits. */
static void
advance(const struct play *play, struct expectation *out, struct plx_psn to)
{
	if (plx_psn_eq(to, out->una))
		return;
	out->una = to;
	if (plx_psn_before(out->next, to))
		out->next = to;
	out->retries_left = play->retry_max;
	out->rnr_retries_left = play->rnr_retry_max;
	out->rnr_waiting = false;
	for (out->completed = 0; out->completed < play->reqs; out->completed++)
		if (plx_psn_diff(end_of(&play->req[out->completed]), to) > 0)
			break;
}

/* Apply what an answer acknowledges, everything before `to`, as far as possible: false when a
 * READ or atomic without its data precedes `to`. */
static bool
take(const struct play *play, struct expectation *out, struct plx_psn to)
{
	struct plx_psn limit = first_unanswered(play);

	if (plx_psn_diff(to, limit) <= 0) {
		advance(play, out, to);
		return true;
	}
	advance(play, out, limit);
	return false;
}

static void
fail_with(struct expectation *out, enum plx_wc_status status)
{
	out->error = true;
	out->status = status;
}

/* Go back to the oldest unacknowledged PSN, and use up a retry for it: once for each una, and
 * only when something was sent from there on. A retransmission that is lost again does not use
 * up another. */
static void
go_back(const struct play *play, struct expectation *out, enum plx_verdict verdict)
{
	bool progress = !plx_psn_eq(out->una, play->una);

	bool again = play->went_back && !progress;

	if ((again && !play->again) || plx_psn_eq(out->next, out->una)) {
		out->verdict = PLX_VERDICT_NAK_AGAIN;
		return;
	}
	if (again) {
		out->verdict = PLX_VERDICT_LOST_AGAIN;
		out->next = out->una;
		return;
	}
	out->verdict = verdict;
	if (!out->retries_left) {
		fail_with(out, PLX_WC_RETRY_EXCEEDED);
		return;
	}
	out->retries_left--;
	out->next = out->una;
}

static void
take_rnr(const struct play *play, struct expectation *out)
{
	if (out->rnr_waiting) { /* one wait at a time */
		out->verdict = PLX_VERDICT_NAK_AGAIN;
		return;
	}
	out->verdict = PLX_VERDICT_NAK_RNR;
	out->retries_left = play->retry_max; /* the peer is there */
	if (play->rnr_retry_max != PLX_RNR_RETRY_FOREVER) {
		if (!out->rnr_retries_left) {
			fail_with(out, PLX_WC_RNR_RETRY_EXCEEDED);
			return;
		}
		out->rnr_retries_left--;
	}
	out->next = out->una;
	out->rnr_waiting = true;
}

static void
take_nak(const struct play *play, uint8_t code, struct expectation *out)
{
	static const struct {
		enum plx_verdict verdict;
		enum plx_wc_status status;
	} fatal[] = {
		[PLX_NAK_INVALID_REQUEST] = {PLX_VERDICT_NAK_INVALID,
					     PLX_WC_REMOTE_INVALID_REQUEST},
		[PLX_NAK_REMOTE_ACCESS] = {PLX_VERDICT_NAK_ACCESS, PLX_WC_REMOTE_ACCESS},
		[PLX_NAK_REMOTE_OPERATION] = {PLX_VERDICT_NAK_OPERATION, PLX_WC_REMOTE_OPERATION},
	};

	if (code == PLX_NAK_SEQUENCE) {
		go_back(play, out, PLX_VERDICT_NAK_SEQUENCE);
		return;
	}
	out->verdict = fatal[code].verdict;
	fail_with(out, fatal[code].status);
}

static void
model_ack(const struct play *play, const struct answer *answer, struct expectation *out)
{
	uint8_t type = answer->syndrome & PLX_AETH_TYPE_MASK;
	uint8_t value = answer->syndrome & PLX_AETH_VALUE_MASK;
	struct plx_psn to = answer->psn;

	if ((type != PLX_AETH_ACK && type != PLX_AETH_RNR && type != PLX_AETH_NAK) ||
	    (type == PLX_AETH_NAK && value > PLX_NAK_REMOTE_OPERATION)) {
		out->verdict = PLX_VERDICT_SYNDROME;
		return;
	}
	if (type == PLX_AETH_ACK)
		to = plx_psn_add(to, 1);
	out->verdict = PLX_VERDICT_ACKED;
	if (!take(play, out, to))
		go_back(play, out, PLX_VERDICT_RESPONSE_LOST);
	else if (type == PLX_AETH_RNR)
		take_rnr(play, out);
	else if (type == PLX_AETH_NAK)
		take_nak(play, value, out);
}

/* Malformed: the wrong length is reported before the wrong position in the READ. FIRST and
 * MIDDLE are equivalent, and LAST and ONLY: after going back into a READ its response starts
 * anew in the middle, while the old response may still be in flight. */
static enum plx_wc_status
response_fault(const struct play *play, const struct req *req, const struct answer *answer)
{
	uint32_t index = (uint32_t)plx_psn_diff(answer->psn, req->psn);
	bool ends = answer->opcode == PLX_RC_READ_RESPONSE_LAST ||
		    answer->opcode == PLX_RC_READ_RESPONSE_ONLY;

	if (answer->pkt.payload_bytes != (req_is_atomic(req) ? 0 : response_bytes(index, req)))
		return PLX_WC_LOCAL_LENGTH;
	if (!req_is_atomic(req) &&
	    ends != (index == req->psns - 1 || (index + 1) % play->chunk == 0))
		return PLX_WC_BAD_RESPONSE;
	return PLX_WC_SUCCESS;
}

static void
model_response(const struct play *play, const struct answer *answer, struct expectation *out)
{
	const struct req *req = req_at(play, answer->psn);
	uint32_t index = (uint32_t)plx_psn_diff(answer->psn, req->psn);
	bool atomic = answer->opcode == PLX_RC_ATOMIC_ACK;
	enum plx_wc_status fault;

	if (atomic ? !req_is_atomic(req) : !req_is_read(req)) {
		out->verdict = PLX_VERDICT_GHOST; /* nobody requested that */
		return;
	}
	if (!take(play, out, answer->psn)) {
		go_back(play, out, PLX_VERDICT_RESPONSE_LOST);
		return;
	}
	fault = response_fault(play, req, answer);
	if (fault != PLX_WC_SUCCESS) {
		out->verdict = PLX_VERDICT_RESPONSE_BAD;
		fail_with(out, fault);
		return;
	}
	out->placed = atomic ? 8 : answer->pkt.payload_bytes;
	out->place_at = req->local + (uint64_t)index * BENCH_MTU;
	if (play->denied && out->placed) {
		out->placed = 0;
		out->verdict = PLX_VERDICT_RESPONSE_DENIED;
		fail_with(out, PLX_WC_LOCAL_PROTECTION);
		return;
	}
	out->verdict = PLX_VERDICT_RESPONSE;
	advance(play, out, plx_psn_add(answer->psn, 1));
}

void
requester_model(const struct play *play, const struct answer *answer, struct expectation *out)
{
	*out = (struct expectation){.completed = play->completed,
				    .una = play->una,
				    .next = play->next,
				    .high = play->high,
				    .retries_left = play->retries_left,
				    .rnr_retries_left = play->rnr_retries_left,
				    .rnr_waiting = play->rnr_waiting};
	if (plx_psn_before(answer->psn, play->una))
		out->verdict = PLX_VERDICT_STALE;
	else if (plx_psn_diff(answer->psn, play->high) >= 0)
		out->verdict = PLX_VERDICT_GHOST;
	else if (answer->opcode == PLX_RC_ACK)
		model_ack(play, answer, out);
	else
		model_response(play, answer, out);
	out->puts_off =
		play->asked_again && plx_opcodes[answer->opcode].kind == PLX_OP_READ_RESPONSE &&
		(out->verdict == PLX_VERDICT_STALE || out->verdict == PLX_VERDICT_NAK_AGAIN);
}
