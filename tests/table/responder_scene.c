/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings a fresh bench into a scene, by packets alone, and builds probes for it. It never forecasts
 * anything. Start with scene_reach().
 */
#include "responder.h"

#define X_NAME(name) #name,
#define PLX_X        X_NAME
static const char *const open_list[] = {OPEN_LIST(PLX_X)};
static const char *const past_list[] = {PAST_LIST(PLX_X)};
static const char *const recv_list[] = {RECV_LIST(PLX_X)};
static const char *const gap_list[] = {GAP_LIST(PLX_X)};
#undef PLX_X

const char *const *const open_names = open_list, *const *const past_names = past_list;
const char *const *const recv_names = recv_list, *const *const gap_names = gap_list;

enum {
	NOW = 1000,
	PLENTY = 8 * BENCH_MTU,
	PENDING_VA = 32 * BENCH_MTU, /* where the READs that wait for an answer read */
};

static const uint8_t some_bytes[BENCH_MTU + 8];

bool
scene_possible(const struct scene *scene)
{
	bool write_open = scene->open != OPEN_NONE && scene->open != OPEN_SEND;

	if (scene->enabled == (scene->past_kind == PAST_ONLY_SENDS))
		return false; /* one scene without the right to anything is enough */
	if (!scene->enabled && (write_open || scene->gap == GAP_READS || scene->revoked))
		return false;
	if (scene->open != OPEN_NONE && (scene->gap == GAP_RNR || scene->gap == GAP_READS))
		return false;
	if (scene->gap == GAP_REPLAYS && (!scene->enabled || scene->revoked))
		return false;
	return true;
}

static void
feed(struct bench *bench, struct plx_pkt *pkt, enum plx_verdict want)
{
	pkt->payload = some_bytes;
	pkt->dest_qpn = BENCH_QPN;
	pkt->pkey = PLX_PKEY_DEFAULT;
	BENCH_CHECK(bench_feed(bench, pkt, NOW) == want);
}

static void
post(struct bench *bench, struct scene *scene, const struct plx_sge *sge, uint32_t sges)
{
	BENCH_CHECK(plx_rc_post_recv(bench->qp, scene->recvs, sge, sges) == PLX_OK);
	scene->recvs++;
}

static void
post_plenty(struct bench *bench, struct scene *scene)
{
	post(bench, scene, &(struct plx_sge){BENCH_VA, PLENTY, bench->recv}, 1);
}

/* Post the receives of scene->recv. A SEND that is open, or opens, consumes the first. */
static void
post_receives(struct bench *bench, struct scene *scene)
{
	bool open = scene->open == OPEN_SEND;
	struct plx_sge sge[2] = {{BENCH_VA, BENCH_MTU, bench->recv},
				 {BENCH_VA + BENCH_MTU, PLENTY, bench->read_only}};

	scene->recv_room = PLENTY;
	switch (scene->recv) {
	case RECV_NONE:
		if (open)
			post_plenty(bench, scene);
		break;
	case RECV_PLENTY:
		post_plenty(bench, scene);
		post_plenty(bench, scene);
		break;
	case RECV_SMALL:
		sge[0].length = scene->recv_room = open ? BENCH_MTU + 1 : 1;
		post(bench, scene, sge, 1);
		break;
	case RECV_BAD_KEY:
		scene->recv_room = PLENTY + (open ? BENCH_MTU : 0);
		post(bench, scene, open ? sge : sge + 1, open ? 2 : 1);
		break;
	case RECV_COUNT:
		BENCH_CHECK(false);
	}
}

/* ---- the past ---- */

static void
past_add(struct bench *bench, struct scene *scene, enum plx_op_kind kind, uint32_t length)
{
	struct past *past = &scene->past[scene->pasts++];
	struct plx_pkt pkt = {.psn = scene->expected, .ack_request = true};

	*past = (struct past){.kind = (uint8_t)kind,
			      .psn = scene->expected,
			      .psns = 1,
			      .va = BENCH_VA + scene->pasts * UINT64_C(4) * BENCH_MTU,
			      .length = length};
	if (kind == PLX_OP_READ_REQUEST || kind == PLX_OP_WRITE) {
		pkt.opcode = kind == PLX_OP_WRITE ? PLX_RC_WRITE_ONLY : PLX_RC_READ_REQUEST;
		pkt.reth = (struct plx_reth){past->va, bench->key[BENCH_KEY_FAST].v, length};
	}
	if (kind == PLX_OP_READ_REQUEST && length)
		past->psns = (length + BENCH_MTU - 1) / BENCH_MTU;
	if (kind == PLX_OP_FETCH_ADD)
		pkt.opcode = PLX_RC_FETCH_ADD;
	if (kind == PLX_OP_SEND || kind == PLX_OP_WRITE)
		pkt.payload_bytes = length;
	if (kind == PLX_OP_FETCH_ADD)
		pkt.atomic = (struct plx_atomic_eth){.va = past->va,
						     .rkey = bench->key[BENCH_KEY_FAST].v,
						     .swap_add = SWAP_ADD,
						     .compare = COMPARE};
	if (kind == PLX_OP_SEND) {
		pkt.opcode = PLX_RC_SEND_ONLY;
		post_plenty(bench, scene);
		scene->recvs--;
	}
	if (kind == PLX_OP_SEND || kind == PLX_OP_WRITE)
		scene->newest_ackable = past->psn;
	feed(bench, &pkt, PLX_VERDICT_ACCEPT);
	bench_drain(bench, NOW);
	scene->expected = plx_psn_add(scene->expected, past->psns);
	scene->msn = plx_msn_next(scene->msn);
}

static void
make_past(struct bench *bench, struct scene *scene)
{
	uint32_t remembered = 0;

	switch (scene->past_kind) {
	case PAST_ENDS_WITH_SEND:
		past_add(bench, scene, PLX_OP_READ_REQUEST, 2 * BENCH_MTU + 5);
		past_add(bench, scene, PLX_OP_READ_REQUEST, BENCH_MTU + 1);
		past_add(bench, scene, PLX_OP_WRITE, 4);
		past_add(bench, scene, PLX_OP_FETCH_ADD, 8);
		past_add(bench, scene, PLX_OP_SEND, 4);
		break;
	case PAST_ENDS_WITH_READ:
		past_add(bench, scene, PLX_OP_READ_REQUEST, 2 * BENCH_MTU + 5);
		past_add(bench, scene, PLX_OP_SEND, 4);
		past_add(bench, scene, PLX_OP_WRITE, 4);
		past_add(bench, scene, PLX_OP_FETCH_ADD, 8);
		past_add(bench, scene, PLX_OP_READ_REQUEST, BENCH_MTU + 1);
		break;
	case PAST_ENDS_WITH_EMPTY:
		past_add(bench, scene, PLX_OP_READ_REQUEST, 2 * BENCH_MTU + 5);
		past_add(bench, scene, PLX_OP_SEND, 4);
		past_add(bench, scene, PLX_OP_WRITE, 4);
		past_add(bench, scene, PLX_OP_READ_REQUEST, BENCH_MTU + 1);
		past_add(bench, scene, PLX_OP_READ_REQUEST, 0);
		break;
	case PAST_ONLY_SENDS:
		for (int i = 0; i < 3; i++)
			past_add(bench, scene, PLX_OP_SEND, 4);
		break;
	case PAST_COUNT:
		BENCH_CHECK(false);
	}
	if (scene->gap == GAP_READS)
		return; /* the two that wait took the places of the two that were remembered */
	for (uint32_t i = scene->pasts; i-- > 0 && remembered < REMEMBERED;) {
		uint8_t kind = scene->past[i].kind;

		if (kind != PLX_OP_READ_REQUEST && kind != PLX_OP_FETCH_ADD)
			continue;
		scene->past[i].remembered = true;
		remembered++;
	}
}

/* ---- open messages and outstanding answers ---- */

static void
open_message(struct bench *bench, struct scene *scene)
{
	static const uint32_t remaining[OPEN_COUNT] = {[OPEN_WRITE_ONE] = 1,
						       [OPEN_WRITE_MTU] = BENCH_MTU,
						       [OPEN_WRITE_MORE] = BENCH_MTU + 1};
	struct plx_pkt pkt = {
		.opcode = PLX_RC_SEND_FIRST, .psn = scene->expected, .payload_bytes = BENCH_MTU};

	if (scene->open == OPEN_NONE)
		return;
	if (scene->open == OPEN_SEND) {
		scene->recvs--;
		scene->recv_room -= BENCH_MTU;
	} else {
		pkt.opcode = PLX_RC_WRITE_FIRST;
		scene->remaining = remaining[scene->open];
		scene->write_va = BENCH_VA + BENCH_MTU;
		pkt.reth = (struct plx_reth){BENCH_VA, bench->key[BENCH_KEY_FAST].v,
					     BENCH_MTU + scene->remaining};
	}
	feed(bench, &pkt, PLX_VERDICT_ACCEPT);
	scene->newest_ackable = scene->expected;
	scene->expected = plx_psn_add(scene->expected, 1);
}

static void
ask_again(struct bench *bench, const struct past *past)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_READ_REQUEST, .psn = past->psn};

	if (past->kind == PLX_OP_READ_REQUEST) {
		pkt.reth = (struct plx_reth){past->va, bench->key[BENCH_KEY_FAST].v, past->length};
	} else {
		pkt.opcode = PLX_RC_FETCH_ADD;
		pkt.atomic = (struct plx_atomic_eth){past->va, bench->key[BENCH_KEY_FAST].v,
						     SWAP_ADD, COMPARE};
	}
	feed(bench, &pkt, PLX_VERDICT_REPLAY);
}

static void
open_gap(struct bench *bench, struct scene *scene)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_SEND_ONLY, .psn = scene->expected};

	switch (scene->gap) {
	case GAP_NONE:
		break;
	case GAP_NAK:
	case GAP_NAK_FAR:
	case GAP_NAK_SPENT:
		pkt.psn = plx_psn_add(scene->expected, 1);
		for (int i = 0; i <= (scene->gap == GAP_NAK_SPENT ? PLX_RESTARTS_MAX : 0); i++) {
			feed(bench, &pkt, PLX_VERDICT_AHEAD);
			bench_drain(bench, NOW);
		}
		pkt.psn = plx_psn_add(scene->expected, 1000 + PLX_REORDER_DEPTH + 1);
		if (scene->gap == GAP_NAK_FAR)
			feed(bench, &pkt, PLX_VERDICT_AHEAD_AGAIN);
		break;
	case GAP_RNR:
		feed(bench, &pkt, PLX_VERDICT_RNR);
		bench_drain(bench, NOW);
		break;
	case GAP_READS:
		pkt.opcode = PLX_RC_READ_REQUEST;
		pkt.reth = (struct plx_reth){BENCH_VA + PENDING_VA, bench->key[BENCH_KEY_GRANTED].v,
					     1};
		for (int i = 0; i < REMEMBERED; i++) {
			pkt.psn = scene->expected;
			feed(bench, &pkt, PLX_VERDICT_ACCEPT);
			scene->expected = plx_psn_add(scene->expected, 1);
			scene->msn = plx_msn_next(scene->msn);
		}
		break;
	case GAP_REPLAYS:
		for (uint32_t i = 0; i < scene->pasts; i++)
			if (scene->past[i].remembered)
				ask_again(bench, &scene->past[i]);
		break;
	case GAP_COUNT:
		BENCH_CHECK(false);
	}
}

void
scene_reach(struct bench *bench, struct scene *scene)
{
	struct plx_rc_attr attr = bench_attr();

	attr.rq_psn = scene->expected = scene->base;
	attr.sq_psn = (struct plx_psn){4711};
	if (!scene->enabled)
		attr.enabled.bits = 0;
	bench_bring(bench, scene->state, &attr);
	make_past(bench, scene);
	if (scene->gap == GAP_RNR)
		open_gap(bench, scene);
	post_receives(bench, scene);
	open_message(bench, scene);
	if (scene->gap != GAP_RNR)
		open_gap(bench, scene);
	if (scene->gap != GAP_READS && scene->gap != GAP_REPLAYS)
		bench_drain(bench, NOW);
	if (scene->revoked)
		BENCH_CHECK(plx_region_retire(bench->mem, bench->fast_region) == PLX_OK);
}
