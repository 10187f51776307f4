/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Feeds one probe to the responder and compares everything visible with the forecast: verdict,
 * memory actions, completions, events, packets, the queue pair's view. It reports all differences
 * of a probe, not only the first. Start with probe_check().
 */
#include "responder.h"

#include <stdio.h>

enum {
	NOW = 2000,
	BUDGET = 64,
	EMITS_MAX = 2 * BUDGET,
	COMPLETIONS_MAX = 8,
	PENDING_VA = 32 * BENCH_MTU
};

/* Everything that the queue pair requested, in order. */
struct seen {
	const struct scene *scene;
	const struct probe *probe;
	const struct forecast *want;
	bool same;
	uint32_t emits, completions, failed, flushed;
	struct plx_emit emit[EMITS_MAX];
	const uint8_t *emit_base[EMITS_MAX];
	uint32_t emit_bytes[EMITS_MAX];
	struct plx_completion completion[COMPLETIONS_MAX];
	uint32_t placed, atomics;
	bool place_wrong;
};

static const char *
verdict_name(enum plx_verdict verdict)
{
	return plx_verdict_name(verdict);
}

static void
differ(struct seen *seen, const char *what, uint64_t got, uint64_t want)
{
	static const char *const relations[] = {
#define PLX_X(name) #name,
		RELATION_LIST(PLX_X)
#undef PLX_X
	};
	static const char *const payloads[] = {
#define PLX_X(name) #name,
		PAYLOAD_LIST(PLX_X)
#undef PLX_X
	};
	static const char *const reths[] = {
#define PLX_X(name) #name,
		RETH_LIST(PLX_X)
#undef PLX_X
	};
	static const char *const keys[] = {
#define PLX_X(name) #name,
		BENCH_KEY_LIST(PLX_X)
#undef PLX_X
	};
	static const char *const twists[] = {"", ", misaligned", ", other operand"};
	const struct scene *s = seen->scene;
	const struct probe *p = seen->probe;

	if (seen->same)
		fprintf(stderr,
			"%s, past %s, open %s, receive %s, gap %s%s%s, base %u:\n"
			"  %s psn %s, payload %s, reth %s, key %s%s%s: forecast %s\n",
			plx_qp_state_name(s->state), past_names[s->past_kind], open_names[s->open],
			recv_names[s->recv], gap_names[s->gap], s->enabled ? "" : ", disabled",
			s->revoked ? ", revoked" : "", s->base.v, plx_opcodes[p->opcode].name,
			relations[p->relation], payloads[p->payload], reths[p->reth], keys[p->key],
			p->ack_request ? ", AckReq" : "", twists[p->twist],
			verdict_name(seen->want->verdict));
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

/* ---- gathering ---- */

static void
see_memory(struct seen *seen, const struct bench *bench, const struct plx_action *action)
{
	const struct forecast *want = seen->want;
	const uint8_t *start = want->to_recv ? bench->recv_arena + want->recv_offset
					     : bench_host(bench, want->place_key, want->place_va);

	if (action->kind == PLX_ACT_ATOMIC) {
		const struct plx_atomic_eth *eth = &seen->probe->pkt.atomic;

		seen->atomics++;
		seen->place_wrong |=
			action->atomic.target != start ||
			action->atomic.swap_add != eth->swap_add ||
			(action->atomic.cmp_swap && action->atomic.compare != eth->compare) ||
			action->atomic.cmp_swap != (seen->probe->opcode == PLX_RC_CMP_SWAP);
		return;
	}
	seen->place_wrong |= action->place.dst != start + seen->placed ||
			     action->place.src != seen->probe->pkt.payload + seen->placed ||
			     !action->place.bytes;
	seen->placed += action->place.bytes;
}

static void
see_emit(struct seen *seen, const struct bench *bench, const struct plx_emit *emit)
{
	BENCH_CHECK(seen->emits < EMITS_MAX);
	seen->emit[seen->emits] = *emit;
	seen->emit_base[seen->emits] = NULL;
	seen->emit_bytes[seen->emits] = 0;
	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &bench->out.iov[emit->iov_first + i];

		if (!i)
			seen->emit_base[seen->emits] = iov->base;
		else
			BENCH_CHECK(iov->base == iov[-1].base + iov[-1].bytes);
		seen->emit_bytes[seen->emits] += iov->bytes;
	}
	seen->emits++;
}

static void
gather(struct seen *seen, const struct bench *bench)
{
	for (uint32_t i = 0; i < bench->out.count; i++) {
		const struct plx_action *action = &bench->out.list[i];

		switch ((enum plx_action_kind)action->kind) {
		case PLX_ACT_PLACE:
		case PLX_ACT_ATOMIC:
			see_memory(seen, bench, action);
			break;
		case PLX_ACT_COMPLETE:
			BENCH_CHECK(seen->completions < COMPLETIONS_MAX);
			seen->completion[seen->completions++] = action->completion;
			break;
		case PLX_ACT_EVENT:
			seen->failed += action->event.kind == PLX_EVENT_FAILED;
			seen->flushed += action->event.kind == PLX_EVENT_FLUSHED;
			break;
		case PLX_ACT_EMIT:
			see_emit(seen, bench, &action->emit);
			break;
		case PLX_ACT_LOAD: /* no row has private memory */
		case PLX_ACT_NONE:
			BENCH_CHECK(false);
		}
	}
}

/* ---- comparing ---- */

static void
compare_memory(struct seen *seen)
{
	expect(seen, "bytes placed", seen->placed, seen->want->place_bytes);
	expect(seen, "atomics executed", seen->atomics, seen->want->atomic);
	expect(seen, "placed at the wrong place", seen->place_wrong, false);
}

static void
compare_completions(struct seen *seen)
{
	const struct forecast *want = seen->want;
	uint32_t count = want->completes + (want->error ? want->recvs : 0);
	const struct plx_completion *first = seen->completion;

	expect(seen, "completions", seen->completions, count);
	for (uint32_t i = 0; i < seen->completions; i++) {
		const struct plx_completion *each = &seen->completion[i];

		expect(seen, "wr_id", each->wr_id, i);
		expect(seen, "qpn", each->qpn, BENCH_QPN);
		expect(seen, "of the receive queue", each->flags & PLX_WC_RECV, PLX_WC_RECV);
		if (i >= want->completes)
			expect(seen, "flush status", each->status, PLX_WC_FLUSHED);
	}
	if (!want->completes || !seen->completions)
		return;
	if (want->any_error) {
		expect(seen, "a status of success", first->status == PLX_WC_SUCCESS, false);
		return;
	}
	expect(seen, "status", first->status, want->status);
	if (want->status != PLX_WC_SUCCESS)
		return;
	expect(seen, "bytes", first->bytes, want->recv_bytes);
	expect(seen, "op", first->op, want->recv_op);
	expect(seen, "flags", first->flags, want->recv_flags);
	if (want->recv_flags & PLX_WC_IMM)
		expect(seen, "imm", first->imm, seen->probe->pkt.imm);
	if (want->recv_flags & PLX_WC_INV)
		expect(seen, "inv_key", first->inv_key.v, seen->probe->pkt.inv_key);
}

static uint8_t
read_opcode(uint32_t index, uint32_t count)
{
	if (count == 1)
		return PLX_RC_READ_RESPONSE_ONLY;
	if (!index)
		return PLX_RC_READ_RESPONSE_FIRST;
	return index == count - 1 ? PLX_RC_READ_RESPONSE_LAST : PLX_RC_READ_RESPONSE_MIDDLE;
}

static void
compare_packet(struct seen *seen, uint32_t at, uint8_t opcode, struct plx_psn psn)
{
	const struct plx_pkt *pkt = &seen->emit[at].pkt;

	expect(seen, "opcode", pkt->opcode, opcode);
	expect(seen, "psn", pkt->psn.v, psn.v);
	expect(seen, "dest_qpn", pkt->dest_qpn, BENCH_PEER);
	expect(seen, "pkey", pkt->pkey, PLX_PKEY_DEFAULT);
	expect(seen, "ack_request", pkt->ack_request, false);
	expect(seen, "solicited", pkt->solicited, false);
	expect(seen, "payload bytes", pkt->payload_bytes, seen->emit_bytes[at]);
	expect(seen, "pad", pkt->pad, -pkt->payload_bytes & 3);
	if (!plx_opcode_has(&plx_opcodes[opcode], PLX_OPF_AETH))
		return;
	expect(seen, "syndrome", pkt->aeth.syndrome, seen->want->syndrome);
	expect(seen, "msn", pkt->aeth.msn.v, seen->want->reply_msn.v);
}

static void
compare_read(struct seen *seen, const struct bench *bench, uint32_t at)
{
	const struct forecast *want = seen->want;
	uint32_t count = (want->read_bytes + BENCH_MTU - 1) / BENCH_MTU;

	count = count ? count : 1;
	if (count <= BUDGET)
		expect(seen, "responses", seen->emits - at, count);
	for (uint32_t i = 0; at + i < seen->emits; i++) {
		uint32_t left = want->read_bytes - i * BENCH_MTU;

		compare_packet(seen, at + i, read_opcode(i, count),
			       plx_psn_add(want->reply_psn, i));
		expect(seen, "bytes of a response", seen->emit_bytes[at + i],
		       left < BENCH_MTU ? left : BENCH_MTU);
		if (seen->emit_bytes[at + i])
			expect(seen, "where a response reads", (uintptr_t)seen->emit_base[at + i],
			       (uintptr_t)bench_host(bench, want->read_key, want->read_va) +
				       (size_t)i * BENCH_MTU);
	}
}

/* READs that waited for an answer get it before anything that came after them. */
static uint32_t
compare_pending(struct seen *seen, const struct bench *bench)
{
	/* unless it fails without notifying the peer, it receives nothing more */
	if (seen->scene->gap != GAP_READS || (seen->want->error && seen->want->reply == REPLY_NONE))
		return 0;
	if (seen->emits < REMEMBERED) {
		differ(seen, "responses that were owed", seen->emits, REMEMBERED);
		return seen->emits;
	}
	for (uint32_t i = 0; i < REMEMBERED; i++) {
		expect(seen, "opcode of an owed response", seen->emit[i].pkt.opcode,
		       PLX_RC_READ_RESPONSE_ONLY);
		expect(seen, "psn of an owed response", seen->emit[i].pkt.psn.v,
		       plx_psn_sub(seen->scene->expected, REMEMBERED - i).v);
		expect(seen, "where an owed response reads", (uintptr_t)seen->emit_base[i],
		       (uintptr_t)bench->arena + PENDING_VA);
	}
	return REMEMBERED;
}

/* Behind answers that are repeated, the reply is the last packet. */
static bool
skip_replays(struct seen *seen, uint32_t *at)
{
	const struct forecast *want = seen->want;
	uint32_t count = want->reply != REPLY_NONE;

	if (want->reply == REPLY_READ && want->read_bytes)
		count = (want->read_bytes + BENCH_MTU - 1) / BENCH_MTU;
	if (plx_psn_before(seen->probe->pkt.psn, seen->scene->expected) || !count || count > BUDGET)
		return false;
	expect(seen, "replies at least", seen->emits >= count, true);
	if (seen->emits < count)
		return false;
	*at = seen->emits - count;
	return true;
}

static void
compare_reply(struct seen *seen, const struct bench *bench)
{
	const struct forecast *want = seen->want;
	uint32_t at = compare_pending(seen, bench);

	for (uint32_t i = 0; i < seen->emits; i++)
		expect(seen, "marked as a response", seen->emit[i].flags & PLX_EMIT_RESPONSE,
		       PLX_EMIT_RESPONSE);
	if (seen->scene->gap == GAP_REPLAYS && !skip_replays(seen, &at))
		return;
	if (want->reply == REPLY_READ) {
		compare_read(seen, bench, at);
		return;
	}
	expect(seen, "replies", seen->emits - at, want->reply != REPLY_NONE);
	if (want->reply == REPLY_NONE || at == seen->emits)
		return;
	compare_packet(seen, at, want->reply == REPLY_ACK ? PLX_RC_ACK : PLX_RC_ATOMIC_ACK,
		       want->reply_psn);
	if (want->reply == REPLY_ATOMIC)
		expect(seen, "original", seen->emit[at].pkt.atomic_original, BENCH_ORIGINAL);
}

static void
compare_view(struct seen *seen, const struct bench *bench, const struct plx_rc_view *before)
{
	const struct forecast *want = seen->want;
	struct plx_rc_view after;

	memset(&after, 0, sizeof(after));
	plx_rc_query(bench->qp, &after);
	expect(seen, "state", after.state, want->error ? PLX_QP_ERROR : seen->scene->state);
	expect(seen, "expected psn", after.psn_expected.v, want->expected.v);
	expect(seen, "msn", after.msn.v, want->msn.v);
	expect(seen, "receive open", after.rq_open, want->recv_open);
	expect(seen, "receives left", plx_rq_count(bench->rq), want->error ? 0 : want->recvs);
	expect(seen, "events of failure", seen->failed, want->error);
	expect(seen, "events of flush", seen->flushed, want->error);
	expect(seen, "flushed", after.flushed, want->error);
	if (want->reply == REPLY_NONE && want->verdict != PLX_VERDICT_ACCEPT && !want->error &&
	    seen->scene->gap != GAP_READS && seen->scene->gap != GAP_REPLAYS)
		expect(seen, "a refused packet that changed the view",
		       memcmp(before, &after, sizeof(after)) != 0, false);
}

/* ---- afterwards ---- */

/* A rejected request leaves the open message as it was: its next packet, which the forecast
 * knows, still finds the same state. */
static void
compare_sequel(struct seen *seen, struct bench *bench)
{
	static const uint8_t next[OPEN_COUNT] = {[OPEN_NONE] = PLX_RC_SEND_ONLY,
						 [OPEN_SEND] = PLX_RC_SEND_LAST,
						 [OPEN_WRITE_ONE] = PLX_RC_WRITE_LAST,
						 [OPEN_WRITE_MTU] = PLX_RC_WRITE_LAST,
						 [OPEN_WRITE_MORE] = PLX_RC_WRITE_MIDDLE};
	struct probe sequel = {.opcode = next[seen->scene->open],
			       .relation = RELATION_EXPECTED,
			       .payload = PAYLOAD_MTU};
	struct forecast want;

	if (seen->scene->open == OPEN_WRITE_ONE)
		sequel.payload = PAYLOAD_ONE;
	BENCH_CHECK(probe_build(bench, seen->scene, &sequel));
	model(seen->scene, &sequel, &want);
	expect(seen, "verdict on what follows", bench_feed(bench, &sequel.pkt, NOW), want.verdict);
}

bool
probe_check(struct bench *bench, const struct scene *scene, const struct probe *probe,
	    const struct forecast *forecast)
{
	static struct seen seen; /* large */
	struct plx_rc_view before;
	uint32_t calls = 0;

	/* the arrays are not cleared: their counts tell how much is valid */
	seen.scene = scene;
	seen.probe = probe;
	seen.want = forecast;
	seen.same = true;
	seen.emits = seen.completions = seen.failed = seen.flushed = 0;
	seen.placed = seen.atomics = 0;
	seen.place_wrong = false;
	memset(&before, 0, sizeof(before));
	plx_rc_query(bench->qp, &before);
	expect(&seen, "verdict", bench_feed(bench, &probe->pkt, NOW), forecast->verdict);
	gather(&seen, bench);
	do {
		uint32_t emits = seen.emits, said;

		plx_actions_reset(&bench->out);
		said = plx_rc_transmit(bench->qp, NOW, BUDGET, &bench->out);
		gather(&seen, bench);
		expect(&seen, "packets it says it sent", said, seen.emits - emits);
	} while (bench->out.count && seen.emits < BUDGET && ++calls < 8);
	compare_memory(&seen);
	compare_completions(&seen);
	compare_reply(&seen, bench);
	compare_view(&seen, bench, &before);
	if (!forecast->error && forecast->verdict != PLX_VERDICT_ACCEPT)
		compare_sequel(&seen, bench);
	return seen.same;
}
