/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings a fresh bench to the state of a play, by posts and answers alone, and completes the play
 * with a correct responder. It never forecasts anything. Start with play_reach() and play_out().
 */
#include "requester.h"

enum {
	NOW = 1000,
	BUDGET = 64,
	ROUNDS_MAX = 200
};

struct mix {
	const char *name;
	uint32_t reqs;
	struct {
		enum plx_wr_op op;
		uint32_t bytes;
	} req[REQS_MAX];
};

/* READs are multiples of eight bytes before the end, for atomics want aligned places. */
static const struct mix mixes[] = {
	{"send of three packets", 1, {{PLX_WR_SEND, 600}}},
	{"write", 1, {{PLX_WR_WRITE, 10}}},
	{"read of three packets", 1, {{PLX_WR_READ, 600}}},
	{"compare and swap", 1, {{PLX_WR_CMP_SWAP, 8}}},
	{"read, read", 2, {{PLX_WR_READ, 304}, {PLX_WR_READ, 10}}},
	{"write, fetch and add, send",
	 3,
	 {{PLX_WR_WRITE, 300}, {PLX_WR_FETCH_ADD, 8}, {PLX_WR_SEND, 1}}},
	{"send, read, write, compare and swap, send",
	 5,
	 {{PLX_WR_SEND, 300},
	  {PLX_WR_READ, 600},
	  {PLX_WR_WRITE, 10},
	  {PLX_WR_CMP_SWAP, 8},
	  {PLX_WR_SEND, 1}}},
	{"read, send, fetch and add",
	 3,
	 {{PLX_WR_READ, 304}, {PLX_WR_SEND, 300}, {PLX_WR_FETCH_ADD, 8}}},
	{"compare and swap, write, read",
	 3,
	 {{PLX_WR_CMP_SWAP, 8}, {PLX_WR_WRITE, 300}, {PLX_WR_READ, 1}}},
	{"empty write, empty read, empty send",
	 3,
	 {{PLX_WR_WRITE, 0}, {PLX_WR_READ, 0}, {PLX_WR_SEND, 0}}},
	{"write, send, write", 3, {{PLX_WR_WRITE, 300}, {PLX_WR_SEND, 300}, {PLX_WR_WRITE, 300}}},
};

uint32_t
play_mixes(void)
{
	return PLX_COUNT_OF(mixes);
}

const char *
play_mix_name(uint32_t mix)
{
	return mixes[mix].name;
}

const char *
play_stage_name(enum stage stage)
{
	static const char *const names[] = {
#define PLX_X(name) #name,
		STAGE_LIST(PLX_X)
#undef PLX_X
	};

	return names[stage];
}

bool
play_possible(const struct play *play)
{
	if (play->state == PLX_QP_SQD && play->stage == STAGE_WENT_BACK)
		return false; /* what has begun is finished in SQD: as in RTS */
	if (!play->retry_max && (play->stage == STAGE_WENT_BACK || play->stage == STAGE_RESENT ||
				 play->stage == STAGE_TIMEOUT || play->stage == STAGE_TIMED ||
				 play->stage == STAGE_SPENT))
		return false; /* going back would have been the end */
	if (mixes[play->mix].reqs == 1 && mixes[play->mix].req[0].bytes <= BENCH_MTU &&
	    (play->stage == STAGE_TIMED || play->stage == STAGE_SPENT ||
	     play->stage == STAGE_PROBED))
		return false; /* nothing is left behind the first PSN */
	return play->rnr_retry_max || play->stage != STAGE_RNR;
}

/* ---- what a correct responder sends ---- */

uint8_t
response_opcode(uint32_t index, uint32_t psns, uint32_t chunk)
{
	bool starts = index % chunk == 0, ends = index == psns - 1 || (index + 1) % chunk == 0;

	if (starts)
		return ends ? PLX_RC_READ_RESPONSE_ONLY : PLX_RC_READ_RESPONSE_FIRST;
	return ends ? PLX_RC_READ_RESPONSE_LAST : PLX_RC_READ_RESPONSE_MIDDLE;
}

uint32_t
response_bytes(uint32_t index, const struct req *req)
{
	uint32_t left = req->bytes - index * BENCH_MTU;

	return left < BENCH_MTU ? left : BENCH_MTU;
}

uint8_t
response_byte(struct plx_psn psn, uint32_t offset)
{
	return (uint8_t)(psn.v * 31 + offset + 1);
}

/* ---- reaching a stage ---- */

static void
post(struct bench *bench, const struct req *req, uint32_t number)
{
	struct plx_wqe wqe = {.wr_id = number,
			      .op = (uint8_t)req->op,
			      .sges = req->bytes > 0,
			      .rkey = {0x1234},
			      .remote_va = BENCH_VA,
			      .swap_add = 5,
			      .compare = 6};

	wqe.sge[0] = (struct plx_sge){req->local, req->bytes, bench->recv};
	BENCH_CHECK(plx_rc_post_send(bench->qp, &wqe, NULL) == PLX_OK);
}

static void
post_all(struct bench *bench, struct play *play)
{
	const struct mix *mix = &mixes[play->mix];
	uint64_t local = BENCH_VA;
	struct plx_psn psn = play->first;

	play->reqs = mix->reqs;
	for (uint32_t i = 0; i < mix->reqs; i++) {
		struct req *req = &play->req[i];

		*req = (struct req){
			.op = mix->req[i].op, .bytes = mix->req[i].bytes, .psn = psn, .psns = 1};
		if (!req_is_atomic(req) && req->bytes)
			req->psns = (req->bytes + BENCH_MTU - 1) / BENCH_MTU;
		req->local = local;
		local += LOCAL_BYTES;
		psn = plx_psn_add(psn, req->psns);
		post(bench, req, i);
	}
	play->high = play->next = psn;
	play->una = play->first;
}

static void
hand(struct bench *bench, struct plx_pkt *pkt, enum plx_verdict want)
{
	static const uint8_t nothing[1];

	pkt->dest_qpn = BENCH_QPN;
	pkt->pkey = PLX_PKEY_DEFAULT;
	if (!pkt->payload)
		pkt->payload = nothing;
	BENCH_CHECK(bench_feed(bench, pkt, NOW) == want);
	for (uint32_t i = 0; i < bench->out.count; i++)
		plx_action_apply_memory(&bench->out.list[i]);
}

/* The answer to the first PSN, of any kind. */
static void
answer_first(struct bench *bench, struct play *play)
{
	const struct req *req = &play->req[0];
	struct plx_pkt pkt = {.opcode = PLX_RC_ACK, .psn = play->first};
	uint8_t bytes[BENCH_MTU];

	for (uint32_t i = 0; i < BENCH_MTU; i++)
		bytes[i] = response_byte(pkt.psn, i);
	pkt.payload = bytes;
	pkt.atomic_original = BENCH_ORIGINAL;
	pkt.aeth.syndrome = PLX_AETH_NO_CREDITS;
	if (req_is_atomic(req))
		pkt.opcode = PLX_RC_ATOMIC_ACK;
	if (req_is_read(req)) {
		pkt.opcode = response_opcode(0, req->psns, play->chunk);
		pkt.payload_bytes = response_bytes(0, req);
		pkt.pad = (uint8_t)(-pkt.payload_bytes & 3);
	}
	hand(bench, &pkt, req_has_response(req) ? PLX_VERDICT_RESPONSE : PLX_VERDICT_ACKED);
	play->una = plx_psn_add(play->first, 1);
	play->completed = req->psns == 1;
}

static void
refuse_oldest(struct bench *bench, struct play *play, uint8_t syndrome, enum plx_verdict want)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_ACK, .psn = play->una};

	pkt.aeth.syndrome = syndrome;
	hand(bench, &pkt, want);
	play->next = play->una;
}

/* The first PSN is answered, so that the round-trip time is known; the next is answered by a
 * NAK. */
static void
lose_second(struct bench *bench, struct play *play)
{
	answer_first(bench, play);
	refuse_oldest(bench, play, PLX_AETH_NAK | PLX_NAK_SEQUENCE, PLX_VERDICT_NAK_SEQUENCE);
	bench_drain(bench, NOW);
	play->retries_left--;
	play->went_back = true;
	for (int i = 0; play->stage == STAGE_SPENT && i < PLX_RESTARTS_MAX; i++) {
		refuse_oldest(bench, play, PLX_AETH_NAK | PLX_NAK_SEQUENCE, PLX_VERDICT_LOST_AGAIN);
		bench_drain(bench, NOW);
	}
	play->again = play->stage == STAGE_TIMED;
	play->next = play->high;
}

static void
take_stage(struct bench *bench, struct play *play)
{
	switch (play->stage) {
	case STAGE_SENT:
		break;
	case STAGE_PARTLY:
		answer_first(bench, play);
		break;
	case STAGE_WENT_BACK:
	case STAGE_RESENT:
		refuse_oldest(bench, play, PLX_AETH_NAK | PLX_NAK_SEQUENCE,
			      PLX_VERDICT_NAK_SEQUENCE);
		play->retries_left--;
		play->went_back = true;
		if (play->stage == STAGE_WENT_BACK)
			break;
		bench_drain(bench, NOW);
		play->next = play->high;
		break;
	case STAGE_TIMEOUT:
		plx_actions_reset(&bench->out);
		plx_rc_on_tick(bench->qp, plx_rc_wake_ns(bench->qp), &bench->out);
		BENCH_CHECK(plx_rc_counters(bench->qp)->timeouts == 1);
		bench_drain(bench, NOW);
		play->retries_left--;
		break;
	case STAGE_TIMED:
	case STAGE_SPENT:
		lose_second(bench, play);
		break;
	case STAGE_PROBED:
		answer_first(bench, play);
		bench_drain(bench, NOW);
		plx_actions_reset(&bench->out);
		plx_rc_on_tick(bench->qp, plx_rc_wake_ns(bench->qp), &bench->out);
		BENCH_CHECK(plx_rc_counters(bench->qp)->probes == 1);
		bench_drain(bench, NOW);
		break;
	case STAGE_RNR:
		refuse_oldest(bench, play, PLX_AETH_RNR | 10, PLX_VERDICT_NAK_RNR);
		if (play->rnr_retry_max != PLX_RNR_RETRY_FOREVER)
			play->rnr_retries_left--;
		play->rnr_waiting = true;
		break;
	case STAGE_COUNT:
		BENCH_CHECK(false);
	}
}

/* Everything from una on was sent once more, or as a probe the oldest packet, and a newest that is
 * not a long READ. */
static bool
reads_are_asked_again(const struct play *play)
{
	const struct req *newest = &play->req[play->reqs - 1];
	bool any = false, oldest = true;

	if (play->stage == STAGE_SENT || play->stage == STAGE_PARTLY ||
	    play->stage == STAGE_WENT_BACK || play->stage == STAGE_RNR)
		return false;
	for (uint32_t i = 0; i < play->reqs; i++) {
		const struct req *req = &play->req[i];

		if (plx_psn_diff(plx_psn_add(req->psn, req->psns), play->una) <= 0)
			continue;
		any |= req_is_read(req) &&
		       (play->stage != STAGE_PROBED || oldest ||
			(req == newest && (req->psns == 1 || play->chunk == 1)));
		oldest = false;
	}
	return any;
}

void
play_reach(struct bench *bench, struct play *play)
{
	struct plx_rc_attr attr = bench_attr();
	struct plx_rc_view view;

	play->first = plx_psn(0xfffffe); /* most of every play is behind the wrap */
	play->retries_left = play->retry_max;
	play->rnr_retries_left = play->rnr_retry_max;
	attr.sq_psn = play->first;
	attr.rq_psn = plx_psn(77);
	attr.retry_max = play->retry_max;
	attr.rnr_retry_max = play->rnr_retry_max;
	attr.read_chunk_packets = play->chunk;
	bench_bring(bench, PLX_QP_RTS, &attr);
	post_all(bench, play);
	bench_drain(bench, NOW);
	take_stage(bench, play);
	if (play->state == PLX_QP_SQD)
		BENCH_CHECK(plx_rc_modify(bench->qp, PLX_QP_SQD, NULL) == PLX_OK);
	if (play->denied)
		BENCH_CHECK(plx_region_retire(bench->mem, bench->recv_region) == PLX_OK);
	play->asked_again = reads_are_asked_again(play);
	plx_rc_query(bench->qp, &view);
	BENCH_CHECK(plx_psn_eq(view.psn_unacked, play->una));
	BENCH_CHECK(plx_psn_eq(view.psn_next, play->next));
	BENCH_CHECK(plx_psn_eq(view.psn_high, play->high));
}

/* ---- playing it out ---- */

struct player {
	struct bench *bench;
	uint64_t now;
	void (*done)(void *user, const struct plx_completion *completion);
	void *user;
};

static void
run_actions(struct player *p)
{
	struct plx_actions *out = &p->bench->out;

	for (uint32_t i = 0; i < out->count; i++) {
		plx_action_apply_memory(&out->list[i]);
		if (out->list[i].kind == PLX_ACT_COMPLETE)
			p->done(p->user, &out->list[i].completion);
	}
}

static void
give(struct player *p, struct plx_pkt *pkt)
{
	uint8_t bytes[BENCH_MTU];

	for (uint32_t i = 0; i < pkt->payload_bytes; i++)
		bytes[i] = response_byte(pkt->psn, i);
	pkt->payload = bytes;
	pkt->pad = (uint8_t)(-pkt->payload_bytes & 3);
	pkt->dest_qpn = BENCH_QPN;
	pkt->pkey = PLX_PKEY_DEFAULT;
	pkt->aeth.syndrome = PLX_AETH_NO_CREDITS;
	plx_actions_reset(&p->bench->out);
	(void)plx_rc_on_packet(p->bench->qp, pkt, p->now, &p->bench->out);
	run_actions(p);
}

static void
respond(struct player *p, const struct plx_pkt *request)
{
	const struct plx_opcode *op = &plx_opcodes[request->opcode];
	struct req read = {.bytes = request->reth.length};
	struct plx_pkt pkt = {.psn = request->psn};
	uint32_t psns = (read.bytes + BENCH_MTU - 1) / BENCH_MTU;

	if (op->kind == PLX_OP_READ_REQUEST) {
		psns = psns ? psns : 1;
		for (uint32_t i = 0; i < psns; i++) {
			pkt.psn = plx_psn_add(request->psn, i);
			pkt.opcode = response_opcode(i, psns, psns);
			pkt.payload_bytes = response_bytes(i, &read);
			give(p, &pkt);
		}
		return;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		pkt.opcode = PLX_RC_ATOMIC_ACK;
		pkt.atomic_original = BENCH_ORIGINAL;
		give(p, &pkt);
	} else if (request->ack_request) {
		pkt.opcode = PLX_RC_ACK;
		give(p, &pkt);
	}
}

bool
play_out(struct bench *bench, uint64_t now,
	 void (*done)(void *user, const struct plx_completion *completion), void *user)
{
	struct player p = {bench, now, done, user};
	struct plx_actions sent;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		uint64_t wake;

		plx_actions_reset(&bench->out);
		(void)plx_rc_transmit(bench->qp, p.now, BUDGET, &bench->out);
		sent = bench->out;
		run_actions(&p);
		for (uint32_t i = 0; i < sent.count; i++)
			if (sent.list[i].kind == PLX_ACT_EMIT)
				respond(&p, &sent.list[i].emit.pkt);
		wake = plx_rc_wake_ns(bench->qp);
		if (wake == PLX_NEVER)
			return true;
		if (wake <= p.now)
			continue;
		p.now = wake;
		plx_actions_reset(&bench->out);
		plx_rc_on_tick(bench->qp, p.now, &bench->out);
		run_actions(&p);
	}
	return false;
}
