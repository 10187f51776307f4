/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packets that arrived behind a missing one: they wait for it, and are processed in order then, as
 * if they had arrived in order. So nothing is executed, written or completed early, or twice. It
 * never looks into a packet, and never asks for the missing one (responder.c and selective.c do).
 * Start with plx_rc_keep() and plx_rc_next_kept().
 */
#include "keep.h"

/* ---- blocks ---- */

static size_t
pool_bytes(void)
{
	return (sizeof(struct plx_keep) + PLX_CACHE_LINE - 1) / PLX_CACHE_LINE * PLX_CACHE_LINE;
}

size_t
plx_keep_bytes(uint32_t blocks)
{
	return pool_bytes() + blocks * sizeof(struct keep);
}

struct plx_keep *
plx_keep_init(void *memory, uint32_t blocks, uint32_t packets)
{
	struct plx_keep *pool = memory;
	struct keep *block = (struct keep *)(void *)((uint8_t *)memory + pool_bytes());

	*pool = (struct plx_keep){.room = packets, .packets = packets};
	for (uint32_t i = 0; i < blocks; i++) {
		block[i].next = pool->unused;
		pool->unused = &block[i];
	}
	return pool;
}

uint32_t
plx_keep_count(const struct plx_keep *keep)
{
	return keep->packets - keep->room;
}

uint32_t
plx_keep_room(const struct plx_keep *keep)
{
	return keep->room;
}

static void
way_begin(struct kept_way *way)
{
	way->count = 0;
	way->has = (struct psn_set){0};
}

struct keep *
keep_of(struct plx_rc *qp)
{
	struct plx_keep *pool = qp->keep_pool;

	if (qp->keep != NULL || pool == NULL || pool->unused == NULL)
		return qp->keep;
	qp->keep = pool->unused;
	pool->unused = qp->keep->next;
	way_begin(&qp->keep->requests);
	way_begin(&qp->keep->responses);
	qp->keep->repair.active = false;
	qp->keep->parts = 0;
	return qp->keep;
}

void
keep_settle(struct plx_rc *qp)
{
	struct keep *keep = qp->keep;

	if (keep == NULL)
		return;
	if (keep->requests.count == 0)
		qp->resp.unusual &= (uint8_t)~RESP_KEEPS;
	if (keep->requests.count > 0 || keep->responses.count > 0 || keep->repair.active ||
	    keep->parts > 0)
		return;
	keep->next = qp->keep_pool->unused;
	qp->keep_pool->unused = keep;
	qp->keep = NULL;
}

/* ---- keeping ---- */

static struct plx_kept *
place_for(struct plx_rc *qp, struct kept_way *way, struct plx_psn expected, struct plx_psn psn)
{
	int32_t ahead;

	if (way->count == 0)
		way->base = expected;
	ahead = plx_psn_diff(psn, way->base);
	if (ahead <= 0 || ahead >= PLX_KEEP_PACKETS || set_has(&way->has, psn) ||
	    qp->keep_pool->room == 0)
		return NULL;
	set_add(&way->has, psn);
	way->count++;
	qp->keep_pool->room--;
	return &way->place[psn.v % PLX_KEEP_PACKETS];
}

static struct plx_kept *
keep_request(struct plx_rc *qp, struct plx_psn psn)
{
	struct keep *keep = keep_of(qp);
	struct plx_kept *place;

	if (keep == NULL)
		return NULL;
	place = place_for(qp, &keep->requests, qp->resp.expected, psn);
	if (place != NULL)
		qp->resp.unusual |= RESP_KEEPS;
	keep_settle(qp);
	return place;
}

static struct plx_kept *
keep_response(struct plx_rc *qp, struct plx_psn psn)
{
	struct keep *keep = keep_of(qp);
	struct plx_kept *place;

	if (keep == NULL)
		return NULL;
	place = place_for(qp, &keep->responses, qp->req.una, psn);
	qp->slow_path |= SLOW_PATH_REPAIR;
	keep_settle(qp);
	return place;
}

struct plx_kept *
plx_rc_keep(struct plx_rc *qp, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];

	if (!plx_verdict_is_ahead(verdict))
		return NULL;
	if (plx_opcode_has(op, PLX_OPF_REQUEST))
		return keep_request(qp, pkt->psn);
	return op->kind == PLX_OP_ACK ? NULL : keep_response(qp, pkt->psn);
}

/* ---- taking ---- */

static void
take(struct plx_rc *qp, struct kept_way *way, struct plx_psn psn, struct plx_kept *out)
{
	set_remove(&way->has, psn);
	way->count--;
	qp->keep_pool->room++;
	*out = way->place[psn.v % PLX_KEEP_PACKETS];
}

/* @param last examined; `way` has a packet before it, or none is found */
static bool
take_before(struct plx_rc *qp, struct kept_way *way, struct plx_psn last, struct plx_kept *out)
{
	uint32_t left = (uint32_t)plx_psn_diff(last, way->base);

	for (; left > 0 && way->count > 0; left--) {
		struct plx_psn psn = way->base;

		way->base = plx_psn_add(psn, 1);
		if (set_has(&way->has, psn) && !PLX_MUTANT(KEPT_STAYS)) {
			take(qp, way, psn, out);
			return true;
		}
	}
	return false;
}

static enum plx_kept_kind
next_of(struct plx_rc *qp, struct kept_way *way, struct plx_psn expected, struct plx_kept *out)
{
	bool lives = qp->state == PLX_QP_RTR || qp->state == PLX_QP_RTS || qp->state == PLX_QP_SQD;

	if (way->count == 0)
		return PLX_KEPT_NONE;
	if (!lives)
		expected = plx_psn_add(way->base, PLX_KEEP_PACKETS);
	/* A READ takes as many PSNs as it has responses: what lies at them was no request. */
	if (take_before(qp, way, expected, out))
		return PLX_KEPT_STALE;
	if (way->count == 0 || !set_has(&way->has, expected))
		return PLX_KEPT_NONE;
	take(qp, way, expected, out);
	return PLX_KEPT_NEXT;
}

enum plx_kept_kind
plx_rc_next_kept(struct plx_rc *qp, struct plx_kept *out)
{
	struct keep *keep = qp->keep;
	enum plx_kept_kind kind;

	if (plx_likely(keep == NULL))
		return PLX_KEPT_NONE;
	kind = next_of(qp, &keep->requests, qp->resp.expected, out);
	if (kind == PLX_KEPT_NONE)
		kind = next_of(qp, &keep->responses, qp->req.una, out);
	keep_settle(qp);
	return kind;
}
