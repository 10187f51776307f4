/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Carries packets from one queue pair to the other and records their completions and events. It
 * never delays, duplicates or reorders a packet, and drops only what the test tells it to. Start
 * with execute().
 */
#include "rc_pair.h"

#include <stdlib.h>

enum {
	SLOTS = 64,
	RUNS_MAX = 100000
};

struct pair_config
pair_defaults(void)
{
	return (struct pair_config){
		.caps = {.sq_depth = 16,
			 .sq_sges = 4,
			 .inline_bytes = 64,
			 .responder_resources = 4},
		.rq_depth = 16,
		.rq_sges = 4,
	};
}

void
pair_init(struct pair *pair, const struct pair_config *config)
{
	memset(pair, 0, sizeof(*pair));
	pair->mem = test_mem(SLOTS, &pair->domain);
	for (int i = 0; i < 2; i++) {
		struct side *side = &pair->side[i];
		struct plx_rc_ids ids = {.qpn = 0x100 + (uint32_t)i,
					 .domain = pair->domain,
					 .mem = pair->mem,
					 .cc = &plx_cc_none};

		side->rq_block = test_block(plx_rq_bytes(config->rq_depth, config->rq_sges));
		side->rq = plx_rq_init(side->rq_block, config->rq_depth, config->rq_sges,
				       config->shared);
		if (config->one_queue)
			side->rq = pair->side[0].rq;
		ids.rq = side->rq;
		if (config->keep_packets > 0) {
			side->keep = plx_keep_init(test_block(plx_keep_bytes(1)), 1,
						   config->keep_packets);
			ids.keep = side->keep;
		}
		if (config->cc && !i) {
			ids.cc = config->cc;
			ids.cc_state = config->cc_state;
		}
		side->qp_block = test_block(plx_rc_bytes(&config->caps));
		side->qp = plx_rc_init(side->qp_block, &config->caps, &ids);
		assert_non_null(side->qp);
	}
	pair->attr = (struct plx_rc_attr){
		.mtu = 256,
		.pkey = PLX_PKEY_DEFAULT,
		.enabled = {PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
			    PLX_ACCESS_REMOTE_ATOMIC},
		.rnr_timer = 1,
		.retry_max = 3,
		.rnr_retry_max = 3,
		.initiator_depth = 4,
		.ack_timeout_ns = PLX_MSEC,
		.window_packets = 1024,
		.ack_interval = 16,
		.read_chunk_packets = 64,
	};
}

/* What it keeps is returned. */
static void
reset(struct side *side)
{
	struct plx_kept kept;

	assert_int_equal(plx_rc_modify(side->qp, PLX_QP_RESET, NULL), PLX_OK);
	while (plx_rc_next_kept(side->qp, &kept) != PLX_KEPT_NONE)
		free(kept.packet);
	assert_true(side->keep == NULL || plx_keep_count(side->keep) == 0);
}

void
pair_fini(struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		reset(&pair->side[i]);
	for (int i = 0; i < 2; i++) {
		free(pair->side[i].keep);
		free(pair->side[i].qp_block);
		free(pair->side[i].rq_block);
	}
	free(pair->mem);
}

struct plx_rc_attr
pair_attr(const struct pair *pair, int side)
{
	static const uint32_t first[2] = {0xfffff0, 0x7ffff0}; /* the wrap and the half are near */
	struct plx_rc_attr attr = pair->attr;

	attr.dest_qpn = 0x100 + (uint32_t)!side;
	attr.sq_psn = plx_psn(first[side]);
	attr.rq_psn = plx_psn(first[!side]);
	return attr;
}

void
pair_connect(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		const struct plx_rc_attr attr = pair_attr(pair, i);

		test_rc_bring(pair->side[i].qp, PLX_QP_RTS, &attr);
	}
}

struct plx_key
pair_region(struct pair *pair, void *base, uint64_t bytes, uint8_t access)
{
	return test_region(pair->mem, pair->domain, base, bytes, access);
}

/* ---- packets and actions ---- */

/* One packet in flight: its payload in a block of exactly its length. */
struct flying {
	struct plx_pkt pkt;
	uint8_t *payload;
};

static void
gather(const struct pair *pair, const struct plx_emit *emit, struct flying *out)
{
	uint32_t at = 0;

	out->pkt = emit->pkt;
	out->payload = malloc(emit->pkt.payload_bytes ? emit->pkt.payload_bytes : 1);
	assert_non_null(out->payload);
	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &pair->out.iov[emit->iov_first + i];

		assert_in_range(at + iov->bytes, 0, emit->pkt.payload_bytes);
		memcpy(out->payload + at, iov->base, iov->bytes);
		at += iov->bytes;
	}
	assert_int_equal(at, emit->pkt.payload_bytes);
	out->pkt.payload = out->payload;
}

/* Everything in pair->out, in order. Packets that pass are gathered. Returns: how many */
static uint32_t
execute(struct pair *pair, int from, struct flying *flying)
{
	struct side *side = &pair->side[from];
	uint32_t count = 0;

	assert_in_range(pair->out.count, 0, PLX_ACTIONS_MAX);
	assert_in_range(pair->out.iovs, 0, PLX_IOVS_MAX);
	for (uint32_t i = 0; i < pair->out.count; i++) {
		const struct plx_action *action = &pair->out.list[i];

		plx_action_apply_memory(action);
		if (action->kind == PLX_ACT_COMPLETE) {
			assert_in_range(side->dones, 0, PAIR_DONE_MAX - 1);
			side->done[side->dones++] = action->completion;
		} else if (action->kind == PLX_ACT_EVENT) {
			assert_in_range(side->events, 0, PAIR_EVENTS_MAX - 1);
			side->event[side->events++] = action->event;
		} else if (action->kind == PLX_ACT_EMIT) {
			side->emitted++;
			assert_non_null(flying);
			if (!pair->pass || pair->pass(pair, from, &action->emit))
				gather(pair, &action->emit, &flying[count++]);
		}
	}
	return count;
}

static enum plx_verdict
judge(struct pair *pair, int to, const struct plx_pkt *pkt)
{
	enum plx_verdict verdict;

	plx_actions_reset(&pair->out);
	verdict = plx_rc_on_packet(pair->side[to].qp, pkt, pair->now, &pair->out);
	assert_in_range(pair->out.count, 0, PLX_ACTIONS_PER_PACKET);
	(void)execute(pair, to, NULL);
	return verdict;
}

/* A packet and its payload, in one block. */
static struct plx_pkt *
copy_of(const struct plx_pkt *pkt)
{
	struct plx_pkt *copy = malloc(sizeof(*copy) + pkt->payload_bytes);

	assert_non_null(copy);
	*copy = *pkt;
	if (pkt->payload_bytes > 0)
		memcpy(copy + 1, pkt->payload, pkt->payload_bytes);
	copy->payload = (const uint8_t *)(copy + 1);
	return copy;
}

static enum plx_verdict
hand(struct pair *pair, int to, const struct plx_pkt *pkt)
{
	struct plx_rc *qp = pair->side[to].qp;
	enum plx_verdict verdict = judge(pair, to, pkt);
	struct plx_kept *place = plx_rc_keep(qp, pkt, verdict), kept;
	enum plx_kept_kind kind;

	if (place != NULL)
		place->packet = copy_of(pkt);
	while ((kind = plx_rc_next_kept(qp, &kept)) != PLX_KEPT_NONE) {
		if (kind == PLX_KEPT_NEXT)
			(void)judge(pair, to, kept.packet);
		free(kept.packet);
	}
	return verdict;
}

uint32_t
pair_send(struct pair *pair, int from, uint32_t budget)
{
	static struct flying flying[PAIR_EMITS_MAX]; /* large */
	uint32_t sent, passed;

	assert_in_range(budget, 0, PAIR_EMITS_MAX);
	plx_actions_reset(&pair->out);
	sent = plx_rc_transmit(pair->side[from].qp, pair->now, budget, &pair->out);
	assert_in_range(sent, 0, budget);
	passed = execute(pair, from, flying);
	for (uint32_t i = 0; i < passed; i++) {
		(void)hand(pair, !from, &flying[i].pkt);
		free(flying[i].payload);
	}
	return sent;
}

void
pair_run(struct pair *pair)
{
	uint32_t runs = 0;

	while (pair_send(pair, 0, PAIR_BUDGET) + pair_send(pair, 1, PAIR_BUDGET) > 0)
		assert_in_range(++runs, 1, RUNS_MAX);
}

void
pair_tick(struct pair *pair, uint64_t now)
{
	assert_true(now >= pair->now);
	pair->now = now;
	for (int i = 0; i < 2; i++) {
		plx_actions_reset(&pair->out);
		plx_rc_on_tick(pair->side[i].qp, now, &pair->out);
		assert_in_range(pair->out.count, 0, PLX_ACTIONS_PER_PACKET);
		(void)execute(pair, i, NULL);
	}
}

enum plx_verdict
pair_hand(struct pair *pair, int to, struct plx_pkt *pkt)
{
	static const uint8_t nothing[1];

	pkt->dest_qpn = 0x100 + (uint32_t)to;
	pkt->pkey = PLX_PKEY_DEFAULT;
	pkt->pad = (uint8_t)(-pkt->payload_bytes & 3);
	if (!pkt->payload)
		pkt->payload = nothing;
	return hand(pair, to, pkt);
}

enum plx_verdict
pair_hand_ack(struct pair *pair, int to, struct plx_psn psn, uint8_t syndrome)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_ACK, .psn = psn};

	pkt.aeth.syndrome = syndrome;
	return pair_hand(pair, to, &pkt);
}

enum plx_status
pair_post(struct pair *pair, int side, struct plx_wqe *wqe, const void *base, uint32_t bytes,
	  struct plx_key key)
{
	if (bytes) {
		wqe->sges = 1;
		wqe->sge[0] = (struct plx_sge){(uint64_t)(uintptr_t)base, bytes, key};
	}
	return plx_rc_post_send(pair->side[side].qp, wqe, NULL);
}

enum plx_status
pair_recv(struct pair *pair, int side, uint64_t wr_id, const void *base, uint32_t bytes,
	  struct plx_key key)
{
	const struct plx_sge sge = {(uint64_t)(uintptr_t)base, bytes, key};

	return plx_rc_post_recv(pair->side[side].qp, wr_id, &sge, 1);
}

uint32_t
pair_events(const struct pair *pair, int side, enum plx_event_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pair->side[side].events; i++)
		count += pair->side[side].event[i].kind == kind;
	return count;
}

struct plx_rc_view
pair_view(const struct pair *pair, int side)
{
	struct plx_rc_view view;

	memset(&view, 0, sizeof(view));
	plx_rc_query(pair->side[side].qp, &view);
	return view;
}
