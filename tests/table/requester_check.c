/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Passes one answer to the requester and compares everything visible with the expectation, then
 * lets a correct responder answer the rest: each request completes once, in order, with the right
 * bytes. It reports all differences of an answer, not only the first. Start with answer_check().
 */
#include "requester.h"

#include <stdio.h>

enum {
	NOW = 2000,
	ANSWER_MAX = BENCH_MTU + 8
};

struct seen {
	const struct play *play;
	const struct answer *answer;
	const struct expectation *want;
	const struct bench *bench;
	bool same;
	uint32_t completions, failed, flushed, emitted;
	uint32_t placed;
	bool place_wrong;
	struct plx_completion completion[REQS_MAX + 1];
};

static void
differ(struct seen *seen, const char *what, uint64_t got, uint64_t want)
{
	static const char *const bytes[] = {
#define PLX_X(name) #name,
		BYTES_LIST(PLX_X)
#undef PLX_X
	};
	const struct play *p = seen->play;
	const struct answer *a = seen->answer;

	if (seen->same)
		fprintf(stderr,
			"%s, %s, %s, retries %u, RNR retries %u, chunk %u%s, una %u, high %u:\n"
			"  %s psn %u, syndrome %02x, bytes %s: forecast %s\n",
			play_mix_name(p->mix), play_stage_name(p->stage),
			plx_qp_state_name(p->state), p->retry_max, p->rnr_retry_max, p->chunk,
			p->denied ? ", denied" : "", p->una.v, p->high.v,
			plx_opcodes[a->opcode].name, a->psn.v, a->syndrome, bytes[a->bytes],
			plx_verdict_name(seen->want->verdict));
	seen->same = false;
	fprintf(stderr, "    %s: %llu, not %llu\n", what, (unsigned long long)got,
		(unsigned long long)want);
}

static void
expect(struct seen *seen, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		differ(seen, what, got, want);
}

/* ---- the answer ---- */

static uint32_t
bytes_of(enum bytes_class bytes, uint32_t right)
{
	switch (bytes) {
	case BYTES_NONE:
		return 0;
	case BYTES_ONE:
		return 1;
	case BYTES_LESS:
		return right ? right - 1 : BENCH_MTU - 1;
	case BYTES_MORE:
		return right + 1;
	case BYTES_MTU:
		return BENCH_MTU;
	case BYTES_RIGHT:
	case BYTES_COUNT:
		break;
	}
	return right;
}

void
answer_build(const struct play *play, struct answer *answer)
{
	static uint8_t payload[ANSWER_MAX];
	struct plx_pkt *pkt = &answer->pkt;
	uint32_t right = 0;

	*pkt = (struct plx_pkt){.opcode = answer->opcode,
				.dest_qpn = BENCH_QPN,
				.pkey = PLX_PKEY_DEFAULT,
				.psn = answer->psn,
				.payload = payload};
	for (uint32_t i = 0; i < play->reqs; i++) {
		const struct req *req = &play->req[i];

		if (req_is_read(req) && plx_psn_in(answer->psn, req->psn, req->psns))
			right = response_bytes((uint32_t)plx_psn_diff(answer->psn, req->psn), req);
	}
	if (plx_opcode_has(&plx_opcodes[answer->opcode], PLX_OPF_PAYLOAD))
		pkt->payload_bytes = bytes_of(answer->bytes, right);
	pkt->pad = (uint8_t)(-pkt->payload_bytes & 3);
	for (uint32_t i = 0; i < pkt->payload_bytes; i++)
		payload[i] = response_byte(answer->psn, i);
	if (plx_opcode_has(&plx_opcodes[answer->opcode], PLX_OPF_AETH))
		pkt->aeth.syndrome = answer->syndrome;
	if (plx_opcode_has(&plx_opcodes[answer->opcode], PLX_OPF_ATOMIC_ACK_ETH))
		pkt->atomic_original = BENCH_ORIGINAL;
}

/* ---- its actions ---- */

static void
note_completion(void *user, const struct plx_completion *completion)
{
	struct seen *seen = user;

	if (seen->completions <= REQS_MAX)
		seen->completion[seen->completions] = *completion;
	seen->completions++;
}

static void
gather(struct seen *seen)
{
	const struct plx_actions *out = &seen->bench->out;
	const uint8_t *start = seen->bench->recv_arena + (seen->want->place_at - BENCH_VA);

	for (uint32_t i = 0; i < out->count; i++) {
		const struct plx_action *action = &out->list[i];

		plx_action_apply_memory(action);
		if (action->kind == PLX_ACT_COMPLETE)
			note_completion(seen, &action->completion);
		if (action->kind == PLX_ACT_EMIT)
			seen->emitted++;
		if (action->kind == PLX_ACT_EVENT) {
			seen->failed += action->event.kind == PLX_EVENT_FAILED;
			seen->flushed += action->event.kind == PLX_EVENT_FLUSHED;
		}
		if (action->kind != PLX_ACT_PLACE)
			continue;
		seen->place_wrong |= action->place.dst != start + seen->placed;
		seen->placed += action->place.bytes;
	}
}

static void
compare_completions(struct seen *seen)
{
	const struct expectation *want = seen->want;
	uint32_t first = seen->play->completed;
	uint32_t count = (want->error ? seen->play->reqs : want->completed) - first;

	expect(seen, "completions", seen->completions, count);
	for (uint32_t i = 0; i < seen->completions && i < count; i++) {
		const struct plx_completion *each = &seen->completion[i];
		const struct req *req = &seen->play->req[first + i];
		enum plx_wc_status status = PLX_WC_SUCCESS;

		if (first + i >= want->completed)
			status = first + i == want->completed ? want->status : PLX_WC_FLUSHED;
		expect(seen, "wr_id", each->wr_id, first + i);
		expect(seen, "status", each->status, status);
		expect(seen, "op", each->op, req->op);
		expect(seen, "flags", each->flags, 0);
		expect(seen, "qpn", each->qpn, BENCH_QPN);
		if (status == PLX_WC_SUCCESS)
			expect(seen, "bytes", each->bytes, req_has_response(req) ? req->bytes : 0);
	}
}

static void
compare_view(struct seen *seen, const struct plx_rc_view *before)
{
	const struct expectation *want = seen->want;
	struct plx_rc_view after;

	memset(&after, 0, sizeof(after));
	plx_rc_query(seen->bench->qp, &after);
	expect(seen, "state", after.state, want->error ? PLX_QP_ERROR : seen->play->state);
	expect(seen, "events of failure", seen->failed, want->error);
	if (want->error)
		return;
	expect(seen, "unacked", after.psn_unacked.v, want->una.v);
	expect(seen, "next", after.psn_next.v, want->next.v);
	expect(seen, "high", after.psn_high.v, want->high.v);
	expect(seen, "retries left", after.retries_left, want->retries_left);
	expect(seen, "RNR retries left", after.rnr_retries_left, want->rnr_retries_left);
	expect(seen, "RNR waiting", after.rnr_waiting, want->rnr_waiting);
	if (want->verdict == PLX_VERDICT_STALE ||
	    (want->verdict == PLX_VERDICT_NAK_AGAIN && plx_psn_eq(want->una, seen->play->una)))
		expect(seen, "the next question is put off",
		       after.ack_deadline_ns != before->ack_deadline_ns, want->puts_off);
	if (want->puts_off)
		after.ack_deadline_ns = before->ack_deadline_ns;
	if (want->verdict == PLX_VERDICT_GHOST || want->verdict == PLX_VERDICT_STALE ||
	    want->verdict == PLX_VERDICT_SYNDROME)
		expect(seen, "a refused packet that changed the view",
		       memcmp(before, &after, sizeof(after)) != 0, false);
}

/* ---- afterwards ---- */

static void
compare_memory(struct seen *seen)
{
	for (uint32_t i = 0; i < seen->play->reqs; i++) {
		const struct req *req = &seen->play->req[i];
		const uint8_t *at = seen->bench->recv_arena + (req->local - BENCH_VA);

		if (req_is_atomic(req)) {
			uint64_t original = BENCH_ORIGINAL;

			expect(seen, "the original in memory", memcmp(at, &original, 8) != 0, 0);
		}
		for (uint32_t k = 0; req_is_read(req) && k < req->bytes; k++)
			if (at[k] !=
			    response_byte(plx_psn_add(req->psn, k / BENCH_MTU), k % BENCH_MTU)) {
				differ(seen, "a byte that was read", at[k], k);
				return;
			}
	}
}

/* The rest completes normally, except for a requester without retries left: it may only fail in
 * order. */
static void
compare_sequel(struct seen *seen, struct bench *bench, uint64_t now)
{
	uint32_t reqs = seen->play->reqs;

	seen->completions = seen->want->completed;
	if (!play_out(bench, now, note_completion, seen)) {
		differ(seen, "the play does not end", 0, 1);
		return;
	}
	expect(seen, "completions at the end", seen->completions, reqs);
	for (uint32_t i = seen->want->completed; i < seen->completions && i < reqs; i++) {
		expect(seen, "wr_id at the end", seen->completion[i].wr_id, i);
		if (seen->play->retry_max)
			expect(seen, "status at the end", seen->completion[i].status,
			       PLX_WC_SUCCESS);
	}
	if (seen->play->retry_max)
		compare_memory(seen);
}

bool
answer_check(struct bench *bench, const struct play *play, const struct answer *answer,
	     const struct expectation *want)
{
	struct seen seen = {
		.play = play, .answer = answer, .want = want, .bench = bench, .same = true};
	struct plx_rc_view before;
	uint64_t now = NOW;

	memset(&before, 0, sizeof(before));
	plx_rc_query(bench->qp, &before);
	if (want->puts_off) /* the last moment at which it matters */
		now = before.ack_deadline_ns - 1;
	expect(&seen, "verdict", bench_feed(bench, &answer->pkt, now), want->verdict);
	gather(&seen);
	/* completions only: nothing may be sent, or the go-back point would move */
	plx_actions_reset(&bench->out);
	expect(&seen, "packets without a budget", plx_rc_transmit(bench->qp, now, 0, &bench->out),
	       0);
	gather(&seen);
	expect(&seen, "packets without a budget", seen.emitted, 0);
	expect(&seen, "bytes placed", seen.placed, want->placed);
	expect(&seen, "placed at the wrong place", seen.place_wrong, false);
	compare_completions(&seen);
	compare_view(&seen, &before);
	if (want->error)
		expect(&seen, "events of flush", seen.flushed, 1);
	else if (!play->denied)
		compare_sequel(&seen, bench, now);
	return seen.same;
}
