/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Executes a queue pair's actions and checks its invariants: memory is accessed only as granted,
 * each post completes once and in order, and there are no more answers than requests call for. It
 * never chooses anything: qp.c does, from the fuzzer's bytes. Start with world_execute().
 */
#include <stdio.h>
#include <stdlib.h>

#include "qp_world.h"

enum {
	GRANT_STEP = 512
};

static uint8_t qp_memory[WORLD_MEMORY] PLX_ALIGNED_LINE;
static uint8_t keep_memory[32768] PLX_ALIGNED_LINE;
static uint8_t rq_memory[WORLD_MEMORY] PLX_ALIGNED_LINE;
static uint8_t mem_memory[WORLD_MEMORY] PLX_ALIGNED_LINE;

void
fuzz_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* A failed invariant of the library is a finding too, and is reported with its text. */
void
plx_assert_failed(const char *expr, const char *file, int line)
{
	fuzz_failed(expr, file, line);
}

/* ---- congestion strategy ---- */

static uint64_t
cc_ask(const void *state, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	const struct world *w = state;

	grant->bytes = bytes + (uint32_t)(now & 3) * GRANT_STEP;
	if (now & 4)
		grant->until = now + (now & 0xff);
	return w->hold_until > now ? w->hold_until : now;
}

static void
cc_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	const struct world *w = state;

	(void)bytes;
	CHECK(now == w->now);
}

static void
cc_on_rtt(void *state, uint64_t now, uint64_t rtt_ns)
{
	const struct world *w = state;

	CHECK(now == w->now && rtt_ns <= now);
}

static void
cc_on_ack(void *state, uint64_t now, uint32_t packets)
{
	const struct world *w = state;

	CHECK(now == w->now && packets > 0);
}

static void
cc_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	const struct world *w = state;

	(void)cause;
	CHECK(now == w->now);
}

static bool
cc_on_ce(void *state, uint64_t now)
{
	(void)state;
	return now & 1;
}

static void
cc_on_cnp(void *state, uint64_t now)
{
	const struct world *w = state;

	CHECK(now == w->now);
}

const struct plx_cc_ops world_cc = {
	.name = "fuzz",
	.ask = cc_ask,
	.on_sent = cc_on_sent,
	.on_rtt = cc_on_rtt,
	.on_ack = cc_on_ack,
	.on_loss = cc_on_loss,
	.on_ce = cc_on_ce,
	.on_cnp = cc_on_cnp,
};

/* ---- the books ---- */

static void
on_place(struct world *w, const struct plx_place *place)
{
	uint8_t right =
		w->judging == PLX_OP_WRITE ? PLX_ACCESS_REMOTE_WRITE : PLX_ACCESS_LOCAL_WRITE;

	CHECK(w->judging == PLX_OP_SEND || w->judging == PLX_OP_WRITE ||
	      w->judging == PLX_OP_READ_RESPONSE || w->judging == PLX_OP_ATOMIC_ACK);
	CHECK(w->verdict == PLX_VERDICT_ACCEPT || w->verdict == PLX_VERDICT_RESPONSE);
	CHECK(place->bytes > 0);
	CHECK(world_grants(w, place->dst, place->bytes, right));
}

static void
on_atomic(const struct world *w, const struct plx_atomic *atomic)
{
	CHECK(w->judging == PLX_OP_CMP_SWAP || w->judging == PLX_OP_FETCH_ADD);
	CHECK(w->verdict == PLX_VERDICT_ACCEPT); /* never for a replay */
	CHECK((uintptr_t)atomic->target % sizeof(uint64_t) == 0);
	CHECK(world_grants(w, atomic->target, sizeof(uint64_t), PLX_ACCESS_REMOTE_ATOMIC));
	CHECK(world_inside((const uint8_t *)atomic->original, 8, qp_memory, sizeof(qp_memory)));
}

static void
on_complete(struct world *w, const struct plx_completion *c)
{
	bool recv = c->flags & PLX_WC_RECV;
	struct world_queue *queue = recv ? &w->recv : &w->send;

	CHECK(c->qpn == 0x11 && c->status < PLX_WC_COUNT);
	CHECK(c->wr_id >= queue->completed && c->wr_id < queue->posted);
	for (; queue->completed < c->wr_id; queue->completed++)
		CHECK(!queue->failed && queue->unsignaled[queue->completed % (WORLD_DEPTH * 2)]);
	if (!recv)
		CHECK(c->op == queue->op[c->wr_id % (WORLD_DEPTH * 2)]);
	CHECK(!queue->failed || c->status == PLX_WC_FLUSHED);
	queue->failed = queue->failed || c->status != PLX_WC_SUCCESS;
	queue->completed++;
}

static void
on_answer(struct world *w, const struct plx_opcode *op)
{
	uint64_t *left = op->kind == PLX_OP_CNP             ? &w->allowed.cnps
			 : op->kind == PLX_OP_READ_RESPONSE ? &w->allowed.responses
			 : op->kind == PLX_OP_ATOMIC_ACK    ? &w->allowed.atomics
							    : &w->allowed.replies;

	CHECK(*left > 0);
	(*left)--;
}

static void
on_emit(struct world *w, const struct plx_emit *emit)
{
	const struct plx_opcode *op = &plx_opcodes[emit->pkt.opcode];
	bool answer = emit->flags & PLX_EMIT_RESPONSE;
	uint32_t bytes = 0;

	CHECK(op->service == PLX_SERVICE_RC || op->kind == PLX_OP_CNP);
	CHECK(answer == !plx_opcode_has(op, PLX_OPF_REQUEST));
	CHECK(emit->pkt.dest_qpn == 0x22 && emit->pkt.psn.v <= PLX_PSN_MASK);
	CHECK(emit->pkt.payload_bytes <= w->attr.mtu &&
	      emit->pkt.pad == (-emit->pkt.payload_bytes & 3));
	CHECK(emit->iov_first + emit->iovs <= w->actions.iovs);
	if (op->kind == PLX_OP_ACK && emit->pkt.payload_bytes > 0)
		CHECK(w->attr.selective && emit->pkt.payload_bytes == PLX_NAK_BITMAP_BYTES &&
		      emit->pkt.aeth.syndrome == (PLX_AETH_NAK | PLX_NAK_SEQUENCE));
	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &w->actions.iov[emit->iov_first + i];

		bytes += iov->bytes;
		if (op->kind != PLX_OP_CNP && op->kind != PLX_OP_ACK)
			CHECK(world_grants(w, iov->base, iov->bytes,
					   answer ? PLX_ACCESS_REMOTE_READ : 0) ||
			      (!answer &&
			       world_inside(iov->base, iov->bytes, qp_memory, sizeof(qp_memory))));
		for (uint32_t b = 0; b < iov->bytes; b += 64)
			w->bytes_read += iov->base[b];
		if (iov->bytes > 0)
			w->bytes_read += iov->base[iov->bytes - 1];
	}
	CHECK(bytes == emit->pkt.payload_bytes);
	if (answer) {
		on_answer(w, op);
		return;
	}
	w->sent[w->sent_next++ % WORLD_SENT] = (struct world_sent){
		.opcode = emit->pkt.opcode,
		.psn = emit->pkt.psn,
		.bytes = op->kind == PLX_OP_READ_REQUEST ? emit->pkt.reth.length : 0,
	};
}

void
world_crowd(struct world *w, uint32_t room)
{
	w->crowd = PLX_ACTIONS_MAX - room;
	w->actions.count = w->crowd;
	w->actions.iovs = w->crowd;
}

void
world_execute(struct world *w, uint32_t budget)
{
	struct plx_actions *actions = &w->actions;
	uint32_t emitted = 0;

	CHECK(actions->count <= PLX_ACTIONS_MAX && actions->iovs <= PLX_IOVS_MAX);
	CHECK(actions->count >= w->crowd && actions->iovs >= w->crowd);
	for (uint32_t i = w->crowd; i < actions->count; i++) {
		const struct plx_action *action = &actions->list[i];

		switch ((enum plx_action_kind)action->kind) {
		case PLX_ACT_PLACE:
			on_place(w, &action->place);
			break;
		case PLX_ACT_ATOMIC:
			on_atomic(w, &action->atomic);
			break;
		case PLX_ACT_COMPLETE:
			on_complete(w, &action->completion);
			break;
		case PLX_ACT_EVENT:
			CHECK(action->event.kind > PLX_EVENT_NONE &&
			      action->event.kind < PLX_EVENT_COUNT && action->event.qpn == 0x11);
			break;
		case PLX_ACT_EMIT:
			on_emit(w, &action->emit);
			emitted++;
			break;
		case PLX_ACT_LOAD: /* this world has no private memory */
		case PLX_ACT_NONE:
			CHECK(!"an action of no kind");
		}
		plx_action_apply_memory(action);
	}
	CHECK(emitted <= budget);
	plx_actions_reset(actions);
	w->crowd = 0;
	world_refresh_books(w);
}

/* An unsignaled success leaves no completion, but its slot is free. */
static void
count_silent(struct world *w, const struct plx_rc_view *now)
{
	struct world_queue *queue = &w->send;
	uint64_t left = now->sq_posted - now->sq_consumed;

	CHECK(queue->posted - left >= queue->completed);
	for (; queue->completed < queue->posted - left; queue->completed++)
		CHECK(!queue->failed && queue->unsignaled[queue->completed % (WORLD_DEPTH * 2)]);
}

void
world_look(struct world *w)
{
	struct plx_rc_view now;
	uint64_t wake = plx_rc_wake_ns(w->qp);
	int32_t flight, cursor;

	plx_rc_query(w->qp, &now);
	flight = plx_psn_diff(now.psn_high, now.psn_unacked);
	cursor = plx_psn_diff(now.psn_next, now.psn_unacked);
	CHECK(flight >= 0 && cursor >= 0 && cursor <= flight);
	CHECK(now.sq_posted - now.sq_consumed <= w->caps.sq_depth);
	count_silent(w, &now);
	CHECK(now.rd_atomic_open <= now.initiator_depth);
	CHECK(now.responder_res_pending <= w->caps.responder_resources);
	CHECK(now.retries_left <= w->attr.retry_max);
	CHECK(now.rnr_retries_left <= w->attr.rnr_retry_max);
	if (now.state == PLX_QP_RESET || now.state == PLX_QP_INIT || now.state == PLX_QP_ERROR)
		CHECK(wake == 0 || wake == PLX_NEVER);
	if (now.state == w->view.state && now.state != PLX_QP_RESET) {
		CHECK(plx_psn_diff(now.psn_expected, w->view.psn_expected) >= 0);
		CHECK(plx_psn_diff(now.psn_unacked, w->view.psn_unacked) >= 0);
		CHECK(plx_psn_diff(now.psn_high, w->view.psn_high) >= 0);
	}
	w->view = now;
}

void
world_drain(struct world *w)
{
	for (uint32_t round = 0; round < WORLD_ROUNDS; round++) {
		uint64_t wake = plx_rc_wake_ns(w->qp);
		uint32_t budget = round % 3 == 0 ? 64 : 1 + round % 7;

		if (wake > w->now)
			return;
		if (wake == 0)
			CHECK(plx_rc_transmit(w->qp, w->now, budget, &w->actions) <= budget);
		else
			plx_rc_on_tick(w->qp, w->now, &w->actions);
		world_execute(w, budget);
	}
	CHECK(!"the QP comes to rest");
}

/* ---- packets ---- */

uint32_t
world_packets(const struct world *w, uint32_t bytes)
{
	return bytes == 0 ? 1 : (bytes + w->attr.mtu - 1) / w->attr.mtu;
}

/* What a packet entitles its sender to. A repeated READ entitles it to the response again. */
static void
earn(struct world *w, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	bool taken = verdict == PLX_VERDICT_ACCEPT || verdict == PLX_VERDICT_REPLAY;

	if (pkt->ce)
		w->allowed.cnps++;
	if (!plx_opcode_has(op, PLX_OPF_REQUEST))
		return;
	w->allowed.replies++;
	if (taken && op->kind == PLX_OP_READ_REQUEST)
		w->allowed.responses += world_packets(w, pkt->reth.length);
	if (taken && (op->kind == PLX_OP_CMP_SWAP || op->kind == PLX_OP_FETCH_ADD))
		w->allowed.atomics++;
}

static bool
changes_nothing(enum plx_verdict verdict)
{
	return verdict == PLX_VERDICT_AHEAD_AGAIN || verdict == PLX_VERDICT_DUPLICATE_FORGOTTEN ||
	       verdict == PLX_VERDICT_DUPLICATE_DENIED || verdict == PLX_VERDICT_GHOST ||
	       verdict == PLX_VERDICT_STALE || verdict == PLX_VERDICT_SYNDROME;
}

/* The key a request names with its first packet; 0 when it needs none. */
static uint32_t
key_of(const struct plx_pkt *pkt)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];

	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH))
		return pkt->atomic.rkey;
	return plx_opcode_has(op, PLX_OPF_RETH) && pkt->reth.length > 0 ? pkt->reth.rkey : 0;
}

/* A READ response that arrives once more shows that the peer still sends: the requester waits
 * longer for the next, and nothing else changes. */
static bool
is_unchanged(const struct plx_rc_view *before, const struct plx_rc_view *after,
	     enum plx_verdict verdict, const struct plx_pkt *pkt)
{
	struct plx_rc_view expected = *before;

	if (verdict == PLX_VERDICT_STALE && plx_opcodes[pkt->opcode].kind == PLX_OP_READ_RESPONSE &&
	    after->ack_deadline_ns > before->ack_deadline_ns)
		expected.ack_deadline_ns = after->ack_deadline_ns;
	return memcmp(&expected, after, sizeof(expected)) == 0;
}

static void
check_given(struct world *w, const struct plx_pkt *pkt, const struct plx_rc_view *before,
	    const struct plx_rc_view *after)
{
	if (w->verdict == PLX_VERDICT_ACCEPT && key_of(pkt) != 0)
		CHECK(world_key_is_live(w, key_of(pkt)));
	/* An answer acknowledges nothing behind itself. */
	CHECK(plx_psn_eq(after->psn_unacked, before->psn_unacked) ||
	      plx_psn_diff(after->psn_unacked, pkt->psn) <= 1);
	/* Completions delayed for lack of room may come with it. */
	if (changes_nothing(w->verdict) && before->sq_consumed == after->sq_consumed)
		CHECK(is_unchanged(before, after, w->verdict, pkt));
}

static enum plx_verdict
judge(struct world *w, const struct plx_pkt *pkt)
{
	const struct plx_rc_counters *counters = plx_rc_counters(w->qp);
	uint64_t counted[PLX_VERDICT_COUNT];
	struct plx_rc_view before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	plx_rc_query(w->qp, &before);
	memcpy(counted, counters->verdict, sizeof(counted));
	w->judging = (enum plx_op_kind)plx_opcodes[pkt->opcode].kind;
	if (pkt->migreq) /* any bit of the fuzzer's will do */
		world_crowd(w, PLX_ACTIONS_PER_PACKET);
	w->verdict = plx_rc_on_packet(w->qp, pkt, w->now, &w->actions);
	CHECK(w->verdict > PLX_VERDICT_NONE && w->verdict < PLX_VERDICT_COUNT);
	CHECK(counters->verdict[w->verdict] == counted[w->verdict] + 1);
	plx_rc_query(w->qp, &after);
	check_given(w, pkt, &before, &after);
	earn(w, pkt, w->verdict);
	world_execute(w, 0);
	w->judging = PLX_OP_NONE;
	return w->verdict;
}

/* A packet and its payload, in one block of exactly their size. */
static struct plx_pkt *
copy_of(const struct plx_pkt *pkt)
{
	struct plx_pkt *copy = malloc(sizeof(*copy) + pkt->payload_bytes);

	CHECK(copy != NULL);
	*copy = *pkt;
	if (pkt->payload_bytes > 0)
		memcpy(copy + 1, pkt->payload, pkt->payload_bytes);
	copy->payload = (const uint8_t *)(copy + 1);
	return copy;
}

void
world_take_kept(struct world *w)
{
	static const struct plx_frame no_frame;
	enum plx_kept_kind kind;
	struct plx_kept kept;

	while ((kind = plx_rc_next_kept(w->qp, &kept)) != PLX_KEPT_NONE) {
		const struct plx_pkt *pkt = kept.packet;

		if (kind == PLX_KEPT_NEXT &&
		    plx_rc_admit(w->qp, &no_frame, pkt) == PLX_VERDICT_ACCEPT)
			(void)judge(w, pkt);
		free(kept.packet);
	}
}

enum plx_verdict
world_give(struct world *w, const struct plx_pkt *pkt)
{
	static const struct plx_frame no_frame;
	enum plx_verdict verdict;
	struct plx_kept *place;

	if (plx_rc_admit(w->qp, &no_frame, pkt) != PLX_VERDICT_ACCEPT)
		return PLX_VERDICT_NONE;
	verdict = judge(w, pkt);
	place = plx_rc_keep(w->qp, pkt, verdict);
	if (place != NULL)
		place->packet = copy_of(pkt);
	world_take_kept(w);
	return verdict;
}

/* ---- life and death ---- */

static void
caps_and_attr(struct world *w, const uint8_t choice[16])
{
	static const uint32_t starts[] = {0,        1,        0xffffff, 0xfffff0,
					  0x7fffff, 0x800000, 100,      0xfffffc};

	w->caps = (struct plx_rc_caps){
		.sq_depth = 1 + choice[0] % WORLD_DEPTH,
		.sq_sges = (choice[0] >> 3) % (PLX_SGE_MAX + 1),
		.inline_bytes = choice[1] % 3 * 100u,
		.responder_resources = choice[1] / 3 % 5,
	};
	w->rq_depth = 1 + choice[2] % WORLD_DEPTH;
	w->rq_sges = (choice[2] >> 3) % 6;
	w->shared = choice[2] >> 7;
	w->attr = (struct plx_rc_attr){
		.mtu = 256u << (choice[3] % 8 < 5 ? 0 : choice[3] % 5),
		.dest_qpn = 0x22,
		.pkey = PLX_PKEY_DEFAULT,
		.rq_psn = {starts[choice[4] & 7]},
		.enabled = {(uint8_t)(choice[5] & 1 ? choice[5] & 0x0e : 0x0e)},
		.rnr_timer = choice[6] & 31,
		.sq_psn = {starts[choice[4] >> 3 & 7]},
		.retry_max = choice[7] & 7,
		.rnr_retry_max = choice[7] >> 3 & 7,
		.initiator_depth = choice[8] % 5,
		.ack_timeout_ns = 1 + choice[9] * 100u,
		.window_packets = 1 + choice[10] % 20,
		.ack_interval = 1 + choice[11] % 8,
		.read_chunk_packets = 1 + choice[12] % 5,
		.selective = choice[13] & 2,
	};
}

void
world_connect(struct world *w)
{
	if (w->view.state == PLX_QP_RESET)
		CHECK(plx_rc_modify(w->qp, PLX_QP_INIT, NULL) == PLX_OK);
	CHECK(plx_rc_modify(w->qp, PLX_QP_RTR, &w->attr) == PLX_OK);
	CHECK(plx_rc_modify(w->qp, PLX_QP_RTS, &w->attr) == PLX_OK);
}

void
world_reset(struct world *w, const uint8_t choice[16])
{
	static const struct plx_mem_limits limits = {.slots = WORLD_SLOTS, .domains = 2};
	static const struct plx_secret secret = {{1, 2}};
	struct plx_rc_ids ids = {.qpn = 0x11};
	size_t bytes;

	memset(w, 0, offsetof(struct world, actions));
	plx_actions_reset(&w->actions);
	w->now = 1000;
	bytes = plx_mem_bytes(&limits);
	CHECK(bytes > 0 && bytes <= sizeof(mem_memory));
	w->mem = plx_mem_init(mem_memory, &limits, &secret);
	CHECK(plx_domain_create(w->mem, &w->domain) == PLX_OK);
	CHECK(plx_domain_create(w->mem, &w->other) == PLX_OK);
	world_regions_make(w, choice[14]);
	caps_and_attr(w, choice);
	bytes = plx_rq_bytes(w->rq_depth, w->rq_sges);
	CHECK(bytes > 0 && bytes <= sizeof(rq_memory));
	memset(rq_memory, 0xa5, bytes);
	w->rq = plx_rq_init(rq_memory, w->rq_depth, w->rq_sges, w->shared);
	bytes = plx_rc_bytes(&w->caps);
	CHECK(bytes > 0 && bytes <= sizeof(qp_memory));
	memset(qp_memory, 0xa5, bytes);
	ids.domain = w->domain;
	ids.mem = w->mem;
	ids.rq = w->rq;
	if (choice[13] & 4) {
		bytes = plx_keep_bytes(1);
		CHECK(bytes <= sizeof(keep_memory));
		memset(keep_memory, 0xa5, bytes);
		ids.keep = plx_keep_init(keep_memory, 1, 1 + choice[15]);
	}
	ids.cc = choice[13] & 1 ? &world_cc : &plx_cc_none;
	ids.cc_state = choice[13] & 1 ? w : NULL;
	w->qp = plx_rc_init(qp_memory, &w->caps, &ids);
	plx_rc_query(w->qp, &w->view);
}

void
world_close(struct world *w)
{
	struct plx_rc_view view;

	plx_rc_query(w->qp, &view);
	if (view.state == PLX_QP_RESET) {
		world_take_kept(w);
		return;
	}
	CHECK(plx_rc_modify(w->qp, PLX_QP_ERROR, NULL) == PLX_OK);
	world_take_kept(w);
	world_drain(w);
	CHECK(plx_rc_wake_ns(w->qp) == PLX_NEVER);
	plx_rc_query(w->qp, &view);
	CHECK(view.flushed && view.rq_open == 0);
	count_silent(w, &view);
	CHECK(w->send.completed == w->send.posted);
	CHECK(w->recv.completed + plx_rq_count(w->rq) == w->recv.posted);
	CHECK(w->shared || w->recv.completed == w->recv.posted);
}
